//! The contacts of a dynamic step: surfaces and points as patches of the convex problem.

use super::closures::fill_closure;
use super::columns::RelativeColumns;
use super::end_surfaces::{About, EndSurfaces, Unresolved};
use super::expected::ExpectedMotion;
use super::free_path::{FreePath, FreePathPoses, parts};
use super::input::ContactInput;
use super::missed::{Missed, depth_max, thickness_of_pair, thinnest};
use super::motion_search::{ACCELERATION_BOUND, MotionSearch, SolveContacts, UNSEEN};
use super::pair_memory::Query;
use super::pairs::{ActivePatch, Pairs, origins, poses};
use super::sleep::Sleepers;
use crate::contact::{
    Discretized, Hold, PatchSize, approach_speed, patch_size, push_faces, push_faces_held, push_faces_with_rims,
};
use crate::math::{SpatialVelocity, Vector3};
use crate::scene::{CollisionGeometry, ContactKind, ContactPair, Scene};
use crate::solvers::dynamic::ContactProblem;

/// A step resolves a contact of stiffness k and inverse effective mass w if dt^2 k w is at most this [-]. A
/// force that does not change within the step then moves the bodies by at most half the depth of the contact,
/// and the surface of the next step follows the motion. From here to twice this value, the changes of
/// [`push_faces_held`] set in gradually.
const RESOLVED: f64 = 0.5;

/// Points are those at the end of free motion if the depth from turning would return as a speed above this
/// [m/s].
const TURNED_SPEED: f64 = 1e-5;

/// The contacts of all pairs of a scene, and their memory.
#[derive(Clone, Debug, Default)]
pub(in crate::stepping) struct DynamicContacts {
    pub(in crate::stepping) pairs: Pairs,
    pub(super) active: Vec<ActivePatch>,
    /// For each active pair, the distance by which its bodies approach each other before they reach the poses
    /// of the surface \[m\]; `None` if these are the poses of the start.
    pub(super) approached: Vec<Option<f64>>,
    /// For each active pair that may be compared with its end, what is known of it.
    pub(super) unresolved: Vec<Option<Unresolved>>,
    /// The patches of [`DynamicContacts::linear_about`].
    pub(super) linear_about: Vec<(u32, SpatialVelocity)>,
    pub(super) columns: RelativeColumns,
    pub(super) ahead: FreePathPoses,
    pub(super) expected: ExpectedMotion,
    pub(super) reached: MotionSearch,
    pub(super) ends: EndSurfaces,
    /// The pairs whose contacts several threads find before they are assembled.
    queries: Vec<(u32, Query)>,
    pub(in crate::stepping) sleep: Sleepers,
    /// Whether the next assembly is the first of a step.
    first: bool,
    /// The pairs in contact in the step before, if the problem still has their patches.
    active_before: Vec<ActivePatch>,
    /// The last pair that met too fast for the step, or that its pressure did not stop.
    pub(in crate::stepping) missed: Option<Missed>,
    pub(in crate::stepping) faces: u32,
    pub(in crate::stepping) faces_dropped: u32,
}

impl DynamicContacts {
    /// The pairs in contact, in the order of their patches in the problem.
    pub(in crate::stepping) fn active(&self) -> &[ActivePatch] {
        &self.active
    }

    /// The coefficients of restitution of the pairs in contact, in the order of their patches.
    pub(in crate::stepping) fn restitution<'a>(&'a self, scene: &'a Scene) -> impl Iterator<Item = f64> + 'a {
        let pairs = scene.contact_pairs();
        self.active.iter().map(|active| pairs[active.pair].restitution().unwrap_or(0.0))
    }

    /// Stores the loads of the solved `problem` at the velocities `v` for the next step: the largest impulses
    /// of rigid points, and the elastic energies of pressure fields. Surfaces on the free path get the
    /// pressures of the end of the step. A pair whose pressure does not stop it at these velocities is
    /// recorded in `missed`.
    pub(in crate::stepping) fn note_loads(&mut self, scene: &Scene, problem: &ContactProblem, v: &[f64], step: f64) {
        for ((active, approached), patch) in self.active.iter().zip(&self.approached).zip(problem.patches()) {
            if self.sleep.holds(&scene.contact_pairs()[active.pair]) {
                continue;
            }
            let V = patch.velocity(v);
            match scene.contact_pairs()[active.pair].kind {
                ContactKind::Points => self.pairs.note_point_impulse(active.pair, patch.largest_normal_impulse(&V)),
                ContactKind::PressureField => {
                    let missed = self.pairs.find_not_stopped(scene, active, &V, step, approached.unwrap_or(0.0));
                    self.missed = missed.or(self.missed);
                    self.pairs.note_energy(active.pair, patch.elastic_energy(&V));
                    if approached.is_some() {
                        self.pairs.set_pressures(active.pair, patch.elastic_forces(&V));
                    }
                }
            }
        }
        self.pairs.end_step();
    }

