//! Normal forces: depth under a load, and restitution.

use std::f64::consts::PI;

use super::law::{Law, LawRow};
use super::scenes::{Body, DOWN, GRAVITY, Ground, Mode, compliant};
use crate::experiments::ExperimentError;
use crate::math::{SpatialVelocity, Vector3};

/// The depth d at which `force` of it is `load`, for a force that grows with d up to `most` \[m\].
fn depth_at(load: f64, most: f64, force: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if force(middle) < load { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The depth of a box a x b with the half height H, flat on a plane, under `load` \[N\]:
///   F = E/H (a b d - (a + b) d^2 + 4 d^3/3), because the pressure falls off at the sides.
pub(super) fn box_depth(load: f64, modulus: f64, [a, b, half]: [f64; 3]) -> f64 {
    depth_at(load, 0.25 * a.min(b), |d| modulus / half * (a * b * d - (a + b) * d * d + 4.0 / 3.0 * d * d * d))
}

/// The part of a load that the rim of a box a x b carries at the depth d [-].
///
/// The pressure of the rim rises from the sides, over the width d. A step that resolves the contact is wrong
/// about the rim by its width over the length of a side.
pub(super) fn rim_part(depth: f64, [a, b, _]: [f64; 3]) -> f64 {
    depth * (a + b) / (a * b)
}

pub(super) const BALL_DEPTH: Law =
    Law { name: "depth of a ball", tolerance: "facets lie below the ball by up to h^2/(8 R)", rows: ball_depth };

/// A ball with the pressure E (1 - r/R) on a rigid plane: F = pi E d^2 (1 - 2 d/(3 R)).
fn ball_depth() -> Result<Vec<LawRow>, ExperimentError> {
    let (radius, mass, modulus, edge) = (0.05, 0.2, 1e6, 0.002);
    let mut material = compliant(modulus, 50.0, 0.3);
    material.mesh_resolution_hint = Some(edge);
    let exact = depth_at(mass * GRAVITY, radius, |d| PI * modulus * d * d * (1.0 - 2.0 * d / (3.0 * radius)));
    let mut rows = Vec::new();
    for mode in Mode::ALL {
        let ball = Body::ball(radius, mass, radius - exact);
        let mut ground = Ground::new(&[ball], &material, DOWN, mode.settings(1e-3))?;
        ground.run(1.0)?;
        rows.push(LawRow {
            case: format!("{mass} kg, {modulus:.0e} Pa"),
            mode: mode.name(),
            found: 1e6 * (radius - ground.pose(0).translation.z),
            exact: 1e6 * exact,
            tolerance: 1e6 * edge * edge / (8.0 * radius),
            unit: "um",
        });
    }
    Ok(rows)
}

pub(super) const BOX_DEPTH: Law = Law {
    name: "depth of boxes",
    tolerance: "the rim, of the width d, carries the part d (a + b)/(a b) of the load; a step is wrong about it by d \
                over the shortest side, and a step that does not resolve the contact by all of it at most",
    rows: box_depths,
};

/// A box flat on a plane, and two equal boxes, which are springs in series.
fn box_depths() -> Result<Vec<LawRow>, ExperimentError> {
    let (size, mass, modulus) = (Vector3::new(0.1, 0.08, 0.04), 0.5, 3e4);
    let shape = [size.x, size.y, 0.5 * size.z];
    let material = compliant(modulus, 50.0, 0.3);
    let mut rows = Vec::new();
    for mode in Mode::ALL {
        let one = box_depth(mass * GRAVITY, modulus, shape);
        let mut ground =
            Ground::new(&[Body::cuboid(size, mass, 0.5 * size.z - one)], &material, DOWN, mode.settings(1e-3))?;
        ground.run(2.0)?;
        let found = 0.5 * size.z - ground.pose(0).translation.z;
        let row = |case: &str, found: f64, exact: f64| LawRow {
            case: case.to_owned(),
            mode: mode.name(),
            found: 1e6 * found,
            exact: 1e6 * exact,
            tolerance: 1e6 * exact * rim_part(one, shape) * one / size.y,
            unit: "um",
        };
        rows.push(row("a box on a plane", found, one));
        let below = box_depth(2.0 * mass * GRAVITY, modulus, shape);
        let starts = [0.5 * size.z - below, 1.5 * size.z - below - 2.0 * one];
        let bodies = starts.map(|height| Body::cuboid(size, mass, height));
        let mut ground = Ground::new(&bodies, &material, DOWN, mode.settings(1e-3))?;
        ground.run(2.0)?;
        let between = size.z - (ground.pose(1).translation.z - ground.pose(0).translation.z);
        rows.push(row("a box on an equal box", between, 2.0 * one));
    }
    // Steps that resolve the contact, that do not, and those between
    let (size, mass, modulus) = (Vector3::repeat(0.08), 0.3, 1e6);
    let exact = box_depth(mass * GRAVITY, modulus, [size.x, size.y, 0.5 * size.z]);
    for mode in Mode::MOVING {
        for step in [5e-4, 1.5e-3, 2e-3, 3e-3, 4e-3, 6e-3, 1e-2, 2e-2] {
            let body = Body::cuboid(size, mass, 0.5 * size.z - exact);
            let settings = mode.settings(step);
            let mut ground = Ground::new(&[body], &compliant(modulus, 50.0, 0.3), DOWN, settings)?;
            ground.run(1.0)?;
            rows.push(LawRow {
                case: format!("a cube on a plane, steps of {} ms", 1e3 * step),
                mode: mode.name(),
                found: 1e6 * (0.5 * size.z - ground.pose(0).translation.z),
                exact: 1e6 * exact,
                tolerance: 1e6 * exact * rim_part(exact, [size.x, size.y, 0.5 * size.z]),
                unit: "um",
            });
        }
    }
    Ok(rows)
}

pub(super) const RESTITUTION: Law = Law {
    name: "restitution",
    tolerance: "a backward Euler step damps an oscillation by w dt/2, pi^2 dt/(2 T) in the contact time T; 1.5 \
                times that, because the spring is not linear",
    rows: restitution,
};

/// Hunt and Crossley: d (vi + vo) = ln[(1 + d vi)/(1 - d vo)], for any geometry and modulus.
fn restitution() -> Result<Vec<LawRow>, ExperimentError> {
    let (vi, mass, radius, step) = (0.4, 0.2, 0.05, 1e-5);
    let mut rows = Vec::new();
    for d in [0.0_f64, 0.5, 1.5] {
        for modulus in [1e5, 1e6] {
            let excess = |vo: f64| d * (vi + vo) - ((1.0 + d * vi) / (1.0 - d * vo)).ln();
            // The two sides separate where vo is too small; without dissipation vo = vi
            let (mut low, mut high) = (0.0, vi);
            for _ in 0..100 {
                let vo = 0.5 * (low + high);
                if d == 0.0 || excess(vo) > 0.0 { low = vo } else { high = vo }
            }
            let mut ball = Body::ball(radius, mass, radius + 1e-4);
            ball.velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -vi));
            let material = compliant(modulus, d, 0.0);
            let mut ground = Ground::new(&[ball], &material, Vector3::zeros(), Mode::Dynamic.settings(step))?;
            ground.run(0.15)?;
            let depth = (1.5 * mass * vi * vi / (PI * modulus)).cbrt();
            let duration = 2.80 * depth / vi;
            rows.push(LawRow {
                case: format!("d = {d} s/m, {modulus:.0e} Pa"),
                mode: Mode::Dynamic.name(),
                found: ground.velocity(0).v.z,
                exact: low,
                tolerance: 1.5 * PI * PI * step / (2.0 * duration) * low,
                unit: "m/s",
            });
        }
    }
    Ok(rows)
}
