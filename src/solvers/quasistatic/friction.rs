//! The friction constraint of one contact: its multipliers, the impulse of its augmented Lagrangian at a
//! velocity, and the derivative.
//!
//! The augmented Lagrangian of  y = (phi/h, 0, 0) + J v  in the dual cone of K = {|gamma_t| <= mu gamma_n}
//! is  R/2 |P_K(gamma - y/R)|^2  with penalty 1/R. Minus its derivative in y is the impulse P_K(gamma - y/R),
//! and that is also the next multiplier [Rockafellar 1976]. For a pyramid the same holds for each ray r_j:
//! beta_j <- (beta_j - r_j . y/R)+, gamma = sum beta_j r_j.
//!
//! For Coulomb's law with a bound b in place of mu gamma_n, with compliance c and creep a, the same holds for
//! the set {gamma_n >= 0, |gamma_t| <= b} and the potential with c/2 gamma_n^2 + a/2 |gamma_t|^2:
//! gamma_n <- (R gamma_n - y_n)+/(R + c), gamma_t <- P_b((R gamma_t - y_t)/(R + a)).

use super::FrictionCone;
use super::interior_point::ray;
use super::problem::PointLaw;
use crate::math::{Matrix3, Vector3};

/// The rays of a pyramid, or none for the exact cone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FrictionLaw {
    /// n + d_j, the rays for mu = 1, in the axes (n, t1, t2). Empty for the exact cone.
    rays: Vec<Vector3>,
}

impl FrictionLaw {
    /// Sets the rays.
    pub(super) fn reset(&mut self, friction: FrictionCone) {
        self.rays.clear();
        if let FrictionCone::Pyramid { rays } = friction {
            self.rays.extend((0..rays).map(|j| ray(1.0, j, rays)));
        }
    }
    /// Number of multipliers of a contact.
    pub(super) fn stride(&self) -> usize {
        if self.rays.is_empty() { 3 } else { self.rays.len() }
    }
    fn scaled_ray(ray: &Vector3, mu: f64) -> Vector3 {
        Vector3::new(1.0, mu * ray.y, mu * ray.z)
    }

    /// The impulse (n, t1, t2) at y.
    #[inline]
    pub(super) fn impulse(&self, law: &PointLaw, penalty: f64, multipliers: &[f64], y: &Vector3) -> Vector3 {
        let mu = law.friction;
        if self.rays.is_empty() {
            let z = gamma_of(multipliers) - y * penalty;
            return law.bound.map_or_else(|| project(&z, mu), |bound| bounded(&z, law.softness(penalty), bound));
        }
        let mut gamma = Vector3::zeros();
        for (ray, beta) in self.rays.iter().zip(multipliers) {
            let ray = Self::scaled_ray(ray, mu);
            gamma += ray * (beta - penalty * ray.dot(y)).max(0.0);
        }
        gamma
    }

    /// Minus the derivative of the impulse by y: symmetric, positive semidefinite. `None` if the contact is
    /// open.
    #[inline]
    pub(super) fn slope(&self, law: &PointLaw, penalty: f64, multipliers: &[f64], y: &Vector3) -> Option<Matrix3> {
        let mu = law.friction;
        if self.rays.is_empty() {
            let z = gamma_of(multipliers) - y * penalty;
            let slope = match law.bound {
                None => projection_slope(&z, mu),
                Some(bound) => bounded_slope(&z, law.softness(penalty), bound),
            };
            return slope.map(|slope| slope * penalty);
        }
        let mut slope = None;
        for (ray, beta) in self.rays.iter().zip(multipliers) {
            let ray = Self::scaled_ray(ray, mu);
            if beta - penalty * ray.dot(y) > 0.0 {
                *slope.get_or_insert_with(Matrix3::zeros) += ray * ray.transpose() * penalty;
            }
        }
        slope
    }

    /// Whether the point slides: its friction is at the bound that stands for Coulomb's law.
    pub(super) fn slides(&self, law: &PointLaw, penalty: f64, multipliers: &[f64], y: &Vector3) -> bool {
        let Some(bound) = law.bound.filter(|_| self.rays.is_empty()) else { return false };
        let z = gamma_of(multipliers) - y * penalty;
        z.x > 0.0 && law.friction > 0.0 && z.yz().norm() > bound * (1.0 + law.creep * penalty)
    }

