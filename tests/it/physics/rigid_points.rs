//! Torsional and rolling friction and restitution of rigid contact points, by closed forms.

use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, SpatialVelocity, Vector3};
use isobar::multibody::{JointKind, JointSpec};
use isobar::scene::SceneBuilder;
use isobar::solvers::complementarity::ComplementaritySettings;
use isobar::stepping::{
    JointCommand, QuasistaticStepping, Simulation, SimulationError, SpookStepping, StepSettings, Stepping,
};

use super::bodies::{box_inertia, finish, rigid};
use crate::random::Random;
use crate::worlds::{GRAVITY, at, body_on_ground, run, settings};

const MASS: f64 = 0.3;
const RADIUS: f64 = 0.04;
const MU: f64 = 0.4;

/// A homogeneous sphere that touches the ground, under a gravity tilted by `slope` \[rad\] towards +x.
fn ball(properties: &ContactProperties, slope: f64, V_WB: SpatialVelocity, step: f64) -> (Simulation, BodyIndex) {
    let gravity = Vector3::new(slope.sin(), 0.0, -slope.cos()) * GRAVITY;
    let moments = Vector3::repeat(0.4 * MASS * RADIUS * RADIUS);
    let (scene, mut state, body) = body_on_ground(Shape::Sphere { radius: RADIUS }, MASS, moments, properties, gravity);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, RADIUS));
    scene.model().set_free_body_velocity(&mut state, body, &V_WB);
    (Simulation::new(scene, state, settings(step)).expect("a simulation"), body)
}

fn velocity(simulation: &Simulation, body: BodyIndex) -> SpatialVelocity {
    simulation.data().V_WB[body]
}

fn rolling(speed: f64) -> SpatialVelocity {
    SpatialVelocity::new(Vector3::new(0.0, speed / RADIUS, 0.0), Vector3::new(speed, 0.0, 0.0))
}

/// A sphere that spins about the normal is slowed by the torque mu r m g:  dw/dt = -mu r g/(0.4 R^2). Without
/// a radius its spin does not change.
///
/// The force settles at m g in the first steps; one step of the torque is the tolerance. Rest is a spin below
/// v_s/r times the ratio of the torques that remain, far below v_s/r itself.
#[test]
fn a_spinning_sphere_slows_by_its_torsional_friction() {
    let (radius, spin, step) = (2e-3, 30.0, 1e-3);
    let spinning = SpatialVelocity::new(Vector3::new(0.0, 0.0, spin), Vector3::zeros());
    let properties = ContactProperties { torsional_radius: Some(radius), ..rigid(MU) };
    let (mut simulation, body) = ball(&properties, 0.0, spinning, step);
    let rate = MU * radius * GRAVITY / (0.4 * RADIUS * RADIUS);
    let stops = spin / rate;
    run(&mut simulation, &JointCommand::default(), 0.5 * stops);
    let half = velocity(&simulation, body).w.z;
    assert!((half - (spin - rate * simulation.time())).abs() < 1.5 * rate * step, "{half} rad/s");
    run(&mut simulation, &JointCommand::default(), 0.5 * stops + 2.0 * step);
    let rest = velocity(&simulation, body);
    assert!(rest.w.norm() < 1e-6 / radius && rest.v.norm() < 1e-9, "{rest:?}");
    let (mut simulation, body) = ball(&rigid(MU), 0.0, spinning, step);
    run(&mut simulation, &JointCommand::default(), 1.0);
    assert!((velocity(&simulation, body).w.z - spin).abs() < 1e-9);
}

