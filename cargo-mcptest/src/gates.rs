//! What the declarations of gates say of the blocks of a suite.

use mcptest::suite::gates::GateKind;
use mcptest::{GateInfo, Role};
use mcptest_suite::Node;

/// Every node of a gate's block that is more to others than to the gate, and what it is.
pub(crate) fn roles<'n>(
    gates: &[GateInfo],
    kind: GateKind,
    block: &'n Node,
) -> Vec<(Role, &'n Node)> {
    let gate = gates.iter().find(|gate| gate.kind == kind);
    let list = gate.and_then(|gate| gate.list);
    let options = gate.into_iter().flat_map(|gate| &gate.options);
    let of_option = options.flat_map(|option| {
        let path = match option.path.as_slice() {
            // The list stands there itself.
            [first, rest @ ..] if Some(*first) == list && block.items().is_some() => rest,
            path => path,
        };
        let nodes = below(block, path).into_iter();
        nodes.map(|node| (option.role, node))
    });
    of_option.collect()
}

/// The nodes at a path of keys, in each item of a list.
fn below<'n>(node: &'n Node, path: &[&str]) -> Vec<&'n Node> {
    match (path, node.items()) {
        ([], _) => vec![node],
        (_, Some(items)) => items.iter().flat_map(|item| below(item, path)).collect(),
        ([key, rest @ ..], None) => {
            let node = node.get(key).into_iter();
            node.flat_map(|node| below(node, rest)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    /// Keys that speak of tools and name none, whose gate asks for their tools itself, or that bound what is no target.
    const OTHERS: [&str; 16] = [
        "flow.entries.unless",
        "flow.entries",
        "golden_path.penalize_backtracking",
        "golden_path.penalize_repeated_tools",
        "playback.run",
        "recovery.max_detection_ms",
        "recovery.max_recovery_ms",
        "reliability.max_score",
        "session.weights.tool_correctness",
        "snapshot.redact",
        "snapshot.tools",
        "stability.turns",
        "trajectory.calls.server",
        "trajectory_axes.dependencies.arg",
        "trajectory_axes.dependencies",
        "trajectory_axes.order",
    ];

    /// The keys of a block, each with those above it, and what an editor is told of it.
    fn keys(schema: &Value, above: &str, found: &mut Vec<(String, String)>) {
        for inner in [&schema["items"], &schema["anyOf"][1]] {
            if inner.is_object() {
                keys(inner, above, found);
            }
        }
        let properties = schema["properties"].as_object().into_iter().flatten();
        for (key, schema) in properties.filter(|(key, _)| *key != "expect") {
            let path = format!("{above}.{key}");
            keys(schema, &path, found);
            let said = schema["description"].as_str().unwrap_or_default();
            found.push((path, said.to_owned()));
        }
    }

    /// A new key that names tools, or bounds a number, is one that `validate` and `calibrate` know.
    #[test]
    fn every_key_that_names_tools_or_bounds_a_number_has_a_role() {
        let mut unknown = Vec::new();
        for gate in mcptest::gates() {
            let name = gate.kind.name();
            let mut found = Vec::new();
            keys(&gate.schema, name, &mut found);
            let roles: Vec<String> = gate
                .options
                .iter()
                .map(|option| format!("{name}.{}", option.path.join(".")))
                .collect();
            let suspects = found.into_iter().filter(|(path, said)| {
                let key = path.rsplit('.').next().unwrap_or_default();
                said.to_lowercase().contains("tool") || key.starts_with("max_")
            });
            unknown.extend(
                suspects
                    .map(|(path, _)| path)
                    // What stands below a key with a role is a part of it.
                    .filter(|path| !roles.iter().any(|role| path.starts_with(role.as_str()))),
            );
        }
        // A feature of a library decides whether the keys of a schema keep their order.
        unknown.sort();
        let without_role: Vec<&str> = unknown.iter().map(String::as_str).collect();
        let new = without_role.iter().filter(|path| !OTHERS.contains(path));
        let new: Vec<&str> = new.copied().collect();
        assert!(
            new.is_empty(),
            "these options seem to name tools or to limit a target, and have no role: {}. An option that names tools is a \
             `Key::tools`, or has `.with_role(Role::Tools)` or `.with_role(Role::PlannedTools)`: a misspelt tool then fails. A \
             limit has `.limits_target(TARGET)`. If an option does neither, name it in `OTHERS`",
            new.join(", ")
        );
        let gone = OTHERS.iter().filter(|path| !without_role.contains(path));
        let gone: Vec<&str> = gone.copied().collect();
        assert!(gone.is_empty(), "take out of `OTHERS`: {}", gone.join(", "));
    }
}
