//! A run of a side, recorded or a result.

use std::collections::BTreeMap;
use std::path::Path;

use mcptest::replay::AgentTest;
use mcptest::trace::Run;
use mcptest_suite::clean_line;
use mcptest_trace::evidence::compare::{Behaviour, Cost, CostKind, RunSample};
use mcptest_trace::record::fingerprint;
use sha2::{Digest, Sha256};

use super::side::AgentResults;
use crate::outcome::{self, Gates};

/// A run of a side.
#[derive(Debug)]
pub(super) struct SideRun {
    pub(super) sample: RunSample,
    /// Whether the gates hold for it, where one of them judges runs one by one.
    pub(super) gates: Option<bool>,
    /// What its bytes are.
    pub(super) bytes: Bytes,
    /// What it was recorded with that the suite does not say, a line each.
    pub(super) differences: Vec<String>,
}

/// What tells the bytes of runs apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bytes {
    /// Of the file, as results have it.
    file: String,
    line: Option<usize>,
    /// Of the run itself, where its file is at hand.
    own: Option<[u8; 32]>,
}

impl Bytes {
    pub(super) fn are(&self, other: &Self) -> bool {
        match (self.own, other.own) {
            (Some(own), Some(others)) => own == others,
            _ => self.file == other.file && self.line == other.line,
        }
    }
}

/// Reads the bytes of recorded runs, a file once.
pub(super) struct Files<'a> {
    folder: &'a Path,
    read: BTreeMap<String, (String, Vec<u8>)>,
}

impl<'a> Files<'a> {
    pub(super) fn below(folder: &'a Path) -> Self {
        Self {
            folder,
            read: BTreeMap::new(),
        }
    }

    fn bytes(&mut self, run: &Run) -> Bytes {
        let folder = self.folder;
        let shown = &run.origin.shown;
        let (file, bytes) = self.read.entry(shown.clone()).or_insert_with(|| {
            let bytes = std::fs::read(folder.join(shown)).unwrap_or_default();
            (fingerprint(&String::from_utf8_lossy(&bytes)), bytes)
        });
        let line = run.origin.line;
        let own = match line {
            Some(line) => bytes
                .split(|byte| *byte == b'\n')
                .nth(line - 1)
                .unwrap_or_default()
                .trim_ascii(),
            None => bytes,
        };
        Bytes {
            file: file.clone(),
            line,
            own: Some(Sha256::digest(own).into()),
        }
    }
}

impl SideRun {
    pub(super) fn recorded(
        agent: &AgentTest<'_>,
        gates: &Gates<'_>,
        run: &Run,
        cost: CostKind,
        files: &mut Files<'_>,
    ) -> Self {
        let texts =
            [&run.user_prompt, &run.system_prompt].map(|text| (fingerprint(text), text.clone()));
        Self {
            sample: RunSample::of(run, cost).with_passed(outcome::recorded(run)),
            gates: gates.hold_for(run),
            bytes: files.bytes(run),
            differences: differences(agent, &run.model, &texts),
        }
    }

    /// The runs of an agent that results tell of.
    pub(super) fn results(
        agent: &AgentTest<'_>,
        results: &AgentResults,
        cost: CostKind,
    ) -> Vec<Self> {
        let Some(own) = &results.own else {
            return Vec::new();
        };
        let model = own
            .agent
            .as_ref()
            .map_or(agent.model(), |agent| &agent.model);
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
            Self {
                sample: RunSample::default()
                    .with_passed(run.passed)
                    .with_cost(amount.map(Cost::measured))
                    .with_behaviour(Some(Behaviour::new(run.tools.clone(), run.calls.clone()))),
                gates: results
                    .hold
                    .as_ref()
                    .and_then(|hold| hold.get(place).copied()),
                bytes: Bytes {
                    file: recording.digest.clone(),
                    line: recording.line,
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

    /// The same as results have it, so that it can be compared with one: calls by their digest, and no
    /// values of arguments.
    pub(super) fn as_result(&mut self) {
        if let Some(behaviour) = &mut self.sample.behaviour {
            behaviour.arguments = BTreeMap::new();
            for call in &mut behaviour.calls {
                *call = fingerprint(call);
            }
        }
    }
}

/// What a run was recorded with that the suite does not say: its model, its prompt and its system
/// prompt (each with its digest).
fn differences(agent: &AgentTest<'_>, model: &str, prompts: &[(String, String); 2]) -> Vec<String> {
    let said = agent.agent();
    let system = said
        .system_prompt
        .as_ref()
        .map_or("", |text| text.value.as_str());
    let mut lines = Vec::new();
    if model != agent.model() {
        lines.push(format!(
            "{MODEL}: {} → {}",
            clean_line(model),
            clean_line(agent.model())
        ));
    }
    let wanted = [
        ("prompt", said.prompt.first().value.as_str()),
        ("system prompt", system),
    ];
    for ((what, wanted), (digest, recorded)) in wanted.iter().zip(prompts) {
        if fingerprint(wanted) != *digest {
            lines.push(format!("recorded with another {what}"));
            lines.extend(diff(recorded, wanted));
        }
    }
    lines
}

/// How a line about the model begins.
pub(super) const MODEL: &str = "recorded with another model";

/// How many lines of a diff are shown.
const LINES: usize = 12;

/// What the suite says instead of what was recorded, line by line.
fn diff(recorded: &str, wanted: &str) -> Vec<String> {
    let diff = similar::TextDiff::from_lines(recorded, wanted);
    let changes = diff
        .iter_all_changes()
        .filter(|change| change.tag() != similar::ChangeTag::Equal);
    let lines =
        changes.map(|change| format!("{}{}", change.tag(), shortened(change.value().trim_end())));
    let mut lines: Vec<String> = lines.collect();
    let more = lines.len().saturating_sub(LINES);
    if more > 0 {
        lines.truncate(LINES);
        lines.push(format!("… and {more} more lines"));
    }
    lines
}

fn shortened(line: &str) -> String {
    const LONGEST: usize = 160;
    let end = line
        .char_indices()
        .nth(LONGEST)
        .map_or(line.len(), |(at, _)| at);
    let more = if end < line.len() { "…" } else { "" };
    format!("{}{more}", &line[..end])
}
