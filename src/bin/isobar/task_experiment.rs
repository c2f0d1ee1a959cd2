//! `isobar experiment pancake-flip | spatula-slip`: the tasks of Masterjohn et al. (2022), sections V-B and V-C.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use isobar::experiments::keyframes::Task;
use isobar::experiments::pancake_flip::{self, Flip, Run};
use isobar::experiments::spatula_slip::{self, Slip};
use isobar::experiments::study::{Cost, MeanCost, power_law};
use isobar::experiments::{Chart, Scale, Series, draw};
use isobar::geometry::FaceRepresentation;
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene};
use isobar::math::Vector3;
use isobar::picture::{self, Align, INK, Image, PAPER, ScenePicture, View};
use isobar::stepping::{Simulation, Snapshot};

#[derive(clap::Args)]
pub(crate) struct PancakeFlip {
    /// The scene.
    #[arg(long, default_value = "config/pancake_flip.yaml")]
    scene: PathBuf,
    /// The keyframes.
    #[arg(long, default_value = "config/tasks/pancake_flip.yaml")]
    task: PathBuf,
    #[command(flatten)]
    study: Study,
    /// Folder for the CSV, the plots and the pictures.
    #[arg(long, default_value = "out/pancake_flip")]
    out: PathBuf,
}

#[derive(clap::Args)]
pub(crate) struct SpatulaSlip {
    /// The scene.
    #[arg(long, default_value = "config/spatula_slip.yaml")]
    scene: PathBuf,
    #[command(flatten)]
    study: Study,
    /// Folder for the CSV, the plots and the pictures.
    #[arg(long, default_value = "out/spatula_slip")]
    out: PathBuf,
}

#[derive(clap::Args)]
struct Study {
    /// Grids, as parts of the edges that the scene states: 2 has edges half as long.
    #[arg(long, value_delimiter = ',', default_values_t = [1.0, 1.6, 2.0, 3.2, 4.0], value_parser = parse_refinement)]
    refinements: Vec<f64>,
    /// Which grids are run with triangles too.
    #[arg(long, value_enum, default_value_t = Triangles::Every)]
    triangles: Triangles,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Triangles {
    /// All grids.
    Every,
    /// The first one.
    First,
    /// None.
    None,
}

impl Triangles {
    /// Whether grid `number` is run with them.
    fn at(self, number: usize) -> bool {
        self == Self::Every || (self == Self::First && number == 0)
    }
}

fn parse_refinement(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.1..=100.0).contains(&value) => Ok(value),
        _ => Err("expected a number from 0.1 to 100, as in --refinements 1,2,4".to_owned()),
    }
}

