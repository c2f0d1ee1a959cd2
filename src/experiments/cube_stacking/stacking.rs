//! The task of figures 1, 7 and 8 of [Pang & Tedrake 2021]: an arm takes a cube from the ground and puts it
//! on a stack.

use std::path::Path;

use super::super::keyframes::{Keyframe, Task, TaskError};
use super::super::reach::{ReachError, reach};
use crate::io::scene_file::LoadedScene;
use crate::math::{BodyIndex, Index, IndexVec, RigidTransform, ScalarJointIndex, Vector3};
use crate::multibody::{Data, positions};
use crate::stepping::{JointCommand, JointTarget, Simulation, SimulationError, StepError, StepSettings, Stepping};

/// The name of the red cube in config/cube_stacking.yaml.
const CUBE: &str = "cube_red";
/// The goal of the red cube: on top of the stack \[m\].
pub const GOAL: [f64; 3] = [0.7, 0.0, 0.26];
/// The time between waypoints of the arm \[s\]; between them its joints move linearly.
const WAYPOINT: f64 = 0.1;

/// The reason why the experiment has no result.
#[derive(Debug, thiserror::Error)]
pub enum StackingError {
    /// The scene is not the one of this experiment.
    #[error("the scene has no '{name}'; use config/cube_stacking.yaml")]
    Scene {
        /// The missing name.
        name: String,
    },
    /// The task cannot be read or has the wrong form.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A keyframe that this experiment cannot play.
    #[error("keyframe '{keyframe}': {what}")]
    Keyframe {
        /// The keyframe.
        keyframe: String,
        /// The fault and its remedy.
        what: &'static str,
    },
    /// A pose out of reach.
    #[error(transparent)]
    Reach(#[from] ReachError),
    /// A simulation of the scene that cannot be made.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// The commands of the task: joint positions over time.
#[derive(Clone, Debug)]
pub struct Script {
    /// Joint position targets at each waypoint, in the order of `Scene::joint_names`.
    waypoints: Vec<IndexVec<ScalarJointIndex, f64>>,
    duration: f64,
}

impl Script {
    /// Solves for the joints at each waypoint of the task file at `path`, offline. The task is played by
    /// position only, without measured forces.
    ///
    /// # Errors
    /// A file that cannot be read or has unsupported keyframes; a wrong scene; a pose out of reach.
    pub fn read(loaded: &LoadedScene, path: &Path) -> Result<Self, StackingError> {
        let task = Task::read(path)?;
        check(&task)?;
        let scene = &loaded.scene;
        let model = scene.model();
        let tip = body(loaded, &task.tool.body)?;
        let frame = task.frame.as_ref().map_or(Ok(BodyIndex::WORLD), |name| body(loaded, name))?;
        let mut q = loaded.initial.q.clone();
        let mut data = Data::new(model);
        positions(model, &q, &mut data);
        let (X_WT, X_WF) = (data.X_WB[tip], data.X_WB[frame]);
        let joint = |name: &String| scene.joint(name).ok_or_else(|| StackingError::Scene { name: name.clone() });
        let fingers = task.gripper.fingers.iter().map(|finger| Ok((joint(&finger.joint)?, finger.factor)));
        let fingers: Vec<(ScalarJointIndex, f64)> = fingers.collect::<Result<_, StackingError>>()?;
        let arm: Vec<ScalarJointIndex> = task.arm.joints.iter().map(joint).collect::<Result<_, _>>()?;
        let joints: Vec<_> = arm.iter().map(|i| scene.joints()[i.to_usize()]).collect();
        let duration: f64 = task.keyframes.iter().map(|keyframe| keyframe.duration).sum();
        let count = (duration / WAYPOINT).round() as usize;
        let mut waypoints = Vec::with_capacity(count + 1);
        for number in 0..=count {
            let (p, opening) = target(&task, number as f64 * WAYPOINT, &X_WF, &X_WT.translation.vector);
            reach(model, &joints, tip, &RigidTransform::from_parts(p.into(), X_WT.rotation), &mut q)?;
            let mut targets = IndexVec::from_elem(0.0, scene.joint_names().len());
            for i in &arm {
                targets[*i] = q[model.joints()[scene.joints()[i.to_usize()]].q_start];
            }
            for (finger, factor) in &fingers {
                targets[*finger] = factor * opening;
            }
            waypoints.push(targets);
        }
        Ok(Self { waypoints, duration })
    }

    /// Writes the targets at `time` \[s\] into `command`.
    pub fn fill(&self, time: f64, command: &mut JointCommand) {
        let waypoint = (time / WAYPOINT).clamp(0.0, (self.waypoints.len() - 1) as f64);
        let first = (waypoint.floor() as usize).min(self.waypoints.len().saturating_sub(2));
        let part = waypoint - first as f64;
        command.targets.clear();
        let pairs = self.waypoints[first].iter().zip(&self.waypoints[first + 1]);
        command
            .targets
            .extend(pairs.map(|(a, b)| JointTarget { position: Some(a + part * (b - a)), ..JointTarget::default() }));
    }
}

fn body(loaded: &LoadedScene, name: &str) -> Result<BodyIndex, StackingError> {
    loaded.scene.body(name).ok_or_else(|| StackingError::Scene { name: name.to_owned() })
}

/// Refuses a task whose tool or keyframes need more than positions in the task's frame.
fn check(task: &Task) -> Result<(), StackingError> {
    let tool = task.tool.xyz.iter().chain(&task.tool.rpy).all(|x| *x == 0.0);
    if !tool || task.arm.speed < 1.0 {
        return Err(StackingError::Task(TaskError::Setting {
            what: "this experiment moves a body's own frame at full speed: leave out speed and the tool's xyz and rpy",
        }));
    }
    for keyframe in &task.keyframes {
        let fail = |what| Err(StackingError::Keyframe { keyframe: keyframe.name.clone(), what });
        if keyframe.duration < WAYPOINT {
            return fail("duration must be at least 0.1 s");
        }
        if !by_position_only(keyframe) {
            return fail("this experiment supports only name, duration, xyz, open and needs");
        }
    }
    Ok(())
}

fn by_position_only(keyframe: &Keyframe) -> bool {
    let Keyframe { frame, by, circle, rpy, point, time_scaling, close, press, until, from_touch, .. } = keyframe;
    let pose = frame.is_none() && by.is_none() && circle.is_none() && rpy.is_none() && *point == [0.0; 3];
    pose && time_scaling.is_none() && close.is_none() && press.is_none() && until.is_none() && !from_touch
}

/// The target of the tip \[m\], and the opening \[m\]. The first keyframe with an opening sets the opening
/// from the start.
fn target(task: &Task, time: f64, X_WF: &RigidTransform, start: &Vector3) -> (Vector3, f64) {
    let mut p = *start;
    let mut opening = task.keyframes.iter().find_map(|keyframe| keyframe.open).unwrap_or(0.0);
    let mut began = 0.0;
    for keyframe in &task.keyframes {
        let part = task.time_scaling.at(((time - began) / keyframe.duration).clamp(0.0, 1.0));
        let end = keyframe.xyz.map_or(p, |xyz| X_WF.translation.vector + X_WF.rotation * Vector3::from(xyz));
        p += (end - p) * part;
        opening += (keyframe.open.unwrap_or(opening) - opening) * part;
        began += keyframe.duration;
        if time < began {
            break;
        }
    }
    (p, opening)
}

/// The red cube over time.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Times \[s\].
    pub time: Vec<f64>,
    /// Coordinates (w, x, y, z of the quaternion; x, y, z) [-, m].
    pub q: Vec<[f64; 7]>,
    /// Steps in which the solver did not reach its tolerance.
    pub not_converged: u64,
    /// Wall-clock time of each step \[s\].
    pub step_times: Vec<f64>,
    /// The solver's share of that time \[s\].
    pub solver_times: Vec<f64>,
}

impl Trace {
    /// Position at sample `i` \[m\].
    pub fn p(&self, i: usize) -> [f64; 3] {
        [self.q[i][4], self.q[i][5], self.q[i][6]]
    }
    /// Angle of the rotation relative to the world at sample `i` \[rad\].
    pub fn angle(&self, i: usize) -> f64 {
        let [w, x, y, z, ..] = self.q[i];
        2.0 * (x * x + y * y + z * z).sqrt().atan2(w.abs())
    }
    /// Distance of the cube from its goal at the end \[m\].
    pub fn miss(&self) -> f64 {
        let p = self.q.len().checked_sub(1).map_or([f64::NAN; 3], |last| self.p(last));
        (0..3).map(|i| (p[i] - GOAL[i]) * (p[i] - GOAL[i])).sum::<f64>().sqrt()
    }
    /// Total integral error against `truth`: the integral of |q(t) - q_truth(t)| over its samples [Pang &
    /// Tedrake 2021, eq. 13]; between two samples q moves linearly.
    pub fn integral_error(&self, truth: &Self) -> f64 {
        let mut sum = 0.0;
        for i in 1..truth.time.len() {
            let q = self.at(truth.time[i]);
            let difference = q.iter().zip(&truth.q[i]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            sum += difference * (truth.time[i] - truth.time[i - 1]);
        }
        sum
    }
    fn at(&self, time: f64) -> [f64; 7] {
        let next = self.time.partition_point(|t| *t <= time + 1e-9).clamp(1, self.time.len().max(2) - 1);
        let (t0, t1) = (self.time[next - 1], self.time[next]);
        let part = ((time - t0) / (t1 - t0)).clamp(0.0, 1.0);
        std::array::from_fn(|i| self.q[next - 1][i] + part * (self.q[next][i] - self.q[next - 1][i]))
    }
}

/// Runs the task with steps of `step` \[s\]; samples are `sample` \[s\] apart, rounded to whole steps.
/// `progress` is called with the number of each step and their total; `clock` returns the time for measuring
/// steps \[s\].
///
/// # Errors
/// A step that fails.
pub fn run(
    loaded: &LoadedScene,
    script: &Script,
    stepping: Stepping,
    step: f64,
    sample: f64,
    clock: &dyn Fn() -> f64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(Trace, Simulation), StackingError> {
    let settings = StepSettings { step_ns: (step * 1e9).round() as u64, stepping, ..loaded.settings };
    let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), settings)?;
    let cube = body(loaded, CUBE)?;
    let joint = loaded.scene.model().joints().iter().find(|joint| joint.child == cube);
    let start = joint.map_or(0, |joint| joint.q_start);
    let steps = (script.duration / step).round() as u64;
    let every = (sample / step).round().max(1.0) as u64;
    let mut command = JointCommand::default();
    let mut trace = Trace::default();
    for number in 0..=steps {
        if number % every == 0 || number == steps {
            let q = &simulation.state().q[start..start + 7];
            trace.time.push(simulation.time());
            trace.q.push(std::array::from_fn(|i| q[i]));
        }
        if number == steps {
            break;
        }
        // In both modes a step takes the command at its end.
        script.fill(simulation.time() + step, &mut command);
        let before = clock();
        let (report, times) = simulation.step_timed(&command, clock)?;
        trace.step_times.push(clock() - before);
        trace.solver_times.push(times.solver);
        trace.not_converged += u64::from(!report.solver_converged);
        progress(number + 1, steps);
    }
    Ok((trace, simulation))
}
