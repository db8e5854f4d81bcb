//! What a recording gives back in the place of tools.

use std::collections::HashSet;
use std::sync::Arc;

use mcptest_trace::eval::PlaybackOptions;
use mcptest_trace::trace::canonical_json;
use regex::Regex;
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::entry::{Ending, OwnCall, RaisedError};
use super::matching::{is_coerced, is_same_tool};
use super::read::without_args;
use super::recorded::{RecordedCalls, RecordedOwnCall};
use super::values::unusable_message;
use super::verdict::Verdict;
use crate::folders::FolderMap;
use crate::play::call_index::GivenCalls;
use crate::play::matching::values_match;

/// How many calls that were not recorded are shown with the nearest recorded call: looking for it takes time.
const MOST_NEAREST: usize = 100;

/// How many calls that were not recorded end the run.
const MOST_UNRECORDED: usize = 50;

/// A recording that answers calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallPlayer {
    recorded: RecordedCalls,
    masks: Vec<Regex>,
    /// Which tools run for real.
    options: PlaybackOptions,
    /// The folders of this run, and back.
    folders: FolderMap,
    recorded_folders: FolderMap,
    given: GivenCalls,
    /// Which recorded calls the code has made.
    taken: Vec<bool>,
    /// The recorded calls whose value was given back: the tool did not run.
    given_back: HashSet<usize>,
    /// The calls of the code whose value it cannot use.
    unfit: HashSet<usize>,
    pub(super) unknown: Vec<Unrecorded>,
    not_recorded: usize,
    /// Told when the code calls again and again what was not recorded: the run is to be ended.
    stop: Arc<Notify>,
}

/// A call that was not recorded, or whose value does not fit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unrecorded {
    pub(super) name: String,
    pub(super) args: Value,
    /// The arguments of the nearest recorded call.
    pub(super) nearest: Option<Value>,
    pub(super) words: String,
    /// When it was made.
    pub(super) tick: u64,
}

/// Why no recorded call is found: what is said, and the nearest one.
type Unfound = (String, Option<usize>);

impl CallPlayer {
    pub(crate) fn new(
        recorded: RecordedCalls,
        options: PlaybackOptions,
        masks: Vec<Regex>,
    ) -> Self {
        Self {
            taken: vec![false; recorded.calls.len()],
            recorded,
            options,
            masks,
            ..Self::default()
        }
    }

    /// Tells when the run is to be ended.
    pub(crate) fn with_stop(mut self, stop: Arc<Notify>) -> Self {
        self.stop = stop;
        self
    }

    /// Sets which folders of this run stand for which recorded folders.
    pub(crate) fn set_folders(&mut self, folders: &FolderMap) {
        self.folders = folders.clone();
        self.recorded_folders = folders.reversed();
    }

    /// Puts the recorded folders into the ending of a tool that ran, so that it can be compared with the
    /// recording.
    pub(super) fn restore_folders(&self, ending: &mut Ending) {
        replace_folders(ending, &self.folders);
    }

    /// What is given back for a call; nothing for one that runs.
    pub(super) fn answer(&mut self, call: &mut OwnCall) -> Option<Verdict> {
        self.folders.replace_in(&mut call.args);
        let runs = self.options.runs(&call.name);
        let place = match self.find(call) {
            Ok(place) => place,
            Err((words, nearest)) => {
                let words = self.note_unrecorded(call, words, nearest);
                if runs {
                    return None;
                }
                let raised = RaisedError::new("ToolError", format!("mcptest: {words}"));
                call.ending = Ending::Error(raised.clone());
                return Some(Verdict::Error(raised));
            }
        };
        self.taken[place] = true;
        call.recorded = Some(place);
        if runs {
            return None;
        }
        self.given_back.insert(place);
        Some(self.give(call, place))
    }

