//! Faults an agent test can inject.

pub use mcptest_trace::eval::FaultKind;

use crate::Spanned;

/// A fault of a tool or a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The name that `inject:` uses.
    pub name: Spanned<String>,
    /// The tool it hits; any tool of the server when absent.
    pub tool: Option<String>,
    /// The server it hits; any server when absent. One of the two is there.
    pub server: Option<String>,
    /// What happens to a call.
    pub kind: FaultKind,
}
