//! The recordings of an agent below a folder, whatever the model.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use mcptest::judge::AgentTest;
use mcptest::trace::{CassetteError, Run, read_runs};
use mcptest_suite::{cassette_slug, portable_path, quoted_list};

use crate::failure::Failure;
use crate::files::{find_files, literal_prefix};
use crate::judging::OpenPackage;

/// A folder of recordings without what is in it and belongs to others.
#[derive(Debug, Clone)]
pub(super) struct RecordingsFolder<'a> {
    pub(super) folder: &'a Path,
    /// The package, whose folder this one is laid out as.
    pub(super) package: &'a PackageLayout,
    /// The folder of the other side.
    pub(super) other_side: Option<&'a Path>,
    /// Folders of packages that are nested in the package, from its own.
    pub(super) nested: &'a BTreeSet<PathBuf>,
    /// What is there, once somebody has asked for it.
    listed: OnceLock<BTreeMap<String, Vec<PathBuf>>>,
}

/// Recordings that cannot be read.
#[derive(Debug)]
pub(super) struct UnreadableRuns(Vec<CassetteError>);

impl fmt::Display for UnreadableRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&errors.join("\n"))
    }
}

impl Error for UnreadableRuns {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.first().map(|error| error as _)
    }
}

/// Folders of recordings of one stem, each with the files there.
pub(super) type UnreadPlaces = BTreeMap<PathBuf, Vec<PathBuf>>;

/// Where a package has recordings.
#[derive(Debug, Clone)]
pub(super) struct PackageLayout {
    folder: PathBuf,
    /// Its places, from its folder.
    places: Vec<PathBuf>,
}

impl PackageLayout {
    pub(super) fn new(opened: &OpenPackage) -> Self {
        let roots = opened.package.roots.iter().cloned();
        let plain = |place: PathBuf| -> PathBuf {
            let parts = place.components();
            parts.filter(|part| *part != Component::CurDir).collect()
        };
        let all = roots
            .chain(declared_folders(opened))
            .chain([PathBuf::from("cassettes")]);
        Self {
            folder: opened.package.folder.clone(),
            places: all.map(plain).collect(),
        }
    }

    /// Whether recordings of the package may lie there, from its folder: the recordings themselves, or a folder
    /// of them, may take the place of the package's.
    fn has(&self, path: &Path) -> bool {
        path.components().count() <= 2 || self.places.iter().any(|place| path.starts_with(place))
    }
}

impl<'a> RecordingsFolder<'a> {
    pub(super) const fn new(
        folder: &'a Path,
        package: &'a PackageLayout,
        other_side: Option<&'a Path>,
        nested: &'a BTreeSet<PathBuf>,
    ) -> Self {
        Self {
            folder,
            package,
            other_side,
            nested,
            listed: OnceLock::new(),
        }
    }

    /// The stems of all recordings, each with its files in the order of the runs.
    pub(super) fn stems(&self) -> &BTreeMap<String, Vec<PathBuf>> {
        self.listed.get_or_init(|| self.list())
    }

    fn list(&self) -> BTreeMap<String, Vec<PathBuf>> {
        let mut stems: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        let mut packages = BTreeMap::new();
        for path in find_files(self.folder, &["json", "jsonl"], &["target", "src"]) {
            let own = path.file_stem();
            let above = path.parent().and_then(Path::file_name);
            // A stem is an agent and a model.
            let stem = [own, above].into_iter().flatten().find_map(|name| {
                let name = name.to_string_lossy();
                name.contains("__").then(|| name.into_owned())
            });
            if let Some(stem) = stem
                && !self.belongs_to_others(&path, &mut packages)
            {
                stems.entry(stem).or_default().push(path);
            }
        }
        for files in stems.values_mut() {
            // `run-2` before `run-10`.
            files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
        }
        stems
    }

