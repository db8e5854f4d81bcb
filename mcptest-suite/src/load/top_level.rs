//! Reading what only recording needs: `servers:`, `providers:` and `budget:`.

use super::fields::Fields;
use super::named::{entry_name, named_entries};
use super::prices::{self, Priced};
use super::problems::Problems;
use crate::model::{Inherit, Provider, Server, Transport};
use crate::{Diagnostic, Entry, Node, Spanned};

pub(super) fn servers(node: &Node, problems: &mut Problems) -> Vec<Server> {
    let entries = named_entries(node, "servers", problems);
    entries
        .iter()
        .filter_map(|entry| server(entry, problems))
        .collect()
}

fn server(entry: &Entry, problems: &mut Problems) -> Option<Server> {
    let mut fields = Fields::open(&entry.value, "a server", problems)?;
    let [command, url] = ["command", "url"].map(|key| fields.entry(key));
    let [env, inherit_env, cwd, auth, shared] =
        ["env", "inherit_env", "cwd", "auth", "shared"].map(|key| fields.entry(key));
    let neither = command.is_none() && url.is_none() && !fields.misspells(&["command", "url"]);
    fields.finish(problems);
    if let (Some(command), Some(url)) = (command, url) {
        problems.push(
            Diagnostic::new(format!(
                "the server `{}` has both `command` and `url`",
                entry.key
            ))
            .label(url.key_span, "reaches a running server")
            .secondary_label(command.key_span, "starts one")
            .help("keep one of the two"),
        );
    } else if neither {
        problems.push(
            Diagnostic::at(
                entry.key_span,
                format!("the server `{}` needs `command` or `url`", entry.key),
            )
            .help("`command: [program, argument]` starts a process; `url: http://…` reaches a running one"),
        );
    }
    let belongs = [
        (env, command, "command"),
        (inherit_env, command, "command"),
        (cwd, command, "command"),
        (auth, url, "url"),
        (shared, url, "url"),
    ];
    for (option, owner, needed) in belongs {
        if let (Some(option), None, true) = (option, owner, command.is_some() || url.is_some()) {
            problems.push(
                Diagnostic::at(
                    option.key_span,
                    format!("`{}` belongs to a server with `{needed}`", option.key),
                )
                .help("remove it: it has no effect here"),
            );
        }
    }
    let env = env.map(|entry| environment(&entry.value, problems));
    let inherit_env = inherit_env.map(|entry| inherit(&entry.value, problems));
    let cwd = cwd.and_then(|entry| problems.text(&entry.value));
    let shared = shared.and_then(|entry| problems.flag(&entry.value));
    let bearer_token_env = auth.and_then(|entry| bearer_token(&entry.value, problems));
    let transport = match (command, url) {
        (Some(command), None) => Transport::Stdio {
            command: words(&command.value, problems)?,
            env: env.unwrap_or_default(),
            inherit_env: inherit_env.unwrap_or(Inherit::Names(Vec::new())),
            cwd,
        },
        (None, Some(url)) => Transport::Http {
            url: problems.non_blank_text(&url.value)?.value,
            bearer_token_env,
        },
        _ => return None,
    };
    Some(Server {
        name: entry_name(entry),
        transport,
        shared: shared.unwrap_or_default(),
    })
}

/// A program and its arguments: a list, or text that is split at white space.
fn words(node: &Node, problems: &mut Problems) -> Option<Vec<String>> {
    if node.text().is_some() {
        let line = problems.non_blank_text(node)?.value;
        return Some(line.split_whitespace().map(ToOwned::to_owned).collect());
    }
    let items = problems.items(node, "words of a command")?;
    problems.non_blank_text(items.first()?)?;
    let words = items.iter().map(|item| problems.text(item));
    words.collect::<Vec<_>>().into_iter().collect()
}

fn environment(node: &Node, problems: &mut Problems) -> Vec<(String, String)> {
    let entries = named_entries(node, "values", problems);
    let values = entries
        .iter()
        .filter_map(|entry| Some((entry.key.clone(), problems.text(&entry.value)?)));
    values.collect()
}

fn inherit(node: &Node, problems: &mut Problems) -> Inherit {
    match node.text() {
        Some("all") => Inherit::All,
        Some(other) => {
            problems.push(
                Diagnostic::at(
                    node.span,
                    format!("`inherit_env` is a list of names, or `all`; found `{other}`"),
                )
                .help(format!("write `inherit_env: [{other}]` for that variable")),
            );
            Inherit::Names(Vec::new())
        }
        None => {
            let names = problems.texts(node, "names of environment variables");
            Inherit::Names(names.into_iter().map(|name| name.value).collect())
        }
    }
}

fn bearer_token(node: &Node, problems: &mut Problems) -> Option<String> {
    let mut fields = Fields::open(node, "`auth`", problems)?;
    let name = fields
        .required("bearer_token_env", problems)
        .and_then(|node| problems.non_blank_text(node));
    fields.finish(problems);
    Some(name?.value)
}

pub(super) fn providers(node: &Node, problems: &mut Problems) -> Vec<Provider> {
    let entries = named_entries(node, "providers", problems);
    let read = entries.iter().filter_map(|entry| {
        let mut fields = Fields::open(&entry.value, "a provider", problems)?;
        let base_url = fields
            .required("base_url", problems)
            .and_then(|node| problems.non_blank_text(node));
        let api_key_env = fields
            .get("api_key_env")
            .and_then(|node| problems.non_blank_text(node));
        fields.finish(problems);
        Some(Provider {
            name: entry_name(entry),
            base_url: base_url?.value,
            api_key_env: api_key_env.map(|name| name.value),
        })
    });
    read.collect()
}

/// What `budget:` says: the cap in US cents, and what models cost.
pub(super) fn budget(node: &Node, problems: &mut Problems) -> (Option<Spanned<u64>>, Vec<Priced>) {
    let Some(mut fields) = Fields::open(node, "`budget`", problems) else {
        return (None, Vec::new());
    };
    let cents = fields.required("per_suite_usd_cents", problems);
    let cents = cents.and_then(|node| problems.count(node, 1));
    let prices = fields.read("prices", problems, prices::read);
    fields.finish(problems);
    (cents, prices)
}
