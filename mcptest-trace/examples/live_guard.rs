//! An agent loop under a live guard: the agent sends everything it has seen with every call,
//! spirals, and is stopped.
//!
//! Run with `cargo run --example live_guard`.

use mcptest_trace::energy::{
    EnergyError, GrowthRatioGuard, GuardOptions, HolographicEngine, OptionsError, Status, Step,
};

const POLICY: &str = "Help customers with their bookings. Ask for the booking number, look it up, \
    and cancel or change it as the customer asks.";

/// What a model call returns here: the answer, and how many characters of tool output it led to.
fn call_model(turn: usize) -> (String, usize) {
    match turn {
        0..3 => (
            format!("I look up booking number {turn} as the customer asks."),
            300,
        ),
        3..5 => (
            "The booking could be cancelled or changed.".to_owned(),
            1_500,
        ),
        _ => (
            format!("Hmm, let me dump table {turn} again..."),
            1_500 * turn,
        ),
    }
}

fn run(guard: &mut GrowthRatioGuard, policy: &HolographicEngine) -> Result<(), EnergyError> {
    let mut context = 4_000;
    for turn in 0..50 {
        let (answer, output) = call_model(turn);
        let characters = context + answer.len();
        let tokens = characters.div_ceil(4) as u64;
        let step = Step::new(tokens).with_drift(policy.drift("bookings", &answer));
        // The only line a guard needs; `?` ends the loop when it trips or freezes.
        if guard.record(step)? == Status::Warning {
            println!("turn {turn}: warning, {} tokens in one step", step.tokens);
        }
        context = characters + output;
    }
    Ok(())
}

fn main() -> Result<(), OptionsError> {
    let mut policy = HolographicEngine::new();
    policy.register("bookings", POLICY);
    let options = GuardOptions::default().with_drift_threshold(0.7);
    let mut guard = GrowthRatioGuard::new(options)?;

    if let Err(stopped) = run(&mut guard, &policy) {
        println!("stopped: {stopped}\n");
    }
    println!("{}", guard.report());
    Ok(())
}
