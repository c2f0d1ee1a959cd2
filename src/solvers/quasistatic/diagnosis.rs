//! Diagnosis of the ill-posed complementarity problem with perfect tracking [Pang & Tedrake 2021, section
//! III-B]: an infeasible command, with a certificate, or undetermined forces, with their ranges.

use std::fmt;

use super::interior_point::{LinearProgram, LinearResult};
use super::lcp::MixedLcp;
use super::{QuasistaticError, QuasistaticProblem};

/// A pair counts as complementary if one side is at most this, in the units of the problem. Smaller weights
/// of a certificate, relative to the largest, are left out.
const COMPLEMENTARY: f64 = 1e-7;
/// A range narrower than this is a single value \[N\], [m/s] or [rad/s]. The linear programs are more
/// accurate.
const WIDTH: f64 = 1e-5;
/// The largest number of linear programs in the search for an end of a range.
const NODES_MAX: u32 = 20_000;

/// A component of a contact force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactAxis {
    /// Along n.
    Normal,
    /// Along t1.
    Tangent1,
    /// Along t2.
    Tangent2,
}

/// The smallest and largest value over all solutions of the complementarity problem, in the unit of the
/// quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolutionRange {
    /// Smallest; minus infinity without bound.
    pub smallest: f64,
    /// Largest; infinite without bound.
    pub largest: f64,
}

impl SolutionRange {
    /// Whether all solutions have the same value.
    pub fn is_determined(&self) -> bool {
        self.largest - self.smallest <= WIDTH
    }
}

/// The result of the diagnosis of a step's complementarity problem.
#[derive(Clone, Debug, PartialEq)]
pub enum LcpDiagnosis {
    /// No velocity keeps all contacts apart: the non-negative weights y of the contacts satisfy sum y_i n_i =
    /// 0 on the free velocities, while sum y_i (phi_i + h n_i . v_prescribed) is negative (Farkas' lemma).
    Infeasible {
        /// (contact, weight); the largest weight is 1.
        weights: Vec<(usize, f64)>,
        /// Minus the sum: the overlap of the bodies that the command would cause \[m\].
        overlap: f64,
    },
    /// The contacts can stay apart, but no friction forces balance the loads.
    NoBalance,
    /// Solutions exist: the ranges of velocities and forces over all of them.
    Solvable {
        /// v [m/s] or [rad/s] by generalized velocity.
        velocities: Vec<SolutionRange>,
        /// Force on B \[N\] by contact and axis.
        forces: Vec<(usize, ContactAxis, SolutionRange)>,
    },
}

impl LcpDiagnosis {
    /// Whether there is exactly one velocity and one set of forces.
    pub fn is_determined(&self) -> bool {
        match self {
            Self::Solvable { velocities, forces } => {
                velocities.iter().chain(forces.iter().map(|(.., range)| range)).all(SolutionRange::is_determined)
            }
            Self::Infeasible { .. } | Self::NoBalance => false,
        }
    }
}

impl fmt::Display for LcpDiagnosis {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Infeasible { weights, overlap } => {
                write!(
                    out,
                    "infeasible: the prescribed motion presses bodies into each other by {overlap:.3e} m. Certificate: the gaps of"
                )?;
                for (index, (contact, weight)) in weights.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "," };
                    write!(out, "{separator} contact {contact} with weight {weight:.3}")?;
                }
                write!(
                    out,
                    " sum to a negative number for any motion of the free bodies. Give the actuators a stiffness (impedances)"
                )
            }
            Self::NoBalance => {
                write!(
                    out,
                    "infeasible: the bodies can stay apart, but no contact forces within the friction cones balance the loads. Support the bodies, or give them mass"
                )
            }
            Self::Solvable { velocities, forces } => {
                if self.is_determined() {
                    return write!(out, "one solution");
                }
                write!(out, "many solutions:")?;
                for (contact, axis, range) in forces.iter().filter(|(.., range)| !range.is_determined()) {
                    write!(
                        out,
                        " force of contact {contact} along {axis:?} in [{:.3}, {:.3}] N;",
                        shown(range.smallest),
                        shown(range.largest)
                    )?;
                }
                for (dof, range) in velocities.iter().enumerate().filter(|(_, range)| !range.is_determined()) {
                    write!(out, " velocity {dof} in [{:.3e}, {:.3e}];", shown(range.smallest), shown(range.largest))?;
                }
                write!(out, " the problem does not determine them. Give the actuators a stiffness (impedances)")
            }
        }
    }
}

