//! Contact points between two rigid shapes, which have no pressure field and so no contact surface.
//!
//! - Half spaces: the vertices and rims below the plane, exactly.
//! - Spheres: the nearest point of the other shape, exactly; against a mesh, of each face, convex edge and
//!   corner that the ball reaches.
//! - Convex shapes: the axis of least overlap (separating axes between boxes, GJK and EPA elsewhere), and the
//!   two faces that face each other along it, clipped against each other. This covers cylinders, capsules,
//!   hulls of meshes and convex meshes.
//! - Other meshes: every pair of near faces that face each other, each treated as a small convex shape. If
//!   the surfaces cross deeply, faces behind each other count too, if nothing but the two bodies lies between
//!   them, and the shortest way out is taken. A mesh must be closed and oriented. Contact deeper than
//!   [`MESH_DEPTH`] times the radius of the smaller shape is not found.

mod beyond;
mod clip;
mod convex;
mod deep;
mod edge_cones;
mod fans;
mod half_space;
mod mesh_pair;
mod near_triangles;
mod offset;
mod points;
mod polytope;
mod reach;
#[cfg(test)]
mod samples;
mod shape;
mod sphere;
mod triangle;
mod vector_index;
mod workspace;

pub use beyond::{depth_beyond_reach, surfaces_cross};
pub use mesh_pair::MESH_DEPTH;
pub use points::PointContacts;
pub use shape::RigidShape;
pub use workspace::RigidWorkspace;

use points::PointContact;
use shape::Kind;

use crate::math::RigidTransform;

/// Points nearer than this share of the smaller shape's size, with the same normal, are merged. [-]
const SAME_POINT: f64 = 1e-6;
/// Normals with a larger cosine than this are the same. [-]
const SAME_NORMAL: f64 = 0.999;

/// Writes to `out` the points where the rigid shapes A and B overlap or are nearer than `detection` \[m\].
/// Swapping A and B reverses the normals. Two half spaces have no contact points.
pub fn contact_points(
    A: &RigidShape,
    X_WA: &RigidTransform,
    B: &RigidShape,
    X_WB: &RigidTransform,
    detection: f64,
    workspace: &mut RigidWorkspace,
    out: &mut PointContacts,
) {
    out.clear();
    workspace.found.clear();
    let swapped = A.order() > B.order();
    let (first, X_W1, second, X_W2) = if swapped { (B, X_WB, A, X_WA) } else { (A, X_WA, B, X_WB) };
    match (&first.kind, &second.kind) {
        (Kind::HalfSpace, _) => half_space::points(X_W1, second, X_W2, detection, workspace),
        (_, Kind::HalfSpace) => {}
        _ if !spheres_meet(first, X_W1, second, X_W2, detection) => {}
        (Kind::Mesh, Kind::Sphere { radius }) => {
            sphere::against_mesh(first, X_W1, *radius, X_W2, detection, workspace);
        }
        (Kind::Mesh, _) | (_, Kind::Mesh) => mesh_pair::points(first, X_W1, second, X_W2, detection, workspace),
        (Kind::Sphere { radius }, _) => sphere::against_convex(*radius, X_W1, second, X_W2, detection, workspace),
        _ => convex::points(first, X_W1, second, X_W2, detection, workspace),
    }
    let size = first.radius.min(second.radius);
    write_sorted(&mut workspace.found, size, if swapped { -1.0 } else { 1.0 }, out);
}

/// Whether the bounding spheres of the two shapes are closer than `detection` \[m\].
fn spheres_meet(A: &RigidShape, X_WA: &RigidTransform, B: &RigidShape, X_WB: &RigidTransform, detection: f64) -> bool {
    let between = (A.center_W(X_WA) - B.center_W(X_WB)).norm();
    between <= A.radius + B.radius + detection
}

/// Sorts by position, keeps the deepest of points that are merged, and writes the result with normals times
/// `sign`.
fn write_sorted(found: &mut [PointContact], size: f64, sign: f64, out: &mut PointContacts) {
    let near = SAME_POINT * size;
    found.sort_unstable_by(|a, b| {
        let by = |i: usize| a.p[i].total_cmp(&b.p[i]);
        by(0).then(by(1)).then(by(2)).then(a.phi.total_cmp(&b.phi)).then_with(|| {
            let by = |i: usize| a.normal[i].total_cmp(&b.normal[i]);
            by(0).then(by(1)).then(by(2))
        })
    });
    for point in found.iter() {
        let normal = point.normal * sign;
        let twin = (0..out.len())
            .rev()
            .take_while(|i| point.p.x - out.p_WC[*i].x <= near)
            .find(|i| (point.p - out.p_WC[*i]).norm() <= near && out.normal[*i].dot(&normal) > SAME_NORMAL);
        match twin {
            Some(i) => {
                if point.phi < out.phi[i] {
                    (out.normal[i], out.phi[i]) = (normal, point.phi);
                }
            }
            None => {
                out.p_WC.push(point.p);
                out.normal.push(normal);
                out.phi.push(point.phi);
            }
        }
    }
}
