//! The accuracy of Newton's method, and its number of steps in a heap.

use std::time::Instant;

use super::super::newton::SolveStatus;
use super::super::samples::{LAW, push_square};
use super::*;
use crate::math::Vector6;

/// A block of 1 kg that moves with v0 on a patch of faces that carries its weight; `push` is a sideways
/// impulse [N s].
fn block(push: f64, v0: &[f64; 6]) -> ContactProblem {
    let mut problem = ContactProblem::default();
    problem.reset(&[0..3, 3..6]);
    for (i, v) in v0.iter().enumerate() {
        let mass = if i < 3 { 2e-3 } else { 1.0 };
        problem.momentum_matrix.add(i, i, mass);
        problem.momentum[i] = mass * v;
    }
    problem.momentum[3] += push;
    problem.momentum[5] -= 9.81e-3;
    let (patch, _) = problem.add_patch();
    patch.reset(LAW);
    for (dof, v) in v0.iter().enumerate() {
        patch.push_column(dof as u32, Vector6::ith(dof, 1.0), *v);
    }
    push_square(patch, 9.81 / 25.0);
    problem.lag_friction();
    problem
}

/// Newton's method on the velocities alone takes 23 steps, because each line search ends where the friction
/// of the first contact turns.
#[test]
fn many_contacts_that_stop_sliding_take_few_steps() {
    let (problem, v0) = row_of_blocks();
    let (mut v, settings) = (v0.clone(), NewtonSettings::default());
    let report = NewtonSolver::default().solve(&problem, &v0, &settings, &mut v).unwrap();
    assert!(report.status == SolveStatus::Converged && report.iterations <= 15, "{report:?}");
}

/// Regression: after a solve that ended with directions of slip, the columns had the Hessian of directions
/// that did not exist any more.
#[test]
fn columns_after_a_solve_are_those_of_the_hessian() {
    let (problem, v0) = row_of_blocks();
    let (mut v, settings) = (v0.clone(), NewtonSettings::default());
    let mut solver = NewtonSolver::default();
    solver.solve(&problem, &v0, &settings, &mut v).unwrap();
    let columns: Vec<f64> = (0..2 * v.len()).map(|i| (0.7 * i as f64).sin()).collect();
    let (mut after, mut fresh) = (columns.clone(), columns);
    solver.solve_columns(&problem, &v, &mut after).unwrap();
    NewtonSolver::default().solve_columns(&problem, &v, &mut fresh).unwrap();
    assert_eq!(after, fresh);
}

/// Twenty-four blocks press on the ground, and each on the next one. At the start they slide in all
/// directions; at the end many of them stick. Returns also the velocities at the start.
fn row_of_blocks() -> (ContactProblem, Vec<f64>) {
    const BLOCKS: usize = 24;
    let trees: Vec<_> = (0..BLOCKS).map(|i| 6 * i..6 * i + 6).collect();
    let mut problem = ContactProblem::default();
    problem.reset(&trees);
    let v0: Vec<f64> = (0..6 * BLOCKS).map(|i| if i % 6 < 3 { 0.0 } else { 0.01 * (1.7 * i as f64).sin() }).collect();
    for (i, v) in v0.iter().enumerate() {
        let mass = if i % 6 < 3 { 2e-3 } else { 1.0 };
        problem.momentum_matrix.add(i, i, mass);
        problem.momentum[i] = mass * v - if i % 6 == 5 { 9.81e-3 } else { 0.0 };
    }
    problem.start.copy_from_slice(&v0);
    let law = crate::solvers::PatchLaw { stiction_tolerance: 1e-6, ..LAW };
    for (a, b) in (0..BLOCKS).flat_map(|b| [(b.checked_sub(1), b), (None, b)]) {
        let (patch, _) = problem.add_patch();
        patch.reset(law);
        for (body, sign) in a.map(|a| (a, -1.0)).into_iter().chain([(b, 1.0)]) {
            for i in 0..6 {
                patch.push_column((6 * body + i) as u32, Vector6::ith(i, sign), v0[6 * body + i]);
            }
        }
        push_square(patch, 9.81 / 25.0);
    }
    problem.lag_friction();
    (problem, v0)
}

/// Oracle: the same solver with a tolerance so small that no last step uses old factors. The cases go
/// from rest through sticking to slipping, and on to a start far from the solution.
#[test]
fn ends_within_its_tolerance_of_the_minimum() {
    let far = [0.3, -0.2, 0.5, 0.4, -0.1, -0.05];
    for (push, scale) in [(0.0, 0.0), (1e-4, 0.0), (4e-3, 1e-3), (6e-3, 1e-2), (2e-2, 0.1), (0.1, 1.0)] {
        let v0 = far.map(|v| scale * v);
        let problem = block(push, &v0);
        let solve = |tolerance: f64| {
            let mut v = [0.0; 6];
            let settings = NewtonSettings { tolerance, ..NewtonSettings::default() };
            let report = NewtonSolver::default().solve(&problem, &v0, &settings, &mut v).unwrap();
            assert!(report.status != SolveStatus::IterationLimit && report.residual < 1e-7, "{push}: {report:?}");
            v
        };
        let (v, exact) = (solve(1e-7), solve(1e-13));
        for (i, (v, exact)) in v.iter().zip(&exact).enumerate() {
            // The residual is a momentum, relative to the largest one.
            let (mass, largest) = (problem.momentum_matrix.diagonal(i), 9.81e-3 + push + scale);
            assert!(mass.sqrt() * (v - exact).abs() < 1e-6 * largest, "{push}: v_{i} is {v} instead of {exact}");
        }
    }
}

