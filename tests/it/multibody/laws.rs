//! Laws that hold for every model.

use isobar::math::{
    BodyIndex, Index, Matrix3, RigidTransform, Rotation, SpatialForce, SpatialInertia, SpatialVelocity, Vector3,
    Vector6,
};
use isobar::multibody::{
    Body, Data, JointKind, JointSpec, Model, ModelBuilder, State, bias, energy, integrate, inverse_dynamics, jacobian,
    kinematics, mass_matrix,
};
use nalgebra::{DMatrix, DVector};

use super::random;
use crate::random::Random;

const SEEDS: std::ops::Range<u64> = 0..24;

fn evaluate(model: &Model, state: &State) -> Data {
    let mut data = Data::new(model);
    kinematics(model, state, &mut data);
    mass_matrix(model, &mut data);
    bias(model, &mut data);
    data
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |max, x| max.max(x.abs()))
}

fn times_M(model: &Model, data: &Data, x: &[f64]) -> Vec<f64> {
    let nv = model.nv();
    (0..nv).map(|i| (0..nv).map(|j| data.M[(i, j)] * x[j]).sum()).collect()
}

fn assert_close(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    let scale = largest(a).max(largest(b)).max(1.0);
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance * scale, "{what}, entry {i}: {x} and {y}");
    }
}

/// vdot under no applied forces.
fn free_acceleration(model: &Model, state: &State) -> Vec<f64> {
    let data = evaluate(model, state);
    let nv = model.nv();
    let M = DMatrix::from_row_slice(nv, nv, &data.M.to_dense());
    let forces = data.gravity.iter().zip(&data.coriolis).map(|(g, c)| g - c);
    M.cholesky().unwrap().solve(&DVector::from_iterator(nv, forces)).as_slice().to_vec()
}

/// Two algorithms that share only the kinematics; rounding only, over at most some hundred sums.
#[test]
fn inverse_dynamics_is_mass_matrix_and_bias() {
    for seed in SEEDS {
        let model = random::model(seed);
        let mut numbers = Random::new(seed + 100);
        let state = random::state(&mut numbers, &model);
        let vdot = random::values(&mut numbers, model.nv());
        let mut data = evaluate(&model, &state);
        let mut tau = vec![0.0; model.nv()];
        inverse_dynamics(&model, &mut data, &vdot, &mut tau);
        let mut sum = times_M(&model, &data, &vdot);
        for ((sum, c), g) in sum.iter_mut().zip(&data.coriolis).zip(&data.gravity) {
            *sum += c - g;
        }
        assert_close(&tau, &sum, 1e-12, "M vdot + c - tau_g");
    }
}

#[test]
fn kinetic_energy_is_half_v_M_v() {
    for seed in SEEDS {
        let model = random::model(seed);
        let state = random::state(&mut Random::new(seed + 200), &model);
        let data = evaluate(&model, &state);
        let Mv = times_M(&model, &data, &state.v);
        let half: f64 = 0.5 * Mv.iter().zip(&state.v).map(|(a, b)| a * b).sum::<f64>();
        assert_close(&[energy(&model, &data, &state.v).kinetic], &[half], 1e-13, "kinetic energy");
        model.check_mass().unwrap();
    }
}

/// M couples no two dofs of different blocks, and is symmetric to the bit.
#[test]
fn mass_matrix_is_symmetric_and_block_diagonal() {
    for seed in SEEDS {
        let model = random::model(seed);
        let data = evaluate(&model, &random::state(&mut Random::new(seed), &model));
        let nv = model.nv();
        assert_eq!(model.trees().iter().map(|tree| tree.len()).sum::<usize>(), nv);
        for i in 0..nv {
            for j in 0..nv {
                assert_eq!(data.M[(i, j)].to_bits(), data.M[(j, i)].to_bits());
                assert!(model.tree_of_dof()[i] == model.tree_of_dof()[j] || data.M[(i, j)] == 0.0);
            }
        }
    }
}

