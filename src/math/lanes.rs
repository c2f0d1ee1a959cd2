//! Four doubles side by side, so that the compiler turns one expression into vector instructions.
//!
//! Plain element-wise IEEE operations without fused multiply-add: every instruction set gives the same bits.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// How many numbers a [`Lanes`] holds.
pub const LANES: usize = 4;

/// Four doubles that are computed with together. More would need more registers than a processor has; the last few of a
/// row of numbers would leave more of them unused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Lanes(pub [f64; LANES]);

impl Lanes {
    /// All zero.
    pub const ZERO: Self = Self([0.0; LANES]);

    /// The same number in all lanes.
    #[inline(always)]
    pub const fn splat(value: f64) -> Self {
        Self([value; LANES])
    }
    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let mut out = self;
        for x in &mut out.0 {
            *x = f(*x);
        }
        out
    }
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = self;
        for (x, y) in out.0.iter_mut().zip(other.0) {
            *x = f(*x, y);
        }
        out
    }
    /// max(x, 0).
    #[inline(always)]
    pub fn positive_part(self) -> Self {
        self.map(|x| if x > 0.0 { x } else { 0.0 })
    }
    /// 1 where x > 0, else 0.
    #[inline(always)]
    pub fn is_positive(self) -> Self {
        self.map(|x| if x > 0.0 { 1.0 } else { 0.0 })
    }
    /// 1 / sqrt(x).
    #[inline(always)]
    pub fn inverse_sqrt(self) -> Self {
        self.map(|x| 1.0 / x.sqrt())
    }
    /// The sum of the lanes, in a fixed order.
    #[inline(always)]
    pub fn sum(self) -> f64 {
        let [a, b, c, d] = self.0;
        (a + c) + (b + d)
    }
}

impl Add for Lanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |x, y| x + y)
    }
}
impl Sub for Lanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |x, y| x - y)
    }
}
impl Mul for Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |x, y| x * y)
    }
}
impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|x| -x)
    }
}
impl AddAssign for Lanes {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Four 3-vectors side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lanes3 {
    /// x components.
    pub x: Lanes,
    /// y components.
    pub y: Lanes,
    /// z components.
    pub z: Lanes,
}

impl Lanes3 {
    /// All zero.
    pub const ZERO: Self = Self { x: Lanes::ZERO, y: Lanes::ZERO, z: Lanes::ZERO };

    /// The same vector in all lanes.
    #[inline(always)]
    pub fn splat(v: &super::Vector3) -> Self {
        Self { x: Lanes::splat(v.x), y: Lanes::splat(v.y), z: Lanes::splat(v.z) }
    }
    /// The vector in `lane`.
    pub fn get(&self, lane: usize) -> super::Vector3 {
        super::Vector3::new(self.x.0[lane], self.y.0[lane], self.z.0[lane])
    }
    /// Sets the vector in `lane`.
    pub fn set(&mut self, lane: usize, v: &super::Vector3) {
        self.x.0[lane] = v.x;
        self.y.0[lane] = v.y;
        self.z.0[lane] = v.z;
    }
    /// Inner products.
    #[inline(always)]
    pub fn dot(self, o: Self) -> Lanes {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    /// Cross products.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        Self { x: self.y * o.z - self.z * o.y, y: self.z * o.x - self.x * o.z, z: self.x * o.y - self.y * o.x }
    }
    /// Each vector times its scale.
    #[inline(always)]
    pub fn scale(self, s: Lanes) -> Self {
        Self { x: self.x * s, y: self.y * s, z: self.z * s }
    }
    /// The sum of the four vectors.
    pub fn sum(self) -> super::Vector3 {
        super::Vector3::new(self.x.sum(), self.y.sum(), self.z.sum())
    }
}

impl Add for Lanes3 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}
impl Sub for Lanes3 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}
impl AddAssign for Lanes3 {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
