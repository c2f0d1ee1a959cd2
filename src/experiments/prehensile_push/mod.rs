//! A wall pushes a prism along between two round flat fingers [Andersson 2021, section 4.4].

mod push;
mod study;

pub use push::{Fingers, HeldPush, WALL_FRICTION_END, drop_of_closed_form, take};
pub use study::{HeldRow, THESIS_MASSES, study};
