//! Programs that are started once for all runs that are played (`mcptest.serve` in Python): each run is what it is if the
//! program is started for it, and nothing is left.

mod litellm;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

use crate::sessions::{mcptest_command, mcptest_recording};
use crate::support::folder::Folder;
use crate::support::process::{self, Finished};
use crate::support::workshop::workspace;

pub(super) use litellm::an_agent_over_litellm;

/// How many runs each agent has.
const RUNS: usize = 4;

/// A folder with an agent for each of these kinds, whose runs are recorded.
struct Desk(Folder);

impl Desk {
    fn recorded(kinds: &[&str], limit: u32) -> Self {
        let agent = include_bytes!("agent.py");
        let folder = Folder::new().with_file("agent.py", agent);
        let mut suite = "agents:\n".to_owned();
        let mut conversations = Vec::new();
        for kind in kinds {
            let prompt = format!("Do what {kind} does.");
            suite += &format!(
                "- name: {kind}\n  model: gpt-5\n  prompt: {prompt}\n  runs: {RUNS}\n  \
                 command: [python3, ../agent.py, {kind}, '{{{{prompt}}}}']\n  playback: {{ timeout_s: {limit} }}\n"
            );
            if *kind == "talks" {
                suite += "  closing: stdout\n";
            }
            let says =
                json!([{ "text": "It is done.", "usage": { "prompt": 9, "completion": 3 } }]);
            conversations.push(json!({ "user": prompt, "model": "gpt-5", "runs": [says] }));
        }
        let desk = Self(folder.with_file("suites/desk.yml", suite));
        let script = json!({ "conversations": conversations }).to_string();
        let provider = Provider::start(Script::from_json(&script).unwrap()).unwrap();
        let mut command = mcptest_recording(&desk.0, &provider, &["record"]);
        let said = process::run(environment(&mut command).env("MCPTEST_SERVE", "off"));
        assert!(said.stderr.contains("recorded"), "{said}");
        desk.forget();
        desk
    }

    fn command(&self, serve: &str) -> Command {
        let mut command = mcptest_command(&self.0, &["test", "::playback"]);
        environment(&mut command).env("MCPTEST_SERVE", serve);
        command
    }

    fn play(&self, serve: &str) -> Finished {
        process::run(&mut self.command(serve))
    }

