//! Reuse of element pairs: conditions under which a query may use the list of an earlier one.
//!
//! A list is collected at a relative pose of the two geometries with a reach d. It holds every pair of
//! elements that has a face at any relative pose at which no point of the contact has moved by more than d.
//! While the motion stays below d, a query cuts only the pairs of the list. Each face is computed by the same
//! code from the same numbers as in a full query, and lists are sorted, so that the surface is the same bit
//! for bit. docs/theory/contact-geometry.md has the argument.

use super::ContactSurface;
use crate::geometry::mesh_extent::MeshExtent;
use crate::math::{RigidTransform, Vector3};

/// A list reaches this much farther than the motion that it is used for \[m\]. This is far above the rounding
/// of coordinates of metres and far below any reach.
pub(super) const REACH_SLACK: f64 = 1e-9;

/// The reach d of a list over sqrt(s h), with the motion s of a step and the element size h. A small reach
/// makes a list cheap to use, and a large one makes collecting it rare: the cost of collecting is
/// proportional to s / d and that of cutting to d / h, so their sum is smallest if d is proportional to
/// sqrt(s h). [-]
const REACH_FACTOR: f64 = 1.5;

/// Smallest reach, for bodies almost at rest, as a share of the element size; its cost is negligible. [-]
const REACH_MIN: f64 = 0.02;

/// Largest reach, as a share of the element size: a list with a larger reach holds several times as many
/// pairs as have faces. [-]
const REACH_MAX: f64 = 0.5;

/// A list that is used for fewer steps than this costs more than it saves. [-]
const STEPS_MIN: f64 = 3.0;

/// A comparison of coherent queries with full ones, for tests and diagnosis. Each comparison costs a full
/// query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoherenceCheck {
    /// One in this many coherent queries is compared; 1 compares all, 0 none.
    pub every: u64,
}

/// Counts of the queries of a workspace since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoherenceReport {
    /// Queries that reused a list.
    pub reused: u64,
    /// Full queries that collected a list for the next ones.
    pub collected: u64,
    /// Full queries that collected no list: first queries of a pair, large moves, or coherence switched off.
    pub full: u64,
    /// Coherent queries that were compared with full ones, see [`CoherenceCheck`].
    pub checked: u64,
    /// Compared queries that differed. A count above zero is a defect of this library.
    pub mismatched: u64,
}

/// The source of a query's pairs of elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Plan {
    /// The list of an earlier query.
    Reuse,
    /// A full search that collects a list with this reach \[m\].
    Collect(f64),
    /// A full search for this pose alone.
    Full,
}

/// A pair of geometries for coherent queries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    /// The identity of the pair: a list is valid for this pair only.
    pub(super) identity: PairIdentity,
    /// The mesh with the frame M.
    pub(super) inner: &'a MeshExtent,
    /// The mesh with the frame N; none for a half space.
    pub(super) outer: Option<&'a MeshExtent>,
}

/// The identities of A and B, zero for a half space, and the parameters of a half space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PairIdentity {
    pub(super) A: u64,
    pub(super) B: u64,
    pub(super) stiffness: f64,
    pub(super) margin: f64,
}

impl Pair<'_> {
    /// A bound on the motion of a point of both geometries relative to one of them, while the pose of the
    /// outer geometry in the inner frame changed from `from` to `to` \[m\]. A point x of the inner geometry,
    /// within a distance r of c, has moved in the outer frame by |X_NM x - X_NM' x| <= |X_NM c - X_NM' c| +
    /// |R - R'| r, where |R - R'| is the Frobenius norm over the root of two. The same holds for a point of
    /// the outer geometry in the inner frame. Both bound the same displacement, so the smaller bound holds.
    fn motion(&self, from: &RigidTransform, to: &RigidTransform) -> f64 {
        let turn = (to.rotation.matrix() - from.rotation.matrix()).norm() * std::f64::consts::FRAC_1_SQRT_2;
        let in_outer = |X_MN: &RigidTransform| {
            X_MN.rotation.inverse_transform_vector(&(self.inner.center - X_MN.translation.vector))
        };
        let by_inner = (in_outer(to) - in_outer(from)).norm() + turn * self.inner.radius;
        let by_outer = self.outer.map_or(f64::INFINITY, |outer| {
            let in_inner = |X_MN: &RigidTransform| X_MN.rotation * outer.center + X_MN.translation.vector;
            (in_inner(to) - in_inner(from)).norm() + turn * outer.radius
        });
        by_inner.min(by_outer)
    }

    fn element_size(&self) -> f64 {
        self.outer.map_or(f64::INFINITY, |outer| outer.element_size).min(self.inner.element_size)
    }
}

/// The record of a workspace's last queries.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    identity: Option<PairIdentity>,
    /// Relative pose at the last query.
    X_MN_last: RigidTransform,
    /// Relative pose at which the list was collected.
    X_MN_list: RigidTransform,
    /// The reach of that list \[m\]; `None` without a list.
    reach: Option<f64>,
    pub(super) report: CoherenceReport,
}

impl Memory {
    /// Decides how to query `pair` at the relative pose `X_MN`, and records the query.
    pub(super) fn plan(&mut self, enabled: bool, pair: &Pair, X_MN: &RigidTransform) -> Plan {
        let plan = if enabled { self.choose(pair, X_MN) } else { Plan::Full };
        match plan {
            Plan::Reuse => self.report.reused += 1,
            Plan::Collect(reach) => {
                self.report.collected += 1;
                (self.X_MN_list, self.reach) = (*X_MN, Some(reach));
            }
            Plan::Full => {
                self.report.full += 1;
                self.reach = None;
            }
        }
        (self.identity, self.X_MN_last) = (Some(pair.identity), *X_MN);
        plan
    }

    fn choose(&self, pair: &Pair, X_MN: &RigidTransform) -> Plan {
        if self.identity != Some(pair.identity) {
            return Plan::Full;
        }
        // A pose that is not finite fails both comparisons.
        if let Some(reach) = self.reach
            && pair.motion(&self.X_MN_list, X_MN) <= reach
        {
            return Plan::Reuse;
        }
        let step = pair.motion(&self.X_MN_last, X_MN);
        let size = pair.element_size();
        let reach = (REACH_FACTOR * (step * size).sqrt()).clamp(REACH_MIN * size, REACH_MAX * size);
        if reach >= STEPS_MIN * step { Plan::Collect(reach) } else { Plan::Full }
    }

    /// Forgets the last queries, not the report.
    pub(super) fn forget(&mut self) {
        (self.identity, self.reach) = (None, None);
    }
}

/// Whether two surfaces are the same bit for bit.
pub(super) fn same_bits(a: &ContactSurface, b: &ContactSurface) -> bool {
    let numbers = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits());
    let vectors = |a: &[Vector3], b: &[Vector3]| {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| numbers(x.as_slice(), y.as_slice()))
    };
    a.element_A == b.element_A
        && a.element_B == b.element_B
        && a.corner_ends == b.corner_ends
        && vectors(&a.centroid, &b.centroid)
        && vectors(&a.normal, &b.normal)
        && vectors(&a.corners, &b.corners)
        && [(&a.area, &b.area), (&a.pressure, &b.pressure), (&a.g_A, &b.g_A), (&a.g_B, &b.g_B)]
            .iter()
            .all(|(a, b)| numbers(a, b))
        && numbers(&a.corner_pressure, &b.corner_pressure)
}
