//! Poses and velocities of bodies on a floating joint.

use super::data::{Data, LinkData};
use super::joint::{Joint, JointKind};
use super::model::Model;
use super::state::State;
use crate::math::{BodyIndex, RigidTransform, SpatialVelocity, Vector3};

impl Model {
    /// The floating joint between the world and `body`, if there is one.
    pub fn free_joint(&self, body: BodyIndex) -> Option<&Joint> {
        let joint = &self.joints()[self.bodies()[body].parent_joint?];
        (joint.kind == JointKind::Floating && joint.parent == BodyIndex::WORLD).then_some(joint)
    }

    /// Whether `body` belongs to a free body that carries no links.
    pub fn is_free(&self, body: BodyIndex) -> bool {
        let number = self.topology.body_link[body];
        self.topology.free_links.binary_search_by_key(&number, |free| free.link).is_ok()
    }

    /// The centre of mass of the tree of `body` from the origin of its base [m, world axes]; `None` unless a
    /// floating or planar joint carries the tree on the world, and it has mass.
    ///
    /// Needs [`positions`](super::positions).
    pub fn center_of_tree(&self, data: &Data, body: BodyIndex) -> Option<Vector3> {
        let base = self.links()[self.topology.body_link[body]].base?;
        let links = self.links().iter().zip(&data.links).skip(base);
        let (mut mass, mut moment) = (0.0, Vector3::zeros());
        for (_, LinkData { inertia, .. }) in links.take_while(|(link, _)| link.base == Some(base)) {
            mass += inertia.mass;
            moment += inertia.first_moment;
        }
        (mass > 0.0).then(|| moment / mass)
    }

    /// The centre of mass of a free body that carries no links [m, world]; `None` for other bodies.
    ///
    /// Needs [`positions`](super::positions).
    pub fn free_center_of_mass(&self, data: &Data, body: BodyIndex) -> Option<Vector3> {
        let p_WT = data.links[self.topology.body_link[body]].p_WT;
        self.is_free(body).then(|| self.center_of_tree(data, body)).flatten().map(|center| p_WT + center)
    }

    /// A measure of the smallest principal moment of inertia of a free body that carries no links, about its
    /// centre of mass, at most that moment: the inverse of the sum of the inverse moments [kg m2]. Zero for
    /// other bodies, and those with a moment of zero.
    ///
    /// Needs [`positions`](super::positions).
    pub(crate) fn smallest_moment(&self, data: &Data, body: BodyIndex) -> f64 {
        let inertia = &data.links[self.topology.body_link[body]].inertia;
        let inverse = inertia.central().try_inverse().filter(|_| self.is_free(body));
        inverse.map_or(0.0, |inverse| 1.0 / inverse.trace()).max(0.0)
    }

    /// The base of the tree of `body`, if a floating or planar joint carries it on the world: two bodies of
    /// one tree have the same.
    pub(crate) fn base(&self, body: BodyIndex) -> Option<usize> {
        self.links()[self.topology.body_link[body]].base
    }

    /// The origin of the [`base`](Self::base) of the tree of `body` [m, world]: the point that steps move
    /// straight, and about which they turn the tree.
    ///
    /// Needs [`positions`](super::positions).
    pub(crate) fn base_origin(&self, data: &Data, body: BodyIndex) -> Option<Vector3> {
        self.base(body).map(|base| data.links[base].p_WT)
    }

    /// Sets the pose of a free body to `X_WB`. Returns false, without any change, if the body is not free.
    pub fn set_free_body_pose(&self, state: &mut State, body: BodyIndex, X_WB: &RigidTransform) -> bool {
        let Some(joint) = self.free_joint(body) else { return false };
        let X_FB = joint.X_PF.inv_mul(X_WB);
        let rotation = nalgebra::UnitQuaternion::from_rotation_matrix(&X_FB.rotation);
        let p = X_FB.translation.vector;
        let q = [rotation.w, rotation.i, rotation.j, rotation.k, p.x, p.y, p.z];
        state.q[joint.q_start..joint.q_start + 7].copy_from_slice(&q);
        true
    }

    /// Sets the velocity of a free body's origin to `V_WB`, in world axes. Returns false, without any change,
    /// if the body is not free.
    pub fn set_free_body_velocity(&self, state: &mut State, body: BodyIndex, V_WB: &SpatialVelocity) -> bool {
        let Some(joint) = self.free_joint(body) else { return false };
        let R_FW = joint.X_PF.rotation.inverse();
        let (w, v) = (R_FW * V_WB.w, R_FW * V_WB.v);
        state.v[joint.v_start..joint.v_start + 6].copy_from_slice(&[w.x, w.y, w.z, v.x, v.y, v.z]);
        true
    }
}
