//! From a file's text to a [`Suite`], with every problem of the file in one go.

mod agent;
mod answers;
pub(crate) mod assertion;
mod bounds;
mod command;
mod defaults;
pub(crate) mod demand;
mod faults;
pub(crate) mod fields;
mod inject;
mod models;
mod named;
mod names;
mod oracle;
mod prices;
pub(crate) mod problems;
mod prompt;
mod regression;
mod run_targets;
pub(crate) mod schema;
pub(crate) mod snapshots;
mod top_level;
pub(crate) mod vacuous;
pub(crate) mod values;
mod variables;

use std::path::Path;

use self::fields::Fields;
use self::problems::Problems;
use crate::model::Suite;
use crate::read::{GateReader, SkippingGateReader};
use crate::{Diagnostic, LoadError, Node, NodeValue, Source, Span, excerpt, parse};

/// The largest suite file that is read, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Kinds of test of the wider grammar that are recognised and not run here.
const OTHER_TESTS: [&str; 9] = [
    "tools",
    "resources",
    "prompts",
    "compliance",
    "evals",
    "compositions",
    "scenarios",
    "conformance",
    "security",
];
/// Keys of the wider grammar that would change agent tests if they were ignored.
const CHANGE_AGENTS: [&str; 3] = ["imports", "defaultTest", "hooks"];

impl Suite {
    /// Reads a suite file. `shown` is the path that messages show. What is in the blocks of gates is
    /// not looked at.
    ///
    /// # Errors
    ///
    /// Every problem of the file, each with its place.
    pub fn read(path: &Path, shown: &str) -> Result<Self, LoadError> {
        Self::parse(Self::open(path, shown)?)
    }

    /// Reads a suite file's text. `shown` is the path that messages show.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is too large, or is no UTF-8.
    pub fn open(path: &Path, shown: &str) -> Result<Source, LoadError> {
        let refuse = |message: String, help: &str| {
            let source = Source::new(path, shown, "");
            LoadError::new(source, vec![Diagnostic::new(message).help(help)])
        };
        let unreadable = |error: std::io::Error| {
            refuse(
                format!("this suite cannot be read: {error}"),
                "check that the file is there and may be read",
            )
        };
        let length = std::fs::metadata(path).map_err(unreadable)?.len();
        if length > MAX_BYTES {
            let message = format!("this suite has {length} bytes; at most {MAX_BYTES} are read");
            return Err(refuse(message, "split it into several files"));
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Source::new(path, shown, text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let good = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
                let source = Source::new(path, shown, good);
                let problem = Diagnostic::at(
                    Span::new(at, at),
                    format!("this suite is not UTF-8: byte {at} belongs to no character"),
                )
                .help("save the file as UTF-8");
                Err(LoadError::new(source, vec![problem]))
            }
        }
    }

    /// Reads a suite from its text. What is in the blocks of gates is not looked at.
    ///
    /// # Errors
    ///
    /// Every problem of the text, each with its place.
    ///
    /// ```
    /// use mcptest_suite::{Source, model::Suite};
    ///
    /// let text = "
    /// agents:
    ///   - name: weather
    ///     model: claude-sonnet-4-5
    ///     prompt: What is the weather in Sacramento?
    ///     runs: 5
    ///     stability: {}
    /// ";
    /// let suite = Suite::parse(Source::new("weather.yml", "weather.yml", text))?;
    /// assert_eq!(suite.agents[0].runs.value, 5);
    /// # Ok::<(), mcptest_suite::LoadError>(())
    /// ```
    pub fn parse(source: Source) -> Result<Self, LoadError> {
        Self::parse_with(source, &mut SkippingGateReader)
    }

    /// Reads a suite from its text. `gates` reads the blocks of gates.
    ///
    /// # Errors
    ///
    /// Every problem of the text, each with its place.
    pub fn parse_with(source: Source, gates: &mut dyn GateReader) -> Result<Self, LoadError> {
        let mut problems = Problems::default();
        let suite = parse::read(&source, &mut problems.0)
            .and_then(|document| read_document(document, &source, gates, &mut problems));
        match suite {
            Some(suite) if problems.0.is_empty() => Ok(suite),
            _ => Err(LoadError::new(source, problems.0)),
        }
    }

