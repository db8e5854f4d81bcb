//! Files of one record a line.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::{each_byte, names, parse};

/// A record: its number from 1, where it begins, and its bytes.
pub(super) type Extent = (u32, u64, u64);

/// How many lines are looked at to see whether a file is one of lines.
const LOOKED_AT: usize = 50;

/// How many bytes of them.
const LOOKED_AT_BYTES: u64 = 8 << 20;

/// Whether a file holds one JSON value a line, and not one over many lines.
pub(super) fn is_lines(file: &mut File, begin: u64, path: &Path) -> io::Result<bool> {
    file.seek(SeekFrom::Start(begin))?;
    let mut head = Vec::new();
    file.take(LOOKED_AT_BYTES).read_to_end(&mut head)?;
    let named = names::ends_in(path, &["jsonl", "ndjson"]);
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.filter(|line| !line.is_empty());
    let lines: Vec<&[u8]> = lines.take(LOOKED_AT).collect();
    let whole = |line: &&&[u8]| {
        let opens = matches!(line.first(), Some(b'{' | b'['));
        opens && line.len() > 2 && parse(line).is_ok()
    };
    let wholes = lines.iter().filter(whole).count();
    let first = lines.first().is_some_and(|first| whole(&first));
    // JSON over many lines begins with a bracket that stands alone.
    let opened = matches!(lines.first(), Some(&(b"{" | b"[")));
    Ok(match lines.len() {
        // One may be longer than what was looked at.
        0 | 1 => named,
        _ => first || !opened && (wholes >= 2 || named && wholes > 0),
    })
}

/// The lines that are not blank.
pub(super) fn find_records(file: &mut File, begin: u64) -> io::Result<Vec<Extent>> {
    let mut spans = Vec::new();
    let mut number = 1_u32;
    // The first and the last byte of the line that are no white space.
    let mut filled: Option<(u64, u64)> = None;
    let span = |number, (first, last): (u64, u64)| (number, first, last - first + 1);
    each_byte(file, begin, |byte, offset| {
        if byte == b'\n' {
            spans.extend(filled.take().map(|filled| span(number, filled)));
            number = number.saturating_add(1);
        } else if !byte.is_ascii_whitespace() {
            filled = Some((filled.map_or(offset, |(first, _)| first), offset));
        }
    })?;
    spans.extend(filled.map(|filled| span(number, filled)));
    Ok(spans)
}

/// How many bytes are looked at to see whether JavaScript printed a file.
const LOOKED_AT_PRINTED: u64 = 1 << 20;

/// Whether a console exporter printed objects into a file: a brace alone on its line, and on the next a bare
/// key, as JavaScript prints, or the keys with which a span of Python begins.
pub(super) fn is_printed(file: &mut File, begin: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(begin))?;
    let mut head = Vec::new();
    file.take(LOOKED_AT_PRINTED).read_to_end(&mut head)?;
    let lines = head.split(|byte| *byte == b'\n');
    let lines: Vec<&[u8]> = lines.map(<[u8]>::trim_ascii_end).collect();
    let is_key = |line: &[u8]| {
        let key = line.strip_prefix(b"  ").unwrap_or_default();
        let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let letters = key.iter().take_while(is_of_name).count();
        letters > 0 && key[letters..].starts_with(b":")
    };
    let is_python = |name: &[u8], context: &[u8]| {
        name.starts_with(b"    \"name\": ") && context == b"    \"context\": {"
    };
    let mut places = lines.windows(3);
    Ok(places.any(|lines| lines[0] == b"{" && (is_key(lines[1]) || is_python(lines[1], lines[2]))))
}

/// The objects that were printed: what stands between is the program's.
pub(super) fn find_printed_records(file: &mut File, begin: u64) -> io::Result<Vec<Extent>> {
    let mut spans = Vec::new();
    let (mut number, mut line_begin) = (1_u32, begin);
    // Only of lines of one letter is it to be known which one it is.
    let mut line: (u64, u8) = (0, b' ');
    let mut open: Option<(u32, u64)> = None;
    let mut line_ends = |line: (u64, u8), number: u32, from: u64, to: u64| match line {
        (1, b'{') => open = Some((number, from)),
        (1, b'}') => spans.extend(open.take().map(|(number, from)| (number, from, to - from))),
        _ => {}
    };
    let end = each_byte(file, begin, |byte, offset| match byte {
        b'\n' => {
            line_ends(line, number, line_begin, offset);
            number = number.saturating_add(1);
            line_begin = offset + 1;
            line = (0, b' ');
        }
        b'\r' => {}
        other => line = (line.0 + 1, other),
    })?;
    line_ends(line, number, line_begin, end);
    Ok(spans)
}
