//! Derivatives of quasistatic steps by commanded efforts, and of contact wrenches, against central
//! differences of the steps.

use std::sync::Arc;

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Index, ScalarJointIndex, SpatialForce, Vector3, Vector6};
use isobar::multibody::{JointLimits, State, integrate};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{JointCommand, JointTarget, QuasistaticDerivatives, Simulation, UnactuatedInertia};

use super::derivatives::{Case, sharp, tangent};
use super::{add_box, add_finger, add_ground, coulomb, positions, relaxed, rigid, spring};
use crate::worlds::{GRAVITY, at, compliant, quasistatic};

/// Tolerance against central differences, relative to 1 or the largest entry of a column [-].
const TOLERANCE: f64 = 1e-5;
/// Increment of motions and positions [m, rad], and of efforts and velocities relative to a newton and a
/// metre per second.
const INCREMENT: f64 = 3e-6;
const EFFORT: f64 = 1e-3;
/// Weight of the barrier [J].
const KAPPA: f64 = 1e-4;

/// The command that a column varies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Along {
    Motion(usize),
    Position(usize),
    Effort(usize),
    Velocity(usize),
}

fn moved(case: &Case, along: Along, increment: f64) -> (Simulation, JointCommand) {
    let model = case.scene.model();
    let (mut q, mut command) = (case.state.q.clone(), case.command.clone());
    let joint = |joint: usize| ScalarJointIndex::from_usize(joint);
    match along {
        Along::Motion(column) => {
            let mut v = vec![0.0; model.nv()];
            v[column] = 1.0;
            integrate(model, &mut q, &v, increment);
        }
        Along::Position(number) => {
            let position = &mut command[joint(number)].position;
            *position = position.map(|position| position + increment);
        }
        Along::Effort(number) => {
            let effort = &mut command[joint(number)].effort;
            *effort = Some(effort.unwrap_or(0.0) + increment);
        }
        Along::Velocity(number) => {
            let velocity = &mut command[joint(number)].velocity;
            *velocity = Some(velocity.unwrap_or(0.0) + increment);
        }
    }
    (case.simulation(State { q, v: case.state.v.clone() }), command)
}

/// The end of a step, and the net contact wrench on a body.
fn end(case: &Case, body: BodyIndex, along: Along, increment: f64, smoothed: bool) -> (Vec<f64>, Vector6) {
    let (mut simulation, command) = moved(case, along, increment);
    if smoothed {
        let mut derivatives = QuasistaticDerivatives::new(&simulation).expect("a quasistatic simulation");
        derivatives.differentiate_smoothed(&simulation, &command, KAPPA).expect("a smoothed step");
        let wrench = net(case, body, &derivatives, |number| derivatives.wrenches()[number]);
        return (derivatives.q_next().to_vec(), wrench);
    }
    simulation.step(&command).expect("a step");
    (simulation.state().q.clone(), simulation.body_wrenches()[body].to_vector())
}

/// The sum over the pairs whose body B is `body`.
fn net(
    case: &Case,
    body: BodyIndex,
    derivatives: &QuasistaticDerivatives,
    of: impl Fn(usize) -> SpatialForce,
) -> Vector6 {
    let pairs = derivatives.pairs().iter().enumerate();
    pairs.fold(Vector6::zeros(), |sum, (number, pair)| {
        let pair = &case.scene.contact_pairs()[*pair];
        let [a, b] = [pair.A, pair.B].map(|geometry| case.scene.geometries()[geometry].body);
        assert!(a != body, "the body is B in all its pairs");
        if b == body { sum + of(number).to_vector() } else { sum }
    })
}

