//! Joints of quasistatic steps: effort limits against contact, dampers, dry friction; bodies that begin
//! overlapping, and contact of bodies that are pushed during the step.

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, SpatialForce, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, QuasistaticDerivatives, Snapshot, UnactuatedInertia};

use super::{STEPS, add_box, add_finger, add_ground, positions, rigid, simulate, spring};
use crate::worlds::{GRAVITY, at, quasistatic};

/// A finger that is commanded far into a wall presses with its effort limit, not with its spring.
#[test]
fn an_effort_limit_is_the_force_on_a_wall() {
    for step in STEPS {
        let mut builder = SceneBuilder::new();
        let wall = Shape::Box { size: Vector3::new(0.01, 0.2, 0.2) };
        builder.add_geometry(BodyIndex::WORLD, "wall", at(0.105, 0.0, 0.0), wall, &rigid(0.5)).expect("a wall");
        let from = (Vector3::zeros(), Vector3::x());
        let ball = (Shape::Sphere { radius: 0.01 }, &rigid(0.5));
        let finger = add_finger(&mut builder, "finger", from, JointLimits::NONE, spring(500.0, 20.0), ball);
        let settings = quasistatic(step, UnactuatedInertia::None);
        let mut simulation = simulate(builder, Vector3::zeros(), settings, &[]);
        for _ in 0..5 {
            simulation.step(&positions(&[0.5])).expect("a step");
        }
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let force = snapshot.F_BBo_W[finger].f;
        assert!((force + Vector3::x() * 20.0).norm() < 1e-6, "h = {step}: {force:?}");
        let points: Vector3 = snapshot.contact_patches().iter().flat_map(|patch| &patch.faces.force_B_W).sum();
        assert!((points.norm() - 20.0).abs() < 1e-6, "h = {step}: the points carry {points:?}");
    }
}

/// An arm on which no load acts follows a sine to within the accuracy of the velocity, 1e-8 m/s, for any
/// stiffness and with an effort limit or without. Its actuator's effort is zero at the end of each step, so
/// that no force gives the scale of the balance.
#[test]
fn an_unloaded_arm_follows_its_commands() {
    for (step, stiffness) in STEPS.into_iter().flat_map(|step| [1.0, 1e3, 1e6].map(|stiffness| (step, stiffness))) {
        for limit in [1000.0, f64::INFINITY] {
            let mut builder = SceneBuilder::new();
            let from = (Vector3::zeros(), Vector3::x());
            let ball = (Shape::Sphere { radius: 0.01 }, &rigid(0.5));
            add_finger(&mut builder, "finger", from, JointLimits::NONE, spring(stiffness, limit), ball);
            let settings = quasistatic(step, UnactuatedInertia::Mass);
            let mut simulation = simulate(builder, Vector3::zeros(), settings, &[]);
            for number in 1..40 {
                let command = 1e-3 * (0.8 * f64::from(number)).sin();
                let what = format!("h = {step}, {stiffness} N/m, at most {limit} N, step {number}");
                let report = simulation.step(&positions(&[command])).unwrap_or_else(|error| panic!("{what}: {error}"));
                let off = simulation.state().q[0] - command;
                assert!(report.parts == 1 && off.abs() <= 1e-8 * step, "{what}: {off} m, {report:?}");
            }
        }
    }
}

/// v = (F - f)/d of a passive slider with damping d and dry friction f under a force F; below f it stays.
#[test]
fn dampers_and_dry_friction_of_passive_joints_resist() {
    let (damping, friction) = (40.0, 3.0);
    for (step, force) in STEPS.into_iter().flat_map(|step| [(step, 2.0), (step, 11.0), (step, -7.0)]) {
        let mut builder = SceneBuilder::new();
        let body = builder
            .add_body("slider", SpatialInertia::from_central(1.0, &Vector3::zeros(), &(Matrix3::identity() * 1e-3)));
        let joint =
            JointSpec { damping, friction, ..JointSpec::new("slider", BodyIndex::WORLD, body, JointKind::Prismatic) };
        builder.add_joint(joint).expect("a joint");
        let settings = quasistatic(step, UnactuatedInertia::None);
        let mut simulation = simulate(builder, Vector3::zeros(), settings, &[]);
        simulation
            .set_external_wrench(body, SpatialForce::new(Vector3::zeros(), Vector3::z() * force))
            .expect("a wrench");
        simulation.step(&JointCommand::default()).expect("a step");
        let expected = if force.abs() < friction { 0.0 } else { (force.abs() - friction).copysign(force) / damping };
        // Sticking is regularized: it creeps by 1e-4 m/s at most.
        let v = simulation.state().q[0] / step;
        assert!((v - expected).abs() < 1.5e-4, "h = {step}, {force} N: {v} m/s instead of {expected}");
    }
}

