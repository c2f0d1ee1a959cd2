//! The memory of pairs from step to step: only pairs that are or were near each other have one.

use crate::geometry::{
    ContactSurface, FaceRepresentation, HydroelasticWorkspace, PointContacts, RigidWorkspace, contact_points,
    contact_surface,
};
use crate::math::{ByteReader, ByteWriter, BytesError, RigidTransform};
use crate::scene::CollisionGeometry;

/// Data of a pair that are kept from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct PairMemory {
    pub(super) workspace: HydroelasticWorkspace,
    pub(super) surface: ContactSurface,
    /// The faces of `surface` that the solver uses, in its order.
    pub(super) kept: Vec<u32>,
    /// The contact points, which replace the surface between rigid geometries.
    pub(super) points: PointContacts,
    /// The query at the poses of the start of the step that has its answer before it is asked.
    pub(super) answered: Option<Query>,
    pub(super) loads: Loads,
    /// The loads at the start of the present step.
    pub(super) loads_before: Loads,
}

/// A question about the contact of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Query {
    /// The surface of equal pressure.
    Surface(FaceRepresentation),
    /// The points that are nearer than this \[m\].
    Points(f64),
}

/// The memory of a thread that answers queries.
#[derive(Clone, Debug, Default)]
pub(super) struct Helper {
    pub(super) workspace: RigidWorkspace,
    /// The number of its answers.
    #[cfg(test)]
    pub(super) answers: usize,
}

impl PairMemory {
    /// Answers a query at the poses of the two geometries.
    pub(super) fn find(
        &mut self,
        query: Query,
        (a, X_WA): (&CollisionGeometry, &RigidTransform),
        (b, X_WB): (&CollisionGeometry, &RigidTransform),
        rigid_workspace: &mut RigidWorkspace,
    ) {
        let Self { workspace, surface, kept, points, answered, .. } = self;
        *answered = None;
        match query {
            Query::Surface(faces) => {
                kept.clear();
                workspace.representation = faces;
                let computed = contact_surface(&a.hydroelastic, X_WA, &b.hydroelastic, X_WB, workspace, surface);
                debug_assert!(computed.is_ok(), "a scene's contact pairs have a pressure field");
            }
            Query::Points(detection) => {
                let (Some(rigid_A), Some(rigid_B)) = (&a.rigid, &b.rigid) else { return };
                contact_points(rigid_A, X_WA, rigid_B, X_WB, detection, rigid_workspace, points);
            }
        }
    }
}

/// The loads of a pair that the next step needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Loads {
    /// The normal impulse of the last step [N s]: the largest of a point, or the sum of a surface.
    pub(super) impulse: f64,
    /// The elastic energy of the surface at the end of the last step \[J\]; `None` before the first.
    pub(super) energy: Option<f64>,
}

/// The loads of all pairs at one time.
#[derive(Clone, Debug, Default)]
struct SavedLoads {
    idle: Loads,
    /// The pairs with a memory.
    pairs: Vec<(u32, Loads)>,
}

/// The memories by pair. Pairs that are not near each other share their loads, and have no memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Memories {
    /// The index of each pair's memory, or [`NONE`].
    slots: Vec<u32>,
    memories: Vec<PairMemory>,
    /// The pair of each memory, or [`NONE`].
    pairs: Vec<u32>,
    /// Memories without a pair.
    spare: Vec<u32>,
    /// The loads of pairs without a memory, and those at the start of the present step.
    idle: Loads,
    idle_before: Loads,
    /// Whether the present step looks at the surfaces of all pairs.
    fields: bool,
    /// Loads that error control keeps.
    saved: [SavedLoads; 2],
    /// The empty memory of pairs that have none.
    empty: PairMemory,
}

const NONE: u32 = u32::MAX;

impl Memories {
    /// Makes room for this number of pairs.
    pub(super) fn resize(&mut self, pairs: usize) {
        self.slots.resize(pairs, NONE);
    }

