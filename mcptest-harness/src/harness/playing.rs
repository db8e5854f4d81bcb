//! Recorded runs played to the agent's own code: all runs of an agent at once, each once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::thread;

use mcptest_suite::model::Agent;
use mcptest_suite::{Diagnostic, Span, Subject};
use mcptest_trace::record::say;

use super::agent_runs::AgentRuns;
use super::loaded::LoadedSuite;
use super::verdicts::panic_text;
use crate::command::command_line;
use crate::eval::PlaybackOptions;
use crate::gate::{Player, Unplayable};
use crate::record::own_code::{GIVE_CODE, WITHOUT_CODE, is_run_of_built_in};
use crate::record::{Live, LiveError, PlayRequest, Playable, PlayedRun};

/// The most runs of an agent that are played at once.
const AT_ONCE: usize = 8;

/// Who runs an agent's own code.
pub(crate) enum Driver {
    /// This driver runs the code.
    Code(Arc<dyn Live>),
    /// This build runs no agent.
    #[cfg(not(feature = "session"))]
    WithoutFeature,
    /// Its function is in the tests of its crate, which this program does not know; or a person names its program.
    Elsewhere {
        /// Whether there is a crate.
        in_crate: bool,
    },
    /// A loop of one's own records it, which nothing can be played to.
    None,
}

impl Driver {
    /// `runs`: the recordings, where they are known.
    pub(crate) fn for_agent(
        suite: &LoadedSuite,
        subject: Subject,
        runs: Option<&AgentRuns>,
    ) -> Self {
        let agent = suite.agent(subject);
        if let Some(function) = suite.functions().for_agent(agent) {
            return Self::Code(Arc::clone(function));
        }
        match (
            &agent.command,
            suite.is_read_only() || suite.functions().are_elsewhere(),
        ) {
            (Some(_), _) => Self::commands(),
            (None, true) if !runs.is_some_and(are_of_built_in) => Self::Elsewhere {
                in_crate: suite.is_in_crate(),
            },
            (None, _) if suite.has_own_loop() => Self::None,
            (None, _) => Self::built_in(),
        }
    }

    #[cfg(feature = "session")]
    fn built_in() -> Self {
        Self::Code(Arc::new(crate::record::built_in::BuiltIn))
    }

    #[cfg(not(feature = "session"))]
    fn built_in() -> Self {
        Self::WithoutFeature
    }

    #[cfg(feature = "session")]
    fn commands() -> Self {
        Self::Code(Arc::new(crate::record::command::Commands))
    }

    #[cfg(not(feature = "session"))]
    fn commands() -> Self {
        Self::WithoutFeature
    }

    /// The player of an agent's runs, where there is one.
    pub(crate) fn player<'a>(
        &self,
        suite: &'a LoadedSuite,
        subject: Subject,
        runs: &'a AgentRuns,
    ) -> Option<AgentPlayer<'a>> {
        match self {
            Self::Code(driver) => Some(AgentPlayer::new(suite, subject, runs, Arc::clone(driver))),
            _ => None,
        }
    }

    /// Why nothing plays the runs of an agent; an error is a failure, and the rest nobody here can tell.
    pub(crate) fn why_idle(&self, agent: &Agent, gate: Span) -> Option<Result<String, Diagnostic>> {
        match self {
            Self::Code(_) => None,
            #[cfg(not(feature = "session"))]
            Self::WithoutFeature => Some(Err(Diagnostic::at(
                gate,
                "this build cannot run the agent: the feature `session` is off",
            )
            .help("write in Cargo.toml: mcptest-harness = { version = \"0.1\", features = [\"session\"] }"))),
            Self::Elsewhere { in_crate } => Some(Ok(elsewhere_text(agent, *in_crate))),
            Self::None => Some(Err(Diagnostic::at(gate, WITHOUT_CODE).help(GIVE_CODE))),
        }
    }
}

/// Whether the built-in agent made recordings.
fn are_of_built_in(runs: &AgentRuns) -> bool {
    runs.runs().first().is_some_and(is_run_of_built_in)
}

/// The function of an agent may be in a program that is not this one. Without a crate, there is none.
pub(crate) fn elsewhere_text(agent: &Agent, in_crate: bool) -> String {
    let agent = &agent.name.value;
    if in_crate {
        return format!(
            "`{agent}` has no `command:`; if the agent is a function of its crate, `cargo test` plays it"
        );
    }
    let plays = command_line("play -- PROGRAM");
    format!("`{agent}` has no `command:`; `{plays}` plays it with the program that you name")
}

