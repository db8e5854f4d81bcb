//! The loop: the model is asked, its tools are called, until it answers.

use crate::trace::{canonical_json, without_rounding};
use mcptest_session::exchange::{Call, Item, ModelRequest, ModelResponse, Stop, ToolResult};
use mcptest_session::handle::AgentSession;
use mcptest_suite::model::Agent;
use serde_json::Value;

use super::mcp::{Connection, MAX_RESULT, NoAnswer};
use super::model::{ModelClient, local_client};
use super::provider::ModelEndpoint;
use super::server_error::ServerProblem;
use super::timeouts::Timeouts;
use super::told::text_of;
use super::tools::{LiveTool, Offered};
use crate::record::{LiveError, RunRequest};
use mcptest_trace::text::with_thousands;

/// The built-in agent in one run: what it needs of its session, which records or plays.
pub(super) struct AgentLoop<'a> {
    agent: &'a Agent,
    request: &'a RunRequest,
    session: AgentSession,
    model: ModelClient,
    servers: Vec<Connection>,
    offered: Offered,
    timeouts: Timeouts,
    /// Whether a server gave no answer, so that there is no run any more.
    has_failed: &'a dyn Fn() -> bool,
}

/// Why the agent cannot begin.
pub(super) enum NotBegun {
    Error(LiveError),
    /// A server of this name cannot be used.
    Server(String, ServerProblem),
}

impl From<LiveError> for NotBegun {
    fn from(error: LiveError) -> Self {
        Self::Error(error)
    }
}

/// What a model is told of a call.
struct Told {
    text: String,
    is_error: bool,
}

impl Told {
    fn error(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: true,
        }
    }
}

impl<'a> AgentLoop<'a> {
    /// Reaches the servers, and asks for their tools.
    pub(super) async fn begin(
        agent: &'a Agent,
        request: &'a RunRequest,
        endpoint: ModelEndpoint,
        timeouts: Timeouts,
        session: AgentSession,
        has_failed: &'a dyn Fn() -> bool,
    ) -> Result<Self, NotBegun> {
        let client = local_client()?;
        let (mut servers, mut tools) = (Vec::new(), Vec::new());
        for name in &request.servers {
            let url = session.mcp_url(name).unwrap_or_default();
            let of_server = |problem| NotBegun::Server(name.clone(), problem);
            let server = Connection::open(client.clone(), name, url, timeouts.server);
            let server = server.await;
            let server = server.map_err(|why| of_server(ServerProblem::Greeting(why)))?;
            let listed = server.tools().await;
            tools.push(listed.map_err(|why| of_server(ServerProblem::Tools(why)))?);
            servers.push(server);
        }
        let named = request.servers.iter().zip(&tools);
        let named = named.flat_map(|(name, tools)| tools.iter().map(move |tool| (&**name, tool)));
        let offered = Offered::new(named, agent)?;
        let base = session.url(endpoint.format.provider()).unwrap_or_default();
        let model = ModelClient::new(client, endpoint, base, timeouts.model)?;
        Ok(Self {
            agent,
            request,
            session,
            model,
            servers,
            offered,
            timeouts,
            has_failed,
        })
    }

    /// What tells the tools of this run from others.
    pub(super) fn tools_fingerprint(&self) -> String {
        self.offered.fingerprint()
    }