/// A rolling sphere slows at 5/7 c g/R, for any mu: the torque c m g acts on the moment of inertia 7/5 m R^2
/// about the point of contact. Within the tolerance of two steps of that deceleration it then stands.
#[test]
fn a_rolling_sphere_slows_by_its_rolling_friction() {
    for (mu, step) in [(0.2, 1e-3), (0.9, 1e-3), (0.4, 5e-3)] {
        let (coefficient, speed) = (4e-4, 0.2);
        let properties = ContactProperties { rolling_friction: Some(coefficient), ..rigid(mu) };
        let (mut simulation, body) = ball(&properties, 0.0, rolling(speed), step);
        let rate = 5.0 / 7.0 * coefficient * GRAVITY / RADIUS;
        run(&mut simulation, &JointCommand::default(), 1.0);
        let V = velocity(&simulation, body);
        // The sphere rolls without slip, but for the creep of regularized friction, below 1e-6 m/s.
        assert!((V.v.x - (speed - rate)).abs() < 2.0 * rate * step + 1e-6, "{} m/s for {}", V.v.x, speed - rate);
        assert!((V.v.x - V.w.y * RADIUS).abs() < 2e-6, "{V:?}");
        run(&mut simulation, &JointCommand::default(), speed / rate - 1.0 + 4.0 * step);
        assert!(velocity(&simulation, body).v.norm() < 1e-6, "{:?}", velocity(&simulation, body));
    }
}

/// A sphere stays on a slope with tan(slope) < c/R and rolls down a steeper one at 5/7 (g sin - c/R g cos).
///
/// At rest it creeps below the regularization of rolling, v_s R/(0.1 m).
#[test]
fn a_sphere_stays_on_a_slope_below_its_rolling_friction() {
    let coefficient = 2e-3;
    let critical = (coefficient / RADIUS).atan();
    let properties = ContactProperties { rolling_friction: Some(coefficient), ..rigid(MU) };
    for slope in [0.5 * critical, 2.0 * critical] {
        let (mut simulation, body) = ball(&properties, slope, SpatialVelocity::ZERO, 1e-3);
        run(&mut simulation, &JointCommand::default(), 1.0);
        let speed = velocity(&simulation, body).v.x;
        let rate = 5.0 / 7.0 * GRAVITY * (slope.sin() - coefficient / RADIUS * slope.cos());
        match slope < critical {
            true => assert!(speed.abs() < 1e-6, "{speed} m/s"),
            false => assert!((speed / rate - 1.0).abs() < 2e-3, "{speed} m/s for {rate}"),
        }
    }
}

/// Apex heights of a ball dropped from `height` above its rest.
fn apexes(restitution: f64, height: f64, step: f64, count: usize) -> Vec<f64> {
    let properties = ContactProperties { restitution: Some(restitution), ..rigid(MU) };
    let (mut simulation, body) = ball(&properties, 0.0, SpatialVelocity::ZERO, step);
    let mut state = simulation.state().clone();
    simulation.scene().model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, RADIUS + height));
    simulation.set_state(state).expect("a state");
    let (mut apexes, mut rises) = (Vec::new(), false);
    let mut top = 0.0_f64;
    while apexes.len() < count {
        let report = simulation.step(&JointCommand::default()).expect("a step");
        assert!(report.solver_converged, "{report:?}");
        let z = simulation.data().X_WB[body].translation.vector.z - RADIUS;
        let up = velocity(&simulation, body).v.z > 0.0;
        if up {
            top = 0.0;
        }
        top = top.max(z);
        if rises && !up {
            apexes.push(top);
        }
        rises = up;
    }
    apexes
}

/// Each bounce of a ball is e^2 times as high as the one before. With e = 1 it returns to its height.
///
/// A ball with the speed v bounces at a height z of up to v dt, where its speed is not yet that of the
/// ground. The energy that the step conserves without contact, T + m g z - dt/2 m g v_z, is reduced by e^2,
/// except for m g z (1 - e^2) and dt/2 m g v (e - e^2). Springs of the points take
/// 1/3949 of the change of speed, (1 + e) v. Steps find the apex to g dt^2.
#[test]
fn bounces_have_the_height_of_the_restitution() {
    for (restitution, step) in [(0.3, 1e-3), (0.8, 1e-3), (0.8, 1e-4), (1.0, 1e-3), (1.0, 5e-3)] {
        let mut before = 0.5;
        for height in apexes(restitution, before, step, 3) {
            let speed = (2.0 * GRAVITY * before).sqrt();
            let seen = restitution - (1.0 + restitution) / 3949.0;
            let share = (1.0 - restitution) * (1.0 + 1.5 * restitution);
            let high = share * speed * step + GRAVITY * step * step;
            let error = height - seen * seen * before;
            println!("e {restitution}, dt {step}: {height} m after {before} m, error {error:.2e} of {high:.2e}");
            assert!(error > -2.0 * GRAVITY * step * step && error < high, "e {restitution}: {height} m");
            before = height;
        }
    }
}

