//! Recordings of a baseline where no suite of today looks for them, as those of a suite that has another name now.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

use mcptest::judge::AgentTest;
use mcptest_suite::quoted_list;

use super::recordings_folder::{RecordingsFolder, UnreadPlaces};
use super::side::display_path;
use crate::files::recording_stems;

/// The recordings of a baseline of which nobody knows which suites asked for them.
pub(super) struct UnattributedRecordings<'a> {
    folder: &'a RecordingsFolder<'a>,
    agents: &'a [AgentTest<'a>],
    found: OnceLock<Found>,
}

/// What is there, once an agent has no recording where it looks for them.
struct Found {
    /// By their stems.
    places: BTreeMap<String, UnreadPlaces>,
    /// How many agents of today have none where they look for them, by the stems of their recordings.
    without: BTreeMap<String, usize>,
}

/// Recordings that may be those of several agents.
#[derive(Debug)]
pub(super) struct AmbiguousRecordings {
    places: Vec<String>,
}

impl AmbiguousRecordings {
    /// What is wrong, and what to do, a line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let advice = "give the folders of the baseline the names that the suites have now";
        vec![self.to_string(), advice.to_owned()]
    }
}

impl fmt::Display for AmbiguousRecordings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = quoted_list(self.places.iter().map(String::as_str));
        write!(
            f,
            "the baseline has recordings of this name in {places}, where no suite looks for them, and nobody can tell whose they are"
        )
    }
}

impl Error for AmbiguousRecordings {}

impl<'a> UnattributedRecordings<'a> {
    pub(super) const fn new(folder: &'a RecordingsFolder<'a>, agents: &'a [AgentTest<'a>]) -> Self {
        Self {
            folder,
            agents,
            found: OnceLock::new(),
        }
    }

    fn found(&self) -> &Found {
        self.found.get_or_init(|| {
            let mut without: BTreeMap<String, usize> = BTreeMap::new();
            for agent in self.agents {
                if agent.files_in(self.folder.folder).is_empty() {
                    *without.entry(agent.stem()).or_default() += 1;
                }
            }
            Found {
                places: self.folder.unread_stems(self.agents),
                without,
            }
        })
    }

    /// The files of an agent that has none where its suite looks for them; lines that say why nobody can tell, where
    /// several agents or several folders may be meant.
    pub(super) fn files_for(
        &self,
        agent: &AgentTest<'_>,
    ) -> Result<&[PathBuf], AmbiguousRecordings> {
        let found = self.found();
        let stems = recording_stems(agent);
        let known = stems.iter().filter_map(|stem| found.places.get(stem));
        let known: Vec<(&PathBuf, &Vec<PathBuf>)> = known.flatten().collect();
        let is_one = found.without.get(&agent.stem()) == Some(&1);
        match known[..] {
            [] => Ok(&[]),
            [(_, files)] if is_one => Ok(files),
            _ => {
                let places = known.iter();
                let places = places.map(|(place, _)| display_path(self.folder.folder, place));
                Err(AmbiguousRecordings {
                    places: places.collect(),
                })
            }
        }
    }
}
