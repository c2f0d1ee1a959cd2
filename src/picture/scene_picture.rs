//! A scene at one instant: its bodies, the ground, the contact patches and their forces.

use super::camera::{Camera, Projection};
use super::canvas::{Canvas, Paint, check_size};
use super::color::{Color, ColorScale, PAPER, round_down};
use super::ground::Ground;
use super::image::Image;
use super::labels::{self, Label, Labels, Region};
use super::parts::{GLASS, corners, draw_parts, parts};
use super::patches::{FaceStyle, Faces};
use super::scene_view::ScenePicture;
use super::solid::Solid;
use super::{PictureError, frame, legend};
use crate::geometry::Shape;
use crate::math::{BodyIndex, RigidTransform, Rotation, Vector3};
use crate::stepping::{ContactPatch, Snapshot};

/// Angle between the lower and the upper edge of the picture \[rad\].
const FIELD_OF_VIEW: f64 = 0.6;
/// The number of contour lines between zero and the largest pressure.
const CONTOURS: usize = 7;
/// The opacity of patches behind other bodies in the view of the whole scene.
const SHINE: f32 = 0.85;
/// A patch whose normal is steeper than this lies flat. \[-\] sin(45 degrees)
const LYING: f64 = 0.7;
/// The colour of forces, which no pressure has.
const FORCE: Color = [0.80, 0.16, 0.55];
/// Length of the arrow of the largest force, as a share of the radius of the scene. \[-\]
const LONGEST: f64 = 0.22;
/// The smallest radius of a scene for drawing the ground \[m\].
const RADIUS_MIN: f64 = 1e-6;

/// Default azimuth and elevation of the view \[rad\].
const DIRECTION: (f64, f64) = (-0.75, 0.62);
/// Azimuth and elevation away from the normal of a patch \[rad\].
const ASIDE: (f64, f64) = (0.62, 0.34);

/// Draws the scene.
///
/// # Errors
/// A bad size, no patch in the contact view, or a scene without visible objects.
pub fn scene_picture(picture: &ScenePicture<'_>) -> Result<Image, PictureError> {
    Stage::new(picture, std::slice::from_ref(picture.snapshot))?.draw(picture)
}

/// Draws the scene at each of the instants `snapshots` instead of its own, from one viewpoint and with one
/// scale of pressures and forces: the frames of a moving picture.
///
/// # Errors
/// The errors of [`scene_picture`]; in the contact view, no patch at any of the instants.
pub fn scene_pictures(picture: &ScenePicture<'_>, snapshots: &[Snapshot]) -> Result<Vec<Image>, PictureError> {
    let stage = Stage::new(picture, snapshots)?;
    snapshots.iter().map(|snapshot| stage.draw(&ScenePicture { snapshot, ..*picture })).collect()
}

/// Data shared by all frames of a moving picture.
struct Stage {
    camera: Camera,
    /// The distance from the eye to the target \[m\].
    distance: f64,
    /// Centre and radius of a ball around all objects \[m\].
    whole: (Vector3, f64),
    /// The lowest point of all objects \[m\].
    lowest: f64,
    scale: ColorScale,
    /// Whether there are pressures: contact points of rigid bodies have forces but no pressure.
    pressures: bool,
    largest_force: f64,
}

