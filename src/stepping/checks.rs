//! Checks of the arguments of a simulation.

use super::error::SimulationError;
use super::settings::{StepSettings, Stepping, UnactuatedInertia};
use crate::multibody::{Model, State};
use crate::scene::{ContactPair, Scene};

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
    if !matches!(settings.stepping, Stepping::Quasistatic(_)) {
        scene.model().check_mass()?;
    }
    match settings.stepping {
        Stepping::Dynamic(_) => check_bounces(scene),
        _ => check_points(scene),
    }
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
        let points = &geometry.material.points;
        let stated = [
            ("torsional_radius", points.torsional_radius),
            ("rolling_friction", points.rolling_friction),
            ("restitution", points.restitution),
        ];
        if let Some((property, _)) = stated.into_iter().find(|(_, value)| value.is_some_and(|value| value > 0.0)) {
            return Err(SimulationError::DynamicOnly { property, geometry: geometry.name.clone() });
        }
    }
    Ok(())
}

fn check_settings(settings: &StepSettings) -> Result<(), SimulationError> {
    let positive = |setting: &'static str, value: f64| match value > 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(SimulationError::Setting { setting, value }),
    };
    positive("step", settings.step())?;
    positive("stiction_tolerance", settings.stiction_tolerance)?;
    match settings.stepping {
        Stepping::Dynamic(options) => positive("solver tolerance", options.solver.tolerance),
        Stepping::Quasistatic(options) => {
            positive("detection distance", options.detection)?;
            positive("tolerance of the quasistatic solver", options.solver.tolerance)?;
            match options.inertia {
                UnactuatedInertia::Scaled { divisor } => positive("divisor of the scaled inertia", divisor),
                UnactuatedInertia::Drag { time_constant } => positive("time constant of the drag", time_constant),
                UnactuatedInertia::None | UnactuatedInertia::Mass => Ok(()),
            }
        }
        Stepping::Spook(options) => {
            positive("tolerance of the complementarity solver", options.solver.tolerance)?;
            Ok(options.solver.check()?)
        }
    }
}
