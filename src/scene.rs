//! A scene: the bodies, their collision geometries, what may touch what, and the actuators.

use std::collections::BTreeSet;

use crate::contact::{CombinedMaterial, Compliance, ContactMaterial, ContactProperties};
use crate::geometry::{GeometryError, HydroelasticGeometry, HydroelasticParameters, MeshNote, RigidShape, Shape};
use crate::math::{BodyIndex, GeometryIndex, Index, IndexVec, JointIndex, RigidTransform, SpatialInertia, Vector3};
use crate::multibody::{JointKind, JointSpec, Model, ModelBuilder, ModelError};

/// Modulus of a compliant geometry when nothing states one [Pa]: stiff rubber.
pub const DEFAULT_MODULUS: f64 = 1e7;
/// Hunt-Crossley dissipation when nothing states one [s/m].
pub const DEFAULT_DISSIPATION: f64 = 10.0;
/// Relaxation time of the linear law when nothing states one [s].
pub const DEFAULT_RELAXATION_TIME: f64 = 0.01;
/// Friction coefficient when nothing states one [-].
pub const DEFAULT_FRICTION: f64 = 0.5;

/// A collision geometry of a body.
#[derive(Clone, Debug)]
pub struct CollisionGeometry {
    /// Unique name, `body/element`.
    pub name: String,
    /// The body that carries it.
    pub body: BodyIndex,
    /// Pose of the geometry in its body.
    pub X_BG: RigidTransform,
    /// Its shape.
    pub shape: Shape,
    /// Its mesh and pressure field.
    pub hydroelastic: HydroelasticGeometry,
    /// What point contact with other rigid geometries sees of it; `None` where it is compliant.
    pub rigid: Option<RigidShape>,
    /// Its contact material.
    pub material: ContactMaterial,
}

/// A geometry of a body that is only seen.
#[derive(Clone, Debug)]
pub struct VisualGeometry {
    /// The body that carries it.
    pub body: BodyIndex,
    /// Pose of the geometry in its body.
    pub X_BV: RigidTransform,
    /// Its shape.
    pub shape: Shape,
    /// Red, green, blue, alpha in 0..1; `None` where the file names no colour.
    pub color: Option<[f64; 4]>,
}

/// What the contact of a pair is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactKind {
    /// A surface of equal pressure: at least one of the two is compliant.
    #[default]
    PressureField,
    /// Points: both are rigid, and no pressure field tells where they touch.
    Points,
}

/// Two geometries that may touch, A with the smaller index, and what their contact is like.
#[derive(Clone, Copy, Debug)]
pub struct ContactPair {
    /// The geometry with the smaller index.
    pub A: GeometryIndex,
    /// The other geometry.
    pub B: GeometryIndex,
    /// What their contact is made of.
    pub kind: ContactKind,
    /// Their combined material.
    pub material: CombinedMaterial,
}

/// The impedance that drives a joint with one degree of freedom:
/// effort = clamp(stiffness (q_cmd - q) + damping (v_cmd - v) + feed-forward, +-effort_limit).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actuator {
    /// Stiffness [N m/rad] or [N/m].
    pub stiffness: f64,
    /// Damping [N m s/rad] or [N s/m].
    pub damping: f64,
    /// Largest effort [N m] or [N]; infinite where there is none.
    pub effort_limit: f64,
    /// Whether the gravity torque of the joint is fed forward.
    pub gravity_compensation: bool,
}

impl Actuator {
    /// An actuator that passes effort commands on, without limit.
    pub const PASSIVE: Self =
        Self { stiffness: 0.0, damping: 0.0, effort_limit: f64::INFINITY, gravity_compensation: false };
}

/// Why a scene cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum SceneBuildError {
    /// The bodies and joints make no model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A geometry cannot be tessellated.
    #[error("collision geometry '{geometry}' of body '{body}' cannot be tessellated")]
    Geometry {
        /// The geometry's name.
        geometry: String,
        /// Its body's name.
        body: String,
        /// What is wrong.
        source: GeometryError,
    },
    /// A contact property is out of its range.
    #[error("collision geometry '{geometry}': {property} is {value}; it must be {range}")]
    Property {
        /// The geometry's name.
        geometry: String,
        /// Which property.
        property: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
}

