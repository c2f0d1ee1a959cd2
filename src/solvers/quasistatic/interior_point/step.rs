//! The reference: the step as a quadratic program over linear and second-order cones for Clarabel [Goulart &
//! Chen 2024].
//!
//! In its form   min 1/2 x^T P x + q^T x  s.t.  A x + s = d, s in cones   the unknowns x are v, then those of
//! the rows and of the patches' faces:
//! - contact: s = (phi/h + v_n, mu v_t) in the second-order cone, with dual (gamma_n, gamma_t/mu);
//!   or one row per ray, with dual beta_j;
//! - row: l(u) = min (v_hat - u - p + m)^2/(2 R) + upper p - lower m over p, m >= 0, the Huber function
//!   whose slope is clamped;
//! - face, normal: 1/2 h r e^2 with e >= fe0/r - v_n, e >= 0 and r the decrease of the force with the
//!   velocity [N s/m];
//! - face, friction: mu n0 t with t >= |(v_t, rho w_n, v_s)|: the regularized norm, exactly.

use std::f64::consts::TAU;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use super::super::{FrictionCone, ProblemPart, QuasistaticError, QuasistaticProblem, QuasistaticSettings};
use crate::math::lanes::LANES;
use crate::math::{SpatialForce, Vector3, Vector6};
use crate::solvers::PatchBlock;

/// Gap and feasibility at which the interior-point method stops, as a fraction of the tolerance of the
/// settings. The error of a weakly active constraint is the square root of the gap [s/m].
const TOLERANCE_SHARE: f64 = 1e-5;
/// Gap and feasibility at which the method may stop when it makes no more progress [-].
const TOLERANCE_WITHOUT_PROGRESS: f64 = 1e-6;
/// The largest number of interior-point iterations; it usually takes 10 to 25.
const ITERATIONS_MAX: u32 = 200;

/// A proof of infeasibility covers velocities up to this [m/s] or [rad/s].
const FASTEST: f64 = 1e3;

/// The solution of Clarabel.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct ClarabelResult {
    /// v.
    pub(in super::super) v: Vec<f64>,
    /// Impulse (n, t1, t2) of each contact.
    pub(in super::super) contacts: Vec<Vector3>,
    /// Multipliers of each contact: its impulse for the exact cone, one for each ray of a pyramid.
    pub(in super::super) multipliers: Vec<f64>,
    /// Impulse of each row.
    pub(in super::super) rows: Vec<f64>,
    /// Impulse of each bound.
    pub(in super::super) bounds: Vec<f64>,
    /// Impulse on B about C of each patch.
    pub(in super::super) patches: Vec<SpatialForce>,
    /// Interior-point iterations.
    pub(in super::super) iterations: u32,
    /// Clarabel's status if it stopped short of its own tolerance.
    pub(in super::super) stopped: Option<&'static str>,
}

/// The program during assembly: triplets of P (upper triangle) and A, and the vectors and cones.
#[derive(Default)]
struct Program {
    cost: (Vec<usize>, Vec<usize>, Vec<f64>),
    linear: Vec<f64>,
    constraint: (Vec<usize>, Vec<usize>, Vec<f64>),
    offset: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    fn add_unknown(&mut self, linear: f64) -> usize {
        self.linear.push(linear);
        self.linear.len() - 1
    }
    /// Adds 1/2 weight (sum c_i x_i - target)^2.
    fn add_square(&mut self, weight: f64, terms: &[(usize, f64)], target: f64) {
        for (a, (i, c_i)) in terms.iter().enumerate() {
            self.linear[*i] -= weight * target * c_i;
            for (j, c_j) in &terms[a..] {
                self.push_cost(*i.min(j), *i.max(j), weight * c_i * c_j);
            }
        }
    }
    fn push_cost(&mut self, row: usize, column: usize, value: f64) {
        self.cost.0.push(row);
        self.cost.1.push(column);
        self.cost.2.push(value);
    }
    /// Adds a row s = offset + sum c_i x_i to the present cone; returns its index.
    fn add_slack(&mut self, offset: f64, terms: impl IntoIterator<Item = (usize, f64)>) -> usize {
        let row = self.offset.len();
        self.offset.push(offset);
        for (i, c) in terms {
            if c != 0.0 {
                self.constraint.0.push(row);
                self.constraint.1.push(i);
                self.constraint.2.push(-c);
            }
        }
        row
    }
    fn add_nonnegative(&mut self, offset: f64, terms: impl IntoIterator<Item = (usize, f64)>) -> usize {
        self.cones.push(SupportedConeT::NonnegativeConeT(1));
        self.add_slack(offset, terms)
    }
}

