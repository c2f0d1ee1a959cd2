//! Bodies at rest on a part of their faces, and bodies that come to rest, in steps that are longer than their
//! contacts.

use std::path::Path;

use isobar::geometry::Shape;
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialForce, SpatialInertia, SpatialVelocity, Vector3};
use isobar::multibody::{JointKind, JointSpec};
use isobar::scene::SceneBuilder;
use isobar::solvers::complementarity::{ComplementaritySolver, FrictionLaw};
use isobar::stepping::{JointCommand, Simulation, StepSettings};

use super::bodies::{box_inertia, finish, rigid};
use super::spook::spook;
use crate::worlds::{GRAVITY, at, body_on_ground, compliant, settings};

/// Dynamic steps and complementarity steps of `step` [s], with their defaults.
fn modes(step: f64) -> [(&'static str, StepSettings); 2] {
    [("dynamic", settings(step)), ("spook", spook(step, ComplementaritySolver::Direct, FrictionLaw::ExactCone))]
}

fn steps(simulation: &mut Simulation, count: u32, mut each: impl FnMut(&Simulation)) {
    for _ in 0..count {
        let report = simulation.step(&JointCommand::default()).expect("a step");
        assert!(report.solver_converged, "{report:?}");
        each(simulation);
    }
}

/// Closed form: a soft cube on a slope, whose weight meets the slope within the middle third of its base,
/// leans by m g sin(slope) a/2 over the stiffness g a^4/12 against a turn, and lies still.
///
/// Tolerance: the force of a face acts at its centroid. The square is four triangles, of which two lie a/3
/// from the axis, with the second moment a^4/18: the cube leans by up to 1.5 times the closed form, and less
/// with a rim of further faces. Three times that is a cube that the forces of its rim lift.
#[test]
fn cubes_on_a_slope_do_not_rise_on_their_edge() {
    let (side, mass) = (0.04, 0.05);
    let mut wrong = Vec::new();
    for (degrees, modulus) in [(10.0_f64, 1e7), (18.0, 1e7), (18.0, 1e8)] {
        for step in [5e-3, 1.0 / 60.0] {
            for (name, with) in modes(step) {
                let slope = degrees.to_radians();
                let size = Vector3::repeat(side);
                let moments = box_inertia(mass, &size).central().diagonal();
                let gravity = Vector3::new(slope.sin(), 0.0, -slope.cos()) * GRAVITY;
                let pad = compliant(modulus, 10.0, 1.0);
                let (scene, mut state, body) = body_on_ground(Shape::Box { size }, mass, moments, &pad, gravity);
                scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * side));
                let mut simulation = Simulation::new(scene, state, with).expect("a simulation");
                let mut turn = 0.0_f64;
                let lean = |simulation: &Simulation| simulation.data().X_WB[body].rotation.angle();
                steps(&mut simulation, (5.0 / step) as u32, |simulation| turn = turn.max(lean(simulation)));
                let stiffness = modulus / (0.5 * side) * side.powi(4) / 12.0;
                let exact = mass * GRAVITY * slope.sin() * 0.5 * side / stiffness;
                let (end, most) = (lean(&simulation) / exact, turn / exact);
                let line = format!(
                    "{name}, {degrees} degrees, {modulus} Pa, step {step:.4} s: {end:.3}, at most {most:.3} of {exact:.2e}"
                );
                println!("{line}");
                if !(0.95..1.55).contains(&end) || most > 1.6 {
                    wrong.push(line);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A pad whose centre of mass is over a table stays on it, also if it overhangs the edge and a step lets it
/// fall farther than it is thick.
#[test]
fn pads_that_overhang_an_edge_stay() {
    let mut wrong = Vec::new();
    for (step, x) in [1.0 / 60.0, 0.05, 0.1].iter().flat_map(|h| [(*h, -0.04), (*h, -0.02)]) {
        for (name, with) in modes(step) {
            let mut builder = SceneBuilder::new();
            let here = RigidTransform::identity();
            let table = Shape::Box { size: Vector3::new(0.4, 0.4, 0.1) };
            builder.add_geometry(BodyIndex::WORLD, "table", at(-0.2, 0.0, -0.05), table, &rigid(0.3)).expect("a table");
            let size = Vector3::new(0.1, 0.06, 0.02);
            let body = builder.add_body("pad", box_inertia(0.5, &size));
            builder.add_geometry(body, "pad", here, Shape::Box { size }, &compliant(1e7, 10.0, 0.3)).expect("a pad");
            let start = at(x, 0.0, 0.5 * size.z);
            let (scene, state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[start]);
            let mut simulation = Simulation::new(scene, state, with).expect("a simulation");
            steps(&mut simulation, (2.0 / step) as u32, |_| ());
            let moved = (simulation.data().X_WB[body].translation.vector - start.translation.vector).norm();
            let turned = simulation.data().X_WB[body].rotation.angle();
            let line = format!("{name}, at {x} m, step {step:.4} s: moved {moved:.2e} m, turned {turned:.2e}");
            println!("{line}");
            if moved > 1e-4 || turned > 1e-3 {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A plate that falls flat does not gain energy, at any time of its landing between two steps: also if the
/// step after the landing finds the ground beyond the middle of the plate, where no pressure rises any more.
#[test]
fn plates_that_fall_flat_gain_no_energy() {
    let mut wrong = Vec::new();
    for (size, modulus, mass, step, low) in [
        (Vector3::new(0.06, 0.06, 0.006), 1e6, 0.05, 1.0 / 60.0, 0.02),
        (Vector3::new(0.0373, 0.0215, 0.021), 1.54e6, 0.0489, 0.05, 0.045),
    ] {
        for (number, (name, with)) in (0..30).flat_map(|number| modes(step).map(|mode| (number, mode))) {
            let moments = box_inertia(mass, &size).central().diagonal();
            let (pad, gravity) = (compliant(modulus, 10.0, 0.5), Vector3::new(0.0, 0.0, -GRAVITY));
            let (scene, mut state, body) = body_on_ground(Shape::Box { size }, mass, moments, &pad, gravity);
            let z = low + 7e-4 * f64::from(number);
            scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, z));
            let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.1, 0.0, -0.422));
            scene.model().set_free_body_velocity(&mut state, body, &V);
            let height = |simulation: &Simulation| {
                let speed = simulation.data().V_WB[body].v.norm();
                simulation.data().X_WB[body].translation.vector.z + 0.5 * speed * speed / GRAVITY
            };
            let mut simulation = Simulation::new(scene, state, with).expect("a simulation");
            let (start, mut highest) = (z + 0.5 * V.v.norm_squared() / GRAVITY, 0.0_f64);
            steps(&mut simulation, 40, |simulation| highest = highest.max(height(simulation)));
            // The path of a step is a parabola: its energy is right to rounding
            if highest > start + 1e-6 {
                wrong.push(format!("{name}, {step:.4} s, from {start} m: {highest} m"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Closed form: the ground that moves below a foot on an upright joint pushes it with mu times its weight.
/// The joint does not let the foot move along the ground.
#[test]
fn a_foot_that_cannot_slide_has_the_friction_of_the_ground_that_moves_below_it() {
    let (mass, mu) = (0.5, 0.4);
    for speed in [0.5, 5.0] {
        for (solver, law) in super::spook::pairs() {
            let mut builder = SceneBuilder::new();
            let here = RigidTransform::identity();
            let ground = isobar::contact::ContactProperties {
                surface_velocity: Some(Vector3::new(speed, 0.0, 0.0)),
                ..rigid(mu)
            };
            builder.add_geometry(BodyIndex::WORLD, "ground", here, Shape::HalfSpace, &ground).expect("a ground");
            let inertia = SpatialInertia::from_central(mass, &Vector3::zeros(), &(Matrix3::identity() * 1e-3));
            let body = builder.add_body("foot", inertia);
            let joint = JointSpec::new("upright", BodyIndex::WORLD, body, JointKind::Prismatic);
            let radius = 0.02;
            let X_PF = at(0.0, 0.0, radius);
            builder.add_joint(JointSpec { X_PF, axis_F: Vector3::z(), ..joint }).expect("a joint");
            builder.add_geometry(body, "foot", here, Shape::Sphere { radius }, &rigid(mu)).expect("a foot");
            let (scene, state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[]);
            let mut simulation = Simulation::new(scene, state, spook(1e-2, solver, law)).expect("a simulation");
            for _ in 0..50 {
                simulation.step(&JointCommand::default()).expect("a step");
            }
            let force = simulation.body_wrenches()[body].f;
            let exact = mu * mass * GRAVITY;
            // Random directions and those of a polygon lean from the slip
            let least = match law {
                FrictionLaw::Randomized { .. } | FrictionLaw::MultiDirectional { .. } => 0.0,
                FrictionLaw::PolyhedralCone { .. } => 0.98 * exact,
                _ => 0.999 * exact,
            };
            let found = force.x;
            assert!((force.z / (mass * GRAVITY) - 1.0).abs() < 1e-3, "{solver:?} {law:?}: {force}");
            assert!(
                found >= least && found < 1.415 * exact,
                "{solver:?} {law:?}, {speed} m/s: {found} and not {exact} N"
            );
        }
    }
}

/// Coulomb: a rigid pad that 59 N press on a soft wall, with a friction coefficient of 0.5, carries its
/// weight of 2 N and stays. It touches the wall at the start, and its sides, which its free path leads deep
/// into the wall, carry nothing. Regularized friction lets it creep by v_s x = 0.07 um/s for 2 s, and it
/// sinks before it is pressed; 10 um is a hundredth of the distance by which the sides drove it up in the
/// first step.
#[test]
fn a_pad_pressed_on_a_wall_does_not_climb() {
    let text = "gravity: [0, 0, -9.81]
models:
  - { name: wall, box: [0.1, 0.6, 0.6], weld: { xyz: [-0.05, 0, 0] } }
  - name: pad
    box: [0.02, 0.06, 0.06]
    mass: 0.2
    free: { xyz: [0.01, 0, 0] }
    material: { compliant: false }
";
    for (step, count) in [(5e-3, 400), (1.0 / 60.0, 120), (0.05, 40)] {
        for (name, with) in modes(step) {
            let loaded = scene_file::load_str(text, Path::new("wall.yaml"), &PackageMap::new()).expect("a scene");
            let body = loaded.scene.model().body("pad").expect("the pad");
            let mut simulation = Simulation::new(loaded.scene, loaded.initial, with).expect("a simulation");
            let press = SpatialForce::new(Vector3::zeros(), Vector3::new(-59.0, 0.0, 0.0));
            simulation.set_external_wrench(body, press).expect("a wrench");
            steps(&mut simulation, count, |_| ());
            let height = simulation.data().X_WB[body].translation.z;
            assert!(height.abs() < 1e-5, "{name}, {step} s: {height} m");
        }
    }
}
