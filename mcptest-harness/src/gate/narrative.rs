//! The `narrative` gate: does the closing story match what was done?

use mcptest_suite::gates::Narrative;
use serde_json::json;

use super::{Breach, Cause, Input, PerRun, Scored, Threshold};
use crate::eval::narrative::{Claim, NarrativeOptions, Verdict, narrative_divergence};
use crate::render::{Evidence, cut, shorten};
use crate::trace::Run;

impl PerRun for Narrative {
    fn defaults(&self) -> &'static [Threshold] {
        const DEFAULT: [Threshold; 1] = [Threshold::at_most("narrative.claimed_but_absent", 0.0)];
        if self.fail_on_claimed_but_absent_mutating {
            &DEFAULT
        } else {
            &[]
        }
    }

    fn score(&self, _input: &Input<'_>, run: &Run) -> Scored {
        let report = narrative_divergence(&run.trace, &options(self));
        let too_divergent = self
            .max_divergence_score
            .filter(|most| report.divergence_score > *most);
        let absent = self.fail_on_claimed_but_absent_mutating && !report.gate_passed();
        let mut metrics = serde_json::to_value(&report).unwrap_or_default();
        // The claims are what the failure shows, and no target.
        if let Some(map) = metrics.as_object_mut() {
            map.remove("claims");
        }
        metrics["gate_passed"] = u8::from(!absent && too_divergent.is_none()).into();
        let breaches = too_divergent.map(|most| {
            let asks = Cause::Option(format!("`max_divergence_score` allows {most}"));
            Breach::new(asks, &format!("{:.4}", report.divergence_score))
        });
        Scored {
            metrics: json!({ "narrative": metrics }),
            breaches: breaches.into_iter().collect(),
            not_judged: false,
        }
    }

    fn explain(&self, _input: &Input<'_>, run: &Run) -> Vec<Evidence> {
        let report = narrative_divergence(&run.trace, &options(self));
        let mut evidence = Vec::new();
        for claim in &report.claims {
            match &claim.verdict {
                Verdict::Absent => {
                    let title = "claimed, but no successful call supports it:";
                    evidence.push(Evidence::Text(shown(title, claim, run)));
                }
                Verdict::ArgMismatch { claimed, recorded } => {
                    let title = format!(
                        "claimed with `{}`, recorded with {}:",
                        cut(claimed, 60),
                        cut(&recorded.join(", "), 120)
                    );
                    evidence.push(Evidence::Text(shown(&title, claim, run)));
                }
                Verdict::Supported | Verdict::Read => {}
            }
        }
        let silent = report.present_but_unclaimed.iter();
        let silent: Vec<String> = silent
            .map(|call| format!("{} {}", call.call, call.tool))
            .collect();
        if !silent.is_empty() {
            let text = format!(
                "done, but never mentioned: {}",
                cut(&silent.join(", "), 200)
            );
            evidence.push(Evidence::Text(text));
        }
        evidence
    }
}

pub(super) fn options(gate: &Narrative) -> NarrativeOptions {
    NarrativeOptions {
        mutating_tools: gate.mutating_tools.clone(),
        readonly_tools: gate.readonly_tools.clone(),
        verbs: gate.verbs.clone(),
        evidence: gate.evidence.clone(),
    }
}

/// The sentence with the claim underlined, and the calls that were considered.
fn shown(title: &str, claim: &Claim, run: &Run) -> String {
    let start = claim.span.start.saturating_sub(claim.sentence_span.start);
    let end = claim.span.end.saturating_sub(claim.sentence_span.start);
    let mut lines = vec![title.to_owned()];
    // The claim stands on one line of the sentence as a rule; the underline follows that line.
    let mut at = 0;
    for line in claim.sentence.split('\n') {
        let range = at..at + line.len();
        at = range.end + 1;
        lines.push(format!("  | {}", mcptest_suite::clean_line(line)));
        let (from, to) = (start.max(range.start), end.min(range.end));
        if from < to
            && line.is_char_boundary(from - range.start)
            && line.is_char_boundary(to - range.start)
        {
            let width = |text: &str| {
                unicode_width::UnicodeWidthStr::width(&*mcptest_suite::clean_line(text))
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
        lines.push(format!(
            "  none of the recorded calls is a `{}`",
            claim.verb
        ));
    }
    for considered in &claim.considered {
        let args = run
            .trace
            .tool_calls
            .get(considered.call)
            .map(|call| crate::trace::canonical_json(&call.args));
        let call = cut(
            &format!("{} {}", considered.tool, args.unwrap_or_default()),
            120,
        );
        lines.push(format!(
            "  call {}: {call}: {}",
            considered.call, considered.finding
        ));
    }
    shorten(&lines)
}
