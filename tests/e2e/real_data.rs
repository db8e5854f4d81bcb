//! 120 recorded runs of a real agent, if they lie beside the workspace.

use std::path::{Path, PathBuf};

use crate::sample::{runner, sample};
use crate::support::folder::{Folder, write};
use crate::support::outcome::Outcome::Passed;
use crate::support::workshop::workspace;

/// Copies suites and recordings to a folder of their own, or says that there are none.
fn airline() -> Option<Folder> {
    let data = workspace().join("../shared/data/tau-airline/crate");
    if !data.is_dir() {
        eprintln!("skipped: there are no recordings in ../shared/data/tau-airline");
        return None;
    }
    let folder = Folder::new();
    for file in files(&data) {
        let below = file.strip_prefix(&data).unwrap();
        write(&folder.path().join(below), &std::fs::read(&file).unwrap());
    }
    Some(folder)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let nested = entries.map(|path| {
        if path.is_dir() {
            files(&path)
        } else {
            vec![path]
        }
    });
    nested.flatten().collect()
}

#[test]
fn thirty_agents_with_four_gates_each() {
    let Some(folder) = airline() else { return };
    let ran = runner(folder.path(), &[]).exits(101);
    let outcomes = ran.outcomes();
    assert_eq!(outcomes.len(), 150, "{ran}");
    let agents: Vec<_> = outcomes
        .iter()
        .filter(|(name, _)| name.matches("::").count() == 1)
        .collect();
    assert_eq!(agents.len(), 30, "{ran}");
    assert!(
        agents.iter().all(|(_, outcome)| **outcome == Passed),
        "{ran}"
    );
    for gate in ["stability", "trajectory", "golden_path", "narrative"] {
        let selected = runner(folder.path(), &[&format!("::{gate}")]).outcomes();
        assert_eq!(selected.len(), 30, "{gate}");
        assert!(
            selected
                .iter()
                .all(|(name, outcome)| outcomes[name] == *outcome),
            "{gate}"
        );
    }
}

#[test]
fn its_failures_are_the_same_bytes_in_any_thread_order() {
    let Some(folder) = airline() else { return };
    let texts = |threads: &str| {
        let ran = sample().run_in(folder.path(), "agents", &["--test-threads", threads], &[]);
        ran.failures()
    };
    let first = texts("1");
    assert!(!first.is_empty());
    assert_eq!(texts("2"), first);
    assert_eq!(texts("7"), first);
}
