//! Laws of a quasistatic step: closed forms, agreement of the engines on every part of a problem, and
//! refusals.

use isobar::math::{SpatialVelocity, Vector3, Vector6};
use isobar::solvers::quasistatic::{
    ContactKey, Engine, FrictionCone, ProblemPart, QuasistaticError, QuasistaticProblem, QuasistaticSettings,
    QuasistaticSolver, VelocityBound,
};
use isobar::solvers::{BoxRow, DissipationLaw, FaceInput, PatchLaw};

use super::problems::corpus_problem;
use crate::golden::folder;

const STEP: f64 = 0.1;

fn settings(engine: Engine) -> QuasistaticSettings {
    QuasistaticSettings { engine, ..QuasistaticSettings::default() }
}

fn key(point: u32) -> ContactKey {
    ContactKey { pair: 3, point }
}

/// A point mass (x, y, z) on the ground, pulled along x by a spring to a command: the spring's force, the
/// friction's and the weight balance.
fn pulled_point(weight: f64, friction: f64, pull: Vector3) -> QuasistaticProblem {
    let mut problem = QuasistaticProblem::default();
    problem.reset(3, STEP);
    let stiffness = 100.0;
    for k in 0..3 {
        problem.quadratic[4 * k] = STEP * STEP * stiffness;
        problem.linear[k] = STEP * stiffness * pull[k];
    }
    problem.linear[2] -= STEP * weight;
    let columns = [(0, Vector3::y()), (1, Vector3::z()), (2, Vector3::x())];
    problem.add_contact(key(0), 0.0, friction, columns);
    problem
}

/// Sticking: no motion and the friction is the pull. Sliding, with force f = k (p - h v) at the mu N border:
/// the convexified cone lets the point rise by mu h v, so that N = W + k mu h v (closed form of [Pang &
/// Tedrake 2021, section IV-A.2]).
#[test]
fn a_point_sticks_inside_the_cone_and_slides_on_its_border() {
    let (weight, mu, stiffness) = (10.0, 0.5, 100.0);
    for (pull, slides) in [(0.04, false), (0.08, true)] {
        for engine in [Engine::Cone, Engine::Clarabel] {
            let mut solver = QuasistaticSolver::default();
            let mut problem = pulled_point(weight, mu, Vector3::new(pull, 0.0, 0.0));
            let mut v = vec![0.0; 3];
            solver.solve(&mut problem, &mut v, &settings(engine)).unwrap();
            let force = solver.contact_impulses()[0] / STEP;
            if slides {
                // k (p - x) = mu N and N = W + k mu x  give  x = (p - mu W/k)/(1 + mu^2)
                let x = (pull - mu * weight / stiffness) / (1.0 + mu * mu);
                assert!((STEP * v[0] - x).abs() < 1e-7, "{engine:?}: {} is not {x}", STEP * v[0]);
                assert!((STEP * v[2] - mu * x).abs() < 1e-7, "{engine:?}");
                assert!((force.x - weight - stiffness * mu * x).abs() < 1e-4, "{engine:?}: {force}");
                assert!((force.y + mu * force.x).abs() < 1e-4, "{engine:?}: {force}");
            } else {
                assert!(v.iter().all(|v| (STEP * v).abs() < 1e-7), "{engine:?}: {v:?}");
                assert!((force - Vector3::new(weight, -stiffness * pull, 0.0)).norm() < 1e-4, "{engine:?}: {force}");
            }
        }
    }
}

/// A point held by a spring above a slope and beside a wall, both without friction, and pushed down by `push`
/// [m].
fn point_above_a_slope(push: f64) -> QuasistaticProblem {
    let mut problem = QuasistaticProblem::default();
    problem.reset(3, STEP);
    let stiffness = 100.0;
    for k in 0..3 {
        problem.quadratic[4 * k] = STEP * STEP * stiffness;
    }
    problem.linear[2] = -STEP * stiffness * push;
    let along = std::f64::consts::FRAC_1_SQRT_2;
    let slope = [(0, Vector3::x() * along), (1, Vector3::y()), (2, Vector3::x() * along)];
    problem.add_contact(key(0), 0.004 / STEP, 0.0, slope);
    problem.add_contact(key(1), 0.003 / STEP, 0.0, [(0, -Vector3::x()), (1, Vector3::y()), (2, Vector3::z())]);
    problem
}

