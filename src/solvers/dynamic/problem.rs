//! The convex problem of a dynamic step.

use std::ops::Range;

use crate::math::dense::dot;
use crate::math::{BlockDiagonal, SpatialVelocity};
use crate::solvers::{BoxRow, PatchBlock};

/// min over v of 1/2 v^T A v - r^T v + potentials of the patches and rows. All memory is reused from step to
/// step.
#[derive(Clone, Debug, Default)]
pub struct ContactProblem {
    /// A, symmetric positive definite [kg, kg m, kg m2]. Its blocks are those of the problem.
    pub momentum_matrix: BlockDiagonal,
    /// r [N s, N m s].
    pub momentum: Vec<f64>,
    /// The velocities v0 at the start of the step [rad/s, m/s]. A residual is measured relative to the change
    /// in the step, r - A v0 and the impulses, because the momentum itself depends on the frame of reference.
    pub start: Vec<f64>,
    /// The velocities without any patch or row, if the caller knows them; otherwise NaN [rad/s, m/s]. An
    /// island without patches and rows takes them as they are, because the rounding of a solve would add up
    /// over the steps.
    pub free: Vec<f64>,
    /// Scalar rows.
    pub rows: Vec<BoxRow>,
    patches: Vec<PatchBlock>,
    patch_count: usize,
    /// The blocks whose velocities are not solved for, but are those of `free`.
    held: Vec<bool>,
    /// The patches of the problem before, if [`ContactProblem::keep_patches`] has kept them.
    patches_before: Vec<PatchBlock>,
    /// Those that the problem has taken over: the number of each patch, and its number before.
    held_patches: Vec<[u32; 2]>,
}

/// The deviation of a patch's friction from Coulomb's law.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrictionError {
    /// Index of the patch in [`ContactProblem::patches`].
    pub patch: usize,
    /// The deviation, summed over the faces [N s].
    pub impulse: f64,
    /// Limit of friction of the patch, the sum of mu times the normal impulses [N s].
    pub limit: f64,
}

impl FrictionError {
    /// The impulse as a fraction of the limit [-]; infinite without a limit.
    pub fn part(&self) -> f64 {
        if self.impulse > 0.0 { self.impulse / self.limit } else { 0.0 }
    }
    /// The worse of two errors: of those above the fraction `tolerance` of their limit the larger one, or
    /// else the larger fraction. The first of two equal ones.
    pub(super) fn worse(self, other: Self, tolerance: f64) -> Self {
        let more = match (other.part() > tolerance, self.part() > tolerance) {
            (true, true) => other.impulse > self.impulse,
            _ => other.part() > self.part(),
        };
        if more { other } else { self }
    }
}

