//! Likely mistakes in a valid scene: each is a warning at load.

use super::place_model::{LoadedModel, model_of};
use super::schema::SceneSpec;
use crate::math::{GeometryIndex, Index, IndexVec, RigidTransform};
use crate::multibody::{Data, State, kinematics};
use crate::robot::PlacedRobot;
use crate::robot::inspect::inertia_mistakes;
use crate::scene::{ContactKind, Scene};
use crate::stepping::{CommandSchedule, Overlap, beyond_limits};

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

/// Warnings of rigid geometries of which `apart` is true and that start too deep in each other to be pushed
/// apart, or with surfaces that cross where no contact point is found.
pub(super) fn lost_overlaps(scene: &Scene, found: &[Overlap], apart: &dyn Fn(&Pair) -> bool) -> Vec<String> {
    let warning = |overlap: &Overlap| {
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
    found.iter().filter(|overlap| is_lost(overlap) && apart(&(overlap.A, overlap.B))).map(warning).collect()
}

fn is_lost(overlap: &Overlap) -> bool {
    overlap.is_lost || overlap.kind == ContactKind::Points && overlap.depth == 0.0
}

/// Two geometries.
pub(super) type Pair = (GeometryIndex, GeometryIndex);

/// Whether two geometries do not belong to one robot.
pub(super) fn is_apart(scene: &Scene, (a, b): Pair, mechanisms: &[usize], placed: &[PlacedRobot]) -> bool {
    let mechanism =
        |geometry: GeometryIndex| model_of(scene.geometries()[geometry].body, placed).map(|model| mechanisms[model]);
    mechanism(a).is_none() || mechanism(a) != mechanism(b)
}

/// Whether `pair` is in the list, in any order.
pub(super) fn is_named(list: &[Pair], pair: &Pair) -> bool {
    list.iter().any(|other| other == pair || *other == (pair.1, pair.0))
}

/// The pairs of convex geometries of which `apart` is true and of which one starts with its centre inside the
/// other: first the inner one. Contact pushes such bodies apart; or, if one is wholly inside a compliant one,
/// there is no contact between them.
pub(super) fn centres_inside(scene: &Scene, initial: &State, apart: &dyn Fn(&Pair) -> bool) -> Vec<Pair> {
    let mut data = Data::new(scene.model());
    kinematics(scene.model(), initial, &mut data);
    let poses: IndexVec<GeometryIndex, RigidTransform> =
        scene.geometries().iter().map(|geometry| data.X_WB[geometry.body] * geometry.X_BG).collect();
    let is_inside = |&(inner, outer): &Pair| {
        let geometries = scene.geometries();
        let Some(centre) = geometries[inner].shape.middle() else { return false };
        let p_G = poses[outer].inverse_transform_point(&poses[inner].transform_point(&centre.into()));
        geometries[outer].shape.contains(&p_G.coords) == Some(true)
    };
    // The models of the geometries are searched only for the few pairs that need them.
    let pairs = scene.contact_pairs().iter();
    let found = pairs.filter_map(|pair| [(pair.A, pair.B), (pair.B, pair.A)].into_iter().find(is_inside));
    found.filter(apart).collect()
}

/// The warning of a pair of [`centres_inside`].
pub(super) fn centre_inside(scene: &Scene, (inner, outer): Pair) -> String {
    format!(
        "`{}` starts with its centre inside `{}`: contact pushes the two apart, or does not separate them at all; change their \
         initial poses",
        scene.geometry_name(inner),
        scene.geometry_name(outer)
    )
}

/// Warnings of other geometries of which `apart` is true and that overlap at the start by more than resting
/// contact: by more than a millimetre or a tenth of the thinner one, and, if one is compliant, with a force
/// above ten times the weight of all that moves, or by more than 0.3 of the thinner one.
pub(super) fn start_overlaps(scene: &Scene, found: &[Overlap], apart: &dyn Fn(&Pair) -> bool) -> Vec<String> {
    /// Overlaps up to this are small \[m\], or up to this part of the smallest extent of the thinner geometry
    /// [-].
    const SMALL: f64 = 1e-3;
    const SMALL_PART: f64 = 0.1;
    /// Beyond this part, the overlap of compliant geometries is too large for one under a load [-].
    const LARGE_PART: f64 = 0.3;
    /// No resting body carries this many times the weight of all that moves [-].
    const HEAVY: f64 = 10.0;
    let bodies = scene.model().bodies().iter_enumerated();
    let moving = bodies.filter(|(index, _)| !scene.model().body_dofs(*index).is_empty());
    let weight = moving.map(|(_, body)| body.inertia.mass).sum::<f64>() * scene.model().gravity_W().norm();
    let is_mistake = |overlap: &&Overlap| {
        let part = overlap.depth / overlap.thickness;
        let is_large = overlap.depth > SMALL || part > SMALL_PART;
        let is_heavy = weight > 0.0 && overlap.force > HEAVY * weight;
        let is_soft = overlap.kind == ContactKind::PressureField;
        is_large && (!is_soft || is_heavy || part > LARGE_PART)
    };
    let warning = |overlap: &Overlap| {
        format!(
            "`{}` and `{}` overlap by {:.1} mm at the start, and contact pushes them apart: move them apart (`xyz`, `at`, the \
             `spacing` of a `grid`), or let them pass with `no_contact`",
            scene.geometry_name(overlap.A),
            scene.geometry_name(overlap.B),
            overlap.depth * 1e3
        )
    };
    let others = found.iter().filter(|overlap| !is_lost(overlap) && apart(&(overlap.A, overlap.B)));
    others.filter(is_mistake).map(warning).collect()
}

/// Warns of commands that their actuators cannot follow; see `Actuator::missing_gain`, and of values beyond
/// the limits of their joints.
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
        for (quantity, waveform) in [("position", &schedule.position), ("effort", &schedule.effort)] {
            let values = waveform.iter().flat_map(|waveform| <[f64; 2]>::from(waveform.range()));
            warnings.extend(values.filter_map(|value| beyond_limits(scene, schedule.joint, quantity, value)).next());
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
