//! What stands in the arguments and results of calls: identifiers, values, and states that were returned.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::trace::{LazyValue, Trace, tool_name_words};
use serde_json::{Map, Value};

use crate::eval::boundaries::contains_whole;
use crate::eval::narrative::calls::call::{Call, Ending};
use crate::eval::narrative::calls::tools::{KnownTools, Tool, ToolBox};
use crate::eval::narrative::claims::sentence::Told;
use crate::eval::narrative::words::identifier;
use crate::eval::narrative::words::lexicon::{Lexicon, Words, contains_ignoring_case, lower, stem};
use crate::eval::narrative::words::marks::{Mark, Marks, of};

/// What claims are compared with in the calls of a run.
#[derive(Debug)]
pub(crate) struct CallFacts<'t> {
    trace: &'t Trace,
    tools: &'t ToolBox<'t>,
    known_tools: &'t KnownTools,
    /// Every identifier of the run, and those of them that the user named.
    known: OnceCell<BTreeSet<Cow<'t, str>>>,
    named: OnceCell<BTreeSet<Cow<'t, str>>>,
    /// The states that calls returned, by the verb that leads to them.
    read: RefCell<Words<String, Rc<Vec<State<'t>>>>>,
}

impl<'t> CallFacts<'t> {
    pub(crate) fn new(
        trace: &'t Trace,
        tools: &'t ToolBox<'t>,
        known_tools: &'t KnownTools,
    ) -> Self {
        Self {
            trace,
            tools,
            known_tools,
            known: OnceCell::new(),
            named: OnceCell::new(),
            read: RefCell::default(),
        }
    }

