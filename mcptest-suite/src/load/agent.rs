//! Reading `agents:`.

use super::faults::Faults;
use super::fields::{Fields, Problems, did_you_mean};
use super::names::Identity;
use super::{assertion, models, names, oracle, prompt, snapshots, values};
use crate::gates::{AgentFacts, Expects};
use crate::model::{Agent, Assertion, Caps, CheckOptions, GateBlock, GateKind, Unsupported};
use crate::{Diagnostic, Entry, Node, NodeValue, Span, Spanned, nearest};

/// Gates of the wider grammar that are recognised and not run here.
const OTHER_GATES: [&str; 7] = [
    "tool_selection",
    "equal_function_sets",
    "tool_edges",
    "distractors",
    "token_efficiency",
    "eval",
    "matrix_assert",
];

/// The most runs an agent may declare.
const MAX_RUNS: u64 = 100_000;

/// What agents share.
pub(super) struct Context<'a> {
    pub(super) faults: &'a Faults,
    pub(super) observable: bool,
}

pub(super) fn read_all(node: &Node, context: &Context<'_>, problems: &mut Problems) -> Vec<Agent> {
    let items = problems.items(node, "agent tests").unwrap_or_default();
    // Kept also of agents with other problems, so that a name used twice is reported all the same.
    let mut identities = Vec::new();
    let agents = items
        .iter()
        .filter_map(|item| read(item, context, &mut identities, problems))
        .collect();
    names::check(&identities, problems);
    agents
}

fn read(
    node: &Node,
    context: &Context<'_>,
    identities: &mut Vec<Identity>,
    problems: &mut Problems,
) -> Option<Agent> {
    let mut fields = Fields::open(node, "an agent", problems)?;
    let name = fields
        .required("name", problems)
        .and_then(|node| problems.words(node));
    let segment = name
        .as_ref()
        .and_then(|name| names::segment_of(name, "an agent", problems));
    let models = models::read(&mut fields, problems);
    let servers = fields.either(["servers", "server"], problems);
    let servers = servers.map(|entry| one_or_more(&entry.value, "server names", problems));
    let prompt = prompt::read(&mut fields, problems);
    let system_prompt = fields
        .get("system_prompt")
        .and_then(|node| Some(Spanned::new(problems.text(node)?, node.span)));
    let runs = runs(&mut fields, problems);
    let caps = caps(&mut fields, problems);
    let (skip, only) = skip_and_only(&mut fields, problems);
    let tags = fields
        .get("tags")
        .map(|node| problems.any_texts(node, "tags"))
        .unwrap_or_default();
    let inject = fields.get("inject");
    let injects = inject.is_some_and(|node| node.items() != Some(&[]));
    let inject = inject
        .map(|node| injected(node, context.faults, problems))
        .unwrap_or_default();
    let checks = fields
        .get("checks")
        .map(|node| checks(node, problems))
        .unwrap_or_default();
    let cassette = fields.get("cassette").and_then(|node| problems.words(node));
    if let (Some(cassette), Some([first, .., last])) = (&cassette, models.as_deref()) {
        problems.push(
            Diagnostic::new("`cassette:` names the runs of one model, and this agent has several")
                .label(cassette.span, "the runs of which model?")
                .also(Span::new(first.span.start, last.span.end), "several models")
                .help("leave it out and put each model's runs under its own stem in `cassettes/`"),
        );
    }
    let observable = fields
        .get("oracle")
        .map(|node| oracle::read(node, problems));
    let (expect, expects, mut unsupported) = expect(&mut fields, problems);
    snapshots::check_names(&expect, problems);
    if observable.unwrap_or(context.observable) {
        oracle::check(&expect, problems);
    }
    let facts = Facts {
        runs: runs.as_ref(),
        injects,
        expects,
    };
    let gates = gates(&mut fields, &facts, problems);
    for entry in fields.take_matching(&OTHER_GATES) {
        let reason = "is not implemented here";
        unsupported.push(names::unsupported(&entry.key, entry.key_span, reason));
    }
    if !asks_for_anything(node) {
        let span = name.as_ref().map_or(fields.span, |name| name.span);
        problems.push(
            Diagnostic::at(
                span,
                "this agent has neither `expect:` nor a gate, so nothing would be tested",
            )
            .help(
                "add e.g. `expect: [{ target: \"tool_calls[0].name\", matcher: { exact: search } }]`",
            ),
        );
    }
    fields.finish(problems);
    if let Some(name) = &name {
        identities.push(Identity {
            name: name.clone(),
            segment: segment.clone(),
            models: models.clone().unwrap_or_default(),
            has_place: cassette.is_some(),
        });
    }
    Some(Agent {
        segment: segment?,
        name: name?,
        models: models?,
        servers: servers.unwrap_or_default(),
        prompt: prompt?,
        system_prompt,
        runs: runs?,
        caps,
        skip,
        only,
        tags: tags.into_iter().map(|tag| tag.value).collect(),
        inject,
        expect,
        gates,
        checks,
        cassette,
        unsupported,
    })
}

