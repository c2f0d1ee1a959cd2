//! A geometry prepared for pressure-field contact.

use crate::geometry::bvh::Bvh;
use crate::geometry::make::{HydroelasticParameters, Tessellation, tessellate};
use crate::geometry::mesh_extent::MeshExtent;
use crate::geometry::{Aabb, GeometryError, MeshNote, PressureField, Shape, SurfaceMesh, VolumeMesh};
use crate::math::{RigidTransform, Vector3};

/// Twice the area of a triangle over the square of its longest edge; below this it has no usable normal. [-]
const TRIANGLE_FLATNESS_MIN: f64 = 1e-12;

/// A closed rigid surface: triangles with outward normals and a tree over them, in the geometry's frame.
#[derive(Clone, Debug)]
pub struct RigidSurface {
    mesh: SurfaceMesh,
    normals: Vec<Vector3>,
    skipped: usize,
    bvh: Bvh,
    extent: MeshExtent,
}

impl RigidSurface {
    /// A surface from a triangle mesh. A triangle without area takes no part and is counted in
    /// [`RigidSurface::skipped`].
    ///
    /// # Errors
    /// A position that is not finite, an index out of range, or a mesh without any area.
    pub fn new(mesh: SurfaceMesh) -> Result<Self, GeometryError> {
        crate::geometry::mesh::check_vertices(&mesh.vertices)?;
        crate::geometry::mesh::check_indices(mesh.triangles.iter().map(|t| t.as_slice()), mesh.vertices.len())?;
        let mut normals = Vec::with_capacity(mesh.triangles.len());
        let mut boxes = Vec::with_capacity(mesh.triangles.len());
        for (element, triangle) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = triangle.map(|vertex| mesh.vertices[vertex as usize]);
            let longest = (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
            let cross = (b - a).cross(&(c - a));
            if cross.norm() <= TRIANGLE_FLATNESS_MIN * longest {
                normals.push(Vector3::zeros());
                continue;
            }
            normals.push(cross.normalize());
            boxes.push((element as u32, Aabb::around(&[a, b, c])));
        }
        if boxes.is_empty() {
            return Err(GeometryError::NoArea { triangles: mesh.triangles.len() });
        }
        Ok(Self {
            skipped: mesh.triangles.len() - boxes.len(),
            bvh: Bvh::new(boxes),
            extent: MeshExtent::new(&mesh.vertices, &mesh.triangles),
            mesh,
            normals,
        })
    }

    /// The mesh.
    pub fn mesh(&self) -> &SurfaceMesh {
        &self.mesh
    }
    /// Outward unit normal of each triangle; zero for one without area.
    pub fn normals(&self) -> &[Vector3] {
        &self.normals
    }
    /// The number of triangles without area, which were left out.
    pub fn skipped(&self) -> usize {
        self.skipped
    }
    /// The box around the surface.
    pub fn bounds(&self) -> Aabb {
        self.bvh.bounds()
    }
    pub(crate) fn bvh(&self) -> &Bvh {
        &self.bvh
    }
    pub(crate) fn extent(&self) -> &MeshExtent {
        &self.extent
    }
    /// The corners of a triangle \[m\].
    #[inline]
    pub(crate) fn corners(&self, element: u32) -> [Vector3; 3] {
        self.mesh.triangles[element as usize].map(|vertex| self.mesh.vertices[vertex as usize])
    }
}

/// A geometry for contact queries. Half spaces are z <= 0 in their frame.
#[derive(Clone, Debug)]
pub enum HydroelasticGeometry {
    /// A pressure field on tetrahedra.
    CompliantVolume(Box<PressureField>),
    /// A half space with the pressure p = `stiffness` * depth.
    CompliantHalfSpace {
        /// Modulus over slab thickness [Pa/m].
        stiffness: f64,
        /// Distance by which it extends above its surface, with negative pressure there \[m\].
        margin: f64,
    },
    /// A closed surface without a field.
    RigidSurface(RigidSurface),
    /// A half space without a field.
    RigidHalfSpace,
}

impl HydroelasticGeometry {
    /// Tessellates `shape` and computes its pressure field (compliant) or its surface (rigid).
    ///
    /// # Errors
    /// A size, modulus, hint or margin out of range; a mesh that cannot be repaired.
    pub fn new(shape: &Shape, parameters: &HydroelasticParameters) -> Result<Self, GeometryError> {
        Self::with_notes(shape, parameters, &mut Vec::new())
    }