/// The indices of the duals and unknowns of each part of the problem.
#[derive(Default)]
struct Indices {
    contacts: Vec<usize>,
    rows: Vec<(Option<usize>, Option<usize>)>,
    bounds: Vec<(Option<usize>, Option<usize>)>,
    faces: Vec<FaceIndices>,
}

struct FaceIndices {
    patch: usize,
    p_CF: Vector3,
    normal: Vector3,
    tangents: [Vector3; 2],
    /// Unknown e and h r.
    normal_part: Option<(usize, f64)>,
    /// First of the rows (t, t1, t2, v_s, rho wn); the last one with a spin arm only.
    friction_row: Option<usize>,
}

/// Solves `problem`.
pub(in super::super) fn solve(
    problem: &QuasistaticProblem,
    settings: &QuasistaticSettings,
) -> Result<ClarabelResult, QuasistaticError> {
    let n = problem.size();
    let mut program = Program { linear: problem.linear.iter().map(|b| -b).collect(), ..Program::default() };
    for i in 0..n {
        for j in i..n {
            let value = problem.quadratic[i * n + j];
            if value != 0.0 {
                program.push_cost(i, j, value);
            }
        }
    }
    let mut indices = Indices::default();
    state_contacts(problem, settings.friction, &mut program, &mut indices);
    state_rows(problem, &mut program, &mut indices);
    state_bounds(problem, &mut program, &mut indices);
    for (index, patch) in problem.patches().iter().enumerate() {
        if patch.hunt_crossley != 0.0 {
            return Err(QuasistaticError::Dissipation { patch: index });
        }
        state_patch(index, patch, &mut program, &mut indices);
    }

    let unknowns = program.linear.len();
    let (rows, columns, values) = program.cost;
    let P = CscMatrix::new_from_triplets(unknowns, unknowns, rows, columns, values);
    let (rows, columns, values) = program.constraint;
    let A = CscMatrix::new_from_triplets(program.offset.len(), unknowns, rows, columns, values);
    let tolerance = TOLERANCE_SHARE * settings.tolerance;
    let options = DefaultSettings {
        verbose: false,
        max_iter: ITERATIONS_MAX,
        tol_gap_abs: tolerance,
        tol_gap_rel: tolerance,
        tol_feas: tolerance,
        reduced_tol_gap_abs: TOLERANCE_WITHOUT_PROGRESS,
        reduced_tol_gap_rel: TOLERANCE_WITHOUT_PROGRESS,
        reduced_tol_feas: TOLERANCE_WITHOUT_PROGRESS,
        presolve_enable: false,
        ..DefaultSettings::default()
    };
    let mut solver =
        DefaultSolver::new(&P, &program.linear, &A, &program.offset, &program.cones, options).map_err(|error| {
            QuasistaticError::NotConverged {
                iterations: 0,
                residual: f64::INFINITY,
                status: format!("clarabel refused the problem: {error:?}"),
            }
        })?;
    solver.solve();
    let solution = &solver.solution;
    let residual = solution.r_prim.max(solution.r_dual);
    match solution.status {
        SolverStatus::Solved | SolverStatus::AlmostSolved => Ok(read(problem, settings.friction, &indices, solution)),
        SolverStatus::InsufficientProgress | SolverStatus::NumericalError | SolverStatus::MaxIterations => {
            let stopped = match solution.status {
                SolverStatus::InsufficientProgress => "clarabel: InsufficientProgress",
                SolverStatus::NumericalError => "clarabel: NumericalError",
                _ => "clarabel: MaxIterations",
            };
            let result = read(problem, settings.friction, &indices, solution);
            Ok(ClarabelResult { stopped: Some(stopped), ..result })
        }
        SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => Err(unbounded(problem, &solution.x)),
        SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
            let error = infeasible(problem, settings.friction, &indices, &solution.z);
            let named = matches!(&error, QuasistaticError::Infeasible { parts, .. } if !parts.is_empty());
            if named && proves_infeasibility(&A, &program.offset, &solution.z) {
                return Err(error);
            }
            Err(QuasistaticError::NotConverged {
                iterations: solution.iterations,
                residual,
                status: "clarabel found no solution, and no proof that there is none".to_owned(),
            })
        }
        status => Err(QuasistaticError::NotConverged {
            iterations: solution.iterations,
            residual,
            status: format!("clarabel: {status:?}"),
        }),
    }
}

