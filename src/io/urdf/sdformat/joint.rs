//! Joints. A joint with several axes becomes a chain of joints with one axis each. A joint frame that differs
//! from the child's frame becomes a link of its own.

use super::SdformatProblem;
use super::collect::{Collected, Item};
use super::link::with_values;
use super::text::{child_number, child_truth, fail, numbers, required_child};
use crate::io::urdf::error::{UrdfError, UrdfProblem};
use crate::io::urdf::foreign;
use crate::io::urdf::place::Place;
use crate::io::xml::Element;
use crate::math::{RigidTransform, Vector3};
use crate::multibody::{JointKind, JointSpring, Mimic};
use crate::robot::{Joint, Limits, Link, LoadWarning};

/// An axis shorter than this has no direction; axes in files are near unit length. [-]
const AXIS_LENGTH_MIN: f64 = 1e-9;
/// A limit of this size or more means that there is none: the default of SDFormat [rad or m].
const UNLIMITED: f64 = 1e16;
/// Frames that are nearer to each other than this are the same \[m\] and [-]: rounding of the products of
/// poses is a few 1e-16 of poses of a few metres.
const SAME_FRAME: f64 = 1e-12;
/// Range of the second axis of a ball joint \[rad\]; at a right angle, its three axes lie in one plane.
const BALL_RANGE: f64 = 1.5;

/// The name of the world as a parent; the link that stands for it has the same name.
pub(super) const WORLD: &str = "world";

/// Joints and links that stand for a joint of the file.
#[derive(Default)]
pub(super) struct Chain {
    pub(super) links: Vec<Link>,
    pub(super) joints: Vec<Joint>,
}

/// The links that a joint connects: indices of links, `None` for the world.
pub(super) fn ends(item: &Item, collected: &Collected<'_>) -> Result<(Option<usize>, usize), UrdfError> {
    let place = place_of(item, collected);
    let (parent_of, child_of) = match item.element.name.as_str() {
        "drake:joint" => ("drake:parent", "drake:child"),
        _ => ("parent", "child"),
    };
    let parent = required_child(&item.element, &place, parent_of)?;
    let child = required_child(&item.element, &place, child_of)?;
    let link = |name: &str| {
        let frame = collected.frames.find(item.scope, name, &place)?;
        collected.frames.link_of(frame)
    };
    let parent = if parent == WORLD { None } else { link(parent)? };
    let Some(child) = link(child)? else {
        let reason = "a joint's child must be a link; swap parent and child".to_owned();
        return Err(fail(&place, SdformatProblem::NotAttached { frame: child.to_owned(), reason }));
    };
    if parent == Some(child) {
        return Err(fail(&place, SdformatProblem::OneLink));
    }
    Ok((parent, child))
}

pub(super) fn place_of<'c>(item: &Item, collected: &'c Collected<'_>) -> Place<'c> {
    Place::new(collected.frames.file(item.file), item.element.line, format!("joint `{}`", item.name))
}

/// The kind of each axis of the joint, with the element that describes it.
fn axes<'e>(joint: &'e Element, place: &Place) -> Result<Vec<(JointKind, Option<&'e Element>)>, UrdfError> {
    let kind = place.required(joint, "type")?;
    let axis = |name: &str| {
        let missing = || place.fail(UrdfProblem::MissingChild { child: name.to_owned() });
        joint.child(name).map(Some).ok_or_else(missing)
    };
    if joint.name == "drake:joint" {
        return match kind {
            "planar" => Ok(vec![(JointKind::Planar, None)]),
            other => Err(place.fail(foreign::joint_type(other.to_owned()))),
        };
    }
    match kind {
        "fixed" => Ok(vec![(JointKind::Fixed, None)]),
        "revolute" => Ok(vec![(JointKind::Revolute, axis("axis")?)]),
        "continuous" => Ok(vec![(JointKind::Continuous, axis("axis")?)]),
        "prismatic" => Ok(vec![(JointKind::Prismatic, axis("axis")?)]),
        "universal" | "revolute2" => {
            Ok(vec![(JointKind::Revolute, axis("axis")?), (JointKind::Revolute, axis("axis2")?)])
        }
        "ball" => Ok(vec![(JointKind::Continuous, None), (JointKind::Revolute, None), (JointKind::Continuous, None)]),
        "screw" => Err(place.fail(foreign::joint_type("screw".to_owned()))),
        other => {
            let way_out = "the types of SDFormat that are read are fixed, revolute, continuous, prismatic, universal, \
                           revolute2 and ball";
            Err(place.fail(UrdfProblem::JointType { found: other.to_owned(), way_out: way_out.to_owned() }))
        }
    }
}

