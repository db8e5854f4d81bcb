//! The command line: everything libtest knows, mapped to what libtest-mimic knows.
//!
//! libtest-mimic takes one filter, refuses some of libtest's flags and does not read
//! `RUST_TEST_THREADS`. So the arguments are read here first; filtering is done here as well.

use std::collections::HashSet;
use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::num::NonZeroUsize;
use std::thread;

use libtest_mimic::{Arguments, Trial};
use mcptest_suite::{Shard, ShardError, SuitePath, escape_line, is_reserved};

/// Flags of libtest that change nothing here.
const WITHOUT_EFFECT: [&str; 6] = [
    "--shuffle",
    "--report-time",
    "--ensure-time",
    "--exclude-should-panic",
    "--force-run-in-process",
    "--fail-fast",
];

/// Options of libtest that take a value.
const WITH_VALUE: [&str; 6] = [
    "--test-threads",
    "--logfile",
    "--skip",
    "--color",
    "--format",
    "-Z",
];

/// The most threads that suites are loaded or cases are judged on.
const MOST_THREADS: usize = 512;

/// Why the command line cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ArgumentError {
    NotUnicode {
        argument: OsString,
    },
    NoThreads,
    /// `RUST_TEST_THREADS` is no number of threads.
    ThreadsVariable {
        value: String,
    },
    /// Ignored cases are asked for alone, and with the others.
    IgnoredTwice,
    Shard {
        text: String,
        error: ShardError,
    },
    SeveralShards,
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUnicode { argument } => write!(
                f,
                "the argument `{}` is not Unicode, and no case has such a name",
                escape_line(&argument.to_string_lossy())
            ),
            Self::NoThreads => f.write_str("argument for --test-threads must not be 0"),
            Self::ThreadsVariable { value } => write!(
                f,
                "RUST_TEST_THREADS is `{}`, should be a positive integer",
                escape_line(value)
            ),
            Self::IgnoredTwice => {
                f.write_str("the options --include-ignored and --ignored are mutually exclusive")
            }
            Self::Shard { text, error } => write!(f, "`--shard {}`: {error}", escape_line(text)),
            Self::SeveralShards => f.write_str("`--shard` is given more than once"),
        }
    }
}

