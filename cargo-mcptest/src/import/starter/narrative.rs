//! The proposed `narrative:` gate: what runs claim, held against what they did.

use mcptest::eval::{KnownTools, NarrativeOptions, NarrativeReport, narrative_divergence_with};
use mcptest::trace::{ReadOnlyTools, Run};
use mcptest_trace::trace::reads_by_name;

use super::gate::ProposedGate;
use super::text::yaml_list;
use super::tools::CalledTools;

/// What claims are held against; with what was said of tools, where recordings or their names say otherwise.
///
/// Recordings that do not list their tools leave open which there are, and a claim of what another run
/// of the import does with a tool is then unclear.
pub(super) struct Narrative {
    tools: KnownTools,
    options: NarrativeOptions,
    /// The list of tools, as it is written.
    list: Option<String>,
}

impl Narrative {
    pub(super) fn new(runs: &[Run], called: &CalledTools, reads: &ReadOnlyTools) -> Self {
        let tools = KnownTools::of_runs(runs);
        let of_runs: Vec<ReadOnlyTools> = runs.iter().map(Run::read_only_tools).collect();
        let is_misnamed = |name: &&str| {
            let by_runs = of_runs.iter().map(|it| it.is_read_only(name));
            let mut taken_for = by_runs.chain([reads_by_name(name)]);
            taken_for.any(|it| it != reads.is_read_only(name))
        };
        let misnamed = tools.names().filter(is_misnamed);
        let mut misnamed: Vec<(&str, bool)> = misnamed
            .map(|name| (name, reads.is_read_only(name)))
            .collect();
        let mut options = NarrativeOptions::default();
        let is_listed = !tools.is_complete() && !called.names.is_empty();
        if is_listed {
            options.tools.clone_from(&called.names);
            misnamed.extend(called.misnamed_elsewhere(&tools));
        }
        for (name, only_reads) in misnamed {
            let listed = if only_reads {
                &mut options.readonly_tools
            } else {
                &mut options.mutating_tools
            };
            listed.push(name.to_owned());
        }
        Self {
            tools,
            options,
            list: is_listed.then(|| called.written.clone()),
        }
    }

    fn report(&self, run: &Run) -> NarrativeReport {
        narrative_divergence_with(&run.trace, &self.options, &self.tools)
    }

    /// Claims of what was not done.
    pub(super) fn absent(&self, run: &Run) -> usize {
        self.report(run).claimed_but_absent().count()
    }

    /// Good runs claim nothing that was not done: in their closings, or, where these are silent, in any
    /// message.
    ///
    /// The list of tools is that of all agents of the import. Where what a good run claims would be false by
    /// it, as a tool of another agent is nearer to it, it goes without.
    pub(super) fn gate<'a>(mut self, good: &[&Run]) -> ProposedGate<'a> {
        let all_hold = |it: &Self| good.iter().all(|run| it.absent(run) == 0);
        let mut said = "";
        if self.list.is_some() && !all_hold(&self) {
            let listed = std::mem::take(&mut self.options.tools);
            if all_hold(&self) {
                self.list = None;
                said = "    # no `tools`: with the tools of all agents, a claim of a passed run would count as false\n";
            } else {
                self.options.tools = listed;
            }
        }
        if good.iter().all(|run| self.report(run).claims.is_empty()) {
            self.options.all_messages = true;
            let reports = good.iter().map(|run| self.report(run));
            let reports: Vec<NarrativeReport> = reports.collect();
            let claims = reports.iter().any(|report| !report.claims.is_empty());
            let holds = |report: &NarrativeReport| report.claimed_but_absent().next().is_none();
            self.options.all_messages = claims && reports.iter().all(holds);
        }
        let mut keys = Vec::new();
        for (key, names) in [
            ("readonly_tools", &self.options.readonly_tools),
            ("mutating_tools", &self.options.mutating_tools),
        ] {
            if !names.is_empty() {
                keys.push(format!("{key}: {}", yaml_list(names)));
            }
        }
        let mut most = 0;
        if !keys.is_empty() {
            // The plan needs to be told of the tools, whatever is claimed.
            let absent = good.iter().map(|run| self.absent(run));
            most = absent.max().unwrap_or_default();
        }
        if most > 0 {
            keys.push(format!(
                "expect: [{{ target: narrative.claimed_but_absent, matcher: {{ max: {most} }} }}]"
            ));
        }
        if self.options.all_messages {
            keys.push("all_messages: true".to_owned());
        }
        keys.extend(self.list.iter().map(|list| format!("tools: {list}")));
        let block = match keys.as_slice() {
            [] => "{}".to_owned(),
            keys => format!("{{ {} }}", keys.join(", ")),
        };
        ProposedGate {
            name: "narrative",
            text: format!("{said}    narrative: {block}\n"),
            holds: Box::new(move |run| self.absent(run) <= most),
        }
    }
}
