//! Surfaces of the end of a step, for steps that are long compared with their contacts.
//!
//! A surface that was found ahead on the free path is as deep as the bodies fall in the step. Its rim is as
//! wide, and leans: its forces cancel, but their friction does not, and slip counts as approach there. After
//! a solve, the forces of the surface at its end are therefore compared with those of the solution. If they
//! differ, the step is solved again about that surface, which is Newton's method on the implicit step, or
//! about surfaces that are as deep as the load needs. Of all solutions of an island, the one whose forces
//! are nearest to those of its end stays.

use super::free_path::FreePathPoses;
use super::input::ContactInput;
use super::missed::depth_max;
use super::pairs::{ActivePatch, Pairs, poses};
use crate::contact::{Hold, patch_size, resting_forces};
use crate::geometry::Shape;
use crate::math::{RigidTransform, Vector3};
use crate::scene::ContactPair;
use crate::solvers::PatchBlock;
use crate::solvers::dynamic::ContactProblem;
use crate::stepping::settings::DissipationModel;

/// The forces of a solution are those of its end if they differ by at most this part of them [-].
pub(super) const WRONG_MAX: f64 = 0.01;
/// If the forces of the best solution differ by more than this part, its end is no start for the next one.
/// [-]
const FAR: f64 = 0.5;
/// The solution of a patch is compared with its end if the forces of its faces have at least this part across
/// their mean direction [-].
const LEANING_MIN: f64 = 1e-3;
/// The largest number of solves that are compared.
const SOLVES_MAX: usize = 8;
/// The largest number of contacts of an island that is compared: it costs several solves of all its bodies,
/// and seldom succeeds with more.
const PAIRS_MAX: u32 = 3;
/// The end of a cylinder has normals with a larger part along its axis than this [-].
const FLAT_END: f64 = 0.9;
/// The largest number of times that the way from the best solution is halved.
const HALVES_MAX: u8 = 2;
/// A difference is also measured as a part of the force that gives the bodies this part of the acceleration
/// of gravity, if the end has less [-].
const WEIGHT_PART: f64 = 0.1;
/// Bodies that are apart at the start land if they approach faster than this multiple of the speed of a fall
/// of one step [-].
const LANDING: f64 = 2.0;
/// A patch slides if it is faster than this multiple of the stiction tolerance [-].
const SLIDING: f64 = 10.0;

/// The surface about which the forces of a pair are linear.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum About {
    /// The one of a step without a comparison.
    #[default]
    Usual,
    /// That of the start of the step, with the slip on the free path.
    Start,
    /// That of the free path, at the depth at which its force stops the bodies.
    Lifted,
    /// That of the end of the solve with this number.
    End(usize),
    /// That of the start, without any motion: for bodies that sleep.
    Rest,
}

/// A contact that the step does not resolve.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unresolved {
    /// Whether the bodies touch at the start of the step.
    touched: bool,
    /// The force that gives the bodies the acceleration of gravity \[N\].
    weight: f64,
}

impl Unresolved {
    /// That of a patch with the direction `along`; `None` if the bodies land on each other.
    pub(super) fn of(hold: &Hold, along: &Vector3) -> Option<Self> {
        let lands = !hold.touches && -along.dot(&hold.V_free.v) > LANDING * hold.fall;
        let weight = hold.fall / (hold.step * hold.inverse_mass);
        (!lands && weight.is_finite()).then_some(Self { touched: hold.touches, weight })
    }
}

/// A pair whose solution is compared with its end, or all such pairs of an island.
#[derive(Clone, Copy, Debug, Default)]
struct Compared {
    island: u32,
    /// The least force of which differences are parts, and the force of which they are parts for the choice
    /// of the best solution: it is the same for all solves \[N\].
    least_force: f64,
    load: f64,
    now: About,
    best: About,
    /// Of the present solution.
    solved: Difference,
    /// Of the best solution, and its number.
    least: Difference,
    least_solve: usize,
    touched: bool,
    /// Whether the surfaces of the start, those of the free path and the end of the best solution were tried.
    started: bool,
    lifted: bool,
    followed: bool,
    halved: u8,
    ended: bool,
}

