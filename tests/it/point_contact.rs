//! Point contact between rigid geometries: laws of statics, sliding, tipping, rolling and impact.

use std::sync::Arc;

use isobar::contact::{ContactProperties, NEAR_RIGID_BETA};
use isobar::geometry::{PointContacts, RigidShape, RigidWorkspace, Shape, SurfaceMesh, contact_points};
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, SpatialVelocity, Vector3};
use isobar::multibody::State;
use isobar::scene::{ContactKind, Scene, SceneBuilder};
use isobar::stepping::{JointCommand, Simulation, Snapshot, overlaps};

use crate::worlds::{GRAVITY, at, body_on_ground, points_of, run, settings};

use crate::golden;
use crate::random::Random;

const DOWN: Vector3 = Vector3::new(0.0, 0.0, -GRAVITY);

fn rigid(friction: f64) -> ContactProperties {
    ContactProperties { compliant: Some(false), mu_dynamic: Some(friction), ..ContactProperties::default() }
}

/// Inertia of a homogeneous box.
fn box_inertia(mass: f64, size: &Vector3) -> SpatialInertia {
    let [x, y, z] = [0, 1, 2].map(|i| size[i] * size[i] * mass / 12.0);
    SpatialInertia::from_central(mass, &Vector3::zeros(), &Matrix3::from_diagonal(&Vector3::new(y + z, x + z, x + y)))
}

/// A box as a triangle mesh with outward triangles.
fn box_mesh(size: &Vector3) -> SurfaceMesh {
    let vertices = (0..8)
        .map(|i| Vector3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2 & 1)).add_scalar(-0.5))
        .map(|v| v.component_mul(size))
        .collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    SurfaceMesh { vertices, triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect() }
}

/// A U-shaped block, not convex: a box of `size` with a channel through its top along y, half as wide and
/// deep.
fn channel(size: &Vector3) -> SurfaceMesh {
    let profile =
        [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (0.25, 0.5), (0.25, 0.0), (-0.25, 0.0), (-0.25, 0.5), (-0.5, 0.5)];
    let vertices = [-0.5, 0.5]
        .iter()
        .flat_map(|y| profile.iter().map(|(x, z)| Vector3::new(*x, *y, *z).component_mul(size)))
        .collect();
    // The profile in convex pieces: bottom, two legs.
    let caps = [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]];
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for [a, b, c] in caps {
        triangles.extend([[a, b, c], [a + 8, c + 8, b + 8]]);
    }
    for i in 0..8 {
        let j = (i + 1) % 8;
        triangles.extend([[i, j + 8, j], [i, i + 8, j + 8]]);
    }
    SurfaceMesh { vertices, triangles }
}

/// Arms of example-robot-data hold a posture with gains for two seconds: links that overlap at the start are
/// named and left out, and the other pairs do not disturb it. (The files are in the folder
/// ISOBAR_ROBOT_DATA.)
#[test]
fn arms_hold_their_posture() {
    let Some(folder) = golden::robots_of_others() else { return };
    let mut packages = PackageMap::new();
    packages.insert("example-robot-data", &folder);
    for file in [
        "panda_description/urdf/panda.urdf",
        "ur_description/urdf/ur5_robot.urdf",
        "kinova_description/robots/kinova.urdf",
    ] {
        let path = folder.join("robots").join(file);
        let scene = format!(
            "models: [{{ name: arm, urdf: '{}', weld: {{}}, actuators: {{ '*': {{ stiffness: 2000, damping: 100, \
             effort_limit: 1000 }} }}, gravity_compensation: true }}]\n",
            path.display()
        );
        let started = std::time::Instant::now();
        let loaded = scene_file::load_str(&scene, &folder.join("scene.yaml"), &packages).expect("a scene");
        println!("{file}: loaded in {:.2?}, {} rigid pairs", started.elapsed(), loaded.scene.rigid_pairs().count());
        let overlapping = loaded.warnings.iter().filter(|warning| warning.contains("overlap at the start"));
        overlapping.for_each(|warning| println!("  {warning}"));
        let mut simulation =
            Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings).expect("a simulation");
        let started = std::time::Instant::now();
        run(&mut simulation, &JointCommand::default(), 2.0);
        let now = snapshot(&simulation);
        // Fingers that start closed touch.
        let speed = now.joint_velocity.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        let touching = now.contact_patches().len();
        for patch in now.contact_patches() {
            let name = |geometry| loaded.scene.geometry_name(geometry);
            let (a, b) = (name(patch.geometry_A), name(patch.geometry_B));
            println!("  {a} and {b}: {:.3} N at {} points", patch.F_BC_W.f.norm(), patch.faces.area.len());
        }
        println!("  2 s in {:.2?}; speed {speed:.1e}, {touching} pairs touch", started.elapsed());
        let q = &simulation.state().q;
        let moved = q.iter().zip(&loaded.initial.q).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(speed < 1e-2 && moved < 0.1, "{file}: moved by {moved}, at {speed}");
    }
}