/// The joints that stand for `item`, between the links `parent` and `child` of the description.
pub(super) fn read(
    item: &Item,
    collected: &Collected<'_>,
    (parent, child): (&str, &str),
    (X_PJ, X_JC): (RigidTransform, RigidTransform),
    warnings: &mut Vec<LoadWarning>,
) -> Result<Chain, UrdfError> {
    let place = place_of(item, collected);
    let axes = axes(&item.element, &place)?;
    let (count, line) = (axes.len(), item.element.line);
    let mut chain = Chain::default();
    let is_fixed = axes.iter().all(|(kind, _)| *kind == JointKind::Fixed);
    let coincide = (X_JC.to_homogeneous() - RigidTransform::identity().to_homogeneous()).amax() < SAME_FRAME;
    if count == 3 {
        warnings.push(place.warning(format!(
            "a ball joint becomes three revolute joints about x, y and z; the second one ends at {BALL_RANGE} rad, because \
             at a right angle the three axes lie in one plane"
        )));
    }
    let mut above = parent.to_owned();
    for (number, (kind, axis)) in axes.into_iter().enumerate() {
        let is_last = number + 1 == count;
        let below = match (is_last, coincide || is_fixed) {
            (true, true) => child.to_owned(),
            (true, false) => item.name.clone(),
            (false, _) => format!("{}::{}", item.name, number + 1),
        };
        if below != child {
            chain.links.push(Link { name: below.clone(), line, ..Link::default() });
        }
        let X_PF = match (number, is_fixed) {
            (0, true) => product(&X_PJ, &X_JC),
            (0, false) => X_PJ,
            _ => RigidTransform::identity(),
        };
        let name = if count == 1 { item.name.clone() } else { format!("{}_{}", item.name, number + 1) };
        let mut joint = Joint {
            name,
            kind,
            parent: above,
            child: below.clone(),
            X_PF,
            axis: Vector3::x(),
            limits: Limits::default(),
            damping: 0.0,
            friction: 0.0,
            spring: JointSpring::default(),
            mimic: None,
            rotor_inertia: 0.0,
            gear_ratio: 1.0,
            controller_gains: None,
            line,
        };
        match (axis, kind) {
            (Some(axis), _) => read_axis(axis, item, collected, &place.inside(axis), &mut joint)?,
            (None, JointKind::Planar) => joint.axis = Vector3::z(),
            (None, JointKind::Fixed) => {}
            (None, _) => {
                joint.axis = [Vector3::x(), Vector3::y(), Vector3::z()][number.min(2)];
                if number == 1 {
                    (joint.limits.lower, joint.limits.upper) = (Some(-BALL_RANGE), Some(BALL_RANGE));
                }
                if let Some(axis) = item.element.child("axis") {
                    read_dynamics(axis, &place.inside(axis), &mut joint)?;
                }
            }
        }
        above = below;
        chain.joints.push(joint);
    }
    if !coincide && !is_fixed {
        let last = chain.joints.last().cloned();
        chain.joints.extend(last.map(|last| Joint {
            name: format!("{}_frame", item.name),
            kind: JointKind::Fixed,
            parent: item.name.clone(),
            child: child.to_owned(),
            X_PF: X_JC,
            limits: Limits::default(),
            damping: 0.0,
            friction: 0.0,
            spring: JointSpring::default(),
            mimic: None,
            ..last
        }));
    }
    read_motor(item, &place, &mut chain, warnings)?;
    Ok(chain)
}

/// X_PJ X_JC. If one factor is the identity, the product has the bits of the other.
fn product(X_PJ: &RigidTransform, X_JC: &RigidTransform) -> RigidTransform {
    let identity = RigidTransform::identity();
    if *X_JC == identity {
        *X_PJ
    } else if *X_PJ == identity {
        *X_JC
    } else {
        X_PJ * X_JC
    }
}