fn state_contacts(problem: &QuasistaticProblem, friction: FrictionCone, program: &mut Program, indices: &mut Indices) {
    for contact in problem.contacts() {
        let columns = problem.columns(contact);
        indices.contacts.push(program.offset.len());
        let along =
            |direction: Vector3| columns.iter().map(move |(dof, column)| (*dof as usize, direction.dot(column)));
        match friction {
            FrictionCone::Pyramid { rays } => {
                program.cones.push(SupportedConeT::NonnegativeConeT(rays as usize));
                for j in 0..rays {
                    let ray = ray(contact.friction, j, rays);
                    program.add_slack(ray.dot(&contact.offset()), along(ray));
                }
            }
            FrictionCone::Exact if contact.friction == 0.0 => {
                program.add_nonnegative(contact.gap_rate, along(Vector3::x()));
            }
            FrictionCone::Exact => {
                program.cones.push(SupportedConeT::SecondOrderConeT(3));
                program.add_slack(contact.gap_rate, along(Vector3::x()));
                for direction in [Vector3::y(), Vector3::z()].map(|t| t * contact.friction) {
                    program.add_slack(direction.dot(&contact.offset()), along(direction));
                }
            }
        }
    }
}

/// n + mu d_j in the axes (n, t1, t2).
pub(in super::super) fn ray(friction: f64, j: u32, rays: u32) -> Vector3 {
    let angle = TAU * f64::from(j) / f64::from(rays);
    Vector3::new(1.0, friction * angle.cos(), friction * angle.sin())
}

fn state_rows(problem: &QuasistaticProblem, program: &mut Program, indices: &mut Indices) {
    for row in &problem.rows {
        let mut terms = vec![(row.dof as usize, row.coefficient)];
        let mut add = |limit: f64, sign: f64| {
            limit.is_finite().then(|| {
                let unknown = program.add_unknown(sign * limit);
                program.add_nonnegative(0.0, [(unknown, 1.0)]);
                terms.push((unknown, sign));
                unknown
            })
        };
        let slacks = (add(row.upper, 1.0), add(row.lower, -1.0));
        program.add_square(1.0 / row.regularization, &terms, row.target);
        indices.rows.push(slacks);
    }
}

fn state_bounds(problem: &QuasistaticProblem, program: &mut Program, indices: &mut Indices) {
    for bound in &problem.bounds {
        let dof = bound.dof as usize;
        let lower = bound.lower.is_finite().then(|| program.add_nonnegative(-bound.lower, [(dof, 1.0)]));
        let upper = bound.upper.is_finite().then(|| program.add_nonnegative(bound.upper, [(dof, -1.0)]));
        indices.bounds.push((lower, upper));
    }
}

