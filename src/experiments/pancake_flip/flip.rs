//! Section V-B of [Masterjohn 2022]: an arm with soft bubbles takes a spatula from its stand, scoops a
//! pancake off the stove and lays it down on its other side.

use super::super::keyframes::{Controller, ControllerError, Event, Measurement, Sensors, Task, TaskError};
use crate::io::scene_file::LoadedScene;
use crate::math::{BodyIndex, RigidTransform, Vector3};
use crate::scene::Scene;
use crate::stepping::{JointCommand, Simulation, SimulationError, StepError, StepTimes};

/// Names in config/pancake_flip.yaml.
const PANCAKE: &str = "pancake";
const SPATULA: &str = "pancake_spatula";
const STOVE: &str = "stove_top";
/// Radius of the stove top \[m\], as in urdf/stove.urdf.
const STOVE_RADIUS: f64 = 0.12;
/// Smallest and largest height of the pancake's middle above the stove top when it lies on the stove \[m\]:
/// half its thickness, and not on the rim.
const LYING: [f64; 2] = [0.005, 0.015];
/// A flipped pancake has its axis within this angle of straight down \[rad\].
const FLAT: f64 = 0.1;
/// The largest speed of a pancake at rest [m/s].
const REST: f64 = 5e-3;
/// A run ends after this time, even if the task is not done \[s\].
const TIME_MAX: f64 = 90.0;

/// The reason why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum FlipError {
    /// The scene is not the one of this experiment.
    #[error("the scene has no '{name}'; use config/pancake_flip.yaml")]
    Scene {
        /// The missing name.
        name: &'static str,
    },
    /// The task cannot be read.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The controller failed.
    #[error(transparent)]
    Controller(#[from] ControllerError),
    /// A simulation of the scene that cannot be made.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// The pose of the pancake at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Angle of its upper side's normal from straight down \[rad\]: 0 if flipped, pi if it lies as it began.
    pub from_upside_down: f64,
    /// The position of its middle in the frame of the stove top \[m\].
    pub p: [f64; 3],
    /// The speed of its middle [m/s].
    pub speed: f64,
}

impl Outcome {
    /// Whether it is upside down, on the stove, and at rest.
    pub fn flipped(&self) -> bool {
        let [x, y, z] = self.p;
        self.from_upside_down < FLAT
            && x.hypot(y) < STOVE_RADIUS
            && (LYING[0]..LYING[1]).contains(&z)
            && self.speed < REST
    }
}

/// One sample of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// Time \[s\].
    pub time: f64,
    /// Contact faces that the solver kept.
    pub faces: u32,
    /// Newton iterations of the step.
    pub iterations: u32,
    /// Whether the solver reached its tolerance.
    pub converged: bool,
    /// The wall-clock times of the parts of the step \[s\].
    pub times: StepTimes,
    /// Number of the controller's keyframe.
    pub keyframe: usize,
    /// Elevation of the spatula's handle axis y \[rad\].
    pub pitch: f64,
    /// Mean force of the pads \[N\].
    pub grip: f64,
    /// The pancake's middle in the frame of the stove top \[m\].
    pub pancake: [f64; 3],
    /// Elevation of the pancake's axis \[rad\].
    pub side: f64,
}

/// A whole run.
#[derive(Clone, Debug)]
pub struct Run {
    /// One sample per step.
    pub samples: Vec<Sample>,
    /// Events and their times.
    pub events: Vec<Event>,
    /// The number of repeated grasps.
    pub retries: u32,
    /// The pose of the pancake at the end.
    pub outcome: Outcome,
}

/// A running task.
#[derive(Debug)]
pub struct Flip {
    simulation: Simulation,
    controller: Controller,
    sensors: Sensors,
    measured: Measurement,
    command: JointCommand,
    bodies: Bodies,
}

/// The observed bodies.
#[derive(Clone, Copy, Debug)]
struct Bodies {
    pancake: BodyIndex,
    spatula: BodyIndex,
    stove: BodyIndex,
}