    /// Replaces the multipliers by their update at y. Returns a bound [m/s] on the violation of the
    /// constraint and on R times the error of its multiplier. With y/R = gamma - gamma_new + w/R and w in the
    /// dual cone, mu |y_t| - y_n <= R (|gamma - gamma_new|_n + mu |gamma - gamma_new|_t).
    pub(super) fn update(&self, law: &PointLaw, penalty: f64, multipliers: &mut [f64], y: &Vector3) -> f64 {
        let mu = law.friction;
        let mut change = 0.0_f64;
        if self.rays.is_empty() {
            let gamma = self.impulse(law, penalty, multipliers, y);
            let moved = gamma - gamma_of(multipliers);
            let (normal, tangent) = (moved.x.abs(), moved.yz().norm());
            change = tangent.max(normal + mu * tangent);
            multipliers.copy_from_slice(gamma.as_slice());
        } else {
            for (ray, beta) in self.rays.iter().zip(multipliers) {
                let new = (*beta - penalty * Self::scaled_ray(ray, mu).dot(y)).max(0.0);
                change = change.max((new - *beta).abs());
                *beta = new;
            }
        }
        change / penalty
    }

    /// Updates the change `delta` of the multipliers along dy, at the multipliers and y of the solution:
    /// delta <- P'(delta - dy/R), plus the effect of a change of the friction bound.
    pub(super) fn differentiate(
        &self,
        law: &PointLaw,
        penalty: f64,
        multipliers: &[f64],
        y: &Vector3,
        (dy, bound_change): (&Vector3, f64),
        delta: &mut [f64],
    ) {
        let mu = law.friction;
        if self.rays.is_empty() {
            let z = gamma_of(multipliers) - y * penalty;
            let moved = gamma_of(delta) - dy * penalty;
            let slope = match law.bound {
                None => projection_slope(&z, mu),
                Some(bound) => bounded_slope(&z, law.softness(penalty), bound),
            };
            let mut new = slope.map_or(Vector3::zeros(), |slope| slope * moved);
            if bound_change != 0.0 && self.slides(law, penalty, multipliers, y) {
                let radius = z.yz().norm();
                new += Vector3::new(0.0, z.y, z.z) * (bound_change / radius);
            }
            delta.copy_from_slice(new.as_slice());
        } else {
            for ((ray, beta), delta) in self.rays.iter().zip(multipliers).zip(delta) {
                let ray = Self::scaled_ray(ray, mu);
                let pushes = beta - penalty * ray.dot(y) > 0.0;
                *delta = if pushes { *delta - penalty * ray.dot(dy) } else { 0.0 };
            }
        }
    }

    /// Whether a contact stays open, sticking or sliding, or each ray of a pyramid on its side, over a
    /// `reach` along a direction with the changes `dy` of y and `delta` of the multipliers. With a bound of
    /// friction, the bound follows the normal impulse.
    pub(super) fn stays(
        &self,
        law: &PointLaw,
        penalty: f64,
        (multipliers, delta): (&[f64], &[f64]),
        (y, dy): (&Vector3, &Vector3),
        reach: f64,
    ) -> bool {
        let mu = law.friction;
        if !self.rays.is_empty() {
            return self.rays.iter().zip(multipliers).zip(delta).all(|((ray, beta), delta)| {
                let ray = Self::scaled_ray(ray, mu);
                let here = beta - penalty * ray.dot(y);
                (here > 0.0) == (here + reach * (delta - penalty * ray.dot(dy)) > 0.0)
            });
        }
        let z = gamma_of(multipliers) - y * penalty;
        let there = z + (gamma_of(delta) - dy * penalty) * reach;
        let softness = law.softness(penalty);
        let (normal_give, tangent_give) = (1.0 + softness.normal, 1.0 + softness.tangent);
        let mode = |z: &Vector3| {
            let across = z.yz().norm();
            match law.bound {
                None if mu * across <= -z.x => Mode::Open,
                Some(_) if z.x <= 0.0 => Mode::Open,
                None if across <= mu * z.x => Mode::Sticking,
                Some(_) if across / tangent_give <= mu * z.x / normal_give => Mode::Sticking,
                _ => Mode::Sliding,
            }
        };
        // The derivative has the mode of the bound, which may differ from the law's where the force is tiny.
        let here = match law.bound {
            Some(bound) if z.x <= 0.0 && bound > 0.0 => return false,
            Some(bound) if z.x > 0.0 && z.yz().norm() <= bound * tangent_give => Mode::Sticking,
            Some(_) if z.x > 0.0 => Mode::Sliding,
            _ => mode(&z),
        };
        // The direction of slip has no linear change over a motion that exceeds the slip itself.
        let turns = here == Mode::Sliding && (there.yz() - z.yz()).norm() > z.yz().norm();
        here == mode(&there) && !turns
    }

