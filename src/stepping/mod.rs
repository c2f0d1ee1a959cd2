//! Time stepping. This module uses no clock, files or ROS. Its dynamic steps may use threads.

mod checkpoint;
mod checks;
mod command;
mod command_schedule;
mod contacts;
mod continuous;
mod control_memory;
mod dynamic;
mod dynamic_derivatives;
mod end_forces;
mod error;
mod error_control;
mod external;
mod friction_errors;
mod inertial_load;
mod input;
mod joint_rows;
mod joint_speed;
mod joint_wrench;
mod loads_behind;
mod missed_contact;
mod overlap;
mod part_control;
mod patches;
mod quasistatic;
mod result;
mod schedules;
mod settings;
mod simulation;
mod snapshot;
mod spook;
mod stepper;
mod timed_wrenches;
mod wrong_friction;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use checks::UnusedSetting;
pub use command::{JointCommand, JointTarget};
pub use command_schedule::{CommandSchedule, JointSchedule, Waveform, beyond_limits};
pub use dynamic_derivatives::{DynamicDerivativeError, DynamicDerivatives};
pub use error::{SimulationError, StepError, Unsettled};
pub use friction_errors::FrictionErrors;
pub use inertial_load::InertialLoad;
pub use joint_speed::{FastJoint, LimitedJoint};
pub use joint_wrench::{CarriedMotion, ForceTorqueSensor, JointPaths};
pub use loads_behind::LoadsBehind;
pub use missed_contact::MissedContact;
pub(crate) use overlap::near_pairs;
pub use overlap::{Overlap, overlaps};
pub use quasistatic::{DerivativeError, QuasistaticDerivatives, RolloutStep, SmoothedRollout, barrier_weights};
pub use schedules::schedules;
pub use settings::{
    ContactScheme, ContactSurfaces, ContinuousStepping, DissipationModel, DynamicStepping, ErrorControl, FrictionBound,
    Integrator, QUASISTATIC_STEP_MAX, QuasistaticStepping, STEP_MAX, STEP_MIN, Sleep, SpookStepping, StepSettings,
    Stepping, UnactuatedInertia,
};
pub use simulation::Simulation;
pub use snapshot::{ContactPatch, PatchFaces, Snapshot, StepReport, StepTimes};
pub use timed_wrenches::{BodyWrench, HeldWrench, TimedWrenches, WrenchAxes};
pub use wrong_friction::WrongFriction;
