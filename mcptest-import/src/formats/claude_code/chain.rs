//! Which lines of a session are its run: those that lead to its last line.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use crate::input::Record;
use crate::json::{is_set, list, text, word};
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
pub(super) struct Beside<'v> {
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

    fn own(&self, key: &str) -> Option<&'v str> {
        word(self.value, key)
    }

    pub(super) fn at(&self) -> Option<i64> {
        word(self.value, "timestamp").and_then(time::milliseconds)
    }

    /// What tells which of two lines was first: of those that are printed few have a time.
    pub(super) fn order(&self) -> Option<i64> {
        let is_printed = self.own("session_id").is_some();
        if is_printed {
            Some(self.index)
        } else {
            self.at()
        }
    }

    fn speaks(&self) -> bool {
        matches!(self.kind, "user" | "assistant")
    }

    /// The model call that a line is of. What the program says itself is none.
    pub(super) fn model_call(&self) -> Option<&'v str> {
        let made_up = text(&self.value["message"], "model") == Some("<synthetic>")
            || is_set(self.value, "isApiErrorMessage");
        let id = word(&self.value["message"], "id").or_else(|| self.own("uuid"));
        id.filter(|_| self.kind == "assistant" && !made_up)
    }

    fn calls(&self) -> impl Iterator<Item = &'v str> {
        let blocks = list(&self.value["message"], "content").iter();
        blocks
            .filter(|block| text(block, "type") == Some("tool_use"))
            .filter_map(|block| text(block, "id"))
    }

    fn results(&self) -> impl Iterator<Item = &'v str> {
        let blocks = list(&self.value["message"], "content").iter();
        blocks.filter_map(|block| text(block, "tool_use_id"))
    }

    /// The line before this one, also across a compaction.
    fn parent(&self) -> Option<&'v str> {
        self.own("logicalParentUuid")
            .or_else(|| self.own("parentUuid"))
    }
}

/// The lines of the main chain, in the order of their times, and what is beside it.
pub(super) fn read_lines<'v>(records: &'v [Record<'_>]) -> (Vec<SessionLine<'v>>, Beside<'v>) {
    let mut seen = HashMap::new();
    let mut beside = Beside::default();
    let mut lines: Vec<SessionLine<'v>> = Vec::new();
    for (index, record) in (0..).zip(records) {
        let value = &record.value;
        let Some(kind) = text(value, "type") else {
            continue;
        };
        // The same line may stand in two files.
        if let Some(uuid) = word(value, "uuid") {
            let file = record.part.input;
            let first = *seen.entry(uuid).or_insert((index, file));
            if first.0 != index {
                beside.copied |= first.1 != file;
                continue;
            }
        }
        let line = SessionLine { value, kind, index };
        let caller = word(value, "parent_tool_use_id");
        if is_set(value, "isSidechain") || caller.is_some() {
            let agent = word(value, "agentId").or(caller);
            let agent = agent.unwrap_or("sidechain").to_owned();
            beside.sidechains.entry(agent).or_default().push(line);
        } else {
            lines.push(line);
        }
    }
    // The files of a session may come in any order.
    let mut spoken = lines.iter().filter(|line| line.speaks());
    if spoken.all(|line| line.at().is_some()) {
        lines.sort_by_cached_key(SessionLine::at);
    }
    if lines.iter().any(|line| line.parent().is_some()) {
        let kept = chain(&lines);
        let mut both = lines.iter().zip(&kept);
        beside.rewound = both.any(|(line, kept)| line.speaks() && !kept);
        let mut kept = kept.into_iter();
        lines.retain(|_| kept.next() == Some(true));
    }
    lines.retain(SessionLine::speaks);
    (lines, beside)
}

/// Which lines lead to the last one; one whose parent is missing follows the line before it. Parallel calls
/// make a tree: lines of the same model calls are kept, too, and the results of calls that are kept.
fn chain(lines: &[SessionLine<'_>]) -> Vec<bool> {
    let by_id = lines.iter().enumerate();
    let by_id = by_id.filter_map(|(index, line)| Some((line.own("uuid")?, index)));
    let by_id: HashMap<&str, usize> = by_id.collect();
    // For each line, the one before it that speaks.
    let mut last = None;
    let spoken = lines.iter().enumerate().map(|(index, line)| {
        let before = last;
        last = Some(index).filter(|_| line.speaks()).or(last);
        before
    });
    let spoken: Vec<Option<usize>> = spoken.collect();
    let mut kept = vec![false; lines.len()];
    let mut next = lines.iter().rposition(SessionLine::speaks);
    while let Some(index) = next {
        // A circle, or what is kept already.
        if std::mem::replace(&mut kept[index], true) {
            break;
        }
        let before = || spoken[index];
        // Some releases begin a new tree with the summary of what they compacted.
        let compacted = is_set(lines[index].value, "isCompactSummary");
        next = lines[index].parent().map_or_else(
            || before().filter(|_| compacted),
            |id| by_id.get(id).copied().or_else(before),
        );
    }
    let of_calls: HashSet<&str> = lines_kept(lines, &kept)
        .filter_map(SessionLine::model_call)
        .collect();
    for (line, kept) in lines.iter().zip(&mut kept) {
        *kept |= line.model_call().is_some_and(|id| of_calls.contains(id));
    }
    let calls: HashSet<&str> = lines_kept(lines, &kept)
        .flat_map(SessionLine::calls)
        .collect();
    for (line, kept) in lines.iter().zip(&mut kept) {
        *kept |= line.results().any(|id| calls.contains(id));
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
