//! Bytes from one side to the other, as they come.

use std::io::{ErrorKind, Read, Write};
use std::sync::mpsc::Sender;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// Who wrote something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// What went by.
pub(super) enum Seen {
    Bytes(Side, Vec<u8>),
    /// The server has ended.
    End,
}

/// Copies what is read until it ends, and tells of it afterwards. A side that cannot be written to has
/// ended, and so does the relay.
pub(super) fn relay(mut from: impl Read, mut to: impl Write, side: Side, seen: &Sender<Seen>) {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let sent = to.write_all(&chunk[..read]).and_then(|()| to.flush());
        // Who looks on has no say in what goes through.
        seen.send(Seen::Bytes(side, chunk[..read].to_vec())).ok();
        if sent.is_err() {
            return;
        }
    }
}
