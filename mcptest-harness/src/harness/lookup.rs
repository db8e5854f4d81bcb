//! Where an agent's recorded runs lie.
//!
//! Three places are looked at, and exactly one may hold the runs: the agent's own `cassette:`,
//! `cassettes/` beside the suite file, and the crate's `cassettes/<suite path>/`. In a place the
//! runs are `<stem>.json`, every `<stem>/*.json`, or the lines of `<stem>.jsonl`; exactly one too.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use mcptest_suite::model::Agent;
use mcptest_suite::{cassette_slug, portable_path};

use super::listing::{Listing, is_cassette, list_file, list_folder, natural_order};
use super::near_names::{Missed, NearNames};
use super::pattern::{is_pattern, unbounded, without_detours};
use crate::trace::Layout;

/// The runs that are looked for, and where.
pub(crate) struct RunLookup<'a> {
    /// The crate's folder, or another that is laid out as it.
    pub(crate) crate_dir: &'a Path,
    /// The folder that shown paths are relative to.
    pub(crate) shown_from: &'a Path,
    /// The folder the suite file lies in.
    pub(crate) suite_dir: &'a Path,
    /// The suite's path below its root, without extension.
    pub(crate) suite_stem: PathBuf,
    /// The agent's `cassette:`.
    pub(crate) cassette: Option<&'a str>,
    /// The stems of the agent's files; the first is the one that is recommended.
    pub(crate) stems: Vec<String>,
    /// The suite's agents, whose runs may lie in the same places.
    pub(crate) agents: &'a [Agent],
    /// What lies where the suite's runs lie, once an agent has asked for it.
    pub(crate) near: &'a OnceLock<NearNames>,
}

/// A file or folder that holds runs.
struct RunSource {
    shown: String,
    files: Vec<PathBuf>,
    /// What lies in the folder of the runs and looks like one.
    near: Vec<PathBuf>,
    /// `None` where a pattern named the files.
    layout: Option<Layout>,
}

/// Why no one place holds the runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlaceError {
    /// Nothing was found; where one run and where several would be put.
    Nothing {
        looked: Vec<String>,
        put: [String; 2],
        /// What is there under nearly the name of a run.
        near: Vec<String>,
        /// What else is there and may be meant, each with why it is not read.
        meant: Vec<(String, String)>,
    },
    /// Two places or two layouts hold runs.
    Several(Vec<String>),
    /// `cassette:` is no usable path.
    Unusable { problem: String, help: String },
}

/// The files of runs, each with its shown path, and what beside them is not read.
type FilesAndRest = (Vec<(PathBuf, String)>, Vec<String>);

