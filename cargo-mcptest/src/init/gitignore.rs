//! What tests write beside suites that is not to be committed, and the lines of `.gitignore` that git lacks for it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::failure::Failure;
use crate::git;

/// A pattern, and the name of a file that it is for: a snapshot that waits until somebody accepts it.
const PATTERN: (&str, &str) = ("*.snap.new", "snapshots/run-1.snap.new");

/// The file that patterns stand in.
pub(super) const FILE: &str = ".gitignore";

/// A `.gitignore` with the line that it lacks.
#[derive(Debug)]
pub(super) struct GitignoreUpdate {
    pub(super) line: &'static str,
    pub(super) text: String,
}

impl GitignoreUpdate {
    /// What the `.gitignore` of a folder lacks for suites below it; nothing where git ignores it already, whichever
    /// file says so, and nothing outside of a git repository.
    pub(super) fn find_missing(folder: &Path, root: &Path) -> Result<Option<Self>, Failure> {
        let (line, name) = PATTERN;
        if git::ignores(folder, &root.join(name)) != Some(false) {
            return Ok(None);
        }
        let before = match fs::read_to_string(folder.join(FILE)) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read.map_err(|error| {
                Failure::new(format!("`{FILE}` cannot be read: {error}")).with_help(format!(
                    "add the line `{line}` to the file yourself, or mend the file"
                ))
            })?,
        };
        let end = if before.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        let gap = if before.is_empty() || before.ends_with('\n') {
            ""
        } else {
            end
        };
        Ok(Some(Self {
            line,
            text: format!("{before}{gap}{line}{end}"),
        }))
    }
}
