//! An agent of a first suite.

use std::collections::BTreeSet;

use mcptest::trace::Run;
use mcptest_suite::model::Agent;
use serde_json::Value;

use super::recipe::{self, RunSource};
use super::suspects::{self, Suspect};
use super::text::{comment_text, longest_common, quote, yaml_list};
use super::tools::CalledTools;
use crate::import::plan::is_twin;
use mcptest_trace::text::pluralize;

/// The most runs of an agent, and the most of their bytes, that gates are made of; of more, only what
/// all call.
pub(super) const MOST_RUNS: usize = 200;
pub(super) const MOST_BYTES: usize = 8 << 20;

/// How the reason of a `skip` ends that is written for want of a run that passed.
const SKIP_ENDS: &str = "; add a run that passed, or write your own demand";

/// An agent of the suite, as its runs show it.
#[derive(Debug, Default)]
pub(in crate::import) struct AgentEntry {
    pub(super) name: String,
    models: Vec<String>,
    servers: BTreeSet<String>,
    /// One text, or one a turn.
    pub(super) prompts: Vec<String>,
    pub(super) system_prompt: String,
    /// It has another than the suite says for who says none.
    says_system_prompt: bool,
    pub(super) runs: usize,
    /// Runs of all models that say whether they passed, and those that did.
    judged: usize,
    passed: usize,
    /// Runs of the model that is looked at.
    of_model: usize,
    /// The calls that all runs make, in their order.
    shared: Option<Vec<String>>,
    fewest: Option<(usize, usize)>,
    most: Option<(usize, usize)>,
    /// The runs themselves, while they are few.
    whole: RetainedRuns,
}

/// The runs of an agent, as long as they are few enough.
#[derive(Debug, Default)]
pub(super) struct RetainedRuns {
    pub(super) runs: Vec<Run>,
    /// Where they come from.
    sources: Vec<RunSource>,
    bytes: usize,
    pub(super) too_many: bool,
}

impl RetainedRuns {
    /// A run as it is written, and as it is read back, with its bytes.
    pub(super) fn add(&mut self, written: &Value, read: Option<(Run, usize)>) {
        if self.too_many {
            return;
        }
        self.bytes += read.as_ref().map_or(0, |(_, bytes)| *bytes);
        match read {
            Some((run, _)) if self.runs.len() < MOST_RUNS && self.bytes <= MOST_BYTES => {
                self.runs.push(run);
                let recorded_at = written["recorded_at"].as_str();
                let day = recorded_at.and_then(|time| time.get(.."2026-01-31".len()));
                let id = written["imported"]["id"].as_str();
                self.sources.push(RunSource {
                    day: day.map(str::to_owned),
                    is_copy: id.is_some_and(is_twin),
                    lacks_calls: written["imported"]["unknown"]
                        .as_array()
                        .is_some_and(|unknown| unknown.iter().any(|it| it == "tool_calls")),
                });
            }
            _ => {
                self.too_many = true;
                self.runs = Vec::new();
                self.sources = Vec::new();
            }
        }
    }

    /// The gates that they carry.
    fn gates(&self, tools: &CalledTools, suspects: &[Suspect]) -> Option<String> {
        let gates = || recipe::gates(&self.runs, &self.sources, tools, suspects);
        (!self.too_many).then(gates)?
    }
}

impl AgentEntry {
    pub(in crate::import) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Begins the runs of a model.
    pub(in crate::import) fn model(&mut self, model: &str) {
        self.models.push(model.to_owned());
        self.of_model = 0;
    }

