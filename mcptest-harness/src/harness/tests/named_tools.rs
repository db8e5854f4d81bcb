//! Tools that the options of gates name, and that no recording lists.

use serde_json::json;

use super::{calls, failure, holds, judge_runs};
use crate::{Role, gates};

/// A gate that names the tool `NAME` with one option. Each option whose role is to name tools must be here.
fn block(option: &str) -> &'static str {
    match option {
        "flow.entries.from" => "flow: [{ from: [NAME], to: [refund] }]",
        "flow.entries.to" => "flow: [{ from: [refund], to: [NAME] }]",
        "golden_path.calls" => "golden_path: { calls: [NAME, send_mail] }",
        "narrative.evidence" => "narrative: { evidence: { mailed: [NAME] } }",
        "narrative.mutating_tools" => "narrative: { mutating_tools: [NAME] }",
        "narrative.readonly_tools" => "narrative: { readonly_tools: [NAME] }",
        "narrative.tools" => "narrative: { tools: [NAME] }",
        "trajectory.allow" => {
            "trajectory: { mode: superset, calls: [{ name: send_mail }], allow: [NAME, get_order] }"
        }
        "trajectory.calls.name" => {
            "trajectory: { mode: subset, calls: [{ name: NAME }, { name: get_order }, { name: send_mail }] }"
        }
        "trajectory.forbid" => "trajectory: { forbid: [NAME] }",
        "trajectory_axes.dependencies.consumer" => {
            "trajectory_axes: { dependencies: [{ producer: get_order, consumer: NAME }] }"
        }
        "trajectory_axes.dependencies.producer" => {
            "trajectory_axes: { dependencies: [{ producer: NAME, consumer: refund }] }"
        }
        "trajectory_axes.order.first" => {
            "trajectory_axes: { order: [{ first: NAME, second: refund }] }"
        }
        "trajectory_axes.order.second" => {
            "trajectory_axes: { order: [{ first: refund, second: NAME }] }"
        }
        other => panic!(
            "add a block of a gate with the option `{other}` here: a misspelt tool may not pass"
        ),
    }
}

#[test]
fn no_option_names_a_tool_silently_that_runs_do_not_list() {
    let tools = ["get_order", "send_mail", "refund", "close_order"];
    let run = json!({ "tools": tools, "trace": calls(&["get_order", "send_mail"]) });
    for gate in gates() {
        let named = gate
            .options
            .iter()
            .filter(|option| matches!(option.role, Role::Tools | Role::PlannedTools));
        for option in named {
            let path = format!("{}.{}", gate.kind.name(), option.path.join("."));
            let text = failure(judge_runs(
                "",
                &format!("  {}\n", block(&path).replace("NAME", "close_ordr")),
                std::slice::from_ref(&run),
            ));
            let kind = gate.kind.name();
            let head = format!("`{kind}` names `close_ordr`, and the recordings list no such tool");
            assert!(
                text.contains(&head) && text.contains("did you mean `close_order`?"),
                "{path}: {text}"
            );
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