impl ContactProblem {
    /// Empties the problem; keeps the memory. A couples only velocities of the same block; `blocks` are
    /// consecutive ranges of generalized velocities, one per tree of bodies.
    pub fn reset(&mut self, blocks: &[Range<usize>]) {
        let size = blocks.last().map_or(0, |block| block.end);
        self.momentum_matrix.reset(blocks);
        self.momentum.clear();
        self.momentum.resize(size, 0.0);
        self.start.clear();
        self.start.resize(size, 0.0);
        self.free.clear();
        self.free.resize(size, f64::NAN);
        self.rows.clear();
        self.held.clear();
        self.held.resize(blocks.len(), false);
        self.held_patches.clear();
        self.patch_count = 0;
    }
    /// Keeps the patches of the problem before, for [`ContactProblem::hold_patch`]. The problem has none of
    /// its own yet.
    pub fn keep_patches(&mut self) {
        std::mem::swap(&mut self.patches, &mut self.patches_before);
    }
    /// Holds some blocks and no others: their islands keep the velocities `free`, and the impulses of their
    /// patches. Patches couple them only to each other.
    pub fn hold_blocks(&mut self, is_held: impl Fn(usize) -> bool) {
        self.held.iter_mut().enumerate().for_each(|(block, held)| *held = is_held(block));
    }
    /// Whether a block is held.
    pub(super) fn is_held(&self, block: usize) -> bool {
        self.held[block]
    }
    /// Adds the patch with the number `before` of the problem before as it was.
    pub fn hold_patch(&mut self, before: usize) {
        let number = self.patch_count;
        self.add_patch();
        std::mem::swap(&mut self.patches[number], &mut self.patches_before[before]);
        self.held_patches.push([number as u32, before as u32]);
    }
    /// The patches of [`ContactProblem::hold_patch`], ascending: the number of each, and its number before.
    pub fn held_patches(&self) -> &[[u32; 2]] {
        &self.held_patches
    }
    /// Number of generalized velocities.
    pub fn size(&self) -> usize {
        self.momentum_matrix.size()
    }
    /// The blocks of consecutive velocities that A couples.
    pub fn blocks(&self) -> &[Range<usize>] {
        self.momentum_matrix.blocks()
    }
    /// Adds a patch and returns it, to be reset and filled, together with A. Spare memory is reused.
    pub fn add_patch(&mut self) -> (&mut PatchBlock, &BlockDiagonal) {
        if self.patch_count == self.patches.len() {
            self.patches.push(PatchBlock::new());
        }
        self.patch_count += 1;
        (&mut self.patches[self.patch_count - 1], &self.momentum_matrix)
    }
    /// Removes all patches; their memory stays.
    pub fn clear_patches(&mut self) {
        for [number, before] in self.held_patches.drain(..) {
            std::mem::swap(&mut self.patches[number as usize], &mut self.patches_before[before as usize]);
        }
        self.patch_count = 0;
    }
    /// Removes the last patch; its memory stays.
    pub fn pop_patch(&mut self) {
        self.patch_count = self.patch_count.saturating_sub(1);
    }
    /// Computes A v - r - J^T gamma(v), the gradient of the cost at the velocities `v` [N s, N m s].
    pub fn gradient(&self, v: &[f64], gradient: &mut Vec<f64>) {
        gradient.clear();
        gradient.resize(self.size(), 0.0);
        for patch in self.patches() {
            patch.jacobian.add_transposed(&patch.impulse(&patch.velocity(v)), gradient);
        }
        for row in &self.rows {
            gradient[row.dof as usize] += row.coefficient * row.impulse(row.speed(v)).0;
        }
        for block in self.blocks() {
            for i in block.clone() {
                let momentum = dot(self.momentum_matrix.row(i), &v[block.clone()]);
                gradient[i] = momentum - self.momentum[i] - gradient[i];
            }
        }
    }
    /// Fixes the friction of all patches at the velocities at the start of the step.
    pub fn lag_friction(&mut self) {
        let mut held = self.held_patches.iter().map(|[number, _]| *number as usize).peekable();
        for (number, patch) in self.patches[..self.patch_count].iter_mut().enumerate() {
            if held.next_if_eq(&number).is_none() {
                patch.lag_friction();
            }
        }
    }
    /// Fixes the friction of all patches at the normal impulses of the velocities `v`.
    pub fn refresh_friction(&mut self, v: &[f64]) {
        for patch in &mut self.patches[..self.patch_count] {
            let V = patch.velocity(v);
            patch.refresh_friction(&V);
        }
    }
    /// Fixes the friction of some patches at the normal impulses of the velocities `v`.
    pub(super) fn refresh_friction_of(&mut self, patches: &[u32], v: &[f64]) {
        for number in patches {
            let patch = &mut self.patches[*number as usize];
            let V = patch.velocity(v);
            patch.refresh_friction(&V);
        }
    }
    /// Fixes the friction of one patch at the normal impulses of the relative velocity V of its point.
    pub fn refresh_friction_at(&mut self, patch: u32, V: &SpatialVelocity) {
        self.patches[patch as usize].refresh_friction(V);
    }
    /// Does the same as [`ContactProblem::refresh_friction`]. Returns the patch whose bounds have changed the
    /// most, as a fraction of its largest bound [-], and this fraction. Bounds below `least` times the
    /// largest one of all patches count as that much.
    pub fn refresh_friction_measured(&mut self, v: &[f64], least: f64) -> (usize, f64) {
        let count = self.patch_count;
        let largest = self.patches[..count].iter().map(PatchBlock::largest_friction_bound).fold(0.0, f64::max);
        let mut worst = (0, 0.0);
        for (number, patch) in self.patches[..count].iter_mut().enumerate() {
            let V = patch.velocity(v);
            let (change, size) = patch.refresh_friction(&V);
            let part = if change > 0.0 { change / size.max(least * largest) } else { 0.0 };
            if part > worst.1 {
                worst = (number, part);
            }
        }
        worst
    }
    /// Finds the impacts of the first patches, to which the items of `restitution` belong, at the solution
    /// `v` without restitution. `before` are the velocities before the contacts act. Impacts slower than
    /// `least` [m/s] do not bounce. Returns whether there are any.
    pub fn find_impacts(
        &mut self,
        v: &[f64],
        before: &[f64],
        restitution: impl Iterator<Item = f64>,
        least: f64,
    ) -> bool {
        let mut any = false;
        let patches = self.patches[..self.patch_count].iter_mut().zip(restitution);
        for (patch, _) in patches.filter(|(_, e)| *e > 0.0) {
            let (V, before) = (patch.velocity(v), patch.velocity(before));
            any |= patch.find_impacts(&V, &before, least);
        }
        any
    }
    /// Sets the restitution of the impacts that [`ContactProblem::find_impacts`] found to the items of
    /// `restitution`, reduced for the patches for which [`ContactProblem::reduce_restitutions`] has found a
    /// gain of energy.
    pub fn set_restitution(&mut self, restitution: impl Iterator<Item = f64>) {
        let patches = self.patches[..self.patch_count].iter_mut();
        patches.zip(restitution).for_each(|(patch, e)| patch.set_restitution(e));
    }
    /// Reduces the restitution of those of the first `count` patches whose contact gains energy in a step
    /// that ends with `v`. Returns whether there are any.
    pub fn reduce_restitutions(&mut self, v: &[f64], before: &[f64], count: usize) -> bool {
        let mut any = false;
        for patch in &mut self.patches[..count] {
            let (V, before) = (patch.velocity(v), patch.velocity(before));
            any |= patch.reduce_restitution(&V, &before);
        }
        any
    }
    /// The one of some patches whose friction at the velocities `v` is the farthest from Coulomb's law. Of
    /// the patches that deviate by more than the fraction `tolerance` of their limit, it is the one with the
    /// largest deviation. If there are none, it is the one with the largest fraction. Without patches the
    /// error is 0.
    pub(super) fn friction_error_of(&self, patches: &[u32], v: &[f64], tolerance: f64) -> FrictionError {
        let mut worst = FrictionError::default();
        for number in patches {
            let patch = *number as usize;
            let block = &self.patches[patch];
            let (impulse, limit) = block.friction_error(&block.velocity(v));
            worst = worst.worse(FrictionError { patch, impulse, limit }, tolerance);
        }
        worst
    }
    /// The patches of this step, in the order in which they were added.
    pub fn patches(&self) -> &[PatchBlock] {
        &self.patches[..self.patch_count]
    }
}
