//! Running trials although nobody reads what they print.
//!
//! libtest-mimic panics where standard output is closed (`| head`) or full. What a case came to does
//! not depend on that, so the verdict is still found then, without judging any case twice.

use std::collections::{BTreeMap, HashMap};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Completion, Failed, FormatSetting, Trial};

/// What a case came to; an error is its failure text.
pub(super) type Verdict = Result<Passed, String>;

/// What a case that does not fail came to.
#[derive(Debug, Clone)]
pub(super) enum Passed {
    /// It holds, with what was computed.
    Holds(Option<String>),
    /// It is ignored, for a reason.
    Ignored(String),
}

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
            Ok(Passed::Holds(_)) => Ok(Completion::Completed),
            Ok(Passed::Ignored(reason)) => Ok(Completion::ignored_with(reason)),
            Err(text) => Err(Failed::from(text)),
        }
    }

    /// What was computed of the cases that hold, by name, as libtest shows what they printed.
    fn successes(&self) -> String {
        let known = self.known();
        let computed = known.iter().filter_map(|(name, verdict)| match verdict {
            Ok(Passed::Holds(Some(scores))) => Some((name, scores)),
            _ => None,
        });
        let computed: BTreeMap<_, _> = computed.collect();
        let shown = computed
            .into_iter()
            .map(|(name, scores)| format!("---- {name} ----\n{scores}\n"));
        shown.collect::<Vec<_>>().join("\n")
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Verdict>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs trials and prints; `trials` makes them anew.
pub(super) fn run(
    arguments: &Arguments,
    verdicts: &Verdicts,
    trials: impl Fn() -> Vec<Trial>,
) -> ExitCode {
    quietly_where_nothing_can_be_printed();
    let printed = panic::catch_unwind(AssertUnwindSafe(|| {
        let exit_code = libtest_mimic::run(arguments, trials()).exit_code();
        // Events for a program are no place for tables.
        let for_people = !matches!(arguments.format, Some(FormatSetting::Json));
        let successes = verdicts.successes();
        if arguments.show_output && for_people && !successes.is_empty() {
            println!("successes:\n\n{successes}");
        }
        exit_code
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
        assert!(verdicts.of("b", || Ok(Passed::Holds(None))).is_ok());
    }
}
