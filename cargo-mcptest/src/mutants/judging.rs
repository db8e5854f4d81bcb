//! Which gates hold on the recorded runs, and which of them notice that a run is broken.

use std::collections::{BTreeMap, BTreeSet};

use mcptest::judge::{AgentTest, Ask};
use mcptest::result::RunVerdict;
use mcptest::suite::gates::GateKind;
use mcptest::trace::Run;
use mcptest_trace::evidence::mutants::{
    Mutant, MutantOptions, MutantVerdict, Operator, RecordedRun, Sites, plan,
};

use crate::failure::Failure;
use crate::judging::{Filter, OpenPackage, in_parallel};

/// The agents whose runs are broken, with the gates that can notice.
pub(super) struct Bench<'a> {
    pub(super) agents: Vec<TestedAgent<'a>>,
    /// What is red before anything is broken, a line each.
    pub(super) red: Vec<String>,
}

/// An agent with its gates.
pub(super) struct TestedAgent<'a> {
    pub(super) test: AgentTest<'a>,
    pub(super) runs: &'a [Run],
    gates: Vec<BenchGate<'a>>,
}

struct BenchGate<'a> {
    ask: Ask<'a>,
    /// Whether it holds: run by run, or of all runs.
    holds: HeldBefore,
}

enum HeldBefore {
    EachRun(Vec<RunVerdict>),
    Together(bool),
}

/// The mutants of all suites, judged.
pub(super) struct Mutated {
    /// Each with the place of its agent and what the gates made of it.
    pub(super) mutants: Vec<(usize, Mutant, MutantVerdict)>,
    pub(super) sites: BTreeMap<Operator, Sites>,
    /// Runs that were broken.
    pub(super) runs: usize,
}

impl<'a> Bench<'a> {
    pub(super) fn new(opened: &'a OpenPackage, filter: &Filter) -> Result<Self, Failure> {
        let all = opened.suites.agents();
        if all.iter().all(|test| !filter.wants(test.case())) {
            return Err(filter.no_match(all.iter().map(AgentTest::case)));
        }
        let mut bench = Self {
            agents: Vec::new(),
            red: Vec::new(),
        };
        let chosen = all
            .into_iter()
            .filter(|test| filter.wants(test.case()) && test.agent().skip.is_none());
        for test in chosen {
            match test.runs() {
                Ok(runs) => bench.agents.push(TestedAgent::new(test, runs)),
                Err(error) => {
                    let why = error.to_string();
                    let red = format!("{}: {}", test.case(), why.trim_end());
                    bench.red.push(red);
                }
            }
        }
        for tested in &bench.agents {
            bench.red.extend(tested.red_gates());
        }
        Ok(bench)
    }

    /// Breaks the runs, suite by suite, and judges every mutant.
    pub(super) fn judge(&self, options: &MutantOptions) -> Mutated {
        let mut mutated = Mutated {
            mutants: Vec::new(),
            sites: BTreeMap::new(),
            runs: 0,
        };
        let suites: BTreeSet<&str> = self
            .agents
            .iter()
            .map(|agent| agent.test.suite_name())
            .collect();
        for suite in suites {
            self.judge_suite(suite, options, &mut mutated);
        }
        mutated
    }

    fn judge_suite(&self, suite: &str, options: &MutantOptions, mutated: &mut Mutated) {
        let own = || {
            self.agents
                .iter()
                .enumerate()
                .filter(|(_, agent)| agent.test.suite_name() == suite)
        };
        let stems: Vec<(usize, String)> = own()
            .map(|(place, agent)| (place, agent.test.stem()))
            .collect();
        let mut places = Vec::new();
        let mut runs = Vec::new();
        for (place, stem) in &stems {
            for (number, run) in self.agents[*place].runs.iter().enumerate() {
                places.push((*place, number));
                runs.push(RecordedRun::new(stem, number + 1, run));
            }
        }
        let lists = |list: usize| {
            let agents = own();
            agents.flat_map(move |(_, agent)| std::mem::take(&mut agent.test.tool_lists()[list]))
        };
        let options = options
            .clone()
            .with_mutating_tools(lists(0))
            .with_readonly_tools(lists(1));
        let plan = plan(&runs, &options);
        mutated.runs += plan.runs;
        for (operator, sites) in plan.sites {
            let all = mutated.sites.entry(operator).or_default();
            all.sites += sites.sites;
            all.harmless += sites.harmless;
            all.unclear += sites.unclear;
            all.duplicates += sites.duplicates;
            all.chosen += sites.chosen;
            all.chosen_harmless += sites.chosen_harmless;
        }
        // An agent at a time, so that a thread puts each mutant into the runs that it has already.
        let mut by_agent: BTreeMap<usize, Vec<Mutant>> = BTreeMap::new();
        for mutant in plan.mutants {
            by_agent
                .entry(places[mutant.run].0)
                .or_default()
                .push(mutant);
        }
        let by_agent: Vec<(usize, Vec<Mutant>)> = by_agent.into_iter().collect();
        let judged = in_parallel(&by_agent, |(place, mutants)| {
            let runs = mutants.iter().map(|mutant| places[mutant.run].1);
            self.agents[*place].judge(mutants.iter().zip(runs))
        });
        for ((place, mutants), judged) in by_agent.into_iter().zip(judged) {
            let all = mutants.into_iter().zip(judged);
            mutated
                .mutants
                .extend(all.map(|(mutant, judged)| (place, mutant, judged)));
        }
    }

