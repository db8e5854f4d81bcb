//! The runner's builder, as far as it says who runs the agents that are recorded.

use std::fmt;
use std::sync::Arc;

use mcptest_trace::record::Recorder;

#[cfg(feature = "session")]
use super::functions::function;
use super::recording::OwnLoop;
use super::runner::Harness;
use crate::record::RunRequest;

impl Harness {
    /// Records agents with a loop of one's own, where `MCPTEST_RECORD` asks for recording: it is
    /// called once for every run that is recorded, with what the suite says of the run, and writes
    /// down what happens. An error, or a panic, is a failure of the agent's cases; the runs that
    /// were recorded before it stay.
    ///
    /// The suite's caps are in the request, for the loop to keep; its `budget` is not enforced here.
    /// Cases of [`suite`](macro@crate::suite) know nothing of the loop.
    ///
    /// Without this the built-in agent records, in builds with the feature `session`.
    ///
    /// ```no_run
    /// # use std::process::ExitCode;
    /// # struct MyAgent;
    /// # impl MyAgent {
    /// #     fn connect(model: &str) -> Result<Self, String> { Ok(Self) }
    /// #     fn answer(&mut self, turn: &str, run: &mut mcptest::Recorder) -> Result<String, String> { Ok(String::new()) }
    /// # }
    /// fn main() -> ExitCode {
    ///     mcptest::harness!()
    ///         .record_with(|asked, run| {
    ///             let mut agent = MyAgent::connect(&asked.model)?;
    ///             for turn in &asked.user_turns {
    ///                 run.user(turn);
    ///                 let answer = agent.answer(turn, run)?;
    ///                 run.said(answer);
    ///             }
    ///             Ok::<(), String>(())
    ///         })
    ///         .run()
    /// }
    /// ```
    #[must_use]
    pub fn record_with<E: fmt::Display + 'static>(
        mut self,
        run: impl Fn(&RunRequest, &mut Recorder) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        self.own_loop = Some(Arc::new(OwnLoop(run)));
        self
    }
}

/// Agents that are async functions.
#[cfg(feature = "session")]
impl Harness {
    /// Every agent is this async function. Where `MCPTEST_RECORD` asks for recording, it is called once for
    /// every run, with the address that stands in place of its model's API: what it asks there, and what it does with
    /// the answers, becomes the run. It writes nothing down itself. Needs the feature `session`.
    ///
    /// An agent has one driver: a suite whose agent has a `command:` too does not load. An error, or a panic, is a
    /// failure of the agent's cases; the runs that were recorded before it stay.
    ///
    /// ```no_run
    /// # use std::process::ExitCode;
    /// # mod my_crate {
    /// #     pub struct Client;
    /// #     impl Client { pub fn at(_: &str) -> Self { Self } }
    /// #     pub async fn answer(_: &Client, _: &str) -> Result<(), String> { Ok(()) }
    /// # }
    /// async fn run(session: mcptest::Session) -> Result<(), String> {
    ///     let client = my_crate::Client::at(session.openai_url());
    ///     my_crate::answer(&client, session.prompt()).await
    /// }
    ///
    /// fn main() -> ExitCode {
    ///     mcptest::harness!().agent(run).run()
    /// }
    /// ```
    #[must_use]
    pub fn agent<R, E>(
        mut self,
        run: impl Fn(mcptest_session::handle::AgentSession) -> R + Send + Sync + 'static,
    ) -> Self
    where
        R: Future<Output = Result<(), E>> + 'static,
        E: fmt::Display + 'static,
    {
        self.functions.add(None, function(run));
        self
    }

    /// The agent of this name is an async function.
    #[must_use]
    pub fn agent_named<R, E>(
        mut self,
        name: impl Into<String>,
        run: impl Fn(mcptest_session::handle::AgentSession) -> R + Send + Sync + 'static,
    ) -> Self
    where
        R: Future<Output = Result<(), E>> + 'static,
        E: fmt::Display + 'static,
    {
        self.functions.add(Some(name.into()), function(run));
        self
    }

    /// The agents of these names are async functions. What stands in one list has one type: functions that differ go
    /// through [`boxed`](crate::boxed). A name that no agent of any suite has is an error.
    ///
    /// Other agents are recorded as they are without this: by their `command:`, by the loop of
    /// [`record_with`](Self::record_with), or by the built-in agent.
    ///
    /// ```no_run
    /// # use std::process::ExitCode;
    /// use mcptest::{Recorder, RunRequest, Session, boxed};
    ///
    /// async fn refunds(session: Session) -> Result<(), String> {
    ///     // A client of the model at `session.openai_url()` answers `session.prompt()`.
    /// #   Ok(())
    /// }
    ///
    /// async fn greets(session: Session) -> Result<(), std::io::Error> {
    ///     // Another one, with errors of its own.
    /// #   Ok(())
    /// }
    ///
    /// fn writes_down(asked: &RunRequest, run: &mut Recorder) -> Result<(), String> {
    ///     run.user(&asked.user_turns[0]);
    ///     run.said("It is done.");
    ///     Ok(())
    /// }
    ///
    /// fn main() -> ExitCode {
    ///     mcptest::harness!()
    ///         .agents([("Refund agent", boxed(refunds)), ("Greeter", boxed(greets))])
    ///         .record_with(writes_down) // all others
    ///         .run()
    /// }
    /// ```
    #[must_use]
    pub fn agents<N, R, E>(
        self,
        agents: impl IntoIterator<
            Item = (
                N,
                impl Fn(mcptest_session::handle::AgentSession) -> R + Send + Sync + 'static,
            ),
        >,
    ) -> Self
    where
        N: Into<String>,
        R: Future<Output = Result<(), E>> + 'static,
        E: fmt::Display + 'static,
    {
        let agents = agents.into_iter();
        agents.fold(self, |harness, (name, run)| harness.agent_named(name, run))
    }
}
