//! Complementarity steps against closed forms, for every solver and friction model.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, RigidTransform, Rotation, SpatialVelocity, Vector3};
use isobar::multibody::JointLimits;
use isobar::scene::{Actuator, SceneBuilder};
use isobar::solvers::complementarity::{
    ComplementaritySettings, ComplementaritySolver, FrictionFrame, FrictionLaw, RefusedSettings,
};
use isobar::stepping::{
    JointCommand, JointTarget, Simulation, SimulationError, Snapshot, SpookStepping, StepSettings, Stepping,
};

use super::bodies::{box_inertia, finish, rigid};
use crate::worlds::{GRAVITY, Slider, at, body_on_ground, compliant, settings};

const SOLVERS: [ComplementaritySolver; 4] = ComplementaritySolver::ALL;

const LAWS: [FrictionLaw; 10] = [
    FrictionLaw::Box,
    FrictionLaw::ScaledBox,
    FrictionLaw::OrientedBox(FrictionFrame::World),
    FrictionLaw::OrientedBox(FrictionFrame::Body),
    FrictionLaw::OrientedBox(FrictionFrame::Slip),
    FrictionLaw::Randomized { seed: 1 },
    FrictionLaw::MultiDirectional { directions: 32 },
    FrictionLaw::ProjectedCone,
    FrictionLaw::PolyhedralCone { edges: 16 },
    FrictionLaw::ExactCone,
];

/// Complementarity steps of `step` [s].
pub(super) fn spook(step: f64, solver: ComplementaritySolver, friction: FrictionLaw) -> StepSettings {
    let solver = ComplementaritySettings { solver, friction, ..ComplementaritySettings::default() };
    StepSettings { stepping: Stepping::Spook(SpookStepping { solver, ..SpookStepping::default() }), ..settings(step) }
}

/// Every pair that exists.
pub(super) fn pairs() -> impl Iterator<Item = (ComplementaritySolver, FrictionLaw)> {
    SOLVERS.into_iter().flat_map(|solver| LAWS.map(|law| (solver, law))).filter(|(solver, law)| {
        ComplementaritySettings { solver: *solver, friction: *law, ..ComplementaritySettings::default() }
            .check()
            .is_ok()
    })
}

/// A box of 1 kg on the ground, at the depth of its static load.
fn block(pad: &ContactProperties, step_settings: StepSettings, v_WB: Vector3) -> (Simulation, BodyIndex) {
    let size = Vector3::new(0.1, 0.1, 0.04);
    let moments = box_inertia(1.0, &size).central().diagonal();
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let (scene, mut state, body) = body_on_ground(Shape::Box { size }, 1.0, moments, pad, gravity);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * size.z));
    let mut simulation = Simulation::new(scene, state, step_settings).expect("a simulation");
    (0..60).for_each(|_| {
        simulation.step(&JointCommand::default()).expect("a step");
    });
    let mut state = simulation.state().clone();
    let velocity = SpatialVelocity::new(Vector3::zeros(), v_WB);
    simulation.scene().model().set_free_body_velocity(&mut state, body, &velocity);
    simulation.set_state(state).expect("a state");
    (simulation, body)
}

fn steps(simulation: &mut Simulation, count: u32) {
    for _ in 0..count {
        simulation.step(&JointCommand::default()).expect("a step");
    }
}

/// Without contact a complementarity step is a dynamic step.
#[test]
fn bodies_fall_as_in_dynamic_steps() {
    let falling = |settings: StepSettings| {
        let size = Vector3::new(0.1, 0.06, 0.04);
        let moments = box_inertia(1.0, &size).central().diagonal();
        let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
        let (scene, mut state, body) = body_on_ground(Shape::Box { size }, 1.0, moments, &rigid(0.5), gravity);
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 5.0));
        let tumbling = SpatialVelocity::new(Vector3::new(3.0, 8.0, 1.0), Vector3::new(0.1, 0.0, 1.0));
        scene.model().set_free_body_velocity(&mut state, body, &tumbling);
        let mut simulation = Simulation::new(scene, state, settings).expect("a simulation");
        steps(&mut simulation, 30);
        simulation.state().clone()
    };
    let step = 1.0 / 60.0;
    let expected = falling(settings(step));
    for (solver, law) in pairs() {
        let found = falling(spook(step, solver, law));
        let all = found.q.iter().chain(&found.v).zip(expected.q.iter().chain(&expected.v));
        assert!(all.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 1e-10, "{solver:?} {law:?}");
    }
}

