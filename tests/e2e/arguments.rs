//! Which cases the arguments select, by the runner and by the macro alike.

use crate::sample::{expected, filtered_out, sample, summary};
use crate::support::outcome::Outcome::{self, Failed, Ignored, Passed};

/// The cases that both targets run under these arguments, with the exit code that follows.
#[track_caller]
fn assert_run(arguments: &[&str], fits: impl Fn(&str) -> bool) {
    let wanted = expected(fits);
    assert!(!wanted.is_empty(), "{arguments:?} is to run something");
    let code = if wanted.values().any(|outcome| *outcome == Failed) {
        101
    } else {
        0
    };
    for target in ["agents", "macros"] {
        let ran = sample().run(target, arguments).exits(code);
        assert_eq!(ran.outcomes(), wanted, "{target} {arguments:?}\n{ran}");
        assert!(
            ran.stdout.contains(&summary(&wanted)),
            "{target} {arguments:?}\n{ran}"
        );
        // For exact names the runner does not load, and so not count, the suites without them.
        if target == "macros" || !arguments.contains(&"--exact") {
            assert!(
                ran.stdout.contains(&filtered_out(&wanted)),
                "{target} {arguments:?}\n{ran}"
            );
        }
    }
}

#[test]
fn without_arguments_every_case_is_run() {
    assert_run(&[], |_| true);
}

#[test]
fn a_filter_is_a_part_of_a_name() {
    assert_run(&["refund"], |name| name.contains("refund"));
    assert_run(&["::stability"], |name| name.contains("::stability"));
    assert_run(&["straße"], |name| name.contains("straße"));
}

#[test]
fn several_filters_are_alternatives() {
    assert_run(&["_2nd", "trajectory"], |name| {
        name.contains("_2nd") || name.contains("trajectory")
    });
}

#[test]
fn exact_runs_the_one_case_of_that_name() {
    for wanted in [
        "weather::umbrella_advice",
        "shop::checkout::cart_agent::stability",
    ] {
        assert_run(&["--exact", wanted], |name| name == wanted);
        assert_run(&[wanted, "--exact"], |name| name == wanted);
    }
    let both = [
        "--exact",
        "weather::umbrella_advice",
        "_2nd::type_::_4_eyes",
    ];
    assert_run(&both, |name| both.contains(&name));
}

#[test]
fn a_filter_that_fits_nothing_runs_nothing() {
    for target in ["agents", "macros"] {
        let ran = sample().run(target, &["--exact", "stability"]).exits(0);
        assert_eq!(ran.outcomes().len(), 0, "{ran}");
        assert!(ran.stdout.contains("running 0 tests\n"), "{ran}");
    }
}

#[test]
fn skip_leaves_cases_out() {
    assert_run(&["--skip", "shop"], |name| !name.contains("shop"));
    assert_run(&["--skip=shop", "stability"], |name| {
        name.contains("stability") && !name.contains("shop")
    });
    assert_run(&["--skip", "shop", "--skip", "_2nd"], |name| {
        name.starts_with("weather")
    });
    let one = "weather::umbrella_advice";
    assert_run(&["--exact", "--skip", one], |name| name != one);
}

/// A skipped agent is run when it is asked for, and what cannot be run is never a pass.
#[test]
fn ignored_cases_are_run_on_request() {
    let unsupported = |name: &str| name.contains("::unsupported::");
    let asked = |name: &String, outcome: Outcome, by_macro: bool| match outcome {
        // The standard harness cannot say so while it runs.
        Ignored if unsupported(name) && !by_macro => Ignored,
        // There are no recordings of it.
        Ignored => Failed,
        other => other,
    };
    for (flag, only_ignored) in [("--ignored", true), ("--include-ignored", false)] {
        for (target, by_macro) in [("agents", false), ("macros", true)] {
            let ran = sample().run(target, &[flag]).exits(101);
            let all = expected(|_| true).into_iter();
            let selected = all.filter(|(_, outcome)| !only_ignored || *outcome == Ignored);
            let wanted = selected.map(|(name, outcome)| {
                let outcome = asked(&name, outcome, by_macro);
                (name, outcome)
            });
            assert_eq!(ran.outcomes(), wanted.collect(), "{target} {flag}\n{ran}");
        }
    }
    let ran = sample()
        .run("agents", &["--ignored", "unsupported"])
        .exits(0);
    assert!(
        ran.outcomes().values().all(|outcome| *outcome == Ignored),
        "{ran}"
    );
}

