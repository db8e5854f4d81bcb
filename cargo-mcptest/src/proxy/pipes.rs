//! Between a client and a server over standard input and output.

use std::io::{self, ErrorKind, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use mcptest_session::mcp::frames::Lines;
use mcptest_session::mcp::messages::Speaker;

use super::{Proxy, RecordedSession};
use crate::child_process;
use crate::failure::Failure;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// Something that passed through the pipes.
enum PipeEvent {
    Bytes(Speaker, Vec<u8>),
    /// The server has ended.
    End,
}

/// Relays until the client or the server ends; the exit code.
pub(super) fn run(
    proxy: &Proxy,
    (mut session, mut recording): RecordedSession,
) -> Result<u8, Failure> {
    let (program, arguments) = proxy
        .command
        .split_first()
        .ok_or_else(|| Failure::new("name the server after `--`"))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    // A server that ends by itself leaves running what it wants to.
    let (mut server, _bound) = child_process::spawn(&mut command).map_err(|error| {
        Failure::new(format!("the server `{program}` cannot be started: {error}"))
            .with_help("write its command after `--`, as the client's configuration has it")
    })?;
    let (to_server, from_server) = (server.stdin.take(), server.stdout.take());
    let (seen, passing) = mpsc::channel();
    let recorder = thread::spawn(move || {
        let mut lines = [Lines::default(), Lines::default()];
        let mut wait = Duration::MAX;
        loop {
            match passing.recv_timeout(wait) {
                Ok(PipeEvent::Bytes(side, bytes)) => {
                    lines[side as usize].take(&bytes, |frame| session.add_frame(side, frame));
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The client may hold its end open for as long as it likes.
                Ok(PipeEvent::End) | Err(RecvTimeoutError::Disconnected) => break,
            }
            wait = recording.write_if_due(&mut session);
        }
        for (side, lines) in [Speaker::Client, Speaker::Server]
            .into_iter()
            .zip(&mut lines)
        {
            // The last line may lack its end.
            if let Some(frame) = lines.end() {
                session.add_frame(side, frame);
            }
        }
        (session, recording)
    });
    if let Some(to_server) = to_server {
        let seen = seen.clone();
        // The client may hold its end open longer than the server lives, so nobody waits for it.
        thread::spawn(move || relay(io::stdin(), to_server, Speaker::Client, &seen));
    }
    if let Some(from_server) = from_server {
        relay(from_server, io::stdout(), Speaker::Server, &seen);
    }
    let status = server.wait()?;
    seen.send(PipeEvent::End).ok();
    drop(seen);
    let run = recorder
        .join()
        .map_err(|_| Failure::new("the recording of this session broke off"))?;
    let recording = proxy.finish(run, true)?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(match code {
        Some(0) if !recording.is_whole() => 1,
        Some(code) => code,
        None => 1,
    })
}

/// Copies what is read until it ends, and tells of it. A side that cannot be written to has
/// ended, and so does the relay.
fn relay(mut from: impl Read, mut to: impl Write, side: Speaker, seen: &Sender<PipeEvent>) {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        // Told before it goes on: no answer may be seen before what it answers. Who looks on has no say in
        // what goes through.
        seen.send(PipeEvent::Bytes(side, chunk[..read].to_vec()))
            .ok();
        if to
            .write_all(&chunk[..read])
            .and_then(|()| to.flush())
            .is_err()
        {
            return;
        }
    }
}
