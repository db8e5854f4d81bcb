//! The requests of a tool to its session: a connection each, on a thread of its own, so that no runtime is needed and none is
//! held up.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::Value;

/// The door answers at once.
const LONGEST: Duration = Duration::from_mins(1);

/// An address on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    port: u16,
    path: String,
}

impl Address {
    /// Reads `http://127.0.0.1:PORT/PATH`.
    pub(super) fn parse(address: &str) -> Option<Self> {
        let rest = address.strip_prefix("http://127.0.0.1:")?;
        let (port, path) = rest.split_once('/')?;
        let is_plain = |byte: u8| byte.is_ascii_graphic();
        let is_path = path.bytes().all(is_plain) && !path.contains(['?', '#']);
        let port = port.bytes().all(|it| it.is_ascii_digit()).then_some(port)?;
        is_path.then_some(Self {
            port: port.parse().ok()?,
            path: path.trim_end_matches('/').to_owned(),
        })
    }

    fn send(&self, what: &str, body: &str) -> io::Result<Vec<u8>> {
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, self.port);
        let mut socket = TcpStream::connect_timeout(&address.into(), LONGEST)?;
        socket.set_read_timeout(Some(LONGEST))?;
        socket.set_write_timeout(Some(LONGEST))?;
        socket.set_nodelay(true)?;
        let Self { port, path } = self;
        let request = format!(
            "POST /{path}/{what} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        socket.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer)?;
        Ok(answer)
    }

    /// What the session answers with a `200`.
    fn answer(&self, what: &str, body: &str) -> Answer {
        let answer = self.send(what, body).map_err(DoorError::Io)?;
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let (head, body) = answer.split_at(end.ok_or(DoorError::BrokeOff)?);
        let body: Value = serde_json::from_slice(body).map_err(DoorError::NotJson)?;
        if head.starts_with(b"HTTP/1.1 200 ") {
            return Ok(body);
        }
        let told = body["message"].as_str();
        Err(DoorError::Refused(told.map(str::to_owned)))
    }
}

/// Asks the session; what it answers with a `200`.
///
/// # Errors
///
/// It cannot be asked, or answers otherwise.
pub(super) fn post(
    address: &Address,
    what: &'static str,
    request: &Value,
) -> impl Future<Output = Answer> + use<> {
    let (address, body) = (address.clone(), request.to_string());
    let waits = PendingAnswer::default();
    let answered = waits.clone();
    let thread = std::thread::Builder::new().spawn(move || {
        answered.end(address.answer(what, &body));
    });
    if let Err(error) = thread {
        waits.end(Err(DoorError::Io(error)));
    }
    waits
}

/// Tells the session something, and does not wait.
pub(super) fn tell(address: &Address, what: &'static str, request: &Value) {
    drop(post(address, what, request));
}

/// What a session answers.
pub(super) type Answer = Result<Value, DoorError>;

/// Why a session gives no answer.
#[derive(Debug)]
pub(super) enum DoorError {
    /// It cannot be reached.
    Io(io::Error),
    /// Its answer has no end.
    BrokeOff,
    /// Its answer is no JSON.
    NotJson(serde_json::Error),
    /// It refuses the request, in its words if it has some.
    Refused(Option<String>),
}

impl fmt::Display for DoorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::BrokeOff => f.write_str("it broke off"),
            Self::NotJson(error) => write!(f, "{error}"),
            Self::Refused(told) => f.write_str(told.as_deref().unwrap_or("its answer is none")),
        }
    }
}

impl Error for DoorError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::NotJson(error) => Some(error),
            Self::BrokeOff | Self::Refused(_) => None,
        }
    }
}

/// An answer that another thread waits for.
#[derive(Debug, Clone, Default)]
struct PendingAnswer(Arc<Mutex<(Option<Answer>, Option<Waker>)>>);

impl PendingAnswer {
    fn end(&self, answer: Answer) {
        let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        both.0 = Some(answer);
        if let Some(waker) = both.1.take() {
            waker.wake();
        }
    }
}

impl Future for PendingAnswer {
    type Output = Answer;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = both.0.take() {
            return Poll::Ready(answer);
        }
        both.1 = Some(context.waker().clone());
        Poll::Pending
    }
}
