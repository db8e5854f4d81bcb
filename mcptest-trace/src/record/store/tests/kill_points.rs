//! Every operation, stopped before every step it makes, and failing at every step.

use std::io::ErrorKind;

use super::super::steps::stop::{Stop, with, without_sync};
use super::*;

type Operation = dyn Fn(&Store) -> Result<(), StoreError>;

/// An operation, and the runs before and after it.
struct Case {
    name: String,
    prepare: Box<dyn Fn(&Store)>,
    /// Done once, and again after a stop until it is through.
    operate: Box<Operation>,
    form: Form,
    old: Vec<String>,
    new: Vec<String>,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for form in FORMS {
        for count in 0..3 {
            let old: Vec<String> = (1..=count).map(|index| format!("old {index}")).collect();
            let recorded = old.clone();
            let prepare = move |store: &Store| {
                for id in &recorded {
                    store.add(&run(id)).unwrap();
                }
            };
            let added = [old.clone(), vec!["added".to_owned()]].concat();
            cases.push(Case {
                name: format!("add to {count} {form:?}"),
                prepare: Box::new(prepare.clone()),
                operate: Box::new(|store| store.add(&run("added")).map(drop)),
                form,
                old: old.clone(),
                new: added,
            });
            for published in [1, 3] {
                let new: Vec<String> = (1..=published)
                    .map(|index| format!("new {index}"))
                    .collect();
                let (prepare, staged) = (prepare.clone(), new.clone());
                cases.push(Case {
                    name: format!("publish {published} over {count} {form:?}"),
                    prepare: Box::new(move |store| {
                        prepare(store);
                        for (index, id) in staged.iter().enumerate() {
                            store.stage(index + 1, &run(id)).unwrap();
                        }
                        // One that was staged when more runs were wanted.
                        store.stage(9, &run("too many")).unwrap();
                    }),
                    operate: Box::new(move |store| store.publish(published)),
                    form,
                    old: old.clone(),
                    new,
                });
            }
        }
    }
    cases
}

/// No run is lost, every file is whole, and the next recorder brings it to the old or the new.
fn assert_kept(case: &Case, place: &Path, what: &str) {
    let publish = case.name.starts_with("publish");
    let (visible, staged) = (visible_runs(place), staged_names(place));
    let there = set(visible.iter().chain(&staged));
    let marker = format!(".{STEM}.recording/complete");
    let replacing = publish && (place.join(&marker).exists() || visible == case.new);
    if replacing {
        assert!(set(&case.new).is_subset(&there), "{what}: {there:?}");
    } else {
        assert!(
            visible == case.old || visible == case.new,
            "{what}: {visible:?}"
        );
        assert!(
            !publish || set(&case.new).is_subset(&set(&staged)),
            "{what}: {staged:?}"
        );
    }
    let next = store(place, case.form);
    next.finish_interrupted().unwrap();
    let finished = visible_runs(place);
    let done = finished == case.new;
    assert!(done || finished == case.old, "{what}: {finished:?}");
    assert!(!replacing || done, "{what}: {finished:?}");
    if !done {
        (case.operate)(&next).unwrap();
    }
    assert_eq!(visible_runs(place), case.new, "{what}");
    let form = next.layout().unwrap().unwrap();
    let several = case.form == Form::Single && case.old.len().max(case.new.len()) > 1;
    let expected = if several { Form::Folder } else { case.form };
    assert_eq!(form, layout(place, expected), "{what}");
    // Nothing of the staging is left but what a kill left under a hidden name.
    assert_eq!(next.staged().unwrap(), [], "{what}");
}

#[test]
fn a_kill_at_any_step_loses_nothing() {
    without_sync(kill_at_any_step);
}

