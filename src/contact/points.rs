//! Contact points of rigid shapes as faces of a patch: near-rigid springs in parallel, one at each point.

use super::CombinedMaterial;
use crate::geometry::PointContacts;
use crate::math::Vector3;
use crate::solvers::{FaceInput, PatchBlock};

/// The natural period of the masses on a near-rigid point, or on a row of a joint, as a fraction of a step
/// (k = 4 pi^2 m / (beta dt)^2, with m the effective mass). A body then sinks by g dt^2 / 4000 under its own
/// weight; under a thousand times its weight it sinks by 2.5 um in a step of a millisecond, and by 62 um in
/// one of five. Positions are rounded to 1e-16 m, so forces are accurate to 4e3 m / dt^2 times that: 4e-7 N
/// for 1 kg and 1 ms. Stiffer springs would lose digits.
pub const NEAR_RIGID_BETA: f64 = 0.1;
/// Largest speed at which overlapping rigid shapes separate [m/s]; full correction in one step would throw
/// them apart.
pub const RECOVERY_SPEED_MAX: f64 = 0.1;
/// Upper limit of a point's effective mass, as a multiple of the patch's translational one. Without it, a
/// point that can hardly move along its normal would have an unbounded spring stiffness. [-]
const MASS_RATIO_MAX: f64 = 1e3;

/// A point that can move along its normal by less than this part of the patch's translational inverse mass
/// has a proportional part of its spring: its force would not change the motion, but hold it by friction. A
/// finger on a slider touches a wall beside it in this way, and rounding decides whether the two overlap. [-]
const MOVABLE_PART: f64 = 1e-9;

/// Mean of the contact points: the patch point C [m, world]; `None` if there are none.
pub fn mean_point(points: &PointContacts) -> Option<Vector3> {
    (!points.is_empty()).then(|| points.p_WC.iter().sum::<Vector3>() / points.len() as f64)
}

/// The inputs for the springs of a pair of rigid shapes.
#[derive(Clone, Copy, Debug)]
pub struct PointLoad {
    /// Step dt \[s\].
    pub step: f64,
    /// Inverse effective mass of the patch [1/kg].
    pub inverse_mass: f64,
    /// The largest normal impulse of a point of this pair in the previous step [N s]; 0 if there was none.
    pub impulse_before: f64,
}

/// Appends the contact points to `block`, about the patch point `p_WC`, as springs with fe0 = -k phi. k is
/// the material's stiffness, or follows from [`NEAR_RIGID_BETA`] and the inverse effective mass
/// `inverse_mass(p_CF, n)` [1/kg] of a point along its normal. A point with phi > 0 pushes only if the step
/// would close its gap.
///
/// Near-rigid shapes that overlap separate at [`RECOVERY_SPEED_MAX`] and still carry any load. The depth that
/// is due to the load of the previous step is the deflection of the spring and has no bound. Depth beyond it
/// counts for at most the recovery of one step:
///   fe0 = k min(-phi, v dt + gamma_before/(k dt)).
/// v is v_max, or v_max sqrt(w/w_C) if that is less, with the inverse masses of the point and of the patch: a
/// point that can hardly move along its normal would need a fast motion across it to part at v_max. Its
/// recovery has no more energy than that of the bodies in translation.
/// A spring under the impulse gamma ends its step at the depth gamma/(k dt), so the bound acts only on
/// overlaps that are not due to a load.
pub fn push_points(
    points: &PointContacts,
    p_WC: &Vector3,
    material: &CombinedMaterial,
    load: &PointLoad,
    mut inverse_mass: impl FnMut(&Vector3, &Vector3) -> f64,
    block: &mut PatchBlock,
) {
    let dt = load.step;
    let rigid = 4.0 * std::f64::consts::PI.powi(2) / (NEAR_RIGID_BETA * dt).powi(2);
    let recovery = |own: f64| {
        let part = own / load.inverse_mass;
        if part < 1.0 { RECOVERY_SPEED_MAX * dt * part.max(0.0).sqrt() } else { RECOVERY_SPEED_MAX * dt }
    };
    for ((p_WF, normal), phi) in points.p_WC.iter().zip(&points.normal).zip(&points.phi) {
        let p_CF = p_WF - p_WC;
        let (stiffness, elastic_force) = match material.point_stiffness {
            Some(stiffness) => (stiffness, -stiffness * phi),
            None => {
                let own = inverse_mass(&p_CF, normal);
                let w = own.max(load.inverse_mass / MASS_RATIO_MAX);
                let movable = (own / (MOVABLE_PART * load.inverse_mass)).min(1.0);
                let stiffness = if w > 0.0 { movable * rigid / w } else { 0.0 };
                let most = stiffness * recovery(own) + load.impulse_before / dt;
                (stiffness, (-stiffness * phi).min(most))
            }
        };
        let spin_arm_squared = material.points.torsional_radius.powi(2);
        block.push_face(&FaceInput { p_CF, normal: *normal, stiffness, elastic_force, spin_arm_squared });
        if material.points.rolling_friction > 0.0 {
            block.push_rolling_friction(material.points.rolling_friction);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vector6;
    use crate::solvers::{DissipationLaw, PatchLaw};

    /// Law: a point in a deep overlap parts at v_max, or with the energy of the translation, w_C v_max^2/2,
    /// if it can hardly move along its normal: at v_max sqrt(w/w_C) then, less one 3949th by its spring. The
    /// load of the step before is carried in full.
    #[test]
    fn recoveries_have_the_energy_of_translation_at_most() {
        let (dt, translation) = (1e-3, 2.0);
        let rigid = 4.0 * std::f64::consts::PI.powi(2) / (NEAR_RIGID_BETA * dt).powi(2);
        for part in [3.0, 1.0, 0.25, 0.01] {
            for impulse_before in [0.0, 0.5] {
                let points =
                    PointContacts { p_WC: vec![Vector3::zeros()], normal: vec![Vector3::z()], phi: vec![-1.0] };
                let material = CombinedMaterial {
                    dissipation: 0.0,
                    relaxation_time: 0.0,
                    friction: 0.0,
                    point_stiffness: None,
                    points: Default::default(),
                };
                let mut block = PatchBlock::new();
                block.reset(PatchLaw {
                    step: dt,
                    dissipation: DissipationLaw::HuntCrossley { dissipation: 0.0 },
                    friction: 0.0,
                    stiction_tolerance: 1e-4,
                    friction_compliance: 0.0,
                });
                block.push_column(0, Vector6::ith(5, 1.0), 0.0);
                let load = PointLoad { step: dt, inverse_mass: translation, impulse_before };
                let w = part * translation;
                push_points(&points, &Vector3::zeros(), &material, &load, |_, _| w, &mut block);
                let (force, stiffness) = block.elastic_sums();
                assert!((stiffness - rigid / w).abs() < 1e-9 * stiffness);
                // The implicit step v/w = dt (fe0 - load - dt k v)
                let speed = dt * w * (force - impulse_before / dt) / (1.0 + dt * dt * stiffness * w);
                let full = dt * dt * rigid / (1.0 + dt * dt * rigid);
                let expected = RECOVERY_SPEED_MAX * part.min(1.0_f64).sqrt() * full;
                assert!((speed - expected).abs() < 1e-9 * expected, "{part}: {speed} m/s and not {expected}");
            }
        }
    }
}
