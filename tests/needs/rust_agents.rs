//! The agents of `examples/rust-agents`, over published client libraries: each is recorded by its address, and every field
//! of each run is held against the script that its model played and against what its tools give.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

use crate::support::folder::{Folder, collect};
use crate::support::process::{self, Finished};
use crate::support::workshop;

/// A client library, by the agent's test target and folder of suites.
struct Library {
    name: &'static str,
    model: &'static str,
    protocol: &'static str,
    /// Whether its format says of a result that it is an error.
    flags: bool,
    /// The kinds of tokens that its format does not count apart.
    uncounted: &'static [&'static str],
    /// How often one request is made that is always answered with 429: by async-openai and by the library of AWS themselves, by the
    /// others' agents.
    tries: usize,
}

const LIBRARIES: [Library; 6] = [
    Library {
        name: "async_openai",
        model: "gpt-5",
        protocol: "openai_chat",
        flags: false,
        uncounted: &[],
        tries: 4,
    },
    Library {
        name: "bedrock",
        model: "us.amazon.nova-pro-v1:0",
        protocol: "bedrock_converse",
        flags: true,
        uncounted: &["reasoning"],
        tries: 3,
    },
    Library {
        name: "genai",
        model: "gemini-2.5-flash",
        protocol: "gemini",
        flags: false,
        uncounted: &[],
        tries: 3,
    },
    Library {
        name: "ollama",
        model: "qwen3",
        protocol: "ollama",
        flags: false,
        uncounted: &["cached", "reasoning"],
        tries: 3,
    },
    Library {
        name: "rig",
        model: "gpt-5-mini",
        protocol: "openai_responses",
        flags: false,
        uncounted: &[],
        tries: 3,
    },
    Library {
        name: "reqwest",
        model: "claude-sonnet-4-5",
        protocol: "anthropic_messages",
        flags: true,
        uncounted: &[],
        tries: 3,
    },
];

/// The two agents of each library, and what the user asks them.
pub(crate) const AGENTS: [(&str, &str); 2] = [
    ("Whole", "Please refund orders 7 and 8."),
    (
        "Streamed",
        "Please refund orders 7 and 8, and say so as you go.",
    ),
];

/// What the code does otherwise by `AGENT_CHANGE`, and what is said of it.
pub(crate) const CHANGES: [(&str, &str); 3] = [
    (
        "another system prompt",
        "model call 1 of 3: the system prompt differs",
    ),
    (
        "a tool removed",
        "model call 1 of 3: the tool `refund_order` is no longer offered",
    ),
    (
        "an argument changed",
        "model call 2 of 3: the result of `find_order` differs",
    ),
];

pub(crate) fn crates() -> PathBuf {
    workshop::workspace().join("examples/rust-agents")
}

/// The test executables, built once in a process. What they need of the registry is downloaded before.
pub(crate) fn executables() -> &'static BTreeMap<String, PathBuf> {
    static BUILT: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| {
        let agents = of_agents().clone();
        agents.into_iter().chain(built("spans")).collect()
    })
}

/// Those of the package `agents` alone. Each package is built by itself: together they share features of libraries, and
/// what the agents' tests bring would be in programs that know nothing of it.
pub(crate) fn of_agents() -> &'static BTreeMap<String, PathBuf> {
    static BUILT: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| {
        let fetched = |more: &[&str]| {
            let fetched = Command::new(workshop::program())
                .args(["fetch", "--locked", "--target", "host-tuple"])
                .args(more)
                .current_dir(crates())
                .stdin(Stdio::null())
                .output();
            fetched.unwrap()
        };
        if !fetched(&["--offline"]).status.success() {
            let fetched = fetched(&[]);
            assert!(fetched.status.success(), "{fetched:?}");
        }
        built("agents")
    })
}

/// The executables of a package, by the names of their targets.
fn built(package: &str) -> BTreeMap<String, PathBuf> {
    let arguments = ["test", "--no-run", "--message-format=json", "-p", package];
    let built = workshop::run_cargo(&crates(), &arguments).exits(0);
    let messages = built.stdout.lines().map(serde_json::from_str::<Value>);
    let executables = messages.filter_map(|message| {
        let message = message.unwrap();
        let executable = message["executable"].as_str()?;
        let target = message["target"]["name"].as_str()?;
        Some((target.to_owned(), PathBuf::from(executable)))
    });
    executables.collect()
}

/// How many cases the suite of a library has.
const CASES: usize = 8;

/// The agent's suites and recordings as they are kept.
fn kept(library: &Library) -> PathBuf {
    crates().join("agents/suites").join(library.name)
}

