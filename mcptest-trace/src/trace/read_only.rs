//! Which tools only read.

use std::collections::{BTreeMap, BTreeSet};

use super::own_name::{own_names, strip_server, without_mcp};
use super::tool_name::reads_by_name;
use super::{OfferedTool, ToolCall};

/// Which tools only read: those that a suite lists, else those that their servers say so of, else
/// those whose names do ([`reads_by_name`]). All others change something.
///
/// ```
/// use mcptest_trace::trace::{OfferedTool, ReadOnlyTools};
///
/// let mut recorded = OfferedTool::from_line("desk::audit(id)");
/// recorded.read_only = Some(true);
/// let tools = ReadOnlyTools::new(&[recorded], &["get_lock".into()], &["ping".into()]);
/// assert!(tools.is_read_only("audit") && tools.is_read_only("ping") && tools.is_read_only("get_order"));
/// assert!(!tools.is_read_only("get_lock") && !tools.is_read_only("cancel_order"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOnlyTools {
    /// Whether a tool only reads, where more than its name says so.
    known: BTreeMap<String, bool>,
    /// The servers of the tools that were offered.
    servers: BTreeSet<String>,
}

impl ReadOnlyTools {
    /// By what the recordings and the suite say. `readonly` is stronger than `mutating`, and both are
    /// stronger than what was recorded; of the tools of one name of several servers all must only read.
    #[must_use]
    pub fn new<'a>(
        offered: impl IntoIterator<Item = &'a OfferedTool>,
        mutating: impl IntoIterator<Item = &'a String>,
        readonly: impl IntoIterator<Item = &'a String>,
    ) -> Self {
        let offered: Vec<&OfferedTool> = offered.into_iter().collect();
        let servers = offered.iter().filter_map(|tool| tool.server.clone());
        let servers = servers.collect();
        let recorded = read_only_hints(offered.iter().copied()).into_iter();
        let recorded = recorded.map(|(name, reads)| (name.to_owned(), reads));
        let mut known: BTreeMap<String, bool> = recorded.collect();
        known.extend(mutating.into_iter().map(|name| (name.clone(), false)));
        known.extend(readonly.into_iter().map(|name| (name.clone(), true)));
        Self { known, servers }
    }

    /// The servers of the tools that were offered, sorted.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(String::as_str)
    }

    /// Adds servers whose names may stand before the tools' own names.
    #[must_use]
    pub fn with_servers(mut self, servers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.servers.extend(servers.into_iter().map(Into::into));
        self
    }

    /// Whether a tool only reads, whatever server stands before its name: `slack_list_channels` of *slack*.
    #[must_use]
    pub fn is_read_only(&self, name: &str) -> bool {
        let servers: Vec<&str> = self.servers().collect();
        self.is_read_only_behind(name, &servers)
    }

    /// Whether the tool of a call only reads.
    pub(crate) fn is_read_only_call(&self, call: &ToolCall) -> bool {
        let of_call = Some(call.server.as_str()).filter(|server| !server.is_empty());
        let servers: Vec<&str> = self.servers().chain(of_call).collect();
        self.is_read_only_behind(&call.name, &servers)
    }

    fn is_read_only_behind(&self, name: &str, servers: &[&str]) -> bool {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        if reads_by_name(name) {
            return true;
        }
        let own = own_names(name, servers);
        let known = own.iter().find_map(|own| self.known.get(own).copied());
        // *delete.list* may delete: one word behind a group says little, behind a server that is known it is the name.
        let words = || {
            let mut own = own.iter().filter(|own| own.contains('_'));
            own.any(|own| reads_by_name(own))
        };
        let word = || {
            let plain = without_mcp(name);
            let mut behind = servers
                .iter()
                .flat_map(|server| strip_server(plain, server));
            behind.any(|own| reads_by_name(&own))
        };
        known.unwrap_or_else(|| words() || word())
    }
}

