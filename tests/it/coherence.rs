//! Coherent queries give the surface of full ones, bit for bit, for any motion of the bodies.

use std::sync::Arc;

use isobar::geometry::make::{boundary, cuboid};
use isobar::geometry::{
    CoherenceCheck, CoherenceReport, ContactSurface, HydroelasticGeometry, HydroelasticParameters,
    HydroelasticWorkspace, PressureField, Shape, SurfaceMesh, VolumeMesh, contact_surface,
};
use isobar::math::{RigidTransform, Rotation, Vector3};

use crate::random::Random;

fn build(shape: &Shape, compliant: Option<f64>, hint: f64) -> HydroelasticGeometry {
    let parameters = HydroelasticParameters {
        compliant,
        resolution_hint: Some(hint),
        slab_thickness: Some(0.02),
        margin: 0.0,
        ..Default::default()
    };
    HydroelasticGeometry::new(shape, &parameters).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> RigidTransform {
    RigidTransform::from_parts(Vector3::new(x, y, z).into(), Rotation::identity())
}

fn bits(surface: &ContactSurface) -> Vec<u64> {
    let vectors = surface.centroid.iter().chain(&surface.normal).chain(&surface.corners).flat_map(|v| [v.x, v.y, v.z]);
    let numbers = [&surface.area, &surface.pressure, &surface.g_A, &surface.g_B, &surface.corner_pressure];
    let indices = [&surface.element_A, &surface.element_B, &surface.corner_ends];
    vectors
        .chain(numbers.into_iter().flatten().copied())
        .map(f64::to_bits)
        .chain(indices.into_iter().flatten().map(|i| u64::from(*i)))
        .collect()
}

/// Two workspaces, one with coherence, and the queried geometries.
struct Twin<'a> {
    A: &'a HydroelasticGeometry,
    B: &'a HydroelasticGeometry,
    coherent: HydroelasticWorkspace,
    full: HydroelasticWorkspace,
    surface: ContactSurface,
    expected: ContactSurface,
}

impl<'a> Twin<'a> {
    fn new(A: &'a HydroelasticGeometry, B: &'a HydroelasticGeometry) -> Self {
        let mut full = HydroelasticWorkspace::default();
        full.coherence = false;
        let (surface, expected) = (ContactSurface::new(), ContactSurface::new());
        Self { A, B, coherent: HydroelasticWorkspace::default(), full, surface, expected }
    }
    /// The number of faces, after checking that both queries give the same bits.
    fn faces(&mut self, X_WA: &RigidTransform, X_WB: &RigidTransform, what: &str) -> usize {
        contact_surface(self.A, X_WA, self.B, X_WB, &mut self.coherent, &mut self.surface).unwrap();
        contact_surface(self.A, X_WA, self.B, X_WB, &mut self.full, &mut self.expected).unwrap();
        assert_eq!(self.surface.len(), self.expected.len(), "{what}: faces");
        assert!(bits(&self.surface) == bits(&self.expected), "{what}");
        self.surface.len()
    }
    fn report(&self) -> CoherenceReport {
        self.coherent.coherence_report()
    }
}

