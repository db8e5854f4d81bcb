//! Pictures, sounds and files in a run: what they are and a digest, never their bytes.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// Below this length a text is no payload: the note would be longer.
const SHORTEST: usize = 64;

/// What is kept of a payload.
struct Blob {
    mime_type: String,
    bytes: usize,
    sha256: String,
}

impl Blob {
    fn from_base64(mime_type: &str, payload: &str) -> Option<Self> {
        let compact: String = payload.split_ascii_whitespace().collect();
        let engines = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD];
        let bytes = engines.iter().find_map(|it| it.decode(&compact).ok())?;
        Some(Self {
            mime_type: mime_type.to_owned(),
            bytes: bytes.len(),
            sha256: hex(&Sha256::digest(&bytes)),
        })
    }

    /// The payload of a `data:` address.
    fn of_address(text: &str) -> Option<Self> {
        let (head, payload) = text.strip_prefix("data:")?.split_once(',')?;
        let mime_type = head.strip_suffix(";base64")?;
        Self::from_base64(mime_type.split(';').next().unwrap_or_default(), payload)
    }

    fn value(&self, kind: &str) -> Value {
        json!({
            "type": kind,
            "mime_type": self.mime_type,
            "bytes": self.bytes,
            "sha256": self.sha256,
        })
    }

    fn words(&self, kind: &str) -> String {
        let Self {
            mime_type,
            bytes,
            sha256,
        } = self;
        format!(
            "[{kind} {mime_type} {bytes} bytes sha256:{}]",
            &sha256[..12]
        )
    }
}

/// Lower-case hex digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The payload that an object is, as MCP and the providers write them.
fn payload_of(map: &Map<String, Value>) -> Option<(String, Blob)> {
    let own = |key: &str| map.get(key).and_then(Value::as_str);
    let kind = own("type").or_else(|| own("modality")).unwrap_or("blob");
    for inner in ["source", "image_url", "input_audio", "file", "inline_data"] {
        if let Some(Value::Object(inside)) = map.get(inner)
            && let Some((_, blob)) = payload_of(inside)
        {
            return Some((kind.to_owned(), blob));
        }
    }
    let mime = ["mimeType", "mime_type", "media_type", "format"];
    let mime = mime.iter().find_map(|key| own(key));
    for key in [
        "data",
        "blob",
        "content",
        "base64",
        "file_data",
        "url",
        "image_url",
    ] {
        let Some(text) = own(key) else { continue };
        let by_address = Blob::of_address(text);
        let plain = || {
            let held = !matches!(key, "url" | "image_url" | "file_data");
            let blobs = key != "content" || own("type") == Some("blob");
            let mime = mime.filter(|_| held && blobs && text.len() >= SHORTEST)?;
            Blob::from_base64(mime, text)
        };
        if let Some(blob) = by_address.or_else(plain) {
            return Some((kind.to_owned(), blob));
        }
    }
    None
}

/// Replaces payloads by what is kept of them, at any depth.
pub fn condense(value: &mut Value) {
    match value {
        Value::String(text) if text.starts_with("data:") => {
            if let Some(blob) = Blob::of_address(text) {
                *value = blob.value("data");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(condense),
        Value::Object(map) => {
            if let Some((kind, blob)) = payload_of(map) {
                *value = blob.value(&kind);
                return;
            }
            shorten_addresses(map);
            map.values_mut().for_each(condense);
        }
        _ => {}
    }
}

/// Replaces payloads in the arguments of a call. What stands beside a payload stays: it says where that goes.
pub(crate) fn condense_arguments(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for value in map.values_mut() {
                match value {
                    Value::Object(_) | Value::Array(_) => condense_arguments(value),
                    // An address of data tells its kind itself; any other text may be what is asked of.
                    other => condense(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(condense_arguments),
        other => condense(other),
    }
}

/// What a turn says of a part that is no text: a payload, or where it lies.
#[must_use]
pub fn words(part: &Value) -> String {
    let Value::Object(map) = part else {
        return part.as_str().unwrap_or_default().to_owned();
    };
    let kind = map.get("type").and_then(Value::as_str).unwrap_or("part");
    if let Some((kind, blob)) = payload_of(map) {
        return blob.words(&kind);
    }
    let mut rest = Value::Object(map.clone());
    condense(&mut rest);
    if let Some(map) = rest.as_object_mut() {
        map.remove("type");
    }
    let rest = mcptest_trace::trace::canonical_json(&rest);
    format!("[{kind} {rest}]")
}

/// The kinds of parts that say where something lies.
const ELSEWHERE: [&str; 10] = [
    "audio",
    "document",
    "file",
    "image",
    "image_url",
    "input_file",
    "input_image",
    "resource_link",
    "uri",
    "video",
];

/// Leaves of the address of a part what leads to the place, and not who may go there.
fn shorten_addresses(part: &mut Map<String, Value>) {
    let kind = part.get("type").and_then(Value::as_str);
    if !kind.is_some_and(|kind| ELSEWHERE.contains(&kind)) {
        return;
    }
    for key in ["url", "uri", "image_url", "source", "file"] {
        match part.get_mut(key) {
            Some(Value::String(text)) => shorten(text),
            Some(Value::Object(inner)) => {
                if let Some(Value::String(text)) = inner.get_mut("url") {
                    shorten(text);
                }
            }
            _ => {}
        }
    }
}

fn shorten(address: &mut String) {
    if address.contains("://")
        && let Some(end) = address.find(['?', '#'])
    {
        address.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condensed(mut value: Value) -> Value {
        condense(&mut value);
        value
    }

    fn payload() -> String {
        STANDARD.encode([7_u8; 100])
    }

    #[test]
    fn a_payload_leaves_its_type_length_and_digest() {
        let kept = json!({ "type": "image", "mime_type": "image/png", "bytes": 100,
            "sha256": hex(&Sha256::digest([7_u8; 100])) });
        for block in [
            json!({ "type": "image", "data": payload(), "mimeType": "image/png" }),
            json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": payload() } }),
            json!({ "type": "image", "image_url": { "url": format!("data:image/png;base64,{}", payload()) } }),
        ] {
            assert_eq!(condensed(json!([block])), json!([kept]));
        }
    }

    #[test]
    fn what_is_no_payload_stays() {
        for value in [
            json!({ "type": "text", "text": "data: none" }),
            json!({ "data": "a short one", "mimeType": "text/plain" }),
            json!({ "type": "note", "content": payload(), "format": "x" }),
            json!("data:,hello"),
            json!({ "url": "https://a.b/search?q=order" }),
        ] {
            assert_eq!(condensed(value.clone()), value);
        }
    }

    #[test]
    fn an_address_loses_its_query() {
        let block =
            json!({ "type": "image_url", "image_url": { "url": "https://a.b/c.png?key=secret" } });
        assert_eq!(
            condensed(block)["image_url"]["url"],
            json!("https://a.b/c.png")
        );
        assert!(
            !words(&json!({ "type": "image", "url": "https://a.b/c?k=secret" })).contains("secret")
        );
    }
}
