//! Closed forms.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{SpatialVelocity, Vector3};
use isobar::multibody::JointLimits;
use isobar::scene::Actuator;
use isobar::stepping::{JointCommand, JointTarget, Simulation};

use super::continuous;
use crate::worlds::{GRAVITY, Slider, at, body_on_ground, compliant};

fn run_to(simulation: &mut Simulation, time: f64, command: &JointCommand) {
    while simulation.time() < time - 1e-9 {
        let report = simulation.step(command).expect("a step");
        assert!(report.solver_converged && report.solver_residual <= 1.0, "{report:?}");
    }
}

fn command(target: JointTarget) -> JointCommand {
    let mut command = JointCommand::default();
    command.targets.push(target);
    command
}

/// A sphere in flight: the parabola, to the tolerance.
#[test]
fn a_falling_body_has_the_closed_form() {
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let shape = Shape::Sphere { radius: 0.05 };
    let (scene, mut state, body) =
        body_on_ground(shape, 0.5, Vector3::repeat(1e-3), &compliant(1e6, 0.0, 0.5), gravity);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 2.0));
    let V = SpatialVelocity::new(Vector3::new(3.0, -2.0, 5.0), Vector3::new(0.3, 0.0, 1.0));
    scene.model().set_free_body_velocity(&mut state, body, &V);
    let mut simulation = Simulation::new(scene, state, continuous(0.01, 1e-6)).expect("a simulation");
    run_to(&mut simulation, 0.3, &JointCommand::default());
    let p = simulation.data().X_WB[body].translation.vector;
    let exact = Vector3::new(0.09, 0.0, 2.0 + 0.3 - 0.5 * GRAVITY * 0.09);
    assert!((p - exact).norm() < 1e-12, "{p} instead of {exact}");
}

/// A free body with three different moments turns about its middle axis: momentum and energy stay within the
/// tolerance of its parts.
#[test]
fn a_free_top_keeps_momentum_and_energy() {
    let shape = Shape::Sphere { radius: 0.05 };
    let moments = Vector3::new(1e-3, 2e-3, 2.5e-3);
    let (scene, mut state, body) = body_on_ground(shape, 0.5, moments, &compliant(1e6, 0.0, 0.5), Vector3::zeros());
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 2.0));
    let V = SpatialVelocity::new(Vector3::new(0.1, 10.0, 0.2), Vector3::zeros());
    scene.model().set_free_body_velocity(&mut state, body, &V);
    let mut simulation = Simulation::new(scene, state, continuous(0.01, 1e-8)).expect("a simulation");
    let momentum = |simulation: &Simulation| {
        let inertia = &simulation.scene().model().bodies()[body].inertia;
        let (X, V) = (&simulation.data().X_WB[body], &simulation.data().V_WB[body]);
        inertia.rotate(&X.rotation).mul_velocity(V).tau
    };
    let before = momentum(&simulation);
    let mut parts = 0;
    while simulation.time() < 2.0 - 1e-9 {
        parts += simulation.step(&JointCommand::default()).expect("a step").parts;
    }
    let (after, w) = (momentum(&simulation), simulation.data().V_WB[body].w);
    let energy = 0.5 * w.dot(&after) / (0.5 * V.w.dot(&before)) - 1.0;
    // 2 s of parts whose velocities are wrong by 1e-7 rad/s at most, relative to 10 rad/s
    let bound = f64::from(parts) * 1e-8;
    assert!((after - before).norm() / before.norm() < bound && energy.abs() < 2.0 * bound);
}

