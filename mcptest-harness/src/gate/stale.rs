//! What runs were recorded with and the suite no longer says.

use mcptest_suite::model::{Agent, Model, Prompt};
use mcptest_suite::{Diagnostic, Span, Spanned, cassette_slug};

use super::{AgentGates, Criterion, Input, Judgement, name_runs, run_places, scope};
use crate::eval::FaultPlan;
use crate::eval::{HitEvidence, judge_recovery};
use crate::record::own_code::is_run_of_built_in;
use crate::record::{RecordLine, answers_fingerprint, faults_fingerprint};
use crate::render::{Diff, Evidence, Finding};
use crate::trace::Run;

/// What is compared: its name, what the suite says and where, and what a run was recorded with.
type Compared<'a> = (&'a str, &'a str, Span, fn(&Run) -> &str);

/// The runs were recorded with what the suite says now: the model, the prompts, the user turns, the
/// faults.
#[derive(Debug)]
pub(crate) struct Stale<'a> {
    pub(crate) agent: &'a Agent,
    /// All that is asked of the agent.
    pub(crate) gates: &'a AgentGates,
    /// The model that the runs were to be recorded with.
    pub(crate) model: &'a Spanned<Model>,
    /// What a person types to record the agent.
    pub(crate) command: &'a RecordLine,
}

impl Criterion for Stale<'_> {
    fn judge(&self, input: &Input<'_>) -> Judgement {
        self.findings(input.runs).into()
    }
}

impl Stale<'_> {
    /// What the runs were recorded with and the suite no longer says.
    pub(crate) fn findings(&self, runs: &[Run]) -> Vec<Finding> {
        let Self { agent, command, .. } = *self;
        let mut findings = self.changed_prompts(agent, runs);
        findings.extend(other_agent_finding(agent, runs));
        findings.extend(changed_turns(agent, runs, command));
        findings.extend(changed_faults(
            &self.gates.fault_plan(),
            agent,
            runs,
            command,
        ));
        findings.extend(changed_answers(agent, runs, command));
        findings
    }

    /// The model and the prompts.
    fn changed_prompts(&self, agent: &Agent, runs: &[Run]) -> Vec<Finding> {
        let Spanned {
            value: model,
            span: model_span,
        } = self.model;
        let prompt = agent.prompt.first();
        let system_prompt = agent.system_prompt.as_ref();
        let prompt_key = match agent.prompt {
            Prompt::Single(_) => "prompt",
            Prompt::Turns(_) => "first user turn",
        };
        let system_span = system_prompt.map_or(agent.name.span, |text| text.span);
        let system_text = system_prompt.map_or("", |text| text.value.as_str());
        let compared: [Compared<'_>; 3] = [
            ("model", &model.id, *model_span, |run| &run.model),
            (prompt_key, &prompt.value, prompt.span, |run| {
                &run.user_prompt
            }),
            ("system prompt", system_text, system_span, |run| {
                &run.system_prompt
            }),
        ];
        let mut findings = Vec::new();
        for (what, wanted, span, recorded) in compared {
            // The system prompt of an agent's own code stands there, and need not stand in the suite too.
            let may_be_own = what == "system prompt" && system_prompt.is_none();
            let own = |run: &Run| may_be_own && run.by_session && !is_run_of_built_in(run);
            let differing = run_places(runs, |run| recorded(run) != wanted && !own(run));
            let Some(first) = differing.first() else {
                continue;
            };
            let what = format!("another {what}");
            let diff = diff(&runs[*first], recorded(&runs[*first]), wanted);
            findings.push(finding(&what, span, (runs, &differing), self.command).show(diff));
        }
        findings
    }
}

/// Runs that say they are of another agent. Names are compared as file names spell them, in any case.
fn other_agent_finding(agent: &Agent, runs: &[Run]) -> Option<Finding> {
    let name = &agent.name;
    let slug = cassette_slug(&name.value).to_lowercase();
    let recorded = |run: &Run| {
        run.agent_name
            .as_deref()
            .filter(|name| cassette_slug(name).to_lowercase() != slug)
            .map(ToOwned::to_owned)
    };
    let differing = run_places(runs, |run| recorded(run).is_some());
    let other = recorded(&runs[*differing.first()?])?;
    let message = format!(
        "recorded for another agent, `{}`{}",
        mcptest_suite::escape_line(&other),
        scope(differing.len(), runs.len())
    );
    let problem = Diagnostic::new(message)
        .label(name.span, "the suite names this agent")
        .note(name_runs("recorded in", runs, &differing))
        .help("is it another agent's file? put this agent's own recordings there; if the agent was renamed, change `agent_name` in them");
    Some(Finding::new(problem))
}