/// Arms with dry friction in their joints hang on springs: the friction sticks or slides, and each step
/// settles.
///
/// Regression: sticking friction carries its load at a part of the stiction tolerance of 1e-6 rad/s, and the
/// error that the solver left in this velocity missed the balance by 1e-4 of the friction: all were refused.
#[test]
fn arms_with_dry_friction_hang_on_their_springs() {
    for (links, friction) in [1, 2, 3].into_iter().flat_map(|links| [0.01, 0.2, 1.0, 5.0].map(|part| (links, part))) {
        for (stiffness, step) in [100.0, 2000.0].into_iter().flat_map(|k| [0.001, 0.02, 0.1].map(|step| (k, step))) {
            let mut builder = SceneBuilder::new();
            let inertia = SpatialInertia::from_central(1.0, &(Vector3::x() * 0.15), &(Matrix3::identity() * 7.5e-3));
            let mut parent = BodyIndex::WORLD;
            for number in 0..links {
                let link = builder.add_body(&format!("link_{number}"), inertia);
                let joint = JointSpec {
                    axis_F: Vector3::y(),
                    X_PF: at(if number == 0 { 0.0 } else { 0.3 }, 0.0, 0.0),
                    friction,
                    ..JointSpec::new(&format!("j_{number}"), parent, link, JointKind::Revolute)
                };
                let joint = builder.add_joint(joint).expect("a joint");
                builder.set_actuator(joint, spring(stiffness, 1e4));
                parent = link;
            }
            let settings = quasistatic(step, UnactuatedInertia::DRAG);
            let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &[]);
            let command = positions(&vec![0.0; links]);
            for number in 0..5 {
                let what = format!("{links} links, {friction} N m, {stiffness} N m/rad, {step} s, step {number}");
                simulation.step(&command).unwrap_or_else(|error| panic!("{what}: {error}"));
            }
            if links == 1 {
                let q = simulation.state().q[0];
                let load = 0.15 * GRAVITY * q.cos();
                let carried = load - stiffness * q;
                let expected = if load < friction { load } else { friction };
                // Sticking friction creeps by 1e-6 rad/s, and takes the part of the load that is less at the
                // end of the first step than at its start.
                let less = 0.15 * GRAVITY * (1.0 - q.cos());
                let tolerance = 1e-6 * load + stiffness * 5.0 * step * 1e-6 + 1.01 * less;
                assert!((carried - expected).abs() < tolerance, "{friction}, {stiffness}, {step}: {carried} N m");
            }
        }
    }
}

/// A box that starts 30 mm deep in the ground separates at 0.1 m/s.
#[test]
fn overlapping_bodies_part_slowly() {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.5));
    let block = add_box(&mut builder, "block", Vector3::repeat(0.1), 0.5, &rigid(0.5));
    let rest = [(block, Vector3::new(0.0, 0.0, 0.02))];
    let settings = quasistatic(0.1, UnactuatedInertia::Mass);
    let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &rest);
    for height in [0.03, 0.04, 0.05, 0.05] {
        simulation.step(&JointCommand::default()).expect("a step");
        let z = simulation.data().X_WB[block].translation.z;
        assert!((z - height).abs() < 1e-6, "{z} m instead of {height}");
    }
}

