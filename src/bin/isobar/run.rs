//! `isobar run SCENE --duration S [--csv FILE] [--contacts FILE] [--record FILE.mcap] [--command
//! JOINT.QUANTITY=VALUE]...`, also from a checkpoint

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::totals::{Totals, summary};
use indicatif::{ProgressBar, ProgressStyle};
use isobar::io::bag::{BagError, BagPlan, BagRecording};
use isobar::io::checkpoint_file;
use isobar::io::csv_file::{ContactRecording, CsvRecording};
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene, Loading};
use isobar::math::{Index, ScalarJointIndex};
use isobar::recording::{Due, Rates};
use isobar::scene::Scene;
use isobar::stepping::{JointCommand, JointTarget, STEP_MIN, Simulation, Snapshot, Stepping, beyond_limits, schedules};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Scene file (YAML); docs/reference/scene-files.md lists its keys.
    #[arg(value_parser = super::parse_file)]
    scene: PathBuf,
    /// Simulated time to run, in seconds; with `--from`, further time.
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration, allow_negative_numbers = true)]
    duration: f64,
    /// The stepping mode, instead of the scene's; the scene's options for that mode apply.
    #[arg(long, value_name = "MODE", value_enum)]
    stepping: Option<Mode>,
    /// The step in seconds, instead of the scene's.
    #[arg(long, value_name = "SECONDS", value_parser = parse_step, allow_negative_numbers = true)]
    step: Option<f64>,
    /// The threads of dynamic steps, instead of the scene's; they change no result.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Record every step to this CSV file.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Record joint states, transforms, contacts and outputs to this MCAP file, in the profile of rosbag2, at
    /// the rates of the scene's `publish`.
    #[arg(long, value_name = "FILE.mcap")]
    record: Option<PathBuf>,
    /// Record the contacts to this CSV file: penetration, area and wrench of each pair that touches.
    #[arg(long, value_name = "FILE")]
    contacts: Option<PathBuf>,
    /// Overwrite the files of `--csv`, `--contacts`, `--record` and `--timing` if they exist.
    #[arg(long)]
    force: bool,
    /// Write only every n-th step to the CSV files.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// A constant command, as in `--command elbow.position=0.5`; takes precedence over the scene's commands.
    /// Quantities: position, velocity, effort.
    #[arg(long = "command", value_name = "JOINT.QUANTITY=VALUE", allow_hyphen_values = true)]
    commands: Vec<String>,
    /// Continue from this checkpoint, of the same scene, mode and step: all rows have the same bits as those
    /// of a run that never stopped. The first row is that of the first step after the checkpoint.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Write a checkpoint to this file at the end.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Also write the checkpoint during the run, at intervals of this simulated time in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration, requires = "checkpoint")]
    checkpoint_period: Option<f64>,
    /// Write the wall-clock time of each step, in seconds, to this file, one line per step.
    #[arg(long, value_name = "FILE")]
    timing: Option<PathBuf>,
    /// The value of a parameter of the scene, in place of that in the file.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = super::parse_parameter, allow_hyphen_values = true)]
    set: Vec<(String, String)>,
    /// The folder of a package in `package://NAME/...`; takes precedence over AMENT_PREFIX_PATH and
    /// ROS_PACKAGE_PATH.
    #[arg(long = "package", value_name = "NAME=PATH", value_parser = super::parse_package)]
    packages: Vec<(String, PathBuf)>,
    /// Print each warning about the scene, and about friction and joint speeds for each pair and joint;
    /// without this option, the first of each kind and a count.
    #[arg(long)]
    all_warnings: bool,
    /// Print no progress and no summary.
    #[arg(long)]
    quiet: bool,
}

/// The stepping mode.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Mode {
    /// Newton's law with momentum.
    Dynamic,
    /// Equilibrium at the end of each step.
    Quasistatic,
    /// Momentum, and contacts as complementarity conditions.
    Spook,
    /// Accelerations, integrated with error control.
    Continuous,
}

/// The largest number of steps of a run: at a microsecond each, more than a year.
const STEPS_MAX: f64 = 1e14;

/// A duration that whole steps change by more than this part is noted [-].
const ROUNDED: f64 = 0.01;

