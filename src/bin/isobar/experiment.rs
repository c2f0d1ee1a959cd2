//! `isobar experiment planar-gripper | cube-stacking | time-step-study | pancake-flip | spatula-slip`

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::task_experiment;
use indicatif::{ProgressBar, ProgressStyle};
use isobar::experiments::cube_stacking::{self, Script, Trace};
use isobar::experiments::planar_gripper::{self, Sample};
use isobar::experiments::{Chart, Scale, Series, draw};
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene};
use isobar::picture::{self, ScenePicture, View};
use isobar::solvers::quasistatic::{LcpDiagnosis, SolutionRange};
use isobar::stepping::{Simulation, Snapshot, Stepping};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(clap::Subcommand)]
enum Experiment {
    /// Figures 5 and 6 of Pang and Tedrake (2021): a sphere between two fingers, by LCP and by the convex program.
    PlanarGripper {
        /// Folder for the CSV and the plots.
        #[arg(long, default_value = "out/planar_gripper")]
        out: PathBuf,
    },
    /// Figures 1 and 8: an arm stacks a cube, with steps of 0.01 to 0.4 s over the dynamic mode.
    CubeStacking(Stacking),
    /// Figure 7: total integral error against the step, quasistatic and dynamic.
    TimeStepStudy(Stacking),
    /// Section V-B of Masterjohn et al. (2022), figures 8 and 9: an arm flips a pancake, at several grids.
    PancakeFlip(task_experiment::PancakeFlip),
    /// Section V-C, figure 10: a spatula slips under control, at several grids.
    SpatulaSlip(task_experiment::SpatulaSlip),
}

#[derive(clap::Args)]
struct Stacking {
    /// The scene.
    #[arg(long, default_value = "config/cube_stacking.yaml")]
    scene: PathBuf,
    /// Where the grasp goes, and when the gripper closes.
    #[arg(long, default_value = "config/keyframes/cube_stacking.yaml")]
    keyframes: PathBuf,
    /// Step of the dynamic run that counts as the truth [s].
    #[arg(long, default_value_t = 5e-4)]
    truth_step: f64,
    /// Folder for the CSV, the plots and the pictures.
    #[arg(long, default_value = "out/cube_stacking")]
    out: PathBuf,
}

/// Quasistatic steps of the paper [s], and those of the dynamic mode beside them.
const STEPS: [f64; 4] = [0.01, 0.1, 0.2, 0.4];
const DYNAMIC_STEPS: [f64; 4] = [1e-3, 2e-3, 5e-3, 1e-2];
/// Samples of the truth [s].
const SAMPLE: f64 = 0.01;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    match &arguments.experiment {
        Experiment::PlanarGripper { out } => planar(out),
        Experiment::CubeStacking(stacking) => stack(stacking),
        Experiment::TimeStepStudy(stacking) => study(stacking),
        Experiment::PancakeFlip(arguments) => task_experiment::pancake_flip(arguments),
        Experiment::SpatulaSlip(arguments) => task_experiment::spatula_slip(arguments),
    }
}

fn line(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
    Series { name: name.to_owned(), points: points.into_iter().collect() }
}

fn chart(title: &str, axes: [&str; 2], series: Vec<Series>) -> Chart {
    Chart { title: title.to_owned(), axes: axes.map(str::to_owned), scale: Scale::Linear, series, marks: Vec::new() }
}

