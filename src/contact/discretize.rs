//! Turns contact surfaces into the faces of a patch, [Masterjohn 2022, section IV].

use crate::geometry::{ContactSurface, effective_gradient};
use crate::math::{SpatialVelocity, Vector3};
use crate::solvers::{FaceInput, FrictionPart, PatchBlock};

/// A face whose pressure gradient along the normal is at or below this is not a spring: pushing would not
/// raise the pressure [Masterjohn 2022, after eq. 23]. The gradients of real fields are far above this value.
/// [Pa/m]
pub const GRADIENT_MIN: f64 = 1e-14;

/// The points of a face of a contact surface at which its friction acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaceFriction {
    /// All over the face: a large face resists spin about its own normal, and a very large one is divided.
    #[default]
    Spread,
    /// At the centroid, as in Drake and in [Masterjohn 2022].
    Centroid,
}

/// A face with less than this share of its surface's area has its friction at its centroid. All such faces
/// together then lack less than 0.8 % of the surface's friction torque: a face with the share s of the area
/// lacks, on average, less than the fraction s/2 of its own torque. [-]
const SPINNING_SHARE: f64 = 1.0 / 64.0;

/// The friction of a face with more than this share of its surface's area is divided among its corners. The
/// friction of 16 equal faces with spin is within 1 % of that of a uniform pressure in any direction of
/// sliding, that of four only within 5 %. [-]
const DIVIDED_SHARE: f64 = 1.0 / 12.0;

/// A part of a divided face with more than this share of its surface's area is divided again. The friction of
/// a square in 48 parts is within 1 % of that of a uniform pressure about any centre of rotation, that of 12
/// parts within 3 %. [-]
const DIVIDED_PART_SHARE: f64 = 1.0 / 16.0;

/// rho^2 of a face as a fraction of its mean squared distance from the centroid, <r^2>. [-] Far from the
/// centre of rotation the sliding speed averages to |v| + w^2 <r^2>/(4 |v|), which corresponds to 1/2; about
/// the centroid it averages to w <|r|>, which corresponds to <|r|>^2/<r^2> = 0.89 for a disc. With this value
/// squares and rectangles up to 3 : 1 have the friction torque of a uniform pressure to 1 %.
const SPIN_SHARE: f64 = 0.6;

/// The force of a face whose pressure falls along its normal fades until its gradient has this part of the
/// size of the largest one. The rim of a box has the gradients that its tilt gives it, and the force must not
/// jump with their sign; faces beyond the middle of a body have gradients as large as the others. [-]
const FALLING_PART: f64 = 0.5;

/// A face whose pressure rises along its normal with at least this part of the largest gradient has all of
/// its force, whatever its direction. With less, its direction counts: the sides of a rigid block in soft
/// ground carry nothing of its weight, and friction of their pressure would hold the block by more than mu N.
/// [-]
const RISING_PART: f64 = 1e-2;

/// A face has at least this part of the largest gradient as its stiffness, so that its force is a spring's.
/// [-]
const STIFFNESS_PART: f64 = 1e-3;

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
/// one more entry for each part of a face's friction. With the pressure p0 at the centroid of a face:
///   k = g A,  fe0 = A p0  (phi0 = -p0/g),  g = g_A g_B/(g_A + g_B)   [Masterjohn 2022, eqs. 16 and 23].
pub fn push_faces(
    surface: &ContactSurface,
    p_WC: &Vector3,
    friction: FaceFriction,
    block: &mut PatchBlock,
    kept: &mut Vec<u32>,
) -> Discretized {
    let spring = |i| is_kept(surface, i).then(|| Spring::of(surface, i, surface.gradient(i)));
    push_each(surface, p_WC, friction, kept, spring, block, PatchBlock::push_face)
}

