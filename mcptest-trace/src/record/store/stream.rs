//! Many runs, of which one is in memory.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::PathBuf;

use serde_json::Value;

use super::disk::{self, GrowingFile};
use super::error::StoreError;
use super::{LayoutKind, Store, render, render_line, runs_in};

/// Where a run is stored.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct RunPlace {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1, in a file of one run a line.
    pub line: Option<usize>,
}

impl RunPlace {
    /// A file, or a line of it.
    #[must_use]
    pub const fn new(file: PathBuf, line: Option<usize>) -> Self {
        Self { file, line }
    }
}

/// Adds runs one after another to those that exist. A file of lines has all of them when it is
/// finished, and none of them otherwise.
///
/// ```
/// use mcptest_trace::record::store::{Layout, Store};
/// use serde_json::json;
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::new(&Layout::Lines(folder.path().join("refund__m.jsonl")))?;
/// let mut runs_to_add = store.appender()?;
/// runs_to_add.add(&json!({ "model": "m" }))?;
/// runs_to_add.add(&json!({ "model": "n" }))?;
/// runs_to_add.finish()?;
///
/// let mut runs = Vec::new();
/// store.for_each_run(|place, bytes| runs.push((place.line, bytes.len())))?;
/// assert_eq!(runs, [(Some(1), 13), (Some(2), 13)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RunAppender<'s> {
    store: &'s Store,
    kind: LayoutKind,
    /// The number from which the next free one is looked for.
    number: usize,
    lines: Option<GrowingFile>,
}

impl Store {
    /// Begins to add runs. To call under the lock, and to finish.
    ///
    /// # Errors
    ///
    /// What an interrupted recording left cannot be finished, or runs lie in several layouts.
    pub fn appender(&self) -> Result<RunAppender<'_>, StoreError> {
        self.finish_interrupted()?;
        Ok(RunAppender {
            store: self,
            kind: self.existing_layout()?.unwrap_or(self.wanted),
            number: 1,
            lines: None,
        })
    }

    /// Calls a function with every run's place and bytes, in the order of runs.
    ///
    /// # Errors
    ///
    /// A run cannot be read, or runs lie in several layouts.
    pub fn for_each_run(&self, mut each: impl FnMut(&RunPlace, &[u8])) -> Result<(), StoreError> {
        let mut whole = |file: PathBuf| -> Result<(), StoreError> {
            let bytes = disk::read(&file)?.unwrap_or_default();
            each(&RunPlace { file, line: None }, &bytes);
            Ok(())
        };
        match self.existing_layout()? {
            None => Ok(()),
            Some(LayoutKind::Single) => whole(self.single.clone()),
            Some(LayoutKind::Folder) => {
                let mut names = runs_in(&self.folder)?;
                // `run-2` before `run-10`.
                names.sort_by_key(|name| (name.len(), name.clone()));
                names
                    .iter()
                    .try_for_each(|name| whole(self.folder.join(name)))
            }
            Some(LayoutKind::Lines) => {
                let failed = |error| disk::read_error(&self.lines, error);
                let file = File::open(&self.lines).map_err(failed)?;
                for (index, line) in BufReader::new(file).split(b'\n').enumerate() {
                    let line = line.map_err(failed)?;
                    let place = RunPlace {
                        file: self.lines.clone(),
                        line: Some(index + 1),
                    };
                    if !line.trim_ascii().is_empty() {
                        each(&place, line.trim_ascii());
                    }
                }
                Ok(())
            }
        }
    }

    /// Puts another run in the place of one, and leaves all others as they are, byte for byte. To call under the lock.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or has no such line; the old run is there.
    pub fn replace_run(&self, place: &RunPlace, run: &Value) -> Result<(), StoreError> {
        self.finish_interrupted()?;
        let Some(line) = place.line else {
            return disk::write_atomically(&place.file, render(run).as_bytes());
        };
        let bytes = disk::read(&place.file)?.unwrap_or_default();
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let new = render_line(run) + "\n";
        let Some(old) = line.checked_sub(1).and_then(|index| lines.get_mut(index)) else {
            let source = ErrorKind::UnexpectedEof.into();
            return Err(StoreError::failed(&place.file, "changed", source));
        };
        *old = new.as_bytes();
        disk::write_atomically(&place.file, &lines.concat())
    }

    /// Removes runs, and no others: a file, or the lines of one. What is left keeps its name; a file or
    /// a folder without any run goes. To call under the lock.
    ///
    /// # Errors
    ///
    /// A file cannot be removed or written; the runs that are still to be removed are there.
    pub fn remove(&self, places: &[RunPlace]) -> Result<(), StoreError> {
        self.finish_interrupted()?;
        for place in places.iter().filter(|place| place.line.is_none()) {
            disk::remove(&place.file)?;
        }
        if places.iter().any(|place| place.line.is_some()) {
            let bytes = disk::read(&self.lines)?.unwrap_or_default();
            let gone: HashSet<usize> = places.iter().filter_map(|place| place.line).collect();
            let lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate();
            let left = lines.filter(|(index, _)| !gone.contains(&(index + 1)));
            let left: Vec<u8> = left.flat_map(|(_, line)| line).copied().collect();
            if left.trim_ascii().is_empty() {
                disk::remove(&self.lines)?;
            } else {
                disk::write_atomically(&self.lines, &left)?;
            }
        }
        // Not empty where runs are left, or something that is no run.
        let _ = super::steps::remove_folder(&self.folder);
        Ok(())
    }
}

