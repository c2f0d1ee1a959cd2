//! The time of the solver in the two tasks of the paper, with polygons and with triangles, on a shared
//! machine.
//!
//! `cargo bench --bench task_solver`; `-- --runs=9` takes more runs, `--refinement=2` halves the edges.
//!
//! How to read it: the same run, bit by bit, is made several times, alternately with polygons and triangles,
//! so that each step has several times. The shortest is the cost of an undisturbed step; the table has the
//! mean of these. The line through both kinds has the value `fixed` at no faces: the part of the solver's
//! time that does not grow with them.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;
use std::time::Instant;

use isobar::experiments::keyframes::Task;
use isobar::experiments::pancake_flip::Flip;
use isobar::experiments::spatula_slip::Slip;
use isobar::geometry::FaceRepresentation;
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{LoadedScene, load_refined};

/// The number behind `--name=`, or `otherwise`.
fn option(name: &str, otherwise: f64) -> f64 {
    let prefix = format!("--{name}=");
    std::env::args().find_map(|argument| argument.strip_prefix(&prefix)?.parse().ok()).unwrap_or(otherwise)
}

/// Faces and solver's time [s] of each step of one run.
type Steps = Vec<(u32, f64)>;

fn slip(loaded: &LoadedScene, clock: &dyn Fn() -> f64) -> Steps {
    let mut slip = Slip::new(loaded).unwrap();
    let mut steps = Steps::new();
    while !slip.done() {
        let cost = slip.step(clock).unwrap().cost;
        steps.push((cost.faces, cost.times.solver));
    }
    steps
}

fn flip(loaded: &LoadedScene, clock: &dyn Fn() -> f64) -> Steps {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut flip = Flip::new(loaded, Task::read(&root.join("config/tasks/pancake_flip.yaml")).unwrap()).unwrap();
    let mut steps = Steps::new();
    while !flip.done() {
        let sample = flip.step(clock).unwrap();
        steps.push((sample.faces, sample.times.solver));
    }
    steps
}

/// Mean faces and mean over the steps of the shortest time [us].
fn mean(runs: &[Steps]) -> (f64, f64) {
    let steps = runs[0].len();
    let mut sums = (0.0, 0.0);
    for step in 0..steps {
        sums.0 += f64::from(runs[0][step].0);
        sums.1 += runs.iter().map(|run| run[step].1).fold(f64::INFINITY, f64::min);
    }
    (sums.0 / steps as f64, sums.1 / steps as f64 * 1e6)
}

fn main() {
    let (runs, refinement) = (option("runs", 5.0) as usize, option("refinement", 1.0));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packages = PackageMap::from_environment();
    let start = Instant::now();
    let clock = || start.elapsed().as_secs_f64();
    println!(
        "{:14}{:>10}{:>12}{:>8}{:>14}{:>14}{:>8}{:>12}{:>14}",
        "task", "polygons", "triangles", "ratio", "solver [us]", "solver [us]", "ratio", "fixed [us]", "a face [ns]"
    );
    type Run = fn(&LoadedScene, &dyn Fn() -> f64) -> Steps;
    for (name, scene, task) in [
        ("spatula slip", "config/spatula_slip.yaml", slip as Run),
        ("pancake flip", "config/pancake_flip.yaml", flip as Run),
    ] {
        let mut loaded = load_refined(&root.join(scene), &packages, refinement).unwrap();
        let mut of_kind = [Vec::new(), Vec::new()];
        for _ in 0..runs {
            for (kind, faces) in [FaceRepresentation::Polygon, FaceRepresentation::TriangleFan].into_iter().enumerate()
            {
                loaded.settings.faces = faces;
                of_kind[kind].push(task(&loaded, &clock));
            }
        }
        let [polygons, triangles] = of_kind.map(|runs| mean(&runs));
        let slope = (triangles.1 - polygons.1) / (triangles.0 - polygons.0);
        println!(
            "{name:14}{:10.1}{:12.1}{:8.2}{:14.2}{:14.2}{:8.2}{:12.2}{:14.1}",
            polygons.0,
            triangles.0,
            triangles.0 / polygons.0,
            polygons.1,
            triangles.1,
            triangles.1 / polygons.1,
            polygons.1 - slope * polygons.0,
            1e3 * slope
        );
    }
}
