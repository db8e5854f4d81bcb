//! What the cases of a process come to: each is judged once, on as many threads as were asked for,
//! and waited for in the order of their names.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use libtest_mimic::{Completion, Failed, Trial};

/// What a case came to; an error is its failure text.
pub(super) type TrialOutcome = Result<NotFailed, String>;

/// What a case that does not fail came to.
#[derive(Debug, Clone)]
pub(super) enum NotFailed {
    /// It holds, with what was computed.
    Holds(Option<String>),
    /// It is ignored, for a reason.
    Ignored(String),
}

type JudgeCase = Box<dyn FnOnce() -> TrialOutcome + Send>;

/// How far a case is.
enum CaseState {
    Waiting(JudgeCase),
    Judging,
    Known(TrialOutcome),
}

/// The cases of a process, by name.
#[derive(Clone, Default)]
pub(super) struct Verdicts(Arc<Shared>);

#[derive(Default)]
struct Shared {
    states: Mutex<HashMap<String, CaseState>>,
    changed: Condvar,
    /// How many threads wait for a change; it is changed with the states locked.
    waiting: AtomicUsize,
    /// The names that are asked for, in groups, but for the groups that a thread has taken.
    ahead: Mutex<VecDeque<Vec<String>>>,
}

impl Verdicts {
    /// A case as a trial that waits for the verdict.
    pub(super) fn trial(
        &self,
        name: &str,
        judge: impl FnOnce() -> TrialOutcome + Send + 'static,
    ) -> Trial {
        self.states()
            .entry(name.to_owned())
            .or_insert_with(|| CaseState::Waiting(Box::new(judge)));
        self.waiting_trial(name)
    }

    /// Another trial of the same case: a trial is used up when it is run.
    pub(super) fn duplicate(&self, trial: &Trial) -> Trial {
        let ignored = trial.has_ignored_flag();
        self.waiting_trial(trial.name()).with_ignored_flag(ignored)
    }

    /// Takes the names that are asked for, in their order, and lets go of the other cases, and of what
    /// they hold.
    pub(super) fn retain(&self, names: &[String]) {
        let kept: HashSet<&String> = names.iter().collect();
        self.states().retain(|name, _| kept.contains(name));
        let groups = group_by_agent(names).into_iter().map(<[String]>::to_vec);
        *lock(&self.0.ahead) = groups.collect();
    }

    /// A trial that waits for the verdict on a case.
    fn waiting_trial(&self, name: &str) -> Trial {
        let (verdicts, known) = (self.clone(), name.to_owned());
        Trial::ignorable_test(name, move || match verdicts.verdict(&known) {
            Ok(NotFailed::Holds(_)) => Ok(Completion::Completed),
            Ok(NotFailed::Ignored(reason)) => Ok(Completion::ignored_with(reason)),
            Err(text) => Err(Failed::from(text)),
        })
    }

    /// Judges the cases that are kept in their order, on threads of their own, until the scope ends.
    /// The cases of one agent are judged on one thread, which reads its runs once; who has nothing left
    /// to begin helps with them.
    pub(super) fn judge_ahead<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        names: &'env [String],
        threads: usize,
    ) {
        for _ in 0..threads {
            scope.spawn(move || {
                while self.judge_next() {}
                for name in names {
                    self.judge_case(name);
                }
            });
        }
    }

    /// Judges the next agent that no thread has taken; false where there is none.
    fn judge_next(&self) -> bool {
        let next = lock(&self.0.ahead).pop_front();
        for name in next.iter().flatten() {
            self.judge_case(name);
        }
        next.is_some()
    }

    /// The verdict on a case: judged here where no other thread has begun. While another judges it,
    /// this one does what comes next.
    pub(super) fn verdict(&self, name: &str) -> TrialOutcome {
        self.judge_case(name);
        let known = |states: &HashMap<String, CaseState>| match states.get(name) {
            Some(CaseState::Known(verdict)) => Some(verdict.clone()),
            None => Some(Err(format!("error: there is no case `{name}`"))),
            Some(CaseState::Waiting(_) | CaseState::Judging) => None,
        };
        loop {
            if let Some(verdict) = known(&self.states()) {
                return verdict;
            }
            if !self.judge_next() {
                break;
            }
        }
        let mut states = self.states();
        self.0.waiting.fetch_add(1, Ordering::Relaxed);
        loop {
            if let Some(verdict) = known(&states) {
                self.0.waiting.fetch_sub(1, Ordering::Relaxed);
                return verdict;
            }
            let changed = self.0.changed.wait(states);
            states = changed.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Judges a case that nobody has judged.
    fn judge_case(&self, name: &str) {
        let judge = {
            let mut states = self.states();
            let Some(state) = states.get_mut(name) else {
                return;
            };
            if !matches!(state, CaseState::Waiting(_)) {
                return;
            }
            std::mem::replace(state, CaseState::Judging)
        };
        let CaseState::Waiting(judge) = judge else {
            return;
        };
        let verdict = panic::catch_unwind(AssertUnwindSafe(judge));
        let verdict = verdict.unwrap_or_else(|why| {
            Err(
                panic_text(&*why).map_or("test panicked".to_owned(), |text| {
                    format!("test panicked: {text}")
                }),
            )
        });
        let mut states = self.states();
        states.insert(name.to_owned(), CaseState::Known(verdict));
        // Waking nobody asks the system all the same.
        if self.0.waiting.load(Ordering::Relaxed) > 0 {
            self.0.changed.notify_all();
        }
    }

    /// What was computed of the cases that hold, by name, as libtest shows what they printed.
    pub(super) fn success_texts(&self) -> String {
        let states = self.states();
        let computed = states.iter().filter_map(|(name, state)| match state {
            CaseState::Known(Ok(NotFailed::Holds(Some(scores)))) => Some((name, scores)),
            _ => None,
        });
        let computed: BTreeMap<_, _> = computed.collect();
        let shown = computed
            .into_iter()
            .map(|(name, scores)| format!("---- {name} ----\n{scores}\n"));
        shown.collect::<Vec<_>>().join("\n")
    }

    fn states(&self) -> MutexGuard<'_, HashMap<String, CaseState>> {
        lock(&self.0.states)
    }
}