    /// Starts a step: no pair is searched along the motion of a solve.
    pub(in crate::stepping) fn begin(&mut self, pairs: usize) {
        self.reached.begin(pairs);
        self.ends.begin(pairs);
        self.first = true;
    }

    /// Lets rigid bodies that land move on by a `share` of their approach within the step, by the damping of
    /// their contact law [-].
    pub(in crate::stepping) fn land_with(&mut self, share: f64) {
        self.reached.landing = share;
    }

    /// Keeps what a failed step must not change.
    pub(in crate::stepping) fn keep(&mut self) {
        self.pairs.keep_loads();
        self.sleep.keep();
    }

    /// Returns to what [`DynamicContacts::keep`] has kept.
    pub(in crate::stepping) fn restore(&mut self) {
        self.pairs.restore_loads();
        self.sleep.restore();
        self.active.clear();
    }

    /// Whether the motion of a solve that ends with the velocities `v` takes a pair into a contact that the
    /// problem does not contain, so that the step is to be assembled and solved again. A pair that cannot be
    /// searched, or not any more, is recorded in `missed`.
    pub(in crate::stepping) fn reaches_farther(&mut self, input: &ContactInput<'_>, v: &[f64]) -> bool {
        let Self { pairs, active, columns, ahead, reached, sleep, .. } = self;
        let (again, missed) = reached.search(&mut SolveContacts { pairs, active, columns, ahead, sleep }, input, v);
        self.missed = missed.or(self.missed);
        again
    }

    /// A pair that only the motion of a solve has brought together in this step.
    pub(in crate::stepping) fn searched_pair(&self) -> Option<usize> {
        self.reached.first_found()
    }

    /// Finds all contact surfaces and points, and adds their patches and those of loop closures to `problem`.
    pub(in crate::stepping) fn assemble(&mut self, input: &ContactInput<'_>, problem: &mut ContactProblem) {
        let ContactInput { scene, data, .. } = *input;
        self.pairs.update_poses(scene, data);
        self.pairs.bound_speeds(scene, data);
        let sleep = input.options.sleep.filter(|_| input.motion.is_some());
        if self.first
            && let Some(sleep) = sleep
        {
            self.sleep.observe(scene, self.pairs.speeds.iter(), (&sleep, input.settings.step()), input.external);
            problem.keep_patches();
            std::mem::swap(&mut self.active, &mut self.active_before);
        }
        if let Some(path) = input.path() {
            self.ahead.begin(path);
            if path.pushed {
                self.pairs.raise_speed_bounds(scene, self.ahead.at(path, 1.0), path.step);
            }
        }
        if self.first
            && let Some(path) = &input.motion
        {
            self.expected.begin(&self.pairs, scene, path);
        }
        self.active.clear();
        self.approached.clear();
        self.unresolved.clear();
        self.linear_about.clear();
        (self.faces, self.faces_dropped, self.missed) = (0, 0, None);
        // Half of each pair's own bound on the path of its two geometries
        let acceleration = (0.5 * ACCELERATION_BOUND).max(scene.model().gravity_W().norm());
        let way = (input.settings.step(), acceleration);
        let near = self.pairs.select(scene, way, input.path().is_some(), self.reached.all_searched());
        if sleep.is_some() {
            // The motion of a solve may reach farther than the speeds of the start let expect
            let touches =
                |index: usize, pair: &ContactPair| self.pairs.may_touch(pair) || self.reached.searched(index).is_some();
            self.sleep.find(scene, &near, touches);
            problem.hold_blocks(|tree| self.sleep.is_asleep(tree));
        }
        self.first = false;
        self.find_ahead(input, &near);
        for index in &near {
            let index = *index as usize;
            let pair = &scene.contact_pairs()[index];
            if self.sleep.holds(pair) {
                self.assemble_held(input, (index, pair), problem);
                continue;
            }
            self.assemble_pair(input, (index, pair), problem);
        }
        self.pairs.give_back(near);
        let (model, step) = (scene.model(), input.settings.step());
        for closure in scene.closures() {
            let (block, A) = problem.add_patch();
            let at = (step, &[0.0; 6]);
            fill_closure(
                closure,
                model,
                (data, data, input.later),
                at,
                |dof| A.diagonal(dof),
                &mut self.columns,
                block,
            );
        }
    }

