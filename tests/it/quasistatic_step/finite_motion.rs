//! Steps in which bodies move far: weights of the end, planes only where faces are, turntables, and hands
//! that
//! turn.

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::multibody::{self, Data, JointKind, JointLimits, JointSpec, Mimic, energy};
use isobar::scene::SceneBuilder;
use isobar::stepping::{Snapshot, UnactuatedInertia};

use super::{add_box, add_finger, add_ground, positions, rigid, simulate, spring};
use crate::worlds::{GRAVITY, at, compliant, quasistatic};

fn add_link(builder: &mut SceneBuilder, name: &str, parent: BodyIndex, x: f64, mass: f64) -> BodyIndex {
    let inertia =
        SpatialInertia::from_central(mass, &Vector3::new(0.2, 0.0, 0.0), &Matrix3::from_diagonal_element(0.01));
    let link = builder.add_body(name, inertia);
    let spec = JointSpec {
        axis_F: -Vector3::y(),
        X_PF: at(x, 0.0, 0.0),
        limits: JointLimits::NONE,
        ..JointSpec::new(&format!("{name}_joint"), parent, link, JointKind::Revolute)
    };
    let joint = builder.add_joint(spec).expect("a joint");
    builder.set_actuator(joint, spring(500.0, f64::INFINITY));
    link
}

/// The actuators of an arm of two links carry the weights of the pose in which a step ends.
#[test]
fn an_arm_carries_its_weight_at_the_end_of_a_step() {
    for step in [0.01, 0.1, 0.4] {
        let mut builder = SceneBuilder::new();
        let upper = add_link(&mut builder, "upper", BodyIndex::WORLD, 0.0, 1.0);
        add_link(&mut builder, "lower", upper, 0.4, 0.5);
        let settings = quasistatic(step, UnactuatedInertia::DRAG);
        let mut simulation = simulate(builder, Vector3::new(0.0, 0.0, -GRAVITY), settings, &[]);
        let mut snapshot = Snapshot::default();
        for number in 1..=10 {
            let goal = 0.3 - step * f64::from(number);
            simulation.step(&positions(&[goal, -goal])).expect("a step");
            simulation.snapshot_into(&mut snapshot);
            let q = &simulation.state().q;
            let lower = 0.5 * GRAVITY * 0.2 * (q[0] + q[1]).cos();
            let upper = GRAVITY * q[0].cos() * (0.2 + 0.5 * 0.4) + lower;
            for (effort, weight) in snapshot.joint_effort.as_slice().iter().zip([upper, lower]) {
                assert!((effort - weight).abs() < 1e-5 * upper.abs().max(1.0), "{step}: {effort} N m for {weight}");
            }
        }
    }
}

/// A heavy arm with a slider on its link and a link that follows its first joint: the efforts are the slopes
/// of the potential of the weights where the step ends, also with an effort limit and beside a soft ball.
#[test]
fn other_arms_carry_their_weights() {
    for (step, soft) in [0.01, 0.1, 0.5].into_iter().flat_map(|step| [(step, false), (step, true)]) {
        let (builder, ball) = heavy_arm(soft);
        let settings = quasistatic(step, UnactuatedInertia::DRAG);
        let at_rest: Vec<_> = ball.into_iter().map(|ball| (ball, Vector3::new(5.0, 0.0, 0.0499))).collect();
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &at_rest);
        let mut snapshot = Snapshot::default();
        for number in 1..=8 {
            let goal = 1.2 * step * f64::from(number);
            simulation.step(&positions(&[0.5 - goal, 0.2 * goal, 0.0])).expect("a step");
            simulation.snapshot_into(&mut snapshot);
            let scene = simulation.scene().clone();
            let q = &simulation.state().q;
            let potential = |joint: usize, moved: f64| {
                let (mut q, mut data) = (q.clone(), Data::new(scene.model()));
                q[joint] += moved;
                multibody::positions(scene.model(), &q, &mut data);
                energy(scene.model(), &data, &simulation.state().v).potential
            };
            for joint in 0..2 {
                let weight = (potential(joint, 1e-4) - potential(joint, -1e-4)) / 2e-4;
                let effort = snapshot.joint_effort.as_slice()[joint];
                assert!((effort - weight).abs() < 2e-5, "{step}, {soft}: joint {joint}: {effort} for {weight}");
            }
        }
    }
}

