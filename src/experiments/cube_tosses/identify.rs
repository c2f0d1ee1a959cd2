//! Identification of contact parameters: a pattern search along their axes, which needs no derivatives. The
//! errors of tosses jump where a corner hits first or last.

use super::file::Toss;
use super::roll::{CubeContact, TossErrors, roll};
use crate::experiments::ExperimentError;

/// Halvings of the pattern.
const HALVINGS: u32 = 3;

/// A parameter: its start, its first step, and its range. Moduli are searched by their logarithm.
struct Axis {
    start: f64,
    step: f64,
    range: (f64, f64),
}

/// A kind of contact whose parameters are identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Points of rigid contact: friction and restitution.
    Rigid,
    /// A pressure field: friction, modulus and dissipation.
    Compliant,
}

impl Fit {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Rigid, Self::Compliant];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rigid => "rigid points",
            Self::Compliant => "pressure field",
        }
    }

    fn axes(self) -> Vec<Axis> {
        let friction = Axis { start: 0.18, step: 0.06, range: (0.0, 1.0) };
        match self {
            Self::Rigid => vec![friction, Axis { start: 0.125, step: 0.1, range: (0.0, 1.0) }],
            Self::Compliant => vec![
                friction,
                Axis { start: 7.0, step: 0.5, range: (4.0, 9.0) },
                Axis { start: 1.0, step: 0.5, range: (0.0, 20.0) },
            ],
        }
    }

    fn contact(self, values: &[f64]) -> CubeContact {
        let value = |number: usize| values.get(number).copied().unwrap_or(0.0);
        match self {
            Self::Rigid => CubeContact::Rigid { friction: value(0), restitution: value(1) },
            Self::Compliant => {
                let modulus = 10.0_f64.powf(value(1));
                CubeContact::Compliant { friction: value(0), modulus, dissipation: value(2) }
            }
        }
    }
}

/// The errors of each toss.
pub(super) fn errors_of<'a>(
    tosses: impl Iterator<Item = &'a Toss>,
    contact: CubeContact,
) -> Result<Vec<TossErrors>, ExperimentError> {
    tosses.map(|toss| Ok(roll(toss, contact)?.1)).collect()
}

/// The sum that the search makes small: mean position error [% of the width] plus mean rotation error
/// \[degrees\].
fn loss(errors: &[TossErrors]) -> f64 {
    errors.iter().map(|error| error.position + error.rotation).sum::<f64>() / errors.len().max(1) as f64
}

/// The parameters of `fit` that suit `tosses` best. `progress` is called with the number of parameter sets
/// that were tried.
///
/// # Errors
/// A step that fails.
pub fn identify(fit: Fit, tosses: &[&Toss], progress: &mut dyn FnMut(u64)) -> Result<CubeContact, ExperimentError> {
    let axes = fit.axes();
    let mut values: Vec<f64> = axes.iter().map(|axis| axis.start).collect();
    let mut tried = 0;
    let mut try_out = |values: &[f64]| -> Result<f64, ExperimentError> {
        tried += 1;
        progress(tried);
        Ok(loss(&errors_of(tosses.iter().copied(), fit.contact(values))?))
    };
    let mut best = try_out(&values)?;
    for halving in 0..=HALVINGS {
        let scale = 0.5_f64.powi(halving as i32);
        for (number, axis) in axes.iter().enumerate() {
            for sign in [1.0, -1.0] {
                // A direction that improves is followed to its end
                loop {
                    let mut other = values.clone();
                    other[number] = (other[number] + sign * scale * axis.step).clamp(axis.range.0, axis.range.1);
                    if other == values {
                        break;
                    }
                    let found = try_out(&other)?;
                    let improves = found < best;
                    if !improves {
                        break;
                    }
                    (best, values) = (found, other);
                }
            }
        }
    }
    Ok(fit.contact(&values))
}

#[cfg(test)]
mod tests {
    use super::super::file::TossState;
    use super::*;
    use crate::math::{Rotation, Vector3};

    /// Tosses that were simulated with known parameters give these parameters back: the search ends within
    /// its last step, an eighth of the first, of the truth. The errors are zero at the truth only.
    #[test]
    fn parameters_of_simulated_tosses_are_found() {
        let truth = CubeContact::Rigid { friction: 0.24, restitution: 0.325 };
        let toss = |number: u32| {
            let angle = f64::from(number);
            let state = TossState {
                position: Vector3::new(0.0, 0.0, 0.15),
                rotation: Rotation::from_euler_angles(0.3 + angle, 0.2, 0.1 * angle),
                velocity: Vector3::new(1.0, 0.3, -1.0),
                spin: Vector3::new(2.0, -5.0, 1.0),
            };
            let mut toss = Toss { name: number.to_string(), states: vec![state; 60] };
            toss.states = roll(&toss, truth).expect("a toss").0;
            toss
        };
        let tosses: Vec<Toss> = (0..3).map(toss).collect();
        let chosen: Vec<&Toss> = tosses.iter().collect();
        let found = identify(Fit::Rigid, &chosen, &mut |_| ()).expect("parameters");
        let CubeContact::Rigid { friction, restitution } = found else { unreachable!("{found:?}") };
        assert!((friction - 0.24).abs() < 0.06 / 8.0 + 1e-9, "{found:?}");
        assert!((restitution - 0.325).abs() < 0.1 / 8.0 + 1e-9, "{found:?}");
    }
}
