//! Bodies that touch nothing do not change the others.

use std::sync::Arc;

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, RigidTransform, SpatialVelocity, Vector3};
use isobar::multibody::State;
use isobar::scene::{Scene, SceneBuilder};
use isobar::stepping::{JointCommand, Simulation};

use super::bodies::{box_inertia, finish, rigid};
use crate::worlds::{GRAVITY, at, compliant, settings};

/// Five bodies, rigid and compliant, fall onto each other and the ground, fast enough to turn and to meet on
/// their free path. `far` boxes of the world stand a kilometre away.
fn pile(far: usize) -> (Arc<Scene>, State) {
    let mut builder = SceneBuilder::new();
    let identity = RigidTransform::identity();
    builder.add_geometry(BodyIndex::WORLD, "ground", identity, Shape::HalfSpace, &rigid(0.4)).expect("a ground");
    let mut poses = Vec::new();
    for number in 0..5_u32 {
        let size = Vector3::new(0.1, 0.08, 0.06 + 0.01 * f64::from(number));
        let body = builder.add_body(&format!("body_{number}"), box_inertia(0.3 + 0.2 * f64::from(number), &size));
        let material = if number % 2 == 0 { compliant(1e6, 1.0, 0.5) } else { rigid(0.5) };
        builder.add_geometry(body, "box", identity, Shape::Box { size }, &material).expect("a box");
        poses.push(at(0.02 * f64::from(number), 0.01 * f64::from(number % 3), 0.05 + 0.12 * f64::from(number)));
    }
    for number in 0..far {
        let shape = Shape::Box { size: Vector3::repeat(0.1) };
        let X_WG = at(1e3, number as f64, 0.5);
        builder.add_geometry(BodyIndex::WORLD, &format!("far_{number}"), X_WG, shape, &rigid(0.5)).expect("a far box");
    }
    let (scene, mut state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &poses);
    for (number, body) in scene.free_bodies().iter().enumerate() {
        let spin = Vector3::new(3.0, -2.0 * number as f64, 1.0);
        scene.model().set_free_body_velocity(&mut state, *body, &SpatialVelocity::new(spin, Vector3::z() * -2.0));
    }
    (scene, state)
}

/// The motion of a pile has the same bits beside boxes far away. With 15 pairs every pair is examined, and
/// with 65 and more only those that a sweep finds: the comparison of all pairs is the oracle of the sweep.
#[test]
fn bodies_far_away_do_not_change_a_bit() {
    let path = |far: usize| {
        let (scene, state) = pile(far);
        let mut simulation = Simulation::new(scene.clone(), state, settings(2e-3)).expect("a simulation");
        let mut bits = Vec::new();
        let mut faces = 0;
        for _ in 0..300 {
            faces = faces.max(simulation.step(&JointCommand::default()).expect("a step").faces);
            let State { q, v } = simulation.state();
            bits.push(q.iter().chain(v).map(|x| x.to_bits()).collect::<Vec<_>>());
        }
        (scene.contact_pairs().len(), bits, faces)
    };
    let (pairs, alone, faces) = path(0);
    assert!(pairs == 15 && faces > 30, "{pairs} pairs, {faces} faces");
    for far in [10, 40] {
        let (pairs, beside, _) = path(far);
        assert_eq!(pairs, 15 + 5 * far);
        let first = alone.iter().zip(&beside).position(|(a, b)| a != b);
        assert_eq!(first, None, "{far} far boxes change the motion");
    }
}
