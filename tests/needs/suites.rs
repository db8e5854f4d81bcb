//! The cases of a crate whose suites and recordings lie in a folder.

use std::collections::BTreeMap;

use crate::sample::{runner, sample};
use crate::support::folder::Folder;
use crate::support::outcome::Outcome;

/// What each case comes to; alone, by its gate's name, a case comes to the same.
pub(crate) fn outcomes(folder: &Folder, gates: &[&str]) -> BTreeMap<String, Outcome> {
    let outcomes = runner(folder.path(), &[]).exits(101).outcomes();
    for gate in gates {
        let gate = format!("::{gate}");
        let selected = runner(folder.path(), &[&gate]).outcomes();
        let mut expected = outcomes.clone();
        expected.retain(|name, _| name.ends_with(&gate));
        assert_eq!(selected, expected, "{gate}");
    }
    outcomes
}

pub(crate) fn assert_failures_are_the_same_bytes_in_any_thread_order(folder: &Folder) {
    let texts = |threads: &str| {
        let arguments = ["--test-threads", threads];
        let ran = sample().run_in(folder.path(), "agents", &arguments, &[]);
        ran.failures()
    };
    let first = texts("1");
    assert!(!first.is_empty());
    assert_eq!(texts("2"), first);
    assert_eq!(texts("7"), first);
}
