//! Boxes and balls on inclines: creep, sliding, tipping, rolling.

use super::law::{Law, LawRow};
use super::scenes::{Body, DOWN, GRAVITY, Ground, Mode, compliant, rigid};
use crate::experiments::ExperimentError;
use crate::math::{SpatialVelocity, Vector3};

/// Residual of the dynamic solver, as a part of the momentum that a step exchanges [-].
const SOLVER: f64 = 1e-7;

/// Gravity on a slope, in whose axes the ground is level [m/s2].
fn lean(angle: f64) -> Vector3 {
    Vector3::new(angle.sin(), 0.0, -angle.cos()) * GRAVITY
}

pub(super) const CREEP: Law = Law {
    name: "creep on an incline",
    tolerance: "dynamic: a residual of 1e-7 changes the creep by 1e-7/(mu x (1 - x^2)), ten times that for the \
                norm over six velocities; quasistatic: 1e-8 m/s, the solver's tolerance; spook: at most v_s",
    rows: creep,
};

/// Below the friction angle a box creeps at v_s x/sqrt(1 - x^2), x = tan(angle)/mu. Complementarity steps
/// have a linear regularization.
fn creep() -> Result<Vec<LawRow>, ExperimentError> {
    let (mu, size) = (0.5_f64, Vector3::new(0.1, 0.06, 0.04));
    let mut rows = Vec::new();
    for mode in Mode::ALL {
        for load in [0.5_f64, 0.9, 0.99] {
            let settings = mode.settings(1e-3);
            let v_s = settings.stiction_tolerance;
            let body = Body::cuboid(size, 0.5, 0.5 * size.z);
            let mut ground = Ground::new(&[body], &compliant(1e6, 20.0, mu), lean((load * mu).atan()), settings)?;
            ground.run(1.0)?;
            let start = ground.pose(0).translation.x;
            ground.run(0.5)?;
            let found = (ground.pose(0).translation.x - start) / 0.5;
            let law = v_s * load / (1.0 - load * load).sqrt();
            let (exact, tolerance) = match mode {
                Mode::Dynamic => (law, 10.0 * SOLVER / (mu * load * (1.0 - load * load)) * law),
                Mode::Quasistatic => (law, 1e-8),
                Mode::Spook => (0.0, v_s),
            };
            rows.push(LawRow {
                case: format!("load {load}"),
                mode: mode.name(),
                found: 1e6 * found,
                exact: 1e6 * exact,
                tolerance: 1e6 * tolerance,
                unit: "um/s",
            });
        }
    }
    Ok(rows)
}

/// The residual of the solver of a mode, as a part of the momentum that a step exchanges [-].
fn residual(mode: Mode) -> f64 {
    if mode == Mode::Dynamic { SOLVER } else { 1e-6 }
}

pub(super) const SLIDE: Law =
    Law { name: "sliding down", tolerance: "residuals of the solvers: 1e-7 g dynamic, 1e-6 g spook", rows: slide_down };

/// Above the friction angle a = g (sin - mu cos).
fn slide_down() -> Result<Vec<LawRow>, ExperimentError> {
    let (mu, angle, size) = (0.3_f64, 0.5_f64, Vector3::new(0.1, 0.06, 0.04));
    let mut rows = Vec::new();
    for mode in Mode::MOVING {
        for (name, material) in [("points", rigid(mu)), ("pad", compliant(1e6, 20.0, mu))] {
            let body = Body::cuboid(size, 0.5, 0.5 * size.z);
            let mut ground = Ground::new(&[body], &material, lean(angle), mode.settings(1e-3))?;
            ground.run(0.5)?;
            let before = ground.velocity(0).v.x;
            ground.run(0.5)?;
            rows.push(LawRow {
                case: name.to_owned(),
                mode: mode.name(),
                found: (ground.velocity(0).v.x - before) / 0.5,
                exact: GRAVITY * (angle.sin() - mu * angle.cos()),
                tolerance: residual(mode) * GRAVITY,
                unit: "m/s2",
            });
        }
    }
    Ok(rows)
}