/// Velocity of points: Jacobian times v, `V_WB`, and the central difference of poses along `integrate`. The
/// difference has error h^2/6 times third derivatives (below 1e4 here) and rounding 1e-15/h: 1e-6 with h =
/// 1e-5.
#[test]
fn jacobians_match_differences_of_poses() {
    const H: f64 = 1e-5;
    for seed in SEEDS {
        let model = random::model(seed);
        let state = random::state(&mut Random::new(seed + 300), &model);
        let data = evaluate(&model, &state);
        let at = |h: f64| {
            let mut moved = state.clone();
            integrate(&model, &mut moved.q, &state.v, h);
            evaluate(&model, &moved)
        };
        let (before, after) = (at(-H), at(H));
        let mut columns = vec![Vector6::zeros(); model.nv()];
        for body in model.bodies().indices() {
            let p_BQ = Vector3::new(0.3, -0.2, 0.5);
            let p_WQ = data.X_WB[body] * nalgebra::Point3::from(p_BQ);
            jacobian::write_columns(&model, &data, body, &p_WQ.coords, &mut columns);
            let dofs = model.body_dofs(body);
            assert!(dofs.is_sorted());
            let velocity = columns.iter().zip(dofs).map(|(column, dof)| column * state.v[dof.to_usize()]);
            let velocity: Vector6 = velocity.fold(Vector6::zeros(), |sum, x| sum + x);
            let expected = data.V_WB[body].shift(&(data.X_WB[body].rotation * p_BQ)).to_vector();
            assert_close(velocity.as_slice(), expected.as_slice(), 1e-12, "J v and V");
            let point = |data: &Data| (data.X_WB[body] * nalgebra::Point3::from(p_BQ)).coords;
            let v = (point(&after) - point(&before)) / (2.0 * H);
            let R = (after.X_WB[body].rotation * before.X_WB[body].rotation.inverse()).into_inner();
            // The axial vector of R is sin(angle) times the axis.
            let w = Vector3::new(R.m32 - R.m23, R.m13 - R.m31, R.m21 - R.m12) / (4.0 * H);
            assert_close(&[w.as_slice(), v.as_slice()].concat(), velocity.as_slice(), 1e-6, "differences");
        }
    }
}

/// d'Alembert's principle, from poses, velocities and Jacobians only:
///   tau = sum over bodies of J_cm^T m (a_cm - g) + J_w^T d/dt(I w),
/// with the rates by central differences along the motion (v, vdot); error as above.
#[test]
fn inverse_dynamics_is_the_virtual_power_of_inertial_forces() {
    const H: f64 = 1e-5;
    for seed in SEEDS {
        let model = random::model(seed);
        let mut numbers = Random::new(seed + 500);
        let state = random::state(&mut numbers, &model);
        let vdot = random::values(&mut numbers, model.nv());
        let mut data = evaluate(&model, &state);
        let mut tau = vec![0.0; model.nv()];
        inverse_dynamics(&model, &mut data, &vdot, &mut tau);
        let at = |h: f64| {
            let mut moved = state.clone();
            let middle: Vec<f64> = state.v.iter().zip(&vdot).map(|(v, a)| v + 0.5 * h * a).collect();
            integrate(&model, &mut moved.q, &middle, h);
            moved.v.iter_mut().zip(&vdot).for_each(|(v, a)| *v += h * a);
            evaluate(&model, &moved)
        };
        let (before, after) = (at(-H), at(H));
        let mut sum: Vec<f64> = vdot.iter().zip(model.dof_armature()).map(|(a, rotor)| a * rotor).collect();
        let mut columns = vec![Vector6::zeros(); model.nv()];
        for (body, Body { inertia, .. }) in model.bodies().iter_enumerated() {
            let central_momentum = |data: &Data| {
                let offset = data.X_WB[body].rotation * inertia.center_of_mass();
                let V = data.V_WB[body].shift(&offset);
                let central = Rotation::from_matrix_unchecked(inertia.central());
                let R_WB = data.X_WB[body].rotation;
                (R_WB * (central * (R_WB.inverse() * V.w)), V.v * inertia.mass)
            };
            let (old, new) = (central_momentum(&before), central_momentum(&after));
            let torque = (new.0 - old.0) / (2.0 * H);
            let force = (new.1 - old.1) / (2.0 * H) - model.gravity_W() * inertia.mass;
            let p_WBcm = data.X_WB[body] * nalgebra::Point3::from(inertia.center_of_mass());
            jacobian::write_columns(&model, &data, body, &p_WBcm.coords, &mut columns);
            for (column, dof) in columns.iter().zip(model.body_dofs(body)) {
                let column = SpatialVelocity::from_vector(column);
                sum[dof.to_usize()] += column.dot(&SpatialForce::new(torque, force));
            }
        }
        assert_close(&tau, &sum, 1e-6, "tau");
    }
}

