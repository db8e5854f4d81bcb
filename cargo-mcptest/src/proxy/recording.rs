//! The recording of a session, on disk.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use mcptest_suite::{cassette_slug, clean};
use mcptest_trace::record::environment::{secrets_by_name, usual_secrets, variables};
use mcptest_trace::record::redact::Redactor;
use mcptest_trace::record::store::render;
use serde_json::Value;
use tempfile::NamedTempFile;

use super::Proxy;
use crate::failure::Failure;

/// The recording of a session, written again and again.
pub(super) struct Recording {
    folder: PathBuf,
    redactor: Redactor,
    /// Where it is, once it has been written.
    file: Option<PathBuf>,
    failed: Option<String>,
}

impl Recording {
    pub(super) fn new(proxy: &Proxy) -> Result<Self, Failure> {
        let stem = format!(
            "{}__{}",
            cassette_slug(&proxy.agent),
            cassette_slug(&proxy.model)
        );
        let secrets = usual_secrets().chain(secrets_by_name(variables()));
        let redactor =
            Redactor::new(secrets, Vec::new()).map_err(|error| Failure::new(error.to_string()))?;
        let folder = proxy.cassettes.join(stem);
        fs::create_dir_all(&folder).map_err(|error| {
            Failure::new(format!("`{}` cannot be made: {error}", folder.display()))
        })?;
        Ok(Self {
            folder,
            redactor,
            file: None,
            failed: None,
        })
    }

    /// Puts the run in place whole. What goes wrong is said at the end: the client must not notice.
    pub(super) fn write(&mut self, mut run: Value) {
        self.redactor.redact_run(&mut run);
        match self.put(&render(&run)) {
            Ok(()) => self.failed = None,
            Err(error) => self.failed = Some(error.to_string()),
        }
    }

    /// Whether what was last written is there.
    pub(super) fn is_whole(&self) -> bool {
        self.failed.is_none()
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        let mut whole = NamedTempFile::with_prefix_in(".writing-", &self.folder)?;
        whole.write_all(text.as_bytes())?;
        if let Some(file) = &self.file {
            whole.persist(file)?;
            return Ok(());
        }
        // The next number that no other run has, whoever else records there.
        for number in 1_u64.. {
            let file = self.folder.join(format!("run-{number}.json"));
            match whole.persist_noclobber(&file) {
                Ok(_) => {
                    self.file = Some(file);
                    return Ok(());
                }
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    whole = error.file;
                }
                Err(error) => return Err(error.error),
            }
        }
        Ok(())
    }

    pub(super) fn say(&self) {
        let said = match (&self.failed, &self.file) {
            (Some(why), _) => format!("error: the recording cannot be written: {why}"),
            (None, Some(file)) => format!("recorded: {}", file.display()),
            (None, None) => return,
        };
        mcptest_trace::record::say(&clean(&said));
    }
}
