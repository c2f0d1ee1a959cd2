//! Loads of joints: virtual power, and the tension of a pendulum.

use std::sync::Arc;

use isobar::math::{
    BodyIndex, IndexVec, Matrix3, RigidTransform, SpatialForce, SpatialInertia, SpatialVelocity, Vector3,
};
use isobar::multibody::{JointKind, JointSpec, State};
use isobar::scene::{Scene, SceneBuilder};
use isobar::stepping::{ForceTorqueSensor, JointCommand, JointPaths, Simulation};

use crate::worlds::{GRAVITY, at, settings};

fn body(builder: &mut SceneBuilder, name: &str) -> BodyIndex {
    let moments = Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.01));
    builder.add_body(name, SpatialInertia::from_central(1.5, &Vector3::new(0.1, -0.05, 0.2), &moments))
}

/// Revolute, prismatic, fixed and revolute joints about skew axes, one after the other; and a body beside
/// them.
fn chain() -> (Arc<Scene>, Vec<BodyIndex>) {
    let mut builder = SceneBuilder::new();
    let bodies: Vec<BodyIndex> = (0..5).map(|number| body(&mut builder, &format!("b{number}"))).collect();
    let kinds = [JointKind::Revolute, JointKind::Prismatic, JointKind::Fixed, JointKind::Revolute];
    let mut parent = BodyIndex::WORLD;
    for (number, kind) in kinds.into_iter().enumerate() {
        let axis_F = Vector3::new(0.3, 1.0 - number as f64 * 0.4, 0.5);
        let X_PF = RigidTransform::new(Vector3::new(0.2, -0.1, 0.3), Vector3::new(0.4, 0.1 * number as f64, -0.7));
        let joint = JointSpec { X_PF, axis_F, ..JointSpec::new(&format!("j{number}"), parent, bodies[number], kind) };
        builder.add_joint(joint).expect("a joint");
        parent = bodies[number];
    }
    builder.add_joint(JointSpec::new("beside", BodyIndex::WORLD, bodies[4], JointKind::Revolute)).expect("a joint");
    (Arc::new(builder.build(Vector3::zeros()).expect("a scene")), bodies)
}

/// tau . v = sum of F . V over the bodies, for any wrenches and velocities.
#[test]
fn contact_efforts_have_the_power_of_their_wrenches() {
    let (scene, bodies) = chain();
    let state = State { q: vec![0.7, -0.3, 1.9, 0.4], v: vec![1.3, -0.6, 0.8, 2.1] };
    let simulation = Simulation::new(scene.clone(), state.clone(), settings(1e-3)).expect("a simulation");
    let data = simulation.data();
    let mut F_BBo_W = IndexVec::from_elem(SpatialForce::ZERO, scene.model().bodies().len());
    for (number, body) in bodies.iter().enumerate() {
        let x = number as f64;
        F_BBo_W[*body] = SpatialForce::new(Vector3::new(1.0 + x, -2.0, 0.5 * x), Vector3::new(3.0, x - 1.0, -2.0));
    }
    let mut efforts = Vec::new();
    JointPaths::new(scene.model()).contact_efforts(&scene, &data.X_WB, &F_BBo_W, &mut efforts);
    let of_joints: f64 = efforts.iter().zip(&state.v).map(|(effort, v)| effort * v).sum();
    let of_bodies: f64 = bodies
        .iter()
        .map(|body| {
            let (F, V) = (&F_BBo_W[*body], &data.V_WB[*body]);
            F.tau.dot(&V.w) + F.f.dot(&V.v)
        })
        .sum();
    assert!((of_joints - of_bodies).abs() < 1e-12 * of_bodies.abs().max(1.0), "{of_joints} and {of_bodies}");
}

