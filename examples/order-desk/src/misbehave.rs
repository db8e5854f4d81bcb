//! Ways for the server to go wrong over stdio, for tests of clients.

use std::{
    borrow::Cow,
    io::{self, BufRead, Write},
    process::ExitCode,
    str::FromStr,
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::stdio,
};
use serde_json::{Value, json};

use crate::server::DeskServer;

const HUGE_BYTES: usize = 20_000_000;

/// One way to go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misbehaviour {
    /// Leaves with code 3 and a line on stderr before answering anything.
    Exit,
    /// Leaves with code 3 at the first `tools/call`.
    ExitOnCall,
    /// Reads all requests and answers none.
    Hang,
    /// Never answers a `tools/call`.
    HangOnCall,
    /// Answers every line with one that is not JSON.
    Garbage,
    /// Gives every tool result a text of 20 MB.
    Huge,
    /// Lists `find_order` with an input schema that is not one.
    BadSchema,
    /// Lists `find_order` twice.
    DuplicateTool,
    /// Lists one tool per page.
    Paged,
    /// Says a secret in every tool result.
    SecretEcho,
}

impl Misbehaviour {
    /// All of them, by the names of the command line.
    pub const ALL: [(&'static str, Self); 10] = [
        ("exit", Self::Exit),
        ("exit-on-call", Self::ExitOnCall),
        ("hang", Self::Hang),
        ("hang-on-call", Self::HangOnCall),
        ("garbage", Self::Garbage),
        ("huge", Self::Huge),
        ("bad-schema", Self::BadSchema),
        ("duplicate-tool", Self::DuplicateTool),
        ("paged", Self::Paged),
        ("secret-echo", Self::SecretEcho),
    ];
}

impl FromStr for Misbehaviour {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|&(known, _)| known == name)
            .map(|(_, how)| how)
            .ok_or_else(|| {
                let known = Self::ALL.map(|(known, _)| known).join(", ");
                format!("no misbehaviour {name:?}; there are {known}")
            })
    }
}

/// Serves a desk over stdio that goes wrong in the given way, until stdin ends.
/// `secret` is what [`Misbehaviour::SecretEcho`] says.
pub async fn misbehave(how: Misbehaviour, secret: String) -> io::Result<ExitCode> {
    match how {
        Misbehaviour::Exit => {
            eprintln!("order-desk: cannot open the ledger");
            return Ok(ExitCode::from(3));
        }
        Misbehaviour::Hang => {
            io::copy(&mut io::stdin().lock(), &mut io::sink())?;
        }
        Misbehaviour::Garbage => {
            let mut stdout = io::stdout().lock();
            for line in io::stdin().lock().lines() {
                writeln!(stdout, "<<< {} bytes, no idea what they mean", line?.len())?;
                stdout.flush()?;
            }
        }
        _ => {
            let server = Misbehaving {
                server: DeskServer::default(),
                how,
                secret,
            };
            let running = server.serve(stdio()).await.map_err(io::Error::other)?;
            running.waiting().await.map_err(io::Error::other)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

struct Misbehaving {
    server: DeskServer,
    how: Misbehaviour,
    secret: String,
}

impl ServerHandler for Misbehaving {
    fn get_info(&self) -> ServerConfig {
        self.server.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.server.supported_protocol_versions()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.as_ref().and_then(|params| params.cursor.clone());
        let mut listed = self.server.list_tools(request, context).await?;
        match self.how {
            Misbehaviour::BadSchema => {
                for tool in listed.tools.iter_mut().filter(|tool| is_find_order(tool)) {
                    let schema = json!({ "type": "objekt", "properties": 7 });
                    tool.input_schema = schema.as_object().cloned().unwrap_or_default().into();
                }
            }
            Misbehaviour::DuplicateTool => {
                let again = listed.tools.iter().find(|tool| is_find_order(tool));
                listed.tools.extend(again.cloned());
            }
            Misbehaviour::Paged => return page(listed, cursor.as_deref()),
            _ => {}
        }
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.how {
            Misbehaviour::ExitOnCall => std::process::exit(3),
            Misbehaviour::HangOnCall => std::future::pending::<()>().await,
            _ => {}
        }
        let mut response = self.server.call_tool(request, context).await?;
        if let CallToolResponse::Complete(result) = &mut response {
            match self.how {
                Misbehaviour::Huge => {
                    result.content = vec![ContentBlock::text("x".repeat(HUGE_BYTES))];
                    result.structured_content = None;
                }
                Misbehaviour::SecretEcho => say_secret(result, &self.secret),
                _ => {}
            }
        }
        Ok(response)
    }
}

fn is_find_order(tool: &Tool) -> bool {
    tool.name == "find_order"
}

/// The page of one tool that the cursor, an index, points at.
fn page(listed: ListToolsResult, cursor: Option<&str>) -> Result<ListToolsResult, ErrorData> {
    let index: usize = match cursor {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| unknown_cursor(cursor))?,
    };
    let count = listed.tools.len();
    let tool = listed.tools.into_iter().nth(index);
    let tool = tool.ok_or_else(|| unknown_cursor(&index.to_string()))?;
    let mut page = ListToolsResult::with_all_items(vec![tool]);
    page.next_cursor = (index + 1 < count).then(|| (index + 1).to_string());
    Ok(page)
}

fn unknown_cursor(cursor: &str) -> ErrorData {
    ErrorData::invalid_params(format!("unknown cursor {cursor}"), None)
}

/// Puts the secret into the text and the structured content, or into the error.
fn say_secret(result: &mut CallToolResult, secret: &str) {
    if let Some(Value::Object(fields)) = &mut result.structured_content {
        fields.insert("ledger_key".to_owned(), secret.into());
        let text = Value::Object(fields.clone()).to_string();
        result.content = vec![ContentBlock::text(text)];
    } else {
        for block in &mut result.content {
            if let ContentBlock::Text(text) = block {
                text.text.push_str(&format!(" (ledger key {secret})"));
            }
        }
    }
}
