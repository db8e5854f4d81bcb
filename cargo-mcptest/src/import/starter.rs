//! A suite for runs that have none: what was asked of whom, and what all runs share.
//!
//! Nothing in it is guessed: a demand is what every run does, with the runs it comes from beside it.

mod arguments;
#[cfg(test)]
mod arguments_tests;
mod ending;
mod gate;
#[cfg(test)]
mod limits_tests;
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

use std::path::Path;

use mcptest::eval::KnownTools;
use mcptest::trace::Run;
use mcptest_suite::model::{Prompt, Suite};
use mcptest_suite::{LoadError, Source};
use serde_json::Value;

pub(super) use self::suspects::Suspect;
use self::text::{comment, common, list, quoted};
pub(super) use self::tools::Tools;

/// The largest suite that is proposed, in bytes: reading one back takes seventy times as much memory.
const LARGEST: usize = 2 << 20;

/// The most runs of an agent, and the most of their bytes, that gates are made of; of more, only what
/// all call.
const MOST_RUNS: usize = 200;
const MOST_BYTES: usize = 8 << 20;

/// An agent of the suite, as its runs show it.
#[derive(Debug, Default)]
pub(super) struct Entry {
    name: String,
    models: Vec<String>,
    servers: Vec<String>,
    /// One text, or one a turn.
    prompts: Vec<String>,
    system_prompt: String,
    runs: usize,
    /// Runs of the model that is looked at.
    of_model: usize,
    /// The calls that all runs make, in their order.
    shared: Option<Vec<String>>,
    fewest: Option<(usize, usize)>,
    most: Option<(usize, usize)>,
    /// The runs themselves, while they are few.
    whole: Whole,
}

/// A run that looks bad, and its model.
type OfModel = (String, Suspect);

/// The runs of an agent, as long as they are few enough.
#[derive(Debug, Default)]
struct Whole {
    runs: Vec<Run>,
    /// The days of their recording.
    days: Vec<Option<String>>,
    bytes: usize,
    too_many: bool,
}

impl Whole {
    /// A run as it is read back, and its bytes.
    fn add(&mut self, read: Option<(Run, usize)>, recorded_at: Option<&str>) {
        if self.too_many {
            return;
        }
        self.bytes += read.as_ref().map_or(0, |(_, bytes)| *bytes);
        match read {
            Some((run, _)) if self.runs.len() < MOST_RUNS && self.bytes <= MOST_BYTES => {
                self.runs.push(run);
                let day = recorded_at.and_then(|time| time.get(.."2026-01-31".len()));
                self.days.push(day.map(str::to_owned));
            }
            _ => {
                self.too_many = true;
                self.runs = Vec::new();
                self.days = Vec::new();
            }
        }
    }

    /// The gates that they carry.
    fn gates(&self, tools: &Tools, suspects: &[OfModel]) -> Option<String> {
        let suspects: Vec<Suspect> = suspects
            .iter()
            .map(|(_, suspect)| suspect.clone())
            .collect();
        if self.too_many {
            None
        } else {
            recipe::gates(&self.runs, &self.days, tools, &suspects)
        }
    }
}

impl Entry {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Begins the runs of a model.
    pub(super) fn model(&mut self, model: &str) {
        self.models.push(model.to_owned());
        self.of_model = 0;
    }

