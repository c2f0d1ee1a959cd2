//! Isobar simulates contact-rich robot control: pressure-field contact patches, impedance actuators, URDF robots.
//!
//! Notation is monogram: `p_WB` is the position of B in W, `X_WB` the pose of frame B in W, `V_WB` the spatial velocity
//! of B in W, `F_BBo_W` a wrench on B about Bo in W's axes. SI units everywhere. The world is `BodyIndex::WORLD`.
#![allow(non_snake_case)]
#![allow(rustdoc::broken_intra_doc_links, reason = "units are written in brackets, as in [m]")]

pub mod contact;
pub mod experiments;
pub mod geometry;
pub mod io;
pub mod math;
pub mod multibody;
pub mod picture;
#[cfg(feature = "ros")]
pub mod ros;
pub mod scene;
pub mod solvers;
pub mod stepping;
