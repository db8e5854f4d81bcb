//! The calls of a session, for all that come by: over HTTP, and out of this process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use mcptest_trace::eval::OwnAnswers;
use serde_json::Value;

use super::MAX_CALLS;
use super::answering;
use super::entry::{Ending, OwnCall};
#[cfg(feature = "play")]
use super::play::CallPlayer;
use super::request::{CallRequest, DoneRequest, RequestError};
use super::ticks::Ticks;
use super::verdict::{Refusal, Verdict};
#[cfg(feature = "record")]
use crate::mcp::TrafficLog;

/// The door of a session.
#[derive(Debug, Clone)]
pub struct Door(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    began: Instant,
    ticks: Ticks,
    kept: Mutex<DoorState>,
    /// The faults of the suite.
    #[cfg(feature = "record")]
    faults: Option<TrafficLog>,
}

#[derive(Debug, Default)]
struct DoorState {
    calls: Vec<OwnCall>,
    /// A tool whose value cannot be kept, and why.
    unkept: Option<(String, String)>,
    answers: OwnAnswers,
    ended: bool,
    #[cfg(feature = "play")]
    playing: Option<Box<CallPlayer>>,
}

impl Door {
    /// A door behind which tools run, and are written down.
    #[must_use]
    pub fn recording() -> Self {
        Self::recording_since(Instant::now(), Ticks::default())
    }

    /// A door behind which tools run and are written down, in a session that has begun already.
    pub(crate) fn recording_since(began: Instant, ticks: Ticks) -> Self {
        Self(Arc::new(Inner {
            began,
            ticks,
            kept: Mutex::default(),
            #[cfg(feature = "record")]
            faults: None,
        }))
    }

    /// A door behind which tools run and are written down, and faults of the suite strike calls.
    #[cfg(feature = "record")]
    pub(crate) fn recording_with_faults(began: Instant, ticks: Ticks, faults: TrafficLog) -> Self {
        Self(Arc::new(Inner {
            began,
            ticks,
            kept: Mutex::default(),
            faults: Some(faults),
        }))
    }

    /// Sets the `answers:` of the suite: calls that they name do not run.
    #[must_use]
    pub fn with_answers(self, answers: OwnAnswers) -> Self {
        self.lock().answers = answers;
        self
    }

    /// What the suite answers, with how often it did.
    #[must_use]
    pub fn answers(&self) -> OwnAnswers {
        self.lock().answers.clone()
    }

    /// A door behind which no tool runs: what was recorded is given back.
    #[cfg(feature = "play")]
    pub(crate) fn playing(playing: CallPlayer, ticks: Ticks) -> Self {
        let door = Self::recording_since(Instant::now(), ticks);
        door.lock().playing = Some(Box::new(playing));
        door
    }

    /// What a call is to do.
    ///
    /// # Errors
    ///
    /// The request is not taken.
    pub async fn call(&self, request: CallRequest) -> Result<Verdict, Refusal> {
        let call = OwnCall {
            call_id: request.call_id,
            inside: request.inside,
            ..OwnCall::new(request.name, Value::Object(request.args))
        };
        self.begin(call).await
    }

