//! The force of a contact surface is a continuous function of the poses: the motion bounds its change, also
//! where patches split, merge, appear elsewhere and vanish.
//!
//! **The law.** Let the pressure field of A be continuous, and zero on A's boundary. The force on B is the
//! integral of p n over the surface of equal pressure, which together with parts of A's boundary, where p_A =
//! 0, bounds the region Omega: the part of A inside B where p_B > p_A (all of it where B is rigid). So by the
//! divergence theorem
//!   F = -+ integral over Omega of grad p_A dV.
//! Seen from A, a motion of B by u changes p_B by grad p_B . u, so the surface moves by |grad p_B . u| /
//! |grad p_B - grad p_A|, and along the normal the gradients' difference is g_A + g_B (both are the slopes
//! into their geometries). Hence, to first order,
//!   |dF| <= sum over the faces of area |grad p_A| |grad p_B| |u| / (g_A + g_B),
//! and area |grad p_A| |u| where B is rigid. The torque has the same bound with the distance from A's origin
//! in each term. The bound has no fitted constant; [`SLACK`] allows for second-order terms within a step.

use isobar::contact::GRADIENT_MIN;
use isobar::geometry::fill::{FillSettings, fill};
use isobar::geometry::{
    ContactSurface, HydroelasticGeometry, HydroelasticWorkspace, Shape, SurfaceMesh, contact_surface,
};
use isobar::math::{RigidTransform, Rotation, SpatialForce, Vector3};

use crate::fill::surfaces::{ball, cuboid, ring};
use crate::geometry::build;

/// The bound may grow within a step by this share of itself: steps are a thousandth of a patch's size and
/// less. [-]
const SLACK: f64 = 0.05;
/// Forces are compared down to this [N]: rounding of newtons.
const FORCE_ROUNDING: f64 = 1e-12;
/// Corners of faces nearer than this are one [m].
const SAME_CORNER: f64 = 1e-10;
const MODULUS: f64 = 1e5;

fn at(x: f64, y: f64, z: f64) -> RigidTransform {
    RigidTransform::from_parts(Vector3::new(x, y, z).into(), Rotation::identity())
}

fn filled(surface: &SurfaceMesh, hint: f64) -> HydroelasticGeometry {
    let filling = fill(surface, &FillSettings { resolution_hint: Some(hint), ..FillSettings::default() }).unwrap();
    let pressure = filling.pressure(MODULUS);
    HydroelasticGeometry::from_volume(filling.mesh, pressure).unwrap()
}

/// Balls of 2 cm at x = +-`half_length` with a bar between them, one body.
fn two_bumps(half_length: f64) -> HydroelasticGeometry {
    let mut surface = SurfaceMesh::default();
    let bump = ball(0.02, 0.007);
    let bar = cuboid(Vector3::new(half_length, 0.005, 0.005));
    for (part, x) in [(&bump, -half_length), (&bar, 0.0), (&bump, half_length)] {
        let first = surface.vertices.len() as u32;
        surface.vertices.extend(part.vertices.iter().map(|p| p + Vector3::new(x, 0.0, 0.0)));
        surface.triangles.extend(part.triangles.iter().map(|triangle| triangle.map(|vertex| vertex + first)));
    }
    filled(&surface, 0.006)
}

/// Steepness of the pressure of `geometry` [Pa/m] in an element; infinite where it is rigid.
fn steepness(geometry: &HydroelasticGeometry, element: u32) -> f64 {
    match geometry {
        HydroelasticGeometry::CompliantVolume(field) => field.linear()[element as usize].gradient.norm(),
        HydroelasticGeometry::CompliantHalfSpace { stiffness, .. } => *stiffness,
        HydroelasticGeometry::RigidSurface(_) | HydroelasticGeometry::RigidHalfSpace => f64::INFINITY,
    }
}

