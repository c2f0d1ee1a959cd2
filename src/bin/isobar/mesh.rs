//! `isobar mesh FILE [--modulus E] [--hint H] [--wrap DISTANCE] [--tolerance DISTANCE]
//! [--pressure-field FIELD] [--scale FACTOR] [--out FILE.vtk] [--preview FILE.png] [--max-tets N]`

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use isobar::geometry::fill::{FieldScale, FillSettings, Filling, fill};
use isobar::geometry::{Aabb, MeshNote};
use isobar::io::mesh_files::{self, MeshData};
use isobar::math::Vector3;
use isobar::picture;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Triangle mesh (STL, OBJ, COLLADA or glTF); closed, unless it is wrapped.
    file: PathBuf,
    /// Hydroelastic modulus in pascals: the pressure at the deepest point of the mesh.
    #[arg(long, default_value_t = 1e6, value_parser = super::parse_positive, allow_hyphen_values = true)]
    modulus: f64,
    /// Requested edge length of the tetrahedra in metres; the default gives about 2000 tetrahedra.
    #[arg(long, value_parser = super::parse_positive, allow_hyphen_values = true)]
    hint: Option<f64>,
    /// Wrap triangles that need not be closed: holes are spanned, and parts thinner than half this distance
    /// become plates of this thickness, as in 0.5mm (or metres without a unit).
    #[arg(long, value_name = "DISTANCE", value_parser = length)]
    wrap: Option<f64>,
    /// Largest distance between the surface and the filling, as in 0.02mm (or metres without a unit); the
    /// default is 0.15 % of the size, or 3 % of the mean thickness if that is less.
    #[arg(long, value_name = "DISTANCE", value_parser = length)]
    tolerance: Option<f64>,
    /// Depth at which the pressure reaches the modulus: the largest of the whole mesh, or half the local
    /// thickness.
    #[arg(long, value_enum, default_value_t = PressureField::Depth)]
    pressure_field: PressureField,
    /// Multiply the coordinates by this (0.001 for a file in millimetres).
    #[arg(long, default_value_t = 1.0, value_parser = super::parse_positive, allow_hyphen_values = true)]
    scale: f64,
    /// Write the tetrahedra and the pressure to this file (legacy ASCII VTK).
    #[arg(long, value_name = "FILE.vtk")]
    out: Option<PathBuf>,
    /// Draw the filling to this file, from outside and in a section.
    #[arg(long, value_name = "FILE.png")]
    preview: Option<PathBuf>,
    /// Largest number of tetrahedra; the command refuses to make more. [default: 200000, with a hint 1000000]
    #[arg(long, value_parser = parse_count)]
    max_tets: Option<usize>,
}

/// The values of `--pressure-field`.
#[derive(Clone, Copy, clap::ValueEnum)]
enum PressureField {
    Depth,
    Thickness,
}

impl From<PressureField> for FieldScale {
    fn from(field: PressureField) -> Self {
        match field {
            PressureField::Depth => Self::Depth,
            PressureField::Thickness => Self::Thickness,
        }
    }
}

/// The limit must be at least 8, the tetrahedra of a tetrahedron divided once.
fn parse_count(text: &str) -> Result<usize, String> {
    const LEAST: usize = 8;
    let expected = || format!("expected a whole number of at least {LEAST}, as in 200000");
    text.parse().ok().filter(|count| *count >= LEAST).ok_or_else(expected)
}

