//! Contacts that the motion of a solved step reaches and its problem does not contain.
//!
//! The free path of the bodies has neither the efforts of actuators nor the forces of other contacts. After a
//! solve, the poses at its end are therefore compared with those of the path. A pair that comes nearer than
//! the path predicted is searched along the solved motion, and the step is solved again with what is found.

use super::barrier::{Barrier, Passage, Passing};
use super::columns::RelativeColumns;
use super::first_overlap::first_overlap;
use super::free_path::{FreePathPoses, parts};
use super::input::ContactInput;
use super::missed::{Missed, thickness_of_pair};
use super::pairs::{ActivePatch, Pairs, poses};
use super::sleep::Sleepers;
use super::way::Way;
use crate::contact::{approach_speed, patch_size};
use crate::math::Vector3;
use crate::scene::{ContactKind, ContactPair};

/// The largest number of solves of a step. Each may find contacts that the one before did not reach.
const SOLVES_MAX: usize = 8;

/// A pair is searched along the solved motion if its bodies come nearer to each other than on the free path
/// by more than this fraction of the thickness of the thinner compliant one. A contact that is found in the
/// next step instead is pressed in by this fraction at most. [-]
const UNEXPECTED: f64 = 0.01;

/// Upper bound on the accelerations of bodies within a step [m/s2]. With the speeds it gives the distance
/// within which rigid geometries may touch before the step ends.
pub(super) const ACCELERATION_BOUND: f64 = 100.0;

/// Bodies that touch may also meet elsewhere if their points approach each other within a step by more than
/// this fraction of the thickness of the thinner compliant one. [-]
pub(super) const UNSEEN: f64 = 0.25;

/// Rigid bodies that turn may overlap by this part of the thickness of the thinner one in a step [-].
const OVERLAP: f64 = 0.1;

/// Rigid points are searched up to this multiple of the approach that a solve of the step had [-].
const POINT_MARGIN: f64 = 1.25;

/// The motions of the solves of one step, and the pairs that are searched along them.
#[derive(Clone, Debug, Default)]
pub(super) struct MotionSearch {
    /// The share of their approach by which rigid bodies that land move on within a step [-].
    pub(super) landing: f64,
    /// The number of solves whose motion had to be searched.
    rounds: usize,
    motions: Vec<FreePathPoses>,
    searched: Vec<Option<Search>>,
    /// The pairs with a search.
    searched_pairs: Vec<u32>,
    /// The first pair that was expected to stay apart, and touches in the motion of a solve.
    unexpected: Option<usize>,
    /// The plane of the pair that is being searched.
    passing: Option<Barrier>,
    /// Whether the pair that is being searched passes and nothing is known that could hold it.
    is_unknown: bool,
}

/// A search of a pair along the motion of a solve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    /// The number of the solve.
    round: usize,
    /// Surfaces up to this depth do not count \[m\].
    least: f64,
    /// The plane that keeps two rigid geometries apart which the motion takes through each other.
    pub(super) barrier: Option<Barrier>,
}

/// The contacts of the last solve.
pub(super) struct SolveContacts<'a> {
    pub(super) pairs: &'a mut Pairs,
    pub(super) active: &'a [ActivePatch],
    pub(super) columns: &'a mut RelativeColumns,
    pub(super) ahead: &'a mut FreePathPoses,
    /// The bodies that do not move.
    pub(super) sleep: &'a Sleepers,
}

