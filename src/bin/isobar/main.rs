//! The headless program, without ROS: simulates and draws scenes, repeats experiments, fills meshes, and
//! inspects robot files.

/// Prints a line, or returns the error from the calling function.
macro_rules! print_line {
    () => { print_line!("") };
    ($($line:tt)*) => { $crate::print_line(format_args!($($line)*))? };
}

mod draw;
mod experiment;
mod inspect;
mod mesh;
mod plot;
mod pushes;
mod render;
mod run;
mod step_error;
mod totals;
mod waiting;

use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use isobar::names::nearest;

/// Contact-rich robot simulation.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Draw robots, coloured triangles and lines of a drawing file (JSON) to a PNG file.
    Draw(draw::Arguments),
    /// Repeat an experiment of a paper: CSV, plots and pictures.
    Experiment(experiment::Arguments),
    /// Print the contents of a robot file, and warn of likely mistakes.
    Inspect(inspect::Arguments),
    /// Fill a closed triangle mesh with tetrahedra and a pressure field.
    Mesh(mesh::Arguments),
    /// Draw the columns of a CSV file over time to an SVG file.
    Plot(plot::Arguments),
    /// Draw a scene, or its contact, to a PNG file.
    Render(render::Arguments),
    /// Simulate a scene file, as fast as possible.
    Run(run::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| {
        if let Some(near) = near_command(&error) {
            eprintln!("isobar: did you mean `isobar {near}`?");
        }
        error.exit()
    });
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_chain(error.as_ref());
            ExitCode::FAILURE
        }
    }
}

/// The command whose name is near the unknown one.
fn near_command(error: &clap::Error) -> Option<String> {
    let ContextValue::String(name) = error.get(ContextKind::InvalidSubcommand)? else { return None };
    let commands = Arguments::command();
    let near = nearest(name, commands.get_subcommands().map(clap::Command::get_name))?;
    (error.kind() == ErrorKind::InvalidSubcommand).then(|| near.to_owned())
}

fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    match arguments.command {
        Command::Draw(arguments) => draw::run(&arguments),
        Command::Experiment(arguments) => experiment::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Mesh(arguments) => mesh::run(&arguments),
        Command::Plot(arguments) => plot::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
    }
}

/// A scene or task file. A relative path that does not exist here, such as `config/drop.yaml`, may name a
/// file that comes with the program: beside the executable in a release archive, or in the folder that the
/// program was built from.
fn parse_file(argument: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(argument);
    if path.extension().is_some_and(|ending| ["urdf", "sdf", "xacro"].iter().any(|robot| ending == *robot)) {
        return Err(format!(
            "this is a robot file, and a scene names it: write `models: [{{ name: robot, urdf: {argument}, weld: {{}} }}]` to a \
             file scene.yaml; `isobar inspect {argument}` prints its contents"
        ));
    }
    if path.exists() {
        return Ok(path);
    }
    if path.is_absolute() || !path.starts_with("config") {
        return near_file(&path).map_or(Ok(path), Err);
    }
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let folders = beside.into_iter().chain([PathBuf::from(env!("CARGO_MANIFEST_DIR"))]);
    match folders.map(|folder| folder.join(&path)).find(|file| file.is_file()) {
        Some(shipped) => {
            eprintln!("note: there is no {argument} here; taking {}", shipped.display());
            Ok(shipped)
        }
        None => near_file(&path).map_or(Ok(path), Err),
    }
}

/// A robot file.
fn parse_robot_file(argument: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(argument);
    if path.exists() { Ok(path) } else { near_file(&path).map_or(Ok(path), Err) }
}

/// The reason to refuse a file that does not exist, if its folder has one with a similar name.
fn near_file(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let mut files: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    files.sort();
    let near = nearest(path.file_name()?.to_str()?, files.iter().map(String::as_str))?;
    Some(format!("there is no such file; did you mean `{}`?", path.with_file_name(near).display()))
}

/// A positive number.
fn parse_positive(argument: &str) -> Result<f64, String> {
    match argument.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a positive number, as in 0.001".to_owned()),
    }
}

/// Refuses a name of a file that does not end with `ending`, which is that of its format. A name without an
/// ending is accepted, as are those of devices.
fn has_ending(option: &str, file: &Path, ending: &str) -> Result<(), String> {
    match file.extension() {
        Some(other) if !other.eq_ignore_ascii_case(ending) => Err(format!(
            "{option} {}: the format of this file is {}; give a name that ends with .{ending}",
            file.display(),
            ending.to_uppercase()
        )),
        _ => Ok(()),
    }
}

/// Splits the `NAME=PATH` of a `--package` argument.
fn parse_package(argument: &str) -> Result<(String, PathBuf), String> {
    match argument.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => match Path::new(path).is_dir() {
            true => Ok((name.to_owned(), PathBuf::from(path))),
            false => Err(format!("there is no folder `{path}`: give the folder of package `{name}`")),
        },
        _ => Err("expected NAME=PATH, as in --package my_robot=install/my_robot/share/my_robot".to_owned()),
    }
}

/// Splits the `NAME=VALUE` of a `--set` argument.
fn parse_parameter(argument: &str) -> Result<(String, String), String> {
    match argument.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE, as in --set friction=0.3".to_owned()),
    }
}

/// Prints a line. A reader that closes the pipe early, such as `head` or `less`, is not an error.
fn print_line(line: fmt::Arguments<'_>) -> io::Result<()> {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// The error and its causes, one line each.
fn print_chain(error: &dyn Error) {
    eprintln!("isobar: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        eprintln!("  because: {cause}");
        source = cause.source();
    }
}
