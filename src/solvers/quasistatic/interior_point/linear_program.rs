//! Small linear programs: feasibility, ranges and certificates.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

/// Gap and feasibility of a linear program [-].
const TOLERANCE: f64 = 1e-10;

/// A linear program: rows a . x + constant that are zero, and rows that are not negative.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct LinearProgram {
    /// Number of unknowns.
    pub(in super::super) unknowns: usize,
    /// a . x + constant = 0.
    pub(in super::super) equalities: Vec<(Vec<f64>, f64)>,
    /// a . x + constant >= 0.
    pub(in super::super) inequalities: Vec<(Vec<f64>, f64)>,
}

/// The result of a linear program.
#[derive(Clone, Debug)]
pub(in super::super) enum LinearResult {
    /// The largest value.
    Optimal {
        /// objective . x.
        value: f64,
        /// The maximiser x.
        x: Vec<f64>,
    },
    /// No x satisfies the rows. The weights y, first of the equalities and then of the inequalities, prove
    /// it: sum y a = 0, sum y constant < 0, and no weight of an inequality is negative [Farkas].
    Infeasible {
        /// y.
        certificate: Vec<f64>,
    },
    /// The value is unbounded.
    Unbounded,
    /// The solver failed.
    Failed {
        /// Its status.
        status: String,
    },
}

impl LinearProgram {
    /// The largest objective . x.
    pub(in super::super) fn maximize(&self, objective: &[f64]) -> LinearResult {
        let rows = self.equalities.len() + self.inequalities.len();
        let (mut row_indices, mut columns, mut values, mut constants) = (vec![], vec![], vec![], vec![]);
        for (index, (coefficients, constant)) in self.equalities.iter().chain(&self.inequalities).enumerate() {
            for (column, value) in coefficients.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                row_indices.push(index);
                columns.push(column);
                values.push(-value);
            }
            constants.push(*constant);
        }
        let P = CscMatrix::zeros((self.unknowns, self.unknowns));
        let A = CscMatrix::new_from_triplets(rows, self.unknowns, row_indices, columns, values);
        let cost: Vec<f64> = objective.iter().map(|c| -c).collect();
        let cones = [
            SupportedConeT::ZeroConeT(self.equalities.len()),
            SupportedConeT::NonnegativeConeT(self.inequalities.len()),
        ];
        let options = DefaultSettings {
            verbose: false,
            tol_gap_abs: TOLERANCE,
            tol_gap_rel: TOLERANCE,
            tol_feas: TOLERANCE,
            presolve_enable: false,
            ..DefaultSettings::default()
        };
        let mut solver = match DefaultSolver::new(&P, &cost, &A, &constants, &cones, options) {
            Ok(solver) => solver,
            Err(error) => return LinearResult::Failed { status: format!("{error:?}") },
        };
        solver.solve();
        match solver.solution.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => {
                LinearResult::Optimal { value: -solver.solution.obj_val, x: solver.solution.x.clone() }
            }
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
                LinearResult::Infeasible { certificate: solver.solution.z.clone() }
            }
            SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => LinearResult::Unbounded,
            status => LinearResult::Failed { status: format!("{status:?}") },
        }
    }
}