    /// The identifiers that the user named.
    fn named(&self) -> &BTreeSet<Cow<'t, str>> {
        self.named.get_or_init(|| {
            let mut named = BTreeSet::new();
            let turns = self.trace.conversation.turns.iter();
            for turn in turns.filter(|turn| turn.role == "user") {
                identifier::collect(&turn.content, &mut named);
            }
            named
        })
    }

    /// Whether an identifier stands in any call, or the user named it.
    pub(crate) fn knows(&self, identifier: &str) -> bool {
        let known = self.known.get_or_init(|| {
            let of_calls = self.tools.calls().flat_map(Call::identifiers);
            of_calls.chain(self.named()).cloned().collect()
        });
        known.contains(identifier)
    }

    /// Whether the user named something: what is asked for is known, whatever calls say.
    pub(crate) fn was_asked(&self, wanted: &str) -> bool {
        let wanted = lower(wanted);
        let has = |text: &str| contains_whole(&lower(text), &wanted);
        let mut turns = self.trace.conversation.turns.iter();
        self.known_tools.prompts().any(has)
            || turns.any(|turn| turn.role == "user" && has(&turn.content))
    }

    /// Whether a look-up returned a record that has two values: of what is named so, this is the key.
    pub(crate) fn pairs(&self, is_one: &dyn Fn(&Value) -> bool, others: &[String]) -> bool {
        fn look(value: &Value, found: &dyn Fn(&Value) -> bool, others: &[String]) -> bool {
            match value {
                Value::Array(items) => items.iter().any(|item| look(item, found, others)),
                Value::Object(fields) => {
                    let other = |field: &Value| {
                        let text = field
                            .as_str()
                            .map_or_else(|| field.to_string(), str::to_owned);
                        others.contains(&text)
                    };
                    fields.values().any(found) && fields.values().any(other)
                        || fields.values().any(|field| look(field, found, others))
                }
                Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
                    let json: Option<Value> = serde_json::from_str(text).ok();
                    json.is_some_and(|json| look(&json, found, others))
                }
                _ => false,
            }
        }
        let reads = self.tools.all().filter(|tool| !tool.write);
        let mut results = reads
            .flat_map(|tool| &tool.calls)
            .filter_map(|call| call.result);
        results.any(|result| look(result, is_one, others))
    }

    /// What the user said and the agent was told, but for what it said itself.
    pub(crate) fn users_said(&self) -> impl Iterator<Item = &str> {
        let turns = self.trace.conversation.turns.iter();
        let others = turns.filter(|turn| !turn.is_assistant());
        let others = others.map(|turn| turn.content.as_str());
        self.known_tools.prompts().chain(others)
    }

    /// All calls of the run.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Call<'t>> {
        self.tools.calls()
    }

    /// Whether a call that only reads carries one of these identifiers.
    pub(crate) fn looked_up(&self, identifiers: &[String]) -> bool {
        let mut reads = self.tools.all().filter(|tool| !tool.write);
        let found = |call: &Call<'_>| identifiers.iter().any(|id| call.carries(id));
        reads.any(|tool| {
            tool.calls
                .iter()
                .any(|call| call.succeeded() && found(call))
        })
    }

    /// Whether one of the calls that count returned the state that a verb leads to: of one of these
    /// identifiers if there are any, else of one that the user named if there are any. `counts` is told whether a
    /// change says so in its own words.
    pub(crate) fn was_read(
        &self,
        found: &Told<'_>,
        counts: impl Fn(&Tool<'_>, &Call<'_>, bool) -> bool,
    ) -> bool {
        let mut calls = self.tools.all().flat_map(Tool::called);
        if !calls.any(|(tool, call)| counts(tool, call, false) || counts(tool, call, true)) {
            return false;
        }
        let of = |state: &State<'_>| {
            counts(state.tool, state.call, state.told)
                && !state.is_of_another(&found.object)
                && self.is_of(state, &found.identifiers)
        };
        self.states(found.spoken).iter().any(of)
    }

    /// The states that calls returned to which a verb leads.
    fn states(&self, verb: &str) -> Rc<Vec<State<'t>>> {
        if let Some(known) = self.read.borrow().get(verb) {
            return Rc::clone(known);
        }
        let forms = Lexicon::get().forms(verb).into_iter();
        let forms = forms.filter_map(|(form, marks)| marks.has(Mark::Participle).then_some(form));
        let forms: Vec<String> = forms.collect();
        let mut states = Vec::new();
        for (tool, call) in self.tools.all().flat_map(Tool::called) {
            let tells = |result: &&LazyValue| call.succeeded() || call.refuses(result);
            let Some(result) = call.result.filter(tells) else {
                continue;
            };
            // A change may repeat what it was told; but a word alone is a state: *status: scheduled*.
            let changed = call.succeeded() && tool.write;
            stated(result, "", None, &forms, &mut |text, key, record| {
                let prose = text.trim().contains(' ');
                let says = match prose {
                    true if changed => told_done(text).any(|it| it == verb) && !call.mentions(verb),
                    true if tool.said.gives_pages() => false,
                    true => text.lines().any(|line| line_says(line, verb)),
                    false => participles(text).any(|(it, _)| it == verb),
                };
                if says {
                    states.push(State::from_call(tool, call, prose && changed, key, record));
                }
            });
        }
        let states = Rc::new(states);
        let mut read = self.read.borrow_mut();
        read.insert(verb.to_owned(), Rc::clone(&states));
        states
    }

    /// Whether a state is of one of these identifiers, or of what the user named.
    fn is_of(&self, state: &State<'_>, identifiers: &[String]) -> bool {
        // The record that says so is not that of another.
        let own = |id: &str| {
            let kin = |other: &String| identifier::same_kind(other, id);
            state.beside.contains(id) || !state.beside.iter().any(kin)
        };
        let carried = |id: &&str| state.call.carries(id);
        let mut told = identifiers.iter().map(String::as_str).filter(carried);
        let of_named = || {
            let mut named = self.named().iter().map(AsRef::as_ref).filter(carried);
            named.clone().next().is_none() || named.any(own)
        };
        told.any(own) || identifiers.is_empty() && of_named()
    }
}

/// A state that a call returned.
#[derive(Debug)]
struct State<'t> {
    tool: &'t Tool<'t>,
    call: &'t Call<'t>,
    /// A change says so in its own words.
    told: bool,
    /// The identifiers that stand right beside it in its record.
    beside: BTreeSet<String>,
    /// The words of the other keys by which its record says how something is.
    others: Vec<String>,
}

impl<'t> State<'t> {
    fn from_call(
        tool: &'t Tool<'t>,
        call: &'t Call<'t>,
        told: bool,
        key: &str,
        record: Option<&Fields>,
    ) -> Self {
        let mut beside = BTreeSet::new();
        let fields = || record.into_iter().flatten();
        for text in fields().filter_map(|(_, value)| value.as_str()) {
            identifier::collect(text, &mut beside);
        }
        let state = |value: &Value| {
            let known = |text| Lexicon::get().word(&lower(text)).is_some();
            value.as_str().is_some_and(known)
        };
        let others = fields().filter(|(other, value)| *other != key && state(value));
        let own = tool_name_words(key);
        let others = others.flat_map(|(other, _)| tool_name_words(other));
        Self {
            tool,
            call,
            told,
            beside: beside.into_iter().map(Cow::into_owned).collect(),
            others: others.filter(|word| !own.contains(word)).collect(),
        }
    }

