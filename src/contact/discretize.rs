//! Turns contact surfaces into the faces of a patch, [Masterjohn 2022, section IV].

use crate::geometry::ContactSurface;
use crate::math::Vector3;
use crate::solvers::{FaceInput, FrictionPart, PatchBlock};

/// A face whose pressure gradient along the normal is at or below this is not a spring: pushing would not
/// raise the pressure [Masterjohn 2022, after eq. 23]. Real fields are far above this value: 1e-14 Pa/m.
pub const GRADIENT_MIN: f64 = 1e-14;

/// Where the friction of a face of a contact surface acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaceFriction {
    /// All over the face: a large one resists spin about its own normal, and a very large one is divided.
    #[default]
    Spread,
    /// At the centroid, as in Drake and in [Masterjohn 2022].
    Centroid,
}

/// A face with less than this share of its surface's area has its friction at its centroid. All such faces
/// together then lack less than 0.8 % of the surface's friction torque: each lacks about its share, times its
/// share of the torque. [-]
const SPINNING_SHARE: f64 = 1.0 / 64.0;

/// The friction of a face with more than this share of its surface's area is divided among its corners. The
/// friction of 16 equal faces with spin is within 1 % of that of a uniform pressure in any direction of
/// sliding, of four only within 5 %. [-]
const DIVIDED_SHARE: f64 = 1.0 / 12.0;

/// rho^2 of a face as a part of its mean squared distance from the centroid, <r^2>. [-] Far from the centre
/// of rotation the sliding speed averages to |v| + w^2 <r^2>/(4 |v|), which is 1/2; about the centroid it is
/// w <|r|>, which is <|r|>^2/<r^2> = 0.88 for a disc. With this value squares and rectangles up to 3 : 1 have
/// the friction torque of a uniform pressure to 1 %.
const SPIN_SHARE: f64 = 0.6;

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

/// Appends the faces of `surface` to `block`, about the patch point `p_WC`, and their indices to `kept`, with
/// one more entry for each part of a face's friction:
///   k = g A,  fe0 = A p0  (phi0 = -p0/g),  g = g_A g_B/(g_A + g_B)   [Masterjohn 2022, eqs. 16 and 23].
pub fn push_faces(
    surface: &ContactSurface,
    p_WC: &Vector3,
    friction: FaceFriction,
    block: &mut PatchBlock,
    kept: &mut Vec<u32>,
) -> Discretized {
    push_each(surface, p_WC, friction, kept, None, block, PatchBlock::push_face)
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
    friction: FaceFriction,
    block: &mut PatchBlock,
    kept: &mut Vec<u32>,
) -> Discretized {
    let (mut stiffness, mut area) = (0.0, 0.0);
    for i in (0..surface.len()).filter(|i| is_kept(surface, *i)) {
        stiffness += surface.area[i] * surface.gradient(i);
        area += surface.area[i];
    }
    let mean = if area > 0.0 { stiffness / area } else { 0.0 };
    push_each(surface, p_WC, friction, kept, Some(mean), block, PatchBlock::push_face_about)
}

fn push_each(
    surface: &ContactSurface,
    p_WC: &Vector3,
    friction: FaceFriction,
    kept: &mut Vec<u32>,
    gradient_of_others: Option<f64>,
    block: &mut PatchBlock,
    push: impl Fn(&mut PatchBlock, &FaceInput),
) -> Discretized {
    let mut count = Discretized::default();
    let (spinning, divided) = match friction {
        FaceFriction::Spread => {
            let area = surface.total_area();
            (SPINNING_SHARE * area, DIVIDED_SHARE * area)
        }
        FaceFriction::Centroid => (f64::INFINITY, f64::INFINITY),
    };
    for i in 0..surface.len() {
        let own = is_kept(surface, i).then(|| surface.gradient(i));
        let Some(gradient) = own.or(gradient_of_others) else {
            count.dropped += 1;
            continue;
        };
        let area = surface.area[i];
        let face = FaceInput {
            p_CF: surface.centroid[i] - p_WC,
            normal: surface.normal[i],
            stiffness: area * gradient,
            elastic_force: area * surface.pressure[i],
            spin_arm_squared: if area > spinning { SPIN_SHARE * surface.spread(i) } else { 0.0 },
        };
        push(block, &face);
        kept.push(i as u32);
        if area > divided && face.stiffness > 0.0 {
            for part in surface.corner_parts(i) {
                let share = part.area * part.pressure / face.elastic_force;
                if share > 0.0 {
                    let spin_arm_squared = SPIN_SHARE * part.spread;
                    block.push_friction_part(&FrictionPart { p_CF: part.centroid - p_WC, share, spin_arm_squared });
                    kept.push(i as u32);
                }
            }
        }
        count.kept += 1;
    }
    count
}
