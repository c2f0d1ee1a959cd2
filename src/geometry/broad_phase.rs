//! Pairs of boxes that overlap, by sweep and prune: the boxes are sorted along the axis on which they are
//! spread the farthest, and only boxes that overlap on this axis are compared.

use super::Aabb;

/// The memory of a sweep. The order of the boxes is kept from one sweep to the next, so that sorting costs
/// little while they move slowly.
#[derive(Clone, Debug, Default)]
pub struct BroadPhase {
    /// The boxes by their smallest coordinate on `axis`.
    order: Vec<u32>,
    /// The bounds of the boxes on `axis`, in that order \[m\].
    bounds: Vec<[f64; 2]>,
    /// Their bounds on the other two axes, in that order \[m\]: a sweep reads them one after the other.
    across: Vec<[f64; 4]>,
    axis: usize,
}

impl BroadPhase {
    /// Calls `found` with the indices of each pair of boxes that overlap, the smaller index first. The order
    /// of the pairs depends on earlier calls.
    pub fn find(&mut self, boxes: &[Aabb], mut found: impl FnMut(usize, usize)) {
        let axis = widest_axis(boxes);
        let least = |i: u32| boxes[i as usize].min[axis];
        if self.order.len() == boxes.len() && self.axis == axis {
            // Insertion sort: one comparison a box if the order is still right.
            for i in 1..self.order.len() {
                let moved = self.order[i];
                let mut to = i;
                while to > 0 && least(self.order[to - 1]) > least(moved) {
                    self.order[to] = self.order[to - 1];
                    to -= 1;
                }
                self.order[to] = moved;
            }
        } else {
            self.axis = axis;
            self.order.clear();
            self.order.extend(0..boxes.len() as u32);
            self.order.sort_unstable_by(|a, b| least(*a).total_cmp(&least(*b)));
        }
        self.bounds.clear();
        self.bounds.extend(self.order.iter().map(|i| [boxes[*i as usize].min[axis], boxes[*i as usize].max[axis]]));
        let (second, third) = ((axis + 1) % 3, (axis + 2) % 3);
        self.across.clear();
        self.across.extend(self.order.iter().map(|i| {
            let Aabb { min, max } = &boxes[*i as usize];
            [min[second], max[second], min[third], max[third]]
        }));
        for (number, [_, end]) in self.bounds.iter().enumerate() {
            let a = self.order[number] as usize;
            let [y_min, y_max, z_min, z_max] = self.across[number];
            let later = self.bounds[number + 1..].iter().zip(&self.across[number + 1..]);
            for (([start, _], [y_low, y_high, z_low, z_high]), b) in later.zip(&self.order[number + 1..]) {
                if start > end {
                    break;
                }
                if (*y_low <= y_max) & (y_min <= *y_high) & (*z_low <= z_max) & (z_min <= *z_high) {
                    let b = *b as usize;
                    if boxes[a].overlaps(&boxes[b]) {
                        found(a.min(b), a.max(b));
                    }
                }
            }
        }
    }
}

/// The axis on which the centres of the bounded boxes have the largest variance.
fn widest_axis(boxes: &[Aabb]) -> usize {
    let mut sums = [[0.0; 3]; 2];
    let mut count = 0.0;
    for bounds in boxes {
        let center = bounds.center();
        if center.iter().all(|x| x.is_finite()) {
            count += 1.0;
            for axis in 0..3 {
                sums[0][axis] += center[axis];
                sums[1][axis] += center[axis] * center[axis];
            }
        }
    }
    let spread = |axis: usize| sums[1][axis] * count - sums[0][axis] * sums[0][axis];
    (1..3).fold(0, |widest, axis| if spread(axis) > spread(widest) { axis } else { widest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vector3;

    /// Oracle: all pairs, compared one by one. Boxes move from sweep to sweep, some are unbounded or empty.
    #[test]
    fn finds_all_pairs_that_overlap() {
        let wave = |i: usize, k: usize| ((i * 37 + k * 101) as f64 * 0.7).sin();
        let mut sweep = BroadPhase::default();
        let mut seen = 0;
        for turn in 0..40 {
            let stretch = [[1.0, 9.0, 1.0], [8.0, 1.0, 2.0]][turn / 20];
            let mut boxes: Vec<Aabb> = (0..60)
                .map(|i| {
                    let at = |k: usize| stretch[k] * (wave(i, k) + 0.02 * turn as f64 * wave(k, i));
                    let p = Vector3::new(at(0), at(1), at(2));
                    Aabb { min: p, max: p.add_scalar(0.3 + 0.3 * wave(i, 9).abs()) }
                })
                .collect();
            boxes[7] = Aabb::EVERYTHING;
            boxes[30] = Aabb { max: Vector3::new(f64::INFINITY, f64::INFINITY, 0.0), ..Aabb::EVERYTHING };
            boxes[44] = Aabb::EMPTY;
            let mut found = Vec::new();
            sweep.find(&boxes, |a, b| found.push((a, b)));
            found.sort_unstable();
            let all = (0..60).flat_map(|a| (a + 1..60).map(move |b| (a, b)));
            let expected: Vec<_> = all.filter(|(a, b)| boxes[*a].overlaps(&boxes[*b])).collect();
            assert_eq!(found, expected, "{turn}");
            seen += found.len();
        }
        // The two unbounded boxes alone give at most 59 + 57 pairs a sweep.
        assert!(seen > 40 * (59 + 57), "{seen}");
    }
}
