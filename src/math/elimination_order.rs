//! The order in which the blocks of a sparse symmetric matrix are eliminated.

/// A minimum-degree order: the next block is the one that is coupled to the fewest unknowns, or the first of
/// several such blocks. Its elimination couples all blocks that are coupled to it with each other.
#[derive(Clone, Debug, Default)]
pub(super) struct EliminationOrder {
    /// The blocks in the order of elimination.
    blocks: Vec<u32>,
    /// The position of each block in that order.
    positions: Vec<u32>,
    /// The blocks that each block is coupled to, and at the end the positions of the blocks below it in L.
    coupled: Vec<Vec<u32>>,
    /// The unknowns that each block is coupled to.
    degrees: Vec<u32>,
    remaining: Vec<u32>,
    merged: Vec<u32>,
}

impl EliminationOrder {
    /// Finds the order for blocks of these sizes, of which the pairs in `edges` are coupled.
    pub(super) fn find(&mut self, sizes: &[u32], edges: &[[u32; 2]]) {
        let count = sizes.len();
        if self.coupled.len() < count {
            self.coupled.resize_with(count, Vec::new);
        }
        // Elimination exchanges the lists, so all of them have room for the longest.
        for list in self.coupled[..count].iter_mut().chain([&mut self.merged]) {
            list.clear();
            list.reserve(count);
        }
        for [a, b] in edges {
            self.coupled[*a as usize].push(*b);
            self.coupled[*b as usize].push(*a);
        }
        self.coupled[..count].iter_mut().for_each(|coupled| coupled.sort_unstable());
        let unknowns = |coupled: &[u32]| coupled.iter().map(|block| sizes[*block as usize]).sum::<u32>();
        self.degrees.clear();
        self.degrees.extend(self.coupled[..count].iter().map(|coupled| unknowns(coupled)));
        self.remaining.clear();
        self.remaining.extend(0..count as u32);
        self.blocks.clear();
        while let Some(index) = (0..self.remaining.len()).min_by_key(|i| self.degrees[self.remaining[*i] as usize]) {
            let block = self.remaining.remove(index);
            self.blocks.push(block);
            let coupled = std::mem::take(&mut self.coupled[block as usize]);
            if coupled.len() < self.remaining.len() {
                for other in &coupled {
                    let of_other = &mut self.coupled[*other as usize];
                    merge(of_other, &coupled, [block, *other], &mut self.merged);
                    std::mem::swap(of_other, &mut self.merged);
                    self.degrees[*other as usize] = unknowns(of_other);
                }
                self.coupled[block as usize] = coupled;
                continue;
            }
            // All remaining blocks are coupled to each other.
            self.coupled[block as usize] = coupled;
            while !self.remaining.is_empty() {
                let next = self.remaining.remove(0);
                self.blocks.push(next);
                self.coupled[next as usize].clear();
                self.coupled[next as usize].extend_from_slice(&self.remaining);
            }
        }
        self.positions.clear();
        self.positions.resize(count, 0);
        for (position, block) in (0..).zip(&self.blocks) {
            self.positions[*block as usize] = position;
        }
        for coupled in &mut self.coupled[..count] {
            coupled.iter_mut().for_each(|block| *block = self.positions[*block as usize]);
            coupled.sort_unstable();
        }
    }

    /// The blocks in the order of elimination.
    pub(super) fn blocks(&self) -> &[u32] {
        &self.blocks
    }
    /// The position of each block in that order.
    pub(super) fn positions(&self) -> &[u32] {
        &self.positions
    }
    /// The blocks in the order of elimination, each with the positions of the blocks below it in L,
    /// ascending.
    pub(super) fn columns(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.blocks.iter().map(|block| (*block, &self.coupled[*block as usize][..]))
    }
}

/// Writes the ascending union of two ascending lists without the two blocks of `without`.
fn merge(a: &[u32], b: &[u32], without: [u32; 2], out: &mut Vec<u32>) {
    out.clear();
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) => *x.min(y),
            (Some(x), None) => *x,
            (None, Some(y)) => *y,
            (None, None) => return,
        };
        a.next_if_eq(&next);
        b.next_if_eq(&next);
        if !without.contains(&next) {
            out.push(next);
        }
    }
}
