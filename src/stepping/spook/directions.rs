//! The directions of friction at a contact point.

use std::f64::consts::{PI, TAU};

use crate::math::{Random, RigidTransform, Vector3};
use crate::solvers::complementarity::{FrictionFrame, FrictionLaw};
use crate::stepping::contacts::{frame_about, smallest_axis};

/// The inputs of a choice of directions.
#[derive(Clone, Copy)]
pub(super) struct DirectionInputs<'a> {
    /// The normal from A into B [-, world].
    pub(super) normal: Vector3,
    /// The velocity of slip of B over A at the start of the step [m/s, world].
    pub(super) slip: Vector3,
    /// Slip below this speed has no direction [m/s].
    pub(super) stiction_tolerance: f64,
    /// The pose of the body that the frame `body` belongs to.
    pub(super) X_WB: &'a RigidTransform,
    /// The last friction impulse here [N s, world]; zero without one.
    pub(super) friction_before: Vector3,
    /// The angle of this step for random directions \[rad\].
    pub(super) angle: f64,
}

/// The primary and the secondary direction.
pub(super) fn directions(law: FrictionLaw, inputs: &DirectionInputs<'_>) -> [Vector3; 2] {
    let n = &inputs.normal;
    let world = tangents(n);
    match law {
        FrictionLaw::Box
        | FrictionLaw::ScaledBox
        | FrictionLaw::ProjectedCone
        | FrictionLaw::PolyhedralCone { .. }
        | FrictionLaw::ExactCone
        | FrictionLaw::OrientedBox(FrictionFrame::World) => world,
        FrictionLaw::OrientedBox(FrictionFrame::Body) => {
            let R_WB = inputs.X_WB.rotation;
            tangents(&(R_WB.inverse() * n)).map(|t| R_WB * t)
        }
        FrictionLaw::OrientedBox(FrictionFrame::Slip) => {
            let speed = inputs.slip.norm();
            if speed > inputs.stiction_tolerance {
                let t = inputs.slip / speed;
                [t, n.cross(&t)]
            } else {
                world
            }
        }
        FrictionLaw::Randomized { .. } => turned(&world, &[inputs.angle, inputs.angle + 0.5 * PI]),
        FrictionLaw::MultiDirectional { directions } => {
            let (x, y) = (inputs.friction_before.dot(&world[0]), inputs.friction_before.dot(&world[1]));
            let angle = |number: u32| PI * f64::from(number) / f64::from(directions);
            let nearest = |to: f64, orthogonal: bool| {
                let parallel = |number: u32| (angle(number) - to).cos().abs();
                (0..directions).fold(0, |best, number| {
                    let better =
                        if orthogonal { parallel(number) < parallel(best) } else { parallel(number) > parallel(best) };
                    if better { number } else { best }
                })
            };
            let primary = if x == 0.0 && y == 0.0 { 0 } else { nearest(y.atan2(x), false) };
            let secondary = nearest(angle(primary), true);
            turned(&world, &[angle(primary), angle(secondary)])
        }
    }
}

/// The tangents t1, t2 with t1 nearest to an axis and t1 x t2 = n.
fn tangents(n: &Vector3) -> [Vector3; 2] {
    let frame = frame_about(n, smallest_axis(n));
    [frame.row(1).transpose(), frame.row(2).transpose()]
}

fn turned([t1, t2]: &[Vector3; 2], angles: &[f64; 2]) -> [Vector3; 2] {
    angles.map(|angle| t1 * angle.cos() + t2 * angle.sin())
}

/// The angle of the step number `step` \[rad\], uniform over a turn and the same for a seed in every run.
pub(super) fn random_angle(seed: u64, step: u64) -> f64 {
    TAU * Random::after(seed, step).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(friction_before: Vector3, X_WB: &RigidTransform) -> DirectionInputs<'_> {
        let normal = Vector3::z();
        let slip = Vector3::new(0.6, 0.8, 0.0);
        DirectionInputs { normal, slip, stiction_tolerance: 1e-6, X_WB, friction_before, angle: 0.3 }
    }

    /// The first pair of directions is the world's; later the primary direction is the nearest to the last
    /// friction force, and the secondary one is across it.
    #[test]
    fn the_nearest_of_many_directions_is_primary() {
        let still = RigidTransform::identity();
        let law = FrictionLaw::MultiDirectional { directions: 4 };
        let [t1, t2] = directions(law, &inputs(Vector3::zeros(), &still));
        assert!((t1 - Vector3::x()).norm() < 1e-12 && (t2 - Vector3::y()).norm() < 1e-12);
        let [t1, t2] = directions(law, &inputs(Vector3::new(-1.0, -1.1, 0.0), &still));
        let root = 0.5_f64.sqrt();
        assert!((t1 - Vector3::new(root, root, 0.0)).norm() < 1e-12 && t1.dot(&t2).abs() < 1e-12, "{t1} {t2}");
        // Of two directions only the basic pair exists
        let basic = FrictionLaw::MultiDirectional { directions: 2 };
        for friction in [Vector3::new(1.0, 0.9, 0.0), Vector3::new(0.9, -1.0, 0.0)] {
            let [t1, t2] = directions(basic, &inputs(friction, &still));
            assert!(t1.x.abs().max(t1.y.abs()) > 1.0 - 1e-12 && t1.dot(&t2).abs() < 1e-12);
        }
    }

    #[test]
    fn boxes_follow_their_frame() {
        let turned = RigidTransform::rotation(Vector3::z() * 0.4);
        let of = |frame| directions(FrictionLaw::OrientedBox(frame), &inputs(Vector3::zeros(), &turned))[0];
        assert!((of(FrictionFrame::World) - Vector3::x()).norm() < 1e-12);
        assert!((of(FrictionFrame::Body) - Vector3::new(0.4_f64.cos(), 0.4_f64.sin(), 0.0)).norm() < 1e-12);
        assert!((of(FrictionFrame::Slip) - Vector3::new(0.6, 0.8, 0.0)).norm() < 1e-12);
    }

    /// Mean and variance of a uniform distribution over a turn, to three standard deviations of 10,000 draws.
    #[test]
    fn random_angles_are_uniform() {
        let angles: Vec<f64> = (0..10_000).map(|step| random_angle(7, step) / TAU).collect();
        let mean = angles.iter().sum::<f64>() / 1e4;
        let variance = angles.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 3.0 * 0.2887 / 100.0, "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 3.0 * 0.0745 / 100.0, "{variance}");
        assert_ne!(random_angle(7, 1), random_angle(8, 1));
    }
}
