//! The sections of a scene file as plain data, with names still unresolved.

use super::body::{BodySpec, SHAPES, read_body};
use super::closures::{ClosureSpec, read_closures};
use super::commands::{CommandSpec, read_command};
use super::contact_scheme::{SAP_COMPLIANCE, read_scheme};
use super::copies::{COPIES, Copies, RandomPose, read_copies};
use super::error::{Place, SceneError};
use super::output_spec::{OutputSpec, read_outputs};
use super::reader::{Named, Range, Section, list, mapping, text, unknown_name};
use super::robot_files::{read_group_states, read_robot_file, read_xacro_arguments};
use super::stepping::{SteppingMode, SteppingSpec, read_stepping};
use super::tree::Tree;
use super::used_keys::stated;
use super::wrenches::{WrenchSpec, read_wrench};
use super::yaml::{Node, Value};
use super::{PublishSettings, publish};
use crate::contact::{ContactProperties, FaceFriction};
use crate::geometry::FaceRepresentation;
use crate::geometry::fill::FieldScale;
use crate::math::{RigidTransform, SpatialVelocity, Vector3};
use crate::multibody::JointSpring;
use crate::stepping::{ContactScheme, ContactSurfaces, DissipationModel, DynamicStepping, FrictionBound};

/// The range of friction coefficients [-].
const FRICTION: Range = Range::Between(0.0, 10.0, "(no unit)");
/// The range of the modulus, from soft gel to diamond \[Pa\].
const MODULUS: Range = Range::Between(1.0, 1e13, "Pa (1e5 is soft foam, 1e7 rubber, 1e11 metal)");
/// Standard gravity as Drake and most simulators round it [m/s2].
const GRAVITY: f64 = 9.81;

const SCENE_KEYS: [&str; 22] = [
    "step",
    "stepping",
    "integrator",
    "enforce_velocity_limit",
    "threads",
    "sleep",
    "quasistatic",
    "spook",
    "gravity",
    "contact",
    "models",
    "robot",
    "ground",
    "materials",
    "no_contact",
    "closures",
    "commands",
    "wrenches",
    "publish",
    "outputs",
    "force_torque",
    "description",
];

/// A whole scene file.
#[derive(Clone, Debug)]
pub(super) struct SceneSpec {
    pub(super) place: Place,
    pub(super) stepping: SteppingSpec,
    pub(super) gravity_W: Vector3,
    pub(super) contact: ContactSpec,
    pub(super) models: Vec<ModelSpec>,
    /// The model that is controlled.
    pub(super) robot: Option<Named>,
    pub(super) ground: Option<GroundSpec>,
    pub(super) materials: Vec<MaterialRule>,
    pub(super) no_contact: Vec<(Named, Named)>,
    pub(super) closures: Vec<ClosureSpec>,
    pub(super) commands: Vec<CommandSpec>,
    pub(super) wrenches: Vec<WrenchSpec>,
    pub(super) publish: PublishSettings,
    pub(super) outputs: Vec<OutputSpec>,
    /// Joints with a force-torque sensor.
    pub(super) force_torque: Vec<Named>,
    /// Whether names of removed models may remain. Entries with such names are left out, with a warning.
    pub(super) has_gaps: bool,
    /// Warnings about the file itself.
    pub(super) warnings: Vec<String>,
}

/// The contact settings.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactSpec {
    /// The keys that are given, with their values as far as these are texts.
    pub(super) stated: Vec<(String, String)>,
    pub(super) stiction_tolerance: Option<f64>,
    /// The options of dynamic steps.
    pub(super) dynamic: DynamicStepping,
    pub(super) faces: FaceRepresentation,
    pub(super) face_friction: FaceFriction,
    /// The divisor of the stated resolution hints [-].
    pub(super) refinement: Option<f64>,
    /// The links of a robot that overlap at the start.
    pub(super) overlapping_links: OverlappingLinks,
}

/// The contact of links of a robot that overlap at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum OverlappingLinks {
    /// Rigid ones pass through each other.
    #[default]
    Ignore,
    /// All pass through each other.
    IgnoreAll,
    /// They touch.
    Keep,
}

