//! Bodies too fast for the contact of a step.

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialForce, SpatialInertia, SpatialVelocity, Vector3};
use isobar::multibody::{JointKind, JointSpec};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{
    ContactSurfaces, DynamicStepping, FrictionBound, JointCommand, JointTarget, Simulation, Snapshot, StepSettings,
    Stepping,
};

use super::bodies::{finish, rigid};
use crate::worlds::{GRAVITY, at, compliant, settings};

/// A ball of 20 mm, 100 g and the modulus [Pa], 26 mm before a wall of the thickness [m], which it approaches
/// with the speed [m/s].
fn ball_before_wall(speed: f64, thickness: f64, modulus: f64, settings: StepSettings) -> (Simulation, BodyIndex) {
    let mut builder = SceneBuilder::new();
    let wall = Shape::Box { size: Vector3::new(thickness, 1.0, 1.0) };
    builder.add_geometry(BodyIndex::WORLD, "wall", RigidTransform::identity(), wall, &rigid(0.3)).expect("a wall");
    let inertia = SpatialInertia::from_central(0.1, &Vector3::zeros(), &(Matrix3::identity() * 1e-5));
    let body = builder.add_body("ball", inertia);
    let shape = Shape::Sphere { radius: 0.01 };
    builder
        .add_geometry(body, "shell", RigidTransform::identity(), shape, &compliant(modulus, 1.0, 0.3))
        .expect("a ball");
    let start = at(-0.5 * thickness - 0.036, 0.0, 0.0);
    let (scene, mut state) = finish(builder, Vector3::zeros(), &[start]);
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, 0.0));
    scene.model().set_free_body_velocity(&mut state, body, &V);
    (Simulation::new(scene, state, settings).expect("a simulation"), body)
}

/// With surfaces of the start of the step, two bodies that approach each other too fast for the step are
/// named, with a step that is short enough; slower ones are not.
#[test]
fn a_pair_that_meets_too_fast_for_the_step_is_named() {
    for (speed, step, thickness, missed) in
        [(5.0, 5e-3, 0.1, true), (60.0, 5e-3, 0.01, true), (0.5, 5e-3, 0.1, false), (5.0, 1e-3, 0.1, false)]
    {
        let options = DynamicStepping { surfaces: ContactSurfaces::Start, ..DynamicStepping::default() };
        let at_start = StepSettings { stepping: Stepping::Dynamic(options), ..settings(step) };
        let (mut simulation, _) = ball_before_wall(speed, thickness, 1e6, at_start);
        let mut warnings = Vec::new();
        for _ in 0..(0.1 / step) as u32 {
            simulation.step(&JointCommand::default()).expect("a step");
            warnings.extend(simulation.missed_contact().map(|missed| missed.to_string()));
        }
        println!("{speed} m/s, step {step} s: {warnings:?}");
        assert_eq!(!warnings.is_empty(), missed, "{speed} m/s: {warnings:?}");
        for name in
            warnings.iter().flat_map(|_| ["`ball/shell`", "`world/wall`", "take a step of at most", "free_path"])
        {
            assert!(warnings[0].contains(name), "{}", warnings[0]);
        }
    }
}

/// On the free path too, a ball that its pressure cannot stop is named before it is beyond the wall; one that
/// bounces off is not.
#[test]
fn a_ball_that_is_not_stopped_is_named() {
    for (modulus, step, passes) in [
        (1e5, 5e-3, true),
        (1e4, 5e-3, true),
        (1e4, 1e-3, true),
        (1e5, 2e-4, true),
        (1e6, 5e-3, false),
        (1e6, 1e-3, false),
        (1e6, 2e-4, false),
    ] {
        let (mut simulation, body) = ball_before_wall(5.0, 0.1, modulus, settings(step));
        let mut named = false;
        let mut beyond = false;
        for _ in 0..(0.1 / step) as u32 {
            simulation.step(&JointCommand::default()).expect("a step");
            named |= simulation.missed_contact().is_some();
            beyond |= simulation.data().X_WB[body].translation.vector.x > 0.05;
            assert!(named || !beyond, "{modulus} Pa, {step} s: beyond the wall in silence");
        }
        assert_eq!((named, beyond), (passes, passes), "{modulus} Pa, {step} s");
    }
}

