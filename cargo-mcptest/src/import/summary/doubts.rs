//! Runs that look bad, as they are told.

use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;

use mcptest_trace::text::{escape_line, pluralize, truncate_middle};
use serde_json::{Value, json};

use crate::import::starter::Suspect;

/// How many lines are shown, and how many runs on each.
const SHOWN: usize = 20;
const RUNS: usize = 3;

/// How much of a name is shown.
const LONGEST: usize = 60;

/// A run that looks bad, and its agent.
pub(in crate::import) type Doubt = (Rc<str>, Suspect);

pub(in crate::import) fn doubt((agent, suspect): &Doubt) -> Value {
    json!({
        "agent": **agent, "model": suspect.model, "run": suspect.number, "reasons": suspect.reasons,
        "set_aside": suspect.aside,
    })
}

/// Names the runs that look bad: those that look the same on one line.
pub(in crate::import) fn doubts(doubts: &[Doubt], out: &mut dyn Write) -> io::Result<()> {
    if doubts.is_empty() {
        return Ok(());
    }
    let mut alike: Vec<(&Suspect, Vec<String>)> = Vec::new();
    let mut places: HashMap<(&[String], bool), usize> = HashMap::new();
    for (agent, suspect) in doubts {
        let name = truncate_middle(&escape_line(agent), LONGEST);
        let run = format!("{name} run-{}", suspect.number);
        let place = places.entry((&suspect.reasons, suspect.aside));
        let place = *place.or_insert(alike.len());
        match alike.get_mut(place) {
            Some((_, runs)) => runs.push(run),
            None => alike.push((suspect, vec![run])),
        }
    }
    for (suspect, runs) in alike.iter().take(SHOWN) {
        let mut who = runs
            .iter()
            .take(RUNS)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        if let Some(more @ 1..) = runs.len().checked_sub(RUNS) {
            who += &format!(" and {}", pluralize(more, "more run"));
        }
        let reasons = suspect.reasons.join("; ");
        let aside = if suspect.aside { " (set aside)" } else { "" };
        writeln!(out, "suspect: {who}: {}{aside}", escape_line(&reasons))?;
    }
    if let Some((_, more @ [_, ..])) = alike.split_at_checked(SHOWN) {
        let more = more.iter().map(|(_, runs)| runs.len()).sum();
        writeln!(out, "suspect: {}", pluralize(more, "more run"))?;
    }
    if doubts.iter().any(|(_, suspect)| suspect.aside) {
        writeln!(
            out,
            "  a run that is set aside is recorded, but the first suite is made only from the other runs"
        )?;
    }
    writeln!(
        out,
        "  no record says which of these runs passed: read the runs, or write `passed` into their records, or name the field \
         that says it with `--score NAME`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(all: &[Doubt]) -> String {
        let mut out = Vec::new();
        doubts(all, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn suspect(agent: &str, number: usize, reason: &str, aside: bool) -> Doubt {
        let suspect = Suspect {
            model: "m".to_owned(),
            number,
            reasons: vec![reason.to_owned()],
            aside,
        };
        (agent.into(), suspect)
    }

    const WAY_OUT: &str = "  no record says which of these runs passed: read the runs, or write `passed` into their records, \
                           or name the field that says it with `--score NAME`\n";

    #[test]
    fn runs_that_look_the_same_are_on_one_line() {
        let idle = "it says nothing at its end";
        let mut all: Vec<Doubt> = (1..6)
            .map(|run| suspect("desk", run, idle, false))
            .collect();
        all.push(suspect("desk", 6, "its last call, `a`, failed", true));
        all.push(suspect("desk", 7, idle, true));
        assert_eq!(
            render(&all),
            format!(
                "suspect: desk run-1, desk run-2, desk run-3 and 2 more runs: it says nothing at its end\n\
                 suspect: desk run-6: its last call, `a`, failed (set aside)\n\
                 suspect: desk run-7: it says nothing at its end (set aside)\n  a run that is set aside is recorded, but the \
                 first suite is made only from the other runs\n{WAY_OUT}"
            )
        );
        assert_eq!(render(&[]), "");
    }

    #[test]
    fn many_reasons_are_counted() {
        let all: Vec<Doubt> = (0..22)
            .map(|run| suspect("desk", run, &format!("{run} of its calls failed"), false))
            .collect();
        let told = render(&all);
        assert_eq!(told.lines().count(), SHOWN + 2, "{told}");
        assert!(
            told.ends_with(&format!("suspect: 2 more runs\n{WAY_OUT}")),
            "{told}"
        );
    }

    #[test]
    fn a_long_name_keeps_its_end() {
        let all = [1, 2].map(|task| {
            let name = format!("{} {task}", "Please refund the order. ".repeat(9));
            suspect(&name, 1, "x", false)
        });
        let told = render(&all);
        assert!(
            told.contains(" 1 run-1, ") && told.contains(" 2 run-1: x\n"),
            "{told}"
        );
    }
}
