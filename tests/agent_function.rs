//! Agents that are async functions of the crate: recorded by an address, with no glue, and judged.
//!
//! This executable is the crate's runner too: started with `AGENT_FUNCTION` set, it runs the harness over that folder,
//! built as `AGENT_DRIVERS` says.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::io;
use std::process::ExitCode;

use e2e_support::folder::Folder;
use e2e_support::live::desk::order_desk;
use e2e_support::process::{Finished, command, run};
use libtest_mimic::{Arguments, Trial};
use mcptest::{Harness, Mode, Recorder, RunRequest, Session, boxed};
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

const RUNNER: &str = "AGENT_FUNCTION";
const DRIVERS: &str = "AGENT_DRIVERS";

const SUITE: &str = "agents:
- { name: Greeter, model: gpt-5, prompt: Say hello., runs: 2, narrative: {}, expect: [{ target: final_response, matcher: { starts-with: Hello } }] }
- { name: Thrower, model: gpt-5, prompt: Say hello., narrative: {} }
- { name: Silent, model: gpt-5, prompt: Say hello., narrative: {} }
";

/// What a stranger writes: where the model is, and what the user asks.
async fn greet(session: Session) -> Result<(), String> {
    ask(session.openai_url(), session.prompt()).map(drop)
}

/// The greeter after somebody changed its code: it asks twice.
async fn greet_twice(session: Session) -> Result<(), String> {
    ask(session.openai_url(), session.prompt())?;
    ask(session.openai_url(), session.prompt()).map(drop)
}

/// Another function, with errors of another kind.
async fn shrug(_: Session) -> Result<(), io::Error> {
    Err(io::Error::other("it shrugs"))
}

/// Looks an order up at the server that the suite declares, when the model asks for it.
async fn look_up(session: Session) -> Result<(), String> {
    let desk = session.mcp_url("desk").ok_or("there is no desk")?;
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "f", "version": "1" } });
    post(
        desk,
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
    )?;
    post(
        desk,
        &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    )?;
    ask(session.openai_url(), session.prompt())?;
    let order = json!({ "name": "find_order", "arguments": { "order_id": "A-9" } });
    post(
        desk,
        &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": order }),
    )
    .map(drop)
}

fn post(url: &str, message: &Value) -> Result<String, String> {
    let answer = ureq::post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .send(message.to_string());
    let mut answer = answer.map_err(|error| error.to_string())?;
    let body = answer.body_mut().read_to_string();
    body.map_err(|error| error.to_string())
}

/// A library with an agent, which knows nothing of sessions: the tool that pays is an argument.
mod shop {
    use std::io::Write as _;

    pub(super) type BoxError = Box<dyn std::error::Error>;

    /// Pays, and leaves a line in the file that `PAID` names.
    #[allow(clippy::unused_async, reason = "a real one awaits its bank")]
    pub(super) async fn pay(order: u32) -> Result<u32, BoxError> {
        let file = std::env::var_os("PAID").ok_or("nowhere to pay")?;
        let mut paid = std::fs::File::options()
            .create(true)
            .append(true)
            .open(file)?;
        writeln!(paid, "order {order}")?;
        Ok(18)
    }

    pub(super) async fn answer(
        base: &str,
        prompt: &str,
        pay: impl AsyncFn(u32) -> Result<u32, BoxError>,
    ) -> Result<(), BoxError> {
        assert_eq!(pay(7).await?, 18);
        super::ask(base, prompt)?;
        Ok(())
    }
}

async fn pays(session: Session) -> Result<(), shop::BoxError> {
    let pay = async |order: u32| {
        let args = json!({ "order": order });
        Ok(session.tool("pay", args, shop::pay(order)).await?)
    };
    shop::answer(session.openai_url(), session.prompt(), pay).await
}

/// The agent that pays, after somebody changed its code.
async fn pay_otherwise(session: Session) -> Result<(), String> {
    let paid = session.tool("pay", json!({ "order": 8 }), async {
        Ok::<u32, String>(18)
    });
    let _: Result<u32, _> = paid.await;
    ask(
        session.openai_url(),
        &format!("{} Please.", session.prompt()),
    )
    .map(drop)
}

/// Asks the model, and panics at the second answer; where a recording is played, it also asks otherwise.
async fn panic_at_two(session: Session) -> Result<(), String> {
    let played = session.mode() == Mode::Play;
    let please = if played { " Please." } else { "" };
    let said = ask(
        session.openai_url(),
        &format!("{}{please}", session.prompt()),
    )?;
    assert!(!said.contains("Hello two"), "the second greeting");
    Ok(())
}

