//! Random poses of models, chosen so that their bounding spheres do not overlap.

use std::collections::BTreeMap;

use super::copies::RandomPose;
use super::error::SceneError;
use super::place_model::LoadedModel;
use super::schema::BaseSpec;
use crate::geometry::Shape;
use crate::math::{Random, RigidTransform, Rotation, Vector3};
use crate::multibody::JointKind;
use crate::robot::{Joint, RobotDescription};

/// The number of random positions that are tried for a model.
const TRIALS_MAX: usize = 10_000;

/// A ball \[m\].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ball {
    centre: Vector3,
    radius: f64,
}

/// Sets the poses of the models with random poses.
pub(super) fn scatter(models: &mut [LoadedModel<'_>]) -> Result<(), SceneError> {
    let mut placed: Vec<Ball> = Vec::new();
    let mut group: Option<(&RandomPose, Random, Ball)> = None;
    for model in models {
        let (Some(pose), BaseSpec::Free { X_WB, .. }) = (&model.spec.random, &model.spec.base) else { continue };
        let (mut random, ball_B) = match group.take() {
            Some((before, random, ball)) if before.place == pose.place => (random, ball),
            _ => (Random::new(pose.seed), ball(&model.robot)),
        };
        let found = free_pose(pose, &ball_B, &X_WB.rotation, &mut random, &placed);
        let (X_WB, ball_W) = found.map_err(|problem| SceneError::Conflict {
            place: pose.place.clone(),
            problem: format!("there is no room for model `{}`: {problem}", model.spec.name.name),
        })?;
        placed.push(ball_W);
        model.X_WB = Some(X_WB);
        group = Some((pose, random, ball_B));
    }
    Ok(())
}

fn free_pose(
    pose: &RandomPose,
    ball_B: &Ball,
    R_WB: &Rotation,
    random: &mut Random,
    placed: &[Ball],
) -> Result<(RigidTransform, Ball), String> {
    let radius = ball_B.radius;
    let room = pose.upper - pose.lower - Vector3::repeat(2.0 * radius);
    if room.min() < 0.0 {
        let (least, most) = (2.0 * radius, (pose.upper - pose.lower).min());
        return Err(format!(
            "`within` is {most:.4} m wide, and its bounding sphere has a diameter of {least:.4} m; widen `within`"
        ));
    }
    for _ in 0..TRIALS_MAX {
        let share = Vector3::new(random.next(), random.next(), random.next());
        let centre = pose.lower + Vector3::repeat(radius) + room.component_mul(&share);
        let turn = random.rotation();
        if placed.iter().any(|other| (other.centre - centre).norm() <= other.radius + radius) {
            continue;
        }
        let rotation = if pose.turned { turn * R_WB } else { *R_WB };
        let X_WB = RigidTransform::from_parts((centre - rotation * ball_B.centre).into(), rotation);
        return Ok((X_WB, Ball { centre, radius }));
    }
    let count = placed.len();
    Err(format!(
        "{TRIALS_MAX} random positions of its bounding sphere (radius {radius:.4} m) meet those of the {count} models before it; \
         widen `within`, or lower `count`"
    ))
}

/// A ball around all collision and visual geometries of a robot, in its root's frame, for any positions of
/// its joints.
fn ball(robot: &RobotDescription) -> Ball {
    let above: BTreeMap<&str, &Joint> = robot.joints.iter().map(|joint| (joint.child.as_str(), joint)).collect();
    let mut balls = Vec::new();
    let mut moves = false;
    for link in &robot.links {
        // The tree was checked at loading: this walk ends at the root.
        let (mut X_RB, mut reach) = (RigidTransform::identity(), 0.0);
        let mut here = link.name.as_str();
        while let Some(joint) = above.get(here) {
            let fixed = joint.kind == JointKind::Fixed;
            moves |= !fixed;
            reach += joint.X_PF.translation.vector.norm() + if fixed { 0.0 } else { travel(joint) };
            X_RB = joint.X_PF * X_RB;
            here = &joint.parent;
        }
        let collisions = link.collisions.iter().map(|element| (element.X_BG, Some(&element.shape)));
        let visuals = link.visuals.iter().map(|element| (element.X_BG, element.shape.as_ref()));
        for (X_BG, shape) in collisions.chain(visuals) {
            let Some(Ball { centre, radius }) = shape.and_then(shape_ball) else { continue };
            let p_BG = X_BG.transform_point(&centre.into());
            balls.push((
                Ball { centre: X_RB.transform_point(&p_BG).coords, radius },
                reach + p_BG.coords.norm() + radius,
            ));
        }
    }
    if moves {
        let radius = balls.iter().map(|(_, reach)| *reach).fold(0.0, f64::max);
        return Ball { centre: Vector3::zeros(), radius };
    }
    let corner = |sign: f64, pick: fn(&Vector3, &Vector3) -> Vector3| {
        let corners = balls.iter().map(|(ball, _)| ball.centre + Vector3::repeat(sign * ball.radius));
        corners.reduce(|a, b| pick(&a, &b)).unwrap_or_default()
    };
    let centre = 0.5 * (corner(-1.0, |a, b| a.inf(b)) + corner(1.0, |a, b| a.sup(b)));
    let radius = balls.iter().map(|(ball, _)| (ball.centre - centre).norm() + ball.radius).fold(0.0, f64::max);
    Ball { centre, radius }
}

/// The largest displacement of a joint \[m\].
fn travel(joint: &Joint) -> f64 {
    match joint.kind {
        JointKind::Prismatic => [joint.limits.lower, joint.limits.upper]
            .into_iter()
            .flatten()
            .fold(0.0, |most: f64, limit| most.max(limit.abs())),
        _ => 0.0,
    }
}

/// A ball around a shape, in its frame; `None` for a half space.
fn shape_ball(shape: &Shape) -> Option<Ball> {
    let at_origin = |radius| Some(Ball { centre: Vector3::zeros(), radius });
    match shape {
        Shape::Sphere { radius } => at_origin(*radius),
        Shape::Ellipsoid { semi_axes } => at_origin(semi_axes.max()),
        Shape::Box { size } => at_origin(size.norm() / 2.0),
        Shape::Cylinder { radius, length } => at_origin(radius.hypot(length / 2.0)),
        Shape::Capsule { radius, length } => at_origin(radius + length / 2.0),
        Shape::HalfSpace => None,
        Shape::Mesh(mesh) | Shape::Convex(mesh) => around(&mesh.vertices),
        Shape::Volume { mesh, .. } => around(&mesh.vertices),
    }
}

fn around(vertices: &[Vector3]) -> Option<Ball> {
    let first = vertices.first()?;
    let (lower, upper) = vertices.iter().fold((*first, *first), |(lower, upper), p| (lower.inf(p), upper.sup(p)));
    let centre = 0.5 * (lower + upper);
    Some(Ball { centre, radius: vertices.iter().map(|p| (p - centre).norm()).fold(0.0, f64::max) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of the rotated axes is zero, and each component has a variance of 1/3. Over n = 30000
    /// rotations, four standard deviations of the mean are 4 sqrt(1/(3 n)) = 0.0133, and of the variance
    /// 4 sqrt((1/5 - 1/9)/n) = 0.0069.
    #[test]
    fn random_rotations_prefer_no_direction() {
        let mut random = Random::new(1);
        let n = 30_000;
        let axes: Vec<Vector3> = (0..n).map(|_| random.rotation() * Vector3::z()).collect();
        for i in 0..3 {
            let mean = axes.iter().map(|axis| axis[i]).sum::<f64>() / f64::from(n);
            let square = axes.iter().map(|axis| axis[i] * axis[i]).sum::<f64>() / f64::from(n);
            assert!(mean.abs() < 0.0133 && (square - 1.0 / 3.0).abs() < 0.0069, "{i}: {mean}, {square}");
        }
    }
}
