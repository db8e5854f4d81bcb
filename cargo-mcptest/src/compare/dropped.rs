//! Agents of a baseline that no suite asks for any more, and whether one that is new stands in the place of one.

use std::collections::{BTreeMap, BTreeSet};

use mcptest::judge::AgentTest;
use mcptest_suite::escape_line;
use mcptest_trace::evidence::compare::AgentName;

use super::across::agent_of;
use super::side::SidePlace;
use crate::files::stems_of;

/// An agent of the baseline that no suite has any more.
#[derive(Debug, Clone)]
pub(super) struct Dropped {
    /// The stem of its recordings.
    pub(super) stem: String,
    /// What its recordings call it, where one can be read.
    pub(super) name: Option<AgentName>,
    /// What it was asked, and its system prompt.
    prompts: Option<[String; 2]>,
}

/// Agents of the baseline that no suite has any more.
pub(super) fn dropped(
    baseline: &SidePlace<'_>,
    agents: &[AgentTest<'_>],
    across_models: bool,
) -> Vec<Dropped> {
    let declared: BTreeSet<String> = agents.iter().flat_map(stems_of).collect();
    let names: BTreeSet<&str> = declared.iter().map(|stem| agent_of(stem)).collect();
    let is_dropped = |stem: &str| {
        let renewed = across_models && names.contains(agent_of(stem));
        !declared.contains(stem) && !renewed
    };
    match baseline {
        SidePlace::Results(agents) => {
            let cases = agents.values().flatten();
            let known = cases.filter_map(|case| Some((case.agent.as_ref()?, case)));
            let mut found: BTreeMap<&String, Dropped> = BTreeMap::new();
            for (agent, case) in known.filter(|(agent, _)| is_dropped(&agent.stem)) {
                let text = |digest: &String| case.prompts.get(digest).cloned();
                let prompts = case
                    .runs
                    .first()
                    .and_then(|run| Some([text(&run.prompt)?, text(&run.system_prompt)?]));
                let known = found.entry(&agent.stem).or_insert_with(|| Dropped {
                    stem: agent.stem.clone(),
                    name: Some(AgentName::new(&agent.name, &agent.model)),
                    prompts: None,
                });
                known.prompts = known.prompts.take().or(prompts);
            }
            found.into_values().collect()
        }
        SidePlace::Recordings(folder) => {
            let stems = folder.stems().into_iter();
            let dropped = stems.filter(|(stem, _)| is_dropped(stem));
            dropped
                .map(|(stem, files)| {
                    let runs = folder.read(files.get(..1).unwrap_or_default());
                    let run = runs.ok().and_then(|runs| runs.into_iter().next());
                    let name = run.as_ref().and_then(|run| {
                        let agent = run.agent_name.as_ref()?;
                        Some(AgentName::new(agent, &run.model))
                    });
                    Dropped {
                        stem,
                        name,
                        prompts: run.map(|run| [run.user_prompt, run.system_prompt]),
                    }
                })
                .collect()
        }
    }
}

impl Dropped {
    /// Why an agent that the baseline does not have is this one, under another name or with another model; nothing
    /// where it is not.
    pub(super) fn is_before(&self, agent: &AgentTest<'_>) -> Option<String> {
        let said = agent.agent();
        let name = said.name.value.as_str();
        let known = self.name.as_ref();
        let same_name = known.map_or_else(
            || {
                stems_of(agent)
                    .iter()
                    .any(|stem| agent_of(stem) == agent_of(&self.stem))
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
            "the baseline has this prompt under the name `{}`{model}; if both are the same agent, record the baseline under the new name",
            escape_line(before).replace('`', "ʼ")
        ))
    }
}
