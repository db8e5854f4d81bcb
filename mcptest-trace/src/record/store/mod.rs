//! Recorded runs on disk, which cost money and are never lost.
//!
//! Every change is a file put in place whole, by a rename or a second name, so that a process may
//! be killed or the disk may fill up at any instant: what was recorded is there, and what was not
//! finished is finished or begun again by the next recording. A recorder holds the [`Lock`].

mod disk;
mod error;
mod lock;
mod publish;
mod render;
mod steps;
mod stream;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fnv::fnv1a64;

pub(crate) use disk::write_atomically;
pub use error::StoreError;
pub use lock::Lock;
pub use render::{render, render_line};
pub use stream::{RunAppender, RunPlace};

pub use crate::trace::Layout;

/// The name that the three layouts of an agent in a place share.
fn layout_stem(layout: &Layout) -> Result<OsString, StoreError> {
    let path = layout.path();
    let extension = match layout {
        Layout::Single(_) => "json",
        Layout::Folder(_) => "",
        Layout::Lines(_) => "jsonl",
    };
    let named = if path.extension() == Some(OsStr::new(extension)) {
        path.file_stem()
    } else {
        path.file_name()
    };
    named
        .map(OsStr::to_owned)
        .ok_or_else(|| StoreError::no_name(path))
}

/// The runs of one agent with one model in one place.
#[derive(Debug, Clone)]
pub struct Store {
    place: PathBuf,
    stem: OsString,
    single: PathBuf,
    folder: PathBuf,
    lines: PathBuf,
    /// What is made when nothing is recorded yet.
    wanted: LayoutKind,
    /// The suite names this very path: no other layout is looked at or made.
    pinned: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LayoutKind {
    Single,
    Folder,
    Lines,
}

impl Store {
    /// The runs at a layout, or at another of the same stem when that one exists. Several runs
    /// never stay in a [`Layout::Single`]: it becomes a folder.
    pub fn new(layout: &Layout) -> Result<Self, StoreError> {
        let stem = layout_stem(layout)?;
        let place = disk::parent(layout.path()).to_owned();
        let beside = |extension: &str| {
            let mut name = stem.clone();
            name.push(extension);
            place.join(name)
        };
        let mut store = Self {
            single: beside(".json"),
            folder: beside(""),
            lines: beside(".jsonl"),
            place,
            stem,
            wanted: LayoutKind::Single,
            pinned: false,
        };
        let path = layout.path().to_owned();
        match layout {
            Layout::Single(_) => store.single = path,
            Layout::Folder(_) => (store.folder, store.wanted) = (path, LayoutKind::Folder),
            Layout::Lines(_) => (store.lines, store.wanted) = (path, LayoutKind::Lines),
        }
        Ok(store)
    }

    /// For a path that the suite's `cassette:` names: it alone is read and written.
    pub fn pinned(layout: &Layout) -> Result<Self, StoreError> {
        let mut store = Self::new(layout)?;
        store.pinned = true;
        Ok(store)
    }

    /// To call under the lock before anything is spent on recording: finishes what an interrupted
    /// recording began, finds out whether so many runs can be stored, and says how many there are.
    pub fn prepare(&self, runs: usize) -> Result<usize, StoreError> {
        self.finish_interrupted()?;
        let kind = self.kind_for(runs)?;
        disk::try_writing(&self.place)?;
        let path = match kind {
            LayoutKind::Folder => {
                disk::try_writing(&self.folder)?;
                return self.count_runs();
            }
            LayoutKind::Single => &self.single,
            LayoutKind::Lines => &self.lines,
        };
        if path.is_dir() {
            return Err(StoreError::folder_in_the_way(path));
        }
        self.count_runs()
    }

    /// The layout of so many runs.
    fn kind_for(&self, runs: usize) -> Result<LayoutKind, StoreError> {
        match self.existing_layout()?.unwrap_or(self.wanted) {
            LayoutKind::Single if runs > 1 && self.pinned => Err(self.one_run()),
            LayoutKind::Single if runs > 1 => Ok(LayoutKind::Folder),
            kind => Ok(kind),
        }
    }

    /// How many runs there are, whether or not they can be read.
    pub fn count_runs(&self) -> Result<usize, StoreError> {
        match self.existing_layout()? {
            None => Ok(0),
            Some(LayoutKind::Single) => Ok(1),
            Some(LayoutKind::Folder) => Ok(runs_in(&self.folder)?.len()),
            Some(LayoutKind::Lines) => {
                let bytes = disk::read(&self.lines)?.unwrap_or_default();
                let lines = bytes.split(|byte| *byte == b'\n');
                Ok(lines.filter(|line| !line.trim_ascii().is_empty()).count())
            }
        }
    }

    /// Where the runs are now.
    #[cfg(test)]
    pub fn layout(&self) -> Result<Option<Layout>, StoreError> {
        Ok(self.existing_layout()?.map(|kind| match kind {
            LayoutKind::Single => Layout::Single(self.single.clone()),
            LayoutKind::Folder => Layout::Folder(self.folder.clone()),
            LayoutKind::Lines => Layout::Lines(self.lines.clone()),
        }))
    }

