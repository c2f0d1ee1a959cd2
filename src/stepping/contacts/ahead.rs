//! Contacts at the poses of the start of a step, found by several threads before the assembly takes them one
//! by one. Each pair has its own memory, so that the results do not depend on the threads.

use std::sync::Mutex;

use super::pair_memory::{PairMemory, Query};
use super::pairs::Pairs;
use crate::geometry::RigidWorkspace;
use crate::math::{GeometryIndex, IndexVec, RigidTransform};
use crate::scene::{ContactPair, Scene};

/// Fewer pairs are left to the assembly: to start a thread takes longer.
const PAIRS_MIN: usize = 8;
/// Each thread takes about this number of parts of the list, so that all end at about the same time.
const PARTS: usize = 8;

impl Pairs {
    /// Answers the `queries` of pairs, ascending, at the present poses, with this number of threads. The next
    /// query of each pair takes its answer if it asks for the same.
    pub(super) fn find_ahead(&mut self, scene: &Scene, queries: &[(u32, Query)], threads: usize) {
        if threads < 2 || queries.len() < PAIRS_MIN {
            return;
        }
        for (pair, _) in queries {
            self.memory.of(*pair as usize);
        }
        let Self { memory, X_WG, workspaces, .. } = self;
        workspaces.resize_with(threads, RigidWorkspace::default);
        let query_of = |pair: u32| queries.binary_search_by_key(&pair, |(pair, _)| *pair).map(|i| queries[i].1);
        let mut jobs: Vec<_> = memory
            .all_mut()
            .filter_map(|(pair, memory)| Some((&scene.contact_pairs()[pair as usize], query_of(pair).ok()?, memory)))
            .collect();
        let size = jobs.len().div_ceil(threads.saturating_mul(PARTS)).max(1);
        let helpers = jobs.len().div_ceil(size).saturating_sub(1);
        let parts = Mutex::new(jobs.chunks_mut(size));
        let (parts, X_WG) = (&parts, &*X_WG);
        let work = |workspace: &mut RigidWorkspace| {
            // A thread that panics ends the step, so that a poisoned lock has no other use.
            while let Some(part) = parts.lock().ok().and_then(|mut parts| parts.next()) {
                for (pair, query, memory) in part {
                    answer(scene, pair, *query, X_WG, (memory, workspace));
                }
            }
        };
        std::thread::scope(|scope| {
            let Some((own, others)) = workspaces.split_first_mut() else { return };
            for workspace in others.iter_mut().take(helpers) {
                // If the system refuses a thread, the others do its work
                if std::thread::Builder::new().spawn_scoped(scope, || work(workspace)).is_err() {
                    break;
                }
            }
            work(own);
        });
    }
}

fn answer(
    scene: &Scene,
    pair: &ContactPair,
    query: Query,
    X_WG: &IndexVec<GeometryIndex, RigidTransform>,
    (memory, workspace): (&mut PairMemory, &mut RigidWorkspace),
) {
    let (a, b) = (&scene.geometries()[pair.A], &scene.geometries()[pair.B]);
    let (X_WA, X_WB) = (&X_WG[pair.A], &X_WG[pair.B]);
    memory.find(query, (a, X_WA), (b, X_WB), workspace);
    memory.answered = Some(query);
}
