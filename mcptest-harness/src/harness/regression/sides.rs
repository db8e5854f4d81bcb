//! The runs of an agent on two sides: recorded, or told of by results.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mcptest_suite::clean_line;
use similar::{ChangeTag, TextDiff};

use crate::harness::replay::AgentTest;
use crate::result::{CaseResult, digest};
use crate::trace::Run;
use mcptest_trace::evidence::compare::{Behaviour, Cost, CostKind, RunSample, Sides};

/// How many lines of a diff are shown.
const LINES: usize = 12;

/// The longest line of a diff.
const LONGEST: usize = 160;

/// A run of a side.
#[derive(Debug, Clone)]
pub(crate) struct SideRun {
    sample: RunSample,
    /// Whether the gates hold for it, where one of them judges runs one by one.
    gates: Option<bool>,
    bytes: Bytes,
    /// What it was recorded with that the suite does not say, a line each.
    differences: Vec<String>,
}

/// What tells the bytes of runs apart.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bytes {
    /// The digest of the file, and the line in it: what results have.
    file: (String, Option<usize>),
    /// The run itself, where its file is at hand: its length and its digest.
    own: Option<(usize, String)>,
}

impl Bytes {
    fn are(&self, other: &Self) -> bool {
        match (&self.own, &other.own) {
            (Some(own), Some(others)) => own == others,
            _ => self.file == other.file,
        }
    }
}

/// The recorded runs of an agent, whose files lie below a folder.
pub(crate) fn recorded(
    agent: &AgentTest<'_>,
    runs: &[Run],
    folder: &Path,
    cost: CostKind,
) -> Vec<SideRun> {
    let asks = agent.asks();
    let mut files: BTreeMap<String, (String, Vec<u8>)> = BTreeMap::new();
    let mut of_run = |run: &Run| {
        let origin = &run.origin;
        let file = files.entry(origin.shown.clone());
        let (file, bytes) = file.or_insert_with(|| {
            let bytes = std::fs::read(folder.join(&origin.shown)).unwrap_or_default();
            (digest(&String::from_utf8_lossy(&bytes)), bytes)
        });
        let line = |line: usize| bytes.split(|byte| *byte == b'\n').nth(line - 1);
        let own = match origin.line {
            Some(at) => line(at).unwrap_or_default().trim_ascii(),
            None => bytes,
        };
        let texts = [&run.user_prompt, &run.system_prompt];
        let texts = texts.map(|text| (digest(text), text.clone()));
        let verdicts = asks.iter().filter_map(|ask| ask.holds_for(run));
        SideRun {
            sample: RunSample::of(run, cost),
            gates: verdicts.reduce(|all, holds| all && holds),
            bytes: Bytes {
                file: (file.clone(), origin.line),
                own: Some((own.len(), digest(&String::from_utf8_lossy(own)))),
            },
            differences: differences(agent, &run.model, &texts),
        }
    };
    runs.iter().map(&mut of_run).collect()
}

/// The results of an agent's cases.
#[derive(Debug, Default)]
pub(crate) struct AgentResults {
    /// The agent's own case, which has what the runs did.
    own: Option<CaseResult>,
    /// Whether all its cases that judge run by run hold, run by run.
    hold: Option<Vec<bool>>,
}

impl AgentResults {
    /// Takes in the result of one of the agent's cases.
    pub(crate) fn take(&mut self, case: CaseResult) {
        if !case.runs_hold.is_empty() {
            let known = self.hold.take();
            let known = known.unwrap_or_else(|| vec![true; case.runs_hold.len()]);
            let both = known.iter().zip(&case.runs_hold);
            self.hold = Some(both.map(|(all, holds)| *all && *holds).collect());
        }
        if case.gate.is_none() {
            self.own = Some(case);
        }
    }

    /// The digests of the files that the runs were recorded in.
    pub(crate) fn digests(&self) -> BTreeSet<&str> {
        let recordings = self.own.iter().flat_map(|own| &own.recordings);
        recordings
            .map(|recording| recording.digest.as_str())
            .collect()
    }

