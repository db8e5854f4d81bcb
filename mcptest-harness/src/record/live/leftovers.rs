//! Nothing is left running when the person at the terminal, or the system, ends a recording.
//!
//! Servers run in process groups of their own, so a signal to this process does not reach them. A
//! thread waits for the signals that end a process, and ends the groups first.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, Once, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::signal::unix::{SignalKind, signal};

/// How long a server has to put its things in order.
const LAST_ORDERS: Duration = Duration::from_millis(300);

/// The process groups that run. Whoever starts a process holds the lock meanwhile, so that none is
/// missed.
static GROUPS: LazyLock<Mutex<BTreeSet<i32>>> = LazyLock::new(Mutex::default);

/// A process group that ends with this process.
#[derive(Debug)]
pub(super) struct Group(Option<i32>);

/// Starts a process, the leader of a group of its own. `id` tells the process.
pub(super) fn started<P>(
    start: impl FnOnce() -> std::io::Result<P>,
    id: impl FnOnce(&P) -> Option<u32>,
) -> std::io::Result<(P, Group)> {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        std::thread::spawn(watch);
    });
    let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = start()?;
    let group = id(&process).and_then(|id| i32::try_from(id).ok());
    groups.extend(group);
    Ok((process, Group(group)))
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
            groups.remove(&group);
        }
    }
}

/// Waits for a signal that ends this process, and ends it after its servers.
fn watch() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    // Where signals cannot be waited for, servers notice the end of their standard input.
    let Ok(runtime) = runtime else { return };
    let signalled = runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt()).ok()?;
        let mut terminate = signal(SignalKind::terminate()).ok()?;
        let mut hang_up = signal(SignalKind::hangup()).ok()?;
        Some(tokio::select! {
            _ = interrupt.recv() => Signal::SIGINT,
            _ = terminate.recv() => Signal::SIGTERM,
            _ = hang_up.recv() => Signal::SIGHUP,
        })
    });
    let Some(signalled) = signalled else { return };
    // Kept: from now on no server is started.
    let groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
    end(&groups, Signal::SIGTERM);
    std::thread::sleep(LAST_ORDERS);
    end(&groups, Signal::SIGKILL);
    // As a shell reports a process that a signal ended.
    std::process::exit(128 + signalled as i32);
}

fn end(groups: &BTreeSet<i32>, how: Signal) {
    for group in groups {
        // A group that is gone needs no signal.
        let _ = killpg(Pid::from_raw(*group), how);
    }
}
