//! The change of a face's pressure while its bodies slide along each other.
//!
//! The surface of equal pressure moves with the bodies, and so does the part of it that a face stands for. Let
//! grad p_A = -a n + t and grad p_B = b n + t at a face with the normal n, where t is the slope of the pressure
//! along the face. A point of the surface that moves along the face with the fraction m of the relative velocity
//! v of B then has the rate of pressure
//!   dp/dt = -g n.v + (m - a/(a + b)) t.v,   g = a b/(a + b).
//! m = 1 is a face that B carries along, as the rim of a box on wide ground; its rate is
//! b/(a + b) grad p_A.v, which is zero if B slides along the layers of A's pressure. m = 0 is a face that A
//! carries. The law of a face has the first term alone.

use super::discretize::PatchSize;
use crate::geometry::ContactSurface;
use crate::math::Vector3;

/// A face whose normal is nearer to that of its patch than this sine does not lean [-].
const LEANS: f64 = 1e-7;

/// The rate of the pressure of face `i` [Pa/s] while B slides along A at `slip` [m/s]. Of all m between 0 and
/// 1 it has the one with the smallest rate: the body whose sides limit the surface carries its faces.
fn rate(surface: &ContactSurface, i: usize, slip: &Vector3, gradient: f64) -> f64 {
    let along_face = slope(surface, i).dot(slip);
    // a/(a + b), also for a rigid body, whose gradient is infinite
    let (a, b) = (surface.g_A[i].max(0.0), surface.g_B[i].max(0.0));
    let part = match (a.is_finite(), b.is_finite()) {
        (true, true) if a + b > 0.0 => a / (a + b),
        (true, true) => 0.5,
        (finite, _) => {
            if finite {
                0.0
            } else {
                1.0
            }
        }
    };
    let fixed = -gradient * surface.normal[i].dot(slip);
    let (with_A, with_B) = (fixed - part * along_face, fixed + (1.0 - part) * along_face);
    0.0_f64.max(with_A.min(with_B)).min(with_A.max(with_B))
}

/// The slope of the pressure along face `i`, from its corners [Pa/m, world].
fn slope(surface: &ContactSurface, i: usize) -> Vector3 {
    let (vertices, pressures) = surface.polygon(i);
    let n = surface.normal[i];
    let (p_WF, p0) = (surface.centroid[i], surface.pressure[i]);
    let x = n.cross(&Vector3::ith(n.iamin(), 1.0)).try_normalize(0.0).unwrap_or_default();
    let y = n.cross(&x);
    let (mut xx, mut xy, mut yy, mut px, mut py) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (p_WV, pressure) in vertices.iter().zip(pressures) {
        let r = p_WV - p_WF;
        let (rx, ry, p) = (r.dot(&x), r.dot(&y), pressure - p0);
        xx += rx * rx;
        xy += rx * ry;
        yy += ry * ry;
        px += rx * p;
        py += ry * p;
    }
    let determinant = xx * yy - xy * xy;
    if determinant <= f64::EPSILON * xx * yy {
        return Vector3::zeros();
    }
    (x * (yy * px - xy * py) + y * (xx * py - xy * px)) / determinant
}

/// The slip of a patch that friction does not stop within the step.
#[derive(Clone, Copy, Debug)]
pub struct Slip {
    along: Vector3,
    stopped: f64,
}

impl Slip {
    /// The slip of a patch of bodies with the coefficient `friction` and the `inverse_mass` \[1/kg\]. Friction
    /// takes at most mu (w P + fall) of it in a step, with the normal impulse P `before` [N s], in the last step, and the
    /// speed `fall` that gravity adds \[m/s\]. Bodies that just meet have no impulse, and no slip; in the first step bodies carry their weight.
    pub fn of_patch(size: &PatchSize, friction: f64, inverse_mass: f64, before: Option<f64>, fall: f64) -> Self {
        let stopped = match before {
            None => 2.0 * friction * fall,
            Some(impulse) if impulse > 0.0 => friction * (inverse_mass * impulse + fall),
            Some(_) => f64::INFINITY,
        };
        Self { along: size.along, stopped }
    }

    /// The part of `velocity` along the patch, less what friction takes of it in the step [m/s].
    pub(super) fn of(&self, velocity: &Vector3) -> Vector3 {
        let slip = velocity - self.along * self.along.dot(velocity);
        let speed = slip.norm();
        if speed > self.stopped { slip * (1.0 - self.stopped / speed) } else { Vector3::zeros() }
    }

    /// What the law of face `i` lacks of the rate of its pressure while B slides along A at `slip` [Pa/s]: the
    /// rate of the surface less -g n.slip, with the `gradient` g of the face along its normal [Pa/m].
    pub(super) fn missing_rate(&self, surface: &ContactSurface, i: usize, slip: &Vector3, gradient: f64) -> f64 {
        let across = surface.normal[i].dot(slip);
        if across * across <= LEANS * LEANS * slip.norm_squared() {
            return 0.0;
        }
        rate(surface, i, slip, gradient) + gradient * across
    }
}
