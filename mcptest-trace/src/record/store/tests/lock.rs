//! The lock, and its note.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::*;

fn not_waiting() {
    panic!("nobody else holds the lock");
}

fn lock_file(temporary: &Path) -> Vec<std::path::PathBuf> {
    let folders = fs::read_dir(temporary)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let named = folders.filter(|path| path.to_string_lossy().contains("mcptest-locks"));
    named
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten())
        .map(|entry| entry.unwrap().path())
        .collect()
}

#[test]
fn one_holds_it_and_the_others_are_told_once() {
    let temporary = tempfile::tempdir().unwrap();
    let place = tempfile::tempdir().unwrap();
    let (inside, waits) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let threads: Vec<_> = FORMS
        .into_iter()
        .cycle()
        .take(9)
        .map(|form| {
            let (inside, waits) = (Arc::clone(&inside), Arc::clone(&waits));
            let (temporary, layout) = (temporary.path().to_owned(), layout(place.path(), form));
            thread::spawn(move || {
                for _ in 0..20 {
                    let mut called = 0;
                    let lock = Lock::acquire_in(&temporary, &layout, || called += 1).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(lock);
                    waits.fetch_add(called, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("waited {} times", waits.load(Ordering::SeqCst));
    assert_eq!(lock_file(temporary.path()).len(), 1);
    assert_eq!(names(place.path()), set::<&str>([]));
}

#[test]
fn one_who_waits_is_told() {
    let temporary = tempfile::tempdir().unwrap();
    let layout = layout(temporary.path(), Form::Single);
    let held = Lock::acquire_in(temporary.path(), &layout, not_waiting).unwrap();
    let mut held = Some(held);
    // Told once, while the other still holds it.
    let mut told = 0;
    Lock::acquire_in(temporary.path(), &layout, || {
        told += 1;
        held = None;
    })
    .unwrap();
    assert_eq!(told, 1);
}

#[test]
fn a_place_is_the_same_however_it_is_spelt_and_before_it_exists() {
    let temporary = tempfile::tempdir().unwrap();
    let place = tempfile::tempdir().unwrap();
    let lock = |place: &Path, form| {
        Lock::acquire_in(temporary.path(), &layout(place, form), not_waiting).unwrap();
    };
    let deep = place.path().join("not yet/there");
    lock(&deep, Form::Single);
    lock(
        &place.path().join("./x/../not yet/there/../there/"),
        Form::Lines,
    );
    fs::create_dir_all(&deep).unwrap();
    lock(&deep, Form::Folder);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&deep, place.path().join("link")).unwrap();
        lock(&place.path().join("link"), Form::Single);
        lock(&place.path().join("link/../there"), Form::Single);
    }
    assert_eq!(lock_file(temporary.path()).len(), 1);
    lock(place.path(), Form::Single);
    assert_eq!(lock_file(temporary.path()).len(), 2);
}

#[test]
fn a_note_lasts_and_a_torn_one_is_none() {
    let temporary = tempfile::tempdir().unwrap();
    let layout = layout(temporary.path(), Form::Single);
    let lock = || Lock::acquire_in(temporary.path(), &layout, not_waiting).unwrap();
    assert_eq!(lock().read_note().unwrap(), None);
    for note in ["recorded by run 1\n2nd line", "short", "", "é"] {
        lock().write_note(note).unwrap();
        let mut lock = lock();
        assert_eq!(lock.read_note().unwrap().as_deref(), Some(note));
        assert_eq!(lock.read_note().unwrap().as_deref(), Some(note));
    }
    lock().write_note("recorded by run 2").unwrap();
    let file = lock_file(temporary.path()).pop().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    for torn in [&text[..text.len() - 1], &text[..3], &(text.clone() + "x")] {
        fs::write(&file, torn).unwrap();
        assert_eq!(lock().read_note().unwrap(), None);
    }
    fs::write(&file, [0xff; 40]).unwrap();
    assert_eq!(lock().read_note().unwrap(), None);
}

#[test]
fn a_folder_of_locks_that_cannot_be_used_is_passed_over_or_named() {
    let temporary = tempfile::tempdir().unwrap();
    let layout = layout(temporary.path(), Form::Single);
    fs::write(temporary.path().join("mcptest-locks"), "").unwrap();
    drop(Lock::acquire_in(temporary.path(), &layout, not_waiting).unwrap());
    let file = lock_file(temporary.path()).pop().unwrap();
    let folder = file.parent().unwrap().to_owned();
    assert!(folder.to_string_lossy().contains("mcptest-locks-"));
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "").unwrap();
    let error = Lock::acquire_in(temporary.path(), &layout, not_waiting).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "no lock file can be made in `{}`: it is no folder; \
             make that folder writable, or set `TMPDIR` (`TEMP` on Windows) to one that is",
            folder.display()
        )
    );
}

#[cfg(unix)]
#[test]
fn a_folder_that_others_may_write_to_is_passed_over() {
    use std::os::unix::fs::PermissionsExt;

    let temporary = tempfile::tempdir().unwrap();
    let shared = temporary.path().join("mcptest-locks");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).unwrap();
    let layout = layout(temporary.path(), Form::Single);
    drop(Lock::acquire_in(temporary.path(), &layout, not_waiting).unwrap());
    assert!(names(&shared).is_empty());
    assert_eq!(lock_file(temporary.path()).len(), 1);
}
