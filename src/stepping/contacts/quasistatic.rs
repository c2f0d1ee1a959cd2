//! The contacts of a quasistatic step: points of rigid geometries as friction cones, and pressure fields as
//! patches.

use super::beyond::BeyondCheck;
use super::carried_slip::{Moved, curvature};
use super::closures::fill_closure;
use super::columns::RelativeColumns;
use super::missed::thinnest;
use super::moved_points::{carried, carried_along, same_point};
use super::pairs::{ActivePatch, Pairs, origins, surface_velocity};
use super::path::{PathCheck, PathMistake, Solution};
use crate::contact::{RECOVERY_SPEED_MAX, mean_point, push_faces_about};
use crate::geometry::{ContactSurface, PointContacts};
use crate::math::{Matrix3, SpatialForce, SpatialVelocity, Vector3};
use crate::multibody::Data;
use crate::scene::{ContactKind, ContactPair, Scene};
use crate::solvers::quasistatic::{ContactKey, QuasistaticProblem};
use crate::solvers::{DissipationLaw, PatchLaw};
use crate::stepping::settings::CommonSettings;

/// A pair that may move farther than its detection distance is searched up to its motion times this factor
/// [-].
const DETECTION_MARGIN: f64 = 1.25;

/// Factor between successive search distances for a support, and the number of searches [-]. From the default
/// of 5 mm they reach 5 km.
const SUPPORT_FACTOR: f64 = 4.0;
const SUPPORT_SEARCHES_MAX: u32 = 10;
/// Between two queries of their surface, the geometries of a pair with a pressure field move by at most their
/// distance plus this fraction of the smaller one's radius, or plus half the thickness of the thinner
/// compliant one if that is less. They then cannot pass beyond the middle of a field undetected. [-]
const MOTION_PART: f64 = 0.2;

/// The stiffness of a point in Coulomb's law \[N/m\]: a micrometre under 100 N. It decides how redundant
/// points share a load.
const POINT_STIFFNESS: f64 = 1e8;

/// A point that sticks under this force creeps at the stiction tolerance \[N\]. Friction that no equation
/// determines then fades, as in the other modes, and does not remain from the first step.
const CREEP_LOAD: f64 = 10.0;

/// A point whose velocity along its normal changes by less than this fraction of that across it has no normal
/// motion, and no force that the step could determine: rounding of a joint's axis that slides along a face
/// leaves 1e-16. [-]
const IMMOVABLE: f64 = 1e-8;

/// The part of the detection distance from which the barrier of a contact point fades. [-]
const FADE_START: f64 = 0.5;
/// The weight that remains at the detection distance and beyond: so little that a point that is found makes
/// no jump. [-]
const FADED: f64 = 1e-8;

/// The rounds in which all rows of a closure are corrected, and the factor by which an error must shrink in
/// each later one [-].
const FREE_ROUNDS: u32 = 3;
const APPROACH: f64 = 0.9;

/// The part of the problem that carries the force of an active patch.
#[derive(Clone, Copy, Debug)]
enum Carrier {
    /// The friction cones from this index on, one for each point of the pair.
    Cones { first: usize },
    /// The patch block with this index.
    Block { number: usize },
}

/// A motion of the pressure fields.
#[derive(Clone, Copy, Debug)]
pub(in crate::stepping) struct FieldMotion {
    /// The largest distance that they move \[m\].
    pub(in crate::stepping) bound: f64,
    /// A bound of the change of the slip that the linearisation does not see, because bodies that move as one
    /// turn \[m\].
    pub(in crate::stepping) curve: f64,
    /// The fraction of the motion that is allowed at once [-]; above 1 if they may move farther.
    pub(in crate::stepping) part: f64,
    /// The same for a longer motion in the same direction, with the fields that only this one reaches.
    pub(in crate::stepping) farthest: f64,
    /// The pair that moves most.
    pub(in crate::stepping) pair: usize,
}

