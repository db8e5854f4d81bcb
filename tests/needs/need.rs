//! What a test can need, and whether it is here.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::support::folder::Folder;
use crate::{disk, runs, unreadable};

/// The variable that names needs, separated by spaces: a test that lacks one of these fails.
const REQUIRE: &str = "MCPTEST_TESTS_REQUIRE";

/// Something that not every machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// `cargo nextest`.
    Nextest,
    /// `cargo insta`.
    Insta,
    /// `mdbook`, and a shell that runs `.ci/book`.
    Book,
    /// Servers and client libraries from the npm registry; only where they are required, since that needs a network.
    Npm,
    /// Client libraries from `PyPI`; only where they are required, since that needs a network.
    Pip,
    /// Python itself, with nothing installed.
    Python,
    /// Client libraries from crates.io; only where they are required, since that needs a network.
    Crates,
    /// A network namespace, in which loopback is all there is.
    Namespace,
    /// A file system of a few kilobytes, mounted for a test.
    SmallDisk,
    /// Files that a process may not read.
    RefusedFiles,
    /// The recorded runs of a real agent, which are kept beside the workspace.
    RealRuns,
    /// Chromium, driven by packages from the npm registry; only where it is required.
    Browser,
    /// Time: more than the test guards is worth at every change. Only where it is required.
    Long,
}

const ALL: [Need; 13] = [
    Need::Nextest,
    Need::Insta,
    Need::Book,
    Need::Npm,
    Need::Pip,
    Need::Python,
    Need::Crates,
    Need::Namespace,
    Need::SmallDisk,
    Need::RefusedFiles,
    Need::RealRuns,
    Need::Browser,
    Need::Long,
];

impl Need {
    /// How the variable spells it.
    fn word(self) -> &'static str {
        match self {
            Self::Nextest => "cargo-nextest",
            Self::Insta => "cargo-insta",
            Self::Book => "mdbook",
            Self::Npm => "npm",
            Self::Pip => "pip",
            Self::Python => "python3",
            Self::Crates => "crates",
            Self::Namespace => "network-namespace",
            Self::SmallDisk => "small-disk",
            Self::RefusedFiles => "refused-files",
            Self::RealRuns => "real-runs",
            Self::Browser => "browser",
            Self::Long => "long",
        }
    }

    /// Why it is not here.
    fn absence(self, required: bool) -> Option<String> {
        let (here, reason) = match self {
            Self::Nextest => (answers("cargo-nextest"), "cargo-nextest is not installed"),
            Self::Insta => (answers("cargo-insta"), "cargo-insta is not installed"),
            Self::Book => (
                answers("mdbook") && answers("bash"),
                "mdbook is not installed",
            ),
            Self::Npm if required => (answers("npm"), "npm is not installed"),
            Self::Npm => (
                false,
                "MCPTEST_TESTS_REQUIRE=npm asks for packages from the npm registry",
            ),
            Self::Pip if required => (answers("pip3"), "pip3 is not installed"),
            Self::Pip => (
                false,
                "MCPTEST_TESTS_REQUIRE=pip asks for packages from PyPI",
            ),
            Self::Python => (answers("python3"), "python3 is not installed"),
            Self::Crates => (
                required,
                "MCPTEST_TESTS_REQUIRE=crates asks for client libraries from crates.io",
            ),
            Self::Browser if required => (
                browser().is_some() && answers("npm") && answers("node"),
                "chromium, npm or node is not installed",
            ),
            Self::Browser => (
                false,
                "MCPTEST_TESTS_REQUIRE=browser asks for chromium, and for packages from the npm registry",
            ),
            Self::Long => (
                required,
                "MCPTEST_TESTS_REQUIRE=long asks for tests that take long",
            ),
            Self::Namespace => (
                !namespace().is_empty(),
                "this user may not make a network namespace with `unshare` and `ip`",
            ),
            Self::SmallDisk => {
                let folder = Folder::new();
                let disk = disk::SmallDisk::on(&folder.at("disk"));
                (disk.is_some(), "this user may not mount a disk here")
            }
            Self::RefusedFiles => (
                unreadable::launcher().is_some(),
                "this user may read every file",
            ),
            Self::RealRuns => {
                let folder = runs::airline();
                let reason = format!("there are no recordings in {}", folder.display());
                return (!folder.is_dir()).then_some(reason);
            }
        };
        (!here).then(|| reason.to_owned())
    }
}

/// The browser.
pub(crate) fn browser() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|place| place.is_file())
}

/// What runs a program in a network namespace of its own, with loopback up; empty where that is not allowed.
pub(crate) fn namespace() -> &'static [&'static str] {
    const INSIDE: [&str; 3] = ["sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""];
    static WORDS: OnceLock<Vec<&str>> = OnceLock::new();
    WORDS.get_or_init(|| {
        // A user who is not root may have one of its own.
        let ways = [
            vec!["unshare", "--net"],
            vec!["unshare", "--net", "--map-root-user"],
        ];
        let ways = ways.map(|way| [way, INSIDE.to_vec()].concat()).into_iter();
        let mut allowed = ways.filter(|words| {
            let mut inside = Command::new(words[0]);
            let ran = inside.args(&words[1..]).arg("true").output();
            ran.is_ok_and(|ran| ran.status.success())
        });
        allowed.next().unwrap_or_default()
    })
}

/// Whether a program is installed.
fn answers(program: &str) -> bool {
    let mut command = match program.strip_prefix("cargo-") {
        Some(subcommand) => {
            let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            command.arg(subcommand);
            command
        }
        None => Command::new(program),
    };
    let silent = command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

/// What is absent here.
pub(crate) struct Here {
    absent: Vec<(Need, Absent)>,
}

/// Why a test cannot run, and whether it should.
#[derive(Clone)]
pub(crate) struct Absent {
    pub(crate) reason: String,
    pub(crate) required: bool,
}

impl Here {
    /// Looks for everything that a test can need.
    pub(crate) fn look() -> Result<Self, String> {
        let named = env::var(REQUIRE).unwrap_or_default();
        let words: Vec<&str> = named.split_whitespace().collect();
        if let Some(unknown) = words
            .iter()
            .find(|word| ALL.iter().all(|need| need.word() != **word))
        {
            let known = ALL.map(Need::word).join("`, `");
            return Err(format!(
                "{REQUIRE} names `{unknown}`; the known needs are `{known}`"
            ));
        }
        let absent = ALL.into_iter().filter_map(|need| {
            let required = words.contains(&need.word());
            let reason = need.absence(required)?;
            let reason = if required {
                format!("{reason}, and {REQUIRE} says that it must be here")
            } else {
                reason
            };
            Some((need, Absent { reason, required }))
        });
        Ok(Self {
            absent: absent.collect(),
        })
    }

    /// What of these is absent; what is required comes first.
    pub(crate) fn verdict(&self, needs: &[Need]) -> Option<Absent> {
        let absent = self.absent.iter().filter(|(need, _)| needs.contains(need));
        let absent = absent.max_by_key(|(_, absent)| absent.required);
        absent.map(|(_, absent)| absent.clone())
    }
}
