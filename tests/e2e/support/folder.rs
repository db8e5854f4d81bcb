//! Folders made from strings.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder, removed when dropped.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let named = tempfile::Builder::new().prefix("mcptest-e2e-").tempdir();
        Self(named.expect("a temporary folder"))
    }

    /// The same below a folder that is there.
    pub(crate) fn below(folder: &Path) -> Self {
        let named = tempfile::Builder::new()
            .prefix("mcptest-e2e-")
            .tempdir_in(folder);
        Self(named.expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    /// Writes a file and the folders above it.
    pub(crate) fn with(self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.write(path, bytes);
        self
    }

    /// Writes a recorded run as a recorder would.
    pub(crate) fn with_run(self, path: &str, run: &Value) -> Self {
        self.with(path, format!("{run:#}\n"))
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        write(&self.at(path), bytes.as_ref());
    }
}

/// Writes a file and the folders above it, unless it holds these bytes already: cargo rebuilds by
/// modification time.
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return;
    }
    fs::create_dir_all(path.parent().expect("a file has a folder")).unwrap();
    fs::write(path, bytes).unwrap();
}
