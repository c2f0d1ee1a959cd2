//! The cost of a task's steps, as in figures 8 and 9 of [Masterjohn 2022].

use crate::stepping::StepTimes;

/// The cost of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Contact faces that the solver kept.
    pub faces: u32,
    /// The wall-clock times of the parts of the step \[s\].
    pub times: StepTimes,
}

/// Means over the steps of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeanCost {
    /// Contact faces.
    pub faces: f64,
    /// Mass matrix, bias and joint rows \[s\].
    pub motion: f64,
    /// Geometric queries and building the patches \[s\].
    pub contact: f64,
    /// Solver \[s\].
    pub solver: f64,
}

impl MeanCost {
    /// The means of `costs`; zero if there are none.
    pub fn of(costs: impl Iterator<Item = Cost>) -> Self {
        let (mut sum, mut count) = (Self::default(), 0.0);
        for Cost { faces, times } in costs {
            sum.faces += f64::from(faces);
            sum.motion += times.motion;
            sum.contact += times.contact;
            sum.solver += times.solver;
            count += 1.0;
        }
        let scale = 1.0 / f64::max(count, 1.0);
        Self {
            faces: scale * sum.faces,
            motion: scale * sum.motion,
            contact: scale * sum.contact,
            solver: scale * sum.solver,
        }
    }
    /// The whole step \[s\].
    pub fn step(&self) -> f64 {
        self.motion + self.contact + self.solver
    }
}

/// The power law y = factor x^exponent that fits the logarithms of the points best: (factor, exponent).
/// `None` for fewer than two different x, or a point that is not positive.
pub fn power_law(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    if points.iter().any(|(x, y)| !(*x > 0.0 && *y > 0.0)) {
        return None;
    }
    let count = points.len() as f64;
    let logs = || points.iter().map(|(x, y)| (x.ln(), y.ln()));
    let (x, y) = logs().fold((0.0, 0.0), |(sx, sy), (x, y)| (sx + x / count, sy + y / count));
    let (xx, xy) = logs().fold((0.0, 0.0), |(sxx, sxy), (a, b)| (sxx + (a - x) * (a - x), sxy + (a - x) * (b - y)));
    if xx <= 0.0 || points.len() < 2 {
        return None;
    }
    let exponent = xy / xx;
    Some(((y - exponent * x).exp(), exponent))
}
