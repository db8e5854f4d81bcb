//! A server's list held against recordings: what was added, removed and described otherwise.

use std::collections::{BTreeMap, BTreeSet};

use mcptest_trace::text::pluralize;
use mcptest_trace::trace::canonical_json;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::calls::{self, CallFindings};
use super::finding::{BrokenCall, Finding, FindingKind};
use super::form::{Argument, ToolForm, parse_schema_arguments};
use super::owner::{OwnRecordings, OwnRun};
use super::server::{LiveServer, LiveTool};

/// All that differs.
#[derive(Debug, Default)]
pub(super) struct Differences {
    pub(super) findings: Vec<Finding>,
    pub(super) held: CallFindings,
    pub(super) notes: Vec<String>,
}

/// A tool as several runs have it.
struct RecordedTool<'a> {
    form: &'a ToolForm,
    runs: usize,
}

/// Holds a server against what is recorded of it.
pub(super) fn compare(live: &LiveServer, own: &OwnRecordings) -> Differences {
    let mut found = Differences {
        held: calls::check_calls(live, own),
        ..Differences::default()
    };
    found.findings.append(&mut found.held.findings);
    let offered = offered_tools(&own.runs);
    let lists = own.runs.iter().filter(|run| lists_own_tools(run)).count();
    found.add_removed(live, own, &offered);
    for tool in &live.tools {
        match offered.get(tool.name.as_str()) {
            Some(forms) => {
                let runs = forms.iter().map(|recorded| recorded.runs).sum();
                for recorded in forms {
                    found.add_changes(tool, recorded, runs);
                }
            }
            None if lists > 0 => {
                let finding = Finding::new(FindingKind::Added, &tool.name, "this tool is new");
                found.findings.push(finding);
            }
            None => {}
        }
        found.add_undeclared_arguments(tool, own);
    }
    found.note_unlisted(own, lists, &offered);
    found.findings.sort_by(|one, other| {
        let key = |finding: &Finding| (!finding.breaks(), finding.tool.clone(), finding.kind);
        key(one).cmp(&key(other))
    });
    found
}

fn lists_own_tools(run: &OwnRun) -> bool {
    run.offered.as_ref().is_some_and(|tools| !tools.is_empty())
}

/// Each tool that was offered, in every form that runs have of it.
fn offered_tools(runs: &[OwnRun]) -> BTreeMap<&str, Vec<RecordedTool<'_>>> {
    let mut offered: BTreeMap<&str, Vec<RecordedTool<'_>>> = BTreeMap::new();
    for (name, form) in runs.iter().flat_map(|run| run.offered.iter().flatten()) {
        let forms = offered.entry(name).or_default();
        match forms.iter_mut().find(|recorded| recorded.form == form) {
            Some(recorded) => recorded.runs += 1,
            None => forms.push(RecordedTool { form, runs: 1 }),
        }
    }
    offered
}

impl Differences {
    /// Tools that the server has no more.
    fn add_removed(
        &mut self,
        live: &LiveServer,
        own: &OwnRecordings,
        offered: &BTreeMap<&str, Vec<RecordedTool<'_>>>,
    ) {
        let mut calls: BTreeMap<&str, Vec<BrokenCall>> = BTreeMap::new();
        for name in offered.keys().filter(|name| !live.has(name)) {
            calls.entry(name).or_default();
        }
        let mut never = 0;
        for run in &own.runs {
            for call in run.calls.iter().filter(|call| !live.has(&call.tool)) {
                let listed = run.offered.as_ref().filter(|_| lists_own_tools(run));
                // What worked was there, whether it was listed or not.
                if call.failed && listed.is_some_and(|listed| !listed.contains_key(&call.tool)) {
                    never += 1;
                    continue;
                }
                calls.entry(&call.tool).or_default().push(BrokenCall {
                    file: run.file.clone(),
                    call: call.index,
                    reason: None,
                });
            }
        }
        if never > 0 {
            let are = if never == 1 { "is" } else { "are" };
            self.notes.push(format!(
                "{} {are} of tools that the server did not list at recording time either: these calls failed then, and are not \
                 counted as broken",
                pluralize(never, "recorded call")
            ));
        }
        for (name, calls) in calls {
            let text = match calls.len() {
                0 => "the server does not have this tool any more; no recorded call uses it"
                    .to_owned(),
                1 => "the server does not have this tool any more; 1 recorded call uses it"
                    .to_owned(),
                count => {
                    format!(
                        "the server does not have this tool any more; {count} recorded calls use it"
                    )
                }
            };
            self.findings.push(Finding {
                calls,
                ..Finding::new(FindingKind::Removed, name, text)
            });
        }
    }

