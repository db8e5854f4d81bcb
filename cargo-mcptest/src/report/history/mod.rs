//! How the agents did, commit by commit: recordings as git has them, judged by the suites of today.
//!
//! - `recorded`: what each commit has of each agent; a file that did not change is judged once;
//! - `judged`: the runs of an agent over the commits;
//! - `results`: the same of agents whose results are committed, and no recordings;
//! - `change`: the commits in which a test finds that an agent became another one.

mod change;
mod judged;
mod recorded;
mod results;

use mcptest_trace::stats::wilson;
use serde::Serialize;
use serde_json::{Value, json};

use crate::compare::declared_folders;
use crate::failure::Failure;
use crate::git::{Commit, History, RepositoryPaths};
use crate::judging::OpenPackage;
use change::{Change, find_changes};
use judged::{AgentHistory, JudgedRun, State};
use recorded::read_agents;

/// An agent as the page has it.
#[derive(Debug, Serialize)]
struct AgentView {
    /// Its own case.
    case: String,
    /// What says whether a run passed.
    outcomes: &'static str,
    points: Vec<Point>,
    changes: Vec<Change>,
}

/// An agent in a commit that changed its recordings.
#[derive(Debug, Serialize)]
struct Point {
    /// Which of the commits.
    commit: usize,
    runs: usize,
    passed: usize,
    /// Runs of which it is known if they passed.
    judged: usize,
    /// The share of passes with its 95% interval, where one is known.
    share: Option<[f64; 3]>,
    /// Means over the runs, where each has one.
    tokens: Option<f64>,
    ms: Option<f64>,
    usd: Option<f64>,
}

/// The page of the commits since a revision, or of the last ones.
pub(super) fn page(opened: &OpenPackage, since: Option<&str>) -> Result<Value, Failure> {
    let suites = opened.suites.suites();
    let places = RepositoryPaths {
        named: declared_folders(opened),
        package: opened.package.name.clone(),
        suites: suites.map(|(name, _)| name.replace("::", ".")).collect(),
    };
    let mut history = History::read(&opened.package.folder, since, &places)?;
    if history.commits.is_empty() {
        let nothing = "no commit touched a recording or a result of this package";
        return Err(
            Failure::inconclusive(nothing).with_help("commit the recordings beside their suites")
        );
    }
    let (agents, notes) = read_agents(opened, &mut history)?;
    let files: usize = agents.iter().map(|agent| agent.files.len()).sum();
    let changes = find_changes(&agents);
    let agents: Vec<AgentView> = agents
        .iter()
        .zip(changes)
        .map(|(agent, changes)| agent_view(agent, changes))
        .collect();
    let commits: Vec<Value> = history.commits.iter().map(commit_json).collect();
    let notes = [&history.notes[..], &notes].concat();
    Ok(json!({
        "commits": commits,
        "agents": agents,
        "notes": notes,
        "files": files,
    }))
}

fn commit_json(commit: &Commit) -> Value {
    json!({ "name": commit.name, "time": commit.time, "subject": commit.subject })
}

fn agent_view(agent: &AgentHistory, changes: Vec<Change>) -> AgentView {
    AgentView {
        case: agent.case.clone(),
        outcomes: agent.outcome().describe(),
        points: agent
            .states
            .iter()
            .map(|state| history_point(agent, state))
            .collect(),
        changes,
    }
}

fn history_point(agent: &AgentHistory, state: &State) -> Point {
    let runs: Vec<&JudgedRun> = agent.runs(state).collect();
    let outcomes = runs.iter().filter_map(|run| run.passed(agent.outcome()));
    let (passed, judged) = outcomes.fold((0, 0), |(passed, judged), outcome| {
        (passed + usize::from(outcome), judged + 1)
    });
    let interval = wilson(passed as u64, judged as u64, 0.95);
    let mean = |value: fn(&JudgedRun) -> Option<f64>| {
        let values: Option<Vec<f64>> = runs.iter().map(|run| value(run)).collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / to_f64(values.len()))
    };
    Point {
        commit: state.commit,
        runs: runs.len(),
        passed,
        judged,
        share: interval.map(|found| [found.low, to_f64(passed) / to_f64(judged), found.high]),
        tokens: mean(|run| run.tokens),
        ms: mean(|run| run.ms),
        usd: mean(|run| run.usd),
    }
}

fn to_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