/// The difference of the forces of a solution from those of its end.
#[derive(Clone, Copy, Debug, Default)]
struct Difference {
    /// The difference, and the sum of the forces of the end \[N\]. For an island 0.
    wrong: f64,
    force: f64,
    /// The difference as a part of the forces of the end, and of the load of the pair. For an island those of
    /// its worst pairs. [-]
    part: f64,
    of_load: f64,
    /// Whether the bodies touch at the end.
    touches: bool,
    /// Whether they slide.
    slides: bool,
}

/// The next solve of an island.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// None: the present solution stays.
    Stay,
    /// The best one.
    Back,
    About(About),
    /// About the poses halfway from the end of this solve to that of the present one.
    Halfway(usize),
}

/// The friction of a pair whose forces differ from those of the end.
#[derive(Clone, Copy, Debug)]
pub(in crate::stepping) struct EndFriction {
    pub(in crate::stepping) pair: usize,
    /// The difference of the friction, and its limit \[N\].
    pub(in crate::stepping) force: f64,
    pub(in crate::stepping) limit: f64,
}

/// The comparisons of one step.
#[derive(Clone, Debug, Default)]
pub(super) struct EndSurfaces {
    solves: usize,
    motions: Vec<FreePathPoses>,
    of: Vec<Option<Compared>>,
    /// The pairs that are compared, ascending.
    pairs: Vec<u32>,
    /// The number of patches of each island.
    counts: Vec<u32>,
}

/// The contacts of a solve.
pub(super) struct SolvedPatches<'a> {
    pub(super) pairs: &'a mut Pairs,
    pub(super) active: &'a [ActivePatch],
    pub(super) unresolved: &'a [Option<Unresolved>],
    pub(super) problem: &'a ContactProblem,
    /// The island of each velocity.
    pub(super) islands: &'a [u32],
}

impl EndSurfaces {
    /// Starts a step with this number of pairs.
    pub(super) fn begin(&mut self, pairs: usize) {
        self.solves = 0;
        for pair in self.pairs.drain(..) {
            self.of[pair as usize] = None;
        }
        self.of.resize(pairs, None);
    }

    /// The surface about which the forces of a pair are linear.
    pub(super) fn about(&self, pair: usize) -> About {
        self.of.get(pair).copied().flatten().map_or(About::Usual, |compared| compared.now)
    }
    /// The usual surface of a pair, because its bodies do not touch at the other one.
    pub(super) fn return_to_usual(&mut self, pair: usize) {
        self.of[pair].iter_mut().for_each(|compared| compared.now = About::Usual);
    }
    /// The motion of a solve.
    pub(super) fn motion(&mut self, solve: usize) -> &mut FreePathPoses {
        &mut self.motions[solve]
    }
    /// The first pair whose forces are not the usual ones.
    pub(super) fn first(&self) -> Option<usize> {
        self.pairs.iter().map(|pair| *pair as usize).find(|pair| self.about(*pair) != About::Usual)
    }

    /// The pair that slides whose forces are farthest from those of its end, if they differ too much.
    pub(super) fn worst(&self, input: &ContactInput<'_>) -> Option<EndFriction> {
        let mut worst = (None, WRONG_MAX);
        for pair in self.pairs.iter().map(|pair| *pair as usize) {
            let Some(Compared { least, .. }) = self.of[pair].filter(|of| of.least.touches && of.least.slides) else {
                continue;
            };
            if least.part > worst.1 && least.force > 0.0 {
                let mu = input.scene.contact_pairs()[pair].material.friction;
                let found = EndFriction { pair, force: mu * least.wrong, limit: mu * least.force };
                worst = (Some(found), least.part);
            }
        }
        worst.0
    }

