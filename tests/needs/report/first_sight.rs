//! What somebody sees at first sight of a report: from what an agent fell, and since when.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::need::browser;
use crate::support::folder::Folder;
use crate::support::git;
use crate::support::process;
use crate::support::workshop;

use super::{browser_modules, look, report, sound_looks};

/// Takes a picture of the first page.
const PICTURE: &str = include_str!("picture.mjs");

const REFUNDS: &str = "agents:
  - name: Refund agent
    model: gpt-5
    prompt: Refund order 7.
    runs: 6
    expect:
      - target: final_response
        matcher: { contains: 18.00 EUR }
    trajectory: { mode: exact-sequence, calls: [{ name: get_order }, { name: refund }] }
    stability: {}
  - name: A search agent
    model: gpt-5
    prompt: Refund order 7.
    runs: 6
    calls: { max: 9 }
    stability: {}
  - name: New agent
    model: gpt-5
    prompt: Refund order 7.
    runs: 2
    calls: { max: 1 }
";

/// An agent of the same name, whose recordings do not say if a call ended in an error.
const DESK: &str = "agents:
  - name: Refund agent
    model: mini
    prompt: Refund order 7.
    runs: 3
    calls: { max: 1 }
    trajectory: { mode: exact-sequence, calls: [{ name: get_order }] }
    narrative: {}
";

/// A run; `flags`: whether it says of each call if it ended in an error.
fn run(agent: &str, calls: &[(&str, bool)], closing: &str, flags: bool, tokens: u64) -> Value {
    let model = if flags { "gpt-5" } else { "mini" };
    let result = |(place, (_, error)): (usize, &(&str, bool))| {
        let mut result = json!({ "call_index": place, "result": "a result ".repeat(40) });
        if flags {
            result["is_error"] = (*error).into();
        }
        result
    };
    json!({
        "schema_version": "v1", "agent_name": agent, "model": model, "user_prompt": "Refund order 7.",
        "trace": {
            "tool_calls": calls.iter().map(|(name, _)| json!({ "name": name, "server": "shop", "args": { "id": 7 } })).collect::<Vec<_>>(),
            "tool_results": calls.iter().enumerate().map(result).collect::<Vec<_>>(),
            "final_response": closing,
            "conversation": { "tokens": { "total": tokens }, "stop_reason": "completed" },
        },
    })
}

/// The recordings of a commit: of the six runs of an agent, the last `passing` pass.
fn record(folder: &Folder, commit: u64, passing: u64) {
    let write = |agent: &str, number: u64, run: &Value| {
        let path = format!("suites/cassettes/{agent}/run-{number}.json");
        folder.write(&path, run.to_string());
    };
    let [get, refund, failed] = [("get_order", false), ("refund", false), ("refund", true)];
    for number in 1..=6 {
        let tokens = 1000 + 10 * number + commit;
        let is_good = number > 6 - passing;
        let (calls, closing) = if is_good {
            (&[get, refund][..], "I have refunded 18.00 EUR for order 7.")
        } else {
            (
                &[get, failed, failed][..],
                "I have refunded the money for order 7.",
            )
        };
        let refunds = run("Refund agent", calls, closing, true, tokens);
        write("Refund_agent__gpt-5", number, &refunds);
        let searches = run("A search agent", &[get, get], "Found.", true, tokens);
        write("A_search_agent__gpt-5", number, &searches);
    }
    for number in 1..=3 {
        let desk = run(
            "Refund agent",
            &[get, refund],
            "Done.",
            false,
            500 + 10 * number + commit,
        );
        write("Refund_agent__mini", number, &desk);
    }
}

fn git(folder: &Folder, day: &str, arguments: &[&str]) {
    let mut git = git::command(folder.path(), arguments);
    for name in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
        git.env(name, format!("{day}T12:00:00Z"));
    }
    process::run(&mut git).exits(0);
}

fn commit(folder: &Folder, day: &str, subject: &str) {
    git(folder, day, &["add", "."]);
    git(folder, day, &["commit", "-qm", subject]);
}

/// A package of which an agent fell from six runs to one in its last commit.
fn fallen() -> Folder {
    let folder = Folder::new()
        .with_file(
            "Cargo.toml",
            workshop::manifest("shop", "[lib]\npath = \"lib.rs\"\n"),
        )
        .with_file("lib.rs", "")
        .with_file(".gitignore", "*.html\ntarget\n")
        .with_file("suites/refunds.yml", REFUNDS)
        .with_file("suites/desk.yml", DESK);
    workshop::share_packages(folder.path());
    git(&folder, "2026-01-05", &["init", "-q"]);
    for (number, subject) in [(1, "Record the agents"), (2, "Record again")] {
        record(&folder, number, 6);
        commit(&folder, "2026-01-05", subject);
    }
    folder
}

