//! Without the variable nothing goes live, and without the feature nothing could.

use super::desk::{TWICE, refunds};
use super::recording_crate::Scene;
use crate::support::workshop::{run_cargo, workspace};

/// The server is a script that leaves a trace of being started.
const TELLTALE: &str = "\
servers:
  desk: { command: [sh, -c, \"echo started >> started.txt; exec ORDER_DESK\"] }
agents:
  - name: Refunds
    model: claude-sonnet-4-5
    servers: [desk]
    prompt: Pay order A-1003 back.
    expect:
      - target: final_response
        matcher: { contains: RF-1 }
";

#[test]
fn nothing_goes_live_without_the_variable() {
    let scene = Scene::new(TELLTALE, &refunds());
    let started = scene.folder.at("suites/started.txt");
    for arguments in [
        &[][..],
        &["refunds"],
        &["--exact", "desk::refunds"],
        &["--include-ignored"],
    ] {
        let ran = scene.judge(arguments).exits(101);
        assert!(
            ran.only_failure()
                .1
                .contains("no recorded run of `Refunds` was found"),
            "{ran}"
        );
    }
    scene.judge(&["--list"]).exits(0);
    assert_eq!(scene.requests().len(), 0);
    assert!(!started.exists());
    assert!(scene.places().is_empty());
    // The same with the variable: the trace is a real one.
    scene.record("missing", &[]).exits(0);
    assert!(started.exists());
    assert_eq!(scene.requests().len(), 3);
}

#[test]
fn an_empty_variable_is_none() {
    let scene = Scene::new(TWICE, &refunds());
    scene.record("", &[]).exits(101);
    assert_eq!(scene.requests().len(), 0);
}

#[test]
fn without_the_feature_nothing_that_reaches_a_network_is_built() {
    let tree = |more: &[&str]| {
        let common = ["tree", "-p", "mcptest-harness", "--prefix", "none"];
        run_cargo(workspace(), &[&common, more].concat())
            .exits(0)
            .stdout
    };
    let names = |tree: &str| -> Vec<String> {
        let words = tree.lines().filter_map(|line| line.split(' ').next());
        words.map(ToOwned::to_owned).collect()
    };
    let plain = tree(&["-e", "normal"]);
    let live = [
        "genai",
        "h2",
        "hyper",
        "native-tls",
        "openssl",
        "reqwest",
        "ring",
        "rmcp",
        "rustls",
        "tokio",
        "ureq",
    ];
    for name in names(&plain) {
        assert!(!live.contains(&name.as_str()), "{name} in\n{plain}");
    }
    // The names are those that the tree would show.
    let recording = tree(&["-e", "normal", "--features", "session"]);
    let recording = names(&recording);
    for name in ["hyper", "reqwest", "rustls", "tokio"] {
        assert!(recording.iter().any(|there| there == name), "{name}");
    }
}

/// Features unify: one of these, in any crate, changes how ordinary JSON is read or written in the user's own build.
/// `raw_value` is on: it gives a meaning to one key, `$serde_json::private::RawValue`, and to no other JSON.
#[test]
fn no_feature_of_this_workspace_changes_ordinary_json() {
    let features = |selection: &[&str]| {
        let common = ["tree", "-i", "serde_json", "--prefix", "none"];
        let arguments = [&common, selection].concat();
        run_cargo(workspace(), &arguments).exits(0).stdout
    };
    for selection in [
        &["--workspace", "--all-features", "-e", "features,all"][..],
        &["-p", "mcptest-harness", "-e", "features,normal"],
    ] {
        let features = features(selection);
        let has = |feature: &str| features.contains(&format!("serde_json feature \"{feature}\""));
        assert!(has("std") && has("raw_value"), "{features}");
        for feature in ["preserve_order", "arbitrary_precision"] {
            assert!(!has(feature), "{feature} of {selection:?} in\n{features}");
        }
    }
    let alone = features(&["-p", "mcptest-harness", "-e", "features,normal"]);
    assert!(!alone.contains("unbounded_depth"), "{alone}");
}
