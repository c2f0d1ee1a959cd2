//! Boxes: a cell for each face, between the face and the part of the medial surface nearest to it, filled
//! with tetrahedra that meet in the middle of the face.

use crate::geometry::VolumeMesh;
use crate::math::Vector3;

/// Half edge lengths that differ by less than this share count as equal. [-]
const EQUAL_SIZES: f64 = 1e-14;

/// Low and high side of an axis.
const SIDES: [usize; 2] = [0, 1];

/// For each axis of the tessellation's frame, the axis of the box that it lies on and whether both point the
/// same way. With a medial rectangle the frame's z axis is the shortest edge, with a medial segment its x
/// axis is the longest.
///
/// Walls between cells are split along one of two diagonals, so a tessellation is not symmetric. A fixed
/// rotation turns it to the shortest (longest) edge, whichever of the other two edges is longer.
fn frame(half: &Vector3) -> ([usize; 3], Vector3) {
    let (shortest, longest) = (half.imin(), half.imax());
    let same = Vector3::repeat(1.0);
    let equal = |other: usize| !differs(half[other], half[shortest]);
    if equal((shortest + 1) % 3) || equal((shortest + 2) % 3) {
        return match longest {
            0 => ([0, 1, 2], same),
            1 => ([1, 2, 0], same),
            _ => ([2, 1, 0], Vector3::new(-1.0, 1.0, 1.0)),
        };
    }
    match shortest {
        0 => ([2, 1, 0], Vector3::new(-1.0, 1.0, 1.0)),
        1 => ([2, 0, 1], Vector3::new(-1.0, -1.0, 1.0)),
        _ => ([0, 1, 2], same),
    }
}

/// Whether an edge is longer than another one by more than rounding.
fn differs(size: f64, shortest: f64) -> bool {
    size - shortest > EQUAL_SIZES * size
}

/// Tessellation of a box with the half edge lengths `half` \[m\], and the number of its vertices that lie on
/// the surface. These come first; the others lie on the medial surface, where the distance to the surface is
/// largest.
///
/// It has 44 tetrahedra, 40 where the two shorter edges are equal and 24 for a cube. The medial surface is a
/// rectangle, a segment or a point in the plane of the two longer edges.
/// Beside the medial surface the pressure does not change along the shorter sides. The sign of a rounded zero
/// decides whether a face perpendicular to them acts as a spring there, and neither sign is better. The
/// corners of each tetrahedron have the order of the reference meshes, so that Drake and Isobar round alike
/// in the poses in which this matters: along the axes.
pub fn cuboid(half: &Vector3) -> (VolumeMesh, usize) {
    let (axes, signs) = frame(half);
    let sorted = Vector3::new(half[axes[0]], half[axes[1]], half[axes[2]]);
    let shortest = half.min();
    let medial = sorted.map(|size| if differs(size, shortest) { size - shortest } else { 0.0 });
    let mut mesh = VolumeMesh { vertices: surface_vertices(&sorted), tets: Vec::new() };
    let on_surface = mesh.vertices.len();
    if medial.y > 0.0 {
        for x in [-medial.x, medial.x] {
            for y in [-medial.y, medial.y] {
                mesh.vertices.push(Vector3::new(x, y, 0.0));
            }
        }
        add_cells_around_rectangle(&mut mesh.tets);
    } else if medial.x > 0.0 {
        for x in [-medial.x, medial.x, 0.0] {
            mesh.vertices.push(Vector3::new(x, 0.0, 0.0));
        }
        add_cells_around_segment(&mut mesh.tets);
    } else {
        mesh.vertices.push(Vector3::zeros());
        for face in 0..6 {
            for [a, b] in face_edges(face) {
                mesh.tets.push([a, b, medial_vertex(0, 0), face_center(face)]);
            }
        }
    }
    for vertex in &mut mesh.vertices {
        let position = *vertex;
        for (from, &to) in axes.iter().enumerate() {
            vertex[to] = signs[from] * position[from];
        }
    }
    for tet in &mut mesh.tets {
        let [a, b, c, d] = tet.map(|vertex| mesh.vertices[vertex as usize]);
        if (b - a).cross(&(c - a)).dot(&(d - a)) < 0.0 {
            tet.swap(0, 1);
        }
    }
    (mesh, on_surface)
}

/// The eight corners and the middles of the six faces.
fn surface_vertices(half: &Vector3) -> Vec<Vector3> {
    let mut vertices = Vec::with_capacity(18);
    for x in [-half.x, half.x] {
        for y in [-half.y, half.y] {
            for z in [-half.z, half.z] {
                vertices.push(Vector3::new(x, y, z));
            }
        }
    }
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut center = Vector3::zeros();
            center[axis] = sign * half[axis];
            vertices.push(center);
        }
    }
    vertices
}