/// Free bodies, each a shape with an inertia and a pose, on a rigid half space.
fn on_ground(
    bodies: &[(Shape, SpatialInertia, RigidTransform)],
    friction: f64,
    gravity: Vector3,
) -> (Arc<Scene>, State) {
    let mut builder = SceneBuilder::new();
    let properties = rigid(friction);
    let floor = RigidTransform::identity();
    builder.add_geometry(BodyIndex::WORLD, "ground", floor, Shape::HalfSpace, &properties).expect("a ground");
    for (number, (shape, inertia, _)) in bodies.iter().enumerate() {
        let body = builder.add_body(&format!("body{number}"), *inertia);
        builder
            .add_geometry(body, "shape", RigidTransform::identity(), shape.clone(), &properties)
            .expect("a geometry");
    }
    let scene = builder.build(gravity).expect("a scene");
    let mut state = scene.model().default_state();
    for (body, (_, _, X_WB)) in scene.free_bodies().iter().zip(bodies) {
        scene.model().set_free_body_pose(&mut state, *body, X_WB);
    }
    (Arc::new(scene), state)
}

fn snapshot(simulation: &Simulation) -> Snapshot {
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    snapshot
}

/// A stack stands for a minute: no box turns or drifts, every face rests on four points or more, and each
/// contact carries the weight above it. Points under the weight of one box sink by g (beta dt/(2 pi))^2, some
/// nanometres.
#[test]
fn stack_of_boxes_stands() {
    let size = Vector3::new(0.1, 0.08, 0.06);
    let mass = 0.5;
    for mesh in [false, true] {
        let shape = if mesh { Shape::Mesh(Arc::new(box_mesh(&size))) } else { Shape::Box { size } };
        let place = |i: usize| at(0.0, 0.0, (i as f64 + 0.5) * size.z);
        let bodies: Vec<_> = (0..5).map(|i| (shape.clone(), box_inertia(mass, &size), place(i))).collect();
        let (scene, state) = on_ground(&bodies, 0.5, DOWN);
        let mut simulation = Simulation::new(scene, state, settings(1e-3)).expect("a simulation");
        run(&mut simulation, &JointCommand::default(), 60.0);
        let now = snapshot(&simulation);
        assert_eq!(now.contact_patches().len(), 5);
        for (i, patch) in now.contact_patches().iter().enumerate() {
            assert_eq!(patch.kind, ContactKind::Points);
            assert!(patch.faces.area.len() >= 4 && patch.area == 0.0);
            let weight = (5 - i) as f64 * mass * GRAVITY;
            assert!((patch.F_BC_W.f.z - weight).abs() < 1e-6 * weight, "{i}: {} N for {weight}", patch.F_BC_W.f.z);
        }
        // Four springs at each face: k = (2 pi/(beta dt))^2/w with w = (1 + 12 a^2/(b^2 + c^2) + ...)/m at
        // the corners, which box and box have twice. The i-th face carries 5 - i weights.
        let corner = |a: f64, b: f64| 3.0 * a * a / (a * a + b * b);
        let w = 1.0 + corner(size.x, size.z) + corner(size.y, size.z);
        let share = (NEAR_RIGID_BETA * 1e-3 / std::f64::consts::TAU).powi(2) * GRAVITY * w / 4.0;
        let mut worst = (0.0_f64, 0.0_f64, 0.0_f64);
        let mut sunk = 0.0;
        for (i, body) in simulation.scene().free_bodies().iter().enumerate() {
            let X_WB = simulation.data().X_WB[*body];
            let drift = X_WB.translation.vector - place(i).translation.vector;
            sunk += share * (5 - i) as f64 * if i == 0 { 1.0 } else { 2.0 };
            let sinking = (drift.z + sunk).abs() / sunk;
            worst = (worst.0.max(drift.xy().norm()), worst.1.max(X_WB.rotation.angle()), worst.2.max(sinking));
        }
        println!(
            "mesh {mesh}: after 60 s drift {:.1e} m, turn {:.1e} rad; sunk by {sunk:.2e} m, {:.1e} off the law",
            worst.0, worst.1, worst.2
        );
        assert!(worst.0 < 1e-9 && worst.1 < 1e-9 && worst.2 < 1e-3, "{worst:?}");
    }
}