/// Law: a heavy ball rests at the depth F/k of its point, however short the step, and a press whose spring
/// yields by F/K holds its load there. The derivatives of the press are the differences of its steps.
///
/// Regression: beyond 0.1 m/s h k, 10 kN at 1 ms, a ball sank at 0.095 m/s without limit, with converged
/// steps.
#[test]
fn heavy_loads_rest_on_points_in_short_steps() {
    let ball = Shape::Sphere { radius: 0.4 };
    let rest = |body_mass: f64, stiffness: f64, step: f64| {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.5));
        let settings = quasistatic(step, UnactuatedInertia::DRAG);
        if body_mass > 0.0 {
            let inertia =
                SpatialInertia::from_central(body_mass, &Vector3::zeros(), &(Matrix3::identity() * body_mass));
            let body = builder.add_body("ball", inertia);
            builder.add_geometry(body, "ball", at(0.0, 0.0, 0.0), ball.clone(), &rigid(0.5)).expect("a ball");
            simulate(builder, Vector3::z() * -GRAVITY, settings, &[(body, Vector3::z() * 0.4)])
        } else {
            let from = (Vector3::z() * 0.4, -Vector3::z());
            let actuator = spring(stiffness, f64::INFINITY);
            add_finger(&mut builder, "press", from, JointLimits::NONE, actuator, (ball.clone(), &rigid(0.5)));
            simulate(builder, Vector3::zeros(), settings, &[])
        }
    };
    // The part of the depth that a step adds falls as the depth grows: 1,000 t take thousands of steps
    let bodies = [(2000.0, 1e-3, 300), (200.0, 1e-4, 300), (2e4, 1e-3, 300), (20.0, 1e-5, 300), (1e6, 1e-2, 3000)];
    for (mass, step, steps) in bodies {
        let mut simulation = rest(mass, 0.0, step);
        for _ in 0..steps {
            simulation.step(&JointCommand::default()).unwrap_or_else(|error| panic!("{mass} kg: {error}"));
        }
        let (depth, expected) = (0.4 - simulation.state().q[6], mass * GRAVITY / 1e8);
        assert!((depth - expected).abs() < 1e-3 * expected, "{mass} kg, {step} s: {depth} m, not {expected}");
    }
    for (stiffness, step) in [(1e6, 1e-3), (1e7, 1e-3), (1e7, 1e-2), (1e5, 1e-4)] {
        let mut simulation = rest(0.0, stiffness, step);
        let command = positions(&[0.03]);
        for _ in 0..300 {
            simulation.step(&command).unwrap_or_else(|error| panic!("{stiffness} N/m: {error}"));
        }
        let (depth, expected) = (simulation.state().q[0], 0.03 * stiffness / (stiffness + 1e8));
        assert!((depth - expected).abs() < 1e-3 * expected, "{stiffness} N/m, {step} s: {depth} m, not {expected}");
        let mut derivatives = QuasistaticDerivatives::new(&simulation).expect("a quasistatic simulation");
        derivatives.differentiate(&simulation, &command).expect("derivatives");
        let forward = |increment: f64| {
            let mut moved = simulation.clone();
            moved.step(&positions(&[0.03 + increment])).expect("a step");
            moved.state().q[0]
        };
        let slope = (forward(1e-5) - forward(-1e-5)) / 2e-5;
        assert!((derivatives.B(0, 0) - slope).abs() < 1e-4 * slope.abs(), "{} for {slope}", derivatives.B(0, 0));
        let from = |increment: f64| {
            let mut moved = simulation.clone();
            let mut state = moved.state().clone();
            state.q[0] += increment;
            moved.set_state(state).expect("a state");
            moved.step(&command).expect("a step");
            moved.state().q[0]
        };
        let slope = (from(1e-6) - from(-1e-6)) / 2e-6;
        let A = derivatives.A(0, 0);
        assert!((A - slope).abs() < 1e-3 * slope.abs().max(1e-3), "{stiffness} N/m, {step} s: A {A} for {slope}");
    }
}

/// A finger pushes a cube, which was at rest, 60 mm in one step; a wall 20 mm behind the cube stops both.
/// Before the step is solved, nothing indicates that the cube will move. There is no friction, so that
/// sliding keeps no gap.
#[test]
fn a_body_that_is_pushed_in_a_step_is_stopped_in_it() {
    for step in STEPS {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.0));
        let cube = add_box(&mut builder, "cube", Vector3::repeat(0.06), 0.3, &rigid(0.0));
        let wall = Shape::Box { size: Vector3::new(0.002, 0.2, 0.2) };
        builder.add_geometry(BodyIndex::WORLD, "wall", at(0.051, 0.0, 0.1), wall, &rigid(0.0)).expect("a wall");
        let from = (Vector3::new(-0.041, 0.0, 0.03), Vector3::x());
        let tip = (Shape::Sphere { radius: 0.01 }, &rigid(0.0));
        add_finger(&mut builder, "finger", from, JointLimits::NONE, spring(500.0, f64::INFINITY), tip);
        let rest = [(cube, Vector3::new(0.0, 0.0, 0.03))];
        let settings = quasistatic(step, UnactuatedInertia::None);
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &rest);
        simulation.step(&positions(&[0.061])).expect("a step");
        let x = simulation.data().X_WB[cube].translation.x;
        assert!((x - 0.02).abs() < 1e-5, "h = {step}: the cube is at {x} m");
    }
}

