//! Laws of pressure-field contact: closed forms, symmetry, additivity, ties, tessellations.

use std::sync::Arc;

use isobar::geometry::make::{boundary, capsule, centroid, cuboid, cylinder, ellipsoid, hull, sphere};
use isobar::geometry::{
    ContactSurface, HydroelasticGeometry, HydroelasticParameters, HydroelasticWorkspace, PressureField, Shape,
    SurfaceMesh, VolumeMesh, contact_surface, effective_gradient,
};
use isobar::math::{RigidTransform, Rotation, Vector3};

use crate::random::Random;

const MODULUS: f64 = 1e5;

pub(crate) fn build(shape: &Shape, compliant: Option<f64>, hint: Option<f64>) -> HydroelasticGeometry {
    let parameters = HydroelasticParameters {
        compliant,
        resolution_hint: hint,
        slab_thickness: Some(0.02),
        margin: 0.0,
        ..Default::default()
    };
    HydroelasticGeometry::new(shape, &parameters).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> RigidTransform {
    RigidTransform::from_parts(Vector3::new(x, y, z).into(), Rotation::identity())
}

fn query(
    A: &HydroelasticGeometry,
    X_WA: &RigidTransform,
    B: &HydroelasticGeometry,
    X_WB: &RigidTransform,
) -> ContactSurface {
    let mut surface = ContactSurface::new();
    contact_surface(A, X_WA, B, X_WB, &mut HydroelasticWorkspace::default(), &mut surface).unwrap();
    surface
}

/// Shapes of about 5 cm, all kinds of tessellation.
fn shapes() -> Vec<Shape> {
    vec![
        Shape::Sphere { radius: 0.04 },
        Shape::Ellipsoid { semi_axes: Vector3::new(0.05, 0.03, 0.04) },
        Shape::Box { size: Vector3::new(0.03, 0.08, 0.05) },
        Shape::Cylinder { radius: 0.02, length: 0.08 },
        Shape::Capsule { radius: 0.02, length: 0.06 },
    ]
}

/// Rigid half space on a compliant sphere: F = pi E d^2 (1 - 2 d / (3 R)), from the pressure E (1 - r / R).
/// The chords of the mesh miss the arc by h^2, so halving h takes the error to a quarter.
#[test]
fn sphere_on_plane_converges_with_order_two() {
    let (radius, depth) = (0.05, 0.01);
    let exact = std::f64::consts::PI * MODULUS * depth * depth * (1.0 - 2.0 * depth / (3.0 * radius));
    let error = |hint: f64| {
        let ball = build(&Shape::Sphere { radius }, Some(MODULUS), Some(hint));
        let ground = build(&Shape::HalfSpace, None, None);
        // Turned, so that no symmetry of the mesh meets the plane.
        let X_WA = RigidTransform::from_parts(
            Vector3::new(0.0, 0.0, radius - depth).into(),
            Rotation::new(Vector3::new(0.3, 0.5, 0.2)),
        );
        let force = query(&ball, &X_WA, &ground, &at(0.0, 0.0, 0.0)).static_wrench_on_B().f;
        (force.z + exact).abs() / exact
    };
    let errors = [0.02, 0.01, 0.005, 0.0025].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((1.8..2.2).contains(&order), "order {order} of {errors:?}");
    }
    // The chord of an arc of length h misses it by h^2 / (8 R), a share h^2 / (8 R d) of the depth; twice
    // that counts in the force, and the largest edge is longer than the hint.
    for (error, hint) in errors.iter().zip([0.02_f64, 0.01, 0.005, 0.0025]) {
        assert!(*error < hint * hint / (radius * depth), "{errors:?}");
    }
}

/// A box flat on a plane: F = (E / H) (a b d - (a + b) d^2 + 4 d^3 / 3), H half the shortest edge. The
/// pressure is linear in each cell of the mesh, so the mesh is exact; the sizes take every order of the axes.
#[test]
fn box_on_plane_is_exact() {
    let depth: f64 = 0.004;
    let sizes: [[f64; 3]; 6] =
        [[0.1, 0.06, 0.04], [0.06, 0.1, 0.04], [0.04, 0.1, 0.06], [0.1, 0.04, 0.06], [0.04, 0.04, 0.09], [0.05; 3]];
    for [a, b, c] in sizes {
        let half = 0.5 * a.min(b).min(c);
        let exact = MODULUS / half * (a * b * depth - (a + b) * depth * depth + 4.0 / 3.0 * f64::powi(depth, 3));
        let block = build(&Shape::Box { size: Vector3::new(a, b, c) }, Some(MODULUS), None);
        let ground = build(&Shape::HalfSpace, None, None);
        let surface = query(&ground, &at(0.0, 0.0, 0.0), &block, &at(0.0, 0.0, 0.5 * c - depth));
        let force = surface.static_wrench_on_B().f.z;
        assert!((force - exact).abs() < 1e-12 * exact, "{a} {b} {c}: {force} is not {exact}");
    }
}

