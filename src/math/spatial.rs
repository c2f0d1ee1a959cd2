//! Spatial velocities, forces and inertias: a pair of 3-vectors about a named point, in named axes.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// 3-vector of doubles.
pub type Vector3 = nalgebra::Vector3<f64>;
/// 6-vector of doubles: rotational part first.
pub type Vector6 = nalgebra::Vector6<f64>;
/// 3x3 matrix of doubles.
pub type Matrix3 = nalgebra::Matrix3<f64>;
/// 6x6 matrix of doubles: rotational rows and columns first.
pub type Matrix6 = nalgebra::Matrix6<f64>;
/// Orientation R_AB as a rotation matrix.
pub type Rotation = nalgebra::Rotation3<f64>;
/// Pose X_AB = (R_AB, p_AB): `X_AB * p_BQ` is p_AQ; `X_WA.inv_mul(&X_WB)` is X_AB.
pub type RigidTransform = nalgebra::IsometryMatrix3<f64>;

/// The matrix S with S b = a x b.
pub fn skew(a: &Vector3) -> Matrix3 {
    Matrix3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// The rotation vector of R \[rad\]; computed from the quaternion, because a trace that rounding puts above 3
/// has no arc cosine.
pub fn rotation_vector(R: &Rotation) -> Vector3 {
    nalgebra::UnitQuaternion::from_rotation_matrix(R).scaled_axis()
}

/// Spatial velocity V of a frame: angular velocity w [rad/s] and the velocity v [m/s] of its reference point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpatialVelocity {
    /// Angular velocity [rad/s].
    pub w: Vector3,
    /// Velocity of the reference point [m/s].
    pub v: Vector3,
}

impl SpatialVelocity {
    /// No motion.
    pub const ZERO: Self = Self { w: Vector3::new(0.0, 0.0, 0.0), v: Vector3::new(0.0, 0.0, 0.0) };
    /// The velocity with these parts.
    pub const fn new(w: Vector3, v: Vector3) -> Self {
        Self { w, v }
    }
    /// The same motion at the point Q with p_BoQ = `offset`: v_Q = v_Bo + w x p_BoQ.
    pub fn shift(&self, offset: &Vector3) -> Self {
        Self { w: self.w, v: self.v + self.w.cross(offset) }
    }
    /// Stacked as (w, v).
    pub fn to_vector(&self) -> Vector6 {
        Vector6::new(self.w.x, self.w.y, self.w.z, self.v.x, self.v.y, self.v.z)
    }
    /// The velocity of a stacked (w, v).
    pub fn from_vector(stacked: &Vector6) -> Self {
        Self { w: stacked.fixed_rows::<3>(0).into_owned(), v: stacked.fixed_rows::<3>(3).into_owned() }
    }
    /// Power \[W\] of the force `force` applied at this velocity's reference point.
    pub fn dot(&self, force: &SpatialForce) -> f64 {
        self.w.dot(&force.tau) + self.v.dot(&force.f)
    }
    /// Motion cross product V x U (both about the same point): the rate of U's components when U moves with
    /// V.
    pub fn cross_motion(&self, u: &Self) -> Self {
        Self { w: self.w.cross(&u.w), v: self.w.cross(&u.v) + self.v.cross(&u.w) }
    }
    /// Dual cross product V x* F (both about the same point).
    pub fn cross_force(&self, force: &SpatialForce) -> SpatialForce {
        SpatialForce { tau: self.w.cross(&force.tau) + self.v.cross(&force.f), f: self.w.cross(&force.f) }
    }
}

/// Spatial force F: torque tau [N m] about the reference point and force f \[N\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpatialForce {
    /// Torque about the reference point [N m].
    pub tau: Vector3,
    /// Force \[N\].
    pub f: Vector3,
}

impl SpatialForce {
    /// No force.
    pub const ZERO: Self = Self { tau: Vector3::new(0.0, 0.0, 0.0), f: Vector3::new(0.0, 0.0, 0.0) };
    /// The force with these parts.
    pub const fn new(tau: Vector3, f: Vector3) -> Self {
        Self { tau, f }
    }
    /// The same force about the point Q with p_BoQ = `offset`: tau_Q = tau_Bo - p_BoQ x f.
    pub fn shift(&self, offset: &Vector3) -> Self {
        Self { tau: self.tau - offset.cross(&self.f), f: self.f }
    }
    /// Stacked as (tau, f).
    pub fn to_vector(&self) -> Vector6 {
        Vector6::new(self.tau.x, self.tau.y, self.tau.z, self.f.x, self.f.y, self.f.z)
    }
    /// The force of a stacked (tau, f).
    pub fn from_vector(stacked: &Vector6) -> Self {
        Self { tau: stacked.fixed_rows::<3>(0).into_owned(), f: stacked.fixed_rows::<3>(3).into_owned() }
    }
}

macro_rules! vector_space {
    ($type:ident, $a:ident, $b:ident) => {
        impl Add for $type {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self { $a: self.$a + other.$a, $b: self.$b + other.$b }
            }
        }
        impl Sub for $type {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self { $a: self.$a - other.$a, $b: self.$b - other.$b }
            }
        }
        impl AddAssign for $type {
            fn add_assign(&mut self, other: Self) {
                self.$a += other.$a;
                self.$b += other.$b;
            }
        }
        impl Neg for $type {
            type Output = Self;
            fn neg(self) -> Self {
                Self { $a: -self.$a, $b: -self.$b }
            }
        }
        impl Mul<f64> for $type {
            type Output = Self;
            fn mul(self, scale: f64) -> Self {
                Self { $a: self.$a * scale, $b: self.$b * scale }
            }
        }
    };
}
vector_space!(SpatialVelocity, w, v);
vector_space!(SpatialForce, tau, f);

