//! Values of a recording that stay text until somebody looks at them: arguments and results are the
//! bulk of most runs, and most gates look at few of them.
//!
//! A value is parsed once, whoever looks at it. What is made of it to compare calls is not kept: each
//! metric is a function of traces alone, and numbers equal tools and arguments for itself. Measured by
//! instructions of judging a whole package, with callgrind: where all cases of 50 agents hold, canonical arguments
//! are 1.1% and numbering them 1%, once and by `stability`; `trajectory` makes 0.17% of them anew. Where
//! most cases of 120 real runs fail, canonical arguments are 1.4%, of which 1.1% are made again, a third
//! of that to be shown. One table for all gates of an agent could save no more than that, and every
//! metric would have to be handed one.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};
use serde_json::Value;

/// A JSON value of a recorded run, which is parsed from the run's text when it is first looked at.
///
/// It is used as the [`Value`] that it dereferences to.
///
/// ```
/// use mcptest_trace::trace::LazyValue;
/// use serde_json::json;
///
/// let args = LazyValue::from(json!({ "order": "A-1" }));
/// assert_eq!(args["order"], "A-1");
/// assert_eq!(args, json!({ "order": "A-1" }));
/// ```
#[derive(Clone, Default)]
pub struct LazyValue(State);

#[derive(Clone)]
enum State {
    Value(Value),
    Text(Arc<Text>),
}

/// A part of a run's text that is a JSON value.
struct Text {
    run: Arc<Vec<u8>>,
    range: Range<usize>,
    parse: fn(&[u8]) -> Value,
    value: OnceLock<Value>,
}

impl LazyValue {
    /// A value that stands in this text, and how it is parsed; nothing where it does not stand there.
    /// That it can be parsed without losing anything was seen before.
    pub(super) fn from_text(
        run: &Arc<Vec<u8>>,
        text: &str,
        parse: fn(&[u8]) -> Value,
    ) -> Option<Self> {
        let start = (text.as_ptr() as usize).checked_sub(run.as_ptr() as usize)?;
        let range = start..start + text.len();
        run.get(range.clone())?;
        Some(Self(State::Text(Arc::new(Text {
            run: Arc::clone(run),
            range,
            parse,
            value: OnceLock::new(),
        }))))
    }

    /// Whether it is `null`, without a look at what stays text.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.0, State::Value(Value::Null))
    }

    /// The text that it is a value of, where it stands in a recording. Equal texts are equal values.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        match &self.0 {
            State::Value(_) => None,
            State::Text(text) => text.run.get(text.range.clone()),
        }
    }

    /// The value itself.
    #[must_use]
    pub fn into_value(self) -> Value {
        match self.0 {
            State::Value(value) => value,
            State::Text(_) => (*self).clone(),
        }
    }
}

impl Deref for LazyValue {
    type Target = Value;

    fn deref(&self) -> &Value {
        match &self.0 {
            State::Value(value) => value,
            State::Text(text) => {
                let parsed = || (text.parse)(&text.run[text.range.clone()]);
                text.value.get_or_init(parsed)
            }
        }
    }
}

impl Default for State {
    fn default() -> Self {
        Self::Value(Value::Null)
    }
}

impl From<Value> for LazyValue {
    fn from(value: Value) -> Self {
        Self(State::Value(value))
    }
}

impl PartialEq for LazyValue {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (State::Text(left), State::Text(right)) if Arc::ptr_eq(left, right) => true,
            _ => **self == **other,
        }
    }
}

impl PartialEq<Value> for LazyValue {
    fn eq(&self, other: &Value) -> bool {
        **self == *other
    }
}

impl fmt::Debug for LazyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Display for LazyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Serialize for LazyValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}
