//! Laws of statics with rigid contact.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{JointCommand, Simulation, Snapshot, StepError, StepSettings, UnactuatedInertia};

use super::{
    INERTIAS, STEPS, WEAK_DRAG, add_box, add_finger, add_ground, bits, positions, relaxed, rigid, simulate, spring,
};
use crate::worlds::{GRAVITY, at, quasistatic};

/// Residuals of the solver, 1e-8 m/s and less, times masses and stiffnesses of these scenes [N].
const FORCE_TOLERANCE: f64 = 1e-4;

/// The stiffness of points with Coulomb's law [N/m].
const POINT_STIFFNESS: f64 = 1e8;

fn contact_force(simulation: &Simulation, body: BodyIndex) -> Vector3 {
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    snapshot.F_BBo_W[body].f
}

fn block_on_incline(slope: f64, step: f64, inertia: UnactuatedInertia) -> (Simulation, BodyIndex, Vector3) {
    block_on_incline_with(slope, quasistatic(step, inertia))
}

fn block_on_incline_with(slope: f64, settings: StepSettings) -> (Simulation, BodyIndex, Vector3) {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.5));
    let body = add_box(&mut builder, "block", Vector3::new(0.1, 0.1, 0.06), 0.5, &rigid(0.5));
    let gravity = Vector3::new(slope, 0.0, -1.0).normalize() * GRAVITY;
    let rest = [(body, Vector3::new(0.0, 0.0, 0.03))];
    (simulate(builder, gravity, settings, &rest), body, gravity)
}

/// On a slope of 0.45 with mu = 0.5 the block stays where it is for any step and inertia, but for the creep
/// of its lower points, 1 um/s under 10 N each, and the contact carries its weight.
#[test]
fn a_block_sticks_on_an_incline_below_the_friction_angle() {
    for (step, inertia) in STEPS.into_iter().flat_map(|step| INERTIAS.map(|inertia| (step, inertia))) {
        let (mut simulation, body, gravity) = block_on_incline(0.45, step, inertia);
        for _ in 0..10 {
            simulation.step(&JointCommand::default()).expect("a step");
        }
        let p = simulation.data().X_WB[body].translation.vector;
        // Its moment about the middle of the lower face takes load off the upper points, which slip at mu n.
        let (pull, press, moment) = (0.5 * gravity.x, -0.5 * gravity.z, 0.5 * gravity.x * 0.03);
        let upper = (0.5 * (press / 4.0 - moment / (2.0 * 0.1))).min(pull / 4.0);
        let creep = 1e-6 / 10.0 * (pull / 2.0 - upper) * 10.0 * step;
        // It sinks by 1e-8 m.
        assert!((p - Vector3::new(creep, 0.0, 0.03)).norm() < 2e-8, "h = {step}, {inertia:?}: {p:?} {creep}");
        let balance = contact_force(&simulation, body) + gravity * 0.5;
        assert!(balance.norm() < FORCE_TOLERANCE, "h = {step}, {inertia:?}: {balance:?}");
    }
}

/// Above the friction angle the body slides down the slope if it has mass: m v/h = (m g sin - mu m g cos)/(1
/// + mu^2), with the relaxed friction. Without mass there is no equilibrium, and the error names the body.
#[test]
fn a_block_slides_above_the_friction_angle() {
    let settings = relaxed(quasistatic(0.01, UnactuatedInertia::Mass));
    let (mut simulation, body, gravity) = block_on_incline_with(0.75, settings);
    simulation.step(&JointCommand::default()).expect("a step");
    let expected = (gravity.x + 0.5 * gravity.z) * 0.01;
    // The relaxed friction lifts a sliding body: its lift mu v takes its share of the slope.
    let v = simulation.data().V_WB[body].v;
    assert!((v.z - 0.5 * v.x).abs() < 1e-6, "{v:?}");
    assert!((v.x - expected / (1.0 + 0.25)).abs() < 1e-3 * expected, "{} for {expected}", v.x);
    let (mut simulation, ..) = block_on_incline(0.75, 0.01, UnactuatedInertia::None);
    let before = bits(&simulation);
    let error = simulation.step(&JointCommand::default()).expect_err("no equilibrium");
    assert!(matches!(&error, StepError::NoSupport { name, .. } if name == "block"), "{error}");
    assert_eq!(before, bits(&simulation), "the last good state stays");
}

