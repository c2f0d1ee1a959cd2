//! A scene in motion.

use std::sync::Arc;

use super::external::ExternalWrenches;
use super::joint_rows::StepStart;
use super::quasistatic::QuasistaticStep;
use super::snapshot::{ContactPatch, PatchFaces};
use super::stepper::{StepInput, Stepper};
use super::{
    JointCommand, QuasistaticStepping, Snapshot, StepReport, StepSettings, StepTimes, Stepping, UnactuatedInertia,
};
use crate::math::{BodyIndex, IndexVec, SpatialForce, SpatialVelocity, Vector3};
use crate::multibody::{Data, Model, State, integrate, kinematics};
use crate::scene::{ContactKind, Scene};
use crate::solvers::quasistatic::QuasistaticError;

/// Why a simulation cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// A state has the wrong size or is not finite.
    #[error("the state has {q} positions and {v} velocities; the model has {nq} and {nv}, all finite")]
    InitialState {
        /// Positions given.
        q: usize,
        /// Velocities given.
        v: usize,
        /// Positions of the model.
        nq: usize,
        /// Velocities of the model.
        nv: usize,
    },
    /// A step of zero, or a tolerance that is not positive.
    #[error("{setting} is {value}; it must be positive and finite")]
    Setting {
        /// Which setting.
        setting: &'static str,
        /// Its value.
        value: f64,
    },
    /// The mass matrix is singular.
    #[error(transparent)]
    Mass(#[from] StepError),
}

/// Why a step was not taken. The simulation stays at its last good state.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The command has another number of joints than the scene.
    #[error("the command has {given} joints; the scene has {expected}")]
    CommandLength {
        /// Joints of the command.
        given: usize,
        /// Joints of the scene.
        expected: usize,
    },
    /// A command that is not a number.
    #[error("the command of joint '{joint}' is not finite")]
    CommandNotFinite {
        /// The joint.
        joint: String,
    },
    /// An external wrench that is not a number.
    #[error("the external wrench on body '{body}' is not finite")]
    WrenchNotFinite {
        /// The body.
        body: String,
    },
    /// A mass matrix that is not positive definite.
    #[error(
        "t = {time} s: the mass matrix is singular at velocity {dof} ({name}): give its bodies mass and rotational inertia"
    )]
    SingularMass {
        /// Simulated time [s].
        time: f64,
        /// The generalized velocity.
        dof: usize,
        /// The joint that it belongs to.
        name: String,
    },
    /// A purely quasistatic step with a body that nothing supports.
    #[error(
        "t = {time} s: nothing supports '{name}', and without inertia no step can tell how it falls: put it on something, or switch the mass term on (inertia: mass)"
    )]
    NoSupport {
        /// Simulated time [s].
        time: f64,
        /// The body.
        name: String,
    },
    /// The convex program of a quasistatic step has no solution, or none was found.
    #[error("t = {time} s: the quasistatic step was not taken; the last good state stays")]
    Quasistatic {
        /// Simulated time [s].
        time: f64,
        /// What the solver says.
        source: QuasistaticError,
    },
    /// The solution is not finite.
    #[error(
        "t = {time} s: the velocity of joint '{joint}' is not finite; the last good state stays. Reduce the step, or check stiffness, damping and efforts"
    )]
    NotFinite {
        /// Simulated time [s].
        time: f64,
        /// The joint.
        joint: String,
    },
}

/// A scene, its state and the memory of its steps.
#[derive(Debug)]
pub struct Simulation {
    scene: Arc<Scene>,
    settings: StepSettings,
    initial: State,
    state: State,
    /// The state a step before, and while a step is taken the memory of the next; where no step led to the present one, the same.
    before: State,
    step_count: u64,
    data: Data,
    stepper: Stepper,
    joint_effort: Vec<f64>,
    external: ExternalWrenches,
    F_BBo_W: IndexVec<BodyIndex, SpatialForce>,
    report: StepReport,
}

impl Simulation {
    /// A simulation of `scene` from `initial`.
    ///
    /// # Errors
    /// A state of the wrong size, a setting out of range, or a body without mass.
    pub fn new(scene: Arc<Scene>, initial: State, settings: StepSettings) -> Result<Self, SimulationError> {
        let model = scene.model();
        check_state(model, &initial)?;
        check_settings(&settings)?;
        let stepper = Stepper::new(&settings.stepping, &scene, &initial);
        let mut simulation = Self {
            settings,
            state: initial.clone(),
            before: initial.clone(),
            initial,
            step_count: 0,
            data: Data::new(model),
            stepper,
            external: ExternalWrenches::new(model),
            joint_effort: vec![0.0; scene.joint_names().len()],
            F_BBo_W: IndexVec::from_elem(SpatialForce::ZERO, model.bodies().len()),
            report: StepReport::default(),
            scene,
        };
        kinematics(simulation.scene.model(), &simulation.state, &mut simulation.data);
        Ok(simulation)
    }

