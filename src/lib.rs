//! Isobar simulates contact-rich robot control: contact patches from pressure fields, joints with impedance
//! control, robots from URDF files. The program `isobar` and the ROS 2 node are built on this library.
//!
//! Load a scene file, simulate it, and print the contact forces:
//!
//! ```
//! use isobar::{JointCommand, PackageMap, Snapshot, load_scene};
//!
//! let loaded = load_scene("config/drop.yaml".as_ref(), &PackageMap::from_environment())?;
//! let mut simulation = loaded.simulation()?;
//! let command = JointCommand::new(&loaded.scene);
//! while simulation.time() < 0.3 {
//!     simulation.step(&command)?;
//! }
//! let mut now = Snapshot::default();
//! simulation.snapshot_into(&mut now);
//! for patch in now.contact_patches() {
//!     println!("{}: {:.1} N", loaded.scene.geometry_name(patch.geometry_B), patch.F_BC_W.f.norm());
//! }
//! # assert!(!now.contact_patches().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The folder `examples` of the source has three more programs: a scene built in Rust whose contact patches
//! are read, a controller in a closed loop, and a sweep over friction on all cores.
//!
//! # The rooms
//! The most used items are re-exported here. Each room may use only those above it
//! (`ARCHITECTURE.md` has the diagram).
//!
//! | room | contents |
//! |---|---|
//! | [`math`] | vectors, poses, spatial vectors, typed indices |
//! | [`geometry`] | shapes, meshes and their filling, pressure fields, contact queries |
//! | [`multibody`] | bodies and joints: kinematics, mass matrix, bias |
//! | [`solvers`] | the problems of a step and their solvers |
//! | [`contact`] | materials; contact surfaces as entries of a problem |
//! | [`scene`] | model, geometries, materials, actuators, and pairs that may touch |
//! | [`stepping`] | [`Simulation`]: commands, steps, snapshots |
//! | [`robot`] | robots as plain data, their placement in a scene, their inspection |
//! | [`recording`] | named outputs, units, rates |
//! | [`names`] | nearest valid names; names that ROS accepts |
//! | [`io`] | files: scenes (YAML), robots (URDF, SRDF), meshes, recordings (CSV, MCAP) |
//! | `picture` | scenes, contact and meshes as PNG; cargo feature `picture` |
//! | `experiments` | the papers' experiments, task controllers, plots; cargo feature `experiments` |
//! | `ros` | the ROS 2 node; cargo feature `ros` |
//!
//! # Cargo features
//! `cli` (on by default) builds the program `isobar`, and enables `experiments` and `picture`. With
//! `default-features = false` only the library is built, without command line, plots and PNG files. `ros`
//! needs a sourced ROS 2 environment.
//!
//! # Conventions
//! SI units everywhere. The notation is monogram: `p_WB` is the position of B in W, `X_WB` the pose of frame
//! B in W, `V_WB` the spatial velocity of B in W, `F_BBo_W` a wrench on B about Bo in W's axes. The world is
//! [`BodyIndex::WORLD`]. The same input gives the same bits.
#![allow(non_snake_case)]

pub mod contact;
#[cfg(feature = "experiments")]
pub mod experiments;
pub mod geometry;
pub mod io;
pub mod math;
pub mod multibody;
pub mod names;
#[cfg(feature = "picture")]
pub mod picture;
pub mod recording;
pub mod robot;
#[cfg(feature = "ros")]
pub mod ros;
pub mod scene;
pub mod solvers;
pub mod stepping;

pub use contact::ContactProperties;
pub use geometry::Shape;
pub use io::package::PackageMap;
pub use io::scene_file::{LoadedScene, SceneError, load as load_scene};
pub use math::{BodyIndex, JointIndex, Matrix3, RigidTransform, Rotation, ScalarJointIndex, SpatialInertia, Vector3};
pub use multibody::{JointKind, JointLimits, JointSpec, State};
pub use recording::Outputs;
pub use scene::{Actuator, Scene, SceneBuildError, SceneBuilder};
pub use stepping::{
    ContactPatch, JointCommand, JointTarget, Simulation, SimulationError, Snapshot, StepError, StepReport,
    StepSettings, Stepping,
};

/// Includes pages of the documentation, so that the documentation tests compile and run their Rust code.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../docs/tutorials/5-rust-library.md")]
    mod tutorial {}
    #[doc = include_str!("../docs/theory/quasistatic.md")]
    mod quasistatic {}
}
