//! Cartesian keyframes of an arm with two soft fingers, followed in closed loop: what the pads feel decides whether a grasp holds and when
//! a tool touches.

mod controller;
mod differential;
mod grip;
mod task;

pub use controller::{Controller, ControllerError, Event, Measurement};
pub use differential::DifferentialInverse;
pub use grip::FingerMeasurement;
pub use task::{Fingers, GripState, Keyframe, Task, TaskError, Tool, Until};
