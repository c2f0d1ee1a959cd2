//! All settings of stepping.

use super::error::SimulationError;
use crate::contact::FaceFriction;
use crate::geometry::FaceRepresentation;
use crate::solvers::complementarity::ComplementaritySettings;
use crate::solvers::dynamic::NewtonSettings;
use crate::solvers::quasistatic::{FrictionModel, QuasistaticSettings};

/// The dissipation law of the contacts; each contact's coefficient comes from its materials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DissipationModel {
    /// Hunt-Crossley, f = fe (1 - d vn)+.
    #[default]
    HuntCrossley,
    /// Linear with a relaxation time, [Masterjohn 2022, eqs. 1-3].
    Linear,
}

/// The integration of free motion in a dynamic step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// The bodies first move freely, conserving momentum and energy
    /// ([`FreeMotion`](crate::multibody::FreeMotion)). Contact and actuators then change the velocities at
    /// the end of that motion.
    #[default]
    Implicit,
    /// Coriolis and gyroscopic forces are those of the start of the step, as in Drake's discrete steps and in
    /// [Masterjohn 2022]. Bodies that spin fast gain energy.
    SemiImplicit,
}

/// The poses of the contact surfaces of compliant bodies in a dynamic or complementarity step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactSurfaces {
    /// Those of the start of the step, as in [Masterjohn 2022].
    Start,
    /// Those on the free path, for bodies that meet in the step or would press each other in by more than the
    /// depth of their contact. If the step is too long to resolve a contact, the forces of all its faces
    /// vanish before the bodies have separated by that depth. In all steps, faces at the rims of bodies keep
    /// their force, which [`ContactSurfaces::Start`] drops by the sign of their gradient. A dynamic step
    /// needs [`Integrator::Implicit`], and [`FrictionBound::Solved`] if its scheme is lagged: without them,
    /// its surfaces are those of the start.
    #[default]
    FreePath,
}

/// The relation of friction to the normal force in a dynamic step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ContactScheme {
    /// Convex solves with fixed bounds of friction [Castro 2023, \"lagged\"]. [`FrictionBound`] states how
    /// often the bounds are renewed.
    #[default]
    Lagged,
    /// Convex solves with fixed bounds, repeated until the bounds are mu times the normal impulses of the
    /// solution itself, to 1e-6 of the largest bound of each contact. A step that does not get there is an
    /// error.
    Coupled,
    /// One convex solve in which the normal force grows with the slip [Castro 2023, \"similar\"].
    Similar,
    /// The semi-analytic primal solver, whose contact forces are projections on the friction cone [Castro
    /// 2021]. It needs linear dissipation and a positive friction compliance.
    Sap {
        /// beta [-]: compliant surfaces are softened until their natural period is at least beta times the
        /// step. Drake's value is 1; with 0 the stiffness is that of the materials.
        near_rigid: f64,
    },
    /// Newton's method on the fully coupled, non-convex equations, with a limit on the turn of the slip
    /// [Castro 2019]. A step that does not converge is an error.
    Tamsi,
}

impl ContactScheme {
    /// All schemes, SAP without softening.
    pub const ALL: [Self; 5] = [Self::Lagged, Self::Coupled, Self::Similar, Self::Sap { near_rigid: 0.0 }, Self::Tamsi];

    /// Its name in scene files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lagged => "lagged",
            Self::Coupled => "coupled",
            Self::Similar => "similar",
            Self::Sap { .. } => "sap",
            Self::Tamsi => "tamsi",
        }
    }

    /// Whether friction has a bound of its own, which each solve fixes. Only such schemes have friction that
    /// is spread over a face, spin and rolling friction of points, and restitution.
    pub const fn has_bounds(self) -> bool {
        matches!(self, Self::Lagged | Self::Coupled)
    }
}

/// The normal impulses that bound friction in a dynamic step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionBound {
    /// Those of the step itself: if friction differs from Coulomb's law, the step is solved again with bounds
    /// from its own normal impulses.
    #[default]
    Solved,
    /// Those at the velocities at the start of the step, as in Drake and in [Masterjohn 2022]. Contact
    /// surfaces are then those of the start too, because a contact that begins within the step has no force
    /// at the start.
    Lagged,
}

/// The mode of a step, with the options of that mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stepping {
    /// Newton's law with implicit contact and impedances: momentum, gyroscopic forces, damping, dissipation.
    Dynamic(DynamicStepping),
    /// Equilibrium at the end of each step, without momentum from step to step [Pang & Tedrake 2021].
    Quasistatic(QuasistaticStepping),
    /// Newton's law with contacts as regularized and stabilized complementarity conditions [Andersson 2021,
    /// chapter 3].
    Spook(SpookStepping),
    /// Accelerations from the forces of the present state, integrated with error control [Elandt 2019]. Faces
    /// are triangles with friction at their centroids, also if the other settings differ.
    Continuous(ContinuousStepping),
}

