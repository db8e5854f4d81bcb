//! The results that a request tells the model, beside those that it was told.

use std::collections::HashSet;

use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::Value;

use super::Comparison;
use crate::exchange::{Asked, Item, Part, ToolResult};
use crate::play::recording::Answer;
use crate::play::texts::{forms, same};

impl Comparison<'_> {
    pub(super) fn results(&self, found: &mut Vec<Divergence>) {
        let moves = &self.own().moves;
        let mut told = HashSet::new();
        for item in &self.asked.items {
            let Item::Result(result) = item else { continue };
            if let Some(call) = self.call_of(result, &told) {
                told.insert(call);
                self.result(call, result, found);
                continue;
            }
            let name = result.name.as_deref().or(result.id.as_deref());
            let name = name.unwrap_or_default();
            let message = format!("a result of a call that the model did not make: `{name}`");
            found.push(
                self.found(
                    DivergenceKind::ToolResults,
                    format!("tool_results[{name}]"),
                    message,
                )
                .with_values(None, Some(result.value.clone())),
            );
        }
        let changed = moves[..=self.answer].iter().any(|one| one.past.is_some());
        let from = if self.is_new {
            self.answer.saturating_sub(1)
        } else {
            0
        };
        for one in moves[from..self.answer].iter().filter(|_| !changed) {
            for index in waiting(one) {
                let recorded = self.recording.calls.get(index);
                let Some(recorded) =
                    recorded.filter(|call| call.result.is_some() && !told.contains(&index))
                else {
                    continue;
                };
                found.push(
                    self.found(
                        DivergenceKind::ToolResults,
                        format!("tool_results[{index}]"),
                        format!("the result of `{}` is not told to the model", recorded.name),
                    )
                    .with_values(recorded.result.clone(), None)
                    .at(Some(format!("trace.tool_calls[{index}]"))),
                );
            }
        }
    }

    /// The call of a result: by its identifier, else the first of its name in the answer before that waits.
    fn call_of(&self, result: &ToolResult, told: &HashSet<usize>) -> Option<usize> {
        if let Some(id) = &result.id {
            let known = self.recording.call_ids.get(id).copied();
            let own = |call: &usize| self.own().moves.iter().any(|one| one.calls.contains(call));
            if let Some(call) = known.filter(own) {
                return Some(call);
            }
        }
        let name = result.name.as_deref()?;
        let (_, name) = self.recording.tool_name(name);
        let before = self.own().moves[..self.answer].iter();
        let mut calls = before.flat_map(waiting);
        calls.find(|call| !told.contains(call) && self.recording.calls[*call].name == name)
    }

    /// The request, with the recorded error flags of results that are the recorded ones: many formats have no flag, and
    /// the agent's gates judge the played run by it.
    pub(in crate::play) fn with_flags(&self) -> Asked {
        let mut asked = self.asked.clone();
        let mut told = HashSet::new();
        for item in &mut asked.items {
            let Item::Result(result) = item else { continue };
            let Some(call) = self.call_of(result, &told) else {
                continue;
            };
            told.insert(call);
            let recorded = &self.recording.calls[call];
            if result.is_error.is_none()
                && let Some(old) = &recorded.result
                && self.forms_of(call, old, &result.value).2
            {
                result.is_error = recorded.is_error;
            }
        }
        asked
    }

    /// What a recorded result says and what one says now, as they are compared, and whether that is the same.
    fn forms_of(&self, call: usize, old: &Value, new: &Value) -> (Vec<Value>, Vec<Value>, bool) {
        let item = call.to_string();
        let without = |forms: Vec<Value>| -> Vec<Value> {
            let forms = forms.into_iter();
            forms
                .map(|form| self.without_ignored(DivergenceKind::ToolResults, &item, &form))
                .collect()
        };
        let is_gemini = |name: Option<&str>| name == Some("gemini");
        let wrapped =
            is_gemini(Some(self.protocol)) || is_gemini(self.recorded().protocol.as_deref());
        let (old, new) = (without(forms(old, wrapped)), without(forms(new, wrapped)));
        let is_same = old
            .iter()
            .any(|old| new.iter().any(|new| same(old, new, &self.options.masks)));
        (old, new, is_same)
    }

    fn result(&self, call: usize, played: &ToolResult, found: &mut Vec<Divergence>) {
        let recorded = &self.recording.calls[call];
        let item = call.to_string();
        let Some(old) = recorded
            .result
            .as_ref()
            .filter(|_| !self.covered(DivergenceKind::ToolResults, &item))
        else {
            return;
        };
        let (old, new, is_same) = self.forms_of(call, old, &played.value);
        let name = &recorded.name;
        let path = format!("tool_results[{call}]");
        let place = Some(format!("trace.tool_calls[{call}]"));
        if !is_same {
            found.push(
                self.found(
                    DivergenceKind::ToolResults,
                    path,
                    format!("the result of `{name}` differs"),
                )
                .with_values(old.into_iter().next(), new.into_iter().next())
                .at(place),
            );
        } else if let (Some(old), Some(new)) = (recorded.is_error, played.is_error)
            && old != new
        {
            let message = if new {
                format!("the result of `{name}` is an error now")
            } else {
                format!("the result of `{name}` is no error any more")
            };
            found.push(
                self.found(
                    DivergenceKind::ToolResults,
                    format!("{path}.is_error"),
                    message,
                )
                .with_values(Some(old.into()), Some(new.into()))
                .at(place),
            );
        }
    }
}

/// The calls of an answer that wait for a result of the agent's code.
fn waiting(answer: &Answer) -> impl Iterator<Item = usize> {
    let calls = answer.said.parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call),
        _ => None,
    });
    let own = answer.calls.iter().zip(calls);
    own.filter(|(_, call)| call.native.is_none())
        .map(|(index, _)| *index)
}