    /// The suite with the agents alone whose case names (see [`segment`](crate::segment)) are
    /// wanted, and perhaps some more: those that say `only:`, and those that are not written plainly
    /// enough to be told from them. The others are not looked at, whatever is wrong with them.
    ///
    /// `None` where the whole has to be read: what is wanted is not there or not right, where an agent
    /// begins cannot be told, or the suite is compared with a baseline, which is a matter of all of them.
    ///
    /// ```
    /// use mcptest_suite::{Source, model::Suite, read::GateReader};
    ///
    /// # struct Gates;
    /// # impl GateReader for Gates {
    /// #     fn read(&mut self, _: &mcptest_suite::read::DeclaredAgent<'_>, _: &[(mcptest_suite::gates::GateKind, &mcptest_suite::Entry)], _: &mut mcptest_suite::read::Problems) {}
    /// # }
    /// # let mut gates = Gates;
    /// let text = "
    /// agents:
    ///   - name: weather
    ///     model: claude-sonnet-4-5
    ///     prompt: What is the weather in Sacramento?
    ///     stability: {}
    ///   - name: tides
    ///     nothing: is right here
    /// ";
    /// let source = Source::new("weather.yml", "weather.yml", text);
    /// let suite = Suite::parse_filtered(&source, &|name| name == "weather", &mut gates);
    /// assert_eq!(suite.unwrap().agents.len(), 1);
    /// assert!(Suite::parse_filtered(&source, &|name| name == "tides", &mut gates).is_none());
    /// ```
    pub fn parse_filtered(
        source: &Source,
        wanted: &dyn Fn(&str) -> bool,
        gates: &mut dyn GateReader,
    ) -> Option<Self> {
        let mut problems = Problems::default();
        let document = excerpt::read(source.text(), wanted)?;
        if document.get("regression").is_some() {
            return None;
        }
        let suite = read_document(document, source, gates, &mut problems)?;
        problems.0.is_empty().then_some(suite)
    }
}

/// What is wrong with a document that has no keys.
fn no_mapping(document: &Node) -> Option<Diagnostic> {
    if document.value == NodeValue::Null {
        return Some(
            Diagnostic::at(document.span, "this suite is empty")
                .help("a suite has at least one agent test: `agents: [{ name: …, model: …, prompt: …, expect: … }]`"),
        );
    }
    if document.entries().is_some() {
        return None;
    }
    let message = format!("expected a suite, found {}", document.describe());
    let problem = Diagnostic::at(document.span, message);
    Some(problem.help("a suite is a mapping; put agent tests under `agents:`"))
}

fn read_document(
    mut document: crate::Node,
    source: &Source,
    gates: &mut dyn GateReader,
    problems: &mut Problems,
) -> Option<Suite> {
    if let Some(problem) = no_mapping(&document) {
        problems.push(problem);
        return None;
    }
    variables::fill_in(&mut document, source, problems);
    let mut fields = Fields::open(&document, "a suite", problems)?.with_own_keys();
    let servers = fields.get("servers");
    // Also those with a problem of their own.
    let declared = servers.and_then(Node::entries).unwrap_or_default();
    let declared: Vec<&str> = declared.iter().map(|entry| entry.key.as_str()).collect();
    let servers = servers.map(|node| top_level::servers(node, problems));
    let faults = fields.read("faults", problems, faults::read);
    let providers = fields.read("providers", problems, top_level::providers);
    let before = problems.noted();
    let (per_suite_usd_cents, budgeted) = fields.read("budget", problems, top_level::budget);
    let prices = fields.read("prices", problems, prices::read);
    let prices = prices::merge(prices, budgeted, problems);
    let priced_right = problems.noted() == before;
    let redact = fields.read("redact", problems, |node, problems| {
        problems.texts(node, "patterns")
    });
    let redact_env = fields.read("redact_env", problems, |node, problems| {
        problems.texts(node, "names of environment variables")
    });
    let observable = fields.read("oracle", problems, oracle::read);
    fields.get("variables");
    let regression = fields.entry("regression");
    let compared = regression.is_some();
    let regression = regression.and_then(|entry| regression::read_suite(entry, problems));
    let agents = fields.entry("agents");
    let number = agents
        .and_then(|entry| entry.value.items())
        .map_or(0, <[_]>::len);
    let defaults = fields.read("defaults", problems, |node, problems| {
        defaults::read(node, number, problems)
    });
    refuse_what_changes_agents(&mut fields, problems);
    let unsupported: Vec<_> = fields
        .take_matching(&OTHER_TESTS)
        .map(|entry| {
            names::unsupported(
                &entry.key,
                entry.key_span,
                "is another kind of test; run it with the mcptest CLI",
            )
        })
        .collect();
    let misspelt = fields.misspells(&["agents"]);
    fields.finish(problems);
    let context = agent::Context {
        faults: &faults,
        servers: &declared,
        defaults: &defaults,
        observable,
        compared,
        prices: priced_right.then_some(&prices),
    };
    let agents = match agents {
        Some(entry) => agent::read_all(&entry.value, &context, gates, problems),
        None if unsupported.is_empty() && !misspelt => {
            problems.push(
                Diagnostic::at(document.span, "this suite has no `agents:`")
                    .help("add at least one agent test: `agents: [{ name: …, model: …, prompt: …, expect: … }]`"),
            );
            Vec::new()
        }
        None => Vec::new(),
    };
    Some(Suite {
        source: source.clone(),
        agents,
        faults: faults.read,
        servers: servers.unwrap_or_default(),
        providers,
        per_suite_usd_cents,
        prices,
        redact,
        redact_env,
        regression,
        unsupported,
    })
}

/// What would change the agents if it were left out.
fn refuse_what_changes_agents(fields: &mut Fields<'_>, problems: &mut Problems) {
    for entry in fields.take_matching(&CHANGE_AGENTS) {
        problems.push(
            Diagnostic::at(
                entry.key_span,
                format!("`{}` is not supported here", entry.key),
            )
            .note("it changes what the agent tests mean, so the suite is not run without it")
            .help("write what it adds into the agents themselves"),
        );
    }
}
