//! Would a suite notice a broken agent? Recorded runs, each broken in one way.
//!
//! As mutation testing does for programs, only that the "program" is the recorded behaviour: no build,
//! and judging is a function call. What is made here: where a run can be broken, whether that makes it
//! worse ([`MutantLabel`]), which mutants are judged ([`plan`]), and each mutant as a run ([`Mutant::apply`]).
//! Judging is the caller's; [`score()`] counts what it found.
//!
//! The choice is deterministic, and another agent, run or operator changes no other choice.
//!
//! ```
//! use mcptest_trace::evidence::mutants::{MutantOptions, Operator, RecordedRun, plan};
//! use mcptest_trace::trace::{Origin, parse_run};
//!
//! let cassette = br#"{ "schema_version": "v1", "model": "m", "user_prompt": "Cancel it.",
//!     "trace": { "tool_calls": [{ "name": "cancel_order", "args": { "order": "A17" } }],
//!                "tool_results": [{ "call_index": 0, "is_error": false, "result": "done" }],
//!                "final_response": "Cancelled." } }"#;
//! let origin = Origin::file("run-1.json");
//! let run = parse_run(cassette, &origin).unwrap();
//! let runs = [RecordedRun::new("desk", 1, &run)];
//!
//! let plan = plan(&runs, &MutantOptions::default());
//! let mutant = plan.mutants.iter().find(|mutant| mutant.operator == Operator::ChangeIdentifier).unwrap();
//! assert_eq!(mutant.line(), "desk run-1 change_identifier call 1 cancel_order args.order A17 → A18");
//! assert_eq!(mutant.apply(&run).trace.tool_calls[0].args["order"], "A18");
//! ```

mod change;
mod fingerprint;
mod knowledge;
mod leaves;
mod operator;
mod recorded;
mod score;
mod sites;
#[cfg(test)]
mod tests;
mod turns;
mod typed;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use crate::text::escape_line;
use crate::trace::{ReadOnlyTools, Run, Trace};
use serde::Serialize;

use crate::setters::{setters, texts};
use crate::stats::random::Stream;
use change::Change;
use fingerprint::Fingerprints;
use sites::Site;

pub use operator::{Operator, OperatorKind};
pub use score::{Count, MeanScore, MutantVerdict, MutationScores, OperatorScore, score};
pub use sites::MutantLabel;

/// A recorded run of a suite.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RecordedRun<'a> {
    /// The stem of the agent's recordings.
    pub agent: &'a str,
    /// The number of the run, from 1.
    pub number: usize,
    /// The run.
    pub run: &'a Run,
    /// Whether it is broken; other runs only tell which tools the suite has.
    pub mutate: bool,
}

impl<'a> RecordedRun<'a> {
    /// A run that is broken unless its outcome is failed.
    #[must_use]
    pub fn new(agent: &'a str, number: usize, run: &'a Run) -> Self {
        let failed = run.outcome.and_then(|outcome| outcome.passed) == Some(false);
        Self {
            agent,
            number,
            run,
            mutate: !failed,
        }
    }
}

/// Which mutants are made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MutantOptions {
    /// At most so many of a run, an operator and a label; `None` for all.
    pub per_operator: Option<usize>,
    /// Part `k` of `n` alone, k from 0: every chosen mutant j with j mod n = k.
    pub shard: Option<(usize, usize)>,
    /// Tools that only read, whatever their names say.
    pub readonly_tools: BTreeSet<String>,
    /// Tools that change something, whatever their names say; the other list is stronger.
    pub mutating_tools: BTreeSet<String>,
    /// The seed of the choice.
    pub seed: u64,
}

impl Default for MutantOptions {
    fn default() -> Self {
        Self {
            per_operator: Some(3),
            shard: None,
            readonly_tools: BTreeSet::new(),
            mutating_tools: BTreeSet::new(),
            seed: 0,
        }
    }
}

setters! {
    MutantOptions {
        with_per_operator(per_operator: Option<usize>);
        with_readonly_tools(readonly_tools: impl IntoIterator<Item = impl Into<String>>) => texts(readonly_tools);
        with_mutating_tools(mutating_tools: impl IntoIterator<Item = impl Into<String>>) => texts(mutating_tools);
        with_seed(seed: u64);
    }
}

/// The tools of a suite: in any recorded run of it.
struct Tools<'a> {
    names: BTreeSet<&'a str>,
    read_only: ReadOnlyTools,
    options: &'a MutantOptions,
}

/// How many sites an operator has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Sites {
    /// All sites.
    pub sites: usize,
    /// Of these, harmless ones.
    pub harmless: usize,
    /// Of these, unclear ones.
    pub unclear: usize,
    /// Of these, the same run as the original or an earlier mutant.
    pub duplicates: usize,
    /// Counted mutants that are judged.
    pub chosen: usize,
    /// Harmless mutants that are judged.
    pub chosen_harmless: usize,
}

/// The mutants that are to be judged.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MutantPlan {
    /// The mutants, run by run, in the order of their sites.
    pub mutants: Vec<Mutant>,
    /// How many sites each operator has.
    pub sites: BTreeMap<Operator, Sites>,
    /// Runs that are broken.
    pub runs: usize,
}

