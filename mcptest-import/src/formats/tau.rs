//! Runs of τ-bench and τ²-bench: trials of tasks, with a simulated user.
//!
//! Sources: `sierra-research/tau-bench@59a200c6:tau_bench/{types,run}.py`, `envs/base.py`,
//! `agents/tool_calling_agent.py`; `sierra-research/tau2-bench@a2c02472:src/tau2/data_model/simulation.py`,
//! `message.py`, `tasks.py`, `docs/evaluation.md`.

use mcptest_trace::trace::canonical_json;
use serde_json::{Number, Value};

use crate::content::text_of;
use crate::event::{Call, ForeignRun, ReportedScore, Stop};
use crate::format::{Format, Gathered, Runs};
use crate::formats::openai::{
    ChatOptions, UserToolCalls, is_of_user, offered_tools, read_messages, report_message, tokens,
};
use crate::input::{Form, Input};
use crate::json::{
    identifier, list, member, non_null, nonempty_string, nonempty_text, number, role, text, truthy,
};
use crate::loss::Lost;
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

    fn recognizes(&self, input: &Input, value: &Value) -> bool {
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

    fn joins_records(&self) -> bool {
        false
    }

    fn read(&self, Gathered { records, .. }: &Gathered<'_, '_>, _: &Mapping) -> Runs {
        let [record] = *records else {
            return Err(Lost::no_run("a run is one record"));
        };
        let run = if record.value.get("traj").is_some() {
            read_first_edition(&record.value)?
        } else {
            read_second_edition(&record.value, record.input)?
        };
        Ok(vec![run])
    }

    fn has_tasks(&self) -> bool {
        true
    }
}

fn read_first_edition(record: &Value) -> Result<ForeignRun, Lost> {
    let messages = list(record, "traj");
    let info = record.get("info").unwrap_or(&Value::Null);
    if messages.is_empty() {
        let why =
            non_null(info, "error").map_or_else(|| "`traj` is empty".to_owned(), text_or_json);
        return Err(Lost::no_run(&why));
    }
    let task = identifier(record, "task_id");
    let trial = non_null(record, "trial").and_then(Value::as_i64);
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
    run.stop = has_ended(messages).then_some(Stop::Known("completed"));
    read_reward(number(record, "reward"), &mut run);
    Ok(run)
}

/// Whether a run of the first edition came to its own end: its simulated user says so, or the agent
/// called the tool that ends a talk. One that ran out of steps has neither.
fn has_ended(messages: &[Value]) -> bool {
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

fn read_reward(reward: Option<Number>, run: &mut ForeignRun) {
    let score = reward.map(ReportedScore::OneOrNothing);
    run.scores
        .extend(score.map(|score| ("reward".to_owned(), score)));
}

fn read_second_edition(record: &Value, input: &Input) -> Result<ForeignRun, Lost> {
    if non_null(record, "ticks").is_some_and(truthy) {
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
    let scenario = described.and_then(|task| non_null(task, "user_scenario"));
    let environment = &info["environment_info"];
    let policy = nonempty_text(environment, "policy").or_else(|| nonempty_text(record, "policy"));
    let agent = &info["agent_info"];
    let names = [
        nonempty_text(environment, "domain_name"),
        nonempty_text(agent, "implementation"),
    ];
    let names: Vec<&str> = names.into_iter().flatten().collect();
    let mut run = ForeignRun {
        id: identifier(record, "id"),
        agent: (!names.is_empty()).then(|| names.join(" ")),
        asked: nonempty_string(agent, "llm"),
        task,
        order: non_null(record, "trial").and_then(Value::as_i64),
        prompt: scenario.map(text_or_json),
        system_prompt: policy.map(str::to_owned),
        ..ForeignRun::default()
    };
    run.tools = offered_tools(list(environment, "tool_defs"));
    for key in ["start_time", "end_time"] {
        run.add_time(non_null(record, key).and_then(time::parse_seconds));
    }
    let mut of_user = UserToolCalls::default();
    for message in list(record, "messages") {
        read_second_edition_message(message, &mut run, &mut of_user);
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
    read_reward(number(&record["reward_info"], "reward"), &mut run);
    Ok(run)
}

fn read_second_edition_message(message: &Value, run: &mut ForeignRun, of_user: &mut UserToolCalls) {
    if of_user.try_take(message) {
        return;
    }
    let said = text_of(message.get("content"));
    run.add_time(non_null(message, "timestamp").and_then(time::parse_seconds));
    match role(message).as_deref().unwrap_or_default() {
        "user" => {
            if ENDINGS.iter().any(|ending| said.contains(ending)) {
                run.push_turn("user", said);
            } else {
                run.push_user(said);
            }
        }
        "assistant" => {
            let calls = list(message, "tool_calls");
            let usage = tokens(message.get("usage"));
            let greets = usage.is_none() && calls.is_empty() && !run.has_user;
            if !greets {
                let took =
                    non_null(message, "generation_time_seconds").and_then(time::parse_duration);
                run.push_timed_step(usage, took);
            }
            run.push_assistant(said);
            for call in calls.iter().filter(|call| !is_of_user(call)) {
                let args = member(call, "arguments");
                run.push_call(Call::new(identifier(call, "id"), text(call, "name"), args));
            }
        }
        "tool" => {
            let several = list(message, "tool_messages");
            let one = std::slice::from_ref(message);
            for answer in if several.is_empty() { one } else { several } {
                if !several.is_empty() && of_user.try_take(answer) {
                    continue;
                }
                let failed = non_null(answer, "error").is_some_and(truthy);
                let value = member(answer, "content");
                run.push_answer(identifier(answer, "id"), value, Some(failed));
            }
        }
        role @ "system" => run.push_turn(role, said),
        _ => report_message(message, run),
    }
}
