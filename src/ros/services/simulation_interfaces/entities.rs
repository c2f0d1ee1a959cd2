//! Entities are the models of the scene, identified by name. The pose of an entity is that of its root link.

use std::collections::BTreeMap;

use crate::ros::client::interfaces::geometry_msgs::msg::{Accel, Pose, Twist, Vector3 as Vector3Message};
use crate::ros::client::interfaces::simulation_interfaces::msg::{
    Bounds, EntityCategory, EntityFilters, EntityInfo, EntityState, Result as Outcome, TagsFilter,
};
use regex::RegexBuilder;

use super::codes::{
    BOUNDS_BOX, BOUNDS_CONVEX_HULL, BOUNDS_EMPTY, BOUNDS_SPHERE, FAILED, INVALID_POSE, NOT_FOUND, OBJECT, ROBOT,
    STATIC_OBJECT, TAGS_ALL, UNSUPPORTED, refused,
};
use crate::geometry::Aabb;
use crate::io::scene_file::SceneModel;
use crate::math::{Index, RigidTransform, SpatialVelocity, Vector3};
use crate::ros::client::messages;
use crate::ros::exchange::requests::BodyStates;
use crate::ros::log::names::{did_you_mean, shown};
use crate::ros::services::context::CurrentWorld;

/// The longest regular expression \[bytes\].
const PATTERN_LENGTH_MAX: usize = 4096;
/// The memory limit of a regular expression \[bytes\].
const PATTERN_MEMORY_MAX: usize = 1 << 20;
/// Largest coordinate \[m\], as in scene files, and largest speed [m/s, rad/s].
const FAR: f64 = 1e4;
/// Largest distance of a quaternion's norm from 1; quaternions in messages are rounded \[-\].
const QUATERNION_ERROR_MAX: f64 = 1e-2;
/// Longest description and tags of an entity \[bytes\].
const INFO_LENGTH_MAX: usize = 64 << 10;

/// The descriptions of entities set by clients.
#[derive(Default)]
pub(crate) struct EntityInfos {
    infos: BTreeMap<String, EntityInfo>,
    /// The number of the world that they belong to, as it was loaded.
    world: u64,
}

/// The entities at a step boundary.
pub(crate) struct Entities<'a> {
    pub(crate) world: &'a CurrentWorld,
    pub(crate) infos: &'a EntityInfos,
    pub(crate) states: &'a BodyStates,
    pub(crate) frame: &'a str,
}

/// The entity with that name.
pub(crate) fn find<'a>(world: &'a CurrentWorld, name: &str) -> Result<&'a SceneModel, Outcome> {
    world.models.iter().find(|model| model.name == name).ok_or_else(|| {
        let suggestion = did_you_mean(name, world.models.iter().map(|model| model.name.as_str()));
        refused(NOT_FOUND, format!("there is no entity '{}'{suggestion}", shown(name)))
    })
}

impl EntityInfos {
    /// The info set by a client, else the category derived from the entity's joints.
    pub(crate) fn info(&self, model: &SceneModel) -> EntityInfo {
        self.infos.get(&model.name).cloned().unwrap_or_else(|| EntityInfo {
            category: EntityCategory {
                category: if model.joints > 0 {
                    ROBOT
                } else if model.is_free {
                    OBJECT
                } else {
                    STATIC_OBJECT
                },
            },
            ..EntityInfo::default()
        })
    }

    /// Stores the info set by a client.
    pub(crate) fn set(&mut self, model: &SceneModel, info: EntityInfo) -> Result<(), Outcome> {
        let length = info.description.len() + info.tags.iter().map(|tag| tag.len() + 1).sum::<usize>();
        if length > INFO_LENGTH_MAX {
            return Err(refused(
                FAILED,
                format!("{length} bytes of description and tags; at most {INFO_LENGTH_MAX} are kept"),
            ));
        }
        self.infos.insert(model.name.clone(), info);
        Ok(())
    }