/// The share of its force with which face `i` pushes. If one body is rigid, with the face's gradient over the
/// largest one, x, and the angle a between its normal and that of the patch:
///   max(x/0.01, cos^2 a min(1, 1 + 2 x)), between 0 and 1.
/// A surface between two compliant bodies has both gradients near zero only where their sides coincide, and
/// may count there twice, once with each sign: rising faces have the share 1 and falling ones 0.
fn pushing_share(surface: &ContactSurface, i: usize, size: &PatchSize) -> f64 {
    if surface.g_A[i].is_finite() && surface.g_B[i].is_finite() {
        return if is_kept(surface, i) { 1.0 } else { 0.0 };
    }
    let x = surface.g_A[i].min(surface.g_B[i]) / size.gradient;
    let falling = (1.0 + x / FALLING_PART).clamp(0.0, 1.0);
    let along = surface.normal[i].dot(&size.along).max(0.0).powi(2);
    (x / RISING_PART).max(along * falling).min(1.0)
}

/// Does the same as [`push_faces`], and keeps the faces whose pressure hardly depends on the depth, as at the
/// rim of a box: their gradients have the sign of a tilt or of rounding, and the force of the field has no
/// jump there. Such a face has nearly no stiffness, and the share of its force that `pushing_share` gives.
pub fn push_faces_with_rims(
    surface: &ContactSurface,
    (p_WC, size): (&Vector3, &PatchSize),
    friction: FaceFriction,
    block: &mut PatchBlock,
    kept: &mut Vec<u32>,
) -> Discretized {
    let spring = |i: usize| {
        let share = pushing_share(surface, i, size);
        let own = if is_kept(surface, i) { surface.gradient(i) } else { 0.0 };
        let Spring { stiffness, elastic_force } = Spring::of(surface, i, own.max(STIFFNESS_PART * size.gradient));
        (share > 0.0).then_some(Spring { stiffness: share * stiffness, elastic_force: share * elastic_force })
    };
    push_each(surface, p_WC, friction, kept, spring, block, PatchBlock::push_face)
}

/// The sum of the forces of [`push_faces_at_end`] at the velocity of the surface, and their resultant \[N\].
pub fn resting_forces(surface: &ContactSurface, size: &PatchSize) -> (f64, Vector3) {
    let (mut sum, mut resultant) = (0.0, Vector3::zeros());
    for i in 0..surface.len() {
        let force = pushing_share(surface, i, size).max(0.0) * surface.area[i] * surface.pressure[i];
        sum += force;
        resultant += surface.normal[i] * force;
    }
    (sum, resultant)
}

/// Does the same as [`push_faces_with_rims`] for a surface at the end of the `step` \[s\], at the poses that
/// the bodies reach with the relative velocity `V` at `p_WC`: fe0 = A p + dt k n.v_F(V).
pub fn push_faces_at_end(
    surface: &ContactSurface,
    (p_WC, size): (&Vector3, &PatchSize),
    (V, step): (&SpatialVelocity, f64),
    friction: FaceFriction,
    block: &mut PatchBlock,
    kept: &mut Vec<u32>,
) -> Discretized {
    let spring = |i: usize| {
        let share = pushing_share(surface, i, size);
        let own = if is_kept(surface, i) { surface.gradient(i) } else { 0.0 };
        let least = if size.depth > 0.0 { surface.pressure[i] / size.depth } else { 0.0 };
        let Spring { stiffness, elastic_force } = Spring::of(surface, i, own.max(least));
        let moved = step * V.shift(&(surface.centroid[i] - p_WC)).v.dot(&surface.normal[i]);
        let stiffness = share * stiffness;
        (share > 0.0).then_some(Spring { stiffness, elastic_force: share * elastic_force + stiffness * moved })
    };
    push_each(surface, p_WC, friction, kept, spring, block, PatchBlock::push_face)
}

