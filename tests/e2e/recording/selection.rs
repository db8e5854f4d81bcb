//! What is recorded: the agents of the selected cases, and of those what is asked for.

use serde_json::json;

use super::recording_crate::Scene;

/// Three agents without servers, one of them with a gate, one ignored; and a second suite.
const THREE: &str = "\
agents:
  - name: One
    model: claude-opus-4-5
    prompt: Say one.
    runs: 2
    expect: [{ target: final_response, matcher: { contains: one } }]
    narrative: {}
  - name: Two
    model: claude-opus-4-5
    prompt: Say two.
    expect: [{ target: final_response, matcher: { contains: two } }]
  - name: Rest
    model: claude-opus-4-5
    prompt: Say nothing.
    skip: not today
    expect: [{ target: final_response, matcher: { contains: nothing } }]
";

const ONE_1: &str = "suites/cassettes/One__claude-opus-4-5/run-1.json";
const ONE_2: &str = "suites/cassettes/One__claude-opus-4-5/run-2.json";
const TWO: &str = "suites/cassettes/Two__claude-opus-4-5.json";
const REST: &str = "suites/cassettes/Rest__claude-opus-4-5.json";

fn scene() -> Scene {
    let says = |word: &str| {
        let run = |time: &str| json!([{ "text": format!("I say {word}, {time}.") }]);
        json!({ "user": format!("Say {word}."), "runs": [run("once"), run("again"), run("a third time"), run("a fourth time")] })
    };
    let script = json!({ "conversations": [says("one"), says("two"), says("nothing")] });
    Scene::new(THREE, &script)
}

#[test]
fn everything_that_is_not_ignored_is_recorded() {
    let scene = scene();
    let ran = scene.record("missing", &[]).exits(0);
    assert_eq!(ran.outcomes().len(), 4, "{ran}");
    assert_eq!(scene.places(), [ONE_1, ONE_2, TWO]);
    assert_eq!(scene.requests().len(), 3);
}

#[test]
fn a_filter_records_only_the_agents_of_its_cases() {
    let selections: [(&[&str], &[&str]); 6] = [
        (&["two"], &[TWO]),
        (&["--exact", "desk::two"], &[TWO]),
        (&["--skip", "one"], &[TWO]),
        (&["--skip", "two"], &[ONE_1, ONE_2]),
        // A gate needs its agent's runs.
        (&["narrative"], &[ONE_1, ONE_2]),
        (&["nobody"], &[]),
    ];
    for (arguments, recorded) in selections {
        let scene = scene();
        scene.record("missing", arguments).exits(0);
        assert_eq!(scene.places(), recorded, "{arguments:?}");
        assert_eq!(scene.requests().len(), recorded.len(), "{arguments:?}");
    }
}

#[test]
fn an_ignored_agent_is_recorded_when_ignored_cases_are_asked_for() {
    for arguments in [["--ignored"], ["--include-ignored"]] {
        let scene = scene();
        scene.record("missing", &arguments).exits(0);
        assert!(
            scene.places().contains(&REST.to_owned()),
            "{:?}",
            scene.places()
        );
    }
    let scene = scene();
    scene.record("missing", &["rest"]).exits(0);
    assert!(scene.places().is_empty());
}

#[test]
fn all_records_only_the_selected_anew() {
    let scene = scene();
    scene.record("missing", &[]).exits(0);
    let before = scene.recorded();
    scene.record("all", &["two"]).exits(0);
    let after = scene.recorded();
    assert_eq!(scene.requests().len(), 4);
    for path in [ONE_1, ONE_2] {
        assert_eq!(before[path], after[path]);
    }
    assert!(scene.text(TWO).contains("I say two, again."));
    assert_eq!(after.len(), before.len(), "{:?}", scene.places());
}

#[test]
fn all_records_everything_anew_once() {
    let scene = scene();
    scene.record("all", &[]).exits(0);
    assert_eq!(scene.requests().len(), 3);
    let first = scene.recorded();
    scene.record("all", &[]).exits(0);
    assert_eq!(scene.requests().len(), 6);
    let second = scene.recorded();
    assert_eq!(scene.places(), [ONE_1, ONE_2, TWO]);
    assert!(first.iter().all(|(path, bytes)| second[path] != *bytes));
    scene.judge(&[]).exits(0);
}

#[test]
fn only_the_agent_that_is_to_run_alone_is_recorded() {
    let scene = scene();
    scene.suite(&THREE.replacen(
        "    prompt: Say two.\n",
        "    prompt: Say two.\n    only: true\n",
        1,
    ));
    scene.record("missing", &[]).exits(0);
    assert_eq!(scene.places(), [TWO]);
}

#[test]
fn a_suite_with_errors_beside_a_good_one_keeps_everything_from_being_spent() {
    let scene = scene();
    scene.folder.write(
        "suites/wrong.yml",
        "agents:\n  - name: Broken\n    modle: claude-opus-4-5\n",
    );
    for arguments in [&[][..], &["one"], &["--exact", "desk::two"]] {
        for word in ["missing", "all"] {
            let ran = scene.record(word, arguments).exits(101);
            assert!(!ran.failures().is_empty(), "{ran}");
            assert_eq!(scene.requests().len(), 0, "{arguments:?}\n{ran}");
        }
    }
    assert!(scene.places().is_empty());
    let ran = scene.record("missing", &[]).exits(101);
    let failures = ran.failures();
    assert!(failures["wrong::load"].contains("modle"), "{ran}");
    crate::support::snapshot::assert(
        "record-beside-errors",
        &failures["desk::two"],
        scene.folder.path(),
    );
}

/// The recordings of one would take the place of the other's.
#[test]
fn two_suites_of_a_folder_with_one_agent_are_refused_before_anything_is_spent() {
    let scene = scene();
    let text = scene.text("suites/desk.yml");
    scene
        .folder
        .write("suites/second.yml", text.replace("Say one.", "Say it."));
    let ran = scene.record("missing", &[]).exits(101);
    let text = &ran.failures()["desk::one"];
    assert!(text.contains("desk and second both have an agent"), "{ran}");
    assert!(text.contains("rename one of the two"), "{ran}");
    assert_eq!(scene.requests().len(), 0);
}

#[test]
fn a_suite_with_errors_does_not_keep_what_is_recorded_from_being_judged() {
    let scene = scene();
    scene.record("missing", &[]).exits(0);
    scene.folder.write("suites/wrong.yml", "agents: 7\n");
    let ran = scene.record("missing", &[]).exits(101);
    assert_eq!(ran.only_failure().0, "wrong::load");
    assert_eq!(scene.requests().len(), 3);
}
