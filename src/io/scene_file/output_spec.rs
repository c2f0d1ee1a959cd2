//! The section `outputs`: the outputs of a scene, first as written, then resolved against the scene.

use super::error::{Place, SceneError};
use super::reader::{Named, Section, direction, mapping, text, unknown_name};
use super::resolve::Names;
use super::yaml::{Key, Node};
use crate::math::{BodyIndex, RigidTransform, Vector3};
use crate::recording::{ForceComponent, IMU_VALUES, Output, PatchFilter, Quantity};

/// An output as written in the file, checked except for its names.
#[derive(Clone, Debug)]
pub(super) struct OutputSpec {
    name: Named,
    quantity: QuantitySpec,
}

#[derive(Clone, Debug)]
enum QuantitySpec {
    Position { body: Named, reference: Option<Named>, axis: usize },
    RollPitchYaw { body: Named, axis: usize },
    AxisElevation { body: Named, axis_B: Vector3 },
    AxisAngle { body: Named, axis_B: Vector3, to_W: Vector3 },
    Joint { joint: Named, kind: JointQuantity },
    ContactForce { body: Named, from: Option<Named>, component: ForceComponent },
    ContactArea(FilterSpec),
    FaceCount(FilterSpec),
    Imu { body: Named, X_BS: RigidTransform },
}

#[derive(Clone, Copy, Debug)]
enum JointQuantity {
    Position,
    Velocity,
    Effort,
}

#[derive(Clone, Debug)]
struct FilterSpec {
    body: Option<Named>,
    from: Option<Named>,
    place: Place,
}

const KINDS: [&str; 13] = [
    "position",
    "roll",
    "pitch",
    "yaw",
    "axis_elevation",
    "axis_angle",
    "joint_position",
    "joint_velocity",
    "joint_effort",
    "contact_force",
    "contact_area",
    "face_count",
    "imu",
];

const BODY_EXAMPLE: &str = "body: gripper";

/// Reads the section `outputs`.
pub(super) fn read_outputs(node: &Node) -> Result<Vec<OutputSpec>, SceneError> {
    mapping(node, "`outputs`")?.iter().map(read_output).collect()
}

fn read_output((key, node): &(Key, Node)) -> Result<OutputSpec, SceneError> {
    let name = Named { place: key.place.clone(), name: key.name.clone() };
    if name.name.is_empty() || name.name.contains([',', '"', '\n', '#']) {
        let problem = format!("`{}` cannot be a column's name: leave out commas, quotes and #", name.name);
        return Err(SceneError::Conflict { place: name.place, problem });
    }
    let (kind, inner) = Section::only(node, "an output", &KINDS)?;
    let quantity = match kind.name.as_str() {
        "position" => read_position(inner)?,
        "roll" => QuantitySpec::RollPitchYaw { body: body_only(inner, "`roll`")?, axis: 0 },
        "pitch" => QuantitySpec::RollPitchYaw { body: body_only(inner, "`pitch`")?, axis: 1 },
        "yaw" => QuantitySpec::RollPitchYaw { body: body_only(inner, "`yaw`")?, axis: 2 },
        "axis_elevation" => {
            let section = Section::new(inner, "`axis_elevation`", &["body", "axis"])?;
            QuantitySpec::AxisElevation { body: body(&section)?, axis_B: axis(&section, "axis")? }
        }
        "axis_angle" => {
            let section = Section::new(inner, "`axis_angle`", &["body", "axis", "to"])?;
            let (axis_B, to_W) = (axis(&section, "axis")?, axis(&section, "to")?);
            QuantitySpec::AxisAngle { body: body(&section)?, axis_B, to_W }
        }
        "joint_position" => joint(inner, JointQuantity::Position)?,
        "joint_velocity" => joint(inner, JointQuantity::Velocity)?,
        "joint_effort" => joint(inner, JointQuantity::Effort)?,
        "contact_force" => read_contact_force(inner)?,
        "contact_area" => QuantitySpec::ContactArea(filter(inner, "`contact_area`")?),
        "imu" => {
            let section = Section::new(inner, "`imu`", &["body", "xyz", "rpy"])?;
            QuantitySpec::Imu { body: body(&section)?, X_BS: section.pose()? }
        }
        _ => QuantitySpec::FaceCount(filter(inner, "`face_count`")?),
    };
    Ok(OutputSpec { name, quantity })
}

fn body(section: &Section<'_>) -> Result<Named, SceneError> {
    text(section.require("body", BODY_EXAMPLE)?, "`body`")
}

fn body_only(node: &Node, what: &'static str) -> Result<Named, SceneError> {
    body(&Section::new(node, what, &["body"])?)
}

fn axis(section: &Section<'_>, key: &'static str) -> Result<Vector3, SceneError> {
    direction(section.require(key, "axis: [0, 1, 0]")?, &format!("`{key}`"))
}

fn joint(node: &Node, kind: JointQuantity) -> Result<QuantitySpec, SceneError> {
    let section = Section::new(node, "a joint output", &["joint"])?;
    Ok(QuantitySpec::Joint { joint: text(section.require("joint", "joint: elbow")?, "`joint`")?, kind })
}

