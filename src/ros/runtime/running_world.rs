//! The running world: its simulation, its sensors, and the scene's commands over time.

use std::sync::OnceLock;

use crate::math::{BodyIndex, Index, JointIndex, ScalarJointIndex, SpatialForce, SpatialVelocity};
use crate::multibody::{JointKind, State, energy};
use crate::ros::exchange::health::Health;
use crate::ros::exchange::requests::{BodyStates, NewBodyState};
use crate::ros::exchange::settings::{Mode, Physics, RunSettings, SceneStepping};
use crate::ros::exchange::world::{NewWorld, WorldSource};
use crate::ros::log::names::Number;
use crate::scene::SceneSignature;
use crate::stepping::{
    CarriedMotion, Checkpoint, CheckpointError, CommandSchedule, ForceTorqueSensor, HeldWrench, JointCommand,
    JointTarget, LoadsBehind, MissedContact, Simulation, Snapshot, StepError, StepReport, Stepping, TimedWrenches,
    WrongFriction, schedules,
};

/// The largest turn of a joint in a step that a command or an applied wrench may cause \[rad\]. It is below
/// the 200 rad at which the next step fails (`multibody/tree_flow.rs`: 1000 substeps of 0.2 rad).
const TURN_MAX: f64 = 50.0;

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
    /// The signature of the scene's commands and wrenches over time, once it was needed.
    schedules: OnceLock<SceneSignature>,
    source: WorldSource,
    sensors: Vec<ForceTorqueSensor>,
    /// The motion of the load of each sensor at the start of the last step.
    carried: Vec<CarriedMotion>,
    measured: Vec<SpatialForce>,
    command: JointCommand,
    position: Vec<f64>,
    velocity: Vec<f64>,
    /// The state before the last step.
    before: State,
    /// The joints that turned too fast in the last step, if it failed for this reason.
    spinning: Vec<ScalarJointIndex>,
}

/// The world that was entered.
pub(super) struct EnteredWorld {
    /// Whether its state and time are those of the world before.
    pub(super) carries: bool,
    /// The topics of the controllers that lockstep waits for.
    pub(super) controllers: Vec<String>,
    /// The mode and the length \[ns\] of its steps, if they are not those of the world before.
    pub(super) chosen: Option<(Mode, u64)>,
}

impl RunningWorld {
    pub(super) fn new(
        number: u64,
        simulation: Simulation,
        stepping: SceneStepping,
        schedule: CommandSchedule,
        wrenches: TimedWrenches,
        force_torque: &[JointIndex],
        source: WorldSource,
    ) -> Self {
        let before = simulation.state().clone();
        let sensors: Vec<_> =
            force_torque.iter().map(|joint| ForceTorqueSensor::new(simulation.scene(), *joint)).collect();
        Self {
            number,
            carried: sensors.iter().map(|sensor| sensor.motion(&simulation)).collect(),
            measured: vec![SpatialForce::ZERO; sensors.len()],
            sensors,
            simulation,
            stepping,
            schedule,
            wrenches,
            schedules: OnceLock::new(),
            source,
            command: JointCommand::default(),
            position: Vec::new(),
            velocity: Vec::new(),
            before,
            spinning: Vec::new(),
        }
    }

    /// Continues the next world from the state of this one.
    pub(super) fn enter(&mut self, mut next: NewWorld) -> EnteredWorld {
        let keeps_stepping = next.carry_state_over(&self.simulation).unwrap_or_else(|error| {
            tracing::error!("{error}. The new world starts from its initial state");
            false
        });
        let NewWorld { number, simulation, stepping, commands, wrenches, force_torque, source, .. } = next;
        let NewWorld { controllers, carryover, chosen, .. } = next;
        *self = Self::new(number, simulation, stepping, commands, wrenches, &force_torque, source);
        EnteredWorld { carries: carryover.is_some(), controllers, chosen: (!keeps_stepping).then_some(chosen) }
    }

    /// A checkpoint of the simulation.
    pub(super) fn save(&self) -> Checkpoint {
        self.simulation.save().with_schedules(self.schedules().clone())
    }

    fn schedules(&self) -> &SceneSignature {
        self.schedules.get_or_init(|| schedules(self.simulation.scene(), &self.schedule, &self.wrenches))
    }

    /// Its source, for checkpoints.
    pub(super) fn source(&self) -> &WorldSource {
        &self.source
    }

    /// Compares the scene of a checkpoint with that of this world.
    pub(super) fn check_scene(&self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        checkpoint.check_scene(self.simulation.signature())
    }

