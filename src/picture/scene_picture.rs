//! A scene at one instant: its bodies, the ground, the contact patches and their forces.

use super::camera::{Camera, Projection};
use super::canvas::{Canvas, Paint, check_size};
use super::color::{Color, ColorScale, PAPER, round_down, scaled};
use super::ground::Ground;
use super::image::Image;
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
/// How much of what is before them the patches hide in the view of the whole scene.
const SHINE: f32 = 0.85;
/// A patch whose normal is steeper than this lies flat. [-] sin(45 degrees)
const LYING: f64 = 0.7;
/// Forces are drawn in this colour, which no pressure has.
const FORCE: Color = [0.80, 0.16, 0.55];
/// The ground is drawn for a scene of this radius at least [m].
const RADIUS_MIN: f64 = 1e-6;
/// Colours of bodies that name none.
const COLORS: [Color; 6] = [
    [0.42, 0.56, 0.72],
    [0.80, 0.60, 0.38],
    [0.50, 0.66, 0.52],
    [0.70, 0.50, 0.58],
    [0.56, 0.54, 0.70],
    [0.66, 0.64, 0.50],
];

/// From where a scene is seen; what is absent is chosen so that everything is in the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    /// Azimuth, about z from the x axis, and elevation above the horizontal [rad]. Where absent, from the front and a little from
    /// above; in the contact view so that the largest patch faces the eye.
    pub direction: Option<(f64, f64)>,
    /// From the target [m].
    pub distance: Option<f64>,
    /// What is looked at p_WT [m].
    pub target_W: Option<Vector3>,
    /// Leave out the arrows of the contact forces.
    pub without_forces: bool,
}

/// Azimuth and elevation of a scene [rad].
const DIRECTION: (f64, f64) = (-0.75, 0.62);
/// Azimuth and elevation away from the normal of a patch [rad].
const ASIDE: (f64, f64) = (0.62, 0.34);

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
    let solids: Vec<_> = parts.iter().filter(|part| part.alpha > GLASS).map(|part| (&part.solid, part.X_WS)).collect();
    let whole = frame::ball(corners(&parts)).unwrap_or((Vector3::zeros(), 0.5));
    let projection = Projection::Perspective { field_of_view: FIELD_OF_VIEW };
    let (azimuth, elevation) = picture.view.direction.unwrap_or_else(|| direction(picture));
    let orbit = |target: &Vector3, distance| Camera::orbit(target, azimuth, elevation, distance, projection);
    let fixed = (picture.view.target_W, picture.view.distance);
    let aspect = width as f64 / height as f64;
    let framed = frame::fit(corners(&parts), &orbit(&whole.0, 1.0), FIELD_OF_VIEW, aspect, fixed);
    let (target, distance) = framed.unwrap_or((whole.0, 2.0));
    let camera = orbit(&target, distance);
    let mut canvas = Canvas::new(width, height, camera, PAPER)?;
    canvas.ground(&ground(picture, &parts, whole), &solids);
    draw_parts(&mut canvas, &parts)?;
    let pressures = patches.iter().flat_map(|patch| patch.faces.vertex_pressure.iter().copied());
    let scale = ColorScale::from_zero(pressures);
    let levels = scale.levels(CONTOURS);
    let line = [0.12, 0.14, 0.2];
    let style =
        FaceStyle { scale, levels: &levels, contours: (1.6, [1.0; 3]), edges: (0.6, line), alpha: 1.0, lift: 1e-3 };
    // where the bodies are not of glass, the patches shine through them
    let style = if picture.contact {
        style
    } else {
        FaceStyle { edges: (0.0, line), contours: (1.0, [1.0; 3]), alpha: SHINE, ..style }
    };
    if !picture.contact {
        canvas.flatten();
    }
    for patch in patches {
        Faces::from(&patch.faces).draw(&mut canvas, &style)?;
    }
    canvas.flatten();
    let shown = if picture.view.without_forces { &[] } else { patches };
    let labels = draw_forces(&mut canvas, shown, 0.22 * whole.1)?;
    let mut image = canvas.finish();
    explain(&mut image, picture, &camera, distance);
    // contact points of rigid bodies have forces but no pressure
    if patches.iter().any(|patch| !patch.faces.vertex_pressure.is_empty()) {
        let size = legend::text_size(height);
        let bar = [width as f64 - 7.2 * size, 0.24 * height as f64];
        legend::pressure_bar(&mut image, &scale, &levels, bar, 0.42 * height as f64);
    }
    for (text, at) in labels {
        legend::label(&mut image, &text, at);
    }
    Ok(image)
}

