//! The data of one instant that are published or recorded, in reused buffers.

use super::friction_errors::FrictionErrors;
use super::settings::ContactScheme;
use crate::geometry::ContactSurface;
use crate::math::{
    BodyIndex, GeometryIndex, IndexVec, RigidTransform, ScalarJointIndex, SpatialForce, SpatialVelocity, Vector3,
};
use crate::multibody::Energy;
use crate::scene::ContactKind;

/// If the error of a pair's friction exceeds this fraction of its limit [-], the step is solved again with
/// friction bounds from its own normal impulses.
pub(super) const FRICTION_ERROR_MAX: f64 = 0.01;

/// The report of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// The contact scheme of a dynamic step; `None` in other steps and before the first.
    pub scheme: Option<ContactScheme>,
    /// Iterations of the solver: Newton iterations in dynamic steps, and those of the selected solver in
    /// other steps.
    pub solver_iterations: u32,
    /// Final residual of the solver as a multiple of its tolerance [-]: at most 1 if the solver reached it.
    /// In dynamic steps the residual is that of the momentum balance, in quasistatic steps the largest
    /// violation of a constraint, and in complementarity steps that of the conditions, relative to the
    /// largest impulse, both times the square root of the row's inverse inertia. In continuous steps it is
    /// the largest error of a part.
    pub solver_residual: f64,
    /// Whether the step counts as solved. Dynamic: the solver reached its tolerance, or stopped at a residual
    /// that still counts as a solution. Quasistatic and continuous: always, because a step that does not
    /// settle or does not meet its tolerance is an error. Complementarity: the residual is within the
    /// tolerance, and no row is infeasible.
    pub solver_converged: bool,
    /// In quasistatic steps, the number of the step's programs that Clarabel solved because the cone engine
    /// did not converge.
    pub solver_fallbacks: u32,
    /// The number of times a step was solved again with friction bounds from its own normal impulses: the
    /// largest of its islands, summed if the step was solved again as a whole. 0 in quasistatic steps, which
    /// include such solves in `solver_iterations`.
    pub friction_rounds: u32,
    /// In dynamic steps of the scheme [`ContactScheme::Lagged`], the largest remaining difference of a pair's
    /// friction from Coulomb's law, as a fraction of its limit [-]; infinite if friction acts without a
    /// normal force. 0 in all other steps and with [`FrictionBound::Lagged`](super::FrictionBound::Lagged),
    /// which do not compare the two.
    pub friction_error: f64,
    /// Whether friction of pressure fields acted at the centroids of faces in a quasistatic step, because the
    /// step did not settle with friction that is spread over the faces. The torque of a pad about its normal
    /// may then differ by 13 %.
    pub friction_at_centroids: bool,
    /// The number of parts in which a step was taken. It may exceed 1 if a quasistatic step did not settle in
    /// one, in dynamic steps with error control, and in continuous steps.
    pub parts: u32,
    /// The number of solves of a dynamic step: 1, and more if its solution meets contacts that the problem
    /// does not have, or has other forces at its end. With error control it is the number of dynamic steps,
    /// three for each part, accepted or rejected. In continuous steps it is the number of parts, accepted or
    /// rejected, and in quasistatic steps that of the programs of all parts: those of weights and contacts at
    /// the end of the step included. 0 in complementarity steps.
    pub solves: u32,
    /// In quasistatic steps that settled with the loads of their start only, the largest difference of a
    /// joint's load at the end from the one that acted [N m] or \[N\]; 0 if it is below 4e-7 of the load, and
    /// in all other steps.
    pub loads_behind: f64,
    /// In quasistatic steps, the largest inertial force on a body or passive joint relative to the contact
    /// forces on it [-].
    pub inertial_share: f64,
    /// Contact faces that the solver kept; points of rigid contact are faces too.
    pub faces: u32,
    /// Contact faces that the solver left out, because their pressure does not rise along the normal.
    pub faces_dropped: u32,
}

impl StepReport {
    /// Whether friction is that of Coulomb's law to 1 % of its limit. Always true where
    /// [`StepReport::friction_error`] is not computed. [`FrictionErrors`](super::FrictionErrors) are computed
    /// in the steps of all modes.
    pub fn friction_converged(&self) -> bool {
        self.friction_error <= FRICTION_ERROR_MAX
    }
}

/// Times of the parts of one step, by the caller's clock. A quasistatic step alternates between contact
/// queries and solves; their times are sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTimes {
    /// Mass matrix, bias, free motion and joint rows; in quasistatic steps also the first contact search
    /// \[s\].
    pub motion: f64,
    /// Geometric queries, and the assembly of the patches \[s\].
    pub contact: f64,
    /// Solution of the step's problem, including its friction bounds \[s\].
    pub solver: f64,
}

impl StepTimes {
    /// Adds the times of another part.
    pub(super) fn add(&mut self, other: &Self) {
        self.motion += other.motion;
        self.contact += other.contact;
        self.solver += other.solver;
    }
}

/// The faces of one contact patch; each array has one entry per face.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatchFaces {
    /// Polygon corners of all faces, one after the other [m, world].
    pub vertices_W: Vec<Vector3>,
    /// The end of each face's corners in `vertices_W`; the first face starts at 0.
    pub vertex_ends: Vec<u32>,
    /// Pressure at each corner of `vertices_W` \[Pa\].
    pub vertex_pressure: Vec<f64>,
    /// Centroids [m, world].
    pub centroid_W: Vec<Vector3>,
    /// Unit normals from A into B [-, world].
    pub normal_W: Vec<Vector3>,
    /// Areas \[m2\].
    pub area: Vec<f64>,
    /// Pressures at the centroids \[Pa\].
    pub pressure: Vec<f64>,
    /// Contact force of each face on B, friction included [N, world].
    pub force_B_W: Vec<Vector3>,
    /// Errors of the friction of each face.
    pub friction: Vec<FrictionErrors>,
}

