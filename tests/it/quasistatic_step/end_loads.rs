//! Arms that sag: where a quasistatic step ends, actuators, dry friction and contact balance the weights and
//! the external wrenches of that pose, however soft the joints are. An independent descent of the energy from
//! there stays there.

use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Index, Matrix3, SpatialForce, SpatialInertia, Vector3};
use isobar::multibody::{Data, JointKind, JointLimits, JointSpec, Mimic, Model, energy, integrate, kinematics};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{
    JointCommand, JointTarget, QuasistaticDerivatives, Simulation, Snapshot, StepError, UnactuatedInertia,
};

use crate::random::Random;
use crate::worlds::{GRAVITY, at, quasistatic};

/// The largest force by which a balance may miss [N m].
const MISSED: f64 = 1e-6;
/// Steps \[s\].
const STEPS: [f64; 4] = [0.001, 0.01, 0.1, 1.0];
/// Stiffnesses of all joints of an arm [N m/rad].
const STIFFNESSES: [f64; 7] = [3.0, 7.5, 9.0, 12.0, 40.0, 200.0, 1000.0];

/// The largest number of steps in which an arm on a plate comes to rest.
const RESTS_MAX: u32 = 60;

/// Joints turn at this rate at most while a tip sticks and creeps at 1 um/s [rad/s], and change the lever
/// arms of a load of this size, or of the largest effort [N m].
const CREEP: f64 = 3e-5;
const LOAD: f64 = 30.0;

/// With contact, forces balance to this fraction of the largest [-].
const BALANCE: f64 = 4e-7;

/// An arm of links of about 1 kg and 0.3 m, and where it may touch a plate.
struct Arm {
    links: usize,
    stiffness: f64,
    limit: f64,
    friction: f64,
    /// All axes are horizontal and parallel; otherwise they have any direction.
    planar: bool,
    /// The second joint follows the first.
    mimic: bool,
    /// The height of a plate below the tip, and its friction.
    plate: Option<(f64, f64)>,
}

impl Arm {
    fn new(links: usize, stiffness: f64) -> Self {
        Self { links, stiffness, limit: f64::INFINITY, friction: 0.0, planar: true, mimic: false, plate: None }
    }

    /// Whether the arm is at rest on its plate, but for the creep of a tip that sticks.
    fn rests(&self, simulation: &Simulation, step: f64) -> bool {
        let creeps = self.plate.is_some_and(|(_, friction)| friction > 0.0);
        let still = |v: &f64| (v * step).abs() <= 1e-9 || creeps && v.abs() <= CREEP;
        simulation.state().v.iter().all(still)
    }

    fn build(&self, random: &mut Random, step: f64) -> (Simulation, BodyIndex) {
        let mut builder = SceneBuilder::new();
        let (mut parent, mut length) = (BodyIndex::WORLD, 0.0);
        for number in 0..self.links {
            let mass = 1.0 + 0.5 * random.next();
            let next = 0.3 + 0.1 * random.next();
            let com = Vector3::new(0.5 * next, 0.0, 0.0);
            let inertia = SpatialInertia::from_central(mass, &com, &Matrix3::from_diagonal_element(0.01));
            let link = builder.add_body(&format!("link{number}"), inertia);
            let axis = if self.planar { Vector3::y() } else { random.vector().normalize() };
            let mimic = self.mimic && number == 1;
            let spec = JointSpec {
                axis_F: axis,
                X_PF: at(length, 0.0, 0.0),
                limits: JointLimits::NONE,
                friction: if mimic { 0.0 } else { self.friction },
                mimic: mimic.then(|| Mimic { joint: "joint0".to_owned(), multiplier: -0.7, offset: 0.2 }),
                ..JointSpec::new(&format!("joint{number}"), parent, link, JointKind::Revolute)
            };
            let joint = builder.add_joint(spec).expect("a joint");
            if !mimic {
                let actuator = Actuator { stiffness: self.stiffness, effort_limit: self.limit, ..Actuator::PASSIVE };
                builder.set_actuator(joint, actuator);
            }
            (parent, length) = (link, next);
        }
        if let Some((height, friction)) = self.plate {
            let rigid = ContactProperties {
                compliant: Some(false),
                mu_dynamic: Some(friction),
                ..ContactProperties::default()
            };
            let tip = Shape::Sphere { radius: 0.03 };
            builder.add_geometry(parent, "tip", at(length, 0.0, 0.0), tip, &rigid).expect("a tip");
            let place = at(0.0, 0.0, height);
            builder.add_geometry(BodyIndex::WORLD, "plate", place, Shape::HalfSpace, &rigid).expect("a plate");
        }
        let scene = Arc::new(builder.build(Vector3::z() * -GRAVITY).expect("a scene"));
        let mut state = scene.model().default_state();
        if self.plate.is_none() {
            state.q.iter_mut().for_each(|q| *q = 3.0 * random.next());
        }
        let settings = quasistatic(step, UnactuatedInertia::DRAG);
        (Simulation::new(scene, state, settings).expect("a simulation"), parent)
    }
}