/// Does the same as [`push_faces`] for a surface at the end of a step. The forces of the faces are those at
/// the velocities that the block received with its columns, and change from there
/// ([`PatchBlock::push_face_about`]). Deviation: a face whose pressure does not rise along its normal is
/// kept, with the mean gradient of the others. At the rim of a box such faces appear and disappear with the
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
    let spring = |i| match is_kept(surface, i) {
        true => Some(Spring::of(surface, i, surface.gradient(i))),
        false => Some(Spring::of(surface, i, mean)),
    };
    push_each(surface, p_WC, friction, kept, spring, block, PatchBlock::push_face_about)
}

/// The normal spring of a face.
struct Spring {
    /// Stiffness \[N/m\].
    stiffness: f64,
    /// Elastic force at the start of the step \[N\].
    elastic_force: f64,
}

impl Spring {
    /// The spring of face `i` with the pressure gradient `gradient` [Pa/m].
    fn of(surface: &ContactSurface, i: usize, gradient: f64) -> Self {
        let area = surface.area[i];
        Self { stiffness: area * gradient, elastic_force: area * surface.pressure[i] }
    }

    /// Its elastic energy at the start of the step \[J\]; 0 without stiffness.
    fn energy(&self) -> f64 {
        if self.stiffness > 0.0 { self.elastic_force * self.elastic_force / (2.0 * self.stiffness) } else { 0.0 }
    }
}

/// The inputs of [`push_faces_held`] for one patch.
#[derive(Clone, Copy, Debug)]
pub struct Hold {
    /// Step dt \[s\].
    pub step: f64,
    /// Inverse effective mass of the patch [1/kg].
    pub inverse_mass: f64,
    /// The fraction of the first two changes listed at [`push_faces_held`] that applies: from 0 in a step
    /// that resolves the contact to 1 in a step that does not. [-]
    pub share: f64,
    /// The time after the start of the step at which the surface was found on the bodies' free path \[s\].
    pub ahead: f64,
    /// The velocity of B relative to A at the patch point on that path, in world axes [rad/s, m/s].
    pub V_free: SpatialVelocity,
    /// Whether the bodies touch at the start of the step.
    pub touches: bool,
    /// The elastic energy of the patch at the end of the previous step \[J\]; `None` in the first step.
    pub energy_before: Option<f64>,
    /// The speed that a body gains in free fall during the step [m/s]: bodies whose overlap is not due to a
    /// load separate at no more than this speed.
    pub fall: f64,
    /// The largest depth of a contact of the two bodies \[m\]; infinite for a half space.
    pub depth_max: f64,
}

/// Weak faces have less stiffness than their force over the depth of the patch. They get all of the missing
/// stiffness if the excess of their forces would move the bodies by this fraction of the depth within the
/// step, and a proportional part of it for a smaller motion. [-]
const WEAK_PART: f64 = 0.1;

/// Bodies whose overlap is not due to a load separate at this part of the speed that a body gains in free
/// fall during a step, if the step is long compared with their contact. At the full speed, a die that lands
/// on an edge would rock from edge to edge without limit. [-]
const RECOVERY_PART: f64 = 0.25;

/// Depth and direction of a patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchSize {
    /// Depth: the largest pressure of a face that can push over the largest gradient \[m\]; 0 without such a
    /// face. Gradients of the other faces count by their size: beyond the middle of a body all gradients are
    /// negative, except for rounding.
    pub depth: f64,
    /// The largest gradient, by size [Pa/m].
    pub gradient: f64,
    /// Direction: the mean normal of the faces, weighted by their stiffness; a unit vector, or zero.
    pub along: Vector3,
}

impl PatchSize {
    /// The size with at most the depth `most` \[m\]. Where a plane cuts through a thin plate that stands on
    /// its edge, all gradients along the normal vanish, and the depth that follows from them has no bound.
    pub fn within(self, most: f64) -> Self {
        if self.depth <= most {
            return self;
        }
        Self { depth: most, gradient: self.gradient * self.depth / most, ..self }
    }
}

