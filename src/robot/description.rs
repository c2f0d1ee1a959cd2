//! The contents of a robot file as plain data: names, numbers in SI units, loaded shapes. It builds no tree
//! and no model.

use std::path::PathBuf;
use std::sync::Arc;

use crate::contact::ContactProperties;
use crate::geometry::{Shape, TriangleColors};
use crate::math::{Matrix3, RigidTransform, Vector3};
use crate::multibody::{JointKind, JointSpring, Mimic};

/// The format of a robot file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RobotFormat {
    /// URDF.
    #[default]
    Urdf,
    /// SDFormat.
    Sdformat,
}

/// A robot as its file describes it. The links and joints form one tree (checked at loading).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RobotDescription {
    /// Name of the robot; the file's stem if the file gives none.
    pub name: String,
    /// The file that it came from, or the label of the text.
    pub file: PathBuf,
    /// The file's format.
    pub format: RobotFormat,
    /// Links in the file's order.
    pub links: Vec<Link>,
    /// Joints in the file's order.
    pub joints: Vec<Joint>,
    /// Collision filter groups in the file's order.
    pub collision_filter_groups: Vec<CollisionFilterGroup>,
    /// Notes about skipped, repaired or assumed elements.
    pub warnings: Vec<LoadWarning>,
}

impl RobotDescription {
    /// The link of that name.
    pub fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }
    /// The joint of that name.
    pub fn joint(&self, name: &str) -> Option<&Joint> {
        self.joints.iter().find(|joint| joint.name == name)
    }
    /// The link that is not the child of any joint; `None` for a robot without links.
    pub fn root(&self) -> Option<&Link> {
        self.links.iter().find(|link| self.joints.iter().all(|joint| joint.child != link.name))
    }
    /// Degrees of freedom of the joints, including mimic joints and without the base [-].
    pub fn num_dofs(&self) -> usize {
        self.joints.iter().map(|joint| joint.kind.nv()).sum()
    }
    /// Sum of the links' masses \[kg\].
    pub fn total_mass(&self) -> f64 {
        self.links.iter().filter_map(|link| link.inertial.as_ref()).fold(0.0, |sum, inertial| sum + inertial.mass)
    }
}

/// A rigid body B of the robot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// Unique name.
    pub name: String,
    /// Mass properties; `None` if the file has no `<inertial>`.
    pub inertial: Option<Inertial>,
    /// Collision geometries in the file's order.
    pub collisions: Vec<CollisionElement>,
    /// Visual geometries in the file's order.
    pub visuals: Vec<VisualElement>,
    /// Line in the file, from 1.
    pub line: u32,
}

/// Mass properties of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Inertial {
    /// Mass \[kg\], not negative.
    pub mass: f64,
    /// Pose of the inertial frame I in the link's frame B; I's origin is the centre of mass.
    pub X_BI: RigidTransform,
    /// Rotational inertia about the centre of mass in I's axes [kg m2]; symmetric, but not checked to be
    /// physically possible.
    pub inertia_I: Matrix3,
}

/// A geometry that collides.
#[derive(Clone, Debug, PartialEq)]
pub struct CollisionElement {
    /// Name in the file, or `<link>_collision_<k>` with the index k in the link, from 0.
    pub name: String,
    /// Pose of the geometry's frame G in the link's frame B.
    pub X_BG: RigidTransform,
    /// The shape; scale applied.
    pub shape: Shape,
    /// Address and scale of the mesh as the file writes them.
    pub mesh: Option<(String, Vector3)>,
    /// The contact properties that the file states.
    pub properties: ContactProperties,
    /// Whether the file declares the mesh convex; the shape is then `Shape::Convex`.
    pub declare_convex: bool,
    /// Line in the file, from 1.
    pub line: u32,
}

