//! Names of tools with `*` for any characters: `delete_*`, `*_admin`, `*`.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::trace::{ToolCall, own_names, split_server, to_snake_case};

/// A tool's name in which `*` stands for any characters, also none; all else is meant literally. It may be of
/// one server alone.
///
/// ```
/// use mcptest_trace::eval::ToolPattern;
///
/// let pattern = ToolPattern::new("delete_*");
/// assert!(pattern.matches("delete_order") && pattern.matches("delete_"));
/// assert!(!pattern.matches("undelete_order") && !pattern.matches("Delete_order"));
/// assert!(!ToolPattern::new("delete").matches("delete_order"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolPattern {
    name: String,
    server: Option<String>,
}

/// Whether a call is of the tools of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternMatch {
    No,
    Yes,
    /// Its tool's name fits, and nothing says of which server the tool is.
    ServerUnknown,
}

impl ToolPattern {
    /// A pattern; without a `*` it is one name.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            name: pattern.into(),
            server: None,
        }
    }

    /// Limits the pattern to the tools of one server.
    #[must_use]
    pub fn with_server(self, server: impl Into<String>) -> Self {
        Self {
            server: Some(server.into()),
            ..self
        }
    }

    /// The pattern of the name as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// The server whose tools alone are meant.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// Whether the name fits, or the tool's own without that of a server or a group before it, as a client
    /// writes it: `mcp__shop__delete_order`, `shop.deleteOrder`.
    ///
    /// ```
    /// use mcptest_trace::eval::ToolPattern;
    ///
    /// let pattern = ToolPattern::new("delete_*");
    /// assert!(pattern.matches_tool("mcp__shop__delete_order") && pattern.matches_tool("shop.deleteOrder"));
    /// assert!(!pattern.matches_tool("shop.undelete_order"));
    /// ```
    #[must_use]
    pub fn matches_tool(&self, name: &str) -> bool {
        self.matches_tool_of(name, &[])
    }

    /// Whether the name fits, also behind the name of one of these servers: `fs_delete_file` of `fs`.
    ///
    /// ```
    /// use mcptest_trace::eval::ToolPattern;
    ///
    /// let pattern = ToolPattern::new("delete_*");
    /// assert!(pattern.matches_tool_of("fs_delete_file", &["fs"]) && !pattern.matches_tool("fs_delete_file"));
    /// ```
    #[must_use]
    pub fn matches_tool_of(&self, name: &str, servers: &[&str]) -> bool {
        self.matches(name) || own_names(name, servers).iter().any(|own| self.matches(own))
    }

    /// Whether a call is of one of these tools. `servers` may stand before the tools' own names.
    pub(crate) fn match_call(&self, call: &ToolCall, servers: &[&str]) -> PatternMatch {
        let of_call = Some(call.server.as_str()).filter(|server| !server.is_empty());
        let more = self.server().into_iter().chain(of_call);
        let more = more.filter(|server| !servers.contains(server));
        let servers: Vec<&str> = servers.iter().copied().chain(more).collect();
        if !self.matches_tool_of(&call.name, &servers)
            && !of_call.is_some_and(|of| self.matches_wire_name(call, of))
        {
            return PatternMatch::No;
        }
        match (self.server(), call_server(call)) {
            (None, _) => PatternMatch::Yes,
            (Some(_), None) => PatternMatch::ServerUnknown,
            (Some(wanted), Some(server)) if same_server(wanted, server) => PatternMatch::Yes,
            _ => PatternMatch::No,
        }
    }

    /// Whether the pattern is of the name under which clients call a tool of this server: `fs_delete_*`.
    fn matches_wire_name(&self, call: &ToolCall, server: &str) -> bool {
        let spelt = [server, &*to_snake_case(server)].map(|server| {
            let signs = ["__", "_", "-", ".", "/", ":"].into_iter();
            signs
                .map(|sign| format!("{server}{sign}{}", call.name))
                .collect::<Vec<_>>()
        });
        let wire = spelt.iter().flatten();
        let mut wire =
            wire.flat_map(|name| ["", "mcp__", "mcp_"].map(|start| format!("{start}{name}")));
        // A pattern that begins with `*` is of no server.
        !self.name.starts_with('*') && wire.any(|name| self.matches(&name))
    }

    /// Whether the whole name fits.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let Some((start, rest)) = self.name.split_once('*') else {
            return self.name == name;
        };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        let inner = name
            .strip_prefix(start)
            .and_then(|name| name.strip_suffix(end));
        // The first place where each part fits leaves the most to those after it.
        inner.is_some_and(|inner| {
            middle
                .split('*')
                .try_fold(inner, |left, part| Some(left.split_once(part)?.1))
                .is_some()
        })
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.server {
            Some(server) => write!(f, " of `{server}`"),
            None => Ok(()),
        }
    }
}

impl Serialize for ToolPattern {
    /// As a suite has it: a text, or with its server an object.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.server {
            Some(server) => {
                serde_json::json!({ "name": self.name, "server": server }).serialize(serializer)
            }
            None => self.name.serialize(serializer),
        }
    }
}

/// The server of a call's tool: as it was recorded, else what a client wrote before the tool's name.
pub(crate) fn call_server(call: &ToolCall) -> Option<&str> {
    let recorded = Some(call.server.as_str()).filter(|server| !server.is_empty());
    recorded.or_else(|| split_server(&call.name).0)
}

