//! `isobar experiment planar-gripper | cube-stacking | time-step-study | plan | pancake-flip | spatula-slip
//! | planar-push | prehensile-push | spinning-disk | cube-tosses | laws | step-error | random-drops`

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use isobar::experiments::cube_stacking::{Runs, TimeStepStudy};
use isobar::experiments::{
    GridRun, GridStudy, Grids, Triangles, cube_tosses, laws, pancake_flip, plan, planar_gripper, random_drops,
    spatula_slip, spinning_disk,
};
use isobar::solvers::quasistatic::{LcpDiagnosis, SolutionRange};

use crate::pushes::{PlanarPush, PrehensilePush};
use crate::step_error::StepError;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(clap::Subcommand)]
enum Experiment {
    /// Figures 5 and 6 of Pang and Tedrake (2021): a sphere between two fingers, by LCP and by the convex
    /// program.
    PlanarGripper {
        /// Folder for the CSV and the plots.
        #[arg(long, default_value = "out/planar_gripper")]
        out: PathBuf,
    },
    /// Figures 1 and 8 of Pang and Tedrake (2021): an arm stacks a cube, with quasistatic steps of 0.01 to
    /// 0.4 s and in the dynamic mode.
    CubeStacking(Stacking),
    /// Figure 7 of Pang and Tedrake (2021): total integral error against the step, quasistatic and dynamic.
    TimeStepStudy(Stacking),
    /// Plans by trajectory optimization on smoothed quasistatic steps, executed with exact quasistatic steps
    /// and in the dynamic mode: an iiwa pushes a box along a curve, and a hand of two fingers turns a disc.
    Plan {
        /// The scene of the push.
        #[arg(long, default_value = "config/plan_push.yaml")]
        scene: PathBuf,
        /// Folder for the CSV, the plots and the pictures.
        #[arg(long, default_value = "out/plan")]
        out: PathBuf,
    },
    /// Section V-B of Masterjohn et al. (2022), figures 8 and 9: an arm flips a pancake, with several grids.
    PancakeFlip(PancakeFlip),
    /// Section V-C of Masterjohn et al. (2022), figure 10: a spatula slips under control, with several
    /// grids.
    SpatulaSlip(SpatulaSlip),
    /// Sections 4.1 to 4.3 of Andersson (2021): a rod pushes a square object, with any mode, solver and
    /// model of friction.
    PlanarPush(PlanarPush),
    /// Section 4.4 of Andersson (2021): a wall pushes a prism along between two round flat fingers.
    PrehensilePush(PrehensilePush),
    /// Section V-A of Masterjohn et al. (2022), figures 5 and 6: a coin slides and spins until it stops.
    SpinningDisk {
        /// Step of figure 5, in seconds.
        #[arg(long, default_value_t = 1e-3)]
        step: f64,
        /// Folder for the CSV files and the plots.
        #[arg(long, default_value = "out/spinning_disk")]
        out: PathBuf,
    },
    /// Laws of contact with closed forms, over all stepping modes in which they hold.
    Laws {
        /// The laws whose names contain this text, instead of all.
        #[arg(long)]
        only: Option<String>,
        /// Folder for the CSV file and the plots.
        #[arg(long, default_value = "out/laws")]
        out: PathBuf,
    },
    /// Random drops of single bodies on the ground: they gain no energy, stay finite and come to rest.
    RandomDrops {
        /// The number of drops.
        #[arg(long, default_value_t = 1000)]
        count: u64,
        /// The seed of the first drop.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Make body and ground rigid, instead of one compliant and one rigid.
        #[arg(long)]
        rigid: bool,
        /// Multiplies all steps.
        #[arg(long, default_value_t = 1.0)]
        step_factor: f64,
        /// Folder for the CSV file.
        #[arg(long, default_value = "out/random_drops")]
        out: PathBuf,
    },
    /// Measured tosses of a cube [Acosta, Yang and Posa 2022]: identifies parameters of contact on a part of
    /// them, and simulates the others.
    CubeTosses {
        /// Folder with the tosses of ContactNets, `data/tosses_processed`.
        folder: PathBuf,
        /// Folder for the CSV file and the plots.
        #[arg(long, default_value = "out/cube_tosses")]
        out: PathBuf,
    },
    /// Errors of discrete steps, fixed and with error control, against the continuous model.
    StepError(StepError),
}

