//! A shape prepared for point contact.

use super::edge_cones::EdgeCones;
use super::fans::Fans;
use super::polytope::Polytope;
use super::reach::Reach;
use crate::geometry::signed_distance::ConvexSolid;
use crate::geometry::{
    Aabb, GeometryError, HydroelasticGeometry, HydroelasticParameters, MeshNote, RigidSurface, Shape, SurfaceMesh, make,
};
use crate::math::{RigidTransform, Vector3};

/// Edge length over radius in the tessellation of a round shape, for contact that needs faces. [-]
const ROUND_RESOLUTION: f64 = 0.2;

/// A direction at a smaller angle to the normal of a half space is that normal. \[rad\]
const PARALLEL: f64 = 1e-12;

/// The kinds of shape that the contact algorithms distinguish.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    HalfSpace,
    Sphere {
        radius: f64,
    },
    /// The segment along z with a radius.
    Capsule {
        radius: f64,
        half: f64,
        core: ConvexSolid,
    },
    Cylinder {
        radius: f64,
        half: f64,
        core: ConvexSolid,
    },
    /// A polyhedron; for an ellipsoid also its semi-axes.
    Polytope {
        polytope: Polytope,
        core: ConvexSolid,
        semi_axes: Option<Vector3>,
    },
    Mesh,
}

/// A rigid shape for [`contact_points`](super::contact_points).
#[derive(Clone, Debug)]
pub struct RigidShape {
    pub(super) kind: Kind,
    /// Triangles, for contact with meshes; none for half spaces and spheres.
    pub(super) surface: Option<RigidSurface>,
    cones: EdgeCones,
    /// Balls and cones around the triangles below each node of the tree of the surface.
    reaches: Vec<Reach>,
    /// The triangles around each vertex of a mesh that is not convex.
    pub(super) fans: Fans,
    bounds: Aabb,
    /// Centre of a sphere around the shape [m, the shape's frame].
    pub(super) center: Vector3,
    /// Its radius \[m\]; infinite for a half space.
    pub(super) radius: f64,
    /// Whether its triangles form a closed surface that does not meet itself.
    pub(super) is_sound: bool,
}

/// Corners of each end of a cylinder.
const RIM_CORNERS: usize = 8;
/// Of shapes with more corners, those that are farthest along 26 directions count.
const CORNERS_MAX: usize = 32;

impl RigidShape {
    /// Prepares `shape`. A triangle mesh that is closed and convex counts as its hull.
    ///
    /// # Errors
    /// A size that is not positive, or an invalid mesh.
    pub fn new(shape: &Shape) -> Result<Self, GeometryError> {
        let resolution_hint = match shape {
            Shape::Ellipsoid { semi_axes } => Some(ROUND_RESOLUTION * semi_axes.max()),
            Shape::Cylinder { radius, .. } | Shape::Capsule { radius, .. } => Some(ROUND_RESOLUTION * radius),
            _ => None,
        };
        let parameters = HydroelasticParameters {
            compliant: None,
            resolution_hint,
            slab_thickness: None,
            margin: 0.0,
            ..Default::default()
        };
        let mut notes = Vec::new();
        match HydroelasticGeometry::with_notes(shape, &parameters, &mut notes)? {
            HydroelasticGeometry::RigidSurface(surface) => Ok(Self::from_surface(shape, surface, &notes)),
            _ => Ok(Self::round(Kind::HalfSpace, f64::INFINITY)),
        }
    }

    /// Does the same as [`RigidShape::new`] for a shape whose rigid geometry and the notes about its mesh are
    /// known: meshes are not checked a second time.
    ///
    /// # Errors
    /// The errors of [`RigidShape::new`].
    pub fn of(shape: &Shape, geometry: &HydroelasticGeometry, notes: &[MeshNote]) -> Result<Self, GeometryError> {
        match (shape, geometry) {
            (Shape::Mesh(_), HydroelasticGeometry::RigidSurface(surface)) => {
                Ok(Self::from_surface(shape, surface.clone(), notes))
            }
            _ => Self::new(shape),
        }
    }

    /// Whether the shape is convex: all but meshes that are not.
    pub fn is_convex(&self) -> bool {
        !matches!(self.kind, Kind::Mesh)
    }

