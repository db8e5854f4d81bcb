//! The files that are read: where their records lie, and a record at a time.
//!
//! Nothing holds a file in memory: an index of places is made in one pass, and records are read at
//! their places when they are wanted.

mod document;
mod lines;
mod literal;
mod names;
mod zip;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use mcptest_session::json::{identifier, list};
use serde_json::Value;

use crate::loss::LossReason;
use crate::wire;

pub(crate) use literal::prefix as script_literal;
pub use mcptest_session::lossless::Change;
pub(crate) use mcptest_session::lossless::{Parsed, parse};
pub use names::{NamedFile, NamedFiles, find_files};
pub(crate) use zip::Archive;

/// The largest record that is read, in bytes: the limit of those who read recordings.
pub(crate) const MAX_RECORD: u64 = mcptest_trace::trace::MAX_BYTES;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// A file that holds runs.
#[derive(Debug)]
pub struct Input {
    /// The path as it was given, for messages.
    pub shown: String,
    pub(crate) path: PathBuf,
    /// What the path is below the folder that was given.
    pub(crate) form: Form,
    /// What stands around the elements of a large document.
    pub(crate) header: Option<Value>,
    /// Where each task stands among the `tasks` of the header, by its identifier.
    tasks: OnceCell<HashMap<String, usize>>,
    file: RefCell<File>,
}

/// How a file holds its records.
#[derive(Debug)]
pub(crate) enum Form {
    /// One a line.
    Lines,
    /// The elements of a list, or of the list under a key of the document, or the document.
    Document { under: Option<&'static str> },
    /// Objects as console exporters print them, each between lines that are a brace.
    Printed,
    /// Entries of a zip archive.
    Zip(Archive),
}

/// Where a record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordPlace {
    /// Which file, counted from 0.
    pub input: u32,
    /// The line or the element, from 1.
    number: u32,
    start: u64,
    length: u32,
}

/// A record that was read.
#[derive(Debug)]
pub struct Record<'i> {
    /// The record.
    pub value: Value,
    /// What was read otherwise than it is written.
    pub changes: Vec<Change>,
    /// The file that it lies in.
    pub input: &'i Input,
    /// Where it lies.
    pub part: RecordPlace,
}

/// What cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Where.
    pub place: String,
    /// The kind, by which reports are counted.
    pub reason: LossReason,
    /// What exactly.
    pub detail: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = mcptest_trace::text::escape_line(&self.place);
        write!(f, "{place}: {}: {}", self.reason, self.detail)
    }
}

impl Error for Unreadable {}

/// The places of one file's records.
#[derive(Debug)]
pub struct Split {
    /// The file.
    pub input: Input,
    /// Where its records lie.
    pub parts: Vec<RecordPlace>,
    /// What of it cannot be read.
    pub unreadable: Vec<Unreadable>,
}

impl Input {
    /// Whether its records are entries of an archive.
    #[must_use]
    pub fn is_archive(&self) -> bool {
        matches!(self.form, Form::Zip(_))
    }

    /// Finds the records of a file.
    pub fn split(named: &NamedFile, index: u32) -> Result<Split, Unreadable> {
        let failed = |error: &io::Error| Unreadable {
            place: named.shown.clone(),
            reason: LossReason::Unreadable,
            detail: error.to_string(),
        };
        let open = || File::open(&named.path);
        let mut file = open().map_err(|error| failed(&error))?;
        let mut head = [0; 4];
        let length = read_up_to(&mut file, &mut head).map_err(|error| failed(&error))?;
        let kind = match &head[..length] {
            [b'P', b'K', 3, 4] => return zip::split(named, index),
            [0x1f, 0x8b, ..] => Some("a gzip file"),
            [0x28, 0xb5, 0x2f, 0xfd] => Some("a zstd file"),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16 text"),
            [b'P', b'A', b'R', b'1'] => Some("a Parquet file"),
            _ => None,
        };
        if let Some(kind) = kind {
            return Err(Unreadable {
                place: named.shown.clone(),
                reason: LossReason::NotJson,
                detail: format!("this is {kind}; give it as JSON in UTF-8"),
            });
        }
        let begin = if head.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        let is_lines = lines::is_lines(&mut file, begin, &named.path);
        let is_printed = lines::is_printed(&mut file, begin);
        let kinds = is_lines.and_then(|is_lines| Ok((is_lines, is_printed?)));
        let found = kinds.and_then(|(is_lines, is_printed)| {
            file.seek(SeekFrom::Start(begin))?;
            Ok(if is_printed {
                let spans = lines::find_printed_records(&mut file, begin)?;
                (Form::Printed, document::Document::from_extents(spans))
            } else if is_lines {
                let spans = lines::find_records(&mut file, begin)?;
                (Form::Lines, document::Document::from_extents(spans))
            } else {
                let document = document::find_records(&mut file, begin)?;
                let under = document.under;
                (Form::Document { under }, document)
            })
        });
        let (form, document) = found.map_err(|error| failed(&error))?;
        let input = Self {
            shown: named.shown.clone(),
            path: named.path.clone(),
            form,
            header: document.header(&mut file),
            tasks: OnceCell::new(),
            file: RefCell::new(file),
        };
        let mut unreadable = Vec::new();
        if let Some(cut) = document.cut {
            unreadable.push(Unreadable {
                place: input.shown.clone(),
                reason: LossReason::Cut,
                detail: format!("the JSON that begins at byte {cut} has no end"),
            });
        }
        let spans = document.spans;
        let mut parts = Vec::with_capacity(spans.len());
        for (number, start, length) in spans {
            let part = RecordPlace {
                input: index,
                number,
                start,
                length: u32::try_from(length).unwrap_or(u32::MAX),
            };
            if length > MAX_RECORD {
                unreadable.push(Unreadable {
                    place: input.location(part),
                    reason: LossReason::TooLarge,
                    detail: format!("a record has {length} bytes; at most {MAX_RECORD} are read"),
                });
            } else {
                parts.push(part);
            }
        }
        Ok(Split {
            input,
            parts,
            unreadable,
        })
    }

