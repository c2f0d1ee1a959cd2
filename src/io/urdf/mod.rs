//! Reads robot files (URDF, SDFormat) into plain data. The root element determines the format. The rules for
//! SDFormat are in `sdformat`.
//!
//! An XML pass with positions reads Drake's extensions of a URDF, checks the standard elements so that errors
//! name file, line and element, and passes a clean copy to `urdf-rs`. Meshes are found (see
//! [`crate::io::package`]) and read (see [`crate::io::mesh_files`]). Defaults for missing parts are set here,
//! not by a parser:
//! - no `<axis>`: (1, 0, 0), as URDF specifies;
//! - no `<inertial>`: `None`;
//! - `continuous` joints have no position limits, regardless of the file;
//! - `revolute` and `prismatic` joints without `<limit>`, or without `lower` or `upper` in it: no limit
//!   on that side, with a warning, as Drake reads them (URDF's default of 0 would lock the joint);
//! - limits that are infinite: no limit.
//!
//! Some forms that are not of the standard are read with a warning (see `habits.rs`).

mod clean;
mod error;
mod foreign;
mod geometry;
mod habits;
mod options;
mod place;
mod sdformat;
mod standard;
mod tree;
mod write;
mod xacro;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use error::{SdformatProblem, UrdfError, UrdfProblem};
pub use options::{LoadOptions, OnUnreadableMesh};
pub use write::urdf_text;
pub use xacro::XacroError;
pub(crate) use xacro::refuse_arguments as refuse_xacro_arguments;

use super::limits;
use super::package::PackageMap;
use super::xml::{self, Element};
use crate::multibody::{JointKind, JointSpring};
use crate::robot::{Joint, Limits, Link, LoadWarning, RobotDescription};
use geometry::GeometryReader;
use place::Place;
use standard::{StandardJoint, StandardLink};

/// A joint's axis shorter than this has no direction; axes in files are near unit length. [-]
const AXIS_LENGTH_MIN: f64 = 1e-9;

/// Reads the robot file at `path`. A file that ends in `.xacro` is expanded first, with the arguments in
/// `options`, by the program `xacro`; lines in messages are then those of the expansion.
///
/// # Errors
/// The file cannot be read or is malformed; the error names file, line, element and the remedy.
pub fn load_file(path: &Path, packages: &PackageMap, options: &LoadOptions) -> Result<RobotDescription, UrdfError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    xacro::refuse_arguments(path, &options.xacro_arguments)?;
    if xacro::is_xacro(path) {
        return load_str(&xacro::expand(path, &options.xacro_arguments)?, path, folder, packages, options);
    }
    load_str(&read_text(path, &[])?, path, folder, packages, options)
}