fn kill_at_any_step() {
    let mut stops = 0;
    for case in cases() {
        for steps in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let place = folder.path().join("cassettes");
            let store = store(&place, case.form);
            (case.prepare)(&store);
            let what = format!("{} killed after {steps} steps", case.name);
            let (result, stopped) = with(Stop::Killed(steps), || (case.operate)(&store));
            if result.is_ok() {
                assert_eq!(visible_runs(&place), case.new, "{what}");
            }
            assert_kept(&case, &place, &what);
            if !stopped {
                break;
            }
            stops += 1;
        }
    }
    println!("{stops} kill points");
    assert!(stops > 300);
}

#[test]
fn a_kill_while_the_next_recorder_finishes_loses_nothing() {
    without_sync(kill_while_finishing);
}

fn kill_while_finishing() {
    for case in cases()
        .into_iter()
        .filter(|case| case.name.starts_with("publish 3 over 2"))
    {
        for first in 0..60 {
            for second in 0..12 {
                let folder = tempfile::tempdir().unwrap();
                let store = store(folder.path(), case.form);
                (case.prepare)(&store);
                let (_, stopped) = with(Stop::Killed(first), || (case.operate)(&store));
                if !stopped {
                    break;
                }
                let _ = with(Stop::Killed(second), || store.finish_interrupted());
                let what = format!("{} killed after {first} and {second} steps", case.name);
                assert_kept(&case, folder.path(), &what);
            }
        }
    }
}

#[test]
fn an_error_at_any_step_loses_nothing_and_leaves_no_temporary_file() {
    without_sync(fail_at_any_step);
}

fn fail_at_any_step() {
    let (mut failures, mut errors) = (0, 0);
    for case in cases() {
        for steps in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let place = folder.path().join("cassettes");
            let store = store(&place, case.form);
            (case.prepare)(&store);
            let what = format!("{} failing after {steps} steps", case.name);
            let full = Stop::Fails(steps, ErrorKind::StorageFull);
            let (result, stopped) = with(full, || (case.operate)(&store));
            if let Err(error) = result {
                errors += 1;
                let error = error.to_string();
                assert!(
                    error.contains("the disk is full; free some space"),
                    "{what}: {error}"
                );
                for folder in [
                    place.clone(),
                    place.join(STEM),
                    place.join(format!(".{STEM}.recording")),
                ] {
                    let left = names(&folder);
                    assert!(!left.iter().any(is_temporary), "{what}: {left:?}");
                }
            } else {
                assert_eq!(visible_runs(&place), case.new, "{what}");
            }
            assert_kept(&case, &place, &what);
            if !stopped {
                break;
            }
            failures += 1;
        }
    }
    println!("{failures} failures, {errors} reported");
    assert!(errors > 150);
}

#[test]
fn whatever_comes_next_finishes_first() {
    without_sync(finish_first);
}

fn finish_first() {
    let next: [&Operation; 5] = [
        &|store| store.add(&run("added")).map(drop),
        &|store| store.stage(1, &run("staged next")),
        &|store| store.staged().map(drop),
        &Store::discard_staged,
        &|store| store.prepare(2).map(drop),
    ];
    for form in FORMS {
        for (index, next) in next.iter().enumerate() {
            for steps in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let store = store(folder.path(), form);
                store.add(&run("old")).unwrap();
                for (number, id) in [(1, "new 1"), (2, "new 2")] {
                    store.stage(number, &run(id)).unwrap();
                }
                let (_, stopped) = with(Stop::Killed(steps), || store.publish(2));
                let marker = format!(".{STEM}.recording/complete");
                let begun =
                    folder.path().join(marker).exists() || visible_runs(folder.path()).len() > 1;
                next(&store).unwrap();
                let expected = match (begun, index) {
                    (true, 0) => vec!["new 1", "new 2", "added"],
                    (true, _) => vec!["new 1", "new 2"],
                    (false, 0) => vec!["old", "added"],
                    (false, _) => vec!["old"],
                };
                assert_eq!(
                    visible_runs(folder.path()),
                    expected,
                    "{form:?} {index} {steps}"
                );
                if !stopped {
                    break;
                }
            }
        }
    }
}
