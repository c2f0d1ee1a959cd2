//! Derivatives of dynamic steps against central differences of the steps.

use std::sync::Arc;

use isobar::contact::{ContactProperties, FaceFriction};
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Index, Matrix3, ScalarJointIndex, SpatialInertia, SpatialVelocity, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec, displacement, integrate};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::solvers::dynamic::NewtonSettings;
use isobar::stepping::{
    ContactScheme, DissipationModel, DynamicDerivativeError, DynamicDerivatives, DynamicStepping, ErrorControl,
    FrictionBound, Integrator, JointCommand, JointTarget, Simulation, StepSettings, Stepping, UnactuatedInertia,
};

use crate::worlds::{GRAVITY, at, compliant, quasistatic};

/// Tolerance against central differences, relative to the largest entry of the column among the rows of q' or
/// of v' [-].
const TOLERANCE: f64 = 1e-5;
/// Increments of the differences: of motions [rad, m], of speeds [rad/s, m/s] and of commands. Pressure
/// fields are 1e-5 m deep and more, rigid points 4e-9 m; steps are solved to 1e-13 of their impulses.
const MOTION: f64 = 5e-8;
const MOTION_OF_POINTS: f64 = 5e-10;
const SPEED: f64 = 1e-5;
const COMMAND: f64 = 1e-4;

fn settings(step: f64, options: DynamicStepping) -> StepSettings {
    let solver = NewtonSettings { tolerance: 1e-13, ..NewtonSettings::default() };
    let stepping = Stepping::Dynamic(DynamicStepping { solver, ..options });
    StepSettings { step_ns: (step * 1e9).round() as u64, stepping, ..StepSettings::default() }
}

/// The end of a step from `start`, whose state, velocities or command are moved along a column: positions,
/// velocities. `None` for a column without effect on the command.
fn end(start: &Simulation, command: &JointCommand, column: usize, increment: f64) -> Simulation {
    let model = start.scene().model();
    let n = model.nv();
    let (mut simulation, mut command) = (start.clone(), command.clone());
    let mut state = start.state().clone();
    let joints = command.targets.len();
    if column < n {
        let mut along = vec![0.0; n];
        along[column] = 1.0;
        integrate(model, &mut state.q, &along, increment);
    } else if column < 2 * n {
        state.v[column - n] += increment;
    } else {
        let target = &mut command[ScalarJointIndex::from_usize((column - 2 * n) % joints)];
        let number = match (column - 2 * n) / joints {
            0 => &mut target.effort,
            1 => &mut target.position,
            _ => &mut target.velocity,
        };
        *number = number.map(|number| number + increment);
    }
    if column < 2 * n {
        simulation.set_state(state).expect("a state");
    }
    simulation.step(&command).expect("a step");
    simulation
}

/// The largest error of the columns that count and are not one-sided, relative to their largest entry, and
/// the number of one-sided ones.
fn error(name: &str, start: &Simulation, command: &JointCommand, counts: impl Fn(usize) -> bool) -> (f64, usize) {
    error_over(MOTION, name, start, command, counts)
}

