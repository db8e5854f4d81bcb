//! Agents that are async functions of the crate: whom each of them runs, and what is wrong with that.
//!
//! An agent has one driver. Where a function and a suite's `command:` both are one, nobody could say which of them a
//! recording comes from.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use mcptest_suite::model::{Agent, Suite};
use mcptest_suite::{Diagnostic, LoadError, escape_line, nearest, quoted_list};

use crate::record::Live;

/// Agents that are functions.
#[derive(Clone, Default)]
pub(crate) struct AgentFunctions {
    /// Each with its name; one without a name is every agent.
    known: Vec<(Option<String>, Arc<dyn Live>)>,
    /// There may be others in a program that is not this one.
    elsewhere: bool,
}

impl fmt::Debug for AgentFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.known.iter().map(|(name, _)| name);
        f.debug_list().entries(names).finish()
    }
}

impl AgentFunctions {
    /// Takes one function as every agent.
    pub(crate) fn for_every_agent(function: Arc<dyn Live>) -> Self {
        Self {
            known: vec![(None, function)],
            elsewhere: false,
        }
    }

    /// Adds a function; without a name it is every agent that no other function is.
    #[cfg(feature = "session")]
    pub(crate) fn add(&mut self, name: Option<String>, function: Arc<dyn Live>) {
        self.known.push((name, function));
    }

    /// There may be functions in the tests of the crate, which this program does not know.
    pub(crate) fn set_elsewhere(&mut self) {
        self.elsewhere = true;
    }

    /// Whether there may be others in another program.
    pub(crate) fn are_elsewhere(&self) -> bool {
        self.elsewhere
    }

    /// The function that is an agent.
    pub(crate) fn for_agent(&self, agent: &Agent) -> Option<&Arc<dyn Live>> {
        let named = |wanted: Option<&str>| {
            let mut functions = self.known.iter();
            functions.find(|(name, _)| name.as_deref() == wanted)
        };
        let found = named(Some(&agent.name.value)).or_else(|| named(None));
        found.map(|(_, function)| function)
    }

    /// Each agent has one function at most, and none is kept from its agents by another.
    ///
    /// `own_loop`: whether a loop of one's own records too.
    pub(super) fn check(&self, own_loop: bool) -> Result<(), FunctionError> {
        let names = || self.known.iter().map(|(name, _)| name.as_deref());
        for (index, name) in names().enumerate() {
            if !names().take(index).any(|earlier| earlier == name) {
                continue;
            }
            return Err(match name.map(str::to_owned) {
                Some(name) => FunctionError::SeveralForAgent { name },
                None => FunctionError::SeveralForAll,
            });
        }
        if own_loop && names().any(|name| name.is_none()) {
            return Err(FunctionError::HidesOwnLoop);
        }
        Ok(())
    }

    /// Each name is that of an agent of some suite.
    pub(super) fn check_names<'a>(
        &self,
        agents: impl Iterator<Item = &'a Agent>,
    ) -> Result<(), FunctionError> {
        let mut known: Vec<&str> = agents.map(|agent| agent.name.value.as_str()).collect();
        known.dedup();
        let mut names = self.known.iter().filter_map(|(name, _)| name.as_deref());
        let Some(unknown) = names.find(|name| !known.contains(name)) else {
            return Ok(());
        };
        let name = unknown.to_owned();
        let known = known.into_iter().map(str::to_owned).collect();
        Err(FunctionError::UnknownAgent { name, known })
    }

    /// No agent of a suite has a command too.
    pub(crate) fn check_suite(&self, suite: &Suite) -> Result<(), LoadError> {
        let problems = suite.agents.iter().filter_map(|agent| {
            let command = agent.command.as_ref().filter(|_| self.for_agent(agent).is_some())?;
            let name = &agent.name.value;
            let message = format!("`{name}` has a command, and also a function of this crate");
            let problem = Diagnostic::at(command.span, message);
            Some(problem.help("remove `command:`, or name only the other agents for the functions: `.agents([(\"Refund agent\", run), …])`"))
        });
        let problems: Vec<_> = problems.collect();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(LoadError::new(suite.source.clone(), problems))
        }
    }
}