impl Stage {
    fn new(picture: &ScenePicture<'_>, snapshots: &[Snapshot]) -> Result<Self, PictureError> {
        let (width, height) = picture.size;
        check_size(width, height)?;
        let patches = || snapshots.iter().flat_map(|snapshot| snapshot.contact_patches());
        if picture.contact && patches().next().is_none() {
            let what = "nothing touches at this time; choose another time, or leave the contact view";
            return Err(PictureError::Empty { what });
        }
        let frame = |snapshot| parts(&ScenePicture { snapshot, ..*picture });
        let points: Vec<Vector3> =
            snapshots.iter().flat_map(|snapshot| corners(&frame(snapshot)).collect::<Vec<_>>()).collect();
        let points = || points.iter().copied();
        let whole = frame::ball(points()).unwrap_or((Vector3::zeros(), 0.5));
        let projection = Projection::Perspective { field_of_view: FIELD_OF_VIEW };
        let largest = patches().filter(|_| picture.contact).max_by(|a, b| a.area.total_cmp(&b.area));
        let (azimuth, elevation) = picture.view.direction.unwrap_or_else(|| direction(largest));
        let orbit = |target: &Vector3, distance| Camera::orbit(target, azimuth, elevation, distance, projection);
        let fixed = (picture.view.target_W, picture.view.distance);
        let aspect = width as f64 / height as f64;
        let framed = frame::fit(points(), &orbit(&whole.0, 1.0), FIELD_OF_VIEW, aspect, fixed);
        let (target, distance) = framed.unwrap_or((whole.0, 2.0));
        let lowest = points().map(|corner| corner.z).filter(|z| z.is_finite()).fold(f64::INFINITY, f64::min);
        let pressures = || patches().flat_map(|patch| patch.faces.vertex_pressure.iter().copied());
        Ok(Self {
            camera: orbit(&target, distance),
            distance,
            whole,
            lowest,
            scale: ColorScale::from_zero(pressures()),
            pressures: pressures().next().is_some(),
            largest_force: patches().map(|patch| patch.F_BC_W.f.norm()).fold(0.0, f64::max),
        })
    }

    fn draw(&self, picture: &ScenePicture<'_>) -> Result<Image, PictureError> {
        let (width, height) = picture.size;
        let patches = picture.snapshot.contact_patches();
        let parts = parts(picture);
        let solids: Vec<_> =
            parts.iter().filter(|part| part.alpha > GLASS).map(|part| (&part.solid, part.X_WS)).collect();
        let mut canvas = Canvas::new(width, height, self.camera, PAPER)?;
        canvas.ground(&self.ground(picture), &solids);
        draw_parts(&mut canvas, &parts)?;
        let levels = self.scale.levels(CONTOURS);
        self.draw_patches(&mut canvas, picture, &levels)?;
        let shown = if picture.view.without_forces { &[] } else { patches };
        let forces = self.draw_forces(&mut canvas, shown)?;
        let mut image = canvas.finish();
        let mut taken = explained(width as f64, height as f64);
        taken.truncate(if self.pressures { 4 } else { 3 });
        let hidden = match picture.view.labels {
            Labels::Apart => labels::write(&mut image, &forces, &taken),
            Labels::Hidden => 0,
        };
        explain(&mut image, picture, (&self.camera, self.distance), (forces.len(), hidden));
        if self.pressures {
            let size = legend::text_size(height);
            let bar = [width as f64 - 7.2 * size, 0.24 * height as f64];
            legend::pressure_bar(&mut image, &self.scale, &levels, bar, 0.42 * height as f64);
        }
        Ok(image)
    }

    fn draw_patches(
        &self,
        canvas: &mut Canvas,
        picture: &ScenePicture<'_>,
        levels: &[f64],
    ) -> Result<(), PictureError> {
        let line = [0.12, 0.14, 0.2];
        let contact = FaceStyle {
            scale: self.scale,
            levels,
            contours: (1.6, [1.0; 3]),
            edges: (0.6, line),
            alpha: 1.0,
            lift: 1e-3,
        };
        // If the bodies are not of glass, the patches show through them.
        let scene = FaceStyle { edges: (0.0, line), contours: (1.0, [1.0; 3]), alpha: SHINE, ..contact };
        if !picture.contact {
            canvas.flatten();
        }
        for patch in picture.snapshot.contact_patches() {
            Faces::from(&patch.faces).draw(canvas, if picture.contact { &contact } else { &scene })?;
        }
        canvas.flatten();
        Ok(())
    }

    /// The ground of the scene, or a plane through the origin or below all objects, as a visual reference.
    fn ground(&self, picture: &ScenePicture<'_>) -> Ground {
        let half_space = picture.scene.geometries().iter().find(|geometry| matches!(geometry.shape, Shape::HalfSpace));
        let pose = |body| picture.snapshot.X_WB.get(body).copied().unwrap_or_else(RigidTransform::identity);
        let X_WG = match half_space {
            Some(geometry) => pose(geometry.body) * geometry.X_BG,
            None => {
                RigidTransform::translation(0.0, 0.0, if self.lowest.is_finite() { self.lowest.min(0.0) } else { 0.0 })
            }
        };
        let (center_W, radius) = (self.whole.0, self.whole.1.max(RADIUS_MIN));
        Ground { X_WG, spacing: round_down(0.25 * radius), center_W, reach: 4.5 * radius }
    }