/// A mass on a spring with a damper: x = x0 exp(-z t)(cos wt + z/w sin wt), and its effort -K x - D v in the
/// mean of each step is the change of momentum.
#[test]
fn a_mass_on_a_spring_has_the_closed_form() {
    let (mass, stiffness, damping) = (2.0, 800.0, 4.0);
    let actuator = Actuator { stiffness, damping, ..Actuator::PASSIVE };
    let slider = Slider { actuator, ..Slider::of_mass(mass) };
    let mut simulation = slider.simulation(0.0, continuous(0.01, 1e-8));
    let goal = command(JointTarget { position: Some(0.1), ..JointTarget::default() });
    let (z, mut worst, mut effort_error) = (0.5 * damping / mass, 0.0_f64, 0.0_f64);
    let w = (stiffness / mass - z * z).sqrt();
    while simulation.time() < 1.0 - 1e-9 {
        let before = simulation.state().v[0];
        simulation.step(&goal).expect("a step");
        let t = simulation.time();
        let exact = 0.1 * (1.0 - (-z * t).exp() * ((w * t).cos() + z / w * (w * t).sin()));
        worst = worst.max((simulation.state().q[0] - exact).abs());
        let mut snapshot = isobar::stepping::Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let mean = mass * (simulation.state().v[0] - before) / 0.01;
        effort_error = effort_error.max((snapshot.joint_effort.as_slice()[0] - mean).abs());
    }
    assert!(worst < 1e-8, "{worst:e}");
    assert!(effort_error < 1e-6, "{effort_error:e}");
}

/// A box at rest on its pressure field: F = (E/H)(a b d - (a + b) d^2 + 4 d^3/3), with H half its shortest
/// side. The pressure is linear on each triangle, so that the sum is exact, also at the rim.
#[test]
fn a_box_rests_at_the_depth_of_its_weight() {
    let (a, b, height, modulus, mass) = (0.1, 0.06, 0.04, 1e5, 0.5);
    let properties = ContactProperties { mesh_resolution_hint: Some(0.05), ..compliant(modulus, 5.0, 0.5) };
    let shape = Shape::Box { size: Vector3::new(a, b, height) };
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let (scene, mut state, body) = body_on_ground(shape, mass, Vector3::repeat(5e-4), &properties, gravity);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * height - 1e-4));
    let mut simulation = Simulation::new(scene, state, continuous(0.01, 1e-9)).expect("a simulation");
    run_to(&mut simulation, 2.0, &JointCommand::default());
    let d = 0.5 * height - simulation.data().X_WB[body].translation.z;
    let force = modulus / (0.5 * height) * (a * b * d - (a + b) * d * d + 4.0 / 3.0 * d * d * d);
    assert!((force / (mass * GRAVITY) - 1.0).abs() < 1e-6, "{force}");
    let contact = simulation.body_wrenches()[body];
    assert!((contact.f.z / (mass * GRAVITY) - 1.0).abs() < 1e-6, "{contact:?}");
}

/// A sphere on a rigid plane: F = pi E d^2 (1 - 2 d/(3 R)), to the error of a tessellation into edges of 4
/// mm. In the middle of a triangle it lies up to h^2/(6 R) = 53 um below the sphere, 5 % of the depth of 1
/// mm; the force goes with its square.
#[test]
fn a_sphere_rests_at_the_depth_of_its_weight() {
    let (radius, modulus, mass) = (0.05, 1.5e6, 0.5);
    let properties = ContactProperties { mesh_resolution_hint: Some(0.004), ..compliant(modulus, 50.0, 0.5) };
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let (scene, mut state, body) =
        body_on_ground(Shape::Sphere { radius }, mass, Vector3::repeat(5e-4), &properties, gravity);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, radius - 1e-3));
    let mut simulation = Simulation::new(scene, state, continuous(0.01, 1e-7)).expect("a simulation");
    run_to(&mut simulation, 0.5, &JointCommand::default());
    let d = radius - simulation.data().X_WB[body].translation.z;
    let force = std::f64::consts::PI * modulus * d * d * (1.0 - 2.0 * d / (3.0 * radius));
    assert!((force / (mass * GRAVITY) - 1.0).abs() < 0.1, "{force}");
}

