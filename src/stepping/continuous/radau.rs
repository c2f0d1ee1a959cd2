//! Radau IIA with three stages: order 5, stiffly accurate [Hairer & Wanner 1996, sections IV.5 and IV.8].
//!
//! The unknowns are y = (r, v) with the displacement r of the positions from those of the start: q = q0 (+)
//! r. A rotation vector r has the rate w - r x w/2 + c(|r|) r x (r x w) with c(a) = (1 - (a/2) cot(a/2))/a^2.
//! The stages Z_i = h sum_j a_ij f(y0 + Z_j) are found by Newton's method with the Jacobian of the start, by
//! differences. The error is that of an embedded formula of order 3,
//!   (g/h - J)^-1 (f(y0) + (d_1 Z_1 + d_2 Z_2 + d_3 Z_3)/h),
//! with the real eigenvalue g of the inverse of (a_ij).

use crate::math::Vector3;
use crate::math::dense_lu::{lu_in_place, lu_solve};
use crate::multibody::{JointKind, Model, State, integrate};
use crate::stepping::error::StepError;
use crate::stepping::part_control::VELOCITY_TIME;

/// Stages of the method.
pub(super) const STAGES: usize = 3;
/// Newton's method ends when its error is below this fraction of the tolerance of the part [-].
const NEWTON_PART: f64 = 1e-3;
const ITERATIONS_MAX: u32 = 10;
/// Difference of positions for the Jacobian, as a fraction of the tolerance of the part [-]: it is far below
/// the depth of each contact whose pressure the tolerance resolves. Within limits \[m, rad\]: at the lower
/// one the rounding of coordinates of 1 m changes a slope by 1e-4, which only slows Newton's method down.
const POSITION_PART: f64 = 1e-3;
const POSITION_DIFFERENCES: (f64, f64) = (1e-12, 1e-9);
/// Difference of velocities for the Jacobian, as a fraction of the stiction tolerance [-]: friction is nearly
/// linear over it. Within limits [m/s, rad/s].
const VELOCITY_PART: f64 = 1e-3;
const VELOCITY_DIFFERENCES: (f64, f64) = (1e-12, 1e-7);
/// The stages of the last part are a guess for a part that is at most this many times as long [-].
const EXTRAPOLATION_MAX: f64 = 2.0;

/// The reason why a part was not integrated.
pub(super) enum Failure {
    /// Newton's method does not converge: the part is too long.
    NotConverged,
    /// The accelerations cannot be computed.
    Step(StepError),
}

/// Accelerations as a function of positions and velocities.
pub(super) trait Rates {
    /// Moves the bodies to the coordinates `q`.
    fn set_positions(&mut self, q: &[f64]) -> Result<(), Failure>;
    /// Computes v' at the coordinates `q` of the last [`Rates::set_positions`] and the velocities `v`.
    fn accelerations(&mut self, q: &[f64], v: &[f64], out: &mut [f64]);
    /// Keeps the loads of the last accelerations as those of a stage.
    fn keep(&mut self, stage: usize);
}

/// The required accuracy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accuracy {
    /// Of positions [m, rad], and of velocities times 0.1 s.
    pub(super) tolerance: f64,
    /// The speed over which friction changes [m/s].
    pub(super) stiction_tolerance: f64,
}

/// A part that was integrated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advanced {
    pub(super) error: f64,
    pub(super) iterations: u32,
}

/// The integrator's memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Radau {
    /// df/dy at the start of the part, row-major.
    jacobian: Vec<f64>,
    /// Whether the Jacobian is that of the present start.
    is_linear: bool,
    /// f at the start.
    rates: Vec<f64>,
    matrix: Vec<f64>,
    order: Vec<usize>,
    error_matrix: Vec<f64>,
    error_order: Vec<usize>,
    /// The stages of the part, one after the other.
    stages: Vec<f64>,
    stage_rates: Vec<f64>,
    residual: Vec<f64>,
    change: Vec<f64>,
    point: Vec<f64>,
    /// The stages of the last accepted part, and its length \[s\]; 0 without one.
    before: (Vec<f64>, f64),
    trial: State,
}

