//! What can be told of a message that cannot be read as a whole.

use serde_json::Value;

/// The value of a member, as far as it is written: of those that stand so deep the last one. The message itself is 1 deep.
fn find_member<'t>(text: &'t str, depth: usize, key: &str) -> Option<&'t str> {
    let bytes = text.as_bytes();
    let (mut now, mut at, mut found) = (0_usize, 0, None);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => now += 1,
            b'}' | b']' => now = now.saturating_sub(1),
            b'"' => {
                let end = end_of_string(bytes, at);
                let rest = text.get(end + 1..).unwrap_or_default().trim_start();
                if now == depth && bytes.get(at + 1..end) == Some(key.as_bytes()) {
                    found = rest.strip_prefix(':').map(str::trim_start).or(found);
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    found.map(first_token)
}

/// Where a text ends that begins here, or where what is written of it ends.
fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let mut end = from + 1;
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    end
}

/// The text, or the word, that something begins with.
fn first_token(rest: &str) -> &str {
    let end = if rest.starts_with('"') {
        end_of_string(rest.as_bytes(), 0) + 1
    } else {
        let ends = |it: char| it.is_ascii_whitespace() || [',', '}', ']'].contains(&it);
        rest.find(ends).unwrap_or(rest.len())
    };
    rest.get(..end).unwrap_or(rest)
}

fn find_value(text: &str, depth: usize, key: &str) -> Option<Value> {
    serde_json::from_str(find_member(text, depth, key)?).ok()
}

/// The identifier of a message.
pub(super) fn id(text: &str) -> Option<Value> {
    find_value(text, 1, "id")
}

/// The tool that a message calls.
pub(super) fn tool_name(text: &str) -> Option<String> {
    let calls = find_value(text, 1, "method")? == "tools/call";
    let name = find_value(text, 2, "name").filter(|_| calls)?;
    name.as_str().map(str::to_owned)
}

/// Whether an answer says that the tool failed. That it says nothing readable of that does not mean that all went well.
pub(super) fn is_failed(text: &str) -> bool {
    let has_error = find_member(text, 1, "error").is_some_and(|error| !"null".starts_with(error));
    has_error || find_member(text, 2, "isError") == Some("true")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_readable_of_a_message_is_told() {
        let call = r#"{"params":{"arguments":{"name":"no","id":9,"x":},"name":"get"},"method":"tools/call","id":"a"}"#;
        assert_eq!(tool_name(call).as_deref(), Some("get"));
        assert_eq!(id(call), Some(json!("a")));
        assert_eq!(id(r#"{"id":3.0,"result":{"#), Some(json!(3.0)));
        assert_eq!(id(r#"{"id":"cu"#), None);
        assert_eq!(
            tool_name(r#"{"method":"tools/list","params":{"name":"x""#),
            None
        );
    }

    #[test]
    fn only_a_flag_that_stands_there_is_an_error() {
        for (text, is_error) in [
            (r#"{"result":{"content":[],"isError":true"#, true),
            (r#"{"result":{"isError" : true,"content":["#, true),
            (r#"{"result":{"isError":true}} and more"#, true),
            (r#"{"result":{"isError":tru"#, false),
            (r#"{"result":{"isError":"true","#, false),
            (r#"{"result":{"isError":false,"#, false),
            (r#"{"result":{"structuredContent":{"isError":true"#, false),
            (r#"{"result":{"content":[{"text":"\"isError\":true"#, false),
            (r#"{"error":{"code":-1,"mess"#, true),
            (r#"{"error":"no"#, true),
            (r#"{"error":null,"result":{"#, false),
            (r#"{"error":nu"#, false),
            (r#"{"error":"#, false),
            (r#"{"result":{"error":{"#, false),
        ] {
            assert_eq!(is_failed(text), is_error, "{text}");
        }
    }
}
