//! The formats, and how a file tells which one it has.

use clap::ValueEnum as _;
use serde_json::Value;

use crate::format::Format;
use crate::formats::anthropic::Anthropic;
use crate::formats::atif::Atif;
use crate::formats::claude_code::{self, ClaudeCode};
use crate::formats::codex::Codex;
use crate::formats::inspect::Inspect;
use crate::formats::langsmith::Langsmith;
use crate::formats::mcptest::Mcptest;
use crate::formats::openai::OpenAi;
use crate::formats::otel::Otel;
use crate::formats::promptfoo::Promptfoo;
use crate::formats::rig::Rig;
use crate::formats::tau::Tau;
use crate::input::{Form, Input, Record};
use crate::joining::Joiner;
use crate::loss::{LossReason, Lost};
use crate::mapping::Mapping;
use crate::wire;

/// The formats that are read, in the order in which files are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum FormatKind {
    /// Logs of Inspect, as JSON or as `.eval` archives.
    Inspect,
    /// Trajectories of the Agent Trajectory Interchange Format.
    Atif,
    /// Recordings, of this harness or of the tool whose form they have.
    Mcptest,
    /// `OpenTelemetry` traces and logs, as OTLP writes them in JSON.
    Otel,
    /// Results of promptfoo.
    Promptfoo,
    /// Effect logs of rig.
    Rig,
    /// τ-bench and τ²-bench: trials of tasks with a simulated user.
    #[value(alias = "tau-bench")]
    Tau,
    /// Rollouts of Codex.
    Codex,
    /// Sessions of Claude Code.
    ClaudeCode,
    /// `LangChain` messages, and runs exported from `LangSmith`.
    Langsmith,
    /// Anthropic messages, requests and responses.
    Anthropic,
    /// `OpenAI` chat messages and responses, and records that hold a list of messages.
    #[value(name = "openai")]
    OpenAi,
}

impl FormatKind {
    /// Its name, as options have it.
    #[must_use]
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    pub(crate) fn format(self) -> &'static dyn Format {
        match self {
            Self::Mcptest => &Mcptest,
            Self::Otel => &Otel,
            Self::Promptfoo => &Promptfoo,
            Self::Rig => &Rig,
            Self::Inspect => &Inspect,
            Self::Atif => &Atif,
            Self::Codex => &Codex,
            Self::ClaudeCode => &ClaudeCode,
            Self::Langsmith => &Langsmith,
            Self::Tau => &Tau,
            Self::Anthropic => &Anthropic,
            Self::OpenAi => &OpenAi,
        }
    }

    /// Whether a run may have several records, or a record none.
    #[must_use]
    pub fn joins_records(self) -> bool {
        self.format().joins_records()
    }

    /// Adds a record to the run that it is a part of.
    ///
    /// # Errors
    ///
    /// Why the record belongs to no run.
    pub fn join(
        self,
        record: &Record<'_>,
        joiner: &mut Joiner,
        mapping: &Mapping,
    ) -> Result<(), Lost> {
        self.format().join(record, joiner, mapping)
    }

    /// Whether its runs are no recordings yet.
    #[must_use]
    pub fn is_foreign(self) -> bool {
        self != Self::Mcptest
    }

    /// The format of a file, by one of its records; of an archive there is none.
    ///
    /// # Errors
    ///
    /// The formats that were looked for, in words.
    pub fn detect(input: &Input, value: &Value) -> Result<Self, Lost> {
        let all = Self::value_variants();
        let mut fitting = all
            .iter()
            .filter(|kind| kind.format().recognizes(input, value));
        fitting.next().copied().ok_or_else(|| {
            if let Some((name, instead)) = related_format(value) {
                let what = format!("this is {name}, which is not read; {instead}");
                return Lost::new(LossReason::NeedsConversion, what);
            }
            if let Some(advice) = advice(input, value) {
                return Lost::new(LossReason::NeedsConversion, advice);
            }
            let looked = all
                .iter()
                .map(|kind| format!("\n- {}: {}", kind.name(), kind.format().signature()));
            let what = format!(
                "its first records look like none of these formats:{}",
                looked.collect::<String>()
            );
            Lost::new(LossReason::UnknownFormat, what)
        })
    }
}

