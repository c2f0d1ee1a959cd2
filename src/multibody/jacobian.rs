//! Velocity Jacobians of points fixed to bodies.

use super::data::Data;
use super::model::Model;
use crate::math::{BodyIndex, Vector3, Vector6};

/// Writes the Jacobian of the point Q of `body` that is at `p_WQ` now: one column (w; v of Q), in world axes,
/// for each dof of `model.body_dofs(body)`, in that order. `out` may be longer; the rest does not change.
///
/// Needs [`positions`](super::positions).
pub fn write_columns(model: &Model, data: &Data, body: BodyIndex, p_WQ: &Vector3, out: &mut [Vector6]) {
    let number = model.welded_group(body);
    let link = &model.links()[number];
    let p_TQ = p_WQ - data.links[number].p_WT;
    debug_assert!(out.len() >= link.dofs.len(), "a column for each dof that moves the body");
    for (column, _) in out.iter_mut().zip(&link.dofs) {
        *column = Vector6::zeros();
    }
    for entry in &link.path {
        out[entry.slot] += data.S[entry.column].shift(&p_TQ).to_vector();
    }
}
