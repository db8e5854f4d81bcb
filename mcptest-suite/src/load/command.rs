//! Reading `command:` and what goes with it: the agent's own program.

use mcptest_trace::text::variable_name;

use super::fields::Fields;
use super::problems::Problems;
use crate::model::AgentCommand;
use crate::{Diagnostic, Spanned};

/// What only means something beside `command:`.
const BESIDE: [&str; 3] = ["closing", "before", "cwd"];

/// The agent's own program, where there is one.
pub(super) fn read(
    fields: &mut Fields<'_>,
    servers: &[Spanned<String>],
    problems: &mut Problems,
) -> Option<AgentCommand> {
    let node = fields.get("command");
    let beside = BESIDE.map(|key| fields.entry(key));
    let Some(node) = node else {
        for entry in beside.into_iter().flatten() {
            let message = format!("`{}` does nothing without `command`", entry.key);
            problems.push(
                Diagnostic::at(entry.key_span, message).help(
                    "add the program that runs the agent, e.g. `command: [python, agent.py]`",
                ),
            );
        }
        return None;
    };
    check_servers(servers, problems);
    let command = program(node, problems);
    let [closing, before, cwd] = beside;
    let closing_is_stdout = closing.and_then(|entry| {
        let words = [("stdout", true), ("model", false)];
        problems.choice(&entry.value, "closing", &words)
    });
    let before = before.and_then(|entry| program(&entry.value, problems));
    let cwd = cwd.and_then(|entry| problems.path(&entry.value));
    Some(AgentCommand {
        command: command?,
        span: node.span,
        closing_is_stdout: closing_is_stdout.unwrap_or_default(),
        before,
        cwd,
        folder: None,
    })
}

/// Each server's address is in a variable of its own.
fn check_servers(servers: &[Spanned<String>], problems: &mut Problems) {
    for (place, server) in servers.iter().enumerate() {
        let own = variable_name(&server.value);
        let mut before = servers[..place].iter();
        let is_shared = |other: &&Spanned<String>| {
            other.value != server.value && variable_name(&other.value) == own
        };
        if let Some(first) = before.find(is_shared) {
            problems.push(
                Diagnostic::new(format!(
                    "the servers `{}` and `{}` would share one variable: MCPTEST_MCP_{own}",
                    first.value, server.value
                ))
                .label(server.span, "again here")
                .secondary_label(first.span, "first here")
                .help(
                    "rename one of them: the program takes the address of each from its variable",
                ),
            );
        }
    }
}

/// A program and its arguments.
fn program(node: &crate::Node, problems: &mut Problems) -> Option<Vec<String>> {
    if let Some(line) = node.text() {
        let words: Vec<String> = line.split_whitespace().map(ToOwned::to_owned).collect();
        problems.push(
            Diagnostic::at(
                node.span,
                "a program is started without a shell, so write the program and its arguments as a list",
            )
            .help(format!("write `[{}]`", words.join(", "))),
        );
        return None;
    }
    let words = problems.texts(node, "the program and its arguments");
    let words: Vec<String> = words.into_iter().map(|word| word.value).collect();
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use crate::Source;
    use crate::model::Suite;

    fn agent(keys: &str) -> Result<Suite, String> {
        let text = format!("agents: [{{ name: a, model: m, prompt: p, narrative: {{}}, {keys} }}]");
        Suite::parse(Source::new("a.yml", "a.yml", text)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_command_is_a_program_with_its_arguments() {
        let suite = agent(
            "command: [python, agent.py, 7], closing: stdout, before: [sh, reset.sh], cwd: ../work",
        );
        let suite = suite.unwrap();
        let command = suite.agents[0].command.as_ref().unwrap();
        assert_eq!(command.command, ["python", "agent.py", "7"]);
        assert!(command.closing_is_stdout);
        assert_eq!(command.before.as_ref().unwrap()[1], "reset.sh");
        assert_eq!(command.cwd.as_ref().unwrap().value, "../work");
        assert!(agent("runs: 1").unwrap().agents[0].command.is_none());
    }

    #[test]
    fn a_line_of_a_shell_and_what_does_nothing_is_refused() {
        for (keys, said) in [
            ("command: python agent.py", "write `[python, agent.py]`"),
            ("command: []", "is empty"),
            (
                "closing: stdout",
                "`closing` does nothing without `command`",
            ),
            (
                "before: [sh, reset.sh]",
                "`before` does nothing without `command`",
            ),
            ("cwd: ../work", "`cwd` does nothing without `command`"),
            (
                "command: [a], cwd: /tmp/work",
                "`/tmp/work` is not relative to the suite",
            ),
            (
                "command: [a], cwd: 'C:\\work'",
                "is not relative to the suite",
            ),
            (
                "command: [a], cwd: '..\\work'",
                "write `../work`: every system reads it",
            ),
            ("command: [a], cwd: ''", "found empty text"),
            ("command: [a], closing: stdot", "did you mean `stdout`?"),
            (
                "command: [a], servers: [desk 2, desk-2]",
                "the servers `desk 2` and `desk-2` would share one variable: MCPTEST_MCP_DESK_2",
            ),
        ] {
            let error = agent(keys).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
