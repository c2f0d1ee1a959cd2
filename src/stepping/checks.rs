//! Checks of the arguments of a simulation.

use super::error::SimulationError;
use super::settings::{
    ContactScheme, DENSE_DOFS_MAX, DissipationModel, DynamicStepping, StepSettings, Stepping, UnactuatedInertia,
};
use crate::contact::{FaceFriction, PointProperties};
use crate::multibody::{Model, State};
use crate::scene::{ContactPair, Scene};

/// The largest number of threads of a step.
const THREADS_MAX: usize = 256;

/// A setting, by its key in scene files, and the modes whose steps use it.
struct Use {
    /// The key, in `contact` but for `integrator`.
    key: &'static str,
    /// The value that other modes do not have; `None` for any value.
    value: Option<&'static str>,
    modes: &'static [&'static str],
    /// The value of the other modes.
    instead: &'static str,
}

const DYNAMIC: &[&str] = &["dynamic"];
const DISCRETE: &[&str] = &["dynamic", "quasistatic", "spook"];

/// The settings that not all modes use.
const USES: [Use; 9] = [
    Use { key: "scheme", value: None, modes: DYNAMIC, instead: "" },
    Use { key: "near_rigid", value: None, modes: DYNAMIC, instead: "" },
    Use { key: "friction_compliance", value: None, modes: DYNAMIC, instead: "" },
    Use { key: "friction_bound", value: None, modes: DYNAMIC, instead: "" },
    Use { key: "surfaces", value: None, modes: DYNAMIC, instead: "" },
    Use { key: "integrator", value: None, modes: DYNAMIC, instead: "" },
    Use { key: "dissipation", value: None, modes: &["dynamic", "continuous"], instead: "" },
    Use { key: "faces", value: Some("polygons"), modes: DISCRETE, instead: "`faces: triangles`" },
    Use { key: "face_friction", value: Some("spread"), modes: DISCRETE, instead: "`face_friction: centroid`" },
];

/// A stated setting that the steps of a mode do not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusedSetting {
    /// Its key in scene files.
    pub key: &'static str,
    value: Option<&'static str>,
    mode: &'static str,
    modes: &'static [&'static str],
    instead: &'static str,
}

impl UnusedSetting {
    /// Whether `stepping: mode` uses the setting `key` with this value.
    pub fn find(key: &str, value: &str, mode: &'static str) -> Option<Self> {
        let fits = |used: &&Use| used.key == key && used.value.is_none_or(|unused| unused == value);
        let Use { key, value, modes, instead } = USES.iter().find(fits)?;
        (!modes.contains(&mode)).then_some(Self { key, value: *value, mode, modes, instead })
    }
}

impl std::fmt::Display for UnusedSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { key, value, mode, modes, instead } = self;
        let stated = value.map_or_else(|| (*key).to_owned(), |value| format!("{key}: {value}"));
        write!(f, "`{stated}` has no effect with `stepping: {mode}`")?;
        if !instead.is_empty() {
            write!(f, ", which has {instead} only")?;
        }
        let modes: Vec<String> = modes.iter().map(|mode| format!("`stepping: {mode}`")).collect();
        let modes = match modes.as_slice() {
            [others @ .., last] if !others.is_empty() => format!("{} and {last} use", others.join(", ")),
            one => format!("{} uses", one.concat()),
        };
        write!(f, "; {modes} it: remove `{key}`, or change the mode")
    }
}

/// Checks that a state has the size of `model` and is finite.
pub(super) fn check_state(model: &Model, state: &State) -> Result<(), SimulationError> {
    let finite = state.q.iter().chain(&state.v).all(|x| x.is_finite());
    if state.q.len() == model.nq() && state.v.len() == model.nv() && finite {
        return Ok(());
    }
    Err(SimulationError::InitialState { q: state.q.len(), v: state.v.len(), nq: model.nq(), nv: model.nv() })
}

/// Checks that `scene` can take steps with `settings`.
pub(super) fn check_steps(scene: &Scene, settings: &StepSettings) -> Result<(), SimulationError> {
    check_settings(settings)?;
    settings.stepping.check_size(scene.model().nv())?;
    check_trees(scene.model())?;
    if !matches!(settings.stepping, Stepping::Quasistatic(_)) {
        scene.model().check_mass()?;
    }
    match settings.stepping {
        Stepping::Dynamic(options) => {
            check_scheme(scene, settings, &options)?;
            check_sleep(&options)?;
            check_bounces(scene)
        }
        Stepping::Continuous(_) => {
            check_closures(scene)?;
            check_points(scene)
        }
        _ => check_points(scene),
    }
}

/// Checks that no tree of bodies is too large for its mass matrix.
fn check_trees(model: &Model) -> Result<(), SimulationError> {
    let Some(tree) = model.trees().iter().find(|tree| tree.len() > DENSE_DOFS_MAX) else { return Ok(()) };
    let first = model.joints().iter().find(|joint| joint.v_start == tree.start && joint.kind.nv() > 0);
    let body = first.map(|joint| model.bodies()[joint.child].name.clone()).unwrap_or_default();
    Err(SimulationError::TreeSize { body, dofs: tree.len(), most: DENSE_DOFS_MAX })
}

/// Checks that a scene has no loop closures, which have no force in the continuous model.
fn check_closures(scene: &Scene) -> Result<(), SimulationError> {
    let Some(closure) = scene.closures().first() else { return Ok(()) };
    let [a, b] = [closure.A.0, closure.B.0].map(|body| scene.model().bodies()[body].name.clone());
    Err(SimulationError::Closure { a, b })
}

