//! The files that the command names: paths, folders, patterns, standard input.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use mcptest_trace::text::pluralize;
use tempfile::NamedTempFile;
use walkdir::WalkDir;

use super::Unreadable;
use crate::loss::LossReason;

/// What stands for standard input.
pub(super) const STDIN: &str = "-";

/// The extensions that are read of a folder.
const EXTENSIONS: [&str; 4] = ["eval", "json", "jsonl", "ndjson"];

/// Those of such files that are packed, which are refused and told.
const PACKED: [&str; 2] = ["gz", "zst"];

/// A file, and how messages name it.
#[derive(Debug)]
pub struct NamedFile {
    /// Where it lies.
    pub path: PathBuf,
    /// The path as it was given, for messages.
    pub shown: String,
    /// Found in a folder or by a pattern, and not named itself.
    pub found: bool,
    /// Standard input lies in a file of its own, which goes when it has been read.
    _spool: Option<NamedTempFile>,
}

/// The files that an import is given.
#[derive(Debug, Default)]
pub struct NamedFiles {
    /// In the order of the arguments, each once; those of a folder or a pattern in byte order.
    pub files: Vec<NamedFile>,
    /// The arguments that are no files.
    pub unreadable: Vec<Unreadable>,
    /// The files of folders that are not read, counted by their endings.
    pub left_out: BTreeMap<String, usize>,
}

impl NamedFiles {
    /// Which files of folders are not read, and why.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let count: usize = self.left_out.values().sum();
        let endings = self.left_out.iter().map(|(ending, count)| match count {
            1 => ending.clone(),
            _ => format!("{ending} ({count} files)"),
        });
        let endings: Vec<String> = endings.collect();
        (count > 0).then(|| {
            format!(
                "{} of the folder not read, because only names that end in .{} are: {}; to import such a file, name it \
                 itself",
                pluralize(count, "file"),
                EXTENSIONS.join(", ."),
                endings.join(", ")
            )
        })
    }
}

/// Finds the files.
#[must_use]
pub fn find_files(arguments: &[PathBuf]) -> NamedFiles {
    let mut all = NamedFiles::default();
    let mut known = HashSet::new();
    for argument in arguments {
        let given = argument.to_string_lossy();
        match find_for_argument(argument, &mut all.left_out) {
            Ok(found) => {
                for file in found {
                    if known.insert(file.path.clone()) {
                        all.files.push(file);
                    }
                }
            }
            Err(error) => all.unreadable.push(Unreadable {
                place: given.into_owned(),
                reason: LossReason::Unreadable,
                detail: error.to_string(),
            }),
        }
    }
    all
}

/// Why an argument names no files.
#[derive(Debug)]
enum FindError {
    Stdin(io::Error),
    Folder(walkdir::Error),
    Pattern(glob::PatternError),
    Absent,
    NothingMatches,
    NothingInFolder,
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin(error) => write!(f, "{error}"),
            Self::Folder(error) => write!(f, "{error}"),
            Self::Pattern(error) => write!(f, "no pattern: {error}"),
            Self::Absent => f.write_str("no such file or folder"),
            Self::NothingMatches => f.write_str("the pattern matches no file"),
            Self::NothingInFolder => {
                let extensions = EXTENSIONS.join(", .");
                write!(f, "the folder holds no file named .{extensions}")
            }
        }
    }
}

impl Error for FindError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Stdin(error) => Some(error),
            Self::Folder(error) => Some(error),
            Self::Pattern(error) => Some(error),
            Self::Absent | Self::NothingMatches | Self::NothingInFolder => None,
        }
    }
}

fn find_for_argument(
    argument: &Path,
    left_out: &mut BTreeMap<String, usize>,
) -> Result<Vec<NamedFile>, FindError> {
    let text = argument.to_string_lossy();
    if text == STDIN {
        return Ok(vec![spool_stdin().map_err(FindError::Stdin)?]);
    }
    if argument.is_dir() {
        return list_folder(argument, left_out);
    }
    if argument.exists() {
        return Ok(vec![named_file(argument, false)]);
    }
    if !text.contains(['*', '?', '[']) {
        return Err(FindError::Absent);
    }
    let paths = glob::glob(&text).map_err(FindError::Pattern)?;
    let mut paths: Vec<PathBuf> = paths.flatten().filter(|path| path.is_file()).collect();
    if paths.is_empty() {
        return Err(FindError::NothingMatches);
    }
    sort(&mut paths);
    Ok(paths.iter().map(|path| named_file(path, true)).collect())
}

fn named_file(path: &Path, found: bool) -> NamedFile {
    NamedFile {
        path: path.to_owned(),
        shown: path.to_string_lossy().replace('\\', "/"),
        found,
        _spool: None,
    }
}

/// Whether a name ends in one of some endings, in capitals or not.
pub(super) fn ends_in(path: &Path, endings: &[&str]) -> bool {
    let extension = path.extension().unwrap_or_default();
    endings
        .iter()
        .any(|ending| extension.eq_ignore_ascii_case(ending))
}

fn list_folder(
    path: &Path,
    left_out: &mut BTreeMap<String, usize>,
) -> Result<Vec<NamedFile>, FindError> {
    let (mut paths, mut others) = (Vec::new(), BTreeMap::<String, usize>::new());
    for entry in WalkDir::new(path) {
        let entry = entry.map_err(FindError::Folder)?;
        // A link that leads nowhere is told when it is opened.
        let is_file = entry.file_type().is_file() || entry.path_is_symlink();
        if !is_file || entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let inner = entry.path().with_extension("");
        let wanted = ends_in(entry.path(), &EXTENSIONS)
            || ends_in(entry.path(), &PACKED) && ends_in(&inner, &EXTENSIONS);
        if wanted {
            paths.push(entry.into_path());
        } else {
            let ending = entry.path().extension();
            let ending = ending.map_or_else(
                || "no ending".to_owned(),
                |ending| format!(".{}", ending.to_string_lossy()),
            );
            *others.entry(ending).or_default() += 1;
        }
    }
    if paths.is_empty() {
        return Err(FindError::NothingInFolder);
    }
    for (ending, count) in others {
        *left_out.entry(ending).or_default() += count;
    }
    sort(&mut paths);
    Ok(paths.iter().map(|path| named_file(path, true)).collect())
}

fn sort(paths: &mut [PathBuf]) {
    paths.sort_by(|left, right| {
        left.as_os_str()
            .as_encoded_bytes()
            .cmp(right.as_os_str().as_encoded_bytes())
    });
}

/// Standard input as a file that nobody else may read.
fn spool_stdin() -> io::Result<NamedFile> {
    let mut spool = NamedTempFile::new()?;
    io::copy(&mut io::stdin().lock(), &mut spool)?;
    Ok(NamedFile {
        path: spool.path().to_owned(),
        shown: STDIN.to_owned(),
        found: false,
        _spool: Some(spool),
    })
}
