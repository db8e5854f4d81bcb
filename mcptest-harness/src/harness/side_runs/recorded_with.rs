//! What runs were recorded with, and what of it differs between two sides: of the task, which both must share, and of
//! the agent, which is what is tested.

use std::collections::BTreeSet;

use mcptest_suite::escape_line;
use mcptest_suite::model::Prompt;
use mcptest_trace::evidence::compare::AgentChange;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::SideRuns;
use crate::harness::agent_test::AgentTest;
use crate::result::digest;
use crate::text::truncate;
use crate::trace::{Run, canonical_json};

/// How many lines of a diff are kept where a task differs.
const TASK_LINES: usize = 12;

/// The same of what an agent is now that it was not before.
const CHANGE_LINES: usize = 200;

/// The longest line of a diff.
const LONGEST: usize = 160;

/// What a run was recorded with: the task, which both sides must share, and what the agent was.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordedWith {
    pub(super) model: String,
    pub(super) prompt: Text,
    /// What the user said after the prompt, where a script says it.
    pub(super) later_turns: Option<Vec<String>>,
    pub(super) system_prompt: Text,
    /// A line for each thing that it says of the tools that were offered, and of the parameters of the model; nothing
    /// where the recording does not list them.
    pub(super) tools: Option<Vec<String>>,
    pub(super) parameters: Option<Vec<String>>,
}

/// A text with its digest, which alone is known of some results.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    pub(super) digest: String,
    pub(super) text: String,
}

impl SideRuns {
    /// What the agent is in the candidate's new runs that it was not before.
    pub(super) fn changes(&self, candidate: &Self) -> Vec<AgentChange> {
        let now: Vec<&RecordedWith> = candidate
            .not_in(self)
            .map(|run| &run.recorded_with)
            .collect();
        let before: Vec<&RecordedWith> = self.runs.iter().map(|run| &run.recorded_with).collect();
        let prompts = [&before, &now].map(|side| {
            let texts = side.iter().map(|with| &with.system_prompt);
            texts.collect::<Vec<_>>()
        });
        let prompt = other_text(prompts.each_ref().map(Vec::as_slice)).map(|[before, now]| {
            let diff = diff(&before.text, &now.text, CHANGE_LINES);
            AgentChange::new("the system prompt changed", diff)
        });
        let listed = |what: &str, list: fn(&RecordedWith) -> Option<&Vec<String>>| {
            let lists = [&before, &now].map(|side| side.iter().filter_map(|with| list(with)).min());
            let [Some(before), Some(now)] = lists else {
                return None;
            };
            let [before, now] = [before, now].map(|lines| lines.join("\n") + "\n");
            (before != now).then(|| AgentChange::new(what, diff(&before, &now, CHANGE_LINES)))
        };
        let tools = listed("the tools that it is offered changed", |with| {
            with.tools.as_ref()
        });
        let parameters = listed("the parameters of the model changed", |with| {
            with.parameters.as_ref()
        });
        let model = other_models([self, candidate])
            .map(|models| AgentChange::new(format!("the model changed: {models}"), Vec::new()));
        let changes = [model, prompt, tools, parameters];
        changes.into_iter().flatten().collect()
    }
}

impl RecordedWith {
    pub(super) fn of(agent: &AgentTest<'_>, run: &Run) -> Self {
        let later_turns = match &agent.agent().prompt {
            // A prompt may begin a conversation that the suite knows nothing of.
            Prompt::Single(_) => None,
            Prompt::Turns(_) => Some(later_turns(run)),
        };
        let recording = run.cassette();
        let listed = |pointer: &str| recording.as_ref()?.pointer(pointer).map(lines_of);
        Self {
            model: run.model.clone(),
            prompt: Text::new(&run.user_prompt),
            later_turns: later_turns.filter(|_| !run.trace.truncated()),
            system_prompt: Text::new(&run.system_prompt),
            tools: listed("/tools"),
            parameters: listed("/session/conversations/0/answers/0/parameters"),
        }
    }
}

impl Text {
    fn new(text: &str) -> Self {
        Self {
            digest: digest(text),
            text: text.to_owned(),
        }
    }
}

/// What the user said after the first time.
fn later_turns(run: &Run) -> Vec<String> {
    let turns = run.trace.conversation.turns.iter();
    let said = turns.filter(|turn| turn.role == "user");
    said.skip(1).map(|turn| turn.content.clone()).collect()
}

