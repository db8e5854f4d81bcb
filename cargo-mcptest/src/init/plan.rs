//! What a crate lacks for its first agent test.

use std::fs;
use std::path::{Path, PathBuf};

use mcptest_suite::{SuitePath, portable_path};

use super::gitignore::{self, GitignoreUpdate};
use super::manifest::{CargoManifest, HarnessDependency};
use super::{InitStep, StepOutcome};
use crate::failure::Failure;
use crate::files::find_files;
use crate::package::{FoundPackage, TestTarget};

/// The first suite and its recording, by their names below the folder of suites.
const SUITE: (&str, &str) = ("refunds.yml", include_str!("first/refunds.yml"));
const RECORDING: (&str, &str) = (
    "cassettes/Refund_agent__gpt-5.json",
    include_str!("first/Refund_agent__gpt-5.json"),
);

/// Names of the test target, the first that is free.
const TARGETS: [&str; 3] = ["agents", "agent_tests", "mcptest_suites"];

/// What is to be written, and what is said of it.
#[derive(Debug, Default)]
pub(super) struct InitPlan {
    /// New files, by their paths from the package's folder.
    pub(super) files: Vec<(PathBuf, String)>,
    /// The manifest, where it changes.
    pub(super) manifest: Option<String>,
    pub(super) steps: Vec<InitStep>,
    /// The dependency that a registry is to have, where one is added.
    pub(super) published: Option<String>,
    /// The `.gitignore`, where it lacks something.
    pub(super) ignored: Option<String>,
}

impl InitPlan {
    pub(super) fn for_package(
        package: &FoundPackage,
        dependency: &HarnessDependency,
        by_macro: bool,
    ) -> Result<Self, Failure> {
        let mut manifest = CargoManifest::read(&package.folder, &package.workspace)?;
        let mut plan = Self::default();
        let harness = if let Some(name) = &package.harness {
            plan.add_step(
                StepOutcome::Kept,
                "Cargo.toml",
                "the dependency on mcptest-harness",
            );
            name.clone()
        } else {
            let added = manifest.add_dependency(dependency)?;
            plan.published = added.published.then(|| added.line.clone());
            let what = format!("`{}` below `[{}]`", added.line, added.section);
            plan.add_step(StepOutcome::Added, "Cargo.toml", what);
            added.name
        };
        let suites = plan.add_suites(package)?;
        if let Some(target) = package
            .tests
            .iter()
            .find(|target| runs_suites(target, &harness))
        {
            let source = target
                .source
                .strip_prefix(&package.folder)
                .unwrap_or(&target.source);
            plan.add_step(
                StepOutcome::Kept,
                portable_path(source),
                "it runs suites already",
            );
        } else {
            plan.add_target(package, &harness, &suites, by_macro, &mut manifest)?;
        }
        plan.manifest = manifest.changed_text();
        plan.add_gitignore(package)?;
        Ok(plan)
    }

    /// A first suite beside a program.
    pub(super) fn for_program(
        package: &FoundPackage,
        file: PathBuf,
        text: String,
    ) -> Result<Self, Failure> {
        let mut plan = Self::default();
        let what = "how the agent is started, what it is asked, and that its recordings must play";
        plan.add_step(StepOutcome::Wrote, portable_path(&file), what);
        plan.files.push((file, text));
        plan.add_gitignore(package)?;
        Ok(plan)
    }

    /// Lets git pass over what tests write beside the suites.
    fn add_gitignore(&mut self, package: &FoundPackage) -> Result<(), Failure> {
        let root = package
            .roots
            .first()
            .map_or(Path::new("suites"), PathBuf::as_path);
        if let Some(GitignoreUpdate { line, text }) =
            GitignoreUpdate::find_missing(&package.folder, root)?
        {
            self.add_step(
                StepOutcome::Added,
                gitignore::FILE,
                format!("`{line}`, snapshots that nobody accepted yet"),
            );
            self.ignored = Some(text);
        }
        Ok(())
    }

    fn add_step(&mut self, did: StepOutcome, file: impl Into<String>, what: impl Into<String>) {
        self.steps.push(InitStep::new(did, file, what));
    }