    /// The impulse of the given multipliers.
    pub(super) fn total(&self, law: &PointLaw, multipliers: &[f64]) -> Vector3 {
        let mu = law.friction;
        if self.rays.is_empty() {
            return gamma_of(multipliers);
        }
        self.rays.iter().zip(multipliers).map(|(ray, beta)| Self::scaled_ray(ray, mu) * *beta).sum()
    }
}

/// The state of a contact with the exact cone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Open,
    Sticking,
    Sliding,
}

#[inline]
fn gamma_of(multipliers: &[f64]) -> Vector3 {
    Vector3::new(multipliers[0], multipliers[1], multipliers[2])
}

/// c/R and a/R: the parts by which compliance and creep soften a contact of penalty 1/R [-].
#[derive(Clone, Copy)]
struct Softness {
    normal: f64,
    tangent: f64,
}

impl PointLaw {
    #[inline]
    fn softness(&self, penalty: f64) -> Softness {
        Softness { normal: self.compliance * penalty, tangent: self.creep * penalty }
    }
}

/// The impulse of Coulomb's law with a bound of friction, from z = gamma - y/R.
#[inline]
fn bounded(z: &Vector3, softness: Softness, bound: f64) -> Vector3 {
    let normal = z.x.max(0.0) / (1.0 + softness.normal);
    let give = 1.0 + softness.tangent;
    let (squared, most) = (z.y * z.y + z.z * z.z, bound * give);
    let scale = if squared <= most * most { 1.0 / give } else { bound / squared.sqrt() };
    Vector3::new(normal, scale * z.y, scale * z.z)
}

/// The derivative of [`bounded`]; `None` if it is zero.
#[inline]
fn bounded_slope(z: &Vector3, softness: Softness, bound: f64) -> Option<Matrix3> {
    let normal = if z.x > 0.0 { 1.0 / (1.0 + softness.normal) } else { 0.0 };
    let give = 1.0 + softness.tangent;
    let radius = z.y.hypot_fast(z.z);
    if normal == 0.0 && bound == 0.0 {
        return None;
    }
    if radius <= bound * give {
        return Some(Matrix3::from_diagonal(&Vector3::new(normal, 1.0 / give, 1.0 / give)));
    }
    let (a, b, across) = (z.y / radius, z.z / radius, bound / radius);
    Some(Matrix3::new(normal, 0.0, 0.0, 0.0, across * b * b, -across * a * b, 0.0, -across * a * b, across * a * a))
}

/// The nearest point of K = {|z_t| <= mu z_n}, in the axes (n, t1, t2).
#[inline]
pub(super) fn project(z: &Vector3, mu: f64) -> Vector3 {
    // Squares are compared first: most contacts stick or are open, and need no square root.
    let (squared, limit) = (z.y * z.y + z.z * z.z, mu * z.x);
    if z.x >= 0.0 && squared <= limit * limit {
        return *z;
    }
    if z.x <= 0.0 && mu * mu * squared <= z.x * z.x {
        return Vector3::zeros();
    }
    let radius = squared.sqrt();
    let normal = (z.x + mu * radius) / (1.0 + mu * mu);
    if radius == 0.0 {
        return Vector3::new(normal, 0.0, 0.0);
    }
    let tangent = mu * normal / radius;
    Vector3::new(normal, tangent * z.y, tangent * z.z)
}

