//! A mixed problem with pairs of rows that are the friction of a contact point.

use super::problem::{MixedProblem, worse};
use super::tangent_set::TangentSet;

/// The friction at a contact point: two rows of the problem, bounded by the impulse of a third.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionPair {
    /// The row of the normal impulse.
    pub normal: usize,
    /// The first of the two rows along the tangents; they have the same regularization.
    pub tangent: usize,
    /// mu [-], times the part of the friction that acts here.
    pub coefficient: f64,
    /// The normal impulse that is known before the solve [N s].
    pub normal_before: f64,
    /// A guess of the two impulses [N s].
    pub guess: [f64; 2],
}

/// The rows of a step, and which of them are friction.
#[derive(Clone, Debug, Default)]
pub struct ComplementarityProblem {
    /// All rows; the bounds of friction rows are set by the solver.
    pub rows: MixedProblem,
    /// M, row-major [kg, kg m, kg m2].
    pub mass: Vec<f64>,
    /// The friction of the contact points, each after its normal row.
    pub pairs: Vec<FrictionPair>,
    /// Rows other than friction, and the impulses from which sweeps start [N s, N m s].
    pub starts: Vec<(usize, f64)>,
}

impl ComplementarityProblem {
    /// w of the two rows of a pair [m/s].
    pub(super) fn slip(&self, pair: &FrictionPair, impulses: &[f64], v: &[f64]) -> [f64; 2] {
        [0, 1].map(|k| self.rows.slack(pair.tangent + k, v, impulses[pair.tangent + k]))
    }
    /// The change of the pair's impulses per slip speed that overshoots in neither row \[kg\].
    pub(super) fn weight(&self, pair: &FrictionPair) -> f64 {
        let scale = self.rows.diagonal(pair.tangent).max(self.rows.diagonal(pair.tangent + 1));
        if scale > 0.0 { 1.0 / scale } else { 0.0 }
    }

    /// The residual as in [`MixedProblem::residual`], with the friction of each pair in `set` and bounded by
    /// `bounds`.
    pub(super) fn residual(&self, set: TangentSet, bounds: &[f64], impulses: &[f64], v: &[f64]) -> f64 {
        let mut violation = 0.0;
        let mut pairs = self.pairs.iter().zip(bounds).peekable();
        let mut i = 0;
        while i < self.rows.len() {
            if let Some((pair, bound)) = pairs.next_if(|(pair, _)| pair.tangent == i) {
                let slip = [0, 1].map(|k| self.rows.slack_above_rounding(i + k, v, impulses[i + k]));
                let x = [impulses[i], impulses[i + 1]];
                violation = match set {
                    TangentSet::Box => (0..2).fold(violation, |violation, k| {
                        let step = slip[k] / self.rows.diagonal(i + k).max(f64::MIN_POSITIVE);
                        let miss = (x[k] - (x[k] - step).clamp(-bound, *bound)).abs();
                        worse(violation, miss * self.rows.unit(i + k))
                    }),
                    TangentSet::Disc | TangentSet::Polygon { .. } => {
                        let weight = self.weight(pair);
                        let (p, _) = set.project([x[0] - weight * slip[0], x[1] - weight * slip[1]], *bound);
                        let unit = self.rows.unit(i).max(self.rows.unit(i + 1));
                        worse(violation, (x[0] - p[0]).hypot(x[1] - p[1]) * unit)
                    }
                };
                i += 2;
            } else {
                let slack = self.rows.slack_above_rounding(i, v, impulses[i]);
                violation = worse(violation, self.rows.violation(i, slack, impulses[i]));
                i += 1;
            }
        }
        self.rows.relative(violation, impulses)
    }
}
