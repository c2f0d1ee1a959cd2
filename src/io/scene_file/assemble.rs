//! Assembly of a scene from the sections of a scene file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::closures::{resolve_closures, settle_closures};
use super::error::SceneError;
use super::likely_mistakes::{
    centre_inside, centres_inside, counted, is_apart, is_named, lost_overlaps, start_overlaps, warn_of_commands,
    warn_of_inertias, warn_of_scene, warn_of_static_friction,
};
use super::loaded_scene::{JointGroup, LoadedScene, SceneModel};
use super::place_model::{LoadedModel, check_rule, load_model, model_of, place_model, scene_name, weld_of};
use super::reader::unknown_name;
use super::resolve::Names;
use super::scatter::scatter;
use super::schema::{BaseSpec, OverlappingLinks, SceneSpec};
use super::stepping::SteppingMode;
use super::wrenches::immovable;
use crate::geometry::Shape;
use crate::io::limits;
use crate::io::package::PackageMap;
use crate::io::urdf::LoadOptions;
use crate::math::{BodyIndex, GeometryIndex, JointIndex};
use crate::multibody::{ModelError, State};
use crate::recording::Outputs;
use crate::robot::{PlacedRobot, visuals};
use crate::scene::{ContactKind, Scene, SceneBuilder};
use crate::stepping::{
    BodyWrench, CommandSchedule, ContinuousStepping, JointSchedule, Overlap, StepSettings, Stepping, TimedWrenches,
    near_pairs, overlaps,
};

/// Columns of a recording whose names outputs cannot have.
const RESERVED_NAMES: [&str; 14] = [
    "time",
    "faces",
    "faces_dropped",
    "solver_iterations",
    "solver_residual",
    "solver_converged",
    "friction_error",
    "cone_error",
    "alignment_error",
    "net_cone_error",
    "net_alignment_error",
    "kinetic_energy",
    "potential_energy",
    "spring_energy",
];