    /// The scene.
    pub fn scene(&self) -> &Arc<Scene> {
        &self.scene
    }
    /// The scene, to change gravity or gains between steps. Where others hold it too, they keep what it was.
    pub fn scene_mut(&mut self) -> &mut Scene {
        Arc::make_mut(&mut self.scene)
    }
    /// Net contact wrenches on the bodies over the last step, about their origins, in world axes.
    pub fn body_wrenches(&self) -> &IndexVec<BodyIndex, SpatialForce> {
        &self.F_BBo_W
    }
    /// From the next step on `F_BBo_W` acts on `body` about its origin, in world axes [N m, N], in dynamic and quasistatic steps alike,
    /// until it is set again or the simulation is reset: a push, a load, wind. The world's has no effect.
    ///
    /// # Errors
    /// A wrench that is not finite; the one before stays.
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
    /// The deepest point of contact at the start of the last step [m]: p/g of a face, -phi of a point of rigid contact;
    /// 0 without contact.
    pub fn penetration_max(&self) -> f64 {
        let active = if self.step_count == 0 { &[] } else { self.stepper.active() };
        let depth = |pair: usize| match self.scene.contact_pairs()[pair].kind {
            ContactKind::PressureField => {
                let (surface, kept) = self.stepper.surface(pair);
                let depths = kept.iter().map(|face| *face as usize).map(|i| surface.pressure[i] / surface.gradient(i));
                depths.fold(0.0, f64::max)
            }
            ContactKind::Points => self.stepper.points(pair).phi.iter().map(|phi| -phi).fold(0.0, f64::max),
        };
        active.iter().map(|patch| depth(patch.pair)).fold(0.0, f64::max)
    }
    /// How steps are taken.
    pub fn settings(&self) -> &StepSettings {
        &self.settings
    }
    /// Positions and velocities now.
    pub fn state(&self) -> &State {
        &self.state
    }
    /// Poses and velocities of the bodies now.
    pub fn data(&self) -> &Data {
        &self.data
    }
    /// Steps taken since the start or the last reset.
    pub fn step_count(&self) -> u64 {
        self.step_count
    }
    /// The step [ns].
    pub fn step_ns(&self) -> u64 {
        self.settings.step_ns
    }
    /// Simulated time [ns].
    pub fn time_ns(&self) -> u64 {
        self.step_count * self.settings.step_ns
    }
    /// Simulated time [s].
    pub fn time(&self) -> f64 {
        self.time_ns() as f64 * 1e-9
    }
    /// What the last step took.
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// Back to the initial state and time zero, without memory of what was and without external wrenches.
    pub fn reset(&mut self) {
        self.state.clone_from(&self.initial);
        self.before.clone_from(&self.initial);
        self.step_count = 0;
        self.stepper = Stepper::new(&self.settings.stepping, &self.scene, &self.initial);
        self.joint_effort.fill(0.0);
        self.external.clear();
        self.F_BBo_W.iter_mut().for_each(|wrench| *wrench = SpatialForce::ZERO);
        self.report = StepReport::default();
        kinematics(self.scene.model(), &self.state, &mut self.data);
    }

    /// As [`Simulation::reset`], and from then on steps are taken as `settings` say: the way to change between dynamic and
    /// quasistatic steps.
    ///
    /// # Errors
    /// A setting out of range; nothing has changed then.
    pub fn reset_with(&mut self, settings: StepSettings) -> Result<(), SimulationError> {
        check_settings(&settings)?;
        self.settings = settings;
        self.reset();
        Ok(())
    }

    /// Goes on from `state` at the present time, without memory of the contacts before it. What a reset goes back to stays,
    /// and so do external wrenches.
    ///
    /// # Errors
    /// A state of the wrong size or that is not finite; nothing has changed then.
    pub fn set_state(&mut self, state: State) -> Result<(), SimulationError> {
        check_state(self.scene.model(), &state)?;
        self.before.clone_from(&state);
        self.state = state;
        self.stepper = Stepper::new(&self.settings.stepping, &self.scene, &self.initial);
        self.F_BBo_W.iter_mut().for_each(|wrench| *wrench = SpatialForce::ZERO);
        kinematics(self.scene.model(), &self.state, &mut self.data);
        Ok(())
    }

    /// From now on `step_count` steps count as taken: sets the time, and nothing else.
    pub fn resume_at(&mut self, step_count: u64) {
        self.step_count = step_count;
    }

