//! Results in a folder: one file a case, written by whichever process judged it.
//!
//! `MCPTEST_RESULTS=<folder>` asks for them. Each result is `<folder>/<package>/<case>.json`, with a
//! dot for each `::` of the case's name, put in place whole: cases may run in threads and in processes
//! of their own, and a case that is run again replaces its file. A folder that cannot be written to
//! is said once, and the test process fails.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::NamedTempFile;
use walkdir::WalkDir;

pub use super::read_error::ReadError;

use super::read_error::ReadCause;
use super::shards::{self, JudgedShard};
use super::{CaseResult, ResultFileCause, ResultFileError};
use crate::result::short_name;

/// The environment variable that names the folder.
pub const VARIABLE: &str = "MCPTEST_RESULTS";

/// The longest name of a file, without its extension.
const LONGEST: usize = 180;

/// Why a result of this process was not written, and what to do.
static UNWRITTEN: OnceLock<String> = OnceLock::new();

/// Why a result of this process was not written, and what to do; nothing where all were.
pub(crate) fn write_failure() -> Option<&'static str> {
    UNWRITTEN.get().map(String::as_str)
}

/// Leaves a result where the environment asks for it.
pub(crate) fn write_requested(result: impl FnOnce() -> CaseResult) {
    write_in_requested(|folder| write(folder, &result()));
}

/// Begins or ends a part of all cases, where the environment asks for results.
pub(crate) fn write_requested_shard(step: impl FnOnce(&Path) -> io::Result<()>) {
    write_in_requested(step);
}

fn write_in_requested<E: fmt::Display>(write: impl FnOnce(&Path) -> Result<(), E>) {
    let Some(folder) = requested_folder() else {
        return;
    };
    if let Err(error) = write(&folder) {
        UNWRITTEN.get_or_init(|| {
            let told = format!(
                "error: results are not written, and this run fails: {error}\nhelp: set `{VARIABLE}` to a folder that \
                 can be written to"
            );
            mcptest_trace::record::say(&told);
            told
        });
    }
}

/// The folder that the environment asks for.
fn requested_folder() -> Option<PathBuf> {
    let folder: OsString = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty())?;
    Some(PathBuf::from(folder))
}