impl RunLookup<'_> {
    /// The files in the order of the runs, each with its shown path.
    pub(crate) fn files(&self) -> Result<Vec<(PathBuf, String)>, PlaceError> {
        self.files_in_source(self.find_sources(None)?)
    }

    /// The files in the order of the runs, each with its shown path; nothing where there are none, whatever else
    /// is there.
    pub(crate) fn files_if_any(&self) -> Result<Option<Vec<(PathBuf, String)>>, PlaceError> {
        let found = self.find_sources(None)?;
        if found.is_empty() {
            return Ok(None);
        }
        self.files_in_source(found).map(Some)
    }

    /// The files in the order of the runs, each with its shown path; and what lies in the folder of the runs, or
    /// beside them under nearly their name, but is not read.
    pub(crate) fn files_and_rest(&self) -> Result<FilesAndRest, PlaceError> {
        let listed = self.cassette.is_none().then(|| self.near_names());
        let found = self.find_sources(listed)?;
        let not_read = self.not_read(&found);
        Ok((self.files_in_source(found)?, not_read))
    }

    fn files_in_source(
        &self,
        mut found: Vec<RunSource>,
    ) -> Result<Vec<(PathBuf, String)>, PlaceError> {
        match found.len() {
            0 => {
                let (put, near) = match self.cassette {
                    Some(pattern) if is_pattern(pattern) => {
                        return Err(self.no_match_error(pattern));
                    }
                    Some(cassette) => {
                        let named = self.display_path(&self.suite_dir.join(cassette));
                        ([named.clone(), named], Vec::new())
                    }
                    None => {
                        let stem = self.stems.first().map_or("", String::as_str);
                        let one =
                            self.display_path(&self.beside_folder().join(format!("{stem}.json")));
                        let several =
                            self.display_path(&self.beside_folder().join(stem)) + "/run-1.json";
                        ([one, several], self.nearly_named())
                    }
                };
                let meant = self.possible_files().into_iter();
                let meant = meant.filter(|(path, _)| !near.contains(path));
                Err(PlaceError::Nothing {
                    meant: meant
                        .map(|(path, why)| (self.display_path(&path), why))
                        .collect(),
                    looked: self.looked_paths(),
                    put,
                    near: near.iter().map(|path| self.display_path(path)).collect(),
                })
            }
            1 => {
                let files = found.swap_remove(0).files.into_iter();
                let shown = files.map(|path| {
                    let shown = self.display_path(&path);
                    (path, shown)
                });
                Ok(shown.collect())
            }
            _ => Err(several_error(found)),
        }
    }

    /// What lies where the runs were found and is not read.
    fn not_read(&self, found: &[RunSource]) -> Vec<String> {
        let mut paths: Vec<PathBuf> = found
            .iter()
            .flat_map(|found| &found.near)
            .cloned()
            .collect();
        if self.cassette.is_none() {
            let files = || found.iter().flat_map(|found| &found.files);
            let near = self.nearly_named().into_iter();
            // Where the file system takes both names for one, it is read.
            paths.extend(near.filter(|path| !files().any(|file| is_same_file(path, file))));
        }
        paths.iter().map(|path| self.display_path(path)).collect()
    }

    /// What lies where no run was found and may be meant for one.
    fn possible_files(&self) -> Vec<(PathBuf, String)> {
        let stems_of = |agent: &Agent| -> Vec<String> {
            let models = agent.models.iter();
            models
                .flat_map(|model| agent.cassette_stems(&model.value))
                .collect()
        };
        let mut taken: HashSet<String> = self.agents.iter().flat_map(stems_of).collect();
        let (folders, stems) = match self.cassette {
            Some(cassette) => {
                let path = self.suite_dir.join(cassette);
                let named = path.file_stem().unwrap_or_default().to_string_lossy();
                let folder = path.parent().unwrap_or(self.suite_dir).to_owned();
                (vec![folder], vec![named.into_owned()])
            }
            None => (
                vec![self.beside_folder(), self.central_folder()],
                self.stems.clone(),
            ),
        };
        let is_own = |agent: &&Agent| stems_of(agent).contains(&self.stems[0]);
        let agent = self.agents.iter().find(is_own);
        let agent = agent.filter(|_| self.cassette.is_none());
        taken.retain(|stem| !stems.contains(stem));
        Missed {
            folders,
            stems: &stems,
            agent: agent.map(|agent| cassette_slug(&agent.name.value)),
            taken,
        }
        .possible_files()
    }

    /// Files in the two places that are nearly named like a run.
    fn nearly_named(&self) -> Vec<PathBuf> {
        self.near_names().similar_files(&self.stems)
    }

    /// What lies in the two places.
    fn near_names(&self) -> &NearNames {
        self.near.get_or_init(|| {
            let others = self.agents.iter().flat_map(|agent| {
                let models = agent.models.iter();
                models.flat_map(|model| agent.cassette_stems(&model.value))
            });
            let stems = self.stems.iter().cloned().chain(others);
            NearNames::list([self.beside_folder(), self.central_folder()], stems)
        })
    }

    /// Where runs are recorded: where the agent's runs lie now, else where a number of them would
    /// be looked for first.
    pub(crate) fn layout(&self, runs: usize) -> Result<Layout, PlaceError> {
        let mut found = self.find_sources(None)?;
        let layout = match (found.len(), self.cassette) {
            (0, Some(cassette)) => own_layout(&self.suite_dir.join(cassette), cassette),
            (0, None) => {
                let stem = self.stems.first().map_or("", String::as_str);
                // Who keeps the suite's recordings below the crate's folder keeps them all there.
                let central = self.central_folder();
                let place = if central.is_dir() {
                    central
                } else {
                    self.beside_folder()
                };
                Some(if runs == 1 {
                    Layout::Single(place.join(format!("{stem}.json")))
                } else {
                    Layout::Folder(place.join(stem))
                })
            }
            (1, _) => found.swap_remove(0).layout,
            _ => return Err(several_error(found)),
        };
        layout.ok_or_else(|| PlaceError::Unusable {
            problem: format!(
                "`cassette: {}` is a pattern, which names no file to record to",
                self.cassette.unwrap_or_default()
            ),
            help: "write a folder, a `.json` file for one run, or a `.jsonl` file".to_owned(),
        })
    }

    /// A pattern that no file fits.
    fn no_match_error(&self, pattern: &str) -> PlaceError {
        let parts = pattern.split('/').take_while(|part| !is_pattern(part));
        let named = parts.collect::<Vec<_>>().join("/");
        let folder = self.suite_dir.join(&named);
        let shown = self.display_path(&folder);
        let problem = if folder.is_dir() {
            format!("`cassette: {pattern}` fits no `.json` or `.jsonl` file in {shown}")
        } else {
            format!("`cassette: {pattern}` fits no file: there is no folder {shown}")
        };
        let help = match named.as_str() {
            "" | "." | ".." => "put recordings there whose names fit the pattern; to record new runs, name a folder, because a pattern names no file".to_owned(),
            named => format!("put recordings there whose names fit the pattern; to record new runs, write `cassette: {named}`, because a pattern names no file"),
        };
        PlaceError::Unusable { problem, help }
    }

    /// A path as it is shown: from the crate's folder.
    pub(crate) fn display_path(&self, path: &Path) -> String {
        let path = without_detours(path);
        portable_path(path.strip_prefix(self.shown_from).unwrap_or(&path))
    }

    fn beside_folder(&self) -> PathBuf {
        self.suite_dir.join("cassettes")
    }

    fn central_folder(&self) -> PathBuf {
        self.crate_dir.join("cassettes").join(&self.suite_stem)
    }

    /// What holds runs; where the two places are `listed`, by the names in them.
    fn find_sources(&self, listed: Option<&NearNames>) -> Result<Vec<RunSource>, PlaceError> {
        let mut found: Vec<RunSource> = Vec::new();
        if let Some(cassette) = self.cassette {
            let path = self.suite_dir.join(cassette);
            let Listing { runs: files, near } = self.own_sources(cassette)?;
            // Who names a place means that place and no other.
            if files.is_empty() {
                return Ok(found);
            }
            found.push(RunSource {
                shown: self.display_path(&path),
                files,
                near,
                layout: own_layout(&path, cassette),
            });
        }
        for (place, layout) in self.layouts() {
            let name = layout.path().file_name().unwrap_or_default();
            if listed.is_some_and(|listed| !listed.may_hold(place, &name.to_string_lossy())) {
                continue;
            }
            let Listing { runs: files, near } = match &layout {
                Layout::Folder(path) => list_folder(path),
                other => list_file(other.path()),
            };
            // `cassette:` may name what would be found anyway: that is one place, not two.
            let named = found
                .first()
                .is_some_and(|own| self.cassette.is_some() && is_subset(&files, &own.files));
            if !files.is_empty() && !named {
                found.push(RunSource {
                    shown: self.display_layout(&layout),
                    files,
                    near,
                    layout: Some(layout),
                });
            }
        }
        Ok(found)
    }

    /// Everything that is looked for, as it is shown.
    fn looked_paths(&self) -> Vec<String> {
        match self.cassette {
            Some(cassette) => vec![self.display_path(&self.suite_dir.join(cassette))],
            None => self
                .layouts()
                .map(|(_, layout)| self.display_layout(&layout))
                .collect(),
        }
    }

    fn display_layout(&self, layout: &Layout) -> String {
        let shown = self.display_path(layout.path());
        match layout {
            Layout::Folder(_) => shown + "/*.json",
            _ => shown,
        }
    }

    /// The layouts that the runs may have in the two places, each with the number of its place.
    fn layouts(&self) -> impl Iterator<Item = (usize, Layout)> {
        let places = [self.beside_folder(), self.central_folder()]
            .into_iter()
            .enumerate();
        places.flat_map(|(number, place)| {
            self.stems.iter().flat_map(move |stem| {
                let path = |extension: &str| place.join(format!("{stem}{extension}"));
                let layouts = [
                    Layout::Single(path(".json")),
                    Layout::Folder(path("")),
                    Layout::Lines(path(".jsonl")),
                ];
                layouts.map(|layout| (number, layout))
            })
        })
    }

    /// The files that `cassette:` names.
    fn own_sources(&self, cassette: &str) -> Result<Listing, PlaceError> {
        let unusable = |problem: String, help: &str| PlaceError::Unusable {
            problem,
            help: help.to_owned(),
        };
        let path = self.suite_dir.join(cassette);
        if path.is_dir() {
            return Ok(list_folder(&path));
        }
        if path.is_file() || !is_pattern(cassette) {
            return Ok(list_file(&path));
        }
        if let Some(problem) = unbounded(cassette, self.suite_dir, self.crate_dir) {
            return Err(unusable(
                format!("`cassette: {cassette}` {problem}"),
                "name the folder that holds the runs; `**` is allowed only in a subfolder of the crate; outside the crate, only the file's name may be a pattern",
            ));
        }
        let base = glob::Pattern::escape(&self.suite_dir.to_string_lossy());
        let pattern = format!("{base}/{cassette}");
        let bad_glob = |error: glob::PatternError| {
            unusable(
                format!("`cassette: {cassette}` is not a pattern: {}", error.msg),
                "`*` stands for any part of a name, `**` for any folders, `[…]` for one of several characters",
            )
        };
        let paths = glob::glob(&pattern)
            .map_err(bad_glob)?
            .filter_map(Result::ok);
        let mut files: Vec<PathBuf> = paths
            .filter(|path| path.is_file() && is_cassette(path))
            .collect();
        files.sort_by(|left, right| natural_order(left, right));
        Ok(Listing {
            runs: files,
            near: Vec::new(),
        })
    }
}

fn several_error(found: Vec<RunSource>) -> PlaceError {
    PlaceError::Several(found.into_iter().map(|found| found.shown).collect())
}

/// The layout that a `cassette:` means; a pattern means none.
fn own_layout(path: &Path, cassette: &str) -> Option<Layout> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if path.is_dir() {
        return Some(Layout::Folder(path.to_owned()));
    }
    if !path.is_file() && is_pattern(cassette) {
        return None;
    }
    Some(match extension {
        Some("json") => Layout::Single(path.to_owned()),
        Some("jsonl") => Layout::Lines(path.to_owned()),
        _ if path.is_file() => Layout::Single(path.to_owned()),
        _ => Layout::Folder(path.to_owned()),
    })
}

/// Whether two paths lead to one file.
fn is_same_file(left: &Path, right: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(left).is_some_and(|left| Some(left) == real(right))
}

/// Whether all of some files are among others, however their paths are spelt.
fn is_subset(files: &[PathBuf], others: &[PathBuf]) -> bool {
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let others: Vec<PathBuf> = others.iter().map(real).collect();
    files.iter().all(|file| others.contains(&real(file)))
}

#[cfg(test)]
mod tests;
