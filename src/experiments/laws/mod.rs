//! Laws of contact with closed forms, over the stepping modes in which they hold.

mod free;
mod friction;
mod grips;
mod law;
mod pressure;
mod scenes;
mod slopes;
mod study;

pub use grips::{PinchCreep, pinch};
pub use law::{Law, LawRow};
pub use study::{LAWS, study};
