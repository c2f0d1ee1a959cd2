//! The pairs of geometries that may touch, and the kind of each contact.

use std::collections::BTreeSet;

use super::parts::{CollisionGeometry, ContactKind, ContactPair};
use crate::math::{BodyIndex, GeometryIndex, Index, IndexVec};
use crate::multibody::{JointKind, Model};

pub(super) fn contact_pairs(
    model: &Model,
    geometries: &IndexVec<GeometryIndex, CollisionGeometry>,
    excluded: &BTreeSet<(BodyIndex, BodyIndex)>,
) -> Vec<ContactPair> {
    let mut pairs = Vec::new();
    for (A, a) in geometries.iter_enumerated() {
        for (B, b) in geometries.iter_enumerated().skip(A.to_usize() + 1) {
            let bodies = (a.body.min(b.body), a.body.max(b.body));
            let together = model.welded_group(a.body) == model.welded_group(b.body);
            if together || joined(model, a.body, b.body) || excluded.contains(&bodies) {
                continue;
            }
            let rigid = a.rigid.is_some() && b.rigid.is_some();
            let kind = if rigid { ContactKind::Points } else { ContactKind::PressureField };
            pairs.push(ContactPair { A, B, kind, material: a.material.combine(&b.material) });
        }
    }
    pairs
}

/// Whether a joint between the two bodies, or between bodies welded to them, holds the two so close together
/// that their geometries are not meant to touch. A floating joint does not count, and neither does a joint
/// whose parent is the world itself. If one of the bodies is welded to the world, a joint only counts if it
/// names both.
fn joined(model: &Model, a: BodyIndex, b: BodyIndex) -> bool {
    let world = model.welded_group(BodyIndex::WORLD);
    let fixed = model.welded_group(a) == world || model.welded_group(b) == world;
    model.adjacent(a, b)
        && model.joints().iter().any(|joint| {
            let ends = [joint.parent, joint.child];
            let holds = joint.kind != JointKind::Floating && joint.parent != BodyIndex::WORLD;
            let same_groups = |x: BodyIndex, y: BodyIndex| {
                model.welded_group(joint.parent) == model.welded_group(x)
                    && model.welded_group(joint.child) == model.welded_group(y)
            };
            holds && if fixed { ends == [a, b] || ends == [b, a] } else { same_groups(a, b) || same_groups(b, a) }
        })
}
