//! Reading an agent's `answers:`: what stands in the place of its own tools while it is recorded.

use mcptest_trace::eval::subset;
use serde_json::{Map, Value};

use super::fields::Fields;
use super::problems::Problems;
use super::values;
use crate::model::{OwnAnswer, OwnReply};
use crate::{Diagnostic, Entry, Node, Spanned};

/// What an answer may be; each needs exactly one of them.
const REPLIES: [&str; 3] = ["result", "error", "run"];

/// The answers, in order.
pub(super) fn read(node: &Node, problems: &mut Problems) -> Vec<Spanned<OwnAnswer>> {
    let items = problems.items(node, "answers").unwrap_or_default();
    let mut answers: Vec<Spanned<OwnAnswer>> = Vec::new();
    for item in items {
        let Some(answer) = read_answer(item, problems) else {
            continue;
        };
        if let Some(problem) = shadowed(&answers, &answer) {
            problems.push(problem);
        }
        answers.push(answer);
    }
    answers
}

fn read_answer(node: &Node, problems: &mut Problems) -> Option<Spanned<OwnAnswer>> {
    let mut fields = Fields::open(node, "an answer", problems)?;
    let tool = fields.required("tool", problems);
    let tool = tool.and_then(|node| problems.non_blank_text(node));
    let before = problems.noted();
    let when = fields.get("when");
    let when = when.and_then(|node| read_when(node, problems));
    let times = fields.get("times");
    let times = times.and_then(|node| problems.count(node, 1));
    let replies: Vec<&Entry> = REPLIES.iter().filter_map(|key| fields.entry(key)).collect();
    let reply = match replies.as_slice() {
        [reply] => read_reply(reply, problems),
        [] => {
            let problem = Diagnostic::at(
                fields.span,
                "an answer needs one of `result`, `error` and `run`",
            );
            let help = "write what the call returns (`result: …`), how it fails (`error: { type: …, text: … }`), or `run: true`";
            fields.missing(&REPLIES, problem.help(help), problems);
            None
        }
        [first, second, ..] => {
            problems.push(
                Diagnostic::new(format!(
                    "an answer is one of `result`, `error` and `run`, and this one has `{}` and `{}`",
                    first.key, second.key
                ))
                .label(second.key_span, "which of the two?")
                .secondary_label(first.key_span, "first here")
                .help("write an answer for each, with `when:` or `times:`"),
            );
            None
        }
    };
    fields.finish(problems);
    let tool = tool?;
    let mut answer = OwnAnswer::new(tool.value, reply?);
    answer.when = when;
    answer.times = times.map(|times| times.value);
    (problems.noted() == before).then(|| Spanned::new(answer, tool.span))
}

/// What a call's arguments must have.
fn read_when(node: &Node, problems: &mut Problems) -> Option<Map<String, Value>> {
    if node.entries().is_none() {
        problems.expected("a mapping of arguments to values", node);
        return None;
    }
    match values::read(node, problems) {
        Value::Object(when) if !when.is_empty() => Some(when),
        _ => {
            let message = "this `when` asks for nothing, so each call fits";
            problems.push(
                Diagnostic::at(node.span, message).help("name an argument, or remove the key"),
            );
            None
        }
    }
}

fn read_reply(entry: &Entry, problems: &mut Problems) -> Option<OwnReply> {
    let node = &entry.value;
    match entry.key.as_str() {
        "result" => {
            if node.is_left_out() {
                let message = "`result` is left without a value";
                let help = "write `result: null` if the tool returns nothing";
                problems.push(Diagnostic::at(entry.key_span, message).help(help));
            }
            Some(OwnReply::Result(values::read(node, problems)))
        }
        "error" => read_error(node, problems),
        _ => {
            if problems.flag(node)? {
                return Some(OwnReply::Run);
            }
            let message =
                "`run: false` answers nothing: a tool that is named here never runs otherwise";
            let help = "write what the call returns, or how it fails";
            problems.push(Diagnostic::at(node.span, message).help(help));
            None
        }
    }
}

fn read_error(node: &Node, problems: &mut Problems) -> Option<OwnReply> {
    if let Some(text) = node.text() {
        problems.push(
            Diagnostic::at(node.span, "an error has a type and a text")
                .help(format!("write `{{ type: RuntimeError, text: {text} }}`")),
        );
        return None;
    }
    let mut fields = Fields::open(node, "an error", problems)?;
    let kind = fields.required("type", problems);
    let kind = kind.and_then(|node| problems.non_blank_text(node));
    let text = fields.required("text", problems);
    let text = text.and_then(|node| problems.text(node));
    let module = fields.get("module");
    let module = module.and_then(|node| problems.non_blank_text(node));
    let args = fields.read("args", problems, |node, problems| {
        let items = problems.any_items(node, "arguments").iter();
        items.map(|item| values::read(item, problems)).collect()
    });
    fields.finish(problems);
    Some(OwnReply::Error {
        kind: kind?.value,
        module: module.map(|module| module.value),
        text: text?,
        args,
    })
}

/// What is wrong with an answer that comes after others: the first answer that fits a call decides, so one whose
/// every call fits an earlier one is never given.
fn shadowed(earlier: &[Spanned<OwnAnswer>], later: &Spanned<OwnAnswer>) -> Option<Diagnostic> {
    let when = |answer: &OwnAnswer| Value::Object(answer.when.clone().unwrap_or_default());
    let takes_all = |before: &&Spanned<OwnAnswer>| {
        let before = &before.value;
        before.tool == later.value.tool
            && before.times.is_none()
            && subset(&when(before), &when(&later.value))
    };
    let before = earlier.iter().find(takes_all)?;
    let tool = &later.value.tool;
    let help = "put it before the other, give the other `times:`, or leave it out";
    Some(
        Diagnostic::new(format!(
            "this answer of `{tool}` can never be given: an earlier one takes all its calls"
        ))
        .label(later.span, "comes later")
        .secondary_label(before.span, "the first answer that fits a call decides")
        .help(help),
    )
}

