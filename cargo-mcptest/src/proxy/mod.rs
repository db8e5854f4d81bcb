//! `cargo mcptest proxy`: any MCP client records, whatever language it is written in.
//!
//! A client that starts this command instead of its server reaches the server as before: every byte goes
//! through untouched, and is looked at only after it has gone. What was called and what came back is in
//! a recording from the first answer on, so that a process that is killed loses nothing.
//!
//! - `relay`: bytes from one side to the other;
//! - `session`: what they say.

mod relay;
mod session;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use mcptest_suite::{cassette_slug, clean};
use mcptest_trace::record::environment::{secrets_by_name, usual_secrets, variables};
use mcptest_trace::record::redact::Redactor;
use mcptest_trace::record::store::render;
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::failure::Failure;
use session::Session;

/// Stands between an MCP client and a server on standard input and output, and writes the calls into
/// a recording.
///
/// Say in the client's configuration `cargo mcptest proxy … -- SERVER ARGUMENTS` where the server's
/// own command stands. One session of the client is one run.
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
    /// The server's name in the suite; what the server calls itself without it.
    #[arg(long)]
    server: Option<String>,
    /// A file that holds the closing message once the client has ended. It is read then.
    #[arg(long, value_name = "FILE")]
    closing_from: Option<PathBuf>,
    /// The folder of recordings; the run goes to `<AGENT>__<MODEL>/run-N.json` in it.
    #[arg(long, value_name = "FOLDER", default_value = "suites/cassettes")]
    cassettes: PathBuf,
    /// The server, and its arguments.
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

impl Proxy {
    /// Relays until the client or the server ends. Gives the exit code: the server's own, or 1 where all
    /// went well but the recording could not be written.
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        let prompt = match (&self.prompt, &self.prompt_from) {
            (Some(prompt), _) => prompt.clone(),
            (None, Some(file)) => read(file)?,
            (None, None) => String::new(),
        };
        let system_prompt = self.system_prompt_from.as_deref().map(read).transpose()?;
        let (program, arguments) = self
            .command
            .split_first()
            .ok_or_else(|| Failure::new("name the server after `--`"))?;
        let mut server = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                Failure::new(format!("the server `{program}` cannot be started: {error}"))
                    .help("write its command after `--`, as the client's configuration has it")
            })?;
        let (to_server, from_server) = (server.stdin.take(), server.stdout.take());
        let (seen, sees) = mpsc::channel();
        let mut session = Session::new(&self.agent, &self.model, self.server.clone());
        session.asked(&prompt, system_prompt.as_deref());
        let mut recording = Recording::new(self)?;
        let recorder = thread::spawn(move || {
            while let Ok(part) = sees.recv() {
                session.see(part);
                // What has come meanwhile is written together.
                while let Ok(part) = sees.try_recv() {
                    session.see(part);
                }
                if session.has_news() {
                    recording.write(session.cassette());
                }
            }
            (session, recording)
        });
        if let Some(to_server) = to_server {
            let seen = seen.clone();
            // The client may hold its end open longer than the server lives, so nobody waits for it.
            thread::spawn(move || relay::relay(io::stdin(), to_server, relay::Side::Client, &seen));
        }
        if let Some(from_server) = from_server {
            relay::relay(from_server, io::stdout(), relay::Side::Server, &seen);
        }
        let status = server.wait()?;
        seen.send(relay::Seen::End).ok();
        drop(seen);
        let (mut session, mut recording) = recorder
            .join()
            .map_err(|_| Failure::new("the recording of this session broke off"))?;
        if let Some(file) = &self.closing_from {
            session.closed(&read(file)?);
        }
        recording.write(session.cassette());
        recording.say();
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(match code {
            Some(0) if recording.failed.is_some() => 1,
            Some(code) => code,
            None => 1,
        })
    }
}

fn read(file: &Path) -> Result<String, Failure> {
    fs::read_to_string(file)
        .map_err(|error| Failure::new(format!("`{}` cannot be read: {error}", file.display())))
}

/// The recording of a session, written again and again.
struct Recording {
    folder: PathBuf,
    redactor: Redactor,
    /// Where it is, once it has been written.
    file: Option<PathBuf>,
    failed: Option<String>,
}

impl Recording {
    fn new(proxy: &Proxy) -> Result<Self, Failure> {
        let stem = format!(
            "{}__{}",
            cassette_slug(&proxy.agent),
            cassette_slug(&proxy.model)
        );
        let secrets = usual_secrets().chain(secrets_by_name(variables()));
        let redactor =
            Redactor::new(secrets, Vec::new()).map_err(|error| Failure::new(error.to_string()))?;
        let folder = proxy.cassettes.join(stem);
        fs::create_dir_all(&folder).map_err(|error| {
            Failure::new(format!("`{}` cannot be made: {error}", folder.display()))
        })?;
        Ok(Self {
            folder,
            redactor,
            file: None,
            failed: None,
        })
    }

    /// Puts the run in place whole. What goes wrong is said at the end: the client must not notice.
    fn write(&mut self, mut run: Value) {
        self.redactor.redact_run(&mut run);
        match self.put(&render(&run)) {
            Ok(()) => self.failed = None,
            Err(error) => self.failed = Some(error.to_string()),
        }
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        let mut whole = NamedTempFile::with_prefix_in(".writing-", &self.folder)?;
        whole.write_all(text.as_bytes())?;
        if let Some(file) = &self.file {
            whole.persist(file)?;
            return Ok(());
        }
        // The next number that no other run has, whoever else records there.
        for number in 1_u64.. {
            let file = self.folder.join(format!("run-{number}.json"));
            match whole.persist_noclobber(&file) {
                Ok(_) => {
                    self.file = Some(file);
                    return Ok(());
                }
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    whole = error.file;
                }
                Err(error) => return Err(error.error),
            }
        }
        Ok(())
    }

    fn say(&self) {
        let said = match (&self.failed, &self.file) {
            (Some(why), _) => format!("error: the recording cannot be written: {why}"),
            (None, Some(file)) => format!("recorded: {}", file.display()),
            (None, None) => return,
        };
        mcptest_trace::record::say(&clean(&said));
    }
}
