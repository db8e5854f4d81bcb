//! A machine that runs the steps of a job, or of a composite action, as GitHub does: one after the other, each with the
//! outputs and the path that those before left, in an environment that has nothing else of this process.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use e2e_support::folder::{Folder, collect};
use serde_json::{Value, json};

use crate::expression::{interpolate, is_met, set, value, value_text};

/// How the action asks which comments there are.
pub(crate) const QUERY: &str = r#".[] | select(.user.login == env.AUTHOR and (.body | startswith("<!-- mcptest: "))) | "\(.id) \(.body | split("\n")[0] | rtrimstr("\r"))""#;

/// The action, as workflows of others and this repository's own name it.
const ACTION: [&str; 2] = ["OWNER/mcptest-harness@main", "./"];

pub(crate) fn action() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../action.yml");
    serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What a job came to.
#[derive(Default)]
pub(crate) struct JobResult {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
}

impl fmt::Display for JobResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}\n{}", self.code, self.text)
    }
}

pub(crate) struct Machine {
    pub(crate) folder: Folder,
    /// Where the work tree is.
    pub(crate) workspace: PathBuf,
    /// What expressions name.
    pub(crate) context: Value,
    /// The variables of every step.
    variables: BTreeMap<String, String>,
    path: String,
}

/// What the steps of a list share.
struct StepsContext<'p> {
    context: Value,
    /// The variables of the job.
    variables: &'p Value,
    /// The shell of a step that names none.
    shell: &'p str,
}

impl Machine {
    /// A machine that has `git`, a `gh` that is none, and no program of ours.
    pub(crate) fn new(folder: Folder) -> Self {
        let mut machine = Self {
            workspace: folder.path().to_owned(),
            context: json!({ "failed": false, "steps": {}, "secrets": {} }),
            variables: BTreeMap::new(),
            path: format!("{}:/usr/bin:/bin", folder.at("programs").display()),
            folder,
        };
        for (name, value) in [
            ("github.token", "token"),
            ("github.action_repository", "us/mcptest"),
            ("github.action_ref", "v9"),
            ("github.action_path", "/action"),
            ("github.repository", "o/r"),
            ("github.server_url", "https://github.com"),
            ("github.run_id", "42"),
            ("github.event.pull_request.number", "7"),
            ("github.event.pull_request.head.repo.full_name", "o/r"),
            ("github.event.pull_request.head.sha", "abc123"),
            ("runner.os", "Linux"),
            ("runner.arch", "X64"),
        ] {
            set(&mut machine.context, name, value);
        }
        machine.program("gh", include_str!("gh.sh"));
        machine.cargo();
        for folder in ["store", "temp"] {
            fs::create_dir_all(machine.folder.at(folder)).unwrap();
        }
        machine.variable("GH_QUERY", QUERY);
        machine
    }

