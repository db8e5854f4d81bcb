//! Thresholds in the suites, in place, every other byte as it was.

use std::collections::BTreeMap;
use std::fmt;

use mcptest::parse_suite;
use mcptest::suite::gates::GateKind;
use mcptest_suite::{Source, Span};
use mcptest_trace::eval::Better;
use mcptest_trace::evidence::calibrate::Discrimination;
use serde::Serialize;

use super::column::Column;
use super::findings::SuiteCalibration;
use super::slots::{Slot, SlotPlace, Slots};
use super::values::is_free;
use crate::edit::{Edit, apply_edits, line_start};
use crate::failure::Failure;
use crate::files;
use crate::judging::OpenPackage;
use mcptest_trace::text::pluralize;

/// A threshold that was written, or could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct WriteOutcome {
    file: String,
    line: usize,
    target: String,
    before: Option<String>,
    now: Option<String>,
    /// Less is asked than before.
    looser: bool,
    why_not: Option<&'static str>,
    /// What becomes of it, for people.
    #[serde(skip)]
    pub(super) said: String,
}

impl WriteOutcome {
    fn new(source: &Source, span: Span, target: &str, said: impl fmt::Display) -> Self {
        let line = source.line_column(span.start).0;
        let file = source.display_path().to_owned();
        Self {
            said: format!("{file}:{line}: {target}: {said}"),
            file,
            line,
            target: target.to_owned(),
            ..Self::default()
        }
    }
}

/// A limit with the comment above it.
struct Proposal<'a> {
    column: &'a Column,
    limit: f64,
    comment: Vec<String>,
    verdict: Discrimination,
}

/// Writes the thresholds of a suite.
pub(super) fn write(
    opened: &OpenPackage,
    found: &SuiteCalibration,
    add: bool,
) -> Result<Vec<WriteOutcome>, Failure> {
    let Some((_, suite)) = opened.suites.suites().find(|(name, _)| *name == found.name) else {
        return Ok(Vec::new());
    };
    let proposals = proposals(found);
    let targets = proposals.iter().map(|proposal| proposal.column.target);
    let slots = Slots::from_suite(suite, targets.collect());
    let source = &suite.source;
    let (mut edits, mut written) = (Vec::new(), Vec::new());
    for slot in &slots.own {
        let proposal = proposals
            .iter()
            .find(|proposal| proposal.name() == slot.target);
        if let Some(proposal) = proposal {
            let change = proposal.write_outcome(source, slot);
            if change.why_not.is_none() {
                edits.push(proposal.edit(slot));
            }
            written.push(change);
        }
    }
    if add {
        let agents = suite.agents.iter().zip(&slots.declared);
        for (agent, declared) in agents {
            let new = |proposal: &&Proposal<'_>| {
                proposal.verdict == Discrimination::TellsRunsApart
                    && proposal
                        .column
                        .gate
                        .is_some_and(|gate| is_free(gate) && !declared.contains(&gate))
            };
            let new: Vec<&Proposal<'_>> = proposals.iter().filter(new).collect();
            let Some(edit) = gates_after(source, agent.name.span, &new) else {
                continue;
            };
            written.extend(new.iter().map(|proposal| {
                let bound = proposal.bound();
                let said = format!("added, {bound}");
                WriteOutcome {
                    now: Some(bound),
                    ..WriteOutcome::new(source, edit.span, proposal.name(), said)
                }
            }));
            edits.push(edit);
        }
    }
    let by_hand = slots
        .shared
        .iter()
        .filter(|(target, _)| proposals.iter().any(|proposal| proposal.name() == target));
    written.extend(by_hand.map(|(target, span)| {
        let said = "several agents share this number by an alias; change the number by hand";
        WriteOutcome {
            why_not: Some("shared"),
            ..WriteOutcome::new(source, *span, target, said)
        }
    }));
    // What agents share is told once.
    let mut told: Vec<WriteOutcome> = Vec::new();
    for change in written {
        if !told.contains(&change) {
            told.push(change);
        }
    }
    let mut written = told;
    written.sort_by_key(|change| change.line);
    if edits.is_empty() {
        return Ok(written);
    }
    let text = apply_edits(source.text(), &edits).map_err(|clash| {
        let (line, column) = source.line_column(clash.0);
        Failure::new(format!(
            "{}:{line}:{column}: two thresholds would be written to the same place",
            source.display_path()
        ))
        .with_help("several agents share this number by an anchor; give each agent its own number")
    })?;
    // What was written must be a suite, as the one before was.
    let again = Source::new(source.path(), source.display_path(), text.as_str());
    parse_suite(again).map_err(|error| {
        Failure::new(format!(
            "nothing was written: the suite would not load with the thresholds\n{error}"
        ))
    })?;
    files::replace(source.path(), &text).map_err(|error| {
        Failure::new(format!(
            "`{}` cannot be written: {error}",
            source.display_path()
        ))
    })?;
    Ok(written)
}