/// Two equal boxes share the depth: F(d) is the force of one of them on a plane at d / 2. Their sides are
/// coplanar, so planes coincide with faces of both meshes, and within d / 2 of a side the two fields are
/// equal; the surface must still cover the whole rectangle once, seen from above.
#[test]
fn equal_boxes_are_half_as_stiff_and_ties_count_once() {
    let depth = 0.004;
    let block = build(&Shape::Box { size: Vector3::new(0.1, 0.06, 0.04) }, Some(MODULUS), None);
    let ground = build(&Shape::HalfSpace, None, None);
    let origin = at(0.0, 0.0, 0.0);
    let on_ground = query(&ground, &origin, &block, &at(0.0, 0.0, 0.02 - 0.5 * depth)).static_wrench_on_B().f.z;
    let stacked = query(&block, &origin, &block, &at(0.0, 0.0, 0.04 - depth));
    let covered: f64 = stacked.normal.iter().zip(&stacked.area).map(|(normal, area)| normal.z * area).sum();
    assert!((covered - 0.1 * 0.06).abs() < 1e-12 * 0.006, "{covered}");
    let force = stacked.static_wrench_on_B().f;
    assert!((force.z - on_ground).abs() < 1e-12 * on_ground, "{force} {on_ground}");
    // Where the fields are equal, any surface is one of equal pressure, and rounding decides its slope within
    // the strip d / 2 wide along the sides.
    let strip = MODULUS * (0.25 * depth / 0.02) * 0.5 * depth * 0.1;
    assert!(force.x.abs() <= strip && force.y.abs() <= strip, "{force} {strip}");
}

/// The plane through two opposite edges of a cube contains inner faces of its mesh; each is counted for one
/// of the tetrahedra beside it, so the cut's area is that of the rectangle.
#[test]
fn a_cut_along_inner_faces_counts_once() {
    let area = 0.1 * 0.1 * 2.0_f64.sqrt();
    let quarter = Rotation::from_axis_angle(&Vector3::z_axis(), std::f64::consts::FRAC_PI_4);
    let into_cube = quarter * Vector3::x();
    let (mesh, _) = cuboid(&Vector3::repeat(0.05));
    // The same gradient everywhere, so that no face is left out for its slope.
    let pressure = mesh.vertices.iter().map(|x| 1e5 + 1e6 * x.dot(&into_cube)).collect();
    let cube = HydroelasticGeometry::from_volume(mesh, pressure).unwrap();
    let upward = Rotation::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
    let X_WH = RigidTransform::from_parts(Vector3::zeros().into(), quarter * upward);
    let cut = query(&cube, &at(0.0, 0.0, 0.0), &HydroelasticGeometry::RigidHalfSpace, &X_WH);
    assert!((cut.total_area() - area).abs() < 1e-12 * area, "half space {}", cut.total_area() / area);
    // A large rigid block whose face lies in the same plane.
    let block = build(&Shape::Box { size: Vector3::repeat(0.6) }, None, None);
    let X_WB = RigidTransform::from_parts((into_cube * -0.3).into(), quarter);
    let cut = query(&cube, &at(0.0, 0.0, 0.0), &block, &X_WB);
    assert!((cut.total_area() - area).abs() < 1e-12 * area, "block {}", cut.total_area() / area);
    // And a field that is equal to the cube's in that plane and falls beyond it.
    let (mesh, _) = cuboid(&Vector3::repeat(0.3));
    let pressure = mesh.vertices.iter().map(|x| 1e5 - 1e6 * x.dot(&into_cube)).collect();
    let other = HydroelasticGeometry::from_volume(mesh, pressure).unwrap();
    let cut = query(&cube, &at(0.0, 0.0, 0.0), &other, &at(0.0, 0.0, 0.0));
    assert!((cut.total_area() - area).abs() < 1e-12 * area, "field {}", cut.total_area() / area);
}

