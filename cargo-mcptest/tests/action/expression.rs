//! The expressions of workflows, `${{ … }}`, as GitHub evaluates them: as much of them as the tested files use.

use serde_json::{Map, Value, json};

/// What a status function says of the steps before.
pub(crate) const SUCCESS: &str = "success()";

/// The value of an expression.
///
/// A name that no context has would be an empty text on GitHub. Here it is a panic, but of what an event or a step may
/// leave out.
pub(crate) fn value(expression: &str, context: &Value) -> Value {
    let mut parser = Parser {
        tokens: tokens(expression),
        context,
        expression,
    };
    let value = parser.parse_or();
    assert!(parser.tokens.is_empty(), "what is left of `{expression}`");
    value
}

/// A text with the values of its expressions.
pub(crate) fn interpolate(text: &str, context: &Value) -> String {
    let mut parts = text.split("${{");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (expression, rest) = part.split_once("}}").unwrap();
        filled += &value_text(&value(expression, context));
        filled += rest;
    }
    filled
}

/// Whether a step or a job runs, by its `if`. Without a status function, what failed before stops it.
pub(crate) fn is_met(condition: &Value, context: &Value) -> bool {
    let Some(condition) = condition.as_str() else {
        assert!(condition.is_null(), "a condition: {condition}");
        return is_truthy(&value(SUCCESS, context));
    };
    let inner = condition
        .trim()
        .strip_prefix("${{")
        .and_then(|rest| rest.strip_suffix("}}"));
    let inner = inner.unwrap_or(condition);
    assert!(!inner.contains("${{"), "always true: {condition}");
    let says = ["success()", "failure()", "always()", "cancelled()"];
    let asks = says.iter().any(|word| inner.contains(word));
    (asks || is_truthy(&value(SUCCESS, context))) && is_truthy(&value(inner, context))
}

/// A value as a text.
pub(crate) fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_truthy(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && *value != json!("") && *value != json!(0)
}

/// Names with their dots, texts with their quotes, and operators; the last one first.
fn tokens(expression: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = expression.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_name = |sign: char| sign.is_alphanumeric() || "._-".contains(sign);
        let length = if first == '\'' {
            rest[1..].find('\'').unwrap() + 2
        } else if is_name(first) {
            rest.find(|sign| !is_name(sign)).unwrap_or(rest.len())
        } else if ["&&", "||", "==", "!="]
            .iter()
            .any(|two| rest.starts_with(two))
        {
            2
        } else {
            assert!("()!".contains(first), "`{first}` in `{expression}`");
            1
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    tokens.reverse();
    tokens
}

struct Parser<'e> {
    tokens: Vec<String>,
    context: &'e Value,
    expression: &'e str,
}

impl Parser<'_> {
    fn consume(&mut self, token: &str) -> bool {
        let is_next = self.tokens.last().is_some_and(|next| next == token);
        if is_next {
            self.tokens.pop();
        }
        is_next
    }

    fn parse_or(&mut self) -> Value {
        let mut left = self.parse_and();
        while self.consume("||") {
            let right = self.parse_and();
            left = if is_truthy(&left) { left } else { right };
        }
        left
    }

    fn parse_and(&mut self) -> Value {
        let mut left = self.parse_comparison();
        while self.consume("&&") {
            let right = self.parse_comparison();
            left = if is_truthy(&left) { right } else { left };
        }
        left
    }

    fn parse_comparison(&mut self) -> Value {
        let left = self.parse_operand();
        let same = |left: &Value, right: &Value| {
            // Texts are compared without their case.
            value_text(left).eq_ignore_ascii_case(&value_text(right))
        };
        if self.consume("==") {
            return json!(same(&left, &self.parse_operand()));
        }
        if self.consume("!=") {
            return json!(!same(&left, &self.parse_operand()));
        }
        left
    }

    fn parse_operand(&mut self) -> Value {
        let token = self.tokens.pop();
        let token = token.unwrap_or_else(|| panic!("`{}` ends too early", self.expression));
        match token.as_str() {
            "!" => json!(!is_truthy(&self.parse_operand())),
            "(" => {
                let inner = self.parse_or();
                assert!(self.consume(")"), "`{}` lacks a `)`", self.expression);
                inner
            }
            name if self.consume("(") => {
                assert!(self.consume(")"), "`{name}` takes nothing here");
                let failed = self.context["failed"] == true;
                match name {
                    "success" => json!(!failed),
                    "failure" => json!(failed),
                    "always" => json!(true),
                    "cancelled" => json!(false),
                    other => panic!("`{other}` is no function that is known here"),
                }
            }
            text if text.starts_with('\'') => json!(text.trim_matches('\'')),
            name => self.lookup(name),
        }
    }

    fn lookup(&self, name: &str) -> Value {
        let mut at = self.context;
        let mut above = String::new();
        for part in name.split('.') {
            let may_lack = above.starts_with("github.event")
                || above == "secrets"
                || above.starts_with("steps.") && above.ends_with(".outputs");
            match at.get(part) {
                Some(inner) => at = inner,
                None if may_lack => return Value::Null,
                None => panic!("there is no `{name}` in `{}`", self.expression),
            }
            above = if above.is_empty() {
                part.to_owned()
            } else {
                format!("{above}.{part}")
            };
        }
        at.clone()
    }
}

/// Sets what a path of names leads to.
pub(crate) fn set(context: &mut Value, path: &str, value: impl Into<Value>) {
    let mut at = context;
    for part in path.split('.') {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        at = at
            .as_object_mut()
            .unwrap()
            .entry(part)
            .or_insert(Value::Null);
    }
    *at = value.into();
}

#[test]
fn they_have_the_values_that_github_documents() {
    let mut context = json!({});
    for (path, value) in [
        ("github.event.label.name", "record"),
        ("inputs.install-only", "false"),
        ("inputs.baseline", ""),
        ("steps.one.outputs.status", "3"),
    ] {
        set(&mut context, path, value);
    }
    set(&mut context, "failed", true);
    for (expression, wanted) in [
        ("github.event.label.name == 'Record'", "true"),
        ("inputs.baseline || github.event.before || 'main'", "main"),
        ("inputs.install-only != 'true' && 'a' || 'b'", "a"),
        (
            "('a' == 'b' || !cancelled()) && steps.one.outputs.status",
            "3",
        ),
        ("steps.one.outputs.other", ""),
        ("failure()", "true"),
    ] {
        assert_eq!(
            value_text(&value(expression, &context)),
            wanted,
            "{expression}"
        );
    }
    assert_eq!(
        interpolate("a ${{ inputs.install-only }} b", &context),
        "a false b"
    );
    assert!(!is_met(&json!("inputs.install-only != 'true'"), &context));
    assert!(is_met(
        &json!("${{ !cancelled() && inputs.install-only == 'false' }}"),
        &context
    ));
}