    /// Whether its record says of an object by its name how it is, and that elsewhere: of `door: open` and
    /// `window: locked`, the second is not of the door.
    fn is_of_another(&self, object: &[String]) -> bool {
        let names = |word: &String| {
            let stem = stem(word);
            let mut nouns = object.iter();
            nouns.any(|noun| Lexicon::get().same_thing(&stem, noun))
        };
        self.others.iter().any(names)
    }
}

/// Whether a clause names an argument that these calls have otherwise and only failed ones have so.
pub(crate) fn only_failed<'c>(
    clause: &str,
    calls: impl Iterator<Item = &'c Call<'c>>,
    done: &[&Call<'_>],
) -> bool {
    let failed = calls.filter(|call| call.ending == Ending::Failed);
    let mut arguments = failed.flat_map(Call::arguments).peekable();
    if done.is_empty() || arguments.peek().is_none() {
        return false;
    }
    let words = clause.split(|c: char| !c.is_alphanumeric() && c != '&');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let place = |text: &str| {
        let mut words = words.iter();
        words.position(|word| word.eq_ignore_ascii_case(text))
    };
    arguments.any(|(key, value)| {
        let others = || done.iter().map(|call| call.args().get(key));
        // *Fuji instead of Everest*, but not *Fuji and Everest*
        let beside = |at: usize| {
            let others = others().flatten().filter_map(Value::as_str);
            others.filter_map(place).any(|other| {
                let mut between = words[at.min(other)..at.max(other)].iter();
                !between.any(|word| Lexicon::get().is(&lower(word), Mark::Joins))
            })
        };
        let place = value.as_str().and_then(place);
        let differs = |other: Option<&Value>| other.is_some_and(|other| other != value);
        place.is_some_and(|at| !beside(at)) && others().all(differs)
    })
}