    /// Adds one run to those that exist, and says in which file it is.
    pub fn add(&self, run: &Value) -> Result<PathBuf, StoreError> {
        self.finish_interrupted()?;
        match self.existing_layout()? {
            Some(LayoutKind::Single) => {
                self.move_into_folder()?;
                self.add_to_folder(run, &mut 1)
            }
            Some(LayoutKind::Folder) => self.add_to_folder(run, &mut 1),
            Some(LayoutKind::Lines) => self.add_line(run),
            None => {
                disk::make_folder(&self.place)?;
                match self.wanted {
                    LayoutKind::Single => self.add_single(run),
                    LayoutKind::Folder => self.add_to_folder(run, &mut 1),
                    LayoutKind::Lines => self.add_line(run),
                }
            }
        }
    }

    fn add_single(&self, run: &Value) -> Result<PathBuf, StoreError> {
        let path = self.single.clone();
        if disk::write_new(&path, render(run).as_bytes())? {
            return Ok(path);
        }
        if path.is_dir() {
            return Err(StoreError::folder_in_the_way(&path));
        }
        // A dangling link, or a file that someone put there just now.
        let source = ErrorKind::AlreadyExists.into();
        Err(StoreError::failed(&path, "created", source))
    }

    /// Adds a run under the next number that is free, from a number on.
    fn add_to_folder(&self, run: &Value, number: &mut usize) -> Result<PathBuf, StoreError> {
        disk::make_folder(&self.folder)?;
        let text = render(run);
        let write = if *number == 1 {
            disk::write_new
        } else {
            disk::write_new_unsynced
        };
        loop {
            let path = self.folder.join(run_name(*number));
            *number += 1;
            if !disk::exists(&path) && write(&path, text.as_bytes())? {
                return Ok(path);
            }
        }
    }

    /// Adds a run to a folder without the lock, under the next number that is free. Nothing else is touched.
    #[cfg(feature = "tracing")]
    pub(crate) fn add_unlocked(&self, run: &Value) -> Result<PathBuf, StoreError> {
        disk::make_folder(&self.folder)?;
        let text = render(run);
        let mut numbers = 1..;
        loop {
            let path = self
                .folder
                .join(run_name(numbers.next().unwrap_or_default()));
            if !disk::exists(&path) && disk::write_new_unsynced(&path, text.as_bytes())? {
                steps::sync_folder(&self.folder);
                return Ok(path);
            }
        }
    }

    fn add_line(&self, run: &Value) -> Result<PathBuf, StoreError> {
        let mut bytes = disk::read(&self.lines)?.unwrap_or_default();
        if bytes.last().is_some_and(|last| *last != b'\n') {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(render_line(run).as_bytes());
        bytes.push(b'\n');
        write_atomically(&self.lines, &bytes)?;
        Ok(self.lines.clone())
    }

    /// Makes the one run the first of a folder. An empty folder is no layout, so at every instant
    /// the run is in one.
    fn move_into_folder(&self) -> Result<(), StoreError> {
        if self.pinned {
            return Err(self.one_run());
        }
        disk::make_folder(&self.folder)?;
        let first = self.folder.join(run_name(1));
        if disk::exists(&first) {
            return Err(StoreError::several_layouts(&[&self.single, &first]));
        }
        disk::rename(&self.single, &first)?;
        steps::sync_folder(&self.folder);
        steps::sync_folder(&self.place);
        Ok(())
    }

    /// The layout that holds runs.
    fn existing_layout(&self) -> Result<Option<LayoutKind>, StoreError> {
        let mut found = Vec::new();
        for (kind, path) in [
            (LayoutKind::Single, &self.single),
            (LayoutKind::Folder, &self.folder),
            (LayoutKind::Lines, &self.lines),
        ] {
            if self.pinned && kind != self.wanted {
                continue;
            }
            let holds = match kind {
                LayoutKind::Folder => !runs_in(path)?.is_empty(),
                LayoutKind::Single | LayoutKind::Lines => path.is_file(),
            };
            if holds {
                found.push((kind, path));
            }
        }
        match found.as_slice() {
            [] => Ok(None),
            [(kind, _)] => Ok(Some(*kind)),
            several => {
                let paths: Vec<_> = several.iter().map(|(_, path)| *path).collect();
                Err(StoreError::several_layouts(&paths))
            }
        }
    }

    fn one_run(&self) -> StoreError {
        StoreError::single_run_only(&self.single)
    }
}

fn run_name(number: usize) -> String {
    format!("run-{number}.json")
}

/// The names of the run files in a folder: its visible `.json` files.
fn runs_in(folder: &Path) -> Result<Vec<OsString>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(disk::read_error(folder, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|error| disk::read_error(folder, error))?
            .path();
        let name = path.file_name().unwrap_or_default();
        let run = path.extension() == Some(OsStr::new("json"))
            && !name.to_string_lossy().starts_with('.')
            && path.is_file();
        if run {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}
