//! What is measured runs in processes of their own, which are this program once more: so each has a
//! peak of memory and a time of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use serde_json::Value;
use walkdir::WalkDir;

/// What a process of this program is to do.
pub(crate) const ROLE: &str = "MCPTEST_BENCH_ROLE";

/// Where it says what it used.
const USED: &str = "MCPTEST_BENCH_USED";

/// The folder of the suites, where the package is not told by `CARGO_MANIFEST_DIR`.
const SUITES: &str = "MCPTEST_BENCH_SUITES";

/// How many cases do nothing.
const EMPTY_CASES: usize = 5_000;

/// What a process took.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) wall: Duration,
    /// Of all of its threads; zero where the system does not tell.
    pub(crate) processor: Duration,
    /// The most memory that it held, in bytes; zero where the system does not tell.
    pub(crate) peak: u64,
}

/// Does what the role says.
pub(crate) fn play(role: &str) -> ExitCode {
    let code = match role {
        "floor" => floor(),
        "empty" => {
            let trial = |number| Trial::test(empty_case(number), || Ok(()));
            let trials = (0..EMPTY_CASES).map(trial).collect();
            libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
        }
        _ => {
            let harness = mcptest::harness!();
            match std::env::var_os(SUITES) {
                Some(suites) => harness.root(suites).run(),
                None => harness.run(),
            }
        }
    };
    if let Some(file) = std::env::var_os(USED) {
        let used = [("/proc/self/status", "status"), ("/proc/self/stat", "stat")];
        for (from, name) in used {
            let text = fs::read_to_string(from).unwrap_or_default();
            _ = fs::write(Path::new(&file).with_extension(name), text);
        }
    }
    code
}

/// The name of a case that does nothing.
pub(crate) fn empty_case(number: usize) -> String {
    format!("desk_{:03}::desk_{number:05}::empty", number / 250)
}

/// Reads and parses every recording of the package.
fn floor() -> ExitCode {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let files = WalkDir::new(PathBuf::from(package).join("suites/cassettes")).into_iter();
    for file in files.flatten().filter(|entry| entry.file_type().is_file()) {
        let bytes = fs::read(file.path()).unwrap_or_default();
        match serde_json::from_slice::<Value>(&bytes) {
            Ok(value) => drop(std::hint::black_box(value)),
            Err(error) => {
                eprintln!("{}: {error}", file.path().display());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Runs this program once more, in a role on a package.
pub(crate) fn run(role: &str, package: &Path, arguments: &[&str]) -> io::Result<Taken> {
    let used = package.join("used");
    let begun = Instant::now();
    let output = Command::new(std::env::current_exe()?)
        .args(arguments)
        .env(ROLE, role)
        .env(USED, &used)
        .env("CARGO_MANIFEST_DIR", package)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()?;
    let wall = begun.elapsed();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let problem = format!(
            "{role} {arguments:?} in {}: {}\n{said}",
            package.display(),
            output.status
        );
        return Err(io::Error::other(problem));
    }
    let read = |name| fs::read_to_string(used.with_extension(name)).unwrap_or_default();
    Ok(Taken {
        wall,
        processor: processor(&read("stat")),
        peak: peak(&read("status")),
    })
}

/// Runs all cases of this program in a role on a package under nextest, which starts a process for
/// each; how long that takes. Nothing where nextest is not installed.
pub(crate) fn nextest(role: &str, package: &Path) -> io::Result<Option<Duration>> {
    let cargo = || Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    if !cargo()
        .args(["nextest", "--version"])
        .output()?
        .status
        .success()
    {
        return Ok(None);
    }
    let profile = if cfg!(debug_assertions) {
        "dev"
    } else {
        "bench"
    };
    let run = |what: &[&str]| {
        cargo()
            .args([
                "nextest",
                what[0],
                "--package",
                "mcptest-harness",
                "--bench",
                "judge",
            ])
            .args(["--cargo-profile", profile])
            .args(&what[1..])
            .env(ROLE, role)
            .env(SUITES, package.join("suites"))
            .output()
    };
    // Built before the time is taken.
    run(&["list"])?;
    let begun = Instant::now();
    let output = run(&[
        "run",
        "--status-level",
        "none",
        "--final-status-level",
        "none",
    ])?;
    let taken = begun.elapsed();
    if output.status.success() {
        return Ok(Some(taken));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("nextest as {role}: {said}")))
}

/// The time of all threads, in ticks of 10 ms, out of `/proc/self/stat`.
fn processor(stat: &str) -> Duration {
    // The name of the program stands in brackets and may hold blanks.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let ticks = rest.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// The most memory held, out of `/proc/self/status`.
fn peak(status: &str) -> u64 {
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse::<u64>().ok())
        .unwrap_or_default()
        * 1024
}
