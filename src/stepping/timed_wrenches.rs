//! External wrenches over time: those of a schedule, and those that are held until a given time.

use super::command_schedule::Waveform;
use super::error::StepError;
use super::simulation::Simulation;
use crate::math::{BodyIndex, SpatialForce, Vector3};

/// The axes that a wrench is given in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WrenchAxes {
    /// Those of the body: the wrench turns with it.
    #[default]
    Body,
    /// Those of the world.
    World,
}

/// A wrench on a body over time, about the body's origin.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyWrench {
    /// The body.
    pub body: BodyIndex,
    /// The axes of force and torque.
    pub axes: WrenchAxes,
    /// The force along x, y, z \[N\].
    pub force: [Waveform; 3],
    /// The torque about x, y, z [N m].
    pub torque: [Waveform; 3],
}

/// A wrench that is held until a given time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldWrench {
    /// The body.
    pub body: BodyIndex,
    /// About the body's origin, in its axes [N m, N].
    pub F_BBo_B: SpatialForce,
    /// The wrench acts in steps that begin before this simulated time \[ns\].
    pub until_ns: u64,
}

/// The external wrenches of a run. [`TimedWrenches::apply`] sets them before a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimedWrenches {
    scheduled: Vec<BodyWrench>,
    held: Vec<HeldWrench>,
}

impl TimedWrenches {
    /// The wrenches of a schedule, at most one for each body.
    pub fn new(scheduled: Vec<BodyWrench>) -> Self {
        Self { scheduled, held: Vec::new() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.scheduled.is_empty() && self.held.is_empty()
    }

    /// The bodies of the scheduled wrenches.
    pub fn scheduled_bodies(&self) -> Vec<BodyIndex> {
        self.scheduled.iter().map(|wrench| wrench.body).collect()
    }

    /// The scheduled wrenches.
    pub fn scheduled(&self) -> &[BodyWrench] {
        &self.scheduled
    }

    /// The held wrenches.
    pub fn held(&self) -> &[HeldWrench] {
        &self.held
    }

    /// Holds a wrench, which replaces the one held on the same body and is added to the scheduled one.
    pub fn hold(&mut self, wrench: HeldWrench) {
        match self.held.iter_mut().find(|held| held.body == wrench.body) {
            Some(held) => *held = wrench,
            None => self.held.push(wrench),
        }
    }

    /// Releases all held wrenches. The external wrenches of their bodies are zero until the next
    /// [`TimedWrenches::apply`], which sets those of the schedule again.
    ///
    /// # Errors
    /// Those of [`Simulation::set_external_wrench`], which accepts the zero wrenches of this call.
    pub fn release(&mut self, simulation: &mut Simulation) -> Result<(), StepError> {
        let held = std::mem::take(&mut self.held);
        held.iter().try_for_each(|wrench| simulation.set_external_wrench(wrench.body, SpatialForce::ZERO))
    }

    /// Sets the wrenches of the step that begins now, and releases held wrenches whose time is over.
    ///
    /// # Errors
    /// A wrench that is not finite.
    pub fn apply(&mut self, simulation: &mut Simulation) -> Result<(), StepError> {
        let now_ns = simulation.time_ns();
        for wrench in &self.scheduled {
            let at = |waves: &[Waveform; 3]| Vector3::from_fn(|axis, _| waves[axis].value(now_ns));
            let F = SpatialForce::new(at(&wrench.torque), at(&wrench.force));
            let F_BBo_W = match wrench.axes {
                WrenchAxes::Body => to_world(simulation, wrench.body, &F),
                WrenchAxes::World => F,
            };
            simulation.set_external_wrench(wrench.body, F_BBo_W)?;
        }
        let Self { scheduled, held } = self;
        for wrench in held.iter() {
            let is_scheduled = scheduled.iter().any(|other| other.body == wrench.body);
            let mut F_BBo_W =
                if is_scheduled { simulation.external_wrenches()[wrench.body] } else { SpatialForce::ZERO };
            if now_ns < wrench.until_ns {
                F_BBo_W += to_world(simulation, wrench.body, &wrench.F_BBo_B);
            }
            simulation.set_external_wrench(wrench.body, F_BBo_W)?;
        }
        held.retain(|wrench| now_ns < wrench.until_ns);
        Ok(())
    }
}

fn to_world(simulation: &Simulation, body: BodyIndex, F_BBo_B: &SpatialForce) -> SpatialForce {
    let R_WB = &simulation.data().X_WB[body].rotation;
    SpatialForce::new(R_WB * F_BBo_B.tau, R_WB * F_BBo_B.f)
}