/// The first step leaves both contacts open. The second one stays free, slides along the slope, or slides up
/// to the wall. On the slope alone it moves by x, with (z + x)/sqrt 2 = -0.004 and x = z + push.
#[test]
fn contacts_that_were_expected_open_bear_a_load() {
    let settings = settings(Engine::Cone);
    for push in [0.001, 0.008, 0.02] {
        let mut solver = QuasistaticSolver::default();
        let mut v = vec![0.0; 3];
        solver.solve(&mut point_above_a_slope(0.0), &mut v, &settings).unwrap();
        assert!(v.iter().all(|v| v.abs() < 1e-12), "{v:?}");
        solver.solve(&mut point_above_a_slope(push), &mut v, &settings).unwrap();
        let depth = 0.004 * std::f64::consts::SQRT_2;
        let (x, z) = if push < depth {
            (0.0, -push)
        } else {
            let free = 0.5 * (push - depth);
            (free.min(0.003), -depth - free.min(0.003))
        };
        assert!((STEP * v[0] - x).abs() < 1e-8 && (STEP * v[2] - z).abs() < 1e-8, "push {push}: {v:?} is not {x}, {z}");
        let touches: Vec<bool> = solver.contact_impulses().iter().map(|gamma| gamma.x > 0.0).collect();
        assert_eq!(touches, [push > depth, 0.5 * (push - depth) > 0.003], "push {push}");
    }
}

/// Only one contact can hold a weight, and the step before left this contact open: the weight ends the step
/// on it.
#[test]
fn a_contact_that_was_expected_open_bears_a_weight() {
    let above = |weight: f64| {
        let mut problem = QuasistaticProblem::default();
        problem.reset(1, STEP);
        problem.linear[0] = -STEP * weight;
        problem.add_contact(key(0), 0.005 / STEP, 0.5, [(0, Vector3::x())]);
        problem
    };
    let mut solver = QuasistaticSolver::default();
    let mut v = vec![0.0];
    solver.solve(&mut above(0.0), &mut v, &settings(Engine::Cone)).unwrap();
    assert!(v[0].abs() < 1e-12);
    let report = solver.solve(&mut above(3.0), &mut v, &settings(Engine::Cone)).unwrap();
    assert!(!report.fallback);
    assert!((STEP * v[0] + 0.005).abs() < 1e-8, "{v:?}");
    assert!((solver.contact_impulses()[0].x - STEP * 3.0).abs() < 1e-8);
}

/// The same pull in every direction gives the same slip and force, turned: an exact cone has no axes.
#[test]
fn the_cone_is_the_same_in_all_directions() {
    let slip = |engine: Engine, angle: f64| {
        let mut solver = QuasistaticSolver::default();
        let mut problem = pulled_point(10.0, 0.5, Vector3::new(0.08 * angle.cos(), 0.08 * angle.sin(), 0.0));
        let mut v = vec![0.0; 3];
        solver.solve(&mut problem, &mut v, &settings(engine)).unwrap();
        let force = solver.contact_impulses()[0] / STEP;
        (v[0] * angle.cos() + v[1] * angle.sin(), v[1] * angle.cos() - v[0] * angle.sin(), force.yz().norm() / force.x)
    };
    let (straight, ..) = slip(Engine::Cone, 0.0);
    for degrees in (0..90).step_by(5) {
        let (along, across, ratio) = slip(Engine::Cone, f64::from(degrees).to_radians());
        assert!((along - straight).abs() < 1e-8 && across.abs() < 1e-8, "{degrees} degrees: {along}, {across}");
        assert!((ratio - 0.5).abs() < 1e-6, "{degrees} degrees: |F|/N = {ratio}");
    }
}