/// Blocks its thread after it asked, longer than a test waits.
async fn block(session: Session) -> Result<(), String> {
    ask(session.openai_url(), session.prompt())?;
    if session.mode() == Mode::Play || std::env::var("BLOCKS").is_ok() {
        std::thread::sleep(std::time::Duration::from_mins(5));
    }
    Ok(())
}

/// A loop that writes down what it does.
fn write_down(asked: &RunRequest, run: &mut Recorder) -> Result<(), &'static str> {
    let first = asked.user_turns.first();
    run.user(first.ok_or("the user asks nothing")?);
    run.said("Hello from the loop.");
    Ok(())
}

/// Asks a model of the `OpenAI` kind once.
fn ask(base: &str, prompt: &str) -> Result<String, String> {
    let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
    let body = json!({ "model": "gpt-5", "messages": [{ "role": "user", "content": prompt }] });
    let mut answer = ureq::post(format!("{base}/chat/completions"))
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {key}"))
        .send(body.to_string())
        .map_err(|error| error.to_string())?;
    answer
        .body_mut()
        .read_to_string()
        .map_err(|error| error.to_string())
}

/// The runner, with the drivers of this name.
fn runner(folder: &str, drivers: &str) -> ExitCode {
    let harness = Harness::new(folder, "greeter");
    let harness = match drivers {
        "one and named ones" => harness
            .agent(greet)
            .agent_named("Thrower", |session: Session| async move {
                ask(session.openai_url(), session.prompt())?;
                Err("the agent gave up".to_owned())
            })
            .agent_named("Silent", |_| async { Ok::<(), String>(()) }),
        "a list of two kinds" => {
            harness.agents([("Greeter", boxed(greet)), ("Thrower", boxed(shrug))])
        }
        "none" => harness,
        "a list of one" => harness.agents([("Greeter", greet)]),
        "a list of one that asks twice" => harness.agents([("Greeter", greet_twice)]),
        "one that pays" => harness.agents([("Payer", boxed(pays))]),
        "one that pays otherwise" => harness.agents([("Payer", boxed(pay_otherwise))]),
        "one that panics" => harness.agent(panic_at_two),
        "one that panics at once" => {
            harness.agent(|_: Session| async { panic!("at once") as Result<(), String> })
        }
        "one that blocks" => harness.agent(block),
        "a loop alone" => harness.record_with(write_down),
        "a list beside a loop" => harness.agents([("Greeter", greet)]).record_with(write_down),
        "a name that is misspelt" => harness.agents([("Greetr", greet)]),
        "a name unlike any" => harness.agents([("Accountant", greet)]),
        "one name twice" => harness.agents([("Greeter", greet), ("Greeter", greet)]),
        "one with a server" => harness.agent(look_up),
        "every agent twice" => harness.agent(greet).agent(shrug),
        "every agent beside a loop" => harness.agent(greet).record_with(write_down),
        other => panic!("there are no drivers `{other}`"),
    };
    harness.run()
}

fn main() -> ExitCode {
    if let Ok(folder) = std::env::var(RUNNER) {
        return runner(&folder, &std::env::var(DRIVERS).unwrap());
    }
    let tests: [(&str, fn()); 11] = [
        (
            "a_recording_is_played_to_a_function",
            a_recording_is_played_to_a_function,
        ),
        (
            "a_function_that_changed_is_recorded_anew",
            a_function_that_changed_is_recorded_anew,
        ),
        (
            "functions_are_recorded_and_judged",
            functions_are_recorded_and_judged,
        ),
        (
            "functions_of_two_kinds_stand_in_one_list",
            functions_of_two_kinds_stand_in_one_list,
        ),
        (
            "a_loop_records_the_agents_that_are_no_functions",
            a_loop_records_the_agents_that_are_no_functions,
        ),
        (
            "an_agent_that_no_suite_has_is_an_error",
            an_agent_that_no_suite_has_is_an_error,
        ),
        ("an_agent_has_one_driver", an_agent_has_one_driver),
        (
            "a_function_that_panics_is_a_red_case",
            a_function_that_panics_is_a_red_case,
        ),
        (
            "a_function_that_blocks_its_thread_ends_at_its_limit",
            a_function_that_blocks_its_thread_ends_at_its_limit,
        ),
        (
            "recordings_of_a_function_are_replaced_by_nothing_else",
            recordings_of_a_function_are_replaced_by_nothing_else,
        ),
        (
            "a_function_reaches_the_servers_of_its_suite",
            a_function_reaches_the_servers_of_its_suite,
        ),
    ];
    let trials = tests.map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}

