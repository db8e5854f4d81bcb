//! What a suite answers in the place of tools of the agent's own, call after call.

use serde::Serialize;
use serde_json::{Map, Value};

use super::arg_diff::{ArgDiff, key_path};
use super::subset::{subset, subset_diffs};
use crate::setters::setters;
use crate::trace::canonical_json;

/// An entry of `answers:`: what calls of a tool are answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OwnAnswer {
    /// The tool, as the agent's code names it.
    pub tool: String,
    /// What a call's arguments must have, as [`subset`] says; any call fits where it is absent.
    pub when: Option<Map<String, Value>>,
    /// How many calls it answers; all that fit where it is absent.
    pub times: Option<u64>,
    /// What it answers.
    pub reply: OwnReply,
}

impl OwnAnswer {
    /// The answer to every call of a tool.
    pub fn new(tool: impl Into<String>, reply: OwnReply) -> Self {
        Self {
            tool: tool.into(),
            when: None,
            times: None,
            reply,
        }
    }

    /// Where the arguments of a call are not what the entry asks for.
    fn differs(&self, args: &Value) -> Vec<ArgDiff> {
        let places = self
            .expected_args(args)
            .map(|(key, wanted, found)| match found {
                Some(found) => {
                    let differs = subset_diffs(wanted, found).into_iter();
                    differs
                        .map(|differs| differs.prefixed(&key_path("", key)))
                        .collect()
                }
                None => vec![ArgDiff::new(key_path("", key), Some(wanted.clone()), None)],
            });
        places.collect::<Vec<_>>().concat()
    }

    fn fits(&self, args: &Value) -> bool {
        let mut asked = self.expected_args(args);
        asked.all(|(_, wanted, found)| found.is_some_and(|found| subset(wanted, found)))
    }

    /// Each argument that the entry asks for, with its value in the entry and in a call.
    fn expected_args<'a>(
        &'a self,
        args: &'a Value,
    ) -> impl Iterator<Item = (&'a String, &'a Value, Option<&'a Value>)> {
        let asked = self.when.iter().flatten();
        asked.map(|(key, wanted)| (key, wanted, args.get(key)))
    }

    fn is_used_up(&self, used: u64) -> bool {
        self.times.is_some_and(|times| used >= times)
    }

    /// The entry in the words of a suite.
    fn describe(&self) -> String {
        let when = self.when.as_ref();
        let when = when.map(|when| format!("when: {}", json_excerpt(&Value::Object(when.clone()))));
        let times = self.times.map(|times| format!("times: {times}"));
        let parts: Vec<String> = when.into_iter().chain(times).collect();
        if parts.is_empty() {
            return format!("`{{ tool: {} }}`", self.tool);
        }
        format!("`{{ tool: {}, {} }}`", self.tool, parts.join(", "))
    }
}

setters! {
    OwnAnswer {
        with_when(when: Map<String, Value>) => Some(when);
        with_times(times: u64) => Some(times);
    }
}

/// What an entry of `answers:` does with a call.
///
/// A closed set: whoever stands in the place of a tool must be able to do each.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnReply {
    /// The call returns this.
    Result(Value),
    /// The call fails.
    Error {
        /// The name of the error's type.
        #[serde(rename = "type")]
        kind: String,
        /// Where the type is, in languages that have modules.
        module: Option<String>,
        /// What the error says.
        text: String,
        /// What the error is made of.
        args: Vec<Value>,
    },
    /// The tool runs.
    Run,
}

/// What a call of a tool is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerLookup {
    /// The suite does not name the tool.
    NotNamed,
    /// What the first entry that fits says.
    Reply(OwnReply),
    /// The suite names the tool and has no entry for this call, so the tool must not run.
    NoEntry {
        /// The nearest entry and what differs, to stand after *the nearest entry is*.
        nearest: String,
    },
}

