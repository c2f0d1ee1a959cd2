//! Rigid contact carries any load. Points are springs whose stiffness belongs to the masses on them, k = m (2
//! pi/(beta dt))^2, and rigid shapes that overlap separate with a bounded speed. Neither may bound the force.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, RigidTransform, SpatialForce, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, Simulation, Snapshot, SpookStepping, StepSettings, Stepping};

use super::bodies::{add_pusher, box_inertia, efforts, finish, rigid};
use crate::worlds::{GRAVITY, at, compliant, run, settings};

/// The allowed penetration of one contact [m].
const PENETRATION_MAX: f64 = 1e-4;
/// The allowed relative error of a force [-].
const FORCE_ERROR_MAX: f64 = 0.01;

fn snapshot(simulation: &Simulation) -> Snapshot {
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    snapshot
}

/// A cube of 30 mm and `mass` between two fingers.
struct Pinch {
    simulation: Simulation,
    cube: BodyIndex,
    fingers: [BodyIndex; 2],
}

const EDGE: f64 = 0.03;
const FINGER: Vector3 = Vector3::new(0.02, 0.05, 0.05);

fn fingers_and_cube(mass: f64, finger: f64, material: &ContactProperties, settings: StepSettings) -> Pinch {
    let mut builder = SceneBuilder::new();
    let along = Vector3::x();
    let side = 0.5 * (EDGE + FINGER.x);
    let left = add_pusher(&mut builder, ("left", finger), at(-side, 0.0, 0.0), along, FINGER, &rigid(0.5));
    let right = add_pusher(&mut builder, ("right", finger), at(side, 0.0, 0.0), along, FINGER, &rigid(0.5));
    let size = Vector3::repeat(EDGE);
    let cube = builder.add_body("cube", box_inertia(mass, &size));
    builder.add_geometry(cube, "box", RigidTransform::identity(), Shape::Box { size }, material).expect("a cube");
    builder.exclude_contact(left, right);
    let (scene, state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[RigidTransform::identity()]);
    let simulation = Simulation::new(scene, state, settings).expect("a simulation");
    Pinch { simulation, cube, fingers: [left, right] }
}

/// A cube of 30 mm and `mass` between two fingers that press with `force` [N], at steps of `step` [s]:
/// returns the size of the cube minus the gap [m], and the force of one finger on the cube [N].
fn pinch(mass: f64, finger: f64, force: f64, step: f64) -> (f64, f64) {
    let Pinch { mut simulation, fingers: [left, right], .. } =
        fingers_and_cube(mass, finger, &rigid(0.5), settings(step));
    run(&mut simulation, &efforts(&[force, -force]), 0.5);
    let now = snapshot(&simulation);
    let x = |body: BodyIndex| now.X_WB[body].translation.vector.x;
    let gap = x(right) - x(left) - FINGER.x;
    let felt = now.contact_patches().iter().find(|patch| patch.body_A == left || patch.body_B == left);
    (EDGE - gap, felt.map_or(0.0, |patch| patch.F_BC_W.f.x.abs()))
}

/// A step that fails leaves the loads of the contacts: the next step, without the cause, is as if it had not
/// been tried. The cubes are so light that both kinds of contact depend on the load of the step before:
/// rigid points sink in by five times v_max h, and h^2 k w of a soft cube is 60.
///
/// The tolerance is that of the solver, 1e-7 of the impulse, and that of friction, because the initial
/// guesses differ.
#[test]
fn a_step_that_fails_leaves_the_loads() {
    let spook = Stepping::Spook(SpookStepping::default());
    for (material, force, stepping) in [
        (rigid(0.5), 200.0, Stepping::default()),
        (compliant(1e5, 1.0, 0.5), 5.0, Stepping::default()),
        (rigid(0.5), 200.0, spook),
    ] {
        let settings = StepSettings { stepping, ..settings(1e-3) };
        let next = |fails: bool| {
            let Pinch { mut simulation, cube, fingers: [left, _] } = fingers_and_cube(1e-4, 1.0, &material, settings);
            let command = efforts(&[force, -force]);
            run(&mut simulation, &command, 0.2);
            if fails {
                let far = SpatialForce::new(Vector3::zeros(), Vector3::x() * f64::MAX);
                simulation.set_external_wrench(cube, far).expect("a wrench");
                assert!(simulation.step(&command).is_err(), "this wrench is beyond all numbers");
                simulation.set_external_wrench(cube, SpatialForce::ZERO).expect("no wrench");
            }
            run(&mut simulation, &command, 0.001);
            let x = |body: BodyIndex| simulation.data().X_WB[body].translation.vector;
            (x(left), snapshot(&simulation).F_BBo_W[left].f)
        };
        let (x, F) = next(false);
        let (x_after, F_after) = next(true);
        println!("{:?}: {:.2e} m, {:.2e} N apart", stepping, (x - x_after).norm(), (F - F_after).norm());
        assert!((x - x_after).norm() < 1e-8 && (F - F_after).norm() < 1e-4 * force, "{F:?} {F_after:?}");
    }
}

