//! What a user is told, and that nothing changed.

#[cfg(target_os = "linux")]
use std::process::Command;

use super::*;

fn message(result: Result<impl Sized, StoreError>, place: &Path) -> String {
    let Err(error) = result else {
        panic!("no error");
    };
    let text = error.to_string();
    assert_eq!(text, format!("{}; {}", error.problem(), error.help()));
    text.replace(&*place.to_string_lossy(), "<place>")
        .replace('\\', "/")
}

#[test]
fn two_layouts_are_named() {
    let place = tempfile::tempdir().unwrap();
    store(place.path(), Form::Folder).add(&run("a")).unwrap();
    fs::write(layout(place.path(), Form::Single).path(), "{}").unwrap();
    let store = store(place.path(), Form::Single);
    let expected = format!(
        "the runs of this agent are in several places, and must be in one place: `<place>/{STEM}.json` and `<place>/{STEM}`; \
         keep the recordings you mean and remove the others"
    );
    for result in [
        store.prepare(1).map(drop),
        store.add(&run("b")).map(drop),
        store.count_runs().map(drop),
    ] {
        assert_eq!(message(result, place.path()), expected);
    }
    store.stage(1, &run("b")).unwrap();
    assert_eq!(message(store.publish(1), place.path()), expected);
    assert_eq!(store.staged().unwrap().len(), 1);
}

#[test]
fn a_file_that_holds_one_run_is_told_before_anything_is_spent() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::pinned(&layout(place.path(), Form::Single)).unwrap();
    let expected = format!(
        "`cassette:` names `<place>/{STEM}.json`, which holds one run, and the suite wants more runs; \
         name a folder or a `.jsonl` file in `cassette:`, or write `runs: 1`"
    );
    assert_eq!(message(store.prepare(2), place.path()), expected);
    store.add(&run("a")).unwrap();
    assert_eq!(message(store.add(&run("b")), place.path()), expected);
    for number in 1..3 {
        store.stage(number, &run("c")).unwrap();
    }
    assert_eq!(message(store.publish(2), place.path()), expected);
    assert_eq!(visible_runs(place.path()), ["a"]);
    store.publish(1).unwrap();
    assert_eq!(visible_runs(place.path()), ["c"]);
}

#[test]
fn what_lies_in_the_way_is_named() {
    let place = tempfile::tempdir().unwrap();
    let single = layout(place.path(), Form::Single);
    fs::create_dir(single.path()).unwrap();
    let in_the_way = format!(
        "`<place>/{STEM}.json` is a folder, and a file is to be written; move the folder away, and record again"
    );
    let single = store(place.path(), Form::Single);
    assert_eq!(message(single.prepare(1), place.path()), in_the_way);
    assert_eq!(message(single.add(&run("a")), place.path()), in_the_way);
    single.stage(1, &run("a")).unwrap();
    assert_eq!(message(single.publish(1), place.path()), in_the_way);
    assert_eq!(staged_names(place.path()), ["a"]);
    assert_eq!(
        message(
            write_atomically(layout(place.path(), Form::Single).path(), b"x"),
            place.path()
        ),
        in_the_way
    );
    let file = place.path().join("file");
    fs::write(&file, "x").unwrap();
    let below = Store::new(&Layout::Folder(file.join("deep/stem"))).unwrap();
    let expected = "`<place>/file` is a file, and a folder is needed there; \
                    move the file away, and record again";
    assert_eq!(message(below.prepare(1), place.path()), expected);
    assert_eq!(message(below.add(&run("a")), place.path()), expected);
    assert!(!names(place.path()).iter().any(is_temporary));
}

#[test]
fn a_marker_that_says_nothing_stops_everything() {
    let place = tempfile::tempdir().unwrap();
    let store = store(place.path(), Form::Folder);
    store.stage(1, &run("a")).unwrap();
    let staging = place.path().join(format!(".{STEM}.recording"));
    for text in [
        "",
        "3",
        "{\"count\": 3}",
        "{\"count\": 1, \"layout\": \"tree\", \"surplus\": []}",
    ] {
        fs::write(staging.join("complete"), text).unwrap();
        let expected = format!(
            "`<place>/.{STEM}.recording/complete` does not say which runs an interrupted recording was to replace; \
             keep the runs in `<place>/.{STEM}.recording` that you want, remove that folder, and record again"
        );
        assert_eq!(message(store.add(&run("b")), place.path()), expected);
        assert_eq!(message(store.discard_staged(), place.path()), expected);
    }
    assert_eq!(staged_names(place.path()), ["a"]);
}

