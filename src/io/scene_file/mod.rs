//! Scene files.

mod error;
mod names;
mod yaml;

pub use error::{Place, SceneError};