fn planar(out: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(out)?;
    let [lcp, qp] = planar_gripper::run()?;
    let mut text = String::from("program,time,x_l_command,y_command,x_c,y_c,x_l,x_r,y,c_n1,c_n2,c_n3,c_f12,phi_1\n");
    for (name, samples) in [("LCP", &lcp), ("QP", &qp)] {
        for s in samples {
            let numbers = [s.time, s.command[0], s.command[2]].into_iter().chain(s.q).chain(s.normal);
            let numbers: Vec<String> = numbers.chain([s.friction, s.phi]).map(|x| format!("{x:.12e}")).collect();
            writeln!(text, "{name},{}", numbers.join(","))?;
        }
    }
    fs::write(out.join("planar_gripper.csv"), text)?;
    let of = |name: &str, samples: &[Sample], value: fn(&Sample) -> f64| {
        line(name, samples.iter().map(|s| (s.time, value(s))))
    };
    let time = "t [s]";
    draw(
        &out.join("figure_5.svg"),
        &[
            chart(
                "Left finger, x",
                [time, "x [m]"],
                vec![
                    of("commanded", &lcp, |s| s.command[0]),
                    of("LCP (6)", &lcp, |s| s.q[2]),
                    of("QP (10)", &qp, |s| s.q[2]),
                ],
            ),
            chart(
                "Left finger, y",
                [time, "y [m]"],
                vec![
                    of("commanded", &lcp, |s| s.command[2]),
                    of("LCP (6)", &lcp, |s| s.q[4]),
                    of("QP (10)", &qp, |s| s.q[4]),
                ],
            ),
        ],
    )?;
    let forces = |title, samples| {
        let series = vec![
            of("c_n1", samples, |s: &Sample| s.normal[0]),
            of("c_f, mean of both fingers", samples, |s| s.friction),
            of("c_n3", samples, |s| s.normal[2]),
        ];
        chart(title, [time, "force [N]"], series)
    };
    let gap = chart(
        "Signed distance of the left finger",
        [time, "phi_1 [mm]"],
        vec![of("LCP (6)", &lcp, |s| s.phi * 1e3), of("QP (10)", &qp, |s| s.phi * 1e3)],
    );
    draw(&out.join("figure_6.svg"), &[forces("Forces, LCP (6)", &lcp[..]), forces("Forces, QP (10)", &qp[..]), gap])?;
    say!("{:8} {:>10} {:>10} {:>10} {:>12}", "", "c_n1 [N]", "c_f [N]", "c_n3 [N]", "phi_1 [mm]");
    for (name, samples) in [("LCP", &lcp), ("QP", &qp)] {
        for s in samples.iter().filter(|s| [8, 13, 23, 35].contains(&((s.time * 100.0).round() as u32))) {
            let (n, f) = (s.normal, s.friction);
            say!("{name:4}{:.2} {:10.4} {:10.4} {:10.4} {:12.6}", s.time, n[0], f, n[2], s.phi * 1e3);
        }
    }
    ill_posed()?;
    say!("{}", out.display());
    Ok(())
}

/// The commands that problem (1) cannot answer, and why.
fn ill_posed() -> Result<(), Box<dyn Error>> {
    say!("\nLCP (1), whose fingers track their commands perfectly. Contacts: 0 left finger, 1 right finger, 2 ground.");
    say!("{:24} {:>9} {:>9} {:>9}  diagnosis", "command", "x_l [m]", "x_r [m]", "y [m]");
    for case in planar_gripper::ill_posed()? {
        let [x_l, x_r, y] = case.command;
        say!("{:24} {x_l:9.3} {x_r:9.3} {y:9.3}  {}", case.name, case.tracked);
        say!("{:24} {:>29}  {}", "", "the same by LCP (6):", what_is_determined(&case.with_impedances));
    }
    say!();
    Ok(())
}

/// Which of motion and forces the problem with impedances leaves open.
fn what_is_determined(diagnosis: &LcpDiagnosis) -> String {
    let LcpDiagnosis::Solvable { velocities, forces } = diagnosis else { return diagnosis.to_string() };
    let motion = if velocities.iter().all(SolutionRange::is_determined) { "one motion" } else { "many motions" };
    let open = forces.iter().filter(|(.., range)| !range.is_determined());
    let open: Vec<String> = open
        .map(|(contact, axis, range)| {
            format!("contact {contact} along {axis:?} in [{:.3}, {:.3}] N", range.smallest, range.largest)
        })
        .collect();
    if open.is_empty() {
        format!("{motion}, one set of forces")
    } else {
        format!("{motion}; forces that are not determined: {}", open.join(", "))
    }
}

/// The traces of the truth and of all others: name, step, trace.
struct Runs {
    truth: Trace,
    others: Vec<(String, f64, Trace)>,
}

fn stacking_runs(stacking: &Stacking, dynamic_steps: &[f64]) -> Result<Runs, Box<dyn Error>> {
    fs::create_dir_all(&stacking.out)?;
    let loaded = scene_file::load_with_visual_meshes(&stacking.scene, &PackageMap::from_environment())?;
    let script = Script::read(&loaded, &stacking.keyframes)?;
    let start = Instant::now();
    let clock = move || start.elapsed().as_secs_f64();
    let one = |name: &str, stepping, step| -> Result<(Trace, Simulation), Box<dyn Error>> {
        let progress = ProgressBar::new(1);
        if let Ok(style) = ProgressStyle::with_template("{msg:24} {wide_bar} {pos}/{len} steps, {eta} left") {
            progress.set_style(style);
        }
        progress.set_message(name.to_owned());
        let mut tell = |done, all| {
            progress.set_length(all);
            progress.set_position(done);
        };
        let result = cube_stacking::run(&loaded, &script, stepping, step, SAMPLE, &clock, &mut tell)?;
        progress.finish_and_clear();
        Ok(result)
    };
    let (truth, _) = one("truth", Stepping::Dynamic, stacking.truth_step)?;
    let mut others = Vec::new();
    for step in dynamic_steps {
        let name = format!("dynamic, {step} s");
        match one(&name, Stepping::Dynamic, *step) {
            Ok((trace, _)) => others.push((name, *step, trace)),
            Err(error) => eprintln!("{name}: {error}"),
        }
    }
    for step in STEPS {
        let name = format!("quasistatic, {step} s");
        let (trace, simulation) = one(&name, Stepping::Quasistatic(loaded.quasistatic), step)?;
        picture_of(&loaded, &simulation, &name, &stacking.out.join(format!("end_{step}.png")))?;
        others.push((name, step, trace));
    }
    table(&truth, &others)?;
    Ok(Runs { truth, others })
}