    /// Compares the solution `v` with its end. Returns whether the step is to be assembled and solved again.
    pub(super) fn compare(&mut self, solved: &mut SolvedPatches<'_>, input: &ContactInput<'_>, v: &[f64]) -> bool {
        self.measure(solved, input, v);
        if self.solves == 0 {
            self.drop_large_islands(solved);
        }
        let mut again = false;
        for first in 0..self.pairs.len() {
            let island = |pair: &u32| self.of[*pair as usize].map(|compared| compared.island);
            let own = island(&self.pairs[first]);
            let is_first = self.pairs[..first].iter().all(|pair| island(pair) != own);
            if let Some(own) = own.filter(|_| is_first) {
                again |= self.choose(own, solved.islands);
            }
        }
        self.solves += 1;
        again
    }

    /// Leaves out the pairs of islands with more than [`PAIRS_MAX`].
    fn drop_large_islands(&mut self, solved: &SolvedPatches<'_>) {
        let Self { of, pairs, counts, .. } = self;
        counts.clear();
        counts.resize(solved.islands.len(), 0);
        for dof in solved.problem.patches().iter().filter_map(|patch| patch.dofs().first()) {
            counts[solved.islands[*dof as usize] as usize] += 1;
        }
        pairs.retain(|pair| {
            let compared = &mut of[*pair as usize];
            *compared = compared.filter(|compared| counts[compared.island as usize] <= PAIRS_MAX);
            compared.is_some()
        });
    }

    /// Measures the differences of the solution `v` from its end.
    fn measure(&mut self, solved: &mut SolvedPatches<'_>, input: &ContactInput<'_>, v: &[f64]) {
        let Some(path) = input.path() else { return };
        let solve = self.solves;
        if solve == self.motions.len() {
            self.motions.push(FreePathPoses::default());
        }
        let motion = &mut self.motions[solve];
        motion.follow(v);
        for ((active, unresolved), patch) in solved.active.iter().zip(solved.unresolved).zip(solved.problem.patches()) {
            let (index, pair) = (active.pair, &input.scene.contact_pairs()[active.pair]);
            let is_new = self.of[index].is_none();
            if !are_compliant(input, pair) || (is_new && (solve > 0 || unresolved.is_none())) {
                continue;
            }
            let of_solution = Forces::of_solution(solved.pairs, active, patch, v);
            let (V, along) = (patch.velocity(v).v, of_solution.along);
            let slip = (V - along * along.dot(&V)).norm();
            let slides = slip > SLIDING * input.settings.stiction_tolerance;
            let unresolved = unresolved.unwrap_or_default();
            let leans = of_solution.across > LEANING_MIN * of_solution.sum;
            if is_new && !(leans && (unresolved.touched || slides) && are_flat(solved.pairs, input, pair, &along)) {
                continue;
            }
            let end =
                Forces::of_end(solved.pairs, input, (index, pair), &poses(input.scene, pair, motion.at(path, 1.0)));
            let (wrong, force) = (of_solution.difference(&end.unwrap_or_default()), end.map_or(0.0, |end| end.sum));
            if is_new {
                self.pairs.push(index as u32);
            }
            let compared = self.of[index].get_or_insert_default();
            if is_new {
                let least_force = WEIGHT_PART * unresolved.weight;
                compared.touched = unresolved.touched;
                (compared.least_force, compared.load) = (least_force, of_solution.resultant.norm().max(least_force));
            }
            compared.island = patch.dofs().first().map_or(0, |dof| solved.islands[*dof as usize]);
            compared.solved = Difference {
                wrong,
                force,
                part: part(wrong, force.max(compared.least_force)),
                of_load: part(wrong, compared.load),
                touches: end.is_some() || of_solution.sum <= WRONG_MAX * compared.least_force,
                slides,
            };
        }
    }

