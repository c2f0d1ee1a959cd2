//! The standard elements, read by `urdf-rs`.
//!
//! urdf-rs refuses or misreads some parts of real files (an empty `<texture/>`, foreign elements inside
//! standard ones, a `<limit>` without `velocity`, words that are not numbers), and its errors give neither
//! the place nor the missing part. So it gets a clean text with only standard elements, complete and checked
//! by [`super::clean`].

use std::collections::BTreeMap;

use crate::io::xml::Element;
use crate::math::{Matrix3, RigidTransform, Rotation, Vector3};
use crate::multibody::{JointKind, Mimic};
use crate::robot::Inertial;

/// A shape of the standard.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StandardShape {
    Sphere {
        radius: f64,
    },
    Box {
        size: Vector3,
    },
    Cylinder {
        radius: f64,
        length: f64,
    },
    /// SDFormat's plane.
    HalfSpace,
    Mesh {
        uri: String,
        scale: Vector3,
    },
}

pub(super) struct StandardGeometry {
    pub(super) X_BG: RigidTransform,
    pub(super) shape: StandardShape,
    pub(super) material: Option<(String, Option<[f64; 4]>)>,
}

pub(super) struct StandardLink {
    pub(super) inertial: Inertial,
    pub(super) visuals: Vec<StandardGeometry>,
    pub(super) collisions: Vec<StandardGeometry>,
}

pub(super) struct StandardJoint {
    pub(super) kind: JointKind,
    pub(super) X_PF: RigidTransform,
    pub(super) axis: Vector3,
    pub(super) damping: f64,
    pub(super) friction: f64,
    pub(super) mimic: Option<Mimic>,
}

/// The standard part of a file, links and joints in the file's order.
pub(super) struct Standard {
    pub(super) links: Vec<StandardLink>,
    pub(super) joints: Vec<StandardJoint>,
    pub(super) materials: BTreeMap<String, [f64; 4]>,
}

/// Reads a clean `<robot>` (see [`super::clean`]); `Err` is urdf-rs's message.
pub(super) fn read(clean_robot: &Element) -> Result<Standard, String> {
    let mut text = String::new();
    write(clean_robot, &mut text);
    let robot = urdf_rs::read_from_string(&text).map_err(|error| error.to_string())?;
    if robot.links.len() != clean_robot.children("link").count()
        || robot.joints.len() != clean_robot.children("joint").count()
    {
        return Err("links or joints were lost".to_owned());
    }
    let colors = robot.materials.iter().filter_map(|m| m.color.as_ref().map(|color| (m.name.clone(), *color.rgba)));
    Ok(Standard {
        materials: colors.collect(),
        links: robot.links.iter().map(link).collect(),
        joints: robot.joints.iter().map(joint).collect(),
    })
}

fn write(element: &Element, text: &mut String) {
    text.push('<');
    text.push_str(&element.name);
    for (name, value) in &element.attributes {
        text.push_str(&format!(" {name}=\"{}\"", escape(value)));
    }
    if element.children.is_empty() {
        text.push_str("/>");
        return;
    }
    text.push('>');
    element.children.iter().for_each(|child| write(child, text));
    text.push_str(&format!("</{}>", element.name));
}

fn escape(value: &str) -> String {
    value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Fixed-axis roll, pitch, yaw: R = Rz(yaw) Ry(pitch) Rx(roll).
pub(super) fn pose_of(xyz: [f64; 3], [roll, pitch, yaw]: [f64; 3]) -> RigidTransform {
    RigidTransform::from_parts(Vector3::from(xyz).into(), Rotation::from_euler_angles(roll, pitch, yaw))
}

fn pose(origin: &urdf_rs::Pose) -> RigidTransform {
    pose_of(*origin.xyz, *origin.rpy)
}

fn link(link: &urdf_rs::Link) -> StandardLink {
    let urdf_rs::Inertia { ixx, ixy, ixz, iyy, iyz, izz } = link.inertial.inertia;
    StandardLink {
        inertial: Inertial {
            mass: link.inertial.mass.value,
            X_BI: pose(&link.inertial.origin),
            inertia_I: Matrix3::new(ixx, ixy, ixz, ixy, iyy, iyz, ixz, iyz, izz),
        },
        visuals: link.visual.iter().map(visual_geometry).collect(),
        collisions: link
            .collision
            .iter()
            .map(|collision| StandardGeometry {
                X_BG: pose(&collision.origin),
                shape: shape(&collision.geometry),
                material: None,
            })
            .collect(),
    }
}

fn visual_geometry(visual: &urdf_rs::Visual) -> StandardGeometry {
    let material = visual.material.as_ref().map(|m| (m.name.clone(), m.color.as_ref().map(|color| *color.rgba)));
    StandardGeometry { X_BG: pose(&visual.origin), shape: shape(&visual.geometry), material }
}

fn shape(geometry: &urdf_rs::Geometry) -> StandardShape {
    match geometry {
        urdf_rs::Geometry::Box { size } => StandardShape::Box { size: Vector3::from(**size) },
        // A capsule never reaches urdf-rs because it is not a standard element (see `super::foreign`).
        urdf_rs::Geometry::Cylinder { radius, length } | urdf_rs::Geometry::Capsule { radius, length } => {
            StandardShape::Cylinder { radius: *radius, length: *length }
        }
        urdf_rs::Geometry::Sphere { radius } => StandardShape::Sphere { radius: *radius },
        urdf_rs::Geometry::Mesh { filename, scale } => StandardShape::Mesh {
            uri: filename.clone(),
            scale: scale.map_or(Vector3::new(1.0, 1.0, 1.0), |scale| Vector3::from(*scale)),
        },
    }
}

fn joint(joint: &urdf_rs::Joint) -> StandardJoint {
    StandardJoint {
        kind: match joint.joint_type {
            urdf_rs::JointType::Revolute => JointKind::Revolute,
            urdf_rs::JointType::Continuous => JointKind::Continuous,
            urdf_rs::JointType::Prismatic => JointKind::Prismatic,
            urdf_rs::JointType::Planar => JointKind::Planar,
            urdf_rs::JointType::Floating => JointKind::Floating,
            // Spherical joints are refused earlier.
            urdf_rs::JointType::Fixed | urdf_rs::JointType::Spherical => JointKind::Fixed,
        },
        X_PF: pose(&joint.origin),
        axis: Vector3::from(*joint.axis.xyz),
        damping: joint.dynamics.as_ref().map_or(0.0, |dynamics| dynamics.damping),
        friction: joint.dynamics.as_ref().map_or(0.0, |dynamics| dynamics.friction),
        mimic: joint.mimic.as_ref().map(|mimic| Mimic {
            joint: mimic.joint.clone(),
            multiplier: mimic.multiplier.unwrap_or(1.0),
            offset: mimic.offset.unwrap_or(0.0),
        }),
    }
}
