//! A sample patch for the tests of several modules.

use crate::math::Vector3;
use crate::solvers::{DissipationLaw, FaceInput, PatchBlock, PatchLaw};

/// The law of a patch without friction compliance, over a step of 1 ms.
pub(super) const LAW: PatchLaw = PatchLaw {
    step: 1e-3,
    dissipation: DissipationLaw::HuntCrossley { dissipation: 10.0 },
    friction: 0.5,
    stiction_tolerance: 1e-4,
    friction_compliance: 0.0,
};

/// Adds 25 faces on a square of 50 mm, each with an elastic force \[N\] along z.
pub(super) fn push_square(patch: &mut PatchBlock, elastic_force: f64) {
    for i in 0..25 {
        let p_CF = Vector3::new(0.01 * f64::from(i % 5) - 0.02, 0.01 * f64::from(i / 5) - 0.02, 0.0);
        patch.push_face(&FaceInput {
            p_CF,
            normal: Vector3::z(),
            stiffness: 400.0,
            elastic_force,
            spin_arm_squared: 0.0,
        });
    }
}
