//! Zip archives: their entries, one at a time.
//!
//! Entries are deflated, or compressed by zstd in one or several frames; both are read by Rust alone.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::{Form, Input, MAX_RECORD, Named, Part, Split, Unreadable};

/// The most bytes that are looked through for the end of an archive.
const TAIL: u64 = 66_000;

const END: [u8; 4] = *b"PK\x05\x06";
const END_64: [u8; 4] = *b"PK\x06\x06";
const ENTRY: [u8; 4] = *b"PK\x01\x02";

/// An archive's entries, in the byte order of their names.
#[derive(Debug)]
pub(in crate::import) struct Archive {
    entries: Vec<Entry>,
    file: RefCell<File>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    method: u16,
    /// Where its own header begins, and how many bytes follow that header.
    header: u64,
    packed: u64,
    size: u64,
    checksum: u32,
}

/// The entries that say what an archive is, the best first.
const HEADERS: [&str; 2] = ["header.json", "_journal/start.json"];

/// Whether an entry is a record: one of `samples/`, or the first of a folder of one.
fn is_record(name: &str) -> bool {
    name.strip_prefix("samples/")
        .is_some_and(|rest| match rest.split_once('/') {
            None => rest.strip_suffix(".json").is_some(),
            Some((_, inner)) => inner == "sample.json",
        })
}

pub(super) fn split(named: &Named, index: u32) -> Result<Split, Unreadable> {
    let refuse = |error: io::Error| Unreadable {
        place: named.shown.clone(),
        reason: "is no archive that can be read",
        detail: error.to_string(),
    };
    let file = File::open(&named.path).map_err(refuse)?;
    let archive = Archive::open(file).map_err(refuse)?;
    let numbers = 0..u32::try_from(archive.entries.len()).unwrap_or(u32::MAX);
    let mut parts = Vec::new();
    let mut large = Vec::new();
    let header = HEADERS.iter().find_map(|name| archive.find(name));
    let header = header
        .map(|number| archive.read(number))
        .transpose()
        .map_err(refuse)?;
    for number in numbers.filter(|number| is_record(archive.name(*number))) {
        let size = archive.entries[number as usize].size;
        let part = Part {
            input: index,
            number,
            start: 0,
            length: u32::try_from(size).unwrap_or(u32::MAX),
        };
        if size > MAX_RECORD {
            large.push((part, size));
        } else {
            parts.push(part);
        }
    }
    let file = File::open(&named.path).map_err(refuse)?;
    let input = Input {
        shown: named.shown.clone(),
        path: named.path.clone(),
        form: Form::Zip(archive),
        header: header.and_then(|bytes| super::parse(&bytes).ok()),
        file: RefCell::new(file),
    };
    let too_large = |(part, size): (Part, u64)| Unreadable {
        place: input.place(part),
        reason: "is too large",
        detail: format!("an entry has {size} bytes; at most {MAX_RECORD} are read"),
    };
    Ok(Split {
        unreadable: large.into_iter().map(too_large).collect(),
        input,
        parts,
    })
}

impl Archive {
    fn open(mut file: File) -> io::Result<Self> {
        let entries = directory(&mut file)?;
        Ok(Self {
            entries,
            file: RefCell::new(file),
        })
    }

    pub(in crate::import) fn name(&self, number: u32) -> &str {
        let entry = self.entries.get(number as usize);
        entry.map_or("", |entry| entry.name.as_str())
    }

    /// The number of an entry.
    pub(in crate::import) fn find(&self, name: &str) -> Option<u32> {
        let at = self
            .entries
            .binary_search_by(|entry| entry.name.as_str().cmp(name));
        u32::try_from(at.ok()?).ok()
    }

    /// The names of the entries, sorted.
    pub(in crate::import) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// An entry's bytes.
    pub(in crate::import) fn read(&self, number: u32) -> io::Result<Vec<u8>> {
        let entry = self.entries.get(number as usize);
        let entry = entry.ok_or_else(|| wrong("no such entry"))?;
        if entry.size > MAX_RECORD {
            return Err(wrong("the entry is too large"));
        }
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(entry.header))?;
        let mut header = [0; 30];
        file.read_exact(&mut header)?;
        let skipped = u64::from(u16_at(&header, 26)?) + u64::from(u16_at(&header, 28)?);
        file.seek(SeekFrom::Start(entry.header + 30 + skipped))?;
        let packed = (&mut *file).take(entry.packed);
        let bytes = match entry.method {
            0 => unpacked(packed)?,
            8 => unpacked(DeflateDecoder::new(packed))?,
            93 => zstd(packed)?,
            other => return Err(wrong(&format!("it is compressed by method {other}"))),
        };
        let mut sum = Crc::new();
        sum.update(&bytes);
        if sum.sum() != entry.checksum || bytes.len() as u64 != entry.size {
            return Err(wrong("the entry is damaged: its checksum is another"));
        }
        Ok(bytes)
    }
}