/// The correction of a closure by the errors that the solutions of a step have left.
#[derive(Clone, Copy, Debug, Default)]
struct ClosureCorrection {
    /// The sum of the errors at the end of earlier solutions, by row \[m\] or \[rad\].
    offset: [f64; 6],
    /// The error at the end of the last one.
    last: [f64; 6],
    /// The largest error at the start and at the end \[m\] or \[rad\].
    at_start: f64,
    at_end: f64,
}

/// The contacts of all pairs of a scene, and their memory.
#[derive(Clone, Debug, Default)]
pub(in crate::stepping) struct QuasistaticContacts {
    /// The geometries at the start of the step, where points are found.
    start: Pairs,
    /// The geometries where the pressure fields are linearised; at convergence, those at the end of the step.
    end: Pairs,
    /// The distance below which each pair of rigid geometries takes part in this step \[m\].
    detection: Vec<f64>,
    /// The detection distance of pairs that do not move \[m\].
    at_rest: f64,
    active: Vec<ActivePatch>,
    carriers: Vec<Carrier>,
    impulses: Vec<SpatialForce>,
    columns: RelativeColumns,
    /// The larger diagonal entry of Q and the mass matrix, for each degree of freedom [kg, kg m2].
    diagonal: Vec<f64>,
    closures: Vec<ClosureCorrection>,
    path: PathCheck,
    pub(in crate::stepping) beyond: BeyondCheck,
    pub(in crate::stepping) faces: u32,
    pub(in crate::stepping) faces_dropped: u32,
}

/// Tangents t1, t2 that make a right-handed frame with n: t1 x t2 = n.
fn tangents(n: &Vector3) -> (Vector3, Vector3) {
    tangents_along(n, smallest_axis(n))
}

/// The axis that is most nearly perpendicular to n.
pub(in crate::stepping) fn smallest_axis(n: &Vector3) -> usize {
    (0..3).fold(0, |least, i| if n[i].abs() < n[least].abs() { i } else { least })
}

/// Tangents, the first of which is nearest to an axis.
fn tangents_along(n: &Vector3, axis: usize) -> (Vector3, Vector3) {
    let mut along = Vector3::zeros();
    along[axis] = 1.0;
    let t1 = (along - n * n[axis]).normalize();
    (t1, n.cross(&t1))
}

/// R_FW of the contact axes (n, t1, t2) with t1 nearest to a given axis, which small turns of n do not
/// change.
pub(in crate::stepping) fn frame_about(n: &Vector3, axis: usize) -> Matrix3 {
    let (t1, t2) = tangents_along(n, axis);
    Matrix3::from_rows(&[n.transpose(), t1.transpose(), t2.transpose()])
}

impl QuasistaticContacts {
    pub(in crate::stepping) fn active(&self) -> &[ActivePatch] {
        &self.active
    }
    pub(in crate::stepping) fn impulses(&self) -> &[SpatialForce] {
        &self.impulses
    }
    pub(in crate::stepping) fn points(&self, pair: usize) -> &PointContacts {
        self.start.points(pair)
    }
    pub(in crate::stepping) fn surface(&self, pair: usize) -> (&ContactSurface, &[u32]) {
        self.end.surface(pair)
    }

    /// Starts a step at the poses in `data`, which also holds the expected velocities. Finds the points of
    /// rigid pairs that are nearer than `detection` \[m\], or may touch within the step h \[s\] at these
    /// velocities.
    pub(in crate::stepping) fn start(&mut self, scene: &Scene, data: &Data, h: f64, detection: f64) {
        self.start.update_poses(scene, data);
        self.start.bound_speeds(scene, data);
        self.detection.clear();
        self.at_rest = detection;
        self.start_closures(scene, data);
        for (index, pair) in scene.contact_pairs().iter().enumerate() {
            let mut expected = DETECTION_MARGIN * h * self.start.speed_bound(pair);
            if expected > detection {
                expected = DETECTION_MARGIN * h * self.start.approach_speed(pair, scene, data);
            }
            self.detection.push(detection.max(expected));
            if pair.kind == ContactKind::Points {
                self.start.find_points(index, pair, scene, self.detection[index]);
            }
        }
    }