/// A folder with the suite, and the model that its agents ask.
struct Scene {
    folder: Folder,
    model: Provider,
}

impl Scene {
    fn new() -> Self {
        let says =
            |text: &str| json!([{ "text": text, "usage": { "prompt": 9, "completion": 2 } }]);
        let script = json!({ "key": "scripted", "conversations": [{
            "user": "Say hello.", "model": "gpt-5",
            "runs": [says("Hello one."), says("Hello two."), says("Hello three.")],
        }] });
        Self {
            folder: Folder::new().with_file("suites/greet.yml", SUITE),
            model: Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap(),
        }
    }

    fn run(&self, drivers: &str, record: bool, arguments: &[&str]) -> Finished {
        self.run_as(drivers, record.then_some("missing"), &[], arguments)
    }

    /// `record`: what `MCPTEST_RECORD` says.
    fn run_as(
        &self,
        drivers: &str,
        record: Option<&str>,
        environment: &[(&str, &str)],
        arguments: &[&str],
    ) -> Finished {
        let mut runner = command(std::env::current_exe().unwrap(), self.folder.path());
        runner.env(RUNNER, self.folder.path()).args(arguments);
        runner
            .env(DRIVERS, drivers)
            .envs(environment.iter().copied());
        if let Some(word) = record {
            runner
                .env("MCPTEST_RECORD", word)
                .env("OPENAI_BASE_URL", format!("{}/v1", self.model.url()))
                .env("OPENAI_API_KEY", "scripted");
        }
        run(&mut runner)
    }

    /// What the user reads at the end of a run.
    fn closing(&self, run: &str) -> Value {
        let run = self.folder.at(&format!("suites/cassettes/{run}"));
        let run: Value = serde_json::from_str(&std::fs::read_to_string(run).unwrap()).unwrap();
        run["trace"]["final_response"].clone()
    }

    fn recorded(&self, stem: &str) -> bool {
        let place = |end: &str| self.folder.at(&format!("suites/cassettes/{stem}{end}"));
        place("").exists() || place(".json").exists()
    }
}

fn a_recording_is_played_to_a_function() {
    let scene = Scene::new();
    let suite = "agents: [{ name: Payer, model: gpt-5, prompt: Say hello., playback: {} }]\n";
    scene.folder.write("suites/greet.yml", suite);
    let paid = scene.folder.at("paid.txt");
    let paid = [("PAID", paid.to_str().unwrap())];
    let pays = |record| {
        scene
            .run_as("one that pays", record, &paid, &["payer"])
            .exits(0)
    };
    pays(Some("missing"));
    // It does not pay while it is played.
    pays(None);
    assert_eq!(std::fs::read_to_string(paid[0].1).unwrap(), "order 7\n");
    let red = scene
        .run("one that pays otherwise", false, &["payer"])
        .exits(101);
    for told in [
        "model call 1 of 1: turn 1 of the user differs",
        "before the first model call: the recording has no call of `pay` with these arguments; the nearest recorded call has \
         {\"order\":7}: `order` is 8 and was 7",
        "the code does not make the recorded call of the tool `pay`",
        "MCPTEST_RECORD=all cargo test -p greeter -- --exact greet::payer",
    ] {
        assert!(red.stdout.contains(told), "{told}\n{red}");
    }
    // A build that knows no function cannot play it.
    let unknown = scene.run("none", false, &["payer::playback"]).exits(101);
    assert!(
        unknown
            .stdout
            .contains("this agent has neither `command:` nor a function"),
        "{unknown}"
    );
}

