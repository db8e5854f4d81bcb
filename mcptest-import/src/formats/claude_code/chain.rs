//! Which lines of a session are its run: those that lead to its last line.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use crate::input::Record;
use crate::json::{is_set, list, nonempty_text, text};
use crate::time;

/// A line of a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionLine<'v> {
    pub(super) value: &'v Value,
    pub(super) kind: &'v str,
    index: i64,
}

/// The lines that are not in the main chain.
#[derive(Debug, Default)]
pub(super) struct OffChain<'v> {
    /// The lines of each sub-agent.
    pub(super) sidechains: BTreeMap<String, Vec<SessionLine<'v>>>,
    /// Whether there are branches that the user went back from, or cleared.
    pub(super) rewound: bool,
    /// Whether several files have the same lines.
    pub(super) copied: bool,
}

impl<'v> SessionLine<'v> {
    #[cfg(test)]
    pub(super) fn new(value: &'v Value) -> Self {
        Self {
            value,
            kind: "assistant",
            index: 0,
        }
    }

    fn text_field(&self, key: &str) -> Option<&'v str> {
        nonempty_text(self.value, key)
    }

    pub(super) fn timestamp(&self) -> Option<i64> {
        nonempty_text(self.value, "timestamp").and_then(time::parse_rfc3339)
    }

    /// What tells which of two lines was first: of those that are printed few have a time.
    pub(super) fn sort_key(&self) -> Option<i64> {
        let is_printed = self.text_field("session_id").is_some();
        if is_printed {
            Some(self.index)
        } else {
            self.timestamp()
        }
    }

    fn is_message(&self) -> bool {
        matches!(self.kind, "user" | "assistant")
    }

    /// The model call that a line is of. What the program says itself is none.
    pub(super) fn model_call_id(&self) -> Option<&'v str> {
        let made_up = text(&self.value["message"], "model") == Some("<synthetic>")
            || is_set(self.value, "isApiErrorMessage");
        let id = nonempty_text(&self.value["message"], "id").or_else(|| self.text_field("uuid"));
        id.filter(|_| self.kind == "assistant" && !made_up)
    }

    fn call_ids(&self) -> impl Iterator<Item = &'v str> {
        let blocks = list(&self.value["message"], "content").iter();
        blocks
            .filter(|block| text(block, "type") == Some("tool_use"))
            .filter_map(|block| text(block, "id"))
    }

    fn result_ids(&self) -> impl Iterator<Item = &'v str> {
        let blocks = list(&self.value["message"], "content").iter();
        blocks.filter_map(|block| text(block, "tool_use_id"))
    }

    /// The line before this one, also across a compaction.
    fn parent_id(&self) -> Option<&'v str> {
        self.text_field("logicalParentUuid")
            .or_else(|| self.text_field("parentUuid"))
    }
}

/// The lines of the main chain, in the order of their times, and what is beside it.
pub(super) fn read_lines<'v>(records: &'v [Record<'_>]) -> (Vec<SessionLine<'v>>, OffChain<'v>) {
    let mut seen = HashMap::new();
    let mut beside = OffChain::default();
    let mut lines: Vec<SessionLine<'v>> = Vec::new();
    for (index, record) in (0..).zip(records) {
        let value = &record.value;
        let Some(kind) = text(value, "type") else {
            continue;
        };
        // The same line may stand in two files.
        if let Some(uuid) = nonempty_text(value, "uuid") {
            let file = record.part.input;
            let first = *seen.entry(uuid).or_insert((index, file));
            if first.0 != index {
                beside.copied |= first.1 != file;
                continue;
            }
        }
        let line = SessionLine { value, kind, index };
        let caller = nonempty_text(value, "parent_tool_use_id");
        if is_set(value, "isSidechain") || caller.is_some() {
            let agent = nonempty_text(value, "agentId").or(caller);
            let agent = agent.unwrap_or("sidechain").to_owned();
            beside.sidechains.entry(agent).or_default().push(line);
        } else {
            lines.push(line);
        }
    }
    // The files of a session may come in any order.
    let mut spoken = lines.iter().filter(|line| line.is_message());
    if spoken.all(|line| line.timestamp().is_some()) {
        lines.sort_by_cached_key(SessionLine::timestamp);
    }
    if lines.iter().any(|line| line.parent_id().is_some()) {
        let kept = mark_main_chain(&lines);
        let mut both = lines.iter().zip(&kept);
        beside.rewound = both.any(|(line, kept)| line.is_message() && !kept);
        let mut kept = kept.into_iter();
        lines.retain(|_| kept.next() == Some(true));
    }
    lines.retain(SessionLine::is_message);
    (lines, beside)
}

/// Which lines lead to the last one; one whose parent is missing follows the line before it. Parallel calls
/// make a tree: lines of the same model calls are kept, too, and the results of calls that are kept.
fn mark_main_chain(lines: &[SessionLine<'_>]) -> Vec<bool> {
    let by_id = lines.iter().enumerate();
    let by_id = by_id.filter_map(|(index, line)| Some((line.text_field("uuid")?, index)));
    let by_id: HashMap<&str, usize> = by_id.collect();
    // For each line, the one before it that speaks.
    let mut last = None;
    let spoken = lines.iter().enumerate().map(|(index, line)| {
        let before = last;
        last = Some(index).filter(|_| line.is_message()).or(last);
        before
    });
    let spoken: Vec<Option<usize>> = spoken.collect();
    let mut kept = vec![false; lines.len()];
    let mut next = lines.iter().rposition(SessionLine::is_message);
    while let Some(index) = next {
        // A circle, or what is kept already.
        if std::mem::replace(&mut kept[index], true) {
            break;
        }
        let before = || spoken[index];
        // Some releases begin a new tree with the summary of what they compacted.
        let compacted = is_set(lines[index].value, "isCompactSummary");
        next = lines[index].parent_id().map_or_else(
            || before().filter(|_| compacted),
            |id| by_id.get(id).copied().or_else(before),
        );
    }
    let of_calls: HashSet<&str> = lines_kept(lines, &kept)
        .filter_map(SessionLine::model_call_id)
        .collect();
    for (line, kept) in lines.iter().zip(&mut kept) {
        *kept |= line.model_call_id().is_some_and(|id| of_calls.contains(id));
    }
    let calls: HashSet<&str> = lines_kept(lines, &kept)
        .flat_map(SessionLine::call_ids)
        .collect();
    for (line, kept) in lines.iter().zip(&mut kept) {
        *kept |= line.result_ids().any(|id| calls.contains(id));
    }
    kept
}

fn lines_kept<'l, 'v>(
    lines: &'l [SessionLine<'v>],
    kept: &'l [bool],
) -> impl Iterator<Item = &'l SessionLine<'v>> {
    let pairs = lines.iter().zip(kept);
    pairs.filter(|(_, kept)| **kept).map(|(line, _)| line)
}
