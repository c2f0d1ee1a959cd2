//! Inverse kinematics of an arm, offline: damped least squares on the pose of one body.

use crate::math::{BodyIndex, Index, JointIndex, RigidTransform, Vector3, Vector6, rotation_vector};
use crate::multibody::jacobian::write_columns;
use crate::multibody::{Data, Model, positions};

/// The largest number of iterations; a near pose takes four or five.
const ITERATIONS_MAX: u32 = 100;
/// Largest error of the pose at the end \[m\] and \[rad\].
const TOLERANCE: f64 = 1e-10;
/// Damping of the least squares \[m2\], against singular poses: it costs iterations, not accuracy.
const DAMPING: f64 = 1e-8;

/// A pose out of the arm's reach.
#[derive(Debug, thiserror::Error)]
#[error(
    "body '{body}' cannot be brought to {p:?}: {error:.1e} m or rad remain after {ITERATIONS_MAX} iterations; move the target into reach"
)]
pub struct ReachError {
    /// The body.
    pub body: String,
    /// Its target position \[m\].
    pub p: [f64; 3],
    /// The remaining error \[m\] or \[rad\].
    pub error: f64,
}

/// Changes the coordinates of `joints` in `q` so that `body` reaches the pose `X_WB`.
///
/// # Errors
/// A pose out of reach.
pub fn reach(
    model: &Model,
    joints: &[JointIndex],
    body: BodyIndex,
    X_WB: &RigidTransform,
    q: &mut [f64],
) -> Result<(), ReachError> {
    let mut data = Data::new(model);
    let dofs = model.body_dofs(body);
    let mut columns = vec![Vector6::zeros(); dofs.len()];
    let mut left = f64::INFINITY;
    for _ in 0..ITERATIONS_MAX {
        positions(model, q, &mut data);
        let X = data.X_WB[body];
        let rotation = rotation_vector(&(X_WB.rotation * X.rotation.inverse()));
        let translation: Vector3 = X_WB.translation.vector - X.translation.vector;
        let error = Vector6::new(rotation.x, rotation.y, rotation.z, translation.x, translation.y, translation.z);
        left = error.amax();
        if left <= TOLERANCE {
            return Ok(());
        }
        write_columns(model, &data, body, &X.translation.vector, &mut columns);
        let mut gram = crate::math::Matrix6::identity() * DAMPING;
        let of_joint = |joint: &JointIndex| {
            let start = model.joints()[*joint].v_start;
            dofs.iter().position(|dof| dof.to_usize() == start)
        };
        for column in joints.iter().filter_map(of_joint).map(|index| columns[index]) {
            gram += column * column.transpose();
        }
        let Some(weights) = gram.cholesky().map(|factor| factor.solve(&error)) else { break };
        for joint in joints {
            if let Some(index) = of_joint(joint) {
                q[model.joints()[*joint].q_start] += columns[index].dot(&weights);
            }
        }
    }
    let p = X_WB.translation.vector;
    Err(ReachError { body: model.bodies()[body].name.clone(), p: [p.x, p.y, p.z], error: left })
}
