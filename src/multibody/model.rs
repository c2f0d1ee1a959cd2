//! The constant description of a multibody system.

use std::ops::Range;

use super::body::Body;
use super::error::{ModelError, check_finite};
use super::joint::{Joint, JointKind};
use super::state::State;
use super::topology::{Link, Topology};
use crate::math::{BodyIndex, DofIndex, IndexVec, JointIndex, Vector3};

/// Bodies and joints, and the data derived from them. A [`ModelBuilder`](super::ModelBuilder) makes it.
///
/// Bodies and joints keep the order in which they were added. Degrees of freedom are numbered tree by tree,
/// outwards.
#[derive(Clone, Debug)]
pub struct Model {
    bodies: IndexVec<BodyIndex, Body>,
    joints: IndexVec<JointIndex, Joint>,
    scalar_joints: Vec<JointIndex>,
    dof_armature: Vec<f64>,
    dof_damping: Vec<f64>,
    gravity_W: Vector3,
    pub(super) topology: Topology,
}

impl Model {
    pub(super) fn new(
        bodies: IndexVec<BodyIndex, Body>,
        joints: IndexVec<JointIndex, Joint>,
        topology: Topology,
        gravity_W: Vector3,
    ) -> Self {
        let is_scalar = |joint: &Joint| joint.nv == 1;
        let scalar_joints = joints.iter_enumerated().filter(|(_, joint)| is_scalar(joint)).map(|(index, _)| index);
        let scalar_joints = scalar_joints.collect();
        let mut dof_armature = vec![0.0; topology.dof_tree.len()];
        let mut dof_damping = dof_armature.clone();
        for joint in joints.iter() {
            let scale = joint.mimic.map_or(1.0, |mimic| mimic.multiplier);
            for dof in joint.v_start..joint.v_start + joint.kind.nv() {
                dof_armature[dof] += scale * scale * joint.armature;
                dof_damping[dof] += scale * scale * joint.damping;
            }
        }
        Self { bodies, joints, scalar_joints, dof_armature, dof_damping, gravity_W, topology }
    }

    /// The number of coordinates: the length of q.
    pub fn nq(&self) -> usize {
        self.topology.nq
    }
    /// The number of degrees of freedom: the length of v.
    pub fn nv(&self) -> usize {
        self.topology.dof_tree.len()
    }
    /// Gravity field [m/s2, world].
    pub fn gravity_W(&self) -> &Vector3 {
        &self.gravity_W
    }
    /// Changes the gravity field [m/s2, world].
    ///
    /// # Errors
    /// A component that is not finite; gravity is then unchanged.
    pub fn set_gravity(&mut self, gravity_W: Vector3) -> Result<(), ModelError> {
        check_finite("gravity", "a component", gravity_W.as_slice())?;
        self.gravity_W = gravity_W;
        Ok(())
    }
    /// The bodies, in the order in which they were added; the world is the first.
    pub fn bodies(&self) -> &IndexVec<BodyIndex, Body> {
        &self.bodies
    }
    /// The joints, in the order in which they were added; the floating joints that `build` added come last.
    pub fn joints(&self) -> &IndexVec<JointIndex, Joint> {
        &self.joints
    }
    /// The body with that name.
    pub fn body(&self, name: &str) -> Option<BodyIndex> {
        self.bodies.iter_enumerated().find_map(|(index, body)| (body.name == name).then_some(index))
    }
    /// The joint with that name.
    pub fn joint(&self, name: &str) -> Option<JointIndex> {
        self.joints.iter_enumerated().find_map(|(index, joint)| (joint.name == name).then_some(index))
    }
    /// The joints with one coordinate of their own (no mimics), in the order in which they were added.
    pub fn scalar_joints(&self) -> &[JointIndex] {
        &self.scalar_joints
    }
    /// The dofs that move `body`, sorted: those between it and the world, and those that lead its mimic
    /// joints.
    pub fn body_dofs(&self, body: BodyIndex) -> &[DofIndex] {
        &self.links()[self.welded_group(body)].dofs
    }
    /// Blocks of consecutive dofs; M has no entries between two blocks. A block is one tree of bodies that
    /// moves on the world, or several that mimic joints couple.
    pub fn trees(&self) -> &[Range<usize>] {
        &self.topology.trees
    }
    /// The index in [`trees`](Self::trees) of each dof.
    pub fn tree_of_dof(&self) -> &[usize] {
        &self.topology.dof_tree
    }
    /// Two bodies have the same group if and only if fixed joints join them; the world's group is 0.
    pub fn welded_group(&self, body: BodyIndex) -> usize {
        self.topology.body_link[body]
    }
    /// Number of groups of welded bodies, including the world's.
    pub fn welded_group_count(&self) -> usize {
        self.links().len()
    }
    /// Whether exactly one moving joint connects the groups of the two bodies.
    pub fn adjacent(&self, a: BodyIndex, b: BodyIndex) -> bool {
        let (a, b) = (self.welded_group(a), self.welded_group(b));
        a != b && (self.links()[a.max(b)].parent == a.min(b))
    }
    /// Rotor inertia on the diagonal of M, one value per dof [kg m2] or \[kg\]. That of a mimic joint is
    /// reflected to its leader.
    pub fn dof_armature(&self) -> &[f64] {
        &self.dof_armature
    }
    /// Viscous damping, one value per dof [N m s/rad] or [N s/m]. That of a mimic joint is reflected to its
    /// leader.
    pub fn dof_damping(&self) -> &[f64] {
        &self.dof_damping
    }

    /// The state at rest with all coordinates zero (identity quaternions), and 1-DOF joints clamped into
    /// their limits.
    pub fn default_state(&self) -> State {
        let mut state = State { q: vec![0.0; self.nq()], v: vec![0.0; self.nv()] };
        for joint in self.joints.iter().filter(|joint| joint.mimic.is_none()) {
            match joint.kind {
                JointKind::Floating => state.q[joint.q_start] = 1.0,
                JointKind::Revolute | JointKind::Prismatic => {
                    state.q[joint.q_start] = 0.0_f64.clamp(joint.limits.lower, joint.limits.upper);
                }
                JointKind::Fixed | JointKind::Continuous | JointKind::Planar => {}
            }
        }
        state
    }

    pub(super) fn links(&self) -> &[Link] {
        &self.topology.links
    }
}
