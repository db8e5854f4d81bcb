//! The options of the gate: what may differ, and what may not be ignored.

use mcptest_suite::model::{OwnAnswer, OwnReply};
use mcptest_suite::{Diagnostic, Node, Spanned};
use regex::Regex;
use serde_json::{Value, json};

use crate::eval::{DivergenceKind, IgnoredPath, PlaybackOptions};
use crate::gate::Options;
use crate::gate::block::Block;
use crate::gate::form::CustomForm;
use crate::gate::key::{Key, Keyed, Range};

impl Options for PlaybackOptions {
    const SAYS: &'static str = "The agent's own code runs against each recording, and still does what was recorded. The agent needs `command:` or an async function. Default: playback.passed >= 1.";

    const EXAMPLE: &'static str = "playback: {}";

    // Whether code does what was recorded is no matter of degree.
    const CALIBRATED_BY: Option<&'static str> = None;
}

impl Keyed for PlaybackOptions {
    const KEYS: &'static [Key<Self>] = &[
        Key::form(
            "ignore",
            &CustomForm {
                schema: kinds_schema,
                read: read_ignore,
            },
        )
        .says("The kinds of differences that are allowed."),
        Key::form(
            "ignore_paths",
            &CustomForm {
                schema: texts_schema,
                read: read_ignore_paths,
            },
        )
        .says("The paths of values that may differ, for example `parameters.seed`."),
        Key::form(
            "mask",
            &CustomForm {
                schema: texts_schema,
                read: read_mask,
            },
        )
        .says("Regular expressions. Their matches are blanked in the recording and in the code's requests before both are compared."),
        Key::number("timeout_s", Range::Above0, |options: &mut Self| {
            &mut options.timeout_s
        })
        .says("The most seconds that a played run may take."),
        Key::flag("gates", |options: &mut Self| &mut options.gates).says(
            "Whether the agent's `expect:` and its gates that judge run by run must also hold for the played run.",
        ),
        Key::form(
            "run",
            &CustomForm {
                schema: tools_schema,
                read: read_run,
            },
        )
        .says("The tools of the agent's own that run for real while a run is played. `['*']`: all of them. Default: none runs."),
    ];

    fn default_options() -> Self {
        Self::suite_default()
    }

    fn check(&mut self, block: &mut Block<'_, '_>, whole: bool) -> bool {
        let mut kinds = DivergenceKind::ALL.into_iter();
        let ignores_all = kinds.all(|kind| !kind.may_be_ignored() || self.ignore.contains(&kind));
        if self.gates || !ignores_all {
            return whole;
        }
        let message = "`ignore` names all that can be ignored and `gates` is false, so nothing that the agent says or does would be judged";
        block.problems.push(
            Diagnostic::at(block.span, message)
                .help("remove from `ignore` what must not change, or remove `gates: false`"),
        );
        false
    }
}

fn ignorable() -> impl Iterator<Item = &'static str> {
    let kinds = DivergenceKind::ALL.into_iter();
    kinds
        .filter(|kind| kind.may_be_ignored())
        .map(DivergenceKind::as_str)
}

fn kinds_schema() -> Value {
    let words: Vec<&str> = ignorable().collect();
    json!({ "type": "array", "items": { "enum": words } })
}

fn texts_schema() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

fn tools_schema() -> Value {
    json!({ "type": "array", "minItems": 1, "items": { "type": ["string", "number"] } })
}

fn read_run(block: &mut Block<'_, '_>, node: &Node, options: &mut PlaybackOptions) -> bool {
    let before = block.problems.noted();
    for tool in block.problems.texts(node, "tools of the agent's own") {
        if options.run.contains(&tool.value) {
            let message = format!("`{}` stands here twice", tool.value);
            block
                .problems
                .push(Diagnostic::at(tool.span, message).help("name it once"));
            continue;
        }
        let is_answered = |entry: &&Spanned<OwnAnswer>| {
            let is_named = tool.value == "*" || entry.value.tool == tool.value;
            is_named && entry.value.reply != OwnReply::Run
        };
        if let Some(entry) = block.agent.answers.iter().find(is_answered) {
            let answered = &entry.value.tool;
            let message = format!(
                "`{answered}` is answered by the suite, so it cannot run while a run is played"
            );
            let help = if tool.value == "*" {
                "name the tools that run"
            } else {
                "remove the tool from one of the two, or write `run: true` in its answers"
            };
            block.problems.push(
                Diagnostic::new(message)
                    .label(tool.span, "runs for real")
                    .secondary_label(entry.span, "never runs")
                    .help(help),
            );
        }
        options.run.push(tool.value);
    }
    block.problems.noted() == before
}

