//! Winding numbers of surfaces that need not be closed, from solid angles.
//!
//! The winding number of a point is the sum of the signed solid angles under which it sees the triangles,
//! over 4 pi [Jacobson et al. 2013]: 1 inside a closed surface, 0 outside, and in between near holes, where
//! the surface on which it is 1/2 spans the hole like a membrane. Triangles far away act like one dipole
//! [Barill et al. 2018, first order]: w = N . (p - q) / (4 pi |p - q|^3) with the sum N of their area vectors
//! and their centre p.

use std::f64::consts::PI;

use super::bvh::{Bounds, Bvh};
use super::{Aabb, SurfaceMesh};
use crate::math::Vector3;

/// A group of triangles acts like a dipole from this many times its radius on. The next order is at most the
/// square of radius over distance, here 4 %, of the group's own solid angle. [-]
const FAR: f64 = 5.0;

/// A group of triangles: its box, area, and the moments of its dipole.
#[derive(Clone, Copy)]
struct Group {
    bounds: Aabb,
    /// \[m²\]
    area: f64,
    /// Integral of the position over the area \[m³\].
    moment: Vector3,
    /// Sum of the area vectors \[m²\].
    area_vector: Vector3,
}

impl Bounds for Group {
    fn union(&self, other: &Self) -> Self {
        Self {
            bounds: self.bounds.union(&other.bounds),
            area: self.area + other.area,
            moment: self.moment + other.moment,
            area_vector: self.area_vector + other.area_vector,
        }
    }
    fn center(&self) -> Vector3 {
        self.bounds.center()
    }
}

/// Triangles, prepared for winding numbers at any point.
pub(crate) struct SolidAngles<'a> {
    mesh: &'a SurfaceMesh,
    tree: Bvh<Group>,
}

impl<'a> SolidAngles<'a> {
    /// The winding numbers around a mesh with indices in range.
    pub(crate) fn new(mesh: &'a SurfaceMesh) -> Self {
        let group = |triangle: &[u32; 3]| {
            let corners = triangle.map(|vertex| mesh.vertices[vertex as usize]);
            let [a, b, c] = corners;
            let area_vector = (b - a).cross(&(c - a)) * 0.5;
            let area = area_vector.norm();
            Group { bounds: Aabb::around(&corners), area, moment: (a + b + c) * (area / 3.0), area_vector }
        };
        let groups = mesh.triangles.iter().enumerate().map(|(k, triangle)| (k as u32, group(triangle)));
        Self { mesh, tree: Bvh::new(groups) }
    }

    /// The winding number of a point.
    pub(crate) fn at(&self, point: &Vector3) -> f64 {
        let (mut far, mut near) = (0.0, 0.0);
        self.tree.walk(
            |group| {
                if group.area == 0.0 {
                    return false;
                }
                let center = group.moment / group.area;
                let radius = (group.bounds.max - center).sup(&(center - group.bounds.min)).norm();
                let along = center - point;
                let distance = along.norm();
                if distance <= FAR * radius {
                    return true;
                }
                far += group.area_vector.dot(&along) / distance.powi(3);
                false
            },
            |triangle, _| {
                let corners = self.mesh.triangles[triangle as usize].map(|v| self.mesh.vertices[v as usize] - point);
                near += solid_angle(&corners);
            },
        );
        (far + near) / (4.0 * PI)
    }
}

/// The signed solid angle of a triangle seen from the origin \[sr\], positive from behind [Van Oosterom &
/// Strackee 1983].
fn solid_angle([a, b, c]: &[Vector3; 3]) -> f64 {
    let (x, y, z) = (a.norm(), b.norm(), c.norm());
    let beside = x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y;
    2.0 * a.dot(&b.cross(c)).atan2(beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lower half of a ball of radius 1, closed or not by a disk.
    fn half_ball(closed: bool) -> SurfaceMesh {
        let (rings, sectors) = (16_u32, 32_u32);
        let mut mesh = SurfaceMesh { vertices: vec![Vector3::new(0.0, 0.0, -1.0)], triangles: Vec::new() };
        for i in 1..=rings {
            let polar = 0.5 * PI * f64::from(i) / f64::from(rings);
            for j in 0..sectors {
                let turn = 2.0 * PI * f64::from(j) / f64::from(sectors);
                mesh.vertices.push(Vector3::new(polar.sin() * turn.cos(), polar.sin() * turn.sin(), -polar.cos()));
            }
        }
        let at = |i: u32, j: u32| if i == 0 { 0 } else { 1 + (i - 1) * sectors + j % sectors };
        for i in 0..rings {
            for j in 0..sectors {
                mesh.triangles.push([at(i, j), at(i + 1, j + 1), at(i + 1, j)]);
                if i > 0 {
                    mesh.triangles.push([at(i, j), at(i, j + 1), at(i + 1, j + 1)]);
                }
            }
        }
        if closed {
            let top = mesh.vertices.len() as u32;
            mesh.vertices.push(Vector3::zeros());
            (0..sectors).for_each(|j| mesh.triangles.push([at(rings, j), at(rings, j + 1), top]));
        }
        mesh
    }

    /// Inside a closed surface the winding number is 1 and outside 0, up to the error of the dipoles.
    #[test]
    fn a_closed_surface_winds_once() {
        let mesh = half_ball(true);
        let angles = SolidAngles::new(&mesh);
        for (z, expected) in [(-0.98, 1.0), (-0.5, 1.0), (-0.02, 1.0), (0.02, 0.0), (-1.01, 0.0), (3.0, 0.0)] {
            let winding = angles.at(&Vector3::new(0.01, 0.02, z));
            assert!((winding - expected).abs() < 0.01, "z = {z}: {winding}");
        }
    }

    /// On the axis of an open half ball, at height z, the missing disk has the solid angle 2 pi (1 - |z| /
    /// sqrt(1 + z^2)): the winding number inside is 1 less its share of 4 pi.
    #[test]
    fn a_hole_takes_its_solid_angle_away() {
        let mesh = half_ball(false);
        let angles = SolidAngles::new(&mesh);
        for z in [-0.9_f64, -0.5, -0.1] {
            let winding = angles.at(&Vector3::new(0.0, 0.0, z));
            let expected = 1.0 - 0.5 * (1.0 - z.abs() / (1.0 + z * z).sqrt());
            assert!((winding - expected).abs() < 0.01, "z = {z}: {winding} instead of {expected}");
        }
    }
}