    /// The recordings that no agent's runs are read from, by their stems: each with the folders that they lie in, and
    /// their files there.
    pub(super) fn unread_stems(&self, agents: &[AgentTest<'_>]) -> BTreeMap<String, UnreadPlaces> {
        let read = agents.iter().flat_map(|agent| agent.files_in(self.folder));
        let read: BTreeSet<PathBuf> = read.collect();
        let mut unread: BTreeMap<String, UnreadPlaces> = BTreeMap::new();
        for (stem, files) in self.stems() {
            for file in files.iter().filter(|file| !read.contains(*file)) {
                let above = file.parent().unwrap_or(self.folder);
                let is_own = above.file_name().is_some_and(|name| name == stem.as_str());
                let place = above.parent().filter(|_| is_own).unwrap_or(above);
                let places = unread.entry(stem.clone()).or_default();
                let files = places.entry(place.to_owned()).or_default();
                files.push(file.clone());
            }
        }
        unread
    }

    /// Whether a file is of the other side, or of a package that is nested in this one. What is known of folders
    /// is kept.
    fn belongs_to_others(&self, path: &Path, packages: &mut BTreeMap<PathBuf, bool>) -> bool {
        let below = path.strip_prefix(self.folder).unwrap_or(path);
        if !self.package.has(below) {
            return true;
        }
        let is_below = |other: &Path| other != self.folder && other.starts_with(self.folder);
        let other = self.other_side.filter(|other| is_below(other));
        if other.is_some_and(|other| path.starts_with(other)) {
            return true;
        }
        let above = path.ancestors().skip(1);
        let mut inside = above.take_while(|above| *above != self.folder);
        inside.any(|above| {
            let known = packages.entry(above.to_owned());
            *known.or_insert_with(|| self.is_package(above))
        })
    }

    /// Whether a folder is that of a package, here or in the package as it is now.
    fn is_package(&self, folder: &Path) -> bool {
        let Ok(below) = folder.strip_prefix(self.folder) else {
            return false;
        };
        let now = self.package.folder.join(below);
        let manifests = [folder, &now].map(|folder| folder.join("Cargo.toml"));
        self.nested.contains(below) || manifests.iter().any(|manifest| manifest.is_file())
    }

    /// Whether there are recordings of agents, told by their stems, by another model.
    pub(super) fn has_other_model(&self, agents: &[String]) -> bool {
        let stems = self.stems();
        let wanted = |stem: &String| {
            agents
                .iter()
                .any(|agent| agent_slug(agent) == agent_slug(stem))
        };
        stems.keys().any(wanted)
    }

    /// The models of which there are recordings of an agent, and none of which its suite asks for.
    pub(super) fn other_models(&self, agent: &AgentTest<'_>) -> Vec<String> {
        let asked = agent.agent();
        let models = asked.models.iter();
        let asked: Vec<String> = models
            .flat_map(|model| asked.cassette_stems(&model.value))
            .collect();
        let name = cassette_slug(&agent.agent().name.value);
        let stems = self.stems_with_prefix(&name);
        let others = stems.filter(|(stem, _)| agent_slug(stem) == name && !asked.contains(*stem));
        others
            .map(|(stem, files)| {
                let runs = self.read(files.get(..1).unwrap_or_default());
                let run = runs.ok().and_then(|runs| runs.into_iter().next());
                let of_stem = || {
                    stem.split_once("__")
                        .map_or("", |(_, model)| model)
                        .to_owned()
                };
                run.map_or_else(of_stem, |run| run.model)
            })
            .collect()
    }

    /// The runs of an agent with its own model, else with the only other one that it has there.
    pub(super) fn runs(&self, agent: &AgentTest<'_>) -> Result<Option<Vec<Run>>, Failure> {
        let failed = |why: &str| Failure::new(format!("{}: {why}", agent.case()));
        let own = agent.runs_in(self.folder);
        if let Some(runs) = own.map_err(|error| failed(&error.to_string()))? {
            return Ok(Some(runs));
        }
        let beginning = format!("{}__", cassette_slug(&agent.agent().name.value));
        let found = self.stems_with_prefix(&beginning);
        let found: Vec<_> = found.collect();
        if found.len() > 1 {
            let several = quoted_list(found.iter().map(|(stem, _)| stem.as_str()));
            return Err(failed(&format!(
                "there are recordings of several models: {several}"
            ))
            .with_help("name a folder with the recordings of one model"));
        }
        let Some((_, files)) = found.first() else {
            return Ok(None);
        };
        let runs = self.read(files).map(Some);
        runs.map_err(|error| failed(&error.to_string()))
    }

    /// The recordings whose stems begin so.
    fn stems_with_prefix<'s>(
        &'s self,
        beginning: &'s str,
    ) -> impl Iterator<Item = (&'s String, &'s Vec<PathBuf>)> {
        let from = self.stems().range(beginning.to_owned()..);
        from.take_while(move |(stem, _)| stem.starts_with(beginning))
    }

    /// The runs of some files.
    pub(super) fn read(&self, files: &[PathBuf]) -> Result<Vec<Run>, UnreadableRuns> {
        let files = files.iter().map(|path| {
            let shown = portable_path(path.strip_prefix(self.folder).unwrap_or(path));
            (path.clone(), shown)
        });
        read_runs(&files.collect::<Vec<_>>()).map_err(UnreadableRuns)
    }
}

/// Where agents say themselves that their recordings are, from the package's folder.
pub(crate) fn declared_folders(opened: &OpenPackage) -> Vec<PathBuf> {
    let folder = &opened.package.folder;
    let suites = opened.suites.suites();
    let own = suites.flat_map(|(_, suite)| {
        let beside = suite
            .source
            .path()
            .parent()
            .and_then(|beside| beside.strip_prefix(folder).ok());
        let beside = beside.unwrap_or(Path::new("")).to_owned();
        let cassettes = suite
            .agents
            .iter()
            .filter_map(|agent| agent.cassette.as_ref());
        cassettes
            .map(move |cassette| beside.join(literal_prefix(&cassette.value)))
            .collect::<Vec<_>>()
    });
    own.collect()
}

/// The agent of a stem, before which its suite may stand.
pub(super) fn agent_slug(stem: &str) -> &str {
    let own = stem.rsplit('/').next().unwrap_or(stem);
    own.split("__").next().unwrap_or_default()
}
