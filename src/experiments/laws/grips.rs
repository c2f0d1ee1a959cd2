//! Grips and stacks: creep of a pinch, stacks that stand, and heavy bodies on light ones.

use std::sync::Arc;

use super::law::{Law, LawRow};
use super::pressure::{box_depth, rim_part};
use super::scenes::{Body, DOWN, GRAVITY, Ground, Mode, compliant, rigid, run};
use crate::experiments::{ExperimentError, Series};
use crate::geometry::Shape;
use crate::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, Vector3};
use crate::multibody::{JointKind, JointSpec};
use crate::scene::{Actuator, SceneBuilder};
use crate::stepping::{JointCommand, JointTarget, Simulation, StepSettings};

/// Force of each finger \[N\].
const GRIP: f64 = 20.0;
/// Friction coefficient of the fingers [-].
const MU: f64 = 0.5;
/// Residual of the dynamic solver, as a part of the momentum that a step exchanges [-].
const SOLVER: f64 = 1e-7;
/// Loads of a pinch over their limit 2 mu N [-].
const LOADS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];
/// Stiction tolerances v_s: the default, and one for fine grips [m/s].
const TOLERANCES: [f64; 2] = [1e-6, 2e-8];

/// A held cube.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PinchCreep {
    /// Speed at which it creeps down [m/s].
    pub creep: f64,
    /// Mean iterations of a step [-].
    pub iterations: f64,
    /// Steps that did not converge.
    pub failed: u32,
}

/// Two soft pads hold a cube whose weight is `load` times the limit 2 mu N, for a second before the creep is
/// measured over `seconds`.
///
/// # Errors
/// A step that fails, or settings that are refused.
pub fn pinch(load: f64, settings: StepSettings, seconds: f64) -> Result<PinchCreep, ExperimentError> {
    let size = Vector3::repeat(0.04);
    let pad = Vector3::new(0.02, 0.02, 0.02);
    let mut builder = SceneBuilder::new();
    let here = RigidTransform::identity();
    let mass = load * 2.0 * MU * GRIP / GRAVITY;
    let cube = builder.add_body(
        "cube",
        SpatialInertia::from_central(mass, &Vector3::zeros(), &(Matrix3::identity() * (mass * size.x * size.x / 6.0))),
    );
    builder.add_geometry(cube, "sides", here, Shape::Box { size }, &rigid(MU))?;
    for (name, side) in [("left", 1.0), ("right", -1.0)] {
        let finger =
            builder.add_body(name, SpatialInertia::from_central(0.2, &Vector3::zeros(), &(Matrix3::identity() * 1e-4)));
        let start = RigidTransform::translation(0.0, side * 0.5 * (size.y + pad.y), 0.0);
        let slide = JointSpec::new(&format!("{name}_slide"), BodyIndex::WORLD, finger, JointKind::Prismatic);
        let slide = builder.add_joint(JointSpec { X_PF: start, axis_F: -side * Vector3::y(), ..slide })?;
        builder.set_actuator(slide, Actuator::PASSIVE);
        builder.add_geometry(finger, "pad", here, Shape::Box { size: pad }, &compliant(1e6, 20.0, MU))?;
    }
    let scene = Arc::new(builder.build(DOWN)?);
    let state = scene.model().default_state();
    let mut simulation = Simulation::new(scene, state, settings)?;
    let grip = JointTarget { position: None, velocity: None, effort: Some(GRIP) };
    let command: JointCommand = [grip, grip].into_iter().collect();
    run(&mut simulation, &command, 1.0)?;
    let start = simulation.data().X_WB[cube].translation.z;
    let steps = (seconds / settings.step()).round().max(1.0) as u32;
    let (mut iterations, mut failed) = (0.0, 0);
    for _ in 0..steps {
        let report = simulation.step(&command)?;
        iterations += f64::from(report.solver_iterations) / f64::from(steps);
        failed += u32::from(!report.solver_converged);
    }
    let time = f64::from(steps) * settings.step();
    Ok(PinchCreep { creep: (start - simulation.data().X_WB[cube].translation.z) / time, iterations, failed })
}

pub(super) const PINCH: Law = Law {
    name: "creep of a pinch",
    tolerance: "dynamic: a residual of 1e-7 of friction changes the creep by v_s 1e-7/(mu (1 - x^2)^(3/2)), ten \
                times that for the norm over all velocities",
    rows: pinch_creep,
};

/// A held cube creeps at v_s x/sqrt(1 - x^2), x = W/(2 mu N): below 0.1 um/s up to 95 % with v_s = 2e-8 m/s.
fn pinch_creep() -> Result<Vec<LawRow>, ExperimentError> {
    let mut rows = Vec::new();
    for v_s in TOLERANCES {
        for load in LOADS {
            let settings = StepSettings { stiction_tolerance: v_s, ..Mode::Dynamic.settings(1e-3) };
            let rest = 1.0 - load * load;
            rows.push(LawRow {
                case: format!("v_s = {v_s:.0e} m/s, load {load}"),
                mode: Mode::Dynamic.name(),
                found: 1e6 * pinch(load, settings, 1.0)?.creep,
                exact: 1e6 * v_s * load / rest.sqrt(),
                tolerance: 1e7 * v_s * SOLVER / (MU * rest.powf(1.5)),
                unit: "um/s",
            });
        }
    }
    Ok(rows)
}

