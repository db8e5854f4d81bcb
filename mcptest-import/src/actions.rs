//! Actions that stand in the texts of an agent: they are read as no calls, and whoever judges the run must know.

use mcptest_trace::trace::{runs_blocks, text_call_form};

use crate::event::{Event, ForeignRun};

/// The form of what looks like an action in the texts of an agent.
pub(crate) fn find_in_run(run: &ForeignRun) -> Option<&'static str> {
    let prompt = run.system_prompt.as_deref().into_iter();
    let runs_blocks = runs_blocks(prompt.chain(run.first_user_text()));
    let next = run.events.iter().skip(1).map(Some).chain([None]);
    let mut texts = run.events.iter().zip(next);
    texts.find_map(|(event, next)| {
        let Event::Said(text) = event else {
            return None;
        };
        let next = next.and_then(|next| match next {
            Event::User(text) | Event::Turn { text, .. } => Some(text.as_str()),
            _ => None,
        });
        text_call_form(text, next, runs_blocks)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect_form(system: &str, said: &str, then: &str) -> Option<&'static str> {
        let mut run = ForeignRun {
            system_prompt: Some(system.to_owned()),
            ..ForeignRun::default()
        };
        run.push_user("Fix it.".to_owned());
        run.push_assistant(said.to_owned());
        run.push_user(then.to_owned());
        find_in_run(&run)
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
            assert_eq!(detect_form(system, said, then), expected, "{said}");
        }
    }
}
