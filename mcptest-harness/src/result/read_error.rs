//! Why the results of a folder cannot be read together.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use mcptest_suite::{escape_line, portable_path};
use mcptest_trace::text::shorten;

use super::shards::{ShardFileError, ShardsError};

/// Results that cannot be read together.
#[derive(Debug)]
pub struct ReadError {
    folder: PathBuf,
    cause: ReadCause,
}

/// What is wrong with the results of a folder.
#[derive(Debug)]
pub(super) enum ReadCause {
    NoFolder,
    Unlisted(walkdir::Error),
    Shard {
        file: String,
        error: ShardFileError,
    },
    Shards(ShardsError),
    /// There is no result; the first file that is none, with why.
    Empty(Option<(String, String)>),
    /// A case has two results that differ.
    Differing {
        case: String,
    },
    /// Two cases were judged by different texts of their suite.
    SeveralStates {
        suite: String,
        cases: [String; 2],
    },
}

impl ReadError {
    pub(super) fn new(folder: &Path, cause: ReadCause) -> Self {
        let folder = folder.to_owned();
        Self { folder, cause }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = portable_path(&self.folder);
        write!(f, "{}: {}", escape_line(&folder), self.cause)
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.cause {
            ReadCause::Unlisted(error) => Some(error),
            ReadCause::Shard { error, .. } => Some(error),
            ReadCause::Shards(error) => Some(error),
            ReadCause::NoFolder
            | ReadCause::Empty(_)
            | ReadCause::Differing { .. }
            | ReadCause::SeveralStates { .. } => None,
        }
    }
}

impl fmt::Display for ReadCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolder => f.write_str("no such folder"),
            Self::Unlisted(error) => write!(f, "{error}"),
            Self::Shard { file, error } => write!(f, "{file}: {error}"),
            Self::Shards(error) => write!(f, "{error}"),
            Self::Empty(None) => f.write_str("it holds no result of a case"),
            Self::Empty(Some((file, why))) => {
                write!(f, "it holds no result of a case; {file}: {why}")
            }
            Self::Differing { case } => write!(
                f,
                "there are two different results of `{case}`; give the folders of one run"
            ),
            Self::SeveralStates {
                suite,
                cases: [first, other],
            } => write!(
                f,
                "the results of `{first}` and `{other}` come from two different versions of {}; empty the folder and run the tests again",
                shorten(suite, 200)
            ),
        }
    }
}
