//! What else has its recordings in the folder that an import writes to.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use mcptest::command::command_line;
use mcptest_suite::model::{Agent, Suite};
use mcptest_suite::{portable_path, quoted_list};
use mcptest_trace::record::redact::Redactor;
use mcptest_trace::record::store::Store;
use serde_json::Value;

use super::plan::{Group, prompt_digest};
use super::store::{self, StoreOptions};
use crate::files::{find_files, stem};
use mcptest_import::Digest;

/// Folders beside suites that hold none.
const KEPT_APART: [&str; 2] = ["cassettes", "snapshots"];

/// The recordings that an agent of this import may not be given: those of other suites, and those of other
/// agents that no suite has any more.
pub(super) struct Neighbours<'n> {
    place: &'n Path,
    pub(super) options: StoreOptions,
    redactor: &'n Redactor,
    /// The suites whose recordings lie there too, by the stems of their recordings, in lower case as some
    /// disks have it.
    suites: HashMap<String, String>,
    /// One of which nobody can say what its recordings are, as it does not load.
    unread: Option<String>,
}

/// Where the recordings of a suite lie: below the crate's folder where they do already, else beside the
/// suite.
pub(super) fn recordings_folder(suite: &Path) -> PathBuf {
    let beside = suite.parent().unwrap_or(Path::new("")).join("cassettes");
    let (absolute, root) = locate_crate(suite);
    let central = root.and_then(|root| {
        let below = absolute.strip_prefix(root.join("suites")).ok()?;
        Some(root.join("cassettes").join(below.with_extension("")))
    });
    central.filter(|central| central.is_dir()).unwrap_or(beside)
}

/// The whole path of a suite, and the folder of the `Cargo.toml` above it.
fn locate_crate(suite: &Path) -> (PathBuf, Option<PathBuf>) {
    let absolute = std::path::absolute(suite).unwrap_or_else(|_| suite.to_owned());
    let mut folders = absolute.ancestors().skip(1);
    let root = folders.find(|folder| folder.join("Cargo.toml").is_file());
    let root = root.map(Path::to_owned);
    (absolute, root)
}

/// The folder above a suite in which no suite is looked for, as recordings lie there. Without a crate, suites lie below
/// the folder in which the command runs.
pub(super) fn excluding_folder(suite: &Path) -> Option<String> {
    let (absolute, root) = locate_crate(suite);
    let root = root.or_else(|| std::env::current_dir().ok());
    let below = absolute.parent()?.strip_prefix(root?).ok()?;
    let mut names = below.iter().map(OsStr::to_string_lossy);
    let name = names.find(|it| it.starts_with('.') || KEPT_APART.contains(&&**it));
    name.map(Cow::into_owned)
}

/// Where tests look for suites, if that is elsewhere as far as the manifest says.
pub(super) fn other_suite_root(suite: &Path) -> Option<String> {
    let (absolute, root) = locate_crate(suite);
    let root = root?;
    let manifest = fs::read_to_string(root.join("Cargo.toml")).ok()?;
    let manifest: toml_edit::DocumentMut = manifest.parse().ok()?;
    let texts = |item: Option<&toml_edit::Item>| -> Vec<String> {
        let items = item.and_then(toml_edit::Item::as_array).into_iter();
        items
            .flatten()
            .filter_map(|it| Some(it.as_str()?.to_owned()))
            .collect()
    };
    let shown = portable_path(suite);
    let Some(package) = manifest.get("package") else {
        let members = manifest.get("workspace").and_then(|it| it.get("members"));
        let members = texts(members);
        return Some(format!(
            "no test looks at `{shown}`, because its `Cargo.toml` has no package: write the suite below `suites/` of a package ({})",
            quoted_list(members.iter().map(String::as_str))
        ));
    };
    let said = package.get("metadata").and_then(|it| it.get("mcptest"));
    let mut roots = texts(said.and_then(|it| it.get("roots")));
    roots.push("suites".to_owned());
    let is_below = |folder: &String| absolute.starts_with(root.join(folder));
    (!roots.iter().any(is_below)).then(|| {
        format!(
            "tests look below {}, and not at `{shown}`: move the suite there, or name it in `mcptest::harness!` or \
             `#[mcptest::suite]`",
            quoted_list(roots.iter().map(String::as_str))
        )
    })
}

