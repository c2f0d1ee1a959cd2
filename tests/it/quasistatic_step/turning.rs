//! Bodies and links that turn far in a step: they meet the bodies in their way, and end on them and not in
//! them.

use std::f64::consts::FRAC_PI_2;
use std::path::Path;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, QuasistaticDerivatives, Simulation, Snapshot, StepError, UnactuatedInertia};

use super::{add_box, add_finger, add_ground, bits, positions, rigid, simulate, spring};
use crate::worlds::{GRAVITY, at, quasistatic};

/// Bodies may end a part of a step deeper in each other than predicted by this distance \[m\].
const DEEPER: f64 = 1e-4;

/// A link of 0.5 m with the half width 0.02 m along x, on a revolute joint about z at the height `z`.
fn add_arm(builder: &mut SceneBuilder, z: f64, stiffness: f64, effort_limit: f64) {
    let inertia =
        SpatialInertia::from_central(1.0, &Vector3::new(0.25, 0.0, 0.0), &Matrix3::from_diagonal_element(0.02));
    let link = builder.add_body("link", inertia);
    let spec = JointSpec {
        axis_F: Vector3::z(),
        X_PF: at(0.0, 0.0, z),
        limits: JointLimits::NONE,
        ..JointSpec::new("j", BodyIndex::WORLD, link, JointKind::Revolute)
    };
    let joint = builder.add_joint(spec).expect("a joint");
    builder.set_actuator(joint, spring(stiffness, effort_limit));
    let shape = Shape::Box { size: Vector3::new(0.5, 0.04, 0.04) };
    builder.add_geometry(link, "link", at(0.25, 0.0, 0.0), shape, &rigid(0.5)).expect("a link");
}

fn add_post(builder: &mut SceneBuilder, properties: &ContactProperties) {
    let shape = Shape::Box { size: Vector3::new(0.06, 0.06, 0.3) };
    builder.add_geometry(BodyIndex::WORLD, "post", at(0.0, 0.35, 0.0), shape, properties).expect("a post");
}

/// The angle at which the side of the arm meets the near edge (0.03, 0.32) of the post: the distance of the
/// edge from the middle of the arm, -0.03 sin q + 0.32 cos q, is 0.02.
fn stop() -> f64 {
    let radius = 0.03_f64.hypot(0.32);
    (0.02 / radius).acos() - (0.03_f64 / 0.32).atan()
}

/// An arm is commanded through a fixed post, from far and from near. It stops at the edge of the post in the
/// first step, for steps of any length, with and without a limit of its effort. Its effort is then its
/// stiffness times the remaining angle, or the limit.
#[test]
fn an_arm_stops_at_a_post_in_its_way() {
    let (stop, stiffness) = (stop(), 100.0);
    let jumps = [(0.0, 1.5), (0.0, 2.0), (0.0, 2.5), (1.0, 2.0), (1.2, 1.5), (0.8, 2.2), (1.3, 1.5)];
    for ((from, to), step) in jumps.into_iter().flat_map(|jump| [0.4, 0.1, 0.01].map(|step| (jump, step))) {
        for limit in [f64::INFINITY, 20.0] {
            let label = format!("{from} to {to} rad, h = {step}, at most {limit} N m");
            let mut builder = SceneBuilder::new();
            add_arm(&mut builder, 0.0, stiffness, limit);
            add_post(&mut builder, &rigid(0.5));
            let settings = quasistatic(step, UnactuatedInertia::DRAG);
            let mut simulation = simulate(builder, Vector3::zeros(), settings, &[]);
            let mut state = simulation.state().clone();
            state.q[0] = from;
            simulation.set_state(state).expect("a state");
            for number in 0..4 {
                let report =
                    simulation.step(&positions(&[to])).unwrap_or_else(|error| panic!("{label}, {number}: {error}"));
                let beyond = 0.32 * (simulation.state().q[0] - stop);
                assert!(beyond.abs() < DEEPER, "{label}, step {number}: {beyond} m beyond, {report:?}");
            }
            let mut snapshot = Snapshot::default();
            simulation.snapshot_into(&mut snapshot);
            let (effort, expected) = (snapshot.joint_effort.as_slice()[0], (stiffness * (to - stop)).min(limit));
            // The error of the position is up to 0.1 mm at 0.32 m.
            let tolerance = stiffness * DEEPER / 0.32;
            assert!((effort - expected).abs() < tolerance, "{label}: {effort} N m for {expected}");
        }
    }
}