/// Turning the tangents of every contact of a corpus problem does not change the step.
#[test]
fn turned_tangents_give_the_same_step() {
    for file in folder("quasistatic/qp_corpus").iter().step_by(6) {
        let mut problem = corpus_problem(file, "qd5");
        let mut turned = problem.clone();
        turned.reset(problem.size(), problem.step);
        turned.quadratic.clone_from(&problem.quadratic);
        turned.linear.clone_from(&problem.linear);
        for (index, contact) in problem.contacts().iter().enumerate() {
            let (sin, cos) = (0.3 + index as f64).sin_cos();
            let columns = problem
                .columns(contact)
                .iter()
                .map(|(dof, u)| (*dof, Vector3::new(u.x, cos * u.y + sin * u.z, cos * u.z - sin * u.y)));
            turned.add_contact(contact.key, contact.gap_rate, contact.friction, columns);
        }
        let solve = |problem: &mut QuasistaticProblem| {
            let mut v = vec![0.0; problem.size()];
            QuasistaticSolver::default().solve(problem, &mut v, &settings(Engine::Cone)).unwrap();
            v
        };
        let (v, v_turned) = (solve(&mut problem), solve(&mut turned));
        for (a, b) in v.iter().zip(&v_turned) {
            assert!((a - b).abs() * STEP < 1e-6, "{} and {}", a * STEP, b * STEP);
        }
    }
}

/// A pyramid of more and more rays tends to the cone. Friction while sliding is along a ray, so its direction
/// errs by up to half the angle between two rays, and so does the slip.
#[test]
fn pyramids_tend_to_the_cone() {
    let pull = Vector3::new(0.08 * 0.3_f64.cos(), 0.08 * 0.3_f64.sin(), 0.0);
    let solve = |friction: FrictionCone| {
        let mut problem = pulled_point(10.0, 0.5, pull);
        let mut v = vec![0.0; 3];
        let settings = QuasistaticSettings { friction, ..QuasistaticSettings::default() };
        QuasistaticSolver::default().solve(&mut problem, &mut v, &settings).unwrap();
        Vector3::new(v[0], v[1], v[2])
    };
    let exact = solve(FrictionCone::Exact);
    for rays in [8, 16, 32, 64] {
        let error = (solve(FrictionCone::Pyramid { rays }) - exact).norm() / exact.norm();
        assert!(error < std::f64::consts::PI / f64::from(rays), "{rays} rays: {error}");
    }
}

