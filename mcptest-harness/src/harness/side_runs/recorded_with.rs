//! What runs were recorded with, and what of it differs between two sides: of the task, which both must share, and of
//! the agent, which is what is tested.

use std::collections::BTreeSet;
use std::sync::Arc;

use mcptest_suite::escape_line;
use mcptest_suite::model::Prompt;
use mcptest_trace::evidence::compare::AgentChange;
use mcptest_trace::record::redact::Redactor;

use super::SideRuns;
use super::settings::{Parameters, other_parameters, other_tools};
use crate::harness::agent_test::AgentTest;
use crate::render::changed_lines;
use crate::result::digest;
use crate::trace::Run;

/// How many lines of a diff are kept where a task differs.
const TASK_LINES: usize = 12;

/// How many lines of a diff are kept where an agent is something else now than before.
const CHANGE_LINES: usize = 200;

/// What a run was recorded with: the task, which both sides must share, and what the agent was.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordedWith {
    pub(super) model: String,
    pub(super) prompt: Text,
    /// What the user said after the prompt, where a script says it.
    pub(super) later_turns: Option<Vec<String>>,
    pub(super) system_prompt: Text,
    /// The list of the tools that were offered, as JSON text; nothing where the recording does not list them.
    pub(super) tools: Option<Arc<str>>,
    pub(super) parameters: Option<Parameters>,
}

/// A text with its digest, which alone is known of some results.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    pub(super) digest: String,
    pub(super) text: String,
}

impl SideRuns {
    /// What the agent is in the candidate's new runs that it was not before.
    pub(super) fn changes(
        &self,
        candidate: &Self,
        redactor: Option<&Redactor>,
    ) -> Vec<AgentChange> {
        let now: Vec<&RecordedWith> = candidate
            .runs_not_in(self)
            .map(|run| &run.recorded_with)
            .collect();
        let before: Vec<&RecordedWith> = self.runs.iter().map(|run| &run.recorded_with).collect();
        let sides = [&before, &now];
        let prompts = sides.map(|side| {
            let texts = side.iter().map(|with| &with.system_prompt);
            texts.collect::<Vec<_>>()
        });
        let prompt = other_text(prompts.each_ref().map(Vec::as_slice)).map(|[before, now]| {
            let lines = diff([&before.text, &now.text], CHANGE_LINES, redactor);
            AgentChange::new("the system prompt changed", lines)
        });
        let cut = |change: AgentChange| {
            let AgentChange { what, diff, .. } = change;
            AgentChange::new(what, first_lines(diff, CHANGE_LINES))
        };
        let tools = sides.map(|side| {
            let lists = side.iter().filter_map(|with| with.tools.as_deref());
            lists.collect::<BTreeSet<_>>()
        });
        let parameters = sides.map(|side| {
            let known = side.iter().filter_map(|with| with.parameters.as_ref());
            known.collect::<BTreeSet<_>>()
        });
        let redact = |text: &str| without_secrets(text, redactor);
        let model = other_models([self, candidate])
            .map(|models| AgentChange::new(format!("the model changed: {models}"), Vec::new()));
        let tools = other_tools(tools, &redact).map(cut);
        let parameters = other_parameters(&parameters, &redact).map(cut);
        let changes = [model, prompt, tools, parameters];
        changes.into_iter().flatten().collect()
    }
}

impl RecordedWith {
    /// What a run was recorded with. `before`: what another run was recorded with, whose texts it may share.
    pub(super) fn new(agent: &AgentTest<'_>, run: &Run, before: Option<&Self>) -> Self {
        let later_turns = match &agent.agent().prompt {
            // A prompt may begin a conversation that the suite knows nothing of.
            Prompt::Single(_) => None,
            Prompt::Turns(_) => Some(later_turns(run)),
        };
        let settings = run.request_settings();
        let tools = settings.as_ref().and_then(|settings| {
            let own = settings.tools.as_ref()?;
            let shared = before.and_then(|before| before.tools.as_ref());
            Some(Arc::clone(shared.filter(|it| *it == own).unwrap_or(own)))
        });
        Self {
            model: run.model.clone(),
            prompt: Text::new(&run.user_prompt),
            later_turns: later_turns.filter(|_| !run.trace.truncated()),
            system_prompt: Text::new(&run.system_prompt),
            tools,
            parameters: settings.as_ref().map(Parameters::canonical),
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

/// What was asked of the runs of one side and not of those of the other, and the models where they must be the same;
/// a line each.
pub(super) fn other_task(
    baseline: &SideRuns,
    candidate: &SideRuns,
    redactor: Option<&Redactor>,
) -> Vec<String> {
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
        lines.extend(diff([&before.text, &now.text], TASK_LINES, redactor));
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
        lines.extend(diff([&first, &last], TASK_LINES, redactor));
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

/// What a text says instead of another one, line by line: at most so many lines, and no secret. Secrets are taken out of
/// whole texts, as a line may have only a part of one.
fn diff(texts: [&str; 2], most: usize, redactor: Option<&Redactor>) -> Vec<String> {
    let [before, now] = texts.map(|text| without_secrets(text, redactor));
    first_lines(changed_lines(&before, &now), most)
}

fn first_lines(mut lines: Vec<String>, most: usize) -> Vec<String> {
    if let more @ 1.. = lines.len().saturating_sub(most) {
        lines.truncate(most);
        lines.push(format!("… and {more} more lines"));
    }
    lines
}

fn without_secrets(text: &str, redactor: Option<&Redactor>) -> String {
    redactor.map_or_else(
        || text.to_owned(),
        |redactor| redactor.redact_text(text).into_owned(),
    )
}
