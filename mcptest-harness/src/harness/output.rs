//! Running trials although nobody reads what they print.
//!
//! libtest-mimic panics where standard output is closed (`| head`) or full. What a case came to does
//! not depend on that, so the verdict is still found then, without judging any case twice.

use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// What a case came to: nothing to say, or why it is ignored; an error is its failure text.
pub(super) type Verdict = Result<Option<String>, String>;

/// What the cases of this process came to, by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Verdicts(Arc<Mutex<HashMap<String, Verdict>>>);

impl Verdicts {
    /// The verdict on a case; it is judged once.
    pub(super) fn of(
        &self,
        name: &str,
        judge: impl FnOnce() -> Verdict,
    ) -> Result<Completion, Failed> {
        let known = self.known().get(name).cloned();
        let verdict = known.unwrap_or_else(|| {
            let verdict = judge();
            self.known().insert(name.to_owned(), verdict.clone());
            verdict
        });
        match verdict {
            Ok(None) => Ok(Completion::Completed),
            Ok(Some(reason)) => Ok(Completion::ignored_with(reason)),
            Err(text) => Err(Failed::from(text)),
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Verdict>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs trials and prints; `trials` makes them anew.
pub(super) fn run(arguments: &Arguments, trials: impl Fn() -> Vec<Trial>) -> ExitCode {
    quietly_where_nothing_can_be_printed();
    let printed = panic::catch_unwind(AssertUnwindSafe(|| {
        libtest_mimic::run(arguments, trials()).exit_code()
    }));
    // A panic of a case is a failure of that case and does not come here.
    printed.unwrap_or_else(|why| {
        // Who closes a pipe has read enough, and wants to be told nothing.
        let closed = |text: &String| text.contains("BrokenPipe");
        if !why.downcast_ref::<String>().is_some_and(closed) {
            eprintln!(
                "error: standard output cannot be written; the exit code says what the cases came to"
            );
        }
        let nowhere = if cfg!(windows) { "NUL" } else { "/dev/null" };
        let unheard = Arguments {
            logfile: Some(nowhere.to_owned()),
            ..arguments.clone()
        };
        libtest_mimic::run(&unheard, trials()).exit_code()
    })
}

/// Keeps the panic of a printer that cannot print from being told; all others are told as before.
fn quietly_where_nothing_can_be_printed() {
    let told = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let printer = panic.location().is_some_and(|place| {
            place.file().contains("libtest-mimic") && place.file().ends_with("printer.rs")
        });
        if !printer {
            told(panic);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_judged_once() {
        let verdicts = Verdicts::default();
        let failed = |text: &str| verdicts.of("a", || Err(text.to_owned())).err().unwrap();
        assert_eq!(failed("once").message(), Some("once"));
        assert_eq!(failed("twice").message(), Some("once"));
        assert!(verdicts.of("b", || Ok(None)).is_ok());
    }
}
