//! The `snapshot` gate: the outline of every run against what was accepted.

mod tools;

use std::collections::BTreeSet;

use mcptest_suite::model::{Segment, Target};
use mcptest_suite::read::read_target;
use mcptest_suite::{Diagnostic, Node};
use mcptest_trace::text::escape_stored_line;
use serde_json::{Value, json};

use super::block::Block;
use super::form::CustomForm;
use super::key::{Key, Keyed};
use super::table::GateEntry;
use super::{Criterion, Input, Judgement, Options, name_runs, scope, to_u64};
use crate::render::{Evidence, Finding};
use crate::trace::{Trace, canonical_json};
use tools::OfferedTools;

pub(super) const ENTRY: GateEntry = GateEntry::custom::<Snapshot>();

/// What a redacted place shows.
const BLANK: &str = "<redacted>";

/// What of the runs is in the outline.
#[derive(Debug, Clone, Default)]
pub(super) struct Snapshot {
    /// Whether the closing message is part of the outline.
    final_response: bool,
    /// Whether the offered tools are a snapshot of their own.
    tools: bool,
    /// Places to blank.
    redact: Vec<Target>,
}

impl Options for Snapshot {
    const SAYS: &'static str = "The outline of the runs is the one that you accepted with insta.";

    const EXAMPLE: &'static str = "snapshot: {}";

    // It has no targets.
    const CALIBRATED_BY: Option<&'static str> = None;
}

impl Keyed for Snapshot {
    const KEYS: &'static [Key<Self>] = &[
        Key::flag("final_response", |snapshot: &mut Self| {
            &mut snapshot.final_response
        })
        .says("`true`: the closing message is a part of the outline."),
        Key::flag("tools", |snapshot: &mut Self| &mut snapshot.tools)
            .says("`true`: the tools that the runs were offered are a second snapshot."),
        Key::form(
            "redact",
            &CustomForm {
                schema: || json!({ "type": "array", "items": { "type": ["string", "number"] } }),
                read: read_redact,
            },
        )
        .says("Paths of values to blank, for example `tool_calls[*].args.date`."),
    ];

    fn default_options() -> Self {
        Self::default()
    }
}

/// Paths to blank.
fn read_redact(block: &mut Block<'_, '_>, node: &Node, snapshot: &mut Snapshot) -> bool {
    let before = block.problems.noted();
    let paths = block.problems.any_items(node, "target paths").iter();
    let paths = paths.filter_map(|path| read_target(path, block.problems));
    snapshot.redact = paths.collect();
    block.problems.noted() == before
}

impl Criterion for Snapshot {
    fn judge(&self, input: &Input<'_>) -> Judgement {
        let mut findings = Vec::new();
        let mut used = vec![false; self.redact.len()];
        let mut text = String::new();
        for (index, run) in input.runs.iter().enumerate() {
            let mut envelope = run.envelope().clone();
            for (target, used) in self.redact.iter().zip(&mut used) {
                let before = run_outline(index, &envelope, self);
                blank(&mut envelope, &target.segments);
                *used |= run_outline(index, &envelope, self) != before;
            }
            text.push_str(&run_outline(index, &envelope, self));
        }
        for (target, _) in self.redact.iter().zip(used).filter(|(_, used)| !used) {
            let problem = Diagnostic::at(
                target.span,
                format!("the path `{}` blanks nothing in the outline of any run", target.text),
            )
            .help("correct the path, or remove it: the outline has calls, arguments, errors and the stop reason");
            findings.push(Finding::new(problem));
        }
        let mut notes = Vec::new();
        let refused = input.snapshots.outline(&text).err();
        findings.extend(refused.map(|details| difference_finding(input, details)));
        if self.tools {
            let tools = OfferedTools::from_runs(input.runs);
            notes = tools.notes();
            findings.extend(unlisted_finding(input, &tools.unlisted));
            // What not all recordings say is nothing to accept.
            if tools.unlisted.is_empty() {
                let refused = input.snapshots.tools(&tools.text()).err();
                findings.extend(refused.map(|details| difference_finding(input, details)));
            }
        }
        Judgement {
            notes,
            ..findings.into()
        }
    }
}

