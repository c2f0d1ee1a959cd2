//! The rows of a patch of faces: each face is a contact point with its own stiffness.

use super::contact_problem::{ComplementarityProblem, FrictionPair};
use super::problem::Row;
use crate::math::lanes::LANES;
use crate::math::{SpatialForce, SpatialVelocity, Vector3};
use crate::solvers::{BoxRow, PatchBlock};

/// The regularization of friction is between these parts of the mobility along its tangents [-]: enough for
/// redundant points to share a load, and little against the masses.
const FRICTION_REGULARIZATION: (f64, f64) = (1e-8, 1e-3);
/// The mobility along the tangents counts as at least this part of that along the normal [-]. A joint can
/// prevent all motion along the tangents, and the friction still needs a regularization.
const MOBILITY_LEAST: f64 = 1e-9;
/// The relaxation time of a stiff contact is at least this many steps: with less, a body that lands between
/// two steps would be thrown back with more energy than it had. [-]
const STIFF_RELAXATION: f64 = 2.0;
/// The share of its speed with which a body that lands on a stiff contact moves on in the next step [-].
pub const LANDING: f64 = 1.0 / (1.0 + 4.0 * STIFF_RELAXATION);

/// The friction of a face that resists spin with the arm rho acts at this many points around its centroid.
/// Three have the same second moment in every direction.
const SPIN_POINTS: usize = 3;
/// The square of their distance from the centroid, in units of rho^2 [-]. With rho^2 = 0.6 <r^2> it is 0.9
/// <r^2>: about the centroid friction has the torque of <|r|> = 0.94 sqrt(<r^2>), and far from the centre of
/// rotation the mean of |v| + w^2 r^2/(4 |v|) is nearly that of the face.
const SPIN_DISTANCE: f64 = 1.5;

/// The parameters of a patch's rows.
#[derive(Clone, Copy, Debug)]
pub struct PatchInput {
    /// Step h \[s\].
    pub step: f64,
    /// Relaxation time tau of the two materials \[s\].
    pub relaxation_time: f64,
    /// The slip speed at which friction that sticks is at its bound [m/s].
    pub stiction_tolerance: f64,
    /// Whether the friction of a face that resists spin acts at some points around its centroid.
    pub spread: bool,
}

/// A contact point before its friction has directions.
#[derive(Clone, Copy, Debug)]
pub struct TangentInput {
    /// Position from the patch point C [m, world].
    pub p_CF: Vector3,
    /// Unit normal from A into B [-].
    pub normal: Vector3,
    /// Velocity of slip of B over A at the start of the step [m/s, world].
    pub slip: Vector3,
    /// The share of the face in the normal impulse of its patch: that of its elastic force at the start, or
    /// of its stiffness if no face is pressed [-].
    pub share: f64,
    /// The normal impulse at this face alone that would stop the approach of the two bodies within the step,
    /// at the velocities that they would have without contact [N s].
    pub impact_impulse: f64,
}

/// The tangents of a contact point, and the normal impulse that is known before the solve.
#[derive(Clone, Copy, Debug)]
pub struct Tangents {
    /// Primary and secondary direction of friction, unit vectors [-].
    pub directions: [Vector3; 2],
    /// The normal impulse that is known before the solve [N s].
    pub normal_before: f64,
    /// A guess of the friction impulse on B [N s, world].
    pub friction: Vector3,
}

/// The rows of one face of a patch.
#[derive(Clone, Copy, Debug)]
pub struct FaceRows {
    /// Position from the patch point C [m, world].
    pub p_CF: Vector3,
    /// The normal from A into B [-].
    pub normal: Vector3,
    /// The row of the normal impulse, of this face or of the face that this one is a part of; `None` if it
    /// cannot touch within the step.
    pub normal_row: Option<usize>,
    /// Whether the normal impulse acts here.
    pub pushes: bool,
    /// The points at which its friction acts: one, or some around the centroid of a face that resists spin.
    pub friction: [Option<FrictionPoint>; SPIN_POINTS],
}

