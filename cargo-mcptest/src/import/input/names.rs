//! The files that the command names: paths, folders, patterns, standard input.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use walkdir::WalkDir;

use super::Unreadable;

/// What stands for standard input.
pub(super) const STDIN: &str = "-";

/// The extensions that are read of a folder.
const EXTENSIONS: [&str; 4] = ["eval", "json", "jsonl", "ndjson"];

/// Those of such files that are packed, which are refused and told.
const PACKED: [&str; 2] = ["gz", "zst"];

/// A file, and how messages name it.
#[derive(Debug)]
pub(in crate::import) struct NamedFile {
    pub(in crate::import) path: PathBuf,
    pub(in crate::import) shown: String,
    /// Found in a folder or by a pattern, and not named itself.
    pub(in crate::import) found: bool,
    /// Standard input lies in a file of its own, which goes when it has been read.
    _spool: Option<NamedTempFile>,
}

/// The files, in the order of the arguments, each once; those of a folder or a pattern in byte order.
pub(in crate::import) fn named(arguments: &[PathBuf]) -> (Vec<NamedFile>, Vec<Unreadable>) {
    let (mut files, mut unreadable) = (Vec::<NamedFile>::new(), Vec::new());
    let mut known = HashSet::new();
    for argument in arguments {
        let given = argument.to_string_lossy();
        match of_argument(argument) {
            Ok(found) => {
                for file in found {
                    if known.insert(file.path.clone()) {
                        files.push(file);
                    }
                }
            }
            Err(detail) => unreadable.push(Unreadable {
                place: given.into_owned(),
                reason: "cannot be read",
                detail,
            }),
        }
    }
    (files, unreadable)
}

fn of_argument(argument: &Path) -> Result<Vec<NamedFile>, String> {
    let text = argument.to_string_lossy();
    if text == STDIN {
        return Ok(vec![spooled().map_err(|error| error.to_string())?]);
    }
    if argument.is_dir() {
        return folder(argument);
    }
    if argument.exists() {
        return Ok(vec![file(argument, false)]);
    }
    if !text.contains(['*', '?', '[']) {
        return Err("no such file or folder".to_owned());
    }
    let paths = glob::glob(&text).map_err(|error| format!("no pattern: {error}"))?;
    let mut paths: Vec<PathBuf> = paths.flatten().filter(|path| path.is_file()).collect();
    if paths.is_empty() {
        return Err("the pattern matches no file".to_owned());
    }
    sort(&mut paths);
    Ok(paths.iter().map(|path| file(path, true)).collect())
}

fn file(path: &Path, found: bool) -> NamedFile {
    NamedFile {
        path: path.to_owned(),
        shown: path.to_string_lossy().replace('\\', "/"),
        found,
        _spool: None,
    }
}

fn folder(path: &Path) -> Result<Vec<NamedFile>, String> {
    let mut paths = Vec::new();
    for entry in WalkDir::new(path) {
        let entry = entry.map_err(|error| error.to_string())?;
        let name = entry.file_name().to_string_lossy();
        let is_of = |path: &Path, ends: &[&str]| {
            let extension = path.extension().unwrap_or_default();
            ends.iter().any(|known| extension == *known)
        };
        let inner = entry.path().with_extension("");
        let wanted = is_of(entry.path(), &EXTENSIONS)
            || is_of(entry.path(), &PACKED) && is_of(&inner, &EXTENSIONS);
        // A link that leads nowhere is told when it is opened.
        let is_file = entry.file_type().is_file() || entry.path_is_symlink();
        if is_file && wanted && !name.starts_with('.') {
            paths.push(entry.into_path());
        }
    }
    if paths.is_empty() {
        return Err(format!(
            "the folder holds no file named .{}",
            EXTENSIONS.join(", .")
        ));
    }
    sort(&mut paths);
    Ok(paths.iter().map(|path| file(path, true)).collect())
}

fn sort(paths: &mut [PathBuf]) {
    paths.sort_by(|left, right| {
        left.as_os_str()
            .as_encoded_bytes()
            .cmp(right.as_os_str().as_encoded_bytes())
    });
}

/// Standard input as a file that nobody else may read.
fn spooled() -> io::Result<NamedFile> {
    let mut spool = NamedTempFile::new()?;
    io::copy(&mut io::stdin().lock(), &mut spool)?;
    Ok(NamedFile {
        path: spool.path().to_owned(),
        shown: STDIN.to_owned(),
        found: false,
        _spool: Some(spool),
    })
}
