//! The running world: its simulation, its sensors, and the scene's commands over time.

use crate::math::{BodyIndex, Index, JointIndex, SpatialForce, SpatialVelocity};
use crate::multibody::energy;
use crate::ros::exchange::health::Health;
use crate::ros::exchange::requests::{BodyStates, Placement};
use crate::ros::exchange::settings::{Physics, RunSettings, SceneStepping};
use crate::ros::exchange::world::{Carryover, NewWorld};
use crate::stepping::{
    Checkpoint, CheckpointError, CommandSchedule, ForceTorqueSensor, HeldWrench, JointCommand, JointTarget,
    MissedContact, Simulation, Snapshot, StepError, StepReport, Stepping, TimedWrenches, WrongFriction,
};

/// The simulation of a world, and the data that belong to the world.
pub(super) struct RunningWorld {
    /// The number of the world.
    pub(super) number: u64,
    simulation: Simulation,
    /// The scene's own stepping settings.
    stepping: SceneStepping,
    /// The command for joints that no controller has commanded.
    schedule: CommandSchedule,
    /// The scene's external wrenches over time, and those that other nodes apply for a while.
    wrenches: TimedWrenches,
    /// The entities that were spawned and deleted, for checkpoints.
    entities: Vec<u8>,
    sensors: Vec<ForceTorqueSensor>,
    momenta: Vec<SpatialForce>,
    measured: Vec<SpatialForce>,
    command: JointCommand,
    position: Vec<f64>,
    velocity: Vec<f64>,
}

impl RunningWorld {
    pub(super) fn new(
        number: u64,
        simulation: Simulation,
        stepping: SceneStepping,
        schedule: CommandSchedule,
        wrenches: TimedWrenches,
        force_torque: &[JointIndex],
        entities: Vec<u8>,
    ) -> Self {
        let sensors: Vec<_> =
            force_torque.iter().map(|joint| ForceTorqueSensor::new(simulation.scene(), *joint)).collect();
        Self {
            number,
            momenta: vec![SpatialForce::ZERO; sensors.len()],
            measured: vec![SpatialForce::ZERO; sensors.len()],
            sensors,
            simulation,
            stepping,
            schedule,
            wrenches,
            entities,
            command: JointCommand::default(),
            position: Vec::new(),
            velocity: Vec::new(),
        }
    }

    /// Enters the next world, which continues from the state of this one. Returns the parts of the state that
    /// were carried over, and the number of controllers of the new world.
    pub(super) fn enter(&mut self, mut next: NewWorld) -> (Option<Carryover>, usize) {
        if let Err(error) = next.go_on(&self.simulation) {
            tracing::error!("{error}. The new world starts from its initial state");
        }
        let NewWorld { number, simulation, stepping, commands, wrenches, force_torque, entities, .. } = next;
        let NewWorld { controllers, carryover, .. } = next;
        *self = Self::new(number, simulation, stepping, commands, wrenches, &force_torque, entities);
        (carryover, controllers)
    }

    /// A checkpoint of the simulation.
    pub(super) fn save(&self) -> Checkpoint {
        self.simulation.save()
    }

    /// The entities that were spawned and deleted.
    pub(super) fn entities(&self) -> &[u8] {
        &self.entities
    }

    /// The wrenches that the sensors measured in the last step.
    pub(super) fn measured(&self) -> &[SpatialForce] {
        &self.measured
    }

    /// Sets the measured wrenches, one for each sensor; all are zero if the number is another one.
    pub(super) fn set_measured(&mut self, measured: &[SpatialForce]) {
        self.measured.fill(SpatialForce::ZERO);
        if measured.len() == self.measured.len() {
            self.measured.copy_from_slice(measured);
        }
    }

    /// The wrenches that other nodes apply.
    pub(super) fn held_wrenches(&self) -> &[HeldWrench] {
        self.wrenches.held()
    }

    /// Applies a wrench to a body, about its origin and in its axes, from the next step on: for
    /// `duration_ns`, but for at least one step.
    pub(super) fn hold_wrench(&mut self, body: BodyIndex, F_BBo_B: SpatialForce, duration_ns: u64) {
        let until_ns = self.simulation.time_ns().saturating_add(duration_ns.max(1));
        self.set_held_wrenches(&[HeldWrench { body, F_BBo_B, until_ns }]);
    }

    /// Holds these wrenches, too; those on missing bodies are left out.
    pub(super) fn set_held_wrenches(&mut self, held: &[HeldWrench]) {
        let bodies = self.simulation.scene().model().bodies().len();
        held.iter().filter(|wrench| wrench.body.to_usize() < bodies).for_each(|wrench| self.wrenches.hold(*wrench));
    }

    /// Ends the wrenches that other nodes apply.
    pub(super) fn release_wrenches(&mut self) {
        if let Err(error) = self.wrenches.release(&mut self.simulation) {
            tracing::error!("{error}");
        }
    }

