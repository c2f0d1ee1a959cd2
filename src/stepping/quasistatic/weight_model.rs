//! A convex model of the loads that joints with a stiffness carry where a step ends: weights and external
//! wrenches.
//!
//! About a centre, which is an earlier solution, the loads are l_c - W (x - x_c) for displacements x = h v. W
//! is minus their derivative H, plus a shift where the joints would be unstable with it. The shift acts along
//! the contacts that hold them, if that suffices: these directions do not move. A limited actuator
//! is a row of the program, outside Q. Where W alone is not positive, the actuators with rows are softened by
//! a fraction of their stiffness, and W has this stiffness in addition: within the limits of effort the sum
//! is the same.

use super::impedances::{Drive, Impedances};
use crate::math::dense::cholesky_in_place;
use crate::math::{BodyIndex, IndexVec, SpatialForce, Vector3, Vector6};
use crate::multibody::{Data, Model, gravity, integrate, positions, weight_hessian, weight_stiffness};
use crate::solvers::quasistatic::QuasistaticProblem;
use crate::stepping::external::project;

/// The least stiffness of joints with their loads, relative to that without and the largest of the loads [-].
const LEAST: f64 = 1e-3;
/// The same for the part that is in Q.
const LEAST_IN_Q: f64 = 1e-4;
/// The first shift, relative to the largest stiffness of the loads [-].
const SHIFT: f64 = 0.05;
/// A shift beyond this is more than any load needs [-].
const SHIFT_MAX: f64 = 1e6;
/// Actuators with rows keep this fraction of their stiffness at least [-].
const SOFTEST: f64 = 1.0 / 4096.0;
/// The stiffness along contacts that hold the joints, where they would be unstable without, relative to the
/// largest of the loads [-].
const FIRM: [f64; 4] = [0.0, 4.0, 32.0, 256.0];
/// The rounding of an effort, relative to that of its position without motion [-].
const ROUNDING: f64 = 1e-14;
/// A joint is at a limit within this distance \[rad\] or \[m\].
const AT_LIMIT: f64 = 1e-6;
/// A point whose friction is below this fraction of its bound sticks [-].
const STICKING: f64 = 0.999;
/// Displacements for differences of external wrenches \[rad\] or \[m\].
const INCREMENT: f64 = 1e-6;

/// The motion of a step.
#[derive(Clone, Copy)]
pub(super) struct Motion<'a> {
    pub(super) model: &'a Model,
    /// The coordinates where it starts.
    pub(super) q: &'a [f64],
    pub(super) wrenches: &'a IndexVec<BodyIndex, SpatialForce>,
    /// Step h \[s\].
    pub(super) h: f64,
}

/// Gravity and the external wrenches, by degree of freedom [N m] or \[N\].
#[derive(Debug, Default)]
pub(super) struct Loads {
    pub(super) gravity: Vec<f64>,
    pub(super) external: Vec<f64>,
}

impl Clone for Loads {
    fn clone(&self) -> Self {
        Self { gravity: self.gravity.clone(), external: self.external.clone() }
    }
    /// Reuses the memory.
    fn clone_from(&mut self, source: &Self) {
        self.gravity.clone_from(&source.gravity);
        self.external.clone_from(&source.external);
    }
}

impl Loads {
    /// Computes the loads at the end of `motion` with the velocities `v` along the degrees of freedom that
    /// `follows` marks; elsewhere they are those of `start`. `data` has the poses of the end then.
    pub(super) fn at_end(
        &mut self,
        motion: Motion<'_>,
        (v, follows): (&[f64], &[bool]),
        start: &Self,
        (q, data, columns): (&mut [f64], &mut Data, &mut Vec<Vector6>),
    ) {
        let Motion { model, wrenches, h, .. } = motion;
        q.copy_from_slice(motion.q);
        integrate(model, q, v, h);
        positions(model, q, data);
        gravity(model, data);
        self.gravity.clone_from(&start.gravity);
        self.external.clone_from(&start.external);
        let loaded = wrenches.iter().any(|F| *F != SpatialForce::ZERO);
        if loaded {
            columns.resize(model.nv(), Vector6::zeros());
            project(model, data, wrenches, columns, &mut self.external);
        }
        for (dof, follows) in follows.iter().enumerate() {
            if *follows {
                self.gravity[dof] = data.gravity[dof];
            } else {
                self.external[dof] = start.external[dof];
            }
        }
    }
}