    fn assemble_pair(
        &mut self,
        input: &ContactInput<'_>,
        (index, pair): (usize, &ContactPair),
        problem: &mut ContactProblem,
    ) {
        match pair.kind {
            ContactKind::PressureField => self.assemble_surface(input, index, pair, problem),
            ContactKind::Points => self.assemble_points(input, index, pair, problem),
        }
    }

    /// Adds the patch that a pair of bodies that sleep had in the step before. After a checkpoint there is
    /// none, and it is found again without a change of the loads.
    fn assemble_held(
        &mut self,
        input: &ContactInput<'_>,
        (index, pair): (usize, &ContactPair),
        problem: &mut ContactProblem,
    ) {
        if let Ok(number) = self.active_before.binary_search_by_key(&index, |active| active.pair) {
            problem.hold_patch(number);
            self.faces += problem.patches().last().map_or(0, |patch| patch.len() as u32);
            self.active.push(self.active_before[number]);
            self.approached.push(None);
            self.unresolved.push(None);
        } else if self.active_before.is_empty() {
            let (loads, before) = (*self.pairs.loads_mut(index), self.unresolved.len());
            let counts = (self.faces, self.faces_dropped);
            self.assemble_pair(input, (index, pair), problem);
            if let Some(path) = input.path()
                && self.unresolved[before..].iter().any(Option::is_some)
            {
                // The forces that held the bodies were those of the end of a step
                problem.pop_patch();
                (self.faces, self.faces_dropped) = counts;
                self.active.truncate(before);
                self.approached.truncate(before);
                self.unresolved.truncate(before);
                self.assemble_about(input, path, (index, pair, About::Rest, None), problem);
            }
            *self.pairs.loads_mut(index) = loads;
            self.unresolved[before..].fill(None);
        }
    }

    /// Finds the contacts of the `near` pairs at the start of the step with several threads, as far as the
    /// assembly asks for them first.
    fn find_ahead(&mut self, input: &ContactInput<'_>, near: &[u32]) {
        let ContactInput { scene, settings, .. } = *input;
        if settings.threads < 2 {
            return;
        }
        let mut queries = std::mem::take(&mut self.queries);
        queries.clear();
        for index in near {
            let pair = &scene.contact_pairs()[*index as usize];
            if self.sleep.holds(pair) {
                continue;
            }
            let query = match pair.kind {
                ContactKind::PressureField => self.pairs.near(pair, 0.0).then_some(Query::Surface(settings.faces)),
                ContactKind::Points => self.points_at_start(input, (*index as usize, pair)).map(Query::Points),
            };
            queries.extend(query.map(|query| (*index, query)));
        }
        self.pairs.find_ahead(scene, &queries, settings.threads);
        self.queries = queries;
    }

    /// The distance within which the points of a rigid pair are searched at the poses of the start \[m\];
    /// `None` if it is far away, or if other poses may be searched first.
    fn points_at_start(&mut self, input: &ContactInput<'_>, (index, pair): (usize, &ContactPair)) -> Option<f64> {
        let geometries = input.scene.geometries();
        let thickness = thickness_of_pair(&geometries[pair.A], &geometries[pair.B]);
        let detection = self.reached.point_detection(&self.pairs, input, (index, pair));
        let turns = input.path().is_some_and(|path| self.turns(input, path, pair));
        let usual = !turns && detection <= thickness && self.reached.searched(index).is_none();
        (usual && self.pairs.near(pair, detection)).then_some(detection)
    }

    /// Whether the points of a rigid pair are those at the end of free motion, because its bodies turn.
    pub(super) fn turns(&self, input: &ContactInput<'_>, path: &FreePath<'_>, pair: &ContactPair) -> bool {
        let ContactInput { scene, data, .. } = *input;
        let geometries = scene.geometries();
        let spin = |geometry: &CollisionGeometry| data.V_WB[geometry.body].w.norm_squared();
        let spin = spin(&geometries[pair.A]).max(spin(&geometries[pair.B]));
        let depth = 0.5 * path.step * path.step * spin * self.pairs.smaller_radius(pair, scene);
        depth > TURNED_SPEED * path.step
    }

