//! Runs out of files: what is no recording, what is too large, and copies.

use std::fs;

use serde_json::json;

use super::super::{MAX_BYTES, group_alike, group_equal_but_for_time, read_file, read_runs};
use super::run;

#[test]
fn a_huge_file_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.json");
    fs::File::create(&path)
        .unwrap()
        .set_len(MAX_BYTES + 1)
        .unwrap();
    let errors = read_runs(&[(path, "huge.json".to_owned())]).unwrap_err();
    assert!(
        errors[0].problems[0].message.contains("at most"),
        "{}",
        errors[0]
    );
}

#[test]
fn what_a_file_is_instead_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let errors = read_runs(&[(path, name.to_owned())]).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].to_string()
    };
    let utf16: Vec<u8> = "{\"schema_version\": 1}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let marked = [b"\xff\xfe".as_slice(), &utf16].concat();
    let conflict = format!("<<<<<<< HEAD\n{0}\n=======\n{0}\n>>>>>>> other\n", run());
    let pretty = serde_json::to_string_pretty(&run()).unwrap();
    for name in ["a.json", "a.jsonl"] {
        assert_eq!(
            told(name, &utf16),
            format!("{name}: is UTF-16 text, and JSON is UTF-8")
        );
        assert_eq!(
            told(name, &marked),
            format!("{name}: is UTF-16 text, and JSON is UTF-8")
        );
        assert_eq!(
            told(name, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
            format!("{name}: is binary and not text")
        );
        assert_eq!(
            told(name, b"\x1f\x8b\x08x"),
            format!("{name}: is a compressed file")
        );
        assert_eq!(
            told(
                name,
                b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
            ),
            format!("{name}: is a git-LFS pointer and not the recording itself")
        );
        assert_eq!(
            told(name, conflict.as_bytes()),
            format!("{name}: holds the marks of a merge conflict (line 1)")
        );
    }
    assert_eq!(
        told("p.jsonl", pretty.as_bytes()),
        "p.jsonl: is JSON over several lines, and a `.jsonl` file holds one run a line"
    );
    assert_eq!(
        told("l.json", format!("{0}\n{0}\n", run()).as_bytes()),
        "l.json: holds 2 JSON values, and a file of this name holds one run"
    );
}

#[test]
fn many_bad_lines_are_a_short_list() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.jsonl");
    fs::write(
        &path,
        format!("{}\n", run()) + &"{\"a\": \u{1b}[31m}\n".repeat(9_000),
    )
    .unwrap();
    let errors = read_runs(&[(path, "many.jsonl".to_owned())]).unwrap_err();
    assert_eq!(errors.len(), 6);
    assert!(
        errors[0]
            .to_string()
            .starts_with("many.jsonl:2: is not JSON"),
        "{}",
        errors[0]
    );
    assert_eq!(
        errors[5].to_string(),
        "many.jsonl: and 8995 more lines that cannot be used"
    );
    assert!(
        errors
            .iter()
            .all(|error| !error.render().contains('\u{1b}'))
    );
}

#[test]
fn copies_are_not_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| (folder.path().join(name), name.to_owned());
    for name in ["a.json", "b.json"] {
        fs::write(folder.path().join(name), run().to_string()).unwrap();
    }
    let errors = read_runs(&[path("a.json"), path("b.json")]).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "b.json: is a byte-for-byte copy of a.json, not a run of its own"
    );
    fs::write(
        folder.path().join("c.jsonl"),
        format!("{0}\n\n{0}\n", run()),
    )
    .unwrap();
    let errors = read_runs(&[path("c.jsonl")]).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "c.jsonl:3: is a byte-for-byte copy of c.jsonl:1, not a run of its own"
    );
}

#[test]
fn runs_that_are_equal_in_every_value_are_copies_and_those_alike_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    let mut put = |name: &str, text: String| {
        fs::write(folder.path().join(name), text).unwrap();
        files.push((folder.path().join(name), name.to_owned()));
    };
    put("a.json", run().to_string());
    let mut later = run();
    later["recorded_at"] = json!("2026-01-31T12:00:00Z");
    put("b.json", later.to_string());
    let runs = read_runs(&files).unwrap();
    let traces: Vec<_> = runs.into_iter().map(|run| run.trace).collect();
    assert_eq!(group_alike(&traces), [vec![0, 1]]);
    let mut elsewhere = later.clone();
    elsewhere["recorded_at"] = json!("2026-02-01T12:00:00Z");
    elsewhere["recorded_on"] = json!("0123456789abcdef");
    let mut put = |name: &str, text: String| {
        fs::write(folder.path().join(name), text).unwrap();
        files.push((folder.path().join(name), name.to_owned()));
    };
    put("d.json", elsewhere.to_string());
    let runs = read_runs(&files).unwrap();
    assert_eq!(group_equal_but_for_time(&runs), [vec![0, 1, 2]]);
    assert_eq!(runs[2].recorded_on.as_deref(), Some("0123456789abcdef"));
    assert_eq!(runs[0].recorded_on, None);
    let mut put = |name: &str, text: String| {
        fs::write(folder.path().join(name), text).unwrap();
        files.push((folder.path().join(name), name.to_owned()));
    };
    put("c.json", serde_json::to_string_pretty(&later).unwrap());
    assert_eq!(
        read_runs(&files).unwrap_err()[0].to_string(),
        "c.json: is a copy of b.json, not a run of its own: every value is the same, `recorded_at` included"
    );
}

/// A link may lead to any file of the machine: a key of the one who runs the tests.
#[cfg(unix)]
#[test]
fn of_a_recording_that_is_a_link_no_text_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (secret, valid) = (folder.path().join("secret"), folder.path().join("valid"));
    std::fs::write(&secret, "root:hidden:0:0\n").unwrap();
    std::fs::write(&valid, r#"{ "token": "hidden", "model": 7 }"#).unwrap();
    for (name, target) in [
        ("run-1.json", &secret),
        ("runs.jsonl", &secret),
        ("run-2.json", &valid),
    ] {
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(target, &link).unwrap();
        for run in read_file(&link, name) {
            let error = run.unwrap_err();
            let shown = format!("{error:?} {error}");
            assert!(!shown.contains("hidden"), "{shown}");
            assert!(error.help.starts_with("the file is a link"), "{shown}");
        }
    }
    let shown = read_file(&secret, "secret").remove(0).unwrap_err();
    assert!(format!("{shown:?}").contains("hidden"));
}