    /// The suites, a first one where there is none.
    fn add_suites(&mut self, package: &FoundPackage) -> Result<Vec<PathBuf>, Failure> {
        let found = list_suites(package);
        if !found.is_empty() {
            for suite in &found {
                self.add_step(StepOutcome::Kept, portable_path(suite), "a suite");
            }
            return Ok(found);
        }
        let root = package
            .roots
            .first()
            .map_or(Path::new("suites"), PathBuf::as_path);
        for ((name, text), what) in [
            (
                SUITE,
                "what the agent was asked, and what every run must fulfil",
            ),
            (RECORDING, "a recorded run of this agent"),
        ] {
            let path = root.join(name);
            if package.folder.join(&path).exists() {
                return Err(
                    Failure::new(format!("`{}` is there already", portable_path(&path))).with_help(
                        "move this file away: the first agent test needs a file of this name",
                    ),
                );
            }
            self.add_step(StepOutcome::Wrote, portable_path(&path), what);
            self.files.push((path, text.to_owned()));
        }
        Ok(vec![root.join(SUITE.0)])
    }

    /// A test target that runs the suites.
    fn add_target(
        &mut self,
        package: &FoundPackage,
        harness: &str,
        suites: &[PathBuf],
        by_macro: bool,
        manifest: &mut CargoManifest,
    ) -> Result<(), Failure> {
        let source = |name: &str| Path::new("tests").join(format!("{name}.rs"));
        let free = |name: &&&str| {
            let declared = package.tests.iter().any(|target| target.name == **name);
            let folder = package.folder.join("tests").join(name);
            !declared && !package.folder.join(source(name)).exists() && !folder.exists()
        };
        let Some(name) = TARGETS.iter().find(free) else {
            return Err(Failure::new("all names for a new test target are taken")
                .with_help("write `mcptest::main!();` into a test target with `harness = false`"));
        };
        let (text, what) = if by_macro {
            (
                module_source(harness, suites),
                "every case of the suites as a `#[test]` function",
            )
        } else {
            (runner_source(harness, package), "a runner of all suites")
        };
        self.add_step(StepOutcome::Wrote, portable_path(&source(name)), what);
        self.files.push((source(name), text));
        // Without a runner of its own, cargo finds the target by its place, unless it was told not to.
        if !by_macro || !manifest.finds_tests() {
            manifest.add_test_target(name, !by_macro)?;
            self.add_step(
                StepOutcome::Added,
                "Cargo.toml",
                format!("the test target `{name}`"),
            );
        }
        Ok(())
    }
}

/// The suites of a package, relative to its folder.
pub(super) fn list_suites(package: &FoundPackage) -> Vec<PathBuf> {
    let passed_over = ["cassettes", "snapshots"];
    let below =
        |root: &PathBuf| find_files(&package.folder.join(root), &["yml", "yaml"], &passed_over);
    let suites = package.roots.iter().flat_map(below);
    let relative = |path: PathBuf| path.strip_prefix(&package.folder).ok().map(Path::to_owned);
    suites.filter_map(relative).collect()
}

/// Whether a test target runs suites already.
fn runs_suites(target: &TestTarget, harness: &str) -> bool {
    let text = fs::read_to_string(&target.source).unwrap_or_default();
    ["main!", "harness!", "suite("]
        .iter()
        .any(|used| text.contains(&format!("{harness}::{used}")))
}

fn runner_source(harness: &str, package: &FoundPackage) -> String {
    if package.roots == [Path::new("suites")] {
        return format!("{harness}::main!();\n");
    }
    let roots: String = package
        .roots
        .iter()
        .map(|root| format!(".root({:?})", portable_path(root)))
        .collect();
    format!("fn main() -> std::process::ExitCode {{\n    {harness}::harness!(){roots}.run()\n}}\n")
}

/// A module for each suite.
fn module_source(harness: &str, suites: &[PathBuf]) -> String {
    let modules = suites.iter().filter_map(|suite| {
        let below = suite.strip_prefix("suites").unwrap_or(suite);
        let name = SuitePath::from_path(below)
            .ok()?
            .to_string()
            .replace("::", "_");
        Some(format!(
            "#[{harness}::suite({:?})]\nmod {name} {{}}\n",
            portable_path(below)
        ))
    });
    modules.collect::<Vec<_>>().join("\n")
}
