//! Closed forms of contact dynamics.

use std::f64::consts::PI;
use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, SpatialVelocity, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{
    ContactSurfaces, DissipationModel, DynamicStepping, JointCommand, Simulation, Snapshot, StepError, StepSettings,
    Stepping, UnactuatedInertia,
};

use crate::worlds::{GRAVITY, at, body_on_ground, compliant, quasistatic, run, settings};

const BOX: Vector3 = Vector3::new(0.1, 0.06, 0.04);

fn box_on_incline(angle: f64, friction: f64, stiction_tolerance: f64) -> Simulation {
    let moments = Vector3::new(2.2e-4, 4.8e-4, 5.7e-4);
    let gravity = Vector3::new(angle.sin(), 0.0, -angle.cos()) * GRAVITY;
    let (scene, mut state, body) =
        body_on_ground(Shape::Box { size: BOX }, 0.5, moments, &compliant(1e6, 20.0, friction), gravity);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.01999));
    Simulation::new(scene, state, StepSettings { stiction_tolerance, ..settings(1e-3) }).expect("a simulation")
}

fn velocity(simulation: &Simulation) -> SpatialVelocity {
    simulation.data().V_WB[simulation.scene().free_bodies()[0]]
}

/// Relative tolerance of the dynamic solver [-]: the unbalanced fraction of the momentum that a step
/// exchanges.
const SOLVER: f64 = 1e-7;

/// Below the friction angle a box creeps at v_s x / sqrt(1 - x^2), x = tan(angle)/mu: the regularization
/// alone.
///
/// Tolerance: friction mu N v / sqrt(v^2 + v_s^2) that is out of balance by 1e-7 N (the solver) changes the
/// creep by the fraction 1e-7 / (mu x (1 - x^2)): 1e-6 at x = 0.9. The test allows ten times that, for the
/// norm over six velocities. Dissipation damps the landing at the rate d g/2 = 98/s.
#[test]
fn box_on_an_incline_sticks_below_the_friction_angle() {
    let (friction, stiction_tolerance) = (0.5_f64, 1e-6);
    for load in [0.5_f64, 0.9] {
        let angle = (load * friction).atan();
        let mut simulation = box_on_incline(angle, friction, stiction_tolerance);
        run(&mut simulation, &JointCommand::default(), 1.0);
        let creep = stiction_tolerance * load / (1.0 - load * load).sqrt();
        let v = velocity(&simulation).v.x;
        println!("load {load}: creep {v:.3e} m/s, law {creep:.3e} m/s");
        assert!((v - creep).abs() < 10.0 * SOLVER / (friction * load * (1.0 - load * load)) * creep);
    }
}

/// Above the friction angle the box slides with a = g (sin - mu cos).
///
/// Tolerance: in each step the solver leaves a force of 1e-7 m g at most; the regularization takes the
/// fraction v_s^2 / (2 v^2) = 1e-12 of friction.
#[test]
fn box_on_an_incline_slides_above_the_friction_angle() {
    let (friction, angle) = (0.3_f64, 0.5_f64);
    let mut simulation = box_on_incline(angle, friction, 1e-6);
    run(&mut simulation, &JointCommand::default(), 0.5);
    let before = velocity(&simulation).v.x;
    run(&mut simulation, &JointCommand::default(), 0.5);
    let acceleration = (velocity(&simulation).v.x - before) / 0.5;
    let law = GRAVITY * (angle.sin() - friction * angle.cos());
    println!("acceleration {acceleration} m/s2, law {law}");
    assert!((acceleration - law).abs() < SOLVER * GRAVITY);
}

