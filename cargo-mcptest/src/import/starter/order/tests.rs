//! What comes before what is what a look at all calls, word by word, finds.

use mcptest::trace::{Origin, Turn, parse_run};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A plain second implementation: each word is looked for in each text.
mod naive {
    use super::*;

    /// Pairs of a lookup and a change of the same thing, nearest first: what else is done before and after a
    /// change, another good run does without.
    pub(super) fn pairs(good: &[&Run], reads: &ReadOnlyTools) -> Vec<Order> {
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
                let may_need = reads.is_read_only(first) && !reads.is_read_only(second);
                let needs = |run: &&Run| {
                    looks_up(run, first, second) && !asked_together(run, first, second)
                };
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
                let mut words =
                    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
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
            (names == [first, second] || names == [second, first])
                && is_same_step(&calls[0], &calls[1])
        })
    }

    /// Arguments that no user said and that an earlier result has. They come from the first result that has
    /// them; before a change, every lookup that has them is made.
    pub(super) fn dependencies(good: &[&Run], reads: &ReadOnlyTools) -> Vec<Dependency> {
        let Some(run) = good.first() else {
            return Vec::new();
        };
        let mut found: BTreeSet<(String, String, String)> = BTreeSet::new();
        let results = run.trace.results_by_call().into_iter();
        let results =
            results.map(|result| result.map(|it| it.result.to_string()).unwrap_or_default());
        let results: Vec<String> = results.collect();
        for (place, call) in run.trace.tool_calls.iter().enumerate() {
            let is_lookup = reads.is_read_only(&call.name);
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
                        let counts = *nth == 0 || !is_lookup && reads.is_read_only(&source.name);
                        counts && source.name != call.name && !is_same_step(source, call)
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

    fn said_by_user(run: &Run, word: &str) -> bool {
        let mut turns = run.trace.conversation.turns.iter();
        let says = |turn: &Turn| turn.role == "user" && turn.content.contains(word);
        run.user_prompt.contains(word) || turns.any(says)
    }
}

/// Arguments and results are made of these: identifiers, parts of identifiers, and other words.
const WORDS: [&str; 8] = [
    "A1234",
    "#A1234",
    "XA1234B",
    "B99_8",
    "B99_8-c",
    "note A1234, B99_8",
    "plain",
    "2026-01-01",
];

fn word() -> impl Strategy<Value = Value> {
    (0..WORDS.len()).prop_map(|word| WORDS[word].into())
}

fn args() -> impl Strategy<Value = Value> {
    let value = prop_oneof![3 => word(), 1 => proptest::collection::vec(word(), 0..3).prop_map(Value::from)];
    proptest::collection::vec(("[kl]|a\\.b", value), 0..3)
        .prop_map(|pairs| pairs.into_iter().collect())
}

fn run() -> impl Strategy<Value = Run> {
    let tools = prop_oneof![Just("get_a"), Just("get_b"), Just("set_c"), Just("set_d")];
    let call = (
        tools,
        args(),
        proptest::option::of(0_u8..3),
        proptest::option::weighted(0.9, word()),
    );
    let said = prop_oneof![4 => Just("Go on."), 1 => Just("Do A1234."), 1 => Just("Do XB99_8Y.")];
    let parts = (
        proptest::collection::vec(call, 0..9),
        said.clone(),
        proptest::option::of(said),
    );
    parts.prop_map(|(calls, prompt, later)| {
        let made = calls.iter().map(|(name, args, step, _)| {
            let mut call = json!({ "name": name, "args": args });
            if let Some(step) = step {
                call["step"] = (*step).into();
            }
            call
        });
        let results = calls.iter().enumerate().filter_map(|(index, (.., result))| {
            let result = result.as_ref()?;
            Some(json!({ "call_index": index, "is_error": false, "result": { "of": result } }))
        });
        let turns = later.map(|later| json!({ "role": "user", "content": later }));
        let run = json!({ "schema_version": "v1", "agent_name": "a", "model": "m", "user_prompt": prompt,
            "trace": { "tool_calls": made.collect::<Vec<_>>(), "tool_results": results.collect::<Vec<_>>(), "final_response": "",
                "conversation": { "turns": Vec::from_iter(turns) } } });
        parse_run(run.to_string().as_bytes(), &Origin::file("a")).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn pairs_and_dependencies_are_what_a_search_for_each_word_finds(
        runs in proptest::collection::vec(run(), 0..3),
    ) {
        let good: Vec<&Run> = runs.iter().collect();
        let reads = ReadOnlyTools::new([], [], []);
        prop_assert_eq!(lookup_pairs(&good, &reads), naive::pairs(&good, &reads));
        prop_assert_eq!(dependencies(&good, &reads), naive::dependencies(&good, &reads));
    }
}
