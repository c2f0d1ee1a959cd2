//! Laws of friction and of patches on problems of a few rows.

use super::{
    ComplementarityProblem, ComplementaritySettings, ComplementaritySolver, ContactSolver, FrictionLaw, FrictionPair,
    MixedProblem, PatchInput, Row, Tangents,
};
use crate::math::{Vector3, Vector6};
use crate::solvers::{DissipationLaw, FaceInput, PatchBlock, PatchLaw};

fn direct(friction: FrictionLaw) -> ComplementaritySettings {
    ComplementaritySettings { solver: ComplementaritySolver::Direct, friction, ..ComplementaritySettings::default() }
}

/// Friction that takes over a part of its own normal force: with a coupling of 0.9 between the normal and the
/// tangent, the bounds from the last solve overshoot by 0.9 mu = 1.35 times their error, and alternate
/// without end. Closed form: n = n0/(1 + 0.9 mu), with n0 = 1 N s of the impact.
#[test]
fn bounds_of_friction_that_overshoot_settle() {
    let (mu, coupling) = (1.5, 0.9);
    for friction in [FrictionLaw::ScaledBox, FrictionLaw::ExactCone] {
        let mut problem = ComplementarityProblem::default();
        let momentum = [-1.0, -8.0, 0.0];
        problem.mass = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        problem.rows.reset(std::slice::from_ref(&(0..3)), &problem.mass, &momentum).unwrap();
        let soft = 1e-9;
        let normal = Row { regularization: soft, constant: 0.0, lower: 0.0, upper: f64::INFINITY };
        let tangent = Row { regularization: soft, constant: 0.0, lower: 0.0, upper: 0.0 };
        let normal = problem.rows.add_row(normal, [(0, 1.0)].into_iter());
        let first = problem.rows.add_row(tangent, [(0, coupling), (1, 1.0)].into_iter());
        problem.rows.add_row(tangent, [(2, 1.0)].into_iter());
        let pair = FrictionPair { normal, tangent: first, coefficient: mu, normal_before: 1.0, guess: [0.0; 2] };
        problem.pairs.push(pair);
        let (mut impulses, mut v) = (Vec::new(), Vec::new());
        let report = ContactSolver::default().solve(&mut problem, &momentum, &direct(friction), &mut impulses, &mut v);
        // Sliding at -8 m/s, friction of mu n along +1 lifts the body by 0.9 mu n
        let exact = 1.0 / (1.0 + coupling * mu);
        assert!(report.converged, "{friction:?}: {report:?}");
        assert!((impulses[normal] - exact).abs() < 1e-7, "{friction:?}: {impulses:?} and not {exact}");
        assert!((impulses[first] - mu * exact).abs() < 1e-7, "{friction:?}: {impulses:?}");
    }
}

/// A row in N m s has the same residual in every unit of length, so that it compares with a row in N s.
#[test]
fn residuals_do_not_depend_on_the_unit_of_length() {
    let residual = |unit: f64| {
        let mut problem = MixedProblem::default();
        let inertia = 0.02;
        problem.reset(&[0..1, 1..2], &[2.0, 0.0, 0.0, inertia], &[-1.0, -0.3]).unwrap();
        let row =
            |regularization: f64, constant: f64| Row { regularization, constant, lower: 0.0, upper: f64::INFINITY };
        problem.add_row(row(1e-3, 0.1), [(0, 1.0)].into_iter());
        // A torque times the unit is a speed in its unit
        problem.add_row(row(1e-2 * unit * unit, 0.2 * unit), [(1, unit)].into_iter());
        let impulses = [0.7, 0.2 / unit];
        let mut v = Vec::new();
        problem.velocities(&impulses, &mut v);
        problem.residual(&impulses, &v)
    };
    let exact = residual(1.0);
    for unit in [1e-3, 10.0, 1e3] {
        assert!((residual(unit) - exact).abs() < 1e-12 * exact, "{unit}: {} and not {exact}", residual(unit));
    }
}

/// A patch of one face and the same patch in 100 faces throw a body back alike: the damping is that of the
/// whole patch. h^2 k/m is 4, so that the spring is stiff for the step and each of 100 faces is not.
#[test]
fn the_damping_of_a_patch_does_not_depend_on_its_mesh() {
    let rebound = |faces: u32| {
        let (step, mass, stiffness) = (0.01, 1.0, 4e4);
        let mut block = PatchBlock::new();
        block.reset(PatchLaw {
            step,
            dissipation: DissipationLaw::Linear { relaxation_time: 0.0 },
            friction: 0.0,
            stiction_tolerance: 1e-6,
            friction_compliance: 0.0,
        });
        block.push_column(0, Vector6::ith(5, 1.0), -1.0);
        for _ in 0..faces {
            let share = 1.0 / f64::from(faces);
            let (p_CF, normal) = (Vector3::zeros(), Vector3::z());
            block.push_face(&FaceInput {
                p_CF,
                normal,
                stiffness: share * stiffness,
                elastic_force: share * 100.0,
                spin_arm_squared: 0.0,
            });
        }
        let mut problem = ComplementarityProblem::default();
        let momentum = [-mass];
        problem.mass = vec![mass];
        problem.rows.reset(std::slice::from_ref(&(0..1)), &problem.mass, &momentum).unwrap();
        let input = PatchInput { step, relaxation_time: 0.0, stiction_tolerance: 1e-6, spread: false };
        let none =
            Tangents { directions: [Vector3::x(), Vector3::y()], normal_before: 0.0, friction: Vector3::zeros() };
        problem.add_patch(&block, &input, |_| none, &mut Vec::new());
        let (mut impulses, mut v) = (Vec::new(), Vec::new());
        let settings = direct(FrictionLaw::ExactCone);
        let report = ContactSolver::default().solve(&mut problem, &momentum, &settings, &mut impulses, &mut v);
        assert!(report.converged, "{report:?}");
        v[0]
    };
    let (one, many) = (rebound(1), rebound(100));
    assert!((one - many).abs() < 1e-9, "{one} and {many} m/s");
}

