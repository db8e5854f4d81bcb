//! What a live guard costs: a step, an encoding, a comparison, a compressed history.

#![allow(clippy::unwrap_used, reason = "a benchmark is a test")]

use divan::{Bencher, black_box};
use mcptest_trace::energy::{
    Decimator, GrowthRatioGuard, GuardOptions, Hypervector, LyapunovMonitor, Message, Step,
};

/// Steps in a run.
const STEPS: u64 = 30;

fn main() {
    divan::main();
}

/// A run of thirty steps; divide by thirty.
#[divan::bench]
fn guard_thirty_steps(bencher: Bencher) {
    bencher
        .with_inputs(|| GrowthRatioGuard::new(GuardOptions::default()).unwrap())
        .bench_values(|mut guard| {
            for index in 0..STEPS {
                let _ = black_box(guard.record(Step::new(black_box(1_000 + index))));
            }
            guard
        });
}

/// A run of thirty steps; divide by thirty.
#[divan::bench]
fn naive_thirty_steps(bencher: Bencher) {
    bencher
        .with_inputs(LyapunovMonitor::default)
        .bench_values(|mut monitor| {
            for index in 0..STEPS {
                let _ = black_box(monitor.record(Step::new(black_box(2_000 - index))));
            }
            monitor
        });
}

#[divan::bench]
fn encode_1536_characters(bencher: Bencher) {
    let text: String = SENTENCES.chars().cycle().take(1_536).collect();
    bencher.bench(|| Hypervector::encode(black_box(&text)));
}

/// Bundles vectors of which each is counted for itself: nearly as many votes as `encode_1536_characters` has.
#[divan::bench]
fn bundle_1534_vectors(bencher: Bencher) {
    let vectors: Vec<Hypervector> = (0..1_534).map(Hypervector::item).collect();
    bencher.bench(|| Hypervector::bundle(black_box(&vectors)));
}

/// A text in which no sentence stands twice: a licence.
#[divan::bench]
fn encode_1536_characters_of_prose(bencher: Bencher) {
    let text: String = PROSE.chars().take(1_536).collect();
    assert_eq!(text.len(), 1_536);
    bencher.bench(|| Hypervector::encode(black_box(&text)));
}

#[divan::bench]
fn cosine(bencher: Bencher) {
    let (left, right) = (Hypervector::item(1), Hypervector::item(2));
    bencher.bench(|| black_box(&left).cosine(black_box(&right)));
}

#[divan::bench]
fn decimate_100_messages(bencher: Bencher) {
    let texts: Vec<String> = (0..100_u32)
        .map(|index| {
            let error = if index.is_multiple_of(9) {
                " error: timeout"
            } else {
                ""
            };
            format!(
                "message {index}: user asked about flight {} and tool returned seats {} price {}\
                 {error}{}",
                index * 7,
                index * 3,
                index * 11,
                " lorem ipsum dolor sit amet consectetur".repeat(3),
            )
        })
        .collect();
    let messages: Vec<_> = texts
        .iter()
        .map(|text| Message::new(text).with_error(text.contains("error")))
        .collect();
    let decimator = Decimator::default();
    bencher.bench(|| decimator.decimate(black_box(&messages)));
}

const PROSE: &str = include_str!("../LICENSE-APACHE");

const SENTENCES: &str = "The agent must confirm the booking details with the customer before it \
    charges the card on file. Basic economy flights cannot be modified, but can be cancelled \
    within 24 hours of booking. Each reservation has at most five passengers. ";
