//! The robots and objects of urdf/: against Pinocchio, against manufacturers' figures, and against `isobar
//! inspect`.

use std::collections::BTreeSet;
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

use isobar::geometry::Shape;
use isobar::io::mesh_files::{self, MeshData};
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::io::urdf::{self, LoadOptions};
use isobar::math::Vector3;
use isobar::multibody::{Data, bias, kinematics, mass_matrix};
use isobar::robot::{RobotDescription, inspect};
use isobar::scene::Scene;
use isobar::stepping::{JointCommand, Simulation, Snapshot};
use serde_json::Value;

use crate::golden::{difference, floats};
use crate::worlds::{other_warnings, welded};

/// Both sides round at about 1e-16 of the largest entry in each of some hundred operations, and any mistake
/// in a robot changes more than 1e-9.
const TOLERANCE: f64 = 1e-9;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("urdf")
}

fn load(file: &Path) -> RobotDescription {
    let options = LoadOptions { load_visual_meshes: true, ..LoadOptions::default() };
    urdf::load_file(file, &PackageMap::new(), &options).expect("a robot")
}

fn shipped() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).expect("urdf/").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

/// Oracle: Pinocchio with the same files; see tests/golden/robots/README.md.
#[test]
fn mass_matrix_and_gravity_match_the_independent_program() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/robots/robots.json");
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(golden).expect("a file")).expect("JSON");
    let robots = golden["robots"].as_object().expect("robots");
    assert_eq!(robots.len(), 8);
    for (name, robot) in robots {
        let scene = welded(&load(&folder().join(format!("{name}.urdf"))));
        let model = scene.model();
        let joints: Vec<_> = robot["joints"].as_array().expect("joints").iter().map(|joint| joint.as_str()).collect();
        let joints: Vec<_> = joints.iter().flatten().filter_map(|name| model.joint(name)).collect();
        let (nv, mut data) = (model.nv(), Data::new(model));
        assert_eq!(joints.len(), nv);
        let rows: Vec<usize> = joints.iter().map(|&joint| model.joints()[joint].v_start).collect();
        for case in robot["states"].as_array().expect("states") {
            let mut state = model.default_state();
            for (&joint, q) in joints.iter().zip(floats(&case["q"])) {
                state.q[model.joints()[joint].q_start] = q;
            }
            kinematics(model, &state, &mut data);
            mass_matrix(model, &mut data);
            bias(model, &mut data);
            let without_rotor =
                |i: usize, j: usize| data.M[(i, j)] - if i == j { model.dof_armature()[i] } else { 0.0 };
            let pairs = rows.iter().flat_map(|&i| rows.iter().map(move |&j| (i, j)));
            let M = difference(pairs.map(|(i, j)| without_rotor(i, j)), &floats(&case["M"]));
            let gravity = difference(rows.iter().map(|&i| data.gravity[i]), &floats(&case["gravity"]));
            println!("{name}: M {M:.1e}, gravity {gravity:.1e}");
            assert!(M < TOLERANCE && gravity < TOLERANCE, "{name}");
        }
    }
}

/// Position of link B's origin in the frame of link A [m], as a function of angles of some joints; all others
/// are at zero.
fn place<'a>(scene: &'a Scene, [A, B]: [&str; 2]) -> impl FnMut(&[(&str, f64)]) -> Vector3 + use<'a> {
    let model = scene.model();
    let mut data = Data::new(model);
    let [A, B] = [A, B].map(|link| model.body(link).expect("a link"));
    move |angles| {
        let mut state = model.default_state();
        for (joint, angle) in angles {
            state.q[model.joints()[model.joint(joint).expect("a joint")].q_start] = *angle;
        }
        kinematics(model, &state, &mut data);
        data.X_WB[A].inv_mul(&data.X_WB[B]).translation.vector
    }
}

/// The largest distance of that position over the angles of these joints [m]. In each angle the squared
/// distance is a constant plus a sine wave, so three values give its maximum. The joints are turned in
/// rounds, from several starts, until the distance no longer grows.
fn largest_distance(mut place: impl FnMut(&[(&str, f64)]) -> Vector3, joints: &[&str]) -> f64 {
    let mut largest: f64 = 0.0;
    for start in 0..8_u32 {
        let begin = |k| PI * (f64::from(start) / 4.0 * f64::from(2 * k + 1) + 0.1);
        let mut angles: Vec<_> = joints.iter().zip(0_u32..).map(|(&joint, k)| (joint, begin(k))).collect();
        for turn in 0..200 * joints.len() {
            let k = turn % joints.len();
            let mut squared = |angle| {
                angles[k].1 = angle;
                place(&angles).norm_squared()
            };
            let (at_0, at_90, at_180) = (squared(0.0), squared(PI / 2.0), squared(PI));
            angles[k].1 = (at_90 - 0.5 * (at_0 + at_180)).atan2(0.5 * (at_0 - at_180));
        }
        largest = largest.max(place(&angles).norm());
    }
    largest
}