/// The coefficients a_ij.
fn coefficients() -> [[f64; STAGES]; STAGES] {
    let s = 6.0_f64.sqrt();
    [
        [(88.0 - 7.0 * s) / 360.0, (296.0 - 169.0 * s) / 1800.0, (-2.0 + 3.0 * s) / 225.0],
        [(296.0 + 169.0 * s) / 1800.0, (88.0 + 7.0 * s) / 360.0, (-2.0 - 3.0 * s) / 225.0],
        [(16.0 - s) / 36.0, (16.0 + s) / 36.0, 1.0 / 9.0],
    ]
}

/// The instants of the stages as fractions of the part [-].
fn instants() -> [f64; STAGES] {
    coefficients().map(|row| row.iter().sum())
}

/// The weights of the stages for integrals over a part [-].
pub(super) fn weights() -> [f64; STAGES] {
    coefficients()[STAGES - 1]
}

/// Lagrange's polynomials through 0 and the instants of the stages, at `x` [-]: those of the stages.
pub(super) fn basis(x: f64) -> [f64; STAGES] {
    let nodes = instants();
    std::array::from_fn(|j| {
        let others = (0..STAGES).filter(|other| *other != j);
        let product: f64 = others.map(|other| (x - nodes[other]) / (nodes[j] - nodes[other])).product();
        product * x / nodes[j]
    })
}

/// The coefficients d_i and the eigenvalue g of the error.
fn error_coefficients() -> ([f64; STAGES], f64) {
    let s = 7.0 * 6.0_f64.sqrt();
    let inverse = (6.0 + 81.0_f64.cbrt() - 9.0_f64.cbrt()) / 30.0;
    ([-(13.0 + s) / 3.0, (-13.0 + s) / 3.0, -1.0 / 3.0], 1.0 / inverse)
}

/// Writes the rate of the displacement r under the velocities v.
fn displacement_rate(model: &Model, r: &[f64], v: &[f64], out: &mut [f64]) {
    out.copy_from_slice(v);
    for joint in model.joints().iter().filter(|joint| joint.kind == JointKind::Floating) {
        let i = joint.v_start;
        let (r, w) = (Vector3::new(r[i], r[i + 1], r[i + 2]), Vector3::new(v[i], v[i + 1], v[i + 2]));
        let angle = r.norm();
        // The next term of the series is angle^4/30240
        let c = if angle < 1e-3 {
            1.0 / 12.0 + angle * angle / 720.0
        } else {
            (1.0 - 0.5 * angle / (0.5 * angle).tan()) / (angle * angle)
        };
        let rw = r.cross(&w);
        let rate = w - rw * 0.5 + r.cross(&rw) * c;
        out[i..i + 3].copy_from_slice(rate.as_slice());
    }
}

/// The largest entry of `y`: positions, and velocities times [`VELOCITY_TIME`]; NaN if some entry is.
fn size(y: &[f64], n: usize) -> f64 {
    let weight = |i: usize| if i < n { 1.0 } else { VELOCITY_TIME };
    let each = y.iter().enumerate().map(|(i, y)| weight(i) * y.abs());
    each.fold(0.0, |a, b| if a >= b { a } else { b })
}

impl Radau {
    /// Starts anew: the next part has no predecessor.
    pub(super) fn begin(&mut self) {
        self.is_linear = false;
        self.before.1 = 0.0;
    }

    /// Accepts the last part, from `start` over `length` \[s\]. Its loads are evaluated once more: a change
    /// of the stages that is far below the tolerance may be a large one of a stiff force.
    pub(super) fn accept(
        &mut self,
        (model, start): (&Model, &State),
        length: f64,
        rates: &mut impl Rates,
    ) -> Result<(), Failure> {
        let (size, stages) = (2 * start.v.len(), std::mem::take(&mut self.stages));
        let mut out = std::mem::take(&mut self.point);
        out.resize(size, 0.0);
        let each = stages.chunks_exact(size).enumerate();
        let done = each.into_iter().try_for_each(|(stage, y)| {
            self.rates_at((model, start), y, rates, &mut out)?;
            rates.keep(stage);
            Ok(())
        });
        self.point = out;
        self.stages = std::mem::replace(&mut self.before.0, stages);
        (self.is_linear, self.before.1) = (false, length);
        done
    }