    /// Like [`HydroelasticGeometry::new`], and adds remarks about the shape's mesh to `notes`.
    ///
    /// # Errors
    /// The errors of [`HydroelasticGeometry::new`].
    pub fn with_notes(
        shape: &Shape,
        parameters: &HydroelasticParameters,
        notes: &mut Vec<MeshNote>,
    ) -> Result<Self, GeometryError> {
        let geometry = match tessellate(shape, parameters, notes)? {
            Tessellation::Volume(mesh, pressure) => Self::from_volume(mesh, pressure)?,
            Tessellation::CompliantHalfSpace { stiffness, margin } => Self::CompliantHalfSpace { stiffness, margin },
            Tessellation::Surface(mesh) => Self::from_surface(mesh)?,
            Tessellation::RigidHalfSpace => Self::RigidHalfSpace,
        };
        let what = if geometry.is_compliant() { "tetrahedra without volume" } else { "triangles without area" };
        if geometry.skipped() > 0 {
            notes.push(MeshNote::Skipped { what, count: geometry.skipped() });
        }
        Ok(geometry)
    }

    /// A compliant geometry from a given mesh and the pressure at its vertices \[Pa\].
    ///
    /// # Errors
    /// Those of [`PressureField::new`].
    pub fn from_volume(mesh: VolumeMesh, pressure: Vec<f64>) -> Result<Self, GeometryError> {
        Ok(Self::CompliantVolume(Box::new(PressureField::new(mesh, pressure)?)))
    }

    /// A rigid geometry from a given closed surface.
    ///
    /// # Errors
    /// Those of [`RigidSurface::new`].
    pub fn from_surface(mesh: SurfaceMesh) -> Result<Self, GeometryError> {
        Ok(Self::RigidSurface(RigidSurface::new(mesh)?))
    }

    /// The geometry's kind in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::CompliantVolume(_) => "compliant volume",
            Self::CompliantHalfSpace { .. } => "compliant half space",
            Self::RigidSurface(_) => "rigid surface",
            Self::RigidHalfSpace => "rigid half space",
        }
    }

    /// Whether the geometry has a pressure field of its own.
    pub fn is_compliant(&self) -> bool {
        matches!(self, Self::CompliantVolume(_) | Self::CompliantHalfSpace { .. })
    }

    /// The box around the geometry in its own frame; unbounded for a half space.
    pub fn aabb(&self) -> Aabb {
        match self {
            Self::CompliantVolume(field) => field.bounds(),
            Self::RigidSurface(surface) => surface.bounds(),
            Self::CompliantHalfSpace { .. } | Self::RigidHalfSpace => Aabb::EVERYTHING,
        }
    }

    /// The box in world axes around the geometry at the pose `X_WG`.
    pub fn world_aabb(&self, X_WG: &RigidTransform) -> Aabb {
        self.aabb().transformed(X_WG)
    }

    /// Centre \[m\], in the geometry's frame, and radius \[m\] of a sphere around the geometry. The centre is
    /// the middle of the geometry's box. `None` for a half space.
    pub fn bounding_sphere(&self) -> Option<(Vector3, f64)> {
        let vertices = self.vertices();
        if vertices.is_empty() {
            return None;
        }
        let center = self.aabb().center();
        Some((center, vertices.iter().map(|vertex| (vertex - center).norm()).fold(0.0, f64::max)))
    }

    /// The vertices of the mesh in the geometry's frame \[m\]; none for a half space.
    pub fn vertices(&self) -> &[Vector3] {
        match self {
            Self::CompliantVolume(field) => &field.mesh().vertices,
            Self::RigidSurface(surface) => &surface.mesh().vertices,
            Self::CompliantHalfSpace { .. } | Self::RigidHalfSpace => &[],
        }
    }

    /// The number of degenerate tetrahedra or triangles, which take no part in contact.
    pub fn skipped(&self) -> usize {
        match self {
            Self::CompliantVolume(field) => field.skipped(),
            Self::RigidSurface(surface) => surface.skipped(),
            Self::CompliantHalfSpace { .. } | Self::RigidHalfSpace => 0,
        }
    }
}
