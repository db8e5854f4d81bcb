//! A server as a child process: what it says on its standard streams, and how it ends.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader, ReadBuf};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

use crate::record::Trouble;
use crate::render::thousands;

/// The last lines of standard error that are shown.
const SHOWN_LINES: usize = 20;

/// The longest message that is read, in bytes.
pub(super) const MAX_MESSAGE: usize = 64 << 20;

/// How a child process is started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) command: &'a [String],
    pub(super) env: &'a [(String, String)],
    /// Where it runs; a relative path to a program starts here too.
    pub(super) folder: &'a Path,
}

/// The messages of a child process.
pub(super) type ChildTransport = AsyncRwTransport<RoleClient, Watched, ChildStdin>;

/// A child process, killed when it is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Box<dyn ChildWrapper>,
    said: Arc<Mutex<Said>>,
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
    /// A message was longer than is read.
    too_long: bool,
}

/// Starts a process.
pub(super) fn start(start: Start<'_>) -> io::Result<(ChildTransport, Process)> {
    let program = start.command.first().map_or("", String::as_str);
    let path = Path::new(program);
    let relative = path.components().count() > 1;
    let program = if relative {
        start.folder.join(path).into_os_string()
    } else {
        program.into()
    };
    let mut command = CommandWrap::with_new(program, |command| {
        command
            .args(start.command.iter().skip(1))
            .envs(start.env.iter().map(|(name, value)| (name, value)))
            .current_dir(start.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    });
    // Launchers such as `npx` start the server as a child of theirs; all of them end together.
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(process_wrap::tokio::JobObject);
    command.wrap(KillOnDrop);
    let mut child = command.spawn()?;
    let said = Arc::<Mutex<Said>>::default();
    let stderr = child.stderr().take();
    let listener = stderr.map(|stderr| tokio::spawn(listen(stderr, Arc::clone(&said))));
    let (Some(stdin), Some(stdout)) = (child.stdin().take(), child.stdout().take()) else {
        return Err(io::Error::other("its standard streams are not there"));
    };
    let watched = Watched {
        stdout,
        said: Arc::clone(&said),
        line: Line::default(),
    };
    let transport = AsyncRwTransport::new(watched, stdin).with_max_line_length(usize::MAX);
    let process = Process {
        child,
        said,
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
    /// Adds what the process said, and, where it may have ended by itself, how it did.
    pub(super) async fn explain(&mut self, mut trouble: Trouble, may_have_ended: bool) -> Trouble {
        let mut shown = Vec::new();
        // A process that ends says why, maybe a moment later.
        let moment = Duration::from_millis(200);
        let ended = tokio::time::timeout(moment, self.child.wait()).await;
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
        if !said.errors.is_empty() {
            let lines: Vec<&str> = said.errors.iter().map(String::as_str).collect();
            shown.push(format!("on standard error:\n{}", lines.join("\n")));
        }
        if !shown.is_empty() {
            trouble.shown = Some(shown.join("\n"));
        }
        trouble
    }

    /// Waits a moment for the process to end by itself, now that its standard input is closed, and
    /// kills it otherwise.
    pub(super) async fn end(mut self) {
        let ended = tokio::time::timeout(Duration::from_secs(2), self.child.wait()).await;
        if ended.is_err() {
            self.kill();
            let _ = self.child.wait().await;
        }
    }

    fn kill(&mut self) {
        // It may have ended just now; nothing is left to do either way.
        let _ = self.child.start_kill();
    }
}

impl Drop for Process {
    /// What the process started is killed with it.
    fn drop(&mut self) {
        self.kill();
    }
}

/// Standard output, watched for what is no message.
#[derive(Debug)]
pub(super) struct Watched {
    stdout: ChildStdout,
    said: Arc<Mutex<Said>>,
    line: Line,
}

/// The line that is being read.
#[derive(Debug, Default)]
struct Line {
    length: usize,
    /// Its beginning, where it cannot be a message.
    garbage: Option<Vec<u8>>,
}

impl Line {
    /// Reads on; returns the first line that is no message once it is whole or long enough.
    fn read(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut found = None;
        for byte in bytes {
            if *byte == b'\n' {
                found = found.or(self.garbage.take());
                *self = Self::default();
                continue;
            }
            if self.length == 0 && !byte.is_ascii_whitespace() && *byte != b'{' && *byte != b'[' {
                self.garbage = Some(Vec::new());
            }
            if self.length > 0 || !byte.is_ascii_whitespace() {
                self.length += 1;
            }
            if let Some(garbage) = &mut self.garbage
                && garbage.len() < 200
            {
                garbage.push(*byte);
            }
        }
        found
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stdout).poll_read(context, buffer))?;
        let Self { said, line, .. } = &mut *self;
        let garbage = line.read(&buffer.filled()[before..]);
        if garbage.is_some() || line.length > MAX_MESSAGE {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            said.garbage = said.garbage.take().or(garbage);
            said.too_long |= line.length > MAX_MESSAGE;
            if said.too_long {
                return Poll::Ready(Err(io::Error::other("a message is too long")));
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_message_is_noticed_once_it_ends() {
        let mut line = Line::default();
        assert_eq!(line.read(b"{\"a\": 1}\n  [\n\n"), None);
        assert_eq!(line.read(b"starting "), None);
        assert_eq!(line.read(b"up\n{}\nagain\n"), Some(b"starting up".to_vec()));
    }

    #[test]
    fn the_length_of_a_line_is_counted_across_reads() {
        let mut line = Line::default();
        line.read(b"{\"a\"");
        line.read(b": 1");
        assert_eq!(line.length, 7);
        line.read(b"}\n");
        assert_eq!(line.length, 0);
    }
}
