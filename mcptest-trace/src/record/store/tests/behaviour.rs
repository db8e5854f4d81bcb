//! Adding and replacing runs.

use std::time::{Duration, SystemTime};

use super::*;

fn add(store: &Store, ids: &[&str]) {
    for id in ids {
        store.add(&run(id)).unwrap();
    }
}

fn stage(store: &Store, ids: &[&str]) {
    for (index, id) in ids.iter().enumerate() {
        store.stage(index + 1, &run(id)).unwrap();
    }
}

#[test]
fn a_folder_takes_the_lowest_free_numbers() {
    let place = tempfile::tempdir().unwrap();
    let store = store(place.path(), Form::Folder);
    assert_eq!(store.count_runs().unwrap(), 0);
    assert_eq!(store.layout().unwrap(), None);
    add(&store, &["a", "b", "c"]);
    let folder = place.path().join(STEM);
    fs::remove_file(folder.join("run-2.json")).unwrap();
    // Not a run file, but the name is taken.
    fs::create_dir(folder.join("run-4.json")).unwrap();
    assert_eq!(store.add(&run("d")).unwrap(), folder.join("run-2.json"));
    assert_eq!(store.add(&run("e")).unwrap(), folder.join("run-5.json"));
    assert_eq!(store.count_runs().unwrap(), 4);
    assert_eq!(
        store.layout().unwrap(),
        Some(layout(place.path(), Form::Folder))
    );
}

#[test]
fn files_that_people_named_count_and_stay() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join(STEM);
    fs::create_dir_all(&folder).unwrap();
    for name in ["by hand.json", ".hidden.json", "README.md"] {
        fs::write(folder.join(name), super::super::render(&run(name))).unwrap();
    }
    let store = store(place.path(), Form::Single);
    assert_eq!(store.count_runs().unwrap(), 1);
    add(&store, &["a"]);
    assert_eq!(
        names(&folder),
        set(["by hand.json", ".hidden.json", "README.md", "run-1.json"])
    );
}

#[test]
fn a_single_run_becomes_the_first_of_a_folder() {
    let place = tempfile::tempdir().unwrap();
    let deep = place.path().join("suites/cassettes");
    let store = store(&deep, Form::Single);
    let single = layout(&deep, Form::Single);
    assert_eq!(store.add(&run("a")).unwrap(), single.path());
    let text = fs::read_to_string(single.path()).unwrap();
    assert!(
        text.starts_with("{\n  \"schema_version\": \"v1\",\n"),
        "{text}"
    );
    assert!(text.ends_with("}\n"));
    assert_eq!(names(&deep), set([format!("{STEM}.json")]));
    add(&store, &["b"]);
    assert_eq!(names(&deep), set([STEM]));
    assert_eq!(names(&deep.join(STEM)), set(["run-1.json", "run-2.json"]));
    assert_eq!(
        fs::read_to_string(deep.join(STEM).join("run-1.json")).unwrap(),
        text
    );
    assert_eq!(visible_runs(&deep), ["a", "b"]);
}

#[test]
fn lines_keep_what_is_there_byte_for_byte() {
    let place = tempfile::tempdir().unwrap();
    let path = layout(place.path(), Form::Lines).path().to_owned();
    let odd = b"\xef\xbb\xbf{ \"a\" : 1 }\r\n\n  not json \xff";
    fs::write(&path, odd).unwrap();
    let store = store(place.path(), Form::Folder);
    assert_eq!(store.count_runs().unwrap(), 2);
    add(&store, &["a", "b"]);
    assert_eq!(store.count_runs().unwrap(), 4);
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.starts_with(odd) && bytes[odd.len()] == b'\n');
    let added = std::str::from_utf8(&bytes[odd.len() + 1..]).unwrap();
    let ids: Vec<String> = added
        .lines()
        .map(|line| run_id(&serde_json::from_str(line).unwrap()))
        .collect();
    assert_eq!(ids, ["a", "b"]);
    assert!(added.ends_with("}\n"));
}

#[test]
fn an_empty_jsonl_is_the_layout_and_has_no_runs() {
    let place = tempfile::tempdir().unwrap();
    fs::write(layout(place.path(), Form::Lines).path(), "").unwrap();
    let store = store(place.path(), Form::Single);
    assert_eq!(store.count_runs().unwrap(), 0);
    add(&store, &["a"]);
    assert_eq!(
        store.layout().unwrap(),
        Some(layout(place.path(), Form::Lines))
    );
    assert_eq!(visible_runs(place.path()), ["a"]);
}

#[test]
fn publishing_replaces_in_the_layout_there_is() {
    for form in FORMS {
        for wanted in FORMS {
            for (old, new) in [(1, 1), (1, 3), (3, 1), (2, 3), (0, 1), (0, 2)] {
                let place = tempfile::tempdir().unwrap();
                let first = store(place.path(), form);
                let old: Vec<String> = (0..old).map(|index| format!("old {index}")).collect();
                let new: Vec<String> = (0..new).map(|index| format!("new {index}")).collect();
                add(&first, &old.iter().map(String::as_str).collect::<Vec<_>>());
                let before = first.layout().unwrap();
                let store = store(place.path(), wanted);
                stage(&store, &new.iter().map(String::as_str).collect::<Vec<_>>());
                assert_eq!(visible_runs(place.path()), old);
                store.publish(new.len()).unwrap();
                assert_eq!(visible_runs(place.path()), new);
                let made = before.unwrap_or_else(|| layout(place.path(), wanted));
                let expected = match made {
                    Layout::Single(_) if new.len() > 1 => layout(place.path(), Form::Folder),
                    other => other,
                };
                assert_eq!(store.layout().unwrap(), Some(expected));
                assert_eq!(store.staged().unwrap(), []);
                assert!(!names(place.path()).iter().any(|name| name.starts_with('.')));
            }
        }
    }
}

