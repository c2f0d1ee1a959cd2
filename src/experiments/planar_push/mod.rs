//! A square object that a round rod pushes over a plane [Andersson 2021, sections 4.1 to 4.3; Yu et al.
//! 2016].

mod compare;
mod measured;
mod push;
mod study;

pub use compare::{CompareRow, MEASURED_ENDS, THESIS_STEPS, compare, compare_table, reference_ends, reference_forces};
pub use measured::MeasuredPush;
pub use push::{Properties, Push, Pusher, Support, THESIS_PUSHES, take};
pub use study::{Expected, GridErrors, GridPush, PushRow, grid, grid_table, study};
