//! Reading what an agent was asked: `prompt:` or `turns:`.

use super::fields::Fields;
use super::problems::Problems;
use crate::model::Prompt;
use crate::{Diagnostic, Node, Spanned};

pub(super) fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Prompt> {
    let single = fields.either(["prompt", "user_prompt"], problems);
    let turns = fields.entry("turns");
    match (single, turns) {
        (Some(single), None) => problems.non_blank_text(&single.value).map(Prompt::Single),
        (None, Some(turns)) => {
            let items = problems.items(&turns.value, "user turns")?;
            let turns: Vec<_> = items.iter().map(|item| turn(item, problems)).collect();
            turns.into_iter().collect::<Option<_>>().map(Prompt::Turns)
        }
        (Some(single), Some(turns)) => {
            problems.push(
                Diagnostic::new(format!(
                    "`{}` and `turns` both say what the user says",
                    single.key
                ))
                .label(turns.key_span, "several turns")
                .secondary_label(single.key_span, "one turn")
                .help("keep one of the two"),
            );
            None
        }
        (None, None) => {
            let problem = Diagnostic::at(fields.span, "an agent needs `prompt` or `turns`")
                .help("say what the agent was asked: `prompt: What is the weather in Oslo?`");
            fields.missing(&["prompt", "user_prompt", "turns"], problem, problems);
            None
        }
    }
}

/// A user turn: text, `{ user: text }` or `{ role: user, content: text }`.
fn turn(node: &Node, problems: &mut Problems) -> Option<Spanned<String>> {
    if node.entries().is_none() {
        return problems.non_blank_text(node);
    }
    let mut fields = Fields::open(node, "a user turn", problems)?;
    if let Some(role) = fields.get("role") {
        problems.choice(role, "role", &[("user", ())]);
    }
    let text = fields.either(["user", "content"], problems);
    if text.is_none() && !fields.misspells(&["user", "content"]) {
        problems.push(
            Diagnostic::at(fields.span, "a user turn needs `user`, its text")
                .help("write `user: …`, or the text alone"),
        );
    }
    fields.finish(problems);
    problems.non_blank_text(&text?.value)
}
