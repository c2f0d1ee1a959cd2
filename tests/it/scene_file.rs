//! Scene files: refusals and their messages, built scenes, recordings.

use std::path::{Path, PathBuf};

use isobar::io::csv_file::CsvRecording;
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, Entity, LoadedScene, SceneError, SceneSource};
use isobar::io::urdf::{LoadOptions, load_file};
use isobar::math::{Index, Matrix3, RigidTransform, Rotation, ScalarJointIndex, Vector3};
use isobar::multibody::energy;
use isobar::recording::{Outputs, Quantity};
use isobar::scene::ClosureKind;
use isobar::solvers::complementarity::ComplementaritySettings;
use isobar::solvers::quasistatic::QuasistaticSettings;
use isobar::stepping::{
    JointCommand, QuasistaticStepping, Simulation, Snapshot, SpookStepping, StepSettings, Stepping, UnactuatedInertia,
};

use crate::worlds::other_warnings;

fn config() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("config")
}

fn load(text: &str) -> Result<LoadedScene, SceneError> {
    scene_file::load_str(text, &config().join("test.yaml"), &PackageMap::new())
}

pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}; {cause}");
        source = cause.source();
    }
    text
}

/// A gripper as the first model; the text after it starts on line 7.
const GRIPPER: &str = "step: 0.001
models:
  - name: gripper
    urdf: ../urdf/wsg50_bubble_gripper.urdf
    weld: {}
    joints: { left_finger_sliding_joint: -0.01 }
";

/// The error of every mistake gives its line and column, and the remedy.
#[test]
fn mistakes_are_refused_with_place_and_way_out() {
    let cases = [
        // (the text after the gripper, with § at the line and column of the message; a part of the message)
        ("§gravty: [0, 0, -9.81]", "did you mean `gravity`?"),
        ("    §stifness: 3", "a model has no key `stifness`"),
        ("    actuators: { left_finger_sliding_joint: { §stifness: 3 } }", "did you mean `stiffness`?"),
        ("    actuators: { §left_finger_joint: { stiffness: 3 } }", "`left_finger_sliding_joint`?"),
        ("    actuators: { '*': { stiffness: §-3 } }", "must be 0 or more"),
        ("    actuators: { '*': { stiffness: §high } }", "must be a number"),
        ("    materials: [{ body: §'*thumb*', mu_dynamic: 1 }]", "`left_finger_bubble`"),
        ("    materials: [{ mu_dynamic: §60 }]", "between 0 and 10"),
        ("    materials: [{ hydroelastic_modulus: §0.1 }]", "between 1 and"),
        ("    srdf: §gripper.srdf", "is not found"),
        ("    §free: {}", "keep one of"),
        ("  - name: §gripper\n    urdf: ../urdf/spatula.urdf\n    free: {}", "rename one"),
        ("  - §name: second\n    urdf: ../urdf/wsg50_bubble_gripper.urdf\n    free: {}", "prefix: second_"),
        ("  - name: spatula\n    urdf: §../urdf/spatla.urdf\n    free: {}", "did you mean `spatula.urdf`?"),
        ("  - §name: spatula\n    urdf: ../urdf/spatula.urdf", "weld: { parent: world"),
        ("  - { name: s, urdf: ../urdf/spatula.urdf, free: { rpy: [0, 0, §90] } }", "are these degrees?"),
        ("  - { name: s, urdf: ../urdf/spatula.urdf, free: { xyz: §[0, 0] } }", "three numbers"),
        ("  - { name: s, urdf: ../urdf/spatula.urdf, weld: { parent: §griper } }", "did you mean `gripper`?"),
        ("§step: 0.001", "duplicate mapping key: step;"),
        ("stepping: §dinamic", "did you mean `dynamic`?"),
        ("stepping: spook\nenforce_velocity_limit: §true", "only dynamic steps enforce velocity limits"),
        ("quasistatic: { divisor: §3 }", "without `inertia: scaled`"),
        ("quasistatic: { inertia: mass, time_constant: §3 }", "without `inertia: drag`"),
        ("contact: { dissipation: §hunt-crossley }", "did you mean `hunt_crossley`?"),
        ("contact: { stiction_tolerance: §0 }", "between"),
        ("ground: { §friction: 1 }", "`mu_dynamic`"),
        ("no_contact: [[gripper, §left_fingr]]", "did you mean `left_finger`?"),
        ("commands: { §left: { effort: 1 } }", "did you mean `left_finger_sliding_joint`?"),
        ("commands: { left_finger_sliding_joint: { §force: 1 } }", "`effort`"),
        ("commands: { left_finger_sliding_joint: { effort: { §square: 1 } } }", "`square_wave`?"),
        ("commands: { left_finger_sliding_joint: { effort: { square_wave: §{ first: 1, then: 2 } } } }", "period: 6"),
        ("commands: { left_finger_sliding_joint: { effort: { table: [[1, 0], [§1, 2]] } } }", "sort the table"),
        ("publish: { joint_states: §-1 }", "Hz"),
        ("publish: { §joint_state: 100 }", "did you mean `joint_states`?"),
        ("contact: { face_friction: §everywhere }", "`centroid`"),
        ("contact: { friction_bound: §solve }", "`solved`?"),
        ("closures: [{ point: { a: { body: §griper }, b: { body: world } } }]", "did you mean `gripper`?"),
        (
            "closures: [§{ point: { a: { body: gripper, xyz: [1, 0, 0] }, b: { body: world } } }]",
            "is open by 1000.000 mm",
        ),
        ("outputs: { a: { §pich: { body: gripper } } }", "did you mean `pitch`?"),
        ("outputs: { a: { pitch: { body: §griper } } }", "did you mean `gripper`?"),
        ("outputs: { a: { position: { body: gripper, axis: §w } } }", "`x`, `y`, `z`"),
        ("outputs: { a: { axis_elevation: { body: gripper, axis: §[0, 0, 0] } } }", "give a direction"),
        ("outputs: { a: { joint_effort: { joint: §left_finger } } }", "`left_finger_sliding_joint`"),
        ("outputs: { a: { contact_force: { body: §gripper, component: normal } } }", "`left_finger_bubble`"),
        ("outputs: { a: { contact_force: §{ body: left_finger_bubble } } }", "component: normal"),
        ("outputs: { §faces: { face_count: {} } }", "choose another name"),
    ];
    for (marked, way_out) in cases {
        let before = &marked[..marked.find('§').expect("a mark")];
        let line = 7 + before.matches('\n').count();
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let text = marked.replace('§', "");
        let Err(error) = load(&format!("{GRIPPER}{text}\n")) else { panic!("accepted: {text}") };
        let message = chain(&error);
        assert!(message.contains(&format!("test.yaml:{line}:{column}: ")), "{marked}\n{message}");
        assert!(message.contains(way_out), "{text}\n{message}\nexpected: {way_out}");
    }
}

