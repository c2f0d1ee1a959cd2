//! Builds a scene.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Scene;
use super::closure::Closure;
use super::error::SceneBuildError;
use super::material::material_of;
use super::pairs::contact_pairs;
use super::parts::{Actuator, CollisionGeometry};
use crate::contact::{Compliance, ContactProperties};
use crate::geometry::make::{fill_only, wrapped};
use crate::geometry::{
    GeometryError, HydroelasticGeometry, HydroelasticParameters, MeshNote, RigidShape, Shape, SurfaceMesh,
};
use crate::math::{BodyIndex, GeometryIndex, IndexVec, JointIndex, RigidTransform, SpatialInertia, Vector3};
use crate::multibody::{JointKind, JointSpec, ModelBuilder, ModelError};

/// Collects bodies, joints, geometries and filters, and builds a [`Scene`].
#[derive(Debug)]
pub struct SceneBuilder {
    model: ModelBuilder,
    body_names: IndexVec<BodyIndex, String>,
    geometries: IndexVec<GeometryIndex, CollisionGeometry>,
    excluded: BTreeSet<(BodyIndex, BodyIndex)>,
    actuators: Vec<(JointIndex, Actuator)>,
    root_welds: Vec<JointIndex>,
    mesh_notes: Vec<(GeometryIndex, MeshNote)>,
    /// How each geometry was tessellated.
    parameters: IndexVec<GeometryIndex, HydroelasticParameters>,
    closures: Vec<Closure>,
    /// The wraps made so far, because each takes seconds.
    wraps: Vec<WrapMade>,
    /// The divisor of the stated resolution hints [-].
    refinement: f64,
}

/// A wrap, and what it was made of.
#[derive(Debug)]
struct WrapMade {
    surface: Arc<SurfaceMesh>,
    distance: f64,
    parameters: HydroelasticParameters,
    shape: Shape,
    notes: Vec<MeshNote>,
}

/// Remarks about properties of a geometry that have no effect.
fn without_effect(shape: &Shape, wrap: Option<f64>, parameters: &HydroelasticParameters) -> Vec<MeshNote> {
    let is_mesh = matches!(shape, Shape::Mesh(_));
    let mut notes = Vec::new();
    if wrap.is_some() && !is_mesh {
        let on = "triangle meshes that are not declared convex";
        notes.push(MeshNote::NoEffect { property: "wrap", on });
    }
    if !is_mesh || parameters.compliant.is_none() {
        notes.extend(fill_only(parameters));
    }
    notes
}

impl Default for SceneBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl SceneBuilder {
    /// A scene with only the world.
    pub fn new() -> Self {
        let mut body_names = IndexVec::new();
        body_names.push("world".to_owned());
        Self {
            model: ModelBuilder::new(),
            body_names,
            geometries: IndexVec::new(),
            excluded: BTreeSet::new(),
            actuators: Vec::new(),
            root_welds: Vec::new(),
            mesh_notes: Vec::new(),
            parameters: IndexVec::new(),
            closures: Vec::new(),
            wraps: Vec::new(),
            refinement: 1.0,
        }
    }

    /// Divides the resolution hints of the geometries that are added from now on by `refinement` [-].
    ///
    /// # Errors
    /// A refinement that is not positive and finite; the previous one then remains.
    pub fn set_refinement(&mut self, refinement: f64) -> Result<(), SceneBuildError> {
        if !(refinement > 0.0 && refinement.is_finite()) {
            return Err(SceneBuildError::Refinement { value: refinement });
        }
        self.refinement = refinement;
        Ok(())
    }

    /// Adds a body with its inertia about Bo in B's axes.
    pub fn add_body(&mut self, name: &str, inertia: SpatialInertia) -> BodyIndex {
        self.body_names.push(name.to_owned());
        self.model.add_body(name, inertia)
    }

    /// Adds a joint.
    ///
    /// # Errors
    /// The errors of [`ModelBuilder::add_joint`].
    pub fn add_joint(&mut self, joint: JointSpec) -> Result<JointIndex, ModelError> {
        self.model.add_joint(joint)
    }

    /// Welds the root of a model to `parent`, where X_PR is the pose of the root R in it. `name` is the name
    /// of the joint.
    ///
    /// # Errors
    /// The errors of [`ModelBuilder::add_joint`].
    pub fn weld_root(
        &mut self,
        name: &str,
        parent: BodyIndex,
        root: BodyIndex,
        X_PR: RigidTransform,
    ) -> Result<JointIndex, ModelError> {
        let weld = JointSpec { X_PF: X_PR, ..JointSpec::new(name, parent, root, JointKind::Fixed) };
        let joint = self.model.add_joint(weld)?;
        self.root_welds.push(joint);
        Ok(joint)
    }

    /// Sets the actuator of a joint with one degree of freedom. All others have [`Actuator::PASSIVE`].
    pub fn set_actuator(&mut self, joint: JointIndex, actuator: Actuator) {
        self.actuators.push((joint, actuator));
    }

