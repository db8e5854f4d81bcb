//! A result as data, held against the schema that other programs read.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::fs;
use std::path::Path;

use mcptest::judge::{Ask, Package, PackageCase};
use mcptest::result::{CaseResult, CaseStatus, RESULTS_SCHEMA, RunVerdict};
use serde_json::{Value, json};

/// A package with an agent that closes with a refund it never made, and another that is fine.
fn package() -> (tempfile::TempDir, Package) {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "suites/shop.yml",
        r"
agents:
  - name: Refund agent
    model: m
    prompt: Refund order 7.
    runs: 2
    expect:
      - target: final_response
        matcher: { contains: order }
    calls:
      max: 5
      expect:
        - target: calls.count
          matcher: { between: [1, 4] }
    narrative: {}
    stability: {}
  - name: Skipped
    model: m
    prompt: p
    skip: not now
    expect: [{ target: final_response, matcher: { contains: x } }]
",
    );
    write("suites/broken.yml", "agents: [{ nam: x }]\n");
    for run in 1..=2 {
        let trace = json!({
            "tool_calls": [{ "name": "get_order", "args": { "id": run } }],
            "tool_results": [{ "call_index": 0, "is_error": false, "result": "sent" }],
            "final_response": "I have refunded order 7.",
            "conversation": { "tokens": { "total": 100 }, "stop_reason": "completed" },
        });
        let cassette = json!({
            "schema_version": "v1", "agent_name": "Refund agent", "model": "m",
            "user_prompt": "Refund order 7.", "trace": trace,
        });
        let path = format!("suites/cassettes/Refund_agent__m/run-{run}.json");
        write(&path, &cassette.to_string());
    }
    let package = Package::open(folder.path(), "shop", &["suites".into()]);
    (folder, package)
}

fn results(package: &Package) -> Vec<CaseResult> {
    let failures = package.failures().iter();
    let failures = failures.map(|failure| failure.result(package.name()));
    failures
        .chain(package.cases().iter().map(PackageCase::judge))
        .collect()
}

fn find_result<'r>(results: &'r [CaseResult], case: &str) -> &'r CaseResult {
    results.iter().find(|result| result.case == case).unwrap()
}

#[test]
fn every_result_fits_the_schema_and_comes_back() {
    let schema: Value = serde_json::from_str(RESULTS_SCHEMA).unwrap();
    let schema = jsonschema::options().offline().build(&schema).unwrap();
    let (_folder, package) = package();
    let results = results(&package);
    assert_eq!(results.len(), 6);
    for result in results {
        let text = result.to_json();
        let value: Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> = schema
            .iter_errors(&value)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}", result.case);
        assert_eq!(CaseResult::from_json(&text).unwrap(), result);
    }
}

#[test]
fn a_result_says_what_was_computed_asked_and_found() {
    let (folder, package) = package();
    let results = results(&package);

    let calls = find_result(&results, "shop::refund_agent::calls");
    assert_eq!(calls.status, CaseStatus::Passed);
    let count = &calls.targets[0];
    assert_eq!(
        (count.name.as_str(), &count.per_run),
        ("calls.count", &vec![json!(1), json!(1)])
    );
    let bound = &count.bounds[0];
    assert_eq!(
        (bound.minimum, bound.maximum, bound.margin),
        (Some(1.0), Some(4.0), Some(0.0))
    );
    assert!(bound.holds && !bound.default && bound.line == Some(13));
    assert_eq!(calls.recordings.len(), 2);
    assert_eq!(
        calls.recordings[1].path,
        "suites/cassettes/Refund_agent__m/run-2.json"
    );
    assert_eq!(calls.recordings[1].digest.len(), 16);

    let narrative = find_result(&results, "shop::refund_agent::narrative");
    assert_eq!(narrative.status, CaseStatus::Failed);
    assert_eq!(narrative.run_verdicts, [RunVerdict::Fails; 2]);
    assert_eq!(narrative.judged["claims"], 2);
    let mut targets = narrative.targets.iter();
    let absent = targets
        .find(|target| target.name == "narrative.claimed_but_absent")
        .unwrap();
    assert!(absent.bounds[0].default && !absent.bounds[0].holds);
    assert_eq!(absent.bounds[0].margin, Some(-1.0));
    let failure = narrative.failure.as_ref().unwrap();
    assert!(
        failure.text.contains("I have refunded order 7."),
        "{}",
        failure.text
    );
    assert_eq!(failure.findings[0].place.unwrap().line, 15);

    let own = find_result(&results, "shop::refund_agent");
    assert_eq!(own.targets[0].name, "final_response");
    assert_eq!(own.runs.len(), 2);
    assert_eq!(own.prompts[&own.runs[0].prompt], "Refund order 7.");
    assert_ne!(own.runs[0].calls, own.runs[1].calls);

    let skipped = find_result(&results, "shop::skipped");
    assert_eq!(skipped.reason.as_deref(), Some("skipped: not now"));
    let broken = find_result(&results, "broken::load");
    assert!(
        broken
            .failure
            .as_ref()
            .unwrap()
            .text
            .contains("unknown key `nam`")
    );
    drop(folder);
}

#[test]
fn what_is_asked_can_be_asked_of_other_runs() {
    let (folder, package) = package();
    let agents = package.agents();
    let agent = agents
        .iter()
        .find(|agent| agent.case() == "shop::refund_agent")
        .unwrap();
    assert_eq!(agent.stem(), "Refund_agent__m");
    let asks = agent.asks();
    let names: Vec<_> = asks.iter().map(Ask::name).collect();
    assert_eq!(names, ["expect", "calls", "narrative", "stability"]);
    let mut run = agent.runs().unwrap()[0].clone();
    assert_eq!(asks[2].judge_run(&run), Some(RunVerdict::Fails));
    run.trace.final_response = Some("Nothing was done.".to_owned());
    assert_eq!(asks[2].judge_run(&run), Some(RunVerdict::Holds));
    assert_eq!(asks[3].judge_run(&run), None);

    let copy = tempfile::tempdir().unwrap();
    assert_eq!(
        agent.runs_in(copy.path()).unwrap().map(|runs| runs.len()),
        None
    );
    fs::create_dir(copy.path().join("Refund_agent__m")).unwrap();
    let one = "Refund_agent__m/run-1.json";
    fs::copy(
        folder.path().join("suites/cassettes").join(one),
        copy.path().join(one),
    )
    .unwrap();
    let there = |folder: &Path| agent.runs_in(folder).unwrap().map(|runs| runs.len());
    assert_eq!(there(copy.path()), Some(1));
    assert_eq!(there(folder.path()), Some(2));
}