/// A folder with the suites of a library and nothing recorded.
fn unrecorded(library: &Library) -> Folder {
    let suite = fs::read_to_string(kept(library).join("refunds.yml")).unwrap();
    Folder::new().with_file(&format!("suites/{}/refunds.yml", library.name), suite)
}

/// Runs the cases of a library in a folder; with a model, its agents are recorded first.
fn run(library: &Library, folder: &Path, model: Option<&Provider>, arguments: &[&str]) -> Finished {
    let mut command = process::command(&executables()[library.name], folder);
    command.args(arguments).env("CARGO_MANIFEST_DIR", folder);
    with_keys(&mut command);
    if let Some(model) = model {
        reached(command.env("MCPTEST_RECORD", "all"), model);
    }
    process::run(&mut command)
}

/// An agent in this process has the variables of the process, and some libraries ask nothing without a key.
fn with_keys(command: &mut Command) -> &mut Command {
    for key in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
        command.env(key, "scripted");
    }
    command
}

/// Lets a program's clients ask a provider.
pub(crate) fn reached<'c>(command: &'c mut Command, provider: &Provider) -> &'c mut Command {
    let url = provider.url();
    with_keys(command)
        .env("OPENAI_BASE_URL", format!("{url}/v1"))
        .env("ANTHROPIC_BASE_URL", &url)
        .env("GOOGLE_GEMINI_BASE_URL", &url)
        .env("OLLAMA_HOST", &url)
        .env("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", &url)
        .env("AWS_ACCESS_KEY_ID", "AKIDSCRIPTED")
        .env("AWS_SECRET_ACCESS_KEY", "scripted")
        .env("AWS_REGION", "eu-central-1")
        .env("NO_PROXY", "127.0.0.1")
}

fn script() -> Value {
    let script = fs::read_to_string(crates().join("agents/script.json")).unwrap();
    serde_json::from_str(&script).unwrap()
}

fn start(script: &Value) -> Provider {
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn runs(folder: &Path, library: &Library, agent: &str) -> Vec<Value> {
    let stem = format!("{agent}__{}", library.model.replace(['.', ':'], "_"));
    let place = folder.join("cassettes").join(stem);
    assert_eq!(fs::read_dir(&place).unwrap().count(), 3);
    (1..=3)
        .map(|run| read(&place.join(format!("run-{run}.json"))))
        .collect()
}

/// What the desk gives: the result, or its error.
fn desk(tool: &str, order: &Value) -> Result<Value, &'static str> {
    match (tool, order.as_u64()) {
        ("find_order", Some(7)) => Ok(json!({ "order": 7, "status": "paid", "total": 40 })),
        ("find_order", Some(8)) => Ok(json!({ "order": 8, "status": "refunded", "total": 25 })),
        ("refund_order", Some(7)) => Ok(json!({ "order": 7, "refunded": 40 })),
        ("refund_order", Some(8)) => Err("order 8 is refunded, not paid"),
        other => panic!("the script calls {other:?}"),
    }
}

/// The tools as the library tells its model of them: rig makes the schema out of the function's types.
fn tools(library: &Library) -> Value {
    let tool = |name: &str, title: &str, description: &str| {
        let mut order = json!({ "type": "integer", "description": "The number of the order" });
        let mut schema = json!({ "type": "object", "required": ["order"] });
        if library.name == "rig" {
            order["format"] = "uint64".into();
            order["minimum"] = 0.into();
            schema["title"] = title.into();
            schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        }
        schema["properties"] = json!({ "order": order });
        json!({ "name": name, "description": description, "input_schema": schema })
    };
    json!([
        tool(
            "find_order",
            "FindOrderParameters",
            "Looks up the status and the total of an order"
        ),
        tool(
            "refund_order",
            "RefundOrderParameters",
            "Gives the money of a paid order back"
        ),
    ])
}

/// The text of a result. Gemini's has no text: it is an object, which genai makes of the tool's name and of what it gave.
fn text<'a>(library: &Library, tool: &str, result: &'a Value) -> Option<&'a str> {
    if library.name == "genai" {
        let text = result["content"].as_str()?;
        return (*result == json!({ "name": tool, "content": text })).then_some(text);
    }
    let text = result["content"][0]["text"].as_str()?;
    let whole = json!({ "content": [{ "type": "text", "text": text }] });
    (*result == whole).then_some(text)
}