/// Hunt-Crossley: d (vi + vo) = ln[(1 + d vi)/(1 - d vo)] for any field, here without weight; without
/// dissipation the speed is kept.
#[test]
fn restitution_is_that_of_hunt_and_crossley() {
    for d in [0.0, 2.0] {
        let properties = ContactProperties { mesh_resolution_hint: Some(0.02), ..compliant(1e6, d, 0.0) };
        let shape = Shape::Sphere { radius: 0.05 };
        let (scene, mut state, body) = body_on_ground(shape, 0.5, Vector3::repeat(5e-4), &properties, Vector3::zeros());
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.051));
        let vi = 0.5;
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -vi));
        scene.model().set_free_body_velocity(&mut state, body, &V);
        let mut simulation = Simulation::new(scene, state, continuous(0.01, 1e-8)).expect("a simulation");
        run_to(&mut simulation, 0.1, &JointCommand::default());
        let vo = simulation.data().V_WB[body].v.z;
        let error = d * (vi + vo) - ((1.0 + d * vi) / (1.0 - d * vo)).ln();
        // v_out = -v_in fulfils the equation too: the sphere has passed through
        assert!(vo > 0.0 && if d == 0.0 { (vo - vi).abs() } else { error.abs() } < 1e-6, "{vo}: {error:e}");
    }
}

/// A box on an incline below its angle of friction creeps at v_s x/sqrt(1 - x^2), with x the load as a
/// fraction of the limit. Above the angle it slides with g (sin - mu cos).
#[test]
fn incline_creep_and_sliding_have_their_closed_forms() {
    let mu = 0.5;
    let properties = ContactProperties { mesh_resolution_hint: Some(0.05), ..compliant(1e6, 10.0, mu) };
    let size = Vector3::new(0.1, 0.06, 0.02);
    for (x, stiction_tolerance) in [(0.3, 1e-6), (0.9, 1e-5), (0.99, 1e-4), (1.5, 1e-4)] {
        let angle = (x * mu).atan();
        let gravity = Vector3::new(angle.sin(), 0.0, -angle.cos()) * GRAVITY;
        let (scene, mut state, body) =
            body_on_ground(Shape::Box { size }, 0.5, Vector3::repeat(5e-4), &properties, gravity);
        let depth = 0.5 * GRAVITY * angle.cos() * 0.5 * size.z / (1e6 * size.x * size.y);
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * size.z - depth));
        let settings = isobar::stepping::StepSettings { stiction_tolerance, ..continuous(0.01, 1e-9) };
        let mut simulation = Simulation::new(scene, state, settings).expect("a simulation");
        run_to(&mut simulation, 0.5, &JointCommand::default());
        let v = simulation.data().V_WB[body].v.x;
        if x < 1.0 {
            let exact = stiction_tolerance * x / (1.0 - x * x).sqrt();
            assert!((v / exact - 1.0).abs() < 1e-3, "x = {x}: {v:e} instead of {exact:e}");
        } else {
            // At the start friction is regularized: the speed is ahead by a few v_s, 1e-4 m/s
            let a = GRAVITY * (angle.sin() - mu * angle.cos());
            assert!((v - a * 0.5).abs() < 1e-3, "{v} instead of {}", a * 0.5);
        }
    }
}

/// A joint that falls on its limit stops there without a bounce, sinks in by a T_r T/m of its load, and an
/// effort limit bounds its actuator. Dry friction holds it below its bound, creeping at v_s times the share.
#[test]
fn joints_have_limits_effort_limits_and_friction() {
    let limits = JointLimits { lower: -0.05, ..JointLimits::NONE };
    let slider = Slider { limits, ..Slider::of_mass(2.0) };
    let mut simulation = slider.simulation(GRAVITY, continuous(0.01, 1e-8));
    let mut lowest = 0.0_f64;
    while simulation.time() < 0.6 - 1e-9 {
        simulation.step(&JointCommand::default()).expect("a step");
        lowest = lowest.min(simulation.state().q[0]);
    }
    let (q, v) = (simulation.state().q[0], simulation.state().v[0]);
    // At rest m/T x/T_r = m g with T = 1e-4 s and T_r = 0.02 s
    let sag = GRAVITY * 1e-4 * 0.02;
    assert!((q + 0.05 + sag).abs() < 1e-8 && v.abs() < 1e-7, "{q}, {v}");
    // It arrives at 1 m/s and is stopped in 0.1 ms
    assert!(lowest > -0.05 - 1.2e-4, "{lowest}");

    let actuator = Actuator { stiffness: 1e4, damping: 10.0, effort_limit: 5.0, ..Actuator::PASSIVE };
    let mut simulation = Slider { actuator, ..Slider::of_mass(2.0) }.simulation(0.0, continuous(0.01, 1e-8));
    let far = command(JointTarget { position: Some(10.0), ..JointTarget::default() });
    run_to(&mut simulation, 0.5, &far);
    let exact = 0.5 * 5.0 / 2.0 * 0.25;
    assert!((simulation.state().q[0] - exact).abs() < 1e-9);

    let mut simulation = Slider { friction: 4.0, ..Slider::of_mass(2.0) }.simulation(0.0, continuous(0.01, 1e-8));
    let push = command(JointTarget { effort: Some(3.0), ..JointTarget::default() });
    run_to(&mut simulation, 0.5, &push);
    let v = simulation.state().v[0];
    assert!((v - 0.75e-6).abs() < 1e-9, "{v:e}");
}