/// The model, and the iteration that finds its centre.
#[derive(Clone, Debug, Default)]
pub(super) struct WeightModel {
    /// The degrees of freedom whose loads follow the motion, and the place of each in this list.
    pub(super) dofs: Vec<usize>,
    places: Vec<Option<usize>>,
    /// Whether trees with such joints have other degrees of freedom, too.
    pub(super) has_others: bool,
    /// The velocities of the centre.
    pub(super) center: Vec<f64>,
    pub(super) at_start: Loads,
    pub(super) at_center: Loads,
    pub(super) at_end: Loads,
    /// The forces that the model misses at the end, by degree of freedom [N m] or \[N\].
    pub(super) errors: Vec<f64>,
    /// Minus the derivative of the loads at the centre, by place; row-major.
    hessian: Vec<f64>,
    /// The directions along which contacts and limits hold the joints at the centre, by place, one after the
    /// other; the sum of their squares, each of the size of the largest stiffness; and its factor in W [-].
    pub(super) normals: Vec<f64>,
    held: Vec<f64>,
    firm: f64,
    /// Their largest stiffness, by degree of freedom.
    largest: Vec<f64>,
    /// W.
    pub(super) stiffness: Vec<f64>,
    factor: Vec<f64>,
    /// The stiffness of actuators with rows below their limits, by place.
    in_rows: Vec<f64>,
    /// The fraction of the stiffness by which the actuators with rows are softened, by joint [-].
    pub(super) softening: Vec<f64>,
    /// The sizes of the weights of joints, and the rounding of their efforts, by degree of freedom [N m] or
    /// \[N\].
    sizes: Vec<f64>,
    rounding: Vec<f64>,
    /// The shift, relative to the largest stiffness of the loads [-].
    pub(super) shift: f64,
    /// Whether the model is that of the start: constant loads.
    pub(super) is_constant: bool,
    /// Whether the loads of the start act in the whole step.
    pub(super) is_behind: bool,
    /// Memory.
    pub(super) columns: Vec<Vector6>,
    sides: [Loads; 2],
    moved: Vec<f64>,
}

impl WeightModel {
    /// Starts with constant loads about the start of the step, where the loads are those in `at_start`.
    pub(super) fn start(&mut self, (model, data): (&Model, &Data), impedances: &Impedances, has_loads: bool) {
        let follows = impedances.follows();
        self.dofs.clear();
        if has_loads && !self.is_behind {
            self.dofs.extend((0..follows.len()).filter(|dof| follows[*dof]));
        }
        self.places.clear();
        self.places.resize(follows.len(), None);
        for (place, dof) in self.dofs.iter().enumerate() {
            self.places[*dof] = Some(place);
        }
        let mixed = |tree: &std::ops::Range<usize>| {
            let count = tree.clone().filter(|dof| self.places[*dof].is_some()).count();
            count > 0 && count < tree.len()
        };
        self.has_others = model.trees().iter().any(mixed);
        self.center.clear();
        self.center.resize(follows.len(), 0.0);
        self.errors.clear();
        self.errors.resize(follows.len(), 0.0);
        self.sizes.clear();
        self.sizes.resize(follows.len(), 0.0);
        self.rounding.clear();
        self.rounding.resize(follows.len(), 0.0);
        let places = &self.places;
        weight_stiffness(model, data, |dof| places[dof].is_some(), &mut self.sizes);
        for drive in impedances.drives() {
            self.rounding[drive.dof] += ROUNDING * (drive.ratio * drive.at_rest).abs();
        }
        (self.shift, self.is_constant) = (0.0, true);
        self.normals.clear();
        self.softening.clear();
        self.softening.resize(impedances.drives().count(), 0.0);
        let size = self.dofs.len();
        self.stiffness.clear();
        self.stiffness.resize(size * size, 0.0);
        for (place, dof) in self.dofs.iter().enumerate() {
            self.stiffness[place * (size + 1)] = impedances.weights()[*dof];
        }
    }

