//! A job that runs the action: its expressions have values, its steps run one after the other.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use e2e_support::folder::{Folder, collect};
use serde_json::Value;

use crate::support::four_agents::{four_agents, write_runs};

/// How the action asks which comments there are.
pub(crate) const QUERY: &str = r#".[] | select(.user.login == env.AUTHOR and (.body | startswith("<!-- mcptest: "))) | "\(.id) \(.body | split("\n")[0] | rtrimstr("\r"))""#;

pub(crate) fn action() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../action.yml");
    serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What a job came to.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}\n{}", self.code, self.text)
    }
}

pub(crate) struct Job {
    pub(crate) folder: Folder,
    /// The values of expressions.
    values: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
    path: String,
}

impl Job {
    /// A pull request whose base is the folder `before`.
    pub(crate) fn new() -> Self {
        let folder = four_agents();
        let mut job = Self {
            values: BTreeMap::new(),
            variables: BTreeMap::new(),
            path: String::new(),
            folder,
        };
        let inputs = action()["inputs"].clone();
        for (name, input) in inputs.as_object().unwrap() {
            job.set(
                &format!("inputs.{name}"),
                input["default"].as_str().unwrap(),
            );
        }
        for (name, value) in [
            ("inputs.token", "token"),
            ("github.action_repository", "us/mcptest"),
            ("github.action_ref", "v9"),
            ("github.action_path", "/action"),
            ("runner.os", "Linux"),
            ("runner.arch", "X64"),
            ("github.repository", "o/r"),
            ("github.event.pull_request.number", "7"),
            ("github.event.pull_request.head.repo.full_name", "o/r"),
            ("github.event.pull_request.head.sha", "abc123"),
            (
                "inputs.baseline || github.event.pull_request.base.sha || github.event.before",
                "before",
            ),
        ] {
            job.set(name, value);
        }
        job.program("gh", include_str!("gh.sh"));
        let program = Path::new(env!("CARGO_BIN_EXE_cargo-mcptest"));
        let path = std::env::var("PATH").unwrap();
        job.path = format!(
            "{}:{}:{path}",
            job.folder.at("programs").display(),
            program.parent().unwrap().display()
        );
        fs::create_dir_all(job.folder.at("store")).unwrap();
        fs::create_dir_all(job.folder.at("temp")).unwrap();
        job.variable("GH_QUERY", QUERY);
        job
    }

    /// The same in a clone that has but the last commit; its base is a commit of the origin.
    pub(crate) fn cloned() -> Self {
        let mut job = Self::new();
        let origin = job.folder.at("origin");
        fs::create_dir_all(&origin).unwrap();
        let git = |folder: &Path, arguments: &[&str]| {
            let mut git = e2e_support::process::command("git", folder);
            git.args(["-c", "user.name=a", "-c", "user.email=a@b"])
                .args(arguments);
            let said = e2e_support::process::run(&mut git).exits(0);
            said.stdout.trim().to_owned()
        };
        for (path, bytes) in collect(job.folder.path()) {
            if path.starts_with("suites/") || path.starts_with("src/") || path == "Cargo.toml" {
                job.folder.write(&format!("origin/{path}"), bytes);
            }
        }
        write_runs(&job.folder, "origin/suites/", 0);
        git(&origin, &["init", "-q", "-b", "main"]);
        git(
            &origin,
            &["config", "uploadpack.allowAnySHA1InWant", "true"],
        );
        git(&origin, &["add", "-A"]);
        git(&origin, &["commit", "-qm", "before"]);
        let base = git(&origin, &["rev-parse", "HEAD"]);
        write_runs(&job.folder, "origin/suites/", 1);
        git(&origin, &["add", "-A"]);
        git(&origin, &["commit", "-qm", "now"]);
        let address = format!("file://{}", origin.display());
        git(
            job.folder.path(),
            &["clone", "-q", "--depth=1", &address, "clone"],
        );
        job.set("inputs.working-directory", "clone");
        job.set(
            "inputs.baseline || github.event.pull_request.base.sha || github.event.before",
            &base,
        );
        job
    }

    /// Gives an expression its value.
    pub(crate) fn set(&mut self, expression: &str, value: &str) {
        self.values.insert(expression.to_owned(), value.to_owned());
    }

