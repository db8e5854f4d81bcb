//! Matchers, and what they find different, in words.

use serde_json::Value;

use super::compile::CompiledMatcher;
use crate::text::short_json;

impl CompiledMatcher {
    /// What is wanted, to be read after "expected `x`".
    pub(crate) fn phrase(&self) -> String {
        let list = |values: &[Value]| values.iter().map(short_json).collect::<Vec<_>>().join(", ");
        let phrases = |matchers: &[Self]| {
            matchers
                .iter()
                .map(Self::phrase)
                .collect::<Vec<_>>()
                .join("; ")
        };
        match self {
            Self::Exact(value) => format!("to be exactly {}", short_json(value)),
            Self::Contains(value) => format!("to contain {}", short_json(value)),
            Self::Subset(value) => format!("to hold the subset {}", short_json(value)),
            Self::Regex(regex) => format!("to match the regex `{regex}`"),
            Self::Schema(schema) | Self::FlagSchema(schema) => format!(
                "to be valid against the schema {}",
                short_json(schema.value())
            ),
            Self::Snapshot(_) => "to be what its snapshot says".to_owned(),
            Self::ContainsAll(values) => format!("to contain all of {}", list(values)),
            Self::ContainsAny(values) => format!("to contain any of {}", list(values)),
            Self::Icontains(text) => format!("to contain {text:?} in any case"),
            Self::StartsWith(text) => format!("to start with {text:?}"),
            Self::IsJson(None) => "to be JSON text".to_owned(),
            Self::IsJson(Some(schema)) => {
                format!(
                    "to be JSON text valid against the schema {}",
                    short_json(schema.value())
                )
            }
            Self::IsValidToolsCall(None) => "to be a valid tool call".to_owned(),
            Self::IsValidToolsCall(Some(schema)) => {
                format!(
                    "to be a tool call with arguments valid against the schema {}",
                    short_json(schema.value())
                )
            }
            Self::Levenshtein { value, max } => format!("to be at most {max} edits from {value:?}"),
            Self::Min(least) => format!("to be at least {least}"),
            Self::Max(most) => format!("to be at most {most}"),
            Self::Between(least, most) => format!("to be from {least} to {most}"),
            Self::Not(inner) => format!("not {}", inner.phrase()),
            Self::AllOf(all) => format!("to hold all of: {}", phrases(all)),
            Self::AnyOf(any) => format!("to hold any of: {}", phrases(any)),
            Self::OneOf(one) => format!("to hold exactly one of: {}", phrases(one)),
            Self::NeedsModel(name) => format!("to hold what `{name}` asks a model"),
        }
    }

    /// What to know where the verdict on a list of names rests on a part of a name: `contains` looks
    /// for parts.
    pub(crate) fn part_of_a_name(&self, target: &str, value: &Value) -> Option<String> {
        if !(target.ends_with("tool_names") || target.ends_with("[*].name")) {
            return None;
        }
        let wanted: Vec<&str> = match self {
            Self::Contains(Value::String(text)) => vec![text],
            Self::ContainsAll(all) | Self::ContainsAny(all) => {
                all.iter().filter_map(Value::as_str).collect()
            }
            Self::Not(inner) => return inner.part_of_a_name(target, value),
            Self::AllOf(inner) | Self::AnyOf(inner) | Self::OneOf(inner) => {
                let mut found = inner
                    .iter()
                    .map(|inner| inner.part_of_a_name(target, value));
                return found.find_map(|found| found);
            }
            _ => return None,
        };
        let names = || {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
        };
        let respelt = |name: &str| name.to_lowercase().replace('-', "_");
        let other = wanted.iter().find_map(|part| {
            let other = names().find(|name| name != part && respelt(name) == respelt(part))?;
            names().all(|name| name != *part).then_some((part, other))
        });
        if let Some((part, other)) = other {
            let [part, other] = [part, other].map(mcptest_suite::escape_line);
            return Some(format!(
                "`{part}` is written otherwise in the recording: `{other}`"
            ));
        }
        let part = wanted.into_iter().find_map(|part| {
            let longer = names().find(|name| name.contains(part) && *name != part)?;
            names().all(|name| name != part).then_some((part, longer))
        });
        let (part, longer) = part?;
        let (part, longer) = (
            mcptest_suite::escape_line(part),
            mcptest_suite::escape_line(longer),
        );
        Some(format!(
            "`contains` looks for parts of names, and `{part}` is a part of `{longer}`; `contains: [{part}]` compares whole names, as `exact` does: `tool_calls[0].name` with `exact: {part}`"
        ))
    }
}
