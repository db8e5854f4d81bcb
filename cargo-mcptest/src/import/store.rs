//! Where recordings lie, and how one gets there.
//!
//! [`Store`] stands for the store of `mcptest-trace`: a file is put in place whole and never over
//! another one.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use mcptest_trace::record::store::{render, render_line};
use serde_json::Value;
use tempfile::NamedTempFile;

use super::digest::Digest;

/// The recordings of one agent with one model.
#[derive(Debug)]
pub(super) struct Store {
    place: PathBuf,
    stem: String,
    form: Form,
    /// The next run of a folder.
    next: u64,
    /// What is added to a file of lines.
    lines: Option<NamedTempFile>,
    /// Where the new runs lie until they take the place of the old ones.
    staged: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Folder,
    Lines,
}

/// The runs that are there.
#[derive(Debug, Default)]
pub(super) struct Existing {
    /// By identifier, what tells a run from others of the same identifier.
    pub(super) runs: HashMap<String, Digest>,
    pub(super) count: usize,
}

impl Store {
    /// The recordings with a stem in a place; `lines` is the form where there are none yet.
    pub(super) fn open(place: &Path, stem: &str, lines: bool) -> Self {
        let mut store = Self {
            place: place.to_owned(),
            stem: stem.to_owned(),
            form: if lines { Form::Lines } else { Form::Folder },
            next: 1,
            lines: None,
            staged: None,
        };
        if store.line_file().is_file() {
            store.form = Form::Lines;
        } else if store.folder().is_dir() || store.single().is_file() {
            store.form = Form::Folder;
        }
        store
    }

    /// Where the runs are, for people.
    pub(super) fn path(&self) -> PathBuf {
        match self.form {
            Form::Folder => self.folder(),
            Form::Lines => self.line_file(),
        }
    }

    fn single(&self) -> PathBuf {
        self.place.join(format!("{}.json", self.stem))
    }

    fn folder(&self) -> PathBuf {
        self.place.join(&self.stem)
    }

    fn line_file(&self) -> PathBuf {
        self.place.join(format!("{}.jsonl", self.stem))
    }

    /// Reads the runs that are there, one at a time.
    pub(super) fn existing(&self, mut each: impl FnMut(&Value)) -> io::Result<Existing> {
        let mut existing = Existing::default();
        let mut take = |bytes: &[u8]| {
            existing.count += 1;
            let Ok(run) = serde_json::from_slice::<Value>(bytes) else {
                return;
            };
            each(&run);
            if let Some(id) = identity(&run) {
                existing.runs.insert(id, essence(&run));
            }
        };
        if let Ok(file) = fs::File::open(self.line_file()) {
            for line in io::BufReader::new(file).split(b'\n') {
                let line = line?;
                if !line.trim_ascii().is_empty() {
                    take(&line);
                }
            }
        }
        for path in self.run_files()? {
            take(&fs::read(path)?);
        }
        Ok(existing)
    }

    fn run_files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files: Vec<PathBuf> = Vec::from_iter(Some(self.single()).filter(|it| it.is_file()));
        if self.folder().is_dir() {
            for entry in fs::read_dir(self.folder())? {
                let path = entry?.path();
                if path.extension().is_some_and(|it| it == "json") && path.is_file() {
                    files.push(path);
                }
            }
        }
        Ok(files)
    }

    /// Puts the runs that follow in the place of those that are there, at the end.
    pub(super) fn replace(&mut self) -> io::Result<()> {
        let staged = self.place.join(format!(".{}.import", self.stem));
        if staged.exists() {
            fs::remove_dir_all(&staged)?;
        }
        fs::create_dir_all(&staged)?;
        self.staged = Some(staged);
        Ok(())
    }

    /// Adds a run.
    pub(super) fn write(&mut self, run: &Value) -> io::Result<()> {
        match self.form {
            Form::Folder => self.write_file(run),
            Form::Lines => self.write_line(run),
        }
    }

    fn write_file(&mut self, run: &Value) -> io::Result<()> {
        let folder = match &self.staged {
            Some(staged) => staged.clone(),
            None => self.folder(),
        };
        fs::create_dir_all(&folder)?;
        if self.staged.is_none() && self.single().is_file() {
            let first = folder.join("run-1.json");
            if first.exists() {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    format!(
                        "both {} and {} exist",
                        self.single().display(),
                        first.display()
                    ),
                ));
            }
            fs::rename(self.single(), first)?;
        }
        let mut file = NamedTempFile::with_prefix_in(".import-", &folder)?;
        file.write_all(render(run).as_bytes())?;
        readable(&file)?;
        loop {
            let path = folder.join(format!("run-{}.json", self.next));
            self.next += 1;
            if path.exists() {
                continue;
            }
            match file.persist_noclobber(&path) {
                Ok(_) => return Ok(()),
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    file = error.file;
                }
                Err(error) => return Err(error.error),
            }
        }
    }

    fn write_line(&mut self, run: &Value) -> io::Result<()> {
        let path = self.line_file();
        if self.lines.is_none() {
            fs::create_dir_all(&self.place)?;
            let mut file = NamedTempFile::with_prefix_in(".import-", &self.place)?;
            if self.staged.is_none() && path.is_file() {
                let mut old = fs::File::open(&path)?;
                io::copy(&mut old, &mut file)?;
                if !ends_in_line_break(&path)? {
                    file.write_all(b"\n")?;
                }
            }
            readable(&file)?;
            self.lines = Some(file);
        }
        if let Some(file) = &mut self.lines {
            file.write_all(render_line(run).as_bytes())?;
            file.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Puts in place what is not yet.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Some(file) = self.lines.take() {
            file.as_file().sync_all()?;
            file.persist(self.line_file())
                .map_err(|error| error.error)?;
        }
        let Some(staged) = self.staged.take() else {
            return Ok(());
        };
        // Without new runs the old ones stay.
        let is_empty = fs::read_dir(&staged)?.next().is_none();
        if self.form == Form::Lines || is_empty {
            return fs::remove_dir_all(staged);
        }
        let old = self.place.join(format!(".{}.replaced", self.stem));
        if old.exists() {
            fs::remove_dir_all(&old)?;
        }
        if self.folder().exists() {
            fs::rename(self.folder(), &old)?;
        }
        fs::rename(staged, self.folder())?;
        if self.single().is_file() {
            fs::remove_file(self.single())?;
        }
        if old.exists() {
            fs::remove_dir_all(old)?;
        }
        Ok(())
    }
}

/// Temporary files are for their owner alone; recordings are for all who may read the folder.
#[cfg(unix)]
fn readable(file: &NamedTempFile) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.as_file()
        .set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &NamedTempFile) -> io::Result<()> {
    Ok(())
}

fn ends_in_line_break(path: &Path) -> io::Result<bool> {
    use std::io::{Read as _, Seek as _};
    let mut file = fs::File::open(path)?;
    if file.seek(io::SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(io::SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// What a run is told by: the identifier that it had in its source, else itself.
pub(super) fn identity(run: &Value) -> Option<String> {
    match run.get("imported").and_then(|imported| imported.get("id")) {
        Some(id) => Some(id.as_str()?.to_owned()),
        None => Some(super::digest::identifier(run)),
    }
}

/// What makes a run the same run, wherever it was imported from.
pub(super) fn essence(run: &Value) -> Digest {
    let mut run = run.clone();
    if let Some(imported) = run.get_mut("imported").and_then(Value::as_object_mut) {
        imported.remove("file");
        imported.remove("record");
    }
    Digest::of_value(&run)
}
