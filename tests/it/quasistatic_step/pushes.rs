//! Pushes of compliant boxes of common stiffness: over the ground, and over the edge of a table. Each step is
//! taken.

use isobar::contact::FaceFriction;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec};
use isobar::scene::SceneBuilder;
use isobar::stepping::{Simulation, Snapshot, StepError, StepSettings, Stepping, UnactuatedInertia, Unsettled};

use super::{add_box, add_finger, add_ground, positions, rigid, simulate, spring};
use crate::random::Random;
use crate::worlds::{GRAVITY, at, compliant, quasistatic};

/// A box with the density of water on rigid ground, and a rigid finger that pushes it at 0.1 m/s.
fn push(random: &mut Random) -> (Simulation, BodyIndex, f64, String) {
    let mut range = |low: f64, high: f64| low + (high - low) * 0.5 * (1.0 + random.next());
    let step = [0.1, 0.05][usize::from(range(0.0, 1.0) < 0.5)];
    let size = Vector3::new(range(0.03, 0.1), range(0.03, 0.1), range(0.03, 0.1));
    let modulus = 10.0_f64.powf(range(6.8, 7.5));
    let tilt = [0.0, 0.02, 0.3][(range(0.0, 2.999)) as usize];
    let turn = Vector3::new(tilt * range(-1.0, 1.0), tilt * range(-1.0, 1.0), range(-0.5, 0.5));
    let height = size.z * range(0.3, 0.8);
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.5));
    let tip = (Shape::Box { size: Vector3::new(0.02, 0.04, 0.04) }, &rigid(0.5));
    let place = (Vector3::new(-0.1, 0.0, height), Vector3::x());
    let finger = add_finger(&mut builder, "finger", place, JointLimits::NONE, spring(1000.0, f64::INFINITY), tip);
    builder.exclude_contact(BodyIndex::WORLD, finger);
    let mass = 1000.0 * size.x * size.y * size.z;
    let body = add_box(&mut builder, "box", size, mass, &compliant(modulus, 0.0, 0.5));
    let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, quasistatic(step, UnactuatedInertia::DRAG), &[]);
    let mut state = simulation.state().clone();
    let start = Vector3::z() * (0.5 * size.z + 0.02);
    let X_WB = RigidTransform::from_parts(start.into(), Rotation::new(turn));
    simulation.scene().model().set_free_body_pose(&mut state, body, &X_WB);
    simulation.set_state(state).expect("a state");
    let label = format!("h = {step}, {size:?}, {modulus:.2e} Pa, turn {turn:?}, height {height:.4}");
    (simulation, body, step, label)
}

/// Of 60 random pushes with moduli about the default of 1e7 Pa, none is refused. The boxes end on the ground:
/// no lower than half their smallest side less a load's depth.
#[test]
fn plain_pushes_of_stiff_compliant_boxes_are_taken() {
    let mut random = Random::new(4);
    let mut refused = Vec::new();
    for _ in 0..60 {
        let (mut simulation, body, step, label) = push(&mut random);
        for number in 1..=(1.3 / step).round() as u32 {
            let goal = (step * f64::from(number) - 0.3).clamp(0.0, 1.0) * 0.1;
            if let Err(error) = simulation.step(&positions(&[goal])) {
                refused.push(format!("{label}: {error}"));
                break;
            }
        }
        let z = simulation.data().X_WB[body].translation.z;
        assert!(z > 0.0149, "{label}: z = {z}");
    }
    assert!(refused.is_empty(), "{refused:#?}");
}

/// A compliant box of the default stiffness that a rod pushes over the edge of a rigid table tips and falls
/// to the ground in steps of any length.
#[test]
fn a_compliant_box_falls_over_the_edge_of_a_table() {
    for step in [0.2, 0.1, 0.05, 0.02, 0.01] {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.45));
        let table = Shape::Box { size: Vector3::new(0.4, 0.4, 0.2) };
        builder.add_geometry(BodyIndex::WORLD, "table", at(0.0, 0.0, 0.1), table, &rigid(0.4)).expect("a table");
        let tip = (Shape::Box { size: Vector3::new(0.02, 0.1, 0.01) }, &rigid(0.4));
        let place = (Vector3::new(0.03, 0.0, 0.22), Vector3::x());
        add_finger(&mut builder, "rod", place, JointLimits::NONE, spring(1000.0, f64::INFINITY), tip);
        let body = add_box(&mut builder, "box", Vector3::new(0.1, 0.06, 0.04), 0.3, &compliant(1e7, 0.0, 0.4));
        let settings = quasistatic(step, UnactuatedInertia::DRAG);
        let start = [(body, Vector3::new(0.1, 0.0, 0.22))];
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &start);
        for number in 1..=(5.0 / step).round() as u32 {
            let goal = 0.25 * (step * f64::from(number) / 4.0).min(1.0);
            if let Err(error) = simulation.step(&positions(&[goal])) {
                panic!("h = {step}: {error}");
            }
            let z = simulation.data().X_WB[body].translation.z;
            assert!(z > 0.0195, "h = {step}, t = {}: z = {z}", simulation.time());
        }
        let z = simulation.data().X_WB[body].translation.z;
        assert!(z < 0.06, "h = {step}: it lies at {z} m");
    }
}

