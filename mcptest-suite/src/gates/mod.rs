//! The gates' blocks in a suite: one file a gate, one line each in the table below.
//!
//! A gate's file holds its options, how they are read, and what its targets are. How a gate computes
//! and decides is not known here.
//!
#![doc = include_str!("targets.md")]

mod demand;
mod energy;
mod golden_path;
mod narrative;
mod recovery;
mod reliability;
mod session;
mod snapshot;
mod stability;
mod target;
mod trajectory;
mod trajectory_axes;

pub(crate) use demand::check_run;
pub use energy::{Adaptive, Energy};
pub use golden_path::GoldenPath;
pub use narrative::Narrative;
pub use recovery::Recovery;
pub use reliability::{Confidence, Outcome, Reliability};
pub use session::{Session, SignalWeights};
pub use snapshot::Snapshot;
pub use stability::{Floors, Stability};
pub use target::{Better, GateTarget, Unit};
pub use trajectory::{ArgumentShape, ExpectedCall, MatchMode, Trajectory};
pub use trajectory_axes::{Dependency, Order, TrajectoryAxes};

use crate::load::assertion::gate_list;
use crate::load::fields::{Fields, Problems};
use crate::load::snapshots;
use crate::model::{Assertion, Segment};
use crate::{Diagnostic, Entry, Span, Spanned, nearest, quoted_list};

/// What a gate may need to know of its agent while it is read.
pub(crate) struct AgentFacts<'a> {
    /// How many runs there are; `None` when the suite says it wrongly.
    pub(crate) runs: Option<&'a Spanned<usize>>,
    pub(crate) injects: bool,
    pub(crate) expects: Expects,
    pub(crate) gates: &'a [GateKind],
}

/// What an agent's `expect:` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expects {
    /// There is none.
    Nothing,
    /// Assertions that can be judged.
    Something,
    /// Only assertions whose matchers need a model.
    OnlyOfModels,
}

/// The options of a gate, as they are read from its block.
pub(crate) trait Block: Sized {
    /// Reads the options; nothing with a problem noted where they make no gate. `span` is where the
    /// gate's key stands.
    fn read(
        fields: &mut Fields<'_>,
        agent: &AgentFacts<'_>,
        span: Span,
        problems: &mut Problems,
    ) -> Option<Self>;
}

/// What a gate judges.
enum Judges {
    EachRun,
    AllRuns,
}

macro_rules! gates {
    ($($variant:ident, $module:ident, $owner:literal, $judges:ident;)*) => {
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

            /// The gate as one that judges one run at a time, where it does.
            #[must_use]
            pub const fn per_run(self) -> Option<PerRunKind> {
                match self {
                    $(Self::$variant => match Judges::$judges {
                        Judges::EachRun => Some(PerRunKind(self)),
                        Judges::AllRuns => None,
                    },)*
                }
            }

            /// The targets of the gate's `expect:`.
            #[must_use]
            pub const fn targets(self) -> &'static [GateTarget] {
                match self { $(Self::$variant => $module::TARGETS,)* }
            }

            fn read(
                self, fields: &mut Fields<'_>, agent: &AgentFacts<'_>, span: Span, problems: &mut Problems,
            ) -> Option<GateOptions> {
                match self {
                    $(Self::$variant =>
                        <$variant as Block>::read(fields, agent, span, problems).map(GateOptions::$variant),)*
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
    Energy, energy, "`energy`", EachRun;
    GoldenPath, golden_path, "`golden_path`", EachRun;
    Narrative, narrative, "`narrative`", EachRun;
    Recovery, recovery, "`recovery`", EachRun;
    Reliability, reliability, "`reliability`", AllRuns;
    Session, session, "`session`", AllRuns;
    Snapshot, snapshot, "`snapshot`", AllRuns;
    Stability, stability, "`stability`", AllRuns;
    Trajectory, trajectory, "`trajectory`", EachRun;
    TrajectoryAxes, trajectory_axes, "`trajectory_axes`", EachRun;
}

/// A kind of gate that judges one run at a time, so that a run's outcome can be its verdict. There
/// is none of a gate that looks at all runs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PerRunKind(GateKind);

impl PerRunKind {
    /// Every such kind, by name.
    pub(crate) fn all() -> impl Iterator<Item = Self> + Clone {
        GateKind::ALL.iter().filter_map(|kind| kind.per_run())
    }

    /// The kind of gate.
    #[must_use]
    pub const fn kind(self) -> GateKind {
        self.0
    }
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
        snapshots::refuse(&expect, problems);
        for assertion in &expect {
            check_target(kind, assertion, problems);
        }
        fields.finish(problems);
        Some(Self {
            options: options?,
            span,
            expect,
        })
    }
}

/// A gate's targets are known, so a wrong one is a problem of the suite, and so is one that is asked
/// for what it always or never is.
fn check_target(kind: GateKind, assertion: &Assertion, problems: &mut Problems) {
    let target = &assertion.target;
    let known = kind.targets();
    let names = || known.iter().map(|target| target.name);
    let longest = (1..=target.segments.len()).rev().find_map(|end| {
        let prefix = target.prefix(end);
        let found = known.iter().find(|target| target.name == prefix)?;
        Some((found, &target.segments[end..]))
    });
    let problem = |message: String| Diagnostic::at(target.span, message);
    let (gate, text) = (kind.name(), &target.text);
    problems.push(match longest {
        Some((found, rest @ [])) => return demand::check(assertion, found, rest, problems),
        Some((found, rest @ [step, ..])) if found.list => match step {
            Segment::Key(key) if key != "length" => {
                let list = found.name;
                problem(format!("`{list}` is a list and has no `{key}`")).help(format!(
                    "take an element, e.g. `{list}[0]`, or `{list}.length`"
                ))
            }
            _ => return demand::check(assertion, found, rest, problems),
        },
        Some((one, _)) => {
            let name = one.name;
            problem(format!("`{name}` is one value, so there is no `{text}`"))
                .help(format!("write `{name}`"))
        }
        None => {
            let problem = problem(format!("`{gate}` has no target `{text}`"))
                .note(format!("its targets: {}", quoted_list(names())));
            let without_gate =
                |name: &&str| name.split_once('.').is_some_and(|(_, rest)| rest == text);
            let near = names().find(without_gate);
            match near.or_else(|| nearest(text, names())) {
                Some(near) => {
                    let meant = known.iter().find(|target| target.name == near);
                    let problem = problem.help(format!("did you mean `{near}`?"));
                    match meant {
                        Some(meant) => problem.note(format!("`{near}` is {meant}")),
                        None => problem,
                    }
                }
                None => problem,
            }
        }
    });
}
