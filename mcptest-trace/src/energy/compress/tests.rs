//! Behaviour of history compression.

use proptest::prelude::*;

use super::*;

fn say(text: &str) -> Message<'_> {
    Message {
        text,
        ..Message::default()
    }
}

#[test]
fn scores_are_what_the_formula_gives() {
    // N = 2; "a" is in both messages, "b" and "c" in one each: ln(3/3) = 0 and ln(3/2).
    let compressed = Decimator::default().decimate(&[
        say("a b"),
        Message {
            text: "a c",
            tool: true,
            error: false,
        },
    ]);
    // Both have the largest relevance. The second shares one of three terms with the first.
    let expected = [0.35 + 0.25, 0.35 + 0.25 * 0.6 + 0.25 * (2.0 / 3.0) + 0.15];
    for (score, expected) in compressed.scores.iter().zip(expected) {
        assert!((score - expected).abs() < 1e-12, "{score} {expected}");
    }
}

#[test]
fn repeated_small_talk_goes_and_errors_stay() {
    let chatter = ["Let me look into that for you."; 3].map(say);
    let error = Message {
        text: "Let me look into that for you.",
        tool: true,
        error: true,
    };
    let mut messages = vec![say(
        "Book JFK to SEA on May 20 for Mia Li, user mia_li_3668",
    )];
    messages.extend(chatter);
    messages.push(error);
    messages.push(say("Your flight HAT136 is booked."));
    let compressed = Decimator::default().decimate(&messages);
    assert_eq!(compressed.kept, [true, true, false, false, true, true]);
}

#[test]
fn the_ends_are_kept_whatever_they_score() {
    let compressed = Decimator::default().decimate(&[say(""), say("one two"), say("")]);
    assert_eq!((compressed.kept[0], compressed.kept[2]), (true, true));
}

#[test]
fn no_more_than_the_cap_is_kept_the_best_ones() {
    let texts: Vec<String> = (0..80)
        .map(|index| format!("fact {index} word{index}"))
        .collect();
    let messages: Vec<_> = texts.iter().map(|text| say(text)).collect();
    let compressed = Decimator::default().decimate(&messages);
    assert_eq!(compressed.kept.iter().filter(|kept| **kept).count(), 50);
    // All else being equal, the newest score best.
    assert!(compressed.kept[31..].iter().all(|kept| *kept));
    assert!(compressed.kept[0] && !compressed.kept[1]);
}

#[test]
fn small_histories_are_kept_whole() {
    let decimator = Decimator::default();
    assert_eq!(decimator.decimate(&[]).saving(), 0.0);
    assert_eq!(decimator.decimate(&[say("")]).kept, [true]);
    assert_eq!(decimator.decimate(&[say("a"), say("a")]).kept, [true, true]);
}

#[test]
fn bad_options_are_refused() {
    let good = DecimatorOptions::default();
    assert!(Decimator::new(good).is_ok());
    assert!(
        Decimator::new(DecimatorOptions {
            threshold: f64::NAN,
            ..good
        })
        .is_err()
    );
    assert!(
        Decimator::new(DecimatorOptions {
            threshold: 1.1,
            ..good
        })
        .is_err()
    );
    assert!(Decimator::new(DecimatorOptions { recent: 0, ..good }).is_err());
    let error = Decimator::new(DecimatorOptions { most: 1, ..good }).unwrap_err();
    assert_eq!(error.to_string(), "`most` is 1; give 2 or more");
}

proptest! {
    #[test]
    fn scores_are_shares_and_the_rules_of_keeping_hold(
        texts in prop::collection::vec(("[a-eü東 ]{0,12}", any::<bool>(), any::<bool>()), 0..70),
        threshold in 0.0..=1.0,
        most in 2..60_usize,
    ) {
        let messages: Vec<_> = texts
            .iter()
            .map(|(text, tool, error)| Message { text, tool: *tool, error: *error })
            .collect();
        let decimator = Decimator::new(DecimatorOptions { threshold, most, ..DecimatorOptions::default() }).unwrap();
        let compressed = decimator.decimate(&messages);
        let Compression { scores, kept, .. } = &compressed;
        prop_assert_eq!(scores.len(), messages.len());
        prop_assert!(scores.iter().all(|score| (0.0..=1.0 + 1e-12).contains(score)));
        prop_assert!(kept.iter().filter(|kept| **kept).count() <= most);
        let inner = 1..messages.len().saturating_sub(1);
        prop_assert!(inner.clone().all(|index| !kept[index] || scores[index] >= threshold));
        let dropped = inner.clone().filter(|index| !kept[*index] && scores[*index] >= threshold);
        let best_dropped = dropped.map(|index| scores[index]).fold(0.0, f64::max);
        prop_assert!(inner.clone().all(|index| !kept[index] || scores[index] >= best_dropped));
        prop_assert!(kept.first().is_none_or(|kept| *kept) && kept.last().is_none_or(|kept| *kept));
        prop_assert!((0.0..=1.0).contains(&compressed.saving()));
        prop_assert_eq!(&compressed, &decimator.decimate(&messages));
    }
}
