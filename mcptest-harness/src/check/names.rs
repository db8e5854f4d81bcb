//! What to know where a verdict on a list of names rests on a part of a name.

use mcptest_suite::matcher::Matcher;
use serde_json::Value;

use super::Check;
use super::compile::Compiled;

impl Check {
    /// What to know where the verdict on a list of names rests on a part of a name: `contains` looks
    /// for parts.
    pub(crate) fn partial_name_note(&self, value: &Value) -> Option<String> {
        let target = &self.target.text;
        let of_names = target.ends_with("tool_names") || target.ends_with("[*].name");
        of_names
            .then(|| find_partial_name(&self.matcher, value))
            .flatten()
    }
}

fn find_partial_name(matcher: &Matcher<Compiled>, value: &Value) -> Option<String> {
    let facts = matcher.asks().facts();
    let below = || {
        facts
            .below
            .iter()
            .find_map(|inner| find_partial_name(inner, value))
    };
    partial_name(&facts.parts(), value).or_else(below)
}

fn partial_name(wanted: &[&str], value: &Value) -> Option<String> {
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
            "the recording spells `{part}` differently: `{other}`"
        ));
    }
    let part = wanted.iter().find_map(|part| {
        let longer = names().find(|name| name.contains(part) && name != part)?;
        names().all(|name| name != *part).then_some((part, longer))
    });
    let (part, longer) = part?;
    let (part, longer) = (
        mcptest_suite::escape_line(part),
        mcptest_suite::escape_line(longer),
    );
    Some(format!(
        "`contains` looks for parts of names, and `{part}` is a part of `{longer}`; to compare whole names, write `contains: [{part}]`, or `tool_calls[0].name` with `exact: {part}`"
    ))
}
