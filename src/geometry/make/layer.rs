//! A layer around a mesh with given pressures, for its margin: the mesh and its pressures stay as they are,
//! and the pressure continues outside with the slope that it has inside.

use super::volume::outward_shifts;
use crate::geometry::VolumeMesh;
use crate::geometry::mesh_measure::boundary_faces_of;

/// Adds tetrahedra from the boundary of `mesh` to a surface `margin` \[m\] outside. The slope of the pressure
/// at a vertex there is the mean of those in the tetrahedra at the boundary, weighted by their areas.
pub(super) fn surround(mesh: &mut VolumeMesh, pressure: &mut Vec<f64>, margin: f64) {
    if margin == 0.0 || pressure.len() != mesh.vertices.len() {
        return;
    }
    let faces = boundary_faces_of(mesh);
    let mut slopes = vec![(0.0, 0.0); mesh.vertices.len()];
    let mut all = (0.0, 0.0);
    for (element, face) in &faces {
        let [a, b, c] = face.map(|vertex| mesh.vertices[vertex as usize]);
        let Some(apex) = mesh.tets[*element].iter().find(|vertex| !face.contains(vertex)) else { continue };
        let area = (b - a).cross(&(c - a)).norm();
        let height = (b - a).cross(&(c - a)).dot(&(a - mesh.vertices[*apex as usize])) / area;
        let on_face = face.iter().map(|vertex| pressure[*vertex as usize]).sum::<f64>() / 3.0;
        let slope = (pressure[*apex as usize] - on_face) / height;
        // A tetrahedron with all corners on the boundary has no pressure.
        if slope > 0.0 && slope.is_finite() {
            for sum in face.iter().map(|vertex| *vertex as usize).chain([usize::MAX]) {
                let (weighted, total) = slopes.get_mut(sum).unwrap_or(&mut all);
                (*weighted, *total) = (*weighted + area * slope, *total + area);
            }
        }
    }
    if all.1 == 0.0 {
        return;
    }
    let triangles: Vec<[u32; 3]> = faces.iter().map(|(_, face)| *face).collect();
    let mut outer = vec![u32::MAX; mesh.vertices.len()];
    for (vertex, shift) in outward_shifts(&mesh.vertices, &triangles).into_iter().enumerate() {
        let Some(shift) = shift else { continue };
        let (weighted, total) = if slopes[vertex].1 > 0.0 { slopes[vertex] } else { all };
        outer[vertex] = mesh.vertices.len() as u32;
        mesh.vertices.push(mesh.vertices[vertex] + shift * margin);
        pressure.push(pressure[vertex] - margin * weighted / total);
    }
    for triangle in triangles {
        // Three tetrahedra for each prism. Its sides are cut from the vertex with the smaller number, so that
        // neighbours agree.
        let mut sorted = triangle;
        sorted.sort_unstable();
        let is_turned = (0..3).any(|k| [sorted[0], sorted[2], sorted[1]] == [0, 1, 2].map(|i| triangle[(i + k) % 3]));
        let ([a, b, c], [x, y, z]) = (sorted, sorted.map(|vertex| outer[vertex as usize]));
        for mut tet in [[a, b, c, z], [a, b, z, y], [a, x, y, z]] {
            if is_turned {
                tet.swap(0, 1);
            }
            let [p, q, r, s] = tet.map(|vertex| mesh.vertices[vertex as usize]);
            // In narrow notches the layer meets itself, and is left out.
            if (q - p).cross(&(r - p)).dot(&(s - p)) > 0.0 {
                mesh.tets.push(tet);
            }
        }
    }
}
