//! Spheres against all shapes except half spaces.

use super::fans::Part;
use super::points::PointContact;
use super::shape::{Kind, RigidShape};
use super::workspace::RigidWorkspace;
use crate::geometry::Aabb;
use crate::math::{RigidTransform, Vector3};

/// The contact of a ball about `center` \[m\] with the surface point `nearest`; the normal points from the
/// ball into the other shape.
fn contact(center: &Vector3, radius: f64, nearest: &Vector3, inside: bool) -> PointContact {
    let to = nearest - center;
    let distance = to.norm();
    let outward = if distance > 0.0 { to / distance } else { -Vector3::z() };
    let (normal, distance) = if inside { (-outward, -distance) } else { (outward, distance) };
    let phi = distance - radius;
    PointContact { p: center + normal * (radius + 0.5 * phi), normal, phi }
}

/// A ball, A, against a convex shape.
pub(super) fn against_convex(
    radius: f64,
    X_WA: &RigidTransform,
    B: &RigidShape,
    X_WB: &RigidTransform,
    detection: f64,
    workspace: &mut RigidWorkspace,
) {
    let center = X_WB.inverse_transform_point(&X_WA.translation.vector.into()).coords;
    let (nearest, inside, rounding) = match &B.kind {
        Kind::Sphere { radius } => (Vector3::zeros(), false, *radius),
        Kind::Capsule { radius, half, .. } => (Vector3::new(0.0, 0.0, center.z.clamp(-half, *half)), false, *radius),
        Kind::Cylinder { core, .. } | Kind::Polytope { core, .. } => {
            let (nearest, inside) = core.nearest(&center);
            (nearest, inside, 0.0)
        }
        Kind::HalfSpace | Kind::Mesh => return,
    };
    let mut point = contact(&center, radius, &nearest, inside);
    point.phi -= rounding;
    point.p -= point.normal * (0.5 * rounding);
    if point.phi < detection {
        workspace.found.push(to_world(&point, X_WB));
    }
}

fn to_world(point: &PointContact, X_WG: &RigidTransform) -> PointContact {
    PointContact {
        p: X_WG.rotation * point.p + X_WG.translation.vector,
        normal: X_WG.rotation * point.normal,
        phi: point.phi,
    }
}

/// A mesh, A, against a ball, B: the nearest point of the mesh, and the nearest point of every face, edge and
/// corner that is nearer to the ball's centre than all around it.
pub(super) fn against_mesh(
    A: &RigidShape,
    X_WA: &RigidTransform,
    radius: f64,
    X_WB: &RigidTransform,
    detection: f64,
    workspace: &mut RigidWorkspace,
) {
    let Some(surface) = &A.surface else { return };
    let center = X_WA.inverse_transform_point(&X_WB.translation.vector.into()).coords;
    let reach = Vector3::repeat(radius + detection);
    let bounds = Aabb { min: center - reach, max: center + reach };
    let slack = 1e-12 * reach.x * reach.x;
    let (mut best, mut best_height) = (None::<(f64, f64, Vector3)>, 0.0_f64);
    let found = &mut workspace.found;
    let mut push = |nearest: &Vector3, inside: bool| {
        let mut point = contact(&center, radius, nearest, inside);
        point.normal = -point.normal; // from the mesh into the ball
        if point.phi < detection {
            found.push(to_world(&point, X_WA));
        }
    };
    surface.bvh().walk(
        |node| node.overlaps(&bounds),
        |element, _| {
            let corners = surface.corners(element);
            let normal = surface.normals()[element as usize];
            let (nearest, part) = nearest_on_triangle(&center, &corners);
            let to = center - nearest;
            let (distance, height) = (to.norm(), normal.dot(&to));
            let looks = match part {
                Part::Face => height >= 0.0,
                _ if distance >= reach.x => false,
                _ => A.fans.faces(surface.mesh(), surface.normals(), (element, part), (&center, &nearest), slack),
            };
            if looks {
                push(&nearest, false);
            }
            // Of the faces at the nearest edge, the one whose normal is closest to the centre's direction
            // separates inside from outside.
            let nearer = |(least, _, _): (f64, f64, Vector3)| distance < least - 1e-12 * reach.x;
            let as_near =
                |(least, most, _): (f64, f64, Vector3)| distance < least + 1e-12 * reach.x && height.abs() > most;
            if best.is_none_or(|best| nearer(best) || as_near(best)) {
                best = Some((distance, height.abs(), nearest));
                best_height = height;
            }
        },
    );
    if let Some((_, _, nearest)) = best {
        push(&nearest, best_height < 0.0);
    }
}

/// The point of the triangle nearest to `p`, and the part on which it lies [Ericson 2005, section 5.1.5].
fn nearest_on_triangle(p: &Vector3, [a, b, c]: &[Vector3; 3]) -> (Vector3, Part) {
    let (ab, ac) = (b - a, c - a);
    let at = |q: &Vector3| (ab.dot(&(p - q)), ac.dot(&(p - q)));
    let ((d1, d2), (d3, d4), (d5, d6)) = (at(a), at(b), at(c));
    let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    let ratio = |x: f64, y: f64| if x + y > 0.0 { x / (x + y) } else { 0.0 };
    if d1 <= 0.0 && d2 <= 0.0 {
        (*a, Part::Corner(0))
    } else if d3 >= 0.0 && d4 <= d3 {
        (*b, Part::Corner(1))
    } else if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        (a + ab * ratio(d1, -d3), Part::Edge(0))
    } else if d6 >= 0.0 && d5 <= d6 {
        (*c, Part::Corner(2))
    } else if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        (a + ac * ratio(d2, -d6), Part::Edge(2))
    } else if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        (b + (c - b) * ratio(d4 - d3, d5 - d6), Part::Edge(1))
    } else {
        let sum = va + vb + vc;
        match sum > 0.0 {
            true => (a + ab * (vb / sum) + ac * (vc / sum), Part::Face),
            false => (*a, Part::Corner(0)),
        }
    }
}
