//! Which session each exchange is of, and what goes into its recording.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use axum::body::Bytes;

use crate::failure::Failure;
use crate::proxy::frames::{Events, Whole};
use crate::proxy::session::{begins, is_message};
use crate::proxy::{Run, Side};

/// What went by, of the exchange of a number.
pub(super) enum Seen {
    Asked(u64, Option<String>),
    Bytes(u64, Side, Bytes),
    /// One side has said all.
    Said(u64, Side),
    /// The head of the answer.
    Answers(u64, Head),
}

pub(super) struct Head {
    pub(super) session: Option<String>,
    pub(super) is_stream: bool,
    pub(super) is_compressed: bool,
}

/// What goes by, put together again to sessions.
pub(super) struct Sessions<'b, B> {
    begin: &'b B,
    runs: Vec<Run>,
    by_name: HashMap<String, usize>,
    /// That of requests which name none: the one begun last.
    unnamed: Option<usize>,
    exchanges: HashMap<u64, Exchange>,
    compressed: bool,
}

/// A request and its answer while they go by.
#[derive(Default)]
struct Exchange {
    named: Option<String>,
    asks: Whole,
    run: Option<usize>,
    answers: Option<Answer>,
}

enum Answer {
    Whole(Whole),
    Events(Events),
    Compressed,
}

impl<B: Fn() -> Result<Run, Failure>> Sessions<'_, B> {
    pub(super) fn new(begin: &B) -> Sessions<'_, B> {
        Sessions {
            begin,
            runs: Vec::new(),
            by_name: HashMap::new(),
            unnamed: None,
            exchanges: HashMap::new(),
            compressed: false,
        }
    }

    /// Looks at all that goes by, and writes what is new.
    pub(super) fn record(mut self, passing: &Receiver<Seen>) -> Result<Vec<Run>, Failure> {
        let mut wait = Duration::MAX;
        loop {
            match passing.recv_timeout(wait) {
                Ok(part) => self.see(part)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let waits = self.runs.iter_mut();
            let waits = waits.map(|(session, recording)| recording.keep_up(session));
            wait = waits.min().unwrap_or(Duration::MAX);
        }
        if self.compressed {
            mcptest_trace::record::say(
                "warning: the server compressed some answers though nobody asked it to; what they say is not recorded",
            );
        }
        Ok(self.runs)
    }

    fn see(&mut self, part: Seen) -> Result<(), Failure> {
        match part {
            Seen::Asked(number, named) => {
                let exchange = Exchange {
                    named,
                    ..Exchange::default()
                };
                self.exchanges.insert(number, exchange);
            }
            Seen::Bytes(number, Side::Client, bytes) => {
                if let Some(exchange) = self.exchanges.get_mut(&number) {
                    exchange.asks.take(&bytes);
                }
            }
            Seen::Said(number, Side::Client) => self.asked(number)?,
            Seen::Answers(number, head) => {
                // The server may answer before it has heard all.
                self.asked(number)?;
                self.answers(number, head);
            }
            Seen::Bytes(number, Side::Server, bytes) => self.hear(number, &bytes),
            Seen::Said(number, Side::Server) => self.answered(number),
        }
        Ok(())
    }

    /// The request is whole: the session it is of has it.
    fn asked(&mut self, number: u64) -> Result<(), Failure> {
        let Some(exchange) = self.exchanges.get_mut(&number) else {
            return Ok(());
        };
        let named = exchange.named.clone();
        let message = std::mem::take(&mut exchange.asks).end();
        let Some(message) = message.filter(is_message) else {
            // A stream that is opened, and what is none of MCP, says nothing.
            if exchange.run.is_none() {
                exchange.run = match named {
                    Some(name) => self.by_name.get(&name).copied(),
                    None => self.unnamed,
                };
            }
            return Ok(());
        };
        let begins = begins(&message);
        let known = match &named {
            Some(name) => self.by_name.get(name).copied(),
            None => self.unnamed.filter(|_| !begins),
        };
        let run = if let Some(run) = known {
            run
        } else {
            self.runs.push((self.begin)()?);
            let run = self.runs.len() - 1;
            match named {
                Some(name) => _ = self.by_name.insert(name, run),
                None => self.unnamed = Some(run),
            }
            run
        };
        exchange.run = Some(run);
        self.runs[run].0.see(Side::Client, message);
        Ok(())
    }

    fn answers(&mut self, number: u64, head: Head) {
        let Some(exchange) = self.exchanges.get_mut(&number) else {
            return;
        };
        if let (Some(name), Some(run)) = (head.session, exchange.run) {
            self.by_name.insert(name, run);
            if self.unnamed == Some(run) {
                self.unnamed = None;
            }
        }
        self.compressed |= head.is_compressed;
        exchange.answers = Some(if head.is_compressed {
            Answer::Compressed
        } else if head.is_stream {
            Answer::Events(Events::default())
        } else {
            Answer::Whole(Whole::default())
        });
    }

    fn hear(&mut self, number: u64, bytes: &[u8]) {
        let Some(exchange) = self.exchanges.get_mut(&number) else {
            return;
        };
        let run = exchange.run.and_then(|run| self.runs.get_mut(run));
        match (&mut exchange.answers, run) {
            (Some(Answer::Whole(whole)), _) => whole.take(bytes),
            (Some(Answer::Events(events)), Some((session, _))) => {
                events.take(bytes, |message| session.see(Side::Server, message));
            }
            _ => {}
        }
    }

    fn answered(&mut self, number: u64) {
        let Some(exchange) = self.exchanges.remove(&number) else {
            return;
        };
        if let Some(Answer::Whole(whole)) = exchange.answers
            && let Some(run) = exchange.run
            && let Some(message) = whole.end()
        {
            self.runs[run].0.see(Side::Server, message);
        }
    }
}
