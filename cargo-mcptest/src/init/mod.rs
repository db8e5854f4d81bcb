//! `cargo mcptest init`: a crate gets its first agent test, and the next `cargo test` is green. A program in any language
//! gets its first suite, which `cargo mcptest record` records.
//!
//! - `beside`, `asked`: the suite of a program, and the model that the program asks;
//! - `ignored`: what `.gitignore` lacks;
//! - `relative`: paths from one folder to another;
//! - `plan`: what a crate lacks;
//! - `manifest`: its `Cargo.toml` with what is added, everything else as it was;
//! - `profile`: the optimisation that is proposed.

mod gitignore;
mod manifest;
mod model_probe;
mod plan;
mod profile;
mod program_suite;
mod relative;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcptest::command::command_line;
use mcptest_suite::{escape_line, portable_path};
use serde::Serialize;
use serde_json::json;

use crate::failure::Failure;
use crate::files;
use crate::output::{Output, OutputFormat};
use crate::package::{FoundPackage, Selection};
use crate::status::ExitStatus;
use manifest::HarnessDependency;
use plan::InitPlan;
use program_suite::ProgramAgent;
use relative::relative;

/// The format of what is said, as JSON.
const FORMAT: &str = "init/1.0";

/// Adds a first agent test to a crate, or to a program in any language.
///
/// Example: `cargo mcptest init -- python3 agent.py`
///
/// In a crate, without a program: the command adds the dev-dependency, a test target that runs suites, a suite, and a
/// recording. `cargo test` is green afterwards. If cargo cannot find the harness, nothing is changed.
/// With a program: the command runs the program once, to see which model it asks. A made-up answer stands in the place of the
/// model's: no request leaves the machine, and no key is needed. Then the command writes a suite. `cargo mcptest record` is next.
/// The command overwrites no file. In a git repository, it adds what `.gitignore` lacks.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    #[command(flatten)]
    selection: Selection,
    /// Use the standard test harness and the attribute `#[mcptest::suite]`, instead of the harness's own runner.
    #[arg(long = "macro")]
    by_macro: bool,
    /// Use the harness in this folder, instead of the published one.
    #[arg(long, value_name = "FOLDER")]
    path: Option<PathBuf>,
    /// The name of the program's agent. Default: the name of the program.
    #[arg(long, value_name = "NAME", requires = "command")]
    name: Option<String>,
    /// What the program's agent is asked.
    #[arg(long, value_name = "TEXT", requires = "command")]
    prompt: Option<String>,
    /// The program that is the agent, with its arguments.
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["by_macro", "path"])]
    command: Vec<String>,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// What became of something that a first agent test needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct InitStep {
    did: StepOutcome,
    /// The file, from the package's folder.
    file: String,
    what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum StepOutcome {
    Wrote,
    Added,
    Kept,
}

impl StepOutcome {
    const fn word(self) -> &'static str {
        match self {
            Self::Wrote => "wrote",
            Self::Added => "added",
            Self::Kept => "kept",
        }
    }
}

impl InitStep {
    fn new(did: StepOutcome, file: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            did,
            file: file.into(),
            what: what.into(),
        }
    }
}

impl Init {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        if !self.command.is_empty() {
            return self.init_program(output);
        }
        if self.selection.is_without_crate() {
            return Err(
                Failure::new("there is no crate here, nor in any folder above").with_help(format!(
                    "give the program that is the agent: `{}`; or run the command in the folder of a crate, or give \
                     `--manifest-path <path of a Cargo.toml>`",
                    command_line("init -- python3 agent.py")
                )),
            );
        }
        let package = self.selection.find_any()?;
        let dependency = match &self.path {
            Some(path) => HarnessDependency::Path(harness_path(&package.folder, path)?),
            None => HarnessDependency::Published,
        };
        let plan = InitPlan::for_package(&package, &dependency, self.by_macro)?;
        write_all(&package, &plan)?;
        let proposed = profile::propose(&package.workspace)?;
        match self.format {
            OutputFormat::Json => output.json(&json!({
                "format": FORMAT,
                "package": package.name,
                "steps": plan.steps,
                "proposed": proposed.as_ref().map(|proposed| json!({
                    "file": portable_path(&package.workspace.join("Cargo.toml")),
                    "lines": proposed,
                    "why": profile::WHY,
                })),
            }))?,
            OutputFormat::Text => {
                print(&plan, output)?;
                if let Some(lines) = proposed {
                    let manifest = portable_path(&package.workspace.join("Cargo.toml"));
                    writeln!(
                        output.out,
                        "\nproposed, not written, for {manifest}:\n\n{lines}\n{}",
                        profile::WHY
                    )?;
                }
                writeln!(output.out, "\nnext: cargo test -p {}", package.name)?;
            }
        }
        Ok(ExitStatus::Holds)
    }

    /// The first suite of a program.
    fn init_program(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let package = self.selection.find_for_program()?;
        // What the words of the command mean, they mean in the folder where it is started again.
        let here = std::env::current_dir()?;
        let folder = package
            .folder
            .canonicalize()
            .unwrap_or_else(|_| package.folder.clone());
        if here.canonicalize().unwrap_or(here) != folder {
            return Err(Failure::new(format!(
                "the program of `{}` starts in the package's folder, and this is another one",
                package.name
            ))
            .with_help(format!("run the command in `{}`", package.folder.display())));
        }
        let agent = ProgramAgent::new(
            &self.command,
            self.name.as_deref(),
            self.prompt.as_deref(),
            &folder,
        )?;
        let file = agent.suite_file(&package)?;
        let model = model_probe::find_model(&self.command, &folder, agent.prompt)?;
        let suite = agent.suite(&package, file, &model)?;
        let plan = InitPlan::for_program(&package, suite.file, suite.text)?;
        write_all(&package, &plan)?;
        let record = std::iter::once("record".to_owned()).chain(self.selection.to_arguments());
        let next = command_line(&record.collect::<Vec<String>>().join(" "));
        match self.format {
            OutputFormat::Json => output.json(&json!({
                "format": FORMAT,
                "package": package.name,
                "agent": agent.name,
                "model": model,
                "steps": plan.steps,
                "proposed": null,
            }))?,
            OutputFormat::Text => {
                print(&plan, output)?;
                let (name, model) = (escape_line(&agent.name), escape_line(&model));
                writeln!(
                    output.out,
                    "\n`{name}` asks the model `{model}`. next: {next}"
                )?;
            }
        }
        Ok(ExitStatus::Holds)
    }
}