/// Checks that all settings and materials have a meaning in the contact scheme.
fn check_scheme(scene: &Scene, settings: &StepSettings, options: &DynamicStepping) -> Result<(), SimulationError> {
    let scheme = options.scheme;
    let refuse = |setting: &str, way_out| {
        Err(SimulationError::Scheme { scheme: scheme.name(), setting: setting.to_owned(), way_out })
    };
    if scheme.has_bounds() {
        return Ok(());
    }
    if settings.face_friction == FaceFriction::Spread {
        return refuse("friction that is spread over a face", "use `face_friction: centroid`");
    }
    match scheme {
        ContactScheme::Sap { near_rigid } => {
            if options.dissipation != DissipationModel::Linear {
                return refuse("Hunt-Crossley dissipation", "use `dissipation: linear`");
            }
            if options.friction_compliance.is_nan() || options.friction_compliance <= 0.0 {
                return refuse("friction without compliance", "use `friction_compliance: 0.001`");
            }
            if !near_rigid.is_finite() || near_rigid < 0.0 {
                return Err(SimulationError::Setting { setting: "near_rigid", value: near_rigid });
            }
        }
        ContactScheme::Tamsi if options.friction_compliance > 0.0 => {
            return refuse(
                "friction compliance",
                "its regularization is `stiction_tolerance`: use `friction_compliance: 0`",
            );
        }
        _ => {}
    }
    for geometry in scene.geometries().iter() {
        if let Some(property) = bounded_property(geometry.material.points) {
            let setting = format!("`{property}` (of geometry '{}')", geometry.name);
            return refuse(&setting, "only `lagged` and `coupled` have it; remove it, or use one of them");
        }
    }
    Ok(())
}

/// Checks that the settings under which bodies sleep have a meaning.
fn check_sleep(options: &DynamicStepping) -> Result<(), SimulationError> {
    let Some(sleep) = options.sleep else { return Ok(()) };
    let scheme = options.scheme.name();
    if options.scheme != ContactScheme::Lagged {
        let setting = "bodies that sleep".to_owned();
        return Err(SimulationError::Scheme { scheme, setting, way_out: "remove `sleep`, or use `scheme: lagged`" });
    }
    if options.error_control.is_some() {
        let setting = "bodies that sleep in steps with error control".to_owned();
        return Err(SimulationError::Scheme { scheme, setting, way_out: "remove `sleep`, or give `step` as a number" });
    }
    for (setting, value) in [("speed of `sleep`", sleep.speed), ("time of `sleep`", sleep.time)] {
        if value.is_nan() || value <= 0.0 || value.is_infinite() {
            return Err(SimulationError::Setting { setting, value });
        }
    }
    Ok(())
}

/// Checks that no pair has both restitution and a stiffness of its points, which would bounce on its own.
fn check_bounces(scene: &Scene) -> Result<(), SimulationError> {
    let soft = |pair: &&ContactPair| pair.restitution().is_some() && pair.material.point_stiffness.is_some();
    match scene.contact_pairs().iter().find(soft) {
        Some(pair) => {
            let [a, b] = [pair.A, pair.B].map(|index| scene.geometries()[index].name.clone());
            Err(SimulationError::Bounce { a, b })
        }
        None => Ok(()),
    }
}

/// Checks that no material has properties of rigid points that act in dynamic steps only.
fn check_points(scene: &Scene) -> Result<(), SimulationError> {
    for geometry in scene.geometries().iter() {
        if let Some(property) = bounded_property(geometry.material.points) {
            return Err(SimulationError::DynamicOnly { property, geometry: geometry.name.clone() });
        }
    }
    Ok(())
}

/// The first stated property of rigid points that acts through bounds of friction.
fn bounded_property(points: PointProperties<Option<f64>>) -> Option<&'static str> {
    let stated = [
        ("torsional_radius", points.torsional_radius),
        ("rolling_friction", points.rolling_friction),
        ("restitution", points.restitution),
    ];
    stated.into_iter().find(|(_, value)| value.is_some_and(|value| value > 0.0)).map(|(property, _)| property)
}

fn check_settings(settings: &StepSettings) -> Result<(), SimulationError> {
    let positive = |setting: &'static str, value: f64| match value > 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(SimulationError::Setting { setting, value }),
    };
    positive("step", settings.step())?;
    if settings.threads > THREADS_MAX {
        return Err(SimulationError::Threads { threads: settings.threads, most: THREADS_MAX });
    }
    positive("stiction_tolerance", settings.stiction_tolerance)?;
    match settings.stepping {
        Stepping::Dynamic(options) => {
            options.error_control.map_or(Ok(()), |control| positive("tolerance of the steps", control.tolerance))?;
            if !(options.friction_compliance >= 0.0 && options.friction_compliance.is_finite()) {
                let value = options.friction_compliance;
                return Err(SimulationError::Setting { setting: "friction_compliance", value });
            }
            positive("solver tolerance", options.solver.tolerance)
        }
        Stepping::Quasistatic(options) => {
            positive("detection distance", options.detection)?;
            positive("tolerance of the quasistatic solver", options.solver.tolerance)?;
            match options.inertia {
                UnactuatedInertia::Scaled { divisor } => positive("divisor of the scaled inertia", divisor),
                UnactuatedInertia::Drag { time_constant } => positive("time constant of the drag", time_constant),
                UnactuatedInertia::None | UnactuatedInertia::Mass => Ok(()),
            }
        }
        Stepping::Continuous(options) => positive("tolerance of the continuous model", options.tolerance),
        Stepping::Spook(options) => {
            positive("tolerance of the complementarity solver", options.solver.tolerance)?;
            Ok(options.solver.check()?)
        }
    }
}
