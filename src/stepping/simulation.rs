//! The simulation of a scene.

use std::sync::{Arc, OnceLock};

use super::checkpoint::{
    Checkpoint, CheckpointError, read_velocities, read_wrenches, write_velocities, write_wrenches,
};
use super::checks::{check_state, check_steps};
use super::command::JointCommand;
use super::control_memory::ControlMemory;

use super::dynamic::DynamicStep;
use super::error::{SimulationError, StepError};

use super::external::ExternalWrenches;
use super::inertial_load::InertialLoad;
use super::input::{StepInput, StepStart};
use super::loads_behind::LoadsBehind;
use super::missed_contact::MissedContact;
use super::quasistatic::QuasistaticStep;
use super::result::{StepContact, StepResult};
use super::settings::{CommonSettings, StepSettings, Stepping};
use super::snapshot::{ContactPatch, Snapshot, StepReport, StepTimes, penetration};
use super::stepper::Stepper;
use super::wrong_friction::WrongFriction;
use crate::math::{
    BodyIndex, ByteWriter, BytesError, Index, IndexVec, ScalarJointIndex, SpatialForce, SpatialVelocity, Vector3,
};
use crate::multibody::{Data, JointKind, State, energy, kinematics, spring_energy};
use crate::scene::{ContactKind, Scene, SceneChangeError, SceneSignature, StartPhysics};

/// A scene, its state and the memory of its steps.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(super) scene: Arc<Scene>,
    /// The signature of the scene, once it has been needed.
    signature: OnceLock<SceneSignature>,
    /// The gravity and the gains of the scene when the simulation was made.
    start: StartPhysics,
    pub(super) settings: CommonSettings,
    pub(super) stepper: Stepper,
    initial: State,
    pub(super) state: State,
    /// Velocities at the start of the last step, or those of `state` if there was none.
    pub(super) v_before: Vec<f64>,
    step_count: u64,
    pub(super) data: Data,
    /// Velocities of the bodies at the start of the last step, or those of `data` if there was none.
    V_before: IndexVec<BodyIndex, SpatialVelocity>,
    /// The value of `V_before` during the last step, which comes back if a step fails.
    V_last: IndexVec<BodyIndex, SpatialVelocity>,
    external: ExternalWrenches,
    /// The last step.
    pub(super) result: StepResult,
    pub(super) F_BBo_W: IndexVec<BodyIndex, SpatialForce>,
    /// The memory of error control.
    pub(super) control: ControlMemory,
}

impl Simulation {
    /// A simulation of `scene` from `initial`.
    ///
    /// # Errors
    /// A state that has the wrong size or is not finite; a setting that is out of range, or that has no
    /// meaning with other settings or with the scene; unless the steps are quasistatic, a joint whose motion
    /// has no inertia ([`Model::check_mass`](crate::multibody::Model::check_mass)).
    pub fn new(scene: Arc<Scene>, initial: State, settings: StepSettings) -> Result<Self, SimulationError> {
        let model = scene.model();
        check_state(model, &initial)?;
        check_steps(&scene, &settings)?;
        let mut simulation = Self {
            settings: settings.common(),
            stepper: Stepper::new(settings.stepping, &scene, &initial),
            state: initial.clone(),
            v_before: initial.v.clone(),
            step_count: 0,
            data: Data::new(model),
            V_before: IndexVec::default(),
            V_last: IndexVec::default(),
            external: ExternalWrenches::new(model),
            result: StepResult::new(&initial, scene.joints().len()),
            F_BBo_W: IndexVec::from_elem(SpatialForce::ZERO, model.bodies().len()),
            control: ControlMemory::default(),
            initial,
            signature: OnceLock::new(),
            start: StartPhysics::of(&scene),
            scene,
        };
        simulation.update_kinematics();
        Ok(simulation)
    }