    fn from_surface(shape: &Shape, surface: RigidSurface, notes: &[MeshNote]) -> Self {
        let kind = match *shape {
            Shape::Sphere { radius } => return Self::round(Kind::Sphere { radius }, radius),
            Shape::Capsule { radius, length } => {
                Kind::Capsule { radius, half: 0.5 * length, core: ConvexSolid::segment(0.5 * length) }
            }
            Shape::Cylinder { radius, length } => {
                Kind::Cylinder { radius, half: 0.5 * length, core: ConvexSolid::cylinder(radius, 0.5 * length) }
            }
            Shape::Box { size } => polytope(surface.mesh(), Some(ConvexSolid::cuboid(&(size * 0.5))), None),
            Shape::Ellipsoid { semi_axes } => polytope(surface.mesh(), None, Some(semi_axes)),
            Shape::Convex(_) => polytope(surface.mesh(), None, None),
            // The triangles of an open mesh may all look outward, as those of a tray do.
            Shape::Mesh(_) if notes.iter().any(|note| matches!(note, MeshNote::Unsound { .. })) => Kind::Mesh,
            Shape::Mesh(_) | Shape::Volume { .. } | Shape::HalfSpace => match convex_hull(surface.mesh()) {
                Some(hull) => polytope(&hull, None, None),
                None => Kind::Mesh,
            },
        };
        let bounds = surface.bounds();
        let center = bounds.center();
        let around = |radius: f64, vertex: &Vector3| radius.max((vertex - center).norm());
        let radius = surface.mesh().vertices.iter().fold(0.0, around);
        // A round shape extends slightly beyond its tessellation.
        let radius = match kind {
            Kind::Capsule { radius, half, .. } => half + radius,
            Kind::Cylinder { radius, half, .. } => radius.hypot(half),
            Kind::Polytope { semi_axes: Some(semi_axes), .. } => semi_axes.max(),
            _ => radius,
        };
        let unsound = |note: &MeshNote| matches!(note, MeshNote::Unsound { .. } | MeshNote::Intersecting { .. });
        let is_sound = !notes.iter().any(unsound);
        let fans = if matches!(kind, Kind::Mesh) { Fans::new(surface.mesh()) } else { Fans::default() };
        let cones = EdgeCones::new(&surface);
        let reaches = Reach::of_nodes(&surface, &cones);
        Self { kind, cones, reaches, fans, surface: Some(surface), bounds, center, radius, is_sound }
    }

    fn round(kind: Kind, radius: f64) -> Self {
        Self {
            kind,
            surface: None,
            cones: EdgeCones::default(),
            reaches: Vec::new(),
            fans: Fans::default(),
            bounds: Aabb::EVERYTHING,
            center: Vector3::zeros(),
            radius,
            is_sound: true,
        }
    }

    /// The triangles, the faces across their edges, and the reaches of the nodes of their tree.
    pub(super) fn faces(&self) -> Option<(&RigidSurface, &EdgeCones, &[Reach])> {
        self.surface.as_ref().map(|surface| (surface, &self.cones, self.reaches.as_slice()))
    }

