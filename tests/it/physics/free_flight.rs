//! Bodies without contact conserve their momentum and energy, in any inertial frame, and joints that spin
//! fast follow the equations of motion.

use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialForce, SpatialInertia, SpatialVelocity, Vector3};
use isobar::multibody::{Data, JointKind, JointSpec, Model, State, bias, energy, kinematics, mass_matrix};
use isobar::scene::SceneBuilder;
use isobar::stepping::{DynamicStepping, Integrator, JointCommand, Simulation, StepError, StepSettings, Stepping};

use super::bodies::{box_inertia, finish};
use crate::worlds::{GRAVITY, at, run, settings};

/// A body without contact.
fn body_in_flight(inertia: SpatialInertia, V_WB: SpatialVelocity, gravity: f64, settings: StepSettings) -> Simulation {
    let mut builder = SceneBuilder::new();
    let body = builder.add_body("body", inertia);
    let (scene, mut state) = finish(builder, Vector3::new(0.0, 0.0, -gravity), &[RigidTransform::identity()]);
    scene.model().set_free_body_velocity(&mut state, body, &V_WB);
    Simulation::new(scene, state, settings).expect("a simulation")
}

/// Momentum about the centre of mass [N m s], linear momentum [N s], and kinetic energy of the rotation [J].
fn momenta(simulation: &Simulation) -> (Vector3, Vector3, f64) {
    let body = simulation.scene().free_bodies()[0];
    let (X_WB, V_WB) = (&simulation.data().X_WB[body], &simulation.data().V_WB[body]);
    let inertia = simulation.scene().model().bodies()[body].inertia.rotate(&X_WB.rotation);
    let center = inertia.center_of_mass();
    let momentum: SpatialForce = inertia.mul_velocity(V_WB).shift(&center);
    (momentum.tau, momentum.f, 0.5 * V_WB.w.dot(&momentum.tau))
}

/// The worst relative change of angular momentum and of the energy of rotation over `seconds`.
fn leaks(simulation: &mut Simulation, seconds: f64) -> (f64, f64) {
    let (L0, _, T0) = momenta(simulation);
    let (mut momentum, mut gain) = (0.0_f64, 0.0_f64);
    for _ in 0..100 {
        run(simulation, &JointCommand::default(), seconds / 100.0);
        let (L, _, T) = momenta(simulation);
        momentum = momentum.max((L - L0).norm() / L0.norm());
        gain = gain.max((T / T0 - 1.0).abs());
    }
    (momentum, gain)
}

