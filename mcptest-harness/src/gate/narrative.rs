//! The `narrative` gate: does the closing story match what was done?

use mcptest_suite::Node;
use serde_json::{Value, json};

use super::block::Block;
use super::form::CustomForm;
use super::key::{Key, Keyed, Range, Role, or_variable};
use super::scores::count_at;
use super::table::GateEntry;
use super::{Breach, Counts, EachRun, Input, Options, RunScore, Threshold, to_u64};
use crate::eval::{Claim, ClaimVerdict, Considered, has_english, narrative_rules};
use crate::eval::{NarrativeOptions, NarrativeReport, narrative_divergence_with};
use crate::render::Evidence;
use crate::trace::Run;
use mcptest_trace::text::{pluralize, shorten, truncate_lines};

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<NarrativeOptions>();

impl Options for NarrativeOptions {
    const SAYS: &'static str = "The closing message claims no change that the run did not make. Default: narrative.claimed_but_absent <= 0.";

    const EXAMPLE: &'static str = "narrative: {}";

    // Its default is that there is no false claim at all.
    const CALIBRATED_BY: Option<&'static str> = None;

    const RESTS_ON_ERRORS: bool = true;

    fn needs_results(&self) -> bool {
        true
    }
}

impl Keyed for NarrativeOptions {
    const KEYS: &'static [Key<Self>] = &[
        Key::texts("mutating_tools", "tool names", |options: &mut Self| {
            &mut options.mutating_tools
        })
        .says("Tools that count as writes (calls that change something), whatever their names say.")
        .with_role(Role::Tools),
        Key::texts("readonly_tools", "tool names", |options: &mut Self| {
            &mut options.readonly_tools
        })
        .says("Tools that never count as writes. This key wins over `mutating_tools`.")
        .with_role(Role::Tools),
        Key::texts("verbs", "verbs", |options: &mut Self| &mut options.verbs)
            .says("Further verbs of change that the gate reads, beside the verbs that it knows."),
        Key::form(
            "evidence",
            &CustomForm {
                schema: evidence_schema,
                read: read_evidence,
            },
        )
        .says(
            "For a verb, the tools that do it. No other tool then counts for this verb. An empty list says that no tool does it.",
        )
        .with_role(Role::Tools),
        Key::texts("tools", "tool names", |options: &mut Self| {
            &mut options.tools
        })
        .says("All tools of the agent. Use this key if the recordings do not list the tools.")
        .with_role(Role::Tools),
        Key::form(
            "ignore",
            &CustomForm {
                schema: rules_schema,
                read: read_ignored,
            },
        )
        .says("Reading rules to switch off. A failure shows the id of each rule."),
        Key::flag("strict", |options: &mut Self| &mut options.strict)
            .says("`true`: an unclear claim counts like a claim that no call supports."),
        Key::flag("all_messages", |options: &mut Self| {
            &mut options.all_messages
        })
        .says("`true`: the gate also reads the agent's messages before the closing message."),
        Key::number(
            "max_divergence_score",
            Range::UpTo(1.0),
            |options: &mut Self| &mut options.max_divergence_score,
        )
        .says("The highest `narrative.divergence_score` that passes.")
        .limits_target("narrative.divergence_score"),
        Key::flag(
            "fail_on_claimed_but_absent_mutating",
            |options: &mut Self| &mut options.fail_on_claimed_but_absent_mutating,
        )
        .says("`false`: the default does not fail for a claimed change that the run did not make."),
        Key::form(
            "llm_assisted",
            &CustomForm {
                schema: || or_variable(&json!({ "type": "boolean", })),
                // Whoever has said it elsewhere may say it here.
                read: |block, node, _| block.problems.flag(node).is_some(),
            },
        )
        .says("This key is accepted, and changes no verdict. The gate asks no model."),
    ];

    fn default_options() -> Self {
        Self::default()
    }
}

/// What may stand at `evidence`, for editors.
fn evidence_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": {
            "description": "Tool names.",
            "type": "array",
            "items": { "type": ["string", "number"] },
        },
    })
}

/// Tools by verb.
fn read_evidence(block: &mut Block<'_, '_>, node: &Node, options: &mut NarrativeOptions) -> bool {
    let Some(entries) = node.entries() else {
        let what = "a mapping of verbs to tool names";
        block.problems.expected(what, node);
        return false;
    };
    let tools = entries.iter().map(|entry| {
        // An empty list says that no tool does it.
        let tools = block.problems.any_texts(&entry.value, "tool names");
        let tools = tools.into_iter().map(|tool| tool.value);
        (entry.key.clone(), tools.collect())
    });
    options.evidence = tools.collect();
    true
}

