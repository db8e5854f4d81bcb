//! Which mutants are judged, and what they come to.

use super::*;

#[test]
fn an_agent_with_one_tool_takes_another_of_the_suite() {
    let lone = recorded(&[("cancel_order", json!({}), "ok")]);
    assert!(mutants_of(&lone, Operator::ReplaceTool).is_empty());
    let other = desk();
    let runs = [
        RecordedRun::new("lone", 1, &lone),
        RecordedRun {
            mutate: false,
            ..RecordedRun::new("desk", 1, &other)
        },
    ];
    let plan = plan(&runs, &MutantOptions::default());
    let replaced = plan
        .mutants
        .iter()
        .find(|mutant| mutant.operator == Operator::ReplaceTool);
    assert_eq!(
        replaced.unwrap().line(),
        "lone run-1 replace_tool call 1 cancel_order → find_customer"
    );
    assert_eq!(plan.runs, 1);
}

#[test]
fn what_is_the_same_run_twice_is_judged_once() {
    // Acting first and swapping the first two calls are one here.
    let run = recorded(&[
        ("get_order", json!({}), "none"),
        ("cancel_order", json!({}), "ok"),
    ]);
    let runs = [RecordedRun::new("desk", 1, &run)];
    let plan = plan(&runs, &MutantOptions::default());
    assert_eq!(plan.sites[&Operator::ActFirst].duplicates, 1);
    assert_eq!(plan.sites[&Operator::SwapCalls].duplicates, 0);
}

#[test]
fn lists_of_tools_are_stronger_than_names() {
    let run = desk();
    let runs = [RecordedRun::new("desk", 1, &run)];
    let options = MutantOptions {
        readonly_tools: ["send_mail".to_owned(), "get_order".to_owned()].into(),
        mutating_tools: ["get_order".to_owned(), "find_customer".to_owned()].into(),
        ..MutantOptions::default()
    };
    let plan = plan(&runs, &options);
    assert_eq!(plan.sites[&Operator::RepeatRead].sites, 2);
    let writes = plan
        .mutants
        .iter()
        .filter(|mutant| mutant.operator == Operator::RepeatWrite);
    let writes: Vec<_> = writes
        .map(|mutant| mutant.call.clone().unwrap().1)
        .collect();
    assert_eq!(writes, ["find_customer", "cancel_order"]);
}

#[test]
fn shards_are_disjoint_and_together_everything() {
    let run = desk();
    let runs = [RecordedRun::new("desk", 1, &run)];
    let lines = |shard| {
        let options = MutantOptions {
            shard,
            ..MutantOptions::default()
        };
        let plan = plan(&runs, &options);
        plan.mutants.iter().map(Mutant::line).collect::<Vec<_>>()
    };
    let mut together: Vec<String> = (0..3).flat_map(|part| lines(Some((part, 3)))).collect();
    let mut whole = lines(None);
    together.sort();
    whole.sort();
    assert_eq!(together, whole);
}

#[test]
fn hostile_names_stay_on_one_line() {
    let run = recorded(&[("get\u{1b}[2Jx", json!({ "a": "b\nc" }), "none")]);
    assert!(
        all(&run)
            .iter()
            .all(|mutant| !mutant.line().contains(['\n', '\u{1b}']))
    );
}

#[test]
fn a_score_is_the_mean_over_ways_of_breaking() {
    let run = desk();
    let mutants = all(&run);
    let judged: Vec<MutantVerdict> = mutants
        .iter()
        .map(|mutant| {
            let killed = matches!(mutant.operator, Operator::StopReason | Operator::GrowTokens)
                || mutant.call.as_ref().is_some_and(|(call, _)| *call == 2);
            MutantVerdict {
                covered: true,
                killed_by: killed.then(|| "gate".to_owned()).into_iter().collect(),
            }
        })
        .collect();
    let scores = score(mutants.iter().zip(&judged));
    assert_eq!(
        scores.operators[&Operator::StopReason].counted,
        Count {
            killed: 1,
            mutants: 1
        }
    );
    assert_eq!(scores.operators[&Operator::StopReason].only_by["gate"], 1);
    assert_eq!(scores.waste.score, Some(1.0 / 3.0));
    assert_eq!(
        scores.waste.count,
        Count {
            killed: 1,
            mutants: 4
        }
    );
    assert_eq!(
        (scores.harm, scores.brittle.share()),
        (scores.harm_covered, None)
    );
    assert_eq!(score(std::iter::empty()).harm.score, None);
}

fn calls() -> impl Strategy<Value = Vec<(&'static str, Value, &'static str)>> {
    let names = prop::sample::select(vec!["get_order", "find", "cancel_order", "send_mail"]);
    let args = prop::sample::select(vec![
        json!({}),
        json!({ "order": "A0001" }),
        json!({ "b": [1, { "c": null, "d": false }], "a": "two words or more" }),
    ]);
    let results = prop::sample::select(vec!["ok", "C1234 found", "Error: no"]);
    prop::collection::vec((names, args, results), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_mutant_could_have_been_recorded_and_is_another_run(calls in calls()) {
        let run = recorded(&calls);
        for mutant in all(&run) {
            let broken = mutant.apply(&run);
            // A part that is asked for alone is that of the whole.
            for key in ["tool_calls", "tool_results", "final_response", "conversation", "tool_names", "truncated"] {
                let along = mutant.apply(&run);
                let along = along.envelope_for(&[PathKeys::new(vec![key], None)]);
                prop_assert_eq!(along.get(key), broken.envelope().get(key), "{} {}", mutant.line(), key);
            }
            let (trace, problems) = Trace::check_envelope(broken.envelope());
            prop_assert!(problems.is_empty(), "{}: {:?}", mutant.line(), problems);
            prop_assert_eq!(&trace, &broken.trace, "{}", mutant.line());
            prop_assert_eq!(&trace, &mutant.trace(&run.trace));
            let other = trace != run.trace || broken.envelope() != run.envelope();
            prop_assert!(other, "{}", mutant.line());
            // The k-th turn of a call says what the k-th call is.
            let turns = trace.conversation.turns.iter().filter(|turn| turn.is_tool_use());
            let said: Vec<&str> = turns.map(|turn| turn.content.as_str()).collect();
            prop_assert_eq!(said.len(), trace.tool_calls.len());
            for (said, call) in said.iter().zip(&trace.tool_calls) {
                let told = said.strip_prefix(&*format!("tool_use desk::{} with ", call.name));
                let args: Option<Value> = told.and_then(|args| serde_json::from_str(args).ok());
                prop_assert_eq!(args.as_ref(), Some(&*call.args), "{}", said);
            }
        }
    }

    #[test]
    fn another_run_changes_no_choice_of_this_one(calls in calls(), others in calls()) {
        let (run, other) = (recorded(&calls), recorded(&others));
        let lines = |runs: &[RecordedRun<'_>]| {
            let mutants = plan(runs, &MutantOptions::default()).mutants.into_iter();
            let own = mutants.filter(|mutant| mutant.agent == "desk");
            // Which tools the suite has is the suite's, not the run's.
            let own = own.filter(|mutant| !matches!(mutant.operator, Operator::FalseClaim | Operator::ReplaceTool));
            own.map(|mutant| mutant.line()).collect::<Vec<_>>()
        };
        let alone = lines(&[RecordedRun::new("desk", 1, &run)]);
        let beside = lines(&[RecordedRun::new("a", 1, &other), RecordedRun::new("desk", 1, &run)]);
        prop_assert_eq!(alone, beside);
    }
}
