use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcptest_trace::record::Recorder;
use mcptest_trace::record::redact::Redactor;
use serde_json::Value;

use super::*;
use crate::harness::discovery::SuiteFile;
use crate::record::{Progress, RunRequest};

const SUITE: &str = "
regression: { baseline: trusted }
agents:
- { name: One, model: m, prompt: Do it., narrative: {} }
- { name: Two, model: m, prompt: Do it., narrative: {} }
- { name: Rest, model: m, prompt: Do it., narrative: {}, skip: not today }
- { name: New, model: m, prompt: Do it., narrative: {}, regression: { skip: too new } }
";

fn load(folder: &Path) -> LoadedSuite {
    load_text(folder, SUITE)
}

fn load_text(folder: &Path, text: &str) -> LoadedSuite {
    fs::write(folder.join("s.yml"), text).unwrap();
    let file = SuiteFile {
        path: folder.join("s.yml"),
        shown: "s.yml".to_owned(),
        relative: "s.yml".into(),
    };
    LoadedSuite::load(folder, &file).unwrap_or_else(|error| panic!("{error}"))
}

/// Records with a loop that fails for one agent, and counts what it is asked for.
fn recording(asked: &Arc<AtomicUsize>, mode: Mode) -> LiveRecording {
    let asked = Arc::clone(asked);
    let answer = move |request: &RunRequest, run: &mut Recorder| {
        asked.fetch_add(1, Ordering::SeqCst);
        run.user(&request.user_turns[0]);
        run.said("That is all.");
        if request.agent == "Two" {
            return Err("no answer");
        }
        Ok(())
    };
    LiveRecording {
        asked: RecordRequest::new(mode),
        live: Arc::new(OwnLoop(answer)),
        has_own_loop: false,
        commands: commands(),
        functions: AgentFunctions::default(),
        refused: OnceLock::new(),
        kept: AtomicUsize::new(0),
        unplayed: UnplayedAgents::default(),
    }
}

fn subject(suite: &LoadedSuite, name: &str) -> Subject {
    let mut subjects = suite.subjects();
    let named = |subject: &Subject| suite.agent(*subject).name.value == name;
    subjects.find(named).unwrap()
}

#[test]
fn an_agent_is_recorded_once_and_not_by_who_reads_its_runs() {
    let folder = tempfile::tempdir().unwrap();
    let suite = load(folder.path());
    let asked = Arc::default();
    let recording = recording(&asked, Mode::All);
    let one = subject(&suite, "One");
    // A case holds a part of the suite before anything is recorded.
    let case = suite.for_agent(one);
    for _ in 0..2 {
        recording.record(&suite, one, None);
    }
    assert_eq!(case.runs(one).as_ref().unwrap().runs().len(), 1);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let other = suite.runs(subject(&suite, "New")).as_ref();
    assert!(other.unwrap_err().to_line().contains("no recorded run"));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[test]
fn what_goes_wrong_is_the_failure_of_every_case_that_reads_the_runs() {
    let folder = tempfile::tempdir().unwrap();
    let suite = load(folder.path());
    let two = subject(&suite, "Two");
    let [own, of_all] = [suite.for_agent(two), suite.for_all_agents()];
    recording(&Arc::default(), Mode::Missing).record(&suite, two, None);
    for case in [own, of_all.for_agent(two)] {
        let failure = case.runs(two).as_ref().unwrap_err();
        assert!(failure.to_line().contains("own loop failed"));
    }
}

#[test]
fn what_is_recorded_after_another_case_looked_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let suite = load(folder.path());
    let [one, two] = ["One", "Two"].map(|name| subject(&suite, name));
    assert!(suite.runs(two).is_err());
    recording(&Arc::default(), Mode::Missing).record(&suite, one, None);
    assert!(suite.with_new_listing().runs(one).is_ok());
}

#[test]
fn the_case_of_all_agents_needs_those_that_it_compares() {
    let folder = tempfile::tempdir().unwrap();
    let suite = load(folder.path());
    let needs = |kind: fn(&CaseKind) -> bool| {
        let mut cases = suite.suite.cases().into_iter();
        let subjects = needed_subjects(&suite, &cases.find(|case| kind(&case.kind)).unwrap());
        let names = subjects
            .iter()
            .map(|it| suite.agent(*it).name.value.clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(
        needs(|kind| matches!(kind, CaseKind::SuiteRegression)),
        ["One", "Two"]
    );
    assert_eq!(needs(|kind| matches!(kind, CaseKind::Gate(..))), ["New"]);
}

/// Panics before it runs anything.
struct Broken;

impl Live for Broken {
    fn prepare(&self, _: &Suite, _: &Agent, _: usize) -> Result<(), LiveError> {
        panic!("a bug of {}", "the recorder")
    }

    fn run(
        &self,
        _: &Suite,
        _: &Agent,
        _: usize,
        _: &RunRequest,
        _: &mut Recorder,
        _: &Progress,
    ) -> Result<Option<Value>, LiveError> {
        Ok(None)
    }
}

#[test]
fn a_panic_is_the_failure_of_its_agent_alone() {
    let folder = tempfile::tempdir().unwrap();
    let suite = load(folder.path());
    let recording = LiveRecording {
        asked: RecordRequest::new(Mode::Missing),
        live: Arc::new(Broken),
        has_own_loop: false,
        commands: commands(),
        functions: AgentFunctions::default(),
        refused: OnceLock::new(),
        kept: AtomicUsize::new(0),
        unplayed: UnplayedAgents::default(),
    };
    let one = subject(&suite, "One");
    recording.record(&suite, one, None);
    let failure = format!("{:?}", suite.runs(one).as_ref().unwrap_err());
    assert!(failure.contains("the recording panicked"), "{failure}");
    assert!(failure.contains("a bug of the recorder"), "{failure}");
}

/// A tool may repeat how its program or its server was started.
#[test]
fn keys_in_the_arguments_of_programs_are_taken_out() {
    let folder = tempfile::tempdir().unwrap();
    let text = "servers: { desk: { command: [desk, --token, t0k3n-0123456789] } }
agents: [{ name: One, model: m, prompt: Do it., narrative: {}, servers: [desk], command: [agent, '--api-key=k3y-0123456789', --port, '8000'] }]
";
    let suite = load_text(folder.path(), text);
    let agent = suite.agent(subject(&suite, "One"));
    let redactor = redaction::redactor(&suite.suite, agent, &[], None).unwrap();
    let told =
        redactor.redact_text("agent --api-key=k3y-0123456789 at 8000, desk t0k3n-0123456789");
    assert!(!told.contains("k3y-") && !told.contains("t0k3n-"), "{told}");
    assert!(told.contains("8000"), "{told}");
}

/// A value that is a word, or short, is no secret in the suite's own text, and stays there.
#[test]
fn only_a_secret_that_is_taken_out_everywhere_is_refused_in_the_suite() {
    let folder = tempfile::tempdir().unwrap();
    for (value, is_refused) in [("test", false), ("k3y-0123456789", true)] {
        let said = format!("Is api_key: {value} right?");
        let text =
            format!("agents: [{{ name: One, model: m, prompt: '{said}', narrative: {{}} }}]\n");
        let suite = load_text(folder.path(), &text);
        let agent = suite.agent(subject(&suite, "One"));
        let secret = ("OPENAI_API_KEY".to_owned(), value.to_owned());
        let redactor = Redactor::new([secret], Vec::new()).unwrap();
        assert_ne!(redactor.redact_text(&said), said);
        let refused = redaction::check_suite_secrets(agent, 0, &redactor.without_weak_values());
        assert_eq!(refused.is_err(), is_refused, "{value}");
    }
}