/// Rows with effort limits, bounds, contacts and a patch in one problem: a block of six velocities rests on a
/// patch of springs, and two actuators of one velocity each push it.
fn everything(friction_of_patch: f64) -> QuasistaticProblem {
    let mut problem = QuasistaticProblem::default();
    problem.reset(8, STEP);
    for (i, mass) in [2e-3, 2e-3, 2e-3, 0.4, 0.4, 0.4].into_iter().enumerate() {
        problem.quadratic[i * 9] = mass;
    }
    problem.linear[5] = -STEP * 5.0;
    let stiffness = 300.0;
    for (dof, command, limit) in [(6, 0.03, 3.0), (7, 0.02, 50.0)] {
        problem.rows.push(BoxRow {
            dof,
            coefficient: 1.0,
            target: command / STEP,
            regularization: 1.0 / (STEP * STEP * stiffness),
            lower: -STEP * limit,
            upper: STEP * limit,
        });
    }
    problem.bounds.push(VelocityBound { dof: 7, lower: f64::NEG_INFINITY, upper: 0.008 / STEP });
    // Finger 6 pushes the block along x above its centre, finger 7 along y.
    let r = Vector3::new(-0.05, 0.01, 0.02);
    let pushed = |axes: [Vector3; 3], r: Vector3, finger: u32, direction: Vector3| {
        let in_axes = move |u: Vector3| Vector3::new(axes[0].dot(&u), axes[1].dot(&u), axes[2].dot(&u));
        let mut columns: Vec<(u32, Vector3)> =
            (0..3).map(|k| (k as u32, in_axes(Vector3::ith(k, 1.0).cross(&r)))).collect();
        columns.extend((0..3).map(|k| (3 + k as u32, in_axes(Vector3::ith(k, 1.0)))));
        columns.push((finger, in_axes(-direction)));
        columns
    };
    let x = pushed([Vector3::x(), Vector3::y(), Vector3::z()], r, 6, Vector3::x());
    problem.add_contact(key(0), 0.002 / STEP, 0.3, x);
    let r = Vector3::new(0.01, -0.05, 0.0);
    let y = pushed([Vector3::y(), Vector3::z(), Vector3::x()], r, 7, Vector3::y());
    problem.add_contact(key(1), 0.001 / STEP, 0.3, y);

    let patch = problem.add_patch();
    patch.reset(PatchLaw {
        step: STEP,
        dissipation: DissipationLaw::HuntCrossley { dissipation: 0.0 },
        friction: friction_of_patch,
        stiction_tolerance: 1e-4,
        friction_compliance: 0.0,
    });
    // C below the centre of the block, which is B
    let p_BC = Vector3::new(0.0, 0.0, -0.05);
    for k in 0..3 {
        let axis = Vector3::ith(k, 1.0);
        let v = axis.cross(&p_BC);
        patch.push_column(k as u32, Vector6::new(axis.x, axis.y, axis.z, v.x, v.y, v.z), 0.0);
    }
    for k in 0..3 {
        let axis = Vector3::ith(k, 1.0);
        patch.push_column(3 + k as u32, Vector6::new(0.0, 0.0, 0.0, axis.x, axis.y, axis.z), 0.0);
    }
    for i in 0..5 {
        for j in 0..5 {
            let p_CF = Vector3::new(f64::from(i - 2) * 0.02, f64::from(j - 2) * 0.02, 0.0);
            patch.push_face(&FaceInput {
                p_CF,
                normal: Vector3::z(),
                stiffness: 400.0,
                elastic_force: 0.2,
                spin_arm_squared: 0.0,
            });
        }
    }
    problem
}

/// Our Newton method on the potentials and Clarabel on slacks and epigraphs find the same step: impulses of
/// rows, bounds, contacts and patch balance, and friction of the patch is Coulomb's with the normal force at
/// the end of the step.
#[test]
fn engines_agree_on_rows_bounds_contacts_and_patches() {
    for friction in [FrictionCone::Exact, FrictionCone::Pyramid { rays: 6 }] {
        // An interior-point method gives the normal impulses to this accuracy only.
        let change = |engine: Engine| if engine == Engine::Cone { 1e-9 } else { 1e-5 };
        let solve = |engine: Engine| {
            let mut problem = everything(0.4);
            let mut v = vec![0.0; problem.size()];
            let mut solver = QuasistaticSolver::default();
            let settings =
                QuasistaticSettings { engine, friction, friction_tolerance: change(engine), ..settings(engine) };
            let report = solver.solve(&mut problem, &mut v, &settings).unwrap();
            assert_eq!(report.engine, engine, "{report:?}");
            assert!(report.friction_passes > 0 && report.friction_change <= change(engine), "{report:?}");
            assert!(
                report.residuals.stationarity < 100.0 * change(engine) && report.residuals.primal < 1e-7,
                "{report:?}"
            );
            (v, problem, solver)
        };
        let (v, problem, solver) = solve(Engine::Cone);
        let (reference, _, reference_solver) = solve(Engine::Clarabel);
        // Only the patch's friction resists the spin, and the interior point ends with a change of friction
        // bounds of 1e-5.
        for (a, b) in v.iter().zip(&reference) {
            assert!((a - b).abs() * STEP < 2e-6, "{v:?} and {reference:?}");
        }
        for (a, b) in solver.row_impulses().iter().zip(reference_solver.row_impulses()) {
            assert!((a - b).abs() < 1e-6);
        }
        assert!((solver.bound_impulses()[0] - reference_solver.bound_impulses()[0]).abs() < 1e-6);
        assert!(solver.bound_impulses()[0] < -1e-3, "the upper bound holds the second finger");
        assert!((solver.row_impulses()[0] - STEP * 3.0).abs() < 1e-9, "the first actuator is at its limit");
        let (patch, expected) = (solver.patch_impulses()[0], reference_solver.patch_impulses()[0]);
        assert!((patch.to_vector() - expected.to_vector()).norm() < 1e-5, "{patch:?} and {expected:?}");

        // Every face: |f_t| = mu f_n |v_t| / sqrt(|v_t|^2 + v_s^2) at the end of the step.
        let block = &problem.patches()[0];
        let V: SpatialVelocity = block.velocity(&v);
        let mut forces = Vec::new();
        block.face_forces(&V, &mut forces);
        let sum: f64 = forces.iter().map(|f| f.z).sum();
        assert!((sum * STEP - patch.f.z).abs() < 1e-6);
        for (face, force) in forces.iter().enumerate() {
            let p_CF = Vector3::new((face / 5) as f64 - 2.0, (face % 5) as f64 - 2.0, 0.0) * 0.02;
            let slip = V.shift(&p_CF).v.xy().norm();
            let bound = 0.4 * force.z * slip / slip.hypot(1e-4);
            assert!((force.xy().norm() - bound).abs() < 1e-6, "face {face}: {force}, bound {bound}");
        }
    }
}

