//! Which of the recorded calls and tools are of the server that is asked: by the name of the server where recordings
//! say it, else by the names of tools.

use std::collections::{BTreeMap, BTreeSet};

use mcptest_suite::{nearest, quoted_list};
use mcptest_trace::text::pluralize;

use super::form::ToolForm;
use super::recorded::{RecordedCall, RecordedRun, Recordings};
use super::server::LiveServer;
use crate::failure::Failure;

/// What of the recordings is of this server.
#[derive(Debug, Default)]
pub(super) struct OwnRecordings {
    /// What recordings call it.
    pub(super) name: Option<String>,
    pub(super) runs: Vec<OwnRun>,
    /// The calls of tools that this server does not have, of which no server was recorded: each tool, and how many.
    pub(super) unknown: BTreeMap<String, usize>,
    pub(super) notes: Vec<String>,
}

/// What a run has of this server.
#[derive(Debug)]
pub(super) struct OwnRun {
    pub(super) file: String,
    /// The tools of this server that were offered, where the recording lists any.
    pub(super) offered: Option<BTreeMap<String, ToolForm>>,
    pub(super) calls: Vec<RecordedCall>,
}

/// Whose a tool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ownership {
    Own,
    Others,
    Unknown,
}

/// How tools are told apart.
struct Owner<'a> {
    live: &'a LiveServer,
    name: Option<String>,
    /// Whether a tool without a server is this server's, as `--server` says.
    takes_unnamed: bool,
    without: &'a [String],
}

impl OwnRecordings {
    /// Tells which calls and tools are of a server. `said` is what recordings call it, `without` are tools that are not its.
    pub(super) fn select(
        recordings: &Recordings,
        live: &LiveServer,
        said: Option<&str>,
        without: &[String],
    ) -> Result<Self, Failure> {
        let mut own = Self::default();
        own.name = name(recordings, live, said, &mut own.notes)?;
        let owner = Owner {
            live,
            name: own.name.clone(),
            takes_unnamed: said.is_some(),
            without,
        };
        let mut by_name = 0;
        for run in &recordings.runs {
            own.add_run(run, &owner, &mut by_name);
        }
        if by_name > 0 {
            let calls = pluralize(by_name, "call");
            let how = match said {
                Some(_) => "counted as calls of this server, because `--server` is given",
                None => "assigned only by the names of tools",
            };
            own.notes
                .push(format!("{calls} without a recorded server: {how}"));
        }
        let lists = |run: &OwnRun| run.offered.as_ref().is_some_and(|it| !it.is_empty());
        let knows_calls = own.runs.iter().any(|run| !run.calls.is_empty());
        if !knows_calls && !own.runs.iter().any(lists) && own.unknown.is_empty() {
            return Err(Failure::new(
                "no recording has a call or a tool of this server, so there is nothing to compare it with",
            )
            .with_help("give the name that the server has in the recordings with `--server`, or record runs that use the server"));
        }
        Ok(own)
    }

    fn add_run(&mut self, run: &RecordedRun, owner: &Owner<'_>, by_name: &mut usize) {
        let named = |server: &String| owner.name.as_ref() == Some(server);
        let mut listed = run.offered.iter().flatten();
        let lists_it = listed.any(|tool| named(&tool.server));
        let offered = run.offered.as_ref().map(|offered| {
            let own = offered.iter().filter(|tool| {
                owner.classify(&tool.server, &tool.tool, lists_it) == Ownership::Own
            });
            own.map(|tool| (owner.tool(&tool.tool), tool.form.clone()))
                .collect::<BTreeMap<_, _>>()
        });
        // A run in which calls name this server says of each call whose it is.
        let calls_it = run.calls.iter().any(|call| named(&call.server));
        let mut calls = Vec::new();
        for call in &run.calls {
            let tool = owner.tool(&call.tool);
            let is_own = offered.as_ref().is_some_and(|own| own.contains_key(&tool));
            // A list that names this server has all of its tools.
            let whose = match owner.classify(&call.server, &call.tool, calls_it) {
                Ownership::Unknown if is_own => Ownership::Own,
                Ownership::Unknown if lists_it => Ownership::Others,
                whose => whose,
            };
            match whose {
                Ownership::Own => {
                    *by_name += usize::from(call.server.is_empty());
                    calls.push(RecordedCall {
                        tool,
                        ..call.clone()
                    });
                }
                Ownership::Others => {}
                Ownership::Unknown => *self.unknown.entry(call.tool.clone()).or_default() += 1,
            }
        }
        self.runs.push(OwnRun {
            file: run.file.clone(),
            offered,
            calls,
        });
    }
}