/// The contact between two geometries: its net wrench and its faces. Two rigid geometries touch at points
/// (`kind`): each is a face without corners, area and pressure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactPatch {
    /// The geometry with the smaller index.
    pub geometry_A: GeometryIndex,
    /// The other geometry.
    pub geometry_B: GeometryIndex,
    /// The body of A.
    pub body_A: BodyIndex,
    /// The body of B.
    pub body_B: BodyIndex,
    /// Whether the faces are a surface of equal pressure, or points of two rigid geometries.
    pub kind: ContactKind,
    /// Centroid C of the patch, weighted by area; for points, their mean [m, world].
    pub p_WC: Vector3,
    /// Net contact wrench on B about C [N m, N, world].
    pub F_BC_W: SpatialForce,
    /// Total area \[m2\]; 0 for points.
    pub area: f64,
    /// The depth by which the two geometries overlap \[m\]: for points the largest, for a surface the largest
    /// pressure over the largest pressure gradient.
    pub penetration: f64,
    /// The faces.
    pub faces: PatchFaces,
    /// The largest errors of the friction of a face.
    pub friction: FrictionErrors,
    /// The errors of the net friction.
    pub net_friction: FrictionErrors,
}

/// The state of the simulation at one instant, as publishers and recorders need it.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The number of steps taken.
    pub step: u64,
    /// Simulated time \[ns\]: an integer, so that stamps compare equal.
    pub time_ns: u64,
    /// Positions \[rad\] or \[m\], in the order of `Scene::joint_names`; not wrapped.
    pub joint_position: IndexVec<ScalarJointIndex, f64>,
    /// Velocities [rad/s] or [m/s].
    pub joint_velocity: IndexVec<ScalarJointIndex, f64>,
    /// Efforts that the actuators applied over the last step [N m] or \[N\].
    pub joint_effort: IndexVec<ScalarJointIndex, f64>,
    /// Poses of all bodies.
    pub X_WB: IndexVec<BodyIndex, RigidTransform>,
    /// Spatial velocities of all bodies about their origins.
    pub V_WB: IndexVec<BodyIndex, SpatialVelocity>,
    /// Mean accelerations of all bodies over the last step: the change of `V_WB` over the step [rad/s2,
    /// m/s2]. They are 0 before the first step, after the state was set, and in quasistatic steps.
    pub A_WB: IndexVec<BodyIndex, SpatialVelocity>,
    /// The gravity field [m/s2, world].
    pub gravity_W: Vector3,
    /// x \[m\], y \[m\], theta \[rad\] of each planar joint, in the order of the model, and their rates.
    pub planar_joints: Vec<[f64; 6]>,
    /// Net contact wrench on each body over the last step, about its origin, in world axes [N m, N]. Its
    /// lever arms are those of the poses at which the contact was computed: the start of the step, or the
    /// free path; in quasistatic steps the middle of the step for rigid contact, and its end for pressure
    /// fields.
    pub F_BBo_W: IndexVec<BodyIndex, SpatialForce>,
    /// External wrench on each body, about its origin, in world axes [N m, N]: that of the last step, unless
    /// it has been set since.
    pub external_F_BBo_W: IndexVec<BodyIndex, SpatialForce>,
    /// Kinetic energy, and potential energy of the weight \[J\].
    pub energy: Energy,
    /// Energy in the springs of the joints \[J\].
    pub spring_energy: f64,
    /// The report of the last step.
    pub report: StepReport,
    /// Contact patches of the last step, as [`Snapshot::contact_patches`] returns them; entries beyond
    /// `patch_count` are spare memory.
    pub(super) patches: Vec<ContactPatch>,
    /// The number of `patches` in contact.
    pub(super) patch_count: usize,
}

impl Snapshot {
    /// The largest friction errors of all contacts: those of a face, and those of a net force.
    pub fn friction_errors(&self) -> (FrictionErrors, FrictionErrors) {
        let none = (FrictionErrors::default(), FrictionErrors::default());
        self.contact_patches()
            .iter()
            .fold(none, |(faces, net), patch| (faces.max(patch.friction), net.max(patch.net_friction)))
    }

    /// The contact patches of the last step, sorted by geometry pair; in quasistatic steps, those between
    /// rigid geometries come before all others.
    pub fn contact_patches(&self) -> &[ContactPatch] {
        &self.patches[..self.patch_count]
    }

    /// Replaces the contact patches by `patches`.
    pub fn set_contact_patches(&mut self, patches: Vec<ContactPatch>) {
        (self.patch_count, self.patches) = (patches.len(), patches);
    }
}

/// A face shows the depth of its contact if its pressure gradient is at least this part of the largest [-].
/// The pressure on the side of a body hardly changes along its normal.
const SHOWS_DEPTH: f64 = 0.5;

/// The depth by which two geometries overlap \[m\], from their contact surface and its faces that push, whose
/// pressures are those of the end of the step; see [`ContactPatch::penetration`]. Other faces have the
/// pressure of the poses at which the surface was found.
pub(super) fn penetration(surface: &ContactSurface, kept: &[u32]) -> f64 {
    let faces = || kept.iter().map(|face| *face as usize);
    let gradient = faces().map(|face| surface.gradient(face)).fold(0.0, f64::max);
    let shows = faces().filter(|face| surface.gradient(*face) >= SHOWS_DEPTH * gradient);
    let pressure = shows.flat_map(|face| surface.polygon(face).1).copied().fold(0.0, f64::max);
    if gradient > 0.0 { pressure / gradient } else { 0.0 }
}
