//! What runs are held against: recordings or saved results, and neither themselves nor others.

use super::*;

#[test]
fn what_is_unchanged_holds_and_says_so() {
    let folder = package(TRUSTED, "");
    runs(folder.path(), "suites/cassettes", 0);
    let found = regressions(&folder);
    assert_eq!(found["s::regression"].status, CaseStatus::Passed);
    assert!(
        message(&found["s::regression"]).contains("unchanged"),
        "{}",
        message(&found["s::regression"])
    );
    for (case, result) in found
        .iter()
        .filter(|(case, _)| case.matches("::").count() == 2)
    {
        assert_eq!(result.status, CaseStatus::Ignored, "{case}");
        assert_eq!(message(result), "unchanged since the baseline");
    }
}

#[test]
fn without_a_baseline_the_suite_fails_and_says_how_to_save_one() {
    let folder = package("regression: { baseline: nowhere }\n", "");
    let found = regressions(&folder);
    let text = message(&found["s::regression"]);
    assert_eq!(found["s::regression"].status, CaseStatus::Failed);
    assert!(
        text.contains("looked for the folder suites/nowhere"),
        "{text}"
    );
    assert!(
        text.contains("cargo mcptest compare --accept suites/nowhere"),
        "{text}"
    );
    let agent = &found["s::a_refund::regression"];
    assert_eq!(
        message(agent),
        "not compared: the baseline cannot be used; see `s::regression`"
    );
}

#[test]
fn runs_are_not_compared_with_themselves() {
    for baseline in ["cassettes", ".", ".."] {
        let folder = package(&format!("regression: {{ baseline: {baseline:?} }}\n"), "");
        let found = regressions(&folder);
        let whole = &found["s::regression"];
        assert_eq!(
            whole.status,
            CaseStatus::Failed,
            "{baseline}: {}",
            message(whole)
        );
        let text = message(whole);
        assert!(
            text.contains("the baseline is where the runs of today are"),
            "{text}"
        );
    }
}

#[test]
fn runs_with_another_prompt_are_not_compared() {
    let folder = package(TRUSTED, "");
    let path = "suites/trusted/a_refund__m/run-1.json";
    write(folder.path(), path, &run("a_refund", "another", true, 1000));
    let found = regressions(&folder);
    let agent = &found["s::a_refund::regression"];
    assert_eq!(agent.status, CaseStatus::Ignored);
    assert_eq!(
        message(agent),
        "not comparable with the baseline: the prompt is another one; see `s::regression`"
    );
    assert!(message(&found["s::regression"]).contains("not comparable: `a_refund`"));
}

#[test]
fn saved_results_are_a_baseline_too() {
    let folder = package("regression: { baseline: saved }\n", "");
    runs(folder.path(), "suites/cassettes", 0);
    let before = open(&folder);
    for case in before.cases() {
        let mut result = case.judge();
        result.duration_ms = None;
        folder::write(&folder.path().join("suites/saved"), &result).unwrap();
    }
    let found = regressions(&folder);
    assert_eq!(
        message(&found["s::a_refund::regression"]),
        "unchanged since the baseline"
    );
    runs(folder.path(), "suites/cassettes", 1);
    let found = regressions(&folder);
    let agent = &found["s::a_refund::regression"];
    assert_eq!(agent.status, CaseStatus::Failed);
    assert!(
        message(agent).contains("regressed   p 0.0032 ≤ 0.00625, 83 points"),
        "{}",
        message(agent)
    );
    assert_eq!(found["s::c_book::regression"].status, CaseStatus::Passed);
}

/// What a damaged file told is not known: nothing is new, or unchanged, for it.
#[test]
fn a_baseline_that_cannot_be_read_is_red_and_names_the_file() {
    for (damage, why) in [
        ("{ \"schema", "not JSON"),
        ("", "not JSON"),
        ("<<<<<<< HEAD\n{}", "not JSON"),
        ("{\"schema_version\": \"9.0\"}", "the result has format 9.0"),
    ] {
        let folder = package("regression: { baseline: saved }\n", "");
        let saved = folder.path().join("suites/saved");
        for case in open(&folder).cases() {
            folder::write(&saved, &case.judge()).unwrap();
        }
        write(&saved, "shop/s.a_refund.json", damage);
        let found = regressions(&folder);
        let suite = &found["s::regression"];
        assert_eq!(suite.status, CaseStatus::Failed, "{damage}");
        let text = suite
            .failure
            .as_ref()
            .map(|it| it.text.clone())
            .unwrap_or_default();
        assert!(
            text.contains("a result of the baseline cannot be read"),
            "{text}"
        );
        assert!(
            text.contains("shop/s.a_refund.json: ") && text.contains(why),
            "{text}"
        );
    }
}