/// A ball that flies 5 m in a step passes a wall of 20 mm between the places at which its free path is
/// searched for contact. It is named.
#[test]
fn a_ball_that_passes_between_the_searched_places_is_named() {
    let (mut simulation, body) = ball_before_wall(5000.0, 0.02, 1e6, settings(1e-3));
    simulation.step(&JointCommand::default()).expect("a step");
    let beyond = simulation.data().X_WB[body].translation.vector.x > 0.02;
    let missed = simulation.missed_contact().map(|missed| missed.to_string());
    assert!(beyond && missed.as_ref().is_some_and(|text| text.contains("`ball/shell`")), "{missed:?}");
}

/// A ball that its ground cannot carry is named while it sinks: nearly inside, the force of a half space
/// grows no further.
#[test]
fn a_ball_that_sinks_into_soft_ground_is_named() {
    let radius = 0.05;
    let mut builder = SceneBuilder::new();
    let mut ground = compliant(2e4, 1.0, 0.3);
    ground.slab_thickness = Some(0.1);
    builder
        .add_geometry(BodyIndex::WORLD, "ground", RigidTransform::identity(), Shape::HalfSpace, &ground)
        .expect("a ground");
    let inertia = SpatialInertia::from_central(20.0, &Vector3::zeros(), &(Matrix3::identity() * 0.02));
    let body = builder.add_body("ball", inertia);
    builder
        .add_geometry(body, "shell", RigidTransform::identity(), Shape::Sphere { radius }, &rigid(0.3))
        .expect("a ball");
    let (scene, state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[at(0.0, 0.0, radius)]);
    let mut simulation = Simulation::new(scene, state, settings(2e-3)).expect("a simulation");
    let mut named = None;
    for _ in 0..500 {
        simulation.step(&JointCommand::default()).expect("a step");
        let height = simulation.data().X_WB[body].translation.vector.z;
        named = named.or(simulation.missed_contact().map(|_| height));
        assert!(named.is_some() || height > -0.95 * radius, "at {height} m in silence");
    }
    assert!(named.is_some_and(|height| height > -radius), "{named:?}");
}

/// A ball of 20 mm that meets a wall of 100 mm with 5 m/s bounces off, also in steps in which it flies 25 mm.
/// Its material can stop it: 1e6 Pa in 4 cm3 hold more than its 1.25 J. Its centre stays before the wall, by
/// a tenth of a millimetre at least; in steps of 0.1 ms it stays 1.9 mm away.
#[test]
fn a_fast_ball_bounces_off_a_wall_in_long_steps() {
    for step in [5e-3, 2e-3, 1e-3] {
        let (mut simulation, body) = ball_before_wall(5.0, 0.1, 1e6, settings(step));
        let mut nearest = f64::NEG_INFINITY;
        for _ in 0..(0.1 / step) as u32 {
            simulation.step(&JointCommand::default()).expect("a step");
            nearest = nearest.max(simulation.data().X_WB[body].translation.vector.x);
        }
        let v = simulation.data().V_WB[body].v.x;
        println!("step {step} s: up to {:.2} mm before the wall, then {v:.3} m/s", 1e3 * (-0.05 - nearest));
        assert!(nearest < -0.0501 && v < 0.0 && v > -5.0, "step {step} s: {nearest} m, {v} m/s");
    }
}

/// A board of 1 m on a hinge falls flat onto a thin plate with 12 rad/s. Its corner at the hinge touches the
/// plate all the time. In steps of 5 ms its far end moves by 60 mm, three times the thickness of the plate,
/// and must not pass: the plate's pressure field takes up 12 J within a millimetre.
#[test]
fn the_far_end_of_a_falling_board_does_not_pass_a_plate() {
    let (thickness, board, mass) = (0.02, Vector3::new(1.0, 0.1, 0.02), 0.5);
    for (step, start) in [(5e-3, -0.15), (5e-3, -0.17), (2e-3, -0.15), (2e-3, -0.16)] {
        let mut builder = SceneBuilder::new();
        let plate = Shape::Box { size: Vector3::new(2.4, 0.4, thickness) };
        let below = at(0.0, 0.0, -0.5 * thickness);
        builder.add_geometry(BodyIndex::WORLD, "plate", below, plate, &compliant(2e7, 1.0, 0.8)).expect("a plate");
        let center = Vector3::new(0.5 * board.x, 0.0, 0.5 * board.z);
        let square = board.component_mul(&board);
        let moments = Vector3::new(square.y + square.z, square.x + square.z, square.x + square.y) * (mass / 12.0);
        let inertia = SpatialInertia::from_central(mass, &center, &Matrix3::from_diagonal(&moments));
        let body = builder.add_body("board", inertia);
        let shape = Shape::Box { size: board };
        builder.add_geometry(body, "board", at(center.x, 0.0, center.z), shape, &rigid(0.8)).expect("a board");
        let hinge = JointSpec {
            axis_F: Vector3::y(),
            X_PF: at(0.0, 0.0, -1e-4),
            ..JointSpec::new("hinge", BodyIndex::WORLD, body, JointKind::Revolute)
        };
        builder.add_joint(hinge).expect("a hinge");
        let (scene, mut state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[]);
        (state.q[0], state.v[0]) = (start, 12.0);
        let mut simulation = Simulation::new(scene, state, settings(step)).expect("a simulation");
        let (mut lowest, mut touched) = (f64::INFINITY, 0);
        for _ in 0..(0.1 / step) as u32 {
            touched += u32::from(simulation.step(&JointCommand::default()).expect("a step").faces > 0);
            lowest = lowest.min(-board.x * simulation.state().q[0].sin());
        }
        println!(
            "step {step} s, from {start} rad: the far end comes down to {:.2} mm, {touched} contacts",
            1e3 * lowest
        );
        assert!(lowest > -0.5 * thickness && touched > 10, "step {step} s: {lowest} m, {touched}");
    }
}