    /// Takes a run into account: as it is written, and as it is read back.
    pub(in crate::import) fn add(
        &mut self,
        run: &Value,
        read: Option<(Run, usize)>,
        by_task: bool,
    ) {
        self.of_model += 1;
        self.whole.add(run, read);
        if let Some(passed) = run["outcome"]["passed"].as_bool() {
            self.judged += 1;
            self.passed += usize::from(passed);
        }
        self.runs = self.runs.max(self.of_model);
        if self.prompts.is_empty() {
            self.prompts = prompts(run, by_task);
            let system = run["system_prompt"].as_str();
            system
                .unwrap_or_default()
                .clone_into(&mut self.system_prompt);
        }
        // Where users went on differently, the suite says how they began.
        if self.prompts.len() > 1 && prompts(run, by_task) != self.prompts {
            self.prompts.truncate(1);
        }
        let calls = run["trace"]["tool_calls"].as_array();
        let calls = calls.map_or(&[][..], Vec::as_slice);
        for call in calls {
            if let Some(server) = call["server"].as_str()
                && !self.servers.contains(server)
            {
                self.servers.insert(server.to_owned());
            }
        }
        let names = calls.iter().filter_map(|call| call["name"].as_str());
        let names: Vec<String> = names.map(str::to_owned).collect();
        let here = (names.len(), self.of_model);
        if self.fewest.is_none_or(|(fewest, _)| here.0 < fewest) {
            self.fewest = Some(here);
        }
        if self.most.is_none_or(|(most, _)| here.0 > most) {
            self.most = Some(here);
        }
        self.shared = Some(match self.shared.take() {
            None => names,
            Some(shared) => longest_common(&shared, &names),
        });
    }

    /// Its runs that look bad.
    pub(super) fn suspects(&self, tools: &CalledTools) -> Vec<Suspect> {
        let runs = &self.whole.runs;
        let of_model = runs.chunk_by(|one, next| one.model == next.model);
        of_model
            .flat_map(|runs| suspects::find(runs, tools))
            .collect()
    }

    /// How many runs are looked at.
    pub(in crate::import) fn kept(&self) -> usize {
        self.whole.runs.len()
    }

    pub(super) fn text(&self, tools: &CalledTools, suspects: &[Suspect]) -> String {
        let servers: Vec<String> = self.servers.iter().cloned().collect();
        let mut text = format!("  - name: {}\n", quote(&self.name));
        match self.models.as_slice() {
            [model] => text.push_str(&format!("    model: {}\n", quote(model))),
            models => text.push_str(&format!("    models: {}\n", yaml_list(models))),
        }
        if !servers.is_empty() {
            text.push_str(&format!("    servers: {}\n", yaml_list(&servers)));
        }
        match self.prompts.as_slice() {
            [prompt] => text.push_str(&format!("    prompt: {}\n", quote(prompt))),
            turns => {
                text.push_str("    turns:\n");
                for turn in turns {
                    text.push_str(&format!("      - {}\n", quote(turn)));
                }
            }
        }
        if self.says_system_prompt {
            text.push_str(&format!("    {}", system_prompt_line(&self.system_prompt)));
        }
        text.push_str(&format!("    runs: {}\n", self.runs));
        if !suspects.is_empty() && suspects.len() == self.kept() {
            let reasons: BTreeSet<&str> = suspects
                .iter()
                .flat_map(|it| it.reasons.iter().map(String::as_str))
                .collect();
            let reasons = Vec::from_iter(reasons).join("; ");
            text.push_str(&format!(
                "    # every run looks bad, so nothing here is known to be good: {}\n",
                comment_text(&reasons)
            ));
        }
        // Gates judge the runs of each model: what is made of all of them holds for each.
        let gates = || self.whole.gates(tools, suspects);
        let gates = (self.models.len() == 1 || suspects.is_empty()).then(gates);
        if self.is_too_large() {
            text.push_str(
                "    # too many runs to derive gates: this demands only the calls that all runs share\n",
            );
        }
        text.push_str(&gates.flatten().unwrap_or_else(|| self.without_gates()));
        text
    }

    /// Whether the suite passes it over: runs of it failed, and none is known to have passed.
    pub(in crate::import) fn is_skipped(&self) -> bool {
        self.judged > 0 && self.passed == 0
    }

    /// Whether it has more runs than gates are made of.
    pub(in crate::import) fn is_too_large(&self) -> bool {
        self.whole.too_many && !self.is_skipped()
    }