/// The stems of the recordings that an agent may have.
fn possible_stems(agent: &Agent) -> Vec<String> {
    if let Some(cassette) = &agent.cassette {
        let path = Path::new(&cassette.value);
        let file = has_extension(path, &["json", "jsonl"]);
        let stem = if file {
            path.file_stem()
        } else {
            path.file_name()
        };
        return Vec::from_iter(stem.map(|stem| stem.to_string_lossy().into_owned()));
    }
    let models = agent.models.iter();
    models
        .flat_map(|model| agent.cassette_stems(&model.value))
        .collect()
}

impl<'n> Neighbours<'n> {
    /// Of a suite whose recordings lie in a place.
    pub(super) fn new(
        suite: &Path,
        place: &'n Path,
        options: StoreOptions,
        redactor: &'n Redactor,
    ) -> Self {
        let folder = suite.parent().unwrap_or(Path::new(""));
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let mut paths: Vec<PathBuf> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                path.file_name() != suite.file_name() && has_extension(path, &["yml", "yaml"])
            })
            .filter(|path| self::recordings_folder(path) == place)
            .collect();
        paths.sort();
        let mut suites = HashMap::new();
        let mut unread = None;
        for path in paths {
            let shown = portable_path(&path);
            let Ok(read) = Suite::read(&path, &shown) else {
                unread.get_or_insert(shown);
                continue;
            };
            for stem in read.agents.iter().flat_map(possible_stems) {
                let suite = suites.entry(stem.to_lowercase());
                suite.or_insert_with(|| shown.clone());
            }
        }
        Self {
            place,
            options,
            redactor,
            suites,
            unread,
        }
    }

    /// The other suite that has the recordings with a stem.
    pub(super) fn suite(&self, stem: &str) -> Option<&str> {
        self.suites.get(&stem.to_lowercase()).map(String::as_str)
    }

    /// Whether there are recordings of no suite here, besides those with these stems.
    pub(super) fn has_unclaimed(&self, own: &HashSet<&str>) -> bool {
        let is_unclaimed =
            |stem: &String| self.suite(stem).is_none() && !own.contains(stem.as_str());
        let recordings = find_files(self.place, &["json", "jsonl"], &[]);
        let mut stems = recordings.iter().filter_map(|it| stem(self.place, it));
        stems.any(|stem| is_unclaimed(&stem))
    }

    /// The stem of an entry's recordings: of those that they may have, the one that they have.
    pub(super) fn own_stem(&self, mut stems: Vec<String>) -> String {
        let is_there = |stem: &String| {
            let mut ends = ["", ".json", ".jsonl"].iter();
            ends.any(|end| self.place.join(format!("{stem}{end}")).exists())
        };
        let own = stems.iter().position(is_there).unwrap_or_default();
        stems.swap_remove(own)
    }

    /// Whose the recordings with a stem are, where they are not those of a group.
    pub(super) fn conflicting_owner(&self, stem: &str, group: &Group) -> Option<String> {
        if let Some(suite) = self.suite(stem) {
            return Some(format!("those of `{suite}`"));
        }
        let others = !group.by_task && !self.options.replace;
        if !others && self.unread.is_none() {
            return None;
        }
        let [any, other] = self.has(stem, group);
        match &self.unread {
            Some(suite) if any => Some(format!("perhaps those of `{suite}`, which does not load")),
            _ if others && other => Some(format!(
                "which have another prompt and belong to no suite (`{}` lists them)",
                command_line("validate")
            )),
            _ => None,
        }
    }

    /// The identifiers of the runs that are recorded with a stem.
    pub(super) fn run_ids(&self, stem: &str) -> HashSet<Digest> {
        let mut ids = HashSet::new();
        // What cannot be read is told when it is written to.
        _ = Store::new(&store::layout(self.place, stem, self.options.jsonl)).and_then(|store| {
            store.for_each_run(|_, bytes| {
                let run = serde_json::from_slice::<Value>(bytes).ok();
                let id = run.and_then(|run| store::identity(&run));
                ids.extend(id.map(|id| Digest::from_parts(&[&id])));
            })
        });
        ids
    }

    /// Whether there are recordings with a stem, and some that are no runs of a group: they were asked
    /// something else.
    fn has(&self, stem: &str, group: &Group) -> [bool; 2] {
        let layout = store::layout(self.place, stem, self.options.jsonl);
        let mut has = [false; 2];
        // What cannot be read is told when it is written to.
        _ = Store::new(&layout).and_then(|store| {
            store.for_each_run(|_, bytes| {
                let run = serde_json::from_slice::<Value>(bytes);
                has[0] = true;
                has[1] |= run.is_ok_and(|run| prompt_digest(&run, self.redactor) != group.asked);
            })
        });
        has
    }
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extensions.contains(&extension))
}
