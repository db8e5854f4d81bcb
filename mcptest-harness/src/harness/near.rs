//! What lies where runs lie and is not read, though its name is nearly a run's.

use std::fs;
use std::path::{Path, PathBuf};

use super::listing::natural;

/// Files whose names differ from what is looked for in the case of letters, or by a `.txt` that an editor
/// has added.
pub(super) fn nearly_named(
    places: [PathBuf; 2],
    stems: &[String],
) -> impl Iterator<Item = PathBuf> + use<> {
    let names = stems
        .iter()
        .flat_map(|stem| ["", ".json", ".jsonl"].map(|extension| format!("{stem}{extension}")));
    let names: Vec<String> = names.collect();
    let entries = places.into_iter().flat_map(|place| {
        let entries = fs::read_dir(place).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort_by(|left, right| natural(left, right));
        paths
    });
    entries.filter(move |path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let lower = name.to_lowercase();
        let lower = lower.strip_suffix(".txt").unwrap_or(&lower);
        !names.iter().any(|wanted| *wanted == name)
            && names.iter().any(|wanted| wanted.to_lowercase() == lower)
    })
}

/// What lies in a folder of runs and looks like a run without being one: a folder, or a file with
/// `.json` in its name that is not where a run's is.
pub(super) fn near_runs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let near = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_lowercase();
        let is_run = path
            .extension()
            .is_some_and(|extension| extension == "json");
        !name.starts_with('.') && (path.is_dir() || (!is_run && name.contains(".json")))
    });
    let mut near: Vec<PathBuf> = near.collect();
    near.sort_by(|left, right| natural(left, right));
    near
}