    /// The program of this workspace.
    pub(crate) fn own() -> &'static Path {
        Path::new(env!("CARGO_BIN_EXE_cargo-mcptest"))
    }

    /// The machine has our program already.
    pub(crate) fn install_command(&mut self) {
        let path = std::env::var("PATH").unwrap();
        let ours = Self::own().parent().unwrap().display();
        let programs = self.folder.at("programs");
        self.path = format!("{}:{ours}:{path}", programs.display());
    }

    /// A `cargo` that writes down what it is asked, builds nothing, and knows all else. The tests of a crate are those of
    /// the program, which write the same results.
    fn cargo(&self) {
        let real = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let (log, own) = (self.folder.at("cargo.txt"), Self::own());
        let cargo = format!(
            "#!/usr/bin/env bash\n\
             [ \"$1\" = metadata ] || echo \"$*\" >> '{log}'\n\
             case \"$1\" in\n\
             test) shift 2; exec '{own}' test \"$@\" ;;\n\
             install) mkdir -p \"${{6}}/bin\"; ln -sf '{own}' \"${{6}}/bin\" ;;\n\
             *) exec '{real}' \"$@\" ;;\n\
             esac\n",
            log = log.display(),
            own = own.display(),
        );
        self.program("cargo", &cargo);
    }

    /// What `cargo` was asked.
    pub(crate) fn cargo_log(&self) -> String {
        fs::read_to_string(self.folder.at("cargo.txt")).unwrap_or_default()
    }

    pub(crate) fn variable(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// Gives a name of expressions its value.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        set(&mut self.context, name, value);
    }

    pub(crate) fn program(&self, name: &str, text: &str) {
        let path = format!("programs/{name}");
        self.folder.write(&path, text);
        fs::set_permissions(self.folder.at(&path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A release that has the command.
    pub(crate) fn release(&mut self) {
        let archive = self.folder.at("release.tar.gz");
        let mut tar = Command::new("tar");
        tar.arg("-czf")
            .arg(&archive)
            .arg("-C")
            .arg(Self::own().parent().unwrap());
        assert!(tar.arg("cargo-mcptest").status().unwrap().success());
        self.variable("GH_RELEASE", &archive.to_string_lossy());
    }

    /// The comments, or the issues, by their numbers.
    pub(crate) fn stored(&self, below: &str) -> BTreeMap<String, String> {
        let files = collect(&self.folder.at("store").join(below));
        let stored = files.into_iter().filter_map(|(name, bytes)| {
            let id = name.strip_suffix(".md")?.to_owned();
            (!id.contains('/')).then(|| (id, String::from_utf8(bytes).unwrap()))
        });
        stored.collect()
    }

    /// What a file of the stand-in for `gh` says; empty where it is not there.
    pub(crate) fn read_note(&self, file: &str) -> String {
        fs::read_to_string(self.folder.at("store").join(file)).unwrap_or_default()
    }

    pub(crate) fn summary(&self) -> String {
        fs::read_to_string(self.summary_file()).unwrap_or_default()
    }

    fn summary_file(&self) -> PathBuf {
        self.folder.at("temp/summary.md")
    }

    /// Runs a job of a workflow. `None` where its condition does not hold.
    pub(crate) fn job(&self, workflow: &Value, name: &str) -> Option<JobResult> {
        let job = &workflow["jobs"][name];
        if !is_met(&job["if"], &self.context) {
            return None;
        }
        self.begin();
        fs::create_dir_all(&self.workspace).unwrap();
        let shell = workflow["defaults"]["run"]["shell"].as_str();
        let mut place = StepsContext {
            context: self.context.clone(),
            variables: &job["env"],
            shell: shell.unwrap_or_default(),
        };
        Some(self.steps(job["steps"].as_array().unwrap(), &mut place))
    }

    /// Runs the first steps of the action, with its inputs beside their defaults.
    pub(crate) fn action(&self, inputs: &Value, most: usize) -> JobResult {
        self.begin();
        self.composite(inputs, &self.context, most).0
    }

    fn begin(&self) {
        for file in ["summary.md", "path.txt"] {
            fs::write(self.folder.at("temp").join(file), "").unwrap();
        }
    }

    /// The action: what it came to, and its outputs.
    fn composite(&self, inputs: &Value, context: &Value, most: usize) -> (JobResult, Value) {
        let action = action();
        let mut own = context.clone();
        own["steps"] = json!({});
        own["failed"] = json!(false);
        own["inputs"] = json!({});
        for (name, input) in action["inputs"].as_object().unwrap() {
            let default = interpolate(input["default"].as_str().unwrap(), context);
            own["inputs"][name.as_str()] = default.into();
        }
        for (name, input) in inputs.as_object().into_iter().flatten() {
            assert!(own["inputs"].get(name).is_some(), "no input: {name}");
            own["inputs"][name.as_str()] = interpolate(&value_text(input), context).into();
        }
        let steps = action["runs"]["steps"].as_array().unwrap();
        let mut place = StepsContext {
            context: own,
            variables: &Value::Null,
            shell: "",
        };
        let ended = self.steps(&steps[..most.min(steps.len())], &mut place);
        let mut outputs = json!({});
        for (name, output) in action["outputs"].as_object().unwrap() {
            // A step that a test leaves out has none.
            if most >= steps.len() {
                let text = output["value"].as_str().unwrap();
                outputs[name.as_str()] = interpolate(text, &place.context).into();
            }
        }
        (ended, outputs)
    }

    /// Runs steps; those after one that failed only where their condition asks for it.
    fn steps(&self, steps: &[Value], place: &mut StepsContext<'_>) -> JobResult {
        let mut ended = JobResult {
            code: Some(0),
            text: String::new(),
        };
        for step in steps {
            let id = step["id"].as_str();
            let mut outputs = json!({});
            let outcome = if is_met(&step["if"], &place.context) {
                let (one, left) = self.step(step, place);
                outputs = left;
                ended.text += &one.text;
                let good = one.code == Some(0);
                if !good && step["continue-on-error"] != true {
                    place.context["failed"] = json!(true);
                    // The first failure is the job's.
                    if ended.code == Some(0) {
                        ended.code = one.code;
                    }
                }
                if good { "success" } else { "failure" }
            } else {
                "skipped"
            };
            if let Some(id) = id {
                place.context["steps"][id] = json!({ "outputs": outputs, "outcome": outcome });
            }
        }
        ended
    }

    fn step(&self, step: &Value, place: &StepsContext<'_>) -> (JobResult, Value) {
        let Some(uses) = step["uses"].as_str() else {
            return self.script(step, place);
        };
        let ended = match uses.split('@').next().unwrap() {
            "actions/checkout" => self.checkout(&step["with"], &place.context),
            "actions/setup-python" | "actions/setup-node" => JobResult {
                code: Some(0),
                text: String::new(),
            },
            _ => {
                assert!(ACTION.contains(&uses), "this machine has no `{uses}`");
                return self.composite(&step["with"], &place.context, usize::MAX);
            }
        };
        (ended, json!({}))
    }

    /// What `actions/checkout` does: one commit, or all branches, of the event or of a commit that is named.
    fn checkout(&self, with: &Value, context: &Value) -> JobResult {
        // Code of the pull request finds no token beside it.
        assert_eq!(with["persist-credentials"], false, "{with}");
        let named = with["ref"].as_str().map(|text| interpolate(text, context));
        let wanted = named.unwrap_or_else(|| value_text(&value("github.ref", context)));
        let depth: &[&str] = match with["fetch-depth"].as_u64() {
            Some(0) => &["+refs/heads/*:refs/remotes/origin/*"],
            _ => &["--depth=1"],
        };
        let origin = format!("file://{}", self.folder.at("origin").display());
        let git = |arguments: &[&str]| {
            let mut git = e2e_support::process::command("git", &self.workspace);
            e2e_support::process::run(git.args(arguments)).exits(0);
        };
        git(&["init", "-q"]);
        git(&["remote", "add", "origin", &origin]);
        let fetch = ["fetch", "-q", "--no-tags", "origin", &wanted];
        git(&[&fetch[..], depth].concat());
        // The named one is fetched first.
        git(&["checkout", "-q", "--detach", "FETCH_HEAD"]);
        JobResult {
            code: Some(0),
            text: String::new(),
        }
    }

    /// As GitHub runs a step that is a script; what it left as outputs.
    fn script(&self, step: &Value, place: &StepsContext<'_>) -> (JobResult, Value) {
        let temp = self.folder.at("temp");
        let [script, output, path] = ["step.sh", "output.txt", "path.txt"].map(|it| temp.join(it));
        let run = step["run"].as_str().unwrap();
        assert!(!run.contains("${{"), "what others wrote is run: {run}");
        fs::write(&script, run).unwrap();
        fs::write(&output, "").unwrap();
        let below = step["working-directory"].as_str().unwrap_or(".");
        let mut bash = Command::new("bash");
        match step["shell"].as_str().unwrap_or(place.shell) {
            "bash" => bash.args(["--noprofile", "--norc", "-eo", "pipefail"]),
            shell => {
                assert_eq!(shell, "", "another shell");
                bash.arg("-e")
            }
        };
        let added = fs::read_to_string(&path).unwrap();
        let before = added.lines().rev().map(|folder| format!("{folder}:"));
        bash.arg(&script)
            .current_dir(self.workspace.join(interpolate(below, &place.context)))
            .env_clear()
            .envs(
                std::env::vars().filter(|(name, _)| {
                    ["HOME", "CARGO_HOME", "RUSTUP_HOME"].contains(&name.as_str())
                }),
            )
            .envs(&self.variables)
            .env("PATH", before.collect::<String>() + &self.path)
            .env("CI", "true")
            .env("GIT_CONFIG_GLOBAL", temp.join("gitconfig"))
            .env("GH_STORE", self.folder.at("store"))
            .env("RUNNER_TEMP", &temp)
            .env(
                "GITHUB_REPOSITORY",
                value_text(&value("github.repository", &place.context)),
            )
            .env("GITHUB_WORKSPACE", &self.workspace)
            .env("GITHUB_STEP_SUMMARY", self.summary_file())
            .env("GITHUB_OUTPUT", &output)
            .env("GITHUB_PATH", &path);
        for variables in [place.variables, &step["env"]] {
            for (name, text) in variables.as_object().into_iter().flatten() {
                bash.env(name, interpolate(&value_text(text), &place.context));
            }
        }
        let said = bash.output().unwrap();
        let text =
            [said.stdout, said.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let mut outputs = json!({});
        for line in fs::read_to_string(&output).unwrap().lines() {
            let (name, value) = line.split_once('=').unwrap();
            outputs[name] = value.into();
        }
        let ended = JobResult {
            code: said.status.code(),
            text: text.concat(),
        };
        (ended, outputs)
    }
}