/// A ball that hits an equal one at rest stops, and the other one leaves with its velocity, times (1 - e)/2
/// and (1 + e)/2. Momentum stays.
#[test]
fn balls_exchange_their_velocities() {
    for restitution in [1.0, 0.5] {
        let mut builder = SceneBuilder::new();
        let material = ContactProperties { restitution: Some(restitution), ..rigid(0.0) };
        let inertia = SpatialInertia::from_central(MASS, &Vector3::zeros(), &(Matrix3::identity() * 1e-4));
        for name in ["a", "b"] {
            let body = builder.add_body(name, inertia);
            let shape = Shape::Sphere { radius: RADIUS };
            builder.add_geometry(body, name, RigidTransform::identity(), shape, &material).expect("a ball");
        }
        let (scene, mut state) = finish(builder, Vector3::zeros(), &[at(0.0, 0.0, 0.0), at(0.2, 0.0, 0.0)]);
        let bodies = [scene.free_bodies()[0], scene.free_bodies()[1]];
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(2.0, 0.0, 0.0));
        scene.model().set_free_body_velocity(&mut state, bodies[0], &V);
        let mut simulation = Simulation::new(scene, state, settings(1e-3)).expect("a simulation");
        run(&mut simulation, &JointCommand::default(), 0.2);
        let [a, b] = bodies.map(|body| velocity(&simulation, body).v.x);
        assert!((a + b - 2.0).abs() < 1e-9, "{a} and {b} m/s");
        // The spring takes 1/3949 of the change of speed
        let seen = restitution - (1.0 + restitution) / 3949.0;
        assert!((b - a - 2.0 * seen).abs() < 1e-4, "{a} and {b} m/s");
    }
}

/// A ball that falls on a belt leaves it with e times its speed, and so does a ball beside a belt that
/// accelerates a heavy box: the work of a belt is no gain of a bounce.
#[test]
fn belts_take_nothing_from_a_bounce() {
    let (restitution, speed) = (0.8, 0.5);
    for (ball_on_belt, belt_speed) in [(false, 0.0), (false, 5.0), (true, 1.0), (true, 5.0)] {
        let material = ContactProperties { restitution: Some(restitution), ..rigid(MU) };
        let belt = ContactProperties { surface_velocity: Some(Vector3::new(belt_speed, 0.0, 0.0)), ..material.clone() };
        let mut builder = SceneBuilder::new();
        let size = Vector3::new(2.0, 2.0, 0.1);
        for (name, x, properties) in [("belt", 0.0, &belt), ("floor", 3.0, &material)] {
            let shape = Shape::Box { size };
            builder.add_geometry(BodyIndex::WORLD, name, at(x, 0.0, -0.05), shape, properties).expect("a ground");
        }
        let inertia = SpatialInertia::from_central(MASS, &Vector3::zeros(), &(Matrix3::identity() * 2e-4));
        let ball = builder.add_body("ball", inertia);
        let shape = Shape::Sphere { radius: RADIUS };
        builder.add_geometry(ball, "ball", RigidTransform::identity(), shape, &material).expect("a ball");
        let cube = Vector3::repeat(0.2);
        let load = builder.add_body("load", box_inertia(10.0, &cube));
        builder
            .add_geometry(load, "load", RigidTransform::identity(), Shape::Box { size: cube }, &belt)
            .expect("a box");
        let x = if ball_on_belt { 0.6 } else { 3.0 };
        let poses = [at(x, 0.0, RADIUS + 0.01), at(-0.6, 0.0, 0.1)];
        let (scene, mut state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &poses);
        let falling = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -speed));
        scene.model().set_free_body_velocity(&mut state, ball, &falling);
        let mut simulation = Simulation::new(scene, state, settings(1e-3)).expect("a simulation");
        let mut fastest = 0.0_f64;
        for _ in 0..40 {
            simulation.step(&JointCommand::default()).expect("a step");
            fastest = fastest.max(velocity(&simulation, ball).v.z);
        }
        let hits = (speed * speed + 2.0 * GRAVITY * 0.01).sqrt();
        // A step of weight before and after the impact, and the springs
        let error = (fastest - restitution * hits).abs();
        assert!(error < 3e-3 * GRAVITY, "belt of {belt_speed} m/s, on it {ball_on_belt}: {fastest} m/s");
    }
}