/// A list or a map of a recording, a line for each entry, in an order that means nothing.
fn lines_of(value: &Value) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => canonical_json(other),
    };
    let mut lines: Vec<String> = match value {
        Value::Array(entries) => entries
            .iter()
            .flat_map(|entry| match (entry.as_object(), entry.get("name")) {
                (Some(map), Some(Value::String(name))) => map
                    .iter()
                    .filter(|(key, _)| *key != "name")
                    .map(|(key, value)| format!("{name} {key}: {}", text(value)))
                    .chain([name.clone()])
                    .collect(),
                _ => vec![text(entry)],
            })
            .collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| format!("{key}: {}", text(value)))
            .collect(),
        other => vec![text(other)],
    };
    lines.sort();
    lines
}

/// What was asked of the runs of one side and not of those of the other, and the models where they must be the same;
/// a line each.
pub(super) fn other_task(baseline: &SideRuns, candidate: &SideRuns) -> Vec<String> {
    let sides = [baseline, candidate];
    let mut lines = Vec::new();
    if !(baseline.any_model && candidate.any_model)
        && let Some(models) = other_models(sides)
    {
        lines.push(format!("recorded with another model: {models}"));
    }
    let prompts = sides.map(|side| {
        let runs = side.runs.iter();
        runs.map(|run| &run.recorded_with.prompt)
            .collect::<Vec<_>>()
    });
    if let Some([before, now]) = other_text(prompts.each_ref().map(Vec::as_slice)) {
        lines.push("the prompt is another one".to_owned());
        lines.extend(diff(&before.text, &now.text, TASK_LINES));
    }
    let turns = sides.map(|side| {
        let runs = side.runs.iter();
        let turns = runs.filter_map(|run| run.recorded_with.later_turns.as_ref());
        turns.collect::<BTreeSet<_>>()
    });
    let [before, now] = &turns;
    if let (Some(first), Some(last), true) = (before.first(), now.first(), before != now) {
        let [first, last] = [first, last].map(|turns| turns.join("\n") + "\n");
        lines.push("the user says something else after the prompt".to_owned());
        lines.extend(diff(&first, &last, TASK_LINES));
    }
    lines
}

/// The models before and now, where they are not the same.
fn other_models(sides: [&SideRuns; 2]) -> Option<String> {
    let [before, now] = sides.map(|side| {
        let runs = side.runs.iter();
        let models: BTreeSet<&str> = runs.map(|run| run.recorded_with.model.as_str()).collect();
        let models: Vec<_> = models.into_iter().map(escape_line).collect();
        models.join(", ")
    });
    (before != now).then(|| format!("{before} → {now}"))
}

/// A text that only the baseline has, and one that only the candidate has, where one side has a text that the other
/// has not.
fn other_text<'a>([before, now]: [&[&'a Text]; 2]) -> Option<[&'a Text; 2]> {
    let digests = |side: &[&Text]| -> BTreeSet<String> {
        side.iter().map(|text| text.digest.clone()).collect()
    };
    let known = [digests(before), digests(now)];
    if known[0] == known[1] {
        return None;
    }
    // Which run has which number says nothing.
    let least = |texts: Vec<&'a Text>| texts.into_iter().min_by_key(|text| &text.text);
    let own = |side: &[&'a Text], other: &BTreeSet<String>| {
        let all = side.iter().copied();
        let own = all.clone().filter(|text| !other.contains(&text.digest));
        least(own.collect()).or_else(|| least(all.collect()))
    };
    Some([own(before, &known[1])?, own(now, &known[0])?])
}

/// What a text says instead of another one, line by line.
fn diff(before: &str, now: &str, most: usize) -> Vec<String> {
    let diff = TextDiff::from_lines(before, now);
    let changes = diff.iter_all_changes();
    let changes = changes.filter(|change| change.tag() != ChangeTag::Equal);
    let shown = |text: &str| truncate(text.trim_end(), LONGEST);
    let lines = changes.map(|change| format!("{}{}", change.tag(), shown(change.value())));
    let mut lines: Vec<String> = lines.collect();
    if let more @ 1.. = lines.len().saturating_sub(most) {
        lines.truncate(most);
        lines.push(format!("… and {more} more lines"));
    }
    lines
}
