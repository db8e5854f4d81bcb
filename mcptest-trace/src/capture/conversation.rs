//! The conversations of a run: the agent's own, and those of agents that it calls.

use crate::spans::mark_new_parts;

use super::exchange::{Exchange, Part};

/// A call that waits for its result, or has one.
#[derive(Debug)]
struct RequestedCall {
    /// Which answer of the conversation made it.
    answer: usize,
    id: Option<String>,
    call: usize,
    answered: bool,
}

/// One conversation with a model.
#[derive(Debug)]
pub(super) struct Conversation {
    /// The tool or the agent in which it takes place, if it is within one.
    pub(super) within: Option<usize>,
    /// Whose it is, where the spans name an agent.
    pub(super) name: Option<String>,
    /// The agent that its calls are of; none is the run's own.
    pub(super) agent: Option<String>,
    known: Vec<String>,
    said: Vec<String>,
    answers: usize,
    made: Vec<RequestedCall>,
}

impl Conversation {
    pub(super) fn new(within: Option<usize>, name: Option<String>, agent: Option<String>) -> Self {
        Self {
            within,
            name,
            agent,
            known: Vec::new(),
            said: Vec::new(),
            answers: 0,
            made: Vec::new(),
        }
    }

    /// Takes in a request to the model. Returns for each part that it is sent whether the part is new.
    pub(super) fn add_request(&mut self, exchange: &Exchange) -> Vec<bool> {
        let sent = exchange.request_keys();
        let new = mark_new_parts(&self.known, &self.said, &sent);
        self.known = sent;
        self.said.clear();
        new
    }

    /// Takes in an answer of the model.
    pub(super) fn add_response(&mut self, exchange: &Exchange) {
        self.answers += 1;
        self.said = exchange.response_keys();
    }

    /// Takes in a call of the last answer. `call` is its place among the calls of the run.
    pub(super) fn add_call(&mut self, part: &Part, call: usize) {
        if let Part::Call { id, .. } = part {
            self.made.push(RequestedCall {
                answer: self.answers,
                id: id.clone(),
                call,
                answered: false,
            });
        }
    }

    /// Finds the call that a result answers, and closes it: of the calls with its identifier, the first of the
    /// latest answer that is open.
    pub(super) fn close_call(&mut self, id: Option<&str>) -> Option<usize> {
        let of_id = |made: &&mut RequestedCall| {
            made.id.as_deref() == id && (id.is_some() || !made.answered)
        };
        let latest = self
            .made
            .iter_mut()
            .filter(of_id)
            .map(|made| made.answer)
            .max()?;
        let mut made = self.made.iter_mut().filter(of_id);
        let open = made.find(|made| made.answer == latest && !made.answered)?;
        open.answered = true;
        Some(open.call)
    }
}
