//! The runner: every suite below the roots as libtest cases.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{ColorSetting, Failed, Trial};
use mcptest_suite::{
    Case, CaseKind, Diagnostic, LOAD, LoadError, Style, SuitePath, UNSUPPORTED, is_reserved,
    nearest, quoted_list, segment,
};

use super::agent_runs::{AgentRuns, Verdict};
use super::arguments::Asked;
use super::case::rerun;
use super::discovery::discover;
use super::loaded::LoadedSuite;
use super::trials::{RustCheck, Settings, check_trial, trial};
use crate::render::rerun_line;

/// The crate's folder: where cargo or nextest says it is now, else where it was compiled.
pub(crate) fn crate_dir(compiled: &str) -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(compiled), PathBuf::from)
}

/// The runner of a `harness = false` test target, built with [`harness!`](crate::harness!).
///
/// ```no_run
/// # use std::process::ExitCode;
/// fn main() -> ExitCode {
///     mcptest::harness!().root("suites").root("more/suites").run()
/// }
/// ```
#[derive(Clone)]
pub struct Harness {
    compiled_in: String,
    package: String,
    roots: Vec<PathBuf>,
    checks: Vec<(String, RustCheck)>,
}

impl fmt::Debug for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let checks: Vec<&String> = self.checks.iter().map(|(name, _)| name).collect();
        f.debug_struct("Harness")
            .field("compiled_in", &self.compiled_in)
            .field("package", &self.package)
            .field("roots", &self.roots)
            .field("checks", &checks)
            .finish()
    }
}

impl Harness {
    #[doc(hidden)]
    #[must_use]
    pub fn new(compiled_in: &str, package: &str) -> Self {
        Self {
            compiled_in: compiled_in.to_owned(),
            package: package.to_owned(),
            roots: Vec::new(),
            checks: Vec::new(),
        }
    }

    /// Adds a folder, relative to the crate's, in which suites are looked for. Without any it is
    /// `suites`.
    #[must_use]
    pub fn root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.roots.push(folder.into());
        self
    }

    /// Adds a check of every agent test: one case `<suite>::<agent>::<name>` each, which runs the
    /// closure on the agent's recorded runs. It fails when the closure panics or returns an error.
    ///
    /// ```no_run
    /// # use std::process::ExitCode;
    /// fn main() -> ExitCode {
    ///     mcptest::harness!()
    ///         .check("answers", |runs| {
    ///             runs.each("there is a closing message", |run| {
    ///                 run.trace.closing().map(drop).ok_or("it says nothing")
    ///             })
    ///         })
    ///         .run()
    /// }
    /// ```
    #[must_use]
    pub fn check<V: Verdict>(
        mut self,
        name: &str,
        check: impl Fn(&AgentRuns) -> V + Send + Sync + 'static,
    ) -> Self {
        let check: RustCheck = Arc::new(move |runs| check(runs).verdict());
        self.checks.push((name.to_owned(), check));
        self
    }

    /// Runs the cases that the command line asks for.
    ///
    /// The exit code is libtest's: 0 when nothing failed, 101 when a case failed or the arguments
    /// contradict each other. A flag that nobody knows ends the process with 2.
    #[must_use]
    pub fn run(&self) -> ExitCode {
        let threads = std::env::var("RUST_TEST_THREADS").ok();
        let asked = match Asked::read(std::env::args().skip(1), threads.as_deref()) {
            Ok(asked) => asked,
            Err(problem) => {
                eprintln!("error: {problem}");
                return ExitCode::from(101);
            }
        };
        if let Err(problem) = self.check_names() {
            eprintln!("error: {problem}");
            return ExitCode::from(101);
        }
        let style = style(asked.arguments.color, asked.arguments.logfile.is_some());
        let prepared = self.prepare(&asked);
        let run = Settings {
            package: &self.package,
            style,
            checks: &self.checks,
        };
        let trials = prepared.trials(&asked, &run);
        let is_load = |name: &str| prepared.failures.contains_key(name);
        let arguments = asked.for_trials(&trials, is_load);
        libtest_mimic::run(&arguments, trials).exit_code()
    }

    /// Where checks are registered, one that a suite names must be among them.
    fn knows_checks(&self, suite: LoadedSuite) -> Result<LoadedSuite, LoadError> {
        let known = || self.checks.iter().map(|(name, _)| name.as_str());
        let named = suite.suite.agents.iter().flat_map(|agent| &agent.checks);
        let unknown = named.filter(|check| known().all(|name| name != check.name.value));
        let problems = unknown.map(|check| {
            let message = format!("no check `{}` is registered in this test", check.name.value);
            Diagnostic::at(check.name.span, message).help(
                match nearest(&check.name.value, known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("registered: {}", quoted_list(known())),
                },
            )
        });
        let problems: Vec<_> = problems.collect();
        if self.checks.is_empty() || problems.is_empty() {
            return Ok(suite);
        }
        Err(LoadError::new(suite.source().clone(), problems))
    }

    /// A check's name is a segment of a case name: an identifier that is not taken.
    fn check_names(&self) -> Result<(), String> {
        for (index, (name, _)) in self.checks.iter().enumerate() {
            if segment(name).as_deref() != Some(name) {
                let near = segment(name).map_or(String::new(), |near| format!("; use `{near}`"));
                return Err(format!(
                    "`{name}` cannot name a check: it is no identifier{near}"
                ));
            }
            if is_reserved(name) {
                return Err(format!(
                    "`{name}` cannot name a check: the harness names its own cases so"
                ));
            }
            if self.checks[..index]
                .iter()
                .any(|(earlier, _)| earlier == name)
            {
                return Err(format!("two checks are named `{name}`"));
            }
        }
        Ok(())
    }

    /// Finds and loads what the arguments need.
    fn prepare(&self, asked: &Asked) -> Prepared {
        let crate_dir = crate_dir(&self.compiled_in);
        let default = [PathBuf::from("suites")];
        let roots = if self.roots.is_empty() {
            &default[..]
        } else {
            &self.roots
        };
        let found = discover(&crate_dir, roots);
        let mut prepared = Prepared::default();
        for (name, text) in found.problems {
            prepared.fail(name, text);
        }
        let names: HashMap<String, String> = found
            .suites
            .iter()
            .map(|(name, file)| (name.to_string(), file.shown.clone()))
            .collect();
        for (path, file) in found.suites {
            if asked.needs(|name| path.may_hold(name)) {
                let loaded = LoadedSuite::load(&crate_dir, &file);
                match loaded.and_then(|suite| self.knows_checks(suite)) {
                    Ok(suite) => prepared.add(path, suite, &names, &self.checks),
                    Err(error) => prepared.refuse(&path, error),
                }
            }
        }
        prepared
    }
}