/// Whether the agent has an `expect:` or a gate, be it misspelt (which is a problem of its own).
fn asks_for_anything(node: &Node) -> bool {
    let tests = || {
        let gates = GateKind::ALL.iter().map(|kind| kind.name());
        gates.chain(OTHER_GATES).chain(["expect", "checks"])
    };
    let entries = node.entries().unwrap_or_default();
    // Distances are measured only where no key is right, which is as good as never.
    entries
        .iter()
        .any(|entry| tests().any(|test| test == entry.key))
        || entries
            .iter()
            .any(|entry| nearest(&entry.key, tests()).is_some())
}

/// Options for checks written in Rust: a mapping of their names.
fn checks(node: &Node, problems: &mut Problems) -> Vec<CheckOptions> {
    let Some(entries) = node.entries() else {
        problems.expected("a mapping of check names to options", node);
        return Vec::new();
    };
    let mut checks = Vec::new();
    for entry in entries {
        let name = Spanned::new(entry.key.clone(), entry.key_span);
        match names::segment_of(&name, "a check", problems) {
            Some(segment) if segment == name.value => {
                let options = values::read(&entry.value, problems);
                checks.push(CheckOptions { name, options });
            }
            Some(segment) => problems.push(
                Diagnostic::at(
                    name.span,
                    format!("`{}` cannot name a check: it is no identifier", name.value),
                )
                .help(format!("use `{segment}`, as in the Rust code")),
            ),
            None => {}
        }
    }
    checks
}

/// Text, or a list of texts.
fn one_or_more(node: &Node, of: &str, problems: &mut Problems) -> Vec<Spanned<String>> {
    match node.items() {
        Some(_) => problems.any_texts(node, of),
        None => problems.words(node).into_iter().collect(),
    }
}

