//! Which geometries overlap at a given state, before the first step.

use super::StepSettings;
use super::contacts::Contacts;
use crate::math::GeometryIndex;
use crate::multibody::{Data, State, kinematics};
use crate::scene::{ContactKind, Scene};
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
}

/// The pairs of `scene` that are in contact at `state`.
pub fn overlaps(scene: &Scene, state: &State) -> Vec<Overlap> {
    let model = scene.model();
    let mut data = Data::new(model);
    kinematics(model, state, &mut data);
    let mut problem = ContactProblem::default();
    problem.reset(model.nv());
    let mut contacts = Contacts::default();
    contacts.assemble(scene, &StepSettings::default(), &data, state, &mut problem);
    contacts
        .active()
        .iter()
        .filter_map(|active| {
            let pair = &scene.contact_pairs()[active.pair];
            let none = Overlap { A: pair.A, B: pair.B, kind: pair.kind, area: 0.0, pressure_max: 0.0, depth: 0.0 };
            match pair.kind {
                ContactKind::PressureField => {
                    let (surface, _) = contacts.pairs.surface(active.pair);
                    let pressure_max = surface.corner_pressure.iter().copied().fold(0.0, f64::max);
                    Some(Overlap { area: surface.total_area(), pressure_max, ..none })
                }
                ContactKind::Points => {
                    let depth =
                        contacts.pairs.points(active.pair).phi.iter().fold(0.0, |depth: f64, phi| depth.max(-phi));
                    (depth > TOUCHING_DEPTH).then_some(Overlap { depth, ..none })
                }
            }
        })
        .collect()
}
