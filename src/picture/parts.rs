//! The solids of a scene: the appearance of its bodies, or their geometries in contact queries.

use super::PictureError;
use super::canvas::{Canvas, Coat, Paint};
use super::color::{Color, PAPER, mix, scaled};
use super::light::Gloss;
use super::scene_view::ScenePicture;
use super::solid::{Solid, SolidColors, boundary_or_nothing};
use crate::geometry::{HydroelasticGeometry, Shape, SurfaceMesh};
use crate::math::{BodyIndex, GeometryIndex, Index, RigidTransform, Vector3};
use crate::scene::{CollisionGeometry, ContactKind, VisualGeometry};
use crate::stepping::ContactPatch;

/// The opacity of the bodies at a patch in the contact view.
pub(super) const GLASS: f32 = 0.22;
/// Colours of bodies without a stated colour.
const COLORS: [Color; 6] = [
    [0.42, 0.56, 0.72],
    [0.80, 0.60, 0.38],
    [0.50, 0.66, 0.52],
    [0.70, 0.50, 0.58],
    [0.56, 0.54, 0.70],
    [0.66, 0.64, 0.50],
];

/// A solid, its pose and its colours.
pub(super) struct Part {
    pub(super) solid: Solid,
    pub(super) X_WS: RigidTransform,
    pub(super) color: Color,
    /// In place of `color`, if its triangles have different colours.
    pub(super) colors: Option<SolidColors>,
    pub(super) alpha: f32,
}

/// All solids of the scene at their poses.
pub(super) fn parts(picture: &ScenePicture<'_>) -> Vec<Part> {
    let (scene, snapshot) = (picture.scene, picture.snapshot);
    let touches = |body: BodyIndex| {
        picture.contact && snapshot.contact_patches().iter().any(|patch| patch.body_A == body || patch.body_B == body)
    };
    let pose = |body: BodyIndex| snapshot.X_WB.get(body).copied().unwrap_or_else(RigidTransform::identity);
    let own_color = |body: BodyIndex| COLORS[body.to_usize() % COLORS.len()];
    let mut parts = Vec::new();
    // The contact view leaves out bodies that do not touch, because they would hide the patches.
    for visual in picture.visuals.iter().filter(|_| !picture.contact) {
        let [r, g, b, a] = visual.color.map_or([0.0; 4], |color| color.map(|channel| channel as f32));
        let (color, alpha) = if visual.color.is_some() { ([r, g, b], a) } else { (own_color(visual.body), 1.0) };
        let solid = Solid::from_visual(&visual.shape, visual.mesh_colors.as_deref(), color);
        let Some((solid, colors)) = solid else { continue };
        parts.push(Part { solid, X_WS: pose(visual.body) * visual.X_BV, color, colors, alpha });
    }
    for (index, geometry) in scene.geometries().iter_enumerated() {
        let looks = || picture.visuals.iter().filter(|visual| visual.body == geometry.body);
        if if picture.contact { !touches(geometry.body) } else { looks().next().is_some() } {
            continue;
        }
        // The contact view shows the geometry of the simulation.
        let used =
            if picture.contact { in_contact(picture, index, geometry) } else { Solid::from_shape(&geometry.shape) };
        let Some(solid) = used else { continue };
        let color = common_color(looks()).unwrap_or_else(|| own_color(geometry.body));
        let alpha = if picture.contact { GLASS } else { 1.0 };
        parts.push(Part { solid, X_WS: pose(geometry.body) * geometry.X_BG, color, colors: None, alpha });
    }
    parts
}

/// The surface of a geometry in contact queries: the boundary of its tetrahedra or its triangles, or its own
/// shape if it touches at points only.
fn in_contact(picture: &ScenePicture<'_>, index: GeometryIndex, geometry: &CollisionGeometry) -> Option<Solid> {
    let mine = |patch: &&ContactPatch| patch.geometry_A == index || patch.geometry_B == index;
    let mut kinds = picture.snapshot.contact_patches().iter().filter(mine).map(|patch| patch.kind);
    let points = kinds.clone().next().is_some() && kinds.all(|kind| kind == ContactKind::Points);
    match &geometry.hydroelastic {
        HydroelasticGeometry::CompliantVolume(field) => Some(Solid::faceted(&boundary_or_nothing(field.mesh()))),
        HydroelasticGeometry::RigidSurface(surface) if !points => Some(Solid::faceted(surface.mesh())),
        _ => Solid::from_shape(&geometry.shape),
    }
}

/// The most frequent colour of the visual geometries; of equally frequent ones the first.
fn common_color<'a>(visuals: impl Iterator<Item = &'a VisualGeometry>) -> Option<Color> {
    let colors: Vec<Color> = visuals.filter_map(main_color).collect();
    let count = |color: &Color| colors.iter().filter(|other| *other == color).count();
    colors.iter().rev().max_by_key(|color| count(color)).copied()
}

/// The stated colour of a visual geometry; of a mesh with several colours that of the largest area.
fn main_color(visual: &VisualGeometry) -> Option<Color> {
    if let Some([r, g, b, _]) = visual.color {
        return Some([r as f32, g as f32, b as f32]);
    }
    let (Shape::Mesh(mesh), Some(colors)) = (&visual.shape, &visual.mesh_colors) else { return None };
    let mut areas = vec![0.0; colors.palette.len()];
    for (triangle, place) in mesh.triangles.iter().zip(&colors.of_triangle) {
        if let Some(area) = areas.get_mut(*place as usize) {
            *area += twice_area(mesh, triangle);
        }
    }
    let colored = colors.palette.iter().zip(areas).filter_map(|(color, area)| Some((area, (*color)?)));
    colored.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, color)| color)
}

fn twice_area(mesh: &SurfaceMesh, triangle: &[u32; 3]) -> f64 {
    match triangle.map(|vertex| mesh.vertices.get(vertex as usize)) {
        [Some(a), Some(b), Some(c)] => (b - a).cross(&(c - a)).norm(),
        _ => 0.0,
    }
}

pub(super) fn corners(parts: &[Part]) -> impl Iterator<Item = Vector3> + Clone {
    parts.iter().flat_map(|part| {
        part.solid.vertices.iter().map(|vertex| part.X_WS.rotation * vertex + part.X_WS.translation.vector)
    })
}

pub(super) fn draw_parts(canvas: &mut Canvas, parts: &[Part]) -> Result<(), PictureError> {
    for part in parts {
        let coat = part.colors.as_ref().map_or(Coat::Plain(part.color), |colors| Coat::Colors(&colors.vertices));
        canvas.solid(&part.solid, &part.X_WS, &Paint { coat, alpha: part.alpha, gloss: Gloss::Satin })?;
        let in_world = |p: &Vector3| part.X_WS.rotation * p + part.X_WS.translation.vector;
        // The edges of glass are faint, so that the bodies behind stay visible.
        for (crease, [a, b]) in part.solid.creases.iter().enumerate() {
            let own = part.colors.as_ref().and_then(|colors| colors.creases.get(crease)).unwrap_or(&part.color);
            let dark = scaled(*own, 0.55);
            let (width, color) = if part.alpha > GLASS { (0.9, dark) } else { (0.6, mix(dark, PAPER, 0.45)) };
            canvas.line(&in_world(a), &in_world(b), width, color, 6e-4);
        }
    }
    Ok(())
}