/// A section with some keys leaves the others at their defaults, those of the library.
#[test]
fn sections_of_stepping_keep_the_defaults_of_other_keys() {
    let plain = load(GRIPPER).unwrap();
    assert_eq!(plain.quasistatic, QuasistaticStepping::default());
    let section =
        load(&format!("{GRIPPER}quasistatic: {{ tolerance: 1.0e-8 }}\nspook: {{ tolerance: 1.0e-5 }}\n")).unwrap();
    let solver = QuasistaticSettings { tolerance: 1e-8, ..plain.quasistatic.solver };
    assert_eq!(section.quasistatic, QuasistaticStepping { solver, ..plain.quasistatic });
    // Drag is the default: its time constant counts without `inertia: drag`, too.
    let slow = load(&format!("{GRIPPER}quasistatic: {{ time_constant: 10 }}\n")).unwrap();
    assert_eq!(slow.quasistatic.inertia, UnactuatedInertia::Drag { time_constant: 10.0 });
    let solver = ComplementaritySettings { tolerance: 1e-5, ..plain.spook.solver };
    assert_eq!(section.spook, SpookStepping { solver, ..plain.spook });
}

/// An initial position beyond the limits is refused, and so is a file without models.
#[test]
fn initial_positions_keep_to_the_limits() {
    let outside = GRIPPER.replace("-0.01", "-0.2");
    let Err(error) = load(&outside) else { panic!("accepted") };
    assert!(matches!(error, SceneError::OutOfRange { .. }), "{error}");
    assert!(error.to_string().contains("test.yaml:6:42: ") && error.to_string().contains("-0.055 to 0"), "{error}");
    let Err(error) = load("step: 0.001\n") else { panic!("accepted") };
    assert!(error.to_string().contains("`models`"), "{error}");
}

/// Springs, velocities and moving surfaces follow the file.
#[test]
fn springs_velocities_and_belts_are_read() {
    let text = format!(
        "{GRIPPER}    joint_velocities: {{ left_finger_sliding_joint: -0.2 }}
    springs: {{ '*': {{ stiffness: 3 }}, 'right_*': {{ stiffness: 40, reference: 0.01 }} }}
ground: {{ surface_velocity: [0.1, -0.2, 0], torsional_radius: 0.002, rolling_friction: 0.001, restitution: 0.5 }}
"
    );
    let loaded = load(&text).unwrap_or_else(|error| panic!("{}", chain(&error)));
    let joint = |name: &str| {
        let joints = loaded.scene.model().joints();
        joints.iter().find(|joint| joint.name == name).expect("a joint").clone()
    };
    let (left, right) = (joint("left_finger_sliding_joint"), joint("right_finger_sliding_joint"));
    assert_eq!((left.spring.stiffness, left.spring.reference), (3.0, 0.0));
    assert_eq!((right.spring.stiffness, right.spring.reference), (40.0, 0.01));
    assert_eq!(loaded.initial.v[left.v_start], -0.2);
    let ground = loaded.scene.geometries().iter().find(|geometry| geometry.name.contains("ground")).expect("a ground");
    assert_eq!(ground.material.surface_velocity, Vector3::new(0.1, -0.2, 0.0));
    let points = ground.material.points;
    let points = (points.torsional_radius, points.rolling_friction, points.restitution);
    assert_eq!(points, (Some(0.002), Some(0.001), Some(0.5)));
    for (wrong, way_out) in [
        ("    joint_velocities: { left_finger: 1 }", "left_finger_sliding_joint"),
        ("    springs: { left_finger: { stiffness: 1 } }", "left_finger_sliding_joint"),
        ("    springs: { '*': { reference: 1 } }", "stiffness: 2.0"),
        ("    materials: [{ surface_velocity: 3 }]", "surface_velocity"),
        ("    materials: [{ restitution: 1.5 }]", "between 0 and 1"),
    ] {
        let Err(error) = load(&format!("{GRIPPER}{wrong}\n")) else { panic!("accepted: {wrong}") };
        let message = chain(&error);
        assert!(message.contains("test.yaml:7:") && message.contains(way_out), "{wrong}\n{message}");
    }
}

