//! JSON as it was written: nothing in it may be lost on the way into a [`Value`].
//!
//! `serde_json` lets the last of several equal keys win, turns whole numbers beyond 64 bits into
//! floats and rounds numbers of many digits. Here the value is built in the same single pass, which
//! only notes that something of the kind may have been there; the walk that says what and where
//! (`location`) runs for such a text alone.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::de::Read;
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::faithful::Scanner;
use super::json::{Deferred, Json, Object};
use super::lazy::LazyValue;
use super::number;

/// The one key of the map that stands for a number where a dependency elsewhere in the user's build
/// has switched the feature `arbitrary_precision` of `serde_json` on.
const NUMBER: &str = "$serde_json::private::Number";

/// From here on a float may be a whole number that did not fit: 2^63.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

/// A value, and whether something of its text may be lost in it.
pub(super) struct Parsed<'a> {
    pub(super) value: Json<'a>,
    /// A key stands twice in an object, or a number may have been rounded.
    pub(super) lossy: bool,
}

/// Parses the recording that stands at the end of a text: the arguments of its calls and their results
/// stay text.
pub(super) fn parse_recording<'a>(
    text: &Arc<Vec<u8>>,
    bytes: &'a [u8],
) -> Result<Parsed<'a>, serde_json::Error> {
    let noted = ParseNotes::default();
    let seed = Seed {
        noted: &noted,
        run: Some(text),
        room: Position::Run,
    };
    if let Ok(utf8) = str::from_utf8(bytes)
        && let Ok(value) = seed.deserialize_all(serde_json::Deserializer::from_str(utf8))
        && !noted.odd.get()
    {
        let lossy = noted.lossy(bytes);
        return Ok(Parsed { value, lossy });
    }
    parse(bytes)
}

/// Parses the one value of a text.
pub(super) fn parse(bytes: &[u8]) -> Result<Parsed<'_>, serde_json::Error> {
    let noted = ParseNotes::default();
    let seed = Seed {
        noted: &noted,
        run: None,
        room: Position::Other,
    };
    // Whether it is text is asked once, and not of each string.
    let value = match str::from_utf8(bytes) {
        Ok(text) => seed.deserialize_all(serde_json::Deserializer::from_str(text)),
        Err(_) => seed.deserialize_all(serde_json::Deserializer::from_slice(bytes)),
    }?;
    let lossy = noted.lossy(bytes);
    Ok(Parsed { value, lossy })
}

/// The value of a text that was looked through before: nothing of it is lost.
fn value_of(bytes: &[u8]) -> Value {
    let Ok(text) = str::from_utf8(bytes) else {
        return Value::Null;
    };
    let value = ValueSeed.deserialize(&mut serde_json::Deserializer::from_str(text));
    value.unwrap_or_default()
}

/// What parsing notes on its way through a text.
#[derive(Default)]
struct ParseNotes<'t> {
    /// A key that stands twice, or a float that may be a whole number beyond 64 bits.
    lossy: Cell<bool>,
    /// A float.
    floats: Cell<bool>,
    /// A float that is zero or subnormal: less may have become of a number than 15 digits.
    tiny: Cell<bool>,
    /// Something that cannot stay text, or not without a closer look.
    odd: Cell<bool>,
    /// What looks through the texts that stay text.
    scanner: RefCell<Scanner<'t>>,
}

impl ParseNotes<'_> {
    /// Whether something of the text may be lost.
    fn lossy(&self, bytes: &[u8]) -> bool {
        self.lossy.get() || self.floats.get() && number::may_round(bytes, self.tiny.get())
    }
}

#[derive(Clone, Copy)]
struct Seed<'n, 't> {
    noted: &'n ParseNotes<'t>,
    /// The text that a recording is a part of; nothing where all of it is parsed at once.
    run: Option<&'n Arc<Vec<u8>>>,
    /// What is being read.
    room: Position,
}

/// A place in a recording, as far as it leads to arguments and results.
#[derive(Clone, Copy)]
enum Position {
    Run,
    Trace,
    /// The calls, or the results.
    Items,
    Item,
    Other,
}

impl Position {
    /// What an entry of an object is.
    fn entry(self, key: &str) -> Self {
        match (self, key) {
            (Self::Run, "trace") => Self::Trace,
            (Self::Trace, "tool_calls" | "tool_results") => Self::Items,
            _ => Self::Other,
        }
    }

    fn element(self) -> Self {
        match self {
            Self::Items => Self::Item,
            _ => Self::Other,
        }
    }
}

