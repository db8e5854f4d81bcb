//! Who answers where the built-in agent does not: a loop of one's own, or nobody.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mcptest_suite::model::{Agent, Suite};
use serde_json::Value;

use mcptest_trace::record::Recorder;

use crate::harness::verdicts::panic_text;
use crate::record::{Live, LiveError, Progress, RunRequest, Spent};

/// The loop of one's own that [`Harness::record_with`](crate::Harness::record_with) registers.
pub(crate) struct OwnLoop<F>(pub(crate) F);

impl<F, E> Live for OwnLoop<F>
where
    F: Fn(&RunRequest, &mut Recorder) -> Result<(), E> + Send + Sync,
    E: std::fmt::Display,
{
    fn prepare(&self, _: &Suite, _: &Agent, _: usize) -> Result<(), LiveError> {
        Ok(())
    }

    fn run(
        &self,
        _: &Suite,
        _: &Agent,
        _: usize,
        request: &RunRequest,
        recorder: &mut Recorder,
        progress: &Progress,
    ) -> Result<Option<Value>, LiveError> {
        // What the loop left half done is thrown away with the recorder.
        let ran = catch_unwind(AssertUnwindSafe(|| (self.0)(request, recorder)));
        match ran {
            Ok(Ok(())) => {}
            // `{:#}` shows the causes of errors that have them.
            Ok(Err(error)) => {
                return Err(
                    LiveError::new("the agent's own loop failed").show(format!("{error:#}"))
                );
            }
            Err(panic) => {
                let error = LiveError::new("the agent's own loop panicked");
                return Err(match panic_text(&*panic) {
                    Some(text) => error.show(text),
                    None => error,
                });
            }
        }
        let (prompt, completion) = recorder.tokens();
        progress.spend(Spent {
            tokens: prompt.saturating_add(completion),
            unknown: prompt == 0 && completion == 0,
            micro_usd: None,
        });
        check_request(request, recorder)?;
        Ok(None)
    }
}

/// A run of something else would be stale at once.
fn check_request(request: &RunRequest, recorder: &Recorder) -> Result<(), LiveError> {
    let (first, wanted) = (recorder.first_turn(), request.user_turns[0].as_str());
    if first == Some(wanted) {
        return Ok(());
    }
    let error = LiveError::new(match first {
        Some(_) => "the loop recorded another prompt than the suite's",
        None => "the loop did not record what the user said",
    });
    Err(error.help("begin with `run.user(&asked.user_turns[0])`"))
}

/// What runs agents in builds that cannot: why not, and what to do.
#[cfg(not(feature = "session"))]
pub(super) struct NotBuilt;

#[cfg(not(feature = "session"))]
impl Live for NotBuilt {
    fn prepare(&self, _: &Suite, _: &Agent, _: usize) -> Result<(), LiveError> {
        Err(LiveError::new(format!(
            "`{}` is set, but these tests were built without the feature `session`",
            crate::record::VARIABLE
        ))
        .help("cargo test --features mcptest-harness/session"))
    }

    fn run(
        &self,
        suite: &Suite,
        agent: &Agent,
        model: usize,
        _: &RunRequest,
        _: &mut Recorder,
        _: &Progress,
    ) -> Result<Option<Value>, LiveError> {
        self.prepare(suite, agent, model).map(|()| None)
    }
}
