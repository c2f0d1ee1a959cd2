//! The run of one drop, and its faults.

use super::drop::{Drop, GRAVITY, RESOLUTION};
use crate::experiments::ExperimentError;
use crate::multibody::energy;
use crate::stepping::{DynamicStepping, JointCommand, Simulation, Snapshot};

/// Simulated time of a drop \[s\].
const SECONDS: f64 = 5.0;
/// The end of a drop in which the body must rest \[s\].
const REST_SECONDS: f64 = 0.5;
/// A body at rest is slower than this, or than g dt [m/s].
const REST_SPEED: f64 = 1e-3;
/// A body whose corners hit one after the other, or that rocks, may take this many times as long as a body
/// that bounces on one point [-].
const REST_FACTOR: f64 = 4.0;

/// A body rolls on an edge of its facets. This edge may be half the length of an edge away from the middle of
/// its contact, as a part of the radius of the sphere around the body [-].
const FACET: f64 = 0.5 * RESOLUTION;

/// The result of a drop.
#[derive(Clone, Debug)]
pub struct DropRow {
    /// The drop.
    pub drop: Drop,
    /// The largest excess of the kinetic and potential energy over that of the start \[J\]; 0 if there is
    /// none.
    pub gain: f64,
    /// A bound of the speed of all points of the body in the last half second [m/s].
    pub speed: f64,
    /// The largest speed of the body at its contact in the last half second, less the speed of rolling on
    /// facets [m/s]. Without a contact it is that of all points.
    pub contact_speed: f64,
    /// Depth of the contact at the end \[m\].
    pub depth: f64,
    /// Height of the centre at the end \[m\].
    pub height: f64,
    /// The first warning that the pressure does not stop the body, or that a step met the contact too late.
    pub warning: Option<String>,
    /// Steps that did not converge.
    pub not_converged: u32,
    /// The error that ended the run.
    pub error: Option<String>,
}

impl DropRow {
    /// Simulates a drop in dynamic steps with `options`, until the time is over, a step fails, or the body
    /// has passed through the ground.
    ///
    /// # Errors
    /// A scene that cannot be built.
    pub fn run(drop: Drop, options: DynamicStepping) -> Result<Self, ExperimentError> {
        let (mut simulation, body) = drop.simulation(options)?;
        let energy = |simulation: &Simulation| {
            energy(simulation.scene().model(), simulation.data(), &simulation.state().v).total()
        };
        let (radius, start) = (drop.radius(), energy(&simulation));
        let mut row = Self {
            gain: 0.0,
            speed: 0.0,
            contact_speed: 0.0,
            depth: 0.0,
            height: 0.0,
            warning: None,
            not_converged: 0,
            error: None,
            drop,
        };
        let mut snapshot = Snapshot::default();
        for number in 1..=(SECONDS / row.drop.step).round() as usize {
            match simulation.step(&JointCommand::default()) {
                Ok(report) => row.not_converged += u32::from(!report.solver_converged),
                Err(error) => {
                    row.error = Some(error.to_string());
                    break;
                }
            }
            row.gain = row.gain.max(energy(&simulation) - start);
            if row.warning.is_none() {
                row.warning = simulation.missed_contact().map(|missed| missed.to_string());
            }
            let (X_WB, V_WB) = (&simulation.data().X_WB[body], &simulation.data().V_WB[body]);
            row.height = X_WB.translation.vector.z;
            if row.passed() {
                break;
            }
            if number as f64 * row.drop.step > SECONDS - REST_SECONDS {
                simulation.snapshot_into(&mut snapshot);
                let speed = V_WB.v.norm() + V_WB.w.norm() * radius;
                let arm = snapshot.contact_patches().first().map(|patch| patch.p_WC - X_WB.translation.vector);
                let rolling = FACET * radius * V_WB.w.norm();
                let at_contact = arm.map_or(speed, |arm| (V_WB.shift(&arm).v.norm() - rolling).max(0.0));
                row.speed = row.speed.max(speed);
                row.contact_speed = row.contact_speed.max(at_contact);
            }
        }
        row.depth = simulation.penetration_max();
        Ok(row)
    }

    /// Whether the body is wholly below the surface of the ground.
    pub fn passed(&self) -> bool {
        self.height < -self.drop.radius()
    }

    /// The energy that errors of the order of the step may add \[J\]: in free flight a step conserves
    /// T + U - dt/2 m g.v, and v.g changes by at most twice the largest speed that the energy of the start
    /// allows.
    pub fn gain_bound(&self) -> f64 {
        self.drop.mass * GRAVITY * self.drop.step * self.drop.speed_max()
    }

    /// The speed below which a body rests [m/s]: 1 mm/s, or the speed that weight gives it in a step.
    pub fn rest_speed(&self) -> f64 {
        REST_SPEED.max(GRAVITY * self.drop.step)
    }

    /// The speed that must be below [`DropRow::rest_speed`] at the end [m/s]. Round bodies may go on rolling,
    /// so only the material at their contact must rest.
    pub fn end_speed(&self) -> f64 {
        if self.drop.rolls() { self.contact_speed } else { self.speed }
    }

    /// Whether the law of the contact brings the body to rest within the time of the run.
    pub fn comes_to_rest(&self) -> bool {
        !self.passed() && REST_FACTOR * self.drop.rest_time(self.depth, REST_SPEED) < SECONDS - REST_SECONDS
    }

    /// The laws that the run breaks, with the amounts.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if let Some(error) = &self.error {
            faults.push(error.clone());
        }
        if !(self.gain.is_finite() && self.gain <= self.gain_bound()) {
            faults.push(format!("gains {:.2e} J, more than {:.2e} J", self.gain, self.gain_bound()));
        }
        if self.passed() && self.warning.is_none() {
            faults.push("passes through the ground without a warning".to_owned());
        }
        let speed = self.end_speed();
        if self.comes_to_rest() && (speed > self.rest_speed() || speed.is_nan()) {
            faults.push(format!("moves at {speed:.1e} m/s in the end, more than {:.1e} m/s", self.rest_speed()));
        }
        faults
    }
}
