//! Runs of a real agent under other numbers.

use std::fs;

use e2e_support::folder::Folder;
use serde_json::{Value, json};
use similar::TextDiff;

use crate::data::{airline, answer, mcptest};

/// Gives two runs of each agent the number of the other.
fn swap(folder: &Folder, below: &str, numbers: [usize; 2]) {
    for agent in fs::read_dir(folder.at(below)).unwrap() {
        let agent = agent.unwrap().path();
        let [one, other] = numbers.map(|number| agent.join(format!("run-{number}.json")));
        let between = agent.join("between");
        fs::rename(&one, &between).unwrap();
        fs::rename(&other, &one).unwrap();
        fs::rename(&between, &other).unwrap();
    }
}

/// The values of each run, sorted.
fn unordered(mut found: Value) -> Value {
    for suite in found["suites"].as_array_mut().unwrap() {
        for target in suite["each_run"].as_array_mut().unwrap() {
            let agents = target["values"].as_object_mut().unwrap().values_mut();
            for values in agents {
                values
                    .as_array_mut()
                    .unwrap()
                    .sort_by_key(ToString::to_string);
            }
        }
    }
    found
}

pub(crate) fn thresholds_rest_on_no_number_of_a_run() {
    let folder = airline();
    let calibrated = |folder: &Folder| unordered(answer(folder, &["calibrate"], 0));
    let there = calibrated(&folder);
    swap(&folder, "cassettes/airline", [1, 4]);
    swap(&folder, "cassettes/airline", [2, 3]);
    swap(&folder, "cassettes/airline", [1, 2]);
    assert_eq!(there, calibrated(&folder));
}

pub(crate) fn mutants_rest_on_no_number_of_a_run() {
    let folder = airline();
    let counted = |folder: &Folder| {
        let mut found = answer(
            folder,
            &["mutants", "airline_task_0", "--only-green", "--all"],
            0,
        );
        found.as_object_mut().unwrap().remove("mutants").unwrap();
        for red in found["red_before"].as_array_mut().unwrap() {
            // How many runs are red, and not which.
            let text = red.as_str().unwrap();
            let (gate, runs) = text.split_once(" on ").unwrap_or((text, ""));
            *red = json!([gate, runs.split(", ").count()]);
        }
        found
    };
    let there = counted(&folder);
    swap(&folder, "cassettes/airline", [1, 3]);
    let here = counted(&folder);
    let (there, here) = (format!("{there:#}"), format!("{here:#}"));
    let diff = TextDiff::from_lines(&there, &here);
    assert!(there == here, "{}", diff.unified_diff());
}

/// The p of the behaviour of all agents together is drawn in the order of the runs, and is left out.
pub(crate) fn a_comparison_rests_on_no_number_of_a_run() {
    let folder = super::compare::halves();
    let compared = |folder: &Folder| {
        let mut found = answer(folder, &["compare", "first", "last"], 0);
        found["suite"]["behaviour"]["tools"]["p"] = Value::Null;
        let text = mcptest(folder, &["compare", "first", "last", "--all"])
            .exits(0)
            .stdout;
        let agents = text
            .lines()
            .filter(|line| line.starts_with("Airline task "));
        (found, agents.map(str::to_owned).collect::<Vec<_>>())
    };
    let there = compared(&folder);
    assert_eq!(there.1.len(), 30);
    swap(&folder, "first/cassettes/airline", [1, 2]);
    assert_eq!(there, compared(&folder));
}
