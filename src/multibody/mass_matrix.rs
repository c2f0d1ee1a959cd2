//! The mass matrix by the composite rigid body algorithm [Featherstone, Rigid Body Dynamics Algorithms, 2008,
//! ch. 6], in world axes about each tree's reference point, where shifting inertias between links costs
//! nothing.

use super::data::Data;
use super::model::Model;

/// Fills `data.M` [kg m2, kg m or kg]: M_ij = S_i . (I^c S_j) with the composite inertia I^c of the bodies
/// that both dofs move. Rotor inertias are added on its diagonal.
///
/// Needs [`positions`](super::positions).
pub fn mass_matrix(model: &Model, data: &mut Data) {
    let dofs = &model.topology.column_dof;
    let Data { M, S, links, composite, .. } = data;
    for tree in model.trees() {
        for row in tree.clone() {
            M.clear_row(row);
            M.add(row, row, model.dof_armature()[row]);
        }
    }
    for (sum, link) in composite.iter_mut().zip(links.iter()) {
        *sum = link.inertia;
    }
    for (number, link) in model.links().iter().enumerate().skip(1).rev() {
        let inertia = composite[number];
        for i in link.columns.clone() {
            let momentum = inertia.mul_velocity(&S[i]);
            let row = dofs[i];
            for entry in link.path.iter().take_while(|entry| entry.column < i) {
                let value = S[entry.column].dot(&momentum);
                let column = dofs[entry.column];
                M.add(row, column, value);
                M.add(column, row, value);
            }
            M.add(row, row, S[i].dot(&momentum));
        }
        if link.parent != 0 {
            composite[link.parent] += inertia;
        }
    }
}
