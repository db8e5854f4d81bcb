//! Reading `agents:`.

use super::assertion::{self, Read};
use super::fields::{Fields, Problems, did_you_mean};
use super::{names, oracle};
use crate::gates::AgentFacts;
use crate::model::{
    Agent, Assertion, Caps, Fault, GateBlock, GateKind, Model, Prompt, Unsupported,
};
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
    pub(super) faults: &'a [Fault],
    pub(super) observable: bool,
}

pub(super) fn read_all(node: &Node, context: &Context<'_>, problems: &mut Problems) -> Vec<Agent> {
    let items = problems.items(node, "agent tests").unwrap_or_default();
    items
        .iter()
        .filter_map(|item| read(item, context, problems))
        .collect()
}

fn read(node: &Node, context: &Context<'_>, problems: &mut Problems) -> Option<Agent> {
    let mut fields = Fields::open(node, "an agent", problems)?;
    let name = fields
        .required("name", problems)
        .and_then(|node| problems.words(node));
    let segment = name
        .as_ref()
        .and_then(|name| names::segment_of(name, "an agent", problems));
    let models = models(&mut fields, problems);
    let servers = fields.either(["servers", "server"], problems);
    let servers = servers.map(|entry| one_or_more(&entry.value, "server names", problems));
    let prompt = prompt(&mut fields, problems);
    let system_prompt = fields
        .get("system_prompt")
        .and_then(|node| Some(Spanned::new(problems.text(node)?, node.span)));
    let runs = runs(&mut fields, problems);
    let caps = caps(&mut fields, problems);
    let (skip, only) = skip_and_only(&mut fields, problems);
    let tags = fields
        .get("tags")
        .map(|node| problems.texts(node, "tags"))
        .unwrap_or_default();
    let inject = fields
        .get("inject")
        .map(|node| inject(node, context.faults, problems));
    let inject = inject.unwrap_or_default();
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
    let (expect, mut unsupported) = expect(&mut fields, problems);
    if observable.unwrap_or(context.observable) {
        oracle::check(&expect, problems);
    }
    let facts = Facts {
        runs: &runs,
        injects: !inject.is_empty(),
        expects: !expect.is_empty(),
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
                "add e.g. `expect: [{ target: tool_calls[0].name, matcher: { exact: search } }]`",
            ),
        );
    }
    fields.finish(problems);
    Some(Agent {
        segment: segment?,
        name: name?,
        models: models?,
        servers: servers.unwrap_or_default(),
        prompt: prompt?,
        system_prompt,
        runs,
        caps,
        skip,
        only,
        tags: tags.into_iter().map(|tag| tag.value).collect(),
        inject,
        expect,
        gates,
        cassette,
        unsupported,
    })
}

/// Whether the agent has an `expect:` or a gate, be it misspelt (which is a problem of its own).
fn asks_for_anything(node: &Node) -> bool {
    let tests = || {
        let gates = GateKind::ALL.iter().map(|kind| kind.name());
        gates.chain(OTHER_GATES).chain(["expect"])
    };
    let entries = node.entries().unwrap_or_default();
    entries
        .iter()
        .any(|entry| nearest(&entry.key, tests()).is_some())
}

/// Text, or a list of texts.
fn one_or_more(node: &Node, of: &str, problems: &mut Problems) -> Vec<Spanned<String>> {
    match node.items() {
        Some(_) => problems.texts(node, of),
        None => problems.words(node).into_iter().collect(),
    }
}

