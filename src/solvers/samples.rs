//! A sample patch for the tests of several modules.

use super::{DissipationLaw, FaceInput, PatchBlock, PatchLaw};
use crate::math::{Vector3, Vector6};

/// A patch whose six velocities are those of its point, without faces.
pub(super) fn start_patch(dissipation: DissipationLaw, friction_compliance: f64) -> PatchBlock {
    let mut block = PatchBlock::new();
    block.reset(PatchLaw { step: 1e-2, dissipation, friction: 0.7, stiction_tolerance: 1e-2, friction_compliance });
    (0..6).for_each(|dof| block.push_column(dof as u32, Vector6::ith(dof, 1.0), 0.0));
    block
}

/// Adds eleven faces with various positions, normals, forces and spin arms up to 3.2 times `arm` \[m\].
pub(super) fn push_uneven_faces(block: &mut PatchBlock, arm: f64) {
    for i in 0..11 {
        let a = f64::from(i);
        let normal = Vector3::new(0.2 * (a * 1.3).sin(), 0.3 * (a * 0.7).cos(), 1.0).normalize();
        let p_CF = Vector3::new((a * 2.1).sin(), (a * 1.7).cos(), 0.3 * a.sin()) * 0.05;
        let (stiffness, elastic_force) = (200.0 + 10.0 * a, 1.0 + 0.1 * a);
        block.push_face(&FaceInput { p_CF, normal, stiffness, elastic_force, spin_arm_squared: arm * arm * a });
    }
}
