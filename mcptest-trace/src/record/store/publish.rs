//! Recording all runs again: the new ones are staged in a hidden folder, and replace the old ones
//! when the last of them is there.
//!
//! The staging folder's state is told by a file in it. None: runs are being recorded, and the old
//! ones are whole. `complete`: the staged runs are replacing the old ones, and whoever comes next
//! goes on with it. `published`: they have, and the folder can be removed.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::disk::{self, write_atomically};
use super::error::StoreError;
use super::render::compact;
use super::{LayoutKind, Store, render, run_name, runs_in, steps};

const COMPLETE: &str = "complete";
const PUBLISHED: &str = "published";

/// What keeps git away from the folder.
const IGNORE: &str = ".gitignore";

/// What replaces what; in the file `complete`.
#[derive(Serialize, Deserialize)]
struct Replacement {
    count: usize,
    /// The layout that the runs are to have.
    #[serde(rename = "layout")]
    kind: LayoutKind,
    /// Files of the old recording that no new run replaces.
    surplus: Vec<String>,
}

impl Store {
    /// Keeps one whole run of a new recording, numbered from 1.
    pub fn stage(&self, number: usize, run: &Value) -> Result<(), StoreError> {
        self.finish_interrupted()?;
        let staging = self.staging();
        disk::make_folder(&staging)?;
        // Whoever is killed leaves nothing that could be committed by mistake.
        let ignoring = staging.join(IGNORE);
        if !ignoring.is_file() {
            write_atomically(&ignoring, b"*\n")?;
        }
        write_atomically(&staging.join(run_name(number)), render(run).as_bytes())
    }

    /// The runs that are staged, by number: an interrupted recording goes on with the others.
    /// Published are their files, not these values, whose fractions may be rounded.
    pub fn staged(&self) -> Result<Vec<(usize, Value)>, StoreError> {
        self.finish_interrupted()?;
        let mut runs = Vec::new();
        for (number, path) in self.staged_files()? {
            let bytes = disk::read(&path)?.unwrap_or_default();
            if let Some(run) = parse_object(&bytes) {
                runs.push((number, run));
            }
        }
        Ok(runs)
    }

    /// The files of the runs that are staged, by number. Looks, and changes nothing.
    pub fn staged_files(&self) -> Result<Vec<(usize, PathBuf)>, StoreError> {
        let staging = self.staging();
        let names = runs_in(&staging)?.into_iter();
        let numbered = names.filter_map(|name| Some((run_number(name.to_str()?)?, name)));
        let mut files: Vec<_> = numbered
            .map(|(number, name)| (number, staging.join(name)))
            .collect();
        files.sort_by_key(|(number, _)| *number);
        Ok(files)
    }

    /// Forgets what is staged; the old recordings stay.
    pub fn discard_staged(&self) -> Result<(), StoreError> {
        self.finish_interrupted()?;
        self.clear()
    }

    /// Replaces the recordings by the staged runs 1 to `count`, which must all be there. Other
    /// runs, old or staged, are removed last. Without runs nothing is done.
    pub fn publish(&self, count: usize) -> Result<(), StoreError> {
        self.finish_interrupted()?;
        if count == 0 {
            return Ok(());
        }
        let mut missing = Vec::new();
        for number in 1..=count {
            let path = self.staging().join(run_name(number));
            let bytes = disk::read(&path)?.unwrap_or_default();
            if parse_object(&bytes).is_none() {
                missing.push(number);
            }
        }
        if !missing.is_empty() {
            return Err(StoreError::not_staged(&self.staging(), &missing));
        }
        let plan = Replacement {
            count,
            kind: self.kind_for(count)?,
            surplus: self.surplus(count)?,
        };
        let plan_as_text = json!(plan).to_string();
        write_atomically(&self.staging().join(COMPLETE), plan_as_text.as_bytes())?;
        self.replace(&plan)
    }