/// Newton's third law: with A and B exchanged, the same faces push the other way, for every pair of kinds.
#[test]
fn exchanging_the_geometries_reverses_the_force() {
    let mut sequence = Random::new(1);
    let mut met = 0;
    let shapes = shapes();
    for first in &shapes {
        for second in shapes.iter().chain([&Shape::HalfSpace]) {
            for (E_A, E_B) in [(Some(1e5), Some(3e6)), (Some(1e5), None), (None, Some(1e5))] {
                if E_A.is_none() && matches!(second, Shape::HalfSpace) && E_B.is_none() {
                    continue;
                }
                let (A, B) = (build(first, E_A, None), build(second, E_B, None));
                let (X_WA, X_WB) = (sequence.pose(0.015), sequence.pose(0.015));
                let (forward, backward) = (query(&A, &X_WA, &B, &X_WB), query(&B, &X_WB, &A, &X_WA));
                met += forward.len();
                assert_eq!(forward.len(), backward.len());
                let (on_B, on_A) = (forward.static_wrench_on_B(), backward.static_wrench_on_B());
                // The forces of the faces cancel in part; rounding goes by their sum.
                let scale: f64 = forward.pressure.iter().zip(&forward.area).map(|(p, a)| p * a).sum();
                assert!((on_A.f + on_B.f).norm() <= 1e-11 * scale, "{} {}", A.kind(), B.kind());
                assert!((on_A.tau + on_B.tau).norm() <= 1e-12 * scale);
            }
        }
    }
    assert!(met > 1000, "the poses overlap: {met} faces");
}

/// Equilibrium: on a face between two compliant geometries both fields have the pressure of the face, at its
/// centroid and its corners, and the corners turn counter-clockwise about the normal from A into B.
#[test]
fn both_fields_have_the_pressure_of_the_face() {
    let mut sequence = Random::new(2);
    for first in &shapes() {
        for second in &shapes() {
            let (A, B) = (build(first, Some(1e5), None), build(second, Some(1e7), None));
            let (X_WA, X_WB) = (sequence.pose(0.02), sequence.pose(0.02));
            let surface = query(&A, &X_WA, &B, &X_WB);
            for face in 0..surface.len() {
                let (corners, pressures) = surface.polygon(face);
                let points = corners.iter().zip(pressures).chain([(&surface.centroid[face], &surface.pressure[face])]);
                for (p_WQ, pressure) in points {
                    let p_A = value(&A, surface.element_A[face], &X_WA, p_WQ);
                    let p_B = value(&B, surface.element_B[face], &X_WB, p_WQ);
                    // 1e7 Pa over 2 cm times the rounding of a position of 10 cm: 1e-8 Pa
                    assert!((p_A - pressure).abs() < 1e-6 && (p_B - pressure).abs() < 1e-6, "{p_A} {p_B} {pressure}");
                }
                let turn: Vector3 = (1..corners.len() - 1)
                    .map(|i| (corners[i] - corners[0]).cross(&(corners[i + 1] - corners[0])))
                    .sum();
                assert!((turn * 0.5 - surface.normal[face] * surface.area[face]).norm() < 1e-15);
            }
        }
    }
}

fn value(geometry: &HydroelasticGeometry, element: u32, X_WG: &RigidTransform, p_WQ: &Vector3) -> f64 {
    let HydroelasticGeometry::CompliantVolume(field) = geometry else { panic!("a volume") };
    let p_GQ = X_WG.inverse_transform_point(&(*p_WQ).into()).coords;
    field.linear()[element as usize].at(&p_GQ)
}

