//! The keys `step`, `stepping`, `integrator`, `enforce_velocity_limit`, `quasistatic` and `spook` of a scene
//! file.

use super::error::SceneError;
use super::reader::{Range, Section, number, unknown_name, wrong_type};
use super::used_keys::check_used;
use super::yaml::{Node, Value};
use crate::solvers::complementarity::{ComplementaritySettings, ComplementaritySolver, FrictionFrame, FrictionLaw};
use crate::solvers::quasistatic::{Engine, FrictionCone, FrictionModel, QuasistaticSettings};
use crate::stepping::{
    ContactSurfaces, ErrorControl, Integrator, QUASISTATIC_STEP_MAX, QuasistaticStepping, STEP_MAX, STEP_MIN, Sleep,
    SpookStepping, UnactuatedInertia,
};

/// The allowed range of a step with momentum \[s\].
const DYNAMIC_STEP: Range = Range::Between(STEP_MIN, STEP_MAX, "s");
/// The same for quasistatic steps, which are longer \[s\].
const QUASISTATIC_STEP: Range = Range::Between(STEP_MIN, QUASISTATIC_STEP_MAX, "s");
/// Default steps of the dynamic and of the quasistatic mode \[s\].
const STEPS: (f64, f64) = (1e-3, 0.1);

/// The default step with error control \[s\], within which as many dynamic steps are taken as needed.
const CONTROLLED_STEP: f64 = 1e-2;
/// The default step of complementarity steps \[s\], that of the thesis.
const SPOOK_STEP: f64 = 1.0 / 60.0;
/// The largest number of threads.
const THREADS_MAX: f64 = 256.0;
/// The keys of `quasistatic`.
const KEYS: [&str; 7] = ["inertia", "divisor", "time_constant", "friction", "solver", "tolerance", "detection"];

/// The mode in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SteppingMode {
    #[default]
    Dynamic,
    Quasistatic,
    Spook,
    Continuous,
}

impl SteppingMode {
    /// Its name in scene files.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::Quasistatic => "quasistatic",
            Self::Spook => "spook",
            Self::Continuous => "continuous",
        }
    }
}

/// The stepping settings of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct SteppingSpec {
    pub(super) step_ns: u64,
    /// The threads of dynamic steps.
    pub(super) threads: usize,
    /// The error control of dynamic and continuous steps.
    pub(super) error_control: Option<ErrorControl>,
    pub(super) mode: SteppingMode,
    /// When bodies fall asleep in dynamic steps.
    pub(super) sleep: Option<Sleep>,
    /// The integration of free motion in dynamic steps.
    pub(super) integrator: Integrator,
    /// Whether dynamic steps enforce the velocity limits of joints.
    pub(super) enforce_velocity_limit: bool,
    /// The options of quasistatic steps, also if the file selects dynamic ones.
    pub(super) quasistatic: QuasistaticStepping,
    /// The options of complementarity steps, also if the file selects others.
    pub(super) spook: SpookStepping,
}

