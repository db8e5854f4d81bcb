//! The executables that record, and the folders they record in.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use scripted_provider::{Provider, Script, SeenRequest};
use serde_json::Value;

use super::desk;
use crate::folder::{Folder, collect};
use crate::process::{self, Finished};
use crate::workshop::{self, harness_path};

/// What authorises with the scripted provider.
pub const KEY: &str = "sk-test-0d9c2b7e41";

const TARGETS: &str = "\
[[test]]
name = \"agents\"
harness = false

[workspace]
";

const MACROS: &str = "\
#[mcptest::suite(\"desk.yml\")]
mod told {}

#[mcptest::suite(\"desk.yml\")]
fn asked(runs: &mcptest::AgentRuns) {
    assert!(!runs.runs().is_empty());
}
";

/// The crate whose tests are built with the feature `session`, built once in a process.
pub struct RecordingCrate {
    /// The folder of the crate.
    pub folder: PathBuf,
    executables: BTreeMap<String, PathBuf>,
}

/// Builds the crate, once in a process.
pub fn recording_crate() -> &'static RecordingCrate {
    static BUILT: OnceLock<RecordingCrate> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = workshop::kept_crate("studio", &package());
        let executables = workshop::build(&folder);
        RecordingCrate {
            folder,
            executables,
        }
    })
}

fn package() -> Vec<(String, Vec<u8>)> {
    let harness = harness_path();
    let manifest = format!(
        "[package]\nname = \"studio\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dev-dependencies]\n\
         mcptest-harness = {{ path = {harness:?}, features = [\"session\"] }}\n\n{TARGETS}"
    );
    let suite = desk::put_in_place(desk::TWICE);
    let files = [
        ("Cargo.toml", manifest.as_str()),
        ("tests/agents.rs", "mcptest::main!();\n"),
        ("tests/macros.rs", MACROS),
        ("src/lib.rs", "//! A library.\n"),
        ("suites/desk.yml", &suite),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    files.into()
}

impl RecordingCrate {
    /// The executable of a test target.
    pub fn executable(&self, target: &str) -> &Path {
        &self.executables[target]
    }
}

/// A folder with suites, and a provider that plays a script.
pub struct Scene {
    /// The folder.
    pub folder: Folder,
    provider: Option<Provider>,
    environment: Vec<(String, String)>,
}

impl Scene {
    /// One suite, `desk.yml`.
    pub fn new(suite: &str, script: &Value) -> Self {
        let folder = Folder::new().with_file("suites/desk.yml", desk::put_in_place(suite));
        fs::create_dir(folder.at("tmp")).unwrap();
        let scene = Self {
            folder,
            provider: None,
            environment: Vec::new(),
        };
        scene.with_script(script)
    }

    /// Another script, by a new provider.
    pub fn with_script(mut self, script: &Value) -> Self {
        self.start(script);
        self
    }

    /// Plays another script, by a new provider. What the provider before it saw is forgotten.
    pub fn start(&mut self, script: &Value) {
        let script = Script::from_json(&script.to_string()).unwrap();
        self.provider = Some(Provider::start(script).unwrap());
    }

    /// From now on no model can be reached.
    pub fn stop(&mut self) {
        self.provider = None;
    }

    /// A variable that the recording process has, besides the usual ones.
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Another text for `desk.yml`.
    pub fn suite(&self, text: &str) {
        self.folder
            .write("suites/desk.yml", desk::put_in_place(text));
    }

    /// Where the model API is.
    pub fn url(&self) -> String {
        self.provider
            .as_ref()
            .map_or_else(|| "http://127.0.0.1:9".to_owned(), Provider::url)
    }

    /// A test executable in this folder, with keys and addresses; it judges.
    pub fn command(&self, executable: &Path, arguments: &[&str]) -> Command {
        let mut command = process::command(executable, self.folder.path());
        command.args(arguments);
        self.equip(&mut command);
        command
    }

    /// Gives a process what a person who records has in the environment.
    pub fn equip(&self, command: &mut Command) {
        let url = self.url();
        command
            .env("CARGO_MANIFEST_DIR", self.folder.path())
            .env("TMPDIR", self.folder.at("tmp"))
            .env("ANTHROPIC_BASE_URL", &url)
            .env("OPENAI_BASE_URL", format!("{url}/v1"))
            .env("MISTRAL_BASE_URL", format!("{url}/v1"))
            .env("ANTHROPIC_API_KEY", KEY)
            .env("OPENAI_API_KEY", KEY)
            .env("MISTRAL_API_KEY", KEY)
            .env("NO_PROXY", "127.0.0.1")
            .env("MCPTEST_RECORD_TIMEOUT", "20")
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
    }

    /// Runs the cases over what is recorded.
    pub fn judge(&self, arguments: &[&str]) -> Finished {
        process::run(&mut self.command(recording_crate().executable("agents"), arguments))
    }

    /// Records as the word says, and runs the cases.
    pub fn record(&self, word: &str, arguments: &[&str]) -> Finished {
        let mut command = self.command(recording_crate().executable("agents"), arguments);
        process::run(command.env("MCPTEST_RECORD", word))
    }

    /// What the model API was asked.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.provider.as_ref().unwrap().requests()
    }

    /// How many conversations were begun: requests without any answer of the model in them.
    pub fn conversations(&self) -> usize {
        let requests = self.requests();
        let begun = requests.iter().filter(|request| {
            let messages = request.json()["messages"].clone();
            let messages = messages.as_array().into_iter().flatten();
            messages.clone().next().is_some()
                && messages
                    .clone()
                    .all(|message| message["role"] != "assistant")
        });
        begun.count()
    }

    /// A recorded run.
    #[track_caller]
    pub fn run(&self, path: &str) -> Value {
        serde_json::from_str(&self.text(path)).unwrap()
    }

    /// The text of a file.
    #[track_caller]
    pub fn text(&self, path: &str) -> String {
        let path = self.folder.at(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Every file of the folder with its bytes, without the suites and what belongs to no recording.
    pub fn recorded(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = collect(self.folder.path());
        files.retain(|path, _| !path.starts_with("tmp/") && !path.contains(".yml"));
        files
    }

    /// The paths of the files that hold recordings.
    pub fn places(&self) -> Vec<String> {
        self.recorded().into_keys().collect()
    }
}
