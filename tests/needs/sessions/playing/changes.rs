//! Each client's code is changed and played: what it does differently is red, and what means nothing is not. The
//! programs read the changes from `AGENT_CHANGE`, so that the code that runs is the same but for one of them.

use super::super::client::Language;
use super::{client, played, recorded};

/// The changes that stay green. A fourth, other names inside of the code, is made in the files.
///
/// "calls in another order": a program with a loop of its own makes the second call first, and tells its result first.
/// Where a library makes the calls, the first one ends after the second.
const GREEN: &str = "another order of keys, a log line, calls in another order";

/// These programs hold the talk themselves, or a chat does that takes another turn: they ask once more at the end. The
/// others leave the loop to their library, and run the agent twice.
const ASK_AT_THE_END: [&str; 9] = [
    "bedrock_anthropic.py",
    "bedrock_boto3.py",
    "openai_chat.py",
    "openai_responses.py",
    "anthropic_messages.py",
    "google_genai.py",
    "vertex_gemini.py",
    "vertex_claude.py",
    "ollama_chat.py",
];

fn red(program: &str) -> [(&'static str, &'static str); 6] {
    let too_many = if ASK_AT_THE_END.contains(&program) {
        "model call 4 of 3: the recording ends here after 3 model calls"
    } else {
        "model call 1 of 3: the code sends this request again, although the request was answered"
    };
    [
        (
            "another system prompt",
            "model call 1 of 3: the system prompt differs",
        ),
        (
            "a tool removed",
            "model call 1 of 3: the tool `refund` is no longer offered",
        ),
        (
            "an argument changed",
            "model call 2 of 3: the result of `get_order` differs (`tool_results[0]`)",
        ),
        (
            "an error swallowed",
            "model call 2 of 3: the result of `get_order` differs (`tool_results[1]`)",
        ),
        ("a call too many", too_many),
        (
            "a call too few",
            "model call 3 of 3: the code never asks for the recorded answer",
        ),
    ]
}

fn is_played(program: &str) {
    let client = client(program);
    let (folder, provider) = recorded(client);
    drop(provider);
    for (change, told) in red(program) {
        let red = played(&folder, change, "desk::desk::playback").exits(101);
        let (_, text) = red.only_failure();
        // With the path of the value: so it is the first difference, which is told in full.
        let first = format!("\n  in every run: {told}\n");
        assert!(text.contains(&first), "{program}, {change}:\n{red}");
    }
    // Streams are read by other code of a library.
    for (change, told) in &red(program)[1..3] {
        let red = played(&folder, change, "desk::streaming_desk::playback").exits(101);
        let first = format!("\n  in every run: {told}\n");
        assert!(
            red.only_failure().1.contains(&first),
            "{program}, {change}:\n{red}"
        );
    }
    let file = match client.language {
        Language::Python => "orders.py",
        Language::JavaScript => "orders.mjs",
    };
    let text = std::fs::read_to_string(folder.at(file)).unwrap();
    let renamed = text.replace("ORDERS", "BOOK");
    assert_ne!(renamed, text);
    folder.write(file, renamed);
    let green = played(&folder, GREEN, "::playback").exits(0);
    assert!(green.stdout.contains("2 passed; 0 failed"), "{green}");
}

macro_rules! clients {
    ($($test:ident: $program:literal;)*) => {$(
        pub(crate) fn $test() {
            is_played($program);
        }
    )*};
}

clients! {
    openai_chat_in_python: "openai_chat.py";
    openai_responses_in_python: "openai_responses.py";
    anthropic_in_python: "anthropic_messages.py";
    google_genai_in_python: "google_genai.py";
    gemini_on_vertex_in_python: "vertex_gemini.py";
    claude_on_vertex_in_python: "vertex_claude.py";
    ollama_in_python: "ollama_chat.py";
    openai_agents_in_python: "openai_agents.py";
    pydantic_ai_in_python: "pydantic_ai_desk.py";
    langgraph_in_python: "langgraph_desk.py";
    boto3_in_python: "bedrock_boto3.py";
    anthropic_on_bedrock_in_python: "bedrock_anthropic.py";
    strands_in_python: "bedrock_strands.py";
    langchain_on_bedrock_in_python: "bedrock_langchain.py";
    openai_in_javascript: "openai_chat.mjs";
    anthropic_in_javascript: "anthropic_messages.mjs";
    ai_sdk_in_javascript: "ai_sdk.mjs";
}
