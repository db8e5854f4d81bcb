//! Programs that a command waits for. They end with the command, whatever ends the command.

use std::io;
#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};

#[cfg(unix)]
use mcptest_session::process::Watcher;

/// What ends a program with this process. The program is left alone once this is dropped.
#[derive(Debug)]
pub(crate) struct ProcessGuard {
    #[cfg(unix)]
    _watcher: Option<Watcher>,
}

/// Starts a program in a process group of its own: a launcher such as `npx` and what it launches end together.
pub(crate) fn spawn(command: &mut Command) -> io::Result<(Child, ProcessGuard)> {
    #[cfg(unix)]
    command.process_group(0);
    let child = command.spawn()?;
    let bound = ProcessGuard {
        #[cfg(unix)]
        _watcher: Watcher::start(child.id(), None),
    };
    Ok((child, bound))
}

/// Runs a program to its end, and gives what it printed on its standard output, and on its standard error unless that
/// goes elsewhere.
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    let (child, _bound) = spawn(command.stdout(Stdio::piped()))?;
    child.wait_with_output()
}
