//! Section V-A of [Pang & Tedrake 2021]: two fingers squeeze a sphere, pull it down and slip.

mod files;
mod trajectories;

pub use files::write;
pub use trajectories::{IllPosed, Sample, ill_posed, run};