/// Whether two spellings are of one server: clients write `my_server` for *my-server*.
pub(crate) fn same_server(one: &str, other: &str) -> bool {
    one == other || to_snake_case(one) == to_snake_case(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition itself.
    fn fits(pattern: &[char], name: &[char]) -> bool {
        match pattern {
            [] => name.is_empty(),
            ['*', rest @ ..] => (0..=name.len()).any(|skipped| fits(rest, &name[skipped..])),
            [sign, rest @ ..] => name.first() == Some(sign) && fits(rest, &name[1..]),
        }
    }

    #[test]
    fn a_tool_has_its_name_whatever_stands_before_it() {
        for name in [
            "delete_order",
            "mcp__shop__delete_order",
            "shop.delete_order",
            "shop/delete_order",
            "functions.deleteOrder",
        ] {
            assert!(ToolPattern::new("delete_*").matches_tool(name), "{name}");
            assert!(
                ToolPattern::new("delete_order").matches_tool(name),
                "{name}"
            );
        }
        assert!(!ToolPattern::new("delete_order").matches_tool("undelete_order"));
        assert!(!ToolPattern::new("shop").matches_tool("shop.delete_order"));
    }

    #[test]
    fn a_server_that_is_known_is_no_part_of_the_name() {
        let pattern = ToolPattern::new("delete_*");
        for (name, server) in [
            ("fs_delete_file", "fs"),
            ("fs-delete_file", "fs"),
            ("my_server_delete_file", "my-server"),
            ("MyServer_delete_file", "my_server"),
        ] {
            assert!(
                pattern.matches_tool_of(name, &[server]),
                "{name} of {server}"
            );
        }
        assert!(ToolPattern::new("deleteFile").matches_tool_of("fs_deleteFile", &["fs"]));
        assert!(ToolPattern::new("delete-file").matches_tool_of("fs_delete-file", &["fs"]));
        assert!(pattern.matches_tool_of("mcp_fs_delete_file", &["fs"]));
        for (name, server) in [
            ("fs_undelete_file", "fs"),
            ("soft_delete_file", "fs"),
            ("fsdelete_file", "fs"),
        ] {
            assert!(
                !pattern.matches_tool_of(name, &[server]),
                "{name} of {server}"
            );
        }
    }

    #[test]
    fn a_pattern_of_a_server_fits_calls_of_that_server() {
        let pattern = ToolPattern::new("delete_*").with_server("my-fs");
        let call = |name: &str, server: &str| ToolCall {
            name: name.to_owned(),
            server: server.to_owned(),
            ..ToolCall::default()
        };
        assert_eq!(
            pattern.match_call(&call("delete_file", "my_fs"), &[]),
            PatternMatch::Yes
        );
        assert_eq!(
            pattern.match_call(&call("mcp__my-fs__delete_file", ""), &[]),
            PatternMatch::Yes
        );
        assert_eq!(
            pattern.match_call(&call("delete_file", "shop"), &[]),
            PatternMatch::No
        );
        assert_eq!(
            pattern.match_call(&call("read_file", "my-fs"), &[]),
            PatternMatch::No
        );
        assert_eq!(
            pattern.match_call(&call("delete_file", ""), &[]),
            PatternMatch::ServerUnknown
        );
        assert_eq!(pattern.to_string(), "delete_* of `my-fs`");
        // The pattern's own server may stand before the name, whatever the recording says of servers.
        assert_eq!(
            pattern.match_call(&call("my_fs_delete_file", ""), &[]),
            PatternMatch::ServerUnknown
        );
    }

    #[test]
    fn a_pattern_may_be_of_the_name_that_a_client_has_for_a_tool() {
        let call = |server: &str| ToolCall {
            name: "delete_file".to_owned(),
            server: server.to_owned(),
            ..ToolCall::default()
        };
        for wire in [
            "fs_delete_file",
            "fs_delete_*",
            "fs.delete_file",
            "mcp__fs__delete_file",
            "mcp__fs__*",
        ] {
            assert_eq!(
                ToolPattern::new(wire).match_call(&call("fs"), &[]),
                PatternMatch::Yes,
                "{wire}"
            );
            assert_eq!(
                ToolPattern::new(wire).match_call(&call("db"), &[]),
                PatternMatch::No,
                "{wire}"
            );
        }
        assert_eq!(
            ToolPattern::new("fs_read_*").match_call(&call("fs"), &[]),
            PatternMatch::No
        );
        assert_eq!(
            ToolPattern::new("*_undelete_file").match_call(&call("fs"), &[]),
            PatternMatch::No
        );
    }

    #[test]
    fn the_ends_do_not_share_a_character() {
        assert!(!ToolPattern::new("ab*ba").matches("aba"));
        assert!(ToolPattern::new("ab*ba").matches("abba"));
        assert!(ToolPattern::new("*").matches(""));
        assert!(!ToolPattern::new("").matches("a"));
    }

    proptest! {
        #[test]
        fn a_name_fits_as_the_definition_says(pattern in "[ab*]{0,7}", name in "[ab]{0,8}") {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(
                ToolPattern::new(pattern.as_str()).matches(&name),
                fits(&letters(&pattern), &letters(&name))
            );
        }
    }
}
