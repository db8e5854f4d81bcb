//! Every row of the table of targets, and the cross-run targets.

use std::fs;

use serde_json::{Value, json};

use crate::data::{airline, answer, edit_suite, expected, mcptest, same};

/// The name of a target in the expected numbers.
fn expected_name(target: &str, warmup: u32) -> String {
    match target {
        "calls.count" => "calls".to_owned(),
        "calls.tokens" => "tokens".to_owned(),
        "calls.steps" => "model_calls".to_owned(),
        "calls.errors" => "error_results".to_owned(),
        "energy.peak_ratio" => format!("energy.peak_ratio(warmup {warmup})"),
        target => target.to_owned(),
    }
}

pub(crate) fn every_target_has_its_power_its_limit_and_its_price() {
    let expected = &expected()["calibrate"]["per_run"];
    let mut seen = 0;
    for warmup in 2..=5 {
        let folder = airline();
        edit_suite(&folder, |suite| {
            suite.replace(
                "  stability: {}\n",
                &format!("  stability: {{}}\n  energy: {{ warmup_turns: {warmup} }}\n"),
            )
        });
        let found = answer(&folder, &["calibrate"], 0);
        assert_eq!(found["suites"][0]["outcome"], "recorded");
        for target in found["suites"][0]["each_run"].as_array().unwrap() {
            let name = expected_name(target["name"].as_str().unwrap(), warmup);
            // All but one are the same whatever the warm-up.
            if let Some(row) = expected
                .get(&name)
                .filter(|_| warmup == 3 || name.contains("warmup"))
            {
                check(&name, target, row);
                seen += 1;
            }
        }
    }
    // The weakest of the four sub-scores of a run is no target of a gate.
    assert_eq!(seen, expected.as_object().unwrap().len() - 1);
}

fn check(name: &str, found: &Value, row: &Value) {
    let power = &found["power"];
    let limit = &found["limit"];
    for (what, found, wanted) in [
        ("A", &power["over"]["area"], &row["auc"]),
        ("A, low", &power["over"]["interval"][0], &row["auc_ci"][0]),
        ("A, high", &power["over"]["interval"][1], &row["auc_ci"][1]),
        ("A_in", &power["within"]["area"], &row["within_auc"]),
        ("p", &power["within"]["p"], &row["within_p"]),
        ("limit", &limit["value"], &row["threshold"]),
        ("promised", &limit["promised"], &row["promised_share"]),
        (
            "confident",
            &limit["confident"],
            &row["share_with_95_confidence"],
        ),
        (
            "new agents",
            &limit["new_agents"],
            &row["threshold_for_new_agents"],
        ),
    ] {
        same(&format!("{name}: {what}"), found, wanted);
    }
    let check = &found["check"]["tally"];
    for (what, found, wanted) in [
        ("k", &limit["k"], &row["k"]),
        ("passed", &found["passed"], &row["passed"]),
        (
            "without a value",
            &found["without_value"],
            &row["without_value"],
        ),
        (
            "false alarms",
            &check["false_alarms"],
            &row["loo_false_alarms"],
        ),
        ("catches", &check["catches"], &row["loo_catches"]),
    ] {
        assert_eq!(found, wanted, "{name}: {what}");
    }
    let verdict = row["verdict"].as_str().unwrap().replace(' ', "_");
    assert_eq!(power["verdict"], verdict.as_str(), "{name}");
}

pub(crate) fn cross_run_targets_have_no_power() {
    let found = answer(&airline(), &["calibrate"], 0);
    let together = found["suites"][0]["together"].as_array().unwrap();
    let expected = &expected()["calibrate"]["across_runs"];
    let mut seen = 0;
    for (name, wanted) in expected.as_object().unwrap() {
        let wanted_name = format!("stability.{}", name.trim_start_matches("stability."));
        let Some(target) = together
            .iter()
            .find(|target| target["name"] == wanted_name.as_str())
        else {
            continue;
        };
        seen += 1;
        assert_eq!(target["verdict"], "no_power", "{name}");
        same(
            name,
            &target["power"]["concordance"],
            &wanted["concordance"],
        );
        // In the expected numbers the means of this target differ in their last bits where they are equal,
        // which breaks ties; these ends are those of exact fractions.
        let exact = json!([0.327_685_684, 0.675_429_581]);
        let ends = match name.as_str() {
            "stability.argument_consistency" => &exact,
            _ => &wanted["ci"],
        };
        for end in 0..2 {
            same(name, &target["power"]["interval"][end], &ends[end]);
        }
        // A flag is measured, and has no limit.
        if name != "stability.early_divergence" {
            same(name, &target["limit"]["value"], &wanted["threshold"]);
        }
    }
    assert!(seen >= 6, "{expected:#}");
    let said = mcptest(&airline(), &["calibrate"]).exits(0);
    assert!(
        said.stdout.ends_with("no target separates passed runs from failed runs of the same agent here: write gates that check calls, arguments and results\n\n"),
        "{said}"
    );
}

pub(crate) fn thresholds_are_written_once() {
    let folder = airline();
    edit_suite(&folder, |suite| {
        suite.replace("  stability: {}\n", "  energy: {}\n")
    });
    let before = fs::read_to_string(folder.at("suites/airline.yml")).unwrap();
    mcptest(&folder, &["calibrate", "--write"]).exits(0);
    let after = fs::read_to_string(folder.at("suites/airline.yml")).unwrap();
    let block = "  \
  # calibrated on 36 passed runs of 18 agents: 97.3% of passing runs promised (92.0% with 95% confidence);
  # leave-one-agent-out 1 of 36 false alarms, 17 of 84 failed runs caught; tells agents apart only (A_in 0.48, p 0.91)
  energy: { expect: [{ target: energy.peak_ratio, matcher: { max: 2.7198 } }] }
";
    assert!(after.contains(block.trim_start()), "{after}");
    // What was there is there, in its order.
    let mut lines = after.lines();
    for line in before.lines().filter(|line| !line.contains("energy: {}")) {
        assert!(lines.any(|other| other == line), "{line}");
    }
    mcptest(&folder, &["calibrate", "--write"]).exits(0);
    assert_eq!(
        fs::read_to_string(folder.at("suites/airline.yml")).unwrap(),
        after
    );
}
