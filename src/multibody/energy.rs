//! Mechanical energy.

use super::data::Data;
use super::joint::Joint;
use super::model::Model;
use crate::math::Vector3;

/// Energy of a whole model \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// 1/2 v^T M v, rotors included \[J\].
    pub kinetic: f64,
    /// -sum m g . p_WBcm: zero with all masses at the world's origin \[J\].
    pub potential: f64,
}

impl Energy {
    /// Kinetic and potential energy together \[J\].
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// The energy at the velocities `v` of the last [`kinematics`](super::kinematics). Bodies welded to the world
/// are not included.
pub fn energy(model: &Model, data: &Data, v: &[f64]) -> Energy {
    let mut sum = Energy::default();
    for link in data.links.iter().skip(1) {
        sum.kinetic += 0.5 * link.V.dot(&link.inertia.mul_velocity(&link.V));
        let moment_W: Vector3 = link.inertia.first_moment + link.p_WT * link.inertia.mass;
        sum.potential -= model.gravity_W().dot(&moment_W);
    }
    for (v, armature) in v.iter().zip(model.dof_armature()) {
        sum.kinetic += 0.5 * armature * v * v;
    }
    sum
}

/// The energy in the springs of the joints at the coordinates `q` \[J\]: 1/2 k (q - reference)^2 each.
pub fn spring_energy(model: &Model, q: &[f64]) -> f64 {
    let of = |joint: &Joint| {
        let stretch = joint.position(q).unwrap_or(joint.spring.reference) - joint.spring.reference;
        0.5 * joint.spring.stiffness * stretch * stretch
    };
    model.joints().iter().map(of).sum()
}
