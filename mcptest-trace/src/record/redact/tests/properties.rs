//! No secret is left, whatever the nesting and the encoding.

use proptest::prelude::*;

use super::*;

/// JSON whose strings hold the secrets in many forms.
fn value(secrets: Vec<String>) -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        3 => proptest::sample::select(secrets),
        1 => "[ -~é\n]{0,6}",
        1 => Just("\\\"".to_owned()),
    ];
    let text = proptest::collection::vec(text, 0..4).prop_map(|parts| parts.concat());
    let text = (text, 0..6_u8).prop_map(|(text, form)| match form {
        0 => escaped(&text),
        1 => escaped(&escaped(&text)),
        2 => base64(text.as_bytes()),
        3 => percent(&text, |byte| byte.is_ascii_alphanumeric(), true),
        _ => text,
    });
    let leaf = prop_oneof![
        text.clone().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((text.clone(), inner), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Secrets that no replacement text and no JSON syntax holds, and values with them.
fn secrets_and_value() -> impl Strategy<Value = (Vec<String>, Value)> {
    let secret = "[G-Zg-qu-z0-9][!#-\\[\\]-~é🚀]{6,24}[G-Z0-9]";
    proptest::collection::vec(secret, 1..5)
        .prop_flat_map(|secrets| (Just(secrets.clone()), value(secrets)))
}

proptest! {
    #[test]
    fn no_secret_is_left((secrets, mut value) in secrets_and_value()) {
        let named = secrets.iter().enumerate().map(|(index, secret)| (format!("{index}"), secret.clone()));
        let redactor = Redactor::new(named, Vec::new()).unwrap();
        let before = value.clone();
        redactor.redact(&mut value);
        let text = value.to_string();
        for secret in &secrets {
            prop_assert!(!text.contains(secret.as_str()), "{secret} in {text}");
            prop_assert!(!text.contains(&escaped(secret)), "{secret} in {text}");
            prop_assert!(!text.contains(&escaped(&escaped(secret))), "{secret} in {text}");
        }
        prop_assert_eq!(redactor.occurs_in(&text), None);
        prop_assert!(same_shape(&before, &value));
        let once = value.clone();
        redactor.redact(&mut value);
        prop_assert_eq!(once, value);
    }

    #[test]
    fn what_holds_no_secret_is_left_alone(text in "[ -~é\n]{0,80}") {
        let redactor = redactor(&[("KEY", "sk-this-is-not-there")]);
        prop_assert!(matches!(redactor.redact_text(&text), Cow::Borrowed(_)));
    }
}

/// Whether two values have as many entries everywhere.
fn same_shape(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same_shape(left, right))
        }
        (Value::Object(left), Value::Object(right)) => left.len() == right.len(),
        (Value::Number(_), Value::String(_)) => true,
        (left, right) => std::mem::discriminant(left) == std::mem::discriminant(right),
    }
}
