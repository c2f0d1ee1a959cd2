//! The Jacobian of the relative velocity of two bodies, by its non-zero columns.

use std::ops::Range;

use crate::math::dense::{cholesky_forward_in_place, cholesky_in_place, dot};
use crate::math::{BlockDiagonal, BodyIndex, Index, SpatialVelocity, Vector3, Vector6};
use crate::multibody::jacobian::{write_columns, write_columns_for};
use crate::multibody::{Data, Model};
use crate::solvers::PatchBlock;

/// Scratch memory for the columns of J. V = J v is the velocity of B relative to A at C, in world axes.
#[derive(Clone, Debug, Default)]
pub(super) struct RelativeColumns {
    columns_A: Vec<Vector6>,
    columns_B: Vec<Vector6>,
    /// (degree of freedom, column), ascending.
    relative: Vec<(usize, Vector6)>,
    /// The columns of each tree, and where its Cholesky factor begins in `factors`.
    trees: Vec<(Range<usize>, usize)>,
    factors: Vec<f64>,
    scratch: Vec<f64>,
}

impl RelativeColumns {
    /// (degree of freedom, column), ascending.
    pub(super) fn columns(&self) -> &[(usize, Vector6)] {
        &self.relative
    }

    /// J v.
    pub(super) fn velocity(&self, v: &[f64]) -> SpatialVelocity {
        let sum: Vector6 = self.relative.iter().map(|(dof, column)| column * v[*dof]).sum();
        SpatialVelocity::from_vector(&sum)
    }

    /// Initializes an empty patch with the columns, and with the velocities `v0` at which its lagged
    /// impulses are evaluated.
    pub(super) fn push(&self, block: &mut PatchBlock, v0: &[f64]) {
        for (dof, column) in &self.relative {
            block.push_column(*dof as u32, *column, v0[*dof]);
        }
    }

    /// Initializes an empty patch with the columns; nothing in it depends on the velocities at the start.
    pub(super) fn push_at_rest(&self, block: &mut PatchBlock) {
        for (dof, column) in &self.relative {
            block.push_column(*dof as u32, *column, 0.0);
        }
    }

    /// Factors the parts of A that belong to the columns, for the inverse masses below: one for each tree.
    /// The other velocities of a tree count as held. A part that is not positive definite, for which the
    /// solver will name the joint, counts as immovable.
    pub(super) fn factor_masses(&mut self, momentum_matrix: &BlockDiagonal) {
        self.factors.clear();
        self.trees.clear();
        let mut start = 0;
        while let Some((first, _)) = self.relative.get(start) {
            let block = momentum_matrix.block_of(*first);
            let end = self.relative.partition_point(|(dof, _)| *dof < block.end);
            let (columns, at) = (&self.relative[start..end], self.factors.len());
            for (i, _) in columns {
                self.factors.extend(columns.iter().map(|(j, _)| momentum_matrix[(*i, *j)]));
            }
            if cholesky_in_place(&mut self.factors[at..], end - start).is_ok() {
                self.trees.push((start..end, at));
            }
            start = end;
        }
    }

    /// Inverse effective mass of the point F along `n`, n . J_F A^-1 J_F^T n [1/kg], with the factors of
    /// [`RelativeColumns::factor_masses`]. It does not depend on the axes or the origins of the bodies.
    pub(super) fn inverse_mass(&mut self, p_CF: &Vector3, n: &Vector3) -> f64 {
        let Self { relative, factors, trees, scratch, .. } = self;
        let share = |(tree, at): &(Range<usize>, usize)| {
            let count = tree.len();
            let along = |(_, column): &(usize, Vector6)| SpatialVelocity::from_vector(column).shift(p_CF).v.dot(n);
            scratch.clear();
            scratch.extend(relative[tree.clone()].iter().map(along));
            cholesky_forward_in_place(&factors[*at..*at + count * count], count, scratch);
            dot(scratch, scratch)
        };
        trees.iter().map(share).sum()
    }

    /// Mean inverse effective mass of the patch point over the three axes [1/kg].
    pub(super) fn mean_inverse_mass(&mut self) -> f64 {
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        axes.iter().map(|axis| self.inverse_mass(&Vector3::zeros(), axis)).sum::<f64>() / 3.0
    }

    /// Inverse effective mass of a patch whose normal is `along` [1/kg]: that of the patch point along the
    /// normal, or its mean if that is larger, because the faces resist tilting as well.
    pub(super) fn patch_inverse_mass(&mut self, along: &Vector3, momentum_matrix: &BlockDiagonal) -> f64 {
        self.factor_masses(momentum_matrix);
        let normal = self.inverse_mass(&Vector3::zeros(), along);
        self.mean_inverse_mass().max(normal)
    }

    /// Computes the columns for the velocity of B relative to A at the point C.
    pub(super) fn merge(&mut self, model: &Model, data: &Data, bodies: (BodyIndex, BodyIndex), p_WC: &Vector3) {
        self.merge_at(model, data, bodies, (p_WC, p_WC));
    }

    /// Computes the columns for the velocity of a point fixed on B relative to a point fixed on A. The two
    /// points may differ.
    pub(super) fn merge_at(
        &mut self,
        model: &Model,
        data: &Data,
        (body_A, body_B): (BodyIndex, BodyIndex),
        (p_WA, p_WB): (&Vector3, &Vector3),
    ) {
        self.resize(model, (body_A, body_B));
        write_columns(model, data, body_A, p_WA, &mut self.columns_A);
        write_columns(model, data, body_B, p_WB, &mut self.columns_B);
        self.subtract(model, (body_A, body_B));
    }

    /// Computes the columns of [`RelativeColumns::merge_at`] for momenta that belong to the poses in
    /// `later` ([`write_columns_for`]).
    pub(super) fn merge_for(
        &mut self,
        model: &Model,
        (data, later): (&Data, &Data),
        (body_A, body_B): (BodyIndex, BodyIndex),
        (p_WA, p_WB): (&Vector3, &Vector3),
    ) {
        self.resize(model, (body_A, body_B));
        write_columns_for(model, (data, later), body_A, p_WA, &mut self.columns_A);
        write_columns_for(model, (data, later), body_B, p_WB, &mut self.columns_B);
        self.subtract(model, (body_A, body_B));
    }

    fn resize(&mut self, model: &Model, (body_A, body_B): (BodyIndex, BodyIndex)) {
        self.columns_A.resize(model.body_dofs(body_A).len(), Vector6::zeros());
        self.columns_B.resize(model.body_dofs(body_B).len(), Vector6::zeros());
    }

    /// Merges the columns of B and those of A, whose sign changes.
    fn subtract(&mut self, model: &Model, (body_A, body_B): (BodyIndex, BodyIndex)) {
        let (dofs_A, dofs_B) = (model.body_dofs(body_A), model.body_dofs(body_B));
        self.relative.clear();
        let mut of_A = dofs_A.iter().zip(&self.columns_A).peekable();
        for (dof, column) in dofs_B.iter().zip(&self.columns_B) {
            while let Some((before, column_A)) = of_A.next_if(|(dof_A, _)| *dof_A < dof) {
                self.relative.push((before.to_usize(), -column_A));
            }
            let shared = of_A.next_if(|(dof_A, _)| *dof_A == dof);
            self.relative.push((dof.to_usize(), shared.map_or(*column, |(_, column_A)| column - column_A)));
        }
        self.relative.extend(of_A.map(|(dof, column_A)| (dof.to_usize(), -column_A)));
    }
}