/// The shortest step of scenes and of the node \[s\]; a shorter one probably has the wrong unit.
pub const STEP_MIN: f64 = 1e-6;
/// The longest step with momentum of scenes and of the node \[s\].
pub const STEP_MAX: f64 = 0.1;
/// The longest quasistatic step of scenes and of the node \[s\].
pub const QUASISTATIC_STEP_MAX: f64 = 1.0;

/// The largest number of degrees of freedom of a scene whose steps have matrices of all of them; one then
/// takes 72 MB.
pub(super) const DENSE_DOFS_MAX: usize = 3_000;
/// The same with matrices of the trees of bodies and of the contacts between them.
const SPARSE_DOFS_MAX: usize = 15_000;

impl Stepping {
    /// The largest number of degrees of freedom of a scene.
    pub const fn dofs_max(&self) -> usize {
        match self {
            Self::Dynamic(options) if !matches!(options.scheme, ContactScheme::Tamsi) => SPARSE_DOFS_MAX,
            _ => DENSE_DOFS_MAX,
        }
    }
    /// Checks that scenes may have `dofs` degrees of freedom.
    ///
    /// # Errors
    /// More than [`Stepping::dofs_max`].
    pub fn check_size(&self, dofs: usize) -> Result<(), SimulationError> {
        let most = self.dofs_max();
        if dofs <= most {
            return Ok(());
        }
        let way_out = match self {
            Self::Dynamic(options) if matches!(options.scheme, ContactScheme::Tamsi) => {
                format!("remove models, or use `scheme: lagged`, which takes {SPARSE_DOFS_MAX}")
            }
            Self::Dynamic(_) => "remove models".to_owned(),
            _ => format!("remove models, or use `stepping: dynamic`, which takes {SPARSE_DOFS_MAX}"),
        };
        Err(SimulationError::Size { dofs, mode: self.name(), most, way_out })
    }
    /// The longest step of the mode in scenes and in the node \[s\].
    pub const fn step_max(&self) -> f64 {
        if matches!(self, Self::Quasistatic(_)) { QUASISTATIC_STEP_MAX } else { STEP_MAX }
    }
    /// The name of the mode in scene files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Dynamic(_) => "dynamic",
            Self::Quasistatic(_) => "quasistatic",
            Self::Spook(_) => "spook",
            Self::Continuous(_) => "continuous",
        }
    }
}

impl Default for Stepping {
    fn default() -> Self {
        Self::Dynamic(DynamicStepping::default())
    }
}

/// Steps whose error is controlled: a step of the simulation consists of as many dynamic steps as the
/// tolerance needs. The commands change at the ends of steps of the simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorControl {
    /// The largest error of one part of a step: of positions [m, rad], and of velocities times 0.1 s.
    pub tolerance: f64,
}

/// When free bodies fall asleep: they then stay where they are, and their contacts keep their forces, until a
/// body that is awake comes near, a wrench acts on them, or the state, gravity or the scene is changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sleep {
    /// The largest speed of a point of a body at rest [m/s].
    pub speed: f64,
    /// The time for which a body, and all that it may touch, has to be at rest \[s\].
    pub time: f64,
}

impl Default for Sleep {
    fn default() -> Self {
        Self { speed: 1e-3, time: 0.5 }
    }
}

/// Options of a dynamic step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DynamicStepping {
    /// Friction compliance sigma [-]: the regularization speed of a face is at least mu sigma w n0, with w
    /// the inverse effective mass and n0 the normal impulse. With 0 the stiction tolerance alone applies;
    /// 1e-3 is the convention of the semi-analytic primal solvers.
    pub friction_compliance: f64,
    /// Dissipation law.
    pub dissipation: DissipationModel,
    /// The integration of free motion.
    pub integrator: Integrator,
    /// The poses of the contact surfaces.
    pub surfaces: ContactSurfaces,
    /// The relation of friction to the normal force.
    pub scheme: ContactScheme,
    /// The normal impulses that bound friction in the scheme [`ContactScheme::Lagged`]; the others do not use
    /// it.
    pub friction_bound: FrictionBound,
    /// Whether joints keep the velocity limits of their robot files
    /// ([`JointLimits::velocity`](crate::multibody::JointLimits)).
    pub enforce_velocity_limit: bool,
    /// When bodies fall asleep; without it, none does.
    pub sleep: Option<Sleep>,
    /// Error control; without it, all steps have the length of the settings.
    pub error_control: Option<ErrorControl>,
    /// The solver's tolerance and limits.
    pub solver: NewtonSettings,
}

impl DynamicStepping {
    /// Whether contact surfaces may be those on the free path.
    pub(super) fn on_free_path(&self) -> bool {
        self.surfaces == ContactSurfaces::FreePath
            && self.integrator == Integrator::Implicit
            && (self.friction_bound == FrictionBound::Solved || self.scheme != ContactScheme::Lagged)
    }
}

