//! Results that are committed, of agents without a recording in the commits: each run of them once, with the
//! verdict that it has there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use mcptest::judge::AgentTest;
use mcptest::result::{CaseResult, RunVerdict};

use super::judged::{AgentHistory, JudgedRun, State};

/// A run of results: its digest, and what the gates make of it.
type ResultRun = (String, Option<RunVerdict>);

/// The results of a package while the commits are read.
pub(super) struct ResultsReader<'a> {
    agents: BTreeMap<&'a str, ReportedAgent<'a>>,
    /// The agent's own case of each file that is there.
    owners: BTreeMap<PathBuf, String>,
    /// Each file that was read, by its object; nothing for one that is no result of an agent.
    known: BTreeMap<String, Option<Rc<CaseResult>>>,
}

/// An agent of which results tell.
struct ReportedAgent<'a> {
    test: &'a AgentTest<'a>,
    /// Its cases in the commit that is read, by their files.
    now: BTreeMap<PathBuf, Rc<CaseResult>>,
    /// The place of each run that was told of.
    runs: BTreeMap<ResultRun, usize>,
    has_changed: bool,
    history: AgentHistory,
}

impl<'a> ResultsReader<'a> {
    pub(super) fn new(tests: &'a [AgentTest<'a>]) -> Self {
        let agent = |test: &'a AgentTest<'a>| {
            let told = ReportedAgent {
                test,
                now: BTreeMap::new(),
                runs: BTreeMap::new(),
                has_changed: false,
                history: AgentHistory::new(test),
            };
            (test.case(), told)
        };
        Self {
            agents: tests.iter().map(agent).collect(),
            owners: BTreeMap::new(),
            known: BTreeMap::new(),
        }
    }

    /// Whether a file of these bytes was read before.
    pub(super) fn has_read(&self, object: &str) -> bool {
        self.known.contains_key(object)
    }

    /// Reads the bytes of an object.
    pub(super) fn read(&mut self, object: &str, bytes: &[u8]) {
        let text = str::from_utf8(bytes).ok();
        let case = text.and_then(|text| CaseResult::from_json(text).ok());
        let case = case.filter(|case| case.agent.is_some());
        self.known.insert(object.to_owned(), case.map(Rc::new));
    }

    /// Takes over what a commit has in the place of a file, or that it is gone.
    pub(super) fn change(&mut self, path: &Path, object: Option<&str>) {
        let now = object.and_then(|object| self.known.get(object)?.clone());
        let before = self.owners.remove(path);
        let before = before.and_then(|owner| self.agents.get_mut(owner.as_str()));
        if let Some(agent) = before {
            agent.now.remove(path);
            agent.has_changed = true;
        }
        let owner = now.as_ref().and_then(|case| case.agent.as_ref());
        let agent = owner.and_then(|owner| self.agents.get_mut(owner.case.as_str()));
        if let (Some(agent), Some(case)) = (agent, now) {
            let owner = agent.test.case().to_owned();
            agent.now.insert(path.to_owned(), case);
            agent.has_changed = true;
            self.owners.insert(path.to_owned(), owner);
        }
    }

    /// Keeps what the agents have in a commit, where that is other than before.
    pub(super) fn commit_state(&mut self, commit: usize) {
        for agent in self.agents.values_mut().filter(|agent| agent.has_changed) {
            agent.has_changed = false;
            let files = agent.files();
            agent.history.states.push(State { commit, files });
        }
    }

    /// What results tell of an agent; nothing where they tell nothing.
    pub(super) fn history(&mut self, test: &AgentTest<'_>) -> Option<AgentHistory> {
        let told = self.agents.remove(test.case())?;
        (!told.history.files.is_empty()).then_some(told.history)
    }
}

impl ReportedAgent<'_> {
    /// The places of its runs in the commit that is read, each once however many folders have it.
    fn files(&mut self) -> Vec<usize> {
        let mut folders: BTreeMap<Option<&Path>, Vec<&CaseResult>> = BTreeMap::new();
        for (path, case) in &self.now {
            folders.entry(path.parent()).or_default().push(case);
        }
        let mut found = BTreeSet::new();
        for cases in folders.into_values() {
            let verdicts = run_verdicts(self.test, &cases);
            let own = cases.iter().find(|case| case.case == self.test.case());
            let Some(own) = own else { continue };
            let runs = own.runs.iter().zip(&own.recordings).enumerate();
            for (place, (run, recording)) in runs {
                let verdict = verdicts.as_ref().and_then(|all| all.get(place).copied());
                let next = self.history.files.len();
                let key = (recording.digest.clone(), verdict);
                let file = *self.runs.entry(key).or_insert(next);
                if file == next {
                    let passed = verdict.and_then(RunVerdict::passed);
                    self.history
                        .files
                        .push(vec![JudgedRun::from_result(own, run, passed)]);
                }
                found.insert(file);
            }
        }
        found.into_iter().collect()
    }
}

/// What the gates that judge runs one by one make of each run; nothing where a gate that counts has no result.
fn run_verdicts(test: &AgentTest<'_>, cases: &[&CaseResult]) -> Option<Vec<RunVerdict>> {
    let mut all: Option<Vec<RunVerdict>> = None;
    let mut told = BTreeSet::new();
    for case in cases.iter().filter(|case| !case.run_verdicts.is_empty()) {
        let known = all.unwrap_or_else(|| case.run_verdicts.clone());
        let both = known.iter().zip(&case.run_verdicts);
        all = Some(both.map(|(all, own)| *all.max(own)).collect());
        told.extend(case.gate.as_deref());
    }
    let mut counted = test.agent().gates.iter().filter(|gate| gate.counted);
    all.filter(|_| counted.all(|gate| told.contains(gate.kind.name())))
}
