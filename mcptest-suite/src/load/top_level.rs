//! `servers:`, `faults:`, `providers:` and `budget:`.

use super::fields::{Fields, Problems};
use crate::model::{Fault, FaultKind, Provider, Server, Transport};
use crate::{Diagnostic, Entry, Node, NodeValue, Spanned};

/// The entries of a mapping of names, or nothing with a problem noted.
fn named<'n>(node: &'n Node, of: &str, problems: &mut Problems) -> &'n [Entry] {
    if node.entries().is_none() {
        problems.expected(&format!("a mapping of names to {of}"), node);
    }
    node.entries().unwrap_or_default()
}

fn name_of(entry: &Entry) -> Spanned<String> {
    Spanned::new(entry.key.clone(), entry.key_span)
}

pub(super) fn servers(node: &Node, problems: &mut Problems) -> Vec<Server> {
    let entries = named(node, "servers", problems);
    entries
        .iter()
        .filter_map(|entry| server(entry, problems))
        .collect()
}

fn server(entry: &Entry, problems: &mut Problems) -> Option<Server> {
    let mut fields = Fields::open(&entry.value, "a server", problems)?;
    let command = fields.get("command").map(|node| match &node.value {
        NodeValue::Text(text) => text.split_whitespace().map(ToOwned::to_owned).collect(),
        _ => problems
            .texts(node, "words")
            .into_iter()
            .map(|word| word.value)
            .collect::<Vec<_>>(),
    });
    let env = fields.get("env").map(|node| {
        let entries = named(node, "values", problems);
        let values = entries
            .iter()
            .filter_map(|entry| Some((entry.key.clone(), problems.text(&entry.value)?)));
        values.collect()
    });
    let cwd = fields.get("cwd").and_then(|node| problems.text(node));
    let url = fields.get("url").and_then(|node| problems.words(node));
    let bearer_token_env = fields.get("auth").and_then(|node| {
        let mut fields = Fields::open(node, "`auth`", problems)?;
        let name = fields
            .required("bearer_token_env", problems)
            .and_then(|node| problems.words(node));
        fields.finish(problems);
        Some(name?.value)
    });
    let span = fields.span;
    fields.finish(problems);
    let transport = match (command, url) {
        (Some(command), None) => Transport::Stdio {
            command,
            env: env.unwrap_or_default(),
            cwd,
        },
        (None, Some(url)) => Transport::Http {
            url: url.value,
            bearer_token_env,
        },
        _ => {
            problems.push(
                Diagnostic::at(span, format!("the server `{}` needs either `command` or `url`", entry.key))
                    .help("`command: [program, argument]` starts a process; `url: http://…` reaches a running one"),
            );
            return None;
        }
    };
    Some(Server {
        name: name_of(entry),
        transport,
    })
}

pub(super) fn providers(node: &Node, problems: &mut Problems) -> Vec<Provider> {
    let entries = named(node, "providers", problems);
    let read = entries.iter().filter_map(|entry| {
        let mut fields = Fields::open(&entry.value, "a provider", problems)?;
        let base_url = fields
            .required("base_url", problems)
            .and_then(|node| problems.words(node));
        let api_key_env = fields
            .get("api_key_env")
            .and_then(|node| problems.words(node));
        fields.finish(problems);
        Some(Provider {
            name: name_of(entry),
            base_url: base_url?.value,
            api_key_env: api_key_env.map(|name| name.value),
        })
    });
    read.collect()
}

pub(super) fn budget(node: &Node, problems: &mut Problems) -> Option<Spanned<u64>> {
    let mut fields = Fields::open(node, "`budget`", problems)?;
    let cents = fields.required("per_suite_usd_cents", problems);
    let cents = cents.and_then(|node| problems.count(node, 1));
    fields.finish(problems);
    cents
}

pub(super) fn faults(node: &Node, problems: &mut Problems) -> Vec<Fault> {
    let items = problems.items(node, "faults").unwrap_or_default();
    let mut faults: Vec<Fault> = Vec::new();
    for item in items {
        let Some(fault) = fault(item, problems) else {
            continue;
        };
        if let Some(first) = faults
            .iter()
            .find(|first| first.name.value == fault.name.value)
        {
            problems.push(
                Diagnostic::new(format!("two faults are named `{}`", fault.name.value))
                    .label(fault.name.span, "again here")
                    .also(first.name.span, "first here")
                    .help("give each fault a name of its own"),
            );
        }
        faults.push(fault);
    }
    faults
}

fn fault(node: &Node, problems: &mut Problems) -> Option<Fault> {
    let mut fields = Fields::open(node, "a fault", problems)?;
    let name = fields
        .required("name", problems)
        .and_then(|node| problems.words(node));
    let target = fields.required("target", problems).and_then(|node| {
        let mut fields = Fields::open(node, "a fault's `target`", problems)?;
        let span = fields.span;
        let [tool, server] = ["tool", "server"].map(|key| {
            fields
                .get(key)
                .and_then(|node| problems.words(node))
                .map(|name| name.value)
        });
        fields.finish(problems);
        if tool.is_none() && server.is_none() {
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
                            .also(kind.span, format!("this fault is of kind `{}`", kind.value)),
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
    Some(Fault {
        name: name?,
        tool,
        server,
        kind,
    })
}
