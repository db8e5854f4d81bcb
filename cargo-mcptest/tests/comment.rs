//! `cargo mcptest report --format markdown --baseline`: the comment of a pull request.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::fs;

use e2e_support::folder::Folder;
use e2e_support::git::commit_all;
use e2e_support::process::Finished;
use support::four_agents::{four_agents, run};
use support::mcptest;
use support::planted::{asks, nothing, package, record};

const MARKDOWN: [&str; 5] = ["report", "--format", "markdown", "--baseline", "before"];

fn comment(folder: &Folder) -> Finished {
    mcptest(folder.path(), &MARKDOWN)
}

/// A second suite, whose only agent has so many runs on each side.
fn second_suite(folder: &Folder, name: &str, runs: u64) {
    folder.write(
        "suites/second.yml",
        format!("agents:\n  - {{ name: {name}, model: m, prompt: go, runs: {runs}, calls: {{ max: 1 }} }}\n"),
    );
    for (side, tokens) in [("before", 100), ("suites", 110)] {
        for number in 1..=runs {
            let run = run(name, "late", tokens + number, true, "go");
            let path = format!("{side}/cassettes/{name}__m/run-{number}.json");
            folder.write(&path, run.to_string());
        }
    }
}

#[test]
fn the_first_line_is_the_verdict_and_what_is_red_stands_first() {
    let said = comment(&four_agents()).exits(1);
    let mut lines = said.stdout.lines();
    assert_eq!(lines.next(), Some("<!-- mcptest: suites/desk.yml -->"));
    assert_eq!(
        lines.next(),
        Some(
            "**1 of 4 agents got worse (`a_refund`: 6 of 6 → 1 of 6), 1 costs 45% more tokens (`b_search`), \
             1 calls other tools (`d_cancel`), 1 got better (`c_book`: 0 of 6 → 6 of 6).**"
        )
    );
    let rows: Vec<&str> = lines.filter(|line| line.contains('_')).collect();
    let table: Vec<&&str> = rows.iter().filter(|row| row.starts_with("| ")).collect();
    let agents = table.iter().map(|row| row.split(" | ").next().unwrap());
    assert_eq!(
        agents.collect::<Vec<_>>(),
        [
            "| ❌ `a_refund`",
            "| ❌ `b_search`",
            "| 🔎 `c_book`",
            "| 🔎 `d_cancel`",
            "| desk::a\\_refund",
            "| desk::b\\_search",
            "| desk::c\\_book",
            "| desk::d\\_cancel",
        ]
    );
    // No case fails, so their rows are folded.
    let folded = "<details><summary>4 agents without a failed case</summary>";
    assert!(said.stdout.contains(folded), "{said}");
}