    /// Discards the info of entities that are no longer among `models`, and all info if another world was
    /// loaded: its entities of the same names are others.
    pub(crate) fn keep(&mut self, world: u64, models: &[SceneModel]) {
        if std::mem::replace(&mut self.world, world) != world {
            self.infos.clear();
        }
        self.infos.retain(|name, _| models.iter().any(|model| model.name == *name));
    }
}

impl Entities<'_> {
    /// The entities that pass the filters, in the order of the scene.
    pub(crate) fn select(&self, filters: &EntityFilters) -> Result<Vec<&SceneModel>, Outcome> {
        if filters.filter.len() > PATTERN_LENGTH_MAX {
            let length = filters.filter.len();
            return Err(refused(
                FAILED,
                format!("the filter is {length} bytes long; at most {PATTERN_LENGTH_MAX} are read"),
            ));
        }
        let pattern = RegexBuilder::new(&filters.filter).size_limit(PATTERN_MEMORY_MAX).build().map_err(|error| {
            refused(FAILED, format!("the filter is not a regular expression: {}", shown(&error.to_string())))
        })?;
        let region = Region::new(&filters.bounds)?;
        let passes = |model: &&SceneModel| {
            let info = self.infos.info(model);
            pattern.is_match(&model.name)
                && (filters.categories.is_empty() || filters.categories.contains(&info.category))
                && has_tags(&info.tags, &filters.tags)
                && region.as_ref().is_none_or(|region| region.touches(&self.world_box(model)))
        };
        Ok(self.world.models.iter().filter(passes).collect())
    }

    /// Pose, velocity and acceleration of an entity in the world.
    pub(crate) fn state(&self, model: &SceneModel) -> EntityState {
        let body = model.root.to_usize();
        let X_WB = self.states.X_WB.iter().nth(body).copied().unwrap_or_else(RigidTransform::identity);
        let motion = |of: Option<&SpatialVelocity>| of.copied().unwrap_or(SpatialVelocity::ZERO);
        let (V_WB, A_WB) = (motion(self.states.V_WB.get(model.root)), motion(self.states.A_WB.get(model.root)));
        EntityState {
            header: messages::header(self.states.time_ns, self.frame),
            pose: messages::pose(&X_WB),
            twist: Twist { linear: messages::vector(&V_WB.v), angular: messages::vector(&V_WB.w) },
            acceleration: Accel { linear: messages::vector(&A_WB.v), angular: messages::vector(&A_WB.w) },
        }
    }

    /// The box around an entity's collision geometries in the axes of its root link; empty if it has none, or
    /// if one is unbounded.
    pub(crate) fn bounds(&self, model: &SceneModel) -> Bounds {
        let X_WR = self.states.X_WB.get(model.root).copied().unwrap_or_else(RigidTransform::identity);
        let bounds = self.bounds_in(model, &X_WR);
        if bounds.is_empty() || !(bounds.min.iter().chain(bounds.max.iter()).all(|x| x.is_finite())) {
            return Bounds { type_: BOUNDS_EMPTY, points: Vec::new() };
        }
        Bounds { type_: BOUNDS_BOX, points: vec![messages::vector(&bounds.max), messages::vector(&bounds.min)] }
    }

    /// The box around an entity in the world; around the origins of its links if it has no collision
    /// geometry.
    fn world_box(&self, model: &SceneModel) -> Aabb {
        let bounds = self.bounds_in(model, &RigidTransform::identity());
        if !bounds.is_empty() {
            return bounds;
        }
        let origins = model.bodies.iter().filter_map(|body| self.states.X_WB.get(*body));
        Aabb::around(origins.map(|X_WB| &X_WB.translation.vector))
    }

    /// The box around an entity's collision geometries, aligned with the frame F.
    fn bounds_in(&self, model: &SceneModel, X_WF: &RigidTransform) -> Aabb {
        let geometries = self.world.scene.geometries().iter().filter(|geometry| model.bodies.contains(&geometry.body));
        geometries.fold(Aabb::EMPTY, |bounds, geometry| match self.states.X_WB.get(geometry.body) {
            Some(X_WB) => bounds.union(&geometry.hydroelastic.world_aabb(&(X_WF.inv_mul(X_WB) * geometry.X_BG))),
            None => bounds,
        })
    }
}

