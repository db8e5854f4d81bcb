//! Runs of τ-bench and τ²-bench: trials of tasks, with a simulated user.
//!
//! Sources: `sierra-research/tau-bench@59a200c6:tau_bench/{types,run}.py`, `envs/base.py`,
//! `agents/tool_calling_agent.py`; `sierra-research/tau2-bench@a2c02472:src/tau2/data_model/simulation.py`,
//! `message.py`, `tasks.py`, `docs/evaluation.md`.

use mcptest_trace::trace::canonical_json;
use serde_json::{Number, Value};

use crate::content::text_of;
use crate::event::{Call, ForeignRun, Lost, ReportedScore, Stop};
use crate::format::{Format, Gathered, Runs};
use crate::formats::openai::{
    ChatOptions, OfUser, is_of_user, lose_message, offered_tools, read_messages, tokens,
};
use crate::input::{Form, Input};
use crate::json::{given, identifier, list, member, named, number, role, text, truthy, word};
use crate::mapping::Mapping;
use crate::time;

/// What the environment of τ-bench writes where a call fails.
const ERRORS: [&str; 2] = ["Error", "Unknown action"];

/// The words by which the simulated user ends the conversation.
const ENDINGS: [&str; 3] = ["###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"];

/// The format `tau`.
pub(crate) struct Tau;

impl Format for Tau {
    fn signature(&self) -> &'static str {
        "a list of `{task_id, reward, traj, trial}`, or `{info.agent_info, tasks, simulations}`"
    }

    fn fits(&self, input: &Input, value: &Value) -> bool {
        let has = |keys: &[&str]| keys.iter().all(|key| value.get(key).is_some());
        let under = matches!(
            input.form,
            Form::Document {
                under: Some("simulations")
            }
        );
        let header = input.header.as_ref();
        let info = header.and_then(|header| header.get("info")?.get("agent_info"));
        has(&["task_id", "traj"])
            || under && info.is_some()
            || has(&["task_id", "termination_reason"]) && (has(&["messages"]) || has(&["ticks"]))
    }

    fn looks_into_records(&self) -> bool {
        false
    }

    fn read(&self, Gathered { records, .. }: &Gathered<'_, '_>, _: &Mapping) -> Runs {
        let [record] = *records else {
            return Err(Lost::no_run("a run is one record"));
        };
        let run = if record.value.get("traj").is_some() {
            first_edition(&record.value)?
        } else {
            second_edition(&record.value, record.input)?
        };
        Ok(vec![run])
    }

    fn has_tasks(&self) -> bool {
        true
    }
}

fn first_edition(record: &Value) -> Result<ForeignRun, Lost> {
    let messages = list(record, "traj");
    let info = record.get("info").unwrap_or(&Value::Null);
    if messages.is_empty() {
        let why = given(info, "error").map_or_else(|| "`traj` is empty".to_owned(), text_or_json);
        return Err(Lost::no_run(&why));
    }
    let task = identifier(record, "task_id");
    let trial = given(record, "trial").and_then(Value::as_i64);
    let mut run = ForeignRun {
        task,
        order: trial,
        prompt: info["task"]["instruction"].as_str().map(str::to_owned),
        ..ForeignRun::default()
    };
    let options = ChatOptions {
        error_prefixes: &ERRORS,
        endings: &ENDINGS,
    };
    read_messages(messages, &mut run, &options);
    run.stop = ends(messages).then_some(Stop::Known("completed"));
    reward(number(record, "reward"), &mut run);
    Ok(run)
}

/// Whether a run of the first edition came to its own end: its simulated user says so, or the agent
/// called the tool that ends a talk. One that ran out of steps has neither.
fn ends(messages: &[Value]) -> bool {
    let Some(last) = messages.last() else {
        return false;
    };
    match text(last, "role") {
        Some("user") => {
            let said = text_of(last.get("content"));
            ENDINGS.iter().any(|ending| said.contains(ending))
        }
        Some("tool") => text(last, "name") == Some(HANDS_OVER),
        _ => false,
    }
}

/// The tool that ends a talk in every domain (`terminate_tools` of the benchmark's environments).
const HANDS_OVER: &str = "transfer_to_human_agents";