/// Holds a run against the replies that its model gave.
fn compare(library: &Library, agent: (&str, &str), run: &Value, replies: &[Value]) {
    let place = format!("{} {}: {run:#}", library.name, agent.0);
    let is = |found: &Value, right: Value| assert_eq!(*found, right, "{place}");
    let trace = &run["trace"];

    is(&run["agent_name"], agent.0.into());
    is(&run["model"], library.model.into());
    is(&run["user_prompt"], agent.1.into());
    let system = "You work at the order desk. Say exactly what you did.";
    is(&run["system_prompt"], system.into());
    is(&run["tools"], tools(library));

    let mut calls = Vec::new();
    for (step, reply) in replies.iter().enumerate() {
        for call in reply["calls"].as_array().into_iter().flatten() {
            calls.push((step, call["name"].as_str().unwrap(), &call["args"]));
        }
    }
    let recorded = trace["tool_calls"].as_array().unwrap();
    assert_eq!(recorded.len(), calls.len(), "{place}");
    let results = trace["tool_results"].as_array().unwrap();
    assert_eq!(results.len(), calls.len(), "{place}");
    for (index, (step, name, args)) in calls.iter().enumerate() {
        let (call, result) = (&recorded[index], &results[index]);
        is(&call["name"], (*name).into());
        is(&call["args"], (*args).clone());
        is(&call["step"], (*step).into());
        is(&result["call_index"], index.into());
        let text = text(library, name, &result["result"]).unwrap_or_else(|| panic!("{place}"));
        let gives = desk(name, &args["order"]);
        match (&gives, library.flags) {
            (Ok(found), _) => is(&serde_json::from_str(text).unwrap(), found.clone()),
            (Err(error), true) => assert_eq!(text, *error, "{place}"),
            (Err(error), false) => assert_eq!(text, format!("error: {error}"), "{place}"),
        }
        // Unknown is no flag at all, and never "no error".
        let flag = library.flags.then(|| gives.is_err());
        assert_eq!(
            result.get("is_error"),
            flag.map(Value::from).as_ref(),
            "{place}"
        );
    }
    let unknown = (!library.flags).then(|| json!(["is_error"]));
    assert_eq!(run["session"].get("unknown"), unknown.as_ref(), "{place}");

    let conversation = &trace["conversation"];
    let usage = |key: &'static str| {
        replies
            .iter()
            .map(move |reply| reply["usage"][key].as_u64())
    };
    let steps = conversation["steps"].as_array().unwrap();
    for key in ["prompt", "cached", "completion", "reasoning"] {
        let recorded = steps.iter().map(|step| step[key].as_u64());
        let is_counted = !library.uncounted.contains(&key);
        let counted = usage(key).map(|count| count.filter(|_| is_counted));
        assert!(recorded.eq(counted), "{key} of {place}");
    }
    for key in ["prompt", "completion"] {
        let sum: u64 = usage(key).flatten().sum();
        is(&conversation["tokens"][key], sum.into());
    }
    let total: u64 = usage("prompt").chain(usage("completion")).flatten().sum();
    is(&conversation["tokens"]["total"], total.into());
    is(&conversation["stop_reason"], "completed".into());
    let closing = &replies.last().unwrap()["text"];
    is(&trace["final_response"], closing.clone());
    let turns = conversation["turns"].as_array().unwrap();
    is(&turns[0], json!({ "role": "user", "content": agent.1 }));
    is(
        turns.last().unwrap(),
        json!({ "role": "assistant", "content": closing }),
    );

    let answers = &run["session"]["conversations"][0]["answers"];
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), replies.len(), "{place}");
    for answer in answers {
        is(&answer["protocol"], library.protocol.into());
        let streamed = answer["streamed"].as_bool().unwrap_or_default();
        assert_eq!(streamed, agent.0 == "Streamed", "{place}");
    }
    let failures = replies
        .iter()
        .filter_map(|reply| reply["before"].as_array());
    let failures: usize = failures.map(Vec::len).sum();
    let retries = run["session"]["retries"].as_u64().unwrap_or_default();
    assert_eq!(retries, failures as u64, "{place}");
}

