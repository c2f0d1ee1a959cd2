//! Faces, neighbours and flatness of tetrahedra.

use crate::math::Vector3;

/// Six times the volume of a tetrahedron over the cube of its longest edge; below this the tetrahedron is
/// flat and has no usable gradient. For a regular tetrahedron this ratio is 0.7; for a flat one, rounding of
/// the positions leaves about 1e-15. [-]
const FLATNESS_MIN: f64 = 1e-12;

/// The vertices of the face opposite each vertex of a tetrahedron, counter-clockwise seen from outside.
pub(crate) const TET_FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Marks a face without a tetrahedron behind it in
/// [`PressureField::neighbours`](super::PressureField::neighbours).
pub const NO_NEIGHBOUR: u32 = u32::MAX;

/// ((b-a) x (c-a)) . (d-a) \[m3\].
pub(super) fn six_volumes(corners: &[Vector3; 4]) -> f64 {
    let [a, b, c, d] = corners;
    (b - a).cross(&(c - a)).dot(&(d - a))
}

/// Whether the volume of a tetrahedron (positive or zero) is too small for a gradient.
pub(super) fn is_flat(corners: &[Vector3; 4]) -> bool {
    let mut longest: f64 = 0.0;
    for (i, a) in corners.iter().enumerate() {
        for b in &corners[..i] {
            longest = longest.max((a - b).norm());
        }
    }
    let volumes = six_volumes(corners);
    // Also true for `longest` = 0.
    volumes <= FLATNESS_MIN * longest.powi(3)
}

/// The tetrahedron behind each face. A face shared by more than two tetrahedra (not a manifold) joins them in
/// pairs, in the order of their numbers.
pub(super) fn neighbours(tets: &[[u32; 4]]) -> Vec<[u32; 4]> {
    let mut faces: Vec<([u32; 3], u32, usize)> = Vec::with_capacity(4 * tets.len());
    for (element, tet) in tets.iter().enumerate() {
        for (face, corners) in TET_FACES.iter().enumerate() {
            let mut key = corners.map(|corner| tet[corner]);
            key.sort_unstable();
            faces.push((key, element as u32, face));
        }
    }
    faces.sort_unstable();
    let mut neighbours = vec![[NO_NEIGHBOUR; 4]; tets.len()];
    let mut rest = faces.as_slice();
    while let [(key, element, face), tail @ ..] = rest {
        rest = tail;
        if let [(other_key, other, other_face), after @ ..] = tail
            && other_key == key
        {
            neighbours[*element as usize][*face] = *other;
            neighbours[*other as usize][*other_face] = *element;
            rest = after;
        }
    }
    neighbours
}