    /// The runs that the results tell of.
    pub(crate) fn runs(&self, agent: &AgentTest<'_>, cost: CostKind) -> Vec<SideRun> {
        let Some(own) = &self.own else {
            return Vec::new();
        };
        let of_agent = own.agent.as_ref();
        let model = of_agent.map_or(agent.model(), |agent| &agent.model);
        let runs = own.runs.iter().zip(&own.recordings).enumerate();
        let runs = runs.map(|(place, (run, recording))| {
            let amount = match cost {
                CostKind::Tokens => run.tokens,
                CostKind::Steps => run.model_calls,
                CostKind::Calls => u64::try_from(run.calls.len()).ok(),
                _ => None,
            };
            let text = |digest: &String| {
                let text = own.prompts.get(digest).cloned();
                (digest.clone(), text.unwrap_or_default())
            };
            let hold = self.hold.as_ref();
            SideRun {
                sample: RunSample::default()
                    .with_passed(run.passed)
                    .with_cost(amount.map(Cost::measured))
                    .with_behaviour(Some(Behaviour::new(run.tools.clone(), run.calls.clone()))),
                gates: hold.and_then(|hold| hold.get(place).copied()),
                bytes: Bytes {
                    file: (recording.digest.clone(), recording.line),
                    own: None,
                },
                differences: differences(
                    agent,
                    model,
                    &[text(&run.prompt), text(&run.system_prompt)],
                ),
            }
        });
        runs.collect()
    }
}

impl SideRun {
    /// The same as results have it, so that it can be compared with one: calls by their digest, and no
    /// values of arguments.
    pub(crate) fn into_result(mut self) -> Self {
        if let Some(behaviour) = &mut self.sample.behaviour {
            behaviour.arguments = BTreeMap::new();
            for call in &mut behaviour.calls {
                *call = digest(call);
            }
        }
        self
    }

    fn sample(self, recorded: bool) -> RunSample {
        let passed = if recorded {
            self.sample.passed
        } else {
            self.gates
        };
        self.sample.with_passed(passed)
    }
}

/// What is compared of an agent with runs on both sides. A run passed if its recording says so, where
/// all of them say one or the other, else if the gates hold for it.
pub(crate) fn both(baseline: Vec<SideRun>, candidate: Vec<SideRun>) -> Sides {
    // What is in both counts for the baseline alone.
    let new = |run: &SideRun| baseline.iter().all(|known| !known.bytes.are(&run.bytes));
    let candidate: Vec<SideRun> = candidate.into_iter().filter(new).collect();
    if candidate.is_empty() {
        return Sides::Unchanged;
    }
    let mut differences = Vec::new();
    for (side, runs) in [("baseline", &baseline), ("recorded now", &candidate)] {
        let mut seen = BTreeSet::new();
        let differing = runs.iter().filter(|run| !run.differences.is_empty());
        for run in differing.filter(|run| seen.insert(&run.differences)) {
            let mut lines = run.differences.iter();
            differences.extend(lines.next().map(|first| format!("{side}: {first}")));
            differences.extend(lines.cloned());
        }
    }
    if !differences.is_empty() {
        return Sides::NotComparable { differences };
    }
    let all = || baseline.iter().chain(&candidate);
    let recorded = all().all(|run| run.sample.passed.is_some());
    let samples = |runs: Vec<SideRun>| runs.into_iter().map(|run| run.sample(recorded)).collect();
    Sides::Both {
        candidate: samples(candidate),
        baseline: samples(baseline),
    }
}

/// What a run was recorded with that the suite does not say: its model, its prompt and its system
/// prompt (each with its digest).
fn differences(agent: &AgentTest<'_>, model: &str, prompts: &[(String, String); 2]) -> Vec<String> {
    let said = agent.agent();
    let system = said.system_prompt.as_ref();
    let system = system.map_or("", |text| text.value.as_str());
    let mut lines = Vec::new();
    if model != agent.model() {
        lines.push(format!(
            "recorded with another model: {} → {}",
            clean_line(model),
            clean_line(agent.model())
        ));
    }
    let wanted = [
        ("prompt", said.prompt.first().value.as_str()),
        ("system prompt", system),
    ];
    for ((what, wanted), (known, recorded)) in wanted.iter().zip(prompts) {
        if digest(wanted) != *known {
            lines.push(format!("recorded with another {what}"));
            lines.extend(diff(recorded, wanted));
        }
    }
    lines
}

/// What the suite says instead of what was recorded, line by line.
fn diff(recorded: &str, wanted: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(recorded, wanted);
    let changes = diff.iter_all_changes();
    let changes = changes.filter(|change| change.tag() != ChangeTag::Equal);
    let shown = |text: &str| crate::render::cut(text.trim_end(), LONGEST);
    let lines = changes.map(|change| format!("{}{}", change.tag(), shown(change.value())));
    let mut lines: Vec<String> = lines.collect();
    if let more @ 1.. = lines.len().saturating_sub(LINES) {
        lines.truncate(LINES);
        lines.push(format!("… and {more} more lines"));
    }
    lines
}
