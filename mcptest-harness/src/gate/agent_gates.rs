//! What an agent is asked, read and compiled while its suite loads.

use std::iter;
use std::path::Path;

use mcptest_suite::model::{GateKind, Suite};
use mcptest_suite::read::{DeclaredAgent, GateReader, Problems};
use mcptest_suite::{Diagnostic, Entry, LoadError, Source, Span, Spanned};
use regex::Regex;

use super::block::Block;
use super::each_run::EachRunCriterion;
use super::energy::{self, Energy};
use super::known_tools::{NamedTools, UnknownTools, note_unknown_errors};
use super::missing_data::{note_calls_in_text, note_no_results};
use super::own_code_notes::{
    judges_arguments, note_attempts, note_other_arguments, note_text_agents,
};
use super::recovery::Recovery;
use super::reliability::Reliability;
use super::sub_agent::SubAgent;
use super::table::{GateEntry, find_entry};
use super::targets;
use super::trajectory::Plan;
use super::{Breach, Criterion, Input, Judgement, RunVerdict};
use crate::check::{Check, Compiler};
use crate::energy::Analysis;
use crate::eval::{Fault, FaultPlan, GoldenPath, NarrativeOptions, PlaybackOptions};
use crate::render::Evidence;
use crate::trace::Run;
use mcptest_trace::text::lookalike_pairs;

/// A gate of an agent, ready to judge.
#[derive(Debug)]
pub(crate) struct CompiledGate {
    pub(crate) kind: GateKind,
    /// Where its key stands.
    pub(crate) span: Span,
    /// What must hold of its targets; empty for its default.
    pub(crate) expect: Vec<Check>,
    /// The sub-agent whose calls alone are judged.
    agent: Option<SubAgent>,
    /// The tools that its options name.
    tools: NamedTools,
    /// Its options, which say nothing of what makes their verdict worthless.
    pub(super) gate: Box<dyn Criterion>,
}

impl CompiledGate {
    /// The gate `playback` with its default, of an agent whose suite does not ask for it.
    pub(crate) fn playback(span: Span) -> Self {
        Self {
            kind: GateKind::Playback,
            span,
            expect: Vec::new(),
            agent: None,
            tools: NamedTools::default(),
            gate: Box::new(EachRunCriterion {
                gate: PlaybackOptions::suite_default(),
                limits: Vec::new(),
            }),
        }
    }

    /// Judges the runs. It fails where it, or a gate that it counts, names tools that nobody knows.
    pub(crate) fn judge(&self, input: &Input<'_>) -> Judgement {
        let mut judgement = self.on_sub_agent(input, |input| self.gate.judge(input));
        let mut unknown = Vec::new();
        let mut rests_on_errors = false;
        for gate in self.with_counted(input.gates) {
            unknown.extend(gate.unknown_tools(input).map(|tools| tools.finding()));
            let options = gate.gate.options().downcast_ref::<PlaybackOptions>();
            let run = options.and_then(|options| {
                let at = (gate.kind, gate.span);
                UnknownTools::find_for_playback(at, options, input.runs, input.known_tools())
            });
            unknown.extend(run.map(|tools| tools.finding()));
            if let Some(agent) = &gate.agent {
                unknown.extend(agent.missing_finding(gate.kind, input.recorded));
                judgement.notes.extend(agent.note(input.runs));
            }
            rests_on_errors |= find_entry(gate.kind).is_some_and(|entry| entry.rests_on_errors);
            if gate.gate.needs_results() {
                judgement
                    .notes
                    .extend(note_no_results(gate.kind, input.runs));
            }
        }
        let verdicts = judgement.run_verdicts.iter_mut().zip(input.runs);
        let idle = verdicts.filter(|(_, run)| self.is_idle(run));
        // Nothing that was asked of a sub-agent is known of a run without a call of it.
        for (verdict, _) in idle.filter(|(verdict, _)| **verdict == RunVerdict::Holds) {
            *verdict = RunVerdict::NothingJudged;
        }
        if rests_on_errors {
            judgement.notes.extend(note_unknown_errors(input.runs));
        }
        if self.judges_calls(input.gates) {
            judgement.notes.extend(note_calls_in_text(input.runs));
            judgement.notes.extend(note_text_agents(input.runs));
            judgement.notes.extend(note_attempts(input.runs));
        }
        let mut kinds = self.with_counted(input.gates).map(|gate| gate.kind);
        if kinds.any(judges_arguments) {
            judgement.notes.extend(note_other_arguments(input.runs));
        }
        if !unknown.is_empty() {
            judgement.run_verdicts.fill(RunVerdict::Fails);
            let failure = judgement.failure.get_or_insert_default();
            failure.findings.splice(..0, unknown);
        }
        if let Some(failure) = &mut judgement.failure {
            let gates = self.with_counted(input.gates);
            failure.add_name_notes(
                gates
                    .flat_map(|gate| gate.look_alike_tools(input))
                    .collect(),
            );
        }
        judgement
    }

