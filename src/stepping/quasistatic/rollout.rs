//! Rollouts of smoothed steps: the motion that a planner optimises, with its derivatives.

use super::derivative_error::DerivativeError;
use super::derivatives::QuasistaticDerivatives;
use crate::multibody::State;
use crate::stepping::command::{JointCommand, JointTarget};
use crate::stepping::simulation::Simulation;

/// A step of a smoothed rollout.
#[derive(Clone, Debug)]
pub struct RolloutStep {
    /// The coordinates q where the step ends \[rad\], \[m\], or unit quaternions [-].
    pub q: Vec<f64>,
    /// Velocities of the step [rad/s, m/s].
    pub v: Vec<f64>,
    /// dq+/dq in tangent coordinates, by rows ([`QuasistaticDerivatives::A`]).
    pub A: Vec<f64>,
    /// dq+/dq_cmd, by rows ([`QuasistaticDerivatives::B`]).
    pub B: Vec<f64>,
    /// dq+ by commanded efforts, by rows ([`QuasistaticDerivatives::B_effort`]).
    pub B_effort: Vec<f64>,
}

/// Smoothed quasistatic steps, one after the other, each with its derivatives.
///
/// ```no_run
/// use isobar::stepping::{DerivativeError, JointCommand, Simulation, SmoothedRollout};
/// # fn run(simulation: &Simulation, commands: &[JointCommand]) -> Result<f64, DerivativeError> {
/// let mut rollout = SmoothedRollout::new(simulation)?;
/// let steps = rollout.run(commands, 1e-4)?;
/// let last = steps.last().map_or(0.0, |step| step.q[0]);
/// # Ok(last) }
/// ```
#[derive(Clone, Debug)]
pub struct SmoothedRollout {
    simulation: Simulation,
    derivatives: QuasistaticDerivatives,
    /// The command with the held position of each joint that has no new one.
    command: JointCommand,
}

impl SmoothedRollout {
    /// A rollout that begins at the present state of `simulation`, which does not change.
    ///
    /// # Errors
    /// A simulation that does not take quasistatic steps.
    pub fn new(simulation: &Simulation) -> Result<Self, DerivativeError> {
        let step = simulation.quasistatic_step().ok_or(DerivativeError::NotQuasistatic)?;
        let held = step.impedances.targets().iter();
        let command = held.map(|held| JointTarget { position: Some(*held), ..JointTarget::default() }).collect();
        Ok(Self { simulation: simulation.clone(), derivatives: QuasistaticDerivatives::new(simulation)?, command })
    }

    /// The simulation at the end of the last step.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Takes the step smoothed by a barrier of weight `kappa` \[J\]; its derivatives are returned. A step
    /// that fails changes neither the simulation nor the positions that hold.
    ///
    /// # Errors
    /// The errors of [`QuasistaticDerivatives::differentiate_smoothed`]; a step whose end is not finite.
    pub fn step(&mut self, command: &JointCommand, kappa: f64) -> Result<&QuasistaticDerivatives, DerivativeError> {
        let Self { simulation, derivatives, command: merged } = self;
        let new = command.targets.as_slice().iter().copied().chain(std::iter::repeat(JointTarget::default()));
        let all = merged.targets.iter().zip(new);
        let wanted = all.map(|(held, new)| JointTarget { position: new.position.or(held.position), ..new }).collect();
        derivatives.differentiate_smoothed(simulation, &wanted, kappa)?;
        *merged = wanted;
        simulation.set_state(State { q: derivatives.q_next().to_vec(), v: derivatives.v().to_vec() })?;
        simulation.resume_at(simulation.step_count() + 1);
        Ok(derivatives)
    }

    /// Takes one smoothed step for each command.
    ///
    /// # Errors
    /// The errors of [`SmoothedRollout::step`].
    pub fn run(&mut self, commands: &[JointCommand], kappa: f64) -> Result<Vec<RolloutStep>, DerivativeError> {
        commands.iter().map(|command| self.step(command, kappa).map(RolloutStep::of)).collect()
    }
}

/// The barrier weights of a plan \[J\], each a tenth of the one before or more: from the weight with which
/// `force` \[N\] acts at the distance `gap` \[m\], over the gaps that the first commands leave, to the one
/// with which it acts at the `accuracy` that is wanted \[m\]. At rest a force F acts at 2 kappa/F. A plan is
/// optimised with each of them in turn, from the commands of the one before. Empty unless all are positive.
///
/// ```
/// // 2 N, gaps of 1 mm, and 10 um
/// let weights = isobar::stepping::barrier_weights(2.0, 1e-3, 1e-5);
/// assert_eq!(weights.len(), 3);
/// assert!((weights[0] - 1e-3).abs() < 1e-15 && (weights[2] - 1e-5).abs() < 1e-15);
/// ```
pub fn barrier_weights(force: f64, gap: f64, accuracy: f64) -> Vec<f64> {
    let weight = |distance: f64| 0.5 * force * distance;
    let (first, last) = (weight(gap), weight(accuracy.min(gap)));
    if !(first > 0.0 && last > 0.0 && first.is_finite()) {
        return Vec::new();
    }
    // Rounding must not add a weight to a whole number of decades.
    let count = ((first / last).log10() - 1e-9).ceil().max(0.0) as i32;
    (0..=count).map(|number| first * (last / first).powf(f64::from(number) / f64::from(count.max(1)))).collect()
}

impl RolloutStep {
    /// A copy of the numbers of a step.
    pub fn of(step: &QuasistaticDerivatives) -> Self {
        let (n, m) = (step.size(), step.commands());
        Self {
            q: step.q_next().to_vec(),
            v: step.v().to_vec(),
            A: (0..n * n).map(|index| step.A(index / n, index % n)).collect(),
            B: (0..n * m).map(|index| step.B(index / m, index % m)).collect(),
            B_effort: (0..n * m).map(|index| step.B_effort(index / m, index % m)).collect(),
        }
    }
}
