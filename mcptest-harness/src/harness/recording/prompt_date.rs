//! A date in the system prompt: it is the same while the new runs are played, and another one tomorrow.

use regex::Regex;
use serde_json::Value;

use crate::eval::PlaybackOptions;

/// The months, as prompts write them.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The forms of a date in a text, each with the mask for dates of this form.
fn date_forms(date: &str) -> Option<[(String, &'static str); 3]> {
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
    let day = day.trim_start_matches('0');
    Some([
        (date.to_owned(), r"\d{4}-\d{2}-\d{2}"),
        (
            format!("{month} {day}, {year}"),
            r"[A-Z][a-z]+ \d{1,2}, \d{4}",
        ),
        (
            format!("{day} {month} {year}"),
            r"\d{1,2} [A-Z][a-z]+ \d{4}",
        ),
    ])
}

/// Whether a date stands in a text, and is no part of a longer number.
fn contains_date(text: &str, date: &str) -> bool {
    let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
    text.match_indices(date).any(|(at, _)| {
        let after = text[at + date.len()..].chars().next();
        !is_digit(text[..at].chars().next_back()) && !is_digit(after)
    })
}

/// What is said of a run of an agent that is played; nothing where the suite's masks blank the date.
pub(super) fn date_note(agent: &str, run: &Value, options: &PlaybackOptions) -> Option<String> {
    let date = run["recorded_at"].as_str()?.get(..10)?;
    let mut prompt = run["system_prompt"].as_str()?.to_owned();
    for mask in options.mask.iter().filter_map(|mask| Regex::new(mask).ok()) {
        prompt = mask.replace_all(&prompt, "\u{0}").into_owned();
    }
    let (found, mask) = date_forms(date)?
        .into_iter()
        .find(|(form, _)| contains_date(&prompt, form))?;
    let mut masks = options.mask.clone();
    masks.push(mask.to_owned());
    let masks = masks
        .iter()
        .map(|mask| format!("'{}'", mask.replace('\'', "''")));
    let masks = masks.collect::<Vec<_>>().join(", ");
    Some(format!(
        "note: the system prompt of `{agent}` has the date of the recording, {found}, and will have another one tomorrow; to leave dates \
         out of the comparison, write: playback: {{ mask: [{masks}] }}"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_day_of_the_recording_is_found_in_each_form_and_its_mask_blanks_it() {
        let told = |prompt: &str| {
            let run = json!({ "recorded_at": "2026-03-05T10:00:00Z", "system_prompt": prompt });
            super::date_note("Clerk", &run, &PlaybackOptions::suite_default())
        };
        for (prompt, date) in [
            ("Today is 2026-03-05.", "2026-03-05"),
            ("Today is Thursday, March 5, 2026.", "March 5, 2026"),
            ("Today is 5 March 2026.", "5 March 2026"),
        ] {
            let told = told(prompt).unwrap();
            assert!(told.contains(&format!("the recording, {date}, ")), "{told}");
            let (_, mask) = told.split_once("mask: ['").unwrap();
            let mask = Regex::new(mask.trim_end_matches("'] }")).unwrap();
            assert_eq!(mask.find(prompt).unwrap().as_str(), date);
        }
        assert_eq!(
            told("Orders from 2026-03-04 to 15 March 2026, file 2026-03-051."),
            None
        );
        assert_eq!(told(""), None);
    }
}
