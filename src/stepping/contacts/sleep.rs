//! Bodies that sleep, if the settings allow it: free bodies that have been slow for a while, and whose
//! neighbours have been, too. They stay where they are, and their contacts are not computed.

use crate::math::{ByteReader, ByteWriter, BytesError, Index};
use crate::multibody::Model;
use crate::scene::{ContactPair, Scene};
use crate::stepping::settings::Sleep;

/// The bodies that sleep, by tree of the model.
#[derive(Clone, Debug, Default)]
pub(in crate::stepping) struct Sleepers {
    /// The tree of each geometry, or [`NONE`].
    tree_of: Vec<u32>,
    /// Whether a tree is a single free body without a loop closure.
    is_single: Vec<bool>,
    /// The number of steps in a row in which all points of the tree have been slow, and that before the
    /// present step.
    slow: Vec<u32>,
    slow_before: Vec<u32>,
    /// The trees that sleep, and those that slept before the present step.
    asleep: Vec<bool>,
    asleep_before: Vec<bool>,
    any: bool,
}

const NONE: u32 = u32::MAX;

impl Sleepers {
    /// Whether any body sleeps.
    pub(in crate::stepping) fn any(&self) -> bool {
        self.any
    }
    /// Whether a tree sleeps.
    pub(in crate::stepping) fn is_asleep(&self, tree: usize) -> bool {
        self.any && self.asleep[tree]
    }
    /// Whether the contact of a pair stays as it was: one of its bodies sleeps, and the other one sleeps,
    /// too, or does not move.
    pub(super) fn holds(&self, pair: &ContactPair) -> bool {
        if !self.any {
            return false;
        }
        let trees = [pair.A, pair.B].map(|geometry| self.tree_of[geometry.to_usize()]);
        let moving = || trees.into_iter().filter(|tree| *tree != NONE);
        moving().next().is_some() && moving().all(|tree| self.asleep[tree as usize])
    }

    /// All bodies are awake, and are observed anew.
    pub(in crate::stepping) fn wake(&mut self) {
        self.slow.fill(0);
        self.asleep.fill(false);
        self.any = false;
    }

    /// Starts a step that can be undone.
    pub(super) fn keep(&mut self) {
        self.slow_before.clone_from(&self.slow);
        self.asleep_before.clone_from(&self.asleep);
    }
    /// Undoes the step, because it has failed.
    pub(super) fn restore(&mut self) {
        self.slow.clone_from(&self.slow_before);
        self.asleep.clone_from(&self.asleep_before);
        self.any = self.asleep.iter().any(|asleep| *asleep);
    }

