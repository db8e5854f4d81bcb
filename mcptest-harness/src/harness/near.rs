//! What lies where runs lie and is not read, though its name is nearly a run's.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use super::listing::natural;

/// What lies in the folders of a suite's runs. Listed once, however many agents look.
pub(super) struct NearNames {
    folders: [PathBuf; 2],
    /// By their names without the case of letters and without a `.txt` that an editor has added.
    entries: Vec<Listed>,
}

/// An entry of one of the folders.
struct Listed {
    folded: String,
    name: OsString,
    /// The number of its folder.
    place: usize,
}

impl NearNames {
    /// Lists the folders.
    pub(super) fn of(folders: [PathBuf; 2]) -> Self {
        let mut entries = Vec::new();
        for (place, folder) in folders.iter().enumerate() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let folded = folded(&name.to_string_lossy());
                entries.push(Listed {
                    folded,
                    name,
                    place,
                });
            }
        }
        entries.sort_unstable_by(|one, other| one.folded.cmp(&other.folded));
        Self { folders, entries }
    }

    /// What has a folded name.
    fn named(&self, folded: &str) -> impl Iterator<Item = &Listed> {
        let first = self
            .entries
            .partition_point(|entry| *entry.folded < *folded);
        let from = self.entries[first..].iter();
        from.take_while(move |entry| entry.folded == folded)
    }

    /// Whether a name may lie in the folder of this number; where it cannot be told, it may.
    pub(super) fn may_hold(&self, place: usize, name: &str) -> bool {
        let named = || self.named(&folded(name)).any(|entry| entry.place == place);
        // File systems spell other letters in more ways than one.
        !name.is_ascii() || named()
    }

    /// Files whose names are nearly those of an agent's runs, and none of them.
    pub(super) fn like(&self, stems: &[String]) -> Vec<PathBuf> {
        let names = stems
            .iter()
            .flat_map(|stem| ["", ".json", ".jsonl"].map(|extension| format!("{stem}{extension}")));
        let names: Vec<String> = names.collect();
        let folded: HashSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let mut near: Vec<_> = folded
            .iter()
            .flat_map(|name| self.named(name))
            .filter(|entry| !names.iter().any(|wanted| entry.name == wanted.as_str()))
            .collect();
        near.sort_by(|one, other| {
            let names = || natural(one.name.as_ref(), other.name.as_ref());
            one.place.cmp(&other.place).then_with(names)
        });
        let path = |entry: &Listed| self.folders[entry.place].join(&entry.name);
        near.into_iter().map(path).collect()
    }
}

/// A name without the case of letters and without a `.txt` that an editor has added.
fn folded(name: &str) -> String {
    let mut name = name.to_lowercase();
    let kept = name.strip_suffix(".txt").map_or(name.len(), str::len);
    name.truncate(kept);
    name
}
