//! The step with Coulomb's law as a linear complementarity problem, on a polyhedral cone [Pang & Tedrake
//! 2021, eqs. 1 and 6].
//!
//! For each contact, with rays d_j (impulses lambda_n, lambda_j; slip speed Gamma):
//!   0 <= lambda_n perp phi/h + n . v >= 0,   0 <= lambda_j perp Gamma + d_j . v >= 0,
//!   0 <= Gamma perp mu lambda_n - sum lambda_j >= 0,
//! and Q v - b = sum of impulses for every velocity that is not prescribed. Eq. 6 prescribes none (actuators
//! are impedances); eq. 1 prescribes those of the robot (perfect tracking). Unlike the convex program, the
//! complementarity problem has no boundary layer while sliding; it may have several solutions or none.

use super::interior_point::ray;
use super::lemke::{ComplementarityProblem, LemkeEnd};
use super::{QuasistaticError, QuasistaticProblem};
use crate::math::Vector3;

/// Limit of pivots per unknown; Lemke's path usually takes one or two.
const PIVOTS_PER_UNKNOWN: u32 = 50;
/// Velocities are shifted by this multiple of their estimated size to make them positive [-]. If the method
/// fails, the shift is the square of this multiple, and then its cube.
const SHIFT: f64 = 100.0;

/// The solution of Lemke's method.
#[derive(Clone, Debug)]
pub struct LcpSolution {
    /// v [m/s] or [rad/s].
    pub v: Vec<f64>,
    /// Impulse on B of each contact in (n, t1, t2) [N s].
    pub contacts: Vec<Vector3>,
    /// Impulse of each bound [N s] or [N m s].
    pub bounds: Vec<f64>,
    /// Gamma of each contact: its slip speed [m/s].
    pub slip_speeds: Vec<f64>,
    /// Number of pivots.
    pub pivots: u32,
    /// Largest min(|z|, |w|) over all pairs, and largest imbalance of a velocity, in the units of the
    /// problem.
    pub residual: f64,
}

/// A pair 0 <= z perp constant + row . x >= 0.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) row: Vec<f64>,
    pub(super) constant: f64,
}

/// The mixed problem: unknowns x = (velocities that are not prescribed, z); balance . x + constant = 0 for
/// each velocity, and a pair for each z.
#[derive(Clone, Debug)]
pub(super) struct MixedLcp {
    /// The velocities that are not prescribed.
    pub(super) free: Vec<usize>,
    pub(super) balances: Vec<(Vec<f64>, f64)>,
    pub(super) pairs: Vec<Pair>,
    /// First pair of each contact, whose pairs are lambda_n, lambda_j, Gamma.
    pub(super) contacts: Vec<usize>,
    /// Pairs of each bound: lower and upper.
    bounds: Vec<(Option<usize>, Option<usize>)>,
    pub(super) rays: u32,
}

impl MixedLcp {
    /// States `problem` with `rays` rays and the velocities of `tracking` prescribed.
    pub(super) fn new(
        problem: &QuasistaticProblem,
        rays: u32,
        tracking: &[(u32, f64)],
    ) -> Result<Self, QuasistaticError> {
        if rays < 2 {
            return Err(QuasistaticError::Rays { rays });
        }
        if !problem.rows.is_empty() || !problem.patches().is_empty() {
            return Err(QuasistaticError::NotForLemke);
        }
        let n = problem.size();
        let mut prescribed = vec![None; n];
        for (dof, speed) in tracking {
            prescribed[*dof as usize] = Some(*speed);
        }
        let free: Vec<usize> = (0..n).filter(|dof| prescribed[*dof].is_none()).collect();
        let mut index_of = vec![None; n];
        for (index, dof) in free.iter().enumerate() {
            index_of[*dof] = Some(index);
        }
        let bound_pairs: usize = (problem.bounds.iter())
            .map(|bound| usize::from(bound.lower.is_finite()) + usize::from(bound.upper.is_finite()))
            .sum();
        let unknowns = free.len() + problem.contacts().len() * (rays as usize + 2) + bound_pairs;
        let mut mixed =
            Self { free, balances: Vec::new(), pairs: Vec::new(), contacts: Vec::new(), bounds: Vec::new(), rays };
        for dof in &mixed.free {
            let mut row = vec![0.0; unknowns];
            let mut constant = -problem.linear[*dof];
            for other in 0..n {
                let q = problem.quadratic[dof * n + other];
                match (index_of[other], prescribed[other]) {
                    (Some(index), _) => row[index] = q,
                    (None, Some(speed)) => constant += q * speed,
                    (None, None) => {}
                }
            }
            mixed.balances.push((row, constant));
        }
        mixed.state_contacts(problem, &index_of, &prescribed, unknowns);
        mixed.state_bounds(problem, &index_of, unknowns);
        Ok(mixed)
    }

