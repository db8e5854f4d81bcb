//! Where an agent's recorded runs lie.
//!
//! Three places are looked at, and exactly one may hold the runs: the agent's own `cassette:`,
//! `cassettes/` beside the suite file, and the crate's `cassettes/<suite path>/`. In a place the
//! runs are `<stem>.json`, every `<stem>/*.json`, or the lines of `<stem>.jsonl`; exactly one too.

use std::cmp::Ordering;
use std::fs;
use std::path::{Component, Path, PathBuf};

use mcptest_suite::shown_path;

/// What is looked for.
pub(crate) struct Wanted<'a> {
    /// The crate's folder, which shown paths are relative to.
    pub(crate) crate_dir: &'a Path,
    /// The folder the suite file lies in.
    pub(crate) suite_dir: &'a Path,
    /// The suite's path below its root, without extension.
    pub(crate) suite_stem: &'a Path,
    /// The agent's `cassette:`.
    pub(crate) cassette: Option<&'a str>,
    /// The stems of the agent's files; the first is the one that is recommended.
    pub(crate) stems: &'a [String],
}

/// Why no one place holds the runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlaceError {
    /// Nothing was found; where one run and where several would be put.
    Nothing {
        looked: Vec<String>,
        put: [String; 2],
    },
    /// Two places or two layouts hold runs.
    Several(Vec<String>),
    /// `cassette:` is no usable path.
    Unusable { problem: String, help: String },
}

impl Wanted<'_> {
    /// The files in the order of the runs, each with its shown path.
    pub(crate) fn files(&self) -> Result<Vec<(PathBuf, String)>, PlaceError> {
        let beside = self.suite_dir.join("cassettes");
        let central = self.crate_dir.join("cassettes").join(self.suite_stem);
        let mut found: Vec<(String, Vec<PathBuf>)> = Vec::new();
        let mut looked = Vec::new();
        if let Some(cassette) = self.cassette {
            let files = self.own(cassette)?;
            looked.push(cassette.to_owned());
            if !files.is_empty() {
                found.push((self.shown(&self.suite_dir.join(cassette)), files));
            }
        }
        let stems = || self.stems.iter();
        for (place, stem) in [&beside, &central]
            .into_iter()
            .flat_map(|place| stems().map(move |stem| (place, stem)))
        {
            for layout in [".json", "", ".jsonl"] {
                let path = place.join(format!("{stem}{layout}"));
                let shown = if layout.is_empty() {
                    self.shown(&path) + "/*.json"
                } else {
                    self.shown(&path)
                };
                let files = if layout.is_empty() {
                    folder(&path)
                } else {
                    file(&path)
                };
                // `cassette:` may name what would be found anyway: that is one place, not two.
                let named = found
                    .first()
                    .is_some_and(|(_, own)| self.cassette.is_some() && within(&files, own));
                if !files.is_empty() && !named {
                    found.push((shown.clone(), files));
                }
                looked.push(shown);
            }
        }
        match found.len() {
            0 => {
                let stem = self.stems.first().map_or("", String::as_str);
                let one = self.shown(&beside.join(format!("{stem}.json")));
                let several = self.shown(&beside.join(stem)) + "/run-1.json";
                let put = match self.cassette {
                    Some(cassette) => [cassette.to_owned(), cassette.to_owned()],
                    None => [one, several],
                };
                Err(PlaceError::Nothing { looked, put })
            }
            1 => {
                let files = found.swap_remove(0).1;
                let shown = |path: PathBuf| (self.shown(&path), path);
                Ok(files
                    .into_iter()
                    .map(shown)
                    .map(|(shown, path)| (path, shown))
                    .collect())
            }
            _ => Err(PlaceError::Several(
                found.into_iter().map(|(shown, _)| shown).collect(),
            )),
        }
    }

    /// The files that `cassette:` names.
    fn own(&self, cassette: &str) -> Result<Vec<PathBuf>, PlaceError> {
        let unusable = |problem: String, help: &str| PlaceError::Unusable {
            problem,
            help: help.to_owned(),
        };
        let relative = Path::new(cassette);
        let rooted = relative
            .components()
            .any(|part| matches!(part, Component::Prefix(_) | Component::RootDir));
        if rooted {
            let problem = format!("`cassette: {cassette}` is not relative to the suite");
            return Err(unusable(
                problem,
                "write the path from the suite's folder, so that it is the same on every machine",
            ));
        }
        let path = self.suite_dir.join(relative);
        if path.is_dir() {
            return Ok(folder(&path));
        }
        if path.is_file() || !cassette.contains(['*', '?', '[']) {
            return Ok(file(&path));
        }
        let base = glob::Pattern::escape(&self.suite_dir.to_string_lossy());
        let pattern = format!("{base}/{cassette}");
        let bad_glob = |error: glob::PatternError| {
            unusable(
                format!("`cassette: {cassette}` is not a pattern: {}", error.msg),
                "`*` stands for any part of a name, `**` for any folders, `[…]` for one of several characters",
            )
        };
        let paths = glob::glob(&pattern)
            .map_err(bad_glob)?
            .filter_map(Result::ok);
        let mut files: Vec<PathBuf> = paths
            .filter(|path| path.is_file() && is_cassette(path))
            .collect();
        files.sort_by(|left, right| natural(left, right));
        Ok(files)
    }

    fn shown(&self, path: &Path) -> String {
        shown_path(path.strip_prefix(self.crate_dir).unwrap_or(path))
    }
}

