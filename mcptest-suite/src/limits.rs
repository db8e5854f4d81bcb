//! What a suite may cost to read.

/// Aliases may replay this many nodes in all: a list of a hundred tools in each of two thousand agents.
pub(crate) const ALIAS_NODES: usize = 200_000;
/// A suite may have this many nodes.
pub(crate) const NODES: usize = 500_000;
/// A suite may nest this deep.
pub(crate) const DEPTH: usize = 128;
