//! Where the values of the arguments of sinks stand in a run: one look through its texts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::super::values::around::Around;
use super::super::values::scan;
use super::super::values::{Layer, ValueKind, layers};
use super::entry::scalar_text;
use super::kept_places::{self, Origin, Places};
use super::marked::Encoded;
use super::sink::Sink;
use super::{FlowContext, FlowUnless};
use crate::trace::Trace;
use crate::trace::leaves::{PathPart, leaves};

/// Where a value of an argument occurs in the run.
#[derive(Default)]
pub(super) struct Occurrences {
    /// In results, by call: of each the first place, and the first by itself; of a name or a date those that tell something new.
    pub(super) spots: Vec<ResultSpan>,
    /// The calls whose arguments have it, in order.
    pub(super) args: Vec<usize>,
    /// Whether the user said it.
    user: Mention,
    /// Whether the system prompt said it.
    system: Mention,
}

/// Whether somebody said a value, and whether as no part of another.
#[derive(Default, Clone, Copy)]
pub(super) struct Mention {
    pub(super) at_all: bool,
    pub(super) by_itself: bool,
}

impl Occurrences {
    /// Whether the user or the system prompt has it, as `unless` asks.
    pub(super) fn mentioned_by(&self, unless: Option<&FlowUnless>) -> Mention {
        match unless {
            Some(FlowUnless::User) => self.user,
            Some(FlowUnless::System) => self.system,
            Some(FlowUnless::Tools(_)) | None => Mention::default(),
        }
    }

    /// Whether the user or the system prompt has the value.
    pub(super) fn in_prompts(&self) -> Mention {
        Mention {
            at_all: self.user.at_all || self.system.at_all,
            by_itself: self.user.by_itself || self.system.by_itself,
        }
    }
}

/// A place of a value in a result.
pub(super) struct ResultSpan {
    /// The place of the result, and of its text.
    pub(super) result: usize,
    pub(super) text: usize,
    pub(super) span: Range<usize>,
    pub(super) decoded: Option<Encoded>,
    /// Whether it is no part of another value.
    pub(super) by_itself: bool,
    /// What stands around a name, a small number or a date.
    pub(super) around: Option<Around>,
}

/// A text of a result, and the key under which it stands.
struct ResultText<'a> {
    text: Cow<'a, str>,
    key: Option<&'a str>,
}

/// All values of the arguments of sinks, and where they stand.
pub(super) struct Index<'a> {
    seen: HashMap<u64, Occurrences>,
    texts: Vec<Vec<ResultText<'a>>>,
}