    /// Takes a run into account: as it is written, and as it is read back.
    pub(super) fn add(&mut self, run: &Value, read: Option<(Run, usize)>, by_task: bool) {
        self.of_model += 1;
        self.whole.add(read, run["recorded_at"].as_str());
        self.runs = self.runs.max(self.of_model);
        if self.prompts.is_empty() {
            self.prompts = prompts(run, by_task);
            let system = run["system_prompt"].as_str();
            system
                .unwrap_or_default()
                .clone_into(&mut self.system_prompt);
        }
        // Where users went on differently, the suite says how they began.
        if self.prompts.len() > 1 && prompts(run, by_task) != self.prompts {
            self.prompts.truncate(1);
        }
        let calls = run["trace"]["tool_calls"].as_array();
        let calls = calls.map_or(&[][..], Vec::as_slice);
        for call in calls {
            if let Some(server) = call["server"].as_str()
                && !self.servers.iter().any(|known| known == server)
            {
                self.servers.push(server.to_owned());
            }
        }
        let names: Vec<String> = calls
            .iter()
            .filter_map(|call| Some(call["name"].as_str()?.to_owned()))
            .collect();
        let here = (names.len(), self.of_model);
        if self.fewest.is_none_or(|(fewest, _)| here.0 < fewest) {
            self.fewest = Some(here);
        }
        if self.most.is_none_or(|(most, _)| here.0 > most) {
            self.most = Some(here);
        }
        self.shared = Some(match self.shared.take() {
            None => names,
            Some(shared) => common(&shared, &names),
        });
    }

    /// Its runs that look bad, each with its model.
    fn suspects(&self, tools: &Tools) -> Vec<OfModel> {
        let of_model = self
            .whole
            .runs
            .chunk_by(|one, next| one.model == next.model);
        let suspects = of_model.flat_map(|runs| {
            let found = suspects::of(runs, &KnownTools::of_runs(runs), tools);
            found
                .into_iter()
                .map(|suspect| (runs[0].model.clone(), suspect))
        });
        suspects.collect()
    }

    fn text(&self, tools: &Tools, suspects: &[OfModel]) -> String {
        let mut servers = self.servers.clone();
        servers.sort();
        let mut text = format!("  - name: {}\n", quoted(&self.name));
        match self.models.as_slice() {
            [model] => text.push_str(&format!("    model: {}\n", quoted(model))),
            models => text.push_str(&format!("    models: {}\n", list(models))),
        }
        if !servers.is_empty() {
            text.push_str(&format!("    servers: {}\n", list(&servers)));
        }
        match self.prompts.as_slice() {
            [prompt] => text.push_str(&format!("    prompt: {}\n", quoted(prompt))),
            turns => {
                text.push_str("    turns:\n");
                for turn in turns {
                    text.push_str(&format!("      - {}\n", quoted(turn)));
                }
            }
        }
        if !self.system_prompt.is_empty() {
            let prompt = quoted(&self.system_prompt);
            text.push_str(&format!("    system_prompt: {prompt}\n"));
        }
        text.push_str(&format!("    runs: {}\n", self.runs));
        // Gates judge the runs of each model, and what those of one share says nothing of another's.
        let gates = if self.models.len() == 1 {
            self.whole.gates(tools, suspects)
        } else {
            None
        };
        text.push_str(&gates.unwrap_or_else(|| self.demand()));
        text
    }

    /// What holds of all runs.
    fn demand(&self) -> String {
        let runs = match self.runs {
            1 => "run-1".to_owned(),
            runs => format!("run-1..run-{runs}"),
        };
        let shared = self.shared.as_deref().unwrap_or_default();
        if shared.is_empty() {
            let (fewest, least) = self.fewest.unwrap_or_default();
            let (most, largest) = self.most.unwrap_or_default();
            let (comment, matcher) = if fewest == most {
                (format!("each makes {most} calls"), format!("exact: {most}"))
            } else {
                (
                    format!(
                        "from {fewest} (run-{least}) to {most} (run-{largest}) calls, and all share none"
                    ),
                    format!("between: [{fewest}, {most}]"),
                )
            };
            return format!(
                "    # {runs}: {comment}\n    expect:\n      - target: tool_calls.length\n        matcher: {{ {matcher} }}\n"
            );
        }
        let mut names: Vec<&str> = shared.iter().map(String::as_str).collect();
        names.dedup();
        let verb = if self.runs == 1 { "calls" } else { "all call" };
        let names: Vec<String> = names.iter().map(|name| comment(name)).collect();
        let mut text = format!("    # {runs}: {verb} {}\n", names.join(", "));
        text.push_str("    trajectory:\n      mode: subsequence\n      calls:\n");
        for name in shared {
            text.push_str(&format!("        - name: {}\n", quoted(name)));
        }
        text
    }
}