/// Hunt-Crossley impact without gravity: d (vi + vo) = ln[(1 + d vi)/(1 - d vo)], for any geometry and
/// modulus [Hunt and Crossley 1975]; the error is of first order in the step.
///
/// Tolerances: a force pi E x^2 acts on a sphere that sinks in by x, so contact lasts T = 2.80 x_max/vi with
/// pi E x_max^3/3 = m vi^2/2. A backward Euler step damps an oscillation by w dt/2 [-], which takes the
/// fraction pi^2 dt/(2 T) of the velocity in the half period T = pi/w. The test allows 1.5 times that,
/// because this spring is not linear. The second order is about the square of the first.
#[test]
fn hunt_crossley_restitution() {
    let (d, vi, mass, modulus) = (1.5, 0.4, 0.2, 1e5);
    let (mut low, mut high) = (0.0, vi);
    for _ in 0..100 {
        let vo: f64 = 0.5 * (low + high);
        let excess = d * (vi + vo) - ((1.0 + d * vi) / (1.0 - d * vo)).ln();
        if excess > 0.0 { low = vo } else { high = vo }
    }
    let steps = [2e-5, 1e-5];
    let errors: Vec<f64> = steps
        .iter()
        .map(|step| {
            let sphere = Shape::Sphere { radius: 0.05 };
            let moments = Vector3::repeat(2e-4);
            let (scene, mut state, body) =
                body_on_ground(sphere, mass, moments, &compliant(modulus, d, 0.0), Vector3::zeros());
            scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.0501));
            let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -vi));
            scene.model().set_free_body_velocity(&mut state, body, &V);
            let mut simulation = Simulation::new(scene, state, settings(*step)).expect("a simulation");
            run(&mut simulation, &JointCommand::default(), 0.15);
            let vo = velocity(&simulation).v.z;
            println!("step {step}: leaves at {vo} m/s, law {low}");
            (vo - low).abs()
        })
        .collect();
    let depth = (1.5 * mass * vi * vi / (PI * modulus)).cbrt();
    let duration = 2.80 * depth / vi;
    for (error, step) in errors.iter().zip(steps) {
        assert!(*error < 1.5 * PI * PI * step / (2.0 * duration) * low, "{errors:?}");
    }
    let second_order = (errors[0] - 2.0 * errors[1]).abs();
    assert!(second_order < errors[0] * errors[0] / low, "first order in the step: {errors:?}");
}

/// A sphere that slides without spin ends rolling at 5/7 of its speed, for any friction. Dissipation is zero,
/// because it increases the pressure ahead of the contact, which is rolling resistance.
///
/// Two corrections are larger than the tolerance. Friction and rolling have the arm r = R - x, with
/// m g = pi E x^2: the speed becomes v0/(1 + 0.4 R^2/r^2). A step takes the pressure at its end: at a
/// distance s ahead the surface moves down at w s, and the pressure rises by (E/R) dt w s, so that the centre
/// of pressure lies v dt ahead. The moment of the weight takes the fraction g dt (5/7) t/R of the angular
/// momentum while the sphere slides (for the time t, with w growing evenly) and rolls (for t/2).
/// Tolerances: a tenth of that fraction, for terms of second order; for the slip, w times the height of the
/// arc of a facet, h^2/(8 R).
#[test]
fn sliding_sphere_ends_rolling() {
    let (radius, mass, v0) = (0.05, 0.2, 0.5);
    let moments = Vector3::repeat(0.4 * mass * radius * radius);
    let (modulus, edge, dt) = (1e7, 0.002, 1e-3);
    let mut properties = compliant(modulus, 0.0, 0.3);
    properties.mesh_resolution_hint = Some(edge);
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let (scene, mut state, body) = body_on_ground(Shape::Sphere { radius }, mass, moments, &properties, gravity);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, radius - 2e-4));
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(v0, 0.0, 0.0));
    scene.model().set_free_body_velocity(&mut state, body, &V);
    let mut simulation = Simulation::new(scene, state, settings(dt)).expect("a simulation");
    let slides = 2.0 * v0 / (7.0 * 0.3 * GRAVITY);
    run(&mut simulation, &JointCommand::default(), 1.5 * slides);
    let V = velocity(&simulation);
    let arm = radius - (mass * GRAVITY / (PI * modulus)).sqrt();
    let resistance = GRAVITY * dt * (5.0 / 7.0) * slides / radius;
    let law = v0 / (1.0 + 0.4 * radius * radius / (arm * arm)) * (1.0 - resistance);
    let slip = V.v.x - V.w.y * arm;
    println!("rolls at {} m/s (law {law}, 5/7 v0 = {}), slip {slip}", V.v.x, v0 * 5.0 / 7.0);
    assert!((V.v.x - law).abs() < 0.1 * resistance * v0);
    assert!(slip.abs() < V.w.y * edge * edge / (8.0 * radius));
}

/// Same input, same bits.
#[test]
fn two_runs_give_the_same_bits() {
    let once = || {
        let mut simulation = box_on_incline(0.4, 0.5, 1e-6);
        run(&mut simulation, &JointCommand::default(), 0.3);
        bits(&simulation)
    };
    assert_eq!(once(), once());
}

