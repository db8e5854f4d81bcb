//! The first sentence: each agent in it once, and no number that is not true.

use super::*;

fn options() -> CompareOptions {
    CompareOptions::default().with_fail_on([Metric::Outcomes])
}

fn status_and_headline(samples: &[AgentSamples]) -> (u8, String) {
    let found = compare(samples, &options());
    (found.exit_status(), found.headline())
}

#[test]
fn who_no_longer_passes_in_few_runs_is_counted_once() {
    let alone = outcomes_only(&[(2, 0, 2), (20, 20, 20), (20, 20, 20)]);
    assert_eq!(
        status_and_headline(&alone).1,
        "None of 3 agents is shown to be worse, 1 no longer passes in any run, but the runs are too few to show a loss \
         (`agent_000`: 2 of 2 → 0 of 2): 2 more runs would do."
    );
    let with_another = outcomes_only(&[(2, 0, 2), (2, 2, 2), (20, 20, 20)]);
    assert_eq!(
        status_and_headline(&with_another).1,
        "None of 3 agents is shown to be worse, 1 no longer passes in any run, but the runs are too few to show a loss \
         (`agent_000`: 2 of 2 → 0 of 2): 2 more runs would do, 1 has too few runs to show a loss: 2 more runs would do."
    );
}

/// Of so many nothing is known, and not of all that were compared.
#[test]
fn only_those_of_which_nothing_is_known_are_unclear() {
    let mut samples = outcomes_only(&[(6, 6, 6), (6, 6, 6), (6, 6, 6)]);
    let Sides::Both { candidate, .. } = &mut samples[0].sides else {
        panic!("it has runs on both sides");
    };
    candidate[0].outcome_recorded = false;
    let (status, first) = status_and_headline(&samples);
    assert_eq!(status, 3);
    assert_eq!(
        first,
        "It is not clear whether 1 of 3 agents got worse, 1 has fewer recorded outcomes than before (`agent_000`)."
    );
    // What cannot be told is of an agent that was not compared.
    let mut samples = outcomes_only(&[(6, 6, 6), (6, 6, 6)]);
    samples.push(AgentSamples::new("a", Sides::Gone));
    let (status, first) = status_and_headline(&samples);
    assert_eq!(status, 3);
    assert_eq!(
        first,
        "None of 2 agents is shown to be worse, 1 gone (`a`), not compared."
    );
    let (status, first) = status_and_headline(&outcomes_only(&[(0, 0, 2), (1, 1, 1)]));
    assert_eq!(status, 3);
    assert!(
        first.starts_with("It is not clear whether 1 of 2 agents got worse, "),
        "{first}"
    );
    let (status, first) = status_and_headline(&outcomes_only(&[(1, 1, 1), (1, 1, 1)]));
    assert_eq!(status, 3);
    assert!(
        first.starts_with("It is not clear whether 2 agents got worse, "),
        "{first}"
    );
}

/// A suite asks for it, and nobody recorded it: it is neither compared nor new.
#[test]
fn an_agent_without_a_recording_is_told_and_is_no_failure() {
    let samples = [
        AgentSamples::new("late", Sides::Unrecorded),
        AgentSamples::new("same", Sides::Unchanged),
    ];
    let (status, first) = status_and_headline(&samples);
    assert_eq!(status, 0);
    assert_eq!(
        first,
        "Nothing changed: the recordings of 1 agent are the same on both sides, 1 has no recording on either side (`late`)."
    );
    let text = compare(&samples, &options()).text(ShownAgents::All);
    assert!(
        text.contains("\nwithout a recording on either side: `late`\n"),
        "{text}"
    );
    assert_eq!(status_and_headline(&samples[..1]).0, 3);
}

#[test]
fn why_an_agent_is_gone_is_said_where_it_is_known() {
    let known = AgentSamples::new("a", Sides::Gone)
        .with_gone_because(Some("its recordings are of the model `m`".to_owned()));
    let samples = [known, AgentSamples::new("b", Sides::Gone)];
    let text = compare(&samples, &options()).text(ShownAgents::All);
    for line in [
        "\ngone, because its recordings are of the model `m`: `a`\n",
        "\ngone, because there is no recording of it now: `b`\n",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}
