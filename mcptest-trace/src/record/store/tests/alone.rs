//! A run that is replaced alone, and what is staged.

use super::*;
use crate::record::store::{RunPlace, render, render_line};

#[test]
fn a_run_is_replaced_alone_and_the_others_keep_their_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = |path: &Path| fs::read_to_string(path).unwrap();
    let new = json!({ "schema_version": "v1", "model": "new" });
    // A file of its own.
    let store = Store::new(&Layout::Folder(folder.path().join("a__m"))).unwrap();
    let files: Vec<_> = (0..2)
        .map(|run| store.add(&json!({ "model": run })).unwrap())
        .collect();
    let kept = bytes(&files[0]);
    store
        .replace_run(&RunPlace::new(files[1].clone(), None), &new)
        .unwrap();
    assert_eq!((bytes(&files[0]), bytes(&files[1])), (kept, render(&new)));
    // A line, whatever the others look like.
    let path = folder.path().join("b__m.jsonl");
    fs::write(
        &path,
        "{ \"model\":  1.50 }\n\n{\"model\":\"old\"}\n{\"model\": 3}",
    )
    .unwrap();
    let lines = Store::new(&Layout::Lines(path.clone())).unwrap();
    lines
        .replace_run(&RunPlace::new(path.clone(), Some(3)), &new)
        .unwrap();
    let wanted = format!(
        "{{ \"model\":  1.50 }}\n\n{}\n{{\"model\": 3}}",
        render_line(&new)
    );
    assert_eq!(bytes(&path), wanted);
    // No line of that number: nothing is changed.
    for line in [0, 9] {
        let place = RunPlace::new(path.clone(), Some(line));
        assert!(lines.replace_run(&place, &new).is_err());
    }
    assert_eq!(bytes(&path), wanted);
}

#[test]
fn staged_files_are_told_by_number_and_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(&Layout::Folder(folder.path().join("a__m"))).unwrap();
    assert_eq!(store.staged_files().unwrap(), []);
    for number in [10, 2] {
        store.stage(number, &json!({ "model": number })).unwrap();
    }
    let numbers = |store: &Store| -> Vec<usize> {
        let files = store.staged_files().unwrap().into_iter();
        files.map(|(number, _)| number).collect()
    };
    assert_eq!(
        (numbers(&store), numbers(&store)),
        (vec![2, 10], vec![2, 10])
    );
}
