//! A server that is a program: what it is told and what it says, a message a line, and how it ends.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::driver::{LastLines, read_lines};
use crate::process::Running;

/// The longest message that is read, in bytes.
const MAX_MESSAGE: usize = 64 << 20;

/// How much is read at once, in bytes.
const CHUNK: usize = 64 << 10;

/// How much of a line is shown that is no message, in bytes.
const GARBAGE: usize = 200;

/// How long a program may take to say why it ends.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How long an answer may take that was given before the program ended.
const LAST_ANSWER: Duration = Duration::from_millis(500);

/// How long a program may take to end by itself, once its standard input is closed.
const LAST_ORDERS: Duration = Duration::from_secs(2);

/// A server that runs.
#[derive(Debug)]
pub(super) struct Child {
    end: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
    odd: Arc<Mutex<BadOutput>>,
    errors: Arc<Mutex<LastLines>>,
}

/// Takes what a server prints on its standard output.
pub(super) trait OutputHandler: Send + Sync + 'static {
    /// A line on its standard output; whether it is a message.
    fn on_line(&self, line: &[u8]) -> bool;

    /// Nothing more comes: how it ended, and the last it said.
    fn on_end(&self, shown: Option<String>);
}

/// Starts a server, which is told these lines. It runs until it is ended, dropped, or this process ends.
pub(super) fn start(
    command: &[String],
    folder: &Path,
    environment: &[(OsString, OsString)],
    file: Option<&Path>,
    told: UnboundedReceiver<Vec<u8>>,
    hears: Arc<dyn OutputHandler>,
) -> io::Result<Child> {
    let program = command.first().map_or("", String::as_str);
    if program.is_empty() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut running = Running::start(program, folder, file, |started| {
        started
            .args(command.iter().skip(1))
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)));
    })?;
    let child = running.child();
    let (stdin, stdout) = (child.stdin().take(), child.stdout().take());
    let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
        return Err(io::Error::other("its standard streams are not there"));
    };
    let stderr = child.stderr().take();
    let errors = Arc::<Mutex<LastLines>>::default();
    let odd = Arc::<Mutex<BadOutput>>::default();
    let kept = (Arc::clone(&odd), Arc::clone(&errors));
    let said = Arc::clone(&errors);
    let listening = tokio::spawn(read_lines(stderr, move |line| {
        said.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }));
    let (end, ends) = oneshot::channel();
    let running = tokio::spawn(async move {
        let writing = tokio::spawn(write(stdin, told));
        let is_meant = tokio::select! {
            () = read(stdout, &*hears, &odd) => false,
            () = gone(&mut running) => false,
            _ = ends => true,
        };
        writing.abort();
        let _ = writing.await;
        let limit = if is_meant { LAST_ORDERS } else { LAST_WORDS };
        let status = tokio::time::timeout(limit, running.child().wait()).await;
        // What it leaves running may hold its standard error open for ever.
        let _ = tokio::time::timeout(LAST_WORDS, listening).await;
        if !is_meant {
            let status = status.ok().and_then(Result::ok);
            hears.on_end(describe(&odd, &errors, status));
        }
    });
    Ok(Child {
        end: Some(end),
        running,
        odd: kept.0,
        errors: kept.1,
    })
}

/// How a server ended, and what it said that is no message.
fn describe(
    odd: &Mutex<BadOutput>,
    errors: &Mutex<LastLines>,
    status: Option<ExitStatus>,
) -> Option<String> {
    let odd = odd.lock().unwrap_or_else(PoisonError::into_inner);
    let errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
    odd.describe(status, &Vec::from(errors.clone()))
}

impl Child {
    /// What it said till now that is no message.
    pub(super) fn other_output(&self) -> Option<String> {
        describe(&self.odd, &self.errors, None)
    }

    /// Ends the server: it has a moment to end by itself, and is killed otherwise.
    pub(super) async fn end(mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
        let limit = LAST_ORDERS + 2 * LAST_WORDS;
        let _ = tokio::time::timeout(limit, &mut self.running).await;
    }
}

impl Drop for Child {
    /// What is dropped with the task ends.
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// Waits until the program has ended, and what it said last has come. What it left running may keep its standard output
/// open.
async fn gone(running: &mut Running) {
    let _ = running.child().wait().await;
    tokio::time::sleep(LAST_ANSWER).await;
}

/// Writes what the server is told, until nobody tells it more.
async fn write(mut stdin: ChildStdin, mut told: UnboundedReceiver<Vec<u8>>) {
    while let Some(mut line) = told.recv().await {
        line.push(b'\n');
        if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

/// What was said that is no message.
#[derive(Debug, Default)]
struct BadOutput {
    garbage: Option<String>,
    too_long: bool,
}

impl BadOutput {
    fn describe(&self, status: Option<ExitStatus>, errors: &[String]) -> Option<String> {
        let mut shown = Vec::new();
        shown.extend(status.map(|status| format!("it ended with {status}")));
        if self.too_long {
            let most = MAX_MESSAGE >> 20;
            shown.push(format!("it sent a message of more than {most} MiB"));
        }
        if let Some(garbage) = &self.garbage {
            shown.push(format!(
                "on standard output, where only MCP messages may be: {garbage}"
            ));
        }
        if !errors.is_empty() {
            shown.push(format!("on standard error:\n{}", errors.join("\n")));
        }
        (!shown.is_empty()).then(|| shown.join("\n"))
    }
}

/// Reads lines until the end.
async fn read(mut stdout: ChildStdout, hears: &dyn OutputHandler, odd: &Mutex<BadOutput>) {
    let odd = || odd.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut line, mut chunk) = (Vec::new(), vec![0; CHUNK]);
    loop {
        let read = stdout.read(&mut chunk).await.unwrap_or_default();
        let mut parts = chunk[..read].split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            line.extend_from_slice(part);
            let is_whole = parts.peek().is_some() || read == 0;
            if is_whole {
                let said = line.trim_ascii();
                if !said.is_empty() && !hears.on_line(said) {
                    let said = String::from_utf8_lossy(&said[..said.len().min(GARBAGE)]);
                    odd().garbage.get_or_insert_with(|| said.into_owned());
                }
                line.clear();
            }
        }
        if line.len() > MAX_MESSAGE {
            odd().too_long = true;
            return;
        }
        if read == 0 {
            return;
        }
    }
}