#[derive(clap::Args)]
struct Stacking {
    /// The scene.
    #[arg(long, default_value = "config/cube_stacking.yaml", value_parser = super::parse_file)]
    scene: PathBuf,
    /// The task: keyframes of the arm and the gripper.
    #[arg(long, default_value = "config/tasks/cube_stacking.yaml", value_parser = super::parse_file)]
    task: PathBuf,
    /// Step of the dynamic reference run, in seconds.
    #[arg(long, default_value_t = 5e-4)]
    truth_step: f64,
    /// Folder for the CSV, the plots and the pictures.
    #[arg(long, default_value = "out/cube_stacking")]
    out: PathBuf,
}

#[derive(clap::Args)]
struct PancakeFlip {
    /// The scene.
    #[arg(long, default_value = "config/pancake_flip.yaml", value_parser = super::parse_file)]
    scene: PathBuf,
    /// The task.
    #[arg(long, default_value = "config/tasks/pancake_flip.yaml", value_parser = super::parse_file)]
    task: PathBuf,
    #[command(flatten)]
    study: Study,
    /// Folder for the CSV, the plots and the pictures.
    #[arg(long, default_value = "out/pancake_flip")]
    out: PathBuf,
}

#[derive(clap::Args)]
struct SpatulaSlip {
    /// The scene.
    #[arg(long, default_value = "config/spatula_slip.yaml", value_parser = super::parse_file)]
    scene: PathBuf,
    #[command(flatten)]
    study: Study,
    /// Folder for the CSV, the plots and the pictures.
    #[arg(long, default_value = "out/spatula_slip")]
    out: PathBuf,
}

#[derive(clap::Args)]
struct Study {
    /// Refinements of the scene's grids: 2 has edges half as long.
    #[arg(long, value_delimiter = ',', default_values_t = [1.0, 1.6, 2.0, 3.2, 4.0], value_parser = parse_refinement)]
    refinements: Vec<f64>,
    /// The grids that are also run with triangles.
    #[arg(long, value_enum, default_value_t = WithTriangles::Every)]
    triangles: WithTriangles,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum WithTriangles {
    /// All grids.
    Every,
    /// The first one.
    First,
    /// None.
    None,
}

impl Study {
    fn grids(&self) -> Grids {
        let triangles = match self.triangles {
            WithTriangles::Every => Triangles::Every,
            WithTriangles::First => Triangles::First,
            WithTriangles::None => Triangles::None,
        };
        Grids { refinements: self.refinements.clone(), triangles }
    }
}

fn parse_refinement(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.1..=100.0).contains(&value) => Ok(value),
        _ => Err("expected a number from 0.1 to 100, as in --refinements 1,2,4".to_owned()),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let clock = move || start.elapsed().as_secs_f64();
    let mut bar = Bar::default();
    let mut progress = |name: &str, done: u64, all: u64| bar.show(name, done, all);
    match &arguments.experiment {
        Experiment::PlanarGripper { out } => planar(out),
        Experiment::CubeStacking(stacking) => {
            let runs = stacking.study().stack(&clock, &mut progress)?;
            bar.clear();
            stacking_table(&runs, &stacking.out)
        }
        Experiment::TimeStepStudy(stacking) => {
            let runs = stacking.study().errors(&clock, &mut progress)?;
            bar.clear();
            stacking_table(&runs, &stacking.out)
        }
        Experiment::Plan { scene, out } => {
            let tasks = [plan::push(scene)?, plan::turn()?];
            plan::write(out, &tasks)?;
            plan_table(&tasks, out)
        }
        Experiment::PancakeFlip(PancakeFlip { scene, task, study, out }) => {
            let study = pancake_flip::study(scene, task, &study.grids(), out, &clock, &mut progress)?;
            bar.clear();
            grid_table(&study, out)
        }
        Experiment::SpatulaSlip(SpatulaSlip { scene, study, out }) => {
            let study = spatula_slip::study(scene, &study.grids(), out, &clock, &mut progress)?;
            bar.clear();
            grid_table(&study, out)
        }
        Experiment::PlanarPush(push) => {
            let text = push.run(&clock, &mut progress)?;
            bar.clear();
            print_line!("{text}");
            Ok(())
        }
        Experiment::StepError(study) => {
            let text = study.run(&mut progress)?;
            bar.clear();
            print_line!("{text}");
            Ok(())
        }
        Experiment::PrehensilePush(push) => {
            print_line!("{}", push.run(&clock)?);
            Ok(())
        }
        Experiment::Laws { only, out } => {
            let results = laws::study(only.as_deref(), out, &mut progress)?;
            bar.clear();
            laws_table(&results, out)
        }
        Experiment::RandomDrops { count, seed, rigid, step_factor, out } => {
            let study = random_drops::study(*seed..*seed + *count, (*rigid, *step_factor), out, &mut progress)?;
            bar.clear();
            print_line!("{study}{}", out.display());
            match study.faulty() {
                0 => Ok(()),
                faulty => Err(format!("{faulty} of {count} drops have a fault").into()),
            }
        }
        Experiment::CubeTosses { folder, out } => {
            let study = cube_tosses::study(folder, out, &mut progress)?;
            bar.clear();
            print_line!("{study}{}", out.display());
            Ok(())
        }
        Experiment::SpinningDisk { step, out } => {
            let study = spinning_disk::study(*step, out, &mut progress)?;
            bar.clear();
            print_line!("{study}{}", out.display());
            match study.failures.len() {
                0 => Ok(()),
                failed => Err(format!("{failed} runs failed").into()),
            }
        }
    }
}