/// Everything about a world that does not change from step to step. `Send + Sync`: share it behind an `Arc`.
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
    mesh_notes: Vec<(GeometryIndex, MeshNote)>,
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
    /// The pairs that may touch, sorted; [`ContactPair::kind`] tells what their contact is made of.
    pub fn contact_pairs(&self) -> &[ContactPair] {
        &self.pairs
    }
    /// The pairs without a pressure field on either side, which touch at points.
    pub fn rigid_pairs(&self) -> impl Iterator<Item = &ContactPair> {
        self.pairs.iter().filter(|pair| pair.kind == ContactKind::Points)
    }
    /// Lets the rigid geometries of the two bodies pass through each other from now on.
    pub fn ignore_rigid_contact(&mut self, a: BodyIndex, b: BodyIndex) {
        let geometries = &self.geometries;
        let bodies = |pair: &ContactPair| (geometries[pair.A].body, geometries[pair.B].body);
        self.pairs.retain(|pair| pair.kind != ContactKind::Points || ![(a, b), (b, a)].contains(&bodies(pair)));
    }
    /// The joints with one degree of freedom, mimic joints included: the order of commands, states and actuators.
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
    /// Changes the gravity field [m/s2, world]; one that is not finite is left alone.
    pub fn set_gravity(&mut self, gravity_W: Vector3) {
        self.model.set_gravity(gravity_W);
    }
    /// Changes stiffness and damping of the actuator at `joint` in [`Scene::joint_names`]; values that are negative or
    /// not finite are left alone.
    pub fn set_gains(&mut self, joint: usize, stiffness: f64, damping: f64) {
        let valid = |gain: f64| gain >= 0.0 && gain.is_finite();
        if let Some(actuator) = self.actuators.get_mut(joint)
            && valid(stiffness)
            && valid(damping)
        {
            (actuator.stiffness, actuator.damping) = (stiffness, damping);
        }
    }
    /// Bodies that hang on a floating joint.
    pub fn free_bodies(&self) -> &[BodyIndex] {
        &self.free_bodies
    }
    /// Moving bodies that carry collision geometry.
    pub fn contact_bodies(&self) -> &[BodyIndex] {
        &self.contact_bodies
    }
    /// A body's unique name.
    pub fn body_name(&self, body: BodyIndex) -> &str {
        &self.model.bodies()[body].name
    }
    /// The body of that name.
    pub fn body(&self, name: &str) -> Option<BodyIndex> {
        self.model.body(name)
    }
    /// A geometry's unique name.
    pub fn geometry_name(&self, geometry: GeometryIndex) -> &str {
        &self.geometries[geometry].name
    }
    /// What was repaired or left out in the meshes of the collision geometries, and what else a person should know of them.
    pub fn mesh_notes(&self) -> &[(GeometryIndex, MeshNote)] {
        &self.mesh_notes
    }
    /// Where the joint of that name stands in [`Scene::joint_names`].
    pub fn joint_position(&self, name: &str) -> Option<usize> {
        self.joint_names.iter().position(|joint| joint == name)
    }
}

/// Collects bodies, joints, geometries and filters, and builds a [`Scene`].
#[derive(Debug)]
pub struct SceneBuilder {
    model: ModelBuilder,
    body_names: IndexVec<BodyIndex, String>,
    geometries: IndexVec<GeometryIndex, CollisionGeometry>,
    excluded: BTreeSet<(BodyIndex, BodyIndex)>,
    actuators: Vec<(JointIndex, Actuator)>,
    mesh_notes: Vec<(GeometryIndex, MeshNote)>,
    /// What stated resolution hints are divided by [-].
    refinement: f64,
}

impl Default for SceneBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl SceneBuilder {
    /// A scene with nothing but the world.
    pub fn new() -> Self {
        let mut body_names = IndexVec::new();
        body_names.push("world".to_owned());
        Self {
            model: ModelBuilder::new(),
            body_names,
            geometries: IndexVec::new(),
            excluded: BTreeSet::new(),
            actuators: Vec::new(),
            mesh_notes: Vec::new(),
            refinement: 1.0,
        }
    }

    /// From now on the resolution hints of geometries are divided by `refinement`; one that is not positive and finite is left alone.
    pub fn set_refinement(&mut self, refinement: f64) {
        if refinement > 0.0 && refinement.is_finite() {
            self.refinement = refinement;
        }
    }

    /// Adds a body with its inertia about Bo in B's axes.
    pub fn add_body(&mut self, name: &str, inertia: SpatialInertia) -> BodyIndex {
        self.body_names.push(name.to_owned());
        self.model.add_body(name, inertia)
    }

