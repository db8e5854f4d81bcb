//! The recordings of an agent below a folder, whatever the model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcptest::judge::AgentTest;
use mcptest::trace::{Run, read_runs};
use mcptest_suite::{cassette_slug, quoted_list, shown_path};

use crate::failure::Failure;
use crate::files::files;

/// The stems of all recordings below a folder, each with its files in the order of the runs.
pub(super) fn stems(folder: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut stems: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in files(folder, &["json", "jsonl"], &["target", "src"]) {
        let own = path.file_stem();
        let above = path.parent().and_then(Path::file_name);
        // A stem is an agent and a model.
        let stem = [own, above].into_iter().flatten().find_map(|name| {
            let name = name.to_string_lossy();
            name.contains("__").then(|| name.into_owned())
        });
        if let Some(stem) = stem {
            stems.entry(stem).or_default().push(path);
        }
    }
    for files in stems.values_mut() {
        // `run-2` before `run-10`.
        files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    }
    stems
}

/// The agent of a stem.
pub(super) fn agent_of(stem: &str) -> &str {
    stem.split("__").next().unwrap_or_default()
}

/// Whether a folder has recordings of agents, told by their stems, by another model.
pub(super) fn has_another_model(agents: &[String], folder: &Path) -> bool {
    let stems = stems(folder);
    let wanted = |stem: &String| agents.iter().any(|agent| agent_of(agent) == agent_of(stem));
    stems.keys().any(wanted)
}

/// The runs of an agent with its own model, else with the only other one that it has there.
pub(super) fn runs(agent: &AgentTest<'_>, folder: &Path) -> Result<Option<Vec<Run>>, Failure> {
    let failed = |why: String| Failure::new(format!("{}: {why}", agent.case()));
    if let Some(runs) = agent.runs_in(folder).map_err(failed)? {
        return Ok(Some(runs));
    }
    let beginning = format!("{}__", cassette_slug(&agent.agent().name.value));
    let mut found = stems(folder);
    found.retain(|stem, _| stem.starts_with(&beginning));
    if found.len() > 1 {
        let several = quoted_list(found.keys().map(String::as_str));
        return Err(
            failed(format!("there are recordings of several models: {several}"))
                .help("name a folder that has those of one"),
        );
    }
    let Some((_, files)) = found.pop_first() else {
        return Ok(None);
    };
    let files: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|path| {
            let shown = shown_path(path.strip_prefix(folder).unwrap_or(&path));
            (path, shown)
        })
        .collect();
    let runs = read_runs(&files).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        failed(errors.join("\n"))
    })?;
    Ok(Some(runs))
}
