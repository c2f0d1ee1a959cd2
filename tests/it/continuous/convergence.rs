//! The tolerance of the continuous model, and the convergence of discrete steps to it.

use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, SpatialVelocity, Vector3};
use isobar::multibody::State;
use isobar::scene::{Scene, SceneBuilder};
use isobar::stepping::{ContactScheme, JointCommand, Simulation, StepSettings};

use super::{continuous, discrete};
use crate::worlds::{GRAVITY, at, body_on_ground, compliant};

pub(super) struct World {
    pub(super) scene: Arc<Scene>,
    pub(super) initial: State,
    body: BodyIndex,
    /// \[s\]
    end: f64,
}

/// A wide compliant box drops flat while it slides. Discrete steps leave out the faces at the rim, whose
/// pressure does not rise when the box comes nearer: their share of the force is d (a + b)/(a b) = 1e-4.
fn box_drop() -> World {
    let size = Vector3::new(0.4, 0.4, 0.04);
    let properties = ContactProperties { mesh_resolution_hint: Some(0.4), ..compliant(1e5, 10.0, 0.4) };
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let moments = Vector3::new(6.7e-3, 6.7e-3, 1.33e-2);
    let (scene, mut initial, body) = body_on_ground(Shape::Box { size }, 0.5, moments, &properties, gravity);
    scene.model().set_free_body_pose(&mut initial, body, &at(0.0, 0.0, 0.5 * size.z + 2e-5));
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.3, 0.0, -0.02));
    scene.model().set_free_body_velocity(&mut initial, body, &V);
    World { scene, initial, body, end: 0.05 }
}

/// The coin of [Masterjohn 2022, section V-A] slides and spins on a compliant plane with dissipation: without
/// it, friction makes the coin flutter, which discrete steps damp.
pub(super) fn coin() -> World {
    let (radius, thickness, mass) = (0.01213, 0.00175, 0.00567);
    let rigid = ContactProperties {
        compliant: Some(false),
        mu_dynamic: Some(0.2),
        hunt_crossley_dissipation: Some(50.0),
        mesh_resolution_hint: Some(std::f64::consts::TAU * radius / 151.5),
        ..ContactProperties::default()
    };
    let (modulus, slab) = (1e6, 0.5 * thickness);
    let plane = ContactProperties {
        compliant: Some(true),
        hydroelastic_modulus: Some(modulus),
        slab_thickness: Some(slab),
        ..rigid.clone()
    };
    let mut builder = SceneBuilder::new();
    let here = RigidTransform::identity();
    builder.add_geometry(BodyIndex::WORLD, "plane", here, Shape::HalfSpace, &plane).expect("a plane");
    let across = mass * (0.25 * radius * radius + thickness * thickness / 12.0);
    let moments = Matrix3::from_diagonal(&Vector3::new(across, across, 0.5 * mass * radius * radius));
    let body = builder.add_body("coin", SpatialInertia::from_central(mass, &Vector3::zeros(), &moments));
    let shape = Shape::Cylinder { radius, length: thickness };
    builder.add_geometry(body, "coin", here, shape, &rigid).expect("a coin");
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY)).expect("a scene"));
    let mut initial = scene.model().default_state();
    let depth = mass * GRAVITY / (std::f64::consts::PI * radius * radius) * slab / modulus;
    scene.model().set_free_body_pose(&mut initial, body, &at(0.0, 0.0, 0.5 * thickness - depth));
    let V = SpatialVelocity::new(Vector3::z() * (0.3 / radius), Vector3::x() * 0.2);
    scene.model().set_free_body_velocity(&mut initial, body, &V);
    World { scene, initial, body, end: 0.1 }
}

/// Position and turned x axis, times 10 mm, at the end; and the numbers of parts and solves.
fn end(world: &World, settings: StepSettings) -> ([f64; 6], u32, u32) {
    let mut simulation = Simulation::new(world.scene.clone(), world.initial.clone(), settings).expect("a simulation");
    let (mut parts, mut solves) = (0, 0);
    while simulation.time() < world.end - 1e-9 {
        let report = simulation.step(&JointCommand::default()).expect("a step");
        (parts, solves) = (parts + report.parts, solves + report.solves);
    }
    let X = simulation.data().X_WB[world.body];
    let (p, x) = (X.translation.vector, X.rotation * Vector3::x() * 0.01);
    ([p.x, p.y, p.z, x.x, x.y, x.z], parts, solves)
}

fn distance(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The error of a run is below the tolerance of its parts: it is that of order 5, and the estimate that of
/// order 3.
#[test]
fn the_error_is_below_the_tolerance() {
    for (name, world) in [("box", box_drop()), ("coin", coin())] {
        let (reference, ..) = end(&world, continuous(0.01, 1e-9));
        let mut before = u32::MAX;
        for tolerance in [1e-7, 1e-6, 1e-5] {
            let (found, parts, solves) = end(&world, continuous(0.01, tolerance));
            let error = distance(&found, &reference);
            assert!(error < tolerance, "{name} at {tolerance:e}: {error:e}");
            assert!(parts < before && parts <= solves, "{name} at {tolerance:e}: {parts} parts, {solves} trials");
            before = parts;
        }
    }
}

/// The discrete schemes with Coulomb friction converge to the continuous model at first order.
#[test]
fn discrete_steps_converge_to_the_continuous_model_at_first_order() {
    for (name, world) in [("box", box_drop()), ("coin", coin())] {
        let (reference, ..) = end(&world, continuous(0.01, 1e-8));
        for scheme in [ContactScheme::Lagged, ContactScheme::Coupled, ContactScheme::Tamsi] {
            let steps = [1e-3, 5e-4, 2.5e-4, 1.25e-4];
            let errors = steps.map(|step| distance(&end(&world, discrete(step, scheme)).0, &reference));
            let orders = [0, 1, 2].map(|i| (errors[i] / errors[i + 1]).log2());
            let good = orders.iter().all(|order| (0.95..1.1).contains(order));
            assert!(good, "{name}, {}: {errors:?} m, orders {orders:?}", scheme.name());
        }
    }
}
