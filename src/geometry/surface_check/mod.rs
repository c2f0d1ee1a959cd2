//! Checks that a triangle mesh encloses a volume, and repairs what can be repaired without guessing.
//!
//! In this order: positions and indices; vertices at the same place become one; neighbours are turned to agree on which side
//! is outside; small holes are closed; of triangles without area, those with a vertex on the opposite edge have that edge
//! flipped; every edge must be passed equally often in both directions; the outermost components are turned to enclose a
//! positive volume. Triangles that go through each other are counted: the inside is then the union of the parts.

mod close;
mod intersect;
mod orient;
mod weld;

use super::{GeometryError, SurfaceMesh};
use crate::math::Vector3;

/// What was found and repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SurfaceReport {
    /// Triangles that were given.
    pub triangles_given: usize,
    /// Vertices that became one with another at the same place.
    pub welded: usize,
    /// Triangles that were left out: without area, or twice there.
    pub dropped: usize,
    /// Long edges of triangles without area that were flipped.
    pub flipped_edges: usize,
    /// Triangles that were turned around because they disagreed with their neighbours.
    pub turned: usize,
    /// Components that were turned inside out because they enclosed a negative volume.
    pub inverted: usize,
    /// Components: surfaces that share no edge.
    pub components: usize,
    /// Components that bound a hole inside another.
    pub cavities: usize,
    /// Small holes that were closed.
    pub closed_holes: usize,
    /// Pairs of triangles that go through each other; what is inside any part counts as inside.
    pub intersections: usize,
    /// The first such pair.
    pub intersection: Option<Intersection>,
    /// Edges with more than two triangles, as many in each direction.
    pub shared_edges: usize,
}

/// Two triangles that go through each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intersection {
    /// The triangles, counted from 0 as in the mesh given.
    pub triangles: [u32; 2],
    /// A point where they meet.
    pub at: Place,
}

impl SurfaceReport {
    /// What was repaired, in words; `None` where nothing was.
    pub fn repairs(&self) -> Option<String> {
        let counted = [
            (self.welded, "vertices welded"),
            (self.dropped, "triangles without area dropped"),
            (self.flipped_edges, "edges of triangles without area flipped"),
            (self.turned, "triangles turned to agree with their neighbours"),
            (self.inverted, "components turned inside out"),
            (self.closed_holes, "small holes closed"),
        ];
        let mut words: Vec<String> =
            counted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        if let Some(Intersection { triangles: [a, b], at }) = self.intersection {
            let count = self.intersections;
            words.push(format!("parts united ({count} pairs of triangles intersect, the first {a} and {b} at {at})"));
        }
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// A point, for messages [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place(pub Vector3);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({:.6}, {:.6}, {:.6})", self.0.x, self.0.y, self.0.z)
    }
}

/// What is wrong with a surface that cannot be repaired without guessing. Triangles count from 0, as in the mesh given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurfaceDefect {
    /// Positions or indices are broken.
    #[error(transparent)]
    Array(Box<GeometryError>),
    /// No triangle has any area.
    #[error("none of the {triangles} triangles has any area: is the mesh empty, or scaled to nothing?")]
    Empty {
        /// How many there are.
        triangles: usize,
    },
    /// An edge with one triangle only.
    #[error(
        "the surface is open: {count} edges belong to one triangle only, among them that from {from} to {to} (triangle \
         {triangle}), at a hole too large to close by guessing: close it in the mesh, declare it convex to use its hull, or make it rigid"
    )]
    Open {
        /// How many such edges.
        count: usize,
        /// A triangle.
        triangle: u32,
        /// One end of its edge.
        from: Place,
        /// The other end.
        to: Place,
    },
    /// An edge at which the triangles leave the inside undefined.
    #[error(
        "{count} edges join triangles that disagree on what is inside, the first from {from} to {to} (triangles \
         {triangles:?}): separate the parts of the mesh that meet there, declare it convex to use its hull, or make it rigid"
    )]
    NonManifold {
        /// How many such edges.
        count: usize,
        /// The triangles at the first.
        triangles: Vec<u32>,
        /// One end of the edge.
        from: Place,
        /// The other end.
        to: Place,
    },
    /// A surface with one side, as a Moebius strip.
    #[error(
        "the surface has no outside: going around it, triangle {triangle} at {at} turns to its other side: rebuild the \
         mesh there"
    )]
    OneSided {
        /// A triangle.
        triangle: u32,
        /// Its centre.
        at: Place,
    },
    /// A component encloses nothing.
    #[error(
        "a part of the surface encloses no volume ({triangles} triangles, the first is {triangle} at {at}): give it \
         thickness, or take it out"
    )]
    NoVolume {
        /// Count of its triangles.
        triangles: usize,
        /// Its first triangle.
        triangle: u32,
        /// The centre of that.
        at: Place,
    },
}