fn models(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Vec<Spanned<Model>>> {
    let Some(entry) = fields.either(["model", "models"], problems) else {
        problems.push(
            Diagnostic::at(fields.span, "an agent needs `model` or `models`")
                .help("name the model that was recorded, e.g. `model: claude-sonnet-4-5`"),
        );
        return None;
    };
    let single = std::slice::from_ref(&entry.value);
    let items = match entry.value.items() {
        Some(_) if entry.key == "models" => problems.items(&entry.value, "models")?,
        _ => single,
    };
    let models = items.iter().map(|item| model(item, problems));
    models.collect::<Vec<_>>().into_iter().collect()
}

fn model(node: &Node, problems: &mut Problems) -> Option<Spanned<Model>> {
    if node.entries().is_none() {
        let id = problems.words(node)?;
        return Some(Spanned::new(
            Model {
                provider: None,
                id: id.value,
            },
            node.span,
        ));
    }
    let mut fields = Fields::open(node, "a model", problems)?;
    let provider = fields
        .required("provider", problems)
        .and_then(|node| problems.words(node));
    let id = fields
        .required("id", problems)
        .and_then(|node| problems.words(node));
    fields.finish(problems);
    let id = id?;
    Some(Spanned::new(
        Model {
            provider: Some(provider?.value),
            id: id.value,
        },
        id.span,
    ))
}

fn prompt(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Prompt> {
    let single = fields.either(["prompt", "user_prompt"], problems);
    let turns = fields.entry("turns");
    match (single, turns) {
        (Some(single), None) => problems.words(&single.value).map(Prompt::Single),
        (None, Some(turns)) => {
            let items = problems.items(&turns.value, "user turns")?;
            let turns: Vec<_> = items.iter().map(|item| turn(item, problems)).collect();
            turns.into_iter().collect::<Option<_>>().map(Prompt::Turns)
        }
        (Some(single), Some(turns)) => {
            problems.push(
                Diagnostic::new(format!(
                    "`{}` and `turns` both say what the user says",
                    single.key
                ))
                .label(turns.key_span, "several turns")
                .also(single.key_span, "one turn")
                .help("keep one of the two"),
            );
            None
        }
        (None, None) => {
            problems.push(
                Diagnostic::at(fields.span, "an agent needs `prompt` or `turns`")
                    .help("say what the agent was asked: `prompt: What is the weather in Oslo?`"),
            );
            None
        }
    }
}

/// A user turn: text, `{ user: text }` or `{ role: user, content: text }`.
fn turn(node: &Node, problems: &mut Problems) -> Option<Spanned<String>> {
    if node.entries().is_none() {
        return problems.words(node);
    }
    let mut fields = Fields::open(node, "a user turn", problems)?;
    if let Some(role) = fields.get("role") {
        problems.choice(role, "role of a scripted turn", &[("user", ())]);
    }
    let text = fields.either(["user", "content"], problems);
    if text.is_none() {
        problems.push(Diagnostic::at(
            fields.span,
            "a user turn needs `user`, its text",
        ));
    }
    fields.finish(problems);
    problems.words(&text?.value)
}

fn runs(fields: &mut Fields<'_>, problems: &mut Problems) -> Spanned<usize> {
    let declared = fields.get("runs").and_then(|node| {
        let runs = problems.count(node, 1)?;
        if runs.value > MAX_RUNS {
            let message = format!("`runs` is {}; at most {MAX_RUNS} are read", runs.value);
            problems.push(Diagnostic::at(node.span, message));
        }
        Some(Spanned::new(usize::try_from(runs.value).ok()?, runs.span))
    });
    declared.unwrap_or(Spanned::new(1, Span::default()))
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
                .also(skip.span, "skipped"),
        );
    }
    (skip, only)
}

fn inject(node: &Node, faults: &[Fault], problems: &mut Problems) -> Vec<Spanned<usize>> {
    let names = one_or_more(node, "fault names", problems);
    let mut injected = Vec::new();
    for name in names {
        let known = || faults.iter().map(|fault| fault.name.value.as_str());
        if let Some(index) = known().position(|fault| fault == name.value) {
            injected.push(Spanned::new(index, name.span));
            continue;
        }
        let problem = Diagnostic::at(name.span, format!("unknown fault `{}`", name.value));
        problems.push(if faults.is_empty() {
            problem.help("declare it under the suite's `faults:`")
        } else {
            did_you_mean(problem, &name.value, known(), "faults")
        });
    }
    injected
}

/// The assertions that can be judged, and an entry for each matcher that needs a model.
fn expect(fields: &mut Fields<'_>, problems: &mut Problems) -> (Vec<Assertion>, Vec<Unsupported>) {
    let (mut judged, mut unsupported) = (Vec::new(), Vec::<Unsupported>::new());
    let read = fields
        .get("expect")
        .map(|node| assertion::list(node, problems));
    for read in read.unwrap_or_default() {
        match read {
            Read::Judged(assertion) => judged.push(*assertion),
            Read::NeedsModel(matcher) => {
                if !unsupported.iter().any(|known| known.key == matcher.value) {
                    let reason = "needs a model, and replaying has none";
                    unsupported.push(names::unsupported(&matcher.value, matcher.span, reason));
                }
            }
        }
    }
    (judged, unsupported)
}

/// What the gates need to know, without the list of gates.
struct Facts<'a> {
    runs: &'a Spanned<usize>,
    injects: bool,
    expects: bool,
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
