//! What the model says in the two runs of every client, and the suite that judges them.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

use super::client::Client;
use crate::support::folder::Folder;
use crate::support::process::{self, Finished};
use crate::support::workshop;

/// What authorises with the scripted provider.
pub(super) const KEY: &str = "sk-desk-4f1d90ab";

/// The agent that takes whole answers, and the one whose answers are streamed: name and prompt.
pub(super) const AGENTS: [(&str, &str); 2] = [
    ("Desk", "Please refund orders 7 and 8."),
    ("Streaming desk", "Please refund orders 7 and 8, and talk."),
];

/// A model call of a run, as the script has it.
pub(super) struct Reply {
    pub(super) text: Option<&'static str>,
    pub(super) calls: Vec<(&'static str, Value)>,
    /// Of the prompt, of these from a cache, of the completion, of these reasoning.
    pub(super) tokens: [u64; 4],
    /// The first request for it is refused.
    refused: bool,
}

/// The run of a number. Two calls at a time, of which one fails, then one that pays back, then the closing; one request
/// is refused with status 429, in the first run before anything was said, in the second at the end.
pub(super) fn run(number: usize) -> Vec<Reply> {
    let first = number == 1;
    let looks = ["get_order", "get_order"].into_iter().zip([7, 8]);
    let reply = |tokens| Reply {
        text: None,
        calls: Vec::new(),
        tokens,
        refused: false,
    };
    vec![
        Reply {
            text: first.then_some("Let me look."),
            calls: looks
                .map(|(name, order)| (name, json!({ "order": order })))
                .collect(),
            refused: first,
            ..reply([100, 64, 20, 8])
        },
        Reply {
            calls: vec![("refund", json!({ "order": 7, "amount": "18.00 EUR" }))],
            ..reply([160, 128, 12, 4])
        },
        Reply {
            text: Some(if first {
                "Order 7 is refunded. There is no order 8."
            } else {
                "I refunded order 7; order 8 does not exist."
            }),
            refused: !first,
            ..reply([200, 192, 10, 2])
        },
    ]
}

/// What the tools give, call by call.
pub(super) fn results() -> [Result<Value, ()>; 3] {
    let found = json!({ "order": 7, "status": "delivered", "total": "18.00 EUR" });
    let paid = json!({ "order": 7, "refunded": "18.00 EUR" });
    [Ok(found), Err(()), Ok(paid)]
}

/// The model that answers, which is another name of the one that is asked.
pub(super) fn answering(model: &str) -> String {
    format!("{model}-2026-11-01")
}

/// A provider that plays both runs to both agents.
pub(super) fn provider(model: &str) -> Provider {
    let reply = |reply: Reply| {
        let [prompt, cached, completion, reasoning] = reply.tokens;
        let calls = reply.calls.into_iter();
        let calls = calls.map(|(name, args)| json!({ "name": name, "args": args }));
        let before = if reply.refused {
            json!([{ "status": 429 }])
        } else {
            json!([])
        };
        json!({
            "text": reply.text, "calls": calls.collect::<Value>(), "before": before,
            "usage": { "prompt": prompt, "cached": cached, "completion": completion, "reasoning": reasoning },
        })
    };
    let runs: Value = [1, 2]
        .map(|number| run(number).into_iter().map(reply).collect::<Value>())
        .into();
    let conversation = |(_, prompt)| json!({ "user": prompt, "model": model, "answers_as": answering(model), "runs": runs });
    let script =
        json!({ "key": KEY, "models": [model], "conversations": AGENTS.map(conversation) });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

/// The suite: the agents with their program, and the gates that judge them.
pub(super) fn suite(client: &Client) -> String {
    let mut suite =
        "defaults:\n  runs: 2\n  trajectory:\n    mode: exact_unordered\n    calls:\n      \
         - { name: get_order, args: { exact: { order: 7 } } }\n      \
         - { name: get_order, args: { exact: { order: 8 } } }\n      \
         - { name: refund, args: { exact: { order: 7, amount: 18.00 EUR } } }\n  \
         calls: { max: 3 }\n  stability: {}\nagents:\n"
            .to_owned();
    for ((name, prompt), more) in AGENTS.into_iter().zip([None, Some("--stream")]) {
        let interpreter = client.interpreter().display().to_string();
        let program = format!("../{}", client.program);
        let words = [Some(&*interpreter), Some(&program), more].into_iter();
        let command: Value = words.flatten().collect();
        suite += &format!(
            "- name: {name}\n  model: {}\n  prompt: {prompt}\n  command: {command}\n",
            client.model
        );
    }
    suite
}

/// Runs the command in a folder, with a provider or without.
pub(super) fn mcptest(
    folder: &Folder,
    provider: Option<&Provider>,
    arguments: &[&str],
) -> Finished {
    process::run(&mut command(folder, provider, arguments))
}

/// The command in a folder, with a provider or without, before it is run.
pub(super) fn command(folder: &Folder, provider: Option<&Provider>, arguments: &[&str]) -> Command {
    let mut command = process::command(program(), folder.path());
    command.arg("mcptest").args(arguments);
    if let Some(provider) = provider {
        leads_to(&mut command, provider);
    }
    command
}

/// Lets the clients of a program ask a provider.
pub(super) fn leads_to(command: &mut Command, provider: &Provider) {
    let url = provider.url();
    command
        .env("OPENAI_BASE_URL", format!("{url}/v1"))
        .env("OPENAI_API_KEY", KEY)
        .env("ANTHROPIC_BASE_URL", &url)
        .env("ANTHROPIC_API_KEY", KEY)
        .env("GOOGLE_GEMINI_BASE_URL", &url)
        .env("GEMINI_API_KEY", KEY)
        .env("GOOGLE_VERTEX_BASE_URL", &url)
        .env("ANTHROPIC_VERTEX_BASE_URL", format!("{url}/v1"))
        .env("DESK_TOKEN", KEY)
        .env("OLLAMA_HOST", url.trim_start_matches("http://"))
        .env("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", &url)
        .env("AWS_ACCESS_KEY_ID", "AKIDDESK")
        .env("AWS_SECRET_ACCESS_KEY", KEY)
        .env("AWS_REGION", "eu-central-1")
        .env("AWS_DEFAULT_REGION", "eu-central-1");
}

/// The file of a run: one of several by its number.
pub(super) fn recording(agent: &str, model: &str, number: Option<usize>) -> String {
    let name = format!(
        "{}__{}",
        agent.replace(' ', "_"),
        model.replace(['.', ':'], "_")
    );
    let run = number.map_or(String::new(), |number| format!("/run-{number}"));
    format!("suites/cassettes/{name}{run}.json")
}

/// The command, built once.
pub(in super::super) fn program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let built = || workshop::test_program("cargo-mcptest", "command");
    PROGRAM.get_or_init(built).clone()
}