/// Errors other than those of the scene and the steps.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error("--command {text}: {problem}")]
    Command { text: String, problem: String },
    #[error("{} exists already; name another file, or add --force to overwrite it", file.display())]
    Exists { file: PathBuf },
    #[error("--duration {duration}: this is {steps:.1e} steps of {step} s; there must be at most {STEPS_MAX:.0e}")]
    TooLong { duration: f64, steps: f64, step: f64 },
    #[error("--step {step}: {mode} steps must be between {STEP_MIN} and {longest} s")]
    Step { step: f64, mode: &'static str, longest: f64 },
    #[error("two options name the file {}; give each a name of its own", file.display())]
    Same { file: PathBuf },
    #[error(
        "the scene has `step: {{ tolerance: ... }}`, which only dynamic and continuous steps have: leave out \
         --stepping, or state the step as a number"
    )]
    Controlled,
    #[error("cannot write {}; check the folder and the permissions", file.display())]
    Write { file: PathBuf, source: std::io::Error },
}

fn parse_duration(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(duration) if duration > 0.0 && duration.is_finite() => Ok(duration),
        _ => Err("expected a positive number of seconds, as in --duration 4.5".to_owned()),
    }
}

fn parse_step(text: &str) -> Result<f64, String> {
    parse_duration(text).map_err(|_| "expected a positive number of seconds, as in --step 0.002".to_owned())
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let files = [&arguments.csv, &arguments.contacts, &arguments.record, &arguments.timing];
    let mut named: Vec<&PathBuf> = files.into_iter().flatten().collect();
    named.iter().try_for_each(|file| keep(file, arguments.force))?;
    named.extend(&arguments.checkpoint);
    let same = (1..named.len()).find(|index| named[..*index].contains(&named[*index]) && !is_device(named[*index]));
    if let Some(index) = same {
        return Err(RunError::Same { file: named[index].clone() }.into());
    }
    arguments.record.iter().try_for_each(|file| super::has_ending("--record", file, "mcap"))?;
    let mut packages = PackageMap::from_environment();
    for (name, path) in &arguments.packages {
        packages.insert(name, path);
    }
    let waiting =
        (!arguments.quiet).then(|| super::waiting::Waiting::new(format!("loading {}", arguments.scene.display())));
    let mut loaded =
        scene_file::load_with(&arguments.scene, &packages, &Loading { set: &arguments.set, ..Loading::default() })?;
    drop(waiting);
    if !arguments.quiet {
        let warnings = if arguments.all_warnings { loaded.warnings.clone() } else { loaded.short_warnings() };
        warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
        if warnings.len() < loaded.warnings.len() {
            eprintln!("note: --all-warnings prints all {} warnings", loaded.warnings.len());
        }
    }
    // The scene's step has no fixed length then
    if matches!(arguments.stepping, Some(Mode::Quasistatic | Mode::Spook)) && loaded.dynamic.error_control.is_some() {
        return Err(RunError::Controlled.into());
    }
    match arguments.stepping {
        Some(Mode::Dynamic) => loaded.settings.stepping = Stepping::Dynamic(loaded.dynamic),
        Some(Mode::Quasistatic) => loaded.settings.stepping = Stepping::Quasistatic(loaded.quasistatic),
        Some(Mode::Spook) => loaded.settings.stepping = Stepping::Spook(loaded.spook),
        Some(Mode::Continuous) => loaded.settings.stepping = Stepping::Continuous(loaded.continuous),
        None => {}
    }
    if !arguments.quiet {
        let unused = loaded.unused_settings(&loaded.settings.stepping);
        unused.iter().for_each(|unused| eprintln!("warning: {unused}"));
    }
    if let Some(threads) = arguments.threads {
        loaded.settings.threads = usize::from(threads);
    }
    if let Some(step) = arguments.step {
        let stepping = &loaded.settings.stepping;
        let (mode, longest) = (stepping.name(), stepping.step_max());
        if !(STEP_MIN..=longest).contains(&step) {
            return Err(RunError::Step { step, mode, longest }.into());
        }
        loaded.settings.step_ns = (step * 1e9).round() as u64;
    }
    let overrides =
        arguments.commands.iter().map(|text| parse_command(text, &loaded.scene)).collect::<Result<Vec<_>, _>>()?;
    for (index, (joint, target)) in overrides.iter().enumerate() {
        let same = |(other, earlier): &(ScalarJointIndex, JointTarget)| {
            let both = |a: Option<f64>, b: Option<f64>| a.is_some() && b.is_some();
            other == joint
                && (both(earlier.position, target.position)
                    || both(earlier.velocity, target.velocity)
                    || both(earlier.effort, target.effort))
        };
        if overrides[..index].iter().any(same) {
            let problem = "another --command has the same joint and quantity; keep one of them".to_owned();
            return Err(RunError::Command { text: arguments.commands[index].clone(), problem }.into());
        }
        for (quantity, value) in [("position", target.position), ("effort", target.effort)] {
            if let Some(text) = value.and_then(|value| beyond_limits(&loaded.scene, *joint, quantity, value)) {
                eprintln!("warning: --command {}: {text}", arguments.commands[index]);
            }
        }
        let (position, velocity) = (target.position.is_some(), target.velocity.is_some());
        if let Some(missing) = loaded.scene.actuators()[joint.to_usize()].missing_gain(position, velocity) {
            let name = &loaded.scene.joint_names()[joint.to_usize()];
            eprintln!(
                "warning: joint `{name}` does not follow its --command: its actuator has no {missing}; give it one in \
                 `actuators` of the scene, or command an effort"
            );
        }
    }
    if !arguments.quiet && matches!(loaded.settings.stepping, Stepping::Quasistatic(_)) {
        warn_of_velocities(&loaded, &overrides);
    }
    let (duration, step) = (arguments.duration, loaded.settings.step());
    if duration / step > STEPS_MAX {
        return Err(RunError::TooLong { duration, steps: duration / step, step }.into());
    }
    let simulated = (duration / step).round().max(1.0) * step;
    if (simulated - duration).abs() > ROUNDED * duration && !arguments.quiet {
        eprintln!("note: --duration {duration}: whole steps of {step} s take {simulated} s");
    }
    let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings)?;
    if let Some(file) = &arguments.from {
        let checkpoint = checkpoint_file::read(file)?;
        let refused = |reason| checkpoint_file::refused(file, reason);
        checkpoint.check_schedules(&schedules(&loaded.scene, &loaded.commands, &loaded.wrenches)).map_err(refused)?;
        simulation.restore(&checkpoint).map_err(refused)?;
    }
    let totals = simulate(arguments, &mut loaded, &mut simulation, &overrides)?;
    if !arguments.quiet {
        print_line!("{}", summary(&simulation, &loaded, &totals).trim_end());
    }
    Ok(())
}

