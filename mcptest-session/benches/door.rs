//! What the door adds to a call of an own tool: 10,000 calls of a tool that does nothing, recorded and played, each over a
//! connection of its own as the libraries do it.
//!
//! `cargo bench -p mcptest-session --features play,record,tools --bench door`. The bound is that of the specification: a
//! millisecond (median) a call.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcptest_session::door::Door;
use mcptest_session::endpoint::Endpoint;
use mcptest_session::tools::Tools;
use serde_json::json;

const CALLS: u32 = 10_000;

/// The most that the door may add.
const MOST: Duration = Duration::from_millis(1);

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    match measured().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measured() -> Result<bool, Failure> {
    let records = Door::recording();
    let recorded = called("recorded", &records).await?;
    let plays = Door::from_notes(&records.notes());
    let played = called("played", &plays).await?;
    let is_whole = plays.divergences(0).is_empty();
    Ok(is_whole && recorded <= MOST && played <= MOST)
}

/// The median of a call.
async fn called(what: &str, door: &Door) -> Result<Duration, Failure> {
    let endpoint = Endpoint::start(Arc::new(door.clone())).await?;
    let tools = Tools::at(&format!("{}/tools", endpoint.url()))?;
    let mut times = Vec::new();
    for order in 0..CALLS {
        let began = Instant::now();
        let args = json!({ "order": order });
        let given = tools.call("refund", args, async { Ok::<_, String>(order) });
        if given.await? != order {
            return Err("another value".into());
        }
        times.push(began.elapsed());
    }
    times.sort_unstable();
    let median = times[times.len() / 2];
    println!("{what}: {CALLS} calls, {median:?} each (median)");
    Ok(median)
}