/// A measurement unit has ten outputs, named after it; its pose in the body follows the file.
#[test]
fn a_measurement_unit_is_read() {
    let text = format!("{GRIPPER}outputs: {{ unit: {{ imu: {{ body: left_finger_bubble, xyz: [0, 0, 0.1] }} }} }}\n");
    let loaded = load(&text).unwrap_or_else(|error| panic!("{}", chain(&error)));
    let outputs = loaded.outputs.outputs();
    let names: Vec<_> = outputs.iter().map(|output| output.name.as_str()).collect();
    let values = ["qw", "qx", "qy", "qz", "wx", "wy", "wz", "ax", "ay", "az"];
    assert_eq!(names, values.map(|value| format!("unit.{value}")));
    assert_eq!((outputs[4].unit, outputs[9].unit), ("rad/s", "m/s2"));
    let Quantity::Imu { X_BS, value, .. } = outputs[9].quantity else { panic!("{:?}", outputs[9]) };
    assert_eq!((X_BS.translation.vector, value), (Vector3::new(0.0, 0.0, 0.1), 9));
    let wrong = text.replace("left_finger_bubble", "left_finger_buble");
    let Err(error) = load(&wrong) else { panic!("accepted") };
    assert!(chain(&error).contains("did you mean `left_finger_bubble`?"), "{}", chain(&error));
}

/// The scene follows the file: names, prefix, poses, gains, limits, materials, filters, settings.
#[test]
fn a_scene_follows_its_file() {
    let text = format!(
        "{GRIPPER}    gravity_compensation: true
    actuators:
      '*': {{ stiffness: 100, damping: 10 }}
      right_*: {{ stiffness: 50, effort_limit: 20 }}
    materials: [{{ body: left_*, mu_dynamic: 0.25 }}]
  - {{ name: tool, prefix: tool_, urdf: ../urdf/spatula.urdf, weld: {{ parent: left_finger, xyz: [0, 0, 0.1] }} }}
  - {{ name: other, prefix: b_, urdf: ../urdf/spatula.urdf, free: {{ xyz: [1, 2, 3], linear_velocity: [4, 5, 6] }} }}
materials:
  - {{ mu_dynamic: 0.75, hydroelastic_modulus: 2.0e5 }}
  - {{ body: b_*, mu_dynamic: 0.6 }}
no_contact: [[b_spatula, right_finger_bubble]]
contact: {{ stiction_tolerance: 1.0e-5, dissipation: linear }}
gravity: [0, 0, 0]
"
    );
    let loaded = load(&text).unwrap_or_else(|error| panic!("{}", chain(&error)));
    let scene = &loaded.scene;
    assert_eq!(scene.joint_names(), ["left_finger_sliding_joint", "right_finger_sliding_joint"]);
    let [left, right] = scene.actuators() else { panic!("{:?}", scene.actuators()) };
    assert_eq!((left.stiffness, left.damping, left.effort_limit), (100.0, 10.0, 80.0));
    assert_eq!((right.stiffness, right.damping, right.effort_limit), (50.0, 10.0, 20.0));
    assert!(left.gravity_compensation);
    let friction = |body: &str| {
        let body = scene.body(body).expect("a body");
        let geometry = scene.geometries().iter().find(|geometry| geometry.body == body).expect("a geometry");
        geometry.material.friction
    };
    assert_eq!(
        ["left_finger_bubble", "right_finger_bubble", "b_spatula", "tool_spatula"].map(friction),
        [0.25, 0.75, 0.6, 0.75]
    );
    assert_eq!(loaded.settings.stiction_tolerance, 1e-5);
    assert_eq!(loaded.settings.step_ns, 1_000_000);
    let simulation = Simulation::new(scene.clone(), loaded.initial.clone(), loaded.settings).expect("a simulation");
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let body = |name: &str| scene.body(name).expect("a body");
    assert_eq!(snapshot.X_WB[body("b_spatula")].translation.vector, Vector3::new(1.0, 2.0, 3.0));
    assert_eq!(snapshot.V_WB[body("b_spatula")].v, Vector3::new(4.0, 5.0, 6.0));
    // The finger's frame: 0.0725 + 0.1175 below the gripper, 0.01 along -y; the tool 0.1 above it.
    let tool = snapshot.X_WB[body("tool_spatula")].translation.vector;
    assert!((tool - Vector3::new(0.0, -0.01, -0.09)).norm() < 1e-15, "{tool}");
    let excluded = [body("b_spatula"), body("right_finger_bubble")];
    let of = |geometry| scene.geometries()[geometry].body;
    assert!(
        scene.contact_pairs().iter().all(|pair| !excluded.contains(&of(pair.A)) || !excluded.contains(&of(pair.B)))
    );
    assert_eq!(loaded.robot_descriptions.len(), 3);
}