fn read_axis(
    axis: &Element,
    item: &Item,
    collected: &Collected<'_>,
    place: &Place,
    joint: &mut Joint,
) -> Result<(), UrdfError> {
    let mut direction = Vector3::z();
    let mut frame = None;
    if let Some(xyz) = axis.child("xyz") {
        direction = Vector3::from(numbers::<3>(xyz, &place.inside(xyz), false)?);
        if let Some(name) = xyz.attribute("expressed_in").filter(|name| !name.is_empty()) {
            frame = Some(collected.frames.find(item.scope, name, &place.inside(xyz))?);
        }
    }
    if frame.is_none() && child_truth(axis, place, "use_parent_model_frame")? == Some(true) {
        frame = Some(collected.frames.scopes[item.scope].model);
    }
    if let Some(frame) = frame {
        direction = collected.frames.pose(item.frame, frame).rotation * direction;
    }
    let length = direction.norm();
    if length < AXIS_LENGTH_MIN {
        return Err(fail(place, SdformatProblem::ZeroAxis));
    }
    joint.axis = direction / length;
    joint.limits = read_limits(axis, place, joint.kind)?;
    read_dynamics(axis, place, joint)?;
    if let Some(mimic) = axis.child("mimic") {
        let inside = place.inside(mimic);
        let leader = inside.required(mimic, "joint")?;
        let prefix = &collected.frames.scopes[item.scope].prefix;
        let second = if mimic.attribute("axis") == Some("axis2") { "_2" } else { "" };
        let number = |name| Ok::<_, UrdfError>(child_number(mimic, &inside, name)?.unwrap_or(0.0));
        let (multiplier, offset, reference) = (number("multiplier")?, number("offset")?, number("reference")?);
        // SDFormat: position = multiplier (position of the leader - reference) + offset.
        let offset = offset - multiplier * reference;
        joint.mimic = Some(Mimic { joint: format!("{prefix}{leader}{second}"), multiplier, offset });
    }
    Ok(())
}

fn read_dynamics(axis: &Element, place: &Place, joint: &mut Joint) -> Result<(), UrdfError> {
    let Some(dynamics) = axis.child("dynamics") else { return Ok(()) };
    let inside = place.inside(dynamics);
    let number = |name| Ok::<_, UrdfError>(child_number(dynamics, &inside, name)?.unwrap_or(0.0));
    joint.damping = inside.not_negative("the damping", number("damping")?)?;
    joint.friction = inside.not_negative("the friction", number("friction")?)?;
    let stiffness = inside.not_negative("<spring_stiffness>", number("spring_stiffness")?)?;
    joint.spring = JointSpring { stiffness, reference: number("spring_reference")? };
    Ok(())
}

fn read_limits(axis: &Element, place: &Place, kind: JointKind) -> Result<Limits, UrdfError> {
    let Some(limit) = axis.child("limit") else { return Ok(Limits::default()) };
    let inside = place.inside(limit);
    let number = |name: &str| -> Result<Option<f64>, UrdfError> {
        let Some(element) = limit.child(name) else { return Ok(None) };
        let [number] = numbers::<1>(element, &inside.inside(element), true)?;
        Ok(Some(number))
    };
    let position = |name| Ok::<_, UrdfError>(number(name)?.filter(|limit| limit.abs() < UNLIMITED));
    // A negative speed, effort or acceleration means that there is no limit.
    let magnitude = |name| Ok::<_, UrdfError>(number(name)?.filter(|limit| (0.0..UNLIMITED).contains(limit)));
    let mut limits = Limits {
        lower: position("lower")?,
        upper: position("upper")?,
        velocity: magnitude("velocity")?,
        effort: magnitude("effort")?,
        acceleration: magnitude("drake:acceleration")?,
    };
    if kind == JointKind::Continuous {
        (limits.lower, limits.upper) = (None, None);
    }
    match (limits.lower, limits.upper) {
        (Some(lower), Some(upper)) if lower > upper => Err(fail(&inside, SdformatProblem::Limits { lower, upper })),
        _ => Ok(limits),
    }
}

/// Drake's elements of a joint: rotor, gear, gains, mimic, and the damping of a planar joint.
fn read_motor(item: &Item, place: &Place, chain: &mut Chain, warnings: &mut Vec<LoadWarning>) -> Result<(), UrdfError> {
    if item.element.name == "drake:joint"
        && let Some(damping) = item.element.child("drake:damping")
    {
        let damping = numbers::<3>(damping, &place.inside(damping), false)?;
        if damping.iter().any(|damping| *damping != 0.0) {
            warnings.push(place.warning("the damping of a planar joint is not used"));
        }
    }
    let Some(joint) = chain.joints.first_mut() else { return Ok(()) };
    if let Some(motor) = foreign::motor(&with_values(&item.element), place)? {
        (joint.rotor_inertia, joint.gear_ratio) = (motor.rotor_inertia, motor.gear_ratio);
        joint.controller_gains = motor.gains;
    }
    if let Some(mimic) = item.element.child("drake:mimic") {
        let inside = place.inside(mimic);
        let leader = inside.required(mimic, "joint")?;
        let number = |name| inside.number(mimic, name);
        let prefix = item.name.strip_suffix(item.element.attribute("name").unwrap_or_default()).unwrap_or_default();
        joint.mimic = Some(Mimic {
            joint: format!("{prefix}{leader}"),
            multiplier: number("multiplier")?.unwrap_or(1.0),
            offset: number("offset")?.unwrap_or(0.0),
        });
    }
    Ok(())
}
