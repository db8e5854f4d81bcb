//! A job that runs the action on four agents, before and now.

use std::collections::BTreeMap;
use std::fs;
use std::ops::{Deref, DerefMut};

use e2e_support::folder::collect;
use e2e_support::git::{commit_all, git};
use serde_json::{Value, json};

use crate::machine::{JobResult, Machine};
use crate::support::four_agents::{four_agents, write_runs};

pub(crate) struct Job {
    machine: Machine,
    inputs: Value,
}

impl Deref for Job {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl DerefMut for Job {
    fn deref_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }
}

impl Job {
    /// A pull request whose base is the folder `before`.
    pub(crate) fn new() -> Self {
        let mut job = Self {
            machine: Machine::new(four_agents()),
            inputs: json!({}),
        };
        job.install_command();
        job.base("before");
        job
    }

    /// A pull request in a clone that has only the last commit. Its base is a commit of the origin.
    pub(crate) fn cloned() -> Self {
        let mut job = Self::new();
        let origin = job.folder.at("origin");
        fs::create_dir_all(&origin).unwrap();
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
        let base = commit_all(&origin, "before");
        write_runs(&job.folder, "origin/suites/", 1);
        commit_all(&origin, "now");
        let address = format!("file://{}", origin.display());
        git(
            job.folder.path(),
            &["clone", "-q", "--depth=1", &address, "clone"],
        );
        job.input("working-directory", "clone");
        job.base(&base);
        job
    }

    /// The commit, or the folder, that the pull request is based on.
    pub(crate) fn base(&mut self, base: &str) {
        self.set("github.event.pull_request.base.sha", base);
    }

    pub(crate) fn input(&mut self, name: &str, value: &str) {
        self.inputs[name] = value.into();
    }

    pub(crate) fn comment(&self, id: u64, author: &str, text: &str) {
        self.folder.write(&format!("store/{id}.md"), text);
        self.folder.write(&format!("store/{id}.author"), author);
    }

    pub(crate) fn author(&self, id: &str) -> String {
        self.read_note(&format!("{id}.author"))
    }

    /// The comments by their numbers.
    pub(crate) fn comments(&self) -> BTreeMap<String, String> {
        self.stored("")
    }

    /// All steps.
    pub(crate) fn run(&self) -> JobResult {
        self.machine.action(&self.inputs, usize::MAX)
    }

    /// The first step alone.
    pub(crate) fn install(&self) -> JobResult {
        self.machine.action(&self.inputs, 1)
    }
}
