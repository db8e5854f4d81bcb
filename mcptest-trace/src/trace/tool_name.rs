//! What the name of a tool says, and which tools only read.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use heck::ToSnakeCase as _;

use super::OfferedTool;

/// First words of tools that only read.
const READS: [&str; 22] = [
    "browse",
    "calculate",
    "check",
    "compute",
    "count",
    "describe",
    "fetch",
    "find",
    "get",
    "inspect",
    "list",
    "look",
    "lookup",
    "query",
    "read",
    "retrieve",
    "search",
    "show",
    "think",
    "validate",
    "verify",
    "view",
];

/// Words that change something wherever they stand in a name: they name no thing.
const CHANGES: [&str; 67] = [
    "activate",
    "add",
    "append",
    "apply",
    "approve",
    "assign",
    "attach",
    "ban",
    "block",
    "cancel",
    "clear",
    "commit",
    "complete",
    "create",
    "deactivate",
    "decline",
    "delete",
    "deploy",
    "destroy",
    "disable",
    "drop",
    "edit",
    "enable",
    "erase",
    "execute",
    "grant",
    "insert",
    "install",
    "invite",
    "kill",
    "merge",
    "modify",
    "overwrite",
    "pay",
    "publish",
    "purge",
    "push",
    "put",
    "reject",
    "remove",
    "rename",
    "reopen",
    "replace",
    "reserve",
    "reset",
    "resolve",
    "restart",
    "restore",
    "revoke",
    "save",
    "send",
    "set",
    "stop",
    "submit",
    "subscribe",
    "suspend",
    "terminate",
    "truncate",
    "uninstall",
    "unlock",
    "unsubscribe",
    "upsert",
    "wipe",
    "withdraw",
    "write",
    "consume",
    "acknowledge",
];

/// Words that change something behind *and* or *then*: elsewhere in a name they may be things, `get_order`.
const CHANGES_JOINED: [&str; 14] = [
    "archive", "book", "buy", "change", "charge", "close", "lock", "move", "order", "post",
    "refund", "schedule", "transfer", "update",
];

/// Last words of names that ask something of a change: `check_delete_permission`, `get_send_status`.
const ASKED: [&str; 44] = [
    "ability",
    "access",
    "availability",
    "capabilities",
    "capability",
    "cost",
    "costs",
    "count",
    "counts",
    "date",
    "dates",
    "details",
    "eligibility",
    "error",
    "errors",
    "event",
    "events",
    "fee",
    "fees",
    "history",
    "info",
    "information",
    "instructions",
    "job",
    "jobs",
    "limit",
    "limits",
    "log",
    "logs",
    "option",
    "options",
    "permission",
    "permissions",
    "policies",
    "policy",
    "price",
    "quota",
    "reason",
    "reasons",
    "request",
    "requests",
    "result",
    "results",
    "status",
];

/// The words of a tool's name, in lower case: split at `_`, other signs, and camel case. The name of a
/// server or a group before it, as clients write it (`mcp__github__get_issue`, `calendar.add_event`), is
/// left out where the tool's own has several words, and stands after it where it has one.
///
/// ```
/// use mcptest_trace::trace::words_of_tool;
///
/// assert_eq!(words_of_tool("get_user-details"), ["get", "user", "details"]);
/// assert_eq!(words_of_tool("listHTMLPages2"), ["list", "html", "pages2"]);
/// assert_eq!(words_of_tool("mcp__github__get_issue"), ["get", "issue"]);
/// assert_eq!(words_of_tool("mcp__refunds__create"), ["create", "refunds"]);
/// assert_eq!(words_of_tool("email.delete_email"), ["delete", "email"]);
/// assert_eq!(words_of_tool("emails-send_email"), ["send", "email"]);
/// ```
#[must_use]
pub fn words_of_tool(name: &str) -> Vec<String> {
    let (group, own) = apart(name);
    let own = snake(own);
    let words = match group {
        Some(group) if !own.contains('_') => format!("{own}_{}", snake(group)).into(),
        _ => own,
    };
    let words = words.split('_').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The name of a server or a group, and the tool's own.
pub(crate) fn apart(name: &str) -> (Option<&str>, &str) {
    if is_plain(name) {
        return (None, name);
    }
    let name = name.strip_prefix("mcp__").unwrap_or(name);
    let signs = ["__", ".", "/", ":"];
    let signs = signs.map(|sign| name.rfind(sign).map(|at| (at, at + sign.len())));
    let parted = signs.into_iter().flatten().max_by_key(|(_, own)| *own);
    // *emails-send_email*
    let dash = name.rfind('-').map(|at| (at, at + 1));
    let dash = dash.filter(|(end, own)| name[*own..].contains('_') && !name[..*end].contains('_'));
    match parted.or(dash).filter(|(_, own)| *own < name.len()) {
        Some((end, own)) => (Some(&name[..end]), &name[own..]),
        None => (None, name),
    }
}

/// A name in snake case.
pub(crate) fn snake(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.to_snake_case())
    }
}

