//! Volume meshes as given: pressures from the distance to their boundary, and margins.

use crate::geometry::mesh_measure::boundary_faces;
use crate::geometry::surface_check::Position;
use crate::geometry::surface_distance::SurfaceDistance;
use crate::geometry::{GeometryError, SurfaceMesh, VolumeMesh};
use crate::math::Vector3;

/// Sweeps of the projection onto the planes around a vertex; the corner of a cube needs one, a blunt tip a
/// few.
const INFLATION_SWEEPS: usize = 50;
/// A given pressure counts as 0 up to this share of the largest. [-]
const PRESSURE_TOLERANCE: f64 = 1e-3;

/// The largest distance of a vertex to the boundary \[m\], and the pressure \[Pa\] at each vertex: `modulus`
/// times the distance over the largest.
///
/// # Errors
/// A mesh whose vertices all lie on its boundary.
pub fn distance_pressure(mesh: &VolumeMesh, modulus: f64) -> Result<(f64, Vec<f64>), GeometryError> {
    crate::geometry::mesh::check_indices(mesh.tets.iter().map(|tet| tet.as_slice()), mesh.vertices.len())?;
    let border = SurfaceMesh { vertices: mesh.vertices.clone(), triangles: boundary_faces(mesh) };
    // A vertex that no tetrahedron uses is not inside.
    let mut inside = vec![false; mesh.vertices.len()];
    mesh.tets.iter().flatten().for_each(|vertex| inside[*vertex as usize] = true);
    border.triangles.iter().flatten().for_each(|vertex| inside[*vertex as usize] = false);
    if border.triangles.is_empty() || !inside.contains(&true) {
        return Err(GeometryError::NoInteriorVertex);
    }
    let surface = SurfaceDistance::new(&border);
    let mut guess = 0;
    let distances: Vec<f64> = mesh
        .vertices
        .iter()
        .zip(&inside)
        .map(|(point, inside)| if *inside { surface.nearest(point, &mut guess).distance } else { 0.0 })
        .collect();
    let depth = distances.iter().copied().fold(0.0, f64::max);
    if !(depth > 0.0 && depth.is_finite()) {
        return Err(GeometryError::NoInteriorVertex);
    }
    Ok((depth, distances.iter().map(|distance| modulus * distance / depth).collect()))
}

/// Moves the boundary vertices `margin` \[m\] outward and continues the pressure below zero there. `slope`
/// is that of the pressure everywhere inside [Pa/m].
pub(super) fn inflate(mesh: &mut VolumeMesh, pressure: &mut [f64], slope: f64, margin: f64) {
    if margin == 0.0 {
        return;
    }
    let faces = boundary_faces(mesh);
    for (vertex, shift) in outward_shifts(&mesh.vertices, &faces).into_iter().enumerate() {
        if let Some(shift) = shift {
            mesh.vertices[vertex] += shift * margin;
            if let Some(pressure) = pressure.get_mut(vertex) {
                *pressure -= slope * margin;
            }
        }
    }
}

/// Refuses pressures that make no contact: negative ones, and others than 0 on the boundary.
pub(super) fn check_pressure(mesh: &VolumeMesh, pressure: &[f64]) -> Result<(), GeometryError> {
    let allowed = PRESSURE_TOLERANCE * pressure.iter().copied().fold(0.0, f64::max);
    let named = |vertex: usize| (vertex, Position(mesh.vertices[vertex]), pressure[vertex]);
    let worst = |vertices: &mut dyn Iterator<Item = usize>| {
        let off = |vertex: &usize| pressure.get(*vertex).map_or(0.0, |p| p.abs());
        vertices.filter(|vertex| off(vertex) > allowed).max_by(|a, b| off(a).total_cmp(&off(b)).then(b.cmp(a)))
    };
    let all = mesh.vertices.len().min(pressure.len());
    if let Some(vertex) = worst(&mut (0..all).filter(|vertex| pressure[*vertex] < 0.0)) {
        let (vertex, at, pressure) = named(vertex);
        return Err(GeometryError::NegativePressure { vertex, at, pressure });
    }
    if let Some(vertex) = worst(&mut boundary_faces(mesh).iter().flatten().map(|vertex| *vertex as usize)) {
        let (vertex, at, pressure) = named(vertex);
        return Err(GeometryError::BoundaryPressure { vertex, at, pressure });
    }
    Ok(())
}

/// For each vertex of a closed surface, the shift u that moves the planes of its triangles one unit outward:
/// n . u >= 1 for each of them. It is found by projection onto each plane in turn; where three planes meet,
/// this ends at their corner. `None` for a vertex without triangles.
pub(super) fn outward_shifts(vertices: &[Vector3], triangles: &[[u32; 3]]) -> Vec<Option<Vector3>> {
    let mut normals: Vec<Vec<Vector3>> = vec![Vec::new(); vertices.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| vertices[vertex as usize]);
        if let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) {
            for vertex in triangle {
                normals[*vertex as usize].push(normal);
            }
        }
    }
    normals
        .iter()
        .map(|normals| {
            let mut shift = *normals.first()?;
            for _ in 0..INFLATION_SWEEPS {
                for normal in normals {
                    let short = 1.0 - normal.dot(&shift);
                    if short > 0.0 {
                        shift += normal * short;
                    }
                }
            }
            Some(shift)
        })
        .collect()
}