/// A reset clears all memory: the second run repeats the first bit by bit.
#[test]
fn reset_repeats_the_run() {
    let mut simulation = box_on_incline(0.4, 0.3, 1e-6);
    let mut runs = Vec::new();
    for _ in 0..2 {
        run(&mut simulation, &JointCommand::default(), 0.2);
        runs.push(simulation.state().q.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
        simulation.reset();
        assert_eq!(simulation.time_ns(), 0);
    }
    assert_eq!(runs[0], runs[1]);
}

fn bits(simulation: &Simulation) -> Vec<u64> {
    let state = simulation.state();
    state.q.iter().chain(&state.v).map(|x| x.to_bits()).collect()
}

/// The step after `event` is that of a new simulation from the same state, bit by bit. Without the event the
/// solver starts from the change of the previous step, and ends elsewhere within the tolerance. Each result
/// is off by at most the solver's fraction of the speed that weight and contact exchange in the step, g dt
/// each.
fn forgets_the_step_before(event: impl Fn(&mut Simulation)) {
    let tilted = || {
        let mut simulation = box_on_incline(0.4, 0.3, 1e-6);
        run(&mut simulation, &JointCommand::default(), 0.02);
        simulation
    };
    let (mut goes_on, mut simulation) = (tilted(), tilted());
    let scene = simulation.scene().clone();
    let mut new = Simulation::new(scene, simulation.state().clone(), simulation.settings()).expect("a simulation");
    event(&mut simulation);
    for simulation in [&mut goes_on, &mut simulation, &mut new] {
        simulation.step(&JointCommand::default()).expect("a step");
    }
    assert_eq!(bits(&simulation), bits(&new));
    assert_ne!(bits(&simulation), bits(&goes_on));
    let difference = (velocity(&simulation).v - velocity(&goes_on).v).norm();
    assert!(difference < 2.0 * SOLVER * 2.0 * GRAVITY * 1e-3, "{difference}");
}

/// A state that was set has no previous step.
#[test]
fn a_state_that_is_set_has_no_past() {
    forgets_the_step_before(|simulation| {
        simulation.set_state(simulation.state().clone()).expect("a state");
    });
}

/// A step that fails does not change the state, and passes none of its results to the next step.
#[test]
fn a_step_that_fails_leaves_nothing_behind() {
    forgets_the_step_before(|simulation| {
        let before = bits(simulation);
        simulation.scene_mut().set_gravity(Vector3::new(0.0, 0.0, -f64::MAX)).expect("finite");
        let error = simulation.step(&JointCommand::default()).expect_err("velocities that are no numbers");
        assert!(matches!(error, StepError::NotFinite { .. }), "{error}");
        assert_eq!(bits(simulation), before);
        let gravity = Vector3::new(0.4_f64.sin(), 0.0, -0.4_f64.cos()) * GRAVITY;
        simulation.scene_mut().set_gravity(gravity).expect("finite");
    });
}

/// Linear dissipation [Masterjohn et al. 2022, eq. 3]: for a box that is pressed flat, with F0 and K the sums
/// of the faces' elastic forces and stiffnesses, v = (v0 - dt g + dt F0/m) / (1 + dt (dt + tau) K/m). F0 is
/// read off the faces, K off a step without dissipation.
///
/// Tolerance: the solver leaves 1e-7 of the momentum in v, at most 1e-7 v0, and at most 1.1 times as much in
/// the law through K.
///
/// With surfaces of the free path the pressures are those of the end, F1, so that v = (v0 - dt g + dt F1/m) /
/// (1 + dt tau K/m), with K from another relaxation time: the law has the error of that step (20 times the
/// relaxation time, whose share in the law is less than 1 of v), of F1 and of v.
#[test]
fn linear_dissipation_follows_its_law() {
    let (mass, v0, dt) = (0.5, -0.1, 1e-3);
    let step = |surfaces: ContactSurfaces, relaxation_time: f64| {
        let mut properties = compliant(1e6, 0.0, 0.0);
        properties.relaxation_time = Some(relaxation_time);
        let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
        let moments = Vector3::new(2.2e-4, 4.8e-4, 5.7e-4);
        let (scene, mut state, body) = body_on_ground(Shape::Box { size: BOX }, mass, moments, &properties, gravity);
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.0199));
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, v0));
        scene.model().set_free_body_velocity(&mut state, body, &V);
        let settings = StepSettings {
            stepping: Stepping::Dynamic(DynamicStepping {
                dissipation: DissipationModel::Linear,
                surfaces,
                ..DynamicStepping::default()
            }),
            ..settings(dt)
        };
        let mut simulation = Simulation::new(scene, state, settings).expect("a simulation");
        run(&mut simulation, &JointCommand::default(), dt);
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let faces = &snapshot.contact_patches()[0].faces;
        let F0: f64 = faces.area.iter().zip(&faces.pressure).map(|(area, pressure)| area * pressure).sum();
        (velocity(&simulation).v.z, F0)
    };
    let (without, F0) = step(ContactSurfaces::Start, 0.0);
    let free = v0 - dt * GRAVITY + dt * F0 / mass;
    let stiffness = (free / without - 1.0) * mass / (dt * dt);
    for relaxation_time in [1e-3, 2e-2] {
        let law = free / (1.0 + dt * (dt + relaxation_time) * stiffness / mass);
        let (v, _) = step(ContactSurfaces::Start, relaxation_time);
        assert!((v - law).abs() < 2.1 * SOLVER * v0.abs(), "tau {relaxation_time}: {v}, law {law}");
    }
    let (short, F1) = step(ContactSurfaces::FreePath, 1e-3);
    let stiffness = (v0 - dt * GRAVITY + dt * F1 / mass - short) * mass / (dt * 1e-3 * short);
    let (v, F1) = step(ContactSurfaces::FreePath, 2e-2);
    let law = (v0 - dt * GRAVITY + dt * F1 / mass) / (1.0 + dt * 2e-2 * stiffness / mass);
    assert!((v - law).abs() < 4.0 * SOLVER * v0.abs(), "on the free path: {v}, law {law}");
}

