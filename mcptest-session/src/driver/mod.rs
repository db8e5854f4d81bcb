//! An agent that is a command: it is started without a shell, asked, and ended.
//!
//! The command runs in a process group of its own. The group ends when the command does, when it takes too
//! long, and when this process ends, whatever ends it.

#[cfg(all(feature = "play", target_os = "linux"))]
mod server;
#[cfg(all(feature = "play", not(target_os = "linux")))]
#[path = "server/none.rs"]
mod server;
#[cfg(feature = "play")]
mod servers;
#[cfg(feature = "play")]
mod starting;
mod stdio;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::Future;
#[cfg(any(feature = "play", feature = "record"))]
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "play")]
pub use servers::{Seat, Servers};
#[cfg(feature = "play")]
pub use starting::run_in;
#[cfg(feature = "record")]
pub(crate) use stdio::{LastLines, read_lines};
use stdio::{Listener, Output, TurnNotSent};

use tokio::sync::Notify;

use crate::process::Running;

/// The variable that holds an API key of Bedrock.
pub(crate) const API_KEY: &str = "AWS_BEARER_TOKEN_BEDROCK";

/// The variable that tells a program where it can say that it forks for each run.
const SERVE: &str = "MCPTEST_SERVE";

/// What stands for the prompt in an argument.
const PROMPT: &str = "{{prompt}}";

/// How long what a command printed may take to arrive when it has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How an agent is started.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentCommand {
    /// The program and its arguments. `{{prompt}}` in an argument is the prompt.
    pub command: Vec<String>,
    /// Where it runs; a relative path to a program starts here too.
    pub folder: PathBuf,
    /// Environment variables besides those that this process has.
    pub environment: Vec<(String, String)>,
    /// What the user asks, all turns in order. A program that is asked several speaks JSON lines.
    pub turns: Vec<String>,
    /// How long it may run.
    pub time_limit: Option<Duration>,
    /// A file that is for it alone, and goes when this process is killed.
    pub(crate) file: Option<PathBuf>,
    /// When it is told, the command is ended.
    pub(crate) stop: Option<Arc<Notify>>,
}

impl AgentCommand {
    /// A command that is asked one prompt.
    pub fn new(
        command: impl IntoIterator<Item = impl Into<String>>,
        folder: impl Into<PathBuf>,
        prompt: impl Into<String>,
    ) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            folder: folder.into(),
            environment: Vec::new(),
            turns: vec![prompt.into()],
            time_limit: None,
            file: None,
            stop: None,
        }
    }

    /// Puts the command into a session: sets its environment, its turns, and the file that tells MCP clients where
    /// servers are.
    #[cfg(any(feature = "play", feature = "record"))]
    pub(crate) fn in_session(
        mut self,
        environment: Vec<(String, String)>,
        turns: &[String],
        file: Option<&Path>,
    ) -> Self {
        self.environment = environment;
        self.turns = turns.to_vec();
        self.file = file.map(Path::to_owned);
        self
    }
}

/// How a command ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CommandOutcome {
    /// How it ended; `None` where it was ended: it took too long, or [`is_stopped`](Self::is_stopped).
    pub status: Option<ExitStatus>,
    /// What it printed on its standard output.
    pub stdout: String,
    /// The last lines of what it printed on its standard error.
    pub stderr: Vec<String>,
    /// What it said in answer to each turn, where it was asked in JSON lines.
    pub said: Vec<String>,
    /// Why it could not be asked all turns.
    pub unasked: Option<String>,
    /// Its session ended it.
    pub is_stopped: bool,
}

impl CommandOutcome {
    /// Whether the program ended well.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| status.success()) && self.unasked.is_none()
    }

    /// How the command ended and the last it said, in one line.
    #[cfg(feature = "record")]
    pub(crate) fn to_line(&self) -> String {
        let said = self.to_string();
        match said.split_once("; on standard error:\n") {
            Some((how, lines)) => {
                let lines: Vec<&str> = lines.lines().map(str::trim).collect();
                format!("{how}; on standard error: {}", lines.join(" | "))
            }
            None => said,
        }
    }

    /// Whether it took too long.
    #[must_use]
    pub fn has_timed_out(&self) -> bool {
        self.status.is_none() && !self.is_stopped
    }
}

impl fmt::Display for CommandOutcome {
    /// How it ended, and the last it said.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.unasked, self.status) {
            _ if self.is_stopped => f.write_str("the session ended the program")?,
            (Some(unasked), _) => f.write_str(unasked)?,
            (None, Some(status)) => write!(f, "the program ended with {status}")?,
            (None, None) => f.write_str("the program took too long and was ended")?,
        }
        if !self.stderr.is_empty() {
            write!(f, "; on standard error:\n{}", self.stderr.join("\n"))?;
        }
        Ok(())
    }
}

