//! Which geometries overlap at a given state, before the first step.

use std::collections::BTreeMap;

use super::StepSettings;
use super::contacts::Contacts;
use crate::geometry::depth_beyond_reach;
use crate::math::GeometryIndex;
use crate::multibody::{Data, State, kinematics};
use crate::scene::{CollisionGeometry, ContactKind, ContactPair, Scene};
use crate::solvers::ContactProblem;

/// Rigid geometries that are not deeper in each other than this only touch [m].
const TOUCHING_DEPTH: f64 = 1e-6;

/// Two geometries with a contact surface between them, or two rigid ones that share space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// The geometry with the smaller index.
    pub A: GeometryIndex,
    /// The other geometry.
    pub B: GeometryIndex,
    /// What their contact is made of.
    pub kind: ContactKind,
    /// Area of their contact surface [m2]; 0 between rigid geometries.
    pub area: f64,
    /// Largest pressure on it [Pa]; 0 between rigid geometries.
    pub pressure_max: f64,
    /// How deep the deepest contact point of rigid geometries is [m]; 0 elsewhere.
    pub depth: f64,
    /// Whether that is deeper than contact points with a mesh are found, so that nothing pushes the two apart.
    pub is_lost: bool,
}

/// The pairs of `scene` that are in contact at `state`, and those of rigid meshes that are too deep in each other to be.
pub fn overlaps(scene: &Scene, state: &State) -> Vec<Overlap> {
    let model = scene.model();
    let mut data = Data::new(model);
    kinematics(model, state, &mut data);
    let mut problem = ContactProblem::default();
    problem.reset(model.trees());
    let mut contacts = Contacts::default();
    contacts.assemble(scene, &StepSettings::default(), &data, state, &mut problem);
    let none = |pair: &ContactPair| Overlap {
        A: pair.A,
        B: pair.B,
        kind: pair.kind,
        area: 0.0,
        pressure_max: 0.0,
        depth: 0.0,
        is_lost: false,
    };
    let mut found = BTreeMap::new();
    for active in contacts.active() {
        let pair = &scene.contact_pairs()[active.pair];
        match pair.kind {
            ContactKind::PressureField => {
                let (surface, _) = contacts.pairs.surface(active.pair);
                let pressure_max = surface.corner_pressure.iter().copied().fold(0.0, f64::max);
                found.insert(active.pair, Overlap { area: surface.total_area(), pressure_max, ..none(pair) });
            }
            ContactKind::Points => {
                let depth = contacts.pairs.points(active.pair).phi.iter().fold(0.0, |depth: f64, phi| depth.max(-phi));
                if depth > TOUCHING_DEPTH {
                    found.insert(active.pair, Overlap { depth, ..none(pair) });
                }
            }
        }
    }
    let pose = |geometry: &CollisionGeometry| data.X_WB[geometry.body] * geometry.X_BG;
    for (index, pair) in scene.contact_pairs().iter().enumerate() {
        let (a, b) = (&scene.geometries()[pair.A], &scene.geometries()[pair.B]);
        let (Some(A), Some(B)) = (&a.rigid, &b.rigid) else { continue };
        if let Some(depth) = depth_beyond_reach(A, &pose(a), B, &pose(b)) {
            found.insert(index, Overlap { depth, is_lost: true, ..none(pair) });
        }
    }
    found.into_values().collect()
}
