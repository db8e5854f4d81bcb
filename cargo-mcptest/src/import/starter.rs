//! A suite for runs that have none: what was asked of whom, and what all runs share.
//!
//! Nothing in it is guessed: a demand is what every run does, with the runs it comes from beside it.

mod arguments;
mod ending;
mod entry;
mod gate;
mod mentions;
mod narrative;
mod order;
mod plan;
mod recipe;
mod shape;
mod suspects;
#[cfg(test)]
mod tests;
mod text;
mod tools;
mod writes;

use std::error::Error;
use std::fmt;
use std::path::Path;

use mcptest::command::CommandName;
use mcptest_suite::model::{Agent, Prompt, Suite};
use mcptest_suite::{LoadError, Source};

pub(super) use self::entry::AgentEntry;
use self::entry::system_prompt_line;
pub(super) use self::suspects::Suspect;
use self::text::comment_text;
pub(super) use self::tools::CalledTools;

/// The largest suite that is proposed, in bytes and in lines: more is not read. A line takes about two
/// kilobytes of memory when it is read back, however short it is.
const LARGEST: usize = 8 << 20;
const LONGEST: usize = 160_000;

/// Why a suite is not proposed.
#[derive(Debug)]
pub(super) enum StarterError {
    /// It would be too large.
    TooLarge,
    /// It cannot be read back.
    Unreadable(LoadError),
    /// It is read back as another suite.
    Differs,
}

impl fmt::Display for StarterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(
                f,
                "it would have more than {LARGEST} bytes or {LONGEST} lines; group runs that belong together with `--group-by`, or import some of the files into a `--suite` of their own"
            ),
            Self::Unreadable(error) => write!(f, "{error}"),
            Self::Differs => {
                f.write_str("one of its texts changes when YAML is written and read again")
            }
        }
    }
}

impl Error for StarterError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreadable(error) => Some(error),
            Self::TooLarge | Self::Differs => None,
        }
    }
}

/// The line that a suite begins with.
fn header_line(name: CommandName) -> String {
    let name = name.words();
    format!("# Written by `{name} import`. It demands what the imported runs do.\n")
}

/// Whether an import wrote a suite, out of runs that it judges.
pub(crate) fn is_first_suite(suite: &Suite) -> bool {
    let mut heads = CommandName::ALL.into_iter().map(header_line);
    heads.any(|head| suite.source.text().starts_with(&head))
}

/// What the suite does with an agent's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryAction {
    /// The suite has one that stays.
    Nothing,
    /// It goes beside those of the suite.
    Beside,
    /// It goes in the place of the suite's.
    InPlace,
}

/// The suite as it grows.
#[derive(Debug, Default)]
pub(super) struct Starter {
    text: String,
    /// Entries that take the place of those of the suite.
    replacing: String,
    tools: CalledTools,
    /// The options of the import that the next one needs too.
    remembered: String,
    /// What was written of each agent, to be compared with what is read back.
    written: Vec<(String, Vec<String>, String, usize)>,
    size: Size,
    too_large: bool,
}

/// How large a suite becomes.
#[derive(Debug, Default)]
struct Size {
    /// Bytes and lines, but for those of system prompts.
    bytes: usize,
    lines: usize,
    /// Bytes of all system prompts.
    prompts: usize,
    /// The one that all agents have so far stands once.
    shared: Option<String>,
    differ: bool,
}

impl Size {
    /// Takes an entry up, and says whether it is too much.
    fn add(&mut self, text: &str, prompt: &str) -> bool {
        let of_prompt = system_prompt_line(prompt).len().min(text.len());
        self.bytes += text.len() - of_prompt;
        self.lines += text.lines().count();
        self.prompts += of_prompt;
        let shared = self.shared.get_or_insert_with(|| prompt.to_owned());
        self.differ |= shared != prompt;
        let prompts = if self.differ { self.prompts } else { of_prompt };
        self.bytes + prompts > LARGEST || self.lines > LONGEST
    }
}

impl Starter {
    pub(super) fn new(tools: CalledTools, remembered: &str) -> Self {
        Self {
            tools,
            remembered: comment_text(remembered),
            ..Self::default()
        }
    }