/// A random walk of both bodies: B moves towards a changing distance from A, in contact and out of it, at
/// speeds from a nanometre to a millimetre per step; sometimes it jumps or rests.
fn wander(name: &str, A: &HydroelasticGeometry, B: &HydroelasticGeometry, distance: f64, steps: usize) {
    let mut twin = Twin::new(A, B);
    let mut sequence = Random::new(7);
    let mut p = Vector3::new(0.0, 0.0, distance);
    let mut R = Rotation::identity();
    let (mut X_WA, mut faces, mut empty) = (at(0.3, -0.2, 0.1), 0, 0);
    let (mut v, mut w) = (Vector3::zeros(), Vector3::zeros());
    for step in 0..steps {
        if step % 50 == 0 {
            let speed = 10.0_f64.powf(-6.0 + 3.0 * sequence.next());
            (v, w) = (sequence.vector() * speed, sequence.vector() * (speed / distance));
        }
        if step % 1000 == 999 {
            p = sequence.vector() * distance;
            R = Rotation::new(sequence.vector() * 3.0);
        }
        // A slow pull towards contact: in contact for most of the time, out of it for some.
        let pull = p.normalize() * (distance * (1.0 + 0.05 * (step as f64 * 0.01).sin()) - p.norm());
        p += v + pull * 0.01;
        R = Rotation::new(w) * R;
        if step % 7 == 0 {
            X_WA = RigidTransform::from_parts(
                (X_WA.translation.vector + v * 0.3).into(),
                Rotation::new(-w * 0.5) * X_WA.rotation,
            );
        }
        let X_WB = X_WA * RigidTransform::from_parts(p.into(), R);
        let count = twin.faces(&X_WA, &X_WB, &format!("{name}, step {step}"));
        faces += count;
        empty += usize::from(count == 0);
    }
    let report = twin.report();
    println!("{name}: {} faces a step, {empty} of {steps} without, {report:?}", faces / steps);
    assert!(report.reused > steps as u64 / 2, "{name}: {report:?}");
    assert!(faces > steps && empty > 0 && empty < steps, "{name}: {faces} faces, {empty} steps without");
}

const BUBBLE: Shape = Shape::Ellipsoid { semi_axes: Vector3::new(0.04, 0.04, 0.06) };

#[test]
fn bubble_and_cylinder() {
    let bubble = build(&BUBBLE, Some(1e5), 0.03);
    let handle = build(&Shape::Cylinder { radius: 0.015, length: 0.11 }, Some(1e8), 0.01);
    wander("bubble and cylinder", &bubble, &handle, 0.05, 20_000);
}

#[test]
fn ellipsoid_and_box() {
    let egg = build(&Shape::Ellipsoid { semi_axes: Vector3::new(0.05, 0.03, 0.04) }, Some(1e6), 0.02);
    let block = build(&Shape::Box { size: Vector3::new(0.05, 0.08, 0.06) }, Some(1e5), 1.0);
    wander("ellipsoid and box", &block, &egg, 0.06, 20_000);
}

#[test]
fn sphere_and_half_spaces() {
    let ball = build(&Shape::Sphere { radius: 0.04 }, Some(1e5), 0.02);
    let hard = build(&Shape::Sphere { radius: 0.04 }, None, 0.02);
    let soft_ground = build(&Shape::HalfSpace, Some(1e5), 1.0);
    wander("sphere and ground", &HydroelasticGeometry::RigidHalfSpace, &ball, 0.04, 10_000);
    wander("sphere and soft ground", &ball, &soft_ground, 0.04, 10_000);
    wander("hard sphere and soft ground", &soft_ground, &hard, 0.04, 10_000);
}

#[test]
fn volume_and_rigid_box() {
    let ball = build(&Shape::Sphere { radius: 0.04 }, Some(1e5), 0.02);
    let block = build(&Shape::Box { size: Vector3::new(0.05, 0.08, 0.06) }, None, 1.0);
    wander("sphere and rigid box", &ball, &block, 0.07, 20_000);
}

#[test]
fn two_convex_meshes() {
    let mut sequence = Random::new(4);
    let mut hull = |modulus| {
        let vertices: Vec<Vector3> = (0..40).map(|_| sequence.vector() * 0.04).collect();
        let points = SurfaceMesh { vertices, triangles: Vec::new() };
        build(&Shape::Convex(Arc::new(points)), Some(modulus), 0.01)
    };
    let (a, b) = (hull(1e5), hull(2e5));
    wander("convex meshes", &a, &b, 0.07, 10_000);
}

