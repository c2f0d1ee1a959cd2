//! The robots and objects of urdf/: against Pinocchio, against the makers' data sheets, and against `isobar inspect`.

use std::path::{Path, PathBuf};

use isobar::io::inspect;
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::io::urdf::{self, LoadOptions, RobotDescription};
use isobar::multibody::{Data, bias, kinematics, mass_matrix};
use isobar::stepping::{JointCommand, JointTarget, Simulation, Snapshot};
use serde_json::Value;

use crate::golden::{difference, floats};
use crate::worlds::welded;

/// Both sides round at about 1e-16 of the largest entry in each of some hundred operations; 1e-9 leaves no room for a mistake.
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

/// Oracle: Pinocchio's own reading of the same files; see tests/golden/robots/README.md.
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
                |i: usize, j: usize| data.M[i * nv + j] - if i == j { model.dof_armature()[i] } else { 0.0 };
            let pairs = rows.iter().flat_map(|&i| rows.iter().map(move |&j| (i, j)));
            let M = difference(pairs.map(|(i, j)| without_rotor(i, j)), &floats(&case["M"]));
            let gravity = difference(rows.iter().map(|&i| data.gravity[i]), &floats(&case["gravity"]));
            println!("{name}: M {M:.1e}, gravity {gravity:.1e}");
            assert!(M < TOLERANCE && gravity < TOLERANCE, "{name}");
        }
    }
}

/// Distance between two links' origins when the named joints are at these angles, all others at zero [m].
fn distance(robot: &RobotDescription, links: [&str; 2], angles: &[(&str, f64)]) -> f64 {
    let scene = welded(robot);
    let model = scene.model();
    let mut state = model.default_state();
    for (joint, angle) in angles {
        state.q[model.joints()[model.joint(joint).expect("a joint")].q_start] = *angle;
    }
    let mut data = Data::new(model);
    kinematics(model, &state, &mut data);
    let place = |link: &str| data.X_WB[model.body(link).expect("a link")].translation.vector;
    (place(links[1]) - place(links[0])).norm()
}

/// Oracle: the makers' data sheets. Mass within 10 % (they round, and count cables), reach within 1 %.
#[test]
fn mass_and_reach_are_those_of_the_data_sheets() {
    let robot = |name: &str| load(&folder().join(format!("{name}.urdf")));
    for (name, kilograms) in [("iiwa7", 23.9), ("iiwa14", 29.9), ("wsg50", 1.2), ("j2n6s300", 4.4), ("j2s7s300", 5.5)] {
        let mass = robot(name).total_mass();
        assert!((mass / kilograms - 1.0).abs() < 0.1, "{name}: {mass} kg, by the data sheet {kilograms} kg");
    }
    let stretched =
        ["j2s7s300_joint_2", "j2s7s300_joint_4", "j2s7s300_joint_6"].map(|joint| (joint, std::f64::consts::PI));
    let reaches = [
        ("iiwa7", ["iiwa_link_2", "iiwa_link_6"], &[][..], 0.800),
        ("iiwa14", ["iiwa_link_2", "iiwa_link_6"], &[], 0.820),
        ("j2s7s300", ["j2s7s300_link_2", "j2s7s300_end_effector"], &stretched, 0.985),
    ];
    for (name, links, angles, metres) in reaches {
        let reach = distance(&robot(name), links, angles);
        assert!((reach / metres - 1.0).abs() < 0.01, "{name}: {reach} m, by the data sheet {metres} m");
    }
}

/// What `isobar inspect` says of every file that we ship: nothing to repair, nothing that bites but the published inertia of the spatula,
/// which has it in its name. All meshes are there.
#[test]
fn nothing_shipped_needs_a_warning() {
    for file in shipped() {
        let robot = load(&file);
        assert!(robot.warnings.is_empty(), "{}", robot.warnings[0]);
        let report = inspect::report(&robot);
        let (_, bites) = report.split_once("What will bite").expect("a list");
        if file.ends_with("spatula_published_inertia.urdf") {
            assert!(
                bites.contains("the inertia is large for the mass") && bites.trim().lines().count() == 1,
                "{bites}"
            );
        } else {
            assert_eq!(bites.trim(), "(nothing)", "{}", file.display());
        }
        for visual in robot.links.iter().flat_map(|link| &link.visuals) {
            assert!(visual.shape.is_some(), "{}: {}", file.display(), visual.name);
        }
    }
}

/// Every scene of config/ with every mesh that it names, from a folder that need not be called like the package.
#[test]
fn no_shipped_scene_needs_a_warning() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let files = std::fs::read_dir(folder).expect("config/").map(|entry| entry.expect("a file").path());
    let is_scene = |file: &PathBuf| {
        let is_yaml = file.extension().is_some_and(|ending| ending == "yaml");
        // the node's own parameters stand beside the scenes
        is_yaml && !std::fs::read_to_string(file).expect("a file").contains("ros__parameters")
    };
    let scenes: Vec<PathBuf> = files.filter(is_scene).collect();
    assert!(scenes.len() >= 5);
    for file in scenes {
        let loaded = scene_file::load_with_visual_meshes(&file, &PackageMap::new()).expect("a scene");
        assert_eq!(loaded.warnings, Vec::<String>::new(), "{}", file.display());
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

/// Law: stacks of cubes and an arm in impedance control with its weight compensated are in equilibrium. Friction is regularized: a
/// cube that carries no load along the ground does not creep, and one sinks into the next by g dt2/40 for each cube above.
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
    let command = JointCommand { targets: vec![JointTarget::default(); joints] };
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