    /// Adds a pair with slack constant + sum of terms . v, whose z acts on the same terms.
    fn add_pair(
        &mut self,
        unknowns: usize,
        constant: f64,
        terms: impl Iterator<Item = (usize, f64)>,
        index_of: &[Option<usize>],
        prescribed: &[Option<f64>],
    ) -> usize {
        let mut pair = Pair { row: vec![0.0; unknowns], constant };
        let z = self.free.len() + self.pairs.len();
        for (dof, c) in terms {
            if let Some(index) = index_of[dof] {
                pair.row[index] += c;
                self.balances[index].0[z] -= c;
            }
            pair.constant += c * prescribed[dof].unwrap_or(0.0);
        }
        self.pairs.push(pair);
        self.pairs.len() - 1
    }

    fn state_contacts(
        &mut self,
        problem: &QuasistaticProblem,
        index_of: &[Option<usize>],
        prescribed: &[Option<f64>],
        unknowns: usize,
    ) {
        for contact in problem.contacts() {
            let columns = problem.columns(contact);
            let along = |u: Vector3| columns.iter().map(move |(dof, column)| (*dof as usize, u.dot(column)));
            let normal = self.add_pair(unknowns, contact.gap_rate, along(Vector3::x()), index_of, prescribed);
            self.contacts.push(normal);
            let slip = self.free.len() + normal + self.rays as usize + 1;
            for j in 0..self.rays {
                let d = ray(1.0, j, self.rays) - Vector3::x();
                let pair = self.add_pair(unknowns, d.dot(&contact.offset()), along(d), index_of, prescribed);
                self.pairs[pair].row[slip] = 1.0;
            }
            let pair = self.add_pair(unknowns, 0.0, std::iter::empty(), index_of, prescribed);
            let row = &mut self.pairs[pair].row;
            row[self.free.len() + normal] = contact.friction;
            row[self.free.len() + normal + 1..slip].fill(-1.0);
        }
    }

    fn state_bounds(&mut self, problem: &QuasistaticProblem, index_of: &[Option<usize>], unknowns: usize) {
        let nothing = vec![None; index_of.len()];
        for bound in &problem.bounds {
            let dof = bound.dof as usize;
            let is_free = index_of[dof].is_some();
            let mut add = |limit: f64, sign: f64| {
                (limit.is_finite() && is_free)
                    .then(|| self.add_pair(unknowns, -sign * limit, std::iter::once((dof, sign)), index_of, &nothing))
            };
            let pairs = (add(bound.lower, 1.0), add(bound.upper, -1.0));
            self.bounds.push(pairs);
        }
        // Prescribed velocities have no bound; their reserved columns stay out of the rows.
        let used = self.free.len() + self.pairs.len();
        for (row, _) in &mut self.balances {
            row.truncate(used);
        }
        for pair in &mut self.pairs {
            pair.row.truncate(used);
        }
    }

    /// This problem as a linear complementarity problem, with v + shift >= 0 in place of the velocities v.
    fn shifted(&self, shift: f64) -> ComplementarityProblem {
        let free = self.free.len();
        let mut lcp = ComplementarityProblem::new(free + self.pairs.len());
        let rows = self.balances.iter().map(|(row, constant)| (row, *constant));
        for (i, (row, constant)) in rows.chain(self.pairs.iter().map(|pair| (&pair.row, pair.constant))).enumerate() {
            lcp.matrix[i * lcp.size..(i + 1) * lcp.size].copy_from_slice(row);
            lcp.constant[i] = constant - shift * row[..free].iter().sum::<f64>();
        }
        lcp
    }