/// A wrench takes a light ball from rest through a wall within a step of 5 ms, which is found on its path.
#[test]
fn a_body_that_a_wrench_drives_into_a_wall_is_found() {
    let step = 5e-3;
    let (mut simulation, body) = ball_before_wall(0.0, 0.02, 1e8, settings(step));
    // 80 mm in a step: beyond the wall, whose near side is 26 mm away, and its thickness of 20 mm
    let force = Vector3::new(0.1 * 0.08 / (step * step), 0.0, 0.0);
    simulation.set_external_wrench(body, SpatialForce::new(Vector3::zeros(), force)).expect("a wrench");
    let mut furthest = f64::NEG_INFINITY;
    for _ in 0..20 {
        simulation.step(&JointCommand::default()).expect("a step");
        simulation.set_external_wrench(body, SpatialForce::ZERO).expect("no wrench");
        furthest = furthest.max(simulation.data().X_WB[body].translation.vector.x);
    }
    println!("{force:?} drives the ball to {furthest} m");
    assert!(furthest < -0.01, "{furthest} m");
}

/// Without the bound of the step's own forces, contact surfaces are those of the start of the step: a contact
/// that begins within a step would have no friction. The ball of an oblique impact slows down.
#[test]
fn lagged_friction_has_the_surfaces_of_the_start() {
    let bounce = |surfaces: ContactSurfaces| {
        let options = DynamicStepping { surfaces, friction_bound: FrictionBound::Lagged, ..DynamicStepping::default() };
        let lagged = StepSettings { stepping: Stepping::Dynamic(options), ..settings(2e-3) };
        let (mut simulation, body) = ball_before_wall(3.0, 0.1, 1e6, lagged);
        let mut state = simulation.state().clone();
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(3.0, 0.0, 1.0));
        simulation.scene().model().set_free_body_velocity(&mut state, body, &V);
        simulation.set_state(state).expect("a state");
        for _ in 0..20 {
            simulation.step(&JointCommand::default()).expect("a step");
        }
        simulation.data().V_WB[body].v
    };
    let (path, start) = (bounce(ContactSurfaces::FreePath), bounce(ContactSurfaces::Start));
    println!("{path:?}");
    assert_eq!(path, start);
    assert!(path.x < 0.0 && path.z < 0.9, "{path:?}");
}