/// A light part between fingers is not crushed by any force, and the contact force equals that of the
/// fingers.
#[test]
fn a_light_part_is_not_crushed() {
    let mut wrong = Vec::new();
    for (mass, force) in [(0.02, 30.0), (0.02, 200.0), (0.3, 100.0), (0.001, 5.0)] {
        for step in [1e-3, 5e-3] {
            for finger in [0.05, 1.0] {
                let (short, felt) = pinch(mass, finger, force, step);
                let line = format!(
                    "{force} N on {mass} kg by fingers of {finger} kg at {step} s: {short:.2e} m short, feels {felt:.4} N"
                );
                println!("{line}");
                if !(short.abs() < 2.0 * PENETRATION_MAX && (felt / force - 1.0).abs() < FORCE_ERROR_MAX) {
                    wrong.push(line);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A finger on a slider along the ground overlaps it by rounding, or by more. Nothing can part the two, so
/// that they press each other with no force, and friction does not hold the finger: 20 N accelerate its 0.2
/// kg.
#[test]
fn bodies_that_cannot_part_do_not_hold_each_other() {
    for (overlap, slope) in [(0.0, 0.0), (1e-9, 0.0), (1e-6, 0.0), (1e-4, 0.0), (1e-9, 1e-8)] {
        let mut builder = SceneBuilder::new();
        let here = RigidTransform::identity();
        builder.add_geometry(BodyIndex::WORLD, "ground", here, Shape::HalfSpace, &rigid(0.5)).expect("a ground");
        let (start, along) = (at(0.0, 0.0, 0.5 * FINGER.z - overlap), Vector3::new(1.0, 0.0, slope));
        add_pusher(&mut builder, ("finger", 0.2), start, along, FINGER, &rigid(0.5));
        let (scene, state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[]);
        let mut simulation = Simulation::new(scene, state, settings(1e-3)).expect("a simulation");
        run(&mut simulation, &efforts(&[20.0]), 0.01);
        let speed = simulation.state().v[0];
        assert!((speed - 1.0).abs() < 1e-3, "overlap {overlap} m, slope {slope}: {speed} m/s");
    }
}

/// Under any load the springs of a light part deflect as they should, and carry it in full: F/k at each of
/// two contacts, with k = m (2 pi/(beta dt))^2 of the effective mass m, and beta = 0.1.
#[test]
fn any_load_is_carried_in_full() {
    let (mass, finger, force) = (1e-3, 1.0, 2000.0);
    for step in [1e-3, 5e-3] {
        let (short, felt) = pinch(mass, finger, force, step);
        let stiffness = mass * finger / (mass + finger) * (2.0 * std::f64::consts::PI / (0.1 * step)).powi(2);
        println!("{step} s: {short:.3e} m short, 2 F/k = {:.3e} m, feels {felt:.4} N", 2.0 * force / stiffness);
        // The part falls until friction holds it, and the points of a face have different effective masses.
        // Both change the deflection by less than a percent.
        assert!((short * stiffness / (2.0 * force) - 1.0).abs() < 0.01, "{short} m");
        assert!((felt / force - 1.0).abs() < 1e-4, "{felt} N");
    }
}

/// A heavy box on a light one on the ground: each contact carries the weight above it, and no box sinks.
#[test]
fn a_light_box_carries_a_heavy_one() {
    let mut wrong = Vec::new();
    let size = Vector3::new(0.1, 0.1, 0.1);
    for (light, heavy) in [(1.0, 400.0), (1.0, 1000.0), (0.01, 10.0), (0.1, 100.0)] {
        for step in [1e-3, 5e-3] {
            let mut builder = SceneBuilder::new();
            let ground = RigidTransform::identity();
            builder.add_geometry(BodyIndex::WORLD, "ground", ground, Shape::HalfSpace, &rigid(0.5)).expect("a ground");
            for (name, mass) in [("light", light), ("heavy", heavy)] {
                let body = builder.add_body(name, box_inertia(mass, &size));
                builder.add_geometry(body, "box", ground, Shape::Box { size }, &rigid(0.5)).expect("a box");
            }
            let (scene, state) =
                finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[at(0.0, 0.0, 0.05), at(0.0, 0.0, 0.15)]);
            let mut simulation = Simulation::new(scene, state, settings(step)).expect("a simulation");
            run(&mut simulation, &JointCommand::default(), 2.0);
            let now = snapshot(&simulation);
            let heavy_body = simulation.scene().body("heavy").expect("a body");
            let sunk = 0.15 - now.X_WB[heavy_body].translation.vector.z;
            let felt = now.F_BBo_W[heavy_body].f.z / (heavy * GRAVITY);
            let line =
                format!("{heavy} kg on {light} kg at {step} s: sunk by {sunk:.2e} m, feels {felt:.6} of its weight");
            println!("{line}");
            // Two contacts, each with the allowance.
            if !(sunk.abs() < 2.0 * PENETRATION_MAX && (felt - 1.0).abs() < FORCE_ERROR_MAX) {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Shapes that overlap without a load separate slowly: a cube that is set 5 mm deep into the ground.
#[test]
fn deep_overlaps_part_slowly() {
    for step in [1e-3, 5e-3] {
        let size = Vector3::repeat(0.1);
        let mut builder = SceneBuilder::new();
        let identity = RigidTransform::identity();
        builder.add_geometry(BodyIndex::WORLD, "ground", identity, Shape::HalfSpace, &rigid(0.5)).expect("a ground");
        let body = builder.add_body("cube", box_inertia(1.0, &size));
        builder.add_geometry(body, "box", identity, Shape::Box { size }, &rigid(0.5)).expect("a box");
        let (scene, state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[at(0.0, 0.0, 0.045)]);
        let mut simulation = Simulation::new(scene, state, settings(step)).expect("a simulation");
        let mut fastest = 0.0_f64;
        for _ in 0..(0.5 / step) as usize {
            run(&mut simulation, &JointCommand::default(), step);
            fastest = fastest.max(simulation.data().V_WB[body].v.z);
        }
        let z = simulation.data().X_WB[body].translation.vector.z;
        println!("step {step} s: parts at up to {fastest:.3} m/s, ends at {z:.6} m");
        assert!((0.05..0.11).contains(&fastest) && (z - 0.05).abs() < 1e-4, "{fastest} m/s, {z} m");
    }
}
