//! A scene file before it is built. Models can be added and removed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{Place, SceneError};
use super::loaded_scene::LoadedScene;
use super::reader::Named;
use super::schema::{BaseSpec, ModelSpec, SceneSpec};
use super::source_changes::{Entity, SourceChanges};
use super::{assemble, schema, tree};
use crate::io::limits;
use crate::io::package::PackageMap;
use crate::io::urdf::{self, LoadOptions, UrdfError};
use crate::math::SpatialVelocity;
use crate::multibody::JointKind;
use crate::robot::RobotDescription;

/// A scene file, read and not yet built.
#[derive(Clone, Debug)]
pub struct SceneSource {
    spec: SceneSpec,
    folder: PathBuf,
    changes: SourceChanges,
}

impl SceneSource {
    /// Reads the scene file at `path`, and those that it includes.
    ///
    /// # Errors
    /// The errors of [`load`](super::load) that concern the file itself.
    pub fn read(path: &Path, packages: &PackageMap) -> Result<Self, SceneError> {
        let text = limits::read_text(path).map_err(|source| SceneError::Read { file: path.to_path_buf(), source })?;
        Self::read_str(&text, path, packages)
    }

    /// Like [`SceneSource::read`], from text; `label` replaces the file name in messages, and its folder is
    /// the file's.
    ///
    /// # Errors
    /// The errors of [`SceneSource::read`].
    pub fn read_str(text: &str, label: &Path, packages: &PackageMap) -> Result<Self, SceneError> {
        let spec = schema::read_scene(&tree::read(text, label, packages, &[])?)?;
        let folder = label.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Self { spec, folder, changes: SourceChanges::default() })
    }

    /// An empty world whose relative addresses start at `folder`.
    ///
    /// # Errors
    /// The text of the empty scene cannot be read, which is a defect of this program.
    pub fn nothing(folder: &Path) -> Result<Self, SceneError> {
        Self::read_str("models: []", &folder.join("nothing.yaml"), &PackageMap::new())
    }

    /// The folder of relative addresses.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The names of the models.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.spec.models.iter().map(|model| model.name.name.as_str())
    }

    /// Takes a model out, with all entries of the file that name it or its parts: outputs, commands,
    /// wrenches, sensors, materials, pairs without contact, loop closures.
    /// Returns false if there is no model of that name.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.spec.models.len();
        self.spec.models.retain(|model| model.name.name != name);
        let found = self.spec.models.len() < before;
        self.spec.has_gaps |= found;
        let added = self.changes.added.len();
        self.changes.added.retain(|(entity, _)| entity.name != name);
        if found && self.changes.added.len() == added {
            self.changes.removed.push(name.to_owned());
        }
        found
    }

    /// Adds an entity after the existing models. It is free, unless its root link is called `world`, or the
    /// root and the links fixed to it have no mass: then it is welded at its pose. If any name of its links
    /// and joints is `taken`, all of them are prefixed with the entity's name.
    ///
    /// # Errors
    /// A fault of the URDF.
    pub fn add(
        &mut self,
        entity: Entity,
        packages: &PackageMap,
        taken: &dyn Fn(&str) -> bool,
    ) -> Result<(), UrdfError> {
        let Entity { name, urdf, label, folder, X_WB } = entity.clone();
        let robot = urdf::load_str(&urdf, &label, &folder, packages, &LoadOptions::default())?;
        let links = robot.links.iter().map(|link| link.name.as_str());
        let conflict = links.chain(robot.joints.iter().map(|joint| joint.name.as_str())).any(taken);
        let place = Place::start(&Arc::from(label.as_path()));
        let named = |name: String| Named { place: place.clone(), name };
        self.spec.models.push(ModelSpec {
            urdf: named(label.display().to_string()),
            text: Some((urdf, folder)),
            xacro_arguments: Vec::new(),
            body: None,
            srdf: None,
            group_states: Vec::new(),
            random: None,
            prefix: if conflict { format!("{name}_") } else { String::new() },
            base: if is_held(&robot) {
                BaseSpec::Weld { parent: None, X_PB: X_WB }
            } else {
                BaseSpec::Free { X_WB, V_WB: SpatialVelocity::ZERO }
            },
            velocities: Vec::new(),
            springs: Vec::new(),
            joints: Vec::new(),
            actuators: Vec::new(),
            gravity_compensation: false,
            materials: Vec::new(),
            name: named(name),
            place,
        });
        self.changes.added.push((entity, conflict));
        Ok(())
    }

    /// The models that were taken out and added since the file was read.
    pub fn changes(&self) -> &SourceChanges {
        &self.changes
    }

    /// Applies these changes, first those that remove models.
    ///
    /// # Errors
    /// A fault of an added model's URDF.
    pub fn apply(&mut self, changes: &SourceChanges, packages: &PackageMap) -> Result<(), UrdfError> {
        for name in &changes.removed {
            self.remove(name);
        }
        for (entity, prefixed) in &changes.added {
            self.add(entity.clone(), packages, &|_| *prefixed)?;
        }
        Ok(())
    }

    /// Builds the scene, like [`load`](super::load).
    ///
    /// # Errors
    /// The errors of [`load`](super::load).
    pub fn build(&self, packages: &PackageMap) -> Result<LoadedScene, SceneError> {
        assemble::assemble(&self.spec, packages, &LoadOptions::default(), None)
    }
}

/// The name that a URDF or an SDFormat file gives its robot, if it has one.
pub fn robot_name(urdf: &str) -> Option<String> {
    let root = crate::io::xml::parse(urdf).ok()?;
    let robot = if root.name == "sdf" { root.child("model").or_else(|| root.child("world"))? } else { &root };
    robot.attribute("name").map(str::to_owned)
}

/// Whether the root cannot move: it is called `world`, or neither it nor a link fixed to it has mass.
fn is_held(robot: &RobotDescription) -> bool {
    let Some(root) = robot.root() else { return true };
    let mut fixed = vec![root.name.as_str()];
    let mut next = 0;
    while let Some(link) = fixed.get(next).copied() {
        let of_link = robot.joints.iter().filter(|joint| joint.kind == JointKind::Fixed && joint.parent == link);
        fixed.extend(of_link.map(|joint| joint.child.as_str()));
        next += 1;
    }
    let has_mass = |name: &&str| {
        robot.link(name).and_then(|link| link.inertial.as_ref()).is_some_and(|inertial| inertial.mass > 0.0)
    };
    root.name == "world" || !fixed.iter().any(has_mass)
}
