//! A call of an agent's own function. The function has a thread and a runtime of its own: it may block them, and it
//! may panic.

use std::any::Any;
use std::cell::RefCell;
use std::future::{Future, pending};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

/// What a function makes of a session: nothing, or why it failed.
pub(super) type Ran = Pin<Box<dyn Future<Output = Result<(), String>>>>;

/// How long a function that is stopped may take to notice it: one that awaits something does so at once.
const GRACE: Duration = Duration::from_millis(200);

/// What is said of a function that does not end when it is stopped.
pub(in crate::record) const LEFT: &str =
    "the function blocks its thread and cannot be stopped, so the thread was left running";

/// How a function ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::record) enum Returned {
    Well,
    /// With its error.
    Failed(String),
    /// With the place and the text of the panic.
    Panicked(String),
    /// The session ended it, as it asked too often what was not recorded.
    Stopped {
        /// Whether it blocks its thread, so that it runs on.
        is_left: bool,
    },
    /// The function took too long.
    Late {
        /// Whether it blocks its thread, so that it runs on.
        is_left: bool,
    },
}

impl Returned {
    /// How the function ended, for people, where it did not end well.
    pub(in crate::record) fn message(&self) -> Option<String> {
        Some(match self {
            Self::Well => return None,
            Self::Failed(error) => format!("the agent's own function failed: {error}"),
            Self::Panicked(what) => format!("the agent's own function panicked at {what}"),
            Self::Stopped { is_left } => {
                let left = if *is_left {
                    format!("; {LEFT}")
                } else {
                    String::new()
                };
                format!(
                    "the session ended the agent's own function, as it asked again and again for what was not recorded{left}"
                )
            }
            Self::Late { is_left: false } => "the agent's own function took too long".to_owned(),
            Self::Late { is_left: true } => {
                format!("the agent's own function took too long; {LEFT}")
            }
        })
    }
}

/// A thread on which a function runs.
struct WatchedThread {
    /// Nobody waits for it any more.
    is_left: Arc<AtomicBool>,
    /// Where it panicked first.
    place: Option<String>,
}

thread_local! {
    static WATCHED: RefCell<Option<WatchedThread>> = const { RefCell::new(None) };
}

/// Keeps the place of a panic on a thread of a function. What is told of panics is told as before, but of a thread that
/// nobody waits for.
fn install_panic_hook() {
    static KEPT: Once = Once::new();
    KEPT.call_once(|| {
        let told = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let place = panic.location().map(ToString::to_string);
            let is_left = WATCHED.try_with(|watched| {
                let mut watched = watched.try_borrow_mut().ok()?;
                let watched = watched.as_mut()?;
                watched.place = watched.place.take().or(place);
                Some(watched.is_left.load(Ordering::Relaxed))
            });
            if is_left.ok().flatten() != Some(true) {
                told(panic);
            }
        }));
    });
}

/// Makes the function's future on a thread of its own, and waits for its end, so long at the most, and until it is to be
/// ended.
pub(super) async fn run_on_thread(
    make: impl FnOnce() -> Ran + Send + 'static,
    limit: Option<Duration>,
    ends: impl Future<Output = ()>,
) -> Returned {
    install_panic_hook();
    let (tell, mut told) = oneshot::channel();
    let (stop, stopped) = oneshot::channel();
    let is_left = Arc::new(AtomicBool::new(false));
    let watched = WatchedThread {
        is_left: Arc::clone(&is_left),
        place: None,
    };
    let started = thread::Builder::new()
        .name("the agent's own function".to_owned())
        .spawn(move || {
            WATCHED.set(Some(watched));
            // Nobody may wait for it any more.
            _ = tell.send(run_until_stopped(make, stopped));
        });
    if let Err(error) = started {
        return Returned::Failed(format!("no thread could be started: {error}"));
    }
    let late = async {
        match limit {
            Some(limit) => sleep(limit).await,
            None => pending().await,
        }
    };
    let why: fn(bool) -> Returned = tokio::select! {
        biased;
        ended = &mut told => {
            return ended.unwrap_or_else(|_| Returned::Failed("its thread ended".to_owned()));
        }
        () = late => |is_left| Returned::Late { is_left },
        () = ends => |is_left| Returned::Stopped { is_left },
    };
    _ = stop.send(());
    let runs_on = timeout(GRACE, told).await.is_err();
    is_left.store(runs_on, Ordering::Relaxed);
    why(runs_on)
}