    /// The kind of shape for contact: a convex mesh is a polyhedron.
    pub fn kind(&self) -> &'static str {
        match self.kind {
            Kind::HalfSpace => "half space",
            Kind::Sphere { .. } => "sphere",
            Kind::Capsule { .. } => "capsule",
            Kind::Cylinder { .. } => "cylinder",
            Kind::Polytope { .. } => "polyhedron",
            Kind::Mesh => "mesh",
        }
    }

    /// Centre of a sphere around the shape [m, world], and its radius \[m\], which is infinite for a half
    /// space.
    pub fn bounding_sphere_W(&self, X_WG: &RigidTransform) -> (Vector3, f64) {
        (self.center_W(X_WG), self.radius)
    }

    /// The box in world axes around the shape at the pose `X_WG`.
    pub fn world_aabb(&self, X_WG: &RigidTransform) -> Aabb {
        let cube = |half: &Vector3| Aabb { min: -half, max: *half }.transformed(X_WG);
        match &self.kind {
            Kind::HalfSpace => Aabb::EVERYTHING,
            Kind::Sphere { radius } => cube(&Vector3::repeat(*radius)),
            Kind::Capsule { radius, half, .. } => cube(&Vector3::new(*radius, *radius, half + radius)),
            Kind::Cylinder { radius, half, .. } => cube(&Vector3::new(*radius, *radius, *half)),
            Kind::Polytope { semi_axes: Some(semi_axes), .. } => cube(semi_axes),
            Kind::Polytope { .. } | Kind::Mesh => self.bounds.transformed(X_WG),
        }
    }

    /// How far the shape at the pose `X_WG` reaches along the unit vector `n_W`: the largest n . p of its
    /// points p \[m\]; infinite for a half space along all directions but its normal.
    pub fn reach_W(&self, X_WG: &RigidTransform, n_W: &Vector3) -> f64 {
        let n = X_WG.rotation.inverse() * n_W;
        let flat = n.xy().norm();
        let farthest = |vertices: &[Vector3]| vertices.iter().map(|p| n.dot(p)).fold(f64::NEG_INFINITY, f64::max);
        let reach = match &self.kind {
            Kind::HalfSpace if n.z > 0.0 && flat <= PARALLEL => 0.0,
            Kind::HalfSpace => f64::INFINITY,
            Kind::Sphere { radius } => *radius,
            Kind::Capsule { radius, half, .. } => radius + half * n.z.abs(),
            Kind::Cylinder { radius, half, .. } => radius * flat + half * n.z.abs(),
            Kind::Polytope { semi_axes: Some(axes), .. } => n.component_mul(axes).norm(),
            Kind::Polytope { polytope, .. } => farthest(&polytope.vertices),
            Kind::Mesh => self.surface.as_ref().map_or(f64::INFINITY, |surface| farthest(&surface.mesh().vertices)),
        };
        n_W.dot(&X_WG.translation.vector) + reach
    }

    /// Calls `each` with points on the surface of the shape at the pose `X_WG` [m, world] that may touch a
    /// plane across `n_W`, which it reaches along n: the corners of its hull or of a polyhedron that
    /// represents it, and the points of round surfaces that look along n.
    pub fn corners_W(&self, X_WG: &RigidTransform, n_W: &Vector3, mut each: impl FnMut(Vector3)) {
        let n = X_WG.rotation.inverse() * n_W;
        let mut push = |p: Vector3| each(X_WG.rotation * p + X_WG.translation.vector);
        match &self.kind {
            Kind::HalfSpace => {}
            Kind::Sphere { radius } => push(n * *radius),
            Kind::Capsule { radius, half, .. } => {
                let ends: &[f64] = if *half > 0.0 { &[-half, *half] } else { &[0.0] };
                ends.iter().for_each(|z| push(n * *radius + Vector3::z() * *z));
            }
            Kind::Cylinder { radius, half, .. } => {
                let lateral = Vector3::new(n.x, n.y, 0.0).try_normalize(1e-12).unwrap_or_else(Vector3::x);
                let beside = Vector3::z().cross(&lateral);
                for (i, z) in (0..RIM_CORNERS).flat_map(|i| [(i, -half), (i, *half)]) {
                    let (sin, cos) = (std::f64::consts::TAU * i as f64 / RIM_CORNERS as f64).sin_cos();
                    push((lateral * cos + beside * sin) * *radius + Vector3::z() * z);
                }
            }
            Kind::Polytope { semi_axes: Some(axes), .. } => {
                let along = n.component_mul(axes);
                push(along.component_mul(axes) / along.norm().max(f64::MIN_POSITIVE));
                [0, 1, 2].iter().flat_map(|i| [(*i, -1.0), (*i, 1.0)]).for_each(|(i, sign)| {
                    push(Vector3::ith(i, sign * axes[i]));
                });
            }
            Kind::Polytope { .. } | Kind::Mesh => {
                let vertices = match (&self.kind, &self.surface) {
                    (Kind::Polytope { polytope, .. }, _) => polytope.vertices.as_slice(),
                    (_, Some(surface)) => surface.mesh().vertices.as_slice(),
                    _ => &[],
                };
                if vertices.len() <= CORNERS_MAX {
                    vertices.iter().for_each(|p| push(*p));
                    return;
                }
                let mut found = [farthest(vertices, &n); 27];
                for (number, place) in found.iter_mut().enumerate().filter(|(number, _)| *number != 13) {
                    *place = farthest(vertices, &[1, 3, 9].map(|power| (number / power % 3) as f64 - 1.0).into());
                }
                found.sort_unstable();
                let mut before = None;
                for number in found.into_iter().filter(|number| before.replace(*number) != Some(*number)) {
                    push(vertices[number]);
                }
            }
        }
    }

    pub(super) fn center_W(&self, X_WG: &RigidTransform) -> Vector3 {
        (X_WG * nalgebra::Point3::from(self.center)).coords
    }

    /// Sort key of the shapes of a pair: by kind, then by size. Equal shapes keep their given order.
    pub(super) fn order(&self) -> (u8, usize, u64) {
        let triangles = self.surface.as_ref().map_or(0, |surface| surface.mesh().triangles.len());
        let kind = match self.kind {
            Kind::HalfSpace => 0,
            Kind::Mesh => 1,
            Kind::Sphere { .. } => 2,
            Kind::Capsule { .. } => 3,
            Kind::Cylinder { .. } => 4,
            Kind::Polytope { .. } => 5,
        };
        // The bits of positive numbers sort as the numbers do.
        (kind, triangles, self.radius.to_bits())
    }

    /// The convex core and the radius around it.
    pub(super) fn core(&self) -> Option<(&ConvexSolid, f64)> {
        match &self.kind {
            Kind::Capsule { radius, core, .. } => Some((core, *radius)),
            Kind::Cylinder { core, .. } | Kind::Polytope { core, .. } => Some((core, 0.0)),
            Kind::HalfSpace | Kind::Sphere { .. } | Kind::Mesh => None,
        }
    }
}

/// The number of the vertex farthest along a direction.
fn farthest(vertices: &[Vector3], along: &Vector3) -> usize {
    let by = |p: &usize, q: &usize| along.dot(&vertices[*p]).total_cmp(&along.dot(&vertices[*q]));
    (0..vertices.len()).max_by(by).unwrap_or_default()
}

fn polytope(mesh: &SurfaceMesh, core: Option<ConvexSolid>, semi_axes: Option<Vector3>) -> Kind {
    match core.or_else(|| ConvexSolid::polyhedron(&mesh.vertices, &mesh.triangles)) {
        Some(core) => Kind::Polytope { polytope: Polytope::new(mesh), core, semi_axes },
        None => Kind::Mesh,
    }
}

/// The hull of a convex mesh.
fn convex_hull(mesh: &SurfaceMesh) -> Option<SurfaceMesh> {
    make::check_convex(mesh).ok()?;
    make::hull(&mesh.vertices).ok()
}
