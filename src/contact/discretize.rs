//! Turns contact surfaces into the faces of a patch, [Masterjohn 2022, section IV].

use crate::geometry::ContactSurface;
use crate::math::Vector3;
use crate::solvers::{FaceInput, PatchBlock};

/// A face whose pressure gradient along the normal is at or below this is not a spring: pushing would not
/// raise the pressure [Masterjohn 2022, after eq. 23]. Real fields are far above this value: 1e-14 Pa/m.
pub const GRADIENT_MIN: f64 = 1e-14;

/// Counts of a surface's faces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Discretized {
    /// Faces that became springs.
    pub kept: u32,
    /// Faces whose pressure does not rise when the bodies approach.
    pub dropped: u32,
}

/// Whether the discrete step can use face `i` of `surface`.
fn is_kept(surface: &ContactSurface, i: usize) -> bool {
    surface.g_A[i] > GRADIENT_MIN && surface.g_B[i] > GRADIENT_MIN
}

/// Centroid C of the faces that [`push_faces`] keeps, weighted by area [m, world]; `None` if it keeps none.
pub fn patch_point(surface: &ContactSurface) -> Option<Vector3> {
    let mut moment = Vector3::zeros();
    let mut area = 0.0;
    for i in (0..surface.len()).filter(|i| is_kept(surface, *i)) {
        moment += surface.centroid[i] * surface.area[i];
        area += surface.area[i];
    }
    (area > 0.0).then(|| moment / area)
}

/// Appends the faces of `surface` to `block`, about the patch point `p_WC`, and their indices to `kept`:
///   k = g A,  fe0 = A p0  (phi0 = -p0/g),  g = g_A g_B/(g_A + g_B)   [Masterjohn 2022, eqs. 16 and 23].
pub fn push_faces(
    surface: &ContactSurface,
    p_WC: &Vector3,
    block: &mut PatchBlock,
    kept: &mut Vec<u32>,
) -> Discretized {
    push_each(surface, p_WC, kept, None, |face| block.push_face(face))
}

/// Does the same as [`push_faces`] for a surface at the end of a step. The forces of the faces are those at
/// the velocities that the block received with its columns, and change from there
/// ([`PatchBlock::push_face_about`]). Deviation: a face whose pressure does not rise along its normal is
/// kept, with the mean stiffness of the others. At the rim of a box such faces appear and disappear with the
/// sign of a tilt, and a step that ends in equilibrium with the field needs continuous forces. The stiffness
/// only affects the path of the iteration.
pub fn push_faces_about(
    surface: &ContactSurface,
    p_WC: &Vector3,
    block: &mut PatchBlock,
    kept: &mut Vec<u32>,
) -> Discretized {
    let (mut stiffness, mut area) = (0.0, 0.0);
    for i in (0..surface.len()).filter(|i| is_kept(surface, *i)) {
        stiffness += surface.area[i] * surface.gradient(i);
        area += surface.area[i];
    }
    let mean = if area > 0.0 { stiffness / area } else { 0.0 };
    push_each(surface, p_WC, kept, Some(mean), |face| block.push_face_about(face))
}

fn push_each(
    surface: &ContactSurface,
    p_WC: &Vector3,
    kept: &mut Vec<u32>,
    gradient_of_others: Option<f64>,
    mut push: impl FnMut(&FaceInput),
) -> Discretized {
    let mut count = Discretized::default();
    for i in 0..surface.len() {
        let own = is_kept(surface, i).then(|| surface.gradient(i));
        let Some(gradient) = own.or(gradient_of_others) else {
            count.dropped += 1;
            continue;
        };
        let area = surface.area[i];
        push(&FaceInput {
            p_CF: surface.centroid[i] - p_WC,
            normal: surface.normal[i],
            stiffness: area * gradient,
            elastic_force: area * surface.pressure[i],
        });
        kept.push(i as u32);
        count.kept += 1;
    }
    count
}
