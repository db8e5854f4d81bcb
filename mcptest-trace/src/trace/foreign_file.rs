//! Files that are no recording at all: what they are instead.

use serde::de::IgnoredAny;

/// Says what a text is that cannot be parsed as JSON, and what to do about it.
pub(super) fn diagnose(bytes: &[u8]) -> Option<(String, &'static str)> {
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    let told = if begins(b"version https://git-lfs.github.com/spec/") {
        (
            "is a git-LFS pointer and not the recording itself".to_owned(),
            "fetch the file with `git lfs pull`",
        )
    } else if is_utf16(bytes) {
        (
            "is UTF-16 text, and JSON is UTF-8".to_owned(),
            "save the file as UTF-8",
        )
    } else if begins(b"\x1f\x8b") || begins(b"PK\x03\x04") || begins(b"\x28\xb5\x2f\xfd") {
        (
            "is a compressed file".to_owned(),
            "unpack it, and put the JSON that is in it here",
        )
    } else if bytes.contains(&0) {
        (
            "is binary and not text".to_owned(),
            "check that the file is a cassette and not something else",
        )
    } else {
        let line = conflict(bytes)?;
        (
            format!("holds the marks of a merge conflict (line {line})"),
            "resolve the conflict: keep one of the two recordings whole, or record the run again",
        )
    };
    Some(told)
}

/// A mark of byte order, or a zero in every second byte.
fn is_utf16(bytes: &[u8]) -> bool {
    let zeros = |first: usize| {
        let mut every_second = bytes.iter().skip(first).step_by(2).take(8);
        bytes.len() >= 4 && every_second.all(|byte| *byte == 0)
    };
    bytes.starts_with(b"\xff\xfe")
        || bytes.starts_with(b"\xfe\xff")
        || (zeros(0) != zeros(1) && bytes.iter().take(16).any(|byte| *byte != 0))
}

/// The first line that is a mark of a merge conflict.
fn conflict(bytes: &[u8]) -> Option<usize> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let marked = |line: &[u8]| {
        let marks: [&[u8]; 3] = [b"<<<<<<< ", b">>>>>>> ", b"||||||| "];
        marks.iter().any(|mark| line.starts_with(mark))
    };
    lines.position(marked).map(|line| line + 1)
}

/// How many JSON values a text holds one after another; `None` for a text that holds anything else.
pub(super) fn count_values(bytes: &[u8]) -> Option<usize> {
    let stream = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    stream
        .collect::<Result<Vec<_>, _>>()
        .ok()
        .map(|values| values.len())
}
