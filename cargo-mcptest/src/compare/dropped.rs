//! Agents of a baseline that no suite asks for any more, and whether one that is new stands in the place of one.

use std::collections::{BTreeMap, BTreeSet};

use mcptest::judge::AgentTest;
use mcptest::result::CaseResult;
use mcptest_suite::escape_line;
use mcptest_trace::evidence::compare::AgentName;

use super::recordings_folder::agent_slug;
use super::side::{Side, SidePlace, display_path};
use crate::files::recording_stems;

/// An agent of the baseline that no suite has any more.
#[derive(Debug, Clone)]
pub(super) struct DroppedAgent {
    /// The stem of its recordings.
    pub(super) stem: String,
    /// What its recordings call it, where one can be read.
    pub(super) name: Option<AgentName>,
    /// The file of the suite that asked for it, from the package's folder, where it is known.
    pub(super) suite: Option<String>,
    /// What it was asked, and its system prompt.
    prompts: Option<[String; 2]>,
}

/// Agents of the baseline that no agent of now is. `before`: the agents of the baseline's own suites, where they are
/// known; then a recording that no suite asked for is no agent.
pub(super) fn find_dropped(
    baseline: &SidePlace<'_>,
    before: Option<&[AgentTest<'_>]>,
    (agents, same): (&[AgentTest<'_>], &AgentMatches),
    across_models: bool,
) -> Vec<DroppedAgent> {
    let declared: BTreeSet<String> = agents.iter().flat_map(recording_stems).collect();
    let names: BTreeSet<&str> = declared.iter().map(|stem| agent_slug(stem)).collect();
    match (baseline, before) {
        (SidePlace::Results(known), _) => {
            let gone = known.iter().filter(|(case, _)| same.is_gone(case));
            gone.filter_map(|(_, cases)| DroppedAgent::from_results(cases))
                .collect()
        }
        (SidePlace::Recordings(folder), Some(before)) => {
            let gone = before.iter().filter(|agent| same.is_gone(agent.case()));
            gone.filter_map(|agent| {
                let runs = agent.runs_in(folder.folder);
                let runs = runs.map(Option::unwrap_or_default);
                if runs.as_ref().is_ok_and(Vec::is_empty) {
                    return None;
                }
                let run = runs.ok().and_then(|runs| runs.into_iter().next());
                let name = AgentName::new(&agent.agent().name.value, agent.model());
                Some(DroppedAgent {
                    stem: agent.stem(),
                    name: Some(name),
                    suite: Some(display_path(folder.folder, agent.suite().source.path())),
                    prompts: run.map(|run| [run.user_prompt, run.system_prompt]),
                })
            })
            .collect()
        }
        (SidePlace::Recordings(folder), None) => {
            let is_dropped = |stem: &str| {
                let renewed = across_models && names.contains(agent_slug(stem));
                !declared.contains(stem) && !renewed
            };
            let stems = folder.stems().iter();
            let dropped = stems.filter(|(stem, _)| is_dropped(stem));
            dropped
                .map(|(stem, files)| {
                    let runs = folder.read(files.get(..1).unwrap_or_default());
                    let run = runs.ok().and_then(|runs| runs.into_iter().next());
                    let name = run.as_ref().and_then(|run| {
                        let agent = run.agent_name.as_ref()?;
                        Some(AgentName::new(agent, &run.model))
                    });
                    DroppedAgent {
                        stem: stem.clone(),
                        name,
                        suite: None,
                        prompts: run.map(|run| [run.user_prompt, run.system_prompt]),
                    }
                })
                .collect()
        }
    }
}

/// Which agents of the baseline the agents of now are, by its results, or by its own suites where they are known.
pub(super) fn match_agents(
    baseline: &SidePlace<'_>,
    before: Option<&[AgentTest<'_>]>,
    agents: &[AgentTest<'_>],
    across_models: bool,
) -> AgentMatches {
    let key = |stem: String| {
        if across_models {
            agent_slug(&stem).to_owned()
        } else {
            stem
        }
    };
    let of_suites = |agents: &[AgentTest<'_>]| -> Vec<(String, String)> {
        let agents = agents.iter();
        agents
            .map(|agent| (agent.case().to_owned(), key(agent.stem())))
            .collect()
    };
    let known = match (baseline, before) {
        (SidePlace::Results(known), _) => {
            let known = known.iter().filter_map(|(case, results)| {
                let agent = results.iter().find_map(|result| result.agent.as_ref())?;
                Some((case.clone(), key(agent.stem.clone())))
            });
            known.collect()
        }
        (SidePlace::Recordings(_), Some(before)) => of_suites(before),
        (SidePlace::Recordings(_), None) => Vec::new(),
    };
    AgentMatches::new(&known, &of_suites(agents))
}

/// Which agents of the baseline the agents of now are: those of the same case, then those with recordings of the same
/// name, as a suite may have another name now.
#[derive(Debug, Clone, Default)]
pub(super) struct AgentMatches {
    /// The case of then, by that of now.
    of: BTreeMap<String, String>,
    /// The cases of agents that none of now is.
    gone: BTreeSet<String>,
}

impl AgentMatches {
    /// Of agents by their own cases and the stems of their recordings.
    fn new(before: &[(String, String)], now: &[(String, String)]) -> Self {
        let cases: BTreeSet<&String> = now.iter().map(|(case, _)| case).collect();
        let mut of = BTreeMap::new();
        let mut left: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
        for (case, stem) in before {
            if cases.contains(case) {
                of.insert(case.clone(), case.clone());
            } else {
                left.entry(stem).or_default().push(case);
            }
        }
        for cases in left.values_mut() {
            // The first of them is taken first.
            cases.reverse();
        }
        for (case, stem) in now {
            if !of.contains_key(case)
                && let Some(then) = left.get_mut(stem.as_str()).and_then(Vec::pop)
            {
                of.insert(case.clone(), then.clone());
            }
        }
        let gone = left.into_values().flatten().cloned().collect();
        Self { of, gone }
    }

    /// The case that an agent of now had then.
    pub(super) fn previous_case<'a>(&'a self, case: &'a str) -> &'a str {
        self.of.get(case).map_or(case, String::as_str)
    }

    fn is_gone(&self, case: &str) -> bool {
        self.gone.contains(case)
    }
}

impl DroppedAgent {
    /// An agent of which results tell.
    fn from_results(cases: &[CaseResult]) -> Option<Self> {
        let agent = cases.iter().find_map(|case| case.agent.as_ref())?;
        let prompts = cases.iter().find_map(|case| {
            let run = case.runs.first()?;
            let text = |digest: &String| case.prompts.get(digest).cloned();
            Some([text(&run.prompt)?, text(&run.system_prompt)?])
        });
        Some(Self {
            stem: agent.stem.clone(),
            name: Some(AgentName::new(&agent.name, &agent.model)),
            suite: cases.first().map(|case| case.suite.file.clone()),
            prompts,
        })
    }
}

impl DroppedAgent {
    /// Why an agent that the baseline does not have is this one, under another name or with another model; nothing
    /// where it is not.
    pub(super) fn match_reason(&self, agent: &AgentTest<'_>, baseline: &Side) -> Option<String> {
        let said = agent.agent();
        let name = said.name.value.as_str();
        let known = self.name.as_ref();
        let same_name = known.map_or_else(
            || {
                recording_stems(agent)
                    .iter()
                    .any(|stem| agent_slug(stem) == agent_slug(&self.stem))
            },
            |known| known.agent == name,
        );
        let model = known.map_or_else(String::new, |known| {
            format!(" with the model {}", escape_line(&known.model))
        });
        if same_name {
            return Some(format!(
                "the baseline has this agent{model}; `--across-models` compares both"
            ));
        }
        let system = said.system_prompt.as_ref();
        let asked = [
            said.prompt.first().value.as_str(),
            system.map_or("", |text| text.value.as_str()),
        ];
        let prompts = self.prompts.as_ref()?;
        if prompts.each_ref().map(String::as_str) != asked {
            return None;
        }
        let before = known.map_or(self.stem.as_str(), |known| &known.agent);
        Some(format!(
            "the baseline has this prompt under the name `{}`{model}; if both are the same agent, {}",
            escape_line(before).replace('`', "ʼ"),
            baseline.renamed_advice()
        ))
    }
}