#[test]
fn each_suite_has_a_comment_of_its_own() {
    let folder = four_agents();
    second_suite(&folder, "late", 2);
    let said = comment(&folder).exits(1);
    let markers: Vec<&str> = said
        .stdout
        .lines()
        .filter(|line| line.starts_with("<!-- "))
        .collect();
    assert_eq!(
        markers,
        [
            "<!-- mcptest: suites/desk.yml -->",
            "<!-- mcptest: suites/second.yml -->"
        ]
    );
    folder.write(
        "comments/009-old.md",
        "<!-- mcptest: suites/old.yml -->\nold\n",
    );
    folder.write("comments/README.md", "mine\n");
    let arguments = [&MARKDOWN[..], &["--comments", "comments"]].concat();
    let written = mcptest(folder.path(), &arguments).exits(1);
    assert_eq!(written.stdout, "");
    let mut files: Vec<String> = fs::read_dir(folder.at("comments"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["001-desk.md", "002-second.md", "README.md"]);
    let second = fs::read_to_string(folder.at("comments/002-second.md")).unwrap();
    assert!(
        second.starts_with(
            "<!-- mcptest: suites/second.yml -->\n\
             **The compared agent is not shown to be worse, 1 has too few runs to show a loss: 2 more runs would do; the failures are in other suites.** **1 of 2 cases fails.**\n"
        ),
        "{second}"
    );
    for part in [
        "`runs: 4` in suites/second.yml and `cargo mcptest record second::late` record 2 more",
        "| second::late | ",
        "<details><summary>❌ second::late::calls: ",
        "<details><summary>1 agent without a finding: 1 too few runs</summary>",
    ] {
        assert!(second.contains(part), "{part} in\n{second}");
    }
    assert!(!second.contains("a_refund"), "{second}");
    let first = fs::read_to_string(folder.at("comments/001-desk.md")).unwrap();
    assert_eq!(said.stdout, format!("{first}\n{second}"));
}

/// What changed, in a prompt that tries to leave its fence; then what came of it, with what would decide.
#[test]
fn what_changed_stands_before_what_came_of_it_and_stays_between_its_fences() {
    let agents = ["a", "b", "c", "d"];
    let suite = agents.map(|agent| asks(agent, "m", "go", 6)).concat();
    let folder = package(&format!("agents:\n{suite}"));
    let lines = [
        "```",
        "````` @octocat",
        "</details><script>alert(1)</script>",
        "<!-- mcptest: suites/other.yml -->",
        "#7 $x$ **b**\r",
        "~~~\u{202e}",
        "line 7",
        "line 8",
        "line 9 @octocat",
    ];
    for agent in agents {
        record(
            &folder,
            &format!("before/cassettes/{agent}__m"),
            6,
            1000,
            nothing,
        );
        let passed = if agent == "d" { 3 } else { 6 };
        record(
            &folder,
            &format!("suites/cassettes/{agent}__m"),
            passed,
            1000,
            |_, run| {
                run["system_prompt"] = lines.join("\n").into();
                // The prompt stands in the code.
                run["session"] = serde_json::json!({ "version": "1.0", "conversations": [] });
            },
        );
    }
    let said = comment(&folder).exits(3);
    let (top, below) = said.stdout.split_once("\nfor each agent, ").unwrap();
    assert_eq!(
        top,
        "<!-- mcptest: suites/desk.yml -->\n\
         **It cannot be told yet whether 1 of 4 agents got worse (`d`: 6 of 6 → 3 of 6): about 10 more runs would decide \
         (`cargo mcptest record desk::d`).**\n\
         \nAgent tests of suites/desk.yml\n\
         \n`desk::d`: about 16 runs on each side would show whether it got worse; `runs: 16` in suites/desk.yml and \
         `cargo mcptest record desk::d` record 10 more, and the baseline needs 10 more\n\
         \nthe system prompt changed: `d`, `a`, `b`, `c`\n\
         \n``````diff\n\
         +```\n\
         +````` @octocat\n\
         +</details><script>alert(1)</script>\n\
         +<!-- mcptest: suites/other.yml -->\n\
         +#7 $x$ **b**\\r\n\
         +~~~\\u{202e}\n\
         +line 7\n\
         +line 8\n\
         ``````\n\
         \n<details><summary>1 more line of this diff</summary>\n\
         \n```diff\n\
         +line 9 @octocat\n\
         ```\n\
         \n</details>\n\
         \n| agent | passed | tokens | behaviour | verdict |\n\
         |---|---|---|---|---|\n\
         | 🔎 `d` | 6/6 → 3/6 | ×1.00 \\[1.00, 1.00\\] | same | cannot be told yet: 10 more each |\n\
         | all 4 | −12.5 points | ×1.00 \\[1.00, 1.00\\] | p 1.000 | no evidence p 0.0909 |\n"
    );
    // Nothing of it stands anywhere else.
    assert!(
        !below.contains("octocat") && !below.contains("script"),
        "{below}"
    );
}

/// A prompt stands in what fails too.
#[test]
fn what_fails_shows_no_key() {
    let folder = package(&format!("agents:\n{}", asks("a", "m", "go", 6)));
    let key = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF";
    for side in ["before", "suites"] {
        record(
            &folder,
            &format!("{side}/cassettes/a__m"),
            6,
            1000,
            |_, run| {
                run["system_prompt"] = format!("You are a clerk with {key}.").into();
            },
        );
    }
    for arguments in [&MARKDOWN[..], &MARKDOWN[..3]] {
        let said = mcptest(folder.path(), arguments).exits(1);
        assert!(
            said.stdout.contains("-You are a clerk with [redacted"),
            "{said}"
        );
        assert!(!said.stdout.contains("abcdefgh"), "{said}");
    }
}

/// What a deleted suite asked for is no agent of the suites that are left; what a suite dropped itself is.
#[test]
fn agents_that_are_gone_are_counted_where_they_were_asked_for() {
    let folder = four_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    second_suite(&folder, "late", 2);
    let asked = fs::read_to_string(folder.at("suites/second.yml")).unwrap();
    let another = "  - { name: kept, model: m, prompt: come, runs: 1, calls: { max: 1 } }";
    let kept = run("kept", "late", 100, true, "come").to_string();
    folder.write("suites/cassettes/kept__m.json", kept);
    folder.write("suites/second.yml", format!("{asked}{another}\n"));
    commit_all(folder.path(), "step");
    let comments = |folder: &Folder| {
        let arguments = [
            "report",
            "--format",
            "markdown",
            "--baseline",
            "main",
            "--comments",
            "comments",
        ];
        let said = mcptest(folder.path(), &arguments);
        let read = |file: &str| fs::read_to_string(folder.at("comments").join(file));
        (
            said,
            read("001-desk.md").unwrap(),
            read("002-second.md").unwrap_or_default(),
        )
    };
    let headline = |comment: &str| comment.lines().nth(1).unwrap().to_owned();

    folder.write("suites/second.yml", format!("agents:\n{another}\n"));
    let (_, first, second) = comments(&folder);
    assert!(!headline(&first).contains("gone"), "{first}");
    assert!(
        headline(&first).ends_with("; what cannot be told is of other suites.**"),
        "{first}"
    );
    assert!(headline(&second).contains("1 gone (`late`)"), "{second}");

    fs::remove_file(folder.at("suites/second.yml")).unwrap();
    let (_, first, _) = comments(&folder);
    assert!(!headline(&first).contains("gone"), "{first}");
    for part in [
        "\ngone with the suite `suites/second.yml`: `kept`, `late`\n",
        "if this is on purpose, say `--allow-gone`",
        "Exit status 3 of all suites together",
    ] {
        assert!(first.contains(part), "{part} in\n{first}");
    }
}

/// The cases beside a comparison of two revisions are those of the second one, whatever the work tree has.
#[test]
fn two_revisions_are_reported_by_the_suites_of_the_second_one() {
    let folder = four_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    let suite = fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    commit_all(folder.path(), "step");
    let played = "agents:\n  - { name: code, model: m, prompt: go, runs: 1, calls: { max: 9 }, command: [python, agent.py], playback: {} }\n";
    folder.write("suites/played.yml", played);
    folder.write(
        "suites/cassettes/code__m.json",
        run("code", "late", 100, true, "go").to_string(),
    );
    commit_all(folder.path(), "step");
    let report = |folder: &Folder, sides: &[&str]| {
        let arguments = ["report", "--format", "markdown", "--compare"];
        mcptest(folder.path(), &[&arguments, sides].concat())
    };
    // A suite that nobody committed, and one that does not load any more.
    second_suite(&folder, "dirty", 1);
    folder.write("suites/desk.yml", "agents: [");
    let said = report(&folder, &["HEAD~1", "HEAD"]).exits(0);
    assert!(!said.stdout.contains("dirty"), "{said}");
    for part in [
        "<!-- mcptest: suites/desk.yml -->",
        "| desk::a\\_refund |",
        "<!-- mcptest: suites/played.yml -->",
        "code::playback: not played: the code of the revision is not checked out",
    ] {
        assert!(said.stdout.contains(part), "{part} in\n{said}");
    }
    report(&folder, &["HEAD~1"]).exits(2);
    folder.write("suites/desk.yml", &suite);
    let said = report(&folder, &["HEAD"]);
    assert!(said.stdout.contains("dirty"), "{said}");
}

/// A marker is found again whatever else has the same suite's name: packages of one repository have their folder in it.
#[test]
fn a_package_below_the_top_of_its_repository_says_where_it_is() {
    let folder = four_agents();
    let top = Folder::new();
    for (path, bytes) in e2e_support::folder::collect(folder.path()) {
        top.write(&format!("crates/desk/{path}"), bytes);
    }
    let mut git = e2e_support::process::command("git", top.path());
    e2e_support::process::run(git.args(["init", "-q"])).exits(0);
    let said = mcptest(&top.at("crates/desk"), &MARKDOWN).exits(1);
    assert!(
        said.stdout
            .starts_with("<!-- mcptest: crates/desk/suites/desk.yml -->\n"),
        "{said}"
    );
}

#[test]
fn a_comment_is_never_longer_than_it_may_be() {
    let folder = four_agents();
    let agents = (0..900).map(|number| {
        let name = format!("agent_{number:03}_{}", "x".repeat(60));
        for (side, tokens) in [("before", 1), ("suites", 2)] {
            let run = run(&name, "late", tokens, true, "go");
            folder.write(&format!("{side}/cassettes/{name}__m.json"), run.to_string());
        }
        format!("  - {{ name: {name}, model: m, prompt: go, calls: {{ max: 1 }} }}\n")
    });
    let suite = format!("agents:\n{}", agents.collect::<String>());
    folder.write("suites/desk.yml", suite);
    let said = comment(&folder).exits(1);
    let length = said.stdout.encode_utf16().count();
    assert!(length <= 65_536 && length > 60_000, "{length}");
    let last = said.stdout.lines().last().unwrap();
    assert!(
        last.starts_with(
            "The rest is left out, because a comment can have at most 65,536 characters"
        ),
        "{last}"
    );
    assert_eq!(
        said.stdout.matches("<details>").count(),
        said.stdout.matches("</details>").count()
    );
    let fences = said.stdout.lines().filter(|line| line.starts_with("```"));
    assert_eq!(fences.count() % 2, 0);
    let rows = said.stdout.lines().filter(|line| line.starts_with('|'));
    assert!(rows.clone().all(|row| row.ends_with('|')) && rows.count() > 300);
}

#[test]
fn what_a_baseline_is_for_is_told() {
    let folder = four_agents();
    for (arguments, told) in [
        (
            &["--baseline", "before", "--format", "junit"][..],
            "error: `--baseline` is for `--format html` and `--format markdown`\n",
        ),
        (
            &["--baseline", "before", "--comments", "x"],
            "error: `--comments` writes Markdown; add `--format markdown`\n",
        ),
        (
            &["--calibrate", "--format", "markdown"],
            "error: `--calibrate`, `--mutants` and `--history` are pages of the HTML report\n",
        ),
    ] {
        let said = mcptest(folder.path(), &[&["report"], arguments].concat()).exits(2);
        assert!(said.stderr.contains(told), "{said}");
    }
}
