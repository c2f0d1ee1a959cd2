//! Contact of two convex shapes: finds the axis of least overlap, and clips the faces that look along that
//! axis against each other.

use super::clip::{Feature, clip_features};
use super::points::PointContact;
use super::polytope::Polytope;
use super::shape::{Kind, RigidShape};
use super::workspace::RigidWorkspace;
use crate::geometry::signed_distance::{Witness, WitnessSearch};
use crate::math::{RigidTransform, Vector3};

/// All separating axes are tried for up to this many pairs of edge directions, as boxes and prisms have.
/// Other shapes go through GJK and EPA.
const AXIS_PAIRS_MAX: usize = 64;
/// An edge-edge axis replaces the best face axis only if its separation is larger by this share of the size.
/// Rounding then does not tilt the normal of two parallel faces. [-]
const FACE_PREFERENCE: f64 = 1e-9;
/// A contact normal this close to the normal of a face is replaced by the face's normal: GJK loses most
/// digits of the direction between shapes that nearly touch. \[rad\]
const FACE_SNAP: f64 = 1e-4;
/// Shapes nearer than this share of the size touch: GJK knows their distance only up to rounding of the
/// places of its points. [-]
const TOUCH: f64 = 1e-6;
/// An overlap deeper than this share of the size may be the way out on a wrong side. [-]
const SHALLOW: f64 = 1e-4;
/// GJK ends when it knows the distance up to this share. [-]
const DISTANCE_ERROR: f64 = 1e-6;
/// Shapes that overlap are searched again after a retreat of these shares of the distance of their centres.
/// [-]
const RETREATS: [f64; 2] = [1e-6, 1e-3];
/// Segments closer than this share of their lengths are taken as crossing. [-]
const CROSSING: f64 = 1e-12;
/// Corners of the polygon that represents the end of a cylinder.
const END_CORNERS: usize = 16;

/// Contact points of two convex shapes other than spheres.
pub(super) fn points(
    A: &RigidShape,
    X_WA: &RigidTransform,
    B: &RigidShape,
    X_WB: &RigidTransform,
    detection: f64,
    workspace: &mut RigidWorkspace,
) {
    let X_AB = X_WA.inv_mul(X_WB);
    let (Some((_, radius_A)), Some((_, radius_B))) = (A.core(), B.core()) else { return };
    let RigidWorkspace { found, feature_A, feature_B, scratch, search } = workspace;
    let radii = radius_A + radius_B;
    let Some(mut witness) = deepest(A, B, &X_AB, detection + radii, search) else { return };
    face_each_other(A, B, &X_AB, &witness.normal, feature_A, feature_B);
    let mut is_corrected = false;
    if !has_closed_form(A, B) {
        let (size, mut along) = (A.radius.min(B.radius), separation(feature_A, feature_B, &witness.normal));
        let rounding = FACE_PREFERENCE * size + DISTANCE_ERROR * witness.phi.abs();
        if witness.phi.abs() < TOUCH * size && along >= witness.phi - rounding {
            witness.phi = along;
        }
        // A wide face may lean against the normal if that is the one of the other face
        let leaning = if is_of_face(A, B, &X_AB, &witness.normal) { FACE_SNAP * (A.radius + B.radius) } else { 0.0 };
        if along < (witness.phi - rounding - leaning).max(-SHALLOW * size) {
            for share in RETREATS {
                let Some(other) = after_retreat(A, B, &X_AB, share, search) else { continue };
                face_each_other(A, B, &X_AB, &other.normal, feature_A, feature_B);
                let other_along = separation(feature_A, feature_B, &other.normal);
                if other_along > along + rounding + leaning {
                    (along, is_corrected) = (other_along, true);
                    witness = Witness { phi: along, ..other };
                }
            }
            face_each_other(A, B, &X_AB, &witness.normal, feature_A, feature_B);
        }
    }
    witness.phi -= radii;
    if witness.phi >= detection {
        return;
    }
    let n = witness.normal;
    let first = found.len();
    clip_features(feature_A, feature_B, (radius_A, radius_B), &n, (f64::INFINITY, detection), scratch, found);
    let least = found[first..].iter().map(|point| point.phi).fold(f64::INFINITY, f64::min);
    let is_deeper = witness.phi < least - FACE_PREFERENCE * A.radius.min(B.radius);
    if is_deeper && (!is_corrected || found.len() == first) {
        let p = 0.5 * (witness.p_A + n * radius_A + witness.p_B - n * radius_B);
        found.push(PointContact { p, normal: n, phi: witness.phi });
    }
    for point in &mut found[first..] {
        point.p = X_WA.rotation * point.p + X_WA.translation.vector;
        point.normal = X_WA.rotation * point.normal;
    }
}

