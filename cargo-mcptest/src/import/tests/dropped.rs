//! What an import passes over is said, with the place of all of it.

use serde_json::json;

use super::{Desk, lines, record};

#[test]
fn packed_files_and_broken_links_of_a_folder_are_reported() {
    let desk = Desk::new();
    desk.write("logs/a.jsonl", lines(&[record("a", "p", "1")]));
    desk.write("logs/b.jsonl.gz", [0x1f, 0x8b, 8, 0]);
    desk.write("logs/notes.txt.gz", [0x1f, 0x8b, 8, 0]);
    #[cfg(unix)]
    {
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(to, desk.path().join("logs").join(name)).unwrap();
        };
        link("gone.jsonl", "c.jsonl");
        desk.write("elsewhere/d.jsonl", lines(&[record("d", "p", "2")]));
        link("../elsewhere/d.jsonl", "d.jsonl");
    }
    let said = desk.import(&["logs", "--agent", "x"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err
            .contains(" --> logs/b.jsonl.gz\n  = this is a gzip file; give it as JSON in UTF-8\n"),
        "{said:?}"
    );
    assert!(!said.err.contains("notes.txt.gz"), "{said:?}");
    if cfg!(unix) {
        assert!(
            said.err.contains("cannot be read\n --> logs/c.jsonl\n"),
            "{said:?}"
        );
        assert_eq!(desk.recordings().len(), 2, "{said:?}");
    }
}

#[test]
fn both_of_two_runs_with_one_identifier_are_named() {
    let desk = Desk::new();
    desk.write(
        "a.jsonl",
        lines(&[record("b", "p", "0"), record("a", "p", "1")]),
    );
    desk.write("b.jsonl", lines(&[record("a", "p", "2")]));
    let said = desk.import(&["a.jsonl", "b.jsonl", "--agent", "x"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err.contains(
            "two runs with one identifier\n --> b.jsonl:1\n  = the run at a.jsonl:2 has the same identifier `a`, but \
             different content\n  = help: the first is imported; "
        ),
        "{said:?}"
    );
}

/// A file that ends before its first run holds none of any format.
#[test]
fn a_file_that_is_cut_before_its_first_run_is_reported_once() {
    let desk = Desk::new();
    let head = r#"{"timestamp": "t", "info": {"agent_info": {"llm": "m"}}, "tasks": [{"id": "1", "#;
    for cut in [
        head.to_owned(),
        format!("{head}\"x\":1}}], \"simulations\": [{{\"id\": "),
    ] {
        desk.write("results.json", cut);
        let said = desk.import(&["results.json"]);
        assert_eq!(said.status, 2, "{said:?}");
        assert_eq!(said.err.matches("error[import]").count(), 1, "{said:?}");
        assert!(said.err.starts_with("error[import]: is cut\n"), "{said:?}");
    }
}

/// No option helps to read what is not read.
#[test]
fn what_is_refused_by_name_is_not_told_to_be_named() {
    for (value, help) in [
        (
            json!({ "data": [{ "traceID": "1", "spans": [] }] }),
            "convert the file as the message says, and import the new file",
        ),
        (
            json!({ "what": 1 }),
            "if the file holds runs, give their format with `--from FORMAT`; else leave the file out",
        ),
    ] {
        let desk = Desk::new();
        desk.write("a.json", value.to_string());
        let said = desk.import(&["a.json"]);
        assert!(
            said.err.contains(&format!("  = help: {help}\n")),
            "{said:?}"
        );
    }
}

/// No test looks there, and the recordings would lie below it.
#[test]
fn a_suite_in_a_folder_of_recordings_is_refused() {
    let desk = Desk::new();
    desk.write("Cargo.toml", "[package]\nname = \"desk\"\n");
    desk.write("log.jsonl", lines(&[record("a", "p", "1")]));
    for folder in ["cassettes", "snapshots", ".old"] {
        let suite = format!("suites/{folder}/x.yml");
        let said = desk.import_into(&suite, &["log.jsonl"]);
        assert_eq!(said.status, 2, "{said:?}");
        assert_eq!(
            said.err,
            format!(
                "error: no test would find `{suite}`: tests look for no suite in a folder named `{folder}`; write the suite \
                 elsewhere, e.g. `suites/x.yml`\n"
            )
        );
        assert!(!desk.path().join("suites").exists());
    }
}
