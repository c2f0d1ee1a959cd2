//! The scenes to begin with, in `config/start`: short, without warnings, and true to the laws that they show.

use std::path::{Path, PathBuf};

use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene, Loading};
use isobar::math::{BodyIndex, Vector3};
use isobar::stepping::{JointCommand, Simulation, Snapshot, Stepping};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("config/start").join(format!("{name}.yaml"))
}

fn load(name: &str, set: &[(&str, &str)]) -> LoadedScene {
    let set: Vec<_> = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let loaded = scene_file::load_with(&file(name), &PackageMap::new(), &Loading { set: &set, ..Loading::default() });
    let loaded = loaded.expect("a scene");
    assert_eq!(loaded.warnings, Vec::<String>::new());
    loaded
}

/// The state after a run with the scene's commands.
fn run(loaded: &LoadedScene, seconds: f64) -> (Simulation, Snapshot) {
    let mut simulation = loaded.simulation().expect("a simulation");
    let mut command = JointCommand::new(&loaded.scene);
    let steps = (seconds / loaded.settings.step()).round() as u64;
    for _ in 0..steps {
        loaded.commands.fill(simulation.time_ns(), &mut command);
        let report = simulation.step(&command).expect("a step");
        assert!(report.solver_converged, "t = {} s: {report:?}", simulation.time());
    }
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    (simulation, snapshot)
}

fn body(loaded: &LoadedScene, name: &str) -> BodyIndex {
    loaded.scene.model().body(name).expect(name)
}

/// Force of all contacts on a body \[N\].
fn force_on(snapshot: &Snapshot, body: BodyIndex) -> Vector3 {
    snapshot.F_BBo_W[body].f
}

/// Beyond the robot, each scene has fewer than ten lines.
#[test]
fn scenes_to_begin_with_are_short() {
    for name in ["arm_on_table", "peg_in_hole", "heap", "mug", "standing"] {
        let text = std::fs::read_to_string(file(name)).expect("a scene");
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let robot = lines.iter().position(|line| line.trim_start().starts_with("urdf:")).map(|urdf| urdf - 1);
        let of_robot =
            robot.map_or(0, |first| 1 + lines[first + 1..].iter().take_while(|line| line.starts_with("    ")).count());
        let beyond = lines.len() - of_robot;
        assert!((3..10).contains(&beyond), "{name}: {beyond} lines");
    }
}

/// Law: at rest, the efforts of the joints are those of their impedances, and the block carries the force of
/// the tip: the table bears both. A command farther inside presses harder.
#[test]
fn an_arm_presses_a_block_on_a_table() {
    let mut pressed = Vec::new();
    for reach in ["0.06", "0.1"] {
        let loaded = load("arm_on_table", &[("reach", reach)]);
        let (_, snapshot) = run(&loaded, 2.5);
        let (tip, block) = (force_on(&snapshot, body(&loaded, "lower")), force_on(&snapshot, body(&loaded, "block")));
        // At rest the block's contacts carry its weight. The arm still creeps by less than a percent of its
        // force after 2.5 s, and the block of 0.5 kg does not accelerate by more than 1e-3 m/s2.
        assert!((block - Vector3::z() * (0.5 * 9.81)).norm() < 5e-4, "{block}");
        let joint = loaded.scene.joint("shoulder").expect("a joint");
        let q = snapshot.joint_position[joint];
        let effort = 80.0 * (reach.parse::<f64>().unwrap() - q);
        let given = snapshot.joint_effort[joint];
        assert!(tip.z > 5.0 && effort > 0.0 && given.is_finite(), "{tip}, {effort}, {given}");
        pressed.push(tip.z);
    }
    assert!(pressed[1] > 1.2 * pressed[0], "{pressed:?}");
}

/// Law: the hole guides the peg to within the clearance of 0.5 mm on each side, and the gripper sets its
/// depth.
#[test]
fn a_peg_slides_into_its_hole() {
    let loaded = load("peg_in_hole", &[]);
    let (_, snapshot) = run(&loaded, 2.5);
    let peg = snapshot.X_WB[body(&loaded, "peg")].translation.vector;
    assert!(peg.xy().amax() < 5e-4, "{peg}");
    // The fingers close within 20 ms, in which the peg falls by g t^2/2 = 2 mm at most.
    assert!((peg.z - 0.054).abs() < 1.5e-3, "{peg}");
}

