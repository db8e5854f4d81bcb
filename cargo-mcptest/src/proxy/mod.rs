//! `cargo mcptest proxy`: any MCP client records, whatever language it is written in.
//!
//! A client that starts this command instead of its server, or asks this address instead of the server's,
//! reaches the server as before: every byte goes through untouched, and a copy of it is looked at aside.
//! What was called and what came back is in a recording from the first call on. It is written again as the
//! session goes on, and is whole at every moment: a process that is killed loses nothing that is older than a
//! second, besides what it is just writing.
//!
//! - `pipes`, `http`: bytes from one side to the other;
//! - `session`: what the messages say, as a run;
//! - `recording`: the run on disk.

mod http;
mod pipes;
mod recording;
mod session;

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use recording::SessionRecording;
use session::ProxySession;

/// Records the tool calls between any MCP client and its server.
///
/// Example: `cargo mcptest proxy --agent Refunds --model gpt-5 --prompt Hello -- python server.py`
///
/// For a server that is a program, write `cargo mcptest proxy … -- SERVER ARGUMENTS` into the client's configuration, in
/// the place of the server's command. For a server over HTTP, start `cargo mcptest proxy … --url URL`, and give the client
/// the address that the command prints. One session of the client is one recorded run.
#[derive(Debug, clap::Args)]
pub(crate) struct Proxy {
    /// The agent's name in the suite.
    #[arg(long)]
    agent: String,
    /// The model's identifier in the suite.
    #[arg(long)]
    model: String,
    /// What the user asked.
    #[arg(
        long,
        required_unless_present = "prompt_from",
        conflicts_with = "prompt_from"
    )]
    prompt: Option<String>,
    /// A file that holds what the user asked.
    #[arg(long, value_name = "FILE")]
    prompt_from: Option<PathBuf>,
    /// A file that holds the system prompt.
    #[arg(long, value_name = "FILE")]
    system_prompt_from: Option<PathBuf>,
    /// The server's name in the suite. Without this option: the name that the server gives itself.
    #[arg(long)]
    server: Option<String>,
    /// A file that holds the closing message. It is read when the client has ended; over HTTP when the proxy is stopped,
    /// as the closing message of the last session.
    #[arg(long, value_name = "FILE")]
    closing_from: Option<PathBuf>,
    /// The folder of recordings. The run is written to `<AGENT>__<MODEL>/run-N.json` in it.
    #[arg(long, value_name = "FOLDER", default_value = "suites/cassettes")]
    cassettes: PathBuf,
    /// A regular expression. The command removes its matches from the recording. May be repeated.
    #[arg(long, value_name = "REGEX")]
    redact: Vec<String>,
    /// Keep the values of keys such as `password`, `api_key` and `authorization`, and logins in URLs.
    #[arg(long)]
    keep_named: bool,
    /// The server's address, if the server is reached over HTTP.
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// Where to listen for clients over HTTP. Port 0 means any free port.
    #[arg(
        long,
        value_name = "ADDRESS",
        conflicts_with = "command",
        default_value = "127.0.0.1:0"
    )]
    listen: String,
    /// The server, and its arguments.
    #[arg(last = true, required_unless_present = "url")]
    command: Vec<String>,
}

impl Proxy {
    /// Relays until the client or the server ends, over HTTP until it is stopped. Gives the exit code: the
    /// server's own, or 1 where all went well but the recording could not be written, or does not have a
    /// message as it was said.
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        let prompt = match (&self.prompt, &self.prompt_from) {
            (Some(prompt), _) => prompt.clone(),
            (None, Some(file)) => read(file)?,
            (None, None) => String::new(),
        };
        let system_prompt = self.system_prompt_from.as_deref().map(read).transpose()?;
        let begin = || {
            let mut session = ProxySession::new(&self.agent, &self.model, self.server.clone());
            session.set_prompt(&prompt, system_prompt.as_deref());
            Ok((session, SessionRecording::new(self)?))
        };
        match &self.url {
            Some(url) => http::run(self, url, &begin),
            None => pipes::run(self, begin()?),
        }
    }

    /// The run is over: what was said at its end, and where it is.
    fn finish(
        &self,
        (mut session, mut recording): RecordedSession,
        is_last: bool,
    ) -> Result<SessionRecording, Failure> {
        if let Some(file) = self.closing_from.as_ref().filter(|_| is_last) {
            session.set_closing(&read(file)?);
        }
        recording.write(session.cassette());
        recording.add_flaws(session.flaws());
        recording.add_loose_ends(session.loose_ends());
        recording.print_problem();
        Ok(recording)
    }
}

/// A session and where it is recorded.
type RecordedSession = (ProxySession, SessionRecording);

fn read(file: &Path) -> Result<String, Failure> {
    fs::read_to_string(file)
        .map_err(|error| Failure::new(format!("`{}` cannot be read: {error}", file.display())))
}