fn simulate(
    arguments: &Arguments,
    loaded: &mut LoadedScene,
    simulation: &mut Simulation,
    overrides: &[(ScalarJointIndex, JointTarget)],
) -> Result<Totals, Box<dyn Error>> {
    let steps = (arguments.duration / loaded.settings.step()).round().max(1.0) as u64;
    let title = format!("isobar {} run of {}", env!("CARGO_PKG_VERSION"), arguments.scene.display());
    let mut contacts = match &arguments.contacts {
        Some(file) => Some(ContactRecording::new(create(file)?, &title, &loaded.scene)?),
        None => None,
    };
    let mut recording = match &arguments.csv {
        Some(file) => {
            let pushed = loaded.wrenches.scheduled_bodies();
            Some(CsvRecording::new(create(file)?, &title, &loaded.scene, &pushed, &loaded.outputs)?)
        }
        None => None,
    };
    let schedules = schedules(&loaded.scene, &loaded.commands, &loaded.wrenches);
    let save = |simulation: &Simulation| simulation.save().with_schedules(schedules.clone());
    let mut bag = arguments.record.as_ref().map(|file| start_bag(file, loaded)).transpose()?;
    let rates = Rates::from(&loaded.publish);
    let continues = arguments.from.is_some();
    // The state at the checkpoint was recorded by the run that wrote it.
    let mut due = if continues { Due::default() } else { Due::ALL };
    let period_ns = arguments.checkpoint_period.map(|period| (period * 1e9).round().max(1.0) as u64);
    let mut timing = arguments.timing.as_ref().map(create).transpose()?;
    let mut command = JointCommand::new(&loaded.scene);
    let mut snapshot = Snapshot::default();
    let mut totals = Totals::default();
    let negligible = 1e-3 * lightest_weight(&loaded.scene);
    let progress = progress_bar(steps, arguments.quiet);
    for number in 0..=steps {
        let last = number == steps;
        let row = (last || simulation.step_count().is_multiple_of(arguments.every)) && !(continues && number == 0);
        let messages = bag.is_some() && due.any();
        if last || messages || (row && (recording.is_some() || contacts.is_some())) {
            simulation.snapshot_into(&mut snapshot);
            let values = loaded.outputs.evaluate(&snapshot);
            if let Some(recording) = recording.as_mut().filter(|_| row) {
                recording.record(&snapshot, values)?;
            }
            if let Some(contacts) = contacts.as_mut().filter(|_| row) {
                contacts.record(&snapshot)?;
            }
            if let Some(bag) = bag.as_mut().filter(|_| messages) {
                bag.record(due, &snapshot, values)?;
            }
        }
        if last {
            break;
        }
        loaded.commands.fill(simulation.time_ns(), &mut command);
        apply(overrides, &mut command);
        loaded.wrenches.apply(simulation)?;
        let before_ns = simulation.time_ns();
        let start = Instant::now();
        let report = simulation.step(&command)?;
        let took = start.elapsed();
        let now_ns = simulation.time_ns();
        due = Due::between(before_ns, now_ns, &rates);
        if let (Some(file), Some(period_ns)) = (&arguments.checkpoint, period_ns)
            && now_ns / period_ns != before_ns / period_ns
        {
            checkpoint_file::write(file, &save(simulation))?;
        }
        totals.add(&report, took);
        if let Some(wrong) = simulation.wrong_friction() {
            let is_new = wrong.force() > negligible && totals.wrong_pairs.insert(wrong.pair());
            if is_new && (arguments.all_warnings || totals.wrong_pairs.len() == 1) && !arguments.quiet {
                progress.suspend(|| eprintln!("warning: t = {} s: {wrong}", now(simulation)));
            }
            if totals.worst_friction.as_ref().is_none_or(|(worst, ..)| report.friction_error > *worst) {
                totals.worst_friction =
                    Some((report.friction_error, wrong.geometries().join("` and `"), now(simulation)));
            }
        }
        if let Some(missed) = simulation.missed_contact()
            && totals.missed.insert(missed.pair())
            && !arguments.quiet
        {
            progress.suspend(|| eprintln!("warning: t = {} s: {missed}", now(simulation)));
        }
        if let Some(fast) = simulation.fast_joint() {
            totals.fast += 1;
            let is_new = totals.fast_joints.insert(fast.joint());
            if is_new && (arguments.all_warnings || totals.fast_joints.len() == 1) && !arguments.quiet {
                progress.suspend(|| eprintln!("warning: t = {} s: {fast}", now(simulation)));
            }
        }
        if let Some(largest) =
            simulation.limited_joints().max_by(|a, b| a.impulse().abs().total_cmp(&b.impulse().abs()))
        {
            totals.limited += 1;
            if totals.largest_limit.as_ref().is_none_or(|(impulse, ..)| largest.impulse().abs() > *impulse) {
                let name = largest.name().to_owned();
                totals.largest_limit = Some((largest.impulse().abs(), name, now(simulation)));
            }
        }
        if report.friction_at_centroids && totals.at_centroids == 1 && !arguments.quiet {
            let t = now(simulation);
            progress.suspend(|| {
                eprintln!(
                    "warning: t = {t} s: this step settled only with friction at the centroids of faces, so that \
                     pads resist turning about their normal up to 13 % more or less: take shorter steps, or set \
                     `face_friction: centroid` for all steps"
                );
            });
        }
        if let Some(behind) = simulation.loads_behind()
            && totals.behind_joints.insert(behind.joint())
            && !arguments.quiet
        {
            progress.suspend(|| eprintln!("warning: t = {} s: {behind}", now(simulation)));
        }
        if let Some(load) = simulation.inertial_load()
            && totals.inertial.insert(load.body())
            && !arguments.quiet
        {
            progress.suspend(|| eprintln!("warning: t = {} s: {load}", now(simulation)));
        }
        if let (Some(timing), Some(file)) = (&mut timing, &arguments.timing) {
            writeln!(timing, "{:.9}", took.as_secs_f64())
                .map_err(|source| RunError::Write { file: file.clone(), source })?;
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    let left_out = totals.wrong_pairs.len().saturating_sub(1) + totals.fast_joints.len().saturating_sub(1);
    if left_out > 0 && !arguments.all_warnings && !arguments.quiet {
        eprintln!("note: --all-warnings prints {left_out} more warnings of friction and joint speeds");
    }
    if let Some(file) = &arguments.checkpoint {
        checkpoint_file::write(file, &save(simulation))?;
    }
    if let Some(recording) = recording {
        recording.finish()?;
    }
    if let Some(contacts) = contacts {
        contacts.finish()?;
    }
    if let Some(bag) = bag {
        bag.finish()?;
    }
    if let (Some(mut timing), Some(file)) = (timing, &arguments.timing) {
        timing.flush().map_err(|source| RunError::Write { file: file.clone(), source })?;
    }
    Ok(totals)
}

fn start_bag(file: &Path, loaded: &LoadedScene) -> Result<BagRecording, BagError> {
    BagRecording::create(file, &loaded.scene, &loaded.outputs, &loaded.robot_descriptions, &BagPlan::default())
}

/// Refuses to overwrite a file unless forced to. Empty files, pipes and devices have no contents to lose.
fn keep(file: &Path, force: bool) -> Result<(), RunError> {
    match std::fs::metadata(file) {
        Ok(present) if !force && present.is_file() && present.len() > 0 => {
            Err(RunError::Exists { file: file.to_path_buf() })
        }
        _ => Ok(()),
    }
}

/// Whether the file is a pipe or a device, such as /dev/null.
fn is_device(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|present| !present.is_file() && !present.is_dir())
}

fn create(file: &PathBuf) -> Result<BufWriter<File>, RunError> {
    File::create(file).map(BufWriter::new).map_err(|source| RunError::Write { file: file.clone(), source })
}

fn progress_bar(steps: u64, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let progress = ProgressBar::new(steps);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} steps, {per_sec}, {eta} left") {
        progress.set_style(style);
    }
    progress
}

