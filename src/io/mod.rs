//! Files: robots, meshes, scenes, recordings.

pub mod scene_file;