fn proposals(found: &SuiteCalibration) -> Vec<Proposal<'_>> {
    let each = found.each.iter().filter_map(|(column, found)| {
        let limit = found.limit?.rounded;
        let (comment, verdict) = (found.comment(), found.power.verdict);
        Some(Proposal {
            column,
            limit,
            comment,
            verdict,
        })
    });
    let together = found.together.iter().filter_map(|(column, found)| {
        let limit = found.limit?;
        let enough = match (limit.enough, limit.agents_needed) {
            (false, Some(needed)) => format!(" (too few: the share needs {needed})"),
            _ => String::new(),
        };
        let comment = vec![
            format!(
                "calibrated on {} without a failed run: {:.1}% of such agents promised{enough};",
                pluralize(limit.agents, "agent"),
                100.0 * limit.promised
            ),
            format!(
                "no leave-one-out check for a target over all runs; {}",
                found.verdict.as_str()
            ),
        ];
        let (limit, verdict) = (limit.rounded, found.verdict);
        Some(Proposal {
            column,
            limit,
            comment,
            verdict,
        })
    });
    each.chain(together).collect()
}

impl Proposal<'_> {
    fn name(&self) -> &'static str {
        self.column.target.measure().name
    }

    fn bound(&self) -> String {
        let key = match self.column.target.measure().better {
            Better::Higher => "min",
            Better::Lower | Better::Neither => "max",
        };
        format!("{key}: {}", self.limit)
    }

    fn assertion(&self) -> String {
        format!(
            "{{ target: {}, matcher: {{ {} }} }}",
            self.name(),
            self.bound()
        )
    }

    fn edit(&self, slot: &Slot) -> Edit {
        let (span, text) = match &slot.place {
            SlotPlace::Number(span) => (*span, self.limit.to_string()),
            SlotPlace::Block { at, before, after } => (
                *at,
                format!("{before}expect: [{}]{after}", self.assertion()),
            ),
        };
        Edit {
            span,
            text,
            comment: self.comment.clone(),
        }
    }

    fn write_outcome(&self, source: &Source, slot: &Slot) -> WriteOutcome {
        let (span, before, now) = match &slot.place {
            SlotPlace::Number(span) => (
                *span,
                source.slice(*span).to_owned(),
                self.limit.to_string(),
            ),
            SlotPlace::Block { at, .. } => (*at, "the default".to_owned(), self.bound()),
        };
        // Every run there can be meets it.
        if self.column.target.always_holds(self.limit) {
            let said = format!("kept; every possible run would meet {}", self.limit);
            return WriteOutcome {
                why_not: Some("always_met"),
                ..WriteOutcome::new(source, span, &slot.target, said)
            };
        }
        let looser = before
            .parse()
            .is_ok_and(|before: f64| self.column.target.alarms(self.limit, before));
        if looser && self.verdict != Discrimination::TellsRunsApart {
            let verdict = self.verdict.as_str();
            let said = format!(
                "{before} kept: {now} would be looser, and the numbers do not separate bad runs from good runs ({verdict})"
            );
            return WriteOutcome {
                why_not: Some("looser"),
                ..WriteOutcome::new(source, span, &slot.target, said)
            };
        }
        let told = if looser { ", looser than it was" } else { "" };
        WriteOutcome {
            looser,
            before: Some(before.clone()),
            now: Some(now.clone()),
            ..WriteOutcome::new(
                source,
                span,
                &slot.target,
                format!("{before} → {now}{told}"),
            )
        }
    }
}

/// Gates as keys of an agent, after the line of its name; nothing where there are none, and where the
/// agent is written on one line with its name.
fn gates_after(source: &Source, name: Span, proposals: &[&Proposal<'_>]) -> Option<Edit> {
    let mut gates: BTreeMap<GateKind, Vec<&Proposal<'_>>> = BTreeMap::new();
    for proposal in proposals {
        if let Some(gate) = proposal.column.gate {
            gates.entry(gate).or_default().push(proposal);
        }
    }
    let text = source.text();
    let start = line_start(text, name.start);
    let end = text[name.end..]
        .find('\n')
        .map(|newline| name.end + newline)?;
    let key = text[start..name.start].trim_start_matches([' ', '-']);
    let rest = text[name.end..end].trim();
    if gates.is_empty() || key != "name: " || !(rest.is_empty() || rest.starts_with('#')) {
        return None;
    }
    let indent = " ".repeat(name.start - start - key.len());
    let mut added = String::new();
    for (gate, proposals) in gates {
        let comments = proposals.iter().flat_map(|proposal| &proposal.comment);
        added.extend(comments.map(|line| format!("{indent}# {line}\n")));
        let asked: Vec<String> = proposals
            .iter()
            .map(|proposal| proposal.assertion())
            .collect();
        added.push_str(&format!(
            "{indent}{}: {{ expect: [{}] }}\n",
            gate.name(),
            asked.join(", ")
        ));
    }
    Some(Edit {
        span: Span::new(end + 1, end + 1),
        text: added,
        comment: Vec::new(),
    })
}
