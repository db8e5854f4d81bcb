//! Suites that do not load: one failing case each, with every problem of the file in its text.

use crate::sample::assert_fails;
use crate::support::clerk::{SUITE, desk};

/// A test for each suite: it does not load, and the text is a snapshot.
macro_rules! suites_that_do_not_load {
    ($($name:ident: $suite:expr;)*) => {
        $(
            #[test]
            fn $name() {
                let name = concat!("suite-", stringify!($name)).replace('_', "-");
                assert_fails(&name, &desk(&$suite), "desk::load");
            }
        )*
    };
}

/// The clerk's suite with more lines in the agent.
fn suite_with(lines: &str) -> String {
    format!("{SUITE}{lines}")
}

/// Seven mappings, each with ten times the one before.
fn alias_bomb() -> String {
    let mut text = "variables:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..8 {
        let below = format!("*a{}", level - 1);
        let ten = vec![below; 10].join(", ");
        text.push_str(&format!("  a{level}: &a{level} [{ten}]\n"));
    }
    text + SUITE
}

suites_that_do_not_load! {
    an_empty_file: "";
    only_a_comment: "# nothing yet\n";
    a_list: "- agents\n";
    no_agents: "agents: []\n";
    tabs: "agents:\n\t- name: Clerk\n";
    not_yaml: "agents: [\n";
    duplicate_keys: suite_with("    model: other\n    prompt: another\n");
    an_alias_bomb: alias_bomb();
    deep_nesting: format!("agents: {}{}\n", "[".repeat(20_000), "]".repeat(20_000));
    unknown_keys_at_every_level: "\
agentss: []
faults:
  - name: f
    target: { tol: x }
    kind: hang
    delays: 5
servers:
  s: { comand: [x] }
agents:
  - name: Clerk
    modle: m
    model: m
    prompt: Count the pens.
    expect:
      - target: final_response
        mather: x
        matcher: { containz: pens }
    stability: { flors: {} }
";
    two_agents_of_one_name: format!("{SUITE}{}", SUITE.replacen("agents:\n", "", 1).replace("Clerk", "CLERK!"));
    stability_of_one_run: suite_with("    stability: {}\n");
    a_model_as_judge_of_a_gate: suite_with("    runs: 2\n    stability:\n      expect:\n        - target: stability.weakest_score\n          matcher: { llm-judge: is it calm }\n");
    a_bad_regex: suite_with("      - target: final_response\n        matcher: { regex: 'pens(' }\n");
    a_bad_schema: suite_with("      - target: tool_calls.length\n        matcher: { schema: { type: nmber, minimun: 1 } }\n");
    neither_expectation_nor_gate: "agents:\n  - { name: Clerk, model: m, prompt: Count the pens. }\n";
    a_name_that_leaves_nothing: SUITE.replace("Clerk", "'🚀!'");
    a_fault_that_is_not_declared: suite_with("    inject: [hungg]\n") + "faults:\n  - { name: hung, target: { tool: t }, kind: hang }\n";
    imports: suite_with("") + "imports: [other.yml]\n";
    hostile_keys: "agents:\n  - \"mod\\u001bel\": x\n    \"pro\\u202Empt\": y\n";
}

#[test]
fn a_file_that_is_not_utf_8() {
    let folder =
        crate::support::folder::Folder::new().with_file("suites/desk.yml", b"agents: \xff\xfe\n");
    assert_fails("suite-not-utf-8", &folder, "desk::load");
}

#[test]
fn a_gigantic_file_is_not_read() {
    let folder = desk("");
    let file = std::fs::File::options()
        .write(true)
        .open(folder.at("suites/desk.yml"))
        .unwrap();
    file.set_len(1 << 30).unwrap();
    assert_fails("suite-gigantic", &folder, "desk::load");
}
