//! Finding suite files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcptest_suite::{SuitePath, SuitePathError, portable_path};
use walkdir::{DirEntry, WalkDir};

/// A suite file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SuiteFile {
    pub(crate) path: PathBuf,
    /// Relative to the crate, with slashes.
    pub(crate) shown: String,
    /// Relative to the root it was found in.
    pub(crate) relative: PathBuf,
}

/// What was found below the roots.
#[derive(Debug, Default)]
pub(crate) struct Discovered {
    /// The files that have a name of their own, in byte order of their paths.
    pub(crate) suites: Vec<(SuitePath, SuiteFile)>,
    /// Case name and text of each thing that is wrong.
    pub(crate) problems: Vec<(String, String)>,
}

/// Every suite below the roots (relative to the crate's folder).
pub(crate) fn discover(crate_dir: &Path, roots: &[PathBuf]) -> Discovered {
    let mut found = Discovered::default();
    let mut by_name: BTreeMap<SuitePath, Vec<SuiteFile>> = BTreeMap::new();
    for root in roots {
        let files = find_suites(crate_dir, root);
        if files.is_empty() {
            found
                .problems
                .push((root_case(root), nothing_found(crate_dir, root)));
        }
        for result in files {
            let file = match result {
                Ok(file) => file,
                Err(problem) => {
                    found.problems.push((root_case(root), problem));
                    continue;
                }
            };
            match SuitePath::from_path(&file.relative) {
                Ok(name) => by_name.entry(name).or_default().push(file),
                Err(SuitePathError { part, .. }) => found.problems.push((
                    root_case(root),
                    format!(
                        "error: no case name can be made of `{part}` in {}\n\nhelp: rename it with at least one letter or digit",
                        mcptest_suite::escape_line(&file.shown)
                    ),
                )),
            }
        }
    }
    for (name, mut files) in by_name {
        if files.len() == 1 {
            found.suites.extend(files.pop().map(|file| (name, file)));
            continue;
        }
        let shown: Vec<_> = files
            .iter()
            .map(|file| mcptest_suite::escape_line(&file.shown))
            .collect();
        let text = format!(
            "error: {} suites have the name `{name}`: {}\n\nhelp: rename all but one; a name keeps letters, digits and `_`, in lower case, without the extension",
            files.len(),
            shown.join(", ")
        );
        found.problems.push((format!("{name}::load"), text));
    }
    found
        .suites
        .sort_by(|(_, left), (_, right)| left.shown.cmp(&right.shown));
    found
}

/// The name of the case for a problem of a root.
fn root_case(root: &Path) -> String {
    let name = SuitePath::from_path(root).map_or("suites".to_owned(), |name| name.to_string());
    format!("{name}::load")
}

fn nothing_found(crate_dir: &Path, root: &Path) -> String {
    let state = if crate_dir.join(root).is_dir() {
        "holds no .yml or .yaml file"
    } else {
        "does not exist"
    };
    let root = portable_path(root);
    format!(
        "error: no suite found: `{root}` {state}\n  in {}\n\nhelp: write a suite, e.g. {root}/weather.yml, with `agents:` and at least one agent test",
        portable_path(crate_dir)
    )
}