/// Two boxes in the air, one on the other: without inertia nothing supports them; with their mass they fall g
/// h^2 a step.
#[test]
fn bodies_without_support_are_named() {
    let boxes = |inertia| {
        let mut builder = SceneBuilder::new();
        let size = Vector3::repeat(0.1);
        let (low, high) = (
            add_box(&mut builder, "low", size, 0.5, &rigid(0.5)),
            add_box(&mut builder, "high", size, 0.5, &rigid(0.5)),
        );
        let places = [(low, Vector3::new(0.0, 0.0, 1.0)), (high, Vector3::new(0.0, 0.0, 1.1))];
        (simulate(builder, Vector3::z() * -GRAVITY, quasistatic(0.1, inertia), &places), low)
    };
    let (mut simulation, _) = boxes(UnactuatedInertia::None);
    let error = simulation.step(&JointCommand::default()).expect_err("nothing below");
    assert!(matches!(&error, StepError::NoSupport { name, .. } if name == "low"), "{error}");
    assert!(error.to_string().contains("inertia: mass"), "{error}");
    let (mut simulation, low) = boxes(UnactuatedInertia::Mass);
    simulation.step(&JointCommand::default()).expect("a step");
    let fallen = 1.0 - simulation.data().X_WB[low].translation.vector.z;
    assert!((fallen - GRAVITY * 0.01).abs() < 1e-7, "{fallen}");
}

/// Equilibrium has no free fall: without inertia a box above the ground is on it after one step, at any
/// height.
#[test]
fn a_body_above_its_support_ends_the_step_on_it() {
    for (height, step) in [0.01, 0.3, 3.0].into_iter().flat_map(|height| STEPS.map(|step| (height, step))) {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.5));
        let body = add_box(&mut builder, "box", Vector3::repeat(0.1), 0.5, &rigid(0.5));
        let place = [(body, Vector3::new(0.0, 0.0, 0.05 + height))];
        let settings = quasistatic(step, UnactuatedInertia::None);
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &place);
        simulation.step(&JointCommand::default()).expect("a step");
        let z = simulation.data().X_WB[body].translation.vector.z;
        assert!((z - 0.05).abs() < 1e-7, "from {height} m, h = {step}: {z}");
    }
}

/// A finger pushes a block over the ground: its spring carries mu m g, and the block moves with the finger.
#[test]
fn a_pushed_block_pushes_back_with_its_friction() {
    for (step, inertia) in STEPS.into_iter().flat_map(|step| INERTIAS.map(|inertia| (step, inertia))) {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.4));
        let ball = (Shape::Sphere { radius: 0.01 }, &rigid(0.0));
        add_finger(
            &mut builder,
            "finger",
            (Vector3::z() * 0.04, Vector3::x()),
            JointLimits::NONE,
            spring(500.0, f64::INFINITY),
            ball,
        );
        let body = add_box(&mut builder, "block", Vector3::repeat(0.1), 0.5, &rigid(0.4));
        let place = [(body, Vector3::new(0.07, 0.0, 0.05))];
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, quasistatic(step, inertia), &place);
        let speed = 0.02;
        let steps = (1.6 / step).round() as u32;
        for number in 1..=steps {
            let command = positions(&[speed * step * f64::from(number)]);
            simulation.step(&command).unwrap_or_else(|error| panic!("h = {step}, {inertia:?}: {error}"));
        }
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let push = snapshot.joint_effort.as_slice()[0];
        // With inertia a step starts from rest: the block's m v/h is on top.
        let friction = 0.4 * 0.5 * GRAVITY;
        let resistance = match inertia {
            UnactuatedInertia::Mass => 0.5 * speed / step,
            UnactuatedInertia::None => 0.0,
            UnactuatedInertia::Drag { time_constant } => 0.5 * speed / time_constant,
            UnactuatedInertia::Scaled { divisor } => 500.0 * step * speed / divisor,
        };
        assert!(
            (push - friction - resistance).abs() < 0.02 * friction,
            "h = {step}, {inertia:?}: {push} for {friction} + {resistance}"
        );
        let block = simulation.data().X_WB[body].translation.vector;
        assert!((block.x - 0.06 - snapshot.joint_position.as_slice()[0]).abs() < 1e-6, "h = {step}, {inertia:?}");
        assert!(block.y.abs() < 1e-6, "h = {step}, {inertia:?}: {}", block.y);
    }
}