    /// What a run, by its place, breaks of it; nothing for a gate that folds all runs together.
    pub(crate) fn broken_by(&self, input: &Input<'_>, run: usize) -> Option<Vec<Breach>> {
        let of_run = Input {
            runs: input.runs.get(run..=run)?,
            ..*input
        };
        let broken = match &self.agent {
            Some(_) => self.on_sub_agent(&of_run, |input| self.gate.broken_by(input, 0))?,
            None => self.gate.broken_by(&input.for_gate(self), run)?,
        };
        let unknown = self.unknown_tools(input).map(|tools| tools.breach());
        let agent = self.agent.as_ref();
        let missing = agent.and_then(|agent| agent.missing_breach(input.recorded));
        let before = missing.into_iter().chain(unknown);
        Some(before.chain(broken).collect())
    }

    /// Whether it names a sub-agent that a run has no call of, so that nothing of the run is judged.
    pub(crate) fn is_idle(&self, run: &Run) -> bool {
        let agent = self.agent.as_ref();
        agent.is_some_and(|agent| !agent.is_called_in(run))
    }

    /// What its numbers were made of, also where it holds.
    pub(crate) fn explain(&self, input: &Input<'_>) -> Vec<Evidence> {
        self.on_sub_agent(input, |input| self.gate.explain(input))
    }

    /// Applies a function to the runs, or to the calls of the sub-agent that the gate names.
    fn on_sub_agent<T>(&self, input: &Input<'_>, make: impl FnOnce(&Input<'_>) -> T) -> T {
        let own = input.for_gate(self);
        let Some(agent) = &self.agent else {
            return make(&own);
        };
        let runs = agent.narrow(input.runs);
        make(&Input {
            runs: &runs,
            of_sub_agent: true,
            ..own
        })
    }

    /// Whether it, or a gate that it counts, runs the agent's own code.
    pub(crate) fn runs_code(&self, all: &AgentGates) -> bool {
        let mut gates = self.with_counted(all);
        gates.any(|gate| gate.kind == GateKind::Playback)
    }

    /// Whether it, or a gate that it counts, judges what the agent called.
    fn judges_calls(&self, all: &AgentGates) -> bool {
        let mut kinds = self.with_counted(all).map(|gate| gate.kind);
        kinds.any(|kind| {
            let of_table =
                find_entry(kind).is_some_and(|entry| entry.judges_calls || entry.rests_on_errors);
            of_table || kind == GateKind::Stability
        })
    }

    /// The tools that it names and nobody knows.
    fn unknown_tools<'a>(&'a self, input: &Input<'a>) -> Option<UnknownTools<'a>> {
        // Most gates name none, and a run may have many calls.
        if self.tools.is_empty() {
            return None;
        }
        UnknownTools::find((self.kind, self.span), &self.tools, input.known_tools())
    }

    /// What to say of each tool that it names, if it looks like a tool of the recordings that has another name.
    fn look_alike_tools(&self, input: &Input<'_>) -> Vec<(String, String)> {
        if self.tools.is_empty() {
            return Vec::new();
        }
        let named: Vec<&str> = self.tools.texts().collect();
        let pairs = lookalike_pairs(named, input.known_tools().names());
        let kind = self.kind.name();
        let told = pairs.into_iter().map(|(named, known)| {
            let line = format!("`{kind}` names `{named}`, and the recordings have `{known}`");
            (named.to_owned(), line)
        });
        told.collect()
    }

    /// The gate, and those whose verdicts on runs it counts.
    fn with_counted<'a>(&'a self, all: &'a AgentGates) -> impl Iterator<Item = &'a Self> {
        let reliability = self.gate.options().downcast_ref::<Reliability>();
        let counted = reliability.map_or(&[][..], Reliability::gates);
        iter::once(self).chain(counted.iter().filter_map(|kind| all.get(*kind)))
    }
}

