//! Joints: their specification, and their description in a model.

use crate::math::{BodyIndex, JointIndex, RigidTransform, Vector3};

/// The motion of the child frame B in the joint frame F. Coordinates q and velocities v of each kind:
///
/// | kind | q | v |
/// |---|---|---|
/// | fixed | | |
/// | revolute, continuous | angle about the axis \[rad\], not wrapped | its rate |
/// | prismatic | displacement along the axis \[m\] | its rate |
/// | planar | x, y \[m\], theta \[rad\] | vx, vy, w |
/// | floating | qw, qx, qy, qz, px, py, pz of X_FB | w_FB \[rad/s\], v_FBo \[m/s\], both in F's axes |
///
/// Planar: p_FBo = x e1 + y e2, and theta turns about the axis a. The axes (e1, e2, a) are right-handed and
/// fixed in F. Let k be the axis of F with the largest |a_k| (the last of equal ones). Then e1 is the axis
/// after k (x follows z) without its part along a, normalised. For a = z, this gives e1 = x and e2 = y.
///
/// Floating: for a body on the world with X_PF = 1 the velocity is (w_WB, v_WBo) in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JointKind {
    /// No motion.
    #[default]
    Fixed,
    /// Rotation about the axis.
    Revolute,
    /// Rotation about the axis, without position limits.
    Continuous,
    /// Translation along the axis.
    Prismatic,
    /// Translation in the plane perpendicular to the axis, and rotation about the axis.
    Planar,
    /// Any motion.
    Floating,
}

impl JointKind {
    /// Number of coordinates.
    pub const fn nq(self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute | Self::Continuous | Self::Prismatic => 1,
            Self::Planar => 3,
            Self::Floating => 7,
        }
    }
    /// Number of degrees of freedom.
    pub const fn nv(self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute | Self::Continuous | Self::Prismatic => 1,
            Self::Planar => 3,
            Self::Floating => 6,
        }
    }
    /// Whether the axis is used.
    pub const fn has_axis(self) -> bool {
        !matches!(self, Self::Fixed | Self::Floating)
    }
    /// Its name in URDF.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Revolute => "revolute",
            Self::Continuous => "continuous",
            Self::Prismatic => "prismatic",
            Self::Planar => "planar",
            Self::Floating => "floating",
        }
    }
}

/// Limits of a joint; infinite if there are none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLimits {
    /// Smallest position \[rad\] or \[m\].
    pub lower: f64,
    /// Largest position \[rad\] or \[m\].
    pub upper: f64,
    /// Largest speed [rad/s] or [m/s].
    pub velocity: f64,
    /// Largest effort [N m] or \[N\].
    pub effort: f64,
}

impl JointLimits {
    /// No limits.
    pub const NONE: Self =
        Self { lower: f64::NEG_INFINITY, upper: f64::INFINITY, velocity: f64::INFINITY, effort: f64::INFINITY };
}

impl Default for JointLimits {
    fn default() -> Self {
        Self::NONE
    }
}

/// A spring of a joint with one degree of freedom: effort = stiffness (reference - q).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointSpring {
    /// Stiffness [N m/rad] or [N/m]; 0 is no spring.
    pub stiffness: f64,
    /// The position without effort \[rad\] or \[m\].
    pub reference: f64,
}

/// A joint that follows another: q = multiplier * q_leader + offset. It has no coordinates of its own, and
/// its inertia acts on those of the leader.
#[derive(Clone, Debug, PartialEq)]
pub struct Mimic {
    /// Name of the leading joint, which may be added later.
    pub joint: String,
    /// Ratio of the two rates [-], [m/rad] or [rad/m].
    pub multiplier: f64,
    /// Position at the leader's zero \[rad\] or \[m\].
    pub offset: f64,
}

/// A joint to be added to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSpec {
    /// Name, unique among the joints.
    pub name: String,
    /// Body P.
    pub parent: BodyIndex,
    /// Body B.
    pub child: BodyIndex,
    /// Pose of the joint frame F in P; X_PB = X_PF X_FB(q).
    pub X_PF: RigidTransform,
    /// The motion of B in F.
    pub kind: JointKind,
    /// Axis in F [-], of any length above 1e-9; fixed and floating joints ignore it.
    pub axis_F: Vector3,
    /// Limits; those of a multi-DOF joint are stored but have no effect.
    pub limits: JointLimits,
    /// Viscous damping [N m s/rad] or [N s/m].
    pub damping: f64,
    /// Coulomb friction [N m] or \[N\].
    pub friction: f64,
    /// Rotor inertia at the joint [kg m2] or \[kg\]; only 1-DOF joints can have one.
    pub armature: f64,
    /// Spring; only 1-DOF joints can have one.
    pub spring: JointSpring,
    /// The joint that it follows.
    pub mimic: Option<Mimic>,
}