/// Two stops without regularization that contradict each other have no solution: each solver that pivots
/// names a row of the two, and does not report convergence. With room between the stops each of them
/// converges.
#[test]
fn solvers_name_one_of_the_rows_that_contradict_each_other() {
    for (solver, friction) in [
        (ComplementaritySolver::Direct, FrictionLaw::Box),
        (ComplementaritySolver::Direct, FrictionLaw::ScaledBox),
        (ComplementaritySolver::Split, FrictionLaw::ProjectedCone),
        (ComplementaritySolver::DirectAndIterative, FrictionLaw::ProjectedCone),
    ] {
        for gap in [-0.1, 0.1] {
            let mut problem = ComplementarityProblem::default();
            let momentum = [0.0, 0.0];
            problem.mass = vec![1.0, 0.0, 0.0, 1.0];
            problem.rows.reset(&[0..1, 1..2], &problem.mass, &momentum).unwrap();
            let row =
                |regularization: f64, constant: f64| Row { regularization, constant, lower: 0.0, upper: f64::INFINITY };
            // One that can be met, then v1 >= -gap and -v1 >= -gap
            problem.rows.add_row(row(1e-9, -1.0), [(0, 1.0)].into_iter());
            problem.rows.add_row(row(0.0, gap), [(1, 1.0)].into_iter());
            problem.rows.add_row(row(0.0, gap), [(1, -1.0)].into_iter());
            let settings = ComplementaritySettings { solver, ..direct(friction) };
            let (mut impulses, mut v) = (Vec::new(), Vec::new());
            let report = ContactSolver::default().solve(&mut problem, &momentum, &settings, &mut impulses, &mut v);
            let named = report.infeasible.is_some_and(|row| row == 1 || row == 2);
            assert_eq!(named, gap < 0.0, "{solver:?} {friction:?}, gap {gap}: {report:?}");
            assert_eq!(report.converged, gap > 0.0, "{solver:?} {friction:?}, gap {gap}: {report:?}");
        }
    }
}

/// A chain of 60 blocks, each with four points of box friction on both of its neighbours, pulled sideways:
/// the direct solver meets the conditions to 1e-6 of the largest impulse without thousands of pivots.
/// Newton's method alone stops at its limit, because a stiff row with two bounds is nearly a kink.
#[test]
fn boxes_of_many_stiff_points_are_solved() {
    let (blocks, points) = (60_u32, 4_u32);
    let n = 3 * blocks as usize;
    let mass = (0..n * n).map(|i| if i % (n + 1) == 0 { 1.0 } else { 0.0 }).collect();
    let mut problem = ComplementarityProblem { mass, ..ComplementarityProblem::default() };
    let mut random = super::laws::Random(1);
    let mut next = move || random.next();
    let momentum: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { -1.0 } else { next() }).collect();
    let ranges: Vec<_> = (0..blocks as usize).map(|block| 3 * block..3 * block + 3).collect();
    problem.rows.reset(&ranges, &problem.mass, &momentum).unwrap();
    for block in 0..blocks {
        for _ in 0..points {
            let (a, b) = (0.3 * next(), 0.3 * next());
            let along = |axis: u32, tilt: f64| {
                let own = [(3 * block + axis, 1.0), (3 * block + (axis + 1) % 3, tilt)];
                let below = (block > 0).then(|| (3 * block.wrapping_sub(1) + axis, -1.0));
                own.into_iter().chain(below)
            };
            let normal = Row { regularization: 1e-6, constant: 0.0, lower: 0.0, upper: f64::INFINITY };
            let tangent = Row { regularization: 1e-8, constant: 0.0, lower: 0.0, upper: 0.0 };
            let normal = problem.rows.add_row(normal, along(0, a));
            let first = problem.rows.add_row(tangent, along(1, b));
            problem.rows.add_row(tangent, along(2, a));
            let normal_before = 1.0 + 0.5 * next();
            let pair = FrictionPair { normal, tangent: first, coefficient: 0.5, normal_before, guess: [0.0; 2] };
            problem.pairs.push(pair);
        }
    }
    for friction in [FrictionLaw::Box, FrictionLaw::ScaledBox] {
        let (mut impulses, mut v) = (Vec::new(), Vec::new());
        let report = ContactSolver::default().solve(&mut problem, &momentum, &direct(friction), &mut impulses, &mut v);
        println!("{friction:?}: {report:?}");
        assert!(report.converged, "{friction:?}: {report:?}");
        assert!(report.iterations <= 300 * (1 + report.rounds), "{friction:?}: {report:?}");
    }
}
