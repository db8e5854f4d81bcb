//! The script: its form, and what is checked when it is read.

use std::{collections::HashSet, fmt};

use serde::Deserialize;
use serde_json::Value;

use crate::{exchange::Arguments, template};

/// Why a script cannot be played.
#[derive(Debug)]
pub struct ScriptError(String);

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the script is wrong: {}", self.0)
    }
}

impl std::error::Error for ScriptError {}

/// Conversations to play, and what requests must carry.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub(crate) key: Option<String>,
    pub(crate) models: Option<Vec<String>>,
    /// Answers are compressed for clients that take it.
    #[serde(default)]
    pub(crate) gzip: bool,
    pub(crate) conversations: Vec<Conversation>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Conversation {
    pub(crate) user: String,
    pub(crate) model: Option<String>,
    /// The model that answers, where it has another name than the one that is asked.
    pub(crate) answers_as: Option<String>,
    pub(crate) runs: Vec<Vec<Reply>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reply {
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) calls: Vec<Call>,
    pub(crate) usage: Option<Usage>,
    pub(crate) stop: Option<Stop>,
    pub(crate) text_from_env: Option<String>,
    #[serde(default)]
    pub(crate) before: Vec<Failure>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "CallForm")]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Arguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Usage {
    pub(crate) prompt: u64,
    pub(crate) completion: u64,
    /// How many tokens of the prompt were read from a cache.
    #[serde(default)]
    pub(crate) cached: u64,
    /// How many tokens of the completion were reasoning.
    #[serde(default)]
    pub(crate) reasoning: u64,
}

/// Why a reply ends, when it is not of its own accord.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stop {
    MaxTokens,
    Refusal,
}

/// What happens to a request instead of its reply, or before it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "FailureForm")]
pub(crate) enum Failure {
    /// An error answer.
    Status {
        status: u16,
        retry_after: Option<u64>,
        message: Option<String>,
    },
    /// A delay of what comes next for the same request, in milliseconds.
    Wait(u64),
    /// Half of the reply's body, then the end of the connection.
    Cut,
    /// The end of the connection without an answer.
    Close,
    /// Another body, as HTML with status 200.
    Body(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallForm {
    name: String,
    #[serde(default, deserialize_with = "present")]
    args: Option<Value>,
    raw_arguments: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FailureForm {
    status: Option<u16>,
    retry_after: Option<u64>,
    message: Option<String>,
    wait_ms: Option<u64>,
    cut: Option<bool>,
    close: Option<bool>,
    body: Option<String>,
}

/// A null that is there, as opposed to a field that is not.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl TryFrom<CallForm> for Call {
    type Error = String;

    fn try_from(form: CallForm) -> Result<Self, String> {
        let name = form.name;
        let arguments = match (form.args, form.raw_arguments) {
            (Some(args @ Value::Object(_)), None) => {
                template::check(&args)?;
                Arguments::Json(args)
            }
            (Some(_), None) => return Err(format!("args of the call of {name} are no object")),
            (None, Some(raw)) => Arguments::Raw(raw),
            _ => {
                return Err(format!(
                    "the call of {name} needs either args or raw_arguments"
                ));
            }
        };
        Ok(Self { name, arguments })
    }
}

impl TryFrom<FailureForm> for Failure {
    type Error = String;

    fn try_from(form: FailureForm) -> Result<Self, String> {
        if form.status.is_none() && (form.retry_after.is_some() || form.message.is_some()) {
            return Err("retry_after and message go with status only".to_owned());
        }
        if form.cut == Some(false) || form.close == Some(false) {
            return Err("cut and close can only be true".to_owned());
        }
        let failures = [
            form.status.map(|status| Self::Status {
                status,
                retry_after: form.retry_after,
                message: form.message,
            }),
            form.wait_ms.map(Self::Wait),
            form.cut.map(|_| Self::Cut),
            form.close.map(|_| Self::Close),
            form.body.map(Self::Body),
        ];
        let mut failures = failures.into_iter().flatten();
        match (failures.next(), failures.next()) {
            (Some(Self::Status { status, .. }), None) if !(400..=599).contains(&status) => {
                Err(format!("{status} is no status of an error"))
            }
            (Some(failure), None) => Ok(failure),
            _ => Err("a failure is one of status, wait_ms, cut, close and body".to_owned()),
        }
    }
}

impl Script {
    /// Reads a script and checks it, so that playing it can only fail for what
    /// a request says.
    pub fn from_json(json: &str) -> Result<Self, ScriptError> {
        let script: Self =
            serde_json::from_str(json).map_err(|error| ScriptError(error.to_string()))?;
        script.check().map_err(ScriptError)?;
        Ok(script)
    }

    fn check(&self) -> Result<(), String> {
        let mut seen = HashSet::new();
        for (index, conversation) in self.conversations.iter().enumerate() {
            let place = format!("conversations[{index}]");
            if conversation.user.is_empty() {
                return Err(format!("{place}: user is empty"));
            }
            if !seen.insert((&conversation.user, &conversation.model)) {
                return Err(format!(
                    "{place}: an earlier conversation has the same user and model"
                ));
            }
            let known = |model| self.models.as_ref().is_none_or(|all| all.contains(model));
            if let Some(model) = conversation.model.as_ref().filter(|model| !known(model)) {
                return Err(format!("{place}: models does not list {model}"));
            }
            if conversation.runs.is_empty() {
                return Err(format!("{place}: runs is empty"));
            }
            for (number, run) in conversation.runs.iter().enumerate() {
                if run.is_empty() {
                    return Err(format!("{place}.runs[{number}]: there is no reply"));
                }
                for (step, reply) in run.iter().enumerate() {
                    let wrong = |why| format!("{place}.runs[{number}][{step}]: {why}");
                    reply.check().map_err(wrong)?;
                }
            }
        }
        Ok(())
    }
}

impl Reply {
    fn check(&self) -> Result<(), String> {
        if let Some(text) = &self.text {
            template::check(&Value::from(text.as_str()))?;
        }
        if self.stop == Some(Stop::Refusal) && !self.calls.is_empty() {
            return Err("a refusal has no calls".to_owned());
        }
        if let Some(usage) = self.usage
            && (usage.cached > usage.prompt || usage.reasoning > usage.completion)
        {
            return Err("cached is a part of prompt, and reasoning of completion".to_owned());
        }
        if let Some(name) = &self.text_from_env
            && std::env::var(name).is_err()
        {
            return Err(format!("the environment variable {name} is not set"));
        }
        Ok(())
    }
}
