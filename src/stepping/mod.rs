//! Time stepping. Sees no clock, no file, no thread and no ROS.

mod command;
mod contacts;
mod joint_rows;
mod joint_wrench;
mod overlap;
mod settings;
mod simulation;
mod snapshot;

pub use command::{JointCommand, JointTarget};
pub use joint_wrench::{ForceTorqueSensor, JointPaths};
pub use overlap::{Overlap, overlaps};
pub use settings::{DissipationModel, StepSettings};
pub use simulation::{Simulation, SimulationError, StepError};
pub use snapshot::{ContactPatch, PatchFaces, Snapshot, StepReport};