/// The mean contact wrench of a step is its change of momentum, also over a bounce. Newton's method leaves an
/// error of 1e-10 m/s, 1e-4 of v_s and with it of the friction of 50 N, for 1 ms: 5e-6 N s of 0.4 N s.
#[test]
fn the_mean_wrench_is_the_change_of_momentum() {
    let properties = ContactProperties { mesh_resolution_hint: Some(0.02), ..compliant(1e6, 1.0, 0.5) };
    let shape = Shape::Sphere { radius: 0.05 };
    let (scene, mut state, body) = body_on_ground(shape, 0.5, Vector3::repeat(5e-4), &properties, Vector3::zeros());
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.0505));
    let V = SpatialVelocity::new(Vector3::new(0.0, 3.0, 0.0), Vector3::new(0.3, 0.0, -0.5));
    scene.model().set_free_body_velocity(&mut state, body, &V);
    let mut simulation = Simulation::new(scene, state, continuous(0.001, 1e-8)).expect("a simulation");
    let mut worst = 0.0_f64;
    for _ in 0..50 {
        let before = simulation.data().V_WB[body].v;
        simulation.step(&JointCommand::default()).expect("a step");
        let change = (simulation.data().V_WB[body].v - before) * 0.5;
        worst = worst.max((simulation.body_wrenches()[body].f * 0.001 - change).norm());
    }
    assert!(worst < 5e-6, "{worst:e}");
}

/// Dense output: within a step, a damped oscillation is that of its closed form, to the error of the
/// polynomials; its ends are the states of the steps.
#[test]
fn states_within_a_step_are_those_of_the_motion() {
    let (mass, stiffness) = (2.0, 800.0);
    let actuator = Actuator { stiffness, ..Actuator::PASSIVE };
    let mut simulation = Slider { actuator, ..Slider::of_mass(mass) }.simulation(0.0, continuous(0.01, 1e-8));
    let goal = command(JointTarget { position: Some(0.1), ..JointTarget::default() });
    assert!(simulation.state_within(0.0).is_none(), "no step yet");
    let w: f64 = (stiffness / mass).sqrt();
    let mut worst = 0.0_f64;
    for step in 0..20 {
        let before = simulation.state().clone();
        simulation.step(&goal).expect("a step");
        let at = |after: f64| simulation.state_within(after).expect("a state within the step");
        assert_eq!(at(0.0), before);
        let end = simulation.state();
        assert_eq!(at(simulation.settings().step()), *end, "the end is exactly that of the step");
        for part in [0.1, 0.37, 0.8] {
            let t = 0.01 * (f64::from(step) + part);
            worst = worst.max((at(0.01 * part).q[0] - 0.1 * (1.0 - (w * t).cos())).abs());
        }
        assert!(simulation.state_within(0.011).is_none() && simulation.state_within(-1e-3).is_none());
    }
    // A body that tumbles: its quaternion is integrated and normalized
    let (scene, mut state, body) = crate::worlds::body_on_ground(
        isobar::geometry::Shape::Box { size: Vector3::new(0.1, 0.06, 0.04) },
        1.0,
        Vector3::new(1e-3, 2e-3, 2.5e-3),
        &crate::worlds::compliant(1e6, 0.0, 0.5),
        Vector3::zeros(),
    );
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 1.0));
    let V = SpatialVelocity::new(Vector3::new(3.0, 20.0, -7.0), Vector3::new(0.3, 0.0, 0.1));
    scene.model().set_free_body_velocity(&mut state, body, &V);
    let mut tumbling = Simulation::new(scene, state, continuous(0.01, 1e-6)).expect("a simulation");
    for _ in 0..20 {
        tumbling.step(&JointCommand::default()).expect("a step");
        let end = tumbling.state_within(tumbling.settings().step()).expect("the end");
        assert_eq!(end, *tumbling.state(), "the end is exactly that of the step");
    }
    // The polynomial misses h^4/4! of the fourth derivative x0 w^4 times at most 0.15, with parts of 2 ms
    assert!(worst < 1e-8, "{worst:e}");
}