    /// The actuators with their fractions of softening.
    fn drives<'a>(&'a self, impedances: &'a Impedances) -> impl Iterator<Item = (Drive, f64)> + 'a {
        let follows = impedances.drives().zip(&self.softening);
        follows.filter(|(drive, _)| self.places[drive.dof].is_some()).map(|(drive, soft)| (drive, *soft))
    }

    /// The joint whose error is largest relative to `settled` of its own load, and the error, if it is not
    /// smaller than that or than rounding [N m] or \[N\]. A heavy joint does not loosen a light one.
    pub(super) fn unsettled(&self, settled: f64, rounding: f64) -> Option<(usize, f64)> {
        let size = |loads: &Loads, dof: usize| loads.gravity[dof].abs().max(loads.external[dof].abs());
        let ratio = |dof: usize| {
            let load = size(&self.at_start, dof).max(size(&self.at_center, dof)).max(self.sizes[dof]);
            self.errors[dof].abs() / (settled * load + rounding + self.rounding[dof])
        };
        let ratios = self.dofs.iter().map(|dof| (*dof, ratio(*dof)));
        let (dof, ratio) = ratios.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (ratio > 1.0 || ratio.is_nan()).then_some((dof, self.errors[dof].abs()))
    }

    /// The joint whose error is largest, and the error [N m] or \[N\].
    pub(super) fn largest_error(&self) -> Option<(usize, f64)> {
        let errors = self.dofs.iter().map(|dof| (*dof, self.errors[*dof].abs()));
        errors.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Computes the loads at the end of the motion with the velocities `v`, and the errors of the model's
    /// forces there.
    pub(super) fn find_errors(
        &mut self,
        motion: Motion<'_>,
        impedances: &Impedances,
        v: &[f64],
        (q, data): (&mut [f64], &mut Data),
    ) {
        let mut end = std::mem::take(&mut self.at_end);
        end.at_end(motion, (v, impedances.follows()), &self.at_start, (q, data, &mut self.columns));
        let mut errors = std::mem::take(&mut self.errors);
        let (size, here) = (self.dofs.len(), &self.at_center);
        for (row, dof) in self.dofs.iter().enumerate() {
            let weights = &self.stiffness[row * size..(row + 1) * size];
            let moved = weights.iter().zip(&self.dofs).map(|(w, dof)| w * motion.h * (v[*dof] - self.center[*dof]));
            let change = end.gravity[*dof] - here.gravity[*dof] + end.external[*dof] - here.external[*dof];
            errors[*dof] = change + moved.sum::<f64>();
        }
        for (drive, soft) in self.drives(impedances) {
            let dof = drive.dof;
            let change = if drive.compensates { here.gravity[dof] - end.gravity[dof] } else { 0.0 };
            let model = drive.softened(soft, self.center[dof]);
            errors[dof] += drive.ratio * (drive.effort(v[dof], change) - model.effort(v[dof], 0.0));
        }
        (self.at_end, self.errors) = (end, errors);
    }

    /// A part of the energy by which the solution `v` of the program is below the centre, at most \[J\]: the
    /// program is convex at least as Q and the actuators are.
    pub(super) fn gap(&self, problem: &QuasistaticProblem, impedances: &Impedances, v: &[f64], h: f64) -> f64 {
        let n = problem.size();
        let change = |dof: usize| v[dof] - self.center[dof];
        let row = |i: usize| self.dofs.iter().map(|j| problem.quadratic[i * n + j] * change(*j)).sum::<f64>();
        let quadratic = 0.5 * self.dofs.iter().map(|i| change(*i) * row(*i)).sum::<f64>();
        let of_rows = self.drives(impedances).filter(|(drive, _)| drive.row.is_some()).map(|(drive, soft)| {
            let (dof, model) = (drive.dof, drive.softened(soft, self.center[drive.dof]));
            let effort = |part: f64| model.effort(self.center[dof] + part * change(dof), 0.0);
            let lost = NODES.iter().map(|(part, weight)| weight * (effort(*part) - effort(1.0))).sum::<f64>();
            (lost * drive.ratio * h * change(dof)).max(0.0)
        });
        quadratic.max(0.0) + of_rows.sum::<f64>()
    }

    /// Finds the stiffness of the loads at the centre, whose poses are in `data`; `memory` is overwritten.
    pub(super) fn differentiate(
        &mut self,
        motion: Motion<'_>,
        impedances: &Impedances,
        data: &Data,
        (q, memory): (&mut [f64], &mut Data),
    ) {
        let (model, size) = (motion.model, self.dofs.len());
        let mut hessian = std::mem::take(&mut self.hessian);
        let mut weighs = std::mem::take(&mut self.moved);
        weighs.clear();
        weighs.resize(model.nv(), 0.0);
        self.dofs.iter().for_each(|dof| weighs[*dof] = 1.0);
        let compensated = self.drives(impedances).filter(|(drive, _)| drive.compensates);
        for (drive, _) in compensated.filter(|(drive, _)| drive.is_free(self.center[drive.dof])) {
            weighs[drive.dof] = 0.0;
        }
        let place = |dof: usize| self.places[dof].filter(|_| weighs[dof] > 0.0);
        weight_hessian(model, data, (place, size), &mut hessian);
        self.largest.clear();
        self.largest.resize(model.nv(), 0.0);
        weight_stiffness(model, data, |dof| weighs[dof] > 0.0, &mut self.largest);
        (self.hessian, self.moved) = (hessian, weighs);
        if motion.wrenches.iter().any(|F| *F != SpatialForce::ZERO) {
            self.differentiate_wrenches(motion, impedances, (q, memory));
        }
        let least = 1e-6 * self.largest.iter().fold(0.0_f64, |most, k| most.max(*k)) + 1e-9;
        self.largest.iter_mut().for_each(|k| *k += least);
    }

    /// Adds the symmetric part of the stiffness of external wrenches, from central differences.
    fn differentiate_wrenches(
        &mut self,
        motion: Motion<'_>,
        impedances: &Impedances,
        (q, data): (&mut [f64], &mut Data),
    ) {
        let size = self.dofs.len();
        let Self { dofs, sides, moved, center, at_start, columns, hessian, largest, .. } = self;
        moved.copy_from_slice(center);
        for (j, dof) in dofs.iter().enumerate() {
            for (sign, side) in [1.0, -1.0].into_iter().zip(sides.iter_mut()) {
                moved[*dof] = center[*dof] + sign * INCREMENT / motion.h;
                side.at_end(motion, (moved, impedances.follows()), at_start, (q, data, columns));
            }
            moved[*dof] = center[*dof];
            let [plus, minus] = &*sides;
            for (i, row) in dofs.iter().enumerate() {
                let half = -0.5 * (plus.external[*row] - minus.external[*row]) / (2.0 * INCREMENT);
                hessian[i * size + j] += half;
                hessian[j * size + i] += half;
                largest[*row] += half.abs();
                largest[*dof] += half.abs();
            }
        }
    }

    /// Finds W and the softening at the centre, for the joints as they are assembled in `problem` there.
    pub(super) fn build(&mut self, impedances: &Impedances, problem: &QuasistaticProblem) {
        let h = problem.step;
        self.is_constant = false;
        let mut in_rows = std::mem::take(&mut self.in_rows);
        in_rows.clear();
        in_rows.resize(self.dofs.len(), 0.0);
        for drive in impedances.drives().filter(|drive| drive.row.is_some()) {
            if let Some(place) = self.places[drive.dof].filter(|_| drive.is_free(self.center[drive.dof])) {
                in_rows[place] += drive.rate / h * drive.ratio * drive.ratio;
            }
        }
        self.in_rows = in_rows;
        self.find_held();
        let stable = FIRM.into_iter().any(|firm| {
            self.firm = firm;
            self.is_positive(impedances, problem, (1.0, LEAST))
        });
        if !stable {
            self.firm = FIRM[1];
        }
        while !self.is_positive(impedances, problem, (1.0, LEAST)) && self.shift < SHIFT_MAX {
            self.shift = (2.0 * self.shift).max(SHIFT);
        }
        let mut kept = 1.0;
        while kept > SOFTEST && !self.is_positive(impedances, problem, (1.0 - kept, LEAST_IN_Q)) {
            kept *= 0.5;
        }
        let soft = 1.0 - kept;
        for (softening, drive) in self.softening.iter_mut().zip(impedances.drives()) {
            let acts = drive.row.is_some() && self.places[drive.dof].is_some() && drive.is_free(self.center[drive.dof]);
            *softening = if acts { soft } else { 0.0 };
        }
        let size = self.dofs.len();
        self.stiffness.clone_from(&self.hessian);
        self.stiffness.iter_mut().zip(&self.held).for_each(|(w, held)| *w += self.firm * held);
        for (place, dof) in self.dofs.iter().enumerate() {
            self.stiffness[place * (size + 1)] += self.shift * self.largest[*dof] + soft * self.in_rows[place];
        }
        self.uncouple(problem);
    }

    /// Removes the coupling of joints with dry friction that are at a limit: they do not move, and friction,
    /// the
    /// limit and the coupling together are badly conditioned.
    fn uncouple(&mut self, problem: &QuasistaticProblem) {
        let size = self.dofs.len();
        for bound in &problem.bounds {
            let dof = bound.dof as usize;
            let Some(i) = self.places[dof] else { continue };
            let rows = problem.rows.iter().filter(|row| row.dof as usize == dof).count();
            let near = AT_LIMIT / problem.step;
            let v = self.center[dof];
            if rows == 0 || (v - bound.lower > near && bound.upper - v > near) {
                continue;
            }
            for j in (0..size).filter(|j| *j != i) {
                self.stiffness[i * size + j] = 0.0;
                self.stiffness[j * size + i] = 0.0;
            }
        }
    }

    /// Computes `held` = sum of n n^T/(n^T L^-1 n) over the normals n, with the largest stiffnesses L.
    fn find_held(&mut self) {
        let Self { dofs, normals, held, largest, .. } = self;
        let size = dofs.len();
        held.clear();
        held.resize(size * size, 0.0);
        for n in normals.chunks_exact(size.max(1)) {
            let scale: f64 = n.iter().zip(&*dofs).map(|(x, dof)| x * x / largest[*dof]).sum();
            for (i, a) in n.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                n.iter().enumerate().for_each(|(j, b)| held[i * size + j] += a * b / scale);
            }
        }
    }

