//! The values of an argument.

use std::ops::Range;

use super::super::values::argument::Argument;
use super::super::values::markup;
use super::super::values::names::{Name, is_common_but};
use super::super::values::{Layer, TextValue, ValueKind, layers};
use super::entry::CheckedArgument;
use super::marked::Encoded;
use super::tool_knowledge::ToolKnowledge;

/// The fewest signs of a value that two arguments have together.
const JOINT: usize = 8;

/// A text of an argument that is looked at, and its values.
pub(super) struct Sink<'a> {
    pub(super) looked_at: CheckedArgument<'a>,
    pub(super) argument: Argument,
    pub(super) layers: Vec<LayerValues>,
}

/// The values of one layer of a text: of the text itself, or of one that it encodes.
pub(super) struct LayerValues {
    pub(super) values: Vec<(TextValue, Option<Encoded>)>,
    pub(super) name: Option<(Name, Option<Encoded>)>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(
        tool: &str,
        looked_at: CheckedArgument<'a>,
        known: &ToolKnowledge<'_>,
    ) -> Self {
        let mut behind: Vec<LayerValues> = Vec::new();
        if !known.schema_lists(tool, &looked_at) {
            let layers =
                layers(&looked_at.text).map(|layer| LayerValues::new(&layer, &looked_at.text));
            behind.extend(layers.map(|layer| layer.without_known(known)));
            if looked_at.is_key {
                // Any record has such words for keys.
                for layer in &mut behind {
                    layer.name = None;
                }
            }
            behind.retain(|layer| !layer.values.is_empty() || layer.name.is_some());
        }
        Self {
            layers: behind,
            argument: Argument::new(tool, &looked_at.arg),
            looked_at,
        }
    }

    /// The values of two arguments put together, which neither of them has: each goes over the place where they meet.
    pub(super) fn from_pair(looked_at: CheckedArgument<'a>, meet: &Range<usize>) -> Self {
        let layer = Layer::Plain(&looked_at.text);
        let mut behind = LayerValues::new(&layer, &looked_at.text);
        behind.name = None;
        behind.values.retain(|(value, _)| {
            let span = &value.span;
            let is_over = span.start < meet.start && meet.end < span.end;
            let signs = looked_at.text[span.clone()].chars();
            let long = signs.filter(|sign| sign.is_alphanumeric()).count() >= JOINT;
            is_over && long && matches!(value.kind, ValueKind::Whole | ValueKind::Words { .. })
        });
        Self {
            layers: vec![behind],
            argument: Argument::new("", ""),
            looked_at,
        }
    }

    pub(super) fn call(&self) -> usize {
        self.looked_at.call
    }

    /// The keys of all values.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.layers.iter().flat_map(|layer| {
            let names = layer.name.iter().map(|(name, _)| name.key);
            layer.values.iter().map(|(value, _)| value.key).chain(names)
        })
    }
}

impl LayerValues {
    fn new(layer: &Layer<'_>, front: &str) -> Self {
        let text = layer.text();
        let words = layer.words();
        let decoded = |span: &Range<usize>| Encoded::new(layer.encoding(), text, span);
        let found = layer.values(&words);
        // A value that is the whole argument says what a name of its words would. The scheme of a URL is no part of it.
        let has_words = |part: &str| part.contains(char::is_alphanumeric);
        let is_all = |span: &Range<usize>| {
            let before = &text[..span.start];
            let scheme = before.trim_start().strip_suffix("://");
            let is_scheme = scheme.is_some_and(|scheme| scheme.chars().all(char::is_alphanumeric));
            (is_scheme || !has_words(before)) && !has_words(&text[span.end..])
        };
        let is_value = found
            .iter()
            .any(|value| !value.kind.is_part() && is_all(&value.span));
        // A date is in many texts: it is a value where the argument is a date.
        let dates = found
            .iter()
            .filter(|value| matches!(value.kind, ValueKind::Date { .. }));
        let dates: Vec<Range<usize>> = dates.map(|date| date.span.clone()).collect();
        let is_date = dates.is_empty() || is_common_but(&words, &dates, text);
        let found = found
            .into_iter()
            .filter(|value| is_date || !matches!(value.kind, ValueKind::Date { .. }));
        let values = found.map(|value| {
            let decoded = decoded(&value.span);
            let span = layer.outer_span(value.span);
            (TextValue { span, ..value }, decoded)
        });
        let is_whole = layer.outer_span(0..text.len()).len() >= front.trim().len();
        let name = Name::parse(text, &words)
            .filter(|_| is_whole && !is_value && !markup::is_style_tag(text))
            .map(|mut name| {
                let decoded = decoded(&name.span);
                name.span = layer.outer_span(name.span);
                (name, decoded)
            });
        Self {
            values: values.collect(),
            name,
        }
    }

    /// Removes what the agent knew from its tools.
    fn without_known(mut self, known: &ToolKnowledge<'_>) -> Self {
        self.values
            .retain(|(value, _)| !known.is_tool_name(value.key));
        self.name = self.name.filter(|(name, _)| !known.is_tool_name(name.key));
        self
    }
}
