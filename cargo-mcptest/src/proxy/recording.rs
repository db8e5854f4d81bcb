//! The recording of a session, on disk.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcptest_suite::{cassette_slug, escape};
use mcptest_trace::record::environment::{provider_secrets, secrets_by_name, variables};
use mcptest_trace::record::redact::{RedactionCounts, Redactor, TooLarge, suspects};
use mcptest_trace::record::store::render;
use mcptest_trace::text::pluralize;
use regex::Regex;
use serde_json::Value;
use tempfile::NamedTempFile;

use super::Proxy;
use super::session::ProxySession;
use crate::failure::Failure;

/// How many times as long as a write took nothing is written after it: writing takes a tenth of the
/// time, until a write takes more than a ninth of the longest pause.
const PAUSE: u32 = 9;

/// The longest pause: what went by before it is in the recording, whenever the process is killed.
const LONGEST: Duration = Duration::from_secs(1);

/// The recording of a session, written again and again.
pub(super) struct SessionRecording {
    folder: PathBuf,
    redactor: Redactor,
    hiding: RedactionPolicy,
    /// Where it is, once it has been written.
    file: Option<PathBuf>,
    failed: Option<String>,
    /// What was taken out of what was last written, and where that looks as if it held a key.
    redacted: RedactionCounts,
    suspects: Vec<String>,
    /// What was said otherwise than it is recorded.
    flaws: Vec<String>,
    /// What went by and does not fit together.
    loose_ends: Vec<String>,
    pace: Pace,
}

/// What is taken out of a recording.
struct RedactionPolicy {
    secrets: Vec<(String, String)>,
    patterns: Vec<Regex>,
    keep_named: bool,
    /// Why something cannot be taken out: nothing is written then.
    problem: Option<String>,
}

impl RedactionPolicy {
    fn redactor(&self, logins: &[String]) -> Result<Redactor, TooLarge> {
        let logins = logins.iter();
        let logins = logins.map(|login| ("key of a client".to_owned(), login.clone()));
        let secrets = self.secrets.iter().cloned().chain(logins);
        let redactor = Redactor::new(secrets, self.patterns.clone())?.with_shapes();
        Ok(if self.keep_named {
            redactor
        } else {
            redactor.with_secret_keys()
        })
    }
}

/// When a recording is written again.
#[derive(Debug, Default)]
struct Pace {
    next: Option<Instant>,
}

impl Pace {
    /// How long to wait yet.
    fn wait(&self, now: Instant) -> Duration {
        self.next
            .map_or(Duration::ZERO, |next| next.saturating_duration_since(now))
    }

    fn record_write(&mut self, began: Instant, ended: Instant) {
        let pause = ended.saturating_duration_since(began).saturating_mul(PAUSE);
        self.next = Some(ended + pause.min(LONGEST));
    }
}

impl SessionRecording {
    pub(super) fn new(proxy: &Proxy) -> Result<Self, Failure> {
        let stem = format!(
            "{}__{}",
            cassette_slug(&proxy.agent),
            cassette_slug(&proxy.model)
        );
        let secrets = provider_secrets().chain(secrets_by_name(variables()));
        let patterns: Result<Vec<Regex>, regex::Error> = proxy
            .redact
            .iter()
            .map(|pattern| Regex::new(pattern))
            .collect();
        let patterns = patterns.map_err(|error| {
            Failure::new(format!(
                "`--redact` has an invalid regular expression: {error}"
            ))
        })?;
        let hiding = RedactionPolicy {
            secrets: secrets.collect(),
            patterns,
            keep_named: proxy.keep_named,
            problem: None,
        };
        let redactor = hiding.redactor(&[]);
        let redactor = redactor.map_err(|error| Failure::new(error.to_string()))?;
        let folder = proxy.cassettes.join(stem);
        fs::create_dir_all(&folder).map_err(|error| {
            Failure::new(format!("`{}` cannot be made: {error}", folder.display()))
        })?;
        Ok(Self {
            folder,
            redactor,
            hiding,
            file: None,
            failed: None,
            redacted: RedactionCounts::default(),
            suspects: Vec::new(),
            flaws: Vec::new(),
            loose_ends: Vec::new(),
            pace: Pace::default(),
        })
    }

    /// Writes what is new, unless it was written just now. Gives how long that may wait.
    pub(super) fn write_if_due(&mut self, session: &mut ProxySession) -> Duration {
        if !session.has_changes() {
            return Duration::MAX;
        }
        let began = Instant::now();
        let wait = self.pace.wait(began);
        if !wait.is_zero() {
            return wait;
        }
        self.write(session.cassette());
        self.pace.record_write(began, Instant::now());
        Duration::MAX
    }