pub(super) fn command(targets: &[f64]) -> JointCommand {
    let target = |position: &f64| JointTarget { position: Some(*position), ..JointTarget::default() };
    targets.iter().map(target).collect()
}

/// Gravity along the degrees of freedom at q [N m].
fn gravity(model: &Model, q: &[f64]) -> Vec<f64> {
    let mut state = model.default_state();
    state.q.copy_from_slice(q);
    let mut data = Data::new(model);
    kinematics(model, &state, &mut data);
    isobar::multibody::bias(model, &mut data);
    data.gravity
}

/// J^T F of the contact forces and external wrenches at q, from central differences of poses [N m].
fn wrench_torques(model: &Model, q: &[f64], wrenches: &[(BodyIndex, SpatialForce)]) -> Vec<f64> {
    let pose = |dof: usize, moved: f64| {
        let (mut q, mut v) = (q.to_vec(), vec![0.0; model.nv()]);
        v[dof] = moved;
        integrate(model, &mut q, &v, 1.0);
        let mut data = Data::new(model);
        isobar::multibody::positions(model, &q, &mut data);
        data.X_WB
    };
    let torque = |dof: usize| {
        let (plus, minus) = (pose(dof, 1e-5), pose(dof, -1e-5));
        let of_body = |(body, F): &(BodyIndex, SpatialForce)| {
            let moved = (plus[*body].translation.vector - minus[*body].translation.vector) / 2e-5;
            let (ahead, behind) = (plus[*body].rotation.matrix(), minus[*body].rotation.matrix());
            let turn = (ahead * behind.transpose() - behind * ahead.transpose()) / 4e-5;
            moved.dot(&F.f) + Vector3::new(turn[(2, 1)], turn[(0, 2)], turn[(1, 0)]).dot(&F.tau)
        };
        wrenches.iter().map(of_body).sum()
    };
    (0..model.nv()).map(torque).collect()
}

/// The largest force along a degree of freedom that nothing balances where the step ended [N m]. Friction of
/// joints balances up to its limit.
pub(super) fn missed(simulation: &Simulation, snapshot: &Snapshot, friction: f64) -> f64 {
    let (model, q) = (simulation.scene().model(), &simulation.state().q);
    let wrenches: Vec<_> = snapshot.F_BBo_W.iter_enumerated().map(|(body, F)| (body, *F)).collect();
    let external: Vec<_> = snapshot.external_F_BBo_W.iter_enumerated().map(|(body, F)| (body, *F)).collect();
    let mut forces = gravity(model, q);
    for wrenches in [wrenches, external] {
        forces.iter_mut().zip(wrench_torques(model, q, &wrenches)).for_each(|(force, torque)| *force += torque);
    }
    for (index, effort) in simulation.scene().joints().iter().zip(snapshot.joint_effort.as_slice()) {
        let joint = &model.joints()[*index];
        if joint.mimic.is_none() {
            forces[joint.v_start] += effort;
        }
    }
    forces.iter().map(|force| (force.abs() - friction).max(0.0)).fold(0.0, f64::max)
}