    /// Finds the directions along which contacts and limits hold the joints in a solution with these
    /// impulses:
    /// motion along them would open a contact or go deeper, or move a point that sticks.
    pub(super) fn find_normals(&mut self, problem: &QuasistaticProblem, impulses: &[Vector3], bounds: &[f64]) {
        let Self { dofs, places, normals, .. } = self;
        normals.clear();
        for (contact, gamma) in problem.contacts().iter().zip(impulses).filter(|(_, gamma)| gamma.x > 0.0) {
            let sticks = contact.friction_bound.is_some_and(|bound| gamma.y.hypot(gamma.z) < STICKING * bound);
            for axis in 0..if sticks { 3 } else { 1 } {
                let start = normals.len();
                normals.resize(start + dofs.len(), 0.0);
                for (dof, column) in problem.columns(contact) {
                    if let Some(place) = places[*dof as usize] {
                        normals[start + place] = column[axis];
                    }
                }
                if normals[start..].iter().all(|x| *x == 0.0) {
                    normals.truncate(start);
                }
            }
        }
        for (bound, _) in problem.bounds.iter().zip(bounds).filter(|(_, impulse)| **impulse != 0.0) {
            if let Some(place) = places[bound.dof as usize] {
                let start = normals.len();
                normals.resize(start + dofs.len(), 0.0);
                normals[start + place] = 1.0;
            }
        }
    }