    /// The scene.
    pub fn scene(&self) -> &Arc<Scene> {
        &self.scene
    }
    /// The scene, to be changed between steps; [`Simulation::set_gravity`] and [`Simulation::set_gains`]
    /// change these parts alone. If the scene is shared, other owners keep the unchanged scene.
    pub fn scene_mut(&mut self) -> &mut Scene {
        self.signature.take();
        self.stepper.wake();
        Arc::make_mut(&mut self.scene)
    }
    /// Sets gravity [m/s2, world] from the next step on. A shared scene is copied.
    ///
    /// # Errors
    /// The errors of [`Scene::set_gravity`].
    pub fn set_gravity(&mut self, gravity_W: Vector3) -> Result<(), SceneChangeError> {
        self.stepper.wake();
        Arc::make_mut(&mut self.scene).set_gravity(gravity_W)
    }
    /// Sets the gains of a joint's actuator from the next step on. A shared scene is copied.
    ///
    /// # Errors
    /// The errors of [`Scene::set_gains`].
    pub fn set_gains(&mut self, joint: ScalarJointIndex, stiffness: f64, damping: f64) -> Result<(), SceneChangeError> {
        Arc::make_mut(&mut self.scene).set_gains(joint, stiffness, damping)
    }
    /// Whether a body slept in the last step; only with [`Sleep`](super::Sleep).
    pub fn is_asleep(&self, body: BodyIndex) -> bool {
        let joint = self.scene.model().free_joint(body);
        let step = self.stepper.dynamic();
        joint.zip(step).is_some_and(|(joint, step)| step.is_asleep(self.scene.model(), joint.v_start))
    }
    /// Net contact wrenches on the bodies over the last step, about their origins, in world axes [N m, N];
    /// see [`Snapshot::F_BBo_W`] for their lever arms.
    pub fn body_wrenches(&self) -> &IndexVec<BodyIndex, SpatialForce> {
        &self.F_BBo_W
    }
    /// Applies `F_BBo_W` to `body` about its origin, in world axes [N m, N], from the next step on. It acts
    /// in the steps of all modes, until it is set again or the simulation is reset. A wrench on the world has
    /// no effect.
    ///
    /// # Errors
    /// A wrench that is not finite; the previous wrench remains.
    pub fn set_external_wrench(&mut self, body: BodyIndex, F_BBo_W: SpatialForce) -> Result<(), StepError> {
        if !F_BBo_W.to_vector().iter().all(|x| x.is_finite()) {
            return Err(StepError::WrenchNotFinite { body: self.scene.model().bodies()[body].name.clone() });
        }
        self.external.set(body, F_BBo_W);
        Ok(())
    }
    /// The external wrenches on the bodies, about their origins, in world axes [N m, N].
    pub fn external_wrenches(&self) -> &IndexVec<BodyIndex, SpatialForce> {
        self.external.wrenches()
    }

