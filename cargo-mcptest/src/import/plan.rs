//! The first pass: which runs there are, which agents they belong to, and in which order.

mod building;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use mcptest_trace::record::redact::Redactor;
use serde_json::Value;

use mcptest_import::Digest;
use mcptest_import::FormatKind;
use mcptest_import::GroupBy;
use mcptest_import::Joined;

/// A run that was found.
#[derive(Debug)]
pub(super) struct FoundRun {
    /// What tells it from others.
    pub(super) id: Digest,
    /// Its records.
    candidate: u32,
    /// Which of the runs of these records.
    ordinal: u32,
    /// Which of the runs of its file that have its identifier, from 1, where that is made of their records.
    twin: u32,
    kind: FormatKind,
    order: Option<i64>,
    time: Option<i64>,
}

/// Runs of one agent with one model.
#[derive(Debug)]
pub(super) struct Group {
    /// The agent's name without what tells it from others.
    pub(super) agent: Rc<str>,
    pub(super) model: Rc<str>,
    /// What tells it from other agents of that name: a task, or the beginning of the prompt.
    pub(super) label: String,
    /// What it has besides the model, which other models may share.
    pub(super) subject: Digest,
    /// What recordings are compared with a suite by: model, system prompt, first user text.
    pub(super) asked: Digest,
    /// The runs have one task and prompts of their own.
    pub(super) by_task: bool,
    /// Nothing but the name of their file names their agent.
    pub(super) of_file: bool,
    /// A run of them has an outcome that is not known to be good.
    pub(super) any_failed: bool,
    pub(super) runs: Vec<u32>,
}

/// All runs that an import found, in groups of one agent and model.
#[derive(Debug, Default)]
pub(super) struct ImportPlan {
    pub(super) candidates: Vec<Joined>,
    pub(super) found: Vec<FoundRun>,
    pub(super) groups: Vec<Group>,
    /// Whether any run has the score that is asked for.
    pub(super) is_scored: bool,
    /// What of the grouping that is asked for any run has.
    pub(super) grouped_by: Vec<GroupBy>,
    /// The tools that any run calls.
    pub(super) tools: BTreeSet<Rc<str>>,
    /// Whether tools only read, where any run says so, before or after one calls them.
    pub(super) hints: HashMap<Rc<str>, bool>,
}

impl ImportPlan {
    /// The identifier of a run that was found, from that of its records.
    pub(super) fn id(&self, run: u32, of_records: &str) -> String {
        twin_id(of_records, self.found[run as usize].twin)
    }

    /// The number of the records of a run that was found.
    pub(super) fn run_id(&self, run: u32) -> u32 {
        self.found[run as usize].candidate
    }

    /// The run that was found: its format, its records, and which run of them it is.
    pub(super) fn place(&self, run: u32) -> (FormatKind, &Joined, usize) {
        let found = &self.found[run as usize];
        let joined = &self.candidates[found.candidate as usize];
        (found.kind, joined, found.ordinal as usize)
    }
}

/// What a recording is compared with a suite by.
pub(super) fn prompt_digest(run: &Value, redactor: &Redactor) -> Digest {
    let text = |key: &str| redactor.redact_text(run[key].as_str().unwrap_or_default());
    Digest::from_parts(&[&text("model"), &text("system_prompt"), &text("user_prompt")])
}

/// Whether an identifier is that of another run whose records are the same as those of an earlier one.
pub(super) fn is_twin(id: &str) -> bool {
    let of_records = id.strip_prefix("sha256:");
    let rest = of_records.and_then(|digest| digest.get(16..));
    rest.is_some_and(|rest| rest.starts_with('-'))
}

/// The identifier of one of several runs whose records are the same.
fn twin_id(id: &str, twin: u32) -> String {
    match twin {
        1 => id.to_owned(),
        _ => format!("{id}-{twin}"),
    }
}
