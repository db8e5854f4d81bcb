//! Snapshots in insta's format, beside the suite.
//!
//! A snapshot is named after its case, never after a function or a counter, so it is the same under
//! any runner and thread count. Accepted ones are read through insta; a changed one is put beside it
//! as `.snap.new`, where `cargo insta review` finds it. What is written follows insta's own rules:
//! `INSTA_UPDATE` (`auto`, `new`, `always`, `unseen`, `no`, `force`), `INSTA_FORCE_PASS`, and nothing
//! in CI. insta's macros are not used because they print and panic; the comparison and its failure
//! text are ours.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use mcptest_suite::read::{Problems, document};
use mcptest_suite::{Source, Style, portable_path, segment};
use serde_json::Value;

use crate::command::command_line;
use crate::gate::SnapshotStore;

use crate::record::in_ci;
use crate::render::Diff;
use crate::result::short_name;
use crate::trace::pretty_json;

/// How many snapshots this process has written.
static WRITES: AtomicUsize = AtomicUsize::new(0);

/// The snapshots of one case.
pub(crate) struct CaseSnapshots {
    /// `snapshots/` beside the suite.
    folder: PathBuf,
    /// The start of the file names: the suite and the agent's case.
    stem: String,
    /// The suite, for the files' headers.
    source: String,
    crate_dir: PathBuf,
    /// Whether nothing is written, whatever the environment says.
    only_compared: bool,
    /// Whether there is a crate, whose tests write them.
    in_crate: bool,
}

/// Why a value is not what its snapshot says.
type Refused = Vec<String>;

impl CaseSnapshots {
    /// The snapshots of an agent's case (its name below the suite's) in a suite file.
    pub(crate) fn new(suite: &Path, shown: &str, crate_dir: &Path, agent_case: &str) -> Self {
        let folder = suite.parent().unwrap_or(suite).join("snapshots");
        let file = suite.file_stem().unwrap_or_default().to_string_lossy();
        // A segment has no `-` in it, so different cases have different names.
        let stem = format!(
            "{}-{}",
            segment(&file).unwrap_or_default(),
            agent_case.replace("::", "-")
        );
        Self {
            folder,
            stem,
            source: shown.to_owned(),
            crate_dir: crate_dir.to_owned(),
            only_compared: false,
            in_crate: true,
        }
    }

    /// Sets whether snapshots are only compared and never written.
    pub(crate) fn compare_only(mut self, only: bool) -> Self {
        self.only_compared = only;
        self
    }

    /// Sets whether the folder of the snapshots is that of a crate.
    pub(crate) fn in_crate(mut self, is: bool) -> Self {
        self.in_crate = is;
        self
    }

    /// Compares a text with its snapshot and writes what the mode asks for.
    fn compare(&self, name: &str, text: &str) -> Result<(), Refused> {
        let mode = if self.only_compared {
            UpdateMode::COMPARED
        } else {
            UpdateMode::from_environment()?
        };
        let path = self
            .folder
            .join(file_name(&format!("{}-{name}", self.stem)));
        let shown = portable_path(path.strip_prefix(&self.crate_dir).unwrap_or(&path));
        let pending = path.with_extension("snap.new");
        mark_used(&path);
        let (old, unreadable) = match read(&path) {
            Ok(old) => (old, None),
            Err(reason) => (
                None,
                Some(format!("the snapshot {shown} cannot be read: {reason}")),
            ),
        };
        let new = normalise(text);
        if old.as_deref() == Some(new.as_str()) && !mode.force {
            // What was pending is settled.
            if pending.is_file() && mode.writes != WritePolicy::Nothing {
                drop(fs::remove_file(&pending));
            }
            return Ok(());
        }
        let writes = match mode.writes {
            WritePolicy::Unseen if old.is_some() => WritePolicy::Pending,
            WritePolicy::Unseen => WritePolicy::InPlace,
            other => other,
        };
        let target = match writes {
            WritePolicy::InPlace => Some(&path),
            WritePolicy::Pending => Some(&pending),
            WritePolicy::Unseen | WritePolicy::Nothing => None,
        };
        if let Some(target) = target {
            self.write(target, name, &new).map_err(|error| {
                let shown = portable_path(target.strip_prefix(&self.crate_dir).unwrap_or(target));
                vec![format!("{shown} cannot be written: {error}")]
            })?;
        }
        if writes == WritePolicy::InPlace {
            // What was pending is settled.
            drop(fs::remove_file(&pending));
        }
        if writes == WritePolicy::InPlace || mode.force_pass {
            return Ok(());
        }
        let next = self.advice(unreadable.is_some(), writes == WritePolicy::Pending);
        Err(describe_difference(
            &shown,
            old,
            unreadable.as_deref(),
            new,
            &next,
        ))
    }