/// A foot on a damped slider, with a wheel that spins about the slider's axis, hits the ground with 1 m/s.
/// The impact knows neither the damper nor the weight: it leaves with e times the speed. The damper then
/// takes the part dt D/m of that speed in each step. The weight is large, so that a part of it would show.
///
/// Tolerance: springs of the point take 1/3949 of the change of speed times (m + dt D)/m, 1e-3 of it.
#[test]
fn dampers_of_joints_take_nothing_from_the_speed_before_an_impact() {
    let (step, gravity, restitution) = (1e-3, 50.0, 0.8);
    for (spin, share) in [(0.0, 1.0), (50.0, 1.0), (0.0, 0.0), (50.0, 0.0)] {
        let mut builder = SceneBuilder::new();
        let properties = ContactProperties { restitution: Some(restitution), ..rigid(MU) };
        let here = RigidTransform::identity();
        builder.add_geometry(BodyIndex::WORLD, "ground", here, Shape::HalfSpace, &properties).expect("a ground");
        let size = Vector3::repeat(0.05);
        let foot = builder.add_body("foot", box_inertia(0.2, &size));
        let wheel = builder.add_body("wheel", box_inertia(0.1, &size));
        let damping = share * 0.3 / step;
        let slide = JointSpec::new("slide", BodyIndex::WORLD, foot, JointKind::Prismatic);
        builder.add_joint(JointSpec { axis_F: Vector3::z(), damping, ..slide }).expect("a slider");
        let spins = JointSpec::new("spins", foot, wheel, JointKind::Revolute);
        builder.add_joint(JointSpec { axis_F: Vector3::z(), ..spins }).expect("an axle");
        builder.add_geometry(foot, "ball", here, Shape::Sphere { radius: RADIUS }, &properties).expect("a ball");
        let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -gravity)).expect("a scene"));
        let mut state = scene.model().default_state();
        (state.q[0], state.v[0], state.v[1]) = (RADIUS + 1e-4, -1.0, spin);
        let mut simulation = Simulation::new(scene, state, settings(step)).expect("a simulation");
        simulation.step(&JointCommand::default()).expect("a step");
        let speed = simulation.state().v[0];
        assert!((speed - restitution).abs() < 2e-3, "spin {spin} rad/s, damping {damping}: {speed} m/s");
    }
}

/// Springs of contact points bounce by themselves, so that restitution is refused beside them.
#[test]
fn restitution_is_refused_beside_a_stiffness_of_points() {
    let soft = ContactProperties { point_contact_stiffness: Some(1e4), restitution: Some(0.3), ..rigid(MU) };
    let (simulation, _) = ball(&rigid(MU), 0.0, SpatialVelocity::ZERO, 1e-3);
    let moments = Vector3::repeat(1e-4);
    let down = Vector3::new(0.0, 0.0, -GRAVITY);
    let (scene, state, _) = body_on_ground(Shape::Sphere { radius: RADIUS }, MASS, moments, &soft, down);
    let error = Simulation::new(scene, state, simulation.settings()).expect_err("a refusal").to_string();
    assert!(error.contains("restitution") && error.contains("point_contact_stiffness"), "{error}");
}