impl<'a> Index<'a> {
    pub(super) fn build<'s>(
        trace: &'a Trace,
        told: &FlowContext<'_>,
        sinks: impl Iterator<Item = &'s Sink<'s>> + Clone,
    ) -> Self {
        let keys = sinks
            .clone()
            .flat_map(|sink| sink.keys().collect::<Vec<_>>());
        let mut index = Self {
            seen: keys.map(|key| (key, Occurrences::default())).collect(),
            texts: trace
                .tool_results
                .iter()
                .map(|result| result_texts(&result.result))
                .collect(),
        };
        if !index.seen.is_empty() {
            index.add_prompts(trace, told);
            index.add_arguments(trace);
            index.add_results(trace, Places::for_sinks(sinks));
        }
        index
    }

    pub(super) fn occurrences(&self, key: u64) -> Option<&Occurrences> {
        self.seen.get(&key)
    }

    /// The text that a place is in.
    pub(super) fn text(&self, spot: &ResultSpan) -> &str {
        self.texts[spot.result][spot.text].text.as_ref()
    }

    fn add_prompts(&mut self, trace: &Trace, told: &FlowContext<'_>) {
        let turns = || trace.conversation.turns.iter();
        let of = |role: &'static str| {
            turns()
                .filter(move |turn| turn.role == role)
                .map(|turn| turn.content.as_str())
        };
        let users = of("user").chain([told.user]).map(|text| (text, true));
        let systems = of("system").chain([told.system]).map(|text| (text, false));
        for (text, is_user) in users.chain(systems) {
            for_each_match(text, None, &mut self.seen, |seen, found| {
                let said = if is_user {
                    &mut seen.user
                } else {
                    &mut seen.system
                };
                said.at_all = true;
                said.by_itself |= found.by_itself;
            });
        }
    }

    fn add_arguments(&mut self, trace: &Trace) {
        for (call, args) in trace.tool_calls.iter().map(|call| &call.args).enumerate() {
            for (_, scalar) in leaves(args) {
                let Some(text) = scalar_text(scalar) else {
                    continue;
                };
                for_each_match(&text, None, &mut self.seen, |seen, found| {
                    // A number in a longer text is another one.
                    let is_other = found.around.as_ref().is_some_and(Around::is_other_number);
                    if !is_other && seen.args.last() != Some(&call) {
                        seen.args.push(call);
                    }
                });
            }
        }
    }

    fn add_results(&mut self, trace: &Trace, mut places: Places<'_>) {
        let known = trace.tool_calls.len();
        let tools = kept_places::tool_numbers(trace);
        let mut results: Vec<usize> = (0..trace.tool_results.len()).collect();
        results.retain(|result| trace.tool_results[*result].call_index < known);
        results.sort_by_key(|result| trace.tool_results[*result].call_index);
        for result in results {
            for (place, text) in self.texts[result].iter().enumerate() {
                for_each_match(&text.text, text.key, &mut self.seen, |seen, found| {
                    let is_new = if let Some(around) = &found.around {
                        let call = trace.tool_results[result].call_index;
                        let origin = Origin {
                            tool: tools[result],
                            was_told: seen.args.binary_search(&call).is_ok(),
                        };
                        places.is_new(found.key, origin, around, found.by_itself)
                    } else {
                        let of_result = seen
                            .spots
                            .iter()
                            .rev()
                            .take_while(|spot| spot.result == result);
                        of_result
                            .take(2)
                            .all(|spot| !spot.by_itself && found.by_itself)
                    };
                    if is_new {
                        seen.spots.push(ResultSpan {
                            result,
                            text: place,
                            span: found.layer.outer_span(found.span.clone()),
                            decoded: Encoded::new(
                                found.layer.encoding(),
                                found.layer.text(),
                                &found.span,
                            ),
                            by_itself: found.by_itself,
                            around: found.around,
                        });
                    }
                });
            }
        }
    }
}

/// The texts of a result, each with the key under which it stands.
fn result_texts(result: &serde_json::Value) -> Vec<ResultText<'_>> {
    let texts = leaves(result).into_iter().filter_map(|(path, scalar)| {
        let key = path.iter().rev().find_map(|part| match part {
            PathPart::Key(key) => Some(*key),
            PathPart::Index(_) => None,
        });
        Some(ResultText {
            text: scalar_text(scalar)?,
            key,
        })
    });
    texts.collect()
}

/// A value in a text.
struct Match<'l, 't> {
    key: u64,
    layer: &'l Layer<'t>,
    span: Range<usize>,
    by_itself: bool,
    around: Option<Around>,
}

/// Calls `note` with each wanted value of a text.
fn for_each_match(
    text: &str,
    key: Option<&str>,
    wanted: &mut HashMap<u64, Occurrences>,
    mut note: impl FnMut(&mut Occurrences, Match<'_, '_>),
) {
    for layer in layers(text) {
        let words = layer.words();
        let text = scan::ScannedText {
            plain: layer.text(),
            words: &words,
            key,
        };
        for value in layer.values(&words) {
            if let Some(seen) = wanted.get_mut(&value.key) {
                let around = match value.kind {
                    ValueKind::Date { .. } => Some(text.around_span(&value.span)),
                    _ => None,
                };
                let found = Match {
                    key: value.key,
                    layer: &layer,
                    span: value.span,
                    by_itself: !value.kind.is_part(),
                    around,
                };
                note(seen, found);
            }
        }
        let mut found = Vec::new();
        text.for_each_name(
            |key| wanted.contains_key(&key),
            |key, span, around| found.push((key, span, around)),
        );
        for (key, span, around) in found {
            if let Some(seen) = wanted.get_mut(&key) {
                let (layer, around) = (&layer, Some(around));
                note(
                    seen,
                    Match {
                        key,
                        layer,
                        span,
                        by_itself: true,
                        around,
                    },
                );
            }
        }
    }
}
