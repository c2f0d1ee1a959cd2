//! Files: robots, meshes, scenes, recordings.

pub mod bag;
pub mod inspect;
pub mod mesh_files;
pub mod outputs;
pub mod package;
pub mod rates;
pub mod recording;
pub mod robot;
pub mod scene_file;
pub mod srdf;
pub mod topic_names;
pub mod urdf;
mod xml;