/// Why a command could not be started.
#[derive(Debug)]
pub struct StartError {
    program: String,
    source: std::io::Error,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, source } = self;
        if program.is_empty() {
            return f.write_str(
                "`command` is empty; write the program and its arguments, as [python, agent.py]",
            );
        }
        write!(
            f,
            "`{program}` cannot be started: {source}; it is started without a shell, so write the program and its \
             arguments as a list, for example [python, agent.py]"
        )
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Runs a command until it ends. To call in a runtime of tokio with its drivers on.
///
/// # Errors
///
/// It cannot be started.
pub async fn run(agent: &AgentCommand) -> Result<CommandOutcome, StartError> {
    let mut running = start(agent, None)?;
    let said = Output::default();
    let (talking, listener) = converse(&mut running, agent, &said);
    let waiting = async { running.child().wait().await.ok() };
    let end = attend(agent, agent.time_limit, talking, waiting).await;
    // What it left running goes too.
    drop(running);
    listener.end(LAST_WORDS).await;
    Ok(end.with(&said))
}

/// Begins to ask a program, and to read what it prints.
fn converse<'a>(
    running: &mut Running,
    agent: &'a AgentCommand,
    said: &'a Output,
) -> (
    impl Future<Output = Result<(), TurnNotSent>> + use<'a>,
    Listener,
) {
    let child = running.child();
    let stdin = child.stdin().take();
    let listener = Listener::new(child.stdout().take(), child.stderr().take(), said);
    (stdio::send_turns(stdin, &agent.turns, said), listener)
}

/// How a program ended.
struct End {
    status: Option<ExitStatus>,
    unasked: Option<String>,
    is_stopped: bool,
}

impl End {
    /// The same with what it printed.
    fn with(self, said: &Output) -> CommandOutcome {
        let printed = said.printed();
        CommandOutcome {
            status: self.status,
            stdout: printed.stdout,
            stderr: printed.stderr.into(),
            said: printed.said,
            unasked: self.unasked,
            is_stopped: self.is_stopped,
        }
    }
}

/// Waits until a program ends, takes too long, or is stopped by its session.
async fn attend(
    agent: &AgentCommand,
    limit: Option<Duration>,
    talking: impl Future<Output = Result<(), TurnNotSent>>,
    waiting: impl Future<Output = Option<ExitStatus>>,
) -> End {
    let ending = async {
        // A program that ends is asked nothing more.
        tokio::pin!(talking, waiting);
        let mut unasked = None;
        let mut is_asked = false;
        loop {
            tokio::select! {
                asked = &mut talking, if !is_asked => {
                    is_asked = true;
                    unasked = asked.err().map(|error| error.to_string());
                }
                status = &mut waiting => {
                    if !is_asked && agent.turns.len() > 1 {
                        let words = "the program ended before it was asked all turns";
                        unasked = Some(words.to_owned());
                    }
                    return (status, unasked);
                }
            }
        }
    };
    let stopped = async {
        match &agent.stop {
            Some(stop) => stop.notified().await,
            None => std::future::pending().await,
        }
    };
    let ending = async {
        tokio::select! {
            (status, unasked) = ending => (status, unasked, false),
            () = stopped => (None, None, true),
        }
    };
    let (status, unasked, is_stopped) = match limit {
        Some(limit) => tokio::time::timeout(limit, ending)
            .await
            .unwrap_or((None, None, false)),
        None => ending.await,
    };
    End {
        status,
        unasked,
        is_stopped,
    }
}

/// Starts a program. `serve`: where it can say that it forks for each run.
fn start(agent: &AgentCommand, serve: Option<&str>) -> Result<Running, StartError> {
    let program = agent.command.first().map_or("", String::as_str);
    let failed = |source| StartError {
        program: program.to_owned(),
        source,
    };
    if program.is_empty() {
        return Err(failed(std::io::ErrorKind::InvalidInput.into()));
    }
    let prompt = agent.turns.first().map_or("", String::as_str);
    let arguments = agent.command.iter().skip(1);
    let arguments = arguments.map(|argument| argument.replace(PROMPT, prompt));
    Running::start(program, &agent.folder, agent.file.as_deref(), |command| {
        command
            .args(arguments)
            .env_remove(SERVE)
            .envs(serve.map(|name| (SERVE, name)));
        for (name, value) in &agent.environment {
            // Clients look whether this one is set, whatever it holds.
            if name == API_KEY && value.is_empty() {
                command.env_remove(name);
            } else {
                command.env(name, value);
            }
        }
    })
    .map_err(failed)
}