impl Error for ArgumentError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Shard { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// The arguments of this process as text.
///
/// # Errors
///
/// One of them is no Unicode.
pub(super) fn process_arguments() -> Result<Vec<String>, ArgumentError> {
    to_strings(std::env::args_os().skip(1))
}

fn to_strings(arguments: impl Iterator<Item = OsString>) -> Result<Vec<String>, ArgumentError> {
    let texts = arguments.map(OsString::into_string);
    let texts: Result<Vec<String>, OsString> = texts.collect();
    texts.map_err(|argument| ArgumentError::NotUnicode { argument })
}

/// What the command line asks for.
#[derive(Debug, Clone)]
pub(crate) struct TestArguments {
    /// For libtest-mimic, without filters.
    pub(crate) arguments: Arguments,
    /// The positional filters; a case runs when one of them fits.
    pub(crate) filters: Vec<String>,
    /// The part of the cases that are run, where not all are.
    pub(crate) shard: Option<Shard>,
}

impl TestArguments {
    /// Reads the arguments after the program's name. `threads` is `RUST_TEST_THREADS`.
    ///
    /// # Errors
    ///
    /// A thread count that is none, a shard that is none, or flags that contradict each other. Flags that nobody knows end
    /// the process.
    pub(super) fn read(
        arguments: impl IntoIterator<Item = String>,
        threads: Option<&str>,
    ) -> Result<Self, ArgumentError> {
        let mut passed = vec!["test".to_owned()];
        let mut filters = Vec::new();
        let mut shards = Vec::new();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--no-capture" => passed.push("--nocapture".to_owned()),
                "--shuffle-seed" => _ = arguments.next(),
                "--shard" => shards.push(arguments.next().unwrap_or_default()),
                flag if flag.starts_with("--shard=") => {
                    shards.push(flag["--shard=".len()..].to_owned());
                }
                flag if flag.starts_with("--shuffle-seed=") => {}
                flag if WITHOUT_EFFECT.contains(&flag) => {}
                "--" => filters.extend(arguments.by_ref()),
                flag if WITH_VALUE.contains(&flag) => {
                    passed.push(argument);
                    passed.extend(arguments.next());
                }
                flag if flag.starts_with('-') && flag.len() > 1 => passed.push(argument),
                _ => filters.push(argument),
            }
        }
        let mut arguments = Arguments::from_iter(passed);
        if arguments.test_threads == Some(0) {
            return Err(ArgumentError::NoThreads);
        }
        if arguments.ignored && arguments.include_ignored {
            return Err(ArgumentError::IgnoredTwice);
        }
        if let (None, Some(threads)) = (arguments.test_threads, threads) {
            let count = threads.parse().ok().filter(|count| *count > 0);
            let refuse = || ArgumentError::ThreadsVariable {
                value: threads.to_owned(),
            };
            arguments.test_threads = Some(count.ok_or_else(refuse)?);
        }
        let shard = match shards.as_slice() {
            [] => None,
            [shard] => Some(shard.parse().map_err(|error| {
                let text = shard.clone();
                ArgumentError::Shard { text, error }
            })?),
            _ => return Err(ArgumentError::SeveralShards),
        };
        Ok(Self {
            arguments,
            filters,
            shard,
        })
    }

    /// Whether skipped cases are to be run.
    pub(crate) fn runs_ignored(&self) -> bool {
        self.arguments.ignored || self.arguments.include_ignored
    }

    /// Whether a suite with this predicate for its names has to be loaded.
    pub(crate) fn needs_suite(&self, may_hold: impl Fn(&str) -> bool) -> bool {
        !self.arguments.exact
            || self.filters.is_empty()
            || self.filters.iter().any(|name| may_hold(name))
    }

    /// The case names of the agents that are asked for below a suite, where nothing but cases of agents
    /// is asked for, by their exact names.
    pub(crate) fn agents_below(&self, suite: &SuitePath) -> Option<HashSet<&str>> {
        let names = self.filters.iter().filter_map(|name| {
            let below = name.strip_prefix(suite.as_str())?.strip_prefix("::")?;
            below.split("::").next()
        });
        let names: HashSet<&str> = names.collect();
        let of_agents = !names.iter().any(|name| is_reserved(name));
        (self.arguments.exact && !names.is_empty() && of_agents).then_some(names)
    }

    /// Whether a name fits one of some filters.
    fn fits_any(&self, name: &str, filters: &[String]) -> bool {
        let exact = self.arguments.exact;
        let fits = |filter: &String| {
            if exact {
                name == filter
            } else {
                name.contains(filter.as_str())
            }
        };
        filters.iter().any(fits)
    }

    /// Whether a name fits the filters, and is not left out.
    pub(crate) fn fits(&self, name: &str) -> bool {
        let wanted = self.filters.is_empty() || self.fits_any(name, &self.filters);
        wanted && !self.fits_any(name, &self.arguments.skip)
    }

    /// Whether cases are chosen by their names.
    pub(crate) fn has_filters(&self) -> bool {
        !self.filters.is_empty() || !self.arguments.skip.is_empty()
    }

    /// The arguments with which every suite is loaded and every case chosen.
    pub(crate) fn without_filters(&self) -> Self {
        let mut all = self.clone();
        all.filters = Vec::new();
        all.arguments.skip = Vec::new();
        all.arguments.exact = false;
        all
    }

    /// Which cases are asked for, in their order. A suite that does not load is left out by `--skip`,
    /// and by `--exact` where that names none of its cases.
    pub(crate) fn select(&self, trials: &[Trial], is_load: impl Fn(&str) -> bool) -> Vec<bool> {
        let exact = self.arguments.exact;
        let chosen = trials.iter().map(Trial::name).map(|name| {
            let below = |filter: &String| {
                let suite = name.strip_suffix(mcptest_suite::LOAD);
                suite.is_some_and(|suite| filter.starts_with(suite))
            };
            let broken = || is_load(name) && (!exact || self.filters.iter().any(below));
            let is_broken = || broken() && !self.fits_any(name, &self.arguments.skip);
            self.fits(name) || is_broken()
        });
        chosen.collect()
    }

    /// The arguments for libtest-mimic. What is not chosen is given to it as [`filtered_trial`], so that its count
    /// of filtered cases is right.
    pub(crate) fn to_libtest(&self) -> Arguments {
        let mut arguments = self.arguments.clone();
        arguments.skip = vec![String::new()];
        arguments.exact = true;
        arguments
    }
}

/// A trial in the place of a case that is not asked for. It has no name, and is skipped by that: nothing is
/// compared with as many names as there are cases.
pub(crate) fn filtered_trial() -> Trial {
    Trial::test("", || Ok(()))
}