/// No friction acts on a body in the air, also if the bounds of a box come from the last normal force. The
/// landing brakes it.
#[test]
fn friction_begins_at_the_landing() {
    let size = Vector3::new(0.1, 0.1, 0.04);
    let moments = box_inertia(1.0, &size).central().diagonal();
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    for law in [FrictionLaw::Box, FrictionLaw::ScaledBox] {
        let (scene, mut state, body) = body_on_ground(Shape::Box { size }, 1.0, moments, &rigid(0.3), gravity);
        // The landing is in the third step of 1/60 s: 20 mm at 0.5 m/s and more
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * size.z + 0.02));
        let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(1.0, 0.0, -0.5));
        scene.model().set_free_body_velocity(&mut state, body, &velocity);
        let settings = spook(1.0 / 60.0, ComplementaritySolver::Direct, law);
        let mut simulation = Simulation::new(scene, state, settings).expect("a simulation");
        steps(&mut simulation, 1);
        assert!((simulation.data().V_WB[body].v.x - 1.0).abs() < 1e-12, "{law:?}: {}", simulation.data().V_WB[body].v);
        steps(&mut simulation, 4);
        // At least half of mu times the impulse that ends 0.5 m/s, and far less than all that is lost at rest
        let lost = 1.0 - simulation.data().V_WB[body].v.x;
        assert!((0.5 * 0.3 * 0.5..0.5).contains(&lost), "{law:?}: lost {lost} m/s");
    }
}

/// A stiff pad that lands with 0.5 m/s while it slides with 2 m/s has the friction mu times its own normal
/// impulses, m (u + g T). The bounds of a box are those of the step before, and those of the impact in the
/// first one: the landing counts once more, m u. Before the damping of the start was its bound, the box
/// stopped the pad at once.
#[test]
fn friction_of_a_landing_pad_is_bounded_by_its_impact() {
    let size = Vector3::new(0.1, 0.1, 0.04);
    let moments = box_inertia(1.0, &size).central().diagonal();
    let (gravity, mu, u, time) = (Vector3::new(0.0, 0.0, -GRAVITY), 0.3, 0.5, 0.1);
    for step in [1.0 / 60.0, 5e-3, 1e-3] {
        for law in [FrictionLaw::Box, FrictionLaw::ScaledBox, FrictionLaw::ExactCone] {
            let pad = compliant(1e7, 10.0, mu);
            let (scene, mut state, body) = body_on_ground(Shape::Box { size }, 1.0, moments, &pad, gravity);
            scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * size.z));
            let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(2.0, 0.0, -u));
            scene.model().set_free_body_velocity(&mut state, body, &velocity);
            let settings = spook(step, ComplementaritySolver::Direct, law);
            let mut simulation = Simulation::new(scene, state, settings).expect("a simulation");
            steps(&mut simulation, (time / step).round() as u32);
            let lost = 2.0 - simulation.data().V_WB[body].v.x;
            let (least, most) = (mu * (u + GRAVITY * time), mu * (2.0 * u + GRAVITY * (time + step)));
            println!("{law:?}, {step} s: lost {lost} m/s, {least} to {most}");
            assert!((0.9 * least..1.05 * most).contains(&lost), "{law:?}, {step} s: lost {lost} m/s of {most}");
        }
    }
}

