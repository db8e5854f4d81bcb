//! One module a format: how a file of it is recognised, and how its records become a run.

pub(crate) mod anthropic;
pub(crate) mod atif;
pub(crate) mod claude_code;
pub(crate) mod codex;
pub(crate) mod inspect;
pub(crate) mod langsmith;
pub(crate) mod mcptest;
pub(crate) mod openai;
pub(crate) mod otel;
pub(crate) mod promptfoo;
pub(crate) mod rig;
pub(crate) mod tau;
