//! Pairing the items of two lists so that as many as possible get a partner.
//!
//! `edges[left]` lists, ascending, the right-hand items that `left` may be paired with. Both
//! functions return the partner of every left-hand item, and the same pairing for the same input.

use std::collections::VecDeque;
use std::ops::Range;

const UNREACHED: usize = usize::MAX;

/// A maximum bipartite matching by Hopcroft and Karp: `O(edges · √items)` time.
pub(super) fn maximum_matching(edges: &[Vec<usize>], right_len: usize) -> Vec<Option<usize>> {
    let mut matching = Matching {
        left: vec![None; edges.len()],
        right: vec![None; right_len],
    };
    for (left, rights) in edges.iter().enumerate() {
        let free = rights
            .iter()
            .find(|&&right| matching.right[right].is_none());
        if let Some(&right) = free {
            matching.pair(left, right);
        }
    }
    while let Some(depth) = matching.layers(edges) {
        let mut next_edge = vec![0; edges.len()];
        for root in 0..edges.len() {
            if matching.left[root].is_none() {
                matching.augment(root, edges, &depth, &mut next_edge);
            }
        }
    }
    matching.left
}

struct Matching {
    left: Vec<Option<usize>>,
    right: Vec<Option<usize>>,
}

impl Matching {
    fn pair(&mut self, left: usize, right: usize) {
        self.left[left] = Some(right);
        self.right[right] = Some(left);
    }

    /// Distance of every left item from an unpaired one along alternating paths, up to the length
    /// of the shortest augmenting path; `None` when there is no augmenting path.
    fn layers(&self, edges: &[Vec<usize>]) -> Option<Vec<usize>> {
        let mut depth = vec![UNREACHED; edges.len()];
        let mut queue = VecDeque::new();
        for left in (0..edges.len()).filter(|&left| self.left[left].is_none()) {
            depth[left] = 0;
            queue.push_back(left);
        }
        let mut shortest = UNREACHED;
        while let Some(left) = queue.pop_front() {
            if depth[left] >= shortest {
                break;
            }
            for &right in &edges[left] {
                match self.right[right] {
                    None => shortest = depth[left].saturating_add(1),
                    Some(other) if depth[other] == UNREACHED => {
                        depth[other] = depth[left].saturating_add(1);
                        queue.push_back(other);
                    }
                    Some(_) => {}
                }
            }
        }
        (shortest != UNREACHED).then_some(depth)
    }

    /// Follows the layers from `root` to an unpaired right item and flips the path. The path lies
    /// in a list, not on the call stack: a long run must not overflow it.
    fn augment(
        &mut self,
        root: usize,
        edges: &[Vec<usize>],
        depth: &[usize],
        next_edge: &mut [usize],
    ) {
        let mut path = vec![(root, 0)];
        while let Some((left, chosen)) = path.last_mut() {
            let Some(&right) = edges[*left].get(next_edge[*left]) else {
                path.pop();
                continue;
            };
            next_edge[*left] += 1;
            *chosen = right;
            let deeper = depth[*left].saturating_add(1);
            match self.right[right] {
                None => {
                    for (left, right) in path {
                        self.pair(left, right);
                    }
                    return;
                }
                Some(other) if depth[other] == deeper => path.push((other, 0)),
                Some(_) => {}
            }
        }
    }
}

