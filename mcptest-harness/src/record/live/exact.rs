//! Numbers beyond 64 bits on their way to a server. The types of the MCP library hold none, so each is a
//! marked text in them, and becomes the number again where a message is written.

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

/// What stands before the digits of a number that is a text for a while. It is another for every
/// connection, so that nothing that a model or a server says is taken for one.
#[derive(Debug, Clone)]
pub(super) struct Mark(Arc<str>);

impl Mark {
    pub(super) fn new() -> Self {
        let chance = || RandomState::new().hash_one("number");
        Self(format!("mcptest-number-{:016x}{:016x}:", chance(), chance()).into())
    }

    /// The text that stands for a number.
    pub(super) fn on(&self, number: &str) -> String {
        format!("{}{number}", self.0)
    }

    /// A message in which the numbers are numbers again.
    pub(super) fn lifted(&self, message: Vec<u8>) -> Vec<u8> {
        let opening = format!("\"{}", self.0);
        let mut lifted = Vec::new();
        let mut rest = message.as_slice();
        while let Some(at) = find(rest, opening.as_bytes()) {
            let (before, marked) = rest.split_at(at);
            let digits = &marked[opening.len()..];
            let end = digits.iter().position(|byte| *byte == b'"');
            let (number, behind) = digits.split_at(end.unwrap_or(digits.len()));
            lifted.extend_from_slice(before);
            lifted.extend_from_slice(number);
            rest = behind.get(1..).unwrap_or_default();
        }
        if lifted.is_empty() {
            return message;
        }
        lifted.extend_from_slice(rest);
        lifted
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// A standard input that takes one message a line.
#[derive(Debug)]
pub(super) struct Exact<W> {
    stdin: W,
    mark: Mark,
    /// The line that is being written.
    line: Vec<u8>,
    /// Whole lines, and how much of them is written.
    lines: Vec<u8>,
    written: usize,
}

impl<W: AsyncWrite + Unpin> Exact<W> {
    pub(super) fn new(stdin: W, mark: Mark) -> Self {
        Self {
            stdin,
            mark,
            line: Vec::new(),
            lines: Vec::new(),
            written: 0,
        }
    }

    /// Writes the whole lines.
    fn poll_lines(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.lines.len() {
            let rest = &self.lines[self.written..];
            let count = ready!(Pin::new(&mut self.stdin).poll_write(context, rest))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written += count;
        }
        self.lines.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Exact<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_lines(context))?;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                let line = self.mark.lifted(line);
                self.lines.extend(line);
            }
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_lines(context))?;
        Pin::new(&mut self.stdin).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_lines(context))?;
        Pin::new(&mut self.stdin).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[test]
    fn no_two_marks_are_alike() {
        assert_ne!(Mark::new().0, Mark::new().0);
    }

    #[test]
    fn only_marked_numbers_become_numbers() {
        let mark = Mark::new();
        let text = |text: String| String::from_utf8(mark.lifted(text.into_bytes())).unwrap();
        let marked = format!(r#"["{}","{}","12"]"#, mark.on("12"), mark.on("-3"));
        assert_eq!(text(marked), r#"[12,-3,"12"]"#);
        assert_eq!(text(mark.on("12")), mark.on("12"));
        let other = format!(r#"["{}"]"#, Mark::new().on("12"));
        assert_eq!(text(other.clone()), other);
    }

    #[test]
    fn lines_arrive_whole_however_they_are_written() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let arrived = runtime.block_on(async {
            // The reader takes less at once than a line has.
            let (stdin, mut reader) = tokio::io::duplex(7);
            let mark = Mark::new();
            let message = format!(
                "{{\"n\":\"{}\"}}\nsecond\nend",
                mark.on("1180591620717411303424")
            );
            let writing = async move {
                let mut exact = Exact::new(stdin, mark);
                for part in message.as_bytes().chunks(5) {
                    exact.write_all(part).await.unwrap();
                    exact.flush().await.unwrap();
                }
                exact.shutdown().await.unwrap();
            };
            let mut arrived = String::new();
            let reading = reader.read_to_string(&mut arrived);
            let ((), read) = tokio::join!(writing, reading);
            read.unwrap();
            arrived
        });
        assert_eq!(arrived, "{\"n\":1180591620717411303424}\nsecond\n");
    }
}
