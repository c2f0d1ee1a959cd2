//! A tree of axis-aligned boxes over the elements of a mesh, in the mesh's frame.
//!
//! The nodes lie in depth-first order in one flat array, and each stores the end of its subtree: a query is a
//! loop without a stack. A query walks the tree of one mesh with the box of one element of the other mesh,
//! given in the frame of the tree: six comparisons per node, with a box that has been shrunk to the part that
//! can touch.

use super::Aabb;
use super::aabb::absolute;
use crate::math::{Matrix3, RigidTransform, Vector3};

/// Marks a node that has children.
const INNER: u32 = u32::MAX;

/// Bounds of the elements below a node.
pub(crate) trait Bounds: Copy {
    /// The smallest bounds around both.
    fn union(&self, other: &Self) -> Self;
    /// The centre, which is used for splitting.
    fn center(&self) -> Vector3;
}

impl Bounds for Aabb {
    fn union(&self, other: &Self) -> Self {
        self.union(other)
    }
    fn center(&self) -> Vector3 {
        self.center()
    }
}

/// One node of the tree.
#[derive(Clone, Copy, Debug)]
struct Node<B> {
    /// The bounds of everything below.
    bounds: B,
    /// The node to continue with when this one is skipped: the end of its subtree.
    next: u32,
    /// The element of a leaf, or [`INNER`].
    element: u32,
}

/// Bounding-volume hierarchy with one element or part of an element in each leaf.
#[derive(Clone, Debug)]
pub(crate) struct Bvh<B = Aabb> {
    nodes: Vec<Node<B>>,
}

impl<B: Bounds> Bvh<B> {
    /// The tree over `elements`, pairs of an element's number and its bounds. A node is split at the median
    /// of the centres along the widest axis; ties are broken by the number, so the tree is a function of its
    /// input alone.
    pub(crate) fn new(elements: impl IntoIterator<Item = (u32, B)>) -> Self {
        let mut elements: Vec<(u32, B)> = elements.into_iter().collect();
        let mut nodes = Vec::with_capacity(2 * elements.len());
        if !elements.is_empty() {
            build(&mut elements, &mut nodes);
        }
        Self { nodes }
    }

    /// Calls `visit` with every element whose leaf and all nodes above it have bounds that satisfy `enters`.
    #[inline]
    pub(crate) fn walk(&self, mut enters: impl FnMut(&B) -> bool, mut visit: impl FnMut(u32, &B)) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if enters(&node.bounds) {
                if node.element != INNER {
                    visit(node.element, &node.bounds);
                }
                at += 1;
            } else {
                at = node.next as usize;
            }
        }
    }
}

impl<B> Bvh<B> {
    /// The number of the node with which a walk continues if it skips node `at`: the end of its subtree. The
    /// children of a node that has any are `at + 1` and the node after that one's subtree.
    pub(crate) fn next(&self, at: usize) -> usize {
        self.nodes[at].next as usize
    }

    /// The element of node `at`, if it is a leaf.
    pub(crate) fn element(&self, at: usize) -> Option<u32> {
        Some(self.nodes[at].element).filter(|element| *element != INNER)
    }

