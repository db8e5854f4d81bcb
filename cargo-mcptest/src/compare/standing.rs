//! How each agent stands beside the baseline.

use std::collections::BTreeMap;

use mcptest_trace::evidence::compare::Passed;
use serde::Serialize;

use super::Compared;

/// How an agent stands beside the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Standing {
    /// How many runs passed, of how many, before and now.
    Compared {
        before: [usize; 2],
        now: [usize; 2],
    },
    /// It is compared, and the outcomes of a side are not known.
    Unknown,
    /// Its recordings are the same bytes.
    Unchanged,
    /// The baseline has none of it.
    New,
    /// Only the baseline has recordings of it.
    Gone,
    NotComparable,
}

impl Compared {
    /// The agents of the suites, by their own cases. An agent without a recording on either side is left out.
    pub(crate) fn standings(&self) -> BTreeMap<String, Standing> {
        let found = &self.comparison;
        let mut by_stem: BTreeMap<&str, Standing> = BTreeMap::new();
        for agent in &found.agents {
            let counts = |side: Passed| [side.passed, side.runs];
            let standing = agent.outcomes.map_or(Standing::Unknown, |outcomes| {
                let (before, now) = (counts(outcomes.baseline), counts(outcomes.candidate));
                Standing::Compared { before, now }
            });
            by_stem.insert(&agent.agent, standing);
        }
        for (stems, standing) in [
            (&found.unchanged, Standing::Unchanged),
            (&found.new, Standing::New),
            (&found.gone, Standing::Gone),
        ] {
            by_stem.extend(stems.iter().map(|stem| (stem.as_str(), standing)));
        }
        let not_comparable = found.not_comparable.iter();
        by_stem.extend(not_comparable.map(|it| (it.agent.as_str(), Standing::NotComparable)));
        let recorded = self.recorded.iter();
        recorded
            .filter_map(|(stem, agent)| Some((agent.case.clone(), *by_stem.get(stem.as_str())?)))
            .collect()
    }

    /// The commit that is judged, where the candidate is a revision.
    pub(crate) fn candidate_commit(&self) -> Option<String> {
        let candidate = self.sides[1].json();
        candidate["commit"].as_str().map(str::to_owned)
    }
}