/// The longest alignment that keeps the order of both lists, where the items of one `block` of the
/// right list (consecutive ranges that cover it) count as simultaneous and pair in any order.
///
/// With blocks of one item this is a longest common subsequence over a predicate, in
/// `O(left · right · log left)` time. A larger block costs, for each number of pairs reached before
/// it, at most its edges times the left items that fit into it.
///
/// `reach[count]` is the shortest prefix of the left list that allows `count` pairs with the blocks
/// seen so far. A block extends each of these prefixes by the left items that fit into it; the
/// items a block can take form a matroid, so taking them greedily is right.
pub(super) fn longest_in_order(
    edges: &[Vec<usize>],
    blocks: &[Range<usize>],
) -> Vec<Option<usize>> {
    let by_right = transpose(edges, blocks.last().map_or(0, |block| block.end));
    let candidates: Vec<_> = blocks
        .iter()
        .map(|block| Candidates::new(block, &by_right))
        .collect();

    let mut reach = vec![0];
    let mut trail: Vec<Extension> = Vec::new();
    let mut latest: Vec<Option<usize>> = vec![None];
    let fitting = candidates.iter().enumerate();
    for (block, candidates) in fitting.filter(|(_, block)| !block.edges.is_empty()) {
        let (old_reach, old_latest) = (reach.clone(), latest.clone());
        for (count, &from) in old_reach.iter().enumerate() {
            let mut gained = count;
            candidates.fill(from..UNREACHED, |left| {
                gained += 1;
                let to = left + 1;
                if gained == reach.len() {
                    reach.push(UNREACHED);
                    latest.push(None);
                }
                if to < reach[gained] {
                    reach[gained] = to;
                    latest[gained] = Some(trail.len());
                    trail.push(Extension {
                        block,
                        lefts: from..to,
                        before: old_latest[count],
                    });
                }
            });
        }
    }

    let mut partners = vec![None; edges.len()];
    let mut step = latest.last().copied().flatten().map(|last| &trail[last]);
    while let Some(Extension {
        block,
        lefts,
        before,
    }) = step
    {
        for (left, right) in candidates[*block].pairs(lefts) {
            partners[left] = Some(right);
        }
        step = before.map(|before| &trail[before]);
    }
    partners
}

/// The pairs one block adds to an alignment, and the alignment before it.
struct Extension {
    block: usize,
    lefts: Range<usize>,
    before: Option<usize>,
}

/// A left item as a block sees it: its pairs of left index and place in the block.
type Item<'a> = &'a [(usize, usize)];

/// The left items that fit into a block, ascending, each with its places there.
struct Candidates {
    block: Range<usize>,
    usable: usize,
    edges: Vec<(usize, usize)>,
}

impl Candidates {
    fn new(block: &Range<usize>, by_right: &[Vec<usize>]) -> Self {
        let lefts = &by_right[block.clone()];
        let places = lefts.iter().enumerate();
        let mut edges: Vec<_> = places
            .flat_map(|(place, lefts)| lefts.iter().map(move |&left| (left, place)))
            .collect();
        edges.sort_unstable();
        Self {
            block: block.clone(),
            usable: lefts.iter().filter(|lefts| !lefts.is_empty()).count(),
            edges,
        }
    }

    /// Puts the left items of a range into the block until it is full; `placed` hears of each.
    fn fill(&self, lefts: Range<usize>, mut placed: impl FnMut(usize)) -> Vec<Option<Item<'_>>> {
        let before = |bound: usize| self.edges.partition_point(|(left, _)| *left < bound);
        let edges = &self.edges[before(lefts.start)..before(lefts.end)];
        let mut holders = vec![None; self.block.len()];
        let mut filled = 0;
        for item in edges.chunk_by(|one, next| one.0 == next.0) {
            if filled == self.usable {
                break;
            }
            if place(item, &mut holders) {
                filled += 1;
                placed(item[0].0);
            }
        }
        holders
    }

    fn pairs(&self, lefts: &Range<usize>) -> Vec<(usize, usize)> {
        let holders = self.fill(lefts.clone(), |_| {}).into_iter().enumerate();
        holders
            .filter_map(|(place, item)| Some((item?[0].0, self.block.start + place)))
            .collect()
    }
}

