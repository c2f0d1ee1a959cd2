//! Friction of coarse faces: its points of action determine the turn of a pushed object.

use isobar::contact::{ContactProperties, FaceFriction};
use isobar::geometry::Shape;
use isobar::math::{SpatialVelocity, Vector3};
use isobar::stepping::{JointCommand, Simulation, StepSettings};

use super::bodies::box_inertia;
use crate::worlds::{GRAVITY, at, body_on_ground, compliant, run, settings};

/// Mean distance of the points of a rectangle from its centre [m], by the closed form.
fn mean_radius(a: f64, b: f64) -> f64 {
    let diagonal = a.hypot(b);
    diagonal / 6.0 + (a * a * ((b + diagonal) / a).ln() / b + b * b * ((a + diagonal) / b).ln() / a) / 12.0
}

/// The torque arm of friction about the normal [m], of a box `size` that spins on the ground with its bottom
/// of uniform pressure.
fn torque_arm(size: &Vector3, pad: &ContactProperties, friction: FaceFriction) -> f64 {
    let inertia = box_inertia(1.0, size);
    let moments = inertia.central().diagonal();
    let (scene, mut state, body) =
        body_on_ground(Shape::Box { size: *size }, 1.0, moments, pad, Vector3::new(0.0, 0.0, -GRAVITY));
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * size.z));
    let step_settings = StepSettings { face_friction: friction, ..settings(1e-3) };
    let mut simulation = Simulation::new(scene, state, step_settings).expect("a simulation");
    run(&mut simulation, &JointCommand::default(), 0.5);
    let mut state = simulation.state().clone();
    let spin = SpatialVelocity::new(Vector3::new(0.0, 0.0, 20.0), Vector3::zeros());
    simulation.scene().model().set_free_body_velocity(&mut state, body, &spin);
    simulation.set_state(state).expect("a state");
    let time = 0.1;
    run(&mut simulation, &JointCommand::default(), 0.01);
    let before = simulation.data().V_WB[body].w.z;
    run(&mut simulation, &JointCommand::default(), time);
    let mu = pad.mu_dynamic.expect("a friction");
    (before - simulation.data().V_WB[body].w.z) * moments.z / (mu * GRAVITY * time)
}

/// Closed form: under a uniform pressure the arm is the mean distance from the centre, also for divided
/// boxes. Friction at the centroids of the four triangles of a square has the arm a/3.
#[test]
fn a_flat_pad_resists_spin_as_uniform_pressure_does() {
    let mut wrong = Vec::new();
    for (size, hint) in [
        (Vector3::new(0.09, 0.09, 0.013), None),
        (Vector3::new(0.09, 0.09, 0.09), None),
        (Vector3::new(0.09, 0.06, 0.01), None),
        (Vector3::new(0.12, 0.04, 0.01), None),
        (Vector3::new(0.09, 0.09, 0.013), Some(0.03)),
        (Vector3::new(0.12, 0.04, 0.02), Some(0.02)),
    ] {
        let pad = ContactProperties { mesh_resolution_hint: hint, ..compliant(1e7, 10.0, 0.3) };
        let (arm, exact) = (torque_arm(&size, &pad, FaceFriction::Spread), mean_radius(size.x, size.y));
        let line = format!("{size:?} m, hint {hint:?}: arm {:.3} mm, closed form {:.3} mm", 1e3 * arm, 1e3 * exact);
        println!("{line}");
        if (arm / exact - 1.0).abs() > 0.01 {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // A measured object of 90 x 112.5 mm has an arm of 22 mm, and not the 39 mm of a uniform pressure: a base
    // of 22/39 of its length and width has that arm
    let whole = mean_radius(0.09, 0.1125);
    assert!((whole - 0.039).abs() < 5e-4, "{whole} m");
    let base = Vector3::new(0.09, 0.1125, 0.023) * (0.022 / whole);
    let arm = torque_arm(&base, &compliant(1e7, 10.0, 0.3), FaceFriction::Spread);
    assert!((arm / 0.022 - 1.0).abs() < 0.01, "{arm} m");
    let square = Vector3::new(0.09, 0.09, 0.013);
    let arm = torque_arm(&square, &compliant(1e7, 10.0, 0.3), FaceFriction::Centroid);
    assert!((arm / 0.03 - 1.0).abs() < 0.01, "{arm} m at centroids");
}
