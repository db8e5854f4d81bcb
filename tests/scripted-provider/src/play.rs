//! Which reply of the script a request is given.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    api::ApiError,
    exchange::{Answer, AnsweredCall, Arguments, Exchange, PastCall},
    script::{Conversation, Failure, Reply, Script, Usage},
    template,
};

/// A script being played.
#[derive(Debug)]
pub(crate) struct ScriptPlayer {
    script: Script,
    state: Mutex<State>,
}

/// One time that a conversation was started: the how-many-eth with its model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Take {
    conversation: usize,
    model: String,
    number: usize,
}

#[derive(Debug, Default)]
struct State {
    /// By conversation and model.
    starts: HashMap<(usize, String), Starts>,
    /// How many failures were played before a reply.
    failures: HashMap<(Take, usize), usize>,
    /// The texts that were answered.
    texts: HashMap<(Take, usize), String>,
}

#[derive(Debug, Default)]
struct Starts {
    count: usize,
    /// Takes whose first reply was not given, and whose request has ended.
    owed: BTreeSet<usize>,
}

/// The reply that a request is to be given. Dropped without [`Cue::played`],
/// it leaves a start to the next request that starts the same conversation, so
/// that a client which tries again stays in its run.
#[derive(Debug)]
pub(crate) struct PendingReply {
    stage: Arc<ScriptPlayer>,
    take: Take,
    step: usize,
    played: bool,
}

impl ScriptPlayer {
    pub(crate) fn new(script: Script) -> Arc<Self> {
        Arc::new(Self {
            script,
            state: Mutex::default(),
        })
    }

    pub(crate) fn script(&self) -> &Script {
        &self.script
    }

    /// Finds the reply a request asks for.
    pub(crate) fn find_reply(
        self: &Arc<Self>,
        exchange: &Exchange,
    ) -> Result<PendingReply, ApiError> {
        let step = exchange.assistant().count();
        let (user, model) = (exchange.first_user(), exchange.model.as_str());
        let conversation = self.conversation(user, model).ok_or_else(|| {
            ApiError::invalid(format!(
                "no conversation of the script has the first user message {user:?} for the model \
                 {model}; reply {step} was asked for"
            ))
        })?;
        let number = match step {
            0 => self.start(conversation, model),
            _ => self.started(conversation, exchange).ok_or_else(|| {
                ApiError::invalid(format!(
                    "reply {step} to the first user message {user:?} was asked for, but the \
                     assistant messages before it belong to no run that was started"
                ))
            })?,
        };
        let cue = PendingReply {
            stage: Arc::clone(self),
            take: Take {
                conversation,
                model: model.to_owned(),
                number,
            },
            step,
            played: false,
        };
        cue.reply()?;
        Ok(cue)
    }

    fn conversation(&self, user: &str, model: &str) -> Option<usize> {
        let place = |wanted: Option<&str>| {
            let fits = |conversation: &Conversation| {
                conversation.user == user && conversation.model.as_deref() == wanted
            };
            self.script.conversations.iter().position(fits)
        };
        place(Some(model)).or_else(|| place(None))
    }

    /// A take that is owed its first reply, else a new one.
    fn start(&self, conversation: usize, model: &str) -> usize {
        let mut state = self.state();
        let starts = state
            .starts
            .entry((conversation, model.to_owned()))
            .or_default();
        starts.owed.pop_first().unwrap_or_else(|| {
            starts.count += 1;
            starts.count - 1
        })
    }

