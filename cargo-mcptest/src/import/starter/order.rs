//! What comes before what an agent changes, and where its arguments come from.

use std::collections::BTreeSet;

use mcptest::eval::{Axes, Dependency, Order, score_trajectory_axes};
use mcptest::trace::{ReadOnlyTools, Run, ToolCall, Turn};
use serde_json::Value;

use super::gate::ProposedGate;
use super::text::quoted;

/// The most pairs and dependencies that are written of an agent.
const MOST: usize = 24;

/// Which lookups come before a change of what they look up, and which arguments come from an earlier result.
/// Where only some runs change anything, nothing need be looked up.
pub(super) fn axes<'a>(good: &[&'a Run], reads: &ReadOnlyTools) -> Option<ProposedGate<'a>> {
    let changes = |run: &&&Run| {
        let mut calls = run.trace.tool_calls.iter();
        calls.any(|call| !reads.reads(&call.name))
    };
    if (1..good.len()).contains(&good.iter().filter(changes).count()) {
        return None;
    }
    let holds_for_all = |axes: &Axes| good.iter().all(|run| holds(run, axes));
    let mut axes = Axes::default();
    for pair in pairs(good, reads) {
        let alone = Axes::default().with_order(vec![pair.clone()]);
        if axes.order.len() < MOST && holds_for_all(&alone) {
            axes.order.push(pair);
        }
    }
    for dependency in needed(dependencies(good, reads), &axes.order, good, reads) {
        let alone = Axes::default().with_dependencies(vec![dependency.clone()]);
        if axes.dependencies.len() < MOST && holds_for_all(&alone) {
            axes.dependencies.push(dependency);
        }
    }
    if axes.order.is_empty() && axes.dependencies.is_empty() {
        return None;
    }
    let mut text = "    trajectory_axes:\n".to_owned();
    if !axes.order.is_empty() {
        text.push_str("      order:\n");
        text.extend(axes.order.iter().map(|pair| {
            let (first, second) = (quoted(&pair.first), quoted(&pair.second));
            format!("        - {{ first: {first}, second: {second} }}\n")
        }));
    }
    if !axes.dependencies.is_empty() {
        text.push_str("      dependencies:\n");
        text.extend(axes.dependencies.iter().map(|dependency| {
            let arg = dependency.arg.as_deref().map(quoted);
            let arg = arg.map_or_else(String::new, |arg| format!(", arg: {arg}"));
            format!(
                "        - {{ producer: {}, consumer: {}{arg} }}\n",
                quoted(&dependency.producer),
                quoted(&dependency.consumer)
            )
        }));
    }
    Some(ProposedGate {
        name: "trajectory_axes",
        text,
        holds: Box::new(move |run| holds(run, &axes)),
    })
}

/// The dependencies of what changes something, and of the lookups that such a change follows from, near or
/// far: other lookups, another good run does without. Where nothing is changed, all.
fn needed(
    mut found: Vec<Dependency>,
    order: &[Order],
    good: &[&Run],
    reads: &ReadOnlyTools,
) -> Vec<Dependency> {
    let calls = good.iter().flat_map(|run| &run.trace.tool_calls);
    let changes = |tool: &str| !reads.reads(tool);
    if !calls.map(|call| call.name.as_str()).any(changes) {
        return found;
    }
    let mut needed: Vec<Dependency> = Vec::new();
    loop {
        let leads = |tool: &str| {
            changes(tool)
                || order.iter().any(|pair| pair.first == tool)
                || needed.iter().any(|it| it.producer == tool)
        };
        let more: Vec<Dependency> = found.extract_if(.., |it| leads(&it.consumer)).collect();
        if more.is_empty() {
            return needed;
        }
        needed.extend(more);
    }
}

fn holds(run: &Run, axes: &Axes) -> bool {
    let report = score_trajectory_axes(&run.trace, axes);
    report.dependency_satisfaction >= 100 && report.order_satisfaction >= 100
}

/// Pairs of a lookup and a change of the same thing, nearest first: what else is done before and after a
/// change, another good run does without.
fn pairs(good: &[&Run], reads: &ReadOnlyTools) -> Vec<Order> {
    let Some(run) = good.first() else {
        return Vec::new();
    };
    let mut first_calls: Vec<&str> = Vec::new();
    for call in &run.trace.tool_calls {
        if !first_calls.contains(&call.name.as_str()) {
            first_calls.push(&call.name);
        }
    }
    let mut pairs = Vec::new();
    for distance in 1..first_calls.len() {
        for (place, first) in first_calls.iter().enumerate() {
            let Some(second) = first_calls.get(place + distance) else {
                break;
            };
            let may_need = reads.reads(first) && !reads.reads(second);
            let needs =
                |run: &&Run| looks_up(run, first, second) && !asked_together(run, first, second);
            if may_need && good.iter().all(needs) {
                pairs.push(Order::new(*first, *second));
            }
        }
    }
    pairs
}