/// The parts of the two shapes that look along `n` \[A's frame\] and against it, both in A's frame.
fn face_each_other(
    A: &RigidShape,
    B: &RigidShape,
    X_AB: &RigidTransform,
    n: &Vector3,
    feature_A: &mut Feature,
    feature_B: &mut Feature,
) {
    support(A, n, feature_A);
    support(B, &(X_AB.rotation.inverse() * -n), feature_B);
    for point in &mut feature_B.points {
        *point = X_AB.rotation * *point + X_AB.translation.vector;
    }
    feature_B.normal = feature_B.normal.map(|normal| X_AB.rotation * normal);
}

/// The distance of two planes across `n` that touch the features of [`face_each_other`] \[m\]: exact for any
/// direction, and at most the signed distance of the shapes.
fn separation(feature_A: &Feature, feature_B: &Feature, n: &Vector3) -> f64 {
    let high = feature_A.points.iter().map(|p| n.dot(p)).fold(f64::NEG_INFINITY, f64::max);
    let low = feature_B.points.iter().map(|p| n.dot(p)).fold(f64::INFINITY, f64::min);
    low - high
}

/// The axis of two shapes that touch or overlap, found after B has retreated from A by a `share` of the
/// distance of their centres. Shapes that touch are then apart, because the line of the centres crosses the
/// plane between them. If the origin lies on the border of the difference of two shapes, GJK ends with any
/// direction, and EPA with a way out on the far side.
fn after_retreat(
    A: &RigidShape,
    B: &RigidShape,
    X_AB: &RigidTransform,
    share: f64,
    search: &mut WitnessSearch,
) -> Option<Witness> {
    let ((core_A, _), (core_B, _)) = (A.core()?, B.core()?);
    let retreat = (X_AB.rotation * B.center + X_AB.translation.vector - A.center) * share;
    let mut X = *X_AB;
    X.translation.vector += retreat;
    let witness = core_A.witness(core_B, &X, f64::INFINITY, search)?;
    let normal = snapped(A, B, X_AB, &witness.normal).unwrap_or(witness.normal);
    Some(Witness { normal, p_B: witness.p_B - retreat, ..witness })
}

/// Whether [`deepest`] takes neither GJK nor EPA.
fn has_closed_form(A: &RigidShape, B: &RigidShape) -> bool {
    match (&A.kind, &B.kind) {
        (Kind::Polytope { polytope: a, .. }, Kind::Polytope { polytope: b, .. }) => has_few_axes(a, b),
        (Kind::Capsule { .. }, Kind::Capsule { .. }) => true,
        _ => false,
    }
}

fn has_few_axes(a: &Polytope, b: &Polytope) -> bool {
    a.edge_directions.len() * b.edge_directions.len() <= AXIS_PAIRS_MAX
}

