//! Names within one suite: usable, unique, not the harness's own.

use std::collections::HashMap;

use super::problems::Problems;
use crate::model::{Model, Unsupported};
use crate::{Diagnostic, LOAD, Span, Spanned, UNSUPPORTED, is_reserved, segment};

/// The segment of a name, or a problem noted.
pub(super) fn name_segment(
    name: &Spanned<String>,
    what: &str,
    problems: &mut Problems,
) -> Option<String> {
    match segment(&name.value) {
        Some(segment) if is_reserved(&segment) => {
            problems.push(
                Diagnostic::at(
                    name.span,
                    format!("`{segment}` cannot name {what}: the harness uses this name for its own cases"),
                )
                .note(format!(
                    "taken: `{UNSUPPORTED}`, `{LOAD}` and the names of the gates"
                ))
                .help("choose another name, e.g. one more word"),
            );
            None
        }
        None => {
            problems.push(
                Diagnostic::at(
                    name.span,
                    format!("no case name can be made of {what} called `{}`", name.value),
                )
                .help("use at least one letter or digit"),
            );
            None
        }
        found => found,
    }
}

/// A key or matcher that is recognised and not run here.
pub(super) fn unsupported(key: &str, span: Span, reason: &str) -> Unsupported {
    Unsupported {
        key: key.to_owned(),
        // The recognised keys are words.
        segment: segment(key).unwrap_or_default(),
        reason: format!("`{key}` {reason}"),
        span,
    }
}

/// What names an agent's cases and cassettes.
pub(super) struct Identity {
    pub(super) name: Spanned<String>,
    pub(super) segment: Option<String>,
    pub(super) models: Vec<Spanned<Model>>,
    /// Whether the agent says itself where its runs lie.
    pub(super) has_place: bool,
}

/// Notes agents that share a case name or a cassette stem.
pub(super) fn check(agents: &[Identity], problems: &mut Problems) {
    let mut by_segment: HashMap<&str, Span> = HashMap::new();
    let mut by_stem: HashMap<String, (Span, Span)> = HashMap::new();
    for agent in agents {
        let Some(segment) = agent.segment.as_deref() else {
            continue;
        };
        if let Some(first) = by_segment.get(segment) {
            problems.push(
                Diagnostic::new(format!("two agents have the case name `{segment}`"))
                    .label(agent.name.span, "again here")
                    .secondary_label(*first, "first here")
                    .help("give them names that differ in letters or digits"),
            );
            continue;
        }
        by_segment.insert(segment, agent.name.span);
        let clashes = check_models(agent, problems);
        if agent.has_place || clashes {
            continue;
        }
        for model in &agent.models {
            let stem = model.value.cassette_stem(&agent.name.value);
            match by_stem.get(&stem) {
                Some((owner, first)) => problems.push(if *owner == agent.name.span {
                    same_stem("models of this agent", &stem, model.span, *first).help(
                        "rename one of the two, or make it an agent of its own with a `cassette:`",
                    )
                } else {
                    same_stem("agents", &stem, agent.name.span, *owner)
                        .help("rename one of the two, or give it a `cassette:` of its own")
                }),
                None => _ = by_stem.insert(stem, (agent.name.span, model.span)),
            }
        }
    }
}

fn same_stem(of: &str, stem: &str, again: Span, first: Span) -> Diagnostic {
    Diagnostic::new(format!("two {of} have the cassette stem `{stem}`"))
        .label(again, "again here")
        .secondary_label(first, "first here")
        .note("a stem keeps ASCII letters, digits, `-` and `_`; every other character becomes `_`")
}

/// The models of an agent need segments only where there are several. Whether two have the same.
fn check_models(agent: &Identity, problems: &mut Problems) -> bool {
    if agent.models.len() < 2 {
        return false;
    }
    let mut seen: HashMap<String, Span> = HashMap::new();
    let mut clashes = false;
    for model in &agent.models {
        let written = Spanned::new(model.value.id.clone(), model.span);
        let segment = match model.value.segment() {
            Some(segment) if !is_reserved(&segment) => segment,
            _ => {
                name_segment(&written, "a model", problems);
                continue;
            }
        };
        let Some(first) = seen.get(&segment) else {
            seen.insert(segment, model.span);
            continue;
        };
        clashes = true;
        problems.push(
            Diagnostic::new(format!("two models have the case name `{segment}`"))
                .label(model.span, "again here")
                .secondary_label(*first, "first here")
                .help("list each model once; names must differ in letters or digits"),
        );
    }
    clashes
}