    /// Extends the search for the rigid pairs that move farther than their search distance at the velocities
    /// in `data`. Returns whether new points were found.
    pub(in crate::stepping) fn extend_search(&mut self, scene: &Scene, data: &Data, h: f64) -> bool {
        let mut found = false;
        self.start.bound_speeds(scene, data);
        for (index, pair) in scene.contact_pairs().iter().enumerate() {
            if pair.kind != ContactKind::Points || h * self.start.speed_bound(pair) <= self.detection[index] {
                continue;
            }
            let moved = h * self.start.approach_speed(pair, scene, data);
            if moved > self.detection[index] {
                found |= self.find_more(index, pair, scene, DETECTION_MARGIN * moved);
            }
        }
        found
    }

    /// Extends the search for the rigid pairs for which `concerns` is true until a new point is found;
    /// returns whether one was found.
    pub(in crate::stepping) fn find_support(&mut self, scene: &Scene, concerns: impl Fn(usize) -> bool) -> bool {
        for _ in 0..SUPPORT_SEARCHES_MAX {
            let mut found = false;
            for (index, pair) in scene.contact_pairs().iter().enumerate() {
                if pair.kind == ContactKind::Points && concerns(index) {
                    found |= self.find_more(index, pair, scene, SUPPORT_FACTOR * self.detection[index]);
                }
            }
            if found {
                return true;
            }
        }
        false
    }

    /// Finds the points that correspond to those of `like`, one for each, where nearby poses `to` put them;
    /// `from` holds the poses of `like`. A point that is not found again moves with its bodies. Returns the
    /// pair of the first such point that `counts`, by its index among all points.
    pub(in crate::stepping) fn follow(
        &mut self,
        like: &Self,
        scene: &Scene,
        (from, to): (&Data, &Data),
        counts: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        self.start.update_poses(scene, to);
        self.detection.clone_from(&like.detection);
        self.at_rest = like.at_rest;
        let (mut number, mut lost) = (0, None);
        for (index, pair) in scene.contact_pairs().iter().enumerate() {
            if pair.kind != ContactKind::Points {
                continue;
            }
            let bodies = [pair.A, pair.B].map(|geometry| scene.geometries()[geometry].body);
            let here = like.start.points(index);
            let rests = bodies.iter().all(|body| from.X_WB[*body] == to.X_WB[*body]);
            if rests || here.is_empty() {
                self.start.points_mut(index).clone_from(here);
                number += here.len();
                continue;
            }
            self.start.find_points(index, pair, scene, self.detection[index]);
            let found = std::mem::take(self.start.points_mut(index));
            let points = self.start.points_mut(index);
            for (point, (p, n)) in here.p_WC.iter().zip(&here.normal).enumerate() {
                let (p, n, phi) = match same_point(p, n, &found) {
                    Some(same) => (found.p_WC[same], found.normal[same], found.phi[same]),
                    None => {
                        if lost.is_none() && counts(number) {
                            lost = Some(index);
                        }
                        carried(bodies.map(|body| to.X_WB[body] * from.X_WB[body].inverse()), p, n, here.phi[point])
                    }
                };
                points.p_WC.push(p);
                points.normal.push(n);
                points.phi.push(phi);
                number += 1;
            }
        }
        lost
    }

