//! The gates' blocks in a suite: one file a gate, one line each in the table below.
//!
//! A gate's file holds its options and how they are read. What a gate computes and decides is not
//! known here.

mod energy;
mod golden_path;
mod narrative;
mod recovery;
mod reliability;
mod session;
mod snapshot;
mod stability;
mod trajectory;
mod trajectory_axes;

pub use energy::{Adaptive, Energy};
pub use golden_path::GoldenPath;
pub use narrative::Narrative;
pub use recovery::Recovery;
pub use reliability::{Confidence, Outcome, Reliability};
pub use session::{Session, SignalWeights};
pub use snapshot::Snapshot;
pub use stability::{Floors, Stability};
pub use trajectory::{ArgumentShape, ExpectedCall, MatchMode, Trajectory};
pub use trajectory_axes::{Dependency, Order, TrajectoryAxes};

use crate::load::assertion::gate_list;
use crate::load::fields::{Fields, Problems, did_you_mean};
use crate::model::{Assertion, Segment, Target};
use crate::{Diagnostic, Entry, Span, Spanned, quoted_list};

/// What a gate may need to know of its agent while it is read.
pub(crate) struct AgentFacts<'a> {
    pub(crate) runs: &'a Spanned<usize>,
    pub(crate) injects: bool,
    pub(crate) expects: bool,
    pub(crate) gates: &'a [GateKind],
}

macro_rules! gates {
    ($($variant:ident, $module:ident, $owner:literal;)*) => {
        /// The kinds of gate.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum GateKind {
            $(#[doc = concat!("`", stringify!($module), "`")] $variant,)*
        }

        /// The options of a gate's block.
        #[derive(Debug, Clone, PartialEq)]
        pub enum GateOptions {
            $(#[doc = concat!("of `", stringify!($module), "`")] $variant($variant),)*
        }

        impl GateKind {
            /// Every kind, by name.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The gate's key in a suite, and its segment of the case name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($module),)* }
            }

            /// The targets of the gate's `expect:`.
            #[must_use]
            pub const fn targets(self) -> &'static [&'static str] {
                match self { $(Self::$variant => $module::TARGETS,)* }
            }

            fn read(
                self, fields: &mut Fields<'_>, agent: &AgentFacts<'_>, span: Span, problems: &mut Problems,
            ) -> Option<GateOptions> {
                match self {
                    $(Self::$variant =>
                        $variant::read(fields, agent, span, problems).map(GateOptions::$variant),)*
                }
            }

            const fn owner(self) -> &'static str {
                match self { $(Self::$variant => $owner,)* }
            }
        }

        impl GateOptions {
            /// The gate's kind.
            #[must_use]
            pub const fn kind(&self) -> GateKind {
                match self { $(Self::$variant(_) => GateKind::$variant,)* }
            }
        }
    };
}

gates! {
    Energy, energy, "`energy`";
    GoldenPath, golden_path, "`golden_path`";
    Narrative, narrative, "`narrative`";
    Recovery, recovery, "`recovery`";
    Reliability, reliability, "`reliability`";
    Session, session, "`session`";
    Snapshot, snapshot, "`snapshot`";
    Stability, stability, "`stability`";
    Trajectory, trajectory, "`trajectory`";
    TrajectoryAxes, trajectory_axes, "`trajectory_axes`";
}

/// A gate of an agent test.
#[derive(Debug, Clone, PartialEq)]
pub struct GateBlock {
    /// Its options.
    pub options: GateOptions,
    /// Where its key stands.
    pub span: Span,
    /// What must hold; empty for the gate's default.
    pub expect: Vec<Assertion>,
}

impl GateBlock {
    /// The gate's kind.
    #[must_use]
    pub const fn kind(&self) -> GateKind {
        self.options.kind()
    }

    /// Reads one gate's block.
    pub(crate) fn read(
        kind: GateKind,
        entry: &Entry,
        agent: &AgentFacts<'_>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let span = entry.key_span;
        if entry.value.entries().is_none() {
            problems.push(
                Diagnostic::at(
                    span,
                    format!(
                        "`{}` needs a mapping, found {}",
                        kind.name(),
                        entry.value.kind()
                    ),
                )
                .help(format!(
                    "write `{}: {{}}` for its default gate",
                    kind.name()
                )),
            );
            return None;
        }
        let mut fields = Fields::open(&entry.value, kind.owner(), problems)?;
        if fields.span == entry.value.span {
            fields.span = span;
        }
        let options = kind.read(&mut fields, agent, span, problems);
        let expect = if kind.targets().is_empty() {
            None
        } else {
            fields.get("expect")
        };
        let expect = expect
            .map(|node| gate_list(node, problems))
            .unwrap_or_default();
        for assertion in &expect {
            check_target(kind, &assertion.target, problems);
        }
        fields.finish(problems);
        Some(Self {
            options: options?,
            span,
            expect,
        })
    }
}

/// A gate's targets are known, so a wrong one is a problem of the suite.
fn check_target(kind: GateKind, target: &Target, problems: &mut Problems) {
    let keys = target
        .segments
        .iter()
        .take_while(|segment| matches!(segment, Segment::Key(_)));
    let mut end = keys.count();
    let rest = target.prefix(end);
    let known = kind.targets();
    if known.contains(&rest.as_str()) {
        return;
    }
    if target.segments.get(end - usize::from(end > 0)) == Some(&Segment::Key("length".to_owned())) {
        end -= 1;
        if known.contains(&target.prefix(end).as_str()) {
            return;
        }
    }
    let problem = Diagnostic::at(
        target.span,
        format!("`{}` has no target `{}`", kind.name(), target.text),
    );
    let unprefixed = known.iter().find(|name| {
        name.split_once('.')
            .is_some_and(|(_, rest)| rest == target.text)
    });
    problems.push(match unprefixed {
        Some(name) => problem.help(format!("did you mean `{name}`?")),
        None => did_you_mean(problem, &target.text, known.iter().copied(), "targets").note(
            format!("its targets: {}", quoted_list(known.iter().copied())),
        ),
    });
}