/// Plays the runs of an agent, when the first of them is asked for: each once, whichever cases ask.
pub(crate) struct AgentPlayer<'a> {
    suite: &'a LoadedSuite,
    subject: Subject,
    runs: &'a AgentRuns,
    driver: Arc<dyn Live>,
}

impl<'a> AgentPlayer<'a> {
    pub(crate) fn new(
        suite: &'a LoadedSuite,
        subject: Subject,
        runs: &'a AgentRuns,
        driver: Arc<dyn Live>,
    ) -> Self {
        Self {
            suite,
            subject,
            runs,
            driver,
        }
    }

    fn play_all(&self, options: &PlaybackOptions) -> Vec<Result<PlayedRun, Unplayable>> {
        let runs = self.runs.runs();
        let agent = self.suite.agent(self.subject);
        let code = self.driver.playable();
        let code = code.as_deref();
        let one_by_one = code.is_none_or(|code| code.one_by_one(agent));
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let at_once = if one_by_one {
            1
        } else {
            (2 * cores).min(AT_ONCE)
        };
        let next = std::sync::atomic::AtomicUsize::new(0);
        let slots: Vec<OnceLock<Result<PlayedRun, Unplayable>>> =
            runs.iter().map(|_| OnceLock::new()).collect();
        thread::scope(|scope| {
            for _ in 0..at_once.min(runs.len()) {
                scope.spawn(|| {
                    loop {
                        let place = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(slot) = slots.get(place) else { return };
                        // What panics here is one run's.
                        let played =
                            catch_unwind(AssertUnwindSafe(|| self.play(code, place, options)));
                        let panicked = |panic: Box<dyn std::any::Any + Send>| {
                            let text = panic_text(&*panic).unwrap_or_default();
                            Err(to_unplayable(
                                LiveError::new("playing the run panicked").show(text),
                            ))
                        };
                        _ = slot.set(played.unwrap_or_else(panicked));
                    }
                });
            }
        });
        if let Some(why) = code.and_then(Playable::hindrance)
            && runs.len() > 1
        {
            let name = &agent.name.value;
            say(&format!(
                "note: the program of `{name}` is started anew for each run: before it calls `mcptest.serve`, {why}"
            ));
        }
        let nothing = || Err(to_unplayable(LiveError::new("the run was not played")));
        let slots = slots.into_iter();
        slots
            .map(|slot| slot.into_inner().unwrap_or_else(nothing))
            .collect()
    }

    fn play(
        &self,
        code: Option<&dyn Playable>,
        place: usize,
        options: &PlaybackOptions,
    ) -> Result<PlayedRun, Unplayable> {
        let run = &self.runs.runs()[place];
        let Some(cassette) = run.cassette() else {
            return Err(to_unplayable(
                LiveError::new("the recording cannot be read again").for_recording(),
            ));
        };
        let request = PlayRequest {
            suite: &self.suite.suite,
            agent: self.suite.agent(self.subject),
            model: self.subject.model,
            cassette: &cassette,
            origin: &run.origin,
            redact: self.suite.redact_patterns(),
            options,
        };
        let code =
            code.ok_or_else(|| to_unplayable(LiveError::new("the agent has no code of its own")))?;
        code.play(&request).map_err(to_unplayable)
    }
}

impl Player for AgentPlayer<'_> {
    fn played(&self, run: usize, options: &PlaybackOptions) -> Result<&PlayedRun, Unplayable> {
        let played = self.runs.played();
        let all = played.get_or_init(|| self.play_all(options));
        match all.get(run) {
            Some(Ok(played)) => Ok(played),
            Some(Err(why)) => Err(why.clone()),
            None => Err(to_unplayable(LiveError::new("there is no such run"))),
        }
    }

    fn record_again_command(&self) -> String {
        self.suite.record_line(self.subject).all()
    }

    fn is_new(&self) -> bool {
        self.suite.is_new(self.subject)
    }
}

fn to_unplayable(error: LiveError) -> Unplayable {
    let shown = error.shown.iter().flat_map(|shown| shown.lines());
    let notes = error.note.as_deref().into_iter();
    Unplayable {
        found: error.problem,
        details: shown.chain(notes).map(str::to_owned).collect(),
        help: error.help,
        of_recording: error.of_recording,
    }
}
