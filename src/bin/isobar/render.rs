//! The command `isobar render`: pictures of a scene, of its contact patches, and moving pictures of a run.
#![allow(non_snake_case)]

use std::error::Error;
use std::path::{Path, PathBuf};

use isobar::experiments::keyframes::{Controller, Measurement, Sensors, Task};
use isobar::geometry::{ContactSurface, FaceRepresentation, HydroelasticWorkspace, contact_surface};
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene, Loading};
use isobar::math::Vector3;
use isobar::picture::{self, ContactPanel, Image, Labels, ScenePicture, View};
use isobar::stepping::{ContactPatch, JointCommand, Simulation, Snapshot};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Scene file (YAML); docs/reference/scene-files.md lists its keys.
    #[arg(value_parser = super::parse_file)]
    scene: PathBuf,
    /// Simulated time of the picture in seconds; the scene is simulated until then.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = parse_time, allow_negative_numbers = true)]
    time: f64,
    /// Start of a moving picture (animated PNG), in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = parse_time, allow_negative_numbers = true, requires = "to", conflicts_with = "time")]
    from: Option<f64>,
    /// End of a moving picture, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = parse_time, allow_negative_numbers = true, requires = "frames")]
    to: Option<f64>,
    /// Number of frames of a moving picture, evenly spaced from its start to its end.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(2..=2000), requires = "to")]
    frames: Option<u32>,
    /// Speed of a moving picture: 2 is twice as fast as simulated time.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = parse_speed, requires = "frames")]
    speed: f64,
    /// Keyframes that drive the scene (a file of config/tasks), instead of the scene's own commands.
    #[arg(long, value_name = "FILE.yaml", value_parser = super::parse_file)]
    task: Option<PathBuf>,
    /// The PNG file to write.
    #[arg(long, value_name = "FILE.png", default_value = "scene.png")]
    out: PathBuf,
    /// Columns and rows of the picture.
    #[arg(long, value_name = "WxH", default_value = "1280x960", value_parser = parse_size)]
    size: (usize, usize),
    /// The viewpoint: degrees about z from the x axis, degrees above the horizontal, and metres from the
    /// middle of the picture (by default far enough to show the whole scene).
    #[arg(long, value_name = "AZ,EL[,DIST]", allow_hyphen_values = true, value_parser = parse_view)]
    view: Option<(f64, f64, Option<f64>)>,
    /// The middle of the picture in metres; by default the middle of the scene.
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point)]
    look_at: Option<Vector3>,
    /// Show the contact patches through the touching bodies.
    #[arg(long)]
    contact: bool,
    /// Draw the largest contact patch in its plane instead: as polygons, and as triangle fans.
    #[arg(long, conflicts_with_all = ["contact", "view", "look_at", "collision", "frames"])]
    patch: bool,
    /// Draw collision geometries, not the visual ones.
    #[arg(long)]
    collision: bool,
    /// Leave out the arrows of the contact forces.
    #[arg(long)]
    no_forces: bool,
    /// Labels of the forces at the arrows: `apart` places them without overlap, `none` leaves them out.
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = ForceLabels::Apart)]
    labels: ForceLabels,
    /// Title of the picture; by default the name of the scene file.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// The value of a parameter of the scene, in place of that in the file.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = super::parse_parameter, allow_hyphen_values = true)]
    set: Vec<(String, String)>,
    /// The folder of a package in `package://NAME/...`; takes precedence over AMENT_PREFIX_PATH and
    /// ROS_PACKAGE_PATH.
    #[arg(long = "package", value_name = "NAME=PATH", value_parser = super::parse_package)]
    packages: Vec<(String, PathBuf)>,
}

/// The forces that are labelled at their arrows.
#[derive(Clone, Copy, clap::ValueEnum)]
enum ForceLabels {
    /// Without overlap, the largest first.
    Apart,
    /// None.
    None,
}

impl From<ForceLabels> for Labels {
    fn from(labels: ForceLabels) -> Self {
        match labels {
            ForceLabels::Apart => Self::Apart,
            ForceLabels::None => Self::Hidden,
        }
    }
}

