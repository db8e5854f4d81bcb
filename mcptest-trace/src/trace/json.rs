//! JSON as it was written: nothing in it may be lost on the way into a [`Value`].
//!
//! `serde_json` lets the last of several equal keys win, turns whole numbers beyond 64 bits into
//! floats and rounds numbers of many digits. Here the value is built in the same single pass, which
//! only notes that something of the kind may have been there; the walk that says what and where
//! (`place`) runs for such a text alone.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::number;

/// The one key of the map that stands for a number where a dependency elsewhere in the user's build
/// has switched the feature `arbitrary_precision` of `serde_json` on.
const NUMBER: &str = "$serde_json::private::Number";

/// From here on a float may be a whole number that did not fit: 2^63.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

/// A value, and whether something of its text may be lost in it.
pub(super) struct Parsed {
    pub(super) value: Value,
    /// A key stands twice in an object, or a number may have been rounded.
    pub(super) lossy: bool,
}

/// Parses the one value of a text.
pub(super) fn parse(bytes: &[u8]) -> Result<Parsed, serde_json::Error> {
    let noted = Noted::default();
    let mut text = serde_json::Deserializer::from_slice(bytes);
    let value = Seed { noted: &noted }.deserialize(&mut text)?;
    text.end()?;
    let may_round = || noted.floats.get() && number::may_round(bytes, noted.tiny.get());
    Ok(Parsed {
        value,
        lossy: noted.lossy.get() || may_round(),
    })
}

/// What was seen on the way.
#[derive(Default)]
struct Noted {
    /// A key that stands twice, or a float that may be a whole number beyond 64 bits.
    lossy: Cell<bool>,
    /// A float.
    floats: Cell<bool>,
    /// A float that is zero or subnormal: less may have become of a number than 15 digits.
    tiny: Cell<bool>,
}

#[derive(Clone, Copy)]
struct Seed<'a> {
    noted: &'a Noted,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        self.noted.floats.set(true);
        if value.abs() >= BEYOND {
            self.noted.lossy.set(true);
        }
        if value.abs() < f64::MIN_POSITIVE {
            self.noted.tiny.set(true);
        }
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(self)?;
            if key == NUMBER
                && let Value::String(text) = &value
            {
                return self.spelt_number(text);
            }
            if map.insert(key, value).is_some() {
                self.noted.lossy.set(true);
            }
        }
        Ok(Value::Object(map))
    }
}

impl Seed<'_> {
    /// A number as it is spelt, read as it is read without `arbitrary_precision`.
    fn spelt_number<E: Error>(self, text: &str) -> Result<Value, E> {
        if let Ok(whole) = text.parse::<i64>() {
            return self.visit_i64(whole);
        }
        if let Ok(whole) = text.parse::<u64>() {
            return self.visit_u64(whole);
        }
        let float = text.parse::<f64>().ok().filter(|float| float.is_finite());
        self.visit_f64(float.ok_or_else(|| E::custom("number out of range"))?)
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
            assert_eq!(parse(spelt.as_bytes()).unwrap().value[0], value);
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
            prop_assert_eq!(&parsed.value, &serde_json::from_str::<Value>(&text).unwrap());
            let numbers = text.contains(|sign: char| sign.is_ascii_digit());
            prop_assert!(!parsed.lossy || numbers);
        }
    }
}