fn fall(folder: &Folder) {
    record(folder, 3, 1);
    for number in 1..=2 {
        let calls = [("get_order", false), ("refund", false)];
        let new = run("New agent", &calls, "Done.", true, 900 + number);
        let path = format!("suites/cassettes/New_agent__gpt-5/run-{number}.json");
        folder.write(&path, new.to_string());
    }
    commit(folder, "2026-01-07", "Another tool description");
}

fn written(folder: &Folder, name: &str, arguments: &[&str]) -> PathBuf {
    let page = folder.at(name);
    let mut report = report(folder);
    process::run(report.args(arguments).arg("-o").arg(&page)).exits(1);
    page
}

fn looks_of<'a>(looks: &'a [Value], page: &str) -> Vec<&'a Value> {
    let of = |look: &&Value| look["name"].as_str().unwrap().rsplit('-').nth(2) == Some(page);
    let found: Vec<&Value> = looks.iter().filter(of).collect();
    assert_eq!(found.len(), 4, "{page}");
    found
}

fn strings(value: &Value) -> Vec<&str> {
    let all = value.as_array().unwrap().iter();
    all.map(|one| one.as_str().unwrap()).collect()
}

pub(crate) fn each_fact_is_seen_at_both_widths_in_both_schemes() {
    let folder = fallen();
    // All commits are of one day.
    let one_day = written(&folder, "one-day.html", &["--history"]);
    fall(&folder);
    let page = written(
        &folder,
        "fallen.html",
        &["--baseline", "HEAD~1", "--history"],
    );
    let history = written(&folder, "fallen-history.html", &["--history"]);
    let [refunds, desk, search] = [
        "refunds::refund_agent",
        "desk::refund_agent",
        "refunds::a_search_agent",
    ]
    .map(|case| format!("#case={}", case.replace(':', "%3A")));
    let addresses = ["", "#compare", "#history", &refunds, &desk, &search];
    let seen = look(&page, &addresses);
    let looks = sound_looks(&seen, 4 * addresses.len());
    for look in looks_of(looks, "overview") {
        from_what_it_fell(look);
        what_was_found(look);
        project_commit_and_day(look);
    }
    for look in looks_of(looks, "compare") {
        what_fails_stands_first(look);
    }
    for look in looks {
        commits_are_short(look);
        pass_hat_has_one_name(look);
        each_day_once(look);
    }
    let days = |look: &Value| look["days"][0].as_array().unwrap().len();
    assert!(
        looks_of(looks, "history")
            .into_iter()
            .all(|look| days(look) == 2)
    );
    let agent = |address: &String| looks_of(looks, address.trim_start_matches('#'));
    for look in agent(&refunds) {
        sub_scores(look, 6);
        assert!(look["cut"].as_u64().unwrap() > 0, "{look}");
    }
    for look in agent(&search) {
        sub_scores(look, 6);
        let mut red = look["sub_scores"].as_array().unwrap().iter();
        assert!(red.all(|row| row[1] == 0), "{look}");
    }
    for look in agent(&desk) {
        sub_scores(look, 0);
        unknown_errors_once(look);
    }
    // Without a baseline, the history says it.
    let seen = look(&history, &[""]);
    for look in sound_looks(&seen, 4) {
        let failing = strings(&look["failing"]);
        let fallen = failing
            .iter()
            .find(|text| text.contains("refunds::refund_agent"));
        let fallen = fallen.unwrap();
        assert!(
            fallen.contains("6/6 → 1/6 runs passed; before: "),
            "{fallen}"
        );
        assert!(fallen.contains("2026-01-05 Record again"), "{fallen}");
    }
    let seen = look(&one_day, &["#history"]);
    for look in sound_looks(&seen, 4) {
        each_day_once(look);
        assert_eq!(days(look), 1, "{look}");
    }
}

fn from_what_it_fell(look: &Value) {
    let failing = strings(&look["failing"]);
    // The one that fell stands first.
    let parts = [
        "refunds::refund_agent (gpt-5)",
        "6/6 → 1/6 runs passed, since HEAD~1, commit ",
    ];
    for part in parts {
        assert!(failing[0].contains(part), "{part}: {}", failing[0]);
    }
    let with = |part: &str| failing.iter().find(|text| text.contains(part)).unwrap();
    assert!(
        with("desk::refund_agent (mini)").contains("0/3 → 0/3 runs passed"),
        "{failing:?}"
    );
    assert!(
        with("New agent").contains("0 of 2 runs passed · new since HEAD~1"),
        "{failing:?}"
    );
}

