//! The calls that change something on disk, one function each, so that a test can stop before any.

use std::fs::{self, File};
use std::io::{Result, Write};
use std::path::Path;

pub(super) fn create_new(path: &Path) -> Result<File> {
    #[cfg(test)]
    stop::step()?;
    File::options().write(true).create_new(true).open(path)
}

pub(super) fn write(file: &mut File, bytes: &[u8]) -> Result<()> {
    #[cfg(test)]
    if let Err(error) = stop::step() {
        // What a killed process or a full disk leaves behind.
        file.write_all(&bytes[..bytes.len() / 2])?;
        return Err(error);
    }
    file.write_all(bytes)
}

pub(super) fn sync(file: &File) -> Result<()> {
    #[cfg(test)]
    if stop::step().map(|()| stop::unsynced())? {
        return Ok(());
    }
    file.sync_all()
}

pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    #[cfg(test)]
    stop::step()?;
    fs::rename(from, to)
}

/// Gives a file a second name, which must be free.
pub(super) fn link(from: &Path, to: &Path) -> Result<()> {
    #[cfg(test)]
    stop::step()?;
    fs::hard_link(from, to)
}

pub(super) fn remove_file(path: &Path) -> Result<()> {
    #[cfg(test)]
    stop::step()?;
    fs::remove_file(path)
}

pub(super) fn create_folder(path: &Path) -> Result<()> {
    #[cfg(test)]
    stop::step()?;
    fs::create_dir(path)
}

pub(super) fn remove_folder(path: &Path) -> Result<()> {
    #[cfg(test)]
    stop::step()?;
    fs::remove_dir(path)
}

/// Makes the names in a folder last through a power failure, where the system can.
///
/// Not an error: by now the names are changed, and some file systems refuse this for folders.
pub(super) fn sync_folder(path: &Path) {
    #[cfg(test)]
    if stop::step().is_err() || stop::unsynced() {
        return;
    }
    #[cfg(unix)]
    if let Ok(folder) = File::open(path) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = path;
}

#[cfg(test)]
pub(super) mod stop {
    //! Stops this thread's changes, as a kill or as one error would.

    use std::cell::Cell;
    use std::io::{Error, ErrorKind, Result};

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in super::super) enum Stop {
        Never,
        /// This many steps are done, and none after them.
        Killed(usize),
        /// This many steps are done, one fails, and the others are done.
        Fails(usize, ErrorKind),
    }

    thread_local! {
        static STOP: Cell<Stop> = const { Cell::new(Stop::Never) };
        static UNSYNCED: Cell<bool> = const { Cell::new(false) };
    }

    /// Runs something without waiting for the disk, which only a power failure would show.
    pub(in super::super) fn without_sync<T>(run: impl FnOnce() -> T) -> T {
        UNSYNCED.set(true);
        let result = run();
        UNSYNCED.set(false);
        result
    }

    pub(super) fn unsynced() -> bool {
        UNSYNCED.get()
    }

    /// Runs something, and says whether it was stopped.
    pub(in super::super) fn with<T>(stop: Stop, run: impl FnOnce() -> T) -> (T, bool) {
        STOP.set(stop);
        let result = run();
        let left = STOP.replace(Stop::Never);
        (result, left == Stop::Never || left == Stop::Killed(0))
    }

    pub(super) fn step() -> Result<()> {
        match STOP.get() {
            Stop::Never => Ok(()),
            Stop::Killed(0) => Err(Error::other("killed")),
            Stop::Killed(left) => {
                STOP.set(Stop::Killed(left - 1));
                Ok(())
            }
            Stop::Fails(0, kind) => {
                STOP.set(Stop::Never);
                Err(kind.into())
            }
            Stop::Fails(left, kind) => {
                STOP.set(Stop::Fails(left - 1, kind));
                Ok(())
            }
        }
    }
}
