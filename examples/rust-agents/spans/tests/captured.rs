//! Both programs run against a scripted model API, and the suites judge what they wrote down.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use mcptest::judge::Package;
use mcptest::result::CaseStatus;
use scripted_provider::{Provider, Script};
use tempfile::TempDir;

const RIG: &str = env!("CARGO_BIN_EXE_desk_over_rig");
const GENAI: &str = env!("CARGO_BIN_EXE_desk_over_genai");

/// A package with suites, and with the runs that programs write into it.
struct Desk {
    folder: TempDir,
    provider: Provider,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("suites")).unwrap();
        let script = Script::from_json(include_str!("../script.json")).unwrap();
        let provider = Provider::start(script).unwrap();
        Self { folder, provider }
    }

    fn run(&self, program: &str, args: &[&str], content: bool) -> Output {
        self.command(program, args, content).output().unwrap()
    }

    fn command(&self, program: &str, args: &[&str], content: bool) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.folder.path().join("suites"))
            .env("OPENAI_BASE_URL", self.provider.url())
            .env(
                "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
                content.to_string(),
            );
        for variable in [
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "http_proxy",
            "https_proxy",
            "all_proxy",
        ] {
            command.env_remove(variable);
        }
        command
    }

    /// The first run that was written.
    fn first_run(&self) -> Option<serde_json::Value> {
        let file = self
            .folder
            .path()
            .join("suites/cassettes/desk__gpt-5/run-1.json");
        let text = fs::read(file).ok()?;
        Some(serde_json::from_slice(&text).unwrap())
    }

    /// Runs a program that answers.
    fn answers(&self, program: &str, prompt: &str, answer: &str) {
        let output = self.run(program, &[prompt], true);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said.trim(), answer, "{output:?}");
    }

    /// The cases of a suite of this package, and whether each passes.
    fn judged(&self, suite: &str) -> BTreeMap<String, bool> {
        let file = format!("{suite}.yml");
        let own = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("suites")
            .join(&file);
        let here = self.folder.path().join("suites").join(&file);
        fs::copy(own, &here).unwrap();
        let package = Package::open(self.folder.path(), "desk", &["suites".into()]);
        assert!(package.failures().is_empty(), "{:?}", package.failures());
        let cases = package.cases();
        let judged = cases.iter().map(|case| {
            let result = case.judge();
            assert_ne!(result.status, CaseStatus::Ignored, "{result:?}");
            let name = case.name().rsplit("::").next().unwrap();
            (name.to_owned(), result.status == CaseStatus::Passed)
        });
        let judged = judged.collect();
        drop(cases);
        fs::remove_file(here).unwrap();
        judged
    }
}

fn verdicts(cases: &[(&str, bool)]) -> BTreeMap<String, bool> {
    let cases = cases
        .iter()
        .map(|(case, passes)| ((*case).to_owned(), *passes));
    cases.collect()
}

#[test]
fn a_run_with_a_tool_that_failed_is_judged_rightly() {
    for (program, is_known) in [(RIG, true), (GENAI, false)] {
        let desk = Desk::new();
        for _ in 0..2 {
            desk.answers(
                program,
                "Please refund order 7.",
                "It could not be refunded.",
            );
        }
        let right = [
            ("desk", true),
            ("trajectory", true),
            ("narrative", true),
            ("calls", is_known),
        ];
        assert_eq!(desk.judged("refund"), verdicts(&right), "{program}");
        // What is not known of a tool is no success, and may be one error more.
        assert_eq!(
            desk.judged("looked_up"),
            verdicts(&[("desk", is_known)]),
            "{program}"
        );
        assert_eq!(
            desk.judged("refunded"),
            verdicts(&[("desk", true), ("trajectory", false)]),
            "{program}"
        );
    }
}

#[test]
fn an_agent_that_lies_about_a_tool_that_failed_is_red() {
    for program in [RIG, GENAI] {
        let desk = Desk::new();
        desk.answers(program, "Please refund order 8.", "Order 8 was refunded.");
        let lie = [("desk", true), ("trajectory", true), ("narrative", false)];
        assert_eq!(desk.judged("lie"), verdicts(&lie), "{program}");
    }
}

#[test]
fn a_nested_agents_calls_carry_its_name() {
    let desk = Desk::new();
    desk.answers(
        RIG,
        "Let the clerk find order 7.",
        "The clerk says: delivered.",
    );
    assert_eq!(
        desk.judged("clerk"),
        verdicts(&[("desk", true), ("trajectory", true)])
    );
}

#[test]
fn content_that_is_switched_off_is_said_once_with_its_switch() {
    for (program, args, switch) in [
        (
            RIG,
            &["Please refund order 7.", "--silent"][..],
            ".record_content_telemetry(true)",
        ),
        (
            GENAI,
            &["Please refund order 7."],
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
        ),
    ] {
        let desk = Desk::new();
        let output = desk.run(program, args, false);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(said.matches(switch).count(), 1, "{said}");
        assert!(!desk.folder.path().join("suites/cassettes").exists());
    }
}

#[test]
fn a_provider_that_refuses_leaves_a_run_that_is_not_completed() {
    for (program, expected) in [(RIG, "interrupted"), (GENAI, "error")] {
        let desk = Desk::new();
        let output = desk.run(program, &["Nobody knows this."], true);
        assert!(!output.status.success(), "{output:?}");
        let run = desk.first_run().unwrap();
        assert_eq!(
            run["trace"]["conversation"]["stop_reason"], expected,
            "{program}"
        );
    }
}

#[test]
fn a_program_that_is_killed_leaves_what_had_happened() {
    for program in [RIG, GENAI] {
        let desk = Desk::new();
        let mut child = desk
            .command(program, &["Take your time with order 7."], true)
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        // The model is asked for the second time when the tool has ended.
        while desk.provider.requests().len() < 2 {
            assert!(Instant::now() < until, "{program}");
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let run = desk.first_run().unwrap();
        let trace = &run["trace"];
        assert_eq!(
            trace["conversation"]["stop_reason"], "interrupted",
            "{program}"
        );
        assert_eq!(trace["tool_calls"][0]["name"], "get_order", "{program}");
        let result = &trace["tool_results"][0]["result"]["content"][0]["text"];
        assert_eq!(result, "delivered", "{program}: {run}");
    }
}
