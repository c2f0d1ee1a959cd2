//! The loads of the end of a step in its derivatives: the changes of its program by the velocities with which
//! the loads are found, as far as the model of the loads does not have them.

use super::impedances::{Impedances, InertiaLaw};
use super::step::QuasistaticStep;
use super::weight_model::Loads;
use super::weights::motion;
use crate::solvers::quasistatic::{ProblemDirection, QuasistaticProblem};
use crate::stepping::input::{StepInput, StepStart};
use crate::stepping::settings::QuasistaticStepping;

/// The change of a velocity times the step for differences of loads \[rad\] or \[m\].
const INCREMENT: f64 = 1e-5;

/// The changes of a problem by those of the velocities with which its loads are found.
#[derive(Clone, Debug, Default)]
pub(super) struct WeightSlopes {
    /// (velocity, change of b, changes of the targets of rows), for each velocity on which loads depend.
    slopes: Vec<(usize, Vec<f64>, Vec<f64>)>,
    /// 1/(1 - softening) of each row [-].
    scales: Vec<f64>,
}

impl WeightSlopes {
    pub(super) fn clear(&mut self) {
        self.slopes.clear();
        self.scales.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slopes.is_empty() && self.scales.iter().all(|scale| *scale == 1.0)
    }

    /// Finds the changes at the solution `v` of `step`, less those of the model of its loads. `problem` and
    /// `impedances` are memory.
    pub(super) fn find(
        &mut self,
        (input, options): (&StepInput<'_>, &QuasistaticStepping),
        step: &mut QuasistaticStep,
        v: &[f64],
        (problem, impedances): (&mut QuasistaticProblem, &mut Impedances),
    ) {
        self.slopes.clear();
        let (scene, h, n) = (input.scene, input.settings.step(), v.len());
        let inertia = InertiaLaw { kind: options.inertia, parts: 1 };
        let (mut moved, here) = (v.to_vec(), step.start.gravity.clone());
        let mut sides: [(Vec<f64>, Vec<f64>); 2] = Default::default();
        let mut loads = Loads::default();
        let follows = step.impedances.follows().to_vec();
        self.scales.clear();
        self.scales.resize(step.problem.rows.len(), 1.0);
        for (drive, soft) in step.impedances.drives().zip(&step.weights.softening) {
            if let Some(scale) = drive.row.and_then(|row| self.scales.get_mut(row)) {
                *scale = 1.0 / (1.0 - soft);
            }
        }
        for dof in 0..n {
            for (sign, (linear, targets)) in [1.0, -1.0].into_iter().zip(&mut sides) {
                moved[dof] = v[dof] + sign * INCREMENT / h;
                let memory = (step.q.as_mut_slice(), &mut step.closed, &mut step.weights.columns);
                loads.at_end(motion(input), (&moved, &follows), &step.weights.at_start, memory);
                step.start.gravity.copy_from_slice(&loads.gravity);
                problem.reset(n, h);
                impedances.clone_from(&step.impedances);
                let stiction = input.settings.stiction_tolerance;
                let start = StepStart { external: &loads.external, ..input.start };
                impedances.assemble(scene, inertia, stiction, &start, &step.start, problem);
                linear.clone_from(&problem.linear);
                targets.clear();
                targets.extend(problem.rows.iter().map(|row| row.target));
            }
            moved[dof] = v[dof];
            let slope = |plus: &[f64], minus: &[f64]| {
                plus.iter().zip(minus).map(|(a, b)| (a - b) * h / (2.0 * INCREMENT)).collect::<Vec<f64>>()
            };
            let [plus, minus] = &sides;
            let (mut linear, mut targets) = (slope(&plus.0, &minus.0), slope(&plus.1, &minus.1));
            step.weights.leave_out(dof, h, &mut linear);
            for ((target, scale), row) in targets.iter_mut().zip(&self.scales).zip(&problem.rows) {
                let softened = if row.dof as usize == dof { (1.0 - 1.0 / scale) * row.coefficient } else { 0.0 };
                *target = (*target - softened) * scale;
            }
            if linear.iter().chain(&targets).any(|slope| *slope != 0.0) {
                self.slopes.push((dof, linear, targets));
            }
        }
        step.start.gravity.copy_from_slice(&here);
    }

    /// Adds the changes with `dv` to those of `direction` without them.
    pub(super) fn add(&self, without: &ProblemDirection, dv: &[f64], direction: &mut ProblemDirection) {
        direction.linear.clone_from(&without.linear);
        direction.targets.clear();
        direction.targets.extend(without.targets.iter().zip(&self.scales).map(|(target, scale)| target * scale));
        for (dof, linear, targets) in &self.slopes {
            direction.linear.iter_mut().zip(linear).for_each(|(to, slope)| *to += slope * dv[*dof]);
            direction.targets.iter_mut().zip(targets).for_each(|(to, slope)| *to += slope * dv[*dof]);
        }
    }
}