    /// Looks for a pair whose motion the solution (v, impulses of cones and patches) of a step misjudges; for
    /// those with pressure fields only if there are impulses of patches. `start` holds the poses at the start
    /// and the velocities v; `place` writes the poses after a part of the motion.
    pub(in crate::stepping) fn check_path(
        &mut self,
        scene: &Scene,
        start: &Data,
        problem: &QuasistaticProblem,
        (v, impulses, patches): (&[f64], &[Vector3], Option<&[SpatialForce]>),
        mut place: impl FnMut(f64, &mut Data),
    ) -> Option<PathMistake> {
        let (active, carriers) = (&self.active, &self.carriers);
        let cones = || {
            active.iter().zip(carriers).map_while(|(active, carrier)| match carrier {
                Carrier::Cones { first } => Some((active.pair, *first)),
                Carrier::Block { .. } => None,
            })
        };
        let mistake = self.beyond.find_plane((scene, &self.start), problem, (v, impulses), cones(), &mut place);
        let mistake = mistake.or_else(|| {
            let patches = patches?;
            let presses = |pair: usize| {
                let mut all = active.iter().zip(carriers);
                all.any(|(active, carrier)| match carrier {
                    Carrier::Block { number } if active.pair == pair => {
                        patches.get(*number).is_some_and(|impulse| impulse.f != Vector3::zeros())
                    }
                    _ => false,
                })
            };
            let (scene, start) = ((scene, &self.start), (start, problem.step));
            self.beyond.find_turn(scene, start, presses, &mut place)
        });
        if mistake.is_some() {
            return mistake;
        }
        let cones = cones();
        self.path.find(scene, (&mut self.start, start), &Solution { problem, v, impulses }, cones, place)
    }

    fn find_more(&mut self, index: usize, pair: &ContactPair, scene: &Scene, detection: f64) -> bool {
        let before = self.start.points(index).len();
        self.detection[index] = detection;
        self.start.find_points(index, pair, scene, detection);
        self.start.points(index).len() > before
    }

    /// The motion of the pressure fields `along` (poses of the start, velocities, h \[s\]): a bound for the
    /// fields that are near each other, and the fraction that they may move before they are evaluated again.
    pub(in crate::stepping) fn motion_of_fields(&self, scene: &Scene, along: (&Data, &Data, f64)) -> FieldMotion {
        let (_, data, h) = along;
        let mut motion = FieldMotion { bound: 0.0, curve: 0.0, part: f64::INFINITY, farthest: f64::INFINITY, pair: 0 };
        for (index, pair) in scene.contact_pairs().iter().enumerate() {
            if pair.kind != ContactKind::PressureField {
                continue;
            }
            let moved = h * self.end.approach_speed(pair, scene, data);
            let gap = self.end.gap(pair, scene);
            let geometries = scene.geometries();
            let middle = 0.5 * thinnest(&geometries[pair.A], &geometries[pair.B]);
            let allowed = gap.max(0.0) + middle.min(MOTION_PART * self.end.smaller_radius(pair, scene));
            if moved > 0.0 {
                motion.farthest = motion.farthest.min(allowed / moved);
            }
            if gap <= moved {
                motion.curve = motion.curve.max(curvature(&self.end, pair, scene, along));
                if moved > motion.bound {
                    (motion.bound, motion.pair) = (moved, index);
                }
                motion.part = motion.part.min(allowed / moved);
            }
        }
        motion
    }

    /// Whether the motion of the pressure fields over h \[s\] at the velocities in `data` changes each of
    /// their depths by at most the fraction `part`. They are linearised about the velocities `about`, where
    /// their elastic forces are those of the pressures. Fields with less than the `least` force \[N\], by
    /// patch, do not count.
    pub(in crate::stepping) fn keeps_depths(
        &self,
        scene: &Scene,
        (data, h): (&Data, f64),
        (problem, about): (&QuasistaticProblem, &[f64]),
        part: f64,
        least: impl Fn(usize) -> f64,
    ) -> bool {
        self.active.iter().zip(&self.carriers).all(|(active, carrier)| {
            let Carrier::Block { number } = carrier else { return true };
            let block = &problem.patches()[*number];
            let force: f64 = block.elastic_forces(&block.velocity(about)).sum();
            let (_, stiffness) = block.elastic_sums();
            let moved = h * self.end.approach_speed(&scene.contact_pairs()[active.pair], scene, data);
            force <= least(*number) || moved * stiffness <= part * force
        })
    }

