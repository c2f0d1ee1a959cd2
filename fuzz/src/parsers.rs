//! Files: each is read, or an error names the file. Nothing panics.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::io::mesh_files;
use isobar::io::package::PackageMap;
use isobar::io::urdf::LoadOptions;
use isobar::io::{scene_file, srdf, urdf as urdf_files};
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointSpec};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{Checkpoint, JointCommand, Simulation, StepSettings};

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

/// A robot in SDFormat.
pub fn sdf(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let file = Path::new(FOLDER).join("fuzzed.sdf");
    let read = urdf_files::load_str(text, &file, Path::new(FOLDER), &PackageMap::default(), &LoadOptions::default());
    if let Some(robot) = named(read, &file) {
        urdf(urdf_files::urdf_text(&robot, text).as_bytes());
    }
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

/// Triangles: JSON, and as a binary file if it begins with the mark of those.
pub fn gltf(data: &[u8]) {
    mesh(data, if data.starts_with(b"glTF") { "fuzzed.glb" } else { "fuzzed.gltf" });
}

/// Tetrahedra.
pub fn vtk(data: &[u8]) {
    mesh(data, "fuzzed.vtk");
}

/// The steps of a scene that continues from a checkpoint.
const STEPS: usize = 3;

/// A compliant box on the ground beside a slider with an actuator, after a step, so that the checkpoint has
/// most of its parts.
fn saved() -> (Simulation, Vec<u8>) {
    let compliant = ContactProperties { hydroelastic_modulus: Some(1e6), ..ContactProperties::default() };
    let mut builder = SceneBuilder::new();
    let identity = RigidTransform::identity();
    let ground = ContactProperties::default();
    builder.add_geometry(BodyIndex::WORLD, "ground", identity, Shape::HalfSpace, &ground).expect("the ground");
    let inertia = SpatialInertia::from_central(0.5, &Vector3::zeros(), &(Matrix3::identity() * 1e-3));
    let body = builder.add_body("box", inertia);
    let size = Vector3::repeat(0.1);
    builder.add_geometry(body, "shape", identity, Shape::Box { size }, &compliant).expect("the box");
    let slider = builder.add_body("slider", inertia);
    let joint = JointSpec::new("slide", BodyIndex::WORLD, slider, JointKind::Prismatic);
    let joint = builder.add_joint(joint).expect("the joint");
    let actuator = Actuator { stiffness: 50.0, damping: 2.0, effort_limit: 20.0, ..Actuator::PASSIVE };
    builder.set_actuator(joint, actuator);
    let scene = builder.build(Vector3::z() * -9.81).expect("the scene");
    let mut state = scene.model().default_state();
    scene.model().set_free_body_pose(&mut state, body, &RigidTransform::translation(0.0, 0.0, 0.0499));
    let mut simulation = Simulation::new(Arc::new(scene), state, StepSettings::default()).expect("the simulation");
    simulation.step(&JointCommand::new(simulation.scene())).expect("a step");
    let bytes = simulation.save().to_bytes();
    (simulation, bytes)
}

/// `contents` as a whole file: with the mark and the version of `file`, the right length and the right
/// checksum.
pub fn sealed(contents: &[u8], file: &[u8]) -> Vec<u8> {
    let mut bytes = file[..HEAD - 8].to_vec();
    bytes.extend_from_slice(&(contents.len() as u64).to_le_bytes());
    bytes.extend_from_slice(contents);
    let checksum = !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 * (crc & 1)))
    });
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Mark, version and length of a checkpoint: 8, 4 and 8 bytes.
pub const HEAD: usize = 20;
const CHECKSUM: usize = 4;

/// A checkpoint. The bytes are read as a file, as contents under a right checksum, and as changes to the
/// contents of a good one: eleven bytes each, with the kind, the offset and the value. A simulation that
/// takes one continues with a finite state.
pub fn checkpoint(data: &[u8]) {
    thread_local! { static SAVED: RefCell<(Simulation, Vec<u8>)> = RefCell::new(saved()); }
    SAVED.with_borrow_mut(|(simulation, file)| {
        checkpoint_of(data, simulation, file);
        let good = Checkpoint::from_bytes(file).expect("a good checkpoint");
        simulation.restore(&good).expect("the good checkpoint after another one");
    });
}

fn checkpoint_of(data: &[u8], simulation: &mut Simulation, file: &[u8]) {
    let _ = Checkpoint::from_bytes(data);
    let _ = Checkpoint::from_bytes(&sealed(data, file));
    let mut contents = file[HEAD..file.len() - CHECKSUM].to_vec();
    for change in data.chunks(11) {
        let byte = |index: usize| change.get(index).copied().unwrap_or(0);
        let at = usize::from(u16::from_le_bytes([byte(1), byte(2)])) % contents.len().max(1);
        let end = (at + 8).min(contents.len());
        match byte(0) % 4 {
            0 => contents[at..end].iter_mut().enumerate().for_each(|(index, old)| *old = byte(3 + index)),
            1 => contents[at..end].iter_mut().enumerate().for_each(|(index, old)| *old ^= byte(3 + index)),
            2 => drop(contents.drain(at..end.min(at + usize::from(byte(3) % 9)))),
            _ => drop(contents.splice(at..at, (3..11).map(byte))),
        }
    }
    let file = sealed(&contents, file);
    let Ok(checkpoint) = Checkpoint::from_bytes(&file) else { return };
    assert_eq!(checkpoint.to_bytes(), file, "the file that was read is written again");
    if let Err(error) = simulation.restore(&checkpoint) {
        assert!(!error.to_string().is_empty());
        return;
    }
    let command = JointCommand::new(simulation.scene());
    for _ in 0..STEPS {
        let _ = simulation.step(&command);
        assert!(simulation.state().q.iter().chain(&simulation.state().v).all(|x| x.is_finite()), "the state is finite");
    }
}
