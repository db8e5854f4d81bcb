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

/// Gives HTTP clients the cryptography of their TLS, which they ask for even on loopback where some other crate of a
/// build has switched TLS on and chosen none.
pub(crate) fn provide_cryptography() {
    // An error says that some other call did it.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
