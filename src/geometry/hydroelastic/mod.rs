//! Contact surfaces between pressure fields, rigid surfaces and half spaces [pressure-field contact patches,
//! III-A].

mod coherence;
mod contact_surface;
mod geometry;
mod half_space;
mod polygon;
mod reach;
mod slope;
mod volume_surface;
mod volume_volume;
mod workspace;

pub use coherence::{CoherenceCheck, CoherenceReport};
pub use contact_surface::{ContactSurface, FACE_AREA_MIN, FacePart, FaceRepresentation, effective_gradient};
pub use geometry::{HydroelasticGeometry, RigidSurface};
pub use slope::FACE_GRADIENT_COSINE_MIN;
pub use workspace::HydroelasticWorkspace;

use crate::math::RigidTransform;

/// Two geometries without a contact surface: a surface of equal pressure needs at least one field, and the
/// overlap of two half spaces is unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a {a} and a {b} have no contact surface: make one of them compliant, and not both half spaces")]
pub struct NoContactSurface {
    /// The kind of A.
    pub a: &'static str,
    /// The kind of B.
    pub b: &'static str,
}

/// Computes the contact surface of A and B at the poses `X_WA`, `X_WB` and writes it to `surface`, which is
/// cleared first. Nothing is allocated once `workspace` and `surface` have grown to their largest use.
/// Swapping A and B gives the same faces with opposite normals.
///
/// # Errors
/// A pair without a contact surface; `surface` is empty then. The error depends on the kinds of the two
/// geometries and never on their poses, so a scene can check its pairs once.
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

/// A geometry and its pose in the world.
type Posed<'a> = (&'a HydroelasticGeometry, &'a RigidTransform);

/// Does the same as [`query_on_any_cpu`], with four numbers per instruction if the CPU supports it. The bits
/// are the same: the operations and their order are the same, and none of them is fused.
fn query(
    A: Posed,
    B: Posed,
    workspace: &mut HydroelasticWorkspace,
    surface: &mut ContactSurface,
) -> Result<(), NoContactSurface> {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn query_with_avx2(
            A: Posed,
            B: Posed,
            workspace: &mut HydroelasticWorkspace,
            surface: &mut ContactSurface,
        ) -> Result<(), NoContactSurface> {
            query_on_any_cpu(A, B, workspace, surface)
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the function is safe on a CPU with its three target features, and the condition has
            // just checked these.
            #[allow(unsafe_code)]
            return unsafe { query_with_avx2(A, B, workspace, surface) };
        }
    }
    query_on_any_cpu(A, B, workspace, surface)
}

#[inline(always)]
fn query_on_any_cpu(
    (A, X_WA): Posed,
    (B, X_WB): Posed,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{HydroelasticParameters, Shape};
    use crate::math::{Rotation, Vector3};

    /// The code for this CPU and the code for any CPU give the same bits.
    #[test]
    fn all_instruction_sets_give_the_same_bits() {
        let made = |shape: Shape, compliant: Option<f64>, hint: f64| {
            let parameters = HydroelasticParameters {
                compliant,
                resolution_hint: Some(hint),
                slab_thickness: Some(0.05),
                margin: 0.0,
                ..HydroelasticParameters::default()
            };
            HydroelasticGeometry::new(&shape, &parameters).unwrap()
        };
        let ball = || Shape::Sphere { radius: 0.05 };
        let block = || Shape::Box { size: Vector3::new(0.08, 0.1, 0.06) };
        let A = [made(ball(), Some(1e5), 0.02), made(block(), Some(3e5), 0.03)];
        let B = [
            made(Shape::Ellipsoid { semi_axes: Vector3::new(0.06, 0.04, 0.05) }, Some(2e5), 0.02),
            made(block(), None, 0.03),
            made(Shape::HalfSpace, None, 1.0),
            made(Shape::HalfSpace, Some(1e5), 1.0),
        ];
        for (i, (a, b)) in A.iter().flat_map(|a| B.iter().map(move |b| (a, b))).enumerate() {
            let mut faces = 0;
            for k in 0..50 {
                let angle = 0.1 * f64::from(k) + i as f64;
                let X_WA = RigidTransform::from_parts(
                    Vector3::new(0.02 * angle.sin(), 0.01, 0.045 + 0.004 * angle.cos()).into(),
                    Rotation::from_euler_angles(angle, 0.3 * angle, -angle),
                );
                let X_WB = RigidTransform::from_parts(
                    Vector3::new(0.0, 0.0, 0.004).into(),
                    Rotation::from_euler_angles(0.01, 0.02, angle),
                );
                let (mut here, mut anywhere) = (ContactSurface::new(), ContactSurface::new());
                let mut workspace = HydroelasticWorkspace::default();
                query((a, &X_WA), (b, &X_WB), &mut workspace, &mut here).unwrap();
                workspace.forget();
                query_on_any_cpu((a, &X_WA), (b, &X_WB), &mut workspace, &mut anywhere).unwrap();
                assert!(coherence::same_bits(&here, &anywhere), "pair {i}, pose {k}");
                faces += here.len();
            }
            assert!(faces > 100, "pair {i} has {faces} faces");
        }
    }
}
