//! Narrative-vs-trace divergence: does the closing message tell what the run did?

mod calls;
mod claims;
mod details;
mod document;
mod options;
mod verdict;
mod words;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::trace::AsTrace;

pub(super) use calls::reported::failed;
pub use calls::reported::{Reported, reported};
pub use calls::tools::KnownTools;
pub use document::english::has_english;
pub use options::NarrativeOptions;
pub use verdict::report::{
    CallFinding, Claim, ClaimVerdict, Considered, NarrativeReport, UnclaimedCall, Unclear,
};

use calls::tools::ToolBox;
use claims::sentence::{FoundClaim, Told};
use claims::vocabulary::Vocabulary;
use document::text::Document;
use verdict::judge::{Judge, JudgedClaim};

/// The ids of the rules, as [`NarrativeOptions::ignore`] takes them.
pub fn narrative_rules() -> impl Iterator<Item = &'static str> {
    claims::rules::RULES.iter().map(|rule| rule.id)
}

/// Compares the closing message of a run with its recorded calls; the tools that the agent has are
/// those that the run called.
///
/// A run without a closing message claims nothing; its mutating calls are unclaimed.
///
/// ```
/// use mcptest_trace::eval::{NarrativeOptions, narrative_divergence};
/// use serde_json::json;
///
/// let trace = json!({
///     "tool_calls": [{ "name": "create_issue", "args": { "title": "CI flake" } }],
///     "tool_results": [{ "call_index": 0, "is_error": false, "result": { "number": 42 } }],
///     "final_response": "I've created issue #42 and closed the duplicate.",
/// });
/// let options = NarrativeOptions::default().with_tools(["create_issue", "close_issue"]);
/// let report = narrative_divergence(&trace, &options);
///
/// let absent: Vec<_> = report.claimed_but_absent().map(|claim| claim.verb.as_str()).collect();
/// assert_eq!(absent, ["close"]);
/// assert!(!report.gate_passed());
/// // One flagged item over one call and two claims.
/// assert!((report.divergence_score - 1.0 / 3.0).abs() < 1e-9);
/// ```
#[must_use]
pub fn narrative_divergence<T: AsTrace + ?Sized>(
    envelope: &T,
    options: &NarrativeOptions,
) -> NarrativeReport {
    narrative_divergence_with(envelope, options, &KnownTools::default())
}

/// Like [`narrative_divergence`], with the tools that the agent is known to have: those of the
/// recording, and those that other runs of the agent called.
#[must_use]
pub fn narrative_divergence_with<T: AsTrace + ?Sized>(
    envelope: &T,
    options: &NarrativeOptions,
    known: &KnownTools,
) -> NarrativeReport {
    let trace = envelope.as_trace();
    let closing = trace.closing().unwrap_or_default();
    let more = known.beside(&trace, options);
    let tools = ToolBox::new(&trace, known, &more, options);
    let vocabulary = Vocabulary::new(options, &tools);
    let judge = Judge::new(&trace, &tools, known);

    let mut messages = vec![(None, closing)];
    if options.all_messages {
        let earlier = trace.messages_before_closing();
        messages.splice(0..0, earlier.map(|(turn, text)| (Some(turn), text)));
    }
    let mut claimed = BTreeSet::new();
    let mut claims = Vec::new();
    for (turn, message) in &messages {
        let document = Document::read(message);
        // What is told again is not judged again.
        let mut told: HashMap<Told<'_>, JudgedClaim> = HashMap::new();
        let mut found = claims::reading::claims(&document, &vocabulary, &tools);
        found.retain(|found| !options.ignore.iter().any(|id| id == found.rule.id));
        let all: Vec<&Told<'_>> = found.iter().map(|found| &found.told).collect();
        for found in &found {
            let judged = told.entry(found.told.clone());
            let judged = judged.or_insert_with(|| judge.judge(&found.told, found.rule, &all));
            if found.rule.tried && judged.verdict != ClaimVerdict::Unsupported {
                continue;
            }
            claims.push(Claim {
                turn: *turn,
                ..claim(&document, message, found, judged)
            });
        }
        claimed.extend(told.into_values().flat_map(|judged| judged.supporting));
    }
    let mut report = NarrativeReport {
        divergence_score: 0.0,
        recorded_calls: trace.tool_calls.len(),
        claims,
        present_but_unclaimed: verdict::unclaimed::calls(&tools, &messages, &claimed),
        strict: options.strict,
        max_divergence_score: options.max_divergence_score,
        fail_on_claimed_but_absent_mutating: options.fail_on_claimed_but_absent_mutating,
    };
    report.divergence_score = score(&report);
    report
}

/// Bytes of a sentence that a claim quotes on either side.
const QUOTED: usize = 200;

fn claim(
    document: &Document,
    message: &str,
    found: &FoundClaim<'_>,
    judged: &JudgedClaim,
) -> Claim {
    let told = &found.told;
    let whole = |range: Range<usize>| {
        let start = message.floor_char_boundary(range.start);
        start..message.ceil_char_boundary(range.end).max(start)
    };
    let span = whole(document.source(&found.span));
    let sentence = whole(document.source(&found.sentence));
    let start = sentence.start.max(span.start.saturating_sub(QUOTED));
    let end = sentence.end.min(span.end + QUOTED);
    let sentence = whole(start.min(span.start)..end.max(span.end));
    Claim {
        rule: found.rule.id,
        verb: told.verbs.first().copied().unwrap_or_default().to_owned(),
        object: told.object.last().cloned(),
        identifiers: told.identifiers.clone(),
        turn: None,
        sentence: message[sentence.clone()].trim_end().to_owned(),
        sentence_span: sentence,
        span,
        considered: judged.considered.clone(),
        settle: judged.settle.clone(),
        verdict: judged.verdict.clone(),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of calls and claims are far below 2^52"
)]
fn score(report: &NarrativeReport) -> f64 {
    let flagged = report.claimed_but_absent().count()
        + report.arg_mismatch().count()
        + report.present_but_unclaimed.len();
    let whole = report.recorded_calls + report.claims.len();
    if whole == 0 {
        0.0
    } else {
        (flagged as f64 / whole as f64).min(1.0)
    }
}
