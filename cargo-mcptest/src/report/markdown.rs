//! A report in Markdown, made for the summary of a CI job: what fails first, then every agent.

use std::collections::BTreeMap;

use mcptest::result::{CaseResult, CaseStatus, RunVerdict};
use mcptest::suite::gates::GateKind;
use mcptest_suite::escape;
use mcptest_trace::record::redact::Redactor;

use crate::compare::redactor;
use crate::failure::Failure;
use crate::judging::PackageVerdicts;
use crate::output::describe_passed;
use crate::table::escaped;

/// How many failures are shown whole; a summary of a job holds a megabyte.
const FAILURES: usize = 50;

/// How much is shown of a failure.
const LONGEST: usize = 6_000;

/// How many agents have a row.
const AGENTS: usize = 500;

pub(super) fn report(verdicts: &PackageVerdicts) -> Result<String, Failure> {
    let redactor = redactor()?;
    let package = escaped(&verdicts.opened.package.name);
    // A folder of suites without a crate has no name.
    let of = if package.is_empty() {
        String::new()
    } else {
        format!(" of {package}")
    };
    let mut text = format!("## Agent tests{of}\n\n**{}**\n", verdicts.tally());
    text.push_str(&folded_failure(
        &verdicts.cases,
        &verdicts.opened.package.test_command(),
        &redactor,
    ));
    text.push_str(&agent_table(&verdicts.cases));
    text.push_str(&bullet_list(
        "Ignored",
        verdicts.cases.iter().filter_map(|case| {
            let reason = case.reason.as_deref().unwrap_or_default();
            (case.status == CaseStatus::Ignored)
                .then(|| format!("{}: {}", escaped(&case.case), escaped(reason)))
        }),
    ));
    text.push_str(&bullet_list(
        "Notes",
        verdicts.notes.iter().map(|note| escaped(note)),
    ));
    Ok(text)
}

/// A failure, folded; without secrets, as comments and summaries are public.
pub(super) fn folded(case: &CaseResult, redactor: &Redactor) -> Option<String> {
    let failure = case.failure.as_ref()?;
    let [summary, text] = [&failure.summary, &failure.text].map(|text| redactor.redact_text(text));
    Some(format!(
        "\n<details><summary>❌ {}: {}</summary>\n\n{}\n</details>\n",
        escaped(&case.case),
        escaped(&summary),
        code_block(&text)
    ))
}

fn folded_failure(cases: &[CaseResult], command: &str, redactor: &Redactor) -> String {
    let failed = || {
        cases
            .iter()
            .filter(|case| case.status == CaseStatus::Failed)
    };
    let shown = failed().take(FAILURES);
    let mut text: String = shown.filter_map(|case| folded(case, redactor)).collect();
    let more = failed().count().saturating_sub(FAILURES);
    if more > 0 {
        text.push_str(&format!(
            "\nand {more} more that fail; `{command}` shows them all\n"
        ));
    }
    text
}

/// The cases of an agent, by their gate.
type GateCases<'a> = BTreeMap<&'a str, &'a CaseResult>;

/// The head of the table of agents.
pub(super) const HEAD: &str =
    "| agent test | runs passed | tokens of a run | verdicts |\n|---|---|---|---|\n";

/// A row an agent: what each of its gates came to, and what its runs did; with whether a case of it fails.
pub(super) fn agent_rows<'a>(
    cases: impl IntoIterator<Item = &'a CaseResult>,
) -> Vec<(bool, String)> {
    let mut agents: BTreeMap<&str, GateCases<'_>> = BTreeMap::new();
    for case in cases {
        let Some(agent) = &case.agent else { continue };
        let gate = case.gate.as_deref().unwrap_or_default();
        agents.entry(&agent.case).or_default().insert(gate, case);
    }
    let agents = agents.iter().map(|(name, row)| {
        let fails = row.values().any(|case| case.status == CaseStatus::Failed);
        (fails, agent_row(name, row))
    });
    agents.collect()
}

