//! Folders made from strings.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder, removed when dropped.
pub struct Folder(TempDir);

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Folder {
    /// Makes a folder in the place for temporary folders.
    pub fn new() -> Self {
        Self::new_below(&std::env::temp_dir())
    }

    /// Makes a temporary folder below a folder that exists.
    pub fn new_below(folder: &Path) -> Self {
        let named = tempfile::Builder::new()
            .prefix("mcptest-e2e-")
            .tempdir_in(folder);
        Self(named.expect("a temporary folder"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The place of a file in it.
    pub fn at(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    /// Writes a file and the folders above it, and returns the folder.
    pub fn with_file(self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.write(path, bytes);
        self
    }

    /// Writes a recorded run as a recorder would.
    pub fn with_run(self, path: &str, run: &Value) -> Self {
        // One order, whatever order `serde_json` was built to keep.
        let mut run = run.clone();
        run.sort_all_objects();
        self.with_file(path, format!("{run:#}\n"))
    }

    /// Writes a file and the folders above it.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        write(&self.at(path), bytes.as_ref());
    }
}

/// Writes a file and the folders above it, unless it holds these bytes already: cargo rebuilds by
/// modification time.
pub fn write(path: &Path, bytes: &[u8]) {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return;
    }
    fs::create_dir_all(path.parent().expect("a file has a folder")).unwrap();
    fs::write(path, bytes).unwrap();
}

/// The files below a folder, by their paths in it.
pub fn collect(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    collect_below(folder, folder, &mut files);
    files
}

fn collect_below(top: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_below(top, &path, files);
        } else if let Ok(bytes) = fs::read(&path) {
            let name = path.strip_prefix(top).unwrap().to_string_lossy();
            files.insert(name.replace('\\', "/"), bytes);
        }
    }
}
