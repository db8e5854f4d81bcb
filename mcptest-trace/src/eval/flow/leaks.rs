//! Which values of an argument leak.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use super::super::values::names::{Name, is_date_meant_for};
use super::super::values::{RARE, TextValue, ValueKind, WORDS};
use super::entry::{EntryScope, in_same_step, knew_result};
use super::index::{Index, Occurrences, ResultSpan};
use super::marked::Encoded;
use super::sink::Sink;
use super::{FlowUnless, Leak, MarkedText};

/// A value that leaks.
pub(super) struct FoundLeak<'i> {
    pub(super) key: u64,
    span: Range<usize>,
    decoded: Option<Encoded>,
    spot: &'i ResultSpan,
    /// Where the value ends in the result.
    end: usize,
    source: usize,
}

impl FoundLeak<'_> {
    pub(super) fn into_leak(self, entry: usize, sink: &Sink<'_>, index: &Index<'_>) -> Leak {
        let span = self.spot.span.start..self.end;
        let decoded = self
            .spot
            .decoded
            .clone()
            .filter(|_| self.end == self.spot.span.end);
        Leak {
            entry,
            call: sink.looked_at.call,
            arg: sink.looked_at.arg.clone(),
            source: self.source,
            argument: MarkedText::around(&sink.looked_at.text, self.span, self.decoded),
            result: MarkedText::around(index.text(self.spot), span, decoded),
        }
    }
}

/// The role of a result for an entry: a source, or a tool that lets values through.
#[derive(Clone, Copy)]
struct ResultRole {
    call: usize,
    source: bool,
    lets_through: bool,
    is_error: bool,
}

impl ResultRole {
    /// Whether a result knows a value: an error knows nothing, and what a call was told comes back as it is.
    fn knows(&self, seen: &Occurrences) -> bool {
        !self.is_error && seen.args.binary_search(&self.call).is_err()
    }

    /// Whether the agent could have a value from it that is no source.
    fn is_other_source(&self, seen: &Occurrences) -> bool {
        !self.source && self.knows(seen)
    }
}

/// What an entry says of a value, whatever argument it is in.
#[derive(Clone, Copy, Default)]
struct Origin<'i> {
    /// Where it stands first in a source.
    first: Option<&'i ResultSpan>,
    /// Where it stands first as no part of another.
    whole: Option<&'i ResultSpan>,
    /// The first call of a tool that lets it through.
    let_through: Option<usize>,
    /// The first call of a tool that is no source, whose result has it by itself.
    other: Option<usize>,
}

/// An entry that judges the arguments of its sinks.
pub(super) struct Judge<'i> {
    way: &'i EntryScope<'i>,
    index: &'i Index<'i>,
    roles: Vec<Option<ResultRole>>,
    origins: HashMap<u64, Origin<'i>>,
}

impl<'i> Judge<'i> {
    pub(super) fn new(way: &'i EntryScope<'i>, index: &'i Index<'i>) -> Self {
        let lets_through = |call| match &way.entry.unless {
            Some(FlowUnless::Tools(tools)) => way.matches_tools(call, tools, false),
            _ => false,
        };
        let known = way.trace.tool_calls.len();
        let roles = way.trace.tool_results.iter().map(|result| {
            let call = result.call_index;
            (call < known).then(|| ResultRole {
                call,
                source: way.matches_tools(call, &way.entry.from, true),
                lets_through: lets_through(call),
                is_error: result.is_error,
            })
        });
        Self {
            way,
            index,
            roles: roles.collect(),
            origins: HashMap::new(),
        }
    }

    fn origin(&mut self, key: u64) -> Option<(&'i Occurrences, Origin<'i>)> {
        let seen = self.index.occurrences(key)?;
        let roles = &self.roles;
        let origin = self.origins.entry(key).or_insert_with(|| {
            let mut origin = Origin::default();
            for spot in &seen.spots {
                let Some(role) = roles[spot.result] else {
                    continue;
                };
                if role.source {
                    origin.first.get_or_insert(spot);
                    if spot.by_itself {
                        origin.whole.get_or_insert(spot);
                    }
                }
                if role.lets_through && role.knows(seen) {
                    origin.let_through.get_or_insert(role.call);
                }
                if spot.by_itself && role.is_other_source(seen) {
                    origin.other.get_or_insert(role.call);
                }
            }
            origin
        });
        Some((seen, *origin))
    }

