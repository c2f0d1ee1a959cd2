//! Drake's extensions of robot files (`drake:...`), and the joints' actuators.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::error::{UrdfError, UrdfProblem};
use super::place::{Place, suggestion};
use crate::contact::ContactProperties;
use crate::geometry::Shape;
use crate::geometry::fill::FieldScale;
use crate::io::xml::Element;
use crate::math::Vector3;
use crate::robot::{CollisionFilterGroup, ControllerGains, LoadWarning};

/// The drive of a joint: rotor inertia [kg m2], gear ratio [-], gains of the low-level controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Motor {
    pub(super) rotor_inertia: f64,
    pub(super) gear_ratio: f64,
    pub(super) gains: Option<ControllerGains>,
}

impl Default for Motor {
    fn default() -> Self {
        Self { rotor_inertia: 0.0, gear_ratio: 1.0, gains: None }
    }
}

/// The elements of `drake:proximity_properties`. Drake's older names are read, too.
const PROPERTIES: [&str; 19] = [
    "drake:compliant_hydroelastic",
    "drake:soft_hydroelastic",
    "drake:rigid_hydroelastic",
    "drake:hydroelastic_modulus",
    "drake:mesh_resolution_hint",
    "drake:hydroelastic_margin",
    "drake:hunt_crossley_dissipation",
    "drake:relaxation_time",
    "drake:mu_dynamic",
    "drake:mu_static",
    "drake:point_contact_stiffness",
    "drake:elastic_modulus",
    "isobar:wrap",
    "isobar:surface_tolerance",
    "isobar:pressure_field",
    "isobar:surface_velocity",
    "isobar:torsional_radius",
    "isobar:rolling_friction",
    "isobar:restitution",
];

/// Contact properties of a `<collision>`.
pub(super) fn properties(
    collision: &Element,
    place: &Place,
    warnings: &mut Vec<LoadWarning>,
) -> Result<ContactProperties, UrdfError> {
    let mut properties = ContactProperties::default();
    let Some(parent) = collision.child("drake:proximity_properties") else { return Ok(properties) };
    for child in &parent.children {
        let inside = place.inside(child);
        let not_negative = || value(child, &inside).and_then(|x| inside.not_negative("`value`", x).map(Some));
        let positive = || value(child, &inside).and_then(|x| inside.positive("`value`", x).map(Some));
        match child.name.as_str() {
            "drake:compliant_hydroelastic" | "drake:soft_hydroelastic" => {
                set_compliant(&mut properties, true, &inside)?
            }
            "drake:rigid_hydroelastic" => set_compliant(&mut properties, false, &inside)?,
            "drake:hydroelastic_modulus" | "drake:elastic_modulus" => properties.hydroelastic_modulus = positive()?,
            "drake:mesh_resolution_hint" => properties.mesh_resolution_hint = positive()?,
            "drake:hydroelastic_margin" => properties.margin = not_negative()?,
            "drake:hunt_crossley_dissipation" => properties.hunt_crossley_dissipation = not_negative()?,
            "drake:relaxation_time" => properties.relaxation_time = not_negative()?,
            "drake:mu_dynamic" => properties.mu_dynamic = not_negative()?,
            "drake:mu_static" => properties.mu_static = not_negative()?,
            "drake:point_contact_stiffness" => properties.point_contact_stiffness = positive()?,
            "isobar:wrap" => properties.wrap = positive()?,
            "isobar:surface_tolerance" => properties.surface_tolerance = positive()?,
            "isobar:pressure_field" => properties.pressure_field = Some(field_scale(child, &inside)?),
            "isobar:torsional_radius" => properties.torsional_radius = not_negative()?,
            "isobar:rolling_friction" => properties.rolling_friction = not_negative()?,
            "isobar:restitution" => properties.restitution = not_negative()?,
            "isobar:surface_velocity" => {
                let missing = || inside.fail(UrdfProblem::MissingAttribute { attribute: "xyz".to_owned() });
                let xyz = inside.numbers::<3>(child, "xyz", false)?.ok_or_else(missing)?;
                properties.surface_velocity = Some(Vector3::from(xyz));
            }
            other => {
                let near = suggestion(other, PROPERTIES.into_iter());
                warnings.push(inside.warning(format!("this contact property is unknown and not used{near}")));
            }
        }
    }
    let place = place.inside(parent);
    if properties.compliant == Some(false) && properties.hydroelastic_modulus.is_some() {
        warnings
            .push(place.warning("a rigid geometry has no use for drake:hydroelastic_modulus; remove one of the two"));
    }
    if let (Some(mu_static), Some(mu_dynamic)) = (properties.mu_static, properties.mu_dynamic) {
        if mu_static < mu_dynamic {
            warnings.push(place.warning(format!(
                "drake:mu_static {mu_static} is below drake:mu_dynamic {mu_dynamic}; swap them, or give only drake:mu_dynamic"
            )));
        } else if mu_static > mu_dynamic {
            warnings.push(place.warning(format!(
                "drake:mu_static {mu_static} has no effect: contact sticks and slides with drake:mu_dynamic {mu_dynamic}"
            )));
        }
    }
    Ok(properties)
}

