//! Imports beside what other suites have.

use super::{Desk, lines, record};

/// Two logs of an agent `desk`, which asks for other things in each, and a suite of the first.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("one/desk.jsonl", lines(&[record("a", "p", "1")]));
    desk.write(
        "two/desk.jsonl",
        lines(&[record("b", "q", "2"), record("c", "q", "3")]),
    );
    assert_eq!(
        desk.import_into("suites/a.yml", &["one/desk.jsonl"]).status,
        0
    );
    desk
}

#[test]
fn a_second_suite_of_a_folder_leaves_the_runs_of_the_first_alone() {
    let desk = desk();
    let before = desk.files();
    for _ in 0..2 {
        let said = desk.import_into("suites/b.yml", &["two/desk.jsonl"]);
        assert_eq!(said.status, 0, "{said:?}");
        let now = desk.files();
        for (path, bytes) in &before {
            assert_eq!(now.get(path), Some(bytes), "{path}");
        }
        let names = desk.recorded();
        assert_eq!(
            names,
            [
                "desk_2__m/run-1.json",
                "desk_2__m/run-2.json",
                "desk__m/run-1.json"
            ]
        );
        let suite = desk.read("suites/b.yml");
        assert!(
            suite.contains("name: \"desk 2\"") && suite.contains("runs: 2"),
            "{suite}"
        );
    }
    let undone = desk.import_into("suites/b.yml", &["two/desk.jsonl", "--undo"]);
    assert_eq!(undone.status, 0, "{undone:?}");
    assert_eq!(desk.files(), before);
    let said = desk.import_into("suites/b.yml", &["two/desk.jsonl", "--agent", "desk"]);
    assert!(
        said.out.contains(
            "note: `desk` has recordings in this folder already, those of `suites/a.yml`: the new agent gets another name\n"
        ),
        "{said:?}"
    );
}

