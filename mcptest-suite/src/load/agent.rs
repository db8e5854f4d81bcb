//! Reading `agents:`.

use super::faults::Faults;
use super::fields::{Fields, is_own_key};
use super::names::Identity;
use super::problems::{Problems, did_you_mean};
use super::{
    answers, assertion, command, defaults, inject, models, names, oracle, prompt, regression,
    run_targets, snapshots, values,
};
use crate::gates::{Gate, GateKind};
use crate::model::{Agent, Assertion, Caps, CheckOptions, Model, Prices, Unsupported};
use crate::read::{DeclaredAgent, Expects, GateReader};
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
    /// The names of the servers that the suite declares.
    pub(super) servers: &'a [&'a str],
    /// What agents say that do not say it themselves.
    pub(super) defaults: &'a [&'a Entry],
    pub(super) observable: bool,
    /// Whether the suite says what its agents are compared with.
    pub(super) compared: bool,
    /// What models cost; nothing where the suite says it wrongly.
    pub(super) prices: Option<&'a Prices>,
}

pub(super) fn read_all(
    node: &Node,
    context: &Context<'_>,
    gates: &mut dyn GateReader,
    problems: &mut Problems,
) -> Vec<Agent> {
    let items = problems.items(node, "agent tests").unwrap_or_default();
    // Kept also of agents with other problems, so that a name used twice is reported all the same.
    let mut identities = Vec::new();
    let agents = items
        .iter()
        .filter_map(|item| read(item, context, gates, &mut identities, problems))
        .collect();
    names::check(&identities, problems);
    agents
}

fn read(
    node: &Node,
    context: &Context<'_>,
    reader: &mut dyn GateReader,
    identities: &mut Vec<Identity>,
    problems: &mut Problems,
) -> Option<Agent> {
    let mut fields = Fields::open(node, "an agent", problems)?
        .with_own_keys()
        .with_defaults(defaults::for_agent(node, context.defaults));
    let name = fields
        .required("name", problems)
        .and_then(|node| problems.non_blank_text(node));
    let segment = name
        .as_ref()
        .and_then(|name| names::name_segment(name, "an agent", problems));
    let models = models::read(&mut fields, problems);
    let servers = servers(&mut fields, context.servers, problems);
    let prompt = prompt::read(&mut fields, problems);
    let command = command::read(&mut fields, &servers, problems);
    let system_prompt = fields
        .get("system_prompt")
        .and_then(|node| Some(Spanned::new(problems.text(node)?, node.span)));
    let runs = runs(&mut fields, problems);
    let caps = caps(&mut fields, problems);
    let (skip, only) = skip_and_only(&mut fields, problems);
    let regression = fields
        .entry("regression")
        .and_then(|entry| regression::read_agent(entry, context.compared, problems));
    let tags = fields.read("tags", problems, tags);
    let inject = fields.get("inject");
    let injects = inject.is_some_and(|node| node.items() != Some(&[]));
    let inject = inject
        .map(|node| inject::read(node, context.faults, problems))
        .unwrap_or_default();
    let answers = fields.read("answers", problems, answers::read);
    let checks = fields.read("checks", problems, checks);
    let cassette = cassette(&mut fields, models.as_deref(), problems);
    let observable = fields
        .get("oracle")
        .map(|node| oracle::read(node, problems));
    let (expect, expects, mut unsupported) = expect(&mut fields, problems);
    snapshots::check_names(&expect, problems);
    run_targets::check(&expect, problems);
    if observable.unwrap_or(context.observable) {
        oracle::check(&expect, problems);
    }
    let blocks = blocks(&mut fields);
    let kinds: Vec<GateKind> = blocks.iter().map(|(kind, _)| *kind).collect();
    let facts = DeclaredAgent {
        runs: runs.as_ref(),
        injects,
        faults: context.faults.select(&inject),
        answers: &answers,
        expects,
        expect: &expect,
        gates: &kinds,
        models: models.as_deref().unwrap_or_default(),
        prices: context.prices,
    };
    reader.read(&facts, &blocks, problems);
    for entry in fields.take_matching(&OTHER_GATES) {
        let reason = "is not implemented here";
        unsupported.push(names::unsupported(&entry.key, entry.key_span, reason));
    }
    if !has_expectations(&fields) {
        let span = name.as_ref().map_or(fields.span, |name| name.span);
        problems.push(no_expectations(span));
    }
    let names = GateKind::ALL.iter().map(|kind| kind.name());
    fields.summarize_keys("the name of a gate, e.g. `trajectory`", names.collect());
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
        servers,
        prompt: prompt?,
        system_prompt,
        runs: runs?,
        caps,
        skip,
        only,
        tags,
        inject,
        answers,
        expect,
        gates: gates(&blocks),
        checks,
        cassette,
        unsupported,
        regression,
        command,
    })
}

fn no_expectations(span: Span) -> Diagnostic {
    let message = "this agent has neither `expect:` nor a gate, so nothing would be tested";
    Diagnostic::at(span, message)
        .help("add e.g. `expect: [{ target: \"tool_calls[0].name\", matcher: { exact: search } }]`")
}

/// Whether the agent has an `expect:` or a gate, be it misspelt (which is a problem of its own).
fn has_expectations(fields: &Fields<'_>) -> bool {
    let tests = || {
        let gates = GateKind::ALL.iter().map(|kind| kind.name());
        gates.chain(OTHER_GATES).chain(["expect", "checks"])
    };
    let entries = fields.entries().iter();
    let mut entries = entries.filter(|entry| !is_own_key(&entry.key));
    // Distances are measured only where no key is right, which is as good as never.
    entries
        .clone()
        .any(|entry| tests().any(|test| test == entry.key))
        || entries.any(|entry| nearest(&entry.key, tests()).is_some())
}