/// From where to look, when nothing says it: azimuth and elevation [rad].
fn direction(picture: &ScenePicture<'_>) -> (f64, f64) {
    let patches = picture.snapshot.contact_patches().iter();
    let largest = patches.max_by(|a, b| a.area.total_cmp(&b.area)).filter(|_| picture.contact);
    let Some(faces) = largest.map(|patch| &patch.faces) else { return DIRECTION };
    let sum: Vector3 = faces.normal_W.iter().zip(&faces.area).map(|(normal, area)| normal * *area).sum();
    let Some(normal) = sum.try_normalize(0.0) else { return DIRECTION };
    if normal.z.abs() > LYING {
        return DIRECTION;
    }
    // of the two sides the one that is nearer to the common view
    let common = Vector3::new(DIRECTION.0.cos(), DIRECTION.0.sin(), 0.0);
    let side = if normal.dot(&common) < 0.0 { -normal } else { normal };
    let away = if Vector3::z().dot(&side.cross(&common)) < 0.0 { -ASIDE.0 } else { ASIDE.0 };
    (side.y.atan2(side.x) + away, ASIDE.1)
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
    // the contact view leaves out what does not touch: it would hide the patches
    for visual in picture.visuals.iter().filter(|_| !picture.contact) {
        let Some(solid) = Solid::from_shape(&visual.shape) else { continue };
        let [r, g, b, a] = visual.color.map_or([0.0; 4], |color| color.map(|channel| channel as f32));
        let (color, alpha) = if visual.color.is_some() { ([r, g, b], a) } else { (own_color(visual.body), 1.0) };
        parts.push(Part { solid, X_WS: pose(visual.body) * visual.X_BV, color, alpha });
    }
    for geometry in scene.geometries().iter() {
        let looks = || picture.visuals.iter().filter(|visual| visual.body == geometry.body);
        if if picture.contact { !touches(geometry.body) } else { looks().next().is_some() } {
            continue;
        }
        let Some(solid) = Solid::from_shape(&geometry.shape) else { continue };
        let color = common_color(looks()).unwrap_or_else(|| own_color(geometry.body));
        let alpha = if picture.contact { GLASS } else { 1.0 };
        parts.push(Part { solid, X_WS: pose(geometry.body) * geometry.X_BG, color, alpha });
    }
    parts
}

/// The colour that most of the visual geometries have, of equals the first.
fn common_color<'a>(visuals: impl Iterator<Item = &'a VisualGeometry>) -> Option<Color> {
    let colors: Vec<[f64; 4]> = visuals.filter_map(|visual| visual.color).collect();
    let count = |color: &[f64; 4]| colors.iter().filter(|other| *other == color).count();
    let most = colors.iter().rev().max_by_key(|color| count(color))?;
    Some([most[0] as f32, most[1] as f32, most[2] as f32])
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

/// The ground of the scene, or a plane through the origin or below everything that gives the eye a hold.
fn ground(picture: &ScenePicture<'_>, parts: &[Part], (center, radius): (Vector3, f64)) -> Ground {
    let half_space = picture.scene.geometries().iter().find(|geometry| matches!(geometry.shape, Shape::HalfSpace));
    let X_WG = match half_space {
        Some(geometry) => picture.snapshot.X_WB.get(geometry.body).map_or(geometry.X_BG, |X_WB| X_WB * geometry.X_BG),
        None => {
            let lowest = corners(parts).map(|corner| corner.z).filter(|z| z.is_finite()).fold(f64::INFINITY, f64::min);
            RigidTransform::translation(0.0, 0.0, if lowest.is_finite() { lowest.min(0.0) } else { 0.0 })
        }
    };
    Ground {
        X_WG,
        spacing: round_down(0.25 * radius.max(RADIUS_MIN)),
        center_W: center,
        reach: 4.5 * radius.max(RADIUS_MIN),
    }
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
        canvas.solid(&Solid::arrow(length, 0.03 * longest), &X_WS, &Paint::plain(FORCE, 1.0))?;
        let end = if patch.body_A == BodyIndex::WORLD { start + along * 1.25 } else { start - along * 0.25 };
        if let Some(at) = canvas.locate(&end) {
            labels.push((format!("{:.1} N", force.norm()), at));
        }
    }
    Ok(labels)
}
