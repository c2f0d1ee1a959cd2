//! The convex problem of one step.

use std::ops::Range;

use super::PatchBlock;

/// A scalar row u = c v_i and the impulse
///   gamma = clamp((v_hat - u) / R, lower, upper)   [N s] or [N m s],
/// the negative gradient of a convex potential. One form for actuators with effort limits, joint limits and dry
/// friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxRow {
    /// The generalized velocity v_i.
    pub dof: u32,
    /// c [-].
    pub coefficient: f64,
    /// v_hat: the speed at which the unclamped impulse is zero [m/s] or [rad/s].
    pub target: f64,
    /// R > 0: regularization [1/kg] or [1/(kg m2)].
    pub regularization: f64,
    /// Smallest impulse [N s] or [N m s].
    pub lower: f64,
    /// Largest impulse [N s] or [N m s].
    pub upper: f64,
}

impl BoxRow {
    /// u = c v_i [m/s] or [rad/s].
    pub fn speed(&self, v: &[f64]) -> f64 {
        self.coefficient * v[self.dof as usize]
    }
    /// The impulse at speed `u`, and minus its derivative.
    pub fn impulse(&self, u: f64) -> (f64, f64) {
        let stiffness = 1.0 / self.regularization;
        let free = (self.target - u) * stiffness;
        if free <= self.lower {
            (self.lower, 0.0)
        } else if free >= self.upper {
            (self.upper, 0.0)
        } else {
            (free, stiffness)
        }
    }
}

/// min over v of 1/2 v^T A v - r^T v + potentials of the patches and rows. All memory is reused from step to step.
#[derive(Clone, Debug, Default)]
pub struct ContactProblem {
    size: usize,
    blocks: Vec<Range<usize>>,
    /// A, row-major, symmetric positive definite [kg, kg m, kg m2]. It has no entries between two of the problem's blocks.
    pub momentum_matrix: Vec<f64>,
    /// r [N s, N m s].
    pub momentum: Vec<f64>,
    /// Scalar rows.
    pub rows: Vec<BoxRow>,
    patches: Vec<PatchBlock>,
    patch_count: usize,
}

impl ContactProblem {
    /// Empties the problem; keeps the memory. `blocks` of consecutive generalized velocities, one after the other, are those that A couples:
    /// trees of bodies.
    pub fn reset(&mut self, blocks: &[Range<usize>]) {
        let size = blocks.last().map_or(0, |block| block.end);
        self.size = size;
        self.blocks.clear();
        self.blocks.extend_from_slice(blocks);
        self.momentum_matrix.clear();
        self.momentum_matrix.resize(size * size, 0.0);
        self.momentum.clear();
        self.momentum.resize(size, 0.0);
        self.rows.clear();
        self.patch_count = 0;
    }
    /// How many generalized velocities there are.
    pub fn size(&self) -> usize {
        self.size
    }
    /// The blocks of consecutive velocities that A couples.
    pub fn blocks(&self) -> &[Range<usize>] {
        &self.blocks
    }
    /// A patch to fill, taken from the spare memory where there is some, and A.
    pub fn add_patch(&mut self) -> (&mut PatchBlock, &[f64]) {
        if self.patch_count == self.patches.len() {
            self.patches.push(PatchBlock::new());
        }
        self.patch_count += 1;
        (&mut self.patches[self.patch_count - 1], &self.momentum_matrix)
    }
    /// Fixes the friction of all patches at the velocities at the start of the step.
    pub fn lag_friction(&mut self) {
        self.patches[..self.patch_count].iter_mut().for_each(PatchBlock::lag_friction);
    }
    /// The patches of this step, in the order in which they were added.
    pub fn patches(&self) -> &[PatchBlock] {
        &self.patches[..self.patch_count]
    }
}
