//! Friction of pads: the coin, limits of torque, the limit surface, and isotropy.

use std::f64::consts::SQRT_2;

use super::law::{Law, LawRow};
use super::scenes::{Body, DOWN, GRAVITY, Ground, Mode, compliant, rigid};
use crate::experiments::ExperimentError;
use crate::experiments::spinning_disk::{Cap, Footprint, friction_of, slide};
use crate::math::{SpatialVelocity, Vector3};
use crate::solvers::complementarity::{ComplementaritySettings, FrictionLaw};
use crate::stepping::{SpookStepping, StepSettings, Stepping};

/// Friction coefficient of the coin [-].
const MU_COIN: f64 = 0.2;

pub(super) const COIN: Law = Law {
    name: "coin",
    tolerance: "0.5 % of the limit 0.64415, as in figure 5; the equations of the coin come within 1e-4 of it",
    rows: coin,
};

/// The ratio v/(omega R) of a coin tends to 0.64415 from any initial ratio.
fn coin() -> Result<Vec<LawRow>, ExperimentError> {
    let mut rows = Vec::new();
    for mode in Mode::MOVING {
        for [speed, rim] in [[0.5, 5.0], [5.0, 5.0], [5.0, 0.5]] {
            let path = slide(Cap::Fan, [speed, rim], (1e-3, f64::INFINITY), mode.settings(1e-3))?;
            rows.push(LawRow {
                case: format!("from {}", speed / rim),
                mode: mode.name(),
                found: path.ratio_at(1e-3).unwrap_or(f64::NAN),
                exact: 0.64415,
                tolerance: 0.005 * 0.64415,
                unit: "-",
            });
        }
    }
    Ok(rows)
}

pub(super) const TORSION: Law = Law {
    name: "torsion",
    tolerance: "disc: the friction of 8 rings at centroids, 1/(4 8^2) twice; ball: d/R of its pressure, and \
                (h/a)^2/4 of its facets",
    rows: torsion,
};

/// The torque of friction over mu N R is 2/3 for a uniform pressure on a disc of radius R, and 8/15 for a
/// parabolic one, such as that of a ball.
fn torsion() -> Result<Vec<LawRow>, ExperimentError> {
    let mut rows = Vec::new();
    for mode in Mode::MOVING {
        let step = 1e-3;
        let path = slide(Cap::Rings(8), [0.0, 1.0], (0.5, 0.2), mode.settings(step))?;
        let rims = path.samples.first().zip(path.samples.last());
        // I d omega/dt with I = m R^2/2
        let slowed = rims.map_or(f64::NAN, |(a, b)| (a.speeds[1] - b.speeds[1]) / (b.time - a.time));
        rows.push(LawRow {
            case: "disc, uniform".to_owned(),
            mode: mode.name(),
            found: 0.5 * slowed / (MU_COIN * GRAVITY),
            exact: 2.0 / 3.0,
            tolerance: 2.0 / 3.0 / 128.0,
            unit: "-",
        });
        let (radius, mass, mu, modulus, edge) = (0.05, 0.2, 0.3, 1e6, 0.002);
        let mut material = compliant(modulus, 50.0, mu);
        material.mesh_resolution_hint = Some(edge);
        let depth = (mass * GRAVITY / (std::f64::consts::PI * modulus)).sqrt();
        let ball = Body::ball(radius, mass, radius - depth);
        let mut ground = Ground::new(&[ball], &material, DOWN, mode.settings(step))?;
        ground.run(0.5)?;
        let area = radius * radius - ground.pose(0).translation.z.powi(2);
        ground.throw(SpatialVelocity::new(Vector3::z() * 20.0, Vector3::zeros()))?;
        ground.run(0.02)?;
        let before = ground.velocity(0).w.z;
        ground.run(0.1)?;
        let slowed = (before - ground.velocity(0).w.z) / 0.1;
        let patch = area.max(0.0).sqrt();
        rows.push(LawRow {
            case: "ball, parabolic".to_owned(),
            mode: mode.name(),
            found: 0.4 * radius * radius * slowed / (mu * GRAVITY * patch),
            exact: 8.0 / 15.0,
            tolerance: 8.0 / 15.0 * (depth / radius + 0.25 * (edge / patch).powi(2)),
            unit: "-",
        });
    }
    Ok(rows)
}

pub(super) const LIMIT_SURFACE: Law = Law {
    name: "limit surface",
    tolerance: "the friction of 16 rings at centroids, 1/(4 16^2), and of the quadrature of the closed form, 1e-3",
    rows: limit_surface,
};

