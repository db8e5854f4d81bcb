//! The file that tells MCP clients where the servers are, in the form that they read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::protocol::blob::hex;

/// A file that nobody else reads. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct ConfigFile(PathBuf);

impl ConfigFile {
    /// A file with the addresses of servers.
    #[cfg(feature = "play")]
    pub(crate) fn new(servers: impl Iterator<Item = (String, String)>) -> io::Result<Self> {
        let config = Self::planned()?;
        config.write(servers)?;
        Ok(config)
    }

    /// The place of a file that is to be written.
    pub(crate) fn planned() -> io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| {
            io::Error::other(format!("the system gives no random bytes: {error}"))
        })?;
        let name = format!("mcptest-{}.json", hex(&random));
        Ok(Self(std::env::temp_dir().join(name)))
    }

    /// Writes the addresses of servers.
    pub(crate) fn write(&self, servers: impl Iterator<Item = (String, String)>) -> io::Result<()> {
        let servers = servers.map(|(name, url)| (name, json!({ "type": "http", "url": url })));
        let servers: Map<String, Value> = servers.collect();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.0)?;
        let text = format!("{:#}\n", json!({ "mcpServers": servers }));
        file.write_all(text.as_bytes())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ConfigFile {
    fn drop(&mut self) {
        // Somebody may have removed it already.
        let _ = fs::remove_file(&self.0);
    }
}