/// The wrench of all faces on B, and that of the faces that a discrete step keeps.
fn wrenches(surface: &ContactSurface) -> (SpatialForce, SpatialForce) {
    let (mut full, mut kept) = (SpatialForce::ZERO, SpatialForce::ZERO);
    for face in 0..surface.len() {
        let f = surface.normal[face] * (surface.pressure[face] * surface.area[face]);
        let wrench = SpatialForce::new(surface.centroid[face].cross(&f), f);
        full += wrench;
        if surface.g_A[face] > GRADIENT_MIN && surface.g_B[face] > GRADIENT_MIN {
            kept += wrench;
        }
    }
    (full, kept)
}

/// The number of parts of the surface without common corners.
fn patches(surface: &ContactSurface) -> usize {
    let mut owner: Vec<usize> = (0..surface.len()).collect();
    fn root(owner: &mut [usize], mut face: usize) -> usize {
        while owner[face] != face {
            owner[face] = owner[owner[face]];
            face = owner[face];
        }
        face
    }
    let mut corners: Vec<(Vector3, usize)> =
        (0..surface.len()).flat_map(|face| surface.polygon(face).0.iter().map(move |p| (*p, face))).collect();
    corners.sort_unstable_by(|(p, _), (q, _)| p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)).then(p.z.total_cmp(&q.z)));
    for (i, (p, face)) in corners.iter().enumerate() {
        for (q, other) in corners[i + 1..].iter().take_while(|(q, _)| q.x - p.x <= SAME_CORNER) {
            if (q - p).norm() <= SAME_CORNER {
                let (a, b) = (root(&mut owner, *face), root(&mut owner, *other));
                owner[a.max(b)] = a.min(b);
            }
        }
    }
    (0..surface.len()).filter(|face| owner[*face] == *face).count()
}

/// The result of a path.
#[derive(Debug, Default)]
struct Report {
    /// Largest change of force in a step over the bound [-].
    force: f64,
    /// The same of the torque.
    torque: f64,
    /// The same of the force without the faces that a discrete step drops.
    kept_force: f64,
    /// The excess of a change of force over the bound [N], for all faces.
    excess: f64,
    /// The same of the faces that a discrete step keeps [N].
    kept_excess: f64,
    /// Largest sum of the faces' forces [N].
    peak: f64,
    /// The largest force of the faces that a discrete step leaves out, over the sum of all faces' forces [-].
    left_out: f64,
    /// Steps without contact, with one patch, with two, with more.
    steps: [u32; 4],
    /// The number of changes in the number of patches.
    changes: u32,
}

/// Moves B along `pose` (time 0 to 1) past A, which rests at the origin.
fn follow(
    name: &str,
    A: &HydroelasticGeometry,
    B: &HydroelasticGeometry,
    steps: u32,
    pose: impl Fn(f64) -> RigidTransform,
) -> Report {
    let mut workspace = HydroelasticWorkspace::default();
    let (mut surface, mut last) = (ContactSurface::new(), ContactSurface::new());
    let X_WA = RigidTransform::identity();
    let mut report = Report::default();
    let (mut X_last, mut last_patches) = (pose(0.0), None);
    for step in 0..=steps {
        let X_WB = pose(f64::from(step) / f64::from(steps));
        contact_surface(A, &X_WA, B, &X_WB, &mut workspace, &mut surface).unwrap();
        let (full, kept) = wrenches(&surface);
        let (before, kept_before) = wrenches(&last);
        let motion = X_WB * X_last.inverse();
        let bounds = |surface: &ContactSurface| {
            let (mut force, mut torque) = (0.0, 0.0);
            for face in 0..surface.len() {
                let center = surface.centroid[face];
                let moved = (motion * nalgebra::Point3::from(center)).coords;
                let (G_A, G_B) = (steepness(A, surface.element_A[face]), steepness(B, surface.element_B[face]));
                let slope = if G_B.is_finite() { G_A * G_B / (surface.g_A[face] + surface.g_B[face]) } else { G_A };
                let rate = surface.area[face] * slope * (moved - center).norm();
                force += rate;
                torque += rate * center.norm();
            }
            (force, torque)
        };
        let (now, then) = (bounds(&surface), bounds(&last));
        let share = |change: f64, bound: f64| change / (bound + FORCE_ROUNDING);
        if step > 0 {
            report.force = report.force.max(share((full.f - before.f).norm(), now.0.max(then.0)));
            report.torque = report.torque.max(share((full.tau - before.tau).norm(), now.1.max(then.1)));
            report.kept_force = report.kept_force.max(share((kept.f - kept_before.f).norm(), now.0.max(then.0)));
            let allowed = (1.0 + SLACK) * now.0.max(then.0);
            report.excess = report.excess.max((full.f - before.f).norm() - allowed);
            report.kept_excess = report.kept_excess.max((kept.f - kept_before.f).norm() - allowed);
        }
        let sum: f64 = surface.pressure.iter().zip(&surface.area).map(|(p, area)| p * area).sum();
        report.peak = report.peak.max(sum);
        if sum > FORCE_ROUNDING {
            report.left_out = report.left_out.max((full.f - kept.f).norm() / sum);
        }
        let count = patches(&surface);
        report.steps[count.min(3)] += 1;
        report.changes += u32::from(last_patches.is_some_and(|before| before != count));
        (X_last, last_patches) = (X_WB, Some(count));
        std::mem::swap(&mut surface, &mut last);
    }
    println!("{name}: {report:?}");
    report
}

