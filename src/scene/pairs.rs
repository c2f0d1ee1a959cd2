//! The pairs of geometries that may touch, and the kind of each contact.

use std::collections::BTreeSet;

use super::parts::{CollisionGeometry, ContactKind, ContactPair};
use crate::math::{BodyIndex, GeometryIndex, Index, IndexVec, JointIndex};
use crate::multibody::{Body, JointKind, Model};

pub(super) fn contact_pairs(
    model: &Model,
    geometries: &IndexVec<GeometryIndex, CollisionGeometry>,
    root_welds: &[JointIndex],
    excluded: &BTreeSet<(BodyIndex, BodyIndex)>,
) -> Vec<ContactPair> {
    let mut pairs = Vec::new();
    let fixed = FixedBodies { is_world: worlds(model, geometries), root_welds };
    for (A, a) in geometries.iter_enumerated() {
        for (B, b) in geometries.iter_enumerated().skip(A.to_usize() + 1) {
            let bodies = (a.body.min(b.body), a.body.max(b.body));
            let together = model.welded_group(a.body) == model.welded_group(b.body);
            if together || joined(model, &fixed, a.body, b.body) || excluded.contains(&bodies) {
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
/// whose parent is the world. The bodies that are welded to the world count as several parts, see [`part`]:
/// a robot on a fixed base then has the same pairs as one on a free base.
fn joined(model: &Model, fixed: &FixedBodies<'_>, a: BodyIndex, b: BodyIndex) -> bool {
    if !model.adjacent(a, b) {
        return false;
    }
    let ends = [part(model, fixed, a), part(model, fixed, b)];
    model.joints().iter().any(|joint| {
        let holds = joint.kind != JointKind::Floating && !fixed.is_world[joint.parent.to_usize()];
        holds && {
            let of_joint = [part(model, fixed, joint.parent), part(model, fixed, joint.child)];
            of_joint == ends || of_joint == [ends[1], ends[0]]
        }
    })
}

/// The bodies that are welded to the world.
struct FixedBodies<'a> {
    /// For each body whether it is a world.
    is_world: Vec<bool>,
    /// The joints by which the scene welds models to the world or to each other.
    root_welds: &'a [JointIndex],
}

/// The bodies that fixed joints weld to `body`: their group, and in the group of the world also the root of
/// its model, because robots that stand on one world or table are not welded to each other.
fn part(model: &Model, fixed: &FixedBodies<'_>, body: BodyIndex) -> (usize, BodyIndex) {
    let group = model.welded_group(body);
    if group != model.welded_group(BodyIndex::WORLD) {
        return (group, BodyIndex::WORLD);
    }
    let mut anchor = body;
    while let Some(joint) = model.bodies()[anchor].parent_joint {
        let parent = model.joints()[joint].parent;
        if fixed.is_world[parent.to_usize()] || fixed.root_welds.contains(&joint) {
            break;
        }
        anchor = parent;
    }
    (group, anchor)
}

/// For each body whether it is the world: the scene's own, or the empty root link `world` of a robot file
/// that is welded to it.
fn worlds(model: &Model, geometries: &IndexVec<GeometryIndex, CollisionGeometry>) -> Vec<bool> {
    let is_root_of_file = |index: BodyIndex, body: &Body| {
        let on_world = body.parent_joint.is_some_and(|joint| {
            let joint = &model.joints()[joint];
            joint.kind == JointKind::Fixed && joint.parent == BodyIndex::WORLD
        });
        on_world
            && body.name.ends_with("world")
            && body.inertia.mass == 0.0
            && geometries.iter().all(|geometry| geometry.body != index)
    };
    let bodies = model.bodies().iter_enumerated();
    bodies.map(|(index, body)| index == BodyIndex::WORLD || is_root_of_file(index, body)).collect()
}
