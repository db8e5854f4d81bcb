//! The options of an import, for who does the next one.

use regex::Regex;

use super::Import;
use crate::import::names::one_line;
use mcptest_import::FormatKind;
use mcptest_import::Subagents;

impl Import {
    /// The options that the next import needs to find the same agents and say the same of their runs. What is long
    /// or secret is left to who wrote it.
    pub(super) fn repeat_options(&self) -> String {
        let it = &self.mapping;
        let texts = [
            ("from", self.from.map(FormatKind::name)),
            ("agent", it.agent.as_deref().map(one_line)),
            ("model", it.model.clone()),
            ("error-if", it.error_if.as_ref().map(Regex::to_string)),
            ("score", it.score.clone()),
            ("pass-at", it.pass_at.map(|reward| reward.to_string())),
        ];
        let lists = [("server", &it.servers), ("group-by", &self.group_by)];
        let lists = lists
            .into_iter()
            .flat_map(|(flag, all)| all.iter().map(move |it| (flag, it.clone())));
        let texts = texts
            .into_iter()
            .filter_map(|(flag, text)| Some((flag, text?)));
        let texts = texts
            .chain(lists)
            .map(|(flag, text)| format!("--{flag} {}", shell_quoted(&text)));
        let switches = [
            ("no-system-prompt", it.no_system_prompt),
            ("estimate-tokens", it.estimate_tokens),
            ("subagents omit", it.subagents == Subagents::Omit),
            ("subagents separate", it.subagents == Subagents::Separate),
            ("run trace", it.trace_is_run()),
            ("prompt …", it.prompt.is_some()),
            ("redact …", !self.redact.is_empty()),
            ("keep-named", self.keep_named),
        ];
        let switches = switches.into_iter().filter(|(_, is_on)| *is_on);
        let options = texts.chain(switches.map(|(flag, _)| format!("--{flag}")));
        options.collect::<Vec<_>>().join(" ")
    }
}

/// A word of a command line, as shells take it.
fn shell_quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
