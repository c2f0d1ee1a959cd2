//! Contact wrenches of a step by pair, and their derivatives.

use super::step::QuasistaticStep;
use crate::math::{SpatialForce, Vector3};
use crate::stepping::contacts::{QuasistaticContacts, frame_about, smallest_axis};

/// The numbers of a wrench.
pub(super) const WRENCH: usize = 6;

/// The wrenches of a step on the bodies B of pairs, about their origins, and their changes by column.
#[derive(Clone, Debug, Default)]
pub(super) struct WrenchDerivatives {
    /// Indices in `Scene::contact_pairs`.
    pub(super) pairs: Vec<usize>,
    /// [N m, N].
    pub(super) wrenches: Vec<SpatialForce>,
    /// Column by column, one for each pair.
    pub(super) changes: Vec<SpatialForce>,
    /// Changes of the impulses of the contacts [N s], and the impulses of the pairs that belong to them.
    pub(super) gammas: Vec<Vector3>,
    pub(super) moved: Vec<SpatialForce>,
}

impl WrenchDerivatives {
    /// Starts with the pairs in contact, and with `columns` columns.
    pub(super) fn start(&mut self, pairs: impl Iterator<Item = usize>, columns: usize) {
        self.pairs.clear();
        self.pairs.extend(pairs);
        self.changes.clear();
        self.changes.resize(columns * self.pairs.len(), SpatialForce::ZERO);
    }

    /// The changes along a column, one for each pair.
    pub(super) fn column(&mut self, column: usize) -> &mut [SpatialForce] {
        let count = self.pairs.len();
        &mut self.changes[column * count..(column + 1) * count]
    }

    /// Sets the changes along a column to those of a slope of step differences.
    pub(super) fn set_column(&mut self, column: usize, slope: &[f64]) {
        for (change, numbers) in self.column(column).iter_mut().zip(slope.chunks_exact(WRENCH)) {
            let vector = |first: usize| Vector3::new(numbers[first], numbers[first + 1], numbers[first + 2]);
            *change = SpatialForce::new(vector(0), vector(3));
        }
    }
}

/// The impulses on B about its origin of the pairs of `contacts`, which are all rigid, from the impulses
/// `gammas` of their points. The axes of a point are those at the nearby `place`, turned with its normal.
pub(super) fn pair_impulses(
    contacts: &QuasistaticContacts,
    place: &QuasistaticContacts,
    gammas: &[Vector3],
    impulses: &mut Vec<SpatialForce>,
) {
    let mut gammas = gammas.iter();
    impulses.clear();
    impulses.extend(contacts.active().iter().map(|active| {
        let (points, normals) = (contacts.points(active.pair), &place.points(active.pair).normal);
        let each = points.p_WC.iter().zip(&points.normal).zip(normals).zip(gammas.by_ref());
        each.fold(SpatialForce::ZERO, |sum, (((p_WF, n), n_place), gamma)| {
            let f = frame_about(n, smallest_axis(n_place)).transpose() * gamma;
            sum + SpatialForce::new((p_WF - active.p_WBo[1]).cross(&f), f)
        })
    }));
}

/// The wrenches of a step of h \[s\] on the bodies B of `pairs`, about their origins [N m, N]; 0 for pairs
/// without contact.
pub(super) fn step_wrenches(step: &QuasistaticStep, h: f64, pairs: &[usize], wrenches: &mut Vec<SpatialForce>) {
    let contacts = &step.contacts;
    wrenches.clear();
    wrenches.extend(pairs.iter().map(|pair| {
        let found = contacts.active().iter().zip(contacts.impulses()).find(|(active, _)| active.pair == *pair);
        let Some((active, impulse)) = found else { return SpatialForce::ZERO };
        impulse.shift(&(active.p_WBo[1] - active.p_WC)) * (1.0 / h)
    }));
}