fn a_function_that_changed_is_recorded_anew() {
    let mut scene = Scene::new();
    let record = |scene: &Scene, drivers: &str, more: &[(&str, &str)]| {
        scene.run_as(drivers, Some("changed"), more, &["greeter"])
    };
    // Nothing is there, and nothing is known of what it will cost.
    let first = record(&scene, "a list of one", &[]).exits(0);
    let told = "2 of 2 runs to record; what they will cost is not known";
    assert!(first.stderr.contains(told), "{first}");
    let same = record(&scene, "a list of one", &[]).exits(0);
    assert!(same.stderr.contains("0 of 2 runs to record\n"), "{same}");
    assert_eq!(scene.model.requests().len(), 2);
    let dry = [("MCPTEST_RECORD_DRY_RUN", "1")];
    let told = "2 of 2 runs to record: about 22 tokens, $0.0001 (as recorded before)\n  `Greeter`: 2 runs (runs 1, 2: model call 1 of 1: ";
    let said = record(&scene, "a list of one that asks twice", &dry).exits(0);
    assert!(said.stderr.contains(told), "{said}");
    assert!(!said.stdout.contains("test greet::greeter"), "{said}");
    assert_eq!(scene.model.requests().len(), 2);
    let says = |text: &str| json!([{ "text": text, "usage": { "prompt": 9, "completion": 2 } }]);
    let runs = ["Hello one.", "Hello two.", "Hello three.", "Hello four."].map(says);
    let script = json!({ "key": "scripted", "conversations": [{ "user": "Say hello.", "model": "gpt-5", "runs": runs }] });
    scene.model = Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap();
    let said = record(&scene, "a list of one that asks twice", &[]).exits(0);
    assert!(
        said.stderr
            .contains("recorded 2 runs of `Greeter` (44 tokens"),
        "{said}"
    );
    assert_eq!(scene.closing("Greeter__gpt-5/run-2.json"), "Hello four.");
    // A loop is no function: it replaces none of its recordings.
    let other = record(&scene, "a loop alone", &[]).exits(101);
    assert!(other.stdout.contains("are of its own code"), "{other}");
    // A dry run judges nothing, so that no case of it may count as passed.
    let nextest = [dry[0], ("NEXTEST_RUN_ID", "a1")];
    let nextest = record(&scene, "a list of one", &nextest).exits(101);
    assert!(
        nextest.stderr.contains("a dry run is not for nextest"),
        "{nextest}"
    );
}

fn functions_are_recorded_and_judged() {
    let scene = Scene::new();
    let run = |record, arguments: &[&str]| scene.run("one and named ones", record, arguments);
    run(true, &["greeter"]).exits(0);
    assert_eq!(scene.closing("Greeter__gpt-5/run-1.json"), "Hello one.");
    // Nothing is asked from now on.
    run(false, &["greeter"]).exits(0);
    // A function that fails leaves no run.
    let thrown = run(true, &["thrower"]).exits(101);
    assert!(thrown.stdout.contains("the agent gave up"), "{thrown}");
    assert!(!scene.recorded("Thrower__gpt-5"));
    // One that asks nothing leaves none, and is told what to set.
    let silent = run(true, &["silent"]).exits(101);
    for told in [
        "the agent's own function called no model at the address of the session",
        "`session.openai_url()`, `session.anthropic_url()` or `session.gemini_url()`",
        "run this case alone: MCPTEST_RECORD=missing cargo test -p greeter -- --exact greet::silent",
    ] {
        assert!(silent.stdout.contains(told), "{told}\n{silent}");
    }
    assert!(!silent.stdout.contains("OPENAI_BASE_URL"), "{silent}");
    assert!(!scene.recorded("Silent__gpt-5"));
}

fn functions_of_two_kinds_stand_in_one_list() {
    let scene = Scene::new();
    let run = |arguments: &[&str]| scene.run("a list of two kinds", true, arguments);
    run(&["greeter"]).exits(0);
    assert_eq!(scene.closing("Greeter__gpt-5/run-2.json"), "Hello two.");
    let thrown = run(&["thrower"]).exits(101);
    assert!(thrown.stdout.contains("it shrugs"), "{thrown}");
    // The third agent is no function: the built-in agent records it, and says so.
    let silent = run(&["silent"]).exits(0);
    let told = "note: the built-in agent records `Silent`, which has no `command:`";
    assert!(silent.stderr.contains(told), "{silent}");
    // What has no recording is told how to get one: a function needs no other build.
    let thrown = scene
        .run("a list of two kinds", false, &["thrower"])
        .exits(101);
    let told = "MCPTEST_RECORD=missing cargo test -p greeter -- --exact greet::thrower";
    assert!(thrown.stdout.contains(told), "{thrown}");
}