fn picture_of(loaded: &LoadedScene, simulation: &Simulation, title: &str, file: &Path) -> Result<(), Box<dyn Error>> {
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let image = picture::scene_picture(&ScenePicture {
        scene: &loaded.scene,
        snapshot: &snapshot,
        visuals: &loaded.visuals,
        view: View::default(),
        contact: false,
        size: (1280, 960),
        title,
    })?;
    Ok(picture::write_png(&image, file)?)
}

fn table(truth: &Trace, others: &[(String, f64, Trace)]) -> io::Result<()> {
    say!(
        "{:22} {:>12} {:>16} {:>16} {:>14} {:>8}",
        "",
        "miss [mm]",
        "integral error",
        "median step [us]",
        "not converged",
        "steps"
    );
    let truth_name = "truth (dynamic)".to_owned();
    for (name, trace) in
        std::iter::once((&truth_name, truth)).chain(others.iter().map(|(name, _, trace)| (name, trace)))
    {
        let mut times = trace.step_times.clone();
        times.sort_by(f64::total_cmp);
        let median = times.get(times.len() / 2).copied().unwrap_or(0.0) * 1e6;
        let (miss, error) = (trace.miss() * 1e3, trace.integral_error(truth));
        say!(
            "{name:22} {miss:12.4} {error:16.6} {median:16.1} {:14} {:8}",
            trace.not_converged,
            trace.step_times.len()
        );
    }
    Ok(())
}

fn stack(stacking: &Stacking) -> Result<(), Box<dyn Error>> {
    let runs = stacking_runs(stacking, &[])?;
    let mut text = String::from("run,time,qw,qx,qy,qz,x,y,z,angle\n");
    let truth = "dynamic".to_owned();
    let all = || std::iter::once((&truth, &runs.truth)).chain(runs.others.iter().map(|(name, _, trace)| (name, trace)));
    for (name, trace) in all() {
        for i in 0..trace.time.len() {
            let q: Vec<String> = trace.q[i].iter().map(|x| format!("{x:.9e}")).collect();
            writeln!(text, "\"{name}\",{:.6},{},{:.9e}", trace.time[i], q.join(","), trace.angle(i))?;
        }
    }
    fs::write(stacking.out.join("cube_stacking.csv"), text)?;
    let of = |value: &dyn Fn(&Trace, usize) -> f64| {
        let series = |(name, trace): (&String, &Trace)| {
            line(name, (0..trace.time.len()).map(|i| (trace.time[i], value(trace, i))))
        };
        all().map(series).collect::<Vec<_>>()
    };
    let charts = [
        chart("Red cube, x", ["t [s]", "x [m]"], of(&|trace, i| trace.p(i)[0])),
        chart("Red cube, y", ["t [s]", "y [mm]"], of(&|trace, i| trace.p(i)[1] * 1e3)),
        chart("Red cube, z", ["t [s]", "z [m]"], of(&|trace, i| trace.p(i)[2])),
        chart("Red cube, angle", ["t [s]", "angle [deg]"], of(&|trace, i| trace.angle(i).to_degrees())),
    ];
    draw(&stacking.out.join("figure_8.svg"), &charts)?;
    say!("{}", stacking.out.display());
    Ok(())
}

fn study(stacking: &Stacking) -> Result<(), Box<dyn Error>> {
    let runs = stacking_runs(stacking, &DYNAMIC_STEPS)?;
    let mut text = String::from("mode,step,integral_error\n");
    let mut series = Vec::new();
    for mode in ["dynamic", "quasistatic"] {
        let of_mode = runs.others.iter().filter(|(name, ..)| name.starts_with(mode));
        let points: Vec<(f64, f64)> =
            of_mode.map(|(_, step, trace)| (*step, trace.integral_error(&runs.truth))).collect();
        for (step, error) in &points {
            writeln!(text, "{mode},{step},{error:.9e}")?;
        }
        series.push(line(mode, points));
    }
    fs::write(stacking.out.join("time_step_study.csv"), text)?;
    let axes = ["step [s]", "total integral error"];
    let figure = Chart { scale: Scale::Logarithmic, ..chart("Error of the red cube's coordinates", axes, series) };
    draw(&stacking.out.join("figure_7.svg"), &[figure])?;
    say!("{}", stacking.out.display());
    Ok(())
}