    fn result_call(&self, spot: &ResultSpan) -> usize {
        self.way.trace.tool_results[spot.result].call_index
    }

    /// Whether the agent used a value in an argument before the result of the call `source` was there.
    fn had_before(&self, seen: &Occurrences, source: usize) -> bool {
        let first = seen.args.first();
        first.is_some_and(|call| *call <= source || in_same_step(self.way.trace, *call, source))
    }

    /// Where a source said a value before a call, if the value may not be in it.
    fn find_source(&mut self, value: &TextValue, sink: usize) -> Option<&'i ResultSpan> {
        let (seen, origin) = self.origin(value.key)?;
        let spot = if value.kind == ValueKind::Part {
            origin.whole
        } else {
            origin.first
        }?;
        let trace = self.way.trace;
        let source = self.result_call(spot);
        let known = |other: usize| knew_result(trace, other, sink);
        let unless = self.way.entry.unless.as_ref();
        let may = seen.mentioned_by(unless).at_all || origin.let_through.is_some_and(known);
        if !known(source) || may || self.had_before(seen, source) {
            return None;
        }
        Some(spot)
    }

    /// The values that a source had before, each that is no part of another.
    pub(super) fn leaks(&mut self, sink: &Sink<'_>) -> Vec<FoundLeak<'i>> {
        let call = sink.looked_at.call;
        let mut found = Vec::new();
        for layer in &sink.layers {
            let mut stretches = Vec::new();
            for (value, decoded) in &layer.values {
                let decoded = decoded.as_ref();
                let spot = match value.kind {
                    ValueKind::Date { day, part } => {
                        self.find_date_source(value, (day, part), sink)
                    }
                    _ => self.find_source(value, call),
                };
                let Some(spot) = spot else { continue };
                if let ValueKind::Words { .. } = value.kind {
                    stretches.push(Stretch {
                        value,
                        decoded,
                        spot,
                    });
                } else {
                    found.push(self.found_leak(value.key, value.span.clone(), decoded, spot));
                }
            }
            found.extend(self.join_stretches(&stretches));
        }
        if found.is_empty() {
            let names = sink.layers.iter().filter_map(|layer| layer.name.as_ref());
            let mut names = names.filter_map(|(name, decoded)| {
                let spot = self.find_name_source(name, sink)?;
                Some(self.found_leak(name.key, name.span.clone(), decoded.as_ref(), spot))
            });
            let first = names.next();
            return first.into_iter().collect();
        }
        // What lies in another is a part of it.
        found.sort_by_key(|found| (found.span.start, Reverse(found.span.end)));
        let mut end = 0;
        found.retain(|found| {
            let is_part = found.span.end <= end;
            end = end.max(found.span.end);
            !is_part
        });
        found
    }

    /// Where a source said a date before a call, if the date may not be in it, and nobody else said it. The day of a
    /// date is told where its year is not.
    fn find_date_source(
        &mut self,
        value: &TextValue,
        (day, part): (u64, bool),
        sink: &Sink<'_>,
    ) -> Option<&'i ResultSpan> {
        let (seen, origin) = self.origin(value.key)?;
        let call = sink.looked_at.call;
        let without_year = self
            .index
            .occurrences(day)
            .is_some_and(|seen| seen.in_prompts().by_itself);
        let others = [origin.other, origin.let_through];
        let mut others = others.into_iter().flatten();
        if without_year
            || seen.in_prompts().at_all
            || others.any(|other| knew_result(self.way.trace, other, call))
        {
            return None;
        }
        let meant = |spot: &ResultSpan| {
            let around = spot.around.as_ref();
            (spot.by_itself || !part)
                && around.is_some_and(|around| is_date_meant_for(around, &sink.argument))
        };
        let mut sources = self
            .known_spans(seen, call)
            .filter(|(spot, role)| role.source && meant(spot));
        let (spot, role) = sources.next()?;
        (!self.had_before(seen, role.call)).then_some(spot)
    }

    /// Where a source said a name that is an argument, where it was meant for that, and nobody said it before.
    fn find_name_source(&self, name: &Name, sink: &Sink<'_>) -> Option<&'i ResultSpan> {
        let seen = self
            .index
            .occurrences(name.key)
            .filter(|seen| !seen.in_prompts().at_all)?;
        let call = sink.looked_at.call;
        let meant = |spot: &ResultSpan| {
            let around = spot.around.as_ref();
            around.is_some_and(|around| name.is_meant_for(around, &sink.argument))
        };
        let mut sources = self
            .known_spans(seen, call)
            .filter(|(spot, role)| role.source && meant(spot));
        let (spot, source) = sources
            .next()
            .filter(|(_, role)| !self.had_before(seen, role.call))?;
        // A number in another result may be one of something else.
        let elsewhere = self.known_spans(seen, call).any(|(spot, role)| {
            let before =
                role.call < source.call || in_same_step(self.way.trace, role.call, source.call);
            let lets_through = role.lets_through && role.knows(seen);
            lets_through
                || before && role.is_other_source(seen) && (!name.is_number() || meant(spot))
        });
        (!elsewhere).then_some(spot)
    }

    /// Where the agent knew a value from when it made a call.
    fn known_spans(
        &self,
        seen: &'i Occurrences,
        call: usize,
    ) -> impl Iterator<Item = (&'i ResultSpan, ResultRole)> {
        let spots = seen.spots.iter();
        let roles = spots.filter_map(|spot| Some((spot, self.roles[spot.result]?)));
        roles.filter(move |(_, role)| knew_result(self.way.trace, role.call, call))
    }

    fn found_leak(
        &self,
        key: u64,
        span: Range<usize>,
        decoded: Option<&Encoded>,
        spot: &'i ResultSpan,
    ) -> FoundLeak<'i> {
        FoundLeak {
            key,
            span,
            decoded: decoded.cloned(),
            spot,
            end: spot.span.end,
            source: self.result_call(spot),
        }
    }

    /// Joins stretches of words that overlap: those whose first words follow each other.
    fn join_stretches(&self, stretches: &[Stretch<'_, 'i>]) -> Vec<FoundLeak<'i>> {
        let runs = stretches.chunk_by(|one, next| one.words().0 + 1 == next.words().0);
        let told = runs.filter(|run| {
            let long = run.len() + WORDS > 2 * WORDS;
            let last = run
                .iter()
                .skip(1)
                .map(|next| u32::from(next.words().2 >> (WORDS - 1)));
            let rare = run[0].words().2.count_ones() + last.sum::<u32>();
            rare >= RARE && (long || run.iter().any(|next| next.words().1 == 2 * WORDS))
        });
        let join = |run: &[Stretch<'_, 'i>]| {
            let (first, last) = (&run[0], &run[run.len() - 1]);
            let span = first.value.span.start..last.value.span.end;
            let key = first.value.key ^ last.value.key.rotate_left(1);
            let mut found = self.found_leak(key, span.clone(), first.decoded, first.spot);
            let (origin, end) = (first.spot, last.spot);
            let together = (origin.result, origin.text) == (end.result, end.text);
            let longest = origin.span.start + 2 * span.len();
            // The first place of the last words may be another.
            if together && (origin.span.end..=longest).contains(&end.span.end) {
                found.end = end.span.end;
            }
            found
        };
        told.map(join).collect()
    }
}

/// Some words of an argument, and where a source said them.
struct Stretch<'s, 'i> {
    value: &'s TextValue,
    decoded: Option<&'s Encoded>,
    spot: &'i ResultSpan,
}

impl Stretch<'_, '_> {
    /// The place of the first word, the length in half words, and which words are no common ones.
    fn words(&self) -> (usize, usize, u8) {
        match self.value.kind {
            ValueKind::Words { at, halves, rare } => (at, halves, rare),
            _ => (0, 0, 0),
        }
    }
}