    /// The greatest depth of a contact of the last step \[m\], as in [`ContactPatch::penetration`]; 0 without
    /// contact.
    pub fn penetration_max(&self) -> f64 {
        let depth = |pair: usize| match self.scene.contact_pairs()[pair].kind {
            ContactKind::PressureField => {
                let (surface, kept) = self.stepper.surface(pair);
                penetration(surface, kept)
            }
            ContactKind::Points => self.stepper.points(pair).phi.iter().map(|phi| -phi).fold(0.0, f64::max),
        };
        self.result.contacts.iter().map(|contact| depth(contact.patch.pair)).fold(0.0, f64::max)
    }
    /// Two geometries that may pass through each other: they met too fast for the last step, or their
    /// pressure did not stop them in it.
    pub fn missed_contact(&self) -> Option<MissedContact<'_>> {
        let missed = self.result.missed?;
        Some(MissedContact::new(&self.scene, missed, self.last_length()))
    }
    /// The two geometries whose friction in the last step is farthest from Coulomb's law, if it is still
    /// wrong after all rounds.
    pub fn wrong_friction(&self) -> Option<WrongFriction<'_>> {
        let wrong = self.result.wrong_friction?;
        Some(WrongFriction::new(&self.scene, wrong, self.last_length()))
    }
    /// The body with the largest share of inertia in the last quasistatic step, if the share is above 10 %.
    pub fn inertial_load(&self) -> Option<InertialLoad<'_>> {
        InertialLoad::new(&self.scene, self.result.inertial)
    }
    /// The joint whose load at the end of the last quasistatic step differs most from the one that acted, if
    /// the
    /// step settled only with the loads of its start.
    pub fn loads_behind(&self) -> Option<LoadsBehind<'_>> {
        LoadsBehind::find(&self.scene, &self.result)
    }
    /// The settings of the steps.
    pub fn settings(&self) -> StepSettings {
        self.settings.with(self.stepper.stepping())
    }
    /// Present positions and velocities.
    pub fn state(&self) -> &State {
        &self.state
    }
    /// The state `after` \[s\] the start of the last step in the continuous model, by the polynomials of its
    /// parts; `None` outside of this step and in other modes.
    pub fn state_within(&self, after: f64) -> Option<State> {
        self.stepper.state_within(self.scene.model(), after)
    }
    /// Present poses and velocities of the bodies.
    pub fn data(&self) -> &Data {
        &self.data
    }
    /// Steps taken since the start or the last reset.
    pub fn step_count(&self) -> u64 {
        self.step_count
    }
    /// The step \[ns\].
    pub fn step_ns(&self) -> u64 {
        self.settings.step_ns
    }
    /// Simulated time \[ns\].
    pub fn time_ns(&self) -> u64 {
        self.step_count * self.settings.step_ns
    }
    /// Simulated time \[s\].
    pub fn time(&self) -> f64 {
        self.time_ns() as f64 * 1e-9
    }
    /// The report of the last step.
    pub fn report(&self) -> &StepReport {
        &self.result.report
    }

    /// Returns to the initial state and time zero, and discards warm starts and external wrenches.
    pub fn reset(&mut self) {
        self.restart(self.stepper.stepping());
    }

    /// Does the same as [`Simulation::reset`], and takes later steps with `settings`, also in another mode.
    ///
    /// # Errors
    /// The errors of [`Simulation::new`], except those of the state; nothing changes then.
    pub fn reset_with(&mut self, settings: StepSettings) -> Result<(), SimulationError> {
        check_steps(&self.scene, &settings)?;
        self.settings = settings.common();
        self.restart(settings.stepping);
        Ok(())
    }

    fn restart(&mut self, stepping: Stepping) {
        self.state.clone_from(&self.initial);
        self.step_count = 0;
        self.external.clear();
        self.result = StepResult::new(&self.initial, self.scene.joints().len());
        self.forget_steps(stepping);
    }

    /// Continues from `state` at the present time, and discards the memory of earlier contacts. The state to
    /// which a reset returns, external wrenches, and positions at which quasistatic steps hold joints stay.
    ///
    /// # Errors
    /// A state that has the wrong size or is not finite; nothing changes then.
    pub fn set_state(&mut self, state: State) -> Result<(), SimulationError> {
        check_state(self.scene.model(), &state)?;
        self.state = state;
        self.result.forget_contacts();
        let mut fresh = Stepper::new(self.stepper.stepping(), &self.scene, &self.initial);
        fresh.hold_as(&self.stepper);
        self.stepper = fresh;
        self.forget_results();
        Ok(())
    }

    /// The positions at which quasistatic steps hold the joints that a command does not move: those commanded
    /// last, or the initial ones [rad or m]. Empty in other modes.
    pub fn held_positions(&self) -> &[f64] {
        self.stepper.quasistatic().map_or(&[], QuasistaticStep::held_positions)
    }

    /// Sets a position of [`Simulation::held_positions`] [rad or m]; without effect in other modes.
    pub fn hold_position(&mut self, joint: ScalarJointIndex, position: f64) {
        self.stepper.hold_position(joint.to_usize(), position);
    }

    /// Continues from the present state as if there had been no step before.
    fn forget_steps(&mut self, stepping: Stepping) {
        self.stepper = Stepper::new(stepping, &self.scene, &self.initial);
        self.forget_results();
    }

    fn forget_results(&mut self) {
        self.v_before.clone_from(&self.state.v);
        self.control = ControlMemory::default();
        self.F_BBo_W.iter_mut().for_each(|wrench| *wrench = SpatialForce::ZERO);
        self.update_kinematics();
    }

    /// Places the bodies in the present state, as if there had been no step before.
    fn update_kinematics(&mut self) {
        kinematics(self.scene.model(), &self.state, &mut self.data);
        self.V_before.clone_from(&self.data.V_WB);
        self.V_last.clone_from(&self.data.V_WB);
    }

    /// Sets the number of steps taken, and with it the simulated time. Nothing else changes.
    pub fn resume_at(&mut self, step_count: u64) {
        self.step_count = step_count;
    }

    /// All data that the next step takes from the previous ones, and the last results except contact patches.
    /// The first call, also after [`Simulation::scene_mut`], reads the whole scene with its meshes.
    pub fn save(&self) -> Checkpoint {
        let mut writer = ByteWriter::default();
        self.scene.model().gravity_W().iter().for_each(|number| writer.f64(*number));
        for actuator in self.scene.actuators() {
            writer.f64(actuator.stiffness);
            writer.f64(actuator.damping);
        }
        for numbers in [&self.initial.q, &self.initial.v, &self.state.q, &self.state.v, &self.v_before] {
            writer.numbers(numbers);
        }
        write_wrenches(self.external.wrenches(), &mut writer);
        write_wrenches(&self.F_BBo_W, &mut writer);
        write_velocities(&self.V_before, &mut writer);
        self.result.write(&mut writer);
        writer.u64(self.control.next_ns);
        self.stepper.write_memory(self.scene.model(), &mut writer);
        Checkpoint::new(self.signature().clone(), &self.settings(), self.step_count, writer.into_bytes())
    }

    /// Continues where `checkpoint` was made: all later steps have the same bits as those of the simulation
    /// that was saved.
    ///
    /// # Errors
    /// A checkpoint of another scene, of another initial state or of other settings of the steps, or one with
    /// invalid values; the simulation is then unchanged.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        let mut reader = checkpoint.open(self.signature(), &self.settings())?;
        let (nq, nv) = (self.scene.model().nq(), self.scene.model().nv());
        checkpoint.step_count().checked_mul(self.settings.step_ns).ok_or(BytesError::Invalid)?;
        let mut scene = self.scene.clone();
        let gravity_W = Vector3::new(reader.finite()?, reader.finite()?, reader.finite()?);
        if gravity_W != *scene.model().gravity_W() {
            Arc::make_mut(&mut scene).set_gravity(gravity_W).map_err(|_| BytesError::Invalid)?;
        }
        for joint in (0..scene.actuators().len()).map(ScalarJointIndex::from_usize) {
            let gains = (reader.finite()?, reader.finite()?);
            let actuator = &scene.actuators()[joint.to_usize()];
            if gains != (actuator.stiffness, actuator.damping) {
                let changed = Arc::make_mut(&mut scene).set_gains(joint, gains.0, gains.1);
                changed.map_err(|_| BytesError::Invalid)?;
            }
        }
        let initial = State { q: reader.numbers_of(nq)?, v: reader.numbers_of(nv)? };
        let state = State { q: reader.numbers_of(nq)?, v: reader.numbers_of(nv)? };
        let v_before = reader.numbers_of(nv)?;
        let mut external = ExternalWrenches::new(scene.model());
        external.read(&mut reader)?;
        let mut F_BBo_W = self.F_BBo_W.clone();
        read_wrenches(&mut F_BBo_W, &mut reader)?;
        let V_before = read_velocities(scene.model().bodies().len(), &mut reader)?;
        let mut result = StepResult::new(&initial, scene.joints().len());
        result.read(&mut reader)?;
        if checkpoint.step_count() > 0 {
            result.report.scheme = self.stepper.scheme();
        }
        let control = ControlMemory::resuming(reader.u64()?);
        let mut stepper = Stepper::new(self.stepper.stepping(), &scene, &initial);
        stepper.read_memory(&scene, &mut reader)?;
        reader.end()?;
        (self.scene, self.initial, self.state, self.v_before) = (scene, initial, state, v_before);
        (self.external, self.F_BBo_W, self.result, self.stepper) = (external, F_BBo_W, result, stepper);
        (self.step_count, self.control) = (checkpoint.step_count(), control);
        self.update_kinematics();
        self.V_before = V_before;
        Ok(())
    }

    pub(crate) fn signature(&self) -> &SceneSignature {
        self.signature.get_or_init(|| SceneSignature::new(&self.scene, &self.start, &self.initial))
    }

    /// Mean acceleration of a free body's origin over the last step, in world axes [rad/s2, m/s2]; `None` if
    /// the body is not free. Valid only after a successful step.
    pub fn free_body_acceleration(&self, body: BodyIndex) -> Option<SpatialVelocity> {
        let joint = self.scene.model().free_joint(body)?;
        let change = |k: usize| self.state.v[joint.v_start + k] - self.v_before[joint.v_start + k];
        let (w, v) = (Vector3::new(change(0), change(1), change(2)), Vector3::new(change(3), change(4), change(5)));
        let rate = 1.0 / self.settings.step();
        Some(SpatialVelocity { w: joint.X_PF.rotation * w * rate, v: joint.X_PF.rotation * v * rate })
    }

    /// Advances by one step under `command`.
    ///
    /// # Errors
    /// A malformed command, or a step without a valid solution ([`StepError`]). The state and the loads of
    /// contacts are then unchanged.
    pub fn step(&mut self, command: &JointCommand) -> Result<StepReport, StepError> {
        self.advance(command, None)
    }

    /// Does the same as [`Simulation::step`], and measures the time of each part by `clock` \[s\]. The state
    /// does not depend on it.
    ///
    /// # Errors
    /// The errors of [`Simulation::step`].
    pub fn step_timed(
        &mut self,
        command: &JointCommand,
        clock: &dyn Fn() -> f64,
    ) -> Result<(StepReport, StepTimes), StepError> {
        let report = self.advance(command, Some(clock))?;
        Ok((report, self.result.times))
    }

    fn advance(&mut self, command: &JointCommand, clock: Option<&dyn Fn() -> f64>) -> Result<StepReport, StepError> {
        self.check_command(command)?;
        std::mem::swap(&mut self.V_before, &mut self.V_last);
        self.V_before.clone_from(&self.data.V_WB);
        let taken = match self.error_control() {
            Some(control) => self.advance_controlled(command, control, clock),
            None => self.take_step(command, clock, 0, self.settings.step_ns).map(|()| self.result.report),
        };
        let report = taken.inspect_err(|_| std::mem::swap(&mut self.V_before, &mut self.V_last))?;
        self.step_count += 1;
        Ok(report)
    }

    /// Takes a step of the length `step_ns` from the present state, at `after_ns` past the present time.
    pub(super) fn take_step(
        &mut self,
        command: &JointCommand,
        clock: Option<&dyn Fn() -> f64>,
        after_ns: u64,
        step_ns: u64,
    ) -> Result<(), StepError> {
        self.external.project(self.scene.model(), &self.data);
        let settings = CommonSettings { step_ns, ..self.settings };
        let input = StepInput {
            scene: &self.scene,
            settings: &settings,
            start: StepStart {
                initial: &self.initial,
                state: &self.state,
                v_before: &self.v_before,
                command,
                external: self.external.generalized(),
                wrenches: self.external.wrenches(),
            },
            time: (self.time_ns() + after_ns) as f64 * 1e-9,
            clock,
        };
        if let Err(error) = self.stepper.step(&input, &mut self.data, &mut self.result) {
            self.v_before.copy_from_slice(&self.state.v);
            return Err(error);
        }
        self.accumulate_body_wrenches(settings.step());
        let end = &self.result.state;
        self.v_before.copy_from_slice(&self.state.v);
        self.state.q.copy_from_slice(&end.q);
        self.state.v.copy_from_slice(&end.v);
        kinematics(self.scene.model(), &self.state, &mut self.data);
        Ok(())
    }

    /// The impulses of the velocity limits in the last step, by joint [N s] or [N m s].
    pub(super) fn speed_limits(&self) -> &[(ScalarJointIndex, f64)] {
        &self.result.speed_limits
    }

    /// The external wrenches.
    pub(super) fn external(&self) -> &ExternalWrenches {
        &self.external
    }

    /// The inputs of a step under `command` and the generalized `external` forces.
    pub(super) fn step_input<'a>(
        &'a self,
        command: &'a JointCommand,
        external: &'a [f64],
    ) -> Result<StepInput<'a>, StepError> {
        self.check_command(command)?;
        Ok(StepInput {
            scene: &self.scene,
            settings: &self.settings,
            start: StepStart {
                initial: &self.initial,
                state: &self.state,
                v_before: &self.v_before,
                command,
                external,
                wrenches: self.external.wrenches(),
            },
            time: self.time(),
            clock: None,
        })
    }

    /// The memory of dynamic steps.
    pub(super) fn dynamic_step(&self) -> Option<&DynamicStep> {
        self.stepper.dynamic()
    }

    /// The memory of quasistatic steps.
    pub(super) fn quasistatic_step(&self) -> Option<&QuasistaticStep> {
        self.stepper.quasistatic()
    }

    fn check_command(&self, command: &JointCommand) -> Result<(), StepError> {
        let names = self.scene.joint_names();
        if !command.targets.is_empty() && command.targets.len() != names.len() {
            return Err(StepError::CommandLength { given: command.targets.len(), expected: names.len() });
        }
        let finite = |value: Option<f64>| value.is_none_or(f64::is_finite);
        for (target, name) in command.targets.iter().zip(names) {
            if !(finite(target.position) && finite(target.velocity) && finite(target.effort)) {
                return Err(StepError::CommandNotFinite { joint: name.clone() });
            }
        }
        Ok(())
    }

    /// Sums the net contact wrench on each body about its origin, from the patches' impulses, or takes the
    /// means that the step has.
    fn accumulate_body_wrenches(&mut self, step: f64) {
        if !self.result.wrenches.is_empty() {
            self.F_BBo_W.clone_from(&self.result.wrenches);
            return;
        }
        self.F_BBo_W.iter_mut().for_each(|wrench| *wrench = SpatialForce::ZERO);
        let rate = 1.0 / step;
        for contact in &self.result.contacts {
            let pair = &self.scene.contact_pairs()[contact.patch.pair];
            let F_BC_W = contact.impulse * rate;
            let [p_WAo, p_WBo] = contact.patch.p_WBo;
            for (geometry, F_C, p_WBo) in [(pair.A, -F_BC_W, p_WAo), (pair.B, F_BC_W, p_WBo)] {
                let body = self.scene.geometries()[geometry].body;
                self.F_BBo_W[body] += F_C.shift(&(p_WBo - contact.patch.p_WC));
            }
        }
    }

    /// Writes the present state and the contacts of the last step into `snapshot`, reusing its memory.
    pub fn snapshot_into(&self, snapshot: &mut Snapshot) {
        let model = self.scene.model();
        snapshot.step = self.step_count;
        snapshot.time_ns = self.time_ns();
        snapshot.joint_position.clear();
        snapshot.joint_velocity.clear();
        for joint in self.scene.joints() {
            let joint = &model.joints()[*joint];
            snapshot.joint_position.push(joint.position(&self.state.q).unwrap_or(f64::NAN));
            snapshot.joint_velocity.push(joint.velocity(&self.state.v).unwrap_or(f64::NAN));
        }
        snapshot.joint_effort.clear();
        snapshot.joint_effort.extend(self.result.efforts.iter().copied());
        snapshot.X_WB.clone_from(&self.data.X_WB);
        snapshot.V_WB.clone_from(&self.data.V_WB);
        self.write_accelerations(snapshot);
        snapshot.planar_joints.clear();
        for joint in model.joints().iter().filter(|joint| joint.kind == JointKind::Planar) {
            let (q, v) = (&self.state.q[joint.q_start..], &self.state.v[joint.v_start..]);
            snapshot.planar_joints.push([q[0], q[1], q[2], v[0], v[1], v[2]]);
        }
        snapshot.F_BBo_W.clone_from(&self.F_BBo_W);
        snapshot.external_F_BBo_W.clone_from(self.external_wrenches());
        snapshot.energy = energy(model, &self.data, &self.state.v);
        snapshot.spring_energy = spring_energy(model, &self.state.q);
        snapshot.report = self.result.report;
        snapshot.patch_count = 0;
        for (number, contact) in self.result.contacts.iter().enumerate().filter(|(_, contact)| self.touches(contact)) {
            if snapshot.patches.len() == snapshot.patch_count {
                snapshot.patches.push(ContactPatch::default());
            }
            self.write_patch(number, contact, &mut snapshot.patches[snapshot.patch_count]);
            snapshot.patch_count += 1;
        }
    }

    fn write_accelerations(&self, snapshot: &mut Snapshot) {
        let quasistatic = matches!(self.stepper.stepping(), Stepping::Quasistatic(_));
        let rate = if quasistatic { 0.0 } else { 1.0 / self.settings.step() };
        snapshot.gravity_W = *self.scene.model().gravity_W();
        snapshot.A_WB.clear();
        for (V, before) in self.data.V_WB.iter().zip(self.V_before.iter()) {
            snapshot.A_WB.push(SpatialVelocity::new((V.w - before.w) * rate, (V.v - before.v) * rate));
        }
    }

    /// Whether the pair of a patch touches. Points of rigid geometries may be merely near each other.
    fn touches(&self, contact: &StepContact) -> bool {
        let pair = &self.scene.contact_pairs()[contact.patch.pair];
        pair.kind == ContactKind::PressureField || contact.impulse != SpatialForce::ZERO
    }
}