/// All that is asked of an agent: by itself, and by its gates.
#[derive(Debug, Default)]
pub(crate) struct AgentGates {
    /// What must hold of every run.
    pub(crate) expect: Vec<Check>,
    pub(crate) gates: Vec<CompiledGate>,
    /// The faults that it injects.
    faults: Vec<Fault>,
}

impl AgentGates {
    /// The gate of a kind, if the agent has it.
    pub(crate) fn get(&self, kind: GateKind) -> Option<&CompiledGate> {
        self.gates.iter().find(|gate| gate.kind == kind)
    }

    /// The options of a gate, if the agent has it.
    pub(super) fn options<G: 'static>(&self) -> Option<&G> {
        let mut options = self.gates.iter().map(|gate| gate.gate.options());
        options.find_map(|options| options.downcast_ref())
    }

    /// How its recordings are played, where it asks for that.
    pub(crate) fn playback_options(&self) -> Option<&PlaybackOptions> {
        self.options()
    }

    /// How its `narrative` reads a closing.
    pub(crate) fn narrative_options(&self) -> NarrativeOptions {
        self.options::<NarrativeOptions>()
            .cloned()
            .unwrap_or_default()
    }

    /// What its `energy`, or the default one, makes of a run; nothing where it cannot be computed.
    pub(crate) fn energy_analysis(&self, input: &Input<'_>, run: &Run) -> Option<Analysis> {
        let usual = Energy::default();
        let energy = self.options::<Energy>().unwrap_or(&usual);
        energy::analysis(energy, input, run).ok()
    }

    /// The tools that its `trajectory`, else its `golden_path`, expects in order.
    pub(crate) fn plan(&self) -> Vec<&str> {
        let planned = self.options::<Plan>().into_iter();
        let planned = planned.flat_map(|plan| &plan.calls);
        let mut tools: Vec<&str> = planned.map(|call| call.name.as_str()).collect();
        if tools.is_empty() {
            let golden = self.options::<GoldenPath>().into_iter();
            tools.extend(golden.flat_map(|golden| &golden.calls).map(String::as_str));
        }
        tools
    }

    /// The tools that its `narrative` says change something, and those that it says only read.
    pub(crate) fn tool_lists(&self) -> [&[String]; 2] {
        let narrative = self.options::<NarrativeOptions>();
        narrative.map_or([&[], &[]], |options| {
            [&options.mutating_tools, &options.readonly_tools]
        })
    }

    /// Whether the agent's `reliability` counts the runs that its `expect:` holds for.
    pub(crate) fn reliability_counts_expect(&self) -> bool {
        let reliability = self.options::<Reliability>();
        reliability.is_some_and(Reliability::counts_expect)
    }

    /// The faults that the agent injects, as they are injected when it is recorded.
    pub(crate) fn fault_plan(&self) -> FaultPlan {
        let recovery = self.options::<Recovery>();
        let plan = recovery.map(|recovery| recovery.plan.clone());
        plan.unwrap_or_else(|| FaultPlan::new(self.faults.clone()))
    }
}

/// Reads what is asked of agents while a suite loads.
#[derive(Debug, Default)]
pub(crate) struct GateReading {
    agents: Vec<AgentGates>,
    compiler: Compiler,
}

impl GateReader for GateReading {
    fn read(
        &mut self,
        agent: &DeclaredAgent<'_>,
        gates: &[(GateKind, &Entry)],
        problems: &mut Problems,
    ) {
        let gates = gates
            .iter()
            .filter_map(|(kind, node)| read_gate(*kind, node, agent, &mut self.compiler, problems));
        let gates = gates.collect();
        let expect = self.compiler.compile_checks(agent.expect);
        for problem in self.compiler.problems.drain(..) {
            problems.push(problem);
        }
        self.agents.push(AgentGates {
            expect,
            gates,
            faults: agent.faults.clone(),
        });
    }
}

impl GateReading {
    /// What is asked of each agent, in the order of the file, and the patterns of `redact:`.
    pub(crate) fn finish(
        mut self,
        source: &Source,
        redact: &[Spanned<String>],
    ) -> Result<(Vec<AgentGates>, Vec<Regex>), LoadError> {
        let redact = self.compiler.compile_patterns(redact);
        if self.compiler.problems.is_empty() {
            Ok((self.agents, redact))
        } else {
            Err(LoadError::new(source.clone(), self.compiler.problems))
        }
    }
}