/// The arm, and a soft ball on a ground far from it.
fn heavy_arm(soft: bool) -> (SceneBuilder, Option<BodyIndex>) {
    let mut builder = SceneBuilder::new();
    let boom = add_link(&mut builder, "boom", BodyIndex::WORLD, 0.0, 8.0);
    let inertia = SpatialInertia::from_central(2.0, &Vector3::zeros(), &Matrix3::from_diagonal_element(0.01));
    let carriage = builder.add_body("carriage", inertia);
    let spec = JointSpec {
        axis_F: Vector3::x(),
        limits: JointLimits::NONE,
        ..JointSpec::new("carriage_joint", boom, carriage, JointKind::Prismatic)
    };
    let joint = builder.add_joint(spec).expect("a joint");
    builder.set_actuator(joint, spring(2000.0, 400.0));
    let inertia =
        SpatialInertia::from_central(1.5, &Vector3::new(0.0, 0.0, 0.1), &Matrix3::from_diagonal_element(0.01));
    let follower = builder.add_body("follower", inertia);
    let spec = JointSpec {
        axis_F: Vector3::y(),
        limits: JointLimits::NONE,
        mimic: Some(Mimic { joint: "boom_joint".to_owned(), multiplier: -0.7, offset: 0.2 }),
        ..JointSpec::new("follower_joint", carriage, follower, JointKind::Revolute)
    };
    builder.add_joint(spec).expect("a joint");
    let ball = soft.then(|| {
        add_ground(&mut builder, &rigid(0.5));
        let inertia = SpatialInertia::from_central(0.2, &Vector3::zeros(), &Matrix3::from_diagonal_element(2e-4));
        let ball = builder.add_body("ball", inertia);
        let shape = Shape::Sphere { radius: 0.05 };
        builder.add_geometry(ball, "ball", at(0.0, 0.0, 0.0), shape, &compliant(1e6, 0.0, 0.5)).expect("a ball");
        ball
    });
    (builder, ball)
}

/// A ball falls past a cube at a distance, to the ground below, and keeps its place.
#[test]
fn a_ball_falls_beside_a_cube() {
    for gap in [0.002, 0.015] {
        for step in [0.01, 0.05, 0.1] {
            let mut builder = SceneBuilder::new();
            add_ground(&mut builder, &rigid(0.4));
            let cube = Shape::Box { size: Vector3::new(0.2, 0.2, 0.2) };
            builder.add_geometry(BodyIndex::WORLD, "cube", at(0.0, 0.0, 0.5), cube, &rigid(0.4)).expect("a cube");
            let inertia = SpatialInertia::from_central(0.1, &Vector3::zeros(), &Matrix3::from_diagonal_element(2e-5));
            let ball = builder.add_body("ball", inertia);
            let shape = Shape::Sphere { radius: 0.02 };
            builder.add_geometry(ball, "ball", at(0.0, 0.0, 0.0), shape, &rigid(0.4)).expect("a ball");
            let start = Vector3::new(0.12 + gap, 0.0, 0.65);
            let settings = quasistatic(step, UnactuatedInertia::DRAG);
            let mut simulation = simulate(builder, Vector3::new(0.0, 0.0, -GRAVITY), settings, &[(ball, start)]);
            for _ in 0..(0.2 / step) as u32 + 2 {
                simulation.step(&positions(&[])).expect("a step");
            }
            let p = simulation.data().X_WB[ball].translation.vector;
            assert!((p.x - start.x).abs() < 1e-4, "{gap}, {step}: it moved by {} m", p.x - start.x);
            assert!((p.z - 0.02).abs() < 2e-4, "{gap}, {step}: it is at the height {}", p.z);
        }
    }
}

/// A finger passes a cube at a distance of 10 mm and does not move it; one that meets it does.
#[test]
fn a_finger_passes_a_cube() {
    for (gap, step, way) in [(0.01, 0.1, 0.05), (0.01, 0.05, 0.2), (0.01, 0.1, 0.4), (-0.01, 0.1, 0.05)] {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.4));
        let size = Vector3::new(0.06, 0.06, 0.06);
        let cube = add_box(&mut builder, "cube", size, 0.2, &rigid(0.4));
        let start = Vector3::new(-0.2, 0.05 + gap, 0.03);
        let tip = Shape::Box { size: Vector3::new(0.04, 0.04, 0.04) };
        let axis = (start, Vector3::x());
        add_finger(&mut builder, "f", axis, JointLimits::NONE, spring(1e4, f64::INFINITY), (tip, &rigid(0.4)));
        let at_rest = Vector3::new(0.0, 0.0, 0.03);
        let settings = quasistatic(step, UnactuatedInertia::DRAG);
        let mut simulation = simulate(builder, Vector3::new(0.0, 0.0, -GRAVITY), settings, &[(cube, at_rest)]);
        let mut goal = 0.0;
        while goal < 0.4 {
            goal += way;
            simulation.step(&positions(&[goal])).expect("a step");
        }
        let moved = (simulation.data().X_WB[cube].translation.vector - at_rest).norm();
        assert_eq!(moved > 0.05, gap < 0.0, "{gap}, {step}, {way}: it moved by {moved} m");
        assert!(gap < 0.0 || moved < 1e-4, "{gap}, {step}, {way}: it moved by {moved} m");
    }
}

