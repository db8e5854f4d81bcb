//! The gates that the runs of an agent carry: what the passing ones do, strict in what they change and
//! free in how they look things up.
//!
//! Each gate is run on the runs that it comes from. One that does not hold for all of them goes in as a
//! comment that says which runs break it, so that the suite is green as it is written.

use mcptest::eval::count_calls;
use mcptest::trace::Run;

use super::ending::{answers_before_the_end, has_closing, stop_reason};
use super::gate::{Demand, ProposedGate};
use super::narrative::Narrative;
use super::order;
use super::plan::{self, CallCounts};
use super::suspects::Suspect;
use super::text::{comment_text, quote};
use super::tools::CalledTools;
use super::writes::Changes;
use crate::outcome::recorded_outcome as passed;

/// Where a run comes from, as far as it matters.
#[derive(Debug, Default)]
pub(super) struct RunSource {
    /// The day of its recording.
    pub(super) day: Option<String>,
    /// It is equal to an earlier one, and nothing says that it is another.
    pub(super) is_copy: bool,
    /// Its source may hold calls that were not read.
    pub(super) lacks_calls: bool,
}

/// The keys below an agent that its runs carry; nothing where no run passed. Where no run says whether it
/// did, suspects that are set aside count as failed. Copies of a run are evidence once.
pub(super) fn gates(
    runs: &[Run],
    sources: &[RunSource],
    called: &CalledTools,
    suspects: &[Suspect],
) -> Option<String> {
    let known = runs.iter().any(|run| passed(run).is_some());
    let aside = || suspects.iter().filter(|suspect| suspect.aside);
    let good: Vec<(usize, &Run)> = (1..)
        .zip(runs)
        .filter(|(number, run)| {
            if known {
                passed(run) == Some(true)
            } else {
                !aside().any(|suspect| suspect.number == *number)
            }
        })
        .collect();
    if good.is_empty() {
        return None;
    }
    let source = |number: usize| sources.get(number - 1);
    let is_copy = |number: usize| source(number).is_some_and(|source| source.is_copy);
    let day = |number: usize| source(number)?.day.as_deref();
    let evidence = good.iter().filter(|(number, _)| !is_copy(*number));
    let evidence: Vec<(&Run, Option<&str>)> =
        evidence.map(|(number, run)| (*run, day(*number))).collect();
    let only_good: Vec<&Run> = evidence.iter().map(|(run, _)| *run).collect();
    let reads = called.read_only(runs);
    let changes = Changes::from_runs(&evidence, &reads);
    let lacks_calls = sources.iter().any(|source| source.lacks_calls);
    let proposed = [
        propose_expect(
            &only_good,
            plan::propose_call_counts(&only_good, &changes, &reads),
        ),
        propose_errors(&only_good),
        // Nobody knows what such runs change.
        plan::propose_trajectory(&only_good, &changes, &reads).filter(|_| !lacks_calls),
        order::propose_axes(&only_good, &reads),
        Some(Narrative::new(runs, called, &reads).gate(&only_good)),
    ];
    let numbers_of = |good: &mut dyn Iterator<Item = &(usize, &Run)>| {
        run_numbers(runs, good.map(|(number, _)| *number))
    };
    let mut text = format!("    # from {}\n", numbers_of(&mut good.iter()));
    if evidence.len() < good.len() {
        let mut copies = good.iter().filter(|(number, _)| is_copy(*number));
        let copies = numbers_of(&mut copies);
        text.push_str(&format!(
            "    # copies, which prove nothing more: {copies}\n"
        ));
    }
    for Suspect {
        number, reasons, ..
    } in aside()
    {
        let reasons = comment_text(&reasons.join("; "));
        text.push_str(&format!("    # without run-{number}: {reasons}\n"));
    }
    let mut kept: Vec<ProposedGate<'_>> = Vec::new();
    for gate in proposed.into_iter().flatten() {
        let broken = good.iter().filter(|(_, run)| !(gate.holds)(run));
        let broken: Vec<usize> = broken.map(|(number, _)| *number).collect();
        if broken.is_empty() {
            text.push_str(&gate.text);
            kept.push(gate);
        } else {
            let broken = run_numbers(runs, broken.into_iter());
            text.push_str(&format!("    # broken by {broken}:\n"));
            let lines = gate
                .text
                .lines()
                .map(|line| line.get(4..).unwrap_or_default());
            text.extend(lines.map(|line| format!("    # {line}\n")));
        }
    }
    // A rate of one percent and less is none that a gate can ask for.
    if kept.is_empty() || 100 * good.len() / runs.len() < 2 {
        return None;
    }
    if good.len() < runs.len() {
        text.push_str(&propose_reliability(runs, &kept));
    }
    Some(text)
}

