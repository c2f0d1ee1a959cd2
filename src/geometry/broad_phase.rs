//! Which pairs of geometries can touch: a loop over the allowed pairs with a test of their boxes. Scenes have tens of
//! geometries, for which nothing is faster.

use super::Aabb;
use crate::math::{GeometryIndex, IndexVec};

/// Writes to `candidates` those of the `allowed` pairs whose boxes, in world axes, overlap; in the order of `allowed`, so
/// sorted where that is. `candidates` is cleared first and keeps its memory.
pub fn candidate_pairs(
    world_aabbs: &IndexVec<GeometryIndex, Aabb>,
    allowed: &[(GeometryIndex, GeometryIndex)],
    candidates: &mut Vec<(GeometryIndex, GeometryIndex)>,
) {
    candidates.clear();
    candidates.extend(allowed.iter().filter(|(a, b)| world_aabbs[*a].overlaps(&world_aabbs[*b])));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Index, Vector3};

    #[test]
    fn keeps_the_allowed_pairs_that_overlap() {
        let cube = |x: f64| Aabb { min: Vector3::new(x, 0.0, 0.0), max: Vector3::new(x + 1.0, 1.0, 1.0) };
        let boxes: IndexVec<GeometryIndex, Aabb> =
            [cube(0.0), cube(0.9), cube(3.0), Aabb::EVERYTHING].into_iter().collect();
        let pair = |a, b| (GeometryIndex::from_usize(a), GeometryIndex::from_usize(b));
        let mut found = vec![pair(2, 2)];
        candidate_pairs(&boxes, &[pair(0, 1), pair(0, 2), pair(1, 3), pair(2, 3)], &mut found);
        assert_eq!(found, [pair(0, 1), pair(1, 3), pair(2, 3)]);
    }
}
