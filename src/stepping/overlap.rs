//! Which geometries overlap at a given state, before the first step.

use super::StepSettings;
use super::contacts::Contacts;
use crate::math::GeometryIndex;
use crate::multibody::{Data, State, kinematics};
use crate::scene::Scene;
use crate::solvers::ContactProblem;

/// Two geometries with a contact surface between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// The geometry with the smaller index.
    pub A: GeometryIndex,
    /// The other geometry.
    pub B: GeometryIndex,
    /// Area of their contact surface [m2].
    pub area: f64,
    /// Largest pressure on it [Pa].
    pub pressure_max: f64,
}

/// The pairs of `scene` that are in contact at `state`. Two rigid geometries have no contact surface and do not show.
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
        .map(|active| {
            let pair = &scene.contact_pairs()[active.pair];
            let (surface, _) = contacts.surface(active.pair);
            Overlap {
                A: pair.A,
                B: pair.B,
                area: surface.total_area(),
                pressure_max: surface.corner_pressure.iter().copied().fold(0.0, f64::max),
            }
        })
        .collect()
}
