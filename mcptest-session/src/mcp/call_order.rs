//! The order in which the model asked for calls. Faults and the cap on calls count by it, as whoever judges the run
//! does, and not by the order in which a client sends calls that were asked for together.

use std::collections::{BTreeSet, HashMap};

use mcptest_trace::eval::Decisions;
use mcptest_trace::trace::canonical_json;
use serde_json::Value;

use super::names::NameIndex;
use super::traffic::{McpTraffic, names_tool};
use crate::door::matching::is_same_tool;
use crate::door::{OwnCall, Strike};
use crate::exchange::Call;
use crate::record::{Fit, Log, fit};

/// What the model asked for, and what becomes of it.
#[derive(Debug)]
pub(crate) struct CallOrder {
    log: Log,
    faults: Option<Decisions>,
    most: Option<u64>,
    /// How many answers came whose calls are known.
    known: usize,
    /// What clients call the tools of the servers.
    names: NameIndex,
    calls: Vec<RequestedCall>,
    /// The calls that did not reach a server, by their arguments.
    waiting: HashMap<String, BTreeSet<usize>>,
}

/// A call that the model asked for.
#[derive(Debug)]
struct RequestedCall {
    call: Call,
    reached: bool,
    /// The tool and the server, as faults name them.
    target: (String, String),
    /// The result and the mark of the fault that strikes it.
    fault: Option<(Value, Value)>,
}

/// What becomes of a call that arrives.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallFate {
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

impl CallOrder {
    /// The order of the calls in a log, with what faults there are and how many calls may be made.
    pub(crate) fn new(log: Log, faults: Option<Decisions>, most: Option<u64>) -> Self {
        Self {
            log,
            faults,
            most,
            known: 0,
            names: NameIndex::default(),
            calls: Vec::new(),
            waiting: HashMap::new(),
        }
    }

    pub(super) fn log(&self) -> Log {
        self.log.clone()
    }

    /// What becomes of a call that arrives at a server.
    pub(super) fn decide(
        &mut self,
        seen: &McpTraffic,
        server: &str,
        tool: &str,
        args: &Value,
    ) -> CallFate {
        self.update(seen, server, tool);
        let Some(waiting) = self.waiting.get_mut(&canonical_json(args)) else {
            return CallFate::Unasked;
        };
        let calls = &self.calls;
        let is_it = |call: &usize| names_tool(&calls[*call].call.name, server, tool);
        let Some(place) = waiting.iter().copied().find(is_it) else {
            return CallFate::Unasked;
        };
        waiting.remove(&place);
        let wanted = &mut self.calls[place];
        wanted.reached = true;
        if self.most.is_some_and(|most| place as u64 >= most) {
            return CallFate::Refused;
        }
        match wanted.fault.clone() {
            Some((result, mark)) => CallFate::Struck { result, mark },
            None => CallFate::Passes,
        }
    }

    /// Adds the calls that the model asked for meanwhile.
    fn update(&mut self, seen: &McpTraffic, server: &str, tool: &str) {
        self.names.update(seen);
        for call in self.log.new_calls(&mut self.known) {
            let meant = self
                .names
                .resolve(&call.name)
                .or_else(|| names_tool(&call.name, server, tool).then_some((server, tool)));
            let (server, tool) = meant.unwrap_or(("", &call.name));
            let target = (tool.to_owned(), server.to_owned());
            let faults = self.faults.as_mut();
            let waiting = self.waiting.entry(canonical_json(&call.args)).or_default();
            waiting.insert(self.calls.len());
            self.calls.push(RequestedCall {
                fault: faults.and_then(|faults| faults.timed_out(&target.0, &target.1)),
                target,
                call,
                reached: false,
            });
        }
    }

    /// Whether the model asked for a call of an own tool, as far as is known.
    pub(super) fn is_requested(&mut self, seen: &McpTraffic, call: &OwnCall) -> bool {
        self.update(seen, "", "");
        self.find_call(call).is_some()
    }

