//! Smoothed steps that take rounds of solutions: with pressure fields, and with loop closures.

use std::sync::Arc;

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec};
use isobar::scene::{Closure, ClosureKind, SceneBuilder};
use isobar::stepping::{QuasistaticDerivatives, UnactuatedInertia};

use super::derivatives::{Case, error_along, sharp};
use super::{add_box, add_finger, add_ground, positions, rigid, spring};
use crate::worlds::{GRAVITY, at, compliant, quasistatic};

fn case(name: &'static str, builder: SceneBuilder, at_start: (BodyIndex, Vector3), command: f64) -> Case {
    let scene = Arc::new(builder.build(Vector3::z() * -GRAVITY).expect("a scene"));
    let mut state = scene.model().default_state();
    let (body, p) = at_start;
    scene.model().set_free_body_pose(&mut state, body, &at(p.x, p.y, p.z));
    let settings = sharp(quasistatic(0.05, UnactuatedInertia::DRAG));
    Case { name, scene, state, settings, command: positions(&[command]), wrenches: Vec::new() }
}

/// A soft fingertip that presses a rigid box, off its middle, and pushes it over a rigid ground.
fn soft_push(friction: f64) -> Case {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(friction));
    let tip = (Shape::Sphere { radius: 0.01 }, &compliant(1e6, 0.0, 0.3));
    let from = (Vector3::new(-0.0398, 0.004, 0.025), Vector3::x());
    let finger = add_finger(&mut builder, "finger", from, JointLimits::NONE, spring(1000.0, f64::INFINITY), tip);
    builder.exclude_contact(BodyIndex::WORLD, finger);
    let cube = add_box(&mut builder, "cube", Vector3::repeat(0.06), 0.3, &rigid(friction));
    case("a soft push", builder, (cube, Vector3::new(0.0, 0.0, 0.0302)), 0.006)
}

/// A rod that hangs on a pin of a driven slider, with its ball near a rigid ground.
fn hanging_ball() -> Case {
    let mut builder = SceneBuilder::new();
    let moments = Matrix3::from_diagonal(&Vector3::new(0.004, 0.004, 1e-4));
    let rod = || SpatialInertia::from_central(0.3, &Vector3::zeros(), &moments);
    let drive = builder.add_body("drive", rod());
    let spec =
        JointSpec { axis_F: Vector3::x(), ..JointSpec::new("drive", BodyIndex::WORLD, drive, JointKind::Prismatic) };
    let joint = builder.add_joint(spec).expect("a joint");
    builder.set_actuator(joint, spring(1e3, f64::INFINITY));
    let hung = builder.add_body("rod", rod());
    let (A, B) = ((drive, at(0.3, 0.0, 0.0)), (hung, at(0.0, 0.0, 0.2)));
    builder.add_closure(Closure { name: "pin".to_owned(), kind: ClosureKind::Point, A, B });
    let ball = Shape::Sphere { radius: 0.01 };
    builder.add_geometry(hung, "ball", at(0.0, 0.0, -0.2), ball, &rigid(0.4)).expect("a ball");
    let ground = at(0.0, 0.0, -0.4105);
    builder.add_geometry(BodyIndex::WORLD, "ground", ground, Shape::HalfSpace, &rigid(0.4)).expect("a ground");
    case("a ball on a pin", builder, (hung, Vector3::new(0.3, 0.0, -0.2)), 0.02)
}

/// The derivatives of smoothed steps with a field that presses, and with a pin, are those of these steps.
/// Steps with fields settle to 1e-10 m, 3e-5 of the increment of the differences, and three times that in
/// their extrapolation. On ground with friction, the field of the tip has kinks, which are said to be there.
#[test]
fn smoothed_derivatives_with_fields_and_closures_are_those_of_their_steps() {
    for (case, tolerance, kinks) in [(soft_push(0.4), 1e-3, 2), (soft_push(0.0), 1e-3, 0), (hanging_ball(), 1e-6, 0)] {
        let derivatives = case.derivatives(Some(1e-4));
        assert_eq!(derivatives.columns_by_steps(), derivatives.size() + 1, "{}", case.name);
        let smooth = |column: usize| !derivatives.is_one_sided(column);
        let count = (0..=derivatives.size()).filter(|column| !smooth(*column)).count();
        assert!(count <= kinks, "{}: {count} columns are one-sided", case.name);
        let error = error_along(&case, true, smooth);
        assert!(error <= tolerance, "{}: {error}", case.name);
    }
}

/// As the weight of the barrier vanishes, the smoothed step with a field becomes the exact one: a force F
/// acts at the distance 2 kappa/F, and the box rests on 3 N. Without friction there is one solution.
#[test]
fn smoothed_steps_with_fields_approach_exact_ones() {
    let case = soft_push(0.0);
    let mut simulation = case.simulation(case.state.clone());
    let before = simulation.clone();
    simulation.step(&case.command).expect("a step");
    let mut derivatives = QuasistaticDerivatives::new(&before).expect("a quasistatic simulation");
    for kappa in [1e-4, 1e-5, 1e-6, 1e-7] {
        derivatives.differentiate_smoothed(&before, &case.command, kappa).expect("a smoothed step");
        let ends = derivatives.q_next().iter().zip(&simulation.state().q);
        let off = ends.map(|(smoothed, exact)| (smoothed - exact).abs()).fold(0.0, f64::max);
        // Each of four corners carries a quarter: four times 2 kappa/F at most.
        assert!(off < 8.0 / 2.943 * kappa * 1.5, "kappa {kappa}: {off:.1e}");
    }
}
