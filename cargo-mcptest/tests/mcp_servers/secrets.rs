//! Secrets that are planted wherever something goes by: none of them is on disk afterwards, in any spelling.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use e2e_support::folder::Folder;
use e2e_support::live::desk::HttpServer;
use e2e_support::process::run;
use serde_json::json;

use super::{asks, mcptest, provider, says, suite};

/// Bytes as base64 has them, for each of the three places where they may begin.
fn base64(bytes: &[u8]) -> Vec<String> {
    let encoded = |skipped: usize| {
        let text = STANDARD_NO_PAD.encode([&vec![0; skipped], bytes].concat());
        // What also holds bits of neighbours is left out.
        let from = [0, 2, 3][skipped];
        text[from..(skipped + bytes.len()) * 8 / 6].to_owned()
    };
    (0..3).map(encoded).collect()
}

/// A text as a part of an address.
fn percent(text: &str) -> String {
    let part = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(part).collect()
}

/// Every file below a folder.
fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            files(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

#[test]
fn no_planted_secret_is_on_disk() {
    let secret = |number: usize| match number {
        3 => "plant-03/Qz7+xW4=".to_owned(),
        number => format!("plant-{number:02}-Qz7xW4"),
    };
    // 0 to 4 are variables of this process and of a server, told by their names; 5 is a token for a server; 6 and 7 have
    // the shapes of keys; 8 to 10 stand under keys that name secrets; 11 is what a pattern of the suite finds; 12 is a
    // variable that the suite names.
    let (key, bearer) = (
        format!("sk-{}aaaaaaaaaaaaaaaaaaaa", secret(6)),
        format!("ghp_{}", "aB3".repeat(12)),
    );
    let far = HttpServer::desk(Some(&secret(5)));
    let top = "redact: ['plant-11-\\w+']\nredact_env: [SHOP_MARK]\n";
    let with = suite(&far, top, "");
    let with = with
        .replace(
            "] }\n  far:",
            &format!(
                "], env: {{ DESK_TOKEN: {}, DESK_PASSWORD: {} }} }}\n  far:",
                secret(0),
                secret(1)
            ),
        )
        .replace(
            &format!("\"{}\" }}", far.url),
            &format!(
                "\"{}\", auth: {{ bearer_token_env: FAR_LOGIN }} }}",
                far.url
            ),
        );
    let folder = Folder::new().with_file("suites/desk.yml", with);
    let mut notes = Vec::new();
    let mut planted: Vec<String> = (0..=5).chain(8..=12).map(secret).collect();
    planted.extend([key.clone(), bearer.clone(), super::KEY.to_owned()]);
    // What the agent logs in with, in headers and in an address.
    let logins = [
        "mcp-login-11",
        "mcp-token-12",
        "query-13",
        "header-14",
        "cookie-15",
        "signature-16",
    ];
    planted.extend(logins.map(|login| format!("planted-{login}")));
    assert_eq!(planted.len(), 20);
    // Said by the model, given to a tool and given back by it: as it is, in an address, as base64, escaped.
    for one in &planted {
        notes.push(asks(
            "desk__add_note",
            &json!({ "order_id": "A-1001", "text": format!("as it is: {one}") }),
        ));
    }
    let all = planted.join(" ");
    // Whose value is known is found however it is written; a shape or a pattern is one of the text as it is.
    let known: Vec<String> = (0..=5)
        .chain([12])
        .map(secret)
        .chain([super::KEY.to_owned()])
        .collect();
    let encoded: Vec<String> = known
        .iter()
        .map(|one| base64(one.as_bytes())[0].clone())
        .collect();
    notes.push(asks("desk__add_note", &json!({ "order_id": "A-1001", "text": format!("https://u:{}@x.example/?key={}", secret(2), percent(&secret(3))) })));
    notes.push(asks(
        "desk__add_note",
        &json!({ "order_id": "A-1001", "text": format!("encoded: {}", encoded.join(" ")) }),
    ));
    notes.push(asks("far__find_order", &json!({ "order_id": all })));
    notes.push(asks("desk__find_order", &json!({ "order_id": "A-1001", "password": secret(8), "api_key": secret(9), "authorization": format!("Bearer {}", secret(10)) })));
    notes.push(says(&format!("I used {all} and {}", encoded.join(" "))));
    let model = provider(&[notes.into()], &[]);
    let mut record = mcptest(&folder, Some(&model), &["record"]);
    record
        .env("SHOP_TOKEN", secret(2))
        .env("SHOP_SECRET", secret(3))
        .env("SHOP_API_KEY", secret(4))
        .env("SHOP_MARK", secret(12))
        .env("FAR_LOGIN", secret(5));
    run(&mut record).exits(0);
    let cassette = super::recorded(&folder);
    assert!(
        cassette["trace"]["tool_calls"].as_array().unwrap().len() >= 15,
        "{cassette:#}"
    );
    let keyed = [secret(8), secret(9), secret(10)];
    let calls = cassette["trace"]["tool_calls"].as_array().unwrap();
    let by_key = calls
        .iter()
        .find(|call| call["args"].get("password").is_some());
    let by_key = by_key.unwrap().to_string();
    assert!(!keyed.iter().any(|one| by_key.contains(one)), "{by_key}");
    // A value under a key that names secrets is told by its key, and by nothing else.
    planted.retain(|one| !keyed.contains(one));
    assert_gone(&folder.at("suites/cassettes"), &planted);
}

/// No file below a folder holds a secret, however it is spelt.
fn assert_gone(folder: &Path, planted: &[String]) {
    let mut found = Vec::new();
    files(folder, &mut found);
    assert!(!found.is_empty());
    for file in found {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        for one in planted {
            let spellings = [vec![one.clone(), percent(one)], base64(one.as_bytes())].concat();
            for spelling in spellings {
                let file = file.display();
                assert!(!text.contains(&spelling), "{one} as {spelling} in {file}");
            }
        }
    }
}
