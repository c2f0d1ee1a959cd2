//! Contacts at the poses of the start of a step, found by several threads before the assembly takes them one
//! by one. Each pair has its own memory, so that the results do not depend on the threads.

use std::sync::Mutex;

use super::pair_memory::{Helper, PairMemory, Query};
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
        let Self { memory, X_WG, helpers, .. } = self;
        helpers.resize_with(threads, Helper::default);
        let query_of = |pair: u32| queries.binary_search_by_key(&pair, |(pair, _)| *pair).map(|i| queries[i].1);
        let mut jobs: Vec<_> = memory
            .all_mut()
            .filter_map(|(pair, memory)| Some((&scene.contact_pairs()[pair as usize], query_of(pair).ok()?, memory)))
            .collect();
        let size = jobs.len().div_ceil(threads.saturating_mul(PARTS)).max(1);
        let others_max = jobs.len().div_ceil(size).saturating_sub(1);
        let parts = Mutex::new(jobs.chunks_mut(size));
        let (parts, X_WG) = (&parts, &*X_WG);
        let work = |helper: &mut Helper| {
            // A thread that panics ends the step, so that a poisoned lock has no other use.
            while let Some(part) = parts.lock().ok().and_then(|mut parts| parts.next()) {
                #[cfg(test)]
                {
                    helper.answers += part.len();
                }
                for (pair, query, memory) in part {
                    answer(scene, pair, *query, X_WG, (memory, &mut helper.workspace));
                }
            }
        };
        std::thread::scope(|scope| {
            let Some((own, others)) = helpers.split_first_mut() else { return };
            for helper in others.iter_mut().take(others_max) {
                // If the system refuses a thread, the others do its work
                if std::thread::Builder::new().spawn_scoped(scope, || work(helper)).is_err() {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use crate::contact::ContactProperties;
    use crate::geometry::Shape;
    use crate::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, Vector3};
    use crate::scene::SceneBuilder;
    use crate::stepping::{JointCommand, Simulation, StepSettings};

    const BALLS: usize = 100;

    /// Balls that lie apart on a floor, of which two threads find the contacts.
    fn balls(soft: bool, threads: usize) -> Simulation {
        let mut builder = SceneBuilder::new();
        let material = |soft: bool| ContactProperties {
            compliant: Some(soft),
            hydroelastic_modulus: soft.then_some(1e6),
            ..ContactProperties::default()
        };
        let size = Vector3::new(30.0, 1.0, 0.1);
        let X_WG = RigidTransform::translation(10.0, 0.0, -0.05);
        builder.add_geometry(BodyIndex::WORLD, "floor", X_WG, Shape::Box { size }, &material(false)).unwrap();
        let inertia = SpatialInertia::from_central(1.0, &Vector3::zeros(), &(4e-3 * Matrix3::identity()));
        let bodies: Vec<BodyIndex> = (0..BALLS)
            .map(|number| {
                let body = builder.add_body(&format!("ball_{number}"), inertia);
                let shape = Shape::Sphere { radius: 0.1 };
                builder.add_geometry(body, "shape", RigidTransform::identity(), shape, &material(soft)).unwrap();
                body
            })
            .collect();
        let scene = builder.build(Vector3::new(0.0, 0.0, -9.81)).unwrap();
        let mut state = scene.model().default_state();
        for (number, body) in bodies.into_iter().enumerate() {
            let X_WB = RigidTransform::translation(0.21 * number as f64, 0.0, 0.099);
            scene.model().set_free_body_pose(&mut state, body, &X_WB);
        }
        Simulation::new(Arc::new(scene), state, StepSettings { threads, ..StepSettings::default() }).unwrap()
    }

    /// The assembly takes the answers of all pairs that touch, and a second thread gives some of them. It may
    /// start late, when the first one has given all, but not in all of many runs.
    #[test]
    fn answers_of_a_second_thread_are_taken() {
        for soft in [false, true] {
            let start = Instant::now();
            loop {
                let (mut one, mut two) = (balls(soft, 1), balls(soft, 2));
                for number in 1..=10 {
                    one.step(&JointCommand::default()).unwrap();
                    two.step(&JointCommand::default()).unwrap();
                    assert_eq!(one.state(), two.state(), "soft: {soft}, step {number}");
                    let taken = two.stepper.dynamic().unwrap().contacts.pairs.taken;
                    assert_eq!(taken, BALLS * number, "soft: {soft}, step {number}");
                }
                assert_eq!(one.stepper.dynamic().unwrap().contacts.pairs.taken, 0);
                if two.stepper.dynamic().unwrap().contacts.pairs.helpers[1].answers > 0 {
                    break;
                }
                assert!(start.elapsed().as_secs() < 60, "soft: {soft}: the second thread gives no answer");
            }
        }
    }
}
