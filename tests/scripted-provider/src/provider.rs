//! The running provider, for tests that are not asynchronous.

use std::{
    fmt,
    fs::File,
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use hyper::{http::request::Parts, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{play::ScriptPlayer, script::Script, server::SharedState};

/// A request the provider saw, answered or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRequest {
    /// The HTTP method, such as `POST`.
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// The headers in their order, with lower-case names.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
}

impl SeenRequest {
    pub(crate) fn new(head: &Parts, body: &[u8]) -> Self {
        let header = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            (name.as_str().to_owned(), value.into_owned())
        };
        Self {
            method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            headers: head.headers.iter().map(header).collect(),
            body: String::from_utf8_lossy(body).into_owned(),
        }
    }

    /// The first header with this name, which is given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(known, _)| known == name)?;
        Some(value)
    }

    /// The body as JSON; null when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The request as a line of the log: a body that is JSON is put in as such.
    pub(crate) fn to_json(&self) -> Value {
        let body: Value =
            serde_json::from_str(&self.body).unwrap_or_else(|_| self.body.as_str().into());
        json!({
            "method": self.method,
            "path": self.path,
            "headers": self.headers,
            "body": body,
        })
    }
}

/// Where the provider listens and what it writes down.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The port on 127.0.0.1; 0 for a free one.
    pub port: u16,
    /// A file that gets a line of JSON for every request. It is emptied first.
    pub log: Option<PathBuf>,
}

/// A provider that serves until it is dropped.
pub struct Provider {
    address: SocketAddr,
    house: Arc<SharedState>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Provider {
    /// Plays a script on a free port of 127.0.0.1.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_with(script, &Options::default())
    }

    /// Plays a script with the given options.
    pub fn start_with(script: Script, options: &Options) -> io::Result<Self> {
        let log = options.log.as_ref().map(File::create).transpose()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let house = Arc::new(SharedState::new(ScriptPlayer::new(script), log));
        let (stop, stopped) = oneshot::channel();
        let serving = serve(listener, Arc::clone(&house), stopped);
        let thread = std::thread::Builder::new()
            .name("scripted-provider".to_owned())
            .spawn(move || runtime.block_on(serving))?;
        Ok(Self {
            address,
            house,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where the provider listens, as in `http://127.0.0.1:40123`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests seen so far, in the order they came.
    #[must_use]
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.house.requests()
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the server's thread has been reported where it was.
            let _ = thread.join();
        }
    }
}

/// Accepts connections until the sender of `stopped` is dropped.
async fn serve(
    listener: tokio::net::TcpListener,
    house: Arc<SharedState>,
    mut stopped: oneshot::Receiver<()>,
) {
    loop {
        let accepted = tokio::select! {
            _ = &mut stopped => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Out of descriptors, say: others may end meanwhile.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // A piece of a stream is small, and is waited for.
        let _ = stream.set_nodelay(true);
        let house = Arc::clone(&house);
        tokio::spawn(async move {
            let service = service_fn(|request| house.answer(request));
            // Fails when the client leaves and when the script closes.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