/// Whether a tool only reads, by its name, where the recordings say so. Of two that disagree the one that
/// writes counts, and a server that says nothing of its tool leaves open what another's of that name does.
pub(crate) fn read_only_hints<'a>(
    offered: impl IntoIterator<Item = &'a OfferedTool>,
) -> BTreeMap<&'a str, bool> {
    let mut of_servers: BTreeMap<(&str, Option<&str>), Option<bool>> = BTreeMap::new();
    for tool in offered {
        let of_server = of_servers.entry((&tool.name, tool.server.as_deref()));
        let so_far = of_server.or_default();
        *so_far = match (*so_far, tool.read_only) {
            (Some(one), Some(other)) => Some(one && other),
            (one, other) => one.or(other),
        };
    }
    let mut hints: BTreeMap<&str, Option<bool>> = BTreeMap::new();
    for ((name, _), hint) in of_servers {
        let so_far = hints.entry(name).or_insert(hint);
        *so_far = match (*so_far, hint) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (one, other) => one.and(other),
        };
    }
    let hints = hints.into_iter();
    hints
        .filter_map(|(name, reads)| Some((name, reads?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_says_nothing_leaves_open_what_a_tool_of_one_name_does() {
        let of = |server: &str, read_only: Option<bool>| OfferedTool {
            read_only,
            ..OfferedTool::from_line(&format!("{server}::sync(id)"))
        };
        let hint = |offered: &[OfferedTool]| read_only_hints(offered).get("sync").copied();
        assert_eq!(hint(&[of("a", Some(true)), of("b", None)]), None);
        assert_eq!(hint(&[of("a", Some(true)), of("a", None)]), Some(true));
        assert_eq!(
            hint(&[of("a", Some(true)), of("b", Some(true))]),
            Some(true)
        );
        assert_eq!(hint(&[of("a", None), of("b", Some(false))]), Some(false));
        assert_eq!(
            hint(&[of("a", Some(false)), of("b", Some(true))]),
            Some(false)
        );
        assert_eq!(hint(&[]), None);
    }

    fn offered(name: &str, read_only: bool) -> OfferedTool {
        OfferedTool {
            read_only: Some(read_only),
            ..OfferedTool::from_line(name)
        }
    }

    #[test]
    fn the_suite_is_stronger_than_the_recording_and_that_than_the_name() {
        let list = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        let recorded = [
            offered("get_lock", false),
            offered("sync", true),
            offered("sync", false),
            offered("audit", true),
            offered("rotate", true),
        ];
        let tools = ReadOnlyTools::new(
            &recorded,
            &list(&["rotate", "both"]),
            &list(&["both", "delete_draft"]),
        );
        for (name, reads) in [
            ("get_lock", false),
            ("sync", false),
            ("audit", true),
            ("rotate", false),
            ("both", true),
            ("delete_draft", true),
            ("get_order", true),
            ("delete_order", false),
        ] {
            assert_eq!(tools.is_read_only(name), reads, "{name}");
        }
    }

    #[test]
    fn the_name_of_a_server_says_nothing_of_what_its_tool_does() {
        let call = |name: &str, server: &str| ToolCall {
            name: name.to_owned(),
            server: server.to_owned(),
            ..ToolCall::default()
        };
        let tools = ReadOnlyTools::new([], [], &["audit".to_owned()]).with_servers(["linear"]);
        for (name, server) in [
            ("slack_list_channels", "slack"),
            ("git_show", "git"),
            ("fsListFiles", "fs"),
            ("mcp_fs_list_files", "fs"),
            ("mcp__fs__audit", ""),
        ] {
            assert!(
                tools.is_read_only_call(&call(name, server)),
                "{name} of {server}"
            );
        }
        assert!(
            tools.is_read_only("linear_list_issues") && !tools.is_read_only("slack_list_channels")
        );
        for (name, server) in [
            ("git_commit", "git"),
            ("fs_delete_file", "fs"),
            ("delete.list", ""),
            ("delete.list", "todo"),
        ] {
            assert!(
                !tools.is_read_only_call(&call(name, server)),
                "{name} of {server}"
            );
        }
    }
}