/// Boxes of equal size and stiffness that slide on each other face to face: planes coincide with faces of
/// both meshes, and ties decide the owner of a face.
#[test]
fn ties_are_broken_alike() {
    let size = Vector3::new(0.06, 0.05, 0.04);
    let (a, b) = (build(&Shape::Box { size }, Some(1e5), 1.0), build(&Shape::Box { size }, Some(1e5), 1.0));
    let rigid = HydroelasticGeometry::from_surface(boundary(&cuboid(&size).0).unwrap()).unwrap();
    for other in [&b, &rigid] {
        let mut twin = Twin::new(&a, other);
        let mut faces = 0;
        for step in 0..2000 {
            let x = f64::from(step) * 1e-5;
            faces += twin.faces(&at(0.0, 0.0, 0.0), &at(x, 0.0, 0.035), &format!("sliding, step {step}"));
            faces += twin.faces(&at(0.0, 0.0, 0.0), &at(x, 0.0, 0.035), &format!("resting, step {step}"));
        }
        assert!(faces > 4000);
        assert!(twin.report().reused > 3000, "{:?}", twin.report());
    }
}

/// Two balls of radius 2 cm with a thin bar between them, as one volume mesh that is not convex.
fn dumbbell(half_length: f64) -> HydroelasticGeometry {
    let ball = isobar::geometry::make::sphere(0.02, 0.01);
    let (bar, _) = cuboid(&Vector3::new(2.0 * half_length, 0.005, 0.005));
    let mut mesh = VolumeMesh { vertices: Vec::new(), tets: Vec::new() };
    let mut pressure = Vec::new();
    for (part, x) in [(&ball, -half_length), (&bar, 0.0), (&ball, half_length)] {
        let first = mesh.vertices.len() as u32;
        let deepest = part.vertices.len() - 1;
        mesh.vertices.extend(part.vertices.iter().map(|p| p + Vector3::new(x, 0.0, 0.0)));
        mesh.tets.extend(part.tets.iter().map(|tet| tet.map(|vertex| vertex + first)));
        pressure.extend((0..part.vertices.len()).map(|vertex| if vertex == deepest { 1e5 } else { 0.0 }));
    }
    HydroelasticGeometry::CompliantVolume(Box::new(PressureField::new(mesh, pressure).unwrap()))
}

/// A dumbbell that stands on one ball and tips until the other one touches too: the second patch has no edge
/// in common with the first one, and appears in the very step in which the full query has it.
#[test]
fn a_patch_that_appears_elsewhere_is_found() {
    let dumbbell = dumbbell(0.06);
    let plate = build(&Shape::Box { size: Vector3::new(0.3, 0.1, 0.02) }, Some(1e7), 1.0);
    let rigid = build(&Shape::Box { size: Vector3::new(0.3, 0.1, 0.02) }, None, 1.0);
    for (other, p_z) in [(&plate, -0.01), (&rigid, -0.01), (&HydroelasticGeometry::RigidHalfSpace, 0.0)] {
        for speed in [1e-5, 1e-4, 1e-3] {
            let mut twin = Twin::new(&dumbbell, other);
            let (mut one, mut both, mut angle) = (0, 0, 0.02_f64);
            while angle > -0.02 {
                // The ball at -x stays 1 mm deep while the bar turns about it.
                let R = Rotation::new(Vector3::new(0.0, -angle, 0.0));
                let p = Vector3::new(0.0, 0.0, 0.019) - R * Vector3::new(-0.06, 0.0, 0.0);
                let X_WA = RigidTransform::from_parts(p.into(), R);
                twin.faces(&X_WA, &at(0.0, 0.0, p_z), &format!("angle {angle} at {speed}"));
                let far = twin.surface.centroid.iter().filter(|p| p.x > 0.06).count();
                let near = twin.surface.len() - far;
                assert!(near > 0, "one ball always touches");
                (one, both) = (one + usize::from(far == 0), both + usize::from(far > 0));
                angle -= speed;
            }
            assert!(one > 5 && both > 5, "{one} steps on one ball, {both} on both");
            let report = twin.report();
            assert!(speed > 1e-4 || report.reused > 9 * (report.collected + report.full), "{report:?}");
        }
    }
}

