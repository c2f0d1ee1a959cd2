//! Contacts in the format of Gazebo's tools: one net wrench per pair of bodies.

use crate::ros::client::interfaces::geometry_msgs::msg::Wrench as WrenchMessage;
use crate::ros::client::interfaces::ros_gz_interfaces::msg::{Contact, Contacts, Entity, JointWrench};
use crate::ros::client::interfaces::std_msgs::msg::{String as Text, UInt32};

use crate::math::{BodyIndex, Index, SpatialForce, Vector3};
use crate::ros::client::messages;
use crate::scene::Scene;
use crate::stepping::{ContactPatch, Snapshot};

/// The constant of ros_gz_interfaces/Entity.
const LINK: u8 = 3;

/// The contact of two bodies, over all their geometries.
struct BodyContact {
    A: BodyIndex,
    B: BodyIndex,
    /// Sum of the patches' centroids, weighted by their forces [N m, N].
    moment_WC: Vector3,
    weight: f64,
    /// Force and torque on B about the world's origin, in world axes.
    F_BWo_W: SpatialForce,
    /// Sum of the normals from A into B, weighted by the force on their faces.
    normal_W: Vector3,
}

/// The contacts of `snapshot` in `frame`, in the order of the bodies.
pub(crate) fn contacts(snapshot: &Snapshot, scene: &Scene, frame: &str) -> Contacts {
    let mut pairs: Vec<BodyContact> = Vec::new();
    for patch in snapshot.contact_patches() {
        let (A, B) = (patch.body_A, patch.body_B);
        let known = pairs.iter().position(|pair| (pair.A, pair.B) == (A, B));
        let index = known.unwrap_or_else(|| {
            let (moment_WC, normal_W) = (Vector3::zeros(), Vector3::zeros());
            pairs.push(BodyContact { A, B, moment_WC, weight: 0.0, F_BWo_W: SpatialForce::ZERO, normal_W });
            pairs.len() - 1
        });
        pairs[index].add(patch);
    }
    pairs.sort_by_key(|pair| (pair.A, pair.B));
    let contacts = pairs.iter().map(|pair| pair.message(snapshot, scene, frame)).collect();
    Contacts { header: messages::header(snapshot.time_ns, frame), contacts }
}

impl BodyContact {
    fn add(&mut self, patch: &ContactPatch) {
        // A patch without force counts as a contact too.
        let weight = patch.F_BC_W.f.norm().max(f64::MIN_POSITIVE);
        self.moment_WC += patch.p_WC * weight;
        self.weight += weight;
        self.F_BWo_W += patch.F_BC_W.shift(&-patch.p_WC);
        for (normal, force) in patch.faces.normal_W.iter().zip(&patch.faces.force_B_W) {
            self.normal_W += normal * force.norm();
        }
    }

    fn message(&self, snapshot: &Snapshot, scene: &Scene, frame: &str) -> Contact {
        let p_WC = self.moment_WC / self.weight;
        let F_BC_W = self.F_BWo_W.shift(&p_WC);
        let wrench =
            |F: &SpatialForce| WrenchMessage { force: messages::vector(&F.f), torque: messages::vector(&F.tau) };
        let entity = |body: BodyIndex| Entity {
            id: body.to_usize() as u64,
            name: scene.body_name(body).to_owned(),
            type_: LINK,
        };
        let name = |body: BodyIndex| Text { data: scene.body_name(body).to_owned() };
        let id = |body: BodyIndex| UInt32 { data: body.to_usize() as u32 };
        Contact {
            collision1: entity(self.A),
            collision2: entity(self.B),
            positions: vec![messages::vector(&p_WC)],
            normals: vec![messages::vector(&self.normal_W.try_normalize(0.0).unwrap_or_default())],
            depths: Vec::new(),
            wrenches: vec![JointWrench {
                header: messages::header(snapshot.time_ns, frame),
                body_1_name: name(self.A),
                body_1_id: id(self.A),
                body_2_name: name(self.B),
                body_2_id: id(self.B),
                body_1_wrench: wrench(&-F_BC_W),
                body_2_wrench: wrench(&F_BC_W),
            }],
        }
    }
}