/// A box on an incline slides with a = g (sin - mu cos) on a half space and on a larger box.
#[test]
fn box_slides_down() {
    let (friction, angle) = (0.3_f64, 0.5_f64);
    let size = Vector3::new(0.1, 0.06, 0.04);
    let gravity = Vector3::new(angle.sin(), 0.0, -angle.cos()) * GRAVITY;
    for slab in [false, true] {
        let mut builder = SceneBuilder::new();
        let (shape, X_WG) = if slab {
            (Shape::Box { size: Vector3::new(20.0, 1.0, 0.2) }, at(0.0, 0.0, -0.1))
        } else {
            (Shape::HalfSpace, RigidTransform::identity())
        };
        builder.add_geometry(BodyIndex::WORLD, "ground", X_WG, shape, &rigid(friction)).expect("a ground");
        let body = builder.add_body("body", box_inertia(0.5, &size));
        let identity = RigidTransform::identity();
        builder.add_geometry(body, "box", identity, Shape::Box { size }, &rigid(friction)).expect("a box");
        let scene = Arc::new(builder.build(gravity).expect("a scene"));
        let mut state = scene.model().default_state();
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.02));
        let mut simulation = Simulation::new(scene, state, settings(1e-3)).expect("a simulation");
        run(&mut simulation, &JointCommand::default(), 0.5);
        let before = simulation.data().V_WB[body].v.x;
        run(&mut simulation, &JointCommand::default(), 0.5);
        let acceleration = (simulation.data().V_WB[body].v.x - before) / 0.5;
        let law = GRAVITY * (angle.sin() - friction * angle.cos());
        println!("slab {slab}: {acceleration} m/s2, law {law}");
        assert!((acceleration - law).abs() < 1e-3 * law);
    }
}

/// A box tips when tan(angle) exceeds width over height, and stands below it.
#[test]
fn box_tips_at_its_aspect_ratio() {
    let size = Vector3::new(0.05, 0.05, 0.1);
    let limit = (size.x / size.z).atan();
    for (share, tips) in [(0.99, false), (1.01, true)] {
        let angle = share * limit;
        let gravity = Vector3::new(angle.sin(), 0.0, -angle.cos()) * GRAVITY;
        let bodies = [(Shape::Box { size }, box_inertia(0.3, &size), at(0.0, 0.0, 0.05))];
        let (scene, state) = on_ground(&bodies, 2.0, gravity);
        let body = scene.free_bodies()[0];
        let mut simulation = Simulation::new(scene, state, settings(1e-3)).expect("a simulation");
        run(&mut simulation, &JointCommand::default(), 1.0);
        let turned = simulation.data().X_WB[body].rotation.angle();
        println!("{share} of the limit: turned {turned:.2e} rad in a second");
        assert_eq!(turned > 1e-2, tips);
    }
}