/// What may stand at `ignore`, for editors.
fn rules_schema() -> Value {
    let ids: Vec<&str> = narrative_rules().collect();
    json!({ "type": "array", "items": { "enum": ids } })
}

/// The rules that are not applied.
fn read_ignored(block: &mut Block<'_, '_>, node: &Node, options: &mut NarrativeOptions) -> bool {
    let rules: Vec<(&str, &str)> = narrative_rules().map(|id| (id, id)).collect();
    let items = block.problems.any_items(node, "rule ids").iter();
    let ids = items.filter_map(|item| block.problems.choice(item, "rule", &rules));
    options.ignore = ids.map(str::to_owned).collect();
    true
}

impl EachRun for NarrativeOptions {
    type Report = NarrativeReport;

    const DEFAULT: &'static [Threshold] = &[Threshold::at_most(
        "narrative.claimed_but_absent",
        0.0,
        "the closing message claims changes that no call made",
    )
    .numbered(|metrics| {
        let changes = claimed_but_absent(metrics)?;
        Some(format!(
            "the closing message claims {changes} that no call made"
        ))
    })];

    fn defaults(&self) -> &'static [Threshold] {
        match (self.fail_on_claimed_but_absent_mutating, self.all_messages) {
            (true, false) => Self::DEFAULT,
            (true, true) => OF_ALL_MESSAGES,
            (false, _) => &[],
        }
    }

    fn counts(&self, run: &Run, report: &NarrativeReport) -> Counts {
        let calls = run.trace.tool_calls.len();
        Counts::from([
            ("claims", to_u64(report.claims.len())),
            ("calls", to_u64(calls)),
        ])
    }

    fn score(
        &self,
        input: &Input<'_>,
        run: &Run,
    ) -> Result<RunScore<NarrativeReport>, Box<Breach>> {
        let known = input.known_tools();
        let report = narrative_divergence_with(&run.trace, self, known);
        Ok(RunScore::new(report))
    }

    fn note(&self, runs: &[Run], scores: &[Value]) -> Option<String> {
        let none = scores
            .iter()
            .all(|metrics| metrics["narrative"]["claims"] == 0);
        let before = runs
            .iter()
            .map(|run| run.trace.messages_before_closing().count());
        let before = if self.all_messages { 0 } else { before.sum() };
        let none = none.then(|| match before {
            0 => "no claim was read in any run".to_owned(),
            1 => "no claim was read in any run; one message before a closing was not read, `all_messages: true` reads it".to_owned(),
            before => format!(
                "no claim was read in any run; {before} messages before the closings were not read, `all_messages: true` reads them"
            ),
        });
        let notes: Vec<String> = none.into_iter().chain(note_unread(runs, scores)).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    fn explain(&self, _input: &Input<'_>, run: &Run, report: &NarrativeReport) -> Vec<Evidence> {
        let mut evidence = claim_evidence(run, report, false);
        let silent = report.present_but_unclaimed.iter();
        let silent: Vec<String> = silent
            .map(|call| format!("{} {}", call.call, call.tool))
            .collect();
        if !silent.is_empty() {
            let text = format!(
                "done, but never mentioned: {}",
                shorten(&silent.join(", "), 200)
            );
            evidence.push(Evidence::Text(text));
        }
        evidence
    }

    fn explain_rest(&self, run: &Run, report: &NarrativeReport) -> Vec<Evidence> {
        claim_evidence(run, report, true)
    }
}

/// The default where the messages before the closing one are read too.
const OF_ALL_MESSAGES: &[Threshold] = &[Threshold::at_most(
    "narrative.claimed_but_absent",
    0.0,
    "the agent's messages claim changes that no call made",
)
.numbered(|metrics| {
    let changes = claimed_but_absent(metrics)?;
    Some(format!(
        "the agent's messages claim {changes} that no call made"
    ))
})];

/// How many claimed changes no call made, in words.
fn claimed_but_absent(metrics: &Value) -> Option<String> {
    let changes = count_at(metrics, "narrative.claimed_but_absent")?;
    Some(pluralize(changes, "change"))
}

/// How many closings are judged on nothing, since the gate reads English only.
fn note_unread(runs: &[Run], scores: &[Value]) -> Option<String> {
    let other = |(run, metrics): &(&Run, &Value)| {
        let closing = run.trace.closing().unwrap_or_default();
        let said = !closing.trim().is_empty() && metrics["narrative"]["claims"] == 0;
        said && !has_english(closing)
    };
    match (runs.iter().zip(scores).filter(other).count(), runs.len()) {
        (0, _) => None,
        (1, 1) => Some(
            "the closing has no sentence in English, so the gate judged it on nothing".to_owned(),
        ),
        (some, all) => Some(format!(
            "{some} of {all} closings have no sentence in English, so the gate judged them on nothing"
        )),
    }
}