    /// All pairs of an island together.
    fn island(&self, island: u32) -> Compared {
        let touches = Difference { touches: true, ..Difference::default() };
        let mut all = Compared { island, solved: touches, least: touches, ..Compared::default() };
        for of in self.pairs.iter().filter_map(|pair| self.of[*pair as usize]).filter(|of| of.island == island) {
            all.solved.add(&of.solved);
            all.least.add(&of.least);
            all.touched |= of.touched;
            all.started |= of.started;
            all.lifted |= of.lifted;
            all.followed |= of.followed;
            all.ended |= of.ended;
            all.halved = all.halved.max(of.halved);
            all.least_solve = of.least_solve;
            if of.now != About::Usual {
                all.now = of.now;
            }
        }
        all
    }

    /// Chooses the surfaces for the next solve of an island. Returns whether it is to be solved again.
    fn choose(&mut self, island: u32, islands: &[u32]) -> bool {
        let (solve, mut all) = (self.solves, self.island(island));
        if all.ended {
            return self.end(island);
        }
        let better = solve == 0 || all.solved.of_load < all.least.of_load;
        if better {
            (all.least, all.least_solve, all.followed, all.halved) = (all.solved, solve, false, 0);
        }
        let next = all.next(better, solve + 1 >= SOLVES_MAX);
        if let Next::Halfway(from) = next {
            let (before, after) = self.motions.split_at_mut(solve);
            if let (Some(from), Some(now)) = (before.get(from), after.first_mut()) {
                now.go_halfway_to(from, |dof| islands[dof] == island);
            }
        }
        let mut again = false;
        for pair in &self.pairs {
            let Some(of) = self.of[*pair as usize].as_mut().filter(|of| of.island == island) else { continue };
            if better {
                (of.best, of.least, of.least_solve, of.followed, of.halved) = (of.now, of.solved, solve, false, 0);
            }
            let before = of.now;
            match next {
                Next::Stay => of.ended = true,
                Next::Back => (of.ended, of.now) = (true, of.best),
                Next::About(about) => {
                    of.started |= about == About::Start;
                    of.lifted |= about == About::Lifted;
                    of.followed |= about == About::End(of.least_solve);
                    of.now = if about == About::Start && !of.touched { About::Lifted } else { about };
                }
                Next::Halfway(_) => (of.halved, of.now) = (of.halved + 1, About::End(solve)),
            }
            again |= of.now != before;
        }
        again
    }

    /// Ends all comparisons with the best solutions. Returns whether the present surfaces are other ones.
    pub(super) fn return_to_best(&mut self) -> bool {
        let mut again = false;
        for pair in &self.pairs {
            let Some(of) = &mut self.of[*pair as usize] else { continue };
            again |= of.now != of.best;
            (of.ended, of.now) = (true, of.best);
        }
        again
    }

    /// Ends the pairs of an island in which others have ended, with their best solutions. Returns whether
    /// they are to be solved again.
    fn end(&mut self, island: u32) -> bool {
        let mut again = false;
        for pair in &self.pairs {
            let Some(of) = self.of[*pair as usize].as_mut().filter(|of| of.island == island && !of.ended) else {
                continue;
            };
            again |= of.now != of.best;
            (of.ended, of.now) = (true, of.best);
        }
        again
    }
}

impl Compared {
    /// The next solve of an island. `better` is true if the present solution is the best one.
    fn next(&self, better: bool, is_last: bool) -> Next {
        let Self { least, now, .. } = self;
        let stay = if better { Next::Stay } else { Next::Back };
        if is_last || least.part <= WRONG_MAX {
            return stay;
        }
        let far = !least.touches || least.part > FAR;
        match now {
            _ if far && self.touched && !self.started => Next::About(About::Start),
            _ if far && !self.lifted => Next::About(About::Lifted),
            _ if least.touches && !self.followed => Next::About(About::End(self.least_solve)),
            About::End(from) if !better && self.halved < HALVES_MAX => Next::Halfway(*from),
            _ => stay,
        }
    }
}

