//! The workflows that docs/ci.md shows, for a crate and for folders of suites in Python and TypeScript: every step of
//! each, in a clone, with stand-ins for `gh`, for the installers and for the model's provider.

use std::fs;
use std::path::{Path, PathBuf};

use e2e_support::folder::{Folder, collect};
use e2e_support::git::git;
use e2e_support::process::{command, run};
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

use crate::machine::{JobResult, Machine};

/// What authorises with the scripted provider.
const KEY: &str = "sk-test-flows-3b77a";

/// How the nightly workflow asks for its issue.
const ISSUES_QUERY: &str =
    r#".[] | select((.body // "") | startswith("<!-- mcptest: drift -->")) | .number"#;

/// The agents: a name, what they are asked, the file with their system prompt.
const AGENTS: [[&str; 3]; 2] = [
    ["Refunds", "Please refund order 7.", "refunds.txt"],
    ["Greeter", "Say hello.", "greeter.txt"],
];

/// The agents' code, which is a part of the repository: it asks the model once, with the prompt of a file there.
#[test]
#[ignore = "the agents of the other tests, which start them"]
fn agent() {
    let Ok(base) = std::env::var("OPENAI_BASE_URL") else {
        return;
    };
    // What a pull request changes may not act as the job.
    assert!(std::env::var_os("GH_TOKEN").is_none());
    let asked = std::env::var("MCPTEST_PROMPT").unwrap();
    let [_, _, file] = AGENTS.into_iter().find(|it| it[1] == asked).unwrap();
    let system = fs::read_to_string(Path::new("..").join(file)).unwrap();
    let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
    let body = json!({ "model": "gpt-5", "messages": [
        { "role": "system", "content": system }, { "role": "user", "content": asked },
    ] });
    let answer = ureq::post(format!("{base}/chat/completions"))
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {key}"))
        .send(body.to_string());
    assert_eq!(answer.unwrap().status(), 200);
}

/// What the agents say, in each of their runs.
fn provider(closing: &str) -> Provider {
    let reply =
        |text: &str| json!([{ "text": text, "usage": { "prompt": 100, "completion": 10 } }]);
    let conversation = |[_, asked, _]: [&str; 3]| json!({ "user": asked, "model": "gpt-5", "runs": [reply(closing)] });
    let script = json!({ "key": KEY, "conversations": AGENTS.map(conversation) });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

/// A kind of project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProjectKind {
    Crate,
    Python,
    TypeScript,
}

const KINDS: [ProjectKind; 3] = [
    ProjectKind::Crate,
    ProjectKind::Python,
    ProjectKind::TypeScript,
];

impl ProjectKind {
    /// What a project of this kind has beside its suites.
    fn files(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Crate => {
                let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcptest-harness");
                let manifest = format!(
                    "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dev-dependencies]\n\
                     mcptest-harness = {{ path = '{}' }}\n\n[workspace]\n",
                    harness.display()
                );
                vec![("Cargo.toml", manifest), ("src/lib.rs", String::new())]
            }
            Self::Python => vec![("requirements.txt", "mcptest-harness[cli]\n".to_owned())],
            Self::TypeScript => vec![
                ("package.json", "{}\n".to_owned()),
                ("package-lock.json", "{}\n".to_owned()),
            ],
        }
    }
}

/// A block of the page on CI.
fn block(name: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ci.md");
    let page = fs::read_to_string(page).unwrap();
    let above = format!("<!-- workflow: {name} -->\n```yml\n");
    let (_, below) = page.split_once(&above).unwrap();
    let (text, _) = below.split_once("```\n").unwrap();
    text.to_owned()
}

