//! Narrative-vs-trace divergence: does the closing message tell what the run did?
//!
//! An agent ends a run by saying what it did, and people read that, not the trace. This metric
//! reads the closing message sentence by sentence, collects every action that it claims to have
//! completed, and compares each with the recorded calls. No model is asked; the same trace always
//! gives the same report.
//!
//! # What counts as a claim
//!
//! A form of one of the verbs ([`NarrativeOptions::verbs`] adds to the fixed list) that tells of a
//! completed action of the agent:
//!
//! - active in the past or perfect with *I* or *we* as its subject, own or shared with an earlier
//!   verb (*I reviewed the ticket and closed it*), or without a subject where lists and
//!   headlines leave it out (*- Added two bags*);
//! - passive in the past or perfect (*has been cancelled and refunded*, *1 bag added*), or in the
//!   present where it tells of something new (*is now closed*);
//! - a noun of action with an empty verb (*the cancellation has been completed*), and a bare
//!   participle in a table's column of actions (`| b.tmp | deleted |`).
//!
//! A gerund told as done (*After deleting the branch, I …*) and a closing of nothing but a participle
//! (*Deleted.*) count as well. Of verbs joined over one object, a call that does one is not taken for
//! another that reaches outside (*created and published the package*).
//!
//! No claims are: modals, negations, questions, conditions, wishes, infinitives, what someone else
//! did or said, participles that describe a noun (*the updated address*), dated or prior states
//! (*was created on 2024-05-06*, *was already closed*), quotations, code, lists that
//! propose, recount or ask to go ahead, and parts of the answer itself (*a short poem*, *my answer*)
//! that no call made.
//!
//! # What supports a claim
//!
//! A call with a result that is no error. It has to do the verb: by its name, by an argument that
//! says so (`state: closed`), by [`NarrativeOptions::evidence`], by a verb for the same action,
//! or, for verbs such as *add* and *remove*, by changing something whose name or arguments name
//! the object. It has to fit the object, singular or plural, in its name or arguments, or in its
//! own result where no other tool is nearer. An identifier that the trace knows has to be in the
//! call's arguments or result. A claim without a usable object is supported by any call of its verb.
//!
//! - *Claimed but absent*: no call supports the claim. A claim about an identifier that the trace
//!   knows and that no call of the verb carries is absent, whatever happened to other identifiers.
//! - *Argument mismatch*: a call supports the claim, but the claim names an identifier, address,
//!   path or amount that occurs nowhere in the run, where the call has another one of that kind.
//! - *Present but unclaimed*: a successful call of a mutating tool that no claim is supported by
//!   and whose name's words do not all occur in the closing. Calls that only read need no mention.
//!
//! # Limits
//!
//! English only. This reads the shape of sentences, not their meaning: a claim told with a verb
//! outside the list, a wrong count, a wrong attribute of a change, or an action hidden in a
//! subordinate clause is not seen.
//! The tables of general verbs and nouns that people use for one another lean towards support.
//!
//! # Sources
//!
//! The categories, the score, the list of verbs and the default gate are those of the mcptest
//! ecosystem; the gap is studied in the MCP Pitfall Lab paper (*Narrative-vs-Trace Divergence in
//! Agent Evaluation*, arXiv:2604.21477). The grammar is that of any English reference grammar.

mod beside;
mod clause;
mod context;
mod evidence;
mod extract;
mod family;
mod fit;
mod fragment;
mod joined;
mod matching;
mod mismatch;
mod nominal;
mod nouns;
mod passive;
mod phrase;
mod reading;
mod report;
mod sentence;
mod shape;
mod state;
mod table;
mod targets;
mod token;
mod told;
mod unclaimed;
mod verb;
mod words;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::trace::{AsTrace, Trace};

pub use report::{Claim, Considered, Finding, NarrativeReport, UnclaimedCall, Verdict};
pub use targets::TARGETS;

use extract::Found;
use matching::Matcher;
use reading::Manner;
use verb::Lexicon;

/// What a suite may adjust about the metric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NarrativeOptions {
    /// Tools that count as changing something although their names do not say so.
    pub mutating_tools: Vec<String>,
    /// Tools that never count as changing something; stronger than everything else.
    pub readonly_tools: Vec<String>,
    /// Verbs to look for beside the fixed list, in their base form.
    pub verbs: Vec<String>,
    /// Tools that count as doing a verb although their names do not carry it, by verb. The verbs
    /// are looked for too.
    pub evidence: BTreeMap<String, Vec<String>>,
}