fn text_or_json(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| canonical_json(value), str::to_owned)
}

fn reward(reward: Option<Number>, run: &mut ForeignRun) {
    let score = reward.map(ReportedScore::OneOrNothing);
    run.scores
        .extend(score.map(|score| ("reward".to_owned(), score)));
}

fn second_edition(record: &Value, input: &Input) -> Result<ForeignRun, Lost> {
    if given(record, "ticks").is_some_and(truthy) {
        return Err(Lost::no_run("a voice run (`ticks`) is not read"));
    }
    let ended = text(record, "termination_reason").unwrap_or_default();
    if ended == "infrastructure_error" {
        return Err(Lost::no_run(
            "it ended by an error of the benchmark's infrastructure",
        ));
    }
    let task = identifier(record, "task_id");
    let nothing = Value::Null;
    let header = input.header.as_ref().unwrap_or(&nothing);
    let info = &header["info"];
    let described = task.as_deref().and_then(|task| input.task(task));
    let scenario = described.and_then(|task| given(task, "user_scenario"));
    let environment = &info["environment_info"];
    let policy = word(environment, "policy").or_else(|| word(record, "policy"));
    let agent = &info["agent_info"];
    let names = [
        word(environment, "domain_name"),
        word(agent, "implementation"),
    ];
    let names: Vec<&str> = names.into_iter().flatten().collect();
    let mut run = ForeignRun {
        id: identifier(record, "id"),
        agent: (!names.is_empty()).then(|| names.join(" ")),
        asked: named(agent, "llm"),
        task,
        order: given(record, "trial").and_then(Value::as_i64),
        prompt: scenario.map(text_or_json),
        system_prompt: policy.map(str::to_owned),
        ..ForeignRun::default()
    };
    run.tools = offered_tools(list(environment, "tool_defs"));
    for key in ["start_time", "end_time"] {
        run.at(given(record, key).and_then(time::seconds));
    }
    let mut of_user = OfUser::default();
    for message in list(record, "messages") {
        second_edition_message(message, &mut run, &mut of_user);
    }
    of_user.add_note(&mut run);
    run.stop = match ended {
        "" => None,
        "user_stop" | "agent_stop" => Some(Stop::Known("completed")),
        "max_steps" => Some(Stop::Known("turn_budget")),
        "timeout" => Some(Stop::Known("time_budget")),
        other if other.ends_with("_error") => Some(Stop::Known("error")),
        other => Some(Stop::Spelt(other.to_owned())),
    };
    reward(number(&record["reward_info"], "reward"), &mut run);
    Ok(run)
}

fn second_edition_message(message: &Value, run: &mut ForeignRun, of_user: &mut OfUser) {
    if of_user.takes(message) {
        return;
    }
    let said = text_of(message.get("content"));
    run.at(given(message, "timestamp").and_then(time::seconds));
    match role(message).as_deref().unwrap_or_default() {
        "user" => {
            if ENDINGS.iter().any(|ending| said.contains(ending)) {
                run.turn("user", said);
            } else {
                run.user(said);
            }
        }
        "assistant" => {
            let calls = list(message, "tool_calls");
            let usage = tokens(message.get("usage"));
            let greets = usage.is_none() && calls.is_empty() && !run.has_user;
            if !greets {
                let took = given(message, "generation_time_seconds").and_then(time::span);
                run.timed_step(usage, took);
            }
            run.push_assistant(said);
            for call in calls.iter().filter(|call| !is_of_user(call)) {
                let args = member(call, "arguments");
                run.call(Call::new(identifier(call, "id"), text(call, "name"), args));
            }
        }
        "tool" => {
            let several = list(message, "tool_messages");
            let one = std::slice::from_ref(message);
            for answer in if several.is_empty() { one } else { several } {
                if !several.is_empty() && of_user.takes(answer) {
                    continue;
                }
                let failed = given(answer, "error").is_some_and(truthy);
                let value = member(answer, "content");
                run.answer(identifier(answer, "id"), value, Some(failed));
            }
        }
        role @ "system" => run.turn(role, said),
        _ => lose_message(message, run),
    }
}
