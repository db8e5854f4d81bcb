//! Each row of the table of emitters: a file of spans has it, and is read by it; the guide shows it.

use mcptest_trace::spans::{
    ATTRIBUTES, Attribute, EMITTERS, Emitter, EmitterInfo, MARKS, Mark, Meaning,
};
use serde_json::Value;

use super::Desk;
use super::strangers::{calls, closing, stop, tokens};

/// The files of the spans of an emitter, beside the tests.
fn fixtures(emitter: Emitter) -> &'static [&'static str] {
    match emitter {
        Emitter::Rig => &["rig", "rig-0.44.0"],
        Emitter::Genai => &["genai-0.7.2"],
        Emitter::AdkRust => &["adk-rust-2.3.0"],
        Emitter::OpenInference => &["openinference"],
        Emitter::OpenLlmetry => &["openllmetry"],
        Emitter::AiSdk => &["ai_sdk", "ai_sdk_old"],
        Emitter::PydanticAi => &["pydantic_ai"],
        Emitter::GoogleAdk => &["google_adk"],
        Emitter::Conventions => &["conventions"],
    }
}

/// A file of spans. Those with a version are of real builds: `examples/rust-agents/spans/make-fixtures.sh` makes them.
fn text(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/import/tests/spans");
    std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap()
}

/// A file of spans whose attributes are objects, which are read too.
fn fixture(name: &str) -> Value {
    let mut file: Value = serde_json::from_str(&text(name)).unwrap();
    let spans = file["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array_mut()
        .unwrap();
    for span in spans {
        if let Some(pairs) = span["attributes"].as_array() {
            let pairs = pairs.iter().map(|pair| {
                let wrapped = pair["value"].as_object().unwrap();
                let value = wrapped.values().next().unwrap().clone();
                (pair["key"].as_str().unwrap().to_owned(), value)
            });
            span["attributes"] = Value::Object(pairs.collect());
        }
    }
    file
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
        let mut files: Vec<Value> = fixtures(known.emitter)
            .iter()
            .map(|name| fixture(name))
            .collect();
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

/// Every emitter's spans of one run: a lookup that succeeds, a refund that fails, and a closing.
#[test]
fn the_spans_of_every_emitter_are_one_run() {
    let good = |emitter| match emitter {
        // What it came to is written.
        Emitter::Rig | Emitter::AdkRust | Emitter::AiSdk | Emitter::OpenInference => Some(false),
        // No status was set, and nothing else says it.
        _ => None,
    };
    let with_content = |known: &&EmitterInfo| known.emitter != Emitter::GoogleAdk;
    for known in EMITTERS.iter().filter(with_content) {
        for name in fixtures(known.emitter) {
            let desk = Desk::new();
            desk.write("spans.json", text(name));
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
        let kept = kept.chain([Meaning::Response]);
        kept.flat_map(Meaning::names).any(|name| name == key)
            || [Meaning::InputTree, Meaning::OutputTree]
                .into_iter()
                .flat_map(Meaning::names)
                .any(|name| key.starts_with(name))
    };
    for known in EMITTERS {
        for name in fixtures(known.emitter) {
            let mut spans = fixture(name);
            for attributes in attributes(&mut spans) {
                attributes.retain(|key, _| !is_content(key));
                for key in Meaning::Request.names() {
                    // It is cut where it is switched off, not left out.
                    if let Some(Value::String(request)) = attributes.get_mut(key) {
                        request.truncate(20);
                    }
                }
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
    (Meaning::Task, "what the user asked of an agent"),
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
    (
        Meaning::CachedTokens,
        "those of the sent that were in a cache",
    ),
    (
        Meaning::ReasoningTokens,
        "those of the written that were spent on reasoning",
    ),
    (Meaning::ToolName, "the tool"),
    (Meaning::CallId, "the call"),
    (Meaning::Arguments, "its arguments"),
    (Meaning::ToolResult, "its result"),
    (Meaning::QuotedResult, "its result, as JSON"),
    (Meaning::Outcome, "whether the call failed, in a word"),
    (Meaning::Success, "written only of a call that succeeded"),
    (Meaning::Failure, "written only of what failed"),
    (
        Meaning::Request,
        "what was sent, as JSON of its own (adk-rust)",
    ),
    (
        Meaning::Response,
        "the answer, as JSON of its own (adk-rust)",
    ),
    (Meaning::Events, "events, as JSON"),
    (Meaning::Unread, "content that is not read (Google ADK)"),
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
        "| who writes spans | read in version | known by | what switches content on |\n|---|---|---|---|\n"
            .to_owned();
    for known in EMITTERS {
        let scopes = known.scopes.iter().copied();
        let own = known
            .own
            .iter()
            .copied()
            .filter(|own| !known.scopes.contains(own));
        let by = names(&mut scopes.chain(own));
        table += &format!(
            "| {} | {} | {by} | {} |\n",
            known.name, known.version, known.switch
        );
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
    assert_eq!(
        shown, table,
        "docs/importing.md is not what the emitters declare; `bash .ci/generate` writes it"
    );
}

/// In rig an agent that is a tool of another has no span of its own: its model calls stand in the tool's.
#[test]
fn a_nested_agent_of_rig_is_a_sub_agent() {
    let desk = Desk::new();
    desk.write("spans.json", text("rig-0.44.0-nested"));
    let said = desk.import(&["spans.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    let own: Vec<_> = run["trace"]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| {
            (
                call["name"].as_str().unwrap(),
                call.get("agent_id").is_some(),
            )
        })
        .collect();
    assert_eq!(own, [("clerk", false), ("get_order", true)], "{run:#}");
    assert_eq!(run["user_prompt"], "Let the clerk find order 7.");
    assert_eq!(closing(&run), "The clerk says: delivered.");
    assert_eq!(tokens(&run), (30, 3));
}

/// A tool of adk-rust may give back what looks like a failure: its events tell.
#[test]
fn a_failure_of_adk_rust_is_what_its_events_say() {
    for (event, expected) in [("tool_error", Some(true)), ("tool_result", None)] {
        let mut spans: Value = serde_json::from_str(&text("adk-rust-2.3.0")).unwrap();
        let all = spans["resourceSpans"][0]["scopeSpans"][0]["spans"]
            .as_array_mut()
            .unwrap();
        for span in all {
            let events = span["events"].as_array_mut().into_iter().flatten();
            for told in events.filter(|told| told["name"] == "tool_error") {
                told["name"] = event.into();
            }
        }
        let desk = Desk::new();
        desk.write("spans.json", spans.to_string());
        let said = desk.import(&["spans.json"]);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(calls(&desk.recording())[1].3, expected, "{event}");
    }
}