pub(super) const TIP: Law = Law {
    name: "tipping",
    tolerance: "stands: turns by less than 0.01 rad in a second; tips: by more (1 in the table). At 1.02 of the limit \
                weight turns it by 0.02 g cos(angle) w t^2/(4 (w^2 + h^2)/3) = 0.5 rad at least",
    rows: tip,
};

/// A box tips where tan(angle) exceeds width over height.
fn tip() -> Result<Vec<LawRow>, ExperimentError> {
    let size = Vector3::new(0.05, 0.05, 0.1);
    let mut rows = Vec::new();
    for mode in Mode::MOVING {
        for (share, tips) in [(0.98, 0.0), (1.02, 1.0)] {
            let angle = share * (size.x / size.z).atan();
            let body = Body::cuboid(size, 0.3, 0.5 * size.z);
            let mut ground = Ground::new(&[body], &rigid(2.0), lean(angle), mode.settings(1e-3))?;
            ground.run(1.0)?;
            let turned = ground.pose(0).rotation.angle() > 0.01;
            rows.push(LawRow {
                case: format!("{share} of the limit"),
                mode: mode.name(),
                found: f64::from(u8::from(turned)),
                exact: tips,
                tolerance: 0.0,
                unit: "tips",
            });
        }
    }
    Ok(rows)
}

pub(super) const ROLLING_START: Law =
    Law { name: "sliding to rolling", tolerance: "v_s: a ball whose slip is below it rolls", rows: rolling_start };

/// A ball that slides without spin ends rolling at 5/7 of its speed, after 2 v0/(7 mu g).
fn rolling_start() -> Result<Vec<LawRow>, ExperimentError> {
    let (radius, v0, mu) = (0.05, 0.5, 0.3);
    let mut rows = Vec::new();
    for mode in Mode::MOVING {
        let mut ball = Body::ball(radius, 0.2, radius);
        ball.velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::x() * v0);
        let mut ground = Ground::new(&[ball], &rigid(mu), DOWN, mode.settings(1e-3))?;
        ground.run(1.0)?;
        rows.push(LawRow {
            case: "5/7 v0".to_owned(),
            mode: mode.name(),
            found: ground.velocity(0).v.x,
            exact: 5.0 / 7.0 * v0,
            tolerance: mode.settings(1e-3).stiction_tolerance,
            unit: "m/s",
        });
    }
    Ok(rows)
}

pub(super) const ROLLING_DOWN: Law = Law {
    name: "rolling down",
    tolerance: "residuals of the solvers: 1e-7 g dynamic, 1e-6 g spook",
    rows: rolling_down,
};

/// A ball rolls down a slope with 5/7 g sin; above tan = 7/2 mu it slips, with g (sin - mu cos).
fn rolling_down() -> Result<Vec<LawRow>, ExperimentError> {
    let radius = 0.05;
    let mut rows = Vec::new();
    for mode in Mode::MOVING {
        for (mu, angle) in [(0.3_f64, 0.5_f64), (0.1, 0.5)] {
            let mut ground =
                Ground::new(&[Body::ball(radius, 0.2, radius)], &rigid(mu), lean(angle), mode.settings(1e-3))?;
            ground.run(0.2)?;
            let before = ground.velocity(0).v.x;
            ground.run(0.5)?;
            let slips = angle.tan() > 3.5 * mu;
            let slides = GRAVITY * (angle.sin() - mu * angle.cos());
            rows.push(LawRow {
                case: format!("mu = {mu}: {}", if slips { "slips" } else { "rolls" }),
                mode: mode.name(),
                found: (ground.velocity(0).v.x - before) / 0.5,
                exact: if slips { slides } else { 5.0 / 7.0 * GRAVITY * angle.sin() },
                tolerance: residual(mode) * GRAVITY,
                unit: "m/s2",
            });
        }
    }
    Ok(rows)
}