/// The same with another increment of motions.
fn error_over(
    motion: f64,
    name: &str,
    start: &Simulation,
    command: &JointCommand,
    counts: impl Fn(usize) -> bool,
) -> (f64, usize) {
    let model = start.scene().model();
    let (n, dt) = (model.nv(), start.settings().step());
    let mut derivatives = DynamicDerivatives::new(start).expect("a dynamic simulation");
    let before = (start.state().clone(), start.save());
    derivatives.differentiate(start, command).expect("derivatives");
    assert_eq!(&before.0, start.state(), "the simulation does not change");
    let joints = derivatives.commands();
    assert_eq!((derivatives.size(), joints), (n, command.targets.len()));
    let (mut worst, mut one_sided) = ((0.0_f64, 0, 0, 0.0, 0.0), 0);
    for column in (0..2 * n + 3 * joints).filter(|column| counts(*column)) {
        let (index, joint) = (column.min(2 * n), (column.max(2 * n) - 2 * n) % joints.max(1));
        let of_commands = if column < 2 * n { index } else { 2 * n + joint };
        if derivatives.is_one_sided(of_commands) {
            one_sided += 1;
            continue;
        }
        let increment = if column < n {
            motion
        } else if column < 2 * n {
            SPEED
        } else {
            COMMAND
        };
        let slope = |increment: f64| {
            let [a, b] = [-increment, increment].map(|increment| end(start, command, column, increment));
            let mut q = vec![0.0; n];
            displacement(model, &a.state().q, &b.state().q, &mut q);
            let v = a.state().v.iter().zip(&b.state().v).map(|(a, b)| b - a);
            q.iter().copied().chain(v).map(|change| change / (2.0 * increment)).collect::<Vec<_>>()
        };
        let slopes: Vec<f64> =
            slope(increment).iter().zip(slope(2.0 * increment)).map(|(a, b)| (4.0 * a - b) / 3.0).collect();
        let value = |row: usize| match (column < 2 * n, (column.max(2 * n) - 2 * n) / joints.max(1)) {
            (true, _) => derivatives.A(row, column),
            (_, 0) => derivatives.B_effort(row, joint),
            (_, 1) => derivatives.B(row, joint),
            _ => derivatives.B_velocity(row, joint),
        };
        for rows in [0..n, n..2 * n] {
            let scale = rows.clone().fold(0.0_f64, |largest, row| largest.max(value(row).abs()));
            // Entries of free bodies are 1, and in a step dt velocities move by dt and motions act by 1/dt.
            let unit = match (column < n, column < 2 * n) {
                (true, _) => 1e-3 * if rows.start == 0 { 1.0 } else { 1.0 / dt },
                (_, true) => 1e-3 * if rows.start == 0 { dt } else { 1.0 },
                _ => 1e-6 * if rows.start == 0 { dt } else { 1.0 },
            };
            let scale = scale.max(unit);
            for row in rows {
                let error = (value(row) - slopes[row]).abs() / scale;
                if error > worst.0 {
                    worst = (error, row, column, value(row), slopes[row]);
                }
            }
        }
    }
    println!("{name}: {worst:?}, {one_sided} one-sided");
    (worst.0, one_sided)
}

/// Two links on revolute joints and a slider, in a vertical plane and out of it.
fn arm(builder: &mut SceneBuilder, actuators: [Actuator; 3]) -> BodyIndex {
    let mut parent = BodyIndex::WORLD;
    let inertia = || {
        SpatialInertia::from_central(
            0.4,
            &Vector3::new(0.1, 0.02, -0.01),
            &Matrix3::from_diagonal(&Vector3::new(1e-3, 3e-3, 2.5e-3)),
        )
    };
    let kinds = [
        ("shoulder", JointKind::Revolute, Vector3::y()),
        ("elbow", JointKind::Revolute, Vector3::new(0.3, 1.0, 0.2).normalize()),
        ("reach", JointKind::Prismatic, Vector3::x()),
    ];
    for ((name, kind, axis_F), actuator) in kinds.into_iter().zip(actuators) {
        let body = builder.add_body(name, inertia());
        let spec = JointSpec {
            axis_F,
            X_PF: at(if parent == BodyIndex::WORLD { 0.0 } else { 0.2 }, 0.0, 0.0),
            limits: JointLimits { lower: -3.0, upper: 3.0, ..JointLimits::NONE },
            damping: 0.05,
            ..JointSpec::new(&format!("{name}_joint"), parent, body, kind)
        };
        let joint = builder.add_joint(spec).expect("a joint");
        builder.set_actuator(joint, actuator);
        parent = body;
    }
    parent
}

fn pd(stiffness: f64, damping: f64, effort_limit: f64) -> Actuator {
    Actuator { stiffness, damping, effort_limit, ..Actuator::PASSIVE }
}

