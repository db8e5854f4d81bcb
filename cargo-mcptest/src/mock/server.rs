//! The tools of a file, as MCP has them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcptest::eval::Effect;
use mcptest_suite::model::compare_numbers;
use mcptest_suite::quoted_list;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};

use super::fault::MockFault;
use super::manifest::{MockManifest, MockTool, Says};
use super::template::{Filling, as_text};
use mcptest_trace::text::counted;

/// A mock server. Its clones are the same server: what one session calls counts in all.
#[derive(Debug, Clone)]
pub(super) struct MockServer {
    manifest: Arc<MockManifest>,
    fault: MockFault,
    calls: Arc<Mutex<Calls>>,
}

/// How often what was called.
#[derive(Debug, Default)]
struct Calls {
    all: u64,
    by_tool: HashMap<String, u64>,
}

impl MockServer {
    pub(super) fn new(manifest: MockManifest, fault: MockFault) -> Self {
        Self {
            manifest: Arc::new(manifest),
            fault,
            calls: Arc::default(),
        }
    }

    /// Whether a cancelled call is answered all the same.
    pub(super) fn ignores_cancellation(&self) -> bool {
        self.fault.ignores_cancellation
    }

    /// What it is, in a line.
    pub(super) fn described(&self) -> String {
        let tools = counted(self.manifest.tools.len(), "tool");
        format!(
            "mock server `{}`: {tools}, fault {}",
            self.manifest.server, self.fault
        )
    }

    /// Counts a call: which one it is of all, and of its tool.
    fn count(&self, tool: &str) -> (u64, u64) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.all += 1;
        let of_tool = calls.by_tool.entry(tool.to_owned()).or_default();
        *of_tool += 1;
        let of_tool = *of_tool;
        (calls.all, of_tool)
    }
}

impl ServerHandler for MockServer {
    fn get_info(&self) -> ServerConfig {
        let info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(
                self.manifest.server.clone(),
                env!("CARGO_PKG_VERSION"),
            ));
        match &self.manifest.instructions {
            Some(instructions) => info.with_instructions(instructions.clone()),
            None => info,
        }
    }

    /// The protocol versions that have sessions: a fault is about a call and its cancellation in one.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(
            &ProtocolVersion::LATEST_WITH_INITIALIZE,
        ))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.manifest.tools.iter();
        Ok(ListToolsResult::with_all_items(
            tools.map(|tool| tool.tool.clone()).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (number, of_tool) = self.count(&request.name);
        match self.fault.strikes(number) {
            None => {}
            Some(Effect::Late(delay)) => tokio::time::sleep(Duration::from_millis(delay)).await,
            // The client may give up; nobody hears what is said then.
            Some(Effect::Timeout) => context.ct.cancelled().await,
        }
        let Some(tool) = self.manifest.tool(&request.name) else {
            let known = self.manifest.tools.iter().map(|tool| &*tool.tool.name);
            let message = format!(
                "no tool `{}`; there are {}",
                request.name,
                quoted_list(known)
            );
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        Ok(answered(tool, arguments, of_tool).into())
    }
}

/// What a tool says to a call.
fn answered(tool: &MockTool, arguments: Map<String, Value>, call: u64) -> CallToolResult {
    let arguments = Value::Object(arguments);
    let wrong: Vec<String> = tool
        .takes
        .iter_errors(&arguments)
        .map(|error| match error.instance_path().as_str() {
            "" => error.to_string(),
            path => format!("{path}: {error}"),
        })
        .collect();
    if !wrong.is_empty() {
        return error(format!("invalid arguments: {}", wrong.join("; ")));
    }
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    let answer = tool
        .answers
        .iter()
        .find(|answer| has(&arguments, &answer.when));
    let Some(answer) = answer else {
        return error(format!(
            "the mock of `{}` has no answer for these arguments",
            tool.tool.name
        ));
    };
    let with = Filling {
        arguments: &arguments,
        call,
    };
    let (Says::Text(said) | Says::Result(said) | Says::Error(said) | Says::Content(said)) =
        &answer.says;
    let said = match said.fill(with) {
        Ok(said) => said,
        Err(path) => {
            return error(format!(
                "the mock of `{}` answers with the argument `{path}`, which this call does not have",
                tool.tool.name
            ));
        }
    };
    match &answer.says {
        Says::Text(_) => CallToolResult::success(vec![ContentBlock::text(as_text(&said))]),
        Says::Error(_) => error(as_text(&said)),
        Says::Result(_) if said.is_object() => CallToolResult::structured(said),
        Says::Result(_) => CallToolResult::success(vec![ContentBlock::text(said.to_string())]),
        Says::Content(_) => match serde_json::from_value(said) {
            Ok(blocks) => CallToolResult::success(blocks),
            Err(wrong) => error(format!(
                "the mock of `{}` made no blocks of content of these arguments: {wrong}",
                tool.tool.name
            )),
        },
    }
}

fn error(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// Whether arguments have at least what is wanted; inside mappings too.
fn has(arguments: &Map<String, Value>, wanted: &Map<String, Value>) -> bool {
    wanted
        .iter()
        .all(|(key, wanted)| match (arguments.get(key), wanted) {
            (Some(Value::Object(found)), Value::Object(wanted)) => has(found, wanted),
            (Some(Value::Number(found)), Value::Number(wanted)) => {
                compare_numbers(found, wanted).is_eq()
            }
            (found, wanted) => found == Some(wanted),
        })
}
