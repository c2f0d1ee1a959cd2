//! Derivatives of a step against central differences, exact and smoothed.

use isobar::math::{Matrix3, Rotation, Vector3};
use isobar::solvers::quasistatic::{
    ContactKey, FrictionCone, ProblemDirection, QuasistaticError, QuasistaticProblem, QuasistaticSettings,
    QuasistaticSolver, VelocityBound,
};

const STEP: f64 = 0.05;
/// Largest error of a derivative relative to the largest of its column, and absolutely for columns below 1.
const TOLERANCE: f64 = 1e-6;

/// A scene: its problem as a function of parameters (configuration and commands), and their start values.
struct Scene {
    name: &'static str,
    start: Vec<f64>,
    problem: fn(&[f64]) -> QuasistaticProblem,
}

fn key(point: u32) -> ContactKey {
    ContactKey { pair: 0, point }
}

/// Parameters: q = (x_c, y_c, x_l, x_r, y), then the commands of the last three. Squeezing, and pulling down
/// so that the fingers slip.
fn planar_gripper(p: &[f64]) -> QuasistaticProblem {
    let mut problem = QuasistaticProblem::default();
    problem.reset(5, STEP);
    for i in 0..3 {
        let dof = 2 + i;
        problem.quadratic[dof * 5 + dof] = STEP * STEP * 1000.0;
        problem.linear[dof] = STEP * 1000.0 * (p[5 + i] - p[dof]);
    }
    problem.linear[1] = -STEP * 10.0;
    let mut add = |point: u32, phi: f64, columns: &[(u32, f64, f64)]| {
        let columns = columns.iter().map(|(dof, n, t)| (*dof, Vector3::new(*n, *t, 0.0)));
        problem.add_contact(key(point), phi / STEP, 0.5, columns);
    };
    add(0, p[0] - p[2] - 0.1, &[(0, 1.0, 0.0), (1, 0.0, 1.0), (2, -1.0, 0.0), (4, 0.0, -1.0)]);
    add(1, p[3] - p[0] - 0.1, &[(0, -1.0, 0.0), (1, 0.0, 1.0), (3, 1.0, 0.0), (4, 0.0, -1.0)]);
    add(2, p[1] - 0.1, &[(0, 0.0, 1.0), (1, 1.0, 0.0)]);
    problem
}

/// The contact of a point of a free body with A.
struct BodyContact<'a> {
    point: u32,
    phi: f64,
    friction: f64,
    axes: &'a Matrix3,
    /// The point from the origin of the body.
    r: &'a Vector3,
    /// The columns of A, in world axes.
    other: &'a [(u32, Vector3)],
}

/// Adds the contact of a free body whose velocities w, v begin at `dof`.
fn add_body_contact(problem: &mut QuasistaticProblem, dof: u32, contact: &BodyContact<'_>) {
    let &BodyContact { point, phi, friction, axes, r, other } = contact;
    let in_axes = |u: Vector3| axes.transpose() * u;
    let mut columns: Vec<(u32, Vector3)> = other.iter().map(|(dof, u)| (*dof, in_axes(-u))).collect();
    for k in 0..3 {
        columns.push((dof + k as u32, in_axes(Vector3::ith(k, 1.0).cross(r))));
        columns.push((dof + 3 + k as u32, in_axes(Vector3::ith(k, 1.0))));
    }
    columns.sort_by_key(|(dof, _)| *dof);
    problem.add_contact(key(point), phi / STEP, friction, columns);
}

/// Parameters: fingertip position (3), cube turned by a rotation vector (3), cube position (3), command of
/// the fingertip (3). The cube stands on three feet, so that it touches the ground in a unique way; the
/// fingertip pushes its side off centre.
fn pushed_cube(p: &[f64]) -> QuasistaticProblem {
    let vector = |i: usize| Vector3::new(p[i], p[i + 1], p[i + 2]);
    let (finger, turn, centre, command) = (vector(0), vector(3), vector(6), vector(9));
    let mut problem = QuasistaticProblem::default();
    problem.reset(9, STEP);
    let rotation = Rotation::new(turn);
    for k in 0..3 {
        problem.quadratic[k * 10] = STEP * STEP * 800.0;
        problem.linear[k] = STEP * 800.0 * (command[k] - finger[k]);
        problem.quadratic[(3 + k) * 10] = 2e-4;
        problem.quadratic[(6 + k) * 10] = 0.2;
    }
    problem.linear[8] = -STEP * 5.0;
    let ground = Matrix3::from_columns(&[Vector3::z(), Vector3::x(), Vector3::y()]);
    for (point, foot) in [(0.03, 0.0), (-0.02, 0.025), (-0.02, -0.03)].into_iter().enumerate() {
        let r = rotation * Vector3::new(foot.0, foot.1, -0.03);
        let (point, phi) = (point as u32, (centre + r).z);
        let contact = BodyContact { point, phi, friction: 0.4, axes: &ground, r: &r, other: &[] };
        add_body_contact(&mut problem, 3, &contact);
    }
    // The side -x of the cube.
    let normal = rotation * Vector3::x();
    let t1 = rotation * Vector3::y();
    let axes = Matrix3::from_columns(&[normal, t1, normal.cross(&t1)]);
    let local = rotation.inverse() * (finger - centre);
    let phi = -0.03 - local.x - 0.01;
    let r = rotation * Vector3::new(-0.03, local.y, local.z);
    let tip: Vec<(u32, Vector3)> = (0..3).map(|k| (k as u32, Vector3::ith(k, 1.0))).collect();
    let contact = BodyContact { point: 3, phi, friction: 0.3, axes: &axes, r: &r, other: &tip };
    add_body_contact(&mut problem, 3, &contact);
    problem
}

