//! Likely mistakes in a valid scene: each is a warning at load.

use super::place_model::{LoadedModel, model_of};
use super::schema::SceneSpec;
use crate::math::{GeometryIndex, Index, IndexVec, RigidTransform};
use crate::multibody::{Data, State, kinematics};
use crate::robot::PlacedRobot;
use crate::robot::inspect::inertia_mistakes;
use crate::scene::{ContactKind, Scene};
use crate::stepping::{CommandSchedule, Overlap, overlaps};

/// Warns of materials whose static friction has no effect.
pub(super) fn warn_of_static_friction(spec: &SceneSpec, warnings: &mut Vec<String>) {
    let rules = spec.materials.iter().chain(spec.models.iter().flat_map(|model| &model.materials));
    let ground = spec.ground.iter().map(|ground| (&ground.place, &ground.properties));
    for (place, properties) in rules.map(|rule| (&rule.place, &rule.properties)).chain(ground) {
        if let (Some(mu_static), Some(mu_dynamic)) = (properties.mu_static, properties.mu_dynamic)
            && mu_static != mu_dynamic
        {
            warnings.push(format!(
                "{place}: `mu_static` {mu_static} has no effect: contact sticks and slides with `mu_dynamic` {mu_dynamic}"
            ));
        }
    }
}

/// Warnings of rigid geometries that do not belong to one robot and start too deep in each other to be
/// pushed apart, or with surfaces that cross where no contact point is found.
pub(super) fn lost_overlaps(
    scene: &Scene,
    initial: &State,
    mechanisms: &[usize],
    placed: &[PlacedRobot],
) -> Vec<String> {
    let apart = |overlap: &Overlap| apart(scene, overlap.A, overlap.B, mechanisms, placed);
    let is_lost = |overlap: &Overlap| overlap.is_lost || overlap.kind == ContactKind::Points && overlap.depth == 0.0;
    let warning = |overlap: Overlap| {
        let (a, b) = (scene.geometry_name(overlap.A), scene.geometry_name(overlap.B));
        let what = if overlap.is_lost {
            format!(
                "overlap by {:.1} mm at the start, which is too deep for contact with a mesh that is not convex: no force \
                 separates them",
                overlap.depth * 1e3
            )
        } else {
            "cross at the start where no contact point is found: no force separates them, and later contact may appear deep \
             inside"
                .to_owned()
        };
        let remedy = "change the initial state, make one of them compliant, or split the mesh into convex pieces";
        format!("rigid `{a}` and `{b}` {what}; {remedy}")
    };
    overlaps(scene, initial).into_iter().filter(|overlap| is_lost(overlap) && apart(overlap)).map(warning).collect()
}

/// Whether two geometries do not belong to one robot.
fn apart(scene: &Scene, a: GeometryIndex, b: GeometryIndex, mechanisms: &[usize], placed: &[PlacedRobot]) -> bool {
    let mechanism =
        |geometry: GeometryIndex| model_of(scene.geometries()[geometry].body, placed).map(|model| mechanisms[model]);
    mechanism(a).is_none() || mechanism(a) != mechanism(b)
}

/// Warnings of convex geometries that do not belong to one robot and of which one starts with its centre
/// inside the other. Contact pushes such bodies apart; or, if one is wholly inside a compliant one, there is
/// no contact between them.
pub(super) fn centres_inside(
    scene: &Scene,
    initial: &State,
    mechanisms: &[usize],
    placed: &[PlacedRobot],
) -> Vec<String> {
    let mut data = Data::new(scene.model());
    kinematics(scene.model(), initial, &mut data);
    let poses: IndexVec<GeometryIndex, RigidTransform> =
        scene.geometries().iter().map(|geometry| data.X_WB[geometry.body] * geometry.X_BG).collect();
    let is_inside = |inner: GeometryIndex, outer: GeometryIndex| {
        let geometries = scene.geometries();
        let Some(centre) = geometries[inner].shape.middle() else { return false };
        let p_G = poses[outer].inverse_transform_point(&poses[inner].transform_point(&centre.into()));
        geometries[outer].shape.contains(&p_G.coords) == Some(true)
    };
    let mut warnings = Vec::new();
    for pair in scene.contact_pairs() {
        if !apart(scene, pair.A, pair.B, mechanisms, placed) {
            continue;
        }
        let inside = [(pair.A, pair.B), (pair.B, pair.A)].into_iter().find(|(inner, outer)| is_inside(*inner, *outer));
        if let Some((inner, outer)) = inside {
            warnings.push(format!(
                "`{}` starts with its centre inside `{}`: contact pushes the two apart, or does not separate them at all; change \
                 their initial poses",
                scene.geometry_name(inner),
                scene.geometry_name(outer)
            ));
        }
    }
    warnings
}

