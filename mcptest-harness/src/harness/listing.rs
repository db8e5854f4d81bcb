//! Files that may be recordings, in the order that people number them.

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn is_cassette(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("json" | "jsonl"))
}

/// The one file of a run, if it is there.
pub(super) fn list_file(path: &Path) -> Listing {
    Listing {
        runs: path
            .is_file()
            .then(|| path.to_owned())
            .into_iter()
            .collect(),
        near: Vec::new(),
    }
}

/// The files in a folder of runs, `run-2` before `run-10`.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The `.json` files.
    pub(super) runs: Vec<PathBuf>,
    /// What looks like a run without being one: a folder, or a file with `.json` in its name that is not
    /// where a run's is.
    pub(super) near: Vec<PathBuf>,
}

/// Lists a folder; nothing is in one that is not there.
pub(super) fn list_folder(path: &Path) -> Listing {
    let mut found = Listing::default();
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if name.starts_with('.') {
            continue;
        }
        // The kind stands in the listing, but for what a link leads to.
        let kind = match entry.file_type() {
            Ok(kind) if !kind.is_symlink() => Some(kind),
            _ => fs::metadata(&path)
                .map(|followed| followed.file_type())
                .ok(),
        };
        let named = path
            .extension()
            .is_some_and(|extension| extension == "json");
        if named && kind.is_some_and(|kind| kind.is_file()) {
            found.runs.push(path);
        } else if !named && name.contains(".json") || kind.is_some_and(|kind| kind.is_dir()) {
            found.near.push(path);
        }
    }
    for files in [&mut found.runs, &mut found.near] {
        files.sort_by(|left, right| natural_order(left, right));
    }
    found
}

/// Compares paths with runs of digits taken as numbers; equal numbers by the bytes. Different paths are never equal, so
/// that the order in which a file system lists them says nothing.
pub(super) fn natural_order(left: &Path, right: &Path) -> Ordering {
    let (a, b) = (left.to_string_lossy(), right.to_string_lossy());
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let digits = |bytes: &[u8]| {
            bytes
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count()
        };
        let (number_a, number_b) = (digits(a), digits(b));
        let (head_a, head_b) = (number_a.max(1).min(a.len()), number_b.max(1).min(b.len()));
        let ordering = if number_a > 0 && number_b > 0 {
            let strip = |bytes: &[u8]| bytes.iter().take_while(|byte| **byte == b'0').count();
            let (value_a, value_b) = (
                &a[strip(&a[..head_a])..head_a],
                &b[strip(&b[..head_b])..head_b],
            );
            value_a
                .len()
                .cmp(&value_b.len())
                .then_with(|| value_a.cmp(value_b))
        } else {
            a[..head_a].cmp(&b[..head_b])
        };
        if ordering != Ordering::Equal || a.is_empty() {
            return ordering.then_with(|| left.as_os_str().cmp(right.as_os_str()));
        }
        (a, b) = (&a[head_a..], &b[head_b..]);
    }
}
