//! A server as a child process: what it says on its standard streams, and how it ends.

use std::collections::VecDeque;
use std::io::{self, Cursor, Read as _};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use mcptest_session::process::Running;
use mcptest_suite::model::Inherit;
use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader, ReadBuf};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::exact::{Exact, Mark};
use super::wire::{self, Broken};
use crate::record::LiveError;
use crate::record::environment::inherited;
use crate::text::thousands;
use crate::trace::without_rounding;

/// The last lines of standard error that are shown.
const SHOWN_LINES: usize = 20;

/// How much of a line is shown that is no message, in bytes.
const GARBAGE: usize = 200;

/// How long an answer may take that was given before the process ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How much is read at once, in bytes.
const READ: usize = 8 << 10;

/// The longest message that is read, in bytes.
pub(super) const MAX_MESSAGE: usize = 64 << 20;

/// How a child process is started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) command: &'a [String],
    pub(super) env: &'a [(String, String)],
    pub(super) inherit_env: &'a Inherit,
    /// Where it runs; a relative path to a program starts here too.
    pub(super) folder: &'a Path,
}

/// The messages of a child process.
pub(super) type ChildTransport = AsyncRwTransport<RoleClient, Watched, Exact<ChildStdin>>;

/// A child process, killed when it is dropped.
#[derive(Debug)]
pub(super) struct Process {
    running: Running,
    said: Arc<Mutex<Said>>,
    /// Woken when a message cannot be read.
    broken: Arc<Notify>,
    /// Reads standard error until its end.
    listener: Option<JoinHandle<()>>,
}

/// What a process said that is no message.
#[derive(Debug, Default)]
struct Said {
    /// The last lines on standard error.
    errors: VecDeque<String>,
    /// The beginning of the first line on standard output that is no message.
    garbage: Option<Vec<u8>>,
    /// The first message that cannot be read.
    broken: Option<Broken>,
    /// A message was longer than is read.
    too_long: bool,
}

/// Starts a process. What is marked in its messages are numbers.
pub(super) fn start(start: Start<'_>, mark: Mark) -> io::Result<(ChildTransport, Process)> {
    let program = start.command.first().map_or("", String::as_str);
    // Launchers such as `npx` start the server as a child of theirs; all of them end together.
    let mut running = Running::start(program, start.folder, None, |command| {
        command
            .args(start.command.iter().skip(1))
            .env_clear()
            .envs(inherited(start.inherit_env))
            .envs(start.env.iter().map(|(name, value)| (name, value)));
    })?;
    let child = running.child();
    let said = Arc::<Mutex<Said>>::default();
    let stderr = child.stderr().take();
    let listener = stderr.map(|stderr| tokio::spawn(listen(stderr, Arc::clone(&said))));
    let (Some(stdin), Some(stdout)) = (child.stdin().take(), child.stdout().take()) else {
        return Err(io::Error::other("its standard streams are not there"));
    };
    let broken = Arc::<Notify>::default();
    let watched = Watched {
        stdout,
        said: Arc::clone(&said),
        broken: Arc::clone(&broken),
        line: Vec::new(),
        lines: Cursor::default(),
    };
    let transport =
        AsyncRwTransport::new(watched, Exact::new(stdin, mark)).with_max_line_length(usize::MAX);
    let process = Process {
        running,
        said,
        broken,
        listener,
    };
    Ok((transport, process))
}

async fn listen(stderr: ChildStderr, said: Arc<Mutex<Said>>) {
    let mut lines = BufReader::new(stderr).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.errors.len() == SHOWN_LINES {
            said.errors.pop_front();
        }
        let line = String::from_utf8_lossy(&line);
        said.errors.push_back(line.trim_end().to_owned());
    }
}