/// A nut of 2.3 g and a box off its centre of mass tumble for a minute at 10 rad/s, for any speed of the
/// frame, falling or not.
///
/// One rounding of 2e-16 of either sign in each of the 60,000 steps adds up to 5e-14, and to twice that in
/// the energy; roundings of one sign would add up to 1.3e-11. The bound, 1e-12, lies between.
#[test]
fn tumbling_keeps_momentum_and_energy_in_every_frame() {
    let nut = SpatialInertia::from_central(
        2.3e-3,
        &Vector3::zeros(),
        &Matrix3::from_diagonal(&Vector3::new(3.0e-8, 3.1e-8, 5.0e-8)),
    );
    let size = Vector3::new(0.3, 0.2, 0.1);
    let off_center = box_inertia(1.0, &size).shift(&Vector3::new(0.1, -0.05, 0.02));
    let mut wrong = Vec::new();
    for (name, inertia) in [("nut", nut), ("box", off_center)] {
        for (speed, gravity) in [(0.0, 0.0), (5.0, GRAVITY), (300.0, 0.0)] {
            let V = SpatialVelocity::new(Vector3::new(2.0, 9.0, -3.9), Vector3::new(0.6 * speed, 0.0, -0.8 * speed));
            let mut simulation = body_in_flight(inertia, V, gravity, settings(1e-3));
            let (momentum, gain) = leaks(&mut simulation, 60.0);
            let line = format!("{name} at {speed} m/s, g {gravity}: momentum {momentum:.1e}, energy {gain:.1e}");
            println!("{line}");
            if !(momentum < 1e-12 && gain < 2e-12) {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A box that spins about its middle axis with 30 rad/s for 2 s turns over again and again. The reference has
/// steps of 0.02 ms.
#[test]
fn a_box_turns_over_as_it_should() {
    let V = SpatialVelocity::new(Vector3::new(0.1, 30.0, 0.1), Vector3::zeros());
    let inertia = box_inertia(1.0, &Vector3::new(0.3, 0.2, 0.1));
    let orientation = |step: f64| {
        let mut simulation = body_in_flight(inertia, V, 0.0, settings(step));
        run(&mut simulation, &JointCommand::default(), 2.0);
        simulation.data().X_WB[simulation.scene().free_bodies()[0]].rotation
    };
    let exact = orientation(2e-5);
    for (step, off) in [(1e-3, 2e-4), (5e-3, 0.1)] {
        let angle = orientation(step).angle_to(&exact);
        println!("step {step} s: {angle:.1e} rad off after 2 s of 30 rad/s");
        assert!(angle < off, "{step}: {angle}");
    }
}

/// With the Coriolis forces at the start of the step, a fast spin grows without bound: the step gives an
/// error and no NaN.
#[test]
fn a_residual_that_is_no_number_is_an_error() {
    let V = SpatialVelocity::new(Vector3::new(10.0, 300.0, 10.0), Vector3::zeros());
    let dynamic = DynamicStepping { integrator: Integrator::SemiImplicit, ..DynamicStepping::default() };
    let explicit = StepSettings { stepping: Stepping::Dynamic(dynamic), ..settings(1e-2) };
    let inertia = box_inertia(1.0, &Vector3::new(0.3, 0.2, 0.1));
    let mut simulation = body_in_flight(inertia, V, 0.0, explicit);
    for _ in 0..2000 {
        match simulation.step(&JointCommand::default()) {
            Ok(report) => assert!(!report.solver_residual.is_nan(), "t = {}: {report:?}", simulation.time()),
            Err(StepError::Residual { .. }) => return,
            Err(error) => panic!("{error}"),
        }
    }
    panic!("no residual of this spin overflows: {:?}", simulation.state());
}

/// vdot of M vdot + c = tau_g.
fn acceleration(model: &Model, state: &State, data: &mut Data) -> Vec<f64> {
    kinematics(model, state, data);
    mass_matrix(model, data);
    bias(model, data);
    let n = model.nv();
    let M = nalgebra::DMatrix::from_row_slice(n, n, &data.M.to_dense());
    let force = nalgebra::DVector::from_iterator(n, data.gravity.iter().zip(&data.coriolis).map(|(g, c)| g - c));
    M.cholesky().expect("masses").solve(&force).as_slice().to_vec()
}

/// The state after `seconds` by the classical Runge-Kutta scheme, for models whose qdot is v.
fn runge_kutta(model: &Model, start: &State, seconds: f64, steps: usize) -> State {
    let mut data = Data::new(model);
    let h = seconds / steps as f64;
    let ahead = |state: &State, h: f64, v: &[f64], a: &[f64]| State {
        q: state.q.iter().zip(v).map(|(q, v)| q + h * v).collect(),
        v: state.v.iter().zip(a).map(|(v, a)| v + h * a).collect(),
    };
    let mut state = start.clone();
    for _ in 0..steps {
        let a1 = acceleration(model, &state, &mut data);
        let s2 = ahead(&state, 0.5 * h, &state.v, &a1);
        let a2 = acceleration(model, &s2, &mut data);
        let s3 = ahead(&state, 0.5 * h, &s2.v, &a2);
        let a3 = acceleration(model, &s3, &mut data);
        let s4 = ahead(&state, h, &s3.v, &a3);
        let a4 = acceleration(model, &s4, &mut data);
        for i in 0..state.q.len() {
            state.q[i] += h / 6.0 * (state.v[i] + 2.0 * s2.v[i] + 2.0 * s3.v[i] + s4.v[i]);
            state.v[i] += h / 6.0 * (a1[i] + 2.0 * a2[i] + 2.0 * a3[i] + a4[i]);
        }
    }
    state
}

fn link(
    builder: &mut SceneBuilder,
    name: &str,
    parent: BodyIndex,
    spec: (Vector3, RigidTransform),
    inertia: SpatialInertia,
) -> BodyIndex {
    let body = builder.add_body(name, inertia);
    let joint = JointSpec::new(&format!("{name}_joint"), parent, body, JointKind::Continuous);
    builder.add_joint(JointSpec { axis_F: spec.0, X_PF: spec.1, ..joint }).expect("a joint");
    body
}

/// A wheel of 200 rad/s in two gimbals, its centre of mass beside their crossing: it precesses and nods.
fn gyroscope() -> SceneBuilder {
    let mut builder = SceneBuilder::new();
    let light = SpatialInertia::from_central(0.02, &Vector3::zeros(), &(Matrix3::identity() * 1e-5));
    let wheel = SpatialInertia::from_central(
        0.3,
        &Vector3::new(0.05, 0.0, 0.0),
        &Matrix3::from_diagonal(&Vector3::new(2.4e-4, 1.3e-4, 1.3e-4)),
    );
    let outer = link(&mut builder, "outer", BodyIndex::WORLD, (Vector3::z(), RigidTransform::identity()), light);
    let inner = link(&mut builder, "inner", outer, (Vector3::y(), RigidTransform::identity()), light);
    link(&mut builder, "wheel", inner, (Vector3::x(), RigidTransform::identity()), wheel);
    builder
}

/// Two rods of 1 kg and 0.5 m; both hang at the joints' zero.
fn double_pendulum(parent: Option<&mut SceneBuilder>, root: BodyIndex) -> Option<SceneBuilder> {
    let rod = SpatialInertia::from_central(
        1.0,
        &Vector3::new(0.0, 0.0, -0.25),
        &Matrix3::from_diagonal(&Vector3::new(1.0 / 48.0, 1.0 / 48.0, 1e-3)),
    );
    let mut own = None;
    let builder = match parent {
        Some(builder) => builder,
        None => own.insert(SceneBuilder::new()),
    };
    let upper = link(builder, "upper", root, (Vector3::y(), RigidTransform::identity()), rod);
    link(builder, "lower", upper, (Vector3::y(), at(0.0, 0.0, -0.5)), rod);
    own
}

/// The gyroscope's joints against the equations of motion, integrated with a hundredth of the step.
#[test]
fn a_gyroscope_follows_its_equations_of_motion() {
    let (scene, mut state) = finish(gyroscope(), Vector3::new(0.0, 0.0, -GRAVITY), &[]);
    state.v.copy_from_slice(&[0.0, 0.0, 200.0]);
    let model = scene.model();
    let mut simulation = Simulation::new(scene.clone(), state.clone(), settings(1e-3)).expect("a simulation");
    let (mut reference, mut worst, mut largest) = (state, 0.0_f64, 0.0_f64);
    for _ in 0..20 {
        run(&mut simulation, &JointCommand::default(), 0.1);
        reference = runge_kutta(model, &reference, 0.1, 10_000);
        for i in 0..2 {
            worst = worst.max((simulation.state().q[i] - reference.q[i]).abs());
            largest = largest.max(reference.q[i].abs());
        }
        let spin = simulation.state().v[2] / reference.v[2] - 1.0;
        assert!(spin.abs() < 0.01, "t = {} s: the wheel's speed is off by {spin:e}", simulation.time());
    }
    println!("gyroscope: precesses by {largest:.3} rad in 2 s, {worst:.1e} rad off");
    assert!(worst < 0.01 * largest, "{worst} of {largest} rad");
}

/// The energy of swings in which no link turns fast: a double pendulum of two links of 1 m, released at rest.
/// Coriolis forces of the start of the step change it by 7 to 15 % in a minute.
#[test]
fn slow_swings_keep_their_energy() {
    for (start, step) in [([1.3, 0.0], 1e-3), ([0.8, -0.8], 1e-3), ([0.8, -0.8], 2e-3), ([1.0, 0.5], 5e-4)] {
        let mut builder = SceneBuilder::new();
        let moments = Matrix3::from_diagonal(&Vector3::new(1.0 / 12.0, 1.0 / 12.0, 1e-3));
        let rod = SpatialInertia::from_central(1.0, &Vector3::new(0.0, 0.0, -0.5), &moments);
        let upper = link(&mut builder, "upper", BodyIndex::WORLD, (Vector3::y(), at(0.0, 0.0, 0.0)), rod);
        link(&mut builder, "lower", upper, (Vector3::y(), at(0.0, 0.0, -1.0)), rod);
        let (scene, mut state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[]);
        state.q.copy_from_slice(&start);
        let mut simulation = Simulation::new(scene, state, settings(step)).expect("a simulation");
        let total = |simulation: &Simulation| {
            energy(simulation.scene().model(), simulation.data(), &simulation.state().v).total()
        };
        // The rods' centres are lowest 0.5 and 1.5 m below the axis
        let lowest = -GRAVITY * (0.5 + 1.5);
        let (at_start, mut worst) = (total(&simulation) - lowest, 0.0_f64);
        for _ in 0..600 {
            run(&mut simulation, &JointCommand::default(), 0.1);
            worst = worst.max(((total(&simulation) - lowest) / at_start - 1.0).abs());
        }
        println!("slow double pendulum from {start:?}, step {step}: energy within {worst:.1e} over 60 s");
        assert!(worst < 0.01, "{start:?}, step {step}: {worst}");
    }
}

/// The energy of large, fast swings: a double pendulum on a fixed base, and one on a free base.
#[test]
fn far_swings_keep_their_energy() {
    for (floating, bound) in [(false, 0.01), (true, 0.01)] {
        let mut builder = match floating {
            false => double_pendulum(None, BodyIndex::WORLD).expect("a builder"),
            true => {
                let mut builder = SceneBuilder::new();
                let base = builder.add_body("base", box_inertia(5.0, &Vector3::new(0.3, 0.2, 0.1)));
                double_pendulum(Some(&mut builder), base);
                builder
            }
        };
        let _ = &mut builder;
        let gravity = if floating { 0.0 } else { GRAVITY };
        let (scene, mut state) = finish(builder, Vector3::new(0.0, 0.0, -gravity), &[]);
        let joints = [scene.model().joint("upper_joint"), scene.model().joint("lower_joint")];
        for (joint, (q, v)) in joints.iter().zip([(3.0, 0.0), (-1.0, if floating { 15.0 } else { 0.0 })]) {
            let joint = &scene.model().joints()[joint.expect("a joint")];
            (state.q[joint.q_start], state.v[joint.v_start]) = (q, v);
        }
        let mut simulation = Simulation::new(scene, state, settings(1e-3)).expect("a simulation");
        let total = |simulation: &Simulation| {
            energy(simulation.scene().model(), simulation.data(), &simulation.state().v).total()
        };
        // The energy is measured from the lowest state, in which the rods' centres are 0.25 and 0.75 m below
        // the axis.
        let lowest = if floating { 0.0 } else { -GRAVITY * (0.25 + 0.75) };
        let start = total(&simulation) - lowest;
        let (mut worst, mut fastest) = (0.0_f64, 0.0_f64);
        for _ in 0..6000 {
            run(&mut simulation, &JointCommand::default(), 0.01);
            worst = worst.max(((total(&simulation) - lowest) / start - 1.0).abs());
            fastest = simulation.state().v.iter().fold(fastest, |most, v| most.max(v.abs()));
        }
        println!("double pendulum, floating {floating}: energy within {worst:.1e} over 60 s, up to {fastest:.1} rad/s");
        assert!(worst < bound, "floating {floating}: {worst}");
    }
}