/// Reads the models' files, builds the scene, and resolves every name.
pub(super) fn assemble(
    spec: &SceneSpec,
    packages: &PackageMap,
    options: &LoadOptions,
    refinement: Option<f64>,
) -> Result<LoadedScene, SceneError> {
    SceneError::check_models(&spec.place, spec.models.len())?;
    let mut warnings = spec.warnings.clone();
    let needs_mass = !matches!(spec.stepping.mode, SteppingMode::Quasistatic);
    let mut models = spec
        .models
        .iter()
        .map(|model| load_model(model, packages, options, needs_mass, &mut warnings))
        .collect::<Result<Vec<_>, _>>()?;
    check_dofs(spec, &models)?;
    scatter(&mut models)?;
    check_scene_rules(spec, &models)?;
    let mut builder = SceneBuilder::new();
    builder.set_refinement(refinement.or(spec.contact.refinement).unwrap_or(1.0)).map_err(|source| {
        let what = "the resolution cannot be refined".to_owned();
        SceneError::Build { place: spec.place.clone(), what, source: Box::new(source) }
    })?;
    add_ground(&mut builder, spec)?;
    let mut bodies = vec![("world".to_owned(), BodyIndex::WORLD)];
    let mut placed = Vec::new();
    for model in &models {
        check_unique(model, &models, &bodies)?;
        let weld = weld_of(model.spec, &bodies)?;
        let robot = place_model(&mut builder, model, weld, &spec.materials)?;
        bodies.extend(robot.bodies.iter().map(|(link, body)| (scene_name(model.spec, link), *body)));
        placed.push(robot);
    }
    warn_of_static_friction(spec, &mut warnings);
    warn_of_inertias(&models, &mut warnings);
    exclude_contacts(&mut builder, spec, &bodies, &mut warnings)?;
    let closures = without_gaps(spec, resolve_closures(&spec.closures, &bodies), &mut warnings)?;
    let (closures, closure_specs): (Vec<_>, Vec<_>) = closures.into_iter().unzip();
    for closure in closures {
        if closure.A.0 != BodyIndex::WORLD && closure.B.0 != BodyIndex::WORLD {
            builder.exclude_contact(closure.A.0, closure.B.0);
        }
        builder.add_closure(closure);
    }
    let mut scene = builder.build(spec.gravity_W).map_err(|source| SceneError::Build {
        place: spec.place.clone(),
        what: "the models do not form a scene".to_owned(),
        source: Box::new(source),
    })?;
    if needs_mass {
        scene.model().check_mass().map_err(|source| {
            let is_at_fault = |robot: &PlacedRobot| {
                let names = |name: &str| robot.bodies.values().any(|body| scene.body_name(*body) == name);
                matches!(&source, ModelError::Massless { body, .. } if names(body))
            };
            let model = models.iter().zip(&placed).find(|(_, robot)| is_at_fault(robot));
            let place = model.map_or(&spec.place, |(model, _)| &model.spec.place).clone();
            let what = "the mass matrix is singular".to_owned();
            SceneError::Build { place, what, source: Box::new(source) }
        })?;
    }
    let noted = scene.mesh_notes().iter();
    warnings.extend(noted.map(|(geometry, note)| format!("`{}`: {note}", scene.geometry_name(*geometry))));
    let initial = initial_state(&scene, &models, &placed);
    settle_closures(&mut scene, &initial, &closure_specs)?;
    let mechanisms = mechanisms(&models, &placed, &bodies)?;
    check_near_pairs(&scene, &initial, (spec, &models, &placed))?;
    let found = overlaps(&scene, &initial);
    let apart = |pair: &(GeometryIndex, GeometryIndex)| is_apart(&scene, *pair, &mechanisms, &placed);
    let inside = centres_inside(&scene, &initial, &apart);
    warnings.extend(lost_overlaps(&scene, &found, &apart));
    warnings.extend(inside.iter().map(|pair| centre_inside(&scene, *pair)));
    warnings.extend(start_overlaps(&scene, &found, &|pair| apart(pair) && !is_named(&inside, pair)));
    let overlapping = |scene: &Scene| overlaps_inside(scene, &initial, &mechanisms, &placed);
    let which = spec.contact.overlapping_links;
    if which != OverlappingLinks::Keep {
        ignore_overlapping_links(&mut scene, &overlapping, which, &models, &mut warnings);
    }
    warn_of_scene(&scene, &overlapping(&scene), &models, &mut warnings);
    let names = Names { scene: &scene };
    let outputs = resolve_outputs(spec, &names, &mut warnings)?;
    let commands = resolve_commands(spec, &names, &mut warnings)?;
    warn_of_commands(&scene, &commands, &mut warnings);
    let wrenches = resolve_wrenches(spec, &names, &mut warnings)?;
    let sensors = spec.force_torque.iter().map(|named| names.any_joint(named));
    let force_torque = without_gaps(spec, sensors, &mut warnings)?;
    let robot = robot_index(spec, &models, &placed, &scene, &mut warnings)?;
    let mut robot_descriptions: Vec<_> =
        models.iter().map(|model| (model.spec.name.name.clone(), model.urdf_text.clone())).collect();
    // Without models there is no robot.
    if let Some(until_robot) = robot_descriptions.get_mut(..=robot) {
        until_robot.rotate_right(1);
    }
    Ok(LoadedScene {
        outputs,
        commands,
        wrenches,
        settings: settings(spec),
        dynamic: spec.contact.dynamic,
        quasistatic: spec.stepping.quasistatic,
        spook: spec.stepping.spook,
        continuous: continuous(spec),
        stated: spec.contact.stated.clone(),
        publish: spec.publish,
        robot_descriptions,
        models: models.iter().zip(&placed).map(|(model, robot)| scene_model(&scene, model, robot)).collect(),
        joint_groups: joint_groups(&scene, &models, &placed),
        force_torque,
        visuals: models.iter().zip(&placed).flat_map(|(model, placed)| visuals(&model.robot, placed)).collect(),
        warnings,
        initial,
        scene: Arc::new(scene),
    })
}

