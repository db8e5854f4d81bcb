//! Nothing but a list of dependencies with their features, in `Cargo.toml`.
//!
//! Cargo builds a library once for each set of features that a selection of packages asks for. `cargo test --test
//! agents` selects the root package, `cargo test --workspace` all of them, and macros are built with features of
//! their own. The root package depends on this one, so that all three ask for the same.