/// Newton's method with a descent of the energy of springs and weights, from `q`: the balance that it
/// reaches, and whether this is stable.
fn descend(model: &Model, q: &[f64], (stiffness, goals): (f64, &[f64])) -> (Vec<f64>, bool) {
    let n = model.nv();
    let driven: Vec<bool> = {
        let mut driven = vec![false; n];
        let own = model.joints().iter().filter(|joint| joint.mimic.is_none() && joint.nv == 1);
        own.for_each(|joint| driven[joint.v_start] = true);
        driven
    };
    let potential = |q: &[f64]| {
        let mut data = Data::new(model);
        isobar::multibody::positions(model, q, &mut data);
        let springs: f64 = (0..n).filter(|i| driven[*i]).map(|i| 0.5 * stiffness * (goals[i] - q[i]).powi(2)).sum();
        springs + energy(model, &data, &vec![0.0; n]).potential
    };
    let gradient = |q: &[f64]| -> Vec<f64> {
        let weights = gravity(model, q);
        (0..n).map(|i| stiffness * (q[i] - goals[i]) - weights[i]).collect()
    };
    let hessian = |q: &[f64]| -> Vec<f64> {
        let mut matrix = vec![0.0; n * n];
        for j in 0..n {
            let side = |moved: f64| {
                let mut q = q.to_vec();
                q[j] += moved;
                gradient(&q)
            };
            let (plus, minus) = (side(1e-5), side(-1e-5));
            (0..n).for_each(|i| matrix[i * n + j] = (plus[i] - minus[i]) / 2e-5);
        }
        matrix
    };
    let solve = |matrix: &[f64], shift: f64, right: &[f64]| -> Option<Vec<f64>> {
        let mut a = matrix.to_vec();
        (0..n).for_each(|i| a[i * (n + 1)] += shift);
        isobar::math::dense::cholesky_in_place(&mut a, n).ok()?;
        let mut x = right.to_vec();
        isobar::math::dense::cholesky_solve_in_place(&a, n, &mut x);
        Some(x)
    };
    let mut q = q.to_vec();
    for _ in 0..200 {
        let (g, H) = (gradient(&q), hessian(&q));
        if g.iter().fold(0.0_f64, |most, g| most.max(g.abs())) < 1e-10 {
            break;
        }
        let mut shift = 0.0;
        let d = loop {
            match solve(&H, shift, &g) {
                Some(d) => break d,
                None => shift = (2.0 * shift).max(1e-3 * stiffness),
            }
        };
        let mut part = 1.0;
        let here = potential(&q);
        while part > 1e-6 {
            let next: Vec<f64> = q.iter().zip(&d).map(|(q, d)| q - part * d).collect();
            if potential(&next) <= here + 1e-13 * here.abs() {
                break;
            }
            part *= 0.5;
        }
        q.iter_mut().zip(&d).for_each(|(q, d)| *q -= part * d);
    }
    let stable = solve(&hessian(&q), 0.0, &gradient(&q)).is_some();
    (q, stable)
}

#[derive(Default, Debug)]
struct Tally {
    steps: u32,
    refused: u32,
    unstable: u32,
    solves: u32,
    most_solves: u32,
    parts: u32,
    restless: u32,
    behind: u32,
    worst: f64,
    worst_oracle: f64,
}