fn set_compliant(properties: &mut ContactProperties, compliant: bool, place: &Place) -> Result<(), UrdfError> {
    if properties.compliant == Some(!compliant) {
        return Err(place.fail(UrdfProblem::CompliantAndRigid));
    }
    properties.compliant = Some(compliant);
    Ok(())
}

/// The number in the `value` attribute.
fn value(element: &Element, place: &Place) -> Result<f64, UrdfError> {
    let missing = || place.fail(UrdfProblem::MissingAttribute { attribute: "value".to_owned() });
    place.number(element, "value")?.ok_or_else(missing)
}

/// The pressure field named in the `value` attribute.
fn field_scale(element: &Element, place: &Place) -> Result<FieldScale, UrdfError> {
    let name = place.required(element, "value")?;
    let unknown = || {
        let suggestion = suggestion(name, FieldScale::NAMES.iter().map(|(name, _)| *name));
        place.fail(UrdfProblem::Unknown { what: "pressure field", name: name.to_owned(), suggestion })
    };
    FieldScale::named(name).ok_or_else(unknown)
}

/// The shape in a `<geometry>` that is not of the standard: `drake:capsule`, `drake:ellipsoid`, `capsule`. If
/// there is also a mesh, for tools that support the standard only, the mesh represents this shape and is not
/// read. The capsule's `length` is that of the cylinder, without the caps. Numbers were checked before.
pub(super) fn shape(geometry: &Element, place: &Place) -> Result<Option<Shape>, UrdfError> {
    const FOREIGN: [&str; 3] = ["drake:capsule", "capsule", "drake:ellipsoid"];
    const STANDARD: [&str; 3] = ["box", "sphere", "cylinder"];
    let first = |names: &[&str]| geometry.children.iter().find(|child| names.contains(&child.name.as_str()));
    let Some(element) = first(&[FOREIGN, STANDARD].concat()) else { return Ok(None) };
    let inside = place.inside(element);
    let size = |name: &str| {
        let number = inside.number(element, name)?;
        let missing = || inside.fail(UrdfProblem::MissingAttribute { attribute: name.to_owned() });
        inside.positive(&format!("`{name}`"), number.ok_or_else(missing)?)
    };
    Ok(match element.name.as_str() {
        "drake:capsule" | "capsule" => Some(Shape::Capsule { radius: size("radius")?, length: size("length")? }),
        "drake:ellipsoid" => Some(Shape::Ellipsoid { semi_axes: Vector3::new(size("a")?, size("b")?, size("c")?) }),
        _ => None,
    })
}

/// The motors of the joints, from `<transmission>`s: `drake:rotor_inertia`, `drake:gear_ratio` and
/// `drake:controller_gains` in the actuator.
pub(super) fn motors(
    robot: &Element,
    file: &Path,
    warnings: &mut Vec<LoadWarning>,
) -> Result<BTreeMap<String, Motor>, UrdfError> {
    let joints: BTreeSet<&str> = robot.children("joint").filter_map(|joint| joint.attribute("name")).collect();
    let mut motors = BTreeMap::new();
    for transmission in robot.children("transmission") {
        let place = Place::named(file, transmission);
        let Some(joint) = transmission.child("joint").and_then(|joint| joint.attribute("name")) else { continue };
        if let Some(actuator) = transmission.child("actuator")
            && let Some(motor) = motor(actuator, &place)?
        {
            if !joints.contains(joint) {
                let near = suggestion(joint, joints.iter().copied());
                warnings.push(place.warning(format!("the motor is not used: there is no joint `{joint}`{near}")));
            }
            motors.insert(joint.to_owned(), motor);
        }
    }
    Ok(motors)
}

