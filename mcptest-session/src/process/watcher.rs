//! The end of a process group when this process ends, whatever ends it.
//!
//! No signal handler runs when a process is killed. A watcher waits on a pipe whose other end this process
//! holds: the system closes it in every case, and the watcher ends the group.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Reads until the pipe is closed, then removes the file and ends the group that are named; the group has a moment to put
/// its things in order.
const SCRIPT: &str = "read _; [ -z \"$2\" ] || rm -f -- \"$2\"; kill -s TERM -- \"-$1\" 2>/dev/null && sleep 0.3 && kill -s KILL -- \"-$1\" 2>/dev/null";

/// A process that waits for the end of this one.
#[derive(Debug)]
pub struct Watcher(Child);

impl Watcher {
    /// A watcher of a process group, and of a file that is for it alone. Where the system has no shell there is none.
    #[must_use]
    pub fn start(group: u32, file: Option<&Path>) -> Option<Self> {
        use std::os::unix::process::CommandExt as _;
        let watcher = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "mcptest-watcher", &group.to_string()])
            .args(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What the terminal sends to this process does not reach it.
            .process_group(0)
            .spawn();
        watcher.ok().map(Self)
    }
}

impl Drop for Watcher {
    /// Ends the watcher before its pipe is closed: the group is ended already.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
