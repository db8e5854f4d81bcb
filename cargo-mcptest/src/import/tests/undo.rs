//! An import taken back.

use super::{Desk, lines, record};

fn two() -> String {
    lines(&[record("a", "p", "1"), record("b", "p", "2")])
}

/// The files below `suites`.
fn files(desk: &Desk) -> Vec<String> {
    let root = desk.path().join("suites");
    let entries = walkdir::WalkDir::new(&root).sort_by_file_name();
    let entries = entries.into_iter().flatten();
    let files = entries.filter(|entry| entry.file_type().is_file());
    let files = files.map(|entry| {
        entry
            .path()
            .strip_prefix(&root)
            .unwrap()
            .display()
            .to_string()
    });
    files.collect()
}

#[test]
fn what_an_import_wrote_goes_with_the_suite() {
    for form in [&["--agent", "x"][..], &["--agent", "x", "--jsonl"]] {
        let desk = Desk::new();
        desk.write("one.jsonl", two());
        let arguments = [&["one.jsonl"], form].concat();
        assert_eq!(desk.import(&arguments).status, 0);
        let before = files(&desk);
        let shown = desk.import(&[&arguments[..], &["--undo", "--check"]].concat());
        assert_eq!((shown.status, files(&desk)), (0, before));
        let said = desk.import(&[&arguments[..], &["--undo"]].concat());
        assert_eq!((said.status, &said.out), (0, &shown.out));
        assert_eq!(files(&desk), Vec::<String>::new());
        let removed = match form.len() {
            2 => {
                "removes suites/cassettes/x__m/run-1.json\nremoves suites/cassettes/x__m/run-2.json\n"
            }
            _ => "removes suites/cassettes/x__m.jsonl:1\nremoves suites/cassettes/x__m.jsonl:2\n",
        };
        assert_eq!(said.out, format!("{removed}removes suites/x.yml\n"));
        let again = desk.import(&[&arguments[..], &["--undo"]].concat());
        assert_eq!(again.status, 2, "{again:?}");
        assert_eq!(
            again.err,
            "error: no run of these files is recorded for suites/x.yml\n"
        );
    }
}

#[test]
fn what_was_changed_since_stays_and_the_reason_is_told() {
    let desk = Desk::new();
    desk.write("one.jsonl", two());
    let arguments = ["one.jsonl", "--agent", "x"];
    assert_eq!(desk.import(&arguments).status, 0);
    let path = desk.path().join("suites/cassettes/x__m/run-2.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"2\"", "\"two\"")).unwrap();
    let said = desk.import(&[&arguments[..], &["--undo"]].concat());
    assert_eq!(said.status, 1, "{said:?}");
    assert_eq!(
        said.out,
        "removes suites/cassettes/x__m/run-1.json\n\
         leaves suites/cassettes/x__m/run-2.json: it is not what this import writes: it was changed since, or imported \
         with other options\n\
         leaves suites/x.yml: it has recordings left\n\
         note: `x` has 1 recording now: change `runs: 2` to `runs: 1` at suites/x.yml:7\n"
    );
    assert_eq!(files(&desk), ["cassettes/x__m/run-2.json", "x.yml"]);
}