/// v/(omega R) of a flat coin at omega R = `read` [m/s], from its speed and its rim speed [m/s]: Euler's
/// equations of the plane with the friction of equal triangles at their centroids `points` \[m\], in steps of
/// 0.1 % of the time to stop.
fn flat_coin(points: &[[f64; 2]], radius: f64, mu: f64, (mut v, mut rim): (f64, f64), read: f64) -> f64 {
    let rates = |v: f64, rim: f64| {
        let (mut force, mut torque) = (0.0, 0.0);
        for [x, y] in points {
            let slip = [v - rim / radius * y, rim / radius * x];
            let speed = slip[0].hypot(slip[1]).max(1e-12) * points.len() as f64;
            force += slip[0] / speed;
            torque += (x * slip[1] - y * slip[0]) / speed;
        }
        (-mu * GRAVITY * force, -2.0 * mu * GRAVITY * torque / radius)
    };
    while rim > read {
        let h = (1e-3 * (v + rim) / (mu * GRAVITY)).max(1e-9);
        let (a, b) = rates(v, rim);
        let (a, b) = rates(v + 0.5 * h * a, rim + 0.5 * h * b);
        (v, rim) = (v + h * a, rim + h * b);
    }
    v / rim
}

/// A coin that slides and spins stops doing both at the same ratio of its speeds, that of a flat coin with
/// the same triangles: each of the 152 of its cap is a fan of three. 0.5 %, as the paper's coin is judged:
/// the moment of friction about the centre of mass shifts the pressure.
#[test]
fn a_coin_stops_at_the_ratio_of_its_faces() {
    let world = super::convergence::coin();
    let (radius, count, read) = (0.01213, 152, 1e-3);
    let corner = |i: u32| {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(count);
        [radius * angle.cos(), radius * angle.sin()]
    };
    let mean = |p: [[f64; 2]; 3]| [0, 1].map(|k| (p[0][k] + p[1][k] + p[2][k]) / 3.0);
    let mut points = Vec::new();
    for i in 0..count {
        let corners = [[0.0, 0.0], corner(i), corner(i + 1)];
        let middle = mean(corners);
        points.extend([0, 1, 2].map(|k: usize| mean([middle, corners[k], corners[(k + 1) % 3]])));
    }
    let exact = flat_coin(&points, radius, 0.2, (0.2, 0.3), read);
    let mut simulation =
        Simulation::new(world.scene.clone(), world.initial.clone(), continuous(0.01, 1e-6)).expect("a simulation");
    let rim = |state: &isobar::multibody::State| state.v[2].abs() * radius;
    while rim(simulation.state()) > read && simulation.time() < 1.0 {
        simulation.step(&JointCommand::default()).expect("a step");
    }
    // The instant within the step, by dense output
    let (mut early, mut late) = (0.0, 0.01);
    for _ in 0..50 {
        let middle = 0.5 * (early + late);
        let state = simulation.state_within(middle).expect("a state within the step");
        if rim(&state) > read { early = middle } else { late = middle }
    }
    let state = simulation.state_within(early).expect("a state within the step");
    let found = state.v[3].hypot(state.v[4]) / rim(&state);
    assert!((found / exact - 1.0).abs() < 5e-3, "{found} instead of {exact}");
}
