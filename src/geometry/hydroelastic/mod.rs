//! Contact surfaces between pressure fields, rigid surfaces and half spaces [pressure-field contact patches, III-A].

mod coherence;
mod contact_surface;
mod geometry;
mod half_space;
mod polygon;
mod reach;
mod volume_surface;
mod volume_volume;
mod workspace;

pub use coherence::{CoherenceCheck, CoherenceReport};
pub use contact_surface::{ContactSurface, FACE_AREA_MIN, FaceRepresentation, effective_gradient};
pub use geometry::{HydroelasticGeometry, HydroelasticParameters, RigidSurface};
pub use workspace::HydroelasticWorkspace;

use crate::math::{RigidTransform, Vector3};

/// cos(5 pi / 8). A pressure should rise into its geometry from the face, along the normal; where it falls along a line less
/// than 3 pi / 8 from the normal, the face belongs to the far side of a thin part, and it is left out. Falls less steep than
/// that come from coarse tessellations and stay. [-]
pub const FACE_GRADIENT_COSINE_MIN: f64 = -0.382_683_432_365_089_8;

/// The slope [Pa/m] of a pressure along the unit vector into its geometry, or `None` where it falls too steeply; `steepest` is
/// the norm of its `gradient`. See
/// [`FACE_GRADIENT_COSINE_MIN`].
#[inline]
fn slope_into(gradient: &Vector3, steepest: f64, inward: &Vector3) -> Option<f64> {
    let slope = gradient.dot(inward);
    (slope > FACE_GRADIENT_COSINE_MIN * steepest).then_some(slope)
}

/// Two geometries that have no contact surface: a surface of equal pressure needs one field at least, and two half
/// spaces meet without bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a {a} and a {b} have no contact surface: make one of them compliant, and not both half spaces")]
pub struct NoContactSurface {
    /// What A is.
    pub a: &'static str,
    /// What B is.
    pub b: &'static str,
}

/// Computes the contact surface of A and B at the poses `X_WA`, `X_WB` and writes it to `surface`, which is cleared first.
/// Nothing is allocated once `workspace` and `surface` have grown to their largest use. Swapping A and B gives the same
/// faces with opposite normals.
///
/// # Errors
/// A pair that has no contact surface; `surface` is empty then. The pair's kinds decide, never the poses, so that a scene can
/// check its pairs once.
pub fn contact_surface(
    A: &HydroelasticGeometry,
    X_WA: &RigidTransform,
    B: &HydroelasticGeometry,
    X_WB: &RigidTransform,
    workspace: &mut HydroelasticWorkspace,
    surface: &mut ContactSurface,
) -> Result<(), NoContactSurface> {
    surface.clear();
    let reused = workspace.memory.report.reused;
    query((A, X_WA), (B, X_WB), workspace, surface)?;
    if workspace.memory.report.reused > reused
        && let Some(check) = workspace.check
        && workspace.memory.report.reused.checked_rem(check.every) == Some(0)
    {
        let checker = workspace.checker();
        checker.surface.clear();
        query((A, X_WA), (B, X_WB), &mut checker.workspace, &mut checker.surface)?;
        let same = coherence::same_bits(surface, &checker.surface);
        workspace.memory.report.checked += 1;
        workspace.memory.report.mismatched += u64::from(!same);
    }
    Ok(())
}

fn query(
    (A, X_WA): (&HydroelasticGeometry, &RigidTransform),
    (B, X_WB): (&HydroelasticGeometry, &RigidTransform),
    workspace: &mut HydroelasticWorkspace,
    surface: &mut ContactSurface,
) -> Result<(), NoContactSurface> {
    use HydroelasticGeometry as G;
    match (A, B) {
        (G::CompliantVolume(a), G::CompliantVolume(b)) => {
            volume_volume::contact_surface(a, X_WA, b, X_WB, workspace, surface);
        }
        (G::CompliantVolume(a), G::RigidSurface(b)) => {
            volume_surface::contact_surface((a, X_WA), (b, X_WB), true, workspace, surface);
        }
        (G::RigidSurface(a), G::CompliantVolume(b)) => {
            volume_surface::contact_surface((b, X_WB), (a, X_WA), false, workspace, surface);
        }
        (G::CompliantVolume(a), G::RigidHalfSpace) => {
            half_space::volume_rigid((a, X_WA), X_WB, true, workspace, surface);
        }
        (G::RigidHalfSpace, G::CompliantVolume(b)) => {
            half_space::volume_rigid((b, X_WB), X_WA, false, workspace, surface);
        }
        (G::CompliantVolume(a), G::CompliantHalfSpace { stiffness, .. }) => {
            half_space::volume_compliant((a, X_WA), (*stiffness, X_WB), true, workspace, surface);
        }
        (G::CompliantHalfSpace { stiffness, .. }, G::CompliantVolume(b)) => {
            half_space::volume_compliant((b, X_WB), (*stiffness, X_WA), false, workspace, surface);
        }
        (G::RigidSurface(a), G::CompliantHalfSpace { stiffness, margin }) => {
            half_space::surface_compliant((a, X_WA), (*stiffness, *margin, X_WB), true, workspace, surface);
        }
        (G::CompliantHalfSpace { stiffness, margin }, G::RigidSurface(b)) => {
            half_space::surface_compliant((b, X_WB), (*stiffness, *margin, X_WA), false, workspace, surface);
        }
        _ => return Err(NoContactSurface { a: A.kind(), b: B.kind() }),
    }
    Ok(())
}
