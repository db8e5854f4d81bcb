//! Requests that wait for their answers, by their identifiers.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

/// What was asked.
#[derive(Debug)]
pub(super) enum Asked<C> {
    /// A call of a tool.
    Call(C),
    /// Another request: its method and its parameters.
    Other(String, Value),
    /// A request that the client gave up. The server may answer it all the same.
    GivenUp,
}

/// The requests. Those of one identifier are answered in their order.
#[derive(Debug)]
pub(super) struct Waiting<C>(HashMap<String, VecDeque<Request<C>>>);

#[derive(Debug)]
struct Request<C> {
    /// Whether the identifier is a text. A server may answer `"3"` for 3: only where nothing fits better.
    is_text: bool,
    asked: Asked<C>,
}

impl<C> Default for Waiting<C> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<C> Waiting<C> {
    /// A request waits.
    pub(super) fn add(&mut self, id: &Value, asked: Asked<C>) {
        let request = Request {
            is_text: id.is_string(),
            asked,
        };
        self.0.entry(key(id)).or_default().push_back(request);
    }

    /// Takes the request that an answer is for.
    pub(super) fn answered(&mut self, id: &Value) -> Option<Asked<C>> {
        let key = key(id);
        let queue = self.0.get_mut(&key)?;
        let place = place(queue, id, |_| true)?;
        let request = queue.remove(place)?;
        if queue.is_empty() {
            self.0.remove(&key);
        }
        Some(request.asked)
    }

    /// The client waits for a request no longer; the call that it is.
    pub(super) fn given_up(&mut self, id: &Value) -> Option<C> {
        let queue = self.0.get_mut(&key(id))?;
        let place = place(queue, id, is_open)?;
        match std::mem::replace(&mut queue[place].asked, Asked::GivenUp) {
            Asked::Call(call) => Some(call),
            Asked::Other(..) | Asked::GivenUp => None,
        }
    }

    /// The call of an identifier.
    pub(super) fn call(&self, id: &Value) -> Option<&C> {
        let queue = self.0.get(&key(id))?;
        match &queue[place(queue, id, is_open)?].asked {
            Asked::Call(call) => Some(call),
            Asked::Other(..) | Asked::GivenUp => None,
        }
    }

    /// How many calls wait.
    pub(super) fn calls(&self) -> usize {
        let all = self.0.values().flatten();
        all.filter(|request| matches!(request.asked, Asked::Call(_)))
            .count()
    }
}

/// Which request is meant: one whose identifier is of the same type, and one that the client waits for.
fn place<C>(
    queue: &VecDeque<Request<C>>,
    id: &Value,
    fits: impl Fn(&Asked<C>) -> bool,
) -> Option<usize> {
    let fitting = queue.iter().enumerate().filter(|(_, it)| fits(&it.asked));
    let rank = |(_, request): &(usize, &Request<C>)| {
        (request.is_text != id.is_string(), !is_open(&request.asked))
    };
    fitting.min_by_key(rank).map(|(place, _)| place)
}

fn is_open<C>(asked: &Asked<C>) -> bool {
    !matches!(asked, Asked::GivenUp)
}

/// The key of an identifier: equal for 3, 3.0 and `"3"`.
fn key(id: &Value) -> String {
    match id {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => format!("{float:.0}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// Whether two identifiers say the same.
#[must_use]
pub fn is_same_id(one: &Value, other: &Value) -> bool {
    one == other || key(one) == key(other)
}