/// An arm pushes a free cube that is in its way, and never enters it. The centre of the cube stays half the
/// width of the arm and half the cube ahead of the middle of the arm, or is beyond its tip.
#[test]
fn a_cube_in_the_way_of_an_arm_is_pushed() {
    for (to, step) in [1.0, 1.5, 2.5].into_iter().flat_map(|to| [0.4, 0.1, 0.02].map(|step| (to, step))) {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.5));
        add_arm(&mut builder, 0.03, 100.0, f64::INFINITY);
        let cube = add_box(&mut builder, "cube", Vector3::repeat(0.06), 0.3, &rigid(0.5));
        let place = [(cube, Vector3::new(0.2, 0.35, 0.03))];
        let settings = quasistatic(step, UnactuatedInertia::DRAG);
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &place);
        for number in 0..4 {
            let report = simulation
                .step(&positions(&[to]))
                .unwrap_or_else(|error| panic!("{to} rad, h = {step}, {number}: {error}"));
            let (p, q) = (simulation.data().X_WB[cube].translation.vector, simulation.state().q[0]);
            let (along, ahead) = (p.x * q.cos() + p.y * q.sin(), p.y * q.cos() - p.x * q.sin());
            assert!(
                ahead > 0.05 - 2.0 * DEEPER || along > 0.52,
                "{to} rad, h = {step}, step {number}: {ahead} m ahead, {along} m along, {report:?}"
            );
            assert!(q > to - 0.1, "{to} rad, h = {step}: {q} rad");
        }
    }
}

/// The height of the lowest corner of a box above the ground \[m\].
fn lowest(simulation: &Simulation, body: BodyIndex, size: &Vector3) -> f64 {
    let X_WB = &simulation.data().X_WB[body];
    let half = size * 0.5;
    X_WB.translation.z - (0..3).map(|axis| (X_WB.rotation[(2, axis)] * half[axis]).abs()).sum::<f64>()
}

/// A rod, a slab and a cube fall on an edge or a corner and tip over. They never end a step below the ground,
/// and lie flat at the end.
#[test]
fn bodies_that_fall_over_stay_above_the_ground() {
    let falls = [
        (Vector3::new(0.5, 0.02, 0.02), Vector3::new(0.0, -1.2, 0.0)),
        (Vector3::new(0.2, 0.2, 0.02), Vector3::new(0.0, -0.6, 0.2)),
        (Vector3::repeat(0.1), Vector3::new(0.5, 0.3, 0.0)),
    ];
    for ((size, rpy), step) in falls.into_iter().flat_map(|fall| [0.4, 0.2, 0.1, 0.02].map(|step| (fall, step))) {
        let label = format!("{} m, h = {step}", size.x);
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.5));
        let body = add_box(&mut builder, "body", size, 1.0, &rigid(0.5));
        let settings = quasistatic(step, UnactuatedInertia::DRAG);
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &[]);
        let mut state = simulation.state().clone();
        let turned = Rotation::from_euler_angles(rpy.x, rpy.y, rpy.z);
        let X_WB = RigidTransform::from_parts(Vector3::new(0.0, 0.0, 0.3).into(), turned);
        simulation.scene().model().set_free_body_pose(&mut state, body, &X_WB);
        simulation.set_state(state).expect("a state");
        for number in 0..(2.0 / step) as u32 {
            let report = simulation
                .step(&JointCommand::default())
                .unwrap_or_else(|error| panic!("{label}, step {number}: {error}"));
            let z = lowest(&simulation, body, &size);
            assert!(z > -2.0 * DEEPER, "{label}, step {number}: a corner at {z} m, {report:?}");
        }
        let z = simulation.data().X_WB[body].translation.z;
        assert!((z - 0.5 * size.z).abs() < 1e-5, "{label}: it lies at {z} m");
    }
}