/// Runs the function on this thread, until it ends or is stopped.
fn run_until_stopped(make: impl FnOnce() -> Ran, stopped: oneshot::Receiver<()>) -> Returned {
    // What the function starts beside itself runs on another thread, as in a program.
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return Returned::Failed(format!("no runtime could be started: {error}")),
    };
    let run = || {
        runtime.block_on(async {
            tokio::select! {
                biased;
                Ok(()) = stopped => Returned::Late { is_left: false },
                ran = async { make().await } => match ran {
                    Ok(()) => Returned::Well,
                    Err(error) => Returned::Failed(error),
                },
            }
        })
    };
    let returned = catch_unwind(AssertUnwindSafe(run));
    let returned = returned.unwrap_or_else(|panic| Returned::Panicked(panic_message(&*panic)));
    // What it left behind is not waited for.
    runtime.shutdown_background();
    returned
}

/// Where the function of this thread panicked, and what the panic says.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("it says nothing");
    let place = WATCHED.with_borrow_mut(|watched| watched.as_mut()?.place.take());
    match place {
        Some(place) => format!("{place}: {text}"),
        None => format!("an unknown place: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn called(make: impl FnOnce() -> Ran + Send + 'static, limit: Option<Duration>) -> Returned {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run_on_thread(make, limit, pending()))
    }

    #[test]
    fn a_function_returns_fails_or_panics_with_text_and_place() {
        let well = || -> Ran { Box::pin(async { Ok(()) }) };
        assert_eq!(called(well, None), Returned::Well);
        let failed = || -> Ran { Box::pin(async { Err("no".to_owned()) }) };
        assert_eq!(called(failed, None), Returned::Failed("no".to_owned()));
        let line = line!() + 1;
        let panics = || -> Ran { Box::pin(async { panic!("order {} is lost", 7) }) };
        let what = format!("{}:{line}:", file!());
        let Returned::Panicked(told) = called(panics, None) else {
            panic!("it did not panic");
        };
        assert!(told.starts_with(&what), "{told}");
        assert!(told.ends_with(": order 7 is lost"), "{told}");
        // The function itself may panic before there is a future.
        let at_once = || -> Ran { panic!("at once") };
        let told = called(at_once, None).message().unwrap();
        assert!(
            told.starts_with("the agent's own function panicked at "),
            "{told}"
        );
    }

    #[test]
    fn a_limit_ends_the_wait_for_a_function_that_awaits_and_for_one_that_blocks() {
        let limit = Some(Duration::from_millis(30));
        let awaits = || -> Ran {
            Box::pin(async {
                tokio::time::sleep(Duration::from_mins(5)).await;
                Ok(())
            })
        };
        assert_eq!(called(awaits, limit), Returned::Late { is_left: false });
        // Also where it blocks what it started beside itself.
        let begun = Instant::now();
        let blocks = || -> Ran {
            Box::pin(async {
                thread::sleep(Duration::from_secs(20));
                Ok(())
            })
        };
        assert_eq!(called(blocks, limit), Returned::Late { is_left: true });
        let beside = || -> Ran {
            Box::pin(async {
                let task = tokio::spawn(async { thread::sleep(Duration::from_secs(20)) });
                task.await.map_err(|error| error.to_string())
            })
        };
        assert_eq!(called(beside, limit), Returned::Late { is_left: false });
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_function_is_ended_when_its_session_says_so() {
        let asks = || -> Ran { Box::pin(pending()) };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let ends = async {};
        let returned = runtime.block_on(run_on_thread(asks, None, ends));
        assert_eq!(returned, Returned::Stopped { is_left: false });
        let told = returned.message().unwrap();
        assert!(told.contains("again and again"), "{told}");
    }
}