/// Additivity: the surface of two meshes is the sum over all pairs of their tetrahedra taken separately,
/// without a tree or other shortcuts over many elements.
#[test]
fn nothing_is_missed_by_the_tree() {
    let mut sequence = Random::new(3);
    let A = PressureField::new(sphere(0.04, 0.03), pressures(&sphere(0.04, 0.03), 1e5)).unwrap();
    let (mesh, on_surface) = cylinder(0.02, 0.08, 0.015);
    let pressure = (0..mesh.vertices.len()).map(|v| if v < on_surface { 0.0 } else { 1e7 }).collect();
    let B = PressureField::new(mesh, pressure).unwrap();
    let (parts_A, parts_B) = (parts(&A), parts(&B));
    let (A, B) =
        (HydroelasticGeometry::CompliantVolume(Box::new(A)), HydroelasticGeometry::CompliantVolume(Box::new(B)));
    let mut surface = ContactSurface::new();
    let mut workspace = HydroelasticWorkspace::default();
    for _ in 0..4 {
        let (X_WA, X_WB) = (sequence.pose(0.02), sequence.pose(0.02));
        let whole = query(&A, &X_WA, &B, &X_WB);
        let (mut faces, mut area) = (0, 0.0);
        for a in &parts_A {
            for b in &parts_B {
                contact_surface(a, &X_WA, b, &X_WB, &mut workspace, &mut surface).unwrap();
                faces += surface.len();
                area += surface.total_area();
            }
        }
        assert!(faces > 20);
        assert_eq!(whole.len(), faces);
        assert!((whole.total_area() - area).abs() < 1e-12 * area);
    }
}

/// E at the last vertex, which is the centre, and zero elsewhere.
fn pressures(mesh: &VolumeMesh, modulus: f64) -> Vec<f64> {
    let mut pressures = vec![0.0; mesh.vertices.len()];
    *pressures.last_mut().unwrap() = modulus;
    pressures
}

fn parts(field: &PressureField) -> Vec<HydroelasticGeometry> {
    let part = |tet: &[u32; 4]| {
        let vertices = tet.map(|vertex| field.mesh().vertices[vertex as usize]).to_vec();
        let pressure = tet.map(|vertex| field.pressure()[vertex as usize]).to_vec();
        HydroelasticGeometry::from_volume(VolumeMesh { vertices, tets: vec![[0, 1, 2, 3]] }, pressure).unwrap()
    };
    field.mesh().tets.iter().map(part).collect()
}

/// A compliant half space tends to a rigid one as its stiffness grows; the difference is proportional to one
/// over the stiffness.
#[test]
fn a_stiff_half_space_is_nearly_rigid() {
    let ball = build(&Shape::Sphere { radius: 0.05 }, Some(MODULUS), None);
    let (X_WA, X_WB) = (at(0.0, 0.0, 0.045), at(0.0, 0.0, 0.0));
    let rigid = query(&ball, &X_WA, &HydroelasticGeometry::RigidHalfSpace, &X_WB).static_wrench_on_B().f.z;
    // The sphere's stiffness is E / R = 2e6 Pa/m.
    for stiffness in [1e9, 1e11] {
        let soft = HydroelasticGeometry::CompliantHalfSpace { stiffness, margin: 0.0 };
        let force = query(&ball, &X_WA, &soft, &X_WB).static_wrench_on_B().f.z;
        let share = (rigid - force) / rigid;
        assert!(share > 0.0 && share < 4.0 * 2e6 / stiffness, "{share} at {stiffness}");
    }
}

/// With a margin the pressure continues below zero: at a gap smaller than the margin there are faces, all
/// with negative pressure.
#[test]
fn a_margin_gives_faces_before_contact() {
    let margin = 0.002;
    for shape in shapes() {
        let parameters = HydroelasticParameters {
            compliant: Some(MODULUS),
            resolution_hint: None,
            slab_thickness: None,
            margin,
            ..Default::default()
        };
        let soft = HydroelasticGeometry::new(&shape, &parameters).unwrap();
        let lowest = build(&shape, Some(MODULUS), None).vertices().iter().map(|v| v.z).fold(0.0, f64::min);
        let surface =
            query(&soft, &at(0.0, 0.0, 0.001 - lowest), &HydroelasticGeometry::RigidHalfSpace, &at(0.0, 0.0, 0.0));
        assert!(!surface.is_empty(), "{}", shape.kind());
        assert!(surface.pressure.iter().all(|p| *p < 0.0));
        let rigid = build(&shape, None, None);
        let layer = HydroelasticGeometry::CompliantHalfSpace { stiffness: 5e6, margin };
        let surface = query(&layer, &at(0.0, 0.0, 0.0), &rigid, &at(0.0, 0.0, 0.001 - lowest));
        assert!(!surface.is_empty() && surface.pressure.iter().all(|p| *p < 0.0 && *p > -5e6 * margin));
    }
}