    /// The fault that strikes a call of an own tool. A further attempt at a call of the model's is a call of its own for the
    /// faults: a tool that recovers may do so within the code's own loop. Where no tools are offered the agent acts in text:
    /// its calls count as they come.
    pub(super) fn own_tool_fault(
        &mut self,
        seen: &McpTraffic,
        call: &OwnCall,
        is_outer: bool,
    ) -> Option<Strike> {
        self.update(seen, "", "");
        if let Some(place) = self.find_call(call) {
            let wanted = &mut self.calls[place];
            if wanted.reached {
                let (tool, server) = &wanted.target;
                return self.faults.as_mut()?.timed_out(tool, server);
            }
            wanted.reached = true;
            return wanted.fault.clone();
        }
        let acts = is_outer && self.log.acts_in_text();
        let faults = self.faults.as_mut().filter(|_| acts)?;
        faults.timed_out(&call.name, "")
    }

    /// The call of the model that a call of an own tool is: by its identifier, else by its arguments, else by its name.
    fn find_call(&self, call: &OwnCall) -> Option<usize> {
        let all = || self.calls.iter().enumerate();
        if let Some(id) = call.call_id.as_deref() {
            let mut of_id = all().rev();
            // A tool that another one calls may have its identifier too.
            let of_id = of_id.find(|(_, wanted)| {
                let is_it = call.inside.is_none() || is_same_tool(&wanted.call.name, &call.name);
                is_it && wanted.call.id.as_deref() == Some(id)
            });
            if let Some((place, _)) = of_id {
                return Some(place);
            }
        }
        let fitting = all().filter_map(|(place, wanted)| {
            let fit = fit(&wanted.call, call)?;
            // The first one that nobody made, else the last one: another attempt at it.
            let order = if wanted.reached {
                usize::MAX - place
            } else {
                place
            };
            Some((fit == Fit::Name, wanted.reached, fit, order, place))
        });
        // What was made already is another call, if not even its arguments are the same.
        let fitting = fitting.filter(|(is_name, reached, ..)| !(*is_name && *reached));
        let (_, reached, .., place) = fitting.min()?;
        // Nor if the model knows what came of it.
        let id = self.calls[place].call.id.as_deref();
        let is_over = reached && id.is_some_and(|id| self.log.has_result_for(id));
        (!is_over).then_some(place)
    }

    /// A fault whose call reached no server and no door: its name, and the tool's.
    pub(super) fn missed_fault(&mut self, seen: &McpTraffic) -> Option<(String, String)> {
        self.update(seen, "", "");
        let allowed = self.most.map_or(usize::MAX, |most| {
            usize::try_from(most).unwrap_or(usize::MAX)
        });
        let mut calls = self.calls.iter().take(allowed);
        calls.find_map(|wanted| {
            let (_, mark) = wanted.fault.as_ref().filter(|_| !wanted.reached)?;
            Some((mark["fault"].as_str()?.to_owned(), wanted.call.name.clone()))
        })
    }
}

#[cfg(test)]
mod tests {
    use mcptest_trace::eval::{Fault, FaultKind, FaultPlan};
    use serde_json::json;

    use super::*;
    use crate::exchange::{ModelResponse, Part};
    use crate::record::{Observed, Outcome};

    /// The log of a model that asked for two calls at once.
    fn two_calls() -> Log {
        let call = |order: u64| {
            Part::Call(Call {
                id: Some(format!("c{order}")),
                name: "desk_find".to_owned(),
                args: json!({ "order": order }),
                ..Call::default()
            })
        };
        let said = ModelResponse {
            parts: vec![call(1), call(2)],
            ..ModelResponse::default()
        };
        let log = Log::default();
        let place = log.begin(Observed {
            protocol: None,
            method: "POST".to_owned(),
            path: "/openai/v1/chat/completions".to_owned(),
            query: None,
            digest: String::new(),
            asked: None,
            asked_at: 1,
            ended_at: None,
            tick: 0,
            outcome: Outcome::Open,
            gone: false,
            changes: BTreeSet::new(),
        });
        let broken = None;
        log.end(
            place,
            2,
            false,
            (Outcome::Answered { said, broken }, Vec::new()),
        );
        log
    }

