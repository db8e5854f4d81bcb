//! Copies of compressed bodies, to be read. What is passed on stays compressed.

use std::io::{self, Read};

use brotli_decompressor::Decompressor;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

/// How much is decoded at once, in bytes.
const PART: usize = 64 << 10;

/// What a body holds, and why it is not all of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DecodedBody {
    pub(super) bytes: Vec<u8>,
    pub(super) problem: Option<String>,
}

/// Decodes a body. Of one that breaks off, what came is kept.
pub(super) fn decode_body(encodings: &[String], body: Vec<u8>, most: usize) -> DecodedBody {
    let mut decoded = DecodedBody {
        bytes: body,
        problem: None,
    };
    // The last one named was done last.
    for encoding in encodings.iter().rev() {
        let encoded = std::mem::take(&mut decoded.bytes);
        let input = encoded.as_slice();
        let result = match encoding.as_str() {
            "identity" => {
                decoded.bytes = encoded;
                continue;
            }
            "gzip" | "x-gzip" => read(MultiGzDecoder::new(input), most, &mut decoded.bytes),
            // Some servers leave the frame of zlib out.
            "deflate" if input.first().is_some_and(|first| first & 0x0f == 8) => {
                read(ZlibDecoder::new(input), most, &mut decoded.bytes)
            }
            "deflate" => read(DeflateDecoder::new(input), most, &mut decoded.bytes),
            "br" => read(Decompressor::new(input, PART), most, &mut decoded.bytes),
            "zstd" => zstd(input, most, &mut decoded.bytes),
            other => Err(io::Error::other(format!(
                "it is compressed as `{other}`, which cannot be read here"
            ))),
        };
        if let Err(error) = result {
            decoded.problem = Some(error.to_string());
            break;
        }
    }
    decoded
}

/// Frames, one after another.
fn zstd(mut input: &[u8], most: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    while !input.is_empty() {
        let decoder = StreamingDecoder::new(&mut input).map_err(io::Error::other)?;
        read(decoder, most, bytes)?;
    }
    Ok(())
}

fn read(mut decoder: impl Read, most: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut part = vec![0; PART];
    loop {
        let read = decoder.read(&mut part)?;
        if read == 0 {
            return Ok(());
        }
        if bytes.len() + read > most {
            return Err(io::Error::other(format!(
                "it is larger than the {} MiB that are read",
                most >> 20
            )));
        }
        bytes.extend_from_slice(&part[..read]);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    const TEXT: &[u8] = b"data: one\n\ndata: two\n\n";

    /// [`TEXT`] as brotli has it.
    const BROTLI: &[u8] = &[
        0x8b, 0x0a, 0x80, 0x64, 0x61, 0x74, 0x61, 0x3a, 0x20, 0x6f, 0x6e, 0x65, 0x0a, 0x0a, 0x64,
        0x61, 0x74, 0x61, 0x3a, 0x20, 0x74, 0x77, 0x6f, 0x0a, 0x0a, 0x03,
    ];

    fn gzip() -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(TEXT).unwrap();
        encoder.finish().unwrap()
    }

    fn decode(encoding: &str, body: Vec<u8>) -> DecodedBody {
        decode_body(&[encoding.to_owned()], body, 1000)
    }

    #[test]
    fn every_encoding_that_clients_ask_for_is_read() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(TEXT).unwrap();
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
        raw.write_all(TEXT).unwrap();
        let zstd = compress_to_vec(TEXT, CompressionLevel::Fastest);
        for (encoding, body) in [
            ("gzip", gzip()),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", raw.finish().unwrap()),
            ("zstd", zstd),
            ("br", BROTLI.to_vec()),
            ("identity", TEXT.to_vec()),
        ] {
            let decoded = decode(encoding, body);
            assert_eq!(decoded.problem, None, "{encoding}");
            assert_eq!(decoded.bytes, TEXT, "{encoding}");
        }
        let twice = ["br".to_owned(), "identity".to_owned()];
        assert_eq!(decode_body(&twice, BROTLI.to_vec(), 1000).bytes, TEXT);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        assert_eq!(
            decode("compress", TEXT.to_vec()).problem.unwrap(),
            "it is compressed as `compress`, which cannot be read here"
        );
        assert!(decode("gzip", TEXT.to_vec()).problem.is_some());
        let bomb = decode_body(&["gzip".to_owned()], gzip(), 10);
        assert!(bomb.problem.unwrap().starts_with("it is larger than"));
    }

    #[test]
    fn of_a_body_that_breaks_off_what_came_is_kept() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(TEXT).unwrap();
        encoder.flush().unwrap();
        let decoded = decode("gzip", encoder.get_ref().clone());
        assert!(decoded.problem.is_some());
        assert_eq!(decoded.bytes, TEXT);
    }
}
