//! The gates that the runs of an agent carry: what the passing ones do, strict in what they change and
//! free in how they look things up.
//!
//! Each gate is run on the runs that it comes from. One that does not hold for all of them goes in as a
//! comment that says which runs break it, so that the suite is green as it is written.

use std::collections::BTreeMap;

use mcptest::eval::{KnownTools, count_calls};
use mcptest::trace::Run;

use super::ending::{answers_before_the_end, closes, stop_reason};
use super::gate::{Gate, Holds};
use super::narrative::{narrative, read_only_tools};
use super::suspects::Suspect;
use super::text::{comment, quoted};
use super::tools::Tools;
use super::{order, plan, writes};

/// The keys below an agent that its runs carry; nothing where no run passed. Where no run says whether it
/// did, suspects that are set aside count as failed.
pub(super) fn gates(
    runs: &[Run],
    days: &[Option<String>],
    called: &Tools,
    suspects: &[Suspect],
) -> Option<String> {
    let known = runs.iter().any(|run| passed(run).is_some());
    let tools = KnownTools::of_runs(runs);
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
    let only_good: Vec<&Run> = good.iter().map(|(_, run)| *run).collect();
    let reads = read_only_tools(runs);
    let changing: Vec<&str> = tools.names().filter(|name| !reads.reads(name)).collect();
    let day = |number: usize| days.get(number - 1)?.as_deref();
    let writes = good
        .iter()
        .map(|(number, run)| writes::writes(run, day(*number)));
    let writes: Vec<_> = writes.collect();
    let proposed = [
        expect(&only_good, plan::most_calls(&only_good, &writes)),
        errors(&only_good),
        plan::trajectory(&only_good, &writes, &changing),
        order::axes(&only_good),
        Some(narrative(runs, &tools, called)),
    ];
    let mut text = format!(
        "    # from {}\n",
        numbers(good.iter().map(|(number, _)| *number))
    );
    for Suspect {
        number, reasons, ..
    } in aside()
    {
        let reasons = comment(&reasons.join("; "));
        text.push_str(&format!("    # without run-{number}: {reasons}\n"));
    }
    let mut kept: Vec<Gate<'_>> = Vec::new();
    for gate in proposed.into_iter().flatten() {
        let broken: Vec<usize> = good
            .iter()
            .filter(|(_, run)| !(gate.holds)(run))
            .map(|(number, _)| *number)
            .collect();
        if broken.is_empty() {
            text.push_str(&gate.text);
            kept.push(gate);
        } else {
            text.push_str(&format!(
                "    # broken by {}:\n",
                numbers(broken.into_iter())
            ));
            text.extend(
                gate.text
                    .lines()
                    .map(|line| format!("    # {}\n", line.get(4..).unwrap_or_default())),
            );
        }
    }
    if kept.is_empty() {
        return None;
    }
    if good.len() < runs.len() {
        text.push_str(&reliability(runs, &kept));
    }
    Some(text)
}

/// Runs by their numbers.
fn numbers(numbers: impl Iterator<Item = usize>) -> String {
    let numbers: Vec<usize> = numbers.collect();
    match numbers.as_slice() {
        [first, .., last] if last - first + 1 == numbers.len() => {
            format!("run-{first}..run-{last}")
        }
        numbers => numbers
            .iter()
            .map(|number| format!("run-{number}"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Where runs failed, the gates count at the rate that was observed. A run that failed and holds them all is
/// named: they do not tell it from a good one.
fn reliability(runs: &[Run], kept: &[Gate<'_>]) -> String {
    let holds = |run: &&Run| kept.iter().all(|gate| (gate.holds)(run));
    let green = runs.iter().filter(holds).count();
    let missed = (1..)
        .zip(runs)
        .filter(|(_, run)| passed(run) == Some(false) && holds(run));
    let missed = numbers(missed.map(|(number, _)| number));
    let of = runs.len();
    let mut text = format!("    # {green} of {of} runs hold all of these\n");
    if !missed.is_empty() {
        text.push_str(&format!(
            "    # not told from those that passed: {missed}\n"
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

/// What the recorded outcome says.
fn passed(run: &Run) -> Option<bool> {
    run.outcome.and_then(|outcome| outcome.passed)
}

/// There is a closing, the reason why runs stop, and no call that changes something is made more often than
/// in any good run.
fn expect<'a>(good: &[&'a Run], most_calls: BTreeMap<String, usize>) -> Option<Gate<'a>> {
    let mut asked: Vec<(String, Holds<'a>)> = Vec::new();
    if good.iter().all(|run| closes(run)) {
        asked.push((
            "{ target: final_response, matcher: { regex: \"\\\\S\" } }".to_owned(),
            Box::new(closes),
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
        let text = format!(
            "{{ target: conversation.stop_reason, matcher: {{ exact: {} }} }}",
            quoted(first)
        );
        asked.push((text, Box::new(move |run| stop_reason(run) == Some(first))));
    }
    for (tool, most) in most_calls {
        let name = quoted(&tool);
        let text = format!(
            "{{ target: tool_names, matcher: {{ schema: {{ contains: {{ const: {name} }}, minContains: 0, maxContains: {most} }} }} }}"
        );
        let holds = move |run: &Run| run.calls_of(&tool).count() <= most;
        asked.push((text, Box::new(holds)));
    }
    if asked.is_empty() {
        return None;
    }
    let (lines, holds): (Vec<String>, Vec<_>) = asked.into_iter().unzip();
    Some(Gate {
        name: "expect",
        text: format!(
            "    expect:\n{}",
            lines
                .iter()
                .map(|line| format!("      - {line}\n"))
                .collect::<String>()
        ),
        holds: Box::new(move |run| holds.iter().all(|holds| holds(run))),
    })
}

/// No more errors than the passing runs have, and a result of every call.
fn errors<'a>(good: &[&Run]) -> Option<Gate<'a>> {
    let count = |run: &Run| count_calls(&run.trace).errors;
    let most = good
        .iter()
        .map(|run| count(run))
        .collect::<Option<Vec<u64>>>()?;
    let calls = good.iter().any(|run| !run.trace.tool_calls.is_empty());
    let most = most.into_iter().max().filter(|_| calls)?;
    Some(Gate {
        name: "calls",
        text: format!("    calls: {{ max_errors: {most} }}\n"),
        holds: Box::new(move |run| count(run).is_some_and(|errors| errors <= most)),
    })
}

#[cfg(test)]
#[path = "recipe_tests.rs"]
mod tests;
