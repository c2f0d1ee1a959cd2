//! A check that every motion of a model has inertia.

use super::data::Data;
use super::error::ModelError;
use super::kinematics::positions;
use super::mass_matrix::mass_matrix;
use super::model::Model;
use crate::math::dense::cholesky_in_place;

/// A pivot of M's factorization below this fraction of its diagonal entry is rounding, not inertia. The
/// pivots of real robots go down to 1e-8 of it. [-]
const PIVOT_SHARE_MIN: f64 = 1e-13;

impl Model {
    /// Checks that the mass matrix is positive definite at the default state. It allocates: call it once,
    /// before dynamic steps.
    ///
    /// # Errors
    /// The outermost joint whose motion has no inertia.
    pub fn check_mass(&self) -> Result<(), ModelError> {
        let mut data = Data::new(self);
        positions(self, &self.default_state().q, &mut data);
        mass_matrix(self, &mut data);
        for tree in self.trees() {
            if let Some(dof) = self.dof_without_inertia(&data, tree.clone()) {
                return Err(self.massless(&data, dof));
            }
        }
        Ok(())
    }

    /// Factorizes from the leaves inwards, so that the pivot of a dof is its inertia with all dofs beyond it
    /// free.
    fn dof_without_inertia(&self, data: &Data, tree: std::ops::Range<usize>) -> Option<usize> {
        let n = tree.len();
        let entry = |i: usize, j: usize| data.M[(tree.end - 1 - i, tree.end - 1 - j)];
        let mut factor: Vec<f64> = (0..n).flat_map(|i| (0..n).map(move |j| entry(i, j))).collect();
        let failed = cholesky_in_place(&mut factor, n).err().map(|error| error.pivot);
        // The diagonal holds 1/sqrt(pivot).
        let is_rounding = |j: &usize| factor[j * (n + 1)].powi(-2) <= PIVOT_SHARE_MIN * entry(*j, *j);
        let first = (0..failed.unwrap_or(n)).find(is_rounding).or(failed);
        first.map(|j| tree.end - 1 - j)
    }

    fn massless(&self, data: &Data, dof: usize) -> ModelError {
        let owner = self.joints().iter().find(|joint| (joint.v_start..joint.v_start + joint.nv).contains(&dof));
        let (joint, child) = owner.map_or((String::new(), None), |joint| (joint.name.clone(), Some(joint.child)));
        ModelError::Massless {
            body: child.map_or_else(String::new, |body| self.bodies()[body].name.clone()),
            joint,
            mass: child.map_or(0.0, |body| data.composite[self.welded_group(body)].mass),
        }
    }
}
