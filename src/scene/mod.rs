//! A scene: the bodies, their collision geometries, the pairs that may touch, and the actuators.

mod builder;
mod closure;
mod error;
mod material;
mod pairs;
mod parts;
mod signature;

pub use builder::SceneBuilder;
pub use closure::{Closure, ClosureError, ClosureKind};
pub use error::{SceneBuildError, SceneChangeError};
pub use material::{DEFAULT_DISSIPATION, DEFAULT_FRICTION, DEFAULT_MODULUS, DEFAULT_RELAXATION_TIME};
pub use parts::{Actuator, CollisionGeometry, ContactKind, ContactPair, VisualGeometry};
pub use signature::{SceneSignature, StartPhysics};

use crate::geometry::MeshNote;
use crate::math::{BodyIndex, GeometryIndex, Index, IndexVec, JointIndex, ScalarJointIndex, Vector3};
use crate::multibody::Model;

/// The data of a world that do not change from step to step. A scene is `Send + Sync`: share it in an `Arc`.
#[derive(Clone, Debug)]
pub struct Scene {
    model: Model,
    geometries: IndexVec<GeometryIndex, CollisionGeometry>,
    pairs: Vec<ContactPair>,
    joints: Vec<JointIndex>,
    joint_names: Vec<String>,
    actuators: Vec<Actuator>,
    free_bodies: Vec<BodyIndex>,
    contact_bodies: Vec<BodyIndex>,
    root_welds: Vec<JointIndex>,
    mesh_notes: Vec<(GeometryIndex, MeshNote)>,
    closures: Vec<Closure>,
}

impl Scene {
    /// The articulated bodies.
    pub fn model(&self) -> &Model {
        &self.model
    }
    /// All collision geometries.
    pub fn geometries(&self) -> &IndexVec<GeometryIndex, CollisionGeometry> {
        &self.geometries
    }
    /// The pairs that may touch, sorted; [`ContactPair::kind`] is the kind of their contact.
    pub fn contact_pairs(&self) -> &[ContactPair] {
        &self.pairs
    }
    /// The pairs of two rigid geometries, which touch at points.
    pub fn rigid_pairs(&self) -> impl Iterator<Item = &ContactPair> {
        self.pairs.iter().filter(|pair| pair.kind == ContactKind::Points)
    }
    /// Lets the geometries of the two bodies pass through each other from now on, those pairs that touch as
    /// `kind`.
    pub fn ignore_contact(&mut self, a: BodyIndex, b: BodyIndex, kind: ContactKind) {
        let geometries = &self.geometries;
        let bodies = |pair: &ContactPair| (geometries[pair.A].body, geometries[pair.B].body);
        self.pairs.retain(|pair| pair.kind != kind || ![(a, b), (b, a)].contains(&bodies(pair)));
    }
    /// The joints with one degree of freedom, mimic joints included, in the order of commands, states and
    /// actuators.
    pub fn joints(&self) -> &[JointIndex] {
        &self.joints
    }
    /// The names of [`Scene::joints`].
    pub fn joint_names(&self) -> &[String] {
        &self.joint_names
    }
    /// The actuators, in the order of [`Scene::joint_names`].
    pub fn actuators(&self) -> &[Actuator] {
        &self.actuators
    }
    /// Changes the gravity field [m/s2, world].
    ///
    /// # Errors
    /// A component that is not finite; gravity is then unchanged.
    pub fn set_gravity(&mut self, gravity_W: Vector3) -> Result<(), SceneChangeError> {
        Ok(self.model.set_gravity(gravity_W)?)
    }
    /// Changes stiffness [N m/rad, N/m] and damping [N m s/rad, N s/m] of a joint's actuator.
    ///
    /// # Errors
    /// An index outside the scene's joints, or a gain that is negative or not finite; both gains are then
    /// unchanged.
    pub fn set_gains(&mut self, joint: ScalarJointIndex, stiffness: f64, damping: f64) -> Result<(), SceneChangeError> {
        let (index, count) = (joint.to_usize(), self.actuators.len());
        let Some(actuator) = self.actuators.get_mut(index) else {
            return Err(SceneChangeError::UnknownJoint { joint: index, count });
        };
        for (gain, value) in [("stiffness", stiffness), ("damping", damping)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(SceneChangeError::Gain { joint: self.joint_names[index].clone(), gain, value });
            }
        }
        (actuator.stiffness, actuator.damping) = (stiffness, damping);
        Ok(())
    }
    /// The loop closures.
    pub fn closures(&self) -> &[Closure] {
        &self.closures
    }
    /// The loop closures, to be changed before the scene is given to a simulation.
    pub fn closures_mut(&mut self) -> &mut [Closure] {
        &mut self.closures
    }
    /// Bodies on a floating joint.
    pub fn free_bodies(&self) -> &[BodyIndex] {
        &self.free_bodies
    }
    /// Moving bodies that carry collision geometry.
    pub fn contact_bodies(&self) -> &[BodyIndex] {
        &self.contact_bodies
    }
    /// The fixed joints that hold the roots of models, in the order in which they were added.
    pub fn root_welds(&self) -> &[JointIndex] {
        &self.root_welds
    }
    /// A body's unique name.
    pub fn body_name(&self, body: BodyIndex) -> &str {
        &self.model.bodies()[body].name
    }
    /// The body with that name.
    pub fn body(&self, name: &str) -> Option<BodyIndex> {
        self.model.body(name)
    }
    /// A geometry's unique name.
    pub fn geometry_name(&self, geometry: GeometryIndex) -> &str {
        &self.geometries[geometry].name
    }
    /// Notes about the meshes of the collision geometries, such as repairs and parts left out.
    pub fn mesh_notes(&self) -> &[(GeometryIndex, MeshNote)] {
        &self.mesh_notes
    }
    /// The joint with that name, if it has one degree of freedom.
    pub fn joint(&self, name: &str) -> Option<ScalarJointIndex> {
        self.joint_names.iter().position(|joint| joint == name).map(ScalarJointIndex::from_usize)
    }
}
