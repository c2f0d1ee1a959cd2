//! The colours of a moving picture: at most 255, chosen by median cut, so that each pixel is one byte.

use std::collections::BTreeMap;

use super::Image;

/// Colours of a palette; the index after them is reserved for transparent pixels.
pub(super) const COLORS_MAX: usize = 255;
/// Bits of each channel by which colours are counted: a step is 1/64 of the range, just fine enough for
/// smooth shades.
const BITS: u32 = 6;

/// A colour of the reduced cube.
type Cell = [u8; 3];

/// At most [`COLORS_MAX`] colours, and the colour of each cell of the reduced cube.
pub(super) struct Palette {
    pub(super) colors: Vec<[u8; 3]>,
    index: BTreeMap<Cell, u8>,
}

/// Cells of the cube that share a colour, each with the count and the sums of its pixels' channels.
#[derive(Clone, Default)]
struct Group(Vec<(Cell, u64, [u64; 3])>);

impl Group {
    /// The widest channel and its width.
    fn widest(&self) -> (usize, u8) {
        let width = |channel: usize| {
            let values = || self.0.iter().map(|(cell, ..)| cell[channel]);
            values().max().unwrap_or(0) - values().min().unwrap_or(0)
        };
        // Of equal widths the later channel is taken, so green before red.
        (0..3).map(|channel| (channel, width(channel))).max_by_key(|(_, width)| *width).unwrap_or((0, 0))
    }

    /// The value of dividing the group: its width squared times the square root of the number of its pixels.
    fn division_value(&self) -> u64 {
        let count: u64 = self.0.iter().map(|(_, count, _)| count).sum();
        let width = u64::from(self.widest().1);
        width * width * count.isqrt()
    }

    /// Divides the group across its widest channel at the median of its pixels.
    fn divide(mut self) -> (Self, Self) {
        let (channel, _) = self.widest();
        self.0.sort_by_key(|(cell, ..)| (cell[channel], *cell));
        let half = self.0.iter().map(|(_, count, _)| count).sum::<u64>() / 2;
        let mut below = 0;
        let cut = self.0.iter().position(|(_, count, _)| {
            below += count;
            below > half
        });
        let cut = cut.unwrap_or(0).clamp(1, self.0.len().saturating_sub(1).max(1));
        let upper = self.0.split_off(cut.min(self.0.len()));
        (self, Self(upper))
    }

    fn mean(&self) -> [u8; 3] {
        let count: u64 = self.0.iter().map(|(_, count, _)| count).sum::<u64>().max(1);
        [0, 1, 2].map(|channel| {
            let sum: u64 = self.0.iter().map(|(_, _, sums)| sums[channel]).sum();
            u8::try_from((sum + count / 2) / count).unwrap_or(u8::MAX)
        })
    }
}

fn cell(pixel: &[u8]) -> Cell {
    [pixel[0], pixel[1], pixel[2]].map(|channel| channel >> (8 - BITS))
}

impl Palette {
    /// The palette of all `images`.
    pub(super) fn of(images: &[Image]) -> Self {
        let mut counts: BTreeMap<Cell, (u64, [u64; 3])> = BTreeMap::new();
        for pixel in images.iter().flat_map(|image| image.bytes().chunks_exact(3)) {
            let (count, sums) = counts.entry(cell(pixel)).or_default();
            *count += 1;
            sums.iter_mut().zip(pixel).for_each(|(sum, channel)| *sum += u64::from(*channel));
        }
        let mut groups = vec![Group(counts.into_iter().map(|(cell, (count, sums))| (cell, count, sums)).collect())];
        while groups.len() < COLORS_MAX {
            let wanted = (0..groups.len()).filter(|group| groups[*group].0.len() > 1);
            let Some(group) = wanted.max_by_key(|group| groups[*group].division_value()) else { break };
            let (lower, upper) = groups.swap_remove(group).divide();
            groups.extend([lower, upper]);
        }
        let mut index = BTreeMap::new();
        for (number, group) in groups.iter().enumerate() {
            let number = u8::try_from(number).unwrap_or(u8::MAX);
            index.extend(group.0.iter().map(|(cell, ..)| (*cell, number)));
        }
        Self { colors: groups.iter().map(Group::mean).collect(), index }
    }

    /// The palette's index of each pixel of `image`, one of the images that the palette was made from.
    pub(super) fn indices(&self, image: &Image) -> Vec<u8> {
        image.bytes().chunks_exact(3).map(|pixel| self.index.get(&cell(pixel)).copied().unwrap_or(0)).collect()
    }
}