fn state_patch(index: usize, patch: &PatchBlock, program: &mut Program, indices: &mut Indices) {
    for closure in &patch.closure {
        let columns = patch.jacobian.dofs.iter().zip(&patch.jacobian.columns);
        let terms: Vec<_> = columns.map(|(dof, column)| (*dof as usize, closure.row.dot(column))).collect();
        program.add_square(closure.weight, &terms, closure.target);
    }
    for face in 0..patch.len() {
        let (lanes, lane) = (&patch.lanes[face / LANES], face % LANES);
        let (p_CF, normal) = (lanes.p_CF.get(lane), lanes.normal.get(lane));
        let tangents = tangents(&normal);
        let along = |u: Vector3| {
            let row = Vector6::new(p_CF.cross(&u).x, p_CF.cross(&u).y, p_CF.cross(&u).z, u.x, u.y, u.z);
            patch
                .jacobian
                .dofs
                .iter()
                .zip(&patch.jacobian.columns)
                .map(move |(dof, column)| (*dof as usize, row.dot(column)))
        };
        let rate = lanes.force_rate.0[lane];
        let normal_part = (rate > 0.0).then(|| {
            let e = program.add_unknown(0.0);
            let weight = patch.law.step * rate;
            program.add_square(weight, &[(e, 1.0)], 0.0);
            program.add_nonnegative(0.0, [(e, 1.0)]);
            let offset = -lanes.elastic_force.0[lane] / rate;
            program.add_nonnegative(offset, along(normal).chain([(e, 1.0)]));
            (e, weight)
        });
        let bound = lanes.friction_bound.0[lane];
        let friction_row = (bound > 0.0).then(|| {
            let t = program.add_unknown(bound);
            let arm = lanes.spin_arm_squared.0[lane].sqrt();
            program.cones.push(SupportedConeT::SecondOrderConeT(if arm > 0.0 { 5 } else { 4 }));
            let row = program.add_slack(0.0, [(t, 1.0)]);
            let u = patch.surface_velocity + patch.surface_spin.cross(&p_CF);
            program.add_slack(tangents[0].dot(&u), along(tangents[0]));
            program.add_slack(tangents[1].dot(&u), along(tangents[1]));
            program.add_slack(lanes.slip_scale_squared.0[lane].sqrt(), []);
            if arm > 0.0 {
                let spin = normal * arm;
                let spins = patch.jacobian.dofs.iter().zip(&patch.jacobian.columns);
                let spins = spins.map(|(dof, column)| (*dof as usize, spin.dot(&column.fixed_rows::<3>(0))));
                program.add_slack(spin.dot(&patch.surface_spin), spins);
            }
            row
        });
        indices.faces.push(FaceIndices { patch: index, p_CF, normal, tangents, normal_part, friction_row });
    }
}

/// Two unit vectors that make a right-handed frame with `normal`.
fn tangents(normal: &Vector3) -> [Vector3; 2] {
    let smallest = normal.iamin();
    let t1 = normal.cross(&Vector3::ith(smallest, 1.0)).normalize();
    [t1, normal.cross(&t1)]
}

fn read(
    problem: &QuasistaticProblem,
    friction: FrictionCone,
    indices: &Indices,
    solution: &clarabel::solver::DefaultSolution<f64>,
) -> ClarabelResult {
    let (x, z) = (&solution.x, &solution.z);
    let v = x[..problem.size()].to_vec();
    let contacts: Vec<Vector3> = (problem.contacts().iter().zip(&indices.contacts))
        .map(|(contact, row)| contact_impulse(friction, contact.friction, &z[*row..]))
        .collect();
    let multipliers = match friction {
        FrictionCone::Exact => contacts.iter().flat_map(|gamma| [gamma.x, gamma.y, gamma.z]).collect(),
        FrictionCone::Pyramid { rays } => {
            indices.contacts.iter().flat_map(|row| z[*row..*row + rays as usize].iter().copied()).collect()
        }
    };
    let rows = (problem.rows.iter().zip(&indices.rows))
        .map(|(row, (p, m))| {
            let slip = p.map_or(0.0, |p| x[p]) - m.map_or(0.0, |m| x[m]);
            (row.target - row.speed(&v) - slip) / row.regularization
        })
        .collect();
    let bounds =
        indices.bounds.iter().map(|(lower, upper)| lower.map_or(0.0, |i| z[i]) - upper.map_or(0.0, |i| z[i])).collect();
    let mut patches = vec![SpatialForce::ZERO; problem.patches().len()];
    for face in &indices.faces {
        let mut gamma = face.normal_part.map_or(Vector3::zeros(), |(e, weight)| face.normal * (weight * x[e]));
        if let Some(row) = face.friction_row {
            gamma += face.tangents[0] * z[row + 1] + face.tangents[1] * z[row + 2];
        }
        patches[face.patch] += SpatialForce::new(face.p_CF.cross(&gamma), gamma);
    }
    let iterations = solution.iterations;
    ClarabelResult { v, contacts, multipliers, rows, bounds, patches, iterations, stopped: None }
}