fn has_tags(tags: &[String], wanted: &TagsFilter) -> bool {
    let has = |tag: &String| tags.contains(tag);
    match wanted.filter_mode {
        _ if wanted.tags.is_empty() => true,
        TAGS_ALL => wanted.tags.iter().all(has),
        _ => wanted.tags.iter().any(has),
    }
}

/// A part of the world; entities that touch it pass the filter.
enum Region {
    Box(Aabb),
    Ball(Vector3, f64),
}

impl Region {
    /// `None` is the whole world.
    fn new(bounds: &Bounds) -> Result<Option<Self>, Outcome> {
        let points: Vec<Vector3> = bounds.points.iter().take(3).map(|p| Vector3::new(p.x, p.y, p.z)).collect();
        let wrong = |what: &str| Err(refused(FAILED, format!("bounds: {what}")));
        match (bounds.type_, points.as_slice()) {
            (BOUNDS_EMPTY, _) => Ok(None),
            (BOUNDS_CONVEX_HULL, _) => Err(refused(UNSUPPORTED, "only boxes and spheres are supported as bounds")),
            (BOUNDS_BOX | BOUNDS_SPHERE, points) if points.iter().any(|p| p.iter().any(|x| x.is_nan())) => {
                wrong("a coordinate is not a number")
            }
            (BOUNDS_BOX, [a, b]) => Ok(Some(Self::Box(Aabb::around([a, b])))),
            (BOUNDS_SPHERE, [_, radius]) if radius.x < 0.0 => wrong("the radius is negative"),
            (BOUNDS_SPHERE, [center, radius]) => Ok(Some(Self::Ball(*center, radius.x))),
            (BOUNDS_BOX | BOUNDS_SPHERE, _) => wrong("boxes and spheres are given by two points"),
            (other, _) => Err(refused(UNSUPPORTED, format!("there is no type {other} of bounds"))),
        }
    }

    fn touches(&self, bounds: &Aabb) -> bool {
        match self {
            Self::Box(region) => region.overlaps(bounds),
            Self::Ball(center, radius) => bounds.overlaps_ball(center, *radius),
        }
    }
}

/// A pose of a message, checked.
pub(crate) fn read_pose(pose: &Pose) -> Result<RigidTransform, Outcome> {
    let invalid = |what: &str| Err(refused(INVALID_POSE, what));
    let (p, q) = (&pose.position, &pose.orientation);
    let position = Vector3::new(p.x, p.y, p.z);
    if !position.iter().all(|x| x.abs() <= FAR) {
        return invalid("the position is not finite, or farther than 10 km away");
    }
    let quaternion = nalgebra::Quaternion::new(q.w, q.x, q.y, q.z);
    let error = (quaternion.norm() - 1.0).abs();
    if error.is_nan() || error > QUATERNION_ERROR_MAX {
        return invalid("the orientation is not a unit quaternion");
    }
    let rotation = nalgebra::UnitQuaternion::from_quaternion(quaternion).to_rotation_matrix();
    Ok(RigidTransform::from_parts(position.into(), rotation))
}

/// A velocity of a message, checked.
pub(crate) fn read_twist(twist: &Twist) -> Result<SpatialVelocity, Outcome> {
    let read = |v: &Vector3Message| Vector3::new(v.x, v.y, v.z);
    let V = SpatialVelocity { w: read(&twist.angular), v: read(&twist.linear) };
    if V.to_vector().iter().all(|x| x.abs() <= FAR) {
        return Ok(V);
    }
    Err(refused(FAILED, format!("the twist is not finite, or beyond {FAR:e} m/s or rad/s")))
}
