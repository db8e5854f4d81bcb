//! A process that forks for each run of a program, on Linux.
//!
//! The harness gives it the standard streams of a run and what differs in the environment. It answers with the number of
//! its child, waits until the harness watches over the child's group, and says how the child ended. Then the group has
//! ended too.

use std::cell::Cell;
use std::io::{self, IoSlice, Write as _, pipe};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener as StdListener, UnixStream as StdStream};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Map, Value, from_str};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::net::{UnixListener, UnixStream};

use super::stdio::{Listener, Output, send_turns};
use super::{AgentCommand, CommandOutcome, End, LAST_WORDS, attend};
use crate::endpoint::secret;
use crate::process::{Running, Watcher};

/// Whether programs can be forked here.
pub(super) const IS_HERE: bool = true;

/// What differs between the runs of one program, beside their streams.
const OF_A_RUN: &str = "MCPTEST_RECORDED_AT";

/// How long the process may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The longest line that it may say.
const LONGEST: usize = 4 << 10;

/// A process that forks.
#[derive(Debug)]
pub(super) struct Server {
    stream: StdStream,
    /// The run for which it was started.
    first: AgentCommand,
    /// What it printed before it could fork belongs to each run.
    printed: Output,
    is_gone: bool,
    /// It ends with this.
    _running: Running,
}

impl Server {
    /// A process that said that it forks, and what it printed until then.
    pub(super) fn new(
        stream: StdStream,
        first: AgentCommand,
        printed: Output,
        running: Running,
    ) -> Self {
        Self {
            stream,
            first,
            printed,
            is_gone: false,
            _running: running,
        }
    }

    /// Whether a run differs from the first one only in what a child is told.
    pub(super) fn fits(&self, agent: &AgentCommand) -> bool {
        let alike = |agent: &AgentCommand| {
            let mut environment = agent.environment.clone();
            environment.retain(|(name, _)| name != OF_A_RUN);
            environment
        };
        let first = &self.first;
        agent.command == first.command
            && agent.folder == first.folder
            && agent.turns == first.turns
            && alike(agent) == alike(first)
    }

    /// Whether it can make no further run.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Makes a run. Nothing has happened if there is none.
    pub(super) async fn run(
        &mut self,
        agent: &AgentCommand,
        limit: Option<Duration>,
    ) -> Option<CommandOutcome> {
        let begun = tokio::time::timeout(PATIENCE, self.begin(agent)).await;
        let Ok(Ok(mut child)) = begun else {
            self.is_gone = true;
            return None;
        };
        let said = self.printed.branch();
        let listener = Listener::new(Some(child.stdout), Some(child.stderr), &said);
        let talking = send_turns(Some(child.stdin), &agent.turns, &said);
        let is_lost = Cell::new(false);
        let waiting = async {
            let status = child.lines.next().await;
            let status = status.ok().and_then(|line| line.parse().ok());
            is_lost.set(status.is_none());
            status.map(ExitStatus::from_raw)
        };
        let mut end = attend(agent, limit, talking, waiting).await;
        if is_lost.get() {
            end = End {
                status: Some(ExitStatus::from_raw(1 << 8)),
                unasked: Some(
                    "the process that `mcptest.serve` left for other runs was ended by this one"
                        .into(),
                ),
                is_stopped: false,
            };
        } else if end.status.is_none() {
            _ = kill_process_group(child.pid, Signal::KILL);
            let told = tokio::time::timeout(PATIENCE, child.lines.next()).await;
            is_lost.set(!matches!(told, Ok(Ok(_))));
        }
        if is_lost.get() {
            self.is_gone = true;
            _ = kill_process_group(child.pid, Signal::KILL);
        }
        drop(child.watcher);
        listener.end(LAST_WORDS).await;
        Some(end.with(&said))
    }

