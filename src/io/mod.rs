//! Files: robots, meshes, scenes, recordings.

pub mod mesh_files;
pub mod package;
pub mod robot;
pub mod scene_file;
pub mod urdf;
mod xml;
