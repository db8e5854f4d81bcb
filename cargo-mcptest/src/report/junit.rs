//! A report as `JUnit` XML: a suite a suite, a case a case, and a property for each value of a target.

use std::collections::BTreeMap;

use mcptest::result::{CaseResult, CaseStatus, TargetResult};
use mcptest_suite::escape;
use serde_json::Value;

use crate::judging::PackageVerdicts;

pub(super) fn report(verdicts: &PackageVerdicts) -> String {
    let mut suites: BTreeMap<&str, Vec<&CaseResult>> = BTreeMap::new();
    for case in &verdicts.cases {
        let suite = case.case.split("::").next().unwrap_or_default();
        let suite = if case.suite.name.is_empty() {
            suite
        } else {
            &case.suite.name
        };
        suites.entry(suite).or_default().push(case);
    }
    let lost = missing_verdicts(verdicts);
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all: Vec<&CaseResult> = verdicts.cases.iter().collect();
    xml.push_str(&format!(
        "<testsuites name=\"{}\"{}>\n",
        escape_attribute(&verdicts.opened.package.name),
        count_attributes(&all, lost.len())
    ));
    for (name, cases) in suites {
        xml.push_str(&format!(
            "  <testsuite name=\"{}\"{}>\n",
            escape_attribute(name),
            count_attributes(&cases, 0)
        ));
        xml.extend(cases.iter().map(|case| testcase(name, case)));
        xml.push_str("  </testsuite>\n");
    }
    if !lost.is_empty() {
        xml.push_str(&format!(
            "  <testsuite name=\"results\"{}>\n{}  </testsuite>\n",
            count_attributes(&[], lost.len()),
            lost.concat()
        ));
    }
    xml + "</testsuites>\n"
}

/// What should have a verdict and has none: an error each.
fn missing_verdicts(verdicts: &PackageVerdicts) -> Vec<String> {
    let missing = verdicts.missing.iter();
    let missing = missing.map(|case| (case.as_str(), "it has no result"));
    let unreadable = verdicts.unreadable.iter();
    let unreadable = unreadable.map(|(file, why)| (file.as_str(), why.as_str()));
    let error = |(name, why): (&str, &str)| {
        format!(
            "    <testcase name=\"{}\" classname=\"results\" time=\"0.000\">\n      <error message=\"{}\"/>\n    </testcase>\n",
            escape_attribute(name),
            escape_attribute(why)
        )
    };
    missing.chain(unreadable).map(error).collect()
}

fn count_attributes(cases: &[&CaseResult], errors: usize) -> String {
    let count = |status| cases.iter().filter(|case| case.status == status).count();
    // Not a `sum`, which is -0 of nothing.
    let durations = cases.iter().filter_map(|case| case.duration_ms);
    let milliseconds = durations.fold(0.0, |all, each| all + each);
    format!(
        " tests=\"{}\" failures=\"{}\" errors=\"{errors}\" skipped=\"{}\" time=\"{}\"",
        cases.len() + errors,
        count(CaseStatus::Failed),
        count(CaseStatus::Ignored),
        format_seconds(milliseconds)
    )
}

fn format_seconds(milliseconds: f64) -> String {
    format!("{:.3}", milliseconds / 1_000.0)
}

fn testcase(suite: &str, case: &CaseResult) -> String {
    let below = case
        .case
        .strip_prefix(suite)
        .and_then(|name| name.strip_prefix("::"));
    let mut xml = format!(
        "    <testcase name=\"{}\" classname=\"{}\" time=\"{}\">\n",
        escape_attribute(below.unwrap_or(&case.case)),
        escape_attribute(suite),
        format_seconds(case.duration_ms.unwrap_or_default())
    );
    let properties: String = case.targets.iter().flat_map(properties).collect();
    if !properties.is_empty() {
        xml.push_str(&format!(
            "      <properties>\n{properties}      </properties>\n"
        ));
    }
    match (case.status, &case.failure) {
        (CaseStatus::Failed, failure) => {
            let (summary, text) = failure
                .as_ref()
                .map_or(("", ""), |failure| (&failure.summary, &failure.text));
            xml.push_str(&format!(
                "      <failure message=\"{}\">{}</failure>\n",
                escape_attribute(summary),
                escape_text(text)
            ));
        }
        (CaseStatus::Ignored, _) => {
            let reason = case.reason.as_deref().unwrap_or_default();
            xml.push_str(&format!(
                "      <skipped message=\"{}\"/>\n",
                escape_attribute(reason)
            ));
        }
        (CaseStatus::Passed, _) => {}
    }
    xml + "    </testcase>\n"
}

/// A property for each value: `name` of all runs together, `name[run 1]` of a run.
fn properties(target: &TargetResult) -> Vec<String> {
    let of_runs = (1..)
        .zip(&target.per_run)
        .map(|(run, value)| (format!("{}[run {run}]", target.name), value));
    let together = target
        .value
        .iter()
        .map(|value| (target.name.clone(), value));
    let values = together
        .chain(of_runs)
        .filter(|(_, value)| !value.is_null());
    values
        .map(|(name, value)| {
            let value = match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            format!(
                "        <property name=\"{}\" value=\"{}\"/>\n",
                escape_attribute(&name),
                escape_attribute(&value)
            )
        })
        .collect()
}

/// A text between tags; what XML cannot hold stands as an escape.
fn escape_text(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for character in escape(text).chars() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => xml.extend(character.escape_unicode()),
            character => xml.push(character),
        }
    }
    xml
}

/// A text between quotes, where a reader would make line ends spaces.
fn escape_attribute(text: &str) -> String {
    escape_text(text)
        .replace('"', "&quot;")
        .replace('\n', "&#10;")
        .replace('\t', "&#9;")
}