    /// Adds a joint.
    ///
    /// # Errors
    /// What [`ModelBuilder::add_joint`] refuses.
    pub fn add_joint(&mut self, joint: JointSpec) -> Result<JointIndex, ModelError> {
        self.model.add_joint(joint)
    }

    /// Sets the actuator of a joint with one degree of freedom; joints without one are [`Actuator::PASSIVE`].
    pub fn set_actuator(&mut self, joint: JointIndex, actuator: Actuator) {
        self.actuators.push((joint, actuator));
    }

    /// Adds a collision geometry to `body`. What `properties` leaves open is compliant rubber for shapes that can be
    /// compliant, and rigid for meshes and half spaces.
    ///
    /// # Errors
    /// A property out of its range, or a shape that cannot be tessellated.
    pub fn add_geometry(
        &mut self,
        body: BodyIndex,
        name: &str,
        X_BG: RigidTransform,
        shape: Shape,
        properties: &ContactProperties,
    ) -> Result<GeometryIndex, SceneBuildError> {
        let body_name = &self.body_names[body];
        let name = self.unique_geometry_name(format!("{body_name}/{name}"));
        let material = material_of(&name, &shape, properties)?;
        let parameters = HydroelasticParameters {
            compliant: match material.compliance {
                Compliance::Rigid => None,
                Compliance::Compliant { modulus } => Some(modulus),
            },
            resolution_hint: properties.mesh_resolution_hint.map(|hint| hint / self.refinement),
            slab_thickness: properties.slab_thickness,
            margin: properties.margin.unwrap_or(0.0),
        };
        let mut notes = Vec::new();
        let hydroelastic = HydroelasticGeometry::with_notes(&shape, &parameters, &mut notes)
            .map_err(|source| SceneBuildError::Geometry { geometry: name.clone(), body: body_name.clone(), source })?;
        let rigid = match material.compliance {
            Compliance::Compliant { .. } => None,
            Compliance::Rigid => Some(RigidShape::new(&shape).map_err(|source| SceneBuildError::Geometry {
                geometry: name.clone(),
                body: body_name.clone(),
                source,
            })?),
        };
        let index = self.geometries.push(CollisionGeometry { name, body, X_BG, shape, hydroelastic, rigid, material });
        self.mesh_notes.extend(notes.into_iter().map(|note| (index, note)));
        Ok(index)
    }

    /// What there is to know of the meshes added so far; see [`Scene::mesh_notes`].
    pub fn mesh_notes(&self) -> &[(GeometryIndex, MeshNote)] {
        &self.mesh_notes
    }

    fn unique_geometry_name(&self, name: String) -> String {
        let taken = |candidate: &str| self.geometries.iter().any(|geometry| geometry.name == candidate);
        if !taken(&name) {
            return name;
        }
        let mut number = 2;
        loop {
            let candidate = format!("{name}_{number}");
            if !taken(&candidate) {
                return candidate;
            }
            number += 1;
        }
    }

    /// Declares that geometries of the two bodies never touch.
    pub fn exclude_contact(&mut self, a: BodyIndex, b: BodyIndex) {
        self.excluded.insert((a.min(b), a.max(b)));
    }

    /// Builds the scene. Geometries of one body, of bodies welded together and of bodies joined by a joint do not
    /// collide; a joint that leaves its body free, or that stands on the world itself, does not count.
    ///
    /// # Errors
    /// What [`ModelBuilder::build`] refuses.
    pub fn build(self, gravity_W: Vector3) -> Result<Scene, SceneBuildError> {
        let model = self.model.build(gravity_W)?;
        let joints: Vec<JointIndex> = model
            .joints()
            .iter_enumerated()
            .filter(|(_, joint)| joint.kind.nv() == 1)
            .map(|(index, _)| index)
            .collect();
        let joint_names: Vec<String> = joints.iter().map(|joint| model.joints()[*joint].name.clone()).collect();
        let mut actuators = vec![Actuator::PASSIVE; joint_names.len()];
        for (joint, actuator) in self.actuators {
            if let Some(position) = joints.iter().position(|scalar| *scalar == joint) {
                actuators[position] = actuator;
            }
        }
        let pairs = contact_pairs(&model, &self.geometries, &self.excluded);
        let free_bodies =
            model.joints().iter().filter(|joint| joint.kind == JointKind::Floating).map(|joint| joint.child).collect();
        let contact_bodies: BTreeSet<BodyIndex> = self
            .geometries
            .iter()
            .map(|geometry| geometry.body)
            .filter(|body| model.welded_group(*body) != model.welded_group(BodyIndex::WORLD))
            .collect();
        Ok(Scene {
            model,
            geometries: self.geometries,
            pairs,
            joints,
            joint_names,
            actuators,
            free_bodies,
            contact_bodies: contact_bodies.into_iter().collect(),
            mesh_notes: self.mesh_notes,
        })
    }
}