/// A length in metres, or with one of the units um, mm, cm and m.
fn length(text: &str) -> Result<f64, String> {
    let units = [("um", 1e-6), ("mm", 1e-3), ("cm", 1e-2), ("m", 1.0)];
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| text.strip_suffix(unit).map(|number| (number, *factor)))
        .unwrap_or((text, 1.0));
    match number.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value * factor),
        _ => Err("give a positive length, such as 0.5mm, or metres without a unit".to_owned()),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    for (option, file, ending) in [("--out", &arguments.out, "vtk"), ("--preview", &arguments.preview, "png")] {
        file.iter().try_for_each(|file| super::has_ending(option, file, ending))?;
    }
    let data = mesh_files::read(&arguments.file, &Vector3::from_element(arguments.scale))?;
    let MeshData::Surface(surface) = data else {
        return Err(format!("{} contains tetrahedra already: use it unchanged", arguments.file.display()).into());
    };
    let settings = FillSettings {
        resolution_hint: arguments.hint,
        tets_max: arguments.max_tets,
        wrap: arguments.wrap,
        surface_tolerance: arguments.tolerance,
        pressure_field: arguments.pressure_field.into(),
    };
    let start = Instant::now();
    let waiting = super::waiting::Waiting::new(format!("filling {}", arguments.file.display()));
    let filling = fill(&surface, &settings).map_err(|error| format!("{}: {error}", arguments.file.display()))?;
    drop(waiting);
    let elapsed = start.elapsed();
    if let Some(out) = &arguments.out {
        let title = format!("{} filled by isobar", arguments.file.file_name().unwrap_or_default().to_string_lossy());
        mesh_files::write_vtk(out, &title, &filling.mesh, &filling.pressure(arguments.modulus))?;
    }
    if let Some(preview) = &arguments.preview {
        draw(&filling, arguments, preview)?;
    }
    print_line!("{}", table(&filling, arguments.wrap.is_some(), elapsed).trim_end());
    Ok(())
}

/// Size of the preview [pixels].
const PREVIEW_SIZE: (usize, usize) = (1280, 720);

fn draw(filling: &Filling, arguments: &Arguments, file: &Path) -> Result<(), Box<dyn Error>> {
    let title = arguments.file.file_name().unwrap_or_default().to_string_lossy();
    let subtitle = format!("{} tetrahedra, edges of {:.3e} m", filling.mesh.tets.len(), filling.spacing);
    let pressure = filling.pressure(arguments.modulus);
    let image = picture::mesh_preview(&filling.mesh, &pressure, &title, &subtitle, PREVIEW_SIZE)?;
    Ok(picture::write_png(&image, file)?)
}

/// The quality of a filling, one line per measure.
fn table(filling: &Filling, wrapped: bool, elapsed: Duration) -> String {
    let (mesh, quality, surface) = (&filling.mesh, &filling.quality, &filling.surface);
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{name:<24} {value}");
    };
    let bounds = Aabb::around(&mesh.vertices);
    let size = bounds.max - bounds.min;
    let millimetres = if size.max() > 20.0 { "; in millimetres? then --scale 0.001" } else { "" };
    line("size", format!("{:.4e} x {:.4e} x {:.4e} m{millimetres}", size.x, size.y, size.z));
    line(
        "triangles",
        format!("{} in {} components, {} cavities", surface.triangles_given, surface.components, surface.cavities),
    );
    line("repairs", surface.repairs().unwrap_or_else(|| "none".to_owned()));
    let refined = match filling.refinements {
        0 => String::new(),
        times => format!(", refined {times} times for thin parts"),
    };
    line("edge length", format!("{:.4e} m{refined}", filling.spacing));
    line("vertices", mesh.vertices.len().to_string());
    line("tetrahedra", mesh.tets.len().to_string());
    let degrees = [quality.dihedral_min, quality.dihedral_max].map(f64::to_degrees);
    line("dihedral angles", format!("{:.1} to {:.1} degrees", degrees[0], degrees[1]));
    line("volume", format!("{:.6e} m3, error {:+.3} %", quality.volume, 100.0 * quality.volume_error));
    line("deepest point", format!("{:.4e} m", filling.deepest));
    line("surface to filling", format!("{:.3e} m at most, at {}", quality.surface_to_filling, filling.missed_at));
    line("filling to surface", format!("{:.3e} m at most", quality.filling_to_surface));
    let missed = if wrapped { "the wrap's distance" } else { "2 % of the size" };
    line("missed surface", format!("{:.2} % by more than {missed}", 100.0 * quality.missed_area));
    if let Some((at, distance)) = filling.left_out() {
        let way_out = match (filling.sufficient_hint, filling.sufficient_wrap()) {
            (Some(hint), _) => format!("try --hint {hint:.1e}"),
            (None, Some(wrap)) => format!("no hint within the limit fills it, try --wrap {wrap:.1e}"),
            (None, None) => "no hint within the limit fills it".to_owned(),
        };
        line("left out", format!("a thin part reaches {distance:.3e} m out at {at}: {way_out}"));
    }
    for note in filling.notes() {
        if let MeshNote::Volume { .. } | MeshNote::Closed { .. } = note {
            line("warning", note.to_string());
        }
    }
    line("time", format!("{:.1} ms", 1e3 * elapsed.as_secs_f64()));
    out
}
