//! The iterative linear-quadratic regulator on smoothed quasistatic steps [Li & Todorov 2004; Suh, Pang &
//! Tedrake 2022]: a rollout with its derivatives, a quadratic model of the cost to go from the last step to
//! the first, and a new rollout with the feedback of the model.
//!
//! The control of a step is u = q_cmd - q_a, the command relative to the present positions of the driven
//! joints. With S, which selects these from q,  dq+ = (A + B S) dq + B du.

use nalgebra::{DMatrix, DVector};

use crate::math::{Index, ScalarJointIndex};
use crate::multibody::{Model, displacement};
use crate::stepping::{DerivativeError, JointCommand, JointTarget, Simulation, SmoothedRollout};

/// Lengths of a step along the change of the controls, tried one after the other [-].
const LENGTHS: [f64; 6] = [1.0, 0.5, 0.25, 0.1, 0.03, 0.01];
/// The plan has converged when an iteration reduces its cost by less than this [-].
const CHANGE: f64 = 1e-4;
/// The weight on changes of the controls relative to their own, and its factor after a failure [-].
const DAMPING: (f64, f64) = (1e-3, 10.0);
/// The largest damping [-].
const DAMPING_MAX: f64 = 1e4;

/// The wanted motion and its weights.
#[derive(Clone, Debug)]
pub struct PlanCost {
    /// The wanted configuration at the end of each step.
    pub reference: Vec<Vec<f64>>,
    /// Weights of the squares of its errors, by generalized velocity [1/m2 or 1/rad2].
    pub weights: Vec<f64>,
    /// The factor of the weights at the last step [-].
    pub last: f64,
    /// Weight of the squares of the controls [1/m2 or 1/rad2].
    pub control: f64,
}

/// A plan: commands and the smoothed motion that they lead to.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The command of each step.
    pub commands: Vec<JointCommand>,
    /// The configuration at the start, and at the end of each smoothed step.
    pub path: Vec<Vec<f64>>,
    /// The cost before the first iteration and after each one, with the weight kappa of the barrier \[J\].
    pub costs: Vec<(f64, f64)>,
}

/// Rollouts from one state.
struct Planner<'a> {
    simulation: &'a Simulation,
    cost: &'a PlanCost,
    /// The driven joints: index among the joints of the scene, and generalized velocity.
    driven: Vec<(usize, usize)>,
}

struct Motion {
    q: Vec<Vec<f64>>,
    controls: Vec<DVector<f64>>,
    commands: Vec<JointCommand>,
    A: Vec<DMatrix<f64>>,
    B: Vec<DMatrix<f64>>,
    cost: f64,
}

/// The change of the controls: a constant part and the feedback of each step.
struct Policy {
    constant: Vec<DVector<f64>>,
    feedback: Vec<DMatrix<f64>>,
}

/// Improves `commands`, one for each step of `cost`, from the state of `simulation`: with each weight in
/// `kappas` \[J\], from large to small, in at most `iterations` iterations.
///
/// # Errors
/// A simulation without quasistatic steps; a first rollout with a step that has no solution.
pub fn plan(
    simulation: &Simulation,
    cost: &PlanCost,
    commands: &[JointCommand],
    kappas: &[f64],
    iterations: u32,
) -> Result<Plan, DerivativeError> {
    let (scene, model) = (simulation.scene(), simulation.scene().model());
    let driven = scene.joints().iter().zip(scene.actuators()).enumerate();
    let driven = driven.filter(|(_, (_, actuator))| actuator.stiffness > 0.0);
    let driven = driven.map(|(joint, (index, _))| (joint, model.joints()[*index].v_start)).collect();
    let planner = Planner { simulation, cost, driven };
    let mut plan = Plan { commands: commands.to_vec(), path: Vec::new(), costs: Vec::new() };
    for kappa in kappas {
        let given = plan.commands.clone();
        let mut best = planner.roll(*kappa, |step, q| planner.control_of(&given[step], q))?;
        plan.costs.push((*kappa, best.cost));
        let mut damping = DAMPING.0;
        for _ in 0..iterations {
            let Some(policy) = planner.improve(&best, damping) else { break };
            let next = LENGTHS.iter().find_map(|length| {
                let moved = planner.roll(*kappa, |step, q| {
                    let dq = tangent(model, &best.q[step], q);
                    &best.controls[step] + &policy.constant[step] * *length + &policy.feedback[step] * dq
                });
                moved.ok().filter(|moved| moved.cost < best.cost)
            });
            match next {
                Some(next) => {
                    let gain = 1.0 - next.cost / best.cost;
                    best = next;
                    plan.costs.push((*kappa, best.cost));
                    damping = (damping / DAMPING.1).max(DAMPING.0);
                    if gain < CHANGE {
                        break;
                    }
                }
                None => {
                    damping *= DAMPING.1;
                    if damping > DAMPING_MAX {
                        break;
                    }
                }
            }
        }
        plan.commands = best.commands;
        plan.path = best.q;
    }
    Ok(plan)
}