    /// The stages of the last part, one after the other: displacement and change of velocity.
    pub(super) fn stages(&self) -> &[f64] {
        &self.stages
    }

    /// Computes f(y0 + y) into `out`.
    fn rates_at(
        &mut self,
        (model, start): (&Model, &State),
        y: &[f64],
        rates: &mut impl Rates,
        out: &mut [f64],
    ) -> Result<(), Failure> {
        let n = start.v.len();
        if !y.iter().all(|y| y.is_finite()) {
            return Err(Failure::NotConverged);
        }
        self.trial.clone_from(start);
        integrate(model, &mut self.trial.q, &y[..n], 1.0);
        self.trial.v.iter_mut().zip(&y[n..]).for_each(|(v, y)| *v += y);
        rates.set_positions(&self.trial.q)?;
        let (displacement, accelerations) = out.split_at_mut(n);
        displacement_rate(model, &y[..n], &self.trial.v, displacement);
        rates.accelerations(&self.trial.q, &self.trial.v, accelerations);
        Ok(())
    }

    /// Computes f and its Jacobian at `start`.
    fn linearize(
        &mut self,
        (model, start): (&Model, &State),
        accuracy: Accuracy,
        rates: &mut impl Rates,
    ) -> Result<(), Failure> {
        let (n, size) = (start.v.len(), 2 * start.v.len());
        let (least, most) = VELOCITY_DIFFERENCES;
        let faster = (VELOCITY_PART * accuracy.stiction_tolerance).clamp(least, most);
        let farther = (POSITION_PART * accuracy.tolerance).clamp(POSITION_DIFFERENCES.0, POSITION_DIFFERENCES.1);
        let (mut base, mut point) = (std::mem::take(&mut self.rates), std::mem::take(&mut self.point));
        let mut shifted = std::mem::take(&mut self.residual);
        base.resize(size, 0.0);
        shifted.resize(size, 0.0);
        point.clear();
        point.resize(size, 0.0);
        self.jacobian.clear();
        self.jacobian.resize(size * size, 0.0);
        let mut done = self.rates_at((model, start), &point, rates, &mut base);
        for j in 0..n {
            if done.is_err() {
                break;
            }
            // The bodies stay in place
            self.trial.v.copy_from_slice(&start.v);
            self.trial.v[j] += faster;
            rates.accelerations(&start.q, &self.trial.v, &mut shifted[n..]);
            self.jacobian[j * size + n + j] = 1.0;
            for i in n..size {
                self.jacobian[i * size + n + j] = (shifted[i] - base[i]) / faster;
            }
        }
        for j in 0..n {
            if done.is_err() {
                break;
            }
            point[j] = farther;
            done = self.rates_at((model, start), &point, rates, &mut shifted);
            point[j] = 0.0;
            for i in 0..size {
                self.jacobian[i * size + j] = (shifted[i] - base[i]) / farther;
            }
        }
        (self.rates, self.point, self.residual) = (base, point, shifted);
        self.is_linear = done.is_ok();
        done
    }