#[cfg(test)]
mod tests {
    use crate::Source;
    use crate::model::{OwnAnswer, OwnReply, Suite};
    use serde_json::{Value, json};

    fn read(answers: &str) -> Result<Vec<OwnAnswer>, String> {
        let text = format!(
            "agents: [{{ name: a, model: m, prompt: p, narrative: {{}}, answers: {answers} }}]"
        );
        let suite = Suite::parse(Source::new("a.yml", "a.yml", text));
        let agent = suite.map_err(|error| error.to_string())?.agents.remove(0);
        Ok(agent
            .answers
            .into_iter()
            .map(|answer| answer.value)
            .collect())
    }

    fn when(when: &Value) -> serde_json::Map<String, Value> {
        when.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn answers_are_read_in_order() {
        let answers = read(
            "[{ tool: refund, result: { refunded: 18.00 EUR } }, { tool: charge, when: { amount: 0 }, error: { type: CardDeclined, text: card declined }, times: 1 },
              { tool: charge, result: null }, { tool: get_order, run: true }, { tool: 7, error: { type: E, module: shop.errors, text: '', args: [1, a] } }]",
        );
        let declined = OwnReply::Error {
            kind: "CardDeclined".into(),
            module: None,
            text: "card declined".into(),
            args: Vec::new(),
        };
        let own = OwnReply::Error {
            kind: "E".into(),
            module: Some("shop.errors".into()),
            text: String::new(),
            args: vec![json!(1), json!("a")],
        };
        let right = [
            OwnAnswer::new(
                "refund",
                OwnReply::Result(json!({ "refunded": "18.00 EUR" })),
            ),
            OwnAnswer::new("charge", declined)
                .with_when(when(&json!({ "amount": 0 })))
                .with_times(1),
            OwnAnswer::new("charge", OwnReply::Result(Value::Null)),
            OwnAnswer::new("get_order", OwnReply::Run),
            OwnAnswer::new("7", own),
        ];
        assert_eq!(answers.unwrap(), right);
        // The second has calls of its own: those that the first is used up for, and those that it does not fit.
        for right in [
            "[{ tool: a, result: 1, times: 1 }, { tool: a, result: 2 }]",
            "[{ tool: a, result: 1, when: { n: 1, m: 1 } }, { tool: a, result: 2, when: { n: 1 } }]",
        ] {
            assert_eq!(read(right).unwrap().len(), 2);
        }
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for (answers, said) in [
            ("[]", "this list of answers is empty"),
            ("{ refund: 1 }", "expected a list of answers"),
            ("[refund]", "expected a mapping for an answer"),
            ("[{ result: 1 }]", "an answer needs `tool`"),
            (
                "[{ tool: '', result: 1 }]",
                "expected text, found empty text",
            ),
            ("[{ tool: ' ', result: 1 }]", "found only white space"),
            (
                "[{ tool: a }]",
                "an answer needs one of `result`, `error` and `run`",
            ),
            ("[{ tool: a, resutl: 1 }]", "did you mean `result`?"),
            (
                "[{ tool: a, result: 1, run: true }]",
                "and this one has `result` and `run`",
            ),
            (
                "[{ tool: a, result: 1, times: 0 }]",
                "expected a whole number, 1 or more",
            ),
            (
                "[{ tool: a, result: 1, times: 1.5 }]",
                "expected a whole number, 1 or more",
            ),
            (
                "[{ tool: a, result: 1, when: {} }]",
                "this `when` asks for nothing",
            ),
            (
                "[{ tool: a, result: 1, when: [7] }]",
                "expected a mapping of arguments to values",
            ),
            (
                "[{ tool: a, result: 1, when: { n: } }]",
                "`n` is left without a value",
            ),
            ("[{ tool: a, result: }]", "`result` is left without a value"),
            ("[{ tool: a, result: 1, else: 2 }]", "unknown key `else`"),
            ("[{ tool: a, run: false }]", "`run: false` answers nothing"),
            ("[{ tool: a, run: yes }]", "write `true`, without quotes"),
            (
                "[{ tool: a, error: declined }]",
                "write `{ type: RuntimeError, text: declined }`",
            ),
            ("[{ tool: a, error: { text: t } }]", "an error needs `type`"),
            ("[{ tool: a, error: { type: t } }]", "an error needs `text`"),
            (
                "[{ tool: a, error: { type: t, text: t, code: 1 } }]",
                "unknown key `code`",
            ),
            (
                "[{ tool: a, result: 123456789012345678901 }]",
                "is no whole number that can be kept exactly",
            ),
            (
                "[{ tool: a, result: 1 }, { tool: a, result: 2, when: { n: 1 } }]",
                "this answer of `a` can never be given: an earlier one takes all its calls",
            ),
            (
                "[{ tool: a, result: 1, when: { n: 1 } }, { tool: a, run: true, when: { n: 1, m: 2 } }]",
                "can never be given",
            ),
        ] {
            let error = read(answers).unwrap_err();
            assert!(error.contains(said), "{answers}: {error}");
        }
    }
}