/// A point at which friction acts.
#[derive(Clone, Copy, Debug)]
pub struct FrictionPoint {
    /// Position from the patch point C [m, world].
    pub p_CF: Vector3,
    /// The first of its two rows.
    pub row: usize,
    /// The directions of its rows.
    pub directions: [Vector3; 2],
}

impl FrictionPoint {
    /// The friction impulse on B [N s, world].
    pub fn impulse(&self, impulses: &[f64]) -> Vector3 {
        let [t1, t2] = self.directions;
        t1 * impulses[self.row] + t2 * impulses[self.row + 1]
    }
}

impl FaceRows {
    /// The impulse on B [N s, world].
    pub fn impulse(&self, impulses: &[f64]) -> Vector3 {
        self.normal_impulse(impulses) + self.friction_impulse(impulses)
    }
    /// The part of the impulse on B along the normal [N s, world].
    pub fn normal_impulse(&self, impulses: &[f64]) -> Vector3 {
        match self.normal_row {
            Some(row) if self.pushes => self.normal * impulses[row],
            _ => Vector3::zeros(),
        }
    }
    /// The part of the impulse on B that is friction [N s, world].
    pub fn friction_impulse(&self, impulses: &[f64]) -> Vector3 {
        self.points().map(|point| point.impulse(impulses)).sum()
    }
    /// The points at which the face's friction acts.
    pub fn points(&self) -> impl Iterator<Item = &FrictionPoint> {
        self.friction.iter().flatten()
    }
}

/// The coefficients of the relative velocity of B at `p_CF` along `direction`.
fn along<'a>(
    block: &'a PatchBlock,
    p_CF: &'a Vector3,
    direction: &'a Vector3,
) -> impl Iterator<Item = (u32, f64)> + 'a {
    let columns = block.jacobian.dofs.iter().zip(&block.jacobian.columns);
    columns.map(move |(dof, column)| (*dof, SpatialVelocity::from_vector(column).shift(p_CF).v.dot(direction)))
}

impl ComplementarityProblem {
    /// Adds the row of an actuator, a limit or dry friction of a joint; returns its number.
    pub fn add_box_row(&mut self, row: &BoxRow) -> usize {
        let BoxRow { dof, coefficient, target, regularization, lower, upper } = *row;
        let law = Row { regularization, constant: -target, lower, upper };
        self.rows.add_row(law, std::iter::once((dof, coefficient)))
    }

