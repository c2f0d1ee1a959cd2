//! A force controller in a closed loop: a soft fingertip on a vertical slider presses on the ground with 5 N,
//! using the measured contact force.
//!
//!     cargo run --example closed_loop

use std::error::Error;
use std::sync::Arc;

use isobar::{
    Actuator, BodyIndex, ContactProperties, JointCommand, JointKind, JointSpec, Matrix3, RigidTransform, Scene,
    SceneBuilder, Shape, Simulation, SpatialInertia, StepSettings, Vector3,
};

/// The force with which the fingertip should press [N].
pub const WANTED: f64 = 5.0;
/// The speed of the commanded position for each newton of missing force [m/(N s)].
const INTEGRAL_GAIN: f64 = 1e-2;
/// The stiffness of the impedance that holds the fingertip [N/m].
const STIFFNESS: f64 = 1000.0;

/// The force at the end, measured in two ways.
pub struct Pressed {
    /// The force of the contact on the fingertip, which the controller reads [N].
    pub force: f64,
    /// The force with which the impedance pushes down: its stiffness times its deflection [N].
    pub effort: f64,
}

/// A fingertip of 0.2 kg, 3 cm across, 5 mm above the ground, held by an impedance.
fn scene() -> Result<(Arc<Scene>, BodyIndex), Box<dyn Error>> {
    let soft = ContactProperties {
        compliant: Some(true),
        hydroelastic_modulus: Some(2e5),
        hunt_crossley_dissipation: Some(5.0),
        mu_dynamic: Some(1.0),
        mesh_resolution_hint: Some(0.005),
        ..ContactProperties::default()
    };
    let rigid = ContactProperties { compliant: Some(false), mu_dynamic: Some(1.0), ..ContactProperties::default() };
    let mut builder = SceneBuilder::new();
    builder.add_geometry(BodyIndex::WORLD, "ground", RigidTransform::identity(), Shape::HalfSpace, &rigid)?;
    let inertia = SpatialInertia::from_central(0.2, &Vector3::zeros(), &(Matrix3::identity() * 1e-4));
    let tip = builder.add_body("fingertip", inertia);
    builder.add_geometry(tip, "pad", RigidTransform::identity(), Shape::Sphere { radius: 0.015 }, &soft)?;
    let slider = builder.add_joint(JointSpec {
        X_PF: RigidTransform::translation(0.0, 0.0, 0.02),
        axis_F: Vector3::z(),
        ..JointSpec::new("slider", BodyIndex::WORLD, tip, JointKind::Prismatic)
    })?;
    let impedance = Actuator { stiffness: STIFFNESS, damping: 60.0, effort_limit: 50.0, gravity_compensation: true };
    builder.set_actuator(slider, impedance);
    Ok((Arc::new(builder.build(Vector3::new(0.0, 0.0, -9.81))?), tip))
}

/// Presses for three seconds.
///
/// # Errors
/// A scene that cannot be built, or a step that fails.
pub fn run() -> Result<Pressed, Box<dyn Error>> {
    let (scene, tip) = scene()?;
    let initial = scene.model().default_state();
    let mut simulation = Simulation::new(scene.clone(), initial, StepSettings::default())?;
    let slider = scene.joint("slider").ok_or("the scene has no joint `slider`")?;
    let mut command = JointCommand::new(&scene);
    let mut commanded = 0.0;
    let mut pressed = Pressed { force: 0.0, effort: 0.0 };
    for step in 0..3000 {
        // The controller reads the force of the last step, and moves the target position of the impedance.
        let force = simulation.body_wrenches()[tip].f.z;
        pressed = Pressed { force, effort: STIFFNESS * (simulation.state().q[0] - commanded) };
        commanded -= INTEGRAL_GAIN * (WANTED - force) * simulation.settings().step();
        command[slider].position = Some(commanded);
        simulation.step(&command)?;
        if step % 250 == 0 {
            println!("t = {:.1} s: {force:.3} N at {:.2} mm", simulation.time(), 1e3 * simulation.state().q[0]);
        }
    }
    Ok(pressed)
}

fn main() -> Result<(), Box<dyn Error>> {
    let pressed = run()?;
    println!("presses with {:.3} N of {WANTED} N; the impedance pushes with {:.3} N", pressed.force, pressed.effort);
    Ok(())
}