/// Closed form: a block that slides along an axis of the world loses mu g t of its speed, with every solver
/// and friction model but the box that turns at random. The last normal force bounds the box from the second
/// step on, so that the friction of a new contact is that of its impact: none.
#[test]
fn blocks_slide_with_mu_times_their_weight() {
    let (mu, speed, step, count) = (0.3, 1.0, 1.0 / 60.0, 12);
    let exact = mu * GRAVITY * step * f64::from(count);
    let mut wrong = Vec::new();
    for (name, pad) in [("feet", rigid(mu)), ("pad", compliant(1e6, 10.0, mu))] {
        for (solver, law) in pairs().filter(|(_, law)| !matches!(law, FrictionLaw::Randomized { .. })) {
            let (mut simulation, body) = block(&pad, spook(step, solver, law), Vector3::new(speed, 0.0, 0.0));
            steps(&mut simulation, 1);
            let start = simulation.data().V_WB[body].v;
            steps(&mut simulation, count);
            let lost = start.x - simulation.data().V_WB[body].v.x;
            // 16 sweeps over all faces of a stiff pad leave a part of the load to the next step
            if name == "pad" && solver == ComplementaritySolver::GaussSeidel {
                continue;
            }
            let bound = 0.01;
            let line = format!("{name} {} {}: {:.5} of mu g t", solver.name(), law.name(), lost / exact);
            println!("{line}");
            if (lost / exact - 1.0).abs() > bound {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Closed form: the friction of a box along the world's axes is sqrt(2) mu m g at 45 degrees, that of the
/// cones mu m g in every direction; a polygon of 16 corners between cos(pi/16) and 1 of it.
#[test]
fn boxes_are_too_strong_along_their_diagonals_and_cones_are_not() {
    let (mu, step) = (0.3, 1.0 / 60.0);
    let direct = ComplementaritySolver::Direct;
    let mut wrong = Vec::new();
    for (solver, law) in [
        (direct, FrictionLaw::ScaledBox),
        (direct, FrictionLaw::OrientedBox(FrictionFrame::Slip)),
        (direct, FrictionLaw::PolyhedralCone { edges: 16 }),
        (direct, FrictionLaw::ExactCone),
        (ComplementaritySolver::Split, FrictionLaw::ProjectedCone),
    ] {
        for degrees in [0.0_f64, 10.0, 30.0, 45.0, 70.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let (mut simulation, body) = block(&rigid(mu), spook(step, solver, law), Vector3::new(cos, sin, 0.0));
            steps(&mut simulation, 1);
            let before = simulation.data().V_WB[body].v;
            steps(&mut simulation, 1);
            let lost = (before - simulation.data().V_WB[body].v).norm() / (mu * GRAVITY * step);
            let mut snapshot = Snapshot::default();
            simulation.snapshot_into(&mut snapshot);
            let (points, net) = snapshot.friction_errors();
            assert!((net.cone - (lost - 1.0).max(0.0)).abs() < 1e-4, "{law:?}: {net:?} for {lost}");
            assert!((points.cone - net.cone).abs() < 1e-4, "{law:?}: {points:?}");
            // Closed form: a box pushes along its diagonal, a cone opposite to the slip, a polygon to its
            // nearest corner, which is at most pi/16 away
            let v = simulation.data().V_WB[body].v;
            let aligned = match law {
                FrictionLaw::ScaledBox if degrees > 0.0 => (v.y.atan2(v.x) - 0.25 * std::f64::consts::PI).abs(),
                _ => 0.0,
            };
            let most =
                if matches!(law, FrictionLaw::PolyhedralCone { .. }) { std::f64::consts::PI / 16.0 } else { 0.0 };
            let off = (net.alignment - aligned).abs();
            assert!(off < most + 1e-3, "{law:?} at {degrees}: {net:?} and not {aligned}");
            assert!((points.alignment - net.alignment).abs() < 1e-3, "{law:?}: {points:?} {net:?}");
            let range = match law {
                FrictionLaw::ScaledBox if degrees > 0.0 => (2.0_f64.sqrt(), 2.0_f64.sqrt()),
                FrictionLaw::PolyhedralCone { .. } => ((std::f64::consts::PI / 16.0).cos(), 1.0),
                _ => (1.0, 1.0),
            };
            let line = format!("{} {} at {degrees}: {lost:.9} of mu m g", solver.name(), law.name());
            println!("{line}");
            if lost < range.0 - 1e-6 || lost > range.1 + 1e-6 {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Closed form: on a slope the block sticks below atan mu, and slides with g (sin - mu cos) above it.
#[test]
fn blocks_stick_below_the_friction_angle_and_slide_above() {
    let (mu, step) = (0.4_f64, 1.0 / 60.0);
    for (solver, law) in pairs().filter(|(solver, law)| {
        *solver != ComplementaritySolver::GaussSeidel && !matches!(law, FrictionLaw::Randomized { .. })
    }) {
        for part in [0.9, 1.2] {
            let angle = mu.atan() * part;
            let size = Vector3::new(0.1, 0.1, 0.02);
            let moments = box_inertia(1.0, &size).central().diagonal();
            // Gravity leans instead of the ground
            let gravity = Vector3::new(angle.sin(), 0.0, -angle.cos()) * GRAVITY;
            let (scene, mut state, body) = body_on_ground(Shape::Box { size }, 1.0, moments, &rigid(mu), gravity);
            scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * size.z));
            let mut simulation = Simulation::new(scene, state, spook(step, solver, law)).expect("a simulation");
            steps(&mut simulation, 20);
            let before = simulation.data().V_WB[body].v.x;
            steps(&mut simulation, 20);
            let gained = (simulation.data().V_WB[body].v.x - before) / (20.0 * step);
            let exact = GRAVITY * (angle.sin() - mu * angle.cos()).max(0.0);
            assert!(
                (gained - exact).abs() < 0.01 * GRAVITY,
                "{} {} at {part}: {gained} and not {exact} m/s2",
                solver.name(),
                law.name()
            );
        }
    }
}

/// Closed form: a ball on a spring without damping bounces back with its speed; with a relaxation time of
/// sqrt(2)/omega the force vanishes when exp(-pi/2) of the speed is back.
#[test]
fn springs_without_damping_give_back_the_speed_of_an_impact() {
    let rebound = |relaxation_time: f64, step: f64| {
        let stiffness = 1e4;
        let pad = ContactProperties {
            point_contact_stiffness: Some(stiffness),
            relaxation_time: Some(relaxation_time),
            ..rigid(0.0)
        };
        let shape = Shape::Sphere { radius: 0.05 };
        let (scene, mut state, body) = body_on_ground(shape, 1.0, Vector3::repeat(1e-3), &pad, Vector3::zeros());
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.06));
        let down = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -0.5));
        scene.model().set_free_body_velocity(&mut state, body, &down);
        let law = (ComplementaritySolver::Direct, FrictionLaw::ExactCone);
        let mut simulation = Simulation::new(scene, state, spook(step, law.0, law.1)).expect("a simulation");
        steps(&mut simulation, (0.2 / step) as u32);
        simulation.data().V_WB[body].v.z / 0.5
    };
    // Springs in series: omega h is 0.007 and 0.07; the first and the last step of the contact are cut by up
    // to one step
    let exact = (-0.5 * std::f64::consts::PI).exp();
    for (step, bound) in [(1e-4, 0.01), (1e-3, 0.05)] {
        let part = rebound(0.0, step);
        println!("step {step}: {part} of the speed");
        assert!((part - 1.0).abs() < bound, "{part}");
        let damped = rebound(0.02, step); // omega = sqrt(5e3 N/m / 1 kg)
        println!("step {step}: {damped} of the speed, damped");
        assert!((damped - exact).abs() < bound, "{damped} and not {exact}");
    }
}

/// A block that lands on the ground at any step does not gain energy.
#[test]
fn landings_lose_energy() {
    for step in [1e-3, 5e-3, 1.0 / 60.0] {
        for (name, pad) in
            [("feet", rigid(0.3)), ("pad", compliant(1e6, 10.0, 0.3)), ("soft", compliant(1e5, 10.0, 0.3))]
        {
            for (solver, law) in [
                (ComplementaritySolver::Direct, FrictionLaw::ExactCone),
                (ComplementaritySolver::Direct, FrictionLaw::ScaledBox),
                (ComplementaritySolver::Split, FrictionLaw::ProjectedCone),
            ] {
                let size = Vector3::new(0.1, 0.1, 0.04);
                let moments = box_inertia(1.0, &size).central().diagonal();
                let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
                let (scene, mut state, body) = body_on_ground(Shape::Box { size }, 1.0, moments, &pad, gravity);
                let turned = Rotation::from_euler_angles(0.3, 0.2, 0.1);
                let X_WB = RigidTransform::from_parts(Vector3::new(0.0, 0.0, 0.15).into(), turned);
                scene.model().set_free_body_pose(&mut state, body, &X_WB);
                let mut simulation = Simulation::new(scene, state, spook(step, solver, law)).expect("a simulation");
                let mut highest = 0.15_f64;
                for _ in 0..(1.0 / step) as u32 {
                    simulation.step(&JointCommand::default()).expect("a step");
                    let V = simulation.data().V_WB[body];
                    let z = simulation.data().X_WB[body].translation.vector.z;
                    highest = highest.max(z + 0.5 * V.v.norm_squared() / GRAVITY);
                }
                assert!(highest < 0.152, "{name} {} {} {step}: {highest} m", solver.name(), law.name());
                let end = simulation.data().V_WB[body];
                assert!(end.v.norm() < 0.05, "{name} {} {} {step}: {end:?}", solver.name(), law.name());
            }
        }
    }
}

/// Closed form: an actuator at its effort limit accelerates a mass by limit/m, and holds it at its limit of
/// travel afterwards.
#[test]
fn actuators_push_with_their_limit_and_joints_stop_at_theirs() {
    for (solver, law) in pairs() {
        let step = 1.0 / 60.0;
        let limits = JointLimits { lower: -0.1, upper: 0.5, ..JointLimits::default() };
        let actuator = Actuator { stiffness: 1e4, damping: 200.0, effort_limit: 6.0, ..Actuator::PASSIVE };
        let slider = Slider { limits, actuator, ..Slider::of_mass(2.0) };
        let mut simulation = slider.simulation(0.0, spook(step, solver, law));
        let target = JointTarget { position: Some(2.0), ..JointTarget::default() };
        let command: JointCommand = std::iter::once(target).collect();
        for _ in 0..20 {
            simulation.step(&command).expect("a step");
        }
        let exact = 3.0 * 20.0 * simulation.settings().step();
        assert!((simulation.state().v[0] - exact).abs() < 1e-9, "{solver:?}: {:?}", simulation.state().v);
        for _ in 0..100 {
            simulation.step(&command).expect("a step");
        }
        let q = simulation.state().q[0];
        assert!((q - 0.5).abs() < 1e-4, "{solver:?}: {q}");
    }
}

/// Projected cones have no direct solver, and the error lists the pairs that exist.
#[test]
fn solvers_refuse_the_friction_that_they_do_not_have() {
    let slider = Slider::of_mass(1.0);
    let mut builder = SceneBuilder::new();
    slider.add(&mut builder, "slider");
    let (scene, state) = finish(builder, Vector3::zeros(), &[]);
    let refused = spook(0.01, ComplementaritySolver::Direct, FrictionLaw::ProjectedCone);
    let error = Simulation::new(scene.clone(), state.clone(), refused).expect_err("a refusal");
    let text = error.to_string();
    assert!(matches!(error, SimulationError::Complementarity(RefusedSettings::Pair { .. })), "{error:?}");
    for name in ["`direct`", "`projected_cone`", "`exact_cone`", "`multi_directional`", "`split`", "`gauss_seidel`"] {
        assert!(text.contains(name), "{text} does not name {name}");
    }
    let one = spook(0.01, ComplementaritySolver::Direct, FrictionLaw::MultiDirectional { directions: 1 });
    assert!(Simulation::new(scene, state, one).is_err());
}

/// The pads of a gripper have 150 faces, each with a row of the problem. With block pivots alone a step took
/// thousands of factorizations. Newton's method finds the rows at their bounds: each of the few rounds of
/// bounds takes about ten iterations.
#[test]
fn direct_steps_of_two_pads_take_few_factorizations() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("config/spatula_slip.yaml");
    for friction in [FrictionLaw::ScaledBox, FrictionLaw::MultiDirectional { directions: 4 }] {
        let loaded = scene_file::load(&path, &PackageMap::from_environment()).expect("the scene loads");
        let with = StepSettings { step_ns: 4_000_000, ..spook(0.004, ComplementaritySolver::Direct, friction) };
        let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial, with).expect("a simulation");
        let mut command = JointCommand::new(&loaded.scene);
        let (mut faces, mut most, mut sum) = (0, 0, 0);
        for _ in 0..80 {
            loaded.commands.fill(simulation.time_ns(), &mut command);
            let report = simulation.step(&command).expect("a step");
            assert!(report.solver_converged, "{friction:?}: {report:?}");
            (faces, most) = (report.faces, most.max(report.solver_iterations));
            sum += report.solver_iterations;
        }
        println!("{friction:?}: {faces} faces, {} factorizations a step, {most} at most", sum / 80);
        assert!(faces > 100 && most <= 400, "{friction:?}: {faces} faces, {most} factorizations");
    }
}
