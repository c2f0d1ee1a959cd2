//! Pairs of triangles of two surfaces that may touch, found by descending both trees together.

use std::ops::Range;

use super::edge_cones::EdgeCones;
use super::reach::{Reach, ReachLimits};
use super::triangle::Triangle;
use crate::geometry::bvh::OrientedOverlap;
use crate::geometry::{Aabb, RigidSurface};
use crate::math::RigidTransform;

/// A search of two surfaces.
pub(super) struct NearTriangles<'a> {
    pub(super) surface_A: &'a RigidSurface,
    pub(super) cones_A: &'a EdgeCones,
    pub(super) reaches_A: &'a [Reach],
    pub(super) surface_B: &'a RigidSurface,
    pub(super) reaches_B: &'a [Reach],
    pub(super) X_BA: &'a RigidTransform,
    /// The largest distance between the boxes of two triangles that have points \[m\].
    pub(super) apart: f64,
    pub(super) limits: ReachLimits,
}

impl NearTriangles<'_> {
    /// Calls `visit` with each triangle of A that may touch B and its reach, both in the frame of B, and the
    /// leaves of B's tree that it may touch, in the orders of the trees. `stack` is memory.
    pub(super) fn walk(&self, stack: &mut Vec<u32>, visit: &mut impl FnMut(&Triangle, &Reach, &[u32])) {
        stack.clear();
        if self.reaches_A.is_empty() || self.reaches_B.is_empty() {
            return;
        }
        stack.push(0);
        let overlap = OrientedOverlap::new(&self.surface_B.bounds().grown(self.apart), self.X_BA);
        self.descend(0, 0..1, &overlap, stack, visit);
    }

    /// Visits the triangles below `node` of A that may touch one below the nodes of B in `range` of the
    /// stack. The depth of the recursion is that of the tree.
    fn descend(
        &self,
        node: usize,
        range: Range<usize>,
        overlap: &OrientedOverlap,
        stack: &mut Vec<u32>,
        visit: &mut impl FnMut(&Triangle, &Reach, &[u32]),
    ) {
        let (tree_A, tree_B) = (self.surface_A.bvh(), self.surface_B.bvh());
        if !overlap.may_touch(tree_A.bounds_of(node)) {
            return;
        }
        let reach = self.reaches_A[node].moved(self.X_BA);
        let triangle =
            tree_A.element(node).map(|element| Triangle::of(self.surface_A, self.cones_A, element).moved(self.X_BA));
        let bounds = match &triangle {
            Some(triangle) => Aabb::around(&triangle.corners),
            None => tree_A.bounds_of(node).transformed(self.X_BA),
        };
        let bounds = bounds.grown(self.apart);
        let from = stack.len();
        for i in range {
            let mut at = stack[i] as usize;
            let end = tree_B.next(at);
            while at < end {
                let other = &self.reaches_B[at];
                if !tree_B.bounds_of(at).overlaps(&bounds) || reach.is_out_of(triangle.as_ref(), other, &self.limits) {
                    at = tree_B.next(at);
                } else if tree_B.element(at).is_some() || (triangle.is_none() && other.radius <= reach.radius) {
                    stack.push(at as u32);
                    at = tree_B.next(at);
                } else {
                    at += 1;
                }
            }
        }
        let to = stack.len();
        if to > from {
            match &triangle {
                Some(triangle) => visit(triangle, &reach, &stack[from..]),
                None => {
                    self.descend(node + 1, from..to, overlap, stack, visit);
                    self.descend(tree_A.next(node + 1), from..to, overlap, stack, visit);
                }
            }
        }
        stack.truncate(from);
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::math::{Rotation, Vector3};

    /// The trees skip what the test of single triangles skips, near, far and inside each other, and far apart
    /// they skip nearly all at once. They may skip a little more: the cone around a group holds the normals
    /// of its triangles, but not all of the cones around each of them. That the search loses no contact is
    /// tested with all pairs of triangles (`mesh_pair::tests`).
    #[test]
    fn groups_skip_what_single_triangles_skip() {
        let ring = RigidSurface::new(samples::ring(40, [0.05, 0.07])).unwrap();
        let cones = EdgeCones::new(&ring);
        let reaches = Reach::of_nodes(&ring, &cones);
        let count = ring.mesh().triangles.len();
        for (k, distance) in [0.0, 0.02, 0.1, 0.5, 2.0].into_iter().enumerate() {
            let turn = Rotation::from_euler_angles(0.3 + k as f64, -0.7, 1.1 * k as f64);
            let X_BA = &RigidTransform::from_parts(Vector3::new(distance, 0.3 * distance, -0.01).into(), turn);
            let apart = 1.2 * distance + 0.002;
            let limits = ReachLimits { distance: apart, depth: 0.01 };
            let search = NearTriangles {
                surface_A: &ring,
                cones_A: &cones,
                reaches_A: &reaches,
                surface_B: &ring,
                reaches_B: &reaches,
                X_BA,
                apart,
                limits,
            };
            let mut found = 0;
            search.walk(&mut Vec::new(), &mut |_, _, leaves| found += leaves.len());
            let tree = ring.bvh();
            let overlap = OrientedOverlap::new(&ring.bounds().grown(apart), X_BA);
            let leaves = || (0..reaches.len()).filter_map(|node| tree.element(node).map(|element| (node, element)));
            let mut expected = 0;
            for (a, element) in leaves().filter(|(a, _)| overlap.may_touch(tree.bounds_of(*a))) {
                let triangle = Triangle::of(&ring, &cones, element).moved(X_BA);
                let bounds = Aabb::around(&triangle.corners).grown(apart);
                let reach = reaches[a].moved(X_BA);
                let keeps = |b: usize| {
                    tree.bounds_of(b).overlaps(&bounds) && !reach.is_out_of(Some(&triangle), &reaches[b], &limits)
                };
                expected += leaves().filter(|(b, _)| keeps(*b)).count();
            }
            assert!(found <= expected && (found > 0 || distance > 1.0), "{distance}: {found} of {expected}");
            assert!(distance < 0.2 || 100 * found < count * count, "{distance}: {found}");
        }
    }
}
