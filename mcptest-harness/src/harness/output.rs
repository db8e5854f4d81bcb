//! Running trials, and printing what they come to in the order of their names, whatever thread was
//! quicker.
//!
//! libtest-mimic prints in the order in which its threads end; so it is given one thread, and the
//! cases are judged ahead of it. It panics where standard output is closed (`| head`) or full. What
//! a case came to does not depend on that: the verdict is still found then, and no case is judged
//! twice. Who closes a pipe has read enough; a run whose output finds no room fails.

use std::fs::File;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::thread;

use libtest_mimic::{Arguments, FormatSetting, Trial};

use super::arguments::threads;
use super::events;
use super::verdicts::{Verdicts, panic_text};

/// Runs the trials of these names and prints; `trials` makes all anew.
pub(super) fn run(
    arguments: &Arguments,
    verdicts: &Verdicts,
    names: &[String],
    trials: impl Fn() -> Vec<Trial>,
) -> ExitCode {
    if arguments.list {
        return print(arguments, verdicts, &trials, names);
    }
    verdicts.retain(names);
    let threads = threads(arguments, names.len());
    thread::scope(|scope| {
        // This thread judges too.
        verdicts.judge_ahead(scope, names, threads - 1);
        print(arguments, verdicts, &trials, names)
    })
}

/// The names of the cases that the arguments leave, in the order of the trials.
pub(super) fn wanted_names(arguments: &Arguments, trials: &[Trial]) -> Vec<String> {
    let wanted = trials
        .iter()
        .filter(|trial| !arguments.is_filtered_out(trial));
    wanted.map(|trial| trial.name().to_owned()).collect()
}

fn print(
    arguments: &Arguments,
    verdicts: &Verdicts,
    trials: &impl Fn() -> Vec<Trial>,
    names: &[String],
) -> ExitCode {
    let in_order = Arguments {
        test_threads: Some(1),
        ..arguments.clone()
    };
    silence_print_panics();
    let printed = panic::catch_unwind(AssertUnwindSafe(|| {
        let for_programs = matches!(arguments.format, Some(FormatSetting::Json));
        if for_programs && !arguments.quiet && !arguments.list {
            let filtered_out = trials().len() - names.len();
            return print_events(arguments, verdicts, names, filtered_out);
        }
        if arguments.list {
            return print_list(arguments, names);
        }
        let exit_code = libtest_mimic::run(&in_order, trials()).exit_code();
        let successes = verdicts.success_texts();
        // Events for a program are no place for tables.
        if arguments.show_output && !for_programs && !successes.is_empty() {
            println!("successes:\n\n{successes}");
        }
        Ok(exit_code)
    }));
    // A panic of a case is a failure of that case and does not come here.
    let closed = match printed {
        Ok(Ok(exit_code)) => return exit_code,
        Ok(Err(error)) => error.kind() == io::ErrorKind::BrokenPipe,
        Err(why) => panic_text(&*why).is_some_and(|text| text.contains("BrokenPipe")),
    };
    let nowhere = if cfg!(windows) { "NUL" } else { "/dev/null" };
    let unheard = Arguments {
        logfile: Some(nowhere.to_owned()),
        ..in_order
    };
    let exit_code = libtest_mimic::run(&unheard, trials()).exit_code();
    // Who closes a pipe has read enough, and wants to be told nothing.
    if closed {
        return exit_code;
    }
    let place = match &arguments.logfile {
        Some(file) => format!("`{file}`"),
        None => "standard output".to_owned(),
    };
    mcptest_trace::record::say(&format!(
        "error: {place} cannot be written, and this run fails: the results of the cases are missing there\nhelp: free some space, or \
         send the output elsewhere"
    ));
    ExitCode::from(101)
}

/// The names as libtest-mimic lists them, which writes each by itself.
fn print_list(arguments: &Arguments, names: &[String]) -> io::Result<ExitCode> {
    let lines: String = names.iter().map(|name| format!("{name}: test\n")).collect();
    let mut out = open_output(arguments)?;
    out.write_all(lines.as_bytes())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Where is printed to.
fn open_output(arguments: &Arguments) -> io::Result<Box<dyn Write>> {
    Ok(match &arguments.logfile {
        Some(file) => Box::new(File::create(file)?),
        None => Box::new(io::stdout()),
    })
}

fn print_events(
    arguments: &Arguments,
    verdicts: &Verdicts,
    names: &[String],
    filtered_out: usize,
) -> io::Result<ExitCode> {
    let failed = events::write(&mut *open_output(arguments)?, verdicts, names, filtered_out)?;
    Ok(if failed {
        ExitCode::from(101)
    } else {
        ExitCode::SUCCESS
    })
}

/// Keeps the panic of a printer that cannot print from being told; all others are told as before.
fn silence_print_panics() {
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