    /// One with nothing in it, of the same import.
    pub(super) fn for_suite(&self, tools: CalledTools) -> Self {
        Self::new(tools, &self.remembered)
    }

    /// The tools of the import.
    pub(super) fn tools(&self) -> &CalledTools {
        &self.tools
    }

    /// An agent as an entry.
    pub(super) fn entry_text(&self, entry: &AgentEntry) -> String {
        entry.text(&self.tools, &entry.suspects(&self.tools))
    }

    /// Takes an agent up, as an entry of the suite where that lacks it, and says which of its runs look
    /// bad.
    pub(super) fn add(&mut self, entry: AgentEntry, wanted: EntryAction) -> Vec<Suspect> {
        let mut suspects = entry.suspects(&self.tools);
        if wanted == EntryAction::Nothing {
            // Nothing is made of the others.
            for suspect in &mut suspects {
                suspect.aside = false;
            }
        } else if entry.runs > 0 && !self.too_large {
            self.write(entry, wanted, &suspects);
        }
        suspects
    }

    fn write(&mut self, entry: AgentEntry, wanted: EntryAction, suspects: &[Suspect]) {
        let text = entry.text(&self.tools, suspects);
        if self.size.add(&text, &entry.system_prompt) {
            *self = Self {
                too_large: true,
                tools: std::mem::take(&mut self.tools),
                remembered: std::mem::take(&mut self.remembered),
                ..Self::default()
            };
            return;
        }
        if wanted == EntryAction::InPlace {
            self.replacing.push_str(&text);
            return;
        }
        self.text.push_str(&text);
        let AgentEntry {
            name,
            prompts,
            system_prompt,
            runs,
            ..
        } = entry;
        self.written.push((name, prompts, system_prompt, runs));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty() && self.replacing.is_empty() && !self.too_large
    }

    /// The entries that go in the place of those of the suite.
    pub(super) fn replacements(&self) -> &str {
        &self.replacing
    }

    /// The entries, to be put below `agents:`.
    ///
    /// # Errors
    ///
    /// There are too many.
    pub(super) fn entries(&self) -> Result<&str, StarterError> {
        if self.too_large {
            return Err(StarterError::TooLarge);
        }
        Ok(&self.text)
    }

    /// The system prompt that all of several agents have, as a default, and their entries without it.
    fn extract_defaults(&self, entries: &str) -> (String, String) {
        let mut prompts = self.written.iter().map(|(_, _, prompt, _)| prompt);
        match prompts.next() {
            Some(first)
                if self.written.len() > 1 && !first.is_empty() && prompts.all(|it| it == first) =>
            {
                let line = system_prompt_line(first);
                let rest = entries.replace(&format!("    {line}"), "");
                (format!("defaults:\n  {line}"), rest)
            }
            _ => (String::new(), entries.to_owned()),
        }
    }

    /// The suite, read back and found to say what it should.
    ///
    /// # Errors
    ///
    /// Why it cannot be written.
    pub(super) fn suite(&self, path: &Path, shown: &str) -> Result<String, StarterError> {
        let entries = self.entries()?;
        let remembered = match self.remembered.as_str() {
            "" => String::new(),
            options => format!("# The next import needs the same options: {options}\n"),
        };
        let written = header_line(CommandName::current());
        let head = self.tools.header(entries);
        let (defaults, entries) = self.extract_defaults(entries);
        let text = format!("{written}{remembered}{head}{defaults}agents:\n{entries}");
        let read = mcptest::parse_suite(Source::new(path, shown, text.as_str()));
        let read = read.map_err(StarterError::Unreadable)?;
        let said = |agent: &Agent| {
            let prompts = match &agent.prompt {
                Prompt::Single(text) => vec![text.value.clone()],
                Prompt::Turns(turns) => turns.iter().map(|it| it.value.clone()).collect(),
            };
            let system = agent.system_prompt.as_ref().map(|it| it.value.clone());
            let name = agent.name.value.clone();
            (name, prompts, system.unwrap_or_default(), agent.runs.value)
        };
        let same = read
            .agents
            .iter()
            .map(said)
            .eq(self.written.iter().cloned());
        if same {
            Ok(text)
        } else {
            Err(StarterError::Differs)
        }
    }
}
