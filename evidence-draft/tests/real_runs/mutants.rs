//! The sites of every operator in the passed runs, and in all runs.

use evidence_draft::mutants::{MutantOptions, Operator, Plan, RecordedRun, plan};
use serde_json::Value;

use crate::runs::{Agent, agents, expected};

fn planned(agents: &[Agent], all: bool) -> Plan {
    let runs = agents.iter().flat_map(|agent| {
        agent.runs.iter().zip(1..).map(move |(run, number)| {
            let recorded = RecordedRun::new(&agent.stem, number, run);
            RecordedRun {
                mutate: recorded.mutate || all,
                ..recorded
            }
        })
    });
    plan(&runs.collect::<Vec<_>>(), &MutantOptions::default())
}

fn check(plan: &Plan, expected: &Value) {
    assert_eq!(plan.runs as u64, expected["runs"]);
    let mut wrong = Vec::new();
    for operator in Operator::ALL {
        let (found, row) = (
            plan.sites[&operator],
            &expected["operators"][operator.as_str()],
        );
        for (what, count) in [
            ("sites", found.sites),
            ("harmless", found.harmless),
            ("unclear", found.unclear),
            ("duplicate", found.duplicates),
            ("chosen", found.chosen),
        ] {
            if row[what] != count as u64 {
                wrong.push(format!("{operator} {what}: {count}, not {}", row[what]));
            }
        }
    }
    let harmless: usize = plan.sites.values().map(|sites| sites.chosen_harmless).sum();
    if expected["harmless"]["chosen"] != harmless as u64 {
        wrong.push(format!("harmless: {harmless}"));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

pub(crate) fn the_sites_of_the_passed_runs() {
    check(
        &planned(&agents(), false),
        &expected()["mutants_of_passed_runs"],
    );
}

pub(crate) fn the_sites_of_all_runs() {
    check(
        &planned(&agents(), true),
        &expected()["mutants_of_all_runs"],
    );
}
