//! `isobar inspect FILE [--package NAME=PATH]...`

use std::error::Error;
use std::path::PathBuf;

use isobar::io::package::PackageMap;
use isobar::io::urdf::{LoadOptions, OnUnreadableMesh, load_file};
use isobar::robot::inspect::report;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Robot file (URDF, SDFormat, or a xacro file, which the program `xacro` expands).
    #[arg(value_parser = super::parse_robot_file)]
    file: PathBuf,
    /// The folder of a package in `package://NAME/...`; takes precedence over AMENT_PREFIX_PATH and
    /// ROS_PACKAGE_PATH.
    #[arg(long = "package", value_name = "NAME=PATH", value_parser = super::parse_package)]
    packages: Vec<(String, PathBuf)>,
    /// Leave out collision meshes that are not found or cannot be read, with a warning.
    #[arg(long)]
    skip_unreadable_meshes: bool,
    /// The value of an argument of a xacro file.
    #[arg(long = "xacro", value_name = "NAME=VALUE", value_parser = parse_argument)]
    xacro_arguments: Vec<(String, String)>,
}

fn parse_argument(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a value is given as NAME=VALUE")?;
    Ok((name.strip_suffix(':').unwrap_or(name).to_owned(), value.to_owned()))
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut packages = PackageMap::from_environment();
    for (name, path) in &arguments.packages {
        packages.insert(name, path);
    }
    let on_unreadable_collision_mesh =
        if arguments.skip_unreadable_meshes { OnUnreadableMesh::WarnAndSkip } else { OnUnreadableMesh::Error };
    let xacro_arguments = arguments.xacro_arguments.clone();
    let options = LoadOptions { on_unreadable_collision_mesh, xacro_arguments, ..LoadOptions::default() };
    let waiting = super::waiting::Waiting::new(format!("loading {}", arguments.file.display()));
    let robot = load_file(&arguments.file, &packages, &options)?;
    drop(waiting);
    print_line!("{}", report(&robot).trim_end());
    Ok(())
}
