//! The items of a talk, which talks that go on with it share.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::exchange::Item;

/// The items of a talk. A talk that goes on with another one shares the items of that.
///
/// ```
/// use mcptest_session::exchange::Item;
/// use mcptest_session::record::Items;
///
/// let items: Items = [Item::User("Cancel 7.".to_owned())].into_iter().collect();
/// assert_eq!(items.len(), 1);
/// ```
#[derive(Clone, Default)]
pub struct Items {
    /// The items of the longest talk that begins with this one.
    all: Arc<Vec<Arc<Item>>>,
    count: usize,
}

impl Deref for Items {
    type Target = [Arc<Item>];

    fn deref(&self) -> &[Arc<Item>] {
        self.all.get(..self.count).unwrap_or_default()
    }
}

impl PartialEq for Items {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Items {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl From<Vec<Arc<Item>>> for Items {
    fn from(all: Vec<Arc<Item>>) -> Self {
        Self {
            count: all.len(),
            all: Arc::new(all),
        }
    }
}

impl FromIterator<Item> for Items {
    fn from_iter<I: IntoIterator<Item = Item>>(items: I) -> Self {
        items.into_iter().map(Arc::new).collect::<Vec<_>>().into()
    }
}

/// Talks that are written down one after the other, each of which may go on with an earlier one.
#[derive(Debug, Default)]
pub(super) struct ItemLists {
    /// Items of talks that go on with one another.
    lists: Vec<Vec<Arc<Item>>>,
    /// For each talk its list, and how many items of it the talk has.
    talks: Vec<(usize, usize)>,
}

impl ItemLists {
    /// The items of a talk.
    pub(super) fn items(&self, talk: usize) -> &[Arc<Item>] {
        let (list, count) = self.talks[talk];
        &self.lists[list][..count]
    }

    /// Adds a talk that goes on with another one.
    pub(super) fn append(&mut self, with: Option<usize>, own: Vec<Arc<Item>>) {
        let end = with.map(|talk| self.talks[talk]);
        let list = match end {
            Some((list, count)) if self.lists[list].len() == count => {
                self.lists[list].extend(own);
                list
            }
            // Another talk goes on with that one already.
            _ => {
                let before = with.map(|talk| self.items(talk)).unwrap_or_default();
                self.lists.push([before, &own].concat());
                self.lists.len() - 1
            }
        };
        self.talks.push((list, self.lists[list].len()));
    }

    /// The items of each talk.
    pub(super) fn into_items(self) -> Vec<Items> {
        let lists: Vec<_> = self.lists.into_iter().map(Arc::new).collect();
        let shared = self.talks.into_iter().map(|(list, count)| Items {
            all: Arc::clone(&lists[list]),
            count,
        });
        shared.collect()
    }
}