impl JointSpec {
    /// A joint at P's origin about or along P's z axis, without limits, losses, rotor or spring.
    pub fn new(name: &str, parent: BodyIndex, child: BodyIndex, kind: JointKind) -> Self {
        Self {
            name: name.to_owned(),
            parent,
            child,
            X_PF: RigidTransform::identity(),
            kind,
            axis_F: Vector3::z(),
            limits: JointLimits::NONE,
            damping: 0.0,
            friction: 0.0,
            armature: 0.0,
            spring: JointSpring::default(),
            mimic: None,
        }
    }
}

/// The joint that leads a mimic joint, at the end of a chain of mimics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MimicOf {
    /// The joint that has the coordinate.
    pub leader: JointIndex,
    /// Ratio of the two rates [-], [m/rad] or [rad/m].
    pub multiplier: f64,
    /// Position at the leader's zero \[rad\] or \[m\].
    pub offset: f64,
}

/// A joint of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// Body P.
    pub parent: BodyIndex,
    /// Body B.
    pub child: BodyIndex,
    /// Pose of the joint frame F in P.
    pub X_PF: RigidTransform,
    /// The motion of B in F.
    pub kind: JointKind,
    /// Unit axis in F [-].
    pub axis_F: Vector3,
    /// Limits.
    pub limits: JointLimits,
    /// Viscous damping [N m s/rad] or [N s/m].
    pub damping: f64,
    /// Coulomb friction [N m] or \[N\].
    pub friction: f64,
    /// Rotor inertia at the joint [kg m2] or \[kg\].
    pub armature: f64,
    /// Spring.
    pub spring: JointSpring,
    /// The joint that it follows, if any.
    pub mimic: Option<MimicOf>,
    /// The start of its coordinates in q; for a mimic joint, that of its leader.
    pub q_start: usize,
    /// The start of its velocities in v; for a mimic joint, that of its leader.
    pub v_start: usize,
    /// Number of its coordinates: 0 for a mimic joint.
    pub nq: usize,
    /// Number of its velocities: 0 for a mimic joint.
    pub nv: usize,
}

impl Joint {
    /// Position of a 1-DOF joint, mimic or not \[rad\] or \[m\]; `None` for other joints.
    pub fn position(&self, q: &[f64]) -> Option<f64> {
        let q = *q.get(self.q_start).filter(|_| self.kind.nv() == 1)?;
        Some(self.mimic.map_or(q, |mimic| mimic.multiplier * q + mimic.offset))
    }
    /// Rate of a 1-DOF joint, mimic or not [rad/s] or [m/s]; `None` for other joints.
    pub fn velocity(&self, v: &[f64]) -> Option<f64> {
        let v = *v.get(self.v_start).filter(|_| self.kind.nv() == 1)?;
        Some(self.mimic.map_or(v, |mimic| mimic.multiplier * v))
    }
}

/// The basis (e1, e2) of a planar joint with the unit axis `axis`; see [`JointKind`].
pub(super) fn planar_basis(axis: &Vector3) -> (Vector3, Vector3) {
    let largest = (0..3).fold(0, |k, i| if axis[i].abs() >= axis[k].abs() { i } else { k });
    let mut next = Vector3::zeros();
    next[(largest + 1) % 3] = 1.0;
    let e1 = (next - axis * axis.dot(&next)).normalize();
    (e1, axis.cross(&e1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planar_bases_are_right_handed_and_xy_for_z() {
        assert_eq!(planar_basis(&Vector3::z()), (Vector3::x(), Vector3::y()));
        assert_eq!(planar_basis(&-Vector3::z()), (Vector3::x(), -Vector3::y()));
        let axis = Vector3::new(0.3, -0.7, 0.7).normalize();
        let (e1, e2) = planar_basis(&axis);
        assert!((e1.cross(&e2) - axis).norm() < 1e-15 && e1.dot(&axis).abs() < 1e-15);
    }
}