#[test]
fn runs_of_other_files_and_a_suite_of_ones_own_stay() {
    let desk = Desk::new();
    desk.write("one.jsonl", two());
    desk.write("two.jsonl", lines(&[record("c", "p", "3")]));
    desk.write("copy.jsonl", lines(&[record("c", "p", "3")]));
    for file in ["one.jsonl", "two.jsonl"] {
        assert_eq!(desk.import(&[file, "--agent", "x"]).status, 0);
    }
    let said = desk.import(&["one.jsonl", "--agent", "x", "--undo"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(
        said.out.contains("leaves suites/x.yml: it has recordings left\nnote: `x` has 1 recording now: change `runs: 2` to `runs: 1`"),
        "{said:?}"
    );
    assert_eq!(files(&desk), ["cassettes/x__m/run-3.json", "x.yml"]);
    let said = desk.import(&["copy.jsonl", "--agent", "x", "--undo"]);
    assert_eq!(
        (said.status, said.out.as_str()),
        (
            1,
            "leaves suites/cassettes/x__m/run-3.json: it was imported from another file\n"
        )
    );
    std::fs::write(desk.path().join("suites/x.yml"), desk.suite() + "# mine\n").unwrap();
    let said = desk.import(&["two.jsonl", "--agent", "x", "--undo"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert_eq!(files(&desk), ["x.yml"]);
    assert!(
        said.out.contains(
            "leaves suites/x.yml: it is not the one that this import proposes: it was there before, or was changed since\n\
             note: `x` has no recordings any more: remove its entry at suites/x.yml:7\n"
        ),
        "{said:?}"
    );
}

/// It is what the command is asked for, though the suite stays as others need it.
#[test]
fn a_second_import_is_taken_back_whole() {
    let desk = Desk::new();
    desk.write("one.jsonl", two());
    desk.write("two.jsonl", lines(&[record("c", "p", "3")]));
    desk.write("other.jsonl", lines(&[record("d", "q", "4")]));
    assert_eq!(desk.import(&["one.jsonl", "--agent", "x"]).status, 0);
    let before = desk.files();
    assert_eq!(desk.import(&["two.jsonl", "--agent", "x"]).status, 0);
    let said = desk.import(&["two.jsonl", "--agent", "x", "--undo"]);
    assert_eq!(
        (said.status, said.out.as_str()),
        (
            0,
            "removes suites/cassettes/x__m/run-3.json\nleaves suites/x.yml: it has recordings left\n"
        )
    );
    assert_eq!(desk.files(), before);
    // An entry that was put into the suite is its author's to take out.
    let added = desk.import(&["other.jsonl", "--agent", "y"]);
    let entry = added.out.split_once("below `agents:`\n").unwrap().1;
    desk.write("suites/x.yml", desk.suite() + entry);
    let said = desk.import(&["other.jsonl", "--agent", "y", "--undo"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(
        said.out.starts_with(
            "removes suites/cassettes/y__m/run-1.json\nleaves suites/x.yml: it has other agents\n\
             note: `y` has no recordings any more: remove its entry at suites/x.yml:"
        ),
        "{said:?}"
    );
}

/// Another suite has the name of an agent now, which the import would not give to its own any more.
#[test]
fn a_suite_of_which_a_neighbour_has_recordings_is_left_for_these() {
    let desk = Desk::new();
    let both = lines(&[record("a", "p", "1"), record("b", "q", "2")]);
    desk.write("runs.jsonl", both);
    assert_eq!(desk.import(&["runs.jsonl"]).status, 0);
    let suite = desk.suite();
    let (_, second) = suite.split_once("agents:\n").unwrap();
    let second = second.split("  - name").last().unwrap();
    desk.write("suites/other.yml", format!("agents:\n  - name{second}"));
    let said = desk.import(&["runs.jsonl", "--undo"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.out.contains(
            "is a recording of another suite too\nleaves suites/x.yml: it has recordings left\n"
        ),
        "{said:?}"
    );
}

/// Its entry is printed, and to be put into the suite by hand.
#[test]
fn a_suite_stays_for_the_recordings_of_an_entry_that_is_not_in_it_yet() {
    let desk = Desk::new();
    desk.write("one.jsonl", two());
    desk.write("other.jsonl", lines(&[record("d", "q", "4")]));
    for arguments in [
        ["one.jsonl", "--agent", "x"],
        ["other.jsonl", "--agent", "y"],
    ] {
        assert_eq!(desk.import(&arguments).status, 0);
    }
    let said = desk.import(&["one.jsonl", "--agent", "x", "--undo"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(
        said.out.ends_with(
            "leaves suites/x.yml: it is beside recordings that no suite asks for: the entry of another import may still be missing in \
             it\nnote: `x` has no recordings any more: remove its entry at suites/x.yml:7\n"
        ),
        "{said:?}"
    );
    assert_eq!(files(&desk), ["cassettes/y__m/run-1.json", "x.yml"]);
}

/// The runs that were swapped out do not come back, those that took their place go.
#[test]
fn an_import_that_replaced_runs_is_taken_back_as_it_was_given() {
    let desk = Desk::new();
    desk.write("one.jsonl", two());
    desk.write(
        "two.jsonl",
        lines(&[record("c", "p", "3"), record("d", "p", "4")]),
    );
    let replace = ["two.jsonl", "--agent", "x", "--replace"];
    assert_eq!(desk.import(&["one.jsonl", "--agent", "x"]).status, 0);
    assert_eq!(desk.import(&replace).status, 0);
    assert_eq!(desk.recordings().len(), 2);
    let said = desk.import(&[&replace[..], &["--undo"]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    assert!(desk.recordings().is_empty(), "{said:?}");
}