#[test]
fn the_reason_of_an_ignored_case_is_shown() {
    for target in ["agents", "macros"] {
        let ran = sample().run(target, &["weather"]).exits(0);
        let line = |name: &str| {
            let line = ran
                .stdout
                .lines()
                .find(|line| line.split_whitespace().nth(1) == Some(name));
            line.unwrap_or_else(|| panic!("no line for {name} in\n{ran}"))
                .to_owned()
        };
        assert!(
            line("weather::night_watch").contains("waits for the new radar"),
            "{ran}"
        );
        assert!(
            line("weather::night_watch::stability").contains("waits for the new radar"),
            "{ran}"
        );
        assert!(
            line("weather::umbrella_advice::unsupported::llm_judge")
                .contains("`llm-judge` needs a model"),
            "{ran}"
        );
    }
}

#[test]
fn flags_of_libtest_are_taken() {
    for flags in [
        &["--nocapture"][..],
        &["--no-capture"],
        &["--show-output"],
        &["--test-threads=1"],
        &["--test-threads", "2"],
        &["--color=never"],
        &["--color", "auto"],
    ] {
        assert_run(flags, |_| true);
    }
}

#[test]
fn the_thread_count_of_the_environment_is_read() {
    for target in ["agents", "macros"] {
        let with = |threads: &str, arguments: &[&str]| {
            let folder = &sample().folder;
            sample().run_in(folder, target, arguments, &[("RUST_TEST_THREADS", threads)])
        };
        assert_eq!(with("1", &[]).exits(101).outcomes(), expected(|_| true));
        for invalid in ["0", "many", "-1", ""] {
            let refused = with(invalid, &[]).exits(101);
            assert!(refused.stderr.contains("RUST_TEST_THREADS"), "{refused}");
            assert_eq!(refused.outcomes().len(), 0, "{refused}");
        }
        assert_eq!(
            with("0", &["--test-threads=1", "weather"])
                .exits(0)
                .outcomes()
                .len(),
            7
        );
    }
}

/// With one thread the cases come in the order of their names, as from the standard harness.
#[test]
fn one_thread_runs_the_cases_in_order() {
    for target in ["agents", "macros"] {
        let ran = sample().run(target, &["--test-threads=1"]);
        let lines = ran
            .stdout
            .lines()
            .filter(|line| line.starts_with("test ") && line.contains(" ... "));
        let order: Vec<_> = lines
            .filter_map(|line| line.split_whitespace().nth(1))
            .collect();
        let sorted: Vec<_> = expected(|_| true).into_keys().collect();
        assert_eq!(order, sorted);
    }
}

#[test]
fn an_unknown_flag_is_refused() {
    for flag in [
        "--no-such-flag",
        "--format=xml",
        "--test-threads=some",
        "--color=pink",
    ] {
        let refused = sample().run("agents", &[flag]);
        assert!(!matches!(refused.code, None | Some(0)), "{refused}");
        let named = flag.split('=').next_back().unwrap();
        assert!(refused.stderr.contains(named), "{refused}");
        assert_eq!(refused.outcomes().len(), 0, "{refused}");
    }
}

/// Without a thread nothing would ever be run.
#[test]
fn no_threads_at_all_are_refused() {
    for target in ["agents", "macros"] {
        let refused = sample().run(target, &["--test-threads=0"]);
        assert!(!matches!(refused.code, None | Some(0)), "{refused}");
        assert!(refused.stderr.contains("threads"), "{refused}");
    }
}

#[test]
fn the_table_has_every_outcome() {
    let all = expected(|_| true);
    for outcome in [Passed, Failed, Ignored] {
        assert!(all.values().any(|other| *other == outcome));
    }
}
