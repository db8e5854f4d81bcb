//! One recorder at a time for the runs of one agent.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Error, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Component, Path, PathBuf};

use super::disk::{self, parent};
use super::error::StoreError;
use super::{Layout, fnv1a64, layout_stem};

/// Held by one process, and in it by one owner, until it is dropped or the process ends.
///
/// Readers need no lock: files are replaced whole.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Waits for the lock on the runs of a layout, which need not exist yet. The three layouts of
    /// the same agent and place are the same lock. `waiting` is called once when another holds it.
    pub fn acquire(layout: &Layout, waiting: impl FnOnce()) -> Result<Self, StoreError> {
        Self::acquire_in(&std::env::temp_dir(), layout, waiting)
    }

    /// Waits for the lock on the runs of a layout. The lock files are below the folder `temporary`.
    pub(super) fn acquire_in(
        temporary: &Path,
        layout: &Layout,
        waiting: impl FnOnce(),
    ) -> Result<Self, StoreError> {
        let (file, path) = open(temporary, &file_name(layout)?)?;
        let failed = |source| StoreError::failed(&path, "locked", source);
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                waiting();
                loop {
                    match file.lock() {
                        Ok(()) => break,
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(error) => return Err(failed(error)),
                    }
                }
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        Ok(Self { file, path })
    }

    /// The text that was written last, by this process or one before it. None also when a process
    /// was killed while it wrote.
    pub fn read_note(&mut self) -> Result<Option<String>, StoreError> {
        let mut text = Vec::new();
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.read_to_end(&mut text))
            .map_err(|source| disk::read_error(&self.path, source))?;
        let text = String::from_utf8(text).unwrap_or_default();
        let whole = text.split_once('\n').filter(|(sum, note)| {
            // Cut or mixed with an older one, the sum is another.
            *sum == format!("{:016x}", fnv1a64(note.as_bytes()))
        });
        Ok(whole.map(|(_, note)| note.to_owned()))
    }

    /// Leaves a small text for whoever holds the lock next.
    pub fn write_note(&mut self, note: &str) -> Result<(), StoreError> {
        let text = format!("{:016x}\n{note}", fnv1a64(note.as_bytes()));
        let length = text.len() as u64;
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.write_all(text.as_bytes()))
            .and_then(|()| self.file.set_len(length))
            .map_err(|error| StoreError::from_write_error(&self.path, "written", error))
    }
}

/// The lock file's name: the place and the stem, however the path to them is spelt.
fn file_name(layout: &Layout) -> Result<String, StoreError> {
    let stem = layout_stem(layout)?;
    let mut key = resolve_path(parent(layout.path()))
        .into_os_string()
        .into_encoded_bytes();
    // No path holds a null.
    key.push(0);
    key.extend_from_slice(stem.as_encoded_bytes());
    Ok(format!("{:016x}.lock", fnv1a64(&key)))
}

/// A path with links and `..` resolved, also where its last folders do not exist yet.
fn resolve_path(path: &Path) -> PathBuf {
    let mut absolute = PathBuf::new();
    for part in std::path::absolute(path)
        .unwrap_or_else(|_| path.to_owned())
        .components()
    {
        match part {
            Component::ParentDir => {
                // `link/..` is the folder above what the link points to.
                absolute = absolute.canonicalize().unwrap_or(absolute);
                absolute.pop();
            }
            part => absolute.push(part),
        }
    }
    let mut missing: Vec<OsString> = Vec::new();
    let mut existing = absolute.clone();
    loop {
        if let Ok(found) = existing.canonicalize() {
            return missing
                .iter()
                .rev()
                .fold(found, |path, name| path.join(name));
        }
        match existing.file_name() {
            Some(name) => missing.push(name.to_owned()),
            None => return absolute,
        }
        existing.pop();
    }
}

/// Opens a lock file in the first folder that can be used: where users share a folder for
/// temporary files, the first one's folder is closed to the others, and each has one of its own.
fn open(temporary: &Path, name: &str) -> Result<(File, PathBuf), StoreError> {
    let user = ["USER", "LOGNAME", "USERNAME", "HOME"]
        .into_iter()
        .find_map(std::env::var_os)
        .unwrap_or_default();
    let own = format!("mcptest-locks-{:016x}", fnv1a64(user.as_encoded_bytes()));
    let mut last = None;
    for folder in ["mcptest-locks", &own].map(|folder| temporary.join(folder)) {
        let path = folder.join(name);
        match make_private_folder(&folder).and_then(|()| open_file(&path)) {
            Ok(file) => return Ok((file, path)),
            Err(error) => last = Some((folder, error)),
        }
    }
    let (path, source) = last.unwrap_or_else(|| (temporary.to_owned(), ErrorKind::NotFound.into()));
    Err(StoreError::no_lock(&path, source))
}

/// Makes the folder. One that others may write to is refused: they could lead a write elsewhere.
fn make_private_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::DirBuilderExt;
        let mut builder = fs::DirBuilder::new();
        builder.mode(0o700);
        builder
    };
    #[cfg(not(unix))]
    let builder = fs::DirBuilder::new();
    match builder.create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let metadata = folder.symlink_metadata()?;
    if !metadata.is_dir() {
        return Err(Error::other("it is no folder"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if metadata.permissions().mode() & 0o022 != 0 {
            return Err(Error::other("other users may write to it"));
        }
    }
    Ok(())
}

fn open_file(path: &Path) -> io::Result<File> {
    if path
        .symlink_metadata()
        .is_ok_and(|metadata| !metadata.is_file())
    {
        return Err(Error::other("the lock file is no file"));
    }
    // Not emptied: the note in it lasts.
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}