    /// Continues from a checkpoint.
    pub(super) fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        self.simulation.restore(checkpoint)
    }

    /// Gravity and gains.
    pub(super) fn physics(&self) -> Physics {
        Physics::of(self.simulation.scene())
    }

    /// Number of joints.
    pub(super) fn joints(&self) -> usize {
        self.simulation.scene().joints().len()
    }

    /// Time since the start of this run \[ns\].
    pub(super) fn time_ns(&self) -> u64 {
        self.simulation.time_ns()
    }

    /// Length of a step \[ns\].
    pub(super) fn step_ns(&self) -> u64 {
        self.simulation.step_ns()
    }

    /// Sets gravity and gains.
    pub(super) fn apply(&mut self, physics: &Physics) {
        let (scene, gains) = (self.simulation.scene(), physics.gains.iter());
        let mut actuators = scene.actuators().iter();
        let same = gains.zip(&mut actuators).all(|(gains, actuator)| *gains == (actuator.stiffness, actuator.damping));
        // The scene is shared, so a change copies it.
        if same && physics.gravity_W == *scene.model().gravity_W() {
            return;
        }
        if let Err(error) = physics.apply(self.simulation.scene_mut()) {
            tracing::error!("{error}. The simulation continues with the previous value");
        }
    }

    /// Restores the initial poses and velocities, with the stepping mode selected now.
    pub(super) fn reset_state(&mut self, settings: &RunSettings) {
        let (before, wanted) = (self.simulation.settings(), self.stepping.under(settings));
        match self.simulation.reset_with(wanted) {
            Ok(()) if wanted != before => {
                let mode = if matches!(wanted.stepping, Stepping::Dynamic(_)) { "dynamic" } else { "quasistatic" };
                tracing::info!("reset: {mode} steps of {} s from now on", wanted.step());
            }
            Ok(()) => {}
            Err(error) => {
                tracing::error!("{error}. The reset keeps the previous stepping settings");
                self.simulation.reset();
            }
        }
        self.release_wrenches();
        self.measured.fill(SpatialForce::ZERO);
    }

    /// Sets the time since the start of this run to zero; the state does not change.
    pub(super) fn restart_time(&mut self) {
        self.release_wrenches();
        self.simulation.resume_at(0);
    }

    /// Places free bodies as requested. Returns whether it succeeded.
    pub(super) fn place(&mut self, placements: &[Placement]) -> bool {
        let (scene, mut state) = (self.simulation.scene().clone(), self.simulation.state().clone());
        for placement in placements {
            if let Some(X_WB) = &placement.X_WB {
                scene.model().set_free_body_pose(&mut state, placement.body, X_WB);
            }
            if let Some(V_WB) = &placement.V_WB {
                scene.model().set_free_body_velocity(&mut state, placement.body, V_WB);
            }
        }
        let set = self.simulation.set_state(state);
        if let Err(error) = &set {
            tracing::error!("{error}. The bodies are not moved");
        }
        set.is_ok()
    }

    /// The states of the bodies at `time_ns`; accelerations only if `stepped`.
    pub(super) fn body_states(&self, time_ns: u64, stepped: bool) -> BodyStates {
        let data = self.simulation.data();
        let acceleration = |body: BodyIndex| {
            let acceleration = if stepped { self.simulation.free_body_acceleration(body) } else { None };
            acceleration.unwrap_or(SpatialVelocity::ZERO)
        };
        let A_WB = data.X_WB.iter_enumerated().map(|(body, _)| acceleration(body)).collect();
        BodyStates { time_ns, X_WB: data.X_WB.clone(), V_WB: data.V_WB.clone(), A_WB }
    }

    /// Positions and velocities of the joints, and the command of the next step from the scene's schedule,
    /// which other commands may overwrite.
    pub(super) fn begin_step(&mut self) -> (&[f64], &[f64], &mut JointCommand) {
        let (scene, state) = (self.simulation.scene(), self.simulation.state());
        self.position.clear();
        self.velocity.clear();
        for joint in scene.joints() {
            let joint = &scene.model().joints()[*joint];
            self.position.push(joint.position(&state.q).unwrap_or(0.0));
            self.velocity.push(joint.velocity(&state.v).unwrap_or(0.0));
        }
        self.command.targets.clear();
        self.command.targets.extend(std::iter::repeat_n(JointTarget::default(), self.position.len()));
        self.schedule.fill(self.simulation.time_ns(), &mut self.command);
        (&self.position, &self.velocity, &mut self.command)
    }

    /// Two geometries whose friction in the last step is wrong, if there are any.
    pub(super) fn wrong_friction(&self) -> Option<WrongFriction<'_>> {
        self.simulation.wrong_friction()
    }
    /// Two geometries that met too fast for the last step to find their contact in time, if there are any.
    pub(super) fn missed_contact(&self) -> Option<MissedContact<'_>> {
        self.simulation.missed_contact()
    }

    /// Takes one step with the command from [`RunningWorld::begin_step`]. A failed step leaves the last good
    /// state.
    pub(super) fn step(&mut self) -> Result<StepReport, StepError> {
        for (momentum, sensor) in self.momenta.iter_mut().zip(&self.sensors) {
            *momentum = sensor.momentum(&self.simulation);
        }
        self.wrenches.apply(&mut self.simulation)?;
        let report = self.simulation.step(&self.command)?;
        for (number, sensor) in self.sensors.iter().enumerate() {
            self.measured[number] = sensor.measure(&self.simulation, &self.momenta[number]);
        }
        Ok(report)
    }

    /// Writes the present state and the sensor values of the last step.
    pub(super) fn snapshot_into(&self, snapshot: &mut Snapshot, sensors: &mut Vec<SpatialForce>) {
        self.simulation.snapshot_into(snapshot);
        sensors.clone_from(&self.measured);
    }

    /// The name of a joint.
    pub(super) fn joint_name(&self, joint: usize) -> &str {
        self.simulation.scene().joint_names().get(joint).map_or("", String::as_str)
    }

    /// Energies, contacts and the length of a step; the other fields come from `health`.
    pub(super) fn health(&self, health: Health) -> Health {
        let simulation = &self.simulation;
        let energy = energy(simulation.scene().model(), simulation.data(), &simulation.state().v);
        Health {
            faces: simulation.report().faces,
            penetration_max: simulation.penetration_max(),
            kinetic: energy.kinetic,
            potential: energy.potential,
            step: simulation.settings().step(),
            ..health
        }
    }
}
