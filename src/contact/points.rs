//! Contact points of rigid shapes as faces of a patch: near-rigid springs in parallel, one at each point.

use super::CombinedMaterial;
use crate::geometry::PointContacts;
use crate::math::Vector3;
use crate::solvers::{FaceInput, PatchBlock};

/// A near-rigid point gives way by this part of a rigid one: the natural period of the masses on it is this part of a step
/// (k = 4 pi^2 m / (beta dt)^2, with m the effective mass). Under its own weight a body then sinks by g dt^2 / 40:
/// 0.25 um in a step of a millisecond. Stiffer springs would show the rounding of positions as noise in the forces.
pub const NEAR_RIGID_BETA: f64 = 1.0;
/// Rigid shapes that are found overlapping part with this speed at most [m/s]: at once would fling them.
pub const RECOVERY_SPEED_MAX: f64 = 0.1;
/// The effective mass of a point counts as this many times the patch's translational one at most: a point that can hardly
/// move along its normal would have a spring without bound. [-]
const MASS_RATIO_MAX: f64 = 1e3;

/// Mean of the contact points: the patch point C [m, world]; `None` where there are none.
pub fn mean_point(points: &PointContacts) -> Option<Vector3> {
    (!points.is_empty()).then(|| points.p_WC.iter().sum::<Vector3>() / points.len() as f64)
}

/// Appends the contact points to `block`, about the patch point `p_WC`, as springs with fe0 = -k phi. k is the material's
/// stiffness; without one, that of [`NEAR_RIGID_BETA`], with `inverse_mass(p_CF, n)` the inverse effective mass [1/kg] of
/// a point along its normal and `patch_inverse_mass` that of the patch, over a step `dt` [s]. A point with phi > 0 pushes
/// only where the step would close its gap.
pub fn push_points(
    points: &PointContacts,
    p_WC: &Vector3,
    material: &CombinedMaterial,
    dt: f64,
    patch_inverse_mass: f64,
    inverse_mass: impl Fn(&Vector3, &Vector3) -> f64,
    block: &mut PatchBlock,
) {
    let rigid = 4.0 * std::f64::consts::PI.powi(2) / (NEAR_RIGID_BETA * dt).powi(2);
    for ((p_WF, normal), phi) in points.p_WC.iter().zip(&points.normal).zip(&points.phi) {
        let p_CF = p_WF - p_WC;
        let (stiffness, phi) = match material.point_stiffness {
            Some(stiffness) => (stiffness, *phi),
            None => {
                let w = inverse_mass(&p_CF, normal).max(patch_inverse_mass / MASS_RATIO_MAX);
                let stiffness = if w > 0.0 { rigid / w } else { 0.0 };
                (stiffness, phi.max(-RECOVERY_SPEED_MAX * dt))
            }
        };
        block.push_face(&FaceInput { p_CF, normal: *normal, stiffness, elastic_force: -stiffness * phi });
    }
}
