//! One binary of integration tests, next to `tests/alloc` and `tests/inputs`: laws, golden comparisons,
//! determinism, regressions, tidiness.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(non_snake_case)]

mod checkpoints;
mod coherence;
mod coin;
mod contact_laws;
mod contact_properties;
mod contact_schemes;
mod contact_surface_file;
mod contact_surfaces;
mod contacts_csv;
mod continuity;
mod continuous;
mod controllers;
mod drawing;
mod dynamic_derivatives;
mod error_control;
mod examples;
mod external_wrench;
mod face_counts;
mod fill;
mod flip_steps;
mod geometry;
mod golden;
mod held_faces;
mod joint_laws;
mod joint_wrench;
mod laws;
mod moveit;
mod multibody;
mod one_step;
mod packaging;
mod pages;
mod pancake_flip;
mod physics;
mod picture;
mod picture_depth;
mod point_contact;
mod quasistatic;
mod quasistatic_step;
mod random;
mod rigid_overlap;
mod robot;
mod scene_bodies;
mod scene_changes;
mod scene_file;
mod scene_includes;
mod scene_meshes;
mod sdformat;
mod shipped_robots;
mod spatula_slip;
mod start_scenes;
mod tidy;
mod urdf;
mod worlds;