/// A pendulum of mass m at distance l that swings down from the horizontal: when it has turned by theta, its
/// rod pulls with m g sin(theta) + m l w^2 and bears no torque about the hinge. Steps of first order and 0.1
/// ms have an error of about 1e-3 of the weight.
#[test]
fn a_sensor_in_a_hinge_measures_the_tension_of_a_pendulum() {
    let (mass, length, dt) = (2.0, 0.5, 1e-4);
    let mut builder = SceneBuilder::new();
    let p_BoBcm = Vector3::new(length, 0.0, 0.0);
    let bob = builder.add_body("bob", SpatialInertia::from_central(mass, &p_BoBcm, &(Matrix3::identity() * 1e-6)));
    // A positive angle turns the x axis downwards.
    let hinge = JointSpec {
        X_PF: at(0.3, 0.2, 1.0),
        axis_F: Vector3::y(),
        ..JointSpec::new("hinge", BodyIndex::WORLD, bob, JointKind::Revolute)
    };
    let hinge = builder.add_joint(hinge).expect("a joint");
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY)).expect("a scene"));
    let initial = scene.model().default_state();
    let mut simulation = Simulation::new(scene.clone(), initial, settings(dt)).expect("a simulation");
    let sensor = ForceTorqueSensor::new(&scene, hinge);
    for _ in 0..4000 {
        let before = sensor.motion(&simulation);
        simulation.step(&JointCommand::default()).expect("a step");
        let wrench = sensor.measure(&simulation, &before);
        let (theta, w) = (simulation.state().q[0], simulation.state().v[0]);
        let tension = mass * GRAVITY * theta.sin() + mass * length * w * w;
        // The hinge pulls the bob towards itself: along -x of the bob.
        assert!((-wrench.f.x - tension).abs() < 2e-3 * mass * GRAVITY, "{theta}: {} and {tension}", -wrench.f.x);
        assert!(wrench.tau.y.abs() < 2e-3 * mass * GRAVITY * length, "{theta}: torque {}", wrench.tau.y);
        assert!(wrench.f.y.abs() < 1e-9);
    }
    assert!(simulation.state().q[0] > 1.0, "it has swung");
}

/// A sensor between two bodies that fly together measures the same in any inertial frame. Without spin it
/// measures the force and torque that accelerate its load: m a and c x m a with the centre of mass at c.
///
/// Tolerance: the moments are those of 1.5 kg at 100 m/s and 0.5 m; their rounding in a step of 1 ms is 1e-11
/// N m.
#[test]
fn a_sensor_measures_the_same_in_any_inertial_frame() {
    let measured = |frame: Vector3, spin: Vector3| {
        let mut builder = SceneBuilder::new();
        let (base, tool) = (body(&mut builder, "base"), body(&mut builder, "tool"));
        let joint = JointSpec { X_PF: at(0.3, 0.1, -0.2), ..JointSpec::new("wrist", base, tool, JointKind::Fixed) };
        let joint = builder.add_joint(joint).expect("a joint");
        let scene = Arc::new(builder.build(Vector3::zeros()).expect("a scene"));
        let mut state = scene.model().default_state();
        scene.model().set_free_body_velocity(&mut state, base, &SpatialVelocity::new(spin, frame));
        let mut simulation = Simulation::new(scene.clone(), state, settings(1e-3)).expect("a simulation");
        // Through the common centre of mass
        let center = (Vector3::new(0.1, -0.05, 0.2) * 2.0 + Vector3::new(0.3, 0.1, -0.2)) * 0.5;
        let force = Vector3::new(3.0, 30.0, -9.0);
        simulation.set_external_wrench(base, SpatialForce::new(center.cross(&force), force)).expect("a wrench");
        let sensor = ForceTorqueSensor::new(&scene, joint);
        let before = sensor.motion(&simulation);
        simulation.step(&JointCommand::default()).expect("a step");
        (sensor.measure(&simulation, &before), force * 0.5)
    };
    for spin in [Vector3::zeros(), Vector3::new(2.0, -1.0, 3.0)] {
        let (at_rest, force) = measured(Vector3::zeros(), spin);
        let (flying, _) = measured(Vector3::new(100.0, -50.0, 20.0), spin);
        println!("{at_rest:?} {flying:?}");
        assert!((flying.f - at_rest.f).norm() < 1e-9 && (flying.tau - at_rest.tau).norm() < 1e-9, "{flying:?}");
        if spin == Vector3::zeros() {
            let torque = Vector3::new(0.1, -0.05, 0.2).cross(&force);
            assert!((at_rest.f - force).norm() < 1e-9 && (at_rest.tau - torque).norm() < 1e-9, "{at_rest:?}");
        }
    }
}