/// Labels that `MCPTEST_TAGS` can name: it separates them by commas, and `!` leaves one out.
fn tags(node: &Node, problems: &mut Problems) -> Vec<String> {
    let mut tags = Vec::new();
    // A number has several spellings, and so the tag would have several names: 1, 1.0, 0x1.
    let items = node.items().unwrap_or_default().iter();
    for item in items.filter(|item| matches!(item.value, NodeValue::Number(..))) {
        let message = format!("expected text, found {}", item.describe());
        let help = "put it in quotes if text is meant";
        problems.push(Diagnostic::at(item.span, message).help(help));
    }
    for tag in problems.any_texts(node, "tags") {
        let named = tag.value.trim();
        if named.contains(',') || named.starts_with('!') || named != tag.value {
            let help = match named.split_once(',') {
                Some((first, second)) => {
                    format!("write two: `[{}, {}]`", first.trim(), second.trim())
                }
                None => format!("write `{}`", named.trim_start_matches('!').trim()),
            };
            let message = format!("`MCPTEST_TAGS` cannot name the tag `{}`", tag.value);
            problems.push(Diagnostic::at(tag.span, message).help(help));
        }
        tags.push(tag.value);
    }
    tags
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
        match names::name_segment(&name, "a check", problems) {
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

/// The servers of an agent. A suite that is only judged declares none; where some are declared,
/// another name is a mistake.
fn servers(
    fields: &mut Fields<'_>,
    declared: &[&str],
    problems: &mut Problems,
) -> Vec<Spanned<String>> {
    let Some(entry) = fields.either(["servers", "server"], problems) else {
        return Vec::new();
    };
    let names = problems.one_or_more(&entry.value, "server names");
    for name in &names {
        if !declared.is_empty() && !declared.contains(&name.value.as_str()) {
            let message = format!("the server `{}` is not declared", name.value);
            let problem = Diagnostic::at(name.span, message);
            let known = declared.iter().copied();
            problems.push(did_you_mean(problem, &name.value, known, "servers"));
        }
    }
    names
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
            Diagnostic::at(node.span, message)
                .help("write how many runs of this agent are recorded"),
        );
        return None;
    }
    Some(Spanned::new(usize::try_from(runs.value).ok()?, runs.span))
}

/// Where the agent's runs lie, when it says so itself.
fn cassette(
    fields: &mut Fields<'_>,
    models: Option<&[Spanned<Model>]>,
    problems: &mut Problems,
) -> Option<Spanned<String>> {
    let cassette = fields.get("cassette").and_then(|node| problems.path(node));
    if let (Some(cassette), Some([first, .., last])) = (&cassette, models) {
        problems.push(
            Diagnostic::new("`cassette:` names the runs of one model, and this agent has several")
                .label(cassette.span, "the runs of which model?")
                .secondary_label(Span::new(first.span.start, last.span.end), "several models")
                .help("remove `cassette:`, and put each model's runs under its own stem in `cassettes/`"),
        );
    }
    cassette
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
        _ => problems.skip_reason(node),
    });
    let only = fields
        .get("only")
        .and_then(|node| problems.flag(node)?.then_some(node.span));
    if let (Some(skip), Some(only)) = (&skip, only) {
        problems.push(
            Diagnostic::new("an agent cannot have both `only: true` and `skip`")
                .label(only, "the only one")
                .secondary_label(skip.span, "skipped")
                .help("remove one of the two"),
        );
    }
    (skip, only)
}

/// The assertions, what there is of them, and an entry for each matcher that needs a model.
fn expect(
    fields: &mut Fields<'_>,
    problems: &mut Problems,
) -> (Vec<Assertion>, Expects, Vec<Unsupported>) {
    let asserted = fields.read("expect", problems, assertion::list);
    let mut unsupported = Vec::<Unsupported>::new();
    for (name, span) in asserted
        .iter()
        .flat_map(|assertion| assertion.matcher.model_matchers())
    {
        if !unsupported.iter().any(|known| known.key == name) {
            let reason = "needs a model, and judging has none";
            unsupported.push(names::unsupported(name, span, reason));
        }
    }
    let judged = asserted.iter().any(|one| one.matcher.is_decidable());
    let expects = if fields.has("expect") && (unsupported.is_empty() || judged) {
        Expects::Something
    } else if unsupported.is_empty() {
        Expects::Nothing
    } else {
        Expects::OnlyOfModels
    };
    (asserted, expects, unsupported)
}

/// The blocks of gates, in the order of [`GateKind::ALL`].
fn blocks<'n>(fields: &mut Fields<'n>) -> Vec<(GateKind, &'n Entry)> {
    let kinds = GateKind::ALL.iter();
    let blocks = kinds.filter_map(|kind| Some((*kind, fields.entry(kind.name())?)));
    blocks.collect()
}

/// The gates that are declared. Which of them `reliability` counts stands in its `outcome:`; what
/// else it may say there is not looked at.
fn gates(blocks: &[(GateKind, &Entry)]) -> Vec<Gate> {
    let reliability = blocks
        .iter()
        .find(|(kind, _)| *kind == GateKind::Reliability);
    let outcome = reliability.and_then(|(_, entry)| entry.value.get("outcome"));
    let counts = |kind: GateKind| {
        outcome.is_some_and(|outcome| {
            let named = outcome.items().unwrap_or(std::slice::from_ref(outcome));
            named.iter().any(|name| name.text() == Some(kind.name()))
        })
    };
    let gates = blocks.iter().map(|(kind, entry)| Gate {
        kind: *kind,
        span: entry.key_span,
        counted: counts(*kind),
    });
    gates.collect()
}
