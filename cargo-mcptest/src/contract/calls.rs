//! Recorded calls held against the schemas that a server has now.

use std::collections::BTreeMap;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use mcptest_trace::text::pluralize;
use serde_json::Value;

use super::finding::{BrokenCall, Finding, FindingKind};
use super::form::ToolForm;
use super::owner::{OwnRecordings, OwnRun};
use super::recorded::RecordedCall;
use super::server::{LiveServer, LiveTool};

/// What stands in a recording in the place of a secret.
const REDACTED: &str = "[redacted ";

/// The findings about recorded calls.
#[derive(Debug, Default)]
pub(super) struct CallFindings {
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
pub(super) fn check_calls(live: &LiveServer, own: &OwnRecordings) -> CallFindings {
    let mut held = CallFindings::default();
    for tool in &live.tools {
        let runs = own.runs.iter();
        let calls = runs.flat_map(|run| run.calls.iter().map(move |call| (run, call)));
        let calls: Vec<_> = calls.filter(|(_, call)| call.tool == tool.name).collect();
        if calls.is_empty() {
            continue;
        }
        match compile_schema(&tool.schema) {
            Ok(schema) => held.check_tool(tool, &schema, &calls),
            Err(error) => {
                let why = format!("{error}");
                held.unusable.insert(tool.name.clone(), why);
            }
        }
    }
    held
}

impl CallFindings {
    fn check_tool(
        &mut self,
        tool: &LiveTool,
        schema: &Validator,
        calls: &[(&OwnRun, &RecordedCall)],
    ) {
        let mut broken = Broken::new();
        for (run, call) in calls {
            self.calls += 1;
            let errors: Vec<_> = schema.iter_errors(&call.args).collect();
            if errors.is_empty() {
                self.taken += 1;
                continue;
            }
            let form = run.offered.as_ref().and_then(|it| it.get(&tool.name));
            let (before, errors): (Vec<_>, Vec<_>) = {
                let refused = RefusedBefore::new(call, form, tool);
                errors.iter().partition(|error| refused.has(error))
            };
            let (redacted, errors): (Vec<_>, Vec<_>) =
                errors.into_iter().partition(|it| is_redacted(it));
            if errors.is_empty() {
                let is_old = redacted.is_empty() && !before.is_empty();
                self.refused_before += usize::from(is_old);
                self.redacted += usize::from(!is_old);
                continue;
            }
            for error in errors {
                let (kind, argument, reason) = read(error);
                let calls = broken.entry((kind, argument)).or_default();
                let same = |it: &&mut BrokenCall| it.file == run.file && it.call == call.index;
                match calls.last_mut().filter(same) {
                    Some(told) => told.add_reason(reason),
                    None => calls.push(BrokenCall {
                        file: run.file.clone(),
                        call: call.index,
                        reason,
                    }),
                }
            }
        }
        for ((kind, argument), broken) in broken {
            let all = pluralize(calls.len(), "recorded call");
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

/// What the tool as it was recorded refused of a call.
enum RefusedBefore {
    /// All that can be refused: the schema is the same, or the arguments are no object.
    All,
    /// These arguments, by what kind of finding it is, and why where that counts.
    Arguments(Vec<(FindingKind, String, Option<String>)>),
    /// What the recorded schema refused of a call that the tool accepted nevertheless. Another reason to refuse it is
    /// new.
    Taken(Vec<(FindingKind, String, Option<String>)>),
}

impl RefusedBefore {
    fn new(call: &RecordedCall, form: Option<&ToolForm>, tool: &LiveTool) -> Self {
        let args = &call.args;
        let is_same = form.and_then(|form| form.is_same(tool)) == Some(true);
        let known = form.filter(|form| args.is_object() || call.worked && form.schema.is_some());
        let Some(form) = known.filter(|_| !is_same) else {
            return if is_same || !args.is_object() {
                Self::All
            } else {
                Self::Arguments(Vec::new())
            };
        };
        let of = if call.worked {
            Self::Taken
        } else {
            Self::Arguments
        };
        if let Some(schema) = &form.schema {
            let Ok(schema) = compile_schema(schema) else {
                return Self::Arguments(Vec::new());
            };
            return of(schema.iter_errors(args).map(|error| read(&error)).collect());
        }
        let arguments = form.arguments().unwrap_or_default();
        let required = arguments.into_iter().filter(|it| it.is_required);
        let required = required.map(|argument| (FindingKind::Required, argument.name, None));
        of(required.collect())
    }

    fn has(&self, error: &ValidationError<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Arguments(refused) => {
                let (kind, argument, _) = read(error);
                let mut refused = refused.iter();
                refused.any(|before| (before.0, &before.1) == (kind, &argument))
            }
            Self::Taken(refused) => refused.contains(&read(error)),
        }
    }
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
fn compile_schema(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
}