/// The declared runs, one when nothing is declared; `None` when they are declared wrongly.
fn runs(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Spanned<usize>> {
    let Some(node) = fields.get("runs") else {
        return Some(Spanned::new(1, Span::default()));
    };
    let runs = problems.count(node, 1)?;
    if runs.value > MAX_RUNS {
        let message = format!("`runs` is {}; at most {MAX_RUNS} are read", runs.value);
        problems.push(
            Diagnostic::at(node.span, message).help("say how many runs are recorded of this agent"),
        );
        return None;
    }
    Some(Spanned::new(usize::try_from(runs.value).ok()?, runs.span))
}

fn caps(fields: &mut Fields<'_>, problems: &mut Problems) -> Caps {
    let mut cap = |key| fields.get(key).and_then(|node| problems.count(node, 1));
    Caps {
        max_turns: cap("max_turns"),
        max_tokens: cap("max_tokens"),
        token_budget: cap("token_budget"),
        time_budget: cap("time_budget"),
        // No call at all is a cap one may want.
        max_tool_calls: fields
            .get("max_tool_calls")
            .and_then(|node| problems.count(node, 0)),
    }
}

fn skip_and_only(
    fields: &mut Fields<'_>,
    problems: &mut Problems,
) -> (Option<Spanned<String>>, Option<Span>) {
    let skip = fields.get("skip").and_then(|node| match node.value {
        NodeValue::Bool(false) => None,
        NodeValue::Bool(true) => {
            problems.push(
                Diagnostic::at(node.span, "`skip` needs a reason")
                    .help("write why, e.g. `skip: waiting for the new search tool`"),
            );
            None
        }
        _ => problems.words(node),
    });
    let only = fields
        .get("only")
        .and_then(|node| problems.flag(node)?.then_some(node.span));
    if let (Some(skip), Some(only)) = (&skip, only) {
        problems.push(
            Diagnostic::new("an agent cannot be both the only one and skipped")
                .label(only, "the only one")
                .also(skip.span, "skipped")
                .help("remove one of the two"),
        );
    }
    (skip, only)
}

fn injected(node: &Node, faults: &Faults, problems: &mut Problems) -> Vec<Spanned<usize>> {
    let names = one_or_more(node, "fault names", problems);
    let mut injected: Vec<Spanned<usize>> = Vec::new();
    for name in names {
        let known = || faults.names.iter().map(String::as_str);
        let mut read = faults.read.iter();
        if let Some(index) = read.position(|fault| fault.name.value == name.value) {
            let again = injected.iter().find(|earlier| earlier.value == index);
            match again {
                Some(first) => problems.push(
                    Diagnostic::new(format!("the fault `{}` is injected twice", name.value))
                        .label(name.span, "again here")
                        .also(first.span, "first here")
                        .note("the first fault that matches a call decides, so the second never would")
                        .help("name it once"),
                ),
                None => injected.push(Spanned::new(index, name.span)),
            }
            continue;
        }
        // A fault that is declared with a problem is reported there.
        if known().any(|fault| fault == name.value) {
            continue;
        }
        let problem = Diagnostic::at(name.span, format!("unknown fault `{}`", name.value));
        problems.push(if faults.names.is_empty() {
            problem.help("declare it under the suite's `faults:`")
        } else {
            did_you_mean(problem, &name.value, known(), "faults")
        });
    }
    injected
}

/// The assertions, what there is of them, and an entry for each matcher that needs a model.
fn expect(
    fields: &mut Fields<'_>,
    problems: &mut Problems,
) -> (Vec<Assertion>, Expects, Vec<Unsupported>) {
    let read = fields
        .get("expect")
        .map(|node| assertion::list(node, problems));
    let asserted = read.unwrap_or_default();
    let mut unsupported = Vec::<Unsupported>::new();
    for (name, span) in asserted
        .iter()
        .flat_map(|assertion| assertion.matcher.need_a_model())
    {
        if !unsupported.iter().any(|known| known.key == name) {
            let reason = "needs a model, and replaying has none";
            unsupported.push(names::unsupported(name, span, reason));
        }
    }
    let mut matchers = asserted.iter().map(|assertion| &assertion.matcher);
    let judged = matchers.any(|matcher| matcher.decidable().is_some());
    let expects = if fields.has("expect") && (unsupported.is_empty() || judged) {
        Expects::Something
    } else if unsupported.is_empty() {
        Expects::Nothing
    } else {
        Expects::OnlyOfModels
    };
    (asserted, expects, unsupported)
}

/// What the gates need to know, without the list of gates.
struct Facts<'a> {
    runs: Option<&'a Spanned<usize>>,
    injects: bool,
    expects: Expects,
}

fn gates(fields: &mut Fields<'_>, facts: &Facts<'_>, problems: &mut Problems) -> Vec<GateBlock> {
    let blocks: Vec<(GateKind, &Entry)> = GateKind::ALL
        .iter()
        .filter_map(|kind| Some((*kind, fields.entry(kind.name())?)))
        .collect();
    let kinds: Vec<GateKind> = blocks.iter().map(|(kind, _)| *kind).collect();
    let agent = AgentFacts {
        runs: facts.runs,
        injects: facts.injects,
        expects: facts.expects,
        gates: &kinds,
    };
    let read = blocks
        .into_iter()
        .map(|(kind, entry)| GateBlock::read(kind, entry, &agent, problems));
    read.collect::<Vec<_>>().into_iter().flatten().collect()
}