/// Depth and direction of a patch, from the faces that can push.
pub fn patch_size(surface: &ContactSurface) -> PatchSize {
    let (mut pressure, mut along) = (0.0_f64, Vector3::zeros());
    for i in (0..surface.len()).filter(|i| is_kept(surface, *i)) {
        let own = surface.gradient(i);
        pressure = pressure.max(surface.pressure[i]);
        along += surface.normal[i] * (surface.area[i] * own);
    }
    let largest = (0..surface.len()).map(|i| effective_gradient(surface.g_A[i].abs(), surface.g_B[i].abs()));
    let gradient = largest.fold(0.0, f64::max);
    let depth = if gradient > 0.0 { pressure / gradient } else { 0.0 };
    PatchSize { depth, gradient, along: along.try_normalize(0.0).unwrap_or_default() }
}

/// Depth of a patch \[m\]; see [`PatchSize`].
pub fn patch_depth(surface: &ContactSurface) -> f64 {
    patch_size(surface).depth
}

/// A face counts for the plane of depths if its pressure exceeds its gradient times the depth of the patch by
/// at most this part of that product [-].
const DEPTH_ROUNDING: f64 = 1e-6;
/// A plane of depths does not slope along directions in which its points spread by less than the square root
/// of this part of their whole spread [-].
const SPREAD_ROUNDING: f64 = 1e-9;

/// The depths of a patch as a plane over its faces, by least squares over the corners of those that its sides
/// do not limit.
struct DepthPlane {
    /// Mean position of the corners, from the patch point \[m\].
    middle: Vector3,
    /// Depth there \[m\].
    mean: f64,
    /// Its rate of change [-].
    slope: Vector3,
    /// The largest gradient, by size [Pa/m].
    gradient: f64,
}