/// A robot or an object.
#[derive(Clone, Debug)]
pub(super) struct ModelSpec {
    pub(super) place: Place,
    pub(super) name: Named,
    pub(super) urdf: Named,
    /// The URDF's text and the folder of its relative paths, if it does not come from the file `urdf`.
    pub(super) text: Option<(String, std::path::PathBuf)>,
    /// Values for the arguments of a xacro file by name.
    pub(super) xacro_arguments: Vec<(String, String)>,
    /// The body that the scene file describes itself, in place of a URDF.
    pub(super) body: Option<BodySpec>,
    pub(super) srdf: Option<Named>,
    /// Group states of the SRDF, which set initial positions.
    pub(super) group_states: Vec<Named>,
    pub(super) prefix: String,
    pub(super) base: BaseSpec,
    /// A random pose in place of that of `base`.
    pub(super) random: Option<RandomPose>,
    pub(super) joints: Vec<(Named, Placed)>,
    /// Initial velocities of joints [rad/s or m/s].
    pub(super) velocities: Vec<(Named, Placed)>,
    /// Springs; later ones override earlier ones.
    pub(super) springs: Vec<SpringSpec>,
    pub(super) actuators: Vec<ActuatorSpec>,
    pub(super) gravity_compensation: bool,
    pub(super) materials: Vec<MaterialRule>,
}

/// A number with its place.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) place: Place,
    pub(super) value: f64,
}

/// The attachment of a model's root.
#[derive(Clone, Debug)]
pub(super) enum BaseSpec {
    /// Welded to a body; `None` is the world.
    Weld { parent: Option<Named>, X_PB: RigidTransform },
    /// Free, at a pose and with a velocity in the world.
    Free { X_WB: RigidTransform, V_WB: SpatialVelocity },
}

/// The spring of the joints that a pattern matches.
#[derive(Clone, Debug)]
pub(super) struct SpringSpec {
    pub(super) joint: Named,
    pub(super) spring: JointSpring,
}

/// The impedance of the joints that a pattern names.
#[derive(Clone, Debug)]
pub(super) struct ActuatorSpec {
    pub(super) joint: Named,
    pub(super) stiffness: Option<f64>,
    pub(super) damping: Option<f64>,
    pub(super) effort_limit: Option<f64>,
    pub(super) gravity_compensation: Option<bool>,
}

/// The half space below z = 0 of a frame.
#[derive(Clone, Debug)]
pub(super) struct GroundSpec {
    pub(super) place: Place,
    pub(super) X_WG: RigidTransform,
    pub(super) properties: ContactProperties,
}

/// Contact properties for the geometries that its patterns name.
#[derive(Clone, Debug)]
pub(super) struct MaterialRule {
    pub(super) place: Place,
    pub(super) body: Option<Named>,
    pub(super) geometry: Option<Named>,
    pub(super) properties: ContactProperties,
}