    /// Lets it fork. The child goes on when its group is watched over.
    async fn begin(&self, agent: &AgentCommand) -> io::Result<Child> {
        let stream = UnixStream::from_std(self.stream.try_clone()?)?;
        let (stdin, ours) = pipe()?;
        let stdin_writer = Sender::from_owned_fd(ours.into())?;
        let (ours, stdout) = pipe()?;
        let stdout_reader = Receiver::from_owned_fd(ours.into())?;
        let (ours, stderr) = pipe()?;
        let stderr_reader = Receiver::from_owned_fd(ours.into())?;
        let (ready, mut go) = pipe()?;
        let theirs: [OwnedFd; 4] = [stdin.into(), stdout.into(), stderr.into(), ready.into()];
        let own = agent.environment.iter();
        let own = own.filter(|(name, _)| name == OF_A_RUN);
        let own: Map<String, Value> = own
            .map(|(name, value)| (name.clone(), value.as_str().into()))
            .collect();
        give(&stream, Value::from(own).to_string().as_bytes(), &theirs)?;
        drop(theirs);
        let mut lines = Lines::new(stream);
        let number = lines.next().await?;
        let pid = number.parse().ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("it says no process"))?;
        let group = u32::try_from(pid.as_raw_nonzero().get()).map_err(io::Error::other)?;
        let watcher = Watcher::start(group, agent.file.as_deref());
        // A child that is gone says how it ended.
        _ = go.write_all(b"g");
        Ok(Child {
            pid,
            stdin: stdin_writer,
            stdout: stdout_reader,
            stderr: stderr_reader,
            lines,
            watcher,
        })
    }
}

/// A run of a process that forks.
struct Child {
    pid: Pid,
    stdin: Sender,
    stdout: Receiver,
    stderr: Receiver,
    lines: Lines,
    watcher: Option<Watcher>,
}

/// Sends a line, and files with it.
fn give(stream: &UnixStream, line: &[u8], files: &[OwnedFd; 4]) -> io::Result<()> {
    let files: Vec<BorrowedFd<'_>> = files.iter().map(|file| file.as_fd()).collect();
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&files)) {
        return Err(io::Error::other("the files have no space"));
    }
    let sent = sendmsg(
        stream,
        &[IoSlice::new(line)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    if sent == line.len() {
        Ok(())
    } else {
        Err(io::ErrorKind::WriteZero.into())
    }
}

/// What the other side says, line by line. A line that has come in part is kept.
struct Lines {
    stream: UnixStream,
    held: Vec<u8>,
}

impl Lines {
    fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            held: Vec::new(),
        }
    }

    async fn next(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.held.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.held.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            if self.stream.read_buf(&mut self.held).await? == 0 || self.held.len() > LONGEST {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Where a process can say that it forks. No file lies there, and nobody can guess it.
pub(super) struct Offer {
    listener: UnixListener,
    pub(super) name: String,
}

/// What a process says.
pub(super) enum Answer {
    Forks(StdStream),
    /// It makes its own run, as all others do.
    Hindered(Option<String>),
}

impl Offer {
    pub(super) fn new() -> io::Result<Self> {
        let name = format!("mcptest-{}", secret()?);
        let listener = StdListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener: UnixListener::from_std(listener)?,
            name,
        })
    }

    /// Waits until the process says that it forks, or what stands in the way. `given`: what it was given to read.
    pub(super) async fn answer(
        &self,
        process: Option<u32>,
        given: &str,
        asked: impl Fn() -> usize,
    ) -> Answer {
        let process = process.and_then(|id| i32::try_from(id).ok());
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                return Answer::Hindered(None);
            };
            // A program that the agent started, or one below another that would not know that it has ended.
            let peer = stream.peer_cred().ok().and_then(|peer| peer.pid());
            if peer.is_none() || peer != process {
                continue;
            }
            let mut lines = Lines::new(stream);
            let Ok(line) = lines.next().await else {
                continue;
            };
            let said: Value = from_str(&line).unwrap_or_default();
            let hindrance = if let Some(hindrance) = said["hindrance"].as_str() {
                hindrance
            } else if said["unread"] != given.len() {
                "it reads its standard input"
            } else if asked() > 0 {
                "it asks the address of its session"
            } else if lines.stream.write_all(b"f").await.is_ok()
                && let Ok(stream) = lines.stream.into_std()
            {
                return Answer::Forks(stream);
            } else {
                continue;
            };
            return Answer::Hindered(Some(hindrance.to_owned()));
        }
    }
}
