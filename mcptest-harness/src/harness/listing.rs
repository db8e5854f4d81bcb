//! Files that may be recordings, in the order that people number them.

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn is_cassette(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("json" | "jsonl"))
}

pub(super) fn file(path: &Path) -> Vec<PathBuf> {
    path.is_file()
        .then(|| path.to_owned())
        .into_iter()
        .collect()
}

/// The `.json` files of a folder, `run-2` before `run-10`.
pub(super) fn folder(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let visible = entries.filter_map(|entry| {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        let named = path
            .extension()
            .is_some_and(|extension| extension == "json");
        // The kind stands in the listing, but for what a link leads to.
        let is_file = || match entry.file_type() {
            Ok(kind) if !kind.is_symlink() => kind.is_file(),
            _ => path.is_file(),
        };
        (!hidden && named && is_file()).then_some(path)
    });
    let mut files: Vec<PathBuf> = visible.collect();
    files.sort_by(|left, right| natural(left, right));
    files
}

/// Compares paths with runs of digits taken as numbers; equal numbers by the bytes.
pub(super) fn natural(left: &Path, right: &Path) -> Ordering {
    let (left, right) = (left.to_string_lossy(), right.to_string_lossy());
    let (mut a, mut b) = (left.as_bytes(), right.as_bytes());
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
            return ordering.then_with(|| left.cmp(&right));
        }
        (a, b) = (&a[head_a..], &b[head_b..]);
    }
}