    /// Notes a call that was not recorded. If there are too many of them, the run ends: what the call is answered.
    fn note_unrecorded(&mut self, call: &OwnCall, words: String, nearest: Option<usize>) -> String {
        self.not_recorded += 1;
        if self.not_recorded > MOST_UNRECORDED {
            return too_many_message();
        }
        let nearest = nearest.map(|place| &self.recorded.calls[place]);
        let is_last = self.not_recorded == MOST_UNRECORDED;
        let words = if is_last { too_many_message() } else { words };
        if is_last {
            self.stop.notify_one();
        }
        self.unknown.push(Unrecorded {
            name: call.name.clone(),
            args: nearest.map_or_else(
                || call.args.clone(),
                |known| compared_args(known, &call.args),
            ),
            nearest: nearest.map(|known| known.own.args.clone()),
            words: words.clone(),
            tick: call.began,
        });
        words
    }

    fn give(&mut self, call: &mut OwnCall, place: usize) -> Verdict {
        let known = &self.recorded.calls[place];
        // Of what the model was told it may not be known whether that was an error.
        if known.knows_error {
            call.ending.clone_from(&known.own.ending);
        }
        call.by.clone_from(&known.own.by);
        // The code may use the paths that it gets.
        let mut ending = known.own.ending.clone();
        replace_folders(&mut ending, &self.recorded_folders);
        let (told, text) = (known.told, known.own.text.as_deref());
        let text = text.map(|text| self.recorded_folders.replace_in_text(text));
        match ending {
            Ending::Result(value) => Verdict::Result {
                value,
                told,
                text,
                given: None,
            },
            Ending::Error(raised) => Verdict::Error(raised),
            Ending::Unreported => {
                let name = &call.name;
                let text = format!("mcptest: `{name}` gave no answer when the run was recorded");
                Verdict::Error(RaisedError::new("ToolError", text))
            }
            Ending::Left => {
                let name = &call.name;
                let words = format!(
                    "control flow ended `{name}` when the run was recorded, and that is not played; let the tool run: \
                     `playback: {{ run: [{name}] }}`"
                );
                let (name, args) = (name.clone(), call.args.clone());
                self.note_unfit(&name, &args, &words, call.began);
                Verdict::Error(RaisedError::new("ToolError", format!("mcptest: {words}")))
            }
        }
    }

    /// The recorded call that a call is: that of its identifier, else the next one with its arguments.
    fn find(&mut self, call: &OwnCall) -> Result<usize, Unfound> {
        let of_id = call
            .call_id
            .as_ref()
            .and_then(|id| self.recorded.ids.get(id));
        let of_id = of_id.into_iter().flatten();
        let of_id = of_id.flat_map(|of| self.recorded.by_call.get(of).into_iter().flatten());
        let is_it = |place: &usize| is_same_tool(&self.recorded.calls[*place].own.name, &call.name);
        let of_id: Vec<usize> = of_id.copied().filter(is_it).collect();
        if !of_id.is_empty() {
            let left = of_id.iter().copied().filter(|place| !self.taken[*place]);
            let left: Vec<usize> = left.collect();
            let fitting = left.iter().copied();
            let mut fitting = fitting.filter(|place| self.fits(*place, &call.args));
            return match (fitting.next(), left.first()) {
                (Some(place), _) => Ok(place),
                (None, Some(nearest)) => Err(self.describe_nearest(call, *nearest)),
                (None, None) if of_id.iter().any(|place| self.fits(*place, &call.args)) => {
                    Err((repeated_message(&call.name), None))
                }
                (None, None) => Err(self.describe_nearest(call, of_id[0])),
            };
        }
        let mut equal = 0;
        let forms: Vec<(String, Value)> = self
            .recorded
            .recorded_forms(&call.name, &call.args)
            .map(|(name, args)| (name.to_owned(), args))
            .collect();
        let mut found: Vec<usize> = Vec::new();
        for (name, args) in &forms {
            let is_taken = |place: usize| self.taken[place];
            match self
                .recorded
                .index
                .next(&mut self.given, name, args, &is_taken)
            {
                Ok(place) => found.push(place),
                Err(count) => equal += count,
            }
        }
        if let Some(place) = found.into_iter().min() {
            return Ok(place);
        }
        // What a mask blanks, or what a framework made of the model's arguments, is in no index.
        let names: Vec<&str> = self.recorded.names(&call.name).collect();
        let own = names
            .iter()
            .filter_map(|name| self.recorded.by_name.get(*name));
        let own = || own.clone().flatten().copied();
        let looks = self.unknown.len() < MOST_NEAREST;
        if looks || !self.masks.is_empty() {
            let mut left = own().filter(|place| !self.taken[*place]);
            if let Some(place) = left.find(|place| self.fits(*place, &call.args)) {
                return Ok(place);
            }
        }
        if equal > 0 {
            return Err((repeated_message(&call.name), None));
        }
        let name = &call.name;
        if own().next().is_none() {
            return Err((
                format!("`{name}` was not called when the run was recorded"),
                None,
            ));
        }
        let nearest = own().filter(|_| looks).min_by_key(|place| {
            let differing = describe_differences(&self.recorded.calls[*place], &call.args).len();
            (self.taken[*place], differing)
        });
        Err(nearest.map_or_else(
            || {
                let words = format!("the recording has no call of `{name}` with these arguments");
                (words, None)
            },
            |nearest| self.describe_nearest(call, nearest),
        ))
    }