/// Boxes that tumble and bounce with much friction never gain energy from contact, also where Newton's law of
/// restitution with friction would add some. The energy that steps conserve without contact is T + U - dt/2 m
/// g v_z.
///
/// Two other things in a step may add some. The inertia turns with the change of spin of the impact, which
/// changes T by at most (I_max - I_min) |w|^2 |dw| dt; for cubes that is nothing. Corners turn into the
/// ground by w^2 r dt^2/2, and separate at w^2 r dt/2.
#[test]
fn bounces_never_gain_energy() {
    let mut random = Random::new(5);
    let mut worst = [0.0_f64; 2];
    for number in 0..60 {
        let cube = number % 2 == 0;
        let size = if cube { Vector3::repeat(0.1) } else { Vector3::new(0.3, 0.04 + 0.02 * random.next(), 0.05) };
        let (step, restitution) = ([2e-4, 1e-3][number / 2 % 2], [1.0, 0.7][number / 4 % 2]);
        let properties = ContactProperties { restitution: Some(restitution), ..rigid(0.9) };
        let inertia = box_inertia(MASS, &size);
        let moments = [0, 1, 2].map(|axis: usize| inertia.central()[(axis, axis)]);
        let spread = moments.iter().copied().fold(0.0, f64::max) - moments.iter().copied().fold(1.0, f64::min);
        let mut builder = SceneBuilder::new();
        let ground = RigidTransform::identity();
        builder.add_geometry(BodyIndex::WORLD, "ground", ground, Shape::HalfSpace, &properties).expect("a ground");
        let body = builder.add_body("box", inertia);
        builder.add_geometry(body, "box", ground, Shape::Box { size }, &properties).expect("a box");
        let pose =
            RigidTransform::from_parts(Vector3::new(0.0, 0.0, 0.25).into(), Rotation::new(random.vector() * 3.0));
        let (scene, mut state) = finish(builder, Vector3::new(0.0, 0.0, -GRAVITY), &[pose]);
        let V = SpatialVelocity::new(random.vector() * 5.0, random.vector() * 3.0);
        scene.model().set_free_body_velocity(&mut state, body, &V);
        let mut simulation = Simulation::new(scene, state, settings(step)).expect("a simulation");
        let energy = |simulation: &Simulation| {
            let (X_WB, V_WB) = (&simulation.data().X_WB[body], velocity(simulation, body));
            let spin = inertia.rotate(&X_WB.rotation).mul_velocity(&V_WB).tau.dot(&V_WB.w);
            let height = X_WB.translation.vector.z - 0.5 * step * V_WB.v.z;
            0.5 * (MASS * V_WB.v.norm_squared() + spin) + MASS * GRAVITY * height
        };
        let start = energy(&simulation);
        let (mut before, mut V_before) = (start, V);
        for _ in 0..(0.6 / step) as usize {
            simulation.step(&JointCommand::default()).expect("a step");
            let (now, V) = (energy(&simulation), velocity(&simulation, body));
            let fast = V.w.norm().max(V_before.w.norm());
            let turned = spread * fast * fast * (V.w - V_before.w).norm() * step;
            let raised = MASS * (0.25 * fast * fast * size.norm() * step).powi(2);
            let gain = now - before - turned - raised;
            worst[usize::from(cube)] = worst[usize::from(cube)].max(gain / start);
            (before, V_before) = (now, V);
        }
    }
    println!("largest gain in a step beyond the bound: {worst:.2?} of the energy");
    assert!(worst.iter().all(|worst| *worst < 1e-8), "{worst:?}");
}

/// Steps of the other modes refuse these properties, and name the geometry and the way out.
#[test]
fn other_modes_refuse_the_properties_of_points() {
    let spook = SpookStepping { solver: ComplementaritySettings::default(), ..SpookStepping::default() };
    for stepping in [Stepping::Quasistatic(QuasistaticStepping::default()), Stepping::Spook(spook)] {
        for (name, properties) in [
            ("torsional_radius", ContactProperties { torsional_radius: Some(1e-3), ..rigid(MU) }),
            ("rolling_friction", ContactProperties { rolling_friction: Some(1e-3), ..rigid(MU) }),
            ("restitution", ContactProperties { restitution: Some(0.5), ..rigid(MU) }),
        ] {
            let (simulation, _) = ball(&properties, 0.0, SpatialVelocity::ZERO, 1e-3);
            let (scene, state) = (simulation.scene().clone(), simulation.state().clone());
            let refused = Simulation::new(scene, state, StepSettings { stepping, ..settings(1e-3) }).err();
            let Some(error @ SimulationError::DynamicOnly { .. }) = refused else { panic!("accepted {name}") };
            let text = error.to_string();
            assert!(text.contains(name) && text.contains("ground") && text.contains("stepping: dynamic"), "{text}");
        }
    }
}
