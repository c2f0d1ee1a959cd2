//! Files: robots, meshes, scenes, recordings, checkpoints, drawings.

pub mod bag;
pub mod checkpoint_file;
pub mod csv_file;
pub mod drawing_file;
pub mod limits;
pub mod mesh_files;
pub mod package;
pub mod scene_file;
pub mod srdf;
pub mod urdf;
mod xml;
