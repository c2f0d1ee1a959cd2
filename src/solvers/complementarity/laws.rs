//! Laws of the direct solver on random problems, against Lemke's method and enumeration.

use super::{DirectReport, DirectSolver, DirectStatus, MixedProblem, Row};
use crate::solvers::quasistatic::lemke::{ComplementarityProblem, LemkeEnd};

/// Knuth's MMIX generator.
pub(super) struct Random(pub(super) u64);

impl Random {
    /// Uniform in [-1, 1).
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
    fn below(&mut self, count: usize) -> usize {
        ((0.5 + 0.5 * self.next()) * count as f64) as usize % count
    }
}

/// A problem with its data.
struct Sample {
    problem: MixedProblem,
    mass: Vec<f64>,
    jacobian: Vec<Vec<f64>>,
}

impl Sample {
    /// `n` velocities in two blocks, a random M and r.
    fn new(random: &mut Random, n: usize) -> Self {
        let split = random.below(n + 1);
        let blocks = [0..split, split..n];
        let mut mass = vec![0.0; n * n];
        for block in &blocks {
            let factor: Vec<f64> = (0..n * n).map(|_| random.next()).collect();
            for i in block.clone() {
                for j in block.clone() {
                    mass[i * n + j] = block.clone().map(|k| factor[i * n + k] * factor[j * n + k]).sum::<f64>();
                }
                mass[i * n + i] += 0.3;
            }
        }
        let momentum: Vec<f64> = (0..n).map(|_| random.next()).collect();
        let mut problem = MixedProblem::default();
        problem.reset(&blocks, &mass, &momentum).unwrap();
        Self { problem, mass, jacobian: Vec::new() }
    }

    fn add(&mut self, row: Row, jacobian: Vec<f64>) {
        let entries = jacobian.iter().enumerate().filter(|(_, value)| **value != 0.0);
        self.problem.add_row(row, entries.map(|(dof, value)| (dof as u32, *value)));
        self.jacobian.push(jacobian);
    }

    fn solve(&self) -> (DirectReport, Vec<f64>, Vec<f64>) {
        let (mut impulses, mut v) = (Vec::new(), Vec::new());
        let report = DirectSolver::default().solve(&self.problem, &self.mass, &mut impulses, &mut v);
        (report, impulses, v)
    }

    /// A and b of w = A lambda + b.
    fn dense(&self) -> (Vec<f64>, Vec<f64>) {
        let m = self.problem.len();
        let (mut A, mut v) = (vec![0.0; m * m], Vec::new());
        self.problem.velocities(&vec![0.0; m], &mut v);
        let b: Vec<f64> = (0..m).map(|i| self.problem.slack(i, &v, 0.0)).collect();
        for j in 0..m {
            let unit: Vec<f64> = (0..m).map(|i| if i == j { 1.0 } else { 0.0 }).collect();
            self.problem.velocities(&unit, &mut v);
            for i in 0..m {
                A[i * m + j] = self.problem.slack(i, &v, unit[i]) - b[i];
            }
        }
        (A, b)
    }
}

fn random_row(random: &mut Random, regularization: f64) -> Row {
    let (lower, upper) = match random.below(6) {
        0 => (f64::NEG_INFINITY, f64::INFINITY),
        1 | 2 => (0.0, f64::INFINITY),
        3 => (f64::NEG_INFINITY, 0.3 * random.next()),
        4 => (-0.5 - 0.4 * random.next(), 0.5 + 0.4 * random.next()),
        _ => {
            let fixed = random.next();
            (fixed, fixed)
        }
    };
    Row { regularization, constant: random.next(), lower, upper }
}

fn random_sample(random: &mut Random) -> Sample {
    let n = 1 + random.below(8);
    let mut sample = Sample::new(random, n);
    let soft = random.below(3) > 0;
    let m = if soft { 1 + random.below(14) } else { 1 + random.below(n) };
    for _ in 0..m {
        // The rows are sparse, but each moves some velocity; without regularization they are full, and so
        // independent
        let full = random.below(n);
        let is_entry = |random: &mut Random, dof| !soft || dof == full || random.below(3) > 0;
        let jacobian = (0..n).map(|dof| if is_entry(random, dof) { random.next() } else { 0.0 }).collect();
        // A compliance from a millionth of the mobility to the mobility itself; none if the rows are
        // independent
        let regularization = if soft { 10.0_f64.powf(3.0 * random.next() - 3.0) } else { 0.0 };
        let row = random_row(random, regularization);
        sample.add(row, jacobian);
    }
    sample
}