/// Parameters: joint angles of two fingers of two links, (x, y, angle) of a disc that they hold in the air,
/// commands of the joints.
fn planar_hand(p: &[f64]) -> QuasistaticProblem {
    let mut problem = QuasistaticProblem::default();
    problem.reset(7, STEP);
    for joint in 0..4 {
        problem.quadratic[joint * 8] = STEP * STEP * 50.0;
        problem.linear[joint] = STEP * 50.0 * (p[7 + joint] - p[joint]);
    }
    for dof in 4..7 {
        problem.quadratic[dof * 8] = 1e-3;
    }
    problem.linear[5] = -STEP * 1.0;
    let (centre, radius) = (Vector3::new(p[4], p[5], 0.0), 0.05);
    for finger in 0..2 {
        let base = Vector3::new(if finger == 0 { -0.08 } else { 0.08 }, 0.0, 0.0);
        let (a, b) = (p[2 * finger], p[2 * finger] + p[2 * finger + 1]);
        let knee = base + Vector3::new(a.cos(), a.sin(), 0.0) * 0.1;
        let tip = knee + Vector3::new(b.cos(), b.sin(), 0.0) * 0.1;
        let normal = (centre - tip).normalize();
        let tangent = Vector3::z().cross(&normal);
        let touch = centre - normal * radius;
        let point = |u: Vector3| Vector3::new(normal.dot(&u), tangent.dot(&u), 0.0);
        let about = |axis: Vector3| Vector3::z().cross(&(touch - axis));
        let columns = [
            (2 * finger as u32, point(-about(base))),
            (2 * finger as u32 + 1, point(-about(knee))),
            (4, point(Vector3::x())),
            (5, point(Vector3::y())),
            (6, point(about(centre))),
        ];
        problem.add_contact(key(finger as u32), ((centre - tip).norm() - radius) / STEP, 0.6, columns);
    }
    problem.bounds.push(VelocityBound { dof: 0, lower: (-2.0 - p[0]) / STEP, upper: (3.0 - p[0]) / STEP });
    problem
}

fn scenes() -> Vec<Scene> {
    vec![
        Scene {
            name: "planar gripper, sticking",
            start: vec![0.0, 0.1, -0.1001, 0.1002, 0.0, -0.092, 0.091, 0.001],
            problem: planar_gripper,
        },
        Scene {
            name: "planar gripper, slipping",
            start: vec![0.0, 0.1, -0.1001, 0.1002, 0.0, -0.092, 0.091, -0.02],
            problem: planar_gripper,
        },
        Scene {
            name: "pushed cube",
            start: vec![-0.0402, 0.006, 0.032, 0.01, -0.005, 0.1, 0.0, 0.0, 0.0302, -0.03, 0.007, 0.031],
            problem: pushed_cube,
        },
        Scene {
            name: "planar hand",
            start: vec![1.95, -0.75, 1.19, 0.75, 0.0, 0.17, 0.0, 1.75, -0.8, 1.39, 0.85],
            problem: planar_hand,
        },
    ]
}

