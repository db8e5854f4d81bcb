//! The order in which the model asked for calls. Faults and the cap on calls count by it, as whoever judges the run
//! does, and not by the order in which a client sends calls that were asked for together.

use std::collections::BTreeSet;

use mcptest_trace::eval::Decisions;
use mcptest_trace::trace::canonical_json;
use serde_json::Value;

use super::seen::{Seen, is_name_of};
use crate::record::Log;

/// What the model asked for, and what becomes of it.
#[derive(Debug)]
pub(crate) struct Order {
    log: Log,
    faults: Option<Decisions>,
    most: Option<u64>,
    /// The answers in the log whose calls are known.
    known: BTreeSet<usize>,
    calls: Vec<Wanted>,
}

/// A call that the model asked for.
#[derive(Debug)]
struct Wanted {
    name: String,
    args: String,
    reached: bool,
    /// The result and the mark of the fault that strikes it.
    fault: Option<(Value, Value)>,
}

/// What becomes of a call that arrives.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fate {
    Passes,
    /// The model did not ask for it, as far as is known.
    Unasked,
    /// The run has made as many calls as it may.
    Refused,
    /// A fault answers it.
    Struck {
        result: Value,
        mark: Value,
    },
}

impl Order {
    /// The order of the calls in a log, with what faults there are and how many calls may be made.
    pub(crate) fn new(log: Log, faults: Option<Decisions>, most: Option<u64>) -> Self {
        Self {
            log,
            faults,
            most,
            known: BTreeSet::new(),
            calls: Vec::new(),
        }
    }

    pub(super) fn log(&self) -> Log {
        self.log.clone()
    }

    /// What becomes of a call that arrives at a server.
    pub(super) fn arrives(&mut self, seen: &Seen, server: &str, tool: &str, args: &Value) -> Fate {
        self.take_in(seen, server, tool);
        let args = canonical_json(args);
        let is_it = |wanted: &Wanted| {
            !wanted.reached && wanted.args == args && is_name_of(&wanted.name, server, tool)
        };
        let Some(place) = self.calls.iter().position(is_it) else {
            return Fate::Unasked;
        };
        let wanted = &mut self.calls[place];
        wanted.reached = true;
        if self.most.is_some_and(|most| place as u64 >= most) {
            return Fate::Refused;
        }
        match wanted.fault.clone() {
            Some((result, mark)) => Fate::Struck { result, mark },
            None => Fate::Passes,
        }
    }

    /// Takes in what the model asked for meanwhile.
    fn take_in(&mut self, seen: &Seen, server: &str, tool: &str) {
        for call in self.log.new_calls(&mut self.known) {
            let meant = seen
                .meant(&call.name)
                .or_else(|| is_name_of(&call.name, server, tool).then_some((server, tool)));
            let (server, tool) = meant.unwrap_or(("", &call.name));
            let faults = self.faults.as_mut();
            self.calls.push(Wanted {
                fault: faults.and_then(|faults| faults.timed_out(tool, server)),
                args: canonical_json(&call.args),
                name: call.name,
                reached: false,
            });
        }
    }

    /// A fault whose call reached no server: its name, and the tool's.
    pub(super) fn missed(&mut self, seen: &Seen) -> Option<(String, String)> {
        self.take_in(seen, "", "");
        let allowed = self.most.map_or(usize::MAX, |most| {
            usize::try_from(most).unwrap_or(usize::MAX)
        });
        let mut calls = self.calls.iter().take(allowed);
        calls.find_map(|wanted| {
            let (_, mark) = wanted.fault.as_ref().filter(|_| !wanted.reached)?;
            Some((mark["fault"].as_str()?.to_owned(), wanted.name.clone()))
        })
    }
}
