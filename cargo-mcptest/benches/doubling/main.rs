//! What every path over a recording costs when the recording is four times as long.
//!
//! `cargo bench -p cargo-mcptest --bench doubling --profile dev` prints, for each path, the processor's time for a size,
//! twice and four times the size, and how many times as long the largest took. Words after `--` choose rows by a part of
//! their name. The bench fails where four times the input takes more than eight times as long: n log n takes little more
//! than four, a loop over all pairs sixteen.

#![allow(clippy::unwrap_used, reason = "a bench has nobody to tell")]

mod calls;
mod clock;
mod commands;
mod requests;
mod sessions;
mod texts;

use std::process::ExitCode;

use clock::{Clock, Seconds};

/// The most that four times the input may take.
const MOST: f64 = 8.0;

/// The least time that is measured: the system counts in steps of some milliseconds.
const LEAST: Seconds = 0.05;

/// A path over a recording.
#[derive(Clone)]
struct Row {
    name: &'static str,
    /// What is counted, and how many of it the smallest input has.
    of: &'static str,
    size: usize,
    clock: Clock,
    /// Makes an input of a size, and what is measured with it.
    make: fn(usize) -> Box<dyn FnMut()>,
}

impl Row {
    fn new(
        name: &'static str,
        of: &'static str,
        size: usize,
        make: fn(usize) -> Box<dyn FnMut()>,
    ) -> Self {
        Self {
            name,
            of,
            size,
            clock: Clock::Thread,
            make,
        }
    }

    /// A row whose time is that of the processes it starts.
    fn in_a_process(mut self) -> Self {
        self.clock = Clock::Children;
        self
    }

    /// How long one run takes, for a size: the quickest of some measurements.
    fn measure(&self, size: usize) -> Seconds {
        let mut work = (self.make)(size);
        let mut runs = 1_u32;
        let mut measure = |runs: u32| self.clock.time(&mut || (0..runs).for_each(|_| work()));
        let mut time = measure(1);
        while time < LEAST {
            runs *= 2;
            time = measure(runs);
        }
        let quickest = (0..2).map(|_| measure(runs)).fold(time, f64::min);
        quickest / f64::from(runs)
    }
}

fn main() -> ExitCode {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|word| word == "--bench") {
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let rows = [
        calls::rows(),
        texts::rows(),
        requests::rows(),
        sessions::rows(),
        commands::rows(),
    ]
    .concat();
    println!(
        "{:<52}{:>22}{:>10}{:>10}{:>10}{:>8}",
        "path", "size", "1×", "2×", "4×", "ratio"
    );
    let mut is_fine = true;
    for row in rows
        .iter()
        .filter(|row| words.is_empty() || words.iter().any(|word| row.name.contains(word)))
    {
        let times = [1, 2, 4].map(|times| row.measure(times * row.size));
        let ratio = times[2] / times[0];
        let verdict = if ratio > MOST { "  not linear" } else { "" };
        is_fine &= ratio <= MOST;
        let shown = times.map(|time| format!("{:.2} ms", time * 1e3));
        let size = format!("{} {}", row.size, row.of);
        println!(
            "{:<52}{size:>22}{:>10}{:>10}{:>10}{ratio:>8.1}{verdict}",
            row.name, shown[0], shown[1], shown[2]
        );
    }
    ExitCode::from(u8::from(!is_fine))
}