fn contact_pairs(
    model: &Model,
    geometries: &IndexVec<GeometryIndex, CollisionGeometry>,
    excluded: &BTreeSet<(BodyIndex, BodyIndex)>,
) -> Vec<ContactPair> {
    let mut pairs = Vec::new();
    for (A, a) in geometries.iter_enumerated() {
        for (B, b) in geometries.iter_enumerated().skip(A.to_usize() + 1) {
            let bodies = (a.body.min(b.body), a.body.max(b.body));
            let together = model.welded_group(a.body) == model.welded_group(b.body);
            if together || joined(model, a.body, b.body) || excluded.contains(&bodies) {
                continue;
            }
            let rigid = a.rigid.is_some() && b.rigid.is_some();
            let kind = if rigid { ContactKind::Points } else { ContactKind::PressureField };
            pairs.push(ContactPair { A, B, kind, material: a.material.combine(&b.material) });
        }
    }
    pairs
}

/// Whether a joint holds the two bodies so close that their geometries are not meant to touch: a moving joint between
/// what is welded to them. Free bodies, and whatever stands on the world's own body, may touch it; of what is welded to
/// the world only the bodies that the joint names count.
fn joined(model: &Model, a: BodyIndex, b: BodyIndex) -> bool {
    let world = model.welded_group(BodyIndex::WORLD);
    let fixed = model.welded_group(a) == world || model.welded_group(b) == world;
    model.adjacent(a, b)
        && model.joints().iter().any(|joint| {
            let ends = [joint.parent, joint.child];
            let holds = joint.kind != JointKind::Floating && joint.parent != BodyIndex::WORLD;
            let same_groups = |x: BodyIndex, y: BodyIndex| {
                model.welded_group(joint.parent) == model.welded_group(x)
                    && model.welded_group(joint.child) == model.welded_group(y)
            };
            holds && if fixed { ends == [a, b] || ends == [b, a] } else { same_groups(a, b) || same_groups(b, a) }
        })
}

/// The material that `properties` state for `shape`, defaults filled in.
fn material_of(name: &str, shape: &Shape, properties: &ContactProperties) -> Result<ContactMaterial, SceneBuildError> {
    let check = |property, value: Option<f64>, default: f64, positive: bool| {
        let value = value.unwrap_or(default);
        if value.is_finite() && (value > 0.0 || (!positive && value == 0.0)) {
            Ok(value)
        } else {
            let range = if positive { "positive and finite" } else { "zero or positive, and finite" };
            Err(SceneBuildError::Property { geometry: name.to_owned(), property, value, range })
        }
    };
    let rigid_by_default = matches!(shape, Shape::Mesh(_) | Shape::HalfSpace);
    let compliant = properties.compliant.unwrap_or(properties.hydroelastic_modulus.is_some() || !rigid_by_default);
    let modulus = check("hydroelastic_modulus", properties.hydroelastic_modulus, DEFAULT_MODULUS, true)?;
    check("mesh_resolution_hint", properties.mesh_resolution_hint, 1.0, true)?;
    check("slab_thickness", properties.slab_thickness, 1.0, true)?;
    check("margin", properties.margin, 0.0, false)?;
    Ok(ContactMaterial {
        compliance: if compliant { Compliance::Compliant { modulus } } else { Compliance::Rigid },
        dissipation: check(
            "hunt_crossley_dissipation",
            properties.hunt_crossley_dissipation,
            DEFAULT_DISSIPATION,
            false,
        )?,
        relaxation_time: check("relaxation_time", properties.relaxation_time, DEFAULT_RELAXATION_TIME, false)?,
        point_stiffness: match properties.point_contact_stiffness {
            None => None,
            stiffness => Some(check("point_contact_stiffness", stiffness, 1.0, true)?),
        },
        friction: check("mu_dynamic", properties.mu_dynamic.or(properties.mu_static), DEFAULT_FRICTION, false)?,
    })
}
