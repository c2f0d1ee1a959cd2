//! The task of figures 1, 7 and 8 of [Pang & Tedrake 2021]: an arm takes a cube from the ground and puts it on a stack.

use super::reach::{ReachError, reach};
use crate::io::scene_file::LoadedScene;
use crate::math::{BodyIndex, RigidTransform, Vector3};
use crate::multibody::{Data, positions};
use crate::stepping::{JointCommand, JointTarget, Simulation, SimulationError, StepError, StepSettings, Stepping};

/// Names in config/cube_stacking.yaml.
const GRASP: &str = "wsg50_grasp";
const CUBE: &str = "cube_red";
const ARM: &str = "iiwa_joint_";
const FINGERS: [&str; 2] = ["left_finger_sliding_joint", "right_finger_sliding_joint"];
/// Where the red cube is to be: upon the stack [m].
pub const GOAL: [f64; 3] = [0.7, 0.0, 0.26];
/// The fingers' positions when open and when they squeeze the cube: 20 mm ahead of its sides, 20 N at 1000 N/m [m].
const OPEN: f64 = 0.05;
const CLOSED: f64 = 0.01;
/// Waypoints of the arm are this far apart [s]; between them its joints move linearly.
const WAYPOINT: f64 = 0.1;

/// Why the experiment has no result.
#[derive(Debug, thiserror::Error)]
pub enum StackingError {
    /// The scene is another one.
    #[error("the scene has no '{name}'; use config/cube_stacking.yaml")]
    Scene {
        /// What is missing.
        name: String,
    },
    /// A pose out of reach.
    #[error(transparent)]
    Reach(#[from] ReachError),
    /// No simulation of the scene.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// A key of the script: when, where the grasp is relative to the cube's place at the start [m], and the fingers.
struct Key {
    time: f64,
    p: [f64; 3],
    finger: f64,
}

/// Above the cube, around it, grasp, lift, over the stack, down, release, up. All times are multiples of 0.4 s.
///
/// Descent around the cube and retreat are slow because of the longest step: sliding bodies keep a gap of mu |v_t| h, which open
/// fingers have only 20 mm of. With mu = 1 they drag the cube along where they move past it by more than that in one step.
const KEYS: [Key; 12] = [
    Key { time: 0.0, p: [0.0, 0.0, -1.0], finger: OPEN },
    Key { time: 0.4, p: [0.0, 0.0, -1.0], finger: OPEN },
    Key { time: 2.8, p: [0.0, 0.0, 0.0], finger: OPEN },
    Key { time: 3.2, p: [0.0, 0.0, 0.0], finger: OPEN },
    Key { time: 4.4, p: [0.0, 0.0, 0.0], finger: CLOSED },
    Key { time: 4.8, p: [0.0, 0.0, 0.0], finger: CLOSED },
    Key { time: 7.6, p: [0.0, 0.0, 0.28], finger: CLOSED },
    Key { time: 9.6, p: [0.15, 0.0, 0.28], finger: CLOSED },
    Key { time: 11.2, p: [0.15, 0.0, 0.23], finger: CLOSED },
    Key { time: 11.6, p: [0.15, 0.0, 0.23], finger: CLOSED },
    Key { time: 12.8, p: [0.15, 0.0, 0.23], finger: OPEN },
    Key { time: 16.8, p: [0.15, 0.0, 0.35], finger: OPEN },
];

/// How long the task takes [s].
pub const DURATION: f64 = 17.6;

/// The commands of the task: joint positions over time.
#[derive(Clone, Debug)]
pub struct Script {
    /// Joint position targets at each waypoint, in the order of `Scene::joint_names`.
    waypoints: Vec<Vec<f64>>,
}

impl Script {
    /// Solves for the joints at each waypoint, offline.
    ///
    /// # Errors
    /// Another scene, or a pose out of reach.
    pub fn new(loaded: &LoadedScene) -> Result<Self, StackingError> {
        let scene = &loaded.scene;
        let model = scene.model();
        let grasp = body(loaded, GRASP)?;
        let cube = body(loaded, CUBE)?;
        let mut q = loaded.initial.q.clone();
        let mut data = Data::new(model);
        positions(model, &q, &mut data);
        let above = data.X_WB[grasp];
        let p_cube = data.X_WB[cube].translation.vector;
        let names = scene.joint_names();
        let place = |name: &str| {
            names.iter().position(|joint| joint == name).ok_or_else(|| StackingError::Scene { name: name.to_owned() })
        };
        let fingers = [place(FINGERS[0])?, place(FINGERS[1])?];
        let arm: Vec<usize> = (0..names.len()).filter(|i| names[*i].starts_with(ARM)).collect();
        let joints: Vec<_> = arm.iter().map(|i| scene.joints()[*i]).collect();
        let count = (DURATION / WAYPOINT).round() as usize;
        let mut waypoints = Vec::with_capacity(count + 1);
        for number in 0..=count {
            let (p, finger) = pose_at(number as f64 * WAYPOINT, &above.translation.vector, &p_cube);
            reach(model, &joints, grasp, &RigidTransform::from_parts(p.into(), above.rotation), &mut q)?;
            let mut targets = vec![0.0; names.len()];
            for i in &arm {
                targets[*i] = q[model.joints()[scene.joints()[*i]].q_start];
            }
            (targets[fingers[0]], targets[fingers[1]]) = (-finger, finger);
            waypoints.push(targets);
        }
        Ok(Self { waypoints })
    }

    /// Writes the targets at `time` [s] into `command`.
    pub fn fill(&self, time: f64, command: &mut JointCommand) {
        let place = (time / WAYPOINT).clamp(0.0, (self.waypoints.len() - 1) as f64);
        let first = (place.floor() as usize).min(self.waypoints.len().saturating_sub(2));
        let part = place - first as f64;
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

/// Where the grasp and the fingers are to be; without corners in velocity.
fn pose_at(time: f64, above: &Vector3, p_cube: &Vector3) -> (Vector3, f64) {
    let next = KEYS.partition_point(|key| key.time <= time).clamp(1, KEYS.len() - 1);
    let (from, to) = (&KEYS[next - 1], &KEYS[next]);
    let x = ((time - from.time) / (to.time - from.time)).clamp(0.0, 1.0);
    let part = x * x * (3.0 - 2.0 * x);
    // below zero: where the scene starts
    let place = |key: &Key| if key.p[2] < 0.0 { *above } else { p_cube + Vector3::from(key.p) };
    let (a, b) = (place(from), place(to));
    (a + (b - a) * part, from.finger + (to.finger - from.finger) * part)
}

/// The red cube over time.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Times [s].
    pub time: Vec<f64>,
    /// Coordinates (w, x, y, z of the quaternion; x, y, z) [-, m].
    pub q: Vec<[f64; 7]>,
    /// Steps that the solver did not bring to its tolerance.
    pub not_converged: u64,
    /// Wall-clock time of each step [s].
    pub step_times: Vec<f64>,
}

impl Trace {
    /// Position at sample `i` [m].
    pub fn p(&self, i: usize) -> [f64; 3] {
        [self.q[i][4], self.q[i][5], self.q[i][6]]
    }
    /// Angle of the rotation relative to the world at sample `i` [rad].
    pub fn angle(&self, i: usize) -> f64 {
        let [w, x, y, z, ..] = self.q[i];
        2.0 * (x * x + y * y + z * z).sqrt().atan2(w.abs())
    }
    /// Distance of the cube from its goal at the end [m].
    pub fn miss(&self) -> f64 {
        let p = self.q.len().checked_sub(1).map_or([f64::NAN; 3], |last| self.p(last));
        (0..3).map(|i| (p[i] - GOAL[i]) * (p[i] - GOAL[i])).sum::<f64>().sqrt()
    }
    /// Total integral error against `truth`: the integral of |q(t) - q_truth(t)| over its samples [Pang & Tedrake 2021, eq. 13];
    /// between two samples q moves linearly.
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

/// Runs the task with steps of `step` [s]; samples are at least `sample` apart [s]. `progress` is told each step's number and how
/// many there are, and `clock` tells the time for the measured steps [s].
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
    let steps = (DURATION / step).round() as u64;
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
        // both modes end a step where its command is
        script.fill(simulation.time() + step, &mut command);
        let before = clock();
        let report = simulation.step(&command)?;
        trace.step_times.push(clock() - before);
        trace.not_converged += u64::from(!report.solver_converged);
        progress(number + 1, steps);
    }
    Ok((trace, simulation))
}
