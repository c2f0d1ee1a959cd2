//! Partition of a problem: disjoint sets, and lists sorted by set. Memory is reused.

use std::ops::Range;

/// Indices in disjoint sets; the smallest index of a set represents it.
#[derive(Clone, Debug, Default)]
pub(super) struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    /// Makes `n` sets of one index each.
    pub(super) fn reset(&mut self, n: usize) {
        self.parent.clear();
        self.parent.extend(0..n as u32);
    }
    /// The smallest index of the set of `x`.
    pub(super) fn root(&mut self, mut x: u32) -> u32 {
        while self.parent[x as usize] != x {
            let above = self.parent[self.parent[x as usize] as usize];
            self.parent[x as usize] = above;
            x = above;
        }
        x
    }
    /// Merges the sets of `a` and `b`.
    pub(super) fn join(&mut self, a: u32, b: u32) {
        if self.parent[a as usize] == self.parent[b as usize] {
            return;
        }
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
    /// Writes the set of each index, with sets ordered by their smallest index; returns the number of sets.
    pub(super) fn number(&mut self, set_of: &mut Vec<u32>) -> usize {
        set_of.clear();
        let mut sets = 0;
        for x in 0..self.parent.len() as u32 {
            let root = self.root(x);
            let set = if root == x {
                sets += 1;
                sets - 1
            } else {
                set_of[root as usize]
            };
            set_of.push(set);
        }
        sets as usize
    }
}

/// Lists the indices of `members`, which are (index, part), part by part in their order, and writes the range
/// of each part.
pub(super) fn distribute<Part>(
    parts: &mut [Part],
    list: &mut Vec<u32>,
    members: impl Iterator<Item = (u32, u32)> + Clone,
    range: impl Fn(&mut Part) -> &mut Range<usize>,
) {
    for part in parts.iter_mut() {
        *range(part) = 0..0;
    }
    for (_, part) in members.clone() {
        range(&mut parts[part as usize]).end += 1;
    }
    let mut end = 0;
    for part in parts.iter_mut() {
        let range = range(part);
        let count = range.end;
        *range = end..end;
        end += count;
    }
    list.clear();
    list.resize(end, 0);
    for (index, part) in members {
        let range = range(&mut parts[part as usize]);
        list[range.end] = index;
        range.end += 1;
    }
}
