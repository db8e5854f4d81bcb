//! Recordings and results that are written in another order, with their keys in another order.

use std::collections::BTreeMap;
use std::fs;

use mcptest::result::folder::{self, Results};
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Value, json};

use crate::package::{Judged, OnDisk, same_data, suite};
use crate::runs::{order, runs};

/// JSON with the keys of each object in another order: the sorted keys, turned on by so many places.
fn turned(value: &Value, turn: usize) -> String {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let places = turn % entries.len().max(1);
            entries.rotate_left(places);
            if turn % 2 == 1 {
                entries.reverse();
            }
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| {
                format!("{}:{}", Value::from(key.as_str()), turned(value, turn))
            });
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| turned(item, turn));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// What cases come to, without the digests of the files' bytes.
fn without_digests(judged: BTreeMap<String, Judged>) -> Value {
    let data = judged.into_iter().map(|(name, mut judged)| {
        for recording in &mut judged.result.recordings {
            recording.digest.clear();
        }
        (name, json!([judged.result, judged.made_of]))
    });
    Value::Object(data.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn the_order_of_files_and_of_keys_changes_nothing(
        runs in runs(4), numbers in subsequence((1..120_usize).collect::<Vec<_>>(), 4), order in order(4), turn in 1..9_usize,
    ) {
        let suite = suite(4);
        let write = |order: &[usize], turn: usize| {
            let folder = OnDisk::new(&suite);
            for run in order {
                folder.write(&format!("suites/runs/run-{}.json", numbers[*run]), &turned(&runs[*run], turn));
            }
            folder
        };
        let (there, here) = (write(&[0, 1, 2, 3], 0).judged(), write(&order, turn).judged());
        for case in here.values().filter(|case| !case.result.recordings.is_empty()) {
            let files = case.result.recordings.iter().map(|recording| recording.path.clone());
            let by_number = numbers.iter().map(|number| format!("suites/runs/run-{number}.json"));
            prop_assert_eq!(files.collect::<Vec<_>>(), by_number.collect::<Vec<_>>());
        }
        same_data("keys", &without_digests(there), &without_digests(here))?;
    }

    #[test]
    fn the_order_in_which_results_are_written_changes_nothing(runs in runs(2), turn in 0..40_usize) {
        let package = OnDisk::with_runs(&suite(2), &runs);
        let mut results: Vec<_> = package.judged().into_values().map(|judged| judged.result).collect();
        let write = |results: &[mcptest::result::CaseResult]| {
            let folder = tempfile::tempdir().unwrap();
            for result in results {
                folder::write(folder.path(), result).unwrap();
            }
            let entries = fs::read_dir(folder.path().join("shop")).unwrap();
            let files = entries.map(|entry| entry.unwrap().path());
            let files = files.map(|path| (path.file_name().unwrap().to_owned(), fs::read(path).unwrap()));
            (files.collect::<BTreeMap<_, _>>(), Results::read(folder.path()).unwrap())
        };
        let there = write(&results);
        // A folder may list its files in the same order whoever wrote them.
        prop_assert!(there.1.cases.is_sorted_by_key(|result| &result.case));
        let places = turn % results.len();
        results.rotate_left(places);
        results.reverse();
        prop_assert_eq!(there, write(&results));
    }
}