/// A ball that dips into the gap between two others: one patch, two, and none again, in both directions of
/// time.
#[test]
fn patches_split_merge_and_vanish() {
    let pair = dumbbell(0.021);
    let ball = build(&Shape::Sphere { radius: 0.015 }, Some(3e5), 0.007);
    let mut twin = Twin::new(&pair, &ball);
    let mut counts = [0; 3];
    for step in 0..4000 {
        let t = f64::from(step) * std::f64::consts::TAU / 2000.0;
        let X_WB = at(0.03 * (2.0 * t).sin(), 0.0, 0.027 + 0.012 * (3.0 * t).cos());
        twin.faces(&at(0.0, 0.0, 0.0), &X_WB, &format!("step {step}"));
        let left = twin.surface.centroid.iter().any(|p| p.x < 0.0);
        let right = twin.surface.centroid.iter().any(|p| p.x > 0.0);
        counts[usize::from(left) + usize::from(right)] += 1;
    }
    assert!(counts.iter().all(|count| *count > 100), "steps with no, one and two patches: {counts:?}");
}

/// Same input, same bits: a run repeats, independent of earlier queries of the workspace. A workspace that is
/// shared by pairs detects the change of pair, also if the pairs have a mesh in common.
#[test]
fn a_workspace_may_serve_several_pairs() {
    let bubble = build(&BUBBLE, Some(1e5), 0.03);
    let same = bubble.clone();
    let handle = build(&Shape::Cylinder { radius: 0.015, length: 0.11 }, Some(1e8), 0.02);
    let other = build(&Shape::Cylinder { radius: 0.016, length: 0.11 }, Some(1e8), 0.02);
    let ground = HydroelasticGeometry::RigidHalfSpace;
    let soft = |stiffness| HydroelasticGeometry::CompliantHalfSpace { stiffness, margin: 0.0 };
    let (soft, softer) = (soft(1e7), soft(1e6));
    let mut shared = HydroelasticWorkspace::default();
    let (mut surface, mut expected) = (ContactSurface::new(), ContactSurface::new());
    for step in 0..300 {
        let X_WB = at(0.045 + 1e-6 * f64::from(step), 0.001, 0.002);
        let pairs = [
            (&bubble, &handle),
            (&bubble, &handle),
            (&bubble, &handle),
            (&same, &handle),
            (&bubble, &other),
            (&handle, &bubble),
            (&bubble, &ground),
            (&bubble, &soft),
            (&bubble, &soft),
            (&bubble, &softer),
        ];
        for (number, (A, B)) in pairs.iter().enumerate() {
            contact_surface(A, &at(0.0, 0.0, 0.0), B, &X_WB, &mut shared, &mut surface).unwrap();
            let mut fresh = HydroelasticWorkspace::default();
            contact_surface(A, &at(0.0, 0.0, 0.0), B, &X_WB, &mut fresh, &mut expected).unwrap();
            assert!(!surface.is_empty() && bits(&surface) == bits(&expected), "step {step}, pair {number}");
        }
    }
    assert!(shared.coherence_report().reused > 300, "a clone is the same mesh: {:?}", shared.coherence_report());
}

/// The check compares every fifth reused query and finds no difference. Bodies that move by a nanometre per
/// query need two searches in all.
#[test]
fn the_check_counts_and_agrees() {
    let bubble = build(&BUBBLE, Some(1e5), 0.03);
    let handle = build(&Shape::Cylinder { radius: 0.015, length: 0.11 }, Some(1e8), 0.02);
    let mut workspace = HydroelasticWorkspace::default();
    workspace.check = Some(CoherenceCheck { every: 5 });
    let mut surface = ContactSurface::new();
    for step in 0..102 {
        let X_WB = at(0.045 + 1e-9 * f64::from(step), 0.0, 0.0);
        contact_surface(&bubble, &at(0.0, 0.0, 0.0), &handle, &X_WB, &mut workspace, &mut surface).unwrap();
    }
    let expected = CoherenceReport { reused: 100, collected: 1, full: 1, checked: 20, mismatched: 0 };
    assert_eq!(workspace.coherence_report(), expected);
}
