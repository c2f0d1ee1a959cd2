//! One push: the scene, its steps, and the closed form.

use std::sync::Arc;

use crate::experiments::materials::{MU_OBJECT, beside, box_inertia, compliant, rigid};
use crate::experiments::push_record::{CONTACTS, largest_errors, whole_steps};
use crate::experiments::{ExperimentError, PushSample};
use crate::geometry::Shape;
use crate::math::{BodyIndex, RigidTransform, Rotation, Vector3};
use crate::multibody::{JointKind, JointSpec};
use crate::scene::{Actuator, SceneBuilder};
use crate::stepping::{FrictionErrors, JointCommand, JointTarget, Simulation, Snapshot, StepSettings};

/// Edge lengths of the prism \[m\].
const SIZE: [f64; 3] = [0.1, 0.025, 0.025];
/// Radius and thickness of a fingertip \[m\].
const TIP: (f64, f64) = (0.02, 0.01);
/// Friction coefficient of the fingers on the prism [-].
const MU_FINGER: f64 = 0.15;
/// Force of each finger \[N\].
const GRIP: f64 = 20.0;
/// Speed of the wall [m/s].
const SPEED: f64 = 0.01;
/// The fingers close for this time before the push \[s\].
const CLOSING: f64 = 0.25;
/// Duration of the push \[s\].
const DURATION: f64 = 1.5;
/// Acceleration of gravity [m/s2].
const GRAVITY: f64 = 9.81;
/// Modulus of the fingertips \[Pa\].
const MODULUS: f64 = 1e7;

/// Friction coefficients of the wall on the prism are below this value [-], because two materials combine to
/// less than twice the coefficient of either.
pub const WALL_FRICTION_END: f64 = 2.0 * MU_OBJECT;

/// The names of the contacts whose errors a push records.
pub(super) const CONTACT_NAMES: [&str; 3] = ["left finger", "right finger", "wall"];

/// The contact of the fingers with the prism.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fingers {
    /// Pressure patches.
    #[default]
    Patch,
    /// Points of rigid contact.
    Points,
}

/// A push.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldPush {
    /// Mass of the prism \[kg\].
    pub mass: f64,
    /// Friction coefficient of the wall on the prism [-].
    pub mu_wall: f64,
    /// The contact of the fingers.
    pub fingers: Fingers,
}

/// The distance by which the prism slides down in a push \[m\]. It moves at the angle phi below the push,
/// with
///   2 mu N (sin phi + mu_wall cos phi) = m g,
/// because the friction 2 mu N of both fingers is opposite to its motion. It does not slide down if the
/// friction of the wall carries it. `None` if it falls, because no angle below a right angle is a solution.
pub fn drop_of_closed_form(mass: f64, mu_wall: f64) -> Option<f64> {
    let load = mass * GRAVITY / (2.0 * MU_FINGER * GRIP);
    let angle = (load / mu_wall.hypot(1.0)).asin() - mu_wall.atan();
    // Above 1 the arc sine is not a number.
    (angle < 0.5 * std::f64::consts::PI).then(|| SPEED * DURATION * angle.max(0.0).tan())
}