/// Writes a result to its file below a folder, which is made where it is not there.
///
/// # Errors
///
/// The folder or the file cannot be written; the text says which and why.
pub fn write(folder: &Path, result: &CaseResult) -> Result<(), WriteError> {
    let path = folder.join(case_file(&result.package, &result.case));
    let place = path.parent().unwrap_or(folder);
    let failed = |error: io::Error| WriteError {
        path: path.clone(),
        error,
    };
    fs::create_dir_all(place).map_err(failed)?;
    let mut file = NamedTempFile::with_prefix_in(".writing-", place).map_err(failed)?;
    file.write_all(result.to_json().as_bytes())
        .map_err(failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// A result that could not be written.
#[derive(Debug)]
pub struct WriteError {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = mcptest_suite::portable_path(&self.path);
        write!(f, "{}: {}", mcptest_suite::escape_line(&path), self.error)
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// The file of a case, below the folder. Names of cases have no dot in them, so different cases have
/// different files; a long name is cut and told apart by its digest.
pub(crate) fn case_file(package: &str, case: &str) -> PathBuf {
    let name = short_name(&case.replace("::", "."), LONGEST);
    Path::new(package).join(name + ".json")
}

/// The result of a case that was left in a folder; nothing where there is none. An error names the file that is
/// none of this version.
pub(crate) fn read_case(
    folder: &Path,
    package: &str,
    case: &str,
) -> Result<Option<CaseResult>, ResultFileError> {
    let file = case_file(package, case);
    match read_file(&folder.join(&file)) {
        Err(ResultFileCause::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read
            .map(Some)
            .map_err(|cause| ResultFileError { file, cause }),
    }
}

/// Reads the result that a file holds.
pub(crate) fn read_file(path: &Path) -> Result<CaseResult, ResultFileCause> {
    let text = fs::read_to_string(path)?;
    Ok(CaseResult::from_json(&text)?)
}

/// The results in a folder, whoever wrote them.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Results {
    /// By package and name of the case.
    pub cases: Vec<CaseResult>,
    /// Files that are no results of this version, with why; they are left out.
    pub unreadable: Vec<(String, String)>,
}

impl Results {
    /// Reads every result below a folder, in the order of packages and names.
    ///
    /// ```
    /// use mcptest::result::folder::Results;
    ///
    /// let nothing = Results::read("there/is/no/such/folder".as_ref());
    /// assert!(nothing.unwrap_err().to_string().contains("no such folder"));
    /// ```
    ///
    /// # Errors
    ///
    /// There is no such folder, no result in it, or results of one suite that were made when its text
    /// was another: they say nothing together. Or a part of what was judged in parts is missing.
    pub fn read(folder: &Path) -> Result<Self, ReadError> {
        Self::read_all(&[folder])
    }

    /// Reads the results of several folders as those of one, e.g. of several machines.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read); or two folders have other results of one case.
    pub fn read_all(folders: &[impl AsRef<Path>]) -> Result<Self, ReadError> {
        let mut results = Self::default();
        let mut shards = Vec::new();
        for folder in folders {
            results.add(folder.as_ref(), &mut shards)?;
        }
        let folder = folders.first().map_or(Path::new(""), AsRef::as_ref);
        let refused = |cause| ReadError::new(folder, cause);
        shards::check_whole(&shards).map_err(|error| refused(ReadCause::Shards(error)))?;
        if results.cases.is_empty() {
            let first = results.unreadable.into_iter().next();
            return Err(refused(ReadCause::Empty(first)));
        }
        let by_name = |result: &CaseResult| (result.package.clone(), result.case.clone());
        results.cases.sort_by_cached_key(by_name);
        results.check_one_state(folder)?;
        results.deduplicate(folder)?;
        Ok(results)
    }

    /// Reads what is below a folder.
    fn add(&mut self, folder: &Path, shards: &mut Vec<JudgedShard>) -> Result<(), ReadError> {
        if !folder.is_dir() {
            return Err(ReadError::new(folder, ReadCause::NoFolder));
        }
        for entry in WalkDir::new(folder).sort_by_file_name() {
            let unlisted = |error| ReadError::new(folder, ReadCause::Unlisted(error));
            let entry = entry.map_err(unlisted)?;
            let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            let ends = |end: &str| path.extension().is_some_and(|own| own == end);
            if !entry.file_type().is_file() {
                continue;
            }
            let shown = || mcptest_suite::portable_path(path);
            if ends(shards::END) {
                let shard = JudgedShard::read(entry.path()).map_err(|error| {
                    let file = shown();
                    ReadError::new(folder, ReadCause::Shard { file, error })
                });
                shards.push(shard?);
            }
            if !ends("json") {
                continue;
            }
            match read_file(entry.path()) {
                Ok(result) => self.cases.push(result),
                Err(cause) => self.unreadable.push((shown(), cause.to_string())),
            }
        }
        Ok(())
    }

    /// Leaves one result for each case. What several machines judged alike stays once.
    fn deduplicate(&mut self, folder: &Path) -> Result<(), ReadError> {
        let same_case = |left: &CaseResult, right: &CaseResult| {
            (&left.package, &left.case) == (&right.package, &right.case)
        };
        let timeless = |result: &CaseResult| CaseResult {
            duration_ms: None,
            ..result.clone()
        };
        let mut pairs = self.cases.windows(2);
        let differs = |pair: &&[CaseResult]| {
            same_case(&pair[0], &pair[1]) && timeless(&pair[0]) != timeless(&pair[1])
        };
        if let Some(pair) = pairs.find(differs) {
            let case = pair[0].case.clone();
            return Err(ReadError::new(folder, ReadCause::Differing { case }));
        }
        self.cases.dedup_by(|right, left| same_case(left, right));
        Ok(())
    }

    /// Checks that all results of a suite were made when its text was the same.
    fn check_one_state(&self, folder: &Path) -> Result<(), ReadError> {
        let mut suites: BTreeMap<(&str, &str), (&str, &str)> = BTreeMap::new();
        for result in &self.cases {
            let suite = (result.package.as_str(), result.suite.file.as_str());
            let state = (result.suite.digest.as_str(), result.case.as_str());
            let (known, first) = *suites.entry(suite).or_insert(state);
            if known != state.0 {
                let cause = ReadCause::SeveralStates {
                    suite: result.suite.file.clone(),
                    cases: [first.to_owned(), result.case.clone()],
                };
                return Err(ReadError::new(folder, cause));
            }
        }
        Ok(())
    }

    /// Keeps the cases that a package has, and gives the names of those that it no longer has.
    pub fn retain(&mut self, package: &str, has: impl Fn(&str) -> bool) -> Vec<String> {
        let gone = |result: &CaseResult| result.package == package && !has(&result.case);
        let names = self.cases.iter().filter(|result| gone(result));
        let names = names.map(|result| result.case.clone()).collect();
        self.cases.retain(|result| !gone(result));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(case: &str, digest: &str) -> CaseResult {
        let mut result = CaseResult::new("shop", case);
        result.suite = super::super::SuiteFacts::new("a", "suites/a.yml", digest.to_owned());
        result
    }

    #[test]
    fn a_case_that_is_run_again_replaces_its_file_and_reading_merges() {
        let folder = tempfile::tempdir().unwrap();
        for case in ["a::z", "a::b::c", "a::z"] {
            write(folder.path(), &result(case, "1")).unwrap();
        }
        let results = Results::read(folder.path()).unwrap();
        let names: Vec<_> = results
            .cases
            .iter()
            .map(|case| case.case.as_str())
            .collect();
        assert_eq!(names, ["a::b::c", "a::z"]);
        assert!(folder.path().join("shop/a.b.c.json").is_file());
        assert_eq!(fs::read_dir(folder.path().join("shop")).unwrap().count(), 2);
    }

    #[test]
    fn results_of_two_texts_of_a_suite_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &result("a::b", "1")).unwrap();
        write(folder.path(), &result("a::c", "2")).unwrap();
        let error = Results::read(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains(
                "the results of `a::b` and `a::c` come from two different versions of suites/a.yml"
            ),
            "{error}"
        );
    }

    #[test]
    fn what_is_no_result_is_named_and_left_out() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &result("a::b", "1")).unwrap();
        fs::write(folder.path().join("shop/half.json"), r#"{"schema_ver"#).unwrap();
        fs::write(
            folder.path().join("shop/newer.json"),
            r#"{"schema_version": "3.0"}"#,
        )
        .unwrap();
        let results = Results::read(folder.path()).unwrap();
        assert_eq!(results.cases.len(), 1);
        let [(half, no_json), (newer, version)] = &results.unreadable[..] else {
            panic!("{:?}", results.unreadable);
        };
        assert_eq!(
            (half.as_str(), newer.as_str()),
            ("shop/half.json", "shop/newer.json")
        );
        assert!(no_json.starts_with("not JSON: "), "{no_json}");
        assert_eq!(
            version,
            "the result has format 3.0, and this harness reads 2.1: write the result again with `MCPTEST_RESULTS`"
        );
    }

    #[test]
    fn cases_that_are_gone_are_named_and_left_out() {
        let mut results = Results {
            cases: vec![result("a::b", "1"), result("a::c", "1")],
            unreadable: Vec::new(),
        };
        assert_eq!(results.retain("shop", |case| case == "a::b"), ["a::c"]);
        assert_eq!(results.cases.len(), 1);
    }

    #[test]
    fn a_long_name_has_a_file_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        for end in ["x", "y"] {
            let case = format!("a::{}{end}", "ü".repeat(300));
            write(folder.path(), &result(&case, "1")).unwrap();
        }
        assert_eq!(Results::read(folder.path()).unwrap().cases.len(), 2);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_said() {
        let file = NamedTempFile::new().unwrap();
        let error = write(&file.path().join("below"), &result("a::b", "1")).unwrap_err();
        assert!(error.to_string().contains("a.b.json: "), "{error}");
    }
}