/// `robot_description` is the robot and not the table that it stands on: the first model with joints that
/// move, or the one that the key `robot` names.
#[test]
fn the_robot_is_described_first() {
    let first = |loaded: &LoadedScene| loaded.robot_descriptions[0].0.clone();
    for (file, robot) in [
        ("jaco_demo", "robot"),
        ("iiwa_demo", "robot"),
        ("pancake_flip", "jaco"),
        ("cube_stacking", "robot"),
        ("spatula_slip", "gripper"),
    ] {
        let loaded = scene_file::load(&config().join(format!("{file}.yaml")), &PackageMap::new()).expect(file);
        assert_eq!(first(&loaded), robot, "{file}");
        assert!(loaded.robot_descriptions[0].1.contains("<joint"), "{file}");
        let names: Vec<_> = loaded.models.iter().map(|model| &model.name).filter(|name| *name != robot).collect();
        let others: Vec<_> = loaded.robot_descriptions[1..].iter().map(|(name, _)| name).collect();
        assert_eq!(others, names, "the others in the file's order");
    }
    let demo = std::fs::read_to_string(config().join("jaco_demo.yaml")).expect("the file");
    let of = |text: &str| scene_file::load_str(text, &config().join("jaco_demo.yaml"), &PackageMap::new());
    assert_eq!(first(&of(&format!("{demo}\nrobot: can\n")).expect("a scene")), "can");
    let error = of(&format!("{demo}\nrobot: rabot\n")).expect_err("no such model").to_string();
    assert!(error.contains("rabot") && error.contains("robot"), "{error}");
}

/// A gripper whose second finger mimics the first, under `actuators: "*"`: only the leader has a spring, so
/// it reaches its command. There is no gravity, and after ten time constants of its damping, 0.02 s each, the
/// error is below 1e-5 m.
#[test]
fn a_mimic_joint_does_not_fight_its_leader() {
    let folder = std::env::temp_dir().join(format!("isobar_mimic_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let finger = |number: u32, sign: i32, mimic: &str| {
        format!(
            "<link name='l{number}'><inertial><mass value='0.1'/>\
             <inertia ixx='1e-4' iyy='1e-4' izz='1e-4' ixy='0' ixz='0' iyz='0'/></inertial></link>\
             <joint name='finger_{number}' type='prismatic'><parent link='palm'/><child link='l{number}'/>\
             <axis xyz='0 {sign} 0'/><limit lower='0' upper='0.04' effort='200' velocity='1'/>{mimic}</joint>"
        )
    };
    let fingers = finger(1, 1, "") + &finger(2, -1, "<mimic joint='finger_1'/>");
    std::fs::write(folder.join("hand.urdf"), format!("<robot name='hand'><link name='palm'/>{fingers}</robot>"))
        .expect("a file");
    let scene = |actuators: &str| {
        format!("gravity: [0, 0, 0]\nmodels: [{{ name: hand, urdf: hand.urdf, weld: {{}}, actuators: {actuators} }}]\n")
    };
    let label = folder.join("scene.yaml");
    let of = |text: &str| scene_file::load_str(text, &label, &PackageMap::new()).expect("a scene");
    let loaded = of(&scene("{ \"*\": { stiffness: 1000, damping: 20 } }"));
    let named = of(&scene("{ \"*\": { stiffness: 1000, damping: 20 }, finger_2: { stiffness: 5 } }"));
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let [warning] = named.warnings.as_slice() else { panic!("{:?}", named.warnings) };
    assert!(warning.contains("`finger_2` follows `finger_1`"), "{warning}");
    let stiffness: Vec<f64> = loaded.scene.actuators().iter().map(|actuator| actuator.stiffness).collect();
    assert_eq!(stiffness, [1000.0, 0.0]);
    let mut simulation =
        Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings).expect("a simulation");
    let mut command = JointCommand::new(&loaded.scene);
    command.targets[ScalarJointIndex::from_usize(0)].position = Some(0.03);
    for _ in 0..500 {
        assert!(simulation.step(&command).expect("a step").solver_converged);
    }
    let leader = simulation.scene().model().joint("finger_1").expect("the leader");
    let q = simulation.scene().model().joints()[leader].position(&simulation.state().q).expect("a position");
    assert!((q - 0.03).abs() < 1e-5, "{q}");
}

