//! Bodies too fast for the contact of a step.

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, SpatialVelocity, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{ContactSurfaces, DynamicStepping, JointCommand, Simulation, StepSettings, Stepping};

use super::bodies::{finish, rigid};
use crate::worlds::{at, compliant, settings};

/// A ball of 20 mm, 100 g and the modulus [Pa], 26 mm before a wall of the thickness [m], which it approaches
/// with the speed [m/s].
fn ball_before_wall(speed: f64, thickness: f64, modulus: f64, settings: StepSettings) -> (Simulation, BodyIndex) {
    let mut builder = SceneBuilder::new();
    let wall = Shape::Box { size: Vector3::new(thickness, 1.0, 1.0) };
    builder.add_geometry(BodyIndex::WORLD, "wall", RigidTransform::identity(), wall, &rigid(0.3)).expect("a wall");
    let inertia = SpatialInertia::from_central(0.1, &Vector3::zeros(), &(Matrix3::identity() * 1e-5));
    let body = builder.add_body("ball", inertia);
    let shape = Shape::Sphere { radius: 0.01 };
    builder
        .add_geometry(body, "shell", RigidTransform::identity(), shape, &compliant(modulus, 1.0, 0.3))
        .expect("a ball");
    let start = at(-0.5 * thickness - 0.036, 0.0, 0.0);
    let (scene, mut state) = finish(builder, Vector3::zeros(), &[start]);
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, 0.0));
    scene.model().set_free_body_velocity(&mut state, body, &V);
    (Simulation::new(scene, state, settings).expect("a simulation"), body)
}

/// With surfaces of the start of the step, two bodies that approach each other too fast for the step are
/// named, with a step that is short enough; slower ones are not.
#[test]
fn a_pair_that_meets_too_fast_for_the_step_is_named() {
    for (speed, step, thickness, missed) in
        [(5.0, 5e-3, 0.1, true), (60.0, 5e-3, 0.01, true), (0.5, 5e-3, 0.1, false), (5.0, 1e-3, 0.1, false)]
    {
        let options = DynamicStepping { surfaces: ContactSurfaces::Start, ..DynamicStepping::default() };
        let at_start = StepSettings { stepping: Stepping::Dynamic(options), ..settings(step) };
        let (mut simulation, _) = ball_before_wall(speed, thickness, 1e5, at_start);
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

/// A ball of 20 mm that meets a wall of 100 mm with 5 m/s bounces off, also in steps in which it flies 25 mm.
/// Its material can stop it: 1e6 Pa in 4 cm3 hold more than its 1.25 J. Its centre stays before the wall, by
/// a tenth of a millimetre at least; in steps of 0.1 ms it stays 1.9 mm away.
#[test]
fn a_fast_ball_bounces_off_a_wall_in_long_steps() {
    for step in [5e-3, 2e-3, 1e-3] {
        let (mut simulation, body) = ball_before_wall(5.0, 0.1, 1e6, settings(step));
        let mut nearest = f64::NEG_INFINITY;
        for _ in 0..(0.1 / step) as u32 {
            simulation.step(&JointCommand::default()).expect("a step");
            nearest = nearest.max(simulation.data().X_WB[body].translation.vector.x);
        }
        let v = simulation.data().V_WB[body].v.x;
        println!("step {step} s: up to {:.2} mm before the wall, then {v:.3} m/s", 1e3 * (-0.05 - nearest));
        assert!(nearest < -0.0501 && v < 0.0 && v > -5.0, "step {step} s: {nearest} m, {v} m/s");
    }
}