/// A finger is commanded far behind a wall: it stops at the wall for any step, and presses with K times the
/// remaining distance.
#[test]
fn nothing_is_passed_through_in_a_long_step() {
    for step in STEPS {
        let mut builder = SceneBuilder::new();
        let wall = Shape::Box { size: Vector3::new(0.01, 0.2, 0.2) };
        builder.add_geometry(BodyIndex::WORLD, "wall", at(0.105, 0.0, 0.0), wall, &rigid(0.5)).expect("a wall");
        let ball = (Shape::Sphere { radius: 0.01 }, &rigid(0.5));
        add_finger(
            &mut builder,
            "finger",
            (Vector3::zeros(), Vector3::x()),
            JointLimits::NONE,
            spring(500.0, f64::INFINITY),
            ball,
        );
        let mut simulation = simulate(builder, Vector3::zeros(), quasistatic(step, UnactuatedInertia::None), &[]);
        for _ in 0..3 {
            simulation.step(&positions(&[0.5])).expect("a step");
            let expected = 0.09 + 500.0 * 0.41 / POINT_STIFFNESS;
            assert!((simulation.state().q[0] - expected).abs() < 1e-8, "h = {step}: {}", simulation.state().q[0]);
        }
        let force = contact_force(&simulation, simulation.scene().body("finger").expect("a body"));
        // The spring is shorter by the distance that the point yields.
        let expected = 500.0 * 0.41 * (1.0 - 500.0 / POINT_STIFFNESS);
        assert!((force.x + expected).abs() < FORCE_TOLERANCE, "h = {step}: {force:?}");
    }
}

/// The last command stands; efforts and positions end at their limits.
#[test]
fn limits_and_standing_commands_hold() {
    let mut builder = SceneBuilder::new();
    let wall = Shape::Box { size: Vector3::new(0.01, 0.2, 0.2) };
    builder.add_geometry(BodyIndex::WORLD, "wall", at(0.105, 0.0, 0.0), wall, &rigid(0.5)).expect("a wall");
    let ball = (Shape::Sphere { radius: 0.01 }, &rigid(0.5));
    let limits = JointLimits { lower: -0.05, upper: 1.0, ..JointLimits::NONE };
    add_finger(&mut builder, "finger", (Vector3::zeros(), Vector3::x()), limits, spring(500.0, 20.0), ball);
    let mut simulation = simulate(builder, Vector3::zeros(), quasistatic(0.1, UnactuatedInertia::None), &[]);
    let mut snapshot = Snapshot::default();
    let mut after = |command: &JointCommand| {
        for _ in 0..20 {
            simulation.step(command).expect("a step");
        }
        simulation.snapshot_into(&mut snapshot);
        (snapshot.joint_position.as_slice()[0], snapshot.joint_effort.as_slice()[0])
    };
    let (q, effort) = after(&positions(&[0.5]));
    let expected = 0.09 + 20.0 / POINT_STIFFNESS;
    assert!((q - expected).abs() < 1e-8 && (effort - 20.0).abs() < 1e-9, "{q} m, {effort} N");
    let (_, effort) = after(&JointCommand::default());
    assert!((effort - 20.0).abs() < 1e-9, "the last command stands: {effort} N");
    let (q, _) = after(&positions(&[-0.2]));
    assert!((q + 0.05).abs() < 1e-8, "{q} m");
}

/// A tower of three boxes for each step and inertia: each contact carries the weight above it.
#[test]
fn forces_of_a_tower_are_the_weights() {
    for (step, inertia) in STEPS.into_iter().flat_map(|step| INERTIAS.map(|inertia| (step, inertia))) {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.5));
        let boxes: Vec<_> = (0..3_i32)
            .map(|i| {
                let body = add_box(&mut builder, &format!("box{i}"), Vector3::repeat(0.1), 0.5, &rigid(0.5));
                (body, Vector3::new(0.01 * f64::from(i), 0.0, 0.05 + 0.1 * f64::from(i)))
            })
            .collect();
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, quasistatic(step, inertia), &boxes);
        for _ in 0..20 {
            simulation.step(&JointCommand::default()).expect("a step");
        }
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        for (body, start) in &boxes {
            let F = snapshot.F_BBo_W[*body];
            let balance = (F.f - Vector3::z() * (0.5 * GRAVITY)).norm();
            assert!(balance < FORCE_TOLERANCE && F.tau.norm() < FORCE_TOLERANCE, "h = {step}, {inertia:?}: {F:?}");
            let drift = (simulation.data().X_WB[*body].translation.vector - start).norm();
            assert!(drift < 1e-6, "h = {step}, {inertia:?}: {drift} m");
        }
    }
}

