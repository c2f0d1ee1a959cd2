//! Files: robots, meshes, scenes, recordings.

pub mod inspect;
pub mod mesh_files;
pub mod package;
pub mod robot;
pub mod srdf;
pub mod urdf;
mod xml;
