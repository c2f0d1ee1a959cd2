//! Results do not depend on the unit of mass.
//!
//! If all masses, moduli, stiffnesses, dampings, efforts and wrenches are multiplied by the same number, the
//! motion stays the same. With a power of 4, whose square root is a power of 2 too, each rounding error is
//! multiplied as well, and the motion has the same bits. An absolute mass, force or impulse in the step would
//! change them.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, RigidTransform, SpatialForce, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec, JointSpring};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::solvers::complementarity::{ComplementaritySolver, FrictionLaw};
use isobar::stepping::{JointCommand, JointTarget, Simulation, StepSettings};

use super::bodies::{box_inertia, finish};
use super::spook::spook;
use crate::random::Random;
use crate::worlds::{GRAVITY, settings};

/// A rigid or a compliant material. Its modulus \[Pa\] is multiplied by `unit`.
fn material(random: &mut Random, unit: f64) -> ContactProperties {
    let compliant = random.below(2) == 1;
    let (modulus, friction) = (10.0_f64.powf(6.0 + random.next()), 0.5 + 0.4 * random.next());
    ContactProperties {
        compliant: Some(compliant),
        hydroelastic_modulus: Some(unit * modulus),
        hunt_crossley_dissipation: Some(5.0),
        relaxation_time: Some(0.02),
        mu_dynamic: Some(friction),
        slab_thickness: Some(0.1),
        ..ContactProperties::default()
    }
}

/// Four boxes that fall, and a board on a slide that an effort, a spring and a servo push against them. All
/// data that contain a mass are multiplied by `unit`. With `point_laws` rigid points have friction against
/// spin, rolling friction and restitution.
fn scene(seed: u64, unit: f64, point_laws: bool, with: StepSettings) -> (Simulation, JointCommand) {
    let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    (0..4).for_each(|_| {
        let _ = random.next();
    });
    let mut builder = SceneBuilder::new();
    let identity = RigidTransform::identity();
    let ground = material(&mut random, unit);
    builder.add_geometry(BodyIndex::WORLD, "ground", identity, Shape::HalfSpace, &ground).expect("a ground");
    let mut poses = Vec::new();
    for number in 0..4 {
        let size = Vector3::from_fn(|_, _| 0.06 + 0.04 * random.next());
        let mass = 10.0_f64.powf(random.next());
        let body = builder.add_body(&format!("box_{number}"), box_inertia(unit * mass, &size));
        let mut properties = material(&mut random, unit);
        if point_laws {
            properties.torsional_radius = Some(2e-3);
            properties.rolling_friction = Some(1e-3);
            properties.restitution = Some(0.5);
        }
        builder.add_geometry(body, "box", identity, Shape::Box { size }, &properties).expect("a box");
        let pose = random.pose(0.1);
        let height = Vector3::new(0.0, 0.0, 0.2 + 0.12 * f64::from(number));
        poses.push(RigidTransform::from_parts((pose.translation.vector + height).into(), pose.rotation));
    }
    let size = Vector3::new(0.02, 0.3, 0.2);
    let board = builder.add_body("board", box_inertia(unit * 0.8, &size));
    let joint = JointSpec::new("slide", BodyIndex::WORLD, board, JointKind::Prismatic);
    let joint = JointSpec {
        X_PF: RigidTransform::translation(-0.25, 0.0, 0.12),
        axis_F: Vector3::x(),
        friction: unit * 0.5,
        damping: unit * 0.2,
        spring: JointSpring { stiffness: unit * 3.0, reference: 0.1 },
        limits: JointLimits { lower: -0.05, upper: 0.2, ..JointLimits::NONE },
        ..joint
    };
    let joint = builder.add_joint(joint).expect("a joint");
    let actuator = Actuator { stiffness: unit * 40.0, damping: unit * 4.0, ..Actuator::PASSIVE };
    builder.set_actuator(joint, Actuator { effort_limit: unit * 12.0, ..actuator });
    let properties = material(&mut random, unit);
    builder.add_geometry(board, "board", identity, Shape::Box { size }, &properties).expect("a board");
    let (scene, state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &poses);
    let mut simulation = Simulation::new(scene, state, with).expect("a simulation");
    let F_BBo_W = SpatialForce::new(Vector3::new(0.0, 0.01, 0.02) * unit, Vector3::new(0.3, 0.0, -0.2) * unit);
    simulation.set_external_wrench(board, F_BBo_W).expect("a wrench");
    let target = JointTarget { position: Some(0.15), effort: Some(unit * 1.5), ..JointTarget::default() };
    (simulation, [target].into_iter().collect())
}

/// The bits of the coordinates, of the velocities and of the contact wrenches divided by `unit` after each
/// step, whether it converged, and the iterations of its solver.
fn motion(seed: u64, unit: f64, point_laws: bool, with: StepSettings, steps: u32) -> Result<Vec<Vec<u64>>, String> {
    let (mut simulation, command) = scene(seed, unit, point_laws, with);
    (0..steps)
        .map(|number| {
            let report = simulation.step(&command).map_err(|error| format!("step {number}: {error}"))?;
            let state = simulation.state();
            let wrenches = simulation.body_wrenches().iter().flat_map(|wrench| [wrench.tau, wrench.f]);
            let forces: Vec<_> =
                wrenches.flat_map(|vector| [vector.x / unit, vector.y / unit, vector.z / unit]).collect();
            let counts = [u64::from(report.solver_converged), u64::from(report.solver_iterations)];
            let bits = state.q.iter().chain(&state.v).chain(&forces).map(|x| (x + 0.0).to_bits());
            Ok(bits.chain(counts).collect())
        })
        .collect()
}

fn check(point_laws: bool, with: StepSettings, seeds: std::ops::Range<u64>) {
    let mut wrong = Vec::new();
    for seed in seeds {
        let steps = (0.6 / with.step()) as u32;
        let one = motion(seed, 1.0, point_laws, with, steps);
        for power in [-10, 10] {
            let other = motion(seed, 4.0_f64.powi(power), point_laws, with, steps);
            match (&one, &other) {
                (Ok(one), Ok(other)) => {
                    if let Some(step) = one.iter().zip(other).position(|(one, other)| one != other) {
                        wrong.push(format!("seed {seed}, 4^{power}: step {step} differs"));
                    }
                }
                (one, other) => {
                    wrong.push(format!("seed {seed}, 4^{power}: {:?}, {:?}", one.as_ref().err(), other.as_ref().err()))
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn dynamic_steps_do_not_depend_on_the_unit_of_mass() {
    for (step, point_laws) in [(1e-3, false), (1e-3, true), (5e-3, false), (1.0 / 60.0, true)] {
        check(point_laws, settings(step), 0..6);
    }
}

#[test]
fn complementarity_steps_do_not_depend_on_the_unit_of_mass() {
    for step in [5e-3, 1.0 / 60.0] {
        check(false, spook(step, ComplementaritySolver::Direct, FrictionLaw::ExactCone), 0..3);
    }
}
