//! The bodies under external wrenches, as they are published and recorded.

use crate::math::{BodyIndex, Index, RigidTransform, SpatialForce};
use crate::stepping::Snapshot;

/// Selects the bodies on which an external wrench acts, and those on which one has just ended: their zero
/// wrench marks the end of the push.
#[derive(Clone, Debug, Default)]
pub struct PushedBodies {
    acting: Vec<bool>,
}

impl PushedBodies {
    /// The selected bodies of `snapshot`, each with its wrench about its origin in world axes, and its pose.
    pub fn select<'a>(
        &'a mut self,
        snapshot: &'a Snapshot,
    ) -> impl Iterator<Item = (BodyIndex, &'a SpatialForce, &'a RigidTransform)> {
        self.acting.resize(snapshot.external_F_BBo_W.len(), false);
        let wrenches = snapshot.external_F_BBo_W.as_slice().iter().zip(snapshot.X_WB.as_slice());
        wrenches.zip(&mut self.acting).enumerate().filter_map(|(body, ((F_BBo_W, X_WB), acted))| {
            let acts = *F_BBo_W != SpatialForce::ZERO;
            let ended = std::mem::replace(acted, acts) && !acts;
            (acts || ended).then(|| (BodyIndex::from_usize(body), F_BBo_W, X_WB))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{IndexVec, Vector3};

    #[test]
    fn a_push_is_selected_while_it_acts_and_once_at_its_end() {
        let mut pushed = PushedBodies::default();
        let mut forces = Vec::new();
        for force in [0.0, 2.0, 3.0, 0.0, 0.0] {
            let wrench = SpatialForce::new(Vector3::zeros(), Vector3::z() * force);
            let mut snapshot = Snapshot::default();
            snapshot.X_WB = IndexVec::from_elem(RigidTransform::identity(), 2);
            snapshot.external_F_BBo_W = [SpatialForce::ZERO, wrench].into_iter().collect();
            forces.extend(pushed.select(&snapshot).map(|(body, F_BBo_W, _)| (body.to_usize(), F_BBo_W.f.z)));
        }
        assert_eq!(forces, [(1, 2.0), (1, 3.0), (1, 0.0)]);
    }
}
