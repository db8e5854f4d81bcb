//! How good the reader of closings is: false alarms, misses, removed calls, added claims, by rule.
//! Each figure is printed.

use std::collections::BTreeMap;

use mcptest::eval::ClaimVerdict;
use mcptest::trace::Trace;

use crate::labelled_runs::{MODES, Mode, Told, airline, desk, other_domains};

/// What was counted of some runs.
#[derive(Debug, Default)]
struct Counts {
    runs: usize,
    truthful: usize,
    false_alarms: Vec<String>,
    clearly_false: usize,
    missed: Vec<String>,
    claims: usize,
    unclear: usize,
    labelled: usize,
    unread: usize,
}

fn count(runs: &[&Told], mode: Mode) -> Counts {
    let mut counts = Counts::default();
    for run in runs {
        let report = run.judged(mode);
        counts.runs += 1;
        counts.claims += report.claims.len();
        counts.unclear += report.unclear().count();
        let passed = report.gate_passed();
        counts.truthful += usize::from(!run.any_false);
        if !run.any_false && !passed {
            counts.false_alarms.push(format!("{}: {report:?}", run.id));
        }
        counts.clearly_false += usize::from(run.clear_false);
        if run.clear_false && passed {
            counts.missed.push(format!("{}: {report:?}", run.id));
        }
        counts.labelled += run.claims.len();
        let read = |label| report.claims.iter().any(|claim| run.meet(label, claim));
        counts.unread += run.claims.iter().filter(|label| !read(label)).count();
    }
    counts
}

fn print(title: &str, runs: &[&Told]) {
    for mode in MODES {
        let Counts {
            runs,
            truthful,
            false_alarms,
            clearly_false,
            missed,
            claims,
            unclear,
            labelled,
            unread,
        } = count(runs, mode);
        println!(
            "{title}, {mode:?}: {runs} runs; false alarms {} of {truthful}; missed {} of {clearly_false}; \
             claims {claims} ({unclear} unclear); labelled unread {unread} of {labelled}",
            false_alarms.len(),
            missed.len(),
        );
    }
    let (tried, missed) = removals(runs);
    println!(
        "{title}, removals: caught {} of {tried}",
        tried - missed.len()
    );
}

/// A trace without the calls of some tools.
fn without_tools(trace: &Trace, tools: &[String]) -> Trace {
    let calls = trace.tool_calls.iter().enumerate();
    let kept: Vec<usize> = calls
        .filter(|(_, call)| !tools.contains(&call.name))
        .map(|(at, _)| at)
        .collect();
    let results = trace.tool_results.iter().filter_map(|result| {
        let call_index = kept.iter().position(|at| *at == result.call_index)?;
        let mut result = result.clone();
        result.call_index = call_index;
        Some(result)
    });
    let calls = kept.iter().map(|at| trace.tool_calls[*at].clone());
    let mut left = trace.clone();
    left.tool_results = results.collect();
    left.tool_calls = calls.collect();
    left
}

/// Truthful runs left without any call that supports a claim; the gate has to fail on them.
fn removals(runs: &[&Told]) -> (usize, Vec<String>) {
    let (mut tried, mut missed) = (0, Vec::new());
    for run in runs.iter().filter(|run| !run.any_false) {
        let claims = run.claims.iter();
        let of_verbs = claims
            .clone()
            .filter_map(|claim| run.options.evidence.get(&claim.verb));
        let mut supporting: Vec<String> = of_verbs.flatten().cloned().collect();
        supporting.extend(claims.clone().filter_map(|claim| claim.by.clone()));
        let mut mapped = claims.filter(|claim| !claim.soft);
        let mapped = mapped.any(|claim| run.options.evidence.contains_key(&claim.verb));
        let mut calls = run.trace.tool_calls.iter();
        if !mapped || !calls.any(|call| supporting.contains(&call.name)) {
            continue;
        }
        tried += 1;
        let report = run.judged_as(&without_tools(&run.trace, &supporting), Mode::Evidence);
        if report.gate_passed() {
            missed.push(format!("{}: {report:?}", run.id));
        }
    }
    (tried, missed)
}

/// Claims found, right, wrong, unclear, and supported without a label, by rule.
fn by_rule(runs: &[&Told]) -> BTreeMap<&'static str, [usize; 5]> {
    let mut rules: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    for run in runs {
        for claim in run.judged(Mode::Evidence).claims {
            let [found, right, wrong, unclear, unlabelled] = rules.entry(claim.rule).or_default();
            *found += 1;
            let flagged = claim.verdict == ClaimVerdict::Unsupported;
            *match run.label_of(&claim) {
                _ if matches!(claim.verdict, ClaimVerdict::Unclear(_)) => unclear,
                Some(label) if label.soft || label.supported != flagged => right,
                None if !flagged => unlabelled,
                _ => wrong,
            } += 1;
        }
    }
    println!("{:24} found right wrong unclear unlabelled", "rule");
    for (rule, [found, right, wrong, unclear, unlabelled]) in &rules {
        println!("{rule:24} {found:5} {right:5} {wrong:5} {unclear:7} {unlabelled:10}");
    }
    rules
}

fn half<'r>(runs: impl IntoIterator<Item = &'r Told>, tuned: bool) -> Vec<&'r Told> {
    let runs = runs.into_iter();
    runs.filter(|run| run.tuned_on() == tuned).collect()
}

