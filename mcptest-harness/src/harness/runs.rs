//! An agent's recorded runs, found and read once, and what is wrong with them.

use std::path::Path;

use mcptest_suite::model::{Agent, Prompt, Suite};
use mcptest_suite::{Diagnostic, Span, Spanned};

use super::agent_runs::AgentRuns;
use super::place::{PlaceError, Wanted};
use crate::record::COMMAND;
use crate::render::{Diff, Evidence, Failure, Finding};
use crate::trace::Run;
use crate::trace::read_runs;

/// The runs of an agent with a model, or why they cannot be judged.
pub(crate) type Recorded = Result<AgentRuns, Failure>;

/// Where a suite lies.
pub(crate) struct Place<'a> {
    pub(crate) crate_dir: &'a Path,
    /// The suite's path below its root.
    pub(crate) relative: &'a Path,
}

/// Finds and reads the runs. An error is a failure of the agent case: missing, malformed or copied
/// runs, a wrong number of them, or stale ones.
pub(crate) fn load(suite: &Suite, agent: &Agent, model: usize, place: &Place<'_>) -> Recorded {
    let runs = read(agent, &place.wanted(suite, agent, model))?;
    if runs.len() != agent.runs.value {
        return Err(count_problem(agent, &runs));
    }
    let stale = stale(agent, model, &runs);
    if stale.is_empty() {
        let model = &agent.models[model].value;
        Ok(AgentRuns::new(&suite.source, agent, model, runs))
    } else {
        Err(Failure {
            findings: stale,
            evidence: Vec::new(),
        })
    }
}

impl Place<'_> {
    /// What is looked for where, for an agent with a model.
    pub(crate) fn wanted<'a>(
        &'a self,
        suite: &'a Suite,
        agent: &'a Agent,
        model: usize,
    ) -> Wanted<'a> {
        let suite_path = suite.source.path();
        Wanted {
            crate_dir: self.crate_dir,
            suite_dir: suite_path.parent().unwrap_or(suite_path),
            suite_stem: self.relative.with_extension(""),
            cassette: agent
                .cassette
                .as_ref()
                .map(|cassette| cassette.value.as_str()),
            stems: agent.cassette_stems(&agent.models[model].value),
        }
    }
}

/// The runs that are there, however many.
pub(crate) fn read(agent: &Agent, wanted: &Wanted<'_>) -> Result<Vec<Run>, Failure> {
    let files = wanted
        .files()
        .map_err(|error| place_problem(agent, error))?;
    read_runs(&files).map_err(|errors| {
        let findings = errors.into_iter().map(|error| {
            let message = format!("the recording {} cannot be used", error.origin);
            let problem = Diagnostic::new(message)
                .label(agent.name.span, "a recording of this agent")
                .help(error.help.clone());
            Finding::new(problem).show(Evidence::Text(error.drawn()))
        });
        Failure {
            findings: findings.collect(),
            evidence: Vec::new(),
        }
    })
}

pub(crate) fn place_problem(agent: &Agent, error: PlaceError) -> Failure {
    let span = agent
        .cassette
        .as_ref()
        .map_or(agent.name.span, |cassette| cassette.span);
    match error {
        PlaceError::Nothing { looked, put } => {
            let declared = agent.runs.value;
            let problem = Diagnostic::new(format!(
                "no recorded run of `{}` was found",
                agent.name.value
            ))
            .label(span, format!("declares {} and has none", plural(declared)));
            let problem = match (declared, &put) {
                (1, [one, _]) => problem.help(format!(
                    "record it with `MCPTEST_RECORD=missing {COMMAND}`, or put a recording of your own at {one}"
                )),
                (many, [_, several]) => problem.help(format!(
                    "record {many} runs with `MCPTEST_RECORD=missing {COMMAND}`, or put recordings of your own at {several} and so on, one file a run"
                )),
            };
            let looked = format!("looked for:\n{}", looked.join("\n"));
            Finding::new(problem).show(Evidence::Text(looked)).into()
        }
        PlaceError::Several(places) => {
            Diagnostic::new("the runs of one agent lie in one place, and here are several")
                .label(span, places.join(" and "))
                .help("keep the recordings you mean and remove the others")
                .into()
        }
        PlaceError::Unusable { problem, help } => {
            Diagnostic::new(problem).label(span, "").help(help).into()
        }
    }
}

fn count_problem(agent: &Agent, runs: &[Run]) -> Failure {
    let (declared, recorded) = (agent.runs.value, runs.len());
    let message = format!("{} declared, {recorded} recorded", plural(declared));
    let stated = agent.runs.span != Span::default();
    let span = if stated {
        agent.runs.span
    } else {
        agent.name.span
    };
    let label = if stated {
        "declared here"
    } else {
        "without `runs:` one run is declared"
    };
    let help = if recorded == 0 {
        format!(
            "record {} into the file that was found with `MCPTEST_RECORD=missing {COMMAND}`",
            plural(declared)
        )
    } else if recorded < declared {
        format!(
            "record {} more with `MCPTEST_RECORD=missing {COMMAND}`, or say `runs: {recorded}`",
            declared - recorded
        )
    } else {
        format!(
            "say `runs: {recorded}`, or remove the {} you do not mean",
            plural(recorded - declared)
        )
    };
    let files: Vec<String> = runs.iter().map(|run| run.origin.to_string()).collect();
    let shown = match files.as_slice() {
        [] => "no run in the file that was found".to_owned(),
        files if files.len() <= 12 => files.join("\n"),
        files => format!("{}\n… {} more", files[..12].join("\n"), files.len() - 12),
    };
    Finding::new(Diagnostic::new(message).label(span, label).help(help))
        .show(Evidence::Text(format!("recorded:\n{shown}")))
        .into()
}

fn plural(runs: usize) -> String {
    if runs == 1 {
        "1 run".to_owned()
    } else {
        format!("{runs} runs")
    }
}

/// What is compared: its name, what the suite says and where, and what a run was recorded with.
type Compared<'a> = (&'a str, &'a str, Span, fn(&Run) -> &str);

/// What the runs were recorded with and the suite no longer says.
pub(crate) fn stale(agent: &Agent, model: usize, runs: &[Run]) -> Vec<Finding> {
    let Spanned {
        value: model,
        span: model_span,
    } = &agent.models[model];
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
        let differing: Vec<usize> = (0..runs.len())
            .filter(|run| recorded(&runs[*run]) != wanted)
            .collect();
        let Some(first) = differing.first() else {
            continue;
        };
        let message = format!(
            "stale: recorded with another {what}{}",
            crate::gate::scope(differing.len(), runs.len())
        );
        let first = &runs[*first];
        let problem = Diagnostic::new(message)
            .label(span, "the suite says this now")
            .note(crate::gate::runs_note(runs, &differing).replacen("broken by", "recorded in", 1))
            .help(format!(
                "record the runs again with `MCPTEST_RECORD=all {COMMAND}`, or take back the change of the {what}"
            ));
        findings.push(Finding::new(problem).show(Evidence::Diff(Diff {
            old_name: format!("recorded ({})", first.origin),
            new_name: "suite".to_owned(),
            old: recorded(first).to_owned(),
            new: wanted.to_owned(),
        })));
    }
    findings
}