#[test]
fn an_object_without_support_is_named() {
    for engine in [Engine::Cone, Engine::Clarabel] {
        let file = &folder("quasistatic/qp_corpus")[0];
        let mut problem = corpus_problem(file, "qs");
        // A cube in the air: the contacts of velocities 33 to 38 go.
        let kept: Vec<_> = problem
            .contacts()
            .iter()
            .filter(|contact| !problem.columns(contact).iter().any(|(dof, _)| (33..39).contains(dof)))
            .map(|contact| (contact.clone(), problem.columns(contact).to_vec()))
            .collect();
        let (quadratic, linear) = (problem.quadratic.clone(), problem.linear.clone());
        problem.reset(linear.len(), problem.step);
        problem.quadratic = quadratic;
        problem.linear = linear;
        for (contact, columns) in kept {
            problem.add_contact(contact.key, contact.gap_rate, contact.friction, columns);
        }
        let mut v = vec![0.25; problem.size()];
        let error = QuasistaticSolver::default().solve(&mut problem, &mut v, &settings(engine)).unwrap_err();
        // Velocities of a cube: three of rotation, then x, y, z; the cube that stood on it falls as well.
        assert!(matches!(error, QuasistaticError::Unbounded { dof: 38 | 44, .. }), "{engine:?}: {error}");
        assert!(v.iter().all(|v| *v == 0.25), "v is as it was given");
    }
}

#[test]
fn constraints_that_contradict_each_other_are_named() {
    for engine in [Engine::Cone, Engine::Clarabel] {
        let mut problem = pulled_point(10.0, 0.5, Vector3::zeros());
        problem.bounds.push(VelocityBound { dof: 2, lower: f64::NEG_INFINITY, upper: -0.1 });
        let mut v = vec![0.0; 3];
        let error = QuasistaticSolver::default().solve(&mut problem, &mut v, &settings(engine)).unwrap_err();
        let QuasistaticError::Infeasible { detail, .. } = &error else { panic!("{engine:?}: {error}") };
        assert!(detail.contains("contact 0 (pair 3, point 0)") && detail.contains("upper bound"), "{error}");
    }
}