/// Reads `step`, `stepping`, `integrator`, `enforce_velocity_limit`, `quasistatic` and `spook` of the scene.
pub(super) fn read_stepping(scene: &Section<'_>) -> Result<SteppingSpec, SceneError> {
    let quasistatic = scene.get("quasistatic").map(read_quasistatic).transpose()?.unwrap_or_default();
    let spook = scene.get("spook").map(read_spook).transpose()?.unwrap_or_default();
    let modes = [SteppingMode::Dynamic, SteppingMode::Quasistatic, SteppingMode::Spook, SteppingMode::Continuous];
    let modes = modes.map(|mode| (mode.name(), mode));
    let mode = choice(scene, "stepping", "stepping mode", &modes)?.unwrap_or_default();
    let integrators = [("implicit", Integrator::Implicit), ("semi_implicit", Integrator::SemiImplicit)];
    let integrator = choice(scene, "integrator", "integrator", &integrators)?.unwrap_or_default();
    let (range, default) = match mode {
        SteppingMode::Dynamic => (DYNAMIC_STEP, STEPS.0),
        SteppingMode::Quasistatic => (QUASISTATIC_STEP, STEPS.1),
        SteppingMode::Spook => (DYNAMIC_STEP, SPOOK_STEP),
        SteppingMode::Continuous => (DYNAMIC_STEP, CONTROLLED_STEP),
    };
    check_used(scene, mode.name())?;
    let controlled = scene.get("step").filter(|node| matches!(node.value, Value::Map(_)));
    let (step, error_control) = match controlled {
        Some(node) => read_error_control(node, mode)?,
        None => (scene.number("step", "[s]", range)?.unwrap_or(default), None),
    };
    let enforce_velocity_limit = scene.truth("enforce_velocity_limit")?.unwrap_or(false);
    if let Some(node) = scene.get("enforce_velocity_limit").filter(|_| mode != SteppingMode::Dynamic) {
        let problem = "only dynamic steps enforce velocity limits: use `stepping: dynamic`, or remove \
                       `enforce_velocity_limit`";
        return Err(SceneError::Conflict { place: node.place.clone(), problem: problem.to_owned() });
    }
    // A step of whole nanoseconds, so that times compare equal; the range keeps it at 1000 or more.
    let step_ns = (step * 1e9).round() as u64;
    let threads = scene.number("threads", "(no unit)", Range::Between(1.0, THREADS_MAX, "and whole"))?.unwrap_or(1.0);
    if let Some(node) = scene.get("threads").filter(|_| threads.fract() != 0.0) {
        return Err(wrong_type(node, "`threads`", "a whole number, as in `4`"));
    }
    let threads = threads as usize;
    let sleep = scene.get("sleep").map(|node| read_sleep(node, mode)).transpose()?;
    Ok(SteppingSpec {
        step_ns,
        threads,
        error_control,
        sleep,
        mode,
        integrator,
        enforce_velocity_limit,
        quasistatic,
        spook,
    })
}

/// `sleep: { speed: 0.001, time: 0.5 }`.
fn read_sleep(node: &Node, mode: SteppingMode) -> Result<Sleep, SceneError> {
    if mode != SteppingMode::Dynamic {
        let problem = "bodies sleep in dynamic steps only: use `stepping: dynamic`, or remove `sleep`";
        return Err(SceneError::Conflict { place: node.place.clone(), problem: problem.to_owned() });
    }
    let section = Section::new(node, "`sleep`", &["speed", "time"])?;
    let default = Sleep::default();
    Ok(Sleep {
        speed: section.number("speed", "[m/s]", Range::Between(1e-9, 1.0, "m/s"))?.unwrap_or(default.speed),
        time: section.number("time", "[s]", Range::Between(1e-6, 1e6, "s"))?.unwrap_or(default.time),
    })
}

/// `step: { tolerance: 1e-4, every: 0.01 }`.
fn read_error_control(node: &Node, mode: SteppingMode) -> Result<(f64, Option<ErrorControl>), SceneError> {
    if !matches!(mode, SteppingMode::Dynamic | SteppingMode::Continuous) {
        let problem = "only dynamic and continuous steps have error control: give `step` as a number, or use \
                       `stepping: dynamic` or `stepping: continuous`";
        return Err(SceneError::Conflict { place: node.place.clone(), problem: problem.to_owned() });
    }
    let section = Section::new(node, "`step`", &["tolerance", "every"])?;
    let range = Range::Between(1e-9, 0.1, "m or rad");
    let tolerance = number(section.require("tolerance", "tolerance: 1e-4")?, "`tolerance` of `step` [m, rad]", range)?;
    let every = section.number("every", "[s]", DYNAMIC_STEP)?.unwrap_or(CONTROLLED_STEP);
    Ok((every, Some(ErrorControl { tolerance })))
}

/// Rays of the pyramid of Lemke's method, unless the scene has a number: their directions err by 22.5 degrees
/// at most.
const LEMKE_RAYS: u32 = 8;