    /// The impulse (n, t1, t2) of a contact from x.
    pub(super) fn impulse(&self, contact: usize, x: &[f64]) -> Vector3 {
        let z = &x[self.free.len() + self.contacts[contact]..];
        let mut gamma = Vector3::new(z[0], 0.0, 0.0);
        for j in 0..self.rays {
            gamma += (ray(1.0, j, self.rays) - Vector3::x()) * z[1 + j as usize];
        }
        gamma
    }
}

/// Solves eq. 6 (no `tracking`) or eq. 1 (the velocities of `tracking` are prescribed) by Lemke's method.
///
/// # Errors
/// Fewer than two rays; rows or patches, which have no such form; no solution on Lemke's path:
/// [`super::diagnose_lcp`] finds the reason.
pub fn solve_lcp(
    problem: &QuasistaticProblem,
    rays: u32,
    tracking: &[(u32, f64)],
) -> Result<LcpSolution, QuasistaticError> {
    let mixed = MixedLcp::new(problem, rays, tracking)?;
    let free = mixed.free.len();
    let natural = natural_speed(problem);
    let mut pivots = 0;
    let mut status = "no velocity solves the complementarity problem";
    for power in 1..=3 {
        let shift = natural * SHIFT.powi(power);
        let lcp = mixed.shifted(shift);
        let limit = PIVOTS_PER_UNKNOWN * lcp.size as u32;
        let (end, taken) = lcp.solve(limit);
        pivots += taken;
        match end {
            LemkeEnd::Solved(mut z) if z[..free].iter().all(|u| *u > 0.0) => {
                let w = lcp.slack(&z);
                let residual = z.iter().zip(&w).map(|(z, w)| z.abs().min(w.abs())).fold(0.0, f64::max);
                z[..free].iter_mut().for_each(|u| *u -= shift);
                return Ok(read(problem, &mixed, tracking, &z, pivots, residual));
            }
            LemkeEnd::Solved(_) => status = "a velocity is unbounded: give it an impedance or a mass",
            LemkeEnd::Ray => status = "Lemke's path ends on a ray without a solution",
            LemkeEnd::PivotLimit => status = "the limit of pivots was reached",
        }
    }
    Err(QuasistaticError::NotConverged { iterations: pivots, residual: f64::INFINITY, status: status.to_owned() })
}

/// An estimate of the largest speed in a step.
fn natural_speed(problem: &QuasistaticProblem) -> f64 {
    let n = problem.size();
    let mut largest = 1.0_f64;
    for contact in problem.contacts() {
        largest = largest.max(contact.gap_rate.abs());
    }
    for (i, b) in problem.linear.iter().enumerate() {
        let q = problem.quadratic[i * n + i];
        if q > 0.0 {
            largest = largest.max((b / q).abs());
        }
    }
    largest
}

fn read(
    problem: &QuasistaticProblem,
    mixed: &MixedLcp,
    tracking: &[(u32, f64)],
    x: &[f64],
    pivots: u32,
    residual: f64,
) -> LcpSolution {
    let mut v = vec![0.0; problem.size()];
    for (dof, speed) in tracking {
        v[*dof as usize] = *speed;
    }
    for (index, dof) in mixed.free.iter().enumerate() {
        v[*dof] = x[index];
    }
    let z = &x[mixed.free.len()..];
    let contacts = (0..problem.contacts().len()).map(|contact| mixed.impulse(contact, x)).collect();
    let slip_speeds = mixed.contacts.iter().map(|first| z[first + mixed.rays as usize + 1]).collect();
    let bounds =
        (mixed.bounds.iter()).map(|(lower, upper)| lower.map_or(0.0, |i| z[i]) - upper.map_or(0.0, |i| z[i])).collect();
    LcpSolution { v, contacts, bounds, slip_speeds, pivots, residual }
}
