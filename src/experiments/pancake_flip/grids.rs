//! The pancake flip at several grids: figures 8 and 9 of [Masterjohn 2022].

use std::fmt::Write as _;
use std::path::Path;

use super::super::error::{ExperimentError, make_folder, write_text};
use super::super::grid_study::{GridRun, GridStudy, Grids, KINDS, Progress, every};
use super::super::key_frames::{Eye, key_frame, write_frames};
use super::super::keyframes::Task;
use super::super::plot::{Chart, Series, draw};
use super::super::study::{Cost, MeanCost};
use super::flip::{Flip, Run, Sample};
use crate::io::scene_file::LoadedScene;
use crate::picture::Image;

const STAND: Eye = Eye { azimuth: -75.0, elevation: 20.0, distance: 1.15, target: [0.06, -0.16, 0.95] };
const STOVE: Eye = Eye { azimuth: -22.0, elevation: 16.0, distance: 0.75, target: [0.37, 0.10, 0.89] };
/// Key frames: keyframe, part of its time, and viewpoint.
const FRAMES: [(&str, f64, Eye); 12] = [
    ("approach", 1.0, STAND),
    ("grasp", 0.2, STAND),
    ("lift", 1.0, STAND),
    ("scoop", 0.45, STOVE),
    ("scoop", 1.0, STOVE),
    ("raise", 1.0, STOVE),
    ("lean", 0.3, STOVE),
    ("lean", 0.8, STOVE),
    ("turn", 0.5, STOVE),
    ("turn", 0.8, STOVE),
    ("away", 0.1, STOVE),
    ("rest", 0.95, STOVE),
];
const COLUMNS: &str = "refinement,faces_kind,time,keyframe,faces,solver_iterations,spatula_pitch,grip_force,\
    pancake_x,pancake_y,pancake_z,pancake_side\n";

/// Flips the pancake at each grid and writes tables, plots and key frames into `out`. `clock` returns the
/// time for measuring steps \[s\].
///
/// # Errors
/// A scene or task that cannot be read, a controller that fails, a step that fails, or a file that cannot
/// be written.
pub fn study(
    scene: &Path,
    task: &Path,
    grids: &Grids,
    out: &Path,
    clock: &dyn Fn() -> f64,
    progress: &mut Progress<'_>,
) -> Result<GridStudy, ExperimentError> {
    make_folder(out)?;
    let task = Task::read(task)?;
    let mut study = GridStudy::default();
    let mut frames = Vec::new();
    let mut text = String::from(COLUMNS);
    let mut first_runs = Vec::new();
    grids.run_each(scene, "pancake flip", progress, |number, refinement, scenes, step| {
        let runs = runs(scenes, &task, (number == 0).then_some(&mut frames), clock, step)?;
        for ((kind, loaded), run) in scenes.iter().zip(&runs) {
            for s in run.samples.iter().step_by(every(loaded)) {
                let name = task.keyframes.get(s.keyframe).map_or("", |keyframe| keyframe.name.as_str());
                let numbers = [s.pitch, s.grip, s.pancake[0], s.pancake[1], s.pancake[2], s.side];
                let numbers = numbers.map(|x| format!("{x:.6e}")).join(",");
                let (time, faces, iterations) = (s.time, s.faces, s.iterations);
                let _ = writeln!(text, "{refinement},{kind},{time:.4},{name},{faces},{iterations},{numbers}");
            }
            study.runs.push(grid_run(refinement, kind, run));
        }
        if number == 0 {
            let every = scenes.first().map_or(1, |(_, loaded)| every(loaded));
            first_runs = runs.into_iter().map(|run| (run, every)).collect();
        }
        Ok(())
    })?;
    write_text(&out.join("pancake_flip.csv"), &text)?;
    plots(&first_runs, out)?;
    write_frames(&frames, out)?;
    study.write("Pancake flip: time per step at the grids", out)?;
    Ok(study)
}

fn grid_run(refinement: f64, faces: &'static str, run: &Run) -> GridRun {
    let costs = run.samples.iter().map(|s| Cost { faces: s.faces, times: s.times });
    let ([x, y, _], angle) = (run.outcome.p, run.outcome.from_upside_down.to_degrees());
    let result = format!(
        "{angle:.2} degrees from upside down, {:.0} mm from the middle of the stove, {:.1e} m/s, {} retries",
        x.hypot(y) * 1e3,
        run.outcome.speed,
        run.retries
    );
    GridRun { refinement, faces, cost: MeanCost::of(costs), success: run.outcome.flipped(), result }
}