#[test]
fn control_characters_of_a_path_are_shown() {
    let error = StoreError::disk_full(Path::new("a\u{1b}[31m\nb"));
    assert_eq!(
        error.problem(),
        "`a\\u{1b}[31m\\nb` was not written: the disk is full"
    );
}

/// A small disk of its own.
#[cfg(target_os = "linux")]
struct Disk(tempfile::TempDir);

#[cfg(target_os = "linux")]
impl Disk {
    fn mount(size: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={size}");
        let mounted = run_quietly(
            "mount",
            &["-t", "tmpfs", "-o", &options, "tmpfs"],
            folder.path(),
        );
        assert!(mounted, "no disk can be mounted here");
        Self(folder)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Disk {
    fn drop(&mut self) {
        run_quietly("umount", &[], self.0.path());
    }
}

#[cfg(target_os = "linux")]
fn run_quietly(program: &str, arguments: &[&str], path: &Path) -> bool {
    let output = Command::new(program).args(arguments).arg(path).output();
    output.is_ok_and(|output| output.status.success())
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "mounts a disk, which root may"]
fn a_full_disk_loses_nothing() {
    for form in FORMS {
        let disk = Disk::mount("96k");
        let place = disk.0.path().join("cassettes");
        let store = store(&place, form);
        let mut written: Vec<String> = Vec::new();
        let error = loop {
            let id = format!("run {}", written.len());
            match store.add(&long_run(&id)) {
                Ok(_) => written.push(id),
                Err(error) => break error,
            }
        };
        assert!(written.len() > 1 && written.len() < 100);
        let text = message(Err::<(), _>(error), disk.0.path());
        assert!(
            text.ends_with("was not written: the disk is full; free some space and record again; what was recorded before is untouched"),
            "{text}"
        );
        assert_eq!(visible_runs(&place), written);
        // Staging stops at the same, and what is staged can replace what was there all the same.
        let mut staged = 0;
        while store
            .stage(staged + 1, &long_run(&format!("new {staged}")))
            .is_ok()
        {
            staged += 1;
        }
        assert_eq!(store.staged().unwrap().len(), staged);
        assert_eq!(visible_runs(&place), written);
        store.discard_staged().unwrap();
        let all = walk(disk.0.path());
        assert!(!all.iter().any(is_temporary), "{all:?}");
    }
}

#[cfg(target_os = "linux")]
fn walk(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        }
        found.push(path.to_string_lossy().into_owned());
    }
    found
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "mounts a disk, which root may"]
fn a_disk_that_may_not_be_written_is_told_before_anything_is_spent() {
    for form in FORMS {
        let disk = Disk::mount("1m");
        let store = store(disk.0.path(), form);
        store.add(&run("a")).unwrap();
        assert_eq!(store.prepare(1).unwrap(), 1);
        assert!(run_quietly("mount", &["-o", "remount,ro"], disk.0.path()));
        for result in [
            store.prepare(1).map(drop),
            store.add(&run("b")).map(drop),
            store.stage(1, &run("b")),
        ] {
            let text = message(result, disk.0.path());
            assert!(
                text.contains(" cannot be written: read-only file system; make the file and its folder writable"),
                "{text}"
            );
        }
        assert_eq!(visible_runs(disk.0.path()), ["a"]);
    }
}

#[cfg(unix)]
#[test]
#[ignore = "root may write everywhere"]
fn a_folder_that_may_not_be_written_is_told() {
    use std::os::unix::fs::PermissionsExt;

    let place = tempfile::tempdir().unwrap();
    let store = store(place.path(), Form::Lines);
    store.add(&run("a")).unwrap();
    let set_mode =
        |mode| fs::set_permissions(place.path(), fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o555);
    let result = store.add(&run("b"));
    set_mode(0o755);
    let text = message(result, place.path());
    assert!(
        text.contains(" cannot be written: permission denied; make the file"),
        "{text}"
    );
    assert_eq!(visible_runs(place.path()), ["a"]);
}
