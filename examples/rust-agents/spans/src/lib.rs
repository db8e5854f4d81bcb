//! One desk, agents over rig and over genai, whose runs are written down from the spans of these libraries.
//!
//! The programs are `src/bin/desk_over_rig.rs` and `src/bin/desk_over_genai.rs`: each has one line in `main` for it. `tests/captured.rs` runs
//! them against a scripted model API, and judges what they left by the suites in `suites/`.

pub mod desk;
#[cfg(feature = "fixtures")]
pub mod otlp;
#[cfg(feature = "fixtures")]
pub mod over_adk;
pub mod over_genai;
pub mod over_rig;

/// Whatever goes wrong.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The model that is asked.
pub const MODEL: &str = "gpt-5";
