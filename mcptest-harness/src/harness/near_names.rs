//! What lies where runs lie and is not read, though its name is nearly a run's.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use mcptest_suite::nearest;

use super::listing::natural_order;

/// What lies in the folders of a suite's runs under the names of runs or nearly those. Listed once,
/// however many agents look.
pub(super) struct NearNames {
    folders: [PathBuf; 2],
    /// By the names that are looked for, without the case of letters.
    entries: BTreeMap<String, Vec<Listed>>,
}

/// An entry of one of the folders.
struct Listed {
    name: OsString,
    /// The number of its folder.
    place: usize,
}

impl NearNames {
    /// Lists the folders; whatever else lies there than the runs of these stems is passed over.
    pub(super) fn list(folders: [PathBuf; 2], stems: impl Iterator<Item = String>) -> Self {
        let names = stems.flat_map(|stem| run_names(&stem));
        let keys = names.flat_map(|name| [name.to_lowercase(), fold_name(name)]);
        let mut entries: BTreeMap<_, Vec<_>> = keys.map(|key| (key, Vec::new())).collect();
        for (place, folder) in folders.iter().enumerate() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let folded = entry.file_name().into_string().map(fold_name);
                if let Some(named) = folded.ok().and_then(|name| entries.get_mut(&name)) {
                    let name = entry.file_name();
                    named.push(Listed { name, place });
                }
            }
        }
        Self { folders, entries }
    }

    /// The entries with a folded name.
    fn with_folded_name(&self, folded: &str) -> impl Iterator<Item = &Listed> {
        self.entries.get(folded).into_iter().flatten()
    }

    /// Whether a name may lie in the folder of this number; where it cannot be told, it may.
    pub(super) fn may_hold(&self, place: usize, name: &str) -> bool {
        let named = || {
            self.with_folded_name(&fold_name(name.to_owned()))
                .any(|entry| entry.place == place)
        };
        // File systems spell other letters in more ways than one.
        !name.is_ascii() || named()
    }

    /// Files whose names are nearly those of an agent's runs, and none of them.
    pub(super) fn similar_files(&self, stems: &[String]) -> Vec<PathBuf> {
        let names: Vec<String> = stems.iter().flat_map(|stem| run_names(stem)).collect();
        let folded: HashSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let mut near: Vec<_> = folded
            .iter()
            .flat_map(|name| self.with_folded_name(name))
            .filter(|entry| !names.iter().any(|wanted| entry.name == wanted.as_str()))
            .collect();
        near.sort_by(|one, other| {
            let names = || natural_order(one.name.as_ref(), other.name.as_ref());
            one.place.cmp(&other.place).then_with(names)
        });
        let path = |entry: &Listed| self.folders[entry.place].join(&entry.name);
        near.into_iter().map(path).collect()
    }
}

/// What an agent without runs is looked for under.
pub(super) struct Missed<'a> {
    /// The folders that its runs may lie in.
    pub(super) folders: Vec<PathBuf>,
    /// The stems of its files.
    pub(super) stems: &'a [String],
    /// What its stems begin with, where they name a model behind it.
    pub(super) agent: Option<String>,
    /// The stems of the suite's other agents, whose runs are theirs.
    pub(super) taken: HashSet<String>,
}

impl Missed<'_> {
    /// What lies in the folders and may be meant, each with why it is not read.
    pub(super) fn possible_files(&self) -> Vec<(PathBuf, String)> {
        let mut meant = Vec::new();
        for folder in &self.folders {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.sort_by(|one, other| natural_order(one, other));
            let why = |path: PathBuf| self.why_not_read(&path).map(|why| (path, why));
            meant.extend(paths.into_iter().filter_map(why));
        }
        meant
    }

    /// Why an entry is not read, where it may be meant.
    fn why_not_read(&self, path: &Path) -> Option<String> {
        let name = path.file_name()?.to_str()?;
        let is_folder = path.is_dir();
        let base = match name.find(".json") {
            Some(end) => &name[..end],
            None if is_folder => name,
            None => path.file_stem()?.to_str()?,
        };
        if base.is_empty() || self.taken.contains(base) {
            return None;
        }
        let stem = || self.stems.iter().map(String::as_str);
        // What begins with a dot is hidden on purpose, but for what a program left that was stopped.
        if let Some(hidden) = base.strip_prefix('.') {
            let left = stem().any(|stem| stem == hidden);
            return left.then(|| "its name begins with a dot".to_owned());
        }
        if stem().any(|stem| stem == base) {
            return Some(if is_folder {
                "it holds no `.json` file".to_owned()
            } else {
                "the name of a run ends in `.json` or `.jsonl`".to_owned()
            });
        }
        if let Some(stem) = stem().find(|stem| base.starts_with(stem)) {
            return Some(format!(
                "its name goes on after `{stem}`; several runs must be in a folder of that name"
            ));
        }
        let agent = self.agent.as_deref();
        let behind = agent.and_then(|agent| base.strip_prefix(agent));
        match (behind, nearest(base, stem())) {
            (Some(""), _) => Some("its name has no model".to_owned()),
            (Some(model), _) if model.starts_with("__") => {
                Some("its name says that it is of another model".to_owned())
            }
            (_, Some(stem)) => Some(format!("its name is similar to `{stem}`, but not equal")),
            _ => None,
        }
    }
}

/// The names that the runs of a stem may have.
fn run_names(stem: &str) -> [String; 3] {
    ["", ".json", ".jsonl"].map(|extension| format!("{stem}{extension}"))
}

/// A name without the case of letters and without a `.txt` that an editor has added.
fn fold_name(mut name: String) -> String {
    if name.is_ascii() {
        name.make_ascii_lowercase();
    } else {
        name = name.to_lowercase();
    }
    let kept = name.strip_suffix(".txt").map_or(name.len(), str::len);
    name.truncate(kept);
    name
}