/// Bodies that overlap and cannot move apart are refused with the overlap and a way out: neither smaller
/// commands nor shorter steps help.
#[test]
fn bodies_that_overlap_and_cannot_part_are_named_with_a_way_out() {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.4));
    let tip = (Shape::Box { size: Vector3::repeat(0.04) }, &rigid(0.4));
    let limits = JointLimits { lower: -0.01, upper: 0.0, ..JointLimits::NONE };
    let place = (Vector3::new(0.0, 0.0, 0.015), Vector3::z());
    add_finger(&mut builder, "finger", place, limits, spring(1000.0, f64::INFINITY), tip);
    let mut simulation = simulate(builder, Vector3::zeros(), quasistatic(0.1, UnactuatedInertia::DRAG), &[]);
    let error = simulation.step(&positions(&[0.0])).expect_err("no step");
    let StepError::NotSettled { reason: Unsettled::Contradiction { overlap, .. }, .. } = &error else {
        panic!("{error}")
    };
    assert!((overlap - 0.005).abs() < 1e-9, "{error}");
    let text = error.to_string();
    assert!(text.contains("overlap by 5.0e-3 m") && text.contains("no_contact"), "{text}");
    assert!(!text.contains("shorter steps"), "{text}");
}

/// A sash without an actuator is held by its rail, along which it slides down to the ground: where a step
/// without inertia does not settle because of it, here for want of iterations, it is no body that contact
/// alone holds.
#[test]
fn a_body_on_a_passive_rail_is_no_free_body() {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.4));
    let inertia = SpatialInertia::from_central(0.1, &Vector3::zeros(), &(Matrix3::identity() * 1e-4));
    let sash = builder.add_body("sash", inertia);
    let axis_F = Vector3::new(0.3, 0.0, 1.0).normalize();
    let spec = JointSpec { axis_F, ..JointSpec::new("rail", BodyIndex::WORLD, sash, JointKind::Prismatic) };
    builder.add_joint(spec).expect("a joint");
    let shape = Shape::Box { size: Vector3::repeat(0.04) };
    builder.add_geometry(sash, "sash", at(0.0, 0.0, 0.021), shape, &rigid(0.4)).expect("a sash");
    let mut settings = quasistatic(0.1, UnactuatedInertia::None);
    let Stepping::Quasistatic(options) = &mut settings.stepping else { panic!("quasistatic") };
    options.solver.outer_max = 0;
    let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &[]);
    let error = simulation.step(&positions(&[0.0])).expect_err("no step");
    let StepError::NotSettled { reason, .. } = &error else { panic!("{error}") };
    assert!(matches!(reason, Unsettled::Solver { .. }), "{error}");
    assert!(error.to_string().contains("sash"), "{error}");
}

/// A step that settles with friction at the centroids of faces only says so. With `face_friction: centroid`
/// it is as it was asked for, and says nothing.
#[test]
fn steps_with_friction_at_centroids_say_so() {
    let mut random = Random::new(4);
    let (mut found, mut spread) = (0, 0);
    for _ in 0..10 {
        let (mut simulation, _, step, label) = push(&mut random);
        for number in 1..=(1.3 / step).round() as u32 {
            let goal = (step * f64::from(number) - 0.3).clamp(0.0, 1.0) * 0.1;
            let before = simulation.clone();
            let report = simulation.step(&positions(&[goal])).expect("a step");
            if !report.friction_at_centroids {
                spread += 1;
                continue;
            }
            found += 1;
            let mut centroid = before.clone();
            let settings = StepSettings { face_friction: FaceFriction::Centroid, ..before.settings() };
            centroid.reset_with(settings).expect("settings");
            centroid.set_state(before.state().clone()).expect("a state");
            let report = centroid.step(&positions(&[goal])).expect("a step");
            assert!(!report.friction_at_centroids, "{label}, step {number}");
        }
    }
    assert!(found > 3 && spread > 3 * found, "{found} steps at centroids, {spread} with friction that is spread");
}