impl Report {
    fn obeys(&self, name: &str) {
        assert!(self.force <= 1.0 + SLACK, "{name}: the force jumps: {self:?}");
        assert!(self.torque <= 1.0 + SLACK, "{name}: the torque jumps: {self:?}");
    }
}

const TAU: f64 = std::f64::consts::TAU;

/// A ball dips between two bumps: on one, on both, on none.
#[test]
fn force_is_continuous_while_patches_split_and_merge() {
    let pair = two_bumps(0.021);
    let shape = Shape::Sphere { radius: 0.015 };
    for (name, other) in [
        ("rigid ball on two bumps", build(&shape, None, Some(0.004))),
        ("soft ball on two bumps", build(&shape, Some(3e5), Some(0.007))),
    ] {
        let report = follow(name, &pair, &other, 6000, |t| {
            at(0.022 * (TAU * 2.0 * t).sin(), 0.002, 0.0275 + 0.0065 * (TAU * 3.0 * t).cos())
        });
        report.obeys(name);
        assert!(report.steps[..3].iter().all(|steps| *steps > 100) && report.changes >= 8, "{name}: {report:?}");
    }
}

/// A body on two bumps tips over: a patch appears far from the other one, and the first vanishes.
#[test]
fn force_is_continuous_while_a_patch_appears_elsewhere() {
    let body = two_bumps(0.06);
    let plate = Shape::Box { size: Vector3::new(0.3, 0.1, 0.03) };
    for (name, other, top) in [
        ("tipping on a rigid half space", HydroelasticGeometry::RigidHalfSpace, 0.0),
        ("tipping on a soft half space", build(&Shape::HalfSpace, Some(2e5), None), 0.0),
        ("tipping on a rigid plate", build(&plate, None, None), 0.015),
        ("tipping on a soft plate", build(&plate, Some(2e5), None), 0.015),
    ] {
        let report = follow(name, &body, &other, 4000, |t| {
            let R = Rotation::from_axis_angle(&Vector3::y_axis(), 0.03 * (TAU * t).cos());
            RigidTransform::from_parts((R * Vector3::new(0.0, 0.0, -0.019 - top)).into(), R)
        });
        report.obeys(name);
        assert!(report.steps[1] > 100 && report.steps[2] > 100 && report.changes >= 2, "{name}: {report:?}");
    }
}

