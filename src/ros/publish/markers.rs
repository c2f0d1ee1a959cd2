//! Contact patches as RViz markers: one namespace per pair of geometries, with the polygons (id 0) and the
//! net force (id 1).

use crate::ros::client::interfaces::geometry_msgs::msg::{Point, Pose, Quaternion, Vector3 as Vector3Message};
use crate::ros::client::interfaces::std_msgs::msg::ColorRGBA;
use crate::ros::client::interfaces::visualization_msgs::msg::{Marker, MarkerArray};

use crate::math::{GeometryIndex, Index, IndexVec, Vector3};
use crate::picture::ColorScale;
use crate::ros::client::messages;
use crate::scene::ContactKind;
use crate::stepping::{ContactPatch, PatchFaces, Snapshot};

// The constants of visualization_msgs/Marker.
const ARROW: i32 = 0;
const SPHERE_LIST: i32 = 7;
const TRIANGLE_LIST: i32 = 11;
const ADD: i32 = 0;
const DELETE: i32 = 2;
const DELETE_ALL: i32 = 3;

const POLYGONS: i32 = 0;
const FORCE: i32 = 1;

/// Length of the force arrow [m/N]: the weight of a kilogram is about as long as the width of a hand.
const ARROW_SCALE: f64 = 0.01;
/// Diameters of the arrow's shaft and head \[m\].
const ARROW_SHAFT: f64 = 0.003;
const ARROW_HEAD: f64 = 0.008;
/// Diameter of a contact point \[m\].
const POINT_DIAMETER: f64 = 0.006;
/// A larger patch shows every n-th polygon, because RViz handles some ten thousand triangles at 30 Hz.
const POLYGONS_MAX: usize = 4000;
const ARROW_COLOR: [f32; 3] = [0.95, 0.95, 0.95];

/// The colour of `fraction` of the largest pressure.
fn color(fraction: f64) -> ColorRGBA {
    let [r, g, b] = ColorScale { low: 0.0, high: 1.0 }.color(fraction);
    ColorRGBA { r, g, b, a: 1.0 }
}

/// Builds marker messages, and stores which pairs are displayed.
#[derive(Debug, Default)]
pub(crate) struct MarkerWriter {
    shown: Vec<(GeometryIndex, GeometryIndex)>,
    now: Vec<(GeometryIndex, GeometryIndex)>,
    fresh: bool,
}

impl MarkerWriter {
    /// Starts over: the next message deletes the markers of earlier runs.
    pub(crate) fn restart(&mut self) {
        self.shown.clear();
        self.fresh = true;
    }

    /// Writes the markers of `snapshot` in `frame` into `message`, and deletions of the pairs that have
    /// separated.
    /// Colours end at `pressure_max` \[Pa\], or at the largest pressure of the snapshot if that is 0.
    pub(crate) fn write(
        &mut self,
        snapshot: &Snapshot,
        names: &IndexVec<GeometryIndex, String>,
        frame: &str,
        pressure_max: f64,
        message: &mut MarkerArray,
    ) {
        message.markers.clear();
        let blank = |pair: (GeometryIndex, GeometryIndex), id: i32| Marker {
            header: messages::header(snapshot.time_ns, frame),
            ns: pair_name(names, pair),
            id,
            pose: Pose { orientation: Quaternion { x: 0.0, y: 0.0, z: 0.0, w: 1.0 }, ..Pose::default() },
            ..Marker::default()
        };
        if self.fresh {
            self.fresh = false;
            message.markers.push(Marker {
                header: messages::header(snapshot.time_ns, frame),
                action: DELETE_ALL,
                pose: Pose { orientation: Quaternion { x: 0.0, y: 0.0, z: 0.0, w: 1.0 }, ..Pose::default() },
                ..Marker::default()
            });
        }
        let patches = snapshot.contact_patches();
        let largest = patches.iter().flat_map(|patch| &patch.faces.vertex_pressure).copied().fold(0.0, f64::max);
        let top = if pressure_max > 0.0 { pressure_max } else { largest.max(f64::MIN_POSITIVE) };
        self.now.clear();
        for patch in patches {
            let pair = (patch.geometry_A, patch.geometry_B);
            self.now.push(pair);
            message.markers.push(match patch.kind {
                ContactKind::PressureField => polygons(blank(pair, POLYGONS), &patch.faces, top),
                ContactKind::Points => points(blank(pair, POLYGONS), &patch.faces),
            });
            message.markers.push(force_arrow(blank(pair, FORCE), patch));
        }
        for pair in self.shown.iter().filter(|pair| !self.now.contains(pair)) {
            for id in [POLYGONS, FORCE] {
                message.markers.push(Marker { action: DELETE, ..blank(*pair, id) });
            }
        }
        std::mem::swap(&mut self.shown, &mut self.now);
    }
}

