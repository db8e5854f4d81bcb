//! What a shorter history saves, and what other limits and simpler monitors would have done with recorded runs.
//!
//! Run with `cargo run -p mcptest-trace --example energy_options`.

use mcptest_trace::energy::{
    Decimator, GuardOptions, LyapunovMonitor, Message, NaiveCap, OptionsError, Step, SweepRun,
    ablation, sweep,
};

fn compress() {
    let history = [
        Message::new("Cancel booking ABC123, please."),
        Message::new("One moment."),
        Message::new("get_booking ABC123").with_tool(true),
        Message::new("Error: no such booking")
            .with_tool(true)
            .with_error(true),
        Message::new("One moment."),
        Message::new("I cannot find the booking ABC123."),
    ];
    let compressed = Decimator::default().decimate(&history);
    println!("sent again, {:.0} % shorter:", 100.0 * compressed.saving());
    for message in compressed.select(&history) {
        println!("  {}", message.text);
    }
}

/// The step at which each of the simpler monitors stops a run.
fn naive(steps: &[Step]) -> Result<[Option<usize>; 2], OptionsError> {
    let mut cap = NaiveCap::new(16_000)?;
    let mut energy = LyapunovMonitor::default();
    let capped = steps.iter().find_map(|step| cap.record(*step).err());
    let risen = steps.iter().find_map(|step| energy.record(*step).err());
    Ok([capped, risen].map(|stopped| stopped.map(|why| why.step())))
}

fn main() -> Result<(), OptionsError> {
    compress();

    let growing = [1000, 1400, 1800, 2200, 2600, 3000, 3400].map(Step::new);
    let spiral = [1000, 1000, 1000, 4000, 4000, 4000, 5000].map(Step::new);
    println!("\nsimpler monitors, the step at which each stops a run:");
    for (name, steps) in [("growing", &growing), ("spiral", &spiral)] {
        let [cap, energy] = naive(steps)?;
        println!("  {name}: cap {cap:?}, energy {energy:?}");
    }

    // The steps of recorded runs, and whether each run passed.
    let runs = [
        SweepRun::new(&growing, Some(true)),
        SweepRun::new(&spiral, Some(false)),
    ];
    let options = GuardOptions::default();
    println!("\n{}", sweep(&runs, &[1.5, 2.0, 5.0], &[1, 3], options)?);

    println!("\nwhat each monitor would have stopped:");
    for (condition, tally) in ablation(&runs, options.with_token_budget(16_000))? {
        let (right, wrong) = (tally.true_positives, tally.false_positives);
        let saved = 100.0 * tally.token_saving();
        println!(
            "  {condition:?}: {right} failed, {wrong} passed; {saved:.0} % of the tokens saved"
        );
    }
    Ok(())
}