/// A rigid link of 0.5 m turns by up to 2.5 rad in one step, and a rigid post of 60 mm stands in its way. At
/// the poses of the start the post is beside the link, and the points there do not stop it: it passed in
/// silence. Closed form: the side of the link, 20 mm from its axis, meets the corner c = (30, 320) mm of the
/// post at acos(20 mm/|c|) - atan(30/320) = 1.4151 rad. The pose at which the two first overlap is found to a
/// 64th of half the thickness of the link, 0.31 mm or 1 mrad at that corner. The near-rigid points, at least
/// one, yield to the torque T by T (beta h)^2/(4 pi^2 I) with the inertia I = 0.0825 kg m2 about the hinge.
#[test]
fn a_fast_rigid_link_does_not_pass_a_post() {
    let touch = (0.02 / 0.03_f64.hypot(0.32)).acos() - 0.03_f64.atan2(0.32);
    for (step, spin, target) in
        [(0.05, 0.0, 2.5), (0.05, 35.0, 2.5), (0.02, 0.0, 2.5), (0.02, 35.0, 1.5), (0.01, 35.0, 2.5)]
    {
        let mut builder = SceneBuilder::new();
        let post = Shape::Box { size: Vector3::new(0.06, 0.06, 0.3) };
        builder.add_geometry(BodyIndex::WORLD, "post", at(0.0, 0.35, 0.0), post, &rigid(0.3)).expect("a post");
        let moments = Matrix3::from_diagonal(&Vector3::new(1e-3, 2e-2, 2e-2));
        let inertia = SpatialInertia::from_central(1.0, &Vector3::new(0.25, 0.0, 0.0), &moments);
        let link = builder.add_body("link", inertia);
        let shape = Shape::Box { size: Vector3::new(0.5, 0.04, 0.04) };
        builder.add_geometry(link, "link", at(0.25, 0.0, 0.0), shape, &rigid(0.3)).expect("a link");
        let hinge = JointSpec::new("hinge", BodyIndex::WORLD, link, JointKind::Revolute);
        let hinge = builder.add_joint(hinge).expect("a hinge");
        builder.set_actuator(hinge, Actuator { stiffness: 1000.0, damping: 20.0, ..Actuator::PASSIVE });
        let (scene, mut state) = finish(builder, Vector3::zeros(), &[]);
        state.v[0] = spin;
        let mut simulation = Simulation::new(scene, state, settings(step)).expect("a simulation");
        let command: JointCommand =
            [JointTarget { position: Some(target), ..JointTarget::default() }].into_iter().collect();
        let mut farthest = 0.0_f64;
        for _ in 0..(1.0 / step) as u32 {
            simulation.step(&command).expect("a step");
            farthest = farthest.max(simulation.state().q[0]);
        }
        let end = simulation.state().q[0];
        println!("step {step} s, {spin} rad/s to {target} rad: up to {farthest:.4}, at the end {end:.4} rad");
        let torque = 1000.0 * (target - touch);
        let yields = torque * (0.1 * step).powi(2) / (4.0 * std::f64::consts::PI.powi(2) * 0.0825);
        assert!(farthest < touch + yields + 1e-3, "step {step} s, {spin} rad/s: {farthest} rad");
        assert!((end - touch).abs() < yields + 1e-3, "step {step} s, {spin} rad/s: {end} rad");
    }
}

/// A paddle whose origin is on its axis hits a wall within a step. The pressures of the surface are those of
/// the end of the step: without dissipation and friction they add up to the contact force.
#[test]
fn pressures_of_a_paddle_are_those_of_the_end_of_the_step() {
    let mut builder = SceneBuilder::new();
    let wall = Shape::Box { size: Vector3::new(0.1, 1.0, 1.0) };
    builder
        .add_geometry(BodyIndex::WORLD, "wall", at(0.05, 0.0, 0.0), wall, &compliant(1e7, 0.0, 0.0))
        .expect("a wall");
    let inertia = SpatialInertia::from_central(0.1, &Vector3::new(0.0, 0.0, 0.2), &(Matrix3::identity() * 1e-4));
    let body = builder.add_body("paddle", inertia);
    let blade = Shape::Box { size: Vector3::new(0.02, 0.05, 0.05) };
    builder.add_geometry(body, "blade", at(0.0, 0.0, 0.2), blade, &rigid(0.0)).expect("a blade");
    let axis = JointSpec {
        axis_F: Vector3::y(),
        X_PF: at(-0.0225, 0.0, 0.0),
        ..JointSpec::new("axis", BodyIndex::WORLD, body, JointKind::Revolute)
    };
    builder.add_joint(axis).expect("an axis");
    let (scene, mut state) = finish(builder, Vector3::zeros(), &[]);
    state.v[0] = 20.0;
    let mut simulation = Simulation::new(scene, state, settings(5e-3)).expect("a simulation");
    let mut snapshot = Snapshot::default();
    loop {
        simulation.step(&JointCommand::default()).expect("a step");
        simulation.snapshot_into(&mut snapshot);
        if let [patch] = snapshot.contact_patches() {
            let faces = &patch.faces;
            let each = faces.normal_W.iter().zip(faces.area.iter().zip(&faces.pressure));
            let pressed: Vector3 = each.map(|(normal, (area, pressure))| normal * (area * pressure)).sum();
            let F = patch.F_BC_W.f;
            println!("pressed by {pressed:?}, force {F:?}");
            assert!((pressed - F).norm() < 1e-9 * F.norm(), "{pressed:?}: {F:?}");
            return;
        }
        assert!(simulation.step_count() < 5, "no contact");
    }
}