/// Reads a suite file whole: what it says, and what the blocks of its gates say. `shown` is the path
/// that messages show.
///
/// # Errors
///
/// Every problem of the file, each with its place.
pub fn read_suite(path: &Path, shown: &str) -> Result<Suite, LoadError> {
    parse_suite(Suite::open(path, shown)?)
}

/// Reads a suite from its text: what it says, and what the blocks of its gates say.
///
/// ```
/// use mcptest::suite::Source;
///
/// let text = "agents: [{ name: a, model: m, prompt: p, golden_path: { call: [search] } }]";
/// let error = mcptest::parse_suite(Source::new("a.yml", "a.yml", text)).unwrap_err();
/// assert!(error.to_string().contains("did you mean `calls`?"));
/// ```
///
/// # Errors
///
/// Every problem of the text, each with its place.
pub fn parse_suite(source: Source) -> Result<Suite, LoadError> {
    let mut reading = GateReading::default();
    let suite = Suite::parse_with(source, &mut reading)?;
    reading.finish(&suite.source, &suite.redact)?;
    Ok(suite)
}

fn read_gate(
    kind: GateKind,
    node: &Entry,
    agent: &DeclaredAgent<'_>,
    compiler: &mut Compiler,
    problems: &mut Problems,
) -> Option<CompiledGate> {
    let span = node.key_span;
    let Some(entry) = find_entry(kind) else {
        let message = format!("this version does not know the gate {}", kind.quoted());
        problems.push(Diagnostic::at(span, message).help("use crates of one version"));
        return None;
    };
    let is_list = node.value.items().is_some();
    let listed = entry.list.filter(|_| is_list);
    let listed = listed.map(|key| node.value.wrapped_in(key));
    let node = listed.as_ref().unwrap_or(&node.value);
    if node.entries().is_none() {
        let or_list = entry.list.map_or("", |_| " or a list");
        let message = format!(
            "{} needs a mapping{or_list}, found {}",
            kind.quoted(),
            node.kind()
        );
        let help = match entry.list {
            Some(_) => format!("write e.g. `{}`", entry.example),
            None => format!("write `{}: {{}}` for its default gate", kind.name()),
        };
        problems.push(Diagnostic::at(span, message).help(help));
        return None;
    }
    let place = (node, span);
    let mut block = Block::open(place, kind.quoted(), agent, compiler, problems)?;
    let before = block.problems.noted();
    let agent = SubAgent::read(kind, &mut block);
    let gate = (entry.read)(&mut block);
    let expect = read_expect(kind, entry, &mut block);
    if let Some(gate) = gate.as_ref().filter(|_| block.problems.noted() == before) {
        refuse_constant_targets(&**gate, &expect, &mut block);
    }
    let tools = std::mem::take(&mut block.tools);
    block.finish();
    Some(CompiledGate {
        kind,
        span,
        expect,
        agent,
        tools,
        gate: gate?,
    })
}

/// An assertion on a target of which the options ask nothing would hold for every agent.
fn refuse_constant_targets(gate: &dyn Criterion, expect: &[Check], block: &mut Block<'_, '_>) {
    for (name, key) in gate.constant_targets() {
        let asked = expect.iter().filter(|check| check.target.text == name);
        for target in asked.map(|check| &check.target) {
            let message = format!("`{name}` is the same for every agent: `{key}` has no entry");
            let problem = Diagnostic::at(target.span, message);
            let help = format!("add an entry to `{key}`, or leave this assertion out");
            block.problems.push(problem.help(help));
        }
    }
}

/// What must hold of the gate's targets.
fn read_expect(kind: GateKind, entry: &GateEntry, block: &mut Block<'_, '_>) -> Vec<Check> {
    let known = entry.targets;
    if known.is_empty() {
        return Vec::new();
    }
    let Some(node) = block.get("expect") else {
        return Vec::new();
    };
    let before = block.problems.noted();
    let expect = targets::read_expect(kind, known, node, block.problems);
    if block.problems.noted() > before {
        return Vec::new();
    }
    let declared = |path: &str| targets::find_declared(known, path);
    block.compiler.compile_gate_checks(&expect, declared)
}
