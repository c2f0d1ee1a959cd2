//! SDFormat files: reading, refusals and their messages. The fixtures are in tests/golden/sdformat.
#![allow(non_snake_case)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod elements;
mod errors;
mod others;

use std::path::{Path, PathBuf};

use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::io::urdf::{LoadOptions, UrdfError, load_file, load_str, urdf_text};
use isobar::math::{RigidTransform, Vector3};
use isobar::robot::RobotDescription;
use isobar::stepping::{JointCommand, Simulation};

/// The folder of this suite's files.
fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/sdformat")
}

fn fixture(name: &str) -> RobotDescription {
    load_file(&golden().join(name), &PackageMap::new(), &LoadOptions::default()).unwrap()
}

/// Loads text as the file `test.sdf`.
fn load(text: &str) -> Result<RobotDescription, UrdfError> {
    load_str(text, Path::new("test.sdf"), &golden(), &PackageMap::new(), &LoadOptions::default())
}

/// A model of the given elements, which start in line 2.
fn model(elements: &str) -> String {
    format!("<sdf version='1.12'><model name='m'>\n{elements}\n</model></sdf>")
}

/// An inertia whose values do not matter to the test.
const INERTIAL: &str = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>";

fn link(name: &str, elements: &str) -> String {
    format!("<link name='{name}'>{INERTIAL}{elements}</link>\n")
}

fn joint(kind: &str, elements: &str) -> String {
    format!("<joint name='j' type='{kind}'><parent>a</parent><child>b</child>{elements}</joint>\n")
}

/// The pose of a link in the root, with all joints at zero.
fn pose(robot: &RobotDescription, link: &str) -> RigidTransform {
    match robot.joints.iter().find(|joint| joint.child == link) {
        Some(joint) => pose(robot, &joint.parent) * joint.X_PF,
        None => RigidTransform::identity(),
    }
}

/// Rounding of products of a few poses of the size of a metre.
const ROUNDING: f64 = 1e-14;

fn assert_at(X: &RigidTransform, position: [f64; 3], rpy: [f64; 3]) {
    assert!((X.translation.vector - Vector3::from(position)).amax() < ROUNDING, "{X} is not at {position:?}");
    let turned = isobar::math::Rotation::from_euler_angles(rpy[0], rpy[1], rpy[2]);
    assert!((X.rotation.matrix() - turned.matrix()).amax() < ROUNDING, "{X} is not turned by {rpy:?}");
}

fn scene(key: &str, file: &str) -> Simulation {
    let text = format!(
        "step: 0.002\nground: {{}}\nmodels:\n  - name: arm\n    {key}: {file}\n    free: {{ xyz: \
         [0, 0, 0.036], rpy: [0.1, 0.2, 0.3] }}\n    joint_velocities: {{ shoulder: 0.5 }}\n    actuators: {{ slide: {{ \
         stiffness: 200, damping: 5 }} }}\n"
    );
    let loaded = scene_file::load_str(&text, &golden().join("scene.yaml"), &PackageMap::new()).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    loaded.simulation().unwrap()
}

/// The same robot in both formats moves with the same bits: 100 steps in which it falls, slides on its foot
/// and swings.
#[test]
fn a_robot_moves_with_the_same_bits_as_its_urdf() {
    let (mut urdf, mut sdf) = (scene("urdf", "arm.urdf"), scene("sdf", "arm.sdf"));
    let command = JointCommand::new(urdf.scene());
    let start = urdf.state().q.clone();
    let mut faces = 0;
    for _ in 0..100 {
        urdf.step(&command).unwrap();
        sdf.step(&command).unwrap();
        faces += urdf.report().faces;
        let bits = |simulation: &Simulation| -> Vec<u64> {
            let state = simulation.state();
            state.q.iter().chain(&state.v).map(|x| x.to_bits()).collect()
        };
        assert_eq!(bits(&urdf), bits(&sdf));
    }
    assert!(faces > 0, "the foot touches the ground");
    assert_ne!(start, urdf.state().q);
}

/// An SDFormat model becomes a URDF for RViz and other programs: with the same masses, limits, mimics and
/// poses, which are the same but for the rounding of three angles.
#[test]
fn the_written_urdf_is_the_same_robot() {
    for name in ["arm.sdf", "cart.sdf"] {
        let robot = fixture(name);
        let text = urdf_text(&robot, "");
        let folder = Path::new("/nowhere");
        let again = load_str(&text, Path::new("written.urdf"), folder, &PackageMap::new(), &LoadOptions::default());
        let again = again.unwrap();
        let names = |robot: &RobotDescription| robot.links.iter().map(|link| link.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&robot), names(&again));
        assert_eq!(robot.total_mass(), again.total_mass());
        for (joint, written) in robot.joints.iter().zip(&again.joints) {
            assert_eq!((&joint.name, &joint.mimic, joint.kind), (&written.name, &written.mimic, written.kind));
            assert_eq!((joint.limits.lower, joint.limits.upper), (written.limits.lower, written.limits.upper));
            assert!(!joint.kind.has_axis() || (joint.axis - written.axis).amax() < ROUNDING);
        }
        for (link, written) in robot.links.iter().zip(&again.links) {
            let (X, Y) = (pose(&robot, &link.name), pose(&again, &link.name));
            assert!((X.to_homogeneous() - Y.to_homogeneous()).amax() < ROUNDING, "{}", link.name);
            let shapes =
                |link: &isobar::robot::Link| link.collisions.iter().map(|c| c.shape.clone()).collect::<Vec<_>>();
            assert_eq!(shapes(link), shapes(written), "{}", link.name);
        }
    }
}

/// Truncated files are refused by name or read, never with a panic; every error names the file.
#[test]
fn every_beginning_of_a_file_is_read_or_refused_by_name() {
    for name in ["arm.sdf", "cart.sdf"] {
        let text = std::fs::read_to_string(golden().join(name)).unwrap();
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            if let Err(error) = load(&text[..end]) {
                assert!(error.to_string().contains("test.sdf"), "{error}");
            }
        }
        // Each word is left out in turn.
        let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
        for left_out in 0..words.len() {
            let rest = [&words[..left_out], &words[left_out + 1..]].concat().concat();
            if let Err(error) = load(&rest) {
                let message = error.to_string();
                assert!(message.contains("test.sdf") || message.contains("wheel.sdf"), "{message}");
            }
        }
    }
}
