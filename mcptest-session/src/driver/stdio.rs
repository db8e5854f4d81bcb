//! The standard streams of a command: the turns that are written to it, and what it prints.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::lossless::{Parsed, parse};

/// The last lines of standard error that are kept.
const SHOWN_LINES: usize = 20;

/// The most bytes of a line that are kept.
const LONGEST_LINE: usize = 64 << 10;

/// The most bytes of standard output that are kept.
const MOST: usize = 16 << 20;

/// What a command printed.
#[derive(Debug, Clone, Default)]
pub(super) struct Printed {
    pub(super) stdout: String,
    pub(super) stderr: LastLines,
    /// The lines `{"said": "…"}`.
    pub(super) said: Vec<String>,
}

/// The last lines of what a program prints on its standard error.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastLines(VecDeque<String>);

impl LastLines {
    pub(crate) fn push(&mut self, line: &str) {
        if self.0.len() == SHOWN_LINES {
            self.0.pop_front();
        }
        self.0.push_back(line.trim_end().to_owned());
    }
}

impl From<LastLines> for Vec<String> {
    fn from(lines: LastLines) -> Self {
        lines.0.into()
    }
}

/// What a command printed till now, shared by the tasks that read its streams.
#[derive(Debug, Clone, Default)]
pub(super) struct Output {
    printed: Arc<Mutex<Printed>>,
    more: Arc<Notify>,
}

impl Output {
    /// What was printed till now, to which other programs add each for itself.
    #[cfg(all(feature = "play", target_os = "linux"))]
    pub(super) fn branch(&self) -> Self {
        Self {
            printed: Arc::new(Mutex::new(self.printed())),
            more: Arc::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Printed> {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn printed(&self) -> Printed {
        self.lock().clone()
    }

    /// Waits until so many turns were answered.
    async fn wait_for_answers(&self, count: usize) {
        loop {
            let more = self.more.notified();
            if self.lock().said.len() >= count {
                return;
            }
            more.await;
        }
    }

    fn push_stdout(&self, line: &str) {
        let mut printed = self.lock();
        if printed.stdout.len() + line.len() < MOST {
            printed.stdout.push_str(line);
        }
        if let Ok(Parsed { value, .. }) = parse(line.as_bytes())
            && let Some(said) = value["said"].as_str()
        {
            printed.said.push(said.to_owned());
            drop(printed);
            self.more.notify_one();
        }
    }

    fn push_stderr(&self, line: &str) {
        self.lock().stderr.push(line);
    }
}

/// Reads what a command prints, until its end.
pub(super) struct Listener(Vec<JoinHandle<()>>);

impl Listener {
    pub(super) fn new(
        stdout: Option<impl AsyncRead + Unpin + Send + 'static>,
        stderr: Option<impl AsyncRead + Unpin + Send + 'static>,
        said: &Output,
    ) -> Self {
        let (out, err) = (said.clone(), said.clone());
        Self(vec![
            tokio::spawn(read_lines(stdout, move |line| out.push_stdout(line))),
            tokio::spawn(read_lines(stderr, move |line| err.push_stderr(line))),
        ])
    }

    /// Waits a moment for what is on its way.
    pub(super) async fn end(self, moment: Duration) {
        for mut reading in self.0 {
            if tokio::time::timeout(moment, &mut reading).await.is_err() {
                reading.abort();
            }
        }
    }
}

/// Gives each line, with its end; of one that is too long, pieces.
pub(crate) async fn read_lines(from: Option<impl AsyncRead + Unpin>, mut each: impl FnMut(&str)) {
    let Some(mut from) = from else { return };
    let (mut held, mut part) = (Vec::new(), vec![0; 8 << 10]);
    loop {
        let read = from.read(&mut part).await.unwrap_or_default();
        held.extend_from_slice(&part[..read]);
        while let Some(end) = held.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = held.drain(..=end).collect();
            each(&String::from_utf8_lossy(&line));
        }
        if read == 0 || held.len() > LONGEST_LINE {
            if !held.is_empty() {
                each(&String::from_utf8_lossy(&held));
                held.clear();
            }
            if read == 0 {
                return;
            }
        }
    }
}

/// A turn that a command was not asked.
#[derive(Debug)]
pub(super) struct TurnNotSent {
    /// Its number, from 1.
    turn: usize,
    /// How many turns there are.
    turns: usize,
    error: io::Error,
}

impl fmt::Display for TurnNotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { turn, turns, error } = self;
        write!(
            f,
            "turn {turn} of {turns} could not be sent to the program: {error}; with several turns the program reads lines \
             `{{\"user\": \"…\"}}` and answers each with a line `{{\"said\": \"…\"}}`"
        )
    }
}

impl Error for TurnNotSent {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

/// Asks a command: one prompt as it is; several turns a JSON line each, and each is answered by one.
///
/// # Errors
///
/// The command closed its standard input before it was asked all turns.
pub(super) async fn send_turns(
    stdin: Option<impl AsyncWrite + Unpin>,
    turns: &[String],
    said: &Output,
) -> Result<(), TurnNotSent> {
    let Some(mut stdin) = stdin else {
        return Ok(());
    };
    if let [prompt] = turns {
        // A program may take the prompt from elsewhere, and read nothing.
        let _ = write_and_flush(&mut stdin, prompt).await;
        return Ok(());
    }
    for (index, turn) in turns.iter().enumerate() {
        let line = line_of(turn);
        let sent = write_and_flush(&mut stdin, &line).await;
        sent.map_err(|error| TurnNotSent {
            turn: index + 1,
            turns: turns.len(),
            error,
        })?;
        said.wait_for_answers(index + 1).await;
    }
    Ok(())
}

fn line_of(turn: &str) -> String {
    format!("{}\n", json!({ "user": turn }))
}

/// What a command is given before it has said anything.
#[cfg(all(feature = "play", target_os = "linux"))]
pub(super) fn beginning(turns: &[String]) -> String {
    match turns {
        [] => String::new(),
        [prompt] => prompt.clone(),
        [first, ..] => line_of(first),
    }
}

async fn write_and_flush(stdin: &mut (impl AsyncWrite + Unpin), text: &str) -> io::Result<()> {
    stdin.write_all(text.as_bytes()).await?;
    stdin.flush().await
}