fn robot(name: &str) -> RobotDescription {
    load(&folder().join(format!("{name}.urdf")))
}

/// Oracle: the manufacturers' figures; sources are in docs/reference/robots.md. Masses, with and without
/// hand, agree within 10 % (the figures are rounded and include cables).
#[test]
fn masses_are_those_of_the_data_sheets() {
    for (name, kilograms) in [("iiwa7", 23.9), ("iiwa14", 29.9), ("wsg50", 1.2), ("j2n6s300", 5.4), ("j2s7s300", 6.18)]
    {
        let mass = robot(name).total_mass();
        assert!((mass / kilograms - 1.0).abs() < 0.1, "{name}: {mass} kg and not {kilograms} kg");
    }
    for (file, arm, hand, kilograms) in
        [("j2n6s300", "j2n6s300", 6, 4.4), ("j2n6_bubble_gripper", "j2n6", 6, 4.4), ("j2s7s300", "j2s7s300", 7, 5.5)]
    {
        let robot = robot(file);
        let names: Vec<_> = (1..hand).map(|k| format!("{arm}_link_{k}")).chain([format!("{arm}_link_base")]).collect();
        let links = robot.links.iter().filter(|link| names.contains(&link.name));
        let masses: Vec<f64> = links.map(|link| link.inertial.as_ref().expect("a mass").mass).collect();
        let mass: f64 = masses.iter().sum();
        assert_eq!(masses.len(), hand, "{file}");
        assert!((mass / kilograms - 1.0).abs() < 0.1, "{file}: arm {mass} kg and not {kilograms} kg");
    }
}

/// Oracle: the manufacturers' figures; sources are in docs/reference/robots.md. Reach is the length of the
/// stretched arm: from the middle of joint 2 to that of joint 6, or of the grasp. It agrees within 1 %.
#[test]
fn reaches_are_those_of_the_data_sheets() {
    let straight = ["j2s7s300_joint_2", "j2s7s300_joint_4", "j2s7s300_joint_6"].map(|joint| (joint, PI));
    let reaches = [
        ("iiwa7", ["iiwa_link_2", "iiwa_link_6"], &[][..], Vector3::y(), 0.800),
        ("iiwa14", ["iiwa_link_2", "iiwa_link_6"], &[], Vector3::y(), 0.820),
        ("j2n6s300", ["j2n6s300_link_2", "j2n6s300_end_effector"], &[], -Vector3::y(), 0.900),
        ("j2s7s300", ["j2s7s300_link_2", "j2s7s300_end_effector"], &straight, -Vector3::y(), 0.985),
    ];
    for (name, links, angles, along, metres) in reaches {
        let reach = place(&welded(&robot(name)), links)(angles).dot(&along);
        assert!((reach / metres - 1.0).abs() < 0.01, "{name}: {reach} m and not {metres} m");
    }
}

/// Oracle: the lengths of the public description. Elbow and wrist put the middle of the grasp beside the
/// straight arm, so that it reaches 5.6 mm farther from joint 2 than along the arm
/// (docs/reference/robots.md).
#[test]
fn the_curved_wrist_reaches_a_little_farther_than_its_length() {
    let scene = welded(&robot("j2n6s300"));
    let from_joint_2 = place(&scene, ["j2n6s300_link_2", "j2n6s300_end_effector"]);
    let largest = largest_distance(from_joint_2, &["j2n6s300_joint_3", "j2n6s300_joint_4", "j2n6s300_joint_5"]);
    assert!((largest - 0.9112).abs() < 1e-4, "{largest} m");
}

/// The report of `isobar inspect` on every shipped file: no repairs, and no likely mistake except the
/// published inertia of the spatula, after which its file is named. All meshes exist.
#[test]
fn nothing_shipped_needs_a_warning() {
    for file in shipped() {
        let robot = load(&file);
        assert!(robot.warnings.is_empty(), "{}", robot.warnings[0]);
        let report = inspect::report(&robot);
        let (_, mistakes) = report.split_once("Likely mistakes").expect("a list");
        if file.ends_with("spatula_published_inertia.urdf") {
            assert!(
                mistakes.contains("the inertia is large for the mass") && mistakes.trim().lines().count() == 1,
                "{mistakes}"
            );
        } else {
            assert_eq!(mistakes.trim(), "(nothing)", "{}", file.display());
        }
        for visual in robot.links.iter().flat_map(|link| &link.visuals) {
            assert!(visual.shape.is_some(), "{}: {}", file.display(), visual.name);
        }
    }
}

