//! What a suite may cost to read.

/// Aliases may stand for this many events in all: one for a scalar, two for a list or a map beside what is in it.
/// A list of 98 tools in each of two thousand agents is as many.
pub(crate) const ALIAS_EVENTS: usize = 200_000;
/// A suite may have this many nodes.
pub(crate) const NODES: usize = 500_000;
/// A suite may nest this deep.
pub(crate) const DEPTH: usize = 128;