    /// The take that a history belongs to: by the latest call id that came
    /// from here, else by all texts, where the latest start wins.
    fn started(&self, conversation: usize, exchange: &Exchange) -> Option<usize> {
        let latest_id = exchange
            .assistant()
            .rev()
            .flat_map(|(_, calls)| calls)
            .find_map(|call: &PastCall| take_number(&call.id, conversation));
        latest_id.or_else(|| {
            let state = self.state();
            let model = exchange.model.clone();
            let count = state.starts.get(&(conversation, model.clone()))?.count;
            (0..count).rev().find(|&number| {
                let take = Take {
                    conversation,
                    model: model.clone(),
                    number,
                };
                exchange.assistant().enumerate().all(|(step, (text, _))| {
                    let given = state.texts.get(&(take.clone(), step));
                    given.is_some_and(|given| given.trim() == text.trim())
                })
            })
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingReply {
    /// The next failure to play, each once.
    pub(crate) fn next_failure(&self) -> Option<Failure> {
        let mut state = self.stage.state();
        let played = state
            .failures
            .entry((self.take.clone(), self.step))
            .or_default();
        let failure = self.reply().ok()?.before.get(*played).cloned();
        *played += usize::from(failure.is_some());
        failure
    }

    /// The reply with its placeholders filled.
    pub(crate) fn answer(&self, exchange: &Exchange) -> Result<Answer, ApiError> {
        let reply = self.reply()?;
        let result = |tool: &str| exchange.latest_result(tool);
        let unfilled = |why| ApiError::invalid(format!("{}: {why}", self.location()));
        let mut text = template::fill_text(reply.text.as_deref().unwrap_or_default(), &result)
            .map_err(unfilled)?;
        if let Some(name) = &reply.text_from_env {
            text.push_str(&std::env::var(name).unwrap_or_default());
        }
        let mut calls = Vec::new();
        for call in &reply.calls {
            calls.push(AnsweredCall {
                name: call.name.clone(),
                arguments: match &call.arguments {
                    Arguments::Raw(raw) => Arguments::Raw(raw.clone()),
                    Arguments::Json(args) => {
                        Arguments::Json(template::fill(args, &result).map_err(unfilled)?)
                    }
                },
            });
        }
        let usage = reply.usage.unwrap_or_else(|| Usage {
            prompt: tokens(exchange.chars()),
            completion: tokens(
                text.chars().count() + calls.iter().map(AnsweredCall::chars).sum::<usize>(),
            ),
            cached: 0,
            reasoning: 0,
        });
        Ok(Answer {
            id: format!(
                "c{}_t{}_r{}",
                self.take.conversation, self.take.number, self.step
            ),
            model: self
                .conversation()
                .answers_as
                .clone()
                .unwrap_or_else(|| exchange.model.clone()),
            text,
            calls,
            stop: reply.stop,
            usage,
        })
    }

    /// Notes that the reply is given now.
    pub(crate) fn mark_played(mut self, answer: &Answer) {
        self.played = true;
        let place = (self.take.clone(), self.step);
        self.stage.state().texts.insert(place, answer.text.clone());
    }

    fn reply(&self) -> Result<&Reply, ApiError> {
        let run = self.run();
        let replies = &self.conversation().runs[run];
        replies.get(self.step).ok_or_else(|| {
            ApiError::invalid(format!(
                "{} was asked for, but the run has {} replies only",
                self.location(),
                replies.len()
            ))
        })
    }

    fn location(&self) -> String {
        let user = &self.conversation().user;
        let (step, run) = (self.step, self.run());
        format!("reply {step} of run {run} to the first user message {user:?}")
    }

    fn run(&self) -> usize {
        self.take.number % self.conversation().runs.len()
    }

    fn conversation(&self) -> &Conversation {
        &self.stage.script.conversations[self.take.conversation]
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        if self.step == 0 && !self.played {
            let key = (self.take.conversation, self.take.model.clone());
            let mut state = self.stage.state();
            state
                .starts
                .entry(key)
                .or_default()
                .owed
                .insert(self.take.number);
        }
    }
}

/// The number of the take in an id such as `call_c0_t3_r1_0`.
fn take_number(call_id: &str, conversation: usize) -> Option<usize> {
    let mut parts = call_id.split('_');
    matches!(parts.next(), Some("call" | "toolu" | "tooluse" | "fc")).then_some(())?;
    let of: usize = parts.next()?.strip_prefix('c')?.parse().ok()?;
    let number = parts.next()?.strip_prefix('t')?.parse().ok()?;
    parts.next()?.strip_prefix('r')?;
    (of == conversation).then_some(number)
}

/// An estimate of the tokens of a text.
fn tokens(chars: usize) -> u64 {
    u64::try_from(chars / 4).unwrap_or(u64::MAX).max(1)
}