/// A running flip.
struct UnderWay {
    flip: Flip,
    samples: Vec<Sample>,
    /// The current keyframe, and its start time \[s\].
    keyframe: usize,
    begin: f64,
}

/// Runs all scenes in turn, one step each, so that other load on the machine slows all of them alike. Key
/// frames show the first scene.
fn runs(
    scenes: &[(&'static str, LoadedScene)],
    task: &Task,
    mut frames: Option<&mut Vec<Image>>,
    clock: &dyn Fn() -> f64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Run>, ExperimentError> {
    let planned: f64 = task.keyframes.iter().map(|keyframe| keyframe.duration).sum();
    let mut flips = Vec::new();
    for (_, loaded) in scenes {
        let flip = Flip::new(loaded, task.clone())?;
        flips.push(UnderWay { flip, samples: Vec::new(), keyframe: usize::MAX, begin: 0.0 });
    }
    while flips.iter().any(|under_way| !under_way.flip.done()) {
        for (number, ((_, loaded), under_way)) in scenes.iter().zip(&mut flips).enumerate() {
            if under_way.flip.done() {
                continue;
            }
            let sample = under_way.flip.step(clock)?;
            if sample.keyframe != under_way.keyframe {
                (under_way.begin, under_way.keyframe) = (sample.time, sample.keyframe);
            }
            under_way.samples.push(sample);
            if number == 0 {
                if let Some(frames) = frames.as_deref_mut() {
                    take_frame(task, loaded, under_way, frames)?;
                }
                progress(under_way.samples.len() as u64, (planned / loaded.settings.step()) as u64);
            }
        }
    }
    Ok(flips.into_iter().map(|under_way| under_way.flip.finish(under_way.samples)).collect())
}

/// Draws the next key frame if the last step has reached it.
fn take_frame(
    task: &Task,
    loaded: &LoadedScene,
    under_way: &UnderWay,
    frames: &mut Vec<Image>,
) -> Result<(), ExperimentError> {
    let Some((name, part, eye)) = FRAMES.get(frames.len()) else { return Ok(()) };
    let Some(index) = task.keyframes.iter().position(|keyframe| keyframe.name == *name) else { return Ok(()) };
    // A keyframe that ended early has its picture at its end.
    let due = part * task.keyframes[index].duration - loaded.settings.step();
    let elapsed = under_way.flip.simulation().time() - under_way.begin;
    if under_way.keyframe > index || (under_way.keyframe == index && elapsed >= due) {
        frames.push(key_frame(loaded, under_way.flip.simulation(), eye, name)?);
    }
    Ok(())
}

/// Figure 9 and further plots: pitch, grip force, side and height of the pancake.
fn plots(runs: &[(Run, usize)], out: &Path) -> Result<(), ExperimentError> {
    let Some((first, _)) = runs.first() else { return Ok(()) };
    let marks: Vec<_> = first.events.iter().map(|event| (event.time, event.name.clone())).collect();
    let chart = |title: &str, axis: &str, value: fn(&Sample) -> f64| {
        let series = |((run, every), (name, _)): (&(Run, usize), &(&str, _))| {
            Series::new(name, run.samples.iter().step_by(*every).map(|sample| (sample.time, value(sample))))
        };
        let series = runs.iter().zip(&KINDS).map(series).collect();
        Chart { marks: marks.clone(), ..Chart::new(title, ["t [s]", axis], series) }
    };
    draw(&out.join("figure_9.svg"), &[chart("Contact faces", "faces", |s| f64::from(s.faces))])?;
    let charts = [
        chart("Spatula: handle above the horizontal", "pitch [deg]", |s| s.pitch.to_degrees()),
        chart("Mean force of the pads", "force [N]", |s| s.grip),
        chart("Pancake: its upper side's normal above the horizontal", "angle [deg]", |s| s.side.to_degrees()),
        chart("Pancake: height above the stove", "z [m]", |s| s.pancake[2]),
    ];
    Ok(draw(&out.join("motion.svg"), &charts)?)
}