/// The derivative of [`project`]; `None` if it is zero.
#[inline]
pub(super) fn projection_slope(z: &Vector3, mu: f64) -> Option<Matrix3> {
    let radius = z.y.hypot_fast(z.z);
    if radius <= mu * z.x {
        return Some(Matrix3::identity());
    }
    if mu * radius <= -z.x {
        return None;
    }
    let share = 1.0 / (1.0 + mu * mu);
    if radius == 0.0 {
        return Some(Matrix3::new(share, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0));
    }
    let normal = share * (z.x + mu * radius);
    let (a, b) = (z.y / radius, z.z / radius);
    let across = mu * normal / radius;
    let along = share * mu * mu - across;
    let (na, nb, ab) = (share * mu * a, share * mu * b, along * a * b);
    Some(Matrix3::new(share, na, nb, na, across + along * a * a, ab, nb, ab, across + along * b * b))
}

trait Hypotenuse {
    /// sqrt(x^2 + y^2), without protection against overflow, which impulses do not need.
    fn hypot_fast(self, other: f64) -> f64;
}

impl Hypotenuse for f64 {
    #[inline]
    fn hypot_fast(self, other: f64) -> f64 {
        (self * self + other * other).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point that hardly pushes has a bound above mu gamma_n by the tolerance of the bounds: its derivative
    /// is that of sticking, which the law does not keep over a reach of 1e-5.
    #[test]
    fn a_point_that_sticks_by_the_error_of_its_bound_does_not_stay() {
        let law = FrictionLaw::default();
        let point = PointLaw { friction: 0.4, compliance: 0.0, creep: 0.0, bound: Some(1e-9) };
        let (still, along) = (Vector3::zeros(), Vector3::new(0.0, 1.0, 0.0));
        let stays = |gamma: [f64; 3], point: &PointLaw, dy: &Vector3| {
            law.stays(point, 1.0, (&gamma, &[0.0; 3]), (&still, dy), 1e-5)
        };
        assert!(!stays([1e-10, 8e-10, 0.0], &point, &along), "it slides by the law, and sticks by its bound");
        assert!(!stays([-1e-10, 0.0, 0.0], &point, &along), "it is open, and sticks by its bound");
        let bound = PointLaw { bound: Some(0.4), ..point };
        assert!(stays([1.0, 0.1, 0.0], &bound, &along), "it sticks");
        assert!(stays([1.0, 0.5, 0.0], &bound, &along), "it slides");
        let hardly = PointLaw { bound: Some(1e-12), ..point };
        assert!(!stays([2.5e-12, 2e-12, 0.0], &hardly, &along), "a slip of 2e-12 m/s turns");
        assert!(stays([-1e-3, 0.0, 0.0], &PointLaw { bound: Some(0.0), ..point }, &along), "it is open");
    }

    /// Moreau: z = P_K(z) - P_K*(-z) with orthogonal parts, and the slope is the derivative.
    #[test]
    fn projection_splits_into_orthogonal_parts_and_has_the_slope_it_says() {
        for (mu, z) in [
            (0.5, Vector3::new(1.0, 0.2, -0.1)),
            (0.5, Vector3::new(-1.0, 0.2, -0.1)),
            (0.5, Vector3::new(0.3, 1.2, -0.7)),
            (1.3, Vector3::new(-0.3, 1.2, -0.7)),
            (0.0, Vector3::new(0.4, 1.2, -0.7)),
        ] {
            let p = project(&z, mu);
            let rest = p - z;
            assert!(p.yz().norm() <= mu * p.x + 1e-15);
            assert!(rest.x + 1e-15 >= mu * rest.yz().norm() || mu == 0.0);
            assert!(p.dot(&rest).abs() < 1e-15);
            let slope = projection_slope(&z, mu).unwrap_or_else(Matrix3::zeros);
            for k in 0..3 {
                let step = Vector3::ith(k, 1e-6);
                let difference = (project(&(z + step), mu) - project(&(z - step), mu)) / 2e-6;
                assert!((difference - slope.column(k)).norm() < 1e-9, "mu {mu}, column {k}");
            }
        }
    }
}