/// A snapshot that says something else: what is different, what to do next, and what shows it.
fn difference_finding(input: &Input<'_>, details: Vec<String>) -> Finding {
    let mut details = details.into_iter();
    let what = details.next().unwrap_or_default();
    let message = format!("`snapshot` does not hold: {what}");
    let mut problem = Diagnostic::at(input.declared.span, message);
    problem.helps.extend(details.next());
    let finding = Finding::new(problem);
    details.fold(finding, |finding, text| finding.show(Evidence::Text(text)))
}

/// Runs whose recordings do not list their tools.
fn unlisted_finding(input: &Input<'_>, runs: &[usize]) -> Option<Finding> {
    let scope = scope(runs.len(), input.runs.len());
    let message = format!(
        "`snapshot` does not hold{scope}: `tools: true` needs the tools that were offered, and the recording does not list them"
    );
    let problem = Diagnostic::at(input.declared.span, message)
        .note(name_runs("not listed in", input.runs, runs))
        .help("record the runs again with a recorder that lists the tools (`tools` in the cassette), or remove `tools: true`");
    (!runs.is_empty()).then(|| Finding::new(problem))
}

/// Blanks every place that a path leads to.
fn blank(value: &mut Value, path: &[Segment]) {
    let Some((step, rest)) = path.split_first() else {
        // A call stays an object, so that the outline shows that one was made.
        *value = match value {
            Value::Object(call) if call.contains_key("name") => json!({ "name": BLANK }),
            // A result stays the result of its call.
            Value::Object(result) if result.contains_key("call_index") => {
                json!({ "call_index": result["call_index"], "is_error": BLANK })
            }
            _ => Value::from(BLANK),
        };
        return;
    };
    match (step, value) {
        (Segment::Key(key), Value::Object(map)) => {
            if let Some(value) = map.get_mut(key) {
                blank(value, rest);
            }
        }
        (Segment::Index(index), Value::Array(items)) => {
            let back = || {
                items
                    .len()
                    .checked_sub(usize::try_from(index.unsigned_abs()).ok()?)
            };
            let place = usize::try_from(*index).ok().or_else(back);
            if let Some(value) = place.and_then(|place| items.get_mut(place)) {
                blank(value, rest);
            }
        }
        (Segment::Every, Value::Array(items)) => {
            for item in items {
                blank(item, rest);
            }
        }
        _ => {}
    }
}

fn is_blank(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str) == Some(BLANK)
}

/// Which calls' outcomes are blanked.
enum BlankedOutcomes {
    All,
    Of(BTreeSet<u64>),
}

impl BlankedOutcomes {
    fn find(envelope: &Value) -> Self {
        let results = envelope.get("tool_results");
        if is_blank(results) {
            return Self::All;
        }
        let results = results.and_then(Value::as_array).into_iter().flatten();
        let blanked = results.filter(|result| is_blank(result.get("is_error")));
        Self::Of(
            blanked
                .filter_map(|result| result.get("call_index")?.as_u64())
                .collect(),
        )
    }

    fn is_blank(&self, call: usize) -> bool {
        match self {
            Self::All => true,
            Self::Of(calls) => calls.contains(&to_u64(call)),
        }
    }
}

