//! Solids for drawing: triangles with a normal at each corner, and visible edges.

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};

use super::color::Color;
use crate::geometry::{Shape, SurfaceMesh, TriangleColors, VolumeMesh, make};
use crate::math::Vector3;

/// Faces that meet at a smaller angle than this are shaded as one round surface. \[-\] cos(35 degrees)
const CREASE_COSINE: f64 = 0.819;
/// Triangles that meet at a smaller angle than this are one flat face. \[-\] cos(0.1 degrees)
const FLAT_COSINE: f64 = 0.999_998_5;
/// Segments around a drawn circle: in a picture of 960 rows that the circle fills, the segments are within
/// half a pixel of it.
const SEGMENTS: usize = 72;
/// Segments of a quarter circle.
const QUARTER: usize = 18;

/// A solid in its own frame S, ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solid {
    /// Corners p_SQ \[m\]; a vertex of the surface occurs once for each round part it belongs to.
    pub vertices: Vec<Vector3>,
    /// Outward direction at each corner.
    pub normals: Vec<Vector3>,
    /// Corners of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Ends p_SP, p_SQ of the edges where the surface bends sharply or ends \[m\].
    pub creases: Vec<[Vector3; 2]>,
}

/// The colours of a solid whose triangles have different ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolidColors {
    /// The colour at each corner; the three of a triangle are equal.
    pub vertices: Vec<Color>,
    /// The colour of a triangle at each of [`Solid::creases`].
    pub creases: Vec<Color>,
}

/// The triangle of the surface that each triangle and each crease of a solid comes from.
#[derive(Default)]
struct Origins {
    triangles: Vec<usize>,
    creases: Vec<usize>,
}

impl Solid {
    /// A solid from triangles of any kind: open, closed, with shared vertices or without. Elements that name
    /// missing vertices, have no area or are not finite are left out.
    pub fn from_surface(mesh: &SurfaceMesh) -> Self {
        Self::with_creases(mesh, CREASE_COSINE).0
    }

    /// Like [`Solid::from_surface`], with flat triangles and all edges except those between triangles of one
    /// plane. It shows the mesh itself and not the shape that it approximates.
    pub fn faceted(mesh: &SurfaceMesh) -> Self {
        Self::with_creases(mesh, FLAT_COSINE).0
    }

    /// The solid of a visual geometry. If it is a mesh with `colors`, also the colours of the solid;
    /// triangles without one have the colour `default`. `None` for a half space.
    pub fn from_visual(
        shape: &Shape,
        colors: Option<&TriangleColors>,
        default: Color,
    ) -> Option<(Self, Option<SolidColors>)> {
        let (Shape::Mesh(mesh), Some(colors)) = (shape, colors) else {
            return Some((Self::from_shape(shape)?, None));
        };
        let (solid, origins) = Self::with_creases(mesh, CREASE_COSINE);
        let color = |triangle: &usize| colors.of(*triangle).unwrap_or(default);
        let vertices = origins.triangles.iter().flat_map(|triangle| [color(triangle); 3]).collect();
        let creases = origins.creases.iter().map(color).collect();
        Some((solid, Some(SolidColors { vertices, creases })))
    }

    fn with_creases(mesh: &SurfaceMesh, crease_cosine: f64) -> (Self, Origins) {
        let joined = joined_vertices(&mesh.vertices);
        let (mut solid, mut origins) = (Self::default(), Origins::default());
        let mut faces: Vec<([u32; 3], [u32; 3], Vector3)> = Vec::new();
        for (number, triangle) in mesh.triangles.iter().enumerate() {
            let at = |i: usize| mesh.vertices.get(triangle[i] as usize).copied();
            let (Some(a), Some(b), Some(c)) = (at(0), at(1), at(2)) else { continue };
            let cross = (b - a).cross(&(c - a));
            if cross.norm() > 0.0 && cross.norm().is_finite() {
                origins.triangles.push(number);
                faces.push((*triangle, triangle.map(|vertex| joined[vertex as usize]), cross));
            }
        }
        let mut around: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut edges: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
        for (face, (_, corners, _)) in faces.iter().enumerate() {
            for i in 0..3 {
                let (a, b) = (corners[i], corners[(i + 1) % 3]);
                around.entry(a).or_default().push(face);
                edges.entry((a.min(b), a.max(b))).or_default().push(face);
            }
        }
        let smooth = |a: &Vector3, b: &Vector3| a.dot(b) >= crease_cosine * a.norm() * b.norm();
        for (triangle, corners, cross) in &faces {
            let start = solid.vertices.len() as u32;
            for i in 0..3 {
                let near = around.get(&corners[i]).map_or(&[][..], Vec::as_slice);
                let sum: Vector3 = near.iter().map(|face| faces[*face].2).filter(|other| smooth(cross, other)).sum();
                solid.vertices.push(mesh.vertices[triangle[i] as usize]);
                solid.normals.push(if sum.norm() > 0.0 { sum.normalize() } else { cross.normalize() });
            }
            solid.triangles.push([start, start + 1, start + 2]);
        }
        for ((a, b), sharing) in &edges {
            let sharp = match sharing.as_slice() {
                [one, other] => !smooth(&faces[*one].2, &faces[*other].2),
                _ => true,
            };
            if sharp {
                solid.creases.push([mesh.vertices[*a as usize], mesh.vertices[*b as usize]]);
                origins.creases.extend(sharing.first().map(|face| origins.triangles[*face]));
            }
        }
        (solid, origins)
    }

