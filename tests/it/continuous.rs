//! Laws of the continuous model: closed forms, its tolerance, its refusals, and the convergence of the
//! discrete steps to it.

mod convergence;
mod laws;
mod plumbing;

use isobar::contact::FaceFriction;
use isobar::geometry::FaceRepresentation;
use isobar::stepping::{ContactScheme, ContactSurfaces, ContinuousStepping, DynamicStepping, StepSettings, Stepping};

/// Continuous steps of the length `step` \[s\].
fn continuous(step: f64, tolerance: f64) -> StepSettings {
    let options = ContinuousStepping { tolerance, ..ContinuousStepping::default() };
    StepSettings { stepping: Stepping::Continuous(options), ..crate::worlds::settings(step) }
}

/// Dynamic steps with the faces and the friction of the continuous model.
fn discrete(step: f64, scheme: ContactScheme) -> StepSettings {
    let options = DynamicStepping { scheme, surfaces: ContactSurfaces::Start, ..DynamicStepping::default() };
    StepSettings {
        faces: FaceRepresentation::TriangleFan,
        face_friction: FaceFriction::Centroid,
        stepping: Stepping::Dynamic(options),
        ..crate::worlds::settings(step)
    }
}