fn contact_impulse(friction: FrictionCone, mu: f64, z: &[f64]) -> Vector3 {
    match friction {
        FrictionCone::Pyramid { rays } => (0..rays).map(|j| ray(mu, j, rays) * z[j as usize]).sum(),
        FrictionCone::Exact if mu == 0.0 => Vector3::new(z[0], 0.0, 0.0),
        FrictionCone::Exact => Vector3::new(z[0], mu * z[1], mu * z[2]),
    }
}

/// The error for a direction without resistance. It names the velocity along which b does most of its work.
fn unbounded(problem: &QuasistaticProblem, direction: &[f64]) -> QuasistaticError {
    let mut dof = 0;
    let mut most = f64::NEG_INFINITY;
    for (i, (b, d)) in problem.linear.iter().zip(direction).enumerate() {
        if b * d > most {
            (dof, most) = (i, b * d);
        }
    }
    QuasistaticError::Unbounded { dof, impulse: problem.linear[dof] }
}

/// Whether z proves that no unknowns up to [`FASTEST`] satisfy A x + s = d: with z in the dual cones,
/// 0 <= z . s = z . d - (A^T z) . x, so that z . d + |A^T z|_1 max |x| < 0 is a contradiction [Farkas].
fn proves_infeasibility(A: &CscMatrix<f64>, offset: &[f64], z: &[f64]) -> bool {
    let gap: f64 = offset.iter().zip(z).map(|(d, z)| d * z).sum();
    let column = |ends: &[usize]| {
        let entries = A.rowval[ends[0]..ends[1]].iter().zip(&A.nzval[ends[0]..ends[1]]);
        entries.map(|(row, a)| a * z[*row]).sum::<f64>().abs()
    };
    gap + FASTEST * A.colptr.windows(2).map(column).sum::<f64>() < 0.0
}

fn infeasible(problem: &QuasistaticProblem, friction: FrictionCone, indices: &Indices, z: &[f64]) -> QuasistaticError {
    /// Constraints with less weight than this fraction of the largest are not reported [-].
    const WEIGHT_MIN: f64 = 1e-6;
    let largest = z.iter().fold(0.0_f64, |largest, z| largest.max(z.abs()));
    let (mut detail, mut parts) = (Vec::new(), Vec::new());
    for (index, (contact, row)) in problem.contacts().iter().zip(&indices.contacts).enumerate() {
        let weight = contact_impulse(friction, contact.friction, &z[*row..]).x;
        if weight > WEIGHT_MIN * largest {
            parts.push(ProblemPart::Contact(index));
            detail.push(format!(
                "contact {index} (pair {}, point {}) with weight {weight:.3e}",
                contact.key.pair, contact.key.point
            ));
        }
    }
    for (bound, (lower, upper)) in problem.bounds.iter().zip(&indices.bounds) {
        for (row, name, limit) in [(lower, "lower", bound.lower), (upper, "upper", bound.upper)] {
            let weight = row.map_or(0.0, |row| z[row]);
            if weight > WEIGHT_MIN * largest {
                parts.push(ProblemPart::Velocity(bound.dof as usize));
                detail.push(format!("the {name} bound {limit:.3e} of velocity {} with weight {weight:.3e}", bound.dof));
            }
        }
    }
    QuasistaticError::Infeasible { detail: detail.join(", "), parts }
}