/// Reads the whole file.
pub(super) fn read_scene(tree: &Tree) -> Result<SceneSpec, SceneError> {
    let scene = Section::new(&tree.scene, "the scene", &SCENE_KEYS)?;
    scene.check_prose("description")?;
    let stepping = read_stepping(&scene)?;
    let listed = scene.require("models", "models: [{ name: arm, urdf: arm.urdf, weld: {} }]")?;
    let mut models = Vec::new();
    for node in list(listed, "`models`")? {
        models.extend(read_model(node)?);
        SceneError::check_models(scene.place, models.len())?;
    }
    for (number, model) in models.iter().enumerate() {
        if let Some(first) = models[..number].iter().find(|first| first.name.name == model.name.name) {
            let problem = format!("a model `{}` exists already ({}); rename one", model.name.name, first.name.place);
            return Err(SceneError::Conflict { place: model.name.place.clone(), problem });
        }
    }
    let mut contact =
        scene.get("contact").map(|node| read_contact(node, stepping.mode)).transpose()?.unwrap_or_default();
    contact.dynamic.integrator = stepping.integrator;
    contact.dynamic.error_control = stepping.error_control;
    contact.dynamic.sleep = stepping.sleep;
    contact.dynamic.enforce_velocity_limit = stepping.enforce_velocity_limit;
    contact.stated.extend(stated(&scene).into_iter().filter(|(key, _)| key == "integrator"));
    Ok(SceneSpec {
        place: scene.place.clone(),
        stepping,
        gravity_W: scene.vector("gravity", "[m/s2]", Range::Any)?.unwrap_or(Vector3::new(0.0, 0.0, -GRAVITY)),
        contact,
        models,
        robot: scene.text("robot")?,
        ground: scene.get("ground").map(read_ground).transpose()?.flatten(),
        materials: read_rules(&scene, "materials")?,
        no_contact: scene.get("no_contact").map(read_no_contact).transpose()?.unwrap_or_default(),
        closures: scene.get("closures").map(read_closures).transpose()?.unwrap_or_default(),
        commands: match scene.get("commands") {
            Some(commands) => mapping(commands, "`commands`")?.iter().map(read_command).collect::<Result<_, _>>()?,
            None => Vec::new(),
        },
        wrenches: match scene.get("wrenches") {
            Some(wrenches) => mapping(wrenches, "`wrenches`")?.iter().map(read_wrench).collect::<Result<_, _>>()?,
            None => Vec::new(),
        },
        publish: scene.get("publish").map(publish::read_publish).transpose()?.unwrap_or_default(),
        outputs: scene.get("outputs").map(read_outputs).transpose()?.unwrap_or_default(),
        force_torque: match scene.get("force_torque") {
            Some(joints) => list(joints, "`force_torque`")?
                .iter()
                .map(|joint| text(joint, "a joint of `force_torque`"))
                .collect::<Result<_, _>>()?,
            None => Vec::new(),
        },
        has_gaps: false,
        warnings: tree.warnings.clone(),
    })
}

fn read_contact(node: &Node, mode: SteppingMode) -> Result<ContactSpec, SceneError> {
    let contact = Section::new(
        node,
        "`contact`",
        &[
            "scheme",
            "near_rigid",
            "stiction_tolerance",
            "friction_compliance",
            "dissipation",
            "faces",
            "face_friction",
            "surfaces",
            "friction_bound",
            "refinement",
            "overlapping_links",
        ],
    )?;
    let scheme = read_scheme(&contact, mode)?;
    let is_sap = matches!(scheme, ContactScheme::Sap { .. });
    let overlapping_links = match contact.text("overlapping_links")? {
        None => OverlappingLinks::default(),
        Some(choice) => match choice.name.as_str() {
            "ignore" => OverlappingLinks::Ignore,
            "ignore_all" => OverlappingLinks::IgnoreAll,
            "keep" => OverlappingLinks::Keep,
            _ => return Err(unknown_name(&choice, "choice for overlapping links", ["ignore", "ignore_all", "keep"])),
        },
    };
    let dissipation = match contact.text("dissipation")? {
        None if is_sap => DissipationModel::Linear,
        None => DissipationModel::default(),
        Some(law) => match law.name.as_str() {
            "hunt_crossley" => DissipationModel::HuntCrossley,
            "linear" => DissipationModel::Linear,
            _ => return Err(unknown_name(&law, "dissipation law", ["hunt_crossley", "linear"])),
        },
    };
    let surfaces = match contact.text("surfaces")? {
        None => ContactSurfaces::default(),
        Some(choice) => match choice.name.as_str() {
            "start" => ContactSurfaces::Start,
            "free_path" => ContactSurfaces::FreePath,
            _ => return Err(unknown_name(&choice, "choice of contact surfaces", ["start", "free_path"])),
        },
    };
    let friction_bound = match contact.text("friction_bound")? {
        None => FrictionBound::default(),
        Some(choice) => match choice.name.as_str() {
            "solved" => FrictionBound::Solved,
            "lagged" => FrictionBound::Lagged,
            _ => return Err(unknown_name(&choice, "bound of friction", ["solved", "lagged"])),
        },
    };
    let faces = match contact.text("faces")? {
        None => FaceRepresentation::default(),
        Some(choice) => match choice.name.as_str() {
            "polygons" => FaceRepresentation::Polygon,
            "triangles" => FaceRepresentation::TriangleFan,
            _ => return Err(unknown_name(&choice, "kind of faces", ["polygons", "triangles"])),
        },
    };
    let face_friction = match contact.text("face_friction")? {
        None if !scheme.has_bounds() => FaceFriction::Centroid,
        None => FaceFriction::default(),
        Some(choice) => match choice.name.as_str() {
            "spread" => FaceFriction::Spread,
            "centroid" => FaceFriction::Centroid,
            _ => return Err(unknown_name(&choice, "friction of faces", ["spread", "centroid"])),
        },
    };
    Ok(ContactSpec {
        stated: stated(&contact),
        stiction_tolerance: contact.number("stiction_tolerance", "[m/s]", Range::Between(1e-12, 1.0, "m/s"))?,
        dynamic: DynamicStepping {
            friction_compliance: contact
                .number("friction_compliance", "[-]", Range::Between(0.0, 1.0, "(no unit)"))?
                .unwrap_or(if is_sap { SAP_COMPLIANCE } else { DynamicStepping::default().friction_compliance }),
            scheme,
            dissipation,
            surfaces,
            friction_bound,
            ..DynamicStepping::default()
        },
        faces,
        face_friction,
        refinement: contact.number("refinement", "[-]", Range::Between(0.1, 100.0, "(no unit)"))?,
        overlapping_links,
    })
}