/// Why functions cannot be the agents that they are given for.
#[derive(Debug)]
pub(super) enum FunctionError {
    /// An agent has two functions.
    SeveralForAgent { name: String },
    /// Two functions are given for all agents.
    SeveralForAll,
    /// A function is given for all agents, and a loop of one's own records too.
    HidesOwnLoop,
    /// No suite has an agent of that name.
    UnknownAgent { name: String, known: Vec<String> },
}

impl fmt::Display for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SeveralForAgent { name } => write!(
                f,
                "two functions are given for the agent `{}`\n\nhelp: keep one of them",
                escape_line(name)
            ),
            Self::SeveralForAll => f.write_str(
                "two functions are given for all agents\n\nhelp: name the agent of each function: `.agents([(\"Refund agent\", run), …])`",
            ),
            Self::HidesOwnLoop => f.write_str(
                "a function is given for all agents, so `record_with` records none\n\nhelp: name the agents that are functions, `.agents([(\"Refund agent\", run), …])`, or remove the function or `record_with`",
            ),
            Self::UnknownAgent { name, known } => {
                let known = || known.iter().map(String::as_str);
                let help = match nearest(name, known()) {
                    Some(near) => format!("did you mean `{}`?", escape_line(near)),
                    None if known().next().is_none() => "no suite has an agent".to_owned(),
                    None => format!("the suites have {}", quoted_list(known())),
                };
                let name = escape_line(name);
                write!(
                    f,
                    "a function is given for the agent `{name}`, and no suite has an agent of that name\n\nhelp: {help}"
                )
            }
        }
    }
}

impl Error for FunctionError {}

/// The agent of a suite that is an async function, as the macro hands it on.
#[derive(Clone)]
pub struct AgentFunction(Arc<dyn Live>);

impl AgentFunction {
    /// The function that is every agent of a suite.
    pub(crate) fn into_functions(self) -> AgentFunctions {
        AgentFunctions::for_every_agent(self.0)
    }
}

#[cfg(feature = "session")]
pub(crate) use session::function;
#[cfg(feature = "session")]
pub use session::{BoxedAgent, boxed};

/// What needs a session to be called.
#[cfg(feature = "session")]
mod session {
    use std::fmt::Display;
    use std::pin::Pin;
    use std::sync::Arc;

    use mcptest_session::handle::AgentSession;

    use super::AgentFunction;
    use crate::record::Live;
    use crate::record::function::Function;

    /// An agent that is an async function, whatever function it is; [`boxed`] makes it.
    pub type BoxedAgent = Box<
        dyn Fn(AgentSession) -> Pin<Box<dyn Future<Output = Result<(), String>>>> + Send + Sync,
    >;

    /// An async function as a value of a type that all such functions share, so that different ones may stand in one
    /// list for [`Harness::agents`](crate::Harness::agents).
    pub fn boxed<R, E>(run: impl Fn(AgentSession) -> R + Send + Sync + 'static) -> BoxedAgent
    where
        R: Future<Output = Result<(), E>> + 'static,
        E: Display + 'static,
    {
        Box::new(move |session| {
            let ran = run(session);
            // `{:#}` shows the causes of errors that have them.
            Box::pin(async move { ran.await.map_err(|error| format!("{error:#}")) })
        })
    }

    /// What runs an agent that is an async function.
    pub(crate) fn function<R, E>(
        run: impl Fn(AgentSession) -> R + Send + Sync + 'static,
    ) -> Arc<dyn Live>
    where
        R: Future<Output = Result<(), E>> + 'static,
        E: Display + 'static,
    {
        Arc::new(Function::new(run))
    }

    impl AgentFunction {
        /// The function behind `agent = …` of the macro.
        pub fn new<R, E>(run: impl Fn(AgentSession) -> R + Send + Sync + 'static) -> Self
        where
            R: Future<Output = Result<(), E>> + 'static,
            E: Display + 'static,
        {
            Self(function(run))
        }
    }
}