    /// Moves the pressure fields to the poses in `data`.
    pub(in crate::stepping) fn update_field_poses(&mut self, scene: &Scene, data: &Data) {
        self.end.update_poses(scene, data);
    }

    /// Adds the friction cones of all rigid pairs to a problem without contacts. `start` holds the poses at
    /// the start, and `middle` the poses halfway through the step, which give the Jacobians of the cones.
    pub(in crate::stepping) fn add_points(
        &mut self,
        scene: &Scene,
        (start, middle): (&Data, &Data),
        stiction_tolerance: f64,
        problem: &mut QuasistaticProblem,
    ) {
        self.active.clear();
        self.carriers.clear();
        (self.faces, self.faces_dropped) = (0, 0);
        let geometries = scene.geometries();
        // A point without a load parts from an overlap by at most this in a step. At rest its whole depth
        // counts, by a stiffness that is larger in proportion: a load of any size may have caused it.
        let recovery = RECOVERY_SPEED_MAX * problem.step;
        for (index, pair) in scene.contact_pairs().iter().enumerate() {
            if pair.kind != ContactKind::Points {
                continue;
            }
            let points = self.start.points(index);
            let Some(p_WC) = mean_point(points) else { continue };
            let bodies = (geometries[pair.A].body, geometries[pair.B].body);
            let moved = |geometry, other| {
                carried_along([geometry, other].map(|index| &geometries[index]), (start, middle), &p_WC)
            };
            let (p_WC_A, p_WC_B) = (moved(pair.A, pair.B), moved(pair.B, pair.A));
            self.columns.merge_at(scene.model(), middle, bodies, (&p_WC_A, &p_WC_B));
            self.carriers.push(Carrier::Cones { first: problem.contacts().len() });
            let moving = surface_velocity(scene, start, pair);
            let compliance = 1.0 / (problem.step * problem.step * POINT_STIFFNESS);
            let creep = stiction_tolerance / (problem.step * CREEP_LOAD);
            for (point, ((p_WF, n), phi)) in points.p_WC.iter().zip(&points.normal).zip(&points.phi).enumerate() {
                let R_FW = frame_about(n, smallest_axis(n));
                let p_CF = p_WF - p_WC;
                let columns = self
                    .columns
                    .columns()
                    .iter()
                    .map(|(dof, column)| (*dof as u32, R_FW * SpatialVelocity::from_vector(column).shift(&p_CF).v));
                let key = ContactKey { pair: index as u32, point: point as u32 };
                problem.add_contact(key, phi.max(-recovery) / problem.step, pair.material.friction, columns);
                let stiffer = (-phi / recovery).max(1.0);
                let phi = if problem.leave_out_immovable(IMMOVABLE, self.at_rest) { &self.at_rest } else { phi };
                let u = R_FW * moving;
                problem.set_surface_velocity([u.y, u.z]);
                problem.set_compliance(compliance / stiffer, creep);
                let (weight, slope) = faded(phi / self.at_rest);
                problem.set_barrier_weight((weight, slope * problem.step / self.at_rest));
            }
            self.faces += points.len() as u32;
            // The lever arms of the Jacobians.
            let [p_WAo, p_WBo] = origins(scene, pair, middle);
            let p_WBo = [p_WAo + p_WC - p_WC_A, p_WBo + p_WC - p_WC_B];
            self.active.push(ActivePatch { pair: index, p_WC, p_WBo });
        }
    }

