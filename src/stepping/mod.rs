//! Time stepping. Sees no clock, no file, no thread and no ROS.

mod command;
mod contacts;
mod joint_rows;
mod overlap;
mod settings;
mod simulation;
mod snapshot;

pub use command::{JointCommand, JointTarget};
pub use overlap::{Overlap, overlaps};
pub use settings::{DissipationModel, StepSettings};
pub use simulation::{Simulation, SimulationError, StepError};
pub use snapshot::{ContactPatch, PatchFaces, Snapshot, StepReport};