    /// Answers all turns of the user. Where nobody else keeps the caps of the suite, it gives the word for the cap that was
    /// reached.
    pub(super) async fn run(&self, keeps_caps: bool) -> Result<Option<&'static str>, LiveError> {
        let mut asked = ModelRequest {
            model: Some(self.request.model.clone()),
            system: self.request.system_prompt.clone(),
            tools: self.offered.tools(),
            ..ModelRequest::default()
        };
        let mut taken = Taken::default();
        for turn in &self.request.user_turns {
            asked.items.push(Item::User(turn.clone()));
            loop {
                if let Some(cap) = self.cap(&taken).filter(|_| keeps_caps) {
                    return Ok(Some(cap));
                }
                let said = self.ask(&mut asked, &mut taken).await?;
                // A call whose arguments may be cut too is not made.
                if said.stop == Some(Stop::Length) {
                    return Ok(None);
                }
                let calls: Vec<Call> = said.calls().cloned().collect();
                asked.items.push(Item::Answer(said.parts));
                if calls.is_empty() {
                    break;
                }
                for call in calls {
                    taken.tool_calls += 1;
                    // A session that records refuses it at its server.
                    if keeps_caps && self.is_over(&taken) && self.is_of_server(&call) {
                        continue;
                    }
                    let told = self.call(&call).await;
                    // Of a server that has gone, the session tells more.
                    if (self.has_failed)() {
                        return Err(LiveError::new("a server gave no answer"));
                    }
                    asked.items.push(Item::Result(self.result(call, told?)));
                }
            }
        }
        Ok(None)
    }

    /// The word for the cap that allows no further model call, as a session has it that records.
    fn cap(&self, taken: &Taken) -> Option<&'static str> {
        let most_tokens = self.request.token_budget;
        if self.is_over(taken) {
            Some("tool_call_budget")
        } else if taken.model_calls >= self.request.max_turns {
            Some("turn_budget")
        } else if most_tokens.is_some_and(|most| taken.at_the_next_call() >= most) {
            Some("token_budget")
        } else {
            None
        }
    }

    /// Whether the model asked for more tool calls than a run may make.
    fn is_over(&self, taken: &Taken) -> bool {
        let most = self.request.max_tool_calls;
        most.is_some_and(|most| taken.tool_calls > most)
    }

    fn is_of_server(&self, call: &Call) -> bool {
        self.offered.find(&call.name).is_some()
    }

    /// Ends the talk with the servers.
    pub(super) async fn close(&self) {
        for server in &self.servers {
            server.close().await;
        }
    }

    /// One model call.
    async fn ask(
        &self,
        asked: &mut ModelRequest,
        taken: &mut Taken,
    ) -> Result<ModelResponse, LiveError> {
        let format = self.model.format();
        let most = self.request.max_tokens;
        // What is left of the budget is all that the answer may have. The session refuses a call for which nothing is left.
        let most = match self.request.token_budget {
            Some(budget) => most
                .min(budget.saturating_sub(taken.at_the_next_call()))
                .max(1),
            None => most,
        };
        asked.parameters = format.most_tokens(&self.request.model, most);
        let said = self.model.ask(asked).await?;
        taken.model_calls += 1;
        if let Some(tokens) = said.tokens {
            taken.last = tokens.prompt.saturating_add(tokens.completion);
            taken.all = taken.all.saturating_add(taken.last);
        }
        Ok(said)
    }

    /// One tool call. What a server answers that nobody can read ends the run.
    async fn call(&self, call: &Call) -> Result<Told, LiveError> {
        let tool = self.offered.find(&call.name);
        let mut servers = self.servers.iter();
        let of_tool = tool.and_then(|tool| servers.find(|server| server.server == tool.server));
        let (Some(tool), Some(server)) = (tool, of_tool) else {
            let text = format!("there is no tool `{}`", call.name);
            return Ok(self.refused(call, text).await);
        };
        let arguments = match arguments(call) {
            Ok(arguments) => arguments,
            Err(problem) => return Ok(self.refused(call, problem).await),
        };
        Ok(match server.call(&tool.name, &arguments).await {
            Ok(result) => Told {
                text: text_of(&result),
                is_error: result["isError"] == true,
            },
            Err(NoAnswer::Refused(text)) => Told::error(text),
            Err(NoAnswer::TimedOut) => Told::error(format!(
                "`{}` timed out: no answer within {} s",
                tool.name,
                self.timeouts.server.as_secs_f64()
            )),
            Err(NoAnswer::Unauthorized) => {
                let problem = format!("the server `{}` requires authorization", tool.server);
                return Err(self.unusable(tool, problem, None));
            }
            Err(NoAnswer::TooLarge(size)) => {
                let (size, most) = (
                    with_thousands(size as u64),
                    with_thousands(MAX_RESULT as u64),
                );
                let problem = format!(
                    "the result of `{}` of `{}` has {size} bytes; at most {most} are recorded",
                    tool.name, tool.server
                );
                let help = "let the tool answer with less: no model reads that much";
                return Err(self.unusable(tool, problem, None).help(help));
            }
            Err(NoAnswer::Unusable(problem, shown)) => {
                let problem = format!(
                    "the answer of the server `{}` to `{}` is no tool result: {problem}",
                    tool.server, tool.name
                );
                return Err(self.unusable(tool, problem, shown));
            }
        })
    }

    /// What a server answered makes no run.
    fn unusable(&self, tool: &LiveTool, problem: String, shown: Option<String>) -> LiveError {
        let mut named = self.agent.servers.iter();
        let named = named.find(|name| name.value == tool.server);
        LiveError {
            at: named.map(|name| name.span),
            shown,
            ..LiveError::new(problem)
        }
        .help("the run is not recorded; correct the server and record again")
    }

    /// A call that reaches no server. The session is told that it failed: many formats cannot say so.
    async fn refused(&self, call: &Call, text: String) -> Told {
        let fails = async { Err::<Value, String>(text) };
        let told = self
            .session
            .tool(&call.name, call.args.clone(), fails)
            .await;
        match told {
            Ok(value) => Told {
                text: value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned),
                is_error: false,
            },
            Err(failure) => Told::error(failure.to_string()),
        }
    }

    /// The result of a call as the next request tells it.
    fn result(&self, call: Call, told: Told) -> ToolResult {
        let Told { text, is_error } = told;
        let has_flag = self.model.format().has_error_flag();
        let text = if is_error && !has_flag {
            format!("Error: {text}")
        } else {
            text
        };
        ToolResult {
            id: call.id,
            name: Some(call.name),
            value: text.into(),
            is_error: Some(is_error),
            native: None,
        }
    }
}