impl MotionSearch {
    /// Starts a step with this number of pairs.
    pub(super) fn begin(&mut self, pairs: usize) {
        self.rounds = 0;
        self.unexpected = None;
        for pair in self.searched_pairs.drain(..) {
            self.searched[pair as usize] = None;
        }
        self.searched.resize(pairs, None);
    }
    /// The pairs that a solve has shown to need a search.
    pub(super) fn all_searched(&self) -> impl Iterator<Item = u32> + '_ {
        self.searched_pairs.iter().copied()
    }
    /// A pair that only the motion of a solve has brought together.
    pub(super) fn first_found(&self) -> Option<usize> {
        self.searched_pairs.first().map(|pair| *pair as usize).or(self.unexpected)
    }
    /// The search of a pair, if a solve has shown that it needs one.
    pub(super) fn searched(&self, pair: usize) -> Option<Search> {
        self.searched.get(pair).copied().flatten()
    }
    /// The motion of the solve of a search.
    pub(super) fn motion(&mut self, search: Search) -> &mut FreePathPoses {
        &mut self.motions[search.round]
    }

    /// Searches the pairs that the motion of a solve which ends with the velocities `v` takes nearer to each
    /// other than expected. Returns whether the problem lacks a contact that the next assembly can add, and a
    /// pair for which it cannot.
    pub(super) fn search(
        &mut self,
        solved: &mut SolveContacts<'_>,
        input: &ContactInput<'_>,
        v: &[f64],
    ) -> (bool, Option<Missed>) {
        let pairs = input.scene.contact_pairs();
        let Some(path) = input.motion.as_ref().filter(|_| !pairs.is_empty()) else { return (false, None) };
        let round = self.rounds;
        if round == self.motions.len() {
            self.motions.push(FreePathPoses::default());
        }
        let mut motion = std::mem::take(&mut self.motions[round]);
        motion.follow(v);
        solved.pairs.sweep_boxes(input.scene, motion.at(path, 1.0));
        let (mut again, mut last) = (false, None);
        let swept_pairs = solved.pairs.take_swept_pairs(input.scene);
        for index in &swept_pairs {
            let index = *index as usize;
            let pair = &pairs[index];
            if solved.sleep.holds(pair) || !solved.pairs.swept_boxes_overlap(pair) {
                continue;
            }
            if let Some(gap) = solved.pairs.expected_apart(index) {
                let Some(missed) = unexpected_touch(solved, input, &mut motion, (index, pair), gap) else { continue };
                if round + 1 < SOLVES_MAX {
                    // Motion that runs through a row of bodies reaches many of them
                    match round {
                        0 => solved.pairs.expect_touch(index),
                        _ => solved.pairs.expect_touches(),
                    }
                    self.unexpected.get_or_insert(index);
                    again = true;
                } else {
                    last = Some(missed);
                }
                continue;
            }
            (self.passing, self.is_unknown) = (None, false);
            let missed = match pair.kind {
                ContactKind::PressureField => self.surface(solved, input, &mut motion, (index, pair)),
                ContactKind::Points => self.points(solved, input, &mut motion, (index, pair)),
            };
            let Some((missed, least)) = missed else { continue };
            if self.is_unknown {
                last = Some(missed);
            } else if round + 1 < SOLVES_MAX && (input.path().is_some() || pair.kind == ContactKind::Points) {
                let barrier = self.passing.take().or_else(|| self.searched(index)?.barrier);
                if self.searched[index].replace(Search { round, least, barrier }).is_none() {
                    self.searched_pairs.push(index as u32);
                }
                again = true;
            } else if least > 0.0 || missed.depth == f64::INFINITY || missed.travel > 2.0 * UNEXPECTED * missed.depth {
                // The next step finds a touch at the end of this one.
                last = Some(missed);
            }
        }
        solved.pairs.return_swept_pairs(swept_pairs);
        self.motions[round] = motion;
        self.rounds += usize::from(again);
        (again, last)
    }

    /// The surface that the pair meets in the motion of a solve and that the problem does not contain.
    fn surface(
        &self,
        solved: &mut SolveContacts<'_>,
        input: &ContactInput<'_>,
        motion: &mut FreePathPoses,
        (index, pair): (usize, &ContactPair),
    ) -> Option<(Missed, f64)> {
        let ContactInput { scene, settings, data, .. } = *input;
        let path = input.motion.as_ref()?;
        let is_active = solved.active.binary_search_by_key(&index, |active| active.pair).is_ok();
        if is_active && input.path().is_none() {
            return None;
        }
        let thickness = thickness_of_pair(&scene.geometries()[pair.A], &scene.geometries()[pair.B]);
        let (depth, end) = (0.5 * thickness, motion.at(path, 1.0));
        let travel = solved.pairs.approach(pair, scene, data, end);
        let mut least = 0.0;
        if input.path().is_some() {
            let unexpected = solved.pairs.approach(pair, scene, solved.ahead.at(path, 1.0), end);
            if unexpected <= UNEXPECTED * thickness {
                return None;
            }
            // A pair that a search has found may meet elsewhere in the motion that its contact leaves.
            if is_active || self.searched(index).is_some() {
                least = UNSEEN * thickness;
                if travel <= least {
                    return None;
                }
                if is_active {
                    least = least.max(2.0 * patch_size(solved.pairs.surface(index).0).depth);
                }
            }
        } else if travel <= depth {
            return None;
        }
        let count = parts(travel, thickness) * if input.path().is_some() { 1 } else { 4 };
        let faces = settings.faces;
        let columns = &mut *solved.columns;
        let travel = solved.pairs.with_spare_memory(index, |pairs| {
            let mut found = (1..=count).find_map(|number| {
                let part = f64::from(number) / f64::from(count);
                let X_WG = poses(scene, pair, motion.at(path, part));
                let p_WC = pairs.find_surface_at(index, pair, scene, faces, &X_WG)?;
                let surface = pairs.surface(index).0;
                if least > 0.0 && patch_size(surface).depth <= least {
                    return None;
                }
                input.columns_at(pair, &p_WC, data, columns);
                let V = motion.velocity(columns.columns());
                let farther = (1.0 - part) * settings.step() * approach_speed(surface, &p_WC, &V);
                let pressed = if input.path().is_some() { patch_size(surface).depth } else { 0.0 };
                Some(farther + pressed)
            });
            if input.path().is_none() {
                // Only bodies that pass through each other, or beyond the middle of one
                let X_WG = poses(scene, pair, motion.at(path, 1.0));
                let apart = pairs.find_surface_at(index, pair, scene, faces, &X_WG).is_none();
                found = found.filter(|travel| *travel > if apart { 0.1 * depth } else { depth });
            }
            found
        });
        travel.map(|travel| (Missed { pair: index, travel, pressed: None, depth }, least))
    }

    /// The points that the pair meets in the `motion` of a solve and that the problem does not contain. Those
    /// that a search has not stopped from passing each other get a plane between them, if there is one.
    fn points(
        &mut self,
        solved: &mut SolveContacts<'_>,
        input: &ContactInput<'_>,
        motion: &mut FreePathPoses,
        (index, pair): (usize, &ContactPair),
    ) -> Option<(Missed, f64)> {
        let ContactInput { scene, data, .. } = *input;
        let path = input.motion.as_ref()?;
        let search = self.searched(index);
        if search.is_none()
            && let Some(found) = self.points_of_search(solved, input, motion, (index, pair))
        {
            return Some(found);
        }
        let known = search.and_then(|search| search.barrier);
        let landing = match self.landing {
            0.0 => 0.0,
            share => share * path.step * solved.pairs.approach_speed(pair, scene, data),
        };
        let passage = Passage::of(solved.pairs, (scene, data, path), (index, pair), (motion, landing));
        let is_active = solved.active.binary_search_by_key(&index, |active| active.pair).is_ok();
        let normal = solved.pairs.points(index).normal.first().copied().filter(|_| is_active);
        let passing = passage
            .and_then(|passage| solved.pairs.with_spare_memory(index, |pairs| passage.find(pairs, known, normal)));
        match passing {
            Some(Passing::Of(barrier)) => self.passing = Some(barrier),
            None if known.is_some() => return None,
            None | Some(Passing::Unknown) => {
                if search.is_some()
                    && let Some(found) = self.points_of_search(solved, input, motion, (index, pair))
                {
                    return Some(found);
                }
                passing?;
                self.is_unknown = true;
            }
        }
        let travel = solved.pairs.approach(pair, scene, data, motion.at(path, 1.0));
        Some((Missed { pair: index, travel, pressed: None, depth: f64::INFINITY }, 0.0))
    }

    /// The points that the pair meets in the `motion` of a solve, beyond the distance at which points were
    /// searched, or beside the points of the start because its bodies turn.
    fn points_of_search(
        &mut self,
        solved: &mut SolveContacts<'_>,
        input: &ContactInput<'_>,
        motion: &mut FreePathPoses,
        (index, pair): (usize, &ContactPair),
    ) -> Option<(Missed, f64)> {
        let ContactInput { scene, data, .. } = *input;
        let path = input.motion.as_ref()?;
        let travel = solved.pairs.approach(pair, scene, data, motion.at(path, 1.0));
        let thickness = thickness_of_pair(&scene.geometries()[pair.A], &scene.geometries()[pair.B]);
        let passes = travel > thickness
            && solved.pairs.with_spare_memory(index, |pairs| {
                first_overlap(pairs, (scene, data, path), (index, pair), motion, OVERLAP).is_some()
            });
        if passes {
            return Some((Missed { pair: index, travel, pressed: None, depth: f64::INFINITY }, 0.0));
        }
        let detection = self.point_detection(solved.pairs, input, (index, pair));
        if travel <= detection {
            return None;
        }
        let nearest = solved.pairs.with_spare_memory(index, |pairs| {
            pairs.find_points(index, pair, scene, POINT_MARGIN * travel)?;
            let phi = pairs.points(index).phi.iter().copied();
            Some(phi.filter(|phi| *phi > detection).fold(f64::INFINITY, f64::min)).filter(|phi| *phi < travel)
        });
        nearest.map(|_| (Missed { pair: index, travel, pressed: None, depth: f64::INFINITY }, 0.0))
    }

    /// The distance at which the points of a pair are searched \[m\]: as far as its speed and an acceleration
    /// within a bound can take it, or farther if a solve has shown that it moves more.
    pub(super) fn point_detection(
        &mut self,
        pairs: &Pairs,
        input: &ContactInput<'_>,
        (index, pair): (usize, &ContactPair),
    ) -> f64 {
        let step = input.settings.step();
        let speed = pairs.approach_speed(pair, input.scene, input.data);
        let usual = step * (speed + step * ACCELERATION_BOUND);
        let (Some(search), Some(path)) = (self.searched(index), &input.motion) else { return usual };
        let end = self.motion(search).at(path, 1.0);
        usual.max(POINT_MARGIN * pairs.approach(pair, input.scene, input.data, end))
    }

    /// The surface of a pair that its `search` has found: its patch point [m, world], and the fraction of the
    /// step.
    pub(super) fn find(
        &mut self,
        pairs: &mut Pairs,
        input: &ContactInput<'_>,
        (index, pair): (usize, &ContactPair),
        search: Search,
    ) -> Option<(Vector3, f64)> {
        let ContactInput { scene, settings, data, .. } = *input;
        let path = input.motion.as_ref()?;
        let geometries = scene.geometries();
        let motion = self.motion(search);
        let travel = pairs.approach(pair, scene, data, motion.at(path, 1.0));
        let count = parts(travel, thickness_of_pair(&geometries[pair.A], &geometries[pair.B]));
        (1..=count).find_map(|number| {
            let part = f64::from(number) / f64::from(count);
            let X_WG = poses(scene, pair, motion.at(path, part));
            let p_WC = pairs.find_surface_at(index, pair, scene, settings.faces, &X_WG)?;
            let depth = || patch_size(pairs.surface(index).0).depth;
            (search.least == 0.0 || depth() > search.least).then_some((p_WC, part))
        })
    }
}

/// A pair with the distance `gap` \[m\] at the start of the step that was expected to stay apart, if the
/// motion of a solve may take it to a touch.
fn unexpected_touch(
    solved: &mut SolveContacts<'_>,
    input: &ContactInput<'_>,
    motion: &mut FreePathPoses,
    (index, pair): (usize, &ContactPair),
    gap: f64,
) -> Option<Missed> {
    let ContactInput { scene, data, .. } = *input;
    let path = input.motion.as_ref()?;
    let travel = solved.pairs.approach(pair, scene, data, motion.at(path, 1.0));
    if travel <= gap {
        return None;
    }
    let is_free = Way::of(solved.pairs, (scene, data, path), (index, pair), (motion, 0.0))
        .is_some_and(|way| solved.pairs.with_spare_memory(index, |pairs| way.is_free(pairs)));
    (!is_free).then_some(Missed { pair: index, travel, pressed: None, depth: f64::INFINITY })
}