/// A geometry that is only displayed.
#[derive(Clone, Debug, PartialEq)]
pub struct VisualElement {
    /// Name in the file, or `<link>_visual_<k>` with the index k in the link, from 0.
    pub name: String,
    /// Pose of the geometry's frame G in the link's frame B.
    pub X_BG: RigidTransform,
    /// The shape; `None` for meshes that were not requested or cannot be read.
    pub shape: Option<Shape>,
    /// Address and scale of the mesh as the file writes them.
    pub mesh: Option<(String, Vector3)>,
    /// Red, green, blue, alpha in 0..1, from the element or the robot's named material.
    pub color: Option<[f64; 4]>,
    /// The colours of the mesh file, if it was read and there is no `color`.
    pub mesh_colors: Option<Arc<TriangleColors>>,
    /// Line in the file, from 1.
    pub line: u32,
}

/// A joint between the frame F on the parent link P and the frame of the child link.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Unique name.
    pub name: String,
    /// Type.
    pub kind: JointKind,
    /// Name of the parent link P.
    pub parent: String,
    /// Name of the child link.
    pub child: String,
    /// Pose of the joint frame F in the parent link's frame P. The child's frame coincides with F when the
    /// joint is at zero.
    pub X_PF: RigidTransform,
    /// Unit axis in F; for planar joints the plane's normal. (1, 0, 0) if the file gives none.
    pub axis: Vector3,
    /// The limits that the file states.
    pub limits: Limits,
    /// Viscous damping [N m s/rad] or [N s/m], not negative.
    pub damping: f64,
    /// Dry friction [N m] or \[N\], not negative.
    pub friction: f64,
    /// Spring (`spring_stiffness` and `spring_reference` of `<dynamics>`).
    pub spring: JointSpring,
    /// The joint that this one follows.
    pub mimic: Option<Mimic>,
    /// Inertia of the motor's rotor about its own axis, before the gear [kg m2] (for prismatic joints
    /// \[kg\]).
    pub rotor_inertia: f64,
    /// Motor turns per joint turn [-] (for prismatic joints [1/m] if the rotor inertia is in kg m2); 1
    /// without a gear.
    pub gear_ratio: f64,
    /// Gains of the motor's low-level controller (`drake:controller_gains`).
    pub controller_gains: Option<ControllerGains>,
    /// Line in the file, from 1.
    pub line: u32,
}

impl Joint {
    /// Inertia that the motor adds at the joint, gear ratio squared times rotor inertia [kg m2]
    /// (prismatic: \[kg\]).
    pub fn reflected_inertia(&self) -> f64 {
        self.gear_ratio * self.gear_ratio * self.rotor_inertia
    }
}

/// Limits of a joint; `None` means that there is no limit. Units: rad or m and their rates, N m or N.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Least position [rad or m].
    pub lower: Option<f64>,
    /// Greatest position [rad or m].
    pub upper: Option<f64>,
    /// Greatest speed [rad/s or m/s].
    pub velocity: Option<f64>,
    /// Greatest effort of the actuator [N m or N].
    pub effort: Option<f64>,
    /// Greatest acceleration [rad/s2 or m/s2] (`drake:acceleration`, or URDF 1.2).
    pub acceleration: Option<f64>,
}

/// Gains of a joint's position controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControllerGains {
    /// Proportional gain (stiffness) [N m/rad or N/m], not negative.
    pub p: f64,
    /// Derivative gain (damping) [N m s/rad or N s/m], not negative.
    pub d: f64,
}

/// A named set of links, and the groups with which it does not collide (`drake:collision_filter_group`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollisionFilterGroup {
    /// Unique name.
    pub name: String,
    /// Whether the file switches this group off.
    pub ignore: bool,
    /// Names of the links in the group.
    pub members: Vec<String>,
    /// Names of groups whose links belong to this group too.
    pub member_groups: Vec<String>,
    /// Names of the groups that this group does not collide with; with its own name, its members do not
    /// collide with each other.
    pub ignored_groups: Vec<String>,
    /// Line in the file, from 1.
    pub line: u32,
}

/// A note about an element that was skipped, repaired or assumed while loading.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadWarning {
    /// The file.
    pub file: PathBuf,
    /// Line in the file, from 1.
    pub line: u32,
    /// The element, as in `joint \`elbow\``.
    pub element: String,
    /// The note, with its remedy.
    pub message: String,
}

impl std::fmt::Display for LoadWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}: {}", self.file.display(), self.line, self.element, self.message)
    }
}
