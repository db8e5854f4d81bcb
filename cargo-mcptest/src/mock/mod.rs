//! `cargo mcptest mock`: a real MCP server that answers as a file says, and goes wrong when it is told to.
//!
//! - `manifest`: the tools and their answers, read from a file;
//! - `recorded`: those of a recording;
//! - `template`: answers with places for what a call said;
//! - `fault`: what goes wrong with a call;
//! - `server`: the tools as MCP has them;
//! - `serve`: over standard input and output, or over HTTP.

mod fault;
mod manifest;
mod recorded;
mod serve;
mod server;
mod template;

use std::path::PathBuf;

use mcptest_suite::escape_line;

use crate::failure::Failure;
use crate::output::Output;
use crate::status::ExitStatus;
use fault::MockFault;
use manifest::MockManifest;
use server::{MockServer, MockTools};

/// Starts an MCP server with made-up tools, or with the tools of a recording.
///
/// Example: `cargo mcptest mock --tools-from tools.yml`
///
/// With this server, you can try or record an agent without the real tools. The file lists the tools as MCP's
/// `tools/list` does, each with its answers:
///
/// ```yaml
/// tools:
///   - name: find_order
///     inputSchema: { type: object, properties: { id: { type: string } }, required: [id] }
///     answers:
///       - { when: { id: A-9 }, error: "no order {{ args.id }}" }
///       - { result: { id: "{{ args.id }}", status: sent } }
/// ```
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Mock {
    /// The tools and their answers, in YAML or JSON.
    #[arg(long, value_name = "FILE")]
    tools_from: Option<PathBuf>,
    /// A recording, instead of a file of tools: the server lists the tools that the recorded server listed, and answers
    /// each recorded call as the recorded server did, equal calls in their order. Any other call is an error that shows the
    /// nearest recorded call.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "tools_from",
        required_unless_present = "tools_from"
    )]
    from_cassette: Option<PathBuf>,
    /// The server, if the recording has several servers.
    #[arg(long, value_name = "NAME", requires = "from_cassette")]
    server: Option<String>,
    /// The number of the run, from 1, if the file holds several runs.
    #[arg(long, value_name = "NUMBER", requires = "from_cassette")]
    run: Option<usize>,
    /// What goes wrong with each tool call: `none`, `hang` or `wedged` (no answer ever), `slow:<ms>`, `recover-after:<n>`
    /// (the first n calls hang), `reply-after-cancel:<ms>` (an answer although the call was cancelled). Everything else
    /// works.
    #[arg(long, value_name = "FAULT", default_value = "none")]
    fault: MockFault,
    /// Serve streamable HTTP at `/mcp` of this address, and print the address. Port 0 means any free port.
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,
}

impl Mock {
    /// Serves until the client has gone, over HTTP until it is stopped.
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let tools = match (&self.tools_from, &self.from_cassette) {
            (Some(file), _) => MockTools::Manifest(MockManifest::read(file)?),
            (None, Some(file)) => MockTools::Recorded(recorded::load_server(
                file,
                self.run,
                self.server.as_deref(),
            )?),
            (None, None) => {
                return Err(Failure::new("the mock server has no tools")
                    .with_help("give `--tools-from` or `--from-cassette`"));
            }
        };
        let server = MockServer::new(tools, self.fault);
        writeln!(output.err, "{}", escape_line(&server.describe()))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        let ended = runtime.block_on(async {
            match &self.http {
                Some(address) => serve::over_http(server, address, output.out).await,
                None => serve::over_stdio(server).await,
            }
        });
        // Calls that hang, and the thread that reads standard input, are not waited for.
        runtime.shutdown_background();
        ended.map(|()| ExitStatus::Holds)
    }
}
