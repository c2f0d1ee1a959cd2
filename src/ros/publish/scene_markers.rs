//! The models without moving joints as RViz markers: tables, objects, tools. RViz draws robots from their
//! descriptions, but the tasks' RViz configurations read no descriptions of these models.

use std::collections::BTreeSet;

use crate::io::scene_file::{LoadedScene, SceneModel};
use crate::math::{BodyIndex, RigidTransform};
use crate::multibody::JointKind;
use crate::picture::{Solid, SolidColors};
use crate::ros::client::interfaces::geometry_msgs::msg::{Pose, Quaternion, Vector3 as Vector3Message};
use crate::ros::client::interfaces::std_msgs::msg::ColorRGBA;
use crate::ros::client::interfaces::visualization_msgs::msg::{Marker, MarkerArray};
use crate::ros::client::messages;
use crate::scene::{CollisionGeometry, Scene};

// The constants of visualization_msgs/Marker.
const TRIANGLE_LIST: i32 = 11;
const ADD: i32 = 0;
const DELETE_ALL: i32 = 3;

/// The colour of a geometry without a stated colour.
const COLOR: [f64; 4] = [0.7, 0.7, 0.72, 1.0];
/// Opacity of bodies that are free: contact patches lie between bodies, and are seen through them.
const FREE_ALPHA: f64 = 0.6;
/// Weights of a triangle's normal in its brightness, which makes flat shapes readable in viewers without
/// shading.
const LIGHT: [f64; 3] = [0.25, 0.15, 0.9];

/// A drawn geometry: its body, its pose in the body, its shape, the colours of its triangles if they differ,
/// and red, green, blue, alpha in 0..1.
type Drawn<'a> = (BodyIndex, &'a RigidTransform, Solid, Option<SolidColors>, [f64; 4]);

/// The markers of all models without moving joints, each in the nearest frame on TF. The first marker
/// deletes those of the previous world.
pub(crate) fn scene_markers(loaded: &LoadedScene, world_frame: &str) -> MarkerArray {
    let mut markers = vec![Marker { action: DELETE_ALL, ..new_marker(world_frame) }];
    for model in loaded.models.iter().filter(|model| model.joints == 0) {
        for (body, X_BG, solid, colors, mut color) in drawn(loaded, model) {
            let Some((frame, X_FB)) = frame(&loaded.scene, body) else { continue };
            color[3] *= if loaded.scene.free_bodies().contains(&frame) { FREE_ALPHA } else { 1.0 };
            let frame = if frame == BodyIndex::WORLD { world_frame } else { loaded.scene.body_name(frame) };
            let marker = Marker {
                ns: model.name.clone(),
                id: i32::try_from(markers.len()).unwrap_or(i32::MAX),
                pose: messages::pose(&(X_FB * X_BG)),
                frame_locked: true,
                ..new_marker(frame)
            };
            markers.push(triangles(marker, &solid, colors.as_ref(), color));
        }
    }
    MarkerArray { markers }
}

/// The visual geometries of a model; for bodies without any that can be drawn, the collision geometries.
fn drawn<'a>(loaded: &'a LoadedScene, model: &'a SceneModel) -> Vec<Drawn<'a>> {
    let bodies: BTreeSet<BodyIndex> = model.bodies.iter().copied().collect();
    let visuals = loaded.visuals.iter().filter(|visual| bodies.contains(&visual.body));
    let mut drawn: Vec<Drawn<'_>> = visuals
        .filter_map(|visual| {
            let color = visual.color.unwrap_or(COLOR);
            let default = [color[0] as f32, color[1] as f32, color[2] as f32];
            let (solid, colors) = Solid::from_visual(&visual.shape, visual.mesh_colors.as_deref(), default)?;
            Some((visual.body, &visual.X_BV, solid, colors, color))
        })
        .collect();
    let seen: BTreeSet<BodyIndex> = drawn.iter().map(|(body, ..)| *body).collect();
    let unseen = |geometry: &&CollisionGeometry| bodies.contains(&geometry.body) && !seen.contains(&geometry.body);
    let collisions = loaded.scene.geometries().iter().filter(unseen);
    drawn.extend(collisions.filter_map(|geometry| {
        Some((geometry.body, &geometry.X_BG, Solid::from_shape(&geometry.shape)?, None, COLOR))
    }));
    drawn
}

