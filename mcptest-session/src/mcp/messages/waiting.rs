//! Requests that wait for their answers, by their identifiers.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

/// What was asked.
#[derive(Debug)]
pub(super) enum PendingKind<C> {
    /// A call of a tool.
    Call(C),
    /// Another request: its method and its parameters.
    Other(String, Value),
    /// A request that the client gave up. The server may answer it all the same.
    GivenUp,
}

/// The requests. Those of one identifier are answered in their order.
#[derive(Debug)]
pub(super) struct PendingRequests<C>(HashMap<String, VecDeque<Request<C>>>);

#[derive(Debug)]
struct Request<C> {
    /// Whether the identifier is a text. A server may answer `"3"` for 3: only where nothing fits better.
    is_text: bool,
    asked: PendingKind<C>,
}

impl<C> Default for PendingRequests<C> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<C> PendingRequests<C> {
    /// A request waits.
    pub(super) fn add(&mut self, id: &Value, asked: PendingKind<C>) {
        let request = Request {
            is_text: id.is_string(),
            asked,
        };
        self.0.entry(id_key(id)).or_default().push_back(request);
    }

    /// Takes the request that an answer is for.
    pub(super) fn take_answered(&mut self, id: &Value) -> Option<PendingKind<C>> {
        let key = id_key(id);
        let queue = self.0.get_mut(&key)?;
        let place = find_request(queue, id, |_| true)?;
        let request = queue.remove(place)?;
        if queue.is_empty() {
            self.0.remove(&key);
        }
        Some(request.asked)
    }

    /// The client waits for a request no longer; the call that it is.
    pub(super) fn give_up(&mut self, id: &Value) -> Option<C> {
        let queue = self.0.get_mut(&id_key(id))?;
        let place = find_request(queue, id, is_open)?;
        match std::mem::replace(&mut queue[place].asked, PendingKind::GivenUp) {
            PendingKind::Call(call) => Some(call),
            PendingKind::Other(..) | PendingKind::GivenUp => None,
        }
    }

    /// The call of an identifier.
    pub(super) fn call(&self, id: &Value) -> Option<&C> {
        let queue = self.0.get(&id_key(id))?;
        match &queue[find_request(queue, id, is_open)?].asked {
            PendingKind::Call(call) => Some(call),
            PendingKind::Other(..) | PendingKind::GivenUp => None,
        }
    }

    /// How many calls wait.
    pub(super) fn call_count(&self) -> usize {
        let all = self.0.values().flatten();
        all.filter(|request| matches!(request.asked, PendingKind::Call(_)))
            .count()
    }
}

/// Which request is meant: one whose identifier is of the same type, and one that the client waits for.
fn find_request<C>(
    queue: &VecDeque<Request<C>>,
    id: &Value,
    fits: impl Fn(&PendingKind<C>) -> bool,
) -> Option<usize> {
    let fitting = queue.iter().enumerate().filter(|(_, it)| fits(&it.asked));
    let rank = |(_, request): &(usize, &Request<C>)| {
        (request.is_text != id.is_string(), !is_open(&request.asked))
    };
    fitting.min_by_key(rank).map(|(place, _)| place)
}

fn is_open<C>(asked: &PendingKind<C>) -> bool {
    !matches!(asked, PendingKind::GivenUp)
}

/// The key of an identifier: equal for 3, 3.0 and `"3"`.
fn id_key(id: &Value) -> String {
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
pub(crate) fn is_same_id(one: &Value, other: &Value) -> bool {
    one == other || id_key(one) == id_key(other)
}