/// Takes steps in which a finger pushes a box over the edge of a table, and returns where the box lies and
/// the height of its lowest corner in all steps \[m\].
fn push_over_an_edge(step: f64, properties: &ContactProperties) -> Result<(Vector3, f64), StepError> {
    let size = Vector3::new(0.1, 0.06, 0.04);
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.4));
    let table = Shape::Box { size: Vector3::new(0.4, 0.4, 0.2) };
    builder.add_geometry(BodyIndex::WORLD, "table", at(0.0, 0.0, 0.1), table, &rigid(0.4)).expect("a table");
    let rod = (Shape::Box { size: Vector3::new(0.02, 0.1, 0.01) }, &rigid(0.4));
    let from = (Vector3::new(0.124, 0.0, 0.22), Vector3::x());
    add_finger(&mut builder, "rod", from, JointLimits::NONE, spring(1000.0, f64::INFINITY), rod);
    let body = add_box(&mut builder, "box", size, 0.3, properties);
    let settings = quasistatic(step, UnactuatedInertia::DRAG);
    let place = [(body, Vector3::new(0.185, 0.0, 0.22))];
    let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &place);
    let mut least = f64::INFINITY;
    for number in 1..=(1.0 / step) as u32 {
        simulation.step(&positions(&[0.0625 * step * f64::from(number)]))?;
        least = least.min(lowest(&simulation, body, &size));
    }
    Ok((simulation.data().X_WB[body].translation.vector, least))
}

/// A finger pushes a rigid box over the edge of a table. The box tips, falls and ends on the floor, for steps
/// of any length.
#[test]
fn a_box_is_pushed_over_an_edge() {
    for step in [0.2, 0.1, 0.05, 0.02, 0.01] {
        let (p, least) = push_over_an_edge(step, &rigid(0.4)).unwrap_or_else(|error| panic!("h = {step}: {error}"));
        assert!(least > -2.0 * DEEPER, "h = {step}: a corner at {least} m");
        assert!(p.x > 0.2 && p.z < 0.06, "h = {step}: it lies at {p:?}");
    }
}

/// Two fingers slide along a plane that they cannot leave. The plane is at their lower faces, or above them
/// by rounding or by more. No motion could balance a force of this contact, so it has none, and the fingers
/// follow their commands.
#[test]
fn fingers_slide_along_a_plane_that_they_cannot_leave() {
    for overlap in [0.0, 1e-9, 1e-7, 1e-5, 1e-4] {
        for tilt in [0.0, 1e-16] {
            let mut builder = SceneBuilder::new();
            builder
                .add_geometry(BodyIndex::WORLD, "ground", at(0.0, 0.0, overlap - 0.02), Shape::HalfSpace, &rigid(0.5))
                .expect("a ground");
            let pad = (Shape::Box { size: Vector3::new(0.02, 0.04, 0.04) }, &rigid(0.5));
            for (name, x, way) in [("left", -0.1, 1.0), ("right", 0.1, -1.0)] {
                let axis = (Vector3::x() * way + Vector3::z() * tilt).normalize();
                let from = (Vector3::new(x, 0.0, 0.0), axis);
                add_finger(&mut builder, name, from, JointLimits::NONE, spring(2000.0, 20.0), pad.clone());
            }
            let settings = quasistatic(0.01, UnactuatedInertia::DRAG);
            let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &[]);
            for number in 1..=10 {
                let to = 5e-4 * f64::from(number);
                let report = simulation
                    .step(&positions(&[to, to]))
                    .unwrap_or_else(|error| panic!("overlap {overlap}, tilt {tilt}: {error}"));
                let q = &simulation.state().q;
                assert!((q[0] - to).abs() < 1e-9 && (q[1] - to).abs() < 1e-9, "overlap {overlap}: {q:?}, {report:?}");
            }
        }
    }
}