/// Whether a name is in snake case already, as most keys and tools are.
fn is_plain(name: &str) -> bool {
    let is_snake = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    name.bytes().all(is_snake) && !name.contains("__")
}

/// Whether a tool only reads, by the first word of its name, where no later word changes something.
///
/// ```
/// use mcptest_trace::trace::reads_by_name;
///
/// assert!(reads_by_name("getUserDetails") && reads_by_name("think"));
/// assert!(!reads_by_name("update_reservation") && !reads_by_name("getaway"));
/// assert!(!reads_by_name("find_or_create_user") && reads_by_name("list_and_count_orders"));
/// assert!(!reads_by_name("list_delete") && !reads_by_name("find_order_then_cancel"));
/// assert!(!reads_by_name("check_in_guest") && reads_by_name("check_delete_permission"));
/// ```
#[must_use]
pub fn reads_by_name(name: &str) -> bool {
    reads_by_words(&words_of_tool(name))
}

/// The same, by the words of its name.
pub(crate) fn reads_by_words(words: &[String]) -> bool {
    let reads = |word: &String| READS.contains(&word.as_str());
    words.first().is_some_and(reads) && !changes_too(words)
}

/// Whether a name that begins with a word that reads has another that changes something.
fn changes_too(words: &[String]) -> bool {
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    let text = |at: usize| words.get(at).map_or("", String::as_str);
    // *check_out_book*, but not *check_in_stock*
    let place = [
        "cache", "database", "db", "list", "progress", "range", "stock", "use",
    ];
    let stays = matches!((text(0), text(1)), ("check", "in" | "out")) && !place.contains(&text(2));
    // *fetch_and_delete*
    let second = matches!(text(1), "and" | "or" | "then")
        && words.get(2).is_some_and(|next| !is(next, &READS));
    let asked = words.last().is_some_and(|last| is(last, &ASKED));
    let mut later = words.iter().enumerate().skip(1);
    let changes = later.any(|(at, word)| match text(at - 1) {
        "and" | "then" => is(word, &CHANGES) || is(word, &CHANGES_JOINED),
        // *get_items_to_delete*
        "to" | "for" | "of" | "by" | "not" => false,
        _ => !asked && is(word, &CHANGES),
    });
    stays || second || changes
}

/// Which tools only read: those that a suite lists, else those that their servers say so of, else
/// those whose names do ([`reads_by_name`]). All others change something.
///
/// ```
/// use mcptest_trace::trace::{OfferedTool, ReadOnlyTools};
///
/// let mut recorded = OfferedTool::in_line("desk::audit(id)");
/// recorded.read_only = Some(true);
/// let tools = ReadOnlyTools::new(&[recorded], &["get_lock".into()], &["ping".into()]);
/// assert!(tools.reads("audit") && tools.reads("ping") && tools.reads("get_order"));
/// assert!(!tools.reads("get_lock") && !tools.reads("cancel_order"));
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

    /// Whether a tool only reads.
    #[must_use]
    pub fn reads(&self, name: &str) -> bool {
        let known = self.known.get(name).copied();
        known.unwrap_or_else(|| reads_by_name(name))
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
    use proptest::prelude::*;

    #[test]
    fn a_server_that_says_nothing_leaves_open_what_a_tool_of_one_name_does() {
        let of = |server: &str, read_only: Option<bool>| OfferedTool {
            read_only,
            ..OfferedTool::in_line(&format!("{server}::sync(id)"))
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
            ..OfferedTool::in_line(name)
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
            assert_eq!(tools.reads(name), reads, "{name}");
        }
    }

    #[test]
    fn a_first_word_that_reads_does_not_hide_one_that_changes() {
        for name in [
            "list_delete",
            "find_order_then_cancel",
            "get_next_and_lock",
            "check_in",
            "check_out_book",
            "checkInGuest",
            "read_write_file",
            "get_set_value",
            "list_create",
            "list_add_item",
            "check_create",
            "query_delete",
            "view_drop",
            "find_replace",
            "search_and_book_flight",
            "get_or_create_user",
            "validate_submit_form",
            "mcp__todo__list_add",
            "todo.list_remove",
            "fetch-and-archive",
            "look_up_user_and_update",
        ] {
            assert!(!reads_by_name(name), "{name}");
        }
        for name in [
            "get_order",
            "list_orders",
            "get_update",
            "list_updates",
            "get_last_change",
            "check_inventory",
            "check_in_stock",
            "get_items_to_delete",
            "check_cancel_eligibility",
            "get_send_status",
            "list_merge_requests",
            "read_book",
            "find_terms_and_conditions",
            "list_and_count_orders",
            "get_reservation_details",
            "search_direct_flight",
            "check_output",
            "get_settings",
            "list_open_orders",
            "get_transfer_limits",
            "get_return_policy",
            "query_database",
        ] {
            assert!(reads_by_name(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn the_words_of_a_name_are_its_letters(name in "[a-zA-Z0-9_ ]{0,20}") {
            prop_assume!(!name.contains("__"));
            let joined: String = words_of_tool(&name).concat();
            let letters: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
            prop_assert_eq!(joined, letters.to_lowercase());
        }
    }
}
