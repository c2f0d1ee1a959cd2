//! Experiments from the papers: controllers, runs, and output files.

pub mod cube_stacking;
pub mod cube_tosses;
mod error;
mod grid_study;
mod key_frames;
pub mod keyframes;
pub mod laws;
mod materials;
pub mod pancake_flip;
pub mod plan;
pub mod planar_gripper;
pub mod planar_push;
mod plot;
pub mod prehensile_push;
mod push_record;
pub mod random_drops;
mod reach;
mod recording_charts;
pub mod spatula_slip;
pub mod spinning_disk;
pub mod step_error;
pub mod study;

pub use error::ExperimentError;
pub use grid_study::{GridRun, GridStudy, Grids, Progress, Ratio, Triangles};
pub use plot::{Chart, GAP, PlotError, Scale, Series, draw};
pub use push_record::{PushSample, PushSummary};
pub use reach::{ReachError, reach};
pub use recording_charts::{ChartError, column_charts, recording_charts};