/// The axis of least overlap or largest distance, with the deepest points along it.
fn deepest(
    A: &RigidShape,
    B: &RigidShape,
    X_AB: &RigidTransform,
    distance: f64,
    search: &mut WitnessSearch,
) -> Option<Witness> {
    if let (Kind::Polytope { polytope: a, .. }, Kind::Polytope { polytope: b, .. }) = (&A.kind, &B.kind)
        && has_few_axes(a, b)
    {
        return separating_axis(a, b, X_AB, distance, A.radius.min(B.radius));
    }
    if let (Kind::Capsule { half: a, .. }, Kind::Capsule { half: b, .. }) = (&A.kind, &B.kind) {
        return Some(segments(*a, *b, X_AB)).filter(|witness| witness.phi < distance);
    }
    let ((core_A, _), (core_B, _)) = (A.core()?, B.core()?);
    let mut witness = core_A.witness(core_B, X_AB, distance, search)?;
    if let Some(normal) = snapped(A, B, X_AB, &witness.normal) {
        witness.normal = normal;
        witness.phi = normal.dot(&(witness.p_B - witness.p_A));
    }
    Some(witness)
}

/// The nearest points of two segments along their z axes, of half lengths `a` and `b` \[m\] [Ericson 2005,
/// section 5.1.9]. If they cross, the normal is perpendicular to both.
fn segments(a: f64, b: f64, X_AB: &RigidTransform) -> Witness {
    let (axis_A, axis_B) = (Vector3::z(), X_AB.rotation * Vector3::z());
    let p_AB = X_AB.translation.vector;
    let (cosine, along_A, along_B) = (axis_A.dot(&axis_B), axis_A.dot(&p_AB), axis_B.dot(&p_AB));
    let sine_squared = axis_A.cross(&axis_B).norm_squared();
    let s = if sine_squared > 0.0 { ((along_A - cosine * along_B) / sine_squared).clamp(-a, a) } else { 0.0 };
    let t = (cosine * s - along_B).clamp(-b, b);
    let s = (along_A + cosine * t).clamp(-a, a);
    let (p_A, p_B) = (axis_A * s, p_AB + axis_B * t);
    let across = || axis_A.cross(&axis_B).try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vector3::x);
    let normal = (p_B - p_A).try_normalize(CROSSING * (a + b)).unwrap_or_else(across);
    Witness { p_A, p_B, normal, phi: normal.dot(&(p_B - p_A)) }
}

/// The normal of a face of A or B near `n`, or else the direction across the side of a cylinder.
fn snapped(A: &RigidShape, B: &RigidShape, X_AB: &RigidTransform, n: &Vector3) -> Option<Vector3> {
    let n_B = X_AB.rotation.inverse() * -n;
    let to_A = |n_B: Vector3| -(X_AB.rotation * n_B);
    let face = snap(A, n).or_else(|| snap(B, &n_B).map(to_A));
    let sides = || {
        let (a, b) = (across(A, n)?, across(B, &n_B)?);
        let between = Vector3::z().cross(&(X_AB.rotation * Vector3::z()));
        Some(between.try_normalize(FACE_SNAP).map_or(a, |axis| axis * axis.dot(&to_A(b)).signum()))
    };
    face.or_else(sides).or_else(|| across(A, n)).or_else(|| across(B, &n_B).map(to_A))
}

/// Whether `n` is the normal of a face of A, or against one of B.
fn is_of_face(A: &RigidShape, B: &RigidShape, X_AB: &RigidTransform, n: &Vector3) -> bool {
    snap(A, n).is_some() || snap(B, &(X_AB.rotation.inverse() * -n)).is_some()
}

/// The direction across the axis of a cylinder, if `n` is within [`FACE_SNAP`] of it.
fn across(shape: &RigidShape, n: &Vector3) -> Option<Vector3> {
    let is_side = matches!(shape.kind, Kind::Cylinder { .. }) && n.z.abs() < FACE_SNAP;
    is_side.then(|| Vector3::new(n.x, n.y, 0.0).normalize())
}

/// The normal of a face that looks along `n` within [`FACE_SNAP`].
fn snap(shape: &RigidShape, n: &Vector3) -> Option<Vector3> {
    let face = match &shape.kind {
        Kind::Polytope { polytope, semi_axes: None, .. } => polytope.support_face(n)?.normal,
        Kind::Cylinder { .. } if n.z.abs() > 0.5 => Vector3::new(0.0, 0.0, 1.0_f64.copysign(n.z)),
        _ => return None,
    };
    ((face - n).norm() < FACE_SNAP).then_some(face)
}