fn parse_time(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(time) if time >= 0.0 && time.is_finite() => Ok(time),
        _ => Err("expected seconds, zero or more, as in --time 4".to_owned()),
    }
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed > 0.0 && speed.is_finite() => Ok(speed),
        _ => Err("expected a positive number, as in --speed 2".to_owned()),
    }
}

/// Sides of a picture \[px\].
const SIDES: std::ops::RangeInclusive<usize> = 16..=4096;

fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let sides = text.split_once('x').map(|(width, height)| (width.parse(), height.parse()));
    match sides {
        Some((Ok(width), Ok(height))) if SIDES.contains(&width) && SIDES.contains(&height) => Ok((width, height)),
        _ => Err("expected columns x rows in pixels, 16 to 4096 each, as in --size 1280x960".to_owned()),
    }
}

fn numbers(text: &str) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    numbers.filter(|numbers| numbers.iter().all(|number: &f64| number.is_finite()))
}

fn parse_view(text: &str) -> Result<(f64, f64, Option<f64>), String> {
    match numbers(text).as_deref() {
        Some([azimuth, elevation]) => Ok((*azimuth, *elevation, None)),
        Some([azimuth, elevation, distance]) if *distance > 0.0 => Ok((*azimuth, *elevation, Some(*distance))),
        _ => Err("expected degrees, degrees and a positive number of metres, as in --view -50,25,1.2".to_owned()),
    }
}

fn parse_point(text: &str) -> Result<Vector3, String> {
    match numbers(text).as_deref() {
        Some([x, y, z]) => Ok(Vector3::new(*x, *y, *z)),
        _ => Err("expected three numbers in metres, as in --look-at 0.3,0,0.2".to_owned()),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    super::has_ending("--out", &arguments.out, "png")?;
    let times = times(arguments)?;
    let mut packages = PackageMap::from_environment();
    for (name, path) in &arguments.packages {
        packages.insert(name, path);
    }
    let mut loaded = scene_file::load_with(
        &arguments.scene,
        &packages,
        &Loading { visual_meshes: true, set: &arguments.set, ..Loading::default() },
    )?;
    loaded.short_warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));
    let snapshots = simulate(&mut loaded, arguments.task.as_deref(), &times)?;
    let Some(first) = snapshots.first() else { return Err("no time was given: add --time".into()) };
    let name = arguments.scene.file_stem().map(|stem| stem.to_string_lossy().replace('_', " ")).unwrap_or_default();
    let title = arguments.title.clone().unwrap_or(name);
    let direction = arguments.view.map(|(azimuth, elevation, _)| (azimuth.to_radians(), elevation.to_radians()));
    let distance = arguments.view.and_then(|(_, _, distance)| distance);
    let labels = arguments.labels.into();
    let scene = ScenePicture {
        scene: &loaded.scene,
        snapshot: first,
        visuals: if arguments.collision { &[] } else { &loaded.visuals },
        view: View { direction, distance, target_W: arguments.look_at, without_forces: arguments.no_forces, labels },
        contact: arguments.contact,
        size: arguments.size,
        title: &title,
    };
    if arguments.patch {
        let image = largest_patch(arguments, &loaded, first, &title)?;
        picture::write_png(&image, &arguments.out)?;
    } else if times.len() > 1 {
        let images = picture::scene_pictures(&scene, &snapshots)?;
        let seconds = (times[1] - times[0]) / arguments.speed;
        // A frame of an animated PNG is shown for at least a millisecond and at most 65.5 s (16 bits).
        let frame_ms = (seconds * 1e3).round().clamp(1.0, f64::from(u16::MAX)) as u16;
        picture::write_animation(&images, frame_ms, &arguments.out)?;
    } else {
        picture::write_png(&picture::scene_picture(&scene)?, &arguments.out)?;
    }
    print_line!("{}", arguments.out.display());
    Ok(())
}

/// The times of the pictures \[s\], in order.
fn times(arguments: &Arguments) -> Result<Vec<f64>, String> {
    let (Some(to), Some(frames)) = (arguments.to, arguments.frames) else { return Ok(vec![arguments.time]) };
    let from = arguments.from.unwrap_or(0.0);
    if to <= from {
        return Err(format!(
            "the end of a moving picture must be after its start: with --from {from}, give --to more than {to}"
        ));
    }
    let part = |frame| f64::from(frame) / f64::from(frames - 1);
    Ok((0..frames).map(|frame| from + (to - from) * part(frame)).collect())
}

