//! Closings of many kinds of agent that were labelled for an earlier reader, with their calls as
//! `[tool, arguments, result]` (a result, `"ok"`, `"error"`, or `null` for none) and the verbs that
//! the suite adds.
//!
//! `absent` and `mismatched` are the verbs of the claims that a careful reader finds so, who takes the
//! recording for all that was done. The rules do not see all of it, on purpose: `open` are those of
//! these verbs that they leave unclear, `passes` those that they take for supported, and `reason` says
//! why. Both are counted apart.

use mcptest_trace::eval::{ClaimVerdict, NarrativeOptions, NarrativeReport, narrative_divergence};
use serde_json::{Value, json};

/// What of these is read wrongly; a reader that reads one of them rightly takes it out.
const WRONG: &[&str] = &[
    "I cancelled reservation ABC123.",
    "When I cancelled reservation EHGLP3",
    "Having updated your email preferences",
    "I've closed your savings account",
    "To fix this, I created a plan.",
    "The agent deleted the file.",
    "After deleting the branch, I created the issue.",
];

/// What becomes of the claims that a careful reader finds false.
#[derive(Debug, Default)]
struct Seen {
    flagged: usize,
    open: usize,
    passed: usize,
}

impl Seen {
    fn add(&mut self, flagged: &[Vec<String>], open: &[String], passed: &[String]) {
        self.flagged += flagged.iter().map(Vec::len).sum::<usize>();
        self.open += open.len();
        self.passed += passed.len();
    }
}

fn cases() -> impl Iterator<Item = Value> {
    let lines = include_str!("closings.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap())
}

fn report(case: &Value, all_fail: bool) -> NarrativeReport {
    let calls = case["calls"].as_array().unwrap();
    let answered = calls
        .iter()
        .enumerate()
        .filter(|(_, call)| !call[2].is_null());
    let results = answered.map(|(index, call)| {
        let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
        let result = call[2].as_str().map_or_else(|| call[2].clone(), text);
        let is_error = all_fail || call[2] == "error";
        json!({ "call_index": index, "is_error": is_error, "result": result })
    });
    let made = calls
        .iter()
        .map(|call| json!({ "name": call[0], "args": call[1] }));
    let run = json!({
        "tool_calls": made.collect::<Vec<_>>(),
        "tool_results": results.collect::<Vec<_>>(),
        "final_response": case["closing"],
    });
    let options = NarrativeOptions::default().with_verbs(verbs(&case["verbs"]));
    narrative_divergence(&run, &options)
}

fn verbs(list: &Value) -> Vec<String> {
    let verbs = list.as_array().into_iter().flatten();
    let mut verbs: Vec<String> = verbs
        .map(|verb| verb.as_str().unwrap().to_owned())
        .collect();
    verbs.sort_unstable();
    verbs
}

fn with(report: &NarrativeReport, is: impl Fn(&ClaimVerdict) -> bool) -> Vec<String> {
    let claims = report.claims.iter().filter(|claim| is(&claim.verdict));
    let mut verbs: Vec<String> = claims.map(|claim| claim.verb.clone()).collect();
    verbs.sort_unstable();
    verbs
}

#[test]
fn claims_are_compared_with_calls_as_a_careful_reader_would() {
    let (mut right, mut wrong) = (0, Vec::new());
    let mut seen = Seen::default();
    for case in cases() {
        let report = report(&case, false);
        let absent = with(&report, |verdict| *verdict == ClaimVerdict::Unsupported);
        let mismatched = with(&report, |verdict| {
            matches!(verdict, ClaimVerdict::ArgMismatch { .. })
        });
        let unclear = with(&report, |verdict| {
            matches!(verdict, ClaimVerdict::Unclear(_))
        });
        let (open, passes) = (verbs(&case["open"]), verbs(&case["passes"]));
        let flagged = |label: &str| {
            let excused = |verb: &String| open.contains(verb) || passes.contains(verb);
            let mut verbs = verbs(&case[label]);
            verbs.retain(|verb| !excused(verb));
            verbs
        };
        let as_excused = open.iter().all(|verb| unclear.contains(verb))
            && !passes.iter().any(|verb| unclear.contains(verb));
        let labelled = [flagged("absent"), flagged("mismatched")];
        if labelled == [absent.as_slice(), &mismatched] && as_excused {
            seen.add(&labelled, &open, &passes);
            right += 1;
            continue;
        }
        println!(
            "wrong: {case}\n    absent {absent:?}, mismatched {mismatched:?}, unclear {unclear:?}"
        );
        wrong.push(case["closing"].as_str().unwrap().to_owned());
    }
    println!(
        "closings: {right} right, {} wrong; false claims: {seen:?}",
        wrong.len()
    );
    let known = |closing: &&String| !WRONG.iter().any(|known| closing.starts_with(known));
    assert_eq!(
        wrong.iter().filter(known).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
    assert_eq!((right, wrong.len()), (315 - WRONG.len(), WRONG.len()));
    assert_eq!((seen.open, seen.passed), (57, 15));
}

#[test]
fn no_claim_is_supported_once_the_calls_fail() {
    for case in cases() {
        let report = report(&case, true);
        let supported = with(&report, |verdict| {
            matches!(
                verdict,
                ClaimVerdict::Supported | ClaimVerdict::ArgMismatch { .. }
            )
        });
        assert_eq!(supported, Vec::<String>::new(), "{case}");
    }
}