/// What a run took till now.
#[derive(Default)]
struct Taken {
    model_calls: u64,
    tool_calls: u64,
    /// The tokens of all model calls.
    all: u64,
    /// Those of the last one.
    last: u64,
}

impl Taken {
    /// What was sent and written so far is sent again, at the least.
    fn at_the_next_call(&self) -> u64 {
        self.all.saturating_add(self.last)
    }
}

/// The arguments of a call as its server gets them: JSON, as the model wrote it.
fn arguments(call: &Call) -> Result<String, String> {
    let text = match (&call.text, &call.args) {
        (None, args @ Value::Object(_)) => return Ok(canonical_json(args)),
        (Some(text), _) | (None, Value::String(text)) => text.clone(),
        (None, Value::Null) => String::new(),
        (None, other) => other.to_string(),
    };
    if text.trim().is_empty() {
        return Ok("{}".to_owned());
    }
    let exact = without_rounding(&text, str::to_owned);
    match serde_json::from_str::<Value>(exact.as_deref().unwrap_or(&text)) {
        Ok(Value::Object(_)) => Ok(text),
        Ok(Value::Null) => Ok("{}".to_owned()),
        // Some models write the text of an object as a text once more.
        Ok(Value::String(inner)) if inner.trim().is_empty() => Ok("{}".to_owned()),
        Ok(Value::String(inner)) if is_object(&inner) => Ok(inner),
        Ok(_) => Err("the arguments must be a JSON object".to_owned()),
        Err(error) => Err(format!("the arguments are not JSON: {error}")),
    }
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse_args(args: Value, text: Option<&str>) -> Result<String, String> {
        arguments(&Call {
            args,
            text: text.map(str::to_owned),
            ..Call::default()
        })
    }

    #[test]
    fn a_server_gets_an_object_as_the_model_wrote_it_or_nothing() {
        let long = r#"{"n": 1180591620717411303424}"#;
        let read = json!({ "n": "1180591620717411303424" });
        assert_eq!(parse_args(read, Some(long)).unwrap(), long);
        assert_eq!(
            parse_args(json!({ "b": 1, "a": 2 }), None).unwrap(),
            r#"{"a":2,"b":1}"#
        );
        for nothing in [
            json!(null),
            json!({}),
            json!("null"),
            json!(r#""""#),
            json!(" "),
        ] {
            assert_eq!(
                parse_args(nothing.clone(), None).unwrap(),
                "{}",
                "{nothing}"
            );
        }
        assert_eq!(parse_args(json!({}), Some("")).unwrap(), "{}");
        let huge = r#"{"a": 1e400}"#;
        assert_eq!(
            parse_args(json!({ "a": "1e400" }), Some(huge)).unwrap(),
            huge
        );
        // The session reads more than a server does.
        let error = parse_args(json!({ "a": null }), Some(r#"{"a": NaN}"#)).unwrap_err();
        assert!(error.starts_with("the arguments are not JSON: "), "{error}");
        let twice = json!({ "a": 1 }).to_string();
        assert_eq!(
            parse_args(Value::from(twice.clone()).to_string().into(), None),
            Ok(twice)
        );
        for wrong in ["[1]", "3", r#""find it""#] {
            let error = parse_args(wrong.into(), None).unwrap_err();
            assert_eq!(error, "the arguments must be a JSON object", "{wrong}");
        }
        let error = parse_args("{not json".into(), None).unwrap_err();
        assert!(error.starts_with("the arguments are not JSON: "), "{error}");
    }
}
