//! Inertial measurement units and coordinates of planar joints, by closed forms.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::io::csv_file::CsvRecording;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointSpec};
use isobar::recording::{IMU_VALUES, Output, Outputs, Quantity};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, QuasistaticStepping, Simulation, Snapshot, StepSettings, Stepping};

use super::bodies::rigid;
use crate::worlds::{GRAVITY, at, body_on_ground, run, settings};

fn measure(simulation: &Simulation, body: BodyIndex, X_BS: RigidTransform) -> [f64; 10] {
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    std::array::from_fn(|value| Quantity::Imu { body, X_BS, value }.evaluate(&snapshot))
}

fn sensor() -> RigidTransform {
    RigidTransform::from_parts(Vector3::new(0.02, -0.01, 0.03).into(), Rotation::from_euler_angles(0.3, -0.5, 1.0))
}

/// A box, at rest on the ground or 1 m above it.
fn lying_box(height: f64, stepping: Stepping) -> (Simulation, BodyIndex) {
    let (mass, size) = (0.5, Vector3::new(0.1, 0.1, 0.1));
    let moments = Vector3::repeat(mass * 0.01 / 6.0);
    let properties = ContactProperties { restitution: None, ..rigid(0.5) };
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let (scene, mut state, body) = body_on_ground(Shape::Box { size }, mass, moments, &properties, gravity);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.05 + height));
    let settings = StepSettings { stepping, ..settings(1e-3) };
    (Simulation::new(scene, state, settings).expect("a simulation"), body)
}

/// At rest a unit measures the reaction to gravity, upwards, and its own orientation, in dynamic and
/// quasistatic steps; in free fall it measures 0.
///
/// The box settles by 2.5 nm in some steps of 1 ms: to 1e-6 m/s2 after 0.3 s.
#[test]
fn a_unit_measures_the_reaction_to_gravity() {
    for stepping in [Stepping::default(), Stepping::Quasistatic(QuasistaticStepping::default())] {
        let (mut simulation, body) = lying_box(0.0, stepping);
        run(&mut simulation, &JointCommand::default(), 0.3);
        let [qw, qx, qy, qz, wx, wy, wz, ax, ay, az] = measure(&simulation, body, sensor());
        let up = sensor().rotation.inverse() * Vector3::new(0.0, 0.0, GRAVITY);
        assert!((Vector3::new(ax, ay, az) - up).norm() < 1e-6, "{ax} {ay} {az} m/s2 for {up}");
        assert!(Vector3::new(wx, wy, wz).norm() < 1e-8, "{wx} {wy} {wz} rad/s");
        let q = nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(qw, qx, qy, qz));
        assert!(q.to_rotation_matrix().rotation_to(&sensor().rotation).angle() < 1e-8, "{q}");
    }
    let (mut simulation, body) = lying_box(1.0, Stepping::default());
    run(&mut simulation, &JointCommand::default(), 0.2);
    let values = measure(&simulation, body, sensor());
    assert!(values[7..].iter().all(|a| a.abs() < 1e-9), "{values:?}");
}

/// On a turntable a unit measures w about the axis and w^2 r towards it, at any position.
///
/// The change of the velocity of the body's origin over a step is its acceleration in the middle of the step,
/// which is turned by w dt/2.
#[test]
fn a_unit_on_a_turntable_measures_the_centripetal_acceleration() {
    let (rate, step) = (3.0, 1e-3);
    let mut builder = SceneBuilder::new();
    let inertia = SpatialInertia::from_central(1.0, &Vector3::zeros(), &(Matrix3::identity() * 0.01));
    let [hub, arm] = ["hub", "arm"].map(|name| builder.add_body(name, inertia));
    let spin = JointSpec::new("spin", BodyIndex::WORLD, hub, JointKind::Continuous);
    let spin = builder.add_joint(JointSpec { axis_F: Vector3::z(), ..spin }).expect("a joint");
    let fixed = JointSpec::new("fixed", hub, arm, JointKind::Fixed);
    builder.add_joint(JointSpec { X_PF: at(0.4, 0.0, 0.0), ..fixed }).expect("a joint");
    let scene = std::sync::Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY)).expect("a scene"));
    let mut state = scene.model().default_state();
    state.v[scene.model().joints()[spin].v_start] = rate;
    let mut simulation = Simulation::new(scene, state, settings(step)).expect("a simulation");
    run(&mut simulation, &JointCommand::default(), 0.1);
    for (body, x) in [(hub, 0.1), (arm, -0.3), (arm, 0.2)] {
        let radius = if body == hub { x } else { 0.4 + x };
        let [.., wx, wy, wz, ax, ay, az] = measure(&simulation, body, at(x, 0.0, 0.0));
        assert!((wz - rate).abs() < 1e-9 && wx.abs() + wy.abs() < 1e-12, "{wx} {wy} {wz} rad/s");
        let error = Vector3::new(ax, ay, az) - Vector3::new(-rate * rate * radius, 0.0, GRAVITY);
        assert!(error.norm() < rate * rate * 0.4 * 0.5 * rate * step * 1.01 + 1e-9, "{error}");
    }
}

/// A body on a planar joint slides freely: its columns follow x = vx t, y = vy t, theta = w t.
#[test]
fn planar_joints_are_recorded() {
    let mut builder = SceneBuilder::new();
    let inertia = SpatialInertia::from_central(1.0, &Vector3::zeros(), &(Matrix3::identity() * 0.01));
    let body = builder.add_body("puck", inertia);
    let slide = JointSpec::new("slide", BodyIndex::WORLD, body, JointKind::Planar);
    let slide = builder.add_joint(JointSpec { axis_F: Vector3::z(), ..slide }).expect("a joint");
    let scene = std::sync::Arc::new(builder.build(Vector3::zeros()).expect("a scene"));
    let mut state = scene.model().default_state();
    let start = scene.model().joints()[slide].v_start;
    let rates = [0.3, -0.2, 5.0];
    state.v[start..start + 3].copy_from_slice(&rates);
    let mut simulation = Simulation::new(scene.clone(), state, settings(1e-3)).expect("a simulation");
    run(&mut simulation, &JointCommand::default(), 1.0);
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let value = IMU_VALUES.iter().position(|(name, _)| *name == "wz").expect("a value");
    let quantity = Quantity::Imu { body, X_BS: RigidTransform::identity(), value };
    let mut outputs = Outputs::new(vec![Output { name: "unit.wz".to_owned(), unit: "rad/s", quantity }]);
    let mut bytes = Vec::new();
    let mut recording = CsvRecording::new(&mut bytes, "test", &scene, &[], &outputs).expect("a recording");
    recording.record(&snapshot, outputs.evaluate(&snapshot)).expect("a row");
    recording.finish().expect("the end");
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(bytes.as_slice());
    let header = reader.headers().expect("a header").clone();
    let row = reader.records().next().expect("a row").expect("a row");
    let read = |name: &str| {
        let column = header.iter().position(|column| column == name).unwrap_or_else(|| panic!("no column {name}"));
        row[column].parse::<f64>().expect("a number")
    };
    for (number, names) in
        [["slide.x", "slide.vx"], ["slide.y", "slide.vy"], ["slide.theta", "slide.wtheta"]].into_iter().enumerate()
    {
        assert!(names.into_iter().all(|name| (read(name) - rates[number]).abs() < 1e-9), "{names:?}");
    }
    assert!((read("unit.wz") - rates[2]).abs() < 1e-9);
}