/// What the user says: every turn, where the words are those of the suite and not of a simulation.
fn prompts(run: &Value, by_task: bool) -> Vec<String> {
    let first = run["user_prompt"].as_str().unwrap_or_default().to_owned();
    let turns = run["trace"]["conversation"]["turns"].as_array();
    let turns = turns.into_iter().flatten();
    let users: Vec<String> = turns
        .filter(|turn| turn["role"] == "user")
        .filter_map(|turn| Some(turn["content"].as_str()?.to_owned()))
        .collect();
    if by_task || users.len() < 2 || users.first() != Some(&first) {
        return vec![first];
    }
    users
}

/// The suite as it grows.
#[derive(Debug, Default)]
pub(super) struct Starter {
    text: String,
    tools: Tools,
    /// What was written of each agent, to be compared with what is read back.
    written: Vec<(String, Vec<String>, String, usize)>,
    too_large: bool,
}

impl Starter {
    pub(super) fn new(tools: Tools) -> Self {
        Self {
            tools,
            ..Self::default()
        }
    }

    /// The tools of the import.
    pub(super) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Takes an agent up, as an entry of the suite where that lacks it, and says which of its runs look
    /// bad.
    pub(super) fn add(&mut self, entry: Entry, lacked: bool) -> Vec<OfModel> {
        let suspects = entry.suspects(&self.tools);
        if lacked && entry.runs > 0 && !self.too_large {
            self.write(entry, &suspects);
        }
        suspects
    }

    fn write(&mut self, entry: Entry, suspects: &[OfModel]) {
        let text = entry.text(&self.tools, suspects);
        if self.text.len() + text.len() > LARGEST {
            *self = Self {
                too_large: true,
                tools: std::mem::take(&mut self.tools),
                ..Self::default()
            };
            return;
        }
        self.text.push_str(&text);
        let Entry {
            name,
            prompts,
            system_prompt,
            runs,
            ..
        } = entry;
        self.written.push((name, prompts, system_prompt, runs));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty() && !self.too_large
    }

    /// The entries, to be put below `agents:`.
    ///
    /// # Errors
    ///
    /// There are too many.
    pub(super) fn entries(&self) -> Result<&str, String> {
        if self.too_large {
            return Err(format!(
                "it would have more than {LARGEST} bytes; group runs that belong together with `--group-by`"
            ));
        }
        Ok(&self.text)
    }

    /// The suite, read back and found to say what it should.
    ///
    /// # Errors
    ///
    /// Why it cannot be written.
    pub(super) fn suite(&self, path: &Path, shown: &str) -> Result<String, String> {
        let entries = self.entries()?;
        let text = format!(
            "# Written by `cargo mcptest import`; what it demands is what the runs do.\n{}agents:\n{entries}",
            self.tools.head(entries)
        );
        let read: Result<Suite, LoadError> =
            mcptest::parse_suite(Source::new(path, shown, text.as_str()));
        let read = read.map_err(|error| error.to_string())?;
        let same = read.agents.len() == self.written.len()
            && read
                .agents
                .iter()
                .zip(&self.written)
                .all(|(agent, written)| {
                    let prompts: Vec<&str> = match &agent.prompt {
                        Prompt::Single(text) => vec![&text.value],
                        Prompt::Turns(turns) => turns.iter().map(|it| it.value.as_str()).collect(),
                    };
                    let system = agent
                        .system_prompt
                        .as_ref()
                        .map_or("", |it| it.value.as_str());
                    agent.name.value == written.0
                        && prompts == written.1
                        && system == written.2
                        && agent.runs.value == written.3
                });
        if same {
            Ok(text)
        } else {
            Err("a text of it does not read back as it was written".to_owned())
        }
    }
}
