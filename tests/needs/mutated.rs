//! What becomes of claims once the runs behind them are changed.

use mcptest::eval::{Claim, ClaimVerdict, NarrativeOptions, NarrativeReport, narrative_divergence};
use mcptest::trace::Trace;
use serde_json::{Value, json};

use crate::runs::Labelled;

fn report(trace: &Trace) -> NarrativeReport {
    narrative_divergence(trace, &NarrativeOptions::default())
}

/// What became of claims in runs that were changed: how many there are, and of those that are not
/// flagged a line each.
pub(crate) struct Flagged {
    pub(crate) claims: usize,
    pub(crate) left: Vec<String>,
}

/// Changes each run behind each supported claim, and looks whether the claim is flagged then. No
/// change where a claim has nothing to change.
fn flagged_when(
    runs: &[Labelled],
    change: impl Fn(&Trace, &Claim) -> Option<Trace>,
    is_flagged: impl Fn(&ClaimVerdict) -> bool,
) -> Flagged {
    let (mut claims, mut left) = (0, Vec::new());
    for run in runs {
        let before = report(&run.trace);
        for claim in &before.claims {
            if claim.verdict != ClaimVerdict::Supported {
                continue;
            }
            let Some(changed) = change(&run.trace, claim) else {
                continue;
            };
            claims += 1;
            let after = report(&changed);
            let mut same = after.claims.iter();
            let same = same.find(|other| other.span == claim.span && other.verb == claim.verb);
            if !same.is_some_and(|claim| is_flagged(&claim.verdict)) {
                left.push(format!("{}: {same:?}", run.name));
            }
        }
    }
    Flagged { claims, left }
}

/// The results of the calls that support a claim are turned into errors.
pub(crate) fn flagged_when_the_calls_fail(runs: &[Labelled]) -> Flagged {
    let failing = |trace: &Trace, claim: &Claim| {
        let mut trace = trace.clone();
        for considered in &claim.considered {
            let results = trace.tool_results.iter_mut();
            for result in results.filter(|result| result.call_index == considered.call) {
                result.is_error = true;
                result.result = json!({ "content": [{ "type": "text", "text": "Error" }] }).into();
            }
        }
        Some(trace)
    };
    flagged_when(runs, failing, |verdict| {
        *verdict == ClaimVerdict::Unsupported
    })
}

/// The calls that support a claim are done to another record of the kind. The user still speaks of the first one.
pub(crate) fn flagged_with_another_identifier(runs: &[Labelled]) -> Flagged {
    let elsewhere = |trace: &Trace, claim: &Claim| {
        let identifier = claim.identifiers.first()?;
        let swap = |value: &Value| -> Value {
            // A claim has its identifiers in lower case.
            let other = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "9");
            let upper = identifier.to_uppercase();
            let text = value
                .to_string()
                .replace(identifier.as_str(), &other(identifier));
            let text = text.replace(&upper, &other(&upper));
            serde_json::from_str(&text).unwrap()
        };
        let mut trace = trace.clone();
        for considered in &claim.considered {
            let call = &mut trace.tool_calls[considered.call];
            call.args = swap(&call.args).into();
            let results = trace.tool_results.iter_mut();
            for result in results.filter(|result| result.call_index == considered.call) {
                result.result = swap(&result.result).into();
            }
        }
        Some(trace)
    };
    flagged_when(runs, elsewhere, |verdict| {
        matches!(
            verdict,
            ClaimVerdict::Unsupported | ClaimVerdict::ArgMismatch { .. }
        )
    })
}

/// The claims with a verb of the suite's own that nothing supports.
pub(crate) fn absent_with_the_verb(runs: &[Labelled], verb: &str) -> Vec<String> {
    let options = NarrativeOptions::default().with_verbs([verb]);
    let mut absent = Vec::new();
    for run in runs {
        let report = narrative_divergence(&run.trace, &options);
        let claims = report.claimed_but_absent();
        absent.extend(
            claims
                .filter(|claim| claim.verb == verb)
                .map(|claim| format!("{}: {claim:?}", run.name)),
        );
    }
    absent
}