/// The suite files below one root, in byte order of their paths.
fn find_suites(crate_dir: &Path, root: &Path) -> Vec<Result<SuiteFile, String>> {
    let top = crate_dir.join(root);
    let Ok(real) = top.canonicalize() else {
        return Vec::new();
    };
    // Sorted below: to sort entries, the walk would read folders of recordings that it then skips.
    let entries = WalkDir::new(&top).follow_links(true).into_iter();
    let wanted = entries.filter_entry(|entry| entry.depth() == 0 || is_wanted(entry, &real));
    let mut files = Vec::new();
    for entry in wanted {
        let path = match &entry {
            Ok(entry) => entry.path().to_owned(),
            Err(error) => error.path().map(Path::to_owned).unwrap_or_default(),
        };
        let file = match entry {
            Ok(entry) if entry.file_type().is_file() && is_suite(entry.path()) => {
                let relative = entry
                    .path()
                    .strip_prefix(&top)
                    .unwrap_or(entry.path())
                    .to_owned();
                Ok(SuiteFile {
                    shown: portable_path(&root.join(&relative)),
                    path: entry.into_path(),
                    relative,
                })
            }
            Ok(entry) if entry.file_type().is_file() && is_nearly_suite(entry.path()) => {
                let relative = entry.path().strip_prefix(&top).unwrap_or(entry.path());
                Err(format!(
                    "error: `{}` is not read: the name of a suite ends in `.yml` or `.yaml`\n\nhelp: rename it, or move it out of the folder of suites",
                    portable_path(&root.join(relative))
                ))
            }
            Ok(_) => continue,
            // A link to a folder above it would never end.
            Err(error) if error.loop_ancestor().is_some() => continue,
            // A link that leads nowhere is no suite unless it is named like one.
            Err(error)
                if error
                    .path()
                    .is_some_and(|path| path.is_symlink() && !is_suite(path)) =>
            {
                continue;
            }
            Err(error) => {
                let path = error.path().map_or(String::new(), |path| {
                    portable_path(path.strip_prefix(crate_dir).unwrap_or(path))
                });
                let reason = error.io_error().map_or(String::new(), ToString::to_string);
                Err(format!(
                    "error: `{path}` cannot be read: {reason}\n\nhelp: correct or remove it"
                ))
            }
        };
        files.push((path, file));
    }
    files.sort_by(|(left, _), (right, _)| left.cmp(right));
    files.into_iter().map(|(_, file)| file).collect()
}

/// Hidden entries, folders of recordings and snapshots, and links out of the root are not looked at.
fn is_wanted(entry: &DirEntry, root: &Path) -> bool {
    let name = entry.file_name().to_string_lossy();
    let kept_apart = entry.file_type().is_dir() && (name == "cassettes" || name == "snapshots");
    let outside = || {
        entry.path_is_symlink()
            && entry
                .path()
                .canonicalize()
                .is_ok_and(|target| !target.starts_with(root))
    };
    // Its suites are those of its own tests, and its target folder is large.
    let other_package = || entry.file_type().is_dir() && entry.path().join("Cargo.toml").is_file();
    !name.starts_with('.') && !kept_apart && !outside() && !other_package()
}

/// Whether a file is named as a suite would be but for the case of its letters, or a `.txt` that an
/// editor has added.
fn is_nearly_suite(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    let name = name.strip_suffix(".txt").unwrap_or(&name);
    [".yml", ".yaml", ".ymal", ".yam"]
        .iter()
        .any(|end| name.ends_with(end))
}

fn is_suite(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("yml" | "yaml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suites_of_another_package_are_left_to_its_tests() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str| {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        for file in [
            "examples/Cargo.toml",
            "examples/a.yml",
            "examples/other/Cargo.toml",
            "examples/other/b.yml",
        ] {
            write(file);
        }
        let found = discover(folder.path(), &["examples".into()]);
        let names: Vec<&str> = found
            .suites
            .iter()
            .map(|(_, file)| file.shown.as_str())
            .collect();
        assert_eq!(names, ["examples/a.yml"]);
    }

    #[test]
    fn a_file_that_is_nearly_a_suite_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let suites = folder.path().join("suites");
        std::fs::create_dir_all(suites.join("shop")).unwrap();
        for file in [
            "a.yml",
            "B.YML",
            "shop/c.Yaml",
            "d.yml.txt",
            "e.yaml.bak",
            "notes.txt",
            "f.md",
        ] {
            std::fs::write(suites.join(file), "").unwrap();
        }
        let found = discover(folder.path(), &["suites".into()]);
        let names: Vec<&str> = found
            .suites
            .iter()
            .map(|(_, file)| file.shown.as_str())
            .collect();
        assert_eq!(names, ["suites/a.yml"]);
        let cases: Vec<&str> = found
            .problems
            .iter()
            .map(|(case, _)| case.as_str())
            .collect();
        assert_eq!(cases, ["suites::load"; 3]);
        let texts: Vec<&str> = found
            .problems
            .iter()
            .map(|(_, text)| text.lines().next().unwrap())
            .collect();
        assert!(texts[0].contains("`suites/B.YML`"), "{texts:?}");
        assert!(texts[1].contains("`suites/d.yml.txt`"), "{texts:?}");
        assert!(texts[2].contains("`suites/shop/c.Yaml`"), "{texts:?}");
    }
}