impl Process {
    /// Waits until no answer can come any more: the process ended, or what it answered cannot be read.
    /// What was on its way when it ended has a moment to arrive.
    pub(super) async fn lost(&mut self) -> Option<Broken> {
        tokio::select! {
            () = self.broken.notified() => {}
            _ = self.running.child().wait() => tokio::time::sleep(LAST_WORDS).await,
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.broken.clone()
    }

    /// Adds what the process said, and, where it may have ended by itself, how it did.
    pub(super) async fn explain(
        &mut self,
        mut error: LiveError,
        may_have_ended: bool,
    ) -> LiveError {
        let mut shown = Vec::new();
        // A process that ends says why, maybe a moment later.
        let moment = Duration::from_millis(200);
        let ended = tokio::time::timeout(moment, self.running.child().wait()).await;
        if let (Ok(Ok(status)), true) = (ended, may_have_ended) {
            shown.push(format!("it ended with {status}"));
        }
        if let Some(listener) = self.listener.take() {
            // What it leaves running may hold its standard error open for ever.
            let _ = tokio::time::timeout(moment, listener).await;
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.too_long {
            let most = thousands(MAX_MESSAGE as u64);
            shown.push(format!("it sent a message of more than {most} bytes"));
        }
        if let Some(garbage) = &said.garbage {
            let line = String::from_utf8_lossy(garbage);
            shown.push(format!(
                "on standard output, where only MCP messages may be: {}",
                line.trim_end()
            ));
        }
        if let Some(broken) = &said.broken {
            shown.push(format!("its message {}:\n{}", broken.problem, broken.shown));
        }
        if !said.errors.is_empty() {
            let lines: Vec<&str> = said.errors.iter().map(String::as_str).collect();
            shown.push(format!("on standard error:\n{}", lines.join("\n")));
        }
        if !shown.is_empty() {
            error.shown = Some(shown.join("\n"));
        }
        error
    }

    /// Waits a moment for the process to end by itself, now that its standard input is closed, and
    /// kills it otherwise.
    pub(super) async fn end(mut self) {
        let ended = tokio::time::timeout(Duration::from_secs(2), self.running.child().wait()).await;
        if ended.is_err() {
            // The server may have ended just now; nothing is left to do either way.
            let _ = self.running.child().start_kill();
            let _ = self.running.child().wait().await;
        }
    }
}

/// Standard output, watched for what is no message. It gives whole lines, in which numbers that would be
/// rounded are texts.
#[derive(Debug)]
pub(super) struct Watched {
    stdout: ChildStdout,
    said: Arc<Mutex<Said>>,
    broken: Arc<Notify>,
    /// The line that is being read.
    line: Vec<u8>,
    /// What was read and is not given yet.
    lines: Cursor<Vec<u8>>,
}

impl Watched {
    /// Looks at what was read.
    fn read(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut parts = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            self.line.extend_from_slice(part);
            if self.line.len() > MAX_MESSAGE {
                self.said().too_long = true;
                return Err(io::Error::other("a message is too long"));
            }
            if parts.peek().is_some() {
                let mut line = std::mem::take(&mut self.line);
                let exact = std::str::from_utf8(&line).ok();
                if let Some(exact) = exact.and_then(|line| without_rounding(line, str::to_owned)) {
                    line = exact.into_bytes();
                }
                self.whole(&line);
                self.lines.get_mut().extend(line);
                self.lines.get_mut().push(b'\n');
            }
        }
        Ok(())
    }

    fn whole(&self, line: &[u8]) {
        match wire::look_at(line) {
            wire::Line::Fine => {}
            wire::Line::Garbage => {
                let beginning = line.trim_ascii_start();
                let beginning = beginning[..beginning.len().min(GARBAGE)].to_vec();
                self.said().garbage.get_or_insert(beginning);
            }
            wire::Line::Broken(broken) => {
                self.said().broken.get_or_insert(broken);
                self.broken.notify_one();
            }
        }
    }

    fn said(&self) -> std::sync::MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut bytes = [0; READ];
        while self.lines.get_ref().is_empty() {
            let mut read = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut self.stdout).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                // What has no end is given too.
                let rest = std::mem::take(&mut self.line);
                self.lines = Cursor::new(rest);
                break;
            }
            self.read(read.filled())?;
        }
        let given = self.lines.read(buffer.initialize_unfilled())?;
        buffer.advance(given);
        if self.lines.position() >= self.lines.get_ref().len() as u64 {
            self.lines = Cursor::default();
        }
        Poll::Ready(Ok(()))
    }
}
