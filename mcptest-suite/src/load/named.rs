//! Mappings whose keys are names that the suite gives.

use super::problems::Problems;
use crate::{Entry, Node, Spanned};

/// The entries of a mapping of names. If the node is no mapping, there are none, and a problem is noted.
pub(super) fn named_entries<'n>(node: &'n Node, of: &str, problems: &mut Problems) -> &'n [Entry] {
    if node.entries().is_none() {
        problems.expected(&format!("a mapping of names to {of}"), node);
    }
    node.entries().unwrap_or_default()
}

pub(super) fn entry_name(entry: &Entry) -> Spanned<String> {
    Spanned::new(entry.key.clone(), entry.key_span)
}
