//! Projected Gauss-Seidel sweeps: one row, or the friction of one point, at a time.

use super::contact_problem::ComplementarityProblem;
use super::tangent_set::TangentSet;

/// Changes the impulse of row `i` so that it meets its complementarity alone, and `v` with it.
fn sweep_row(problem: &ComplementarityProblem, i: usize, impulses: &mut [f64], v: &mut [f64]) {
    let row = problem.rows.rows()[i];
    let scale = problem.rows.diagonal(i);
    if scale <= 0.0 {
        return;
    }
    let before = impulses[i];
    let after = (before - problem.rows.slack(i, v, before) / scale).clamp(row.lower, row.upper);
    if after != before {
        impulses[i] = after;
        problem.rows.apply(i, after - before, v);
    }
}

/// One sweep over all rows that are not friction, in their order. `v` are the velocities under `impulses`.
pub(super) fn sweep_rows(problem: &ComplementarityProblem, impulses: &mut [f64], v: &mut [f64]) {
    let mut pairs = problem.pairs.iter().peekable();
    let mut i = 0;
    while i < problem.rows.len() {
        if pairs.next_if(|pair| pair.tangent == i).is_some() {
            i += 2;
            continue;
        }
        sweep_row(problem, i, impulses, v);
        i += 1;
    }
}

/// One sweep over the friction of all points. `bound` returns that of a pair [N s]. Returns the largest
/// change of an impulse [N s].
pub(super) fn sweep_friction(
    problem: &ComplementarityProblem,
    set: TangentSet,
    bound: impl Fn(usize, &[f64]) -> f64,
    impulses: &mut [f64],
    v: &mut [f64],
) -> f64 {
    let mut change = 0.0_f64;
    for (number, pair) in problem.pairs.iter().enumerate() {
        let bound = bound(number, impulses);
        let i = pair.tangent;
        match set {
            TangentSet::Box => {
                for (k, impulse) in impulses[i..i + 2].iter_mut().enumerate() {
                    let before = *impulse;
                    let scale = problem.rows.diagonal(i + k);
                    let step = if scale > 0.0 { problem.rows.slack(i + k, v, before) / scale } else { 0.0 };
                    *impulse = (before - step).clamp(-bound, bound);
                    problem.rows.apply(i + k, *impulse - before, v);
                    change = change.max((*impulse - before).abs());
                }
            }
            TangentSet::Disc | TangentSet::Polygon { .. } => {
                let (slip, weight) = (problem.slip(pair, impulses, v), problem.weight(pair));
                let before = [impulses[i], impulses[i + 1]];
                let (after, _) = set.project([before[0] - weight * slip[0], before[1] - weight * slip[1]], bound);
                for k in 0..2 {
                    impulses[i + k] = after[k];
                    problem.rows.apply(i + k, after[k] - before[k], v);
                    change = change.max((after[k] - before[k]).abs());
                }
            }
        }
    }
    change
}