/// An object on a turntable keeps its place on it, in steps of up to 0.2 rad, but for the error of the arc.
#[test]
fn an_object_stays_on_a_turntable() {
    let round = Shape::Cylinder { radius: 0.4, length: 0.1 };
    let square = Shape::Box { size: Vector3::new(0.8, 0.8, 0.1) };
    for (name, shape) in [("round", &round), ("square", &square)] {
        for turn in [0.025, 0.1, 0.2] {
            let mut builder = SceneBuilder::new();
            let table = add_table(&mut builder, shape);
            let object = add_box(&mut builder, "object", Vector3::new(0.06, 0.05, 0.04), 0.3, &rigid(0.8));
            let start = Vector3::new(0.2, 0.0, 0.02 - 1e-6);
            let settings = quasistatic(0.1, UnactuatedInertia::DRAG);
            let mut simulation = simulate(builder, Vector3::new(0.0, 0.0, -GRAVITY), settings, &[(object, start)]);
            let relative = |simulation: &isobar::stepping::Simulation| {
                let X = simulation.data().X_WB[table].inverse() * simulation.data().X_WB[object];
                (X.translation.vector, X.rotation)
            };
            simulation.step(&positions(&[0.0])).expect("a step");
            let (before, faced) = relative(&simulation);
            let count = (6.3 / turn) as u32;
            for number in 1..=count {
                simulation.step(&positions(&[turn * f64::from(number)])).unwrap_or_else(|e| panic!("{name}: {e}"));
            }
            let (after, faces) = relative(&simulation);
            let (moved, turned) = ((after - before).norm(), (faces.matrix() - faced.matrix()).norm());
            let off = moved - f64::from(count) * off_the_arc(0.2, turn);
            assert!(off.abs() < 1e-6 && turned < 1e-6, "{name}, {turn} rad: it moved by {moved} m and {turned}");
        }
    }
}

/// The way by which a point at the distance `r` \[m\] leaves its arc in a step that turns it by an angle
/// \[rad\] with the Jacobian of the middle: r turn^3/24.
fn off_the_arc(r: f64, turn: f64) -> f64 {
    r * turn.powi(3) / 24.0
}

fn add_table(builder: &mut SceneBuilder, shape: &Shape) -> BodyIndex {
    let inertia = SpatialInertia::from_central(1.0, &Vector3::zeros(), &Matrix3::from_diagonal_element(0.1));
    let table = builder.add_body("table", inertia);
    let spec = JointSpec {
        axis_F: Vector3::z(),
        limits: JointLimits::NONE,
        ..JointSpec::new("table_joint", BodyIndex::WORLD, table, JointKind::Revolute)
    };
    let joint = builder.add_joint(spec).expect("a joint");
    builder.set_actuator(joint, spring(1e3, f64::INFINITY));
    builder.add_geometry(table, "table", at(0.0, 0.0, -0.05), shape.clone(), &rigid(0.8)).expect("a table");
    table
}

/// Round objects between the fingers of a hand that turns by 0.1 rad a step stay where they are held, but for
/// the error of the arc, and turn with the hand.
#[test]
fn a_hand_that_turns_keeps_what_it_holds() {
    let shapes = [
        Shape::Sphere { radius: 0.03 },
        Shape::Capsule { radius: 0.03, length: 0.04 },
        Shape::Cylinder { radius: 0.03, length: 0.04 },
    ];
    for shape in shapes {
        let mut builder = SceneBuilder::new();
        let hand = add_table(&mut builder, &Shape::Box { size: Vector3::new(0.01, 0.01, 0.01) });
        for (name, side) in [("left", -1.0), ("right", 1.0)] {
            let inertia = SpatialInertia::from_central(0.1, &Vector3::zeros(), &Matrix3::from_diagonal_element(1e-4));
            let finger = builder.add_body(name, inertia);
            let spec = JointSpec {
                axis_F: Vector3::x() * -side,
                X_PF: at(0.2 + 0.05 * side, 0.0, 0.0),
                limits: JointLimits::NONE,
                ..JointSpec::new(&format!("{name}_joint"), hand, finger, JointKind::Prismatic)
            };
            let joint = builder.add_joint(spec).expect("a joint");
            builder.set_actuator(joint, spring(1e3, f64::INFINITY));
            let tip = Shape::Box { size: Vector3::new(0.04, 0.04, 0.04) };
            builder.add_geometry(finger, "tip", at(0.0, 0.0, 0.0), tip, &rigid(0.8)).expect("a tip");
        }
        let inertia = SpatialInertia::from_central(0.2, &Vector3::zeros(), &Matrix3::from_diagonal_element(1e-4));
        let object = builder.add_body("object", inertia);
        builder.add_geometry(object, "object", at(0.0, 0.0, 0.0), shape.clone(), &rigid(0.8)).expect("a geometry");
        let settings = quasistatic(0.1, UnactuatedInertia::DRAG);
        let start = Vector3::new(0.2, 0.0, 0.0);
        let mut simulation = simulate(builder, Vector3::zeros(), settings, &[(object, start)]);
        for number in 0..=60 {
            let grip = [0.1 * f64::from(number), 0.01, 0.01];
            simulation.step(&positions(&grip)).unwrap_or_else(|e| panic!("{}: {e}", shape.kind()));
        }
        let X = simulation.data().X_WB[hand].inverse() * simulation.data().X_WB[object];
        let moved = (X.translation.vector - start).norm();
        let turned = (X.rotation.matrix() - Matrix3::identity()).norm();
        let off = moved - 60.0 * off_the_arc(0.2, 0.1);
        assert!(off.abs() < 5e-6 && turned < 1e-4, "{}: it moved by {moved} m and {turned}", shape.kind());
    }
}
