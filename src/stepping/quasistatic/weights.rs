//! The weights that joints carry at the end of a quasistatic step. A step is solved with the weights of its
//! start first, and again with those of the end of the last solution, until they agree.
//!
//! The torque of a weight changes as its joint turns. Joints with a stiffness of their own, from an actuator
//! or a spring, and those of scenes with loop closures end the step in balance with the weights there. The
//! steps of other passive joints towards their lowest point need not settle: the stiffness of their weight
//! acts about the start.

use super::failure::Failure;
use super::impedances::{Impedances, InertiaLaw};
use super::step::QuasistaticStep;
use crate::multibody::{Data, Model, bias, integrate, positions};
use crate::solvers::quasistatic::{ProblemDirection, QuasistaticProblem};
use crate::stepping::input::StepInput;
use crate::stepping::settings::QuasistaticStepping;

/// A change below this is rounding, in N or N m.
const ROUNDING: f64 = 1e-12;
/// The change of a velocity times the step for differences of weights \[rad\] or \[m\].
const INCREMENT: f64 = 1e-5;

/// Writes the weights at the end of a step of `h` \[s\] from `q` with the velocities `v` to `weights`, where
/// they follow the motion; elsewhere they are those of the `start` [N m] or \[N\]. The stiffness of a weight
/// in Q is added, so that it has no effect. `q` becomes the end, and `data` is memory.
pub(super) fn weights_at_end(
    (model, impedances, start): (&Model, &Impedances, &[f64]),
    (v, h): (&[f64], f64),
    (q, data): (&mut [f64], &mut Data),
    weights: &mut Vec<f64>,
) {
    integrate(model, q, v, h);
    positions(model, q, data);
    bias(model, data);
    weights.clear();
    let each = impedances.follows().iter().zip(impedances.weights()).zip(v);
    weights.extend(
        each.zip(data.gravity.iter().zip(start)).map(
            |(((follows, stiffness), v), (there, here))| {
                if *follows { there + h * stiffness * v } else { *here }
            },
        ),
    );
}

impl QuasistaticStep {
    /// Takes the weights at the end of the solution `v` for the next one. Returns whether they hardly change.
    pub(super) fn weigh_again(&mut self, input: &StepInput<'_>, options: &QuasistaticStepping, v: &[f64]) -> bool {
        let Self { impedances, start, closed, q, weights, weights_at_start, .. } = self;
        let model = input.scene.model();
        self.unweighed = None;
        if !impedances.follows().contains(&true) {
            return true;
        }
        q.copy_from_slice(&input.start.state.q);
        let at_start = (model, &*impedances, weights_at_start.as_slice());
        weights_at_end(at_start, (v, self.problem.step), (q, closed), weights);
        let largest = weights_at_start.iter().fold(0.0_f64, |largest, weight| largest.max(weight.abs()));
        let changes = weights.iter().zip(&start.gravity).map(|(there, here)| (there - here).abs());
        let most = changes.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let settled = self.weights_settled * largest + ROUNDING;
        let Some((dof, change)) = most.filter(|(_, change)| *change > settled) else { return true };
        self.unweighed = Some((dof, change));
        self.change_weights(input, options);
        false
    }

    /// Assembles the joints again with the new weights. Without pressure fields, whose motion is not linear,
    /// Anderson's method brings the weights closer to those of the end.
    fn change_weights(&mut self, input: &StepInput<'_>, options: &QuasistaticStepping) {
        let Self { weights, weights_change, start, weighing, .. } = self;
        if self.has_fields {
            start.gravity.copy_from_slice(weights);
        } else {
            for ((change, there), here) in weights_change.iter_mut().zip(&*weights).zip(&start.gravity) {
                *change = there - here;
            }
            weighing.add(&start.gravity, weights_change);
            weighing.move_by(weights_change);
            start.gravity.iter_mut().zip(&weighing.motion).for_each(|(weight, motion)| *weight += motion);
        }
        let held = self.holds;
        self.assemble_joints(input, options);
        if self.has_fields {
            self.hold_between_linearizations(input.scene, options.inertia);
            self.hold(held);
        }
    }

