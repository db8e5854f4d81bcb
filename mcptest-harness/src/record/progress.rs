//! What a recording says while it goes on: on standard error, whole lines, and the running ones
//! only on a terminal.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mcptest_trace::record::say;
use mcptest_trace::text::pluralize;

use mcptest_trace::text::with_thousands;

/// How often a run that goes on says so.
const EVERY: Duration = Duration::from_secs(10);

/// The progress of one agent's recording.
#[derive(Debug)]
pub(crate) struct Progress {
    agent: String,
    runs: usize,
    on_terminal: bool,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Default)]
struct State {
    run: usize,
    said: Option<Instant>,
    spent: Spent,
}

/// What was spent: tokens, and millionths of a US dollar where the price is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) tokens: u64,
    /// Nobody said what some run took.
    pub(crate) unknown: bool,
    pub(crate) micro_usd: Option<u64>,
}

impl Progress {
    pub(crate) fn new(agent: &str, runs: usize) -> Self {
        Self {
            agent: agent.to_owned(),
            runs,
            on_terminal: std::io::stderr().is_terminal(),
            state: Mutex::default(),
        }
    }

    /// A run begins.
    pub(crate) fn begin(&self, run: usize) {
        self.update(|state| {
            state.run = run;
            state.said = Some(Instant::now());
            Some(self.line(state))
        });
    }

    /// Something was spent.
    pub(crate) fn spend(&self, more: Spent) {
        self.update(|state| {
            state.spent.tokens = state.spent.tokens.saturating_add(more.tokens);
            state.spent.unknown |= more.unknown;
            state.spent.micro_usd = match (state.spent.micro_usd, more.micro_usd) {
                (None, None) => None,
                (before, more) => Some(before.unwrap_or(0) + more.unwrap_or(0)),
            };
            if state.said.is_some_and(|said| said.elapsed() < EVERY) {
                return None;
            }
            state.said = Some(Instant::now());
            Some(self.line(state))
        });
    }

    /// Says that all is recorded, and where.
    pub(crate) fn done(&self, recorded: usize, place: &str) {
        let spent = self.update(|_| None);
        let runs = pluralize(recorded, "run");
        let agent = &self.agent;
        say(&format!(
            "recorded {runs} of `{agent}` ({spent}) -> {place}"
        ));
    }

    /// The state after a change; says what the change gives, on a terminal.
    fn update(&self, change: impl FnOnce(&mut State) -> Option<String>) -> Spent {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(line) = change(&mut state)
            && self.on_terminal
        {
            say(&line);
        }
        state.spent
    }

    fn line(&self, state: &State) -> String {
        let Self { agent, runs, .. } = self;
        let (run, spent) = (state.run, state.spent);
        format!("recording `{agent}`: run {run} of {runs}, {spent} so far")
    }
}

impl std::fmt::Display for Spent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = if self.tokens == 1 { "token" } else { "tokens" };
        let tokens = with_thousands(self.tokens);
        match (self.unknown, self.tokens) {
            (true, 0) => f.write_str("tokens unknown")?,
            (true, _) => write!(f, "{tokens} {unit} and more that were not counted")?,
            (false, _) => write!(f, "{tokens} {unit}")?,
        }
        match self.micro_usd {
            Some(micro) => write!(f, ", ${}", format_usd(micro)),
            None => Ok(()),
        }
    }
}

/// Millionths of a dollar as dollars, to a hundredth of a cent.
pub(crate) fn format_usd(micro: u64) -> String {
    let hundredths = micro.div_ceil(100);
    format!("{}.{:04}", hundredths / 10_000, hundredths % 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spent_reads_as_tokens_and_dollars() {
        let spent = |tokens, micro_usd| {
            let unknown = false;
            Spent {
                tokens,
                unknown,
                micro_usd,
            }
            .to_string()
        };
        let unknown = |tokens| {
            let unknown = true;
            Spent {
                tokens,
                unknown,
                micro_usd: None,
            }
            .to_string()
        };
        assert_eq!(unknown(0), "tokens unknown");
        assert_eq!(unknown(12), "12 tokens and more that were not counted");
        assert_eq!(spent(12_345, None), "12,345 tokens");
        assert_eq!(spent(1, Some(1_234_567)), "1 token, $1.2346");
        assert_eq!(format_usd(0), "0.0000");
        assert_eq!(format_usd(1), "0.0001");
    }

    #[test]
    fn a_line_says_which_run_and_what_was_spent_so_far() {
        let progress = Progress::new("Refund agent", 5);
        progress.begin(2);
        progress.spend(Spent {
            tokens: 2_000,
            unknown: false,
            micro_usd: Some(30_000),
        });
        let state = progress.state.lock().unwrap().clone();
        assert_eq!(
            progress.line(&state),
            "recording `Refund agent`: run 2 of 5, 2,000 tokens, $0.0300 so far"
        );
    }
}
