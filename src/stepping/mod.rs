//! Time stepping. Sees no clock, no file, no thread and no ROS.

mod command;
mod snapshot;

pub use command::{JointCommand, JointTarget};
pub use snapshot::{ContactPatch, PatchFaces, Snapshot, StepReport};