/// The wrench on a body is about its origin: the sum of its faces' forces, each with its arm from there, for
/// a box with its origin outside. The origin moves by less than 1e-9 m in the step, which is 1e-8 of the arm.
/// The moment sums terms up to ten times itself. Forces differ by the rounding of a sum over less than a
/// thousand faces.
#[test]
fn body_wrench_is_about_the_origin_of_the_body() {
    let mass = 0.5;
    let p_BBcm = Vector3::new(0.1, -0.05, 0.02);
    let moments = Matrix3::from_diagonal(&Vector3::new(2.2e-4, 4.8e-4, 5.7e-4));
    let properties = compliant(1e6, 20.0, 0.5);
    let ground = ContactProperties { compliant: Some(false), ..properties.clone() };
    let mut builder = SceneBuilder::new();
    let identity = RigidTransform::identity();
    builder.add_geometry(BodyIndex::WORLD, "ground", identity, Shape::HalfSpace, &ground).expect("a ground");
    let body = builder.add_body("body", SpatialInertia::from_central(mass, &p_BBcm, &moments));
    let X_BG = at(p_BBcm.x, p_BBcm.y, p_BBcm.z);
    builder.add_geometry(body, "shape", X_BG, Shape::Box { size: BOX }, &properties).expect("a geometry");
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY)).expect("a scene"));
    let mut state = scene.model().default_state();
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, -0.00001));
    let mut simulation = Simulation::new(scene, state, settings(1e-3)).expect("a simulation");
    run(&mut simulation, &JointCommand::default(), 1.0);
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let F_BBo_W = snapshot.F_BBo_W[body];
    let p_WBo = snapshot.X_WB[body].translation.vector;
    let faces = &snapshot.contact_patches()[0].faces;
    let force: Vector3 = faces.force_B_W.iter().sum();
    let torque: Vector3 = faces.centroid_W.iter().zip(&faces.force_B_W).map(|(p, f)| (p - p_WBo).cross(f)).sum();
    assert!(torque.norm() > 0.5, "the weight acts beside the origin: {torque:?}");
    assert!((F_BBo_W.f - force).norm() < 1e-12 * force.norm(), "{F_BBo_W:?}, faces {force:?}");
    assert!((F_BBo_W.tau - torque).norm() < 1e-7 * torque.norm(), "{F_BBo_W:?}, faces {torque:?}");
}

/// The report gives the residual as a multiple of the solver's tolerance. In dynamic and quasistatic steps it
/// is at most 1 where a step has converged, and more than 1 after an impact with one iteration only.
#[test]
fn the_residual_is_a_multiple_of_the_tolerance() {
    let step = |settings: StepSettings| {
        let moments = Vector3::new(2.2e-4, 4.8e-4, 5.7e-4);
        let gravity = Vector3::new(3.0, 0.0, -GRAVITY);
        let properties = compliant(1e6, 0.0, 0.5);
        let (scene, mut state, body) = body_on_ground(Shape::Box { size: BOX }, 0.5, moments, &properties, gravity);
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.0199));
        let mut simulation = Simulation::new(scene, state, settings).expect("a simulation");
        simulation.step(&JointCommand::default()).expect("a step")
    };
    for settings in [settings(1e-3), quasistatic(1e-3, UnactuatedInertia::Mass)] {
        let report = step(settings);
        assert!(report.solver_residual <= 1.0, "{report:?}");
    }
    let mut options = DynamicStepping::default();
    options.solver.iterations_max = 1;
    let report = step(StepSettings { stepping: Stepping::Dynamic(options), ..settings(1e-3) });
    assert!(!report.solver_converged && report.solver_residual > 1.0, "{report:?}");
}