    /// The memory of a pair, which may be empty.
    pub(super) fn get(&self, pair: usize) -> &PairMemory {
        self.memories.get(self.slots[pair] as usize).unwrap_or(&self.empty)
    }

    /// The memory of a pair; a new one if it has none.
    pub(super) fn of(&mut self, pair: usize) -> &mut PairMemory {
        let mut slot = self.slots[pair];
        if slot == NONE {
            slot = self.spare.pop().unwrap_or_else(|| {
                self.memories.push(PairMemory::default());
                self.pairs.push(NONE);
                self.memories.len() as u32 - 1
            });
            self.slots[pair] = slot;
            self.pairs[slot as usize] = pair as u32;
            let memory = &mut self.memories[slot as usize];
            memory.kept.clear();
            memory.points.clear();
            (memory.loads, memory.loads_before) = (self.idle, self.idle_before);
        }
        &mut self.memories[slot as usize]
    }

    /// The memories, with their pairs.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = (u32, &mut PairMemory)> {
        self.pairs.iter().copied().zip(&mut self.memories).filter(|(pair, _)| *pair != NONE)
    }

    /// Starts a step: keeps the loads for [`Memories::restore_loads`]. Pairs without a load of their own that
    /// are not in `near`, the ascending list of pairs that were near each other in the last step, lose their
    /// memory.
    pub(super) fn begin(&mut self, near: Option<&[u32]>) {
        self.idle_before = self.idle;
        for (slot, memory) in self.memories.iter_mut().enumerate() {
            let pair = self.pairs[slot];
            let far = near.is_some_and(|near| near.binary_search(&pair).is_err());
            if pair != NONE && far && memory.loads == self.idle {
                self.slots[pair as usize] = NONE;
                self.pairs[slot] = NONE;
                self.spare.push(slot as u32);
            }
            memory.loads_before = memory.loads;
            memory.answered = None;
        }
    }

    /// Undoes all changes of the loads since [`Memories::begin`].
    pub(super) fn restore_loads(&mut self) {
        self.idle = self.idle_before;
        self.memories.iter_mut().for_each(|memory| memory.loads = memory.loads_before);
    }

    /// Saves the loads of all pairs as number 0 or 1.
    pub(super) fn save_loads(&mut self, number: usize) {
        let saved = &mut self.saved[number];
        saved.idle = self.idle;
        saved.pairs.clear();
        let loads = self.pairs.iter().zip(&self.memories).filter(|(pair, _)| **pair != NONE);
        saved.pairs.extend(loads.map(|(pair, memory)| (*pair, memory.loads)));
    }

    /// Returns to the loads of [`Memories::save_loads`].
    pub(super) fn recall_loads(&mut self, number: usize) {
        let saved = std::mem::take(&mut self.saved[number]);
        self.idle = saved.idle;
        self.memories.iter_mut().for_each(|memory| memory.loads = saved.idle);
        for (pair, loads) in &saved.pairs {
            self.of(*pair as usize).loads = *loads;
        }
        self.saved[number] = saved;
    }

    /// Pairs outside the ascending list `near` have no load. With `fields`, that of their surfaces is
    /// zero, too, from [`Memories::end`] on.
    pub(super) fn clear_loads(&mut self, near: &[u32], fields: bool) {
        self.fields = fields;
        for (memory, pair) in self.memories.iter_mut().zip(&self.pairs) {
            if *pair != NONE && near.binary_search(pair).is_err() {
                memory.loads = self.idle;
            }
        }
    }

    /// Ends a step: pairs that had no load before, because it was the first, have none from now on.
    pub(super) fn end(&mut self) {
        if !self.fields || self.idle.energy.is_some() {
            return;
        }
        self.idle.energy = Some(0.0);
        for memory in &mut self.memories {
            memory.loads.energy.get_or_insert(0.0);
        }
    }

    /// Removes the contact points of a pair.
    pub(super) fn clear_points(&mut self, pair: usize) {
        if let Some(memory) = self.memories.get_mut(self.slots[pair] as usize) {
            memory.points.clear();
        }
    }

    /// Takes the normal impulse of a pair [N s], and sets it to zero.
    pub(super) fn take_impulse(&mut self, pair: usize) -> f64 {
        match self.slots[pair] {
            NONE => 0.0,
            slot => std::mem::take(&mut self.memories[slot as usize].loads.impulse),
        }
    }

    /// Writes the loads of all pairs.
    pub(super) fn write(&self, writer: &mut ByteWriter) {
        let loads = || (0..self.slots.len()).map(|pair| self.loads(pair));
        writer.len(self.slots.len());
        loads().for_each(|loads| writer.f64(loads.impulse));
        loads().for_each(|loads| writer.optional(loads.energy));
    }

    /// Reads the output of [`Memories::write`] for a scene with at most this number of `pairs`.
    pub(super) fn read(&mut self, pairs: usize, reader: &mut ByteReader<'_>) -> Result<(), BytesError> {
        let impulses = reader.numbers()?;
        if impulses.len() > pairs {
            return Err(BytesError::Invalid);
        }
        *self = Self::default();
        self.resize(pairs);
        for (pair, impulse) in impulses.into_iter().enumerate() {
            let loads = Loads { impulse, energy: reader.optional()? };
            if loads.impulse == 0.0 && loads.energy == Some(0.0) {
                self.idle.energy = loads.energy;
            } else if loads != Loads::default() {
                self.of(pair).loads = loads;
            }
        }
        Ok(())
    }

    fn loads(&self, pair: usize) -> Loads {
        self.memories.get(self.slots[pair] as usize).map_or(self.idle, |memory| memory.loads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(memories: &Memories) -> Vec<Loads> {
        (0..memories.slots.len()).map(|pair| memories.loads(pair)).collect()
    }

    /// A first step of four pairs, of which the first two are near each other.
    fn after_a_step() -> Memories {
        let mut memories = Memories::default();
        memories.resize(4);
        memories.begin(None);
        memories.clear_loads(&[0, 1], true);
        assert_eq!(memories.of(0).loads.energy, None, "no step before the first");
        memories.of(0).loads.energy = Some(3.0);
        memories.of(1).loads.impulse = 0.5;
        memories.end();
        memories
    }

    #[test]
    fn a_failed_step_leaves_the_loads_of_all_pairs() {
        let mut memories = Memories::default();
        memories.resize(4);
        let before = loads(&memories);
        memories.begin(None);
        memories.clear_loads(&[2], true);
        memories.of(2).loads.energy = Some(7.0);
        memories.restore_loads();
        assert_eq!(loads(&memories), before, "the first step");
        let mut memories = after_a_step();
        let before = loads(&memories);
        memories.begin(Some(&[0, 1]));
        memories.clear_loads(&[1, 3], true);
        memories.of(3).loads.energy = Some(9.0);
        assert_ne!(loads(&memories), before);
        memories.restore_loads();
        assert_eq!(loads(&memories), before);
    }

    /// Between the two calls pair 0 loses its memory, and pair 3 takes it over.
    #[test]
    fn saved_loads_come_back_although_memories_change_hands() {
        let mut memories = after_a_step();
        let before = loads(&memories);
        memories.save_loads(1);
        memories.begin(Some(&[0, 1]));
        memories.clear_loads(&[1], true);
        memories.begin(Some(&[1]));
        memories.of(3).loads.energy = Some(2.0);
        assert_eq!(memories.memories.len(), 2, "the memory is taken over");
        memories.recall_loads(1);
        assert_eq!(loads(&memories), before);
    }

    #[test]
    fn loads_come_back_from_bytes() {
        let memories = after_a_step();
        let mut writer = ByteWriter::default();
        memories.write(&mut writer);
        let bytes = writer.into_bytes();
        let mut copy = Memories::default();
        copy.read(4, &mut ByteReader::new(&bytes)).expect("the loads");
        assert_eq!(loads(&copy), loads(&memories));
        assert!(copy.read(3, &mut ByteReader::new(&bytes)).is_err(), "a scene with fewer pairs");
    }
}