/// The meshes that represent ellipsoids in tools without ellipsoids: every vertex is on the ellipsoid, and
/// the surface is closed.
#[test]
fn meshes_that_stand_for_ellipsoids_lie_on_them() {
    for (file, mesh) in
        [("pancake", "objects/pancake_contact.obj"), ("wsg50_bubble_gripper", "wsg50/bubble_contact.obj")]
    {
        let robot = robot(file);
        let shapes = robot.links.iter().flat_map(|link| &link.collisions).map(|collision| &collision.shape);
        let ellipsoids =
            shapes.filter_map(|shape| if let Shape::Ellipsoid { semi_axes } = shape { Some(semi_axes) } else { None });
        let axes: Vec<_> = ellipsoids.collect();
        assert!(!axes.is_empty() && axes.iter().all(|other| *other == axes[0]), "{file}");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes").join(mesh);
        let MeshData::Surface(surface) = mesh_files::read(&path, &Vector3::repeat(1.0)).expect("a mesh") else {
            panic!("{mesh}")
        };
        // An octahedron refined twice: 4^2 of its 8 faces each, and Euler's formula.
        assert_eq!((surface.vertices.len(), surface.triangles.len()), (66, 128), "{mesh}");
        let edges: BTreeSet<_> = surface.triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
        assert!(edges.len() == 3 * 128 && edges.iter().all(|&(a, b)| edges.contains(&(b, a))), "{mesh} is open");
        for vertex in &surface.vertices {
            // Twelve decimals of a metre, over a hundredth of a metre.
            assert!((vertex.component_div(axes[0]).norm() - 1.0).abs() < 1e-9, "{mesh}: {vertex}");
        }
    }
}

/// Every scene of config/ with every mesh that it names, from a folder whose name differs from that of the
/// package: no warning but that of the published inertia of the spatula.
#[test]
fn no_shipped_scene_needs_a_warning() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let files = std::fs::read_dir(folder).expect("config/").map(|entry| entry.expect("a file").path());
    let is_scene = |file: &PathBuf| {
        let is_yaml = file.extension().is_some_and(|ending| ending == "yaml");
        // The node's own parameters are in the same folder as the scenes.
        is_yaml && !std::fs::read_to_string(file).expect("a file").contains("ros__parameters")
    };
    let scenes: Vec<PathBuf> = files.filter(is_scene).collect();
    assert!(scenes.len() >= 5);
    for file in scenes {
        let loaded = scene_file::load_with_visual_meshes(&file, &PackageMap::new()).expect("a scene");
        assert_eq!(other_warnings(&loaded.warnings), Vec::<&String>::new(), "{}", file.display());
    }
}

/// Meshes stay small enough to ship.
#[test]
fn all_meshes_together_are_small() {
    let mut waiting = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes")];
    let mut bytes = 0;
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else {
            bytes += std::fs::metadata(&path).expect("a file").len();
        }
    }
    assert!((100_000..5_000_000).contains(&bytes), "{bytes} bytes");
}

/// Law: stacks of cubes and an arm in impedance control with its weight compensated are in equilibrium.
/// Friction is regularized: a cube that carries no load along the ground does not creep, and one sinks into
/// the next by g dt^2/4000 for each cube above.
#[test]
fn the_cubes_and_the_arm_of_the_stacking_scene_stand() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/cube_stacking.yaml");
    let loaded = scene_file::load(&file, &PackageMap::new()).expect("the scene");
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let joints = loaded.scene.joint_names().len();
    assert_eq!((joints, loaded.scene.free_bodies().len()), (9, 10));
    let cubes = loaded.scene.free_bodies().to_vec();
    let mut simulation = Simulation::new(loaded.scene, loaded.initial, loaded.settings).expect("a simulation");
    let (mut before, mut after) = (Snapshot::default(), Snapshot::default());
    simulation.snapshot_into(&mut before);
    let command = JointCommand::for_joints(joints);
    for _ in 0..250 {
        simulation.step(&command).expect("a step");
    }
    simulation.snapshot_into(&mut after);
    for cube in cubes {
        let moved = (after.X_WB[cube].translation.vector - before.X_WB[cube].translation.vector).norm();
        assert!(moved < 1e-5, "{moved} m");
    }
    let turned =
        before.joint_position.iter().zip(&after.joint_position).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(turned < 1e-5, "{turned}");
}
