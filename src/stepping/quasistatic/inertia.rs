//! The inertial part of the forces in a quasistatic step.

use crate::math::{BodyIndex, Vector3};
use crate::multibody::{Data, JointKind, Model};
use crate::solvers::quasistatic::{QuasistaticProblem, QuasistaticSolver};

/// A contact force below this fraction of the inertial force is an error of the balance, not contact. [-]
const CONTACT_MIN: f64 = 1e-6;

/// The inertial force on a body or passive joint, compared with the contact forces on it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::stepping) struct InertialPart {
    /// The inertial force relative to the sum of the contact forces [-].
    pub(in crate::stepping) share: f64,
    /// The body, or the body that the joint moves.
    pub(in crate::stepping) body: Option<BodyIndex>,
}

/// Sums of contact impulses by degree of freedom. Memory is reused.
#[derive(Clone, Debug, Default)]
pub(super) struct InertialForces {
    /// The first degree of freedom of the group that counts together: the translation of a free body, or a
    /// passive joint. `None` for actuated joints and for the rotation of free bodies.
    group: Vec<Option<usize>>,
    /// Sum of the sizes of contact impulses, by first degree of freedom of the group [N s] or [N m s].
    contact: Vec<f64>,
    momentum: Vec<f64>,
}

impl InertialForces {
    /// The largest [`InertialPart`] of the step that ended with the velocities `v`; `scales` are those of the
    /// mass matrix in Q, by tree.
    pub(super) fn largest(
        &mut self,
        model: &Model,
        data: &Data,
        (actuated, scales): (&[bool], &[f64]),
        problem: &QuasistaticProblem,
        solver: &QuasistaticSolver,
        v: &[f64],
    ) -> InertialPart {
        let n = problem.size();
        self.group.clear();
        self.group.resize(n, None);
        self.contact.clear();
        self.contact.resize(n, 0.0);
        self.momentum.clear();
        self.momentum.resize(n, 0.0);
        for joint in model.joints().iter().filter(|joint| joint.mimic.is_none()) {
            let floating = joint.kind == JointKind::Floating;
            let first = joint.v_start + if floating { 3 } else { 0 };
            for dof in (first..joint.v_start + joint.nv).filter(|dof| !actuated[*dof]) {
                self.group[dof] = Some(if floating { first } else { dof });
            }
        }
        for (tree, scale) in model.trees().iter().zip(scales) {
            for i in tree.clone().filter(|dof| !actuated[*dof]) {
                let row = tree.clone().filter(|dof| !actuated[*dof]).map(|j| data.M[(i, j)] * v[j]);
                self.momentum[i] = scale * row.sum::<f64>();
            }
        }
        for (contact, gamma) in problem.contacts().iter().zip(solver.contact_impulses()) {
            self.add(problem.columns(contact).iter().map(|(dof, column)| (*dof as usize, column.dot(gamma))));
        }
        for (patch, gamma) in problem.patches().iter().zip(solver.patch_impulses()) {
            let gamma = gamma.to_vector();
            self.add(problem.patch_columns(patch).map(|(dof, column)| (dof as usize, column.dot(&gamma))));
        }
        let mut part = InertialPart::default();
        for joint in model.joints().iter() {
            for dof in joint.v_start..joint.v_start + joint.nv {
                let contact = self.contact[dof];
                if self.group[dof] != Some(dof) || contact == 0.0 {
                    continue;
                }
                let momentum = |k: usize| self.momentum[dof + k];
                let inertial = match joint.kind {
                    JointKind::Floating => Vector3::new(momentum(0), momentum(1), momentum(2)).norm(),
                    _ => momentum(0).abs(),
                };
                if inertial > part.share * contact && contact > CONTACT_MIN * inertial {
                    part = InertialPart { share: inertial / contact, body: Some(joint.child) };
                }
            }
        }
        part
    }

    /// Adds the size of one contact's impulse to each group that it acts on.
    fn add(&mut self, impulses: impl Iterator<Item = (usize, f64)>) {
        let (mut current, mut squared) = (None, 0.0_f64);
        for (dof, impulse) in impulses {
            if self.group[dof] != current {
                if let Some(first) = current {
                    self.contact[first] += squared.sqrt();
                }
                (current, squared) = (self.group[dof], 0.0);
            }
            squared += impulse * impulse;
        }
        if let Some(first) = current {
            self.contact[first] += squared.sqrt();
        }
    }
}
