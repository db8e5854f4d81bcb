//! Files that are there whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::error::StoreError;
use super::steps;

/// How old a temporary file is when the process that wrote it is taken to be gone.
const LEFT_OVER: Duration = Duration::from_hours(1);

/// The most bytes of a name that its temporary file repeats; systems allow 255 in all.
const NAME: usize = 180;

/// Replaces or creates a file: at every instant it is the old one or the new one, whole.
///
/// An error leaves the old file as it was and no temporary file behind.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let temporary = Temporary::with_bytes(path, bytes)?;
    temporary.replace(path)?;
    steps::sync_folder(parent(path));
    Ok(())
}

/// Creates a file, whole. `false`, and nothing is changed, when something has that name.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<bool, StoreError> {
    remove_left_over(parent(path));
    let written = write_new_unsynced(path, bytes)?;
    steps::sync_folder(parent(path));
    Ok(written)
}

/// Creates one of many files, whole. `false`, and nothing is changed, when something has that name. The caller
/// removes what killed processes left in the folder before, and syncs the folder after the last file.
pub(super) fn write_new_unsynced(path: &Path, bytes: &[u8]) -> Result<bool, StoreError> {
    let temporary = Temporary::new(path, bytes)?;
    match steps::link(&temporary.path, path) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        // A file system without second names; the lock keeps other recorders out.
        Err(_) if exists(path) => return Ok(false),
        Err(_) => temporary.replace(path)?,
    }
    Ok(true)
}

/// Finds out whether files can be written to a folder that may not exist yet, by writing one to it
/// or to the folder above and removing it.
pub(super) fn try_writing(folder: &Path) -> Result<(), StoreError> {
    let mut folder = folder;
    while !exists(folder) && parent(folder) != folder {
        folder = parent(folder);
    }
    if !folder.is_dir() {
        return Err(StoreError::file_in_the_way(folder));
    }
    let tried = Temporary::with_bytes(&folder.join("try"), b"\n");
    tried.map(drop).map_err(|error| error.for_folder(folder))
}

/// Makes a folder and those above it.
pub(super) fn make_folder(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Ok(());
    }
    let above = parent(path);
    if above != path {
        make_folder(above)?;
    }
    match steps::create_folder(path) {
        Ok(()) => {
            steps::sync_folder(above);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let made_meanwhile = path.is_dir().then_some(());
            made_meanwhile.ok_or_else(|| StoreError::file_in_the_way(path))
        }
        Err(error) => Err(StoreError::from_write_error(path, "created", error)),
    }
}

/// Renames a file; what has the new name is replaced.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    if to.is_dir() {
        return Err(StoreError::folder_in_the_way(to));
    }
    steps::rename(from, to).map_err(|error| StoreError::from_write_error(to, "written", error))
}

/// Moves a file, also to a folder that lies on another disk; what has the new name is replaced.
pub(super) fn move_file(from: &Path, to: &Path) -> Result<(), StoreError> {
    match rename(from, to) {
        Err(error) if error.kind() == Some(ErrorKind::CrossesDevices) => {
            write_atomically(to, &read(from)?.unwrap_or_default())?;
            remove(from)
        }
        result => result,
    }
}

/// Removes a file that may be gone already.
pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    match steps::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(StoreError::from_write_error(path, "removed", error))
        }
        _ => Ok(()),
    }
}

/// A file's bytes, or none when there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(read_error(path, error)),
    }
}

pub(super) fn read_error(path: &Path, source: std::io::Error) -> StoreError {
    StoreError::failed(path, "read", source)
}

/// Whether anything has that name, a dangling link too.
pub(super) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The folder a path lies in.
pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

/// A file that grows under a hidden name and takes the place of the old one when it is whole.
#[derive(Debug)]
pub(super) struct GrowingFile {
    path: PathBuf,
    temporary: Temporary,
    file: File,
}