    /// Mean acceleration of a free body's origin over the last step, in world axes [rad/s2, m/s2]; `None` where the body is
    /// not free. Only good after a step that was taken.
    pub fn free_body_acceleration(&self, body: BodyIndex) -> Option<SpatialVelocity> {
        let joint = self.scene.model().free_joint(body)?;
        let change = |k: usize| self.state.v[joint.v_start + k] - self.before.v[joint.v_start + k];
        let (w, v) = (Vector3::new(change(0), change(1), change(2)), Vector3::new(change(3), change(4), change(5)));
        let rate = 1.0 / self.settings.step();
        Some(SpatialVelocity { w: joint.X_PF.rotation * w * rate, v: joint.X_PF.rotation * v * rate })
    }

    /// Advances by one step under `command`.
    ///
    /// # Errors
    /// A malformed command, a singular mass matrix or a solution that is not finite; the state is then unchanged.
    pub fn step(&mut self, command: &JointCommand) -> Result<StepReport, StepError> {
        self.advance(command, None)
    }

    /// As [`Simulation::step`], and tells where the time went by `clock` [s]. The state does not depend on it.
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub fn step_timed(
        &mut self,
        command: &JointCommand,
        clock: &dyn Fn() -> f64,
    ) -> Result<(StepReport, StepTimes), StepError> {
        let report = self.advance(command, Some(clock))?;
        Ok((report, self.stepper.times()))
    }

    fn advance(&mut self, command: &JointCommand, clock: Option<&dyn Fn() -> f64>) -> Result<StepReport, StepError> {
        self.check_command(command)?;
        self.external.project(self.scene.model(), &self.data);
        let input = StepInput {
            scene: &self.scene,
            settings: &self.settings,
            start: StepStart {
                initial: &self.initial,
                state: &self.state,
                command,
                external: self.external.generalized(),
            },
            time: self.time(),
            clock,
        };
        let taken = self.stepper.step(&input, &mut self.data, &mut self.before.v).and_then(|report| {
            let Some(dof) = self.before.v.iter().position(|v| !v.is_finite()) else { return Ok(report) };
            Err(StepError::NotFinite { time: input.time, joint: joint_of_dof(self.scene.model(), dof) })
        });
        let report = match taken {
            Ok(report) => report,
            Err(error) => {
                self.before.clone_from(&self.state);
                return Err(error);
            }
        };
        let dt = self.settings.step();
        self.stepper.efforts(&self.before.v, dt, &mut self.joint_effort);
        self.accumulate_body_wrenches();
        self.before.q.copy_from_slice(&self.state.q);
        integrate(self.scene.model(), &mut self.before.q, &self.before.v, dt);
        std::mem::swap(&mut self.state, &mut self.before);
        kinematics(self.scene.model(), &self.state, &mut self.data);
        self.step_count += 1;
        self.report = report;
        Ok(self.report)
    }

    /// The external wrenches.
    pub(super) fn external(&self) -> &ExternalWrenches {
        &self.external
    }