    /// Integrates from `start` over `length` to `end`. The next call may begin at the same start with another
    /// length, or after [`Radau::accept`] at this end.
    pub(super) fn advance(
        &mut self,
        (model, start): (&Model, &State),
        length: f64,
        accuracy: Accuracy,
        rates: &mut impl Rates,
        end: &mut State,
    ) -> Result<Advanced, Failure> {
        let (n, size) = (start.v.len(), 2 * start.v.len());
        if !self.is_linear {
            self.linearize((model, start), accuracy, rates)?;
        }
        self.factor(length, size)?;
        self.guess(length, size);
        let mut stages = std::mem::take(&mut self.stages);
        let mut stage_rates = std::mem::take(&mut self.stage_rates);
        let solved = self.solve_stages((model, start), (length, accuracy), rates, &mut stages, &mut stage_rates);
        (self.stages, self.stage_rates) = (stages, stage_rates);
        let iterations = solved?;
        let last = &self.stages[2 * size..];
        end.clone_from(start);
        integrate(model, &mut end.q, &last[..n], 1.0);
        end.v.iter_mut().zip(&last[n..]).for_each(|(v, z)| *v += z);
        let error = self.error((model, start), (length, accuracy), rates)?;
        Ok(Advanced { error, iterations })
    }

    /// Factors the matrices of a part of this length.
    fn factor(&mut self, length: f64, size: usize) -> Result<(), Failure> {
        let whole = STAGES * size;
        self.matrix.clear();
        self.matrix.resize(whole * whole, 0.0);
        for (k, row) in coefficients().iter().enumerate() {
            for i in 0..size {
                let line = &mut self.matrix[(k * size + i) * whole..(k * size + i + 1) * whole];
                let slopes = &self.jacobian[i * size..(i + 1) * size];
                for (l, a) in row.iter().enumerate() {
                    let part = line[l * size..(l + 1) * size].iter_mut();
                    part.zip(slopes).for_each(|(entry, slope)| *entry = -length * a * slope);
                }
                line[k * size + i] += 1.0;
            }
        }
        self.error_matrix.clear();
        self.error_matrix.extend(self.jacobian.iter().map(|slope| -slope));
        let eigenvalue = error_coefficients().1;
        (0..size).for_each(|i| self.error_matrix[i * size + i] += eigenvalue / length);
        let regular = lu_in_place(&mut self.matrix, whole, &mut self.order)
            && lu_in_place(&mut self.error_matrix, size, &mut self.error_order);
        if regular { Ok(()) } else { Err(Failure::NotConverged) }
    }

    /// Guesses the stages: the polynomial through those of the part before, continued.
    fn guess(&mut self, length: f64, size: usize) {
        self.stages.clear();
        self.stages.resize(STAGES * size, 0.0);
        let (before, old) = &self.before;
        let ratio = length / old;
        if *old == 0.0 || before.len() != self.stages.len() || ratio > EXTRAPOLATION_MAX {
            return;
        }
        for (k, instant) in instants().iter().enumerate() {
            let basis = basis(1.0 + ratio * instant);
            for i in 0..size {
                let sum: f64 = basis.iter().enumerate().map(|(j, basis)| basis * before[j * size + i]).sum();
                self.stages[k * size + i] = sum - before[(STAGES - 1) * size + i];
            }
        }
    }

    fn solve_stages(
        &mut self,
        (model, start): (&Model, &State),
        (length, accuracy): (f64, Accuracy),
        rates: &mut impl Rates,
        stages: &mut [f64],
        stage_rates: &mut Vec<f64>,
    ) -> Result<u32, Failure> {
        let (n, size) = (start.v.len(), 2 * start.v.len());
        stage_rates.resize(STAGES * size, 0.0);
        let enough = NEWTON_PART * accuracy.tolerance;
        let mut before = f64::INFINITY;
        for iteration in 1..=ITERATIONS_MAX {
            for k in 0..STAGES {
                let part = k * size..(k + 1) * size;
                self.rates_at((model, start), &stages[part.clone()], rates, &mut stage_rates[part])?;
            }
            self.residual.clear();
            for (k, row) in coefficients().iter().enumerate() {
                for i in 0..size {
                    let sum: f64 = row.iter().enumerate().map(|(l, a)| a * stage_rates[l * size + i]).sum();
                    self.residual.push(length * sum - stages[k * size + i]);
                }
            }
            lu_solve(&self.matrix, STAGES * size, &self.order, &self.residual, &mut self.change);
            stages.iter_mut().zip(&self.change).for_each(|(z, change)| *z += change);
            let largest = self.change.chunks_exact(size).map(|change| self::size(change, n));
            let largest = largest.fold(0.0, |a, b| if a >= b { a } else { b });
            // The sum of the changes that would follow
            let ratio = largest / before;
            let rest = if iteration == 1 { largest } else { largest * ratio / (1.0 - ratio) };
            if largest == 0.0 || (ratio < 1.0 && rest <= enough) {
                return Ok(iteration);
            }
            if largest.is_nan() || (iteration > 2 && ratio >= 1.0) {
                break;
            }
            before = largest;
        }
        Err(Failure::NotConverged)
    }