/// Compares the columns of motion and wrench that count, in the order of [`Along`].
fn agrees(case: &Case, body: BodyIndex, smoothed: bool, counts: impl Fn(Along) -> bool) {
    let model = case.scene.model();
    let n = model.nv();
    let derivatives = case.derivatives(smoothed.then_some(KAPPA));
    let here = end(case, body, Along::Motion(0), 0.0, smoothed).1;
    let wrench = net(case, body, &derivatives, |number| derivatives.wrenches()[number]);
    // Forces of pads agree to the tolerance of a step.
    let largest = derivatives.wrenches().iter().fold(0.0_f64, |largest, wrench| largest.max(wrench.f.norm()));
    assert!((wrench - here).norm() < 1e-6 * largest, "{}: {wrench} for {here}", case.name);
    let joints = derivatives.commands();
    let commands = (0..joints).flat_map(|joint| [Along::Position(joint), Along::Effort(joint), Along::Velocity(joint)]);
    let mut checked = 0;
    for along in (0..n).map(Along::Motion).chain(commands).filter(|along| counts(*along)) {
        let increment = if matches!(along, Along::Effort(_) | Along::Velocity(_)) { EFFORT } else { INCREMENT };
        let slope = |increment: f64| {
            let [before, after] = [-increment, increment].map(|by| end(case, body, along, by, smoothed));
            let motion = tangent(model, &before.0, &after.0).into_iter().map(|x| x / (2.0 * increment));
            (motion.collect::<Vec<_>>(), (after.1 - before.1) / (2.0 * increment))
        };
        let (near, far) = (slope(increment), slope(2.0 * increment));
        let motion: Vec<f64> = near.0.iter().zip(&far.0).map(|(near, far)| (4.0 * near - far) / 3.0).collect();
        let force = (near.1 * 4.0 - far.1) / 3.0;
        let (value, change): (Vec<f64>, Vector6) = match along {
            Along::Motion(column) => (
                (0..n).map(|row| derivatives.A(row, column)).collect(),
                net(case, body, &derivatives, |pair| derivatives.wrench_by_motion(pair, column)),
            ),
            Along::Position(joint) => (
                (0..n).map(|row| derivatives.B(row, joint)).collect(),
                net(case, body, &derivatives, |pair| derivatives.wrench_by_position(pair, joint)),
            ),
            Along::Effort(joint) => (
                (0..n).map(|row| derivatives.B_effort(row, joint)).collect(),
                net(case, body, &derivatives, |pair| derivatives.wrench_by_effort(pair, joint)),
            ),
            Along::Velocity(joint) => (
                (0..n).map(|row| derivatives.B_velocity(row, joint)).collect(),
                net(case, body, &derivatives, |pair| derivatives.wrench_by_velocity(pair, joint)),
            ),
        };
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let off = value.iter().zip(&motion).fold(0.0_f64, |off, (a, b)| off.max((a - b).abs()));
        let force_off = (change - force).amax();
        let each = (0..derivatives.pairs().len()).map(|pair| match along {
            Along::Motion(column) => derivatives.wrench_by_motion(pair, column),
            Along::Position(joint) => derivatives.wrench_by_position(pair, joint),
            Along::Effort(joint) => derivatives.wrench_by_effort(pair, joint),
            Along::Velocity(joint) => derivatives.wrench_by_velocity(pair, joint),
        });
        let most = each.fold(0.0_f64, |most, change| most.max(change.to_vector().amax()));
        let scale = (largest(&value).max(1e-3), most.max(1.0));
        println!(
            "{}, smoothed {smoothed}, {along:?}: {:.1e} of {:.3}, {:.1e} of {:.3}",
            case.name,
            off / scale.0,
            scale.0,
            force_off / scale.1,
            scale.1
        );
        assert!(off <= TOLERANCE * scale.0, "{}, {along:?}: {value:?} for {motion:?}", case.name);
        assert!(force_off <= TOLERANCE * scale.1, "{}, {along:?}: {change} for {force}", case.name);
        checked += 1;
    }
    assert!(checked > 0, "columns are compared");
}

/// A cube that slides and turns before a fingertip: by motions along the ground, turns about the vertical,
/// and the command. A height or a tilt lifts points that sink by 1e-8 m, so that differences see another
/// step.
#[test]
fn wrenches_on_a_pushed_cube_follow_motions_commands_and_efforts() {
    for smoothed in [false, true] {
        let target = JointTarget { position: Some(0.012), ..JointTarget::default() };
        let (mut case, cube) = pushed_by("cube", spring(500.0, f64::INFINITY), target);
        if smoothed {
            case.settings = relaxed(case.settings);
        }
        let first = case.scene.model().free_joint(cube).expect("a free body").v_start;
        let lifts = [first, first + 1, first + 5].map(Along::Motion);
        agrees(&case, cube, smoothed, |along| smoothed || !lifts.contains(&along));
    }
}

/// A finger that pushes a cube off its middle. The cube slides from 0.88 N on; much larger efforts would spin
/// it within the step.
fn pushed_by(name: &'static str, actuator: Actuator, target: JointTarget) -> (Case, BodyIndex) {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.3));
    let tip = (Shape::Sphere { radius: 0.01 }, &rigid(0.2));
    let from = (Vector3::new(-0.0402, 0.003, 0.02), Vector3::x());
    add_finger(&mut builder, "finger", from, JointLimits::NONE, actuator, tip);
    let cube = add_box(&mut builder, "cube", Vector3::repeat(0.06), 0.3, &rigid(0.3));
    let scene = Arc::new(builder.build(Vector3::z() * -GRAVITY).expect("a scene"));
    let mut state = scene.model().default_state();
    scene.model().set_free_body_pose(&mut state, cube, &at(0.0, 0.0, 0.03));
    let settings = coulomb(sharp(quasistatic(0.05, UnactuatedInertia::DRAG)));
    let command = [target].into_iter().collect();
    (Case { name, scene, state, settings, command, wrenches: Vec::new() }, cube)
}