/// dv by central differences of the data of the problem through the interface, and by differences of the step
/// itself.
fn check(scene: &Scene, friction: FrictionCone, kappa: Option<f64>) {
    let settings = QuasistaticSettings { friction, tolerance: 1e-11, ..QuasistaticSettings::default() };
    let solve = |p: &[f64]| {
        let mut solver = QuasistaticSolver::default();
        let mut problem = (scene.problem)(p);
        let mut v = vec![0.0; problem.size()];
        match kappa {
            Some(kappa) => {
                solver.solve_smoothed(&problem, &mut v, kappa, &settings).unwrap();
            }
            None => {
                let report = solver.solve(&mut problem, &mut v, &settings).unwrap();
                assert!(!report.fallback, "{}: {report:?}", scene.name);
                solver.linearize(&problem, &mut v, &settings).unwrap();
            }
        }
        (solver, problem, v)
    };
    let (mut solver, problem, v) = solve(&scene.start);
    let forces: Vec<Vector3> = solver.contact_impulses().to_vec();
    assert!(forces.iter().any(|gamma| gamma.x > 1e-4), "{}: something touches", scene.name);
    for parameter in 0..scene.start.len() {
        let h = 2e-6;
        let moved = |sign: f64| {
            let mut p = scene.start.clone();
            p[parameter] += sign * h;
            p
        };
        let (plus, minus) = ((scene.problem)(&moved(1.0)), (scene.problem)(&moved(-1.0)));
        let mut direction = ProblemDirection::default();
        direction.reset(&problem);
        let n = problem.size();
        for i in 0..n {
            direction.linear[i] = (plus.linear[i] - minus.linear[i]) / (2.0 * h);
            for (j, v) in v.iter().enumerate() {
                direction.linear[i] -= (plus.quadratic[i * n + j] - minus.quadratic[i * n + j]) / (2.0 * h) * v;
            }
        }
        for (index, (a, b)) in plus.contacts().iter().zip(minus.contacts()).enumerate() {
            direction.contacts[index] = (plus.contact_velocity(a, &v) - minus.contact_velocity(b, &v)) / (2.0 * h);
            for (problem, contact, sign) in [(&plus, a, 1.0), (&minus, b, -1.0)] {
                for (dof, column) in problem.columns(contact) {
                    direction.linear[*dof as usize] += sign * column.dot(&forces[index]) / (2.0 * h);
                }
            }
        }
        for (index, (a, b)) in plus.bounds.iter().zip(&minus.bounds).enumerate() {
            direction.bounds[index] = (a.lower - b.lower) / (2.0 * h);
        }
        let mut dv = vec![0.0; n];
        solver.differentiate(&problem, &direction, &mut dv).unwrap();
        let (v_plus, v_minus) = (solve(&moved(1.0)).2, solve(&moved(-1.0)).2);
        let differences: Vec<f64> = v_plus.iter().zip(&v_minus).map(|(a, b)| STEP * (a - b) / (2.0 * h)).collect();
        let largest = differences.iter().fold(1.0, |largest: f64, x| largest.max(x.abs()));
        for (dof, (dv, difference)) in dv.iter().zip(&differences).enumerate() {
            let error = (STEP * dv - difference).abs();
            assert!(
                error <= TOLERANCE * largest,
                "{} {friction:?} kappa {kappa:?}: d(h v_{dof})/dp_{parameter} = {}, differences say {difference}",
                scene.name,
                STEP * dv
            );
        }
    }
}

#[test]
fn exact_derivatives_agree_with_central_differences() {
    for scene in scenes() {
        check(&scene, FrictionCone::Exact, None);
        if scene.name.starts_with("planar") {
            check(&scene, FrictionCone::Pyramid { rays: 2 }, None);
        }
    }
}

#[test]
fn smoothed_derivatives_agree_with_central_differences() {
    for scene in scenes() {
        for kappa in [1e-3, 1e-5] {
            check(&scene, FrictionCone::Exact, Some(kappa));
            check(&scene, FrictionCone::Pyramid { rays: 6 }, Some(kappa));
        }
    }
}

/// As kappa falls the smoothed step tends to the exact one.
#[test]
fn the_smoothed_step_tends_to_the_exact_one() {
    let settings = QuasistaticSettings::default();
    for scene in scenes() {
        let mut problem = (scene.problem)(&scene.start);
        let mut exact = vec![0.0; problem.size()];
        QuasistaticSolver::default().solve(&mut problem, &mut exact, &settings).unwrap();
        let mut last = f64::INFINITY;
        for kappa in [1e-4, 1e-6, 1e-8] {
            let mut v = vec![0.0; problem.size()];
            QuasistaticSolver::default().solve_smoothed(&problem, &mut v, kappa, &settings).unwrap();
            let error = v.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) * STEP;
            assert!(error < 0.2 * last, "{}: kappa {kappa:e} errs by {error:e} after {last:e}", scene.name);
            last = error;
        }
        assert!(last < 1e-6, "{}: {last:e}", scene.name);
    }
}

/// A barrier weight of zero, below zero or infinity has an error of its own.
#[test]
fn a_barrier_weight_that_is_not_positive_is_named() {
    let scene = &scenes()[0];
    let problem = (scene.problem)(&scene.start);
    for kappa in [0.0, -1.0, f64::INFINITY] {
        let mut v = vec![0.0; problem.size()];
        let refused =
            QuasistaticSolver::default().solve_smoothed(&problem, &mut v, kappa, &QuasistaticSettings::default());
        assert_eq!(refused.unwrap_err(), QuasistaticError::BarrierWeight { kappa });
    }
}
