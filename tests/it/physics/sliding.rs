//! Soft boxes that slide on soft ground: Coulomb's law, and the drag of the continuous model.

use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, SpatialInertia, SpatialVelocity, Vector3};
use isobar::multibody::State;
use isobar::scene::{Scene, SceneBuilder};
use isobar::stepping::{ContinuousStepping, JointCommand, Simulation, StepSettings, Stepping};

use crate::worlds::{GRAVITY, at, compliant, run, settings};

const FRICTION: f64 = 0.5;

/// A box of the side `side` \[m\], half as high, with the mass of a cube of water of this side. It rests on a
/// wide soft box of the same `modulus` \[Pa\].
fn at_rest(side: f64, modulus: f64) -> (Arc<Scene>, State, BodyIndex) {
    let mut builder = SceneBuilder::new();
    let wide = ContactProperties { mesh_resolution_hint: Some(2.0), ..compliant(modulus, 10.0, FRICTION) };
    let ground = Shape::Box { size: Vector3::new(2.0, 2.0, 0.1) };
    builder.add_geometry(BodyIndex::WORLD, "ground", at(0.0, 0.0, -0.05), ground, &wide).expect("a ground");
    let size = Vector3::new(side, side, 0.5 * side);
    let mass = 1e3 * side.powi(3);
    let squares = size.component_mul(&size);
    let around = Vector3::new(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y);
    let inertia = Matrix3::from_diagonal(&(around * (mass / 12.0)));
    let body = builder.add_body("body", SpatialInertia::from_central(mass, &Vector3::zeros(), &inertia));
    let properties = ContactProperties { mesh_resolution_hint: Some(0.05), ..compliant(modulus, 10.0, FRICTION) };
    builder.add_geometry(body, "box", at(0.0, 0.0, 0.0), Shape::Box { size }, &properties).expect("a box");
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY)).expect("a scene"));
    let mut state = scene.model().default_state();
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * size.z));
    let mut simulation = Simulation::new(scene.clone(), state, settings(0.002)).expect("a simulation");
    run(&mut simulation, &JointCommand::default(), 0.5);
    (scene, simulation.state().clone(), body)
}

/// The mean deceleration over 60 % of the way to rest, and at most 0.1 s, over mu g.
fn deceleration((scene, rest, body): &(Arc<Scene>, State, BodyIndex), speed: f64, settings: StepSettings) -> f64 {
    let mut state = rest.clone();
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, 0.0));
    scene.model().set_free_body_velocity(&mut state, *body, &V);
    let seconds = (0.6 * speed / (FRICTION * GRAVITY)).min(0.1);
    let steps = (seconds / settings.step()).floor();
    let mut simulation = Simulation::new(scene.clone(), state, settings).expect("a simulation");
    for _ in 0..steps as usize {
        simulation.step(&JointCommand::default()).expect("a step");
    }
    let lost = speed - simulation.data().V_WB[*body].v.x;
    lost / (FRICTION * GRAVITY * steps * settings.step())
}

/// Closed form: mu g. The faces at the rim of the contact lean, and move along with the box, so that their
/// pressure does not depend on its speed. With the pressure of faces that the box moves through, a box of 0.1 m
/// and 1e8 Pa lost 1.17 mu g in steps of 5 ms.
#[test]
fn soft_boxes_slide_with_coulomb_friction() {
    let mut wrong = Vec::new();
    for (side, modulus) in [(0.1, 1e6), (0.1, 1e7), (0.1, 1e8), (0.02, 1e7), (0.02, 1e8)] {
        let world = at_rest(side, modulus);
        for speed in [0.3, 1.0] {
            for step in [0.001, 0.002, 0.005] {
                let ratio = deceleration(&world, speed, settings(step));
                let line = format!("{side} m, {modulus:e} Pa, {speed} m/s, {step} s: {ratio} mu g");
                println!("{line}");
                if (ratio - 1.0).abs() > 0.05 {
                    wrong.push(line);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Oracle: the continuous model. Dissipation in the leaning faces takes 5 % more than mu g from this box, a
/// property of its model of dissipation. In steps of 2 ms the box moves by 6 % of its side.
#[test]
fn a_fast_box_has_the_drag_of_the_continuous_model() {
    let world = at_rest(0.1, 1e6);
    let options = ContinuousStepping { tolerance: 1e-7, ..ContinuousStepping::default() };
    let exact = StepSettings { stepping: Stepping::Continuous(options), ..settings(0.005) };
    let exact = deceleration(&world, 3.0, exact);
    for step in [0.0005, 0.001, 0.002] {
        let ratio = deceleration(&world, 3.0, settings(step));
        println!("{step} s: {ratio} mu g and not {exact} mu g");
        assert!((ratio - exact).abs() < 0.025, "{step} s: {ratio} mu g and not {exact} mu g");
    }
}
