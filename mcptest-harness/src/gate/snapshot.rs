//! The `snapshot` gate: the outline of every run against what was accepted.

use mcptest_suite::gates::Snapshot;
use mcptest_suite::model::Segment;
use mcptest_suite::{Diagnostic, clean_line};
use serde_json::{Value, json};

use super::{Gate, Input};
use crate::render::{Evidence, Failure, Finding};
use crate::trace::{Trace, canonical_json};

/// What a redacted place shows.
const BLANK: &str = "[redacted]";

impl Gate for Snapshot {
    fn judge(&self, input: &Input<'_>) -> Result<(), Failure> {
        let mut findings = Vec::new();
        let mut used = vec![false; self.redact.len()];
        let mut text = String::new();
        for (index, run) in input.runs.iter().enumerate() {
            let mut envelope = run.envelope.clone();
            for (target, used) in self.redact.iter().zip(&mut used) {
                let before = outline(index, &envelope, self);
                blank(&mut envelope, &target.segments);
                *used |= outline(index, &envelope, self) != before;
            }
            text.push_str(&outline(index, &envelope, self));
        }
        for (target, _) in self.redact.iter().zip(used).filter(|(_, used)| !used) {
            let problem = Diagnostic::at(
                target.span,
                format!("`{}` blanks nothing of any run's outline", target.text),
            )
            .help("mend the path, or remove it: the outline has calls, arguments, errors and the stop reason");
            findings.push(Finding::new(problem));
        }
        if let Err(details) = input.snapshots.outline(&text) {
            let mut details = details.into_iter();
            let what = details.next().unwrap_or_default();
            let mut problem = Diagnostic::at(
                input.block.span,
                format!("`snapshot` does not hold: {what}"),
            );
            problem.helps.extend(details.next());
            let finding = Finding::new(problem);
            findings
                .push(details.fold(finding, |finding, text| finding.show(Evidence::Text(text))));
        }
        if findings.is_empty() {
            Ok(())
        } else {
            Err(Failure {
                findings,
                evidence: Vec::new(),
            })
        }
    }
}

/// Blanks every place that a path leads to.
fn blank(value: &mut Value, path: &[Segment]) {
    let Some((step, rest)) = path.split_first() else {
        // A call stays an object, so that the outline shows that one was made.
        *value = match value {
            Value::Object(call) if call.contains_key("name") => json!({ "name": BLANK }),
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

/// One run, a line a call and a line an argument, so that a change shows as the lines it changes.
fn outline(index: usize, envelope: &Value, gate: &Snapshot) -> String {
    let trace = &Trace::from_envelope(envelope);
    let mut lines = vec![format!("run {}", index + 1)];
    let results = trace.results_by_call();
    for (number, (call, result)) in trace.tool_calls.iter().zip(results).enumerate() {
        let server = if call.server.is_empty() {
            String::new()
        } else {
            format!("{}::", call.server)
        };
        let outcome = match result {
            Some(result) if result.is_error => " -> error",
            Some(_) => "",
            None => " -> no result",
        };
        lines.push(format!(
            "  {}. {}{}{outcome}",
            number + 1,
            clean_line(&server),
            clean_line(&call.name)
        ));
        match &call.args {
            Value::Object(args) => {
                let mut args: Vec<_> = args.iter().collect();
                args.sort_unstable_by_key(|(name, _)| *name);
                lines.extend(args.into_iter().map(|(name, value)| {
                    format!(
                        "       {}: {}",
                        clean_line(name),
                        clean_line(&canonical_json(value))
                    )
                }));
            }
            Value::Null => {}
            other => lines.push(format!("       {}", clean_line(&canonical_json(other)))),
        }
    }
    if trace.tool_calls.is_empty() {
        lines.push("  no tool calls".to_owned());
    }
    let stop = trace.conversation.stop_reason.as_ref();
    lines.push(format!(
        "  stopped: {}",
        clean_line(stop.map_or("not recorded", |stop| stop.as_str()))
    ));
    if gate.final_response {
        match envelope.get("final_response").and_then(Value::as_str) {
            Some(text) => {
                lines.push("  final response:".to_owned());
                lines.extend(text.lines().map(|line| format!("    {}", clean_line(line))));
            }
            None => lines.push("  no final response".to_owned()),
        }
    }
    lines.join("\n") + "\n\n"
}
