//! Rigid contact carries any load. Points are springs whose stiffness belongs to the masses on them, k = m (2
//! pi/(beta dt))^2, and rigid shapes that overlap separate with a bounded speed. Neither may bound the force.

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, RigidTransform, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, Simulation, Snapshot};

use super::bodies::{add_pusher, box_inertia, efforts, finish, rigid};
use crate::worlds::{GRAVITY, at, run, settings};

/// The allowed penetration in a pinch and a pile [m].
const PENETRATION_MAX: f64 = 1e-4;
/// The allowed relative error of a force [-].
const FORCE_ERROR_MAX: f64 = 0.01;

fn snapshot(simulation: &Simulation) -> Snapshot {
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    snapshot
}

/// A cube of 30 mm and `mass` between two fingers that press with `force` [N], at steps of `step` [s]:
/// returns the size of the cube minus the gap [m], and the force of one finger on the cube [N].
fn pinch(mass: f64, finger: f64, force: f64, step: f64) -> (f64, f64) {
    let (edge, wide) = (0.03, Vector3::new(0.02, 0.05, 0.05));
    let mut builder = SceneBuilder::new();
    let along = Vector3::x();
    let left =
        add_pusher(&mut builder, ("left", finger), at(-0.5 * (edge + wide.x), 0.0, 0.0), along, wide, &rigid(0.5));
    let right =
        add_pusher(&mut builder, ("right", finger), at(0.5 * (edge + wide.x), 0.0, 0.0), along, wide, &rigid(0.5));
    let size = Vector3::repeat(edge);
    let cube = builder.add_body("cube", box_inertia(mass, &size));
    builder.add_geometry(cube, "box", RigidTransform::identity(), Shape::Box { size }, &rigid(0.5)).expect("a cube");
    builder.exclude_contact(left, right);
    let (scene, state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[RigidTransform::identity()]);
    let mut simulation = Simulation::new(scene, state, settings(step)).expect("a simulation");
    run(&mut simulation, &efforts(&[force, -force]), 0.5);
    let now = snapshot(&simulation);
    let x = |body: BodyIndex| now.X_WB[body].translation.vector.x;
    let gap = x(right) - x(left) - wide.x;
    let felt = now.contact_patches().iter().find(|patch| patch.body_A == left || patch.body_B == left);
    (edge - gap, felt.map_or(0.0, |patch| patch.F_BC_W.f.x.abs()))
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

/// Under any load the springs of a light part deflect as they should, and carry it in full: F/k at each of
/// two contacts, with k = m (2 pi/(beta dt))^2 of the effective mass m, and beta = 0.1.
#[test]
fn any_load_is_carried_in_full() {
    let (mass, finger, force) = (1e-3, 1.0, 2000.0);
    for step in [1e-3, 5e-3] {
        let (short, felt) = pinch(mass, finger, force, step);
        let stiffness = mass * finger / (mass + finger) * (2.0 * std::f64::consts::PI / (0.1 * step)).powi(2);
        println!("{step} s: {short:.3e} m short, 2 F/k = {:.3e} m, feels {felt:.4} N", 2.0 * force / stiffness);
        // The part falls by its weight between the fingers until friction holds it, and the points of a face
        // have different effective masses: a percent.
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