/// One run, a line a call and a line an argument, so that a change shows as the lines it changes.
fn run_outline(index: usize, envelope: &Value, gate: &Snapshot) -> String {
    let trace = &Trace::from_envelope(envelope);
    let mut lines = vec![format!("run {}", index + 1)];
    let results = trace.results_by_call();
    let outcomes = BlankedOutcomes::find(envelope);
    for (number, (call, result)) in trace.tool_calls.iter().zip(results).enumerate() {
        let server = if call.server.is_empty() {
            String::new()
        } else {
            format!("{}::", call.server)
        };
        let outcome = match result {
            _ if outcomes.is_blank(number) => " -> <redacted>",
            Some(result) if result.is_error => " -> error",
            Some(_) => "",
            None => " -> no result",
        };
        lines.push(format!(
            "  {}. {}{}{outcome}",
            number + 1,
            escape_stored_line(&server),
            escape_stored_line(&call.name)
        ));
        match &*call.args {
            Value::Object(args) => {
                let mut args: Vec<_> = args.iter().collect();
                args.sort_unstable_by_key(|(name, _)| *name);
                lines.extend(args.into_iter().map(|(name, value)| {
                    format!(
                        "       {}: {}",
                        escape_stored_line(name),
                        escape_stored_line(&canonical_json(value))
                    )
                }));
            }
            Value::Null => {}
            other => lines.push(format!(
                "       {}",
                escape_stored_line(&canonical_json(other))
            )),
        }
    }
    if is_blank(envelope.get("tool_calls")) {
        lines.push(format!("  tool calls: {BLANK}"));
    } else if trace.tool_calls.is_empty() {
        lines.push("  no tool calls".to_owned());
    }
    let stop = trace.conversation.stop_reason.as_ref();
    let stop = if is_blank(envelope.get("conversation")) {
        BLANK
    } else {
        stop.map_or("not recorded", |stop| stop.as_str())
    };
    lines.push(format!("  stopped: {}", escape_stored_line(stop)));
    if gate.final_response {
        match envelope.get("final_response").and_then(Value::as_str) {
            Some(text) => {
                lines.push("  final response:".to_owned());
                lines.extend(
                    text.lines()
                        .map(|line| format!("    {}", escape_stored_line(line))),
                );
            }
            None => lines.push("  no final response".to_owned()),
        }
    }
    lines.join("\n") + "\n\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcptest_suite::Span;
    use mcptest_suite::model::Target;

    fn redacted(path: &str) -> String {
        let mut envelope = json!({
            "tool_calls": [{ "name": "a", "args": { "x": 1 } }, { "name": "b" }],
            "tool_results": [
                { "call_index": 0, "is_error": true, "result": "no" },
                { "call_index": 1, "is_error": false, "result": "ok" },
            ],
            "conversation": { "stop_reason": "completed" },
        });
        let target = Target::parse(path, Span::default()).unwrap();
        blank(&mut envelope, &target.segments);
        let gate = Snapshot {
            redact: Vec::new(),
            ..Snapshot::default()
        };
        run_outline(0, &envelope, &gate)
    }

    #[test]
    fn accepted_snapshots_stay_equal_whatever_messages_escape() {
        let envelope = json!({
            "tool_calls": [{ "name": "a\u{e000}", "args": { "c": "x\u{fffc}y\u{ad}" } }],
            "conversation": { "stop_reason": "completed" },
        });
        let gate = Snapshot {
            redact: Vec::new(),
            ..Snapshot::default()
        };
        let text = run_outline(0, &envelope, &gate);
        assert!(text.contains("1. a\u{e000}"), "{text}");
        assert!(text.contains("c: \"x\u{fffc}y\\u{ad}\""), "{text}");
    }

    #[test]
    fn what_is_blanked_is_neither_nothing_nor_success() {
        let shown = |path: &str, parts: &[&str]| {
            let text = redacted(path);
            for part in parts {
                assert!(text.contains(part), "{path}: no `{part}` in\n{text}");
            }
        };
        shown("tool_calls", &["  tool calls: <redacted>\n"]);
        shown(
            "tool_results",
            &["1. a -> <redacted>\n", "2. b -> <redacted>\n"],
        );
        shown("tool_results[0]", &["1. a -> <redacted>\n", "2. b\n"]);
        shown(
            "tool_results[1]",
            &["1. a -> error\n", "2. b -> <redacted>\n"],
        );
        shown(
            "tool_results[*].is_error",
            &["1. a -> <redacted>\n", "2. b -> <redacted>\n"],
        );
        shown(
            "tool_calls[*]",
            &["1. <redacted> -> error\n", "2. <redacted>\n"],
        );
        shown("tool_calls[0].args", &["       \"<redacted>\"\n"]);
        shown("conversation", &["  stopped: <redacted>\n"]);
        shown("conversation.stop_reason", &["  stopped: <redacted>\n"]);
    }
}
