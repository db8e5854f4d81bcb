//! Programs that are started once and fork for each run: where the runs of one agent wait for them.
//!
//! A program says by itself that it forks (`mcptest.serve` in Python), when it has imported what it needs. Until then its
//! process is that of an ordinary run. One that never says so makes that run, and the next ones are started anew.
//!
//! A program may have taken its address while it started. So a process that forks has one address as long as it lives,
//! and makes one run at a time.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::SERVE;
use super::server::{IS_HERE, Server};
use crate::endpoint::Place;

/// How long runs wait for the first process to say that it forks, if the program's file names it.
const FIRST: Duration = Duration::from_secs(20);

/// The largest file that is looked through for it.
const LARGEST: u64 = 1 << 20;

/// The value of the variable that switches all of this off.
const OFF: &str = "off";

/// The value of the variable by which no second process is started, however long the runs take.
const ONCE: &str = "once";

/// The processes of one agent that fork for its runs. They end when this is dropped.
#[derive(Debug)]
pub struct Servers {
    state: Mutex<State>,
    changed: Condvar,
    /// The program's file says that it forks.
    is_expected: bool,
    is_once: bool,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<(Server, Place)>,
    /// Processes that were started and have not said that they fork.
    starting: usize,
    /// Processes that fork and make a run.
    busy: usize,
    /// How long the newest process took till it could fork.
    start: Option<Duration>,
    /// Every run is started anew.
    is_off: bool,
    hindrance: Option<String>,
    /// Runs that wait, each with its number.
    waiting: BTreeSet<u64>,
    next: u64,
}

impl Servers {
    /// For the runs of a program in a folder.
    #[must_use]
    pub fn new(command: &[String], folder: &Path) -> Self {
        let asked = std::env::var(SERVE).unwrap_or_default();
        let is_off = !IS_HERE || asked == OFF;
        Self {
            state: Mutex::new(State {
                is_off,
                ..State::default()
            }),
            changed: Condvar::new(),
            is_expected: !is_off && names_serve(command, folder),
            is_once: asked == ONCE,
        }
    }

    /// Every run is started anew.
    #[must_use]
    pub fn off() -> Self {
        let servers = Self::new(&[], Path::new(""));
        servers.lock().is_off = true;
        servers
    }

    /// What stands in the way of a program that would fork.
    #[must_use]
    pub fn hindrance(&self) -> Option<String> {
        self.lock().hindrance.clone()
    }

    /// Where a run is made. It waits for a process that forks, but not longer than one more process takes to start.
    pub fn seat(&self) -> Seat<'_> {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.insert(number);
        let (mut since, mut is_known) = (Instant::now(), state.start.is_some());
        let (role, taken) = loop {
            if state.is_off {
                break (Role::Anew, None);
            }
            if state.waiting.first() == Some(&number)
                && let Some(taken) = state.idle.pop()
            {
                state.busy += 1;
                break (Role::Busy, Some(taken));
            }
            if is_known != state.start.is_some() {
                (since, is_known) = (Instant::now(), true);
            }
            let patience = match state.start {
                Some(start) if state.busy > 0 || !state.idle.is_empty() => start,
                None if self.is_expected && state.starting > 0 => FIRST,
                _ => Duration::ZERO,
            };
            let left = if self.is_once && !patience.is_zero() {
                FIRST
            } else {
                patience.saturating_sub(since.elapsed())
            };
            if left.is_zero() {
                state.starting += 1;
                break (Role::Starting, None);
            }
            let waited = self.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        };
        state.waiting.remove(&number);
        drop(state);
        self.changed.notify_all();
        let (server, place) = taken.unzip();
        Seat {
            servers: self,
            role,
            server,
            place,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the process of a seat does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is started, as if nothing else were possible.
    Anew,
    /// It is started, and may say that it forks.
    Starting,
    /// It forks.
    Busy,
}

/// Where one run is made. It is free for the next run when it is dropped.
#[derive(Debug)]
pub struct Seat<'a> {
    servers: &'a Servers,
    role: Role,
    server: Option<Server>,
    place: Option<Place>,
}

impl Seat<'_> {
    /// The address of this run. To call in a runtime of tokio with its drivers on.
    ///
    /// # Errors
    ///
    /// No port can be listened at.
    pub async fn place(&mut self) -> io::Result<&Place> {
        let place = match self.place.take() {
            Some(place) => place,
            None => Place::new().await?,
        };
        Ok(self.place.insert(place))
    }

    /// How many connections the address of this run was asked for.
    #[cfg(target_os = "linux")]
    pub(super) fn connections(&self) -> usize {
        self.place.as_ref().map_or(0, Place::connections)
    }

    /// The process that forks, if one waits at this seat.
    pub(super) fn take_server(&mut self) -> Option<Server> {
        self.server.take()
    }

    /// The process is started anew, and may say that it forks.
    pub(super) fn restart(&mut self) {
        self.change(Role::Starting, |_| ());
    }

    /// Whether the process of this seat is one that is started, and may say that it forks.
    pub(super) fn is_starting(&self) -> bool {
        self.role == Role::Starting
    }

    /// The process forks from now on.
    #[cfg(target_os = "linux")]
    pub(super) fn serves(&mut self, start: Duration) {
        self.change(Role::Busy, |state| state.start = Some(start));
    }

    /// The process may not fork, and nor may the others.
    #[cfg(target_os = "linux")]
    pub(super) fn refuse(&mut self, hindrance: Option<String>) {
        self.change(Role::Anew, |state| {
            state.is_off = true;
            state.hindrance = hindrance;
        });
    }

    /// The process that forks is free for the next run.
    pub(super) fn keep(&mut self, server: Server) {
        self.server = Some(server);
    }

    /// Whether another process of this program has forked.
    #[cfg(target_os = "linux")]
    pub(super) fn is_known(&self) -> bool {
        self.servers.lock().start.is_some()
    }

    fn change(&mut self, role: Role, change: impl FnOnce(&mut State)) {
        let mut state = self.servers.lock();
        state.leave(self.role);
        match role {
            Role::Anew => {}
            Role::Starting => state.starting += 1,
            Role::Busy => state.busy += 1,
        }
        self.role = role;
        change(&mut state);
        drop(state);
        self.servers.changed.notify_all();
    }
}

impl State {
    fn leave(&mut self, role: Role) {
        match role {
            Role::Anew => {}
            Role::Starting => self.starting -= 1,
            Role::Busy => self.busy -= 1,
        }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut state = self.servers.lock();
        state.leave(self.role);
        state.idle.extend(self.server.take().zip(self.place.take()));
        drop(state);
        self.servers.changed.notify_all();
    }
}

/// Whether a file that a command names has a program that calls `mcptest.serve`. It is only a hint: a program is never
/// waited for without it, and what it does is what it says when it runs.
fn names_serve(command: &[String], folder: &Path) -> bool {
    let mut words = command.iter().peekable();
    let mut files = Vec::new();
    while let Some(word) = words.next() {
        files.push(folder.join(word));
        if word == "-m"
            && let Some(module) = words.peek()
        {
            let module = module.replace('.', "/");
            files.push(folder.join(format!("{module}.py")));
            files.push(folder.join(module).join("__main__.py"));
        }
    }
    files.iter().any(|file| {
        let is_small = fs::metadata(file).is_ok_and(|it| it.is_file() && it.len() <= LARGEST);
        let text = is_small.then(|| fs::read(file).ok()).flatten();
        text.is_some_and(|text| {
            let text = String::from_utf8_lossy(&text);
            text.contains("mcptest") && text.contains("serve(")
        })
    })
}
