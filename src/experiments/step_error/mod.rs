//! Errors of discrete steps against the continuous model: a box that drops, a coin that slides and spins, and
//! the spatula in its grip, with fixed steps of several schemes and with error control.

mod scenes;
mod study;

pub use scenes::{Case, box_drop, coin, spatula};
pub use study::{ControlRow, FixedRow, LimitRow, Method, StepErrors, study};