/// The creep of dynamic steps and the closed form, over the loads.
pub(super) fn creep_series(results: &[(Law, Vec<LawRow>)]) -> Vec<Series> {
    let Some((_, rows)) = results.iter().find(|(law, _)| law.name == PINCH.name) else { return Vec::new() };
    let mut series = Vec::new();
    for (number, v_s) in TOLERANCES.iter().enumerate() {
        let of_mode = rows.iter().filter(|row| row.mode == Mode::Dynamic.name());
        let own = of_mode.skip(number * LOADS.len()).take(LOADS.len());
        let points = |of: fn(&LawRow) -> f64| LOADS.into_iter().zip(own.clone().map(move |row| 1e-6 * of(row)));
        series.push(Series::new(&format!("v_s = {v_s:.0e} m/s"), points(|row| row.found)));
        series.push(Series::new("closed form", points(|row| row.exact)));
    }
    series
}

pub(super) const PINCH_EFFORT: Law = Law {
    name: "effort of a fine pinch",
    tolerance: "at most 0.5 of the work of the default in addition: sweeps over the faces, one more than the \
                iterations",
    rows: pinch_effort,
};

/// The sweeps per step with v_s = 2e-8 m/s beyond those of the default, as a part of these; 0 for fewer.
fn pinch_effort() -> Result<Vec<LawRow>, ExperimentError> {
    let mut rows = Vec::new();
    for load in LOADS {
        let sweeps = |v_s: f64| {
            let settings = StepSettings { stiction_tolerance: v_s, ..Mode::Dynamic.settings(1e-3) };
            Ok::<_, ExperimentError>(1.0 + pinch(load, settings, 1.0)?.iterations)
        };
        rows.push(LawRow {
            case: format!("load {load}"),
            mode: Mode::Dynamic.name(),
            found: (sweeps(TOLERANCES[1])? / sweeps(TOLERANCES[0])? - 1.0).max(0.0),
            exact: 0.0,
            tolerance: 0.5,
            unit: "-",
        });
    }
    Ok(rows)
}

pub(super) const STACK: Law = Law {
    name: "stack of ten cubes",
    tolerance: "10 um over a minute, a sixth of the stiction tolerance as a mean speed",
    rows: stack,
};

/// Ten cubes stand for a minute: the largest drift of a cube from its pose after a second.
fn stack() -> Result<Vec<LawRow>, ExperimentError> {
    let (size, mass) = (Vector3::repeat(0.05), 0.1);
    let mut rows = Vec::new();
    for (mode, step) in [(Mode::Dynamic, 1e-3), (Mode::Dynamic, 5e-3)] {
        for (name, material) in [("points", rigid(0.5)), ("pads", compliant(1e7, 20.0, 0.5))] {
            let heights = (0..10).map(|i| (f64::from(i) + 0.5) * size.z);
            let bodies: Vec<Body> = heights.map(|height| Body::cuboid(size, mass, height)).collect();
            let mut ground = Ground::new(&bodies, &material, DOWN, mode.settings(step))?;
            ground.run(1.0)?;
            let places: Vec<Vector3> = (0..10).map(|i| ground.pose(i).translation.vector).collect();
            ground.run(60.0)?;
            let drift = |(i, place): (usize, &Vector3)| (ground.pose(i).translation.vector - place).norm();
            rows.push(LawRow {
                case: format!("{name}, steps of {} ms", 1e3 * step),
                mode: mode.name(),
                found: 1e6 * places.iter().enumerate().map(drift).fold(0.0, f64::max),
                exact: 0.0,
                tolerance: 10.0,
                unit: "um",
            });
        }
    }
    Ok(rows)
}

pub(super) const MASS_RATIO: Law = Law {
    name: "mass ratio 1000",
    tolerance: "the rim, of the width d, carries 2 d/a of the load, and a step is wrong about it by d/a",
    rows: mass_ratio,
};

/// A cube of 0.1 kg carries one of 100 kg: the upper one sinks by the depths of both contacts.
fn mass_ratio() -> Result<Vec<LawRow>, ExperimentError> {
    let (edge, modulus) = (0.1, 1e7);
    let shape = [edge, edge, 0.5 * edge];
    let masses = [0.1, 100.0];
    let mut rows = Vec::new();
    for mode in Mode::ALL {
        let below = box_depth((masses[0] + masses[1]) * GRAVITY, modulus, shape);
        let between = 2.0 * box_depth(masses[1] * GRAVITY, modulus, shape);
        let heights = [0.5 * edge - below, 1.5 * edge - below - between];
        let bodies = [0, 1].map(|i| Body::cuboid(Vector3::repeat(edge), masses[i], heights[i]));
        let mut ground = Ground::new(&bodies, &compliant(modulus, 20.0, 0.5), DOWN, mode.settings(1e-3))?;
        ground.run(2.0)?;
        rows.push(LawRow {
            case: "100 kg on 0.1 kg".to_owned(),
            mode: mode.name(),
            found: 1e6 * (1.5 * edge - ground.pose(1).translation.z),
            exact: 1e6 * (below + between),
            tolerance: 1e6 * (below + between) * rim_part(below, shape) * below / edge,
            unit: "um",
        });
    }
    Ok(rows)
}