    /// What to do about a snapshot that differs.
    fn advice(&self, unreadable: bool, pending: bool) -> Cow<'static, str> {
        if !self.in_crate {
            let writes = command_line("test");
            return Cow::Owned(if unreadable {
                format!(
                    "restore the file from version control, or write it again with `INSTA_UPDATE=always {writes}`"
                )
            } else {
                format!(
                    "if this is right, write it on your machine with `INSTA_UPDATE=always {writes}`"
                )
            });
        }
        Cow::Borrowed(match (unreadable, self.only_compared) {
            (true, true) => {
                "restore the file from version control, or write it again with `INSTA_UPDATE=always cargo test`"
            }
            (true, false) => {
                "restore the file from version control, or write it again with `INSTA_UPDATE=always`"
            }
            (false, true) => {
                "this command writes no snapshot, whatever `INSTA_UPDATE` says: run `cargo test` and then `cargo insta review`, or `INSTA_UPDATE=always cargo test`"
            }
            (false, false) if pending => {
                "accept it with `cargo insta review`, or run again with `INSTA_UPDATE=always`"
            }
            (false, false) => {
                "nothing was written here; run it on your machine and accept it with `cargo insta review`, or with `INSTA_UPDATE=always`"
            }
        })
    }

    /// Writes a snapshot in one step: a reader sees the old file or the new one.
    fn write(&self, target: &Path, name: &str, text: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let quoted = |text: &str| Value::from(text).to_string();
        let header = format!(
            "---\nsource: {}\nexpression: {}\n---\n",
            quoted(&self.source),
            quoted(name)
        );
        // Neither another process nor another case of this one writes to the same temporary file.
        let number = WRITES.fetch_add(1, Ordering::Relaxed);
        let temporary = target.with_extension(format!("{}-{number}.tmp", std::process::id()));
        let written = fs::File::create(&temporary).and_then(|mut file| {
            file.write_all(format!("{header}{text}\n").as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, target)
        });
        if written.is_err() {
            drop(fs::remove_file(&temporary));
        }
        written
    }
}

impl SnapshotStore for CaseSnapshots {
    fn value(&self, run: usize, name: &str, value: &Value) -> Result<(), Refused> {
        let text = match value {
            Value::String(text) => text.clone(),
            value => pretty_json(value),
        };
        let name = segment(name).unwrap_or_else(|| "value".to_owned());
        self.compare(&format!("{name}-run-{}", run + 1), &text)
    }

    fn outline(&self, text: &str) -> Result<(), Refused> {
        self.compare("snapshot", text)
    }

    fn tools(&self, text: &str) -> Result<(), Refused> {
        self.compare("snapshot-tools", text)
    }
}

/// The longest name of a snapshot, in bytes: file systems take 255, and a pending one has more.
const LONGEST_NAME: usize = 200;

/// The file of a snapshot; a name that no file system takes is cut, with what tells it apart.
fn file_name(name: &str) -> String {
    short_name(name, LONGEST_NAME) + ".snap"
}

/// Whether a header is one that suites could be written in: insta's reader takes a step of the stack for
/// each level of what nests there, and knows no limit.
fn is_readable(file: &[u8]) -> bool {
    let text = String::from_utf8_lossy(file);
    let lines = text.lines().skip(1);
    let header: Vec<&str> = lines.take_while(|line| line.trim_end() != "---").collect();
    let mut problems = Problems::default();
    document(&Source::new("", "", header.join("\n")), &mut problems);
    problems.noted() == 0
}

/// Why a snapshot cannot be read.
#[derive(Debug)]
enum SnapshotError {
    Io(io::Error),
    /// It does not begin as one of insta's.
    NoHeader,
    /// Its header is not one that suites could be written in.
    OddHeader,
    /// insta cannot read it.
    Insta(Box<dyn Error>),
    /// It holds no text.
    Binary,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::NoHeader => f.write_str("it does not begin with insta's `---` header"),
            Self::OddHeader => {
                f.write_str("its header is no YAML, or nests deeper than can be read")
            }
            Self::Insta(error) => write!(f, "{error}"),
            Self::Binary => f.write_str("it is a binary snapshot"),
        }
    }
}

impl Error for SnapshotError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Insta(error) => Some(error.as_ref()),
            Self::NoHeader | Self::OddHeader | Self::Binary => None,
        }
    }
}

/// The accepted text; nothing when there is no snapshot yet.
fn read(path: &Path) -> Result<Option<String>, SnapshotError> {
    if !path.exists() {
        return Ok(None);
    }
    // insta reads a file without its header as an old format; nothing we write is one.
    let starts = fs::read(path).map_err(SnapshotError::Io)?;
    if !starts.starts_with(b"---") {
        return Err(SnapshotError::NoHeader);
    }
    if !is_readable(&starts) {
        return Err(SnapshotError::OddHeader);
    }
    let snapshot = insta::Snapshot::from_file(path).map_err(SnapshotError::Insta)?;
    match snapshot.contents().as_text() {
        Some(text) => Ok(Some(normalise(&text.to_string()))),
        None => Err(SnapshotError::Binary),
    }
}