/// What a panic said.
pub(super) fn panic_text(why: &(dyn Any + Send)) -> Option<&str> {
    let text = why.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| why.downcast_ref::<&str>().copied())
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names in groups: one, and those below it that follow.
fn group_by_agent(names: &[String]) -> Vec<&[String]> {
    let below = |first: &String, name: &String| {
        let rest = name.strip_prefix(first.as_str());
        rest.is_some_and(|rest| rest.starts_with("::"))
    };
    let mut groups: Vec<&[String]> = Vec::new();
    let mut rest = names;
    while let Some((first, more)) = rest.split_first() {
        let count = more.iter().take_while(|name| below(first, name)).count();
        let (group, after) = rest.split_at(1 + count);
        groups.push(group);
        rest = after;
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_case_is_judged_once_and_everyone_gets_the_same_verdict() {
        let verdicts = Verdicts::default();
        let judged = Arc::new(AtomicUsize::new(0));
        let names: Vec<String> = (0..40).map(|number| format!("case {number}")).collect();
        for name in &names {
            let judged = Arc::clone(&judged);
            // The trial may be made several times.
            for _ in 0..2 {
                let judged = Arc::clone(&judged);
                let _trial = verdicts.trial(name, move || {
                    judged.fetch_add(1, Ordering::SeqCst);
                    Err("once".to_owned())
                });
            }
        }
        verdicts.retain(&names);
        thread::scope(|scope| {
            verdicts.judge_ahead(scope, &names, 4);
            for name in &names {
                assert_eq!(verdicts.verdict(name).unwrap_err(), "once");
            }
        });
        assert_eq!(judged.load(Ordering::SeqCst), names.len());
    }

    #[test]
    fn who_waits_for_an_agent_judges_the_next() {
        let verdicts = Verdicts::default();
        let (begun, begins) = mpsc::channel();
        let (done, waits) = mpsc::channel();
        // It ends when somebody else has judged the other.
        let _slow = verdicts.trial("a", move || {
            begun.send(()).unwrap();
            let other = waits.recv_timeout(Duration::from_mins(1));
            other.map_err(|error| error.to_string())?;
            Err("slow".to_owned())
        });
        let _other = verdicts.trial("b", move || {
            done.send(()).unwrap();
            Err("other".to_owned())
        });
        let names = ["a", "b"].map(str::to_owned);
        verdicts.retain(&names);
        thread::scope(|scope| {
            verdicts.judge_ahead(scope, &names, 1);
            begins.recv().unwrap();
            assert_eq!(verdicts.verdict("a").unwrap_err(), "slow");
            assert_eq!(verdicts.verdict("b").unwrap_err(), "other");
        });
    }

    #[test]
    fn the_cases_of_an_agent_are_one_group() {
        let names = ["a", "a1", "a1::x", "a1::y::z", "a1b", "c::x"].map(str::to_owned);
        let counts: Vec<usize> = group_by_agent(&names)
            .iter()
            .map(|group| group.len())
            .collect();
        assert_eq!(counts, [1, 3, 1, 1]);
        assert!(group_by_agent(&[]).is_empty());
    }

    #[test]
    fn what_a_case_holds_goes_when_it_is_judged_or_nobody_asks_for_it() {
        let verdicts = Verdicts::default();
        let held = Arc::new(());
        let trials = ["a", "b", "c"].map(|name| {
            let held = Arc::clone(&held);
            verdicts.trial(name, move || {
                drop(held);
                Err("judged".to_owned())
            })
        });
        let again: Vec<Trial> = trials
            .iter()
            .map(|trial| verdicts.duplicate(trial))
            .collect();
        assert_eq!(again[0].name(), "a");
        assert_eq!(Arc::strong_count(&held), 4);
        verdicts.retain(&["a".to_owned(), "b".to_owned()]);
        assert_eq!(Arc::strong_count(&held), 3);
        assert_eq!(verdicts.verdict("a").unwrap_err(), "judged");
        assert_eq!(Arc::strong_count(&held), 2);
        let flagged = verdicts.duplicate(&again[1]).with_ignored_flag(true);
        assert!(verdicts.duplicate(&flagged).has_ignored_flag());
    }

    #[test]
    fn a_panic_is_the_failure_of_its_case() {
        let verdicts = Verdicts::default();
        let _trial = verdicts.trial("a", || panic!("no {}", "order"));
        assert_eq!(
            verdicts.verdict("a").unwrap_err(),
            "test panicked: no order"
        );
        assert!(verdicts.verdict("unheard of").is_err());
    }
}