/// What is to be run.
#[derive(Default)]
struct Prepared {
    suites: Vec<(SuitePath, Arc<LoadedSuite>, Vec<Case>)>,
    /// Case name and problem of each suite that does not load.
    failures: BTreeMap<String, Vec<Problem>>,
    /// The suite that has a case, by the case's full name.
    taken: HashMap<String, String>,
}

/// Why a suite does not load.
enum Problem {
    Text(String),
    Load(LoadError),
}

impl Prepared {
    fn fail(&mut self, case: String, text: String) {
        self.failures
            .entry(case)
            .or_default()
            .push(Problem::Text(text));
    }

    fn refuse(&mut self, path: &SuitePath, error: LoadError) {
        let case = format!("{path}::{LOAD}");
        self.failures
            .entry(case)
            .or_default()
            .push(Problem::Load(error));
    }

    /// Takes a suite in, unless one of its names is taken already.
    fn add(
        &mut self,
        path: SuitePath,
        suite: LoadedSuite,
        suites: &HashMap<String, String>,
        checks: &[(String, RustCheck)],
    ) {
        let mut cases = suite.suite.cases();
        // A registered check has cases of its own in place of the ignored one.
        let registered = |name: &str| {
            let last = name
                .rsplit_once(&format!("::{UNSUPPORTED}::"))
                .map(|(_, last)| last);
            last.is_some_and(|last| checks.iter().any(|(check, _)| check == last))
        };
        cases.retain(|case| case.kind != CaseKind::Unsupported || !registered(&case.name));
        let full = |case: &Case| format!("{path}::{}", case.name);
        let clashes = cases.iter().filter_map(|case| {
            let name = full(case);
            let other = self.taken.get(&name).or_else(|| suites.get(&name))?;
            let span = match case.kind {
                CaseKind::Agent(subject) | CaseKind::Gate(subject, _) => {
                    suite.agent(subject).name.span
                }
                CaseKind::Unsupported => mcptest_suite::Span::default(),
            };
            let problem = Diagnostic::new(format!("the name `{name}` is taken by {other}"))
                .label(span, format!("its case would be `{name}`"))
                .help("rename this agent, or move one of the two suites");
            Some(problem)
        });
        let clashes: Vec<_> = clashes.collect();
        if !clashes.is_empty() {
            return self.refuse(&path, LoadError::new(suite.source().clone(), clashes));
        }
        let shown = suite.source().shown();
        self.taken
            .extend(cases.iter().map(|case| (full(case), shown.to_owned())));
        self.suites.push((path, Arc::new(suite), cases));
    }

    /// Every case, sorted by name.
    fn trials(&self, asked: &Asked, run: &Settings<'_>) -> Vec<Trial> {
        let mut trials = Vec::new();
        for (path, suite, cases) in &self.suites {
            for case in cases {
                trials.push(trial(path, suite, case, asked, run));
                for (name, check) in run.checks {
                    trials.extend(check_trial(path, suite, case, asked, run, name, check));
                }
            }
        }
        for (case, problems) in &self.failures {
            let drawn = problems.iter().map(|problem| match problem {
                Problem::Text(text) => text.clone(),
                Problem::Load(error) => error.render(run.style),
            });
            let rerun = rerun_line(&rerun(run.package, case));
            let text = drawn.chain([rerun]).collect::<Vec<_>>().join("\n\n");
            // A suite that does not load is shown under `--ignored` too.
            let shown_anyway = asked.arguments.ignored && !asked.arguments.list;
            trials.push(
                Trial::test(case, || Err(Failed::from(text))).with_ignored_flag(shown_anyway),
            );
        }
        trials.sort_by(|left, right| left.name().cmp(right.name()));
        trials
    }
}

/// Colour only on a terminal, unless the command line says otherwise.
fn style(asked: Option<ColorSetting>, to_file: bool) -> Style {
    let colour = match asked.unwrap_or_default() {
        ColorSetting::Always => true,
        ColorSetting::Never => false,
        ColorSetting::Auto => {
            let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !unwanted && !to_file && std::io::stdout().is_terminal()
        }
    };
    if colour { Style::Colour } else { Style::Plain }
}
