//! The pancake flip without ROS: config/pancake_flip.yaml under config/tasks/pancake_flip.yaml.

use std::path::{Path, PathBuf};

use isobar::experiments::keyframes::{Condition, ControllerError, Sense, Task, TaskError};
use isobar::experiments::pancake_flip::{Flip, FlipError, Run};
use isobar::geometry::FaceRepresentation;
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene};
use isobar::math::Vector3;

/// Slip and settling of the pose in the grip, and of the arm under its load, are far below this [m].
const HELD: f64 = 0.01;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn run(refinement: f64, faces: FaceRepresentation) -> Run {
    let mut loaded =
        scene_file::load_refined(&path("config/pancake_flip.yaml"), &PackageMap::new(), refinement).expect("a scene");
    loaded.settings.faces = faces;
    run_scene(&loaded)
}

fn run_scene(loaded: &LoadedScene) -> Run {
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let task = Task::read(&path("config/tasks/pancake_flip.yaml")).expect("a task");
    let keyframes = task.keyframes.len();
    let flip = Flip::new(loaded, task).expect("a simulation");
    let run = flip.run(&|| 0.0, &mut |_, _| true).expect("the controller comes to the end");
    assert_eq!(run.samples.last().map(|sample| sample.keyframe), Some(keyframes - 1));
    assert!(run.samples.iter().all(|sample| sample.converged));
    run
}

fn mean_faces(run: &Run) -> f64 {
    run.samples.iter().map(|sample| f64::from(sample.faces)).sum::<f64>() / run.samples.len() as f64
}

fn check(run: &Run) {
    assert!(run.outcome.flipped(), "{:?}", run.outcome);
    assert_eq!(run.retries, 0);
    // The pancake lay on its first side until it was scooped, was raised on the blade, and turned only then.
    let at = |name: &str| run.events.iter().find(|event| event.name == name).expect("an event").time;
    let sample = |time: f64| run.samples.iter().find(|sample| sample.time >= time).expect("a sample");
    assert!(sample(at("scoop")).side > 1.5);
    let flip = sample(at("flip"));
    assert!(flip.side > 1.3 && flip.pancake[2] > 0.02, "on the blade: {flip:?}");
    // The grip held from the grasp to the end, and the blade touched where the stove is.
    assert!(run.samples.iter().filter(|sample| sample.time > at("lift")).all(|sample| sample.grip > 15.0));
    assert!(sample(at("flip")).pancake[0].abs() < 0.06 + HELD);
}

/// The paper's task at the coarsest grids, about 230 faces per step: the pancake ends upside down, on the
/// stove, at rest.
#[test]
fn pancake_lands_on_its_other_side() {
    let run = run(1.0, FaceRepresentation::Polygon);
    check(&run);
    assert!((150.0..300.0).contains(&mean_faces(&run)), "{}", mean_faces(&run));
    // The solver starts from the change of the previous step; from the velocities alone it takes 2.5
    // iterations.
    let iterations = run.samples.iter().map(|sample| f64::from(sample.iterations)).sum::<f64>();
    assert!(iterations < 1.8 * run.samples.len() as f64, "{iterations} iterations in {} steps", run.samples.len());
}

/// The same at finer grids, and with triangles: "the robot completed the task successfully at all grid
/// refinement levels".
#[test]
fn pancake_lands_on_its_other_side_at_every_refinement() {
    for refinement in [1.6, 2.0, 3.2] {
        check(&run(refinement, FaceRepresentation::Polygon));
    }
    check(&run(1.0, FaceRepresentation::TriangleFan));
}

/// The same with a spatula that "resembles a box", with five sides and edges of the bubbles as long as the
/// handle's; docs/results/pancake-flip.md has these lines.
#[test]
fn pancake_lands_on_its_other_side_with_a_handle_like_a_box() {
    let file = path("config/pancake_flip.yaml");
    let scene = std::fs::read_to_string(&file).expect("the file");
    let page = std::fs::read_to_string(path("docs/results/pancake-flip.md")).expect("the page");
    let from = page.find("materials:").expect("the lines in a block of code");
    let text = format!("{scene}\n{}", page[from..].split("```").next().expect("the end of the block"));
    let loaded = scene_file::load_str(&text, &file, &PackageMap::new()).expect("a scene");
    let handle = loaded.scene.geometries().iter().find(|geometry| geometry.name.ends_with("handle")).expect("a handle");
    let ring = |p: &&Vector3| (p.xy().norm() - 0.015).abs() < 1e-9 && p.z > 0.0549;
    assert_eq!(handle.hydroelastic.vertices().iter().filter(ring).count(), 5, "{}", handle.name);
    let run = run_scene(&loaded);
    check(&run);
    assert!((150.0..300.0).contains(&mean_faces(&run)), "{}", mean_faces(&run));
}

/// Measured pad forces decide: if the load in the grip is too small, the grasp fails and is repeated as often
/// as the file states; a blade without contact is reported.
#[test]
fn grasps_that_do_not_hold_and_touches_that_do_not_come_end_the_task() {
    let loaded = scene_file::load(&path("config/pancake_flip.yaml"), &PackageMap::new()).expect("a scene");
    let task = Task::read(&path("config/tasks/pancake_flip.yaml")).expect("a task");
    let end_of = |task: Task| {
        let flip = Flip::new(&loaded, task).expect("a simulation");
        flip.run(&|| 0.0, &mut |_, _| true).expect_err("the controller gives up")
    };
    let mut heavy = task.clone();
    let check = heavy.keyframes.iter_mut().find(|keyframe| keyframe.name == "check").expect("a keyframe");
    check.until = Some(Condition { sense: Sense::Load([5.0, 6.0]), duration: 0.3 });
    heavy.retries = 1;
    let error = end_of(heavy);
    assert!(matches!(error, FlipError::Controller(ControllerError::Grasp { retries: 1, .. })), "{error}");
    let mut high = task;
    let touch = high.keyframes.iter_mut().find(|keyframe| keyframe.name == "touch").expect("a keyframe");
    touch.xyz = Some([-0.175, 0.0, 0.03]);
    let error = end_of(high);
    assert!(matches!(error, FlipError::Controller(ControllerError::NoTouch { .. })), "{error}");
}

/// A task file that cannot be used is refused with the line, the key or the keyframe.
#[test]
fn broken_task_files_are_refused() {
    let text = std::fs::read_to_string(path("config/tasks/pancake_flip.yaml")).expect("the file");
    let folder = std::env::temp_dir().join(format!("isobar_task_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let refused = |from: &str, to: &str| -> TaskError {
        assert!(text.contains(from), "{from}");
        let file = folder.join("task.yaml");
        std::fs::write(&file, text.replacen(from, to, 1)).expect("a file");
        Task::read(&file).expect_err("refused")
    };
    let unknown = refused("  speed:", "  sped:").to_string();
    assert!(unknown.contains("task.yaml:5:3") || unknown.contains("sped"), "{unknown}");
    assert!(refused("duration: 3, open", "duration: 0, open").to_string().contains("keyframe 'approach'"));
    assert!(refused("    holds: 15", "    holds: 50").to_string().contains("keyframe 'grasp': close must be above"));
    assert!(matches!(refused("axis: [0, 1, 0]", "axis: [0, 0, 0]"), TaskError::Setting { .. }));
    assert!(
        refused("{ grip: 15, for: 0.3 }", "{ grip: 15, load: [0, 1] }")
            .to_string()
            .contains("one of grip, load and touch")
    );
    assert!(
        refused("xyz: [0, 0.109, 0.050]", "xyz: [0, 1, 2], by: [0, 0, 1]").to_string().contains("exclude each other")
    );
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