    /// Whether an entry is passed over for want of what this one has.
    pub(in crate::import) fn ends_skip_of(&self, agent: &Agent) -> bool {
        let skip = agent.skip.as_ref();
        let is_ours = skip.is_some_and(|skip| skip.value.ends_with(SKIP_ENDS));
        // It must have the runs of all its models.
        is_ours && self.passed > 0 && agent.models.len() == self.models.len()
    }

    /// Takes into account what a suite says for all its agents.
    pub(in crate::import) fn beside(&mut self, suite: &str) {
        let is_said = suite.contains(&format!(
            "defaults:\n  {}",
            system_prompt_line(&self.system_prompt)
        ));
        let has_defaults = suite.lines().any(|line| line.starts_with("defaults:"));
        self.says_system_prompt = !is_said && (has_defaults || !self.system_prompt.is_empty());
    }

    /// What is asked where there are no gates: what holds of all runs, but not where none did what it should.
    fn without_gates(&self) -> String {
        if !self.is_skipped() {
            return self.demand();
        }
        let runs = match (self.runs, self.judged) {
            (1, _) => "its run did not pass".to_owned(),
            (runs, judged) if runs > judged => {
                format!("none of its {runs} runs is known to have passed")
            }
            (runs, _) => format!("none of its {runs} runs passed"),
        };
        format!(
            "    # no run passed, so the import writes no gates\n    skip: \"{runs}{SKIP_ENDS}\"\n    \
             expect:\n      - {{ target: outcome.passed, matcher: {{ exact: true }} }}\n"
        )
    }

    /// What all runs have in common, as an `expect:`.
    fn demand(&self) -> String {
        let said = match self.judged - self.passed {
            0 => "",
            _ => "    # failed runs hold this too: it does not separate them from good runs\n",
        };
        said.to_owned() + &self.shared_demand()
    }

    fn shared_demand(&self) -> String {
        let runs = match self.runs {
            1 => "run-1".to_owned(),
            runs => format!("run-1..run-{runs}"),
        };
        let shared = self.shared.as_deref().unwrap_or_default();
        if shared.is_empty() {
            let (fewest, least) = self.fewest.unwrap_or_default();
            let (most, largest) = self.most.unwrap_or_default();
            let (comment, matcher) = if fewest == most {
                (
                    format!("each makes {}", pluralize(most, "call")),
                    format!("exact: {most}"),
                )
            } else {
                (
                    format!(
                        "from {fewest} (run-{least}) to {most} (run-{largest}) calls, and no call is in all runs"
                    ),
                    format!("between: [{fewest}, {most}]"),
                )
            };
            return format!(
                "    # {runs}: {comment}\n    expect:\n      - target: tool_calls.length\n        matcher: {{ {matcher} }}\n"
            );
        }
        let mut names: Vec<&str> = shared.iter().map(String::as_str).collect();
        names.dedup();
        let verb = if self.runs == 1 { "calls" } else { "all call" };
        let names: Vec<String> = names.iter().map(|name| comment_text(name)).collect();
        let mut text = format!("    # {runs}: {verb} {}\n", names.join(", "));
        text.push_str("    trajectory:\n      mode: subsequence\n      calls:\n");
        for name in shared {
            text.push_str(&format!("        - name: {}\n", quote(name)));
        }
        text
    }
}

/// The line of a system prompt.
pub(super) fn system_prompt_line(text: &str) -> String {
    format!("system_prompt: {}\n", quote(text))
}

/// What the user says: every turn, where the words are those of the suite and not of a simulation.
fn prompts(run: &Value, by_task: bool) -> Vec<String> {
    let first = run["user_prompt"].as_str().unwrap_or_default().to_owned();
    let turns = run["trace"]["conversation"]["turns"].as_array();
    let turns = turns.into_iter().flatten();
    let users = turns.filter(|turn| turn["role"] == "user");
    let users = users.filter_map(|turn| Some(turn["content"].as_str()?.to_owned()));
    let users: Vec<String> = users.collect();
    if by_task || users.len() < 2 || users.first() != Some(&first) {
        return vec![first];
    }
    users
}