/// Bodies that touch each other nowhere settle each for itself: next to a block of 2 t at rest on its corners
/// and pushed, a cube of 10 g slides with the friction that it has alone. With a tolerance relative to the
/// largest friction of the scene, 8 mN, its own 39 mN could be wrong by a fifth.
#[test]
fn a_heavy_block_does_not_change_the_friction_of_a_light_cube() {
    let efforts = |with_block: bool| {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.4));
        let tip = || Shape::Sphere { radius: 0.002 };
        let from = (Vector3::new(-0.0121, 0.002, 0.006), Vector3::x());
        add_finger(&mut builder, "finger", from, JointLimits::NONE, spring(100.0, f64::INFINITY), (tip(), &rigid(0.2)));
        let cube = add_box(&mut builder, "cube", Vector3::repeat(0.02), 0.01, &rigid(0.4));
        let mut place = vec![(cube, Vector3::new(0.0, 0.0, 0.01))];
        if with_block {
            let ram = (Vector3::new(-0.51, 5.0, 0.3), Vector3::x());
            let ball = Shape::Sphere { radius: 0.01 };
            add_finger(&mut builder, "ram", ram, JointLimits::NONE, spring(1e7, f64::INFINITY), (ball, &rigid(0.2)));
            let block = add_box(&mut builder, "block", Vector3::repeat(1.0), 2000.0, &rigid(0.4));
            place.push((block, Vector3::new(0.0, 5.0, 0.5)));
        }
        let settings = quasistatic(0.01, UnactuatedInertia::DRAG);
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &place);
        let mut efforts = Vec::new();
        for number in 1..=40 {
            let goal = 1e-4 * f64::from(number);
            let command = if with_block { positions(&[goal, goal]) } else { positions(&[goal]) };
            simulation.step(&command).unwrap_or_else(|error| panic!("step {number}: {error}"));
            let mut snapshot = Snapshot::default();
            simulation.snapshot_into(&mut snapshot);
            efforts.push(snapshot.joint_effort.as_slice()[0]);
        }
        efforts
    };
    let (alone, beside) = (efforts(false), efforts(true));
    let friction = 0.4 * 0.01 * GRAVITY;
    assert!((alone[39] - friction).abs() < 0.03 * friction, "{alone:?}, law {friction}");
    let off = alone.iter().zip(&beside).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-4 * friction, "{off} of {friction} N: {alone:?}, {beside:?}");
}

/// A cube in the air that lands on a corner has no equilibrium without inertia until it lies on a face, which
/// no step is short enough for: the error names it, and what helps. With the drag it comes to rest.
#[test]
fn a_body_that_falls_over_without_inertia_is_refused_with_a_way_out() {
    for (height, turn) in [(0.3, Vector3::new(0.5, 0.3, 0.0)), (0.08, Vector3::new(0.1, 0.05, 0.0))] {
        for inertia in [UnactuatedInertia::None, UnactuatedInertia::DRAG] {
            let mut builder = SceneBuilder::new();
            add_ground(&mut builder, &rigid(0.4));
            let body = add_box(&mut builder, "die", Vector3::repeat(0.1), 1.0, &rigid(0.4));
            let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, quasistatic(0.1, inertia), &[]);
            let mut state = simulation.state().clone();
            let X_WB = RigidTransform::from_parts((Vector3::z() * height).into(), Rotation::new(turn));
            simulation.scene().model().set_free_body_pose(&mut state, body, &X_WB);
            simulation.set_state(state).expect("a state");
            if inertia == UnactuatedInertia::DRAG {
                for _ in 0..10 {
                    simulation.step(&positions(&[])).expect("a step");
                }
                let z = simulation.data().X_WB[body].translation.z;
                assert!((z - 0.05).abs() < 1e-4, "it lies on a face: {z}");
                continue;
            }
            let error = simulation.step(&positions(&[])).expect_err("no step");
            let text = error.to_string();
            assert!(matches!(&error, StepError::NotSettled { reason: Unsettled::FreeBody { .. }, .. }), "{text}");
            assert!(text.contains("'die'") && text.contains("inertia: drag"), "{text}");
            assert!(!text.contains("inf") && !text.contains("shorter steps"), "{text}");
        }
    }
}