    /// What is said otherwise of a tool than a form of it says.
    fn add_changes(&mut self, tool: &LiveTool, recorded: &RecordedTool<'_>, runs: usize) {
        let RecordedTool { form, runs: own } = recorded;
        let which = if *own == runs {
            String::new()
        } else {
            format!(" (compared with {own} of {})", pluralize(runs, "run"))
        };
        let is_same = form.is_same(tool);
        let before = self.findings.len();
        if is_same != Some(true) {
            if let Some(old) = &form.description {
                self.add_description_change(tool, old, &which);
            }
            self.add_argument_changes(tool, form, &which);
            if is_same == Some(false) && self.findings.len() == before {
                let text = format!(
                    "the tool differs{which}: its description, or the schema of its arguments; the recording has \
                     only a digest of both, so the recorded texts are not known"
                );
                let finding = Finding::new(FindingKind::Description, &tool.name, text);
                self.findings.push(finding);
            }
        }
        let changed = form.annotation_changes(tool);
        if changed.is_empty() {
            return;
        }
        let lines = changed.into_iter().flat_map(|(key, old, new)| {
            let line = |sign, value: Option<Value>| Some(format!("{sign} {key}: {}", value?));
            [line('-', old), line('+', new)]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
        });
        self.findings.push(Finding {
            diff: lines.collect(),
            ..Finding::new(
                FindingKind::Annotations,
                &tool.name,
                format!("the annotations differ{which}"),
            )
        });
    }

    fn add_description_change(&mut self, tool: &LiveTool, old: &str, which: &str) {
        let (old, new) = (old.trim(), tool.description.trim());
        if old == new {
            return;
        }
        let text = format!("the description differs{which}");
        self.findings.push(Finding {
            diff: diff(old, new),
            ..Finding::new(FindingKind::Description, &tool.name, text)
        });
    }

    fn add_argument_changes(&mut self, tool: &LiveTool, form: &ToolForm, which: &str) {
        let Some(old) = form.arguments() else {
            return;
        };
        let new = parse_schema_arguments(&tool.schema);
        let names: BTreeSet<&String> = old.iter().chain(&new).map(|it| &it.name).collect();
        for name in names {
            let old = old.iter().find(|it| it.name == *name);
            let new = new.iter().find(|it| it.name == *name);
            let schema_of = |schema: &Value| schema["properties"].get(name).cloned();
            let schemas = form.schema.as_ref();
            let schemas = schemas.map(|old| (schema_of(old), schema_of(&tool.schema)));
            let finding = argument_change(tool, name, old, new, schemas, which);
            // What breaks recorded calls is told once.
            let is_told = |finding: &Finding| {
                finding.kind == FindingKind::Required && finding.argument.as_ref() == Some(name)
            };
            let told = self.findings.iter().filter(|it| it.tool == tool.name);
            if let Some(finding) = finding
                && !(finding.kind == FindingKind::Required && told.into_iter().any(is_told))
            {
                self.findings.push(finding);
            }
        }
        let rest = form.schema.as_ref().map(|old| {
            (
                schema_without_arguments(old),
                schema_without_arguments(&tool.schema),
            )
        });
        if let Some((old, new)) = rest.filter(|(old, new)| old != new) {
            let text = format!("the schema of its arguments differs{which}");
            self.findings.push(Finding {
                diff: diff(&canonical_json(&old), &canonical_json(&new)),
                ..Finding::new(FindingKind::Arguments, &tool.name, text)
            });
        }
    }

    /// Arguments that recorded calls give, and that the schema does not name: servers ignore such ones in silence.
    fn add_undeclared_arguments(&mut self, tool: &LiveTool, own: &OwnRecordings) {
        let is_open = ["patternProperties", "anyOf", "oneOf", "allOf", "$ref"];
        let is_open = is_open.iter().any(|key| tool.schema.get(key).is_some());
        let more = tool.schema.get("additionalProperties");
        if is_open || more.is_some_and(|more| *more != Value::Bool(false)) {
            return;
        }
        // A schema that takes no more refuses them, which is told of each call.
        if more.is_some() {
            return;
        }
        let known = parse_schema_arguments(&tool.schema);
        let mut given: BTreeMap<&String, usize> = BTreeMap::new();
        let calls = own.runs.iter().flat_map(|run| &run.calls);
        for call in calls.filter(|call| call.tool == tool.name) {
            for name in call.args.as_object().into_iter().flat_map(|it| it.keys()) {
                if known.iter().all(|argument| argument.name != *name) {
                    *given.entry(name).or_default() += 1;
                }
            }
        }
        for (name, calls) in given {
            let calls = pluralize(calls, "recorded call");
            let text = format!(
                "the schema does not name the argument `{name}`, which {calls} {}",
                if calls.starts_with("1 ") {
                    "gives"
                } else {
                    "give"
                }
            );
            self.findings.push(Finding {
                argument: Some(name.clone()),
                ..Finding::new(FindingKind::Arguments, &tool.name, text)
            });
        }
    }

