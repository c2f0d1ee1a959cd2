//! The elements of a pressure field, cut into layers of pressure.
//!
//! A point on a surface of equal pressure has the same pressure in both geometries. The box of a long
//! tetrahedron that ends in the middle of its body overlaps the boxes of many others. Its part between two
//! pressures has a small box, and it can touch only parts with the same pressures. So a search compares boxes
//! of layers, with the pressure as a fourth coordinate.

use super::Aabb;
use super::bvh::{Bounds, OrientedOverlap};
use crate::math::{RigidTransform, Vector3};

/// Thickness of a layer over the size of an element; with 1 the boxes are compact. [-]
const THICKNESS: f64 = 1.0;

/// The largest number of layers of an element. The tree grows with it.
const COUNT_MAX: usize = 8;

/// The part of an element between two pressures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Layer {
    /// The box around it \[m\].
    pub(crate) bounds: Aabb,
    /// Smallest pressure \[Pa\].
    pub(crate) lowest: f64,
    /// Largest pressure \[Pa\].
    pub(crate) highest: f64,
}

impl Layer {
    /// The layer of the tetrahedron with these corners and pressures.
    pub(crate) fn new(corners: &[Vector3; 4], pressures: &[f64; 4], lowest: f64, highest: f64) -> Self {
        let mut bounds = Aabb::EMPTY;
        for_corners(corners, pressures, lowest, highest, |corner| bounds.include(&corner));
        Self { bounds, lowest, highest }
    }

    /// Whether the two share a point and a pressure.
    #[inline]
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.lowest <= other.highest && self.highest >= other.lowest && self.bounds.overlaps(&other.bounds)
    }
}

/// Calls `visit` with the corners of the part of a tetrahedron between two pressures.
#[inline]
fn for_corners(
    corners: &[Vector3; 4],
    pressures: &[f64; 4],
    lowest: f64,
    highest: f64,
    mut visit: impl FnMut(Vector3),
) {
    for (i, (a, p_a)) in corners.iter().zip(pressures).enumerate() {
        if (lowest..=highest).contains(p_a) {
            visit(*a);
        }
        for (b, p_b) in corners[..i].iter().zip(pressures) {
            for level in [lowest, highest] {
                if (*p_a > level) != (*p_b > level) {
                    visit(a + (b - a) * ((level - p_a) / (p_b - p_a)));
                }
            }
        }
    }
}

impl Bounds for Layer {
    fn union(&self, other: &Self) -> Self {
        Self {
            bounds: self.bounds.union(&other.bounds),
            lowest: self.lowest.min(other.lowest),
            highest: self.highest.max(other.highest),
        }
    }
    fn center(&self) -> Vector3 {
        self.bounds.center()
    }
}

/// The number of cores of a field.
const CORES: usize = 32;

/// Bounds of the part of a field where the pressure is at least `lowest`.
#[derive(Clone, Copy, Debug)]
struct Core {
    lowest: f64,
    bounds: Aabb,
    /// Radius of a sphere about the centre of the mesh \[m\].
    radius: f64,
}

/// The cores of a field, from the whole field inwards. Each lies within the previous core.
#[derive(Clone, Debug)]
pub(crate) struct Cores {
    center: Vector3,
    cores: Vec<Core>,
}

impl Cores {
    /// The cores of a field with pressures between `lowest` and `highest` \[Pa\] and the tetrahedra `tets`
    /// (corners with their pressures). The spheres have the centre `center`.
    pub(crate) fn new(
        center: Vector3,
        (lowest, highest): (f64, f64),
        tets: impl Iterator<Item = ([Vector3; 4], [f64; 4])> + Clone,
    ) -> Self {
        let core = |i: usize| {
            let lowest = lowest + (highest - lowest) * (i as f64 / CORES as f64);
            let (mut bounds, mut radius) = (Aabb::EMPTY, 0.0_f64);
            for (corners, pressures) in tets.clone() {
                for_corners(&corners, &pressures, lowest, f64::INFINITY, |corner| {
                    bounds.include(&corner);
                    radius = radius.max((corner - center).norm());
                });
            }
            Core { lowest, bounds, radius }
        };
        Self { center, cores: (0..CORES).map(core).collect() }
    }

    /// A pressure \[Pa\] above which no point of this field lies within `distance` \[m\] of a point of equal
    /// pressure in the field `other`. `X_MN` is the pose of the other field's frame N in this field's frame
    /// M.
    pub(crate) fn pressure_bound(&self, other: &Self, X_MN: &RigidTransform, distance: f64) -> f64 {
        let apart = (X_MN.rotation * other.center + X_MN.translation.vector - self.center).norm();
        let touches = |core: &Core| {
            let of_other = other.cores.partition_point(|of_other| of_other.lowest <= core.lowest).max(1) - 1;
            let of_other = &other.cores[of_other];
            apart <= core.radius + of_other.radius + distance
                && OrientedOverlap::new(&core.bounds.grown(distance), X_MN).may_touch(&of_other.bounds)
        };
        self.cores.get(self.cores.partition_point(touches)).map_or(f64::INFINITY, |core| core.lowest)
    }
}

/// The pressures that bound the layers of a tetrahedron between `lowest` and `highest` \[Pa\], where the
/// pressure rises by `steepness` [Pa/m] and elements have the size `size` \[m\]: pairs of a lower and an
/// upper bound.
pub(crate) fn levels(lowest: f64, highest: f64, steepness: f64, size: f64) -> impl Iterator<Item = (f64, f64)> {
    // If the quotient is NaN, there is one layer.
    let count = ((highest - lowest) / (steepness * size * THICKNESS)) as usize;
    let count = count.clamp(1, COUNT_MAX);
    let level =
        move |i: usize| if i == count { highest } else { lowest + (highest - lowest) * (i as f64 / count as f64) };
    (0..count).map(move |i| (level(i), level(i + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::pressure_field::UNIT_TETRAHEDRON as CORNERS;

    /// The unit tetrahedron with the pressure z between a quarter and a half: its part between the planes is
    /// at most three quarters wide.
    #[test]
    fn a_layer_is_the_box_between_two_pressures() {
        let layer = Layer::new(&CORNERS, &[0.0, 0.0, 0.0, 1.0], 0.25, 0.5);
        let expected = Aabb { min: Vector3::new(0.0, 0.0, 0.25), max: Vector3::new(0.75, 0.75, 0.5) };
        assert_eq!(layer.bounds, expected);
    }

    /// The layers follow each other without a gap from the lowest to the highest pressure, also where all
    /// pressures are equal.
    #[test]
    fn layers_leave_no_gap() {
        for (steepness, size, count) in [(1.0, 0.3, 3), (1.0, 1e-9, COUNT_MAX), (1.0, 5.0, 1), (0.0, 1.0, COUNT_MAX)] {
            let levels: Vec<_> = levels(-0.5, 0.5, steepness, size).collect();
            assert_eq!(levels.len(), count);
            assert_eq!((levels[0].0, levels[count - 1].1), (-0.5, 0.5));
            assert!(levels.windows(2).all(|pair| pair[0].1 == pair[1].0));
        }
        assert_eq!(levels(0.5, 0.5, 0.0, 1.0).collect::<Vec<_>>(), [(0.5, 0.5)]);
    }
}
