//! The data in a page of the report.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::read::DeflateDecoder;
use serde_json::Value;

const BEGIN: &str = "<script type=\"application/octet-stream\" id=\"";

/// The data of this name.
pub(crate) fn piece(page: &str, id: &str) -> Value {
    let mut all = pieces(page).filter(|(name, _)| *name == id);
    all.next().unwrap().1
}

/// All data, each with its name.
pub(crate) fn pieces(page: &str) -> impl Iterator<Item = (&str, Value)> {
    page.split(BEGIN).skip(1).map(|piece| {
        let (id, packed) = piece.split_once("\">").unwrap();
        let (packed, _) = packed.split_once('<').unwrap();
        let bytes = BASE64.decode(packed).unwrap();
        let data = serde_json::from_reader(DeflateDecoder::new(&bytes[..])).unwrap();
        (id, data)
    })
}
