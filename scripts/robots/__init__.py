"""The shipped robots and objects as programs: scripts/make_robots writes urdf/ and meshes/ from them."""
