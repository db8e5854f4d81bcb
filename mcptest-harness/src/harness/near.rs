//! What lies where runs lie and is not read, though its name is nearly a run's.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::listing::natural;

/// What lies in the folders of a suite's runs, by names without the case of letters and without a
/// `.txt` that an editor has added. Listed once, however many agents look.
pub(super) struct NearNames(HashMap<String, Vec<(usize, PathBuf)>>);

impl NearNames {
    /// Lists the folders.
    pub(super) fn of(folders: [PathBuf; 2]) -> Self {
        let mut by_name: HashMap<String, Vec<(usize, PathBuf)>> = HashMap::new();
        for (place, folder) in folders.into_iter().enumerate() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().to_lowercase();
                let name = name.strip_suffix(".txt").unwrap_or(&name).to_owned();
                by_name.entry(name).or_default().push((place, entry.path()));
            }
        }
        Self(by_name)
    }

    /// Files whose names are nearly those of an agent's runs, and none of them.
    pub(super) fn like(&self, stems: &[String]) -> Vec<PathBuf> {
        let names = stems
            .iter()
            .flat_map(|stem| ["", ".json", ".jsonl"].map(|extension| format!("{stem}{extension}")));
        let names: Vec<String> = names.collect();
        let folded: HashSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let near = folded.iter().filter_map(|name| self.0.get(name)).flatten();
        let mut near: Vec<_> = near
            .filter(|(_, path)| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                !names.iter().any(|wanted| *wanted == name)
            })
            .collect();
        near.sort_by(|(one, left), (other, right)| {
            one.cmp(other).then_with(|| natural(left, right))
        });
        near.into_iter().map(|(_, path)| path.clone()).collect()
    }
}

/// What lies in a folder of runs and looks like a run without being one: a folder, or a file with
/// `.json` in its name that is not where a run's is.
pub(super) fn near_runs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let near = entries.filter_map(|entry| {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let is_run = path
            .extension()
            .is_some_and(|extension| extension == "json");
        let is_dir = || match entry.file_type() {
            Ok(kind) if !kind.is_symlink() => kind.is_dir(),
            _ => path.is_dir(),
        };
        let near = !name.starts_with('.') && ((!is_run && name.contains(".json")) || is_dir());
        near.then_some(path)
    });
    let mut near: Vec<PathBuf> = near.collect();
    near.sort_by(|left, right| natural(left, right));
    near
}