fn pair_name(names: &IndexVec<GeometryIndex, String>, pair: (GeometryIndex, GeometryIndex)) -> String {
    let name = |geometry: GeometryIndex| {
        names.get(geometry).map_or_else(|| format!("geometry {}", geometry.to_usize()), Clone::clone)
    };
    format!("{} - {}", name(pair.0), name(pair.1))
}

/// The polygons as triangles, coloured by the pressure at their corners.
fn polygons(mut marker: Marker, faces: &PatchFaces, top: f64) -> Marker {
    marker.type_ = TRIANGLE_LIST;
    marker.action = ADD;
    marker.scale = Vector3Message { x: 1.0, y: 1.0, z: 1.0 };
    marker.color = ColorRGBA { r: 1.0, g: 1.0, b: 1.0, a: 1.0 };
    let stride = faces.vertex_ends.len().div_ceil(POLYGONS_MAX).max(1);
    let mut start = 0;
    for (number, &end) in faces.vertex_ends.iter().enumerate() {
        let end = end as usize;
        let corners = if number % stride == 0 { start + 2..end } else { 0..0 };
        for corner in corners {
            for vertex in [start, corner - 1, corner] {
                marker.points.push(messages::point(&faces.vertices_W[vertex]));
                marker.colors.push(color(faces.vertex_pressure[vertex] / top));
            }
        }
        start = end;
    }
    marker
}

/// The contact points of two rigid geometries, as small balls.
fn points(mut marker: Marker, faces: &PatchFaces) -> Marker {
    marker.type_ = SPHERE_LIST;
    marker.action = ADD;
    marker.scale = Vector3Message { x: POINT_DIAMETER, y: POINT_DIAMETER, z: POINT_DIAMETER };
    marker.color = color(1.0);
    marker.points = faces.centroid_W.iter().map(messages::point).collect::<Vec<Point>>();
    marker
}

