//! The results of today as a baseline, and which agents can be one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use mcptest::command::command_line;
use mcptest::judge::{AgentTest, PackageCase, SideRuns};
use mcptest::result::{CaseResult, folder};
use mcptest_suite::{escape, portable_path};
use mcptest_trace::evidence::compare::CostKind;

use crate::failure::Failure;
use crate::judging::{OpenPackage, in_parallel};
use crate::output::Output;

/// Writes the results of all cases into a folder, in the place of the package's older ones, and says how many.
///
/// Agents without runs that anything can be compared with are told of and left out. Nothing is written
/// where no agent has any, and where the folder has runs of such an agent, which would be lost.
pub(super) fn save(
    opened: &OpenPackage,
    folder: &Path,
    output: &mut Output<'_>,
) -> Result<usize, Failure> {
    if let Some(other) = other_than_results(folder, &opened.package.name) {
        let what = format!(
            "`{}` is no folder of results, because it has `{}`; nothing was saved",
            folder.display(),
            portable_path(&other)
        );
        return Err(Failure::new(what).with_help(
            "name a new folder, or one that has nothing but results, such as `baseline`",
        ));
    }
    let agents = opened.suites.agents();
    let mut unusable = BTreeSet::new();
    for test in &agents {
        let told = match test.runs() {
            Ok(runs) => {
                let known =
                    SideRuns::from_recordings(test, runs, &opened.package.folder, CostKind::Tokens);
                if known.have_outcomes() || known.judged_by_gates().have_some_outcome() {
                    continue;
                }
                "no run of this agent was judged, so its outcomes cannot be compared".to_owned()
            }
            Err(why) => {
                unusable.insert(test.case());
                format!("left out, because its runs cannot be compared: {why}")
            }
        };
        writeln!(output.err, "{}: {}", test.case(), escape(&told))?;
    }
    let advice = format!(
        "`{}` says what is wrong with the recordings",
        command_line("validate")
    );
    if unusable.len() == agents.len() {
        let nobody = "no agent has runs that can be a baseline; nothing was saved";
        return Err(Failure::inconclusive(nobody).with_help(advice));
    }
    let older = read_existing(&folder.join(&opened.package.name));
    let asked: BTreeSet<&str> = agents.iter().map(AgentTest::case).collect();
    let lost = older.values().find(|old| {
        let runs = !old.runs.is_empty();
        let own = old.agent.as_ref().map(|agent| agent.case.as_str());
        let is_gone = own.is_some_and(|own| !asked.contains(own));
        runs && (is_gone || unusable.contains(old.case.as_str()))
    });
    if let Some(lost) = lost {
        let lost = format!(
            "`{}` has runs of {}, and saving would delete them; nothing was saved",
            folder.display(),
            lost.case
        );
        let help = format!(
            "{advice}; if you do not need the baseline of this agent any more, delete its files there, or save into another folder"
        );
        return Err(Failure::inconclusive(lost).with_help(help));
    }
    let cannot = |what: String| {
        Failure::new(format!("the results cannot be saved: {what}")).with_help(
            "name a folder that has only these results; put the folder into the repository if others use it as their baseline",
        )
    };
    let cases = opened.suites.cases();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for mut result in in_parallel(&cases, PackageCase::judge) {
        let agent = result.agent.as_ref().map(|agent| agent.case.as_str());
        if agent.is_some_and(|agent| unusable.contains(agent)) {
            continue;
        }
        // A duration would make every baseline another one.
        result.duration_ms = None;
        folder::write(folder, &result).map_err(|error| cannot(error.to_string()))?;
        names.insert(result.case);
    }
    for (path, old) in older {
        if !names.contains(&old.case) {
            fs::remove_file(&path)
                .map_err(|error| cannot(format!("{}: {error}", path.display())))?;
        }
    }
    Ok(names.len())
}

/// What a folder has besides results, where it has none of the package yet: then it is a folder of sources, or of
/// whatever else, in which nobody looks for results.
fn other_than_results(folder: &Path, package: &str) -> Option<PathBuf> {
    if !read_existing(&folder.join(package)).is_empty() {
        return None;
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<PathBuf> = entries
        .map(|entry| PathBuf::from(entry.file_name()))
        .collect();
    names.sort();
    names.into_iter().find(|name| {
        let is_hidden = name.to_string_lossy().starts_with('.');
        let explains = name.extension().is_some_and(|end| end == "md");
        let path = folder.join(name);
        let is_empty =
            || path.is_dir() && fs::read_dir(&path).is_ok_and(|mut all| all.next().is_none());
        let has_results = || {
            // Of another package.
            let of_package = path.is_dir() && !read_existing(&path).is_empty();
            let text = fs::read_to_string(&path);
            of_package || text.is_ok_and(|text| CaseResult::from_json(&text).is_ok())
        };
        !is_hidden && !explains && !is_empty() && !has_results()
    })
}

/// The results that a folder has.
fn read_existing(folder: &Path) -> BTreeMap<PathBuf, CaseResult> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).ok()?;
        Some((path, CaseResult::from_json(&text).ok()?))
    };
    entries.filter_map(|entry| read(entry.path())).collect()
}