/// A workflow of the page for a kind of project, with the steps that the page says for it.
fn workflow(name: &str, kind: ProjectKind) -> Value {
    let mut workflow: Value = serde_saphyr::from_str(&block(name)).unwrap();
    let jobs = workflow["jobs"].as_object_mut().unwrap();
    assert_eq!(jobs.len(), 1);
    let job = jobs.values_mut().next().unwrap();
    let steps = job["steps"].as_array_mut().unwrap();
    let uses = |step: &Value| step["uses"].as_str().unwrap_or_default().to_owned();
    let place = steps
        .iter()
        .position(|step| uses(step).starts_with("actions/setup-python@"));
    let place = place.unwrap();
    assert_eq!(steps[place + 1]["run"], "pip install -r requirements.txt");
    let other: Vec<Value> = match kind {
        ProjectKind::Python => steps[place..place + 2].to_vec(),
        ProjectKind::TypeScript => {
            serde_saphyr::from_str(&block("the set-up for TypeScript")).unwrap()
        }
        ProjectKind::Crate => Vec::new(),
    };
    steps.splice(place..place + 2, other);
    workflow
}

/// A repository with a pull request from `topic` to `main`, and a machine that runs its workflows.
struct Repository {
    machine: Machine,
    kind: ProjectKind,
}

impl Repository {
    /// A repository whose `main` has nothing but a README, and whose pull request brings the suites.
    fn new(kind: ProjectKind, runs: usize) -> Self {
        let mut machine = Machine::new(Folder::new());
        machine.workspace = machine.folder.at("workspace");
        machine.variable("GH_ISSUES_QUERY", ISSUES_QUERY);
        let own = Machine::own().display().to_string();
        let installs = "requirements.txt | tr -d '\\n'";
        machine.program(
            "pip",
            &format!(
                "#!/usr/bin/env bash\nset -eu\n[ \"$*\" = 'install -r requirements.txt' ]\n\
                 [ \"$(cat {installs})\" = 'mcptest-harness[cli]' ]\n\
                 ln -s '{own}' \"$(dirname \"$0\")/mcptest-harness\"\n"
            ),
        );
        machine.program(
            "npm",
            &format!(
                "#!/usr/bin/env bash\nset -eu\n[ \"$*\" = ci ]\n[ -e package-lock.json ]\n\
                 mkdir -p node_modules/.bin\nln -s '{own}' node_modules/.bin/mcptest-harness\n"
            ),
        );
        let repository = Self { machine, kind };
        let origin = repository.origin();
        fs::create_dir_all(&origin).unwrap();
        git(&origin, &["init", "-q", "-b", "main"]);
        git(
            &origin,
            &["config", "uploadpack.allowAnySHA1InWant", "true"],
        );
        repository.commit("README.md", "A shop.\n");
        git(&origin, &["switch", "-qc", "topic"]);
        for (path, text) in kind.files() {
            repository.write(path, &text);
        }
        repository.write("suites/desk.yml", &suite(runs));
        for [_, _, file] in AGENTS {
            repository.write(file, "You are polite.");
        }
        let provider = provider("It is done.");
        let mut record = command(Machine::own(), &origin);
        record
            .arg("record")
            .env("OPENAI_BASE_URL", format!("{}/v1", provider.url()))
            .env("OPENAI_API_KEY", KEY);
        run(&mut record).exits(0);
        repository.commit(".gitignore", "node_modules\ntarget\n");
        repository
    }

    /// A repository whose pull request was merged, with a second one that changes the code of an agent.
    fn with_merged_changes(kind: ProjectKind, runs: usize) -> Self {
        let repository = Self::new(kind, runs);
        let origin = repository.origin();
        git(&origin, &["switch", "-q", "main"]);
        git(&origin, &["merge", "-q", "topic"]);
        git(&origin, &["switch", "-q", "topic"]);
        repository.commit("refunds.txt", "You are quick.");
        repository
    }

    fn origin(&self) -> PathBuf {
        self.machine.folder.at("origin")
    }

    fn write(&self, path: &str, text: &str) {
        self.machine.folder.write(&format!("origin/{path}"), text);
    }

    /// Commits all that is there, with a file that is written.
    fn commit(&self, path: &str, text: &str) {
        self.write(path, text);
        git(&self.origin(), &["add", "-A"]);
        git(&self.origin(), &["commit", "-qm", path]);
    }

