//! Loop closures as patches without faces: near-rigid rows between two bodies.

use super::columns::RelativeColumns;
use crate::contact::NEAR_RIGID_BETA;
use crate::math::Vector6;
use crate::multibody::{Data, Model};
use crate::scene::Closure;
use crate::solvers::PatchBlock;

/// The stiffest row of a closure is at most this many times as stiff as the softest. Otherwise a row that
/// velocities hardly move would have an unbounded stiffness. [-]
const MASS_RATIO_MAX: f64 = 1e6;

/// Makes `block` the patch of a closure, over a step `step` \[s\]. Its error is that at the poses in `start`
/// plus `offset`, row by row, and its Jacobian that at the poses in `linearized_at`, for momenta that belong
/// to those in `later`. `mass` returns the diagonal entry of A or Q of a degree of freedom [kg, kg m2]. Each
/// row is a spring that leaves no error at the end of the step, except for the deflection under its load:
///   gamma = (4 pi^2 m/beta^2)(-error/dt - u),   with m the effective mass of the row and u its speed.
pub(super) fn fill_closure(
    closure: &Closure,
    model: &Model,
    (start, linearized_at, later): (&Data, &Data, &Data),
    (step, offset): (f64, &[f64; 6]),
    mass: impl Fn(usize) -> f64,
    columns: &mut RelativeColumns,
    block: &mut PatchBlock,
) {
    let rigid = 4.0 * std::f64::consts::PI.powi(2) / (NEAR_RIGID_BETA * NEAR_RIGID_BETA);
    let (A, B) = (closure.A.0, closure.B.0);
    let now = closure.error(&start.X_WB[A], &start.X_WB[B]);
    let then = closure.error(&linearized_at.X_WB[A], &linearized_at.X_WB[B]);
    columns.merge_for(model, (linearized_at, later), (A, B), (&then.points.0, &then.points.1));
    block.reset_closure(step);
    columns.push_at_rest(block);
    let inverse_mass = |row: &Vector6| -> f64 {
        let share = |(dof, column): &(usize, Vector6)| row.dot(column).powi(2) / mass(*dof);
        columns.columns().iter().map(share).sum()
    };
    let rows = then.rows[..then.count].iter().zip(&now.rows);
    let largest = rows.clone().map(|((row, _), _)| inverse_mass(row)).fold(0.0, f64::max);
    for (((row, _), (_, error)), offset) in rows.zip(offset) {
        let w = inverse_mass(row).max(largest / MASS_RATIO_MAX);
        if w > 0.0 {
            block.push_closure_row(row, rigid / w, -(error + offset) / step);
        }
    }
}