/// A run, broken in one way.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Mutant {
    /// The place of its run among the runs of the plan.
    pub run: usize,
    /// The stem of the agent's recordings.
    pub agent: String,
    /// The number of the run, from 1.
    pub number: usize,
    /// How it is broken.
    pub operator: Operator,
    /// Counted or harmless.
    pub label: MutantLabel,
    /// The call that is broken, from 0, with its tool.
    pub call: Option<(usize, String)>,
    /// What is changed, in words.
    pub what: String,
    change: Change,
}

impl Mutant {
    /// What the broken run did, for metrics that look at nothing else: a fraction of the time of
    /// [`Mutant::apply`]. `trace` is of the run that it was made from.
    #[must_use]
    pub fn trace(&self, trace: &Trace) -> Trace {
        typed::changed_trace(trace, &self.change).0
    }

    /// The broken run; `run` is the one that it was made from. The envelope that target paths start from
    /// is made when it is first looked at.
    #[must_use]
    pub fn apply(&self, run: &Run) -> Run {
        let (trace, from) = typed::changed_trace(&run.trace, &self.change);
        run.changed(trace, recorded::changed_envelope(run, &self.change, from))
    }

    /// The mutant on one line: agent, run, operator, call (from 1) and what is changed.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} {}", escape_line(&self.agent), self.describe())
    }

    /// The mutant on one line, without its agent.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut line = format!("run-{} {}", self.number, self.operator);
        if let Some((call, tool)) = &self.call {
            line.push_str(&format!(" call {} {tool}", call + 1));
        }
        if !self.what.is_empty() {
            line.push_str(&format!(" {}", self.what));
        }
        escape_line(&line).into_owned()
    }
}

/// Plans the mutants of these runs. Duplicates are left out first, unclear ones are counted alone.
#[must_use]
pub fn plan(runs: &[RecordedRun<'_>], options: &MutantOptions) -> MutantPlan {
    let calls = runs
        .iter()
        .flat_map(|recorded| &recorded.run.trace.tool_calls);
    let offered = runs
        .iter()
        .flat_map(|recorded| recorded.run.tools.as_deref().unwrap_or_default());
    let tools = Tools {
        names: calls.map(|call| call.name.as_str()).collect(),
        read_only: ReadOnlyTools::new(offered, &options.mutating_tools, &options.readonly_tools),
        options,
    };
    let mut plan = MutantPlan {
        mutants: Vec::new(),
        sites: BTreeMap::new(),
        runs: runs.iter().filter(|recorded| recorded.mutate).count(),
    };
    for &operator in Operator::ALL {
        plan.sites.insert(operator, Sites::default());
    }
    for (place, recorded) in runs
        .iter()
        .enumerate()
        .filter(|(_, recorded)| recorded.mutate)
    {
        plan_run(place, recorded, &tools, &mut plan);
    }
    if let Some((part, parts)) = options.shard {
        let mut next = 0..;
        plan.mutants.retain(|_| {
            let place = next.next().unwrap_or_default();
            parts > 0 && place % parts == part
        });
    }
    plan
}

fn plan_run(place: usize, recorded: &RecordedRun<'_>, tools: &Tools<'_>, plan: &mut MutantPlan) {
    let run = recorded.run;
    let mut seen = Fingerprints::new(run);
    let mut groups: BTreeMap<(Operator, MutantLabel), Vec<usize>> = BTreeMap::new();
    let sites = sites::find_sites(run, tools);
    for (index, site) in sites.iter().enumerate() {
        let counts = plan.sites.entry(site.operator).or_default();
        counts.sites += 1;
        match site.label {
            MutantLabel::Counted => {}
            MutantLabel::Harmless => counts.harmless += 1,
            MutantLabel::Unclear => counts.unclear += 1,
        }
        if !seen.is_new(&site.change) {
            counts.duplicates += 1;
        } else if site.label != MutantLabel::Unclear {
            groups
                .entry((site.operator, site.label))
                .or_default()
                .push(index);
        }
    }
    let mut chosen = BTreeSet::new();
    for ((operator, label), group) in groups {
        let harmless = label == MutantLabel::Harmless;
        let suffix = if harmless { "/harmless" } else { "" };
        let name = format!(
            "mutants/{}/run-{}/{operator}{suffix}",
            recorded.agent, recorded.number
        );
        let wanted = tools.options.per_operator.unwrap_or(group.len());
        let picked = Stream::new(&name, tools.options.seed).choose(wanted, group.len());
        let counts = plan.sites.entry(operator).or_default();
        if harmless {
            counts.chosen_harmless += picked.len();
        } else {
            counts.chosen += picked.len();
        }
        chosen.extend(picked.into_iter().map(|pick| group[pick]));
    }
    let kept = sites
        .into_iter()
        .enumerate()
        .filter(|(index, _)| chosen.contains(index));
    plan.mutants
        .extend(kept.map(|(_, site)| mutant(place, recorded, site)));
}

fn mutant(place: usize, recorded: &RecordedRun<'_>, site: Site) -> Mutant {
    let calls = &recorded.run.trace.tool_calls;
    Mutant {
        run: place,
        agent: recorded.agent.to_owned(),
        number: recorded.number,
        operator: site.operator,
        label: site.label,
        call: site.call.map(|call| (call, calls[call].name.clone())),
        what: site.what,
        change: site.change,
    }
}
