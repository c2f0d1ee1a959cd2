//! Files: each is read, or an error names the file. Nothing panics.

use std::path::Path;

use isobar::io::mesh_files;
use isobar::io::package::PackageMap;
use isobar::io::urdf::LoadOptions;
use isobar::io::{scene_file, srdf, urdf as urdf_files};
use isobar::math::Vector3;
use isobar::stepping::{Checkpoint, JointCommand};

/// The folder of the files, which does not exist: the files that they name cannot be read.
const FOLDER: &str = "/nowhere";

fn named<T>(result: Result<T, impl std::error::Error>, file: &Path) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            let mut text = error.to_string();
            let mut cause = error.source();
            while let Some(source) = cause {
                text.push_str(&format!(": {source}"));
                cause = source.source();
            }
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            assert!(text.contains(name), "the error does not name {name}: {text}");
            None
        }
    }
}

/// A robot.
pub fn urdf(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let file = Path::new(FOLDER).join("fuzzed.urdf");
    let read = urdf_files::load_str(text, &file, Path::new(FOLDER), &PackageMap::default(), &LoadOptions::default());
    named(read, &file);
}

/// A scene, which is built and takes three steps. Steps may fail, but not panic.
pub fn scene(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let file = Path::new(FOLDER).join("fuzzed.yaml");
    let Some(loaded) = named(scene_file::load_str(text, &file, &PackageMap::default()), &file) else { return };
    let Ok(mut simulation) = loaded.simulation() else { return };
    let mut command = JointCommand::new(&loaded.scene);
    for _ in 0..3 {
        loaded.commands.fill(simulation.time_ns(), &mut command);
        let _ = simulation.step(&command);
        assert!(simulation.state().q.iter().chain(&simulation.state().v).all(|x| x.is_finite()), "the state is finite");
    }
}

/// The pairs of links that may overlap.
pub fn srdf(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let file = Path::new(FOLDER).join("fuzzed.srdf");
    named(srdf::load_str(text, &file), &file);
}

fn mesh(data: &[u8], name: &str) {
    let file = Path::new(FOLDER).join(name);
    named(mesh_files::read_bytes(data, &file, &Vector3::new(1.0, 1.0, 1.0)), &file);
}

/// Triangles.
pub fn stl(data: &[u8]) {
    mesh(data, "fuzzed.stl");
}

/// Triangles.
pub fn obj(data: &[u8]) {
    mesh(data, "fuzzed.obj");
}

/// Triangles.
pub fn dae(data: &[u8]) {
    mesh(data, "fuzzed.dae");
}

/// Tetrahedra.
pub fn vtk(data: &[u8]) {
    mesh(data, "fuzzed.vtk");
}

/// A checkpoint, whose checksum is checked first.
pub fn checkpoint(data: &[u8]) {
    let _ = Checkpoint::from_bytes(data);
}
