//! `MCPTEST_TAGS` selects agents, and never nothing by mistake.

use std::collections::BTreeMap;

use crate::sample::sample;
use crate::support::clerk::{SUITE, counted, desk};
use crate::support::folder::Folder;
use crate::support::outcome::Outcome::{Ignored, Passed};
use crate::support::process::Finished;

/// The clerk is `smoke`, the porter `smoke` and `slow`, the guard has no tag.
fn three_desks() -> Folder {
    let agent = SUITE.replacen("agents:\n", "", 1);
    let porter = agent.replace("Clerk", "Porter");
    let guard = agent.replace("Clerk", "Guard");
    let suite = format!(
        "agents:\n{agent}    tags: [smoke]\n{porter}    tags: [smoke, slow]\n{guard}    narrative: {{}}\n"
    );
    desk(&suite)
        .with_run("suites/cassettes/Clerk__m.json", &counted(3))
        .with_run("suites/cassettes/Porter__m.json", &counted(4))
        .with_run("suites/cassettes/Guard__m.json", &counted(5))
}

fn selected(folder: &Folder, tags: &str, arguments: &[&str]) -> Finished {
    sample().run_in(
        folder.path(),
        "agents",
        arguments,
        &[("MCPTEST_TAGS", tags)],
    )
}

#[test]
fn the_others_are_ignored_with_the_reason() {
    let folder = three_desks();
    let outcomes = |tags, arguments: &[&str]| {
        let ran = selected(&folder, tags, arguments).exits(0);
        (ran.outcomes(), ran)
    };
    let wanted = |clerk, porter, guard| {
        let names = [
            "desk::clerk",
            "desk::guard",
            "desk::guard::narrative",
            "desk::porter",
        ];
        let names = names.map(str::to_owned).into_iter();
        names
            .zip([clerk, guard, guard, porter])
            .collect::<BTreeMap<_, _>>()
    };
    assert_eq!(outcomes("", &[]).0, wanted(Passed, Passed, Passed));
    assert_eq!(outcomes("!slow", &[]).0, wanted(Passed, Ignored, Passed));
    let (smoke, ran) = outcomes("smoke, !slow", &["--include-ignored"]);
    assert_eq!(smoke, wanted(Passed, Ignored, Ignored));
    for line in [
        "desk::guard::narrative ... ignored (not tagged `smoke`, and `MCPTEST_TAGS` asks for it)",
        "desk::porter           ... ignored (tagged `slow`, which `MCPTEST_TAGS` leaves out)",
    ] {
        assert!(ran.stdout.contains(line), "{ran}");
    }
    let ran = selected(&folder, "smoke", &["--list", "--ignored"]).exits(0);
    assert_eq!(ran.listed(), ["desk::guard", "desk::guard::narrative"]);
}

#[test]
fn a_tag_that_nobody_has_is_an_error_whatever_is_run() {
    let folder = three_desks();
    for arguments in [&[][..], &["--list"], &["--exact", "desk::clerk"]] {
        let ran = selected(&folder, "smok", arguments).exits(101);
        assert_eq!(
            ran.stderr,
            "error: `MCPTEST_TAGS` names `smok`, and no agent of these suites has this tag\n\nhelp: did you mean `smoke`?\n"
        );
    }
    selected(&folder, "slow,!smoke", &[]).exits(101);
}

#[test]
fn agents_that_skip_or_only_leaves_out_are_no_green_run() {
    let left_out = |old: &str, new: &str| {
        let folder = three_desks();
        let suite = std::fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
        assert!(suite.contains(old));
        folder.with_file("suites/desk.yml", suite.replace(old, new))
    };
    let (skipped, only) = (
        left_out(
            "tags: [smoke, slow]\n",
            "tags: [smoke, slow]\n    skip: because\n",
        ),
        left_out("narrative: {}\n", "narrative: {}\n    only: true\n"),
    );
    for folder in [&skipped, &only] {
        for arguments in [&[][..], &["--list"]] {
            let ran = selected(folder, "slow", arguments).exits(101);
            assert_eq!(
                ran.stderr,
                "error: `MCPTEST_TAGS=slow` selects only agents that `skip` or `only` leaves out, so nothing would be judged: \
                 `Porter`\n\nhelp: remove `skip` or `only`, or ask for other tags\n"
            );
        }
        // An agent that is ignored may be judged all the same.
        let ran = selected(folder, "slow", &["--include-ignored"]).exits(0);
        assert_eq!(ran.outcomes()["desk::porter"], Passed, "{ran}");
    }
    selected(&skipped, "smoke", &[]).exits(0);
}