impl GrowingFile {
    /// Starts the new file as a copy of the old one, where there is one.
    pub(super) fn from_existing(path: &Path) -> Result<Self, StoreError> {
        remove_left_over(parent(path));
        let (temporary, mut file) = Temporary::create(path)?;
        match File::open(path) {
            Ok(mut old) => {
                let copied = io::copy(&mut old, &mut file)
                    .and_then(|length| Ok(length > 0 && !ends_in_line_break(&mut old)?))
                    .and_then(|open| if open { file.write_all(b"\n") } else { Ok(()) });
                copied.map_err(|error| StoreError::from_write_error(path, "written", error))?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(read_error(path, error)),
        }
        let path = path.to_owned();
        Ok(Self {
            path,
            temporary,
            file,
        })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let written = steps::write(&mut self.file, bytes);
        written.map_err(|error| StoreError::from_write_error(&self.path, "written", error))
    }

    pub(super) fn finish(self) -> Result<(), StoreError> {
        let synced = steps::sync(&self.file);
        synced.map_err(|error| StoreError::from_write_error(&self.path, "written", error))?;
        drop(self.file);
        self.temporary.replace(&self.path)?;
        steps::sync_folder(parent(&self.path));
        Ok(())
    }
}

fn ends_in_line_break(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// A whole file under a hidden name, removed unless it takes the place of another.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    moved: bool,
}

impl Temporary {
    /// A temporary file in the folder of `path`, written and synced.
    fn with_bytes(path: &Path, bytes: &[u8]) -> Result<Self, StoreError> {
        remove_left_over(parent(path));
        Self::new(path, bytes)
    }

    fn new(path: &Path, bytes: &[u8]) -> Result<Self, StoreError> {
        let (temporary, mut file) = Self::create(path)?;
        let written = steps::write(&mut file, bytes).and_then(|()| steps::sync(&file));
        // Windows removes no open file.
        drop(file);
        written.map_err(|error| StoreError::from_write_error(path, "written", error))?;
        Ok(temporary)
    }

    /// An empty one.
    fn create(path: &Path) -> Result<(Self, File), StoreError> {
        static COUNTER: AtomicUsize = AtomicUsize::new(0);
        let failed = |error| StoreError::from_write_error(path, "written", error);
        let Some(name) = path.file_name() else {
            return Err(StoreError::no_name(path));
        };
        let folder = parent(path);
        let (temporary, file) = loop {
            let counter = COUNTER.fetch_add(1, Ordering::Relaxed);
            let temporary = folder.join(temporary_name(name, counter));
            match steps::create_new(&temporary) {
                Ok(file) => break (temporary, file),
                // A dead process had the same number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
        };
        let temporary = Self {
            path: temporary,
            moved: false,
        };
        Ok((temporary, file))
    }

    fn replace(mut self, path: &Path) -> Result<(), StoreError> {
        rename(&self.path, path)?;
        self.moved = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.moved {
            let _ = steps::remove_file(&self.path);
        }
    }
}

/// `.{name}.{pid}-{counter}.tmp`
fn temporary_name(name: &OsStr, counter: usize) -> String {
    let name = name.to_string_lossy();
    let name = &name[..name.floor_char_boundary(NAME)];
    format!(".{name}.{}-{counter}.tmp", process::id())
}

/// Whether a name is one that [`temporary_name`] makes.
pub(super) fn is_temporary(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let inner = name
        .strip_prefix('.')
        .and_then(|rest| rest.strip_suffix(".tmp"));
    let Some((stem, numbers)) = inner.and_then(|inner| inner.rsplit_once('.')) else {
        return false;
    };
    let numbers = numbers.split_once('-');
    !stem.is_empty() && numbers.is_some_and(|(pid, counter)| number(pid) && number(counter))
}

/// Removes what killed processes left in a folder. Nothing depends on it, so errors are nothing.
fn remove_left_over(folder: &Path) {
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_temporary)) {
        // Of the entry itself: a link is never followed.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let age = metadata
            .modified()
            .ok()
            .and_then(|time| time.elapsed().ok());
        if metadata.is_file() && age.is_some_and(|age| age > LEFT_OVER) {
            let _ = steps::remove_file(&entry.path());
        }
    }
}
