//! Time stepping. Sees no clock, no file, no thread and no ROS.

mod command;
mod contacts;
mod joint_rows;
mod settings;
mod simulation;
mod snapshot;

pub use command::{JointCommand, JointTarget};
pub use settings::{DissipationModel, StepSettings};
pub use simulation::{Simulation, SimulationError, StepError};
pub use snapshot::{ContactPatch, PatchFaces, Snapshot, StepReport};
