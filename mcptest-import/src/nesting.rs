//! Things that lie within each other, each of which names the one around it: what is around each is worked out once
//! for all.

use std::collections::HashMap;
use std::hash::Hash;

/// Which thing lies within which. One whose outer thing is not there lies within nothing.
#[derive(Debug)]
pub(crate) struct Nesting {
    around: Vec<Option<usize>>,
    visits: Vec<Visit>,
}

/// A step of a walk through all things, each within the visit of the one around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    Enter(usize),
    Leave(usize),
}

impl Nesting {
    /// Of things by their names, each with the name of the one around it. Of things with one name the last is meant.
    pub(crate) fn from_pairs<K: Eq + Hash>(things: impl Iterator<Item = (K, Option<K>)>) -> Self {
        let (names, outer): (Vec<K>, Vec<Option<K>>) = things.unzip();
        let places: HashMap<&K, usize> = names.iter().zip(0..).collect();
        let around = outer.iter();
        let around = around.map(|outer| places.get(outer.as_ref()?).copied());
        let mut around: Vec<Option<usize>> = around.collect();
        break_cycles(&mut around);
        Self {
            visits: visits(&around),
            around,
        }
    }

    /// The thing around one.
    #[cfg(test)]
    pub(crate) fn around(&self, place: usize) -> Option<usize> {
        self.around[place]
    }

    /// The walk through all things: those that lie in nothing, in their order, each with what is in it.
    pub(crate) fn visits(&self) -> &[Visit] {
        &self.visits
    }

    /// What each thing is given by the one around it: of what that was given itself, and its place.
    pub(crate) fn inherit<T: Clone>(
        &self,
        outermost: T,
        mut by: impl FnMut(&T, usize) -> T,
    ) -> Vec<T> {
        let mut given = vec![outermost; self.around.len()];
        for visit in &self.visits {
            if let Visit::Enter(place) = *visit
                && let Some(outer) = self.around[place]
            {
                given[place] = by(&given[outer], outer);
            }
        }
        given
    }
}

/// Things may lie within each other in a circle: the first one of it then lies within nothing.
fn break_cycles(around: &mut [Option<usize>]) {
    // In which of the walks each was met.
    let mut met: Vec<Option<usize>> = vec![None; around.len()];
    for walk in 0..around.len() {
        let mut next = Some(walk);
        while let Some(place) = next.filter(|place| met[*place].is_none()) {
            met[place] = Some(walk);
            next = around[place];
        }
        let Some(on_circle) = next.filter(|place| met[*place] == Some(walk)) else {
            continue;
        };
        let mut first = on_circle;
        let mut next = around[on_circle];
        while let Some(place) = next.filter(|place| *place != on_circle) {
            first = first.min(place);
            next = around[place];
        }
        around[first] = None;
    }
}

fn visits(around: &[Option<usize>]) -> Vec<Visit> {
    let mut within: Vec<Vec<usize>> = vec![Vec::new(); around.len()];
    let mut open = Vec::new();
    for place in (0..around.len()).rev() {
        match around[place] {
            Some(outer) => within[outer].push(place),
            None => open.push(Visit::Enter(place)),
        }
    }
    let mut visits = Vec::with_capacity(2 * around.len());
    while let Some(visit) = open.pop() {
        visits.push(visit);
        if let Visit::Enter(place) = visit {
            open.push(Visit::Leave(place));
            // The last one stands first.
            open.extend(within[place].iter().copied().map(Visit::Enter));
        }
    }
    visits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn things_are_visited_in_their_order_each_within_the_one_around_it() {
        let names = [
            ("a", None),
            ("b", Some("d")),
            ("c", Some("x")),
            ("d", Some("a")),
            ("e", Some("a")),
        ];
        let nesting = Nesting::from_pairs(names.into_iter());
        let entered = nesting.visits().iter().filter_map(|visit| match visit {
            Visit::Enter(place) => Some(names[*place].0),
            Visit::Leave(_) => None,
        });
        assert_eq!(entered.collect::<String>(), "adbec");
        let paths = nesting.inherit(String::new(), |path, outer| {
            format!("{path}{}", names[outer].0)
        });
        assert_eq!(paths, ["", "ad", "", "a", "a"]);
    }

    #[test]
    fn the_first_thing_of_a_circle_lies_in_nothing() {
        let names = [
            ("a", Some("c")),
            ("b", Some("b")),
            ("c", Some("d")),
            ("d", Some("a")),
            ("e", Some("d")),
        ];
        let nesting = Nesting::from_pairs(names.into_iter());
        let depths = nesting.inherit(0, |depth, _| depth + 1);
        assert_eq!(depths, [0, 0, 2, 1, 2]);
    }

    proptest! {
        #[test]
        fn all_are_entered_once_after_the_one_around_and_left_once(
            outer in proptest::collection::vec(proptest::option::of(0_usize..12), 0..12),
        ) {
            let nesting = Nesting::from_pairs(outer.iter().copied().enumerate());
            let mut open = Vec::new();
            let mut entered = Vec::new();
            for visit in nesting.visits() {
                match *visit {
                    Visit::Enter(place) => {
                        prop_assert_eq!(open.last().copied(), nesting.around(place));
                        if let Some(outer_of) = nesting.around(place) {
                            prop_assert_eq!(Some(outer_of), outer[place]);
                        }
                        open.push(place);
                        entered.push(place);
                    }
                    Visit::Leave(place) => prop_assert_eq!(open.pop(), Some(place)),
                }
            }
            prop_assert!(open.is_empty());
            entered.sort_unstable();
            prop_assert_eq!(entered, (0..outer.len()).collect::<Vec<_>>());
        }
    }
}