fn a_loop_records_the_agents_that_are_no_functions() {
    let scene = Scene::new();
    scene.run("a list beside a loop", true, &[]).exits(0);
    assert_eq!(scene.closing("Greeter__gpt-5/run-1.json"), "Hello one.");
    assert_eq!(scene.closing("Silent__gpt-5.json"), "Hello from the loop.");
    assert_eq!(scene.model.requests().len(), 2);
}

fn an_agent_that_no_suite_has_is_an_error() {
    let scene = Scene::new();
    let refused = |drivers, arguments: &[&str]| {
        let ran = scene.run(drivers, false, arguments).exits(101);
        assert_eq!(ran.stdout, "");
        ran.stderr
    };
    assert_eq!(
        refused("a name that is misspelt", &["thrower"]),
        "error: a function is given for the agent `Greetr`, and no suite has an agent of that name\n\nhelp: did you mean `Greeter`?\n"
    );
    assert_eq!(
        refused("a name unlike any", &[]),
        "error: a function is given for the agent `Accountant`, and no suite has an agent of that name\n\nhelp: the suites have `Greeter`, `Thrower`, `Silent`\n"
    );
    // Where it records, every suite is looked at, whatever case is asked for.
    let recorded = scene.run(
        "a name that is misspelt",
        true,
        &["--exact", "greet::greeter"],
    );
    assert!(recorded.exits(101).stderr.contains("`Greetr`"));
    // What is wrong with a suite comes first: the agent may stand in it.
    scene.folder.write("suites/other.yml", "agents: []\n");
    let broken = scene
        .run("a name that is misspelt", false, &["other"])
        .exits(101);
    assert!(broken.stdout.contains("other::load"), "{broken}");
}

fn an_agent_has_one_driver() {
    let scene = Scene::new();
    for (drivers, told) in [
        (
            "one name twice",
            "error: two functions are given for the agent `Greeter`\n",
        ),
        (
            "every agent twice",
            "error: two functions are given for all agents\n",
        ),
        (
            "every agent beside a loop",
            "error: a function is given for all agents, so `record_with` records none\n",
        ),
    ] {
        let ran = scene.run(drivers, true, &[]).exits(101);
        assert!(ran.stderr.starts_with(told), "{ran}");
    }
    let command = "agents:\n- name: Thrower\n  model: gpt-5\n  prompt: Say hello.\n  command: [thrower]\n  narrative: {}\n";
    let greeter = &SUITE.lines().nth(1).unwrap();
    scene
        .folder
        .write("suites/greet.yml", format!("agents:\n{greeter}\n"));
    scene.folder.write("suites/thrower.yml", command);
    for (drivers, record) in [
        ("a list of two kinds", false),
        ("a list of two kinds", true),
        ("one and named ones", false),
    ] {
        let ran = scene.run(drivers, record, &["load"]).exits(101);
        let shown = "error: `Thrower` has a command, and also a function of this crate\n --> suites/thrower.yml:5:12";
        assert!(ran.stdout.contains(shown), "{ran}");
    }
    assert_eq!(scene.model.requests().len(), 0);
    // A function beside an agent with a command, and each has its own.
    let one = scene
        .run("a list beside a loop", true, &["greeter"])
        .exits(0);
    assert!(one.stderr.contains("recorded 2 runs of `Greeter`"), "{one}");
}

fn a_function_that_panics_is_a_red_case() {
    let scene = Scene::new();
    let suite =
        "agents: [{ name: Greeter, model: gpt-5, prompt: Say hello., runs: 2, playback: {} }]\n";
    scene.folder.write("suites/greet.yml", suite);
    // While it is recorded: the run before it is kept.
    let red = scene.run("one that panics", true, &["greeter"]).exits(101);
    for told in [
        "error: run 2 of 2: the agent's own function panicked\n",
        "tests/agent_function.rs:",
        ": the second greeting\n",
        "the finished runs are kept; `MCPTEST_RECORD=missing cargo test -p greeter -- --exact greet::greeter` continues after them",
    ] {
        assert!(red.stdout.contains(told), "{told}\n{red}");
    }
    // While it is played: beside what the other run does differently.
    let scene = Scene::new();
    scene.folder.write("suites/greet.yml", suite);
    scene
        .run("one that blocks", true, &["--exact", "greet::greeter"])
        .exits(0);
    let red = scene
        .run("one that panics", false, &["playback"])
        .exits(101);
    for told in [
        "in every run: model call 1 of 1: turn 1 of the user differs",
        "- in run 2: the agent's own function panicked at ",
        ": the second greeting\n",
    ] {
        assert!(red.stdout.contains(told), "{told}\n{red}");
    }
    let red = scene
        .run("one that panics at once", false, &["playback"])
        .exits(101);
    let told = ": at once, before it called a model";
    assert!(red.stdout.contains(told), "{red}");
    assert!(!red.stdout.contains("scoped thread"), "{red}");
}