    /// The estimated error of the part.
    fn error(
        &mut self,
        (model, start): (&Model, &State),
        (length, accuracy): (f64, Accuracy),
        rates: &mut impl Rates,
    ) -> Result<f64, Failure> {
        let (n, size) = (start.v.len(), 2 * start.v.len());
        let d = error_coefficients().0.map(|d| d / length);
        let of_stages = |i: usize, stages: &[f64]| -> f64 { (0..STAGES).map(|k| d[k] * stages[k * size + i]).sum() };
        self.residual.clear();
        self.residual.extend((0..size).map(|i| self.rates[i] + of_stages(i, &self.stages)));
        lu_solve(&self.error_matrix, size, &self.error_order, &self.residual, &mut self.change);
        let error = self::size(&self.change, n);
        if error <= accuracy.tolerance || error.is_nan() {
            return Ok(error);
        }
        // Filtered once more: stiff components count too much [Hairer & Wanner 1996, eq. IV.8.20]
        let (point, mut moved) = (std::mem::take(&mut self.change), std::mem::take(&mut self.point));
        moved.resize(size, 0.0);
        let found = self.rates_at((model, start), &point, rates, &mut moved);
        if found.is_ok() {
            self.residual.clear();
            self.residual.extend((0..size).map(|i| moved[i] + of_stages(i, &self.stages)));
        }
        (self.change, self.point) = (point, moved);
        found?;
        lu_solve(&self.error_matrix, size, &self.error_order, &self.residual, &mut self.change);
        Ok(self::size(&self.change, n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The conditions of stage order 3, sum_j a_ij c_j^(k-1) = c_i^k/k for k = 1 to 3.
    #[test]
    fn the_coefficients_have_stage_order_3() {
        let (a, c) = (coefficients(), instants());
        assert!((c[2] - 1.0).abs() < 1e-15);
        for (row, c_i) in a.iter().zip(c) {
            for k in 1..=3 {
                let sum: f64 = row.iter().zip(c).map(|(a, c)| a * c.powi(k - 1)).sum();
                assert!((sum - c_i.powi(k) / f64::from(k)).abs() < 1e-15, "{k}: {sum}");
            }
        }
        // Order 5: sum_i b_i c_i^(k-1) = 1/k
        for k in 1..=5 {
            let sum: f64 = weights().iter().zip(c).map(|(b, c)| b * c.powi(k - 1)).sum();
            assert!((sum - 1.0 / f64::from(k)).abs() < 1e-15, "{k}: {sum}");
        }
    }

    /// The error is 0 for polynomials of degree 1 to 3: with y = (t/h)^k, whose stages are c_i^k, h f(y0) +
    /// sum_i d_i Z_i is [k = 1] + sum_i d_i c_i^k. g is an eigenvalue of the inverse of a: det(1 - g a) = 0.
    #[test]
    fn the_error_has_order_3() {
        let (d, g) = error_coefficients();
        for k in 1..=3 {
            let sum: f64 = d.iter().zip(instants()).map(|(d, c)| d * c.powi(k)).sum();
            let start = if k == 1 { 1.0 } else { 0.0 };
            assert!((sum + start).abs() < 1e-14, "{k}: {sum}");
        }
        let a = coefficients();
        let matrix = crate::math::Matrix3::from_fn(|i, j| if i == j { 1.0 } else { 0.0 } - g * a[i][j]);
        assert!(matrix.determinant().abs() < 1e-13);
    }
}