/// A sphere that slides without spin ends rolling at 5/7 of its speed, because points have no rolling
/// resistance.
#[test]
fn sliding_sphere_ends_rolling() {
    let (radius, mass, v0) = (0.05, 0.2, 0.5);
    let moments = Vector3::repeat(0.4 * mass * radius * radius);
    let (scene, mut state, body) = body_on_ground(Shape::Sphere { radius }, mass, moments, &rigid(0.3), DOWN);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, radius));
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(v0, 0.0, 0.0));
    scene.model().set_free_body_velocity(&mut state, body, &V);
    let mut simulation = Simulation::new(scene, state, settings(1e-3)).expect("a simulation");
    run(&mut simulation, &JointCommand::default(), 1.0);
    let V = simulation.data().V_WB[body];
    println!("rolls at {} m/s (5/7 v0 = {}), slip {:.1e}", V.v.x, v0 * 5.0 / 7.0, V.v.x - V.w.y * radius);
    assert!((V.v.x - v0 * 5.0 / 7.0).abs() < 1e-5 * v0);
    assert!((V.v.x - V.w.y * radius).abs() < 1e-5 * v0);
}

/// Hunt-Crossley impact: d (vi + vo) = ln[(1 + d vi)/(1 - d vo)], for any stiffness; first order in the step.
#[test]
fn restitution_does_not_depend_on_stiffness() {
    let (d, vi) = (1.5, 0.4);
    let (mut low, mut high) = (0.0, vi);
    for _ in 0..100 {
        let vo: f64 = 0.5 * (low + high);
        let excess = d * (vi + vo) - ((1.0 + d * vi) / (1.0 - d * vo)).ln();
        if excess > 0.0 { low = vo } else { high = vo }
    }
    for stiffness in [1e3, 1e4] {
        let properties = ContactProperties {
            point_contact_stiffness: Some(stiffness),
            hunt_crossley_dissipation: Some(d),
            ..rigid(0.0)
        };
        let sphere = Shape::Sphere { radius: 0.05 };
        let (scene, mut state, body) =
            body_on_ground(sphere, 0.2, Vector3::repeat(2e-4), &properties, Vector3::zeros());
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.0501));
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -vi));
        scene.model().set_free_body_velocity(&mut state, body, &V);
        let mut simulation = Simulation::new(scene, state, settings(1e-5)).expect("a simulation");
        run(&mut simulation, &JointCommand::default(), 0.1);
        let vo = simulation.data().V_WB[body].v.z;
        println!("stiffness {stiffness:e} N/m: leaves at {vo} m/s, law {low}");
        assert!((vo - low).abs() < 5e-3 * low);
    }
}

fn zoo() -> Vec<Shape> {
    sized_zoo(1.0)
}

fn sized_zoo(s: f64) -> Vec<Shape> {
    vec![
        Shape::Sphere { radius: 0.05 * s },
        Shape::Ellipsoid { semi_axes: Vector3::new(0.05, 0.04, 0.03) * s },
        Shape::Box { size: Vector3::new(0.1, 0.08, 0.06) * s },
        Shape::Cylinder { radius: 0.04 * s, length: 0.1 * s },
        Shape::Capsule { radius: 0.03 * s, length: 0.08 * s },
        Shape::HalfSpace,
        Shape::Convex(Arc::new(channel(&(Vector3::new(0.1, 0.08, 0.06) * s)))),
        Shape::Mesh(Arc::new(channel(&(Vector3::new(0.1, 0.08, 0.06) * s)))),
    ]
}

/// A fixed sequence of poses near each other.
fn poses(count: usize) -> impl Iterator<Item = RigidTransform> {
    let mut random = Random::new(7);
    (0..count).map(move |_| {
        let (p, axis) = (random.vector() * 0.1, random.vector() * 3.0);
        RigidTransform::from_parts(p.into(), Rotation::from_scaled_axis(axis))
    })
}