pub(crate) fn the_closings_of_the_airline_and_of_other_domains() {
    let (airline, other) = (airline(), other_domains());
    assert_eq!((airline.len(), other.len()), (120, 78));
    let airline: Vec<&Told> = airline.iter().collect();
    let other: Vec<&Told> = other.iter().collect();
    print("airline", &airline);
    print("other domains", &other);
    let all = [airline, other].concat();
    for mode in MODES {
        let alarms = count(&all, mode).false_alarms;
        assert!(alarms.len() <= 1, "{mode:?}: {alarms:#?}");
    }
    let missed = count(&all, Mode::Evidence).missed;
    assert!(missed.is_empty(), "{missed:#?}");
    let (tried, missed) = removals(&all);
    assert!(
        tried > 0 && missed.len() * 20 <= tried,
        "{tried}: {missed:#?}"
    );
}

/// The rules are tuned on one half, so the other one tells how good they are.
pub(crate) fn their_halves_and_rules() {
    let (airline, other) = (airline(), other_domains());
    for (title, tuned) in [("tuned on", true), ("held out", false)] {
        print(&format!("airline, {title}"), &half(&airline, tuned));
        print(&format!("other domains, {title}"), &half(&other, tuned));
        let both = half(airline.iter().chain(&other), tuned);
        println!("{title}");
        let rules = by_rule(&both).into_values();
        let [found, wrong] = rules.fold([0, 0], |[all, bad], [found, _, wrong, ..]| {
            [all + found, bad + wrong]
        });
        assert!(
            found > 0 && wrong * 20 <= found,
            "{wrong} of {found} are wrong"
        );
    }
}

/// The verbs of the metric's source.
const SEED: &str = "create update delete remove send write post insert set put patch publish destroy \
    drop add edit upload merge close cancel approve revoke";

/// A false claim for each tool of a verb of the seed that the run did not call with success.
fn false_claims(run: &Told) -> Vec<String> {
    let calls = run.trace.tool_calls.iter();
    let calls = calls.zip(run.trace.results_by_call());
    let done = calls.filter(|(_, result)| result.is_some_and(|result| !result.is_error));
    let done: Vec<&str> = done.map(|(call, _)| call.name.as_str()).collect();
    let mut claims = Vec::new();
    for tool in run.known.names().filter(|tool| !done.contains(tool)) {
        let (verb, object) = tool.split_once('_').unwrap_or((tool, "it"));
        if !SEED.split_whitespace().any(|known| known == verb) {
            continue;
        }
        let participle = match verb {
            "send" => "sent".to_owned(),
            "cancel" => "cancelled".to_owned(),
            _ if verb.ends_with('e') => format!("{verb}d"),
            _ => format!("{verb}ed"),
        };
        claims.push(format!(
            "I have {participle} the {}.",
            object.replace('_', " ")
        ));
    }
    claims
}

/// Adds false claims to the closings that pass, and counts those that pass still.
fn added(title: &str, runs: &[Told]) -> usize {
    let mut all = 0;
    for mode in MODES {
        let (mut tried, mut missed) = (0, Vec::new());
        for run in runs.iter().filter(|run| run.judged(mode).gate_passed()) {
            let closing = run.trace.closing().unwrap_or_default();
            for claim in false_claims(run) {
                let mut trace = run.trace.clone();
                trace.final_response = Some(format!("{closing} {claim}"));
                tried += 1;
                if run.judged_as(&trace, mode).gate_passed() {
                    missed.push(format!("{}: {claim}", run.id));
                }
            }
        }
        println!(
            "{title}, {mode:?}, false claims: caught {} of {tried}",
            tried - missed.len()
        );
        assert!(missed.len() * 50 <= tried, "{mode:?}: {missed:#?}");
        all += tried;
    }
    all
}

pub(crate) fn false_claims_added_to_them() {
    assert!(added("airline", &airline()) > 0);
    assert!(added("other domains", &other_domains()) > 0);
}

/// No message before a closing raises an alarm, and many claim what a closing does not tell again.
pub(crate) fn what_the_airline_says_before_its_closings() {
    let (mut more, mut alarms) = (0, Vec::new());
    for mut run in airline() {
        let closing = run.judged(Mode::Evidence);
        run.options = run.options.with_all_messages(true);
        let all = run.judged(Mode::Evidence);
        more += usize::from(closing.claims.is_empty() && !all.claims.is_empty());
        let earlier = all.claimed_but_absent();
        let earlier: Vec<_> = earlier.filter(|claim| claim.turn.is_some()).collect();
        if !earlier.is_empty() {
            alarms.push(format!("{}: {earlier:#?}", run.id));
        }
    }
    println!("airline: {more} runs claim something before a closing that claims nothing");
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
    assert!(more >= 15, "{more}");
}

/// The measurements of closings over the recordings of the desk.
pub(crate) fn the_closings_of_the_desk() {
    let runs = desk();
    let all: Vec<&Told> = runs.iter().collect();
    print("desk", &all);
    for mode in MODES {
        let counts = count(&all, mode);
        assert_eq!(
            (counts.runs, counts.truthful, counts.clearly_false),
            (12, 11, 1)
        );
        assert!(counts.false_alarms.is_empty(), "{:#?}", counts.false_alarms);
        assert!(counts.missed.is_empty(), "{:#?}", counts.missed);
        assert_eq!((counts.labelled, counts.unread), (8, 0));
    }
    let (tried, missed) = removals(&all);
    assert!(tried > 0 && missed.is_empty(), "{tried}: {missed:#?}");
    let rules = by_rule(&all).into_values();
    assert_eq!(rules.map(|[.., wrong, _, _]| wrong).sum::<usize>(), 0);
    assert!(added("desk", &runs) > 0);
}