/// Runs by their numbers, which begin anew with each model.
fn run_numbers(runs: &[Run], numbers: impl Iterator<Item = usize>) -> String {
    let numbers: Vec<usize> = numbers.collect();
    let of_models: Vec<&[Run]> = runs.chunk_by(|one, next| one.model == next.model).collect();
    match (numbers.as_slice(), of_models.as_slice()) {
        (all, [first, _, ..]) if all.len() == runs.len() => match first.len() {
            1 => "run-1 of each model".to_owned(),
            of_model => format!("run-1..run-{of_model} of each model"),
        },
        ([first, .., last], [_]) if last - first + 1 == numbers.len() => {
            format!("run-{first}..run-{last}")
        }
        (numbers, of_models) => {
            let names = of_models.iter().flat_map(|of_model| {
                let model = &of_model[0].model;
                (1..=of_model.len()).map(move |number| match of_models.len() {
                    1 => format!("run-{number}"),
                    _ => comment_text(&format!("run-{number} of {model}")),
                })
            });
            let names: Vec<String> = names.collect();
            let told = numbers.iter().filter_map(|number| names.get(number - 1));
            told.map(String::as_str).collect::<Vec<_>>().join(", ")
        }
    }
}

/// Where runs failed, the gates count at the rate that was observed. A run that failed and holds them all is
/// named: they do not tell it from a good one.
fn propose_reliability(runs: &[Run], kept: &[ProposedGate<'_>]) -> String {
    let holds = |run: &&Run| kept.iter().all(|gate| (gate.holds)(run));
    let green = runs.iter().filter(holds).count();
    let missed = (1..)
        .zip(runs)
        .filter(|(_, run)| passed(run) == Some(false) && holds(run));
    let missed = run_numbers(runs, missed.map(|(number, _)| number));
    let of = runs.len();
    let mut text = format!("    # {green} of {of} runs hold all of these\n");
    if !missed.is_empty() {
        text.push_str(&format!(
            "    # failed runs that hold all of these too: {missed}\n"
        ));
    }
    let names: Vec<&str> = kept.iter().map(|gate| gate.name).collect();
    text.push_str(&format!(
        "    reliability:\n      outcome: [{}]\n      expect: [{{ target: reliability.pass_rate, matcher: {{ min: {} }} }}]\n",
        names.join(", "),
        100 * green / of
    ));
    text
}

/// There is a closing, the reason why runs stop, and no call that changes something is made more often than
/// in any good run.
fn propose_expect<'a>(good: &[&'a Run], times: Vec<CallCounts<'a>>) -> Option<ProposedGate<'a>> {
    let mut asked: Vec<(String, Demand<'a>)> = Vec::new();
    if good.iter().all(|run| has_closing(run)) {
        asked.push((
            "{ target: final_response, matcher: { regex: \"\\\\S\" } }".to_owned(),
            Box::new(has_closing),
        ));
    } else if good.iter().all(|run| answers_before_the_end(run)) {
        asked.push((
            "{ target: \"conversation.turns[-2]\", matcher: { schema: { required: [role, content], properties: \
             { role: { const: assistant }, content: { pattern: \"\\\\S\", not: { pattern: \"^tool_use \" } } } } } }"
                .to_owned(),
            Box::new(answers_before_the_end),
        ));
    }
    let first = good.first().and_then(|run| stop_reason(run));
    let all_stop_so = |first: &&str| good.iter().all(|run| stop_reason(run) == Some(first));
    if let Some(first) = first.filter(all_stop_so) {
        let reason = quote(first);
        let text =
            format!("{{ target: conversation.stop_reason, matcher: {{ exact: {reason} }} }}");
        asked.push((text, Box::new(move |run| stop_reason(run) == Some(first))));
    }
    for times in times {
        let mut bounds = format!(
            "contains: {{ const: {} }}, minContains: {}",
            quote(times.tool),
            times.least
        );
        if let Some(most) = times.most {
            bounds.push_str(&format!(", maxContains: {most}"));
        }
        let target = times.target();
        let text = format!("{{ target: {target}, matcher: {{ schema: {{ {bounds} }} }} }}");
        let holds = move |run: &Run| times.holds(run);
        asked.push((text, Box::new(holds)));
    }
    if asked.is_empty() {
        return None;
    }
    let (lines, holds): (Vec<String>, Vec<_>) = asked.into_iter().unzip();
    let lines: String = lines
        .iter()
        .map(|line| format!("      - {line}\n"))
        .collect();
    Some(ProposedGate {
        name: "expect",
        text: format!("    expect:\n{lines}"),
        holds: Box::new(move |run| holds.iter().all(|holds| holds(run))),
    })
}

/// No more errors than the passing runs have, and a result of every call.
fn propose_errors<'a>(good: &[&Run]) -> Option<ProposedGate<'a>> {
    let count = |run: &Run| count_calls(&run.trace).errors;
    let most: Option<Vec<u64>> = good.iter().map(|run| count(run)).collect();
    let calls = good.iter().any(|run| !run.trace.tool_calls.is_empty());
    let most = most?.into_iter().max().filter(|_| calls)?;
    Some(ProposedGate {
        name: "calls",
        text: format!("    calls: {{ max_errors: {most} }}\n"),
        holds: Box::new(move |run| count(run).is_some_and(|errors| errors <= most)),
    })
}

#[cfg(test)]
mod tests;