/// What is left of a baseline was chosen, and copies of it are no other runs: neither is unchanged.
#[test]
fn a_choice_of_a_baselines_runs_is_not_unchanged() {
    let folder = package(TRUSTED, "");
    runs(folder.path(), "suites/cassettes", 0);
    let agent = |number: usize| format!("suites/cassettes/a_refund__m/run-{number}.json");
    for number in 2..=6 {
        fs::copy(
            folder.path().join(agent(1)),
            folder.path().join(agent(number)),
        )
        .unwrap();
    }
    let found = regressions(&folder);
    let own = &found["s::a_refund::regression"];
    assert_eq!(own.status, CaseStatus::Failed);
    assert!(
        message(own).contains("is a byte-for-byte copy of"),
        "{}",
        message(own)
    );
    assert_eq!(found["s::regression"].status, CaseStatus::Failed);

    for number in 2..=6 {
        fs::remove_file(folder.path().join(agent(number))).unwrap();
    }
    let one = suite(TRUSTED, "").replacen("runs: 6", "runs: 1", 1);
    write(folder.path(), "suites/s.yml", &one);
    let found = regressions(&folder);
    let own = &found["s::a_refund::regression"];
    assert_eq!(own.status, CaseStatus::Ignored);
    assert_eq!(
        message(own),
        "not comparable with the baseline: 5 recordings are gone, none is new; see `s::regression`"
    );
    let whole = &found["s::regression"];
    assert_eq!(whole.status, CaseStatus::Failed);
    let told = "cannot tell: recordings of 1 agent are gone, and the baseline's runs that are left are no random sample";
    assert!(message(whole).contains(told), "{}", message(whole));

    // New runs beside it are compared, and hold nothing.
    let two = one.replacen("runs: 1", "runs: 6", 1);
    write(folder.path(), "suites/s.yml", &two);
    for number in 2..=6 {
        let text = run("a_refund", "p", true, 1100 + number as u64);
        write(folder.path(), &agent(number), &text);
    }
    let found = regressions(&folder);
    let own = &found["s::a_refund::regression"];
    assert_eq!(
        message(own),
        "cannot tell: 5 of 6 recordings of the baseline are gone; see `s::regression`"
    );
    assert_eq!(found["s::regression"].status, CaseStatus::Failed);
}

/// The number of a run says nothing of its agent, and takes no share of the chance from the agents that did change.
#[test]
fn a_run_under_another_number_is_no_other_run() {
    let folder = package(TRUSTED, "");
    runs(folder.path(), "suites/cassettes", 0);
    for number in 0..6 {
        let path = |agent: &str, number: usize| {
            format!("suites/cassettes/{agent}__m/run-{}.json", number + 1)
        };
        let text = run("b_search", "p", number < 5, 2000 + 10 * number as u64);
        write(folder.path(), &path("b_search", (number + 2) % 6), &text);
        let text = run("a_refund", "p", number < 1, 1005 + 10 * number as u64);
        write(folder.path(), &path("a_refund", number), &text);
    }
    let found = regressions(&folder);
    let agent = message(&found["s::a_refund::regression"]);
    assert!(agent.contains("regressed   p 0.0032 ≤ 0.05"), "{agent}");
    assert_eq!(
        message(&found["s::b_search::regression"]),
        "unchanged since the baseline"
    );
}

/// Of several things that differ each is told, in one order whatever run has it.
#[test]
fn what_runs_were_recorded_with_is_told_in_one_order() {
    let told = [["one", "another"], ["another", "one"]].map(|prompts| {
        let folder = package(TRUSTED, "");
        for (prompt, number) in prompts.iter().zip(1..) {
            let path = format!("suites/trusted/a_refund__m/run-{number}.json");
            write(folder.path(), &path, &run("a_refund", prompt, true, 1000));
        }
        message(&regressions(&folder)["s::regression"])
    });
    assert_eq!(told[0], told[1]);
}