impl Stacking {
    fn study(&self) -> TimeStepStudy {
        let Self { scene, task, truth_step, out } = self;
        TimeStepStudy { scene: scene.clone(), task: task.clone(), truth_step: *truth_step, out: out.clone() }
    }
}

/// A progress bar for the steps of the current run.
#[derive(Default)]
struct Bar {
    name: String,
    bar: Option<ProgressBar>,
}

impl Bar {
    fn show(&mut self, name: &str, done: u64, all: u64) {
        if self.name != name {
            self.clear();
            name.clone_into(&mut self.name);
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(all);
            if let Ok(style) = ProgressStyle::with_template("{msg:32} {wide_bar} {pos}/{len} steps, {eta} left") {
                bar.set_style(style);
            }
            bar.set_message(name.to_owned());
            bar
        });
        bar.set_length(all);
        bar.set_position(done);
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn planar(out: &Path) -> Result<(), Box<dyn Error>> {
    let [lcp, qp] = planar_gripper::run()?;
    planar_gripper::write(out, &lcp, &qp)?;
    print_line!("{:8} {:>10} {:>10} {:>10} {:>12}", "", "c_n1 [N]", "c_f [N]", "c_n3 [N]", "phi_1 [mm]");
    for (name, samples) in [("LCP", &lcp), ("QP", &qp)] {
        for s in samples.iter().filter(|s| [8, 13, 23, 35].contains(&((s.time * 100.0).round() as u32))) {
            let (n, f) = (s.normal, s.friction);
            print_line!("{name:4}{:.2} {:10.4} {:10.4} {:10.4} {:12.6}", s.time, n[0], f, n[2], s.phi * 1e3);
        }
    }
    ill_posed()?;
    print_line!("{}", out.display());
    Ok(())
}

fn plan_table(tasks: &[plan::Task], out: &Path) -> Result<(), Box<dyn Error>> {
    for task in tasks {
        print_line!("{}: cost {:.4} at first, {:.4} planned", task.name, task.first_cost(), task.last_cost());
        print_line!("{:28} {:>22} {:>22} {:>20}", "", "farthest off [mm]", "at the end [mm]", "at the end [deg]");
        for (name, path) in [
            ("plan (smoothed steps)", &task.planned),
            ("quasistatic steps", &task.quasistatic),
            ("dynamic mode", &task.dynamic),
        ] {
            let miss = task.miss(path);
            print_line!(
                "{name:28} {:22.2} {:22.2} {:20.2}",
                miss.farthest * 1e3,
                miss.end * 1e3,
                miss.turn.to_degrees()
            );
        }
    }
    print_line!("{}", out.display());
    Ok(())
}

/// Prints the commands for which problem (1) has no unique answer, with their diagnoses.
fn ill_posed() -> Result<(), Box<dyn Error>> {
    print_line!(
        "\nLCP (1), whose fingers track their commands perfectly. Contacts: 0 left finger, 1 right finger, 2 ground."
    );
    print_line!("{:24} {:>9} {:>9} {:>9}  diagnosis", "command", "x_l [m]", "x_r [m]", "y [m]");
    for case in planar_gripper::ill_posed()? {
        let [x_l, x_r, y] = case.command;
        print_line!("{:24} {x_l:9.3} {x_r:9.3} {y:9.3}  {}", case.name, case.tracked);
        print_line!("{:24} {:>29}  {}", "", "the same by LCP (6):", determined(&case.with_impedances));
    }
    print_line!();
    Ok(())
}

/// The motion and forces that the problem with impedances leaves undetermined.
fn determined(diagnosis: &LcpDiagnosis) -> String {
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

fn stacking_table(runs: &Runs, out: &Path) -> Result<(), Box<dyn Error>> {
    for (name, reason) in &runs.failed {
        eprintln!("{name}: {reason}");
    }
    let titles = ["final error [mm]", "integral error", "median step [us]", "not converged"];
    print_line!("{:22} {:>12} {:>16} {:>16} {:>14} {:>8}", "", titles[0], titles[1], titles[2], titles[3], "steps");
    let truth_name = "truth (dynamic)".to_owned();
    let others = runs.others.iter().map(|(name, _, trace)| (name, trace));
    for (name, trace) in std::iter::once((&truth_name, &runs.truth)).chain(others) {
        let mut times = trace.step_times.clone();
        times.sort_by(f64::total_cmp);
        let median = times.get(times.len() / 2).copied().unwrap_or(0.0) * 1e6;
        let (miss, error) = (trace.miss() * 1e3, trace.integral_error(&runs.truth));
        let (failed, steps) = (trace.not_converged, trace.step_times.len());
        print_line!("{name:22} {miss:12.4} {error:16.6} {median:16.1} {failed:14} {steps:8}");
    }
    print_line!("{}", out.display());
    Ok(())
}

/// Prints the laws as a table in Markdown, with their tolerances; an error if one does not hold.
fn laws_table(results: &[(laws::Law, Vec<laws::LawRow>)], out: &Path) -> Result<(), Box<dyn Error>> {
    print_line!("| law | case | mode | simulated | closed form | tolerance | unit | holds |");
    print_line!("|---|---|---|---|---|---|---|---|");
    let mut missed = 0;
    for (law, row) in results.iter().flat_map(|(law, rows)| rows.iter().map(move |row| (law, row))) {
        let laws::LawRow { case, mode, found, exact, tolerance, unit } = row;
        let holds = if row.holds() { "yes" } else { "**no**" };
        missed += usize::from(!row.holds());
        let name = law.name;
        print_line!("| {name} | {case} | {mode} | {found:.6} | {exact:.6} | {tolerance:.1e} | {unit} | {holds} |");
    }
    print_line!("\nTolerances:");
    for (law, _) in results {
        print_line!("- {}: {}", law.name, law.tolerance);
    }
    print_line!("{}", out.display());
    match missed {
        0 => Ok(()),
        missed => Err(format!("{missed} rows do not hold").into()),
    }
}

/// Prints the runs of a study and the comparison of their times; an error if a run has failed.
fn grid_table(study: &GridStudy, out: &Path) -> Result<(), Box<dyn Error>> {
    let titles = ["faces", "contact [us]", "solver [us]", "step [us]"];
    print_line!(
        "{:>10} {:10} {:>8} {:>13} {:>12} {:>10}  result",
        "refinement",
        "",
        titles[0],
        titles[1],
        titles[2],
        titles[3]
    );
    study.runs.iter().try_for_each(grid_row)?;
    for ratio in study.ratios() {
        print_line!(
            "refinement {}, triangles over polygons: faces {:.2} (paper: 4.05), solver time {:.2} (paper: 4.09), contact time {:.2}",
            ratio.refinement,
            ratio.faces,
            ratio.solver,
            ratio.contact
        );
    }
    for line in study.lines() {
        print_line!("mean time per step, {}", line.name);
    }
    print_line!("{}", out.display());
    match study.failures() {
        0 => Ok(()),
        failed => Err(format!("{failed} of {} runs failed", study.runs.len()).into()),
    }
}

fn grid_row(GridRun { refinement, faces, cost, success, result }: &GridRun) -> io::Result<()> {
    let [contact, solver, step] = [cost.contact, cost.solver, cost.step()].map(|time| time * 1e6);
    let verdict = if *success { "ok" } else { "FAILED" };
    print_line!(
        "{refinement:10} {faces:10} {:8.1} {contact:13.1} {solver:12.1} {step:10.1}  {verdict}: {result}",
        cost.faces
    );
    Ok(())
}
