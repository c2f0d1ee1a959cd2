//! Files: robots, meshes, scenes, recordings.

pub mod mesh_files;
pub mod package;
pub mod robot;
pub mod urdf;
mod xml;