fn read_ignore(block: &mut Block<'_, '_>, node: &Node, options: &mut PlaybackOptions) -> bool {
    let before = block.problems.noted();
    for item in block.problems.items(node, "kinds").into_iter().flatten() {
        let Some(word) = block.problems.non_blank_text(item) else {
            continue;
        };
        let mut kinds = DivergenceKind::ALL.into_iter();
        let kind = kinds.find(|kind| kind.may_be_ignored() && kind.as_str() == word.value);
        if let Some(kind) = kind {
            options.ignore.insert(kind);
            continue;
        }
        let all = ignorable().collect::<Vec<&str>>().join("`, `");
        let known = DivergenceKind::ALL.map(DivergenceKind::as_str);
        let message = if known.contains(&word.value.as_str()) {
            format!("`{}` cannot be ignored; `ignore` takes `{all}`", word.value)
        } else {
            format!("`ignore` takes `{all}`, found `{}`", word.value)
        };
        let mut problem = Diagnostic::at(item.span, message);
        if let Some(near) = mcptest_suite::nearest(&word.value, ignorable()) {
            problem = problem.help(format!("did you mean `{near}`?"));
        }
        block.problems.push(problem);
    }
    block.problems.noted() == before
}

fn read_ignore_paths(
    block: &mut Block<'_, '_>,
    node: &Node,
    options: &mut PlaybackOptions,
) -> bool {
    let before = block.problems.noted();
    for item in block.problems.items(node, "paths").into_iter().flatten() {
        let Some(text) = block.problems.non_blank_text(item) else {
            continue;
        };
        match text.value.parse::<IgnoredPath>() {
            Ok(path) => options.ignore_paths.push(path),
            Err(error) => {
                let help = "write e.g. `tool_results[*].looked_up` or `parameters.seed`";
                block
                    .problems
                    .push(Diagnostic::at(item.span, error.to_string()).help(help));
            }
        }
    }
    block.problems.noted() == before
}

/// Texts that have nothing in common: masks that make two of them one text would make any two texts one.
const UNLIKE: [&str; 6] = [
    "Refund order 7, please.",
    "You are a clerk at the desk of orders.",
    "Error: there is no such customer",
    "{\"status\":\"delivered\",\"total\":18.5}",
    "zwei\nZeilen: ja",
    "ok",
];

/// Whether masks leave nothing to compare of most texts.
pub(super) fn hides_all(masks: &[Regex]) -> bool {
    let rest = UNLIKE.map(|text| {
        let masked = masks.iter().fold(text.to_owned(), |text, mask| {
            mask.replace_all(&text, "\u{0}").into_owned()
        });
        let letters = masked.chars().filter(|letter| letter.is_alphanumeric());
        // A few letters that are left tell no text from another.
        letters.count() * 4 < text.chars().count()
    });
    rest.into_iter().filter(|hidden| *hidden).count() * 2 >= UNLIKE.len()
}

fn read_mask(block: &mut Block<'_, '_>, node: &Node, options: &mut PlaybackOptions) -> bool {
    let before = block.problems.noted();
    let mut masks: Vec<Regex> = Vec::new();
    let items = block.problems.items(node, "regular expressions");
    for item in items.into_iter().flatten() {
        let Some(text) = block.problems.non_blank_text(item) else {
            continue;
        };
        let text = text.value;
        let problem = match Regex::new(&text) {
            Err(error) => {
                let words = error.to_string();
                let last = words.lines().last().unwrap_or_default();
                let last = last.trim_start_matches("error: ");
                Diagnostic::at(
                    item.span,
                    format!("`{text}` is no regular expression: {last}"),
                )
            }
            Ok(mask) if mask.as_str().is_empty() => {
                Diagnostic::at(item.span, "an empty mask blanks nothing").help("leave it out")
            }
            Ok(mask) => {
                masks.push(mask);
                if !hides_all(&masks) {
                    options.mask.push(text);
                    continue;
                }
                let message = if masks.len() == 1 {
                    format!(
                        "`{text}` matches nearly all of a text, so hardly anything would be compared"
                    )
                } else {
                    format!(
                        "with `{text}` the masks match nearly all of a text, so hardly anything would be compared"
                    )
                };
                Diagnostic::at(item.span, message)
                    .help("match only what changes from day to day, such as `\\d{4}-\\d{2}-\\d{2}`")
            }
        };
        block.problems.push(problem);
    }
    block.problems.noted() == before
}