fn read_quasistatic(node: &Node) -> Result<QuasistaticStepping, SceneError> {
    let section = Section::new(node, "`quasistatic`", &KEYS)?;
    let default = QuasistaticStepping::default();
    let divisor = section.number("divisor", "[-]", Range::Positive)?;
    let scaled = divisor.map_or(UnactuatedInertia::SCALED, |divisor| UnactuatedInertia::Scaled { divisor });
    let time_constant = section.number("time_constant", "[s]", Range::Positive)?;
    let drag = time_constant.map_or(UnactuatedInertia::DRAG, |time_constant| UnactuatedInertia::Drag { time_constant });
    let inertias =
        [("drag", drag), ("none", UnactuatedInertia::None), ("mass", UnactuatedInertia::Mass), ("scaled", scaled)];
    let of_default = match default.inertia {
        UnactuatedInertia::Drag { .. } => drag,
        UnactuatedInertia::Scaled { .. } => scaled,
        other => other,
    };
    let inertia = choice(&section, "inertia", "inertia", &inertias)?.unwrap_or(of_default);
    let used = match inertia {
        UnactuatedInertia::Scaled { .. } => "divisor",
        UnactuatedInertia::Drag { .. } => "time_constant",
        UnactuatedInertia::None | UnactuatedInertia::Mass => "",
    };
    for (key, with) in [("divisor", "inertia: scaled"), ("time_constant", "inertia: drag")] {
        if let Some(node) = section.get(key).filter(|_| key != used) {
            let problem = format!("`{key}` has no effect without `{with}`: add that, or remove `{key}`");
            return Err(SceneError::Conflict { place: node.place.clone(), problem });
        }
    }
    let engines = [("cone", Engine::Cone), ("clarabel", Engine::Clarabel), ("lemke", Engine::Lemke)];
    let engine = choice(&section, "solver", "solver", &engines)?.unwrap_or(default.solver.engine);
    let (friction, model) = read_friction(&section, engine)?;
    let tolerance = section.number("tolerance", "[m/s]", Range::Between(1e-13, 1e-3, "m/s"))?;
    let tolerance = tolerance.unwrap_or(default.solver.tolerance);
    Ok(QuasistaticStepping {
        inertia,
        detection: section.number("detection", "[m]", Range::Positive)?.unwrap_or(default.detection),
        solver: QuasistaticSettings { engine, friction, model, tolerance, ..default.solver },
    })
}

/// `coulomb`, `relaxed`, its earlier name `cone`, or `{ pyramid: RAYS }`. Clarabel has the relaxed friction
/// only, and Lemke's method Coulomb's law on a pyramid only.
fn read_friction(section: &Section<'_>, engine: Engine) -> Result<(FrictionCone, FrictionModel), SceneError> {
    let relaxed = (FrictionCone::Exact, FrictionModel::Relaxed);
    let coulomb = (FrictionCone::Exact, FrictionModel::Coulomb);
    let Some(node) = section.get("friction") else {
        return Ok(match engine {
            Engine::Cone => coulomb,
            Engine::Clarabel => relaxed,
            Engine::Lemke => (FrictionCone::Pyramid { rays: LEMKE_RAYS }, FrictionModel::Relaxed),
        });
    };
    match &node.value {
        Value::Text(_) if engine == Engine::Lemke => {
            Err(wrong_type(node, "`friction`", "`{ pyramid: 8 }`, as the solver is `lemke`"))
        }
        Value::Text(name) if name == "coulomb" && engine == Engine::Clarabel => {
            Err(wrong_type(node, "`friction`", "`relaxed` or `{ pyramid: 4 }`, as the solver is `clarabel`"))
        }
        Value::Text(name) if name == "coulomb" => Ok(coulomb),
        Value::Text(name) if name == "relaxed" || name == "cone" => Ok(relaxed),
        Value::Map(_) => {
            let pyramid = Section::new(node, "`friction`", &["pyramid"])?;
            let rays = pyramid.number("pyramid", "[rays]", Range::Between(2.0, 64.0, "rays"))?;
            let cone = rays.map_or(FrictionCone::Exact, |rays| FrictionCone::Pyramid { rays: rays.round() as u32 });
            Ok((cone, FrictionModel::Relaxed))
        }
        _ => Err(wrong_type(node, "`friction`", "`coulomb`, `relaxed` or `{ pyramid: 4 }`")),
    }
}

