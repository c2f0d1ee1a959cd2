//! Figures 7 and 8 of [Pang & Tedrake 2021]: the cube with long quasistatic steps, compared with short
//! dynamic ones.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::super::error::{ExperimentError, make_folder, write_text};
use super::super::grid_study::Progress;
use super::super::key_frames::scene_picture;
use super::super::plot::{Chart, Scale, Series, draw};
use super::stacking::{Script, Trace, run};
use crate::io::package::PackageMap;
use crate::io::scene_file::{self, LoadedScene};
use crate::picture::{View, write_png};
use crate::stepping::{Simulation, Stepping};

/// Quasistatic steps of the paper \[s\], and those of the dynamic mode for comparison.
const STEPS: [f64; 4] = [0.01, 0.1, 0.2, 0.4];
const DYNAMIC_STEPS: [f64; 4] = [1e-3, 2e-3, 5e-3, 1e-2];
/// The time between samples of the dynamic reference run \[s\].
const SAMPLE: f64 = 0.01;
/// Columns and rows of a picture \[px\].
const PICTURE: (usize, usize) = (1280, 960);

/// The cube over time with the steps of a study.
#[derive(Clone, Debug)]
pub struct Runs {
    /// The reference run with short dynamic steps.
    pub truth: Trace,
    /// Name, step \[s\], and the cube.
    pub others: Vec<(String, f64, Trace)>,
    /// Runs in which a step failed: name and reason.
    pub failed: Vec<(String, String)>,
}

/// The input of a study, and the folder of its files.
#[derive(Clone, Debug)]
pub struct TimeStepStudy {
    /// The scene file.
    pub scene: PathBuf,
    /// The task file.
    pub task: PathBuf,
    /// Step of the dynamic reference run \[s\].
    pub truth_step: f64,
    /// Folder for tables, plots and pictures.
    pub out: PathBuf,
}

impl TimeStepStudy {
    /// Figure 8: the dynamic reference run and quasistatic steps. Writes `cube_stacking.csv`, `figure_8.svg`
    /// and a picture of the end of each run.
    ///
    /// # Errors
    /// A scene or task that cannot be read, a pose out of reach, a step that fails, or a file that cannot be
    /// written.
    pub fn stack(&self, clock: &dyn Fn() -> f64, progress: &mut Progress<'_>) -> Result<Runs, ExperimentError> {
        let runs = self.runs(&[], clock, progress)?;
        let truth = "dynamic".to_owned();
        let all =
            || std::iter::once((&truth, &runs.truth)).chain(runs.others.iter().map(|(name, _, trace)| (name, trace)));
        let mut text = String::from("run,time,qw,qx,qy,qz,x,y,z,angle\n");
        for (name, trace) in all() {
            for i in 0..trace.time.len() {
                let q: Vec<String> = trace.q[i].iter().map(|x| format!("{x:.9e}")).collect();
                let (time, angle) = (trace.time[i], trace.angle(i));
                let _ = writeln!(text, "\"{name}\",{time:.6},{},{angle:.9e}", q.join(","));
            }
        }
        write_text(&self.out.join("cube_stacking.csv"), &text)?;
        let of = |value: &dyn Fn(&Trace, usize) -> f64| {
            let series = |(name, trace): (&String, &Trace)| {
                Series::new(name, (0..trace.time.len()).map(|i| (trace.time[i], value(trace, i))))
            };
            all().map(series).collect::<Vec<_>>()
        };
        let charts = [
            Chart::new("Red cube, x", ["t [s]", "x [m]"], of(&|trace, i| trace.p(i)[0])),
            Chart::new("Red cube, y", ["t [s]", "y [mm]"], of(&|trace, i| trace.p(i)[1] * 1e3)),
            Chart::new("Red cube, z", ["t [s]", "z [m]"], of(&|trace, i| trace.p(i)[2])),
            Chart::new("Red cube, angle", ["t [s]", "angle [deg]"], of(&|trace, i| trace.angle(i).to_degrees())),
        ];
        draw(&self.out.join("figure_8.svg"), &charts)?;
        Ok(runs)
    }

    /// Figure 7: the integral error against the step, in both modes. Writes `time_step_study.csv`,
    /// `figure_7.svg` and a picture of the end of each run.
    ///
    /// # Errors
    /// The errors of [`TimeStepStudy::stack`].
    pub fn errors(&self, clock: &dyn Fn() -> f64, progress: &mut Progress<'_>) -> Result<Runs, ExperimentError> {
        let runs = self.runs(&DYNAMIC_STEPS, clock, progress)?;
        let mut text = String::from("mode,step,integral_error\n");
        let mut series = Vec::new();
        for mode in ["dynamic", "quasistatic"] {
            let of_mode = runs.others.iter().filter(|(name, ..)| name.starts_with(mode));
            let points: Vec<(f64, f64)> =
                of_mode.map(|(_, step, trace)| (*step, trace.integral_error(&runs.truth))).collect();
            for (step, error) in &points {
                let _ = writeln!(text, "{mode},{step},{error:.9e}");
            }
            series.push(Series::new(mode, points));
        }
        write_text(&self.out.join("time_step_study.csv"), &text)?;
        let chart = Chart::new("Error of the red cube's coordinates", ["step [s]", "total integral error"], series);
        draw(&self.out.join("figure_7.svg"), &[Chart { scale: Scale::Logarithmic, ..chart }])?;
        Ok(runs)
    }

    fn runs(
        &self,
        dynamic_steps: &[f64],
        clock: &dyn Fn() -> f64,
        progress: &mut Progress<'_>,
    ) -> Result<Runs, ExperimentError> {
        make_folder(&self.out)?;
        let loaded = scene_file::load_with_visual_meshes(&self.scene, &PackageMap::from_environment())?;
        let script = Script::read(&loaded, &self.task)?;
        let mut one = |name: &str, stepping, step| {
            run(&loaded, &script, stepping, step, SAMPLE, clock, &mut |done, all| progress(name, done, all))
        };
        let (truth, _) = one("truth", Stepping::Dynamic(loaded.dynamic), self.truth_step)?;
        let (mut others, mut failed) = (Vec::new(), Vec::new());
        for step in dynamic_steps {
            let name = format!("dynamic, {step} s");
            match one(&name, Stepping::Dynamic(loaded.dynamic), *step) {
                Ok((trace, _)) => others.push((name, *step, trace)),
                Err(error) => failed.push((name, error.to_string())),
            }
        }
        for step in STEPS {
            let name = format!("quasistatic, {step} s");
            let (trace, simulation) = one(&name, Stepping::Quasistatic(loaded.quasistatic), step)?;
            picture_of(&loaded, &simulation, &name, &self.out.join(format!("end_{step}.png")))?;
            others.push((name, step, trace));
        }
        Ok(Runs { truth, others, failed })
    }
}

fn picture_of(loaded: &LoadedScene, simulation: &Simulation, title: &str, file: &Path) -> Result<(), ExperimentError> {
    let image = scene_picture(loaded, simulation, View::default(), PICTURE, title)?;
    Ok(write_png(&image, file)?)
}