/// With both fingers at 0 the bubbles do not quite overlap (each is 0.041665 m from the middle and 0.04165 m
/// thick); 5 mm closer they do.
#[test]
fn a_model_that_overlaps_itself_is_reported() {
    let text = GRIPPER.replace("left_finger_sliding_joint: -0.01", "left_finger_sliding_joint: 0");
    assert_eq!(load(&text).expect("a scene").warnings, Vec::<String>::new());
    let folder = std::env::temp_dir().join(format!("isobar_scene_file_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let urdf = std::fs::read_to_string(config().join("../urdf/wsg50_bubble_gripper.urdf")).expect("the gripper");
    let closer = urdf.replace("<limit lower=\"-0.055\" upper=\"0\"", "<limit lower=\"-0.055\" upper=\"0.01\"");
    std::fs::write(folder.join("gripper.urdf"), closer).expect("a file");
    let scene = "models: [{ name: g, urdf: gripper.urdf, weld: {}, joints: { left_finger_sliding_joint: 0.005 } }]\n";
    let mut packages = PackageMap::new();
    packages.insert("isobar", env!("CARGO_MANIFEST_DIR"));
    let loaded = scene_file::load_str(scene, &folder.join("scene.yaml"), &packages).expect("a scene");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    let [warning] = loaded.warnings.as_slice() else { panic!("{:?}", loaded.warnings) };
    assert!(
        warning.contains("left_bubble") && warning.contains("right_bubble") && warning.contains("no_contact"),
        "{warning}"
    );
}

/// A static friction beside another dynamic one has no effect, and a warning says so; alone it is used.
#[test]
fn static_friction_without_effect_is_warned_of() {
    let warnings = |material: &str, ground: &str| {
        let scene = format!(
            "ground: {{ {ground} }}\nmodels:\n  - {{ name: b, urdf: ../urdf/ball.urdf, free: {{ xyz: [0, 0, 1] }} }}\n\
             materials:\n  - {{ body: ball, {material} }}\n"
        );
        load(&scene).expect("a scene").warnings
    };
    let both = "mu_static: 0.4, mu_dynamic: 0.3";
    let found = warnings(both, both);
    assert_eq!(found.len(), 2, "{found:?}");
    for (warning, line) in found.iter().zip([":5:", ":1:"]) {
        assert!(warning.contains("`mu_static` 0.4 has no effect") && warning.contains(line), "{warning}");
    }
    for material in ["mu_static: 0.3, mu_dynamic: 0.3", "mu_static: 0.3", "mu_dynamic: 0.3"] {
        assert_eq!(warnings(material, material), Vec::<String>::new(), "{material}");
    }
}

/// A ball that falls on a dissipative ground loses energy, and its force at rest is its weight. A CSV reader
/// gets the recorded numbers back, bit by bit.
#[test]
fn drop_settles_and_is_recorded() {
    let mut loaded = scene_file::load(&config().join("drop.yaml"), &PackageMap::new()).expect("the scene loads");
    let scene = loaded.scene.clone();
    let mut simulation = Simulation::new(scene.clone(), loaded.initial.clone(), loaded.settings).expect("a simulation");
    let command = JointCommand::new(&scene);
    let mut snapshot = Snapshot::default();
    let mut bytes = Vec::new();
    let mut recording = CsvRecording::new(&mut bytes, "test", &scene, &[], &loaded.outputs).expect("a recording");
    let mut heights = Vec::new();
    let start = energy(scene.model(), simulation.data(), &simulation.state().v);
    for _ in 0..1000 {
        simulation.step(&command).expect("a step");
        simulation.snapshot_into(&mut snapshot);
        let values = loaded.outputs.evaluate(&snapshot);
        heights.push(values[0]);
        recording.record(&snapshot, values).expect("a row");
    }
    recording.finish().expect("the end");
    let end = energy(scene.model(), simulation.data(), &simulation.state().v);
    assert!(end.kinetic + end.potential < start.kinetic + start.potential);
    let (force, weight) = (loaded.outputs.value("ball_force").expect("an output"), 0.2 * 9.81);
    assert!((force - weight).abs() < 0.01 * weight, "{force} N");
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(bytes.as_slice());
    let header = reader.headers().expect("a header").clone();
    let column = header.iter().position(|name| name == "ball_height").expect("a column");
    let read: Vec<f64> = reader.records().map(|row| row.expect("a row")[column].parse().expect("a number")).collect();
    assert_eq!(read, heights);
    let text = String::from_utf8(bytes).expect("text");
    let commented =
        |name: &str| text.lines().any(|line| line.starts_with("# [") && line.split(' ').any(|word| word == name));
    for name in &header {
        assert!(commented(name), "no unit for {name}");
    }
}

/// Roll, pitch, yaw and axis angles of a pose made from those angles.
#[test]
fn angles_are_those_of_the_pose() {
    let (roll, pitch, yaw) = (0.3, -0.4, 1.1);
    let text = format!(
        "models: [{{ name: s, urdf: ../urdf/spatula.urdf, free: {{ xyz: [0.1, 0.2, 0.3], rpy: [{roll}, {pitch}, {yaw}] }} }}]
outputs:
  roll: {{ roll: {{ body: spatula }} }}
  pitch: {{ pitch: {{ body: spatula }} }}
  yaw: {{ yaw: {{ body: spatula }} }}
  up: {{ axis_elevation: {{ body: spatula, axis: [2, 0, 0] }} }}
  tilt: {{ axis_angle: {{ body: spatula, axis: [0, 0, 1], to: [0, 0, 3] }} }}
  y: {{ position: {{ body: world, in: spatula, axis: y }} }}
"
    );
    let mut loaded = load(&text).unwrap_or_else(|error| panic!("{}", chain(&error)));
    let simulation =
        Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings).expect("a simulation");
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    loaded.outputs.evaluate(&snapshot);
    let value = |outputs: &Outputs, name| outputs.value(name).expect("an output");
    let R = Rotation::from_euler_angles(roll, pitch, yaw);
    let y = -(R.inverse() * Vector3::new(0.1, 0.2, 0.3)).y;
    // The x axis points down by the pitch: its elevation is -pitch. The z axis: cos(roll) cos(pitch) is its z
    // component.
    let expected = [
        ("roll", roll),
        ("pitch", pitch),
        ("yaw", yaw),
        ("up", -pitch),
        ("tilt", (roll.cos() * pitch.cos()).acos()),
        ("y", y),
    ];
    for (name, expected) in expected {
        let found = value(&loaded.outputs, name);
        assert!((found - expected).abs() < 1e-14, "{name}: {found} for {expected}");
    }
}

/// The physical spatula's mass properties are those of its three visuals at the densities that its header
/// states.
#[test]
fn physical_spatula_is_made_of_its_parts() {
    let file = config().join("../urdf/spatula.urdf");
    let robot = load_file(&file, &PackageMap::new(), &LoadOptions::default()).expect("the spatula");
    let link = robot.link("spatula").expect("the link");
    let densities = [698.5, 7850.0, 1150.0];
    let mut parts = Vec::new();
    for (visual, density) in link.visuals.iter().zip(densities) {
        use isobar::geometry::Shape;
        let (volume, per_mass) = match visual.shape.as_ref().expect("a shape") {
            Shape::Cylinder { radius: r, length: l } => {
                let across = (3.0 * r * r + l * l) / 12.0;
                (std::f64::consts::PI * r * r * l, Vector3::new(across, across, r * r / 2.0))
            }
            Shape::Box { size } => {
                let square = size.component_mul(size);
                let sums = Vector3::new(square.y + square.z, square.x + square.z, square.x + square.y);
                (size.product(), sums / 12.0)
            }
            other => panic!("{}", other.kind()),
        };
        parts.push((density * volume, visual.X_BG, per_mass));
    }
    let mass: f64 = parts.iter().map(|(m, _, _)| m).sum();
    let center: Vector3 = parts.iter().map(|(m, X, _)| X.translation.vector * *m).sum::<Vector3>() / mass;
    let about = |(m, X, per_mass): &(f64, RigidTransform, Vector3)| {
        let R = X.rotation.matrix();
        let d = X.translation.vector - center;
        (R * Matrix3::from_diagonal(per_mass) * R.transpose() + Matrix3::identity() * d.dot(&d) - d * d.transpose())
            * *m
    };
    let inertia: Matrix3 = parts.iter().map(about).sum();
    let stated = link.inertial.as_ref().expect("mass properties");
    // The file rounds to 3 digits of mass and 6 of inertia and position.
    assert!((stated.mass - mass).abs() < 1e-5, "{mass}");
    assert!((stated.X_BI.translation.vector - center).norm() < 1e-6, "{center}");
    assert!((stated.inertia_I - inertia).norm() < 1e-5 * inertia.norm(), "{inertia}");
}

/// The program runs a scene and records it; it refuses a command for a joint that does not exist, and a scene
/// with a mistake.
#[test]
fn the_program_runs_scenes() {
    let folder = std::env::temp_dir().join(format!("isobar_run_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let csv = folder.join("drop.csv");
    let run = |scene: &Path, more: &[&str]| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_isobar"));
        let output = program.arg("run").arg(scene).args(["--duration", "0.02"]).args(more).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    };
    let (good, text) = run(&config().join("drop.yaml"), &["--csv", &csv.to_string_lossy(), "--every", "5"]);
    assert!(good && text.contains("real-time factor") && text.contains("ball_height"), "{text}");
    let rows = std::fs::read_to_string(&csv).expect("the recording");
    let times: Vec<&str> =
        rows.lines().filter(|line| !line.starts_with('#')).skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(times, ["0.0", "0.01", "0.02"]);
    let (good, text) = run(&config().join("spatula_slip.yaml"), &["--command", "thumb.effort=1"]);
    assert!(!good && text.contains("left_finger_sliding_joint"), "{text}");
    let slip = folder.join("slip.yaml");
    std::fs::write(&slip, "step: 1\nmodels: []\n").expect("a file");
    let (good, text) = run(&slip, &[]);
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    assert!(!good && text.contains("slip.yaml:1:7: `step` [s] is 1; it must be between 1e-6 and 0.1 s"), "{text}");
}

/// The example of docs/reference/scene-files.md is a scene. Three scenes of config/ load without a warning,
/// but for that of the published inertia of a spatula.
#[test]
fn examples_load() {
    let document = std::fs::read_to_string(config().join("../docs/reference/scene-files.md")).expect("the document");
    let example = document.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    load(example).unwrap_or_else(|error| panic!("{}", chain(&error)));
    for scene in ["drop", "spatula_slip", "spatula_slip_physical"] {
        let loaded = scene_file::load(&config().join(format!("{scene}.yaml")), &PackageMap::new());
        let loaded = loaded.unwrap_or_else(|error| panic!("{}", chain(&error)));
        assert_eq!(other_warnings(&loaded.warnings), Vec::<&String>::new(), "{scene}");
    }
}

/// Every shipped scene loads.
#[test]
fn all_scenes_in_config_load() {
    let entries = std::fs::read_dir(config()).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_scene = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "yaml")
            && std::fs::read_to_string(path).expect("a file").lines().any(|line| line == "models:")
    };
    let mut scenes: Vec<PathBuf> = entries.filter(is_scene).collect();
    scenes.sort();
    assert!(scenes.len() >= 9, "{scenes:?}");
    for path in scenes {
        scene_file::load(&path, &PackageMap::new()).unwrap_or_else(|error| panic!("{}", chain(&error)));
    }
}