const SPOOK_KEYS: [&str; 9] =
    ["solver", "friction", "frame", "directions", "edges", "seed", "iterations", "tolerance", "surfaces"];

fn read_spook(node: &Node) -> Result<SpookStepping, SceneError> {
    let section = Section::new(node, "`spook`", &SPOOK_KEYS)?;
    let solvers = ComplementaritySolver::ALL.map(|solver| (solver.name(), solver));
    let solver = choice(&section, "solver", "solver", &solvers)?.unwrap_or_default();
    let frames = [("world", FrictionFrame::World), ("body", FrictionFrame::Body), ("slip", FrictionFrame::Slip)];
    let frame = choice(&section, "frame", "frame of friction", &frames)?.unwrap_or_default();
    let conflict = |problem: String| SceneError::Conflict { place: node.place.clone(), problem };
    let count = |key: &str, unit: &'static str, range: (f64, f64), default: u32| {
        let Some(number) = section.number(key, unit, Range::Between(range.0, range.1, "(no unit)"))? else {
            return Ok(default);
        };
        match number.fract() == 0.0 {
            true => Ok(number as u32),
            false => Err(conflict(format!("`{key}` is a count: {number} is not a whole number"))),
        }
    };
    let directions = count("directions", "[-]", (2.0, 1e4), 32)?;
    let edges = count("edges", "[-]", (3.0, 1e4), 8)?;
    let seed = count("seed", "[-]", (0.0, f64::from(u32::MAX)), 0)?;
    let laws = [
        FrictionLaw::Box,
        FrictionLaw::ScaledBox,
        FrictionLaw::OrientedBox(frame),
        FrictionLaw::Randomized { seed: u64::from(seed) },
        FrictionLaw::MultiDirectional { directions },
        FrictionLaw::ProjectedCone,
        FrictionLaw::PolyhedralCone { edges },
        FrictionLaw::ExactCone,
    ]
    .map(|law| (law.name(), law));
    let default = ComplementaritySettings::default();
    let friction = choice(&section, "friction", "friction model", &laws)?.unwrap_or(solver.default_friction());
    for (key, needs) in [
        ("frame", "oriented_box"),
        ("directions", "multi_directional"),
        ("edges", "polyhedral_cone"),
        ("seed", "randomized"),
    ] {
        if section.get(key).is_some() && friction.name() != needs {
            let name = friction.name();
            return Err(conflict(format!(
                "`{key}` has no effect with the friction `{name}`; only `{needs}` has it: remove `{key}`"
            )));
        }
    }
    if section.get("iterations").is_some() && solver == ComplementaritySolver::Direct {
        return Err(conflict(
            "`iterations` has no effect with the solver `direct`, which has no sweeps: remove it".to_owned(),
        ));
    }
    let iterations = count("iterations", "[-]", (1.0, 1e6), default.iterations)?;
    let tolerance =
        section.number("tolerance", "[-]", Range::Between(1e-12, 1e-2, "(no unit)"))?.unwrap_or(default.tolerance);
    let settings = ComplementaritySettings { solver, friction, iterations, tolerance, ..default };
    settings.check().map_err(|refused| conflict(refused.to_string()))?;
    let places = [("start", ContactSurfaces::Start), ("free_path", ContactSurfaces::FreePath)];
    let surfaces = choice(&section, "surfaces", "choice of contact surfaces", &places)?;
    Ok(SpookStepping { solver: settings, surfaces: surfaces.unwrap_or(SpookStepping::default().surfaces) })
}

/// The entry of `choices` that the text of `key` names, if it is given.
fn choice<T: Copy>(
    section: &Section<'_>,
    key: &str,
    kind: &str,
    choices: &[(&'static str, T)],
) -> Result<Option<T>, SceneError> {
    let Some(named) = section.text(key)? else { return Ok(None) };
    match choices.iter().find(|(name, _)| *name == named.name) {
        Some((_, choice)) => Ok(Some(*choice)),
        None => Err(unknown_name(&named, kind, choices.iter().map(|(name, _)| *name))),
    }
}