fn filter(node: &Node, what: &'static str) -> Result<FilterSpec, SceneError> {
    let section = Section::new(node, what, &["body", "from"])?;
    Ok(FilterSpec { body: section.text("body")?, from: section.text("from")?, place: section.place.clone() })
}

fn read_position(node: &Node) -> Result<QuantitySpec, SceneError> {
    let section = Section::new(node, "`position`", &["body", "axis", "in"])?;
    let axis = text(section.require("axis", "axis: z")?, "`axis`")?;
    let letters = ["x", "y", "z"];
    let Some(number) = letters.iter().position(|letter| *letter == axis.name) else {
        return Err(unknown_name(&axis, "axis", letters));
    };
    Ok(QuantitySpec::Position { body: body(&section)?, reference: section.text("in")?, axis: number })
}

fn read_contact_force(node: &Node) -> Result<QuantitySpec, SceneError> {
    let section = Section::new(node, "`contact_force`", &["body", "from", "along", "axes", "component"])?;
    let in_body = match section.text("axes")? {
        None => false,
        Some(axes) => match axes.name.as_str() {
            "world" => false,
            "body" => true,
            _ => return Err(unknown_name(&axes, "set of axes", ["world", "body"])),
        },
    };
    let component = match (section.get("along"), section.text("component")?) {
        (Some(along), None) => {
            let direction = direction(along, "`along`")?;
            if in_body { ForceComponent::AlongBody(direction) } else { ForceComponent::AlongWorld(direction) }
        }
        (None, Some(component)) => match component.name.as_str() {
            "normal" => ForceComponent::Normal,
            "magnitude" => ForceComponent::Magnitude,
            _ => return Err(unknown_name(&component, "force component", ["normal", "magnitude"])),
        },
        _ => {
            return Err(SceneError::Conflict {
                place: section.place.clone(),
                problem: "`contact_force` needs one of `along: [x, y, z]` (a direction) and `component: normal` or \
                          `component: magnitude`"
                    .to_owned(),
            });
        }
    };
    Ok(QuantitySpec::ContactForce { body: body(&section)?, from: section.text("from")?, component })
}

impl OutputSpec {
    /// The output with its names resolved; for an `imu`, one output for each of its values.
    pub(super) fn resolve(&self, names: &Names<'_>) -> Result<Vec<Output>, SceneError> {
        let (quantity, unit) = match &self.quantity {
            QuantitySpec::Position { body, reference, axis } => {
                let reference = optional(names, reference.as_ref())?.unwrap_or(BodyIndex::WORLD);
                (Quantity::Position { body: names.body(body)?, reference, axis: *axis }, "m")
            }
            QuantitySpec::RollPitchYaw { body, axis } => {
                (Quantity::RollPitchYaw { body: names.body(body)?, axis: *axis }, "rad")
            }
            QuantitySpec::AxisElevation { body, axis_B } => {
                (Quantity::AxisElevation { body: names.body(body)?, axis_B: *axis_B }, "rad")
            }
            QuantitySpec::AxisAngle { body, axis_B, to_W } => {
                (Quantity::AxisAngle { body: names.body(body)?, axis_B: *axis_B, to_W: *to_W }, "rad")
            }
            QuantitySpec::Joint { joint, kind } => {
                let joint = names.joint(joint)?;
                let units = names.units(joint);
                match kind {
                    JointQuantity::Position => (Quantity::JointPosition(joint), units.position),
                    JointQuantity::Velocity => (Quantity::JointVelocity(joint), units.velocity),
                    JointQuantity::Effort => (Quantity::JointEffort(joint), units.effort),
                }
            }
            QuantitySpec::ContactForce { body, from, component } => {
                let (body, other) = (names.contact_body(body)?, optional(names, from.as_ref())?);
                (Quantity::ContactForce { body, other, component: *component }, "N")
            }
            QuantitySpec::ContactArea(filter) => (Quantity::ContactArea(filter.resolve(names)?), "m2"),
            QuantitySpec::FaceCount(filter) => (Quantity::FaceCount(filter.resolve(names)?), "1"),
            QuantitySpec::Imu { body, X_BS } => {
                let (body, X_BS) = (names.body(body)?, *X_BS);
                let output = |(value, (name, unit)): (usize, &(&str, &'static str))| Output {
                    name: format!("{}.{name}", self.name.name),
                    unit,
                    quantity: Quantity::Imu { body, X_BS, value },
                };
                return Ok(IMU_VALUES.iter().enumerate().map(output).collect());
            }
        };
        Ok(vec![Output { name: self.name.name.clone(), unit, quantity }])
    }

    /// The output's name.
    pub(super) fn name(&self) -> &Named {
        &self.name
    }
}

fn optional(names: &Names<'_>, body: Option<&Named>) -> Result<Option<BodyIndex>, SceneError> {
    body.map(|body| names.body(body)).transpose()
}

impl FilterSpec {
    fn resolve(&self, names: &Names<'_>) -> Result<PatchFilter, SceneError> {
        if self.body.is_none() && self.from.is_some() {
            return Err(SceneError::MissingKey {
                place: self.place.clone(),
                section: "an output with `from`",
                key: "body",
                example: BODY_EXAMPLE,
            });
        }
        let body = self.body.as_ref().map(|body| names.contact_body(body)).transpose()?;
        Ok(PatchFilter { body, other: optional(names, self.from.as_ref())? })
    }
}