    fn commit_id(&self, branch: &str) -> String {
        git(&self.origin(), &["rev-parse", branch])
    }

    /// The files of a commit.
    fn files(&self, commit: &str) -> Vec<String> {
        let listed = git(&self.origin(), &["ls-tree", "-r", commit]);
        listed.lines().map(str::to_owned).collect()
    }

    /// Sets the event of the pull request as it stands now, from this repository or from another one.
    fn event(&mut self, from: &str) {
        let origin = self.origin();
        let [base, head] = ["main", "topic"].map(|branch| self.commit_id(branch));
        git(&origin, &["switch", "-q", "--detach", "main"]);
        git(
            &origin,
            &["merge", "-q", "--no-ff", "-m", "merged", "topic"],
        );
        git(&origin, &["update-ref", "refs/pull/7/merge", "HEAD"]);
        // Nothing is checked out that is pushed to.
        let event = "github.event.pull_request";
        self.machine.set("github.ref", "refs/pull/7/merge");
        self.machine.set(&format!("{event}.base.sha"), base);
        self.machine.set(&format!("{event}.head.sha"), head);
        self.machine.set(&format!("{event}.head.ref"), "topic");
        self.machine
            .set(&format!("{event}.head.repo.full_name"), from);
        let is_fork = from != "o/r";
        self.machine
            .variable("GH_FAILS", if is_fork { "writing" } else { "" });
        let secrets = if is_fork {
            json!({})
        } else {
            json!({ "OPENAI_API_KEY": KEY })
        };
        self.machine.set("secrets", secrets);
    }

    /// A label is given.
    fn label(&mut self, name: &str) {
        self.machine.set("github.event.label.name", name);
        let file = format!("store/labels/{name}");
        self.machine.folder.write(&file, "");
    }

    /// Runs a workflow of the page in a work tree that is not there yet.
    fn run(&mut self, name: &str, provider: Option<&Provider>) -> Option<JobResult> {
        self.run_other(&workflow(name, self.kind), provider)
    }

    /// Runs a workflow that somebody changed, in a work tree that is not there yet.
    fn run_other(&mut self, workflow: &Value, provider: Option<&Provider>) -> Option<JobResult> {
        _ = fs::remove_dir_all(&self.machine.workspace);
        for program in ["mcptest-harness", "../temp/mcptest-bin"] {
            let at = self.machine.folder.at("programs").join(program);
            _ = fs::remove_file(&at);
            _ = fs::remove_dir_all(at);
        }
        let address = provider.map_or(String::new(), |it| format!("{}/v1", it.url()));
        self.machine.variable("OPENAI_BASE_URL", &address);
        let job = workflow["jobs"].as_object().unwrap().keys().next();
        self.machine.job(workflow, job.unwrap())
    }

    /// The recordings of an agent in the branch of the pull request.
    fn recordings(&self, agent: &str) -> Vec<String> {
        let of = format!("suites/cassettes/{agent}__");
        let files = self.files("topic");
        files.into_iter().filter(|it| it.contains(&of)).collect()
    }
}

fn suite(runs: usize) -> String {
    let program = std::env::current_exe().unwrap();
    let program = program.display().to_string();
    let words = [&program, "--exact", "flow::agent", "--ignored"];
    let agents = AGENTS.map(|[name, asked, _]| {
        format!(
            "- name: {name}\n  model: gpt-5\n  prompt: {asked}\n  runs: {runs}\n  command: {}\n  playback: {{}}\n  \
             expect: [{{ target: final_response, matcher: {{ contains: done }} }}]\n",
            json!(words)
        )
    });
    format!(
        "budget: {{ per_suite_usd_cents: 5000 }}\nagents:\n{}",
        agents.concat()
    )
}

/// What a pull request is told first.
fn first_line(comment: &str) -> &str {
    comment.lines().nth(1).unwrap_or_default()
}