    /// Takes out also what clients log in with.
    pub(super) fn hide_credentials(&mut self, logins: &[String]) {
        match self.hiding.redactor(logins) {
            Ok(redactor) => self.redactor = redactor,
            Err(error) => self.hiding.problem = Some(error.to_string()),
        }
    }

    /// Puts the run in place whole. What goes wrong is said at the end: the client must not notice.
    pub(super) fn write(&mut self, mut run: Value) {
        if let Some(problem) = &self.hiding.problem {
            self.failed = Some(problem.clone());
            return;
        }
        let mut counts = RedactionCounts::default();
        self.redactor.redact_run_counted(&mut run, &mut counts);
        if let Value::Object(run) = &mut run {
            // A run that was offered no tools says so.
            run.entry("tools").or_insert(Value::Null);
        }
        self.redacted = counts;
        self.suspects = suspects(&run);
        match self.write_file(&render(&run)) {
            Ok(()) => self.failed = None,
            Err(error) => self.failed = Some(error.to_string()),
        }
    }

    /// Notes what was said otherwise than it is recorded.
    pub(super) fn add_flaws(&mut self, flaws: Vec<String>) {
        self.flaws = flaws;
    }

    /// Notes what went by and does not fit together: the recording is as whole as the session was.
    pub(super) fn add_loose_ends(&mut self, loose_ends: Vec<String>) {
        self.loose_ends = loose_ends;
    }

    /// Whether what was last written is there, as it was said.
    pub(super) fn is_whole(&self) -> bool {
        self.failed.is_none() && self.flaws.is_empty()
    }

    fn write_file(&mut self, text: &str) -> io::Result<()> {
        let mut whole = NamedTempFile::with_prefix_in(".writing-", &self.folder)?;
        whole.write_all(text.as_bytes())?;
        if let Some(file) = &self.file {
            whole.persist(file)?;
            return Ok(());
        }
        // The next number that no other run has, whoever else records there.
        for number in 1_u64.. {
            let file = self.folder.join(format!("run-{number}.json"));
            match whole.persist_noclobber(&file) {
                Ok(_) => {
                    self.file = Some(file);
                    return Ok(());
                }
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    whole = error.file;
                }
                Err(error) => return Err(error.error),
            }
        }
        Ok(())
    }

    pub(super) fn print_problem(&self) {
        let said = match (&self.failed, &self.file) {
            (Some(why), _) => format!("error: the recording cannot be written: {why}"),
            (None, Some(file)) => format!("recorded: {}", file.display()),
            (None, None) => return,
        };
        let say = |line: &str| mcptest_trace::record::say(&escape(line));
        say(&said);
        for (kind, count) in self.redacted.iter() {
            say(&format!("redacted: {kind}: {count}"));
        }
        if let [first, rest @ ..] = self.suspects.as_slice() {
            let more = match rest.len() {
                0 => String::new(),
                more => format!(" and {}", pluralize(more, "more place")),
            };
            say(&format!(
                "warning: the run holds text that looks like a key, at `{first}`{more}; read the run before you \
                 commit it, and blank the key with `--redact`"
            ));
        }
        for loose_end in &self.loose_ends {
            say(&format!("warning: {loose_end}"));
        }
        for flaw in &self.flaws {
            say(&format!("error: {flaw}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session of a message a millisecond, whose recording takes a microsecond a message to write.
    #[test]
    fn a_long_session_is_written_seldom_and_nothing_waits_long() {
        let (begin, mut pace) = (Instant::now(), Pace::default());
        let (mut now, mut busy) = (begin, Duration::ZERO);
        let (mut waits_since, mut longest) = (None, Duration::ZERO);
        for message in 1..=100_000_u32 {
            now = now.max(begin + Duration::from_millis(message.into()));
            let since = *waits_since.get_or_insert(now);
            if pace.wait(now).is_zero() {
                let takes = Duration::from_micros(message.into());
                pace.record_write(now, now + takes);
                now += takes;
                busy += takes;
                longest = longest.max(now - since);
                waits_since = None;
            }
        }
        // Written at each message it would take 5,000 s.
        assert!(busy * 9 < now - begin, "{busy:?} of {:?}", now - begin);
        assert!(
            longest <= LONGEST + Duration::from_millis(101),
            "{longest:?}"
        );
    }

    #[test]
    fn a_write_that_is_slow_puts_the_next_one_off_by_a_second_at_the_most() {
        let (now, mut pace) = (Instant::now(), Pace::default());
        assert_eq!(pace.wait(now), Duration::ZERO);
        let ended = now + Duration::from_millis(2);
        pace.record_write(now, ended);
        assert_eq!(pace.wait(ended), Duration::from_millis(18));
        let ended = now + Duration::from_mins(1);
        pace.record_write(now, ended);
        assert_eq!(pace.wait(ended), LONGEST);
        assert_eq!(pace.wait(ended + LONGEST), Duration::ZERO);
    }
}