impl Planner<'_> {
    fn position(&self, joint: usize, q: &[f64]) -> f64 {
        let scene = self.simulation.scene();
        scene.model().joints()[scene.joints()[joint]].position(q).unwrap_or(0.0)
    }

    fn control_of(&self, command: &JointCommand, q: &[f64]) -> DVector<f64> {
        let one = |(joint, _): &(usize, usize)| {
            let here = self.position(*joint, q);
            command[ScalarJointIndex::from_usize(*joint)].position.map_or(0.0, |wanted| wanted - here)
        };
        DVector::from_iterator(self.driven.len(), self.driven.iter().map(one))
    }

    /// A smoothed rollout with the controls that `control` computes from the step and the configuration.
    fn roll(
        &self,
        kappa: f64,
        mut control: impl FnMut(usize, &[f64]) -> DVector<f64>,
    ) -> Result<Motion, DerivativeError> {
        let model = self.simulation.scene().model();
        let n = model.nv();
        let mut rollout = SmoothedRollout::new(self.simulation)?;
        let mut motion = Motion {
            q: vec![self.simulation.state().q.clone()],
            controls: Vec::new(),
            commands: Vec::new(),
            A: Vec::new(),
            B: Vec::new(),
            cost: 0.0,
        };
        for step in 0..self.cost.reference.len() {
            let q = &motion.q[step];
            let u = control(step, q);
            let mut command = JointCommand::new(self.simulation.scene());
            for ((joint, _), u) in self.driven.iter().zip(u.iter()) {
                let position = Some(self.position(*joint, q) + u);
                command[ScalarJointIndex::from_usize(*joint)] = JointTarget { position, ..JointTarget::default() };
            }
            let taken = rollout.step(&command, kappa)?;
            motion.A.push(DMatrix::from_fn(n, n, |row, column| taken.A(row, column)));
            motion.B.push(DMatrix::from_fn(n, self.driven.len(), |row, column| taken.B(row, self.driven[column].0)));
            let next = taken.q_next().to_vec();
            let error = tangent(model, &self.cost.reference[step], &next);
            let weights = self.weights(step);
            motion.cost += 0.5 * error.component_mul(&error).dot(&weights) + 0.5 * self.cost.control * u.norm_squared();
            motion.q.push(next);
            motion.controls.push(u);
            motion.commands.push(command);
        }
        Ok(motion)
    }

    /// Weights of the errors at the end of a step.
    fn weights(&self, step: usize) -> DVector<f64> {
        let last = step + 1 == self.cost.reference.len();
        DVector::from_column_slice(&self.cost.weights) * if last { self.cost.last } else { 1.0 }
    }

    /// The minimum of the quadratic model of the cost, from the last step to the first; `None` if it has
    /// none.
    fn improve(&self, motion: &Motion, damping: f64) -> Option<Policy> {
        let model = self.simulation.scene().model();
        let steps = motion.controls.len();
        let (mut constant, mut feedback) = (Vec::new(), Vec::new());
        let n = model.nv();
        let (mut slope, mut curvature) = (DVector::zeros(n), DMatrix::zeros(n, n));
        for step in (0..steps).rev() {
            let weights = self.weights(step);
            let error = tangent(model, &self.cost.reference[step], &motion.q[step + 1]);
            slope += error.component_mul(&weights);
            curvature += DMatrix::from_diagonal(&weights);
            let B = &motion.B[step];
            let mut A = motion.A[step].clone();
            for (index, (_, dof)) in self.driven.iter().enumerate() {
                let moved = A.column(*dof) + B.column(index);
                A.set_column(*dof, &moved);
            }
            let weighted = B.transpose() * &curvature;
            let of_control = &motion.controls[step] * self.cost.control + B.transpose() * &slope;
            let mut of_controls = &weighted * B;
            for index in 0..self.driven.len() {
                let own = of_controls[(index, index)];
                of_controls[(index, index)] = own * (1.0 + damping) + self.cost.control * (1.0 + damping);
            }
            let factor = of_controls.clone().cholesky()?;
            let mixed = &weighted * &A;
            let k = -factor.solve(&of_control);
            let K = -factor.solve(&mixed);
            slope = A.transpose() * &slope + mixed.transpose() * &k + K.transpose() * (&of_control + &of_controls * &k);
            curvature = A.transpose() * &curvature * &A
                + K.transpose() * &of_controls * &K
                + K.transpose() * &mixed
                + mixed.transpose() * &K;
            curvature = (&curvature + curvature.transpose()) * 0.5;
            constant.push(k);
            feedback.push(K);
        }
        constant.reverse();
        feedback.reverse();
        Some(Policy { constant, feedback })
    }
}

/// The displacement from configuration `a` to `b`.
fn tangent(model: &Model, a: &[f64], b: &[f64]) -> DVector<f64> {
    let mut change = DVector::zeros(model.nv());
    displacement(model, a, b, change.as_mut_slice());
    change
}
