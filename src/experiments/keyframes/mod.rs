//! Cartesian keyframes of an arm with a gripper, followed in closed loop: measured contact forces decide
//! whether a grasp holds and when a tool touches. controllers/isobar_control plays the same files by the same
//! equations in Python.

mod check;
mod controller;
mod differential;
mod grip;
mod path;
mod senses;
mod sensors;
mod task;

pub use controller::{Controller, ControllerError, Event};
pub use differential::DifferentialInverse;
pub use senses::Measurement;
pub use sensors::Sensors;
pub use task::{
    Arm, Circle, Condition, Finger, ForceControl, Gripper, Keyframe, Press, Sense, Task, TaskError, TimeScaling, Tool,
    TouchSensor,
};
