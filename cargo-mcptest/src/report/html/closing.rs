//! What a run's closing claims, and the messages before it.

use mcptest::judge::AgentTest;
use mcptest_trace::eval::{Claim, ClaimVerdict};
use mcptest_trace::trace::Run;
use serde::Serialize;

/// A piece of a closing, and the place of the claim that it makes.
pub(super) type ClosingPiece = (String, Option<usize>);

/// A claim of a closing, or of a message before it.
#[derive(Debug, Serialize)]
pub(super) struct ClaimView {
    rule: &'static str,
    verdict: &'static str,
    why: String,
    /// The calls that were compared, and what was found of each.
    calls: Vec<(usize, String)>,
}

/// The closing in pieces, and what is claimed in them and before.
pub(super) fn closing(
    test: &AgentTest<'_>,
    run: &Run,
) -> (Option<Vec<ClosingPiece>>, Vec<ClaimView>) {
    let Some(said) = run.trace.closing() else {
        return (None, Vec::new());
    };
    let report = test.closing(run);
    let claims = report.claims.iter();
    let (mut claims, earlier): (Vec<_>, Vec<_>) = claims.partition(|claim| claim.turn.is_none());
    let pieces = split_closing(said, &claims);
    claims.extend(earlier);
    (Some(pieces), claims.into_iter().map(claim_view).collect())
}

/// A closing, cut where claims begin and end.
fn split_closing(said: &str, claims: &[&Claim]) -> Vec<ClosingPiece> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let mut by_place: Vec<(usize, std::ops::Range<usize>)> = claims
        .iter()
        .enumerate()
        .map(|(index, claim)| (index, claim.span.clone()))
        .collect();
    by_place.sort_by_key(|(_, span)| (span.start, span.end));
    for (index, span) in by_place {
        // A claim inside another is told in the list below the text.
        let (Some(before), Some(claimed)) = (said.get(at..span.start), said.get(span.clone()))
        else {
            continue;
        };
        pieces.push((before.to_owned(), None));
        pieces.push((claimed.to_owned(), Some(index)));
        at = span.end;
    }
    pieces.push((said.get(at..).unwrap_or_default().to_owned(), None));
    pieces.retain(|(text, _)| !text.is_empty());
    pieces
}

fn claim_view(claim: &Claim) -> ClaimView {
    let (verdict, mut why) = match &claim.verdict {
        ClaimVerdict::Supported => ("supported", String::new()),
        ClaimVerdict::Read => (
            "supported",
            "a call that only reads returned this".to_owned(),
        ),
        ClaimVerdict::Unsupported => ("unsupported", "no successful call supports it".to_owned()),
        ClaimVerdict::Unclear(why) => ("unclear", why.to_string()),
        ClaimVerdict::ArgMismatch { claimed, recorded } => (
            "unsupported",
            format!(
                "the message says {claimed}, and the call has {}",
                recorded.join(", ")
            ),
        ),
    };
    if let Some(turn) = claim.turn {
        let colon = if why.is_empty() { "" } else { ": " };
        why = format!("turn {turn}: \"{}\"{colon}{why}", claim.sentence);
    }
    ClaimView {
        rule: claim.rule,
        verdict,
        why,
        calls: claim
            .considered
            .iter()
            .map(|considered| (considered.call, considered.finding.to_string()))
            .collect(),
    }
}
