//! The desk over streamable HTTP.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use reqwest::StatusCode;
use rmcp::{
    ServiceExt,
    transport::{
        StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::json;

use crate::{Client, DESK, ok};

/// A desk process on a free port, killed on drop.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(args: &[&str], env: &[(&str, &str)]) -> Self {
        // The workspace's HTTP client leaves the choice of it to the program; there may be one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut process = Command::new(DESK)
            .args(["--http", "127.0.0.1:0"])
            .args(args)
            .envs(env.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line.strip_prefix("listening on ").unwrap().trim_end();
        assert!(url.starts_with("http://127.0.0.1:") && url.ends_with("/mcp"));
        Self {
            process,
            url: url.to_owned(),
        }
    }

    async fn connect(&self, bearer: Option<&str>) -> Result<Client, String> {
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str());
        if let Some(bearer) = bearer {
            config = config.auth_header(bearer);
        }
        let transport = StreamableHttpClientTransport::from_config(config);
        ().serve(transport).await.map_err(|error| error.to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[tokio::test]
async fn every_session_has_its_own_state() {
    let server = Server::start(&[], &[]);
    let first = server.connect(None).await.unwrap();
    let second = server.connect(None).await.unwrap();
    assert_eq!(first.list_all_tools().await.unwrap().len(), 6);

    let id = json!({ "order_id": "A-1005" });
    ok(&first, "cancel_order", id.clone()).await;
    let seen_by_first = ok(&first, "find_order", id.clone()).await;
    let seen_by_second = ok(&second, "find_order", id.clone()).await;
    assert_eq!(seen_by_first["status"], "cancelled");
    assert_eq!(seen_by_second["status"], "paid");

    let note = json!({ "order_id": "A-1005", "text": "gift" });
    for client in [&first, &second] {
        assert_eq!(ok(client, "add_note", note.clone()).await["note_id"], "N-1");
    }
}

#[tokio::test]
async fn the_bearer_is_checked() {
    let server = Server::start(&["--bearer-env", "DESK_TOKEN"], &[("DESK_TOKEN", "s3cret")]);
    let client = server.connect(Some("s3cret")).await.unwrap();
    let id = json!({ "order_id": "A-1001" });
    assert_eq!(ok(&client, "find_order", id).await["status"], "paid");

    for bearer in [None, Some("guess")] {
        let error = server.connect(bearer).await.unwrap_err();
        assert!(error.contains("Auth") || error.contains("401"), "{error}");
    }
    let http = reqwest::Client::new();
    for value in ["", "s3cret", "Bearer s3cret2", "Basic s3cret"] {
        let request = http.post(&server.url).header("authorization", value);
        let status = request.send().await.unwrap().status();
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{value:?}");
    }
}

#[tokio::test]
async fn only_mcp_is_served() {
    let server = Server::start(&[], &[]);
    let elsewhere = server.url.replace("/mcp", "/");
    let response = reqwest::get(elsewhere).await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
}