/// Largest difference of two manifolds, the second with A and B exchanged [m, or -]: of each point of one to
/// the nearest of the other in position, normal (times the millimetre) and distance; infinite where they have
/// unequal numbers of points.
fn distance_of_manifolds(ab: &PointContacts, ba: &PointContacts) -> f64 {
    if ab.len() != ba.len() {
        return f64::INFINITY;
    }
    let one_sided = |from: &PointContacts, to: &PointContacts| {
        let nearest = |i: usize| {
            let difference = |j: usize| {
                (from.p_WC[i] - to.p_WC[j])
                    .norm()
                    .max(1e-3 * (from.normal[i] + to.normal[j]).norm())
                    .max((from.phi[i] - to.phi[j]).abs())
            };
            (0..to.len()).map(difference).fold(f64::INFINITY, f64::min)
        };
        (0..from.len()).map(nearest).fold(0.0, f64::max)
    };
    one_sided(ab, ba).max(one_sided(ba, ab))
}

/// Every pair of shapes at 300 poses: numbers are finite, normals are unit vectors, swapping A and B gives
/// the same points with opposite normals, and the second answer has the bits of the first.
///
/// Swapping two equal cylinders keeps only the depth, to the accuracy of GJK and EPA. Two equal meshes are
/// not swapped: deep inside each other they have no best direction.
#[test]
fn every_pair_is_finite_symmetric_and_repeatable() {
    let sizes = [1.0, 0.9].map(sized_zoo).concat();
    for a in zoo() {
        for b in &sizes {
            let (shape_A, shape_B) = (RigidShape::new(&a).expect("a shape"), RigidShape::new(b).expect("a shape"));
            let mut workspace = RigidWorkspace::default();
            let (mut ab, mut ba, mut again) = <(PointContacts, PointContacts, PointContacts)>::default();
            let mut touching = 0;
            for (X_WA, X_WB) in poses(300).zip(poses(301).skip(1)) {
                contact_points(&shape_A, &X_WA, &shape_B, &X_WB, 1e-3, &mut workspace, &mut ab);
                contact_points(&shape_B, &X_WB, &shape_A, &X_WA, 1e-3, &mut workspace, &mut ba);
                contact_points(&shape_A, &X_WA, &shape_B, &X_WB, 1e-3, &mut workspace, &mut again);
                assert_eq!(ab, again);
                touching += usize::from(!ab.is_empty());
                let names = (a.kind(), b.kind());
                for (normal, phi) in ab.normal.iter().zip(&ab.phi) {
                    assert!((normal.norm() - 1.0).abs() < 1e-12 && phi.is_finite() && *phi < 1e-3, "{names:?}");
                }
                if a != *b || !["cylinder", "mesh"].contains(&names.0) {
                    let difference = distance_of_manifolds(&ab, &ba);
                    assert!(difference < 1e-12, "{names:?} at {X_WA} and {X_WB}: {ab:?} {ba:?}");
                } else if names.0 == "cylinder" {
                    let deepest = |points: &PointContacts| points.phi.iter().copied().fold(1e-3, f64::min);
                    let difference = (deepest(&ab) - deepest(&ba)).abs();
                    assert!(difference < 1e-6, "{names:?}: {} and {}", deepest(&ab), deepest(&ba));
                }
            }
            assert!(touching > 20 || (a.kind() == "half space" && b.kind() == "half space"), "{touching}");
        }
    }
}

