//! The rows of the table: what is measured, and against what.

use std::io;
use std::path::Path;
use std::time::Duration;

use walkdir::WalkDir;

use crate::child::{self, Taken, empty_case};
use crate::data::Data;

/// How often each process is run; the quickest counts.
const TIMES: usize = 5;

/// How often nextest runs all cases in turn.
const TIMES_NEXTEST: usize = 3;

/// How many cases are run one a process.
const ALONE: usize = 60;

type Row = fn(&Data) -> io::Result<String>;

const ROWS: [(&str, Row); 8] = [
    ("whole package", |data| against_floor(data, &[])),
    ("loading alone", |data| {
        against_floor(data, &["golden_path"])
    }),
    ("narrative", |data| against_floor(data, &["narrative"])),
    ("peak memory", memory),
    ("list", list),
    ("one case a process", one_a_process),
    ("nextest", nextest),
    ("long runs", long_runs),
];

/// Measures the rows that are chosen, and prints each.
pub(crate) fn print(data: &Data, chosen: &[String]) -> io::Result<()> {
    for (name, row) in ROWS {
        if chosen.is_empty() || chosen.iter().any(|part| name.contains(part.as_str())) {
            println!("| {name} | {} |", row(data)?);
        }
    }
    Ok(())
}

/// The quickest of several.
fn best(measure: impl Fn() -> io::Result<Taken>) -> io::Result<Taken> {
    let mut best = measure()?;
    for _ in 1..TIMES {
        let next = measure()?;
        best.wall = best.wall.min(next.wall);
        best.processor = best.processor.min(next.processor);
    }
    Ok(best)
}

fn against_floor(data: &Data, arguments: &[&str]) -> io::Result<String> {
    let floor = best(|| child::run("floor", &data.recorded, &[]))?;
    let harness = best(|| child::run("harness", &data.recorded, arguments))?;
    Ok(ratio(harness, floor))
}

fn memory(data: &Data) -> io::Result<String> {
    let peak = child::run("harness", &data.recorded, &[])?.peak;
    let largest = largest_suite(&data.recorded);
    Ok(format!(
        "{:.0} MB, where 2× the largest suite's recordings and 30 MB are {:.0} MB",
        megabytes(peak),
        megabytes(2 * largest) + 30.0
    ))
}

/// How many bytes the recordings of the largest suite have.
fn largest_suite(package: &Path) -> u64 {
    let mut suites = std::collections::BTreeMap::<String, u64>::new();
    for entry in WalkDir::new(package.join("suites/cassettes"))
        .into_iter()
        .flatten()
    {
        let path = entry.path().to_string_lossy();
        let suite = path.split("Desk_").nth(1).and_then(|rest| rest.get(..3));
        if let (Some(suite), Ok(file)) = (suite, entry.metadata())
            && file.is_file()
        {
            *suites.entry(suite.to_owned()).or_default() += file.len();
        }
    }
    suites.into_values().max().unwrap_or_default()
}

fn list(data: &Data) -> io::Result<String> {
    let empty = best(|| child::run("empty", &data.listed, &["--list"]))?;
    let harness = best(|| child::run("harness", &data.listed, &["--list"]))?;
    Ok(ratio(harness, empty))
}

/// As nextest runs cases: a process each, by its exact name.
fn one_a_process(data: &Data) -> io::Result<String> {
    let gates = [
        "",
        "::golden_path",
        "::narrative",
        "::stability",
        "::trajectory",
    ];
    let case = |number: usize| {
        let (suite, agent) = (number % 20, number * 7 % 50);
        let gate = gates[number % gates.len()];
        format!("desk_{suite:03}::desk_{suite:03}_{agent:02}{gate}")
    };
    let all = |role: &'static str, package: &Path, name: &dyn Fn(usize) -> String| {
        let mut all = Taken {
            wall: Duration::ZERO,
            processor: Duration::ZERO,
            peak: 0,
        };
        for number in 0..ALONE {
            let taken = child::run(role, package, &["--exact", &name(number), "--nocapture"])?;
            all.wall += taken.wall;
        }
        Ok(all)
    };
    let listed = |number: usize| format!("desk_{:03}::desk_{:03}_03", number % 200, number % 200);
    let empty = best(|| all("empty", &data.recorded, &|number| empty_case(number * 83)))?;
    let harness = best(|| all("harness", &data.recorded, &case))?;
    // Nothing is recorded there: what is measured ends in a failure to find runs, so it is skipped.
    let opened = best(|| {
        all("harness", &data.listed, &|number| {
            listed(number) + "::absent"
        })
    })?;
    Ok(format!(
        "{}; of 5 agents in one of 200 suites, up to its runs: {}",
        ratio(harness, empty),
        ratio(opened, empty)
    ))
}

fn nextest(data: &Data) -> io::Result<String> {
    let mut quickest = [Duration::MAX; 2];
    for _ in 0..TIMES_NEXTEST {
        for (role, quickest) in ["empty", "harness"].into_iter().zip(&mut quickest) {
            let Some(taken) = child::nextest(role, &data.recorded)? else {
                return Ok("cargo-nextest is not installed".to_owned());
            };
            *quickest = taken.min(*quickest);
        }
    }
    let [empty, harness] = quickest.map(|taken| taken.as_secs_f64());
    Ok(format!(
        "{:.2}× ({harness:.1} s to {empty:.1} s)",
        harness / empty
    ))
}

fn long_runs(data: &Data) -> io::Result<String> {
    let mut parts = Vec::new();
    for (package, calls) in &data.long {
        let floor = best(|| child::run("floor", package, &[]))?;
        let harness = best(|| child::run("harness", package, &[]))?;
        parts.push(format!("{calls} calls: {}", ratio(harness, floor)));
    }
    Ok(parts.join("; "))
}

/// By the clock and by the processor.
fn ratio(taken: Taken, to: Taken) -> String {
    let by = |taken: Duration, to: Duration| taken.as_secs_f64() / to.as_secs_f64();
    let wall = by(taken.wall, to.wall);
    let shown = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    let clock = format!("{wall:.2}× ({} to {})", shown(taken.wall), shown(to.wall));
    if to.processor < Duration::from_millis(50) {
        return clock;
    }
    let processor = by(taken.processor, to.processor);
    format!("{clock}, {processor:.2}× of its processor time")
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
