//! A scene at one instant: its bodies, the ground, the contact patches and their forces.

use super::camera::{Camera, Projection};
use super::canvas::{Canvas, Paint, check_size};
use super::color::{Color, ColorScale, INK, PAPER, round_down, scaled};
use super::ground::Ground;
use super::image::{Align, Image};
use super::patches::{FaceStyle, Faces};
use super::solid::Solid;
use super::{PictureError, frame, legend};
use crate::geometry::Shape;
use crate::math::{BodyIndex, Index, RigidTransform, Rotation, Vector3};
use crate::scene::{Scene, VisualGeometry};
use crate::stepping::{ContactPatch, Snapshot};

/// Angle between the lower and the upper edge of the picture [rad].
const FIELD_OF_VIEW: f64 = 0.6;
/// Contour lines between none and the largest pressure.
const CONTOURS: usize = 7;
/// How opaque the bodies at a patch are where the patch is to be seen.
const GLASS: f32 = 0.22;
/// Colours of bodies that name none.
const COLORS: [Color; 6] = [
    [0.42, 0.56, 0.72],
    [0.80, 0.60, 0.38],
    [0.50, 0.66, 0.52],
    [0.70, 0.50, 0.58],
    [0.56, 0.54, 0.70],
    [0.66, 0.64, 0.50],
];

/// From where a scene is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// About z from the x axis [rad].
    pub azimuth: f64,
    /// Above the horizontal [rad].
    pub elevation: f64,
    /// From the target [m]; far enough to see everything where absent.
    pub distance: Option<f64>,
    /// What is looked at p_WT [m]; the middle of everything where absent.
    pub target_W: Option<Vector3>,
}

impl Default for View {
    /// From the front and the right, a little from above.
    fn default() -> Self {
        Self { azimuth: -0.9, elevation: 0.42, distance: None, target_W: None }
    }
}

/// What a picture of a scene shows.
#[derive(Clone, Copy, Debug)]
pub struct ScenePicture<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// The instant.
    pub snapshot: &'a Snapshot,
    /// What the bodies look like. A body without shows its collision geometries.
    pub visuals: &'a [VisualGeometry],
    /// From where it is seen.
    pub view: View,
    /// Look at the contact patches, with the bodies that touch made of glass, in their collision geometries.
    pub contact: bool,
    /// Columns and rows [px].
    pub size: (usize, usize),
    /// Written above.
    pub title: &'a str,
}

/// A solid, its pose and its colour.
struct Part {
    solid: Solid,
    X_WS: RigidTransform,
    color: Color,
    alpha: f32,
}

/// Draws the scene.
///
/// # Errors
/// A bad size, no patch where the patches are to be seen, or a scene without anything to see.
pub fn scene_picture(picture: &ScenePicture<'_>) -> Result<Image, PictureError> {
    let (width, height) = picture.size;
    check_size(width, height)?;
    let patches = picture.snapshot.contact_patches();
    if picture.contact && patches.is_empty() {
        let what = "nothing touches at this time; choose another time, or leave the contact view";
        return Err(PictureError::Empty { what });
    }
    let parts = parts(picture);
    let solids: Vec<_> = parts.iter().filter(|part| part.alpha > 0.3).map(|part| (&part.solid, part.X_WS)).collect();
    let whole = frame::ball(corners(&parts)).unwrap_or((Vector3::zeros(), 0.5));
    let seen = match frame::ball(patches.iter().flat_map(|patch| patch.faces.vertices_W.iter().copied())) {
        Some((center, radius)) if picture.contact => (center, 2.2 * radius),
        _ => whole,
    };
    let aspect = width as f64 / height as f64;
    let target = picture.view.target_W.unwrap_or(seen.0);
    let distance = picture.view.distance.unwrap_or_else(|| frame::distance(seen.1.max(1e-6), FIELD_OF_VIEW, aspect));
    let projection = Projection::Perspective { field_of_view: FIELD_OF_VIEW };
    let camera = Camera::orbit(&target, picture.view.azimuth, picture.view.elevation, distance, projection);
    let mut canvas = Canvas::new(width, height, camera, PAPER)?;
    canvas.ground(&ground(picture.scene, picture.snapshot, whole), &solids);
    draw_parts(&mut canvas, &parts)?;
    let pressures = patches.iter().flat_map(|patch| patch.faces.vertex_pressure.iter().copied());
    let scale = ColorScale::from_zero(pressures);
    let levels = scale.levels(CONTOURS);
    let edges = if picture.contact { 0.5 } else { 0.0 };
    let style = FaceStyle { scale, levels: &levels, contours: (1.6, [1.0; 3]), edges: (edges, [0.12, 0.14, 0.2]) };
    for patch in patches {
        Faces::from(&patch.faces).draw(&mut canvas, &style)?;
    }
    canvas.flatten();
    let labels = draw_forces(&mut canvas, patches, 0.30 * seen.1)?;
    let mut image = canvas.finish();
    explain(&mut image, picture, &camera, distance);
    if !patches.is_empty() {
        let size = legend::text_size(height);
        let bar = [width as f64 - 7.2 * size, 0.24 * height as f64];
        legend::pressure_bar(&mut image, &scale, &levels, bar, 0.42 * height as f64);
    }
    let size = legend::text_size(height);
    for (text, [x, y]) in labels {
        image.text(&text, [x, y], size, Align::Center, INK);
    }
    Ok(image)
}