#[test]
fn joints_without_stiffness_have_derivatives_by_effort_and_velocity() {
    let damper = Actuator { damping: 40.0, effort_limit: 20.0, ..Actuator::PASSIVE };
    let effort = Actuator { effort_limit: 5.0, ..Actuator::PASSIVE };
    let by_velocity = JointTarget { velocity: Some(0.3), ..JointTarget::default() };
    let by_effort = JointTarget { effort: Some(0.95), ..JointTarget::default() };
    for (name, actuator, target) in [("damper", damper, by_velocity), ("effort", effort, by_effort)] {
        let (case, cube) = pushed_by(name, actuator, target);
        for smoothed in [false, true] {
            agrees(&case, cube, smoothed, |along| !matches!(along, Along::Motion(_)));
        }
    }
}

/// An effort at the limit of an actuator without gains acts on one side only, and beyond it on none.
#[test]
fn an_effort_at_its_limit_has_one_side() {
    let actuator = Actuator { effort_limit: 0.95, ..Actuator::PASSIVE };
    let derivative = |effort: f64| {
        let (case, _) = pushed_by("limit", actuator, JointTarget { effort: Some(effort), ..JointTarget::default() });
        let simulation = case.simulation(case.state.clone());
        let mut derivatives = QuasistaticDerivatives::new(&simulation).expect("a quasistatic simulation");
        derivatives.differentiate(&simulation, &case.command).expect("derivatives");
        (derivatives.is_one_sided(derivatives.size()), derivatives.B_effort(0, 0))
    };
    let (inside, at_limit, beyond) = (derivative(0.9), derivative(0.95), derivative(1.0));
    assert!(!inside.0 && inside.1 > 0.0, "{inside:?}");
    assert!(at_limit.0, "{at_limit:?}");
    assert_eq!(beyond, (false, 0.0));
}

/// Jaws that hold a box: with rigid pads, whose points are redundant, and through pressure fields, where all
/// columns are differences of steps. The wrench on the box is its weight for any commands, and the
/// forces of the pads follow them.
#[test]
fn grip_forces_follow_commands() {
    for soft in [false, true] {
        let properties = if soft { compliant(1e6, 0.0, 0.6) } else { rigid(0.6) };
        let mut builder = SceneBuilder::new();
        for (name, x, axis) in [("left", -0.04, Vector3::x()), ("right", 0.04, -Vector3::x())] {
            let place = (Vector3::new(x, 0.0, 0.0), axis);
            let pad = (Shape::Box { size: Vector3::new(0.02, 0.03, 0.03) }, &properties);
            add_finger(&mut builder, name, place, JointLimits::NONE, spring(1000.0, f64::INFINITY), pad);
        }
        let body = add_box(&mut builder, "box", Vector3::repeat(0.06), 0.3, &rigid(0.6));
        let scene = Arc::new(builder.build(Vector3::z() * -GRAVITY).expect("a scene"));
        let state = scene.model().default_state();
        let settings = sharp(quasistatic(0.05, UnactuatedInertia::DRAG));
        let command = positions(&[0.01, 0.0105]);
        let case = Case { name: "jaws", scene, state, settings, command, wrenches: Vec::new() };
        let simulation = case.simulation(case.state.clone());
        let mut derivatives = QuasistaticDerivatives::new(&simulation).expect("a quasistatic simulation");
        derivatives.differentiate(&simulation, &case.command).expect("derivatives");
        assert_eq!(derivatives.pairs().len(), 2);
        let each = |joint: usize| [0, 1].map(|pair| derivatives.wrench_by_position(pair, joint).f.x);
        let by_effort = |joint: usize| [0, 1].map(|pair| derivatives.wrench_by_effort(pair, joint).f.x);
        for joint in 0..2 {
            // Two springs of 1000 N/m in series through the box: each jaw presses with half of its own
            // change. Pads yield, and the box drags, by less than 1 %.
            let ([left, right], [left_effort, _]) = (each(joint), by_effort(joint));
            assert!((left - 500.0).abs() < 10.0 && (right + 500.0).abs() < 10.0, "soft {soft}: {left} {right}");
            assert!((left_effort - left / 1000.0).abs() < 1e-12, "{left_effort}");
        }
        let (case, body) = (&case, body);
        agrees(case, body, false, |along| matches!(along, Along::Position(_) | Along::Effort(_)));
    }
}