#[test]
fn publishing_removes_the_other_runs_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let store = store(place.path(), Form::Folder);
    add(&store, &["a", "b", "c"]);
    let folder = place.path().join(STEM);
    for name in [
        "by hand.json",
        "run-01.json",
        ".hidden.json",
        "README.md",
        "notes.jsonl",
    ] {
        fs::write(folder.join(name), "{}").unwrap();
    }
    fs::create_dir(folder.join("folder.json")).unwrap();
    stage(&store, &["new 1", "new 2", "one too many"]);
    store.publish(2).unwrap();
    assert_eq!(
        names(&folder),
        set([
            "run-1.json",
            "run-2.json",
            ".hidden.json",
            "README.md",
            "notes.jsonl",
            "folder.json"
        ])
    );
    assert_eq!(names(place.path()), set([STEM]));
}

#[test]
fn an_interrupted_re_recording_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let first = store(place.path(), Form::Folder);
    add(&first, &["a", "b"]);
    first.stage(2, &run("new 2")).unwrap();
    let staging = place.path().join(format!(".{STEM}.recording"));
    fs::write(staging.join("run-3.json"), "{\"cut\": ").unwrap();
    fs::write(staging.join("run-04.json"), "{}").unwrap();
    let again = store(place.path(), Form::Folder);
    let staged = again.staged().unwrap();
    assert_eq!(staged, [(2, run("new 2"))]);
    let error = again.publish(3).unwrap_err().to_string();
    assert!(
        error.starts_with("runs 1, 3 are not recorded in `"),
        "{error}"
    );
    assert_eq!(visible_runs(place.path()), ["a", "b"]);
    again.stage(1, &run("new 1")).unwrap();
    again.stage(3, &run("new 3")).unwrap();
    again.publish(3).unwrap();
    assert_eq!(visible_runs(place.path()), ["new 1", "new 2", "new 3"]);
}

#[test]
fn what_is_staged_can_be_discarded() {
    let place = tempfile::tempdir().unwrap();
    let store = store(place.path(), Form::Lines);
    add(&store, &["a"]);
    store.discard_staged().unwrap();
    stage(&store, &["new 1", "new 2"]);
    store.publish(0).unwrap();
    assert_eq!(store.staged().unwrap().len(), 2);
    store.discard_staged().unwrap();
    assert_eq!(store.staged().unwrap(), []);
    assert_eq!(visible_runs(place.path()), ["a"]);
    assert_eq!(names(place.path()).len(), 1);
}

#[test]
fn git_ignores_what_is_staged_as_long_as_it_is_there() {
    let place = tempfile::tempdir().unwrap();
    let store = store(place.path(), Form::Folder);
    let ignoring = place.path().join(format!(".{STEM}.recording/.gitignore"));
    stage(&store, &["a", "b"]);
    assert_eq!(fs::read_to_string(&ignoring).unwrap(), "*\n");
    store.publish(2).unwrap();
    assert_eq!(names(place.path()), set([STEM]));
}

#[test]
fn a_pinned_path_is_the_only_one() {
    let place = tempfile::tempdir().unwrap();
    let other = store(place.path(), Form::Single);
    add(&other, &["other"]);
    let pinned = Store::pinned(&layout(place.path(), Form::Folder)).unwrap();
    assert_eq!(pinned.prepare(2).unwrap(), 0);
    add(&pinned, &["a", "b"]);
    stage(&pinned, &["c"]);
    pinned.publish(1).unwrap();
    assert_eq!(names(&place.path().join(STEM)), set(["run-1.json"]));
    assert!(layout(place.path(), Form::Single).path().is_file());
}

#[test]
fn old_temporary_files_are_removed_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let old = [
        ".x.json.123-4.tmp",
        ".x.json.123-5.tmp",
        "x.json.123-4.tmp",
        ".x.123-.tmp",
        ".1-2.tmp",
        ".x.tmp",
        ".x.1-2.json",
    ];
    for name in old {
        let file = fs::File::create(place.path().join(name)).unwrap();
        let age = if name.contains("123-5") { 30 } else { 90 };
        file.set_modified(SystemTime::now() - Duration::from_mins(age))
            .unwrap();
    }
    fs::create_dir(place.path().join(".y.json.1-1.tmp")).unwrap();
    write_atomically(&place.path().join("x.json"), b"{}").unwrap();
    let mut left = set(old);
    left.remove(".x.json.123-4.tmp");
    left.extend(set(["x.json", ".y.json.1-1.tmp"]));
    assert_eq!(names(place.path()), left);
}

#[test]
fn a_name_of_200_bytes_is_written() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("é".repeat(118) + ".json");
    write_atomically(&path, b"one").unwrap();
    write_atomically(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(names(place.path()).len(), 1);
}
