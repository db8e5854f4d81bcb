//! Recorders that are killed, and recorders at the same time: real processes.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::*;
use crate::stats::random::Stream;

const TASK: &str = "MCPTEST_STORE_TEST_TASK";
const PLACE: &str = "MCPTEST_STORE_TEST_PLACE";
const SEED: &str = "MCPTEST_STORE_TEST_SEED";
const KILLS: u64 = 72;

/// This test binary again, as a recorder.
fn spawn(task: &str, place: &Path, seed: u64) -> Child {
    let module = module_path!().split_once("::").unwrap().1;
    Command::new(std::env::current_exe().unwrap())
        .args([
            &format!("{module}::a_recorder"),
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(TASK, task)
        .env(PLACE, place)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

fn say(line: &str) {
    let mut out = std::io::stdout();
    // The test harness may have begun a line.
    out.write_all(format!("\n{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Not a test by itself: what the other processes run.
#[test]
fn a_recorder() {
    let (Ok(task), Some(place)) = (std::env::var(TASK), std::env::var_os(PLACE)) else {
        return;
    };
    let place = Path::new(&place);
    let seed: u64 = std::env::var(SEED).unwrap().parse().unwrap();
    match task.as_str() {
        "Single" => record_for_ever(place, Form::Single, seed),
        "Folder" => record_for_ever(place, Form::Folder, seed),
        "Lines" => record_for_ever(place, Form::Lines, seed),
        form => add_twenty(place, form, seed),
    }
}

fn record_for_ever(place: &Path, form: Form, seed: u64) {
    let mut random = Stream::from_seed(seed);
    let store = store(place, form);
    let _lock = Lock::acquire_in(place.parent().unwrap(), &layout(place, form), || {}).unwrap();
    say("ready");
    for round in 0.. {
        for index in 0..random.below(3) {
            let id = format!("{seed}-{round}-add-{index}");
            say(&format!("add {id}"));
            store.add(&long_run(&id)).unwrap();
            say(&format!("done {id}"));
        }
        let count = 1 + random.below(4);
        let ids: Vec<String> = (0..count)
            .map(|index| format!("{seed}-{round}-new-{index}"))
            .collect();
        for (number, id) in (1..).zip(&ids) {
            store.stage(number, &long_run(id)).unwrap();
            say(&format!("staged {number} {id}"));
        }
        say(&format!("publish {}", ids.join(" ")));
        store.publish(ids.len()).unwrap();
        say("published");
    }
}

fn add_twenty(place: &Path, form: &str, seed: u64) {
    let form = FORMS
        .into_iter()
        .find(|known| form == format!("add {known:?}"))
        .unwrap();
    say("ready");
    for index in 0..20 {
        let layout = layout(place, form);
        let _lock = Lock::acquire_in(place.parent().unwrap(), &layout, || say("waiting")).unwrap();
        Store::new(&layout)
            .unwrap()
            .add(&long_run(&format!("{seed}-{index}")))
            .unwrap();
        say("done");
    }
}

/// What a recorder said, as what must and may be there.
#[derive(Default)]
struct Ledger {
    recorded: Vec<String>,
    adding: Option<String>,
    staged: Vec<String>,
    publishing: Option<Vec<String>>,
    written: usize,
    published: usize,
}

impl Ledger {
    fn hear(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "add" => self.adding = Some(rest.to_owned()),
            "done" => {
                self.recorded.extend(self.adding.take());
                self.written += 1;
            }
            "staged" => {
                let (number, id) = rest.split_once(' ').unwrap();
                self.staged.truncate(number.parse::<usize>().unwrap() - 1);
                self.staged.push(id.to_owned());
                self.written += 1;
            }
            "publish" => self.publishing = Some(rest.split(' ').map(str::to_owned).collect()),
            "published" => {
                self.recorded = self.publishing.take().unwrap();
                self.staged.clear();
                self.published += 1;
            }
            _ => {}
        }
    }

    /// Checks what a kill left behind, finishes it, and takes up what is there then.
    fn check(&mut self, place: &Path, form: Form) {
        let (visible, staged) = (set(visible_runs(place)), set(staged_names(place)));
        let there: BTreeSet<String> = visible.union(&staged).cloned().collect();
        let marked = place.join(format!(".{STEM}.recording/complete")).exists();
        if let Some(new) = &self.publishing {
            assert!(set(new).is_subset(&there), "{new:?} {there:?}");
            let old = set(&self.recorded);
            assert!(
                marked || visible == set(new) || visible == old,
                "{visible:?} {old:?}"
            );
        } else {
            let (recorded, kept) = (set(&self.recorded), set(&self.staged));
            assert!(recorded.is_subset(&visible), "{recorded:?} {visible:?}");
            assert!(kept.is_subset(&staged), "{kept:?} {staged:?}");
        }
        store(place, form).finish_interrupted().unwrap();
        let finished = visible_runs(place);
        let with_added: Vec<String> = self.recorded.iter().chain(&self.adding).cloned().collect();
        let allowed = [
            Some(self.recorded.clone()),
            Some(with_added),
            self.publishing.clone(),
        ];
        assert!(
            allowed.contains(&Some(finished.clone())),
            "{finished:?} {allowed:?}"
        );
        *self = Self {
            recorded: finished,
            written: self.written,
            published: self.published,
            ..Self::default()
        };
        // The next recorder begins anew.
        store(place, form).discard_staged().unwrap();
    }
}

fn lines(child: &mut Child) -> std::io::Lines<BufReader<ChildStdout>> {
    BufReader::new(child.stdout.take().unwrap()).lines()
}

#[test]
fn killed_recorders_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Stream::from_seed(20_260_131);
    let mut ledgers: VecDeque<(Form, Ledger)> = FORMS
        .map(|form| (form, Ledger::default()))
        .into_iter()
        .collect();
    let mut interrupted = 0;
    for seed in 0..KILLS {
        let (form, mut ledger) = ledgers.pop_front().unwrap();
        let place = folder.path().join(format!("{form:?}/cassettes"));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let mut child = spawn(&format!("{form:?}"), &place, seed);
        let mut said = lines(&mut child);
        assert!(
            said.by_ref().any(|line| line.unwrap() == "ready"),
            "the recorder did not start"
        );
        thread::sleep(Duration::from_micros(random.below(60_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        // A line may be cut; one that is whole was said.
        let whole = said.map_while(Result::ok).collect::<Vec<_>>();
        for line in &whole {
            ledger.hear(line);
        }
        interrupted += usize::from(ledger.publishing.is_some() || ledger.adding.is_some());
        ledger.check(&place, form);
        ledgers.push_back((form, ledger));
    }
    let written: usize = ledgers.iter().map(|(_, ledger)| ledger.written).sum();
    let published: usize = ledgers.iter().map(|(_, ledger)| ledger.published).sum();
    println!(
        "{KILLS} kills, {interrupted} in the middle of an add or a publish; {written} runs written, published {published} times"
    );
}

#[test]
fn two_recorders_at_once_add_every_run_once() {
    for form in FORMS {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("cassettes");
        let mut children: Vec<Child> = [1, 2]
            .map(|seed| spawn(&format!("add {form:?}"), &place, seed))
            .into();
        let mut waits = 0;
        for child in &mut children {
            let said = lines(child).map(Result::unwrap);
            waits += said.filter(|line| line == "waiting").count();
            assert!(child.wait().unwrap().success());
        }
        let expected = (1..3).flat_map(|seed| (0..20).map(move |index| format!("{seed}-{index}")));
        let runs = visible_runs(&place);
        assert_eq!(runs.len(), 40);
        assert_eq!(set(&runs), expected.collect());
        println!("{form:?}: 40 runs by two recorders, {waits} waits");
    }
}