/// A rigid plate thinner than the compliant body around it: only the sides that face rising pressure count,
/// so the far side does not cancel the near one.
#[test]
fn a_thin_plate_feels_its_near_side() {
    let ball = build(&Shape::Sphere { radius: 0.05 }, Some(MODULUS), Some(0.005));
    let plate = build(&Shape::Box { size: Vector3::new(0.2, 0.2, 0.002) }, None, None);
    let surface = query(&plate, &at(0.0, 0.0, 0.0), &ball, &at(0.0, 0.0, 0.04));
    // The plate's upper side lies 1 mm above its middle.
    let radius = 0.05_f64;
    let depth = 0.011;
    let exact = std::f64::consts::PI * MODULUS * depth * depth * (1.0 - 2.0 * depth / (3.0 * radius));
    let force = surface.static_wrench_on_B().f.z;
    // Chords of 5 mm: see sphere_on_plane_converges_with_order_two.
    assert!((force - exact).abs() < 0.005 * 0.005 / (radius * depth) * exact, "{force} {exact}");
}

/// A plate of 5 cm by 4 cm wholly inside a bubble of 10 cm: its side that faces the middle, where the
/// pressure rises, is in contact, and the other side is not. The force is the integral of the bubble's
/// pressure over that side; it is the same on a very stiff plate as on a rigid one, as long as the pressure
/// behind the whole other side falls at more than 5 pi / 8.
#[test]
fn a_thin_plate_inside_a_bubble_is_pushed_outward() {
    let radius = 0.05;
    let hint = 0.004;
    let ball = build(&Shape::Sphere { radius }, Some(MODULUS), Some(hint));
    let size = Vector3::new(0.05, 0.04, 0.002);
    let (rigid, stiff) = (build(&Shape::Box { size }, None, None), build(&Shape::Box { size }, Some(1e10), None));
    for (height, turn) in [(0.014, 0.0), (0.02, 0.3), (-0.016, 0.0), (0.03, 1.2)] {
        let R = Rotation::from_axis_angle(&Vector3::x_axis(), turn);
        let X_WP = RigidTransform::from_parts((R * Vector3::new(0.0, 0.0, height)).into(), R);
        // Midpoints of a grid of the side that faces the middle, in the plate's frame.
        let side = height - 0.001_f64.copysign(height);
        let count = 400;
        let mut exact = 0.0;
        for i in 0..count {
            for j in 0..count {
                let share = |k: i32| (f64::from(k) + 0.5) / f64::from(count) - 0.5;
                let r = Vector3::new(share(i) * size.x, share(j) * size.y, side).norm();
                exact += MODULUS * (1.0 - r / radius).max(0.0) * size.x * size.y / f64::from(count * count);
            }
        }
        for plate in [&rigid, &stiff] {
            let surface = query(&ball, &at(0.0, 0.0, 0.0), plate, &X_WP);
            let force = R.inverse() * surface.static_wrench_on_B().f;
            let outward = force.z * height.signum();
            // Chords of `hint` miss the ball by hint^2 / (8 R) of its radius; the plate's rims are a
            // twentieth of its side.
            let allowed = 2.0 * (hint / radius).powi(2) + if plate.is_compliant() { 0.05 } else { 0.0 };
            assert!((outward - exact).abs() < allowed * exact, "{} at {height}: {outward} {exact}", plate.kind());
            assert!(force.xy().norm() < 0.01 * exact, "{force}");
        }
    }
}

