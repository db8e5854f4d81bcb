//! Zip archives: their entries, one at a time.
//!
//! Entries are deflated, or compressed by zstd in one or several frames; both are read by Rust alone.

use std::cell::{OnceCell, RefCell};
use std::error::Error;
use std::fs::File;
use std::io::{self, Read};

use flate2::read::DeflateDecoder;
use rawzip::{
    CompressionMethod, FileReader, RECOMMENDED_BUFFER_SIZE, ZipArchive, ZipArchiveEntryWayfinder,
};

use super::{Form, Input, MAX_RECORD, NamedFile, RecordPlace, Split, Unreadable};
use crate::loss::LossReason;

/// An archive's entries, in the byte order of their names.
#[derive(Debug)]
pub(crate) struct Archive {
    entries: Vec<ZipEntry>,
    zip: ZipArchive<FileReader>,
}

#[derive(Debug)]
struct ZipEntry {
    name: String,
    method: CompressionMethod,
    is_encrypted: bool,
    place: ZipArchiveEntryWayfinder,
    size: u64,
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

pub(super) fn split(named: &NamedFile, index: u32) -> Result<Split, Unreadable> {
    let refuse = |error: io::Error| Unreadable {
        place: named.shown.clone(),
        reason: LossReason::UnreadableArchive,
        detail: error.to_string(),
    };
    let file = File::open(&named.path).map_err(refuse)?;
    let archive = Archive::open(file).map_err(refuse)?;
    let numbers = 0..u32::try_from(archive.entries.len()).unwrap_or(u32::MAX);
    let mut parts = Vec::new();
    let mut large = Vec::new();
    let header = HEADERS.iter().find_map(|name| archive.find(name));
    let header = header.map(|number| archive.read(number)).transpose();
    let header = header.map_err(refuse)?;
    for number in numbers.filter(|number| is_record(archive.name(*number))) {
        let size = archive.entries[number as usize].size;
        let part = RecordPlace {
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
        header: header.and_then(|bytes| Some(super::parse(&bytes).ok()?.value)),
        tasks: OnceCell::new(),
        file: RefCell::new(file),
    };
    let too_large = |(part, size): (RecordPlace, u64)| Unreadable {
        place: input.location(part),
        reason: LossReason::TooLarge,
        detail: format!("an entry has {size} bytes; at most {MAX_RECORD} are read"),
    };
    Ok(Split {
        unreadable: large.into_iter().map(too_large).collect(),
        input,
        parts,
    })
}

impl Archive {
    fn open(file: File) -> io::Result<Self> {
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let zip = ZipArchive::from_file(file, &mut buffer);
        let zip = zip.map_err(|error| invalid_data(format!("the archive may be cut: {error}")))?;
        let mut entries = Vec::new();
        let mut listed = zip.entries(&mut buffer);
        let mut count = 0;
        let damaged = |error| invalid_data(format!("the list of its entries is damaged: {error}"));
        while let Some(entry) = listed.next_entry().map_err(damaged)? {
            count += 1;
            if !entry.is_dir() {
                entries.push(ZipEntry {
                    name: String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned(),
                    method: entry.compression_method(),
                    is_encrypted: entry.flags().is_encrypted(),
                    place: entry.wayfinder(),
                    size: entry.uncompressed_size_hint(),
                });
            }
        }
        if count != zip.entries_hint() {
            return Err(invalid_data(
                "the number of its entries is not the number that its end record states",
            ));
        }
        // What was added later takes the place of what has its name.
        entries.reverse();
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        entries.dedup_by(|later, kept| later.name == kept.name);
        Ok(Self { entries, zip })
    }

    pub(crate) fn name(&self, number: u32) -> &str {
        let entry = self.entries.get(number as usize);
        entry.map_or("", |entry| entry.name.as_str())
    }

    /// The number of an entry.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        let by_name = |entry: &ZipEntry| entry.name.as_str().cmp(name);
        u32::try_from(self.entries.binary_search_by(by_name).ok()?).ok()
    }

    /// The bytes of the entry with a name, where they can be read.
    pub(crate) fn entry(&self, name: &str) -> Option<Vec<u8>> {
        self.read(self.find(name)?).ok()
    }

    /// The names of the entries that begin so, sorted.
    pub(crate) fn names_below(&self, prefix: &str) -> impl Iterator<Item = &str> {
        let begin = self
            .entries
            .partition_point(|entry| entry.name.as_str() < prefix);
        let names = self.entries[begin..]
            .iter()
            .map(|entry| entry.name.as_str());
        names.take_while(move |name| name.starts_with(prefix))
    }

    /// The names of the entries, sorted.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// An entry's bytes.
    pub(crate) fn read(&self, number: u32) -> io::Result<Vec<u8>> {
        let entry = self.entries.get(number as usize);
        let entry = entry.ok_or_else(|| invalid_data("no such entry"))?;
        if entry.size > MAX_RECORD {
            return Err(invalid_data("the entry is too large"));
        }
        if entry.is_encrypted {
            return Err(invalid_data("the entry is encrypted"));
        }
        let packed = self.zip.get_entry(entry.place).map_err(invalid_data)?;
        let (reader, mut bytes) = (packed.reader(), Vec::new());
        let mut verified =
            |unpacked: &mut dyn Read| packed.verifying_reader(unpacked).read_to_end(&mut bytes);
        let read = match entry.method {
            CompressionMethod::STORE => verified(&mut { reader }),
            CompressionMethod::DEFLATE => verified(&mut DeflateDecoder::new(reader)),
            CompressionMethod::ZSTD => {
                decode_zstd(reader).and_then(|it| verified(&mut it.as_slice()))
            }
            other => {
                let method = other.as_u16();
                return Err(invalid_data(format!("it is compressed by method {method}")));
            }
        };
        read.map_err(|error| invalid_data(format!("the entry is damaged: {error}")))?;
        Ok(bytes)
    }
}

/// At most as many bytes as a record may have.
fn read_limited(packed: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    packed.take(MAX_RECORD + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_RECORD {
        return Err(invalid_data("the entry is too large"));
    }
    Ok(bytes)
}

/// Several frames, one after another.
fn decode_zstd(packed: impl Read) -> io::Result<Vec<u8>> {
    use ruzstd::decoding::StreamingDecoder;
    use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

    let mut packed = io::BufReader::new(packed);
    let mut bytes = Vec::new();
    loop {
        if io::BufRead::fill_buf(&mut packed)?.is_empty() {
            return Ok(bytes);
        }
        match StreamingDecoder::new(&mut packed) {
            Ok(decoder) => bytes.extend(read_limited(decoder)?),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                io::copy(&mut (&mut packed).take(u64::from(length)), &mut io::sink())?;
            }
            Err(error) => return Err(invalid_data(error.to_string())),
        }
        if bytes.len() as u64 > MAX_RECORD {
            return Err(invalid_data("the entry is too large"));
        }
    }
}

fn invalid_data(what: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
