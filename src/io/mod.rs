//! Files: robots, meshes, scenes, recordings.