impl Flip {
    /// The scene with the task's controller.
    ///
    /// # Errors
    /// A scene or a task with missing parts.
    pub fn new(loaded: &LoadedScene, task: Task) -> Result<Self, FlipError> {
        let scene = &loaded.scene;
        let bodies = Bodies::of(scene)?;
        let sensors = Sensors::new(&task, scene)?;
        let controller = Controller::new(task, scene, &loaded.initial)?;
        let simulation = Simulation::new(scene.clone(), loaded.initial.clone(), loaded.settings)?;
        let command = JointCommand::new(scene);
        let measured = Measurement::default();
        Ok(Self { simulation, controller, sensors, measured, command, bodies })
    }

    /// The simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }
    /// The controller.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Controls and takes one step; `clock` returns the time for its measurement \[s\].
    ///
    /// # Errors
    /// The controller fails, or a step fails.
    pub fn step(&mut self, clock: &dyn Fn() -> f64) -> Result<Sample, FlipError> {
        self.sensors.measure(&self.simulation, &mut self.measured);
        let dt = self.simulation.settings().step();
        let keyframe = self.controller.keyframe();
        self.controller.control(&self.measured, dt, &mut self.command)?;
        let (report, times) = self.simulation.step_timed(&self.command, clock)?;
        let X_SP = self.bodies.pancake_on_stove(&self.simulation);
        let up = X_SP.rotation * Vector3::z();
        let along = self.simulation.data().X_WB[self.bodies.spatula].rotation * Vector3::y();
        let p = X_SP.translation.vector;
        self.sensors.measure(&self.simulation, &mut self.measured);
        let pads = self.controller.task().gripper.fingers.len().min(self.measured.forces.len());
        let forces = &self.measured.forces[..pads];
        Ok(Sample {
            time: self.simulation.time(),
            faces: report.faces,
            iterations: report.solver_iterations,
            converged: report.solver_converged,
            times,
            keyframe,
            pitch: along.z.clamp(-1.0, 1.0).asin(),
            grip: forces.iter().map(|force| force.norm()).sum::<f64>() / pads.max(1) as f64,
            pancake: [p.x, p.y, p.z],
            side: up.z.clamp(-1.0, 1.0).asin(),
        })
    }

    /// The current pose and speed of the pancake.
    pub fn outcome(&self) -> Outcome {
        let X_SP = self.bodies.pancake_on_stove(&self.simulation);
        let down = -(X_SP.rotation * Vector3::z()).z;
        let p = X_SP.translation.vector;
        Outcome {
            from_upside_down: down.clamp(-1.0, 1.0).acos(),
            p: [p.x, p.y, p.z],
            speed: self.simulation.data().V_WB[self.bodies.pancake].v.norm(),
        }
    }

    /// Runs the whole task; `look` is called after each step and stops the run by returning false.
    ///
    /// # Errors
    /// The errors of [`Flip::step`].
    pub fn run(
        mut self,
        clock: &dyn Fn() -> f64,
        look: &mut dyn FnMut(&Self, &Sample) -> bool,
    ) -> Result<Run, FlipError> {
        let mut samples = Vec::new();
        while !self.done() {
            let sample = self.step(clock)?;
            samples.push(sample);
            if !look(&self, &sample) {
                break;
            }
        }
        Ok(self.finish(samples))
    }

    /// Whether the task is over, or takes too long.
    pub fn done(&self) -> bool {
        self.controller.done() || self.simulation.time() >= TIME_MAX
    }

    /// The result of a run with these samples, which ends now.
    pub fn finish(&self, samples: Vec<Sample>) -> Run {
        let (events, retries) = (self.controller.events().to_vec(), self.controller.retries());
        Run { samples, events, retries, outcome: self.outcome() }
    }
}

impl Bodies {
    fn of(scene: &Scene) -> Result<Self, FlipError> {
        let body = |name: &'static str| scene.body(name).ok_or(FlipError::Scene { name });
        Ok(Self { pancake: body(PANCAKE)?, spatula: body(SPATULA)?, stove: body(STOVE)? })
    }

    fn pancake_on_stove(&self, simulation: &Simulation) -> RigidTransform {
        let X_WB = &simulation.data().X_WB;
        X_WB[self.stove].inv_mul(&X_WB[self.pancake])
    }
}
