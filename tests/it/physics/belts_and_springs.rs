//! Surfaces that move, springs of joints and initial velocities, against closed forms.

use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointSpec, JointSpring};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, Simulation, Snapshot, StepSettings, UnactuatedInertia};

use super::bodies::{box_inertia, finish, rigid};
use crate::worlds::{GRAVITY, at, compliant, quasistatic, run, settings};

/// Speed of the belts [m/s] and friction of the box on them [-].
const BELT: f64 = 0.2;
const MU: f64 = 0.5;
/// Angle of the belts about the vertical \[rad\].
const TURN: f64 = 0.5;

/// A box at rest on a belt that runs along the x axis of the ground's frame, which is turned. Returns the
/// position of the box after a second [m], in that frame, and the angle by which it has turned \[rad\].
fn ride(pad: &ContactProperties, settings: StepSettings) -> (Vector3, f64) {
    let size = Vector3::new(0.1, 0.08, 0.05);
    let mut builder = SceneBuilder::new();
    let X_WG = RigidTransform::from_parts(Vector3::zeros().into(), Rotation::from_euler_angles(0.0, 0.0, TURN));
    let belt = ContactProperties { surface_velocity: Some(Vector3::new(BELT, 0.0, 0.0)), ..rigid(MU) };
    builder.add_geometry(BodyIndex::WORLD, "belt", X_WG, Shape::HalfSpace, &belt).expect("a belt");
    let body = builder.add_body("box", box_inertia(0.3, &size));
    builder.add_geometry(body, "box", RigidTransform::identity(), Shape::Box { size }, pad).expect("a box");
    let (scene, state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[at(0.0, 0.0, 0.5 * size.z)]);
    let mut simulation = Simulation::new(scene, state, settings).expect("a simulation");
    run(&mut simulation, &JointCommand::default(), 1.0);
    let X_WB = simulation.data().X_WB[body];
    let R = X_WB.rotation;
    (X_WG.inverse() * X_WB.translation.vector, R[(1, 0)].atan2(R[(0, 0)]))
}

/// Closed form: a box at rest on a belt slides until it has the belt's speed, after v/(mu g), and falls back
/// by v^2/(2 mu g). Quasi-dynamic steps start from rest each, so that friction mu g h > v carries the box
/// from the first step on.
#[test]
fn belts_carry_the_bodies_on_them() {
    for (name, pad) in [("pad", compliant(1e7, 10.0, MU)), ("feet", rigid(MU))] {
        for step in [1e-3, 5e-3] {
            let (p, turn) = ride(&pad, settings(step));
            let exact = BELT - BELT * BELT / (2.0 * MU * GRAVITY);
            println!("{name}, {step} s: {p:?} m, closed form {exact} m");
            // The last step of sliding may begin one step late.
            assert!((p.x - exact).abs() < 1.5 * step * BELT, "{name} {step}: {} and not {exact} m", p.x);
            assert!(p.y.abs() < 1e-4 && turn.abs() < 1e-3, "{name} {step}: {p:?} {turn}");
        }
        let (p, turn) = ride(&pad, quasistatic(0.1, UnactuatedInertia::Mass));
        println!("{name}, quasistatic: {p:?} m");
        assert!((p.x - BELT).abs() < 1e-3 * BELT && p.y.abs() < 1e-4 && turn.abs() < 1e-3, "{name}: {p:?} {turn}");
    }
}

/// A mass of 2 kg on a vertical slider with a spring of 50 N/m whose reference is at 0.1 m.
fn sprung(gravity: f64, settings: StepSettings, v0: f64) -> Simulation {
    let mut builder = SceneBuilder::new();
    let inertia = SpatialInertia::from_central(2.0, &Vector3::zeros(), &Matrix3::identity());
    let body = builder.add_body("mass", inertia);
    let joint = JointSpec::new("slider", BodyIndex::WORLD, body, JointKind::Prismatic);
    let spring = JointSpring { stiffness: 50.0, reference: 0.1 };
    builder.add_joint(JointSpec { spring, ..joint }).expect("a joint");
    let scene = builder.build(Vector3::new(0.0, 0.0, -gravity)).expect("a scene");
    let mut state = scene.model().default_state();
    state.v[0] = v0;
    Simulation::new(Arc::new(scene), state, settings).expect("a simulation")
}

/// Closed form of backward Euler: each step divides the energy of a mass on a spring by 1 + k h^2/m. The
/// recorded energies follow it.
#[test]
fn springs_swing_with_the_energy_of_backward_euler() {
    for step in [1e-3, 5e-3] {
        let mut simulation = sprung(0.0, settings(step), 0.3);
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let start = snapshot.energy.kinetic + snapshot.spring_energy;
        assert!((start - (0.5 * 2.0 * 0.09 + 0.5 * 50.0 * 0.01)).abs() < 1e-12, "{start}");
        let count = (1.0 / step).round();
        run(&mut simulation, &JointCommand::default(), 1.0);
        simulation.snapshot_into(&mut snapshot);
        let energy = snapshot.energy.kinetic + snapshot.spring_energy;
        let exact = start / (1.0 + 25.0 * step * step).powf(count);
        assert!((energy / exact - 1.0).abs() < 1e-9, "{energy} and not {exact} J");
    }
}

/// Closed form: a load hangs m g / k below the reference, at once in a quasistatic step without inertia.
#[test]
fn a_load_hangs_below_the_reference() {
    let exact = 0.1 - 2.0 * GRAVITY / 50.0;
    let mut simulation = sprung(GRAVITY, quasistatic(0.1, UnactuatedInertia::None), 0.0);
    run(&mut simulation, &JointCommand::default(), 0.1);
    assert!((simulation.state().q[0] - exact).abs() < 1e-9, "{:?}", simulation.state().q);
    // Backward Euler damps a swing by half in some 3 s at 20 ms
    let mut simulation = sprung(GRAVITY, settings(20e-3), 0.0);
    run(&mut simulation, &JointCommand::default(), 60.0);
    assert!((simulation.state().q[0] - exact).abs() < 1e-4, "{:?}", simulation.state().q);
}
