//! The macro's cases record as the runner's do.

use super::desk::{FIRST, SECOND, TWICE, refunds};
use super::recording_crate::{Scene, recording_crate};
use crate::support::process::{self, Finished};

fn run(scene: &Scene, word: Option<&str>, more: &[(&str, &str)]) -> Finished {
    let mut command = scene.command(recording_crate().executable("macros"), &[]);
    command.envs(more.iter().copied());
    if let Some(word) = word {
        command.env("MCPTEST_RECORD", word);
    }
    process::run(&mut command)
}

#[test]
fn the_cases_of_the_macro_are_recorded_once_and_judged() {
    let mut scene = Scene::new(TWICE, &refunds());
    let ran = run(&scene, None, &[]).exits(101);
    assert_eq!(ran.failures().len(), 2, "{ran}");
    assert_eq!(scene.requests().len(), 0);

    let ran = run(&scene, Some("missing"), &[]).exits(0);
    let names: Vec<String> = ran.outcomes().into_keys().collect();
    assert_eq!(names, ["asked::refunds", "told::refunds"]);
    assert_eq!(scene.requests().len(), 6);
    assert_eq!(scene.places(), [FIRST, SECOND]);
    assert!(ran.stderr.contains("recorded 2 runs of `Refunds`"), "{ran}");

    run(&scene, Some("all"), &[]).exits(0);
    assert_eq!(scene.conversations(), 4);
    scene.stop();
    run(&scene, None, &[]).exits(0);
}

#[test]
fn a_variable_that_is_refused_fails_the_cases_of_the_macro() {
    for (word, more) in [("missing", &[("CI", "true")][..]), ("mising", &[])] {
        let scene = Scene::new(TWICE, &refunds());
        let ran = run(&scene, Some(word), more).exits(101);
        for text in ran.failures().values() {
            assert!(text.contains(&format!("`MCPTEST_RECORD={word}`")), "{text}");
        }
        assert_eq!(scene.requests().len(), 0);
    }
}