/// The inertia of unactuated joints and free bodies, which holds them if contact leaves them free to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnactuatedInertia {
    /// None: purely quasistatic. A body with weight needs a contact that supports it.
    None,
    /// A drag of M_u v/T on bodies that move, which does not depend on the step: an unsupported body falls at
    /// the speed g T. To slide a body at the speed v takes the fraction v/(mu g T) of its friction in
    /// addition. For steps above T the drag is the mass matrix itself.
    Drag {
        /// T \[s\].
        time_constant: f64,
    },
    /// The mass matrix M_u, from rest in each step: quasi-dynamic. An unsupported body falls by g h^2 in a
    /// step h. The inertial force M_u v/h of a moving body grows as the step shrinks.
    Mass,
    /// The mass matrix M_b of each tree of bodies times h^2 min(K_a)/(s max diag M_b), which makes it s times
    /// weaker than the weakest actuator. It is a regularization without physical meaning, the same for light
    /// and heavy bodies. Without actuators it is the mass matrix itself.
    Scaled {
        /// s [-].
        divisor: f64,
    },
}

impl UnactuatedInertia {
    /// The drag with the default time constant.
    pub const DRAG: Self = Self::Drag { time_constant: 1.0 };
    /// The scaled mass with the default divisor.
    pub const SCALED: Self = Self::Scaled { divisor: 5.0 };
}

/// Options of a quasistatic step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuasistaticStepping {
    /// Inertia of joints and bodies without an actuator.
    pub inertia: UnactuatedInertia,
    /// Rigid geometries that are nearer than this may touch within the step \[m\]. The search distance grows
    /// for pairs that move farther.
    pub detection: f64,
    /// The solver, its friction model, tolerance and limits.
    pub solver: QuasistaticSettings,
}

impl Default for QuasistaticStepping {
    fn default() -> Self {
        let solver = QuasistaticSettings { model: FrictionModel::Coulomb, ..QuasistaticSettings::default() };
        Self { inertia: UnactuatedInertia::DRAG, detection: 5e-3, solver }
    }
}

/// Options of a complementarity step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpookStepping {
    /// The solver, the friction model, and their limits.
    pub solver: ComplementaritySettings,
    /// The poses of the contact surfaces of compliant bodies.
    pub surfaces: ContactSurfaces,
}

impl Default for SpookStepping {
    fn default() -> Self {
        Self { solver: ComplementaritySettings::default(), surfaces: ContactSurfaces::FreePath }
    }
}

/// Options of the continuous model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContinuousStepping {
    /// Dissipation law.
    pub dissipation: DissipationModel,
    /// The largest error of one part of a step: of positions [m, rad], and of velocities times 0.1 s.
    pub tolerance: f64,
}

impl Default for ContinuousStepping {
    fn default() -> Self {
        Self { dissipation: DissipationModel::default(), tolerance: 1e-6 }
    }
}

/// The settings of all steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSettings {
    /// Step dt \[ns\]: an integer, so that times compare equal.
    pub step_ns: u64,
    /// Slip speed below which friction is regularized, v_s [m/s]; for dry joint friction [rad/s].
    pub stiction_tolerance: f64,
    /// Whether a pair of elements makes one face or a fan of triangles.
    pub faces: FaceRepresentation,
    /// The points at which the friction of a face acts.
    pub face_friction: FaceFriction,
    /// The threads that find the contacts of dynamic steps and solve their islands; 0 and 1 are the thread of
    /// the caller. The results do not depend on it.
    pub threads: usize,
    /// The mode, with its options.
    pub stepping: Stepping,
}

impl Default for StepSettings {
    fn default() -> Self {
        Self {
            step_ns: 1_000_000,
            stiction_tolerance: 1e-6,
            faces: FaceRepresentation::default(),
            face_friction: FaceFriction::default(),
            threads: 1,
            stepping: Stepping::default(),
        }
    }
}

impl StepSettings {
    /// dt \[s\].
    pub fn step(&self) -> f64 {
        seconds(self.step_ns)
    }

    /// The settings that all modes share.
    pub(super) fn common(&self) -> CommonSettings {
        let Self { step_ns, stiction_tolerance, faces, face_friction, threads, stepping: _ } = *self;
        CommonSettings { step_ns, stiction_tolerance, faces, face_friction, threads }
    }
}

/// The settings that do not depend on the mode; see [`StepSettings`] for units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CommonSettings {
    pub(super) step_ns: u64,
    pub(super) stiction_tolerance: f64,
    pub(super) faces: FaceRepresentation,
    pub(super) face_friction: FaceFriction,
    pub(super) threads: usize,
}

impl CommonSettings {
    /// dt \[s\].
    pub(super) fn step(&self) -> f64 {
        seconds(self.step_ns)
    }

    /// The settings of steps in the mode `stepping`.
    pub(super) fn with(&self, stepping: Stepping) -> StepSettings {
        let Self { step_ns, stiction_tolerance, faces, face_friction, threads } = *self;
        StepSettings { step_ns, stiction_tolerance, faces, face_friction, threads, stepping }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}
