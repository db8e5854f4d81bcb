//! Tools of an agent's own code in Python: the library's own tests against the door, and agents over frameworks, whose
//! tools leave a line in a file each time that they run. The model is a script.

mod agents;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use crate::sessions::{installed_once, mcptest_command};
use crate::support::folder::Folder;
use crate::support::process::{self, Finished};
use crate::support::workshop::{example_program, kept_folder, workspace};

pub(super) use agents::{
    agno, dspy, langgraph, langgraph_with_an_interrupt, mini_swe_agent, openai_agents, pydantic_ai,
    smolagents_with_calls, smolagents_with_code,
};

const REQUIREMENTS: &str = include_str!("requirements.txt");
const PAGE: &str = include_str!("../../../docs/own-tools.md");

/// The Python that has the frameworks, and the library as a wheel that is built here.
pub(super) fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let environment = kept_folder().join("pypi").join("own_tools");
        installed_once(&environment, REQUIREMENTS);
        let python = environment.join("bin/python");
        install_the_library(&python);
        python
    })
}

/// Installs the library into an environment as the page says, but for where it comes from.
pub(super) fn install_the_library(python: &Path) {
    let line = "pip install mcptest-harness\n";
    let mark = "<!-- install: mcptest-harness -->";
    assert!(PAGE.contains(&format!("{mark}\n```sh\n{line}```")));
    let words = "-m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall";
    let mut install = Command::new(python);
    install
        .args(words.split(' '))
        .arg(workspace().join("python"));
    let said = install.output().unwrap();
    assert!(said.status.success(), "{said:?}");
}

/// Runs a module of Python in the folder of the library.
fn module(words: &str) -> Finished {
    let mut command = process::command(python(), &workspace().join("python"));
    command.arg("-m").args(words.split(' '));
    process::run(command.env("MCPTEST_DOOR", example_program("door")))
}

pub(crate) fn the_librarys_own_tests() {
    let said = module("unittest discover -s tests").exits(0);
    assert!(said.stderr.contains("\nOK\n"), "none is left out: {said}");
}

pub(crate) fn the_library_is_linted_and_typed() {
    module("ruff check --no-cache .").exits(0);
    module("ruff format --no-cache --check .").exits(0);
    module("mypy --cache-dir /dev/null").exits(0);
}

/// A model that says what a script has, until it is dropped.
struct Model {
    child: Child,
    address: String,
}

impl Model {
    fn start(script: &Value) -> Self {
        let mut command = Command::new(python());
        command
            .arg(workspace().join("tests/needs/own_tools/model.py"))
            .arg(script.to_string());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut address)
            .unwrap();
        Self {
            child,
            address: address.trim().to_owned(),
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        _ = self.child.wait();
    }
}

/// A folder with an agent and its suite.
struct Desk {
    folder: Folder,
    program: &'static str,
}

impl Desk {
    fn new(program: &'static str, keys: &str) -> Self {
        let desk = Self {
            folder: Folder::new(),
            program,
        };
        let agents = workspace().join("tests/needs/own_tools/agents");
        for file in [program, "shop.py"] {
            desk.folder.write(
                &format!("agents/{file}"),
                fs::read(agents.join(file)).unwrap(),
            );
        }
        let python = python().display();
        let suite = format!(
            "agents:\n  - name: Desk\n    model: gpt-4.1\n    prompt: Please refund order 7.\n    runs: 1\n    \
             command: ['{python}', ../agents/{program}]\n    calls: {{ max: 9 }}\n{keys}"
        );
        desk.folder.write("suites/desk.yml", suite);
        desk
    }

    /// A copy in another folder, with the recordings and without what the tools did.
    fn elsewhere(&self) -> Self {
        let other = Self {
            folder: Folder::new(),
            program: self.program,
        };
        for path in [
            "agents/shop.py",
            &format!("agents/{}", self.program),
            "suites/desk.yml",
            CASSETTE,
        ] {
            other
                .folder
                .write(path, fs::read(self.folder.at(path)).unwrap());
        }
        other
    }

    fn record(&self, script: &Value) -> Finished {
        let model = Model::start(script);
        let mut command = mcptest_command(&self.folder, &["record"]);
        process::run(
            self.environment(&mut command)
                .env("OPENAI_BASE_URL", &model.address)
                .env("OPENAI_API_KEY", "sk-desk"),
        )
    }

    fn play(&self, change: &str) -> Finished {
        let mut command = mcptest_command(&self.folder, &["test", "playback"]);
        process::run(self.environment(&mut command).env("AGENT_CHANGE", change))
    }

    fn environment<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        // No library looks for anything outside, or writes where others read.
        command
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .env("MSWEA_GLOBAL_CONFIG_DIR", self.folder.path())
            .env("DSPY_CACHEDIR", self.folder.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
    }

    fn run(&self) -> Value {
        serde_json::from_slice(&fs::read(self.folder.at(CASSETTE)).unwrap()).unwrap()
    }

    /// What the tools did, in any order.
    fn effects(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.at("agents/effects.txt")).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

const CASSETTE: &str = "suites/cassettes/Desk__gpt-4_1.json";
