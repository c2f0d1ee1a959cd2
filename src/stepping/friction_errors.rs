//! Differences of the friction of a contact from Coulomb's law [Andersson 2021, eqs. 4.1 and 4.2].

use crate::math::{SpatialVelocity, Vector3};

/// The normal force of a face counts as at least this fraction of the largest one of its contact. Otherwise a
/// face that hardly pushes would have an unbounded error for any friction. [-]
const NORMAL_MIN: f64 = 1e-3;
/// Friction below this fraction of its limit, or of the whole force, counts as none [-].
const FRICTION_MIN: f64 = 1e-6;

/// The errors of friction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrictionErrors {
    /// C = max(0, |f_t|/(mu f_n) - 1): the part of the friction outside the cone, relative to its limit [-].
    pub cone: f64,
    /// A: the angle between friction and the opposite of the slip velocity \[rad\]; 0 without slip.
    pub alignment: f64,
}

impl FrictionErrors {
    /// The larger value of each error.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { cone: self.cone.max(other.cone), alignment: self.alignment.max(other.alignment) }
    }
}

/// A force on B \[N\], the normal from A into B, and the slip velocity of B over A [m/s].
#[derive(Clone, Copy, Debug)]
pub(super) struct SlidingForce {
    pub(super) force: Vector3,
    pub(super) normal: Vector3,
    pub(super) slip: Vector3,
}

impl SlidingForce {
    fn normal_force(&self) -> f64 {
        self.force.dot(&self.normal).max(0.0)
    }

    /// The errors with the friction coefficient `mu` under the normal force `f_n` \[N\]. Friction without a
    /// normal force is infinitely far outside the cone. Slip below `slip_min` [m/s] has no direction.
    fn errors(&self, mu: f64, f_n: f64, slip_min: f64) -> FrictionErrors {
        let tangential = |vector: &Vector3| vector - self.normal * vector.dot(&self.normal);
        let (f_t, slip) = (tangential(&self.force), tangential(&self.slip));
        let (friction, speed, limit) = (f_t.norm(), slip.norm(), mu * f_n);
        if friction <= FRICTION_MIN * limit.max(self.force.norm()) {
            return FrictionErrors::default();
        }
        let alignment = if speed > slip_min { f_t.cross(&-slip).norm().atan2(-f_t.dot(&slip)) } else { 0.0 };
        FrictionErrors { cone: (friction / limit - 1.0).max(0.0), alignment }
    }
}

/// Writes the errors of the faces of a contact with the friction coefficient `mu` to `each`, and returns
/// those of its net force `net`. The limit of the net friction is mu times the sum of the normal forces of
/// the faces. Slip below `slip_min` [m/s] has no direction.
pub(super) fn friction_errors(
    faces: impl Iterator<Item = SlidingForce> + Clone,
    net: &SlidingForce,
    mu: f64,
    slip_min: f64,
    each: &mut Vec<FrictionErrors>,
) -> FrictionErrors {
    let largest = faces.clone().map(|face| face.normal_force()).fold(0.0, f64::max);
    let total = faces.clone().map(|face| face.normal_force()).sum();
    each.clear();
    each.extend(faces.map(|face| face.errors(mu, face.normal_force().max(NORMAL_MIN * largest), slip_min)));
    net.errors(mu, total, slip_min)
}

/// The larger value of each error.
pub(super) fn largest_of(errors: &[FrictionErrors]) -> FrictionErrors {
    errors.iter().copied().fold(FrictionErrors::default(), FrictionErrors::max)
}

/// The velocity of B relative to A at a point, for bodies with the velocities V about the origins p.
pub(super) fn relative_velocity(
    p_WC: &Vector3,
    (V_A, p_A): (&SpatialVelocity, &Vector3),
    (V_B, p_B): (&SpatialVelocity, &Vector3),
) -> Vector3 {
    V_B.shift(&(p_WC - p_B)).v - V_A.shift(&(p_WC - p_A)).v
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written-out forces under 10 N and mu = 0.5: inside the cone, at the corner of a box, and turned by 30
    /// degrees from the slip.
    #[test]
    fn errors_are_those_of_written_out_forces() {
        let normal = Vector3::z();
        let slip = Vector3::new(0.1, 0.1, 0.0);
        let of_one = |face: SlidingForce| {
            let mut each = Vec::new();
            friction_errors(std::iter::once(face), &face, 0.5, 1e-5, &mut each);
            assert_eq!(each.len(), 1);
            largest_of(&each)
        };
        let of = |x: f64, y: f64| {
            let face = SlidingForce { force: Vector3::new(x, y, 10.0), normal, slip };
            of_one(face)
        };
        assert_eq!(of(-1.0, -1.0), FrictionErrors { cone: 0.0, alignment: 0.0 });
        let corner = of(-5.0, -5.0);
        assert!((corner.cone - (2.0_f64.sqrt() - 1.0)).abs() < 1e-12 && corner.alignment < 1e-12, "{corner:?}");
        let (sin, cos) = (225.0_f64 + 30.0).to_radians().sin_cos();
        let turned = of(5.0 * cos, 5.0 * sin);
        assert!(turned.cone < 1e-12 && (turned.alignment - 30.0_f64.to_radians()).abs() < 1e-12, "{turned:?}");
        // Friction without a normal force
        let dry = SlidingForce { force: Vector3::new(-5.0, 0.0, 0.0), normal, slip };
        assert_eq!(of_one(dry).cone, f64::INFINITY);
        // Two sides of a groove whose normals cancel in part: both faces are on their cones, and so is the
        // net force
        let side = |x: f64| {
            let normal = Vector3::new(x, 0.0, 1.0).normalize();
            SlidingForce { force: normal * 10.0 - Vector3::y() * 5.0, normal, slip: Vector3::y() }
        };
        let (left, right) = (side(1.0), side(-1.0));
        let net = SlidingForce { force: left.force + right.force, normal: Vector3::z(), slip: Vector3::y() };
        let mut each = Vec::new();
        assert!(friction_errors([left, right].into_iter(), &net, 0.5, 1e-5, &mut each).cone < 1e-12);
        assert!(each.len() == 2 && largest_of(&each).cone < 1e-12, "{each:?}");
        // Friction along the slip instead of against it
        assert!((of(1.0, 1.0).alignment - std::f64::consts::PI).abs() < 1e-12);
    }
}