/// The same steps after each of two resets: the same bits.
#[test]
fn same_input_same_bits() {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.5));
    let ball = (Shape::Sphere { radius: 0.02 }, &rigid(0.5));
    let finger = add_finger(
        &mut builder,
        "finger",
        (Vector3::zeros(), Vector3::x()),
        JointLimits::NONE,
        spring(500.0, 30.0),
        ball,
    );
    builder.exclude_contact(BodyIndex::WORLD, finger);
    let low = add_box(&mut builder, "low", Vector3::repeat(0.1), 0.5, &rigid(0.5));
    let high = add_box(&mut builder, "high", Vector3::repeat(0.1), 0.5, &rigid(0.5));
    let places = [(low, Vector3::new(0.08, 0.01, 0.05)), (high, Vector3::new(0.08, 0.02, 0.15))];
    let settings = quasistatic(0.05, UnactuatedInertia::Mass);
    let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &places);
    let mut run = || {
        simulation.reset();
        for i in 0..40 {
            simulation.step(&positions(&[0.004 * f64::from(i)])).expect("a step");
        }
        bits(&simulation)
    };
    let first = run();
    assert_eq!(first, run());
}

/// The mode may change at a reset: one step of the dynamic mode lets a box fall freely, and one step of the
/// quasistatic mode ends on the ground.
#[test]
fn the_mode_changes_at_a_reset() {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.5));
    let body = add_box(&mut builder, "box", Vector3::repeat(0.1), 0.5, &rigid(0.5));
    let settings = quasistatic(0.1, UnactuatedInertia::None);
    let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &[(body, Vector3::z() * 0.35)]);
    let mut height = |settings| {
        simulation.reset_with(settings).expect("good settings");
        assert_eq!((simulation.time_ns(), simulation.data().X_WB[body].translation.vector.z), (0, 0.35));
        simulation.step(&JointCommand::default()).expect("a step");
        simulation.data().X_WB[body].translation.vector.z
    };
    let dynamic = crate::worlds::settings(0.01);
    assert!((height(dynamic) - (0.35 - GRAVITY * 1e-4)).abs() < 1e-9);
    assert!((height(settings) - 0.05).abs() < 1e-7);
}

/// The drag adds m v/T, 0.05 % of friction here, at any step: the spring carries mu m g. The points'
/// residuals are below 1e-4 N.
#[test]
fn forces_of_a_push_do_not_depend_on_the_step() {
    let (mass, speed) = (0.5, 0.02);
    let friction = 0.4 * mass * GRAVITY;
    for (step, share) in [(0.1, 5e-4), (0.01, 5e-4), (0.001, 5e-4)] {
        let (mut simulation, block) = pushed_block(step, WEAK_DRAG);
        let mut report = simulation.report().to_owned();
        for number in 1..=(0.7 / step).round() as u32 {
            report = simulation.step(&positions(&[speed * step * f64::from(number)])).expect("a step");
            assert!(simulation.inertial_load().is_none(), "h = {step}: {report:?}");
        }
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let push = snapshot.joint_effort.as_slice()[0];
        assert!((push - friction).abs() < (share + 1e-4) * friction, "h = {step}: {push} N for {friction} N");
        // The drag m v/T beside the weight on the floor and the push.
        let expected = mass * speed / 10.0;
        assert!(report.inertial_share < expected / (mass * GRAVITY), "h = {step}: {report:?}");
        assert!(simulation.data().V_WB[block].v.x > 0.99 * speed);
    }
}

/// With the mass of a quasi-dynamic step m v/h is 10 N at 1 ms beside 1.96 N of friction: the report has the
/// share, and the warning names the block.
#[test]
fn an_inertial_part_above_ten_percent_is_named() {
    let (step, speed) = (0.001, 0.02);
    let (mut simulation, block) = pushed_block(step, UnactuatedInertia::Mass);
    for number in 1..=700 {
        simulation.step(&positions(&[speed * step * f64::from(number)])).expect("a step");
    }
    let load = simulation.inertial_load().expect("a large part");
    assert_eq!(load.body(), block);
    assert!(load.to_string().contains("`block`"), "{load}");
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let forces = snapshot.contact_patches().iter().flat_map(|patch| &patch.faces.force_B_W);
    let v = simulation.data().V_WB[block].v.norm();
    let share = 0.5 * v / step / forces.map(|f| f.norm()).sum::<f64>();
    assert!((snapshot.report.inertial_share - share).abs() < 1e-6 * share, "{:?} for {share}", snapshot.report);
}

/// A finger on a slider and a block of 0.5 kg 1 cm before it.
fn pushed_block(step: f64, inertia: UnactuatedInertia) -> (Simulation, BodyIndex) {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.4));
    let ball = (Shape::Sphere { radius: 0.01 }, &rigid(0.0));
    let from = (Vector3::z() * 0.04, Vector3::x());
    add_finger(&mut builder, "finger", from, JointLimits::NONE, spring(500.0, f64::INFINITY), ball);
    let body = add_box(&mut builder, "block", Vector3::repeat(0.1), 0.5, &rigid(0.4));
    let place = [(body, Vector3::new(0.061, 0.0, 0.05))];
    (simulate(builder, Vector3::z() * -GRAVITY, quasistatic(step, inertia), &place), body)
}