#[test]
fn the_first_pull_request_that_brings_suites_is_green() {
    for kind in KINDS {
        let mut repository = Repository::new(kind, 1);
        repository.event("o/r");
        let said = repository.run("agents.yml", None).unwrap();
        assert_eq!(said.code, Some(0), "{kind:?}: {said}");
        assert!(said.text.contains("4 passed"), "{kind:?}: {said}");
        let comments = repository.machine.stored("");
        assert_eq!(comments.len(), 1, "{kind:?}: {comments:?}");
        let new = "**There is nothing to compare with yet, 2 new, not compared.**";
        assert_eq!(first_line(&comments["100"]), new, "{kind:?}");
        assert_eq!(
            repository.machine.summary().trim(),
            comments["100"].trim(),
            "{kind:?}"
        );
        // The tests of a crate are cargo's.
        let asked = repository.machine.cargo_log();
        assert_eq!(
            asked.contains("test --no-fail-fast"),
            kind == ProjectKind::Crate,
            "{asked}"
        );
    }
}

#[test]
fn changed_code_is_red_without_a_key_and_a_fork_has_the_summary_alone() {
    for kind in KINDS {
        let mut repository = Repository::with_merged_changes(kind, 1);
        for from in ["stranger/r", "o/r"] {
            repository.event(from);
            let said = repository.run("agents.yml", None).unwrap();
            assert_eq!(said.code, Some(1), "{kind:?}, {from}: {said}");
            let red = "the system prompt differs";
            assert!(said.text.contains(red), "{kind:?}, {from}: {said}");
            let summary = repository.machine.summary();
            let stale = "1 of 2 recordings no longer plays: record them with `";
            assert!(summary.contains(stale), "{kind:?}, {from}: {summary}");
            let comments = repository.machine.stored("");
            let cannot = "> The comment was not written: this pull request comes from a fork";
            assert_eq!(summary.contains(cannot), from != "o/r", "{summary}");
            if from == "o/r" {
                assert!(first_line(&comments["100"]).contains(stale), "{comments:?}");
            } else {
                assert!(comments.is_empty(), "{comments:?}");
            }
        }
    }
}

#[test]
fn suites_may_be_in_a_folder_of_any_name() {
    let mut repository = Repository::new(ProjectKind::TypeScript, 1);
    let (folder, origin) = ("my agents 🦀 $(touch bad)", repository.origin());
    fs::create_dir(origin.join(folder)).unwrap();
    for file in ["suites", "refunds.txt", "greeter.txt"] {
        git(&origin, &["mv", file, folder]);
    }
    git(&origin, &["commit", "-qm", "moved"]);
    repository.event("o/r");
    let mut workflow = workflow("agents.yml", ProjectKind::TypeScript);
    let steps = workflow["jobs"]["agents"]["steps"].as_array_mut().unwrap();
    steps.last_mut().unwrap()["with"] = json!({ "working-directory": folder });
    let said = repository.run_other(&workflow, None).unwrap();
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.text.contains("4 passed"), "{said}");
    // The program is that of the repository's packages.
    assert_eq!(repository.machine.cargo_log(), "");
    let comment = &repository.machine.stored("")["100"];
    let marker = format!("<!-- mcptest: {folder}/suites/desk.yml -->\n");
    assert!(comment.starts_with(&marker), "{comment}");
    let left = repository.machine.workspace.join(folder).join("bad");
    assert!(!left.exists() && !repository.machine.workspace.join("bad").exists());
}

/// A fork gets no key, and another label means something else.
#[test]
fn a_label_records_nothing_of_a_fork() {
    for (from, label) in [("stranger/r", "record"), ("o/r", "bug")] {
        let mut repository = Repository::with_merged_changes(ProjectKind::Python, 1);
        repository.event(from);
        repository.label(label);
        assert!(repository.run("record.yml", None).is_none());
        assert_eq!(repository.machine.read_note("asked.txt"), "");
    }
    let on = serde_saphyr::from_str::<Value>(&block("record.yml")).unwrap()["on"].clone();
    assert_eq!(on, json!({ "pull_request": { "types": ["labeled"] } }));
}

