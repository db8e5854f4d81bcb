//! A server that is a program: how it starts, what it says on its standard error, and how it ends.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcptest_session::process::Running;
use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::error::ServerError;
use crate::failure::Failure;

/// The last lines of standard error that are shown.
const LINES: usize = 20;

/// How long what a program said may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// How long a program may take to end by itself, once its standard input is closed.
const LAST_ORDERS: Duration = Duration::from_secs(2);

/// The messages of a program.
type ProgramTransport = AsyncRwTransport<RoleClient, DuplexStream, ChildStdin>;

/// How much of what a program says may wait to be read, in bytes.
const WAITING: usize = 64 * 1024;

/// A server that runs. The server ends when this is dropped, and when this process ends.
pub(super) struct ServerProcess {
    running: Running,
    errors: Arc<Mutex<VecDeque<String>>>,
    listener: Option<JoinHandle<()>>,
    /// A message came that no reader of JSON takes.
    too_deep: Arc<Notify>,
}

impl ServerProcess {
    /// Starts a program with what this process has of environment, and gives the way to speak to it.
    pub(super) fn start(command: &[String]) -> Result<(Self, ProgramTransport), Failure> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| Failure::new("name the server after `--`"))?;
        let failed = |error: std::io::Error| {
            Failure::new(format!("the server `{program}` cannot be started: {error}"))
                .with_help("write its command after `--`, as the client's configuration has it")
        };
        // Launchers such as `npx` start the server as a child of theirs; all of them end together.
        let mut running = Running::start(program, Path::new("."), None, |command| {
            command.args(arguments);
        })
        .map_err(failed)?;
        let child = running.child();
        let (Some(stdin), Some(stdout)) = (child.stdin().take(), child.stdout().take()) else {
            return Err(Failure::new(format!(
                "the standard streams of `{program}` are not there"
            )));
        };
        let errors = Arc::<Mutex<VecDeque<String>>>::default();
        let stderr = child.stderr().take();
        let listener =
            stderr.map(|stderr| tokio::spawn(collect_stderr(stderr, Arc::clone(&errors))));
        let too_deep = Arc::<Notify>::default();
        let (said, heard) = tokio::io::duplex(WAITING);
        tokio::spawn(forward_stdout(stdout, said, Arc::clone(&too_deep)));
        let process = Self {
            running,
            errors,
            listener,
            too_deep,
        };
        Ok((process, AsyncRwTransport::new(heard, stdin)))
    }

    /// Tells of a message that is nested too deep: whoever waits for an answer would wait for ever.
    pub(super) fn too_deep(&self) -> Arc<Notify> {
        Arc::clone(&self.too_deep)
    }

    /// Lets the server end by itself, and kills it otherwise.
    pub(super) async fn end(&mut self) {
        if timeout(LAST_ORDERS, self.running.child().wait())
            .await
            .is_err()
        {
            self.kill().await;
        }
    }

    async fn kill(&mut self) {
        // One that has ended meanwhile needs no killing.
        _ = Box::into_pin(self.running.child().kill()).await;
    }

    /// The server could not be asked: why, how it ended if it did, and the last it said.
    pub(super) async fn failure(&mut self, server: &str, why: &ServerError) -> Failure {
        let mut message = format!("the server `{server}` {why}");
        if let Ok(Ok(status)) = timeout(LAST_WORDS, self.running.child().wait()).await {
            message.push_str(&format!("; it ended with {status}"));
        }
        self.kill().await;
        if let Some(listener) = self.listener.take() {
            // What it leaves running may hold its standard error open for ever.
            _ = timeout(LAST_WORDS, listener).await;
        }
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let errors: Vec<&str> = errors.iter().map(String::as_str).collect();
        if errors.is_empty() {
            message.push_str("; it wrote nothing to standard error");
        } else {
            message.push_str(&format!("; on standard error:\n{}", errors.join("\n")));
        }
        Failure::new(message).with_help("the command after `--` starts a server that speaks MCP over its standard streams, as a client's configuration has it")
    }
}

/// Passes on what a program says, line by line, and tells of a message that is nested too deep to be read.
async fn forward_stdout(stdout: ChildStdout, mut to: DuplexStream, too_deep: Arc<Notify>) {
    let mut lines = BufReader::new(stdout);
    let mut line = Vec::new();
    while let Ok(1..) = lines.read_until(b'\n', &mut line).await {
        let read = serde_json::from_slice::<Value>(&line);
        if read.is_err_and(|error| error.to_string().starts_with("recursion limit")) {
            too_deep.notify_one();
        }
        if to.write_all(&line).await.is_err() {
            return;
        }
        line.clear();
    }
}

async fn collect_stderr(stderr: ChildStderr, errors: Arc<Mutex<VecDeque<String>>>) {
    let mut lines = BufReader::new(stderr).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        let mut errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
        if errors.len() == LINES {
            errors.pop_front();
        }
        errors.push_back(line);
    }
}