/// What makes records of a file that are read, as a line of jq. There is none if what comes of it is not read either.
fn advice(input: &Input, value: &Value) -> Option<String> {
    let (filter, why) = jq_filter(input, value, 2)?;
    let each = match input.form {
        Form::Document { under: None } if input.is_list() => ".[] | ",
        _ => "",
    };
    let quoted = input.shown.replace('\'', r"'\''");
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    let file = if input.shown.chars().all(is_plain) {
        input.shown.clone()
    } else {
        format!("'{quoted}'")
    };
    // A shell empties the file that it writes to before it is read.
    let into = if input.name() == "runs.jsonl" {
        "new.jsonl"
    } else {
        "runs.jsonl"
    };
    Some(format!("{why}: `jq -c '{each}{filter}' {file} > {into}`"))
}

/// The filter that makes records of a value, and why it is needed.
fn jq_filter(input: &Input, value: &Value, depth: usize) -> Option<(String, String)> {
    let is_read = |value: &Value| {
        let mut value = value.clone();
        let is_whole = wire::read(&mut value).is_ok();
        let fits = |kind: &FormatKind| kind.format().recognizes(input, &value);
        is_whole && FormatKind::value_variants().iter().any(fits)
    };
    if let Some(key) = only_list_key(value, |first| first.get("role").is_some()) {
        let mut renamed = value.clone();
        renamed["messages"] = value[key].clone();
        let why = format!(
            "the command looks for messages under `messages`; here they are under `{key}`. Rename the key"
        );
        return is_read(&renamed).then(|| (format!(".messages = .{key}"), why));
    }
    let key = only_list_key(value, Value::is_object)?;
    let why = format!(
        "the command looks for records in a list or on lines; this is an object with the list `{key}`. Give the elements of the list"
    );
    let first = &value[key][0];
    if is_read(first) {
        return Some((format!(".{key}[]"), why));
    }
    let (inner, _) = jq_filter(input, first, depth.checked_sub(1)?)?;
    Some((format!(".{key}[] | {inner}"), why))
}

/// The key of the only list in an object whose first element is such a one, where that is a plain word.
fn only_list_key(value: &Value, is_such: fn(&Value) -> bool) -> Option<&str> {
    let is_list = |(_, value): &(&String, &Value)| is_such(&value[0]);
    let mut lists = value.as_object()?.iter().filter(is_list);
    let (Some((key, _)), None) = (lists.next(), lists.next()) else {
        return None;
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_word = key.chars().all(is_plain) && !key.starts_with(|it: char| it.is_ascii_digit());
    is_word.then_some(key)
}

/// What a value is that looks like runs and is not read, and what to do instead.
fn related_format(value: &Value) -> Option<(&'static str, &'static str)> {
    let otlp = "export OTLP as JSON";
    let of_first = |list: &str, key: &str| value[list][0].get(key).is_some();
    let relatives = [
        (of_first("data", "traceID"), "a trace of Jaeger", otlp),
        (
            of_first("observations", "traceId"),
            "a trace of Langfuse",
            otlp,
        ),
        (
            value.get("projectHash").is_some(),
            "a session of Gemini CLI",
            "convert it to ATIF",
        ),
        (
            value.get("sessionId").is_some() && claude_code::is_of_gemini(&value["message"]),
            "a session of a program that comes of Gemini CLI, such as Qwen Code",
            "convert it to ATIF",
        ),
    ];
    let found = relatives.into_iter().find(|(is_it, ..)| *is_it);
    found.map(|(_, name, instead)| (name, instead))
}