    /// Adds a collision geometry to `body`. If `properties` states neither compliance nor modulus, surface
    /// meshes and half spaces are rigid, and other shapes are compliant like stiff rubber.
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
        let body_name = self.body_names[body].clone();
        let name = self.unique_geometry_name(format!("{body_name}/{name}"));
        let material = material_of(&name, &shape, properties)?;
        let fail = |source| SceneBuildError::Geometry { geometry: name.clone(), body: body_name.clone(), source };
        let parameters = HydroelasticParameters {
            compliant: match material.compliance {
                Compliance::Rigid => None,
                Compliance::Compliant { modulus } => Some(modulus),
            },
            resolution_hint: properties.mesh_resolution_hint.map(|hint| hint / self.refinement),
            slab_thickness: properties.slab_thickness,
            margin: properties.margin.unwrap_or(0.0),
            surface_tolerance: properties.surface_tolerance,
            pressure_field: properties.pressure_field.unwrap_or_default(),
        };
        let ignored = without_effect(&shape, properties.wrap, &parameters);
        let (shape, wrap_notes) = match (&shape, properties.wrap) {
            (Shape::Mesh(surface), Some(distance)) => self.wrap(surface, distance, &parameters).map_err(fail)?,
            _ => (shape, Vec::new()),
        };
        let (hydroelastic, rigid, notes) = match self.twin(&shape, &parameters) {
            Some(twin) => twin,
            None => {
                let mut notes = wrap_notes;
                let hydroelastic = HydroelasticGeometry::with_notes(&shape, &parameters, &mut notes).map_err(fail)?;
                let rigid = match material.compliance {
                    Compliance::Compliant { .. } => None,
                    Compliance::Rigid => Some(RigidShape::of(&shape, &hydroelastic, &notes).map_err(fail)?),
                };
                (hydroelastic, rigid, notes)
            }
        };
        self.parameters.push(parameters);
        let states_compliance = properties.compliant.is_some() || properties.hydroelastic_modulus.is_some();
        let geometry = CollisionGeometry { name, body, X_BG, shape, hydroelastic, rigid, material, states_compliance };
        let index = self.geometries.push(geometry);
        let ignored = ignored.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>();
        self.mesh_notes.extend(notes.into_iter().chain(ignored).map(|note| (index, note)));
        Ok(index)
    }

    /// The wrap of a mesh with its notes. A second geometry with the same mesh shares it.
    fn wrap(
        &mut self,
        surface: &Arc<SurfaceMesh>,
        distance: f64,
        parameters: &HydroelasticParameters,
    ) -> Result<(Shape, Vec<MeshNote>), GeometryError> {
        // The margin is applied to the result.
        let parameters = HydroelasticParameters { margin: 0.0, ..*parameters };
        let same =
            |made: &&WrapMade| made.distance == distance && made.parameters == parameters && made.surface == *surface;
        if let Some(made) = self.wraps.iter().find(same) {
            return Ok((made.shape.clone(), made.notes.clone()));
        }
        let mut notes = Vec::new();
        let shape = wrapped(surface, distance, &parameters, &mut notes)?;
        let (made, kept) = (shape.clone(), notes.clone());
        self.wraps.push(WrapMade { surface: surface.clone(), distance, parameters, shape: made, notes: kept });
        Ok((shape, notes))
    }

    /// Copies of the two representations and the notes of an earlier geometry with the same mesh, which need
    /// not be made again; `None` for other shapes, which are made quickly.
    fn twin(
        &self,
        shape: &Shape,
        parameters: &HydroelasticParameters,
    ) -> Option<(HydroelasticGeometry, Option<RigidShape>, Vec<MeshNote>)> {
        if !matches!(shape, Shape::Mesh(_) | Shape::Convex(_) | Shape::Volume { .. }) {
            return None;
        }
        let same = |(index, other): &(GeometryIndex, &CollisionGeometry)| {
            self.parameters[*index] == *parameters && other.shape == *shape
        };
        let (index, other) = self.geometries.iter_enumerated().find(same)?;
        let notes = self.mesh_notes.iter().filter(|(of, _)| *of == index).map(|(_, note)| note.clone());
        Some((other.hydroelastic.clone(), other.rigid.clone(), notes.collect()))
    }

    /// Notes about the meshes added so far; see [`Scene::mesh_notes`].
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

    /// Adds a loop closure. It joins two bodies of the scene, one of which may be the world. Geometries of
    /// the two may still touch unless [`SceneBuilder::exclude_contact`] excludes them.
    pub fn add_closure(&mut self, closure: Closure) {
        self.closures.push(closure);
    }

    /// Builds the scene. Geometries of one body, of bodies welded together and of bodies joined by a joint do
    /// not collide. A floating joint does not count, and neither does a joint whose parent is the world
    /// itself.
    ///
    /// # Errors
    /// The errors of [`ModelBuilder::build`].
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
        let pairs = contact_pairs(&model, &self.geometries, &self.root_welds, &self.excluded);
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
            root_welds: self.root_welds,
            mesh_notes: self.mesh_notes,
            closures: self.closures,
        })
    }
}