impl RunAppender<'_> {
    /// Adds a run.
    ///
    /// # Errors
    ///
    /// It cannot be written; those before it are there, or are when this is finished.
    pub fn add(&mut self, run: &Value) -> Result<(), StoreError> {
        match self.kind {
            LayoutKind::Single => {
                self.store.add(run)?;
                self.kind = self.store.existing_layout()?.unwrap_or(self.kind);
                Ok(())
            }
            LayoutKind::Folder => {
                let added = self.store.add_to_folder(run, &mut self.number);
                added.map(drop)
            }
            LayoutKind::Lines => {
                let lines = match &mut self.lines {
                    Some(lines) => lines,
                    empty => {
                        disk::make_folder(&self.store.place)?;
                        empty.insert(GrowingFile::from_existing(&self.store.lines)?)
                    }
                };
                let mut line = render_line(run);
                line.push('\n');
                lines.write(line.as_bytes())
            }
        }
    }

    /// Puts in place what is not yet, and makes all of it last through a power failure.
    ///
    /// # Errors
    ///
    /// The file of lines cannot be put in place; the old one is there.
    pub fn finish(self) -> Result<(), StoreError> {
        if self.kind == LayoutKind::Folder && self.number > 1 {
            super::steps::sync_folder(&self.store.folder);
        }
        self.lines.map_or(Ok(()), GrowingFile::finish)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Layout, Store};
    use super::*;

    /// A folder, and a store in it of lines or of files.
    fn store(lines: bool) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let layout = if lines {
            Layout::Lines(folder.path().join("a__m.jsonl"))
        } else {
            Layout::Folder(folder.path().join("a__m"))
        };
        let store = Store::new(&layout).unwrap();
        (folder, store)
    }

    fn add(store: &Store, numbers: std::ops::RangeInclusive<u32>) {
        let mut adding = store.appender().unwrap();
        for number in numbers {
            adding.add(&json!({ "temperature": number })).unwrap();
        }
        adding.finish().unwrap();
    }

    fn all(store: &Store) -> Vec<(RunPlace, u64)> {
        let mut runs = Vec::new();
        let number = |bytes: &[u8]| {
            let run: Value = serde_json::from_slice(bytes).unwrap();
            run["temperature"].as_u64().unwrap()
        };
        let each = |place: &RunPlace, bytes: &[u8]| runs.push((place.clone(), number(bytes)));
        store.for_each_run(each).unwrap();
        runs
    }

    #[test]
    fn runs_are_added_after_those_that_are_there_and_read_in_order() {
        for lines in [false, true] {
            let (_folder, store) = store(lines);
            add(&store, 1..=3);
            add(&store, 4..=12);
            let numbers: Vec<u64> = all(&store).into_iter().map(|(_, number)| number).collect();
            assert_eq!(numbers, (1..=12).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn lines_that_are_not_finished_are_not_there() {
        let (folder, store) = store(true);
        add(&store, 1..=2);
        std::fs::write(folder.path().join("a__m.jsonl"), "{\"temperature\":7}").unwrap();
        let mut adding = store.appender().unwrap();
        adding.add(&json!({ "temperature": 8 })).unwrap();
        drop(adding);
        assert_eq!(all(&store).len(), 1);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        add(&store, 8..=8);
        assert_eq!(all(&store).len(), 2);
    }

    #[test]
    fn what_is_removed_is_gone_and_the_rest_is_as_it_was() {
        for lines in [false, true] {
            let (folder, store) = store(lines);
            add(&store, 1..=4);
            let before = all(&store);
            store
                .remove(&[before[0].0.clone(), before[2].0.clone()])
                .unwrap();
            let left: Vec<u64> = all(&store).into_iter().map(|(_, number)| number).collect();
            assert_eq!(left, [2, 4]);
            if !lines {
                assert_eq!(all(&store)[1], before[3]);
            }
            let rest: Vec<RunPlace> = all(&store).into_iter().map(|(place, _)| place).collect();
            store.remove(&rest).unwrap();
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