/// Identical boxes face to face, along each axis and both ways, in any pose of the pair: sides coincide,
/// fields are equal along the rim, and rounding decides on which side of an element a point lies. The force
/// is that of two equal springs in series, from the first touch on, and the side is covered once. In poses
/// along the axes that is exact but for the corners; in others rounding may count a strip half the depth wide
/// along the rim, where the fields are the same, twice.
#[test]
fn coplanar_sides_of_identical_boxes_meet_once_in_every_pose() {
    let size = Vector3::new(0.1, 0.06, 0.04);
    let block = build(&Shape::Box { size }, Some(MODULUS), None);
    let same = build(&Shape::Box { size }, Some(MODULUS), None);
    let half = 0.5 * size.min();
    let mut sequence = Random::new(9);
    let mut poses = vec![at(0.0, 0.0, 0.0)];
    poses.extend((0..20).map(|_| sequence.pose(0.3)));
    for (number, X_WA) in poses.iter().enumerate() {
        for axis in 0..3 {
            let (a, b) = (size[(axis + 1) % 3], size[(axis + 2) % 3]);
            for sign in [-1.0, 1.0] {
                for depth in [0.0, 1e-12, 1e-6, 1e-3, 4e-3] {
                    let mut between = Vector3::zeros();
                    between[axis] = sign * (size[axis] - depth);
                    let X_WB = X_WA * RigidTransform::translation(between.x, between.y, between.z);
                    let surface = query(&block, X_WA, &same, &X_WB);
                    let force = X_WA.rotation.inverse() * surface.static_wrench_on_B().f;
                    let d = 0.5 * depth;
                    let exact = MODULUS / half * (a * b * d - (a + b) * d * d + 4.0 / 3.0 * d * d * d);
                    // In the four corners, within d of two sides, the pressures are those of cells that lie
                    // beside each other at 45 degrees in both meshes, so that planes between them may count:
                    // sqrt(2) d^2 each, at E d / H at most. Positions have a rounding of 1e-15 m.
                    let corners = 4.0 * 2.0_f64.sqrt() * d * d;
                    // The pressure in the strips rises from 0 at the side to E d / H, so that they hold d / 2
                    // of it on average.
                    let strips = if number == 0 { 0.0 } else { 2.0 * (a + b) * d };
                    let allowed = 1e-9 * exact + MODULUS / half * (corners * d + strips * 0.5 * d + a * b * 1e-15);
                    assert!(
                        (force[axis] * sign - exact).abs() <= allowed,
                        "{X_WA} {axis} {sign} {depth}: {force} {exact}"
                    );
                    if depth > 1e-9 {
                        let normals = surface.normal.iter().zip(&surface.area);
                        let covered: f64 =
                            normals.map(|(n, area)| (X_WA.rotation.inverse() * n)[axis] * sign * area).sum();
                        assert!(
                            (covered - a * b).abs() < 1e-9 * a * b + corners + strips,
                            "{X_WA} {axis} {sign} {depth}: {covered}"
                        );
                    }
                }
            }
        }
    }
}

/// Flat tetrahedra and triangles are left out and counted, and the rest is finite.
#[test]
fn slivers_never_make_nan() {
    let mut mesh = sphere(0.05, 0.05);
    let count = mesh.vertices.len() as u32;
    let (a, b) = (mesh.vertices[0], mesh.vertices[1]);
    mesh.vertices.push((a + b) * 0.5);
    mesh.vertices.push(a);
    mesh.tets.extend([[0, 1, count, 2], [0, 0, 1, 2], [0, count + 1, 1, 2], [0, 1, 2, 2]]);
    let mut pressure = vec![0.0; mesh.vertices.len()];
    pressure[count as usize - 1] = MODULUS;
    let soft = HydroelasticGeometry::from_volume(mesh, pressure).unwrap();
    assert_eq!(soft.skipped(), 4);
    let mut triangles = boundary(&sphere(0.04, 0.03)).unwrap();
    triangles.triangles.extend([[0, 0, 1], [0, 1, 1]]);
    let rigid = HydroelasticGeometry::from_surface(triangles).unwrap();
    assert_eq!(rigid.skipped(), 2);
    for (other, X_WB) in [(&rigid, at(0.0, 0.0, 0.07)), (&soft, at(0.0, 0.0, 0.08))] {
        let surface = query(&soft, &at(0.0, 0.0, 0.0), other, &X_WB);
        assert!(!surface.is_empty());
        assert!(surface.centroid.iter().chain(&surface.normal).all(|v| v.iter().all(|x| x.is_finite())));
        assert!(surface.pressure.iter().chain(&surface.area).all(|x| x.is_finite()));
    }
}

/// Same input, same bits, independent of the previous contents of workspace and surface; faces are sorted by
/// (A, B).
#[test]
fn a_query_repeats_bit_for_bit() {
    let (A, B) = (build(&shapes()[1], Some(1e5), None), build(&shapes()[3], Some(1e7), None));
    let (X_WA, X_WB) = (at(0.0, 0.0, 0.0), at(0.02, 0.01, 0.0));
    let fresh = query(&A, &X_WA, &B, &X_WB);
    let mut workspace = HydroelasticWorkspace::default();
    let mut surface = ContactSurface::new();
    contact_surface(&B, &X_WA, &A, &X_WB, &mut workspace, &mut surface).unwrap();
    contact_surface(&A, &X_WA, &B, &X_WB, &mut workspace, &mut surface).unwrap();
    let bits = |surface: &ContactSurface| -> Vec<u64> {
        surface
            .centroid
            .iter()
            .chain(&surface.corners)
            .flat_map(|v| [v.x, v.y, v.z])
            .chain(surface.pressure.iter().copied())
            .chain(surface.g_A.iter().copied())
            .map(f64::to_bits)
            .collect()
    };
    assert_eq!(bits(&fresh), bits(&surface));
    let order: Vec<(u32, u32)> = fresh.element_A.iter().copied().zip(fresh.element_B.iter().copied()).collect();
    assert!(order.windows(2).all(|pair| pair[0] < pair[1]));
}

