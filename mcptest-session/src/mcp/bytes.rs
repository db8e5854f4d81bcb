//! Messages as bytes: a member is found and put in its place, and all else stays as it was written.

use std::ops::Range;

/// The place of a member's value, by the keys that lead to it. Of a key that stands twice the last one counts, as for
/// readers.
pub(crate) fn find_member(message: &[u8], path: &[&str]) -> Option<Range<usize>> {
    let mut place = 0..message.len();
    for key in path {
        place = find_member_in(message, place, key)?;
    }
    Some(place)
}

fn find_member_in(message: &[u8], place: Range<usize>, wanted: &str) -> Option<Range<usize>> {
    let mut at = skip_space(message, place.start);
    if message.get(at) != Some(&b'{') {
        return None;
    }
    at += 1;
    let mut found = None;
    loop {
        at = skip_space(message, at);
        if message.get(at) != Some(&b'"') {
            return found;
        }
        let key = at..end_of_string(message, at)?;
        at = skip_space(message, key.end);
        if message.get(at) != Some(&b':') {
            return found;
        }
        at = skip_space(message, at + 1);
        let value = at..end_of_value(message, at)?;
        if message[key.start + 1..key.end - 1] == *wanted.as_bytes() {
            found = Some(value.clone());
        }
        at = skip_space(message, value.end);
        if message.get(at) != Some(&b',') {
            return found;
        }
        at += 1;
    }
}

fn skip_space(message: &[u8], from: usize) -> usize {
    let rest = message.get(from..).unwrap_or_default();
    from + rest
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}

/// Where the text that begins here ends.
fn end_of_string(message: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        match message.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Where the value that begins here ends.
fn end_of_value(message: &[u8], from: usize) -> Option<usize> {
    let (mut at, mut depth) = (from, 0_usize);
    loop {
        match message.get(at) {
            None => return (depth == 0).then_some(at),
            Some(b'"') => at = end_of_string(message, at)?,
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
            }
            Some(b',' | b'}' | b']') if depth == 0 => return Some(at),
            Some(b'}' | b']') => {
                depth -= 1;
                at += 1;
            }
            Some(byte) if depth == 0 && byte.is_ascii_whitespace() => return Some(at),
            Some(_) => at += 1,
        }
        if depth == 0 && matches!(message.get(at - 1), Some(b'"' | b'}' | b']')) {
            return Some(at);
        }
    }
}

/// The message with another value at a place.
pub(crate) fn replace(message: &[u8], place: Range<usize>, value: &[u8]) -> Vec<u8> {
    [&message[..place.start], value, &message[place.end..]].concat()
}

/// The message on one line. No text of JSON holds the end of a line.
pub(super) fn to_one_line(message: &[u8]) -> Vec<u8> {
    let is_end = |byte: u8| byte == b'\n' || byte == b'\r';
    let bytes = message.trim_ascii().iter();
    bytes
        .map(|byte| if is_end(*byte) { b' ' } else { *byte })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_found_and_replaced_and_nothing_else_changes() {
        let message = br#" { "a" : {"id":"no"}, "big":1180591620717411303424, "id" : 7 , "params": {"x":[{"requestId":1}], "requestId":"q\"}"} }"#;
        let text = |path: &[&str]| {
            let place = find_member(message, path).unwrap();
            std::str::from_utf8(&message[place]).unwrap()
        };
        assert_eq!(text(&["id"]), "7");
        assert_eq!(text(&["a", "id"]), "\"no\"");
        assert_eq!(text(&["params", "requestId"]), r#""q\"}""#);
        assert_eq!(text(&["big"]), "1180591620717411303424");
        assert_eq!(find_member(message, &["other"]), None);
        assert_eq!(find_member(b"[1]", &["id"]), None);
        let place = find_member(message, &["id"]).unwrap();
        let new = replace(message, place, b"\"mcptest-1\"");
        let old = String::from_utf8_lossy(message).replace(": 7 ,", ": \"mcptest-1\" ,");
        assert_eq!(String::from_utf8_lossy(&new), old);
    }

    #[test]
    fn a_member_of_what_is_cut_is_not_looked_for_beyond_its_end() {
        let message = br#"{"a":{"b":[1,"x\"y"]},"id":12}"#;
        for end in 0..message.len() {
            let _ = find_member(&message[..end], &["id"]);
            let _ = find_member(&message[..end], &["a", "b"]);
        }
    }

    #[test]
    fn a_message_of_many_lines_is_written_on_one() {
        assert_eq!(to_one_line(b"{\r\n \"a\":1\n}\n"), b"{   \"a\":1 }");
    }
}
