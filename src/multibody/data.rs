//! Results and intermediates of the algorithms, allocated once for a model.

use super::model::Model;
use crate::math::{
    BlockDiagonal, BodyIndex, IndexVec, RigidTransform, Rotation, SpatialForce, SpatialInertia, SpatialVelocity,
    Vector3,
};

/// Results of the algorithms, sized for one model. Each result is zero, or the identity for a pose, until its
/// algorithm has run.
///
/// Internally, each tree of bodies is described in world axes about its own reference point T, the origin of
/// the tree's root body, so that bodies far from the world's origin lose no digits.
#[derive(Clone, Debug)]
pub struct Data {
    /// Poses of all bodies; by [`kinematics`](super::kinematics).
    pub X_WB: IndexVec<BodyIndex, RigidTransform>,
    /// Spatial velocities of all bodies about their origins, in world axes [rad/s, m/s]; by
    /// [`kinematics`](super::kinematics).
    pub V_WB: IndexVec<BodyIndex, SpatialVelocity>,
    /// Mass matrix, nv x nv [kg m2, kg m or kg], with a block for each of [`Model::trees`]; by
    /// [`mass_matrix`](super::mass_matrix).
    pub M: BlockDiagonal,
    /// c(q, v): the generalized forces that keep vdot = 0 without gravity [N m] or \[N\]; by
    /// [`bias`](super::bias).
    pub coriolis: Vec<f64>,
    /// tau_g(q): the generalized forces of gravity [N m] or \[N\]; by [`bias`](super::bias).
    pub gravity: Vec<f64>,
    /// Motion of each column about T, in world axes.
    pub(super) S: Vec<SpatialVelocity>,
    pub(super) links: Vec<LinkData>,
    /// Inertias of the links with their descendants, about T.
    pub(super) composite: Vec<SpatialInertia>,
    /// Momentum rates or weights of the links with their descendants, about T.
    pub(super) force: Vec<SpatialForce>,
    /// Accelerations of the links about the fixed points that coincide with T now.
    pub(super) acceleration: Vec<SpatialVelocity>,
}

/// The kinematics of a link L.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkData {
    pub(super) R_WL: Rotation,
    /// Origin of the link from T [m, world axes].
    pub(super) p_TL: Vector3,
    /// Reference point of its tree [m, world].
    pub(super) p_WT: Vector3,
    /// Velocity about T.
    pub(super) V: SpatialVelocity,
    /// Its acceleration relative to its parent's, without the part due to vdot, about the fixed point that
    /// coincides with T now.
    pub(super) bias: SpatialVelocity,
    /// Inertia about T in world axes.
    pub(super) inertia: SpatialInertia,
}

impl LinkData {
    const ZERO: Self = Self {
        R_WL: Rotation::from_matrix_unchecked(crate::math::Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)),
        p_TL: Vector3::new(0.0, 0.0, 0.0),
        p_WT: Vector3::new(0.0, 0.0, 0.0),
        V: SpatialVelocity::ZERO,
        bias: SpatialVelocity::ZERO,
        inertia: SpatialInertia::ZERO,
    };
}

impl Data {
    /// Allocates the data for `model`.
    pub fn new(model: &Model) -> Self {
        let (nv, links, bodies) = (model.nv(), model.links().len(), model.bodies().len());
        Self {
            X_WB: IndexVec::from_elem(RigidTransform::identity(), bodies),
            V_WB: IndexVec::from_elem(SpatialVelocity::ZERO, bodies),
            M: BlockDiagonal::new(model.trees()),
            coriolis: vec![0.0; nv],
            gravity: vec![0.0; nv],
            S: vec![SpatialVelocity::ZERO; model.topology.column_dof.len()],
            links: vec![LinkData::ZERO; links],
            composite: vec![SpatialInertia::ZERO; links],
            force: vec![SpatialForce::ZERO; links],
            acceleration: vec![SpatialVelocity::ZERO; links],
        }
    }
}