impl Owner<'_> {
    /// Whose a tool is. `is_named`: the run names this server where a call, or a tool, is of it.
    fn classify(&self, server: &str, tool: &str, is_named: bool) -> Ownership {
        if self.without.iter().any(|other| other == tool) {
            return Ownership::Others;
        }
        if !server.is_empty() {
            let is_own = self.name.as_deref() == Some(server);
            return if is_own {
                Ownership::Own
            } else {
                Ownership::Others
            };
        }
        // A tool that this server has is its own, though another call of the run says its server.
        if self.live.has(&self.tool(tool)) {
            Ownership::Own
        } else if is_named {
            Ownership::Unknown
        } else if self.takes_unnamed {
            Ownership::Own
        } else {
            Ownership::Unknown
        }
    }

    /// The server's own name for a tool, where a client wrote the server's name before it.
    fn tool(&self, name: &str) -> String {
        if self.live.has(name) {
            return name.to_owned();
        }
        let servers = [self.name.as_deref(), Some(self.live.name.as_str())];
        let servers = servers.into_iter().flatten().filter(|it| !it.is_empty());
        let own = servers
            .filter_map(|server| name.strip_prefix(server)?.strip_prefix("__"))
            .find(|own| !own.is_empty());
        own.unwrap_or(name).to_owned()
    }
}

/// What recordings call the server; `None` where they name no servers.
fn name(
    recordings: &Recordings,
    live: &LiveServer,
    said: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Option<String>, Failure> {
    let mut tools: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for run in &recordings.runs {
        let calls = run.calls.iter();
        let calls = calls.map(|call| (call.server.as_str(), call.tool.as_str()));
        let offered = run.offered.iter().flatten();
        let offered = offered.map(|tool| (tool.server.as_str(), tool.tool.as_str()));
        for (server, tool) in calls
            .chain(offered)
            .filter(|(server, _)| !server.is_empty())
        {
            tools.entry(server).or_default().insert(tool);
        }
    }
    if let Some(said) = said {
        if tools.contains_key(said) || tools.is_empty() {
            return Ok(Some(said.to_owned()));
        }
        let failure = Failure::new(format!("no recording has a server named `{said}`"));
        let known = || tools.keys().copied();
        return Err(match nearest(said, known()) {
            Some(near) => failure.with_help(format!("did you mean `{near}`?")),
            None => failure.with_help(format!("the recordings have {}", quoted_list(known()))),
        });
    }
    if tools.is_empty() {
        return Ok(None);
    }
    let alike = |name: &&str| fold_name(name) == fold_name(&live.name);
    if let Some(own) = tools.keys().copied().find(alike) {
        return Ok(Some(own.to_owned()));
    }
    let shares = |own: &BTreeSet<&str>| own.iter().any(|tool| live.has(tool));
    let sharing: Vec<&str> = tools
        .iter()
        .filter(|(_, own)| shares(own))
        .map(|(name, _)| *name)
        .collect();
    match sharing.as_slice() {
        [own] => {
            notes.push(format!(
                "compared with the server `{own}` of the recordings, because the names of its tools fit"
            ));
            Ok(Some((*own).to_owned()))
        }
        found => {
            let all: Vec<&str> = tools.keys().copied().collect();
            let (how, named) = match found {
                [] => ("no recorded server has a tool of this server", all),
                several => (
                    "several recorded servers have tools of this server",
                    several.to_vec(),
                ),
            };
            Err(Failure::new(format!(
                "the recordings have no server named `{}`, and {how}",
                live.name
            ))
            .with_help(format!(
                "give the name that the server has in the recordings with `--server`: {}",
                quoted_list(named)
            )))
        }
    }
}

/// A name without what people write in different ways.
fn fold_name(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

impl LiveServer {
    pub(super) fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|own| own.name == tool)
    }
}