    /// Adds the rows of `block`, and appends those of its faces to `faces`, in their order. `tangents` gives
    /// the directions of friction at each point where it acts.
    ///
    /// A face with the elastic force fe0 and the stiffness k has g = -fe0/k and [Andersson 2021, eqs. 3.8 and
    /// 3.9]:
    ///   gamma = 1/(1 + 4 tau/h),   Sigma = 4 gamma/(h^2 k),   c = 4 gamma/h g - gamma G v0,
    /// which is the force k (-g - tau u - h/4 (u - u0)). Deviations: a contact of the stiffness k and
    /// mobility w has at least tau = 2 h p/(1 + p), p = h^2 k w; a near-rigid point with a gap may close it
    /// within the step, c = g/h.
    pub fn add_patch(
        &mut self,
        block: &PatchBlock,
        input: &PatchInput,
        mut tangents: impl FnMut(&TangentInput) -> Tangents,
        faces: &mut Vec<FaceRows>,
    ) {
        for closure in &block.closure {
            let law = Row {
                regularization: 1.0 / closure.weight,
                constant: -closure.target,
                lower: f64::NEG_INFINITY,
                upper: f64::INFINITY,
            };
            let columns = block.jacobian.dofs.iter().zip(&block.jacobian.columns);
            self.rows.add_row(law, columns.map(|(dof, column)| (*dof, closure.row.dot(column))));
        }
        let mut divided = block.divided_faces().peekable();
        let mut parts: &[f64] = &[];
        let mut of_face = None;
        let mut estimates = (0.0, 0.0);
        let (_, total_stiffness) = block.elastic_sums();
        let pressed: f64 = (0..block.len()).map(|number| face(block, number).2.max(0.0)).sum();
        for number in 0..block.len() {
            let (p_CF, normal, elastic_force, stiffness) = face(block, number);
            let is_part = !parts.is_empty();
            let share = match parts.split_first() {
                Some((share, rest)) => {
                    parts = rest;
                    *share
                }
                None => {
                    of_face =
                        self.add_normal(block, input, total_stiffness, (&p_CF, &normal, elastic_force, stiffness));
                    estimates = of_face.map_or((0.0, 0.0), |row| {
                        let mobility = self.rows.diagonal(row) - self.rows.rows()[row].regularization;
                        // A point with a gap has an impact only if the step closes the gap
                        let gap = if stiffness > 0.0 { (-elastic_force / stiffness).max(0.0) } else { 0.0 };
                        let closing = (-self.rows.free_speed(row) - gap / input.step).max(0.0);
                        let impact = if mobility > 0.0 { closing / mobility } else { 0.0 };
                        let part =
                            if pressed > 0.0 { elastic_force.max(0.0) / pressed } else { stiffness / total_stiffness };
                        (part, impact)
                    });
                    match divided.next_if(|(face, ..)| *face == number) {
                        Some((_, shares, _)) => {
                            parts = shares;
                            0.0
                        }
                        None => 1.0,
                    }
                }
            };
            let choose = |p_CF: Vector3, tangents: &mut dyn FnMut(&TangentInput) -> Tangents| {
                let slip = block.V0.shift(&p_CF).v + block.surface_velocity;
                let slip = slip - normal * slip.dot(&normal);
                tangents(&TangentInput { p_CF, normal, slip, share: estimates.0, impact_impulse: estimates.1 })
            };
            if let Some(row) = of_face.filter(|_| !is_part) {
                self.starts.push((row, choose(p_CF, &mut tangents).normal_before.max(0.0)));
            }
            let coefficient = share * block.law.friction;
            let mut friction = [None; SPIN_POINTS];
            if let Some(normal_row) = of_face.filter(|_| coefficient > 0.0) {
                let (count, positions) =
                    friction_points(&p_CF, &normal, if input.spread { spin_arm(block, number) } else { 0.0 });
                let part = 1.0 / count as f64;
                for (point, p_CF) in friction.iter_mut().zip(positions).take(count) {
                    let chosen = choose(p_CF, &mut tangents);
                    let coefficient = part * coefficient;
                    let least = MOBILITY_LEAST * block_mobility(self, block, &p_CF, &normal);
                    let tangent = self.add_friction(block, input, &p_CF, &chosen, coefficient, least);
                    let normal_before = chosen.normal_before;
                    let guess = chosen.directions.map(|t| t.dot(&chosen.friction));
                    self.pairs.push(FrictionPair { normal: normal_row, tangent, coefficient, normal_before, guess });
                    *point = Some(FrictionPoint { p_CF, row: tangent, directions: chosen.directions });
                }
            }
            faces.push(FaceRows { p_CF, normal, normal_row: of_face, pushes: !is_part, friction });
        }
    }

    fn add_normal(
        &mut self,
        block: &PatchBlock,
        input: &PatchInput,
        total_stiffness: f64,
        (p_CF, normal, elastic_force, stiffness): (&Vector3, &Vector3, f64, f64),
    ) -> Option<usize> {
        let h = input.step;
        let mut row = Row { regularization: 0.0, constant: 0.0, lower: 0.0, upper: f64::INFINITY };
        if stiffness <= 0.0 {
            return None;
        }
        let g = -elastic_force / stiffness;
        let mobility = block_mobility(self, block, p_CF, normal);
        // With the stiffness of the whole patch: a finer mesh has softer faces, and the same motion
        let period = h * h * total_stiffness * mobility;
        if mobility <= 0.0 || (g > 0.0 && period < 1.0) {
            return None; // a spring with a gap does not push
        }
        let u0 = block.V0.shift(p_CF).v.dot(normal);
        let relaxation_time = input.relaxation_time.max(STIFF_RELAXATION * h * period / (1.0 + period));
        let gamma = 1.0 / (1.0 + 4.0 * relaxation_time / h);
        row.regularization = 4.0 * gamma / (h * h * stiffness);
        row.constant = if g > 0.0 { g / h } else { 4.0 * gamma / h * g - gamma * u0 };
        Some(self.rows.add_row(row, along(block, p_CF, normal)))
    }