/// Takes the steps of `push` with `settings`. Positions are x and z; the wall pushes along -x, and its force
/// is along -x and upwards. `clock` returns the time for measurements \[s\]. The fingers close first; the
/// samples begin with the push.
///
/// # Errors
/// A step that fails, or settings that are refused.
pub fn take(
    push: &HeldPush,
    settings: StepSettings,
    clock: &dyn Fn() -> f64,
) -> Result<Vec<PushSample>, ExperimentError> {
    let count = whole_steps(DURATION, settings.step())?;
    let size = Vector3::from(SIZE);
    let here = RigidTransform::identity();
    let mut builder = SceneBuilder::new();
    let prism = builder.add_body("prism", box_inertia(push.mass, &size));
    builder.add_geometry(prism, "sides", here, Shape::Box { size }, &rigid(MU_OBJECT))?;
    let (radius, length) = TIP;
    let tip = match push.fingers {
        Fingers::Patch => compliant(MODULUS, beside(MU_FINGER)),
        Fingers::Points => rigid(beside(MU_FINGER)),
    };
    // The axis of a cylinder is z; a finger closes along y
    let across = RigidTransform::from_parts(
        Vector3::zeros().into(),
        Rotation::from_euler_angles(0.5 * std::f64::consts::PI, 0.0, 0.0),
    );
    let mut touching = Vec::new();
    for (name, side) in [("left", 1.0), ("right", -1.0)] {
        let finger = builder.add_body(name, box_inertia(0.2, &Vector3::repeat(0.02)));
        let start = RigidTransform::translation(0.0, side * 0.5 * (size.y + length), 0.0);
        let slide = JointSpec::new(&format!("{name}_slide"), BodyIndex::WORLD, finger, JointKind::Prismatic);
        let slide = builder.add_joint(JointSpec { X_PF: start, axis_F: -side * Vector3::y(), ..slide })?;
        // Nearly a constant force: the tips give way by micrometres
        builder.set_actuator(slide, Actuator { stiffness: 100.0, damping: 50.0, ..Actuator::PASSIVE });
        builder.add_geometry(finger, "tip", across, Shape::Cylinder { radius, length }, &tip)?;
        touching.push(finger);
    }
    let wall = builder.add_body("wall", box_inertia(1.0, &Vector3::repeat(0.1)));
    touching.push(wall);
    let thickness = 0.02;
    let start = RigidTransform::translation(0.5 * (size.x + thickness), 0.0, 0.0);
    let slide = JointSpec::new("wall_slide", BodyIndex::WORLD, wall, JointKind::Prismatic);
    let slide = builder.add_joint(JointSpec { X_PF: start, axis_F: -Vector3::x(), ..slide })?;
    builder.set_actuator(slide, Actuator { stiffness: 1e6, damping: 1e3, ..Actuator::PASSIVE });
    let plate = Shape::Box { size: Vector3::new(thickness, 0.1, 0.1) };
    builder.add_geometry(wall, "plate", here, plate, &rigid(beside(push.mu_wall)))?;
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY))?);
    let state = scene.model().default_state();
    let mut simulation = Simulation::new(scene, state, settings)?;
    let (step, mut snapshot) = (settings.step(), Snapshot::default());
    let grip = JointTarget { position: Some(0.0), velocity: None, effort: Some(GRIP) };
    let command = |time: f64| -> JointCommand {
        let moving = time > 0.0;
        let target = JointTarget {
            position: Some(SPEED * time.max(0.0)),
            velocity: Some(if moving { SPEED } else { 0.0 }),
            effort: None,
        };
        [grip, grip, target].into_iter().collect()
    };
    let closing = (CLOSING / step).ceil() as u32;
    for _ in 0..closing {
        simulation.step(&command(0.0))?;
    }
    let from = simulation.data().X_WB[prism].translation.vector;
    let mut samples = Vec::with_capacity(count as usize);
    for number in 1..=count {
        let time = f64::from(number) * step;
        let before = clock();
        let report = simulation.step(&command(time))?;
        let took = clock() - before;
        simulation.snapshot_into(&mut snapshot);
        let fingers = snapshot.contact_patches().iter().filter(|patch| ![patch.body_A, patch.body_B].contains(&wall));
        let (errors, net_errors) = largest_errors(fingers);
        let mut contacts = [FrictionErrors::default(); CONTACTS];
        for (errors, body) in contacts.iter_mut().zip(&touching) {
            let patches = snapshot.contact_patches().iter();
            *errors = largest_errors(patches.filter(|patch| [patch.body_A, patch.body_B].contains(body))).0;
        }
        let X_WB = simulation.data().X_WB[prism];
        let (moved, along) = (X_WB.translation.vector - from, X_WB.rotation * Vector3::x());
        let force = simulation.body_wrenches()[wall].f;
        samples.push(PushSample {
            time,
            position: [moved.x, moved.z],
            angle: (-along.z).atan2(along.x),
            force: [force.x, -force.z],
            contacts,
            errors,
            net_errors,
            converged: report.solver_converged && report.friction_converged(),
            took,
        });
    }
    Ok(samples)
}