/// A ring is pressed on the edge of a box. The edge moves from the middle of the ring, where there are two
/// patches, to its rim, where they merge, and then away from it.
#[test]
fn force_is_continuous_on_an_edge() {
    let ring = filled(&ring(0.05, 0.02, 36, 18), 0.01);
    let block = Shape::Box { size: Vector3::new(0.3, 0.06, 0.06) };
    let upright = Rotation::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_4);
    let tip = 0.03 * 2.0_f64.sqrt();
    for (name, other) in
        [("ring on a rigid edge", build(&block, None, None)), ("ring on a soft edge", build(&block, Some(3e5), None))]
    {
        let report = follow(name, &ring, &other, 4000, |t| {
            let turn = Rotation::from_axis_angle(&Vector3::z_axis(), 0.3 * t);
            let p = Vector3::new(0.0, 0.08 * (TAU * t).sin(), -0.017 - tip + 0.001 * (TAU * 7.0 * t).sin());
            RigidTransform::from_parts(p.into(), turn * upright)
        });
        report.obeys(name);
        assert!(report.steps[..3].iter().all(|steps| *steps > 100) && report.changes >= 4, "{name}: {report:?}");
    }
}

/// The effect of omitted faces is measured separately. The slope of a pressure along a rigid normal is
/// constant in an element, so a discrete step, which leaves out slopes at or below zero, keeps all of an
/// element's faces or none. Its force jumps when a flat side passes through a plane between elements of both
/// kinds, or turns. The full surface jumps too where a flat side turns past 5 pi / 8, and nowhere else.
#[test]
fn omitted_faces_are_measured_separately() {
    let bubble = build(&Shape::Sphere { radius: 0.05 }, Some(MODULUS), Some(0.01));
    let plate = build(&Shape::Box { size: Vector3::new(0.2, 0.2, 0.002) }, None, None);
    let through = follow("thin plate through a bubble", &bubble, &plate, 2000, |t| at(0.0, 0.0, 0.052 - 0.104 * t));
    through.obeys("a plate that moves straight");
    let turning = follow("thin plate that turns in a bubble", &bubble, &plate, 4000, |t| {
        let R = Rotation::from_axis_angle(&Vector3::x_axis(), 0.5 * TAU * t);
        RigidTransform::from_parts(Vector3::new(0.0, 0.01, 0.02).into(), R)
    });
    let block = build(&Shape::Box { size: Vector3::new(0.1, 0.06, 0.04) }, Some(MODULUS), None);
    let other = build(&Shape::Box { size: Vector3::repeat(0.05) }, None, None);
    let rim = follow("rigid box over the rim of a box", &block, &other, 2000, |t| at(0.08 * t, 0.003, 0.043));
    rim.obeys("a box over a rim");
    println!("share of the force that is left out, and largest jump of what is kept, as shares of all faces' forces:");
    for (name, report) in [("plate through", &through), ("plate turning", &turning), ("box over a rim", &rim)] {
        let Report { left_out, peak, kept_excess, excess, .. } = report;
        println!(
            "  {name}: {:.3} left out, the kept force jumps by {:.4}, the full one by {:.4}",
            left_out,
            kept_excess / peak,
            excess / peak
        );
    }
    // As stated in docs/theory/contact-geometry.md.
    assert!((0.45..0.55).contains(&through.left_out) && (0.45..0.55).contains(&(through.kept_excess / through.peak)));
}

/// Flat sides meet all at once, without pressure, and part again past an edge and a corner.
#[test]
fn force_is_continuous_between_flat_sides() {
    let block = build(&Shape::Box { size: Vector3::new(0.1, 0.06, 0.04) }, Some(MODULUS), None);
    let size = Vector3::new(0.05, 0.05, 0.05);
    for (name, other) in [
        ("rigid box on a box", build(&Shape::Box { size }, None, None)),
        ("soft box on a box", build(&Shape::Box { size }, Some(3e5), None)),
    ] {
        let report = follow(name, &block, &other, 8000, |t| {
            at(0.08 * (TAU * t).sin(), 0.03 * (TAU * 2.0 * t).sin(), 0.0445 + 0.002 * (TAU * 5.0 * t).cos())
        });
        report.obeys(name);
        assert!(report.steps[0] > 100 && report.steps[1] > 100, "{name}: {report:?}");
    }
}