/// Models are added and removed. Entries that concern only a removed model are removed with it, with a
/// warning. An entity gets a prefix if a name of its links is in use.
#[test]
fn models_are_added_and_taken_out_before_a_scene_is_built() {
    let packages = PackageMap::new();
    let text = format!(
        "{GRIPPER}  - {{ name: spatula, urdf: ../urdf/spatula.urdf, free: {{}} }}\noutputs: {{ pitch: {{ pitch: {{ body: spatula }} }} }}\n\
         no_contact: [[spatula, gripper]]\n"
    );
    let mut source = SceneSource::read_str(&text, &config().join("test.yaml"), &PackageMap::new()).unwrap();
    assert!(!source.remove("nobody"));
    let urdf = std::fs::read_to_string(config().join("../urdf/spatula.urdf")).unwrap();
    let entity = |name: &str| Entity {
        name: name.to_owned(),
        urdf: urdf.clone(),
        label: "spatula.urdf".into(),
        folder: config().join("../urdf"),
        X_WB: RigidTransform::translation(1.0, 2.0, 3.0),
    };
    let links = |scene: &LoadedScene| scene.models.iter().map(|model| model.name.clone()).collect::<Vec<_>>();
    // The name of its link is used by the existing model.
    source.add(entity("second"), &packages, &|name| name == "spatula").unwrap();
    let loaded = source.build(&packages).unwrap();
    assert_eq!(links(&loaded), ["gripper", "spatula", "second"]);
    let second = loaded.models.last().unwrap();
    assert!(second.is_free && loaded.scene.body_name(second.root).starts_with("second_"));
    let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial, loaded.settings).unwrap();
    assert_eq!(simulation.data().X_WB[second.root].translation.vector, Vector3::new(1.0, 2.0, 3.0));
    // The simulation continues from a state that was set; a reset still returns to the start.
    let mut state = simulation.state().clone();
    loaded.scene.model().set_free_body_pose(&mut state, second.root, &RigidTransform::translation(5.0, 0.0, 9.0));
    simulation.set_state(state).unwrap();
    simulation.step(&JointCommand::default()).unwrap();
    let fallen = simulation.data().X_WB[second.root].translation.vector;
    assert!((fallen - Vector3::new(5.0, 0.0, 9.0 - 9.81e-6)).norm() < 1e-9, "{fallen}");
    let acceleration = simulation.free_body_acceleration(second.root).unwrap();
    assert!((acceleration.v - Vector3::new(0.0, 0.0, -9.81)).norm() < 1e-6, "{acceleration:?}");
    simulation.reset();
    assert_eq!(simulation.data().X_WB[second.root].translation.vector, Vector3::new(1.0, 2.0, 3.0));
    // Without the spatula its output is removed too, with a warning.
    assert!(source.remove("spatula"));
    let loaded = source.build(&packages).unwrap();
    assert_eq!(links(&loaded), ["gripper", "second"]);
    assert!(loaded.outputs.outputs().is_empty());
    assert!(loaded.warnings.iter().any(|warning| warning.contains("`spatula`") && warning.contains("left out")));
    assert_eq!(scene_file::robot_name(&urdf).as_deref(), Some("spatula"));
    assert_eq!(scene_file::robot_name("<robot"), None);
}