    /// What is said of a call whose arguments are not those of a recorded one.
    fn describe_nearest(&self, call: &OwnCall, nearest: usize) -> Unfound {
        let known = &self.recorded.calls[nearest];
        let differing = describe_differences(known, &call.args).join(", ");
        let words = format!(
            "the recording has no call of `{}` with these arguments; the nearest recorded call has {}: {differing}",
            call.name,
            canonical_json(&known.own.args)
        );
        (words, Some(nearest))
    }

    /// Whether a call may be a recorded one.
    fn fits(&self, place: usize, args: &Value) -> bool {
        let known = &self.recorded.calls[place];
        let recorded = &known.own.args;
        if !known.told {
            return values_match(recorded, &without_args(args, &known.omitted), &self.masks);
        }
        // A framework may make another type of what the model wrote, and add what the model did not name.
        let (Value::Object(recorded), Value::Object(args)) = (recorded, args) else {
            return values_match(recorded, args, &self.masks);
        };
        recorded.iter().all(|(key, old)| {
            let new = args.get(key);
            new.is_some_and(|new| values_match(old, new, &self.masks) || is_coerced(old, new))
        })
    }

    /// Takes in that the code cannot use what it was given for a call. False: it was given nothing, or said so before.
    pub(super) fn note_unusable(
        &mut self,
        call: &OwnCall,
        run: usize,
        why: &str,
        tick: u64,
    ) -> bool {
        let place = call
            .recorded
            .filter(|place| self.given_back.contains(place));
        let known = place.map(|place| &self.recorded.calls[place]);
        let Some(known) = known.filter(|known| matches!(known.own.ending, Ending::Result(_)))
        else {
            return false;
        };
        let words = unusable_message(&call.name, why, known.told);
        let is_new = self.unfit.insert(run);
        if is_new {
            self.note_unfit(&call.name, &call.args, &words, tick);
        }
        is_new
    }

    /// Tells of a call that has its recorded value, which does not fit.
    fn note_unfit(&mut self, name: &str, args: &Value, words: &str, tick: u64) {
        self.unknown.push(Unrecorded {
            name: name.to_owned(),
            args: args.clone(),
            nearest: None,
            words: words.to_owned(),
            tick,
        });
    }