    /// What a step under `command` and the generalized `external` forces starts from.
    pub(super) fn step_input<'a>(
        &'a self,
        command: &'a JointCommand,
        external: &'a [f64],
    ) -> Result<StepInput<'a>, StepError> {
        self.check_command(command)?;
        Ok(StepInput {
            scene: &self.scene,
            settings: &self.settings,
            start: StepStart { initial: &self.initial, state: &self.state, command, external },
            time: self.time(),
            clock: None,
        })
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

    /// Net contact wrench on each body about its origin, from the patches' impulses.
    fn accumulate_body_wrenches(&mut self) {
        self.F_BBo_W.iter_mut().for_each(|wrench| *wrench = SpatialForce::ZERO);
        let rate = 1.0 / self.settings.step();
        for (active, impulse) in self.stepper.active().iter().zip(self.stepper.impulses()) {
            let pair = &self.scene.contact_pairs()[active.pair];
            let F_BC_W = *impulse * rate;
            for (geometry, F_C) in [(pair.A, -F_BC_W), (pair.B, F_BC_W)] {
                let body = self.scene.geometries()[geometry].body;
                let p_CBo = self.data.X_WB[body].translation.vector - active.p_WC;
                self.F_BBo_W[body] += F_C.shift(&p_CBo);
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
        snapshot.joint_effort.clone_from(&self.joint_effort);
        snapshot.X_WB.clone_from(&self.data.X_WB);
        snapshot.V_WB.clone_from(&self.data.V_WB);
        snapshot.F_BBo_W.clone_from(&self.F_BBo_W);
        snapshot.report = self.report;
        snapshot.patch_count = 0;
        let active = if self.step_count == 0 { 0 } else { self.stepper.active().len() };
        for number in (0..active).filter(|number| self.touches(*number)) {
            if snapshot.patches.len() == snapshot.patch_count {
                snapshot.patches.push(ContactPatch::default());
            }
            self.write_patch(number, &mut snapshot.patches[snapshot.patch_count]);
            snapshot.patch_count += 1;
        }
    }

    /// Whether the pair of a patch touches: points of rigid geometries may only have come near each other.
    fn touches(&self, number: usize) -> bool {
        let pair = &self.scene.contact_pairs()[self.stepper.active()[number].pair];
        pair.kind == ContactKind::PressureField || self.stepper.impulses()[number] != SpatialForce::ZERO
    }

    fn write_patch(&self, number: usize, patch: &mut ContactPatch) {
        let active = self.stepper.active()[number];
        let pair = &self.scene.contact_pairs()[active.pair];
        let geometries = self.scene.geometries();
        patch.kind = pair.kind;
        (patch.geometry_A, patch.geometry_B) = (pair.A, pair.B);
        (patch.body_A, patch.body_B) = (geometries[pair.A].body, geometries[pair.B].body);
        patch.p_WC = active.p_WC;
        patch.F_BC_W = self.stepper.impulses()[number] * (1.0 / self.settings.step());
        let faces = &mut patch.faces;
        self.stepper.face_forces(number, &self.state.v, &mut faces.force_B_W);
        faces.clear();
        match pair.kind {
            ContactKind::PressureField => self.write_surface(active.pair, faces),
            ContactKind::Points => {
                let points = self.stepper.points(active.pair);
                faces.centroid_W.extend_from_slice(&points.p_WC);
                faces.normal_W.extend_from_slice(&points.normal);
                faces.area.resize(points.len(), 0.0);
                faces.pressure.resize(points.len(), 0.0);
                faces.vertex_ends.resize(points.len(), 0);
            }
        }
        patch.area = faces.area.iter().sum();
    }

    fn write_surface(&self, pair: usize, faces: &mut PatchFaces) {
        let (surface, kept) = self.stepper.surface(pair);
        for face in kept {
            let i = *face as usize;
            faces.centroid_W.push(surface.centroid[i]);
            faces.normal_W.push(surface.normal[i]);
            faces.area.push(surface.area[i]);
            faces.pressure.push(surface.pressure[i]);
            let (corners, pressures) = surface.polygon(i);
            faces.vertices_W.extend_from_slice(corners);
            faces.vertex_pressure.extend_from_slice(pressures);
            faces.vertex_ends.push(faces.vertices_W.len() as u32);
        }
    }
}

impl PatchFaces {
    /// Empties all arrays but the forces, keeping their memory.
    fn clear(&mut self) {
        self.vertices_W.clear();
        self.vertex_ends.clear();
        self.vertex_pressure.clear();
        self.centroid_W.clear();
        self.normal_W.clear();
        self.area.clear();
        self.pressure.clear();
    }
}

/// The name of the joint that a generalized velocity belongs to.
pub(super) fn joint_of_dof(model: &Model, dof: usize) -> String {
    model
        .joints()
        .iter()
        .find(|joint| (joint.v_start..joint.v_start + joint.nv).contains(&dof))
        .map_or_else(|| "unknown".to_owned(), |joint| joint.name.clone())
}

fn check_state(model: &Model, state: &State) -> Result<(), SimulationError> {
    let finite = state.q.iter().chain(&state.v).all(|x| x.is_finite());
    if state.q.len() == model.nq() && state.v.len() == model.nv() && finite {
        return Ok(());
    }
    Err(SimulationError::InitialState { q: state.q.len(), v: state.v.len(), nq: model.nq(), nv: model.nv() })
}

fn check_settings(settings: &StepSettings) -> Result<(), SimulationError> {
    let quasistatic = match settings.stepping {
        Stepping::Dynamic => QuasistaticStepping::default(),
        Stepping::Quasistatic(options) => options,
    };
    let divisor = if let UnactuatedInertia::Scaled { divisor } = quasistatic.inertia { divisor } else { 1.0 };
    for (setting, value) in [
        ("step", settings.step()),
        ("stiction_tolerance", settings.stiction_tolerance),
        ("solver tolerance", settings.solver.tolerance),
        ("detection distance", quasistatic.detection),
        ("tolerance of the quasistatic solver", quasistatic.solver.tolerance),
        ("divisor of the scaled inertia", divisor),
    ] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(SimulationError::Setting { setting, value });
        }
    }
    Ok(())
}
