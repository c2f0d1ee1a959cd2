//! `isobar inspect FILE [--package NAME=PATH]...`

use std::error::Error;
use std::path::PathBuf;

use isobar::io::package::PackageMap;
use isobar::io::urdf::{LoadOptions, OnUnreadableMesh, load_file};
use isobar::robot::inspect::report;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Robot file (URDF or SDFormat).
    file: PathBuf,
    /// The folder of a package in `package://NAME/...`; takes precedence over AMENT_PREFIX_PATH and
    /// ROS_PACKAGE_PATH.
    #[arg(long = "package", value_name = "NAME=PATH", value_parser = super::parse_package)]
    packages: Vec<(String, PathBuf)>,
    /// Leave out collision meshes that are not found or cannot be read, with a warning.
    #[arg(long)]
    skip_unreadable_meshes: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut packages = PackageMap::from_environment();
    for (name, path) in &arguments.packages {
        packages.insert(name, path);
    }
    let on_unreadable_collision_mesh =
        if arguments.skip_unreadable_meshes { OnUnreadableMesh::WarnAndSkip } else { OnUnreadableMesh::Error };
    let options = LoadOptions { on_unreadable_collision_mesh, ..LoadOptions::default() };
    let robot = load_file(&arguments.file, &packages, &options)?;
    say!("{}", report(&robot).trim_end());
    Ok(())
}
