//! Agents over real client libraries, recorded by an address. The programs lie in `agents/`, as a user would write
//! them; the model is a script on loopback.
//!
//! Each client makes two runs with whole answers and two with streamed ones. Both have two calls at a time, a tool
//! that fails, and a request that is refused with status 429 and asked again. The recordings are compared with the
//! script field by field, and judged.

mod client;
mod compare;
mod desk;
mod packages;
mod pages;
mod product;

pub(super) use pages::{the_page_on_python, the_page_on_typescript};
pub(super) use product::a_coding_agent_from_the_registry;

use client::{Client, Language};
use desk::mcptest;

/// Records both agents of a client, compares and judges them, and sees the suite red after one expectation changed.
fn is_recorded_and_judged(client: &Client) {
    let suite = desk::suite(client);
    let folder = client.folder().with("suites/desk.yml", &suite);
    let provider = desk::provider(client.model);
    let said = mcptest(&folder, Some(&provider), &["record"]).exits(0);
    assert!(said.stdout.contains("8 passed; 0 failed"), "{said}");
    let asked = provider.requests();
    // In each of four runs three answers, and a request that was refused.
    assert_eq!(asked.len(), 16, "{said}");
    compare::with_script(client, &folder, &asked);
    // From now on nothing is asked.
    drop(provider);
    let green = mcptest(&folder, None, &["test"]).exits(0);
    assert!(green.stdout.contains("8 passed; 0 failed"), "{green}");
    folder.write(
        "suites/desk.yml",
        suite.replace("exact: { order: 8 }", "exact: { order: 9 }"),
    );
    let red = mcptest(&folder, None, &["test"]).exits(101);
    assert!(red.stdout.contains("6 passed; 2 failed"), "{red}");
    for (case, text) in red.failures() {
        assert!(case.ends_with("::trajectory"), "{case}");
        assert!(text.contains("does not hold in 2 of 2 runs"), "{text}");
    }
}

pub(super) fn openai_chat_in_python() {
    is_recorded_and_judged(&Client {
        language: Language::Python,
        program: "openai_chat.py",
        model: "gpt-5",
        format: "openai_chat",
        failure: "Error: there is no order 8",
    });
}

pub(super) fn openai_responses_in_python() {
    is_recorded_and_judged(&Client {
        language: Language::Python,
        program: "openai_responses.py",
        model: "gpt-5",
        format: "openai_responses",
        failure: "Error: there is no order 8",
    });
}

pub(super) fn anthropic_in_python() {
    is_recorded_and_judged(&Client {
        language: Language::Python,
        program: "anthropic_messages.py",
        model: "claude-sonnet-4-5",
        format: "anthropic_messages",
        failure: "there is no order 8",
    });
}

pub(super) fn google_genai_in_python() {
    is_recorded_and_judged(&Client {
        language: Language::Python,
        program: "google_genai.py",
        model: "gemini-2.5-pro",
        format: "gemini",
        failure: "Failed to invoke function get_order with converted arguments {'order': 8} from model returned function \
            call argument {'order': 8} because of error there is no order 8",
    });
}

pub(super) fn openai_agents_in_python() {
    is_recorded_and_judged(&Client {
        language: Language::Python,
        program: "openai_agents.py",
        model: "gpt-5",
        format: "openai_responses",
        // The library keeps to itself what the error was.
        failure: "An error occurred while running the tool. Please try again.",
    });
}

pub(super) fn pydantic_ai_in_python() {
    is_recorded_and_judged(&Client {
        language: Language::Python,
        program: "pydantic_ai_desk.py",
        model: "gpt-5",
        format: "openai_chat",
        failure: "{\"error\":\"there is no order 8\"}",
    });
}

pub(super) fn langgraph_in_python() {
    is_recorded_and_judged(&Client {
        language: Language::Python,
        program: "langgraph_desk.py",
        model: "gpt-5",
        format: "openai_chat",
        failure: "Error: ValueError('there is no order 8')\n Please fix your mistakes.",
    });
}

pub(super) fn openai_in_javascript() {
    is_recorded_and_judged(&Client {
        language: Language::JavaScript,
        program: "openai_chat.mjs",
        model: "gpt-5",
        format: "openai_chat",
        failure: "Error: there is no order 8",
    });
}

pub(super) fn anthropic_in_javascript() {
    is_recorded_and_judged(&Client {
        language: Language::JavaScript,
        program: "anthropic_messages.mjs",
        model: "claude-sonnet-4-5",
        format: "anthropic_messages",
        failure: "Error: there is no order 8",
    });
}

pub(super) fn ai_sdk_in_javascript() {
    is_recorded_and_judged(&Client {
        language: Language::JavaScript,
        program: "ai_sdk.mjs",
        model: "gpt-5",
        format: "openai_responses",
        failure: "there is no order 8",
    });
}