    /// The wrenches that the sensors measured in the last step.
    pub(super) fn measured(&self) -> &[SpatialForce] {
        &self.measured
    }

    /// Sets the measured wrenches. Without exactly one for each sensor, all become zero.
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

    /// Also holds these wrenches, except those on missing bodies.
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
        checkpoint.check_schedules(self.schedules())?;
        self.simulation.restore(checkpoint)
    }

    /// Gravity and gains.
    pub(super) fn physics(&self) -> Physics {
        Physics::of(self.simulation.scene())
    }

    /// Whether no model is left, as after `unload_world`.
    pub(super) fn is_empty(&self) -> bool {
        self.simulation.scene().model().bodies().len() <= 1
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
        if let Err(error) = physics.apply(&mut self.simulation) {
            tracing::error!("{error}. The simulation continues with the previous value");
        }
    }

    /// Restores the initial poses and velocities, with the stepping mode selected now. False if the scene
    /// refuses that mode; then the steps are those from before.
    pub(super) fn reset_state(&mut self, settings: &RunSettings) -> bool {
        let (before, wanted) = (self.simulation.settings(), self.stepping.with_settings(settings));
        let reset = self.simulation.reset_with(wanted);
        match &reset {
            Ok(()) if wanted != before => {
                let mode = Mode::of(&wanted.stepping).name();
                tracing::info!("reset: {mode} steps of {} s from now on", Number(wanted.step_ns as f64 / 1e9));
            }
            Ok(()) => {}
            Err(error) => {
                tracing::error!("{error}. The reset keeps the previous stepping settings");
                self.simulation.reset();
            }
        }
        self.release_wrenches();
        self.measured.fill(SpatialForce::ZERO);
        reset.is_ok()
    }

    /// Sets the time since the start of this run to zero; the state does not change.
    pub(super) fn restart_time(&mut self) {
        self.release_wrenches();
        self.simulation.resume_at(0);
    }

    /// Places a free body as requested. Returns whether it succeeded.
    pub(super) fn set_body_state(&mut self, placement: &NewBodyState) -> bool {
        let (scene, mut state) = (self.simulation.scene().clone(), self.simulation.state().clone());
        if let Some(X_WB) = &placement.X_WB {
            scene.model().set_free_body_pose(&mut state, placement.body, X_WB);
        }
        if let Some(V_WB) = &placement.V_WB {
            scene.model().set_free_body_velocity(&mut state, placement.body, V_WB);
        }
        let set = self.simulation.set_state(state);
        if let Err(error) = &set {
            tracing::error!("{error}. The body is not moved");
        }
        set.is_ok()
    }

    /// The states of the bodies at `time_ns`; accelerations are zero unless `stepped`.
    pub(super) fn body_states(&self, time_ns: u64, stepped: bool) -> BodyStates {
        let data = self.simulation.data();
        let acceleration = |body: BodyIndex| {
            let acceleration = if stepped { self.simulation.free_body_acceleration(body) } else { None };
            acceleration.unwrap_or(SpatialVelocity::ZERO)
        };
        let A_WB = data.X_WB.iter_enumerated().map(|(body, _)| acceleration(body)).collect();
        BodyStates { time_ns, X_WB: data.X_WB.clone(), V_WB: data.V_WB.clone(), A_WB }
    }

    fn read_joints(&mut self) {
        let (scene, state) = (self.simulation.scene(), self.simulation.state());
        self.position.clear();
        self.velocity.clear();
        for joint in scene.joints() {
            let joint = &scene.model().joints()[*joint];
            self.position.push(joint.position(&state.q).unwrap_or(0.0));
            self.velocity.push(joint.velocity(&state.v).unwrap_or(0.0));
        }
    }

    /// The positions of the joints \[rad\] or \[m\].
    pub(super) fn positions(&mut self) -> &[f64] {
        self.read_joints();
        &self.position
    }

    /// Positions and velocities of the joints, and the command of the next step from the scene's schedule,
    /// which other commands may overwrite.
    pub(super) fn begin_step(&mut self) -> (&[f64], &[f64], &mut JointCommand) {
        self.read_joints();
        self.command.targets.clear();
        self.command.targets.extend(std::iter::repeat_n(JointTarget::default(), self.position.len()));
        self.schedule.fill(self.simulation.time_ns(), &mut self.command);
        (&self.position, &self.velocity, &mut self.command)
    }

    /// Two geometries whose friction in the last step is wrong, if there are any.
    pub(super) fn wrong_friction(&self) -> Option<WrongFriction<'_>> {
        self.simulation.wrong_friction()
    }
    /// The joint whose load at the end of the last step differs most from the one that acted, if any does.
    pub(super) fn loads_behind(&self) -> Option<LoadsBehind<'_>> {
        self.simulation.loads_behind()
    }
    /// Two geometries that met too fast for the last step to find their contact in time, if there are any.
    pub(super) fn missed_contact(&self) -> Option<MissedContact<'_>> {
        self.simulation.missed_contact()
    }

    /// Finds the joints that turn by more than [`TURN_MAX`] within the next step; returns the largest of
    /// their turns \[rad\]. Quasistatic steps have no momentum.
    fn find_spinning(&mut self) -> Option<f64> {
        self.spinning.clear();
        let step = self.simulation.settings().step();
        if matches!(self.simulation.settings().stepping, Stepping::Quasistatic(_)) {
            return None;
        }
        let (scene, v) = (self.simulation.scene(), &self.simulation.state().v);
        let turns = |kind| matches!(kind, JointKind::Revolute | JointKind::Continuous);
        let mut largest = None;
        for (number, joint) in scene.joints().iter().map(|joint| &scene.model().joints()[*joint]).enumerate() {
            let turn = joint.velocity(v).unwrap_or(0.0).abs() * step;
            if turns(joint.kind) && joint.mimic.is_none() && turn > TURN_MAX {
                self.spinning.push(ScalarJointIndex::from_usize(number));
                largest = Some(turn.max(largest.unwrap_or(0.0)));
            }
        }
        largest
    }

    /// The joints that turned too fast in the last step, if it failed for this reason.
    pub(super) fn spinning(&self) -> &[ScalarJointIndex] {
        &self.spinning
    }

    /// Takes one step with the command from [`RunningWorld::begin_step`]. A failed step leaves the last good
    /// state. A step also fails if a command or an applied wrench makes a joint turn too fast for the next
    /// one.
    pub(super) fn step(&mut self) -> Result<StepReport, StepError> {
        self.spinning.clear();
        for (motion, sensor) in self.carried.iter_mut().zip(&self.sensors) {
            *motion = sensor.motion(&self.simulation);
        }
        self.wrenches.apply(&mut self.simulation)?;
        self.before.clone_from(self.simulation.state());
        let report = self.simulation.step(&self.command)?;
        let commanded = self.command.targets.iter().any(|target| *target != JointTarget::default());
        if (commanded || !self.wrenches.held().is_empty())
            && let Some(turn) = self.find_spinning()
        {
            let (time, count) = (self.simulation.time(), self.simulation.step_count());
            let _ = self.simulation.set_state(self.before.clone());
            self.simulation.resume_at(count - 1);
            return Err(StepError::Spin { time, turn });
        }
        for (number, sensor) in self.sensors.iter().enumerate() {
            self.measured[number] = sensor.measure(&self.simulation, &self.carried[number]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::package::PackageMap;
    use crate::io::scene_file;
    use crate::math::Vector6;
    use crate::stepping::StepSettings;

    /// A torque of 1e9 N m on an arm of 3e-3 kg m2 leaves a speed of 3e8 rad/s after 1 ms: a turn of 3e5 rad
    /// in the next step, which no step with momentum can follow.
    #[test]
    fn a_step_that_none_can_follow_is_undone_in_each_mode_with_momentum() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ros/scenes/press.yaml");
        let loaded = scene_file::load(&file, &PackageMap::new()).unwrap();
        for mode in [Stepping::Dynamic(loaded.dynamic), Stepping::Spook(loaded.spook)] {
            let settings = StepSettings { stepping: mode, ..loaded.settings };
            let stepping = SceneStepping {
                settings,
                dynamic: loaded.dynamic,
                quasistatic: loaded.quasistatic,
                spook: loaded.spook,
                continuous: loaded.continuous,
            };
            let simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), settings).unwrap();
            let (commands, wrenches) = (loaded.commands.clone(), loaded.wrenches.clone());
            let mut world = RunningWorld::new(0, simulation, stepping, commands, wrenches, &[], WorldSource::default());
            let arm = loaded.scene.body("arm").unwrap();
            world.hold_wrench(arm, SpatialForce::from_vector(&(Vector6::z() * 1e9)), 1_000_000_000);
            let before = world.simulation.state().clone();
            world.begin_step();
            let stepped = world.step();
            assert!(matches!(stepped, Err(StepError::Spin { turn, .. }) if turn > 1e4), "{mode:?}: {stepped:?}");
            assert_eq!((world.simulation.state(), world.time_ns()), (&before, 0));
        }
    }
}
