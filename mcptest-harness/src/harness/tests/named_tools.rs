//! Tools that the options of gates name, and that no recording lists.

use serde_json::{Value, json};

use super::{calls, failure, holds, judge_runs};
use crate::{Role, gates};

/// A suite that has every option of every gate; a test of the permuted runs sees to that.
const EVERY_OPTION: &str = include_str!("../../../tests/permuted/suite.yml");

/// Puts the name of a tool in the place of an option, or beside the tools that stand there. Returns at how many places.
fn name_tool(value: &mut Value, path: &[&str], tool: &str) -> usize {
    match (value, path) {
        (Value::Array(items), [_, ..]) => {
            let items = items.iter_mut();
            items.map(|item| name_tool(item, path, tool)).sum()
        }
        (value, [key, rest @ ..]) => {
            let below = value.get_mut(*key);
            below.map_or(0, |below| name_tool(below, rest, tool))
        }
        (Value::Array(tools), []) => {
            tools.push(tool.into());
            1
        }
        (Value::Object(lists), []) => {
            let lists = lists.values_mut();
            lists.map(|list| name_tool(list, path, tool)).sum()
        }
        (value, []) => {
            *value = tool.into();
            1
        }
    }
}

/// What stands above the agents of that suite: prices and faults.
fn top() -> &'static str {
    EVERY_OPTION.split_once("agents:\n").unwrap().0
}

/// The blocks of a gate that name a tool with one of its options.
fn blocks(gate: &str, path: &[&str], tool: &str) -> Vec<String> {
    let suite = EVERY_OPTION.replace("COMMON", "model: m");
    let suite: Value = serde_saphyr::from_str(&suite).unwrap();
    let agents = suite["agents"].as_array().unwrap().iter();
    let blocks = agents.filter_map(|agent| {
        let mut block = agent[gate].clone();
        if name_tool(&mut block, path, tool) == 0 {
            return None;
        }
        // All calls are judged, and by the default.
        for key in ["agent", "expect"] {
            block.as_object_mut().unwrap().remove(key);
        }
        Some(format!("  {gate}: {block}\n"))
    });
    blocks.collect()
}

#[test]
fn no_option_names_a_tool_silently_that_runs_do_not_list() {
    // With the tools that the suite names.
    let tools = [
        "find_order",
        "get_order",
        "send_mail",
        "refund",
        "search",
        "delete_order",
        "close_order",
    ];
    let run = json!({ "tools": tools, "trace": calls(&["get_order", "send_mail"]) });
    for gate in gates() {
        let named = gate
            .options
            .iter()
            .filter(|option| matches!(option.role, Role::Tools | Role::PlannedTools));
        for option in named {
            let path = format!("{}.{}", gate.kind.name(), option.path.join("."));
            let blocks = blocks(gate.kind.name(), &option.path, "close_ordr");
            assert!(
                !blocks.is_empty(),
                "no agent of permuted/suite.yml has the option `{path}`"
            );
            for block in blocks {
                let text = failure(judge_runs(top(), &block, std::slice::from_ref(&run)));
                let kind = gate.kind.name();
                let head =
                    format!("`{kind}` names `close_ordr`, and the recordings list no such tool");
                assert!(
                    text.contains(&head) && text.contains("did you mean `close_order`?"),
                    "{path}: a misspelt tool may not pass: {block}{text}"
                );
            }
        }
    }
    // An exception names tools too.
    let unless = "  flow: [{ from: [get_order], to: [refund], unless: [close_ordr] }]\n";
    assert!(
        failure(judge_runs("", unless, std::slice::from_ref(&run)))
            .contains("`flow` names `close_ordr`")
    );
    // The same with a server.
    let of_server = "  trajectory: { mode: subset, calls: [{ name: close_ordr, server: desk }, { name: get_order }, { name: send_mail }] }\n";
    assert!(
        failure(judge_runs("", of_server, std::slice::from_ref(&run)))
            .contains("`trajectory` names `close_ordr`")
    );
    holds(judge_runs(
        "",
        &of_server.replace("close_ordr, server: desk", "close_order"),
        &[run],
    ));
}
