//! A program that runs in a process group of its own. The group ends with this process, whatever ends this process.

#[cfg(unix)]
mod watcher;

use std::io;
use std::path::Path;
use std::process::Stdio;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::process::Command;

#[cfg(unix)]
pub use watcher::Watcher;

/// A program that runs. What it started ends with it.
#[derive(Debug)]
pub struct Running {
    child: Box<dyn ChildWrapper>,
    #[cfg(unix)]
    _watcher: Option<Watcher>,
}

impl Running {
    /// Starts a program in a folder, without a shell. A relative path to it starts in the folder too. A file that is for
    /// the program alone is removed when this process is killed.
    ///
    /// # Errors
    ///
    /// The program cannot be started.
    pub fn start(
        program: &str,
        folder: &Path,
        file: Option<&Path>,
        with: impl FnOnce(&mut Command),
    ) -> io::Result<Self> {
        let path = Path::new(program);
        let found = if path.components().count() > 1 {
            folder.join(path).into_os_string()
        } else {
            program.into()
        };
        let mut command = CommandWrap::with_new(found, |command| {
            command
                .current_dir(folder)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            with(command);
        });
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        command.wrap(KillOnDrop);
        let child = command.spawn()?;
        #[cfg(unix)]
        let watcher = child.id().and_then(|group| Watcher::start(group, file));
        #[cfg(not(unix))]
        let _ = file;
        Ok(Self {
            child,
            #[cfg(unix)]
            _watcher: watcher,
        })
    }

    /// The program: its standard streams, and its end.
    pub fn child(&mut self) -> &mut dyn ChildWrapper {
        &mut *self.child
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The group may be gone; nothing is left to do then.
        let _ = self.child.start_kill();
    }
}