/// Title, axes and scale.
fn explain(image: &mut Image, picture: &ScenePicture<'_>, camera: &Camera, distance: f64) {
    let (width, height) = (image.width() as f64, image.height() as f64);
    let size = legend::text_size(image.height());
    let snapshot = picture.snapshot;
    let patches = snapshot.contact_patches();
    let faces: usize = patches.iter().map(|patch| patch.faces.area.len()).sum();
    let area: f64 = patches.iter().map(|patch| patch.area).sum();
    let contact = match patches.len() {
        0 => "no contact".to_owned(),
        1 => format!("1 contact patch, {faces} faces, {:.1} cm\u{b2}", area * 1e4),
        count => format!("{count} contact patches, {faces} faces, {:.1} cm\u{b2}", area * 1e4),
    };
    legend::title(image, picture.title, &format!("t = {:.3} s: {contact}", snapshot.time_ns as f64 * 1e-9));
    legend::triad(image, camera, [5.0 * size, height - 5.0 * size], 3.0 * size);
    let pixel = camera.pixel_size(distance, height);
    legend::scale_bar(image, pixel, [width - 2.5 * size, height - 2.5 * size], 0.18 * width);
}

/// All solids of the scene where they are.
fn parts(picture: &ScenePicture<'_>) -> Vec<Part> {
    let (scene, snapshot) = (picture.scene, picture.snapshot);
    let touches = |body: BodyIndex| {
        picture.contact && snapshot.contact_patches().iter().any(|patch| patch.body_A == body || patch.body_B == body)
    };
    let pose = |body: BodyIndex| snapshot.X_WB.get(body).copied().unwrap_or_else(RigidTransform::identity);
    let own_color = |body: BodyIndex| COLORS[body.to_usize() % COLORS.len()];
    let mut parts = Vec::new();
    for visual in picture.visuals.iter().filter(|visual| !touches(visual.body)) {
        let Some(solid) = Solid::from_shape(&visual.shape) else { continue };
        let [r, g, b, a] = visual.color.map_or([0.0; 4], |color| color.map(|channel| channel as f32));
        let (color, alpha) = if visual.color.is_some() { ([r, g, b], a) } else { (own_color(visual.body), 1.0) };
        parts.push(Part { solid, X_WS: pose(visual.body) * visual.X_BV, color, alpha });
    }
    for geometry in scene.geometries().iter() {
        let seen = picture.visuals.iter().find(|visual| visual.body == geometry.body);
        let glass = touches(geometry.body);
        if seen.is_some() && !glass {
            continue;
        }
        let Some(solid) = Solid::from_shape(&geometry.shape) else { continue };
        let named = seen.and_then(|visual| visual.color).map(|[r, g, b, _]| [r as f32, g as f32, b as f32]);
        let color = named.unwrap_or_else(|| own_color(geometry.body));
        let alpha = if glass { GLASS } else { 1.0 };
        parts.push(Part { solid, X_WS: pose(geometry.body) * geometry.X_BG, color, alpha });
    }
    parts
}

fn corners(parts: &[Part]) -> impl Iterator<Item = Vector3> + Clone {
    parts.iter().flat_map(|part| {
        part.solid.vertices.iter().map(|vertex| part.X_WS.rotation * vertex + part.X_WS.translation.vector)
    })
}

fn draw_parts(canvas: &mut Canvas, parts: &[Part]) -> Result<(), PictureError> {
    for part in parts {
        canvas.solid(&part.solid, &part.X_WS, &Paint::plain(part.color, part.alpha))?;
        let place = |p: &Vector3| part.X_WS.rotation * p + part.X_WS.translation.vector;
        for [a, b] in &part.solid.creases {
            canvas.line(&place(a), &place(b), 0.9, scaled(part.color, 0.55), 6e-4);
        }
    }
    Ok(())
}

/// The ground of the scene, or a plane below everything that gives the eye a hold.
fn ground(scene: &Scene, snapshot: &Snapshot, (center, radius): (Vector3, f64)) -> Ground {
    let half_space = scene.geometries().iter().find(|geometry| matches!(geometry.shape, Shape::HalfSpace));
    let X_WG = match half_space {
        Some(geometry) => snapshot.X_WB.get(geometry.body).map_or(geometry.X_BG, |X_WB| X_WB * geometry.X_BG),
        None => RigidTransform::translation(0.0, 0.0, (center.z - radius).min(0.0)),
    };
    Ground { X_WG, spacing: round_down(0.25 * radius.max(1e-6)), center_W: center, reach: 4.0 * radius.max(1e-6) }
}

/// Draws the net force of each patch as an arrow at its centroid, the largest `longest` [m] long, and returns the texts beside
/// them and their places on the picture. The force is the one on B: it ends at the patch, or begins there where A is fixed.
fn draw_forces(
    canvas: &mut Canvas,
    patches: &[ContactPatch],
    longest: f64,
) -> Result<Vec<(String, [f64; 2])>, PictureError> {
    let largest = patches.iter().map(|patch| patch.F_BC_W.f.norm()).fold(0.0, f64::max);
    let mut labels = Vec::new();
    for patch in patches {
        let force = patch.F_BC_W.f;
        let length = longest * force.norm() / largest;
        let Some(direction) = force.try_normalize(0.0).filter(|_| length > 0.02 * longest) else { continue };
        let along = direction * length;
        let start = if patch.body_A == BodyIndex::WORLD { patch.p_WC } else { patch.p_WC - along };
        let R_WS = Rotation::rotation_between(&Vector3::z(), &direction)
            .unwrap_or_else(|| Rotation::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI));
        let X_WS = RigidTransform::from_parts(start.into(), R_WS);
        canvas.solid(&Solid::arrow(length, 0.028 * longest), &X_WS, &Paint::plain([0.20, 0.22, 0.28], 1.0))?;
        let end = if patch.body_A == BodyIndex::WORLD { start + along * 1.15 } else { start - along * 0.15 };
        if let Some(at) = canvas.locate(&end) {
            labels.push((format!("{:.1} N", force.norm()), at));
        }
    }
    Ok(labels)
}