/// The `answers:` of an agent during a run: of each entry, how often it was used.
///
/// The first entry answers that fits a call and is not used up.
///
/// ```
/// use mcptest_trace::eval::{AnswerLookup, OwnAnswer, OwnAnswers, OwnReply};
/// use serde_json::json;
///
/// let once = OwnAnswer::new("charge", OwnReply::Result(json!("paid"))).with_times(1);
/// let mut answers = OwnAnswers::new(vec![once]);
/// assert_eq!(answers.answer("charge", &json!({})), AnswerLookup::Reply(OwnReply::Result(json!("paid"))));
/// // A tool that is named never runs otherwise.
/// assert!(matches!(answers.answer("charge", &json!({})), AnswerLookup::NoEntry { .. }));
/// assert_eq!(answers.answer("refund", &json!({})), AnswerLookup::NotNamed);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnAnswers {
    entries: Vec<OwnAnswer>,
    /// How often each entry was used.
    used: Vec<u64>,
}

impl OwnAnswers {
    /// The entries in the order of the suite, none of them used.
    #[must_use]
    pub fn new(entries: Vec<OwnAnswer>) -> Self {
        Self {
            used: vec![0; entries.len()],
            entries,
        }
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries, in the order of the suite.
    #[must_use]
    pub fn entries(&self) -> &[OwnAnswer] {
        &self.entries
    }

    /// What a call is answered, which uses the entry.
    ///
    /// A tool whose name is one that the suite names with something before it, or the other way round
    /// (`shop__refund`, `refund`), has no entry: it may be the one that must not run.
    pub fn answer(&mut self, tool: &str, args: &Value) -> AnswerLookup {
        let mut places = self.entries.iter().zip(&mut self.used);
        let fitting = places.find(|(entry, used)| {
            entry.tool == tool && !entry.is_used_up(**used) && entry.fits(args)
        });
        if let Some((entry, used)) = fitting {
            *used += 1;
            return AnswerLookup::Reply(entry.reply.clone());
        }
        if let Some(nearest) = self.nearest(tool, args) {
            return AnswerLookup::NoEntry { nearest };
        }
        let mut others = self.entries.iter();
        match others.find(|entry| may_be_same_tool(&entry.tool, tool)) {
            Some(other) => AnswerLookup::NoEntry {
                nearest: format!(
                    "one of `{}`, and the tool's own name is `{tool}`",
                    other.tool
                ),
            },
            None => AnswerLookup::NotNamed,
        }
    }

    /// The nearest entry of a tool, which does not fit or is used up, and why.
    fn nearest(&self, tool: &str, args: &Value) -> Option<String> {
        let entries = self.entries.iter().zip(&self.used);
        let of_tool = entries.filter(|(entry, _)| entry.tool == tool);
        let compared = of_tool.map(|(entry, used)| (entry, *used, entry.differs(args)));
        let (entry, used, differs) = compared.min_by_key(|(_, _, differs)| differs.len())?;
        let why = if differs.is_empty() {
            let calls = if used == 1 { "call" } else { "calls" };
            format!("which has answered its {used} {calls}")
        } else {
            describe_differences(&differs)
        };
        Some(format!("{}, {why}", entry.describe()))
    }

    /// The entries that no call has used.
    #[must_use]
    pub fn unused(&self) -> Vec<&OwnAnswer> {
        let entries = self.entries.iter().zip(&self.used);
        let unused = entries.filter(|(_, used)| **used == 0);
        unused.map(|(entry, _)| entry).collect()
    }

    /// How often each entry was used, in the order of the suite.
    #[must_use]
    pub fn used(&self) -> &[u64] {
        &self.used
    }
}

/// How many places of a call are told.
const TOLD: usize = 3;

/// What differs between an entry and a call.
fn describe_differences(differs: &[ArgDiff]) -> String {
    let places = differs.iter().take(TOLD).map(|differs| {
        let wanted = differs
            .expected
            .as_ref()
            .map_or_else(String::new, json_excerpt);
        let found = differs.recorded.as_ref();
        let found = found.map_or_else(|| "absent".to_owned(), json_excerpt);
        format!("but `{}` is {found}, not {wanted}", differs.path)
    });
    let more = differs.len().saturating_sub(TOLD);
    let more = (more > 0).then(|| format!("and {more} more differ"));
    let told: Vec<String> = places.chain(more).collect();
    told.join(", ")
}

/// How long a value may be that a message shows.
const SHOWN: usize = 120;

fn json_excerpt(value: &Value) -> String {
    let json = canonical_json(value);
    if json.len() <= SHOWN {
        return json;
    }
    format!("{}…", &json[..json.floor_char_boundary(SHOWN)])
}

/// Whether one of two different names is the other with something before it, as clients write the names of
/// servers and groups.
fn may_be_same_tool(one: &str, other: &str) -> bool {
    let behind = |long: &str, short: &str| {
        let head = long.strip_suffix(short);
        let parts = ["-", "__", ".", "/", ":"];
        !short.is_empty()
            && head.is_some_and(|head| parts.into_iter().any(|part| head.ends_with(part)))
    };
    behind(one, other) || behind(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn result(tool: &str, result: Value) -> OwnAnswer {
        OwnAnswer::new(tool, OwnReply::Result(result))
    }

    fn when(answer: OwnAnswer, when: Value) -> OwnAnswer {
        match when {
            Value::Object(when) => answer.with_when(when),
            _ => answer,
        }
    }

    fn given(answers: &mut OwnAnswers, args: &Value) -> Option<Value> {
        match answers.answer("charge", args) {
            AnswerLookup::Reply(OwnReply::Result(value)) => Some(value),
            _ => None,
        }
    }

    fn nearest(answers: &mut OwnAnswers, tool: &str, args: &Value) -> String {
        match answers.answer(tool, args) {
            AnswerLookup::NoEntry { nearest } => nearest,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_first_entry_that_fits_and_is_not_used_up_answers() {
        let mut answers = OwnAnswers::new(vec![
            when(result("charge", json!(1)), json!({ "amount": 0 })).with_times(1),
            when(result("charge", json!(2)), json!({ "amount": 0 })),
            result("refund", json!(3)),
            result("charge", json!(4)).with_times(2),
        ]);
        let free = || json!({ "amount": 0.0, "to": "Ann" });
        assert_eq!(given(&mut answers, &free()), Some(json!(1)));
        assert_eq!(given(&mut answers, &free()), Some(json!(2)));
        assert_eq!(given(&mut answers, &free()), Some(json!(2)));
        assert_eq!(given(&mut answers, &json!({ "amount": 5 })), Some(json!(4)));
        assert_eq!(given(&mut answers, &json!({})), Some(json!(4)));
        assert_eq!(given(&mut answers, &json!({})), None);
        let unused: Vec<&str> = answers.unused().iter().map(|e| e.tool.as_str()).collect();
        assert_eq!(unused, ["refund"]);
        assert_eq!(answers.used(), [1, 2, 0, 2]);
    }

    #[test]
    fn a_call_without_an_entry_names_the_nearest_one() {
        let mut answers = OwnAnswers::new(vec![
            when(
                result("charge", json!(1)),
                json!({ "amount": 0, "to": "Ann" }),
            ),
            when(result("charge", json!(2)), json!({ "amount": 9 })).with_times(1),
        ]);
        assert_eq!(
            nearest(&mut answers, "charge", &json!({ "amount": "0" })),
            "`{ tool: charge, when: {\"amount\":0,\"to\":\"Ann\"} }`, but `to` is absent, not \"Ann\""
        );
        assert_eq!(
            nearest(
                &mut answers,
                "charge",
                &json!({ "amount": 0, "to": ["Ann"] })
            ),
            "`{ tool: charge, when: {\"amount\":0,\"to\":\"Ann\"} }`, but `to` is [\"Ann\"], not \"Ann\""
        );
        assert_eq!(
            nearest(&mut answers, "charge", &json!(null)),
            "`{ tool: charge, when: {\"amount\":9}, times: 1 }`, but `amount` is absent, not 9"
        );
        assert_eq!(given(&mut answers, &json!({ "amount": 9 })), Some(json!(2)));
        assert_eq!(
            nearest(&mut answers, "charge", &json!({ "amount": 9 })),
            "`{ tool: charge, when: {\"amount\":9}, times: 1 }`, which has answered its 1 call"
        );
    }

    #[test]
    fn many_differences_and_long_values_are_cut() {
        let wanted = json!({ "a": "ä".repeat(200), "b": 2, "c": 3, "d": 4 });
        let mut answers = OwnAnswers::new(vec![when(result("charge", json!(1)), wanted)]);
        let told = nearest(&mut answers, "charge", &json!({ "b": 1 }));
        assert!(
            told.len() < 600 && told.ends_with("and 1 more differ"),
            "{told}"
        );
    }

    #[test]
    fn a_tool_that_may_be_the_named_one_does_not_run() {
        let mut answers = OwnAnswers::new(vec![result("shop__refund", json!(1))]);
        assert_eq!(
            nearest(&mut answers, "refund", &json!({})),
            "one of `shop__refund`, and the tool's own name is `refund`"
        );
        for other in ["shop_refund", "fund", "_refund", "shop", "re-refunds"] {
            let answered = answers.answer(other, &json!({}));
            assert_eq!(answered, AnswerLookup::NotNamed, "{other}");
        }
        // An entry of its own is clear.
        let mut both = OwnAnswers::new(vec![
            result("shop__refund", json!(1)),
            OwnAnswer::new("refund", OwnReply::Run),
        ]);
        let answered = both.answer("refund", &json!({}));
        assert_eq!(answered, AnswerLookup::Reply(OwnReply::Run));
    }

    fn entry() -> impl Strategy<Value = OwnAnswer> {
        let when = prop::option::of(prop::collection::btree_map("[ab]", 0..2_i32, 0..3));
        let parts = ("[xy]", when, prop::option::of(1..3_u64), any::<u8>());
        parts.prop_map(|(tool, when, times, number)| OwnAnswer {
            tool,
            when: when.map(|when| when.into_iter().map(|(k, v)| (k, json!(v))).collect()),
            times,
            reply: OwnReply::Result(json!(number)),
        })
    }

    proptest! {
        /// A plain second implementation: try each entry, count as one goes.
        #[test]
        fn entries_answer_as_trying_each_says(
            entries in prop::collection::vec(entry(), 0..6),
            calls in prop::collection::vec(("[xyz]", prop::collection::btree_map("[ab]", 0..2_i32, 0..3)), 0..12),
        ) {
            let mut answers = OwnAnswers::new(entries.clone());
            let mut left: Vec<u64> = entries.iter().map(|e| e.times.unwrap_or(u64::MAX)).collect();
            for (tool, args) in calls {
                let args = json!(args);
                let fits = |e: &OwnAnswer| {
                    let when = Value::Object(e.when.clone().unwrap_or_default());
                    e.tool == tool && subset(&when, &args)
                };
                let place = (0..entries.len()).find(|at| left[*at] > 0 && fits(&entries[*at]));
                let is_named = entries.iter().any(|e| e.tool == tool);
                match (answers.answer(&tool, &args), place) {
                    (AnswerLookup::Reply(reply), Some(at)) => {
                        prop_assert_eq!(&reply, &entries[at].reply);
                        left[at] -= 1;
                    }
                    (AnswerLookup::NoEntry { nearest }, None) => {
                        let is_told = nearest.contains(", but `") || nearest.contains("has answered its");
                        prop_assert!(is_named && is_told, "{}", nearest);
                    }
                    (AnswerLookup::NotNamed, None) => prop_assert!(!is_named),
                    (answered, place) => prop_assert!(false, "{:?} {:?}", answered, place),
                }
            }
            let fresh = entries.iter().zip(&left).filter(|(e, left)| **left == e.times.unwrap_or(u64::MAX));
            prop_assert_eq!(answers.unused().len(), fresh.count());
        }
    }
}
