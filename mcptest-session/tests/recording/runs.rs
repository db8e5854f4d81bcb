//! What an agent does becomes a run, in every format, whole and streamed.

use mcptest_trace::trace::{Origin, parse_run};
use serde_json::{Value, json};

use crate::agent::{ALL, Agent, Format};
use crate::{PROMPT, block_on, provider, script, session};

/// Runs an agent against a script; the cassette.
fn recorded(script: &Value, format: Format, streamed: bool, encoding: &'static str) -> Value {
    let provider = provider(script);
    block_on(async {
        let session = session(&provider).await;
        let agent = Agent {
            session: &session,
            format,
            streamed,
            encoding,
            retries: 3,
        };
        agent.run().await;
        session.finish().await.unwrap().cassette
    })
}

fn check(cassette: &Value, format: Format, context: &str) {
    let trace = &cassette["trace"];
    let calls = trace["tool_calls"].as_array().unwrap();
    let made: Vec<_> = calls
        .iter()
        .map(|call| (&call["name"], &call["args"], &call["step"]))
        .collect();
    let (cancel, seven, eight) = (
        json!("cancel"),
        json!({ "order": 7 }),
        json!({ "order": 8 }),
    );
    let first = json!(0);
    assert_eq!(
        made,
        [(&cancel, &seven, &first), (&cancel, &eight, &first)],
        "{context}"
    );
    let results = trace["tool_results"].as_array().unwrap();
    let flags: Vec<Option<bool>> = results
        .iter()
        .map(|it| it.get("is_error")?.as_bool())
        .collect();
    // Only Anthropic's format says which result is an error; of the others nothing is known.
    let known = format == Format::Messages;
    assert_eq!(
        flags,
        [known.then_some(false), known.then_some(true)],
        "{context}"
    );
    assert_eq!(
        cassette["session"].get("unknown").is_none(),
        known,
        "{context}"
    );
    let of_results = trace["tool_results"].to_string();
    assert!(
        of_results.contains("cancelled") && of_results.contains("order 8 has shipped"),
        "{context}"
    );
    assert_eq!(
        trace["final_response"], "7 is cancelled; 8 had shipped.",
        "{context}"
    );
    let conversation = &trace["conversation"];
    assert_eq!(conversation["stop_reason"], "completed", "{context}");
    let tokens: Vec<_> = conversation["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            (
                step["prompt"].as_u64().unwrap(),
                step["completion"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(tokens, [(210, 40), (290, 12)], "{context}");
    assert_eq!(
        conversation["turns"][1]["content"], "One moment.",
        "{context}"
    );
    assert_eq!(
        conversation["turns"].as_array().unwrap().len(),
        5,
        "{context}"
    );
    assert_eq!(
        (
            &cassette["system_prompt"],
            &cassette["user_prompt"],
            &cassette["model"]
        ),
        (&json!("Help."), &json!(PROMPT), &json!("m")),
        "{context}"
    );
    assert_eq!(cassette["tools"][0]["description"], "Cancels.", "{context}");
    assert_eq!(
        cassette["tools"][0]["input_schema"]["properties"]["order"]["type"], "integer",
        "{context}"
    );
    parse_run(cassette.to_string().as_bytes(), &Origin::file("run.json")).unwrap();
}

#[test]
fn every_format_is_recorded_whole_and_streamed() {
    for format in ALL {
        for streamed in [false, true] {
            let cassette = recorded(&script(&json!({})), format, streamed, "identity");
            check(
                &cassette,
                format,
                &format!("{format:?}, streamed {streamed}"),
            );
        }
    }
}

#[test]
fn compressed_answers_are_recorded() {
    for format in ALL {
        for streamed in [false, true] {
            let cassette = recorded(&script(&json!({ "gzip": true })), format, streamed, "gzip");
            check(
                &cassette,
                format,
                &format!("{format:?}, streamed {streamed}"),
            );
        }
    }
}

#[test]
fn answers_that_the_client_asked_for_again_are_counted() {
    let mut script = script(&json!({}));
    let replies = &mut script["conversations"][0]["runs"][0];
    replies[0]["before"] = json!([{ "status": 429, "retry_after": 0 }, { "cut": true }]);
    replies[1]["before"] = json!([{ "status": 503 }]);
    for format in ALL {
        for streamed in [false, true] {
            let cassette = recorded(&script, format, streamed, "identity");
            check(
                &cassette,
                format,
                &format!("{format:?}, streamed {streamed}"),
            );
            assert_eq!(
                cassette["session"]["retries"], 3,
                "{format:?}, streamed {streamed}"
            );
        }
    }
}

#[test]
fn a_stream_that_breaks_off_for_good_is_kept_and_the_run_is_not_completed() {
    let mut script = script(&json!({}));
    script["conversations"][0]["runs"][0][1]["before"] = json!([{ "cut": true }]);
    let provider = provider(&script);
    for format in ALL {
        let cassette = block_on(async {
            let session = session(&provider).await;
            let agent = Agent {
                session: &session,
                format,
                streamed: true,
                encoding: "identity",
                retries: 0,
            };
            agent.run().await;
            session.finish().await.unwrap().cassette
        });
        let trace = &cassette["trace"];
        assert_eq!(trace["conversation"]["stop_reason"], "error", "{format:?}");
        assert_eq!(
            trace["tool_results"].as_array().unwrap().len(),
            2,
            "{format:?}"
        );
        if let Some(said) = trace["final_response"].as_str() {
            assert!("7 is cancelled; 8 had shipped.".starts_with(said), "{said}");
        }
    }
}

#[cfg(unix)]
#[test]
fn an_agent_that_asks_nothing_is_told_what_to_set() {
    let provider = provider(&script(&json!({})));
    let error = block_on(async {
        let session = session(&provider).await;
        let url = session.openai_url();
        // The port alone is not the address.
        let origin = url.split('/').take(3).collect::<Vec<_>>().join("/");
        reqwest::get(format!("{origin}/v1/models")).await.unwrap();
        let command = session.command(
            ["sh", "-c", "echo no network here >&2; echo none at all >&2"],
            std::env::temp_dir(),
        );
        let ended = mcptest_session::driver::run(&command).await.unwrap();
        session.finish_command(&ended).await.unwrap_err()
    });
    assert_eq!(
        error.to_string(),
        "the agent called no model at the address of the session; let the agent's client take the address from \
         OPENAI_BASE_URL, ANTHROPIC_BASE_URL, ANTHROPIC_VERTEX_BASE_URL, GOOGLE_GEMINI_BASE_URL, GOOGLE_VERTEX_BASE_URL, \
         OLLAMA_HOST or AWS_ENDPOINT_URL_BEDROCK_RUNTIME, which the session sets; 1 request used the port of the session, but another path: the client must use the whole address; the program ended with exit status: 0; on \
         standard error: no network here | none at all"
    );
}

/// The agent of [`a_command_is_recorded_without_a_line_of_glue`]: it knows nothing of sessions.
#[test]
#[ignore = "is the agent that another test starts"]
fn an_agent_that_is_a_command() {
    let prompt = std::io::read_to_string(std::io::stdin()).unwrap();
    assert_eq!(std::env::var("MCPTEST_PROMPT").unwrap(), prompt);
    assert_eq!(std::env::var("MCPTEST_MODE").unwrap(), "record");
    let url = format!(
        "{}/chat/completions",
        std::env::var("OPENAI_BASE_URL").unwrap()
    );
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": prompt }] });
    let request = ureq::post(url).header("authorization", "Bearer key-1234567");
    let answer = request
        .content_type("application/json")
        .send(body.to_string());
    assert_eq!(answer.unwrap().status().as_u16(), 200);
}

#[test]
fn a_command_is_recorded_without_a_line_of_glue() {
    let provider = provider(&script(&json!({})));
    let folder = tempfile::tempdir().unwrap();
    let agent = std::env::current_exe().unwrap().display().to_string();
    let agent = [
        &agent,
        "runs::an_agent_that_is_a_command",
        "--exact",
        "--ignored",
    ];
    let cassette = block_on(async {
        let mut options = crate::options(&provider);
        options.closing_is_stdout = true;
        let session = mcptest_session::session::Session::record(options)
            .await
            .unwrap();
        let command = session.command(agent, folder.path());
        let ended = mcptest_session::driver::run(&command).await.unwrap();
        assert!(ended.is_success(), "{ended}: {}", ended.stdout);
        let run = session.finish_command(&ended).await.unwrap();
        let file = run.add_to(folder.path().join("Order_desk__m")).unwrap();
        assert!(file.ends_with("run-1.json"));
        let text = std::fs::read_to_string(file).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    });
    assert_eq!(cassette["trace"]["tool_calls"].as_array().unwrap().len(), 2);
    // What the program printed is what the user read.
    let closing = cassette["trace"]["final_response"].as_str().unwrap();
    assert!(closing.starts_with("running 1 test"), "{closing}");
    assert!(
        cassette["trace"]["conversation"]
            .get("stop_reason")
            .is_none()
    );
    assert_eq!(
        cassette["session"]["notes"],
        json!(["ends in an unanswered call"])
    );
}
