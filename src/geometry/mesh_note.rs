//! Remarks about a mesh that was accepted.

use super::surface_check::{Position, SurfaceDefect};

/// A remark about a mesh that is not refused.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshNote {
    /// The surface was repaired before it was used.
    Repaired {
        /// The repairs, in words.
        repairs: String,
    },
    /// A filling lacks a part of the body that is thinner than the filling's edges.
    LeftOut {
        /// The position of the part.
        at: Position,
        /// Distance by which the part sticks out of the filling \[m\].
        distance: f64,
        /// Edge length of the filling \[m\].
        spacing: f64,
        /// Share of the surface that is missed by more than a fiftieth of the body's size [-].
        area: f64,
        /// A resolution hint that suffices \[m\].
        hint: Option<f64>,
        /// The distance of a wrap that suffices, if no hint does \[m\].
        wrap: Option<f64>,
    },
    /// A filling has another volume than the mesh encloses.
    Volume {
        /// The volume of the filling over that of the mesh, minus 1 [-].
        error: f64,
        /// Edge length of the filling \[m\].
        spacing: f64,
        /// The number of tetrahedra.
        tets: usize,
        /// A resolution hint that suffices \[m\].
        hint: Option<f64>,
    },
    /// A wrap has another volume than the closed parts of the mesh.
    Closed {
        /// The volume of the wrap over that of the parts, minus 1 [-].
        error: f64,
    },
    /// A filling does not follow the surface as closely as requested.
    Off {
        /// The largest distance between surface and filling \[m\].
        distance: f64,
        /// The point of the surface that is farthest from the filling.
        at: Position,
        /// The requested distance \[m\].
        tolerance: f64,
        /// Edge length of the filling \[m\].
        spacing: f64,
    },
    /// The mesh is coarser than the resolution hint, because finer it has too many tetrahedra.
    Coarse {
        /// The length of the longest edge \[m\].
        edge: f64,
        /// The resolution hint \[m\].
        hint: f64,
        /// The number of tetrahedra.
        tets: usize,
    },
    /// Tetrahedra without volume, or triangles without area.
    Skipped {
        /// The kind of the elements.
        what: &'static str,
        /// Their number.
        count: usize,
    },
    /// Tetrahedra without pressure at any corner.
    NoPressure {
        /// Their number.
        count: usize,
        /// The number of all tetrahedra.
        of: usize,
    },
    /// A property has no effect on this kind of geometry.
    NoEffect {
        /// The property's name in files.
        property: &'static str,
        /// The geometries on which it has one.
        on: &'static str,
    },
    /// A rigid surface is not closed or not oriented.
    Unsound {
        /// Its defect.
        defect: SurfaceDefect,
    },
    /// Parts of a rigid surface intersect.
    Intersecting {
        /// The number of pairs of triangles.
        count: usize,
        /// The first such pair, counted from 0.
        triangles: [u32; 2],
        /// A point where they meet.
        at: Position,
    },
}

impl std::fmt::Display for MeshNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Repaired { repairs } => write!(f, "the mesh was repaired: {repairs}"),
            Self::Volume { error, spacing, tets, hint } => {
                let (percent, more) = (100.0 * error.abs(), if *error > 0.0 { "more" } else { "less" });
                write!(
                    f,
                    "the filling ({tets} tetrahedra of {spacing:.2e} m) has {percent:.1} % {more} volume than the mesh encloses; "
                )?;
                match hint {
                    Some(hint) => write!(f, "a mesh_resolution_hint of {hint:.1e} m suffices"),
                    None => write!(
                        f,
                        "no mesh_resolution_hint within the limit of tetrahedra suffices: its walls are too thin, so declare \
                         the mesh rigid, or split it into convex pieces"
                    ),
                }
            }
            Self::Closed { error } => {
                let (percent, more) = (100.0 * error.abs(), if *error > 0.0 { "more" } else { "less" });
                write!(
                    f,
                    "the wrap has {percent:.1} % {more} volume than the closed parts of the mesh: it closed holes or cavities, or \
                     thickened thin parts; look at it with `isobar mesh FILE --wrap DISTANCE --preview FILE.png`, or fill the \
                     mesh without a wrap"
                )
            }
            Self::LeftOut { at, distance, spacing, area, hint, wrap } => {
                let percent = 100.0 * area;
                write!(
                    f,
                    "a part of the mesh is too thin for tetrahedra of {spacing:.3e} m and is left out ({percent:.1} % of the \
                     surface): it reaches {distance:.3e} m out at {at}; "
                )?;
                let no_hint = "no mesh_resolution_hint within the limit of tetrahedra fills it";
                let others = "declare the mesh rigid or convex, or split it into convex pieces";
                match (hint, wrap) {
                    (Some(hint), _) => write!(f, "a mesh_resolution_hint of {hint:.1e} m suffices"),
                    (None, Some(wrap)) => {
                        write!(f, "{no_hint}: make the part a plate with `wrap: {wrap:.1e}`, {others}")
                    }
                    (None, None) => write!(f, "{no_hint}: {others}"),
                }
            }
            Self::Off { distance, at, tolerance, spacing } => write!(
                f,
                "the filling is up to {distance:.1e} m off the surface, more than the surface_tolerance of {tolerance:.1e} m (the \
                 surface is missed most at {at}); a fit of less than that is lost there: give a mesh_resolution_hint below {spacing:.1e} m"
            ),
            Self::Coarse { edge, hint, tets } => write!(
                f,
                "the mesh has edges of {edge:.3e} m, longer than its resolution hint of {hint:.3e} m: it is not divided further, \
                 since it has {tets} tetrahedra; give a larger resolution hint"
            ),
            Self::Skipped { what, count } => write!(f, "{count} {what} take no part in contact"),
            Self::NoPressure { count, of } => write!(
                f,
                "{count} of {of} tetrahedra have no corner inside the mesh, so that there is no pressure in them and contact is \
                 not made there: refine the mesh, or give a pressure for each vertex"
            ),
            Self::NoEffect { property, on } => {
                write!(
                    f,
                    "`{property}` has no effect here, only on {on}; remove it, or state it for such a geometry only"
                )
            }
            Self::Unsound { defect } => unsound(defect, f),
            Self::Intersecting { count, triangles: [a, b], at } => write!(
                f,
                "parts of the rigid mesh intersect ({count} pairs of triangles, the first {a} and {b} at {at}): triangles \
                 inside another part also make contact when a body reaches that deep; unite the parts"
            ),
        }
    }
}

/// The effect of a defect on a rigid surface, which is used as given.
fn unsound(defect: &SurfaceDefect, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    let felt = "a rigid mesh makes contact on the outer side of its triangles only, and a body behind them has no contact; repair the mesh";
    match defect {
        SurfaceDefect::Open { count, triangle, from, to } => write!(
            f,
            "the rigid mesh is open: {count} edges belong to one triangle only, among them that from {from} to {to} (triangle \
             {triangle}); {felt}"
        ),
        SurfaceDefect::NonManifold { count, triangles, from, to } => write!(
            f,
            "{count} edges of the rigid mesh join triangles that disagree on the side that is inside, the first from {from} to {to} \
             (triangles {triangles:?}); {felt}"
        ),
        other => write!(f, "the rigid mesh has a defect: {other}; {felt}"),
    }
}
