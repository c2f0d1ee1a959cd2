//! A prism between two round flat fingers that a wall pushes along [Andersson 2021, section 4.4].

mod push;
mod study;

pub use push::{Fingers, HeldPush, HeldSample, drop_of_closed_form, take};
pub use study::{HeldRow, THESIS_MASSES, study};
