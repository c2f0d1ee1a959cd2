//! Geometries that overlap at a given state, before the first step.

use std::collections::BTreeMap;

use super::contacts::{ContactInput, DynamicContacts, Pairs, smallest_extent};
use super::settings::{DynamicStepping, StepSettings};
use super::snapshot::penetration;
use crate::geometry::{depth_beyond_reach, surfaces_cross};
use crate::math::GeometryIndex;
use crate::multibody::{Data, State, kinematics};
use crate::scene::{CollisionGeometry, ContactKind, ContactPair, Scene};
use crate::solvers::dynamic::ContactProblem;

/// Rigid geometries whose overlap is at most this deep only touch \[m\].
const TOUCHING_DEPTH: f64 = 1e-6;

/// Two geometries with a contact surface between them, or two overlapping rigid geometries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// The geometry with the smaller index.
    pub A: GeometryIndex,
    /// The other geometry.
    pub B: GeometryIndex,
    /// The kind of their contact.
    pub kind: ContactKind,
    /// Area of their contact surface \[m2\]; 0 between rigid geometries.
    pub area: f64,
    /// Largest pressure on it \[Pa\]; 0 between rigid geometries.
    pub pressure_max: f64,
    /// Depth of the deepest contact point of rigid geometries, of the deepest corner if `is_lost`, or of the
    /// contact surface \[m\]; 0 for rigid meshes that cross without a contact point.
    pub depth: f64,
    /// Force of the contact surface \[N\]; 0 between rigid geometries.
    pub force: f64,
    /// The smallest extent of the thinner geometry \[m\].
    pub thickness: f64,
    /// Whether the overlap with a mesh is deeper than the search for contact points reaches, so that no force
    /// separates the two.
    pub is_lost: bool,
}

/// The indices of the contact pairs of `scene` whose boxes overlap at `state`; ascending. In scenes of few
/// pairs these are all pairs.
pub(crate) fn near_pairs(scene: &Scene, state: &State) -> Vec<u32> {
    let mut data = Data::new(scene.model());
    kinematics(scene.model(), state, &mut data);
    Pairs::default().with_boxes_that_overlap(scene, &data).to_vec()
}

/// The pairs of `scene` that are in contact at `state`, and the rigid meshes that overlap too deeply for
/// contact points, or cross without any.
pub fn overlaps(scene: &Scene, state: &State) -> Vec<Overlap> {
    let model = scene.model();
    let mut data = Data::new(model);
    kinematics(model, state, &mut data);
    let mut problem = ContactProblem::default();
    problem.reset(model.trees());
    let mut contacts = DynamicContacts::default();
    let (settings, options) = (StepSettings::default().common(), DynamicStepping::default());
    let (settings, options, v) = (&settings, &options, &state.v);
    let input = ContactInput { scene, settings, options, data: &data, later: &data, motion: None, v, external: &[] };
    contacts.assemble(&input, &mut problem);
    let none = |pair: &ContactPair| Overlap {
        A: pair.A,
        B: pair.B,
        kind: pair.kind,
        area: 0.0,
        pressure_max: 0.0,
        depth: 0.0,
        force: 0.0,
        thickness: [pair.A, pair.B]
            .map(|geometry| smallest_extent(&scene.geometries()[geometry]))
            .into_iter()
            .fold(f64::INFINITY, f64::min),
        is_lost: false,
    };
    let mut found = BTreeMap::new();
    for active in contacts.active() {
        let pair = &scene.contact_pairs()[active.pair];
        match pair.kind {
            ContactKind::PressureField => {
                let (surface, kept) = contacts.pairs.surface(active.pair);
                let pressure_max = surface.corner_pressure.iter().copied().fold(0.0, f64::max);
                let force = surface.area.iter().zip(&surface.pressure).map(|(area, pressure)| area * pressure).sum();
                let (area, depth) = (surface.total_area(), penetration(surface, kept));
                found.insert(active.pair, Overlap { area, pressure_max, depth, force, ..none(pair) });
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
        } else if !found.contains_key(&index) && surfaces_cross(A, &pose(a), B, &pose(b), TOUCHING_DEPTH) {
            found.insert(index, none(pair));
        }
    }
    found.into_values().collect()
}