    /// The recorded calls that were given back, and those that the recording has inside of them.
    pub(crate) fn replayed_calls(&self) -> HashSet<usize> {
        let mut gone = self.given_back.clone();
        // A call began before those inside of it.
        for (place, call) in self.recorded.calls.iter().enumerate() {
            let is_gone = match call.inside {
                Some(outer) => gone.contains(&outer),
                None => !call.open.is_empty() && call.open.iter().all(|outer| gone.contains(outer)),
            };
            if is_gone {
                gone.insert(place);
            }
        }
        gone
    }

    /// The recorded calls inside of those that were given back, which the code did not make.
    pub(crate) fn nested(&self) -> Vec<usize> {
        let gone = self.replayed_calls().into_iter();
        let mut nested: Vec<usize> = gone.filter(|place| !self.taken[*place]).collect();
        nested.sort_unstable();
        nested
    }

    /// Recorded calls that were not made. Who wrote down what the model was told knew nothing of the tool, and what a call
    /// that was given back made is not made again.
    pub(super) fn missing_calls(&self) -> impl Iterator<Item = &RecordedOwnCall> {
        let gone = self.replayed_calls();
        let calls = self.recorded.calls.iter().zip(&self.taken).enumerate();
        calls.filter_map(move |(place, (call, taken))| {
            let is_unmade = !taken && !call.told && !gone.contains(&place);
            (is_unmade && !self.is_below_unmade(call)).then_some(call)
        })
    }

    /// Whether a recorded call was made inside of others that the code does not make: those are told.
    fn is_below_unmade(&self, call: &RecordedOwnCall) -> bool {
        let is_unmade = |outer: &usize| self.taken.get(*outer) == Some(&false);
        if let Some(outer) = call.inside {
            return is_unmade(&outer);
        }
        !call.open.is_empty() && call.open.iter().all(is_unmade)
    }

    /// Whether the code called a tool at all.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let calls = self.recorded.calls.iter().zip(&self.taken);
        let mut taken = calls.filter(|(_, taken)| **taken);
        taken.any(|(call, _)| is_same_tool(&call.own.name, name))
            || self.unknown.iter().any(|one| is_same_tool(&one.name, name))
    }
}

fn too_many_message() -> String {
    format!("the run was ended after {MOST_UNRECORDED} calls of own tools that were not recorded")
}

/// An ending with folders of one run in the place of those of another.
fn replace_folders(ending: &mut Ending, folders: &FolderMap) {
    match ending {
        Ending::Result(value) => folders.replace_in(value),
        Ending::Error(raised) => {
            raised.text = folders.replace_in_text(&raised.text);
            raised
                .args
                .iter_mut()
                .flatten()
                .for_each(|arg| folders.replace_in(arg));
        }
        Ending::Left | Ending::Unreported => {}
    }
}

fn repeated_message(name: &str) -> String {
    format!("`{name}` is called once more with these arguments than when the run was recorded")
}

/// The arguments of a call that are compared with those of a recorded call.
fn compared_args(known: &RecordedOwnCall, args: &Value) -> Value {
    let mut args = without_args(args, &known.omitted);
    // What the model did not name may be added to what it was told.
    if let (true, Value::Object(args), Value::Object(old)) =
        (known.told, &mut args, &known.own.args)
    {
        args.retain(|key, _| old.contains_key(key));
    }
    args
}

/// The differences between arguments and those of a recorded call, in words.
fn describe_differences(known: &RecordedOwnCall, args: &Value) -> Vec<String> {
    let empty = Map::new();
    let args = compared_args(known, args);
    let old = known.own.args.as_object().unwrap_or(&empty);
    let new = args.as_object().unwrap_or(&empty);
    let mut words = Vec::new();
    for (key, value) in old {
        match new.get(key) {
            Some(now) if values_match(value, now, &[]) => {}
            Some(now) => words.push(format!(
                "`{key}` is {} and was {}",
                canonical_json(now),
                canonical_json(value)
            )),
            None => words.push(format!("`{key}` is missing")),
        }
    }
    let added = new.keys().filter(|key| !old.contains_key(*key));
    words.extend(added.map(|key| format!("`{key}` is new")));
    words
}