/// A loop closure between models that remain is kept when another model is removed, and one that names the
/// removed model goes with it, with a warning.
#[test]
fn a_removed_model_takes_only_its_own_loop_closures() {
    let packages = PackageMap::new();
    let model = |name: &str, x: f64| {
        format!("  - {{ name: {name}, urdf: ../urdf/spatula.urdf, prefix: {name}_, free: {{ xyz: [{x}, 0, 1] }} }}\n")
    };
    let rod =
        |a: &str, b: &str| format!("  - distance: {{ a: {{ body: {a}_spatula }}, b: {{ body: {b}_spatula }} }}\n");
    let text = format!(
        "models:\n{}{}{}closures:\n{}{}",
        model("first", 0.0),
        model("second", 1.0),
        model("third", 3.0),
        rod("third", "first"),
        rod("first", "second")
    );
    let mut source = SceneSource::read_str(&text, &config().join("test.yaml"), &PackageMap::new()).unwrap();
    let lengths = |loaded: &LoadedScene| loaded.scene.closures().iter().map(|closure| closure.kind).collect::<Vec<_>>();
    let loaded = source.build(&packages).unwrap();
    assert_eq!(lengths(&loaded), [ClosureKind::Distance(3.0), ClosureKind::Distance(1.0)]);
    assert!(source.remove("third"));
    let loaded = source.build(&packages).unwrap();
    assert_eq!(lengths(&loaded), [ClosureKind::Distance(1.0)]);
    let named = |warning: &&String| warning.contains("`third_spatula`") && warning.contains("left out");
    assert_eq!(loaded.warnings.iter().filter(named).count(), 1, "{:?}", loaded.warnings);
}

/// Mistakes that would show only as a strange motion are named at load: commands without gains, bodies that
/// start inside the ground or in each other, and inertias that no body has. Without the mistake there is no
/// warning.
#[test]
fn likely_mistakes_are_named_at_load() {
    let warnings = |text: &str| load(text).unwrap_or_else(|error| panic!("{}", chain(&error))).warnings;
    let brick = |name: &str, z: f64| {
        format!("  - {{ name: {name}, urdf: ../urdf/cube.urdf, prefix: {name}_, free: {{ xyz: [0, 0, {z}] }} }}\n")
    };
    let heap = |bricks: &[String]| warnings(&format!("ground: {{}}\nmodels:\n{}", bricks.concat()));
    assert_eq!(heap(&[brick("a", 0.2), brick("b", 0.4)]), [""; 0]);
    let sunk = heap(&[brick("a", -20.0), brick("b", 0.4)]);
    assert!(matches!(&sunk[..], [one] if one.contains("`a_") && one.contains("inside `world/ground`")), "{sunk:?}");
    let twice = heap(&[brick("a", 0.4), brick("b", 0.4)]);
    assert!(matches!(&twice[..], [one] if one.contains("`a_") && one.contains("`b_")), "{twice:?}");

    let commanded =
        |command: &str| warnings(&format!("{GRIPPER}commands: {{ left_finger_sliding_joint: {{ {command} }} }}\n"));
    for (command, gain) in
        [("position: 0.01", Some("stiffness")), ("velocity: 0.1", Some("damping")), ("effort: 1", None)]
    {
        let found = commanded(command);
        let named = found.iter().filter(|one| one.contains("`left_finger_sliding_joint` does not follow"));
        let gains: Vec<_> = named.map(|one| gain.is_some_and(|gain| one.contains(gain))).collect();
        assert_eq!(gains, vec![true; usize::from(gain.is_some())], "{command}: {found:?}");
    }

    let published = warnings("models:\n  - { name: s, urdf: ../urdf/spatula_published_inertia.urdf, free: {} }\n");
    assert!(matches!(&published[..], [one] if one.contains("line ") && one.contains("inertia")), "{published:?}");
}