/// An end of a range, or zero if it is within the rounding errors of the linear programs.
fn shown(end: f64) -> f64 {
    if end.abs() < WIDTH { 0.0 } else { end }
}

/// Diagnoses eq. 1 (velocities of `tracking` prescribed) or eq. 6 (none): an exhaustive search over contact
/// modes with linear programs, for problems of a few contacts.
///
/// # Errors
/// A problem that has no complementarity form; a search that exceeds its limit.
pub fn diagnose_lcp(
    problem: &QuasistaticProblem,
    rays: u32,
    tracking: &[(u32, f64)],
) -> Result<LcpDiagnosis, QuasistaticError> {
    let mixed = MixedLcp::new(problem, rays, tracking)?;
    if let Some(infeasible) = overlap(problem, &mixed) {
        return Ok(infeasible);
    }
    let search = Search::new(&mixed);
    let unknowns = search.program.unknowns;
    if search.largest(&vec![0.0; unknowns])?.is_none() {
        return Ok(LcpDiagnosis::NoBalance);
    }
    let range = |objective: Vec<f64>| -> Result<SolutionRange, QuasistaticError> {
        let opposite: Vec<f64> = objective.iter().map(|c| -c).collect();
        let largest = search.largest(&objective)?.unwrap_or(f64::NAN);
        let smallest = -search.largest(&opposite)?.unwrap_or(f64::NAN);
        Ok(SolutionRange { smallest, largest })
    };
    let mut velocities = vec![SolutionRange { smallest: 0.0, largest: 0.0 }; problem.size()];
    for (dof, speed) in tracking {
        velocities[*dof as usize] = SolutionRange { smallest: *speed, largest: *speed };
    }
    for (index, dof) in mixed.free.iter().enumerate() {
        let mut objective = vec![0.0; unknowns];
        objective[index] = 1.0;
        velocities[*dof] = range(objective)?;
    }
    let axes: &[ContactAxis] = if rays == 2 {
        &[ContactAxis::Normal, ContactAxis::Tangent1]
    } else {
        &[ContactAxis::Normal, ContactAxis::Tangent1, ContactAxis::Tangent2]
    };
    let mut forces = Vec::new();
    for contact in 0..problem.contacts().len() {
        for axis in axes {
            let mut unit = vec![0.0; unknowns];
            let objective = (0..unknowns)
                .map(|k| {
                    unit[k] = 1.0;
                    let gamma = mixed.impulse(contact, &unit);
                    unit[k] = 0.0;
                    gamma[*axis as usize] / problem.step
                })
                .collect();
            forces.push((contact, *axis, range(objective)?));
        }
    }
    Ok(LcpDiagnosis::Solvable { velocities, forces })
}

/// The certificate that no velocity keeps the contacts apart, if there is one.
fn overlap(problem: &QuasistaticProblem, mixed: &MixedLcp) -> Option<LcpDiagnosis> {
    let free = mixed.free.len();
    let inequalities = mixed
        .contacts
        .iter()
        .map(|first| (mixed.pairs[*first].row[..free].to_vec(), mixed.pairs[*first].constant))
        .collect();
    let program = LinearProgram { unknowns: free, equalities: Vec::new(), inequalities };
    let LinearResult::Infeasible { certificate } = program.maximize(&vec![0.0; free]) else { return None };
    let largest = certificate.iter().fold(0.0, |largest: f64, y| largest.max(*y));
    let weights: Vec<(usize, f64)> =
        certificate.iter().map(|y| y / largest).enumerate().filter(|(_, y)| *y > COMPLEMENTARY).collect();
    let sum: f64 = weights.iter().map(|(contact, y)| y * program.inequalities[*contact].1).sum();
    Some(LcpDiagnosis::Infeasible { weights, overlap: -sum * problem.step })
}