/// Two springs in series, and one beside a rigid side.
#[test]
fn gradients_combine_in_series() {
    assert_eq!(effective_gradient(2e6, f64::INFINITY), 2e6);
    assert_eq!(effective_gradient(f64::INFINITY, 3e6), 3e6);
    assert_eq!(effective_gradient(3e6, 6e6), 2e6);
}

/// A tessellation fills its boundary: the tetrahedra's volumes add up to the volume that the boundary
/// encloses, and the boundary is closed. Overlaps and gaps would break one of these. The number of tetrahedra
/// is that of the rules.
#[test]
fn tessellations_fill_their_boundary() {
    let meshes = [
        sphere(0.05, 0.02),
        ellipsoid(&Vector3::new(0.06, 0.03, 0.01), 0.02),
        cuboid(&Vector3::new(0.05, 0.03, 0.02)).0,
        cuboid(&Vector3::new(0.02, 0.03, 0.05)).0,
        cuboid(&Vector3::new(0.03, 0.02, 0.03)).0,
        cuboid(&Vector3::new(0.02, 0.02, 0.03)).0,
        cuboid(&Vector3::repeat(0.02)).0,
        cylinder(0.02, 0.08, 0.01).0,
        cylinder(0.02, 0.04, 0.01).0,
        cylinder(0.02, 0.01, 0.01).0,
        capsule(0.02, 0.05, 0.01).0,
        capsule(0.02, 0.05, 1.0).0,
    ];
    let counts = [128, 512, 44, 44, 44, 40, 24, 5 * 13, 4 * 13, 9 * 13, 4 * 12 * 5 + 5 * 12, 5 * 3];
    for (i, mesh) in meshes.iter().enumerate() {
        let surface = boundary(mesh).unwrap();
        let (enclosed, _) = centroid(&surface);
        let filled: f64 = mesh
            .tets
            .iter()
            .map(|tet| {
                let [a, b, c, d] = tet.map(|vertex| mesh.vertices[vertex as usize]);
                ((b - a).cross(&(c - a)).dot(&(d - a)) / 6.0).abs()
            })
            .sum();
        assert!((filled - enclosed).abs() < 1e-12 * filled, "mesh {i}: {filled} {enclosed}");
        assert!(is_closed(&surface), "mesh {i}");
        assert_eq!(mesh.tets.len(), counts[i], "mesh {i}");
    }
}

/// Every edge once in each direction.
fn is_closed(surface: &SurfaceMesh) -> bool {
    let mut edges: Vec<(u32, u32)> = surface.triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
    edges.sort_unstable();
    let single = edges.windows(2).all(|pair| pair[0] != pair[1]);
    single && edges.iter().all(|(a, b)| edges.binary_search(&(*b, *a)).is_ok())
}

/// Hull of a cube's corners, the middle of a face (which may go), and points inside: closed, with volume 1.
#[test]
fn hull_of_a_cube() {
    let mut sequence = Random::new(5);
    let mut points: Vec<Vector3> = (0..200).map(|_| sequence.vector() * 0.499).collect();
    for corner in 0..8_u32 {
        points.push(
            Vector3::new(f64::from(corner & 1), f64::from(corner >> 1 & 1), f64::from(corner >> 2)).add_scalar(-0.5),
        );
    }
    points.push(Vector3::new(0.5, 0.0, 0.0));
    let hull = hull(&points).unwrap();
    let (volume, center) = centroid(&hull);
    assert!(is_closed(&hull));
    assert!((volume - 1.0).abs() < 1e-12 && center.norm() < 1e-12);
    assert_eq!(hull.triangles.len(), 2 * hull.vertices.len() - 4);
}

/// A hull of many points on a sphere keeps them all and satisfies Euler's formula.
#[test]
fn hull_of_a_sphere() {
    let mut sequence = Random::new(6);
    let points: Vec<Vector3> = (0..500).map(|_| sequence.vector().normalize()).collect();
    let hull = hull(&points).unwrap();
    assert!(is_closed(&hull));
    assert_eq!(hull.vertices.len(), 500);
    assert_eq!(hull.triangles.len(), 996);
}

