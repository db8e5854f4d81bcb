//! An agent whose failed runs make more calls than its passed ones.

use std::fs;

use e2e_support::folder::Folder;
use serde_json::{Value, json};

use super::{good, run_of, shop};

/// An agent whose passed runs take 2 to 4 calls and 1000 + 10·i tokens, and whose failed runs take 9 calls.
pub(crate) fn desk(passed: usize, failed: usize) -> Folder {
    let folder = shop(&good());
    fs::remove_dir_all(folder.at("suites/cassettes")).unwrap();
    for number in 0..passed + failed {
        let good = number < passed;
        let extra = if good { 1 + number % 3 } else { 8 };
        let calls: Vec<(&str, Value)> = (0..extra)
            .map(|call| ("refund", json!({ "order": 7, "part": call, "run": number })))
            .collect();
        let mut run = run_of(&calls);
        run["outcome"]["passed"] = good.into();
        run["trace"]["conversation"]["tokens"] =
            json!({ "prompt": 0, "completion": 1000 + 10 * number, "total": 1000 + 10 * number });
        folder.write(
            &format!(
                "suites/cassettes/Refund_agent__gpt-5/run-{}.json",
                number + 1
            ),
            format!("{run:#}\n"),
        );
    }
    folder.write(
        "suites/refunds.yml",
        suite(passed + failed, "    calls: { max: 20 }  # generous\n"),
    );
    folder
}

pub(crate) fn suite(runs: usize, gates: &str) -> String {
    format!(
        "# refunds\nagents:\n  - name: Refund agent   # ours\n    model: gpt-5\n    prompt: Please refund order 7.\n    runs: {runs}\n{gates}"
    )
}
