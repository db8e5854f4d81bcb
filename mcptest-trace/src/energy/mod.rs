//! Energy: is an agent's run growing out of hand, has it left its policy, and why.
//!
//! Two uses of one core. Live, in an agent's loop, a [`GrowthRatioGuard`] takes every step and
//! stops a spiral: `guard.record(step)?`. Over a recorded run, [`analyse`] says what a guard would
//! have done and saved. Around them: [`drift()`] from a policy, history compression
//! ([`Decimator`]), a [`FailureReport`] that tells the patterns of failure apart, and sweeps of the
//! guard's options over runs with outcomes ([`sweep()`]).
//!
//! Sections (§) are those of *Empirical Lyapunov Stability: Growth-Ratio Energy Functions as
//! Leading Indicators of Agent Task Failure*.
//!
//! Everything here is pure: no I/O, no clock, no random source, nothing about suites or gates.
//! Counts saturate, and no function returns NaN.
//!
//! ```
//! use mcptest_trace::energy::{EnergyError, GrowthRatioGuard, GuardOptions, Step};
//!
//! fn agent(guard: &mut GrowthRatioGuard) -> Result<(), EnergyError> {
//!     let mut context = 1_000;
//!     loop {
//!         // Call the model, run the tools, and say what it took:
//!         guard.record(Step::new(context).with_errors(0))?;
//!         context += context / 2;
//!     }
//! }
//!
//! let mut guard = GrowthRatioGuard::new(GuardOptions::default())?;
//! let error = agent(&mut guard).unwrap_err();
//! assert_eq!(error.step(), 6);
//! println!("{}", guard.report());
//! # Ok::<(), mcptest_trace::energy::OptionsError>(())
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "tests compare exact results and make their own numbers"
    )
)]

mod analysis;
mod compress;
mod condition;
mod diagnose;
mod drift;
mod estimate;
mod guard;
mod hypervector;
mod naive;
mod options;
mod pattern;
mod report;
pub(crate) mod splitmix;
mod status;
mod sweep;
mod trajectory;
mod unconfirmed;
mod votes;

pub use analysis::{Analysis, DriftInput, analyse};
pub use compress::{Compression, Decimator, DecimatorOptions, Message};
pub use condition::{Condition, Monitor};
pub use drift::{HolographicEngine, drift};
pub use estimate::{RunSteps, responses};
pub use guard::GrowthRatioGuard;
pub use hypervector::{DIMENSIONS, Hypervector};
pub use naive::{LyapunovMonitor, NaiveCap};
pub use options::{DRIFT_THRESHOLD, GuardOptions, OptionsError};
pub use pattern::{FailurePattern, Recommendation};
pub use report::{FailureReport, PROJECTED_STEPS, sparkline};
pub use status::{EnergyError, Status, Step};
pub use sweep::{Sweep, SweepCell, SweepRun, Tally, ablation, sweep};
pub use trajectory::Trajectory;
