//! External wrenches on bodies: loads from outside the scene.

use super::checkpoint::read_wrenches;
use crate::math::{BodyIndex, ByteReader, BytesError, Index, IndexVec, SpatialForce, Vector6};
use crate::multibody::jacobian::write_columns;
use crate::multibody::{Data, Model};

/// The external wrenches on bodies; each holds until it is changed.
#[derive(Clone, Debug)]
pub(super) struct ExternalWrenches {
    F_BBo_W: IndexVec<BodyIndex, SpatialForce>,
    /// Memory for the Jacobian of one body.
    columns: Vec<Vector6>,
    /// J^T F over all bodies [N m] or \[N\].
    generalized: Vec<f64>,
}

impl ExternalWrenches {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            F_BBo_W: IndexVec::from_elem(SpatialForce::ZERO, model.bodies().len()),
            columns: vec![Vector6::zeros(); model.nv()],
            generalized: vec![0.0; model.nv()],
        }
    }

    pub(super) fn set(&mut self, body: BodyIndex, F_BBo_W: SpatialForce) {
        self.F_BBo_W[body] = F_BBo_W;
    }

    pub(super) fn clear(&mut self) {
        self.F_BBo_W.iter_mut().for_each(|wrench| *wrench = SpatialForce::ZERO);
    }

    pub(super) fn wrenches(&self) -> &IndexVec<BodyIndex, SpatialForce> {
        &self.F_BBo_W
    }

    /// Reads the wrenches of a checkpoint.
    pub(super) fn read(&mut self, reader: &mut ByteReader<'_>) -> Result<(), BytesError> {
        read_wrenches(&mut self.F_BBo_W, reader)
    }

    /// Computes tau = sum of J^T F over the bodies, at the poses in `data` [N m] or \[N\].
    pub(super) fn project(&mut self, model: &Model, data: &Data) {
        let Self { F_BBo_W, columns, generalized } = self;
        project(model, data, F_BBo_W, columns, generalized);
    }

    /// The result of [`ExternalWrenches::project`] [N m] or \[N\], by generalized velocity.
    pub(super) fn generalized(&self) -> &[f64] {
        &self.generalized
    }
}

/// Computes `generalized` = sum of J^T F over the bodies, at the poses in `data` [N m] or \[N\]. `columns`
/// is memory for the Jacobian of one body.
pub(super) fn project(
    model: &Model,
    data: &Data,
    F_BBo_W: &IndexVec<BodyIndex, SpatialForce>,
    columns: &mut [Vector6],
    generalized: &mut [f64],
) {
    generalized.fill(0.0);
    for (body, F) in F_BBo_W.iter_enumerated().filter(|(_, F)| **F != SpatialForce::ZERO) {
        let F = F.to_vector();
        let dofs = model.body_dofs(body);
        write_columns(model, data, body, &data.X_WB[body].translation.vector, columns);
        for (column, dof) in columns.iter().zip(dofs) {
            generalized[dof.to_usize()] += column.dot(&F);
        }
    }
}