/// d/dt of the energy is zero along free motion: the power of gravity is the loss of potential energy, and
/// the work of c is that of the rate of M. Central difference along the exact direction (v, vdot); error as
/// above.
#[test]
fn free_motion_conserves_energy() {
    const H: f64 = 1e-5;
    for seed in SEEDS {
        let model = random::model(seed);
        let state = random::state(&mut Random::new(seed + 400), &model);
        let vdot = free_acceleration(&model, &state);
        let total = |h: f64| {
            let mut moved = state.clone();
            // Second-order accurate in h along the motion.
            let middle: Vec<f64> = state.v.iter().zip(&vdot).map(|(v, a)| v + 0.5 * h * a).collect();
            integrate(&model, &mut moved.q, &middle, h);
            moved.v.iter_mut().zip(&vdot).for_each(|(v, a)| *v += h * a);
            let data = evaluate(&model, &moved);
            energy(&model, &data, &moved.v)
        };
        let (before, after) = (total(-H), total(H));
        let power = (after.total() - before.total()) / (2.0 * H);
        let scale = (after.kinetic - before.kinetic).abs() / (2.0 * H) + after.kinetic.abs() + 1.0;
        assert!(power.abs() < 1e-6 * scale, "seed {seed}: {power} W of {scale}");
    }
}

fn asymmetric_body() -> SpatialInertia {
    let central = Matrix3::new(0.3, 0.01, 0.02, 0.01, 0.4, -0.03, 0.02, -0.03, 0.5);
    SpatialInertia::from_central(2.0, &Vector3::new(0.1, -0.2, 0.3), &central)
}

fn free_body(gravity_W: Vector3) -> (Model, BodyIndex, State) {
    let mut builder = ModelBuilder::new();
    let body = builder.add_body("top", asymmetric_body());
    let model = builder.build(gravity_W).unwrap();
    let mut state = model.default_state();
    state.v = vec![1.0, -2.0, 3.0, 0.5, 0.2, -0.4];
    (model, body, state)
}

/// Momentum (angular, about the world's origin; linear) of a body in world axes.
fn momentum(model: &Model, body: BodyIndex, state: &State) -> Vector6 {
    let data = evaluate(model, state);
    let X_WB = data.X_WB[body];
    let inertia_W = model.bodies()[body].inertia.rotate(&X_WB.rotation);
    inertia_W.mul_velocity(&data.V_WB[body]).shift(&-X_WB.translation.vector).to_vector()
}

/// One second of free flight by the midpoint rule: energy and momentum drift with the square of the step.
fn drift(dt: f64) -> (f64, f64) {
    let (model, body, mut state) = free_body(Vector3::zeros());
    let start = (energy(&model, &evaluate(&model, &state), &state.v).total(), momentum(&model, body, &state));
    for _ in 0..(1.0 / dt).round() as usize {
        let mut middle = state.clone();
        let a = free_acceleration(&model, &state);
        integrate(&model, &mut middle.q, &state.v, 0.5 * dt);
        middle.v.iter_mut().zip(&a).for_each(|(v, a)| *v += 0.5 * dt * a);
        let a = free_acceleration(&model, &middle);
        integrate(&model, &mut state.q, &middle.v, dt);
        state.v.iter_mut().zip(&a).for_each(|(v, a)| *v += dt * a);
    }
    let end = energy(&model, &evaluate(&model, &state), &state.v).total();
    ((end - start.0).abs() / start.0, (momentum(&model, body, &state) - start.1).norm() / start.1.norm())
}

#[test]
fn a_free_asymmetric_body_keeps_energy_and_momentum() {
    let (coarse, fine) = (drift(2e-3), drift(1e-3));
    println!("drift of energy and momentum in 1 s: {coarse:?} at 2 ms, {fine:?} at 1 ms");
    assert!(fine.0 < 1e-4 && fine.1 < 1e-4);
    assert!(coarse.0 / fine.0 > 3.5 && coarse.1 / fine.1 > 3.5, "second order at least");
}

