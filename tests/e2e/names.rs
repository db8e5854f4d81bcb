//! The runner and the macro give cases the same names, wherever the crate and the module are.

use crate::sample::{MEMBER, names, sample};
use crate::support::process::{self, Finished};
use crate::support::workshop::run_cargo;

fn list(arguments: &[&str]) -> Vec<String> {
    let list = ["--", "--list", "--format", "terse"];
    let arguments = [&["test", "-q"], arguments, &list].concat();
    run_cargo(&sample().folder, &arguments).exits(0).listed()
}

#[test]
fn the_runner_and_the_macro_list_the_same_cases() {
    assert_eq!(list(&["--test", "agents"]), names());
    assert_eq!(list(&["--test", "macros"]), names());
}

#[test]
fn unit_tests_of_a_library_have_the_same_cases_and_nested_modules_have_them_below() {
    let (nested, plain): (Vec<_>, Vec<_>) = list(&["--lib"])
        .into_iter()
        .partition(|name| name.starts_with("agents::"));
    assert_eq!(plain, names());
    let weather = names().into_iter().filter_map(|name| {
        let below = name.strip_prefix("weather::")?;
        Some(format!("agents::deeper::rain::{below}"))
    });
    let mut wanted: Vec<_> = weather.collect();
    wanted.push("agents::deeper::rain::of_its_own".to_owned());
    wanted.sort();
    assert_eq!(nested, wanted);
}

#[test]
fn a_nested_module_runs_its_cases_and_names_itself_in_the_failure() {
    let ran = sample()
        .run("sample", &["agents::deeper", "--include-ignored"])
        .exits(101);
    let failures = ran.failures();
    let text = &failures["agents::deeper::rain::night_watch"];
    assert!(
        text.ends_with(
            "cargo test -p sample -- --include-ignored --exact agents::deeper::rain::night_watch\n"
        ),
        "{text}"
    );
    let text = &failures["agents::deeper::rain::night_watch::stability"];
    assert!(
        text.contains("see `agents::deeper::rain::night_watch`"),
        "{text}"
    );
}

/// Its folder has a space and an emoji in it.
#[test]
fn a_workspace_member_has_the_same_cases_and_finds_its_own_suites() {
    let member = |target: &str| list(&["-p", "member", "--test", target]);
    assert_eq!(member("member_agents"), names());
    assert_eq!(member("member_macros"), names());
    for target in ["member_agents", "member_macros"] {
        let arguments = ["test", "-p", "member", "--test", target];
        let ran = run_cargo(&sample().folder, &arguments).exits(101);
        assert_eq!(ran.outcomes(), crate::sample::expected(|_| true), "{ran}");
        let text = &ran.failures()["shop::checkout::cart_agent"];
        assert!(
            text.ends_with("cargo test -p member -- --exact shop::checkout::cart_agent\n"),
            "{text}"
        );
    }
}

fn run_bare(target: &str, folder: &std::path::Path) -> Finished {
    process::run(&mut process::command(sample().executable(target), folder))
}

/// A debugger or an IDE starts the executable without cargo.
#[test]
fn without_cargo_the_folder_is_that_of_the_build() {
    let elsewhere = std::env::temp_dir();
    let wanted = crate::sample::expected(|_| true);
    for target in ["agents", "macros", "member_agents", "member_macros"] {
        assert_eq!(
            run_bare(target, &elsewhere).exits(101).outcomes(),
            wanted,
            "{target}"
        );
    }
    assert!(sample().member().ends_with(MEMBER));
}