    /// Adds the patches of all pairs with a pressure field at the poses of the last
    /// [`QuasistaticContacts::update_field_poses`]. `data` must hold the same poses, the trial end of
    /// the step, to which the generalized velocities `v` lead from the poses in `start`.
    pub(in crate::stepping) fn add_surfaces(
        &mut self,
        scene: &Scene,
        settings: &CommonSettings,
        (start, data): (&Data, &Data),
        v: &[f64],
        problem: &mut QuasistaticProblem,
    ) {
        let geometries = scene.geometries();
        for (index, pair) in scene.contact_pairs().iter().enumerate() {
            if pair.kind != ContactKind::PressureField || !self.end.near(pair, 0.0) {
                continue;
            }
            let found = self.end.find_surface(index, pair, scene, settings.faces);
            let (surface, kept) = self.end.surface_mut(index);
            let Some(p_WC) = found else {
                self.faces_dropped += surface.len() as u32;
                continue;
            };
            let step = problem.step;
            let bodies = [pair.A, pair.B].map(|index| geometries[index].body);
            let moved = Moved { model: scene.model(), start, end: data, v, step };
            let correction = moved.correction(bodies, &p_WC, &mut self.columns);
            self.columns.merge(scene.model(), data, bodies.into(), &p_WC);
            self.carriers.push(Carrier::Block { number: problem.patches().len() });
            let block = problem.add_patch();
            block.reset(PatchLaw {
                step,
                dissipation: DissipationLaw::Linear { relaxation_time: 0.0 },
                friction: pair.material.friction,
                stiction_tolerance: settings.stiction_tolerance,
                friction_compliance: 0.0,
            });
            block.set_surface_velocity(surface_velocity(scene, data, pair));
            self.columns.push(block, v);
            block.add_surface_motion(&correction);
            let count = push_faces_about(surface, &p_WC, settings.face_friction, block, kept);
            self.faces += count.kept;
            self.faces_dropped += count.dropped;
            self.active.push(ActivePatch { pair: index, p_WC, p_WBo: origins(scene, pair, data) });
        }
    }

    /// Starts a step at the poses in `data`, without corrections.
    fn start_closures(&mut self, scene: &Scene, data: &Data) {
        self.closures.clear();
        self.closures.extend(scene.closures().iter().map(|closure| {
            let (open, turned) = closure.error(&data.X_WB[closure.A.0], &data.X_WB[closure.B.0]).largest();
            ClosureCorrection { at_start: open.max(turned), ..ClosureCorrection::default() }
        }));
    }

    /// Adds the loop closures: their errors at the poses in `start` with the corrections, and their Jacobians
    /// at those in `middle`. Their stiffness follows from the diagonal entries of Q and of the rows, or of
    /// the mass matrix, whichever is larger.
    pub(in crate::stepping) fn add_closures(
        &mut self,
        scene: &Scene,
        start: &Data,
        middle: &Data,
        problem: &mut QuasistaticProblem,
    ) {
        if scene.closures().is_empty() {
            return;
        }
        let (n, step) = (problem.size(), problem.step);
        self.diagonal.clear();
        self.diagonal.extend((0..n).map(|dof| problem.quadratic[dof * n + dof].max(start.M.diagonal(dof))));
        for row in &problem.rows {
            self.diagonal[row.dof as usize] += row.coefficient * row.coefficient / row.regularization;
        }
        for (closure, correction) in scene.closures().iter().zip(&self.closures) {
            let block = problem.add_patch();
            let (mass, at) = (|dof: usize| self.diagonal[dof], (step, &correction.offset));
            fill_closure(closure, scene.model(), (start, middle, middle), at, mass, &mut self.columns, block);
        }
    }

    /// Adds the errors of the loop closures at the poses in `end` to their corrections, so that the next
    /// solution closes them: the deflection under the load, and what a constant Jacobian misses of a turn. A
    /// row that no longer approaches after some `round`s keeps its correction, as for an error that no motion
    /// can close. Returns whether a correction changed: rows with errors up to `settled` do not.
    pub(in crate::stepping) fn correct_closures(
        &mut self,
        scene: &Scene,
        end: &Data,
        round: u32,
        settled: f64,
    ) -> bool {
        let mut corrected = false;
        for (closure, correction) in scene.closures().iter().zip(&mut self.closures) {
            let found = closure.error(&end.X_WB[closure.A.0], &end.X_WB[closure.B.0]);
            let (open, turned) = found.largest();
            correction.at_end = open.max(turned);
            let rows = found.rows[..found.count].iter().zip(&mut correction.offset).zip(&mut correction.last);
            for (((_, error), offset), last) in rows {
                if error.abs() > settled && (round <= FREE_ROUNDS || error.abs() < APPROACH * last.abs()) {
                    *offset += error;
                    corrected = true;
                }
                *last = *error;
            }
        }
        corrected
    }