/// The text of the robot file at `path`; that of a file that ends in `.xacro` is expanded with values for its
/// arguments by name. Comments in other encodings than UTF-8 are common, and harmless: their letters are
/// replaced.
///
/// # Errors
/// The file cannot be read, or has no expansion.
pub(crate) fn read_text(path: &Path, xacro_arguments: &[(String, String)]) -> Result<String, UrdfError> {
    if xacro::is_xacro(path) {
        return Ok(xacro::expand(path, xacro_arguments)?);
    }
    Ok(String::from_utf8_lossy(&read_bytes(path)?).into_owned())
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, UrdfError> {
    limits::read(path, limits::TEXT_BYTES_MAX).map_err(|source| UrdfError::Read { file: path.to_path_buf(), source })
}

/// Reads a robot from text. `label` replaces the file name in messages; relative mesh paths start at
/// `base_dir`.
///
/// # Errors
/// The text is malformed; the error names label, line, element and the remedy.
pub fn load_str(
    text: &str,
    label: &Path,
    base_dir: &Path,
    packages: &PackageMap,
    options: &LoadOptions,
) -> Result<RobotDescription, UrdfError> {
    let mut robot = xml::parse(text).map_err(|error| UrdfError::NotXml {
        file: label.to_path_buf(),
        line: error.line,
        column: error.column,
        detail: error.detail,
        hint: if looks_like_xacro(text) {
            "; if this is a xacro file, name it FILE.xacro, or expand it first: `xacro FILE.xacro > FILE.urdf`"
        } else {
            "; correct the text at this place"
        },
    })?;
    if robot.name == "sdf" {
        return sdformat::load(robot, label, base_dir, packages, options);
    }
    let place = Place::named(label, &robot);
    if robot.name != "robot" {
        let hint = match robot.name.as_str() {
            "mujoco" => "; this is a MuJoCo file, convert it to URDF",
            _ => "",
        };
        return Err(place.fail(UrdfProblem::NotRobot { found: robot.name.clone(), hint: hint.to_owned() }));
    }
    let (links, joints) = (robot.children("link").count(), robot.children("joint").count());
    if links.max(joints) > limits::LINKS_MAX {
        return Err(place.fail(UrdfProblem::TooLarge { links, joints }));
    }
    foreign::adopt_planar_joints(&mut robot);
    let mut description = RobotDescription { file: label.to_path_buf(), ..RobotDescription::default() };
    habits::adopt(&mut robot, label, &mut description.warnings)?;
    description.name = match robot.attribute("name") {
        Some(name) => name.to_owned(),
        None => {
            description.warnings.push(place.warning("the robot has no name; the file name is used"));
            label.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
        }
    };
    read_elements(
        &robot,
        &place,
        &mut description,
        GeometryReader { base_dir, packages, options, read: BTreeMap::new() },
    )?;
    tree::check(&mut description)?;
    Ok(description)
}

/// Whether a text has elements or expressions of xacro.
fn looks_like_xacro(text: &str) -> bool {
    ["xacro", "${", "$("].iter().any(|sign| text.contains(sign))
}

fn read_elements(
    robot: &Element,
    place: &Place,
    description: &mut RobotDescription,
    mut reader: GeometryReader,
) -> Result<(), UrdfError> {
    let file: PathBuf = description.file.clone();
    let warnings = &mut description.warnings;
    foreign::check_unsupported(robot, &file, warnings)?;
    for joint in robot.children("joint") {
        let place = Place::named(&file, joint);
        let kind = place.required(joint, "type")?;
        if !["fixed", "revolute", "continuous", "prismatic", "planar", "floating"].contains(&kind) {
            return Err(place.fail(foreign::joint_type(kind.to_owned())));
        }
    }
    let clean = clean::clean(robot, &file, warnings)?;
    let standard = standard::read(&clean).map_err(|detail| place.fail(UrdfProblem::Standard { detail }))?;
    let motors = foreign::motors(robot, &file, warnings)?;
    if standard.links.is_empty() {
        warnings.push(place.warning("the robot has no links; if it should, this may be an unexpanded xacro file"));
    }
    for (element, standard_link) in robot.children("link").zip(&standard.links) {
        let link = read_link(element, standard_link, &file, &standard.materials, &mut reader, warnings)?;
        description.links.push(link);
    }
    for (element, standard_joint) in robot.children("joint").zip(&standard.joints) {
        let place = Place::named(&file, element);
        let mut joint = read_joint(element, standard_joint, &place, warnings)?;
        let own = element.child("actuator").map_or(Ok(None), |actuator| foreign::motor(actuator, &place))?;
        let motor = own.or_else(|| motors.get(&joint.name).copied()).unwrap_or_default();
        (joint.rotor_inertia, joint.gear_ratio) = (motor.rotor_inertia, motor.gear_ratio);
        joint.controller_gains = motor.gains;
        description.joints.push(joint);
    }
    description.collision_filter_groups = foreign::collision_filter_groups(robot, &file)?;
    Ok(())
}

fn read_link(
    element: &Element,
    standard: &StandardLink,
    file: &Path,
    materials: &BTreeMap<String, [f64; 4]>,
    reader: &mut GeometryReader,
    warnings: &mut Vec<LoadWarning>,
) -> Result<Link, UrdfError> {
    let place = Place::named(file, element);
    let name = place.required(element, "name")?.to_owned();
    let mut link = Link { line: element.line, ..Link::default() };
    if let Some(inertial) = element.child("inertial") {
        place.inside(inertial).not_negative("the mass", standard.inertial.mass)?;
        link.inertial = Some(standard.inertial.clone());
    }
    for (number, (collision, geometry)) in element.children("collision").zip(&standard.collisions).enumerate() {
        let default_name = format!("{name}_collision_{number}");
        let inside = place.inside(collision);
        link.collisions.extend(reader.collision(collision, geometry, &inside, default_name, warnings)?);
    }
    for (number, (visual, geometry)) in element.children("visual").zip(&standard.visuals).enumerate() {
        let default_name = format!("{name}_visual_{number}");
        let inside = place.inside(visual);
        link.visuals.push(reader.visual(visual, geometry, &inside, default_name, materials, warnings));
    }
    link.name = name;
    Ok(link)
}

fn read_joint(
    element: &Element,
    standard: &StandardJoint,
    place: &Place,
    warnings: &mut Vec<LoadWarning>,
) -> Result<Joint, UrdfError> {
    let kind = standard.kind;
    let mut axis = standard.axis;
    if kind.has_axis() {
        let length = axis.norm();
        if length < AXIS_LENGTH_MIN {
            return Err(place.fail(UrdfProblem::ZeroAxis));
        }
        axis /= length;
    }
    let link_of = |child: &str| element.child(child).and_then(|link| link.attribute("link")).unwrap_or_default();
    Ok(Joint {
        name: place.required(element, "name")?.to_owned(),
        kind,
        parent: link_of("parent").to_owned(),
        child: link_of("child").to_owned(),
        X_PF: standard.X_PF,
        axis,
        limits: read_limits(element, kind, place, warnings)?,
        damping: place.not_negative("the damping", standard.damping)?,
        friction: place.not_negative("the friction", standard.friction)?,
        spring: read_spring(element, kind, place, warnings)?,
        mimic: standard.mimic.clone(),
        rotor_inertia: 0.0,
        gear_ratio: 1.0,
        controller_gains: None,
        line: element.line,
    })
}

/// The spring of `<dynamics>`, whose attributes have the names that SDFormat gives them.
fn read_spring(
    joint: &Element,
    kind: JointKind,
    place: &Place,
    warnings: &mut Vec<LoadWarning>,
) -> Result<JointSpring, UrdfError> {
    let Some(dynamics) = joint.child("dynamics") else { return Ok(JointSpring::default()) };
    let inside = place.inside(dynamics);
    let stiffness = inside.number(dynamics, "spring_stiffness")?.unwrap_or(0.0);
    let stiffness = inside.not_negative("`spring_stiffness`", stiffness)?;
    let reference = inside.number(dynamics, "spring_reference")?.unwrap_or(0.0);
    if stiffness > 0.0 && kind.nv() != 1 {
        warnings.push(inside.warning("only joints with one degree of freedom have a spring; it is not used"));
        return Ok(JointSpring::default());
    }
    Ok(JointSpring { stiffness, reference })
}

fn read_limits(
    joint: &Element,
    kind: JointKind,
    place: &Place,
    warnings: &mut Vec<LoadWarning>,
) -> Result<Limits, UrdfError> {
    let positions_limited = matches!(kind, JointKind::Revolute | JointKind::Prismatic);
    let Some(limit) = joint.child("limit") else {
        if positions_limited {
            warnings.push(place.warning("there is no <limit>; position, speed and effort are unlimited"));
        }
        return Ok(Limits::default());
    };
    let inside = place.inside(limit);
    let number = |name: &str| -> Result<Option<f64>, UrdfError> {
        let number = inside.numbers::<1>(limit, name, true)?;
        Ok(number.map(|[number]| number).filter(|number| number.is_finite()))
    };
    let magnitude = |name: &str| match number(name)? {
        Some(value) => inside.not_negative(&format!("`{name}`"), value).map(Some),
        None => Ok(None),
    };
    let mut limits = Limits {
        lower: number("lower")?,
        upper: number("upper")?,
        velocity: magnitude("velocity")?,
        effort: magnitude("effort")?,
        acceleration: magnitude("drake:acceleration")?.or(magnitude("acceleration")?),
    };
    if !positions_limited {
        (limits.lower, limits.upper) = (None, None);
        return Ok(limits);
    }
    if kind == JointKind::Revolute {
        warnings.extend(in_degrees(&[limits.lower, limits.upper]).map(|text| inside.warning(text)));
    }
    let message = match (limit.attribute("lower"), limit.attribute("upper")) {
        (Some(_), Some(_)) => return Ok(limits),
        (None, None) => {
            "<limit> has neither `lower` nor `upper`; the position is not limited; state them, or use type continuous"
        }
        (None, Some(_)) => "<limit> has no `lower`; the position is not limited on that side; state it",
        (Some(_), None) => "<limit> has no `upper`; the position is not limited on that side; state it",
    };
    warnings.push(place.warning(message));
    Ok(limits)
}

/// The warning of position limits that are probably in degrees: beyond two turns, and not beyond 360, which
/// stands for no limit in many files.
fn in_degrees(limits: &[Option<f64>]) -> Option<String> {
    let is_angle = |limit: &&f64| limit.abs() > habits::ANGLE_MAX && limit.abs() <= 360.0;
    let largest = limits.iter().flatten().find(is_angle)?;
    Some(format!(
        "a limit of {largest} rad is more than two turns; if it is in degrees, write radians: {:.4}",
        largest.to_radians()
    ))
}