/// A running scene and its commands.
struct Driver {
    simulation: Simulation,
    command: JointCommand,
    /// Keyframes; if absent, the scene's own commands apply.
    task: Option<(Controller, Sensors, Measurement)>,
}

impl Driver {
    fn new(loaded: &LoadedScene, task: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let scene = &loaded.scene;
        let with_sensors = |file| -> Result<_, Box<dyn Error>> {
            let task = Task::read(file)?;
            let sensors = Sensors::new(&task, scene)?;
            Ok((Controller::new(task, scene, &loaded.initial)?, sensors, Measurement::default()))
        };
        Ok(Self {
            simulation: Simulation::new(scene.clone(), loaded.initial.clone(), loaded.settings)?,
            command: JointCommand::new(scene),
            task: task.map(with_sensors).transpose()?,
        })
    }

    fn step(&mut self, loaded: &mut LoadedScene) -> Result<(), Box<dyn Error>> {
        let Self { simulation, command, task } = self;
        match task {
            Some((controller, sensors, measured)) => {
                sensors.measure(simulation, measured);
                controller.control(measured, loaded.settings.step(), command)?;
            }
            None => {
                loaded.commands.fill(simulation.time_ns(), command);
                loaded.wrenches.apply(simulation)?;
            }
        }
        simulation.step(command)?;
        Ok(())
    }
}

/// The scene at each of the `times` \[s\], which ascend.
fn simulate(loaded: &mut LoadedScene, task: Option<&Path>, times: &[f64]) -> Result<Vec<Snapshot>, Box<dyn Error>> {
    let mut driver = Driver::new(loaded, task)?;
    let mut taken = 0;
    let mut snapshots = Vec::with_capacity(times.len());
    for time in times {
        let steps = (time / loaded.settings.step()).round() as u64;
        while taken < steps {
            driver.step(loaded)?;
            taken += 1;
        }
        let mut snapshot = Snapshot::default();
        driver.simulation.snapshot_into(&mut snapshot);
        snapshots.push(snapshot);
    }
    Ok(snapshots)
}

/// Draws the contact surface of the pair with the largest patch, in both representations.
fn largest_patch(
    arguments: &Arguments,
    loaded: &LoadedScene,
    snapshot: &Snapshot,
    title: &str,
) -> Result<Image, Box<dyn Error>> {
    let patches = snapshot.contact_patches().iter();
    let largest = patches.max_by(|a, b| a.area.total_cmp(&b.area));
    let empty = ContactPatch::default();
    let patch = largest.unwrap_or(&empty);
    let mut surfaces = [ContactSurface::new(), ContactSurface::new()];
    let geometries = loaded.scene.geometries();
    let representations = [FaceRepresentation::Polygon, FaceRepresentation::TriangleFan];
    for (surface, representation) in surfaces.iter_mut().zip(representations).filter(|_| largest.is_some()) {
        let (a, b) = (&geometries[patch.geometry_A], &geometries[patch.geometry_B]);
        let (X_WA, X_WB) = (snapshot.X_WB[a.body] * a.X_BG, snapshot.X_WB[b.body] * b.X_BG);
        let mut workspace = HydroelasticWorkspace::new(representation);
        contact_surface(&a.hydroelastic, &X_WA, &b.hydroelastic, &X_WB, &mut workspace, surface)?;
    }
    let names = [patch.geometry_A, patch.geometry_B].map(|geometry| geometries.get(geometry).map(|g| g.name.as_str()));
    let subtitle = format!(
        "{} on {}, t = {:.3} s, {:.2} cm\u{b2}",
        names[0].unwrap_or("nothing"),
        names[1].unwrap_or("nothing"),
        snapshot.time_ns as f64 * 1e-9,
        surfaces[0].total_area() * 1e4
    );
    let panels = [
        ContactPanel { surface: &surfaces[0], title: "polygons" },
        ContactPanel { surface: &surfaces[1], title: "triangle fans" },
    ];
    Ok(picture::contact_surface(&panels, title, &subtitle, arguments.size)?)
}