    /// The lines of what the agents of a kind left.
    fn lines(&self, file: &str, kind: &str) -> Vec<String> {
        let text = fs::read_to_string(self.0.at(&format!("{file}-{kind}.txt"))).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// What the files that were kept open have.
    fn kept(&self) -> Vec<String> {
        let files = self.texts().into_iter();
        let files = files.filter(|path| path.starts_with("kept-"));
        files
            .map(|path| fs::read_to_string(self.0.at(&path)).unwrap())
            .collect()
    }

    fn texts(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .filter(|name| std::path::Path::new(name).extension() == Some("txt".as_ref()))
            .collect()
    }

    fn forget(&self) {
        for path in self.texts() {
            fs::remove_file(self.0.at(&path)).unwrap();
        }
    }
}

fn environment(command: &mut Command) -> &mut Command {
    command
        .env("PYTHONPATH", workspace().join("python/src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
}

/// Whether a process has ended, or is about to.
fn is_gone(process: &str) -> bool {
    let state = || {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        stat.rsplit(')').next()?.trim().chars().next()
    };
    (0..1500).any(|_| {
        let gone = matches!(state(), None | Some('Z'));
        if !gone {
            thread::sleep(Duration::from_millis(20));
        }
        gone
    })
}

/// The verdicts and texts, by case.
fn verdicts_and_texts(said: &Finished) -> (String, BTreeMap<String, String>) {
    let outcomes = format!("{:?}", said.outcomes());
    (outcomes, said.failures())
}

pub(crate) fn each_run_is_what_it_is_if_it_is_started_alone() {
    let green = [
        "plain",
        "tool",
        "talks",
        "large",
        "ends",
        "time-in-main",
        "leaves",
    ];
    let red = ["exits", "killed", "raises", "says", "differs"];
    let kinds = [&green[..], &red].concat();
    let desk = Desk::recorded(&kinds, 60);
    let anew = desk.play("off");
    let mut left = Vec::new();
    for kind in &kinds {
        assert_eq!(desk.lines("starts", kind).len(), RUNS, "{kind}: {anew}");
        assert_eq!(anew.outcomes().len(), kinds.len(), "{anew}");
        let is_red = anew.failures().keys().any(|case| case.contains(*kind));
        assert_eq!(is_red, red.contains(kind), "{kind}: {anew}");
    }
    let times = |desk: &Desk| -> BTreeSet<String> {
        desk.lines("times", "time-in-main").into_iter().collect()
    };
    let ends = |desk: &Desk| {
        let sorted = |mut lines: Vec<String>| {
            lines.sort();
            lines
        };
        let ended = sorted(desk.lines("ended", "ends"));
        (desk.lines("atexit", "ends"), ended, desk.kept())
    };
    let (times_anew, ends_anew) = (times(&desk), ends(&desk));
    assert_eq!(ends_anew.0.len(), RUNS);
    assert_eq!(ends_anew.1.len(), 2 * RUNS);
    left.extend(desk.lines("left", "leaves"));
    desk.forget();

    let served = desk.play("once");
    assert_eq!(
        verdicts_and_texts(&served),
        verdicts_and_texts(&anew),
        "{served}"
    );
    assert_eq!(served.code, anew.code);
    assert_eq!((times(&desk), ends(&desk)), (times_anew, ends_anew));
    assert!(desk.lines("refunds", "tool").is_empty());
    for kind in kinds {
        let starts = desk.lines("starts", kind);
        assert_eq!(starts.len(), 1, "{kind}: {served}");
        assert!(is_gone(&starts[0]), "{kind}");
    }
    left.extend(desk.lines("left", "leaves"));
    assert_eq!(left.len(), 2 * RUNS);
    for process in left {
        assert!(is_gone(&process), "{process}");
    }
}

pub(crate) fn runs_that_hang_are_ended_at_their_limit() {
    let desk = Desk::recorded(&["hangs"], 6);
    let anew = desk.play("off");
    desk.forget();
    let served = desk.play("on");
    assert_eq!(
        verdicts_and_texts(&served),
        verdicts_and_texts(&anew),
        "{served}"
    );
    let (_, text) = served.only_failure();
    assert!(
        text.contains("the program took too long and was ended"),
        "{text}"
    );
    assert_eq!(desk.lines("hanging", "hangs").len(), RUNS);
    for process in [
        desk.lines("starts", "hangs"),
        desk.lines("hanging", "hangs"),
    ]
    .concat()
    {
        assert!(is_gone(&process), "{process}");
    }
}

pub(crate) fn what_a_fork_would_share_is_started_anew() {
    let why = [
        ("thread", "it has 2 threads"),
        ("file", "it has opened "),
        ("program", "it has started another program"),
        ("time", "it reads MCPTEST_RECORDED_AT"),
        ("asks", "it asks the address of its session"),
        ("reads", "it reads its standard input"),
    ];
    let kinds = why.map(|(kind, _)| kind);
    let desk = Desk::recorded(&kinds, 60);
    let anew = desk.play("off");
    assert!(!anew.stderr.contains("mcptest.serve"), "{anew}");
    desk.forget();
    let served = desk.play("on");
    assert_eq!(
        verdicts_and_texts(&served),
        verdicts_and_texts(&anew),
        "{served}"
    );
    for (kind, why) in why {
        assert_eq!(desk.lines("starts", kind).len(), RUNS, "{kind}: {served}");
        let note = format!(
            "note: the program of `{kind}` is started anew for each run: before it calls `mcptest.serve`, {why}"
        );
        assert_eq!(served.stderr.matches(&note).count(), 1, "{note}: {served}");
    }
}

/// A program below another one, and one that calls `serve` below a program that does not.
pub(crate) fn only_the_program_of_the_command_is_asked() {
    let desk = Desk::recorded(&["plain"], 60);
    let suite = fs::read_to_string(desk.0.at("suites/desk.yml")).unwrap();
    let below = suite.replace(
        "[python3, ../agent.py, plain, '{{prompt}}']",
        "[sh, -c, 'python3 ../agent.py plain \"$0\"; echo', '{{prompt}}']",
    );
    assert_ne!(below, suite);
    desk.0.write("suites/desk.yml", below);
    desk.0.write(
        "agent.py",
        fs::read_to_string(desk.0.at("agent.py"))
            .unwrap()
            .replace("    assert os.getpgid(0) == os.getpid()\n", ""),
    );
    let said = desk.play("on").exits(0);
    assert_eq!(desk.lines("starts", "plain").len(), RUNS, "{said}");
}

/// A run that ends the process that stays for the others is red, and the others have a new one.
pub(crate) fn a_run_that_ends_what_it_is_forked_from_is_red() {
    let desk = Desk::recorded(&["parent"], 60);
    let said = desk.play("on");
    let (_, text) = said.only_failure();
    assert!(
        text.contains("the process that `mcptest.serve` left for other runs was ended by this one"),
        "{text}"
    );
    assert!(text.contains("in every run"), "{text}");
}

/// Whatever ends the harness ends the process that stays, and the run.
pub(crate) fn nothing_is_left_when_the_harness_ends() {
    for signal in ["TERM", "KILL"] {
        // Recording plays the runs too, and they hang then.
        let desk = Desk::recorded(&["hangs"], 6);
        let suite = fs::read_to_string(desk.0.at("suites/desk.yml")).unwrap();
        desk.0.write(
            "suites/desk.yml",
            suite.replace("timeout_s: 6", "timeout_s: 600"),
        );
        let mut harness = desk.command("on");
        let mut harness = harness
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = (0..3000).any(|_| {
            thread::sleep(Duration::from_millis(20));
            !desk.lines("hanging", "hangs").is_empty()
        });
        assert!(begun);
        let mut kill = Command::new("kill");
        kill.args(["-s", signal, &harness.id().to_string()]);
        assert!(kill.status().unwrap().success());
        harness.wait().unwrap();
        let hanging = desk.lines("hanging", "hangs");
        let starts = desk.lines("starts", "hangs");
        assert!(starts.iter().all(|start| !hanging.contains(start)));
        for process in [starts, hanging].concat() {
            assert!(is_gone(&process), "{signal}: {process}");
        }
    }
}

/// Without the harness, or where nothing can be forked, it is the plain program.
pub(crate) fn without_the_harness_it_calls_main() {
    let folder = Folder::new();
    let ends = [
        ("print('done'); return 5", "", 0),
        ("print('done'); sys.exit(4)", "", 4),
        ("raise SystemExit('gone')", "gone\n", 1),
        ("os._exit(3)", "", 3),
    ];
    for (body, stderr, code) in ends {
        for name in [None, Some("off"), Some("nobody-listens-here")] {
            for served in ["main()", "print(mcptest.serve(main))"] {
                let text = format!(
                    "import atexit, os, sys\nimport mcptest\natexit.register(print, 'bye')\ndef main():\n    {body}\n{served}\n"
                );
                folder.write("program.py", &text);
                let mut command = process::command("python3", folder.path());
                command.arg("program.py");
                if let Some(name) = name {
                    command.env("MCPTEST_SERVE", name);
                }
                let said = process::run(environment(&mut command));
                assert_eq!(said.code, Some(code), "{text}: {said}");
                assert_eq!(said.stderr, stderr, "{text}");
                let is_said = served.starts_with("print") && body.ends_with("return 5");
                assert_eq!(said.stdout.contains("5\n"), is_said, "{said}");
                assert_eq!(said.stdout.contains("bye"), code != 3, "{said}");
            }
        }
    }
}

/// What a script says, as a value.
fn script(prompt: &str, runs: &[Value]) -> Value {
    json!({ "conversations": [{ "user": prompt, "model": "gpt-5", "runs": runs }] })
}