fn print(plan: &InitPlan, output: &mut Output<'_>) -> Result<(), Failure> {
    for InitStep { did, file, what } in &plan.steps {
        writeln!(
            output.out,
            "{:<5}  {}: {what}",
            did.word(),
            escape_line(file)
        )?;
    }
    Ok(())
}

/// The harness's folder as a manifest names it: from the package's folder if it was given relative to
/// this one.
fn harness_path(package: &Path, given: &Path) -> Result<PathBuf, Failure> {
    let there = given.canonicalize();
    let is_harness = there.as_ref().is_ok_and(|there| {
        let manifest = fs::read_to_string(there.join("Cargo.toml"));
        manifest.is_ok_and(|text| text.contains("name = \"mcptest-harness\""))
    });
    let (Ok(there), true) = (there, is_harness) else {
        return Err(Failure::new(format!(
            "`--path {}` is not the folder of mcptest-harness",
            given.display()
        ))
        .with_help("name the folder `mcptest-harness` of a clone, the one with its `Cargo.toml`"));
    };
    if given.is_absolute() {
        return Ok(there);
    }
    Ok(relative(&package.canonicalize()?, &there))
}

/// Writes the files and then the manifest, and sees that cargo finds what is depended on; all of it or
/// nothing.
fn write_all(package: &FoundPackage, plan: &InitPlan) -> Result<(), Failure> {
    let (folder, manifest) = (&package.folder, package.folder.join("Cargo.toml"));
    let before = match &plan.manifest {
        Some(_) => fs::read_to_string(&manifest)?,
        None => String::new(),
    };
    let mut written = Vec::new();
    let mut write = || {
        for (path, text) in &plan.files {
            let path = folder.join(path);
            create(&path, text)?;
            written.push(path);
        }
        if let Some(text) = &plan.manifest {
            replace(&manifest, text)?;
        }
        if let Some(dependency) = &plan.published {
            check_resolves(dependency, package)?;
        }
        match &plan.ignored {
            Some(text) => replace(&folder.join(gitignore::FILE), text),
            None => Ok(()),
        }
    };
    write().inspect_err(|_| {
        if plan.manifest.is_some() {
            _ = replace(&manifest, &before);
        }
        for path in &written {
            _ = fs::remove_file(path);
            // With the folders that were made for it: only what is empty is removed.
            let folders = path.ancestors().skip(1);
            for made in folders.take_while(|made| made != folder) {
                _ = fs::remove_dir(made);
            }
        }
    })
}

/// Sees that cargo finds a version of the harness that the package depends on now.
fn check_resolves(dependency: &str, package: &FoundPackage) -> Result<(), Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let resolved = Command::new(cargo)
        .args(["update", "--quiet", "--workspace", "--dry-run"])
        .current_dir(&package.folder)
        .output()?;
    if resolved.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&resolved.stderr);
    let said = said.trim().trim_start_matches("error: ");
    Err(Failure::new(format!(
        "cargo cannot resolve the package with `{dependency}`, so the next `cargo test` would fail; nothing is changed. Cargo says: {said}"
    ))
    .with_help(format!(
        "if mcptest-harness is not published yet, use a clone: `{}`",
        command_line("init --path <the folder mcptest-harness of the clone>")
    )))
}

fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| {
        Failure::new(match error.kind() {
            ErrorKind::AlreadyExists => format!("`{}` is there already", path.display()),
            _ => format!("`{}` cannot be written: {error}", path.display()),
        })
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(cannot)?;
    }
    files::create(path, text).map_err(cannot)
}

/// Puts a new text in the place of a file, which is never half there.
fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    files::replace(path, text)
        .map_err(|error| Failure::new(format!("`{}` cannot be written: {error}", path.display())))
}
