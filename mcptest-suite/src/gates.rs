//! Which gates there are, and which of them an agent declares.
//!
//! What the keys of a gate are, what they mean and how it judges is not known here: who reads a
//! suite brings a [`GateReader`](crate::read::GateReader) for that.

use crate::Span;

/// The table of gates, one line each: the variant of [`GateKind`] and the key in a suite, which is
/// also the name of the module that implements it. Hands its lines to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_gate {
    ($then:ident) => {
        $then! {
            Calls, calls;
            Energy, energy;
            Flow, flow;
            GoldenPath, golden_path;
            Narrative, narrative;
            Playback, playback;
            Recovery, recovery;
            Reliability, reliability;
            Session, session;
            Snapshot, snapshot;
            Stability, stability;
            Trajectory, trajectory;
            TrajectoryAxes, trajectory_axes;
        }
    };
}

macro_rules! kinds {
    ($($variant:ident, $name:ident;)*) => {
        /// The kinds of gate.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum GateKind {
            $(#[doc = concat!("`", stringify!($name), "`")] $variant,)*
        }

        impl GateKind {
            /// Every kind, by name.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The gate's key in a suite, and its segment of the case name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name),)* }
            }

            /// The name as messages quote it.
            #[must_use]
            pub const fn quoted(self) -> &'static str {
                match self { $(Self::$variant => concat!("`", stringify!($name), "`"),)* }
            }
        }
    };
}

for_each_gate!(kinds);

/// A gate that an agent declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gate {
    /// Its kind.
    pub kind: GateKind,
    /// Where its key stands.
    pub span: Span,
    /// Whether the agent's `reliability` counts the runs that it holds for, so that it has no
    /// verdict of its own.
    pub counted: bool,
}

impl Gate {
    /// A gate that nothing counts, declared at a place.
    #[must_use]
    pub fn new(kind: GateKind, span: Span) -> Self {
        Self {
            kind,
            span,
            counted: false,
        }
    }
}