    /// The bounds of everything below node `at`.
    pub(crate) fn bounds_of(&self, at: usize) -> &B {
        &self.nodes[at].bounds
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All elements in the order of the tree, and the range of those below each node, by the node's number.
    pub(crate) fn groups(&self) -> (Vec<u32>, Vec<std::ops::Range<usize>>) {
        let elements = self.nodes.iter().map(|node| node.element).filter(|element| *element != INNER).collect();
        let mut before = Vec::with_capacity(self.nodes.len() + 1);
        let mut count = 0;
        for node in &self.nodes {
            before.push(count);
            count += usize::from(node.element != INNER);
        }
        before.push(count);
        let ranges = self.nodes.iter().enumerate().map(|(at, node)| before[at]..before[node.next as usize]).collect();
        (elements, ranges)
    }
}

impl Bvh {
    /// The box around all elements.
    pub(crate) fn bounds(&self) -> Aabb {
        self.nodes.first().map_or(Aabb::EMPTY, |root| root.bounds)
    }
}

/// Appends the subtree over `elements`, which is not empty. The depth is the logarithm of the count.
fn build<B: Bounds>(elements: &mut [(u32, B)], nodes: &mut Vec<Node<B>>) {
    let Some(((_, first), rest)) = elements.split_first() else { return };
    let bounds = rest.iter().fold(*first, |bounds, (_, element)| bounds.union(element));
    let at = nodes.len();
    nodes.push(Node { bounds, next: 0, element: INNER });
    if let [(element, _)] = elements {
        nodes[at].element = *element;
    } else {
        let centers = elements.iter().fold(Aabb::EMPTY, |mut centers, (_, element)| {
            centers.include(&element.center());
            centers
        });
        let axis = centers.half_extents().imax();
        let middle = elements.len() / 2;
        elements.select_nth_unstable_by(middle, |(a, x), (b, y)| {
            x.center()[axis].total_cmp(&y.center()[axis]).then_with(|| a.cmp(b))
        });
        let (low, high) = elements.split_at_mut(middle);
        build(low, nodes);
        build(high, nodes);
    }
    nodes[at].next = nodes.len() as u32;
}

/// Tests whether a box given in N can touch one fixed box given in M, by the six face axes of the two boxes.
/// The nine axes of edge pairs are left out, so the test is conservative: it may also hold for boxes that
/// are apart.
pub(crate) struct OrientedOverlap {
    R_MN: Matrix3,
    R_MN_absolute: Matrix3,
    p_MN: Vector3,
    center_M: Vector3,
    half_M: Vector3,
    center_N: Vector3,
    half_N: Vector3,
}

impl OrientedOverlap {
    /// The test of boxes in N against the fixed box `bounds_M` in M.
    pub(crate) fn new(bounds_M: &Aabb, X_MN: &RigidTransform) -> Self {
        let R_MN = *X_MN.rotation.matrix();
        let R_MN_absolute = absolute(&R_MN);
        let center_M = bounds_M.center();
        let half_M = bounds_M.half_extents();
        Self {
            R_MN,
            R_MN_absolute,
            p_MN: X_MN.translation.vector,
            center_M,
            half_M,
            center_N: R_MN.tr_mul(&(center_M - X_MN.translation.vector)),
            half_N: R_MN_absolute.tr_mul(&half_M),
        }
    }

    /// Whether the box `bounds_N`, given in N, can touch the fixed box.
    #[inline]
    pub(crate) fn may_touch(&self, bounds_N: &Aabb) -> bool {
        let (center, half) = (bounds_N.center(), bounds_N.half_extents());
        let apart_N = (center - self.center_N).abs() - (half + self.half_N);
        if apart_N.x > 0.0 || apart_N.y > 0.0 || apart_N.z > 0.0 {
            return false;
        }
        let apart_M =
            (self.R_MN * center + self.p_MN - self.center_M).abs() - (self.R_MN_absolute * half + self.half_M);
        apart_M.x <= 0.0 && apart_M.y <= 0.0 && apart_M.z <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit_boxes(count: u32) -> Vec<(u32, Aabb)> {
        (0..count)
            .map(|i| {
                let min = Vector3::new(f64::from(i * 7 % 5), f64::from(i * 3 % 11), f64::from(i));
                (i, Aabb { min, max: min.add_scalar(1.0) })
            })
            .collect()
    }

    /// The tree finds exactly the elements that a loop over all of them finds.
    #[test]
    fn agrees_with_a_loop() {
        let boxes = unit_boxes(53);
        let tree = Bvh::new(boxes.clone());
        let query = Aabb { min: Vector3::new(1.5, 2.5, 7.0), max: Vector3::new(3.0, 6.0, 30.5) };
        let mut found = Vec::new();
        tree.walk(|node| node.overlaps(&query), |element, _| found.push(element));
        found.sort_unstable();
        let expected: Vec<u32> = boxes.iter().filter(|(_, b)| b.overlaps(&query)).map(|(i, _)| *i).collect();
        assert!(!expected.is_empty());
        assert_eq!(found, expected);
    }

    #[test]
    fn an_empty_tree_visits_nothing() {
        let mut count = 0;
        Bvh::<Aabb>::new([]).walk(|_| true, |_, _| count += 1);
        assert_eq!(count, 0);
    }
}
