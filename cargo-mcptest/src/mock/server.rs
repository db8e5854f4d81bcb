//! The tools of a file, as MCP has them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcptest::eval::Effect;
use mcptest_session::play::ServerPlayer;
use mcptest_suite::model::compare_numbers;
use mcptest_suite::{escape_line, quoted_list};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};

use super::fault::MockFault;
use super::manifest::{AnswerContent, MockManifest, MockTool};
use super::template::{Filling, value_text};
use mcptest_trace::text::pluralize;

/// A mock server. Its clones are the same server: what one session calls counts in all.
#[derive(Debug, Clone)]
pub(super) struct MockServer {
    tools: Arc<MockTools>,
    fault: MockFault,
    calls: Arc<Mutex<Calls>>,
}

/// Where the tools and their answers come from.
#[derive(Debug)]
pub(super) enum MockTools {
    /// A file of tools.
    Manifest(MockManifest),
    /// A recording.
    Recorded(ServerPlayer),
}

impl MockTools {
    fn server(&self) -> &str {
        match self {
            Self::Manifest(manifest) => &manifest.server,
            Self::Recorded(player) => player.name(),
        }
    }

    /// The tools as MCP lists them; an error is a tool of a recording that is none.
    fn list(&self) -> Result<Vec<Tool>, ErrorData> {
        match self {
            Self::Manifest(manifest) => {
                let tools = manifest.tools.iter();
                Ok(tools.map(|tool| tool.tool.clone()).collect())
            }
            Self::Recorded(player) => {
                let tools = player.tools().into_iter().map(|tool| {
                    let name = tool["name"].to_string();
                    serde_json::from_value(tool)
                        .map_err(|error| not_recorded_error(&format!("the tool {name}: {error}")))
                });
                tools.collect()
            }
        }
    }
}

fn not_recorded_error(what: &str) -> ErrorData {
    ErrorData::internal_error(format!("mcptest: the recording is no MCP: {what}"), None)
}

/// How often what was called.
#[derive(Debug, Default)]
struct Calls {
    all: u64,
    by_tool: HashMap<String, u64>,
}

impl MockServer {
    pub(super) fn new(tools: MockTools, fault: MockFault) -> Self {
        Self {
            tools: Arc::new(tools),
            fault,
            calls: Arc::default(),
        }
    }

    /// Whether a cancelled call is answered all the same.
    pub(super) fn ignores_cancellation(&self) -> bool {
        self.fault.ignores_cancellation
    }

    /// The server in a line, for people.
    pub(super) fn describe(&self) -> String {
        let holds = match &*self.tools {
            MockTools::Manifest(manifest) => pluralize(manifest.tools.len(), "tool"),
            MockTools::Recorded(player) => pluralize(player.recorded_calls(), "recorded call"),
        };
        format!(
            "mock server `{}`: {holds}, fault {}",
            self.tools.server(),
            self.fault
        )
    }

    /// Counts a call: which one it is of all, and of its tool.
    fn count_call(&self, tool: &str) -> (u64, u64) {
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
                self.tools.server().to_owned(),
                env!("CARGO_PKG_VERSION"),
            ));
        match &*self.tools {
            MockTools::Manifest(MockManifest {
                instructions: Some(instructions),
                ..
            }) => info.with_instructions(instructions.clone()),
            _ => info,
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
        Ok(ListToolsResult::with_all_items(self.tools.list()?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (number, of_tool) = self.count_call(&request.name);
        match self.fault.effect_on(number) {
            None => {}
            Some(Effect::Late(delay)) => tokio::time::sleep(Duration::from_millis(delay)).await,
            // The client may give up; nobody hears what is said then.
            Some(Effect::Timeout) => context.ct.cancelled().await,
        }
        let manifest = match &*self.tools {
            MockTools::Manifest(manifest) => manifest,
            MockTools::Recorded(player) => return recorded_result(player, request),
        };
        let Some(tool) = manifest.tool(&request.name) else {
            let known = manifest.tools.iter().map(|tool| &*tool.tool.name);
            let message = format!(
                "no tool `{}`; there are {}",
                request.name,
                quoted_list(known)
            );
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        Ok(scripted_result(tool, arguments, of_tool).into())
    }
}

/// What a recorded server says to a call.
fn recorded_result(
    player: &ServerPlayer,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = Value::Object(request.arguments.unwrap_or_default());
    let answer = player.call(&request.name, &arguments);
    if let Some(words) = &answer.untold {
        mcptest_trace::record::say(&escape_line(words));
    }
    match answer.result {
        Ok(result) => {
            let result = serde_json::from_value::<CallToolResult>(result);
            let result = result.map_err(|error| not_recorded_error(&error.to_string()));
            result.map(Into::into)
        }
        Err(error) => Err(serde_json::from_value(error)
            .unwrap_or_else(|error| not_recorded_error(&error.to_string()))),
    }
}

/// What a tool says to a call.
fn scripted_result(tool: &MockTool, arguments: Map<String, Value>, call: u64) -> CallToolResult {
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
        return error_result(format!("invalid arguments: {}", wrong.join("; ")));
    }
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    let answer = tool
        .answers
        .iter()
        .find(|answer| contains(&arguments, &answer.when));
    let Some(answer) = answer else {
        return error_result(format!(
            "the mock of `{}` has no answer for these arguments",
            tool.tool.name
        ));
    };
    let with = Filling {
        arguments: &arguments,
        call,
    };
    let (AnswerContent::Text(said)
    | AnswerContent::Result(said)
    | AnswerContent::Error(said)
    | AnswerContent::Content(said)) = &answer.says;
    let said = match said.fill(with) {
        Ok(said) => said,
        Err(path) => {
            return error_result(format!(
                "the mock of `{}` answers with the argument `{path}`, which this call does not have",
                tool.tool.name
            ));
        }
    };
    match &answer.says {
        AnswerContent::Text(_) => {
            CallToolResult::success(vec![ContentBlock::text(value_text(&said))])
        }
        AnswerContent::Error(_) => error_result(value_text(&said)),
        AnswerContent::Result(_) if said.is_object() => CallToolResult::structured(said),
        AnswerContent::Result(_) => {
            CallToolResult::success(vec![ContentBlock::text(said.to_string())])
        }
        AnswerContent::Content(_) => match serde_json::from_value(said) {
            Ok(blocks) => CallToolResult::success(blocks),
            Err(wrong) => error_result(format!(
                "the mock of `{}` has an answer for these arguments that is no MCP content: {wrong}",
                tool.tool.name
            )),
        },
    }
}

fn error_result(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// Whether arguments have at least what is wanted; inside mappings too.
fn contains(arguments: &Map<String, Value>, wanted: &Map<String, Value>) -> bool {
    wanted
        .iter()
        .all(|(key, wanted)| match (arguments.get(key), wanted) {
            (Some(Value::Object(found)), Value::Object(wanted)) => contains(found, wanted),
            (Some(Value::Number(found)), Value::Number(wanted)) => {
                compare_numbers(found, wanted).is_eq()
            }
            (found, wanted) => found == Some(wanted),
        })
}
