//! A client that is a library, against servers behind the address.

use e2e_support::live::desk::{HttpServer, order_desk};
use mcptest_session::mcp::{McpServer, McpTransport};
use mcptest_session::session::{Session, SessionOptions};
use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};

async fn client(url: String) -> RunningService<RoleClient, ()> {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    let transport = StreamableHttpClientTransport::with_client(http, config);
    ().serve(transport).await.unwrap()
}

async fn call(client: &RunningService<RoleClient, ()>, tool: &'static str, args: Value) -> Value {
    let params = CallToolRequestParams::new(tool).with_arguments(args.as_object().unwrap().clone());
    serde_json::to_value(client.call_tool(params).await.unwrap()).unwrap()
}

#[tokio::test]
async fn a_library_reaches_a_started_and_a_running_server() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let far = HttpServer::desk(Some("the-token-of-far"));
    let mut options = SessionOptions::new("Desk agent", super::PROMPT);
    let started = McpTransport::Command {
        command: vec![order_desk().to_string_lossy().into_owned()],
        folder: std::env::current_dir().unwrap(),
        environment: std::env::vars_os().collect(),
    };
    let reached = McpTransport::Url {
        url: far.url.clone(),
        bearer: Some("the-token-of-far".to_owned()),
    };
    options.mcp_servers = vec![
        McpServer::new("the desk", started),
        McpServer::new("far", reached),
    ];
    let session = Session::record(options).await.unwrap();
    for name in ["the desk", "far"] {
        let url = session.mcp_url(name).unwrap();
        let one = client(url.clone()).await;
        assert_eq!(one.list_all_tools().await.unwrap().len(), 6, "{name}");
        let order = json!({ "order_id": "A-1001" });
        let cancelled = call(&one, "cancel_order", order.clone()).await;
        assert_eq!(
            cancelled["structuredContent"]["status"], "cancelled",
            "{name}"
        );
        // Another client, while the first one is there: a program is one for both, a server has its own sessions.
        let two = client(url).await;
        let (again, missing) = tokio::join!(
            call(&two, "cancel_order", order),
            call(&one, "find_order", json!({ "order_id": "A-9" }))
        );
        assert_eq!(again["isError"] == true, name == "the desk", "{again}");
        assert_eq!(missing["isError"], true);
        one.cancel().await.unwrap();
        two.cancel().await.unwrap();
    }
    assert_eq!(session.server_failure(), None);
}
