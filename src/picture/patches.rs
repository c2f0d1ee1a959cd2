//! Drawn contact faces: polygons with pressures at their corners, edges and lines of equal pressure.

use super::PictureError;
use super::canvas::{Canvas, Coat, Paint};
use super::color::{Color, ColorScale};
use super::contour::contour;
use super::light::Gloss;
use super::solid::Solid;
use crate::geometry::ContactSurface;
use crate::math::{RigidTransform, Vector3};
use crate::stepping::PatchFaces;

/// Contact faces: corners, one face after the other, the pressure at each, and the end of each face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Faces<'a> {
    pub(super) corners: &'a [Vector3],
    pub(super) pressure: &'a [f64],
    pub(super) ends: &'a [u32],
}

impl<'a> From<&'a ContactSurface> for Faces<'a> {
    fn from(surface: &'a ContactSurface) -> Self {
        Self { corners: &surface.corners, pressure: &surface.corner_pressure, ends: &surface.corner_ends }
    }
}

impl<'a> From<&'a PatchFaces> for Faces<'a> {
    fn from(faces: &'a PatchFaces) -> Self {
        Self { corners: &faces.vertices_W, pressure: &faces.vertex_pressure, ends: &faces.vertex_ends }
    }
}

/// The style of the faces.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaceStyle<'a> {
    pub(super) scale: ColorScale,
    /// Pressures of the contour lines \[Pa\].
    pub(super) levels: &'a [f64],
    /// Width \[px\] and colour of the contour lines.
    pub(super) contours: (f64, Color),
    /// Width \[px\] and colour of the faces' edges; a width of 0 draws none.
    pub(super) edges: (f64, Color),
    /// 1 is opaque, less is transparent.
    pub(super) alpha: f32,
    /// Faces are drawn in front of surfaces that are nearer by less than this share of the depth; edges
    /// within twice that, contour lines within three times. \[-\]
    pub(super) lift: f64,
}

impl<'a> Faces<'a> {
    /// Corners and pressures of each face; invalid ends give no face.
    fn each(&self) -> impl Iterator<Item = (&'a [Vector3], &'a [f64])> {
        let (corners, pressure) = (self.corners, self.pressure);
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(self.ends).filter_map(move |(start, end)| {
            let range = start as usize..*end as usize;
            Some((corners.get(range.clone())?, pressure.get(range)?))
        })
    }

    /// Draws the faces, their edges and the contour lines.
    pub(super) fn draw(&self, canvas: &mut Canvas, style: &FaceStyle<'_>) -> Result<(), PictureError> {
        let (mut solid, mut values, mut lines) = (Solid::default(), Vec::new(), Vec::new());
        for (corners, pressure) in self.each() {
            let normal = polygon_normal(corners);
            let start = solid.vertices.len() as u32;
            solid.vertices.extend(corners);
            solid.normals.extend(corners.iter().map(|_| normal));
            values.extend(pressure);
            solid.triangles.extend((2..corners.len() as u32).map(|i| [start, start + i - 1, start + i]));
            style.levels.iter().for_each(|level| contour(corners, pressure, *level, &mut lines));
        }
        let paint = Paint { coat: Coat::Values(&values, style.scale), alpha: style.alpha, gloss: Gloss::Chart };
        canvas.solid_lifted(&solid, &RigidTransform::identity(), &paint, style.lift)?;
        let (width, color) = style.edges;
        for (corners, _) in self.each().filter(|_| width > 0.0) {
            for (i, a) in corners.iter().enumerate() {
                canvas.line(a, &corners[(i + 1) % corners.len()], width, color, 2.0 * style.lift);
            }
        }
        let (width, color) = style.contours;
        lines.iter().for_each(|[a, b]| canvas.line(a, b, width, color, 3.0 * style.lift));
        Ok(())
    }
}

/// Twice the area of the polygon times its normal.
fn polygon_normal(corners: &[Vector3]) -> Vector3 {
    let Some(first) = corners.first() else { return Vector3::zeros() };
    corners.windows(2).map(|ends| (ends[0] - first).cross(&(ends[1] - first))).sum()
}
