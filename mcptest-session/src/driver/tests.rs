//! Commands, as a system without anything of ours has them.

use std::time::{Duration, Instant};

use super::{AgentCommand, CommandOutcome};

fn sh(script: &str, turns: &[&str]) -> AgentCommand {
    let command = ["sh", "-c", script, "agent", "<{{prompt}}>"];
    AgentCommand {
        turns: turns.iter().map(|turn| (*turn).to_owned()).collect(),
        ..AgentCommand::new(command, std::env::temp_dir(), "")
    }
}

fn run(agent: &AgentCommand) -> CommandOutcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(super::run(agent)).unwrap()
}

#[cfg(unix)]
#[test]
fn a_prompt_stands_on_standard_input_and_in_arguments() {
    let mut agent = sh(
        "cat; echo; echo \"$1 $VAR\"; echo oops >&2; exit 3",
        &["Cancel 7."],
    );
    agent.environment = vec![("VAR".to_owned(), "set".to_owned())];
    let ended = run(&agent);
    assert_eq!(ended.stdout, "Cancel 7.\n<Cancel 7.> set\n");
    assert_eq!(ended.stderr, ["oops"]);
    assert!(!ended.is_success() && !ended.has_timed_out());
    assert_eq!(
        ended.to_string(),
        "the program ended with exit status: 3; on standard error:\noops"
    );
}

#[cfg(unix)]
#[test]
fn a_program_that_reads_nothing_is_no_problem() {
    // More than a pipe holds.
    let long = "x".repeat(100 << 10);
    let mut agent = sh("exit 0", &[&long]);
    agent.command.truncate(3);
    assert!(run(&agent).is_success());
}

#[cfg(unix)]
#[test]
fn several_turns_are_lines_and_each_waits_for_its_answer() {
    let script = "n=0; while read -r line; do n=$((n+1)); echo note; echo \"{\\\"said\\\": \\\"$n\\\"}\"; done";
    let ended = run(&sh(script, &["one", "two", "three"]));
    assert_eq!(ended.said, ["1", "2", "3"]);
    assert!(ended.is_success());
    let early = run(&sh("read -r line; exit 0", &["one", "two"]));
    assert!(!early.is_success());
    assert_eq!(
        early.unasked.unwrap(),
        "the program ended before it was asked all turns"
    );
}

#[cfg(unix)]
#[test]
fn a_command_that_takes_too_long_is_ended_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!("sleep 60 & echo $! > {}; wait", file.display());
    let mut agent = sh(&script, &["one"]);
    agent.time_limit = Some(Duration::from_millis(500));
    let began = Instant::now();
    let ended = run(&agent);
    assert!(ended.has_timed_out());
    assert!(began.elapsed() < Duration::from_secs(20));
    let started = std::fs::read_to_string(&file).unwrap();
    assert!(is_gone(started.trim()), "{started}");
}

#[cfg(unix)]
#[test]
fn what_a_command_leaves_running_ends_with_it() {
    let ended = run(&sh("sleep 60 >/dev/null 2>&1 & echo $!", &["one"]));
    assert!(ended.is_success());
    assert!(is_gone(ended.stdout.trim()), "{}", ended.stdout);
}

/// Where [`runs_until_it_is_killed`] says which process it started.
#[cfg(unix)]
const FILE: &str = "MCPTEST_TEST_STARTED";

#[cfg(unix)]
#[test]
#[ignore = "is started by the test that kills it"]
fn runs_until_it_is_killed() {
    let file = std::env::var(FILE).unwrap();
    run(&sh(
        &format!("echo $$ > {file}.new; mv {file}.new {file}; sleep 60"),
        &["one"],
    ));
}

#[cfg(unix)]
#[test]
fn a_command_ends_when_whoever_started_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let mut killed = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "driver::tests::runs_until_it_is_killed",
            "--exact",
            "--ignored",
        ])
        .env(FILE, &file)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let started = (0..1500).find_map(|_| {
        std::thread::sleep(Duration::from_millis(20));
        std::fs::read_to_string(&file).ok()
    });
    // No signal that could be handled.
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(is_gone(started.unwrap().trim()));
}

/// Whether a process has ended, or is about to.
#[cfg(unix)]
fn is_gone(process: &str) -> bool {
    let state = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let after = stat.rsplit(')').next()?.trim().to_owned();
        after.chars().next()
    };
    (0..1500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        matches!(state(), None | Some('Z'))
    })
}

#[test]
fn a_program_that_is_none_is_an_error_that_says_what_to_write() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let of = |command: &[&str]| {
        let agent = AgentCommand::new(command.iter().copied(), ".", "");
        runtime
            .block_on(super::run(&agent))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        of(&["no-such-program-of-mcptest --now"]),
        "`no-such-program-of-mcptest --now` cannot be started: No such file or directory (os error 2); it is started \
         without a shell, so write the program and its arguments as a list, for example [python, agent.py]"
    );
    assert_eq!(
        of(&[]),
        "`command` is empty; write the program and its arguments, as [python, agent.py]"
    );
}

#[cfg(unix)]
#[test]
fn a_command_that_its_session_ends_says_so() {
    let mut agent = sh("sleep 60", &["one"]);
    let stop = std::sync::Arc::new(tokio::sync::Notify::new());
    stop.notify_one();
    agent.stop = Some(stop);
    let began = Instant::now();
    let ended = run(&agent);
    assert!(ended.is_stopped && !ended.has_timed_out() && !ended.is_success());
    assert_eq!(ended.to_string(), "the session ended the program");
    assert!(began.elapsed() < Duration::from_secs(20));
}