    fn add_friction(
        &mut self,
        block: &PatchBlock,
        input: &PatchInput,
        p_CF: &Vector3,
        chosen: &Tangents,
        coefficient: f64,
        mobility_least: f64,
    ) -> usize {
        let [t1, t2] = chosen.directions;
        let mobility =
            0.5 * (block_mobility(self, block, p_CF, &t1) + block_mobility(self, block, p_CF, &t2)).max(mobility_least);
        let bound = (coefficient * chosen.normal_before).max(f64::MIN_POSITIVE);
        let (least, most) = FRICTION_REGULARIZATION;
        let regularization = (input.stiction_tolerance / bound).clamp(least * mobility, most * mobility);
        let [first, _] = [t1, t2].map(|t| {
            let constant = t.dot(&block.surface_velocity);
            let law = Row { regularization, constant, lower: 0.0, upper: 0.0 };
            self.rows.add_row(law, along(block, p_CF, &t))
        });
        first
    }
}

/// G M^-1 G^T of a direction [1/kg].
fn block_mobility(problem: &mut ComplementarityProblem, block: &PatchBlock, p_CF: &Vector3, n: &Vector3) -> f64 {
    problem.rows.mobility(along(block, p_CF, n))
}

/// Position, normal, elastic force at the start and stiffness of a face.
fn face(block: &PatchBlock, number: usize) -> (Vector3, Vector3, f64, f64) {
    let (lanes, lane) = (&block.lanes[number / LANES], number % LANES);
    let stiffness = lanes.force_rate.0[lane] / block.damped_step;
    (lanes.p_CF.get(lane), lanes.normal.get(lane), lanes.elastic_force.0[lane], stiffness)
}

/// The spin arm rho of a face \[m\].
fn spin_arm(block: &PatchBlock, number: usize) -> f64 {
    block.lanes[number / LANES].spin_arm_squared.0[number % LANES].sqrt()
}

/// The points at which the friction of a face acts, from C: its centroid, or some around it if it resists
/// spin with the arm `rho` \[m\]. The first of the result are valid.
fn friction_points(p_CF: &Vector3, normal: &Vector3, rho: f64) -> (usize, [Vector3; SPIN_POINTS]) {
    let mut points = [*p_CF; SPIN_POINTS];
    if rho <= 0.0 {
        return (1, points);
    }
    // Any direction will do, since the points have the same second moment in each
    let x = normal.cross(&Vector3::ith(normal.iamin(), 1.0)).normalize();
    let y = normal.cross(&x);
    let distance = SPIN_DISTANCE.sqrt() * rho;
    for (number, point) in points.iter_mut().enumerate() {
        let (sin, cos) = (std::f64::consts::TAU * number as f64 / SPIN_POINTS as f64).sin_cos();
        *point += (x * cos + y * sin) * distance;
    }
    (SPIN_POINTS, points)
}

/// The net impulse on B about C of some faces [N m s, N s].
pub fn net_impulse(faces: &[FaceRows], impulses: &[f64]) -> SpatialForce {
    faces.iter().fold(SpatialForce::ZERO, |sum, face| {
        let at = |p: &Vector3, impulse: Vector3| SpatialForce::new(p.cross(&impulse), impulse);
        let normal = at(&face.p_CF, face.normal_impulse(impulses));
        face.points().fold(sum + normal, |sum, point| sum + at(&point.p_CF, point.impulse(impulses)))
    })
}
