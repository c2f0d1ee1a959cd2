//! Tetrahedra divided until no edge is longer than requested. A field that is linear on each tetrahedron
//! remains unchanged.

use std::collections::BTreeMap;

use crate::geometry::VolumeMesh;

/// The largest number of tetrahedra. A pass makes at most eight of one, so no pass begins with more than an
/// eighth of this number.
const TETS_MAX: usize = 500_000;

/// A division of a mesh.
pub(super) struct Division {
    /// The new vertices lie in the middle of the edges with these ends, in their order.
    pub middles: Vec<[u32; 2]>,
    /// The length of the longest edge \[m\], if the division ended before all edges were short enough.
    pub too_long: Option<f64>,
}

/// Divides all edges that are longer than `longest` \[m\] in the middle, and their halves, until no such edge
/// is left or the mesh has more than an eighth of [`TETS_MAX`] tetrahedra.
///
/// Each pass divides the longest edges first, with ties by the numbers of their ends: two tetrahedra that
/// share a face divide it alike.
pub(super) fn bisect(mesh: &mut VolumeMesh, longest: f64) -> Division {
    let mut middles = Vec::new();
    loop {
        let mut edges: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        for tet in &mesh.tets {
            for edge in edges_of(tet) {
                if length(mesh, edge) > longest {
                    edges.insert(edge, 0);
                }
            }
        }
        if edges.is_empty() || mesh.tets.len() > TETS_MAX / 8 {
            let too_long = edges.keys().map(|edge| length(mesh, *edge)).max_by(f64::total_cmp);
            return Division { middles, too_long };
        }
        let mut order: Vec<([u32; 2], f64)> = edges.keys().map(|edge| (*edge, length(mesh, *edge))).collect();
        order.sort_by(|(a, la), (b, lb)| lb.total_cmp(la).then(a.cmp(b)));
        let first = mesh.vertices.len() as u32;
        for (number, ([a, b], _)) in order.iter().enumerate() {
            mesh.vertices.push(0.5 * (mesh.vertices[*a as usize] + mesh.vertices[*b as usize]));
            middles.push([*a, *b]);
            // Smaller numbers belong to longer edges.
            edges.insert([*a, *b], first + number as u32);
        }
        let mut divided = Vec::with_capacity(2 * mesh.tets.len());
        for tet in &mesh.tets {
            divide(*tet, &edges, &mut divided);
        }
        mesh.tets = divided;
    }
}

/// Divides a tetrahedron at the first of its marked edges, and the halves again.
fn divide(tet: [u32; 4], middles: &BTreeMap<[u32; 2], u32>, divided: &mut Vec<[u32; 4]>) {
    let marked = edges_of(&tet).into_iter().filter_map(|edge| middles.get(&edge).map(|middle| (*middle, edge)));
    match marked.min() {
        None => divided.push(tet),
        Some((middle, ends)) => {
            for end in ends {
                divide(tet.map(|vertex| if vertex == end { middle } else { vertex }), middles, divided);
            }
        }
    }
}

/// The six edges, smaller number first.
fn edges_of(tet: &[u32; 4]) -> [[u32; 2]; 6] {
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)].map(|(i, j)| [tet[i].min(tet[j]), tet[i].max(tet[j])])
}

fn length(mesh: &VolumeMesh, [a, b]: [u32; 2]) -> f64 {
    (mesh.vertices[a as usize] - mesh.vertices[b as usize]).norm()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::make::{boundary, cuboid};
    use crate::math::Vector3;

    /// Boxes of any proportions: no edge is longer than requested, the volume is that of the box, no
    /// tetrahedron is turned inside out, and the boundary is closed, which requires that neighbours divide
    /// their common face alike.
    #[test]
    fn divided_boxes_are_boxes() {
        for (half, longest, most) in [
            (Vector3::new(0.04, 0.04, 0.04), 0.04, 2_000),
            (Vector3::new(0.03, 0.042, 0.000_25), 0.01, 20_000),
            (Vector3::new(0.009, 0.00275, 0.015), 0.01, 2_000),
        ] {
            let (mut mesh, _) = cuboid(&half);
            let before = mesh.vertices.len();
            let Division { middles, too_long } = bisect(&mut mesh, longest);
            assert_eq!(too_long, None);
            assert_eq!(mesh.vertices.len(), before + middles.len());
            let volume = |tet: &[u32; 4]| {
                let [a, b, c, d] = tet.map(|vertex| mesh.vertices[vertex as usize]);
                (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
            };
            let total: f64 = mesh.tets.iter().map(volume).sum();
            assert!((total / (8.0 * half.product()) - 1.0).abs() < 1e-12, "{total}");
            assert!(mesh.tets.iter().all(|tet| volume(tet) > 0.0));
            assert!(mesh.tets.iter().flat_map(edges_of).all(|edge| length(&mesh, edge) <= longest));
            assert!(mesh.tets.len() < most, "{}", mesh.tets.len());
            let surface = boundary(&mesh).expect("a surface");
            let area = |triangle: &[u32; 3]| {
                let [a, b, c] = triangle.map(|vertex| surface.vertices[vertex as usize]);
                0.5 * (b - a).cross(&(c - a)).norm()
            };
            let area: f64 = surface.triangles.iter().map(area).sum();
            let exact = 8.0 * (half.x * half.y + half.y * half.z + half.z * half.x);
            assert!((area / exact - 1.0).abs() < 1e-12, "{area} {exact}");
        }
    }

    /// A box with edges a hundred times as long as requested has too many tetrahedra before they are short
    /// enough: the length of the longest edge is returned.
    #[test]
    fn a_division_that_ends_early_gives_the_longest_edge() {
        let (mut mesh, _) = cuboid(&Vector3::new(0.05, 0.05, 0.05));
        let longest = 1e-3;
        let edge = bisect(&mut mesh, longest).too_long.expect("edges that are too long");
        let longest_left = mesh.tets.iter().flat_map(edges_of).map(|edge| length(&mesh, edge)).fold(0.0, f64::max);
        assert!(edge > longest && edge == longest_left, "{edge} {longest_left}");
    }
}