    /// Assembles the joints with the weights in `start`.
    pub(super) fn assemble_joints(&mut self, input: &StepInput<'_>, options: &QuasistaticStepping) {
        let StepInput { scene, settings, start, .. } = input;
        let Self { impedances, problem, .. } = self;
        problem.reset(scene.model().nv(), settings.step());
        let inertia = InertiaLaw { kind: options.inertia, parts: self.parts };
        impedances.assemble(scene, inertia, settings.stiction_tolerance, start, &self.start, problem);
    }

    /// The failure of a step whose weights still change.
    pub(super) fn check_weights(&self) -> Result<(), Failure> {
        match self.unweighed {
            Some((dof, excess)) => Err(Failure::Balance { dof, excess }),
            None => Ok(()),
        }
    }
}

/// The changes of a problem by those of the velocities with which its weights are found.
#[derive(Clone, Debug, Default)]
pub(super) struct WeightSlopes {
    /// (velocity, change of b, changes of the targets of rows), for each velocity on which weights depend.
    slopes: Vec<(usize, Vec<f64>, Vec<f64>)>,
}

impl WeightSlopes {
    pub(super) fn clear(&mut self) {
        self.slopes.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slopes.is_empty()
    }

    /// Finds the changes at the solution `v` of `step`. `problem` and `impedances` are memory.
    pub(super) fn find(
        &mut self,
        (input, options): (&StepInput<'_>, &QuasistaticStepping),
        step: &mut QuasistaticStep,
        v: &[f64],
        (problem, impedances): (&mut QuasistaticProblem, &mut Impedances),
    ) {
        self.slopes.clear();
        let (scene, h) = (input.scene, input.settings.step());
        let inertia = InertiaLaw { kind: options.inertia, parts: 1 };
        let (mut moved, here) = (v.to_vec(), step.start.gravity.clone());
        let mut sides: [(Vec<f64>, Vec<f64>); 2] = Default::default();
        for dof in 0..v.len() {
            for (sign, (linear, targets)) in [1.0, -1.0].into_iter().zip(&mut sides) {
                moved[dof] = v[dof] + sign * INCREMENT / h;
                step.q.copy_from_slice(&input.start.state.q);
                let at_start = (scene.model(), &step.impedances, step.weights_at_start.as_slice());
                weights_at_end(at_start, (&moved, h), (&mut step.q, &mut step.closed), &mut step.weights);
                step.start.gravity.copy_from_slice(&step.weights);
                problem.reset(v.len(), h);
                impedances.clone_from(&step.impedances);
                let stiction = input.settings.stiction_tolerance;
                impedances.assemble(scene, inertia, stiction, &input.start, &step.start, problem);
                linear.clone_from(&problem.linear);
                targets.clear();
                targets.extend(problem.rows.iter().map(|row| row.target));
            }
            moved[dof] = v[dof];
            let slope = |plus: &[f64], minus: &[f64]| {
                plus.iter().zip(minus).map(|(a, b)| (a - b) * h / (2.0 * INCREMENT)).collect::<Vec<f64>>()
            };
            let [plus, minus] = &sides;
            let (linear, targets) = (slope(&plus.0, &minus.0), slope(&plus.1, &minus.1));
            if linear.iter().chain(&targets).any(|slope| *slope != 0.0) {
                self.slopes.push((dof, linear, targets));
            }
        }
        step.start.gravity.copy_from_slice(&here);
    }

    /// Adds the changes with `dv` to those of `direction` without them.
    pub(super) fn add(&self, without: &ProblemDirection, dv: &[f64], direction: &mut ProblemDirection) {
        direction.linear.clone_from(&without.linear);
        direction.targets.clone_from(&without.targets);
        for (dof, linear, targets) in &self.slopes {
            direction.linear.iter_mut().zip(linear).for_each(|(to, slope)| *to += slope * dv[*dof]);
            direction.targets.iter_mut().zip(targets).for_each(|(to, slope)| *to += slope * dv[*dof]);
        }
    }
}
