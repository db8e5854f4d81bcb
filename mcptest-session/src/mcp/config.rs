//! The file that tells MCP clients where the servers are, in the form that they read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

#[cfg(feature = "record")]
use crate::endpoint::secret;

/// A file that nobody else reads. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct ConfigFile(PathBuf);

impl ConfigFile {
    /// A file with the addresses of servers, by a name that nobody can guess.
    #[cfg(feature = "play")]
    pub(crate) fn new(
        name: &str,
        servers: impl Iterator<Item = (String, String)>,
    ) -> io::Result<Self> {
        let config = Self::named(name);
        config.write(servers)?;
        Ok(config)
    }

    /// The place of a file that is to be written.
    #[cfg(feature = "record")]
    pub(crate) fn planned() -> io::Result<Self> {
        Ok(Self::named(&secret()?))
    }

    fn named(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("mcptest-{name}.json")))
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