fn target(position: f64, velocity: f64, effort: f64) -> JointTarget {
    JointTarget { position: Some(position), velocity: Some(velocity), effort: Some(effort) }
}

/// An arm that swings fast, with impedances, a damper and an effort: with both integrators.
#[test]
fn derivatives_of_a_swinging_arm_are_those_of_its_steps() {
    for integrator in [Integrator::Implicit, Integrator::SemiImplicit] {
        let mut builder = SceneBuilder::new();
        let actuators = [pd(20.0, 1.0, 50.0), pd(0.0, 0.4, f64::INFINITY), pd(0.0, 0.0, 5.0)];
        arm(&mut builder, actuators);
        let scene = Arc::new(builder.build(Vector3::z() * -GRAVITY).expect("a scene"));
        let mut state = scene.model().default_state();
        state.q.copy_from_slice(&[0.4, -0.8, 0.03]);
        state.v.copy_from_slice(&[4.0, -9.0, 0.7]);
        let options = DynamicStepping { integrator, ..DynamicStepping::default() };
        let simulation = Simulation::new(scene, state, settings(2e-3, options)).expect("a simulation");
        let command = [target(0.6, 0.2, 0.1), target(0.0, 1.0, -0.3), target(0.0, 0.0, 1.5)];
        let command: JointCommand = command.into_iter().collect();
        let (error, one_sided) = error(&format!("arm, {integrator:?}"), &simulation, &command, |_| true);
        assert!(error < TOLERANCE && one_sided == 0, "{error}, {one_sided}");
    }
}

/// An actuator with a command at its effort limit follows a smaller command and no larger one; beyond the
/// limit it follows neither.
#[test]
fn an_effort_at_its_limit_has_one_side() {
    let slope = |effort: f64| {
        let mut builder = SceneBuilder::new();
        arm(&mut builder, [pd(0.0, 0.0, 2.0), pd(0.0, 0.4, 1.0), pd(0.0, 0.0, 5.0)]);
        let scene = Arc::new(builder.build(Vector3::z() * -GRAVITY).expect("a scene"));
        let state = scene.model().default_state();
        let options = DynamicStepping::default();
        let simulation = Simulation::new(scene, state, settings(1e-3, options)).expect("a simulation");
        let mut command = JointCommand::for_joints(3);
        command[ScalarJointIndex::from_usize(0)].effort = Some(effort);
        let mut derivatives = DynamicDerivatives::new(&simulation).expect("a dynamic simulation");
        derivatives.differentiate(&simulation, &command).expect("derivatives");
        (derivatives.is_one_sided(6), derivatives.B_effort(3, 0))
    };
    let (smooth, inside) = slope(1.9);
    assert!(!smooth && inside > 1e-3, "{inside}");
    assert!(slope(2.0).0, "at the limit");
    assert_eq!(slope(2.1), (false, 0.0));
}

/// A body of `shape` on the ground, of the given properties, that slides and turns.
fn on_ground(
    shape: Shape,
    properties: &ContactProperties,
    height: f64,
    V: &SpatialVelocity,
    to: StepSettings,
) -> Simulation {
    let moments = Vector3::new(3e-4, 2e-4, 4e-4);
    let gravity = Vector3::z() * -GRAVITY;
    let (scene, mut state, body) = crate::worlds::body_on_ground(shape, 0.5, moments, properties, gravity);
    let turned = nalgebra::UnitQuaternion::from_scaled_axis(Vector3::new(0.0, 0.0, 0.3));
    let pose = isobar::math::RigidTransform::from_parts(Vector3::new(0.0, 0.0, height).into(), turned.into());
    scene.model().set_free_body_pose(&mut state, body, &pose);
    scene.model().set_free_body_velocity(&mut state, body, V);
    Simulation::new(scene, state, to).expect("a simulation")
}

