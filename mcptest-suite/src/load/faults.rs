//! Reading `faults:`.

use super::fields::Fields;
use super::problems::Problems;
use crate::model::{Fault, FaultKind};
use crate::{Diagnostic, Node, Spanned};

/// The faults of a suite.
#[derive(Default)]
pub(super) struct Faults {
    pub(super) read: Vec<Spanned<Fault>>,
    /// The names of all that are declared, also of those with a problem.
    pub(super) names: Vec<String>,
}

impl Faults {
    /// The faults at some places.
    pub(super) fn select(&self, places: &[Spanned<usize>]) -> Vec<Fault> {
        let faults = places.iter().filter_map(|place| self.read.get(place.value));
        faults.map(|fault| fault.value.clone()).collect()
    }
}

pub(super) fn read(node: &Node, problems: &mut Problems) -> Faults {
    let mut faults = Faults::default();
    for item in problems.any_items(node, "faults") {
        let name = item.get("name").and_then(Node::text);
        faults.names.extend(name.map(ToOwned::to_owned));
        let Some(fault) = fault(item, problems) else {
            continue;
        };
        let mut earlier = faults.read.iter();
        if let Some(first) = earlier.find(|first| first.value.name == fault.value.name) {
            problems.push(
                Diagnostic::new(format!("two faults are named `{}`", fault.value.name))
                    .label(fault.span, "again here")
                    .secondary_label(first.span, "first here")
                    .help("give each fault a name of its own"),
            );
        }
        faults.read.push(fault);
    }
    faults
}

fn fault(node: &Node, problems: &mut Problems) -> Option<Spanned<Fault>> {
    let mut fields = Fields::open(node, "a fault", problems)?;
    let name = fields
        .required("name", problems)
        .and_then(|node| problems.non_blank_text(node));
    let target = fields.required("target", problems).and_then(|node| {
        if let Some(tool) = node.text() {
            problems.push(
                Diagnostic::at(
                    node.span,
                    "a fault's `target` says whether it is a tool or a server",
                )
                .help(format!(
                    "write `{{ tool: {tool} }}` or `{{ server: {tool} }}`"
                )),
            );
            return None;
        }
        let mut fields = Fields::open(node, "a fault's `target`", problems)?;
        let span = fields.span;
        let [tool, server] = ["tool", "server"].map(|key| {
            fields
                .get(key)
                .and_then(|node| problems.non_blank_text(node))
                .map(|name| name.value)
        });
        let misspelt = fields.misspells(&["tool", "server"]);
        fields.finish(problems);
        if tool.is_none() && server.is_none() && !misspelt {
            problems.push(
                Diagnostic::at(span, "a fault's target needs `tool`, `server` or both")
                    .help("`target: { tool: search }` hits that tool on any server"),
            );
        }
        Some((tool, server))
    });
    let kind = fields.required("kind", problems).and_then(|node| {
        let kinds = [
            ("hang", "hang"),
            ("wedged", "wedged"),
            ("slow", "slow"),
            ("recover_after", "recover_after"),
        ];
        Some(Spanned::new(
            problems.choice(node, "fault kind", &kinds)?,
            node.span,
        ))
    });
    let options =
        [("delay_ms", "slow", 0), ("failures", "recover_after", 1)].map(|(key, of, least)| {
            let entry = fields.entry(key);
            if let Some(kind) = &kind {
                match entry {
                    None if kind.value == of => problems.push(
                        Diagnostic::at(kind.span, format!("a fault of kind `{of}` needs `{key}`"))
                            .help(format!(
                                "add `{key}: {}`",
                                if key == "delay_ms" { 5000 } else { 1 }
                            )),
                    ),
                    Some(entry) if kind.value != of => problems.push(
                        Diagnostic::new(format!("`{key}` belongs to the kind `{of}`"))
                            .label(entry.key_span, "has no effect here")
                            .secondary_label(
                                kind.span,
                                format!("this fault is of kind `{}`", kind.value),
                            )
                            .help(format!("remove it, or write `kind: {of}`")),
                    ),
                    _ => {}
                }
            }
            entry
                .and_then(|entry| problems.count(&entry.value, least))
                .map(|count| count.value)
        });
    fields.finish(problems);
    let (tool, server) = target?;
    let kind = match (kind?.value, options) {
        ("hang", _) => FaultKind::Hang,
        ("wedged", _) => FaultKind::Wedged,
        ("slow", [Some(delay_ms), _]) => FaultKind::Slow { delay_ms },
        ("recover_after", [_, Some(failures)]) => FaultKind::RecoverAfter { failures },
        _ => return None,
    };
    let name = name?;
    let mut fault = Fault::new(name.value, kind);
    fault.tool = tool;
    fault.server = server;
    Some(Spanned::new(fault, name.span))
}
