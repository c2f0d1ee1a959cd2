//! Memory that contact queries reuse.

use super::coherence::{CoherenceCheck, CoherenceReport, Memory};
use super::{ContactSurface, FaceRepresentation};
use crate::geometry::pressure_field::TetCorners;
use crate::geometry::{FacePlane, LinearPressure};
use crate::math::Vector3;

/// The working memory of contact queries. One workspace for all pairs is enough. With one for each pair, kept
/// from step to step, queries reuse earlier results and take a fraction of the time. The reuse does not
/// change a result.
#[derive(Clone, Debug)]
pub struct HydroelasticWorkspace {
    /// The kind of faces that intersections become.
    pub representation: FaceRepresentation,
    /// Whether queries of the same pair at nearby poses reuse its element pairs. On by default; if off, every
    /// query is a full one, with the same result.
    pub coherence: bool,
    /// Compares coherent queries with full ones. By default there is no comparison.
    pub check: Option<CoherenceCheck>,
    pub(super) memory: Memory,
    pub(super) lists: Lists,
    checker: Option<Box<Checker>>,
}

/// The memory of the check of coherence, and the surface that it recomputes.
#[derive(Clone, Debug, Default)]
pub(super) struct Checker {
    pub(super) workspace: HydroelasticWorkspace,
    pub(super) surface: ContactSurface,
}

impl Default for HydroelasticWorkspace {
    fn default() -> Self {
        Self::new(FaceRepresentation::default())
    }
}

impl HydroelasticWorkspace {
    /// A workspace without memory yet.
    pub fn new(representation: FaceRepresentation) -> Self {
        Self {
            representation,
            coherence: true,
            check: None,
            memory: Memory::default(),
            lists: Lists::default(),
            checker: None,
        }
    }

    /// The number of queries that reused earlier results, and the result of the check.
    pub fn coherence_report(&self) -> CoherenceReport {
        self.memory.report
    }

    /// Makes the next query a full one.
    pub fn forget(&mut self) {
        self.memory.forget();
    }

    /// The memory of the check, set up for a full query.
    pub(super) fn checker(&mut self) -> &mut Checker {
        let representation = self.representation;
        let checker = self.checker.get_or_insert_default();
        checker.workspace.representation = representation;
        checker.workspace.coherence = false;
        checker
    }
}

/// Elements and pairs of elements of one query, and of the next ones while the list is valid.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// Elements of the outer geometry that can touch the inner one, or of the only mesh that can touch a half
    /// space; sorted.
    pub(super) near: Vec<u32>,
    /// The tetrahedra of a compliant outer geometry, in the inner one's frame.
    pub(super) tets: Vec<OuterTet>,
    /// The triangles of a rigid outer geometry, in the inner one's frame.
    pub(super) triangles: Vec<OuterTriangle>,
    /// Pairs that meet, sorted: the element of A in the upper half, that of B in the lower; an outer element
    /// is given by its index in `tets` or `triangles`, which are in the order of elements.
    pub(super) pairs: Vec<u64>,
    /// The elements of the inner geometry that the search for one outer element has visited.
    pub(super) seen: Seen,
}

/// A set of elements that is emptied in constant time: an element belongs to it if its stamp is the current
/// one.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    stamps: Vec<u32>,
    current: u32,
}

impl Seen {
    /// Makes room for elements below `count`.
    pub(super) fn start(&mut self, count: usize) {
        if self.stamps.len() < count {
            self.stamps.resize(count, 0);
        }
    }
    /// Empties the set.
    pub(super) fn next(&mut self) {
        if self.current == u32::MAX {
            self.stamps.fill(0);
            self.current = 0;
        }
        self.current += 1;
    }
    /// Inserts `element` and returns whether it was new.
    #[inline]
    pub(super) fn mark(&mut self, element: u32) -> bool {
        std::mem::replace(&mut self.stamps[element as usize], self.current) != self.current
    }
}

impl Lists {
    pub(super) fn clear(&mut self) {
        self.near.clear();
        self.tets.clear();
        self.triangles.clear();
        self.pairs.clear();
    }
}

/// A tetrahedron of the outer geometry in the frame M of the inner one.
#[derive(Clone, Copy, Debug)]
pub(super) struct OuterTet {
    pub(super) element: u32,
    pub(super) corners_M: TetCorners,
    pub(super) pressure_M: LinearPressure,
    /// Norm of its gradient [Pa/m].
    pub(super) steepness: f64,
}

/// A triangle of the outer geometry in the frame M of the inner one.
#[derive(Clone, Copy, Debug)]
pub(super) struct OuterTriangle {
    pub(super) element: u32,
    pub(super) corners_M: [Vector3; 3],
    pub(super) plane_M: FacePlane,
}

/// Joins the elements of a pair so that sorting sorts by A first.
#[inline]
pub(super) fn pair_key(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

/// The two halves of [`pair_key`].
#[inline]
pub(super) fn split_key(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}