#[test]
fn a_label_records_what_changed_and_says_what_came_of_it() {
    for kind in KINDS {
        let mut repository = Repository::with_merged_changes(kind, 4);
        // The base goes on: what it has and the branch has not is not lost.
        git(&repository.origin(), &["switch", "-q", "main"]);
        repository.commit("greeter.txt", "You are very polite.");
        git(&repository.origin(), &["switch", "-q", "topic"]);
        repository.event("o/r");
        repository.label("record");
        let before = repository.commit_id("topic");
        let [refunds, greeter] = ["Refunds", "Greeter"].map(|it| repository.recordings(it));
        let model = provider("All is done.");
        let said = repository.run("record.yml", Some(&model)).unwrap();
        assert_eq!(said.code, Some(0), "{kind:?}: {said}");
        assert_eq!(model.requests().len(), 4, "{kind:?}: {said}");
        assert!(!repository.machine.folder.at("store/labels/record").exists());
        let asked = repository.machine.read_note("asked.txt");
        assert!(asked.starts_with("DELETE "), "{asked}");
        assert!(!said.text.contains(KEY), "{said}");

        let commit = repository.commit_id("topic");
        let parent = git(&repository.origin(), &["rev-parse", "topic^"]);
        assert_eq!(parent, before, "{kind:?}");
        let changed = git(
            &repository.origin(),
            &["diff", "--name-only", &before, &commit],
        );
        let files: Vec<&str> = changed.lines().collect();
        let wanted =
            [1, 2, 3, 4].map(|run| format!("suites/cassettes/Refunds__gpt-5/run-{run}.json"));
        assert_eq!(files, wanted, "{kind:?}: {said}");
        assert_ne!(repository.recordings("Refunds"), refunds);
        assert_eq!(repository.recordings("Greeter"), greeter);
        let statuses = repository.machine.read_note("statuses.txt");
        assert_eq!(
            statuses,
            format!(
                "{commit} state=success context=agents target_url=https://github.com/o/r/actions/runs/42\n"
            )
        );
        let comments = repository.machine.stored("");
        let comment = &comments["100"];
        assert!(!comment.contains("no longer play"), "{comment}");

        // Once more: all play, and nothing is asked.
        repository.event("o/r");
        repository.label("record");
        let said = repository.run("record.yml", Some(&model)).unwrap();
        assert_eq!(said.code, Some(0), "{kind:?}: {said}");
        assert_eq!(model.requests().len(), 4, "{kind:?}: {said}");
        assert_eq!(repository.commit_id("topic"), commit);
        assert_eq!(repository.machine.read_note("statuses.txt"), statuses);
        let summary = repository.machine.summary();
        assert!(summary.contains("No recording changed."), "{summary}");
    }
}

