//! What is printed: lists, report formats, colour.

use serde_json::Value;

use crate::sample::{EXPECTED, count, expected, names, sample};
use crate::support::outcome::Outcome::{Failed, Ignored, Passed};

const ESCAPE: char = '\u{1b}';

#[test]
fn the_list_is_that_of_the_standard_harness() {
    for arguments in [
        &["--list"][..],
        &["--list", "--format", "terse"],
        &["--list", "--format=terse", "--ignored"],
        &["--list", "--format", "terse", "stability", "--skip", "shop"],
        &[
            "--list",
            "--format",
            "terse",
            "--exact",
            "weather::umbrella_advice",
        ],
    ] {
        let by_runner = sample().run("agents", arguments).exits(0);
        let by_macro = sample().run("macros", arguments).exits(0);
        assert_eq!(by_runner.listed(), by_macro.listed(), "{arguments:?}");
        // The standard harness counts them below, for people.
        let terse = arguments.contains(&"terse") || arguments.contains(&"--format=terse");
        assert!(!terse || by_runner.stdout == by_macro.stdout, "{by_runner}");
        assert!(by_runner.stderr.is_empty(), "{by_runner}");
    }
}

#[test]
fn the_list_names_every_case_and_under_ignored_only_those() {
    let list = |more: &[&str]| {
        let arguments = [&["--list", "--format", "terse"], more].concat();
        sample().run("agents", &arguments).exits(0)
    };
    assert_eq!(list(&[]).listed(), names());
    assert_eq!(list(&[]).stdout.lines().count(), EXPECTED.len());
    let ignored = expected(|_| true)
        .into_iter()
        .filter(|(_, outcome)| *outcome == Ignored);
    let ignored: Vec<_> = ignored.map(|(name, _)| name).collect();
    assert_eq!(list(&["--ignored"]).listed(), ignored);
}

#[test]
fn terse_and_quiet_print_a_letter_a_case_and_the_failures() {
    let pretty = sample().run("agents", &["--format", "pretty"]).exits(101);
    for flags in [&["--format", "terse"][..], &["-q"], &["--quiet"]] {
        let terse = sample().run("agents", flags).exits(101);
        assert_eq!(terse.outcomes().len(), 0, "{terse}");
        let mut lines = terse.stdout.lines();
        lines.find(|line| line.starts_with("running"));
        let mut letters: Vec<char> = lines
            .take_while(|line| *line != "failures:")
            .flat_map(str::chars)
            .filter(|letter| letter.is_alphabetic() || *letter == '.')
            .collect();
        letters.sort_unstable();
        let all = expected(|_| true);
        let letter = |letter: &str, outcome| letter.repeat(count(&all, outcome));
        let wanted = [
            letter(".", Passed),
            letter("F", Failed),
            letter("i", Ignored),
        ]
        .concat();
        assert_eq!(letters.into_iter().collect::<String>(), wanted, "{terse}");
        assert_eq!(terse.failures(), pretty.failures());
    }
}

#[test]
fn json_is_one_object_a_line_with_every_case() {
    let json = sample()
        .run("agents", &["--format", "json", "-Z", "unstable-options"])
        .exits(101);
    let lines: Vec<Value> = json
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ended = lines
        .iter()
        .filter(|line| line["type"] == "test" && line["event"] != "started");
    let outcomes = ended.map(|line| {
        let outcome = match line["event"].as_str() {
            Some("ok") => Passed,
            Some("failed") => Failed,
            Some("ignored") => Ignored,
            other => panic!("{other:?} in {line}"),
        };
        (line["name"].as_str().unwrap().to_owned(), outcome)
    });
    assert_eq!(
        outcomes.collect::<std::collections::BTreeMap<_, _>>(),
        expected(|_| true)
    );
    let text = sample().run("agents", &[]).failures();
    for line in lines
        .iter()
        .filter(|line| line["event"] == "failed" && line["type"] == "test")
    {
        let name = line["name"].as_str().unwrap();
        let stdout = line["stdout"].as_str().unwrap();
        assert_eq!(stdout.trim_end(), text[name].trim_end(), "{line}");
    }
    for line in lines.iter().filter(|line| line["event"] == "ignored") {
        assert!(line["message"].is_string(), "{line}");
    }
    let counts = |list: &[&str]| {
        let end = lines.last().unwrap();
        let counts = list.iter().map(|key| end[*key].as_u64().unwrap());
        counts.collect::<Vec<_>>()
    };
    let all = expected(|_| true);
    let wanted = [Passed, Failed, Ignored].map(|outcome| count(&all, outcome) as u64);
    assert_eq!(counts(&["passed", "failed", "ignored"]), wanted);
    let one = [
        "--format=json",
        "--exact",
        "shop::checkout::cart_agent::stability",
    ];
    let logged = sample().folder.join("events.jsonl");
    let log = ["--logfile", logged.to_str().unwrap()];
    let run = sample()
        .run("agents", &[&one[..], &log].concat())
        .exits(101);
    assert!(run.stdout.is_empty(), "{run}");
    let events = std::fs::read_to_string(logged).unwrap();
    assert_eq!(events.lines().count(), 4, "{events}");
    assert!(
        events.ends_with("}\n") && events.contains(r#""stdout": "error: "#),
        "{events}"
    );
}

#[test]
fn cases_and_failures_come_in_the_order_of_their_names_on_any_number_of_threads() {
    for threads in ["1", "2", "16"] {
        let ran = sample()
            .run("agents", &["--test-threads", threads])
            .exits(101);
        let (cases, failures) = ran.stdout.split_once("\nfailures:\n").unwrap();
        let lines = cases.lines().filter_map(|line| line.strip_prefix("test "));
        let lines: Vec<&str> = lines.collect();
        assert!(lines.len() == EXPECTED.len() && lines.is_sorted(), "{ran}");
        let texts = failures.lines().filter(|line| line.starts_with("---- "));
        let texts: Vec<&str> = texts.collect();
        assert!(texts.len() > 2 && texts.is_sorted(), "{ran}");
        let (_, list) = failures.rsplit_once("\nfailures:\n").unwrap();
        let list: Vec<&str> = list.lines().take_while(|line| !line.is_empty()).collect();
        assert!(list.len() == texts.len() && list.is_sorted(), "{ran}");
    }
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    for target in ["agents", "macros"] {
        for flags in [&[][..], &["--color", "auto"], &["--color=never"]] {
            let plain = sample().run(target, flags);
            assert!(
                !plain.stdout.contains(ESCAPE) && !plain.stderr.contains(ESCAPE),
                "{plain}"
            );
        }
    }
    let coloured = sample().run("agents", &["--color", "always"]).exits(101);
    let texts: String = coloured.failures().into_values().collect();
    assert!(texts.contains("\u{1b}["), "{coloured}");
    // Without the codes it is the plain text.
    let bare = coloured
        .stdout
        .split("\u{1b}[")
        .enumerate()
        .map(|(index, part)| {
            if index == 0 {
                part
            } else {
                part.split_once('m').unwrap().1
            }
        });
    let plain = sample().run("agents", &[]);
    let mut bare = coloured.with_stdout(bare.collect());
    bare.stderr.clear();
    assert_eq!(bare.failures(), plain.failures());
}

#[test]
fn no_color_does_not_overrule_the_flag() {
    let environment = [("NO_COLOR", "1")];
    let ran = sample().run_in(
        &sample().folder,
        "agents",
        &["--color=always"],
        &environment,
    );
    assert!(ran.stdout.contains(ESCAPE), "{ran}");
}
