//! The spatula slip at several grids: figures 8 and 10 of [Masterjohn 2022].

use std::fmt::Write as _;
use std::path::Path;

use super::super::error::{ExperimentError, make_folder, write_text};
use super::super::grid_study::{GridRun, GridStudy, Grids, KINDS, Progress, every};
use super::super::key_frames::{Eye, key_frame, write_frames};
use super::super::plot::{Chart, Series, draw};
use super::super::study::MeanCost;
use super::slip::{DURATION, Sample, Slip, stretches, succeeded};
use crate::io::scene_file::LoadedScene;
use crate::picture::Image;

/// Key frames: times \[s\] and viewpoints.
const FRAMES: [f64; 3] = [4.4, 6.0, 12.0];
const EYE: Eye = Eye { azimuth: -38.0, elevation: 20.0, distance: 0.75, target: [0.27, 0.0, 0.24] };

/// Lets the spatula slip at each grid and writes tables, plots and key frames into `out`. `clock` returns the
/// time for measuring steps \[s\].
///
/// # Errors
/// A scene that cannot be read, a step that fails, or a file that cannot be written.
pub fn study(
    scene: &Path,
    grids: &Grids,
    out: &Path,
    clock: &dyn Fn() -> f64,
    progress: &mut Progress<'_>,
) -> Result<GridStudy, ExperimentError> {
    make_folder(out)?;
    let mut study = GridStudy::default();
    let mut frames = Vec::new();
    let mut text = String::from("refinement,faces_kind,time,faces,commanded_force,grip_force,pitch\n");
    let mut plotted = Vec::new();
    grids.run_each(scene, "spatula slip", progress, |number, refinement, scenes, step| {
        let runs = runs(scenes, (number == 0).then_some(&mut frames), clock, step)?;
        for ((kind, loaded), samples) in scenes.iter().zip(runs) {
            for s in samples.iter().step_by(every(loaded)) {
                let numbers = [s.commanded, s.grip, s.pitch].map(|x| format!("{x:.6e}")).join(",");
                let _ = writeln!(text, "{refinement},{kind},{:.4},{},{numbers}", s.time, s.cost.faces);
            }
            study.runs.push(grid_run(refinement, kind, &samples));
            let thin: Vec<_> = samples.into_iter().step_by(every(loaded)).collect();
            if *kind == KINDS[0].0 || number == 0 {
                plotted.push((format!("{kind}, refinement {refinement}"), thin));
            }
        }
        Ok(())
    })?;
    write_text(&out.join("spatula_slip.csv"), &text)?;
    plots(&plotted, out)?;
    write_frames(&frames, out)?;
    study.write("Spatula slip: time per step at the grids", out)?;
    Ok(study)
}

fn grid_run(refinement: f64, faces: &'static str, samples: &[Sample]) -> GridRun {
    let stretches = stretches(samples);
    let turned: Vec<_> = stretches.iter().map(|s| format!("{:.0} N {:+.4} rad", s.commanded, s.turned)).collect();
    GridRun {
        refinement,
        faces,
        cost: MeanCost::of(samples.iter().map(|sample| sample.cost)),
        success: succeeded(&stretches),
        result: turned.join(", "),
    }
}

/// Runs all scenes in turn, one step each, so that other load on the machine slows all of them alike. Key
/// frames show the first scene.
fn runs(
    scenes: &[(&'static str, LoadedScene)],
    mut frames: Option<&mut Vec<Image>>,
    clock: &dyn Fn() -> f64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Vec<Sample>>, ExperimentError> {
    let mut slips = Vec::new();
    for (_, loaded) in scenes {
        slips.push((Slip::new(loaded)?, Vec::new()));
    }
    while slips.iter().any(|(slip, _)| !slip.done()) {
        for (number, ((_, loaded), (slip, samples))) in scenes.iter().zip(&mut slips).enumerate() {
            samples.push(slip.step(clock)?);
            if number == 0 {
                if let Some(frames) = frames.as_deref_mut() {
                    take_frame(loaded, slip, frames)?;
                }
                progress(samples.len() as u64, (DURATION / loaded.settings.step()).round() as u64);
            }
        }
    }
    Ok(slips.into_iter().map(|(_, samples)| samples).collect())
}

/// Draws the next key frame if its time has come.
fn take_frame(loaded: &LoadedScene, slip: &Slip, frames: &mut Vec<Image>) -> Result<(), ExperimentError> {
    let due = |time: &f64| slip.simulation().time() >= *time - 0.5 * loaded.settings.step();
    if FRAMES.get(frames.len()).is_some_and(due) {
        frames.push(key_frame(loaded, slip.simulation(), &EYE, "spatula slip")?);
    }
    Ok(())
}

/// Figure 10, and the faces over time.
fn plots(runs: &[(String, Vec<Sample>)], out: &Path) -> Result<(), ExperimentError> {
    let of = |value: fn(&Sample) -> f64, count: usize| {
        let series = |(name, samples): &(String, Vec<Sample>)| {
            Series::new(name, samples.iter().map(|sample| (sample.time, value(sample))))
        };
        runs.iter().take(count).map(series).collect::<Vec<_>>()
    };
    let time = "t [s]";
    // The runs of the first grid, with triangles if there are any.
    let first = 1 + usize::from(runs.get(1).is_some_and(|(name, _)| name.starts_with(KINDS[1].0)));
    let mut forces: Vec<_> = of(|s| s.commanded, 1);
    forces.iter_mut().for_each(|series| series.name = "commanded".to_owned());
    forces.extend(of(|s| s.grip, first));
    let charts = [
        Chart::new("Grip force", [time, "force [N]"], forces),
        Chart::new("Spatula pitch", [time, "pitch [deg]"], of(|s| s.pitch.to_degrees(), runs.len())),
    ];
    draw(&out.join("figure_10.svg"), &charts)?;
    let faces = Chart::new("Contact faces", [time, "faces"], of(|s| f64::from(s.cost.faces), first));
    Ok(draw(&out.join("faces.svg"), &[faces])?)
}
