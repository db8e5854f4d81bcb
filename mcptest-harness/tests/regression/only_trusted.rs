//! Agents that only the baseline has: the rules are those of `cargo mcptest compare`.

use super::*;

/// The suite without its first agent, and with what is written in its place.
fn without_first(folder: &TempDir, regression: &str, instead: &str) {
    let text = suite(regression, "");
    let first = text.lines().nth(2).unwrap();
    let text = text.replacen(&format!("{first}\n"), instead, 1);
    write(folder.path(), "suites/s.yml", &text);
}

/// Recordings, and results of a package whose agents are all unchanged but for what a test does then.
fn unchanged(baseline: &str) -> TempDir {
    let folder = package(&format!("regression: {{ baseline: {baseline} }}\n"), "");
    runs(folder.path(), "suites/cassettes", 0);
    let results = folder.path().join("suites/saved");
    for case in open(&folder).cases() {
        folder::write(&results, &case.judge()).unwrap();
    }
    folder
}

fn whole(folder: &TempDir) -> (CaseStatus, String) {
    let found = regressions(folder);
    let whole = &found["s::regression"];
    (whole.status, message(whole))
}

#[test]
fn an_agent_that_no_suite_asks_for_any_more_is_no_pass() {
    for baseline in ["trusted", "saved"] {
        let regression = format!("regression: {{ baseline: {baseline} }}\n");
        let folder = unchanged(baseline);
        assert_eq!(whole(&folder).0, CaseStatus::Passed);
        without_first(&folder, &regression, "");
        let (status, text) = whole(&folder);
        assert_eq!(status, CaseStatus::Failed, "{text}");
        for part in [
            "gone, because no suite asks for it any more: `a_refund`",
            "cannot tell: 1 agent of the baseline is gone: no suite asks for it",
            "remove its runs from the baseline too",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        // What is advised helps.
        for file in ["trusted/a_refund__m", "saved/shop/s.a_refund.json"] {
            let path = folder.path().join("suites").join(file);
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        for gate in ["calls", "regression"] {
            let file = format!("suites/saved/shop/s.a_refund.{gate}.json");
            fs::remove_file(folder.path().join(file)).unwrap();
        }
        let (status, text) = whole(&folder);
        assert_eq!(status, CaseStatus::Passed, "{text}");
    }
}

#[test]
fn an_agent_with_another_model_is_no_new_one() {
    for baseline in ["trusted", "saved"] {
        let regression = format!("regression: {{ baseline: {baseline} }}\n");
        let folder = unchanged(baseline);
        let other = "  - { name: a_refund, model: n, prompt: p, runs: 6, calls: { max: 9 } }\n";
        without_first(&folder, &regression, other);
        // Nobody recorded it with the new model.
        let (status, text) = whole(&folder);
        assert_eq!(status, CaseStatus::Failed, "{text}");
        let own = message(&regressions(&folder)["s::a_refund::regression"]);
        if baseline == "trusted" {
            assert!(text.contains("gone, because"), "{text}");
            assert!(own.starts_with("gone: the baseline has"), "{own}");
        } else {
            // Its case has the same name in the results, so its runs are looked for.
            assert!(text.contains("no recorded run of `a_refund`"), "{text}");
        }

        for number in 1..=6 {
            let text = run("a_refund", "p", false, number).replace("\"m\"", "\"n\"");
            let path = format!("suites/cassettes/a_refund__n/run-{number}.json");
            write(folder.path(), &path, &text);
        }
        let (status, text) = whole(&folder);
        assert_eq!(status, CaseStatus::Failed, "{text}");
        assert!(
            text.contains("not comparable: `a_refund`\n")
                && text.contains("recorded with another model: m → n"),
            "{text}"
        );
        assert!(!text.contains("new, not compared"), "{text}");
        let found = regressions(&folder);
        assert_eq!(
            message(&found["s::a_refund::regression"]),
            "not comparable with the baseline: recorded with another model: m → n; see `s::regression`"
        );
    }
}

/// Of its results only those of its gates are left.
#[test]
fn an_agent_whose_own_result_is_missing_is_no_new_one() {
    let folder = unchanged("saved");
    let own = folder.path().join("suites/saved/shop/s.a_refund.json");
    fs::remove_file(own).unwrap();
    let (status, text) = whole(&folder);
    assert_eq!(status, CaseStatus::Failed, "{text}");
    assert!(
        text.contains("the result of `s::a_refund` is missing in the baseline"),
        "{text}"
    );
}

#[test]
fn a_new_agent_alone_holds_and_an_empty_baseline_does_not() {
    let folder = unchanged("trusted");
    fs::remove_dir_all(folder.path().join("suites/trusted/a_refund__m")).unwrap();
    let (status, text) = whole(&folder);
    assert_eq!(status, CaseStatus::Passed, "{text}");
    assert!(text.contains("new, not compared: `a_refund`"), "{text}");
    fs::remove_dir_all(folder.path().join("suites/trusted")).unwrap();
    fs::create_dir_all(folder.path().join("suites/trusted")).unwrap();
    let (status, text) = whole(&folder);
    assert_eq!(status, CaseStatus::Failed, "{text}");
}

/// Suites may share a baseline: what another one asks for is not gone.
#[test]
fn what_another_suite_asks_for_is_not_gone() {
    let other = "  - { name: late, model: m, prompt: p, runs: 6, calls: { max: 9 } }\n";
    for baseline in ["trusted", "saved"] {
        let regression = format!("regression: {{ baseline: {baseline} }}\n");
        let folder = package(&regression, "");
        write(
            folder.path(),
            "suites/other.yml",
            &format!("{regression}agents:\n{other}"),
        );
        runs(folder.path(), "suites/cassettes", 0);
        for below in ["cassettes", "trusted"] {
            for number in 1..=6 {
                let path = format!("suites/{below}/late__m/run-{number}.json");
                write(folder.path(), &path, &run("late", "p", true, number));
            }
        }
        for case in open(&folder).cases() {
            folder::write(&folder.path().join("suites/saved"), &case.judge()).unwrap();
        }
        for (case, result) in regressions(&folder) {
            assert_ne!(
                result.status,
                CaseStatus::Failed,
                "{case}: {}",
                message(&result)
            );
        }
        // The suite is deleted, and its agents are gone.
        fs::remove_file(folder.path().join("suites/other.yml")).unwrap();
        let (status, text) = whole(&folder);
        assert_eq!(status, CaseStatus::Failed, "{text}");
        assert!(text.contains("asks for it any more: `late`"), "{text}");
    }
}

/// The suite has another name, and its agents got worse.
#[test]
fn a_suite_that_was_renamed_is_compared_all_the_same() {
    let folder = unchanged("saved");
    fs::rename(
        folder.path().join("suites/s.yml"),
        folder.path().join("suites/t.yml"),
    )
    .unwrap();
    runs(folder.path(), "suites/cassettes", 1);
    let found = regressions(&folder);
    let own = &found["t::a_refund::regression"];
    assert_eq!(own.status, CaseStatus::Failed, "{}", message(own));
    let text = message(&found["t::regression"]);
    assert!(
        !text.contains("gone") && !text.contains("new, not"),
        "{text}"
    );
}

/// Who is left out is left out with all its models.
#[test]
fn an_agent_that_is_skipped_is_not_gone() {
    let folder = unchanged("trusted");
    let skipped = "  - { name: a_refund, model: n, prompt: p, runs: 6, calls: { max: 9 }, regression: { skip: later } }\n";
    without_first(&folder, TRUSTED, skipped);
    let (status, text) = whole(&folder);
    assert_eq!(status, CaseStatus::Passed, "{text}");
}

/// A file of a baseline that nobody can read may tell of an agent that is gone.
#[test]
fn a_result_of_an_agent_that_is_gone_and_cannot_be_read_is_named() {
    let folder = unchanged("saved");
    let regression = "regression: { baseline: saved }\n";
    without_first(&folder, regression, "");
    for file in [
        "s.a_refund.json",
        "s.a_refund.calls.json",
        "s.a_refund.regression.json",
    ] {
        write(&folder.path().join("suites/saved/shop"), file, "{ broken");
    }
    let (status, text) = whole(&folder);
    assert_eq!(status, CaseStatus::Failed, "{text}");
    assert!(
        text.contains("a result of the baseline cannot be read") && text.contains("s.a_refund"),
        "{text}"
    );
}
