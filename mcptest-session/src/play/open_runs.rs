//! The runs of own tools that were open while something else was asked for, as a recording says it.

use std::collections::HashMap;

use serde_json::Value;

use crate::json::list;

/// For each call at a server and each other request: the runs of own tools that were open.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenRuns {
    /// Calls at MCP servers, by the server and the place: the runs that were open when each was made.
    pub(super) server_calls: HashMap<(String, usize), Vec<usize>>,
    /// Other requests.
    pub(super) others: HashMap<usize, Vec<usize>>,
}

/// The runs that were open when something was asked for.
pub(super) fn read_open_runs(written: &Value) -> Vec<usize> {
    let runs = list(written, "during").iter();
    runs.filter_map(|run| usize::try_from(run.as_u64()?).ok())
        .collect()
}

impl OpenRuns {
    /// What the field `session` says of servers and of other requests.
    pub(super) fn from_field(field: &Value) -> Self {
        let mut all = Self::default();
        for server in list(field, "mcp") {
            let name = server["server"].as_str().unwrap_or_default();
            for (place, call) in list(server, "calls").iter().enumerate() {
                all.server_calls
                    .insert((name.to_owned(), place), read_open_runs(call));
            }
        }
        for (place, other) in list(field, "others").iter().enumerate() {
            all.others.insert(place, read_open_runs(other));
        }
        all
    }
}
