//! A recording, played against any requests: nothing breaks, and what was played is a recording that can be played. The
//! text is a recording; then, after a line `%%%`, a request on each line: its path, a space, and its body.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mcptest_session::endpoint::{Answerer as _, Incoming};
use mcptest_session::play::{PlayOptions, Player, Recording, ServerPlayer};
use mcptest_session::record::RunOptions;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

/// Answers that break off take time.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().unwrap());

fuzz_target!(|text: &str| {
    let (cassette, requests) = text.split_once("\n%%%\n").unwrap_or((text, ""));
    let Ok(cassette) = serde_json::from_str::<Value>(cassette) else {
        return;
    };
    let Ok(recording) = Recording::from_cassette(&cassette) else {
        return;
    };
    if let Ok(server) = ServerPlayer::new(&recording, None) {
        for tool in server.tools() {
            let name = tool["name"].as_str().unwrap_or_default();
            _ = server.call(name, &tool["inputSchema"]);
        }
    }
    let requests: Vec<(&str, &str)> = requests
        .lines()
        .take(8)
        .filter_map(|line| line.split_once(' '))
        .collect();
    let player = Player::new(recording, PlayOptions::default());
    ask(&player, &requests);
    let outcome = player.played();
    for divergence in outcome.divergences.iter().chain(&outcome.unasked) {
        assert!(!divergence.to_string().is_empty());
    }
    let Ok(run) = player.run(&RunOptions::default()) else {
        return;
    };
    let again = Recording::from_cassette(&run).expect("a played run is a recording");
    let player = Player::new(again, PlayOptions::default());
    ask(&player, &requests);
    _ = player.played();
});

/// Asks a player, one request after the other.
fn ask(player: &Player, requests: &[(&str, &str)]) {
    for (number, (path, body)) in requests.iter().enumerate() {
        let incoming = Incoming::post(number, path, body.as_bytes().to_vec());
        RUNTIME.block_on(async {
            let response = player.answer(incoming).await;
            // One that breaks off as its recording did has no whole body.
            _ = axum::body::to_bytes(response.into_body(), 1 << 24).await;
        });
    }
}