/// Spatial inertia of a body about a reference point P, in given axes: mass \[kg\], first moment m p_PBcm [kg
/// m] and rotational inertia about P [kg m2].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpatialInertia {
    /// Mass \[kg\].
    pub mass: f64,
    /// First moment: mass times the position of the centre of mass from the reference point [kg m].
    pub first_moment: Vector3,
    /// Rotational inertia about the reference point [kg m2].
    pub rotational: Matrix3,
}

impl SpatialInertia {
    /// A body without mass.
    pub const ZERO: Self = Self {
        mass: 0.0,
        first_moment: Vector3::new(0.0, 0.0, 0.0),
        rotational: Matrix3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    };
    /// The inertia from mass \[kg\], centre of mass p_PBcm \[m\] and the rotational inertia about the centre
    /// of mass [kg m2].
    pub fn from_central(mass: f64, p_PBcm: &Vector3, inertia_central: &Matrix3) -> Self {
        Self { mass, first_moment: p_PBcm * mass, rotational: inertia_central + parallel_axis(mass, p_PBcm) }
    }
    /// The centre of mass from the reference point \[m\]; zero for a body without mass.
    pub fn center_of_mass(&self) -> Vector3 {
        if self.mass > 0.0 { self.first_moment / self.mass } else { Vector3::zeros() }
    }
    /// The rotational inertia about the centre of mass [kg m2].
    pub fn central(&self) -> Matrix3 {
        self.rotational - parallel_axis(self.mass, &self.center_of_mass())
    }
    /// The same inertia in the axes of A, with `R_AB` from this inertia's axes B to A; the reference point
    /// stays.
    pub fn rotate(&self, R_AB: &Rotation) -> Self {
        Self {
            mass: self.mass,
            first_moment: R_AB * self.first_moment,
            rotational: R_AB.matrix() * self.rotational * R_AB.matrix().transpose(),
        }
    }
    /// The same inertia about the point Q, with `p_QP` the position of the current reference point P from Q.
    pub fn shift(&self, p_QP: &Vector3) -> Self {
        let first_moment = self.first_moment + p_QP * self.mass;
        let p = skew(p_QP);
        let h = skew(&self.first_moment);
        Self { mass: self.mass, first_moment, rotational: self.rotational - p * h - h * p - p * p * self.mass }
    }
    /// Spatial momentum I V about the common reference point [N m s, N s].
    pub fn mul_velocity(&self, velocity: &SpatialVelocity) -> SpatialForce {
        SpatialForce {
            tau: self.rotational * velocity.w + self.first_moment.cross(&velocity.v),
            f: velocity.v * self.mass + velocity.w.cross(&self.first_moment),
        }
    }
}

impl Add for SpatialInertia {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            first_moment: self.first_moment + other.first_moment,
            rotational: self.rotational + other.rotational,
        }
    }
}

impl AddAssign for SpatialInertia {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// m (|p|^2 1 - p p^T): the term of the parallel axis theorem [kg m2].
fn parallel_axis(mass: f64, p: &Vector3) -> Matrix3 {
    (Matrix3::identity() * p.norm_squared() - p * p.transpose()) * mass
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (SpatialInertia, SpatialVelocity, Vector3) {
        let central = Matrix3::new(0.3, 0.01, 0.02, 0.01, 0.4, -0.03, 0.02, -0.03, 0.5);
        let inertia = SpatialInertia::from_central(2.0, &Vector3::new(0.1, -0.2, 0.3), &central);
        let velocity = SpatialVelocity::new(Vector3::new(0.5, -1.0, 2.0), Vector3::new(1.0, 0.2, -0.4));
        (inertia, velocity, Vector3::new(0.7, -0.3, 0.2))
    }

    /// Kinetic energy does not depend on the reference point.
    #[test]
    fn kinetic_energy_is_the_same_about_every_point() {
        let (inertia, V, p_PQ) = sample();
        let at_P = V.dot(&inertia.mul_velocity(&V));
        let V_Q = V.shift(&p_PQ);
        let at_Q = V_Q.dot(&inertia.shift(&-p_PQ).mul_velocity(&V_Q));
        assert!((at_P - at_Q).abs() < 1e-13 * at_P.abs());
    }

    /// Shifting a momentum and shifting the inertia and velocity agree.
    #[test]
    fn momentum_shifts_as_a_force() {
        let (inertia, V, p_PQ) = sample();
        let momentum_Q = inertia.mul_velocity(&V).shift(&p_PQ);
        let direct = inertia.shift(&-p_PQ).mul_velocity(&V.shift(&p_PQ));
        assert!((momentum_Q.to_vector() - direct.to_vector()).norm() < 1e-13);
    }

    /// Tiny turns from any orientation, where the arc cosine of the trace is NaN or zero.
    #[test]
    fn tiny_turns_have_a_rotation_vector() {
        let mut random = crate::math::Random::new(5);
        for _ in 0..1000 {
            let mut vector = || Vector3::new(random.signed(), random.signed(), random.signed());
            let (R, r) = (Rotation::new(vector() * 3.0), vector() * 1e-9);
            let found = rotation_vector(&(Rotation::new(r) * R * R.inverse()));
            assert!((found - r).norm() < 2e-15, "{found} and not {r}");
        }
    }

    #[test]
    fn central_inertia_comes_back() {
        let (inertia, _, _) = sample();
        assert!((inertia.central()[(0, 1)] - 0.01).abs() < 1e-15);
        assert!((inertia.center_of_mass() - Vector3::new(0.1, -0.2, 0.3)).norm() < 1e-15);
    }
}
