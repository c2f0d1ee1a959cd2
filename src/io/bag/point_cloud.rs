//! Contact patches as a sensor_msgs/PointCloud2: one point per face.

use super::cdr::Cdr;
use super::encode::header;
use crate::math::{GeometryIndex, SpatialVelocity, Vector3};
use crate::scene::Scene;
use crate::stepping::{ContactPatch, Snapshot};

/// The fields of a point: all FLOAT32 except the last.
pub const CONTACT_FIELDS: [&str; 15] = [
    "x",
    "y",
    "z",
    "normal_x",
    "normal_y",
    "normal_z",
    "pressure",
    "area",
    "traction_x",
    "traction_y",
    "traction_z",
    "slip_x",
    "slip_y",
    "slip_z",
    "pair",
];
/// Bytes of a field, and of a point.
const FIELD_SIZE: usize = 4;
const POINT_SIZE: usize = FIELD_SIZE * CONTACT_FIELDS.len();
// The constants of sensor_msgs/PointField.
const UINT32: u8 = 6;
const FLOAT32: u8 = 7;

/// Numbers and names of the pairs that may touch.
#[derive(Clone, Debug, Default)]
pub struct ContactPairs {
    pairs: Vec<(GeometryIndex, GeometryIndex)>,
    names: Vec<(String, String)>,
}

impl ContactPairs {
    /// The pairs of `scene`, numbered in its order.
    pub fn new(scene: &Scene) -> Self {
        let pairs = scene.contact_pairs();
        Self {
            pairs: pairs.iter().map(|pair| (pair.A, pair.B)).collect(),
            names: pairs
                .iter()
                .map(|pair| (scene.geometry_name(pair.A).to_owned(), scene.geometry_name(pair.B).to_owned()))
                .collect(),
        }
    }

    /// The number of the pair of `patch`, or `u32::MAX` if the scene has no such pair. The pairs of a scene
    /// are sorted.
    pub fn number(&self, patch: &ContactPatch) -> u32 {
        let found = self.pairs.binary_search(&(patch.geometry_A, patch.geometry_B));
        found.ok().and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX)
    }

    /// The list as JSON: `[{"id": 0, "a": "pad/box", "b": "world/ground"}, ...]`.
    pub fn to_json(&self) -> String {
        let entries: Vec<serde_json::Value> =
            self.names.iter().enumerate().map(|(id, (a, b))| serde_json::json!({ "id": id, "a": a, "b": b })).collect();
        serde_json::Value::Array(entries).to_string()
    }
}

/// Appends the contact faces of `snapshot` in `frame` as a message. Normals point from A into B, tractions
/// \[Pa\] act on B with friction included, and slip [m/s] is the tangential velocity of B's surface relative
/// to A's. Points of two rigid geometries have an area and a pressure of 0, and their force \[N\] is written
/// instead of the traction.
pub fn write_contact_patches(buffer: &mut Vec<u8>, snapshot: &Snapshot, frame: &str, pairs: &ContactPairs) {
    let patches = snapshot.contact_patches();
    let faces: usize = patches.iter().map(|patch| patch.faces.centroid_W.len()).sum();
    let mut cdr = Cdr::new(buffer);
    header(&mut cdr, snapshot.time_ns, frame);
    cdr.length(1);
    cdr.length(faces);
    cdr.length(CONTACT_FIELDS.len());
    for (number, name) in CONTACT_FIELDS.iter().enumerate() {
        cdr.string(name);
        cdr.length(number * FIELD_SIZE);
        cdr.u8(if *name == "pair" { UINT32 } else { FLOAT32 });
        cdr.u32(1);
    }
    cdr.bool(false);
    cdr.length(POINT_SIZE);
    cdr.length(faces * POINT_SIZE);
    cdr.length(faces * POINT_SIZE);
    for patch in patches {
        write_patch(&mut cdr, snapshot, patch, pairs.number(patch));
    }
    cdr.bool(true);
}

fn write_patch(cdr: &mut Cdr<'_>, snapshot: &Snapshot, patch: &ContactPatch, pair: u32) {
    let velocity = |body, p_WF: &Vector3| match (snapshot.X_WB.get(body), snapshot.V_WB.get(body)) {
        (Some(X_WB), Some(V_WB)) => at(V_WB, &(p_WF - X_WB.translation.vector)),
        _ => Vector3::zeros(),
    };
    let faces = &patch.faces;
    let rows = faces.centroid_W.iter().zip(&faces.normal_W).zip(&faces.force_B_W);
    for (((p_WF, normal), force), (area, pressure)) in rows.zip(faces.area.iter().zip(&faces.pressure)) {
        let v_AB = velocity(patch.body_B, p_WF) - velocity(patch.body_A, p_WF);
        let slip = v_AB - normal * normal.dot(&v_AB);
        let traction = if *area > 0.0 { force / *area } else { *force };
        for vector in [p_WF, normal] {
            floats(cdr, vector.as_slice());
        }
        floats(cdr, &[*pressure, *area]);
        for vector in [&traction, &slip] {
            floats(cdr, vector.as_slice());
        }
        cdr.bytes(&pair.to_le_bytes());
    }
}

fn floats(cdr: &mut Cdr<'_>, values: &[f64]) {
    for value in values {
        cdr.bytes(&(*value as f32).to_le_bytes());
    }
}

/// Velocity of the point at `p_BoP` of a body.
fn at(V_WB: &SpatialVelocity, p_BoP: &Vector3) -> Vector3 {
    V_WB.v + V_WB.w.cross(p_BoP)
}
