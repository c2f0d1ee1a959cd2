//! The task of figures 1, 7 and 8 of [Pang & Tedrake 2021]: an arm takes a cube from the ground and puts it on a stack.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::reach::{ReachError, reach};
use crate::io::scene_file::{self, LoadedScene, SceneError};
use crate::math::{BodyIndex, RigidTransform, Vector3};
use crate::multibody::{Data, positions};
use crate::stepping::{JointCommand, JointTarget, Simulation, SimulationError, StepError, StepSettings, Stepping};

/// Names in config/cube_stacking.yaml.
const CUBE: &str = "cube_red";
const ARM: &str = "iiwa_joint_";
/// Where the red cube is to be: upon the stack [m].
pub const GOAL: [f64; 3] = [0.7, 0.0, 0.26];
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
    /// The keyframes are not readable, or not of this form.
    #[error(transparent)]
    Keyframes(#[from] SceneError),
    /// No keys, or a key with a number out of range.
    #[error("{file}: {key}: {what}", file = file.display())]
    Key {
        /// The file.
        file: PathBuf,
        /// The key.
        key: String,
        /// What is wrong, and what would be right.
        what: &'static str,
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

/// A file of keyframes, `config/keyframes/cube_stacking.yaml`; `controllers/isobar_control/keyframes.py` reads the same one and says what a
/// key may hold. Here they are played by position only: what is felt decides nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keyframes {
    /// The body that is moved.
    tip: String,
    /// Joint position = factor * opening.
    gripper: BTreeMap<String, f64>,
    #[serde(default, rename = "feel")]
    _feel: IgnoredAny,
    keys: Vec<Key>,
}

/// Poses and openings go from key to key as 3 s^2 - 2 s^3.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    name: String,
    /// How long it takes [s].
    #[serde(rename = "for")]
    duration: f64,
    /// Where the tip ends in the robot's base frame, which is the world's [m]; without it, it stays.
    to: Option<[f64; 3]>,
    /// Opening at its end [m]; without it, as it is.
    open: Option<f64>,
    #[serde(default, rename = "needs")]
    _needs: IgnoredAny,
}

/// The commands of the task: joint positions over time.
#[derive(Clone, Debug)]
pub struct Script {
    /// Joint position targets at each waypoint, in the order of `Scene::joint_names`.
    waypoints: Vec<Vec<f64>>,
    duration: f64,
}

impl Script {
    /// Reads the keyframes at `path` and solves for the joints at each waypoint, offline.
    ///
    /// # Errors
    /// A file that cannot be read or has keys of another kind; another scene; a pose out of reach.
    pub fn read(loaded: &LoadedScene, path: &Path) -> Result<Self, StackingError> {
        let keyframes: Keyframes = scene_file::read_yaml(path)?;
        keyframes.check().map_err(|(key, what)| StackingError::Key { file: path.to_owned(), key, what })?;
        let scene = &loaded.scene;
        let model = scene.model();
        let tip = body(loaded, &keyframes.tip)?;
        let mut q = loaded.initial.q.clone();
        let mut data = Data::new(model);
        positions(model, &q, &mut data);
        let X_WT = data.X_WB[tip];
        let names = scene.joint_names();
        let fingers = keyframes.gripper.iter().map(|(name, factor)| {
            let found = names.iter().position(|joint| joint == name);
            found.map(|i| (i, *factor)).ok_or_else(|| StackingError::Scene { name: name.clone() })
        });
        let fingers: Vec<(usize, f64)> = fingers.collect::<Result<_, _>>()?;
        let arm: Vec<usize> = (0..names.len()).filter(|i| names[*i].starts_with(ARM)).collect();
        let joints: Vec<_> = arm.iter().map(|i| scene.joints()[*i]).collect();
        let duration: f64 = keyframes.keys.iter().map(|key| key.duration).sum();
        let count = (duration / WAYPOINT).round() as usize;
        let mut waypoints = Vec::with_capacity(count + 1);
        for number in 0..=count {
            let (p, opening) = keyframes.at(number as f64 * WAYPOINT, &X_WT.translation.vector);
            reach(model, &joints, tip, &RigidTransform::from_parts(p.into(), X_WT.rotation), &mut q)?;
            let mut targets = vec![0.0; names.len()];
            for i in &arm {
                targets[*i] = q[model.joints()[scene.joints()[*i]].q_start];
            }
            for (finger, factor) in &fingers {
                targets[*finger] = factor * opening;
            }
            waypoints.push(targets);
        }
        Ok(Self { waypoints, duration })
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

impl Keyframes {
    /// The key that is wrong, and how.
    fn check(&self) -> Result<(), (String, &'static str)> {
        if self.keys.is_empty() {
            return Err(("keys".to_owned(), "there must be at least one"));
        }
        for key in &self.keys {
            if !(key.duration >= WAYPOINT && key.duration.is_finite()) {
                return Err((key.name.clone(), "`for` must be at least 0.1 s"));
            }
            if !key.to.iter().flatten().chain(&key.open).all(|x| x.is_finite()) {
                return Err((key.name.clone(), "`to` and `open` must be finite"));
            }
        }
        Ok(())
    }

    /// Where the tip is to be [m], and the opening [m]; without corners in velocity. The first key's opening holds from the start.
    fn at(&self, time: f64, start: &Vector3) -> (Vector3, f64) {
        let mut p = *start;
        let mut opening = self.keys.iter().find_map(|key| key.open).unwrap_or(0.0);
        let mut began = 0.0;
        for key in &self.keys {
            let x = ((time - began) / key.duration).clamp(0.0, 1.0);
            let part = x * x * (3.0 - 2.0 * x);
            p += (key.to.map_or(p, Vector3::from) - p) * part;
            opening += (key.open.unwrap_or(opening) - opening) * part;
            began += key.duration;
            if time < began {
                break;
            }
        }
        (p, opening)
    }
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
    /// The solver's part of it [s].
    pub solver_times: Vec<f64>,
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
        // both modes end a step where its command is
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