/// Whether a call of the one tool has an identifier, in its arguments or result, that a later call of the
/// other has as an argument.
fn looks_up(run: &Run, first: &str, second: &str) -> bool {
    let calls = run.trace.tool_calls.iter().zip(run.trace.results_by_call());
    let mut seen = String::new();
    for (call, result) in calls {
        if call.name == first {
            let result = result.map(|result| result.result.to_string());
            seen.push_str(&format!("{} {}\n", call.args, result.unwrap_or_default()));
        }
        let args = call.args.as_object().into_iter().flatten();
        let mut texts = args
            .flat_map(|(_, value)| items(value))
            .filter_map(Value::as_str);
        let named = |text: &str| {
            let whole = text.trim_start_matches('#');
            // A summary for a colleague names what was looked up.
            let mut words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
            is_identifier(whole) && seen.contains(whole)
                || words.any(|word| {
                    is_identifier(word) && seen.contains(word) && !said_by_user(run, word)
                })
        };
        if call.name == second && texts.any(named) {
            return true;
        }
    }
    false
}

/// Whether a run asks for two tools at once, one right after the other: they may change places.
fn asked_together(run: &Run, first: &str, second: &str) -> bool {
    run.trace.tool_calls.windows(2).any(|calls| {
        let names = [calls[0].name.as_str(), calls[1].name.as_str()];
        (names == [first, second] || names == [second, first]) && of_one_step(&calls[0], &calls[1])
    })
}

/// Whether the model asked for two calls in one message.
pub(super) fn of_one_step(one: &ToolCall, other: &ToolCall) -> bool {
    one.step.is_some() && one.step == other.step
}

/// Arguments that no user said and that an earlier result has. They come from the first result that has
/// them; before a change, every lookup that has them is made.
fn dependencies(good: &[&Run], reads: &ReadOnlyTools) -> Vec<Dependency> {
    let Some(run) = good.first() else {
        return Vec::new();
    };
    let mut found: BTreeSet<(String, String, String)> = BTreeSet::new();
    let results = run.trace.results_by_call().into_iter();
    let results = results.map(|result| result.map(|it| it.result.to_string()).unwrap_or_default());
    let results: Vec<String> = results.collect();
    for (place, call) in run.trace.tool_calls.iter().enumerate() {
        let is_lookup = reads.reads(&call.name);
        for (key, value) in call.args.as_object().into_iter().flatten() {
            let words = identifiers(value);
            let said = |word: &&str| good.iter().any(|run| said_by_user(run, word));
            if key.contains(['.', '[', ']']) || words.iter().any(said) {
                continue;
            }
            for word in words {
                let earlier = run.trace.tool_calls[..place].iter().zip(&results);
                let sources = earlier.filter(|(_, result)| result.contains(word));
                let sources = sources.map(|(source, _)| source).enumerate();
                let sources = sources.filter(|(nth, source)| {
                    let counts = *nth == 0 || !is_lookup && reads.reads(&source.name);
                    counts && source.name != call.name && !of_one_step(source, call)
                });
                let names = sources.map(|(_, source)| source.name.clone());
                found.extend(names.map(|source| (source, call.name.clone(), key.clone())));
            }
        }
    }
    let found = found.into_iter();
    let found = found.map(|(from, to, arg)| Dependency::new(from, to).with_arg(arg));
    found.collect()
}

/// The identifiers that an argument is, one or a list of them.
fn identifiers(value: &Value) -> Vec<&str> {
    let words = items(value)
        .iter()
        .map(|value| value.as_str().filter(|word| is_identifier(word)));
    words.collect::<Option<_>>().unwrap_or_default()
}

fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        value => std::slice::from_ref(value),
    }
}

/// A word with a digit, as identifiers are; one that is joined by `-` has a letter too, or it may be a date.
fn is_identifier(word: &str) -> bool {
    word.len() >= 4
        && word.contains(|c: char| c.is_ascii_digit())
        && (!word.contains('-') || word.contains(char::is_alphabetic))
        && word
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

fn said_by_user(run: &Run, word: &str) -> bool {
    let mut turns = run.trace.conversation.turns.iter();
    let says = |turn: &Turn| turn.role == "user" && turn.content.contains(word);
    run.user_prompt.contains(word) || turns.any(says)
}