/// The corner on the given sides.
fn corner(x: usize, y: usize, z: usize) -> u32 {
    (4 * x + 2 * y + z) as u32
}

/// The middle of face 2 * axis + side.
fn face_center(face: usize) -> u32 {
    8 + face as u32
}

/// The vertex of the medial rectangle nearest to the corners at (x, y); the medial point is (0, 0).
fn medial_vertex(x: usize, y: usize) -> u32 {
    (14 + 2 * x + y) as u32
}

/// The four edges of face 2 * axis + side.
fn face_edges(face: usize) -> [[u32; 2]; 4] {
    let (axis, side) = (face / 2, face % 2);
    let at = |u: usize, v: usize| match axis {
        0 => corner(side, u, v),
        1 => corner(u, side, v),
        _ => corner(u, v, side),
    };
    [[at(0, 0), at(0, 1)], [at(0, 1), at(1, 1)], [at(1, 1), at(1, 0)], [at(1, 0), at(0, 0)]]
}

/// The six cells of a box with a medial rectangle. The order of corners within a tetrahedron decides the
/// rounding of its gradient, see [`cuboid`]. Each wall between two cells is split along one diagonal: from
/// the high corner to the low medial vertex along x, and from the low corner to the high medial vertex along
/// y.
fn add_cells_around_rectangle(tets: &mut Vec<[u32; 4]>) {
    let wall_along_x = |y: usize, z: usize| {
        let (low, high) = (corner(0, y, z), corner(1, y, z));
        let (medial_low, medial_high) = (medial_vertex(0, y), medial_vertex(1, y));
        let upper = match (y, z) {
            (0, _) => [high, medial_low, medial_high],
            (_, 0) => [high, medial_high, medial_low],
            _ => [medial_low, medial_high, high],
        };
        [[high, low, medial_low], upper]
    };
    let wall_along_y = |x: usize, z: usize| {
        let (low, high) = (corner(x, 0, z), corner(x, 1, z));
        let (medial_low, medial_high) = (medial_vertex(x, 0), medial_vertex(x, 1));
        let upper = if (x, z) == (0, 0) { [medial_low, medial_high, low] } else { [low, medial_high, medial_low] };
        [[low, high, medial_high], upper]
    };
    let wall_along_z = |x: usize, y: usize| [corner(x, y, 0), corner(x, y, 1), medial_vertex(x, y)];
    let mut add = |[a, b, c]: [u32; 3], face: usize| tets.push([a, b, c, face_center(face)]);
    for side in SIDES {
        for other in SIDES {
            for triangle in wall_along_y(side, other) {
                add(triangle, side);
                add(triangle, 4 + other);
            }
            for triangle in wall_along_x(side, other) {
                add(triangle, 2 + side);
                add(triangle, 4 + other);
            }
            add(wall_along_z(side, other), side);
            add(wall_along_z(side, other), 2 + other);
        }
        add([medial_vertex(0, 0), medial_vertex(0, 1), medial_vertex(1, 1)], 4 + side);
        add([medial_vertex(1, 1), medial_vertex(0, 0), medial_vertex(1, 0)], 4 + side);
    }
}

/// The six cells of a box with a medial segment, which has a vertex in the middle.
fn add_cells_around_segment(tets: &mut Vec<[u32; 4]>) {
    let (low, high, middle) = (14, 15, 16);
    let end = |x: usize| if x == 0 { low } else { high };
    for x in SIDES {
        for [a, b] in face_edges(x) {
            tets.push([a, b, end(x), face_center(x)]);
        }
    }
    for y in SIDES {
        for z in SIDES {
            let (a, b) = (corner(0, y, z), corner(1, y, z));
            let at_low = if (y, z) == (0, 1) { [low, middle, a] } else { [a, low, middle] };
            let at_high = match (y, z) {
                (1, 0) => [b, high, middle],
                (1, _) => [middle, b, high],
                _ => [high, middle, b],
            };
            for center in [2 + y, 4 + z].map(face_center) {
                tets.extend([[a, b, middle], at_low, at_high].map(|[a, b, c]| [a, b, c, center]));
            }
        }
    }
    for x in SIDES {
        for side in SIDES {
            tets.push([corner(x, side, 0), corner(x, side, 1), end(x), face_center(2 + side)]);
            tets.push([corner(x, 0, side), corner(x, 1, side), end(x), face_center(4 + side)]);
        }
    }
}
