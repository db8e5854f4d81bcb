//! Which session each exchange is of, and what goes into its recording.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use axum::body::Bytes;
use mcptest_session::mcp::frames::{EventStream, Frame, WholeBody};
use mcptest_session::mcp::messages::{Speaker, is_initialize, is_message};

use crate::failure::Failure;
use crate::proxy::RecordedSession;

/// What went by, of the exchange of a number.
pub(super) enum ExchangeEvent {
    Asked {
        number: u64,
        /// The session that the request names.
        session: Option<String>,
        /// What the client logs in with.
        logins: Vec<String>,
    },
    Bytes(u64, Speaker, Bytes),
    /// One side has said all.
    Said(u64, Speaker),
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
    runs: Vec<RecordedSession>,
    by_name: HashMap<String, usize>,
    /// That of requests which name none: the one begun last.
    unnamed: Option<usize>,
    exchanges: HashMap<u64, Exchange>,
    compressed: bool,
    /// What must not get into a recording.
    logins: Vec<String>,
}

/// A request and its answer while they go by.
#[derive(Default)]
struct Exchange {
    named: Option<String>,
    asks: WholeBody,
    run: Option<usize>,
    answers: Option<AnswerFrames>,
}

enum AnswerFrames {
    Whole(WholeBody),
    Events(EventStream),
    Compressed,
}

impl<B: Fn() -> Result<RecordedSession, Failure>> Sessions<'_, B> {
    pub(super) fn new(begin: &B, logins: Vec<String>) -> Sessions<'_, B> {
        Sessions {
            begin,
            runs: Vec::new(),
            by_name: HashMap::new(),
            unnamed: None,
            exchanges: HashMap::new(),
            compressed: false,
            logins,
        }
    }

    /// Looks at all that goes by, and writes what is new.
    pub(super) fn record(
        mut self,
        passing: &Receiver<ExchangeEvent>,
    ) -> Result<Vec<RecordedSession>, Failure> {
        let mut wait = Duration::MAX;
        loop {
            match passing.recv_timeout(wait) {
                Ok(part) => self.handle(part)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let waits = self.runs.iter_mut();
            let waits = waits.map(|(session, recording)| recording.write_if_due(session));
            wait = waits.min().unwrap_or(Duration::MAX);
        }
        if self.compressed {
            mcptest_trace::record::say(
                "warning: the server compressed some answers, although the client did not ask for it; the content of these answers is not recorded",
            );
        }
        Ok(self.runs)
    }

    fn handle(&mut self, part: ExchangeEvent) -> Result<(), Failure> {
        match part {
            ExchangeEvent::Asked {
                number,
                session,
                logins,
            } => {
                let exchange = Exchange {
                    named: session,
                    ..Exchange::default()
                };
                self.exchanges.insert(number, exchange);
                self.hide_credentials(logins);
            }
            ExchangeEvent::Bytes(number, Speaker::Client, bytes) => {
                if let Some(exchange) = self.exchanges.get_mut(&number) {
                    exchange.asks.take(&bytes);
                }
            }
            ExchangeEvent::Said(number, Speaker::Client) => self.finish_request(number)?,
            ExchangeEvent::Answers(number, head) => {
                // The server may answer before it has heard all.
                self.finish_request(number)?;
                self.begin_response(number, head);
            }
            ExchangeEvent::Bytes(number, Speaker::Server, bytes) => self.add_bytes(number, &bytes),
            ExchangeEvent::Said(number, Speaker::Server) => self.finish_response(number),
        }
        Ok(())
    }

    /// Keeps what a client logs in with out of all recordings: a server may answer with it.
    fn hide_credentials(&mut self, logins: Vec<String>) {
        let known = self.logins.len();
        for login in logins {
            if !self.logins.contains(&login) {
                self.logins.push(login);
            }
        }
        if self.logins.len() > known {
            for (_, recording) in &mut self.runs {
                recording.hide_credentials(&self.logins);
            }
        }
    }

    /// The request is whole: the session it is of has it.
    fn finish_request(&mut self, number: u64) -> Result<(), Failure> {
        let Some(exchange) = self.exchanges.get_mut(&number) else {
            return Ok(());
        };
        let named = exchange.named.clone();
        let (message, mended) = match std::mem::take(&mut exchange.asks).end() {
            Some(Frame::Message(message, mended)) if is_message(&message) => (message, mended),
            // A stream that is opened, and what is none of MCP, says nothing.
            other => {
                if exchange.run.is_none() {
                    exchange.run = match named {
                        Some(name) => self.by_name.get(&name).copied(),
                        None => self.unnamed,
                    };
                }
                if let (Some(run), Some(unreadable @ Frame::Unreadable(_))) = (exchange.run, other)
                {
                    self.runs[run].0.add_frame(Speaker::Client, unreadable);
                }
                return Ok(());
            }
        };
        let begins = is_initialize(&message);
        let known = match &named {
            Some(name) => self.by_name.get(name).copied(),
            None => self.unnamed.filter(|_| !begins),
        };
        let run = if let Some(run) = known {
            run
        } else {
            let (session, mut recording) = (self.begin)()?;
            recording.hide_credentials(&self.logins);
            self.runs.push((session, recording));
            let run = self.runs.len() - 1;
            match named {
                Some(name) => _ = self.by_name.insert(name, run),
                None => self.unnamed = Some(run),
            }
            run
        };
        exchange.run = Some(run);
        let message = Frame::Message(message, mended);
        self.runs[run].0.add_frame(Speaker::Client, message);
        Ok(())
    }

    fn begin_response(&mut self, number: u64, head: Head) {
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
            AnswerFrames::Compressed
        } else if head.is_stream {
            AnswerFrames::Events(EventStream::default())
        } else {
            AnswerFrames::Whole(WholeBody::default())
        });
    }

    fn add_bytes(&mut self, number: u64, bytes: &[u8]) {
        let Some(exchange) = self.exchanges.get_mut(&number) else {
            return;
        };
        let run = exchange.run.and_then(|run| self.runs.get_mut(run));
        match (&mut exchange.answers, run) {
            (Some(AnswerFrames::Whole(whole)), _) => whole.take(bytes),
            (Some(AnswerFrames::Events(events)), Some((session, _))) => {
                events.take(bytes, |frame| session.add_frame(Speaker::Server, frame));
            }
            _ => {}
        }
    }

    fn finish_response(&mut self, number: u64) {
        let Some(exchange) = self.exchanges.remove(&number) else {
            return;
        };
        if let Some(AnswerFrames::Whole(whole)) = exchange.answers
            && let Some(run) = exchange.run
            && let Some(frame) = whole.end()
        {
            self.runs[run].0.add_frame(Speaker::Server, frame);
        }
    }
}