/// Branch and bound over the pairs: in each, z or the slack is zero.
struct Search<'a> {
    mixed: &'a MixedLcp,
    program: LinearProgram,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Open,
    ZeroMultiplier,
    ZeroSlack,
}

impl<'a> Search<'a> {
    fn new(mixed: &'a MixedLcp) -> Self {
        let free = mixed.free.len();
        let unknowns = free + mixed.pairs.len();
        let mut inequalities: Vec<_> = mixed.pairs.iter().map(|pair| (pair.row.clone(), pair.constant)).collect();
        for z in free..unknowns {
            let mut row = vec![0.0; unknowns];
            row[z] = 1.0;
            inequalities.push((row, 0.0));
        }
        let program = LinearProgram { unknowns, equalities: mixed.balances.clone(), inequalities };
        Self { mixed, program }
    }

    /// The largest objective . x over all solutions; `None` if there is no solution.
    fn largest(&self, objective: &[f64]) -> Result<Option<f64>, QuasistaticError> {
        let mut best = None;
        let mut nodes = 0;
        let mut stack = vec![vec![Side::Open; self.mixed.pairs.len()]];
        while let Some(sides) = stack.pop() {
            nodes += 1;
            if nodes > NODES_MAX {
                return Err(QuasistaticError::NotConverged {
                    iterations: nodes,
                    residual: f64::INFINITY,
                    status: "too many contact modes for an exhaustive diagnosis".to_owned(),
                });
            }
            let branch = match self.relax(&sides, objective) {
                LinearResult::Optimal { value, x } => {
                    if best.is_some_and(|best| value <= best + WIDTH * 1e-2) {
                        continue;
                    }
                    match self.violated(&sides, &x) {
                        Some(pair) => pair,
                        None => {
                            best = Some(value);
                            continue;
                        }
                    }
                }
                // An unbounded direction does not imply that a feasible point exists.
                LinearResult::Unbounded if !self.is_feasible(&sides) => continue,
                LinearResult::Unbounded => match sides.iter().position(|side| *side == Side::Open) {
                    Some(pair) => pair,
                    None => return Ok(Some(f64::INFINITY)),
                },
                LinearResult::Infeasible { .. } => continue,
                LinearResult::Failed { status } => {
                    return Err(QuasistaticError::NotConverged {
                        iterations: nodes,
                        residual: f64::INFINITY,
                        status: format!("a linear program of the diagnosis ended with {status}"),
                    });
                }
            };
            for side in [Side::ZeroMultiplier, Side::ZeroSlack] {
                let mut child = sides.clone();
                child[branch] = side;
                stack.push(child);
            }
        }
        Ok(best)
    }

    fn is_feasible(&self, sides: &[Side]) -> bool {
        let nothing = vec![0.0; self.program.unknowns];
        matches!(self.relax(sides, &nothing), LinearResult::Optimal { .. })
    }

    fn relax(&self, sides: &[Side], objective: &[f64]) -> LinearResult {
        let free = self.mixed.free.len();
        let mut program = self.program.clone();
        for (index, (side, pair)) in sides.iter().zip(&self.mixed.pairs).enumerate() {
            match side {
                Side::Open => {}
                Side::ZeroMultiplier => {
                    let mut row = vec![0.0; program.unknowns];
                    row[free + index] = 1.0;
                    program.equalities.push((row, 0.0));
                }
                Side::ZeroSlack => program.equalities.push((pair.row.clone(), pair.constant)),
            }
        }
        program.maximize(objective)
    }

    /// The open pair with the largest violation of complementarity at x.
    fn violated(&self, sides: &[Side], x: &[f64]) -> Option<usize> {
        let free = self.mixed.free.len();
        let mut worst = (COMPLEMENTARY, None);
        for (index, pair) in self.mixed.pairs.iter().enumerate().filter(|(index, _)| sides[*index] == Side::Open) {
            let slack = pair.constant + pair.row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            let violation = slack.abs().min(x[free + index].abs());
            if violation > worst.0 {
                worst = (violation, Some(index));
            }
        }
        worst.1
    }
}