/// A free pendulum of one or two links settles below its pivot within 200 steps: at any step with the drag or
/// without inertia, and in steps of 0.1 s or more with the mass. A step may increase the largest angle by 0.2
/// rad, because the two links are coupled.
#[test]
fn weights_on_passive_pivots_come_to_rest_below_them() {
    for (step, links) in STEPS.into_iter().flat_map(|step| [1, 2].map(|links| (step, links))) {
        for inertia in [UnactuatedInertia::DRAG, UnactuatedInertia::None, UnactuatedInertia::Mass] {
            // With the mass, an e-fold takes (l/g)/h^2 steps, a hundred at 10 ms.
            if inertia == UnactuatedInertia::Mass && step < 0.1 {
                continue;
            }
            let mut builder = SceneBuilder::new();
            let (mut parent, mut below) = (BodyIndex::WORLD, 0.0);
            for name in ["upper", "lower"].into_iter().take(links) {
                let center = Vector3::z() * -0.1;
                let inertia = SpatialInertia::from_central(0.5, &center, &(Matrix3::identity() * 1e-4));
                let body = builder.add_body(name, inertia);
                let X_PF = at(0.0, 0.0, below);
                let axis_F = Vector3::y();
                builder
                    .add_joint(JointSpec { axis_F, X_PF, ..JointSpec::new(name, parent, body, JointKind::Revolute) })
                    .expect("a joint");
                (parent, below) = (body, -0.2);
            }
            let settings = quasistatic(step, inertia);
            let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &[]);
            let mut state = simulation.state().clone();
            state.q[0] = 1.3;
            simulation.set_state(state).expect("a state");
            let largest = |simulation: &isobar::stepping::Simulation| {
                simulation.state().q.iter().fold(0.0_f64, |largest, q| largest.max(q.abs()))
            };
            let mut last = largest(&simulation);
            for number in 0..200 {
                simulation
                    .step(&JointCommand::default())
                    .unwrap_or_else(|error| panic!("h = {step}, {inertia:?}, {links} links, {number}: {error}"));
                let now = largest(&simulation);
                assert!(now <= last + 0.2, "h = {step}, {inertia:?}, {links} links, {number}: {now} after {last} rad");
                last = now;
            }
            assert!(last < 1e-6, "h = {step}, {inertia:?}, {links} links: {last} rad");
        }
    }
}

/// A frictionless finger rolls a ball, or a capsule on its side, along the floor in steps of half a radius:
/// each stays on the floor and never runs ahead, and turns by its path over its radius, x/r, unless its mass
/// makes it slide. Without inertia nothing resists the rolling, and it ends each step at the finger. A
/// contact point that turned along with the ball to the middle of a step would rise and let the ball sink.
/// Points yield by 10 nm in each step.
#[test]
fn a_finger_rolls_a_ball_along_the_floor() {
    let (radius, mass) = (0.02, 0.1);
    for (shape, turns) in [
        (Shape::Sphere { radius }, Matrix3::identity() * 0.4),
        (Shape::Capsule { radius, length: 0.06 }, Matrix3::identity() * 0.5),
    ] {
        for (step, inertia) in STEPS.into_iter().flat_map(|step| super::INERTIAS.map(|inertia| (step, inertia))) {
            let what = format!("{shape:?}, h = {step}, {inertia:?}");
            let mut builder = SceneBuilder::new();
            add_ground(&mut builder, &rigid(0.5));
            let tip = (Shape::Box { size: Vector3::new(0.01, 0.1, 0.01) }, &rigid(0.0));
            let from = (Vector3::new(-0.005 - radius, 0.0, radius), Vector3::x());
            let finger = add_finger(&mut builder, "finger", from, JointLimits::NONE, spring(1e3, f64::INFINITY), tip);
            builder.exclude_contact(BodyIndex::WORLD, finger);
            let central = turns * (mass * radius * radius);
            let ball = builder.add_body("ball", SpatialInertia::from_central(mass, &Vector3::zeros(), &central));
            // The axis of a capsule is along y
            let quarter = isobar::math::Rotation::new(Vector3::x() * std::f64::consts::FRAC_PI_2);
            let pose = isobar::math::RigidTransform::from_parts(Vector3::zeros().into(), quarter);
            builder.add_geometry(ball, "ball", pose, shape.clone(), &rigid(0.5)).expect("a ball");
            let place = [(ball, Vector3::new(0.0, 0.0, radius))];
            let settings = super::coulomb(quasistatic(step, inertia));
            let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &place);
            let mut turned = 0.0;
            for number in 1..=6 {
                let report = simulation.step(&positions(&[0.01 * f64::from(number)]));
                let report = report.unwrap_or_else(|error| panic!("{what}, step {number}: {error}"));
                turned += simulation.data().V_WB[ball].w.y * step / f64::from(report.parts);
                let p = simulation.data().X_WB[ball].translation.vector;
                let what = format!("{what}, step {number}: at {p:?}, turned by {turned} rad");
                let (finger, yields) = (0.01 * f64::from(number), 1e-8 * f64::from(number));
                assert!((p.z - radius).abs() < 2e-8 && p.y.abs() < 2e-8, "{what}");
                assert!(p.x < finger + yields, "{what}");
                if inertia == UnactuatedInertia::None {
                    assert!(p.x > finger - yields, "{what}");
                }
                if matches!(inertia, UnactuatedInertia::None | UnactuatedInertia::Drag { .. }) {
                    assert!((turned - p.x / radius).abs() < yields / radius, "{what}");
                }
            }
        }
    }
}
