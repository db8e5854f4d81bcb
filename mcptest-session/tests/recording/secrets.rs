//! No secret that is planted anywhere gets into a file.

use serde_json::json;

use crate::agent::{ALL, Agent};
use crate::{block_on, options, provider};
use mcptest_session::session::Session;

#[test]
fn planted_secrets_are_nowhere_on_disk() {
    let secret = "planted-0123456789";
    let own = "own-secret-77";
    // The model says them, and gives them to a tool.
    let calls = json!([{ "name": "cancel", "args": { "order": 7, "note": format!("key sk-{secret}"), "own": own } }]);
    let script = json!({ "conversations": [{ "user": crate::PROMPT, "runs": [[
        { "text": format!("I use sk-{secret} and {own}."), "calls": calls },
        { "text": format!("Done with {own}.") },
    ]] }] });
    for format in ALL {
        for streamed in [false, true] {
            let provider = provider(&script);
            let folder = tempfile::tempdir().unwrap();
            block_on(async {
                let mut options = options(&provider);
                options.secrets = vec![("OWN".to_owned(), own.to_owned())];
                let session = Session::record(options).await.unwrap();
                let url = format!("{}/v1beta/models?key=sk-{secret}", session.gemini_url());
                reqwest::get(url).await.unwrap();
                let agent = Agent {
                    session: &session,
                    format,
                    streamed,
                    encoding: "identity",
                    retries: 0,
                };
                agent.run().await;
                let run = session.finish().await.unwrap();
                run.add_to(folder.path().join("runs")).unwrap();
            });
            let text = std::fs::read_to_string(folder.path().join("runs/run-1.json")).unwrap();
            for planted in [secret, own] {
                assert!(!text.contains(planted), "{format:?} {streamed}: {text}");
            }
            assert!(text.contains("[redacted OWN]"), "{text}");
            assert!(text.contains("\"order\": 7"));
        }
    }
}