impl Difference {
    /// Adds a pair to an island.
    fn add(&mut self, other: &Self) {
        self.part = self.part.max(other.part);
        self.of_load = self.of_load.max(other.of_load);
        self.touches &= other.touches;
        self.slides |= other.slides;
    }
}

/// The difference `wrong` as a part of `force` [-].
fn part(wrong: f64, force: f64) -> f64 {
    if wrong > 0.0 { wrong / force } else { 0.0 }
}

/// Whether both geometries have a flat face across the normal `along` of their contact. Bodies that touch
/// with round sides roll, and their surface at the end is another one anyway.
fn are_flat(pairs: &Pairs, input: &ContactInput<'_>, pair: &ContactPair, along: &Vector3) -> bool {
    [pair.A, pair.B].iter().all(|index| match input.scene.geometries()[*index].shape {
        Shape::Sphere { .. } | Shape::Capsule { .. } | Shape::Ellipsoid { .. } => false,
        Shape::Cylinder { .. } => (pairs.X_WG[*index].rotation.inverse() * along).z.abs() > FLAT_END,
        _ => true,
    })
}

/// Whether both geometries of a pair are compliant: the rims of a surface lean between such bodies. Pairs
/// with linear dissipation are left out: their faces need the stiffness with which they are damped.
fn are_compliant(input: &ContactInput<'_>, pair: &ContactPair) -> bool {
    let is_linear = input.options.dissipation == DissipationModel::Linear && pair.material.relaxation_time > 0.0;
    !is_linear && [pair.A, pair.B].iter().all(|index| input.scene.geometries()[*index].hydroelastic.is_compliant())
}

/// The elastic forces of the faces of a patch.
#[derive(Clone, Copy, Debug, Default)]
struct Forces {
    /// The sum of their sizes \[N\].
    sum: f64,
    /// Their resultant \[N\].
    resultant: Vector3,
    /// The mean normal of the surface.
    along: Vector3,
    /// The sum of their parts across this normal \[N\].
    across: f64,
}

impl Forces {
    /// Those of a patch at the end of a step that ends with the velocities `v`.
    fn of_solution(pairs: &Pairs, active: &ActivePatch, patch: &PatchBlock, v: &[f64]) -> Self {
        let (surface, kept) = pairs.surface(active.pair);
        let mut forces = Self { along: patch_size(surface).along, ..Self::default() };
        let mut before = None;
        for (face, force) in kept.iter().zip(patch.elastic_forces(&patch.velocity(v))) {
            if before.replace(*face) == Some(*face) {
                continue; // a friction part of the previous face
            }
            let normal = &surface.normal[*face as usize];
            forces.sum += force;
            forces.resultant += normal * force;
            forces.across += normal.cross(&forces.along).norm() * force;
        }
        forces
    }

    /// Those of the surface of a pair at the poses `X_WG`; `None` if it does not touch there.
    fn of_end(
        pairs: &mut Pairs,
        input: &ContactInput<'_>,
        (index, pair): (usize, &ContactPair),
        X_WG: &(RigidTransform, RigidTransform),
    ) -> Option<Self> {
        let geometries = input.scene.geometries();
        pairs.with_spare_memory(index, |pairs| {
            pairs.find_surface_at(index, pair, input.scene, input.settings.faces, X_WG)?;
            let surface = pairs.surface(index).0;
            let size = patch_size(surface).within(depth_max(&geometries[pair.A], &geometries[pair.B]));
            let (sum, resultant) = resting_forces(surface, &size);
            Some(Self { sum, resultant, along: size.along, across: 0.0 })
        })
    }

    fn difference(&self, other: &Self) -> f64 {
        (self.sum - other.sum).abs().max((self.resultant - other.resultant).norm())
    }
}
