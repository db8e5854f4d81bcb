//! Records that hold something of several runs: they are not read again for each of the runs.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use crate::digest::Digest;
use crate::format::Parts;
use crate::input::{Change, RecordPlace};

/// How many bytes of records are kept. The last record is kept, however large it is.
const KEPT: u64 = 16 << 20;

/// The records of this kind that were read last, taken apart by the keys of runs.
#[derive(Debug, Default)]
pub(crate) struct SharedRecords {
    records: HashMap<RecordPlace, SplitRecord>,
    /// Their places, the oldest first.
    places: VecDeque<RecordPlace>,
    bytes: u64,
}

/// A record that was taken apart.
#[derive(Debug)]
struct SplitRecord {
    parts: Parts,
    changes: Vec<Change>,
}

impl SharedRecords {
    pub(crate) fn has(&self, place: RecordPlace) -> bool {
        self.records.contains_key(&place)
    }

    /// What a record has of the run with some keys, which are in order, and what was read otherwise in the record.
    pub(crate) fn get(&self, place: RecordPlace, keys: &[Digest]) -> (Vec<Value>, &[Change]) {
        let Some(record) = self.records.get(&place) else {
            return (Vec::new(), &[]);
        };
        // The shorter of the two is looked through.
        let own: Vec<&Vec<(usize, Value)>> = if keys.len() < record.parts.len() {
            keys.iter()
                .filter_map(|key| record.parts.get(key))
                .collect()
        } else {
            let parts = record.parts.iter();
            let own = parts.filter(|(key, _)| keys.binary_search(key).is_ok());
            own.map(|(_, parts)| parts).collect()
        };
        let mut own: Vec<&(usize, Value)> = own.into_iter().flatten().collect();
        own.sort_unstable_by_key(|(place, _)| *place);
        let own = own.into_iter().map(|(_, part)| part.clone());
        (own.collect(), &record.changes)
    }

    /// Makes room for a record, before it is read.
    pub(crate) fn make_room(&mut self, place: RecordPlace) {
        while self.bytes + place.bytes() > KEPT
            && let Some(oldest) = self.places.pop_front()
        {
            self.records.remove(&oldest);
            self.bytes -= oldest.bytes();
        }
    }

    /// Keeps a record that was taken apart.
    pub(crate) fn keep(&mut self, place: RecordPlace, parts: Parts, changes: Vec<Change>) {
        self.bytes += place.bytes();
        self.places.push_back(place);
        self.records.insert(place, SplitRecord { parts, changes });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Digest {
        Digest::from_parts(&[name])
    }

    fn keys(names: &[&str]) -> Vec<Digest> {
        let mut keys: Vec<Digest> = names.iter().map(|name| key(name)).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn a_run_has_the_parts_of_its_keys_in_the_order_of_the_record() {
        let parts = |places: &[usize]| -> Vec<(usize, Value)> {
            places
                .iter()
                .map(|place| (*place, Value::from(*place)))
                .collect()
        };
        let of = [("a", &[0, 3][..]), ("b", &[1]), ("c", &[2, 4])];
        let of = of.map(|(name, places)| (key(name), parts(places)));
        let place = RecordPlace::new(1, 10);
        let mut shared = SharedRecords::default();
        shared.keep(place, Parts::from(of), vec![Change::Number]);
        let own = |names: &[&str]| {
            let (values, changes) = shared.get(place, &keys(names));
            assert_eq!(changes, [Change::Number]);
            values
        };
        assert_eq!(own(&["a", "c"]), [0, 2, 3, 4]);
        assert_eq!(own(&["b", "x", "y", "z"]), [1]);
        assert_eq!(own(&["x"]), Vec::<Value>::new());
    }

    #[test]
    fn the_oldest_records_make_room_and_the_last_one_stays() {
        let half = u32::try_from(KEPT / 2).unwrap();
        let mut shared = SharedRecords::default();
        let mut keep = |number, length| {
            let place = RecordPlace::new(number, length);
            shared.make_room(place);
            shared.keep(place, Parts::new(), Vec::new());
            let all =
                (1..=number).filter(|it| shared.places.iter().any(|place| place.number() == *it));
            assert_eq!(shared.records.len(), shared.places.len());
            all.collect::<Vec<u32>>()
        };
        assert_eq!(keep(1, half), [1]);
        assert_eq!(keep(2, half), [1, 2]);
        assert_eq!(keep(3, 1), [2, 3]);
        assert_eq!(keep(4, 4 * half), [4]);
        assert_eq!(keep(5, 1), [5]);
    }
}