/// At most as many bytes as a record may have.
fn unpacked(packed: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    packed.take(MAX_RECORD + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_RECORD {
        return Err(wrong("the entry is too large"));
    }
    Ok(bytes)
}

/// Several frames, one after another.
fn zstd(packed: impl Read) -> io::Result<Vec<u8>> {
    use ruzstd::decoding::StreamingDecoder;
    use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

    let mut packed = io::BufReader::new(packed);
    let mut bytes = Vec::new();
    loop {
        if io::BufRead::fill_buf(&mut packed)?.is_empty() {
            return Ok(bytes);
        }
        match StreamingDecoder::new(&mut packed) {
            Ok(decoder) => bytes.extend(unpacked(decoder)?),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                io::copy(&mut (&mut packed).take(u64::from(length)), &mut io::sink())?;
            }
            Err(error) => return Err(wrong(&error.to_string())),
        }
        if bytes.len() as u64 > MAX_RECORD {
            return Err(wrong("the entry is too large"));
        }
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// The entries that the archive's end lists.
fn directory(file: &mut File) -> io::Result<Vec<Entry>> {
    let length = file.seek(SeekFrom::End(0))?;
    let from = length.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    let end = tail.windows(4).rposition(|window| window == END);
    let end = end.ok_or_else(|| wrong("the archive has no end; it may be cut"))?;
    let mut count = u64::from(u16_at(&tail, end + 10)?);
    let mut size = u64::from(u32_at(&tail, end + 12)?);
    let mut start = u64::from(u32_at(&tail, end + 16)?);
    // Archives of more than 4 GiB have a second end before the first.
    if let Some(end) = tail[..end].windows(4).rposition(|window| window == END_64) {
        count = u64_at(&tail, end + 32)?;
        size = u64_at(&tail, end + 40)?;
        start = u64_at(&tail, end + 48)?;
    }
    if start.saturating_add(size) > length {
        return Err(wrong("the list of its entries lies outside of it"));
    }
    file.seek(SeekFrom::Start(start))?;
    let mut list = Vec::new();
    file.take(size).read_to_end(&mut list)?;
    let mut entries = Vec::new();
    let mut at = 0;
    for _ in 0..count {
        if list.get(at..at + 4) != Some(ENTRY.as_slice()) {
            return Err(wrong("the list of its entries is damaged"));
        }
        let lengths = [
            u16_at(&list, at + 28)?,
            u16_at(&list, at + 30)?,
            u16_at(&list, at + 32)?,
        ];
        let [name, extra, comment] = lengths.map(usize::from);
        let part = |from: usize, length: usize| list.get(from..from + length);
        let text = part(at + 46, name).ok_or_else(|| wrong("the list of its entries is cut"))?;
        let extras = part(at + 46 + name, extra).unwrap_or_default();
        let mut entry = Entry {
            name: String::from_utf8_lossy(text).into_owned(),
            method: u16_at(&list, at + 10)?,
            checksum: u32_at(&list, at + 16)?,
            packed: u64::from(u32_at(&list, at + 20)?),
            size: u64::from(u32_at(&list, at + 24)?),
            header: u64::from(u32_at(&list, at + 42)?),
        };
        entry.take_large(extras)?;
        if !entry.name.ends_with('/') {
            entries.push(entry);
        }
        at += 46 + name + extra + comment;
    }
    if at != list.len() {
        return Err(wrong("it has more entries than its end counts"));
    }
    // What was added later takes the place of what has its name.
    entries.reverse();
    entries.sort_by(|left, right| left.name.cmp(&right.name));
    entries.dedup_by(|later, kept| later.name == kept.name);
    Ok(entries)
}

impl Entry {
    /// Sizes and places beyond 4 GiB stand in an extra field.
    fn take_large(&mut self, extras: &[u8]) -> io::Result<()> {
        let mut at = 0;
        while at + 4 <= extras.len() {
            let (kind, length) = (u16_at(extras, at)?, usize::from(u16_at(extras, at + 2)?));
            if kind == 1 {
                let mut inside = at + 4;
                for field in [&mut self.size, &mut self.packed, &mut self.header] {
                    if *field == u64::from(u32::MAX) {
                        *field = u64_at(extras, inside)?;
                        inside += 8;
                    }
                }
            }
            at += 4 + length;
        }
        Ok(())
    }
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> io::Result<[u8; N]> {
    let part = bytes.get(at..at + N).and_then(|part| part.try_into().ok());
    part.ok_or_else(|| wrong("the archive is cut"))
}

fn u16_at(bytes: &[u8], at: usize) -> io::Result<u16> {
    bytes_at(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> io::Result<u32> {
    bytes_at(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> io::Result<u64> {
    bytes_at(bytes, at).map(u64::from_le_bytes)
}
