//! Calls that stand in the texts of an agent: they are read as no calls, and whoever judges the run must know.
//!
//! Forms: mini-swe-agent and smolagents (blocks of code), `ReAct` (`Action:` lines), the tags of open models.

use super::Run;

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
const RESULTS: [&str; 14] = [
    "<returncode>",
    "<output>",
    "<observation",
    "<tool_response",
    "<function_result",
    "<result",
    "observation",
    "execution ",
    "exit code",
    "stdout",
    "output:",
    "command output",
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

impl Run {
    /// The form of what looks like calls in the agent's texts, where the run has no call: who reads them as texts judges
    /// nothing of them. Nothing where an agent had tools and used none.
    ///
    /// ```
    /// use mcptest_trace::trace::{Origin, parse_run};
    ///
    /// let text = r#"{ "schema_version": "v1", "agent_name": "a", "model": "m", "user_prompt": "Where is order 7?", "trace": {
    ///     "tool_calls": [], "final_response": "Action: get_order[7]" } }"#;
    /// let run = parse_run(text.as_bytes(), &Origin::file("run.json"))?;
    /// assert_eq!(run.calls_in_text(), Some("`Action:` lines"));
    /// # Ok::<(), mcptest_trace::trace::CassetteError>(())
    /// ```
    #[must_use]
    pub fn calls_in_text(&self) -> Option<&'static str> {
        if !self.trace.tool_calls.is_empty() {
            return None;
        }
        let told = [self.system_prompt.as_str(), &self.user_prompt];
        // What has tools is answered with code because that was asked for.
        let is_offered = self.tools.as_ref().is_some_and(|tools| !tools.is_empty());
        let runs_blocks = !is_offered && runs_blocks(told);
        let turns = &self.trace.conversation.turns;
        let closing = self.trace.closing().filter(|_| turns.is_empty());
        let turns = turns.iter().map(Some).chain([None]);
        let pairs = turns.clone().zip(turns.skip(1));
        let said = pairs.filter_map(|(turn, next)| Some((turn?, next)));
        let mut said = said.filter(|(turn, _)| turn.is_assistant());
        let of_turn = said.find_map(|(turn, next)| {
            let next = next.filter(|next| !next.is_assistant());
            text_call_form(
                &turn.content,
                next.map(|next| next.content.as_str()),
                runs_blocks,
            )
        });
        of_turn.or_else(|| text_call_form(closing?, None, runs_blocks))
    }
}

/// The form of what looks like a call in a text of an agent, with what was told next. A block of code is one where it is
/// run: something came back from it, or the prompt says so.
#[doc(hidden)]
#[must_use]
pub fn text_call_form(text: &str, next: Option<&str>, runs_blocks: bool) -> Option<&'static str> {
    if TAGS.iter().any(|tag| text.contains(tag)) {
        return Some("tags of tool calls");
    }
    if text.lines().any(is_action) {
        return Some("`Action:` lines");
    }
    let has_result = next.is_some_and(|next| {
        let words = next.trim_start().to_lowercase();
        RESULTS.iter().any(|begin| words.starts_with(begin))
    });
    ((runs_blocks || has_result) && has_block(text)).then_some("blocks of code")
}

/// Whether an agent is told that its blocks of code are run.
#[doc(hidden)]
#[must_use]
pub fn runs_blocks<'t>(told: impl IntoIterator<Item = &'t str>) -> bool {
    let mut told = told.into_iter().map(str::to_lowercase);
    told.any(|told| RUNS_BLOCKS.iter().any(|words| told.contains(words)))
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
    let lines = text.lines().map(str::trim);
    let mut fences = lines.filter_map(|line| line.strip_prefix("```"));
    fences
        .next()
        .is_some_and(|language| RUN.contains(&language.trim()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::trace::{Origin, parse_run};

    fn form_in_run(more: &Value) -> Option<&'static str> {
        let mut run = json!({
            "schema_version": "v1", "agent_name": "a", "model": "m", "user_prompt": "Fix it.", "system_prompt": "",
            "trace": { "tool_calls": [], "conversation": { "turns": [] } },
        });
        for (key, value) in more.as_object().unwrap() {
            match key.as_str() {
                "turns" => {
                    let roles = ["user", "assistant"].into_iter().cycle();
                    let turns = roles.zip(value.as_array().unwrap());
                    let turns = turns.map(|(role, text)| json!({ "role": role, "content": text }));
                    run["trace"]["conversation"]["turns"] = turns.collect();
                }
                "tool_calls" | "final_response" => run["trace"][key] = value.clone(),
                _ => run[key] = value.clone(),
            }
        }
        let text = run.to_string();
        let run = parse_run(text.as_bytes(), &Origin::file("run.json")).unwrap();
        run.calls_in_text()
    }

    #[test]
    fn calls_in_texts_are_known_by_their_form() {
        let block = "I look.\n```bash\ncat a.py\n```";
        let blocks = "Answer with one bash block.";
        for (run, form) in [
            (
                json!({ "system_prompt": blocks, "turns": ["Fix it.", block, "a = 1", "Done."] }),
                "blocks of code",
            ),
            (
                json!({ "turns": ["Fix it.", block, "<returncode>0</returncode>", "Done."] }),
                "blocks of code",
            ),
            (
                json!({ "turns": ["Fix it.", "Thought: I look.\nAction: get_order\nAction Input: {}", "Observation: 7"] }),
                "`Action:` lines",
            ),
            (
                json!({ "final_response": "Action: search[order 7]" }),
                "`Action:` lines",
            ),
            (
                json!({ "turns": ["Fix it.", "<tool_call>{\"name\": \"find\"}</tool_call>"], "tools": ["find(order)"] }),
                "tags of tool calls",
            ),
        ] {
            assert_eq!(form_in_run(&run), Some(form), "{run}");
        }
    }

    #[test]
    fn an_agent_that_rightly_called_nothing_is_none() {
        let block = "Use this:\n```python\nprint(7)\n```";
        for run in [
            json!({ "turns": ["Hello.", "Hello! How can I help?"], "tools": ["find(order)"] }),
            json!({ "final_response": "I cannot do that. Action: call the bank." }),
            json!({ "turns": ["Write it in Python.", block, "Thanks.", "You are welcome."] }),
            // What is asked for as code is the answer.
            json!({ "system_prompt": "Answer in a code block.", "turns": ["Print 7.", block] }),
            json!({ "system_prompt": "Answer in a code block.", "tools": ["find(order)"],
                "turns": ["Print 7.", block, "Thanks.", "Gladly."] }),
            json!({ "turns": ["Fix it.", "<tool_call>", "Observation: 7"], "tool_calls": [{ "name": "find", "args": {} }] }),
        ] {
            assert_eq!(form_in_run(&run), None, "{run}");
        }
    }
}
