//! What the program says to the user.

use serde_json::Value;

use super::agent::{Agent, player};
use super::answers::{by_hand, options};
use crate::play::PlayOptions;
use crate::record::RunOptions;

/// A recording of an agent whose program printed this.
async fn printed(run: impl Fn(RunOptions) -> RunOptions) -> Value {
    let agent = Agent::default();
    let source = player(&by_hand(), PlayOptions::default());
    agent.plays(&source).await;
    source.run(&run(options(&agent))).unwrap()
}

fn closing(text: &str) -> impl Fn(RunOptions) -> RunOptions {
    let text = text.to_owned();
    move |run| RunOptions {
        closing: Some(text.clone()),
        ..run
    }
}

fn divergences(cassette: &Value, play: PlayOptions, run: &RunOptions) -> Vec<(String, String)> {
    let found = player(cassette, play).closing_divergences(run);
    let told = found.iter().map(|one| (one.path.clone(), one.to_string()));
    told.collect()
}

#[tokio::test]
async fn what_the_program_prints_is_held_against_what_it_printed() {
    let agent = Agent::default();
    let run = |text: &str| closing(text)(options(&agent));
    // Words of its own, and the words of the model.
    for recorded in ["3 orders cancelled.", "All three are cancelled."] {
        let cassette = printed(closing(recorded)).await;
        let found = |run: &RunOptions| divergences(&cassette, PlayOptions::default(), run);
        assert_eq!(found(&run(&format!("{recorded}\n"))), []);
        let path = "final_response".to_owned();
        let differs = (path.clone(), "the output of the program differs".to_owned());
        assert_eq!(found(&run("2 orders cancelled.")), [differs]);
        let silent = (path, "the program prints nothing".to_owned());
        assert_eq!(found(&run(" ")), [silent]);
        // The suite asks for what the model said last.
        assert_eq!(found(&options(&agent)), []);
    }
    let cassette = printed(closing("3 orders cancelled.")).await;
    let mut ignored = PlayOptions::default();
    let kind = mcptest_trace::eval::DivergenceKind::FinalResponse;
    ignored.compared.ignore.insert(kind);
    let mut masked = PlayOptions::default();
    masked.masks.push(regex::Regex::new(r"\d+").unwrap());
    for options in [ignored, masked] {
        assert_eq!(
            divergences(&cassette, options, &run("2 orders cancelled.")),
            []
        );
    }
}

#[tokio::test]
async fn a_closing_of_the_model_is_not_held_against_what_the_program_prints() {
    let agent = Agent::default();
    let run = closing("Something else.")(options(&agent));
    let cassette = printed(|run| run).await;
    assert_eq!(divergences(&cassette, PlayOptions::default(), &run), []);
    // What another source calls the closing is what the user read.
    let told = divergences(&by_hand(), PlayOptions::default(), &run);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].0, "final_response");
}

#[tokio::test]
async fn what_is_said_to_each_turn_is_compared() {
    let agent = Agent::default();
    let says = |first: &str, last: &str| {
        let said = vec![first.to_owned(), last.to_owned()];
        move |run: RunOptions| RunOptions {
            closing: said.last().cloned(),
            said: said.clone(),
            ..run
        }
    };
    let cassette = printed(says("Sure?", "Done.")).await;
    let paths = |first: &str, last: &str| {
        let run = says(first, last)(options(&agent));
        let told = divergences(&cassette, PlayOptions::default(), &run);
        told.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
    };
    assert!(paths("Sure?", "Done.").is_empty());
    assert_eq!(paths("Really?", "Done."), ["said[0]"]);
    assert_eq!(paths("Sure?", "No."), ["final_response"]);
}