/// On how many threads this many suites are loaded, or cases are judged; at least one.
pub(crate) fn threads(arguments: &Arguments, pieces: usize) -> usize {
    if pieces < 2 {
        // The system would read a dozen files to tell how many it has.
        return 1;
    }
    let available = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let asked = arguments.test_threads.unwrap_or_else(available);
    // More than there are pieces would only be started and stopped.
    asked.clamp(1, pieces.min(MOST_THREADS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> TestArguments {
        TestArguments::read(arguments.iter().map(ToString::to_string), None).unwrap()
    }

    #[test]
    fn flags_that_libtest_knows_are_accepted() {
        let asked = read(&[
            "--no-capture",
            "--shuffle",
            "--shuffle-seed",
            "7",
            "--report-time",
            "--test-threads=3",
            "a",
        ]);
        assert!(asked.arguments.nocapture);
        assert_eq!(asked.arguments.test_threads, Some(3));
        assert_eq!(asked.filters, ["a"]);
    }

    #[test]
    #[cfg(unix)]
    fn an_argument_that_is_no_text_is_refused_and_not_a_panic() {
        use std::os::unix::ffi::OsStringExt as _;
        let arguments = [
            OsString::from("fine"),
            OsString::from_vec(vec![b'a', 0xff, 0x1b]),
        ];
        let refused = to_strings(arguments.into_iter()).unwrap_err().to_string();
        assert!(refused.contains("is not Unicode") && !refused.contains('\u{1b}'));
    }

    #[test]
    fn no_more_threads_are_started_than_there_are_cases() {
        let threads = |asked: &[&str], cases| threads(&read(asked).arguments, cases);
        assert_eq!(threads(&["--test-threads", "999999"], 2), 2);
        assert_eq!(threads(&["--test-threads", "999999"], 9_999), MOST_THREADS);
        assert_eq!(threads(&["--test-threads", "1"], 2), 1);
        assert_eq!(threads(&[], 1), 1);
        assert_eq!(threads(&[], 0), 1);
        assert!((1..=2).contains(&threads(&[], 2)));
    }

    #[test]
    fn what_is_left_out_is_filtered_by_its_missing_name() {
        let arguments = read(&["x", "--skip", "y"]).to_libtest();
        assert!(arguments.is_filtered_out(&filtered_trial()));
        assert!(!arguments.is_filtered_out(&Trial::test("y", || Ok(()))));
    }

    #[test]
    fn a_value_is_not_a_filter() {
        let asked = read(&["--skip", "x", "--format", "terse", "one", "two"]);
        assert_eq!(asked.filters, ["one", "two"]);
        assert_eq!(asked.arguments.skip, ["x"]);
    }

    #[test]
    fn the_thread_count_of_the_environment_gives_way_to_the_flag() {
        let threads = |flags: &[&str], environment| {
            let flags = flags.iter().map(ToString::to_string);
            TestArguments::read(flags, environment).map(|asked| asked.arguments.test_threads)
        };
        assert_eq!(threads(&[], Some("2")), Ok(Some(2)));
        assert_eq!(threads(&["--test-threads", "5"], Some("2")), Ok(Some(5)));
        assert!(threads(&[], Some("0")).is_err());
        assert!(threads(&[], Some("many")).is_err());
    }

    #[test]
    fn a_shard_is_one_part_of_the_cases() {
        for flags in [&["--shard", "2/4", "x"][..], &["x", "--shard=2/4"]] {
            let asked = read(flags);
            assert_eq!(
                asked.shard.map(|shard| shard.to_string()).as_deref(),
                Some("2/4")
            );
            assert_eq!(asked.filters, ["x"]);
        }
        let refused = |flags: &[&str]| {
            let read = TestArguments::read(flags.iter().map(ToString::to_string), None);
            read.unwrap_err().to_string()
        };
        assert!(refused(&["--shard", "0/4"]).contains("the first is `1/4`"));
        assert!(refused(&["--shard"]).starts_with("`--shard `: write"));
        assert!(refused(&["--shard=1/2", "--shard=2/2"]).contains("more than once"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let refused = |flags: &[&str]| {
            TestArguments::read(flags.iter().map(ToString::to_string), None).is_err()
        };
        assert!(refused(&["--test-threads=0"]));
        assert!(refused(&["--ignored", "--include-ignored"]));
    }

    #[test]
    fn several_filters_are_alternatives_and_load_failures_stay() {
        let trials = ["a::x", "b::y", "c::z", "d::load"].map(|name| Trial::test(name, || Ok(())));
        let left_out = |flags: &[&str]| {
            let chosen = read(flags).select(&trials, |name| name == "d::load");
            let left_out = trials.iter().zip(chosen).filter(|(_, chosen)| !chosen);
            left_out.map(|(trial, _)| trial.name()).collect::<Vec<_>>()
        };
        assert_eq!(left_out(&["x", "y"]), ["c::z"]);
        assert_eq!(
            left_out(&["x", "--skip", "load"]),
            ["b::y", "c::z", "d::load"]
        );
        assert_eq!(left_out(&["--exact", "a::x"]), ["b::y", "c::z", "d::load"]);
        // Below a suite that does not load nothing can be selected but why.
        assert_eq!(
            left_out(&["--exact", "d::agent::gate"]),
            ["a::x", "b::y", "c::z"]
        );
        assert_eq!(
            left_out(&["--exact", "de::agent"]),
            ["a::x", "b::y", "c::z", "d::load"]
        );
        assert_eq!(left_out(&["--exact", "--skip", "a::x"]), ["a::x"]);
    }
}