impl<'de> Seed<'_, 'de> {
    fn deserialize_all<R: Read<'de>>(
        self,
        mut text: serde_json::Deserializer<R>,
    ) -> Result<Json<'de>, serde_json::Error> {
        let value = self.deserialize(&mut text)?;
        text.end()?;
        Ok(value)
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_, 'de> {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, 'de> {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json<'de>, E> {
        self.noted.floats.set(true);
        if value.abs() >= BEYOND {
            self.noted.lossy.set(true);
        }
        if value.abs() < f64::MIN_POSITIVE {
            self.noted.tiny.set(true);
        }
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Text(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(value.to_owned().into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json<'de>, E> {
        Ok(Json::Text(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json<'de>, A::Error> {
        let mut list = Vec::new();
        let seed = Seed {
            room: self.room.element(),
            ..self
        };
        while let Some(item) = items.next_element_seed(seed)? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json<'de>, A::Error> {
        let mut object = Object::default();
        let mut places = HashMap::new();
        while let Some(Key(key)) = entries.next_key()? {
            let value = match (self.room, self.run, &*key) {
                (Position::Item, Some(run), "args" | "result") => {
                    self.deferred(run, entries.next_value()?)
                }
                _ => entries.next_value_seed(Seed {
                    room: self.room.entry(&key),
                    ..self
                })?,
            };
            if key == NUMBER
                && let Json::Text(text) = &value
            {
                return parse_number(self, text);
            }
            if object.insert(key, value, &mut places) {
                self.noted.lossy.set(true);
            }
        }
        Ok(Json::Object(object))
    }
}

/// A key, borrowed from the text where nothing in it is escaped.
#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Seed<'_, 'de> {
    /// Arguments or a result of a run, as text.
    fn deferred(self, run: &Arc<Vec<u8>>, raw: &'de RawValue) -> Json<'de> {
        let text = raw.get();
        let is_object = text.starts_with('{');
        if is_object || text.starts_with('[') {
            let value = LazyValue::from_text(run, text, value_of);
            let seen = self.noted.scanner.borrow_mut().scan(text);
            if let (Some(value), Some(seen)) = (value, seen) {
                return Json::Later(Deferred {
                    value,
                    is_object,
                    is_error: seen.is_error,
                });
            }
        } else if let Ok(parsed) = parse(text.as_bytes())
            && !parsed.lossy
        {
            return parsed.value;
        }
        self.noted.odd.set(true);
        Json::Null
    }
}

/// A number as it is spelt, read as it is read without `arbitrary_precision`.
fn parse_number<'de, V: Visitor<'de>, E: Error>(visitor: V, text: &str) -> Result<V::Value, E> {
    if let Ok(whole) = text.parse::<i64>() {
        return visitor.visit_i64(whole);
    }
    if let Ok(whole) = text.parse::<u64>() {
        return visitor.visit_u64(whole);
    }
    let float = text.parse::<f64>().ok().filter(|float| float.is_finite());
    visitor.visit_f64(float.ok_or_else(|| E::custom("number out of range"))?)
}

/// Reads a value of which nothing can be lost.
#[derive(Clone, Copy)]
struct ValueSeed;

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(Key(key)) = entries.next_key()? {
            let value = entries.next_value_seed(self)?;
            if key == NUMBER
                && let Value::String(text) = &value
            {
                return parse_number(self, text);
            }
            object.insert(key.into_owned(), value);
        }
        // Where `serde_json` was built to keep an order, that of the keys: it says nothing.
        object.sort_keys();
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_lossy(text: &str) -> bool {
        parse(text.as_bytes()).unwrap().lossy
    }

    #[test]
    fn what_a_value_cannot_hold_is_noted_at_any_depth() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"[{"a":{"b":1,"\u0062":2}}]"#,
            "[18446744073709551616]",
            "-9223372036854775809",
            "1e300",
            "[0.12345678901234567890]",
            "[1,1e-400]",
        ] {
            assert!(is_lossy(text), "{text}");
        }
        for text in [
            r#"[{"a":1},{"a":1}]"#,
            r#"{"a":{"a":"a"}}"#,
            "[18446744073709551615,-9223372036854775808]",
            "[-0,1.5,1e18,0.0,1.10]",
        ] {
            assert!(!is_lossy(text), "{text}");
        }
    }

    #[test]
    fn text_after_the_value_is_an_error() {
        assert!(parse(b"{} {}").is_err());
    }

    #[test]
    fn a_number_that_is_spelt_out_is_the_number() {
        for (text, value) in [("7", 7.into()), ("-1.50", Value::from(-1.5))] {
            let spelt = format!(r#"[{{"{NUMBER}":"{text}"}}]"#);
            let parsed = parse(spelt.as_bytes()).unwrap().value;
            assert_eq!(parsed.into_value()[0], value);
        }
        assert!(parse(format!(r#"{{"{NUMBER}":"seven"}}"#).as_bytes()).is_err());
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e15..1e15).prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,3}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_is_read_as_serde_json_reads_it(value in value()) {
            let text = value.to_string();
            let parsed = parse(text.as_bytes()).unwrap();
            let borrowed = Json::from_value(&value).into_value();
            prop_assert_eq!(&borrowed, &value);
            prop_assert_eq!(&parsed.value.into_value(), &serde_json::from_str::<Value>(&text).unwrap());
            let numbers = text.contains(|sign: char| sign.is_ascii_digit());
            prop_assert!(!parsed.lossy || numbers);
        }

        #[test]
        fn keys_that_stand_twice_are_noted_and_the_later_wins(keys in prop::collection::vec(0..40_u8, 0..40)) {
            let entries = keys.iter().enumerate().map(|(place, key)| format!("\"{key}\":{place}"));
            let text = format!("{{{}}}", entries.collect::<Vec<_>>().join(","));
            let parsed = parse(text.as_bytes()).unwrap();
            let distinct = keys.iter().collect::<std::collections::HashSet<_>>().len();
            prop_assert_eq!(parsed.lossy, distinct < keys.len());
            prop_assert_eq!(parsed.value.into_value(), serde_json::from_str::<Value>(&text).unwrap());
        }
    }
}
