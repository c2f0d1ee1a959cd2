//! Bodies too fast for the contact of a step.

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, SpatialVelocity, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, Simulation};

use super::bodies::{finish, rigid};
use crate::worlds::{at, compliant, settings};

/// Two bodies that approach each other too fast for the step are named, with a step that is short enough;
/// slower ones are not.
#[test]
fn a_pair_that_meets_too_fast_for_the_step_is_named() {
    for (speed, step, thickness, missed) in
        [(5.0, 5e-3, 0.1, true), (60.0, 5e-3, 0.01, true), (0.5, 5e-3, 0.1, false), (5.0, 1e-3, 0.1, false)]
    {
        let mut builder = SceneBuilder::new();
        let size = Vector3::new(thickness, 1.0, 1.0);
        let wall = Shape::Box { size };
        builder.add_geometry(BodyIndex::WORLD, "wall", RigidTransform::identity(), wall, &rigid(0.3)).expect("a wall");
        let inertia = SpatialInertia::from_central(0.1, &Vector3::zeros(), &(Matrix3::identity() * 1e-5));
        let body = builder.add_body("ball", inertia);
        let shape = Shape::Sphere { radius: 0.01 };
        builder
            .add_geometry(body, "shell", RigidTransform::identity(), shape, &compliant(1e5, 1.0, 0.3))
            .expect("a ball");
        let start = at(-0.5 * thickness - 0.036, 0.0, 0.0);
        let (scene, mut state) = finish(builder, Vector3::zeros(), &[start]);
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, 0.0));
        scene.model().set_free_body_velocity(&mut state, body, &V);
        let mut simulation = Simulation::new(scene, state, settings(step)).expect("a simulation");
        let mut warnings = Vec::new();
        for _ in 0..(0.1 / step) as u32 {
            simulation.step(&JointCommand::default()).expect("a step");
            warnings.extend(simulation.missed_contact().map(|missed| missed.to_string()));
        }
        println!("{speed} m/s, step {step} s: {warnings:?}");
        assert_eq!(!warnings.is_empty(), missed, "{speed} m/s: {warnings:?}");
        for name in
            warnings.iter().flat_map(|_| ["`ball/shell`", "`world/wall`", "take a step of at most", "free_path"])
        {
            assert!(warnings[0].contains(name), "{}", warnings[0]);
        }
    }
}