/// Line ends and the white space at the end are not compared, as in insta.
fn normalise(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.trim_end_matches('\r'));
    let lines = lines.collect::<Vec<_>>().join("\n");
    lines.trim_end().trim_start_matches('\n').to_owned()
}

/// Tells `cargo insta test --unreferenced` that a snapshot is in use.
fn mark_used(path: &Path) {
    if let Some(list) = std::env::var_os("INSTA_SNAPSHOT_REFERENCES_FILE") {
        let file = fs::OpenOptions::new().append(true).create(true).open(list);
        drop(file.and_then(|mut file| file.write_all(format!("{}\n", path.display()).as_bytes())));
    }
}

fn describe_difference(
    shown: &str,
    old: Option<String>,
    unreadable: Option<&str>,
    new: String,
    next: &str,
) -> Refused {
    let what = match (&old, &unreadable) {
        (_, Some(unreadable)) => (*unreadable).to_owned(),
        (None, None) => format!("there is no snapshot {shown} yet"),
        (Some(_), None) => format!("the recorded runs differ from {shown}"),
    };
    let diff = Diff {
        old_name: format!("snapshot ({shown})"),
        new_name: "recorded".to_owned(),
        old: old.map(|old| old + "\n").unwrap_or_default(),
        new: new + "\n",
    };
    vec![what, next.to_owned(), diff.render(Style::Plain)]
}

/// What is written when a snapshot differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WritePolicy {
    InPlace,
    Pending,
    /// In place where there is no snapshot yet, else pending.
    Unseen,
    Nothing,
}

#[derive(Debug, Clone, Copy)]
struct UpdateMode {
    writes: WritePolicy,
    /// Write even what is the same.
    force: bool,
    /// Pass even what differs.
    force_pass: bool,
}

impl UpdateMode {
    const COMPARED: Self = Self {
        writes: WritePolicy::Nothing,
        force: false,
        force_pass: false,
    };

    fn from_environment() -> Result<Self, Refused> {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let update = variable("INSTA_UPDATE");
        let in_ci =
            in_ci() || (std::env::var_os("CI").is_none() && std::env::var_os("TF_BUILD").is_some());
        let writes = match update.as_str() {
            "" | "auto" if in_ci => WritePolicy::Nothing,
            "" | "auto" | "new" => WritePolicy::Pending,
            "always" | "force" => WritePolicy::InPlace,
            "unseen" => WritePolicy::Unseen,
            "no" => WritePolicy::Nothing,
            other => {
                return Err(vec![format!(
                    "INSTA_UPDATE is `{other}`; known: `auto`, `new`, `always`, `unseen`, `no`, `force`"
                )]);
            }
        };
        let force_pass = variable("INSTA_FORCE_PASS") == "1";
        Ok(Self {
            writes,
            force: update == "force",
            force_pass,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted_holds_again_whatever_its_line_ends() {
        for text in ["a\r\r\nb", "\r\r\n\r\na\r\r\r\n", "a\rb\r\n", "\n\n a \n\r"] {
            let once = normalise(text);
            assert_eq!(normalise(&once), once, "{text:?}");
            assert!(!once.contains("\r\n"), "{text:?}");
        }
    }

    #[test]
    fn a_header_that_nests_deeply_is_refused_and_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let read_header = |header: &str| {
            let path = folder.path().join("x.snap");
            fs::write(&path, format!("---\n{header}\n---\nvalue\n")).unwrap();
            read(&path)
        };
        for deep in [
            format!("a: {}", "[".repeat(2_000)),
            format!("a: {}", "{b: ".repeat(600)),
            "- ".repeat(1_000),
            (0..200)
                .map(|depth| format!("{}a:\n", " ".repeat(depth)))
                .collect(),
        ] {
            let refused = read_header(&deep).unwrap_err();
            assert!(matches!(refused, SnapshotError::OddHeader), "{refused}");
        }
        let usual = "source: \"suites/s.yml\"\nexpression: \"[[[{{{ a: b: c\"\nassertion_line: 4";
        assert_eq!(read_header(usual).unwrap().as_deref(), Some("value"));
    }

    #[test]
    fn a_long_name_is_cut_to_one_that_a_file_can_have() {
        let long = "é".repeat(240);
        let name = file_name(&long);
        assert!(name.len() <= LONGEST_NAME + 5, "{}", name.len());
        assert_ne!(name, file_name(&format!("{long}x")));
        assert_eq!(file_name("s-agent-snapshot"), "s-agent-snapshot.snap");
    }
}