/// Whether these calls did fewer than so many things: one of them failed, none that succeeded has what
/// tells it from others, and none after it looks as if it put it right. A list, or that number, in one of
/// them may be of all.
pub(crate) fn fewer(many: usize, calls: &[&Call<'_>]) -> bool {
    let (mut done, mut vain): (Vec<&Call<'_>>, Vec<&Call<'_>>) =
        calls.iter().partition(|call| call.succeeded());
    let again = |failed: &Call<'_>, done: &Call<'_>| {
        let same = |(key, value): &(&String, &Value)| done.args().get(key) == Some(*value);
        let mut same = failed.arguments().filter(same);
        let tells =
            |key: &str, value: &Value| calls.iter().any(|call| call.args().get(key) != Some(value));
        failed.args() == done.args()
            || same.any(|(key, value)| done.index > failed.index || tells(key, value))
    };
    vain.retain(|failed| !done.iter().any(|done| again(failed, done)));
    let given = many.to_string();
    let batch = |(_, value): (_, &Value)| match value {
        Value::String(text) => *text == given,
        Value::Number(number) => number.to_string() == given,
        value => value.is_array(),
    };
    if done.iter().flat_map(|call| call.arguments()).any(batch) {
        return false;
    }
    if many == usize::MAX {
        // What succeeded later may have been done in its place.
        let last = |calls: &[&Call<'_>]| calls.last().map(|call| call.index);
        return last(&vain) > last(&done);
    }
    done.dedup_by_key(|call| call.args());
    vain.dedup_by_key(|call| call.args());
    (done.len() + 1..=done.len() + vain.len()).contains(&many)
}

/// A record of a result.
type Fields = Map<String, Value>;

fn is_word(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.contains(' '))
}

/// Whether one of these forms stands anywhere in a text.
fn has_any(text: &str, forms: &[String]) -> bool {
    forms.iter().any(|form| contains_ignoring_case(text, form))
}

/// Gives the texts in a value that have one of these forms, and keys that are states, with the key and the
/// record of each. JSON in a text is read too.
fn stated(
    value: &Value,
    key: &str,
    record: Option<&Fields>,
    forms: &[String],
    give: &mut impl FnMut(&str, &str, Option<&Fields>),
) {
    match value {
        Value::String(text) if has_any(text, forms) => {
            let json = text.trim_start().starts_with(['{', '[']);
            match json.then(|| serde_json::from_str(text)) {
                Some(Ok(inner)) => stated(&inner, key, record, forms, give),
                _ => give(text, key, record),
            }
        }
        // Several words are the states that there may be.
        Value::Array(items) if items.len() > 1 && items.iter().all(is_word) => {}
        Value::Array(items) => {
            for item in items {
                stated(item, key, record, forms, give);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                let state = has_any(key, forms).then(|| of_key(key, field)).flatten();
                if let Some(state) = state {
                    give(&state, key, Some(fields));
                }
                stated(field, key, Some(fields), forms, give);
            }
        }
        _ => {}
    }
}

/// The verbs whose participles stand in a text, but for those that tell no state: *can be cancelled*, *not locked*;
/// and whether each is told as done: *has been sent*.
fn participles(text: &str) -> impl Iterator<Item = (&'static str, bool)> {
    let done = of![Been BePast BePresent Have Success];
    let words = text.split(|c: char| !c.is_ascii_alphabetic());
    let words = words.filter(|word| !word.is_empty()).map(lower);
    words
        .scan((false, false), move |before, word| {
            let (be, told) = *before;
            let marks = Lexicon::get().marks(&word);
            *before = (word == "be" || marks.has(Mark::Negative), marks.meets(done));
            Some(participle(&word).filter(|_| !be).map(|verb| (verb, told)))
        })
        .flatten()
}

/// The verbs that a text tells as done, sentence by sentence: *has been sent*, but not *none has been sent*.
fn told_done(text: &str) -> impl Iterator<Item = &'static str> {
    let open = |sentence: &&str| {
        let mut words = sentence.split(|c: char| !c.is_ascii_alphabetic());
        words.any(|word| {
            Lexicon::get()
                .marks(&lower(word))
                .meets(of![Negative Condition])
        })
    };
    let sentences = text
        .split(['.', ';', '!', '?'])
        .filter(move |sentence| !open(sentence));
    let told = sentences.flat_map(participles);
    told.filter_map(|(verb, done)| done.then_some(verb))
}

/// Words of a line that is an entry, no sentence: *status: cancelled*, *Order W-1, cancelled on May 3*.
const ENTRY: usize = 6;

/// Whether a line of a text tells that something is so: *The order is cancelled.*, but not *Orders are
/// refunded if they are cancelled.*
fn line_says(line: &str, verb: &str) -> bool {
    let words = line.split(|c: char| !c.is_ascii_alphabetic());
    let words = words.filter(|word| !word.is_empty());
    let finite = of![Be BePresent BePast Have Negative Condition];
    let mut marks = words.clone().map(|word| Lexicon::get().marks(&lower(word)));
    let entry = words.count() <= ENTRY && !marks.any(|marks| marks.meets(finite));
    told_done(line).any(|it| it == verb) || entry && participles(line).any(|(it, _)| it == verb)
}

fn participle(word: &str) -> Option<&'static str> {
    let known = Lexicon::get().word(word)?;
    known.verb.filter(|_| known.marks.has(Mark::Participle))
}

/// The state that a key names: `cancelled` and `is_cancelled` that is true, `cancelled` and
/// `cancelled_at` with a time. Every record has a `created_at` and an `updated_at`.
fn of_key(key: &str, value: &Value) -> Option<String> {
    let time = |text: &String| {
        let mut parts = text.split([':', '-', '/']);
        let digits = |c: char| c.is_ascii_digit();
        parts.clone().count() > 1 && parts.all(|part| part.contains(digits))
    };
    let flag = match value {
        Value::Bool(true) => true,
        Value::String(text) if time(text) => false,
        _ => return None,
    };
    let mut words = tool_name_words(key);
    let lexicon = Lexicon::get();
    let be = words.first().is_some_and(|word| lexicon.is(word, Mark::Be));
    words.drain(..usize::from(be));
    let verb = participle(words.first()?)?;
    let kept = words.len() <= 2 && lexicon.marks(verb).meets(of![Creating Generic]);
    let states = if flag { words.len() == 1 } else { !be };
    (states && !kept).then(|| words.swap_remove(0))
}