    /// The closure that the last [`QuasistaticContacts::correct_closures`] found most open, and its error
    /// \[m\] or \[rad\], if that is above `accepted` and, up to `assembly`, above the error at the start.
    pub(in crate::stepping) fn open_closure(&self, accepted: f64, assembly: f64) -> Option<(usize, f64)> {
        let open = self.closures.iter().enumerate();
        let open = open.filter(|(_, closure)| closure.at_end > accepted.max(closure.at_start.min(assembly)));
        open.map(|(index, closure)| (index, closure.at_end)).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The pair of the patch block with the index `number`.
    pub(in crate::stepping) fn pair_of_patch(&self, number: usize) -> Option<usize> {
        let carries = |carrier: &Carrier| matches!(carrier, Carrier::Block { number: block } if *block == number);
        self.carriers.iter().position(carries).map(|index| self.active[index].pair)
    }

    /// Computes `share` times the net impulses of the active patches, from the impulses (n, t1, t2) of the
    /// cones and those of the patches in the solution: with the friction bounds with which it balances.
    pub(in crate::stepping) fn gather(&mut self, cones: &[Vector3], patches: &[SpatialForce], share: f64) {
        self.impulses.clear();
        for (active, carrier) in self.active.iter().zip(&self.carriers) {
            let impulse = match carrier {
                Carrier::Cones { first } => {
                    let points = self.start.points(active.pair);
                    let each = points.p_WC.iter().zip(&points.normal).zip(&cones[*first..]);
                    each.fold(SpatialForce::ZERO, |sum, ((p_WF, n), cone)| {
                        let gamma = to_world(n, cone);
                        sum + SpatialForce::new((p_WF - active.p_WC).cross(&gamma), gamma)
                    })
                }
                Carrier::Block { number } => patches[*number],
            };
            self.impulses.push(impulse * share);
        }
    }

    /// Computes the forces on B of the points or faces of active patch `number` [N, world].
    pub(in crate::stepping) fn face_forces(
        &self,
        number: usize,
        cones: &[Vector3],
        v: &[f64],
        problem: &QuasistaticProblem,
        forces: &mut Vec<Vector3>,
    ) {
        match self.carriers[number] {
            Carrier::Cones { first } => {
                let normals = &self.start.points(self.active[number].pair).normal;
                forces.clear();
                forces.extend(normals.iter().zip(&cones[first..]).map(|(n, cone)| to_world(n, cone) / problem.step));
            }
            Carrier::Block { number } => {
                let block = &problem.patches()[number];
                block.face_forces(&block.velocity(v), forces);
            }
        }
    }
}

/// The weight of a barrier at `part` of the detection distance and its derivative [-]. The weight is 1 up to
/// [`FADE_START`] and [`FADED`] from 1 on, with two continuous derivatives.
fn faded(part: f64) -> (f64, f64) {
    let t = ((1.0 - part) / (1.0 - FADE_START)).clamp(0.0, 1.0);
    let weight = FADED + (1.0 - FADED) * t * t * t * (10.0 + t * (6.0 * t - 15.0));
    (weight, -30.0 * (1.0 - FADED) / (1.0 - FADE_START) * (t * (1.0 - t)).powi(2))
}

/// The impulse (n, t1, t2) of a cone in world axes.
fn to_world(n: &Vector3, cone: &Vector3) -> Vector3 {
    let (t1, t2) = tangents(n);
    n * cone.x + t1 * cone.y + t2 * cone.z
}