/// The nearest frame F on `/tf` or `/tf_static` that `body` is fixed to, and the pose of B in F: a free body,
/// the root of a welded model, or the world. `None` if a moving joint lies between.
fn frame(scene: &Scene, body: BodyIndex) -> Option<(BodyIndex, RigidTransform)> {
    let joints = scene.model().joints();
    let (mut frame, mut X_FB) = (body, RigidTransform::identity());
    loop {
        let published = scene.root_welds().iter().any(|weld| joints[*weld].child == frame);
        if published || frame == BodyIndex::WORLD || scene.free_bodies().contains(&frame) {
            return Some((frame, X_FB));
        }
        let joint = joints.iter().find(|joint| joint.child == frame)?;
        if joint.kind != JointKind::Fixed {
            return None;
        }
        X_FB = joint.X_PF * X_FB;
        frame = joint.parent;
    }
}

fn new_marker(frame: &str) -> Marker {
    Marker {
        header: messages::header(0, frame),
        pose: Pose { orientation: Quaternion { x: 0.0, y: 0.0, z: 0.0, w: 1.0 }, ..Pose::default() },
        ..Marker::default()
    }
}

fn triangles(mut marker: Marker, solid: &Solid, colors: Option<&SolidColors>, color: [f64; 4]) -> Marker {
    marker.type_ = TRIANGLE_LIST;
    marker.action = ADD;
    marker.scale = Vector3Message { x: 1.0, y: 1.0, z: 1.0 };
    // RViz multiplies both opacities.
    marker.color = ColorRGBA { a: 1.0, ..message_color(color, 1.0) };
    for triangle in &solid.triangles {
        for corner in triangle.map(|corner| corner as usize) {
            marker.points.push(messages::point(&solid.vertices[corner]));
            let normal = &solid.normals[corner];
            let light = (0..3).map(|axis| LIGHT[axis] * normal[axis].max(-0.2 * normal[axis])).sum::<f64>();
            let own = colors.and_then(|colors| colors.vertices.get(corner));
            let color = own.map_or(color, |own| [own[0].into(), own[1].into(), own[2].into(), color[3]]);
            marker.colors.push(message_color(color, 0.6 + 0.4 * light.clamp(0.0, 1.0)));
        }
    }
    marker
}

fn message_color([r, g, b, a]: [f64; 4], brightness: f64) -> ColorRGBA {
    ColorRGBA { r: (r * brightness) as f32, g: (g * brightness) as f32, b: (b * brightness) as f32, a: a as f32 }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::io::package::PackageMap;
    use crate::io::scene_file;

    /// The robot is drawn from its description; table, stove, stand, pancake and spatula follow frames of TF.
    #[test]
    fn everything_but_the_robot_is_drawn_in_a_frame_of_tf() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/pancake_flip.yaml");
        let loaded = scene_file::load(&file, &PackageMap::from_environment()).unwrap();
        let markers = scene_markers(&loaded, "world").markers;
        assert_eq!((markers[0].action, markers[0].points.len()), (DELETE_ALL, 0));
        let drawn: BTreeSet<&str> = markers[1..].iter().map(|marker| marker.ns.as_str()).collect();
        let still: BTreeSet<&str> =
            loaded.models.iter().filter(|model| model.joints == 0).map(|model| model.name.as_str()).collect();
        assert_eq!(drawn, still);
        let frames: BTreeSet<&str> = std::iter::once("world")
            .chain(loaded.scene.free_bodies().iter().map(|body| loaded.scene.body_name(*body)))
            .chain(loaded.models.iter().map(|model| loaded.scene.body_name(model.root)))
            .collect();
        for marker in &markers[1..] {
            assert!(marker.frame_locked && frames.contains(marker.header.frame_id.as_str()), "{}", marker.ns);
            assert!(!marker.points.is_empty() && marker.points.len() == marker.colors.len(), "{}", marker.ns);
            // Contact patches are visible through bodies that can be moved.
            let free = ["pancake", "spatula"].contains(&marker.ns.as_str());
            let alpha = marker.color.a * marker.colors[0].a;
            assert!((alpha - if free { 0.6 } else { 1.0 }).abs() < 1e-6, "{}: {alpha}", marker.ns);
        }
    }
}
