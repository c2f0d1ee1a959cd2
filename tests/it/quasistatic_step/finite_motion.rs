//! Steps in which bodies move far: weights of the end, planes only where faces are, and slip between poses.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec};
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
                let report = simulation.step(&positions(&[])).expect("a step");
                println!("BALL {gap} {step} parts {}", report.parts);
            }
            let p = simulation.data().X_WB[ball].translation.vector;
            println!("BALL {gap} {step} {p:?}");
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
            let report = simulation.step(&positions(&[goal])).expect("a step");
            println!("FINGER {gap} {step} {way} parts {}", report.parts);
        }
        let moved = (simulation.data().X_WB[cube].translation.vector - at_rest).norm();
        println!("FINGER {gap} {step} {way} moved {moved}");
        assert_eq!(moved > 0.05, gap < 0.0, "{gap}, {step}, {way}: it moved by {moved} m");
        assert!(gap < 0.0 || moved < 1e-4, "{gap}, {step}, {way}: it moved by {moved} m");
    }
}

/// An object on a turntable keeps its place on it, in steps of up to 0.2 rad.
#[test]
fn an_object_stays_on_a_turntable() {
    let soft = compliant(1e6, 0.0, 0.8);
    let round = Shape::Cylinder { radius: 0.4, length: 0.1 };
    let square = Shape::Box { size: Vector3::new(0.8, 0.8, 0.1) };
    for (name, properties, shape) in
        [("rigid", rigid(0.8), &round), ("rigid square", rigid(0.8), &square), ("soft", soft, &square)]
    {
        for turn in [0.025, 0.1, 0.2] {
            let mut builder = SceneBuilder::new();
            let table = add_table(&mut builder, shape);
            let object = add_box(&mut builder, "object", Vector3::new(0.06, 0.05, 0.04), 0.3, &properties);
            let start = Vector3::new(0.2, 0.0, 0.02);
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
            println!("TABLE {name} {turn}: {moved} m, {turned}");
            assert!(moved < 1e-3 && turned < 0.02, "{name}, {turn} rad: it moved by {moved} m and {turned}");
        }
    }
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
    let properties = ContactProperties { mu_dynamic: Some(0.8), ..rigid(0.8) };
    builder.add_geometry(table, "table", at(0.0, 0.0, -0.05), shape.clone(), &properties).expect("a table");
    table
}

/// A compliant box whose centre is beyond the edge of a table tips over it and lands at the same place in
/// steps of any length.
#[test]
fn a_compliant_box_that_tips_lands_at_one_place() {
    let mut places = Vec::new();
    for step in [0.4, 0.2, 0.1, 0.05, 0.02] {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.45));
        let table = Shape::Box { size: Vector3::new(0.4, 0.4, 0.2) };
        builder.add_geometry(BodyIndex::WORLD, "table", at(0.0, 0.0, 0.1), table, &rigid(0.4)).expect("a table");
        let body = add_box(&mut builder, "box", Vector3::new(0.1, 0.06, 0.04), 0.3, &compliant(1e7, 0.0, 0.4));
        let settings = quasistatic(step, UnactuatedInertia::DRAG);
        let start = [(body, Vector3::new(0.215, 0.0, 0.22))];
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &start);
        let mut parts = 0;
        for _ in 0..(4.0 / step).round() as u32 {
            parts = parts.max(simulation.step(&positions(&[])).unwrap_or_else(|e| panic!("{step}: {e}")).parts);
        }
        let p = simulation.data().X_WB[body].translation.vector;
        println!("TIP {step} {} {} parts {parts}", p.x, p.z);
        places.push((step, p.x));
    }
    for (step, x) in &places {
        let last = places[places.len() - 1].1;
        assert!((x - last).abs() < 0.01, "{step}: it lies at {x} m, not at {last}");
    }
}