#[test]
fn a_label_that_cannot_record_is_red_and_loses_no_commit() {
    // The suite may spend less than it costs.
    let mut repository = Repository::with_merged_changes(ProjectKind::Python, 1);
    let cheap = suite(1).replace(
        "per_suite_usd_cents: 5000 }\n",
        "per_suite_usd_cents: 1 }\nprices: { gpt-5: { prompt: 1000, completion: 1000 } }\n",
    );
    repository.commit("suites/desk.yml", &cheap);
    repository.event("o/r");
    repository.label("record");
    let before = repository.commit_id("topic");
    let model = provider("All is done.");
    let said = repository.run("record.yml", Some(&model)).unwrap();
    assert_eq!(said.code, Some(1), "{said}");
    assert_eq!(model.requests().len(), 0, "{said}");
    assert_eq!(repository.commit_id("topic"), before);
    assert_eq!(repository.machine.read_note("statuses.txt"), "");

    // Somebody pushes between the label and the push of the recordings.
    let mut repository = Repository::with_merged_changes(ProjectKind::Python, 1);
    repository.event("o/r");
    repository.label("record");
    git(&repository.origin(), &["switch", "-q", "topic"]);
    repository.commit("greeter.txt", "You are shy.");
    git(&repository.origin(), &["switch", "-q", "--detach", "main"]);
    let before = repository.commit_id("topic");
    let said = repository.run("record.yml", Some(&model)).unwrap();
    assert_ne!(said.code, Some(0), "{said}");
    assert_eq!(repository.commit_id("topic"), before);
    assert_eq!(repository.machine.read_note("statuses.txt"), "");

    // What is recorded now is not what the suite wants.
    let mut repository = Repository::with_merged_changes(ProjectKind::Python, 1);
    repository.event("o/r");
    repository.label("record");
    let model = provider("I cannot.");
    let said = repository.run("record.yml", Some(&model)).unwrap();
    assert_eq!(said.code, Some(1), "{said}");
    let statuses = repository.machine.read_note("statuses.txt");
    let commit = repository.commit_id("topic");
    assert!(
        statuses.starts_with(&format!("{commit} state=failure context=agents ")),
        "{statuses}"
    );
}

#[test]
fn a_model_that_drifts_is_an_issue_and_a_red_job() {
    for kind in KINDS {
        let mut repository = Repository::new(kind, 4);
        git(
            &repository.origin(),
            &["update-ref", "refs/heads/main", "topic"],
        );
        git(&repository.origin(), &["switch", "-q", "--detach", "main"]);
        repository.machine.set("github.ref", "refs/heads/main");
        repository
            .machine
            .set("secrets", json!({ "OPENAI_API_KEY": KEY }));
        let before = collect(&repository.origin());
        // The same answers in another wording.
        let same = provider("All is done.");
        let said = repository.run("drift.yml", Some(&same)).unwrap();
        assert_eq!(said.code, Some(0), "{kind:?}: {said}");
        assert!(repository.machine.stored("issues").is_empty());
        assert!(
            repository.machine.summary().contains("agents"),
            "{}",
            repository.machine.summary()
        );

        let other = provider("I cannot.");
        for night in 0..2 {
            let said = repository.run("drift.yml", Some(&other)).unwrap();
            assert_eq!(said.code, Some(1), "{kind:?}: {said}");
            assert_eq!(other.requests().len(), 8 * (night + 1), "{kind:?}");
            let issues = repository.machine.stored("issues");
            assert_eq!(issues.len(), 1, "{issues:?}");
            let issue = &issues["100"];
            assert!(
                issue.starts_with("<!-- mcptest: drift -->\n"),
                "{kind:?}: {issue}"
            );
            assert!(issue.contains("2 of 2 agents got worse"), "{issue}");
            assert!(!said.text.contains(KEY), "{said}");
        }
        assert_eq!(collect(&repository.origin()), before, "{kind:?}");
        // Nothing can be recorded: no green.
        let said = repository.run("drift.yml", None).unwrap();
        assert_ne!(said.code, Some(0), "{kind:?}: {said}");
    }
}

/// The key is where it is used, and nowhere else.
#[test]
fn only_the_step_that_records_has_the_key() {
    for (name, steps) in [("agents.yml", 0), ("record.yml", 1), ("drift.yml", 1)] {
        let workflow = workflow(name, ProjectKind::Python);
        let text = workflow.to_string();
        assert_eq!(text.matches("secrets.").count(), steps, "{name}");
        for job in workflow["jobs"].as_object().unwrap().values() {
            assert!(job["env"].is_null(), "{name}");
            for step in job["steps"].as_array().unwrap() {
                let has = step["env"].to_string().contains("secrets.");
                assert_eq!(has, step["name"] == "Record", "{name}: {step}");
            }
        }
        assert_eq!(workflow["permissions"], json!({}), "{name}");
        assert!(!text.contains("pull_request_target"), "{name}");
    }
}