/// Warns of commands that their actuators cannot follow; see `Actuator::missing_gain`.
pub(super) fn warn_of_commands(scene: &Scene, commands: &CommandSchedule, warnings: &mut Vec<String>) {
    for schedule in &commands.joints {
        let (position, velocity) = (schedule.position.is_some(), schedule.velocity.is_some());
        if let Some(missing) = scene.actuators()[schedule.joint.to_usize()].missing_gain(position, velocity) {
            let joint = &scene.joint_names()[schedule.joint.to_usize()];
            warnings.push(format!(
                "joint `{joint}` does not follow its command: its actuator has no {missing}; give it one in `actuators`, or \
                 command an `effort`"
            ));
        }
    }
}

/// Warns of inertias that no body has, or that do not fit the size of their link.
pub(super) fn warn_of_inertias(models: &[LoadedModel<'_>], warnings: &mut Vec<String>) {
    for model in models {
        let mistakes = inertia_mistakes(&model.robot);
        let Some(first) = mistakes.first() else { continue };
        let file = model.robot.file.display();
        let more = match mistakes.len() - 1 {
            0 => String::new(),
            count => format!(" (and {count} more; `isobar inspect {file}` lists them)"),
        };
        warnings.push(format!("{file}: {first}{more}"));
    }
}

/// A count and the first few items in one line; `None` if there are none.
pub(super) fn counted(items: Vec<String>, one: &str, several: &str) -> Option<String> {
    /// Items in a message.
    const SHOWN: usize = 3;
    let (count, shown) = (items.len(), items.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", "));
    match count {
        0 => None,
        1 => Some(format!("1 {one} {shown}")),
        _ if count <= SHOWN => Some(format!("{count} {several} {shown}")),
        _ => Some(format!("{count} {several} {shown} and {} more", count - SHOWN)),
    }
}

/// Warns of likely mistakes: a model that overlaps itself, and gains with an effort limit of 0.
pub(super) fn warn_of_scene(
    scene: &Scene,
    overlapping: &[(usize, Overlap)],
    models: &[LoadedModel<'_>],
    warnings: &mut Vec<String>,
) {
    for (number, model) in models.iter().enumerate() {
        let own = overlapping.iter().filter(|(model, _)| *model == number).map(|(_, overlap)| {
            let extent = match overlap.kind {
                ContactKind::PressureField => format!("{:.2e} m2", overlap.area),
                ContactKind::Points if overlap.depth > 0.0 => format!("{:.1} mm deep", overlap.depth * 1e3),
                ContactKind::Points => "their surfaces cross".to_owned(),
            };
            let (a, b) = (scene.geometry_name(overlap.A), scene.geometry_name(overlap.B));
            format!("`{a}` and `{b}` ({extent})")
        });
        if let Some(pairs) = counted(own.collect(), "pair", "pairs") {
            let (place, name) = (&model.spec.place, &model.spec.name.name);
            warnings.push(format!(
                "{place}: model `{name}` overlaps itself at the start, {pairs}; change the initial joint positions, or let all such \
                 links pass with `contact: {{ overlapping_links: ignore_all }}`, single ones with `no_contact`, an SRDF or a \
                 drake:collision_filter_group"
            ));
        }
    }
    for (joint, actuator) in scene.joint_names().iter().zip(scene.actuators()) {
        if actuator.effort_limit == 0.0 && (actuator.stiffness > 0.0 || actuator.damping > 0.0) {
            warnings.push(format!("joint `{joint}` has gains but an effort limit of 0; give it an `effort_limit`"));
        }
    }
}