    /// Whether the joints are stable with the loads, of which `soft` of the stiffness in rows counts: stiffer
    /// than the fraction `least` of their own stiffness and the largest of the loads.
    fn is_positive(
        &mut self,
        impedances: &Impedances,
        problem: &QuasistaticProblem,
        (soft, least): (f64, f64),
    ) -> bool {
        let (n, size, squared) = (problem.size(), self.dofs.len(), problem.step * problem.step);
        self.factor.clone_from(&self.hessian);
        self.factor.iter_mut().zip(&self.held).for_each(|(a, held)| *a += self.firm * held);
        for (i, row) in self.dofs.iter().enumerate() {
            for (j, column) in self.dofs.iter().enumerate() {
                self.factor[i * size + j] += problem.quadratic[row * n + column] / squared;
            }
            let (in_row, largest) = (self.in_rows[i], self.largest[*row]);
            self.factor[i * (size + 1)] +=
                self.shift * largest - impedances.weights()[*row] + soft * in_row - least * (in_row + largest);
        }
        cholesky_in_place(&mut self.factor, size).is_ok()
    }

    /// Adds the model to a problem whose joints are assembled with the loads of the centre.
    pub(super) fn apply(&self, impedances: &Impedances, problem: &mut QuasistaticProblem) {
        let (n, h, size) = (problem.size(), problem.step, self.dofs.len());
        for (i, row) in self.dofs.iter().enumerate() {
            for (j, column) in self.dofs.iter().enumerate() {
                let w = self.stiffness[i * size + j];
                problem.linear[*row] += h * h * w * self.center[*column];
                problem.quadratic[row * n + column] += h * h * w;
            }
            problem.quadratic[row * (n + 1)] -= h * h * impedances.weights()[*row];
        }
        for (drive, soft) in self.drives(impedances).filter(|(_, soft)| *soft > 0.0) {
            let model = drive.softened(soft, self.center[drive.dof]);
            if let Some(row) = drive.row.and_then(|row| problem.rows.get_mut(row)) {
                row.target = model.at_rest / model.rate;
                row.regularization = 1.0 / (h * model.rate);
            }
        }
    }

    /// Adds to `linear`, the changes of b by the velocity `dof`, those that the model has in Q.
    pub(super) fn leave_out(&self, dof: usize, h: f64, linear: &mut [f64]) {
        let Some(column) = self.places[dof] else { return };
        for (place, row) in self.dofs.iter().enumerate() {
            linear[*row] += h * h * self.stiffness[place * self.dofs.len() + column];
        }
    }

    /// Takes the end with the velocities `v` as the next centre.
    pub(super) fn recentre(&mut self, v: &[f64]) {
        self.center.copy_from_slice(v);
        self.at_center.clone_from(&self.at_end);
    }
}

/// Nodes and weights of Gauss's rule on 0 to 1 \[-\].
pub(super) const NODES: [(f64, f64); 3] =
    [(0.112_701_665_379_258_3, 5.0 / 18.0), (0.5, 4.0 / 9.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];
