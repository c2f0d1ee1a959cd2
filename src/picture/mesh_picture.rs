//! A tetrahedral mesh: its surface with edges, and beside it a section with the pressure inside.

use super::camera::{Camera, Projection};
use super::canvas::{Canvas, Paint, check_size};
use super::color::{Color, ColorScale, PAPER};
use super::image::{Align, Image};
use super::patches::{FaceStyle, Faces};
use super::solid::{Solid, boundary_or_nothing};
use super::{INK, PictureError, frame, legend};
use crate::geometry::{Aabb, SurfaceMesh, VolumeMesh};
use crate::math::{RigidTransform, Vector3};

/// The number of contour lines between zero and the largest pressure.
const CONTOURS: usize = 7;
/// Colour of the surface and of the edges.
const SURFACE: Color = [0.62, 0.68, 0.76];
const EDGE: Color = [0.16, 0.20, 0.28];
/// Components of the view direction along the normal of the cut and the other axes of the box. \[-\]
const OBLIQUE: (f64, f64, f64) = (0.82, -0.42, 0.38);
/// Lines are drawn in front of faces that are nearer by less than this, as a share of the depth. \[-\]
const LIFT: f64 = 2e-3;
/// Angle between the lower and upper edge of a panel \[rad\]: nearly parallel, so that sizes compare.
const FIELD_OF_VIEW: f64 = 0.25;

/// Draws `volume`: on the left its surface with all edges, on the right a section of the mesh through the
/// middle of its box, across the shortest side, with `pressure` \[Pa\] at the vertices in colours, the edges
/// of the cut tetrahedra and lines of equal pressure.
///
/// # Errors
/// A bad size, a mesh without tetrahedra, indices out of range, different numbers of pressures and vertices.
pub fn mesh_preview(
    volume: &VolumeMesh,
    pressure: &[f64],
    title: &str,
    subtitle: &str,
    (width, height): (usize, usize),
) -> Result<Image, PictureError> {
    check_size(width, height)?;
    check_mesh(volume, pressure)?;
    let nothing = PictureError::Empty { what: "the mesh has no tetrahedra with finite corners" };
    let (middle, _) = frame::ball(volume.vertices.iter().copied()).ok_or(nothing)?;
    let size = legend::text_size(height);
    let (top, right, caption) = ((7.0 * size) as usize, (10.0 * size) as usize, (3.0 * size) as usize);
    let columns = width.saturating_sub(right) / 2;
    let rows = height.saturating_sub(top + caption);
    check_size(columns, rows)?;
    let axes = axes(volume);
    let away = axes[0] * OBLIQUE.0 + axes[1] * OBLIQUE.1 + axes[2] * OBLIQUE.2;
    let projection = Projection::Perspective { field_of_view: FIELD_OF_VIEW };
    let look = |target: Vector3, distance: f64| {
        Camera::look_at(&(target + away.normalize() * distance), &target, &Vector3::z(), projection)
    };
    let aspect = columns as f64 / rows as f64;
    let points = volume.vertices.iter().copied();
    let framed = frame::fit(points, &look(middle, 1.0), FIELD_OF_VIEW, aspect, (None, None));
    let (target, distance) = framed.unwrap_or((middle, 1.0));
    let camera = look(target, distance);
    let surface = boundary_or_nothing(volume);
    let scale = ColorScale::from_zero(pressure.iter().copied());
    let levels = scale.levels(CONTOURS);
    let mut image = Image::new(width, height, PAPER);

    let mut canvas = Canvas::new(columns, rows, camera, PAPER)?;
    draw_surface(&mut canvas, &surface)?;
    image.paste(&canvas.finish(), 0, top);

    let mut canvas = Canvas::new(columns, rows, camera, PAPER)?;
    let plane = Plane { point: middle, normal: axes[0] };
    draw_surface(&mut canvas, &plane.behind(&surface))?;
    let style =
        FaceStyle { scale, levels: &levels, contours: (1.4, [1.0; 3]), edges: (0.7, EDGE), alpha: 1.0, lift: LIFT };
    let cut = plane.cut(volume, pressure);
    cut.faces().draw(&mut canvas, &style)?;
    image.paste(&canvas.finish(), columns, top);

    let line = height as f64 - 1.8 * size;
    let surface_text = format!("{} triangles around {} tetrahedra", surface.triangles.len(), volume.tets.len());
    for (text, column) in [(surface_text, 0.5), (format!("cut: {} tetrahedra", cut.ends.len()), 1.5)] {
        image.text(&text, [column * columns as f64, line], size, Align::Center, INK);
    }
    legend::title(&mut image, title, subtitle);
    let bar = [width as f64 - 0.66 * right as f64, top as f64 + 0.10 * rows as f64];
    legend::pressure_bar(&mut image, &scale, &levels, bar, 0.70 * rows as f64);
    let pixel = camera.pixel_size(distance, rows as f64);
    legend::scale_bar(&mut image, pixel, [width as f64 - 1.6 * size, line], 0.75 * right as f64);
    legend::triad(&mut image, &camera, [4.0 * size, height as f64 - 6.0 * size], 2.4 * size);
    Ok(image)
}