fn a_function_that_blocks_its_thread_ends_at_its_limit() {
    let scene = Scene::new();
    let suite = |rest: &str| {
        format!("agents: [{{ name: Greeter, model: gpt-5, prompt: Say hello., {rest} }}]\n")
    };
    scene
        .folder
        .write("suites/greet.yml", suite("playback: { timeout_s: 0.3 }"));
    scene
        .run("one that blocks", true, &["--exact", "greet::greeter"])
        .exits(0);
    let told =
        "the function blocks its thread and cannot be stopped, so the thread was left running";
    let red = scene
        .run("one that blocks", false, &["playback"])
        .exits(101);
    let late = format!("the agent's own function took too long; {told}\n");
    assert!(red.stdout.contains(&late), "{red}");
    // While it is recorded, the run is kept as far as it went.
    scene
        .folder
        .write("suites/greet.yml", suite("time_budget: 1, narrative: {}"));
    let blocks = [("BLOCKS", "1")];
    let said = scene
        .run_as("one that blocks", Some("all"), &blocks, &["greeter"])
        .exits(0);
    assert!(
        said.stderr
            .contains(&format!("note: run 1 of `Greeter`: {told}\n")),
        "{said}"
    );
    let run = scene.folder.at("suites/cassettes/Greeter__gpt-5.json");
    let run: Value = serde_json::from_str(&std::fs::read_to_string(run).unwrap()).unwrap();
    assert_eq!(run["trace"]["conversation"]["stop_reason"], "time_budget");
}

fn recordings_of_a_function_are_replaced_by_nothing_else() {
    let scene = Scene::new();
    scene
        .run("a list beside a loop", true, &["greeter"])
        .exits(0);
    let said = scene
        .run_as("a loop alone", Some("all"), &[], &["greeter"])
        .exits(101);
    let told = "error: the recordings of `Greeter` are of its own code, and here it has neither `command:` nor a function\n";
    assert!(said.stdout.contains(told), "{said}");
    assert_eq!(scene.closing("Greeter__gpt-5/run-1.json"), "Hello one.");
    // Nobody's recordings are recorded by whoever is there, but for an agent that is to be played.
    scene
        .run_as("a loop alone", Some("all"), &[], &["thrower"])
        .exits(0);
    let suite = "agents: [{ name: Thrower, model: gpt-5, prompt: Say hello., playback: {} }]\n";
    scene.folder.write("suites/greet.yml", suite);
    let said = scene
        .run_as("a loop alone", Some("all"), &[], &["thrower"])
        .exits(101);
    assert!(
        said.stdout
            .contains("this agent has neither `command:` nor a function"),
        "{said}"
    );
    assert_eq!(scene.closing("Thrower__gpt-5.json"), "Hello from the loop.");
}

/// The function's call is that which the model asked for, and the server says that it failed.
fn a_function_reaches_the_servers_of_its_suite() {
    let desk = json!(order_desk().to_string_lossy());
    let suite = format!(
        "servers: {{ desk: {{ command: [{desk}] }} }}\nagents:\n- {{ name: Clerk, model: gpt-5, prompt: Say hello., servers: [desk], narrative: {{}} }}\n"
    );
    let script = json!({ "key": "scripted", "conversations": [{
        "user": "Say hello.", "model": "gpt-5",
        "runs": [[{ "calls": [{ "name": "desk__find_order", "args": { "order_id": "A-9" } }] }]],
    }] });
    let scene = Scene {
        folder: Folder::new().with_file("suites/desk.yml", suite),
        model: Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap(),
    };
    scene.run("one with a server", true, &[]);
    let run = scene.folder.at("suites/cassettes/Clerk__gpt-5.json");
    let run: Value = serde_json::from_str(&std::fs::read_to_string(run).unwrap()).unwrap();
    let trace = &run["trace"];
    assert_eq!(trace["tool_calls"][0]["server"], "desk");
    assert_eq!(trace["tool_results"][0]["is_error"], true);
    assert!(trace["tool_results"][0]["duration_ms"].is_u64());
}
