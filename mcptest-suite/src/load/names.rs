//! Names within one suite: usable, unique, not the harness's own.

use std::collections::HashMap;

use super::fields::Problems;
use crate::model::{Agent, GateKind, Unsupported};
use crate::{Diagnostic, LOAD, Span, Spanned, UNSUPPORTED, is_reserved, quoted_list, segment};

/// The segment of a name, or a problem noted.
pub(super) fn segment_of(
    name: &Spanned<String>,
    what: &str,
    problems: &mut Problems,
) -> Option<String> {
    match segment(&name.value) {
        Some(segment) if is_reserved(&segment) => {
            let own = [UNSUPPORTED, LOAD]
                .into_iter()
                .chain(GateKind::ALL.iter().map(|kind| kind.name()));
            problems.push(
                Diagnostic::at(
                    name.span,
                    format!("`{segment}` cannot name {what}: the harness names its own cases so"),
                )
                .note(format!("taken: {}", quoted_list(own)))
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

/// Notes agents that share a case name or a cassette stem.
pub(super) fn check(agents: &[Agent], problems: &mut Problems) {
    let mut by_segment: HashMap<&str, &Agent> = HashMap::new();
    let mut by_stem: HashMap<String, &Agent> = HashMap::new();
    for agent in agents {
        if let Some(first) = by_segment.insert(&agent.segment, agent) {
            problems.push(
                Diagnostic::new(format!("two agents have the case name `{}`", agent.segment))
                    .label(agent.name.span, "again here")
                    .also(first.name.span, "first here")
                    .help("give them names that differ in letters or digits"),
            );
            continue;
        }
        check_models(agent, problems);
        if agent.cassette.is_some() {
            continue;
        }
        for model in &agent.models {
            let stem = agent.cassette_stem(&model.value);
            match by_stem.get(&stem) {
                Some(first) if first.name.span != agent.name.span => problems.push(
                    Diagnostic::new(format!("two agents have the cassette stem `{stem}`"))
                        .label(agent.name.span, "again here")
                        .also(first.name.span, "first here")
                        .note("a stem keeps ASCII letters, digits, `-` and `_`; every other character becomes `_`")
                        .help("rename one of the two, or give it a `cassette:` of its own"),
                ),
                _ => _ = by_stem.insert(stem, agent),
            }
        }
    }
}

/// The models of an agent need segments only where there are several.
fn check_models(agent: &Agent, problems: &mut Problems) {
    if agent.models.len() < 2 {
        return;
    }
    let mut seen: HashMap<String, Span> = HashMap::new();
    for model in &agent.models {
        let written = Spanned::new(model.value.id.clone(), model.span);
        let segment = match model.value.segment() {
            Some(segment) if !is_reserved(&segment) => segment,
            _ => {
                segment_of(&written, "a model", problems);
                continue;
            }
        };
        if let Some(first) = seen.insert(segment.clone(), model.span) {
            problems.push(
                Diagnostic::new(format!("two models have the case name `{segment}`"))
                    .label(model.span, "again here")
                    .also(first, "first here"),
            );
        }
    }
}