    /// Finds the bodies that have been slow for long enough before a step of length `step` \[s\]. `speeds`
    /// are bounds on those of the points of each geometry at its start, and `external` the generalized forces
    /// of external wrenches.
    pub(super) fn observe<'a>(
        &mut self,
        scene: &Scene,
        speeds: impl Iterator<Item = &'a f64>,
        (settings, step): (&Sleep, f64),
        external: &[f64],
    ) {
        self.number(scene);
        let Self { tree_of, is_single, slow, asleep, .. } = self;
        let enough = (settings.time / step).ceil().clamp(1.0, f64::from(u32::MAX - 1)) as u32;
        asleep.fill(true);
        for (speed, tree) in speeds.zip(&*tree_of).filter(|(_, tree)| **tree != NONE) {
            asleep[*tree as usize] &= *speed <= settings.speed;
        }
        let trees = scene.model().trees().iter().zip(&*is_single).zip(slow.iter_mut().zip(asleep.iter_mut()));
        for ((dofs, single), (slow, asleep)) in trees {
            let rests = *single && *asleep && external[dofs.clone()].iter().all(|force| *force == 0.0);
            *slow = if rests { slow.saturating_add(1) } else { 0 };
            *asleep = *slow > enough;
        }
    }

    /// Of the bodies that [`Sleepers::observe`] has found, those sleep that are not connected by `near`
    /// pairs, for which `may_touch` is true, to a body that is awake. A further call with more pairs that may
    /// touch wakes more bodies.
    pub(super) fn find(&mut self, scene: &Scene, near: &[u32], may_touch: impl Fn(usize, &ContactPair) -> bool) {
        let Self { tree_of, asleep, any, .. } = self;
        let mut wakes = asleep.iter().any(|asleep| *asleep);
        while wakes {
            wakes = false;
            for index in near {
                let pair = &scene.contact_pairs()[*index as usize];
                let [a, b] = [pair.A, pair.B].map(|geometry| tree_of[geometry.to_usize()] as usize);
                let (Some(of_a), Some(of_b)) = (asleep.get(a), asleep.get(b)) else { continue };
                if of_a != of_b && may_touch(*index as usize, pair) {
                    (asleep[a], asleep[b]) = (false, false);
                    wakes = true;
                }
            }
        }
        *any = asleep.iter().any(|asleep| *asleep);
    }

    /// Assigns geometries to trees.
    fn number(&mut self, scene: &Scene) {
        let model = scene.model();
        let count = model.trees().len();
        if self.tree_of.len() == scene.geometries().len() && self.is_single.len() == count {
            return;
        }
        let tree_of_body = |body| model.body_dofs(body).first().map(|dof| model.tree_of_dof()[dof.to_usize()]);
        self.tree_of.clear();
        let trees = scene.geometries().iter().map(|geometry| tree_of_body(geometry.body));
        self.tree_of.extend(trees.map(|tree| tree.map_or(NONE, |tree| tree as u32)));
        self.is_single.clear();
        self.is_single.resize(count, false);
        for tree in scene.free_bodies().iter().filter_map(|body| tree_of_body(*body)) {
            self.is_single[tree] = model.trees()[tree].len() == 6 && self.tree_of.contains(&(tree as u32));
        }
        for closure in scene.closures() {
            let closed = [closure.A.0, closure.B.0].into_iter().filter_map(tree_of_body);
            closed.for_each(|tree| self.is_single[tree] = false);
        }
        self.slow.resize(count, 0);
        self.slow_before.resize(count, 0);
        self.asleep.resize(count, false);
        self.asleep_before.resize(count, false);
    }

    /// Writes the data that the next step takes from the last ones, with the velocities of the last
    /// `solution` for bodies that sleep.
    pub(in crate::stepping) fn write(&self, model: &Model, solution: &[f64], writer: &mut ByteWriter) {
        writer.len(self.slow.len());
        for ((steps, asleep), dofs) in self.slow.iter().zip(&self.asleep).zip(model.trees()) {
            writer.u32(*steps);
            writer.flag(*asleep);
            if *asleep {
                dofs.clone().for_each(|dof| writer.f64(solution.get(dof).copied().unwrap_or(0.0)));
            }
        }
    }
    /// Reads the output of [`Sleepers::write`].
    pub(in crate::stepping) fn read(
        &mut self,
        scene: &Scene,
        solution: &mut Vec<f64>,
        reader: &mut ByteReader<'_>,
    ) -> Result<(), BytesError> {
        self.number(scene);
        let count = reader.len(5)?;
        if count != self.slow.len() && count != 0 {
            return Err(BytesError::Invalid);
        }
        solution.clear();
        solution.resize(scene.model().nv(), 0.0);
        let trees = self.slow.iter_mut().zip(&mut self.asleep).zip(scene.model().trees());
        for ((steps, asleep), dofs) in trees.take(count) {
            *steps = reader.u32()?;
            *asleep = reader.flag()?;
            if *asleep {
                for v in &mut solution[dofs.clone()] {
                    *v = reader.finite()?;
                }
            }
        }
        self.any = self.asleep.iter().any(|asleep| *asleep);
        Ok(())
    }
}