/// lambda by trying every combination of states.
fn enumerate(A: &[f64], b: &[f64], rows: &[Row]) -> Option<Vec<f64>> {
    let m = b.len();
    for code in 0..3_usize.pow(m as u32) {
        let state = |i: usize| code / 3_usize.pow(i as u32) % 3;
        let fixed = |i: usize| match state(i) {
            0 => None,
            1 => Some(rows[i].lower),
            _ => Some(rows[i].upper),
        };
        if (0..m).any(|i| fixed(i).is_some_and(|value| !value.is_finite())) {
            continue;
        }
        let free: Vec<usize> = (0..m).filter(|i| state(*i) == 0).collect();
        let matrix = nalgebra::DMatrix::from_fn(free.len(), free.len(), |a, c| A[free[a] * m + free[c]]);
        let right = nalgebra::DVector::from_fn(free.len(), |a, _| {
            let i = free[a];
            -b[i] - (0..m).filter_map(|j| fixed(j).map(|value| A[i * m + j] * value)).sum::<f64>()
        });
        let solved = if free.is_empty() { Some(right) } else { matrix.lu().solve(&right) };
        let Some(x) = solved else { continue };
        let mut impulses: Vec<f64> = (0..m).map(|i| fixed(i).unwrap_or(0.0)).collect();
        free.iter().zip(x.iter()).for_each(|(i, x)| impulses[*i] = *x);
        let fits = (0..m).all(|i| {
            let w = b[i] + (0..m).map(|j| A[i * m + j] * impulses[j]).sum::<f64>();
            let Row { lower, upper, .. } = rows[i];
            match state(i) {
                0 => impulses[i] >= lower - 1e-10 && impulses[i] <= upper + 1e-10,
                1 => w >= -1e-10 || lower == upper,
                _ => w <= 1e-10 || lower == upper,
            }
        });
        if fits {
            return Some(impulses);
        }
    }
    None
}

/// lambda by Lemke's method: x >= 0 above each bound or below it, and the multiplier of the other bound.
fn by_lemke(A: &[f64], b: &[f64], rows: &[Row]) -> Option<Vec<f64>> {
    let m = b.len();
    // (row, sign, offset): lambda = sum of sign x + offset
    let mut variables = Vec::new();
    let mut offset = vec![0.0; m];
    for (i, row) in rows.iter().enumerate() {
        if row.lower.is_finite() {
            offset[i] = row.lower;
            variables.push((i, 1.0));
        } else if row.upper.is_finite() {
            offset[i] = row.upper;
            variables.push((i, -1.0));
        } else {
            variables.push((i, 1.0));
            variables.push((i, -1.0));
        }
    }
    let boxes: Vec<usize> = (0..m).filter(|i| rows[*i].lower.is_finite() && rows[*i].upper.is_finite()).collect();
    let count = variables.len();
    let mut problem = ComplementarityProblem::new(count + boxes.len());
    let size = problem.size;
    for (a, (i, sign)) in variables.iter().enumerate() {
        for (c, (j, other)) in variables.iter().enumerate() {
            problem.matrix[a * size + c] = sign * other * A[i * m + j];
        }
        let at_offset = b[*i] + (0..m).map(|j| A[i * m + j] * offset[j]).sum::<f64>();
        problem.constant[a] = sign * at_offset;
        for (k, row) in boxes.iter().enumerate().filter(|(_, row)| *row == i) {
            problem.matrix[a * size + count + k] = 1.0;
            problem.matrix[(count + k) * size + a] = -1.0;
            problem.constant[count + k] = rows[*row].upper - rows[*row].lower;
        }
    }
    let (LemkeEnd::Solved(z), _) = problem.solve(10_000) else { return None };
    let mut impulses = offset;
    variables.iter().zip(&z).for_each(|((i, sign), z)| impulses[*i] += sign * z);
    Some(impulses)
}