    /// The names of the gates that can notice something, in byte order.
    pub(super) fn gates(&self) -> BTreeSet<&'static str> {
        let gates = self.agents.iter().flat_map(|agent| &agent.gates);
        gates.map(|gate| gate.ask.name()).collect()
    }
}

impl HeldBefore {
    fn judge(ask: &Ask<'_>, runs: &[Run]) -> Self {
        let each: Option<Vec<_>> = runs.iter().map(|run| ask.judge_run(run)).collect();
        match each.filter(|each| !each.is_empty()) {
            // What `reliability` counts is asked of runs alone; a red run says enough.
            Some(each)
                if ask.is_counted() || each.contains(&RunVerdict::Fails) || ask.holds(runs) =>
            {
                Self::EachRun(each)
            }
            // Each run may hold where all of them do not: a fault that fired in none.
            Some(_) => Self::Together(false),
            None => Self::Together(ask.holds(runs)),
        }
    }
}

impl<'a> TestedAgent<'a> {
    fn new(test: AgentTest<'a>, runs: &'a [Run]) -> Self {
        let asks = test
            .asks()
            .into_iter()
            // It notices any change whatsoever, and so says nothing.
            .filter(|ask| ask.gate() != Some(GateKind::Snapshot));
        let gates = asks.map(|ask| BenchGate {
            ask,
            holds: HeldBefore::judge(&ask, runs),
        });
        Self {
            gates: gates.collect(),
            runs,
            test,
        }
    }

    /// Whether the agent declares a gate.
    pub(super) fn has_gate(&self, gate: GateKind) -> bool {
        self.gates.iter().any(|own| own.ask.gate() == Some(gate))
    }

    /// The gates that are red, a line each. What `reliability` counts has no verdict of its own.
    fn red_gates(&self) -> impl Iterator<Item = String> {
        let judging = self.gates.iter().filter(|gate| !gate.ask.is_counted());
        judging.filter_map(|gate| {
            let name = format!("{}::{}", self.test.case(), gate.ask.name());
            match &gate.holds {
                HeldBefore::EachRun(runs) if runs.contains(&RunVerdict::Fails) => {
                    let red: Vec<String> = (1..)
                        .zip(runs)
                        .filter(|(_, verdict)| **verdict == RunVerdict::Fails)
                        .map(|(run, _): (usize, _)| format!("run-{run}"))
                        .collect();
                    Some(format!("{name} on {}", red.join(", ")))
                }
                HeldBefore::Together(false) => Some(name),
                _ => None,
            }
        })
    }

    /// What the gates that hold make of mutants, each with the place of its run.
    fn judge<'m>(&self, mutants: impl Iterator<Item = (&'m Mutant, usize)>) -> Vec<MutantVerdict> {
        let together = self
            .gates
            .iter()
            .any(|gate| matches!(gate.holds, HeldBefore::Together(true)));
        // A gate over all runs sees the mutant in the place of its run.
        let mut runs = if together {
            self.runs.to_vec()
        } else {
            Vec::new()
        };
        let judged = mutants.map(|(mutant, place)| {
            let mut judged = MutantVerdict::default();
            let broken = mutant.apply(&self.runs[place]);
            let mut kills = |gate: &BenchGate<'_>, holds: bool| {
                judged.covered = true;
                if !holds {
                    judged.killed_by.insert(gate.ask.name().to_owned());
                }
            };
            for gate in &self.gates {
                if let HeldBefore::EachRun(held) = &gate.holds
                    && held[place] < RunVerdict::Undecided
                {
                    kills(gate, gate.ask.judge_run(&broken) != Some(RunVerdict::Fails));
                }
            }
            if together {
                let original = std::mem::replace(&mut runs[place], broken);
                for gate in &self.gates {
                    if matches!(gate.holds, HeldBefore::Together(true)) {
                        kills(gate, gate.ask.holds(&runs));
                    }
                }
                runs[place] = original;
            }
            judged
        });
        judged.collect()
    }
}