fn agent_table(cases: &[CaseResult]) -> String {
    let rows = agent_rows(cases);
    if rows.is_empty() {
        return String::new();
    }
    let shown = rows.iter().take(AGENTS).map(|(_, row)| row.as_str());
    let mut text = format!("\n{HEAD}{}", shown.collect::<String>());
    let more = rows.len().saturating_sub(AGENTS);
    if more > 0 {
        text.push_str(&format!("\nand {more} more agent tests\n"));
    }
    text
}

fn agent_row(name: &str, row: &GateCases<'_>) -> String {
    let verdicts = row.iter().map(|(gate, case)| {
        let gate = if gate.is_empty() { "expect" } else { gate };
        format!("{} {}", status_mark(case.status), escaped(gate))
    });
    let verdicts: Vec<String> = verdicts.collect();
    let runs = row
        .get("")
        .map(|case| case.runs.as_slice())
        .unwrap_or_default();
    let outcomes = runs.iter().enumerate();
    let outcomes = outcomes.map(|(place, run)| run.passed.or_else(|| passes_gates(row, place)));
    let outcomes: Vec<Option<bool>> = outcomes.collect();
    let count = |is: Option<bool>| outcomes.iter().filter(|passed| **passed == is).count();
    let ignored = row
        .get("")
        .filter(|_| row.values().all(|case| case.status == CaseStatus::Ignored));
    let why_not = ignored.and_then(|own| own.reason.as_deref());
    let passed = why_not.map_or_else(
        || describe_passed(count(Some(true)), count(Some(false)), count(None)),
        escaped,
    );
    let tokens: Option<Vec<u64>> = runs.iter().map(|run| run.tokens).collect();
    let tokens = tokens
        .filter(|tokens| !tokens.is_empty())
        .map_or_else(String::new, |tokens| {
            let low = tokens.iter().min().copied().unwrap_or_default();
            let high = tokens.iter().max().copied().unwrap_or_default();
            if low == high {
                low.to_string()
            } else {
                format!("{low} to {high}")
            }
        });
    format!(
        "| {} | {passed} | {tokens} | {} |\n",
        escaped(name),
        verdicts.join(", ")
    )
}

/// Whether the gates that judge runs one by one let a run pass, as the page of the report says it; nothing where they
/// judge nothing of it. `playback` is about the code, and not about the run.
fn passes_gates(row: &GateCases<'_>, place: usize) -> Option<bool> {
    let judging = row
        .iter()
        .filter(|(gate, _)| **gate != GateKind::Playback.name());
    let verdicts = judging.filter_map(|(_, case)| case.run_verdicts.get(place).copied());
    verdicts.max().and_then(RunVerdict::passed)
}

fn bullet_list(title: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return String::new();
    }
    let shown: String = lines
        .iter()
        .take(AGENTS)
        .map(|line| format!("- {line}\n"))
        .collect();
    let more = match lines.len().saturating_sub(AGENTS) {
        0 => String::new(),
        more => format!("- and {more} more\n"),
    };
    format!(
        "\n<details><summary>{title} ({})</summary>\n\n{shown}{more}\n</details>\n",
        lines.len()
    )
}

const fn status_mark(status: CaseStatus) -> &'static str {
    match status {
        CaseStatus::Passed => "✅",
        CaseStatus::Failed => "❌",
        CaseStatus::Ignored => "➖",
    }
}

/// A text as it is, in a block that nothing in it can end.
fn code_block(text: &str) -> String {
    let text = escape(text);
    let end = text.floor_char_boundary(LONGEST);
    let rest = text.len() - end;
    let more = if rest > 0 {
        format!("\n… and {rest} bytes more")
    } else {
        String::new()
    };
    let ticks = text
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat((ticks + 1).max(3));
    format!("{fence}text\n{}{more}\n{fence}\n", text[..end].trim_end())
}