/// A mesh under repair; `source` says which given triangle each comes from.
struct Work {
    vertices: Vec<Vector3>,
    triangles: Vec<[u32; 3]>,
    source: Vec<u32>,
    report: SurfaceReport,
}

impl Work {
    fn corners(&self, triangle: usize) -> [Vector3; 3] {
        self.triangles[triangle].map(|vertex| self.vertices[vertex as usize])
    }
    fn place(&self, vertex: u32) -> Place {
        Place(self.vertices[vertex as usize])
    }
    fn center(&self, triangle: usize) -> Place {
        let [a, b, c] = self.corners(triangle);
        Place((a + b + c) / 3.0)
    }
    /// All edges as (ends in order, triangle, whether it runs from the smaller end to the larger), sorted.
    fn edges(&self) -> Vec<([u32; 2], u32, bool)> {
        let mut edges = Vec::with_capacity(3 * self.triangles.len());
        for (k, triangle) in self.triangles.iter().enumerate() {
            for i in 0..3 {
                let (a, b) = (triangle[i], triangle[(i + 1) % 3]);
                edges.push(([a.min(b), a.max(b)], k as u32, a < b));
            }
        }
        edges.sort_unstable();
        edges
    }
}

/// A closed, oriented surface.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedSurface {
    /// The surface, repaired.
    pub mesh: SurfaceMesh,
    /// What was found and repaired.
    pub report: SurfaceReport,
    /// Whether every edge joins two triangles and the surface nowhere meets itself. Otherwise the inside is where the
    /// winding number is positive.
    pub is_simple: bool,
}

/// Checks a surface and repairs it.
///
/// # Errors
/// The first defect that cannot be repaired, with its place.
pub fn check_surface(mesh: &SurfaceMesh) -> Result<CheckedSurface, SurfaceDefect> {
    let array = |error| SurfaceDefect::Array(Box::new(error));
    super::mesh::check_vertices(&mesh.vertices).map_err(array)?;
    super::mesh::check_indices(mesh.triangles.iter().map(|t| t.as_slice()), mesh.vertices.len()).map_err(array)?;
    let mut work = Work {
        vertices: mesh.vertices.clone(),
        triangles: mesh.triangles.clone(),
        source: (0..mesh.triangles.len() as u32).collect(),
        report: SurfaceReport { triangles_given: mesh.triangles.len(), ..SurfaceReport::default() },
    };
    weld::weld(&mut work)?;
    orient::agree(&mut work)?;
    close::close_holes(&mut work)?;
    weld::flatten(&mut work)?;
    orient::turn_outward(&mut work)?;
    intersect::find_intersections(&mut work);
    let is_simple = work.report.intersections == 0 && work.report.shared_edges == 0 && !weld::has_flat(&work);
    let report = work.report;
    Ok(CheckedSurface { mesh: SurfaceMesh { vertices: work.vertices, triangles: work.triangles }, report, is_simple })
}