    /// Whether a process was killed while it published.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        let staging = self.staging();
        staging.join(COMPLETE).is_file() || staging.join(PUBLISHED).is_file()
    }

    /// Goes on where a process was killed while it published. Says whether there was anything.
    pub fn finish_interrupted(&self) -> Result<bool, StoreError> {
        let staging = self.staging();
        if staging.join(PUBLISHED).is_file() {
            self.clear()?;
            return Ok(true);
        }
        let path = staging.join(COMPLETE);
        let Some(bytes) = disk::read(&path)? else {
            return Ok(false);
        };
        match serde_json::from_slice(&bytes) {
            Ok(plan) => self.replace(&plan).map(|()| true),
            Err(_) => Err(StoreError::bad_marker(&path)),
        }
    }

    /// Does what is left of a plan.
    fn replace(&self, plan: &Replacement) -> Result<(), StoreError> {
        match plan.kind {
            LayoutKind::Single => {
                self.publish_file(1, &self.single)?;
                steps::sync_folder(&self.place);
            }
            LayoutKind::Folder => self.replace_files(plan)?,
            LayoutKind::Lines => {
                if !self.replace_lines(plan)? {
                    return disk::remove(&self.staging().join(COMPLETE));
                }
            }
        }
        let staging = self.staging();
        disk::rename(&staging.join(COMPLETE), &staging.join(PUBLISHED))?;
        self.clear()
    }

    fn replace_files(&self, plan: &Replacement) -> Result<(), StoreError> {
        if self.single.is_file() && !self.pinned {
            self.move_into_folder()?;
        }
        disk::make_folder(&self.folder)?;
        for number in 1..=plan.count {
            self.publish_file(number, &self.folder.join(run_name(number)))?;
        }
        // The new runs last before the old ones go.
        steps::sync_folder(&self.folder);
        let surplus: HashSet<&str> = plan.surplus.iter().map(String::as_str).collect();
        for name in runs_in(&self.folder)? {
            // A name that is no Unicode is in the plan as it is shown.
            let shown = name.to_string_lossy();
            if surplus.contains(&*shown) {
                disk::remove(&self.folder.join(&name))?;
            }
        }
        Ok(())
    }

    /// Moves a staged run to its path, unless that is done already.
    fn publish_file(&self, number: usize, to: &Path) -> Result<(), StoreError> {
        let from = self.staging().join(run_name(number));
        if from.is_file() {
            disk::move_file(&from, to)?;
        }
        Ok(())
    }

    /// Writes the lines at once. `false`, and nothing is changed, when someone removed a staged run.
    fn replace_lines(&self, plan: &Replacement) -> Result<bool, StoreError> {
        let mut text = String::new();
        for number in 1..=plan.count {
            let bytes = disk::read(&self.staging().join(run_name(number)))?.unwrap_or_default();
            let file = parse_object(&bytes).and_then(|_run| String::from_utf8(bytes).ok());
            let Some(file) = file else {
                return Ok(false);
            };
            text.push_str(&compact(&file));
            text.push('\n');
        }
        write_atomically(&self.lines, text.as_bytes()).map(|()| true)
    }

    /// The run files that are neither replaced nor kept.
    fn surplus(&self, count: usize) -> Result<Vec<String>, StoreError> {
        let listed = runs_in(&self.folder)?;
        let exists = |name: &str| disk::exists(&self.folder.join(name));
        Ok(surplus(&listed, count, exists))
    }

    /// Removes the staging folder with what a recorder put there, and nothing else.
    fn clear(&self) -> Result<(), StoreError> {
        let staging = self.staging();
        let entries = match fs::read_dir(&staging) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(disk::read_error(&staging, error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| disk::read_error(&staging, error))?;
            let name = entry.file_name();
            let ours = name.to_str().is_some_and(|name| {
                run_number(name).is_some() || disk::is_temporary(name) || name == IGNORE
            });
            if ours {
                disk::remove(&entry.path())?;
            }
        }
        disk::remove(&staging.join(PUBLISHED))?;
        // Not empty when someone keeps a file of their own in it.
        let _ = steps::remove_folder(&staging);
        Ok(())
    }

    fn staging(&self) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(&self.stem);
        name.push(".recording");
        self.place.join(name)
    }
}

/// The listed files other than `run-1.json` to `run-<count>.json`. Where a name stands for another
/// in capitals (Windows, macOS), `RUN-1.json` is one of those and is not removed.
pub(super) fn surplus(
    listed: &[OsString],
    count: usize,
    exists: impl Fn(&str) -> bool,
) -> Vec<String> {
    let listed: Vec<_> = listed.iter().map(|name| name.to_string_lossy()).collect();
    let is_new = |name: &str| run_number(name).is_some_and(|number| number <= count);
    let replaced = |name: &str| {
        let small = name.to_ascii_lowercase();
        is_new(name)
            || is_new(&small) && !listed.iter().any(|other| *other == small) && exists(&small)
    };
    let surplus = listed.iter().filter(|name| !replaced(name));
    surplus.map(|name| name.clone().into_owned()).collect()
}

/// The number in `run-<number>.json`, from 1 and written as [`run_name`] writes it.
fn run_number(name: &str) -> Option<usize> {
    let digits = name.strip_prefix("run-")?.strip_suffix(".json")?;
    let number = digits.parse().ok().filter(|number| *number > 0)?;
    (run_name(number) == name).then_some(number)
}

/// A run, unless the bytes are cut or something else.
fn parse_object(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok().filter(Value::is_object)
}