    /// The solid of a shape; `None` for a half space.
    pub fn from_shape(shape: &Shape) -> Option<Self> {
        match shape {
            Shape::Sphere { radius } => Some(Self::ellipsoid(&Vector3::repeat(*radius))),
            Shape::Ellipsoid { semi_axes } => Some(Self::ellipsoid(semi_axes)),
            Shape::Box { size } => Some(Self::cuboid(size)),
            Shape::Cylinder { radius, length } => {
                let half = 0.5 * length;
                Some(Self::turned(&[(0.0, -half), (*radius, -half), (*radius, half), (0.0, half)]))
            }
            Shape::Capsule { radius, length } => {
                let cap = |k: usize| (0.5 * PI * k as f64 / QUARTER as f64).sin_cos();
                let below = (0..=QUARTER).map(|k| (radius * cap(k).0, -0.5 * length - radius * cap(k).1));
                let above = (0..=QUARTER).rev().map(|k| (radius * cap(k).0, 0.5 * length + radius * cap(k).1));
                Some(Self::turned(&below.chain(above).collect::<Vec<_>>()))
            }
            Shape::HalfSpace => None,
            Shape::Mesh(mesh) => Some(Self::from_surface(mesh)),
            Shape::Convex(mesh) => Some(
                make::hull(&mesh.vertices).map_or_else(|_| Self::from_surface(mesh), |hull| Self::from_surface(&hull)),
            ),
            Shape::Volume { mesh, .. } => Some(Self::from_surface(&boundary_or_nothing(mesh))),
        }
    }

    /// A box with its centre at the origin and full edge lengths `size` \[m\].
    pub fn cuboid(size: &Vector3) -> Self {
        let corner = |k: usize| {
            let side = |bit: usize| if k >> bit & 1 == 1 { 0.5 } else { -0.5 };
            Vector3::new(side(0) * size.x, side(1) * size.y, side(2) * size.z)
        };
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        Self::from_surface(&SurfaceMesh { vertices: (0..8).map(corner).collect(), triangles })
    }

    /// An ellipsoid about the origin \[m\].
    pub fn ellipsoid(semi_axes: &Vector3) -> Self {
        let meridian: Vec<(f64, f64)> = (0..=2 * QUARTER)
            .map(|k| (0.5 * PI * (k as f64 / QUARTER as f64 - 1.0)).sin_cos())
            .map(|(sine, cosine)| (cosine.max(0.0), sine))
            .collect();
        let mut solid = Self::turned(&meridian);
        solid.creases.clear();
        for (vertex, normal) in solid.vertices.iter_mut().zip(&mut solid.normals) {
            *normal = vertex.component_div(semi_axes);
            vertex.component_mul_assign(semi_axes);
        }
        solid
    }

    /// An arrow from the origin along z: `length` with its head, `radius` of its shaft \[m\].
    pub fn arrow(length: f64, radius: f64) -> Self {
        let head = (6.0 * radius).min(0.6 * length);
        let neck = length - head;
        Self::turned(&[(0.0, 0.0), (radius, 0.0), (radius, neck), (2.4 * radius, neck), (0.0, length)])
    }

    /// The solid of revolution about z of the profile of (radius, z) points \[m\], from below to above.
    fn turned(profile: &[(f64, f64)]) -> Self {
        let mut mesh = SurfaceMesh::default();
        for (radius, z) in profile {
            for k in 0..SEGMENTS {
                let (sine, cosine) = (TAU * k as f64 / SEGMENTS as f64).sin_cos();
                mesh.vertices.push(Vector3::new(radius * cosine, radius * sine, *z));
            }
        }
        for ring in 1..profile.len() {
            let (low, high) = ((ring - 1) * SEGMENTS, ring * SEGMENTS);
            for k in 0..SEGMENTS {
                let next = (k + 1) % SEGMENTS;
                let [a, b, c, d] = [low + k, low + next, high + next, high + k].map(|vertex| vertex as u32);
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        // Corners that coincide on the axis make triangles without area, which from_surface leaves out.
        Self::from_surface(&mesh)
    }
}

/// For each vertex the first with the same position.
fn joined_vertices(vertices: &[Vector3]) -> Vec<u32> {
    let mut first: BTreeMap<[u64; 3], u32> = BTreeMap::new();
    let key = |vertex: &Vector3| [vertex.x, vertex.y, vertex.z].map(|x| (x + 0.0).to_bits());
    vertices.iter().enumerate().map(|(index, vertex)| *first.entry(key(vertex)).or_insert(index as u32)).collect()
}

/// The boundary of a volume; empty for an invalid mesh.
pub(super) fn boundary_or_nothing(mesh: &VolumeMesh) -> SurfaceMesh {
    make::boundary(mesh).unwrap_or_default()
}