/// Warns of commanded velocities that quasistatic steps ignore.
fn warn_of_velocities(loaded: &LoadedScene, overrides: &[(ScalarJointIndex, JointTarget)]) {
    let scheduled = loaded.commands.joints.iter();
    let scheduled = scheduled.map(|joint| (joint.joint, joint.position.is_some(), joint.velocity.is_some()));
    let given = overrides.iter().map(|(joint, target)| (*joint, target.position.is_some(), target.velocity.is_some()));
    for (joint, position, velocity) in scheduled.chain(given) {
        if loaded.scene.actuators()[joint.to_usize()].holds_position(position, velocity) {
            let name = &loaded.scene.joint_names()[joint.to_usize()];
            eprintln!(
                "warning: quasistatic steps hold joint `{name}` at its last position, because its actuator has stiffness; \
                 its commanded velocity has no effect: command a position"
            );
        }
    }
}

/// Parses `JOINT.QUANTITY=VALUE` into a joint and its constant target.
fn parse_command(text: &str, scene: &Scene) -> Result<(ScalarJointIndex, JointTarget), RunError> {
    let fail = |problem: String| RunError::Command { text: text.to_owned(), problem };
    let form = || fail("expected JOINT.QUANTITY=VALUE, as in elbow.position=0.5".to_owned());
    let (address, value) = text.split_once('=').ok_or_else(form)?;
    let (joint, quantity) = address.rsplit_once('.').ok_or_else(form)?;
    let value: f64 = value.parse().map_err(|_| fail(format!("`{value}` is not a number")))?;
    if !value.is_finite() {
        return Err(fail("the value must be finite".to_owned()));
    }
    let known = || match scene.joint_names() {
        [] => "the scene has none that takes commands: remove the option".to_owned(),
        names => format!("there are {}", names.join(", ")),
    };
    let joint = scene.joint(joint).ok_or_else(|| fail(format!("there is no joint `{joint}`; {}", known())))?;
    let mut target = JointTarget::default();
    match quantity {
        "position" => target.position = Some(value),
        "velocity" => target.velocity = Some(value),
        "effort" => target.effort = Some(value),
        _ => return Err(fail(format!("`{quantity}` is not a quantity; use position, velocity or effort"))),
    }
    Ok((joint, target))
}

fn apply(overrides: &[(ScalarJointIndex, JointTarget)], command: &mut JointCommand) {
    for (joint, given) in overrides {
        let target = &mut command[*joint];
        target.position = given.position.or(target.position);
        target.velocity = given.velocity.or(target.velocity);
        target.effort = given.effort.or(target.effort);
    }
}

/// The simulated time \[s\], in its shortest form: a whole number of nanoseconds.
fn now(simulation: &Simulation) -> f64 {
    simulation.time_ns() as f64 / 1e9
}

/// The weight of the lightest body that has a mass \[N\].
fn lightest_weight(scene: &Scene) -> f64 {
    let masses = scene.model().bodies().iter().map(|body| body.inertia.mass).filter(|mass| *mass > 0.0);
    masses.fold(f64::INFINITY, f64::min).min(f64::MAX) * scene.model().gravity_W().norm()
}
