//! What a suite may cost to read.

/// Aliases may replay this many nodes in all; a handful of shared blocks needs a few hundred.
pub(crate) const ALIAS_NODES: usize = 10_000;
/// A suite may have this many nodes.
pub(crate) const NODES: usize = 500_000;
/// A suite may nest this deep.
pub(crate) const DEPTH: usize = 128;
