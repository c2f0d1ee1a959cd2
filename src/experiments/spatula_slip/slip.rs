//! Section V-C of [Masterjohn 2022]: a soft-bubble gripper holds a spatula by the handle; the force is a
//! square wave, and the spatula turns in the grip only while the force is low.

use super::super::study::Cost;
use crate::io::scene_file::LoadedScene;
use crate::math::{ScalarJointIndex, Vector3};
use crate::stepping::{JointCommand, Simulation, SimulationError, StepError};

/// Names in config/spatula_slip.yaml.
const SPATULA: &str = "spatula";
const PAD: &str = "left_finger_bubble";
const FINGER: &str = "left_finger_sliding_joint";
/// Two periods of the square wave \[s\].
pub const DURATION: f64 = 12.0;
/// The spatula should be held above this commanded force \[N\].
const FIRM: f64 = 8.0;
/// The time for which the pads swing after a change of the command \[s\].
const SETTLING: f64 = 0.3;
/// A spatula that turns faster than this slips [rad/s]. A held one creeps by the regularized slip of its
/// faces, at no more than the stiction tolerance (1e-4 m/s) over the radius of the patch (about 15 mm).
const CREEP_MAX: f64 = 7e-3;
/// A spatula that slips under control turns faster than this on average [rad/s].
const SLIP_MIN: f64 = 2e-2;
/// The largest relative error of the pad force, after the grip has settled [-].
const FORCE_TOLERANCE: f64 = 0.02;

/// The reason why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum SlipError {
    /// The scene is not the one of this experiment.
    #[error("the scene has no '{name}'; use config/spatula_slip.yaml")]
    Scene {
        /// The missing name.
        name: &'static str,
    },
    /// A simulation of the scene that cannot be made.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// The end of one step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// Time \[s\].
    pub time: f64,
    /// The cost of the step.
    pub cost: Cost,
    /// Whether the solver reached its tolerance.
    pub converged: bool,
    /// Grip force commanded in the step \[N\].
    pub commanded: f64,
    /// Force that presses the left pad back \[N\].
    pub grip: f64,
    /// The elevation of the handle above the horizontal \[rad\].
    pub pitch: f64,
}

/// A stretch of the run with one commanded force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Start and end \[s\].
    pub time: [f64; 2],
    /// The commanded force \[N\].
    pub commanded: f64,
    /// The change of the pitch from the settling of the grip to the end \[rad\].
    pub turned: f64,
    /// The mean rate of that change [rad/s].
    pub rate: f64,
    /// Largest difference of the measured from the commanded force after settling, relative [-].
    pub force_error: f64,
}

impl Stretch {
    /// Whether the spatula is held under a high force or turns under a low one, and the force is as
    /// commanded.
    pub fn as_it_should(&self) -> bool {
        let rate = self.rate.abs();
        let moves = if self.commanded > FIRM { rate < CREEP_MAX } else { rate > SLIP_MIN };
        moves && self.force_error < FORCE_TOLERANCE
    }
}

/// The running scene under its own commands.
#[derive(Debug)]
pub struct Slip {
    simulation: Simulation,
    loaded: LoadedScene,
    command: JointCommand,
    finger: ScalarJointIndex,
    bodies: [crate::math::BodyIndex; 2],
}

impl Slip {
    /// The scene at its start.
    ///
    /// # Errors
    /// A scene with missing parts.
    pub fn new(loaded: &LoadedScene) -> Result<Self, SlipError> {
        let scene = &loaded.scene;
        let body = |name: &'static str| scene.body(name).ok_or(SlipError::Scene { name });
        let finger = scene.joint(FINGER).ok_or(SlipError::Scene { name: FINGER })?;
        let bodies = [body(SPATULA)?, body(PAD)?];
        let simulation = Simulation::new(scene.clone(), loaded.initial.clone(), loaded.settings)?;
        let command = JointCommand::new(scene);
        Ok(Self { simulation, loaded: loaded.clone(), command, finger, bodies })
    }

    /// The simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }
    /// Whether the run is over.
    pub fn done(&self) -> bool {
        self.simulation.time() >= DURATION - 0.5 * self.simulation.settings().step()
    }

    /// Takes one step; `clock` returns the time for its measurement \[s\].
    ///
    /// # Errors
    /// A step that fails.
    pub fn step(&mut self, clock: &dyn Fn() -> f64) -> Result<Sample, SlipError> {
        self.loaded.commands.fill(self.simulation.time_ns(), &mut self.command);
        let (report, times) = self.simulation.step_timed(&self.command, clock)?;
        let [spatula, pad] = self.bodies;
        let X_WB = &self.simulation.data().X_WB;
        let back = X_WB[pad].rotation * -Vector3::y();
        Ok(Sample {
            time: self.simulation.time(),
            cost: Cost { faces: report.faces, times },
            converged: report.solver_converged,
            commanded: self.command[self.finger].effort.unwrap_or(0.0),
            grip: self.simulation.body_wrenches()[pad].f.dot(&back),
            pitch: (X_WB[spatula].rotation * Vector3::y()).z.clamp(-1.0, 1.0).asin(),
        })
    }
}

/// The stretches of a run, in order.
pub fn stretches(samples: &[Sample]) -> Vec<Stretch> {
    let mut found = Vec::new();
    let mut begin = 0;
    for end in 1..=samples.len() {
        if end < samples.len() && samples[end].commanded.to_bits() == samples[begin].commanded.to_bits() {
            continue;
        }
        let part = &samples[begin..end];
        begin = end;
        let settled = part.partition_point(|sample| sample.time < part[0].time + SETTLING);
        let (Some(first), Some(last)) = (part.get(settled), part.last()) else { continue };
        let error = |sample: &Sample| (sample.grip / sample.commanded - 1.0).abs();
        found.push(Stretch {
            time: [part[0].time, last.time],
            commanded: last.commanded,
            turned: last.pitch - first.pitch,
            rate: (last.pitch - first.pitch) / (last.time - first.time),
            force_error: part[settled..].iter().map(error).fold(0.0, f64::max),
        });
    }
    found
}

/// Whether a run succeeds: it has at least one stretch of firm and one of loose grip, and all are as they
/// should be.
pub fn succeeded(stretches: &[Stretch]) -> bool {
    let firm = stretches.iter().filter(|stretch| stretch.commanded > FIRM).count();
    firm > 0 && firm < stretches.len() && stretches.iter().all(Stretch::as_it_should)
}
