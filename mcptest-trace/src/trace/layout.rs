//! How an agent's runs lie in files.

use std::path::{Path, PathBuf};

/// How the runs of an agent lie in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// One run in one file.
    Single(PathBuf),
    /// One file a run in a folder.
    Folder(PathBuf),
    /// One run a line of a file.
    Lines(PathBuf),
}

impl Layout {
    /// The file or folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Single(path) | Self::Folder(path) | Self::Lines(path) => path,
        }
    }
}