/// Shapes at the same position, and shapes with faces in one plane: finite numbers, and contact points for
/// overlaps.
#[test]
fn coincident_shapes_have_finite_contacts() {
    for a in zoo() {
        for b in zoo() {
            for X_WB in [RigidTransform::identity(), at(0.0, 0.0, 0.06), at(0.1, 0.0, 0.0), at(0.05, 0.04, 0.03)] {
                let points = points_of(&a, &RigidTransform::identity(), &b, &X_WB, 1e-3);
                let (spaces, meshes) = (["half space"; 2], [a.kind(), b.kind()].contains(&"mesh"));
                let overlap = X_WB == RigidTransform::identity() && [a.kind(), b.kind()] != spaces && !meshes;
                assert!(!overlap || points.phi.iter().any(|phi| *phi < -0.01), "{} {}: {points:?}", a.kind(), b.kind());
                for i in 0..points.len() {
                    let finite = points.p_WC[i].iter().chain(points.normal[i].iter()).all(|x| x.is_finite());
                    assert!(finite && points.phi[i].is_finite(), "{} {}", a.kind(), b.kind());
                }
            }
        }
    }
}

/// While a box slides over the edge of another, the depth stays the same, and the points reach to the edge of
/// the area that the two faces share.
#[test]
fn box_slides_over_an_edge_continuously() {
    let size = Vector3::new(0.1, 0.1, 0.1);
    for shape in [Shape::Box { size }, Shape::Mesh(Arc::new(channel(&size)))] {
        let mut last: Option<f64> = None;
        for i in 0..200 {
            let x = 5e-4 * f64::from(i);
            let points = points_of(&Shape::Box { size }, &at(0.0, 0.0, 0.0), &shape, &at(x, 0.003, 0.09999), 1e-4);
            let least = points.phi.iter().copied().fold(f64::INFINITY, f64::min);
            let up: f64 = points.normal.iter().map(|n| n.z).sum::<f64>() / points.len() as f64;
            assert!(points.len() >= 4 && (least + 1e-5).abs() < 1e-12, "{} x {x}: {points:?}", shape.kind());
            assert!((up - 1.0).abs() < 1e-9);
            let right = points.p_WC.iter().map(|p| p.x).fold(f64::NEG_INFINITY, f64::max);
            assert!((right - 0.05).abs() < 1e-9, "x {x}: {right}");
            if let Some(last) = last {
                assert!((least - last).abs() < 1e-9);
            }
            last = Some(least);
        }
    }
}

/// A channel, which is not convex, rests upside down on its feet, and carries a box in its groove; contact
/// forces balance the weights.
#[test]
fn meshes_rest_on_each_other() {
    let size = Vector3::new(0.2, 0.1, 0.1);
    let cube = Vector3::new(0.06, 0.06, 0.06);
    let groove = Shape::Mesh(Arc::new(channel(&size)));
    let ball = Shape::Sphere { radius: 0.03 };
    for (top, height) in
        [(Shape::Box { size: cube }, 0.03), (Shape::Mesh(Arc::new(channel(&cube))), 0.03), (ball, 0.03)]
    {
        let name = top.kind();
        let bodies = [
            (groove.clone(), box_inertia(1.0, &size), at(0.0, 0.0, 0.05)),
            (top, box_inertia(0.4, &cube), at(0.01, 0.005, 0.05 + height)),
        ];
        let (scene, state) = on_ground(&bodies, 0.5, DOWN);
        assert!(overlaps(&scene, &state).is_empty(), "{name}");
        let mut simulation = Simulation::new(scene, state, settings(1e-3)).expect("a simulation");
        run(&mut simulation, &JointCommand::default(), 5.0);
        let now = snapshot(&simulation);
        for body in simulation.scene().free_bodies() {
            println!("{name}: {:?} {:?}", now.X_WB[*body].translation.vector, now.F_BBo_W[*body].f);
        }
        let on_top = now.F_BBo_W[simulation.scene().free_bodies()[1]].f;
        assert!((on_top.z - 0.4 * GRAVITY).abs() < 1e-4, "{name}: {on_top:?}");
        let moved = now.X_WB[simulation.scene().free_bodies()[1]].translation.vector - bodies[1].2.translation.vector;
        // A ball that the settling block has set rolling does not stop.
        let allowed = if name == "sphere" { 1e-4 } else { 1e-5 };
        assert!(moved.norm() < allowed, "{name} moved by {moved:?}");
    }
}