    fn assemble_surface(
        &mut self,
        input: &ContactInput<'_>,
        index: usize,
        pair: &ContactPair,
        problem: &mut ContactProblem,
    ) {
        let ContactInput { scene, settings, data, .. } = *input;
        let near = self.pairs.near(pair, 0.0);
        let mut here = if near { self.pairs.find_surface(index, pair, scene, settings.faces) } else { None };
        let Some(path) = input.path() else {
            if let Some(p_WC) = here {
                let (block, momentum_matrix) = problem.add_patch();
                input.columns_on_path(pair, &p_WC, data, &mut self.columns);
                input.start_patch(pair, momentum_matrix, &self.columns, block);
                let (surface, kept) = self.pairs.surface_mut(index);
                let count = push_faces(surface, &p_WC, settings.face_friction, block, kept);
                let p_WBo = origins(scene, pair, data);
                self.add_active(ActivePatch { pair: index, p_WC, p_WBo }, count, (None, None));
            } else {
                if near {
                    self.faces_dropped += self.pairs.surface(index).0.len() as u32;
                }
            }
            return;
        };
        let energy_before = self.pairs.take_energy(index);
        let search = self.reached.searched(index);
        let about = self.ends.about(index);
        if about != About::Usual {
            if search.is_none() && self.assemble_about(input, path, (index, pair, about, energy_before), problem) {
                return;
            }
            self.ends.return_to_usual(index);
            here = here.and_then(|_| self.pairs.find_surface(index, pair, scene, settings.faces));
        }
        let dropped = if near && here.is_none() { self.pairs.surface(index).0.len() as u32 } else { 0 };
        let geometries = scene.geometries();
        let mut hold = Hold {
            step: path.step,
            inverse_mass: 0.0,
            share: 1.0,
            ahead: 0.0,
            V_free: SpatialVelocity::ZERO,
            touches: here.is_some(),
            energy_before,
            fall: path.step * path.model.gravity_W().norm(),
            depth_max: depth_max(&geometries[pair.A], &geometries[pair.B]),
        };
        let (mut found, mut p_WBo) = (here, origins(scene, pair, data));
        // A surface on the path replaces that of the start if it is deeper than this
        let mut least = Some(0.0);
        if let Some(p_WC) = here {
            input.columns_on_path(pair, &p_WC, data, &mut self.columns);
            let V = self.ahead.velocity(self.columns.columns());
            let (block, momentum_matrix) = problem.add_patch();
            input.start_patch(pair, momentum_matrix, &self.columns, block);
            let (surface, kept) = self.pairs.surface_mut(index);
            let size = patch_size(surface).within(hold.depth_max);
            let PatchSize { depth, along, .. } = size;
            let count = push_faces_with_rims(surface, (&p_WC, &size), settings.face_friction, block, kept);
            let (force, stiffness) = block.elastic_sums();
            let (surface, _) = self.pairs.surface(index);
            let inverse_mass = self.columns.patch_inverse_mass(&along, momentum_matrix);
            let ratio = path.step * path.step * inverse_mass * stiffness.max(force / depth);
            let reach = path.step * (V.v.norm() + V.w.norm() * 2.0 * self.pairs.smaller_radius(pair, scene));
            let slow = reach * stiffness <= force || path.step * approach_speed(surface, &p_WC, &V) <= depth;
            let unseen = UNSEEN * thinnest(&geometries[pair.A], &geometries[pair.B]);
            if ratio <= RESOLVED && slow && reach <= unseen && search.is_none() {
                self.add_active(ActivePatch { pair: index, p_WC, p_WBo }, count, (None, None));
                return;
            }
            problem.pop_patch();
            self.pairs.surface_mut(index).1.clear();
            hold.share = (ratio / RESOLVED - 1.0).clamp(0.0, 1.0);
            least = match (slow, reach <= unseen) {
                (true, true) => None,
                (true, false) => Some(2.0 * depth),
                (false, _) => Some(unseen.max(2.0 * depth)),
            };
            if !slow {
                found = None;
            }
        }
        if let Some(search) = search {
            if let Some((p_WC, part)) = self.reached.find(&mut self.pairs, input, (index, pair), search) {
                let motion = self.reached.motion(search);
                let there = motion.at(path, part);
                input.columns_on_path(pair, &p_WC, there, &mut self.columns);
                p_WBo = origins(scene, pair, there);
                hold.share = 1.0;
                hold.ahead = part * path.step;
                hold.V_free = motion.velocity(self.columns.columns());
                found = Some(p_WC);
            } else if here.is_some() {
                found = self.pairs.find_surface(index, pair, scene, settings.faces);
            }
        } else if let Some(least) = least {
            let touching = here.is_some();
            let mut ahead = self.find_on_free_path(input, path, index, pair, least);
            if ahead.is_none() && touching && found.is_none() {
                ahead = self.find_on_free_path(input, path, index, pair, 0.0);
            }
            if let Some((p_WC, part)) = ahead {
                let there = self.ahead.at(path, part);
                input.columns_on_path(pair, &p_WC, there, &mut self.columns);
                p_WBo = origins(scene, pair, there);
                hold.share = 1.0;
                hold.ahead = part * path.step;
                hold.V_free = self.ahead.velocity(self.columns.columns());
                found = Some(p_WC);
            } else if touching {
                found = self.pairs.find_surface(index, pair, scene, settings.faces);
            }
        }
        let Some(p_WC) = found else {
            self.faces_dropped += dropped;
            return;
        };
        let (block, momentum_matrix) = problem.add_patch();
        input.start_patch(pair, momentum_matrix, &self.columns, block);
        let (surface, kept) = self.pairs.surface_mut(index);
        hold.inverse_mass = self.columns.patch_inverse_mass(&patch_size(surface).along, momentum_matrix);
        let approached = (hold.ahead > 0.0).then(|| hold.ahead * approach_speed(surface, &p_WC, &hold.V_free));
        let along = patch_size(surface).along;
        let count = push_faces_held(surface, &p_WC, &hold, settings.face_friction, block, kept);
        let unresolved = Unresolved::of(&hold, &along).filter(|_| search.is_none());
        self.add_active(ActivePatch { pair: index, p_WC, p_WBo }, count, (approached, unresolved));
    }

