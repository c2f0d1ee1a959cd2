//! Time stepping. Sees no clock, no file, no thread and no ROS.

mod columns;
mod command;
mod contacts;
mod dynamic;
mod external;
mod joint_rows;
mod joint_wrench;
mod overlap;
mod pairs;
mod quasistatic;
mod settings;
mod simulation;
mod snapshot;
mod stepper;

pub use command::{JointCommand, JointTarget};
pub use joint_wrench::{ForceTorqueSensor, JointPaths};
pub use overlap::{Overlap, overlaps};
pub use quasistatic::{DerivativeError, QuasistaticDerivatives};
pub use settings::{DissipationModel, QuasistaticStepping, StepSettings, Stepping, UnactuatedInertia};
pub use simulation::{Simulation, SimulationError, StepError};
pub use snapshot::{ContactPatch, PatchFaces, Snapshot, StepReport, StepTimes};
