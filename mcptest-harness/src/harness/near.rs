//! What lies where runs lie and is not read, though its name is nearly a run's.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

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
                let name = folded(&entry.file_name().to_string_lossy());
                by_name.entry(name).or_default().push((place, entry.path()));
            }
        }
        Self(by_name)
    }

    /// Whether a name may lie in the folder of this number; where it cannot be told, it may.
    pub(super) fn may_hold(&self, place: usize, name: &str) -> bool {
        // File systems spell other letters in more ways than one.
        !name.is_ascii() || {
            let named = self.0.get(&folded(name)).into_iter().flatten();
            named.into_iter().any(|(within, _)| *within == place)
        }
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

/// A name without the case of letters and without a `.txt` that an editor has added.
fn folded(name: &str) -> String {
    let name = name.to_lowercase();
    name.strip_suffix(".txt").unwrap_or(&name).to_owned()
}