    /// A task that the header describes: of several with one identifier the first.
    pub fn task(&self, id: &str) -> Option<&Value> {
        let tasks = list(self.header.as_ref()?, "tasks");
        let places = self.tasks.get_or_init(|| {
            let places = tasks.iter().enumerate().rev();
            let places = places.filter_map(|(at, task)| Some((identifier(task, "id")?, at)));
            places.collect()
        });
        tasks.get(*places.get(id)?)
    }

    /// Whether the file holds a list.
    pub fn is_list(&self) -> bool {
        let mut head = [0; 64];
        let mut file = self.file.borrow_mut();
        let begin = file.seek(SeekFrom::Start(0));
        let length = begin.and_then(|_| read_up_to(&mut file, &mut head));
        let head = &head[..length.unwrap_or_default()];
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        head.trim_ascii_start().starts_with(b"[")
    }

    /// The file's name without folders.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        if self.shown == names::STDIN {
            return "stdin".to_owned();
        }
        name.to_string_lossy().into_owned()
    }

    /// The file's name without folders and extension.
    pub fn stem(&self) -> String {
        let name = self.name();
        match Path::new(&name).file_stem() {
            Some(stem) => stem.to_string_lossy().into_owned(),
            None => name,
        }
    }

    /// A record's place, as messages show it.
    pub fn location(&self, part: RecordPlace) -> String {
        let shown = mcptest_trace::text::escape_line(&self.shown);
        match &self.form {
            Form::Document { under: Some(key) } => format!("{shown}:/{key}/{}", part.number - 1),
            Form::Lines | Form::Printed | Form::Document { under: None } => {
                format!("{shown}:{}", part.number)
            }
            Form::Zip(archive) => {
                let entry = mcptest_trace::text::escape_line(archive.name(part.number));
                format!("{shown}:{entry}")
            }
        }
    }

    /// The bytes of a record.
    pub(crate) fn read_bytes(&self, part: RecordPlace) -> io::Result<Vec<u8>> {
        if let Form::Zip(archive) = &self.form {
            return archive.read(part.number);
        }
        let mut file = self.file.borrow_mut();
        let mut bytes = vec![0; part.length as usize];
        file.seek(SeekFrom::Start(part.start))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a record.
    pub fn read(&self, part: RecordPlace) -> Result<Record<'_>, Unreadable> {
        let refuse = |reason, detail| Unreadable {
            place: self.location(part),
            reason,
            detail,
        };
        let what = match self.form {
            Form::Zip(_) => LossReason::NotUnpacked,
            _ => LossReason::Unreadable,
        };
        let bytes = self
            .read_bytes(part)
            .map_err(|error| refuse(what, error.to_string()))?;
        let parsed = match self.form {
            // Python prints JSON.
            Form::Printed => parse(&bytes).or_else(|_| {
                let text = String::from_utf8_lossy(&bytes);
                let refuse = |error| {
                    refuse(
                        LossReason::NotJson,
                        format!("nor what JavaScript prints: {error}"),
                    )
                };
                literal::parse(&text).map_err(refuse)
            }),
            _ => parse(&bytes).map_err(|error| {
                let reason = if error.is_eof() {
                    LossReason::Cut
                } else {
                    LossReason::NotJson
                };
                refuse(reason, error.to_string())
            }),
        };
        let Parsed { mut value, changes } = parsed?;
        wire::read(&mut value)
            .map_err(|error| refuse(LossReason::StreamWithoutAnswer, error.to_string()))?;
        Ok(Record {
            value,
            changes,
            input: self,
            part,
        })
    }
}

impl RecordPlace {
    #[cfg(test)]
    pub(crate) fn new(number: u32, length: u32) -> Self {
        Self {
            input: 0,
            number,
            start: 0,
            length,
        }
    }

    /// The line or the element, from 1; of an archive, the entry, from 0.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many bytes the record has.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.length.into()
    }
}

impl Record<'_> {
    /// The line or the element, from 1.
    #[must_use]
    pub fn number(&self) -> u32 {
        match self.input.form {
            Form::Zip(_) => self.part.number + 1,
            _ => self.part.number,
        }
    }

    /// The file and the place in it, as messages say it.
    #[must_use]
    pub fn location(&self) -> String {
        self.input.location(self.part)
    }
}

/// Looks at every byte from a place on, with its offset, and returns where the file ends.
fn each_byte(file: &mut File, begin: u64, mut look: impl FnMut(u8, u64)) -> io::Result<u64> {
    let mut buffer = vec![0; CHUNK];
    let mut offset = begin;
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            return Ok(offset);
        }
        for byte in &buffer[..length] {
            look(*byte, offset);
            offset += 1;
        }
    }
}

/// Fills as much of the buffer as there is.
fn read_up_to(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..])? {
            0 => break,
            read => length += read,
        }
    }
    Ok(length)
}