/// Two fingers with 10 N hold a cube of 0.3 kg, and a carriage lifts them at 0.1 m/s in steps of 10 ms and of
/// 1 ms: the cube comes along.
#[test]
fn a_fast_lift_carries_what_the_fingers_hold() {
    for (step, inertia) in [(0.01, WEAK_DRAG), (0.001, WEAK_DRAG)] {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.5));
        let pad = (Shape::Box { size: Vector3::new(0.02, 0.03, 0.03) }, rigid(0.5));
        let lift = add_lift(&mut builder);
        for (name, x, axis) in [("left", -0.045, Vector3::x()), ("right", 0.045, -Vector3::x())] {
            add_finger_on(&mut builder, lift, name, (Vector3::new(x, 0.0, 0.03), axis), (pad.0.clone(), &pad.1));
        }
        let body = add_box(&mut builder, "cube", Vector3::repeat(0.06), 0.3, &rigid(0.5));
        let place = [(body, Vector3::new(0.0, 0.0, 0.03))];
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, quasistatic(step, inertia), &place);
        let close = 0.015; // 10 N
        for _ in 0..5 {
            simulation.step(&positions(&[0.0, close, close])).expect("a step");
        }
        for number in 1..=(0.5 / step).round() as u32 {
            simulation.step(&positions(&[0.1 * step * f64::from(number), close, close])).expect("a step");
        }
        let z = simulation.data().X_WB[body].translation.vector.z;
        // The relaxed friction may slip by its gap in the first step of the lift.
        assert!((z - 0.08).abs() < 2e-4, "h = {step}: the cube is at {z}");
    }
}

fn add_lift(builder: &mut SceneBuilder) -> BodyIndex {
    let inertia = SpatialInertia::from_central(0.1, &Vector3::zeros(), &(Matrix3::identity() * 1e-4));
    let lift = builder.add_body("lift", inertia);
    let joint = JointSpec::new("lift_joint", BodyIndex::WORLD, lift, JointKind::Prismatic);
    let joint = builder.add_joint(JointSpec { limits: JointLimits::NONE, ..joint }).expect("a joint");
    builder.set_actuator(joint, Actuator { gravity_compensation: true, ..spring(1e5, f64::INFINITY) });
    lift
}

fn add_finger_on(
    builder: &mut SceneBuilder,
    lift: BodyIndex,
    name: &str,
    (p, axis_F): (Vector3, Vector3),
    (shape, properties): (Shape, &ContactProperties),
) {
    let inertia = SpatialInertia::from_central(1e-3, &Vector3::zeros(), &(Matrix3::identity() * 1e-6));
    let body = builder.add_body(name, inertia);
    let spec = JointSpec {
        axis_F,
        X_PF: at(p.x, p.y, p.z),
        limits: JointLimits::NONE,
        ..JointSpec::new(&format!("{name}_joint"), lift, body, JointKind::Prismatic)
    };
    let joint = builder.add_joint(spec).expect("a joint");
    builder.set_actuator(joint, Actuator { gravity_compensation: true, ..spring(1000.0, f64::INFINITY) });
    builder.add_geometry(body, "pad", at(0.0, 0.0, 0.0), shape, properties).expect("a pad");
    builder.exclude_contact(BodyIndex::WORLD, body);
}

/// A finger whose joint may not leave a range that lies in a wall: the error names the pair and the joint.
#[test]
fn contacts_and_limits_that_contradict_each_other_are_named() {
    let mut builder = SceneBuilder::new();
    let wall = Shape::Box { size: Vector3::new(0.01, 0.2, 0.2) };
    builder.add_geometry(BodyIndex::WORLD, "wall", at(0.105, 0.0, 0.0), wall, &rigid(0.5)).expect("a wall");
    let ball = (Shape::Sphere { radius: 0.01 }, &rigid(0.5));
    let limits = JointLimits { lower: 0.1, upper: 0.2, ..JointLimits::NONE };
    add_finger(&mut builder, "finger", (Vector3::zeros(), Vector3::x()), limits, spring(500.0, 20.0), ball);
    let settings = quasistatic(0.1, UnactuatedInertia::None);
    let mut simulation = simulate(builder, Vector3::zeros(), settings, &[]);
    let before = bits(&simulation);
    let error = simulation.step(&positions(&[0.0])).expect_err("a contradiction").to_string();
    assert!(error.contains("'finger_joint'") && error.contains("world/wall"), "{error}");
    assert_eq!(before, bits(&simulation), "the last good state stays");
}