    pub(super) fn add_active(
        &mut self,
        active: ActivePatch,
        count: Discretized,
        (approached, unresolved): (Option<f64>, Option<Unresolved>),
    ) {
        self.approached.push(approached);
        self.unresolved.push(unresolved);
        self.faces += count.kept;
        self.faces_dropped += count.dropped;
        self.active.push(active);
    }

    /// The first surface of a pair on the free path of its bodies that is deeper than `least` \[m\]. Returns
    /// its patch point [m, world], and the fraction of the step after which the bodies have the poses of this
    /// surface.
    pub(super) fn find_on_free_path(
        &mut self,
        input: &ContactInput<'_>,
        path: &FreePath<'_>,
        index: usize,
        pair: &ContactPair,
        least: f64,
    ) -> Option<(Vector3, f64)> {
        let ContactInput { scene, settings, data, .. } = *input;
        let geometries = scene.geometries();
        let (a, b) = (&geometries[pair.A], &geometries[pair.B]);
        let weight = 2.0 * path.step * path.model.gravity_W().norm();
        if !self.pairs.near(pair, path.step * (self.pairs.speed_bound(pair) + weight)) {
            return None;
        }
        if !self.pairs.boxes_swept_to_overlap(pair, scene, &poses(scene, pair, self.ahead.at(path, 1.0))) {
            return None;
        }
        let speed = match path.pushed {
            true => self.pairs.speed_bound(pair),
            false => self.pairs.approach_speed(pair, scene, data),
        };
        let travel = path.step * (speed + weight);
        let thickness = thinnest(a, b);
        let count = parts(travel, thickness);
        let found = (1..=count).find_map(|number| {
            let part = f64::from(number) / f64::from(count);
            let X_WG = poses(scene, pair, self.ahead.at(path, part));
            let p_WC = self.pairs.find_surface_at(index, pair, scene, settings.faces, &X_WG)?;
            (least == 0.0 || patch_size(self.pairs.surface(index).0).depth > least).then_some((p_WC, part))
        });
        // The parts are too long to find all contacts
        let part = travel / f64::from(count);
        if found.is_none() && part > thickness {
            self.missed = Some(Missed { pair: index, travel, pressed: None, depth: f64::INFINITY });
        }
        found
    }
}