/// All separating axes of two polyhedra [Gottschalk et al. 1996]; `None` beyond `distance` \[m\].
fn separating_axis(a: &Polytope, b: &Polytope, X_AB: &RigidTransform, distance: f64, size: f64) -> Option<Witness> {
    let R_BA = X_AB.rotation.inverse();
    let p_AB = X_AB.translation.vector;
    // The largest separation, and its direction n from A into B, in A's frame.
    let mut best = (f64::NEG_INFINITY, Vector3::z());
    for face in &a.faces {
        let (low_B, _) = b.extent(&(R_BA * face.normal));
        let s = face.normal.dot(&p_AB) + low_B - face.reach;
        if s > best.0 {
            if s >= distance {
                return None;
            }
            best = (s, face.normal);
        }
    }
    let margin = FACE_PREFERENCE * size;
    for face in &b.faces {
        let n = -(X_AB.rotation * face.normal);
        let s = n.dot(&p_AB) - face.reach - a.extent(&n).1;
        if s > best.0 + margin {
            if s >= distance {
                return None;
            }
            best = (s, n);
        }
    }
    for direction_A in &a.edge_directions {
        for direction_B in &b.edge_directions {
            let Some(axis) = direction_A.cross(&(X_AB.rotation * direction_B)).try_normalize(1e-6) else { continue };
            let ((low_A, high_A), (low_B, high_B)) = (a.extent(&axis), b.extent(&(R_BA * axis)));
            let along = axis.dot(&p_AB);
            for (n, s) in [(axis, along + low_B - high_A), (-axis, low_A - along - high_B)] {
                if s > best.0 + margin {
                    if s >= distance {
                        return None;
                    }
                    best = (s, n);
                }
            }
        }
    }
    let (phi, normal) = best;
    let p_A = a.vertices[a.support(&normal)];
    let p_B = X_AB.rotation * b.vertices[b.support(&(R_BA * -normal))] + p_AB;
    Some(Witness { p_A, p_B, normal, phi })
}

/// The part of the surface that looks along `n`, both in the shape's frame.
fn support(shape: &RigidShape, n: &Vector3, feature: &mut Feature) {
    feature.clear();
    match &shape.kind {
        Kind::Capsule { half, .. } => {
            feature.points.extend([Vector3::new(0.0, 0.0, -half), Vector3::new(0.0, 0.0, *half)]);
        }
        Kind::Cylinder { radius, half, .. } => {
            let lateral = Vector3::new(n.x, n.y, 0.0).try_normalize(1e-12).unwrap_or_else(Vector3::x);
            let end = half.copysign(n.z);
            if n.z.abs() > std::f64::consts::FRAC_1_SQRT_2 {
                let beside = Vector3::z().cross(&lateral);
                feature.points.extend((0..END_CORNERS).map(|i| {
                    let (sin, cos) = (std::f64::consts::TAU * i as f64 / END_CORNERS as f64).sin_cos();
                    (lateral * cos + beside * sin) * *radius + Vector3::new(0.0, 0.0, end)
                }));
                feature.normal = Some(Vector3::new(0.0, 0.0, 1.0_f64.copysign(n.z)));
            } else {
                let ends = [-half, *half].map(|z| lateral * *radius + Vector3::new(0.0, 0.0, z));
                feature.points.extend(ends);
            }
        }
        Kind::Polytope { polytope, .. } => {
            if let Some(face) = polytope.support_face(n) {
                feature.points.extend(face.corners.iter().map(|corner| polytope.vertices[*corner as usize]));
                feature.normal = Some(face.normal);
            }
        }
        Kind::HalfSpace | Kind::Sphere { .. } | Kind::Mesh => {}
    }
}