#[test]
fn ill_formed_problems_are_refused() {
    let mut solver = QuasistaticSolver::default();
    let mut problem = pulled_point(10.0, 0.5, Vector3::zeros());
    let error = solver.solve(&mut problem, &mut [0.0; 2], &settings(Engine::Cone)).unwrap_err();
    assert_eq!(error, QuasistaticError::Size { given: 2, expected: 3 });
    problem.linear[1] = f64::NAN;
    let error = solver.solve(&mut problem, &mut [0.0; 3], &settings(Engine::Cone)).unwrap_err();
    assert_eq!(error, QuasistaticError::NotFinite { what: "entry of b", index: 1 });
    let mut problem = pulled_point(10.0, 0.5, Vector3::zeros());
    let one_ray = QuasistaticSettings { friction: FrictionCone::Pyramid { rays: 1 }, ..settings(Engine::Cone) };
    let error = solver.solve(&mut problem, &mut [0.0; 3], &one_ray).unwrap_err();
    assert_eq!(error, QuasistaticError::Rays { rays: 1 });
    let error = solver.solve(&mut problem, &mut [0.0; 3], &settings(Engine::Lemke)).unwrap_err();
    assert_eq!(error, QuasistaticError::NotForLemke);
}

/// With too few iterations Clarabel solves the step, and this is counted and reported.
#[test]
fn a_fallback_is_counted() {
    let file = &folder("quasistatic/qp_corpus")[5];
    let mut problem = corpus_problem(file, "qd5");
    let mut solver = QuasistaticSolver::default();
    let mut v = vec![0.0; problem.size()];
    let hasty = QuasistaticSettings { iterations_max: 1, ..settings(Engine::Cone) };
    let report = solver.solve(&mut problem, &mut v, &hasty).unwrap();
    assert!(report.fallback && report.engine == Engine::Clarabel);
    assert_eq!(solver.fallbacks(), 1);
    // And its multipliers are the warm start of the next step.
    let report = solver.solve(&mut problem, &mut v, &settings(Engine::Cone)).unwrap();
    assert!(!report.fallback, "{report:?}");
    assert_eq!(solver.fallbacks(), 1);
}

/// Same input, same bits, independent of earlier solves.
#[test]
fn the_same_sequence_gives_the_same_bits() {
    let files = folder("quasistatic/qp_corpus");
    let run = || {
        let mut solver = QuasistaticSolver::default();
        let mut v = vec![0.0; 69];
        let mut bits: Vec<u64> = Vec::new();
        for file in files.iter().take(6) {
            solver.solve(&mut corpus_problem(file, "qd5"), &mut v, &settings(Engine::Cone)).unwrap();
            bits.extend(v.iter().map(|x| x.to_bits()));
            bits.extend(
                solver
                    .contact_impulses()
                    .iter()
                    .flat_map(|gamma| gamma.iter().map(|x| x.to_bits()).collect::<Vec<_>>()),
            );
        }
        bits
    };
    assert_eq!(run(), run());
}

/// A finger and the body that it pushes have the same motion and impulses for any quadratic term of a slider
/// in another island.
#[test]
fn islands_do_not_depend_on_each_other() {
    let solve = |elsewhere: f64, light: bool| {
        let mut problem = QuasistaticProblem::default();
        // A finger along x, a body along x and z; elsewhere a slider along z.
        problem.reset(4, STEP);
        let resistance = if light { 1e-3 } else { 0.0 };
        for (dof, quadratic) in [STEP * STEP * 1e3, resistance, resistance, elsewhere].into_iter().enumerate() {
            problem.quadratic[5 * dof] = quadratic;
        }
        if light {
            problem.light.extend([1, 2]);
        }
        problem.linear[0] = STEP * 1e3 * 0.02;
        problem.linear[2] = -STEP * 5.0;
        problem.linear[3] = -STEP * 1.0;
        problem.add_contact(key(0), 0.0, 0.4, [(1, Vector3::y()), (2, Vector3::x())]);
        problem.add_contact(key(1), 0.01, 0.0, [(0, Vector3::x() * -1.0), (1, Vector3::x())]);
        problem.add_contact(key(2), 0.0, 0.4, [(3, Vector3::x())]);
        let mut solver = QuasistaticSolver::default();
        let mut v = vec![0.0; 4];
        solver.solve(&mut problem, &mut v, &settings(Engine::Cone)).expect("a solution");
        let impulses = solver.contact_impulses()[..2].iter().flat_map(|gamma| gamma.iter().copied());
        v[..3].iter().copied().chain(impulses).map(f64::to_bits).collect::<Vec<_>>()
    };
    for light in [false, true] {
        let reference = solve(1.0, light);
        for elsewhere in [1e-6, 1e-3, 1e3, 1e6] {
            assert_eq!(solve(elsewhere, light), reference, "{elsewhere} kg elsewhere, light {light}");
        }
    }
}