/// Gives `item` a place, moving the holders of others along an augmenting path if need be.
fn place<'a>(item: Item<'a>, holders: &mut [Option<Item<'a>>]) -> bool {
    if let Some(&(_, free)) = item.iter().find(|(_, place)| holders[*place].is_none()) {
        holders[free] = Some(item);
        return true;
    }
    // Who reached a place first, and the place that item gives up for it.
    let mut reached: Vec<Option<(Item<'a>, Option<usize>)>> = vec![None; holders.len()];
    let mut queue = VecDeque::from([(item, None)]);
    while let Some((item, held)) = queue.pop_front() {
        for &(_, place) in item {
            if reached[place].is_some() {
                continue;
            }
            reached[place] = Some((item, held));
            if let Some(other) = holders[place] {
                queue.push_back((other, Some(place)));
                continue;
            }
            let mut vacant = Some(place);
            while let Some(place) = vacant
                && let Some((item, held)) = reached[place]
            {
                holders[place] = Some(item);
                vacant = held;
            }
            return true;
        }
    }
    false
}

fn transpose(edges: &[Vec<usize>], right_len: usize) -> Vec<Vec<usize>> {
    let mut by_right = vec![Vec::new(); right_len];
    for (left, rights) in edges.iter().enumerate() {
        for &right in rights {
            by_right[right].push(left);
        }
    }
    by_right
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(partners: &[Option<usize>]) -> usize {
        partners.iter().flatten().count()
    }

    /// Whether a right item may follow the pairs made so far.
    type Allows<'a> = dyn Fn(&[(usize, usize)], usize) -> bool + 'a;

    /// Tries everything: the most pairs that `allowed` orders permit, left items from `left` on.
    fn brute(
        edges: &[Vec<usize>],
        left: usize,
        used: &mut Vec<(usize, usize)>,
        allowed: &Allows<'_>,
    ) -> usize {
        let Some(rights) = edges.get(left) else {
            return used.len();
        };
        let mut best = brute(edges, left + 1, used, allowed);
        for &right in rights {
            if used.iter().all(|&(_, taken)| taken != right) && allowed(used, right) {
                used.push((left, right));
                best = best.max(brute(edges, left + 1, used, allowed));
                used.pop();
            }
        }
        best
    }

    fn consistent(edges: &[Vec<usize>], partners: &[Option<usize>]) -> bool {
        let mut rights: Vec<_> = partners.iter().flatten().collect();
        rights.sort_unstable();
        rights.windows(2).all(|pair| pair[0] != pair[1])
            && (partners.iter().zip(edges))
                .all(|(right, rights)| right.is_none_or(|right| rights.contains(&right)))
    }

    fn graph() -> impl Strategy<Value = (Vec<Vec<usize>>, usize)> {
        (0usize..7, 0usize..7).prop_flat_map(|(left, right)| {
            let row = prop::collection::vec(any::<bool>(), right);
            let rows = prop::collection::vec(row, left);
            rows.prop_map(move |rows| {
                let edges = rows
                    .into_iter()
                    .map(|row| (0..right).filter(|&r| row[r]).collect());
                (edges.collect(), right)
            })
        })
    }

    proptest! {
        #[test]
        fn the_matching_is_as_large_as_any((edges, right) in graph()) {
            let partners = maximum_matching(&edges, right);
            prop_assert!(consistent(&edges, &partners));
            prop_assert_eq!(size(&partners), brute(&edges, 0, &mut Vec::new(), &|_, _| true));
        }

        #[test]
        fn the_alignment_is_as_long_as_any_and_in_order(
            (edges, right) in graph(),
            cuts in prop::collection::vec(any::<bool>(), 7),
        ) {
            let mut blocks: Vec<Range<usize>> = Vec::new();
            for (item, cut) in cuts.into_iter().take(right).enumerate() {
                match blocks.last_mut() {
                    Some(block) if !cut => block.end = item + 1,
                    _ => blocks.push(item..item + 1),
                }
            }
            let block_of = |right: usize| blocks.iter().position(|block| block.contains(&right));
            let in_order = |used: &[(usize, usize)], right: usize| {
                used.last().is_none_or(|&(_, before)| block_of(before) <= block_of(right))
            };
            let partners = longest_in_order(&edges, &blocks);
            prop_assert!(consistent(&edges, &partners));
            let order: Vec<_> = partners.iter().flatten().map(|&right| block_of(right)).collect();
            prop_assert!(order.is_sorted());
            prop_assert_eq!(size(&partners), brute(&edges, 0, &mut Vec::new(), &in_order));
        }
    }

    #[test]
    fn a_long_augmenting_path_does_not_overflow_the_stack() {
        // Item i fits places i and i + 1, the last only place 1: everything has to move by one.
        let count = 50_000;
        let mut edges: Vec<_> = (0..count).map(|left| vec![left + 1, left + 2]).collect();
        edges.push(vec![1]);
        assert_eq!(size(&maximum_matching(&edges, count + 2)), count + 1);
        assert_eq!(
            size(&longest_in_order(
                &edges,
                std::slice::from_ref(&(0..count + 2))
            )),
            count + 1
        );
    }
}