/// Points of a finely meshed capsule, rounded to single precision as in STL files: many lie nearly in one
/// plane. The hull is closed, and no point is outside any of its facets by more than the rounding.
#[test]
fn hulls_of_rounded_points_are_closed() {
    let mut sequence = Random::new(7);
    for _ in 0..20 {
        let round = |x: f64| f64::from(x as f32);
        let points: Vec<Vector3> = (0..600)
            .map(|number| {
                let angle = std::f64::consts::TAU * f64::from(number % 30) / 30.0;
                let (z, radius) = (f64::from(number / 30) / 19.0 - 0.5, 0.2);
                let noise = sequence.vector() * 1e-9;
                (Vector3::new(radius * angle.cos(), radius * angle.sin(), z) + noise).map(round)
            })
            .collect();
        let hull = hull(&points).unwrap();
        assert!(is_closed(&hull));
        for triangle in &hull.triangles {
            let [a, b, c] = triangle.map(|vertex| hull.vertices[vertex as usize]);
            let normal = (b - a).cross(&(c - a));
            // A sliver has no direction
            if normal.norm() > 1e-6 {
                let outside = points.iter().map(|p| (p - a).dot(&normal) / normal.norm()).fold(0.0, f64::max);
                assert!(outside < 1e-6, "{outside:e} m");
            }
        }
    }
}

/// Round shapes without a resolution hint keep at least 97 % of their volume, so that they roll nearly as
/// round ones do.
#[test]
fn round_shapes_without_a_hint_are_nearly_round() {
    use std::f64::consts::PI;
    let shapes = [
        (Shape::Sphere { radius: 0.1 }, 4.0 / 3.0 * PI * 1e-3),
        (Shape::Ellipsoid { semi_axes: Vector3::new(0.1, 0.08, 0.06) }, 4.0 / 3.0 * PI * 4.8e-4),
        (Shape::Cylinder { radius: 0.1, length: 0.3 }, PI * 3e-3),
        (Shape::Capsule { radius: 0.1, length: 0.3 }, PI * 3e-3 + 4.0 / 3.0 * PI * 1e-3),
    ];
    for (shape, volume) in shapes {
        let HydroelasticGeometry::CompliantVolume(field) = build(&shape, Some(MODULUS), None) else { panic!() };
        let part = centroid(&boundary(field.mesh()).unwrap()).0 / volume;
        assert!((0.97..1.0).contains(&part), "{shape:?}: {part}");
    }
}

/// A convex triangle mesh is a star of tetrahedra; one that is not is filled.
#[test]
fn triangle_meshes_can_be_compliant() {
    let mesh = boundary(&cuboid(&Vector3::new(0.05, 0.03, 0.02)).0).unwrap();
    let soft = build(&Shape::Mesh(Arc::new(mesh.clone())), Some(MODULUS), None);
    let surface = query(&soft, &at(0.0, 0.0, 0.018), &HydroelasticGeometry::RigidHalfSpace, &at(0.0, 0.0, 0.0));
    assert!(surface.static_wrench_on_B().f.z < 0.0);
    let mut dented = mesh;
    dented.vertices[8] *= 0.5;
    let parameters = HydroelasticParameters {
        compliant: Some(MODULUS),
        resolution_hint: None,
        slab_thickness: None,
        margin: 0.0,
        ..Default::default()
    };
    let filled = HydroelasticGeometry::new(&Shape::Mesh(Arc::new(dented)), &parameters).unwrap();
    assert!(filled.is_compliant() && filled.vertices().len() > soft.vertices().len());
}

/// Rigid against rigid and half space against half space have no contact surface.
#[test]
fn pairs_without_a_field_are_refused() {
    let rigid = build(&Shape::Sphere { radius: 0.05 }, None, None);
    let soft = build(&Shape::HalfSpace, Some(MODULUS), None);
    let (mut surface, mut workspace) = (ContactSurface::new(), HydroelasticWorkspace::default());
    for (A, B) in [(&rigid, &rigid), (&soft, &soft), (&rigid, &HydroelasticGeometry::RigidHalfSpace)] {
        let pose = at(0.0, 0.0, 0.0);
        assert!(contact_surface(A, &pose, B, &pose, &mut workspace, &mut surface).is_err());
        assert!(surface.is_empty());
    }
}