/// Oracles: the complementarity itself for all problems; Lemke's method and, up to six rows, enumeration.
#[test]
fn random_problems_are_solved_to_rounding() {
    let mut random = Random(1);
    let (mut worst, mut by_path, mut by_states, mut pivots) = (0.0_f64, 0, 0, 0);
    for number in 0..10_000 {
        let sample = random_sample(&mut random);
        let (report, impulses, _) = sample.solve();
        assert_eq!(report.status, DirectStatus::Solved, "{number}: {report:?} {:?}", sample.problem.rows());
        worst = worst.max(report.residual);
        pivots += report.pivots;
        assert!(report.residual <= 1e-12, "{number}: {report:?}");
        let (A, b) = sample.dense();
        let size = impulses.iter().map(|x| x.abs()).fold(1.0, f64::max);
        let compare = |name: &str, other: Option<Vec<f64>>| {
            let Some(other) = other else { return 0 };
            // The oracles lose the digits of the condition, up to 1e7
            for (x, y) in impulses.iter().zip(&other) {
                assert!((x - y).abs() < 1e-6 * size, "{number}, {name}: {impulses:?} and not {other:?}");
            }
            1
        };
        by_path += compare("Lemke", by_lemke(&A, &b, sample.problem.rows()));
        if impulses.len() <= 6 && number % 4 == 0 {
            by_states += compare("enumeration", enumerate(&A, &b, sample.problem.rows()));
        }
    }
    println!("worst {worst:.1e}, {by_path} by Lemke, {by_states} by enumeration, {pivots} factorizations");
    // Some paths of Lemke's method end by rounding
    assert!(by_path > 9_500 && by_states > 1_000, "{by_path} {by_states}");
}

/// More rows than velocities and no regularization: a problem with a feasible velocity has a solution, with
/// impulses that are not unique; with a row that contradicts the others it has none.
#[test]
fn dependent_rows_without_and_with_a_solution_are_distinguished() {
    let mut random = Random(2);
    let mut degenerate = 0;
    for number in 0..500 {
        let n = 1 + random.below(5);
        let mut sample = Sample::new(&mut random, n);
        let target: Vec<f64> = (0..n).map(|_| random.next()).collect();
        let count = n + 1 + random.below(5);
        for _ in 0..count {
            let jacobian: Vec<f64> = (0..n).map(|_| random.next()).collect();
            let speed: f64 = jacobian.iter().zip(&target).map(|(g, v)| g * v).sum();
            let upper = f64::INFINITY;
            let lower = if random.below(4) == 0 { f64::NEG_INFINITY } else { 0.0 };
            let gap = if lower == 0.0 { 0.2 + 0.2 * random.next() } else { 0.0 };
            sample.add(Row { regularization: 0.0, constant: gap - speed, lower, upper }, jacobian);
        }
        let (report, ..) = sample.solve();
        let solved = matches!(report.status, DirectStatus::Solved | DirectStatus::Degenerate);
        assert!(solved && report.residual <= 1e-12, "{number}: {report:?}");
        degenerate += u32::from(report.status == DirectStatus::Degenerate);
        // The new row requires the opposite of a sum of the others, by 0.5 more than they allow
        let mut jacobian = vec![0.0; n];
        let mut constant = -0.5;
        for (row, other) in sample.problem.rows().iter().zip(&sample.jacobian) {
            let share = 0.5 + 0.4 * random.next();
            jacobian.iter_mut().zip(other).for_each(|(g, other)| *g -= share * other);
            constant -= share * row.constant;
        }
        sample.add(Row { regularization: 0.0, constant, lower: 0.0, upper: f64::INFINITY }, jacobian);
        let (report, ..) = sample.solve();
        assert!(matches!(report.status, DirectStatus::Infeasible { .. }), "{number}: {report:?}");
    }
    println!("{degenerate} degenerate");
    assert!(degenerate > 30, "{degenerate}");
}

/// Four equal supports under a weight: the impulses are not unique, the velocity is.
#[test]
fn redundant_supports_are_degenerate_and_not_infeasible() {
    let mut problem = MixedProblem::default();
    let (mass, momentum) = ([2.0], [-3.0]);
    problem.reset(&[0..1, 1..1], &mass, &momentum).unwrap();
    let support = Row { regularization: 0.0, constant: 0.0, lower: 0.0, upper: f64::INFINITY };
    (0..4).for_each(|_| {
        problem.add_row(support, [(0, 1.0)].into_iter());
    });
    let (mut impulses, mut v) = (Vec::new(), Vec::new());
    let report = DirectSolver::default().solve(&problem, &mass, &mut impulses, &mut v);
    assert_eq!(report.status, DirectStatus::Degenerate);
    assert!(v[0].abs() < 1e-12 && (impulses.iter().sum::<f64>() - 3.0).abs() < 1e-11, "{v:?} {impulses:?}");
    // A ceiling below them: v >= 0 and v <= -1
    problem.add_row(Row { constant: -1.0, ..support }, [(0, -1.0)].into_iter());
    let report = DirectSolver::default().solve(&problem, &mass, &mut impulses, &mut v);
    assert!(matches!(report.status, DirectStatus::Infeasible { .. }), "{report:?}");
}
