//! What is not held against the recording, and what is blanked before it is.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::divergence::DivergenceKind;

/// How a played run is held against its recording.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PlaybackOptions {
    /// Kinds that are no divergence.
    pub ignore: BTreeSet<DivergenceKind>,
    /// Values that are no divergence.
    pub ignore_paths: Vec<IgnoredPath>,
    /// Regular expressions: what they match is blanked on both sides before the two are compared.
    pub mask: Vec<String>,
    /// How many seconds a played run may take.
    pub timeout_s: f64,
    /// Whether the agent's gates judge the played run too.
    pub gates: bool,
    /// Tools of the agent's own that run for real while a run is played; `*` is each of them.
    pub run: Vec<String>,
}

impl PlaybackOptions {
    /// What holds where a suite says nothing: nothing is ignored, a minute, all gates.
    #[must_use]
    pub fn suite_default() -> Self {
        Self {
            timeout_s: 60.0,
            gates: true,
            ..Self::default()
        }
    }

    /// Whether a tool of the agent's own runs for real while a run is played.
    #[must_use]
    pub fn runs(&self, tool: &str) -> bool {
        self.run.iter().any(|named| named == "*" || named == tool)
    }
}

/// A path of values that are not compared: `tool_results[*].looked_up`, `parameters.seed`, `tools[refund].description`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredPath {
    text: String,
    kind: DivergenceKind,
    /// The first step after the kind; `None` stands for every one.
    item: Option<String>,
    rest: Vec<String>,
}

/// The kinds that a path may begin with.
const ROOTS: [DivergenceKind; 5] = [
    DivergenceKind::ToolResults,
    DivergenceKind::AssistantTurns,
    DivergenceKind::Parameters,
    DivergenceKind::Tools,
    DivergenceKind::UserTurns,
];

impl IgnoredPath {
    /// Whether the path is of all of a kind, or of one item of it, as a whole.
    #[must_use]
    pub fn covers(&self, kind: DivergenceKind, item: &str) -> bool {
        self.kind == kind && self.rest.is_empty() && self.matches_item(item)
    }

    /// Takes the values of the path out of the value of an item.
    pub fn remove(&self, kind: DivergenceKind, item: &str, value: &mut Value) {
        if self.kind == kind && self.matches_item(item) {
            remove_path(value, &self.rest);
        }
    }

    fn matches_item(&self, item: &str) -> bool {
        self.item.as_deref().is_none_or(|own| own == item)
    }
}

fn remove_path(value: &mut Value, path: &[String]) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    match value {
        Value::Object(map) if rest.is_empty() => {
            map.remove(first);
        }
        Value::Object(map) => {
            if let Some(inner) = map.get_mut(first) {
                remove_path(inner, rest);
            }
        }
        Value::Array(items) if first == "*" => {
            if rest.is_empty() {
                items.clear();
            }
            for item in items {
                remove_path(item, rest);
            }
        }
        Value::Array(items) => {
            let item = first
                .parse::<usize>()
                .ok()
                .and_then(|index| items.get_mut(index));
            match item {
                Some(item) if rest.is_empty() => *item = Value::Null,
                Some(item) => remove_path(item, rest),
                None => {}
            }
        }
        _ => {}
    }
}

impl FromStr for IgnoredPath {
    type Err = IgnoredPathError;

    /// Reads a path: a kind, `[*]`, `[n]` or `[name]`, then keys with dots and `[*]` or `[n]` for items of lists.
    fn from_str(text: &str) -> Result<Self, IgnoredPathError> {
        let path = || text.to_owned();
        let mut steps = Vec::new();
        let mut rest = text.trim();
        let head = rest.find(['.', '[']).unwrap_or(rest.len());
        let (root, after) = rest.split_at(head);
        rest = after;
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let Some((item, after)) = inner.split_once(']') else {
                    return Err(IgnoredPathError::UnclosedBracket { path: path() });
                };
                steps.push(item.trim().trim_matches(['"', '\'']).to_owned());
                rest = after;
            } else {
                let inner = rest.strip_prefix('.').unwrap_or(rest);
                let end = inner.find(['.', '[']).unwrap_or(inner.len());
                steps.push(inner[..end].to_owned());
                rest = &inner[end..];
            }
        }
        if steps.iter().any(String::is_empty) {
            return Err(IgnoredPathError::EmptyStep { path: path() });
        }
        let Some(kind) = ROOTS.into_iter().find(|kind| kind.as_str() == root) else {
            return Err(IgnoredPathError::UnknownRoot { path: path() });
        };
        if steps.is_empty() || steps == ["*"] {
            return Err(IgnoredPathError::WholeList { path: path(), kind });
        }
        let item = steps.remove(0);
        Ok(Self {
            text: text.to_owned(),
            kind,
            item: (item != "*").then_some(item),
            rest: steps,
        })
    }
}

/// Why a text is no [`IgnoredPath`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum IgnoredPathError {
    /// A `[` has no `]`.
    UnclosedBracket {
        /// The text.
        path: String,
    },
    /// Nothing stands between two dots, or in brackets.
    EmptyStep {
        /// The text.
        path: String,
    },
    /// It begins with no kind of difference that has values.
    UnknownRoot {
        /// The text.
        path: String,
    },
    /// It names all values of a kind, which is what the option `ignore` is for.
    WholeList {
        /// The text.
        path: String,
        /// The kind.
        kind: DivergenceKind,
    },
}

impl fmt::Display for IgnoredPathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnclosedBracket { path } => write!(f, "`{path}` has a `[` without a `]`"),
            Self::EmptyStep { path } => write!(f, "`{path}` has an empty step"),
            Self::UnknownRoot { path } => {
                let roots = ROOTS.map(DivergenceKind::as_str).join("`, `");
                write!(
                    f,
                    "a path begins with one of `{roots}`, and `{path}` does not"
                )
            }
            Self::WholeList { path, kind } => write!(
                f,
                "`{path}` is the whole list: write `ignore: [{}]`, or continue the path with `[*]` and a key",
                kind.as_str()
            ),
        }
    }
}

impl std::error::Error for IgnoredPathError {}

impl fmt::Display for IgnoredPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tool_runs_that_is_not_named() {
        let mut options = PlaybackOptions::suite_default();
        assert!(!options.runs("refund") && !options.runs("*"));
        options.run = vec!["get_order".to_owned()];
        assert!(options.runs("get_order") && !options.runs("get_orders"));
        options.run = vec!["*".to_owned()];
        assert!(options.runs("refund"));
    }
}