    #[test]
    fn calls_count_as_the_model_asked_for_them_and_not_as_they_arrive() {
        let seen = McpTraffic::default();
        let arrives = |order: &mut CallOrder, number: u64| {
            order.decide(&seen, "desk", "find", &json!({ "order": number }))
        };
        let fault = Fault::new("flaky", FaultKind::RecoverAfter { failures: 1 });
        let plan = Decisions::new(FaultPlan::new(vec![fault.with_server("desk")]));
        let mut faults = CallOrder::new(two_calls(), Some(plan), None);
        assert_eq!(arrives(&mut faults, 2), CallFate::Passes);
        assert_eq!(
            faults.missed_fault(&seen),
            Some(("flaky".to_owned(), "desk_find".to_owned()))
        );
        assert!(matches!(arrives(&mut faults, 1), CallFate::Struck { .. }));
        assert_eq!(faults.missed_fault(&seen), None);
        // A call that nobody asked for, or that was made already.
        assert_eq!(arrives(&mut faults, 1), CallFate::Unasked);
        assert_eq!(arrives(&mut faults, 3), CallFate::Unasked);
        let mut capped = CallOrder::new(two_calls(), None, Some(1));
        assert_eq!(arrives(&mut capped, 2), CallFate::Refused);
        assert_eq!(arrives(&mut capped, 1), CallFate::Passes);
    }

    #[test]
    fn a_fault_without_a_server_strikes_own_tools_and_decides_on_each_attempt_at_a_call() {
        let seen = McpTraffic::default();
        let plan = |fault: Fault| Some(Decisions::new(FaultPlan::new(vec![fault])));
        let flaky = || Fault::new("flaky", FaultKind::RecoverAfter { failures: 1 });
        let call = |order: u64| OwnCall::new("find", json!({ "order": order }));
        // The model calls it `desk_find`, which is another tool than `find`.
        let call_of = |order: u64| OwnCall {
            name: "desk_find".to_owned(),
            ..call(order)
        };
        let mut order = CallOrder::new(two_calls(), plan(flaky()), None);
        assert_eq!(order.own_tool_fault(&seen, &call_of(2), true), None);
        assert_eq!(
            order.missed_fault(&seen),
            Some(("flaky".to_owned(), "desk_find".to_owned()))
        );
        let mark = json!({ "fault": "flaky", "kind": "recover_after" });
        let struck = order.own_tool_fault(&seen, &call_of(1), true);
        assert_eq!(struck.map(|(_, mark)| mark), Some(mark));
        assert_eq!(order.missed_fault(&seen), None);
        // The tool has recovered when the code tries again; one that hangs has not.
        assert_eq!(order.own_tool_fault(&seen, &call_of(1), true), None);
        let hang = Fault::new("hang", FaultKind::Hang);
        let mut hangs = CallOrder::new(two_calls(), plan(hang), None);
        for _ in 0..3 {
            assert!(hangs.own_tool_fault(&seen, &call_of(1), true).is_some());
        }
        // A fault of a server strikes no own tool, and the code's own calls are struck by none.
        let mut of_server = CallOrder::new(two_calls(), plan(flaky().with_server("desk")), None);
        assert_eq!(of_server.own_tool_fault(&seen, &call_of(1), true), None);
        let mut others = CallOrder::new(two_calls(), plan(flaky().with_tool("find")), None);
        assert_eq!(others.own_tool_fault(&seen, &call(1), false), None);
        // No request offered a tool: the agent acts in text.
        assert!(others.own_tool_fault(&seen, &call(1), true).is_some());
        assert_eq!(others.own_tool_fault(&seen, &call(1), true), None);
    }
}
