//! One vertex for all corners at the same position.

use std::collections::BTreeMap;

use crate::geometry::{SurfaceMesh, TriangleColors};
use crate::math::Vector3;

/// Red, green and blue in 0..1, as a screen shows them (sRGB).
pub(super) type Color = [f32; 3];

/// Collects triangles by their corners' positions; equal positions become one vertex, in order of first
/// appearance.
#[derive(Default)]
pub(super) struct Welder {
    mesh: SurfaceMesh,
    index: BTreeMap<[u64; 3], u32>,
    /// Present if the colours are wanted.
    paint: Option<Paint>,
}

/// The colours so far, and that of the triangles to come.
#[derive(Default)]
struct Paint {
    colors: TriangleColors,
    places: BTreeMap<Option<[u32; 3]>, u32>,
    current: u32,
}

impl Paint {
    fn choose(&mut self, color: Option<Color>) {
        let next = self.colors.palette.len() as u32;
        self.current = *self.places.entry(color.map(|color| color.map(f32::to_bits))).or_insert(next);
        if self.current == next {
            self.colors.palette.push(color);
        }
    }
}

impl Welder {
    /// Collects the colours of the triangles too.
    pub(super) fn with_colors() -> Self {
        let mut paint = Paint::default();
        paint.choose(None);
        Self { paint: Some(paint), ..Self::default() }
    }

    /// Whether the colours of the triangles are wanted.
    pub(super) fn wants_colors(&self) -> bool {
        self.paint.is_some()
    }

    /// The triangles to come have this colour; it is looked up only if it is wanted.
    pub(super) fn color(&mut self, color: impl FnOnce() -> Option<Color>) {
        if let Some(paint) = &mut self.paint {
            paint.choose(color());
        }
    }

    fn vertex(&mut self, position: Vector3) -> u32 {
        // Adding zero makes -0 and 0 the same bits.
        let key = [position.x, position.y, position.z].map(|x| (x + 0.0).to_bits());
        let next = self.mesh.vertices.len() as u32;
        let index = *self.index.entry(key).or_insert(next);
        if index == next {
            self.mesh.vertices.push(position);
        }
        index
    }

    pub(super) fn triangle(&mut self, corners: [Vector3; 3]) {
        let [a, b, c] = corners.map(|corner| self.vertex(corner));
        if a != b && b != c && c != a {
            self.mesh.triangles.push([a, b, c]);
            if let Some(paint) = &mut self.paint {
                paint.colors.of_triangle.push(paint.current);
            }
        }
    }

    /// The surface, and the colours of its triangles if any has one.
    pub(super) fn finish(self) -> (SurfaceMesh, Option<TriangleColors>) {
        let colors = self.paint.map(|paint| paint.colors);
        (self.mesh, colors.filter(|colors| colors.palette.iter().any(Option::is_some)))
    }
}