const MODEL_KEYS: [&str; 19] = [
    "name",
    "urdf",
    "xacro_arguments",
    "sdf",
    "srdf",
    "prefix",
    "weld",
    "free",
    "joints",
    "joint_velocities",
    "springs",
    "actuators",
    "gravity_compensation",
    "materials",
    "group_state",
    "mass",
    "density",
    "color",
    "material",
];

/// The model of a section, or its copies.
fn read_model(node: &Node) -> Result<Vec<ModelSpec>, SceneError> {
    let model = Section::new(node, "a model", &[&MODEL_KEYS[..], &SHAPES, &COPIES].concat())?;
    let name = text(model.require("name", "name: arm")?, "`name`")?;
    let joints = read_numbers(&model, "joints", ("the position", "[rad or m]"))?;
    let velocities = read_numbers(&model, "joint_velocities", ("the initial velocity", "[rad/s or m/s]"))?;
    let springs = match model.get("springs") {
        Some(springs) => mapping(springs, "`springs`")?
            .iter()
            .map(|(key, node)| read_spring(Named { place: key.place.clone(), name: key.name.clone() }, node))
            .collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let actuators = match model.get("actuators") {
        Some(actuators) => mapping(actuators, "`actuators`")?
            .iter()
            .map(|(key, node)| read_actuator(Named { place: key.place.clone(), name: key.name.clone() }, node))
            .collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let base = read_base(&model, &name.name)?;
    let body = read_body(&model, &name.name, matches!(base, BaseSpec::Free { .. }))?;
    let urdf = match &body {
        Some(body) => Named { place: body.place.clone(), name: name.name.clone() },
        None => read_robot_file(&model)?,
    };
    let mut materials = read_rules(&model, "materials")?;
    materials.extend(model.get("material").map(read_material).transpose()?);
    let spec = ModelSpec {
        place: model.place.clone(),
        urdf,
        text: None,
        xacro_arguments: read_xacro_arguments(&model)?,
        body,
        srdf: model.text("srdf")?,
        group_states: read_group_states(&model)?,
        random: None,
        prefix: model.text("prefix")?.map(|prefix| prefix.name).unwrap_or_default(),
        base,
        name,
        joints,
        velocities,
        springs,
        actuators,
        gravity_compensation: model.truth("gravity_compensation")?.unwrap_or(false),
        materials,
    };
    copied(&model, spec)
}

/// The model, or its copies called `name_1`, `name_2`, ...
fn copied(section: &Section<'_>, model: ModelSpec) -> Result<Vec<ModelSpec>, SceneError> {
    let free_at = match &model.base {
        BaseSpec::Free { X_WB, .. } => Some(X_WB.translation.vector),
        BaseSpec::Weld { .. } => None,
    };
    let Some(copies) = read_copies(section, &model.name.name, free_at)? else { return Ok(vec![model]) };
    let count = match &copies {
        Copies::At(poses) => poses.len(),
        Copies::Random(count, _) => *count,
    };
    let copy = |number: usize| {
        let mut copy = model.clone();
        copy.name.name = format!("{}_{}", model.name.name, number + 1);
        // A body of the scene file has the name of its model, so it needs no prefix.
        if copy.body.is_none() {
            copy.prefix = format!("{}_{}", copy.name.name, model.prefix);
        }
        match &copies {
            Copies::At(poses) => match &mut copy.base {
                BaseSpec::Weld { X_PB: X, .. } | BaseSpec::Free { X_WB: X, .. } => *X = poses[number] * *X,
            },
            Copies::Random(_, pose) => copy.random = Some(pose.clone()),
        }
        copy
    };
    Ok((0..count).map(copy).collect())
}

/// The properties of the shape of a body, as a rule for all geometries of its model.
fn read_material(node: &Node) -> Result<MaterialRule, SceneError> {
    let material = Section::new(node, "`material`", &PROPERTY_KEYS)?;
    let properties = read_properties(&material)?;
    Ok(MaterialRule { place: material.place.clone(), body: None, geometry: None, properties })
}

/// A section with a number for each joint, such as `joints`.
fn read_numbers(
    model: &Section<'_>,
    section: &'static str,
    (what, unit): (&str, &str),
) -> Result<Vec<(Named, Placed)>, SceneError> {
    let Some(node) = model.get(section) else { return Ok(Vec::new()) };
    mapping(node, section)?
        .iter()
        .map(|(key, node)| {
            let what = format!("{what} of joint `{}` {unit}", key.name);
            let value = super::reader::number(node, &what, Range::Any)?;
            let joint = Named { place: key.place.clone(), name: key.name.clone() };
            Ok((joint, Placed { place: node.place.clone(), value }))
        })
        .collect()
}

fn read_spring(joint: Named, node: &Node) -> Result<SpringSpec, SceneError> {
    let spring = Section::new(node, "a spring", &["stiffness", "reference"])?;
    let stiffness = super::reader::number(
        spring.require("stiffness", "stiffness: 2.0")?,
        "`stiffness` [N m/rad or N/m]",
        Range::NotNegative,
    )?;
    let reference = spring.number("reference", "[rad or m]", Range::Any)?.unwrap_or(0.0);
    Ok(SpringSpec { joint, spring: JointSpring { stiffness, reference } })
}

fn read_base(model: &Section<'_>, name: &str) -> Result<BaseSpec, SceneError> {
    match (model.get("weld"), model.get("free")) {
        (Some(weld), None) => {
            let weld = Section::new(weld, "`weld`", &["parent", "xyz", "rpy"])?;
            Ok(BaseSpec::Weld { parent: weld.text("parent")?, X_PB: weld.pose()? })
        }
        (None, Some(free)) => {
            let free = Section::new(free, "`free`", &["xyz", "rpy", "linear_velocity", "angular_velocity"])?;
            let velocity = |key, unit| Ok(free.vector(key, unit, Range::Any)?.unwrap_or_default());
            let (v, w) = (velocity("linear_velocity", "[m/s]")?, velocity("angular_velocity", "[rad/s]")?);
            Ok(BaseSpec::Free { X_WB: free.pose()?, V_WB: SpatialVelocity { w, v } })
        }
        (Some(_), Some(_)) => Err(SceneError::Conflict {
            place: model.key_place("free").clone(),
            problem: format!("model `{name}` is both welded and free; keep one of `weld` and `free`"),
        }),
        (None, None) => Err(SceneError::MissingKey {
            place: model.place.clone(),
            section: "a model",
            key: "weld` or `free",
            example: "weld: { parent: world, xyz: [0, 0, 0], rpy: [0, 0, 0] }",
        }),
    }
}

fn read_actuator(joint: Named, node: &Node) -> Result<ActuatorSpec, SceneError> {
    let keys = ["stiffness", "damping", "effort_limit", "gravity_compensation"];
    let actuator = Section::new(node, "an actuator", &keys)?;
    Ok(ActuatorSpec {
        joint,
        stiffness: actuator.number("stiffness", "[N m/rad or N/m]", Range::NotNegative)?,
        damping: actuator.number("damping", "[N m s/rad or N s/m]", Range::NotNegative)?,
        effort_limit: actuator.number("effort_limit", "[N m or N]", Range::NotNegative)?,
        gravity_compensation: actuator.truth("gravity_compensation")?,
    })
}

const PROPERTY_KEYS: [&str; 17] = [
    "compliant",
    "hydroelastic_modulus",
    "mesh_resolution_hint",
    "slab_thickness",
    "wrap",
    "surface_tolerance",
    "pressure_field",
    "margin",
    "hunt_crossley_dissipation",
    "relaxation_time",
    "mu_dynamic",
    "mu_static",
    "point_contact_stiffness",
    "surface_velocity",
    "torsional_radius",
    "rolling_friction",
    "restitution",
];

fn read_properties(section: &Section<'_>) -> Result<ContactProperties, SceneError> {
    Ok(ContactProperties {
        compliant: section.truth("compliant")?,
        hydroelastic_modulus: section.number("hydroelastic_modulus", "[Pa]", MODULUS)?,
        mesh_resolution_hint: section.number("mesh_resolution_hint", "[m]", Range::Positive)?,
        slab_thickness: section.number("slab_thickness", "[m]", Range::Positive)?,
        wrap: section.number("wrap", "[m]", Range::Positive)?,
        surface_tolerance: section.number("surface_tolerance", "[m]", Range::Positive)?,
        pressure_field: read_pressure_field(section)?,
        margin: section.number("margin", "[m]", Range::NotNegative)?,
        hunt_crossley_dissipation: section.number("hunt_crossley_dissipation", "[s/m]", Range::NotNegative)?,
        relaxation_time: section.number("relaxation_time", "[s]", Range::NotNegative)?,
        mu_dynamic: section.number("mu_dynamic", "[-]", FRICTION)?,
        mu_static: section.number("mu_static", "[-]", FRICTION)?,
        point_contact_stiffness: section.number("point_contact_stiffness", "[N/m]", Range::Positive)?,
        surface_velocity: section.vector("surface_velocity", "[m/s]", Range::Any)?,
        torsional_radius: section.number("torsional_radius", "[m]", Range::NotNegative)?,
        rolling_friction: section.number("rolling_friction", "[m]", Range::NotNegative)?,
        restitution: section.number("restitution", "[-]", Range::Between(0.0, 1.0, "(no unit)"))?,
    })
}

fn read_pressure_field(section: &Section<'_>) -> Result<Option<FieldScale>, SceneError> {
    let Some(choice) = section.text("pressure_field")? else { return Ok(None) };
    match FieldScale::named(&choice.name) {
        Some(scale) => Ok(Some(scale)),
        None => Err(unknown_name(&choice, "pressure field", FieldScale::NAMES.map(|(name, _)| name))),
    }
}

fn read_ground(node: &Node) -> Result<Option<GroundSpec>, SceneError> {
    if matches!(&node.value, Value::Text(none) if none == "none") {
        return Ok(None);
    }
    let keys: Vec<&str> = ["xyz", "rpy"].into_iter().chain(PROPERTY_KEYS).collect();
    let ground = Section::new(node, "`ground`", &keys)?;
    let (X_WG, properties) = (ground.pose()?, read_properties(&ground)?);
    Ok(Some(GroundSpec { place: ground.place.clone(), X_WG, properties }))
}

fn read_rules(section: &Section<'_>, key: &str) -> Result<Vec<MaterialRule>, SceneError> {
    let Some(rules) = section.get(key) else { return Ok(Vec::new()) };
    let keys: Vec<&str> = ["body", "geometry"].into_iter().chain(PROPERTY_KEYS).collect();
    let rule = |node| {
        let rule = Section::new(node, "a material", &keys)?;
        Ok(MaterialRule {
            place: rule.place.clone(),
            body: rule.text("body")?,
            geometry: rule.text("geometry")?,
            properties: read_properties(&rule)?,
        })
    };
    list(rules, "`materials`")?.iter().map(rule).collect()
}

fn read_no_contact(node: &Node) -> Result<Vec<(Named, Named)>, SceneError> {
    let pair = |node| match list(node, "a pair of `no_contact`")? {
        [a, b] => Ok((text(a, "a body")?, text(b, "a body")?)),
        _ => Err(super::reader::wrong_type(node, "a pair of `no_contact`", "two body names, as in `[palm, wrist]`")),
    };
    list(node, "`no_contact`")?.iter().map(pair).collect()
}
