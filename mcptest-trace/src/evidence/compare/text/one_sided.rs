//! What is on one side only, in words.

use crate::text::{escape_line, truncate};

use crate::evidence::compare::{AgentComparison, Differences, Occurrence};

/// Values of arguments are cut after so many characters.
const VALUE: usize = 40;

/// What is on one side only, on one line; nothing where there is no difference.
pub(super) fn line(agent: &AgentComparison) -> Option<String> {
    let behaviour = agent.behaviour.as_ref()?;
    let Differences {
        new_tools,
        lost_tools,
        new_arguments,
        lost_arguments,
        changed_arguments,
    } = &behaviour.differences;
    let new = |what: &'static str| {
        move |seen: &Occurrence| {
            format!(
                "new {what}{} in {} of {}",
                quoted(&seen.name),
                seen.runs,
                seen.of
            )
        }
    };
    let lost =
        |what: &'static str| move |seen: &Occurrence| format!("lost {what}{}", quoted(&seen.name));
    let mut parts: Vec<String> = new_tools.iter().map(new("")).collect();
    parts.extend(lost_tools.iter().map(lost("")));
    parts.extend(new_arguments.iter().map(new("argument ")));
    parts.extend(lost_arguments.iter().map(lost("argument ")));
    parts.extend(changed_arguments.iter().map(|changed| {
        let [before, now] = [&changed.before, &changed.now].map(|it| quoted(&truncate(it, VALUE)));
        format!("{} was {before}, is {now}", quoted(&changed.name))
    }));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A name or a value from outside, as code.
fn quoted(text: &str) -> String {
    format!("`{}`", escape_line(text).replace('`', "ʼ"))
}
