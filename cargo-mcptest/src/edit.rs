//! A suite with some numbers changed in place and a comment above each: every other byte stays.

use std::collections::BTreeMap;

use mcptest_suite::Span;

/// A change of a suite's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The bytes that are replaced.
    pub(crate) span: Span,
    /// The new text.
    pub(crate) text: String,
    /// The lines of the comment above it, without `#`.
    pub(crate) comment: Vec<String>,
}

/// Two changes of one place, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EditConflict(pub(crate) usize);

/// How a comment begins and goes on that an earlier calibration wrote.
const EARLIER: (&str, &str) = ("# calibrated on ", "# leave-one-");

/// The text with these changes. What several agents share (by an anchor, or `defaults:`) may be
/// changed several times to the same.
pub(crate) fn apply_edits(text: &str, edits: &[Edit]) -> Result<String, EditConflict> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| edit.span);
    edits.dedup();
    if let Some(pair) = edits
        .windows(2)
        .find(|pair| pair[1].span.start < pair[0].span.end.max(pair[0].span.start + 1))
    {
        return Err(EditConflict(pair[1].span.start));
    }
    // Where each line begins that gets a comment, and what is said there.
    let mut comments: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for edit in &edits {
        let said = comments
            .entry(line_start(text, edit.span.start))
            .or_default();
        let new = edit
            .comment
            .iter()
            .map(String::as_str)
            .filter(|line| !said.contains(line));
        let new: Vec<&str> = new.collect();
        said.extend(new);
    }
    let mut out = String::with_capacity(text.len() + 200 * edits.len());
    let mut edits = edits.into_iter().peekable();
    let mut copied = 0;
    for (line, said) in comments {
        copied = copy_until(text, copied, line, &mut edits, &mut out);
        if said.is_empty() {
            continue;
        }
        out.truncate(earlier_comments_start(&out));
        let rest = &text[line..];
        let indent = &rest[..rest.len() - rest.trim_start_matches(' ').len()];
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        out.extend(said.iter().map(|said| format!("{indent}# {said}{end}")));
    }
    copy_until(text, copied, text.len() + 1, &mut edits, &mut out);
    Ok(out)
}

/// Copies the text up to a place, with the changes that begin before it; beyond the end for all.
fn copy_until<'e>(
    text: &str,
    mut from: usize,
    to: usize,
    edits: &mut std::iter::Peekable<impl Iterator<Item = &'e Edit>>,
    out: &mut String,
) -> usize {
    while let Some(edit) = edits.next_if(|edit| edit.span.start < to) {
        out.push_str(&text[from..edit.span.start]);
        out.push_str(&edit.text);
        from = edit.span.end;
    }
    let end = to.min(text.len());
    if from < end {
        out.push_str(&text[from..end]);
    }
    from.max(end)
}

/// Where the line of a byte begins.
pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Where the comments of an earlier calibration begin that a text ends with.
fn earlier_comments_start(text: &str) -> usize {
    let mut end = text.len();
    loop {
        let last = |end: usize| {
            let start = line_start(text, end.checked_sub(1)?);
            Some((start, text[start..end].trim()))
        };
        let Some((second_start, second)) = last(end) else {
            return end;
        };
        match last(second_start) {
            Some((start, first))
                if first.starts_with(EARLIER.0) && second.starts_with(EARLIER.1) =>
            {
                end = start;
            }
            _ => return end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, old: &str, new: &str, comment: &[&str]) -> Edit {
        let start = text.find(old).unwrap();
        Edit {
            span: Span::new(start, start + old.len()),
            text: new.to_owned(),
            comment: comment.iter().map(|line| (*line).to_owned()).collect(),
        }
    }

    const SAID: [&str; 2] = [
        "calibrated on 36 passed runs of 18 agents;",
        "leave-one-agent-out 1 of 36",
    ];

    #[test]
    fn a_number_changes_and_nothing_else() {
        let text = "agents:\r\n- name: \"a\"   # odd\r\n  energy:\r\n    expect: [{ target: x,   matcher: { max: 2.5 } }] # why\r\n\r\n# end";
        let after = apply_edits(text, &[edit(text, "2.5", "2.7198", &SAID)]).unwrap();
        assert_eq!(
            after,
            "agents:\r\n- name: \"a\"   # odd\r\n  energy:\r\n    # calibrated on 36 passed runs of 18 agents;\r\n    \
             # leave-one-agent-out 1 of 36\r\n    expect: [{ target: x,   matcher: { max: 2.7198 } }] # why\r\n\r\n# end"
        );
    }

    #[test]
    fn a_second_calibration_takes_the_place_of_the_first_comment() {
        let text = "a:\n  # mine\n  b: 1\n";
        let once = apply_edits(text, &[edit(text, "1", "2", &SAID)]).unwrap();
        let other = [
            "calibrated on 40 passed runs;",
            "leave-one-agent-out 2 of 40",
        ];
        let twice = apply_edits(&once, &[edit(&once, "b: 2", "b: 3", &other)]).unwrap();
        assert_eq!(
            twice,
            "a:\n  # mine\n  # calibrated on 40 passed runs;\n  # leave-one-agent-out 2 of 40\n  b: 3\n"
        );
        let same = apply_edits(&twice, &[edit(&twice, "3", "3", &other)]).unwrap();
        assert_eq!(same, twice);
    }

    #[test]
    fn numbers_of_one_line_have_their_comments_above_it() {
        let text = "- { a: 1, b: 22 }";
        let edits = [
            edit(text, "22", "3", &["of b"]),
            edit(text, "1", "4", &["of a"]),
            edit(text, "1", "4", &["of a"]),
        ];
        assert_eq!(
            apply_edits(text, &edits),
            Ok("# of a\n# of b\n- { a: 4, b: 3 }".to_owned())
        );
    }

    #[test]
    fn two_answers_for_one_place_are_refused() {
        let text = "a: 10";
        let edits = [edit(text, "10", "3", &[]), edit(text, "10", "4", &[])];
        assert_eq!(apply_edits(text, &edits), Err(EditConflict(3)));
        let edits = [edit(text, "10", "3", &[]), edit(text, "0", "4", &[])];
        assert_eq!(apply_edits(text, &edits), Err(EditConflict(4)));
        assert_eq!(apply_edits(text, &[]), Ok(text.to_owned()));
    }

    proptest::proptest! {
        #[test]
        fn what_is_not_changed_stays(text in "[a-z#: \r\n]{0,60}", at in 0_usize..60, length in 0_usize..5) {
            let start = at.min(text.len());
            let span = Span::new(start, (start + length).min(text.len()));
            let edit = Edit { span, text: "9".to_owned(), comment: Vec::new() };
            let after = apply_edits(&text, &[edit]).unwrap();
            proptest::prop_assert_eq!(after, format!("{}9{}", &text[..span.start], &text[span.end..]));
        }
    }
}