/// With `friction_passes_max: 0`, a smoothed step keeps the friction bounds of the patches, as an exact one
/// does: here none, so that only the fingers resist the load. Otherwise it takes those of its solution.
#[test]
fn smoothed_steps_without_passes_keep_the_bounds_of_patches() {
    let (kappa, engine) = (1e-6, Engine::Cone);
    let solve = |passes: u32, problem: &mut QuasistaticProblem| {
        let settings = QuasistaticSettings { friction_passes_max: passes, ..settings(engine) };
        let mut v = vec![0.0; problem.size()];
        let mut solver = QuasistaticSolver::default();
        solver.step_smoothed(problem, &mut v, kappa, &settings).unwrap();
        solver.patch_impulses()[0].f.xy().norm()
    };
    let mut problem = everything(0.4);
    let first = solve(0, &mut problem);
    let again = solve(0, &mut problem);
    assert!(first == 0.0 && again == 0.0, "friction {first} and {again} N s without bounds");
    assert!(solve(20, &mut problem) > 1e-3, "passes give the patch its friction");
}

/// A light and a heavy point, each on a patch. The light one is pushed, and its friction lifts its load by a
/// fifth, so that each pass takes four fifths off its error. The heavy one rests, and its bound is exact
/// after a pass.
fn light_and_heavy_points() -> QuasistaticProblem {
    let mut problem = QuasistaticProblem::default();
    problem.reset(4, STEP);
    let heavy = 1e6;
    for (first, mass, push) in [(0, 1e-3, 2e-3), (2, 1e-3 * heavy, 0.0)] {
        problem.quadratic[5 * first] = mass;
        problem.quadratic[5 * first + 5] = mass;
        problem.linear[first] = push;
        problem.linear[first + 1] = -mass;
        if push > 0.0 {
            (problem.quadratic[1], problem.quadratic[4]) = (0.5 * mass, 0.5 * mass);
        }
        let patch = problem.add_patch();
        patch.reset(PatchLaw {
            step: STEP,
            dissipation: DissipationLaw::HuntCrossley { dissipation: 0.0 },
            friction: 0.4,
            stiction_tolerance: 1e-4,
            friction_compliance: 0.0,
        });
        patch.push_column(first as u32, Vector6::new(0.0, 0.0, 0.0, 1.0, 0.0, 0.0), 0.0);
        patch.push_column(first as u32 + 1, Vector6::new(0.0, 0.0, 0.0, 0.0, 0.0, 1.0), 0.0);
        patch.push_face(&FaceInput {
            p_CF: Vector3::zeros(),
            normal: Vector3::z(),
            stiffness: 1e3 * mass,
            elastic_force: 0.0,
            spin_arm_squared: 0.0,
        });
    }
    problem
}

/// Friction of a light body that has not settled is not excused by a heavy body elsewhere, a million times
/// its bound: the report has the change relative to its own bound, and names its patch.
#[test]
fn a_heavy_body_elsewhere_does_not_excuse_friction_that_has_not_settled() {
    let solve = |passes: u32| {
        let (mut problem, mut solver) = (light_and_heavy_points(), QuasistaticSolver::default());
        let settings = QuasistaticSettings { friction_passes_max: passes, ..settings(Engine::Cone) };
        let report = solver.solve(&mut problem, &mut [0.0; 4], &settings).unwrap();
        (report.friction_change, solver.unsettled_friction().map(|(part, _)| part))
    };
    let (change, part) = solve(1);
    assert!(change > 0.05, "a change of {change} after one pass");
    assert_eq!(part, Some(ProblemPart::Patch(0)));
    let (change, _) = solve(40);
    assert!(change <= 1e-6, "a change of {change} after 40 passes");
}
