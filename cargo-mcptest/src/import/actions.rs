//! Actions that stand in the texts of an agent: they are read as no calls, and whoever judges the run must know.
//!
//! Forms: mini-swe-agent and smolagents (blocks of code), `ReAct` (`Action:` lines), the tags of open models.

use super::event::{Event, ForeignRun};

/// What begins a call in the texts of models, whatever stands around it.
const TAGS: [&str; 12] = [
    "<tool_call>",
    "<tool_use>",
    "<function=",
    "<function_call",
    "<invoke name=",
    "<execute_",
    "<tool_code>",
    "[TOOL_CALLS]",
    "<|tool_call",
    "<|python_tag|>",
    "<｜tool▁call",
    "```tool_code",
];

/// What the languages of blocks are called that agents run.
const RUN: [&str; 9] = [
    "bash",
    "sh",
    "shell",
    "zsh",
    "console",
    "py",
    "python",
    "mswea_bash_command",
    "",
];

/// How the results of actions begin, where they come as the user's words.
const RESULTS: [&str; 10] = [
    "<returncode>",
    "<output>",
    "<observation",
    "<tool_response",
    "<function_result",
    "observation",
    "execution ",
    "exit code",
    "tool result",
    "tool response",
];

/// What says in a prompt that blocks of code are run. That they are wanted alone says nothing.
const RUNS_BLOCKS: [&str; 6] = [
    "bash block",
    "bash code block",
    "shell block",
    "code blob",
    "mswea_bash_command",
    "will be executed",
];

/// The form of what looks like an action in the texts of an agent.
pub(super) fn in_texts(run: &ForeignRun) -> Option<&'static str> {
    let mut events = run.events.iter().peekable();
    let asks = asks_for_blocks(run);
    while let Some(event) = events.next() {
        let Event::Said(text) = event else {
            continue;
        };
        let result = events.peek().and_then(|next| match next {
            Event::User(text) | Event::Turn { text, .. } => Some(text.trim_start().to_lowercase()),
            _ => None,
        });
        let has_result =
            result.is_some_and(|text| RESULTS.iter().any(|begin| text.starts_with(begin)));
        if TAGS.iter().any(|tag| text.contains(tag)) {
            return Some("tags of tool calls");
        }
        if text.lines().any(is_action) {
            return Some("`Action:` lines");
        }
        if (asks || has_result) && has_block(text) {
            return Some("blocks of code");
        }
    }
    None
}

/// Whether the agent was told to write what it wants to have run into blocks of code.
fn asks_for_blocks(run: &ForeignRun) -> bool {
    let told = run.system_prompt.as_deref().into_iter();
    let told = told.chain(run.first_user_text());
    told.map(str::to_lowercase)
        .any(|told| RUNS_BLOCKS.iter().any(|word| told.contains(word)))
}

/// `Action: get_order`, `Action: search[order 7]`, `Action Input: …`; no sentence.
fn is_action(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches('*');
    if line.starts_with("Action Input:") {
        return true;
    }
    let Some(rest) = line.strip_prefix("Action:") else {
        return false;
    };
    let rest = rest.trim().trim_matches(['*', '`']).trim();
    let name = rest.split(['[', '(', '{']).next().unwrap_or_default();
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let is_named = !name.is_empty() && name.chars().all(is_name);
    let is_identifier = name.contains('_') && name.len() == rest.len();
    let has_arguments = rest.len() > name.len() && rest.ends_with([']', ')', '}']);
    is_named && (has_arguments || is_identifier) || rest.starts_with('{')
}

fn has_block(text: &str) -> bool {
    if text.contains("<code>") && text.contains("</code>") {
        return true;
    }
    let mut fences = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("```"));
    fences
        .next()
        .is_some_and(|language| RUN.contains(&language.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(system: &str, said: &str, then: &str) -> Option<&'static str> {
        let mut run = ForeignRun {
            system_prompt: Some(system.to_owned()),
            ..ForeignRun::default()
        };
        run.user("Fix it.".to_owned());
        run.said(said.to_owned());
        run.user(then.to_owned());
        in_texts(&run)
    }

    #[test]
    fn actions_are_known_by_their_form() {
        let block = "I look.\n```bash\ncat a.py\n```";
        for (system, said, then, expected) in [
            (
                "Answer with one bash block.",
                block,
                "",
                Some("blocks of code"),
            ),
            (
                "",
                block,
                "<returncode>0</returncode>",
                Some("blocks of code"),
            ),
            (
                "",
                "Thought: it\n<code>\nfind(1)\n</code>",
                "Observation:\nlost",
                Some("blocks of code"),
            ),
            (
                "",
                "Thought: I look.\nAction: get_order\nAction Input: {\"order\": 7}",
                "",
                Some("`Action:` lines"),
            ),
            ("", "Action: search[order 7]", "", Some("`Action:` lines")),
            (
                "",
                "Action:\n```json\n{\"action\": \"find\"}\n```",
                "",
                None,
            ),
            (
                "",
                "<tool_call>{\"name\": \"find\"}</tool_call>",
                "",
                Some("tags of tool calls"),
            ),
            (
                "",
                "<function=find><parameter=q>1</parameter></function>",
                "",
                Some("tags of tool calls"),
            ),
            // What a user is told to run is no action, and no code that the user shows.
            (
                "Put all code into a code block.",
                block,
                "```bash\nls\n```",
                None,
            ),
            ("You help people.", block, "It works, thank you.", None),
            ("You help people.", "Action: call the bank.", "", None),
            ("You help people.", "Order 7 is lost.", "", None),
        ] {
            assert_eq!(told(system, said, then), expected, "{said}");
        }
    }
}