/// Runs with other user turns after the first, which is compared as the prompt is.
fn changed_turns(agent: &Agent, runs: &[Run], command: &RecordLine) -> Option<Finding> {
    let Prompt::Turns(turns) = &agent.prompt else {
        // A prompt may begin a conversation that the suite knows nothing of.
        return None;
    };
    let later: Vec<&str> = turns
        .iter()
        .skip(1)
        .map(|turn| turn.value.as_str())
        .collect();
    let differs = |run: &Run| {
        let recorded = later_turns(run);
        // A cap may have ended the run before everything was said.
        if run.trace.truncated() {
            !later.starts_with(&recorded)
        } else {
            recorded != later
        }
    };
    let differing = run_places(runs, differs);
    let first = &runs[*differing.first()?];
    let recorded = later_turns(first);
    let longest = recorded.len().max(later.len());
    let place = (0..longest).find(|place| recorded.get(*place) != later.get(*place))?;
    let span = turns
        .get(place + 1)
        .map_or(agent.name.span, |turn| turn.span);
    let lines = |turns: &[&str]| {
        let lines = turns.iter().map(|turn| format!("{turn}\n"));
        lines.collect::<String>()
    };
    let diff = diff(first, &lines(&recorded), &lines(&later));
    Some(finding("other user turns", span, (runs, &differing), command).show(diff))
}

/// What the user said after the first time.
fn later_turns(run: &Run) -> Vec<&str> {
    let turns = run.trace.conversation.turns.iter();
    let said = turns.filter(|turn| turn.role == "user");
    said.skip(1).map(|turn| turn.content.as_str()).collect()
}

/// Runs with marks of faults that the plan of today does not leave.
fn changed_faults(
    plan: &FaultPlan,
    agent: &Agent,
    runs: &[Run],
    command: &RecordLine,
) -> Option<Finding> {
    let declared = faults_fingerprint(&plan.faults);
    // What a session noted is so. Other recordings show it by their marks.
    let noted = |run: &Run| {
        let recorded = run.own_tools.faults.as_ref()?;
        let words = "the suite has other faults than the run was recorded with";
        (Some(recorded) != declared.as_ref()).then(|| words.to_owned())
    };
    let others: Vec<(usize, String)> = runs
        .iter()
        .enumerate()
        .filter_map(|(index, run)| Some((index, other_mark(plan, run).or_else(|| noted(run))?)))
        .collect();
    let differing: Vec<usize> = others.iter().map(|(index, _)| *index).collect();
    let (_, first) = others.first()?;
    let span = agent
        .inject
        .first()
        .map_or(agent.name.span, |fault| fault.span);
    let run = &runs[*differing.first()?].origin;
    let shown = Evidence::Text(format!("{run}: {first}"));
    Some(finding("other faults", span, (runs, &differing), command).show(shown))
}

/// Runs whose own tools were answered otherwise than the suite says now. Only a session answers them.
fn changed_answers(agent: &Agent, runs: &[Run], command: &RecordLine) -> Option<Finding> {
    let declared = answers_fingerprint(agent);
    let recorded = |run: &Run| {
        let given = run.own_tools.answers.as_ref();
        given.map(|given| given.fingerprint.clone())
    };
    let differing = run_places(runs, |run| run.by_session && recorded(run) != declared);
    differing.first()?;
    let first = agent.answers.first();
    let span = first.map_or(agent.name.span, |entry| entry.span);
    Some(finding("other answers", span, (runs, &differing), command))
}

/// The first mark of a run that the faults of today do not leave, in words.
fn other_mark(plan: &FaultPlan, run: &Run) -> Option<String> {
    let mut results = run.trace.tool_results.iter();
    if results.all(|result| result.synthesized.is_none()) {
        return None;
    }
    let report = judge_recovery(&run.trace, plan);
    if let Some(mark) = report.foreign_marks.first() {
        return Some(mark.to_string());
    }
    let results = run.trace.results_by_call();
    let marked = |call: usize| results[call].is_some_and(|result| result.synthesized.is_some());
    let mut late = report
        .hits
        .iter()
        .filter(|hit| hit.evidence == HitEvidence::AnsweredLate);
    let hit = late.find(|hit| marked(hit.call_index))?;
    Some(format!(
        "`tool_calls[{}]` was hit by the fault `{}`, which only delays the call now",
        hit.call_index, hit.fault
    ))
}

/// Says that some of the runs were recorded with something else.
fn finding(what: &str, span: Span, some: (&[Run], &[usize]), command: &RecordLine) -> Finding {
    let (runs, differing) = some;
    let message = format!(
        "stale: recorded with {what}{}",
        scope(differing.len(), runs.len())
    );
    let change = what
        .trim_start_matches("another ")
        .trim_start_matches("other ");
    // A file that was copied or named wrongly has another model too.
    let ask = if change == "model" {
        "is it another agent's file? if not, "
    } else {
        ""
    };
    let problem = Diagnostic::new(message)
        .label(span, "the suite says this now")
        .note(name_runs("recorded in", runs, differing))
        .help(format!(
            "{ask}record the runs again with `{}`, or take back the change of the {change}",
            command.all()
        ));
    Finding::new(problem)
}

fn diff(run: &Run, recorded: &str, wanted: &str) -> Evidence {
    Evidence::Diff(Diff {
        old_name: format!("recorded ({})", run.origin),
        new_name: "suite".to_owned(),
        old: recorded.to_owned(),
        new: wanted.to_owned(),
    })
}