fn settings(spec: &SceneSpec) -> StepSettings {
    StepSettings {
        step_ns: spec.stepping.step_ns,
        stepping: match spec.stepping.mode {
            SteppingMode::Dynamic => Stepping::Dynamic(spec.contact.dynamic),
            SteppingMode::Quasistatic => Stepping::Quasistatic(spec.stepping.quasistatic),
            SteppingMode::Spook => Stepping::Spook(spec.stepping.spook),
            SteppingMode::Continuous => Stepping::Continuous(continuous(spec)),
        },
        stiction_tolerance: spec.contact.stiction_tolerance.unwrap_or(StepSettings::default().stiction_tolerance),
        faces: spec.contact.faces,
        face_friction: spec.contact.face_friction,
        threads: spec.stepping.threads,
    }
}

fn continuous(spec: &SceneSpec) -> ContinuousStepping {
    let ContinuousStepping { tolerance, .. } = ContinuousStepping::default();
    ContinuousStepping {
        dissipation: spec.contact.dynamic.dissipation,
        tolerance: spec.stepping.error_control.map_or(tolerance, |control| control.tolerance),
    }
}

/// Refuses models and scenes with too many degrees of freedom.
fn check_dofs(spec: &SceneSpec, models: &[LoadedModel<'_>]) -> Result<(), SceneError> {
    let most = limits::MODEL_DOFS_MAX;
    if let Some(model) = models.iter().find(|model| dofs(model) > most) {
        let (name, has) = (&model.spec.name.name, dofs(model));
        let problem = format!(
            "model `{name}` has {has} degrees of freedom; a model has at most {most}: make joints `fixed`, or split it into several \
             models"
        );
        return Err(SceneError::Conflict { place: model.spec.place.clone(), problem });
    }
    let all = models.iter().map(dofs).sum();
    settings(spec).stepping.check_size(all).map_err(|refused| {
        let problem = refused.to_string();
        SceneError::Conflict { place: spec.place.clone(), problem }
    })
}

/// The degrees of freedom of a model; mimic joints have none.
fn dofs(model: &LoadedModel<'_>) -> usize {
    let moves = |joint: &&crate::robot::Joint| joint.mimic.is_none();
    let joints: usize = model.robot.joints.iter().filter(moves).map(|joint| joint.kind.nv()).sum();
    joints + if matches!(model.spec.base, BaseSpec::Free { .. }) { 6 } else { 0 }
}

/// Index of the model that is controlled: the one that the file names, or the first with joints that move, or
/// the first.
fn robot_index(
    spec: &SceneSpec,
    models: &[LoadedModel<'_>],
    placed: &[PlacedRobot],
    scene: &Scene,
    warnings: &mut Vec<String>,
) -> Result<usize, SceneError> {
    let find = |named: &super::reader::Named| {
        let names = models.iter().map(|model| model.spec.name.name.as_str());
        let found = models.iter().position(|model| model.spec.name.name == named.name);
        found.ok_or_else(|| unknown_name(named, "model", names))
    };
    let named = without_gaps(spec, spec.robot.iter().map(find), warnings)?.first().copied();
    let moves = |robot: &PlacedRobot| robot.joints.values().any(|joint| scene.joints().contains(joint));
    Ok(named.or_else(|| placed.iter().position(moves)).unwrap_or(0))
}

/// Checks that every material of the scene matches a geometry of some model.
fn check_scene_rules(spec: &SceneSpec, models: &[LoadedModel<'_>]) -> Result<(), SceneError> {
    let links = models.iter().flat_map(|model| model.robot.links.iter().map(|link| (model.spec, link)));
    let names: Vec<(String, &str)> = links
        .flat_map(|(spec, link)| {
            link.collisions.iter().map(|element| (scene_name(spec, &link.name), element.name.as_str()))
        })
        .collect();
    let elements: Vec<(&str, &str)> = names.iter().map(|(body, element)| (body.as_str(), *element)).collect();
    let check = |rule| check_rule(rule, &elements);
    if spec.has_gaps { Ok(()) } else { spec.materials.iter().try_for_each(check) }
}

/// The entries of the file whose names exist. If models were removed, entries that name them are left out
/// with a warning.
fn without_gaps<T>(
    spec: &SceneSpec,
    found: impl Iterator<Item = Result<T, SceneError>>,
    warnings: &mut Vec<String>,
) -> Result<Vec<T>, SceneError> {
    let mut kept = Vec::new();
    for result in found {
        match result {
            Ok(item) => kept.push(item),
            Err(error) if spec.has_gaps => warnings.push(format!("{error}; the entry is left out")),
            Err(error) => return Err(error),
        }
    }
    Ok(kept)
}

fn add_ground(builder: &mut SceneBuilder, spec: &SceneSpec) -> Result<(), SceneError> {
    let Some(ground) = &spec.ground else { return Ok(()) };
    let added = builder.add_geometry(BodyIndex::WORLD, "ground", ground.X_WG, Shape::HalfSpace, &ground.properties);
    added.map(|_| ()).map_err(|source| SceneError::Build {
        place: ground.place.clone(),
        what: "the ground cannot be added to the scene".to_owned(),
        source: Box::new(source),
    })
}

/// Refuses a model with a link or joint whose name an earlier model has.
fn check_unique(
    model: &LoadedModel<'_>,
    models: &[LoadedModel<'_>],
    bodies: &[(String, BodyIndex)],
) -> Result<(), SceneError> {
    let spec = model.spec;
    let conflict = |what: &str, name: &str| SceneError::Conflict {
        place: spec.place.clone(),
        problem: format!(
            "{what} `{name}` of model `{}` exists in an earlier model too; give this model a prefix, as in `prefix: {}_`",
            spec.name.name, spec.name.name
        ),
    };
    for link in &model.robot.links {
        let name = scene_name(spec, &link.name);
        if bodies.iter().any(|(other, _)| *other == name) {
            return Err(conflict("link", &name));
        }
    }
    if model.robot.joints.is_empty() {
        return Ok(());
    }
    let earlier = models.iter().take_while(|other| other.spec.name.name != spec.name.name);
    let taken: Vec<String> =
        earlier.flat_map(|other| other.robot.joints.iter().map(|joint| scene_name(other.spec, &joint.name))).collect();
    for joint in &model.robot.joints {
        let name = scene_name(spec, &joint.name);
        if taken.contains(&name) {
            return Err(conflict("joint", &name));
        }
    }
    Ok(())
}

fn exclude_contacts(
    builder: &mut SceneBuilder,
    spec: &SceneSpec,
    bodies: &[(String, BodyIndex)],
    warnings: &mut Vec<String>,
) -> Result<(), SceneError> {
    let pairs = spec.no_contact.iter().map(|(a, b)| {
        let find = |named: &super::reader::Named| {
            let known = bodies.iter().map(|(name, _)| name.as_str());
            let found = bodies.iter().find(|(name, _)| *name == named.name).map(|(_, body)| *body);
            found.ok_or_else(|| unknown_name(named, "body", known))
        };
        Ok((find(a)?, find(b)?))
    });
    for (a, b) in without_gaps(spec, pairs, warnings)? {
        builder.exclude_contact(a, b);
    }
    Ok(())
}

fn scene_model(scene: &Scene, model: &LoadedModel<'_>, robot: &PlacedRobot) -> SceneModel {
    let mut bodies: Vec<BodyIndex> = robot.bodies.values().copied().collect();
    bodies.sort_unstable();
    SceneModel {
        name: model.spec.name.name.clone(),
        root: robot.root,
        is_free: scene.model().free_joint(robot.root).is_some(),
        joints: robot.joints.values().filter(|joint| scene.joints().contains(joint)).count(),
        bodies,
    }
}

fn joint_groups(scene: &Scene, models: &[LoadedModel<'_>], placed: &[PlacedRobot]) -> Vec<JointGroup> {
    let group = |(model, robot): (&LoadedModel<'_>, &PlacedRobot)| {
        let own = |index: &JointIndex| robot.joints.iter().find(|(_, joint)| *joint == index).map(|(name, _)| name);
        let joints =
            scene.joints().iter().enumerate().filter_map(|(number, index)| Some((number, own(index)?.clone())));
        let (joints, names): (Vec<usize>, Vec<String>) = joints.unzip();
        JointGroup { model: model.spec.name.name.clone(), joints, names }
    };
    models.iter().zip(placed).map(group).filter(|group| !group.joints.is_empty()).collect()
}

fn initial_state(scene: &Scene, models: &[LoadedModel<'_>], placed: &[PlacedRobot]) -> State {
    let mut state = scene.model().default_state();
    for (model, robot) in models.iter().zip(placed) {
        for (joint, position) in &model.positions {
            // A mimic joint has no coordinate of its own: its start follows from its leader.
            if let Some(index) = robot.joints.get(joint)
                && scene.model().joints()[*index].nq == 1
            {
                state.q[scene.model().joints()[*index].q_start] = *position;
            }
        }
        for (joint, velocity) in &model.velocities {
            if let Some(index) = robot.joints.get(joint)
                && scene.model().joints()[*index].nv == 1
            {
                state.v[scene.model().joints()[*index].v_start] = *velocity;
            }
        }
        if let BaseSpec::Free { X_WB, V_WB } = &model.spec.base {
            scene.model().set_free_body_pose(&mut state, robot.root, model.X_WB.as_ref().unwrap_or(X_WB));
            scene.model().set_free_body_velocity(&mut state, robot.root, V_WB);
        }
    }
    state
}

/// For each model, the first of the models welded to it, itself included. These move as one robot.
fn mechanisms(
    models: &[LoadedModel<'_>],
    placed: &[PlacedRobot],
    bodies: &[(String, BodyIndex)],
) -> Result<Vec<usize>, SceneError> {
    let mut mechanisms = Vec::with_capacity(models.len());
    for (number, model) in models.iter().enumerate() {
        let parent = weld_of(model.spec, bodies)?.map(|(body, _)| body);
        let carrier = parent.and_then(|body| model_of(body, placed)).filter(|carrier| *carrier < number);
        mechanisms.push(carrier.map_or(number, |carrier| mechanisms[carrier]));
    }
    Ok(mechanisms)
}

/// Checks that not so many geometries are near each other that their contacts exceed the memory.
fn check_near_pairs(
    scene: &Scene,
    initial: &State,
    (spec, models, placed): (&SceneSpec, &[LoadedModel<'_>], &[PlacedRobot]),
) -> Result<(), SceneError> {
    let (near, most) = (near_pairs(scene, initial), limits::NEAR_PAIRS_MAX);
    if near.len() <= most {
        return Ok(());
    }
    let mut counts = BTreeMap::new();
    for pair in near.iter().map(|index| &scene.contact_pairs()[*index as usize]) {
        [pair.A, pair.B].into_iter().for_each(|geometry| *counts.entry(geometry).or_insert(0_usize) += 1);
    }
    // The first geometry with the most others
    let Some((geometry, others)) = counts.iter().rev().max_by_key(|(_, count)| **count) else { return Ok(()) };
    let model = model_of(scene.geometries()[*geometry].body, placed);
    let place = model.map_or(&spec.place, |model| &models[model].spec.place).clone();
    let (count, name) = (near.len(), scene.geometry_name(*geometry));
    let problem = format!(
        "the boxes around {count} pairs of geometries overlap at the start, among them `{name}` and {others} others; at \
         most {most} are simulated: set the models apart, as with `spacing` or `pose`, or name pairs in `no_contact`"
    );
    Err(SceneError::Conflict { place, problem })
}

/// The overlaps between parts of one robot, each with its model.
fn overlaps_inside(
    scene: &Scene,
    initial: &State,
    mechanisms: &[usize],
    placed: &[PlacedRobot],
) -> Vec<(usize, Overlap)> {
    let model = |geometry: GeometryIndex| model_of(scene.geometries()[geometry].body, placed);
    overlaps(scene, initial)
        .into_iter()
        .filter_map(|overlap| {
            let (a, b) = (model(overlap.A)?, model(overlap.B)?);
            (mechanisms[a] == mechanisms[b]).then_some((b, overlap))
        })
        .collect()
}

/// Collision meshes of neighbouring links often overlap although no joint connects the two. Such links would
/// press against each other permanently. They therefore pass through each other from the start, unless the
/// compliance of one of them is stated; with `ignore_all` also then.
fn ignore_overlapping_links(
    scene: &mut Scene,
    overlapping: &dyn Fn(&Scene) -> Vec<(usize, Overlap)>,
    which: OverlappingLinks,
    models: &[LoadedModel<'_>],
    warnings: &mut Vec<String>,
) {
    let all = which == OverlappingLinks::IgnoreAll;
    let stated = scene.geometries().iter().filter(|geometry| geometry.states_compliance && geometry.rigid.is_none());
    let soft: BTreeSet<BodyIndex> = stated.map(|geometry| geometry.body).collect();
    let mut links = BTreeMap::<(usize, BodyIndex, BodyIndex), (f64, BTreeSet<bool>)>::new();
    for (model, overlap) in overlapping(scene) {
        let (a, b) = (scene.geometries()[overlap.A].body, scene.geometries()[overlap.B].body);
        if all || overlap.kind == ContactKind::Points || ![a, b].iter().any(|link| soft.contains(link)) {
            let (depth, kinds) = links.entry((model, a.min(b), a.max(b))).or_default();
            *depth = depth.max(overlap.depth);
            kinds.insert(overlap.kind == ContactKind::Points);
        }
    }
    for (number, model) in models.iter().enumerate() {
        let own: Vec<_> = links.iter().filter(|((model, ..), _)| *model == number).collect();
        let shown = own.iter().map(|((_, a, b), (depth, _))| {
            let depth = if *depth > 0.0 { format!(" ({:.1} mm)", depth * 1e3) } else { String::new() };
            format!("`{}` and `{}`{depth}", scene.body_name(*a), scene.body_name(*b))
        });
        if let Some(pairs) = counted(shown.collect(), "pair of links", "pairs of links") {
            let (place, name) = (&model.spec.place, &model.spec.name.name);
            warnings.push(format!(
                "{place}: model `{name}`: {pairs}: they overlap at the start and pass through each other from then on; name \
                 them in `no_contact`, or let them touch with `contact: {{ overlapping_links: keep }}`"
            ));
        }
    }
    for ((_, a, b), (_, kinds)) in links {
        for rigid in kinds {
            scene.ignore_contact(a, b, if rigid { ContactKind::Points } else { ContactKind::PressureField });
        }
    }
}

fn resolve_outputs(spec: &SceneSpec, names: &Names<'_>, warnings: &mut Vec<String>) -> Result<Outputs, SceneError> {
    for output in &spec.outputs {
        let name = output.name();
        if RESERVED_NAMES.contains(&name.name.as_str()) {
            let problem = format!("every recording has a column `{}`; choose another name", name.name);
            return Err(SceneError::Conflict { place: name.place.clone(), problem });
        }
    }
    let outputs = without_gaps(spec, spec.outputs.iter().map(|output| output.resolve(names)), warnings)?;
    Ok(Outputs::new(outputs.into_iter().flatten().collect()))
}

fn resolve_commands(
    spec: &SceneSpec,
    names: &Names<'_>,
    warnings: &mut Vec<String>,
) -> Result<CommandSchedule, SceneError> {
    let resolve = |command: &super::commands::CommandSpec| {
        let schedule = command.schedule.clone();
        Ok(JointSchedule { joint: names.joint(&command.joint)?, ..schedule })
    };
    Ok(CommandSchedule { joints: without_gaps(spec, spec.commands.iter().map(resolve), warnings)? })
}

fn resolve_wrenches(
    spec: &SceneSpec,
    names: &Names<'_>,
    warnings: &mut Vec<String>,
) -> Result<TimedWrenches, SceneError> {
    let resolve = |given: &super::wrenches::WrenchSpec| {
        let body = names.body(&given.body)?;
        match names.scene.model().body_dofs(body).is_empty() {
            true => Err(immovable(&given.body.place, &given.body.name)),
            false => Ok(BodyWrench { body, ..given.wrench.clone() }),
        }
    };
    Ok(TimedWrenches::new(without_gaps(spec, spec.wrenches.iter().map(resolve), warnings)?))
}
