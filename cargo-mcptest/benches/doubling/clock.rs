//! The processor's time, which another process on the machine does not lengthen.

use std::fs;
use std::time::Instant;

/// Seconds.
pub(crate) type Seconds = f64;

/// The kernel counts the time of processes in hundredths of a second.
const TICKS: f64 = 100.0;

/// Whose time is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Clock {
    /// This thread's.
    Thread,
    /// That of the processes that were started and have ended.
    Children,
}

impl Clock {
    /// How long something takes: the time that passes, where the system does not say more.
    pub(crate) fn time(self, work: &mut dyn FnMut()) -> Seconds {
        let (before, start) = (self.now(), Instant::now());
        work();
        match (before, self.now()) {
            (Some(before), Some(now)) => now - before,
            _ => start.elapsed().as_secs_f64(),
        }
    }

    fn now(self) -> Option<Seconds> {
        match self {
            Self::Thread => {
                let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
                let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
                Some(nanoseconds / 1e9)
            }
            Self::Children => {
                let text = fs::read_to_string("/proc/self/stat").ok()?;
                // What stands before is the program's name, which may have spaces.
                let (_, rest) = text.rsplit_once(") ")?;
                let fields: Vec<&str> = rest.split_whitespace().collect();
                let ticks = |place: usize| fields.get(place)?.parse::<f64>().ok();
                Some((ticks(13)? + ticks(14)?) / TICKS)
            }
        }
    }
}
