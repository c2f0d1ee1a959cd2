//! The pairs of a scene whose boxes overlap.

use crate::geometry::{Aabb, BroadPhase};
use crate::math::Index;
use crate::scene::{ContactPair, Scene};

/// In scenes with fewer pairs all of them count as near: comparing them one by one costs less than a sweep.
const PAIRS_MIN: usize = 64;

/// Finds pairs by the boxes of their geometries.
#[derive(Clone, Debug, Default)]
pub(super) struct NearPairs {
    sweep: BroadPhase,
    /// For each geometry, the range in `others` of the pairs whose geometry A it is. The pairs of a scene are
    /// sorted by A and then by B.
    starts: Vec<u32>,
    /// Geometry B of each pair.
    others: Vec<u32>,
    found: Vec<u32>,
}

impl NearPairs {
    /// Whether pairs are searched at all.
    pub(super) fn is_used(scene: &Scene) -> bool {
        scene.contact_pairs().len() >= PAIRS_MIN
    }

    /// The pairs whose `boxes`, one per geometry, overlap, and those of `more`; ascending. All pairs in small
    /// scenes.
    pub(super) fn find(&mut self, scene: &Scene, boxes: &[Aabb], more: impl Iterator<Item = u32>) -> &[u32] {
        let pairs = scene.contact_pairs();
        let Self { sweep, starts, others, found, .. } = self;
        if starts.len() != boxes.len() + 1 || others.len() != pairs.len() {
            number(pairs, boxes.len(), starts, others);
        }
        found.clear();
        if !Self::is_used(scene) {
            found.extend(0..pairs.len() as u32);
            return found;
        }
        sweep.find(boxes, |a, b| {
            let range = starts[a] as usize..starts[a + 1] as usize;
            if let Ok(position) = others[range.clone()].binary_search(&(b as u32)) {
                found.push((range.start + position) as u32);
            }
        });
        found.extend(more);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The list of the last search.
    pub(super) fn found_mut(&mut self) -> &mut Vec<u32> {
        &mut self.found
    }
    /// The pairs of the last search.
    pub(super) fn found(&self) -> &[u32] {
        &self.found
    }
}

fn number(pairs: &[ContactPair], geometries: usize, starts: &mut Vec<u32>, others: &mut Vec<u32>) {
    others.clear();
    others.extend(pairs.iter().map(|pair| pair.B.to_usize() as u32));
    starts.clear();
    starts.extend((0..=geometries).map(|a| pairs.partition_point(|pair| pair.A.to_usize() < a) as u32));
}