    /// Draws the net force of each patch as an arrow at its centroid and returns the labels that belong
    /// beside them. The force is that on B: the arrow ends at the patch, or begins there if A is the world.
    fn draw_forces(&self, canvas: &mut Canvas, patches: &[ContactPatch]) -> Result<Vec<Label>, PictureError> {
        let longest = LONGEST * self.whole.1;
        let mut labels = Vec::new();
        for patch in patches {
            let force = patch.F_BC_W.f;
            let length = longest * force.norm() / self.largest_force;
            let Some(direction) = force.try_normalize(0.0).filter(|_| length > 0.02 * longest) else { continue };
            let along = direction * length;
            let start = if patch.body_A == BodyIndex::WORLD { patch.p_WC } else { patch.p_WC - along };
            let R_WS = Rotation::rotation_between(&Vector3::z(), &direction)
                .unwrap_or_else(|| Rotation::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI));
            let X_WS = RigidTransform::from_parts(start.into(), R_WS);
            canvas.solid(&Solid::arrow(length, 0.03 * longest), &X_WS, &Paint::plain(FORCE, 1.0))?;
            let end = if patch.body_A == BodyIndex::WORLD { start + along * 1.25 } else { start - along * 0.25 };
            if let Some(at) = canvas.locate(&end) {
                labels.push(Label { text: format!("{:.1} N", force.norm()), at, rank: force.norm() });
            }
        }
        Ok(labels)
    }
}

/// The default view: azimuth and elevation \[rad\]. `largest` is the patch to show, if any.
fn direction(largest: Option<&ContactPatch>) -> (f64, f64) {
    let Some(faces) = largest.map(|patch| &patch.faces) else { return DIRECTION };
    let sum: Vector3 = faces.normal_W.iter().zip(&faces.area).map(|(normal, area)| normal * *area).sum();
    let Some(normal) = sum.try_normalize(0.0) else { return DIRECTION };
    if normal.z.abs() > LYING {
        return DIRECTION;
    }
    // Of the two sides, the one nearer to the default view.
    let common = Vector3::new(DIRECTION.0.cos(), DIRECTION.0.sin(), 0.0);
    let side = if normal.dot(&common) < 0.0 { -normal } else { normal };
    let away = if Vector3::z().dot(&side.cross(&common)) < 0.0 { -ASIDE.0 } else { ASIDE.0 };
    (side.y.atan2(side.x) + away, ASIDE.1)
}

/// The rectangles of title, axes, scale and pressure bar.
fn explained(width: f64, height: f64) -> Vec<Region> {
    let size = legend::text_size(height as usize);
    vec![
        [0.0, 0.0, 0.55 * width, 6.0 * size],
        [0.0, height - 9.5 * size, 9.5 * size, height],
        [0.8 * width, height - 4.5 * size, width, height],
        [width - 8.7 * size, 0.24 * height - 2.6 * size, width, 0.68 * height],
    ]
}

/// Draws title, axes and scale. `forces` is the number of force labels, `hidden` the number of those left
/// out.
fn explain(
    image: &mut Image,
    picture: &ScenePicture<'_>,
    (camera, distance): (&Camera, f64),
    (forces, hidden): (usize, usize),
) {
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
    let unlabelled =
        if hidden > 0 { format!(", {} of {forces} forces labelled", forces - hidden) } else { String::new() };
    legend::title(image, picture.title, &format!("t = {:.3} s: {contact}{unlabelled}", snapshot.time_ns as f64 * 1e-9));
    legend::triad(image, camera, [5.0 * size, height - 5.0 * size], 3.0 * size);
    let pixel = camera.pixel_size(distance, height);
    legend::scale_bar(image, pixel, [width - 2.5 * size, height - 2.5 * size], 0.18 * width);
}
