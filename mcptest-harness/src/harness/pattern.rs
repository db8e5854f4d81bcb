//! Paths of `cassette:` that stand for several names.

use std::path::{Component, Path, PathBuf};

/// Why a pattern is not looked for: it would walk more than the crate's recordings.
pub(super) fn unbounded(pattern: &str, suite_dir: &Path, crate_dir: &Path) -> Option<&'static str> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let first = parts.iter().position(|part| is_pattern(part))?;
    if parts[first..].contains(&"..") {
        return Some("has `..` behind a pattern");
    }
    let base = without_detours(&suite_dir.join(parts[..first].join("/")));
    let top = without_detours(crate_dir);
    let anywhere = parts[first..].iter().any(|part| part.contains("**"));
    if anywhere && base == top {
        return Some("would search the whole crate, with its build folder");
    }
    let outside = !base.starts_with(&top);
    (outside && (anywhere || first + 1 < parts.len()))
        .then_some("would search folders outside the crate")
}

/// A path without `.` and without `folder/..`, for people; links are not followed.
pub(crate) fn without_detours(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        let leaves = part == Component::ParentDir
            && matches!(plain.components().next_back(), Some(Component::Normal(_)));
        if leaves {
            plain.pop();
        } else if part != Component::CurDir {
            plain.push(part);
        }
    }
    plain
}

/// Whether a path, or a part of one, stands for several names.
pub(super) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}