impl DepthPlane {
    fn of(surface: &ContactSurface, p_WC: &Vector3, size: &PatchSize) -> Self {
        let PatchSize { depth, gradient, along } = *size;
        let is_part = |i: usize| {
            is_kept(surface, i) && { surface.pressure[i] <= (1.0 + DEPTH_ROUNDING) * depth * surface.gradient(i) }
        };
        // Weight, position and depth of the corners of the faces that count
        let corners = || {
            (0..surface.len()).filter(|i| is_part(*i)).flat_map(|i| {
                let (vertices, pressures) = surface.polygon(i);
                let own = surface.gradient(i);
                let weight = surface.area[i] * own / vertices.len() as f64;
                vertices.iter().zip(pressures).map(move |(p, pressure)| (weight, p - p_WC, pressure / own))
            })
        };
        let (mut total, mut middle, mut mean) = (0.0, Vector3::zeros(), 0.0);
        for (weight, p, depth) in corners() {
            total += weight;
            middle += p * weight;
            mean += depth * weight;
        }
        let tangent = along.cross(&Vector3::ith(along.iamin(), 1.0)).try_normalize(0.0);
        let Some(x) = tangent.filter(|_| total > 0.0) else {
            return Self { middle, mean: depth, slope: Vector3::zeros(), gradient };
        };
        (middle, mean) = (middle / total, mean / total);
        let y = along.cross(&x);
        let (mut xx, mut xy, mut yy, mut dx, mut dy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (weight, p, depth) in corners() {
            let (px, py) = ((p - middle).dot(&x), (p - middle).dot(&y));
            xx += weight * px * px;
            xy += weight * px * py;
            yy += weight * py * py;
            dx += weight * px * (depth - mean);
            dy += weight * py * (depth - mean);
        }
        let least = SPREAD_ROUNDING * (xx + yy);
        let (xx, yy) = (xx + least, yy + least);
        let determinant = xx * yy - xy * xy;
        let slope = if determinant > 0.0 {
            (x * (yy * dx - xy * dy) + y * (xx * dy - xy * dx)) / determinant
        } else {
            Vector3::zeros()
        };
        Self { middle, mean, slope, gradient }
    }

    /// The depth of the bodies at face `i` \[m\], which is at least its pressure over the largest gradient,
    /// and the fraction of the pressure at this depth that the face has [-].
    fn depth_at(&self, surface: &ContactSurface, i: usize, p_WC: &Vector3) -> (f64, f64) {
        let own = surface.pressure[i] / self.gradient;
        let depth = (self.mean + self.slope.dot(&(surface.centroid[i] - p_WC - self.middle))).max(own);
        (depth, own / depth)
    }
}

/// Speed at which the fastest face of a surface is pressed in if B moves relative to A with V at `p_WC`
/// [m/s].
pub fn approach_speed(surface: &ContactSurface, p_WC: &Vector3, V: &SpatialVelocity) -> f64 {
    let speed = |i: usize| -V.shift(&(surface.centroid[i] - p_WC)).v.dot(&surface.normal[i]);
    (0..surface.len()).map(speed).fold(0.0, f64::max)
}

/// Does the same as [`push_faces_with_rims`] for a step that may be longer than the contact:
/// - Every face is kept, also one whose pressure does not rise along its normal. At the rim of a box
///   faces come in pairs, g and -g; one without the other is a force that no motion of the step reduces.
/// - The force of every face vanishes before the bodies have parted by the depth of the patch:
///   k >= fe0/depth. A softer face would keep its force, and push the bodies away with more energy than
///   their contact had. If the step resolves the motion that this force causes, the surface of the next
///   step reduces the force, and k stays g A. A face that is weak because it lies near the side of a body,
///   in a surface found deeper than the bodies are at the start, is as stiff there as the strongest: its
///   pressure grows with the depth until the side limits it.
/// - The surface may be that of a later time on the free path. The forces are then those of that pose, with
///   fe0 + dt_ahead k n.v_F(V_free) instead of fe0, which is negative for faces that do not touch at the
///   start.
/// - If the step does not resolve the contact, forces are scaled down so that the springs begin with no more
///   energy than those of the previous step ended with. The rest is at most that of bodies that fall for one
///   step, and lets an overlap without a load separate.
pub fn push_faces_held(
    surface: &ContactSurface,
    p_WC: &Vector3,
    hold: &Hold,
    friction: FaceFriction,
    block: &mut PatchBlock,
    kept: &mut Vec<u32>,
) -> Discretized {
    let size = patch_size(surface).within(hold.depth_max);
    let PatchSize { depth, along, .. } = size;
    let own = |i: usize| if is_kept(surface, i) { surface.gradient(i) } else { 0.0 };
    let plane = DepthPlane::of(surface, p_WC, &size);
    let rests = hold.touches || hold.energy_before.is_some_and(|energy| energy > 0.0);
    // The face without its weak part, the force of that part at the start, and the motion along the normal
    // until the surface was found. In a step that does not resolve the contact, faces across a patch that
    // touches or already carried a force are left out: their pressure does not depend on motion across the
    // patch, and the free path of a body that is held, or that slides, leads far across it.
    let face = |i: usize| {
        let (p_CF, normal, area) = (surface.centroid[i] - p_WC, surface.normal[i], surface.area[i]);
        let (pressure, gradient) = (surface.pressure[i], own(i));
        let moved = hold.V_free.shift(&p_CF).v * hold.ahead;
        let strong = if depth > 0.0 { pressure.min(gradient * depth) } else { pressure };
        let beside = (moved.dot(&normal).min(0.0) - moved.dot(&along)).max(0.0);
        let left = if beside < depth { 1.0 - beside / depth } else { 0.0 };
        let stiffness = area * gradient;
        let elastic_force = area * strong + stiffness * moved.dot(&normal);
        let across = if rests { 1.0 - normal.dot(&along).max(0.0).powi(2) } else { 0.0 };
        let part = (1.0 - hold.share) * pushing_share(surface, i, &size) + hold.share * (1.0 - across);
        let weak = area * (pressure - strong) * left * part;
        (Spring { stiffness, elastic_force }, weak, moved.dot(&normal))
    };
    let lacking = if depth > 0.0 { (0..surface.len()).map(|i| face(i).1).sum::<f64>() / depth } else { 0.0 };
    let share = hold.share * (hold.step * hold.step * lacking * hold.inverse_mass / WEAK_PART).min(1.0);
    let spring = |i: usize| {
        let (mut face, weak, moved) = face(i);
        if depth > 0.0 && weak > 0.0 {
            let (own_depth, limited) = plane.depth_at(surface, i, p_WC);
            let start = ((own_depth + moved) / own_depth).clamp(0.0, 1.0);
            let at_start = weak * (start + (1.0 - start) / limited);
            let lacks = share * at_start / own_depth;
            face.stiffness += lacks;
            face.elastic_force += (1.0 - share) * at_start * start + lacks * (own_depth + moved);
        }
        face
    };
    let mut scale = 1.0;
    if let Some(before) = hold.energy_before {
        let (mut energy, mut stiffness) = (0.0, 0.0);
        for face in (0..surface.len()).map(spring).filter(|face| face.elastic_force > 0.0) {
            energy += face.energy();
            stiffness += face.stiffness;
        }
        let most = energy_max(before, stiffness, hold.inverse_mass, (hold.step, hold.fall));
        if energy > most {
            scale = (most / energy).sqrt();
        }
    }
    let capped = |i| {
        let Spring { stiffness, elastic_force } = spring(i);
        Some(Spring { stiffness, elastic_force: elastic_force.min(0.0) + scale * elastic_force.max(0.0) })
    };
    push_each(surface, p_WC, friction, kept, capped, block, PatchBlock::push_face)
}

/// The largest energy with which the springs of a patch may begin a `step` \[s\], after the energy `before`
/// at the end of the previous one \[J\]; infinite if the step resolves the contact. `stiffness` [N/m] is
/// their sum, `fall` as in [`Hold`].
pub fn energy_max(before: f64, stiffness: f64, inverse_mass: f64, (step, fall): (f64, f64)) -> f64 {
    let ratio = step * step * stiffness * inverse_mass;
    if ratio <= 1.0 {
        return f64::INFINITY;
    }
    // 1/2 m v^2 of the speed `fall`, without a division by the inverse mass
    let fallen = 0.5 * stiffness * (fall * step).powi(2);
    before + fallen * (1.0 / ratio).max(RECOVERY_PART * RECOVERY_PART)
}

fn push_each(
    surface: &ContactSurface,
    p_WC: &Vector3,
    friction: FaceFriction,
    kept: &mut Vec<u32>,
    spring: impl Fn(usize) -> Option<Spring>,
    block: &mut PatchBlock,
    push: impl Fn(&mut PatchBlock, &FaceInput),
) -> Discretized {
    let mut count = Discretized::default();
    let (spinning, divided, part_max) = match friction {
        FaceFriction::Spread => {
            let area = surface.total_area();
            (SPINNING_SHARE * area, DIVIDED_SHARE * area, DIVIDED_PART_SHARE * area)
        }
        FaceFriction::Centroid => (f64::INFINITY, f64::INFINITY, f64::INFINITY),
    };
    for i in 0..surface.len() {
        let Some(Spring { stiffness, elastic_force }) = spring(i) else {
            count.dropped += 1;
            continue;
        };
        let area = surface.area[i];
        let face = FaceInput {
            p_CF: surface.centroid[i] - p_WC,
            normal: surface.normal[i],
            stiffness,
            elastic_force,
            spin_arm_squared: if area > spinning { SPIN_SHARE * surface.spread(i) } else { 0.0 },
        };
        push(block, &face);
        kept.push(i as u32);
        if area > divided && face.stiffness > 0.0 {
            for part in surface.corner_parts(i, part_max) {
                let share = part.area * part.pressure / (area * surface.pressure[i]);
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