/// Law: the bodies stay between the walls and above the ground, and lose their energy.
#[test]
fn forty_bodies_fall_into_a_box() {
    let loaded = load("heap", &[]);
    assert_eq!(loaded.scene.free_bodies().len(), 40);
    let (_, snapshot) = run(&loaded, 1.0);
    let highest = loaded.scene.free_bodies().iter().map(|body| snapshot.X_WB[*body].translation.vector);
    for p in highest {
        assert!(p.xy().amax() < 0.14 - 0.014 && p.z > 0.014 && p.z < 0.2, "{p}");
    }
    // Rolling balls may still move at some centimetres per second: 2.9 kg in all.
    let kinetic = snapshot.energy.kinetic;
    assert!(kinetic < 0.5 * 2.9 * 0.1 * 0.1, "{kinetic} J");
}

/// Law: friction of both fingers up to 2 mu F = 32 N carries the 2.9 N of the mug, so that it rises with the
/// hand, upright.
#[test]
fn a_hand_lifts_a_mug() {
    let loaded = load("mug", &[]);
    let (_, snapshot) = run(&loaded, 2.2);
    let mug = snapshot.X_WB[body(&loaded, "mug")];
    // The lift of 10 kN/m gives way by 0.3 mm under the mug.
    assert!((mug.translation.z - 0.1).abs() < 1e-3, "{mug}");
    assert!((mug.rotation * Vector3::z()).z > 0.9999, "{mug}");
}

/// Law: the feet carry the weight of the robot, 9.2 kg; it stands still and level.
#[test]
fn a_robot_stands_on_four_legs() {
    let loaded = load("standing", &[]);
    let (simulation, snapshot) = run(&loaded, 2.0);
    let feet: Vec<Vector3> = ["front_left", "front_right", "rear_left", "rear_right"]
        .map(|leg| force_on(&snapshot, body(&loaded, &format!("{leg}_shank"))))
        .to_vec();
    let (sum, weight) = (feet.iter().sum::<Vector3>(), 9.2 * 9.81);
    assert!(feet.iter().all(|foot| foot.z > 0.1 * weight), "{feet:?}");
    let speed = simulation.state().v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    assert!(speed < 1e-3, "{speed}");
    // The robot sways with less than 1e-3 of gravity.
    assert!((sum - Vector3::z() * weight).norm() < 1e-3 * weight, "{sum}");
    let trunk = snapshot.X_WB[body(&loaded, "trunk")];
    assert!((trunk.rotation * Vector3::z()).z > 0.999 && (trunk.translation.z - 0.35).abs() < 0.02, "{trunk}");
}

/// Law: a step that ends at the limit of iterations with a residual above the tolerance has not converged,
/// however small the residual is. With one or two iterations per step, many steps end within a hundred times
/// the tolerance.
#[test]
fn a_step_at_its_limit_of_iterations_has_not_converged() {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/drop.yaml");
    let loaded = scene_file::load(&config, &PackageMap::new()).expect("a scene");
    let mut near = 0;
    for iterations_max in [1, 2] {
        let mut settings = loaded.settings;
        let mut dynamic = loaded.dynamic;
        dynamic.solver.iterations_max = iterations_max;
        settings.stepping = Stepping::Dynamic(dynamic);
        let mut simulation =
            Simulation::new(loaded.scene.clone(), loaded.initial.clone(), settings).expect("a simulation");
        let command = JointCommand::new(&loaded.scene);
        for _ in 0..400 {
            let report = simulation.step(&command).expect("a step");
            if report.solver_iterations >= iterations_max && report.solver_residual > 1.0 {
                near += u32::from(report.solver_residual < 100.0);
                assert!(!report.solver_converged, "t = {} s: {report:?}", simulation.time());
            }
        }
    }
    assert!(near > 0, "no step was near its tolerance");
}
