//! Four doubles side by side, in the processor's vector registers.
//!
//! Plain element-wise IEEE operations without fused multiply-add: every instruction set gives the same bits.
//! The registers are requested explicitly through the `wide` crate: a compiler that vectorizes loops over
//! four numbers by itself shuffles them and computes roots and quotients one by one.

use std::ops::{Add, Mul, Neg, Sub};

use wide::{f64x2, f64x4};

/// The number of values in a [`Lanes`].
pub const LANES: usize = 4;

/// Four doubles that are processed together. A wider type would need more registers than a processor has and
/// leave more lanes unused at the end of a row.
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
    fn wide(self) -> f64x4 {
        f64x4::new(self.0)
    }
    #[inline(always)]
    fn of(x: f64x4) -> Self {
        Self(x.to_array())
    }
    /// max(x, 0).
    #[inline(always)]
    pub fn positive_part(self) -> Self {
        let x = self.wide();
        Self::of(x.simd_gt(f64x4::ZERO) & x)
    }
    /// 1 where x > 0, else 0.
    #[inline(always)]
    pub fn is_positive(self) -> Self {
        Self::of(self.wide().simd_gt(f64x4::ZERO) & f64x4::ONE)
    }
    /// The larger number of each lane.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        let (x, y) = (self.wide(), other.wide());
        Self::of(x.simd_gt(y).select(x, y))
    }
    /// Square roots.
    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Self::of(self.wide().sqrt())
    }
    /// 1 / sqrt(x).
    #[inline(always)]
    pub fn inverse_sqrt(self) -> Self {
        Self::of(f64x4::ONE / self.wide().sqrt())
    }
}

/// A running sum of lanes, in a fixed order. It holds two numbers only: a loop with many sums keeps them in
/// memory, and small sums are faster to load and store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneSum(f64x2);

impl LaneSum {
    /// Zero.
    pub const ZERO: Self = Self(f64x2::ZERO);

    /// Adds the four numbers.
    #[inline(always)]
    pub fn add(&mut self, x: Lanes) {
        let [a, b, c, d] = x.0;
        self.0 += f64x2::new([a, b]) + f64x2::new([c, d]);
    }
    /// The sum.
    #[inline(always)]
    pub fn total(self) -> f64 {
        let [a, b] = self.0.to_array();
        a + b
    }
}

/// A running sum of vectors; each component is a [`LaneSum`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneSum3 {
    x: LaneSum,
    y: LaneSum,
    z: LaneSum,
}

impl LaneSum3 {
    /// Zero.
    pub const ZERO: Self = Self { x: LaneSum::ZERO, y: LaneSum::ZERO, z: LaneSum::ZERO };

    /// Adds the four vectors.
    #[inline(always)]
    pub fn add(&mut self, v: Lanes3) {
        self.x.add(v.x);
        self.y.add(v.y);
        self.z.add(v.z);
    }
    /// The sum.
    #[inline(always)]
    pub fn total(self) -> super::Vector3 {
        super::Vector3::new(self.x.total(), self.y.total(), self.z.total())
    }
}

impl Add for Lanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::of(self.wide() + other.wide())
    }
}
impl Sub for Lanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::of(self.wide() - other.wide())
    }
}
impl Mul for Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self::of(self.wide() * other.wide())
    }
}
impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::of(-self.wide())
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