/// Time between two rows of a CSV and two points of a plot [s].
const SAMPLE: f64 = 0.02;
/// Columns and rows of a key frame [px]; a sheet of key frames has three columns.
const FRAME: (usize, usize) = (640, 480);
const SHEET_COLUMNS: usize = 3;
/// Height of the band of a key frame's title [px].
const BAND: f64 = 46.0;
/// Azimuth and elevation [degrees], distance [m], target [m].
type Eye = (f64, f64, f64, [f64; 3]);
const STAND: Eye = (-75.0, 20.0, 1.15, [0.06, -0.16, 0.95]);
const STOVE: Eye = (-22.0, 16.0, 0.75, [0.37, 0.10, 0.89]);
/// Key frames of the flip: keyframe, part of its time, and from where it is seen.
const FLIP_FRAMES: [(&str, f64, Eye); 12] = [
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
/// Key frames of the slip: times [s].
const SLIP_FRAMES: [f64; 3] = [4.4, 6.0, 12.0];
const SLIP_EYE: Eye = (-38.0, 20.0, 0.75, [0.27, 0.0, 0.24]);

/// One run of a study.
struct Entry {
    refinement: f64,
    faces: &'static str,
    cost: MeanCost,
    success: bool,
    what: String,
}

const KINDS: [(&str, FaceRepresentation); 2] =
    [("polygons", FaceRepresentation::Polygon), ("triangles", FaceRepresentation::TriangleFan)];

fn progress_bar(name: &str) -> ProgressBar {
    let progress = ProgressBar::new(1);
    if let Ok(style) = ProgressStyle::with_template("{msg:32} {wide_bar} {pos}/{len} steps, {eta} left") {
        progress.set_style(style);
    }
    progress.set_message(name.to_owned());
    progress
}

fn line(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
    Series { name: name.to_owned(), points: points.into_iter().collect() }
}

fn chart(title: &str, axes: [&str; 2], series: Vec<Series>, marks: &[(f64, String)]) -> Chart {
    Chart {
        title: title.to_owned(),
        axes: axes.map(str::to_owned),
        scale: Scale::Linear,
        series,
        marks: marks.to_vec(),
    }
}

/// A picture of the scene now.
fn frame(
    loaded: &LoadedScene,
    simulation: &Simulation,
    (azimuth, elevation, distance, target): Eye,
    title: &str,
) -> Result<Image, Box<dyn Error>> {
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let mut image = picture::scene_picture(&ScenePicture {
        scene: &loaded.scene,
        snapshot: &snapshot,
        visuals: &loaded.visuals,
        view: View {
            direction: Some((azimuth.to_radians(), elevation.to_radians())),
            distance: Some(distance),
            target_W: Some(Vector3::from(target)),
            without_forces: true,
        },
        contact: false,
        size: FRAME,
        title: "",
    })?;
    // a robot behind the title would hide it
    image.fill([0.0, 0.0], [FRAME.0 as f64, BAND], PAPER, 1.0);
    let text = format!("{title}, t = {:.2} s", simulation.time());
    image.text(&text, [0.25 * BAND, 0.66 * BAND], 0.42 * BAND, Align::Left, INK);
    Ok(image)
}

/// Writes each key frame, and all of them on one sheet.
fn write_frames(frames: &[Image], out: &Path) -> Result<(), Box<dyn Error>> {
    let rows = frames.len().div_ceil(SHEET_COLUMNS);
    let mut sheet = Image::new(SHEET_COLUMNS * FRAME.0, rows * FRAME.1, PAPER);
    for (number, image) in frames.iter().enumerate() {
        picture::write_png(image, &out.join(format!("key_frame_{:02}.png", number + 1)))?;
        sheet.paste(image, number % SHEET_COLUMNS * FRAME.0, number / SHEET_COLUMNS * FRAME.1);
    }
    Ok(picture::write_png(&sheet, &out.join("key_frames.png"))?)
}

/// The table of the runs on the screen and as CSV, and figure 8.
fn report(entries: &[Entry], title: &str, out: &Path) -> Result<(), Box<dyn Error>> {
    let mut text = String::from("refinement,faces_kind,faces,motion_time,contact_time,solver_time,step_time,success\n");
    say!(
        "{:>10} {:10} {:>8} {:>13} {:>12} {:>10}  result",
        "refinement",
        "",
        "faces",
        "contact [us]",
        "solver [us]",
        "step [us]"
    );
    for Entry { refinement, faces, cost, success, what } in entries {
        let numbers = [cost.faces, cost.motion, cost.contact, cost.solver, cost.step()].map(|x| format!("{x:.6e}"));
        writeln!(text, "{refinement},{faces},{},{success}", numbers.join(","))?;
        let us = [cost.contact, cost.solver, cost.step()].map(|time| time * 1e6);
        let verdict = if *success { "ok" } else { "FAILED" };
        say!(
            "{refinement:10} {faces:10} {:8.1} {:13.1} {:12.1} {:10.1}  {verdict}: {what}",
            cost.faces,
            us[0],
            us[1],
            us[2]
        );
    }
    fs::write(out.join("study.csv"), text)?;
    for pair in entries.windows(2) {
        let [polygons, triangles] = pair else { continue };
        if triangles.faces == KINDS[1].0 {
            say!(
                "refinement {}, triangles over polygons: faces {:.2} (paper: 4.05), solver time {:.2} (paper: 4.09), contact time {:.2}",
                triangles.refinement,
                triangles.cost.faces / polygons.cost.faces,
                triangles.cost.solver / polygons.cost.solver,
                triangles.cost.contact / polygons.cost.contact
            );
        }
    }
    let mut series = Vec::new();
    for (name, kind, time) in [
        ("contact geometry", KINDS[0].0, (|cost| cost.contact) as fn(&MeanCost) -> f64),
        ("solver", KINDS[0].0, |cost| cost.solver),
        ("step", KINDS[0].0, MeanCost::step),
        ("solver, triangles", KINDS[1].0, |cost| cost.solver),
    ] {
        let of_kind = entries.iter().filter(|entry| entry.faces == kind);
        let points: Vec<_> = of_kind.map(|entry| (entry.cost.faces, time(&entry.cost) * 1e6)).collect();
        if points.is_empty() {
            continue;
        }
        let label = match power_law(&points) {
            Some((_, exponent)) => format!("{name}: faces^{exponent:.2}"),
            None => name.to_owned(),
        };
        say!("mean time per step, {label}");
        series.push(line(&label, points));
    }
    let axes = ["mean faces per step", "mean time per step [us]"];
    let figure = Chart { scale: Scale::Logarithmic, ..chart(title, axes, series, &[]) };
    Ok(draw(&out.join("figure_8.svg"), &[figure])?)
}

/// The verdict for the shell.
fn verdict(entries: &[Entry], out: &Path) -> Result<(), Box<dyn Error>> {
    say!("{}", out.display());
    let failed = entries.iter().filter(|entry| !entry.success).count();
    if failed > 0 {
        return Err(format!("{failed} of {} runs failed", entries.len()).into());
    }
    Ok(())
}

/// Scenes of one refinement: with polygons, and where they are asked for with triangles.
fn scenes(scene: &Path, refinement: f64, triangles: bool) -> Result<Vec<(&'static str, LoadedScene)>, Box<dyn Error>> {
    let loaded = scene_file::load_refined(scene, &PackageMap::from_environment(), refinement)?;
    let kinds = if triangles { &KINDS[..] } else { &KINDS[..1] };
    let with = |(name, faces): &(&'static str, FaceRepresentation)| {
        let mut loaded = loaded.clone();
        loaded.settings.faces = *faces;
        (*name, loaded)
    };
    Ok(kinds.iter().map(with).collect())
}

/// Number of steps between two samples of a CSV.
fn every(loaded: &LoadedScene) -> usize {
    (SAMPLE / loaded.settings.step()).round().max(1.0) as usize
}

pub(crate) fn pancake_flip(arguments: &PancakeFlip) -> Result<(), Box<dyn Error>> {
    let out = &arguments.out;
    fs::create_dir_all(out)?;
    let task = Task::read(&arguments.task)?;
    let mut entries = Vec::new();
    let mut frames = Vec::new();
    let mut text = String::from(
        "refinement,faces_kind,time,keyframe,faces,solver_iterations,spatula_pitch,grip_force,pancake_x,pancake_y,pancake_z,pancake_side\n",
    );
    let mut first_runs = Vec::new();
    for (number, refinement) in arguments.study.refinements.iter().enumerate() {
        let scenes = scenes(&arguments.scene, *refinement, arguments.study.triangles.at(number))?;
        let take =
            |loaded: &LoadedScene, flip: &Flip, sample: &pancake_flip::Sample, before: f64, frames: &mut Vec<Image>| {
                frames_of_flip(&task, loaded, flip, sample, before, frames)
            };
        let mut keep = |loaded: &LoadedScene, flip: &Flip, sample: &_, before| {
            if number == 0 { take(loaded, flip, sample, before, &mut frames) } else { Ok(()) }
        };
        let runs = flip_runs(&scenes, &task, *refinement, &mut keep)?;
        for ((kind, loaded), run) in scenes.iter().zip(&runs) {
            for s in run.samples.iter().step_by(every(loaded)) {
                let name = task.keyframes.get(s.keyframe).map_or("", |keyframe| keyframe.name.as_str());
                let numbers = [s.pitch, s.grip, s.pancake[0], s.pancake[1], s.pancake[2], s.side];
                let numbers = numbers.map(|x| format!("{x:.6e}")).join(",");
                writeln!(text, "{refinement},{kind},{:.4},{name},{},{},{numbers}", s.time, s.faces, s.iterations)?;
            }
            let costs = run.samples.iter().map(|s| Cost { faces: s.faces, times: s.times });
            let ([x, y, _], angle) = (run.outcome.p, run.outcome.from_upside_down.to_degrees());
            let what = format!(
                "{angle:.2} degrees from upside down, {:.0} mm from the middle of the stove, {:.1e} m/s, {} retries",
                x.hypot(y) * 1e3,
                run.outcome.speed,
                run.retries
            );
            let success = run.outcome.flipped();
            entries.push(Entry { refinement: *refinement, faces: kind, cost: MeanCost::of(costs), success, what });
        }
        if number == 0 {
            let every = scenes.first().map_or(1, |(_, loaded)| every(loaded));
            first_runs = runs.into_iter().map(|run| (run, every)).collect();
        }
    }
    fs::write(out.join("pancake_flip.csv"), text)?;
    flip_plots(&first_runs, out)?;
    write_frames(&frames, out)?;
    report(&entries, "Pancake flip: time per step at the grids", out)?;
    verdict(&entries, out)
}

type Keep<'a> = dyn FnMut(&LoadedScene, &Flip, &pancake_flip::Sample, f64) -> Result<(), Box<dyn Error>> + 'a;

/// The scenes step by turns, so that what else the machine does slows all of them down; `keep` sees the first.
fn flip_runs(
    scenes: &[(&'static str, LoadedScene)],
    task: &Task,
    refinement: f64,
    keep: &mut Keep<'_>,
) -> Result<Vec<Run>, Box<dyn Error>> {
    let start = Instant::now();
    let clock = move || start.elapsed().as_secs_f64();
    let progress = progress_bar(&format!("pancake flip, refinement {refinement}"));
    let planned: f64 = task.keyframes.iter().map(|keyframe| keyframe.duration).sum();
    let mut flips = Vec::new();
    for (_, loaded) in scenes {
        progress.set_length((planned / loaded.settings.step()) as u64);
        flips.push((Flip::new(loaded, task.clone())?, Vec::new(), 0.0, usize::MAX));
    }
    while flips.iter().any(|(flip, ..)| !flip.done()) {
        for (number, (flip, samples, begin, keyframe)) in flips.iter_mut().enumerate() {
            if flip.done() {
                continue;
            }
            let sample = flip.step(&clock)?;
            if sample.keyframe != *keyframe {
                (*begin, *keyframe) = (sample.time, sample.keyframe);
            }
            if number == 0 {
                keep(&scenes[0].1, flip, &sample, sample.time - *begin)?;
                progress.inc(1);
            }
            samples.push(sample);
        }
    }
    progress.finish_and_clear();
    Ok(flips.into_iter().map(|(flip, samples, ..)| flip.finish(samples)).collect())
}

/// Draws the key frames that the step from `elapsed` [s] within its keyframe passes.
fn frames_of_flip(
    task: &Task,
    loaded: &LoadedScene,
    flip: &Flip,
    sample: &pancake_flip::Sample,
    elapsed: f64,
    frames: &mut Vec<Image>,
) -> Result<(), Box<dyn Error>> {
    let Some((name, part, eye)) = FLIP_FRAMES.get(frames.len()) else { return Ok(()) };
    let Some(place) = task.keyframes.iter().position(|keyframe| keyframe.name == *name) else { return Ok(()) };
    // a keyframe that ended early has its picture at its end
    let due = part * task.keyframes[place].duration - loaded.settings.step();
    if sample.keyframe > place || (sample.keyframe == place && elapsed >= due) {
        frames.push(frame(loaded, flip.simulation(), *eye, name)?);
    }
    Ok(())
}

/// Figure 9, and what else happened: pitch, grip force, side and height of the pancake.
fn flip_plots(runs: &[(Run, usize)], out: &Path) -> Result<(), Box<dyn Error>> {
    let Some((first, _)) = runs.first() else { return Ok(()) };
    let marks: Vec<_> = first.events.iter().map(|event| (event.time, event.name.clone())).collect();
    let of = |value: fn(&pancake_flip::Sample) -> f64| {
        let series = |((run, every), (name, _)): (&(Run, usize), &(&str, _))| {
            line(name, run.samples.iter().step_by(*every).map(|sample| (sample.time, value(sample))))
        };
        runs.iter().zip(&KINDS).map(series).collect::<Vec<_>>()
    };
    let time = "t [s]";
    let faces = chart("Contact faces", [time, "faces"], of(|s| f64::from(s.faces)), &marks);
    draw(&out.join("figure_9.svg"), &[faces])?;
    let charts = [
        chart("Spatula: handle above the horizontal", [time, "pitch [deg]"], of(|s| s.pitch.to_degrees()), &marks),
        chart("Mean force of the pads", [time, "force [N]"], of(|s| s.grip), &marks),
        chart(
            "Pancake: its upper side's normal above the horizontal",
            [time, "angle [deg]"],
            of(|s| s.side.to_degrees()),
            &marks,
        ),
        chart("Pancake: height above the stove", [time, "z [m]"], of(|s| s.pancake[2]), &marks),
    ];
    Ok(draw(&out.join("motion.svg"), &charts)?)
}

pub(crate) fn spatula_slip(arguments: &SpatulaSlip) -> Result<(), Box<dyn Error>> {
    let out = &arguments.out;
    fs::create_dir_all(out)?;
    let mut entries = Vec::new();
    let mut frames = Vec::new();
    let mut text = String::from("refinement,faces_kind,time,faces,commanded_force,grip_force,pitch\n");
    let mut plotted = Vec::new();
    for (number, refinement) in arguments.study.refinements.iter().enumerate() {
        let scenes = scenes(&arguments.scene, *refinement, arguments.study.triangles.at(number))?;
        let mut keep = |loaded: &LoadedScene, slip: &Slip| -> Result<(), Box<dyn Error>> {
            let due = |time: &&f64| slip.simulation().time() >= **time - 0.5 * loaded.settings.step();
            if number == 0 && SLIP_FRAMES.get(frames.len()).as_ref().is_some_and(due) {
                frames.push(frame(loaded, slip.simulation(), SLIP_EYE, "spatula slip")?);
            }
            Ok(())
        };
        for ((kind, loaded), samples) in scenes.iter().zip(slip_runs(&scenes, *refinement, &mut keep)?) {
            for s in samples.iter().step_by(every(loaded)) {
                let numbers = [s.commanded, s.grip, s.pitch].map(|x| format!("{x:.6e}")).join(",");
                writeln!(text, "{refinement},{kind},{:.4},{},{numbers}", s.time, s.cost.faces)?;
            }
            let stretches = spatula_slip::stretches(&samples);
            let turned: Vec<_> =
                stretches.iter().map(|s| format!("{:.0} N {:+.4} rad", s.commanded, s.turned)).collect();
            let entry = Entry {
                refinement: *refinement,
                faces: kind,
                cost: MeanCost::of(samples.iter().map(|sample| sample.cost)),
                success: spatula_slip::succeeded(&stretches),
                what: turned.join(", "),
            };
            entries.push(entry);
            let thin: Vec<_> = samples.into_iter().step_by(every(loaded)).collect();
            if *kind == KINDS[0].0 || number == 0 {
                plotted.push((format!("{kind}, refinement {refinement}"), thin));
            }
        }
    }
    fs::write(out.join("spatula_slip.csv"), text)?;
    slip_plots(&plotted, out)?;
    write_frames(&frames, out)?;
    report(&entries, "Spatula slip: time per step at the grids", out)?;
    verdict(&entries, out)
}

type KeepSlip<'a> = dyn FnMut(&LoadedScene, &Slip) -> Result<(), Box<dyn Error>> + 'a;

fn slip_runs(
    scenes: &[(&'static str, LoadedScene)],
    refinement: f64,
    keep: &mut KeepSlip<'_>,
) -> Result<Vec<Vec<spatula_slip::Sample>>, Box<dyn Error>> {
    let start = Instant::now();
    let clock = move || start.elapsed().as_secs_f64();
    let progress = progress_bar(&format!("spatula slip, refinement {refinement}"));
    let mut slips = Vec::new();
    for (_, loaded) in scenes {
        progress.set_length((spatula_slip::DURATION / loaded.settings.step()).round() as u64);
        slips.push((Slip::new(loaded)?, Vec::new()));
    }
    while slips.iter().any(|(slip, _)| !slip.done()) {
        for (number, (slip, samples)) in slips.iter_mut().enumerate() {
            samples.push(slip.step(&clock)?);
            if number == 0 {
                keep(&scenes[0].1, slip)?;
                progress.inc(1);
            }
        }
    }
    progress.finish_and_clear();
    Ok(slips.into_iter().map(|(_, samples)| samples).collect())
}

/// Figure 10, and the faces over time.
fn slip_plots(runs: &[(String, Vec<spatula_slip::Sample>)], out: &Path) -> Result<(), Box<dyn Error>> {
    let of = |value: fn(&spatula_slip::Sample) -> f64, count: usize| {
        let series = |(name, samples): &(String, Vec<spatula_slip::Sample>)| {
            line(name, samples.iter().map(|sample| (sample.time, value(sample))))
        };
        runs.iter().take(count).map(series).collect::<Vec<_>>()
    };
    let time = "t [s]";
    // the runs of the first grid, with triangles if there are any
    let first = 1 + usize::from(runs.get(1).is_some_and(|(name, _)| name.starts_with(KINDS[1].0)));
    let mut forces: Vec<_> = of(|s| s.commanded, 1);
    forces.iter_mut().for_each(|series| series.name = "commanded".to_owned());
    forces.extend(of(|s| s.grip, first));
    let charts = [
        chart("Grip force", [time, "force [N]"], forces, &[]),
        chart("Spatula pitch", [time, "pitch [deg]"], of(|s| s.pitch.to_degrees(), runs.len()), &[]),
    ];
    draw(&out.join("figure_10.svg"), &charts)?;
    let faces = chart("Contact faces", [time, "faces"], of(|s| f64::from(s.cost.faces), first), &[]);
    Ok(draw(&out.join("faces.svg"), &[faces])?)
}