    /// What the recordings cannot tell of the tools that were offered.
    fn note_unlisted(
        &mut self,
        own: &OwnRecordings,
        lists: usize,
        offered: &BTreeMap<&str, Vec<RecordedTool<'_>>>,
    ) {
        let all = own.runs.len();
        if lists == 0 {
            self.notes.push(
                "no recording lists the tools of this server: the command compares only recorded calls, and cannot see new tools or \
                 changed descriptions"
                    .to_owned(),
            );
        } else if lists < all {
            self.notes.push(format!(
                "{} of {} list the tools of this server; for the other runs, only calls are compared",
                lists,
                pluralize(all, "run")
            ));
        }
        let forms = || offered.values().flatten().map(|recorded| recorded.form);
        if forms().any(|form| !form.says_description()) {
            self.notes.push(
                "some recordings list tools without their descriptions: the command cannot see a changed description there"
                    .to_owned(),
            );
        }
        if forms().any(|form| !form.says_arguments()) {
            self.notes.push(
                "some recordings list tools without their arguments: the command sees changed arguments only in calls"
                    .to_owned(),
            );
        }
        if forms().any(|form| !form.says_annotations()) {
            self.notes.push(
                "some recordings list tools without their annotations: the command cannot see changed annotations there"
                    .to_owned(),
            );
        }
    }
}

/// What changed of an argument.
fn argument_change(
    tool: &LiveTool,
    name: &str,
    old: Option<&Argument>,
    new: Option<&Argument>,
    schemas: Option<(Option<Value>, Option<Value>)>,
    which: &str,
) -> Option<Finding> {
    let (kind, text) = match (old, new) {
        (None, Some(new)) if new.is_required => (
            FindingKind::Required,
            format!("the argument `{name}` is new and required{which}"),
        ),
        (None, Some(_)) => (
            FindingKind::Arguments,
            format!("the argument `{name}` is new and optional{which}"),
        ),
        (Some(_), None) => (
            FindingKind::Arguments,
            format!("the argument `{name}` is gone{which}"),
        ),
        (Some(old), Some(new)) if old.is_required != new.is_required => {
            if new.is_required {
                let text =
                    format!("the argument `{name}` is required now, and was optional{which}");
                (FindingKind::Required, text)
            } else {
                let text =
                    format!("the argument `{name}` is optional now, and was required{which}");
                (FindingKind::Arguments, text)
            }
        }
        _ => (
            FindingKind::Arguments,
            format!("the schema of the argument `{name}` differs{which}"),
        ),
    };
    let diff = match (old, new, schemas) {
        (Some(_), Some(_), Some((before, now))) if before != now => {
            let text =
                |value: Option<Value>| value.map_or_else(String::new, |it| canonical_json(&it));
            diff(&text(before), &text(now))
        }
        (Some(old), Some(new), None) if old.kind != new.kind => {
            let text = |argument: &Argument| {
                argument
                    .kind
                    .clone()
                    .unwrap_or_else(|| "no type".to_owned())
            };
            diff(&text(old), &text(new))
        }
        (Some(old), Some(new), _) if old.is_required == new.is_required => return None,
        _ => Vec::new(),
    };
    Some(Finding {
        argument: Some(name.to_owned()),
        diff,
        ..Finding::new(kind, &tool.name, text)
    })
}

/// What a schema says besides its arguments, without what clients leave out when they pass it on.
fn schema_without_arguments(schema: &Value) -> Value {
    let mut rest = schema.clone();
    if let Some(rest) = rest.as_object_mut() {
        for key in ["$schema", "properties", "required", "title"] {
            rest.remove(key);
        }
        // Arguments are always an object, whether the schema says so or not.
        if rest.get("type").is_some_and(|kind| kind == "object") {
            rest.remove("type");
        }
    }
    rest
}

/// The lines that only one of two texts has, behind `-` and `+`.
fn diff(old: &str, new: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(old, new);
    let lines = diff.iter_all_changes().filter_map(|change| {
        let sign = match change.tag() {
            ChangeTag::Equal => return None,
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let line = change.value();
        Some(format!("{sign} {}", line.trim_end()))
    });
    lines.collect()
}