/// A run without what differs from recording to recording: when and where it was, and how long it took.
fn timeless(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter();
            let kept = kept.filter(|(key, _)| {
                !matches!(key.as_str(), "recorded_at" | "recorded_on" | "duration_ms")
            });
            kept.map(|(key, value)| (key.clone(), timeless(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(timeless).collect(),
        other => other.clone(),
    }
}

pub(crate) fn their_runs_are_what_the_script_says() {
    let script = script();
    for library in &LIBRARIES {
        let (folder, model) = (unrecorded(library), start(&script));
        let recorded = run(library, folder.path(), Some(&model), &[]).exits(0);
        // Neither the library nor the agent prints a word.
        let said = recorded
            .stderr
            .lines()
            .filter(|line| !line.trim().is_empty());
        assert!(
            said.clone()
                .all(|line| line.starts_with("recorded 3 runs of ")),
            "{recorded}"
        );
        assert_eq!(said.count(), AGENTS.len(), "{recorded}");
        assert_eq!(recorded.outcomes().len(), CASES, "{recorded}");

        let recordings = folder.at(&format!("suites/{}", library.name));
        let mut asked = 0;
        for agent in AGENTS {
            let conversations = script["conversations"].as_array().unwrap();
            let of_agent = |conversation: &&Value| conversation["user"] == agent.1;
            let conversation = conversations.iter().find(of_agent).unwrap();
            let scripted = conversation["runs"].as_array().unwrap();
            let again = runs(&recordings, library, agent.0);
            let before = runs(&kept(library), library, agent.0);
            for ((run, before), replies) in again.iter().zip(&before).zip(scripted) {
                let replies = replies.as_array().unwrap();
                asked += replies.len();
                compare(library, agent, run, replies);
                assert_eq!(
                    timeless(run),
                    timeless(before),
                    "{} {}",
                    library.name,
                    agent.0
                );
            }
            // One 429 in each conversation.
            asked += 1;
        }
        assert_eq!(model.requests().len(), asked, "{}", library.name);
    }
}

pub(crate) fn their_kept_runs_hold() {
    let agents = crates().join("agents");
    for library in &LIBRARIES {
        let before = collect(&kept(library));
        let judged = run(library, &agents, None, &[]).exits(0);
        assert_eq!(judged.outcomes().len(), CASES, "{judged}");
        assert_eq!(collect(&kept(library)), before, "{}", library.name);
    }
}

/// Played, which the test before does with the same code.
pub(crate) fn their_changed_code_is_red() {
    let agents = crates().join("agents");
    for library in &LIBRARIES {
        for (change, told) in CHANGES {
            let mut command = process::command(&executables()[library.name], &agents);
            with_keys(&mut command)
                .arg("playback")
                .env("CARGO_MANIFEST_DIR", &agents)
                .env("AGENT_CHANGE", change);
            let red = process::run(&mut command).exits(101);
            let failures = red.failures();
            assert_eq!(failures.len(), 2, "{}, {change}: {red}", library.name);
            for text in failures.values() {
                assert!(text.contains(told), "{}, {change}: {text}", library.name);
            }
        }
    }
}

/// The last run but one fails to refund order 8. A closing that claims it is refused, whatever the format.
pub(crate) fn a_closing_that_is_false_is_refused() {
    for library in &LIBRARIES {
        let folder = Folder::new();
        for (path, bytes) in collect(&kept(library)) {
            let text = String::from_utf8(bytes).unwrap();
            let lie = text.replace(
                "I refunded order 7, which gave 40 back. I could not refund order 8.",
                "I refunded order 7, which gave 40 back. I refunded order 8.",
            );
            folder.write(&format!("suites/{}/{path}", library.name), lie);
        }
        let judged = run(library, folder.path(), None, &[]).exits(101);
        let failures = judged.failures();
        let refused: Vec<&String> = failures.keys().collect();
        let wanted = ["refunds::streamed::narrative", "refunds::whole::narrative"];
        assert_eq!(refused, wanted, "{judged}");
        for text in failures.values() {
            assert!(text.contains("in 2 of 3 runs"), "{text}");
        }
    }
}

/// One library asks four times and one three times, the others once, and their agents three times.
pub(crate) fn a_model_that_has_no_time_leaves_no_run() {
    let always = vec![json!({ "status": 429 }); 20];
    let script = json!({ "key": "scripted", "conversations": [{
        "user": AGENTS[0].1, "runs": [[{ "text": "Done.", "before": always }]],
    }] });
    for library in &LIBRARIES {
        let (folder, model) = (unrecorded(library), start(&script));
        let case = ["--exact", "refunds::whole"];
        let failed = run(library, folder.path(), Some(&model), &case).exits(101);
        assert_eq!(model.requests().len(), library.tries, "{}", library.name);
        assert!(
            failed.stdout.contains("the agent's own function failed"),
            "{failed}"
        );
        assert_eq!(failed.stderr, "", "{}", library.name);
        let cassettes = folder.at(&format!("suites/{}/cassettes", library.name));
        let left = collect(&cassettes);
        let left = left.keys().filter(|path| path.contains("run-"));
        assert_eq!(left.count(), 0, "{}", library.name);
    }
}

/// Agents over rig and genai write down their own runs: `examples/rust-agents/spans/tests/captured.rs`.
pub(crate) fn what_their_spans_tell_is_judged() {
    let folder = Folder::new();
    let mut tests = process::command(&executables()["captured"], folder.path());
    let judged = process::run(&mut tests).exits(0);
    assert_eq!(judged.outcomes().len(), 6, "{judged}");
}