/// The net contact force on B, from the centroid of the patch.
fn force_arrow(mut marker: Marker, patch: &ContactPatch) -> Marker {
    marker.type_ = ARROW;
    marker.action = ADD;
    marker.scale = Vector3Message { x: ARROW_SHAFT, y: ARROW_HEAD, z: 0.0 };
    let [r, g, b] = ARROW_COLOR;
    marker.color = ColorRGBA { r, g, b, a: 1.0 };
    let tip: Vector3 = patch.p_WC + patch.F_BC_W.f * ARROW_SCALE;
    marker.points = [patch.p_WC, tip].iter().map(messages::point).collect::<Vec<Point>>();
    marker
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::SpatialForce;

    fn snapshot(pairs: &[(usize, usize)]) -> Snapshot {
        let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| Vector3::new(x, y, 0.0));
        let patches: Vec<ContactPatch> = pairs
            .iter()
            .map(|&(a, b)| ContactPatch {
                geometry_A: GeometryIndex::from_usize(a),
                geometry_B: GeometryIndex::from_usize(b),
                F_BC_W: SpatialForce::new(Vector3::zeros(), Vector3::new(0.0, 0.0, 16.0)),
                faces: PatchFaces {
                    vertices_W: square.to_vec(),
                    vertex_ends: vec![4],
                    vertex_pressure: vec![0.0, 0.0, 50.0, 100.0],
                    ..PatchFaces::default()
                },
                ..ContactPatch::default()
            })
            .collect();
        let mut snapshot = Snapshot::default();
        snapshot.set_contact_patches(patches);
        snapshot
    }

    fn actions(message: &MarkerArray) -> Vec<(String, i32, i32)> {
        message.markers.iter().map(|marker| (marker.ns.clone(), marker.id, marker.action)).collect()
    }

    /// A pair keeps its namespace and ids while it touches, and is deleted once when it separates.
    #[test]
    fn pairs_are_shown_under_stable_names_and_deleted_when_they_part() {
        let names: IndexVec<GeometryIndex, String> = ["a", "b", "c"].map(str::to_owned).into_iter().collect();
        let (mut writer, mut message) = (MarkerWriter::default(), MarkerArray::default());
        writer.write(&snapshot(&[(0, 2), (1, 2)]), &names, "world", 0.0, &mut message);
        let both = [("a - c", 0, ADD), ("a - c", 1, ADD), ("b - c", 0, ADD), ("b - c", 1, ADD)];
        assert_eq!(actions(&message), both.map(|(ns, id, action)| (ns.to_owned(), id, action)));
        writer.write(&snapshot(&[(1, 2)]), &names, "world", 0.0, &mut message);
        let one = [("b - c", 0, ADD), ("b - c", 1, ADD), ("a - c", 0, DELETE), ("a - c", 1, DELETE)];
        assert_eq!(actions(&message), one.map(|(ns, id, action)| (ns.to_owned(), id, action)));
        writer.write(&snapshot(&[(1, 2)]), &names, "world", 0.0, &mut message);
        assert_eq!(message.markers.len(), 2);
        writer.restart();
        writer.write(&snapshot(&[]), &names, "world", 0.0, &mut message);
        assert_eq!(message.markers.len(), 1);
        assert_eq!(message.markers[0].action, DELETE_ALL);
    }

    /// Rigid geometries show their points as balls.
    #[test]
    fn points_become_balls() {
        let names = IndexVec::from_elem("x".to_owned(), 2);
        let mut snapshot = snapshot(&[(0, 1)]);
        let faces = PatchFaces { centroid_W: vec![Vector3::zeros(); 4], ..PatchFaces::default() };
        let points = ContactPatch { kind: ContactKind::Points, faces, ..snapshot.contact_patches()[0].clone() };
        snapshot.set_contact_patches(vec![points]);
        let mut message = MarkerArray::default();
        MarkerWriter::default().write(&snapshot, &names, "world", 0.0, &mut message);
        assert_eq!((message.markers[0].type_, message.markers[0].points.len()), (SPHERE_LIST, 4));
    }

    /// A patch with twice as many polygons as are shown: every other one is shown.
    #[test]
    fn large_patches_are_thinned_out() {
        let names = IndexVec::from_elem("x".to_owned(), 2);
        let mut snapshot = snapshot(&[(0, 1)]);
        let mut patch = snapshot.contact_patches()[0].clone();
        let faces = &mut patch.faces;
        let square = faces.vertices_W.clone();
        faces.vertices_W = (0..2 * POLYGONS_MAX).flat_map(|_| square.clone()).collect();
        faces.vertex_pressure = vec![1.0; 8 * POLYGONS_MAX];
        faces.vertex_ends = (1..=2 * POLYGONS_MAX).map(|number| 4 * number as u32).collect();
        snapshot.set_contact_patches(vec![patch]);
        let mut message = MarkerArray::default();
        MarkerWriter::default().write(&snapshot, &names, "world", 0.0, &mut message);
        assert_eq!(message.markers[0].points.len(), 6 * POLYGONS_MAX);
    }

    /// A square is two triangles; the corner with the largest pressure has the last colour; the arrow is 10
    /// mm per newton.
    #[test]
    fn polygons_become_coloured_triangles_and_the_force_an_arrow() {
        let names = IndexVec::from_elem("x".to_owned(), 2);
        let mut message = MarkerArray::default();
        MarkerWriter::default().write(&snapshot(&[(0, 1)]), &names, "world", 0.0, &mut message);
        let (faces, arrow) = (&message.markers[0], &message.markers[1]);
        assert_eq!((faces.points.len(), faces.colors.len()), (6, 6));
        let (none, most) = (color(0.0), color(1.0));
        assert!((faces.colors[0].r - none.r).abs() < 1e-6 && none.b > none.r, "no pressure is blue");
        assert!((faces.colors[5].r - most.r).abs() < 1e-6 && most.r > most.b, "the largest is red");
        assert!((arrow.points[1].z - arrow.points[0].z - 0.16).abs() < 1e-15);
        assert_eq!(faces.pose.orientation.w, 1.0);
    }
}
