//! The results that a request tells the model, beside those that it was told.

use std::collections::HashSet;

use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::Value;

use super::Comparison;
use crate::exchange::{Item, ModelRequest, ToolResult};
use crate::play::alignment::ResultCall;
use crate::play::cassette_fields::RecordedCall;
use crate::play::examples;
use crate::play::matching::Forms;
use crate::play::turns::KnownCall;
use crate::protocol::{self, Protocol};
use crate::record::{says_result, told_is_error};

const KIND: DivergenceKind = DivergenceKind::ToolResults;

/// What is known of the result of a call.
struct KnownResult<'r> {
    /// The item of its path.
    item: String,
    tool: &'r str,
    /// What the model was told.
    value: Option<&'r Value>,
    is_error: Option<bool>,
    /// The call of the trace.
    call: Option<&'r RecordedCall>,
    place: Option<String>,
}

impl Comparison<'_> {
    pub(super) fn compare_results(&self, found: &mut Vec<Divergence>) {
        let mut told = HashSet::new();
        for (place, of) in &self.reading.results {
            let Item::Result(result) = &self.asked.items[*place] else {
                continue;
            };
            match of {
                ResultCall::Call(call) => {
                    told.insert(*call);
                    self.compare_result(&self.known_result(*call), result, found);
                }
                ResultCall::Repeated(call) => {
                    let message = "is sent to the model twice";
                    self.note_misplaced(*call, "again", message, result, found);
                }
                ResultCall::Early(call) => {
                    told.insert(*call);
                    let message = "comes before the call";
                    self.note_misplaced(*call, "early", message, result, found);
                }
                ResultCall::Unknown => {
                    let name = result.name.as_deref().or(result.id.as_deref());
                    let name = name.unwrap_or_default();
                    let message =
                        format!("a result of a call that the model did not make: `{name}`");
                    found.push(
                        self.divergence(KIND, format!("tool_results[{name}]"), message)
                            .with_values(None, Some(result.value.clone())),
                    );
                }
            }
        }
        let moves = &self.own().moves[self.reading.told.clone()];
        let calls = moves.iter().flat_map(|one| &one.spoken.calls);
        for index in calls.filter_map(|call| call.index) {
            let call = KnownCall::Recorded(index);
            let known = self.known_result(call);
            if known.value.is_some() && !told.contains(&call) {
                let path = format!("tool_results[{}]", known.item);
                let message = format!(
                    "the code does not send the result of `{}` to the model",
                    known.tool
                );
                found.push(
                    self.divergence(KIND, path, message)
                        .with_values(known.value.cloned(), None)
                        .with_place(known.place),
                );
            }
        }
        found.retain(|one| one.kind != KIND || !self.is_ignored(KIND, path_item(&one.path)));
    }

    fn known_result(&self, call: KnownCall) -> KnownResult<'_> {
        match call {
            KnownCall::Recorded(index) => {
                let recorded = &self.recording.calls[index];
                KnownResult {
                    item: index.to_string(),
                    tool: &recorded.name,
                    value: recorded.told.value.as_ref().or(recorded.result.as_ref()),
                    is_error: recorded.is_error,
                    call: Some(recorded),
                    place: Some(format!("trace.tool_calls[{index}]")),
                }
            }
            KnownCall::Example(number, index) => {
                let example = self.own().began.iter().flatten().nth(number);
                let call = example.and_then(|example| example.spoken.calls.get(index));
                let value = example.and_then(|example| example.results.get(index)?.as_ref());
                KnownResult {
                    item: examples::example_item(number, Some(index)),
                    tool: call.map_or("", |call| &call.tool.1),
                    value,
                    is_error: None,
                    call: None,
                    place: None,
                }
            }
        }
    }

    /// A result that is told where it has no place.
    fn note_misplaced(
        &self,
        call: KnownCall,
        key: &str,
        message: &str,
        result: &ToolResult,
        found: &mut Vec<Divergence>,
    ) {
        let known = self.known_result(call);
        let path = format!("tool_results[{}].{key}", known.item);
        let message = format!("the result of `{}` {message}", known.tool);
        found.push(
            self.divergence(KIND, path, message)
                .with_values(None, Some(result.value.clone()))
                .with_place(known.place),
        );
    }

    /// The request, with the recorded error flags of results that are the recorded ones: many formats have no flag, and
    /// the agent's gates judge the played run by it.
    pub(in crate::play) fn with_flags(&self) -> ModelRequest {
        let mut asked = self.asked.clone();
        for (place, of) in &self.reading.results {
            let (ResultCall::Call(call), Some(Item::Result(result))) =
                (of, asked.items.get_mut(*place))
            else {
                continue;
            };
            let known = self.known_result(*call);
            let Some(old) = known.value else { continue };
            let is_wrapped = is_wrapped(&known, result);
            if !is_wrapped && !self.compare_forms(&known.item, old, &result.value).2 {
                continue;
            }
            if result.is_error.is_none() {
                result.is_error = known.is_error;
            }
            // What a client writes around the result of a server is no part of it.
            let call = known
                .call
                .filter(|call| is_wrapped || call.told.value.is_some());
            if let Some(call) = call
                && let Some(said) = &call.result
            {
                result.value.clone_from(said);
            }
        }
        asked
    }

    /// What a recorded result says and what one says now, as they are compared, and whether that is the same.
    pub(super) fn compare_forms(
        &self,
        item: &str,
        old: &Value,
        new: &Value,
    ) -> (Forms, Forms, bool) {
        let without = |form: &Value| self.without_ignored(KIND, item, form);
        let wraps = |name: &str| protocol::named(name).is_some_and(Protocol::wraps_results);
        let recorded = self.recorded().protocol.as_deref();
        let wrapped = wraps(self.protocol) || recorded.is_some_and(wraps);
        let [old, new] = [old, new].map(|result| Forms::new(result, wrapped).map(without));
        let is_same = old.is_same(&new, &self.options.masks);
        (old, new, is_same)
    }

    fn compare_result(
        &self,
        known: &KnownResult<'_>,
        played: &ToolResult,
        found: &mut Vec<Divergence>,
    ) {
        let Some(recorded) = known.value else { return };
        let (old, new, is_same) = self.compare_forms(&known.item, recorded, &played.value);
        let tool = known.tool;
        let path = format!("tool_results[{}]", known.item);
        let place = known.place.clone();
        if !is_same && !is_wrapped(known, played) {
            found.push(
                self.divergence(KIND, path, format!("the result of `{tool}` differs"))
                    .with_values(old.plain.into_iter().next(), new.plain.into_iter().next())
                    .with_place(place),
            );
            return;
        }
        if let Some((old, new)) = self.differing_flags(known, played, (&old, &new)) {
            let message = if new {
                format!("the result of `{tool}` is an error now")
            } else {
                format!("the result of `{tool}` is no error any more")
            };
            found.push(
                self.divergence(KIND, format!("{path}.is_error"), message)
                    .with_values(Some(old.into()), Some(new.into()))
                    .with_place(place),
            );
        }
    }

    /// Whether the model was told that the call failed, and whether it is told so now, where these differ.
    fn differing_flags(
        &self,
        known: &KnownResult<'_>,
        played: &ToolResult,
        (old, new): (&Forms, &Forms),
    ) -> Option<(bool, bool)> {
        let told = known.call.and_then(|call| call.told.is_error);
        if let Some(told) = told.filter(|_| self.same_format()) {
            let (old, new) = (told == Some(true), told_is_error(played) == Some(true));
            return (old != new).then_some((old, new));
        }
        // What the format says of the result, else what the result says itself.
        let own = old.is_error.zip(new.is_error);
        // A result that a server gave says more than a client tells.
        let is_of_server = known.call.is_some_and(|call| call.told.is_of_server);
        let own = own.filter(|_| !is_of_server || new.has_flag);
        let flags = known.is_error.zip(played.is_error);
        let differing = [flags.or(own), own].into_iter().flatten();
        let mut differing = differing.filter(|(old, new)| old != new);
        differing.next()
    }
}

/// Whether a result holds that which a server gave. An older recording does not say what a client wrote around it.
fn is_wrapped(known: &KnownResult<'_>, played: &ToolResult) -> bool {
    let is_of_server = known.call.is_some_and(|call| call.told.is_of_server);
    is_of_server
        && known
            .value
            .is_some_and(|said| says_result(&played.value, said))
}

/// The item of a path: what stands in its brackets.
fn path_item(path: &str) -> &str {
    let inner = path.split_once('[').map_or(path, |(_, inner)| inner);
    inner.rsplit_once(']').map_or(inner, |(item, _)| item)
}