#[cfg(test)]
mod tests {
    use crate::parse_suite;

    fn refused(block: &str) -> Option<String> {
        let text = format!("agents:\n- name: a\n  model: m\n  prompt: p\n  playback: {block}\n");
        let source = mcptest_suite::Source::new("a.yml", "a.yml", text);
        let error = parse_suite(source).err()?;
        Some(error.problems()[0].message.clone())
    }

    #[test]
    fn a_mask_that_hides_what_is_compared_is_refused() {
        for mask in [
            "'.*'",
            "'(?s).*'",
            "'[^x]'",
            "'[A-Z].*', '[a-z]'",
            "'\\w+', '\\W+'",
        ] {
            let told = refused(&format!("{{ mask: [{mask}] }}")).unwrap();
            assert!(
                told.contains("hardly anything would be compared"),
                "{mask}: {told}"
            );
        }
        for mask in [
            "'\\d{4}-\\d{2}-\\d{2}'",
            "'\\d+'",
            "'[0-9a-f]{8,}'",
            "'Today is .*'",
        ] {
            assert_eq!(refused(&format!("{{ mask: [{mask}] }}")), None, "{mask}");
        }
    }

    #[test]
    fn what_no_option_takes_is_refused_with_what_it_takes() {
        for (block, told) in [
            (
                "{ ignore: [another_call] }",
                "`another_call` cannot be ignored; `ignore` takes `system_prompt`, `tools`, `user_turns`, `assistant_turns`, `tool_results`, `parameters`, `final_response`",
            ),
            (
                "{ ignore: [tool_result] }",
                "`ignore` takes `system_prompt`, `tools`, `user_turns`, `assistant_turns`, `tool_results`, `parameters`, `final_response`, found `tool_result`",
            ),
            (
                "{ ignore_paths: ['tool_results[*]'] }",
                "`tool_results[*]` is the whole list: write `ignore: [tool_results]`",
            ),
            (
                "{ gates: false, ignore: [system_prompt, tools, user_turns, assistant_turns, tool_results, parameters, final_response] }",
                "`ignore` names all that can be ignored and `gates` is false, so nothing that the agent says or does would be judged",
            ),
            (
                "{ ignore_paths: [results.a] }",
                "a path begins with one of `tool_results`, `assistant_turns`, `parameters`, `tools`, `user_turns`, and `results.a` does not",
            ),
            (
                "{ mask: ['('] }",
                "`(` is no regular expression: unclosed group",
            ),
            ("{ timeout_s: 0 }", "expected a number above 0"),
        ] {
            let found = refused(block).unwrap();
            assert!(found.contains(told), "{found}");
        }
        for block in [
            "{}",
            "{ gates: false }",
            "{ ignore: [system_prompt, tools, user_turns, assistant_turns, tool_results, parameters, final_response] }",
            "{ gates: false, ignore: [system_prompt, tools, user_turns, tool_results, parameters, final_response] }",
            "{ ignore_paths: ['tool_results[*].at', 'tool_results[0]'] }",
        ] {
            assert_eq!(refused(block), None, "{block}");
        }
    }

    #[test]
    fn a_tool_that_the_suite_answers_does_not_run() {
        for (answers, block, told) in [
            ("[]", "{ run: [refund], gates: false }", None),
            (
                "[{ tool: refund, run: true }]",
                "{ run: [refund, '*'] }",
                None,
            ),
            (
                "[{ tool: refund, result: 1 }]",
                "{ run: [get_order] }",
                None,
            ),
            (
                "[{ tool: refund, result: 1, times: 1 }, { tool: refund, run: true }]",
                "{ run: [refund] }",
                Some("`refund` is answered by the suite, so it cannot run while a run is played"),
            ),
            (
                "[{ tool: refund, result: 1 }]",
                "{ run: ['*'] }",
                Some("`refund` is answered by the suite, so it cannot run while a run is played"),
            ),
            (
                "[]",
                "{ run: [] }",
                Some("this list of tools of the agent's own is empty"),
            ),
            (
                "[]",
                "{ run: [''] }",
                Some("expected text, found empty text"),
            ),
            ("[]", "{ run: [a, a] }", Some("`a` stands here twice")),
            (
                "[]",
                "{ run: refund }",
                Some("expected a list of tools of the agent's own, found the text `refund`"),
            ),
        ] {
            let answers = match answers {
                "[]" => String::new(),
                answers => format!("\n  answers: {answers}"),
            };
            let found = refused(&format!("{block}{answers}"));
            assert_eq!(found.as_deref(), told, "{block}{answers}");
        }
    }
}