/// An arm turns by a right angle away from the post in one step: nothing is in its way, so the step needs one
/// part, and none of its derivatives are differences of steps.
#[test]
fn a_free_turn_needs_one_part() {
    let mut builder = SceneBuilder::new();
    add_arm(&mut builder, 0.0, 100.0, f64::INFINITY);
    add_post(&mut builder, &rigid(0.5));
    let settings = quasistatic(0.1, UnactuatedInertia::DRAG);
    let mut simulation = simulate(builder, Vector3::zeros(), settings, &[]);
    let mut derivatives = QuasistaticDerivatives::new(&simulation).expect("a quasistatic simulation");
    derivatives.differentiate(&simulation, &positions(&[-FRAC_PI_2])).expect("derivatives");
    assert_eq!(derivatives.columns_by_steps(), 0);
    let report = simulation.step(&positions(&[-FRAC_PI_2])).expect("a step");
    assert_eq!(report.parts, 1, "{report:?}");
    assert!((simulation.state().q[0] + FRAC_PI_2).abs() < 1e-9);
}

/// The derivative of a step in parts is a difference of such steps. An arm that ends at a post does not
/// follow a farther command.
#[test]
fn an_arm_at_a_post_has_the_derivatives_of_its_steps() {
    let mut builder = SceneBuilder::new();
    add_arm(&mut builder, 0.0, 100.0, f64::INFINITY);
    add_post(&mut builder, &rigid(0.5));
    let settings = quasistatic(0.1, UnactuatedInertia::DRAG);
    let mut simulation = simulate(builder, Vector3::zeros(), settings, &[]);
    let before = bits(&simulation);
    let mut derivatives = QuasistaticDerivatives::new(&simulation).expect("a quasistatic simulation");
    let found = derivatives.differentiate(&simulation, &positions(&[2.0]));
    assert_eq!(before, bits(&simulation));
    found.expect("derivatives");
    assert!(derivatives.columns_by_steps() > 0);
    let report = simulation.step(&positions(&[2.0])).expect("a step");
    assert!(report.parts > 1, "{report:?}");
    assert!(derivatives.B(0, 0).abs() < 1e-3, "{}", derivatives.B(0, 0));
}

/// A scene file without other files.
fn load(text: &str) -> Simulation {
    let loaded = scene_file::load_str(text, Path::new("test.yaml"), &PackageMap::new());
    loaded.unwrap_or_else(|error| panic!("{error}")).simulation().expect("a simulation")
}

/// Law: a cylinder that rolls down a slope with drag moves at g T sin(a)/1.5, in steps of any length.
///
/// Regression: it rolled between the outer ones of its eight points, by 0.414 rad a step at any slope.
#[test]
fn cylinders_roll_on_in_long_steps() {
    let distance = |step: f64| {
        let text = format!(
            "stepping: quasistatic\nstep: {step}\nground: {{ rpy: [0, 0.1, 0] }}\nmodels:\n  - {{ name: a, cylinder: \
             {{ radius: 0.05, length: 0.1 }}, mass: 1, free: {{ xyz: [0.005, 0, 0.05], rpy: [1.5707963267948966, 0, 0] }}, \
             material: {{ compliant: false, mu_dynamic: 1 }} }}\n"
        );
        let mut simulation = load(&text);
        let start = simulation.state().q.clone();
        for _ in 0..(0.6 / step).round() as u32 {
            simulation.step(&JointCommand::default()).unwrap_or_else(|error| panic!("{step} s: {error}"));
        }
        let q = &simulation.state().q;
        (4..7).map(|k| (q[k] - start[k]).powi(2)).sum::<f64>().sqrt()
    };
    let short = distance(0.005);
    for step in [0.05, 0.1, 0.3] {
        let long = distance(step);
        println!("{step} s: {long} m for {short} m");
        assert!((long - short).abs() < 0.02 * short, "{step} s: {long} m for {short} m");
    }
}
