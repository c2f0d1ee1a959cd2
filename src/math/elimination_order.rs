//! The order in which the blocks of a sparse symmetric matrix are eliminated.

/// A minimum-degree order: the next block is the one that is coupled to the fewest unknowns, or the first of
/// several such blocks. Its elimination couples all blocks that are coupled to it with each other.
#[derive(Clone, Debug, Default)]
pub(super) struct EliminationOrder {
    /// The blocks in the order of elimination.
    blocks: Vec<u32>,
    /// The position of each block in that order.
    positions: Vec<u32>,
    /// For one block after the other in that order, the positions of the blocks below it in L, and the end of
    /// its list.
    below: Vec<u32>,
    ends: Vec<u32>,
    /// For each block, one bit per block that it is coupled to: the rows of blocks are merged by words.
    coupled: Vec<u64>,
    /// The row of the block that is eliminated.
    row: Vec<u64>,
    /// The unknowns that each block is coupled to.
    degrees: Vec<u32>,
    remaining: Vec<u32>,
}

/// The bits of a word.
const WORD: usize = u64::BITS as usize;
/// Room for this number of blocks below each block is made at the start.
const BELOW: usize = 32;

impl EliminationOrder {
    /// Finds the order for blocks of these sizes, of which the pairs in `edges` are coupled.
    pub(super) fn find(&mut self, sizes: &[u32], edges: &[[u32; 2]]) {
        let count = sizes.len();
        let words = count.div_ceil(WORD);
        let Self { blocks, positions, below, ends, coupled, row, degrees, remaining } = self;
        coupled.clear();
        coupled.resize(count * words, 0);
        degrees.clear();
        degrees.resize(count, 0);
        for [a, b] in edges {
            for (from, to) in [(*a as usize, *b as usize), (*b as usize, *a as usize)] {
                coupled[from * words + to / WORD] |= 1 << (to % WORD);
                degrees[from] += sizes[to];
            }
        }
        remaining.clear();
        remaining.extend(0..count as u32);
        for list in [&mut *blocks, &mut *ends] {
            list.clear();
            list.reserve(count);
        }
        below.clear();
        below.reserve(BELOW * count);
        while let Some(index) = (0..remaining.len()).min_by_key(|i| degrees[remaining[*i] as usize]) {
            let block = remaining.remove(index);
            blocks.push(block);
            let start = below.len();
            row.clear();
            row.extend_from_slice(&coupled[block as usize * words..][..words]);
            below.extend(members(row));
            ends.push(below.len() as u32);
            if below.len() - start == remaining.len() {
                // All remaining blocks are coupled to each other.
                while !remaining.is_empty() {
                    blocks.push(remaining.remove(0));
                    below.extend_from_slice(remaining);
                    ends.push(below.len() as u32);
                }
                break;
            }
            for other in &below[start..] {
                let other = *other as usize;
                let of_other = &mut coupled[other * words..][..words];
                of_other[other / WORD] |= 1 << (other % WORD); // not a new one
                let mut more = 0;
                for (word, (of_other, row)) in of_other.iter_mut().zip(&*row).enumerate() {
                    more += ones(row & !*of_other).map(|bit| sizes[word * WORD + bit]).sum::<u32>();
                    *of_other |= row;
                }
                for gone in [other, block as usize] {
                    of_other[gone / WORD] &= !(1 << (gone % WORD));
                }
                degrees[other] += more;
                degrees[other] -= sizes[block as usize];
            }
        }
        positions.clear();
        positions.resize(count, 0);
        for (position, block) in (0..).zip(&*blocks) {
            positions[*block as usize] = position;
        }
        let mut start = 0;
        for end in &*ends {
            let list = &mut below[start..*end as usize];
            list.iter_mut().for_each(|block| *block = positions[*block as usize]);
            list.sort_unstable();
            start = *end as usize;
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
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let lists = starts.zip(&self.ends).map(|(start, end)| &self.below[start as usize..*end as usize]);
        self.blocks.iter().copied().zip(lists)
    }
}

/// The numbers of the bits that are set, ascending.
fn members(row: &[u64]) -> impl Iterator<Item = u32> {
    row.iter().enumerate().flat_map(|(word, bits)| ones(*bits).map(move |bit| (word * WORD + bit) as u32))
}

fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (bit < WORD).then_some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Oracle: the same rule with sets, written down naively. The blocks have several sizes, and more than
    /// one word.
    #[test]
    fn the_next_block_is_coupled_to_the_fewest_unknowns() {
        let mut order = EliminationOrder::default();
        for (count, reach) in [(1, 1), (9, 3), (70, 2), (200, 7), (5, 2)] {
            let sizes: Vec<u32> = (0..count).map(|i| if i % 3 == 1 { 7 } else { 6 }).collect();
            let far = |i: u32| (i * 37 + 11) % count;
            let near = (0..count).flat_map(|i| (1..reach).map(move |k| [i, i + k])).filter(|[_, b]| *b < count);
            let all = near.chain((0..count).step_by(5).map(|i| [i.min(far(i)), i.max(far(i))]));
            let edges: BTreeSet<[u32; 2]> = all.filter(|[a, b]| a != b).collect();
            let mut coupled: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); count as usize];
            for [a, b] in &edges {
                coupled[*a as usize].insert(*b);
                coupled[*b as usize].insert(*a);
            }
            let (mut remaining, mut blocks, mut below) = (Vec::from_iter(0..count), Vec::new(), Vec::new());
            while !remaining.is_empty() {
                let degree = |block: &u32| coupled[*block as usize].iter().map(|b| sizes[*b as usize]).sum::<u32>();
                let next = *remaining.iter().min_by_key(|block| degree(block)).expect("one block");
                remaining.retain(|block| *block != next);
                if coupled[next as usize].len() == remaining.len() {
                    // The order of blocks that are all coupled to each other does not matter.
                    for (number, block) in std::iter::once(&next).chain(&remaining).enumerate() {
                        blocks.push(*block);
                        below.push(remaining[number..].iter().copied().collect());
                    }
                    break;
                }
                let others = std::mem::take(&mut coupled[next as usize]);
                for other in &others {
                    coupled[*other as usize].extend(others.iter().filter(|b| *b != other));
                    coupled[*other as usize].remove(&next);
                }
                blocks.push(next);
                below.push(others);
            }
            order.find(&sizes, &Vec::from_iter(edges));
            assert_eq!(order.blocks(), blocks, "{count}");
            for (number, (block, list)) in order.columns().enumerate() {
                let found: BTreeSet<u32> = list.iter().map(|position| order.blocks()[*position as usize]).collect();
                assert_eq!((block, found), (blocks[number], below[number].clone()), "{count}: column {number}");
                assert!(list.is_sorted(), "{count}: column {number}");
            }
            assert!((0..count).all(|block| order.blocks()[order.positions()[block as usize] as usize] == block));
        }
    }
}