/// One block of each mass \[kg\] and of its part of the weight in the elastic forces at the start of the
/// step; they slide apart from each other.
fn blocks_apart(blocks: &[(f64, f64)]) -> (ContactProblem, Vec<f64>) {
    let trees: Vec<_> = (0..blocks.len()).map(|i| 6 * i..6 * i + 6).collect();
    let mut problem = ContactProblem::default();
    problem.reset(&trees);
    let slides = [0.0, 0.0, 0.0, 0.1, -0.05, 0.0];
    for (number, (mass, _)) in blocks.iter().enumerate() {
        for (axis, v) in slides.iter().enumerate() {
            let (i, mass) = (6 * number + axis, if axis < 3 { 2e-3 * mass } else { *mass });
            problem.momentum_matrix.add(i, i, mass);
            problem.momentum[i] = mass * (v - if axis == 5 { 9.81e-3 } else { 0.0 });
            problem.start[i] = *v;
        }
    }
    for (number, (mass, part)) in blocks.iter().enumerate() {
        let (patch, _) = problem.add_patch();
        patch.reset(LAW);
        for (axis, v) in slides.iter().enumerate() {
            patch.push_column((6 * number + axis) as u32, Vector6::ith(axis, 1.0), *v);
        }
        push_square(patch, part * mass * 9.81 / 25.0);
    }
    problem.lag_friction();
    let start = problem.start.clone();
    (problem, start)
}

/// The velocities of each block, and the report.
fn slide(solver: &mut NewtonSolver, blocks: &[(f64, f64)]) -> (Vec<Vec<f64>>, SolvedFriction) {
    let (v, _, solved) = slide_and_push(solver, blocks);
    (v, solved)
}

/// The velocities of each block, those by which a unit impulse on each changes them, and the report.
fn slide_and_push(solver: &mut NewtonSolver, blocks: &[(f64, f64)]) -> (Vec<Vec<f64>>, Vec<Vec<f64>>, SolvedFriction) {
    let (mut problem, v0) = blocks_apart(blocks);
    let mut v = v0.clone();
    let settings = NewtonSettings::default();
    let solved = solver.solve_with_friction(&mut problem, &v0, (&settings, 0.01), &mut v).unwrap();
    let mut pushed = vec![1.0; v.len()];
    solver.solve_columns(&problem, &v, &mut pushed).unwrap();
    let of_blocks = |values: &[f64]| values.chunks(6).map(<[f64]>::to_vec).collect();
    (of_blocks(&v), of_blocks(&pushed), solved)
}

/// Regression: the rounds of one island renewed the bounds of all others, whose friction was right to 1 %,
/// and the tolerance of light islands was that of a heavy one.
#[test]
fn islands_do_not_depend_on_each_other() {
    let (right, wrong, heavy) = ((1e-3, 1.005), (1.0, 0.3), (1e12, 1.0));
    let mut solver = NewtonSolver::default();
    let (alone, pushed, report) = slide_and_push(&mut solver, &[right]);
    assert_eq!((report.rounds, report.report.status), (0, SolveStatus::Converged), "{report:?}");
    let (other, report) = slide(&mut solver, &[wrong]);
    assert!(report.rounds > 0 && report.wrong.part() <= 0.01, "{report:?}");
    for (blocks, number) in [(vec![right, wrong], 0), (vec![heavy, wrong, right], 2), (vec![right, heavy], 0)] {
        let (together, pushed_together, _) = slide_and_push(&mut solver, &blocks);
        assert_eq!(together[number], alone[0], "{blocks:?}");
        assert_eq!(pushed_together[number], pushed[0], "{blocks:?}: the bounds are others");
        if let Some(number) = blocks.iter().position(|block| *block == wrong) {
            assert_eq!(together[number], other[0], "{blocks:?}");
        }
    }
}

/// Any number of threads gives the same bits, and an error names the same velocity.
#[test]
fn threads_do_not_change_a_bit() {
    let blocks: Vec<(f64, f64)> = (0..40).map(|i| (1.0 + 0.1 * f64::from(i), 0.2 + 0.1 * f64::from(i % 9))).collect();
    let solve = |threads: usize| {
        let mut solver = NewtonSolver::default();
        solver.set_threads(threads);
        let solved = slide(&mut solver, &blocks);
        let impulses = solver.patch_impulses().to_vec();
        let (mut problem, v0) = blocks_apart(&blocks);
        for dof in [200, 100] {
            problem.momentum_matrix.add(dof, dof + 1, 1e6);
            problem.momentum_matrix.add(dof + 1, dof, 1e6);
        }
        let error = solver.solve(&problem, &v0, &NewtonSettings::default(), &mut v0.clone()).unwrap_err();
        (solved, impulses, error.pivot)
    };
    let one = solve(1);
    assert!(one.0.1.rounds > 0 && one.2 == 101, "{:?} {}", one.0.1, one.2);
    for threads in [2, 4] {
        assert_eq!(solve(threads), one, "{threads} threads");
    }
}

/// A second thread solves islands. It may start late, when the first one has solved all, but not in all of
/// many solves.
#[test]
fn a_second_thread_solves_islands() {
    let blocks: Vec<(f64, f64)> = (0..400).map(|i| (1.0 + 0.1 * f64::from(i), 0.2 + 0.1 * f64::from(i % 9))).collect();
    let (mut one, mut two) = (NewtonSolver::default(), NewtonSolver::default());
    two.set_threads(2);
    let (of_one, start) = (slide(&mut one, &blocks), Instant::now());
    loop {
        assert_eq!(slide(&mut two, &blocks), of_one);
        if !two.workers[1].done.is_empty() {
            break;
        }
        assert!(start.elapsed().as_secs() < 60, "the second thread has solved no island");
    }
}
