//! What comes before what an agent changes, and where its arguments come from.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use mcptest::eval::{Axes, Dependency, Order, score_trajectory_axes};
use mcptest::trace::{ReadOnlyTools, Run, ToolCall};
use serde_json::Value;

use super::gate::ProposedGate;
use super::mentions::{Words, find_places, is_word_char};
use super::text::quote;

/// The most pairs and dependencies that are written of an agent.
const MOST: usize = 24;

/// Which lookups come before a change of what they look up, and which arguments come from an earlier result.
/// Where only some runs change anything, nothing need be looked up.
pub(super) fn propose_axes<'a>(
    good: &[&'a Run],
    reads: &ReadOnlyTools,
) -> Option<ProposedGate<'a>> {
    let changes = |run: &&&Run| {
        let mut calls = run.trace.tool_calls.iter();
        calls.any(|call| !reads.is_read_only(&call.name))
    };
    if (1..good.len()).contains(&good.iter().filter(changes).count()) {
        return None;
    }
    let holds_for_all = |axes: &Axes| good.iter().all(|run| holds(run, axes));
    let mut axes = Axes::default();
    for pair in lookup_pairs(good, reads) {
        let alone = Axes::default().with_order(vec![pair.clone()]);
        if axes.order.len() < MOST && holds_for_all(&alone) {
            axes.order.push(pair);
        }
    }
    for dependency in needed_dependencies(dependencies(good, reads), &axes.order, good, reads) {
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
            let (first, second) = (quote(&pair.first), quote(&pair.second));
            format!("        - {{ first: {first}, second: {second} }}\n")
        }));
    }
    if !axes.dependencies.is_empty() {
        text.push_str("      dependencies:\n");
        text.extend(axes.dependencies.iter().map(|dependency| {
            let arg = dependency.arg.as_deref().map(quote);
            let arg = arg.map_or_else(String::new, |arg| format!(", arg: {arg}"));
            format!(
                "        - {{ producer: {}, consumer: {}{arg} }}\n",
                quote(&dependency.producer),
                quote(&dependency.consumer)
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
fn needed_dependencies(
    mut found: Vec<Dependency>,
    order: &[Order],
    good: &[&Run],
    reads: &ReadOnlyTools,
) -> Vec<Dependency> {
    let calls = good.iter().flat_map(|run| &run.trace.tool_calls);
    let changes = |tool: &str| !reads.is_read_only(tool);
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
fn lookup_pairs(good: &[&Run], reads: &ReadOnlyTools) -> Vec<Order> {
    let Some(run) = good.first() else {
        return Vec::new();
    };
    let mut known = HashSet::new();
    let names = run.trace.tool_calls.iter().map(|call| call.name.as_str());
    let first_calls: Vec<&str> = names.filter(|name| known.insert(*name)).collect();
    let looked_up: Vec<ToolPairs<'_>> =
        good.iter().map(|run| looked_up_pairs(run, reads)).collect();
    let together: Vec<ToolPairs<'_>> = good.iter().map(|run| parallel_pairs(run)).collect();
    let in_all = |all: &[ToolPairs<'_>], pair| all.iter().all(|pairs| pairs.contains(&pair));
    let in_any = |all: &[ToolPairs<'_>], pair| all.iter().any(|pairs| pairs.contains(&pair));
    let mut pairs = Vec::new();
    for distance in 1..first_calls.len() {
        for (place, first) in first_calls.iter().enumerate() {
            let Some(second) = first_calls.get(place + distance) else {
                break;
            };
            let pair = (*first, *second);
            if in_all(&looked_up, pair) && !in_any(&together, pair) {
                pairs.push(Order::new(*first, *second));
            }
        }
    }
    pairs
}

/// Pairs of tools.
type ToolPairs<'r> = HashSet<(&'r str, &'r str)>;

/// The pairs of a lookup and a change of which a call of the lookup has an identifier, in its arguments or result, that a
/// later call of the change has as an argument.
fn looked_up_pairs<'r>(run: &'r Run, reads: &ReadOnlyTools) -> ToolPairs<'r> {
    let calls = run.trace.tool_calls.iter().enumerate();
    let changes = calls.filter(|(_, call)| !reads.is_read_only(&call.name));
    let changes: Vec<(usize, &ToolCall, Vec<NamedIdentifier<'_>>)> = changes
        .map(|(place, call)| (place, call, named_identifiers(call)))
        .collect();
    let words = changes.iter().flat_map(|(_, _, named)| named);
    let words: Words<'_> = words.map(|named| named.word).collect();
    let said = user_words(run, &words);
    let calls = run.trace.tool_calls.iter().zip(run.trace.results_by_call());
    let texts = calls.map(|(call, result)| match result {
        _ if !reads.is_read_only(&call.name) => String::new(),
        Some(result) => format!("{} {}", call.args, result.result),
        None => call.args.to_string(),
    });
    // The first call of each lookup that has a word.
    let mut firsts: HashMap<&str, BTreeMap<&str, usize>> = HashMap::new();
    for (word, places) in find_places(&words, texts) {
        let firsts = firsts.entry(word).or_default();
        for place in places {
            let lookup = &run.trace.tool_calls[place].name;
            firsts.entry(lookup).or_insert(place);
        }
    }
    let mut pairs = ToolPairs::new();
    for (place, call, named) in changes {
        let named = named
            .iter()
            .filter(|it| it.is_whole || !said.contains(it.word));
        for (lookup, first) in named.filter_map(|it| firsts.get(it.word)).flatten() {
            if *first < place {
                pairs.insert((lookup, &call.name));
            }
        }
    }
    pairs
}

/// An identifier in an argument.
struct NamedIdentifier<'r> {
    word: &'r str,
    /// The argument is nothing else. In a longer text, such as a summary for a colleague, what the user said tells
    /// nothing.
    is_whole: bool,
}

fn named_identifiers(call: &ToolCall) -> Vec<NamedIdentifier<'_>> {
    let args = call.args.as_object().into_iter().flatten();
    let texts = args
        .flat_map(|(_, value)| items(value))
        .filter_map(Value::as_str);
    let named = texts.flat_map(|text| {
        let whole = text.trim_start_matches('#');
        let whole = std::iter::once(NamedIdentifier {
            word: whole,
            is_whole: true,
        });
        let words = text.split(|letter| !is_word_char(letter));
        whole.chain(words.map(|word| NamedIdentifier {
            word,
            is_whole: false,
        }))
    });
    named.filter(|named| is_identifier(named.word)).collect()
}

/// The tools that a run asks for at once, one right after the other: they may change places.
fn parallel_pairs(run: &Run) -> ToolPairs<'_> {
    let both = run.trace.tool_calls.windows(2);
    let both = both.filter(|calls| is_same_step(&calls[0], &calls[1]));
    let names = both.map(|calls| (calls[0].name.as_str(), calls[1].name.as_str()));
    names
        .flat_map(|(one, other)| [(one, other), (other, one)])
        .collect()
}

/// Whether the model asked for two calls in one message.
pub(super) fn is_same_step(one: &ToolCall, other: &ToolCall) -> bool {
    one.step.is_some() && one.step == other.step
}

/// Arguments that no user said and that an earlier result has. They come from the first result that has
/// them; before a change, every lookup that has them is made.
fn dependencies(good: &[&Run], reads: &ReadOnlyTools) -> Vec<Dependency> {
    let Some(run) = good.first() else {
        return Vec::new();
    };
    let calls = &run.trace.tool_calls;
    let args = calls
        .iter()
        .flat_map(|call| call.args.as_object().into_iter().flatten());
    let words: Words<'_> = args.flat_map(|(_, value)| identifiers(value)).collect();
    let said: HashSet<&str> = good
        .iter()
        .flat_map(|run| user_words(run, &words))
        .collect();
    let results = run.trace.results_by_call().into_iter();
    let results = results.map(|result| result.map(|it| it.result.to_string()).unwrap_or_default());
    let places = find_places(&words, results);
    let mut found: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    let mut sources: HashMap<(&str, &str, &str), Sources> = HashMap::new();
    for (place, call) in calls.iter().enumerate() {
        let is_lookup = reads.is_read_only(&call.name);
        for (key, value) in call.args.as_object().into_iter().flatten() {
            let words = identifiers(value);
            if key.contains(['.', '[', ']']) || words.iter().any(|word| said.contains(word)) {
                continue;
            }
            for word in words {
                let having = places.get(word).map_or(&[][..], Vec::as_slice);
                let sources = sources.entry((word, &call.name, key)).or_default();
                for nth in sources.newly_available(place, calls, having) {
                    let source = calls[having[nth]].name.as_str();
                    let counts = nth == 0 || !is_lookup && reads.is_read_only(source);
                    if counts && source != call.name {
                        found.insert((source, &call.name, key));
                    }
                }
            }
        }
    }
    let found = found.into_iter();
    let found = found.map(|(from, to, arg)| Dependency::new(from, to).with_arg(arg));
    found.collect()
}

/// The results that have a word, as the calls of a tool with this word in an argument see them one after another: each
/// result is looked at once.
#[derive(Default)]
struct Sources {
    /// How many results were before the last call.
    seen: usize,
    /// Those of them that the model asked for together with the call.
    together: Vec<usize>,
}

impl Sources {
    /// Which of the results were there before a call, and were not before the last one. What is asked for in one message
    /// with the call is there before a call of the next message.
    fn newly_available(
        &mut self,
        place: usize,
        calls: &[ToolCall],
        having: &[usize],
    ) -> Vec<usize> {
        let is_together = |nth: &usize| is_same_step(&calls[having[*nth]], &calls[place]);
        let later = having[self.seen..].partition_point(|having| *having < place);
        let new = self.seen..self.seen + later;
        self.seen += later;
        // Those that wait are of one message.
        let waits = self.together.first().is_some_and(is_together);
        let waiting = if waits {
            Vec::new()
        } else {
            std::mem::take(&mut self.together)
        };
        let (together, apart): (Vec<usize>, Vec<usize>) = new.partition(is_together);
        self.together.extend(together);
        waiting.into_iter().chain(apart).collect()
    }
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
        && word.chars().all(is_word_char)
}

/// Which of some words the user says.
fn user_words<'w>(run: &Run, words: &Words<'w>) -> HashSet<&'w str> {
    let turns = run.trace.conversation.turns.iter();
    let user = turns.filter(|turn| turn.role == "user");
    let texts = user
        .map(|turn| turn.content.as_str())
        .chain([run.user_prompt.as_str()]);
    texts.flat_map(|text| words.find_in(text)).collect()
}

#[cfg(test)]
mod tests;
