//! Properties of a mesh: the boundary of tetrahedra, the volume and centroid of a closed surface.

use super::mesh::{MeshError, SurfaceMesh, VolumeMesh, check_indices};
use super::tetrahedra::TET_FACES;
use crate::math::{Matrix3, Vector3};

/// The area of a surface \[m2\].
pub(crate) fn area(surface: &SurfaceMesh) -> f64 {
    let corners = |triangle: &[u32; 3]| triangle.map(|vertex| surface.vertices[vertex as usize]);
    surface.triangles.iter().map(corners).map(|[a, b, c]| 0.5 * (b - a).cross(&(c - a)).norm()).sum()
}

/// Volume \[m3\] and centroid \[m\] of a closed surface; if the volume is zero, the mean of the vertices
/// instead of the centroid.
pub fn centroid(mesh: &SurfaceMesh) -> (f64, Vector3) {
    let mean = mesh.vertices.iter().sum::<Vector3>() / mesh.vertices.len().max(1) as f64;
    let mut six_volumes = 0.0;
    let mut moment = Vector3::zeros();
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|vertex| mesh.vertices[vertex as usize] - mean);
        let six_volume = a.cross(&b).dot(&c);
        six_volumes += six_volume;
        moment += (a + b + c) * six_volume;
    }
    if six_volumes == 0.0 {
        return (0.0, mean);
    }
    (six_volumes / 6.0, mean + moment / (4.0 * six_volumes))
}

/// Volume \[m3\] and centroid \[m\] of a closed surface, and the integral of x x^T over its inside about the
/// centroid \[m5\]. Each triangle spans a tetrahedron with the centroid. The integral over one with the
/// corners 0, a, b, c and the volume V is V/20 ((a + b + c)(a + b + c)^T + a a^T + b b^T + c c^T).
pub fn second_moments(mesh: &SurfaceMesh) -> (f64, Vector3, Matrix3) {
    let (volume, centroid) = centroid(mesh);
    let mut second = Matrix3::zeros();
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|vertex| mesh.vertices[vertex as usize] - centroid);
        let (six_volume, sum) = (a.cross(&b).dot(&c), a + b + c);
        let squares = sum * sum.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose();
        second += squares * (six_volume / 120.0);
    }
    (volume, centroid, second)
}

/// The boundary of a volume mesh: the faces that belong to one tetrahedron only, counter-clockwise from
/// outside, with their vertices in the order of the mesh.
///
/// # Errors
/// An index out of range.
pub fn boundary(mesh: &VolumeMesh) -> Result<SurfaceMesh, MeshError> {
    check_indices(mesh.tets.iter().map(|tet| tet.as_slice()), mesh.vertices.len())?;
    let triangles = boundary_faces(mesh);
    let mut number = vec![u32::MAX; mesh.vertices.len()];
    for vertex in triangles.iter().flatten() {
        number[*vertex as usize] = 0;
    }
    let mut vertices = Vec::new();
    for (old, new) in number.iter_mut().enumerate().filter(|(_, new)| **new == 0) {
        *new = vertices.len() as u32;
        vertices.push(mesh.vertices[old]);
    }
    let renumber = |triangle: &[u32; 3]| triangle.map(|vertex| number[vertex as usize]);
    Ok(SurfaceMesh { vertices, triangles: triangles.iter().map(renumber).collect() })
}

/// The faces that belong to one tetrahedron only, in the order of tetrahedra, as vertex numbers of the mesh.
pub(super) fn boundary_faces(mesh: &VolumeMesh) -> Vec<[u32; 3]> {
    boundary_faces_of(mesh).into_iter().map(|(_, corners)| corners).collect()
}

/// The same faces with the numbers of their tetrahedra.
pub(super) fn boundary_faces_of(mesh: &VolumeMesh) -> Vec<(usize, [u32; 3])> {
    let key_of = |tet: &[u32; 4], face: [usize; 3]| {
        let mut key = face.map(|corner| tet[corner]);
        key.sort_unstable();
        key
    };
    // Equal faces have the same smallest vertex: they are sorted into one bucket for each vertex.
    let mut ends = vec![0_u32; mesh.vertices.len() + 1];
    for tet in &mesh.tets {
        TET_FACES.iter().for_each(|face| ends[key_of(tet, *face)[0] as usize + 1] += 1);
    }
    for vertex in 1..ends.len() {
        ends[vertex] += ends[vertex - 1];
    }
    let starts = ends.clone();
    let mut buckets = vec![([0_u32; 2], 0_u32); 4 * mesh.tets.len()];
    for (element, tet) in mesh.tets.iter().enumerate() {
        for (number, face) in TET_FACES.iter().enumerate() {
            let [first, second, third] = key_of(tet, *face);
            let at = &mut ends[first as usize];
            buckets[*at as usize] = ([second, third], (4 * element + number) as u32);
            *at += 1;
        }
    }
    let mut single: Vec<(u32, [u32; 3], usize)> = Vec::new();
    for first in 0..mesh.vertices.len() {
        let bucket = &mut buckets[starts[first] as usize..ends[first] as usize];
        bucket.sort_unstable();
        for same in bucket.chunk_by(|x, y| x.0 == y.0) {
            if let [([second, third], face)] = same {
                single.push((face / 4, [first as u32, *second, *third], (face % 4) as usize));
            }
        }
    }
    single.sort_unstable();
    let corners = |(element, _, face): &(u32, [u32; 3], usize)| {
        let tet = mesh.tets[*element as usize];
        let [a, b, c, d] = tet.map(|vertex| mesh.vertices[vertex as usize]);
        let [first, second, third] = TET_FACES[*face].map(|corner| tet[corner]);
        let is_turned = (b - a).cross(&(c - a)).dot(&(d - a)) < 0.0;
        (*element as usize, if is_turned { [first, third, second] } else { [first, second, third] })
    };
    single.iter().map(corners).collect()
}