impl Tally {
    /// Takes random steps with the arm.
    fn run(&mut self, arm: &Arm, random: &mut Random, step: f64, what: &str) {
        let (mut simulation, _) = arm.build(random, step);
        let scene = simulation.scene().clone();
        let count = scene.joints().len();
        let mut snapshot = Snapshot::default();
        let mut goals: Vec<f64> = simulation.state().q.clone();
        for _ in 0..3 {
            goals.iter_mut().for_each(|goal| *goal += 0.7 * random.next());
            let mut targets = goals.clone();
            targets.resize(count, 0.0);
            self.steps += 1;
            match simulation.step(&command(&targets)) {
                Ok(report) => {
                    self.solves += report.solves;
                    self.most_solves = self.most_solves.max(report.solves);
                    self.parts = self.parts.max(report.parts);
                }
                Err(error) => {
                    assert!(matches!(error, StepError::NotSettled { .. }), "{what}: {error}");
                    println!("{what}: {error}");
                    self.refused += 1;
                    return;
                }
            }
            // Contact forces have the lever arms of the middle of a step: the arm comes to rest first.
            let mut rests = 0;
            while arm.plate.is_some() && !arm.rests(&simulation, step) {
                rests += 1;
                if rests > RESTS_MAX {
                    self.restless += 1;
                    return;
                }
                if let Err(error) = simulation.step(&command(&targets)) {
                    println!("{what}, at rest: {error}");
                    self.refused += 1;
                    return;
                }
            }
            simulation.snapshot_into(&mut snapshot);
            let missed = missed(&simulation, &snapshot, arm.friction);
            self.worst = self.worst.max(missed);
            let turned: f64 = simulation.state().v.iter().map(|v| (v * step).abs()).sum();
            let efforts = snapshot.joint_effort.as_slice().iter().map(|effort| effort.abs());
            let effort = efforts.fold(0.0, f64::max);
            let of_creep = if arm.plate.is_some() { effort.max(LOAD) * turned } else { 0.0 };
            let of_contact = if arm.plate.is_some() { BALANCE * effort } else { 0.0 };
            // What a step says that it leaves
            let behind = simulation.report().loads_behind;
            self.behind += u32::from(behind > 0.0);
            let bound = MISSED + of_creep + of_contact + 1.01 * behind;
            assert!(
                missed < bound,
                "{what}: forces miss their balance by {missed:.2e} N m ({turned:.1e}, {effort}, {behind:.1e})"
            );
            if arm.plate.is_none() && arm.friction == 0.0 && arm.limit == f64::INFINITY && !arm.mimic {
                let q = &simulation.state().q;
                let (end, stable) = descend(scene.model(), q, (arm.stiffness, &goals));
                let moved = end.iter().zip(q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                self.worst_oracle = self.worst_oracle.max(moved);
                self.unstable += u32::from(!stable);
                if moved > 1e-5 || !stable {
                    println!("{what}: the descent moves by {moved:.1e} rad, stable: {stable}");
                }
            }
        }
    }
}

/// Arms in any posture with commands that jump by up to 0.7 rad.
#[test]
fn soft_arms_end_steps_in_balance() {
    let mut random = Random::new(5);
    for links in [1, 3, 7] {
        for stiffness in STIFFNESSES {
            let mut tally = Tally::default();
            for step in STEPS {
                for number in 0..10 {
                    let limit = if number % 2 == 0 { f64::INFINITY } else { 500.0 };
                    let arm = Arm { planar: number % 3 != 0, limit, ..Arm::new(links, stiffness) };
                    let what = format!("{links} links of {stiffness}, h = {step}, arm {number}");
                    tally.run(&arm, &mut random, step, &what);
                }
            }
            println!("{links} links of {stiffness}: {tally:?}");
            assert_eq!((tally.refused, tally.unstable, tally.behind), (0, 0, 0));
            assert!(tally.worst_oracle < 1e-6 && tally.most_solves <= 60, "{tally:?}");
        }
    }
}

/// The same with dry friction in the joints, a joint that follows another, and efforts that reach their
/// limits.
#[test]
fn arms_with_friction_and_followers_end_steps_in_balance() {
    let mut random = Random::new(6);
    for (friction, mimic, limit) in [
        (0.3, false, f64::INFINITY),
        (0.3, false, 500.0),
        (0.0, true, f64::INFINITY),
        (0.0, true, 500.0),
        (0.2, true, 500.0),
        (0.0, false, 6.0),
    ] {
        let mut tally = Tally::default();
        for links in [1, 3, 7] {
            for stiffness in STIFFNESSES {
                for step in STEPS {
                    let mimic = mimic && links > 1;
                    let arm = Arm { friction, mimic, limit, ..Arm::new(links, stiffness) };
                    let what =
                        format!("{links} links of {stiffness}, h = {step}, friction {friction}, {mimic}, {limit}");
                    tally.run(&arm, &mut random, step, &what);
                }
            }
        }
        println!("friction {friction}, follower {mimic}, limit {limit}: {tally:?}");
        assert_eq!((tally.refused, tally.behind), (0, 0));
        assert!(tally.most_solves <= 60, "{tally:?}");
    }
}

/// The same above a plate on which they sag.
#[test]
fn arms_that_sag_on_a_plate_end_steps_in_balance() {
    let mut random = Random::new(7);
    for friction in [0.0, 0.5] {
        let mut tally = Tally::default();
        for links in [1, 3, 7] {
            for stiffness in STIFFNESSES {
                for step in STEPS {
                    let plate = Some((-0.1 - 0.05 * random.next(), friction));
                    let arm = Arm { plate, ..Arm::new(links, stiffness) };
                    let what = format!("{links} links of {stiffness}, h = {step}, plate {friction}");
                    tally.run(&arm, &mut random, step, &what);
                }
            }
        }
        println!("plate, friction {friction}: {tally:?}");
        assert_eq!((tally.refused, tally.behind), (0, 0));
        // Arms of seven soft links move on a plate for longer.
        assert!(tally.restless <= 20, "{tally:?}");
    }
}

/// External wrenches act where the step ends.
#[test]
fn external_wrenches_act_at_the_end_of_a_step() {
    let mut random = Random::new(8);
    let mut tally = Tally::default();
    for stiffness in STIFFNESSES {
        for step in STEPS {
            let arm = Arm { planar: false, ..Arm::new(3, stiffness) };
            let (mut simulation, tip) = arm.build(&mut random, step);
            let wrench = SpatialForce::new(0.3 * random.vector(), 5.0 * random.vector());
            simulation.set_external_wrench(tip, wrench).expect("a wrench");
            let mut snapshot = Snapshot::default();
            let mut goals = simulation.state().q.clone();
            for _ in 0..3 {
                goals.iter_mut().for_each(|goal| *goal += 0.3 * random.next());
                tally.steps += 1;
                match simulation.step(&command(&goals)) {
                    Ok(report) => tally.most_solves = tally.most_solves.max(report.solves),
                    Err(error) => {
                        println!("{stiffness}, {step}: {error}");
                        tally.refused += 1;
                        break;
                    }
                }
                simulation.snapshot_into(&mut snapshot);
                assert!(snapshot.external_F_BBo_W[tip].f.norm() > 0.0 && tip.to_usize() > 0);
                let missed = missed(&simulation, &snapshot, 0.0);
                tally.worst = tally.worst.max(missed);
                assert!(missed < MISSED, "{stiffness}, {step}: {missed:.2e} N m");
            }
        }
    }
    println!("{tally:?}");
    assert_eq!(tally.refused, 0);
}

/// Without contact the balance determines the end: dq/dq_cmd = (K + H)^-1 K, with H of the weights and of a
/// wrench at the end, and the start has no effect.
#[test]
fn derivatives_of_soft_arms_are_those_of_the_balance() {
    let mut random = Random::new(9);
    let (mut columns, mut by_steps, mut worst) = (0, 0, 0.0_f64);
    for (links, stiffness) in [1, 3, 7].into_iter().flat_map(|links| STIFFNESSES.map(|k| (links, k))) {
        for (number, step) in STEPS.into_iter().enumerate() {
            let limit = if number % 2 == 0 { f64::INFINITY } else { 500.0 };
            let arm = Arm { planar: number < 2, limit, ..Arm::new(links, stiffness) };
            let (mut simulation, tip) = arm.build(&mut random, step);
            let wrench = SpatialForce::new(0.2 * random.vector(), 3.0 * random.vector());
            if number == 3 {
                simulation.set_external_wrench(tip, wrench).expect("a wrench");
            }
            let goals: Vec<f64> = simulation.state().q.iter().map(|q| q + 0.5 * random.next()).collect();
            let mut derivatives = QuasistaticDerivatives::new(&simulation).expect("memory");
            derivatives.differentiate(&simulation, &command(&goals)).expect("derivatives");
            let (model, q) = (simulation.scene().model(), derivatives.q_next().to_vec());
            let n = model.nv();
            let wrenches: Vec<_> = if number == 3 { vec![(tip, wrench)] } else { Vec::new() };
            // (K + H) B = K
            for column in 0..n {
                let torque = |moved: f64| {
                    let mut q = q.clone();
                    (0..n).for_each(|i| q[i] += moved * derivatives.B(i, column));
                    let external = wrench_torques(model, &q, &wrenches);
                    gravity(model, &q).iter().zip(external).map(|(a, b)| a + b).collect::<Vec<f64>>()
                };
                let (plus, minus) = (torque(1e-4), torque(-1e-4));
                columns += 1;
                for i in 0..n {
                    let own = if i == column { stiffness } else { 0.0 };
                    let missed = (plus[i] - minus[i]) / 2e-4 + own - stiffness * derivatives.B(i, column);
                    let start = derivatives.A(i, column);
                    worst = worst.max(missed.abs() / stiffness).max(start.abs());
                    let what = format!("{links} links of {stiffness}, h = {step}, column {column}");
                    assert!(missed.abs() < 1e-5 * stiffness, "{what}: {missed:.1e} N m/rad");
                    assert!(start.abs() < 1e-5, "{what}: the start moves the end by {start:.1e}");
                }
            }
            by_steps += derivatives.columns_by_steps();
        }
    }
    println!("{columns} columns, {by_steps} by steps, worst {worst:.1e}");
    assert_eq!(by_steps, 0);
}

/// On a plate, with dry friction in the joints, and with effort limits that act, A and B agree with central
/// differences of steps, or are said to be those of one side.
#[test]
fn derivatives_of_arms_that_touch_agree_with_differences() {
    const MOVED: f64 = 2e-4;
    let mut random = Random::new(10);
    let (mut smooth, mut kinks, mut refused, mut worst) = (0, 0, 0, 0.0_f64);
    let kinds = [(0.0, f64::INFINITY, Some((-0.1, 0.5))), (0.3, 500.0, None), (0.0, 6.0, None)];
    for (friction, limit, plate) in kinds {
        for (links, stiffness) in [1, 3].into_iter().flat_map(|links| [7.5, 12.0, 200.0].map(|k| (links, k))) {
            for step in [0.01, 0.1] {
                let arm = Arm { friction, limit, plate, ..Arm::new(links, stiffness) };
                let (mut simulation, _) = arm.build(&mut random, step);
                let mut goals = simulation.state().q.clone();
                for _ in 0..4 {
                    let _ = simulation.step(&command(&goals));
                }
                goals.iter_mut().for_each(|goal| *goal += 0.02 * random.next());
                let mut derivatives = QuasistaticDerivatives::new(&simulation).expect("memory");
                if derivatives.differentiate(&simulation, &command(&goals)).is_err() {
                    refused += 1;
                    continue;
                }
                let n = goals.len();
                for column in 0..n {
                    if derivatives.is_one_sided(n + column) {
                        kinks += 1;
                        continue;
                    }
                    let end = |moved: f64| {
                        let (mut simulation, mut goals) = (simulation.clone(), goals.clone());
                        goals[column] += moved;
                        simulation.step(&command(&goals)).expect("a step");
                        simulation.state().q.clone()
                    };
                    let (plus, minus) = (end(MOVED), end(-MOVED));
                    smooth += 1;
                    for i in 0..n {
                        let slope = (plus[i] - minus[i]) / (2.0 * MOVED);
                        let error = (slope - derivatives.B(i, column)).abs();
                        worst = worst.max(error);
                        let what = format!("{links} links of {stiffness}, h = {step}, {friction}, {limit}, {plate:?}");
                        let found = derivatives.B(i, column);
                        assert!(error < 1e-5, "{what}, column {column}: {slope} and {found}");
                    }
                }
            }
        }
    }
    println!("{smooth} smooth columns, {kinks} of one side, {refused} refused, worst {worst:.1e}");
    assert!(refused == 0 && smooth > 50);
}

/// A heavy slide beside a light finger does not loosen the weights of the finger.
#[test]
fn a_heavy_joint_does_not_loosen_a_light_one() {
    let mut builder = SceneBuilder::new();
    for (name, mass, kind) in [("slide", 2000.0, JointKind::Prismatic), ("finger", 1e-3, JointKind::Revolute)] {
        let arm = if kind == JointKind::Revolute { 0.02 } else { 0.0 };
        let com = Vector3::new(arm, 0.0, 0.0);
        let inertia = SpatialInertia::from_central(mass, &com, &Matrix3::from_diagonal_element(1e-6));
        let body = builder.add_body(name, inertia);
        let axis_F = if kind == JointKind::Revolute { -Vector3::y() } else { Vector3::z() };
        let spec =
            JointSpec { axis_F, limits: JointLimits::NONE, ..JointSpec::new(name, BodyIndex::WORLD, body, kind) };
        let joint = builder.add_joint(spec).expect("a joint");
        let stiffness = if kind == JointKind::Revolute { 1e-3 } else { 1e6 };
        builder.set_actuator(joint, Actuator { stiffness, effort_limit: f64::INFINITY, ..Actuator::PASSIVE });
    }
    let scene = Arc::new(builder.build(Vector3::z() * -GRAVITY).expect("a scene"));
    let settings = quasistatic(0.1, UnactuatedInertia::DRAG);
    let mut simulation = Simulation::new(scene.clone(), scene.model().default_state(), settings).expect("a simulation");
    simulation.step(&command(&[0.0, 0.6])).expect("a step");
    let q = simulation.state().q[1];
    let missed = 1e-3 * (0.6 - q) - 1e-3 * GRAVITY * 0.02 * q.cos();
    assert!(missed.abs() < 1e-10, "{missed:.1e} N m at {q} rad");
}
