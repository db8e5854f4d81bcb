//! Any sequence of operations does what a list in memory would.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::steps::stop::without_sync;
use super::*;

#[derive(Debug, Clone)]
enum Operation {
    Add,
    Stage(usize),
    Publish(usize),
    Discard,
    Prepare(usize),
    /// Someone removes the run at this place in the list.
    Remove(usize),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        4 => Just(Operation::Add),
        5 => (1..5_usize).prop_map(Operation::Stage),
        4 => (0..4_usize).prop_map(Operation::Publish),
        1 => Just(Operation::Discard),
        1 => (1..4_usize).prop_map(Operation::Prepare),
        1 => (0..4_usize).prop_map(Operation::Remove),
    ];
    proptest::collection::vec(operation, 0..25)
}

/// What is recorded, by the number of its file; in a `.jsonl` file by its place.
#[derive(Default)]
struct Model {
    form: Option<Form>,
    runs: BTreeMap<usize, String>,
    staged: BTreeMap<usize, String>,
}

impl Model {
    fn add(&mut self, wanted: Form, id: String) {
        let form = match self.form {
            Some(Form::Single) => Form::Folder,
            other => other.unwrap_or(wanted),
        };
        self.form = Some(form);
        let number = match form {
            Form::Lines => self.runs.len() + 1,
            _ => (1..=self.runs.len() + 1)
                .find(|number| !self.runs.contains_key(number))
                .unwrap(),
        };
        self.runs.insert(number, id);
    }

    fn publish(&mut self, wanted: Form, count: usize) -> bool {
        let staged: BTreeMap<_, _> = self
            .staged
            .range(..=count)
            .map(|(n, id)| (*n, id.clone()))
            .collect();
        if count == 0 || staged.len() < count {
            return count == 0;
        }
        self.form = Some(match self.form.unwrap_or(wanted) {
            Form::Single if count > 1 => Form::Folder,
            form => form,
        });
        self.runs = staged;
        self.staged.clear();
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn any_sequence_keeps_the_model(operations in operations(), form in proptest::sample::select(FORMS.to_vec())) {
        let result = without_sync(|| {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a place");
        let store = store(&place, form);
        let mut model = Model::default();
        for (index, operation) in operations.into_iter().enumerate() {
            let id = format!("run {index}");
            match operation {
                Operation::Add => {
                    store.add(&run(&id)).unwrap();
                    model.add(form, id);
                }
                Operation::Stage(number) => {
                    store.stage(number, &run(&id)).unwrap();
                    model.staged.insert(number, id);
                }
                Operation::Publish(count) => {
                    let done = model.publish(form, count);
                    prop_assert_eq!(store.publish(count).is_ok(), done);
                }
                Operation::Discard => {
                    store.discard_staged().unwrap();
                    model.staged.clear();
                }
                Operation::Prepare(runs) => {
                    prop_assert_eq!(store.prepare(runs).unwrap(), model.runs.len());
                }
                Operation::Remove(index) if model.form == Some(Form::Folder) => {
                    if let Some(number) = model.runs.keys().nth(index).copied() {
                        model.runs.remove(&number);
                        fs::remove_file(place.join(STEM).join(format!("run-{number}.json"))).unwrap();
                        model.form = model.form.filter(|_| !model.runs.is_empty());
                    }
                }
                Operation::Remove(_) => {}
            }
            let expected: Vec<String> = model.runs.values().cloned().collect();
            prop_assert_eq!(visible_runs(&place), expected);
            prop_assert_eq!(store.count_runs().unwrap(), model.runs.len());
            prop_assert_eq!(store.layout().unwrap(), model.form.map(|form| layout(&place, form)));
            let staged: BTreeMap<usize, String> =
                store.staged().unwrap().iter().map(|(number, run)| (*number, run_id(run))).collect();
            prop_assert_eq!(&staged, &model.staged);
        }
        Ok(())
        });
        result?;
    }
}
