//! What a recording of all runs left that was killed: staged runs in hidden folders.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mcptest::command::command_line;
use mcptest_suite::portable_path;
use mcptest_trace::text::pluralize;
use walkdir::WalkDir;

/// The folders with staged runs below some folders, each with how many runs it holds.
fn find_staged(places: &BTreeSet<PathBuf>) -> Vec<(PathBuf, usize)> {
    let below = places.iter().flat_map(|place| {
        let entries = WalkDir::new(place).sort_by_file_name().into_iter();
        entries.flatten()
    });
    let is_staging = |name: &str| name.starts_with('.') && name.ends_with(".recording");
    let folders = below.filter(|entry| {
        entry.file_type().is_dir() && entry.file_name().to_str().is_some_and(is_staging)
    });
    let with_runs = folders.map(|folder| {
        let files = fs::read_dir(folder.path()).into_iter().flatten().flatten();
        let names = files.map(|file| file.file_name());
        // Files that are not whole have names that begin with a dot.
        let is_run = |name: &str| name.starts_with("run-");
        let runs = names.filter(|name| name.to_str().is_some_and(is_run));
        (folder.path().to_owned(), runs.count())
    });
    with_runs.collect()
}

/// What is to be said of it; nothing where there is none.
pub(crate) fn note(folder: &Path, places: &BTreeSet<PathBuf>) -> Option<String> {
    let staged = find_staged(places);
    let (first, runs) = staged.first()?;
    let first = portable_path(first.strip_prefix(folder).unwrap_or(first));
    let more = match staged.len() {
        1 => String::new(),
        all => format!(", and {} like it", pluralize(all - 1, "more folder")),
    };
    Some(format!(
        "a recording of all runs is going on or was stopped: `{first}` holds {}{more}. Some agents may have new runs, others \
         their old ones. `{}`, or `--changed`, keeps these runs and records the others; to give them up, remove the folder",
        pluralize(*runs, "new run"),
        command_line("record --all")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_staged_is_told_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("suites/cassettes");
        let places = BTreeSet::from([place.clone(), folder.path().join("cassettes")]);
        fs::create_dir_all(place.join("desk__m")).unwrap();
        assert_eq!(note(folder.path(), &places), None);
        for (stem, runs) in [("desk__m", 2), ("shop__m", 0)] {
            let staging = place.join(format!(".{stem}.recording"));
            fs::create_dir_all(&staging).unwrap();
            fs::write(staging.join(".gitignore"), "*").unwrap();
            for run in 0..runs {
                fs::write(staging.join(format!("run-{}.json", run + 1)), "{}").unwrap();
            }
        }
        let said = note(folder.path(), &places).unwrap();
        assert!(
            said.starts_with(
                "a recording of all runs is going on or was stopped: `suites/cassettes/.desk__m.recording` holds 2 new runs, \
                 and 1 more folder like it. "
            ),
            "{said}"
        );
        assert!(
            said.contains("`cargo mcptest record --all`, or `--changed`,"),
            "{said}"
        );
    }
}