fn what_was_found(look: &Value) {
    let failing = strings(&look["failing"]).join("\n");
    let found = "found \"I have refunded the money for order 7.\"";
    assert!(failing.contains(found), "{failing}");
}

fn project_commit_and_day(look: &Value) {
    let text = look["text"].as_str().unwrap();
    for part in [
        "Agent tests of shop",
        " of 2026-01-07 · Another tool description",
        "written on 20",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("not committed"), "{text}");
}

fn what_fails_stands_first(look: &Value) {
    let rows = look["compared"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "Refund agent (gpt-5)",
            "A search agent",
            "Refund agent (mini)",
            "all 3"
        ]
    );
    assert!(
        rows[0][1] == "6/6 → 1/6" && rows[0][2].as_str().unwrap().starts_with("regressed"),
        "{rows:?}"
    );
}

fn commits_are_short(look: &Value) {
    let long = look["long_commits"].as_array().unwrap();
    assert!(long.is_empty(), "{}: {long:?}", look["name"]);
    let is_named = look["name"].as_str().unwrap().starts_with(['o', 'c', 'h']);
    let shortened = look["shortened"].as_array().unwrap();
    assert!(!is_named || !shortened.is_empty(), "{}", look["name"]);
    for commit in shortened {
        let [short, whole] = [&commit[0], &commit[1]].map(|name| name.as_str().unwrap());
        assert!(short.len() == 12 && whole.starts_with(short), "{commit}");
    }
}

fn pass_hat_has_one_name(look: &Value) {
    let heads = strings(&look["heads"]);
    let named = heads.iter().filter(|head| head.starts_with("pass^k"));
    assert!(named.count() <= 2, "{}: {heads:?}", look["name"]);
    let text = look["text"].as_str().unwrap();
    assert!(
        !text.contains("How often all of k") && !text.contains("empirical pass^k"),
        "{text}"
    );
}

fn sub_scores(look: &Value, runs: usize) {
    let rows = look["sub_scores"].as_array().unwrap();
    assert_eq!(rows.len(), runs, "{}", look["name"]);
    let heads = strings(&look["heads"]);
    assert_eq!(
        heads.contains(&"Sub-scores of stability"),
        runs > 0,
        "{heads:?}"
    );
    // The sixth run passed.
    assert!(rows.last().is_none_or(|row| row[1] == 0), "{rows:?}");
}

fn unknown_errors_once(look: &Value) {
    let text = look["text"].as_str().unwrap();
    assert!(!text.contains("an error or not"), "{text}");
    assert_eq!(text.matches("errors unknown in").count(), 1, "{text}");
    assert_eq!(
        text.matches("does not say of any of these calls").count(),
        1,
        "{text}"
    );
}

fn each_day_once(look: &Value) {
    for picture in look["days"].as_array().unwrap() {
        let mut days: Vec<(&str, f64, f64)> = Vec::new();
        for day in picture.as_array().unwrap() {
            let [left, right] = [&day[1], &day[2]].map(|at| at.as_f64().unwrap());
            days.push((day[0].as_str().unwrap(), left, right));
        }
        days.sort_by(|one, other| one.1.total_cmp(&other.1));
        for pair in days.windows(2) {
            assert!(
                pair[0].0 != pair[1].0 && pair[0].2 < pair[1].1,
                "{}: {days:?}",
                look["name"]
            );
        }
    }
}

/// Takes the picture that the README shows, and puts it there where `INSTA_UPDATE=always` asks for it. No two browsers
/// draw the same bytes, so it is not compared.
pub(crate) fn the_picture_of_the_readme() {
    let folder = fallen();
    fall(&folder);
    let page = written(&folder, "fallen.html", &["--baseline", "HEAD~1"]);
    let modules = browser_modules();
    let script = modules.join("picture.mjs");
    std::fs::write(&script, PICTURE).unwrap();
    let picture = folder.at("report.png");
    let mut node = Command::new("node");
    node.arg(&script).arg(&modules).arg(browser().unwrap());
    let taken = node.arg(&page).arg(&picture).output().unwrap();
    assert!(taken.status.success(), "{taken:?}");
    assert!(picture.metadata().unwrap().len() > 10_000);
    if std::env::var_os("INSTA_UPDATE").is_some_and(|how| how == "always") {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/report.png");
        std::fs::copy(&picture, docs).unwrap();
    }
}
