//! Velocity Jacobians of points fixed to bodies.

use super::data::Data;
use super::model::Model;
use crate::math::{BodyIndex, Vector3, Vector6};

/// Writes the Jacobian of the point Q of `body` that is at `p_WQ` now: one column (w; v of Q), in world axes,
/// for each dof of `model.body_dofs(body)`, in that order. `out` may be longer; the rest does not change.
///
/// Needs [`positions`](super::positions).
pub fn write_columns(model: &Model, data: &Data, body: BodyIndex, p_WQ: &Vector3, out: &mut [Vector6]) {
    write_shifted_columns(model, data, body, (p_WQ, &Vector3::zeros()), out);
}

/// Writes the columns of [`write_columns`] for velocities that belong to the poses in `later`. An impulse at
/// Q then changes the momentum of a tree on a floating or planar joint by its moment about the tree's centre
/// of mass at the poses in `data`, wherever the origin of the base is.
///
/// Needs [`positions`](super::positions) of both.
pub fn write_columns_for(
    model: &Model,
    (data, later): (&Data, &Data),
    body: BodyIndex,
    p_WQ: &Vector3,
    out: &mut [Vector6],
) {
    if std::ptr::eq(data, later) {
        return write_columns(model, data, body, p_WQ, out);
    }
    let centers = [later, data].map(|data| model.center_of_tree(data, body));
    let shift = if let [Some(later), Some(now)] = centers { later - now } else { Vector3::zeros() };
    write_shifted_columns(model, data, body, (p_WQ, &shift), out);
}

/// Writes the columns of the point Q; those of the tree's base are of the point that is farther by `shift`.
fn write_shifted_columns(
    model: &Model,
    data: &Data,
    body: BodyIndex,
    (p_WQ, shift): (&Vector3, &Vector3),
    out: &mut [Vector6],
) {
    let number = model.welded_group(body);
    let link = &model.links()[number];
    let p_TQ = p_WQ - data.links[number].p_WT;
    let of_base = link.base.map_or(0..0, |base| model.links()[base].columns.clone());
    debug_assert!(out.len() >= link.dofs.len(), "a column for each dof that moves the body");
    for (column, _) in out.iter_mut().zip(&link.dofs) {
        *column = Vector6::zeros();
    }
    for entry in &link.path {
        let p = if of_base.contains(&entry.column) { p_TQ + shift } else { p_TQ };
        out[entry.slot] += data.S[entry.column].shift(&p).to_vector();
    }
}
