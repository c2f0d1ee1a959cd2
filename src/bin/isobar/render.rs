//! `isobar render SCENE [--time S] [--out FILE.png] [--size WxH] [--view AZ,EL[,DIST]] [--contact | --patch]`
#![allow(non_snake_case)]

use std::error::Error;
use std::path::PathBuf;

use isobar::geometry::{ContactSurface, FaceRepresentation, HydroelasticWorkspace, contact_surface};
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene};
use isobar::math::Vector3;
use isobar::picture::{self, ContactPanel, Image, ScenePicture, View};
use isobar::stepping::{ContactPatch, JointCommand, JointTarget, Simulation, Snapshot};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Scene file (YAML); docs/scene-files.md lists its keys.
    scene: PathBuf,
    /// Simulated time of the picture [s]; the scene runs its own commands until then.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = parse_time)]
    time: f64,
    /// The picture.
    #[arg(long, value_name = "FILE.png", default_value = "scene.png")]
    out: PathBuf,
    /// Columns and rows of the picture.
    #[arg(long, value_name = "WxH", default_value = "1280x960", value_parser = parse_size)]
    size: (usize, usize),
    /// From where: degrees about z from the x axis, degrees above the horizontal, and metres from the middle of the picture
    /// (far enough to see everything where left out).
    #[arg(long, value_name = "AZ,EL[,DIST]", allow_hyphen_values = true, value_parser = parse_view)]
    view: Option<(f64, f64, Option<f64>)>,
    /// The middle of the picture [m]; the middle of everything where left out.
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point)]
    look_at: Option<Vector3>,
    /// Look at the contact patches, through the bodies that touch.
    #[arg(long)]
    contact: bool,
    /// Draw the largest contact patch in its plane instead: as polygons, and as triangle fans.
    #[arg(long, conflicts_with_all = ["contact", "view", "look_at", "collision"])]
    patch: bool,
    /// Draw collision geometries, not the visual ones.
    #[arg(long)]
    collision: bool,
    /// Written above the picture; the scene file's name where left out.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Where a package of `package://NAME/...` is; goes before AMENT_PREFIX_PATH and ROS_PACKAGE_PATH.
    #[arg(long = "package", value_name = "NAME=PATH", value_parser = super::parse_package)]
    packages: Vec<(String, PathBuf)>,
}

fn parse_time(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(time) if time >= 0.0 && time.is_finite() => Ok(time),
        _ => Err("expected seconds, zero or more, as in --time 4".to_owned()),
    }
}

fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let sides = text.split_once('x').map(|(width, height)| (width.parse(), height.parse()));
    match sides {
        Some((Ok(width), Ok(height))) => Ok((width, height)),
        _ => Err("expected columns x rows in pixels, as in --size 1280x960".to_owned()),
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
    let mut packages = PackageMap::from_environment();
    for (name, path) in &arguments.packages {
        packages.insert(name, path);
    }
    let mut loaded = scene_file::load_with_visual_meshes(&arguments.scene, &packages)?;
    loaded.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    let snapshot = simulate(&mut loaded, arguments.time)?;
    let name = arguments.scene.file_stem().map(|stem| stem.to_string_lossy().replace('_', " ")).unwrap_or_default();
    let title = arguments.title.clone().unwrap_or(name);
    let image = if arguments.patch {
        largest_patch(arguments, &loaded, &snapshot, &title)?
    } else {
        let direction = arguments.view.map(|(azimuth, elevation, _)| (azimuth.to_radians(), elevation.to_radians()));
        let distance = arguments.view.and_then(|(_, _, distance)| distance);
        picture::scene_picture(&ScenePicture {
            scene: &loaded.scene,
            snapshot: &snapshot,
            visuals: if arguments.collision { &[] } else { &loaded.visuals },
            view: View { direction, distance, target_W: arguments.look_at, ..View::default() },
            contact: arguments.contact,
            size: arguments.size,
            title: &title,
        })?
    };
    picture::write_png(&image, &arguments.out)?;
    say!("{}", arguments.out.display());
    Ok(())
}

/// The scene at `time` under its own commands.
fn simulate(loaded: &mut LoadedScene, time: f64) -> Result<Snapshot, Box<dyn Error>> {
    let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings)?;
    let mut command = JointCommand { targets: vec![JointTarget::default(); loaded.scene.joint_names().len()] };
    let steps = (time / loaded.settings.step()).round() as u64;
    for _ in 0..steps {
        loaded.commands.fill(simulation.time_ns(), &mut command);
        simulation.step(&command)?;
    }
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    Ok(snapshot)
}

/// The contact surface of the pair with the largest patch, in both representations.
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