/// A compliant box and a compliant ball that slide on the ground, with each scheme: areas, pressures, lever
/// arms and friction move with the pose.
#[test]
fn derivatives_through_pressure_fields_are_those_of_the_steps() {
    let soft = |modulus: f64| ContactProperties { mesh_resolution_hint: Some(0.02), ..compliant(modulus, 0.5, 0.4) };
    let V = SpatialVelocity::new(Vector3::new(0.1, -0.2, 0.6), Vector3::new(0.2, -0.1, -0.01));
    let bodies = [
        ("box", Shape::Box { size: Vector3::new(0.08, 0.06, 0.04) }, 0.02 - 3e-5),
        ("ball", Shape::Sphere { radius: 0.03 }, 0.03 - 2e-4),
    ];
    for scheme in [ContactScheme::Lagged, ContactScheme::Similar, ContactScheme::Sap { near_rigid: 0.0 }] {
        for (name, shape, height) in &bodies {
            let dissipation = DissipationModel::default();
            let sap = matches!(scheme, ContactScheme::Sap { .. });
            let options = DynamicStepping { scheme, dissipation, ..DynamicStepping::default() };
            let options = if sap {
                DynamicStepping { dissipation: DissipationModel::Linear, friction_compliance: 1e-3, ..options }
            } else {
                options
            };
            // Only friction with bounds is spread over a face.
            let face_friction = if scheme.has_bounds() { FaceFriction::default() } else { FaceFriction::Centroid };
            let settings = StepSettings { face_friction, ..settings(1e-3, options) };
            let simulation = on_ground(shape.clone(), &soft(1e6), *height, &V, settings);
            let name = format!("{name}, {}", scheme.name());
            let (error, one_sided) = error(&name, &simulation, &JointCommand::default(), |_| true);
            assert!(error < TOLERANCE && one_sided <= 2, "{name}: {error}, {one_sided}");
        }
    }
}

/// A rigid box that slides on its corners, and one that rests. With solved friction bounds, steps from
/// configurations that are 1e-11 m higher take their friction in another number of rounds: then only motions
/// along the ground, velocities and turns about the vertical count.
#[test]
fn derivatives_through_rigid_points_are_those_of_the_steps() {
    let rigid = ContactProperties { compliant: Some(false), mu_dynamic: Some(0.4), ..ContactProperties::default() };
    let shape = Shape::Box { size: Vector3::new(0.08, 0.06, 0.04) };
    for (name, v) in [("slides", Vector3::new(0.2, -0.1, 0.0)), ("rests", Vector3::zeros())] {
        let V = SpatialVelocity::new(Vector3::z() * v.x, v);
        for friction_bound in [FrictionBound::Lagged, FrictionBound::Solved] {
            let options = DynamicStepping { friction_bound, ..DynamicStepping::default() };
            let mut simulation = on_ground(shape.clone(), &rigid, 0.02 - 1e-6, &V, settings(1e-3, options));
            for _ in 0..5 {
                simulation.step(&JointCommand::default()).expect("a step");
            }
            let state = simulation.state().clone();
            simulation.set_state(state).expect("a state");
            let name = format!("box that {name}, {friction_bound:?}");
            let counts = |column| friction_bound == FrictionBound::Lagged || ![0, 1, 5].contains(&column);
            let (error, one_sided) = error_over(MOTION_OF_POINTS, &name, &simulation, &JointCommand::default(), counts);
            assert!(error < TOLERANCE && one_sided <= 2, "{name}: {error}, {one_sided}");
        }
    }
}