/// Whether all of some files are among others, however their paths are spelt.
fn within(files: &[PathBuf], others: &[PathBuf]) -> bool {
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let others: Vec<PathBuf> = others.iter().map(real).collect();
    files.iter().all(|file| others.contains(&real(file)))
}

fn is_cassette(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("json" | "jsonl"))
}

fn file(path: &Path) -> Vec<PathBuf> {
    path.is_file()
        .then(|| path.to_owned())
        .into_iter()
        .collect()
}

/// The `.json` files of a folder, `run-2` before `run-10`.
fn folder(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let visible = entries.map(|entry| entry.path()).filter(|path| {
        let hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        !hidden
            && path.is_file()
            && path
                .extension()
                .is_some_and(|extension| extension == "json")
    });
    let mut files: Vec<PathBuf> = visible.collect();
    files.sort_by(|left, right| natural(left, right));
    files
}

/// Compares paths with runs of digits taken as numbers; equal numbers by the bytes.
fn natural(left: &Path, right: &Path) -> Ordering {
    let (left, right) = (left.to_string_lossy(), right.to_string_lossy());
    let (mut a, mut b) = (left.as_bytes(), right.as_bytes());
    loop {
        let digits = |bytes: &[u8]| {
            bytes
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count()
        };
        let (number_a, number_b) = (digits(a), digits(b));
        let (head_a, head_b) = (number_a.max(1).min(a.len()), number_b.max(1).min(b.len()));
        let ordering = if number_a > 0 && number_b > 0 {
            let strip = |bytes: &[u8]| bytes.iter().take_while(|byte| **byte == b'0').count();
            let (value_a, value_b) = (
                &a[strip(&a[..head_a])..head_a],
                &b[strip(&b[..head_b])..head_b],
            );
            value_a
                .len()
                .cmp(&value_b.len())
                .then_with(|| value_a.cmp(value_b))
        } else {
            a[..head_a].cmp(&b[..head_b])
        };
        if ordering != Ordering::Equal || a.is_empty() {
            return ordering.then_with(|| left.cmp(&right));
        }
        (a, b) = (&a[head_a..], &b[head_b..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = ["run-10", "run-2", "run-02", "run-1", "a", "run-2b", "run"];
        names.sort_by(|left, right| natural(Path::new(left), Path::new(right)));
        assert_eq!(
            names,
            ["a", "run", "run-1", "run-02", "run-2", "run-2b", "run-10"]
        );
    }

    #[test]
    fn the_order_is_total_and_huge_numbers_do_not_overflow() {
        let big = format!("run-{}", "9".repeat(400));
        let bigger = format!("run-1{}", "0".repeat(400));
        assert_eq!(natural(Path::new(&big), Path::new(&bigger)), Ordering::Less);
        assert_eq!(natural(Path::new("a"), Path::new("a")), Ordering::Equal);
    }
}
