//! Talks of any shape, to be written in every format and found again in the recording.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Desk;

/// What a format can hold of a talk.
#[derive(Debug, Clone, Copy)]
pub(super) struct FormatCapabilities {
    pub(super) system: bool,
    pub(super) errors: bool,
    pub(super) tokens: bool,
}

impl FormatCapabilities {
    pub(super) const ALL: Self = Self {
        system: true,
        errors: true,
        tokens: true,
    };
}

#[derive(Debug, Clone)]
pub(super) struct Talk {
    pub(super) system: String,
    pub(super) exchanges: Vec<Exchange>,
}

#[derive(Debug, Clone)]
pub(super) struct Exchange {
    pub(super) user: String,
    pub(super) answers: Vec<Answer>,
}

/// A model call. The last one of an exchange speaks and calls nothing.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) said: String,
    pub(super) calls: Vec<Call>,
    pub(super) tokens: (u64, u64),
}

#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: Value,
    pub(super) result: Option<String>,
    pub(super) is_error: bool,
}

/// Text with something in it that no other text has.
fn text() -> impl Strategy<Value = String> {
    "[a-zäöü☃\"\\\\{}<>\n ]{0,12}"
}

fn call() -> impl Strategy<Value = Call> {
    let args = prop_oneof![
        Just(json!({})),
        (text(), any::<i32>())
            .prop_map(|(text, number)| json!({ "q": text, "n": [number, null, true] })),
    ];
    (
        args,
        prop::option::weighted(0.8, text()),
        any::<bool>(),
        0..3_u8,
    )
        .prop_map(|(args, result, is_error, tool)| Call {
            id: String::new(),
            name: format!("tool_{tool}"),
            args,
            result,
            is_error,
        })
}

fn answer(calls: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Answer> {
    let calls = prop::collection::vec(call(), calls);
    (text(), calls, 1..10_000_u64, 0..500_u64).prop_map(|(said, calls, prompt, completion)| {
        Answer {
            said,
            calls,
            tokens: (prompt, completion),
        }
    })
}

pub(super) fn talk(can: FormatCapabilities) -> impl Strategy<Value = Talk> {
    let exchange = (
        text(),
        prop::collection::vec(answer(1..3), 0..3),
        answer(0..1),
    );
    let exchange = exchange.prop_map(|(user, mut answers, last)| {
        answers.push(last);
        Exchange { user, answers }
    });
    let exchanges = prop::collection::vec(exchange, 1..4);
    (text(), exchanges).prop_map(move |(system, exchanges)| marked(&system, exchanges, can))
}

/// Numbers everything, so that each text and each call is told from the others.
fn marked(system: &str, mut exchanges: Vec<Exchange>, can: FormatCapabilities) -> Talk {
    let mut number = 0;
    let mut mark = |text: &mut String| {
        number += 1;
        *text = format!("m{number}m{text}m{number}");
    };
    for exchange in &mut exchanges {
        mark(&mut exchange.user);
        for answer in &mut exchange.answers {
            // Only the last one has to speak.
            if answer.calls.is_empty() || answer.said.len() > 6 {
                mark(&mut answer.said);
            } else {
                answer.said.clear();
            }
            for call in &mut answer.calls {
                mark(&mut call.id);
                if let Some(query) = call.args.get_mut("q") {
                    let mut text = query.as_str().unwrap().to_owned();
                    mark(&mut text);
                    *query = text.into();
                }
                if let Some(result) = &mut call.result {
                    mark(result);
                }
                call.is_error &= can.errors;
            }
        }
    }
    let system = if can.system {
        format!("s0s{system}")
    } else {
        String::new()
    };
    Talk { system, exchanges }
}

impl Talk {
    pub(super) fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.exchanges.iter().flat_map(|exchange| &exchange.answers)
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.answers().flat_map(|answer| &answer.calls)
    }

    /// Asserts that a recording holds the talk: every call, argument, result and text, each where it
    /// belongs.
    pub(super) fn assert_in(&self, run: &Value, can: FormatCapabilities) {
        let shown = format!("{run:#}");
        let calls: Vec<&Call> = self.calls().collect();
        let recorded = run["trace"]["tool_calls"].as_array().unwrap();
        assert_eq!(recorded.len(), calls.len(), "{shown}");
        for (call, recorded) in calls.iter().zip(recorded) {
            assert_eq!(recorded["name"], call.name, "{shown}");
            assert_eq!(recorded["args"], call.args, "{shown}");
        }
        let results = run["trace"]["tool_results"].as_array().unwrap();
        let expected: Vec<(usize, &Call)> = calls
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, call)| call.result.is_some())
            .collect();
        assert_eq!(results.len(), expected.len(), "{shown}");
        for (index, call) in expected {
            let result = results.iter().find(|it| it["call_index"] == index).unwrap();
            let text = call.result.as_deref().unwrap();
            let block = &result["result"]["content"][0]["text"];
            assert!(block == text, "{text:?} is not in {result:#}");
            if can.errors {
                assert_eq!(result["is_error"], call.is_error, "{shown}");
            }
        }
        let turns = run["trace"]["conversation"]["turns"].as_array().unwrap();
        let turns: Vec<(&str, &str)> = turns
            .iter()
            .map(|turn| {
                (
                    turn["role"].as_str().unwrap(),
                    turn["content"].as_str().unwrap(),
                )
            })
            .filter(|(_, content)| !content.starts_with("tool_use "))
            .collect();
        let mut expected = Vec::new();
        for exchange in &self.exchanges {
            expected.push(("user", exchange.user.as_str()));
            let said = exchange.answers.iter().map(|answer| answer.said.as_str());
            expected.extend(
                said.filter(|said| !said.is_empty())
                    .map(|said| ("assistant", said)),
            );
        }
        assert_eq!(turns, expected, "{shown}");
        assert_eq!(run["user_prompt"], self.exchanges[0].user, "{shown}");
        if can.system {
            assert_eq!(run["system_prompt"], self.system, "{shown}");
        }
        let last = self.answers().last().unwrap();
        assert_eq!(run["trace"]["final_response"], last.said, "{shown}");
        if can.tokens {
            let steps: Vec<Value> = self
                .answers()
                .map(|it| json!({ "prompt": it.tokens.0, "completion": it.tokens.1 }))
                .collect();
            // Some formats tell more of each.
            let mut told = run["trace"]["conversation"]["steps"].clone();
            for step in told.as_array_mut().unwrap() {
                step.as_object_mut()
                    .unwrap()
                    .retain(|key, _| ["prompt", "completion"].contains(&key.as_str()));
            }
            assert_eq!(told, json!(steps), "{shown}");
        }
    }
}

/// Imports a file that holds a talk, and asserts that nothing of it is lost.
pub(super) fn assert_kept(
    talk: &Talk,
    can: FormatCapabilities,
    file: &str,
    text: &[u8],
    arguments: &[&str],
) {
    let desk = Desk::new();
    desk.write(file, text);
    let mut line = vec![file, "--model", "m"];
    line.extend(arguments);
    let said = desk.import(&line);
    assert_eq!(
        said.status,
        0,
        "{said:?}\n{}",
        String::from_utf8_lossy(text)
    );
    talk.assert_in(&desk.recording(), can);
}