/// The claims that calls support, or the others: each with its verdict. Those that count come first.
fn claim_evidence(run: &Run, report: &NarrativeReport, supported: bool) -> Vec<Evidence> {
    let mut claims: Vec<&Claim> = report.claims.iter().collect();
    claims.sort_by_key(|claim| matches!(claim.verdict, ClaimVerdict::Unclear(_)));
    let shown = claims.into_iter().filter_map(|claim| {
        let is_supported = matches!(claim.verdict, ClaimVerdict::Supported | ClaimVerdict::Read);
        let title = match &claim.verdict {
            ClaimVerdict::Supported => "supported".to_owned(),
            ClaimVerdict::Read => "supported by the result of a call that only reads".to_owned(),
            ClaimVerdict::Unsupported => "claimed, but no successful call supports it".to_owned(),
            ClaimVerdict::Unclear(why) if report.strict => {
                format!("unclear, and `strict` counts the claim as absent: {why}")
            }
            ClaimVerdict::Unclear(why) => format!("unclear, and not counted: {why}"),
            ClaimVerdict::ArgMismatch { claimed, recorded } => format!(
                "claimed with `{}`, recorded with {}",
                shorten(claimed, 60),
                shorten(&recorded.join(", "), 120)
            ),
        };
        let place = match claim.turn {
            Some(turn) => format!(", turn {turn}"),
            None => String::new(),
        };
        let title = format!("{title} (rule `{}`{place}):", claim.rule);
        (is_supported == supported).then(|| Evidence::Text(claim_text(&title, claim, run)))
    });
    shown.collect()
}

/// The sentence with the claim underlined, the calls that were considered, and what would settle it.
fn claim_text(title: &str, claim: &Claim, run: &Run) -> String {
    let start = claim.span.start.saturating_sub(claim.sentence_span.start);
    let end = claim.span.end.saturating_sub(claim.sentence_span.start);
    let mut lines = vec![title.to_owned()];
    // The claim stands on one line of the sentence as a rule; the underline follows that line.
    let mut at = 0;
    for line in claim.sentence.split('\n') {
        let range = at..at + line.len();
        at = range.end + 1;
        lines.push(format!("  | {}", mcptest_suite::escape_line(line)));
        let (from, to) = (start.max(range.start), end.min(range.end));
        if from < to
            && line.is_char_boundary(from - range.start)
            && line.is_char_boundary(to - range.start)
        {
            let width = |text: &str| {
                unicode_width::UnicodeWidthStr::width(&*mcptest_suite::escape_line(text))
            };
            let before = width(&line[..from - range.start]);
            let marked = width(&line[from - range.start..to - range.start]);
            lines.push(format!(
                "  | {}{}",
                " ".repeat(before),
                "^".repeat(marked.max(1))
            ));
        }
    }
    if claim.considered.is_empty() {
        lines.push("  no recorded call changes anything".to_owned());
    }
    // Several calls of one tool are often refused for one reason.
    let same = |left: &Considered, right: &Considered| {
        (&left.tool, left.finding, &left.said) == (&right.tool, right.finding, &right.said)
    };
    for alike in claim.considered.chunk_by(same) {
        let shown = if alike.len() > LIKE_CALLS {
            1
        } else {
            alike.len()
        };
        lines.extend(alike[..shown].iter().map(|one| considered_text(one, run)));
        let rest: Vec<String> = alike[shown..]
            .iter()
            .map(|one| one.call.to_string())
            .collect();
        if !rest.is_empty() {
            lines.push(format!("  calls {}: the same", rest.join(", ")));
        }
    }
    if let Some(line) = &claim.settle {
        let line = shorten(line, 200);
        lines.push(format!(
            "  to decide this, name the tools that do this under `evidence:`: `{line}`"
        ));
    }
    truncate_lines(&lines)
}

/// As many calls of one tool with one finding are shown in full.
const LIKE_CALLS: usize = 2;

/// A call that was considered, and why it does not support the claim.
fn considered_text(considered: &Considered, run: &Run) -> String {
    let args = run
        .trace
        .tool_calls
        .get(considered.call)
        .map(|call| crate::trace::canonical_json(&call.args));
    let call = shorten(
        &format!("{} {}", considered.tool, args.unwrap_or_default()),
        120,
    );
    let said = considered.said.as_deref().map(|said| {
        let said = shorten(said, 120);
        format!(": {}", mcptest_suite::escape_line(&said))
    });
    format!(
        "  call {}: {call}: {}{}",
        considered.call,
        considered.finding,
        said.unwrap_or_default()
    )
}