/// Recordings that no suite has any more are somebody's too.
#[test]
fn runs_that_were_asked_something_else_are_not_mixed_with_others() {
    let desk = desk();
    std::fs::remove_file(desk.path().join("suites/a.yml")).unwrap();
    let said = desk.import(&["two/desk.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let suite = desk.suite();
    assert!(
        suite.contains("name: \"desk 2\"") && suite.contains("prompt: \"q\""),
        "{suite}"
    );
    assert_eq!(desk.recordings().len(), 3);
    // What the suite lacks is proposed beside what it has.
    let desk = self::desk();
    let said = desk.import_into("suites/a.yml", &["two/desk.jsonl"]);
    assert!(said.out.contains("  - name: \"desk 2\"\n"), "{said:?}");
    let why = "note: `desk` has another prompt in the suite, so these runs get their own agent";
    assert!(said.out.contains(why), "{said:?}");
    assert_eq!(desk.recordings().len(), 3);
    // In their place they are what is asked for.
    let said = desk.import_into("suites/a.yml", &["two/desk.jsonl", "--replace"]);
    assert_eq!(said.status, 0, "{said:?}");
}

#[test]
fn an_agent_of_two_suites_gets_no_runs_through_one_of_them() {
    let desk = desk();
    desk.write("suites/b.yml", desk.read("suites/a.yml"));
    desk.write("more.jsonl", lines(&[record("d", "p", "4")]));
    let before = desk.files();
    let said = desk.import_into("suites/b.yml", &["more.jsonl", "--agent", "desk"]);
    assert_eq!(said.status, 2, "{said:?}");
    assert_eq!(desk.files(), before);
    assert!(
        said.err.starts_with(
            "error[import]: would change another suite\n --> more.jsonl:1\n  = the recordings of `desk` also belong to \
             `suites/a.yml`\n  = help: give the agent of one of the suites another name, or "
        ),
        "{said:?}"
    );
}

/// A suite of each model has the agent's own name.
#[test]
fn the_same_name_with_another_model_is_no_clash() {
    let desk = desk();
    let said = desk.import_into("suites/b.yml", &["two/desk.jsonl", "--model", "n"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(desk.read("suites/b.yml").contains("name: \"desk\"\n"));
}

/// What is taken out of a prompt does not make it another.
#[test]
fn a_prompt_with_a_secret_is_found_again() {
    let desk = Desk::new();
    let key = "use sk-proj-0123456789abcdefABCDEF";
    desk.write("log.jsonl", lines(&[record("a", key, "1")]));
    for _ in 0..2 {
        assert_eq!(desk.import(&["log.jsonl"]).status, 0);
        std::fs::remove_file(desk.path().join("suites/x.yml")).unwrap();
    }
    assert_eq!(desk.recordings().len(), 1);
}

#[test]
fn recordings_of_another_suite_stay_when_an_import_is_undone() {
    let desk = desk();
    let copy = desk.read("suites/a.yml");
    desk.write("suites/b.yml", copy);
    let before = desk.files();
    let undone = desk.import_into("suites/b.yml", &["one/desk.jsonl", "--undo"]);
    assert!(
        undone.out.contains("is a recording of another suite too"),
        "{undone:?}"
    );
    assert_eq!(desk.files(), before);
}

/// A neighbour may have its recordings by another name than its agent's with its model.
#[test]
fn recordings_that_a_neighbour_may_read_are_its_own() {
    let suite = |more: &str| {
        format!("agents:\n  - name: desk\n    {more}\n    prompt: p\n    narrative: {{}}\n")
    };
    for neighbour in [
        suite("model: { provider: openai, id: m }"),
        suite("model: m").replace("desk", "clerk") + "    cassette: cassettes/desk__m\n",
        suite("modell: m"),
    ] {
        let desk = desk();
        desk.write("suites/a.yml", &neighbour);
        let before = desk.files();
        desk.write("two/desk.jsonl", lines(&[record("b", "p", "2")]));
        let said = desk.import_into("suites/b.yml", &["two/desk.jsonl"]);
        assert_eq!(said.status, 0, "{said:?}");
        let now = desk.files();
        let ours = before.iter().filter(|(path, _)| path.contains("cassettes"));
        for (path, bytes) in ours {
            assert_eq!(now.get(path), Some(bytes), "{path}");
        }
        let names = desk.recorded();
        assert_eq!(
            names,
            ["desk_2__m/run-1.json", "desk__m/run-1.json"],
            "{neighbour}"
        );
    }
}

#[test]
fn suites_whose_recordings_lie_apart_are_no_neighbours() {
    let desk = Desk::new();
    desk.write("Cargo.toml", "[package]\nname = \"desk\"\n");
    for suite in ["a", "b"] {
        std::fs::create_dir_all(desk.path().join("cassettes").join(suite)).unwrap();
        desk.write("one/desk.jsonl", lines(&[record(suite, suite, "1")]));
        let said = desk.import_into(&format!("suites/{suite}.yml"), &["one/desk.jsonl"]);
        assert_eq!(said.status, 0, "{said:?}");
        let written = desk.read(&format!("suites/{suite}.yml"));
        assert!(
            written.contains("name: desk\n") || written.contains("name: \"desk\"\n"),
            "{written}"
        );
    }
}

#[test]
fn an_entry_that_names_its_provider_keeps_its_recordings() {
    let desk = desk();
    let suite = desk.read("suites/a.yml");
    assert!(
        suite.contains("model: m\n") || suite.contains("model: \"m\"\n"),
        "{suite}"
    );
    let suite = suite.replace("model: \"m\"\n", "model: m\n");
    let named = suite.replace("model: m\n", "model: { provider: openai, id: m }\n");
    desk.write("suites/a.yml", named);
    let before = desk.files();
    let said = desk.import_into("suites/a.yml", &["one/desk.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(desk.files(), before);
}

#[test]
fn a_suite_where_no_test_looks_is_told() {
    let desk = Desk::new();
    desk.write("log.jsonl", lines(&[record("a", "p", "1")]));
    let told = |manifest: &str, suite: &str| {
        desk.write("Cargo.toml", manifest);
        let said = desk.import_into(suite, &["log.jsonl", "--check"]);
        let mut notes = said
            .out
            .lines()
            .filter(|line| line.contains("tests look") || line.contains("no test looks"));
        notes.next().map(str::to_owned)
    };
    let package = "[package]\nname = \"desk\"\n";
    assert_eq!(told(package, "suites/x.yml"), None);
    assert_eq!(
        told(package, "specs/x.yml").unwrap(),
        "note: tests look below `suites`, and not at `specs/x.yml`: move the suite there, or name it in \
         `mcptest::harness!` or `#[mcptest::suite]`"
    );
    let named = "[package]\nname = \"desk\"\n[package.metadata.mcptest]\nroots = [\"specs\"]\n";
    assert_eq!(told(named, "specs/x.yml"), None);
    assert_eq!(
        told("[workspace]\nmembers = [\"crates/*\"]\n", "suites/x.yml").unwrap(),
        "note: no test looks at `suites/x.yml`, because its `Cargo.toml` has no package: write the suite below `suites/` \
         of a package (`crates/*`)"
    );
}
