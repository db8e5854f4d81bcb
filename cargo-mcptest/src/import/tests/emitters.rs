//! Each row of the table of emitters: a file of spans has it, and is read by it; the guide shows it.

use serde_json::Value;

use super::super::otel::emitters::{
    ATTRIBUTES, Attribute, EMITTERS, Emitter, Known, MARKS, Mark, Meaning,
};
use super::Desk;
use super::strangers::{calls, closing, stop, tokens};

fn fixture(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/import/tests/spans");
    let text = std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The attributes of all spans of a file.
fn attributes(spans: &mut Value) -> Vec<&mut serde_json::Map<String, Value>> {
    let spans = spans["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array_mut()
        .unwrap();
    let attributes = spans
        .iter_mut()
        .map(|span| span["attributes"].as_object_mut().unwrap());
    attributes.collect()
}

#[test]
fn every_row_stands_in_the_spans_of_its_emitter() {
    for known in EMITTERS {
        let mut files: Vec<Value> = known.fixtures.iter().map(|name| fixture(name)).collect();
        let all = files.iter_mut().flat_map(attributes);
        let all: Vec<(String, Value)> = all.flat_map(std::mem::take).collect();
        for Attribute(by, name, _) in ATTRIBUTES.iter().filter(|row| row.0 == known.emitter) {
            let is_it = |(key, _): &(String, Value)| {
                key == name || name.ends_with('.') && key.starts_with(name)
            };
            assert!(all.iter().any(is_it), "{by:?}: {name}");
        }
        for Mark(by, name, values, _) in MARKS.iter().filter(|row| row.0 == known.emitter) {
            let is_it = |value: &str| {
                let value = value.trim_start_matches('*').to_lowercase();
                let is_said = |said: &Value| {
                    said.as_str()
                        .is_some_and(|said| said.to_lowercase().ends_with(&value))
                };
                all.iter().any(|(key, said)| key == name && is_said(said))
            };
            // Of several values, one.
            let is_there = values.iter().any(|value| is_it(value)) || values.is_empty();
            assert!(
                is_there && all.iter().any(|(key, _)| key == name),
                "{by:?}: {name}"
            );
        }
    }
}

/// The same run, as each writes it: a lookup that nothing failed of, a refund that did, and a closing.
#[test]
fn the_spans_of_every_emitter_are_one_run() {
    let good = |emitter| match emitter {
        // What it came to is written.
        Emitter::Rig | Emitter::AiSdk | Emitter::OpenInference => Some(false),
        // No status was set, and nothing else says it.
        _ => None,
    };
    let with_content =
        |known: &&Known| !matches!(known.emitter, Emitter::AdkRust | Emitter::GoogleAdk);
    for known in EMITTERS.iter().filter(with_content) {
        for name in known.fixtures {
            let desk = Desk::new();
            desk.write("spans.json", fixture(name).to_string());
            let said = desk.import(&["spans.json"]);
            assert_eq!(said.status, 0, "{name}: {said:?}");
            let run = desk.recording();
            let found = calls(&run);
            let found: Vec<_> = found
                .iter()
                .map(|(name, args, _, flag)| (name.as_str(), args.as_str(), *flag))
                .collect();
            let expected = [
                ("get_order", r#"{"order":7}"#, good(known.emitter)),
                ("refund", r#"{"order":7}"#, Some(true)),
            ];
            assert_eq!(found, expected, "{name}: {run:#}");
            assert_eq!(calls(&run)[0].2, "delivered", "{name}");
            assert_eq!(run["system_prompt"], "You work at the desk.", "{name}");
            assert_eq!(run["user_prompt"], "Please refund order 7.", "{name}");
            assert_eq!(run["agent_name"], "desk", "{name}");
            assert_eq!(
                (closing(&run), stop(&run), tokens(&run)),
                ("It could not be refunded.", "completed", (60, 6)),
                "{name}"
            );
        }
    }
}

/// Without what is said in them.
#[test]
fn spans_without_content_are_refused_with_the_switch_of_their_emitter() {
    let is_content = |key: &str| {
        let kept = [
            Meaning::Input,
            Meaning::Output,
            Meaning::Prompt,
            Meaning::OutputText,
            Meaning::OutputCalls,
        ];
        let kept = kept
            .into_iter()
            .chain([Meaning::Events, Meaning::SystemPrompt]);
        kept.flat_map(Meaning::names).any(|name| name == key)
            || [Meaning::InputTree, Meaning::OutputTree]
                .into_iter()
                .flat_map(Meaning::names)
                .any(|name| key.starts_with(name))
    };
    for known in EMITTERS {
        for name in known.fixtures {
            let mut spans = fixture(name);
            for attributes in attributes(&mut spans) {
                attributes.retain(|key, _| !is_content(key));
            }
            let desk = Desk::new();
            desk.write("spans.json", spans.to_string());
            let said = desk.import(&["spans.json"]);
            assert_eq!(said.status, 2, "{name}: {said:?}");
            assert!(
                said.err.contains("content was not captured"),
                "{name}: {said:?}"
            );
            let switches = EMITTERS
                .iter()
                .filter(|other| said.err.contains(other.switch));
            let switches: Vec<&str> = switches.map(|other| other.name).collect();
            assert_eq!(switches, [known.name], "{name}: {said:?}");
        }
    }
}

/// The status of a span of a tool, beside what else says whether the call failed.
#[test]
fn an_unset_status_says_nothing() {
    let with = |name: &str, set: &[(&str, &str)], status: Option<Value>| {
        let mut spans = fixture(name);
        for (key, value) in set {
            attributes(&mut spans)[2].insert((*key).to_owned(), (*value).into());
        }
        let span = &mut spans["resourceSpans"][0]["scopeSpans"][0]["spans"][2];
        span.as_object_mut().unwrap().remove("status");
        if let Some(status) = status {
            span["status"] = status;
        }
        let desk = Desk::new();
        desk.write("spans.json", spans.to_string());
        let said = desk.import(&["spans.json"]);
        assert_eq!(said.status, 0, "{said:?}");
        calls(&desk.recording())[0].3
    };
    let code = |code: Value| Some(serde_json::json!({ "code": code }));
    let outcome = "gen_ai.tool.call.outcome";
    for (set, status, expected) in [
        (vec![], None, None),
        (vec![], code(0.into()), None),
        (vec![], code("STATUS_CODE_UNSET".into()), None),
        (vec![], code(1.into()), Some(false)),
        (vec![], code("Ok".into()), Some(false)),
        (vec![], code(2.into()), Some(true)),
        (vec![(outcome, "success")], code(0.into()), Some(false)),
        (vec![(outcome, "denied")], code(0.into()), Some(true)),
        (vec![(outcome, "skipped")], None, Some(true)),
        // A word that nobody knows is no success, and the emitter's own word counts more than the status.
        (vec![(outcome, "deferred")], None, None),
        (vec![(outcome, "error")], code(1.into()), Some(true)),
        (
            vec![("error.type", "tool_error")],
            code(1.into()),
            Some(true),
        ),
        (vec![("error.type", "")], None, None),
    ] {
        assert_eq!(
            with("conventions", &set, status.clone()),
            expected,
            "{set:?} {status:?}"
        );
    }
}

/// What the meanings are, in the words of the guide.
const TITLES: &[(Meaning, &str)] = &[
    (Meaning::Conversation, "the conversation"),
    (Meaning::AgentName, "the agent, of its own span"),
    (Meaning::RunName, "the agent, where no span is an agent's"),
    (Meaning::AskedModel, "the model that was asked for"),
    (Meaning::AnsweringModel, "the model that answered"),
    (Meaning::Temperature, "the temperature"),
    (Meaning::MaxTokens, "the most tokens of an answer"),
    (Meaning::OfferedTools, "the tools that were offered"),
    (
        Meaning::SystemPrompt,
        "the system prompt, beside system messages",
    ),
    (Meaning::Input, "messages that were sent, with `parts`"),
    (Meaning::Output, "the answer, with `parts`"),
    (
        Meaning::Prompt,
        "messages that were sent, with their parts as content",
    ),
    (Meaning::OutputText, "the text of the answer"),
    (Meaning::OutputCalls, "the calls of the answer"),
    (
        Meaning::InputTree,
        "messages that were sent, an attribute a field",
    ),
    (Meaning::OutputTree, "the answer, an attribute a field"),
    (Meaning::FinishReason, "how a model call ended"),
    (
        Meaning::Closing,
        "written only of an agent that ended by itself",
    ),
    (Meaning::PromptTokens, "tokens sent"),
    (Meaning::CompletionTokens, "tokens written"),
    (Meaning::ToolName, "the tool"),
    (Meaning::CallId, "the call"),
    (Meaning::Arguments, "its arguments"),
    (Meaning::ToolResult, "its result"),
    (Meaning::QuotedResult, "its result, as JSON"),
    (Meaning::Outcome, "whether the call failed, in a word"),
    (Meaning::Success, "written only of a call that succeeded"),
    (Meaning::Failure, "written only of what failed"),
    (Meaning::Events, "events, as JSON"),
    (Meaning::Unread, "content that is not read"),
];

/// The page of the guide shows the table.
#[test]
fn the_guide_shows_the_table() {
    let names = |names: &mut dyn Iterator<Item = &'static str>| {
        let more = |name: &str| if name.ends_with('.') { "*" } else { "" };
        let names = names.map(|name| format!("`{name}{}`", more(name)));
        names.collect::<Vec<_>>().join(", ")
    };
    let mut table =
        "| who writes spans | known by | what switches content on |\n|---|---|---|\n".to_owned();
    for known in EMITTERS {
        let scopes = known.scopes.iter().copied();
        let own = known
            .own
            .iter()
            .copied()
            .filter(|own| !known.scopes.contains(own));
        let by = names(&mut scopes.chain(own));
        table += &format!("| {} | {by} | {} |\n", known.name, known.switch);
    }
    table += "\n| attributes | what they are |\n|---|---|\n";
    for (meaning, title) in TITLES {
        table += &format!("| {} | {title} |\n", names(&mut meaning.names()));
    }
    let titled = |row: &Attribute| TITLES.iter().any(|(meaning, _)| *meaning == row.2);
    assert!(ATTRIBUTES.iter().all(titled));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/importing.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("<!-- the table of emitters -->\n").unwrap();
    let (shown, after) = rest.split_once("<!-- its end -->\n").unwrap();
    if std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
        let page =
            format!("{before}<!-- the table of emitters -->\n{table}<!-- its end -->\n{after}");
        std::fs::write(path, page).unwrap();
        return;
    }
    assert_eq!(shown, table, "INSTA_UPDATE=always writes docs/importing.md");
}