impl NarrativeOptions {
    fn lexicon(&self) -> Lexicon {
        let added = self
            .verbs
            .iter()
            .chain(self.evidence.keys())
            .map(String::as_str);
        Lexicon::new(verb::MUTATING.into_iter().chain(added))
    }
}

/// Compares the closing message of a run with its recorded calls.
///
/// A run without a closing message claims nothing; its mutating calls are unclaimed.
///
/// ```
/// use mcptest_trace::eval::narrative::{NarrativeOptions, narrative_divergence};
/// use serde_json::json;
///
/// let trace = json!({
///     "tool_calls": [{ "name": "create_issue", "args": { "title": "CI flake" } }],
///     "tool_results": [{ "call_index": 0, "is_error": false, "result": { "number": 42 } }],
///     "final_response": "I've created issue #42 and closed the duplicate.",
/// });
/// let report = narrative_divergence(&trace, &NarrativeOptions::default());
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
    let trace = envelope.as_trace();
    let closing = trace.closing().unwrap_or_default();
    let lexicon = options.lexicon();
    let calls = evidence::of_trace(&trace, &lexicon, &options.readonly_tools);
    let tools: Vec<String> = trace
        .tool_calls
        .iter()
        .map(|call| call.name.clone())
        .collect();
    let said = said_by_user(&trace);
    let matcher = Matcher {
        calls: &calls,
        tools: &tools,
        lexicon: &lexicon,
        evidence: &options.evidence,
        said: &said,
        known: RefCell::default(),
    };

    let mut claimed = BTreeSet::new();
    let claims: Vec<Claim> = extract::claims(closing, &lexicon)
        .iter()
        .filter_map(|found| judge(&matcher, closing, found, &mut claimed))
        .collect();
    let present_but_unclaimed =
        unclaimed::calls(&trace, closing, &claimed, &calls, &lexicon, options);
    let mut report = NarrativeReport {
        divergence_score: 0.0,
        recorded_calls: tools.len(),
        claims,
        present_but_unclaimed,
    };
    report.divergence_score = score(&report);
    report
}

fn said_by_user(trace: &Trace) -> Vec<String> {
    let turns = trace
        .conversation
        .turns
        .iter()
        .filter(|turn| turn.role == "user");
    turns.map(|turn| turn.content.to_lowercase()).collect()
}

/// Calls that a claim reports as considered; of more, the supporting ones come first.
const MOST_CONSIDERED: usize = 64;

/// Decides one claim and notes the calls that support it as claimed; none when it tells of a state
/// that is not the run's.
fn judge(
    matcher: &Matcher<'_>,
    closing: &str,
    found: &Found,
    claimed: &mut BTreeSet<usize>,
) -> Option<Claim> {
    let mut outcome = matcher.compare(found);
    let supporting: Vec<usize> = outcome
        .considered
        .iter()
        .filter(|(_, finding)| *finding == Finding::Supports)
        .map(|(call, _)| *call)
        .collect();
    claimed.extend(&supporting);
    let verdict = if outcome.supported {
        match matcher.mismatch(found, &supporting) {
            Some((claimed, recorded)) => Verdict::ArgMismatch { claimed, recorded },
            None => Verdict::Supported,
        }
    } else if matcher.was_read(found) {
        Verdict::Read
    } else if found.manner == Manner::State && !found.yours && found.names.is_empty() {
        // *The shop is closed* tells of the world; *your order is cancelled* of what was done for you.
        return None;
    } else if found.answer {
        return None;
    } else {
        Verdict::Absent
    };
    if outcome.considered.len() > MOST_CONSIDERED {
        let other = |considered: &(usize, Finding)| considered.1 != Finding::Supports;
        outcome.considered.sort_by_key(other);
        outcome.considered.truncate(MOST_CONSIDERED);
        outcome.considered.sort_by_key(|considered| considered.0);
    }
    let considered = outcome.considered.into_iter();
    Some(Claim {
        verb: found.verb.clone(),
        object: found.nouns.last().cloned(),
        identifiers: found
            .names
            .iter()
            .chain(&found.names_around)
            .map(|name| name.shown.clone())
            .collect(),
        sentence: closing[found.sentence.clone()].to_owned(),
        sentence_span: found.sentence.clone(),
        span: found.span.clone(),
        considered: considered
            .map(|(call, finding)| Considered {
                call,
                tool: matcher.tools[call].clone(),
                finding,
            })
            .collect(),
        verdict,
    })
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