/// Two soft fingers on sliders hold a box, and one more link pulls: commands act through the pads, also with
/// the memory of earlier steps.
#[test]
fn derivatives_of_a_grasp_are_those_of_its_steps() {
    let mut builder = SceneBuilder::new();
    let soft = ContactProperties { mesh_resolution_hint: Some(0.02), ..compliant(3e5, 1.0, 0.6) };
    let inertia = |mass: f64| SpatialInertia::from_central(mass, &Vector3::zeros(), &(Matrix3::identity() * 1e-4));
    for (name, x, axis_F) in [("left", -0.05, Vector3::x()), ("right", 0.05, -Vector3::x())] {
        let body = builder.add_body(name, inertia(0.1));
        let spec = JointSpec {
            axis_F,
            X_PF: at(x, 0.0, 0.0),
            ..JointSpec::new(&format!("{name}_joint"), BodyIndex::WORLD, body, JointKind::Prismatic)
        };
        let joint = builder.add_joint(spec).expect("a joint");
        builder.set_actuator(joint, pd(2000.0, 20.0, 60.0));
        let pad = Shape::Box { size: Vector3::new(0.02, 0.03, 0.03) };
        builder.add_geometry(body, "pad", at(0.0, 0.0, 0.0), pad, &soft).expect("a pad");
    }
    let body = builder.add_body("box", inertia(0.3));
    let rigid = ContactProperties { compliant: Some(false), mu_dynamic: Some(0.6), ..ContactProperties::default() };
    let shape = Shape::Box { size: Vector3::new(0.08, 0.05, 0.05) };
    builder.add_geometry(body, "box", at(0.0, 0.0, 0.0), shape, &rigid).expect("a box");
    let scene = Arc::new(builder.build(Vector3::z() * -GRAVITY).expect("a scene"));
    let state = scene.model().default_state();
    let options = DynamicStepping::default();
    let mut simulation = Simulation::new(scene, state, settings(1e-3, options)).expect("a simulation");
    let command: JointCommand = [target(0.004, 0.0, 0.5), target(0.0045, 0.0, 0.3)].into_iter().collect();
    for _ in 0..60 {
        simulation.step(&command).expect("a step");
    }
    let n = simulation.scene().model().nv();
    let (of_commands, one_sided) = error("grasp with memory", &simulation, &command, |column| column >= 2 * n);
    assert!(of_commands < TOLERANCE && one_sided == 0, "{of_commands}, {one_sided}");
    let state = simulation.state().clone();
    simulation.set_state(state).expect("a state");
    let (error, one_sided) = error("grasp", &simulation, &command, |_| true);
    assert!(error < TOLERANCE && one_sided <= 2, "{error}, {one_sided}");
}

/// Steps without derivatives are refused with the reason.
#[test]
fn steps_without_derivatives_are_refused_by_name() {
    let bouncing = ContactProperties {
        compliant: Some(false),
        mu_dynamic: Some(0.4),
        restitution: Some(0.5),
        ..ContactProperties::default()
    };
    let shape = Shape::Box { size: Vector3::new(0.08, 0.06, 0.04) };
    let make = |properties: &ContactProperties, to: StepSettings| {
        on_ground(shape.clone(), properties, 0.02 - 1e-5, &SpatialVelocity::ZERO, to)
    };
    let refusal = |simulation: &Simulation| {
        let mut derivatives = DynamicDerivatives::new(simulation).expect("a dynamic simulation");
        derivatives.differentiate(simulation, &JointCommand::default()).expect_err("a refusal")
    };
    let plain = DynamicStepping::default();
    let soft = compliant(1e6, 0.5, 0.4);
    let error = refusal(&make(&bouncing, settings(1e-3, plain)));
    assert!(matches!(error, DynamicDerivativeError::Restitution { .. }), "{error}");
    assert!(error.to_string().contains("'world/ground' and 'body/shape'"), "{error}");
    let controlled = DynamicStepping { error_control: Some(ErrorControl { tolerance: 1e-4 }), ..plain };
    assert!(matches!(refusal(&make(&soft, settings(1e-3, controlled))), DynamicDerivativeError::ErrorControl));
    let coupled = DynamicStepping { scheme: ContactScheme::Coupled, ..plain };
    let error = refusal(&make(&soft, settings(1e-3, coupled)));
    assert!(matches!(error, DynamicDerivativeError::Scheme { scheme: "coupled" }), "{error}");
    let other = make(&soft, quasistatic(0.05, UnactuatedInertia::DRAG));
    assert!(matches!(DynamicDerivatives::new(&other), Err(DynamicDerivativeError::NotDynamic)));
}
