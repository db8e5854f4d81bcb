//! What tells one thing from another in 16 bytes.

use mcptest_trace::trace::canonical_json;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::blob::hex;

/// The first half of a SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 16]);

impl Digest {
    /// The digest of some texts, each apart from the next.
    #[must_use]
    pub fn from_parts(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        let mut first = [0; 16];
        first.copy_from_slice(&hash.finalize()[..16]);
        Self(first)
    }

    /// The digest of a value, whatever the order of its keys.
    #[must_use]
    pub fn from_value(value: &Value) -> Self {
        Self::from_parts(&[&canonical_json(value)])
    }

    /// The digest of this digest and a text after it.
    #[must_use]
    pub fn chain(self, next: &str) -> Self {
        Self::from_parts(&[&hex(&self.0), next])
    }
}

/// The identifier of a record that has none.
#[must_use]
pub fn content_id(value: &Value) -> String {
    let digest = Sha256::digest(canonical_json(value).as_bytes());
    format!("sha256:{}", hex(&digest[..8]))
}