/// Gravity accelerates the centre of mass by g for any spin, exactly up to rounding.
#[test]
fn a_thrown_body_falls_with_g() {
    let g = Vector3::new(0.3, 0.0, -9.81);
    let (model, body, state) = free_body(g);
    let a = free_acceleration(&model, &state);
    let data = evaluate(&model, &state);
    let w = data.V_WB[body].w;
    let (wdot, vdot) = (Vector3::new(a[0], a[1], a[2]), Vector3::new(a[3], a[4], a[5]));
    let c = data.X_WB[body].rotation * asymmetric_body().center_of_mass();
    let a_cm = vdot + wdot.cross(&c) + w.cross(&w.cross(&c));
    assert!((a_cm - g).norm() < 1e-13 * 10.0);
}

/// The reference point of each tree moves with it, so positions far away lose no digits.
#[test]
fn a_robot_far_away_has_the_same_mass_matrix() {
    let build = |offset: f64| {
        let mut builder = ModelBuilder::new();
        let base = builder.add_body("base", asymmetric_body());
        let mut parent = base;
        for number in 0..3 {
            let child = builder.add_body(&format!("link{number}"), asymmetric_body());
            let spec = JointSpec::new(&format!("joint{number}"), parent, child, JointKind::Revolute);
            let X_PF = RigidTransform::translation(0.1, 0.2, 0.3);
            builder.add_joint(JointSpec { X_PF, axis_F: Vector3::new(1.0, number as f64, 0.5), ..spec }).unwrap();
            parent = child;
        }
        let model = builder.build(Vector3::new(0.0, 0.0, -9.81)).unwrap();
        let mut state = random::state(&mut Random::new(7), &model);
        let floating = &model.joints()[model.joint("base").unwrap()];
        for (i, p) in state.q[floating.q_start + 4..floating.q_start + 7].iter_mut().enumerate() {
            *p = offset * (1.0 + i as f64);
        }
        evaluate(&model, &state)
    };
    let (near, far) = (build(0.0), build(1e4));
    assert_close(&near.M.to_dense(), &far.M.to_dense(), 1e-12, "M");
    assert_close(&near.coriolis, &far.coriolis, 1e-12, "c");
    assert_close(&near.gravity, &far.gravity, 1e-12, "tau_g");
}

/// Welding bodies and merging them are equivalent.
#[test]
fn welded_bodies_equal_a_merged_body() {
    let X_AB = Random::new(3).pose(1.0);
    let welded = {
        let mut builder = ModelBuilder::new();
        let a = builder.add_body("a", asymmetric_body());
        let b = builder.add_body("b", asymmetric_body());
        builder.add_joint(JointSpec { X_PF: X_AB, ..JointSpec::new("weld", a, b, JointKind::Fixed) }).unwrap();
        let model = builder.build(Vector3::new(0.0, 0.0, -9.81)).unwrap();
        assert_eq!(model.welded_group(a), model.welded_group(b));
        assert!(!model.adjacent(a, b) && model.adjacent(a, BodyIndex::WORLD));
        model
    };
    let merged = {
        let mut builder = ModelBuilder::new();
        let b = asymmetric_body();
        let central = X_AB.rotation.matrix() * b.central() * X_AB.rotation.matrix().transpose();
        let com = X_AB * nalgebra::Point3::from(b.center_of_mass());
        builder.add_body("ab", b + SpatialInertia::from_central(b.mass, &com.coords, &central));
        builder.build(Vector3::new(0.0, 0.0, -9.81)).unwrap()
    };
    let state = random::state(&mut Random::new(5), &merged);
    let (welded, merged) = (evaluate(&welded, &state), evaluate(&merged, &state));
    assert_close(&welded.M.to_dense(), &merged.M.to_dense(), 1e-13, "M");
    assert_close(&welded.coriolis, &merged.coriolis, 1e-13, "c");
    assert_close(&welded.gravity, &merged.gravity, 1e-13, "tau_g");
}
