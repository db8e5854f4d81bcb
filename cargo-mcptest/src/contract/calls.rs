//! Recorded calls held against the schemas that a server has now.

use std::collections::BTreeMap;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use mcptest_trace::text::counted;
use serde_json::Value;

use super::finding::{BrokenCall, Finding, FindingKind};
use super::form::ToolForm;
use super::owner::{OwnRecordings, OwnRun};
use super::recorded::RecordedCall;
use super::server::{LiveServer, LiveTool};

/// What stands in a recording in the place of a secret.
const REDACTED: &str = "[redacted ";

/// What came of the calls.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) findings: Vec<Finding>,
    /// How many calls were held against a schema, and how many of them it takes.
    pub(super) calls: usize,
    pub(super) taken: usize,
    /// How many the schema of the recording refuses as well.
    pub(super) refused_before: usize,
    /// How many hold in the place of a secret what the schema refuses.
    pub(super) redacted: usize,
    /// Tools that were called and whose schema cannot be used, each with why.
    pub(super) unusable: BTreeMap<String, String>,
}

/// A broken part of a tool: an argument that is required, or what is refused at a place.
type Broken = BTreeMap<(FindingKind, String), Vec<BrokenCall>>;

/// Holds every call of a tool that the server has against its schema.
pub(super) fn hold(live: &LiveServer, own: &OwnRecordings) -> Held {
    let mut held = Held::default();
    for tool in &live.tools {
        let runs = own.runs.iter();
        let calls = runs.flat_map(|run| run.calls.iter().map(move |call| (run, call)));
        let calls: Vec<_> = calls.filter(|(_, call)| call.tool == tool.name).collect();
        if calls.is_empty() {
            continue;
        }
        match compiled(&tool.schema) {
            Ok(schema) => held.tool(tool, &schema, &calls),
            Err(error) => {
                let why = format!("{error}");
                held.unusable.insert(tool.name.clone(), why);
            }
        }
    }
    held
}

impl Held {
    fn tool(&mut self, tool: &LiveTool, schema: &Validator, calls: &[(&OwnRun, &RecordedCall)]) {
        let mut broken = Broken::new();
        for (run, call) in calls {
            self.calls += 1;
            let errors: Vec<_> = schema.iter_errors(&call.args).collect();
            if errors.is_empty() {
                self.taken += 1;
                continue;
            }
            let form = run.offered.as_ref().and_then(|it| it.get(&tool.name));
            if was_refused(&call.args, form, tool) {
                self.refused_before += 1;
                continue;
            }
            let (redacted, errors): (Vec<_>, Vec<_>) =
                errors.iter().partition(|it| is_redacted(it));
            if errors.is_empty() {
                self.redacted += usize::from(!redacted.is_empty());
                continue;
            }
            for error in errors {
                let (kind, argument, reason) = read(error);
                let calls = broken.entry((kind, argument)).or_default();
                let same = |it: &&mut BrokenCall| it.file == run.file && it.call == call.index;
                match calls.last_mut().filter(same) {
                    Some(told) => told.also(reason),
                    None => calls.push(BrokenCall {
                        file: run.file.clone(),
                        call: call.index,
                        reason,
                    }),
                }
            }
        }
        for ((kind, argument), broken) in broken {
            let all = counted(calls.len(), "recorded call");
            let count = broken.len();
            let text = match kind {
                FindingKind::Required if count == calls.len() => {
                    format!("the argument `{argument}` is required, and no recorded call gives it")
                }
                FindingKind::Required => {
                    format!(
                        "the argument `{argument}` is required, and {count} of {all} do not give it"
                    )
                }
                _ if argument.is_empty() => {
                    format!("the schema refuses the arguments of {count} of {all}")
                }
                _ => format!("the schema refuses the argument `{argument}` of {count} of {all}"),
            };
            self.findings.push(Finding {
                argument: Some(argument).filter(|it| !it.is_empty()),
                calls: broken,
                ..Finding::new(kind, &tool.name, text)
            });
        }
    }
}

/// Whether a call was refused when it was recorded, as far as the recording tells.
fn was_refused(args: &Value, form: Option<&ToolForm>, tool: &LiveTool) -> bool {
    let Some(given) = args.as_object() else {
        // No tool takes anything but an object.
        return true;
    };
    let Some(form) = form else {
        return false;
    };
    if form.is_same(tool) == Some(true) {
        return true;
    }
    if let Some(schema) = &form.schema {
        return compiled(schema).is_ok_and(|schema| !schema.is_valid(args));
    }
    let arguments = form.arguments().unwrap_or_default();
    let mut required = arguments.iter().filter(|argument| argument.is_required);
    required.any(|argument| !given.contains_key(&argument.name))
}

/// What is refused: a missing argument, or the argument and why.
fn read(error: &ValidationError<'_>) -> (FindingKind, String, Option<String>) {
    let place = error.instance_path().to_string();
    match error.kind() {
        ValidationErrorKind::Required { property } if place.is_empty() => {
            let name = property
                .as_str()
                .map_or_else(|| property.to_string(), str::to_owned);
            (FindingKind::Required, name, None)
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected }
            if place.is_empty() =>
        {
            let reason = "the schema takes no argument of this name".to_owned();
            (FindingKind::Refused, unexpected.join("`, `"), Some(reason))
        }
        _ => {
            let argument = place.strip_prefix('/').unwrap_or(&place);
            (
                FindingKind::Refused,
                argument.to_owned(),
                Some(error.to_string()),
            )
        }
    }
}

/// Whether what is refused holds the mark of something that was taken out of the recording.
fn is_redacted(error: &ValidationError<'_>) -> bool {
    let is_missing = matches!(error.kind(), ValidationErrorKind::Required { .. });
    !is_missing && error.instance().to_string().contains(REDACTED)
}

/// A schema that asks nothing of the network, and whose patterns take linear time.
fn compiled(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
}
