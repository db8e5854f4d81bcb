//! Which part of all cases the results of a folder are: a file for each part that was judged to its end.
//!
//! `cargo mcptest test --shard 2/4` leaves `<folder>/<package>/2-of-4.shard` beside the results, and leaves it also where
//! it has no case. So whoever reads the results of several machines knows which of them is missing.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use mcptest_suite::Shard;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::NamedTempFile;

/// How the name of such a file ends.
pub(super) const END: &str = "shard";

/// How many missing shards are named.
const NAMED: usize = 8;

/// The version of the format.
const FORMAT: &str = "shard/1.0";

/// A part of all cases that was judged to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JudgedShard {
    format: String,
    package: String,
    shard: usize,
    of: usize,
    /// The digest of all suites.
    suites: String,
    /// How many cases it has.
    cases: usize,
}

impl JudgedShard {
    pub(crate) fn new(package: &str, shard: Shard, suites: String, cases: usize) -> Self {
        Self {
            format: FORMAT.to_owned(),
            package: package.to_owned(),
            shard: shard.number(),
            of: shard.total(),
            suites,
            cases,
        }
    }

    fn file(&self, folder: &Path) -> PathBuf {
        let name = format!("{}-of-{}.{END}", self.shard, self.of);
        folder.join(&self.package).join(name)
    }

    /// Forgets that the part was judged before: it is judged again.
    pub(crate) fn begin(&self, folder: &Path) -> io::Result<()> {
        match fs::remove_file(self.file(folder)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Leaves word that the part was judged.
    pub(crate) fn end(&self, folder: &Path) -> io::Result<()> {
        let path = self.file(folder);
        let place = path.parent().unwrap_or(folder);
        fs::create_dir_all(place)?;
        let mut file = NamedTempFile::with_prefix_in(".writing-", place)?;
        let value = serde_json::to_value(self).unwrap_or_default();
        file.write_all((crate::trace::pretty_json(&value) + "\n").as_bytes())?;
        file.persist(&path).map(drop).map_err(|error| error.error)
    }

    pub(super) fn read(path: &Path) -> Result<Self, ShardFileError> {
        let text = fs::read_to_string(path).map_err(ShardFileError::Io)?;
        let value: Value = serde_json::from_str(&text).map_err(ShardFileError::NotJson)?;
        let format = value
            .get("format")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !format.starts_with("shard/1.") {
            let found = format.to_owned();
            return Err(ShardFileError::OtherFormat { found });
        }
        let read: Self = serde_json::from_value(value).map_err(ShardFileError::OtherFields)?;
        let is_shard = (1..=read.of).contains(&read.shard);
        is_shard.then_some(read).ok_or(ShardFileError::NoShard)
    }
}

/// Why the file of a shard cannot be read.
#[derive(Debug)]
pub(super) enum ShardFileError {
    Io(io::Error),
    NotJson(serde_json::Error),
    OtherFormat { found: String },
    OtherFields(serde_json::Error),
    NoShard,
}

impl fmt::Display for ShardFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::NotJson(error) => write!(f, "not JSON: {error}"),
            Self::OtherFormat { found } => write!(
                f,
                "it has the format `{}`, and this harness reads {FORMAT}: judge the shard again",
                mcptest_suite::escape_line(found)
            ),
            Self::OtherFields(error) => write!(f, "{error}"),
            Self::NoShard => f.write_str("it is no shard"),
        }
    }
}

impl Error for ShardFileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::NotJson(error) | Self::OtherFields(error) => Some(error),
            Self::OtherFormat { .. } | Self::NoShard => None,
        }
    }
}

/// Why the shards of a package are not all that was judged.
#[derive(Debug)]
pub(super) struct ShardsError {
    package: String,
    cause: ShardsCause,
}

/// What is wrong with the shards of a package. A shard is its number and how many there are.
#[derive(Debug)]
enum ShardsCause {
    SeveralDivisions([(usize, usize); 2]),
    SeveralSuites([(usize, usize); 2]),
    Missing { missing: Vec<usize>, total: usize },
}

impl fmt::Display for ShardsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = match self.package.as_str() {
            "" => String::new(),
            package => format!(" of `{}`", mcptest_suite::escape_line(package)),
        };
        match &self.cause {
            ShardsCause::SeveralDivisions([(first, of_first), (other, of_other)]) => write!(
                f,
                "the results{whose} are of two divisions into shards, {first}/{of_first} and {other}/{of_other}; empty the folder and judge all shards again"
            ),
            ShardsCause::SeveralSuites([(first, of_first), (other, of_other)]) => write!(
                f,
                "the shards {first}/{of_first} and {other}/{of_other}{whose} were judged by different suites; check out one commit on all machines and judge all shards again"
            ),
            ShardsCause::Missing { missing, total } => {
                f.write_str(&describe_missing(missing, *total, &whose))
            }
        }
    }
}

impl Error for ShardsError {}

/// Checks that what was judged in parts is there whole: all parts of one division of the same suites.
///
/// # Errors
///
/// Which part is missing, or which two do not belong together.
pub(super) fn check_whole(shards: &[JudgedShard]) -> Result<(), ShardsError> {
    let mut packages: BTreeMap<&str, Vec<&JudgedShard>> = BTreeMap::new();
    for shard in shards {
        packages.entry(&shard.package).or_default().push(shard);
    }
    for (package, shards) in packages {
        let refused = |cause| ShardsError {
            package: package.to_owned(),
            cause,
        };
        let first = shards[0];
        let both = |other: &JudgedShard| [first, other].map(|shard| (shard.shard, shard.of));
        if let Some(other) = shards.iter().find(|other| other.of != first.of) {
            return Err(refused(ShardsCause::SeveralDivisions(both(other))));
        }
        if let Some(other) = shards.iter().find(|other| other.suites != first.suites) {
            return Err(refused(ShardsCause::SeveralSuites(both(other))));
        }
        let is_there = |number: &usize| shards.iter().any(|shard| shard.shard == *number);
        let missing: Vec<usize> = (1..=first.of).filter(|number| !is_there(number)).collect();
        if !missing.is_empty() {
            let total = first.of;
            return Err(refused(ShardsCause::Missing { missing, total }));
        }
    }
    Ok(())
}

/// What is said of missing shards.
fn describe_missing(missing: &[usize], total: usize, whose: &str) -> String {
    let named = missing.iter().take(NAMED);
    let named: Vec<String> = named.map(|number| format!("{number}/{total}")).collect();
    let more = match missing.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (word, are, why) = match missing {
        [_] => ("shard", "is", "its machine did not end, or its results are"),
        _ => (
            "shards",
            "are",
            "their machines did not end, or their results are",
        ),
    };
    format!(
        "the {word} {}{more}{whose} {are} missing: {why} not here; {} of {total} shards are",
        named.join(", "),
        total - missing.len()
    )
}
