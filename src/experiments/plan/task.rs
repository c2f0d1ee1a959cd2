//! A planned task: its motions, its distance from the wanted motion, and the execution of its plan.

use super::super::error::ExperimentError;
use crate::math::{Index, ScalarJointIndex};
use crate::picture::Image;
use crate::stepping::{DynamicStepping, JointCommand, JointTarget, Simulation, StepSettings, Stepping};

/// The weights of the barrier, from wide to near forces \[J\]. A force F of a smoothed step acts at the
/// distance 2 kappa/F: 0.2 mm at first and 0.02 mm at last for 1 N.
pub(super) const KAPPAS: [f64; 2] = [1e-4, 1e-5];
/// The largest number of iterations for each weight.
pub(super) const ITERATIONS: u32 = 15;
/// The step of the execution in the dynamic mode \[ns\].
const DYNAMIC_NS: u64 = 1_000_000;

/// A task: the wanted motion of an object in a plane, its plan, and the execution of the plan.
#[derive(Clone, Debug)]
pub struct Task {
    /// The name of the task.
    pub name: &'static str,
    /// The times of the poses below: the start, and the end of each step \[s\].
    pub times: Vec<f64>,
    /// The wanted pose of the object: two coordinates \[m\] and an angle \[rad\].
    pub wanted: Vec<[f64; 3]>,
    /// Along the smoothed steps of the plan.
    pub planned: Vec<[f64; 3]>,
    /// With exact quasistatic steps.
    pub quasistatic: Vec<[f64; 3]>,
    /// In the dynamic mode.
    pub dynamic: Vec<[f64; 3]>,
    /// The cost after each iteration, with the weight of the barrier \[J\].
    pub costs: Vec<(f64, f64)>,
    /// Pictures of the execution in the dynamic mode, with the names of their files.
    pub pictures: Vec<(&'static str, Image)>,
}

/// The distance of an object from its wanted motion.
#[derive(Clone, Copy, Debug)]
pub struct Miss {
    /// The largest distance along the way \[m\].
    pub farthest: f64,
    /// The distance at the end \[m\].
    pub end: f64,
    /// The error of the angle at the end \[rad\].
    pub turn: f64,
}

impl Task {
    /// The cost of the first commands.
    pub fn first_cost(&self) -> f64 {
        self.costs.first().map_or(0.0, |(_, cost)| *cost)
    }
    /// The cost of the plan.
    pub fn last_cost(&self) -> f64 {
        self.costs.last().map_or(0.0, |(_, cost)| *cost)
    }
    /// The distance of one of the motions from the wanted one.
    pub fn miss(&self, path: &[[f64; 3]]) -> Miss {
        let mut miss = Miss { farthest: 0.0, end: 0.0, turn: 0.0 };
        for (a, b) in path.iter().zip(&self.wanted) {
            miss.end = (a[0] - b[0]).hypot(a[1] - b[1]);
            miss.turn = (a[2] - b[2]).abs();
            miss.farthest = miss.farthest.max(miss.end);
        }
        miss
    }
}

/// Takes quasistatic steps with the commands, and returns the pose of the object at the start and after
/// each.
pub(super) fn execute(
    mut simulation: Simulation,
    commands: &[JointCommand],
    pose: impl Fn(&Simulation) -> [f64; 3],
) -> Result<Vec<[f64; 3]>, ExperimentError> {
    let mut path = vec![pose(&simulation)];
    for command in commands {
        simulation.step(command)?;
        path.push(pose(&simulation));
    }
    Ok(path)
}

/// Takes dynamic steps. The commands of the plan, which are those at the ends of its steps, are joined by
/// straight lines. `see` is called at the start and after each step of the plan.
pub(super) fn execute_dynamic(
    start: &Simulation,
    commands: &[JointCommand],
    pose: impl Fn(&Simulation) -> [f64; 3],
    mut see: impl FnMut(usize, &Simulation) -> Result<(), ExperimentError>,
) -> Result<Vec<[f64; 3]>, ExperimentError> {
    let step_ns = start.step_ns();
    let settings = StepSettings {
        stepping: Stepping::Dynamic(DynamicStepping::default()),
        step_ns: DYNAMIC_NS,
        ..start.settings()
    };
    let scene = start.scene();
    let mut simulation = Simulation::new(scene.clone(), start.state().clone(), settings)?;
    let (count, period) = (step_ns / DYNAMIC_NS, step_ns as f64 * 1e-9);
    let here = |joint: usize| scene.model().joints()[scene.joints()[joint]].position(&start.state().q).unwrap_or(0.0);
    let mut last: Vec<f64> = (0..scene.joints().len()).map(here).collect();
    let mut path = vec![pose(&simulation)];
    see(0, &simulation)?;
    let mut command = JointCommand::new(scene);
    for (number, planned) in commands.iter().enumerate() {
        for part in 1..=count {
            for (joint, last) in last.iter().enumerate() {
                let index = ScalarJointIndex::from_usize(joint);
                let goal = planned[index].position;
                command[index] = goal.map_or(JointTarget::default(), |goal| JointTarget {
                    position: Some(last + (goal - last) * part as f64 / count as f64),
                    velocity: Some((goal - last) / period),
                    effort: None,
                });
            }
            simulation.step(&command)?;
        }
        for (joint, last) in last.iter_mut().enumerate() {
            *last = planned[ScalarJointIndex::from_usize(joint)].position.unwrap_or(*last);
        }
        path.push(pose(&simulation));
        see(number + 1, &simulation)?;
    }
    Ok(path)
}