/// The motor that an `<actuator>` (or a joint's own element) describes.
pub(super) fn motor(actuator: &Element, place: &Place) -> Result<Option<Motor>, UrdfError> {
    let mut motor = Motor::default();
    let mut found = false;
    for child in &actuator.children {
        let inside = place.inside(child);
        match child.name.as_str() {
            "drake:rotor_inertia" => motor.rotor_inertia = inside.not_negative("`value`", value(child, &inside)?)?,
            "drake:gear_ratio" => motor.gear_ratio = inside.not_negative("`value`", value(child, &inside)?)?,
            "drake:controller_gains" => {
                let gain = |name: &str| {
                    let missing = || inside.fail(UrdfProblem::MissingAttribute { attribute: name.to_owned() });
                    inside.not_negative(&format!("`{name}`"), inside.number(child, name)?.ok_or_else(missing)?)
                };
                motor.gains = Some(ControllerGains { p: gain("p")?, d: gain("d")? });
            }
            _ => continue,
        }
        found = true;
    }
    Ok(found.then_some(motor))
}

/// The `drake:collision_filter_group`s. The names of links and groups are checked with the tree.
pub(super) fn collision_filter_groups(robot: &Element, file: &Path) -> Result<Vec<CollisionFilterGroup>, UrdfError> {
    let mut groups = Vec::new();
    for element in robot.children("drake:collision_filter_group") {
        let place = Place::named(file, element);
        let names = |child: &str, attribute: &str| -> Result<Vec<String>, UrdfError> {
            let children = element.children.iter().filter(|found| found.name == child);
            children.map(|found| place.inside(found).required(found, attribute).map(str::to_owned)).collect()
        };
        groups.push(CollisionFilterGroup {
            name: place.required(element, "name")?.to_owned(),
            ignore: element.attribute("ignore").is_some_and(|ignore| matches!(ignore.trim(), "true" | "1")),
            members: names("drake:member", "link")?,
            member_groups: names("drake:member_group", "name")?,
            ignored_groups: names("drake:ignored_collision_filter_group", "name")?,
            line: element.line,
        });
    }
    Ok(groups)
}

/// Makes every `<drake:joint type="planar">` a standard one: it moves in the plane normal to z, regardless of
/// its axis.
pub(super) fn adopt_planar_joints(robot: &mut Element) {
    for joint in robot.children.iter_mut() {
        if joint.name == "drake:joint" && joint.attribute("type") == Some("planar") {
            joint.name = "joint".to_owned();
            joint.children.retain(|child| child.name != "axis");
            let xyz = vec![("xyz".to_owned(), "0 0 1".to_owned())];
            joint.children.push(Element { name: "axis".to_owned(), attributes: xyz, ..Element::default() });
        }
    }
}

/// Elements of Drake at the top of the file that change the mechanics and are not supported: refused for
/// joints, otherwise reported in a warning.
pub(super) fn check_unsupported(
    robot: &Element,
    file: &Path,
    warnings: &mut Vec<LoadWarning>,
) -> Result<(), UrdfError> {
    for element in robot.children.iter().filter(|child| child.name.starts_with("drake:")) {
        let place = Place::named(file, element);
        match element.name.as_str() {
            "drake:collision_filter_group" => {}
            "drake:joint" => {
                let found = element.attribute("type").unwrap_or("(none)").to_owned();
                return Err(place.fail(joint_type(found)));
            }
            _ => warnings.push(place.warning("this element of Drake is not supported and not used")),
        }
    }
    Ok(())
}

/// The problem of a joint type that is not one of URDF's six.
pub(super) fn joint_type(found: String) -> UrdfProblem {
    let way_out = match found.as_str() {
        "ball" | "spherical" => "write it as three `revolute` joints with links of no extent between",
        "universal" => "write it as two `revolute` joints with a link between",
        "screw" => "write it as a `revolute` joint and a `prismatic` joint that mimics it",
        _ => "the types are fixed, revolute, continuous, prismatic, planar and floating",
    };
    UrdfProblem::JointType { found, way_out: way_out.to_owned() }
}