fn check_mesh(volume: &VolumeMesh, pressure: &[f64]) -> Result<(), PictureError> {
    let vertices = volume.vertices.len();
    if pressure.len() != vertices {
        return Err(PictureError::ValueCount { values: pressure.len(), vertices });
    }
    if volume.tets.is_empty() {
        return Err(PictureError::Empty { what: "the mesh has no tetrahedra" });
    }
    for (element, tet) in volume.tets.iter().enumerate() {
        if let Some(&vertex) = tet.iter().find(|vertex| **vertex as usize >= vertices) {
            return Err(PictureError::VertexIndex { element, vertex, vertices });
        }
    }
    Ok(())
}

/// The axes of the mesh's box: the one along its shortest side, then the other two; z is the last unless it
/// is the first.
fn axes(volume: &VolumeMesh) -> [Vector3; 3] {
    let size = Aabb::around(&volume.vertices).half_extents();
    match size {
        s if s.y <= s.x && s.y <= s.z => [-Vector3::y(), -Vector3::x(), Vector3::z()],
        s if s.x <= s.z => [Vector3::x(), -Vector3::y(), Vector3::z()],
        _ => [Vector3::z(), Vector3::y(), Vector3::x()],
    }
}

/// Draws triangles with all their edges.
fn draw_surface(canvas: &mut Canvas, surface: &SurfaceMesh) -> Result<(), PictureError> {
    let solid = Solid::from_surface(surface);
    canvas.solid(&solid, &RigidTransform::identity(), &Paint::plain(SURFACE, 1.0))?;
    for triangle in &solid.triangles {
        for i in 0..3 {
            let [a, b] = [triangle[i], triangle[(i + 1) % 3]].map(|vertex| solid.vertices[vertex as usize]);
            canvas.line(&a, &b, 0.7, EDGE, LIFT);
        }
    }
    Ok(())
}

/// The section of the mesh.
struct Plane {
    point: Vector3,
    normal: Vector3,
}

/// The polygons in the plane.
#[derive(Default)]
struct Cut {
    corners: Vec<Vector3>,
    pressure: Vec<f64>,
    ends: Vec<u32>,
}

impl Cut {
    fn faces(&self) -> Faces<'_> {
        Faces { corners: &self.corners, pressure: &self.pressure, ends: &self.ends }
    }
}

impl Plane {
    fn height(&self, p: &Vector3) -> f64 {
        (p - self.point).dot(&self.normal)
    }

    /// The part of a surface that is not in front of the plane.
    fn behind(&self, surface: &SurfaceMesh) -> SurfaceMesh {
        let mut kept = SurfaceMesh::default();
        for triangle in &surface.triangles {
            let corners = triangle.map(|vertex| surface.vertices[vertex as usize]);
            let mut polygon = Vec::with_capacity(4);
            for (i, a) in corners.iter().enumerate() {
                let b = &corners[(i + 1) % 3];
                let (p, q) = (self.height(a), self.height(b));
                if p <= 0.0 {
                    polygon.push(*a);
                }
                if (p <= 0.0) != (q <= 0.0) {
                    polygon.push(a + (b - a) * (p / (p - q)));
                }
            }
            let start = kept.vertices.len() as u32;
            kept.triangles.extend((2..polygon.len() as u32).map(|i| [start, start + i - 1, start + i]));
            kept.vertices.extend(polygon);
        }
        kept
    }

    /// The section of each tetrahedron with the plane: a triangle or a quadrangle. A vertex on the plane
    /// counts as in front of it.
    fn cut(&self, volume: &VolumeMesh, pressure: &[f64]) -> Cut {
        let mut cut = Cut::default();
        for tet in &volume.tets {
            let (before, behind): (Vec<u32>, Vec<u32>) =
                tet.iter().partition(|vertex| self.height(&volume.vertices[**vertex as usize]) >= 0.0);
            let edges: Vec<(u32, u32)> = match (before.as_slice(), behind.as_slice()) {
                ([a], [b, c, d]) | ([b, c, d], [a]) => vec![(*a, *b), (*a, *c), (*a, *d)],
                ([a, b], [c, d]) => vec![(*a, *c), (*a, *d), (*b, *d), (*b, *c)],
                _ => continue,
            };
            for (a, b) in edges {
                let (p, q) = (volume.vertices[a as usize], volume.vertices[b as usize]);
                let t = self.height(&p) / (self.height(&p) - self.height(&q));
                cut.corners.push(p + (q - p) * t);
                cut.pressure.push(pressure[a as usize] + t * (pressure[b as usize] - pressure[a as usize]));
            }
            cut.ends.push(cut.corners.len() as u32);
        }
        cut
    }
}
