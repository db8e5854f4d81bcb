//! The guide, a page a module: written out of the repository's `docs/` by `.ci/generate`.

#[doc = include_str!("../guide/recording.md")]
pub mod recording {}

#[doc = include_str!("../guide/importing.md")]
pub mod importing {}

#[doc = include_str!("../guide/playback.md")]
pub mod playback {}

#[doc = include_str!("../guide/agent-in-python.md")]
pub mod agent_in_python {}

#[doc = include_str!("../guide/agent-in-typescript.md")]
pub mod agent_in_typescript {}

#[doc = include_str!("../guide/own-tools.md")]
pub mod own_tools {}

#[doc = include_str!("../guide/gates.md")]
pub mod gates {}

#[doc = include_str!("../guide/suites.md")]
pub mod suites {}

#[doc = include_str!("../guide/cassettes.md")]
pub mod cassettes {}

#[doc = include_str!("../guide/evidence.md")]
pub mod evidence {}

#[doc = include_str!("../guide/reports.md")]
pub mod reports {}

#[doc = include_str!("../guide/contract.md")]
pub mod contract {}

#[doc = include_str!("../guide/ci.md")]
pub mod ci {}

#[doc = include_str!("../guide/change-to-merge.md")]
pub mod change_to_merge {}

#[doc = include_str!("../guide/checks.md")]
pub mod checks {}

#[doc = include_str!("../guide/live-guard.md")]
pub mod live_guard {}
