//! The sample crate, and the one table of what each of its cases is expected to do. Every run of
//! the sample, by whatever means, is compared with this table.

mod files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::folder::Folder;
use crate::outcome::Outcome::{self, Failed, Ignored, Passed};
use crate::process::{self, Finished};
use crate::snapshot;
use crate::workshop;

pub use files::{MEMBER, PACKAGE, package, suites_and_runs};

/// Every case of the sample's suites. All names but those of gates lack the word `stability`.
pub const EXPECTED: [(&str, Outcome); 20] = [
    ("_2nd::type_::_4_eyes", Passed),
    ("_2nd::type_::straße_prüfen", Passed),
    ("shop::checkout::cart_agent", Failed),
    ("shop::checkout::cart_agent::narrative", Passed),
    ("shop::checkout::cart_agent::stability", Failed),
    ("shop::checkout::cart_agent::trajectory", Failed),
    (
        "shop::checkout::refund_agent_asks_first::claude_sonnet_4_5",
        Passed,
    ),
    (
        "shop::checkout::refund_agent_asks_first::claude_sonnet_4_5::golden_path",
        Passed,
    ),
    (
        "shop::checkout::refund_agent_asks_first::claude_sonnet_4_5::stability",
        Passed,
    ),
    ("shop::checkout::refund_agent_asks_first::gpt_5", Passed),
    (
        "shop::checkout::refund_agent_asks_first::gpt_5::golden_path",
        Passed,
    ),
    (
        "shop::checkout::refund_agent_asks_first::gpt_5::stability",
        Passed,
    ),
    ("shop::checkout::unsupported::tools", Ignored),
    ("weather::night_watch", Ignored),
    ("weather::night_watch::stability", Ignored),
    ("weather::umbrella_advice", Passed),
    ("weather::umbrella_advice::stability", Passed),
    ("weather::umbrella_advice::trajectory", Passed),
    ("weather::umbrella_advice::unsupported::llm_judge", Ignored),
    (
        "weather::umbrella_advice::unsupported::tool_selection",
        Ignored,
    ),
];

/// The expected outcomes of the cases whose name fits.
pub fn expected(fits: impl Fn(&str) -> bool) -> BTreeMap<String, Outcome> {
    let fitting = EXPECTED.iter().filter(|(name, _)| fits(name));
    fitting
        .map(|(name, outcome)| ((*name).to_owned(), *outcome))
        .collect()
}

/// The names of all cases, sorted.
pub fn names() -> Vec<String> {
    expected(|_| true).into_keys().collect()
}

/// How many of the cases end in one way.
pub fn count(cases: &BTreeMap<String, Outcome>, outcome: Outcome) -> usize {
    cases.values().filter(|other| **other == outcome).count()
}

/// The beginning of libtest's closing line for these cases.
pub fn summary(cases: &BTreeMap<String, Outcome>) -> String {
    let failed = count(cases, Failed);
    format!(
        "test result: {}. {} passed; {failed} failed; {} ignored; 0 measured; ",
        if failed == 0 { "ok" } else { "FAILED" },
        count(cases, Passed),
        count(cases, Ignored),
    )
}

/// What libtest says about the cases that are not among these.
pub fn filtered_out(cases: &BTreeMap<String, Outcome>) -> String {
    format!("; {} filtered out; ", EXPECTED.len() - cases.len())
}

/// The sample, built.
pub struct Sample {
    /// The folder of the package.
    pub folder: PathBuf,
    executables: BTreeMap<String, PathBuf>,
}

/// Builds the sample, once in a process.
pub fn sample() -> &'static Sample {
    static BUILT: OnceLock<Sample> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = workshop::kept_crate(PACKAGE, &package());
        let executables = workshop::build(&folder);
        Sample {
            folder,
            executables,
        }
    })
}

impl Sample {
    /// The folder of the workspace member.
    pub fn member(&self) -> PathBuf {
        self.folder.join(MEMBER)
    }

    /// The executable of a test target.
    pub fn executable(&self, target: &str) -> &Path {
        &self.executables[target]
    }

    /// Runs a test executable as cargo and nextest do, in a crate's folder.
    pub fn run_in(
        &self,
        folder: &Path,
        target: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Finished {
        let mut command = process::command(self.executable(target), folder);
        command
            .env("CARGO_MANIFEST_DIR", folder)
            .args(arguments)
            .envs(environment.iter().copied());
        process::run(&mut command)
    }

    /// Runs a test target of the sample itself.
    pub fn run(&self, target: &str, arguments: &[&str]) -> Finished {
        self.run_in(&self.folder, target, arguments, &[])
    }
}

/// The runner over another crate's folder, whose suites are only known at run time.
pub fn runner(folder: &Path, arguments: &[&str]) -> Finished {
    sample().run_in(folder, "agents", arguments, &[])
}

/// Runs a crate of which one case is to fail, and compares the whole failure text with the
/// snapshot of that name.
#[track_caller]
pub fn assert_fails(snapshot: &str, folder: &Folder, case: &str) -> String {
    let ran = runner(folder.path(), &[]).exits(101);
    let (name, text) = ran.only_failure();
    assert_eq!(name, case, "{ran}");
    snapshot::assert(snapshot, &text, folder.path());
    text
}

/// Runs a crate in which every case is to pass; their names.
#[track_caller]
pub fn assert_passes(folder: &Folder) -> Vec<String> {
    let ran = runner(folder.path(), &[]).exits(0);
    let outcomes = ran.outcomes();
    assert!(outcomes.values().all(|outcome| *outcome == Passed), "{ran}");
    outcomes.into_keys().collect()
}
