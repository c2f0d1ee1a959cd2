//! A rod with Painlevé's paradox, a free top, and the planar gripper.

use super::law::{Law, LawRow};
use super::scenes::{Body, DOWN, GRAVITY, Ground, Mode, rigid};
use crate::experiments::{ExperimentError, planar_gripper};
use crate::geometry::Shape;
use crate::math::{RigidTransform, Rotation, SpatialVelocity, Vector3};
use crate::stepping::Snapshot;

/// Residual of the solvers, as a part of the momentum that a step exchanges [-].
const SOLVER: f64 = 1e-7;

pub(super) const PAINLEVE: Law = Law {
    name: "rod of Painlevé",
    tolerance: "energy never grows: a residual of 1e-7 of the momentum exchanged at the speed v, m v and m g t, is v times \
                that in energy",
    rows: painleve,
};

/// A rod slides with its lower end ahead. Above a friction coefficient of (1 + 3 cos^2)/(3 sin cos), 1.35 at
/// 60 degrees, rigid contact has no acceleration that fulfils Coulomb's law; steps of velocities have a
/// solution. The largest gain of energy over half a second, as a part of it.
fn painleve() -> Result<Vec<LawRow>, ExperimentError> {
    let (half, radius, mass, angle) = (0.25, 0.005, 0.5, 60.0_f64.to_radians());
    let mut rows = Vec::new();
    for mode in Mode::MOVING {
        for mu in [1.0, 2.0] {
            // The axis of the capsule, z, leans back from the direction of sliding, x
            let turn = Rotation::from_euler_angles(0.0, angle - 0.5 * std::f64::consts::PI, 0.0);
            let height = half * angle.sin() + radius;
            let across = mass * half * half / 3.0;
            let rod = Body {
                shape: Shape::Capsule { radius, length: 2.0 * half },
                mass,
                moments: Vector3::new(across, across, 0.5 * mass * radius * radius),
                start: RigidTransform::from_parts(Vector3::new(0.0, 0.0, height).into(), turn),
                velocity: SpatialVelocity::new(Vector3::zeros(), Vector3::x()),
            };
            let mut ground = Ground::new(&[rod], &rigid(mu), DOWN, mode.settings(1e-3))?;
            let mut snapshot = Snapshot::default();
            let mut energy = |ground: &Ground| {
                ground.simulation.snapshot_into(&mut snapshot);
                snapshot.energy.kinetic + snapshot.energy.potential
            };
            let start = energy(&ground);
            let mut gain = 0.0_f64;
            for _ in 0..500 {
                ground.run(1e-3)?;
                let now = energy(&ground);
                // A number that is not finite does not hold
                gain = if now.is_finite() { gain.max(now / start - 1.0) } else { f64::INFINITY };
            }
            rows.push(LawRow {
                case: format!("mu = {mu}"),
                mode: mode.name(),
                found: gain,
                exact: 0.0,
                tolerance: SOLVER * mass * (1.0 + GRAVITY * 0.5) / start,
                unit: "-",
            });
        }
    }
    Ok(rows)
}

pub(super) const TOP: Law =
    Law { name: "free top", tolerance: "roundings of 2e-16 in 10,000 steps, all of one sign: 2e-12", rows: top };

/// A box that tumbles without gravity keeps its angular momentum and energy.
fn top() -> Result<Vec<LawRow>, ExperimentError> {
    let size = Vector3::new(0.3, 0.2, 0.1);
    let mut rows = Vec::new();
    for mode in Mode::MOVING {
        let mut body = Body::cuboid(size, 1.0, 5.0);
        body.velocity = SpatialVelocity::new(Vector3::new(2.0, 9.0, -3.9), Vector3::zeros());
        let moments = body.moments;
        let mut ground = Ground::new(&[body], &rigid(0.5), Vector3::zeros(), mode.settings(1e-3))?;
        let momentum = |ground: &Ground| {
            let (X_WB, V_WB) = (ground.pose(0), ground.velocity(0));
            let w_B = X_WB.rotation.inverse_transform_vector(&V_WB.w);
            let L_B = moments.component_mul(&w_B);
            (X_WB.rotation * L_B, 0.5 * w_B.dot(&L_B))
        };
        let (L0, T0) = momentum(&ground);
        ground.run(10.0)?;
        let (L, T) = momentum(&ground);
        for (case, found) in [("angular momentum", (L - L0).norm() / L0.norm()), ("energy", (T / T0 - 1.0).abs())] {
            let case = case.to_owned();
            rows.push(LawRow { case, mode: mode.name(), found, exact: 0.0, tolerance: 2e-12, unit: "-" });
        }
    }
    Ok(rows)
}

pub(super) const GRIPPER: Law =
    Law { name: "planar gripper", tolerance: "1e-4 N: the accuracy of the solvers", rows: gripper };

/// A ball between two fingers [Pang & Tedrake 2021, figure 5]: each finger ends with 10 N, and presses the
/// ball on the ground with the limit of its friction, 5 N, by the complementarity problem and by the convex
/// program.
fn gripper() -> Result<Vec<LawRow>, ExperimentError> {
    let mut rows = Vec::new();
    for (name, samples) in ["LCP", "QP"].into_iter().zip(planar_gripper::run()?) {
        // Without samples the rows do not hold
        let [normal, down] = samples.last().map_or([f64::NAN; 2], |last| [last.normal[0], -last.friction]);
        let (mode, unit, tolerance) = (Mode::Quasistatic.name(), "N", 1e-4);
        let row = |case: &str, found: f64, exact: f64| {
            let case = format!("{name}, {case}");
            LawRow { case, mode, found, exact, tolerance, unit }
        };
        rows.push(row("normal force", normal, 10.0));
        rows.push(row("friction downwards", down, 5.0));
    }
    Ok(rows)
}
