//! Processes in a scrubbed environment, and what they printed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::outcome::{self, Outcome};

/// The only variables that a child inherits: enough to find the toolchain. `CI`, `INSTA_*`,
/// `NEXTEST*`, `CARGO_*`, `RUST_*`, `NO_COLOR` and `TERM` of whoever runs these tests are not.
const KEPT: [&str; 10] = [
    "PATH",
    "HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "TMPDIR",
    "SystemRoot",
    "USERPROFILE",
    "TEMP",
    "TMP",
];

/// After this time a process hangs: far more than the slowest build takes, and less than patience.
const HANGS: Duration = Duration::from_mins(15);

/// A process that is to be run, with nothing of this one's environment but what it needs.
pub fn command(program: impl Into<OsString>, folder: &Path) -> Command {
    let mut command = Command::new(program.into());
    command.env_clear().current_dir(folder);
    for name in KEPT {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// What a process left behind.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The exit code; nothing after a signal.
    pub code: Option<i32>,
    /// What was printed to standard output.
    pub stdout: String,
    /// What was printed to standard error.
    pub stderr: String,
}

/// The signals that end a process, by name and number. One that this process was started to ignore, as in the
/// background of a shell, is left out: what it starts ignores the signal too.
#[must_use]
pub fn signals() -> Vec<(&'static str, i32)> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let all = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("KILL", 9),
        ("TERM", 15),
    ];
    let is_taken = |number: i32| mask.unwrap_or_default() >> (number - 1) & 1 == 0;
    all.into_iter()
        .filter(|(_, number)| is_taken(*number))
        .collect()
}

/// Runs a process to its end. One that does not come to an end is killed, and the test fails.
pub fn run(command: &mut Command) -> Finished {
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    // Read while it runs: a full pipe would stop it.
    let stdout = read_all(child.stdout.take().unwrap());
    let stderr = read_all(child.stderr.take().unwrap());
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > HANGS {
            child.kill().unwrap();
            panic!("{command:?} hangs");
        }
        thread::sleep(Duration::from_millis(1));
    };
    Finished {
        code: status.code(),
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

fn read_all(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text)
            .expect("what is printed is UTF-8");
        text
    })
}

impl Finished {
    /// Checks the exit code; all that was printed is in the message when it is another.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "exit code of\n{self}");
        self
    }

    /// A copy with another standard output.
    pub fn with_stdout(&self, stdout: String) -> Self {
        Self {
            stdout,
            ..self.clone()
        }
    }

    /// The outcome of every case that has a line in the output.
    pub fn outcomes(&self) -> BTreeMap<String, Outcome> {
        let lines = self.stdout.lines();
        let cases: Vec<_> = lines.filter_map(outcome::parse_line).collect();
        let by_name: BTreeMap<_, _> = cases.iter().cloned().collect();
        assert_eq!(by_name.len(), cases.len(), "a case ran twice in\n{self}");
        by_name
    }

    /// The names that `--list` printed, in the order of the output.
    pub fn listed(&self) -> Vec<String> {
        let lines = self.stdout.lines();
        let names = lines.filter_map(|line| line.strip_suffix(": test"));
        names.map(ToOwned::to_owned).collect()
    }

    /// The text of each failure, by case.
    pub fn failures(&self) -> BTreeMap<String, String> {
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        let mut current = None;
        for line in self.stdout.lines() {
            let heading = line
                .strip_prefix("---- ")
                .and_then(|rest| rest.strip_suffix(" ----"));
            if let Some(heading) = heading {
                let name = heading.strip_suffix(" stdout").unwrap_or(heading);
                current = Some(texts.entry(name.to_owned()).or_default());
            } else if line == "failures:" {
                current = None;
            } else if let Some(text) = &mut current {
                text.push_str(line);
                text.push('\n');
            }
        }
        // The standard harness writes `Error: ` before a failure's text, on a line of its own.
        let texts = texts.into_iter().map(|(name, text)| {
            let text = text.strip_prefix("Error: \n").unwrap_or(&text);
            (name, format!("{}\n", text.trim_end()))
        });
        texts.collect()
    }

    /// The failure text of the only case that failed.
    #[track_caller]
    pub fn only_failure(&self) -> (String, String) {
        let mut failures = self.failures();
        assert_eq!(failures.len(), 1, "one failure is expected in\n{self}");
        failures.pop_first().unwrap()
    }

    /// The test executables that cargo says it ran.
    pub fn executables(&self) -> Vec<PathBuf> {
        let lines = self.stderr.lines().map(str::trim_start);
        let run = lines.filter(|line| line.starts_with("Running "));
        let paths = run.filter_map(|line| line.rsplit_once('(')?.1.strip_suffix(')'));
        paths.map(PathBuf::from).collect()
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        write!(
            f,
            "exit code {code:?}\n== stdout\n{stdout}\n== stderr\n{stderr}"
        )
    }
}