/// Scenes beyond the limits are refused, and the error gives the limit.
#[test]
fn scenes_have_a_largest_size() {
    let model = |number: usize| {
        format!("  - {{ name: m{number}, urdf: ../urdf/spatula.urdf, prefix: m{number}_, free: {{}} }}\n")
    };
    let scene = |models: usize| format!("models:\n{}", (0..models).map(model).collect::<String>());
    let refused = |scene: String| chain(&load(&scene).unwrap_err());
    let many = refused(scene(2_501));
    assert!(many.contains("2501 models; at most 2500"), "{many}");
    let balls = |rest: &str, count: usize| {
        let grid = "grid: { count: [25, 25, 4], spacing: [0.3, 0.3, 0.3] }";
        let grid = if count == 2_500 { grid.to_owned() } else { grid.replace("25, 25, 4", &format!("{count}, 1, 1")) };
        format!("models:\n  - {{ name: b, sphere: 0.1, mass: 1, free: {{}}, {grid} }}\n{rest}")
    };
    for (rest, way_out) in [
        ("stepping: quasistatic", "`stepping: dynamic`, which takes 15000"),
        ("stepping: spook", "`stepping: dynamic`, which takes 15000"),
        ("contact: { scheme: tamsi, face_friction: centroid }", "`scheme: lagged`, which takes 15000"),
    ] {
        let found = refused(balls(rest, 501));
        assert!(found.contains("3006 degrees of freedom") && found.contains("at most 3000"), "{rest}: {found}");
        assert!(found.contains(way_out), "{rest}: {found}");
    }
    let large = load(&balls("", 501)).unwrap();
    assert_eq!(large.scene.model().nv(), 3006);
    let mut simulation = large.simulation().unwrap();
    simulation.step(&JointCommand::default()).unwrap();
    let quasistatic = StepSettings { stepping: Stepping::Quasistatic(large.quasistatic), ..large.settings };
    let refused = simulation.reset_with(quasistatic).unwrap_err().to_string();
    assert!(refused.contains("quasistatic steps take at most 3000"), "{refused}");
    let chain_of = |joints: usize| -> String {
        let link = |number: usize| format!("<link name=\"l{number}\"/>");
        let joint = |number: usize| {
            let (parent, child) = (number, number + 1);
            format!(
                "<joint name=\"j{number}\" type=\"continuous\"><parent link=\"l{parent}\"/><child link=\"l{child}\"/></joint>"
            )
        };
        format!(
            "<robot name=\"r\">{}{}</robot>",
            (0..=joints).map(link).collect::<String>(),
            (0..joints).map(joint).collect::<String>()
        )
    };
    let file = std::env::temp_dir().join(format!("isobar_chain_{}.urdf", std::process::id()));
    std::fs::write(&file, chain_of(3_001)).unwrap();
    let long = load(&format!("models:\n  - {{ name: r, urdf: {}, weld: {{}} }}\n", file.display())).map(|_| ());
    std::fs::remove_file(&file).unwrap();
    let long = chain(&long.unwrap_err());
    assert!(long.contains("`r` has 3001 degrees of freedom; a model has at most 3000: make"), "{long}");
    let links: String = (0..5_001).map(|number| format!("<link name=\"l{number}\"/>")).collect();
    let robot = format!("<robot name=\"r\">{links}</robot>");
    let packages = PackageMap::new();
    let options = LoadOptions::default();
    let refused = isobar::io::urdf::load_str(&robot, Path::new("r.urdf"), Path::new(""), &packages, &options);
    assert!(chain(&refused.unwrap_err()).contains("5001 links and 0 joints; at most 5000"));
}

/// A key of `spook` that the chosen friction or solver does not use is refused by its name; with the friction
/// or solver that uses it, it is taken. Without a choice the solver is the one that converges.
#[test]
fn keys_of_spook_that_nothing_uses_are_refused() {
    let of = |spook: &str| load(&format!("{GRIPPER}spook: {{ {spook} }}\n"));
    for (key, uses) in [
        ("frame: body", "friction: oriented_box"),
        ("directions: 16", "friction: multi_directional"),
        ("edges: 16", "friction: polyhedral_cone"),
        ("seed: 3", "friction: randomized"),
        ("iterations: 8", "solver: split"),
    ] {
        let text = chain(&of(key).expect_err(key));
        let name = key.split(':').next().expect("a name");
        assert!(text.contains(&format!("`{name}` has no effect")) && text.contains("remove"), "{text}");
        of(&format!("{uses}, {key}")).expect(uses);
    }
    let solver = of("").expect("the defaults").spook.solver;
    assert_eq!((solver.solver.name(), solver.friction.name()), ("direct", "exact_cone"));
    assert_eq!(of("solver: split").expect("a solver").spook.solver.friction.name(), "projected_cone");
}