/// Force and torque of friction on a disc for several ratios of sliding to spinning, and the normality of the
/// twist to the limit surface.
fn limit_surface() -> Result<Vec<LawRow>, ExperimentError> {
    let step = 1e-4;
    let measured = |mode: Mode, [speed, rim]: [f64; 2]| -> Result<[f64; 2], ExperimentError> {
        // The first step lands the coin; the second one is measured
        let path = slide(Cap::Rings(16), [speed, rim], (0.0, 2.0 * step), mode.settings(step))?;
        let [.., a, b] = path.samples.as_slice() else { return Ok([f64::NAN; 2]) };
        let rate = |i: usize| (a.speeds[i] - b.speeds[i]) / (step * MU_COIN * GRAVITY);
        Ok([rate(0), 0.5 * rate(1)])
    };
    let mut rows = Vec::new();
    for mode in Mode::MOVING {
        for angle in [15.0_f64, 30.0, 45.0, 60.0, 75.0] {
            let twist = |degrees: f64| [degrees.to_radians().sin(), degrees.to_radians().cos()];
            let found = measured(mode, twist(angle))?;
            let exact = friction_of(Footprint::Disc, twist(angle));
            let tolerance = 1.0 / 1024.0 + 1e-3;
            for (name, i) in [("force", 0), ("torque", 1)] {
                let case = format!("{name}, v/(omega R) = tan {angle}");
                let row = LawRow { case, mode: mode.name(), found: found[i], exact: exact[i], tolerance, unit: "mu N" };
                rows.push(row);
            }
            let (above, below) = (measured(mode, twist(angle + 5.0))?, measured(mode, twist(angle - 5.0))?);
            let change = [above[0] - below[0], above[1] - below[1]];
            let [v, w] = twist(angle);
            // The chord over 10 degrees is along the tangent at its middle to (5 degrees)^2
            let cosine = (change[0] * v + change[1] * w) / change[0].hypot(change[1]);
            let case = format!("normality at tan {angle}");
            let tolerance = 5.0_f64.to_radians().powi(2) + 4.0 * tolerance;
            rows.push(LawRow { case, mode: mode.name(), found: cosine, exact: 0.0, tolerance, unit: "-" });
        }
    }
    Ok(rows)
}

pub(super) const ISOTROPY: Law = Law {
    name: "isotropy",
    tolerance: "1e-6: v_s^2/(2 v^2) and the solver's residual; boxes of friction show sqrt(2)",
    rows: isotropy,
};

/// The friction of a sliding block is mu m g in every direction.
fn isotropy() -> Result<Vec<LawRow>, ExperimentError> {
    let step = 1e-3;
    let boxes = ComplementaritySettings { friction: FrictionLaw::ScaledBox, ..ComplementaritySettings::default() };
    let stepping = Stepping::Spook(SpookStepping { solver: boxes, ..SpookStepping::default() });
    let with_boxes = StepSettings { stepping, ..Mode::Spook.settings(step) };
    let kinds = [
        (Mode::Dynamic, "", Mode::Dynamic.settings(step)),
        (Mode::Spook, "", Mode::Spook.settings(step)),
        (Mode::Spook, "scaled box, ", with_boxes),
    ];
    let mut rows = Vec::new();
    for (mode, name, settings) in kinds {
        for degrees in [0.0_f64, 15.0, 30.0, 45.0, 60.0, 75.0, 90.0] {
            let mu = 0.3;
            let size = Vector3::new(0.1, 0.1, 0.04);
            let mut ground = Ground::new(&[Body::cuboid(size, 1.0, 0.5 * size.z)], &rigid(mu), DOWN, settings)?;
            ground.run(0.5)?;
            let (sin, cos) = degrees.to_radians().sin_cos();
            ground.throw(SpatialVelocity::new(Vector3::zeros(), Vector3::new(cos, sin, 0.0)))?;
            ground.run(step)?;
            let before = ground.velocity(0).v;
            ground.run(step)?;
            let lost = (before - ground.velocity(0).v).norm() / (mu * GRAVITY * step);
            let diagonal = !name.is_empty() && degrees > 0.0 && degrees < 90.0;
            rows.push(LawRow {
                case: format!("{name}{degrees} degrees"),
                mode: mode.name(),
                found: lost,
                exact: if diagonal { SQRT_2 } else { 1.0 },
                tolerance: 1e-6,
                unit: "mu m g",
            });
        }
    }
    Ok(rows)
}