    pub(crate) fn variable(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    fn program(&self, name: &str, text: &str) {
        let path = format!("programs/{name}");
        self.folder.write(&path, text);
        fs::set_permissions(self.folder.at(&path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A machine without the command, where `cargo` writes down what it is asked.
    pub(crate) fn hide_the_command(&mut self) {
        let log = self.folder.at("cargo.txt");
        let cargo = format!("#!/usr/bin/env bash\necho \"$*\" > '{}'\n", log.display());
        self.program("cargo", &cargo);
        self.path = format!("{}:/usr/bin:/bin", self.folder.at("programs").display());
    }

    /// A release that has the command.
    pub(crate) fn release(&mut self) {
        let program = Path::new(env!("CARGO_BIN_EXE_cargo-mcptest"));
        let archive = self.folder.at("release.tar.gz");
        let mut tar = Command::new("tar");
        tar.arg("-czf")
            .arg(&archive)
            .arg("-C")
            .arg(program.parent().unwrap());
        assert!(tar.arg("cargo-mcptest").status().unwrap().success());
        self.variable("GH_RELEASE", &archive.to_string_lossy());
    }

    pub(crate) fn comment(&self, id: u64, author: &str, text: &str) {
        self.folder.write(&format!("store/{id}.md"), text);
        self.folder.write(&format!("store/{id}.author"), author);
    }

    pub(crate) fn author(&self, id: &str) -> String {
        fs::read_to_string(self.folder.at(&format!("store/{id}.author"))).unwrap()
    }

    /// The comments by their numbers.
    pub(crate) fn comments(&self) -> BTreeMap<String, String> {
        let files = collect(&self.folder.at("store"));
        let comments = files.into_iter().filter_map(|(name, bytes)| {
            let id = name.strip_suffix(".md")?.to_owned();
            Some((id, String::from_utf8(bytes).unwrap()))
        });
        comments.collect()
    }

    pub(crate) fn summary(&self) -> String {
        fs::read_to_string(self.summary_file()).unwrap_or_default()
    }

    fn summary_file(&self) -> PathBuf {
        self.folder.at("temp/summary.md")
    }

    /// All steps, until one fails.
    pub(crate) fn run(&self) -> Ended {
        self.steps(usize::MAX)
    }

    /// The first step alone.
    pub(crate) fn install(&self) -> Ended {
        self.steps(1)
    }

    fn steps(&self, most: usize) -> Ended {
        _ = fs::remove_file(self.summary_file());
        let mut values = self.values.clone();
        let mut ended = Ended {
            code: Some(0),
            text: String::new(),
        };
        for step in action()["runs"]["steps"]
            .as_array()
            .unwrap()
            .iter()
            .take(most)
        {
            let output = self.folder.at("temp/output.txt");
            fs::write(&output, "").unwrap();
            let said = self.step(step, &values, &output);
            ended.text += &said.text;
            ended.code = said.code;
            if said.code != Some(0) {
                break;
            }
            let id = step["id"].as_str().unwrap_or_default();
            for line in fs::read_to_string(&output).unwrap().lines() {
                let (name, value) = line.split_once('=').unwrap();
                values.insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
            }
        }
        ended
    }

    /// As GitHub runs a step with `shell: bash`.
    fn step(&self, step: &Value, values: &BTreeMap<String, String>, output: &Path) -> Ended {
        let temp = self.folder.at("temp");
        let script = temp.join("step.sh");
        fs::write(&script, step["run"].as_str().unwrap()).unwrap();
        let below = step["working-directory"].as_str().unwrap_or(".");
        let workspace = self.folder.path();
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail"])
            .arg(&script)
            .current_dir(workspace.join(filled(below, values)))
            .env_clear()
            .envs(
                std::env::vars().filter(|(name, _)| {
                    ["HOME", "CARGO_HOME", "RUSTUP_HOME"].contains(&name.as_str())
                }),
            )
            .envs(&self.variables)
            .env("PATH", &self.path)
            .env("GH_STORE", self.folder.at("store"))
            .env("RUNNER_TEMP", &temp)
            .env("GITHUB_WORKSPACE", workspace)
            .env("GITHUB_STEP_SUMMARY", self.summary_file())
            .env("GITHUB_OUTPUT", output)
            .env("GITHUB_PATH", temp.join("path.txt"));
        for (name, value) in step["env"].as_object().unwrap() {
            bash.env(name, filled(value.as_str().unwrap(), values));
        }
        let said = bash.output().unwrap();
        let text =
            [said.stdout, said.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ended {
            code: said.status.code(),
            text: text.concat(),
        }
    }
}

/// A text with the values of its expressions.
fn filled(text: &str, values: &BTreeMap<String, String>) -> String {
    let mut parts = text.split("${{");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (expression, rest) = part.split_once("}}").unwrap();
        let value = values.get(expression.trim());
        filled += value.unwrap_or_else(|| panic!("no value of `{expression}`"));
        filled += rest;
    }
    filled
}
