//! Paths from one folder to another.

use std::path::{Path, PathBuf};

/// The path from one folder to another one, both of which are absolute or start at one place.
pub(super) fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = to.components().zip(from.components());
    let shared = shared.take_while(|(left, right)| left == right).count();
    let up = from.components().skip(shared).map(|_| Path::new(".."));
    let down = to
        .components()
        .skip(shared)
        .map(|part| Path::new(part.as_os_str()));
    let path: PathBuf = up.chain(down).collect();
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path
    }
}
