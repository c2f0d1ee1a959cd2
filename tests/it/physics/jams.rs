//! Rigid bodies that are stuck in others: their forces stay bounded.

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, RigidTransform, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, Simulation, Snapshot};

use super::bodies::{box_inertia, finish, rigid};
use crate::worlds::{at, settings};

/// A rigid box between two walls that are 1 mm too near to each other on both sides: neither overlap can
/// recover, and none of the two forces may add up over the steps. The force of a recovery is at most k v
/// dt/64 at each of the four corners, with v = 0.1 m/s, k = m_F (2 pi/(0.1 dt))^2 and m_F < m. The force of
/// the other wall is a load of the first one, hence the factor 2.
///
/// Regression: the force of the recovery counted as a load of the next step, and grew to k times 1 mm: 3.2
/// MN on each corner at 1 ms.
#[test]
fn forces_of_a_jam_do_not_add_up() {
    let (mass, edge, overlap) = (0.8, 0.1, 1e-3);
    for step in [1e-3, 5e-3] {
        let mut builder = SceneBuilder::new();
        for side in [-1.0, 1.0] {
            let x = side * (edge - overlap);
            let size = Vector3::new(edge, 0.3, 0.3);
            builder
                .add_geometry(
                    BodyIndex::WORLD,
                    &format!("wall_{side}"),
                    at(x, 0.0, 0.0),
                    Shape::Box { size },
                    &rigid(0.5),
                )
                .expect("a wall");
        }
        let size = Vector3::repeat(edge);
        let body = builder.add_body("box", box_inertia(mass, &size));
        let here = RigidTransform::identity();
        builder.add_geometry(body, "box", here, Shape::Box { size }, &rigid(0.5)).expect("a box");
        let (scene, state) = finish(builder, Vector3::zeros(), &[at(1e-5, 0.0, 0.0)]);
        let mut simulation = Simulation::new(scene, state, settings(step)).expect("a simulation");
        let (mut largest, mut snapshot) = (0.0_f64, Snapshot::default());
        for _ in 0..500 {
            simulation.step(&JointCommand::default()).expect("a step");
            simulation.snapshot_into(&mut snapshot);
            for patch in snapshot.contact_patches() {
                largest = largest.max(patch.F_BC_W.f.norm());
            }
        }
        let stiffness = mass * (std::f64::consts::TAU / (0.1 * step)).powi(2);
        let bound = 2.0 * 4.0 * stiffness * 0.1 * step / 64.0;
        println!("{step} s: {largest:.3e} N, at most {bound:.3e} N");
        assert!(largest < bound, "{step} s: {largest:e} N, more than {bound:e} N");
        let x = simulation.data().X_WB[body].translation.vector.x;
        assert!(x.abs() < overlap, "{step} s: {x} m");
    }
}
