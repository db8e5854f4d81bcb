//! `cargo mcptest contract`: a live MCP server's tools held against what recordings know of them.
//!
//! - `server`: the live server, and its list;
//! - `recorded`, `form`: the tools and calls of recordings; `owner`: those of this server;
//! - `hold`, `calls`: what differs, and which recorded calls break; `finding`: a difference;
//! - `text`: the answer as text.

mod calls;
mod differences;
mod finding;
mod form;
mod owner;
mod recorded;
mod server;
mod text;

use std::time::Duration;

use serde_json::{Value, json};

use crate::address;
use crate::failure::Failure;
use crate::judging::{Filter, OpenPackage};
use crate::output::{Output, OutputFormat};
use crate::package::Judging;
use crate::status::{EXIT_STATUS, ExitStatus};
use differences::Differences;
use mcptest_trace::text::pluralize;
use owner::OwnRecordings;
use recorded::Recordings;
use server::LiveServer;

/// The format of what is said, as JSON.
const FORMAT: &str = "contract/1.0";

/// Compares the tools of a live MCP server with the recordings.
///
/// Example: `cargo mcptest contract -- python server.py`
///
/// The command starts the server, or reaches it at `--url`, and asks it for its tools. It calls no tool. The answer
/// lists new tools, missing tools, and tools with another description. A recorded call is
/// red if the server would refuse it now: the tool is gone, a required argument is missing, or the schema refuses an
/// argument.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Contract {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    judging: Judging,
    /// The server's name in the recordings. Without this option: the name that the server gives itself.
    /// With this option, recorded calls that name no server count as calls of this server.
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Ignore this tool: it belongs to another server. Needed only if the recordings name no server. May be repeated.
    #[arg(long, value_name = "TOOL")]
    without: Vec<String>,
    /// The server's address, if the server is reached over HTTP.
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// The environment variable that holds a bearer token for `--url`.
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    bearer_token_env: Option<String>,
    /// A header for `--url`, and the environment variable that holds its value, as `x-api-key=DESK_KEY`. May be
    /// repeated.
    #[arg(long, value_name = "HEADER=VARIABLE", requires = "url")]
    header_env: Vec<String>,
    /// How long the server may take to start, and to list its tools, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u32).range(1..))]
    timeout: u32,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
    /// The server, and its arguments.
    #[arg(last = true, required_unless_present = "url")]
    command: Vec<String>,
}

/// The report of a comparison of a server with the recordings.
struct ContractReport<'a> {
    package: &'a str,
    server: &'a LiveServer,
    recordings: &'a Recordings,
    own: &'a OwnRecordings,
    found: &'a Differences,
}

impl Contract {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let opened = OpenPackage::open_whole(&self.judging, output)?;
        let tags = opened.suites.check_tags();
        tags.map_err(|error| Failure::new(error.to_string()))?;
        let recordings = Recordings::read(&opened, &self.filter)?;
        let server = server::query_server(self)?;
        let said = self.server.as_deref();
        let own = OwnRecordings::select(&recordings, &server, said, &self.without)?;
        let found = differences::compare(&server, &own);
        let answer = ContractReport {
            package: &opened.package.name,
            server: &server,
            recordings: &recordings,
            own: &own,
            found: &found,
        };
        match self.format {
            OutputFormat::Text => write!(output.out, "{}", text::text(&answer))?,
            OutputFormat::Json => output.json(&answer.json())?,
        }
        Ok(answer.status())
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(self.timeout.into())
    }

    /// The server, as the command has it. A key in its address is not shown.
    fn server_label(&self) -> String {
        let url = self.url.as_deref().map(address::redact);
        url.unwrap_or_else(|| self.command.join(" "))
    }
}

impl ContractReport<'_> {
    fn status(&self) -> ExitStatus {
        if self.found.findings.iter().any(finding::Finding::breaks) {
            ExitStatus::Finding
        } else if self.is_undecided() {
            ExitStatus::CannotTell
        } else {
            ExitStatus::Holds
        }
    }

    /// Whether there are calls of which nobody can say whether they would be taken.
    fn is_undecided(&self) -> bool {
        !self.own.unknown.is_empty() || !self.found.held.unusable.is_empty()
    }

    /// What was held against what, in a sentence.
    fn headline(&self) -> String {
        let LiveServer {
            name,
            version,
            tools,
        } = self.server;
        let name = if name.is_empty() {
            "without a name"
        } else {
            name
        };
        format!(
            "server {name} {version} with {}, compared with {} in {} of {}",
            pluralize(tools.len(), "tool"),
            pluralize(self.calls(), "recorded call"),
            pluralize(self.recordings.runs.len(), "run"),
            pluralize(self.recordings.agents, "agent test"),
        )
    }

    /// How many recorded calls are of the server.
    fn calls(&self) -> usize {
        self.own.runs.iter().map(|run| run.calls.len()).sum()
    }

    /// What is to be known of the answer, a line each.
    fn notes(&self) -> Vec<String> {
        let held = &self.found.held;
        let mut notes = self.recordings.notes.clone();
        notes.extend(self.own.notes.iter().cloned());
        notes.extend(self.found.notes.iter().cloned());
        for (tool, calls) in &self.own.unknown {
            notes.push(format!(
                "cannot tell: the server does not have the tool `{tool}`, and {} no server: write `--server NAME` if the tool belonged to \
                 this server, or `--without {tool}` if it did not",
                counted_name(*calls),
            ));
        }
        for (tool, why) in &held.unusable {
            notes.push(format!(
                "cannot tell: the schema of `{tool}` cannot be used, so its recorded calls are not checked: {why}"
            ));
        }
        if held.refused_before > 0 {
            notes.push(format!(
                "{} refused by the recorded tool too, and not counted as broken",
                counted_is(held.refused_before)
            ));
        }
        if held.redacted > 0 {
            notes.push(format!(
                "{} refused only because of the text that replaces a secret, and not counted as broken",
                counted_is(held.redacted)
            ));
        }
        notes
    }

    fn json(&self) -> Value {
        let (breaks, changes): (Vec<_>, Vec<_>) =
            self.found.findings.iter().partition(|it| it.breaks());
        json!({
            "format": FORMAT,
            "package": self.package,
            "server": {
                "name": self.server.name,
                "version": self.server.version,
                "recorded_as": self.own.name,
                "tools": self.server.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
            },
            "agents": self.recordings.agents,
            "runs": self.recordings.runs.len(),
            "calls": {
                "recorded": self.calls(),
                "held": self.found.held.calls,
                "taken": self.found.held.taken,
                "refused_before": self.found.held.refused_before,
                "redacted": self.found.held.redacted,
            },
            "breaks": breaks,
            "changes": changes,
            "unknown": self.own.unknown,
            "unusable": self.found.held.unusable,
            "notes": self.notes(),
        })
    }
}

fn counted_is(calls: usize) -> String {
    let verb = if calls == 1 { "is" } else { "are" };
    format!("{} {verb}", pluralize(calls, "recorded call"))
}

fn counted_name(calls: usize) -> String {
    let verb = if calls == 1 { "names" } else { "name" };
    format!("{} of it {verb}", pluralize(calls, "recorded call"))
}
