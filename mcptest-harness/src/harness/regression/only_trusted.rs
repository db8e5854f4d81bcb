//! Agents that only the baseline has: those that nobody asks for any more, and those with another model.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use mcptest_suite::model::{Agent, Suite};
use mcptest_suite::{Subject, cassette_slug, portable_path};
use mcptest_trace::evidence::compare::AgentName;

use super::error::BaselineError;
use super::trusted::{ResultAgent, TrustedPlace};
use crate::gate::GateReading;
use crate::harness::discovery::discover;
use crate::harness::listing::{self, is_cassette};
use crate::harness::loaded::LoadedSuite;
use crate::result::folder;
use crate::trace::read_runs;

/// An agent of the baseline that no agent of the suite is.
pub(super) struct OnlyTrusted {
    /// The stem of its recordings.
    pub(super) stem: String,
    /// What it is called, where that is known.
    pub(super) name: Option<AgentName>,
}

impl OnlyTrusted {
    /// Whether an agent has its name, and so was recorded with another model before.
    pub(super) fn is_named_like(&self, agent: &Agent) -> bool {
        match &self.name {
            Some(name) => name.agent == agent.name.value,
            None => stem_agent(&self.stem) == cassette_slug(&agent.name.value),
        }
    }

    /// The model that it was recorded with.
    pub(super) fn model(&self) -> &str {
        match &self.name {
            Some(name) => &name.model,
            None => self.stem.split_once("__").map_or("", |(_, model)| model),
        }
    }
}

/// The agents of the baseline that no agent of the suite is. `then`: the cases that agents of the suite had in it.
pub(super) fn find_only_trusted(
    suite: &LoadedSuite,
    place: &TrustedPlace,
    then: &BTreeSet<String>,
) -> Result<Vec<OnlyTrusted>, BaselineError> {
    Ok(match place {
        TrustedPlace::Results { .. } => {
            let agents = place.result_agents()?.iter();
            let own = agents.filter(|it| it.is_asked_by(suite) || it.has_no_suite(suite));
            let mut found = BTreeMap::new();
            for ResultAgent { agent, .. } in own {
                if !then.contains(&agent.case) {
                    let name = AgentName::new(&agent.name, &agent.model);
                    found.insert(agent.stem.clone(), Some(name));
                }
            }
            let found = found.into_iter();
            found
                .map(|(stem, name)| OnlyTrusted { stem, name })
                .collect()
        }
        TrustedPlace::Recordings(folder) => {
            let declared = suite_stems(&suite.suite);
            let found = recorded_stems(suite, folder).into_iter();
            let others = found.filter(|(stem, _)| !declared.contains(stem));
            others
                .map(|(stem, first)| OnlyTrusted {
                    name: recorded_name(&first),
                    stem,
                })
                .collect()
        }
    })
}

/// The stems of the agents that the package's other suites ask for; nothing where one of them does not load, so that
/// nobody knows, and its own case is red.
pub(super) fn other_suites_stems(suite: &LoadedSuite) -> Option<BTreeSet<String>> {
    let own = suite.source().path();
    let root = suite.root();
    let root = root.strip_prefix(suite.crate_dir()).unwrap_or(root);
    let found = discover(suite.crate_dir(), &[root.to_owned()]);
    let mut stems = BTreeSet::new();
    for (_, file) in found.suites {
        if file.path == own {
            continue;
        }
        let source = Suite::open(&file.path, &file.shown).ok()?;
        let other = Suite::parse_with(source, &mut GateReading::default()).ok()?;
        stems.extend(suite_stems(&other));
    }
    Some(stems)
}

/// Whether a folder has a recording of any agent where the suite looks for them.
pub(super) fn has_recordings(suite: &LoadedSuite, folder: &Path) -> bool {
    !recorded_stems(suite, folder).is_empty()
}

/// Whether results tell of an agent, though its own case is not among them.
pub(super) fn lacks_own_case(place: &TrustedPlace, case: &str) -> Result<bool, BaselineError> {
    let mut agents = place.result_agents()?.iter();
    Ok(agents.any(|it| it.agent.case == case))
}

impl ResultAgent {
    /// Whether the suite asked for it.
    fn is_asked_by(&self, suite: &LoadedSuite) -> bool {
        self.suite.file == suite.source().display_path()
    }

    /// Whether the suite that asked for it is gone, or has another name now.
    fn has_no_suite(&self, suite: &LoadedSuite) -> bool {
        !suite.crate_dir().join(&self.suite.file).is_file()
    }
}

/// The case that an agent had in the baseline's results, whose suite may have had another name; its own case where
/// there is none.
pub(super) fn former_case(
    suite: &LoadedSuite,
    place: &TrustedPlace,
    subject: Subject,
    own: String,
) -> Result<String, BaselineError> {
    let TrustedPlace::Results {
        folder, package, ..
    } = place
    else {
        return Ok(own);
    };
    if folder.join(folder::case_file(package, &own)).is_file() {
        return Ok(own);
    }
    let agents = place.result_agents()?;
    if agents.iter().any(|it| it.agent.case == own) {
        return Ok(own);
    }
    let agent = suite.agent(subject);
    let stems = agent.cassette_stems(&agent.models[subject.model].value);
    let mut before = agents.iter().filter(|it| it.has_no_suite(suite));
    let before = before.find(|it| stems.contains(&it.agent.stem));
    Ok(before.map_or(own, |it| it.agent.case.clone()))
}

/// The stems of all recordings where a suite's are looked for below a folder, each with its first file.
fn recorded_stems(suite: &LoadedSuite, folder: &Path) -> BTreeMap<String, PathBuf> {
    let is_named = |path: &Path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        stem.contains("__").then(|| stem.into_owned())
    };
    let mut stems = BTreeMap::new();
    for place in suite.run_places_in(folder) {
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || !name.contains("__") {
                continue;
            }
            let found = if path.is_dir() {
                // What has a name of its own below it is no run of this one.
                let mut runs = listing::list_folder(&path).runs.into_iter();
                runs.find(|run| is_named(run).is_none())
                    .map(|run| (name, run))
            } else {
                is_named(&path)
                    .filter(|_| is_cassette(&path))
                    .map(|stem| (stem, path))
            };
            if let Some((stem, first)) = found {
                stems.entry(stem).or_insert(first);
            }
        }
    }
    stems
}

/// What a recording calls its agent.
fn recorded_name(file: &Path) -> Option<AgentName> {
    let runs = read_runs(&[(file.to_owned(), portable_path(file))]).ok()?;
    let run = runs.into_iter().next()?;
    Some(AgentName::new(run.agent_name?, run.model))
}

/// The stems of all agents of a suite.
fn suite_stems(suite: &Suite) -> BTreeSet<String> {
    let agents = suite.agents.iter();
    let stems = agents.flat_map(|agent| {
        let models = agent.models.iter();
        models.flat_map(|model| agent.cassette_stems(&model.value))
    });
    stems.collect()
}

/// The agent of a stem.
fn stem_agent(stem: &str) -> &str {
    stem.split("__").next().unwrap_or_default()
}
