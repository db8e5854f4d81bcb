//! A crate whose agent is a loop of its own, built without the feature: no network, no servers,
//! tools that are functions. What it does is steered by prompts and by the environment.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::folder::{Folder, collect};
use crate::process::{self, Finished};
use crate::workshop::{self, manifest};

const TARGETS: &str = "\
serde_json = \"1\"

[[test]]
name = \"agents\"
harness = false

[workspace]
";

const AGENTS: &str = r#"//! An agent that counts, with tools that are functions.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

fn main() -> ExitCode {
    mcptest::harness!().record_with(clerk).run()
}

fn clerk(asked: &mcptest::RunRequest, run: &mut mcptest::Recorder) -> Result<(), String> {
    note(asked.run);
    wait();
    if asked.user_turns[0] == "Forget the user." {
        run.said("Hm.");
        return Ok(());
    }
    for turn in &asked.user_turns {
        run.user(turn);
        answer(turn, asked, run)?;
    }
    Ok(())
}

fn answer(turn: &str, asked: &mcptest::RunRequest, run: &mut mcptest::Recorder) -> Result<(), String> {
    let said = match turn {
        "Count the pens." => {
            run.step(120, 14);
            let call = run.tool_called("desk", "count", json!({ "article": "pen" }));
            let pens = match run.injected_fault(call) {
                Some(_) => return Err("no faults here".to_owned()),
                None => count("pen"),
            };
            run.tool_returned(call, json!(pens.to_string()));
            run.step(150, 9);
            format!("There are {pens} pens, says run {}. {}", asked.run, generation())
        }
        "Say the same." => {
            run.duration_ms(5);
            "The same.".to_owned()
        }
        "Say the secret." => {
            run.secret("DB_PASSWORD", "hunter2hunter2");
            "It is hunter2hunter2.".to_owned()
        }
        "Fail with the secret." => {
            run.secret("DB_PASSWORD", "hunter2hunter2");
            return Err("cannot sign in with hunter2hunter2".to_owned());
        }
        "Keep it yourself." => run.add_to("kept").map_or_else(|error| error.to_string(), |path| path.display().to_string()),
        "Fail at the second run." if asked.run == 2 => {
            return Err(format!("no pens for run {} of {}", asked.run, asked.runs));
        }
        "Panic at the second run." if asked.run == 2 => panic!("the pens fell down"),
        other => format!("{other} {}", generation()),
    };
    run.said(said);
    Ok(())
}

/// A tool.
fn count(article: &str) -> usize {
    article.len()
}

fn generation() -> String {
    std::env::var("GENERATION").unwrap_or_default()
}

/// Says that a run begins: every run before it was kept.
fn note(run: usize) {
    let Some(log) = std::env::var_os("LOOP_LOG") else { return };
    let mut log = std::fs::File::options().create(true).append(true).open(log).unwrap();
    writeln!(log, "{run}").unwrap();
}

/// Until the file is there.
fn wait() {
    let Some(file) = std::env::var_os("LOOP_WAITS_FOR") else { return };
    while !Path::new(&file).exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
}
"#;

/// The executable, built once in a process.
pub fn executable() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let manifest = manifest("troupe", TARGETS).replace("}\n\nserde_json", "}\nserde_json");
        let files = [
            ("Cargo.toml", manifest.as_str()),
            ("tests/agents.rs", AGENTS),
            ("src/lib.rs", "//! A library.\n"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        let folder = workshop::kept_crate("troupe", &files);
        workshop::build(&folder).remove("agents").unwrap()
    })
}

/// An agent that counts pens, so often.
pub fn counting(runs: usize) -> String {
    suite("Count the pens.", runs)
}

/// An agent with this prompt.
pub fn suite(prompt: &str, runs: usize) -> String {
    format!(
        "agents:\n  - name: Clerk\n    model: clerk-1\n    prompt: {prompt}\n    runs: {runs}\n    \
         expect:\n      - target: final_response\n        matcher: {{ regex: . }}\n"
    )
}

/// A folder in which the loop records.
pub struct RecordingFolder {
    /// The folder.
    pub folder: Folder,
}

impl RecordingFolder {
    /// A folder with this suite.
    pub fn new(suite: &str) -> Self {
        Self::in_folder(Folder::new(), suite)
    }

    /// Writes this suite into a folder that exists.
    pub fn in_folder(folder: Folder, suite: &str) -> Self {
        // Built before any time is taken.
        executable();
        let folder = folder.with_file("suites/desk.yml", suite);
        fs::create_dir(folder.at("tmp")).unwrap();
        Self { folder }
    }

    /// The executable; `None` judges.
    pub fn command(&self, word: Option<&str>, more: &[(&str, &str)]) -> Command {
        let mut command = process::command(executable(), self.folder.path());
        command
            .env("CARGO_MANIFEST_DIR", self.folder.path())
            .env("TMPDIR", self.folder.at("tmp"))
            .env("LOOP_LOG", self.folder.at("log.txt"))
            .envs(more.iter().copied());
        if let Some(word) = word {
            command.env("MCPTEST_RECORD", word);
        }
        command
    }

    /// Records as the word says, and runs the cases.
    pub fn record(&self, word: &str, more: &[(&str, &str)]) -> Finished {
        process::run(&mut self.command(Some(word), more))
    }

    /// Runs the cases over what is recorded.
    pub fn judge(&self) -> Finished {
        process::run(&mut self.command(None, &[]))
    }

    /// Which runs were begun, in this order.
    pub fn begun_runs(&self) -> Vec<usize> {
        let log = fs::read_to_string(self.folder.at("log.txt")).unwrap_or_default();
        log.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// The files below `suites/cassettes`, hidden ones too.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        collect(&self.folder.at("suites/cassettes"))
    }

    /// Those that hold runs, each of them read; a file that is not whole is a failure.
    #[track_caller]
    pub fn runs(&self) -> BTreeMap<String, Value> {
        let shown = self.files().into_iter();
        let shown = shown.filter(|(path, _)| !path.split('/').any(|part| part.starts_with('.')));
        let runs = shown.map(|(path, bytes)| {
            let run: Value =
                serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert!(
                run["trace"]["final_response"].is_string(),
                "{path}: {run:#}"
            );
            (path, run)
        });
        runs.collect()
    }
}
