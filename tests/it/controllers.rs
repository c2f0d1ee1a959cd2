//! Two controllers read one kind of task file: that of the program (src/experiments/keyframes) and that of
//! the ROS 2 process in Python (controllers/isobar_control). They give the same commands.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use isobar::experiments::keyframes::{Controller, ControllerError, Measurement, Sensors, Task};
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene};
use isobar::math::BodyIndex;
use isobar::stepping::{JointCommand, Simulation};
use serde_json::json;

/// Simulation steps of one control period, as the process has them: 10 ms at steps of 2 ms.
const STEPS: u32 = 5;
/// No task is longer [s].
const TIME_MAX: f64 = 90.0;
const TASKS: [&str; 4] = ["cube_stacking", "iiwa_demo", "jaco_demo", "pancake_flip"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

struct Played {
    simulation: Simulation,
    controller: Controller,
    end: Result<(), ControllerError>,
}

/// Plays a task in its scene to the end, and writes measurements and commands, one line per control period.
fn play(name: &str, file: &Path, record: &mut dyn Write) -> (LoadedScene, Played) {
    let task = Task::read(file).expect("a task");
    let path = root().join(format!("config/{name}.yaml"));
    let loaded = scene_file::load(&path, &PackageMap::from_environment()).expect("a scene");
    let mut simulation =
        Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings).expect("a simulation");
    let sensors = Sensors::new(&task, &loaded.scene).expect("the scene has the task's bodies");
    let bodies: Vec<String> = task.sensing_bodies().into_iter().map(str::to_owned).collect();
    let joints = loaded.scene.joint_names();
    let head = json!({ "scene": path, "task": file, "joints": joints, "bodies": bodies });
    writeln!(record, "{head}").expect("a line");
    let mut controller = Controller::new(task, &loaded.scene, &loaded.initial).expect("a controller");
    let mut command = JointCommand::for_joints(joints.len());
    let (mut measured, mut end) = (Measurement::default(), Ok(()));
    let dt = f64::from(STEPS) * simulation.settings().step();
    while !controller.done() && end.is_ok() && simulation.time() < TIME_MAX {
        sensors.measure(&simulation, &mut measured);
        end = controller.control(&measured, dt, &mut command);
        let forces: Vec<[f64; 3]> = measured.forces.iter().map(|f| [f.x, f.y, f.z]).collect();
        let targets: Vec<_> = command.targets.iter().map(|t| json!([t.position, t.velocity, t.effort])).collect();
        let line = json!({
            "dt": dt, "q": measured.positions, "v": measured.velocities, "forces": forces,
            "torques": measured.external_torques, "keyframe": controller.keyframe(), "targets": targets,
            "failed": end.is_err(),
        });
        writeln!(record, "{line}").expect("a line");
        for _ in 0..STEPS {
            let report = simulation.step(&command).expect("a step");
            assert!(report.solver_converged, "{name} at {} s", simulation.time());
        }
    }
    (loaded, Played { simulation, controller, end })
}

fn task_file(name: &str) -> PathBuf {
    root().join(format!("config/tasks/{name}.yaml"))
}

fn distance(loaded: &LoadedScene, played: &Played, body: &str, goal: [f64; 3]) -> f64 {
    let body: BodyIndex = loaded.scene.body(body).expect("a body");
    let p = played.simulation.data().X_WB[body].translation.vector;
    (0..3).map(|i| (p[i] - goal[i]) * (p[i] - goal[i])).sum::<f64>().sqrt()
}

/// A Python with numpy and PyYAML: ISOBAR_PYTHON, which scripts/ros2-env sets and which must have them, or
/// else python3.
fn python() -> Option<String> {
    let named = std::env::var("ISOBAR_PYTHON").ok();
    let python = named.clone().unwrap_or_else(|| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import numpy, yaml"]).output();
    let usable = found.is_ok_and(|output| output.status.success());
    assert!(usable || named.is_none(), "ISOBAR_PYTHON={python} has no numpy or no PyYAML");
    usable.then_some(python)
}

/// If the required weight exceeds that of the spatula, the grasp fails and is repeated once.
fn a_grasp_that_fails(folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(task_file("pancake_flip")).expect("the file");
    let changed = text.replace("load: [0.4, 1.4]", "load: [5, 6]").replace("retries: 2", "retries: 1");
    assert!(changed.matches("load: [5, 6]").count() == 1 && changed.contains("retries: 1"));
    let (file, path) = (folder.join("heavy.yaml"), folder.join("heavy.jsonl"));
    std::fs::write(&file, changed).expect("a file");
    let mut record = BufWriter::new(File::create(&path).expect("a file"));
    let (_, played) = play("pancake_flip", &file, &mut record);
    assert!(matches!(played.end, Err(ControllerError::Grasp { retries: 1, .. })), "{:?}", played.end);
    record.flush().expect("all lines");
    path
}

/// The tool is sent 3 mm beyond the reach of the stretched arm, where least squares are damped.
fn a_reach_that_fails(folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(task_file("iiwa_demo")).expect("the file");
    let (head, _) = text.split_once("keyframes:").expect("keyframes");
    let keyframes = "keyframes:\n  - { name: raise, duration: 2, xyz: [0.5, 0, 0.45], open: 0 }\n  - { name: reach, duration: 2, xyz: [0.82, 0, 0.15] }\n";
    let (file, path) = (folder.join("far.yaml"), folder.join("far.jsonl"));
    std::fs::write(&file, format!("{head}{keyframes}")).expect("a file");
    let mut record = BufWriter::new(File::create(&path).expect("a file"));
    let (_, played) = play("iiwa_demo", &file, &mut record);
    assert!(matches!(played.end, Err(ControllerError::Reach { .. })), "{:?}", played.end);
    record.flush().expect("all lines");
    path
}

/// The program plays each shipped task to its end. Python, given the same measurements, commands the same
/// positions, velocities and efforts within 1e-9 (rad, m, rad/s, N). Rounding errors of 1e-16 stay far below
/// this over thousands of periods, because each pose is followed in closed loop, which reduces errors.
#[test]
fn program_and_process_command_the_same() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("controllers");
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut records = Vec::new();
    for name in TASKS {
        let path = folder.join(format!("{name}.jsonl"));
        let mut record = BufWriter::new(File::create(&path).expect("a file"));
        let (loaded, played) = play(name, &task_file(name), &mut record);
        assert!(played.end.is_ok() && played.controller.done(), "{name}: {:?}", played.end);
        assert_eq!(played.controller.retries(), 0, "{name}");
        match name {
            "cube_stacking" => assert!(distance(&loaded, &played, "cube_red", [0.7, 0.0, 0.26]) < 3e-3),
            "jaco_demo" => assert!(distance(&loaded, &played, "can", [0.45, 0.2, 0.8075]) < 1e-2),
            _ => {}
        }
        record.flush().expect("all lines");
        records.push(path);
    }
    records.push(a_grasp_that_fails(&folder));
    records.push(a_reach_that_fails(&folder));
    let Some(python) = python() else {
        // Not captured, so that it is visible.
        let text =
            "\nSKIPPED: the commands of the Python controller are not compared: python3 has no numpy or PyYAML\n";
        std::io::stderr().write_all(text.as_bytes()).expect("standard error");
        return;
    };
    let output = Command::new(python)
        .arg(root().join("tests/it/compare_commands.py"))
        .args(&records)
        .output()
        .expect("Python starts");
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