    #[cfg_attr(
        not(feature = "record"),
        allow(clippy::unused_async, reason = "only faults are waited for")
    )]
    pub(super) async fn begin(&self, call: OwnCall) -> Result<Verdict, Refusal> {
        #[cfg(feature = "record")]
        if let Some(faults) = &self.0.faults {
            // Which fault strikes is told by what the model asked for.
            faults.wait_until_requested(&call).await;
        }
        self.begin_call(call)
    }

    fn begin_call(&self, mut call: OwnCall) -> Result<Verdict, Refusal> {
        let mut kept = self.lock();
        let kept = &mut *kept;
        if kept.ended {
            return Err(Refusal::Ended);
        }
        if kept.calls.len() >= MAX_CALLS {
            return Err(Refusal::TooMany);
        }
        if call.inside.is_some_and(|run| run >= kept.calls.len()) {
            return Err(Refusal::Bad(RequestError::InsideUnknown));
        }
        call.began = self.0.ticks.next();
        call.began_at = self.now();
        #[cfg(feature = "play")]
        if let Some(playing) = &mut kept.playing {
            let verdict = playing.answer(&mut call);
            if let Some(verdict) = verdict {
                self.0.ticks.leave_out();
                call.ended = Some(self.0.ticks.next());
                call.ended_at = Some(call.began_at);
                kept.calls.push(call);
                return Ok(verdict.with_run(kept.calls.len() - 1));
            }
        }
        if let Some(verdict) = self.answer_in_place(kept, &mut call) {
            call.ended = Some(self.0.ticks.next());
            call.ended_at = Some(call.began_at);
            kept.calls.push(call);
            return Ok(verdict);
        }
        kept.calls.push(call);
        Ok(Verdict::Run(kept.calls.len() - 1))
    }

    /// What the suite answers in the place of a tool.
    #[cfg_attr(
        not(feature = "record"),
        allow(clippy::unused_self, reason = "only a recording has faults")
    )]
    fn answer_in_place(&self, kept: &mut DoorState, call: &mut OwnCall) -> Option<Verdict> {
        #[cfg(feature = "record")]
        if let Some(faults) = &self.0.faults {
            let mut others = kept.calls.iter();
            let is_outer = call.inside.is_none() && others.all(|other| other.ended.is_some());
            if let Some(strike) = faults.fault_for(call, is_outer) {
                return Some(answering::end_by_fault(call, strike));
            }
        }
        let answered = kept.answers.answer(&call.name, &call.args);
        answering::end_by_answer(call, answered)
    }

    /// A run has ended, or the code cannot use what it was given.
    ///
    /// # Errors
    ///
    /// The request is not taken.
    pub fn done(&self, done: DoneRequest) -> Result<(), Refusal> {
        let mut kept = self.lock();
        let kept = &mut *kept;
        if kept.ended {
            return Err(Refusal::Ended);
        }
        let call = kept.calls.get_mut(done.run);
        #[cfg(feature = "play")]
        if let (Some(playing), Some(call), Err(why)) = (&mut kept.playing, &call, &done.ending)
            && call.ended.is_some()
        {
            let tick = self.0.ticks.next();
            let is_told = playing.note_unusable(call, done.run, why, tick);
            return is_told.then_some(()).ok_or(Refusal::Run);
        }
        let call = call.filter(|call| call.ended.is_none());
        let call = call.ok_or(Refusal::Run)?;
        call.ended = Some(self.0.ticks.next());
        call.ended_at = Some(self.now());
        match done.ending {
            Ok(ending) => {
                call.ending = ending;
                #[cfg(feature = "play")]
                if let Some(playing) = &kept.playing {
                    playing.restore_folders(&mut call.ending);
                }
                call.text = done.text;
            }
            Err(why) => {
                let unkept = (call.name.clone(), why);
                kept.unkept.get_or_insert(unkept);
            }
        }
        Ok(())
    }

    /// Takes no request any more.
    pub fn end(&self) {
        self.lock().ended = true;
    }

    /// The calls till now, in the order in which they came.
    #[must_use]
    pub fn calls(&self) -> Vec<OwnCall> {
        self.lock().calls.clone()
    }

    /// The calls till now as the entries of `session.tools` of a cassette, without what the run adds.
    #[must_use]
    pub fn notes(&self) -> Vec<Value> {
        self.lock().calls.iter().map(OwnCall::to_json).collect()
    }

    /// A tool whose value cannot be kept, and why.
    #[must_use]
    pub fn unkept(&self) -> Option<(String, String)> {
        self.lock().unkept.clone()
    }

    #[cfg(feature = "play")]
    pub(crate) fn with_playing<T>(&self, ask: impl FnOnce(&mut CallPlayer) -> T) -> Option<T> {
        self.lock().playing.as_deref_mut().map(ask)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.0.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, DoorState> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call whose end nobody told yet has ended, if it is dropped: control flow ended it.
#[derive(Debug)]
pub(super) struct Running<'d> {
    pub(super) door: &'d Door,
    pub(super) run: usize,
}

impl Running<'_> {
    pub(super) fn finish(self, ending: Result<Ending, String>) {
        let run = self.run;
        _ = self.door.done(DoneRequest {
            run,
            ending,
            text: None,
        });
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // A run that has ended is not taken.
        let ending = Ok(Ending::Left);
        let run = self.run;
        _ = self.door.done(DoneRequest {
            run,
            ending,
            text: None,
        });
    }
}
