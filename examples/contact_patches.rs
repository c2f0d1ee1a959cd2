//! A soft ball comes to rest on the ground; its contact patch is read face by face.
//!
//!     cargo run --example contact_patches

use std::error::Error;
use std::sync::Arc;

use isobar::{
    BodyIndex, ContactProperties, JointCommand, Matrix3, RigidTransform, SceneBuilder, Shape, Simulation, Snapshot,
    SpatialInertia, StepSettings, Vector3,
};

/// Mass [kg] and radius [m] of the ball.
const MASS: f64 = 0.5;
const RADIUS: f64 = 0.05;
const GRAVITY: f64 = 9.81;

/// The ball's contact after two seconds.
pub struct Outcome {
    /// Contact force on the ball [N].
    pub force: f64,
    /// Its weight [N].
    pub weight: f64,
    /// The sum of pressure times area over the faces [N].
    pub pressed: f64,
}

/// Lets the ball fall from a centimetre above the ground.
///
/// # Errors
/// A scene that cannot be built, or a step that fails.
pub fn run() -> Result<Outcome, Box<dyn Error>> {
    // Rubber of 1e5 Pa on a rigid half space z <= 0.
    let rubber = ContactProperties {
        compliant: Some(true),
        hydroelastic_modulus: Some(1e5),
        hunt_crossley_dissipation: Some(10.0),
        mu_dynamic: Some(0.8),
        mesh_resolution_hint: Some(0.01),
        ..ContactProperties::default()
    };
    let rigid = ContactProperties { compliant: Some(false), mu_dynamic: Some(0.8), ..ContactProperties::default() };
    let mut builder = SceneBuilder::new();
    builder.add_geometry(BodyIndex::WORLD, "ground", RigidTransform::identity(), Shape::HalfSpace, &rigid)?;
    let moment = 0.4 * MASS * RADIUS * RADIUS;
    let inertia = SpatialInertia::from_central(MASS, &Vector3::zeros(), &Matrix3::from_diagonal_element(moment));
    // A body without a joint is free.
    let ball = builder.add_body("ball", inertia);
    builder.add_geometry(ball, "rubber", RigidTransform::identity(), Shape::Sphere { radius: RADIUS }, &rubber)?;
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY))?);

    // Positions of a free body: quaternion (w, x, y, z), then the origin.
    let mut initial = scene.model().default_state();
    initial.q[6] = RADIUS + 0.01;
    let mut simulation = Simulation::new(scene.clone(), initial, StepSettings::default())?;
    let nothing = JointCommand::new(&scene);
    while simulation.time() < 2.0 {
        let report = simulation.step(&nothing)?;
        if !report.solver_converged {
            return Err(format!("t = {} s: the solver did not converge", simulation.time()).into());
        }
    }

    let mut now = Snapshot::default();
    simulation.snapshot_into(&mut now);
    let mut pressed = 0.0;
    for patch in now.contact_patches() {
        let faces = &patch.faces;
        let (a, b) = (scene.geometry_name(patch.geometry_A), scene.geometry_name(patch.geometry_B));
        let peak = faces.pressure.iter().fold(0.0_f64, |peak, pressure| peak.max(*pressure));
        println!("{a} and {b}: {} faces, {:.2} cm2, at most {peak:.0} Pa", faces.area.len(), patch.area * 1e4);
        pressed += faces.pressure.iter().zip(&faces.area).map(|(pressure, area)| pressure * area).sum::<f64>();
    }
    Ok(Outcome { force: now.F_BBo_W[ball].f.z, weight: MASS * GRAVITY, pressed })
}

fn main() -> Result<(), Box<dyn Error>> {
    let Outcome { force, weight, pressed } = run()?;
    println!("the ground carries {force:.4} N of {weight:.4} N; pressure times area is {pressed:.4} N");
    Ok(())
}
